# SPDX-License-Identifier: MIT
"""docs/reference/stores.md prints the requests that the stores on etcd and ZooKeeper send: compares the page with what firn says
to real engines, by way of a proxy that records it. Statements and scripts are in test/printed_pure_test.c."""

import base64
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading

FIRN = os.environ["FIRN"]
SCRATCH = os.environ["TMPDIR"]
LIMIT_S = 120
number = 0


def tell(passed, title, why=""):
    global number
    number += 1
    print(f"{'ok' if passed else 'not ok'} {number} - {title}{why}", flush=True)
    return passed


class Recorder:
    """Hands on what comes to a port of loopback, and keeps what the clients say, by connection."""

    def __init__(self, to):
        self.to, self.said = to, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(self.to)
            record = bytearray()
            self.said.append(record)
            threading.Thread(target=self.copy, args=(client, server, record), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client, None), daemon=True).start()

    @staticmethod
    def copy(source, target, record):
        try:
            while data := source.recv(65536):
                if record is not None:
                    record += data
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def printed(heading, language):
    """The blocks of a language below a heading of the page."""
    with open("docs/reference/stores.md", encoding="utf-8") as page:
        text = page.read().split("## Writing your own client")[1].split(f"\n### {heading}\n")[1]
    text = re.split(r"\n##+ ", text)[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


# ---- etcd -----------------------------------------------------------------------------------------------------------


def bodies(said):
    """The bodies of the HTTP requests on a connection."""
    while said:
        head, said = bytes(said).split(b"\r\n\r\n", 1)
        length = int(re.search(rb"content-length: *(\d+)", head, re.I).group(1))
        yield json.loads(said[:length])
        said = said[length:]


def plain(value, name=""):
    """A request as the page prints it, with * where it has a word in capitals or a number."""
    if isinstance(value, dict):
        return {key: plain(it, key) for key, it in value.items()}
    if isinstance(value, list):
        return [plain(it) for it in value]
    if name in ("modRevision", "value", "revision"):
        return "*"
    return value


def decoded(value, name=""):
    if isinstance(value, dict):
        return {key: decoded(it, key) for key, it in value.items()}
    if isinstance(value, list):
        return [decoded(it) for it in value]
    return base64.b64decode(value).decode() if name in ("key", "value", "rangeEnd") else value


def check_etcd(recorder):
    sent = [plain(decoded(body)) for said in recorder.said for body in bodies(bytes(said))]
    blocks = [plain(json.loads(block)) for block in printed("etcd", "json")]
    for i, block in enumerate(blocks):
        if not tell(block in sent, f"docs/reference/stores.md, etcd: block {i + 1} is what firn sends"):
            print("#", block)
    for body in sent:
        if ("compare" in body or "success" in body or "rangeEnd" in body) and body not in blocks:
            tell(False, "docs/reference/stores.md prints each request to etcd")
            print("#", body)
            return
    tell(True, "docs/reference/stores.md prints each request to etcd")


# ---- ZooKeeper ------------------------------------------------------------------------------------------------------

NAMES = {1: "create", 4: "get", 5: "set", 13: "check"}


def text_at(data, at):
    (length,) = struct.unpack_from(">i", data, at)
    length = max(length, 0)
    return data[at + 4 : at + 4 + length].decode(), at + 4 + length


def operation(kind, data, at):
    """An operation of a multi, as the page prints it, and where the next one begins."""
    path, at = text_at(data, at)
    if kind in (1, 5):  # its data
        (length,) = struct.unpack_from(">i", data, at)
        at += 4 + max(length, 0)
    if kind == 1:  # rights, flags
        (count,) = struct.unpack_from(">i", data, at)
        at += 4
        for _ in range(count):
            _, at = text_at(data, at + 4)
            _, at = text_at(data, at)
    return f"{NAMES[kind]} {path}" + (" *" if kind != 1 else ""), at + 4  # flags or a version


def requests(said):
    """The requests of a connection: lists of operations, all at once or one."""
    at, first = 0, True
    while at + 4 <= len(said):
        (length,) = struct.unpack_from(">i", said, at)
        frame = said[at + 4 : at + 4 + length]
        at += 4 + length
        if first or len(frame) < 8:  # the session
            first = False
            continue
        _, kind = struct.unpack_from(">ii", frame, 0)
        if kind == 4:
            yield "get", [f"get {text_at(frame, 8)[0]}"]
        elif kind == 5:
            yield "set", [operation(5, frame, 8)[0]]
        elif kind == 14:
            ops, where = [], 8
            while True:
                kind, done = struct.unpack_from(">i?", frame, where)
                if done:
                    break
                op, where = operation(kind, frame, where + 9)
                ops.append(op)
            yield "multi", ops


def check_zookeeper(recorder):
    sent = [it for said in recorder.said for it in requests(bytes(said))]
    asked = [ops[0] for kind, ops in sent if kind == "get"]
    for i, block in enumerate(printed("ZooKeeper", "zookeeper")):
        wanted = [re.sub(r" [A-Z]+$", " *", line) for line in block.splitlines()]
        if wanted[0].startswith("get"):
            found = any(asked[j : j + len(wanted)] == wanted for j in range(len(asked)))
        else:
            found = any(ops == wanted for _, ops in sent)
        if not tell(found, f"docs/reference/stores.md, ZooKeeper: block {i + 1} is what firn sends"):
            print("#", sent)


# ---- both -----------------------------------------------------------------------------------------------------------


def check(kind, judge):
    folder = f"{SCRATCH}/engine-{kind}"
    environment = dict(os.environ, ENGINE_OWNER=str(os.getpid()))
    started = subprocess.run(["test/engine", "start", kind, folder], env=environment, stdout=subprocess.PIPE, text=True,
                             timeout=LIMIT_S, check=False)
    if started.returncode == 77:
        tell(True, f"docs/reference/stores.md prints what firn says to {kind}", " # SKIP it is not installed")
        return
    if not tell(started.returncode == 0, f"{kind} starts"):
        return
    try:
        url = started.stdout.splitlines()[0]
        host, port = re.search(r"//(?:[^@/]*@)?([^:/,?]+):(\d+)", url).groups()
        recorder = Recorder((host, int(port)))
        url = url.replace(f"{host}:{port}", f"127.0.0.1:{recorder.port}", 1)
        new = [FIRN, "new", "snowflake", "datacenter=0", "worker=17", "window=1s", "--store", url]
        for command in (new, [*new, "mode=window"], [FIRN, "nodes", "--store", url]):
            said = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S,
                                  check=False)
            if said.returncode != 0:
                tell(False, f"firn works with {kind}")
                print("#", said.stderr)
                return
        judge(recorder)
    finally:
        subprocess.run(["test/engine", "stop", folder], env=environment, timeout=LIMIT_S, check=False)


check("etcd", check_etcd)
check("zookeeper", check_zookeeper)
print(f"1..{number}")
sys.exit(0)
