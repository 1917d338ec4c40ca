# SPDX-License-Identifier: MIT
"""Engines that are stopped while the processes of two machines, each with its reserve, end and start at random: no ID is
issued twice, and while the engine is stopped no process is refused and each machine issues all the time.

    reserve.py ENGINE...  [OUTAGE seconds, 60, and PROCESSES of each machine, 4, come from the environment]

A machine is a file of a reserve. A process opens a generator, issues an ID every 20 ms, and after 0.5 to 8 s ends, or is
killed (one of three) and gives nothing back."""
import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, "test/serve")
import tap  # noqa: E402

BUILD, TMPDIR = os.environ["BUILD"], os.environ["TMPDIR"]
OUTAGE_S, PROCESSES = int(os.environ.get("OUTAGE", "60")), int(os.environ.get("PROCESSES", "4"))
LIFE_S = (0.5, 8)
PAUSE_S = 3  # of a busy machine
KEYS = "ns=torture reach=1h reserve=1h reserve_nodes=%d mode=window unsafe=1 store=%s reserve_path=%s"


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("rest", ctypes.c_char * 36), ("text", ctypes.c_char * 480)]


def issue(keys, seconds, killed):
    """A process: prints the time of each call, and the ID."""
    library = ctypes.CDLL(f"{BUILD}/libfirn.so")
    gen, error, one = ctypes.c_void_p(), Error(), ctypes.c_uint64()
    end = time.monotonic() + seconds
    code = library.firn_open(ctypes.byref(gen), b"snowflake", keys.encode(), ctypes.byref(error))
    while code == 0 and time.monotonic() < end:
        code = library.firn_next_u64(gen, ctypes.byref(one), ctypes.c_size_t(1), ctypes.byref(error))
        if code == 0:
            os.write(1, b"%.3f %d\n" % (time.time(), one.value))
            time.sleep(0.02)
    if code != 0:
        os.write(1, b"refused %.3f %s\n" % (time.time(), bytes(error)[40:].split(b"\0")[0].replace(b"\n", b" ")))
    if killed:
        os.kill(os.getpid(), signal.SIGKILL)
    library.firn_close(gen, None)


class Machine:
    def __init__(self, engine, url, which):
        self.path = f"{TMPDIR}/{engine}.{which}"
        self.keys = KEYS % (2 * PROCESSES, url, f"{self.path}.db")
        self.ending = threading.Event()
        self.starts = 0
        self.threads = [threading.Thread(target=self.live, args=(p,), daemon=True) for p in range(PROCESSES)]

    def live(self, which):
        dice = random.Random(f"{self.path} {which}")
        with open(f"{self.path}.{which}.ids", "ab") as out:
            while not self.ending.is_set():
                words = [self.keys, str(dice.uniform(*LIFE_S)), str(int(dice.random() < 1 / 3))]
                self.starts += 1
                subprocess.run([sys.executable, __file__, "--issue", *words], stdout=out, check=False)

    def is_filled(self):
        listed = subprocess.run([os.environ["FIRN"], "reserve", f"reserve_path={self.path}.db", "--json"],
                                capture_output=True, check=False)
        return listed.stdout.count(b"\n") >= 2 * PROCESSES

    def read(self, first, last):
        """The IDs; of the time between, the longest pause and the refusals."""
        ids, times, refused = [], [first, last], []
        for which in range(PROCESSES):
            with open(f"{self.path}.{which}.ids", encoding="utf-8") as file:
                for line in file:
                    words = line.split()
                    if words[0] == "refused" and first < float(words[1]) < last:
                        refused.append(line.strip())
                    elif len(words) == 2 and line.endswith("\n"):
                        ids.append(int(words[1]))
                        times += [float(words[0])] if first < float(words[0]) < last else []
        times.sort()
        return ids, max(b - a for a, b in zip(times, times[1:])), refused


def wait(seconds):
    threading.Event().wait(seconds)


def filled(machines):
    end = time.monotonic() + 120
    while not all(machine.is_filled() for machine in machines) and time.monotonic() < end:
        wait(0.5)


def torture(engine):
    folder = f"{TMPDIR}/{engine}"
    started = subprocess.run(["test/engine", "start", engine, folder], capture_output=True, text=True, check=False)
    if started.returncode == 77:
        tap.skip(f"{engine}: an outage of {OUTAGE_S} s", f"{engine} is not installed")
        return
    url = started.stdout.strip()
    machines = [Machine(engine, url, which) for which in range(2)]
    for machine in machines:
        for thread in machine.threads:
            thread.start()
    filled(machines)
    subprocess.run(["test/engine", "halt", folder], check=True, stdout=subprocess.DEVNULL)
    first = time.time()
    wait(OUTAGE_S)
    last = time.time()
    subprocess.run(["test/engine", "restart", folder], check=True, stdout=subprocess.DEVNULL)
    wait(20)
    for machine in machines:
        machine.ending.set()
    for machine in machines:
        for thread in machine.threads:
            thread.join(60)
    subprocess.run(["test/engine", "stop", folder], check=False, stdout=subprocess.DEVNULL)
    read = [machine.read(first, last) for machine in machines]
    ids = [one for found, _, _ in read for one in found]
    refused = [line for _, _, lines in read for line in lines]
    pause_s = max(pause for _, pause, _ in read)
    starts = sum(machine.starts for machine in machines)
    with lock:
        tap.same(f"{engine}: {len(ids)} IDs of {starts} processes, none twice", 0, len(ids) - len(set(ids)))
        tap.check(f"{engine}: in {last - first:.0f} s without it, a machine issues nothing for {PAUSE_S} s at most",
                  pause_s <= PAUSE_S, f"{pause_s:.1f} s")
        print(f"# the longest pause: {pause_s:.2f} s", flush=True)
        tap.check(f"{engine}: and no process is refused", not refused, f"{len(refused)}: " + "\n".join(refused[:5]))


lock = threading.Lock()

if __name__ == "__main__":
    if sys.argv[1] == "--issue":
        issue(sys.argv[2], float(sys.argv[3]), sys.argv[4] == "1")
        sys.exit(0)
    os.environ["ENGINE_OWNER"] = str(os.getpid())
    for each in sys.argv[1:]:
        torture(each)
    tap.run([])
