#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the decoder page: site/make.py OUT. One file with style, scripts and console.wasm in it, which asks nobody for
anything. Its policy allows these scripts, by their digest, and nothing else."""
import base64
import hashlib
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPTS = ("bindings/wasm/core.js", "bindings/node/generators.js", "bindings/node/api.js", "server/console/page.js",
           "server/console/read.js", "site/site.js")


def read(name, mode="r"):
    with open(os.path.join(ROOT, name), mode, **({} if "b" in mode else {"encoding": "utf-8"})) as file:
        return file.read()


def digest(text):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def cut(pattern, text):
    """The one piece of the console's page."""
    (piece,) = re.findall(pattern, text, re.S)
    return piece


def main():
    console = read("server/console/index.html")
    wasm = base64.b64encode(read("bindings/wasm/console.wasm", "rb")).decode()
    script = "\n".join(['const firnBytes = "%s";' % wasm, *map(read, SCRIPTS)])
    style = read("server/console/console.css")
    parts = {
        "policy": "default-src 'none'; script-src %s 'wasm-unsafe-eval'; style-src %s; img-src data:; base-uri 'none'; "
                  "form-action 'none'" % (digest(script), digest(style)),
        "icon": "data:image/svg+xml;base64," + base64.b64encode(read("server/console/icon.svg", "rb")).decode(),
        "style": style,
        "script": script,
        "theme": cut(r'<label class="theme">.*?</label>', console),
        "view": cut(r'<section id="view-read".*?</section>', console).replace(" hidden>", ">", 1),
        "version": cut(r'#define FIRN_VERSION "([^"]*)"', read("include/firn/firn.h")),
    }
    page = re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], read("site/decoder.html"))
    os.makedirs(os.path.dirname(os.path.abspath(sys.argv[1])), exist_ok=True)
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write(page)


main()
