# SPDX-License-Identifier: MIT
# Open connections when tls_client_ca changes: those that would be refused now are closed, and no others.
# Called by test/serve_mutual.sh in the folder of its certificates: mutual.py RESP HTTP PID LOG
import os
import signal
import socket
import ssl
import sys
import time

resp, http, pid, log = sys.argv[1:5]
PING = b"PING\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def connect(address, name, version):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations("ours.pem")
    context.minimum_version = context.maximum_version = version
    context.load_cert_chain(name + ".pem", name + ".key")
    host, port = address.rsplit(":", 1)
    made = socket.create_connection((host, int(port)), timeout=60)
    return context.wrap_socket(made, server_hostname=host)


def ask(connection, words):
    """The whole reply; b"" if the connection is closed instead. A reply of HTTP may come as head and body."""
    reply = b""
    try:
        connection.sendall(words)
        while not reply.endswith(b"+PONG\r\n") and not reply.partition(b"\r\n\r\n")[2]:
            got = connection.recv(4096)
            if got == b"":
                return b""
            reply += got
    except (ConnectionError, ssl.SSLError):
        return b""
    return reply


def is_closed(connection):
    """Without a request: waits until the server closes the connection."""
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except (ConnectionError, ssl.SSLError):
        return True


def reload(*authorities):
    with open("clients.pem", "w") as out:
        for name in authorities:
            with open(name + ".pem") as one:
                out.write(one.read())
    with open(log) as lines:
        before = lines.read().count("event=reloaded")
    os.kill(int(pid), signal.SIGHUP)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with open(log) as lines:
            if lines.read().count("event=reloaded") > before:
                return
        time.sleep(0.02)
    sys.exit("no reload within 60 s")


for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
    for address, words in (resp, PING), (http, GET):
        what = "%s, %s" % ("RESP" if words == PING else "HTTP", version.name)
        reload("ours")
        idle, asks = (connect(address, "client", version) for _ in range(2))
        if not ask(idle, words) or not ask(asks, words):
            print(what, "a client with a certificate is not served")
        reload("ours", "theirs")
        other = connect(address, "stranger", version)
        if not ask(idle, words) or not ask(asks, words) or not ask(other, words):
            print(what, "a second CA closes a connection of the first")
        reload("theirs")
        if ask(asks, words):
            print(what, "a client of a CA that was removed is served")
        if not is_closed(idle):
            print(what, "its idle connection stays open")
        if not ask(other, words):
            print(what, "a client of the CA that stays is closed")
print("done")
