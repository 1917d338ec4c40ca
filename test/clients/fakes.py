# SPDX-License-Identifier: MIT
"""Servers of test/clients/clients.py that answer as the test asks: too late, not at all, wrong, or that they are busy.

A Fake speaks RESP and HTTP on one port. `script` gets the number of the request (from 0; a question for the layout of
a scheme does not count) and how many IDs the request is for, and returns what to reply: a list of texts, an Exception-like
pair (code, text), or bytes that are sent as they are. None: no reply, ever."""
import http.client
import re
import socket
import socketserver
import threading
import time
import urllib.parse

STATUS = {"TRYAGAIN": 503, "ERR": 400, "END": 409, "WRONGPASS": 401}


def numbers(request, count):
    """IDs that contain the number of the request that issued them."""
    return [str(request * 100000 + 1000000000 + i) for i in range(count)]


class Fake:
    def __init__(self, script=numbers, delay=lambda request: 0):
        self.script, self.delay, self.requests, self.lock = script, delay, 0, threading.Lock()
        self.connections = 0
        self.ended = threading.Event()

        class Handler(socketserver.StreamRequestHandler):
            def handle(handler):
                self.connections += 1
                try:
                    self.serve(handler.rfile, handler.wfile)
                except (OSError, ValueError):
                    pass

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 64

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, count):
        with self.lock:
            number = self.requests
            self.requests += 1
        time.sleep(self.delay(number))
        return self.script(number, count)

    def serve(self, source, sink):
        while True:
            first = source.readline()
            if not first:
                return
            reply = self.resp(first, source) if first[:1] == b"*" else self.http(first, source)
            if reply is None:
                self.ended.wait(60)
                return
            sink.write(reply)
            sink.flush()
            while reply in (DRIPS[0], DRIPS[1][1:]) and not self.ended.wait(0.05):
                sink.write(b"1")
                sink.flush()

    def resp(self, first, source):
        words = []
        for _ in range(int(first[1:])):
            size = int(source.readline()[1:])
            words.append(source.read(size + 2)[:-2].decode())
        verb = words[0].upper()
        if verb == "FIRN.SCHEMES":
            return bulks(["bits", "64", "form", "dec"])
        if verb in ("FIRN.NEW", "INCR", "FIRN.BLOCK"):
            given = [word.upper() for word in words]
            reply = self.answer(int(words[given.index("COUNT") + 1]) if "COUNT" in given else 1)
            if reply is None or isinstance(reply, bytes):
                return reply
            if isinstance(reply, tuple):
                return ("-%s %s\r\n" % reply).encode()
            if verb == "INCR":
                return (":%s\r\n" % reply[0]).encode()
            return bulks(reply) if "COUNT" in given else bulk(reply[0])
        return b"-ERR unknown command\r\n" if verb == "HELLO" else b"+OK\r\n"

    def http(self, first, source):
        fields = {key.lower(): value for key, value in http.client.parse_headers(source).items()}
        path, _, query = first.split()[1].decode().partition("?")
        query += "&" + source.read(int(fields.get("content-length", 0))).decode()
        if path.startswith("/v1/schemes/"):
            return page(200, "bits 64\nform dec\n")
        reply = self.answer(int(dict(urllib.parse.parse_qsl(query)).get("n", 1)))
        if reply is None:
            return None
        if isinstance(reply, bytes):
            return page(200, reply) if not reply.startswith(b"!") else reply[1:]
        if isinstance(reply, tuple):
            return page(STATUS[reply[0]], '{"detail":"%s","code":"STORE"}' % reply[1], "application/problem+json")
        return page(200, "".join(text + "\n" for text in reply))


def bulk(text):
    return b"$%d\r\n%s\r\n" % (len(text), text.encode())


def bulks(texts):
    return b"*%d\r\n" % len(texts) + b"".join(bulk(text) for text in texts)


def page(status, text, kind="text/plain"):
    body = text if isinstance(text, bytes) else text.encode()
    return b"HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (status, kind.encode(), len(body), body)


# After these the rest comes byte by byte, and does not end.
DRIPS = b"*3\r\n$999999\r\n", b"!HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"

# Ten integers of a segment, over HTTP and RESP.
FAR = b"4000000000000000000 1 10\n", b"*4\r\n:4000000000000000000\r\n:4000000000000000009\r\n:1\r\n:10\r\n"

# Replies to FIRN.NEW ... COUNT 3 that are not valid.
MALFORMED_RESP = {
    "too few IDs": bulks(["1", "2"]), "too many IDs": bulks(["1", "2", "3", "4"]), "no ID": b"*0\r\n", "nil": b"*-1\r\n",
    "an empty ID": bulks(["1", "", "3"]), "letters": bulks(["1", "zwei", "3"]), "a nil inside": b"*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n3\r\n",
    "65 bits": bulks(["1", "2", "99999999999999999999999"]), "OK": b"+OK\r\n", "another protocol": b"HTTP/1.1 400 Bad\r\n\r\n",
    "an invalid size": b"*3\r\n$x\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n", "half a reply": b"*3\r\n$1\r\n1\r\n$1",
    "arrays in arrays": b"*1\r\n" * 20000,
    "bytes that are not UTF-8": b"*3\r\n$2\r\n\xff\xfe\r\n$1\r\n2\r\n$1\r\n3\r\n",
}
MALFORMED_HTTP = {
    "too few IDs": b"1\n2\n", "too many IDs": b"1\n2\n3\n4\n", "no ID": b"", "an empty ID": b"1\n\n3\n", "letters": b"1\nzwei\n3\n",
    "65 bits": b"1\n2\n99999999999999999999999\n", "a page of a proxy": b"<html>\nhello\n</html>\n",
    "another protocol": b"!-ERR unknown command\r\n\r\n", "a body that ends early": b"!HTTP/1.1 200 OK\r\nContent-Length: 99\r\nConnection: close\r\n\r\n1\n2\n3\n",
    "bytes that are not UTF-8": b"\xff\xfe\n2\n3\n",
}


def stopped(port):
    """Is nobody listening there?"""
    with socket.socket() as it:
        return it.connect_ex(("127.0.0.1", port)) != 0


def is_number(text):
    return re.fullmatch(r"[0-9]+", text) is not None
