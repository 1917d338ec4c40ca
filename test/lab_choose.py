# SPDX-License-Identifier: MIT
"""`firn choose`: what it refuses and why, in which order it recommends, that each figure is one of docs/study, that the odds,
ends and limits are the same as in the other subcommands, that every command and statement it prints works, and its questions at a
terminal."""
import csv
import itertools
import json
import os
import pty
import re
import shutil
import subprocess
import sys

FIRN = os.environ["FIRN"]
SCRATCH = os.environ["TMPDIR"]
SUMMARY = "docs/study/summary.tsv"
# Each of docs/start/choosing.md, and one for each rule.
WORKLOADS = {
    "a web shop on MariaDB": "--rate 5 --peak 200 --nodes 4 --hide volume --readers urls --database mariadb",
    "events of devices on PostgreSQL": "--rate 200k --peak 400k --nodes 40 --sort yes --width 64 --database postgres",
    "public URLs": "--rate 50 --nodes 8 --hide time,volume --readers urls --database postgres",
    "a service with a JavaScript front end": "--rate 300 --peak 3000 --nodes 12 --sort yes --readers javascript,urls --database postgres",
    "a table of uuid4 that moves on": "--rate 100 --nodes 16 --sort yes --width uuid --database postgres",
    "numbers that people read out": "--rate 1 --peak 20 --nodes 2 --hide volume --readers people --database sqlite",
    "shards by remainder": "--rate 1000 --nodes 3 --spread modulo --width 64 --database mysql",
    "ranges of keys": "--rate 1000 --nodes 3 --spread range --database postgres",
    "nothing but SQLite": "--database sqlite --rate 20",
    "nothing at all": "",
}
# Answers of somebody who has run such systems: options, the first answer, what must be among the first three, and why.
EXPERT = {
    "a small service on PostgreSQL": ("--rate 0.01 --nodes 1 --database postgres", "segment", "uuid7 snowflake",
                                      "one database issues all IDs, so its own sequence is the least to run"),
    "three processes on one PostgreSQL": ("--rate 1000 --nodes 3 --sort yes --database postgres", "segment", "uuid7 snowflake",
                                          "three decisions: an identity column, uuid7 without a store, or 64 bits that sort"),
    "a shop that hides its volume": ("--rate 5 --peak 200 --nodes 4 --hide volume --readers urls --database mariadb", "uuid7", "",
                                     "random bits hide how many orders there are; a sequence shows it"),
    "events of devices": ("--rate 200k --peak 400k --nodes 40 --sort yes --width 64 --database postgres", "snowflake", "",
                          "several databases, 64 bits, and a day is a range of IDs"),
    "links that show nothing": ("--rate 50 --nodes 8 --hide time,volume --readers urls --database postgres", "uuid4", "", "only random bits show nothing"),
    "a JavaScript front end": ("--rate 300 --peak 3000 --nodes 12 --sort yes --readers javascript,urls --database postgres", "uuid7", "",
                               "a text is exact in JavaScript, an integer above 2^53 is not"),
    "a uuid column": ("--rate 100 --nodes 16 --sort yes --width uuid --database postgres", "uuid7", "", "RFC 9562 advises it, and the index only grows at its end"),
    "numbers on receipts": ("--rate 1 --peak 20 --nodes 2 --hide volume --readers people --database sqlite", "order", "", "few digits, and nobody sees how many there are"),
    "4000 writers, 64 bits that sort": ("--rate 300 --nodes 4000 --width 64 --sort yes --spread hash --database postgres", "sonyflake", "",
                                        "65,536 nodes, and it ends in 2188; lable-sequential is negative in a bigint from 2039"),
    "shards that are ranges of keys": ("--rate 100 --nodes 20 --spread range --database other", "uuid4", "lable-spread",
                                       "the leading bits must be random or reversed; with node bits in front half the shards are empty"),
    "ranges of keys in 64 bits": ("--rate 100 --nodes 20 --spread range --width 64 --database postgres", "lable-spread", "", "it reverses the bits of its time for this"),
    "shards by remainder": ("--rate 1000 --nodes 3 --spread modulo --width 64 --database mysql", "snowflake", "",
                            "with start=rolling its low bits differ from tick to tick"),
    "clients that are offline": ("--has-store no --nodes 10000 --rate 1000 --database mariadb", "uuid7", "", "no store is needed, and MariaDB 11.7 makes it too"),
    "public 64-bit IDs that hide the volume": ("--hide volume --width 64 --database postgres", "tid", "", "its low bits are a random clock number: no sequence counts"),
    "numbers below 2^53": ("--width 53 --database postgres", "segment", "js53", "integers from 1 stay small for ever"),
    "an app with one SQLite file": ("--database sqlite --rate 20", "segment", "uuid7 snowflake", "INTEGER PRIMARY KEY is the table's own key"),
}
IMPOSSIBLE = {"--sort yes --hide time": "sorts by time shows the time", "--sort yes --spread range": "last shard of a key range", "--width 64 --has-store no": ""}
number, failures = 0, 0


