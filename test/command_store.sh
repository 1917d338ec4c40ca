# SPDX-License-Identifier: MIT
# The command and its store: uniqueness over processes, nodes, history, integers, and a store that is not to be had.
. test/command.tap
mkdir "$TMPDIR/store"
db=sqlite:$TMPDIR/store/firn.db

# ---- a server that is not there, or does not answer ------------------------------------------------
for engine in postgresql mariadb; do
    refuses "$engine:// is a name of a store, too" 3 "$engine://127.0.0.1:1/x cannot be reached" segment k --store "$engine://127.0.0.1:1/x"
done
# A server that accepts connections and never answers: a port of this shell's child, until its input ends.
mkfifo "$TMPDIR/end"
/usr/bin/python3 -c 'import socket, sys
with socket.socket() as s:
    s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); sys.stdin.read()' \
    <"$TMPDIR/end" >"$TMPDIR/silent" &
exec 8>"$TMPDIR/end"
await test -s "$TMPDIR/silent"
silent=$(cat "$TMPDIR/silent")
for engine in postgres mysql; do
    refuses "$engine: a server that does not answer in time is not an unknown host" 3 \
        "no answer in connect_timeout=150ms; raise it for a busy server" segment k --store "$engine://127.0.0.1:$silent/x?connect_timeout=150ms"
done
exec 8>&-

# ---- a misspelt path -----------------------------------------------------------------------------
for words in "new snowflake node=1" "segment orders" "new snowflake"; do
    rm -rf "$TMPDIR/made" && mkdir "$TMPDIR/made"
    # shellcheck disable=SC2086
    "$FIRN" $words --store "sqlite:$TMPDIR/made/firn.db" "$unsafe" >/dev/null 2>"$TMPDIR/told"
    check "a store that firn $words makes is reported" grep -q "created a new store at $TMPDIR/made/firn.db" "$TMPDIR/told"
    "$FIRN" $words --store "sqlite:$TMPDIR/made/firn.db" "$unsafe" >/dev/null 2>"$TMPDIR/told"
    check "once" sh -c "! grep -q 'created a new store' '$TMPDIR/told'"
done
"$FIRN" new snowflake "$unsafe" 2>"$TMPDIR/told" >/dev/null
check "the default store is made silently" sh -c "! grep -q 'created a new store' '$TMPDIR/told'"
refuses "create=no makes none" 3 "there is no store at" segment orders --store "sqlite:$TMPDIR/mede/firn.db?create=no" "$unsafe"
check "nor its folder" [ ! -e "$TMPDIR/mede" ]
refuses "a store in a folder that does not exist" 3 "folder .*/mede/deep does not exist: correct the path, make the folder" \
    segment orders --store "sqlite:$TMPDIR/mede/deep/firn.db" "$unsafe"
check "makes no folder" [ ! -e "$TMPDIR/mede" ]
says "create=yes makes the folders" 1 segment orders --store "sqlite:$TMPDIR/mede/deep/firn.db?create=yes" "$unsafe"

# ---- options that are keys, notes ----------------------------------------------------------------
for words in "new snowflake" "segment orders" "nodes"; do
    # shellcheck disable=SC2086
    ask $words --unsafe --store "$db"
    same "firn $words takes --unsafe for unsafe=1" 0 "$status"
done
rm -f "$TMPDIR/store/"*
for words in "new snowflake -q" "new snowflake --quiet time=2030-01-01" "segment orders -q start=0"; do
    # shellcheck disable=SC2086
    "$FIRN" $words --store "sqlite:$TMPDIR/quiet.db" "$unsafe" 2>"$TMPDIR/told" >/dev/null
    same "firn $words has no notes" "0 " "$? $(cat "$TMPDIR/told")"
done
ask new snowflake time=2079-01-01T00:00:00Z --store "$db" "$unsafe"
same "a back-dated ID of the future is worth a note" 1 "$(printf '%s\n' "$notes" | grep -c "2079-01-01T00:00:00Z is in the future")"
ask new snowflake time=2020-01-01T00:00:00Z --store "$db" "$unsafe"
same "one of the past is not" 0 "$(printf '%s\n' "$notes" | grep -c future)"
rm -f "$TMPDIR/store/"*

# ---- nodes ---------------------------------------------------------------------------------------
for words in nodes "segment peek orders"; do
    # shellcheck disable=SC2086
    refuses "firn $words makes no store" 3 "there is no store at $TMPDIR/store/.*: correct the path" $words --store "$db" "$unsafe"
done
ask segment orders -n 0 --store "$db" "$unsafe"
says "an empty store lists no node" "nothing is reserved in this store" nodes --store "$db" "$unsafe"
says "nor does a namespace" "nothing is reserved in the namespace x in this store" nodes ns=x --store "$db" "$unsafe"
ask new snowflake node=33 --store "$db" "$unsafe"
first=$out
ask new snowflake node=33 --store "$db" "$unsafe"
check "the same node continues after its mark" [ "$out" -gt "$first" ]
mark=$("$FIRN" nodes --store "$db" "$unsafe" --json | jq -r .mark)
sequence=$("$FIRN" show --scheme snowflake --json "$out" | jq .fields.sequence)
tick=$(((out - sequence) / 4194304))
same "one ID takes one slot" $((tick * 4096 + sequence + 1)) "$mark"
matches "nodes names the fields, the time and the holder" \
    'namespace .*|snowflake  33    datacenter=1 worker=1  20[0-9T:.-]+Z  [0-9.]+ (ms|s) (ago|ahead) +firn on .*, pid [0-9]+' \
    nodes --store "$db" "$unsafe"
