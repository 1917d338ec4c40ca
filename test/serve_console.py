# SPDX-License-Identifier: MIT
# The judge of the console: serve_console.py SERVER COMMAND FOLDER. It starts the server, drives a
# browser (browser.py), and compares the drawing with the output of the `firn` command for the same IDs.
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
import urllib.request

from browser import Browser
from decoding import CONTRAST, SAMPLES, check, check_drawing, check_forms, choose, finish, firn, same, shown

VIEWS = ("read", "make", "choose", "now", "windows", "spread")
CONFIG = """[server]
http = 127.0.0.1:0
resp = none
store = sqlite:%s/store/firn.db%s
[generator orders]
scheme = tsid
[segment invoices]
step = 1000
"""
TOKEN = "kxJ2v8Qm3nZr5tYw7bAc9dEf"

# ---- the server and the command ------------------------------------------------------------------


class Server:
    def __init__(self, program, folder, name, *words):
        os.makedirs(os.path.join(folder, name, "store"), 0o700)
        file = os.path.join(folder, name, "firn.ini")
        with open(file, "w", encoding="ascii") as out:
            out.write(CONFIG % (os.path.join(folder, name), "?unsafe=1&create=yes"))
        self.log = os.path.join(folder, name, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([program, "--config", file, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.base = self.address()

    def address(self):
        for _ in range(1200):
            found = re.search(r"127\.0\.0\.1:([1-9]\d*)", self.said())
            if found:
                return "http://" + found.group(0)
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError("the server did not start: " + self.said())

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def get(self, path):
        with urllib.request.urlopen(self.base + path, timeout=10) as answer:
            return answer.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(5)


# ---- read ----------------------------------------------------------------------------------------

def read(browser, id):
    """As people do: the box is emptied, the text pasted, the key pressed."""
    browser.evaluate("document.title = '', document.querySelector('#read-id').focus(), document.querySelector('#read-id').select()")
    browser.type(id)
    browser.press("Enter")
    browser.until("location.hash.includes('%s') && document.title.includes(' is ')" % id)
    choose(browser, id)


def check_reading(browser, server, schemes):
    browser.open(server.base + "/")
    browser.until("!document.querySelector('#reading').hidden")
    check("an example is drawn before anything is asked", "for example" in browser.text("#read-facts"))
    for id in SAMPLES:
        browser.evaluate("document.title = ''")
        read(browser, id)
        best = shown(id)
        drawn = check_drawing(browser, schemes, id, best["scheme"])
        if best["scheme"] not in ("nil", "typeid"):
            check_forms(browser, id, best["scheme"])
        if len(best["candidates"]) > 1:
            same("its candidates are the same as in `firn show`", best["candidates"], drawn["candidates"])
        used = [tone for tone, slice in zip(drawn["tones"], drawn["legend"]) if slice != "fixed"]
        if best["scheme"] == "snowflake":
            same("each field has its own tone", len(used), len(set(used)))
    read(browser, SAMPLES[0])
    browser.until("document.querySelector('#read-scheme').textContent === 'snowflake'")
    for name in ("seata", "lable-spread"):
        browser.evaluate("[...document.querySelectorAll('#candidates button')]"
                         ".find((one) => one.textContent === '%s').click()" % name)
        check_drawing(browser, schemes, SAMPLES[0], name)
    check("the address holds the ID and the scheme", browser.evaluate("location.hash").endswith("scheme=lable-spread"))
    browser.evaluate("history.back()")
    check_drawing(browser, schemes, SAMPLES[0], "seata")
    browser.open(server.base + "/?again#read=01ARZ3NDEKTSV4RRFFQ69G5FAV")
    browser.until("document.title.includes('01ARZ3NDEKTSV4RRFFQ69G5FAV')")
    check_drawing(browser, schemes, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid")
    browser.open(server.base + "/?bare#01ARZ3NDEKTSV4RRFFQ69G5FAW")
    browser.until("document.title.includes('01ARZ3NDEKTSV4RRFFQ69G5FAW')")
    check_drawing(browser, schemes, "01ARZ3NDEKTSV4RRFFQ69G5FAW", "ulid")
    browser.evaluate("location.hash = '#main'")
    browser.evaluate("document.querySelector('#read-id').select()")
    browser.evaluate("location.hash = '#read=!!'")
    error = browser.wait("document.querySelector('#read-error').textContent")
    check("a text that is not an ID is refused in the server's words", error and "!!" in error, error)
    check("and nothing is drawn of it", browser.evaluate("document.querySelector('#reading').hidden"))
    check("nor any format", browser.evaluate("document.querySelector('#formats').hidden"))
    browser.evaluate("location.hash = '#read=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'")
    browser.until("document.title.includes(' is traceparent')")
    same("a format that is not a scheme is shown, with its fields", "traceparent, certain 00 0af7651916cd43dd8448eb211c80319c",
         browser.evaluate("[...document.querySelectorAll('#formats dd')].slice(0, 3).map((one) => one.textContent).join(' ')"))
    check("and is not an error", browser.evaluate("document.querySelector('#read-error').hidden && document.querySelector('#reading').hidden"))
    browser.evaluate("location.hash = '#read=V1StGXR8_Z5jdHi6B-myT'")
    check("one that is only possible is listed below the error", browser.wait("document.querySelector('#formats dd').textContent === 'nanoid, possible'")
          and browser.evaluate("!document.querySelector('#read-error').hidden"))
    read(browser, SAMPLES[0])


def check_offline(browser, server):
    browser.open(server.base + "/?offline#read=%s&scheme=snowflake" % SAMPLES[0])
    browser.until("document.title.includes(' is snowflake')")
    browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    read(browser, SAMPLES[2])
    same("an ID is decoded without the server", "ulid", browser.text("#read-scheme"))
    browser.choose("#span-to", "2016-08-02T12:00:00Z")
    browser.evaluate("document.querySelector('#span').dispatchEvent(new Event('input'))")
    ids = firn("range", "ulid", "2016-07-30", "2016-08-02T12:00:00Z").split()
    check("so are the bounds of a time span", browser.wait("document.querySelector('#span-ids').textContent.includes('%s')" % ids[1]))
    browser.choose("#span-to", "2016-02-31")
    browser.evaluate("document.querySelector('#span').dispatchEvent(new Event('input'))")
    check("and a wrong one is refused in firn's words", browser.wait("document.querySelector('#span-error').textContent"))
    browser.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)


# ---- keys ----------------------------------------------------------------------------------------

FOCUS = """(() => {
    const at = document.activeElement, style = getComputedStyle(at);
    return { id: at.id, tag: at.tagName, text: at.textContent.trim(), field: at.dataset.field || '', class: at.className,
             ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 };
})()"""


def tab_to(browser, wanted, most=40):
    """Presses Tab until it is there; every stop on the way must show where it is."""
    unseen = []
    for _ in range(most):
        browser.press("Tab")
        focus = browser.evaluate(FOCUS)
        if not focus["ring"] and focus["tag"] != "BODY":
            unseen.append(focus)
        if wanted(focus):
            return focus, unseen
    return None, unseen


def check_keys(browser, server):
    browser.open(server.base + "/?keys#read=541815603606036480&scheme=snowflake")
    browser.until("document.title.includes(' is snowflake')")
    browser.press("Tab")
    same("the first stop of Tab skips to the content", "skip", browser.evaluate(FOCUS)["class"])
    browser.press("Enter")
    check("which does not change the reading", browser.sees("#reading") and browser.evaluate(FOCUS)["id"] == "main")
    browser.press("/")
    same("/ goes to the box of the ID", "read-id", browser.evaluate(FOCUS)["id"])
    focus, unseen = tab_to(browser, lambda one: one["field"])
    same("Tab comes to the first field of the drawing", "fixed", focus and focus["field"])
    fields = []
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "End"):
        browser.press(key)
        fields.append(browser.evaluate(FOCUS)["field"])
    same("the arrow keys, Home and End move between fields",
         ["time", "datacenter", "worker", "sequence", "sequence", "worker", "fixed", "sequence"], fields)
    check("the field is lit in the drawing and in the legend",
          browser.sees("#bits .on[data-field=sequence]") and browser.sees("#legend .on[data-field=sequence]"))
    browser.open(server.base + "/?make#read")
    browser.until("!document.querySelector('#reading').hidden")
    link, more = tab_to(browser, lambda one: one["text"] == "Generate")
    browser.press("Enter")
    browser.until("document.querySelector('#make-scheme').options.length > 20")
    count, rest = tab_to(browser, lambda one: one["id"] == "make-count")
    check("Tab comes to the links and to the form", link and count)
    browser.evaluate("document.activeElement.select()")
    browser.type("3")
    browser.press("Enter")
    same("Enter makes IDs", 3, browser.wait("document.querySelectorAll('#made li').length"))
    copy, last = tab_to(browser, lambda one: one["text"] == "Copy")
    check("Tab comes to their buttons", copy)
    same("every stop shows a ring", [], unseen + more + rest + last)
    browser.press("/")
    check("/ comes back to reading from there", browser.wait(
        "document.activeElement.id === 'read-id' && document.body.dataset.view === 'read'"))


# ---- make ----------------------------------------------------------------------------------------


def fill(browser, **values):
    for name, value in values.items():
        browser.choose("#make-" + name, value)


def made(browser, **values):
    fill(browser, **values)
    browser.evaluate("document.querySelector('#made').replaceChildren()")
    browser.click("#make-form button")
    browser.until("document.querySelectorAll('#made li').length || !document.querySelector('#make-error').hidden")
    return browser.evaluate("[...document.querySelectorAll('#made a')].map((link) => link.textContent)")


def check_making(browser, server):
    browser.open(server.base + "/?make#make=snowflake")
    browser.until("document.querySelector('#make-scheme').value === 'snowflake'")
    ids = made(browser, count="100")
    same("100 snowflakes are 100 different IDs", 100, len(set(ids)))
    times = {json.loads(firn("show", "--json", "--scheme", "snowflake", id))["time"][:4] for id in ids[:3]}
    same("of today", {time.strftime("%Y", time.gmtime())}, times)
    rights = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    browser.call("Browser.grantPermissions", permissions=rights, origin=server.base)
    browser.click("#copy-all")
    browser.until("document.querySelector('#copy-all').textContent === 'Copied'")
    same("all can be copied", "\n".join(ids), browser.evaluate("navigator.clipboard.readText()"))
    browser.evaluate("document.querySelectorAll('#made button')[7].click()")
    browser.until("document.querySelectorAll('#made button')[7].textContent === 'Copied'")
    same("and each", ids[7], browser.evaluate("navigator.clipboard.readText()"))
    dated = made(browser, count="5", time="2020-02-29T12:00:00.123Z")
    same("back-dated ones carry their time", ["2020-02-29T12:00:00.123Z"] * 5,
         [json.loads(firn("show", "--json", "--scheme", "snowflake", id))["time"] for id in dated])
    same("and are different too", 5, len(set(dated)))
    made(browser, time="1999-01-01")
    error = browser.text("#make-error")
    check("the server's error is shown for a time outside the layout", "2010-11-04" in error, error)
    same("hex is a form", 16, len(made(browser, time="", count="1", **{"form-name": "hex"})[0]))
    typeid = made(browser, scheme="typeid", prefix="user", **{"form-name": ""})
    check("typeid has a prefix", typeid and typeid[0].startswith("user_"), typeid)
    digest = made(browser, scheme="uuid5", namespace="dns", name="example.org")
    same("uuid5 has a namespace and a name", firn("new", "uuid5", "namespace=dns", "name=example.org").split(), digest)
    check("a configured generator is in the list", browser.wait(
        "[...document.querySelector('#make-scheme').options].some((one) => one.value === 'orders')"))
    same("and makes IDs", 20, len(set(made(browser, scheme="orders", count="20"))))
    browser.click("#made a")
    check("an ID that was made is read by its link", browser.wait("document.title.includes(' is orders')"))


# ---- now, windows, spread ------------------------------------------------------------------------


def load(server, stop):
    try:
        while not stop.is_set():
            server.get("/v1/new/snowflake?n=100")
            time.sleep(0.002)
    except OSError as error:
        check("the server issues under load", False, error)


# How high a line goes, in hundredths of the plot, and the newest figure of a chart.
HIGHEST = """Math.max(0, ...(document.querySelector('[data-series=%s]')?.getAttribute('d').match(/ [0-9.]+/g) || ['100'])
    .map((y) => 100 - y))"""
NEWEST = "Number(document.querySelector('#chart-ids .value')?.textContent.replace(/,/g, ''))"


def asked(browser):
    sent = [one["params"]["request"] for one in browser.events if one["method"] == "Network.requestWillBeSent"]
    return [one["url"] for one in sent]


def check_live(browser, server):
    browser.open(server.base + "/?now#now")
    check("charts are drawn", browser.wait(
        "document.querySelector('[data-series=ids]')?.getAttribute('d').length > 12"))
    quiet = browser.evaluate(NEWEST)
    stop = threading.Event()
    thread = threading.Thread(target=load, args=(server, stop))
    thread.start()
    busy = browser.wait(NEWEST + " > 500")
    check("they move when IDs are asked for", quiet == 0 and busy, "%s, then %s" % (quiet, browser.evaluate(NEWEST)))
    check("so does the line of IDs", browser.wait(HIGHEST % "ids" + " > 20"))
    check("and the rate of requests too", browser.wait(HIGHEST % "requests" + " > 20"))
    latency = browser.wait("/p50 ≤ .*p99 ≤ /.test(document.querySelector('#chart-latency').textContent)")
    check("latency has its quantiles and lines", latency and browser.evaluate(HIGHEST % "p99" + " > 0"))
    stop.set()
    thread.join(10)
    counted = lambda: sum(1 for url in asked(browser) if url.endswith("/v1/status"))
    hide = ("Object.defineProperty(document, 'hidden', { value: %s, configurable: true });"
            "document.dispatchEvent(new Event('visibilitychange'))")
    browser.evaluate(hide % "true")
    browser.rest(0.3)
    before = counted()
    browser.rest(1.6)
    same("a hidden page asks nothing", before, counted())
    browser.evaluate(hide % "false")
    for _ in range(50):
        browser.rest(0.1)
        if counted() > before:
            break
    check("and continues when it is seen again", counted() > before)


def check_windows(browser, server):
    server.get("/v1/segments/invoices?n=5")
    browser.open(server.base + "/?windows#windows")
    cell = ("[...document.querySelectorAll('#%s tbody tr')]"
            ".find((row) => row.cells[0].textContent.startsWith('%s'))?.cells[%d]")
    left = browser.wait("(%s)?.textContent" % (cell % ("generators", "snowflake", 1)))
    check("a window shows how much of it is left", left and re.search(r"^[\d,.]+K? ms$", left), left)
    width = browser.evaluate("(%s)?.querySelector('i').style.width" % (cell % ("generators", "snowflake", 1)))
    check("by a bar too", re.fullmatch(r"\d+%", width or "") and 0 < int(width[:-1]) <= 100, width)
    node = browser.evaluate("(%s)?.textContent" % (cell % ("generators", "snowflake", 2)))
    check("its node is there", re.fullmatch(r"\d+", node or ""), node)
    check("the configured generator is there", browser.evaluate("Boolean(%s)" % (cell % ("generators", "orders", 0))))
    last = browser.wait("(%s)?.textContent" % (cell % ("segments", "invoices", 1)))
    same("a segment tells its last integer", "5", last)
    rest = browser.evaluate("(%s)?.textContent" % (cell % ("segments", "invoices", 2)))
    check("and how much of its block is left", rest and int(rest.replace(",", "")) >= 1, rest)
    check("the store answers, or a caution says what it may lose",
          browser.sees("#stores .dot[data-state=good]") or browser.sees("#stores .dot[data-state=warn]"),
          browser.text("#stores tbody"))
    same("nothing is undefined", [], re.findall("undefined|NaN|null|Object", browser.text("main")))


def check_spread(browser, server):
    for _ in range(60):
        server.get("/v1/new/snowflake?n=7")
    for shards in ("16", "64"):
        browser.open(server.base + "/?%s#spread=snowflake" % shards)
        browser.until("document.querySelectorAll('#spreads figure').length")
        browser.choose("#spread-shards", shards)
        browser.until("document.querySelector('#spreads .columns').querySelectorAll('i').length === %s" % shards)
        bars = browser.evaluate("[...document.querySelectorAll('#spreads .columns')]"
                                ".map((one) => [...one.querySelectorAll('i')].map((bar) => +bar.dataset.count))")
        sample = int(re.match(r"[\d,]+", browser.text("#spread-note")).group(0).replace(",", ""))
        same("of %s shards there are that many bars, by each way" % shards, {int(shards)}, {len(one) for one in bars})
        same("they sum up to the sample", {sample}, {sum(one) for one in bars})
        check("which holds IDs, and there are three ways", sample > 50 and len(bars) == 3, "%s %s" % (sample, len(bars)))
    wrong = browser.evaluate("[...document.querySelectorAll('#spreads .columns i')]"
                             ".filter((bar) => (bar.dataset.count > 0) !== (bar.offsetHeight > 0)).length")
    same("bars that count are there to be seen, and no others", 0, wrong)


# ---- choose --------------------------------------------------------------------------------------


def check_choosing(browser, server):
    first = "document.querySelector('#chosen h2')?.textContent.trim()"
    browser.open(server.base + "/?choose#choose")
    check("a recommendation is there before anything is answered", browser.wait(first + "?.startsWith('1. ')"))
    asked_of = json.loads(firn("choose", "--json"))
    same("every question is asked", [one["question"] for one in asked_of["questions"]],
         browser.evaluate("[...document.querySelectorAll('#choose-questions label[for], #choose-questions legend')].map((one) => one.textContent)"))
    words = ("--rate", "5", "--peak", "200", "--nodes", "4", "--hide", "volume", "--readers", "urls", "--database", "mariadb")
    for name, value in zip(words[::2], words[1::2]):
        if name in ("--hide", "--readers"):
            browser.evaluate("document.querySelector('#choose-form input[value=%s]').click()" % value)
        else:
            browser.choose("#choose-" + name[2:], value)
        browser.until("location.hash.includes('%s=%s')" % (name[2:], value))
    wanted = json.loads(firn("choose", "--json", *words))
    best = wanted["fit"][0]
    parts = [best["sql"], *best["commands"], *(one["text"] for one in best["figures"])]
    card = "(document.querySelector('#chosen article')?.textContent || '')"
    browser.wait("%s.every((part) => %s.includes(part))" % (json.dumps(parts), card))
    check("the answers are in the address", browser.wait("location.hash.includes('rate=5') && location.hash.includes('readers=urls')"))
    check("the first recommendation is the same as in firn choose", browser.wait(first + "?.startsWith('1. %s ')" % best["name"]), browser.evaluate(first))
    same("so are the others", [one["name"] for one in wanted["fit"][:3]],
         browser.evaluate("[...document.querySelectorAll('#chosen h2')].map((one) => one.textContent.split(' ')[1])"))
    same("it says the commands and the figures", [], [part for part in parts if part not in browser.evaluate(card)])
    same("the layout is drawn as wide as its bits", best["bits"],
         browser.evaluate("[...document.querySelectorAll('#chosen .layout')[0].children].reduce((sum, one) => sum + Number(one.dataset.bits), 0)"))
    same("each figure has its bar", len(best["figures"]), browser.evaluate("document.querySelector('#chosen article').querySelectorAll('.measure').length"))
    reasons = browser.evaluate("[...document.querySelectorAll('#choose-refused td:first-child')].map((one) => one.textContent)")
    same("each reason of a refusal is printed once", list(dict.fromkeys(one["why"] for one in wanted["refused"])), reasons)
    browser.open(server.base + "/?none#choose=&sort=yes&hide=time")
    none = browser.wait("document.querySelector('#chosen .error')?.textContent")
    check("answers that exclude each other are named, and what to change", "shows the time" in (none or "") and "Change one answer" in none, none)
    browser.open(server.base + "/?bad#choose=&rate=x")
    check("a wrong answer is refused in the server's words", browser.wait("document.querySelector('#choose-error').textContent.includes('rate=x is not valid')"))


# ---- looks ---------------------------------------------------------------------------------------

def check_looks(browser, server):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    browser.open(server.base + "/?looks#make=snowflake")
    browser.until("document.querySelector('#make-scheme').value === 'snowflake'")
    made(browser, count="3")
    for width in (1280, 600, 320):
        browser.resize(width, 900)
        for theme in ("light", "dark"):
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme},
                                                                 {"name": "prefers-reduced-motion", "value": "reduce"}])
            least, wide = [99, "", 0], []
            for view in VIEWS:
                browser.evaluate("location.hash = '#%s'" % (view if view != "read" else "read=" + SAMPLES[1]))
                browser.until("document.body.dataset.view === '%s'" % view)
                if view == "read":
                    browser.until("document.title.includes('uuid7')")
                browser.rest(0.1)
                if view == "read":
                    browser.evaluate("document.querySelector('#bits button').focus()")
                least = min(least, browser.evaluate(CONTRAST))
                if browser.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    wide.append(view)
            check("%s at %d px: text has a contrast of 4.5 at least" % (theme, width), least[0] >= 4.5 and least[2] > 10, least)
            same("%s at %d px: nothing scrolls sideways" % (theme, width), [], wide)
    browser.resize(1280, 900)
    browser.prefer("light")
    back = "getComputedStyle(document.body).backgroundColor"
    before = browser.evaluate(back)
    browser.choose("#theme", "dark")
    dark = browser.evaluate(back)
    check("the switch makes it dark where light is preferred", dark != before, dark)
    browser.open(server.base + "/?dark#read")
    same("and it stays so", dark, browser.evaluate(back))
    browser.evaluate("localStorage.removeItem('firn-theme')")


