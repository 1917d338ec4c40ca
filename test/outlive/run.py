# SPDX-License-Identifier: MIT
"""Engines that are stopped while the processes of some machines, each with its reserve, end and start at random: no ID is
issued twice, and while the engine is stopped no process is refused and each machine issues all the time.

    run.py ENGINE...        postgres mysql redis etcd zookeeper; one after the other, or all at once with TOGETHER=1

    OUTAGE=60      seconds without the engine           RESTORE=1  the engine comes back with an older copy of its data
    MACHINES=2     with a reserve each                  SERVERS=1  on one machine: a server that restarts, and a rolling
    PROCESSES=3    of each machine                                 deployment of three; each request must be answered
    BATCH=1        IDs of a call                        PAUSE=3    seconds that a machine may issue nothing
    PERIOD=20      ms between two calls                 KEEP=1     leaves the files of IDs in TMPDIR
    STOP=halt      or kill, or pause (it hangs)         AFTER=20   seconds with the engine again

A machine is a folder with the file of a reserve, and as root also namespaces of mounts (with a separate /etc/machine-id)
and of processes. A process opens a generator, issues, and after 0.5 to 8 s ends, or is killed (one of three) and gives
nothing back. A request goes to the next server when one does not accept it."""
import http.client
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import traceback

sys.path.insert(0, "test/serve")
import serving  # noqa: E402
import tap  # noqa: E402

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
TMPDIR = os.environ.get("TMPDIR", "/var/tmp")
OUTLIVE, FIRN = f"{BUILD}/test/outlive", os.environ.get("FIRN", f"{BUILD}/bin/firn")


def setting(name, default):
    return int(os.environ.get(name, default))


OUTAGE_S, MACHINES, PROCESSES = setting("OUTAGE", 60), setting("MACHINES", 2), setting("PROCESSES", 3)
BATCH, PERIOD_MS, PAUSE_S = setting("BATCH", 1), setting("PERIOD", 20), setting("PAUSE", 3)
RESTORE, SERVERS, AFTER_S = setting("RESTORE", 0), setting("SERVERS", 0), setting("AFTER", 20)
STOP = os.environ.get("STOP", "halt")
LIFE_S = (0.5, 8)
NODES = min(64, 3 * PROCESSES + (8 if SERVERS else 0))  # a killed process leaves its node busy for up to 10 s
KEYS = "ns=outlive reach=1h reserve=1h reserve_nodes=%d mode=window unsafe=1 store=%s reserve_path=%s/reserve.db"


def wait(seconds):
    threading.Event().wait(seconds)


# ---- a machine -----------------------------------------------------------------------------------


class Machine:
    """The process of a machine: it starts and ends others until its standard input is closed."""

    def __init__(self, folder, url, serves):
        self.folder, self.url = folder, url
        self.keys = KEYS % (NODES, url, folder)
        self.ending = threading.Event()
        self.threads = [threading.Thread(target=self.live, args=(p,)) for p in range(PROCESSES)]
        self.clients = [Requests(self, "alone", 1), Requests(self, "rolling", 3)] if serves else []

    def run(self):
        for client in self.clients:
            self.threads += client.begin()
        for thread in self.threads:
            thread.start()
        sys.stdin.read()
        self.ending.set()
        for thread in self.threads:
            thread.join(90)

    def live(self, which):
        dice = random.Random(f"{self.folder} {which}")
        with open(f"{self.folder}/{which}.log", "ab") as log:
            for life in itertools.count():
                if self.ending.is_set():
                    return
                words = ["issue", self.keys, f"{self.folder}/{which}.{life}.ids", str(BATCH), str(PERIOD_MS)]
                process = subprocess.Popen([OUTLIVE, *words], stdout=log, stderr=log)
                try:
                    process.wait(dice.uniform(*LIFE_S))
                    wait(0.2)  # it was refused
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL if dice.random() < 1 / 3 else signal.SIGTERM)
                    process.wait()