for node in 131 4 1022; do ask new snowflake node=$node --store "$db" "$unsafe"; done
same "nodes are in the order of their numbers" "4 33 131 1022" \
    "$("$FIRN" nodes --store "$db" "$unsafe" ns=snowflake | awk 'NR > 1 { print $2 }' | paste -sd' ')"
ask new snowflake node=5 time=2020-01-01 --store "$db" "$unsafe" -n 3
same "back-dated IDs of a node follow each other" "0 1 2" \
    "$(for id in $out; do "$FIRN" show --scheme snowflake --json "$id" | jq .fields.sequence; done | paste -sd' ')"
ask new snowflake node=5 time=2020-01-01 --store "$db" "$unsafe"
same "a later run too" 3 "$("$FIRN" show --scheme snowflake --json "$out" | jq .fields.sequence)"
refuses "live issue is kept off the history's node" 2 "back-dated" new snowflake node=5 --store "$db" "$unsafe" max_wait=0
same "nodes calls it history" "history 5" "$("$FIRN" nodes --store "$db" "$unsafe" --json | jq -r 'select(.kind == "history") | "\(.kind) \(.key)"')"
check "and explains it" sh -c "'$FIRN' nodes --store '$db' '$unsafe' | grep -q 'mark: a time: .*; history: the node issues only'"
same "its ticks are listed on demand" 1 "$("$FIRN" nodes --store "$db" "$unsafe" --json --all | jq -r 'select(.kind == "tick").kind' | wc -l)"
same "and counted otherwise" "and 1 tick with back-dated IDs: --all lists it" "$("$FIRN" nodes --store "$db" "$unsafe" | tail -n 1)"
ask new tsid ns=mine node=1 --store "$db" "$unsafe"
same "ns= is the namespace" mine "$("$FIRN" nodes ns=mine --store "$db" "$unsafe" --json | jq -r .ns)"
check "a table of nodes alone is not explained" sh -c "! '$FIRN' nodes ns=mine --store '$db' '$unsafe' | grep '^mark: '"
refuses "another row under that name is refused" 2 "mine" new snowflake ns=mine node=1 --store "$db" "$unsafe"

# ---- many processes ------------------------------------------------------------------------------
for process in 1 2 3 4; do
    "$FIRN" new snowflake ns=many --store "$db" "$unsafe" -n 30000 >"$TMPDIR/many.$process" 2>"$TMPDIR/stderr.$process" &
    eval "p$process=\$!"
done
# shellcheck disable=SC2154 # set by eval
wait "$p1" && wait "$p2" && wait "$p3" && wait "$p4" && ended=fine
same "four processes of one namespace end well" fine "${ended:-}"
same "and issue no ID twice" 120000 "$(cat "$TMPDIR"/many.[1-4] | sort -u | wc -l)"
for process in 1 2 3 4; do
    for run in 1 2 3 4 5; do
        "$FIRN" new snowflake ns=fixed node=7 --store "$db" "$unsafe" -n 50
    done >"$TMPDIR/fixed.$process" 2>"$TMPDIR/stderr.$process" &
    eval "p$process=\$!"
done
wait "$p1" "$p2" "$p3" "$p4"
same "four that share a fixed node do neither" 1000 "$(cat "$TMPDIR"/fixed.[1-4] | sort -u | wc -l)"

# ---- a holder ------------------------------------------------------------------------------------
mkfifo "$TMPDIR/fifo"
"$FIRN" new snowflake ns=held node=7 mode=window window=10s --store "$db" "$unsafe" -n 1000000000 >"$TMPDIR/fifo" 2>"$TMPDIR/stderr.h" &
holder=$!
exec 3<"$TMPDIR/fifo"
read -r held <&3 # its window is there, and it hangs in a full pipe from here on
refuses "a node that somebody holds is busy" 5 "in use" new snowflake ns=held node=7 --store "$db" "$unsafe" max_wait=50ms
exec 3<&-
wait $holder
same "a holder whose reader goes ends quietly" "0 " "$? $(grep -v '^firn: note' "$TMPDIR/stderr.h")"
ask nodes ns=held --store "$db" "$unsafe" --json
mark=$(printf '%s' "$out" | jq -r .mark)
check "and has given its window back: the mark is less than 2 s ahead" \
    [ $((mark / 4096 + 1288834974657 - $(date +%s%3N))) -lt 2000 ]
check "the printed IDs are below the mark" [ $((held / 4194304 * 4096)) -lt "$mark" ]

# ---- integers ------------------------------------------------------------------------------------
check "a layout without a node has only one" sh -c "'$FIRN' new 'time:41/ms sequence:12' 2>&1 >/dev/null |
    grep -q '^firn: note: the one node is reserved only among'"