def check(title, passed, why=""):
    global number, failures
    number += 1
    failures += not passed
    print("%s %d - %s" % ("ok" if passed else "not ok", number, title), flush=True)
    if not passed:
        print("".join("# %s\n" % line for line in str(why).splitlines()), end="")


def same(title, wanted, found):
    check(title, wanted == found, "expected: %s\nfound: %s" % (wanted, found))


def firn(*words, **more):
    return subprocess.run([FIRN, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, **more)


def choose(words):
    done = firn("choose", "--json", *words.split())
    return json.loads(done.stdout), done.returncode


def why(result, name):
    return next((one["answer"] for one in result["refused"] if one["name"] == name), "it fits")


# ---- what is refused ---------------------------------------------------------------------------


def check_refusals(schemes):
    result, status = choose("--sort yes --hide time --width 64")
    same("64 bits that sort and hide their time do not exist: status 1", (1, []), (status, result["fit"]))
    same("and it says which answers exclude each other", "an ID that sorts by time shows the time", result["conflict"])
    check("and what fits if one of them changes", {"sort", "hide"} <= {one["answer"] for one in result["without"]}, result["without"])
    for one in result["without"]:
        words = {"sort": "--hide time --width 64", "hide": "--sort yes --width 64", "width": "--sort yes --hide time"}
        if one["answer"] in words:
            same("without --%s it is what choose then puts first" % one["answer"], choose(words[one["answer"]])[0]["fit"][0]["name"], one["name"])
    for words, name, answer in (
            ("--nodes 1025", "snowflake", "nodes"), ("--nodes 1024", "snowflake", "it fits"),
            ("--nodes 65", "js53", "nodes"), ("--width 53 --peak 64k --rate 1", "js53", "it fits"),
            ("--width 53 --peak 65k --rate 1", "js53", "peak"), ("--peak 65k --rate 1 --nodes 2", "js53", "it fits"),
            ("--width 53", "snowflake", "width"), ("--width 64", "uuid7", "width"), ("--width 128", "ksuid", "width"),
            ("--width uuid", "ulid", "width"), ("--width uuid", "segment", "width"), ("--width uuid", "uuid7", "it fits"),
            ("--readers javascript", "snowflake", "readers"), ("--readers javascript", "tsid", "it fits"),
            ("--readers javascript", "js53", "it fits"), ("--sort yes", "uuid4", "sort"), ("--sort yes", "seata", "it fits"),
            ("--sort yes --nodes 2", "seata", "sort"), ("--hide time", "uuid7", "hide"), ("--hide volume", "uuid7", "it fits"),
            ("--rate 9e9", "segment", "it fits"), ("--rate 9e10", "segment", "rate"),
            ("--width 53 --rate 2e7", "segment", "it fits"), ("--width 53 --rate 4e7", "segment", "rate"),
            ("--sort yes --nodes 2", "segment", "sort"), ("--sort yes --nodes 2 --database postgres", "segment", "it fits"),
            ("--spread range --nodes 1000", "seata", "spread"), ("--spread range", "uuid4", "it fits"),
            ("--hide volume", "snowflake", "hide"), ("--hide volume", "objectid", "hide"), ("--hide volume", "segment", "hide"),
            ("--spread range", "snowflake", "spread"), ("--spread range", "lable-spread", "it fits"),
            ("--has-store no", "snowflake", "has_store"), ("--has-store no", "segment", "has_store"), ("--has-store no --rate 5 --readers people", "order", "has_store"),
            ("--has-store no", "uuid7", "it fits"), ("--has-store no --nodes 1000000", "ulid", "it fits"), ("--has-store yes", "segment", "it fits"),
            ("--width 53", "order", "width"), ("--readers people --rate 1e5", "order", "rate"), ("--readers people --rate 9e3", "order", "it fits"),
            ("--spread modulo", "sonyflake", "spread"), ("--spread modulo", "leaf", "it fits"),
            ("--readers people", "uuid7", "readers"), ("--readers people", "tsid", "it fits"), ("--rate 1000", "simpleflake", "rate"),
            ("", "baidu", None)):
        same("%s: %s: %s" % (words or "no answer", name, answer or "its layout has ended"), answer, why(choose(words)[0], name))
    result, _ = choose("")
    issued = sorted([name for name, row in schemes.items() if row["generated"] and not any(one["role"] == "digest" for one in row["slices"])] + ["segment"])
    same("each scheme that is issued is recommended or refused", issued, sorted(one["name"] for one in result["fit"] + result["refused"]))
    for words in ("--rate 5", "", "--rate 5 --hide volume", "--hide volume,time --database sqlite", "--rate 9e3 --database mysql"):
        result, _ = choose("--readers people " + words)
        same("%s: people read order numbers" % (words or "no answer"), "order", result["fit"][0]["name"])
        check("%s: of at most 13 digits" % (words or "no answer"), int(re.search(r"digits=(\d+)", result["fit"][0]["commands"][1]).group(1)) <= 13)
    for words in ("--width 128 --has-store no", "--width 128 --nodes 1000000 --has-store no"):
        result, _ = choose(words)
        same("%s: nothing that a store reserves" % words, [], [one["name"] for one in result["fit"] if one["odds"]["model"] == "reserved"])
    same("--json heeds -n", (1, 2, len(choose("")[0]["refused"])),
         (len(choose("-n 1")[0]["fit"]), len(choose("-n 2")[0]["fit"]), len(choose("-n 2")[0]["refused"])))
    result, _ = choose("--nodes 1000000000000 --rate 1000000 --has-store no")
    odds = [at for one in result["fit"] for at in one["commands"] if at.startswith("firn odds")]
    check("great amounts are written in full", odds and all("--rate 1000000 --nodes 1000000000000 " in at for at in odds), odds)
    same("as firn odds reads them", 0, firn(*odds[0].split()[1:]).returncode)
    said = " ".join(firn("choose", *"--nodes 1000000000000 --peak 123456789012345 --all".split()).stdout.split())
    check("also in the text", "peak 123456789012345; nodes 1000000000000 Assumed" in said, said)
    done = firn("choose", "--rate", "50K")
    check("the units are named", "50k (50 thousand) or 2M (2 million)" in done.stderr, done.stderr)
    text = firn("choose", "--json", "--database", "sqlite").stdout
    same("numbers are as short as they can be", [], re.findall(r"\d\.\d{16,}", text))
    for rate in ("0", "-1", "x", "0x10", "nan", ""):
        done = firn("choose", "--rate=" + rate)
        check("--rate '%s' is refused" % rate, done.returncode == 2 and "is not valid: use a number" in done.stderr, done.stderr)
    for words, text in ((["--database", "oracle"], "use one of other, postgres"), (["--hide", "tiem"], "use some of nothing, time, volume"),
                        (["--nodes", "1.5"], "use a whole number"), (["--rate", "10", "--peak", "1"], "below the rate of 10"),
                        (["snowflake"], "takes options only")):
        done = firn("choose", *words)
        check("%s is refused with a cure" % " ".join(words), done.returncode == 2 and text in done.stderr, done.stderr)


# ---- what is recommended -------------------------------------------------------------------------


def figures():
    if not os.path.exists(SUMMARY):
        return None
    with open(SUMMARY, encoding="utf-8") as lines:
        return {(row["engine"], row["key"], row["storage"], float(row["ratio"]), int(float(row["writers"])), row["metric"]):
                (row["unit"],) + tuple("%.6g" % float(row[name]) for name in ("median", "low", "high", "n"))
                for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if row["median"] and row["ratio"] != "-"}


def check_experts():
    for title, (words, first, among, reason) in EXPERT.items():
        result, _ = choose(words)
        names = [one["name"] for one in result["fit"][:3]]
        same("%s: %s, because %s" % (title, first, reason), first, names[0] if names else result["conflict"])
        same("%s: three decisions, with when each wins" % title, [], [name for name in among.split() if name not in names])
        shown = [one["decision"] for one in result["fit"]]
        same("%s: the best of each decision comes first" % title, list(dict.fromkeys(shown)), list(dict.fromkeys(shown[:len(set(shown))])))
        check("%s: each says when it wins" % title, all(one["wins"].startswith("if ") for one in result["fit"]))
    for words, conflict in IMPOSSIBLE.items():
        result, status = choose(words)
        check("%s: nothing fits" % words, status == 1 and conflict in (result["conflict"] or ""), result["conflict"])
    built = {one["name"]: one["built_in"] for one in choose("--database postgres")[0]["fit"]}
    check("PostgreSQL 18 has uuidv7 itself", "uuidv7()" in built["uuid7"] and "uuid_extract_timestamp" in built["uuid7"], built)
    check("MariaDB 11.7 has UUID_v7", "UUID_v7()" in {one["name"]: one["built_in"] for one in choose("--database mariadb")[0]["fit"]}["uuid7"])
    ends = {one["name"]: one["end"][:4] for one in choose("--database postgres --width 64 --sort yes")[0]["fit"] if one["end"]}
    same("the end of a bigint is the end in its column", ("2039", "2089"), (ends["lable-sequential"], ends["tsid"]))
    text = firn("choose", "--width", "53", "-n", "1").stdout
    check("integers of 53 bits end before 2^53", "ends      after about 9.01e15 integers" in text, text)


def check_spread():
    """`firn spread` calls what is recommended even, with as many shards, and the other ways for which a scheme is refused uneven."""
    for way, words, nodes in (("leading bits", "range", 20), ("leading bits", "range", 1), ("modulo", "modulo", 20), ("modulo", "modulo", 1), ("hash", "hash", 20)):
        wrong, seen = [], 0
        for one in choose("--spread %s --nodes %d --rate 100" % (words, nodes))[0]["fit"]:
            command = next(at for at in one["commands"] if at.startswith("firn ")).split()
            keys = [at for at in command[3:] if "=" in at]
            if command[1] != "new" or one["name"] in ("order", "time-member"):
                continue
            few = re.search(r"begins at (\d+) numbers", " ".join(one["cautions"]))
            for shards in ("8", few.group(1) if few else "64"):
                seen += 1
                for _ in range(3):  # a draw of random IDs may be uneven by chance
                    done = firn("spread", one["name"], *keys, "--shards", shards, "--rate", "100", "--nodes", str(nodes), "-n", "20000", "--json")
                    said = {at["way"]: at["verdict"] for at in json.loads(done.stdout or '{"ways": []}')["ways"]}
                    if said.get(way) == "even":
                        break
                else:
                    wrong.append((one["name"], keys, shards, said.get(way), done.stderr))
        check("--spread %s with %d nodes: firn spread finds each even" % (words, nodes), seen > 0 and not wrong, wrong)


def rank(one, people=False):
    """Cautions, none for order numbers that people read; how well its bytes are known: 2 with an interval, 1 without; the figure."""
    rows = next((at for at in one["figures"] if at["metric"] == "written_bytes_row"), None)
    return -1 if people and one["name"] == "order" else len(one["cautions"]), 0 if rows is None else 1 + (rows["n"] >= 3), rows


def check_order(title, fit, people):
    """No scheme comes after one of its decision that has more cautions, is less known, or writes more for certain."""
    wrong = []
    for before, after in itertools.combinations(fit, 2):
        if before["decision"] != after["decision"]:
            continue
        (first, known, fast), (second, other, slow) = rank(before, people), rank(after, people)
        worse = known < other or known == other == 2 and fast["median"] > 1.1 * slow["median"]
        if first > second or first == second and worse:
            wrong.append((before["name"], after["name"]))
    same("%s: fewer cautions first, then bytes written" % title, [], wrong)


SAMPLE = """#define ROWS(key, storage, median, low, high, n) FIGURE("postgres", key, storage, 8, 1, "written_bytes_row", "bytes/row", median, low, high, n)
#define SIZE(key, storage, bytes) FIGURE("postgres", key, storage, 8, 1, "total_bytes_row", "bytes/row", bytes, bytes, bytes, 7)
ROWS("snowflake", "bigint", 205, 195, 215, 7) ROWS("leaf", "bigint", 200, 190, 210, 7) ROWS("sonyflake", "bigint", 100, 95, 105, 7)
ROWS("uuid7", "uuid", 103, 98, 108, 7) ROWS("ulid", "text", 1, 1, 1, 1) ROWS("uuid1", "uuid", 1, 1, 1, 7)
ROWS("js53", "text", 1, 1, 1, 7)
SIZE("snowflake", "bigint", 180) SIZE("leaf", "bigint", 181) SIZE("sonyflake", "bigint", 180) SIZE("uuid7", "uuid", 200)
SIZE("ulid", "text", 220)
"""
PROGRAM = """#include "choose.h"
#include <stdio.h>
int main(void) {
    static choose_result result;
    choose_answers answers = {0};
    firn_time now = {1800000000, 0};
    choose_assume(&answers, NULL);
    choose(&result, &answers, &now);
    for (size_t i = 0; i < result.fit; i++) puts(result.candidates[i].name);
}
"""


def check_rule():
    """The schemes in order, with their figures where these are known."""
    folder = os.path.join(SCRATCH, "rule")
    shutil.copytree("common", folder)
    for name, text in (("figures.def", SAMPLE), ("main.c", PROGRAM)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)
    sources = [os.path.join(folder, name + ".c") for name in "main choose choose_judge choose_rank choose_text odds join numbers reading remark describe output errors".split()]
    done = subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-Iinclude", "-I" + folder, "-o", os.path.join(folder, "rule"), *sources,
                           os.path.join(os.path.dirname(FIRN), "..", "libfirn.a"), "-lmd", "-lpthread", "-ldl", "-lm",
                           *(["--coverage"] if "-coverage/" in FIRN else [])],
                          capture_output=True, text=True, check=False)
    check("the engine compiles with only the library", done.returncode == 0, done.stderr)
    found = subprocess.run([os.path.join(folder, "rule")], capture_output=True, text=True, check=False).stdout.split()
    same("the best of each decision, then what writes least; nearly the same by size, then as in the list; one measurement after them",
         ["uuid7", "sonyflake", "snowflake", "leaf", "ulid", "js53"], [name for name in found if name in ("sonyflake", "uuid7", "snowflake", "leaf", "ulid", "js53")])
    check("a caution outweighs any figure, a figure of another column does not count", "uuid1" in found and found.index("uuid1") > found.index("js53"), found)


