# SPDX-License-Identifier: MIT
# The decoder page in a browser, from a file and from a host, compared with the command: site.py PAGE COMMAND FOLDER.
import functools
import http.server
import os
import sys
import threading
import traceback

from browser import Browser
from decoding import CONTRAST, SAMPLES, check, check_drawing, check_forms, choose, finish, firn, same

import json

BLOCKED = """new Promise((done) => {
    document.addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective));
    %s; setTimeout(done, 2000); })"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check_page(browser, url, schemes):
    browser.events.clear()
    browser.open(url)
    browser.until("!document.querySelector('#reading').hidden")
    check("an example is drawn before anything is pasted", "for example" in browser.text("#read-facts"))
    for id in SAMPLES:
        browser.evaluate("document.querySelector('#read-id').focus(), document.querySelector('#read-id').select()")
        browser.type(id)
        browser.press("Enter")
        browser.until("document.title.startsWith('%s is ')" % id)
        choose(browser, id)
        drawn = check_drawing(browser, schemes, id)
        if drawn["scheme"] not in ("nil", "typeid"):
            check_forms(browser, id, drawn["scheme"])
    browser.evaluate("location.hash = '#read=!!'")
    check("what is not an ID is refused", browser.wait("document.querySelector('#read-error').textContent.includes('!!')"))
    browser.evaluate("location.hash = '#read=541815603606036480&scheme=seata'")
    check_drawing(browser, schemes, SAMPLES[0], "seata")
    check("a time span of a scheme that begins with the node keeps the node",
          browser.text("#span-note") == "with worker %s" % browser.text("#legend [data-field=worker] td + td"), browser.text("#span-note"))
    asked = [one["params"]["request"]["url"] for one in browser.events if one["method"] == "Network.requestWillBeSent"]
    same("nothing is asked of anybody", [], [one for one in asked if not one.startswith((url.split("?")[0], "data:", "about:"))])
    said = [one["params"] for one in browser.events if one["method"] in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")]
    same("the console of the browser is empty", [], said)


def check_without(browser, url):
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.WebAssembly")["identifier"]
    browser.open(url + "?without")
    check("a browser without WebAssembly sees what to do", browser.wait(
        "document.querySelector('#read-error').textContent.includes('firn show')"), browser.text("#read-error"))
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def check_policy(browser):
    for what, script in (("img-src", "new Image().src = 'http://127.0.0.1:1/'"), ("connect-src", "fetch('http://127.0.0.1:1/').catch(() => 0)"),
                         ("script-src-elem", "document.body.append(Object.assign(document.createElement('script'), { text: '1' }))")):
        same("the page's policy refuses %s" % what, what, browser.evaluate(BLOCKED % script))


def check_looks(browser, url):
    for width in (1280, 360):
        for theme in ("light", "dark"):
            browser.resize(width, 900, width < 400)
            browser.prefer(theme)
            browser.open("%s?%s%d#%s" % (url, theme, width, SAMPLES[1]))
            browser.until("document.title.includes(' is uuid7')")
            least = browser.evaluate(CONTRAST)
            check("%s at %d px: text has a contrast of 4.5 at least" % (theme, width), least[0] >= 4.5 and least[2] > 10, least)
            same("%s at %d px: nothing scrolls sideways" % (theme, width), width, browser.evaluate("document.documentElement.scrollWidth"))
    unnamed = [node["role"]["value"] for node in browser.call("Accessibility.getFullAXTree")["nodes"]
               if not node["ignored"] and not node.get("name", {}).get("value")
               and node.get("role", {}).get("value") in ("button", "textbox", "combobox", "link")]
    same("every button, box and link has a name", [], unnamed)


def main():
    page, _, folder = sys.argv[1:4]
    schemes = {row["name"]: row for row in map(json.loads, firn("schemes", "--json").splitlines())}
    serve = functools.partial(Quiet, directory=os.path.dirname(page))
    host = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    browser = Browser(folder)
    try:
        browser.resize(1280, 900)
        check_page(browser, "file://" + page, schemes)
        check_page(browser, "http://127.0.0.1:%d/%s?host" % (host.server_port, os.path.basename(page)), schemes)
        check_policy(browser)
        check_without(browser, "file://" + page)
        check_looks(browser, "file://" + page)
    except Exception:
        check("the test comes to its end", False, traceback.format_exc())
    finally:
        browser.close()
        host.shutdown()
    return finish()


sys.exit(main())
