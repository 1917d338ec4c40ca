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
            ("--hide volume", "snowflake", "hide"), ("--hide volume", "objectid", "hide"), ("--hide volume", "segment", "hide"),
            ("--spread range", "snowflake", "spread"), ("--spread range", "lable-spread", "it fits"),
            ("--store no", "snowflake", "store"), ("--store no", "segment", "store"), ("--store no --rate 5 --readers people", "order", "store"),
            ("--store no", "uuid7", "it fits"), ("--store no --nodes 1000000", "ulid", "it fits"), ("--store yes", "segment", "it fits"),
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
    for words in ("--width 128 --store no", "--width 128 --nodes 1000000 --store no"):
        result, _ = choose(words)
        same("%s: nothing that a store reserves" % words, [], [one["name"] for one in result["fit"] if one["odds"]["model"] == "reserved"])
    same("--json heeds -n", (1, 2, len(choose("")[0]["refused"])),
         (len(choose("-n 1")[0]["fit"]), len(choose("-n 2")[0]["fit"]), len(choose("-n 2")[0]["refused"])))
    result, _ = choose("--nodes 1000000000000 --rate 1000000 --store no")
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


def rank(one, people=False):
    """Cautions, none for order numbers that people read; how well its speed is known: 2 with an interval, 1 without; the figure."""
    rows = next((at for at in one["figures"] if at["metric"] == "load_rows_s"), None)
    return -1 if people and one["name"] == "order" else len(one["cautions"]), 0 if rows is None else 1 + (rows["n"] >= 3), rows


def check_order(title, fit, people):
    """No scheme comes after a scheme that has more cautions, is less known, or has fewer rows per second for certain."""
    wrong = []
    for before, after in itertools.combinations(fit, 2):
        (first, known, fast), (second, other, slow) = rank(before, people), rank(after, people)
        worse = known < other or known == other == 2 and fast["high"] < slow["low"]
        if first > second or first == second and worse:
            wrong.append((before["name"], after["name"]))
    same("%s: fewer cautions first, then rows per second" % title, [], wrong)


SAMPLE = """#define ROWS(key, storage, median, low, high, n) FIGURE("postgres", key, storage, 8, 1, "load_rows_s", "rows/s", median, low, high, n)
#define SIZE(key, storage, bytes) FIGURE("postgres", key, storage, 8, 1, "total_bytes_row", "bytes/row", bytes, bytes, bytes, 7)
ROWS("snowflake", "bigint", 100, 95, 105, 7) ROWS("leaf", "bigint", 103, 98, 108, 7) ROWS("sonyflake", "bigint", 200, 190, 210, 7)
ROWS("uuid7", "uuid", 205, 195, 215, 7) ROWS("ulid", "text", 900, 900, 900, 1) ROWS("uuid1", "uuid", 999, 990, 1000, 7)
ROWS("js53", "text", 999, 998, 1000, 7)
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
    for (size_t i = 0; i < result.fit; i++) puts(result.at[i].name);
}
"""


def check_rule():
    """The schemes in order, with their figures where these are known."""
    folder = os.path.join(SCRATCH, "rule")
    shutil.copytree("common", folder)
    for name, text in (("figures.def", SAMPLE), ("main.c", PROGRAM)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)
    sources = [os.path.join(folder, name + ".c") for name in "main choose choose_judge choose_rank choose_text odds maths join numbers reading remark describe output errors".split()]
    done = subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-Iinclude", "-I" + folder, "-o", os.path.join(folder, "rule"), *sources,
                           os.path.join(os.path.dirname(FIRN), "..", "libfirn.a"), "-lmd", "-lpthread", "-ldl",
                           *(["--coverage"] if "-coverage/" in FIRN else [])],
                          capture_output=True, text=True, check=False)
    check("the engine compiles with only the library", done.returncode == 0, done.stderr)
    found = subprocess.run([os.path.join(folder, "rule")], capture_output=True, text=True, check=False).stdout.split()
    same("the fastest first; equal intervals by size, then as in the list; one measurement after them; cautions last",
         ["sonyflake", "uuid7", "snowflake", "leaf", "ulid", "js53"], [name for name in found if name in ("sonyflake", "uuid7", "snowflake", "leaf", "ulid", "js53")])
    check("a caution outweighs any figure, a figure of another column does not count", "uuid1" in found and found.index("uuid1") > found.index("js53"), found)


def check_facts(title, words, result, schemes, known):
    for one in result["fit"][:3]:
        name = one["name"]
        if name in schemes:
            same("%s: %s ends when its layout does" % (title, name), schemes[name]["end"], one["end"])
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
        wanted = ["%s in %s on one small server" % (at["text"], engines[at["engine"]]) for at in one["figures"] if at["metric"] == "load_rows_s"]
        check("%s: an interval has two ends" % title, not re.search(r"\(([0-9.,]+) to \1\)", plain), plain)
        check("%s: integers end after an amount, not never" % title, one["name"] not in ("order", "segment") or
              re.search(r"ends after (10\^\d+ numbers|about 4.6e18 integers) ", plain.split(one["name"] + ":", 1)[1]), plain)
        same("%s: the text names the database of the speed of %s" % (title, one["name"]), [], [at for at in wanted if at not in plain])


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
            if one["column"] != "INTEGER":
                refused = run_sql(database, [one["sql"], "INSERT INTO items (id, name) VALUES (NULL, 'x')"])
                run_sql(database, ["SELECT 1"], "SELECT 2", "DROP TABLE IF EXISTS items")
                check("%s: %s accepts no row without an ID in the column %s" % (title, database, one["column"]), "null" in refused.lower(), refused)


# ---- the terminal --------------------------------------------------------------------------------


def converse(lines):
    """What the command says at a terminal: questions and report together."""
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
    check("nodes without a store are reported in the same answer", said.count("? ") + said.count("?\n") == 8 and "nodes 4; store no;" in said, said)
    said = converse(["x", "-1", "100"] + [""] * 7)
    same("a question is repeated until the answer is valid", 2, said.count("the answer x is not valid") + said.count("the answer -1 is not valid"))
    done = firn("choose", "--rate", "7")
    check("without a terminal nothing is asked, and the assumptions are printed", "Assumed: peak 70; nodes 1;" in done.stdout.replace("\n         ", " "), done.stdout)


def main():
    os.environ["XDG_STATE_HOME"] = os.path.join(SCRATCH, "state")
    schemes = {row["name"]: row for row in map(json.loads, firn("schemes", "--json").stdout.splitlines())}
    check_refusals(schemes)
    check_rule()
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
