#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The cost of firn serve, compared with Redis and nginx on the same machine.

    compare.py [--json] [--write FILE] [--rounds N] [--seconds S] [BUILD]     needs firn-serve and firn_load in BUILD, redis-server, nginx

Servers and the load generator are on different processors if there are two. All contestants take turns in each round, and
the figures are medians of rounds. Every server serves with one thread: one processor against one. The goals are
printed with the figures; missing a goal is not a failure.
"""
import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../../test/serve")
import serving

PIPELINES = (1, 16, 64)
CPU_GOALS = dict(zip(PIPELINES, (1.0, 1.4, 2.2)))  # Redis' time by ours, at least
RATE_GOALS = dict(zip(PIPELINES, (1.0, 2.0, 4.0)))  # our replies per second divided by Redis's with its file, at least
OFFERED = 0.6  # of the maximum rate of Redis: the rate at which time is measured
BATCH = 1000
BATCH_GOAL = 50e6  # IDs per second
HTTP_GOAL = 1.25  # our time by nginx's, at most
IDLE = 10_000
IDLE_GOAL_MIB = 64
STARTS = 20
START_GOAL_MS = 50
SUSTAINED_S = 4
SATURATED = 0.95  # of its processor that the load generator uses: it may be what is slow then

MARK, END = "<!-- figures: compare.py --write -->", "<!-- /figures -->"
WIDE = """
[generator wide]
scheme = 0x0:1 time:41/ms node:4 sequence:18
"""
SIXTEEN = """
[generator sixteen]
scheme = snowflake
nodes = 16
"""
NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
    access_log off; keepalive_requests 4000000000; keepalive_timeout 3600s;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; location / {{ default_type text/plain; return 200 "1234567890123456789\\n"; }} }}
}}
"""
INCR = ("INCR", "bench")
# By the name of the contestant: whose server, and the request.
ISSUERS = {
    "firn INCR": ("firn", INCR),
    "FIRN.NEW wide": ("firn", ("FIRN.NEW", "wide")),
    "FIRN.NEW nodes=16": ("sixteen", ("FIRN.NEW", "sixteen")),
}
PEERS = {"Redis INCR": ("redis", INCR), "Redis INCR, AOF everysec": ("aof", INCR)}
PLAIN = "/v1/new/snowflake?format=text"


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as pids:
        return [int(child) for child in pids.read().split()]


