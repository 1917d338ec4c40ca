# SPDX-License-Identifier: MIT
"""Clients that share a server: large replies are sent in slices, and tokens and addresses have quotas."""
import concurrent.futures
import http.client
import json
import os
import signal
import socket
import subprocess
import time

import serving
import tap
from serving import Refused, command

TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
MOST = 65536
WIDE = """
[generator wide]
scheme = 0x0:1 time:41/ms node:4 sequence:18
[segment counted]
"""


def serve(name, **settings):
    settings = {"auto_create": "on", "unsafe": "on", "loops": 1, "http_threads": 1, **settings}
    server = serving.Server(f"{TMPDIR}/{name}", PROGRAM, WIDE, **settings).start()
    serving.wait_for("readiness", lambda: server.get("/readyz")[0] == 200)
    return server


def rises(ids):
    return all(a < b for a, b in zip(ids, ids[1:]))


def refusal(client, *words):
    """The first word of an error, or the reply."""
    client.send(command(*words))
    reply = client.read()
    return str(reply).split()[0] if isinstance(reply, Refused) else reply


# ---- large replies -------------------------------------------------------------------------------------------------------


def large_replies():
    server = serve("large")
    client, other = server.client(), server.client()
    client.send(b"".join(command("FIRN.NEW", "wide", "COUNT", n) + command("PING", n) for n in (MOST, 8193, 8192, 3)))
    replies = [client.read() for _ in range(8)]
    ids = [int(one) for reply in replies[::2] for one in reply]
    tap.same("large replies are complete and in order", [MOST, "65536", 8193, "8193", 8192, "8192", 3, "3"],
             [len(one) if isinstance(one, list) else one for one in replies])
    tap.check("their IDs rise", rises(ids))
    client.send(command("MULTI") + command("FIRN.NEW", "uuid7", "COUNT", MOST) + command("INCR", "counted") + command("EXEC"))
    batch = [client.read() for _ in range(4)][-1]
    tap.same("within a batch too", [MOST, 36, True], [len(batch[0]), len(batch[0][0]), batch[1] > 0])
    client.send(command("FIRN.NEW", "uuid7", "COUNT", MOST, "TIME", "2024-02-29T12:00:00Z") + command("QUIT"))
    dated = client.read()
    tap.same("back-dated ones too", [MOST, MOST, "OK"], [len(dated), len(set(dated)), client.read()])
    tap.same("another client was served", "PONG", other.ask("PING"))
    for path, read in (("?format=text&n=", str.split), ("?n=", lambda text: json.loads(text)["ids"])):
        for name in ("new/wide", "segments/counted", "new/uuid4"):
            status, text = server.get(f"/v1/{name}{path}{MOST}")
            found = read(text)
            tap.same(f"HTTP: {name}{path}{MOST}", [200, MOST, MOST], [status, len(found), len(set(found))])
    page = http.client.HTTPConnection("127.0.0.1", server.http, timeout=serving.PATIENCE_S)
    page.request("HEAD", f"/v1/new/wide?n={MOST}")
    head = page.getresponse()
    tap.check("HEAD has its length", head.read() == b"" and int(head.headers["Content-Length"]) > MOST)
    client.close()
    other.close()
    tap.same("it ends with 0", 0, server.end())


def clients_that_leave():
    """In the middle of a large reply."""
    server = serve("leave", replies_mib=4)
    for number in range(40):
        with socket.create_connection(("127.0.0.1", server.http if number % 2 else server.port)) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            http_ = f"GET /v1/new/uuid4?n={MOST} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
            one.sendall(http_ if number % 2 else command("FIRN.NEW", "wide", "COUNT", MOST) * 3)
            one.recv(1000)
    with server.client() as client:
        reply = serving.wait_for("memory that they held", lambda: try_large(client))
        tap.same("what they held is free again", MOST, len(reply))
    tap.same("over HTTP too", MOST, serving.wait_for("memory", lambda: server.get(f"/v1/new/wide?format=text&n={MOST}")[1].count("\n")))
    tap.same("it ends with 0", 0, server.end())


def try_large(client):
    client.send(command("FIRN.NEW", "wide", "COUNT", MOST))
    reply = client.read()
    return reply if isinstance(reply, list) else None


# ---- blocks -------------------------------------------------------------------------------------------------------------


