# SPDX-License-Identifier: MIT
"""Requests that wait for the store or for a window: work ends with the wish for it, clients take turns, and waiting costs
nobody else."""
import os
import signal
import socket

import serving
import tap
from serving import command

TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
MOST = 65536
WIDE = """
[generator wide]
scheme = 0x0:1 time:41/ms node:6 sequence:16
nodes = 16
[segment counted]
"""
SHOP, OTHER, ADMIN = (f"{name}-token-of-the-tests" for name in ("shop", "other", "admin"))


def serve(name, **settings):
    settings = {"auto_create": "on", "unsafe": "on", "loops": 1, "http_threads": 1, **settings}
    server = serving.Server(f"{TMPDIR}/{name}", PROGRAM, WIDE, **settings).start()
    serving.wait_for("readiness", lambda: server.get("/readyz")[0] == 200)
    return server


def log_of(server):
    with open(server.log, errors="replace") as log:
        return log.read()


def dated(number):
    """A back-dated request that the store works for; each at another time, so that none finds the work of another done."""
    return "FIRN.NEW", "wide", "COUNT", MOST, "TIME", f"2024-03-{1 + number // 1000:02}T00:{number % 1000 // 60:02}:{number % 60:02}Z"


# ---- abandoned -----------------------------------------------------------------------------------------------------------


def store_calls(server):
    return sum(float(value) for name, value in server.metrics().items() if name.startswith("firn_store_calls_total"))


def clients_that_leave():
    """A thousand clients ask for what takes the store minutes together, and leave. Others are served at the same time,
    without waiting for that work, and the server ends without doing it."""
    serving.raise_files()
    server = serve("leave", wait=f"{serving.PATIENCE_S * 1000}ms")
    count = 1000
    clients = [server.client() for _ in range(count)]
    for number, client in enumerate(clients):
        client.send(command(*dated(number)))
    for client in clients:
        client.close()
    with server.client() as other:
        before = store_calls(server)
        for number in range(20):
            reply = other.ask("INCR", f"fresh{number}")  # opens a segment, a task of the store
        worked = store_calls(server) - before
    tap.same("requests of others are served", 1, reply)
    tap.check("before the store has done the work of those who left", worked < count, f"{worked} calls of the store")
    server.signal(signal.SIGTERM)
    ends_well(server)


def ends_well(server):
    """After SIGTERM."""
    status = server.process.wait(serving.PATIENCE_S)
    log = log_of(server)
    tap.same("the server ends with 0", 0, status)
    tap.check("and has given its windows back", "not given back" not in log and "store does not answer" not in log, log[-2000:])


