# SPDX-License-Identifier: MIT
"""Three servers behind nginx and HAProxy, configured as docs/guides/several-servers.md prints it, are restarted one after
the other while clients ask for IDs: no request fails and no ID comes twice. The same with a name that has the addresses of
two servers. FIRN_BEFORE: the program of an older version, which each restart behind the balancers replaces."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import redis
import serving
import tap
from redis.backoff import ConstantBackoff
from redis.retry import Retry

PAGE = "docs/guides/several-servers.md"
TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
BEFORE = os.environ.get("FIRN_BEFORE", PROGRAM)
NAME, ADDRESSES = "ids.test", ("127.0.0.2", "127.0.0.3")  # of the name
DRAIN_S = 3  # HAProxy asks every second


def block(kind):
    """The text of the page between ```kind and ```."""
    with open(PAGE) as page:
        return re.search(rf"^```{kind}\n(.*?)^```$", page.read(), re.S | re.M)[1]


def on_loopback(text, servers):
    """Its addresses are the servers' addresses."""
    for i, it in enumerate(servers, 1):
        text = text.replace(f"10.0.0.{i}:7379 port 7380", f"127.0.0.1:{it.port} port {it.http}")
        text = text.replace(f"10.0.0.{i}:7380", f"127.0.0.1:{it.http}")
    return text


def begin(name, words, config, port):
    path = f"{TMPDIR}/{name}.conf"
    with open(path, "w") as file:
        file.write(config)
    process = serving.start([*words, path], f"{TMPDIR}/{name}.log")
    serving.wait_for(f"{name} to listen", lambda: process.poll() is not None or listens(port))
    if process.poll() is not None:
        with open(f"{TMPDIR}/{name}.log") as log:
            raise ChildProcessError(log.read())
    return process


def listens(port):
    try:
        http.client.HTTPConnection("127.0.0.1", port, timeout=5).connect()
        return True
    except OSError:
        return False


