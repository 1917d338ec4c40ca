# SPDX-License-Identifier: MIT
"""The server at its bounds: many clients, long pipelines, clients that say half a thing or do not read, no descriptors
left, words that are too long. Clients that behave are served all the while, and the server ends well afterwards."""
import http.client
import os
import random
import re
import resource
import select
import signal
import ssl
import socket
import threading
import time

import serving
import tap
from serving import Refused, command

TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
SANITIZED = os.path.dirname(os.environ["FIRN"]) != os.environ["BUILD"] + "/bin"
SLOW_S = 2
MIB = 1024
# The server's memory may grow by this much in a test, because of its allocator: far less than a declared length.
GROWTH_KIB = 64 * MIB
WIDE = """
[generator wide]
scheme = 0x0:1 time:41/ms node:4 sequence:18
[segment counted]
"""
MILLION = 1_000_000 if not SANITIZED else 200_000


def serve(name, files=None, **settings):
    settings = {"auto_create": "on", "slow": f"{SLOW_S}s", "stop": "2s", "unsafe": "on", **settings}
    server = serving.Server(f"{TMPDIR}/{name}", PROGRAM, WIDE, files=files, **settings).start()
    serving.wait_for("readiness", lambda: server.get("/readyz")[0] == 200)
    return server


def ends_well(server, sentence):
    """A client that behaves is served, and SIGTERM ends it with 0, which it does not after a leak that a sanitizer saw."""
    with server.client() as client:
        before = client.ask("INCR", "counted")
        served = client.ask("PING") == "PONG" and client.ask("INCR", "counted") > before and client.ask("FIRN.NEW", "wide")
    status = server.end()
    with open(server.log, errors="replace") as log:
        tap.check(f"{sentence}: it still serves, and ends with 0", served and status == 0, f"status {status}\n{log.read()[-3000:]}")


# ---- many ----------------------------------------------------------------------------------------------------------------


def ten_thousand_connections():
    count = 10_000
    if serving.raise_files() < count + 100:
        tap.skip("ten thousand clients are served", "too few open files are allowed (ulimit -Hn)")
        return
    server = serve("many", max_connections=2 * count)
    clients = []
    for _ in range(count):
        clients.append(server.client())
    found = set()
    for client in clients:
        client.send(command("INCR", "counted"))
    for client in clients:
        reply = client.read()
        found.update([reply] if isinstance(reply, int) else [])
    tap.same("ten thousand clients are served", count, len(found))
    rss = serving.rss_kib(server.pid)
    if not SANITIZED:
        tap.check("in less than 64 MiB", rss < 64 * MIB, f"{rss} KiB")
    for client in clients:
        client.close()
    ends_well(server, "when they have gone")