says "a segment counts from 1" "1
2
3" segment orders --store "$db" "$unsafe" -n 3
says "a block is printed by its ends" "4
1003" segment orders --store "$db" "$unsafe" -n 1000 --range
says "and continues from there" 1004 segment orders --store "$db" "$unsafe"
same "nodes prints the next one" 1005 "$("$FIRN" nodes "ns=integer orders" --store "$db" "$unsafe" --json | jq -r .mark)"
says "tickets of two servers interleave" "1
3
5" segment tickets kind=ticket increment=2 offset=1 --store "$db" "$unsafe" -n 3
says "the other one's are between them" "2
4" segment tickets kind=ticket increment=2 offset=2 --store "$db" "$unsafe" -n 2
same "nodes prints the next ticket" "7 6" "$("$FIRN" nodes "ns=integer tickets" --store "$db" "$unsafe" --json | jq -r .next | paste -sd' ')"
says "a serial starts at start=" "100
101" segment bills kind=serial start=100 end=102 --store "$db" "$unsafe" -n 2
refuses "and ends there: all or nothing" 1 "end=102" segment bills kind=serial start=100 end=102 --store "$db" "$unsafe" -n 2
says "what is left is still there" 102 segment bills kind=serial start=100 end=102 --store "$db" "$unsafe"
ask segment bills kind=serial start=100 end=110 --store "$db" "$unsafe" -n 0
same "start= on a key that exists is reported as ignored" 1 \
    "$(printf '%s\n' "$notes" | grep -c 'start=100 is ignored, because the segment exists: the next integer is 103')"
ask segment newbills start=100 --store "$db" "$unsafe"
same "a new segment is reported, since a misspelt name makes one" \
    "100 firn: note: the segment newbills is new: it begins at 100" "$out $notes"
ask segment newbills --store "$db" "$unsafe"
same "once" "101 " "$out $notes"
refuses "a key in place of the name" 2 "segment needs a NAME" segment kind=ticket
says "-n 0 takes nothing" "" segment bills --store "$db" "$unsafe" -n 0
same "many integers are as many" "200000 200000" \
    "$("$FIRN" segment many --store "$db" "$unsafe" -n 200000 | awk '{ if ($1 != NR) exit; n++ } END { print NR, n }')"
refuses "integers of another kind are refused with the cure" 2 "use the same kind and increment, or another name" segment tickets --store "$db" "$unsafe"
refuses "an offset past the increment" 1 "offset=3 is above increment=2" segment x kind=ticket increment=2 offset=3 --store "$db" "$unsafe"

# ---- looking and moving on -----------------------------------------------------------------------
says "integers as objects" '{"segment":"objects","id":"1"}
{"segment":"objects","id":"2"}' segment objects -n 2 --json --store "$db" "$unsafe"
says "a block as one" '{"segment":"objects","first":"3","last":"7"}' segment objects -n 5 --range --json --store "$db" "$unsafe"
says "the next integer as one" '{"segment":"objects","next":"8"}' segment peek objects --json --store "$db" "$unsafe"
says "peek prints the next integer" 1005 segment peek orders --store "$db" "$unsafe"
says "and takes nothing" 1005 segment peek orders --store "$db" "$unsafe"
says "a key that nobody has used yet begins at 1" 1 segment peek fresh --store "$db" "$unsafe"
says "advance moves on" 5000 segment advance orders --min 5000 --store "$db" "$unsafe"
says "never back" 5000 segment advance orders --min 10 --store "$db" "$unsafe"
says "and takes nothing either" 5000 segment orders --store "$db" "$unsafe"
says "a ticket's advance keeps to its server's numbers" 101 segment advance tickets kind=ticket increment=2 offset=1 --min 100 --store "$db" "$unsafe"
refuses "advance past the end" 1 "end=102" segment advance bills kind=serial start=100 end=102 --min 200 --store "$db" "$unsafe"
refuses "nor past all integers" 2 "--min 9223372036854775807 is out of range .0 to 4611686018427387904" segment advance far --min 9223372036854775807 --store "$db" "$unsafe"
pinned=$(printf 'start=%0468d' 1234) # with the others 512 characters
refuses "keys are whole or refused" 2 "more than 511 characters" segment whole kind=segment step=1 adapt=0 end=99999 "$pinned" --store "$db" "$unsafe"
ask segment advance '*' --min 1 --store "$db" "$unsafe"
same "advance of all keys asks; without a terminal it needs --yes" "2 1" "$status $(printf '%s' "$err" | grep -c -- '--yes')"
says "with it, it is done" 1 segment advance '*' --min 1 --yes --store "$db" "$unsafe"
ask nodes lost --yes --store "$db" "$unsafe"
same "a loss is declared" "0 declared" "$status $(printf '%s\n' "$out" | tail -n 1)"
refuses "integers wait then" 3 "firn segment advance" segment orders --store "$db" "$unsafe"
refuses "new ones too" 3 "firn segment advance" segment brandnew --store "$db" "$unsafe"
ask nodes trust --store "$db" "$unsafe"
same "trust asks; without a terminal it needs --yes" "2 1" "$status $(printf '%s' "$err" | grep -c -- '--yes')"
ask nodes trust --yes --store "$db" "$unsafe"
same "with it, all continue" "0 trusted" "$status $(printf '%s\n' "$out" | tail -n 1)"
says "where they were" 5001 segment orders --store "$db" "$unsafe"
says "new ones begin" 1 segment brandnew --store "$db" "$unsafe"
refuses "losses are the store's" 2 "remove ns=" nodes lost ns=orders --yes --store "$db" "$unsafe"
refuses "advance without --min" 2 "--min" segment advance orders --store "$db" "$unsafe"
refuses "nor does it take its own word for a key" 2 "advance needs a NAME: firn segment advance NAME --min N" segment advance --store "$db" "$unsafe"
refuses "with --min or without" 2 "advance needs a NAME" segment advance --min 3 --store "$db" "$unsafe"
refuses "--min without advance" 2 "advance" segment orders --min 3 --store "$db" "$unsafe"
refuses "another word in front" 2 "'take' is not a verb" segment take orders --store "$db" "$unsafe"
same "FIRN_STORE names the store where --store does not" 5002 "$(FIRN_STORE=$db "$FIRN" segment orders "$unsafe")"
"$FIRN" nodes --store "nothing://user:secret@127.0.0.1:1/" >"$TMPDIR/stdout" 2>"$TMPDIR/stderr"
mkfifo "$TMPDIR/held"
exec 9<>"$TMPDIR/held"
"$FIRN" new uuid4 -n 1000000 --store 'redis://user:secret@127.0.0.1:1/0' >"$TMPDIR/held" 2>/dev/null &
held=$!
conceals() { tr '\0' '\n' <"/proc/$held/cmdline" | grep -qxF 'redis://user:******@127.0.0.1:1/0'; }
await conceals
check "and soon leaves the list" conceals
kill -KILL "$held" # blocked in a write, it ends at no other signal
exec 9>&-
same "a password among the arguments is worth a note" 1 "$(grep -c '^firn: note: other users can see a password in --store' "$TMPDIR/stderr")"
same "and is not printed again" 0 "$(grep -c secret "$TMPDIR/stderr" "$TMPDIR/stdout" | awk -F: '{ n += $2 } END { print n }')"

