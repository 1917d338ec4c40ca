# SPDX-License-Identifier: MIT
# The console as people use it: a real server, a headless Chromium, keys and pointers; see test/serve_console.py, and
# test/browser.py, which drives it.
. test/tap
for tool in chromium /usr/bin/python3; do
    command -v "$tool" >/dev/null && continue
    skip "the console in a browser" "$tool is missing"
    finish
done
[ -x "$BUILD/bin/firn-serve" ] || { fail "the server is built"; finish; }
FIRN_WAIT=60s PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 test/serve_console.py "$BUILD/bin/firn-serve" "$FIRN" "$TMPDIR"
