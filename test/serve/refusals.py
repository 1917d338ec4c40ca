# SPDX-License-Identifier: MIT
"""Tables of the requests that the server refuses, and of its answers at the edges of its commands and paths: a record is a check.
A reply is compared by its code and by the word that it must contain, not by its sentence."""
import os
import re
import shlex
import signal
import socket
import subprocess

import serving
import tap
from serving import Client, Refused

TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
ID = "1541815603606036480"
UUID = "0190163d-8694-739b-aea5-966c26f8ad91"
PACK = "time 2024-01-01 datacenter 1 worker 2 sequence 3"
SECTIONS = """
[generator typed]
scheme = typeid
prefix = user
[generator wide]
scheme = uuid7
[generator narrow]
scheme = time:40/s node:8 sequence:4
[generator tiny]
scheme = time:35/s@@2024-01-01 sequence:4
[generator fixed]
scheme = snowflake
node = 3
[segment short]
end = 3
[segment tickets]
kind = ticket
increment = 3
"""

# The words of a command, and a pattern of its reply from the beginning. Several commands with ; between go over one connection:
# the last reply counts.
COMMANDS = [
    # waiting does not help, so TRYAGAIN would be wrong
    ("FIRN.NEW fixed TIME 2024-03-01", r"TAKEN .*never used: remove node from \[generator fixed\] of firn.ini"),
    ("FIRN.NEW narrow COUNT 1000 TIME 2024-03-01", "ERR 1000 back-dated IDs are more"),
    ("FIRN.NEW narrow COUNT 31 TIME 2024-03-02; FIRN.NEW narrow TIME 2024-03-02; FIRN.NEW narrow TIME 2024-03-02", "FULL 0 of 1 back-dated IDs fit"),
    ("INCR .", "ERR .*must not be '.' or contain '..'"),
    ("INCR a..b", "ERR .*must not be '.' or contain '..'"),
    ("INCR a.b", "1"),
    ("PING a b", "ERR .*'ping'"),
    ("AUTH a b c", "ERR .*AUTH"),
    ("HELLO", "\\['server', 'firn'"),
    ("HELLO 4", "NOPROTO"),
    ("HELLO x", "NOPROTO|ERR"),
    ("HELLO 3 BAD", "ERR .*'BAD'"),
    ("HELLO 3 AUTH x", "ERR .*'AUTH'"),
    ("HELLO 3 SETNAME", "ERR .*'SETNAME'"),
    ("HELLO 2 SETNAME me; CLIENT GETNAME", "me"),
    ("CLIENT GETNAME", "None"),
    ("CLIENT SETNAME 'a b'", "ERR .*name"),
    ("CLIENT SETNAME 'a\x7f'", "ERR .*name"),
    ("CLIENT SETNAME " + "x" * 64, "ERR .*63"),
    ("CLIENT SETNAME", "ERR .*'SETNAME'"),
    ("CLIENT SETINFO LIB-NAME x", "OK"),
    ("CLIENT SETINFO LIB-VER 1", "OK"),
    ("CLIENT SETINFO LIB-BAD x", "ERR .*'LIB-BAD'"),
    ("CLIENT SETINFO LIB-NAME", "ERR .*'SETINFO'"),
    ("CLIENT ID", "[0-9]+$"),
    ("CLIENT ID x", "ERR .*'ID'"),
    ("CLIENT LIST", "id=[0-9]+ addr=127.0.0.1"),
    ("CLIENT LIST TYPE normal", "id=[0-9]+ addr=127.0.0.1"),
    ("CLIENT LIST TYPE master", "ERR .*LIST"),
    ("CLIENT LIST KIND normal", "ERR .*LIST"),
    ("CLIENT LIST TYPE", "ERR .*LIST"),
    ("CLIENT INFO", "id=[0-9]+ addr=127.0.0.1"),
    ("CLIENT NO-EVICT on", "OK"),
    ("CLIENT NO-TOUCH off", "OK"),
    ("CLIENT NO-TOUCH", "ERR .*'NO-TOUCH'"),
    ("CLIENT KILL x", "ERR .*'KILL'"),
    ("COMMAND INFO incr nothing", "\\[\\['incr', 2.*, None\\]$"),
    ("COMMAND INFO", "\\[\\['incr'"),
    ("COMMAND DOCS incr nothing", "\\['incr', \\[[^]]*'summary'"),
    ("COMMAND NOTHING", "ERR .*'NOTHING'"),
    ("CONFIG SET save x", "ERR .*CONFIG GET"),
    ("CONFIG GET", "ERR .*CONFIG GET"),
    ("CONFIG GET save sav* nothing", "\\['save', ''\\]$"),
    ("INFO all", "# Server.*# Firn"),
    ("INFO everything cpu", "# Server.*# Firn"),
    ("INFO default", "# Server"),
    ("INFO cpu", "# CPU"),
    ("INFO nothing", "$"),
    ("SELECT x", "ERR .*0"),
    ("ECHO", "ERR .*'echo'"),
    ("RESET", "RESET"),
    ("\x01bad\x7f", "ERR .*'.x01bad.x7f'"),
    ("MULTI; AUTH x", "ERR .*'AUTH'"),
    ("MULTI; HELLO 3", "ERR .*'HELLO'"),
    ("MULTI; MULTI", "ERR .*'MULTI'"),
    ("MULTI; NOTHING; EXEC", "EXECABORT"),
    ("MULTI; RESET; EXEC", "ERR .*EXEC|ERR .*MULTI"),
    ("MULTI; INCR batched; PING; DISCARD; GET batched", "None"),
    # IDs
    ("FIRN.NEW snowflake " + " ".join(f"a{i} 1" for i in range(17)), "ERR .*16"),
    ("FIRN.NEW snowflake TIME 2024-01-01 TICK 5", "ERR .*time .*tick"),
    ("FIRN.NEW snowflake TICK 5", "[0-9]+$"),
    ("FIRN.NEW snowflake TICK x", "ERR .*tick=x"),
    ("FIRN.NEW snowflake TIME x", "ERR time=x: "),
    ("FIRN.NEW snowflake namespace x", "ERR .*namespace"),
    ("FIRN.NEW snowflake AS dated", "ERR .*dated"),
    # A layout, and a word with a zero byte: neither is the name that it contains.
    ("FIRN.NEW random:64", "ERR clients cannot use a layout"),
    ("FIRN.NEW uuid7\0x", "ERR there is no scheme 'uuid7[?]x'"),
    ("FIRN.NEW uuid7\0", "ERR there is no scheme 'uuid7[?]'"),
    ("FIRN.NEW uuid7 AS hex\0x", "ERR there is no form 'hex[?]x'"),
    ("FIRN.NEW uuid4 TIME 2024-01-01", "ERR .*uuid4"),
    ("FIRN.NEW uuid4 TICK 1", "ERR .*uuid4"),
    ("FIRN.NEW uuid5 namespace dns name a COUNT 2", "ERR .*COUNT"),
    ("FIRN.NEW uuid5 namespace dns name a COUNT 1", "\\["),
    ("FIRN.NEW uuid5 time 2024-01-01 name a", "ERR .*'time'"),
    ("FIRN.NEW uuid5 node 3", "ERR .*'node'"),
    ("FIRN.NEW uuid3 namespace dns", "ERR .*NAME"),
    ("FIRN.NEW uuid3 namespace dns name " + "x" * 65000, "ERR|[0-9a-f-]{36}$"),
    ("FIRN.NEW narrow COUNT 200", "ERR COUNT 200 is more than narrow can issue within max_lead: use 1 to 32$"),
    ("FIRN.BLOCK narrow", "ERR 'narrow' is a generator, not a segment: use FIRN.NEW narrow"),
    ("INCR wide", "ERR 'wide' is a generator, not a segment"),
    ("FIRN.BLOCK tickets COUNT 2", "\\[[0-9]+, [0-9]+, 3, 2\\]$"),
    ("FIRN.BLOCK tickets AS hex", "ERR .*'as'"),
    ("FIRN.RUNS tickets", "ERR .*'tickets'"),
    ("FIRN.RUNS wide COUNT 2", "ERR .*128"),
    ("FIRN.RUNS typed", "ERR .*128"),
    ("FIRN.RUNS uuid5 namespace dns name a", "ERR"),
    ("FIRN.RUNS snowflake TIME 2024-01-01", "ERR"),
    ("FIRN.RUNS snowflake AS hex", "\\[\\['[0-9]+', '[0-9]+'\\]\\]$"),
    ("FIRN.NODES " + "x" * 300, "ERR .*255"),
    ("FIRN.NODES snowflake", "\\["),
    (f"FIRN.PACK snowflake {PACK}", "[0-9]+$"),
    (f"FIRN.PACK snowflake {PACK} epoch 2020-01-01", "[0-9]+$"),
    (f"FIRN.PACK snowflake {PACK} as hex", "[0-9a-f]{16}$"),
    (f"FIRN.PACK snowflake {PACK} as nothing", "ERR .*'nothing'"),
    (f"FIRN.PACK snowflake {PACK} as dated", "ERR .*dated"),
    (f"FIRN.PACK snowflake {PACK} as uuid", "ERR .*uuid"),
    (f"FIRN.PACK snowflake {PACK} prefix x", "ERR .*prefix"),
    ("FIRN.PACK snowflake bits 40/11/12 time 2024-01-01", "ERR .*bits=40/11/12"),
    ("FIRN.PACK snowflake digits 4", "ERR .*digits"),
    ("FIRN.PACK snowflake nothing 4", "ERR .*'nothing'"),
    ("FIRN.PACK order", "ERR .*key"),
    ("FIRN.PACK typeid time 2024-01-01 random_a 0 random_b 0 prefix us_er", "us_er_|ERR"),
    ("FIRN.CONVERT " + UUID + " typeid prefix us_er", "us_er_[0-9a-z]{26}$|ERR"),
    ("FIRN.CONVERT " + UUID + " typeid prefix _user", "ERR"),
    ("FIRN.CONVERT " + UUID + " typeid prefix user_", "ERR"),
    ("FIRN.CONVERT " + UUID + " typeid prefix User", "ERR"),
    ("FIRN.CONVERT " + UUID + " typeid prefix " + "x" * 70, "ERR"),
    ("FIRN.RANGE time-member 2024-01-01 2024-01-02", "ERR .*time-member"),
    ("FIRN.RANGE time-member 2024-01-01 2024-01-02 as hex", "\\['least'|ERR"),
    ("FIRN.RANGE time-random 2024-01-01 2024-01-02", "\\['least', '20240101"),
    ("FIRN.RANGE uuid4 2024-01-01 2024-01-02", "ERR .*uuid4"),
    ("FIRN.RANGE order 2024-01-01 2024-01-02", "ERR .*order"),
    ("FIRN.RANGE snowflake 2024-01-01 2023-01-01", "ERR"),
    ("FIRN.RANGE snowflake 2024-01-01 2025-01-01 count 3", "ERR .*'count'"),
    ("FIRN.RANGE snowflake 2024-01-01 x", "ERR TO 'x': "),
    (f"FIRN.SHOW {ID} bits 41/10/12", "ERR .*scheme"),
    (f"FIRN.SHOW {ID} digits 4", "ERR .*scheme"),
    (f"FIRN.SHOW {ID} scheme snowflake epoch 2020-01-01", f"\\['id', '{ID}'"),
    (f"FIRN.SHOW {ID} epoch 2020-01-01 scheme snowflake", f"\\['id', '{ID}'"),
    (f"FIRN.SHOW {ID} scheme order", "ERR .*key"),
    (f"FIRN.SHOW {ID} scheme nothing", "ERR .*'nothing'"),
    (f"FIRN.SHOW {ID} scheme snowflake bits 1/2", "ERR .*bits=1/2"),
    (f"FIRN.SHOW {ID} all 1", f"\\['id', '{ID}'"),
    (f"FIRN.SHOW {ID} all 2", "ERR ALL 2 is not valid: use ALL 1 to"),
    (f"FIRN.SHOW {ID} nothing 2", "ERR .*'nothing'"),
    ("FIRN.SHOW 1ARZ3NDEKTSV4RRFFQ69G5FAV scheme ulid", "ERR .*valid as base36 with FROM base36[)]"),
    ("FIRN.SHOW " + "x" * 1000, "ERR .*1000"),
    ("FIRN.SHOW 'a\0b'", "ERR .*zero"),
    (f"FIRN.CONVERT {ID} nothing", "ERR .*'nothing'"),
    (f"FIRN.CONVERT {ID} uuid", "ERR .*uuid"),
    (f"FIRN.CONVERT {ID} dated", "ERR .*dated"),
    (f"FIRN.CONVERT {ID} sonyflake", "ERR .*sonyflake"),
    (f"FIRN.CONVERT {ID} hex nothing x", "ERR .*'nothing'"),
    (f"FIRN.CONVERT {UUID} unsigned", "[0-9]{37}$"),
    (f"FIRN.CONVERT {UUID} hex scheme order", "ERR .*key"),
    ("FIRN.SCHEMES 'time:41 node:10 sequence:12'", "\\['name'"),
    ("FIRN.SCHEMES nothing", "ERR .*'nothing'"),
    ("FIRN.SCHEMES snowflake x", "ERR .*'x'"),
    ("FIRN.SCHEMES snowflake x 1", "ERR .*'x'"),
    # integers
    ("GET nothing", "None"),
    ("INCRBY short 2; INCR short; INCR short", "END .*3"),
    ("FIRN.BLOCK short COUNT 4", "END .*3"),
    ("INCR '' ", "ERR .*63"),
    ("INCR " + "x" * 300, "ERR .*63"),
    ("INCR 'a b'", "ERR .*2"),
    ("INCR 'a\"b\\c'", "1$"),
    ("INCR é", "1$"),
    ("INCR 日本", "1$"),
    ("INCR 😀", "1$"),
    ("INCR 'x\u0085'", "ERR .*2"),
    ("INCR 'x\u2028'", "ERR .*2"),
    ("INCR 'x\u2029y'", "ERR .*2"),
    ("INCR 'x\ufeff'", "1$|ERR"),
]
NOT_UTF8 = [b"\xff", b"\xc3(", b"\xc3", b"\xe0\x80\x80", b"\xe2\x80", b"\xed\xa0\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80"]