def the_last_integer():
    """GET after blocks that were asked for at the same time: the greatest one."""
    server = serve("last")
    clients = [server.client() for _ in range(100)]
    for number in range(3):
        key = f"orders{number}"
        for client in clients:
            client.send(command("INCRBY", key, 3000))
        blocks = [client.read() for client in clients]
        tap.same("blocks that many clients request at once differ", 100, len(set(blocks)))
        tap.same("GET then returns the last integer", str(max(blocks)), str(clients[0].ask("GET", key)))
    for client in clients:
        client.close()
    tap.same("it ends with 0", 0, server.end())


# ---- quotas --------------------------------------------------------------------------------------------------------------

SHOP, OTHER, FREE = (f"{name}-token-of-the-tests" for name in ("shop", "other", "free"))


def is_refused(client, *words):
    """For the moment; a second later it may not be."""
    return serving.wait_for("TRYAGAIN", lambda: refusal(client, *words) == "TRYAGAIN")


def write_tokens(folder, lines):
    with open(f"{folder}/tokens", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as tokens:
        tokens.write(lines)


def reload(server):
    before = log_of(server).count("event=reloaded")
    server.signal(signal.SIGHUP)
    serving.wait_for("the reload", lambda: log_of(server).count("event=reloaded") > before)


def log_of(server):
    with open(server.log, errors="replace") as log:
        return log.read()


def post(server, path, token=None):
    """Status, headers and body."""
    page = http.client.HTTPConnection("127.0.0.1", server.http, timeout=serving.PATIENCE_S)
    page.request("POST", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    answer = page.getresponse()
    found = answer.status, answer.headers, answer.read().decode()
    page.close()
    return found


def entered(server, token, **options):
    client = server.client(**options)
    client.ask("AUTH", token)
    return client


def quotas_of_tokens():
    """A second's IDs are there at once; the rest comes with time, which the test does not measure."""
    folder = f"{TMPDIR}/quotas"
    os.makedirs(folder, mode=0o700)
    write_tokens(folder, f"issue {SHOP} shop ids_s=1\nissue {OTHER} other ids_s=50000\nadmin {FREE} free ids_s=0\n")
    server = serve("quotas", tokens=f"{folder}/tokens", token_ids_s=7)
    shop, again, other, free = (entered(server, token) for token in (SHOP, SHOP, OTHER, FREE))
    tap.check("a token has its quota", shop.ask("INCR", "counted") > 0)
    tap.check("beyond it: TRYAGAIN", is_refused(shop, "INCR", "counted"))
    tap.check("on all its connections", is_refused(again, "INCR", "counted"))
    tap.same("requests that issue nothing need no quota", ["PONG", "snowflake"], [shop.ask("PING"), shop.ask("FIRN.SHOW", "1541815603606036480", "SCHEME", "snowflake")[3]])
    over = serving.wait_for("status 429", lambda: (lambda one: one if one[0] == 429 else None)(post(server, "/v1/new/wide", SHOP)))
    tap.same("HTTP: 429 with Retry-After and a code", ["1", "QUOTA"], [over[1]["Retry-After"], json.loads(over[2])["code"]])
    tap.same("a request beyond one second's quota gets ERR", "ERR", refusal(shop, "FIRN.NEW", "wide", "COUNT", 2))
    tap.same("nor over HTTP: 422", 422, post(server, "/v1/new/wide?n=2", SHOP)[0])
    tap.same("blocks and runs count too", ["ERR", "ERR"], [refusal(shop, "INCRBY", "counted", 2), refusal(shop, "FIRN.RUNS", "wide", "COUNT", 2)])
    tap.same("another token has its own quota", 50000, len(other.ask("FIRN.NEW", "wide", "COUNT", 50000)))
    tap.check("which is used up then", is_refused(other, "FIRN.NEW", "wide", "COUNT", 50000))
    tap.check("and comes back", serving.wait_for("quota", lambda: isinstance(refusal(other, "FIRN.NEW", "wide", "COUNT", 10000), list)))
    other.send(command("INCR", "counted") * 120000)
    piped = [other.read() for _ in range(120000)]
    served = [one for one in piped if isinstance(one, int)]
    tap.check("a pipeline is served up to the quota", 0 < len(served) < 120000 and rises(served), len(served))
    tap.same("no quota: ids_s=0", MOST, len(free.ask("FIRN.NEW", "wide", "COUNT", MOST)))
    for words in (("FIRN.NEW", "wide", "COUNT", 40000), ("FIRN.NEW", "wide", "COUNT", 40000)):
        free.ask(*words)
    over = server.metrics(FREE)
    tap.check("refusals are counted", float(over['firn_over_quota_total{listener="resp"}']) > 1 and float(over['firn_over_quota_total{listener="http"}']) > 0, over)
    write_tokens(folder, f"issue {SHOP} shop ids_s=100000\nissue {OTHER}\nadmin {FREE} free ids_s=0\n")
    reload(server)
    tap.same("a reload changes the quota of an open connection", 2, len(shop.ask("FIRN.NEW", "wide", "COUNT", 2)))
    tap.same("token_ids_s is the quota of other tokens", "ERR", refusal(other, "FIRN.NEW", "wide", "COUNT", 8))
    for bad in ("two words", "name ids_s=-1", "name ids_s=1000000001", "name ids_s=9999999999999999999999", "n/me", "name ids_s=1 more", "x" * 33):
        write_tokens(folder, f"issue {SHOP} {bad}\nadmin {FREE}\n")
        errors = log_of(server).count("reload failed")
        server.signal(signal.SIGHUP)
        serving.wait_for("the refusal", lambda: log_of(server).count("reload failed") > errors)
    tap.check("a line that is wrong changes nothing, and is named without its token", "tokens:1: the words after" in log_of(server) and SHOP not in log_of(server), log_of(server)[-500:])
    tap.same("so the quota is the same", 2, len(shop.ask("FIRN.NEW", "wide", "COUNT", 2)))
    for one in (shop, again, other, free):
        one.close()
    tap.same("it ends with 0", 0, server.end())


def at_once(server, token, count, resp=None, http_=None):
    """The same request on that many connections at the same time: how many succeed, and the seconds from first to last."""
    if resp is not None:
        clients, question = [entered(server, token) for _ in range(count)], command(*resp)
    else:
        clients = [serving.Client(server.http) for _ in range(count)]
        question = f"POST {http_} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\n\r\n".encode()
    begun = time.monotonic()
    for client in clients:
        client.send(question)
    replies = [client.file.readline() for client in clients]
    took_s = time.monotonic() - begun
    for client in clients:
        client.close()
    return sum(not one.startswith(b"-") if resp is not None else b" 200 " in one for one in replies), took_s


def quotas_of_waiting_requests():
    """Requests that wait for the store at the same time take no more than the quota together: one second's IDs, and what time
    adds while they run."""
    folder = f"{TMPDIR}/together"
    os.makedirs(folder, mode=0o700)
    each = 1000
    server = None
    for name, question in {
        "INCRBY": {"resp": ("INCRBY", "counted", each)},
        "back-dated IDs": {"resp": ("FIRN.NEW", "wide", "COUNT", each, "TIME", "2024-03-01T00:00:00Z")},
        "a new segment": {"resp": ("INCRBY", "later", each)},
        "back-dated IDs over HTTP": {"http_": f"/v1/new/wide?n={each}&time=2024-03-05"},
        "blocks over HTTP": {"http_": f"/v1/block/counted?n={each}"},
    }.items():
        write_tokens(folder, f"issue {SHOP} shop ids_s={each}\n")
        server = serve("together", tokens=f"{folder}/tokens")  # a new quota each time
        granted, took_s = at_once(server, SHOP, 100, **question)
        tap.check(f"100 requests at once get at most the quota: {name}", 1 <= granted <= 1 + took_s, f"{granted} in {took_s:.3f} s")
        server.end()


def quotas_come_back():
    """Only issued IDs are charged: each refusal leaves the quota for the request after it."""
    folder = f"{TMPDIR}/back"
    os.makedirs(folder, mode=0o700)
    write_tokens(folder, f"issue {SHOP} shop ids_s=10\n")
    server = serving.Server(f"{TMPDIR}/back", PROGRAM, WIDE + "[segment short]\nend = 15\n", unsafe="on", tokens=f"{folder}/tokens", loops=1)
    server.start()
    serving.wait_for("readiness", lambda: server.get("/readyz")[0] == 200)
    shop = entered(server, SHOP)
    tap.same("a block of the whole quota", 10, shop.ask("INCRBY", "short", 10))
    serving.wait_for("the quota", lambda: refusal(shop, "INCRBY", "short", 10) == "END")
    begun = time.monotonic()
    found = [refusal(shop, "INCRBY", "short", 10) for _ in range(20)]
    found += [post(server, "/v1/block/short?n=10", SHOP)[0] for _ in range(20)]
    took_s = time.monotonic() - begun
    refused = sum(one in ("TRYAGAIN", 429) for one in found)
    tap.check("requests that fail at the end of a segment take no quota", refused == 0, f"{found} in {took_s:.2f} s")
    tap.same("so the quota is there for others", 10, len(shop.ask("FIRN.NEW", "wide", "COUNT", 10)))
    shop.close()
    tap.same("it ends with 0", 0, server.end())


def quotas_of_addresses():
    server = serve("addresses", address_ids_s=20)
    one, more, near = server.client(), server.client(), server.client(source="127.0.0.2")
    tap.same("an address has its quota", 20, len(one.ask("FIRN.NEW", "wide", "COUNT", 20)))
    tap.check("on all its connections", is_refused(more, "FIRN.NEW", "wide", "COUNT", 20))
    tap.check("over HTTP too", serving.wait_for("status 429", lambda: post(server, "/v1/new/wide?n=20")[0] == 429))
    tap.same("another address has its own", 20, len(near.ask("FIRN.NEW", "wide", "COUNT", 20)))
    more.close()
    with server.client() as late:
        tap.check("a new connection does not renew it", is_refused(late, "FIRN.NEW", "wide", "COUNT", 20))
    server.configure(WIDE, auto_create="on", unsafe="on", loops=1, http_threads=1)
    reload(server)
    tap.same("a reload removes it", MOST, len(one.ask("FIRN.NEW", "wide", "COUNT", MOST)))
    one.close()
    near.close()
    tap.same("it ends with 0", 0, server.end())


def waiting_requests():
    """A generator of 25600 IDs per second is overloaded: requests of one token wait for it at the same time, each with all of
    the token's second."""
    folder = f"{TMPDIR}/waiting"
    os.makedirs(folder, mode=0o700)
    write_tokens(folder, f"issue {SHOP} shop ids_s=5000\nadmin {FREE} free ids_s=0\n")
    server = serve("waiting", tokens=f"{folder}/tokens")
    free = entered(server, FREE)
    for _ in range(2):
        refusal(free, "FIRN.NEW", "sonyflake", "COUNT", 25000)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: post(server, "/v1/new/sonyflake?n=5000", SHOP)[0], range(8)))
    tap.check("a quota applies to requests that waited at the same time", 200 in replies and 429 in replies and set(replies) == {200, 429}, replies)
    free.close()
    tap.same("it ends with 0", 0, server.end())


