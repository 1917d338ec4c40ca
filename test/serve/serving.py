# SPDX-License-Identifier: MIT
"""A firn-serve for tests and benches: on free ports of loopback, with its own folder, asked over RESP and HTTP,
ended by its pid. Every wait is bounded; when the process that made it is gone, so is the server."""
import ctypes
import os
import random
import re
import resource
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

PATIENCE_S = 60  # for what does not depend on the server's own bounds: nothing here supposes a fast machine
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


class Refused(Exception):
    """An error reply."""


def wait_for(what, test, patience_s=PATIENCE_S, step_s=0.02):
    """The first true result of test(), tried again and again."""
    end = time.monotonic() + patience_s
    while True:
        found = test()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"after {patience_s} s still waiting for {what}")
        time.sleep(step_s)


def free_port(claims=[]):
    """No other test gets this port while this process runs: a name in the kernel claims it, which only one socket can have.
    Below the ports that the kernel hands out to clients, since a test may have thousands, and above test/engine's."""
    for _ in range(100):
        port = random.randrange(26000, 32000)
        claim = socket.socket(socket.AF_UNIX)
        with socket.socket() as probe:
            try:
                claim.bind(f"\0firn-test-port-{port}")
                probe.bind(("127.0.0.1", port))
                claims.append(claim)
                return port
            except OSError:
                claim.close()
    raise OSError("no free port")


def raise_files(most=None):
    """Open files that this process and its children may have; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = hard if most is None else min(most, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def start(words, log, core=None, files=None, environment=None):
    """A process that ends with this one, on one processor, with that many open files."""

    def prepare():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if core is not None:
            os.sched_setaffinity(0, {core})
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    with open(log, "ab") as out:
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=prepare, env={**os.environ, **(environment or {})}
        )


def rss_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1])


def cpu_ns(pid):
    """Of all its threads."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat") as stat:
                total += int(stat.read().split()[0])
        except FileNotFoundError:
            pass  # it has ended
    return total


class Client:
    """One connection that speaks RESP2, byte by byte where a test needs that."""

    def __init__(self, port, timeout_s=PATIENCE_S, source="127.0.0.1"):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s, source_address=(source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", buffering=1 << 16)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def read(self):
        """One reply; an error is returned, not raised; EOFError when the server has closed."""
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError("the server closed the connection")
        kind, text = line[:1], line[1:-2]
        if kind == b"+":
            return text.decode()
        if kind == b"-":
            return Refused(text.decode(errors="replace"))
        if kind == b":":
            return int(text)
        if kind == b"$":
            if int(text) < 0:
                return None
            body = self.file.read(int(text) + 2)
            if len(body) != int(text) + 2:
                raise EOFError("the server closed the connection within a reply")
            return body[:-2].decode(errors="replace")
        if kind == b"*":
            return [self.read() for _ in range(int(text))]
        raise ValueError(f"no reply of RESP2: {line!r}")

    def ask(self, *words):
        self.send(command(*words))
        reply = self.read()
        if isinstance(reply, Refused):
            raise reply
        return reply

    def is_closed(self, patience_s=PATIENCE_S):
        """Does the server close within that time? What it still says is read and dropped."""
        self.socket.settimeout(patience_s)
        try:
            while self.file.read1(1 << 16):
                pass
            return True
        except ConnectionError:
            return True
        except TimeoutError:
            return False


def command(*words):
    data = [b"*%d\r\n" % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        data.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(data)


class Server:
    """firn-serve with firn.ini in `folder`: settings of [server] by name, and sections of generators and segments.
    `before`: words in front of the command, of a program that executes it."""

    def __init__(self, folder, program, sections="", core=None, files=None, environment=None, before=(), **settings):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.folder, self.words = folder, [*before, program, "--config", f"{folder}/firn.ini"]
        self.core, self.files, self.environment = core, files, environment
        self.port, self.http = free_port(), free_port()
        self.log = f"{folder}/log"
        self.process = None
        self.configure(sections, **settings)

    def configure(self, sections="", **settings):
        """The state when the server next starts or reloads."""
        all_ = {
            "resp": f"127.0.0.1:{self.port}",
            "http": f"127.0.0.1:{self.http}",
            "store": f"sqlite:{self.folder}/firn.db?create=yes",
            "wait": f"{PATIENCE_S * 1000}ms",  # the store's disk may be slow
            **settings,
        }
        with open(f"{self.folder}/firn.ini", "w") as ini:
            ini.write("[server]\n")
            ini.writelines(f"{name} = {value}\n" for name, value in all_.items())
            ini.write(sections)

    def start(self, wait=True):
        self.process = start(self.words, self.log, self.core, self.files, self.environment)
        if wait:
            wait_for("the server's first answer", self.answers)
        return self

    def answers(self):
        if self.process.poll() is not None:
            with open(self.log, errors="replace") as log:
                raise ChildProcessError(f"the server ended with {self.process.returncode}: {log.read()[-2000:]}")
        try:
            with Client(self.port, timeout_s=5) as client:
                client.send(command("PING"))
                reply = client.read()
                return reply == "PONG" or "NOAUTH" in str(reply)
        except (OSError, EOFError):
            return False

    @property
    def pid(self):
        return self.process.pid

    def client(self, **options):
        return Client(self.port, **options)

    def get(self, path, token=None):
        """Status and text of an HTTP request."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.http}{path}")
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metrics(self, token=None):
        """Each line of /metrics by its name with its labels."""
        _, text = self.get("/metrics", token)
        return dict(line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def end(self):
        """SIGTERM; returns the status, below 0 for a signal."""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return "none: it did not end"