def check_facts(title, words, result, schemes, known):
    for one in result["fit"][:3]:
        name = one["name"]
        if name in schemes:
            letters = "--as dec" in " ".join(one["commands"])
            check("%s: %s ends when its layout does, or before in a signed column" % (title, name),
                  one["end"] == schemes[name]["end"] or (letters and one["end"] < schemes[name]["end"]), one["end"])
        if one["odds"]["model"] != "reserved":
            odds = [json.loads(firn(*at.split()[1:], "--json").stdout)["odds"] for at in one["commands"] if at.startswith("firn odds")]
            same("%s: the odds of %s are the same as firn odds prints" % (title, name), [one["odds"]["ten_years"]], odds)
        for at in one["figures"] if known is not None else []:
            cell = tuple(at[name] for name in ("engine", "key", "storage", "ratio", "writers", "metric"))
            same("%s: %s of %s is in %s" % (title, at["metric"], name, SUMMARY), known.get(cell),
                 (at["unit"],) + tuple("%.6g" % at[name] for name in ("median", "low", "high", "n")))
    text = firn("choose", *words.split()).stdout
    check(title + ": no odds below zero", " -0" not in text, text)
    for one in result["fit"][:3]:
        missing = [part for part in [one["sql"], *one["commands"], *(at["text"] for at in one["figures"])] if part and part not in text]
        same("%s: the text agrees about %s" % (title, one["name"]), [], missing)
        check("%s: and where its figures are" % title, one["figures"] or "not measured" in text, text)
        engines = {"postgres": "PostgreSQL", "mariadb": "MariaDB", "sqlite": "SQLite"}
        plain = re.sub(r"\s+", " ", text)
        wanted = ["%s, %.2f times the integers of %s" % (at["text"], at["times"], engines[at["engine"]]) for at in one["figures"] if one["name"] != "segment" and at["times"]]
        check("%s: no figure of a short cell is quoted" % title, "rows/s" not in plain, plain)
        check("%s: an interval has two ends" % title, not re.search(r"\(([0-9.,]+) to \1\)", plain), plain)
        check("%s: integers end after an amount, not never" % title, one["name"] not in ("order", "segment") or
              re.search(r"ends after (10\^\d+ numbers|about [49][.0-9]+e1[58] integers) ", plain.split(one["name"] + ":", 1)[1]), plain)
        same("%s: the text names the database of the ratios of %s" % (title, one["name"]), [], [at for at in wanted if at not in plain])


