# SPDX-License-Identifier: MIT
# The decoder page that `make site` writes: the same each time, and in a headless Chromium what the
# command says: test/site.py, and test/decoding.py, which the test of the console uses too.
. test/tap
for tool in chromium /usr/bin/python3; do
    command -v "$tool" >/dev/null && continue
    [ "${CI:-}" != true ] || fail "the decoder page" "$tool is missing"
    skip "the decoder page" "$tool is missing"
    finish
done
make -s site BUILD="$TMPDIR" && make -s site BUILD="$TMPDIR/again" &&
    cmp "$TMPDIR/site/index.html" "$TMPDIR/again/site/index.html" || { fail "make site writes the same page twice"; finish; }
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 test/site.py "$TMPDIR/site/index.html" "$FIRN" "$TMPDIR"
