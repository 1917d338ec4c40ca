# SPDX-License-Identifier: MIT
"""Does as systemd for a socket unit: socket_activation.py NAME=ADDRESS... -- COMMAND... listens on each address (HOST:PORT,
[HOST]:PORT or a path), and becomes the command with the sockets as descriptors 3, 4, ... and their names in the environment."""
import os
import socket
import sys

at = sys.argv.index("--")
names, sockets = [], []
for word in sys.argv[1:at]:
    name, address = word.split("=", 1)
    if address.startswith("/"):
        made = socket.socket(socket.AF_UNIX)
        made.bind(address)
    else:
        host, port = address.rsplit(":", 1)
        made = socket.socket(socket.AF_INET6 if host[0] == "[" else socket.AF_INET)
        if host[0] == "[":
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)  # for both, as systemd has it
        made.bind((host.strip("[]"), int(port)))
    made.listen(16)
    names.append(name)
    sockets.append(made)
high = [os.dup2(one.fileno(), 100 + i) for i, one in enumerate(sockets)]
for i, fd in enumerate(high):
    os.dup2(fd, 3 + i)
    os.close(fd)
os.environ.update(LISTEN_FDS=str(len(names)), LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES=":".join(names))
os.execvp(sys.argv[at + 1], sys.argv[at + 1 :])
