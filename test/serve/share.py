# SPDX-License-Identifier: MIT
"""Clients that share a server: large replies are sent in slices."""
import http.client
import json
import os
import socket

import serving
import tap
from serving import command

TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
MOST = 65536
WIDE = """
[generator wide]
scheme = 0x0:1 time:41/ms node:4 sequence:18
[segment counted]
"""


def serve(name, **settings):
    settings = {"auto_create": "on", "unsafe": "on", "loops": 1, "http_threads": 1, **settings}
    server = serving.Server(f"{TMPDIR}/{name}", PROGRAM, WIDE, **settings).start()
    serving.wait_for("readiness", lambda: server.get("/readyz")[0] == 200)
    return server


def rises(ids):
    return all(a < b for a, b in zip(ids, ids[1:]))


# ---- large replies -------------------------------------------------------------------------------------------------------


def large_replies():
    server = serve("large")
    client, other = server.client(), server.client()
    client.send(b"".join(command("FIRN.NEW", "wide", "COUNT", n) + command("PING", n) for n in (MOST, 8193, 8192, 3)))
    replies = [client.read() for _ in range(8)]
    ids = [int(one) for reply in replies[::2] for one in reply]
    tap.same("large replies come whole and in order", [MOST, "65536", 8193, "8193", 8192, "8192", 3, "3"],
             [len(one) if isinstance(one, list) else one for one in replies])
    tap.check("their IDs rise", rises(ids))
    client.send(command("MULTI") + command("FIRN.NEW", "uuid7", "COUNT", MOST) + command("INCR", "counted") + command("EXEC"))
    batch = [client.read() for _ in range(4)][-1]
    tap.same("within a batch too", [MOST, 36, True], [len(batch[0]), len(batch[0][0]), batch[1] > 0])
    client.send(command("FIRN.NEW", "uuid7", "COUNT", MOST, "TIME", "2024-02-29T12:00:00Z") + command("QUIT"))
    dated = client.read()
    tap.same("back-dated ones too", [MOST, MOST, "OK"], [len(dated), len(set(dated)), client.read()])
    tap.same("another client was served", "PONG", other.ask("PING"))
    for path, read in (("?format=text&n=", str.split), ("?n=", lambda text: json.loads(text)["ids"])):
        for name in ("new/wide", "segments/counted", "new/uuid4"):
            status, text = server.get(f"/v1/{name}{path}{MOST}")
            found = read(text)
            tap.same(f"HTTP: {name}{path}{MOST}", [200, MOST, MOST], [status, len(found), len(set(found))])
    page = http.client.HTTPConnection("127.0.0.1", server.http, timeout=serving.PATIENCE_S)
    page.request("HEAD", f"/v1/new/wide?n={MOST}")
    head = page.getresponse()
    tap.check("HEAD has its length", head.read() == b"" and int(head.headers["Content-Length"]) > MOST)
    client.close()
    other.close()
    tap.same("it ends with 0", 0, server.end())


def clients_that_leave():
    """In the middle of a large reply."""
    server = serve("leave", replies_mib=4)
    for number in range(40):
        with socket.create_connection(("127.0.0.1", server.http if number % 2 else server.port)) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            http_ = f"GET /v1/new/uuid4?n={MOST} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
            one.sendall(http_ if number % 2 else command("FIRN.NEW", "wide", "COUNT", MOST) * 3)
            one.recv(1000)
    with server.client() as client:
        reply = serving.wait_for("memory that they held", lambda: try_large(client))
        tap.same("what they held is free again", MOST, len(reply))
    tap.same("over HTTP too", MOST, serving.wait_for("memory", lambda: server.get(f"/v1/new/wide?format=text&n={MOST}")[1].count("\n")))
    tap.same("it ends with 0", 0, server.end())


def try_large(client):
    client.send(command("FIRN.NEW", "wide", "COUNT", MOST))
    reply = client.read()
    return reply if isinstance(reply, list) else None


tap.run([large_replies, clients_that_leave])
