# SPDX-License-Identifier: MIT
"""Bytes that are not HTTP, or too many or too few, one by one over a socket: an error reply or a closed connection, and
the server continues. The cases are the classes in which parsers of HTTP have been fooled (smuggling, folding, bare line
ends), and the bounds of a header."""
import json
import os
import random
import re
import socket
import time

import serving
import tap

FOLDER = os.environ["TMPDIR"]
SLOW_S = 1
MUTATIONS = 300
ASK = b"GET /v1/new/uuid7 HTTP/1.1\r\nHost: localhost\r\n"
TIMES = 3 if os.path.dirname(os.environ["FIRN"]).endswith("test/memory") else 1  # what valgrind adds to memory
REPLY_S = 20  # for a reply that comes at once, on a machine that is busy


def server(name, slow=SLOW_S, **settings):
    program = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
    return serving.Server(f"{FOLDER}/{name}", program, store="memory:", slow=f"{slow}s", http_threads=1, **settings).start()


def connect(to):
    return socket.create_connection(("127.0.0.1", to.http), timeout=REPLY_S)


def read_all(line):
    """Everything until the server closes, and whether it did."""
    said = b""
    try:
        while data := line.recv(65536):
            said += data
        return said, True
    except TimeoutError:
        return said, False
    except ConnectionError:
        return said, True


def send(to, data, then_end=True):
    """The reply to these bytes, when nothing follows."""
    with connect(to) as line:
        try:
            line.sendall(data)
            if then_end:
                line.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was refused before all was said
        return read_all(line)


def statuses(said):
    return [int(found) for found in re.findall(rb"HTTP/1\.1 (\d+)", said)]


def header(*lines, method=b"GET", path=b"/v1/new/uuid7"):
    return b"\r\n".join([method + b" " + path + b" HTTP/1.1", b"Host: localhost", *lines]) + b"\r\n\r\n"


FORM = b"Content-Type: application/x-www-form-urlencoded"
NEXT = header(path=b"/healthz")  # what is smuggled in would be answered: ok

