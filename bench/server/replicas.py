# SPDX-License-Identifier: MIT
"""How many `firn serve` share one PostgreSQL: starts N servers at once, kills half of them, stops the store for a while,
and prints what each step took and what clients saw. Use (make bench-replicas): replicas.py FIRN-SERVE [N...]"""
import concurrent.futures
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "test/serve")
import serving  # noqa: E402

OUTAGE_S = 20


def engine(*words):
    environment = {**os.environ, "ENGINE_OWNER": str(os.getpid())}
    return subprocess.run(["test/engine", *words], check=True, capture_output=True, text=True, env=environment).stdout.strip()


def connections(url):
    query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    return int(subprocess.run(["psql", "-qtAX", "-c", query, url], check=True, capture_output=True, text=True).stdout)


def is_ready(it):
    if it.process.poll() is not None:
        with open(it.log) as log:
            raise ChildProcessError(log.read()[-500:])
    try:
        return it.get("/readyz")[0] == 200
    except OSError:
        return False


def all_ready(servers, since):
    for it in servers:
        serving.wait_for("readiness", lambda it=it: is_ready(it))
    return time.monotonic() - since


def issue(it):
    """IDs of one request, or the error that the client sees."""
    with it.client() as client:
        client.send(serving.command("FIRN.NEW", "orders", "COUNT", 50))
        return client.read()


def from_all(servers):
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        replies = list(pool.map(issue, servers))
    return [id for reply in replies if isinstance(reply, list) for id in reply], [r for r in replies if not isinstance(r, list)]


def run(count, program, folder):
    url = engine("start", "postgres", f"{folder}/store", "-c", f"max_connections={count + 20}")
    section = "\n[generator orders]\nscheme = snowflake\n"
    few = {"store": url, "unsafe": "on", "loops": 1, "http_threads": 1, "wait": "1s"}
    servers = [serving.Server(f"{folder}/{i}", program, section, **few) for i in range(count)]
    ids = []
    try:
        since = time.monotonic()
        for it in servers:
            it.start(wait=False)
        print(f"{count} servers: all ready after {all_ready(servers, since):.1f} s")
        issued, refused = from_all(servers)
        ids += issued
        print(f"  {connections(url)} connections in PostgreSQL; {sum(serving.rss_kib(it.pid) for it in servers) / count / 1024:.1f} MiB a server")
        dead = servers[::2]
        for it in dead:
            it.kill()
        since = time.monotonic()
        for it in dead:
            it.start(wait=False)
        print(f"  half of them killed and started again: all ready after {all_ready(servers, since):.1f} s")
        issued, more = from_all(servers)
        ids, refused = ids + issued, refused + more
        engine("halt", f"{folder}/store")
        since, last, first = time.monotonic(), 0.0, None
        while time.monotonic() - since < OUTAGE_S:
            issued, errors = from_all(servers[:8])
            ids += issued
            last = time.monotonic() - since if issued else last
            first = first or (str(errors[0]) if errors else None)
        engine("restart", f"{folder}/store")
        since = time.monotonic()
        ready = all_ready(servers, since)
        print(f"  store gone for {OUTAGE_S} s: IDs for {last:.1f} s, then: {first}")
        print(f"  store back: all ready after {ready:.1f} s, without a restart")
        issued, more = from_all(servers)
        ids, refused = ids + issued, refused + more
        print(f"  {len(ids)} IDs, {len(ids) - len(set(ids))} duplicates; {len(refused)} requests refused while the store was there")
    finally:
        for it in servers:
            if it.process is not None and it.process.poll() is None:
                it.signal(signal.SIGTERM)
        for it in servers:
            if it.process is not None:
                it.process.wait(serving.PATIENCE_S)
        engine("stop", f"{folder}/store")


def main():
    for count in [int(word) for word in sys.argv[2:]] or [40, 200]:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)  # the user of the engine is another one
            run(count, sys.argv[1], folder)


main()