# ---- a store that was restored -------------------------------------------------------------------
old=$TMPDIR/old.db
"$FIRN" new snowflake node=1 --store "sqlite:$old" "$unsafe" >/dev/null 2>&1
cp "$old" "$old.copy"
for i in 1 2 3; do "$FIRN" new snowflake node=1 --store "sqlite:$old" "$unsafe" >/dev/null 2>&1; done
cp "$old.copy" "$old"
"$FIRN" new snowflake node=1 max_wait=0 --store "sqlite:$old" "$unsafe" >/dev/null 2>&1 # notices it
refuses "a node that was never used is not said to issue live IDs" 2 "the store was replaced or restored.*firn stamp without --job" \
    new snowflake node=9 time=2020-01-01 --store "sqlite:$old" "$unsafe"

# ---- a mark far ahead, as a clock that was wrong once leaves it ----------------------------------
ahead() {
    python3 - "${db#sqlite:}" "$1" "$2" <<'PYTHON'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE mark SET high = high + ? WHERE ns = ?", (int(sys.argv[3]), sys.argv[2]))
PYTHON
}
"$FIRN" new snowflake ns=wrong node=9 --store "$db" "$unsafe" >"$TMPDIR/id" 2>/dev/null
refuses "a node that is free needs no freeing" 1 "is in the past: the node is free" nodes free 9 ns=wrong --lost-after 2024-01-01 --yes --store "$db" "$unsafe"
ahead wrong $((20 * 1000 * 4096))
refuses "a node that may be in use is not freed" 5 "at most 30 s ahead" nodes free 9 ns=wrong --lost-after 2024-01-01 --yes --store "$db" "$unsafe"
ahead wrong $((10 * 365 * 86400 * 1000 * 4096))
refuses "far ahead its node is busy" 5 "in use until" new snowflake ns=wrong node=9 max_wait=0 --store "$db" "$unsafe"
refuses "free needs the time of the loss" 2 "--lost-after" nodes free 9 ns=wrong --yes --store "$db" "$unsafe"
"$FIRN" nodes free 9 ns=wrong --lost-after 2024-01-01 --store "$db" "$unsafe" </dev/null >"$TMPDIR/freed" 2>"$TMPDIR/stderr"
same "without a terminal, the command that would repeat is printed, and nothing is done" "2 1 1" \
    "$? $(grep -c 'may repeat' "$TMPDIR/freed") $(grep -c -- '--yes' "$TMPDIR/stderr")"