REFUSED = {
    "Transfer-Encoding beside Content-Length": header(b"Transfer-Encoding: chunked", b"Content-Length: 3", method=b"POST") + b"0\r\n\r\n",
    "an invalid coding": header(b"Transfer-Encoding: xchunked", method=b"POST"),
    "chunks of no type": header(b"Transfer-Encoding: chunked", method=b"POST") + b"3\r\nabc\r\n0\r\n\r\n",
    "an absolute target with a user": header(path=b"http://me@localhost/healthz"),
    "an absolute target without a host": header(path=b"http:///healthz"),
    "an asterisk for a target": header(path=b"*"),
    "chunks with an invalid size": header(b"Transfer-Encoding: chunked", method=b"POST") + b"zz\r\n\r\n",
    "Content-Length twice": header(b"Content-Length: 3", b"Content-Length: 3", method=b"POST") + b"abc",
    "Content-Length twice, different": header(b"Content-Length: 0", b"Content-Length: 40", method=b"POST"),
    "a list of Content-Lengths": header(b"Content-Length: 3, 3", method=b"POST") + b"abc",
    "a Content-Length with +": header(b"Content-Length: +3", method=b"POST") + b"abc",
    "a Content-Length below 0": header(b"Content-Length: -3", method=b"POST") + b"abc",
    "a Content-Length in hex": header(b"Content-Length: 0x3", method=b"POST") + b"abc",
    "an empty Content-Length": header(b"Content-Length:", method=b"POST"),
    "a Content-Length of 23 digits": header(b"Content-Length: 99999999999999999999999", method=b"POST"),
    "a blank before the colon": header(b"Content-Length : 3", method=b"POST") + b"abc",
    "a blank before the colon of Transfer-Encoding": header(b"Transfer-Encoding : chunked", method=b"POST") + b"0\r\n\r\n",
    "a folded Content-Length": header(b"Content-Length:", b" 40", method=b"POST"),
    "a folded Transfer-Encoding": header(b"Transfer-Encoding:", b"\tchunked", method=b"POST"),
    "a bare CR in a value": header(b"X: a\rContent-Length: 40", method=b"POST"),
    "a blank in the target": header(path=b"/healthz x"),
    "a name with a bracket": header(b"X(y): a"),
    "a line without a colon": header(b"nothing"),
    "a zero byte in a value": header(b"X: a\0b"),
    "a zero byte at the end of a value": header(b"X: a\0"),
    "a zero byte in Host": b"GET /healthz HTTP/1.1\r\nHost: localhost\0.example\r\n\r\n",
    "a zero byte in a token": header(b"Authorization: Bearer x\0y"),
    "a zero byte in the path": header(path=b"/healthz\0x"),
    "a zero byte at the end of the path": header(path=b"/healthz\0"),
    "a zero byte in the query": header(path=b"/v1/new/uuid7?n=2\0&n=3"),
    "a zero byte before a value of the query": header(path=b"/v1/new/uuid7?n=\0" b"2"),
    "a version after a zero byte": header(path=b"/healthz\0HTTP/1.1"),
    "a zero byte in the method": header(method=b"GET\0x"),
    "a zero byte at the end of the method": header(method=b"GET\0"),
    "a zero byte before the target": header(path=b"\0/healthz"),
    "a zero byte in the version": b"GET /healthz HTTP/1.1\0\r\nHost: localhost\r\n\r\n",
    "a name that is empty": header(b": a"),
    "an empty name and value": header(b":"),
    "an empty name, then a request": header(b": a\r\nGET /healthz HTTP/1.1", b"Host: localhost"),
    "a line that ends in LF": header(b"X: a\nY: b"),
    "lines that end in LF": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "a folded line": header(b"X: a", b" b"),
    "Host twice": header(b"Host: localhost"),
    "no Host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "HTTP/2.0": b"GET /healthz HTTP/2.0\r\nHost: localhost\r\n\r\n",
    "HTTP/0.9": b"GET /healthz\r\n\r\n",
    "an invalid version": b"GET /healthz HTTP/x\r\nHost: localhost\r\n\r\n",
    "a target without a slash": header(path=b"healthz"),
    "another server's whole address": header(path=b"http://other.example/v1/new/uuid7"),
    "CONNECT": header(method=b"CONNECT", path=b"localhost:80"),
    "TLS where plain text is": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500 + b"\r\n\r\n",
    "RESP": b"*1\r\n$4\r\nPING\r\n\r\n",
    "binary": bytes(range(256)) * 4 + b"\r\n\r\n",
}


def malformed_requests():
    to = server("malformed")
    # libmicrohttpd 1.0 redirects a target with a blank to one without, and closes: so says RFC 9112, 3.2.
    for what, data in REFUSED.items():
        said, closed = send(to, data + NEXT, then_end=False) if b"Content-Length" in data else send(to, data)
        tap.check(
            f"{what} is refused and nothing after it is heard",
            closed and all(400 <= status <= 505 or (status == 301 and b" x" in data) for status in statuses(said)) and b"\r\nok\n" not in said,
            said[:500],
        )
    said, _ = send(to, header())
    tap.same("the server continues", [200], statuses(said))
    for what, line in {"without a value": b"X:", "with a blank for a value": b"X: ", "with blanks around it": b"X:  a\t"}.items():
        tap.same(f"a header {what} is accepted", [200, 200], statuses(send(to, header(line) + NEXT)[0]))
    tap.same("it ends well", 0, to.end())


