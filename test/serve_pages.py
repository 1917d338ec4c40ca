# SPDX-License-Identifier: MIT
"""Pages of other sites in a headless Chromium, against a server without tokens: no request that such a page makes the browser send issues
anything. Each way is tried until the server has counted its refusal, so none passes for never having arrived.
The server has a name by hosts= and plain HTTP, where browsers send no Sec-Fetch-Site, and its address, where they do."""
import base64
import http.server
import json
import os
import threading
import urllib.request

import serving
import tap
from browser import Browser

TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
SECTIONS = """
[segment burnt]
"""
ELEMENTS = {  # what is put into the page; URL is what must not issue
    "an image": "<img src='URL'>",
    "an image without a referrer": "<img referrerpolicy=no-referrer src='URL'>",
    "a script": "<script referrerpolicy=no-referrer src='URL'></script>",
    "a style sheet": "<link referrerpolicy=no-referrer rel=stylesheet href='URL'>",
    "a video": "<video referrerpolicy=no-referrer src='URL' autoplay></video>",
    "an object": "<object data='URL'></object>",
    "a frame": "<iframe src='URL'></iframe>",
    "a frame without a referrer": "<iframe referrerpolicy=no-referrer src='URL'></iframe>",
    "a frame in a sandbox": "<iframe sandbox src='URL'></iframe>",
    "a form": "<iframe name=f></iframe><form target=f rel=noreferrer action='URL'></form>",
    "a posted form": "<iframe name=f></iframe><form target=f method=post action='URL'><input name=a value=b></form>",
    "a form posted as text": "<iframe name=f></iframe><form target=f method=post enctype=text/plain action='URL'></form>",
    "a form posted from a sandbox": "<iframe sandbox='allow-scripts allow-forms' srcdoc=\"<form method=post action='URL'></form>"
    "<script>document.forms[0].submit()</script>\"></iframe>",
}
SCRIPTS = {
    "fetch": "fetch('URL').catch(() => 0)",
    "fetch without CORS": "fetch('URL', {mode: 'no-cors', referrerPolicy: 'no-referrer'}).catch(() => 0)",
    "POST by fetch": "fetch('URL', {method: 'POST'}).catch(() => 0)",
    "POST by fetch without CORS": "fetch('URL', {method: 'POST', mode: 'no-cors', referrerPolicy: 'no-referrer', body: 'n=7'}).catch(() => 0)",
    "HEAD by fetch without CORS": "fetch('URL', {method: 'HEAD', mode: 'no-cors', referrerPolicy: 'no-referrer'}).catch(() => 0)",
    "fetch with a custom language": "fetch('URL', {mode: 'no-cors', referrerPolicy: 'no-referrer',"
    " headers: {'Accept-Language': '*', 'Accept': 'text/plain'}}).catch(() => 0)",
    "fetch as another agent": "fetch('URL', {mode: 'no-cors', referrerPolicy: 'no-referrer', headers: {'User-Agent': 'curl/8'}}).catch(() => 0)",
    "fetch with a custom header": "fetch('URL', {headers: {'X-Own': '1'}}).catch(() => 0)",
    "a beacon": "navigator.sendBeacon('URL', 'n=7')",
    "an event source": "new EventSource('URL')",
    "a window": "location = 'URL'",
}
PATHS = ("/v1/new/snowflake?n=1000", "/v1/segments/burnt?n=1000", "/v1/block/burnt?n=1000", "/api/segment/get/burnt", "/api/snowflake/get/any")


class Site(http.server.BaseHTTPRequestHandler):
    """Another site: an empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "15")
        self.end_headers()
        self.wfile.write(b"<!doctype html>")

    def log_message(self, *_):
        pass


class Rebinding(Browser):
    """Answers what a name showed before it was bound to the server's address: an empty page at /evil."""

    def receive(self, until):
        message = super().receive(until)
        if message and message.get("method") == "Fetch.requestPaused":
            answer = {"requestId": message["params"]["requestId"], "responseCode": 200,
                      "body": base64.b64encode(b"<!doctype html>").decode()}  # fmt: skip
            said = {"id": 0, "method": "Fetch.fulfillRequest", "params": answer, "sessionId": self.session}
            os.write(self.ask, json.dumps(said).encode() + b"\0")
        return message


def totals(server):
    return json.loads(server.get("/v1/status")[1])["totals"]


def refused(server):
    found = totals(server)
    return sum(found["refused"].values())


