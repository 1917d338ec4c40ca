# SPDX-License-Identifier: MIT
# `firn stamp` at work: a million rows judged by Python, real logs of this machine, jobs on a store, output that is whole or
# not there, memory. What rows and times mean is in command_records.sh.
. test/command.tap
mkdir "$TMPDIR/store" "$TMPDIR/empty"
db=sqlite:$TMPDIR/store/firn.db
folder=$TMPDIR/folder
mkdir -p "$folder"

# quietly ARGS...: firn stamp without its notes.
quietly() {
    "$FIRN" stamp "$@" 2>"$TMPDIR/stderr"
    status=$?
    grep -v '^firn: note: ' "$TMPDIR/stderr"
    return $status
}
judge() {
    python3 test/stamp_check.py "$@"
}
# whole SENTENCE FILES: these, as NAME:CKSUM, are in $folder, and nothing else.
whole() {
    same "$1" "$2" "$(cd "$folder" && for file in *; do [ ! -e "$file" ] || echo "$file:$(cksum <"$file")"; done)"
}

# ---- a million rows ------------------------------------------------------------------------------
if python3 -c 'import csv, json, uuid, zoneinfo' 2>/dev/null; then
    table=$TMPDIR/table.csv
    judge make 1000000 "$table"
    for line in 'snowflake node=3' 'uuid7 --seed a'; do
        # shellcheck disable=SC2086 # words
        check "a million rows get IDs of $line" quietly "$table" --time 'placed "at"' --zone UTC --scheme $line -o "$TMPDIR/out.csv"
        found=$(judge table "${line%% *}" "$table" "$TMPDIR/out.csv" 'placed "at"' 2>&1)
        same "Python finds them unique, true to their times, and all else as it was" "1000000 rows" "$found"
        # shellcheck disable=SC2086
        cat "$table" | quietly - --format csv --time 2 --zone UTC --scheme $line | cmp - "$TMPDIR/out.csv"
        same "the same again, through a pipe, gives the same bytes" 0 $?
    done
    head -n 60000 "$table" >"$TMPDIR/few.csv"
    if [ "$(tail -c 1 "$TMPDIR/few.csv" | od -An -c | tr -d ' ')" = '\n' ]; then
        for seed in a b; do
            quietly "$TMPDIR/few.csv" --time 2 --zone UTC --scheme uuid7 --seed $seed --on-error skip -o "$TMPDIR/few.$seed" >/dev/null
        done
        check "another seed gives others" sh -c "! cmp -s '$TMPDIR/few.a' '$TMPDIR/few.b'"
    fi

    awk 'BEGIN { for (i = 0; i < 100000; i++)
        printf "%s{\"n\":%d,%s\"t\"%s:\"2024-01-01T%02d:%02d:%02d.5Z\",\"x\":{\"t\":[\"a,}\\\"\\u00e9\"]}}%s\n",
            i % 5 == 1 ? " " : "", i, i % 3 ? "" : " ", i % 7 ? "" : " ", i / 5000, i % 60, i % 59, i % 4 ? "" : "\r" }' >"$TMPDIR/lines.jsonl"
    check "a hundred thousand JSON lines get IDs" quietly "$TMPDIR/lines.jsonl" --time t --scheme snowflake node=3 -o "$TMPDIR/out.jsonl"
    same "Python finds them unique, the first member, and all else as it was" "100000 rows" "$(judge lines "$TMPDIR/lines.jsonl" "$TMPDIR/out.jsonl" 2>&1)"
    for at in 1 7 100; do
        head -n 300 "$TMPDIR/lines.jsonl" | dd bs=$at 2>/dev/null | quietly - --format jsonl --time t --scheme snowflake node=3 >"$TMPDIR/out"
        head -n 300 "$TMPDIR/out.jsonl" | cmp - "$TMPDIR/out"
        same "rows that come $at bytes at a time are the same" 0 $?
    done

    judge basic "$TMPDIR/basic.csv" "$TMPDIR/basic-wanted"
    quietly "$TMPDIR/basic.csv" --time when --zone UTC --on-error null --max-shift 1d --scheme 'node:1 time:62/us@@0001-01-01' node=0 |
        awk -F, 'NR > 1 { print $1 == "" ? "never" : $1 }' >"$TMPDIR/basic-got"
    check "times of the basic form of ISO 8601 are what Python's calendar says" cmp "$TMPDIR/basic-wanted" "$TMPDIR/basic-got"

    if [ -e /usr/share/zoneinfo/Europe/Berlin ]; then
        judge zones "$TMPDIR/zone" "$TMPDIR/zone-wanted" >"$TMPDIR/zones"
        while read -r zone; do
            file=$(echo "$zone" | tr / -)
            quietly "$TMPDIR/zone.$file" --format csv --time when --zone "$zone" --on-error null --max-shift 1d \
                --scheme 'time:63/ms@@1800-01-01 node:1' node=1 |
                awk -F, 'NR > 1 && $1 == "" { print "never" } NR > 1 && $1 != "" { printf "%d\n", int($1 / 2000) - 5364662400 }' >"$TMPDIR/zone-got"
            check "local times of $zone since 1900 are what zoneinfo says, those that never occurred too" cmp "$TMPDIR/zone-wanted.$file" "$TMPDIR/zone-got"
        done <"$TMPDIR/zones"
        same "ten zones were asked" 10 "$(wc -l <"$TMPDIR/zones")"
    else
        skip "zones are what zoneinfo says" "tzdata is missing"
    fi
