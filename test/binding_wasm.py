# SPDX-License-Identifier: MIT
# WebAssembly in a browser, and its C in place of libmd and libcrypto: binding_wasm.py PACKAGE SPEC FOLDER. PACKAGE is the
# folder of the installed package. A page and a worker run every case of SPEC, with a policy that allows nothing else.
import ctypes
import hashlib
import http.server
import json
import os
import random
import subprocess
import sys
import threading
import traceback

from browser import Browser

POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'"
PAGE = "<!doctype html><script src=firn/spec.js></script><script type=module src=page.mjs></script>"
SCRIPT = """import * as firn from './firn/wasm.mjs'
import * as issue from './firn/issue.mjs'
const files = await (await fetch('/spec')).json()
const ids = []
for (const [from, scheme] of [[firn, 'uuid7'], [issue, 'ulid'], [firn, 'typeid']]) {
    const gen = from.open(scheme)
    for (let i = 0; i < 5000; i++) ids.push([scheme, gen.next()])
}
const result = { backend: firn.backend, ...firnSpec(firn, files), ids: new Set(ids.map(String)).size,
    unordered: ids.filter(([scheme, id], i) => i > 0 && ids[i - 1][0] === scheme && ids[i - 1][1] >= id) }
"""
FILES = {
    "/": ("text/html", PAGE),
    "/page.mjs": ("text/javascript", SCRIPT + "globalThis.result = result\n"
                  "globalThis.worker = new Worker('worker.mjs', { type: 'module' })\n"
                  "worker.onmessage = event => { globalThis.inWorker = event.data }\n"),
    "/worker.mjs": ("text/javascript", "import './firn/spec.mjs'\n" + SCRIPT + "postMessage(result)\n"),
}


class Host(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, text = FILES.get(self.path, ("", None))
        if text is None and self.path.startswith("/firn/"):
            name = os.path.basename(self.path)
            source = "spec.js" if name == "spec.mjs" else name
            with open(os.path.join(sys.argv[1], source), "rb") as file:
                kind, text = "application/wasm" if name.endswith(".wasm") else "text/javascript", file.read()
            if name == "spec.mjs":
                text += b"\nglobalThis.firnSpec = firnSpec\n"
        elif self.path == "/spec":
            folder = sys.argv[2]
            names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
            kind, text = "application/json", "[%s]" % ",".join(open(os.path.join(folder, name), encoding="utf-8").read() for name in names)
        self.send_response(200 if text is not None else 404)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(text.encode() if isinstance(text, str) else text or b"")

    def log_message(self, *_):
        pass


checks = failures = 0


def check(sentence, good, why=""):
    global checks, failures
    checks += 1
    failures += not good
    print("%s %d - %s" % ("ok" if good else "not ok", checks, sentence))
    if not good:
        print("\n".join("# " + line for line in str(why)[:2000].split("\n")))


def check_browser(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    browser = Browser(folder)
    try:
        browser.open("http://127.0.0.1:%d/" % server.server_port)
        for where, name in (("a page", "result"), ("a worker", "inWorker")):
            found = browser.wait("globalThis.%s" % name, 120) or {}
            said = [one["params"] for one in browser.events if one["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")]
            check("every case of spec/ in %s of Chromium: %s" % (where, found.get("passed")),
                  found.get("passed", 0) > 3000 and found.get("failed") == [] and found["backend"] == "wasm", json.dumps([found, said]))
            check("IDs ascend and differ in %s" % where, found.get("ids") == 15000 and found["unordered"] == [], found)
    finally:
        browser.close()
        server.shutdown()


def check_digests(folder):
    """Compiled for this machine: the same lines."""
    library, source = os.path.join(folder, "digest.so"), os.path.join(folder, "aes.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "aes128.h"\nvoid aes(uint8_t *out, const uint8_t *key, const uint8_t *in, int size) {\n'
                   "    aes128 *made = aes128_new();\n    int written;\n    aes128_key(made, key);\n"
                   "    aes128_encrypt(made, out, &written, in, size);\n    aes128_free(made);\n}\n")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-Ibindings/wasm", "-Imodules", "-o", library,
                    "bindings/wasm/digest.c", source], check=True)
    c, wrong, context = ctypes.CDLL(library), [], ctypes.create_string_buffer(256)
    for name, kind in (("MD5", "md5"), ("SHA1", "sha1"), ("SHA256", "sha256")):
        for length in [*range(200), 1000, 4095]:
            text, out = random.randbytes(length), ctypes.create_string_buffer(hashlib.new(kind).digest_size)
            getattr(c, name + "Init")(context)
            half = random.randint(0, length)
            for part in (text[:half], text[half:]):
                getattr(c, name + "Update")(context, part, ctypes.c_size_t(len(part)))
            getattr(c, name + "Final")(out, context)
            if out.raw != hashlib.new(kind, text).digest():
                wrong.append((name, length))
    check("MD5, SHA-1 and SHA-256 are Python's, of 0 to 4095 bytes", not wrong, wrong)
    key, text = random.randbytes(16), random.randbytes(16 * 2000)
    out = ctypes.create_string_buffer(len(text))
    c.aes(out, key, text, len(text))
    theirs = subprocess.run(["openssl", "enc", "-aes-128-ecb", "-nopad", "-K", key.hex()], input=text, capture_output=True, check=True)
    check("AES-128 is OpenSSL's, of 2000 blocks", out.raw == theirs.stdout, key.hex())


for part in (check_digests, check_browser):
    try:
        part(sys.argv[3])
    except Exception:
        check("%s comes to its end" % part.__name__, False, traceback.format_exc())
print("1..%d" % checks)
sys.exit(failures > 0)