class Bench:
    """The servers, and how they are asked."""

    def __init__(self, build, folder, seconds):
        cores = sorted(os.sched_getaffinity(0))
        self.apart = len(cores) > 1
        self.load_core, self.core = cores[0], cores[-1]
        self.build, self.folder, self.seconds = build, folder, seconds
        self.program = f"{build}/bin/firn-serve"
        self.ports, self.pids, self.processes, self.firns = {}, {}, [], []
        self.saturated = set()

    def start_redis(self, name, *options):
        port = self.ports[name] = serving.free_port()
        folder = f"{self.folder}/{name}"
        os.mkdir(folder)
        words = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", *options]
        self.start(name, words)
        serving.wait_for(name, lambda: self.connects(port))

    def start_nginx(self):
        port = self.ports["nginx"] = serving.free_port()
        folder = f"{self.folder}/nginx"
        os.mkdir(folder)
        with open(f"{folder}/nginx.conf", "w") as conf:
            conf.write(NGINX.format(folder=folder, port=port))
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.start("nginx", [nginx, "-e", "stderr", "-c", f"{folder}/nginx.conf", "-p", folder])
        serving.wait_for("nginx", lambda: self.connects(port))
        self.pids["nginx"] += serving.wait_for("nginx's worker", lambda: children(self.pids["nginx"][0]))

    def start(self, name, words):
        process = serving.start(words, f"{self.folder}/{name}.log", core=self.core)
        self.processes.append(process)
        self.pids[name] = [process.pid]

    def connects(self, port):
        try:
            serving.Client(port, timeout_s=5).close()
            return True
        except OSError:
            return False

    def start_firn(self, name, sections, *asked):
        """A separate server for nodes=16, so that each server renews its own windows only."""
        firn = serving.Server(
            f"{self.folder}/{name}", self.program, sections, core=self.core, auto_create="on", loops=1, http_threads=1
        ).start()
        self.firns.append(firn)
        self.ports[name], self.ports[f"{name} http"] = firn.port, firn.http
        self.pids[name] = self.pids[f"{name} http"] = [firn.pid]
        with firn.client() as client:  # opened before anything is measured
            for words in asked:
                client.ask(*words)

    def start_all(self):
        self.start_redis("redis", "--appendonly", "no")
        self.start_redis("aof", "--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0")
        self.start_nginx()
        self.start_firn("firn", WIDE, INCR, ("FIRN.NEW", "wide"))
        self.start_firn("sixteen", SIXTEEN, ("FIRN.NEW", "sixteen"))
        self.start_firn("plain", "", ("FIRN.NEW", "snowflake"))

    def end_all(self):
        for firn in self.firns:
            firn.end()
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(serving.PATIENCE_S)

    def load(self, server, words, pipeline=1, rate=None, connections=50, even=False, seconds=None):
        """The report of the load generator."""
        line = [f"{self.build}/bench/firn_load", "--port", self.ports[server], "--pipeline", pipeline]
        line += ["--seconds", seconds or self.seconds]
        line += ["--connections", connections, "--cpu-of", ",".join(map(str, self.pids[server]))]
        line += ["--core", self.load_core] if self.apart else []
        line += ["--rate", rate] if rate else []
        line += ["--even"] if even else []
        line += ["--http"] if words[0].startswith("/") else []
        ran = subprocess.run([*map(str, line), *words], capture_output=True, text=True, timeout=600)
        if ran.returncode != 0:
            raise ChildProcessError(f"{' '.join(map(str, line))} {' '.join(words)}: {ran.stderr.strip()}")
        found = json.loads(ran.stdout)
        if found["own_share"] > SATURATED and not rate:
            self.saturated.add((" ".join(words), pipeline))
        return found


def medians(rounds, contestants, ask, key):
    """contestants: what ask(one) takes, by name. The median of found[key] of each; all take turns."""
    found = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, one in contestants.items():
            found[name].append(ask(one)[key])
    return {name: statistics.median(values) for name, values in found.items()}


# ---- measurements ------------------------------------------------------------------------------------------------------


def row(table, name, value, unit, ratio=None, goal=None, met=None, note=""):
    return {"table": table, "name": name, "value": value, "unit": unit, "ratio": ratio, "goal": goal, "met": met, "note": note}


def compare(table, unit, found, peer, goal, better):
    """A line for each; `better(value, peer's)` is the ratio that the goal is about."""
    for name, value in found.items():
        if name in ISSUERS:
            ratio = better(value, found[peer])
            yield row(table, name, value, unit, ratio, f"{goal:.1f} x", ratio >= goal, f"compared with {peer}")
        else:
            yield row(table, name, value, unit)


def throughput(bench, rounds):
    """Also the rates that Redis keeps up with, by pipeline."""
    rows, rates = [], {}
    for pipeline in PIPELINES:
        found = medians(rounds, {**PEERS, **ISSUERS}, lambda one: bench.load(*one, pipeline=pipeline), "per_s")
        rates[pipeline] = OFFERED * found["Redis INCR"]
        table = f"requests per second, pipelining {pipeline}"
        rows += compare(table, "/s", found, "Redis INCR, AOF everysec", RATE_GOALS[pipeline], lambda ours, theirs: ours / theirs)
    return rows, rates


