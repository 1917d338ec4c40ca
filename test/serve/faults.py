# SPDX-License-Identifier: MIT
"""The server and what goes wrong around it: it is killed, its store is gone, its disk is full, its clock steps. The
tests compare everything that it issued: no integer and no ID comes twice, and integers never decrease."""
import array
import json
import operator
import os
import random
import socket
import struct
import subprocess
import threading
import time
from itertools import islice

import serving
import tap
from serving import Refused, command

TMPDIR, BUILD = os.environ["TMPDIR"], os.environ["BUILD"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
SANITIZED = os.path.dirname(os.environ["FIRN"]) != BUILD + "/bin"
LONG = not SANITIZED and "TEST_SHORT" not in os.environ
KILLS = 30 if LONG else 5
OUTAGE_S = 60 if LONG else 15
CONNECTIONS = 100_000 if LONG else 10_000 if SANITIZED else 20_000
WAIT_MS = 1000
PATIENT = {"wait": f"{serving.PATIENCE_S * 1000}ms"}  # where the store is slow, not gone
HUNG_S = 8  # an answer later than that hangs; wait is far below
SECTIONS = """
[generator wide]
scheme = 0x0:1 time:41/ms node:4 sequence:18
[generator ids]
scheme = snowflake
[segment counted]
"""
chance = random.Random(5)


def serve(name, sections=SECTIONS, **settings):
    return serving.Server(f"{TMPDIR}/{name}", PROGRAM, sections, **{"wait": f"{WAIT_MS}ms", "stop": "2s", "unsafe": "on", **settings})


def started(server):
    """All generators and segments of its file are open."""
    server.start()
    serving.wait_for("readiness", lambda: server.get("/readyz")[0] == 200)
    return server


def ends_well(server, sentence):
    with server.client() as client:
        served = client.ask("INCR", "counted") < client.ask("INCR", "counted") and client.ask("FIRN.NEW", "ids")
    status = server.end()
    with open(server.log, errors="replace") as log:
        tap.check(f"{sentence}: it still serves, and ends with 0", served and status == 0, f"status {status}\n{log.read()[-3000:]}")


# ---- issued IDs ----------------------------------------------------------------------------------------------------------


def kept(path):
    """The numbers of a file that firn_load --keep wrote."""
    numbers = array.array("Q")
    with open(path, "rb") as file:
        numbers.frombytes(file.read())
    return numbers


def twice(numbers):
    """How many numbers are there that were there before."""
    ordered = sorted(numbers)
    return sum(map(operator.eq, ordered, islice(ordered, 1, None)))


def unique(sentence, numbers):
    """None comes twice; and this look would have seen it: one of them, put in again anywhere, is found."""
    ordered = sorted(numbers)  # soon sorted again
    found = twice(ordered)
    tap.check(f"{sentence}: none of {len(numbers)} comes twice", found == 0 and len(numbers) > 0, f"{found} come twice")
    if not numbers:
        return
    ordered.insert(chance.randrange(len(ordered)), chance.choice(ordered))
    tap.same(f"{sentence}: one that is injected would have been found", 1, twice(ordered))


class Load:
    """firn_load on one question; what it got is kept in a file, all of one name in the same."""

    def __init__(self, server, name, *words, seconds=60, rate=100_000, pipeline=16, connections=8):
        self.path = f"{TMPDIR}/{name}.kept"
        options = {"port": server.port, "seconds": seconds, "rate": rate, "pipeline": pipeline, "connections": connections}
        line = [f"{BUILD}/bench/firn_load", "--may-end", "--rising", "--keep", self.path]
        line += [f"--{option}={value}" for option, value in options.items()]
        self.process = subprocess.Popen([*line, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait(self):
        _, error = self.process.communicate(timeout=120)
        return error.strip()


# ---- killed --------------------------------------------------------------------------------------------------------------


def count_keys(server, last, backwards):
    """INCR of many segments, some of them new, until the server is gone; what each said last is kept."""
    try:
        with server.client() as client:
            for _ in range(1_000_000):
                key = f"key{chance.randrange(300)}"
                value = client.ask("INCR", key)
                if value <= last.get(key, 0):
                    backwards.append((key, last[key], value))
                last[key] = value
    except (EOFError, OSError):
        pass


def killed_under_load():
    server = serve("killed", auto_create="on", **PATIENT)
    asked = {"integers": ("INCR", "counted"), "snowflakes": ("FIRN.NEW", "ids"), "wide": ("FIRN.NEW", "wide")}
    highest, last, backwards, errors, firsts = 0, {}, [], [], []
    for _ in range(KILLS):
        started(server)
        with server.client() as client:
            fresh = client.ask("GET", "counted")
            first = client.ask("INCR", "counted")
            firsts.append((fresh, first > highest, client.ask("GET", "counted") == str(first)))
        loads = [Load(server, f"killed.{name}", *words) for name, words in asked.items()]
        keys = threading.Thread(target=count_keys, args=(server, last, backwards))
        keys.start()
        time.sleep(0.4 + chance.random() * 0.5)
        server.kill()
        keys.join()
        errors += [error for error in (load.wait() for load in loads) if error]
        highest = max([first, *kept(loads[0].path)])
    tap.same(f"a server that is killed {KILLS} times begins each time above all that was issued", [(None, True, True)] * KILLS, firsts)
    tap.same("integers of 300 segments never decrease", [], backwards[:3])
    tap.same("its clients see only good replies and its end, and IDs rise for each", [], errors)
    for name in asked:
        unique(f"killed {KILLS} times, {name}", kept(f"{TMPDIR}/killed.{name}.kept"))
    ends_well(started(server), "after it was killed")


# ---- the store -----------------------------------------------------------------------------------------------------------


def engine(*words):
    made = subprocess.run(["test/engine", *words], env={**os.environ, "ENGINE_OWNER": str(os.getpid())}, capture_output=True, text=True, timeout=120)
    return made.stdout.strip() if made.returncode == 0 else None


class Watch:
    """Asks a server the same two things again and again, and notes what became of it."""

    def __init__(self, server):
        self.server = server
        self.clients = {"ids": server.client(), "integers": server.client()}
        self.words = {"ids": command("FIRN.NEW", "ids"), "integers": command("INCR", "counted") * 50}
        self.count = {"ids": 1, "integers": 50}
        self.got = {"ids": array.array("Q"), "integers": array.array("Q")}
        self.slowest_s, self.refusals = 0, []

    def ask(self, what):
        """True: all were answered with a number; False: with errors."""
        begun = time.monotonic()
        client = self.clients[what]
        client.send(self.words[what])
        replies = [client.read() for _ in range(self.count[what])]
        self.slowest_s = max(self.slowest_s, (time.monotonic() - begun) / self.count[what])
        refused = [str(reply) for reply in replies if isinstance(reply, Refused)]
        self.refusals += refused[:1]
        self.got[what].extend(int(reply) for reply in replies if not isinstance(reply, Refused))
        return not refused

    def until(self, seconds, what, test):
        """When, after the call, test(ask(what)) first held; None: not within the time."""
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            if test(self.ask(what)):
                return time.monotonic() - begun
            time.sleep(0.02)
        return None

    def close(self):
        for client in self.clients.values():
            client.close()

    def judge(self, sentence, rising=("ids", "integers")):
        tap.check(f"{sentence}: no answer hangs", self.slowest_s < HUNG_S, f"{self.slowest_s:.1f} s")
        for what in rising:
            tap.check(f"{sentence}, {what}: they rise all the while", all(map(operator.lt, self.got[what], self.got[what][1:])))
        for what, numbers in self.got.items():
            unique(f"{sentence}, {what}", numbers)


def failures(server):
    """The counters of the store's errors in /metrics."""
    return sum(float(value) for name, value in server.metrics().items() if "store" in name and ("fail" in name or "error" in name))


def store_gone():
    folder = f"{TMPDIR}/redis"
    url = engine("start", "redis", folder)
    if url is None:
        tap.skip("issuing continues while the store is gone", "redis-server is not installed")
        return
    try:
        while_paused(folder, url)
        two_servers("two servers on one Redis", url)
    finally:
        engine("stop", folder)


def answers_in_time(server):
    """Requests that need the store now: over RESP, and over HTTP. The commands after it on the same connection are answered too."""
    dated = ("FIRN.NEW", "ids", "TIME", "2024-02-03T04:05:06Z")
    for words in (("FIRN.BLOCK", "counted"), ("FIRN.NODES",), dated):
        with server.client() as client:
            begun = time.monotonic()
            client.send(command(*words) + command("PING"))
            reply, next_reply = client.read(), client.read()
            late = time.monotonic() - begun >= HUNG_S
            tap.check(f"{words[0]} {words[-1]} ends without the store", isinstance(reply, Refused) and next_reply == "PONG" and not late, reply)
    for path in ("/v1/nodes", "/v1/block/counted", "/v1/new/ids?time=2024-02-03T04:05:06Z"):
        begun = time.monotonic()
        status, text = server.get(path)
        tap.check(f"{path} ends without the store", status == 503 and time.monotonic() - begun < HUNG_S, (status, text))


def while_paused(folder, url):
    server = serve("gone", SECTIONS.replace("scheme = snowflake", "scheme = snowflake\nwindow = 10s"), store=url)
    started(server)
    watch = Watch(server)
    tap.check("with a store both are issued", watch.ask("ids") and watch.ask("integers"))
    errors_before = failures(server)
    engine("pause", folder)
    gone = time.monotonic()
    refused_s = watch.until(3, "ids", operator.not_)
    tap.check("IDs are issued while the store is gone, as the window allows", refused_s is None, f"an error after {refused_s} s: {watch.refusals[-1:]}")
    blocked_s = watch.until(OUTAGE_S, "integers", operator.not_)
    tap.check("integers are issued until their block is used up, then refused", blocked_s is not None)
    tap.check("some came out of the block", len(watch.got["integers"]) > 100, len(watch.got["integers"]))
    status, why = serving.wait_for("/readyz to say so", lambda: (lambda it: it if it[0] != 200 else None)(server.get("/readyz")))
    tap.same("/readyz says that the server is not ready", 503, status)
    tap.check("and why", len(why) > 20, why)
    tap.same("/healthz that it lives", 200, server.get("/healthz")[0])
    refused_s = watch.until(OUTAGE_S, "ids", operator.not_)
    tap.check("when the window is used up, IDs are refused", refused_s is not None)
    time.sleep(max(0, gone + OUTAGE_S - time.monotonic()))
    tap.check("metrics count the store's errors", failures(server) > errors_before, server.metrics())
    tap.check("both are still refused, and not wrong", not watch.ask("ids") and not watch.ask("integers"), watch.refusals[-2:])
    answers_in_time(server)
    engine("continue", folder)
    back_s = watch.until(serving.PATIENCE_S, "ids", bool), watch.until(serving.PATIENCE_S, "integers", bool)
    tap.check("both come back automatically when the store does", None not in back_s, watch.refusals[-2:])
    tap.same("and /readyz", 200, serving.wait_for("readiness", lambda: server.get("/readyz")[0] == 200 and 200))
    watch.judge(f"a store that was gone for {OUTAGE_S} s")
    watch.close()
    ends_well(server, "after its store was gone")


# ---- what is reported of a store -----------------------------------------------------------------------------------------------


def readiness(server, wanted, words=""):
    """Waits until /readyz has that status and says those words; then the metrics are both given."""
    status, why = serving.wait_for(
        f"/readyz to say {wanted} {words}", lambda: (lambda it: it if it[0] == wanted and words in it[1] else None)(server.get("/readyz"))
    )
    agrees = lambda: server.metrics()["firn_ready"] == str(int(wanted == 200)) and server.get("/readyz")[0] == wanted
    return status, why, serving.wait_for("metrics that agree", agrees)


def usable(server):
    return {value for name, value in server.metrics().items() if name.startswith("firn_store_usable")}


def count_told(server, event):
    with open(server.log, errors="replace") as log:
        return sum(f'event="{event}"' in line for line in log)


def what_is_told_of_a_store():
    for kind in ("redis", "postgres", "mysql", "etcd", "zookeeper") if LONG else ("redis",):
        folder = f"{TMPDIR}/reported.{kind}"
        url = engine("start", kind, folder)
        if url is None:
            tap.skip(f"{kind}: what is reported of a store is true", f"{kind} is not installed")
            continue
        try:
            nobody_asks(kind, folder, url)
            an_outage_is_told_once(kind, folder, url)
            goes_back(kind, folder, url)
        finally:
            engine("stop", folder)


def nobody_asks(kind, folder, url):
    """Nothing is configured and nothing was ever requested: the report is true nevertheless."""
    engine("halt", folder)
    server = serve(f"unasked.{kind}", "", store=url, auto_create="on").start()
    tap.same(f"{kind}: a server whose store is away from the start is not ready", 503, readiness(server, 503, "cannot be")[0])
    tap.same("and its metrics say so", {"0"}, usable(server))
    engine("restart", folder)
    tap.same("when the store comes it is ready, though nobody asked", 200, readiness(server, 200)[0])
    tap.same("and the metrics say so", {"1"}, usable(server))
    engine("kill", folder)
    tap.same("when the store dies it is not", 503, readiness(server, 503)[0])
    engine("restart", folder)
    tap.same("and again it is", 200, readiness(server, 200)[0])
    engine("pause", folder)
    tap.same("when the store hangs it is not", 503, readiness(server, 503)[0])
    tap.same("which the metrics say", {"0"}, usable(server))
    engine("continue", folder)
    tap.same("until it continues", 200, readiness(server, 200)[0])
    with server.client() as client:
        tap.check("and serves", client.ask("INCR", "counted") == 1 and client.ask("FIRN.NEW", "snowflake"))
    tap.same("it ends with 0", 0, server.end())


def an_outage_is_told_once(kind, folder, url):
    sections = "[generator ids]\nscheme = snowflake\nns = reported\nwindow = 10s\n[segment reported]\nstep = 10\nadapt = 0\n"
    server = started(serve(f"once.{kind}", sections, store=url))
    with server.client() as client:
        for _ in range(8):
            client.ask("INCR", "reported")
        engine("pause", folder)
        end = time.monotonic() + 20
        while time.monotonic() < end:  # the window ends in this time, and integers are asked for again and again
            client.send(command("INCR", "reported"))
            client.read()
        client.send(command("FIRN.NEW", "ids"))
        tap.check(f"{kind}: after 20 s without a store IDs are refused", "TRYAGAIN" in str(client.read()))
        tap.same("the outage is reported once for each", 2, count_told(server, "renewal failed"))
        tap.same("and nothing is reported to issue again", 0, count_told(server, "renewal works again"))
        tap.same("it is not ready", 503, readiness(server, 503)[0])
        engine("continue", folder)
        tap.same("when the store is back it is ready", 200, readiness(server, 200)[0])
        serving.wait_for("an ID", lambda: client.send(command("FIRN.NEW", "ids")) or not isinstance(client.read(), Refused))
        serving.wait_for("an integer", lambda: client.send(command("INCR", "reported")) or not isinstance(client.read(), Refused))
    serving.wait_for("both to be logged", lambda: count_told(server, "renewal works again") == 2)
    tap.same("and each is reported once to issue again", 2, count_told(server, "renewal failed"))
    tap.same("it ends with 0", 0, server.end())


def goes_back(kind, folder, url):
    """A store that was restored from an older copy: waiting does not help, and no message says that it would."""
    server = started(serve(f"back.{kind}", "[segment back]\nstep = 10\nadapt = 0\n", store=url))

    def ask_until(test, *words):
        def once():
            client.send(command(*words))
            reply = client.read()
            return reply if test(reply) else None

        return serving.wait_for(f"another answer to {words}", once)

    def advance(least):
        words = [os.environ["FIRN"], "segment", "advance", "back", "--min", str(least), "--store", url]
        return subprocess.run(words, capture_output=True, text=True, timeout=60)

    def is_number(reply):
        return isinstance(reply, int)

    with server.client() as client:
        client.ask("INCR", "back")
        engine("save", folder)  # which to some stores is reason enough for doubt
        if not is_number(ask_until(lambda reply: is_number(reply) or str(reply).startswith("BACK"), "INCRBY", "back", 30)):
            advance(100)
        last = ask_until(is_number, "INCRBY", "back", 30)
        engine("restore", folder)
        refused = ask_until(lambda reply: str(reply).startswith("BACK"), "INCR", "back")
        tap.check(f"{kind}: a store that lost reservations is reported with the cure", "firn segment advance" in str(refused), refused)
        tap.same("over HTTP it is a conflict", 409, server.get("/v1/segments/back")[0])
        _, why, _ = readiness(server, 200, "firn segment advance")
        tap.check("/readyz names the cure, although the server stays ready", "lost reservations" in why, why)
        cured = advance(1000)
        tap.check("which helps", cured.returncode == 0, cured.stderr)
        got = ask_until(is_number, "INCR", "back")
        tap.check("and integers continue after it", got >= 1000 > last, (got, last))
    tap.same("it is ready", 200, readiness(server, 200)[0])
    tap.same("it ends with 0", 0, server.end())


def two_servers(sentence, url):
    name = sentence.split()[-1]
    pair = [started(serve(f"{name}{number}", store=url, **PATIENT)) for number in (1, 2)]
    asked = {"integers": ("INCR", "counted"), "snowflakes": ("FIRN.NEW", "ids"), "wide": ("FIRN.NEW", "wide")}
    loads = [Load(server, f"{name}.{what}", *words, seconds=1, rate=50_000) for server in pair for what, words in asked.items()]
    tap.same(f"{sentence}: each goes up", [""] * len(loads), [load.wait() for load in loads])
    for what in asked:
        unique(f"{sentence}, {what}", kept(f"{TMPDIR}/{name}.{what}.kept"))
    for server in pair:
        ends_well(server, sentence)


def two_on_one_file():
    two_servers("two servers on one file", f"sqlite:{TMPDIR}/shared.db?create=yes")


# ---- the disk ------------------------------------------------------------------------------------------------------------


def fill(path, emptied):
    """The data on disk, and the data that the store returns when it opens its file again."""
    with open(path, "wb", buffering=0) as file:
        while not emptied.wait(0.001):
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass


def a_full_disk():
    """In its own mount that nobody else sees, and that is gone with the server."""
    disk = f"{TMPDIR}/full/disk"
    os.makedirs(disk, mode=0o700)
    mount = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    mounted = ["sh", "-c", 'mount -t tmpfs -o size=256k firn "$0" && exec "$@"', disk]
    if subprocess.run([*mount, *mounted, "true"], capture_output=True, timeout=60).returncode != 0:
        tap.skip("a full disk is an error and no hang", "nothing may be mounted here")
        return
    steps = SECTIONS.replace("[segment counted]", "[segment counted]\nstep = 100\nadapt = 0")
    server = serve("full", steps, before=[*mount, *mounted], store=f"sqlite:{disk}/firn.db?create=yes")
    started(server)
    watch = Watch(server)
    tap.check("with room on the disk both are issued", watch.ask("ids") and watch.ask("integers"))
    filler = f"/proc/{server.pid}/root{disk}/filler"
    emptied = threading.Event()
    eater = threading.Thread(target=fill, args=(filler, emptied))
    eater.start()
    try:
        tap.check("when it is full, integers are refused in the end", watch.until(30, "integers", operator.not_) is not None)
        tap.check("IDs too", watch.until(30, "ids", operator.not_) is not None)
        tap.check("/readyz says so", serving.wait_for("it", lambda: server.get("/readyz")[0] == 503))
    finally:
        emptied.set()
        eater.join()
    os.unlink(filler)
    back_s = watch.until(serving.PATIENCE_S, "ids", bool), watch.until(serving.PATIENCE_S, "integers", bool)
    tap.check("with room again both come back automatically", None not in back_s, watch.refusals[-2:])
    watch.judge("a disk that was full")
    watch.close()
    ends_well(server, "after its disk was full")


# ---- the clock -----------------------------------------------------------------------------------------------------------


def a_clock_that_steps():
    if SANITIZED:
        return  # the sanitizer's own library must come first
    library = os.environ.get("CLOCK_LIBRARY", "")
    if not os.path.exists(library):
        tap.skip("a clock that steps repeats nothing", "no compiler")
        return
    offset = f"{TMPDIR}/clock_offset"

    def step_to(seconds):
        with open(f"{offset}.new", "w") as file:
            file.write(f"{seconds}\n")
        os.rename(f"{offset}.new", offset)

    step_to(0)
    environment = {"LD_PRELOAD": library, "CLOCK_OFFSET": offset}
    server = started(serve("clock", SECTIONS + "[generator times]\nscheme = uuid7\n", environment=environment))

    def stays():
        """After some IDs, because a process does not look at the offset in each reading."""
        with server.client() as client:
            for _ in range(100):
                client.ask("FIRN.NEW", "times")
        return next(one["stays"] for one in json.loads(server.get("/v1/status")[1])["generators"] if one["name"] == "times")

    told = [stays()]
    step_to(-60)
    serving.wait_for("a time that stays", stays)
    step_to(0)
    serving.wait_for("a clock that has caught up", lambda: not stays())
    tap.same("the status says that the time of IDs does not stay", [False], told)
    watch = Watch(server)
    answered = []
    for seconds in (0, -1, -5, 20, 0, -3600, 30, 0):
        step_to(seconds)
        answered.append(watch.until(0.6, "ids", operator.not_) is None)
        watch.ask("integers")
    step_to(0)
    tap.check("issuing continues with a clock that steps", answered[0] and watch.until(serving.PATIENCE_S, "ids", bool) is not None, answered)
    tap.check("integers do not mind", len(watch.got["integers"]) == 8 * 50, watch.refusals[-2:])
    backwards = sum(float(value) for name, value in server.metrics().items() if "back" in name)
    tap.check("metrics count the steps back", backwards > 0)
    watch.judge("a clock that steps", rising=["integers"])  # a node that is left takes the order with it
    watch.close()
    ends_well(server, "after its clock has stepped")


# ---- memory --------------------------------------------------------------------------------------------------------------


def connections_come_and_go():
    """In five ways: nothing is sent, one command, half a command; and closed in order or not."""
    server = started(serve("gone_again", loops=1))
    reset = struct.pack("ii", 1, 0)
    said = (b"", command("PING"), command("FIRN.NEW", "wide"), b"*2\r\n$4\r\nIN", b"GET /v1/new/wide HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def come_and_go(number):
        port = server.http if number % 5 == 4 else server.port
        client = socket.socket()
        client.settimeout(serving.PATIENCE_S)
        client.bind((f"127.0.0.{2 + number % 100}", 0))  # ports of one address would not do
        client.connect(("127.0.0.1", port))
        if said[number % 5]:
            client.sendall(said[number % 5])
        if number % 3 == 0 and number % 5 in (1, 2, 4):
            client.recv(1000)
        if number % 2 == 0:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        client.close()

    files = len(os.listdir(f"/proc/{server.pid}/fd"))
    used = []
    for _ in range(5):
        for number in range(CONNECTIONS // 5):
            come_and_go(number)
        serving.wait_for("the last ones to be closed", lambda: len(os.listdir(f"/proc/{server.pid}/fd")) <= files)
        used.append(serving.rss_kib(server.pid))
    least = min(after - before for before, after in zip(used, used[1:]))
    if not SANITIZED:  # a leak grows each time: 64 bytes of each connection are the limit
        tap.check(f"{CONNECTIONS} connections that came and went leak no memory", least < CONNECTIONS // 5 * 64 // 1024, f"{used} KiB")
    ends_well(server, "after connections that came and went")


# The last one waits for most of its time, so test/serve_faults.sh runs it in parallel with the others.
tap.run([killed_under_load, two_on_one_file, a_full_disk, a_clock_that_steps, connections_come_and_go, store_gone, what_is_told_of_a_store])
