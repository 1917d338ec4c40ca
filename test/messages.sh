# SPDX-License-Identifier: MIT
# No error is cut: test/messages.py adds up the longest text of each, and finds one that is injected.
. test/tap
inject() { printf 'static int injected(firn_error *error, const char *name, const char *%s) {\n    return %s;\n}\n' "$2" "$1" >"$TMPDIR/injected.c"; }
long=$(printf '%0380d' 0)
python3 test/messages.py >"$TMPDIR/found"
same "each error fits, with its longest values" 0 $?
grep '^not ok\|^#' "$TMPDIR/found"
inject "firn__fail(error, FIRN_EUSAGE, \"$long %s\", name)" it
check "a sentence that is too long is found" sh -c "! python3 test/messages.py '$TMPDIR/injected.c' >'$TMPDIR/found' && grep -q 'injected.c:2: up to 504 bytes' '$TMPDIR/found'"
inject 'firn__fail(error, FIRN_EUSAGE, "%s is unknown", surprise)' surprise
check "so is a value whose length nothing limits" sh -c "! python3 test/messages.py '$TMPDIR/injected.c' >'$TMPDIR/found' && grep -q 'injected.c:2: no bound for surprise' '$TMPDIR/found'"
finish
