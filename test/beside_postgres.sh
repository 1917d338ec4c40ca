# SPDX-License-Identifier: MIT
# The PostgreSQL extension and stores in the same server do not issue with the same node: a store refuses the nodes of
# firn.node and firn.history, claims none of them, and leaves a node that becomes the extension's.
# shellcheck disable=SC2016 # dollars quote SQL, for the server
. test/postgres.tap

issuer=
cleanup() {
    [ -z "$issuer" ] || kill "$issuer" 2>/dev/null
    test/engine stop "$place"
    private_end
}
private_test "extension and store share a server"

ask() {
    psql -XqAt -h 127.0.0.1 -p "$port" -U firn postgres -c "$1" 2>&1
}
# set_to SETTING VALUE: until the server has it.
has() {
    [ "$(ask "SELECT current_setting('$1')")" = "$2" ]
}
set_to() {
    ask "ALTER SYSTEM SET $1 = '$2'" >/dev/null
    ask 'SELECT pg_reload_conf()' >/dev/null
    await has "$1" "$2"
}
says() {
    case $2 in
    *"$3"*) pass "$1" ;;
    *) fail "$1" "$2" ;;
    esac
}
new() {
    "$FIRN" new snowflake --store "$store" -q "$@" 2>&1
}

check "a server starts with firn preloaded" test/engine start postgres "$place" -c shared_preload_libraries=firn \
    -c firn.max_wait=60s
port=$(cat "$place/port")
ask 'CREATE EXTENSION firn' >/dev/null
ask 'CREATE DATABASE ids' >/dev/null
store=postgres://firn@127.0.0.1:$port/ids

# ---- fixed nodes --------------------------------------------------------------------------------------------------------

same "while firn.node is not set, a store gives every node" 1 "$(new node=7 | wc -l)"
set_to firn.node 7
set_to firn.history 900-903
says "the extension's node is refused" "$(new node=7)" 'node 7 is in firn.node of the server of store'
says "with a cure" "$(new node=7)" 'use another node'
says "as separate fields too" "$(new datacenter=0 worker=7)" 'node 7 is in firn.node'
says "and without a window" "$(new node=7 mode=online)" 'node 7 is in firn.node'
says "so is a node for its old rows" "$(new node=903)" 'node 903 is in firn.history'
same "other nodes are given" 3 "$({ new node=8 && new node=899 && new node=904; } | wc -l)"
same "integers with such names are not nodes" 1 "$("$FIRN" segment 7 --store "$store" 2>/dev/null)"
same "nor are jobs" 1 "$(echo 2020-01-01 | "$FIRN" stamp - --job 7 --scheme snowflake --time 1 --no-header --store "$store" 2>/dev/null | wc -l)"
set_to firn.node 'datacenter=1 worker=3'
says "firn.node may have fields" "$(new node=35)" 'node 35 is in firn.node'
says "a node that was the extension's until the last change is refused too" "$(new node=7)" 'node 7 was in firn.node'
same "a layout without such fields is not concerned" 1 "$("$FIRN" new tsid node=35 --store "$store" -q | wc -l)"
set_to firn.node 9
says "and until the second last change" "$(new node=7)" 'node 7 was in firn.node'
given() {
    [ "$(new "node=$1" | grep -c '^[0-9]*$')" = 1 ]
}
check "25 s later it is given" await given 7
set_to firn.node 'datacenter=0x0 worker=0x18'
set_to firn.history ' 900-+903'
says "each spelling that the extension reads is read: hexadecimal" "$(new node=24)" 'node 24 is in firn.node'
says "and blanks and signs" "$(new node=902)" 'node 902 is in firn.history'
set_to firn.history 900-903
set_to firn.node 9

# ---- whose is whose -----------------------------------------------------------------------------------------------------

# whose ARGUMENT...: the lines of a list in short
whose() {
    "$FIRN" nodes "$@" --json | jq -r '"\(.whose) \(.ns) \(.key) \(.note)"' | sed 's/ on .*//'
}
ask 'SELECT count(snowflake())' >/dev/null
ask "SELECT firn_stamp('snowflake', 'old', '2020-01-01')" >/dev/null
new node=8 >/dev/null
listed=$(whose --store "$store" ns=snowflake)
says "firn nodes lists the node of the extension" "$listed" "extension  9 extension: firn.node"
says "and its nodes for old rows" "$listed" "extension  900-903 extension: firn.history"
says "and the store's own" "$listed" "process snowflake 8 firn"
says "and jobs" "$(whose --store "$store")" "job snowflake jobs 7 "
same "the extension's marks are in another database" 0 "$(printf '%s\n' "$listed" | grep -c '^extension snowflake')"
listed=$(whose --store "${store%/ids}/postgres")
says "in its own database they are listed" "$listed" "extension snowflake 9 extension"
says "with jobs" "$listed" "extension snowflake 900 extension, job old"
same "in the table too" "* 9 other" "$("$FIRN" nodes --store "${store%/ids}/postgres" | awk '$1 == "*" { print $1, $2, $3; exit }')"
ask 'CREATE ROLE plain LOGIN' >/dev/null
psql -Xq -h 127.0.0.1 -p "$port" -U firn ids -c 'GRANT SELECT, INSERT, UPDATE ON firn_namespace, firn_mark TO plain'
same "a role without rights sees the settings" "9 900-903" \
    "$("$FIRN" nodes --store "postgres://plain@127.0.0.1:$port/ids" --json | jq -r 'select(.ns == "" and (.note | endswith("change") | not)).key' | paste -sd' ')"

