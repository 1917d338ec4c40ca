# SPDX-License-Identifier: MIT
# firn nodes --forget and firn store move: what they refuse and say, and a server that continues while its store moves.
. test/serve.tap
mkdir "$TMPDIR/store"
old=sqlite:$TMPDIR/ids.db?unsafe=1 # as serve has it
new=sqlite:$TMPDIR/store/new.db?unsafe=1
list() {
    "$FIRN" nodes --store "$1" --json "$2" 2>/dev/null | jq -r '"\(.ns) \(.layout)"' | sort -u
}

# ---- a namespace that is gone --------------------------------------------------------------------
db=sqlite:$TMPDIR/store/forget.db?unsafe=1
"$FIRN" new snowflake ns=gone node=5 --store "$db" >"$TMPDIR/first" 2>/dev/null
"$FIRN" new snowflake ns=gone time=2020-01-01 --store "$db" >/dev/null 2>&1
"$FIRN" segment kept --store "$db" >/dev/null 2>&1
refuses "no such namespace" 1 "the store has no namespace gon: firn nodes lists" nodes --forget gon --yes --store "$db"
refuses "--forget takes no key" 2 "--forget takes a namespace alone" nodes --forget gone ns=gone --store "$db"
refuses "--undo needs --forget" 2 "--undo applies to --forget" nodes --undo --store "$db"
is_past() {
    "$FIRN" nodes ns=gone --store "$db" --json | jq -r 'select(.kind == "node").distance' | grep -q ago
}
await is_past
"$FIRN" nodes --forget gone --store "$db" </dev/null >"$TMPDIR/told" 2>"$TMPDIR/stderr"
same "without a terminal the holder is printed, and nothing done" "2 1 1 0" \
    "$? $(grep -c 'gone has 2 names; 5: reserved until .* ago, by firn on ' "$TMPDIR/told") $(grep -c -- '--yes' "$TMPDIR/stderr") $(list "$db" --all | grep -c closed)"
"$FIRN" nodes --forget gone --yes --store "$db" >/dev/null 2>&1
same "--yes closes it, and the namespace of its ticks" "0 2" "$? $(list "$db" --all | grep -c '^gone.* closed (forgotten ....-..-..): ')"
refuses "no ID is issued from it" 3 "namespace gone is closed \(forgotten .*\): firn nodes --forget 'gone' --undo opens it" \
    new snowflake ns=gone max_wait=100ms --store "$db"
refuses "nor a back-dated one" 3 "is closed" new snowflake ns=gone time=2020-01-01 max_wait=100ms --store "$db"
same "it is not listed" "integer kept" "$("$FIRN" nodes --store "$db" --json | jq -r .ns)"
same "but counted" "and 2 closed namespaces: --all lists them" "$("$FIRN" nodes --store "$db" | tail -n 1)"
same "the second time it is closed already" 1 "$("$FIRN" nodes --forget gone --yes --store "$db" | grep -c 'is closed already')"
says "--undo opens it" "namespace gone is open again and continues after its marks" nodes --forget gone --undo --store "$db"
ask new snowflake ns=gone node=5 --store "$db"
check "and it continues after its marks" [ "$out" -gt "$(cat "$TMPDIR/first")" ]
"$FIRN" segment advance '*' --min 1 --yes --store "$db" >/dev/null 2>&1
"$FIRN" nodes --forget 'integer *' --store "$db" </dev/null >"$TMPDIR/told" 2>"$TMPDIR/stderr"
same "all names: it warns, and asks" "2 1 1 0" "$? $(grep -c 'will accept no new integer and no new namespace' "$TMPDIR/told") $(grep -c 'add --yes to close the store for new names' "$TMPDIR/stderr") $(list "$db" --all | grep -c closed)"
"$FIRN" nodes --forget 'integer *' --yes --store "$db" >/dev/null 2>&1
refuses "a new name is refused" 3 "is closed \(forgotten .*\): firn nodes --forget 'integer \*' --undo accepts new names" segment unheard --store "$db"
ask segment kept --store "$db"
same "a known name continues" 0 "$status"
says "--undo opens them" "namespace integer * is open again and continues after its marks" nodes --forget 'integer *' --undo --store "$db"
ask segment unheard --store "$db"
same "a new name is accepted" "0 1" "$status $out"
# Closed, and then lost: each advice leads to the next one, and the last one to integers and IDs.
"$FIRN" nodes --forget 'integer kept' --yes --store "$db" >/dev/null 2>&1
"$FIRN" nodes --forget 'integer *' --yes --store "$db" >/dev/null 2>&1
"$FIRN" nodes lost --yes --store "$db" >/dev/null
refuses "a closed integer of a store that lost reservations names the cure" 3 "firn nodes --forget 'integer kept' --undo opens it" segment kept --store "$db"
ask nodes --forget 'integer kept' --undo --store "$db"
refuses "which leads to the second one" 3 "run firn segment advance 'kept' --min N" segment kept --store "$db"
"$FIRN" segment advance kept --min 1000 --yes --store "$db" >/dev/null
says "after which integers continue" 1000 segment kept --store "$db"
refuses "new names wait for their cure" 3 "firn nodes --forget 'integer \*' --undo opens it" segment advance '*' --min 1 --yes --store "$db"
ask nodes --forget 'integer *' --undo --store "$db"
refuses "and for the second one" 3 "run firn segment advance 'another' --min N" segment another --store "$db"
"$FIRN" segment advance '*' --min 1 --yes --store "$db" >/dev/null
says "after which they are accepted" 1 segment another --store "$db"
"$FIRN" nodes --forget 'integer *' --yes --store "$db" >/dev/null 2>&1
"$FIRN" nodes lost --yes --store "$db" >/dev/null
same "a store that is closed for new names can be trusted" trusted "$("$FIRN" nodes trust --yes --store "$db" | tail -n 1)"
says "so its integers continue" 1001 segment kept --store "$db"
"$FIRN" nodes --forget 'integer *' --undo --store "$db" >/dev/null
long=$(printf '%0245d' 7)
"$FIRN" new snowflake ns="$long" time=2020-01-01 --store "$db" >/dev/null 2>&1
"$FIRN" nodes --forget "$long" --yes --store "$db" >/dev/null 2>&1
same "a long name is closed, and the namespace of its ticks" "0 2" "$? $(list "$db" --all | grep -c "^$long.* closed ")"
says "an open one stays open" "namespace gone is open already" nodes --forget gone --undo --store "$db"