# ---- commands ------------------------------------------------------------------------------------


def insert(one, database, ids):
    uuids = one["column"] == "BINARY(16)"
    return ["INSERT INTO items (id, name) VALUES (%s, 'x')" % ("UNHEX(REPLACE('%s', '-', ''))" % at if uuids else "'%s'" % at) for at in ids]


def run_sql(database, statements, query="SELECT COUNT(*) FROM items", after="DROP TABLE items"):
    text = ";\n".join(statements + [query, after]) + ";\n"
    port = os.environ["POSTGRES" if database == "postgres" else "MYSQL"]
    if database == "sqlite":
        command = [sys.executable, "-c", "import sqlite3, sys; base = sqlite3.connect(':memory:')\n"
                   "for one in sys.stdin.read().split(';\\n'): [print(*row) for row in base.execute(one)]"]
    elif database == "postgres":
        command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", port, "-U", "firn", "postgres"]
    else:
        command = ["mariadb", "--no-defaults", "--skip-ssl-verify-server-cert", "-N", "-h", "127.0.0.1", "-P", port, "-u", "firn", "firn"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout.strip() + done.stderr.strip()


def check_commands(title, words, result):
    database = next(one["answer"] for one in result["questions"] if one["name"] == "database")
    engine = {"postgres": "POSTGRES", "mariadb": "MYSQL", "mysql": "MYSQL"}.get(database)
    for one in result["fit"][:None if not words else 4]:
        folder = os.path.join(SCRATCH, "commands", one["name"])
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        done = subprocess.run(["sh", "-eu", "-c", "\n".join(one["commands"][:-1])], cwd=folder, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, check=False,
                              env=dict(os.environ, PATH=os.path.dirname(FIRN) + ":" + os.environ["PATH"], XDG_STATE_HOME=folder))
        last = subprocess.run(["sh", "-eu", "-c", one["commands"][-1]], cwd=folder, capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, PATH=os.path.dirname(FIRN) + ":" + os.environ["PATH"], XDG_STATE_HOME=folder),
                              stdin=subprocess.DEVNULL, check=False)
        ids = done.stdout.split()
        check("%s: the commands of %s work" % (title, one["name"]), (done.returncode, last.returncode, len(set(ids))) == (0, 0, 3),
              done.stdout + done.stderr + last.stderr)
        if one["sql"] and (database == "sqlite" or os.environ[engine]):
            same("%s: %s keeps IDs of %s in the column %s" % (title, database, one["name"], one["column"]), "3",
                 run_sql(database, [one["sql"]] + insert(one, database, ids)))
            if one["name"] == "order":
                zero = ["0" + at[1:] for at in ids]
                same("%s: %s keeps its leading zeros" % (title, database), sorted(set(zero)),
                     run_sql(database, [one["sql"]] + insert(one, database, sorted(set(zero))), "SELECT id FROM items ORDER BY id").split())
            if one["column"] != "INTEGER" and one["name"] != "segment":
                refused = run_sql(database, [one["sql"], "INSERT INTO items (id, name) VALUES (NULL, 'x')"])
                run_sql(database, ["SELECT 1"], "SELECT 2", "DROP TABLE IF EXISTS items")
                check("%s: %s accepts no row without an ID in the column %s" % (title, database, one["column"]), "null" in refused.lower(), refused)