class Requests:
    """Servers of one machine that restart in turn, and a client of them."""

    def __init__(self, machine, name, count):
        self.machine, self.name = machine, name
        sections = (f"[generator orders]\nscheme = snowflake\nns = outlive\nreach = 1h\nreserve = 1h\n"
                    f"reserve_nodes = {NODES}\nunsafe = 1\nreserve_path = {machine.folder}/reserve.db\n")
        self.servers = [serving.Server(f"{machine.folder}/{name}.{i}", f"{BUILD}/bin/firn-serve", sections,
                                       store=machine.url) for i in range(count)]

    def begin(self):
        for server in self.servers:
            server.start()
        return [threading.Thread(target=self.restart), threading.Thread(target=self.ask)]

    def restart(self):
        """Each waits until the last one is ready again, as a deployment does."""
        dice = random.Random(self.name)
        for server in itertools.cycle(self.servers):
            if self.machine.ending.wait(dice.uniform(1, 5)):
                break
            server.process.send_signal(signal.SIGKILL if dice.random() < 1 / 4 else signal.SIGTERM)
            server.process.wait()
            server.start()
        for server in self.servers:
            server.process.terminate()
            server.process.wait()

    def ask(self):
        """The line of a request: when, how long it took, and the status of each server that was asked."""
        with open(f"{self.machine.folder}/{self.name}.requests", "w", encoding="ascii") as log, \
                open(f"{self.machine.folder}/{self.name}.ids", "wb") as out:
            for turn in itertools.count():
                if self.machine.ending.is_set():
                    return
                begun, said, ids = time.time(), [], []
                while not ids and time.time() < begun + 30:
                    status, ids = self.ask_one(self.servers[(turn + len(said)) % len(self.servers)])
                    said.append(str(status))
                    if not ids and len(said) % len(self.servers) == 0:
                        wait(0.05)
                took = time.time() - begun
                log.write(f"{begun:.3f} {took:.3f} {' '.join(said)}\n")
                head = (int(begun * 1000), int((begun + took) * 1000) + 1, len(ids))
                if ids:
                    out.write(b"".join(int(one).to_bytes(8, "little") for one in (*head, *ids)))
                wait(0.02)

    @staticmethod
    def ask_one(server):
        """The status and the IDs. 0: it did not accept the request."""
        connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=30)
        try:
            connection.request("GET", "/v1/new/orders?n=100")
            reply = connection.getresponse()
            body = reply.read()
            return reply.status, json.loads(body)["ids"] if reply.status == 200 else []
        except (OSError, http.client.HTTPException):
            return 0, []
        finally:
            connection.close()


# ---- all of them ---------------------------------------------------------------------------------


def unshared(folder):
    """The words before the process of a machine, or none."""
    command = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child=KILL"]
    works = os.geteuid() == 0 and os.path.exists("/etc/machine-id") and \
        subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    if not works:
        return []
    with open(f"{folder}/machine-id", "w", encoding="ascii") as file:
        file.write(f"{random.getrandbits(128):032x}\n")
    return [*command, "sh", "-c", 'mount --bind "$0" /etc/machine-id && exec "$@"', f"{folder}/machine-id"]