def begin_nginx(servers):
    port = serving.free_port()
    folder = f"{TMPDIR}/nginx"
    os.makedirs(folder, exist_ok=True)
    site = on_loopback(block("nginx"), servers).replace("listen 80;", f"listen 127.0.0.1:{port};")
    paths = "".join(f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    config = (
        f"daemon off; user root; pid {folder}/pid; error_log {folder}/error;\nevents {{}}\n"
        f"http {{ access_log off;\n{paths}{site} }}\n"
    )
    return begin("nginx", ["/usr/sbin/nginx", "-c"], config, port), port


def begin_haproxy(servers):
    web, resp = serving.free_port(), serving.free_port()
    config = on_loopback(block("haproxy"), servers).replace("bind :80\n", f"bind 127.0.0.1:{web}\n").replace(
        "bind :7379\n", f"bind 127.0.0.1:{resp}\n"
    )
    return begin("haproxy", ["/usr/sbin/haproxy", "-db", "-f"], config, web), web, resp


class Load:
    """Threads that send requests until they must end, with what they got and what failed."""

    def __init__(self):
        self.ids, self.failed, self.threads, self.ending = [], [], [], threading.Event()

    def go(self, ask, *parts):
        thread = threading.Thread(target=self._run, args=(ask, *parts), daemon=True)
        self.threads.append(thread)
        thread.start()

    def _run(self, ask, *parts):
        asked = ask(*parts)
        while not self.ending.is_set():
            try:
                self.ids.extend(next(asked))
            except Exception as error:  # every error that a client would see
                self.failed.append(repr(error))
                asked = ask(*parts)
                time.sleep(0.01)

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join(serving.PATIENCE_S)


def over_http(port, host="127.0.0.1"):
    """A keep-alive client, which opens a new connection when the server said that it closes this one."""
    connection = http.client.HTTPConnection(host, port, timeout=serving.PATIENCE_S)
    while True:
        connection.request("POST", "/v1/new/snowflake?n=3", headers={"Host": "localhost"})
        reply = connection.getresponse()
        body = reply.read()
        if reply.status != 200:
            raise ValueError(f"{reply.status}: {body!r}")
        yield json.loads(body)["ids"]


def over_resp(port, host="127.0.0.1"):
    retry = Retry(ConstantBackoff(0.05), 5)
    client = redis.Redis(
        host, port, retry=retry, retry_on_error=[redis.ConnectionError], socket_timeout=serving.PATIENCE_S
    )
    while True:
        yield [id.decode() for id in client.execute_command("FIRN.NEW", "snowflake", "COUNT", "3")]


def restart(it):
    """As systemctl restart does, and waits until it is ready."""
    it.signal(signal.SIGTERM)
    serving.wait_for("the server to report 503", lambda: it.process.poll() is not None or it.get("/readyz")[0] == 503)
    drained = it.process.poll() is None
    status = it.process.wait(serving.PATIENCE_S)
    it.words[0] = PROGRAM
    it.start()
    serving.wait_for("the server to be ready", lambda: it.get("/readyz")[0] == 200)
    return drained and status == 0


def three_servers():
    url = f"sqlite:{TMPDIR}/ids.db?create=yes"
    return [serving.Server(f"{TMPDIR}/server{i}", BEFORE, store=url, unsafe="on", drain=f"{DRAIN_S}s").start() for i in range(3)]


def judge(load, sentence):
    tap.same(f"{sentence}: no request of {len(load.ids) // 3} fails", [], load.failed[:3])


def roll(servers, load):
    """Restarts each server, with some more IDs before and after it."""
    well = []
    for it in [*servers, None]:
        before = len(load.ids)
        serving.wait_for("more IDs", lambda: len(load.ids) > before + 100)
        if it is not None:
            well.append(restart(it))
    return well


def behind_balancers():
    servers = three_servers()
    nginx, nginx_port = begin_nginx(servers)
    haproxy, web, resp = begin_haproxy(servers)
    ways = {"nginx": (over_http, nginx_port), "HAProxy, HTTP": (over_http, web), "HAProxy, RESP": (over_resp, resp)}
    loads = {name: Load() for name in ways}
    direct = Load()
    try:
        for name, (ask, port) in ways.items():
            for _ in range(2):
                loads[name].go(ask, port)
        direct.go(over_http, servers[0].http)
        tap.same("each server drains and ends with 0", [True] * 3, roll(servers, loads["nginx"]))
        for load in (*loads.values(), direct):
            load.end()
        for name, load in loads.items():
            judge(load, name)
        tap.check("a client without a balancer does see the restart", len(direct.failed) > 0)
        ids = [id for load in (*loads.values(), direct) for id in load.ids]
        tap.same("no ID comes twice", len(ids), len(set(ids)))
        ids.append(ids[7])
        tap.check("and an injected duplicate is found", len(ids) != len(set(ids)))
    finally:
        for process in (nginx, haproxy):
            process.terminate()
            process.wait(serving.PATIENCE_S)
        for it in servers:
            it.end()


# ---- DNS round robin -----------------------------------------------------------------------------------------------------


def named_servers():
    """Two servers with the same ports, each on an address of the name. /readyz is asked for on 127.0.0.1 as well."""
    url = f"sqlite:{TMPDIR}/named.db?create=yes"
    settings = {"store": url, "unsafe": "on", "drain": f"{DRAIN_S}s", "hosts": NAME}
    servers = [serving.Server(f"{TMPDIR}/named{i}", PROGRAM) for i in range(2)]
    web, resp = serving.free_port(), serving.free_port()
    for it, address in zip(servers, ADDRESSES):
        it.configure(resp=f"127.0.0.1:{it.port} {address}:{resp}", http=f"127.0.0.1:{it.http} {address}:{web}", **settings)
        it.start()
    return servers, web, resp


def resolve(name, *words, turns=iter(range(10**9)), real=socket.getaddrinfo, **options):
    """As a name server does: all addresses, each time in another order."""
    if name != NAME:
        return real(name, *words, **options)
    first = next(turns) % 2
    return [found for address in (ADDRESSES[first], ADDRESSES[1 - first]) for found in real(address, *words, **options)]


def curl(port, addresses, *options):
    """Status of curl, which tries these addresses in this order."""
    words = ["curl", "-fsS", "-m", str(serving.PATIENCE_S), "--resolve", f"{NAME}:{port}:{','.join(addresses)}", *options]
    return subprocess.run([*words, "-X", "POST", f"http://{NAME}:{port}/v1/new/snowflake"], stdout=subprocess.DEVNULL).returncode


def one_name():
    servers, web, resp = named_servers()
    first, second = servers
    socket.getaddrinfo = resolve
    loads = {"HTTP": Load(), "RESP": Load()}
    try:
        for _ in range(2):
            loads["HTTP"].go(over_http, web, NAME)
            loads["RESP"].go(over_resp, resp, NAME)
        tap.same("one name: each server drains and ends with 0", [True] * 2, roll(servers, loads["HTTP"]))
        for way, load in loads.items():
            load.end()
            judge(load, f"one name, {way}")
        ids = [id for load in loads.values() for id in load.ids]
        tap.same("one name: no ID comes twice", len(ids), len(set(ids)))
        first.signal(signal.SIGTERM)
        serving.wait_for("the server to report 503", lambda: first.get("/readyz")[0] == 503)
        tap.same("a server that drains answers", 0, curl(web, ADDRESSES[:1]))
        first.process.wait(serving.PATIENCE_S)
        tap.same("curl tries the second address if the first server has ended", 0, curl(web, ADDRESSES))
        tap.same("which is the only one that answers", 7, curl(web, ADDRESSES[:1]))
        first.start()
        serving.wait_for("the server to be ready", lambda: first.get("/readyz")[0] == 200)
        first.signal(signal.SIGSTOP)
        tap.same("it does not try it if the first server hangs", 28, curl(web, ADDRESSES, "-m", "0.5"))
        first.signal(signal.SIGCONT)
    finally:
        socket.getaddrinfo = resolve.__kwdefaults__["real"]
        for it in servers:
            it.end()


def signals():
    it = serving.Server(f"{TMPDIR}/second", PROGRAM, unsafe="on", drain="3600s").start()
    with it.client() as client:
        it.signal(signal.SIGTERM)
        serving.wait_for("the log to say so", lambda: "event=draining" in open(it.log).read())
        tap.same("while it drains /readyz reports 503", 503, it.get("/readyz")[0])
        tap.same("and the process is healthy", 200, it.get("/healthz")[0])
        tap.same("and the metrics say so", "0", it.metrics()["firn_ready"])
        tap.check("an open connection is served", int(client.ask("FIRN.NEW", "snowflake")) > 0)
        with it.client() as other:
            tap.check("and a new one", int(other.ask("FIRN.NEW", "snowflake")) > 0)
        connection = http.client.HTTPConnection("127.0.0.1", it.http, timeout=serving.PATIENCE_S)
        connection.request("GET", "/v1/new/snowflake")
        tap.same("HTTP clients are asked to leave", "close", connection.getresponse().headers["Connection"])
        time.sleep(0.4)  # signals closer together count as one
        it.signal(signal.SIGTERM)
        tap.same("a second signal ends it with 0", 0, it.process.wait(serving.PATIENCE_S))
    it.start()
    it.signal(signal.SIGINT)
    tap.same("Ctrl-C does not drain", 0, it.process.wait(serving.PATIENCE_S))


def ask_once(port, question, end):
    """A new client asks; None if it cannot connect, else what it reads until `end`."""
    try:
        client = socket.create_connection(("127.0.0.1", port), timeout=serving.PATIENCE_S)
    except OSError:
        return None
    with client:
        client.sendall(question)
        found = b""
        while not found.endswith(end):
            piece = client.recv(4096)
            if not piece:
                raise EOFError("the server closed the connection without a reply")
            found += piece
        return found


def come_and_ask(port, question, end, results):
    """Until the server has ended."""
    try:
        while (reply := ask_once(port, question, end)) is not None:
            results.append(reply)
    except (OSError, EOFError) as error:
        results.append(repr(error))


def who_comes_at_the_end():
    """Clients that connect while the server stops are answered, or do not get in. An idle client makes the stop longer."""
    it = serving.Server(f"{TMPDIR}/last", PROGRAM, unsafe="on", auto_create="yes").start()
    resp, web = [], []
    ask_resp = (it.port, serving.command("INCR", "k"), b"\r\n", resp)
    ask_web = (it.http, b"POST /v1/segments/k HTTP/1.1\r\nHost: localhost\r\n\r\n", b"}\n", web)
    for _ in range(5):
        threads = [threading.Thread(target=come_and_ask, args=words) for words in (ask_resp, ask_web) * 3]
        before = len(resp), len(web)
        with it.client() as idle:
            idle.ask("INCR", "k")
            for thread in threads:
                thread.start()
            serving.wait_for("replies", lambda: len(resp) > before[0] + 50 and len(web) > before[1] + 50)
            it.signal(signal.SIGTERM)
            tap.same("the server ends with 0", 0, it.process.wait(serving.PATIENCE_S))
        for thread in threads:
            thread.join(serving.PATIENCE_S)
        it.start()
    it.end()
    for name, results, good in ("RESP", resp, b":"), ("HTTP", web, b"HTTP/1.1 200"):
        bad = [one for one in results if not isinstance(one, bytes) or not one.startswith(good)]
        tap.same(f"{name}: each client that was let in was answered, {len(results)} in all", [], bad[:3])


def rolling_restart():
    if all(os.path.exists(f"/usr/sbin/{name}") for name in ("nginx", "haproxy")):
        behind_balancers()
    elif os.environ.get("CI") == "true":
        tap.check("nginx-light and haproxy are installed", False)
    else:
        tap.skip("a rolling restart behind nginx and HAProxy", "nginx-light or haproxy is missing")


tap.run([rolling_restart] if BEFORE != PROGRAM else [signals, who_comes_at_the_end, rolling_restart, one_name])
