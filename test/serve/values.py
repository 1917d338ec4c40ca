# SPDX-License-Identifier: MIT
"""Words that are empty, too long, binary or not UTF-8, in every place of every question of both protocols: each has one
well-formed reply, nothing of it comes from another connection or from uninitialised memory, and the server
continues. The second is what valgrind sees when test/run-all runs this over the build of `make memory`."""
import http.client
import os
import urllib.parse

import serving
import tap
from serving import Refused, command

TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
MARK = b"MARK-of-another-connection-"
ODD = [
    b"", b" ", b"\0", b"7\0", b"hex\0", b"-", b"-1", b"0", b"%s%n%.999999d", b"\xff\xfe", "é🦆".encode(), b"a=b", b"a:b", b"\x1b[31m", b"'", b"{}",
    b"18446744073709551616", b"1e9", b"9" * 40, b"2024-02-29", b"snowflake", b"uuid7", b"1541815603606036480",
    *(b"x" * length for length in (31, 32, 63, 64, 65, 190, 191, 192, 255, 256, 257, 300, 600, 1023, 1024, 1025, 2000)),
    b"9" * 300, b"time:41 " * 40, b"0x0:1 time:41/ms node:4 sequence:" + b"1" * 300,
]  # fmt: skip
HOLE = "?"
COMMANDS = """
?
FIRN.SHOW ?
FIRN.SHOW 7 SCHEME ?
FIRN.SHOW 7 SCHEME snowflake EPOCH ?
FIRN.SHOW 7 SCHEME snowflake BITS ?
FIRN.SHOW 7 SCHEME uuid7 DIGITS ?
FIRN.SHOW 7 FROM ?
FIRN.SHOW 7 ? 7
FIRN.CONVERT ? hex
FIRN.CONVERT 7 ?
FIRN.CONVERT 7 hex FROM ?
FIRN.CONVERT 7 hex SCHEME ?
FIRN.PACK ? time 2024-02-29
FIRN.PACK snowflake ? 7
FIRN.PACK snowflake time ?
FIRN.PACK snowflake worker ?
FIRN.PACK snowflake time 2024-02-29 AS ?
FIRN.PACK snowflake time 2024-02-29 EPOCH ?
FIRN.PACK typeid time 2024-02-29 PREFIX ?
FIRN.RANGE ? 2024-02-29 2024-03-01
FIRN.RANGE snowflake ? 2024-03-01
FIRN.RANGE snowflake 2024-02-29 ?
FIRN.RANGE snowflake 2024-02-29 2024-03-01 ? 7
FIRN.RANGE snowflake 2024-02-29 2024-03-01 worker ?
FIRN.RANGE snowflake 2024-02-29 2024-03-01 AS ?
FIRN.SCHEMES ?
FIRN.NODES ?
FIRN.NEW ?
FIRN.NEW snowflake ? 7
FIRN.NEW snowflake COUNT ?
FIRN.NEW snowflake TIME ?
FIRN.NEW snowflake AS ?
FIRN.NEW typeid PREFIX ?
FIRN.NEW uuid5 NAMESPACE ? NAME a
FIRN.NEW uuid5 NAMESPACE dns NAME ?
FIRN.BLOCK ?
FIRN.BLOCK counted COUNT ?
FIRN.RUNS ?
FIRN.RUNS snowflake COUNT ?
INCR ?
INCRBY ? 2
INCRBY counted ?
GET ?
PING ?
ECHO ?
HELLO ?
HELLO 2 SETNAME ?
HELLO 2 AUTH user ?
AUTH ?
SELECT ?
CLIENT ?
CLIENT SETNAME ?
CLIENT SETINFO LIB-NAME ?
COMMAND ?
COMMAND INFO ?
COMMAND DOCS ?
CONFIG GET ?
INFO ?
"""
PATHS = """
/?
/v1/?
/v1/show/?
/v1/show/7?scheme=?
/v1/show/7?scheme=snowflake&epoch=?
/v1/show/7?scheme=snowflake&bits=?
/v1/show/7?from=?
/v1/show/7?format=?
/v1/convert/??to=hex
/v1/convert/7?to=?
/v1/convert/7?to=hex&from=?
/v1/pack/??time=2024-02-29
/v1/pack/snowflake??=7
/v1/pack/snowflake?time=?
/v1/pack/snowflake?time=2024-02-29&as=?
/v1/range/??from=2024-02-29&to=2024-03-01
/v1/range/snowflake?from=?&to=2024-03-01
/v1/range/snowflake?from=2024-02-29&to=?
/v1/schemes/?
/v1/nodes?name=?
/v1/spread/?
/v1/spread/snowflake?shards=?
/v1/new/?
/v1/new/snowflake?n=?
/v1/new/snowflake?time=?
/v1/new/snowflake?as=?
/v1/new/snowflake??=7
/v1/new/uuid5?namespace=?&name=a
/v1/new/uuid5?namespace=dns&name=?
/v1/block/?
/v1/runs/?
/v1/segments/?
/v1/segments/?/last
/v1/segments/counted?n=?
/api/segment/get/?
/api/snowflake/get/?
/decodeSnowflakeId?snowflakeId=?
"""


def mark(client):
    """Another connection puts what is its own where the next answer may find it."""
    for words in (["FIRN.SHOW", MARK * 6], ["FIRN.CONVERT", MARK * 6, "hex"], ["FIRN.NEW", MARK * 30]):
        client.send(command(*words))
    return [client.read() for _ in range(3)]


def words_of_commands(server):
    with server.client() as other:
        for line in filter(None, COMMANDS.splitlines()):
            odd = []
            mark(other)
            with server.client() as client:
                for word in ODD:
                    client.send(command(*(word if part == HOLE else part for part in line.split())))
                    reply = client.read()
                    if MARK.decode() in str(reply):
                        odd.append((word[:40], str(reply)[:200]))
                    if isinstance(reply, Refused) and ("\ufffd" in str(reply) or not str(reply).isprintable()):
                        odd.append((word[:40], "an error that is not plain UTF-8", str(reply)[:200]))
                    if isinstance(reply, Refused) and not str(reply).strip():
                        odd.append((word[:40], "an empty error"))
                client.send(command("ECHO", "still in step"))
                if client.read() != "still in step":
                    odd.append("out of step")
            tap.same(f"{line}: each has one reply", [], odd)


def ask(connection, path):
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


def words_of_paths(server):
    with server.client() as other:
        for line in filter(None, PATHS.splitlines()):
            odd = []
            mark(other)
            connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=serving.PATIENCE_S)
            for word in ODD:
                said = urllib.parse.quote(word, safe="")
                path = fill(line, said)
                status, body = ask(connection, path)
                if MARK in body or status not in (200, 400, 404, 422, 429, 500 if "/api/" in path else 200):
                    odd.append((word[:40], status, body[:200]))
            connection.close()
            tap.same(f"{line}: each has one answer", [], odd)


def fill(line, word):
    """The hole of a path, which is the one ? that does not begin its query."""
    path, question, query = line.partition("?")
    if path.endswith("/"):  # it is in the path
        rest = line[len(path) + 1 :]
        return path + (word or "%20") + rest
    return path + question + query.replace(HOLE, word)


def odd_words():
    server = serving.Server(f"{TMPDIR}/words", PROGRAM, auto_create="yes", loops=1, http_threads=1, unsafe="on").start()
    try:
        words_of_commands(server)
        words_of_paths(server)
    finally:
        status = server.end()
        with open(server.log, errors="replace") as log:
            tap.check("the server ends with 0", status == 0, f"{log.read()[-3000:]}\nstatus {status}")


tap.run([odd_words])
