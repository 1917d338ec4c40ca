# SPDX-License-Identifier: MIT
"""The facts about the machine that measured; nothing that names its owner."""
import os
import platform
import re
import subprocess

import engine


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                return re.sub(r"\((R|TM)\)", "", line.split(":", 1)[1]).strip()
    return platform.machine()


def memory_gib():
    with open("/proc/meminfo", encoding="ascii") as lines:
        return round(int(lines.readline().split()[1]) / 1048576)


def name():
    """A name for the machine, from its processor and cores."""
    words = re.sub(r"[^a-z0-9]+", "-", processor().lower()).strip("-")
    return "%s-%d" % (re.sub(r"-?(processor|cpu)\b", "", words)[:30].strip("-"), os.cpu_count())


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0].strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def facts():
    yield "processor", processor()
    yield "cores", os.cpu_count()
    yield "memory", "%d GiB" % memory_gib()
    yield "virtual", first_line("systemd-detect-virt", "--vm")
    yield "kernel", ".".join(platform.release().split(".")[:2])
    yield "system", platform.freedesktop_os_release()["PRETTY_NAME"]
    yield "data on", "%s (%s)" % (engine.PLACE, first_line("stat", "-f", "-c", "%T", engine.PLACE))
    yield "python", platform.python_version()


def write(path):
    with open(path, "w", encoding="utf-8") as out:
        out.writelines("%s\t%s\n" % fact for fact in facts())