def a_million_commands_at_once():
    server = serve("million", slow="600s")  # a loaded machine may let no client read for seconds
    with server.client() as client, server.client() as other:
        first = client.ask("INCR", "counted")
        before = serving.rss_kib(server.pid)
        data = command("INCR", "counted") * 1000
        sender = threading.Thread(target=lambda: [client.send(data) for _ in range(MILLION // 1000)])
        sender.start()
        most = others = 0
        rising = True
        for i in range(1, MILLION + 1):
            line = client.file.readline()
            rising = rising and line == b":%d\r\n" % (first + i)
            if i % (MILLION // 20) == 0:
                most = max(most, serving.rss_kib(server.pid))
                others += other.ask("PING") == "PONG"
        sender.join()
        tap.check("a pipeline of a million commands is answered one by one and in order", rising)
        tap.same("others are served at the same time", 20, others)
        tap.check("in little memory", most - before < GROWTH_KIB, f"{before} KiB before, {most} KiB at most")
    ends_well(server, "after a million commands")


# ---- slow ----------------------------------------------------------------------------------------------------------------


def clients_that_do_not_read():
    server = serve("unread")
    before = serving.rss_kib(server.pid)
    idle = server.client()
    deaf = [server.client() for _ in range(10)]
    question = command("FIRN.NEW", "wide", "COUNT", "1000") * 1000  # 25 MB of replies
    for client in deaf:
        client.socket.setblocking(False)
        try:
            client.socket.send(question)
        except BlockingIOError:
            pass
    with server.client() as other:
        end = time.monotonic() + SLOW_S / 2
        served = 0
        while time.monotonic() < end:
            served += other.ask("INCR", "counted") > 0
        most = serving.rss_kib(server.pid)
        tap.check("clients that do not read their replies cost little memory", most - before < GROWTH_KIB, f"{before} KiB, then {most} KiB")
        tap.check("others are served at the same time", served > 10, f"{served} times")
    tap.check("they are closed after slow, and counted", serving.wait_for("their end", lambda: count_of(server, "slow") == len(deaf)))
    tap.check("which they see once they read", all(client.is_closed() for client in deaf))
    tap.same("a client that only says nothing stays", "PONG", idle.ask("PING"))
    idle.close()
    ends_well(server, "after clients that do not read")


def count_of(server, word):
    """The counters whose name or label holds the word, together."""
    found = [float(value) for name, value in server.metrics().items() if word in name]
    return int(sum(found)) if found else None


def a_reader_with_pauses():
    """One that reads from time to time, which differs from never."""
    slow_s = 4  # far longer than a busy machine holds this client up, yet shorter than all its pauses together
    server = serve("pauses", slow=f"{slow_s}s")
    with server.client() as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        batches = 60  # of 100 KB
        pause_s = 1.2 * slow_s / batches
        sender = threading.Thread(target=lambda: client.send(command("FIRN.NEW", "wide", "COUNT", "4000") * batches))
        sender.start()
        got = 0
        for _ in range(batches):
            time.sleep(pause_s)
            got += len(client.read())
        sender.join()
        tap.same("a client that reads with pauses gets all", batches * 4000, got)
    ends_well(server, "after a reader with pauses")


def drips_in_vain(client, byte, end):
    """Says byte after byte until the server closes; False: it never does."""
    client.socket.setblocking(False)
    while time.monotonic() < end:
        time.sleep(0.2)
        try:
            client.socket.send(byte)
            if client.socket.recv(1000) == b"":
                return True
        except BlockingIOError:
            pass
        except ConnectionError:
            return True
    return False


def idle_clients():
    server = serve("idle", idle="1s", wait="10ms")
    with server.client() as idle, server.client() as busy:
        idle.ask("PING")
        ended = lambda: busy.ask("PING") == "PONG" and select.select([idle.socket], [], [], 0)[0] and idle.is_closed()
        tap.check("a client that asks nothing is closed after idle", serving.wait_for("its end", ended))
        tap.same("one that asks is not", "PONG", busy.ask("PING"))
    ends_well(server, "after an idle client")


def half_requests():
    server = serve("half")
    halves = [b"*", b"*2\r\n$4\r\nINC", b"*2\r\n$4\r\nINCR\r\n$7\r\ncoun", b"PIN", command("PING") + b"*1\r\n"]
    clients = []
    for half in halves:
        clients.append((half, server.client()))
        clients[-1][1].send(half)
    pages = [b"GET", b"GET / HTTP/1.1\r\n", b"GET /v1/new/wide HTTP/1.1\r\nHost: localhost\r\nX: ", b"POST /v1/new/wide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nab"]
    for half in pages:
        clients.append((half, serving.Client(server.http)))
        clients[-1][1].send(half)
    begun = time.monotonic()
    dripping = server.client()
    dripping.send(b"*2\r\n$4\r\nINCR\r\n$1000\r\n")
    tap.check("a client that says its request byte by byte is closed", drips_in_vain(dripping, b"k", begun + serving.PATIENCE_S))
    tap.check("not at once", time.monotonic() - begun > SLOW_S / 2)
    tap.same("those that said half a request are closed", [], [half for half, client in clients if not client.is_closed()])
    ends_well(server, "after half requests")


# ---- full ----------------------------------------------------------------------------------------------------------------


def no_descriptors_left():
    server = serve("files", files=80, loops=2, http_threads=2)
    inside = server.client()
    inside.ask("INCR", "counted")
    crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(150)]
    time.sleep(0.3)
    tap.check("a connected client is served when no descriptor is left", inside.ask("INCR", "counted") > 0)
    before = serving.cpu_ns(server.pid)
    time.sleep(1)
    used = serving.cpu_ns(server.pid) - before
    tap.check("it does not spin during this time", used < 500e6, f"{used / 1e6:.0f} ms of a processor in a second")
    for one in crowd:
        one.close()
    with serving.wait_for("a new client", lambda: enters(server)) as client:
        tap.same("new clients come in when there are descriptors again", "PONG", client.ask("PING"))
    inside.close()
    ends_well(server, "after a shortage of descriptors")


def memory_after_a_flood():
    """Clients ask for large replies and do not read them; when they have gone, so has the memory."""
    if SANITIZED:
        return  # a sanitizer keeps freed memory
    server = serve("flood", slow="60s")
    with server.client() as client:
        client.ask("FIRN.NEW", "wide")
    before = serving.rss_kib(server.pid)
    for _ in range(3):  # the first makes the allocator keep blocks of this size
        crowd = [server.client() for _ in range(600)]
        for one in crowd:
            one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.send(command("FIRN.NEW", "wide", "COUNT", 65536) * 4)
        serving.wait_for("the flood", lambda: serving.rss_kib(server.pid) > before + 48 * MIB)
        for one in crowd:
            one.close()
        serving.wait_for("its end", lambda: server.metrics()['firn_connections_open{listener="resp"}'] == "0")
    serving.wait_for("the memory to be given back", lambda: serving.rss_kib(server.pid) < before + 12 * MIB)
    tap.check("memory of a flood is given back", True)
    ends_well(server, "after a flood")


def few_descriptors():
    """Crowds on each listener with a limit of 300 open files: nobody is locked out, and the store works."""
    server = guarded("few", files=300, slow="3600s", loops=2, http_threads=2)
    line = serving.wait_for("the log", lambda: re.search("reduces connections.*", log_of(server)))[0]
    most, both, files, reserved = (int(found) for found in re.findall("(?:listener|listeners|files|reserved)=([0-9]+)", line))
    tap.check("the log says how many connections fit", files == 300 and both + reserved == 300 and both * 3 // 4 - 3 <= most < both, line)
    early = enters_with(server, TOKEN)
    crowd = [serving.Client(port, source=f"127.0.0.{host}") for host in range(2, 8) for port in (server.port, server.http) for _ in range(100)]
    for _ in range(10):
        friend = enters_with(server, TOKEN)
        tap.check("a client with a token comes in over RESP", friend is not None)
        if friend is not None:
            tap.check("and gets integers from the store", friend.ask("INCRBY", "counted", 3000) > 0)
            friend.close()
    tap.same("and over HTTP", {200}, {server.get("/v1/block/counted?n=3000", TOKEN)[0] for _ in range(10)})
    tap.check("a client that was there works with the store", early is not None and early.ask("INCRBY", "counted", 3000) > 0)
    tap.same("the server is ready", 200, server.get("/readyz")[0])
    metrics = server.metrics(ADMIN)
    tap.same("descriptors were never used up", {"0"}, {metrics['firn_accept_paused_total{listener="%s"}' % name] for name in ("resp", "http")})
    tap.same("the limit of a listener is a metric", str(most), metrics['firn_connections_limit{listener="http"}'])
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (4, 300))
    with serving.Client(server.http):
        serving.wait_for("a line of the log", lambda: re.search("accepting paused.*listener=http", log_of(server)))
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (300, 300))
    for one in crowd[:600]:  # accepting continues when a connection ends
        one.close()
    paused = server.metrics(ADMIN)['firn_accept_paused_total{listener="http"}']
    tap.check("HTTP counts and logs that descriptors are used up", int(paused) > 0, paused)
    for one in [*crowd, early]:
        one.close()
    tap.same("it ends with 0", 0, server.end())


def threads_and_few_descriptors():
    """Files that the threads themselves have open reduce the number of connections."""
    server = serve("threads", files=300, slow="3600s", loops=24, http_threads=2)
    early = server.client()
    early.ask("INCR", "counted")
    crowd = [serving.Client(port) for port in (server.port, server.http) for _ in range(300)]
    tap.check("a client that was there gets integers from the store", early.ask("INCRBY", "counted", 300000) > 0)
    tap.check("and a new segment", early.ask("INCR", "fresh") > 0)
    for one in crowd:
        one.close()
    metrics = serving.wait_for("room", server.metrics)
    tap.same("descriptors were never used up", {"0"}, {metrics['firn_accept_paused_total{listener="%s"}' % name] for name in ("resp", "http")})
    early.close()
    ends_well(server, "after crowds")
    server = serving.Server(f"{TMPDIR}/none", PROGRAM, WIDE, files=64, loops=24, http_threads=2).start(wait=False)
    tap.check("a server without room for connections does not start", server.process.wait(serving.PATIENCE_S) != 0)
    tap.check("and says why", "limit of open files (64)" in log_of(server), log_of(server))


def lonely_without_descriptors():
    """HTTP has no connection whose end could show that descriptors are free again."""
    server = serving.Server(f"{TMPDIR}/lonely", PROGRAM, WIDE, http_threads=1, unsafe="on").start()
    for event in ("event=serving", 'event="store ready"'):  # it answers RESP earlier
        serving.wait_for(event, lambda: event in log_of(server))
    soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (4, hard))
    with serving.Client(server.http) as waiting:
        serving.wait_for("a line of the log", lambda: re.search("accepting paused.*listener=http", log_of(server)))
        before = serving.cpu_ns(server.pid)
        time.sleep(1)
        used = serving.cpu_ns(server.pid) - before
        tap.check("HTTP does not spin when no descriptor is left", used < 500e6, f"{used / 1e6:.0f} ms of a processor in a second")
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (soft, hard))
        waiting.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        tap.check("and serves when there are descriptors again", b" 200 " in waiting.file.readline())
    ends_well(server, "after it had no descriptor")