# ---- the terminal --------------------------------------------------------------------------------


def converse(lines):
    """The output of the command at a terminal: questions and report together."""
    ours, theirs = pty.openpty()
    os.write(ours, "".join(line + "\n" for line in lines).encode())
    try:
        done = subprocess.run([FIRN, "choose"], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    return done.stdout


def check_terminal():
    answers = ["5 200", "4", "any", "", "volume", "", "urls", "mariadb"]
    said = converse(answers)
    same("at a terminal eight questions are asked", 8, said.count("? ") + said.count("?\n"))
    wanted = firn("choose", *"--rate 5 --peak 200 --nodes 4 --width any --hide volume --readers urls --database mariadb".split()).stdout
    begin = "\n1. "
    same("and the answer is the same as with options", wanted[wanted.index(begin):], said[said.index(begin):])
    answers[1] = "4 no"
    said = converse(answers)
    check("nodes without a store are reported in the same answer", said.count("? ") + said.count("?\n") == 8 and "nodes 4; has_store no;" in said, said)
    said = converse(["x", "-1", "100"] + [""] * 7)
    same("a question is repeated until the answer is valid", 2, said.count("the answer x is not valid") + said.count("the answer -1 is not valid"))
    done = firn("choose", "--rate", "7")
    check("without a terminal nothing is asked, and the assumptions are printed", "Assumed: peak 70; nodes 1;" in done.stdout.replace("\n         ", " "), done.stdout)


def main():
    os.environ["XDG_STATE_HOME"] = os.path.join(SCRATCH, "state")
    schemes = {row["name"]: row for row in map(json.loads, firn("schemes", "--json").stdout.splitlines())}
    check_refusals(schemes)
    check_rule()
    check_experts()
    check_spread()
    with open("common/choose_judge.c", encoding="utf-8") as source:
        opinions = re.findall(r'\{"([a-z0-9-]+)",', source.read())
    same("each caution names a scheme that exists", [], [name for name in opinions if name not in schemes])
    same("common/figures.def is what %s says (make choose-figures)" % SUMMARY, "",
         subprocess.run([sys.executable, "common/figures.py", "--check"], capture_output=True, text=True, check=False).stderr.strip())
    same("docs/start/choosing.md quotes the same (make choose-figures)", "",
         subprocess.run([sys.executable, "common/figures.py", "--page", "docs/start/choosing.md", "--check"], capture_output=True, text=True,
                        check=False).stderr.strip())
    known = figures()
    for title, words in WORKLOADS.items():
        result, status = choose(words)
        check("%s: something fits" % title, status == 0 and result["fit"], result)
        check_order(title, result["fit"], "people" in words)
        check_facts(title, words, result, schemes, known)
        check_commands(title, words, result)
    check_terminal()
    print("1..%d" % number)
    return failures > 0


sys.exit(main())