# ---- access log ----------------------------------------------------------------------------------------------------------


def lines_of(path):
    with open(path) as log:
        return [json.loads(line) for line in log]


def sums(lines, *names):
    found = {}
    for line in lines:
        key = tuple(line.get(name) for name in names)
        found[key] = [a + line[b] for a, b in zip(found.get(key, [0, 0, 0]), ("requests", "refused", "ids"))]
    return found


def access_log():
    folder = f"{TMPDIR}/access"
    os.makedirs(folder, mode=0o700)
    path, old = f"{folder}/access.log", f"{folder}/access.log.1"
    write_tokens(folder, f"issue {SHOP} shop ids_s=60000\nadmin {FREE}\n")
    settings = {"tokens": f"{folder}/tokens", "access_log": path}
    server = serve("access", **settings)
    shop = entered(server, SHOP, source="127.0.0.3")
    shop.send(command("INCR", "counted") * 1000)
    tap.same("requests are served", 1000, sum(isinstance(shop.read(), int) for _ in range(1000)))
    shop.ask("FIRN.NEW", "wide", "COUNT", 50000)
    refusal(shop, "FIRN.NEW", "wide", "COUNT", MOST)
    shop.ask("FIRN.NEW", "uuid5", "NAMESPACE", "dns", "NAME", "example.org")
    shop.ask("FIRN.SHOW", "1")
    strange = 'x"}\\\u00e9'
    shop.ask("INCR", strange.encode())
    post(server, "/v1/new/wide?n=9", FREE)
    post(server, "/v1/new/nothing", FREE)
    expected = {
        ("resp", "shop", "127.0.0.3", None, "counted"): [1000, 0, 1000],
        ("resp", "shop", "127.0.0.3", "wide", None): [2, 1, 50000],
        ("resp", "shop", "127.0.0.3", "uuid5", None): [1, 0, 1],
        ("resp", "shop", "127.0.0.3", None, strange): [1, 0, 1],
    }
    names = ("listener", "token", "address", "generator", "segment")

    def found():
        all_ = sums(lines_of(path), *names)
        http_ = [value for key, value in all_.items() if key[0] == "http" and key[1].startswith("token-") and key[3] == "wide"]
        return all_ if http_ == [[1, 0, 9]] and {key: all_.get(key) for key in expected} == expected else None

    tap.same("the log has how many IDs each token took from each generator", len(expected) + 1, len(serving.wait_for("the lines", found)))
    tap.check("pipelined requests are few lines", len(lines_of(path)) < 100, len(lines_of(path)))
    with open(path) as log:
        text = log.read()
    tap.check("no token is in it", SHOP not in text and FREE not in text)
    tap.same("others cannot read it", 0, os.stat(path).st_mode & 0o077)
    os.rename(path, old)
    reload(server)
    shop.ask("INCR", "counted")
    tap.same("a reload opens a new file", [1, 0, 1], serving.wait_for("the new file", lambda: sums(lines_of(path), "segment").get(("counted",))))
    before = sums(lines_of(old) + lines_of(path), *names)
    tap.same("and no line is lost", [1001, 0, 1001], before[("resp", "shop", "127.0.0.3", None, "counted")])
    count = len(lines_of(old) + lines_of(path))
    tap.check("lines are counted", serving.wait_for("the counter", lambda: int(server.metrics(FREE)["firn_access_log_lines_total"]) == count))
    tap.same("and none was dropped", 0, int(server.metrics(FREE)["firn_access_log_dropped_total"]))
    server.configure(WIDE, auto_create="on", unsafe="on", loops=1, http_threads=1, **settings, access_log_lines="request")
    reload(server)
    for _ in range(5):
        shop.ask("INCR", "counted")
    shop.ask("INCR", "counted")
    tap.check("a line for each request, if that is set", serving.wait_for("lines", lambda: [line["requests"] for line in lines_of(path)][-6:] == [1] * 6))
    shop.ask("INCR", "counted")
    shop.close()
    tap.same("it ends with 0", 0, server.end())
    tap.same("the last request is in the log", 8, sums(lines_of(path), "segment")[("counted",)][0])