refuses "no such node" 1 "no namespace has a node 31" nodes free 31 ns=wrong --lost-after 2024-01-01 --yes --store "$db" "$unsafe"
refuses "what would lower nothing" 1 "is not before the high-water mark" nodes free 9 ns=wrong --lost-after 2070-01-01 --yes --store "$db" "$unsafe"
"$FIRN" new flake ns=wide worker=3 --store "$db" "$unsafe" >/dev/null 2>&1
ahead wide $((20 * 365 * 86400 * 1000 * 65536))
refuses "nor what no slot can tell" 1 "is not before the high-water mark" nodes free 3 ns=wide --lost-after @281474976710.656 --yes --store "$db" "$unsafe"
"$FIRN" new snowflake ns=last node=9 --store "$db" "$unsafe" >/dev/null 2>&1
high=$("$FIRN" nodes ns=last --store "$db" "$unsafe" --json | jq -r .mark)
ahead last $(((1 << 53) - high))
refuses "a mark at the end of the layout stays" 1 "at the end of its layout" nodes free 9 ns=last --lost-after 2024-01-01 --yes --store "$db" "$unsafe"
lost=$(date -u +%Y-%m-%dT%H:%M:%SZ)
"$FIRN" nodes free 9 ns=wrong --lost-after "$lost" --yes --store "$db" "$unsafe" >"$TMPDIR/freed" 2>/dev/null
same "a freed node prints which IDs may repeat" "0 1" "$? $(grep -c "IDs of this node with times from ${lost%Z}.* may repeat" "$TMPDIR/freed")"
same "and none of the last tick that may be kept" 1 "$(grep -c "mark is now ${lost%Z}.001Z" "$TMPDIR/freed")"
matches "and issues again" '[0-9]+' new snowflake ns=wrong node=9 max_wait=0 --store "$db" "$unsafe"
# A floor, as the guard of a loss that was noticed by a process with a wrong clock leaves it.
floor() {
    python3 - "${db#sqlite:}" "$1" <<'PYTHON'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE namespace SET floor = (SELECT max(high) FROM mark WHERE ns = name) + ? WHERE name = 'floored'", (int(sys.argv[2]),))
PYTHON
}
"$FIRN" new snowflake ns=floored --store "$db" "$unsafe" >/dev/null 2>&1
same "a namespace without a floor shows no floor" "null 0" \
    "$("$FIRN" nodes ns=floored --store "$db" "$unsafe" --json | jq -r .floor) $("$FIRN" nodes --store "$db" "$unsafe" | grep -c 'issues nothing before')"
refuses "nor is there anything to lower" 1 "has no floor" nodes floor floored --yes --store "$db" "$unsafe"
floor $((10 * 1000 * 4096))
refuses "a floor that may protect IDs is not lowered" 5 "at most 630 s ahead" nodes floor floored --yes --store "$db" "$unsafe"
floor $((44 * 365 * 86400 * 1000 * 4096))
refuses "a floor far ahead stops every node" 5 "is issued before 20" new snowflake ns=floored max_wait=0 --store "$db" "$unsafe"
same "it is shown, with the cure" 1 "$("$FIRN" nodes --store "$db" "$unsafe" | grep -c "over 630 s ahead: firn nodes floor 'floored')")"
"$FIRN" nodes floor floored --store "$db" "$unsafe" </dev/null >"$TMPDIR/floor" 2>"$TMPDIR/stderr"
same "it is not lowered without an answer" "2 1 1" \
    "$? $(grep -c 'may repeat' "$TMPDIR/floor") $(grep -c -- '--yes' "$TMPDIR/stderr")"
refuses "nor is the floor of an unknown namespace" 1 "no namespace nobody" nodes floor nobody --yes --store "$db" "$unsafe"
# A person who thinks for long about the answer lowers the floor to 630 s after the answer: the store may have lost reservations.
asked() { grep -q 'y/N' "$TMPDIR/floor" 2>/dev/null; }
if command -v script >/dev/null; then
    rm -f "$TMPDIR/floor"
    { await asked && sleep 0.01 && echo y; } |
        script -qec "'$FIRN' nodes floor floored --store '$db' '$unsafe'" /dev/null >"$TMPDIR/floor" 2>&1
    same "it is lowered to a time after the answer" "1 1" "$(grep -c 'the floor of floored is now 20' "$TMPDIR/floor") $(
        sed -n 's/.*\(with times from\|floored is now\) \(20[0-9TZ:.-]*\).*/\2/p' "$TMPDIR/floor" | sort -u | sed 1d | grep -c 20)"
    floor $((44 * 365 * 86400 * 1000 * 4096))
fi
same "it is lowered" 1 "$("$FIRN" nodes floor floored --yes --store "$db" "$unsafe" | grep -c 'the floor of floored is now 20')"
floor 0
matches "and nodes issue again" '[0-9]+' new snowflake ns=floored max_wait=0 --store "$db" "$unsafe"
# A loss that was declared: a namespace with the long reach waits 615 s, unless every process was stopped.
lossy=sqlite:$TMPDIR/lossy.db
"$FIRN" new snowflake ns=long reach=10min --store "$lossy" "$unsafe" >/dev/null 2>&1
"$FIRN" nodes lost --yes --store "$lossy" "$unsafe" >/dev/null
refuses "a loss stops a namespace with the long reach" 5 "no ID of long is issued before" \
    new snowflake ns=long reach=10min max_wait=0 --store "$lossy" "$unsafe"