FORM = "Content-Type: application/x-www-form-urlencoded"
JSON = "Content-Type: application/json"
# The first line of a request without its version, the status, a pattern in the body, then headers and a body if there are any.
REQUESTS = [
    ("GET /v1/status", 200, '"generators"'),
    ("GET /v1/status?x=1", 400, "'x'"),
    ("GET /v1/spread/snowflake?shards=3", 404, "'snowflake'"),
    ("GET /v1/spread/wide?nothing=3", 400, "'nothing'"),
    ("GET /v1/spread/wide?shards=3", 200, ""),
    ("GET /v1/spread/typed", 200, ""),
    ("GET /v1/spread/tiny", 200, ""),
    ("GET /v1/spread/nothing", 404, "'nothing'"),
    ("GET /v1/spread/wide", 200, ""),
    ("GET /v1/segments/none/last", 200, "null"),
    ("GET /v1/segments/none/last?format=text", 200, "none"),
    ("GET /v1/segments/none/last?n=3", 400, ""),
    ("GET /v1/segments/tickets", 200, '"[0-9]+"'),
    ("GET /v1/segments/tickets?format=text", 200, "[0-9]+\n"),
    ("GET /v1/segments/tickets?format=text&n=3", 200, "[0-9]+"),
    ("GET /v1/segments/tickets/last", 200, '"last":"[0-9]+"'),
    ("GET /v1/segments/tickets/last?format=text", 200, "^[0-9]+\n$"),
    ("GET /v1/segments/short?n=5", 409, "3"),
    ("GET /v1/block/tickets?n=3", 200, '"increment"'),
    ("GET /v1/block/tickets?n=3&format=text", 200, ""),
    ("GET /v1/runs/snowflake?n=3", 200, ""),
    ("GET /v1/runs/snowflake?n=3&format=text", 200, ""),
    ("GET /v1/new/narrow?n=200", 422, "n=200 is more than narrow can issue within max_lead: use 1 to 32"),
    ("GET /v1/segments/narrow", 404, "'narrow' is a generator, not a segment"),
    ("GET /v1/new/wide?format=text", 200, "^[0-9a-f-]{36}\n$"),
    ("GET /v1/new/wide?n=2&format=text", 200, "^[0-9a-f-]{36}\n[0-9a-f-]{36}\n$"),
    ("GET /v1/new/typed", 200, '"user_[0-9a-z]{26}"'),
    ("GET /v1/new/snowflake?format=xml", 400, "xml"),
    ("GET /v1/new/random:64", 400, "clients cannot use a layout"),
    ("GET /v1/new/uuid7%00x", 404, "there is no scheme 'uuid7[?]x'"),
    ("GET /v1/new/uuid7?as=hex%00x", 400, "there is no form 'hex[?]x'"),
    ("GET /v1/new/snowflake", 200, "^[0-9]+\n$", "Accept: text/plain"),
    ("GET /v1/new/snowflake", 200, '"ids"', "Accept: text/plain;q=0.2, application/json;q=0.9"),
    ("GET /v1/new/snowflake", 200, "^[0-9]+\n$", "Accept: text/plain;q=0.9, application/json;q=0.2"),
    ("GET /v1/new/snowflake", 200, '"ids"', "Accept: text/plain;q=2, application/json;q=0.9"),
    ("GET /v1/new/snowflake", 200, '"ids"', "Accept: text/plain;q=-1, application/json"),
    ("GET /v1/new/snowflake", 200, "^[0-9]+\n$", "Accept: \t text/plain \t; q=0.9 ,,"),
    ("GET /v1/new/snowflake", 200, '"ids"', "Accept: ,"),
    ("GET /v1/new/snowflake", 200, '"ids"', "Accept: " + "a/b," * 40 + "text/plain"),
    ("GET /v1/new/snowflake?", 200, '"ids"'),
    ("GET /v1/new/snowflake?n=3&n=4", 400, "n"),
    ("GET /v1/new/snowflake?n", 400, "n"),
    ("GET /v1/new/snowflake?=", 400, ""),
    ("GET /v1/new/snowflake?%zz=3", 400, "%25"),
    ("GET /v1/new/snowflake?n=%zz", 400, "%25"),
    ("GET /v1/new/%zz", 404, "%25"),
    ("GET /v1/new/snow%2fflake", 404, "snow/flake"),
    ("GET /v1/new/snow%00flake", 404, ""),
    ("GET /v1/new/%ff", 404, ""),
    ("GET /v1/new/", 404, "openapi"),
    ("GET /v1/new/a/b", 404, "openapi"),
    ("GET /v1/new/snowflake?as=dated", 400, "dated"),
    ("POST /v1/new/snowflake", 200, '"ids"', FORM, "n=2&&time=2024-01-01+00:00:00Z&"),
    ("POST /v1/new/snowflake", 400, "n", FORM, "n"),
    ("POST /v1/new/snowflake", 400, "", FORM, "=3"),
    ("POST /v1/new/snowflake", 400, "%25", FORM, "n=%zz"),
    ("POST /v1/new/snowflake", 400, "%25", FORM, "%zz=2&n=3"),
    ("POST /v1/new/snowflake", 400, "16", FORM, "&".join(f"a{i}=1" for i in range(30))),
    ("POST /v1/new/snowflake", 200, '"ids"', JSON, '{"n":2}'),
    ("POST /v1/new/snowflake", 200, '"ids":\\["[0-9a-f]{16}"', JSON, '{"n":"2","as":"hex"}'),
    ("POST /v1/new/snowflake", 400, "", JSON, "[]"),
    ("POST /v1/new/snowflake", 400, "", JSON, "3"),
    ("POST /v1/new/snowflake", 400, "column", JSON, "{"),
    ("POST /v1/new/snowflake", 400, "'n'", JSON, '{"n":2.5}'),
    ("POST /v1/new/snowflake", 400, "'n'", JSON, '{"n":true}'),
    ("POST /v1/new/snowflake", 400, "'n'", JSON, '{"n":null}'),
    ("POST /v1/new/snowflake", 400, "'n'", JSON, '{"n":[1],"as":"hex"}'),
    ("POST /v1/new/snowflake", 400, "16", JSON, "{" + ",".join(f'"a{i}":1' for i in range(18)) + "}"),
    ("POST /v1/new/snowflake", 415, "Content-Type", "Content-Type: text/html", "x"),
    ("POST /v1/new/snowflake", 415, "Content-Type", "", "n=3"),
    ("POST /v1/new/snowflake?n=2", 200, '"ids"'),
    ("POST /v1/new/snowflake", 413, "16384", "Content-Length: 9999999"),
    ("POST /v1/new/snowflake", 413, "16384", "Content-Length: 99999999999999999"),
    ("POST /v1/show/3", 405, "GET"),
    ("PUT /v1/new/snowflake", 405, "POST"),
    ("OPTIONS /v1/new/snowflake", 204, "^$"),
    ("OPTIONS *", 204, "^$"),
    ("HEAD /v1/new/snowflake", 200, "^$"),
    ("GET *", 400, ""),
    ("GET nowhere", 400, ""),
    ("GET http://localhost/healthz", 200, "ok"),
    ("GET /healthz", 400, "header", "X-Bad: a\x01b"),
    ("GET /healthz", 400, "header", "X-Bad: a\x7fb"),
    ("GET /healthz", 200, "ok", "X-Good: a\tb"),
    ("GET /v1/status", 421, "", "Host: evil.example"),
    ("GET /v1/status", 200, "", "Authorization: Basic eDp5"),
    ("GET /v1/schemes", 200, "snowflake"),
    ("GET /v1/schemes?x=1", 400, "'x'"),
    ("GET /v1/schemes/snowflake?x=1", 400, "'x'"),
    ("GET /v1/schemes/nothing", 404, "'nothing'"),
    ("GET /v1/nodes", 200, ""),
    ("GET /v1/nodes?x=1", 400, "'x'"),
    ("GET /v1/range/snowflake?from=2024-01-01", 400, "to"),
    ("GET /v1/range/snowflake?from=2024-01-01&to=x", 422, "TO 'x'"),
    ("GET /v1/range/snowflake?from=2001-01-01&to=2024-01-01", 422, "FROM 2001-01-01"),
    ("GET /v1/range/snowflake?from=2024-01-01&to=2024-01-02", 200, '"least"'),
    ("GET /v1/range/snowflake?from=2024-01-01&to=2024-01-02&format=text", 200, "[0-9]+"),
    ("GET /v1/pack/order", 400, "key"),
    ("GET /v1/pack/snowflake?time=2024-01-01&format=text", 400, "datacenter"),
    (f"GET /v1/convert/{ID}", 400, "to"),
    (f"GET /v1/convert/{ID}?to=hex&format=text", 200, "^1565a11f6217a000\n$"),
    (f"GET /v1/show/{ID}?all=2", 400, "all=2"),
    (f"GET /v1/show/{ID}?all=1", 200, ID),
    ("GET /v1/show/x?scheme=snowflake&format=text", 422, "x"),
    ("GET /v1/show/1ARZ3NDEKTSV4RRFFQ69G5FAV?scheme=ulid", 422, "valid as base36 with from=base36[)]"),
    ("GET /v1/new/fixed?time=2024-03-01", 409, "TAKEN"),
    ("GET /v1/new/narrow?n=1000&time=2024-03-01", 422, "RANGE"),
    ("GET /v1/new/narrow?n=31&time=2024-03-03", 200, ""),
    ("GET /v1/new/narrow?time=2024-03-03", 200, ""),
    ("GET /v1/new/narrow?time=2024-03-03", 409, '"code":"FULL","cure":"request fewer, or raise max_lead","cure_name":"RAISE_LEAD","value":"1"'),
    # Leaf's
    ("GET /api/segment/get/short", 500, "LeafServerException"),
    ("GET /api/segment/get/tickets", 200, "^[0-9]+$"),
    ("GET /api/segment/get/%zz", 500, "id=-2"),
    ("GET /api/snowflake/get/wide", 200, "^[0-9]+$"),
    ("GET /decodeSnowflakeId", 400, "MissingServletRequestParameterException"),
    ("GET /decodeSnowflakeId?x=1", 400, "MissingServletRequestParameterException"),
    (f"GET /decodeSnowflakeId?x=1&snowflakeId={ID}", 200, '"workerId":"378"'),
    ("GET /decodeSnowflakeId?snowflakeId=%2b5", 200, '"sequenceId":"5"'),
    ("GET /decodeSnowflakeId?snowflakeId=-5", 200, '"sequenceId":"4091"'),
]
NO_NUMBERS = ["", "%2b", "%2b%2b5", "%2b-5", "-", "5x", "x", "99999999999999999999"]