def oversized_requests():
    to = server("oversized")
    room = 4096 - len(b"GET / HTTP/1.1\r\n") - 100
    cases = {
        "a request line near 4096 bytes is read": (header(path=b"/" + b"a" * room), 404),
        "a longer one is refused": (header(path=b"/" + b"a" * 4200), 414),
        "a longer query as well": (header(path=b"/v1/new/uuid7?n=" + b"1" * 4200), 414),
        "60 lines of a header are read": (header(*[b"X-%d: y" % i for i in range(60)]), 200),
        "65 are refused": (header(*[b"X-%d: y" % i for i in range(65)]), 431),
        "a header of 7 KiB is read": (header(*[b"X-%d: " % i + b"y" * 1000 for i in range(7)]), 200),
        "one of 9 KiB is refused": (header(*[b"X-%d: " % i + b"y" * 1000 for i in range(9)]), 431),
        "one of 1 MiB too": (header(*[b"X-%d: " % i + b"y" * 1000 for i in range(1000)]), 431),
        "a line of 1 MiB too": (header(b"X: " + b"y" * (1 << 20)), 431),
        "17 keys of a query are refused": (header(path=b"/v1/new/uuid7?" + b"&".join(b"k%d=1" % i for i in range(17))), 400),
        "200 keys too": (header(path=b"/v1/new/uuid7?" + b"&".join(b"k%d=1" % i for i in range(200))), 400),
        "as many as fit a line too": (header(path=b"/v1/new/uuid7?" + b"&".join([b"a"] * 2000)), 400),
        "so are 300 lines of the header": (header(*[b"a:"] * 300), 431),
        "and 1500": (header(*[b"a:"] * 1500), 431),
        "a body of 16385 bytes is refused unread": (header(b"Content-Length: 16385", FORM, method=b"POST"), 413),
        "so are chunks of more": (
            header(b"Transfer-Encoding: chunked", FORM, method=b"POST") + (b"1000\r\n" + b"a" * 4096 + b"\r\n") * 6 + b"0\r\n\r\n",
            413,
        ),
        **{
            f"a body in {name} is answered, not waited for": (header(FORM, *codings, method=b"POST") + b"3\r\nn=2\r\n0\r\n\r\n", status)
            # libmicrohttpd 1.0 itself refuses what it does not know, and leaves out a blank at the end.
            for name, codings, status in (
                ("an invalid coding", [b"Transfer-Encoding: xchunked"], (501, 400)),
                ("two codings", [b"Transfer-Encoding: gzip, chunked"], (501, 400)),
                ("chunks with a blank after them", [b"Transfer-Encoding: chunked "], (501, 200)),
                ("chunks of chunks", [b"Transfer-Encoding: chunked"] * 2, 400),
            )
        },
        "chunks of HTTP/1.0 are refused": (
            b"POST /v1/new/snowflake HTTP/1.0\r\n" + FORM + b"\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nn=2\r\n0\r\n\r\n",
            400,
        ),
        "a body of no type is refused": (header(b"Content-Length: 5", method=b"POST") + b"n=100", 415),
        "a body of another type is refused": (header(b"Content-Length: 5", b"Content-Type: text/plain", method=b"POST") + b"n=100", 415),
        "a body of two types too": (header(b"Content-Length: 5", FORM, FORM, method=b"POST") + b"n=100", 415),
        "a body where POST is not served too": (header(b"Content-Length: 3", FORM, method=b"POST", path=b"/v1/show/1") + b"n=1", 405),
        "a GET with a body too": (header(b"Content-Length: 3", FORM) + b"n=1", 400),
        "none at all is fine": (header(b"Content-Length: 0", method=b"POST"), 200),
    }
    for what, (data, status) in cases.items():
        said, _ = send(to, data)
        # Bytes that the client still sends when it is refused may make the kernel drop the reply.
        found = statuses(said)
        allowed = {414: (414, 431)}.get(status, status if isinstance(status, tuple) else (status,))
        tap.check(what, found in ([one] for one in allowed) or (len(data) > 9000 and found == []), said[:300])
    tap.same("the server continues", [200], statuses(send(to, header())[0]))
    tap.same("it ends well", 0, to.end())


def post(to, path, kind, body, split=None):
    """Status and object of a POST, whose body comes in two pieces if `split` says where."""
    whole = header(b"Content-Type: " + kind, b"Content-Length: %d" % len(body), b"Connection: close", method=b"POST", path=path)
    with connect(to) as line:
        line.sendall(whole + body[:split])
        if split is not None:
            time.sleep(0.05)
            line.sendall(body[split:])
        said, _ = read_all(line)
    return statuses(said), json.loads(said.split(b"\r\n\r\n", 1)[1])


