# SPDX-License-Identifier: MIT
"""A client that requests much and reads nothing: unread.py HOST:PORT, until its standard input ends."""
import os
import socket
import sys

host, port = sys.argv[1].rsplit(":", 1)
with socket.create_connection((host, int(port)), timeout=30) as client:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(b"FIRN.NEW uuid7 COUNT 1000\r\n" * 1000)
    print("full", flush=True)
    while os.read(sys.stdin.fileno(), 1) != b"":
        pass
