# SPDX-License-Identifier: MIT
"""Calls that wait while a store is stopped, and their state in a fork: renewers, coroutines, signals, the end.

Each scenario runs in its own process. SQLite is stopped by a lock of another process, PostgreSQL by a proxy that keeps
what the client says. A call that waits where it must not, waits until the store continues, which is a failure. On a
busy machine several processes may hold the lock of one SQLite file for longer than the default of 5 s: busy=60s."""
import os
import subprocess
import sys
import tempfile
import unittest

PATIENCE_S = 300  # for anything to happen that must
POSTGRES = os.environ.get("FIRN_TEST_POSTGRES")

COMMON = r"""
import asyncio, ctypes, gc, multiprocessing, os, select, signal, socket, subprocess, sys, threading, time
import urllib.parse
real = sys.argv[1]

def threads():
    return len(os.listdir("/proc/self/task"))

at_fork = []
os.register_at_fork(before=lambda: [call() for call in at_fork])  # after the hook of firn
import firn

def until(what):
    end = time.monotonic() + 300
    while not what():
        assert time.monotonic() < end, "waited for 300 s"
        time.sleep(0.01)

class Locked:
    "A SQLite file."
    def __init__(self, busy):
        self.path, self.holder = real.partition(":")[2], None
        self.url = "%s?unsafe=1&busy=%dms" % (real, busy)

    def stop(self, seconds=3600):
        hold = ("import sqlite3, sys, select\nc = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)\n"
                "c.execute('BEGIN EXCLUSIVE')\nprint(1, flush=True)\nselect.select([0], [], [], %d)" % seconds)
        self.holder = subprocess.Popen([sys.executable, "-c", hold, self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.holder.stdout.readline()

    def go(self):
        self.holder.communicate()

class Proxied:
    "A server behind a proxy."
    def __init__(self, timeout):
        server = urllib.parse.urlsplit(real)
        self.server = (server.hostname, server.port)
        self.running, self.listener = threading.Event(), socket.create_server(("127.0.0.1", 0))
        self.running.set()
        port = self.listener.getsockname()[1]
        self.url = server._replace(netloc="%s@127.0.0.1:%d" % (server.netloc.rpartition("@")[0], port)).geturl().replace("//@", "//")
        self.url += "%stimeout=%dms&connect_timeout=%dms" % ("&" if server.query else "?", timeout, timeout)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            peer = socket.create_connection(self.server)
            for a, b in ((client, peer), (peer, client)):
                threading.Thread(target=self.carry, args=(a, b), daemon=True).start()

    def carry(self, a, b):
        try:
            while data := a.recv(65536):
                self.running.wait()
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def stop(self):
        self.running.clear()

    def go(self):
        self.running.set()

def store(patience_ms):
    return Locked(patience_ms) if real.startswith("sqlite:") else Proxied(patience_ms)
"""


