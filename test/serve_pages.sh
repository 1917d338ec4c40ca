# SPDX-License-Identifier: MIT
# Attacks by pages of other sites on a server without tokens, in a real browser: test/serve_pages.py.
. test/tap
for tool in chromium /usr/bin/python3; do
    command -v "$tool" >/dev/null && continue
    skip "pages of other sites in a browser" "$tool is missing"
    finish
done
PYTHONPATH=test/serve PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 test/serve_pages.py