def clients_that_wait_at_the_end():
    """The server stops while the store has work for minutes: each client gets a reply, and the windows go back."""
    server = serve("end", stop="1s", replies_mib=1024, clients_mib=1024)
    clients = [server.client() for _ in range(200)]
    for number, client in enumerate(clients):
        client.send(command(*dated(number)))
    with serving.Client(server.http) as page:
        page.send(f"GET /v1/new/wide?n={MOST}&time=2024-05-01 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        serving.wait_for("tasks", lambda: "firn_store_tasks" in str(server.metrics()))
        server.signal(signal.SIGTERM)
        replies = [client.file.readline() for client in clients]
        tap.check("over HTTP too", page.file.readline().startswith(b"HTTP/1.1 "))
    found = {line.split()[0].rstrip(b"0123456789") for line in replies if line}
    tap.same("each client gets its IDs or an error", (len(clients), True), (sum(line != b"" for line in replies), found <= {b"*", b"-TRYAGAIN"}))
    tap.check("which says that the server stops", all(b"the server is stopping" in line for line in replies if line[:1] == b"-"), replies[-3:])
    for client in clients:
        client.close()
    ends_well(server)


# ---- many that wait ------------------------------------------------------------------------------------------------------


def retried(server):
    return sum(float(value) for name, value in server.metrics().items() if name.startswith("firn_requests_retried_total"))


def many_that_wait():
    """A generator of 256 IDs each 10 ms, and 500 requests for as many over each listener: only those that may succeed are tried
    again, which a count of attempts shows. All of them, each millisecond, would be 150000 attempts for each listener."""
    count = 500
    serving.raise_files()
    server = serve("waiting", wait="300ms")
    with server.client() as first:
        first.ask("FIRN.NEW", "sonyflake")
    http_ = b"GET /v1/new/sonyflake?format=text&n=256 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for name, port, question, good, bad in (
        ("RESP", server.port, command("FIRN.NEW", "sonyflake", "COUNT", 256), b"*256\r\n", b"-TRYAGAIN"),
        ("HTTP", server.http, http_, b"HTTP/1.1 200", b"HTTP/1.1 429"),
    ):
        before = retried(server)
        clients = [serving.Client(port) for _ in range(count)]
        for client in clients:
            client.send(question)
        with server.client() as other:
            tap.same(f"{name}: another client is served", "PONG", other.ask("PING"))
        replies = [client.file.readline() for client in clients]
        attempts = retried(server) - before
        found = sum(one.startswith(good) for one in replies), sum(one.startswith(bad) for one in replies)
        tap.check(f"{name}: each request gets IDs or an error", sum(found) == count and found[0] > 1, f"{found}: {set(replies)}")
        tap.check(f"{name}: few attempts are made", 0 < attempts < 20 * count, f"{attempts} attempts")
        for client in clients:
            client.close()
    server.signal(signal.SIGTERM)
    ends_well(server)


# ---- sums ----------------------------------------------------------------------------------------------------------------


def held(server):
    return float(server.metrics()["firn_clients_memory_bytes"])


def open_batches():
    """Batches that nobody ends and commands that nobody completes are limited together, and end by time."""
    mib, slow_s = 8, 2
    server = serve("batches", clients_mib=mib, slow=f"{slow_s}s")
    echo = command("ECHO", "a" * 60000)
    clients = [server.client() for _ in range(40)]
    refused = 0
    for client in clients:
        client.send(command("MULTI") + 10 * echo)
        try:
            replies = [client.read() for _ in range(11)]
        except (EOFError, ConnectionError):
            continue  # slow enough to be closed
        refused += any("clients_mib" in str(one) for one in replies)
    most = held(server)
    tap.check("batches beyond clients_mib are refused with an error", refused > 10, refused)
    tap.check("what is held stays near the limit", most < (mib + 2) * (1 << 20), most)
    halves = [server.client() for _ in range(40)]
    for half in halves:
        half.send(command("MULTI") * 3 + b"*2\r\n$4\r\nECHO\r\n$60000\r\n" + b"a" * 50000)
    with server.client() as other:
        other.send(command("MULTI") + command("INCR", "counted") + command("EXEC") + b"*1\r\n$4\r\nPI")
        found = [other.read() for _ in range(3)]
        other.send(b"NG\r\n")
        tap.same("small batches and commands in two parts are served", ["OK", "QUEUED", True, "PONG"], [*found[:2], found[2][0] > 0, other.read()])
    tap.check("open batches are closed after slow", all(client.is_closed() for client in clients))
    tap.check("half-read commands too", all(half.is_closed() for half in halves))
    tap.check("and nothing is held then", serving.wait_for("memory", lambda: held(server) == 0))
    late = server.client()
    late.send(command("MULTI"))
    tap.same("an open batch gets an error first", ["OK", True], [late.read(), "slow:" in str(late.read())])
    for one in [late, *clients, *halves]:
        one.close()
    server.signal(signal.SIGTERM)
    ends_well(server)