class Scenario(unittest.TestCase):
    def run_on(self, url, code):
        # Python 3.12 and newer warn of threads at a fork, also of those that the test is about.
        warn = ["-W", "ignore:This process:DeprecationWarning"]
        done = subprocess.run([sys.executable, *warn, "-X", "faulthandler", "-c", COMMON + code, url], capture_output=True, text=True,
                              timeout=2 * PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout.split()

    def run_on_sqlite(self, code):
        with tempfile.TemporaryDirectory() as folder:
            return self.run_on("sqlite:%s/ids.db" % folder, code)

    def run_on_each(self, code):
        self.run_on_sqlite(code)
        if POSTGRES:
            with self.subTest("PostgreSQL"):
                self.run_on(POSTGRES, code)


class Coroutines(Scenario):
    def test_next_does_not_wait_while_slots_are_left(self):
        """The store is stopped and only a task of the loop lets it continue, long after the time of the renewal. If the process itself
        stops until the window has ended, a thread lets the store continue, and that proves nothing: again."""
        self.run_on_each(r"""
async def tried(number):
    at = store(60000)
    gen = firn.open("snowflake", store=at.url, window="6s", max_wait="60s", ns="n%d" % number)
    passed, by_thread = asyncio.Event(), []
    first = gen.next()
    at.stop()
    watch = threading.Timer(20, lambda: (by_thread.append(1), at.go()))
    watch.start()
    async def lets_go():
        await passed.wait()
        watch.cancel()
        if not by_thread:
            at.go()
    task, turns = asyncio.create_task(lets_go()), 0
    started = time.monotonic()
    while not by_thread and not task.done():
        try:
            gen.next()
        except firn.Error:
            break
        turns += 1
        await asyncio.sleep(0.001)
        if time.monotonic() - started > 4: # of 6 s; the renewal was due after 3
            passed.set()
    watch.cancel()
    await asyncio.wait_for(task, 300) if not by_thread else task.cancel()
    ok = not by_thread and gen.status()["store_errors"] == 0
    await asyncio.to_thread(gen.close)
    return ok

async def main():
    for number in range(3):
        if await tried(number):
            return
    sys.exit("the calls waited for the store")
asyncio.run(main())
""")

    def test_anext_waits_elsewhere(self):
        self.run_on_each(r"""
at = store(60000)
async def main():
    gen = firn.open("snowflake", store=at.url, max_wait="60s")
    at.stop()
    async def lets_go():
        for _ in range(100):
            await asyncio.sleep(0)
        at.go()
    task = asyncio.create_task(lets_go())
    id = await gen.anext()
    assert task.done() and id > 0 and await gen.anext() > id
    assert gen._now() is not None # without a thread
    gen.close()
asyncio.run(main())
""")

    def test_anext_of_segments_and_of_generators_that_wait(self):
        self.run_on_sqlite(r"""
async def main():
    url = real + "?unsafe=1&busy=60s"
    with firn.Segment("orders", kind="segment", step=100, store=url) as segment:
        got = [await segment.anext() for _ in range(50)]
        assert segment._now() == got[-1] + 1 and got == sorted(set(got)), got
    with firn.open("snowflake", store=url, mode="online") as gen:
        assert gen._now() is None and await gen.anext() < await gen.anext()
    with firn.open("uuid7") as gen:
        assert gen._now() is not None and (await gen.anext()).version == 7
    for closed in (gen, segment):
        try:
            await closed.anext()
        except firn.UsageError:
            continue
        sys.exit("closed, and issues")
asyncio.run(main())
""")

    def test_other_threads_run_while_a_call_asks_the_store(self):
        self.run_on_each(r"""
at = store(60000)
gen, out = firn.open("snowflake", store=at.url, mode="online", max_wait="60s"), []
at.stop()
thread = threading.Thread(target=lambda: out.extend([gen.next(), next(gen)]))
thread.start()
time.sleep(0.1)
at.go()
thread.join(300)
assert len(set(out)) == 2, out
""")


class Signals(Scenario):
    def test_a_signal_ends_the_wait_and_the_program(self):
        """The program ends with its renewer inside a call on the store: the lock ends with the program."""
        self.run_on_sqlite(r"""
at = store(600000)
gen = firn.open("snowflake", store=at.url)
at.stop()
holder = at.holder
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    gen.next()
except KeyboardInterrupt:
    print("interrupted")
assert holder.poll() is None
""")


class Forks(Scenario):
    def test_a_child_of_a_call_on_the_store_works(self):
        """The store continues 8 s after the fork began: longer than the C library waits."""
        self.run_on_each(r"""
at = store(60000)
gen = firn.open("snowflake", store=at.url, max_wait="60s")
if real.startswith("sqlite:"):
    at.stop(8)
else:
    at.stop()
    threading.Timer(8, at.go).start()
kept = []
waiting = threading.Thread(target=lambda: kept.append(gen.next()))
waiting.start()
time.sleep(1)
pid = os.fork()
if pid == 0:
    try:
        print(gen.next(), firn.open("snowflake", store=at.url).next(), flush=True)
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(7)
_, status = os.waitpid(pid, 0)
waiting.join()
assert status == 0 and len(kept) == 1, (status, kept)
gen.close()
""")

    def test_renewers_end_before_a_fork_and_begin_after_it(self):
        self.run_on_sqlite(r"""
url = real + "?unsafe=1&busy=60s"
gens = [firn.open("snowflake", store=url, window="1s") for _ in range(3)]
before = threads()
assert before == 1, "a thread of a generator that issued nothing"
ids = [gen.next() for gen in gens]
assert threads() == 4
queue, context = [], multiprocessing.get_context("fork")
for gen in gens: # renewed without a call, in parent and child
    renewals = gen.status()["renewals"]
    until(lambda: gen.status()["renewals"] > renewals)
at_fork += [lambda: most_threads.append(threads()), lambda: ids.append(gens[0].next()), lambda: ids.append(online.next())]
most_threads, online = [], firn.open("snowflake", store=url, mode="online")
pid = os.fork()
renewals = gens[0].status()["renewals"]
if pid == 0:
    assert threads() == 1
    print(gens[0].next(), flush=True)
    assert threads() == 2
    until(lambda: gens[0].status()["renewals"] > 1)
    for gen in gens:
        gen.close()
    os._exit(0 if threads() == 1 else 9)
assert most_threads == [1] and len(set(ids)) == 5, (most_threads, ids)
assert threads() == 4
until(lambda: gens[0].status()["renewals"] > renewals)
assert os.waitpid(pid, 0)[1] == 0
for gen in gens:
    gen.close()
assert threads() == 1
""")

    def test_a_host_that_forks_without_python(self):
        self.run_on_sqlite(r"""
url = real + "?unsafe=1&busy=60s"
gen = firn.open("snowflake", store=url, window="1s")
ids = [gen.next()]
for _ in range(20):
    reader, writer = os.pipe()
    pid = ctypes.PyDLL(None).fork()
    if pid == 0:
        os.write(writer, b"%d" % gen.next())
        gen.close()
        os._exit(0)
    ids += [int(os.read(reader, 100)), gen.next()]
    assert os.waitpid(pid, 0)[1] == 0
    os.close(reader), os.close(writer)
assert len(set(ids)) == 41
""")

    def test_a_child_closes_what_other_threads_of_its_parent_use(self):
        self.run_on_sqlite(r"""
gen, segment, end = firn.open("uuid7"), firn.Segment("a", store=real + "?unsafe=1&busy=60s"), threading.Event()
def work(call):
    while not end.is_set():
        call()
users = [threading.Thread(target=work, args=(call,)) for call in (lambda: gen.many(100000), segment.next)]
for user in users:
    user.start()
children = []
for _ in range(10):
    pid = os.fork()
    if pid == 0:
        try:
            gen.close(), segment.close()
            os._exit(0)
        except firn.Error as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
    children.append(os.waitpid(pid, 0)[1])
end.set()
for user in users:
    user.join()
assert children == [0] * 10, children
""")

    def test_workers_of_pools(self):
        """Threads of the parent issue IDs while pools start workers, of each kind."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "workers.py")
            with open(path, "w") as out:
                out.write(r"""
import multiprocessing, sys, threading
import firn
gen, url = None, "sqlite:%s/ids.db?unsafe=1&busy=60s" % sys.argv[1]

def work(_):
    global gen
    gen = gen or firn.open("snowflake", store=url)
    return [gen.next() for _ in range(5)] + gen.many(5)

if __name__ == "__main__":
    gen, end, out = firn.open("snowflake", store=url, window="500ms"), threading.Event(), []
    def issue():
        while not end.wait(0.002):
            out.append(gen.next())
    threads = [threading.Thread(target=issue) for _ in range(3)]
    for thread in threads:
        thread.start()
    for kind, count in (("fork", 60), ("forkserver", 6), ("spawn", 6)):
        with multiprocessing.get_context(kind).Pool(3, maxtasksperchild=1) as pool:
            ids = sum(pool.map(work, range(count), chunksize=1), [])
            assert len(ids) == 10 * count, kind
            out += ids
    end.set()
    for thread in threads:
        thread.join()
    gen.close()
    assert len(set(out)) == len(out)
    print(len(out) > 720)
""")
            done = subprocess.run([sys.executable, path, folder], capture_output=True, text=True, timeout=2 * PATIENCE_S)
            self.assertEqual((done.stdout, done.stderr, done.returncode), ("True\n", "", 0))


class Ends(Scenario):
    def test_a_generator_that_is_collected_ends_its_thread_and_gives_its_window_back(self):
        self.run_on_sqlite(r"""
url, ids = real + "?unsafe=1&busy=60s", []
for _ in range(20):
    # In use, if no window was given back:
    gens = [firn.open("snowflake", store=url, node=node, window="10s", max_wait="3s") for node in range(5)]
    ids += [gen.next() for gen in gens]
    assert threads() >= 6
    del gens
    gc.collect()
    until(lambda: threads() == 1)
assert len(set(ids)) == 100
gen = firn.open("snowflake", store=url)
gen.next()
""")

    def test_collecting_does_not_wait_for_the_store(self):
        self.run_on_sqlite(r"""
at = store(60000)
gen = firn.open("snowflake", store=at.url, window="1s")
gen.next()
at.stop()
del gen
at.go()
until(lambda: threads() == 1)
""")

    def test_without_a_thread_calls_renew(self):
        """If the system refuses the thread, a call renews in its own."""
        self.run_on_sqlite(r"""
import resource
if os.getuid() == 0:
    os.setgid(65534), os.chmod(os.path.dirname(real.partition(":")[2]), 0o777), os.setuid(65534)
gen = firn.open("snowflake", store=real + "?unsafe=1&busy=60s", window="500ms")
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
ids = [gen.next()]
if threads() > 1:
    sys.exit(0) # the limit does not hold here
claims = gen.status()["claims"]
until(lambda: ids.append(gen.next()) or gen.status()["claims"] + gen.status()["renewals"] > claims)
assert len(set(ids)) == len(ids)
gen.close()
""")


if __name__ == "__main__":
    unittest.main()
