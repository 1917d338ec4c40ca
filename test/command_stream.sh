# SPDX-License-Identifier: MIT
# The command as a part of a pipe: closed pipes, full disks, signals, memory that stays the same however long the stream,
# another locale. With FIRN_SLOW=1 the streams have ten million lines.
. test/command.tap

# ---- a reader that goes --------------------------------------------------------------------------
row='tick=1 datacenter=0 worker=1 sequence=1'
awk -v row="$row" 'BEGIN { for (i = 0; i < 100000; i++) print row }' >"$TMPDIR/rows"
"$FIRN" new uuid7 -n 100000 >"$TMPDIR/ids"
# Lines go into the output by the buffer: none is cut, doubled or joined at its end.
same "100000 lines of one width, in order" '100000 IDs, 0 duplicates, 0 out of order' "$("$FIRN" check --scheme uuid7 "$TMPDIR/ids")"
for form in dec hex urn base32 base58 bin; do
    same "100000 lines as $form" '100000 IDs, 0 duplicates, 0 out of order' \
        "$("$FIRN" new uuid7 -n 100000 --as $form | "$FIRN" check --scheme uuid7 --from $form)"
done
same "100000 lines with a prefix" '100000 x_' \
    "$("$FIRN" new uuid7 -n 100000 --as typeid prefix=x | awk 'length == 28' | cut -c 1-2 | uniq -c | sed 's/^ *//')"
for line in 'new uuid7 -n 1000000' "new snowflake $unsafe -n 1000000" "segment left $unsafe -n 1000000" 'schemes --json' 'show' 'pack snowflake -' \
    'convert --to hex --scheme uuid7'; do
    input=$TMPDIR/ids
    [ "$line" != "pack snowflake -" ] || input=$TMPDIR/rows
    # shellcheck disable=SC2086 # words
    { "$FIRN" $line <"$input" 2>"$TMPDIR/stderr"; echo $? >"$TMPDIR/status"; } | head -n 1 >"$TMPDIR/head"
    same "firn $line ends quietly when its reader goes" "0 1 " \
        "$(cat "$TMPDIR/status") $(wc -l <"$TMPDIR/head") $(grep -v '^firn: note: ' "$TMPDIR/stderr")"
done

# ---- nowhere to write, nothing to read -----------------------------------------------------------
if [ -w /dev/full ]; then
    for line in 'new uuid7' 'new uuid7 -n 1000000' "new snowflake $unsafe" "segment full $unsafe" 'schemes' 'help' 'show' 'pack snowflake -'; do
        input=$TMPDIR/ids
        [ "$line" != "pack snowflake -" ] || input=$TMPDIR/rows
        # shellcheck disable=SC2086
        "$FIRN" $line <"$input" >/dev/full 2>"$TMPDIR/stderr"
        same "firn $line on a full disk: status 6, one line" \
            "6 firn: cannot write to standard output: No space left on device: free some space and run the command again" \
            "$? $(grep -v '^firn: note: ' "$TMPDIR/stderr")"
    done
else
    skip "a full disk is one line" "no /dev/full"
fi
"$FIRN" new uuid7 >&- 2>"$TMPDIR/stderr"
same "no standard output at all is status 6" "6 1" "$? $(wc -l <"$TMPDIR/stderr")"
"$FIRN" show <&- 2>"$TMPDIR/stderr"
same "no standard input is status 6" "6 firn: cannot read standard input" "$? $(cut -d: -f 1-2 "$TMPDIR/stderr")"
"$FIRN" show </ 2>"$TMPDIR/stderr"
same "a folder as standard input is status 6" "6 firn: cannot read standard input" "$? $(cut -d: -f 1-2 "$TMPDIR/stderr")"
# A limit on the size of files is like a full disk.
for line in 'new uuid7 -n 100000' 'show' 'pack snowflake -' 'convert --to hex --scheme uuid7' 'show --find -'; do
    input=$TMPDIR/ids
    [ "$line" != "pack snowflake -" ] || input=$TMPDIR/rows
    # shellcheck disable=SC2086
    (ulimit -f 100 && exec "$FIRN" $line <"$input" >"$TMPDIR/limited" 2>"$TMPDIR/stderr")
    same "firn $line with a limit on files: status 6, one line" \
        "6 firn: cannot write to standard output: File too large: free some space and run the command again" \
        "$? $(grep -v '^firn: note: ' "$TMPDIR/stderr")"