def run(*words):
    """The server's program, which ends at once."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, errors="replace", timeout=serving.PATIENCE_S)


def ask_all(client, text):
    """The last reply as text; an error's is its code and its words."""
    reply = None
    for one in text.split("; "):
        try:
            reply = client.ask(*shlex.split(one))
        except Refused as error:
            reply = error
    return str(reply)


def short(text):
    return re.sub(r"(.)\1{20,}", r"\1...", text).encode("unicode_escape").decode()[:100]


def commands():
    it = server("commands").start()
    for text, pattern in COMMANDS:
        with Client(it.port) as client:
            found = ask_all(client, text)
        one_line = "\n" not in found or not pattern.startswith("ERR")
        tap.check(short(text), re.match(pattern, found, re.S) and one_line, f"{pattern}\n{found[:500]}")
    with Client(it.port) as client:
        for name in NOT_UTF8:
            try:
                found = client.ask("INCR", b"a" + name)
            except Refused as error:
                found = str(error)
            tap.check(f"a name with {name} is refused", re.match("ERR .*UTF-8.* 2", str(found)), found)
    metrics = it.metrics()
    for name in ('a\\"b\\\\c', "é", "日本", "😀"):
        tap.check(f"/metrics has {name} as a label", f'firn_segment_left{{segment="{name}"}}' in metrics, metrics)
        tap.check("so has the log", f'segment="{name}"' in read(it.log), read(it.log))
    tap.same("the server ends with 0", 0, it.end())


