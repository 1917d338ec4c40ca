# SPDX-License-Identifier: MIT
"""How long small requests take while one client requests 65536 IDs at a time: for one firn-serve or several builds of
it, in turns, each on one processor.

    python3 bench/server/latency.py [--rounds N] [--seconds S] NAME=PATH/TO/firn-serve..."""
import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "serve"))
import serving  # noqa: E402
import http.client  # noqa: E402

SECTIONS = """
[generator wide]
scheme = 0x0:1 time:41/ms node:4 sequence:18
"""
BIG = 65536


def first(name_and_path):
    name, path = name_and_path.split("=", 1)
    return name, os.path.abspath(path)


def preferred(pid, priority):
    """Runs before other programs (if root measures): before the big client, too, with priority 2."""
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            os.sched_setscheduler(int(task), os.SCHED_RR if priority else os.SCHED_OTHER, os.sched_param(priority))
        except (PermissionError, ProcessLookupError):
            pass


def resp_times(server, seconds):
    ask = serving.command("FIRN.NEW", "wide")
    times, end = [], time.monotonic() + seconds
    with server.client() as client:
        while time.monotonic() < end:
            begun = time.perf_counter_ns()
            client.send(ask)
            client.socket.recv(4096)
            times.append(time.perf_counter_ns() - begun)
            time.sleep(0.0005)
    return times


def http_times(server, seconds):
    times, end = [], time.monotonic() + seconds
    connection = http.client.HTTPConnection("127.0.0.1", server.http)
    while time.monotonic() < end:
        begun = time.perf_counter_ns()
        connection.request("GET", "/v1/new/wide?format=text")
        connection.getresponse().read()
        times.append(time.perf_counter_ns() - begun)
        time.sleep(0.0005)
    connection.close()
    return times


HTTP_CLIENT = """
import http.client
connection = http.client.HTTPConnection("127.0.0.1", {port})
while True:
    connection.request("GET", "/v1/new/wide?format=text&n={big}")
    reply = connection.getresponse()
    assert reply.status == 200 and reply.read().count(b"\\n") == {big}
"""


def big_client(load, server, http_, core):
    if http_:
        return subprocess.Popen([sys.executable, "-c", HTTP_CLIENT.format(port=server.http, big=BIG)])
    words = ["--port", str(server.port), "--connections", "1", "--seconds", "1000", "--core", str(core)]
    return subprocess.Popen([load, *words, "FIRN.NEW", "wide", "COUNT", str(BIG)], stdout=subprocess.DEVNULL)


def quantile(times, q):
    return sorted(times)[min(len(times) - 1, int(len(times) * q))] / 1e6


def measure(server, load, http_, loaded, seconds, core):
    big = big_client(load, server, http_, core) if loaded else None
    try:
        time.sleep(0.2)
        preferred(server.pid, 1)
        preferred("self", 2)
        if big is not None:
            preferred(big.pid, 1)
        times = (http_times if http_ else resp_times)(server, seconds)
        if big is not None and big.poll() is not None:
            raise ChildProcessError("the big client has ended")
        return times
    finally:
        preferred(server.pid, 0)
        preferred("self", 0)
        if big is not None:
            big.kill()
            big.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--load", default="build/bench/firn_load")
    parser.add_argument("programs", nargs="+", type=first, metavar="NAME=PATH")
    told = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1]})
    with tempfile.TemporaryDirectory() as folder:
        servers = {}
        for name, path in told.programs:
            server = serving.Server(f"{folder}/{name}", path, SECTIONS, core=cores[0], loops=1, http_threads=1, unsafe="on")
            servers[name] = server.start()
            serving.wait_for("readiness", lambda: server.get("/readyz")[0] == 200, 10)
        all_ = {}
        for _ in range(told.rounds):
            for http_ in (False, True):
                for loaded in (False, True):
                    for name, server in servers.items():
                        key = ("HTTP" if http_ else "RESP", loaded, name)
                        all_.setdefault(key, []).extend(measure(server, told.load, http_, loaded, told.seconds, cores[-1]))
        for server in servers.values():
            server.end()
    for (protocol, loaded, name), times in all_.items():
        print(
            f"{protocol} {'next to COUNT 65536' if loaded else 'alone':18} {name:8} {len(times):6} requests"
            f"  median {quantile(times, 0.5):.3f}  p99 {quantile(times, 0.99):.3f}  maximum {max(times) / 1e6:.3f} ms"
        )


main()