# Speech control finds a button by the text on it.
SPOKEN_OTHERWISE = """[...document.querySelectorAll('button[aria-label], a[aria-label]')].filter((one) =>
    one.checkVisibility() && !one.getAttribute('aria-label').includes(one.textContent.trim())).map((one) => one.outerHTML.slice(0, 100))"""
EMPTY = """[...document.querySelectorAll('.card, .figures')].filter((one) =>
    one.checkVisibility() && !one.textContent.trim()).map((one) => one.outerHTML.slice(0, 100))"""


def check_names(browser, server):
    unnamed, unseen, roles = [], [], 0
    for view in VIEWS:
        browser.open(server.base + "/?names#" + (view if view != "read" else "read=%s&scheme=snowflake" % SAMPLES[0]))
        browser.rest(0.2)
        for node in browser.call("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            named = node.get("name", {}).get("value")
            if not node["ignored"] and not named and role in ("button", "textbox", "combobox", "spinbutton", "link"):
                unnamed.append((view, role))
        unseen += browser.evaluate(SPOKEN_OTHERWISE)
        roles += browser.evaluate("document.querySelectorAll('figure[role]').length")
    same("every button, box and link has a name", [], unnamed)
    same("which holds the words that are seen", [], unseen)
    same("no figure has another role", 0, roles)


# ---- safety --------------------------------------------------------------------------------------


def check_without_script(browser, server):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(server.base + "/?plain")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    check("without JavaScript the page says what it needs", browser.sees("noscript p code"))


def check_quiet(browser, server, but=()):
    errors = []
    away = [url for url in asked(browser) if not url.startswith((server.base + "/", "about:"))]
    for event in browser.events:
        params = event["params"]
        if event["method"] == "Runtime.exceptionThrown":
            errors.append(params["exceptionDetails"]["text"])
        if event["method"] == "Runtime.consoleAPICalled":
            errors.append(str(params["args"]))
        if event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            # Only check_offline cuts the browser off, and the page may ask for the server's state at that moment.
            own = entry["source"] == "network" and "ERR_INTERNET_DISCONNECTED" in entry["text"]
            if not own and (entry["source"] != "network" or not any(part in entry.get("url", "") for part in but)):
                errors.append("%s %s" % (entry["text"], entry.get("url", "")))
    same("the console of the browser is empty", [], errors)
    same("nothing is asked of anybody but the server", [], away)


def check_policy(browser, server):
    browser.open(server.base + "/?policy#read")
    browser.events.clear()
    browser.evaluate("""new Promise((done) => {
        document.addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective));
        const image = new Image(); image.src = 'http://127.0.0.1:1/'; setTimeout(done, 2000); })""")
    browser.rest(0.1)
    said = [one["params"]["entry"]["text"] for one in browser.events if one["method"] == "Log.entryAdded"]
    check("the page's policy lets nobody else in, and this test would see it",
          any("Content Security Policy" in one for one in said), said)


def check_token(browser, program, folder):
    tokens = os.path.join(folder, "tokens")
    with open(tokens, "w", encoding="ascii") as out:
        out.write("admin %s\nissue %s\n" % (TOKEN, TOKEN[::-1]))
    os.chmod(tokens, 0o600)
    server = Server(program, folder, "guarded", "--tokens", tokens)
    try:
        browser.events.clear()
        browser.open(server.base + "/#read=541815603606036480&scheme=snowflake")
        box = "document.querySelector('#token-form')"
        check("a server with tokens is asked with one: its box appears", browser.wait(box + ".checkVisibility()"))
        for token, sentence, shown in (
                ("wrong", "a wrong token is refused", box + ".textContent.includes('Unknown token')"),
                (TOKEN, "the right one is taken", "!" + box + ".checkVisibility()")):
            browser.evaluate("document.querySelector('#token').focus()")
            browser.type(token)
            browser.press("Enter")
            check(sentence, browser.wait(shown))
        check("and the ID is read", browser.wait("document.title.includes(' is snowflake')"))
        kept = browser.evaluate("[sessionStorage, localStorage].map((one) => one.getItem('firn-token'))")
        same("it is kept for this tab only", [TOKEN, None], kept)
        browser.evaluate("sessionStorage.setItem('firn-token', '%s')" % TOKEN[::-1])
        browser.open(server.base + "/?issue#now")
        told = browser.wait("document.querySelector('#view-now .error').textContent")
        check("a token that may only issue sees why nothing is live", "admin" in (told or ""), told)
        same("and sees no empty boxes", [], browser.evaluate(EMPTY))
        browser.evaluate("location.hash = '#windows'")
        browser.until("document.title.includes('Windows')")
        same("nor among the windows", [], browser.evaluate(EMPTY))
        browser.evaluate("location.hash = '#make=uuid7'")
        browser.until("document.querySelector('#make-scheme').value === 'uuid7'")
        same("and makes IDs", 2, len(set(made(browser, count="2"))))
        check_quiet(browser, server, ("/v1/",))
    finally:
        server.stop()


def main():
    program, _, folder = sys.argv[1:4]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing that was started stays
    schemes = {row["name"]: row for row in map(json.loads, firn("schemes", "--json").splitlines())}
    server = Server(program, folder, "plain")
    browser = None
    try:
        browser = Browser(folder)
        browser.resize(1280, 900)
        check_without_script(browser, server)
        check_reading(browser, server, schemes)
        check_offline(browser, server)
        check_keys(browser, server)
        check_live(browser, server)
        check_making(browser, server)
        check_windows(browser, server)
        check_spread(browser, server)
        check_choosing(browser, server)
        check_looks(browser, server)
        check_names(browser, server)
        check_quiet(browser, server, ("/v1/show/!!", "/v1/show/%21%21", "time=1999-01-01", "rate=x"))
        check_policy(browser, server)
        check_token(browser, program, folder)
    except Exception:
        check("the test comes to its end", False, traceback.format_exc() + server.said())
    finally:
        if browser:
            browser.close()
        status = server.stop()
    same("the server ends well", 0, status)
    return finish()


sys.exit(main())