refuses "it resumes if all processes have stopped, and you say so" 2 "add --all-stopped" nodes resume --store "$lossy" "$unsafe"
refuses "to no other verb" 2 "applies to firn nodes resume" nodes trust --all-stopped --store "$lossy" "$unsafe"
# ahead NAMESPACE: by how many seconds its floor is in the future; "none".
ahead() {
    "$FIRN" nodes ns="$1" --store "$lossy" "$unsafe" --json |
        jq -rn '[inputs | .floor][0] | if . then sub("[.][0-9]+Z$"; "Z") | fromdate - now | floor else "none" end'
}
far=$(ahead long)
"$FIRN" nodes trust --yes --store "$lossy" "$unsafe" >/dev/null
"$FIRN" new snowflake ns=sound --store "$lossy" "$unsafe" >/dev/null 2>&1
says "with that word, it resumes" "resumed 1 namespace: IDs continue at most 21 s after the store's clock.
If the clock of a process was further ahead, its last IDs may repeat." nodes resume --all-stopped --store "$lossy" "$unsafe"
near=$(ahead long)
same "the floor was lowered, and the floor of another namespace not raised" "yes none" \
    "$([ "$far" -gt 30 ] && [ "$near" -le 22 ] && echo yes) $(ahead sound)"
# Nobody has noticed this loss: the guard of 15 s must not get longer, and back-dated IDs never resume.
lossy=sqlite:$TMPDIR/resumed.db
"$FIRN" new snowflake ns=dated time=2020-01-01 --store "$lossy" "$unsafe" >/dev/null 2>&1
"$FIRN" new 'time:41/ms@@2026-01-01 worker:10 reach=1:1 sequence:12' ns=field --store "$lossy" "$unsafe" >/dev/null 2>&1
same "a field may be named reach" node "$("$FIRN" nodes ns=field --store "$lossy" "$unsafe" --json | jq -r .kind)"
"$FIRN" nodes lost --yes --store "$lossy" "$unsafe" >/dev/null
refuses "a name without a record waits for the longest guard" 5 "no ID of unheard is issued before" \
    new snowflake ns=unheard max_wait=0 --store "$lossy" "$unsafe"
far_ones() { "$FIRN" nodes --store "$lossy" "$unsafe" | grep -c '^unheard issues nothing before .* min ahead'; }
same "it has a record then, and no mark" 1 "$(far_ones)"
says "all of them resume" "resumed 3 namespaces: IDs continue at most 21 s after the store's clock.
If the clock of a process was further ahead, its last IDs may repeat." nodes resume --all-stopped --store "$lossy" "$unsafe"
same "also one without a mark; and no guard gets longer" "0 yes" "$(far_ones) $([ "$(ahead field)" -lt 15 ] && echo yes)"
refuses "back-dated IDs do not resume" 3 "it allows no back-dated IDs" \
    new snowflake ns=dated time=2020-01-01 max_wait=0 --store "$lossy" "$unsafe"
says "a second time there is nothing to resume" "no namespace has a guard of more than 21 s: nothing changed" \
    nodes resume --all-stopped --store "$lossy" "$unsafe"
refuses "back-dated IDs have no floor" 1 "it has no floor" nodes floor "dated ticks" --yes --store "$lossy" "$unsafe"
refuses "resume does not ask" 2 "applies to free, floor, lost, trust and --forget" nodes resume --all-stopped --yes --store "$lossy" "$unsafe"
refuses "a verb needs its operand" 2 "firn nodes floor takes one NAMESPACE" nodes floor --store "$db" "$unsafe"
"$FIRN" new snowflake ns=wrong time=2020-01-01 --store "$db" "$unsafe" >/dev/null 2>&1
history=$("$FIRN" nodes ns=wrong --store "$db" "$unsafe" --json 2>/dev/null | jq -r 'select(.kind == "history").key')
refuses "a history node is never freed" 1 "is reserved for back-dated IDs" nodes free "$history" ns=wrong --lost-after 2020-01-01 --yes --store "$db" "$unsafe"

# ---- confined claims -----------------------------------------------------------------------------
refuses "claims of a namespace that is not there" 1 "no namespace confined" nodes claim confined 0..15 --store "$db" "$unsafe"
"$FIRN" new snowflake ns=confined time=2020-01-01 --store "$db" "$unsafe" >/dev/null 2>&1
"$FIRN" new snowflake ns=confined node=900 --store "$db" "$unsafe" >/dev/null 2>&1
refuses "a range has two ends" 2 "is not a range of nodes" nodes claim confined 15 --store "$db" "$unsafe"
refuses "in order" 2 "is not a range of nodes" nodes claim confined 9..3 --store "$db" "$unsafe"
refuses "one node would be kept for back-dated IDs" 2 "one node is too few.*give at least two" nodes claim confined 6..6 --store "$db" "$unsafe"
refuses "a node that the layout does not have" 1 "node 1024 is out of range .0 to 1023 in confined.: choose" nodes claim confined 0..1024 --store "$db" "$unsafe"
refuses "a verb of nodes with too few operands" 2 "firn nodes claim takes NAMESPACE FIRST..LAST" nodes claim confined --store "$db" "$unsafe"
refuses "--yes where nothing is asked" 2 "--yes applies to" nodes claim confined 0..15 --yes --store "$db" "$unsafe"
refuses "integers have no nodes" 1 "has no nodes to claim" nodes claim "integer orders" 0..15 --store "$db" "$unsafe"
refuses "nor have the ticks of back-dated IDs" 1 "has no nodes to claim" nodes claim "confined ticks" 0..15 --store "$db" "$unsafe"
matches "claims are confined" 'generators of confined claim nodes 0 to 15 only|[12] other node.*|node 1023 issues back-dated IDs until .*' nodes claim confined 0..15 --store "$db" "$unsafe"
same "as an object" '["confined","0","15",1]' "$("$FIRN" nodes claim confined 0..15 --json --store "$db" "$unsafe" | jq -c '[.ns, .first, .last, .backdated]')"
same "the node of back-dated IDs is named" 1 "$("$FIRN" nodes claim confined 0..15 --store "$db" "$unsafe" | grep -c '^node 1023 issues back-dated IDs until those processes end')"
for i in 1 2 3; do "$FIRN" new snowflake ns=confined --store "$db" "$unsafe" 2>/dev/null; done >"$TMPDIR/ids"
nodes_of() {
    xargs "$FIRN" show --scheme snowflake --json | jq '(.fields.datacenter | tonumber) * 32 + (.fields.worker | tonumber)'
}
nodes_of <"$TMPDIR/ids" >"$TMPDIR/used"
same "so are new IDs" 0 "$(awk '$1 > 15' "$TMPDIR/used" | wc -l)"
same "and back-dated ones, on the greatest node that no process has used" "$(seq 15 -1 0 | grep -vxFf "$TMPDIR/used" | head -n 1)" \
    "$("$FIRN" new snowflake ns=confined time=2021-01-01 --store "$db" "$unsafe" 2>/dev/null | nodes_of)"
