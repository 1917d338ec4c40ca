#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a small request takes (PING, GET /healthz) while other connections wait for IDs of a generator that issues
too few, and how much memory an idle connection takes: for one firn-serve or several builds of it, in turns, each on
one processor.

    python3 bench/server/waiting.py [--waiting N] [--seconds S] [--rounds N] NAME=PATH/TO/firn-serve..."""
import argparse
import os
import select
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "serve"))
import serving  # noqa: E402

SECTIONS = "[generator slow]\nscheme = sonyflake\n"
ASK = {"RESP": serving.command("FIRN.NEW", "slow", "COUNT", "256"),
       "HTTP": b"GET /v1/new/slow?n=256&format=text HTTP/1.1\r\nHost: localhost\r\n\r\n"}
SMALL = {"RESP": serving.command("PING"), "HTTP": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"}


def connect(port):
    return socket.create_connection(("127.0.0.1", port))


def drive(protocol, port, count):
    """Keeps `count` requests waiting, for ever: each answer is followed by the next request."""
    clients, poll = {}, select.epoll()
    for _ in range(count):
        client = connect(port)
        clients[client.fileno()] = client
        client.sendall(ASK[protocol])
        poll.register(client, select.EPOLLIN)
    print("all wait", flush=True)
    while True:
        for number, _ in poll.poll():
            part = clients[number].recv(1 << 16)
            if not part:
                return
            if part.endswith(b"\n"):
                clients[number].sendall(ASK[protocol])


def probe(protocol, port, seconds):
    times, end = [], time.monotonic() + seconds
    with connect(port) as client:
        while time.monotonic() < end:
            begun = time.perf_counter_ns()
            client.sendall(SMALL[protocol])
            if not client.recv(4096):
                raise ConnectionError("the server closed the connection")
            times.append(time.perf_counter_ns() - begun)
            time.sleep(0.002)
    return times


def with_waiting(protocol, port, count, seconds, core):
    if count == 0:
        return probe(protocol, port, seconds)
    with subprocess.Popen([sys.executable, __file__, "--drive", protocol, str(port), str(count)], stdout=subprocess.PIPE,
                          preexec_fn=lambda: os.sched_setaffinity(0, {core})) as clients:
        try:
            clients.stdout.readline()
            return probe(protocol, port, seconds)
        finally:
            clients.kill()


def resident(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def idle_bytes(server, protocol, port, count):
    """Of a connection that has been answered once."""
    before, clients = resident(server.pid), []
    for _ in range(count):
        clients.append(connect(port))
        clients[-1].sendall(SMALL[protocol])
        clients[-1].recv(4096)
    taken = resident(server.pid) - before
    for client in clients:
        client.close()
    return taken / count


def quantile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] / 1e6


def main():
    if sys.argv[1:2] == ["--drive"]:
        serving.raise_files()
        drive(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("programs", nargs="+", metavar="NAME=PATH")
    told = parser.parse_args()
    serving.raise_files()
    cores = sorted(os.sched_getaffinity(0))
    times, idle = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        servers = {}
        for name, path in (program.split("=", 1) for program in told.programs):
            servers[name] = serving.Server(f"{folder}/{name}", os.path.abspath(path), SECTIONS, core=cores[0], loops=1,
                                           http_threads=1, unsafe="on").start()
            serving.wait_for("readiness", lambda server=servers[name]: server.get("/readyz")[0] == 200)
        for _ in range(told.rounds):
            for protocol in SMALL:
                for name, server in servers.items():
                    port = server.http if protocol == "HTTP" else server.port
                    for count in (0, told.waiting):
                        measured = with_waiting(protocol, port, count, told.seconds, cores[-1])
                        times.setdefault((protocol, count, name), []).extend(measured)
                    idle.setdefault((protocol, name), []).append(idle_bytes(server, protocol, port, 1000))
        for server in servers.values():
            server.end()
    for (protocol, count, name), measured in times.items():
        print(f"{protocol}, {count:4} waiting  {name:8} {len(measured):6} requests  median {quantile(measured, 0.5):7.3f}"
              f"  p99 {quantile(measured, 0.99):7.3f} ms")
    for (protocol, name), measured in idle.items():
        print(f"{protocol}, idle connection  {name:8} {max(measured):7.0f} bytes")


main()