def ask_http(it, record):
    line, header, body = record[0], record[3] if len(record) > 3 else "", record[4] if len(record) > 4 else None
    lines = [f"{line} HTTP/1.1", "Connection: close"]
    if not header.startswith("Host:"):
        lines.append("Host: localhost")
    if header:
        lines.append(header)
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    with socket.create_connection(("127.0.0.1", it.http), timeout=serving.PATIENCE_S) as client:
        client.sendall(("\r\n".join(lines) + "\r\n\r\n" + (body or "")).encode("latin-1"))
        with client.makefile("rb") as file:
            head, _, text = file.read().partition(b"\r\n\r\n")
    return int(head.split()[1]), text.decode()


def requests():
    it = server("requests").start()
    with Client(it.port) as client:
        client.ask("INCRBY", "short", 3)
    every = REQUESTS + [(f"GET /decodeSnowflakeId?snowflakeId={one}", 200, "errorMsg") for one in NO_NUMBERS]
    for record in every:
        status, text = ask_http(it, record)
        sentence = short(" ".join([record[0], *record[3:]]))
        good = status == record[1] and re.search(record[2], text)
        tap.check(f"{sentence} is {record[1]}", good, f"{record[1]} {record[2]}\n{status} {text[:300]}")
    status, text = ask_http(it, ("GET /readyz",))
    tap.check("a segment at its end leaves the server ready, and /readyz says so", status == 200 and text.startswith("ready\n") and "short" in text, text)
    status, text = ask_http(it, ("GET /v1/status",))
    tap.check("and /v1/status", status == 200 and "has reached its end" in text and '"ready":true' in text, text[:500])
    tap.same("the server ends with 0", 0, it.end())