# ---- claims -------------------------------------------------------------------------------------------------------------

# Of the 16 nodes of this layout the extension has 8.
layout='0x0:1 time:41/ms@@2020-01-01 node:4 sequence:18'
set_to firn.history 4-10
claimed=
for _ in $(seq 40); do
    id=$("$FIRN" new "$layout" --store "$store" -q 2>&1) && node=$("$FIRN" show --scheme "$layout" "$id" | sed -n 's/^ *node *\([0-9]*\) .*/\1/p')
    claimed="$claimed ${node:-$id}"
done
same "40 claims take none of the extension's nodes" "" "$(printf '%s\n' $claimed | grep -vxE '[0-3]|1[1-5]')"

# ---- a node that changes sides ------------------------------------------------------------------------------------------

# A server with the store that issues 500 IDs at a time, until the file `end` is there.
FIRN_RESP=127.0.0.1:0 FIRN_HTTP=127.0.0.1:0 FIRN_STORE=$store "$FIRN" serve --config '' >"$TMPDIR/serve.log" 2>&1 </dev/null &
issuer=$!
await grep -q 'listener=http' "$TMPDIR/serve.log"
http=$(sed -nE 's/.*event=listening listener=http address=([^ ]*) .*/\1/p' "$TMPDIR/serve.log" | head -n 1)
get() {
    curl -s "http://$http/v1/new/snowflake?n=500&format=text"
}
get >"$TMPDIR/first"
node=$(($(head -n 1 "$TMPDIR/first") >> 12 & 1023))
(
    while [ ! -e "$TMPDIR/end" ] && [ "$(wc -c <"$TMPDIR/store")" -lt 300000000 ]; do
        get >>"$TMPDIR/store"
    done
) 2>/dev/null &
loop=$!
grown() {
    [ "$(wc -l <"$TMPDIR/store")" -gt "$1" ]
}
: >"$TMPDIR/store"
await grown 1000
set_to firn.node "$node"
for _ in 1 2 3 4 5; do
    ask 'SELECT id FROM snowflakes(5000) id'
done >"$TMPDIR/extension"
lines=$(wc -l <"$TMPDIR/store")
await grown $((lines + 1000))
touch "$TMPDIR/end"
wait $loop
# nodes_of FILE: of the first and the last ID
nodes_of() {
    for id in $(sed -n '1p;$p' "$1"); do
        echo $((id >> 12 & 1023))
    done | paste -sd' '
}
same "a node that a store holds becomes the extension's" "25000 $node $node" "$(wc -l <"$TMPDIR/extension") $(nodes_of "$TMPDIR/extension")"
same "the store has issued with it before" "$node" "$(nodes_of "$TMPDIR/store" | cut -d ' ' -f 1)"
last=$(nodes_of "$TMPDIR/store" | cut -d ' ' -f 2)
check "and then claims another node: $last" [ "$last" != "$node" ]
says "which its log tells" "$(cat "$TMPDIR/serve.log")" "node $node is in firn.node"
same "no ID was issued by both" "" "$(cat "$TMPDIR/store" "$TMPDIR/extension" "$TMPDIR/first" | grep -x '[0-9]*' | sort | uniq -d | head -n 3)"
same "the store's loop never failed" "" "$(grep -vx '[0-9]*' "$TMPDIR/store" | head -n 3)"

# ---- a long statement, and changes while it runs ------------------------------------------------------------------------

kill "$issuer"
wait "$issuer" 2>/dev/null
issuer=
set_to firn.history 900-903
set_to firn.node 20
ask 'COPY (SELECT snowflake() FROM generate_series(1, 1000000) n, LATERAL pg_sleep(0.0005 * sign(n))) TO STDOUT' \
    >"$TMPDIR/long" 2>&1 &
long=$!
started() {
    [ "$(wc -l <"$TMPDIR/long")" -gt 500 ]
}
await started
set_to firn.node 21
set_to firn.node 22
says "the node of a statement that began two changes before is refused" "$(new node=20)" 'node 20 was in firn.node'
wait $long
says "the statement ends, since it has the old node" "$(tail -n 2 "$TMPDIR/long")" 'firn.node has changed since this statement began'
check "then the node is given" await given 20
new node=20 -n 1000 >"$TMPDIR/other"
same "no ID was issued by both" "" "$(cat "$TMPDIR/long" "$TMPDIR/other" | grep -x '[0-9]*' | sort | uniq -d | head -n 3)"

# ---- a crash ------------------------------------------------------------------------------------------------------------

crash() {
    victim=$(ask "SELECT pid FROM pg_stat_activity WHERE backend_type = 'firn renewer'")
    kill -9 "$victim"
    await answers_after "$victim"
}
answers_after() {
    pid=$(ask "SELECT pid FROM pg_stat_activity WHERE backend_type = 'firn renewer'")
    case $pid in
    '' | *[!0-9]* | "$1") return 1 ;;
    esac
}
crash
changed=$(ask 'SELECT clock_timestamp()')
set_to firn.node 23
same "a node that comes right after a crash waits for the windows that a store may have" t \
    "$(ask "SELECT firn_time(snowflake(), 'snowflake') >= timestamptz '$changed' + interval '24 s'")"
finish