class Run:
    """An engine and its machines."""

    def __init__(self, engine):
        self.engine, self.folder = engine, f"{TMPDIR}/{engine}"
        self.machines, self.processes = [f"{self.folder}/machine{which}" for which in range(MACHINES)], []
        self.namespaces, self.url = False, ""

    def do(self, *words):
        return subprocess.run(["test/engine", *words[:1], *(self.engine,) * (words[0] == "start"), f"{self.folder}/engine"],
                              stdout=subprocess.PIPE, text=True, check=words[0] != "start")

    def begin(self):
        for which, folder in enumerate(self.machines):
            os.makedirs(folder)
            before = unshared(folder)
            self.namespaces = bool(before)
            words = [sys.executable, __file__, "--machine", folder, self.url, str(int(SERVERS and which == 0))]
            self.processes.append(subprocess.Popen([*before, *words], stdin=subprocess.PIPE))

    def end(self):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            process.wait(120)

    def filled(self):
        def held(folder):
            listed = subprocess.run([FIRN, "reserve", f"reserve_path={folder}/reserve.db", "--json"], capture_output=True,
                                    check=False)
            return listed.stdout.count(b"\n")
        serving.wait_for("full reserves", lambda: all(held(folder) >= NODES for folder in self.machines), 300, 0.5)

    def gives_back(self):
        for folder in self.machines:
            keys = (KEYS % (NODES, self.url, folder)).split()
            subprocess.run([FIRN, "reserve", "give-back", "snowflake", *keys], check=True)
            words = [FIRN, "reserve", f"reserve_path={folder}/reserve.db", "--json"]
            if subprocess.run(words, capture_output=True, check=True).stdout:
                return False
        return True

    def refused(self, first, last):
        lines = []
        for folder in self.machines:
            for which in range(PROCESSES):
                with open(f"{folder}/{which}.log", encoding="utf-8") as file:
                    lines += [line for line in file if line.startswith("refused") and first < int(line.split()[1]) < last]
        return lines

    def requests(self, first, last):
        """Of the servers: all, those that were sent again, those that were refused, the longest in s."""
        found = []
        for name in ("alone", "rolling"):
            with open(f"{self.machines[0]}/{name}.requests", encoding="ascii") as file:
                lines = [line.split() for line in file]
            found += [line for line in lines if first < float(line[0]) * 1000 < last]
        return len(found), sum(len(line) > 3 for line in found), \
            [line for line in found if line[-1] != "200" or set(line[2:]) > {"0", "200"}], max(float(line[1]) for line in found)

    @staticmethod
    def judge(first, last, folders):
        words = [OUTLIVE, "judge", str(first), str(last), *folders]
        return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout

    def torture(self):
        try:
            self.outlive()
        except Exception:
            tap.check(f"{self.engine}: the run ends as it should", False, traceback.format_exc())

    def outlive(self):
        started = self.do("start")
        if started.returncode == 77:
            tap.skip(f"{self.engine}: an outage of {OUTAGE_S} s", f"{self.engine} is not installed")
            return
        self.url = started.stdout.strip()
        try:
            self.begin()
            self.filled()
            if RESTORE:
                self.do("save")
                wait(70)  # each node is refilled
            self.do(STOP)
            first = int(time.time() * 1000)
            wait(OUTAGE_S)
            last = int(time.time() * 1000)
            self.do("restore" if RESTORE else "restart")
            back = int(time.time() * 1000)
            wait(AFTER_S)
            end = int(time.time() * 1000)
        finally:
            self.end()
        with lock:
            self.report(first, last, back, end)
        self.do("stop")

    def report(self, first, last, back, end):
        print("# %s: %d machines%s of %d processes" % (self.engine, MACHINES,
              " with namespaces" if self.namespaces else "", PROCESSES), flush=True)
        text = self.judge(first, last, self.machines)
        for line in text.splitlines():
            print(f"# {line.replace(TMPDIR + '/', '')}", flush=True)
        found = {word: [int(one) for one in re.findall(rf"{word} (-?\d+)", text)] for word in
                 ("ids", "twice", "planted", "processes", "pause_ms", "seconds_without", "ahead_ms", "behind_ms")}
        (ids,), twice, starts = found["ids"], found["twice"][-1], sum(found["processes"])
        tap.check(f"{self.engine}: {ids} IDs of {starts} processes, none twice", twice == 0, f"{twice} twice")
        tap.check(f"{self.engine}: an ID that is added once more is found", found["planted"] == [1])
        tap.check(f"{self.engine}: in {(last - first) / 1000:.0f} s without it, no machine pauses for {PAUSE_S} s",
                  max(found["pause_ms"]) <= PAUSE_S * 1000, f"{max(found['pause_ms'])} ms")
        refused = self.refused(first, last)
        tap.check(f"{self.engine}: and no process is refused", not refused, f"{len(refused)}: " + "".join(refused[:5]))
        ahead, behind = max(found["ahead_ms"]), max(found["behind_ms"])
        tap.check(f"{self.engine}: each ID has the time of its call, or up to max_lead later",
                  ahead <= 1000 and behind <= 0, f"{ahead} ms ahead, {behind} ms behind")
        if SERVERS:
            all_, again, lost, longest = self.requests(first, last)
            tap.check(f"{self.engine}: {all_} requests, {again} of them sent again as a server restarts, are all answered",
                      all_ and not lost, "\n".join(" ".join(line) for line in lost[:5]))
            print(f"# the longest took {longest:.2f} s", flush=True)
        pause_ms = 0
        for folder in self.machines:
            line = self.judge(back, end, [folder]).splitlines()[0]
            pause_ms = max(pause_ms, int(re.search(r"pause_ms (\d+)", line)[1]))
            print(f"# after the return: {line.replace(TMPDIR + '/', '')}", flush=True)
        tap.check(f"{self.engine}: {'with older data ' * RESTORE}it is back, and no machine pauses for {PAUSE_S} s",
                  pause_ms <= PAUSE_S * 1000, f"{pause_ms} ms")
        if self.engine != "redis" and not RESTORE:  # a loss: nothing is given back before the guard
            tap.check(f"{self.engine}: 'firn reserve give-back' leaves nothing in hand", self.gives_back())
        if not setting("KEEP", 0):
            for folder in self.machines:
                subprocess.run(["rm", "-rf", folder], check=True)


lock = threading.Lock()


def main():
    if sys.argv[1] == "--machine":
        Machine(sys.argv[2], sys.argv[3], sys.argv[4] == "1").run()
        return
    os.environ["ENGINE_OWNER"] = str(os.getpid())
    runs = [threading.Thread(target=Run(engine).torture) for engine in sys.argv[1:]]
    for run in runs:
        run.start()
        if not setting("TOGETHER", 0):
            run.join()
    for run in runs:
        run.join()
    sys.argv[1:] = []
    tap.run([])


if __name__ == "__main__":
    main()