def server(name, **settings):
    return serving.Server(f"{TMPDIR}/{name}", PROGRAM, SECTIONS, store="memory:", unsafe="yes", auto_create="yes", wait="500ms", **settings)


# ---- the start --------------------------------------------------------------------------------------------------------

ADDRESSES = [
    *("7379", ":7379", "localhost:", "127.0.0.1:x", "127.0.0.1:7379x", "127.0.0.1:99999", "nowhere.example:1"),
    *("[::1]", "[::1", "[::1]7379", "[::1:7379", "::1:7379", "[127.0.0.1:7379", "unix:"),
    "unix:" + "x" * 200,
    "x" * 500 + ":1",
    " ".join(f"127.0.0.1:{i + 1000}" for i in range(40)),
]
WRONG = [(f"resp = {one}", "resp") for one in ADDRESSES] + [
    (f"socket_mode = {one}", "socket_mode") for one in ("8", "66", "06600", "0888", "06x0", "rw", "1777")
] + [
    ("loops = 1x", "loops"), ("loops = -", "loops"), ("loops = 1-", "loops"), ("loops = -1", "loops"),
    ("loops = 65", "loops"), ("hints = maybe", "hints"), ("log = xml", "log"), ("tokens = " + "x" * 5000, "2046"),
    ("tls_cert = /nowhere/cert.pem", "key|cert"), ("tls_key = /nowhere/key.pem", "key|cert"),
    ("store = nothing:x", "nothing"), ("[generator g]\nscheme = typeid\nprefix = " + "x" * 100, "100"),
    ("[generator g]\nscheme = typeid\nprefix = _x", "prefix|_x"), ("[generator g]\nscheme = typeid\nprefix = Xy", "prefix|Xy"),
    ("[generator g]\nscheme = snowflake\nprefix = x", "prefix"), ("[generator g]\nscheme = snowflake\nas = dated", "dated"),
    ("[generator g]\nscheme = snowflake\nas = nothing", "nothing"), ("[generator g]\nscheme = " + "x" * 2000, "2000"),
    ("[generator " + "g" * 100 + "]\nscheme = snowflake", "name|characters"), ("[generator g]\nscheme = snowflake\nnode = " + "x" * 3000, "2046"),
    ("[segment s]\nscheme = x", "scheme"), ("[segment s]\nkind = x", "kind|x"), ("[segment a b]", "blank|name"), ("[nothing]\nx = y", "nothing"),
    ("[generator g]", "scheme"),
]