done
(ulimit -f 8 && exec "$FIRN" segment limited --store "sqlite:$TMPDIR/limited.db" "$unsafe" 2>"$TMPDIR/stderr")
same "and a store that may not grow fails" "3 1" "$? $(grep -vc '^firn: note: ' "$TMPDIR/stderr")"
# The next opened file would take the place of a closed descriptor: output would go into the connection of a store.
mkfifo "$TMPDIR/never"
"$FIRN" show --find "$TMPDIR/never" <&- >&- 2>&- &
waiting=$!
exec 5>"$TMPDIR/never"
same "no file takes the place of a closed descriptor" "/dev/null /dev/null /dev/null" \
    "$(for fd in 0 1 2; do readlink "/proc/$waiting/fd/$fd"; done | xargs)"
exec 5>&-
wait $waiting
printf '' | "$FIRN" show
same "nothing on standard input is nothing, status 0" 0 $?

printf 'a\033[31mb\377\n' | "$FIRN" show --keep-going >"$TMPDIR/shown"
same "what a terminal would obey does not come through" 0 "$(grep -c "$(printf '\033')" "$TMPDIR/shown")"
check "nor what is not UTF-8 into an object" sh -c "printf 'a\\377\\n' | '$FIRN' show --keep-going --json | jq -e .error"

# ---- line by line --------------------------------------------------------------------------------
mkfifo "$TMPDIR/questions" "$TMPDIR/answers"
"$FIRN" convert --to hex --scheme tsid <"$TMPDIR/questions" >"$TMPDIR/answers" &
answering=$!
exec 3>"$TMPDIR/questions" 4<"$TMPDIR/answers"
for number in 1 2 3; do
    echo "000000000000$number" >&3
    read -r answer <&4
    same "a question is answered before the next one" "000000000000000$number" "$answer"
done
exec 3>&- 4<&-
wait $answering
same "and the end of the questions is the end" 0 $?

# ---- signals -------------------------------------------------------------------------------------
# stopped SIGNAL STATUS: a stream that gets a signal while it flows. A shell's children ignore SIGINT unless they set a handler.
stopped() {
    : >"$TMPDIR/stopped"
    env --default-signal=INT "$FIRN" new snowflake ns="$1" node=3 mode=window window=10s "$unsafe" -n 9000000000 \
        >"$TMPDIR/stopped" 2>"$TMPDIR/stderr" &
    streaming=$!
    await test -s "$TMPDIR/stopped"
    kill -s "$1" $streaming
    wait $streaming
    same "SIG$1 ends a stream with status $2 and no word" "$2 " "$? $(grep -v '^firn: note: ' "$TMPDIR/stderr")"
    last=$(tail -n 1 "$TMPDIR/stopped")
    check "SIG$1: the last line is whole" "$FIRN" show --scheme snowflake "$last"
    same "SIG$1: the window was given back: its mark is right after the last ID" $((last / 4194304 * 4096 + last % 4096 + 1)) \
        "$("$FIRN" nodes ns="$1" "$unsafe" --json | jq -r .mark)"
}
stopped INT 130
stopped TERM 143

# full STAT: the pipe of descriptor 5 is full, and its writer sleeps.
full() {
    python3 -c 'import array, fcntl, sys, termios
size = array.array("i", [0])
fcntl.ioctl(5, termios.FIONREAD, size)
sys.exit(size[0] < 61440)' && [ "$(cut -d ' ' -f 3 "$1")" = S ]
}