else
    skip "a million rows are judged" "python3 has not csv, json, uuid and zoneinfo"
fi

# ---- real logs -----------------------------------------------------------------------------------
# log FILE ARGS...: every line that begins its time as the arguments say gets an ID, and stays as it was.
log() {
    file=$1
    shift
    if [ ! -s "$file" ]; then
        skip "$file of this machine is stamped" "there is none"
        return
    fi
    cp "$file" "$TMPDIR/real" # it may grow
    check "$file of this machine is stamped" quietly "$TMPDIR/real" --format log --zone UTC --scheme uuid7 --seed "$file" -o "$TMPDIR/real.out" "$@"
    same "$file: each line is there, behind a tab" "$(cksum <"$TMPDIR/real")" "$(cut -f 2- "$TMPDIR/real.out" | cksum)"
    same "$file: no ID is there twice" "" "$(cut -f 1 "$TMPDIR/real.out" | grep . | sort | uniq -d)"
    same "$file: the first ID has the first line's time" "$(grep -oE '[0-9]{4}-[0-9]{2}-[0-9]{2} +[0-9:]{8}' "$TMPDIR/real" | head -n 1 | tr -s ' ')" \
        "$("$FIRN" show --json "$(cut -f 1 "$TMPDIR/real.out" | grep . | head -n 1)" | jq -r '.time[0:19] | sub("T"; " ")')"
}
log /var/log/dpkg.log
log /var/log/alternatives.log --time 2
log /var/log/apt/history.log --time 2 --on-error null

# ---- jobs ----------------------------------------------------------------------------------------
printf 't,a\n2024-01-01 00:00:00,1\n2024-01-01 00:00:00,2\n' >"$TMPDIR/old.csv"
# job NAME FILE ARGS...
job() {
    name=$1 file=$2
    shift 2
    ask stamp "$file" --format csv --time t --zone UTC --scheme snowflake --store "$db" "$unsafe" --job "$name" "$@"
}
job one "$TMPDIR/old.csv"
one=$out
same "a job takes a node of the store" "0 3" "$status $(printf '%s\n' "$out" | wc -l)"
job one "$TMPDIR/old.csv"
same "the same again gives the same IDs" "$one" "$out"
{ cat "$TMPDIR/old.csv"; echo '2024-01-01 00:00:00,3'; } >"$TMPDIR/other.csv"
job one "$TMPDIR/other.csv"
same "another input is refused" "2 1" "$status $(printf '%s\n' "$err" | grep -c '^firn: job one was started with other input or options')"
ask stamp "$TMPDIR/old.csv" --format csv --time t --zone +01:00 --scheme snowflake --store "$db" "$unsafe" --job one
same "other options are refused" "2 1" "$status $(printf '%s\n' "$err" | grep -c '^firn: job one was started with other input or options')"
job two "$TMPDIR/old.csv"
same "another job has its own node" "" "$(printf '%s\n%s\n' "$one" "$out" | tail -n +2 | grep -v '^id' | cut -d, -f 1 | sort | uniq -d)"
ask new snowflake --store "$db" "$unsafe" node=1023
same "and live issue cannot enter it" 2 "$status"