def bodies():
    to = server("bodies", auto_create="on")
    form, object_ = b"application/x-www-form-urlencoded", b"application/json; charset=utf-8"
    for kind, body in ((form, b"n=3&as=hex"), (object_, b'{"n": 3, "as": "hex"}'), (object_, b'{"n": "3", "as": "hex"}')):
        for split in (None, 1, 5):
            status, found = post(to, b"/v1/new/snowflake", kind, body, split)
            tap.check(f"{body} split at {split} is read", status == [200] and [len(one) for one in found["ids"]] == [16] * 3, found)
    status, found = post(to, b"/v1/new/uuid5", form, b"namespace=dns&name=a+b%2Ec")
    tap.same("a form's escapes are undone", post(to, b"/v1/new/uuid5", object_, b'{"namespace": "dns", "name": "a b.c"}'), (status, found))
    tap.same("a segment takes one", ([200], 2), (lambda it: (it[0], len(it[1]["ids"])))(post(to, b"/v1/segments/s", form, b"n=2")))
    tap.same("a block takes one", ([200], "7"), (lambda it: (it[0], it[1]["count"]))(post(to, b"/v1/block/s", object_, b'{"n": 7}')))
    tap.same("Leaf's paths take one", [200], post(to, b"/api/segment/get/s", form, b"x=1")[0])
    status, found = post(to, b"/v1/new/uuid7?n=2", form, b"n=2")
    tap.check("a body and a query that are both given agree", status == [200] and len(found["ids"]) == 2, found)
    refused = {
        "a body and a query that disagree": (b"/v1/new/uuid7?n=3", form, b"n=2", "n=2 in the body differs from 3 in the query"),
        "another name for the same": (b"/v1/new/uuid7?n=3", form, b"count=2", "differs from"),
        "a key twice": (b"/v1/new/uuid7", form, b"n=2&n=2", "twice"),
        "a member twice": (b"/v1/new/uuid7", object_, b'{"n": 2, "n": 2}', "duplicate"),
        "a list for a value": (b"/v1/new/uuid7", object_, b'{"n": [2]}', "neither a string nor an integer"),
        "a fraction": (b"/v1/new/uuid7", object_, b'{"n": 2.5}', "neither a string nor an integer"),
        "a list": (b"/v1/new/uuid7", object_, b"[2]", "not an object"),
        "half an object": (b"/v1/new/uuid7", object_, b'{"n": 2', "not JSON"),
        "a zero byte": (b"/v1/new/uuid5", object_, b'{"name": "a\\u0000"}', "not JSON"),
        "no UTF-8": (b"/v1/new/uuid5", object_, b'{"name": "\xff"}', "not JSON"),
        "half an escape": (b"/v1/new/uuid7", form, b"n=%2", "%25"),
        "an unknown key": (b"/v1/new/uuid7", form, b"coumt=2", "did you mean"),
        "17 keys": (b"/v1/new/uuid7", form, b"&".join(b"k%d=1" % i for i in range(17)), "more than 16"),
        "17 keys in both": (b"/v1/new/uuid7?a=1", object_, json.dumps({f"k{i}": 1 for i in range(16)}).encode(), "more than 16"),
    }
    for what, (path, kind, body, words) in refused.items():
        status, found = post(to, path, kind, body)
        tap.check(f"{what} is refused in words", status == [400] and words in found["detail"], (status, found))
    said, _ = send(to, header(FORM, b"Content-Length: 3", method=b"POST") + b"n=2" + NEXT)
    tap.check("a request after a body is heard", statuses(said) == [200, 200] and said.endswith(b"ok\n"), said)
    chunks = header(FORM, b"Transfer-Encoding: chunked", method=b"POST") + b"1\r\nn\r\n2\r\n=2\r\n0\r\n\r\n"
    said, _ = send(to, chunks + NEXT)
    tap.check("so is one after chunks", statuses(said) == [200, 200] and said.count(b'","') == 1, said)
    with connect(to) as line:
        line.sendall(header(FORM, b"Content-Length: 3", b"Expect: 100-continue", b"Connection: close", method=b"POST"))
        first = line.recv(100)
        line.sendall(b"n=2")
        said = first + read_all(line)[0]
    tap.same("a client that waits for 100-continue gets it", [100, 200], statuses(said))
    said, closed = send(to, header(b"Expect: 100-continue") + NEXT)
    tap.check("without a body it gets its reply; then the next one, or the end", statuses(said) in ([200], [200, 200]) and closed and b"uuid" not in said, said)
    tap.same("it ends well", 0, to.end())


