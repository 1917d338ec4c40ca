# SPDX-License-Identifier: MIT
# Every cure of the command can be carried out, and works: each error is provoked, its cure is read from the text of the
# error, and done as it says. At the end, each cure that common/cures.def words for the command must have been done, or
# must be one of those that a test of this kind cannot provoke.
# shellcheck disable=SC2016,SC2317 # words in single quotes run later, with the printed cure
. test/command.tap
db=sqlite:$TMPDIR/cures.db
awk -v part=cures -f docs/errors.awk include/firn/firn.h common/errors.h common/errors.c common/cures.def |
    awk '/^- / { if (line != "") print line; line = $0; next } { line = line $0 } END { print line }' | tr -s ' ' >"$TMPDIR/cures"
: >"$TMPDIR/done"

# The words of a cure for the command; NAME is the value of the error.
words() {
    sed -n "s/^- .FIRN_CURE_$1. [0-9]*: //p" "$TMPDIR/cures" | sed -E 's/.*(Command|Command and server): //; s/\. (Server|PostgreSQL): .*//'
}

firn() { "$FIRN" "$@"; }

# cure NAME PROVOKE DO: `eval PROVOKE` fails with the words of the cure. $cure is the text after the last ": ", and
# DO, the steps of it, succeeds.
cure() {
    echo "$1" >>"$TMPDIR/done"
    eval "$2" >/dev/null 2>"$TMPDIR/told"
    status=$?
    pattern=$(words "$1" | sed 's,[][\.*^$/],\\&,g; s/NAME/.*/g')
    cure=$(sed -n "s/^.*: \($pattern\)\( (.*\)*\$/\1/p" "$TMPDIR/told" | head -n 1)
    if [ "$status" = 0 ] || [ -z "$cure" ]; then
        fail "$1: the error has its cure" "status $status, wanted: $pattern, printed: $(cat "$TMPDIR/told")"
        return
    fi
    if printed=$(eval "$3" 2>&1); then
        pass "$1: $cure"
    else
        fail "$1: $cure" "$printed"
    fi
}

# The part of the printed cure that matches a pattern.
command_in() { printf '%s\n' "$cure" | grep -o -e "$1"; }

printf 't\n2020-01-01\n' >"$TMPDIR/in.csv"
printf 't\n2020-01-02\n2020-01-01\n' >"$TMPDIR/unordered.csv"
printf 't\n2020-01-01\n2020-01-01\n2020-01-01\n' >"$TMPDIR/same.csv"
stamp() { firn stamp "$TMPDIR/in.csv" --format csv --time t --zone UTC -o "$TMPDIR/out.csv" "$@"; }

# ---- words that are commands -----------------------------------------------------------------------
cure LIST_SCHEMES 'firn new nothing' 'eval "$(command_in "firn schemes")"'
cure LIST_KEYS 'firn new snowflake nothing=1' 'eval "$(command_in "firn schemes")" && eval "$(command_in "firn new --help")"'
key=$TMPDIR/key
printf '%032d' 7 >"$key" && chmod 600 "$key"
cure ORDER_KEY 'stamp --scheme order' 'eval "$(command_in "firn new order --key-file ")$key --store $db $unsafe"'
cure SET_SEED 'stamp --scheme uuid7' \
    '(cd "$TMPDIR" && eval "stamp --scheme uuid7 $(command_in "--seed \".*)\"")" && test -s seeds)'

# A store that was restored: integers continue above those that were issued, back-dated IDs without it.
firn segment orders --store "$db" "$unsafe" >/dev/null 2>&1
firn new snowflake node=1 --store "$db" "$unsafe" >/dev/null 2>&1
cp "$TMPDIR/cures.db" "$TMPDIR/copy"
for _ in 1 2 3; do
    firn segment orders --store "$db" "$unsafe" >/dev/null 2>&1
    firn new snowflake node=1 --store "$db" "$unsafe" >/dev/null 2>&1
done
cp "$TMPDIR/copy" "$TMPDIR/cures.db"
cure ADVANCE 'firn segment orders --store "$db" "$unsafe"' \
    'eval "$(command_in "firn segment advance .* --min ")1000 --store $db $unsafe" && firn segment orders --store "$db" "$unsafe"'
cure UNUSED_NODE 'firn new snowflake node=9 time=2020-01-01 --store "$db" "$unsafe"' 'stamp --scheme snowflake node=9'