# The rows are gone through before anything is taken.
{ cat "$TMPDIR/old.csv"; echo 'x,3'; } >"$TMPDIR/mended.csv"
cp "$TMPDIR/old.csv" "$TMPDIR/kept.csv"
empty=sqlite:$TMPDIR/empty/firn.db
# first ARGS...: a job on its own store.
first() {
    ask stamp "$TMPDIR/mended.csv" --format csv --time t --zone UTC --scheme snowflake --store "$empty" "$unsafe" --job first -o "$TMPDIR/kept.csv" "$@"
}
first
same "a bad row of a job is reported" "1 firn: line 4: 'x' is not a time" "$status $(printf '%s\n' "$err" | cut -d: -f 1-3)"
first --time a
same "a job on a wrong column too, which --on-error does not pass over" 2 "$status"
same "before the job has a name or a node in the store" "3 1" "$("$FIRN" nodes --json --store "$empty" "$unsafe" 2>"$TMPDIR/stderr"; echo $?) $(grep -c '^firn: there is no store' "$TMPDIR/stderr")"
check "and before the output is touched" cmp "$TMPDIR/old.csv" "$TMPDIR/kept.csv"
sed -i 's/^x/2024-01-01 00:00:01/' "$TMPDIR/mended.csv"
first
same "the fixed file goes under the same name" "0 4" "$status $(wc -l <"$TMPDIR/kept.csv")"
same "and has one name and one node" 2 "$("$FIRN" nodes --store "$empty" "$unsafe" --json 2>"$TMPDIR/stderr" | wc -l)"
{ cat "$TMPDIR/old.csv"; echo 'x,3'; } >"$TMPDIR/mended.csv"
first
same "a bad row is reported, not that the input is another one" 1 "$status"
# piped NAME ARGS...
piped() {
    piped=$1
    shift
    out=$(cat "$TMPDIR/old.csv" | "$FIRN" stamp - --format csv --time t --zone UTC --scheme snowflake --store "$db" "$unsafe" --job "$piped" "$@" 2>"$TMPDIR/stderr")
    status=$?
    err=$(grep -v '^firn: note: ' "$TMPDIR/stderr")
}
piped three
three=$out
same "a pipe is a job too" "0 3" "$status $(printf '%s\n' "$out" | wc -l)"
piped three
same "once" "2  1" "$status $out $(printf '%s\n' "$err" | grep -c "^firn: job 'three' exists, and a pipe cannot be compared with its first input: add --again")"
piped three --again
same "with --again it gives the same IDs" "$three" "$out"
# shellcheck disable=SC2002 # a pipe is meant
ids=$(cat "$TMPDIR/old.csv" | "$FIRN" stamp - --format csv --time t --zone UTC --scheme snowflake node=5 2>"$TMPDIR/stderr" | wc -l)
same "without a store stderr says once that only the caller keeps the node apart" "3 1" "$ids $(grep -c 'you must make sure that no generator' "$TMPDIR/stderr")"