def targets():
    to = server("targets")
    own = b"localhost:%d" % to.http
    for target in (b"http://%s/healthz", b"HTTP://%s/healthz", b"https://%s/healthz?x"):
        said, _ = send(to, header(path=target % own))
        tap.check(f"{target} is served", statuses(said) == ([400] if b"?" in target else [200]) or said.endswith(b"ok\n"), said)
    said, _ = send(to, b"GET http://%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % own)
    tap.check("an absolute target without a path is the console", statuses(said) == [200] and b"<html" in said, said[:300])
    said, _ = send(to, b"GET http://%s/v1/new/uuid7?n=2 HTTP/1.1\r\nHost: other.example\r\n\r\n" % own)
    tap.check("its host counts, and not the header's", statuses(said) == [200], said)
    said, _ = send(to, header(path=b"http://other.example/v1/new/uuid7"))
    tap.same("another server's is misdirected", [421], statuses(said))
    said, _ = send(to, header(method=b"OPTIONS", path=b"*") + NEXT)
    tap.check("OPTIONS * lists the methods", statuses(said) == [204, 200] and b"Allow: GET, HEAD, OPTIONS, POST" in said, said)
    said, _ = send(to, header(method=b"OPTIONS", path=b"/v1/show/1"))
    tap.check("OPTIONS of a path tells its own", statuses(said) == [204] and b"Allow: GET, HEAD, OPTIONS\r\n" in said, said)
    tap.same("it ends well", 0, to.end())


def replies_that_nobody_reads():
    """Clients that ask for a lot and read nothing cost replies_mib at most, plus one reply for each thread; others are
    served at the same time, except for requests as large."""
    mib, each = 8, 2.6
    to = server("unread", replies_mib=mib, wait="2s", slow=60)
    send(to, header(path=b"/v1/new/uuid7?n=65536"))
    before = serving.rss_kib(to.pid)
    lines = []
    for _ in range(60):
        line = connect(to)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(header(path=b"/v1/new/uuid7?n=65536") * 8)  # the kernel has room for some of them
        lines.append(line)
    large = header(path=b"/v1/new/uuid7?n=65536")
    refused = serving.wait_for("a refusal", lambda: (lambda it: it if statuses(it) == [503] else None)(send(to, large)[0]), 30)
    said, refused = refused, b"replies_mib" in refused and b"Retry-After" in refused
    grown = serving.rss_kib(to.pid) - before
    tap.check("a large request then may try again later", refused, said[:300])
    tap.check(f"60 clients that do not read cost {grown} KiB", grown < TIMES * (mib + 2 * each + 8) * 1024)
    tap.same("one ID is served", [200], statuses(send(to, header())[0]))
    tap.same("and so is readiness", [200], statuses(send(to, header(path=b"/readyz"))[0]))
    for line in lines:
        line.close()
    serving.wait_for("room again", lambda: statuses(send(to, header(path=b"/v1/new/uuid7?n=65536"))[0]) == [200])
    tap.same("it ends well", 0, to.end())
    to = server("unread_resp", replies_mib=mib, wait="2s", loops=1, slow=60)
    before = serving.rss_kib(to.pid)
    lines = []
    for _ in range(60):
        line = socket.create_connection(("127.0.0.1", to.port), timeout=REPLY_S)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(serving.command("FIRN.NEW", "uuid7", "COUNT", "65536") * 8)
        lines.append(line)
    with to.client() as client:
        refused = serving.wait_for("a refusal", lambda: client.send(serving.command("FIRN.NEW", "uuid7", "COUNT", "65536")) or (lambda it: it if isinstance(it, serving.Refused) else None)(client.read()))
        tap.check("over Redis's protocol too", "TRYAGAIN replies that clients have not read" in str(refused), refused)
        grown = serving.rss_kib(to.pid) - before
        tap.check(f"there they cost {grown} KiB", grown < TIMES * (mib + 4 * each + 12) * 1024)
        for words in (["CLIENT", "LIST"], ["INFO"], ["COMMAND", "DOCS"]):
            client.send(serving.command(*words))
            refused = client.read()
            tap.check(f"{' '.join(words)} counts too", "TRYAGAIN replies that clients have not read" in str(refused), refused)
        tap.check("and one ID is served", len(client.ask("FIRN.NEW", "uuid7")) == 36)
    for line in lines:
        line.close()
    tap.same("it ends well", 0, to.end())


def slow_clients():
    to = server("slow")
    for what, first, rest in (
        ("nothing is said", b"", b""),
        ("a header is begun", ASK, b""),
        ("a header comes byte by byte", ASK, b"X"),
        ("a second header comes byte by byte", header(), b"X"),
    ):
        with connect(to) as line:
            line.sendall(first)
            start = time.monotonic()
            closed = False
            line.settimeout(0.1)
            while not closed and time.monotonic() - start < 30:
                try:
                    if rest:
                        line.sendall(rest)
                    closed = line.recv(65536) == b""
                except TimeoutError:
                    pass
                except ConnectionError:
                    closed = True
        tap.check(f"when {what}, the connection is closed after slow", closed and time.monotonic() - start > SLOW_S * 0.7)
    with connect(to) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(header(path=b"/v1/new/uuid7?n=65536") * 8)
        slow = lambda: to.metrics()['firn_connections_closed_slow_total{listener="http"}']
        before = slow()
        serving.wait_for("the client that does not read", lambda: float(slow()) > float(before), 40)
        tap.check("a client that does not read its replies is closed", True)
    tap.same("others are served at the same time", [200], statuses(send(to, header())[0]))
    with connect(to) as line:
        line.sendall(header())
        line.settimeout(SLOW_S * 3)
        said, closed = read_all(line)
        tap.check("an idle client may stay", statuses(said) == [200] and not closed, said)
    tap.same("it ends well", 0, to.end())


def connections_that_stay():
    to = server("stay")
    with connect(to) as line:
        seen = set()
        for _ in range(100):
            line.sendall(header())
            reply = b""
            while not reply.endswith(b"]}\n"):
                reply += line.recv(4096)
            seen.update(json.loads(reply.split(b"\r\n\r\n")[1])["ids"])
        tap.same("a connection is used again and again", 100, len(seen))
    said, _ = send(to, header() * 200 + NEXT)
    tap.same("requests one after the other are answered in order", [200] * 201, statuses(said))
    tap.check("the last one last", said.endswith(b"ok\n"), said[-100:])
    ids = re.findall(rb'"ids":\["([^"]*)', said)
    tap.check("each with its own ID, in order", len(set(ids)) == 200 and ids == sorted(ids))
    said, _ = send(to, header(path=b"/v1/new/snowflake?format=text") * 200)
    ids = re.findall(rb"\r\n\r\n(\d{19})\n", said)
    tap.check("so have those as plain text", len(set(ids)) == 200 and ids == sorted(ids), said[-200:])
    said, closed = send(to, header(b"Connection: close") + NEXT, then_end=False)
    tap.check("Connection: close closes", closed and statuses(said) == [200], said)
    said, closed = send(to, b"GET /healthz HTTP/1.0\r\n\r\n", then_end=False)
    tap.check("so does HTTP/1.0", closed and said.endswith(b"ok\n"), said)
    said, _ = send(to, b"\r\n" + NEXT)
    tap.same("an empty line before a request is skipped", [200], statuses(said))
    cut = [connect(to) for _ in range(50)]
    for i, line in enumerate(cut):
        line.sendall(header()[: 1 + i])
        line.close()
    tap.same("requests that are cut off harm nobody", [200], statuses(send(to, header())[0]))
    tap.same("it ends well", 0, to.end())


def is_closed(line):
    line.setblocking(False)
    try:
        return line.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def bounds_of_connections():
    to = server("bounds", max_per_address=20)
    lines = [connect(to) for _ in range(60)]
    answered = 0
    for line in lines:
        try:
            line.sendall(header())
            answered += statuses(line.recv(4096)) == [200]
        except OSError:
            pass
    tap.check("one address has max_per_address connections, over both listeners", 10 <= answered <= 20, answered)
    for line in lines:
        line.close()
    serving.wait_for("room again", lambda: statuses(send(to, header())[0]) == [200])
    tap.check("when they are gone there is room again", True)
    tap.same("it ends well", 0, to.end())
    to = server("all", max_connections=10)
    lines = [connect(to) for _ in range(30)]
    serving.wait_for("the others to be turned away", lambda: sum(is_closed(line) for line in lines) >= 15)
    for line in lines:
        line.close()
    serving.wait_for("room again", lambda: statuses(send(to, header())[0]) == [200])
    turned = float(to.metrics()['firn_connections_turned_away_total{listener="http"}'])
    tap.check("max_connections bounds them all", turned >= 15, turned)
    tap.same("it ends well", 0, to.end())


def requests_that_wait_at_the_end():
    """Who asks while the listener closes by force is answered too: nothing may be left suspended."""
    sections = "[generator full]\nscheme = time:41/s@@2020-01-01 node:10 sequence:1\nnode = 1\nmax_lead = 1s\nfull = wait\n"
    ends, found = [], set()
    for i in range(4):
        to = server(f"waiting{i}", sections=sections, wait="60s", stop="0")
        lines = [connect(to) for _ in range(300)]
        whole = header(path=b"/v1/new/full")
        for at, line in enumerate(lines):
            line.sendall(whole if at < 50 else whole[:-1])
        serving.wait_for("requests that wait", lambda: float(to.metrics()['firn_requests_parked_total{listener="http"}']) > 20)
        to.process.terminate()
        for line in lines[50:]:
            try:
                line.sendall(whole[-1:])
            except OSError:
                pass  # closed already
        ends.append(to.process.wait(serving.PATIENCE_S))
        for line in lines:
            found.update(statuses(read_all(line)[0]))
            line.close()
    tap.same("requests that come while the server ends at once do not keep it from ending well", [0] * 4, ends)
    tap.check("they are refused, or closed", found <= {200, 429, 503}, found)


def mutated_requests():
    """From one seed: valid requests with bytes changed, dropped and doubled."""
    to = server("mutated")
    dice = random.Random(20240229)
    whole = header(b"Accept: text/plain", b"Content-Length: 0", path=b"/v1/new/snowflake?n=2&as=base62&time=2020-01-01T00%3A00%3A00Z")
    fine = 0
    for _ in range(MUTATIONS):
        data = bytearray(whole)
        for _ in range(dice.randrange(1, 6)):
            at = dice.randrange(len(data))
            data[at : at + dice.randrange(3)] = bytes(dice.choice(b"\r\n \t\0:%&=+/\xffG9") for _ in range(dice.randrange(4)))
        said, _ = send(to, bytes(data))
        fine += all(200 <= status < 506 for status in statuses(said)) and to.process.poll() is None
    tap.same(f"{MUTATIONS} requests with errors strewn in are answered or closed", MUTATIONS, fine)
    tap.same("the server continues", [200], statuses(send(to, header())[0]))
    tap.same("it ends well", 0, to.end())


tap.run(
    [
        malformed_requests,
        oversized_requests,
        bodies,
        targets,
        replies_that_nobody_reads,
        slow_clients,
        connections_that_stay,
        bounds_of_connections,
        requests_that_wait_at_the_end,
        mutated_requests,
    ]
)
