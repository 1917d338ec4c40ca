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
same "it says that the store is away, and where the ID is from" "1 1" \
    "$(grep -c 'Connection refused' "$TMPDIR/why") $(grep -c "IDs come from this machine's reserve" "$TMPDIR/why")"
check "so does another one" issue
# shellcheck disable=SC2086
refusal=$("$FIRN" new snowflake ns=out reach=1h mode=window "store=$url" 2>&1)
same "without a reserve it is refused" 3 $?
check "with the reason" test "${refusal#*Connection refused}" != "$refusal"
test/engine restart "$engine"
check "the reserve is refilled when the store is back" await refilled

# The command: what is in hand, and giving it back.
held() {
    "$FIRN" reserve "reserve_path=$TMPDIR/$1" --json 2>&1
}
same "two nodes are in hand" "out out" "$(held reserve.db | jq -rs '[.[].ns] | join(" ")')"
check "for ten seconds at most" test "$(held reserve.db | jq -s '[.[].left_s] | max')" -le 10
held none.db >"$TMPDIR/none"
same "there is no reserve in another file" "3 1" "$? $(grep -c 'there is no reserve at' "$TMPDIR/none")"
hour="ns=hour reach=1h reserve=1h store=$url reserve_path=$TMPDIR/hour.db"
give_back() {
    # shellcheck disable=SC2086
    "$FIRN" reserve give-back snowflake $hour 2>&1
}
# shellcheck disable=SC2086
check "a reserve of an hour is filled" "$FIRN" new snowflake $hour mode=window
check "it lasts for nearly an hour" test "$(held hour.db | jq -s '[.[].left_s] | min')" -ge 3000
same "a person reads the same" 2 "$("$FIRN" reserve "reserve_path=$TMPDIR/hour.db" | grep -c '^hour ')"
# Others at the file: a process that locks it, and another user.
mkfifo "$TMPDIR/hold"
python3 -c 'import sqlite3, sys
sqlite3.connect(sys.argv[1], isolation_level=None).execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()' "$TMPDIR/hour.db" <"$TMPDIR/hold" >"$TMPDIR/locked" &
exec 7>"$TMPDIR/hold"
check "another process locks the file" await grep -q locked "$TMPDIR/locked"
same "what is in hand is still listed" 2 "$(held hour.db | wc -l)"
exec 7>&-
wait $!
as_nobody() {
    setpriv --reuid "$(id -u nobody)" --regid "$(id -g nobody)" --clear-groups "$@"
}
chmod 755 "$TMPDIR"
if [ "$(id -u)" = 0 ] && as_nobody "$FIRN" --version >"$TMPDIR/nobody" 2>&1 && as_nobody test -x "$TMPDIR"; then
    as_nobody "$FIRN" reserve "reserve_path=$TMPDIR/hour.db" >"$TMPDIR/nobody" 2>&1
    same "another user is refused, with what to do" "3 1" "$? $(grep -c 'give that the group and mode' "$TMPDIR/nobody")"
else
    skip "another user is refused, with what to do" "needs root, and folders that everybody reaches"
fi
test/engine halt "$engine"
give_back >"$TMPDIR/back"
same "without the store nothing is given back" "3 2" "$? $(held hour.db | wc -l)"
test/engine restart "$engine"
check "with the store it is" give_back
same "nothing is in hand then" "" "$(held hour.db)"
same "the nodes are reserved for seconds only" "2 0" \
    "$("$FIRN" nodes ns=hour "store=$url" | grep -c '^hour ') $("$FIRN" nodes ns=hour "store=$url" | grep -c 'min ahead')"
same "no loss is noticed" 0 "$("$FIRN" nodes "store=$url" | grep -c 'lost reservations')"
same "no ID was issued twice" "" "$(sort "$TMPDIR/ids" | uniq -d)"
test/engine stop "$engine"
finish