def cost(bench, rounds, rates):
    """Goals are for requests in bursts, one of each connection. Requests that are spread evenly are measured too: then waking
    a server costs more than the answer."""
    peer = "Redis INCR"
    for pipeline, rate in rates.items():
        contestants = {peer: PEERS[peer], **ISSUERS}
        found = medians(rounds, contestants, lambda one: bench.load(*one, pipeline=pipeline, rate=rate), "cpu_ns")
        table = f"processor time per request, pipelining {pipeline}, {rate:,.0f} requests per second offered"
        yield from compare(table, "ns", found, peer, CPU_GOALS[pipeline], lambda ours, theirs: theirs / ours)
        contestants = {name: contestants[name] for name in (peer, "firn INCR")}
        found = medians(rounds, contestants, lambda one: bench.load(*one, pipeline=pipeline, rate=rate, even=True), "cpu_ns")
        for name, value in found.items():
            ratio = found[peer] / value if name in ISSUERS else None
            yield row(table, f"{name}, spread evenly", value, "ns", ratio)


def batch(bench, rounds):
    contestants = {
        f"FIRN.NEW {name} COUNT {BATCH}": (server, ("FIRN.NEW", name, "COUNT", str(BATCH)))
        for server, name in (("firn", "wide"), ("sixteen", "sixteen"), ("plain", "snowflake"))
    }
    found = medians(rounds, contestants, lambda one: id_rate(bench.load(*one, pipeline=4, connections=8)), "ids_per_s")
    busy = medians(rounds, contestants, lambda one: bench.load(*one, pipeline=4, connections=8), "cpu_ns")
    for name, value in found.items():
        if "wide" in name:
            note = f"{BATCH / busy[name] * 1e3:.0f} M per second of its processor time"
            yield row("IDs per second, one processor", name, value, "/s", None, f"{BATCH_GOAL / 1e6:.0f} M/s", value >= BATCH_GOAL, note)
        else:
            most = 16 * 4096e3 if "sixteen" in name else 4096e3
            yield row("IDs per second, one processor", name, value, "/s", note=f"the layout has {most / 1e6:.1f} M/s")


def id_rate(found):
    return {"ids_per_s": found["ids"] / found["seconds"]}


def sustained(bench):
    plain = {f"FIRN.NEW snowflake, pipelining {p}": ("plain", ("FIRN.NEW", "snowflake"), p) for p in PIPELINES}
    plain["GET /v1/new/snowflake"] = ("plain http", (PLAIN,), 1)
    # Long enough that the median is of a time when the lead over the clock is used up.
    found = medians(1, plain, lambda one: bench.load(*one, seconds=SUSTAINED_S), "per_s")
    for name, value in found.items():
        yield row("plain snowflake, sustained", name, value, "/s", note="the layout has 4.1 M/s")


def web(bench, rounds):
    nginx, ours = "nginx, return 200", "GET /v1/new/snowflake?format=text"
    contestants = {nginx: ("nginx", ("/",)), ours: ("plain http", (PLAIN,))}
    most = medians(rounds, contestants, lambda one: bench.load(*one), "per_s")
    rate = OFFERED * min(most.values())
    found = medians(rounds, contestants, lambda one: bench.load(*one, rate=rate), "cpu_ns")
    table = f"HTTP, {rate:,.0f} requests per second offered"
    yield row(table, nginx, found[nginx], "ns")
    ratio = found[ours] / found[nginx]
    yield row(table, ours, found[ours], "ns", ratio, f"at most {HTTP_GOAL} x", ratio <= HTTP_GOAL, "compared with nginx")
    for name, value in most.items():
        yield row("HTTP, requests per second", name, value, "/s")


def idle(bench):
    """Memory with clients that have each asked once."""
    files = serving.raise_files()
    if files < IDLE + 100:
        yield row("memory", f"{IDLE:,} idle connections", None, "MiB", note=f"not measured: {files} files at most (ulimit -n)")
        return
    server = serving.Server(f"{bench.folder}/idle", bench.program, WIDE, max_connections=2 * IDLE).start()
    before = serving.rss_kib(server.pid) / 1024
    clients = []
    for _ in range(IDLE):
        clients.append(server.client())
        clients[-1].ask("FIRN.NEW", "wide")
    after = serving.rss_kib(server.pid) / 1024
    for client in clients:
        client.close()
    server.end()
    yield row("memory", "started", before, "MiB")
    goal = f"below {IDLE_GOAL_MIB} MiB"
    yield row("memory", f"{IDLE:,} idle connections", after, "MiB", None, goal, after < IDLE_GOAL_MIB, "each has sent one request")


