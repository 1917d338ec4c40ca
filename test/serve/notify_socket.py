# SPDX-License-Identifier: MIT
"""A service manager that only listens: notify_socket.py SOCKET FILE appends each message to FILE, its lines joined by blanks,
until its standard input ends."""
import os
import select
import socket
import sys

path, told = sys.argv[1:]
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox, open(told, "a", encoding="utf-8") as out:
    inbox.bind(path)
    print("listening", flush=True)
    while True:
        ready, _, _ = select.select([inbox, sys.stdin], [], [], 60)
        if inbox in ready:
            out.write(inbox.recv(4096).decode().replace("\n", " ") + "\n")
            out.flush()
        elif not ready or os.read(sys.stdin.fileno(), 1) == b"":
            break