def enters(server):
    """A client that is in, or None."""
    client = server.client(timeout_s=5)
    try:
        if client.ask("PING") == "PONG":
            return client
    except (Refused, OSError, EOFError):
        pass
    client.close()
    return None


def more_than_connections_most():
    server = serve("most", max_connections=20)
    inside = [serving.wait_for("room", lambda: enters(server)) for _ in range(20)]
    tap.check("one more than max_connections is turned away", enters(server) is None)
    tap.same("those within are served", ["PONG"] * 20, [client.ask("PING") for client in inside])
    inside.pop().close()
    client = serving.wait_for("room", lambda: enters(server))
    tap.check("when one leaves, another comes in", client is not None)
    for one in [client, *inside]:
        one.close()
    serving.wait_for("room", lambda: enters(server)).close()
    ends_well(server, "after more clients than max_connections")


def more_than_address_most():
    server = serve("address", max_per_address=5)
    inside = [serving.wait_for("room", lambda: enters(server)) for _ in range(5)]
    tap.check("one more than max_per_address is turned away", enters(server) is None)
    far = socket.socket()
    far.bind(("127.0.0.2", 0))
    far.connect(("127.0.0.1", server.port))
    far.settimeout(serving.PATIENCE_S)
    far.sendall(command("PING"))
    tap.same("a client from elsewhere is served", b"+PONG\r\n", far.recv(100))
    far.close()
    turned_away = [server.client() for _ in range(300)]
    for one in turned_away:
        one.is_closed()
    descriptors = len(os.listdir(f"/proc/{server.pid}/fd"))
    tap.check("a refused client holds no descriptor of the server", descriptors < 200, descriptors)
    for one in turned_away:
        one.close()
    inside.pop().close()
    serving.wait_for("room", lambda: enters(server)).close()
    for one in inside:
        one.close()
    serving.wait_for("room", lambda: enters(server)).close()
    ends_well(server, "after more clients than max_per_address")