matches "a given node may be another one" '[0-9]+' new snowflake ns=confined node=900 --store "$db" "$unsafe"
same "the list reads the layout as before" 1 "$("$FIRN" nodes ns=confined --store "$db" "$unsafe" | grep -cE '^confined +900 +datacenter=28 worker=4 +20')"
same "and names the nodes that are claimed" 1 "$("$FIRN" nodes ns=confined --store "$db" "$unsafe" | grep -c '^generators of confined claim nodes 0 to 15 only')"
"$FIRN" nodes --forget confined --yes --store "$db" "$unsafe" >/dev/null 2>&1
same "the list of all shows that a namespace is closed" 1 "$("$FIRN" nodes ns=confined --all --store "$db" "$unsafe" | grep -cE '^confined +900 +datacenter=28 worker=4 +closed +')"
refuses "a closed namespace is not confined" 1 "is closed" nodes claim confined 0..15 --store "$db" "$unsafe"
"$FIRN" nodes --forget confined --undo --store "$db" "$unsafe" >/dev/null 2>&1
same "closing and opening keeps the claims" 1 "$("$FIRN" nodes ns=confined --json --store "$db" "$unsafe" | jq -r .layout | sort -u | grep -c '^claim=0..15 ')"
matches "the whole range frees the claims" 'generators of confined claim every node' nodes claim confined 0..1023 --store "$db" "$unsafe"
same "and the layout is the plain one" 0 "$("$FIRN" nodes ns=confined --json --store "$db" "$unsafe" | jq -r .layout | grep -c claim)"

# nodes of reserves
split="ns=split reach=1h reserve_claim=900..1023"
# shellcheck disable=SC2086 # settings
{
    matches "a namespace with nodes of reserves" '[0-9]+' new snowflake $split --store "$db" "$unsafe"
    refuses "every process must set them" 2 "namespace split has reserve_claim=900..1023 reach=1h, not reach=1h: set reserve_claim" new snowflake ns=split reach=1h --store "$db" "$unsafe"
}
says_split() { "$FIRN" nodes --store "$db" "$unsafe" ns=split | grep 'only reserves'; }
same "they are listed" "only reserves of machines claim nodes 900 to 1023 of split, whose guard after a loss is 1 h longer (reserve_claim=)" "$(says_split)"
refuses "their claims are not for generators" 1 "nodes 900..1023 of split are claimed by reserves of machines only: choose" nodes claim split 0..900 --store "$db" "$unsafe"
matches "the others are confined" 'generators of split claim nodes 0 to 15 only' nodes claim split 0..15 --store "$db" "$unsafe"
same "both are listed" 2 "$("$FIRN" nodes --store "$db" "$unsafe" ns=split | grep -c ' claim nodes ')"
matches "or free" 'generators of split claim every node outside of reserve_claim' nodes claim split 0..1023 --store "$db" "$unsafe"
# shellcheck disable=SC2086 # settings
{
    matches "history has separate ticks" '[0-9]+' new snowflake $split time=2020-01-01 --store "$db" "$unsafe"
    same "which have no nodes" "" "$("$FIRN" nodes --store "$db" "$unsafe" | grep 'split ticks.*reserve_claim=')"
    echo made >"$TMPDIR/made.csv" && echo 2020-01-02 >>"$TMPDIR/made.csv"
    refuses "a job must set them too" 2 "set reserve_claim=900..1023 reach=1h" \
        stamp "$TMPDIR/made.csv" --scheme snowflake --time made --job split ns=split reach=1h --store "$db" "$unsafe"
    id=$("$FIRN" stamp "$TMPDIR/made.csv" --scheme snowflake --time made --job splits $split --store "$db" "$unsafe" -q | sed -n 's/,2020.*//p')
    check "and takes none of them" [ $((${id:--1} >> 12 & 1023)) -lt 900 ]
    matches "a node of reserves may be given" '[0-9]+' new snowflake $split node=950 --store "$db" "$unsafe"
    cp "${db#sqlite:}" "$TMPDIR/split.db"
    usual=$db db=sqlite:$TMPDIR/split.db
    "$FIRN" nodes lost --yes --store "$db" "$unsafe" >/dev/null
    "$FIRN" nodes resume --all-stopped --store "$db" "$unsafe" >/dev/null
    floor=$("$FIRN" nodes ns=split --store "$db" "$unsafe" --json | jq -rs '.[0].floor')
    same "the guard of the others is 15 s, which resume leaves" true \
        "$(jq -n --arg floor "$floor" '($floor | sub("[.][0-9]*Z"; "Z") | fromdate) - now < 15.1')"
    refuses "a loss stops it for longer" 5 "no ID of split is issued before" new snowflake $split node=950 max_wait=0 --store "$db" "$unsafe"
}
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE mark SET high = high + 10 * 365 * 86400 * 1000 * 4096 WHERE key = ?", ["950"])' "$TMPDIR/split.db"
same "its mark is lowered as any other" 1 \
    "$("$FIRN" nodes free 950 ns=split --lost-after 2024-01-01 --yes --store "$db" "$unsafe" | grep -c 'its high-water mark is now 2024')"