def access_log_that_is_read_again():
    """A pipe that was full takes half of a line at most: what follows begins on its own line."""
    path, text = f"{TMPDIR}/slow.pipe", b""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    server = serve("slow", access_log=path, access_log_lines="request")

    def read():
        nonlocal text
        try:
            while more := os.read(reader, 1 << 16):
                text += more
        except BlockingIOError:
            pass

    def dropped():
        for _ in range(2000):
            client.ask("INCR", "counted")
        return float(server.metrics()["firn_access_log_dropped_total"]) > 0

    def whole():
        """The requests for uuid7: before, there were no such requests."""
        client.ask("FIRN.NEW", "uuid7")
        read()
        return b'"uuid7"' in text and text.endswith(b"\n")

    with server.client() as client:
        serving.wait_for("dropped requests", dropped)
        serving.wait_for("lines after the gap", whole)
    tap.same("slow: it ends with 0", 0, server.end())
    read()
    os.close(reader)
    broken = [line for line in text.splitlines() if not (line.startswith(b"{") and line.endswith(b"}"))]
    whole_lines = [json.loads(line) for line in text.splitlines() if line not in broken]
    tap.check("slow: at most one line is cut, and nothing is appended to it", len(broken) <= 1 and not any(line.endswith(b"}") for line in broken), broken)
    tap.check("slow: the lines of both sides are there", {"counted", "uuid7"} <= {line.get("segment", line.get("generator")) for line in whole_lines})