TOKEN, ADMIN = "an-issuer-of-the-tests", "an-admin-of-the-tests"


def guarded(name, **settings):
    folder = f"{TMPDIR}/{name}"
    os.makedirs(folder, exist_ok=True)
    write_tokens(folder, f"issue {TOKEN}\nadmin {ADMIN}\n")
    settings = {"tokens": f"{folder}/tokens", "slow": f"{SLOW_S}s", "unsafe": "on", "auto_create": "on", **settings}
    return serving.Server(folder, PROGRAM, WIDE, **settings).start()


def write_tokens(folder, lines):
    with open(os.open(f"{folder}/tokens", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(lines)


def log_of(server):
    with open(server.log, errors="replace") as log:
        return log.read()


def strangers():
    server = guarded("strangers", max_connections=40)
    friends = [server.client() for _ in range(5)]
    for friend in friends:
        friend.ask("AUTH", TOKEN)
    crowd = [server.client() for _ in range(30)]
    crowd_refused = 0
    for one in crowd:
        try:
            one.send(command("PING"))
            crowd_refused += "NOAUTH" in str(one.read())
        except (EOFError, ConnectionError):
            pass
    tap.check("those who say no token have a quarter of the connections", 0 < crowd_refused <= 12, f"{crowd_refused} of 40")
    tap.same("those who said theirs are served", 5, sum(friend.ask("INCR", "counted") > 0 for friend in friends))
    tap.check("strangers are closed after slow", all(one.is_closed() for one in crowd))
    long = b"*2\r\n$4\r\nAUTH\r\n$60000\r\n" + b"x" * 60000 + b"\r\n"
    tap.check("a stranger's words are short", refused_and_closed(server, long))
    for friend in friends:
        friend.close()
    tap.same("it ends with 0", 0, server.end())


def crowds_keep_nobody_out():
    """Strangers who hold every connection that they can get, and are not slow by any bound."""
    server = guarded("crowd", max_connections=200, slow="3600s")
    early = server.client(source="127.0.0.2")
    crowd = [serving.Client(port) for port in (server.port, server.http) for _ in range(300)]
    entered = 0
    for _ in range(20):
        friend = enters_with(server, TOKEN)
        entered += friend is not None and friend.ask("INCR", "counted") > 0
        if friend is not None:
            friend.close()
    tap.same("a client with a token connects at once over RESP", 20, entered)
    tap.same("and over HTTP", {200}, {server.get("/v1/segments/counted", TOKEN)[0] for _ in range(20)})
    metrics = {name: float(server.metrics(ADMIN)['firn_connections_closed_crowded_total{listener="%s"}' % name]) for name in ("resp", "http")}
    tap.check("the oldest strangers were closed, and counted", min(metrics.values()) > 200, metrics)
    tap.check("and a line of the log says so", "closed to make room" in log_of(server), log_of(server))
    early.send(command("PING"))
    tap.check("a stranger of another address is still there", "NOAUTH" in str(early.read()))
    friends = [serving.wait_for("room", lambda: enters_with(server, TOKEN)) for _ in range(200)]
    tap.same("those with a token may have all connections", 200, sum(friend is not None for friend in friends))
    tap.check("and no more", enters_with(server, TOKEN) is None)
    for one in [*crowd, early, *friends]:
        one.close()
    tap.same("it ends with 0", 0, server.end())


def tokens_that_change():
    server = guarded("tokens")
    issuer, admin, other = server.client(), server.client(), server.client()
    for one, token in ((issuer, TOKEN), (admin, ADMIN), (other, ADMIN)):
        one.ask("AUTH", token)
    pages = {token: http.client.HTTPConnection("127.0.0.1", server.http, timeout=serving.PATIENCE_S) for token in (TOKEN, ADMIN)}
    before = [page_status(pages[TOKEN], "/v1/segments/counted", TOKEN), page_status(pages[ADMIN], "/v1/status", ADMIN)]
    tap.same("tokens are taken", [200, 200, True], [*before, issuer.ask("INCR", "counted") > 0])
    reload_tokens(server, f"issue {ADMIN}\nadmin somebody-of-the-tests\n")
    tap.same("a removed token is no longer valid on an open connection", "NOAUTH", refusal(issuer, "INCR", "counted"))
    tap.same("nor by HTTP", 401, page_status(pages[TOKEN], "/v1/segments/counted", TOKEN))
    tap.same("a role that is less has less", ["NOPERM", True], [refusal(admin, "FIRN.NODES"), admin.ask("INCR", "counted") > 0])
    tap.same("by HTTP too", [403, 200], [page_status(pages[ADMIN], path, ADMIN) for path in ("/v1/status", "/v1/segments/counted")])
    tap.check("a silent client is a stranger then, and closed", issuer.is_closed())
    reload_tokens(server, f"admin {ADMIN}\n")
    tap.check("a role that is more has more", isinstance(other.ask("FIRN.NODES"), list | str))
    for one in (issuer, admin, other, *pages.values()):
        one.close()
    tap.same("it ends with 0", 0, server.end())


def reload_tokens(server, lines):
    before = log_of(server).count("event=reloaded")
    write_tokens(server.folder, lines)
    server.signal(signal.SIGHUP)
    serving.wait_for("the reload", lambda: log_of(server).count("event=reloaded") > before)


def page_status(page, path, token):
    page.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    answer = page.getresponse()
    answer.read()
    return answer.status


def refusal(client, *words):
    client.send(command(*words))
    reply = client.read()
    return str(reply).split()[0] if isinstance(reply, Refused) else reply


def guesses():
    count = 300
    server = guarded("guesses", slow="60s")
    crowd = [server.client() for _ in range(count)]
    late, near = server.client(), server.client(source="127.0.0.2")
    begun = time.monotonic()
    for i, one in enumerate(crowd):
        one.send(command("AUTH", f"guess-{i}-of-the-tests"))
    serving.wait_for("guesses", lambda: float(server.metrics(ADMIN).get('firn_wrong_tokens_total{listener="resp"}', 0)) > 5)
    elsewhere = near.ask("AUTH", TOKEN)
    after = time.monotonic() - begun
    late.send(command("AUTH", TOKEN))
    found = {str(one.read()).split()[0] for one in crowd}
    took = time.monotonic() - begun
    same_address = late.read()
    waited = time.monotonic() - begun
    tap.same("all are refused", {"WRONGPASS"}, found)
    tap.check("many guesses at once take long", took > 2, f"{took:.2f} s")
    tap.check("the server accepts a valid token from the same address at the same time", same_address == "OK" and waited < took + 5, f"{waited:.2f} s")
    tap.check("and is not delayed from another", elsewhere == "OK" and after < took, f"{after:.2f} s of {took:.2f} s")
    tap.same("each is counted", count, int(float(server.metrics(ADMIN)['firn_wrong_tokens_total{listener="resp"}'])))
    tap.check("and the log has a line", 'event="wrong tokens"' in log_of(server), log_of(server))
    tap.same("by HTTP too", (401, 1), (server.get("/v1/new/wide", "guess-of-the-tests")[0], http_guesses(server)))
    for one in [*crowd, late, near]:
        one.close()
    tap.same("it ends with 0", 0, server.end())


def http_guesses(server):
    return int(float(server.metrics(ADMIN)['firn_wrong_tokens_total{listener="http"}']))


def floods_of_strangers():
    """Data that they send and do not read is kept out of memory and out of replies_mib."""
    count = 600
    server = guarded("floods", slow="3600s", replies_mib=1)
    before = serving.rss_kib(server.pid)
    crowd = []
    for i in range(count):  # behind a wrong token
        one = socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.5", 0))
        one.setblocking(False)
        crowd.append(one)
        send_what_fits(one, command("AUTH", f"guess-{i}-of-the-tests") + b"x" * 400_000)
    wrong = 'firn_wrong_tokens_total{listener="resp"}'
    serving.wait_for("guesses", lambda: float(server.metrics(ADMIN).get(wrong, 0)) > 5)
    grown = serving.rss_kib(server.pid) - before
    if not SANITIZED:
        tap.check("what strangers say after a wrong token is not kept", grown < 40 * MIB, f"{grown} KiB")
    for one in crowd:
        one.close()
    deaf = [serving.Client(server.http, source=f"127.0.0.{i % 3 + 1}") for i in range(100)]
    for one in deaf:
        one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        one.socket.setblocking(False)
        send_what_fits(one.socket, b"GET /console.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
    friend = serving.Client(server.port, source="127.0.0.9")
    friend.ask("AUTH", TOKEN)
    tap.same("files that strangers do not read count for no replies", 200, server.get("/v1/new/wide?n=1000", TOKEN)[0])
    said = 0
    one = socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.8", 0))
    one.settimeout(serving.PATIENCE_S)
    try:
        while said < 64 << 20:  # far more than the kernel keeps
            one.sendall(b"PING\r\n" * 10_000)
            said += 60_000
    except (ConnectionError, TimeoutError) as end:
        said = end
    tap.check("a stranger that does not read its refusals is closed", isinstance(said, ConnectionError), said)
    tap.same("and none of it keeps others from many IDs", 1000, len(friend.ask("FIRN.NEW", "wide", "COUNT", 1000)))
    for each in [one, *(each.socket for each in deaf)]:
        each.close()
    friend.close()
    tap.same("it ends with 0", 0, server.end())


def send_what_fits(to, data):
    try:
        to.send(data)
    except BlockingIOError:
        pass


def bytes_of_strangers():
    """Bytes of strangers use little of the memory of clients: a half command, and commands that wait for a delayed token."""
    count = 150
    server = guarded("bytes", slow="3600s")
    held = lambda: float(server.metrics(ADMIN)["firn_clients_memory_bytes"])
    word = b"$1000\r\n" + b"x" * 1000 + b"\r\n"
    with server.client(source="127.0.0.2") as half, server.client(source="127.0.0.2") as small:
        half.send(b"*8\r\n" + 4 * word + word[:-3])
        tap.check("a half command of more than 4 KiB is refused at once", "too large" in str(half.read()))
        small.send(b"*4\r\n$5\r\nHELLO\r\n" + 3 * word)
        tap.check("one of less is read", "NOPROTO" in str(small.read()))
    crowd = [server.client(source="127.0.0.2") for _ in range(count)]
    for one in crowd:
        one.send(command("AUTH", "wrong") + command("PING") * 1000)
    most = max(held() for _ in range(10))
    tap.check("strangers whose tokens are delayed hold little", most <= count * 8192, most)
    for one in crowd:
        one.close()
    tap.same("it ends with 0", 0, server.end())


def bodies_of_strangers():
    """A body is kept only with a right token; those that are kept count, and the error names their limit."""
    server = guarded("bodies", clients_mib=1, slow="3600s")
    held = lambda: float(server.metrics(ADMIN)["firn_clients_memory_bytes"])
    empty = held()
    head = b"POST /v1/new/wide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n"

    def post(token, length, size):
        client = serving.Client(server.http)
        words = b"Authorization: Bearer %b\r\n" % token.encode() if token else b""
        client.send(head + words + b"Content-Length: %d\r\n\r\n" % length + b"&" * (size - 3) + b"n=1")
        return client

    with post(None, 8, 8) as client, post("x" * 32, 8, 8) as wrong:
        tap.same("a body without a right token is refused", [b"401", b"401"], [one.file.readline().split()[1] for one in (client, wrong)])
    strangers = [post(None, 16000, 12000) for _ in range(100)]
    for size in (4000, 5000, 16000):
        with post(TOKEN, size, size) as client:
            said = client.file.read()
            tap.check(f"a body of {size} bytes with a right token is read", b" 200 " in said, said)
    tap.check("bodies of strangers are not kept", held() < empty + (64 << 10), held())
    friends = [post(TOKEN, 16000, 12000) for _ in range(80)]
    serving.wait_for("memory to be full", lambda: held() >= 1 << 20)
    with post(TOKEN, 12000, 12000) as client:
        said = client.file.read()
        tap.check("another large body is refused with the name of the limit", b" 503 " in said and b"clients_mib" in said, said)
    with post(TOKEN, 4, 4) as client:
        tap.check("a small one is read", b" 200 " in client.file.readline())
    status, text = server.get("/v1/new/wide?n=65", TOKEN)
    tap.check("a large reply is refused with the name of the limit", status == 503 and "clients_mib" in text, text)
    tap.same("metrics and health are served", [200, 200], [server.get("/metrics", ADMIN)[0], server.get("/healthz")[0]])
    tap.same("the log tells it once", 1, log_of(server).count("the memory for clients is used up"))
    for one in strangers + friends:
        one.close()
    serving.wait_for("the memory", lambda: held() <= empty + 4096)
    tap.same("it ends with 0", 0, server.end())


def a_reload_makes_no_strangers():
    server = guarded("trusted", max_connections=40, slow="1s")
    pages = [http.client.HTTPConnection("127.0.0.1", server.http, timeout=serving.PATIENCE_S) for _ in range(30)]
    for page in pages:
        page_status(page, "/v1/segments/counted", TOKEN)
    reload_tokens(server, f"issue {TOKEN}\nadmin {ADMIN}\nissue another-of-the-tests\n")
    late = server.client()
    tap.check("a second later strangers are still closed", late.is_closed())  # by then connections were looked at
    sockets = [page.sock for page in pages]
    closed = 'firn_connections_closed_crowded_total{listener="http"}'
    tap.same("a reload of the same tokens closes nobody who has one", 0, int(float(server.metrics(ADMIN)[closed])))
    found = {page_status(page, "/v1/segments/counted", TOKEN) for page in pages}
    tap.same("they are served on", {200}, found)
    tap.check("on the same connections", sockets == [page.sock for page in pages])
    for one in [late, *pages]:
        one.close()
    tap.same("it ends with 0", 0, server.end())


def right_tokens_keep_nobody_waiting():
    """Many clients behind one address, whose tokens are right, after somebody there has guessed."""
    server = guarded("neighbours", slow="1s")
    watch = server.client(source="127.0.0.2")
    watch.ask("AUTH", ADMIN)
    crowd = [server.client(source="127.0.0.5") for _ in range(40)]
    for one in crowd:
        one.send(command("AUTH", "guess-of-the-tests"))
    serving.wait_for("guesses", lambda: float(server.metrics(ADMIN).get('firn_wrong_tokens_total{listener="resp"}', 0)) > 5)
    friend = server.client(source="127.0.0.5")
    tap.same("a token that waits longer than slow is taken", "OK", friend.ask("AUTH", TOKEN))
    friend.close()
    for one in crowd:
        last_words(one)

    def round_without_waiting():
        before = parked(watch)
        friends = [server.client(source="127.0.0.5") for _ in range(10)]
        for one in friends:
            one.send(command("AUTH", TOKEN))
        taken = [one.read() for one in friends]
        for one in friends:
            one.close()
        return taken == ["OK"] * 10 and parked(watch) == before

    tap.check("valid tokens are no longer delayed when the guesses are over", serving.wait_for("no delay", round_without_waiting))
    watch.close()
    tap.same("it ends with 0", 0, server.end())


def parked(client):
    return re.search(r"requests_parked:(\d+)", client.ask("INFO", "firn"))[1]


def last_words(client):
    """Its last reply, if it gets one."""
    try:
        client.read()
    except (EOFError, ConnectionError):
        pass
    client.close()


def enters_with(server, token):
    client = server.client(timeout_s=5)
    try:
        if client.ask("AUTH", token) == "OK":
            return client
    except (Refused, OSError, EOFError):
        pass
    client.close()
    return None


# ---- wrong ---------------------------------------------------------------------------------------------------------------


def refused_and_closed(server, data):
    """True: the reply was an error or nothing, and then the connection was closed."""
    with server.client() as client:
        try:
            client.send(data)
        except ConnectionError:
            return True
        try:
            while True:
                reply = client.read()
                if not isinstance(reply, Refused):
                    return False
        except (EOFError, ConnectionError):
            return True


def words_that_are_too_long():
    server = serve("long")
    long_key = "k" * 65536
    before = serving.rss_kib(server.pid)
    for name, data in {
        "a word of more than 64 KiB": b"*2\r\n$4\r\nINCR\r\n$65537\r\n" + b"k" * 65537 + b"\r\n",
        "a word of 2^31 bytes": b"*2\r\n$4\r\nINCR\r\n$2147483648\r\n",
        "a word of 2^63 bytes": b"*2\r\n$4\r\nINCR\r\n$9223372036854775808\r\n",
        "a word of less than none": b"*2\r\n$4\r\nINCR\r\n$-5\r\n",
        "a command of 2^31 words": b"*2147483648\r\n",
        "a command of 2^64 words": b"*18446744073709551616\r\n",
        "a command of more words than any has": command(*["PING"] * 1025),
        "an array within an array": b"*2\r\n*1\r\n$4\r\nPING\r\n$1\r\nx\r\n",
        "a line without an end": b"PING " + b"x" * 3_000_000,
        "a number without an end": b"*" + b"1" * 100_000,
        "TLS to a listener without": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    }.items():
        tap.check(f"{name} is refused, and the connection closed", refused_and_closed(server, data))
    with server.client() as client:
        for i in range(200):
            client.send(command("PING", "x" * 60000))
            if len(client.read()) != 60000:
                break
        tap.same("words of almost 64 KiB are taken", 199, i)
        client.send(command("INCR", long_key))
        tap.check("a key that is too long is an error", isinstance(client.read(), Refused))
        tap.same("and only that", "PONG", client.ask("PING"))
    grown = serving.rss_kib(server.pid) - before
    tap.check("nothing was allocated for what was only announced", grown < GROWTH_KIB, f"{grown} KiB")
    ends_well(server, "after words that are too long")


def noise():
    """Random bytes, the same in each run; those that happen to be a command are answered."""
    server = serve("noise", slow="1s")
    chance = random.Random(5)
    for port in (server.port, server.http):
        for _ in range(150):
            data = bytes(chance.choices(b"*$0123456789\r\n\r\nPINGincr :+-\0\xff/", k=chance.randrange(1, 400)))
            client = serving.Client(port)
            try:
                client.send(data)
                client.socket.shutdown(socket.SHUT_WR)
                closed = client.is_closed()
            except OSError:
                closed = True
            client.close()
            if not closed:
                break
        tap.check(f"noise at the {'RESP' if port == server.port else 'HTTP'} listener ends their connections", closed)
    ends_well(server, "after noise")


def tls_garbage():
    """At listeners that speak TLS: bytes that are not TLS, and handshakes that stop in the middle."""
    folder = f"{TMPDIR}/tls"
    os.makedirs(folder, exist_ok=True)
    made = os.system(
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {folder}/key -out {folder}/cert "
        f"-days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 >{folder}/openssl.log 2>&1"
    )
    if made != 0:
        tap.skip("what is not TLS is closed", "openssl is not installed")
        return
    server = serving.Server(f"{folder}/server", PROGRAM, WIDE, tls_cert=f"{folder}/cert", tls_key=f"{folder}/key", slow=f"{SLOW_S}s", unsafe="on")
    server.start(wait=False)
    trust = ssl.create_default_context(cafile=f"{folder}/cert")

    def speaks():
        try:
            with socket.create_connection(("127.0.0.1", server.port), timeout=5) as plain:
                with trust.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
                    secure.sendall(command("PING"))
                    return secure.recv(100) == b"+PONG\r\n"
        except ConnectionError:
            return False

    serving.wait_for("TLS", speaks)
    hello = b"\x16\x03\x01\x00\x05\x01\x00"
    closed = []
    for port in (server.port, server.http):
        for data in (command("PING"), b"GET / HTTP/1.1\r\n\r\n", hello, os.urandom(3000), b"\x16\x03\x01\xff\xff" + bytes(1000)):
            client = serving.Client(port)
            client.send(data)
            closed.append(client)
    tap.check("what is not TLS, or half a handshake, is closed", all(client.is_closed() for client in closed))
    for client in closed:
        client.close()
    tap.check("a client with TLS is served", speaks())
    tap.same("it ends with 0", 0, server.end())


tap.run(
    [
        words_that_are_too_long,
        idle_clients,
        half_requests,
        clients_that_do_not_read,
        a_reader_with_pauses,
        no_descriptors_left,
        few_descriptors,
        threads_and_few_descriptors,
        lonely_without_descriptors,
        memory_after_a_flood,
        more_than_connections_most,
        more_than_address_most,
        strangers,
        crowds_keep_nobody_out,
        tokens_that_change,
        guesses,
        floods_of_strangers,
        bodies_of_strangers,
        bytes_of_strangers,
        a_reload_makes_no_strangers,
        right_tokens_keep_nobody_waiting,
        noise,
        tls_garbage,
        a_million_commands_at_once,
        ten_thousand_connections,
    ]
)
