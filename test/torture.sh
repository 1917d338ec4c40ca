# SPDX-License-Identifier: MIT
# The torture run in its short form: the five engines, two at a time, while servers, clients, networks and clocks fail.
# The long form, and what each line tells: docs/explanation/torture.md.
. test/tap
log=$TMPDIR/torture.log

"$BUILD/test/torture" --short >"$log" 2>&1
status=$?
grep -v '^1\.\.' "$log"
checks=$(grep -cE '^(not )?ok ' "$log")
failures=$(grep -c '^not ok ' "$log")
[ "$status" = 0 ] || [ "$failures" -gt 0 ] || fail "the run ends as it should" "status $status"

# The library with a bug in it (sim/bugs/nofork.patch): a child that continues with its parent's window.
"$BUILD/test/torture_nofork" --short --seconds 2 --engine redis --only forked >"$log" 2>&1
if grep -q '# SKIP' "$log"; then
    skip "windows that outlive a fork, an injected bug, are found" "redis is not installed"
elif grep -q 'IDs were issued twice' "$log"; then
    pass "windows that outlive a fork, an injected bug, are found"
    grep 'IDs were issued twice' "$log"
else
    fail "windows that outlive a fork, an injected bug, are found" "$(tail -n 5 "$log")"
fi
finish