def access_log_that_cannot_be_opened_again():
    path = f"{TMPDIR}/blocked.log"
    server = serve("blocked", access_log=path)
    with server.client() as client:
        os.rename(path, path + ".1")
        os.mkdir(path)
        server.signal(signal.SIGHUP)
        serving.wait_for("the event", lambda: 'event="access log not opened again"' in log_of(server))
        client.ask("INCR", "counted")
        tap.same("a file that cannot be opened again is reported, and the old one written", [1, 0, 1],
                 serving.wait_for("the line", lambda: sums(lines_of(path + ".1"), "segment").get(("counted",))))
        os.rmdir(path)
        reload(server)
        client.ask("INCR", "counted")
        tap.same("until it can", [1, 0, 1], serving.wait_for("the new file", lambda: os.path.exists(path) and sums(lines_of(path), "segment").get(("counted",))))
    tap.same("blocked: it ends with 0", 0, server.end())


def access_logs_that_fail():
    """A file that takes nothing delays nobody."""
    os.mkfifo(f"{TMPDIR}/unread")
    reader = os.open(f"{TMPDIR}/unread", os.O_RDONLY | os.O_NONBLOCK)
    for name, path in (("full", "/dev/full"), ("deaf", f"{TMPDIR}/unread")):
        server = serve(name, access_log=path, access_log_lines="request")
        with server.client() as client:

            def dropped():
                client.send(command("INCR", "counted") * 2000 + command("FIRN.NEW", "wide") * 2000)
                replies = [client.read() for _ in range(4000)]
                for _ in range(300):
                    client.ask("INCR", "counted")
                return not any(isinstance(one, Refused) for one in replies) and float(server.metrics()["firn_access_log_dropped_total"]) > 0

            tap.check(f"{name}: clients are served, and the dropped requests are counted", serving.wait_for("dropped requests", dropped))
        tap.check(f"{name}: the server's log says why", serving.wait_for("the event", lambda: 'event="access log not written"' in log_of(server)))
        tap.same(f"{name}: it ends with 0", 0, server.end())
    os.close(reader)
    access_log_that_is_read_again()
    access_log_that_cannot_be_opened_again()
    server = serving.Server(f"{TMPDIR}/nowhere", PROGRAM, WIDE, access_log=f"{TMPDIR}/nothing/access.log")
    try:
        server.start()
        tap.check("a file that cannot be opened is refused", False)
    except ChildProcessError as error:
        tap.check("a file that cannot be opened is refused at the start", "cannot write the access log" in str(error), error)


