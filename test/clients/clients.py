# SPDX-License-Identifier: MIT
"""Every client of the server (bindings/) does the same: each check below is run against each language.

A language has a driver, bindings/LANGUAGE/tests/drive.*, which keeps clients by name and answers a line with a line.
Words are percent-encoded, and times are milliseconds:

    open NAME addresses=A,B token= ca= connect_timeout= timeout= max_wait= block=
    next NAME SCHEME | many NAME SCHEME N | at NAME SCHEME TIME N | kind NAME SCHEME (integer or text)
    ids NAME SCHEME MAX_AGE N PAUSE      N IDs of one iterator, which the driver keeps; it sleeps PAUSE between them
    fork NAME SCHEME N                   N IDs of one iterator in a child, then N in the parent
    show NAME ID (scheme, time) | range NAME SCHEME FROM TO | convert NAME ID FORM | guess NAME ID (schemes)
    integer NAME KEY | integers NAME KEY N (first, last, increment) | print NAME (the client as text)

    copy NAME SCHEME N | crowd NAME SCHEME | interrupt NAME SCHEME MS | spend NAME SCHEME N: see the checks of these names

It answers `ok WORD...`, or `error KIND CODE TEXT`, where KIND is overload, unreachable or request.

clients.py [LANGUAGE,... [PART...]] runs checks, `clients.py --bench` measures. They need BUILD, FIRN and TMPDIR, as all
tests do, and the root of the tree as folder."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "serve"))
import serving  # noqa: E402
import tap  # noqa: E402
import fakes  # noqa: E402

TMPDIR, BUILD = os.environ["TMPDIR"], os.environ["BUILD"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
PATIENCE_S = 120
TOKEN = "issue-0123456789abcdef"
EVER = 3600_000  # ms


class Language:
    """`run` makes the words that run the driver in a copy of bindings/FOLDER. `fork` and `age` are changes of `source`
    that the checks must notice: of the check of the process (None: the language cannot fork), and of a block's age.
    `other_fork`: variables with which forks are checked once more. `hosts`: can its driver tell for which host a
    certificate is? `authority`: the variable that names an authority, if a client cannot. `copies`: programs can copy
    an iterator. `threads`: they can share a client between threads. `interrupts`: and end a call from outside.
    `unix`: they can use a unix socket."""

    def __init__(self, name, run, source, fork=None, age=None, resp=False, folder=None, other_fork=None,
                 hosts=True, authority=None, copies=False,
                 threads=False, interrupts=False, unix=True):
        self.name, self.run, self.source, self.fork, self.age, self.resp = name, run, source, fork, age, resp
        self.folder, self.other_fork, self.hosts, self.authority = f"bindings/{folder or name}", other_fork, hosts, authority
        self.copies, self.threads, self.interrupts, self.unix = copies, threads, interrupts, unix

    def words(self, folder):
        shutil.copytree(self.folder, folder)
        return self.run(folder)

    def address(self, server, tls=False):
        port = server.port if self.resp or isinstance(server, fakes.Fake) else server.http
        return "%s://127.0.0.1:%d" % (("rediss" if tls else "redis") if self.resp else ("https" if tls else "http"), port)


class Driver:
    def __init__(self, language, words, **variables):
        self.language = language
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=open(f"{TMPDIR}/{language.name}.log", "ab"), text=True,
                                        env={**os.environ, **variables})
        self.clients = 0

    def ask(self, *words):
        """The words of the answer; an error is a list that begins with "error"."""
        self.process.stdin.write(" ".join(urllib.parse.quote(str(word), safe=":/,=.-") for word in words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            with open(f"{TMPDIR}/{self.language.name}.log") as log:
                raise EOFError("the driver ended: " + log.read()[-3000:])
        status, *rest = line.rstrip("\n").split(" ")
        return rest if status == "ok" else [status] + rest[:2] + [" ".join(rest[2:])]

    def open(self, *servers, tls=False, **options):
        self.clients += 1
        name = f"c{self.clients}"
        # Limits that no slow machine reaches, except the limits that a check sets.
        options = {"timeout": 20000, "max_wait": 60000, **options}
        options.setdefault("connect_timeout", options["timeout"])
        addresses = ",".join(server if isinstance(server, str) else self.language.address(server, tls) for server in servers)
        said = self.ask("open", name, f"addresses={addresses}", *(f"{key}={value}" for key, value in options.items()))
        if said:
            raise ValueError(f"open: {said}")
        return name

    def end(self):
        self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "it did not end"


lock = threading.Lock()


class Run:
    """All checks of one language."""

    def __init__(self, language):
        self.language, self.driver, self.folder = language, None, f"{TMPDIR}/{language.name}"
        self.bad = fakes.MALFORMED_RESP if language.resp else fakes.MALFORMED_HTTP

    def check(self, sentence, holds, why=""):
        with lock:
            tap.check(f"{self.language.name}: {sentence}", holds, why)

    def same(self, sentence, expected, found):
        self.check(sentence, expected == found, f"expected: {expected!r}\nfound: {found!r}")

    def fails(self, sentence, kind, said, words=""):
        self.check(sentence, said[:2] == ["error", kind] and words in " ".join(said[2:]), f"expected: {kind} {words}\nfound: {said!r}"[:900])

    def serve(self, name, sections="", **settings):
        # Both servers of a language share a store.
        settings = {"store": f"sqlite:{self.folder}/ids.db?create=yes", "unsafe": "on", "auto_create": "yes", "stop": "1s",
                    "loops": 1, "http_threads": 1, **settings}
        return serving.Server(f"{self.folder}/{name}", PROGRAM, sections, **settings)

    def all(self):
        try:
            os.makedirs(self.folder)
            self.words = self.language.words(f"{self.folder}/as-it-is")
            self.driver = Driver(self.language, self.words)
            self.first = self.serve("first", "[segment short]\nend = 2\n").start()
            self.second = self.serve("second").start()
            for part in PARTS:
                if len(sys.argv) > 2 and part.__name__ not in sys.argv[2:]:
                    continue
                begun = time.monotonic()
                try:
                    part(self)
                except Exception:
                    self.check(part.__name__, False, traceback.format_exc())
                    if self.driver.process.poll() is not None:
                        self.driver = Driver(self.language, self.words)
                if os.environ.get("VERBOSE"):
                    print(f"# {self.language.name} {part.__name__}: {time.monotonic() - begun:.1f} s")
            self.same("the driver ends well", 0, self.driver.end())
        except Exception:
            self.check("its checks run", False, traceback.format_exc())
        for server in (getattr(self, "first", None), getattr(self, "second", None)):
            if server and server.process.poll() is None:
                server.kill()


# ---- what each language is asked --------------------------------------------------------------------------------------


def issues(self):
    ask, both = self.driver.ask, self.driver.open(self.first, self.second)
    one, many = ask("next", both, "snowflake"), ask("many", both, "snowflake", 1000)
    self.check("1000 IDs are in order, after the one before", len(many) == 1000 and all(map(fakes.is_number, one + many)) and
               sorted(set(map(int, one + many))) == list(map(int, one + many)), one + many[:9])
    self.same("a 64-bit ID is an integer, a UUID a text", ["integer", "text"], ask("kind", both, "snowflake") + ask("kind", both, "uuid7"))
    self.check("a UUID looks like one", re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", ask("next", both, "uuid7")[0]))
    old = ask("at", both, "snowflake", "2024-02-29T12:00:00Z", 2)
    self.same("back-dated IDs have their time", 1709208000000, (int(old[0]) >> 22) + 1288834974657)
    self.same("an ID has a scheme and a time", ["uuid7", "2024-02-29T12:00:00.000Z"], ask("show", both, "018df4bc-5600-7000-8000-000000000001"))
    self.check("and are different", len(set(old)) == 2, old)
    self.same("a range has the least and the greatest ID", ["2008327652766646272", "2008690040632246271"],
              ask("range", both, "snowflake", "2026-01-06", "2026-01-07"))
    self.same("an ID in another form", ["1565a11f6217a000"], ask("convert", both, "1541815603606036480", "hex"))
    self.same("what an ID may be", "snowflake discord instagram sonyflake", " ".join(ask("guess", both, "1541815603606036480")[:4]))
    first, last, increment = map(int, ask("integers", both, "invoices", 10))
    self.same("a block of integers", (first + 9, 1), (last, increment))
    self.check("the next integer follows", int(ask("integer", both, "invoices")[0]) == last + 1)
    fake = fakes.Fake(lambda request, count: fakes.FAR[self.language.resp])
    self.same("integers of 19 digits", ["4000000000000000000", "4000000000000000009", "1"], ask("integers", self.driver.open(fake), "far", 10))
    fake.close()
    alone = self.driver.open(self.first)
    self.same("the end of a segment", ["1", "2"], ask("integer", alone, "short") + ask("integer", alone, "short"))
    self.fails("and no integer after it", "request", ask("integer", alone, "short"), "short")
    apart = [id for server in (self.first, self.second) for id in ask("many", self.driver.open(server), "snowflake", 3000)]
    self.same("two servers give different IDs", 6000, len(set(apart)))


def keeps_blocks(self):
    ask, fake = self.driver.ask, fakes.Fake()
    client = self.driver.open(fake)
    ids = ask("ids", client, "snowflake", EVER, 1000, 0)
    self.check("1000 IDs of an iterator take at most 12 requests", len(set(ids)) == 1000 and fake.requests <= 12, f"{fake.requests} {ids[:9]}")
    self.check("a block has at most 256 IDs", max(sum(id[:5] == group for id in ids) for group in {id[:5] for id in ids}) <= 256)
    self.same("an ID is not older than max_age", 4, aged(self.driver, client))
    before = fake.requests
    ask("next", client, "snowflake")
    ask("next", client, "snowflake")
    self.same("next asks the server each time", 2, fake.requests - before)
    small = self.driver.open(fake, block=2)
    self.same("the size of a block can be limited", 2, max(
        sum(int(id) // 100000 == group for id in ids) for ids in [ask("ids", small, "snowflake", EVER, 9, 0)] for group in {int(id) // 100000 for id in ids}))
    fake.close()


def keeps_digits(self):
    large = [str(n) for n in (2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)]
    fake = fakes.Fake(lambda request, count: large[:count])
    self.same("64-bit IDs keep all their digits", large, self.driver.ask("many", self.driver.open(fake), "snowflake", 4))
    fake.close()


def aged(driver, client):
    """How many blocks four IDs come from, if a block ages while the program does something else."""
    driver.ask("ids", client, "snowflake", 30, 20, 0)
    return len({int(id) // 100000 for id in driver.ask("ids", client, "snowflake", 30, 4, 60)})


def forks(self):
    if not self.language.fork:
        return
    self.same("a child repeats none of its parent's block", "", forked(self.driver))
    if self.language.other_fork:
        driver = Driver(self.language, self.words, **self.language.other_fork)
        self.same(f"nor with {' '.join(self.language.other_fork)}", "", forked(driver))
        driver.end()


def forked(driver):
    fake = fakes.Fake()
    client = driver.open(fake)
    driver.ask("ids", client, "snowflake", EVER, 20, 0)  # of blocks of 1, 2, 4, 8 and 16: eleven are left
    ids = driver.ask("fork", client, "snowflake", 5)
    fake.close()
    return "" if len(ids) == 10 and len(set(ids)) == 10 else str(ids)


def copies(self):
    if not self.language.copies:
        return
    fake = fakes.Fake()
    client = self.driver.open(fake)
    self.driver.ask("ids", client, "snowflake", EVER, 20, 0)
    ids = self.driver.ask("copy", client, "snowflake", 5)
    fake.close()
    self.same("a copy of an iterator repeats none of its block", 10, len(set(ids)))


def serves_threads(self):
    if self.language.threads:
        fake = fakes.Fake()
        ids = self.driver.ask("crowd", self.driver.open(fake), "snowflake")
        fake.close()
        self.same("eight threads that share a client and an iterator get different IDs", (960, 960), (len(ids), len(set(ids))))
        fake = fakes.Fake(lambda request, count: self.bad["letters"] if request % 4 == 0 else fakes.numbers(request, count), lambda request: 0.001)
        ids = self.driver.ask("crowd", self.driver.open(fake, timeout=20000, max_wait=60000), "snowflake")
        fake.close()
        self.same("also while the replies of others are malformed", (960, 960), (len(ids), len(set(ids))))
    if self.language.interrupts:
        fake = fakes.Fake(delay=lambda request: 1 if request == 1 else 0)
        client = self.driver.open(fake)
        self.driver.ask("next", client, "snowflake")
        said = self.driver.ask("interrupt", client, "snowflake", 400) + self.driver.ask("next", client, "snowflake")
        fake.close()
        self.same("after an interrupted call, its late reply is not the reply to the next one",
                  ["interrupted", *fakes.numbers(fake.requests - 1, 1)], said)


def survives_kills(self):
    ask, both = self.driver.ask, self.driver.open(self.first, self.second)
    ids = ask("many", both, "snowflake", 10) + ask("ids", both, "snowflake", EVER, 5, 0)
    self.first.kill()
    ids += ask("many", both, "snowflake", 10) + ask("ids", both, "snowflake", 1, 5, 5)
    self.first.start()
    self.second.kill()
    ids += ask("many", both, "snowflake", 10) + ask("ids", both, "snowflake", 1, 5, 5)
    alone = self.driver.open(self.second)
    late = []
    asking = threading.Thread(target=lambda: late.extend(ask("many", alone, "snowflake", 10)))
    asking.start()
    time.sleep(0.2)  # during this time no server answers the client
    self.second.start()
    asking.join()
    ids += late
    self.check("kill -9 of either server is not an error, and repeats no ID", len(ids) == len(set(ids)) == 55 and all(map(fakes.is_number, ids)), ids)
    self.second.end()
    self.second.start()
    self.check("nor is the restart of the only server", fakes.is_number(ask("next", alone, "snowflake")[0]))


def tells_overload(self):
    ask = self.driver.ask
    fake = fakes.Fake(lambda request, count: ("TRYAGAIN", "no IDs are left") if request < 4 else fakes.numbers(request, count))
    self.check("a request that was overloaded is sent again", fakes.is_number(ask("next", self.driver.open(fake), "snowflake")[0]))
    fake.close()
    fake = fakes.Fake(lambda request, count: ("TRYAGAIN", "no IDs are left"))
    begun = time.monotonic()
    said = ask("next", self.driver.open(fake, max_wait=1000), "snowflake")
    self.fails("overload that lasts is an error", "overload", said, "no IDs are left")
    self.check("after several requests", fake.requests > 2, fake.requests)
    self.check("and after about max_wait", 0.05 < time.monotonic() - begun < 20)
    self.check("another server is asked at once", fakes.is_number(ask("next", self.driver.open(fake, self.first), "snowflake")[0]))
    fake.close()
    if self.language.resp:
        fake = fakes.Fake(lambda request, count: ("ERR", "max number of clients reached"))
        self.fails("so is a server without a free connection", "overload", ask("next", self.driver.open(fake, max_wait=50), "snowflake"))
        fake.close()
    real = self.serve("without", store=f"sqlite:{self.folder}/none.db", wait="1ms").start()
    self.fails("a server without its store is overloaded", "overload", ask("next", self.driver.open(real, max_wait=100), "snowflake"))
    real.kill()


def tells_failure(self):
    ask = self.driver.ask
    nobody = self.language.address(type("", (), {"port": serving.free_port(), "http": serving.free_port()}))
    self.fails("no server is unreachable", "unreachable", ask("next", self.driver.open(nobody, max_wait=200), "snowflake"), "127.0.0.1")
    fake = fakes.Fake(lambda request, count: None)
    begun = time.monotonic()
    self.fails("a server that never answers is unreachable", "unreachable", ask("next", self.driver.open(fake, timeout=200, max_wait=500), "snowflake"))
    self.check("within the time limits", 0.15 < time.monotonic() - begun < 20, time.monotonic() - begun)
    self.check("and another one is asked", fakes.is_number(ask("next", self.driver.open(fake, self.first, timeout=2000), "snowflake")[0]))
    fake.close()
    if not self.language.resp:
        fake = fakes.Fake(lambda request, count: b"1" * (9 << 20))
        said = ask("next", self.driver.open(fake, max_wait=50), "snowflake")
        self.check("a reply of 9 MiB is not read to its end", said[:2] == ["error", "unreachable"] and "malformed" not in said[3], said)
        fake.close()
    fake = fakes.Fake(lambda request, count: fakes.DRIPS[not self.language.resp])
    begun = time.monotonic()
    self.fails("so is one that sends a byte from time to time", "unreachable",
               ask("next", self.driver.open(fake, connect_timeout=200, timeout=200, max_wait=300), "snowflake"))
    self.check("within the time limits", time.monotonic() - begun < 20, time.monotonic() - begun)
    fake.close()
    fake = fakes.Fake(delay=lambda request: 1 if request == 0 else 0)
    ids = ask("many", self.driver.open(fake, connect_timeout=100, timeout=300), "snowflake", 3)
    self.check("a reply that comes too late is not the reply to the next request",
               fake.requests > 1 and ids == fakes.numbers(fake.requests - 1, 3), f"{fake.requests} {ids}")
    fake.close()


def refuses_malformed(self):
    ask, wrong = self.driver.ask, {}
    for what, reply in self.bad.items():
        fake = fakes.Fake(lambda request, count, reply=reply: reply)
        said = ask("many", self.driver.open(fake, timeout=300, max_wait=50), "snowflake", 3)
        if said[:2] != ["error", "unreachable"]:
            wrong[what] = said
        fake.close()
    self.same("no malformed reply is taken for IDs", {}, wrong)
    fake = fakes.Fake(lambda request, count: self.bad["letters"])
    self.same("and another server is asked", 3, len(ask("many", self.driver.open(fake, self.first), "snowflake", 3)))
    fake.close()


def refuses_requests(self):
    ask, client = self.driver.ask, self.driver.open(self.first, self.second)
    self.fails("an unknown scheme is a wrong request", "request", ask("next", client, "snowflak"), "snowflak")
    if not self.language.resp:  # which has one line
        self.same("it has its cure and its value", ["did you mean `snowflake`?", "SPELLING", "snowflak"],
                  [urllib.parse.unquote(part) for part in ask("cure", client, "snowflak")[:3]])
    fake = fakes.Fake(lambda request, count: ("ERR", "COUNT is out of range"))
    self.fails("a wrong request is an error", "request", ask("many", self.driver.open(fake), "snowflake", 3), "out of range")
    self.same("and is sent once", 1, fake.requests)
    fake.close()
    for count in (0, -1, 65537, 1 << 62):
        self.fails(f"{count} IDs are refused", "request", ask("many", client, "snowflake", count))
    for name in ("a b", "x\r\nINCR y", "../status", "snowflake?n=5", "snowflake/..", "", "a%0d", "é", "x" * 3000):
        self.fails(f"a hostile name is refused: {name[:20]!a}", "request", ask("next", client, name))
    self.fails("an invalid time", "request", ask("at", client, "snowflake", "yesterday", 1))


def listens_locally(self):
    if not self.language.unix:
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # the path of a socket is short
        server = self.serve("local", resp=f"unix:{folder}/resp", http=f"unix:{folder}/http").start(wait=False)
        path = f"{folder}/{'resp' if self.language.resp else 'http'}"
        serving.wait_for("the server", lambda: os.path.exists(path))
        self.check("a unix socket", fakes.is_number(self.driver.ask("next", self.driver.open(f"unix://{path}"), "snowflake")[0]))
        server.kill()


def sends_tokens(self):
    path = f"{self.folder}/tokens"
    with open(path, "w") as tokens:
        os.fchmod(tokens.fileno(), 0o600)
        tokens.write(f"issue {TOKEN}\n")
    closed, ask = self.serve("closed", tokens=path, stop="0").start(), self.driver.ask
    name = self.driver.open(closed, token=TOKEN)
    self.check("the right token", fakes.is_number(ask("next", name, "snowflake")[0]))
    self.check("is not in the client's text", TOKEN not in " ".join(ask("print", name)), ask("print", name))
    self.fails("no token is a wrong request", "request", ask("next", self.driver.open(closed), "snowflake"))
    said = ask("next", self.driver.open(closed, self.first, token="wrong-0123456789abcdef"), "snowflake")
    self.fails("so is a wrong one", "request", said)
    self.check("which the error does not show", "wrong-0123" not in " ".join(said), said)
    closed.kill()
    if self.language.resp:
        fake = fakes.Fake(lambda request, count: ("NOAUTH", "Authentication required") if request == 0 else fakes.numbers(request, count))
        client = self.driver.open(fake, token=TOKEN)
        self.fails("a token that was removed is a wrong request", "request", ask("next", client, "snowflake"))
        before = fake.connections
        self.check("and sent again, on a new connection", fakes.is_number(ask("next", client, "snowflake")[0]) and fake.connections > before)
        fake.close()
    address = self.language.address(closed).replace("//", "//user:pass/wo@rd-of-nobody@")
    for what, words in (("the password of an address", f"addresses={address}"),
                        ("a token with the end of its line", f"addresses={self.language.address(closed)} token=pass/of-nobody%0A")):
        said = subprocess.run(self.words, input=f"open c {words} max_wait=50\nnext c snowflake\nprint c\n", capture_output=True, text=True)
        said = said.stdout + said.stderr
        self.check(f"nothing shows {what}", "pass/" not in said and "nobody" not in said, said)


def speaks_tls(self):
    base, new = f"{self.folder}/tls", ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    for words in (
        [*new, "-subj", "/CN=authority", "-addext", "keyUsage=critical,keyCertSign", "-keyout", f"{base}.ca.key", "-out", f"{base}.ca"],
        [*new, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
         "-CA", f"{base}.ca", "-CAkey", f"{base}.ca.key", "-keyout", f"{base}.key", "-out", f"{base}.crt"],
    ):
        subprocess.run(words, check=True, capture_output=True)
    server = self.serve("tls", tls_cert=f"{base}.crt", tls_key=f"{base}.key").start(wait=False)
    serving.wait_for("the server", lambda: not fakes.stopped(server.port) and not fakes.stopped(server.http))
    right = self.language.address(server, tls=True)
    trusting = Driver(self.language, self.words, **{self.language.authority: f"{base}.ca"}) if self.language.authority else self.driver
    said = trusting.ask("next", trusting.open(right, ca=f"{base}.ca"), "snowflake")
    self.check("TLS with a certificate that it trusts", fakes.is_number(said[0]), said)
    self.fails("and none with another", "unreachable", self.driver.ask("next", self.driver.open(right, max_wait=50), "snowflake"))
    if self.language.hosts:
        wrong = right.replace("127.0.0.1", "localhost")
        self.fails("and none for another host", "unreachable", trusting.ask("next", trusting.open(wrong, max_wait=50, ca=f"{base}.ca"), "snowflake"))
    if trusting is not self.driver:
        trusting.end()
    server.kill()


PARTS = [issues, keeps_blocks, keeps_digits, forks, copies, serves_threads, survives_kills, tells_overload, tells_failure, refuses_malformed, refuses_requests, listens_locally, sends_tokens, speaks_tls]


def plants(self):
    """The checks notice a client whose block survives a fork or never grows old."""
    for what, change in (("fork", self.language.fork), ("age", self.language.age)):
        if not change:
            continue
        folder = f"{self.folder}/{what}"
        shutil.copytree(self.language.folder, folder)
        with open(f"{folder}/{self.language.source}") as source:
            text = source.read()
        self.check(f"the check of the {what} is where it is expected", change[0] in text, change[0])
        with open(f"{folder}/{self.language.source}", "w") as source:
            source.write(text.replace(*change))
        driver = Driver(self.language, self.language.run(folder))
        if what == "fork":
            self.check("without the check of the process, a child repeats IDs", forked(driver))
        else:
            fake = fakes.Fake()
            self.check("without the check of the age, an ID is too old", aged(driver, driver.open(fake)) < 4)
            fake.close()
        driver.end()


def csharp(folder):
    """Compiled for mono: Debian has no .NET."""
    subprocess.run(["mcs", "-langversion:7", "-warnaserror", "-r:System.Net.Http", f"-out:{folder}/drive.exe", f"{folder}/Firn.cs", f"{folder}/tests/Drive.cs"],
                   check=True, stdout=subprocess.DEVNULL)
    return ["mono", f"{folder}/drive.exe"]


def java(folder):
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    subprocess.run(["javac", *("-J" + flag for flag in quick), "-d", f"{folder}/classes", *glob.glob(f"{folder}/src/dev/firn/client/*.java"), f"{folder}/test/Drive.java"],
                   check=True, stdout=subprocess.DEVNULL)
    return ["java", *quick, "-cp", f"{folder}/classes", "Drive"]


PARTS.append(plants)
LANGUAGES = [
    Language("php", copies=True, run=lambda folder: ["php", f"{folder}/tests/drive.php"], source="src/Firn.php",
             fork=("|| $this->pid !== getmypid()) {\n            $this->refill", ") {\n            $this->refill"), age=("|| hrtime(true) / 1e9 > $this->until ", "")),
    Language("ruby", copies=True, threads=True, interrupts=True, run=lambda folder: ["ruby", f"{folder}/tests/drive.rb"], source="lib/firn.rb", resp=True,
             fork=(" && @pid == Process.pid\n        @taken", "\n        @taken"), age=("&& now <= @until ", "")),
    Language("lua", lambda folder: ["lua5.3", f"{folder}/tests/drive.lua"], "firn.lua", resp=True,
             fork=(" or owner ~= pid()", ""), age=("or elapsed > (max_age or 0.001) ", ""), other_fork={"FIRN_WITHOUT_POSIX": "1"}),
    Language("lua5.4", lambda folder: ["lua5.4", f"{folder}/tests/drive.lua"], "firn.lua", resp=True, folder="lua"),
    Language("csharp", csharp, "Firn.cs", unix=False, threads=True, interrupts=True, age=(" > maxAge", " > maxAge + TimeSpan.FromDays(1)"), hosts=False),  # mono's callback does not
    Language("python", lambda folder: ["/usr/bin/python3", f"{folder}/tests/drive.py"], "firn_client.py", resp=True, threads=True, interrupts=True,
             fork=(" or self._pid != os.getpid()", ""), age=(" or time.monotonic() > self._until", "")),
    Language("node", lambda folder: ["node", f"{folder}/test_drive.js"], "client.js", unix=False, threads=True, age=(" && performance.now() - this.#asked <= this.#maxAge", ""),
             authority="NODE_EXTRA_CA_CERTS"),
    Language("java", java, "src/dev/firn/client/ServerBlock.java", unix=False, age=(" > maxAgeNs", " > maxAgeNs + (1L << 60)")),
    Language("elixir", lambda folder: ["elixir", "-r", f"{folder}/lib/firn.ex", f"{folder}/tests/drive.exs"], "lib/firn.ex", resp=True,
             copies=True, threads=True, interrupts=True, age=(" and System.monotonic_time() - asked <= max_age", "")),
]


def main():
    chosen = sys.argv[1].split(",") if len(sys.argv) > 1 and sys.argv[1] else None
    runs = [threading.Thread(target=Run(language).all) for language in LANGUAGES if not chosen or language.name in chosen]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    print(f"1..{tap.checks}")
    sys.exit(tap.failures > 0)


def bench():
    """ns per ID of a server on this machine: the least of five rounds."""
    run = Run(Language("bench", None, None))
    os.makedirs(run.folder, exist_ok=True)
    server = run.serve("bench", loops=0).start()
    for language in LANGUAGES:
        driver = Driver(language, language.words(f"{run.folder}/{language.name}"))
        client = driver.open(server)
        rounds = [list(map(int, driver.ask("spend", client, "snowflake", 1000))) for _ in range(5)]
        print(f"{language.name:8} next {min(each[0] for each in rounds)} block {min(each[1] for each in rounds)}", flush=True)
        driver.end()
    server.end()


if __name__ == "__main__":
    bench() if sys.argv[1:] == ["--bench"] else main()