# unread SIGNAL STATUS: the reader of a full pipe takes nothing for ever.
unread() {
    mkfifo "$TMPDIR/unread$1"
    exec 5<>"$TMPDIR/unread$1"
    env --default-signal=INT "$FIRN" new snowflake ns="unread$1" node=3 mode=window window=10s "$unsafe" -n 9000000000 \
        >"$TMPDIR/unread$1" 2>"$TMPDIR/stderr" &
    streaming=$!
    await full "/proc/$streaming/stat"
    kill -s "$1" $streaming
    wait $streaming
    same "SIG$1 ends a stream that nobody reads, at the first signal" "$2 " "$? $(grep -v '^firn: note: ' "$TMPDIR/stderr")"
    timeout 10 dd if="$TMPDIR/unread$1" of="$TMPDIR/read$1" bs=65536 iflag=nonblock status=none 2>"$TMPDIR/stderr" <&5
    check "SIG$1: its last line is whole" "$FIRN" show --scheme snowflake "$(tail -n 1 "$TMPDIR/read$1")"
    exec 5>&-
}
unread INT 130
unread TERM 143

# ---- memory --------------------------------------------------------------------------------------
most=1000000
[ -z "${FIRN_SLOW:-}" ] || most=10000000
# peak INPUT ARGS...: the most memory that firn had, in KiB.
peak() {
    input=$1
    shift
    python3 -c '
import os, sys
child = os.fork()
if child == 0:
    os.dup2(os.open(sys.argv[1], os.O_RDONLY), 0)
    os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
    os.execv(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(child, 0)
print(used.ru_maxrss if status == 0 else "failed")' "$input" "$FIRN" "$@"
}
# longer NAME FEW MANY: within 8 MiB of each other.
longer() {
    check "firn $1: $most lines take no more memory than 100000 ($2 and $3 KiB)" [ "$3" -lt $(($2 + 8192)) ]
}
if command -v python3 >/dev/null 2>&1; then
    awk -v most=$most 'BEGIN { for (i = 0; i < most; i++) print "tick=" i " datacenter=0 worker=1 sequence=1" }' >"$TMPDIR/many"
    longer "pack -" "$(peak "$TMPDIR/rows" pack snowflake -)" "$(peak "$TMPDIR/many" pack snowflake -)"
    "$FIRN" pack snowflake - <"$TMPDIR/many" >"$TMPDIR/manyids"
    head -n 100000 "$TMPDIR/manyids" >"$TMPDIR/fewids"
    longer show "$(peak "$TMPDIR/fewids" show --scheme snowflake)" "$(peak "$TMPDIR/manyids" show --scheme snowflake)"
    longer "show --json" "$(peak "$TMPDIR/fewids" show --json --scheme snowflake)" "$(peak "$TMPDIR/manyids" show --json --scheme snowflake)"
    longer "new uuid7" "$(peak /dev/null new uuid7 -n 100000)" "$(peak /dev/null new uuid7 -n $most)"
    longer "new snowflake" "$(peak /dev/null new snowflake "$unsafe" -n 100000 2>/dev/null)" \
        "$(peak /dev/null new snowflake "$unsafe" -n $most 2>/dev/null)"
    rm -f "$TMPDIR/many" "$TMPDIR/manyids"
else
    skip "memory stays the same however long the stream" "there is no python3"
fi

# ---- another locale ------------------------------------------------------------------------------
# Turkish: a decimal comma, and an i without a dot.
locale_dir=$TMPDIR/locale
mkdir -p "$locale_dir"
if localedef -i tr_TR -f UTF-8 "$locale_dir/tr_TR.UTF-8" >"$TMPDIR/log" 2>&1; then
    for line in 'schemes' 'schemes snowflake' 'schemes --json uuid1' 'show --json 1541815603606036480' 'help' \
        'show URN:UUID:C232AB00-9414-11EC-B3C8-9F6BDECED846' 'pack uuid1 time=@1645557742.5 clock_seq=0xFI node=1' \
        'pack ulid time=2024-01-01T00:00:00.5Z random=5' 'range uuid7 2024-01-01 2024-01-02' 'new uuid7 --JSON' 'nwe'; do
        # shellcheck disable=SC2086
        same "firn $line prints the same in Turkey" "$("$FIRN" $line 2>&1)" \
            "$(LOCPATH=$locale_dir LC_ALL=tr_TR.UTF-8 LANGUAGE=tr "$FIRN" $line 2>&1)"
    done
else
    skip "firn prints the same in Turkey" "localedef cannot make tr_TR.UTF-8"
fi
finish
