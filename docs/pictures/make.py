#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the pictures of the README from real output (make pictures): docs/pictures/make.py FIRN FIRN-SERVE.
show.png is `firn show` on a terminal with colours, console.png the console of a server. Needs chromium."""
import html
import os
import re
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "..", "test"))
from browser import Browser  # noqa: E402

ID = "1541815603606036480"
BASIC = "#1e2127 #e06c75 #98c379 #d19a66 #61afef #c678dd #56b6c2 #abb2bf".split()
LEVELS = (0, 95, 135, 175, 215, 255)
PAGE = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 18px 24px; background: #1e2127; color: #d7dae0; display: inline-block; }
pre { margin: 0; font: 15px/1.45 "DejaVu Sans Mono", monospace; }
</style><pre>%s</pre>"""


def color(number):
    """The colour of a number of the 256 that terminals have."""
    if number < 16:
        return BASIC[number % 8]
    if number >= 232:
        return "#" + "%02x" % (8 + 10 * (number - 232)) * 3
    number -= 16
    return "#%02x%02x%02x" % (LEVELS[number // 36], LEVELS[number // 6 % 6], LEVELS[number % 6])


def styled(text):
    """The text of a terminal as HTML: colours, bold and dim."""
    out, style = [], {}
    for escape, plain in re.findall(r"(?:\x1b\[([\d;]*)m)|([^\x1b]+)", text):
        if plain:
            out.append('<span style="%s">%s</span>' % (";".join(style.values()), html.escape(plain)))
            continue
        codes = [int(code or 0) for code in escape.split(";")]
        if codes[:2] == [38, 5]:
            style["color"] = "color:" + color(codes[2])
        for code in codes if codes[0] != 38 else ():
            if code == 0:
                style = {}
            elif code == 1:
                style["weight"] = "font-weight:bold"
            elif code == 2:
                style["opacity"] = "opacity:.65"
            elif code // 10 in (3, 9):
                style["color"] = "color:" + color(code % 10)
    return "".join(out)


def terminal(browser, folder, firn):
    environment = dict(os.environ, TERM="xterm-256color")
    words = ["show", "--color=always", "--scheme", "snowflake", ID]
    shown = subprocess.run([firn, *words], check=True, capture_output=True, text=True, env=environment).stdout
    page = os.path.join(folder, "show.html")
    with open(page, "w", encoding="utf-8") as out:
        out.write(PAGE % ("$ firn show --scheme snowflake %s\n%s" % (ID, styled(shown.rstrip()))))
    browser.resize(800, 600)
    browser.open("file://" + page)
    width, height = browser.evaluate("[document.body.offsetWidth, document.body.offsetHeight]")
    browser.resize(width, height)
    browser.picture(os.path.join(FOLDER, "show.png"))


def console(browser, folder, server):
    log = os.path.join(folder, "log")
    store = "sqlite:%s/firn.db?unsafe=1&create=yes" % folder
    with open(log, "w", encoding="utf-8") as out:
        words = ["--auto-create", "--store", store, "--resp", "127.0.0.1:0", "--http", "127.0.0.1:0", "--hints"]
        process = subprocess.Popen([server, *words], stdout=out, stderr=out)
    try:
        for _ in range(600):
            with open(log, encoding="utf-8") as said:
                found = re.search(r"http://127\.0\.0\.1:\d+", said.read())
            if found:
                break
            time.sleep(0.1)
        browser.resize(1280, 900)
        browser.open(found.group(0) + "/#read=%s&scheme=snowflake" % ID)
        browser.until("location.hash.includes('%s') && document.title.includes(' is ')" % ID)
        browser.evaluate("document.activeElement.blur()")
        browser.rest(3)
        browser.picture(os.path.join(FOLDER, "console.png"))
    finally:
        process.terminate()
        process.wait(60)


def main():
    firn, server = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder)
        try:
            terminal(browser, folder, firn)
            console(browser, folder, server)
        finally:
            browser.close()


main()