# ---- whole or not at all -------------------------------------------------------------------------
awk 'BEGIN { print "t,a"; for (i = 0; i < 100000; i++) print "2024-01-01 00:00:00,some text to fill a line" }' >"$TMPDIR/long.csv"
good="--format csv --time t --zone UTC --scheme snowflake node=1 --max-shift 1h"
{ cat "$TMPDIR/long.csv"; echo "bad,1"; } >"$TMPDIR/broken.csv"
# shellcheck disable=SC2086 # words, all through this part
"$FIRN" stamp "$TMPDIR/broken.csv" $good -o "$folder/out.csv" 2>"$TMPDIR/stderr"
same "a bad last row leaves no file" "1 firn: line 100002" "$? $(grep -v '^firn: note' "$TMPDIR/stderr" | cut -d: -f 1-2)"
whole "and nothing else" ""
echo kept >"$folder/out.csv"
"$FIRN" stamp "$TMPDIR/broken.csv" $good -o "$folder/out.csv" 2>"$TMPDIR/stderr"
same "an older file" 1 $?
whole "stays what it was" "out.csv:$(echo kept | cksum)"
"$FIRN" stamp "$TMPDIR/broken.csv" $good >>"$folder/out.csv" 2>"$TMPDIR/stderr"
same "standard output into a file" 1 $?
whole "is cut back to what it held" "out.csv:$(echo kept | cksum)"
"$FIRN" stamp "$TMPDIR/long.csv" $good >"$TMPDIR/wanted.csv" 2>"$TMPDIR/stderr"
same "a run that ends well" 0 $?
chmod 640 "$folder/out.csv"
"$FIRN" stamp "$TMPDIR/long.csv" $good -o "$folder/out.csv" 2>"$TMPDIR/stderr"
same "one that ends well" 0 $?
whole "replaces the file" "out.csv:$(cksum <"$TMPDIR/wanted.csv")"
same "and keeps its mode" 640 "$(stat -c %a "$folder/out.csv")"
cp "$TMPDIR/long.csv" "$folder/out.csv"
"$FIRN" stamp "$folder/out.csv" $good -o "$folder/out.csv" 2>"$TMPDIR/stderr"
whole "it may be the input itself" "out.csv:$(cksum <"$TMPDIR/wanted.csv")"
ln -s out.csv "$folder/link"
"$FIRN" stamp "$TMPDIR/old.csv" $good -o "$folder/link" 2>"$TMPDIR/stderr"
check "a symbolic link stays one" test -L "$folder/link"
same "and the file that it means is replaced" 3 "$(wc -l <"$folder/out.csv")"
rm -f "$folder"/*
"$FIRN" stamp "$TMPDIR/old.csv" $good >>"$TMPDIR/old.csv" 2>"$TMPDIR/stderr"
same "input and output that are one file are refused" "2 1" "$? $(grep -c 'is both input and output: use -o' "$TMPDIR/stderr")"
ask stamp "$TMPDIR/old.csv" --format csv --time t --zone UTC --scheme snowflake node=1 -o "$TMPDIR/none/out.csv"
same "a folder that is not there" "6 firn: cannot create a file next to $TMPDIR/none/out.csv: No such file or directory: create its folder" "$status $err"
ask stamp "$TMPDIR/old.csv" --format csv --time t --zone UTC --scheme snowflake node=1 -o "$folder"
same "a folder is not a file" "6 firn: cannot write $folder: Is a directory: name a file in it" "$status $err"

# A limit on the size of files is as a full disk.
(ulimit -f 100 && exec "$FIRN" stamp "$TMPDIR/long.csv" $good -o "$folder/out.csv") 2>"$TMPDIR/stderr"
same "a full disk" "6 firn: cannot write $folder/out.csv: File too large: free some space and run the command again" "$? $(grep -v '^firn: note' "$TMPDIR/stderr")"
whole "leaves no file" ""
(ulimit -f 100 && exec "$FIRN" stamp "$TMPDIR/long.csv" $good >"$folder/out.csv") 2>"$TMPDIR/stderr"
same "a full disk under standard output" "6 firn: cannot write to standard output: File too large: free some space and run the command again" "$? $(grep -v '^firn: note' "$TMPDIR/stderr")"
whole "leaves it empty" "out.csv:$(printf '' | cksum)"
rm -f "$folder"/*
if [ -w /dev/full ]; then
    "$FIRN" stamp "$TMPDIR/long.csv" $good -o /dev/full 2>"$TMPDIR/stderr"
    same "a device is written in place" "6 firn: cannot write /dev/full: No space left on device: free some space and run the command again" \
        "$? $(grep -v '^firn: note' "$TMPDIR/stderr")"
else
    skip "a device is written in place" "no /dev/full"
fi

# ---- readers, writers and signals ----------------------------------------------------------------
{ "$FIRN" stamp "$TMPDIR/long.csv" $good 2>"$TMPDIR/stderr"; echo $? >"$TMPDIR/status"; } | head -n 1 >"$TMPDIR/head"
same "a reader that goes ends it quietly" "0 1 " "$(cat "$TMPDIR/status") $(wc -l <"$TMPDIR/head") $(grep -v 'you must make sure' "$TMPDIR/stderr")"
mkfifo "$TMPDIR/rows" "$TMPDIR/answers"
"$FIRN" stamp - $good <"$TMPDIR/rows" >"$TMPDIR/answers" 2>"$TMPDIR/stderr" &
stamping=$!
exec 3>"$TMPDIR/rows" 4<"$TMPDIR/answers"
echo t >&3
read -r answer <&4
same "a header is answered at once" id,t "$answer"
for second in 1 2 3; do
    echo "2024-01-01 00:00:0$second" >&3
    read -r answer <&4
    same "a row is answered before the next one" "2024-01-01 00:00:0$second" "${answer#*,}"
done
exec 3>&- 4<&-
wait $stamping
same "and the end of the rows is the end" 0 $?
# stopped SIGNAL STATUS: while it waits for more rows.
stopped() {
    exec 3<>"$TMPDIR/rows" # so that nobody sees an end
    env --default-signal=INT "$FIRN" stamp - $good -o "$folder/out.csv" <"$TMPDIR/rows" 2>"$TMPDIR/stderr" &
    stamping=$!
    timeout 60 cat "$TMPDIR/long.csv" >&3 # until all but a pipe's worth is taken
    await grep -q 'you must make sure' "$TMPDIR/stderr"
    kill -s "$1" $stamping
    wait $stamping
    same "SIG$1 ends it with status $2 and no word" "$2 1 " \
        "$? $(grep -c 'you must make sure' "$TMPDIR/stderr") $(grep -v '^firn: note' "$TMPDIR/stderr")"
    exec 3>&-
    whole "SIG$1 leaves no file" ""
}
stopped INT 130
stopped TERM 143
cp "$TMPDIR/long.csv" "$TMPDIR/growing.csv"
"$FIRN" stamp "$TMPDIR/growing.csv" $good >"$TMPDIR/answers" 2>"$TMPDIR/stderr" &
stamping=$!
exec 4<"$TMPDIR/answers"
read -r answer <&4 # it hangs in a full pipe from here on
echo "2024-01-01 00:00:00,more" >>"$TMPDIR/growing.csv"
cat <&4 >"$TMPDIR/out"
exec 4<&-
wait $stamping
same "input that changes while it is read is refused" "6 firn: $TMPDIR/growing.csv changed while firn read it: stamp a copy" \
    "$? $(grep -v '^firn: note' "$TMPDIR/stderr")"

# ---- long rows, memory ---------------------------------------------------------------------------
for size in 10 63; do
    { printf 't,a\n2024-01-01 00:00:00,"'; head -c ${size}000000 /dev/zero | tr '\0' '\n'; printf '"\n2024-01-01 00:00:01,b\n'; } >"$TMPDIR/wide.csv"
    "$FIRN" stamp "$TMPDIR/wide.csv" $good -o "$TMPDIR/wide.out" 2>"$TMPDIR/stderr"
    same "a row of $size MB passes" "0 $(wc -l <"$TMPDIR/wide.csv") $(sed 's/^[0-9]*,2024/2024/; s/^id,//' "$TMPDIR/wide.out" | cksum)" \
        "$? $(wc -l <"$TMPDIR/wide.out") $(cksum <"$TMPDIR/wide.csv")"
done
{ printf 't,a\n2024-01-01 00:00:00,'; head -c 70000000 /dev/zero | tr '\0' x; echo; } >"$TMPDIR/wide.csv"
"$FIRN" stamp "$TMPDIR/wide.csv" $good -o "$folder/out.csv" 2>"$TMPDIR/stderr"
same "one of 70 MB is refused" "1 firn: line 2: the record is longer than 64 MiB: shorten it" "$? $(grep -v '^firn: note' "$TMPDIR/stderr")"
whole "without a file" ""
rm -f "$TMPDIR"/wide.*
# peak FILE: the most memory that firn had, in KiB.
peak() {
    python3 -c '
import os, sys
child = os.fork()
if child == 0:
    os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
print(used.ru_maxrss if status == 0 else "failed")' "$FIRN" stamp "$1" --format csv --time t --scheme snowflake node=1 --disorder 1h -o /dev/null
}
if command -v python3 >/dev/null 2>&1; then
    awk 'BEGIN { print "t"; for (i = 0; i < 2000000; i++) print 1600000000 + i }' >"$TMPDIR/many.csv"
    head -n 100001 "$TMPDIR/many.csv" >"$TMPDIR/few.csv"
    few=$(peak "$TMPDIR/few.csv") many=$(peak "$TMPDIR/many.csv")
    check "with --disorder memory does not grow with the rows ($few and $many KiB)" [ "$many" -lt $((few + 4096)) ]
else
    skip "with --disorder memory does not grow with the rows" "there is no python3"
fi
# ---- the grant of a job, computed from the specification alone ---------------------------------------
if command -v sqlite3 >/dev/null; then
    printf 'when,what\n2023-11-14 22:13:20,paid\n2023-11-14 22:13:20,sent\n' >"$TMPDIR/granted.csv"
    row=$("$FIRN" schemes --json snowflake 2>/dev/null | jq -r '.layout // empty')
    [ -n "$row" ] || row=$("$FIRN" schemes snowflake | sed -n 's/^  row *//p')
    quietly "$TMPDIR/granted.csv" --time when --zone UTC --max-shift 2s --scheme snowflake --job invoices \
        --store "sqlite:$TMPDIR/granted.db" >/dev/null
    same "another implementation finds the same grant for a job" \
        "$(python3 test/job_grant.py "$TMPDIR/granted.csv" invoices snowflake "$row" snowflake '' 2000 0 time=when zone=UTC max-shift=2s)" \
        "$(sqlite3 "$TMPDIR/granted.db" "SELECT \"grant\" FROM mark WHERE ns = 'snowflake jobs' AND key = 'invoices'")"
fi

finish
