# SPDX-License-Identifier: MIT
"""The notice that the VM generation ID has changed, as the kernel sends it, in a network of this process's user: vmgenid.py.
The kernel repeats a message of a process that may do everything there; vmgenid.py - sends it
as a process, which nobody believes."""
import socket
import struct
import sys

notice = b"change@/devices/platform/vmgenid\0ACTION=change\0SUBSYSTEM=platform\0NEW_VMGENID=1\0"
KOBJECT_UEVENT, REQUEST, TYPE = 15, 1, 16
with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, KOBJECT_UEVENT) as sender:
    if sys.argv[1:] == ["-"]:
        sender.sendto(notice, (0, 1))
    else:
        sender.sendto(struct.pack("=IHHII", 16 + len(notice), TYPE, REQUEST, 0, 0) + notice, (0, 0))