def configurations():
    folder = f"{TMPDIR}/configurations"
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/firn.ini"
    for text, pattern in WRONG:
        with open(path, "w") as file:
            file.write(("" if text.startswith("[") else "[server]\n") + text + "\n")
        done = run("--config", path, "--check-config")
        lines = done.stderr.splitlines()
        good = 0 < done.returncode <= 6 and len(lines) == 1 and lines[0].startswith("firn: ") and re.search(pattern, lines[0])
        tap.check(f"{short(text)} is refused", good, f"{pattern}\n{done.returncode} {done.stdout}{done.stderr}"[:600])



def flags():
    long = "x" * 5000
    wrong = [
        (["--tokens", long], "tokens"),
        (["--nothing"], "nothing"),
        (["--loops"], "loops"),
        (["--config", "/nowhere"], "/nowhere"),
        (["x"], "x"),
        (["--check-config", "--config", TMPDIR], "config|folder|file"),
    ]
    for words, pattern in wrong:
        done = run(*words)
        good = done.returncode != 0 and done.stderr.startswith("firn: ") and re.search(pattern, done.stderr)
        tap.check(f"{short(' '.join(words))} is refused", good, done.stderr)
    for word in "--print-config", "--version", "--help":
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "--config", "", word], stdout=full, stderr=subprocess.PIPE, text=True, timeout=serving.PATIENCE_S)
        tap.check(f"{word} on a full disk fails", done.returncode == 6 and done.stderr.count("\n") == 1, done.stderr)