# ---- a store that was moved, and moved again -----------------------------------------------------
for n in 1 2 3; do
    at=sqlite:$TMPDIR/store/chain$n.db?unsafe=1
    [ $n != 1 ] || "$FIRN" segment chained --store "$at" >/dev/null 2>&1
    [ $n = 1 ] || check "move $((n - 1)) is done" "$FIRN" store move "$before" "$at" --yes
    before=$at
done
"$FIRN" store move "sqlite:$TMPDIR/store/chain1.db?unsafe=1" "sqlite:$TMPDIR/store/chain2.db?unsafe=1" --yes >/dev/null 2>&1
refuses "the first move again does not open the store that has moved on" 3 "is closed \(moved to " \
    segment unheard --store "sqlite:$TMPDIR/store/chain2.db?unsafe=1"

# Somebody deletes the new store after the move, and makes the namespace again.
again=$TMPDIR/store/again
"$FIRN" new snowflake node=7 --store "sqlite:$again.db?unsafe=1" >/dev/null 2>&1
"$FIRN" store move "sqlite:$again.db?unsafe=1" "sqlite:$again-new.db?unsafe=1" --yes >/dev/null 2>&1
rm "$again-new.db"*
"$FIRN" new sonyflake ns=snowflake node=7 --store "sqlite:$again-new.db?unsafe=1" >/dev/null 2>&1
"$FIRN" segment advance '*' --min 1 --yes --store "sqlite:$again-new.db?unsafe=1" >/dev/null 2>&1
ask store move "sqlite:$again.db?unsafe=1" "sqlite:$again-new.db?unsafe=1" --yes
same "another layout in the new store is not what was moved" "2 1" \
    "$status $(printf '%s\n' "$err" | grep -c 'which was not moved there: restore that store')"

# ---- a store that moves under a server -----------------------------------------------------------
serve --auto-create
ask_resp FIRN.NEW snowflake COUNT 1000 >"$TMPDIR/ids"
ask_resp INCR orders >"$TMPDIR/integers"
refuses "a namespace whose node is reserved is not forgotten" 5 "node [0-9]+ of snowflake is reserved until .* by '.*stop that process" \
    nodes --forget snowflake --yes --store "$old"
refuses "an unknown word after store" 2 "'mov' is not a verb of store" store mov "$old" "$new"
ask store move "$old" "$old" --yes
same "the same store twice" "2 1" "$status $(printf '%s\n' "$err" | grep -c 'move to an empty store')"
ask store move "$old" "$new"
same "without a terminal nothing is closed" "2 0" "$status $(list "$old" --all | grep -c closed)"
ask store move "$old" "$new" --yes
same "the store moves" "0 1" "$status $(printf '%s\n' "$out" | grep -Ec '^moved 2 namespaces with [0-9]+ high-water marks$')"
ask_resp FIRN.NEW snowflake COUNT 1000 >>"$TMPDIR/ids"
ask_resp INCR orders >>"$TMPDIR/integers"
same "a server with the old store issues the rest of its window and block" "2000 2" \
    "$(grep -cx '[0-9]*' "$TMPDIR/ids") $(grep -cx '[0-9]*' "$TMPDIR/integers")"
is_refused() {
    ask_resp INCR "fresh$((fresh = ${fresh:-0} + 1))" | grep -q "is closed (moved to sqlite:$TMPDIR/store/new.db): use that store"
}
check "and says where the store is" is_refused
serve --auto-create --store "$new"
ask_resp FIRN.NEW snowflake COUNT 1000 >>"$TMPDIR/ids"
ask_resp INCR orders >>"$TMPDIR/integers"
same "a server with the new store continues: no duplicate" "3000 3" \
    "$(grep -x '[0-9]*' "$TMPDIR/ids" | sort -u | wc -l) $(grep -x '[0-9]*' "$TMPDIR/integers" | sort -u | wc -l)"
ask store move "$old" "$new" --yes
same "the same move again moves nothing" "0 1" "$status $(printf '%s\n' "$out" | grep -c '^moved 0 namespaces')"
ask store move "$new" "$old" --yes
same "there is no way back" "2 1" "$status $(printf '%s\n' "$err" | grep -c 'move to an empty store')"
refuses "a namespace that was moved is not opened again" 2 "closed \(moved to .*not forgotten: opening it could repeat IDs" \
    nodes --forget snowflake --undo --store "$old"
finish