# ---- readiness -----------------------------------------------------------------------------------------------------------


def check_ready(folder):
    """Status and words of firn serve --check-ready."""
    done = subprocess.run([PROGRAM, "--check-ready", "-c", f"{folder}/firn.ini"], capture_output=True, text=True, timeout=serving.PATIENCE_S)
    return done.returncode, done.stdout + done.stderr


def readiness():
    server = serve("ready")
    tap.same("--check-ready: 0, without output", (0, ""), check_ready(server.folder))
    server.end()
    status, words = check_ready(server.folder)
    tap.same("a server that is gone: 1", (1, True), (status, f"127.0.0.1:{server.http} is not ready: Connection refused" in words))
    deaf = socket.create_server(("127.0.0.1", server.http))
    begun = time.monotonic()
    tap.check("one that does not answer: 1 after seconds", check_ready(server.folder)[0] == 1 and time.monotonic() - begun < serving.PATIENCE_S / 2)
    deaf.close()
    broken = serving.Server(f"{TMPDIR}/broken", PROGRAM, WIDE, store="redis://127.0.0.1:1", unsafe="on").start()
    status, words = check_ready(broken.folder)
    tap.same("one that is not ready: 1 and the reason", (1, True), (status, "is not ready: generator wide" in words))
    broken.end()
    path = f"{TMPDIR}/http"
    for name, addresses in (("unix socket", {"http": f"127.0.0.1:1 unix:{path}"}), ("RESP", {"http": "none"}), ("any address", {"http": "0.0.0.0:{}", "tokens": f"{TMPDIR}/one/tokens"})):
        os.makedirs(f"{TMPDIR}/one", mode=0o700, exist_ok=True)
        write_tokens(f"{TMPDIR}/one", f"admin {FREE}\n")
        one = serving.Server(f"{TMPDIR}/one", PROGRAM, "", auto_create="on", unsafe="on")
        if name == "unix socket":
            addresses = {"http": f"127.0.0.1:{one.http} unix:{path}"}
        one.configure("", unsafe="on", **{key: value.format(one.http) for key, value in addresses.items()})
        one.start()
        serving.wait_for("readiness", lambda: check_ready(one.folder) == (0, ""))
        tap.check(f"by {name}", True)
        tap.same(f"{name}: it ends with 0", 0, one.end())
        tap.same(f"{name}: gone", 1, check_ready(one.folder)[0])
    one.configure("", http="none", resp="none")
    tap.same("no address: 2", 2, check_ready(one.folder)[0])
    one.configure("", http="127.0.0.1:1", log_level="loud")
    tap.same("a wrong configuration: 2", 2, check_ready(one.folder)[0])


