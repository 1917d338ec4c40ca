# SPDX-License-Identifier: MIT
# A reserve on the machine with a real engine that stops: processes start without it, and refill when it is back.
. test/tap

engine=$TMPDIR/postgres
export ENGINE_OWNER=$$
if ! url=$(test/engine start postgres "$engine"); then
    lacks "processes start while the store is away" postgresql
    finish
fi
keys="ns=out reach=1h reserve=10s window=2s mode=window store=$url reserve_path=$TMPDIR/reserve.db"

issue() {
    # shellcheck disable=SC2086 # keys are words
    "$FIRN" new snowflake $keys 2>"$TMPDIR/why" >>"$TMPDIR/ids"
}
until_when() {
    "$FIRN" nodes ns=out "store=$url" | awk '/reserve:/ { print $3, $4, $5 }'
}
refilled() {
    issue && [ "$(until_when)" != "$before" ]
}

check "the first process fills the reserve" issue
before=$(until_when)
test/engine halt "$engine"
check "a new process issues while the store is away" issue
same "it says that the store is away" yes "$(grep -q 'Connection refused' "$TMPDIR/why" && echo yes || cat "$TMPDIR/why")"
check "so does another one" issue
# shellcheck disable=SC2086
refusal=$("$FIRN" new snowflake ns=out reach=1h mode=window "store=$url" 2>&1)
same "without a reserve it is refused" 3 $?
check "with the reason" test "${refusal#*Connection refused}" != "$refusal"
test/engine restart "$engine"
check "the reserve is refilled when the store is back" await refilled
same "no ID was issued twice" "" "$(sort "$TMPDIR/ids" | uniq -d)"
test/engine stop "$engine"
finish
