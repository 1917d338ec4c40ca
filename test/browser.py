# SPDX-License-Identifier: MIT
# A headless Chromium, driven through its DevTools protocol on a pair of pipes: JSON messages, each
# ended by a zero byte. Only Python's own library is needed. One page; its messages, requests and
# errors are kept in `events`.
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time

FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-default-apps --disable-extensions --disable-dev-shm-usage --hide-scrollbars
--force-color-profile=srgb --remote-debugging-pipe""".split()
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
TEXTS = {"Enter": "\r"}


class Browser:
    def __init__(self, folder, *flags):
        ask_read, self.ask = os.pipe()
        self.answer, answer_write = os.pipe()
        # The shell puts the pipes where Chromium looks for them: 3 to read from, 4 to write to.
        line = 'exec 3<&%d 4>&%d; exec "$@"' % (ask_read, answer_write)
        if {ask_read, answer_write, self.ask, self.answer} & {3, 4}:
            line = 'exec 8<&%d 9>&%d; exec 3<&8 4>&9 8<&- 9>&-; exec "$@"' % (ask_read, answer_write)
        program = shutil.which("chromium") or "chromium"
        with open(os.path.join(folder, "chromium.log"), "wb") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", line, "sh", program, *FLAGS, *flags, "--user-data-dir=" + os.path.join(folder, "profile"), "about:blank"],
                pass_fds=(ask_read, answer_write), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        os.close(ask_read)
        os.close(answer_write)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(one for one in pages if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def close(self):
        """Ends the browser and what it started: they are their own process group."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(10)
        os.close(self.ask)
        os.close(self.answer)

    def receive(self, until):
        """One message, or None when the time is over."""
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answer], [], [], left)[0]:
                return None
            piece = os.read(self.answer, 1 << 20)
            if not piece:
                raise EOFError("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        if "method" in message:
            self.events.append(message)
        return message

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.ask, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 60
        while True:
            answer = self.receive(until)
            if answer is None:
                raise TimeoutError(method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def rest(self, seconds):
        """Lets time pass, taking in what the page says."""
        until = time.monotonic() + seconds
        while self.receive(until):
            pass

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError("%s: %s" % (script, result["exceptionDetails"]))
        return result["result"].get("value")

    def text(self, selector):
        return self.evaluate("document.querySelector(%s)?.textContent" % json.dumps(selector))

    def sees(self, selector):
        """Is there such an element, and can it be seen?"""
        return self.evaluate("Boolean(document.querySelector(%s)?.checkVisibility())" % json.dumps(selector))

    def click(self, selector):
        self.evaluate("document.querySelector(%s).click()" % json.dumps(selector))

    def choose(self, selector, value):
        """Puts a value into a box, as people do."""
        self.evaluate("""(() => {
            const box = document.querySelector(%s);
            box.value = %s;
            box.dispatchEvent(new Event('change', { bubbles: true })); })()""" % (json.dumps(selector), json.dumps(value)))

    def wait(self, script, seconds=60):
        """Until the expression is true; its value, or the last one when the time is over: for a check."""
        until = time.monotonic() + seconds
        while True:
            value = self.evaluate(script)
            if value or time.monotonic() > until:
                return value
            self.rest(0.05)

    def until(self, script):
        """The same, where what follows relies on it."""
        if not self.wait(script):
            raise TimeoutError(script)

    def open(self, url):
        """Until it is loaded; an address that differs only after its # loads nothing."""
        seen = len(self.events)
        if "loaderId" not in self.call("Page.navigate", url=url):
            return
        until = time.monotonic() + 60
        while not any(one["method"] == "Page.loadEventFired" for one in self.events[seen:]):
            if self.receive(until) is None:
                raise TimeoutError(url)

    def press(self, key, shift=False):
        code = KEYS.get(key, ord(key[0].upper()) if len(key) == 1 else 0)
        params = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        text = key if len(key) == 1 else TEXTS.get(key)
        if text:
            params["text"] = text
        self.call("Input.dispatchKeyEvent", type="keyDown", **params)
        params.pop("text", None)
        self.call("Input.dispatchKeyEvent", type="keyUp", **params)

    def type(self, text):
        """As pasted: the whole text at once, where the focus is."""
        self.call("Input.insertText", text=text)

    def resize(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)
        with open(path, "wb") as out:
            out.write(base64.b64decode(shot["data"]))