def readiness_of_replies():
    """Replies of another program, at each kind of address."""
    one = serving.Server(f"{TMPDIR}/replies", PROGRAM, "")
    replies = (
        ("http", b"HTTP/1.1 200 OK\r\n\r\n", 0, ""),
        ("http", b"HTTP/1.1 503 Service Unavailable\r\n\r\n{\"detail\":\"no \\\"store\"}", 1, "is not ready: no "),
        ("http", b"HTTP/1.1 2000 OK\r\n\r\n", 1, "is not ready: HTTP/1.1 2000 OK"),
        ("http", b"220 mail.example.org\r\nready\r\n", 1, "is not ready: 220 mail.example.org"),
        ("http", b"\xff" * 10000, 1, "is not ready: "),
        ("http", b"", 1, "is not ready: no reply"),
        ("resp", b"+PONG\r\n", 0, ""),
        ("resp", b"-NOAUTH Authentication required.\r\n", 0, ""),
        ("resp", b"-LOADING Redis is loading\r\n", 1, "is not ready: -LOADING Redis is loading"),
        ("resp", b"", 1, "is not ready: no reply"),
    )
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(serving.PATIENCE_S)
        address = "127.0.0.1:%d" % other.getsockname()[1]
        for listener, reply, status, words in replies:
            one.configure("", unsafe="on", **{"http": "none", "resp": "none", listener: address})
            asking = subprocess.Popen([PROGRAM, "--check-ready", "-c", f"{one.folder}/firn.ini"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            peer = other.accept()[0]
            asked = peer.recv(4096)
            peer.sendall(reply)
            peer.close()
            out = asking.communicate(timeout=serving.PATIENCE_S)[0].decode(errors="replace")
            tap.check(f"{listener} replies {reply[:40]}", asking.returncode == status and words in out and (status == 1 or out == "") and
                      asked.startswith(b"GET /readyz " if listener == "http" else b"*1\r\n$4\r\nPING"), (asking.returncode, out, asked))
    for address, words in (("127.0.0.1:0", "Destination address required"), (f"unix:{TMPDIR}/nobody", "No such file or directory")):
        one.configure("", unsafe="on", http=address, resp="none")
        status, out = check_ready(one.folder)
        tap.check(f"{address}: 1 and the reason", status == 1 and words in out, (status, out))
    try:
        six = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError as error:
        tap.skip("addresses of IPv6", error)
        return
    six.settimeout(serving.PATIENCE_S)
    port = six.getsockname()[1]
    write_tokens(one.folder, f"admin {FREE}\n")
    for address in (f"[::1]:{port}", f"[::]:{port}"):
        one.configure("", unsafe="on", http="none", resp=address, tokens=f"{one.folder}/tokens")
        asking = subprocess.Popen([PROGRAM, "--check-ready", "-c", f"{one.folder}/firn.ini"])
        peer = six.accept()[0]
        peer.recv(4096)
        peer.sendall(b"+PONG\r\n")
        peer.close()
        tap.same(f"{address} is asked at the loopback", 0, asking.wait(serving.PATIENCE_S))
    six.close()


def readiness_with_tls():
    folder = f"{TMPDIR}/tls"
    os.makedirs(folder, mode=0o700)
    files = {"tls_cert": f"{folder}/cert.pem", "tls_key": f"{folder}/key.pem"}
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", files["tls_key"], "-out", files["tls_cert"], "-subj", "/CN=localhost", "-days", "2"],
        capture_output=True,
    )
    if made.returncode != 0:
        tap.skip("readiness over TLS", "openssl is missing")
        return
    server = serving.Server(folder, PROGRAM, "", unsafe="on", **files).start(wait=False)
    serving.wait_for("readiness", lambda: check_ready(folder) == (0, ""))
    tap.check("--check-ready over TLS", True)
    server.configure("", unsafe="on", http="none", **files)
    tap.same("RESP over TLS", (0, ""), check_ready(folder))
    server.configure("", unsafe="on", tls_client_ca=files["tls_cert"], **files)
    status, words = check_ready(folder)
    tap.check("client certificates: 2, and what to do", status == 2 and "add a unix socket" in words, words)
    tap.same("it ends with 0", 0, server.end())


tap.run([readiness, readiness_of_replies, readiness_with_tls, access_log, access_logs_that_fail, large_replies, clients_that_leave, the_last_integer, quotas_of_tokens, quotas_of_waiting_requests, quotas_come_back, quotas_of_addresses, waiting_requests])