def show(browser, page):
    """An empty page, even if the last page still loads."""
    browser.open("about:blank")
    browser.open(page)
    there = "location.href === '%s' && document.readyState === 'complete' && !document.body.firstChild" % page
    serving.wait_for(page, lambda: browser.wait(there, 1) or browser.open(page))


def attack(browser, server, page, target, sentence):
    """Every way from that page; the requests that never arrived, and the number of issued IDs."""
    issued, lost = totals(server)["ids"], []
    tries = [(name, json.dumps(html)) for name, html in ELEMENTS.items()] + [(name, None) for name in SCRIPTS]
    for i, (name, html) in enumerate(tries):
        url = target + PATHS[i % len(PATHS)]
        before = refused(server)
        show(browser, page)
        if html is None:
            browser.evaluate("setTimeout(() => { %s }), 0" % SCRIPTS[name].replace("URL", url))
        elif "script" in name:
            browser.evaluate("(() => { const one = document.createElement('script'); one.referrerPolicy = 'no-referrer';"
                             " one.src = '%s'; document.body.append(one); })()" % url)  # fmt: skip
        else:
            browser.evaluate("document.body.innerHTML = %s; document.querySelector('form')?.submit()"
                             % html.replace("URL", url))  # fmt: skip
        try:
            serving.wait_for(name, lambda: refused(server) > before or browser.rest(0.02), 20)
        except TimeoutError:
            lost.append(name)
            if len(lost) == 3:
                break
    tap.same(f"{sentence}: every way arrives", [], lost)
    tap.same(f"{sentence}: none issues", 0, totals(server)["ids"] - issued)


def pages():
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    port = site.server_port
    server = serving.Server(f"{TMPDIR}/pages", PROGRAM, SECTIONS, hosts="ids.example", unsafe="on").start()
    serving.wait_for("readiness", lambda: server.get("/readyz")[0] == 200)
    browser = Rebinding(TMPDIR, "--host-resolver-rules=MAP *.example 127.0.0.1",
                        "--disable-features=BlockInsecurePrivateNetworkRequests,LocalNetworkAccessChecks")  # fmt: skip
    name, address = f"http://ids.example:{server.http}", f"http://127.0.0.1:{server.http}"
    try:
        attack(browser, server, f"http://evil.example:{port}/", name, "another site, to a name")
        attack(browser, server, f"http://evil.example:{port}/", address, "another site, to an address")
        attack(browser, server, f"http://ids.example:{port}/", name, "another port of the same name")
        browser.call("Fetch.enable", patterns=[{"urlPattern": "*/evil"}])
        attack(browser, server, f"http://rebound.example:{server.http}/evil", f"http://rebound.example:{server.http}", "a rebound name")
        browser.call("Fetch.disable")
        for base in (name, address):
            browser.open(base + "/?own#make=snowflake")
            browser.until("document.querySelector('#make-scheme')?.value === 'snowflake'")
            browser.choose("#make-count", "5")
            browser.click("#make-form button")
            count = browser.wait("document.querySelectorAll('#made li').length", 60)
            tap.same(f"the console at {base[:14]}... generates IDs", 5, count)
        browser.open(f"http://evil.example:{port}/")
        browser.evaluate("document.body.innerHTML = \"<iframe src='%s/'></iframe>\"" % name)
        tap.check("no other site shows the console in a frame", browser.wait("document.querySelector('iframe') !== null") and framed(browser))
        status, text = server.get("/v1/new/snowflake?n=2")
        tap.check("a program's GET issues as ever", status == 200 and len(json.loads(text)["ids"]) == 2, text)
        ask = urllib.request.Request(f"{address}/v1/new/snowflake", method="POST", headers={"User-Agent": "Mozilla/5.0 WindowsPowerShell"})
        with urllib.request.urlopen(ask, timeout=serving.PATIENCE_S) as answer:
            tap.same("so does a POST without Origin", 200, answer.status)
    finally:
        browser.close()
        site.shutdown()
        tap.same("the server ends with 0", 0, server.end())


def framed(browser):
    """Was the frame refused? The browser says so in its log."""
    browser.rest(0.1)
    said = lambda: any("frame" in json.dumps(event) and "ancestors" in json.dumps(event) for event in browser.events) or browser.rest(0.05)
    try:
        return serving.wait_for("the refusal of a frame", said, 20)
    except TimeoutError:
        return False


tap.run([pages])