# ---- files of tokens ----------------------------------------------------------------------------------------------------

TOKEN = "a-token-of-the-test-0001"
TOKENS = [
    (f"root {TOKEN}\n", ":1:"),
    (f"# a comment\n\n \t\nadmi {TOKEN}\n", ":4:"),
    (f"issue {TOKEN}\nissues {TOKEN}\n", ":2:"),
    (f"other {TOKEN}\n", ":1:"),
    ("issue short\n", ":1:.* 5"),
    ("issue\n", ":1:"),
    ("issue " + "x" * 900 + "\n", ""),
    ("issue " + "x" * 9000 + "\n", ":1:"),
    (f"issue {TOKEN} a,b\n", ":1:"),
    (f"issue {TOKEN}\0\n", ""),
    ("".join(f"issue {TOKEN}-{i}\n" for i in range(1001)), ":1001:"),
    ("# nobody\n", ""),
]


def tokens():
    folder = f"{TMPDIR}/tokens"
    os.makedirs(folder)
    path = f"{folder}/all"

    def check_config(place):
        done = run("--config", "", "--tokens", place, "--check-config")
        return done.returncode, done.stderr

    for text, pattern in TOKENS:
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        status, said = check_config(path)
        good = status == 0 if not pattern and not said else status == 2 and said.count("\n") == 1 and re.search(pattern, said) and TOKEN not in said
        tap.check(f"tokens {short(text)}", good, f"{status} {said}")
    tap.check("a folder is not a file of tokens", check_config(folder)[0] != 0)
    tap.check("nor is what is not there", check_config(f"{folder}/nothing")[0] != 0)
    with open(path, "w") as file:
        file.write("".join(f"issue {TOKEN}-{i}\n" for i in range(1000)))
    tap.same("a thousand tokens are right", (0, ""), check_config(path))
    os.chmod(path, 0o644)
    status, said = check_config(path)
    tap.check("a file that others may read is refused", status != 0 and "firn: " in said, said)


# ---- addresses ----------------------------------------------------------------------------------------------------------