def answers_that_nobody_reads():
    """Memory that is held for HTTP clients that leave is given back once: not never, and not twice."""
    server = serve("unread")
    for kind in ("wide?n=65536", "wide?n=20000&time=2024-03-01", "uuid7?n=65536"):
        for _ in range(30):
            client = serving.Client(server.http)
            client.send(f"GET /v1/new/{kind} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            client.close()
        tap.check(f"nothing is held for clients that left: {kind}", serving.wait_for("memory", lambda: held(server) == 0))
    server.signal(signal.SIGTERM)
    ends_well(server)


def dated_ids_that_nobody_reads():
    """Back-dated requests that wait for the store together: those that run first use the memory up, the others are refused."""
    mib, count = 4, 60
    server = serve("unread_dated", clients_mib=mib, slow="3600s")
    page = f"GET /v1/new/wide?n={MOST}&time=2024-03-01 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    for port, asked in ((server.port, command("FIRN.NEW", "wide", "COUNT", MOST, "TIME", "2024-03-01")), (server.http, page)):
        clients = [serving.Client(port) for _ in range(count)]
        for client in clients:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.send(asked)
        most, first = 0, []
        for client in clients:
            first.append(client.socket.recv(12))
            most = max(most, held(server))
        name = "RESP" if port == server.port else "HTTP"
        served = sum(one.startswith((b"*65536", b"HTTP/1.1 200")) for one in first)
        refused = sum(one.startswith((b"-TRYAGAIN", b"HTTP/1.1 503")) for one in first)
        tap.check(f"{name}: some get back-dated IDs, the others an error", served > 0 and served + refused == count, (served, refused))
        tap.check(f"{name}: what is held stays near clients_mib", most < (mib + 4) * (1 << 20), most)
        for client in clients:
            client.close()
        tap.check(f"{name}: it is given back", serving.wait_for("memory", lambda: held(server) == 0))
    server.signal(signal.SIGTERM)
    ends_well(server)


def echoes_that_nobody_reads():
    """Above clients_mib, the replies of a turn are sent in small pieces, so a client that does not read holds few of them."""
    mib, count, echo = 2, 60, command("ECHO", "a" * 60000)
    path = f"{TMPDIR}/echo.sock"  # the kernel keeps less for a unix socket than for TCP
    server = serving.Server(f"{TMPDIR}/echoes", PROGRAM)
    server.configure(WIDE, resp=f"127.0.0.1:{server.port} unix:{path}", clients_mib=mib, slow="3600s", loops=1, unsafe="on", auto_create="on")
    server.start()
    clients = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(count)]
    for client in clients:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        client.connect(path)
        client.setblocking(False)
    bound, most = mib * (1 << 20) + count * 65536, 0

    def fill():
        nonlocal most
        closed = False
        for client in clients:
            try:
                client.send(3 * echo)
            except BlockingIOError:
                pass
            except OSError:
                closed = True
        most = max(most, held(server))
        return closed or most > bound

    serving.wait_for("the server to close some", fill)
    tap.check("unread replies of small requests stay near clients_mib", most <= bound, most)
    for client in clients:
        client.close()
    tap.check("they are given back", serving.wait_for("memory", lambda: held(server) == 0))
    server.signal(signal.SIGTERM)
    ends_well(server)


def a_lowered_limit():
    """max_block applies at once, also to a command that was checked before."""
    server = serve("lowered")
    client = server.client()
    for _ in range(3):
        client.ask("INCRBY", "counted", 50)
    server.configure(WIDE, auto_create="on", unsafe="on", loops=1, http_threads=1, max_block=10)
    before = log_of(server).count("event=reloaded")
    server.signal(signal.SIGHUP)
    serving.wait_for("the reload", lambda: log_of(server).count("event=reloaded") > before)
    client.send(command("INCRBY", "counted", 50))
    tap.check("a repeated command beyond a lowered max_block is refused", "max_block" in str(client.read()))
    client.close()
    server.signal(signal.SIGTERM)
    ends_well(server)


tap.run([clients_that_leave, clients_that_wait_at_the_end, many_that_wait, open_batches, answers_that_nobody_reads, dated_ids_that_nobody_reads, echoes_that_nobody_reads, a_lowered_limit])