db=$usual

# ---- 3: no store ---------------------------------------------------------------------------------
echo "this is not a database, and long enough to be recognised as text" >"$TMPDIR/text.db"
refuses "a file where no folder can be" 3 "text.db" new snowflake --store "sqlite:$TMPDIR/text.db/none/firn.db" "$unsafe"
refuses "a file that is not a database" 3 "text.db" new snowflake --store "sqlite:$TMPDIR/text.db" "$unsafe"
refuses "nor to be listed" 3 "text.db" nodes --store "sqlite:$TMPDIR/text.db" "$unsafe"
refuses "nor to be counted in" 3 "text.db" segment x --store "sqlite:$TMPDIR/text.db" "$unsafe"
memory=$(mktemp -d /dev/shm/firn-XXXXXX 2>/dev/null) || memory=
if [ -n "$memory" ] && [ "$(stat -f -c %T "$memory")" = tmpfs ]; then
    refuses "a place that forgets is refused with the cure" 3 "unsafe=1" new snowflake --store "sqlite:$memory/firn.db"
    matches "unsafe=1 takes it" '[0-9]+' new snowflake --store "sqlite:$memory/firn.db" unsafe=1
else
    skip "a place that forgets is refused with the cure" "no tmpfs here"
fi
[ -z "$memory" ] || rm -rf "$memory"

# ---- 4: the clock --------------------------------------------------------------------------------
cat >"$TMPDIR/clock.c" <<'C'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *now) {
    static unsigned calls;
    long code = syscall(SYS_clock_gettime, id, now);
    if (id == CLOCK_REALTIME && ++calls > 300) now->tv_sec += getenv("BY") == NULL ? -3600 : atol(getenv("BY"));
    return (int)code;
}
C
if cc -shared -fPIC -o "$TMPDIR/clock.so" "$TMPDIR/clock.c" 2>"$TMPDIR/log"; then
    LD_PRELOAD=$TMPDIR/clock.so "$FIRN" new snowflake ns=clock node=1 back=fail mode=window clock=exact --store "$db" "$unsafe" \
        -n 100000000 2>"$TMPDIR/stderr" >"$TMPDIR/ids"
    same "a clock that steps back by an hour ends with status 4" "4 1" "$? $(grep -c '^firn: .*clock' "$TMPDIR/stderr")"
    same "and no ID was repeated" "$(wc -l <"$TMPDIR/ids")" "$(sort -u "$TMPDIR/ids" | wc -l)"
    BY=17230000000 LD_PRELOAD=$TMPDIR/clock.so "$FIRN" new uuid7 clock=exact -n 10000000 2>"$TMPDIR/stderr" >/dev/null
    same "a clock after 2554-07-21 ends with status 4, and its year is named" "4 1" \
        "$? $(grep -c '^firn: .*clock shows 257[0-9]-.* after 2554-07-21: set the clock' "$TMPDIR/stderr")"
else
    skip "a clock that steps back by an hour ends with status 4" "no compiler"
    skip "a clock after 2554-07-21 ends with status 4, and its year is named" "no compiler"
fi
# ---- words -------------------------------------------------------------------------------------------
for engine in redis etcd zookeeper; do
    if [ -e "$BUILD/firn/$engine.so" ]; then
        refuses "a host of $engine that has no address is named as the cause" 3 "not found.*correct the .*name in the URL|not found.*host's name" \
            new snowflake --store "$engine://no-such-host.invalid"
    else
        skip "a host of $engine that has no address is named as the cause" "the module $engine is not built"
    fi
done
if command -v script >/dev/null; then
    "$FIRN" new snowflake --store "sqlite:$TMPDIR/wide.db" 2>/dev/null >"$TMPDIR/said"
    script -qec "'$FIRN' nodes --store 'sqlite:$TMPDIR/wide.db'" /dev/null | tr -d '\r' | sed "s/$(printf '\033')\[[0-9;]*m//g" >"$TMPDIR/shown"
    check "a terminal shows the nodes of a store" grep -q '^snowflake .*datacenter=' "$TMPDIR/shown"
    same "without a line above 80 columns" "" "$(awk 'length > 80' "$TMPDIR/shown")"
fi
finish