def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def secrets(folder):
    """Settings of a certificate and of tokens; None: there is no openssl."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost".split()
    try:
        subprocess.run([*words, "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    with open(os.open(f"{folder}/all", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(f"issue {TOKEN}\n")
    return {"tls_cert": f"{folder}/cert.pem", "tls_key": f"{folder}/key.pem", "tokens": f"{folder}/all"}


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


def serve(name, environment=None, sections="", **settings):
    """One that may have no address of the usual kind: it serves when its log says so."""
    it = serving.Server(f"{TMPDIR}/{name}", PROGRAM, environment=environment)
    it.configure(sections, store="memory:", unsafe="yes", **settings)
    it.start(wait=False)
    serving.wait_for("its log", lambda: "event=serving" in read(it.log) or it.process.poll() is not None)
    return it


def hints():
    folder = TMPDIR if len(TMPDIR) < 60 else "/tmp"
    secret = secrets(f"{TMPDIR}/secrets")
    port = serving.free_port()
    kinds = [
        ("tcp", {}, ["redis-cli -h 127.0.0.1 -p", "curl 'http://127.0.0.1", "http://127.0.0.1"]),
        ("unix", {"resp": f"unix:{folder}/r.sock", "http": f"unix:{folder}/h.sock"}, ["redis-cli -s /", "curl --unix-socket /"]),
        ("http", {"resp": "none"}, ["firn serves HTTP at http://127.0.0.1", "curl 'http://127.0.0.1"]),
        ("resp", {"http": "none"}, ["firn serves Redis clients at 127.0.0.1"]),
    ]
    if secret is not None:
        kinds.append(("tls", secret, ["--tls --insecure --askpass", "curl -k -H 'Authorization: Bearer TOKEN' 'https://"]))
        kinds.append(("unixtls", {**secret, "resp": f"unix:{folder}/r.sock", "http": f"unix:{folder}/h.sock"}, [" --askpass", "Bearer TOKEN"]))
    if has_ipv6():
        kinds.append(("six", {"resp": f"[::1]:{port}", "http": "none"}, [f"redis-cli -h ::1 -p {port}"]))
    for name, settings, expected in kinds:
        it = serve(f"hints-{name}", hints="yes", **settings)
        said = serving.wait_for("the hints", lambda: read(it.log) if "Ctrl-C" in read(it.log) else "")
        for one in expected:
            tap.check(f"hints of {name} have {one}", one in said, said)
        tap.same("the server ends with 0", 0, it.end())


def ipv6():
    if not has_ipv6():
        tap.skip("clients of IPv6", "no IPv6 here")
        return
    port, http = serving.free_port(), serving.free_port()
    it = serve("six", resp=f"[::1]:{port}", http=f"[::1]:{http}", max_per_address=2)
    with socket.create_connection(("::1", port), timeout=serving.PATIENCE_S) as client:
        client.sendall(b"CLIENT INFO\r\n")
        tap.check("a client's address is [::1]:PORT", b"addr=[::1]:" in client.recv(1000))
    ask = b"GET /healthz HTTP/1.1\r\nHost: [::1]:%d\r\nConnection: close\r\n\r\n" % http
    with socket.create_connection(("::1", http), timeout=serving.PATIENCE_S) as client:
        client.sendall(ask)
        tap.check("HTTP is served too", b" 200 " in client.recv(1000))
    tap.same("the server ends with 0", 0, it.end())


def public():
    """Without TLS the log warns; names of variables that set nothing are logged."""
    secret = secrets(f"{TMPDIR}/public-secrets")
    if secret is None:
        tap.skip("a public address", "openssl is missing")
        return
    it = serve("public", environment={"FIRN_LOOP": "3"}, resp=f"0.0.0.0:{serving.free_port()}", http="none", tokens=secret["tokens"])
    said = read(it.log)
    tap.check("tokens over a public address without TLS are warned of", "level=warning" in said and "0.0.0.0" in said, said)
    tap.check("a variable that sets nothing is reported", "FIRN_LOOP" in said, said)
    tap.same("the server ends with 0", 0, it.end())
    for address in ("0.0.0.0:0", "[::]:0", "[::ffff:10.1.2.3]:0"):
        done = run("--config", "", "--resp", address, "--check-config")
        tap.check(f"{address} without tokens is refused", done.returncode == 2 and "tokens" in done.stderr, done.stderr)
    done = run("--config", "", "--resp", "[::ffff:127.0.0.1]:0", "--check-config")
    tap.same("[::ffff:127.0.0.1] is this machine", 0, done.returncode)


# ---- reload ---------------------------------------------------------------------------------------------------------------

FIRST = "[generator g]\nscheme = typeid\nprefix = a\n[generator h]\nscheme = snowflake\n[segment s]\nstart = 5\n"
RELOADS = [  # settings, sections, what the log tells
    ({}, FIRST, "event=reloaded"),
    ({}, FIRST.replace("prefix = a", "prefix = b"), 'event="needs a restart" generator=g'),
    ({}, FIRST.replace("snowflake", "snowflake\nas = hex"), 'event="needs a restart" generator=h'),
    ({}, FIRST.replace("snowflake", "snowflake\nstore = memory:b"), 'event="needs a restart" generator=h'),
    ({}, FIRST.replace("snowflake", "snowflake\nmax_lead = 5s"), 'event="needs a restart" generator=h'),
    ({}, FIRST.replace("snowflake", "sonyflake"), 'event="needs a restart" generator=h'),
    ({}, FIRST.replace("start = 5", "start = 6"), 'event="needs a restart" segment=s'),
    ({}, "", 'event="needs a restart" segment=s'),
    ({}, FIRST + "[generator new]\nscheme = ulid\n", "event=added generator=new"),
    ({}, FIRST + "[segment more]\nstart = 9\n", "event=added segment=more"),
    ({}, FIRST + "[generator uuid7]\nscheme = uuid7\n", 'event="needs a restart" generator=uuid7'),
    ({"unsafe": "no"}, FIRST + "[generator later]\nscheme = ulid\n", 'event="needs a restart" generator=later'),
    ({"store": "memory:c"}, FIRST + "[generator later]\nscheme = ulid\n", 'event="needs a restart" generator=later'),
    ({}, FIRST + "[generator bad]\nscheme = nothing\n", 'event="reload failed'),
    ({}, "[generator g\n", 'event="reload failed'),
    ({"tokens": "/nowhere"}, FIRST, 'event="reload failed'),
    ({"tls_cert": "/nowhere"}, FIRST, 'event="reload failed'),
    ({"store": "nothing:x"}, FIRST, 'event="reload failed'),
    ({"max_block": 7}, FIRST, "setting=max_block"),
    ({"max_block": 7, "loops": 3}, FIRST, "setting=loops"),
    ({"max_block": 7, "log": "json"}, FIRST, '"event":"reloaded"'),
]


def reloads():
    usual = {"store": "memory:", "unsafe": "yes"}
    it = serving.Server(f"{TMPDIR}/reloads", PROGRAM, FIRST, **usual).start()
    for settings, sections, expected in RELOADS:
        it.configure(sections, **{**usual, **settings})
        before = os.path.getsize(it.log)
        it.signal(signal.SIGHUP)

        def said():
            with open(it.log) as log:
                log.seek(before)
                text = log.read()
            return text if "reload" in text else ""

        found = serving.wait_for("the reload", said)
        tap.check(f"a reload with {short(str(settings) + sections[len(FIRST):])} tells {expected}", expected in found, found)
        with Client(it.port) as client:
            tap.check("and it serves as before", client.ask("FIRN.NEW", "g").startswith("a_"))
    tap.same("the server ends with 0", 0, it.end())


tap.run([commands, requests, configurations, flags, tokens, hints, ipv6, public, reloads])