def first_id_ms(server):
    begin = time.monotonic()
    server.start(wait=False)
    while True:
        try:
            with server.client() as client:
                client.ask("FIRN.NEW", "snowflake")
            return (time.monotonic() - begin) * 1e3
        except (OSError, EOFError):
            if server.process.poll() is not None or time.monotonic() > begin + serving.PATIENCE_S:
                server.answers()  # says why, if the server has ended
                raise
            time.sleep(0.0002)


def starting(bench):
    """From exec to the first reply: with a new store, and with one that was there."""
    again, fresh = [], []
    for i in range(STARTS):
        server = serving.Server(f"{bench.folder}/start{i}", bench.program)
        for times in (fresh, again):
            times.append(first_id_ms(server))
            server.end()
    table = "from start to the first ID"
    goal = f"below {START_GOAL_MS} ms"
    for name, times in (("an existing store", again), ("a new store", fresh)):
        median = statistics.median(times)
        yield row(table, name, median, "ms", None, goal, median < START_GOAL_MS, f"median of {STARTS}, maximum {max(times):.0f} ms")


# ---- the report --------------------------------------------------------------------------------------------------------


def told(value, unit):
    if value is None:
        return "-"
    if unit == "/s":
        return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.0f} k"
    return f"{value:,.0f} {unit}" if unit == "ns" and value >= 100 else f"{value:.1f} {unit}"


def judged(one):
    return "" if one["goal"] is None else f"{one['goal']}: {'met' if one['met'] else 'missed'}"


def print_tables(rows):
    """As Markdown has them, and to be read as they are."""
    for table in dict.fromkeys(one["table"] for one in rows):
        lines = [("", "", "ratio", "goal", "")]
        for one in (one for one in rows if one["table"] == table):
            ratio = "" if one["ratio"] is None else f"{one['ratio']:.2f} x"
            lines.append((one["name"], told(one["value"], one["unit"]), ratio, judged(one), one["note"]))
        widths = [max(len(line[i]) for line in lines) for i in range(5)]
        print(f"\n{table[0].upper()}{table[1:]}\n")
        for number, line in enumerate(lines):
            print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() + " |")
            if number == 0:
                print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one line of JSON per figure")
    parser.add_argument("--write", metavar="FILE", help="write the tables into it, between the two marks")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.8, help="length of each measurement")
    parser.add_argument("build", nargs="?", default=f"{HERE}/../../build")
    said = parser.parse_args()
    said.build = os.path.abspath(said.build)  # nginx reads paths from its own folder on
    folder = tempfile.mkdtemp(prefix="bench-server.", dir=said.build)  # on a disk, as the build is
    bench = Bench(said.build, folder, said.seconds)
    try:
        bench.start_all()
        rows, rates = throughput(bench, said.rounds)
        rows = [*cost(bench, said.rounds, rates), *rows, *batch(bench, said.rounds), *web(bench, said.rounds)]
        rows += sustained(bench)
        bench.end_all()
        rows += [*starting(bench), *idle(bench)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if said.json:
        for one in rows:
            print(json.dumps({key: value for key, value in one.items() if value not in (None, "")}))
        return
    print_tables(rows)
    if said.write:
        with open(said.write) as file:
            text, _, after = file.read().partition(MARK)
        with open(said.write, "w") as file, contextlib.redirect_stdout(file):
            print(f"{text}{MARK}")
            print_tables(rows)
            print(f"\n{END}{after.partition(END)[2]}", end="")
    print()
    if not bench.apart:
        print("Servers and load generator share one processor here: the figures say little.")
    for words, pipeline in sorted(bench.saturated):
        print(f"The load generator was busy all the time: {words}, pipelining {pipeline}.")


if __name__ == "__main__":
    main()