# Names that were forgotten, and a store that is closed.
db=sqlite:$TMPDIR/forgotten.db
firn segment gone --store "$db" "$unsafe" >/dev/null 2>&1
firn nodes --forget 'integer gone' --yes --store "$db" "$unsafe" >/dev/null 2>&1
cure REOPEN 'firn segment gone --store "$db" "$unsafe"' \
    'eval "$(command_in "firn nodes --forget .* --undo") --yes --store $db $unsafe" && firn segment gone --store "$db" "$unsafe"'
firn segment advance '*' --min 1 --yes --store "$db" "$unsafe" >/dev/null 2>&1
firn nodes --forget 'integer *' --yes --store "$db" "$unsafe" >/dev/null 2>&1
cure NEW_NAMES 'firn segment fresh --store "$db" "$unsafe"' \
    'eval "$(command_in "firn nodes --forget .* --undo") --yes --store $db $unsafe" && firn segment fresh --store "$db" "$unsafe"'

# ---- words that name an option ---------------------------------------------------------------------
narrow='time:41/ms@@2010-01-01 node:10 sequence:1'
same_time() { firn stamp "$TMPDIR/same.csv" --format csv --time t --zone UTC --scheme "$narrow" node=1 -o "$TMPDIR/out" "$@"; }
cure RAISE_SHIFT 'same_time --max-shift 0' 'same_time "$(command_in --max-shift)" 1s'
cure RAISE_DISORDER 'firn stamp "$TMPDIR/unordered.csv" --format csv --time t --zone UTC --scheme snowflake node=1 --disorder 1s -o "$TMPDIR/out"' \
    'firn stamp "$TMPDIR/unordered.csv" --format csv --time t --zone UTC --scheme snowflake node=1 "$(command_in --disorder)" 2d -o "$TMPDIR/out"'
cure SET_NODE 'stamp --scheme snowflake' \
    'stamp --scheme snowflake datacenter=1 worker=1 && stamp --scheme snowflake "$(command_in --job)" first --store "$db" "$unsafe"'
cure NUMBER_OR_JOB 'stamp --scheme baidu worker=ticket' \
    'stamp --scheme baidu worker=1 && stamp --scheme baidu "$(command_in --job)" second --store "$db" "$unsafe"'
cure OTHER_JOB 'stamp --scheme snowflake --job first --store "$db" "$unsafe" --max-shift 2s' \
    'stamp --scheme snowflake --job first --store "$db" "$unsafe" && stamp --scheme snowflake "$(command_in --job)" third --max-shift 2s --store "$db" "$unsafe"'
cure OTHER_PLACE 'firn segment orders --store "sqlite:/proc/firn/x/firn.db?create=yes"' \
    'firn segment orders "$(command_in --store)" "sqlite:$TMPDIR/other.db" "$unsafe"'
cure JOB_OR_NO_NODE 'stamp --scheme time-random node=1' 'stamp --scheme time-random --seed 7f3a "$(command_in --job)" fourth --store "$db" "$unsafe"'

# ---- cures of every language, whose keys the command takes -----------------------------------------
cure OTHER_SCHEME 'firn new snowflake epoch=1900-01-01 node=1 "$unsafe"' 'firn new snowflake epoch=2024-01-01 node=1 "$unsafe" --store "$db"'
firn new snowflake ns=shared node=1 --store "$db" "$unsafe" >/dev/null 2>&1
cure OTHER_NAMESPACE 'firn new tsid ns=shared node=1 --store "$db" "$unsafe"' 'firn new tsid ns=mine node=1 --store "$db" "$unsafe"'
cure SAME_KIND 'firn segment gone kind=ticket increment=3 offset=1 --store "$db" "$unsafe"' 'firn segment gone --store "$db" "$unsafe"'
cure RAISE_END 'firn segment small end=2 -n 3 --store "$db" "$unsafe"' 'firn segment small end=20 --store "$db" "$unsafe"'

# ---- all of them -----------------------------------------------------------------------------------
# Not provoked here: a store that moves at this moment (MOVING: test/command_move.sh); a file system that loses
# writes, which a test cannot mount (LOCAL_DISK: test/sqlite_names_test.c); memory of several processes that a crash left
# (CHECK_DUPLICATES: test/shared_test.c); a store of a job without a name, which the command always sets (NAME_JOB:
# test/job_test.c).
{
    cat "$TMPDIR/done"
    printf '%s\n' MOVING LOCAL_DISK CHECK_DUPLICATES NAME_JOB
} | sort >"$TMPDIR/known"
same "each cure in the words of the command was done" "" \
    "$(awk -F'[(,]' '/^CURE\(/ { print $2 }' common/cures.def | sort | comm -23 - "$TMPDIR/known" | tr '\n' ' ')"
finish
