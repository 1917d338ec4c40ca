# SPDX-License-Identifier: MIT
# Rows that get their IDs: the formats, the ways to write a time, zones, and input that is not what it should be.
. test/command.tap
scheme='time:53/ms node:1 sequence:10' # so that an ID is ms since 1970 * 2048 + how many came before it
in=$TMPDIR/in

# id MS [NUMBER]
id() {
    echo $(($1 * 2048 + ${2:-0}))
}
day=1704067200000 # 2024-01-01T00:00:00Z
first=$(id $day)

# stamp INPUT ARGS...: `ask` for a file with INPUT, expanded by printf.
stamp() {
    # shellcheck disable=SC2059 # it is a format
    printf "$1" >"$in"
    shift
    ask stamp "$in" --scheme "$scheme" node=0 "$@"
}
# gives SENTENCE INPUT OUTPUT ARGS...: exactly that, byte for byte, status 0, nothing on standard error but notes.
gives() {
    sentence=$1 input=$2
    # shellcheck disable=SC2059
    printf "$3" >"$TMPDIR/wanted"
    shift 3
    stamp "$input" --zone UTC -o "$TMPDIR/got" "$@"
    if [ "$status" = 0 ] && [ -z "$err" ] && cmp -s "$TMPDIR/wanted" "$TMPDIR/got"; then
        pass "$sentence"
    else
        fail "$sentence" "$(told; echo wanted:; cat "$TMPDIR/wanted"; echo got:; cat "$TMPDIR/got")"
    fi
    rm -f "$TMPDIR/got"
}
# means TEXT MS [ZONE]: a column with that text is that time.
means() {
    stamp "$1\\n" --no-header --time 1 --format tsv --zone "${3:-UTC}"
    same "'$1'${3:+ in $3} is $2" "0 $(id "$2")" "$status ${out%%	*}"
}
# bad SENTENCE INPUT PATTERN ARGS...: refused with one line that names the line, status 1, and no output file.
bad() {
    sentence=$1 input=$2 pattern=$3
    shift 3
    rm -f "$TMPDIR/got"
    stamp "$input" --zone UTC -o "$TMPDIR/got" "$@"
    if [ "$status" = 1 ] && [ "$(printf '%s\n' "$err" | wc -l)" = 1 ] && [ ! -e "$TMPDIR/got" ] &&
        [ "$(ls "$TMPDIR"/got* 2>/dev/null)" = "" ] && printf '%s\n' "$err" | grep -qE "^firn: $pattern" &&
        [ ${#err} -le 206 ]; then
        pass "$sentence"
    else
        fail "$sentence" "$(told; echo "wanted: $pattern"; ls "$TMPDIR"/got* 2>&1)"
    fi
}

# ---- tables --------------------------------------------------------------------------------------
gives "a CSV gets a first column" 'a,t\n1,2024-01-01 00:00:00\n' "id,a,t\n$first,1,2024-01-01 00:00:00\n" --format csv --time t
gives "rows with the same time are numbered in file order" 't\n2024-01-01 00:00:00\n2024-01-01 00:00:01\n2024-01-01 00:00:00\n' \
    "id,t\n$first,2024-01-01 00:00:00\n$(id $((day + 1000))),2024-01-01 00:00:01\n$(id $day 1),2024-01-01 00:00:00\n" --format csv --time t
gives "quotes, line ends, an embedded newline and the mark in front stay" \
    '\357\273\277"a ""b""",t\r\n"x, ""y""\r\nz",2024-01-01 00:00:00\n,"2024-01-01 00:00:00"\r\n' \
    "\\357\\273\\277id,\"a \"\"b\"\"\",t\\r\\n$first,\"x, \"\"y\"\"\\r\\nz\",2024-01-01 00:00:00\\n$(id $day 1),,\"2024-01-01 00:00:00\"\\r\\n" \
    --format csv --time t
gives "a last line without its end gets none" 't,a\n2024-01-01 00:00:00,1' "id,t,a\n$first,2024-01-01 00:00:00,1" --format csv --time t
gives "bytes that are not UTF-8 stay, away from the time" 't,a\n2024-01-01 00:00:00,\377\n' "id,t,a\n$first,2024-01-01 00:00:00,\\377\n" --format csv --time t
gives "a column by its number" 'a,t\n1,2024-01-01 00:00:00\n' "id,a,t\n$first,1,2024-01-01 00:00:00\n" --format csv --time 2
gives "a name that is a number comes before the number" '2,t\n2024-01-01 00:00:00,1\n' "id,2,t\n$first,2024-01-01 00:00:00,1\n" --format csv --time 2
gives "a quoted name" 'a,"t ""x"""\n1,2024-01-01 00:00:00\n' "id,a,\"t \"\"x\"\"\"\n$first,1,2024-01-01 00:00:00\n" --format csv --time 't "x"'
gives "no header" '1,2024-01-01 00:00:00\n' "$first,1,2024-01-01 00:00:00\n" --format csv --time 2 --no-header
gives "a minute, as spreadsheets write it" 't\n2024-01-01 00:00\n' "id,t\n$first,2024-01-01 00:00\n" --format csv --time t
gives "a header alone" 't\n' 'id,t\n' --format csv --time t
gives "another name for the column, quoted where it must be" 't\n2024-01-01 00:00:00\n' "\"my \"\"id\"\", so\",t\n$first,2024-01-01 00:00:00\n" \
    --format csv --time t --id 'my "id", so'
gives "--replace writes over a column in its place" 't,id,x\n2024-01-01 00:00:00,7,8\n2024-01-01 00:00:00,"",9\n' \
    "t,id,x\n2024-01-01 00:00:00,$first,8\n2024-01-01 00:00:00,\"$(id $day 1)\",9\n" --format csv --time t --replace
gives "--replace adds the column that is not there" 't\n2024-01-01 00:00:00\n' "id,t\n$first,2024-01-01 00:00:00\n" --format csv --time t --replace
gives "a TSV knows no quotes" 'a\tt\n"x\t2024-01-01 00:00:00\n' "id\ta\tt\n$first\t\"x\t2024-01-01 00:00:00\n" --format tsv --time t
gives "--as writes another form" 't\n2024-01-01 00:00:00\n' "id,t\n$(printf '%016x' "$first"),2024-01-01 00:00:00\n" --format csv --time t --as hex
gives "blank lines at the very end of a CSV pass" 't,a\n2024-01-01 00:00:00,1\r\n\r\n\n\r\n' "id,t,a\n$first,2024-01-01 00:00:00,1\r\n\r\n\n\r\n" \
    --format csv --time t
same "and are not records" 0 "$(printf '%s\n' "$notes" | grep -c 'records, .*;')"
gives "of a TSV of one column too" 't\n2024-01-01 00:00:00\n\n' "id\tt\n$first\t2024-01-01 00:00:00\n\n" --format tsv --time t
gives "of a table without a header too" '2024-01-01 00:00:00\n\n' "$first,2024-01-01 00:00:00\n\n" --format csv --time 1 --no-header
gives "--on-error null does not fill them" 't\n2024-01-01 00:00:00\nx\n\n' "id,t\n$first,2024-01-01 00:00:00\n,x\n\n" --format csv --time t --on-error null
printf 't,a\r\n2024-01-01 00:00:00,1\r\n\r\n\n\r\n' >"$in"
same "even when they come a byte at a time" "$("$FIRN" stamp "$in" --format csv --time t --scheme "$scheme" node=0 2>/dev/null | cksum)" \
    "$(dd bs=1 <"$in" 2>/dev/null | "$FIRN" stamp - --format csv --time t --scheme "$scheme" node=0 2>/dev/null | cksum)"
gives "a date is its midnight" 't\n2024-01-01\n' "id,t\n$first,2024-01-01\n" --format csv --time t
gives "an hour after it is not an offset" 't\n2024-01-01-13\n2024-01-01\n' "id,t\n,2024-01-01-13\n$first,2024-01-01\n" --format csv --time t --on-error null
bad "but not in front of something else" 't\n2024-01-01 noon\n' "line 2: '2024-01-01 noon' is not a time" --format csv --time t
bad "nor at the head of a log's line" '2024-01-01 the first\n' "line 1: '2024-01-01 the first' is not a time" --format log
gives "blanks around a time are passed over" 't\n 2024-01-01 00:00:00 \n' "id,t\n$first, 2024-01-01 00:00:00 \n" --format csv --time t

# ---- JSON lines ----------------------------------------------------------------------------------
gives "JSON gets a first member, the rest stays" '{ "t" : "2024-01-01 00:00:00","n":1.50e1 }\r\n' \
    "{\"id\":\"$first\", \"t\" : \"2024-01-01 00:00:00\",\"n\":1.50e1 }\\r\\n" --format jsonl --time t
gives "escapes in name and time" '{"\\u0074":"2024-01-01 00:00:0\\u0030"}\n' "{\"id\":\"$first\",\"\\\\u0074\":\"2024-01-01 00:00:0\\\\u0030\"}\n" \
    --format jsonl --time t
gives "a nested time is another one" '{"a":[{"t":1},"}"],"t":1704067200000}\n' "{\"id\":\"$first\",\"a\":[{\"t\":1},\"}\"],\"t\":1704067200000}\n" \
    --format jsonl --time t
# After the first line of a shape the others are read by it.
lines=
stamped=
sequence=0
for value in 1 -0 0.25 -12.50 1e5 '""' '"plain"' '"\303\274 \342\202\254"' '"a\\"b\\\\"' '"\\u0041\\ud83d\\ude00"' true false null "1$(printf '%0308d' 0)" \
    '[]' '[1,{"t":2}]' '{"id":3}' '"{\\"t\\":4}"' '"a longer text, so that it takes several steps to its end: \177"'; do
    lines="$lines{\"a\":$value, \"t\":\"2024-01-01 00:00:00\", \"b\":$value}\\n"
    stamped="$stamped{\"id\":\"$(id $day $sequence)\",\"a\":$value, \"t\":\"2024-01-01 00:00:00\", \"b\":$value}\\n"
    sequence=$((sequence + 1))
done
gives "values of every kind in lines of one shape" "$lines" "$stamped" --format jsonl --time t
gives "an ID to replace, of any kind" '{"id":1,"t":1704067200}\n{"id":"\\u0041","t":1704067200}\n{"id":null,"t":1704067200}\n' \
    "{\"id\":\"$first\",\"t\":1704067200}\n{\"id\":\"$(id $day 1)\",\"t\":1704067200}\n{\"id\":\"$(id $day 2)\",\"t\":1704067200}\n" \
    --format jsonl --time t --replace
gives "a time with escapes in a line of a known shape" '{"t":"2024-01-01"}\n{"t":"2024-01-0\\u0031"}\n{"t":1704067200}\n{"t":true}\n' \
    "{\"id\":\"$first\",\"t\":\"2024-01-01\"}\n{\"id\":\"$(id $day 1)\",\"t\":\"2024-01-0\\u0031\"}\n{\"id\":\"$(id $day 2)\",\"t\":1704067200}\n{\"id\":null,\"t\":true}\n" \
    --format jsonl --time t --on-error null
gives "a number is exact" '{"t":1704067200.001000}\n' "{\"id\":\"$(id $((day + 1)))\",\"t\":1704067200.001000}\n" --format jsonl --time t
gives "--replace writes over a member in its place" '{"t":1704067200,"id":{"old":1}}\n' "{\"t\":1704067200,\"id\":\"$first\"}\n" --format jsonl --time t --replace
gives "another member, quoted as it must be" '{"t":1704067200}\n' "{\"a\\\\\"b\":\"$first\",\"t\":1704067200}\n" --format jsonl --time t --id 'a"b'
gives "numbers of any length elsewhere" '{"t":1704067200,"n":123456789012345678901234567890}\n' \
    "{\"id\":\"$first\",\"t\":1704067200,\"n\":123456789012345678901234567890}\n" --format jsonl --time t

# ---- logs ----------------------------------------------------------------------------------------
gives "a log gets ID and tab in front" '2024-01-01 00:00:00,250 INFO a\n2024-01-01 00:00:00 b\r\n' \
    "$(id $((day + 250)))\t2024-01-01 00:00:00,250 INFO a\n$first\t2024-01-01 00:00:00 b\\r\\n" --format log
gives "the common log format" '::1 - - [01/Jan/2024:01:00:00 +0100] "GET / HTTP/1.0" 200 5\n' \
    "$first\t::1 - - [01/Jan/2024:01:00:00 +0100] \"GET / HTTP/1.0\" 200 5\n" --format log
gives "a word of a log" 'update-alternatives 2024-01-01 00:00:00: run\nStart-Date: 2024-01-01  00:00:00\n' \
    "$first\tupdate-alternatives 2024-01-01 00:00:00: run\n$(id $day 1)\tStart-Date: 2024-01-01  00:00:00\n" --format log --time 2
gives "brackets around the time" '[2024-01-01 00:00:00] a\n' "$first\t[2024-01-01 00:00:00] a\n" --format log
gives "an empty log" '' '' --format log

# ---- which format --------------------------------------------------------------------------------
# guessed ENDING INPUT FORMAT ARGS...: the same as with --format.
guessed() {
    ending=$1 format=$3
    # shellcheck disable=SC2059
    printf "$2" >"$TMPDIR/guess$ending"
    shift 3
    ask stamp "$TMPDIR/guess$ending" --scheme "$scheme" node=0 --zone UTC "$@"
    plain=$status:$out:$err
    ask stamp "$TMPDIR/guess$ending" --scheme "$scheme" node=0 --zone UTC "$@" --format "$format"
    same "${ending:-the first line} tells $format" "$status:$out:$err" "$plain"
    same "and it is read" 0 "$status"
}
guessed .csv 't\n2024-01-01 00:00:00\n' csv --time t
guessed .tsv 't\n2024-01-01 00:00:00\n' tsv --time t
guessed .ndjson '{"t":1704067200}\n' jsonl --time t
guessed .log '2024-01-01 00:00:00 {a}\n' log
guessed '' 't,a\n2024-01-01 00:00:00,1\n' csv --time t
guessed '' 't\ta\n2024-01-01 00:00:00\t1\n' tsv --time t
guessed '' ' {"t":1704067200}\n' jsonl --time t
guessed '' '2024-01-01 00:00:00,1 a\n' log
guessed '' '2024-01-01 00:00:00,1\n' csv --no-header --time 1
guessed '' '::1 - - [01/Jan/2024:01:00:00 +0100] a, b\n' log
guessed .1 '2024-01-01 00:00:00 status installed a:b\n' log
printf 'nothing here\n' >"$in"
refuses "a first line that tells no format is refused" 2 "unclear from its first line: add --format" stamp "$in" --scheme uuid7 --seed x

# ---- times ---------------------------------------------------------------------------------------
for text in 2024-01-01T00:00:00Z 2024-01-01t00:00:00z '2024-01-01 00:00:00' 2024-01-01T01:30:00+01:30 2024-01-01T00:00:00-00:00 \
    '2024-01-01 01:00:00+01' '2024-01-01 02:00:00 +0200' '2024-01-01 00:00:00 UTC' '2024-01-01  00:00:00' \
    20240101T000000Z 20240101t000000.000z 20240101T013000+0130 20231231T230000,0-01:00 20240101T010000+01 '20240101T010000 +0100' 20240101T000000 \
    '01/Jan/2024:01:00:00 +0100' 'Jan  1 00:00:00 2024' 'Jan 1 2024 00:00:00' '2024 Jan 01 00:00:00' 'Mon Jan  1 00:00:00 2024' \
    'Mon, 01 Jan 2024 00:00:00 GMT' '2024/01/01 00:00:00' 1704067200 1704067200000 1704067200000000 1704067200.000 @1704067200; do
    means "$text" $day
done
means '2024-01-01 00:00:00.25' $((day + 250))
means '2024-01-01 00:00:00,250999999' $((day + 250))
means 'Jan  1 00:00:00.250 2024' $((day + 250))
means 1704067200.2509 $((day + 250))
means 1704067200250999 $((day + 250))
means '2024-02-29 12:00:00' 1709208000000
means '2016-12-31T23:59:60Z' 1483228799999
means '2017-01-01T00:59:60.5+01:00' 1483228799999
means '2024-01-01 00:00:00' $((day - 3600000)) +01:00
means '2024-01-01T00:00:00Z' $day +01:00
if [ -e /usr/share/zoneinfo/Europe/Berlin ]; then
    means '2024-01-01 00:00:00' $((day - 3600000)) Europe/Berlin
    means '2024-07-01 00:00:00' 1719784800000 Europe/Berlin
    means '2024-10-27 02:30:00' 1729989000000 Europe/Berlin
    means '2024-10-27 02:30:00 CET' 1729989000000 Europe/Berlin
    stamp 't\n2024-10-27 02:30:00\n2024-10-27 02:30:00\n' --format csv --time t --zone Europe/Berlin
    same "local times that occur twice are counted" 1 "$(printf '%s\n' "$notes" | grep -c '2 records, 2 IDs in [0-9.]* s; 2 local times occurred twice: the earlier one was used$')"
    stamp 't\n2024-03-31 02:30:00\n' --format csv --time t --zone Europe/Berlin
    same "one that never occurs is a bad row" \
        "1 firn: line 2: '2024-03-31 02:30:00' is not a time: this local time never occurred, because clocks skipped it" "$status $err"
else
    skip "zones by name" "tzdata is missing"
fi
for zone in Europe/Nowhere berlin ../../etc/passwd right/UTC +25:00 ''; do
    refuses "the zone '$zone' is refused" 2 "zone [+]?${zone#+} is not valid: use UTC" stamp "$in" --scheme uuid7 --zone "$zone"
done
for zone in localtime posixrules Factory posix/localtime; do
    refuses "the zone '$zone', which depends on the machine, is refused" 2 "another zone on another machine: name the zone, such as Europe/Berlin" \
        stamp "$in" --scheme uuid7 --zone "$zone"
done
mkdir "$TMPDIR/zones" && mkfifo "$TMPDIR/zones/Unwritten"
export TZDIR="$TMPDIR/zones"
refuses "a zone that is a named pipe is not waited for" 2 "zone Unwritten is not valid" stamp "$in" --scheme uuid7 --zone Unwritten
TZDIR=$TMPDIR/none
export TZDIR
refuses "a machine without zones says so" 6 "no time zone database in .*: install tzdata" stamp "$in" --scheme uuid7 --zone Europe/Berlin
unset TZDIR
stamp 't\n2024-01-01 00:00:00\n2024-01-01T00:00:00Z\n' --format csv --time t
same "without --zone it is UTC, and it says so" 1 "$(printf '%s\n' "$notes" | grep -c '2 records, 2 IDs in [0-9.]* s; 1 time without a zone read as UTC: --zone sets another$')"
stamp '2024-01-01T00:00:01Z\n2024-01-01T00:00:02+01:00\n2024-01-01T00:00:03\n2024-01-01T00:00:04.25Z\n2024-01-01T00:01:05\n' \
    --format tsv --no-header --time 1 --zone +02:00
same "each time of a minute has its own zone" \
    "$(id $((day + 1000))) $(id $((day + 2000 - 3600000))) $(id $((day + 3000 - 7200000))) $(id $((day + 4250))) $(id $((day + 65000 - 7200000)))" \
    "$(printf '%s\n' "$out" | cut -f 1 | tr '\n' ' ' | sed 's/ $//')"
stamp 't\n2024-01-01 00:00:00\n' --format csv --time t --zone UTC
same "with it there are no notes on records" 0 "$(printf '%s\n' "$notes" | grep -c 'records, .*;')"

# ---- bad rows ------------------------------------------------------------------------------------
ok='2024-01-01 00:00:00'
bad "a row that is too short" "t,a\n$ok,1\n$ok\n" "line 3: the record has 1 field, not 2: is a delimiter missing" --format csv --time t
bad "a row that is too long" "t,a\n$ok,1,2\n" "line 2: the record has 3 fields, not 2: is a delimiter not quoted" --format csv --time t
bad "an empty line" "t,a\n\n$ok,1\n" "line 2: the line is blank" --format csv --time t
bad "an empty line among two" "t,a\n$ok,1\n\n\n$ok,1\n" "line 3: the line is blank" --format csv --time t
bad "a carriage return alone at the end" "t,a\n$ok,1\n\n\r" "line 3: the line is blank" --format csv --time t
bad "a zero byte" "t,a\n$ok,\\000\n" "line 2: the record contains a zero byte" --format csv --time t
bad "a zero byte in a log" "$ok a\n$ok \\000\n" "line 2: the record contains a zero byte" --format log
bad "a zero byte in JSON" '{"t":1704067200}\n{"t":\000}\n' "line 2: the record contains a zero byte" --format jsonl --time t
bad "a time that is not UTF-8" "t\n2024-01-01 00:00:0\\377\n" "line 2: '2024-01-01 00:00:0\?' is not a time" --format csv --time t
bad "JSON that is not UTF-8" '{"t":1704067200,"a":"\377"}\n' "line 1: not valid JSON at byte [0-9]+: " --format jsonl --time t
# Lines of one shape differ in values alone, which jansson need not see: what it refuses is refused there too.
for value in 01 -01 1. .5 - -a +1 1e 1e999 "1$(printf '%0309d' 0)" 0x1 tru trues nullx True '"' '"a' '"\\001"' '"\\ud800"' '"\\x"' '"\\u12"' '"\377"' '"\303"' \
    '"\300\200"' '"\355\240\200"' "1 2" '1,' '[1' '{' ''; do
    bad "the value $value in a line whose shape is known" \
        "{\"t\":1704067200,\"a\":1}\\n{\"t\":1704067200,\"a\":$value}\\n" "line 2: not valid JSON at byte" --format jsonl --time t
done
bad "a quote that is never closed" "t,a\n$ok,1\n$ok,\"x\n$ok,2\n" "line 3: a quoted field has no closing quote" --format csv --time t
bad "a quote inside a field" "t,a\n$ok,x\"y\n" "line 2: a field without quotes contains a quote" --format csv --time t
bad "text after a closing quote" "t,a\n$ok,\"x\"y\n" "line 2: text follows a closing quote" --format csv --time t
bad "a carriage return that ends no line" "t,a\n$ok,1\\r$ok,2\n" "line 2: a carriage return is not at the end of a line" --format csv --time t
bad "line ends of carriage returns alone" "t,a\\r$ok,1\\r" "line 1: a carriage return is not at the end of a line" --format csv --time t
bad "a last line that may be cut" "a,t\n1,2024-01-01 00:00:00" "line 2: the last line has no newline, so its time may be incomplete: end it with a newline" --format csv --time t
bad "an epoch that may be cut" "a,t\n1,1704067200" "line 2: the last line has no newline" --format csv --time t
bad "a day that is not in the calendar" "t\n2023-02-29 00:00:00\n" "line 2: '2023-02-29 00:00:00' is not a time: the month has fewer days" --format csv --time t
bad "an invalid month" "t\n2023-13-01 00:00:00\n" "line 2: '2023-13-01 00:00:00' is not a time: the month must be 01 to 12" --format csv --time t
bad "an invalid hour" "t\n2023-01-01 24:00:00\n" "line 2: .* is not a time: the hour must be 00 to 23" --format csv --time t
bad "an invalid second" "t\n2023-01-01 00:00:61\n" "line 2: .* is not a time: the second must be 00 to 59" --format csv --time t
bad "ten digits of the second" "t\n2023-01-01 00:00:00.0123456789\n" "line 2: .* is not a time: a second has at most nine digits" --format csv --time t
bad "a number of other digits" "t\n20240101\n" "line 2: '20240101' is not a time: 10 digits are seconds, 13 ms, 16 us" --format csv --time t
bad "a basic date without its T" "t\n20240101 000000\n" "line 2: '20240101 000000' is not a time: 10 digits are seconds" --format csv --time t
bad "an invalid basic date" "t\n20240230T000000Z\n" "line 2: '20240230T000000Z' is not a time: the month has fewer days" --format csv --time t
bad "an invalid basic month" "t\n20241301T000000Z\n" "line 2: '20241301T000000Z' is not a time: the month must be 01 to 12" --format csv --time t
bad "a basic time without seconds" "t\n20240101T0000Z\n" "line 2: '20240101T0000Z' is not a time: use RFC 3339" --format csv --time t
bad "a basic time that is too long" "t\n20240101T0000000Z\n" "line 2: '20240101T0000000Z' is not a time: use RFC 3339" --format csv --time t
printf '%s CST a\n' "$ok" >"$in"
refuses "a zone that may be one of several" 1 "line 1: .* is not a time: this zone abbreviation is ambiguous: set --zone" \
    stamp "$in" --format log --scheme uuid7 --seed x
bad "a time without its year" "Oct 11 22:14:15 host a\n" "line 1: 'Oct 11 22:14:15 host a' is not a time: use RFC 3339" --format log
bad "an empty time" "t,a\n,1\n" "line 2: the time is empty" --format csv --time t
bad "words that are not there" "a b\n" "line 1: the line has fewer than 3 words" --format log --time 3
bad "something after the time" "t\n$ok x\n" "line 2: '$ok x' is not a time" --format csv --time t
bad "no object" '[1]\n' "line 1: not a JSON object" --format jsonl --time t
bad "no JSON" '{"t":1704067200}\n{"t":}\n' "line 2: not valid JSON at byte" --format jsonl --time t
bad "two objects on a line" '{"t":1704067200} {"t":1}\n' "line 1: not valid JSON at byte" --format jsonl --time t
bad "no such member" '{"u":1}\n' "line 1: the object has no member 't'" --format jsonl --time t
bad "a member twice" '{"t":1704067200,"\\u0074":1}\n' "line 1: the object has more than one member 't'" --format jsonl --time t
bad "a time that is not a text" '{"t":null}\n' "line 1: 'null' is not a time" --format jsonl --time t
bad "a zero byte after a time" '{"t":"2024-01-01T00:00:00Z\\u0000"}\n' "line 1: .* is not a time" --format jsonl --time t
bad "no header" '' "line 1: the file is empty: add a header, or --no-header" --format csv --time t
bad "lines are counted through embedded newlines" "t,a\n$ok,\"1\n2\n3\"\nx,1\n" "line 5: 'x' is not a time" --format csv --time t
printf 't\n1999-01-01T00:00:00Z\n' >"$in"
refuses "a time before the scheme" 1 "line 2: 1999-01-01T00:00:00.000Z is outside the range of snowflake" stamp "$in" --format csv --time t --scheme snowflake node=1 -o "$TMPDIR/got"
printf 't\n2299-01-01T00:00:00Z\n' >"$in"
refuses "a time after the scheme's end" 1 "line 2: 2299-01-01T00:00:00.000Z is outside the range of snowflake" stamp "$in" --format csv --time t --scheme snowflake node=1 -o "$TMPDIR/got"

# ---- continuing ----------------------------------------------------------------------------------
rows="t,a\n$ok,1\nx,2\n$ok\n$ok,4\n"
gives "--on-error skip leaves bad rows out" "$rows" "id,t,a\n$first,$ok,1\n$(id $day 1),$ok,4\n" --format csv --time t --on-error skip
same "and counts them" 1 "$(printf '%s\n' "$notes" | grep -c "4 records, 2 IDs in [0-9.]* s; 2 skipped, the first is line 3: 'x' is not a time")"
gives "--on-error null leaves their IDs empty" "$rows" "id,t,a\n$first,$ok,1\n,x,2\n,$ok\n$(id $day 1),$ok,4\n" --format csv --time t --on-error null
same "and counts them" 1 "$(printf '%s\n' "$notes" | grep -c "4 records, 2 IDs in [0-9.]* s; 2 without an ID, the first is line 3: ")"
for how in skip null; do
    bad "--on-error $how of a column that holds no time" "t,a\nx,$ok\ny,$ok\n" "no record has a valid time in 't': line 2: 'x' is not a time: " \
        --format csv --time t --on-error $how
    bad "--on-error $how of a log without times" "a\nb\n" "no record has a valid time: line 1: 'a' is not a time: " --format log --on-error $how
    same "nothing of them is written to standard output" "" "$("$FIRN" stamp "$in" --format log --scheme "$scheme" node=0 --on-error $how 2>/dev/null)"
done
gives "a header alone needs no time" 't\n' 'id,t\n' --format csv --time t --on-error skip
gives "null in JSON, and a row without a place for it stays" '{"t":1}\n{}\n[\n{"t":1704067200}\n' \
    "{\"id\":null,\"t\":1}\n{\"id\":null}\n[\n{\"id\":\"$first\",\"t\":1704067200}\n" --format jsonl --time t --on-error null
gives "null in a log is a tab" "$ok a\n  at main()\n" "$first\t$ok a\n\t  at main()\n" --format log --on-error null
bad "a quote that is never closed stops even so" "t,a\n$ok,\"x\n" "line 2: a quoted field has no closing quote" --format csv --time t --on-error skip

# ---- full ticks and disorder ---------------------------------------------------------------------
awk 'BEGIN { print "t"; for (i = 0; i < 3000; i++) print "2024-01-01 00:00:00" }' >"$in"
ask stamp "$in" --format csv --time t --zone UTC --scheme "$scheme" node=0
same "a full tick runs on into the next free ones" "$first $(id $((day + 1))) $(id $((day + 2))) $(id $((day + 2)) 951)" \
    "$(printf '%s\n' "$out" | awk -F, 'NR == 2 || NR == 1026 || NR == 2050 || NR == 3001 { printf "%s%s", sep, $1; sep = " " }')"
same "and the largest shift is reported" 1 "$(printf '%s\n' "$notes" | grep -c '3000 records, 3000 IDs in [0-9.]* s; 1976 moved to a later tick, line 2050 the furthest: 2 ms$')"
refuses "--max-shift bounds it" 1 "line 2050: more than 2048 records share .*: raise --max-shift, or use" stamp "$in" --format csv --time t --zone UTC --scheme "$scheme" node=0 --max-shift 1ms -o "$TMPDIR/got"
refuses "--max-shift 0 allows none" 1 "line 1026: " stamp "$in" --format csv --time t --zone UTC --scheme "$scheme" node=0 --max-shift 0 -o "$TMPDIR/got"
printf 't\n2024-01-01 01:00:00\n2024-01-01 00:00:00\n2023-12-31 23:59:59\n' >"$in"
refuses "--disorder stops at an older row" 1 "line 4: .* is 3601.000 s earlier than the newest record, more than 3600.000: raise --disorder" \
    stamp "$in" --format csv --time t --scheme "$scheme" node=0 --disorder 1h -o "$TMPDIR/got"
refuses "even with --on-error skip" 1 "line 4: .*raise --disorder" \
    stamp "$in" --format csv --time t --scheme "$scheme" node=0 --disorder 1h --on-error skip -o "$TMPDIR/got"

# ---- arguments -----------------------------------------------------------------------------------
printf 't,id\n2024-01-01 00:00:00,1\n' >"$in"
refuses "no scheme" 2 "stamp needs --scheme" stamp "$in" --time t
refuses "no time" 2 "stamp needs --time" stamp "$in" --format csv --scheme uuid7 --seed x
refuses "no file" 2 "stamp needs a FILE, or -" stamp --time t --scheme uuid7
refuses "a file that is not there" 6 "cannot read .*none.csv: No such file" stamp "$TMPDIR/none.csv" --time t --scheme uuid7 --seed x
refuses "a folder" 6 "cannot read .*: Is a directory" stamp "$TMPDIR" --time t --scheme uuid7 --seed x
refuses "a column that is not there" 2 "there is no column 'when': the header is t,id" stamp "$in" --format csv --time when --scheme uuid7 --seed x
refuses "an invalid number" 2 "there is no column 3: the header has 2" stamp "$in" --format csv --time 3 --scheme uuid7 --seed x
refuses "a number above the columns of the first record" 2 "line 1: there is no column 3: the first record has 2" stamp "$in" --format csv --time 3 --no-header --scheme uuid7 --seed x
refuses "a name without a header" 2 "without a header, columns are numbered" stamp "$in" --format csv --time t --no-header --scheme uuid7 --seed x
refuses "a column of that name" 2 "column 2 is already called 'id': use --replace" stamp "$in" --format csv --time t --scheme uuid7 --seed x
for again in csv:t:'t\n2024-01-01 00:00:00\n' jsonl:t:'{"t":1704067200}\n'; do
    stamp "${again#*:*:}" --format "${again%%:*}" --time t -o "$in"
    refuses "a stamped ${again%%:*}" 2 "'id': the file seems to have IDs; use --replace to overwrite it" \
        stamp "$in" --format "${again%%:*}" --time t --scheme uuid7 --seed x -o "$in"
done
printf 'a;t\n1;2024-01-01 00:00:00\n' >"$in"
refuses "columns between semicolons" 2 "there is no column 't', and columns seem to be separated by ;: add --delimiter ';'\$" \
    stamp "$in" --format csv --time t --scheme uuid7 --seed x
printf 'a\tt\n' >"$in"
refuses "columns between tabs" 2 "there is no column 't', and columns seem to be separated by tabs: add --delimiter tab\$" \
    stamp "$in" --format csv --time t --scheme uuid7 --seed x
printf 'a|t\n' >"$in"
refuses "columns between bars" 2 "there is no column 't', and columns seem to be separated by |: add --delimiter '|'\$" \
    stamp "$in" --format csv --time t --scheme uuid7 --seed x
printf 't,t\n' >"$in"
refuses "two columns of the name" 2 "columns 1 and 2 are both called 't'" stamp "$in" --format csv --time t --scheme uuid7 --seed x
printf '{"t":1704067200,"id":1}\n' >"$in"
refuses "a member of that name" 2 "line 1: the object already has a member 'id': use --replace" stamp "$in" --format jsonl --time t --scheme uuid7 --seed x
refuses "even with --on-error null" 2 "line 1: the object already has a member 'id'" stamp "$in" --format jsonl --time t --scheme uuid7 --seed x --on-error null
refuses "a node that nobody gave" 2 "snowflake needs a node .*: set datacenter= worker=, or --job NAME" stamp "$in" --format jsonl --time t --scheme snowflake
refuses "random fields without a seed" 2 "uuid7 has random fields: set --seed" stamp "$in" --format jsonl --time t --scheme uuid7
printf '{"t":1704067200}\n' >"$in"
advice=$(printf '%s\n' "$err" | sed -nE 's/.*(--seed ".*") and keep it; another file needs another seed.*/\1/p')
same "what it says to give can be copied, and the seed is kept" "0 1" \
    "$(cd "$TMPDIR" && eval "'$FIRN' stamp '$in' --format jsonl --time t --scheme uuid7 $advice >first" 2>"$TMPDIR/stderr"; echo $?) $("$FIRN" stamp "$in" --format jsonl --time t --scheme uuid7 --seed "$(cat "$TMPDIR/seeds")" 2>"$TMPDIR/stderr" | cmp - "$TMPDIR/first" >/dev/null && echo 1)"
refuses "a scheme without time" 2 "uuid4 has no time" stamp "$in" --format jsonl --time t --scheme uuid4 --seed x
refuses "an invalid format" 2 "--format xml is not valid: use csv, tsv, jsonl or log" stamp "$in" --format xml --scheme uuid7
refuses "an invalid --on-error" 2 "--on-error go is not valid: use stop, skip or null" stamp "$in" --on-error go --scheme uuid7
refuses "a --max-shift of two days" 2 "--max-shift 2d is out of range .0s to 1d." stamp "$in" --max-shift 2d --scheme uuid7
refuses "a --disorder without a unit" 2 "--disorder 5 has no unit: write 5ms" stamp "$in" --disorder 5 --scheme uuid7
refuses "--id for a log" 2 "--id does not apply to log" stamp "$in" --format log --id x --scheme uuid7 --seed x
refuses "--no-header for JSON" 2 "--no-header does not apply to jsonl" stamp "$in" --format jsonl --no-header --scheme uuid7 --seed x
refuses "--replace without a header" 2 "--replace needs a header, and --no-header" stamp "$in" --format csv --time 1 --replace --no-header --scheme uuid7 --seed x
refuses "--store without a job" 2 "--store needs a job: add --job NAME" stamp "$in" --store memory: --scheme uuid7
refuses "--again without a job" 2 "--again needs a job" stamp "$in" --again --scheme uuid7
refuses "a key of live issue" 2 "window" stamp "$in" --format jsonl --time t --scheme uuid7 --seed x window=5ms
ask help stamp all
same "the help says that a seed must be secret" 1 "$(printf '%s\n' "$out" | tr -s '\n ' ' ' | grep -c 'which must be secret')"
finish
