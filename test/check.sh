# SPDX-License-Identifier: MIT
# `firn check`: duplicates and IDs out of order of streams of every form, counted a second time by Python; at every memory, from
# files and from pipes; lines that are not IDs; disks and files that are not to be had.
. test/command.tap
cd "$TMPDIR" || exit 1

# ---- by hand -------------------------------------------------------------------------------------
printf '5\n3\n5\n9\n3\n5\n' >hand
ask check hand
same "duplicates are reported with the first line and theirs" \
    "1 6 IDs, 3 duplicates, 2 out of order
5  line 1, again line 3
3  line 2, again line 5
5  line 1, again line 6" "$status $out"
printf '1\n2\n2\n2\n7\n' >hand
ask check hand
same "ascending ones too" \
    "1 5 IDs, 2 duplicates, 0 out of order
2  line 2, again line 3
2  line 2, again line 4" "$status $out"
same "an ascending stream is fine" "3 IDs, 0 duplicates, 0 out of order" "$(seq 1 3 | "$FIRN" check -)"
printf '1\n5\n3\n' >hand
same "an ID out of order is not a failure" "0 3 IDs, 0 duplicates, 1 out of order" "$("$FIRN" check hand >out; echo $?) $(cat out)"
same "but with --order it is" "1 3 IDs, 0 duplicates, 1 out of order" "$("$FIRN" check --sorted hand >out; echo $?) $(cat out)"
: >empty
says "no input has no duplicate" "0 IDs, 0 duplicates, 0 out of order" check empty
seq 1 30 >hand
seq 1 30 >>hand
ask check hand
same "ten are listed, the others counted" "12 and 20 more" "$(printf '%s\n' "$out" | wc -l) $(printf '%s\n' "$out" | tail -n 1)"
check "as one object too" sh -c "'$FIRN' check --json hand | jq -e '
    .ids == 60 and .duplicates == 30 and .out_of_order == 1 and .bad == 0 and .form == \"dec\" and .bits == 64
    and (.first | length) == 10 and .first[9] == {id: \"10\", line: 10, again: 40}'"

# ---- forms ---------------------------------------------------------------------------------------
one=0192f0c8-d1e3-7a55-9e37-79b97f4a7c15
two=0192F0C8-D1E3-7A55-9E37-79B97F4A7C15
for pair in "$one $two" "{$one} {$two}" "urn:uuid:$one urn:uuid:$two" "$(echo $one $two | tr -d -)" \
    "01ARYZ6S41TSV4RRFFQ69G5FAV 01aryz6s41tsv4rrffq69g5fav" "0x00000000000000ff 0x00000000000000FF" \
    "0ujtsYcgvSTl8PAuAdqWYSMnLOv 0ujtsYcgvSTl8PAuAdqWYSMnLOv" "9m4e2mr0ui3e8a215n4g 9M4E2MR0UI3E8A215N4G" \
    "-1 18446744073709551615" "340282366920938463463374607431768211455 340282366920938463463374607431768211455" \
    "user_01h455vb4pex5vsknk084sn02q user_01h455vb4pex5vsknk084sn02q"; do
    # shellcheck disable=SC2086 # two words
    printf '%s\n' $pair >pair
    ask check pair
    same "${pair% *} and the other are one ID" "1 2 IDs, 1 duplicate, 0 out of order" "$status $(printf '%s\n' "$out" | head -n 1)"
done
typed=01h455vb4pex5vsknk084sn02q
printf '%s\n' user_$typed org_$typed user_$typed org_$typed user_01h455vb4pex5vsknk084sn02r org_$typed >typed
ask check typed
same "TypeIDs of two prefixes are two IDs" "1 6 IDs, 3 duplicates, 1 out of order
user_$typed  line 1, again line 3
org_$typed  line 2, again line 4
org_$typed  line 2, again line 6" "$status $out"
same "so they are in a pipe, of any version" "1 2 IDs, 0 duplicates, 0 out of order 2 IDs, 1 duplicate, 0 out of order" \
    "$(printf 'a_%s\nb_%s\n' 4hj44femph8cg9qb7r8zdm2j58 4hj44femph8cg9qb7r8zdm2j58 | "$FIRN" check --scheme typeid >out
    printf 'a_%s\na_%s\n' 4hj44femph8cg9qb7r8zdm2j58 4hj44femph8cg9qb7r8zdm2j58 | "$FIRN" check --scheme typeid >>out
    echo $?) $(paste -sd' ' out | sed 's/ a_.*//')"
same "1025 prefixes are too many" "2 firn: line 1025: 'ts_0" \
    "$(for a in a b c d e f g h i j k l m n o p q r s t u v w x y z; do for b in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
        echo "$a${b}_$typed"; echo "b$a${b}_$typed"; done; done | "$FIRN" check 2>&1 >out | cut -c 1-22 | sed 's/^/2 /')"
printf '10\n9\n' >pair
same "decimals are compared as numbers" "2 IDs, 0 duplicates, 1 out of order" "$("$FIRN" check pair)"
printf '%s\r\n' $one $two >pair
same "a carriage return is a part of the line's end" "2 IDs, 1 duplicate, 0 out of order" "$("$FIRN" check pair | head -n 1)"
printf '1\n2\n1' >pair
same "the last line needs no end" "3 IDs, 1 duplicate, 1 out of order" "$("$FIRN" check pair | head -n 1)"
printf '00000000000000a1\n0000000000000011\n' >pair
same "the first line decides the form of all" "2 IDs, 0 duplicates, 1 out of order" "$("$FIRN" check pair | head -n 1)"
printf '0000000000000011\n00000000000000a1\n' >pair
says "digits only are hex where the other lines are" "2 IDs, 0 duplicates, 0 out of order" check pair
printf '1234567890123456\n00000000000000a1\n' >pair
says "with any numbers" "2 IDs, 0 duplicates, 1 out of order" check pair
printf '1234567890123456\n77\n' >pair
says "and decimal where those are" "2 IDs, 0 duplicates, 1 out of order" check pair
printf '0000000000000011\n00000000000000a1\n' >pair
says "with --from" "2 IDs, 0 duplicates, 0 out of order" check --from hex pair
"$FIRN" pack snowflake tick=1 datacenter=0 worker=1 sequence=1 >pair
echo 9223372036854775808 >>pair
refuses "with --scheme its constants are looked at" 1 "line 2: '9223372036854775808'" check --scheme snowflake pair
refuses "an order by value says nothing of IDs that do not sort" 2 "uuid1 do not sort" check --sorted --scheme uuid1 pair

seq -f '%.0f' 1541815603606036480 4096 1541815603607036480 >pair
says "a scheme's own constants hold" "245 IDs, 0 duplicates, 0 out of order" check --scheme snowflake pair
{ cat pair; echo 1541815603606036480; } | sed 's/$/\r/' >crlf
same "with carriage returns as well" "246 IDs, 1 duplicate, 1 out of order" "$("$FIRN" check --scheme snowflake crlf | head -n 1)"
{ "$FIRN" new uuid7 -n 50; "$FIRN" new uuid4; } >pair
refuses "a UUID of another version is a bad line among them" 1 "line 51: " check --scheme uuid7 pair

# ---- bad lines -----------------------------------------------------------------------------------
printf '1\n\n2\nx\n' >bad
refuses "an empty line is a bad one" 1 "line 2: the line is empty" check bad
printf '1\n2\nabc\n' >bad
refuses "a line of another form is reported with its number" 1 "line 3: 'abc'" check bad
printf '1\n2\0\n' >bad
refuses "so is a zero byte" 1 "line 2: the line contains a zero byte" check bad
{ echo 1; head -c 10485760 /dev/zero | tr '\0' 7; echo; echo 1; } >bad
refuses "so is a line of 10 MiB" 1 "line 2: the line is longer than 4095 bytes" check bad
same "which --keep-going counts" "1 2 IDs, 1 duplicate, 0 out of order
1 bad line, the first: line 2: the line is longer than 4095 bytes: shorten it
1  line 1, again line 3" "$("$FIRN" check --keep-going bad >out; echo $?) $(cat out)"
printf '1\n\377\376\n99999999999999999999\n007\n 1\n1 \n+1\n0\n-0\n1\n' >bad
ask check --keep-going --json bad
same "only IDs are counted" "1 3 1 7 line 2" \
    "$status $(printf '%s' "$out" | jq -r '[.ids, .duplicates, .bad, (.bad_first | .[:6])] | join(" ")')"

# ---- what cannot be read or written --------------------------------------------------------------
refuses "a file that is not there" 6 "cannot read nowhere: No such file" check nowhere
refuses "a folder" 6 "cannot read .: Is a directory" check .
printf '\357\273\2771541815603606036480\n1541815603606036481\n' >mark
ask check mark mark
same "a byte order mark is read over, in each file" "1 4 IDs, 2 duplicates, 0 out of order
1541815603606036480  mark: line 1, again mark: line 1
1541815603606036481  mark: line 2, again mark: line 2" "$status $out"
cat mark mark >marks
refuses "not between lines" 1 "line 3: .*character 1" check marks
refuses "standard input twice" 2 "standard input is given twice" check - -
for size in 0 1 1K 1023K x 1MM 2T 99999999999999999999 -1M; do
    refuses "--memory $size is refused" 2 "--memory $size is not valid" check --memory=$size empty
done
awk 'BEGIN { srand(1); for (i = 0; i < 400000; i++) printf "%d%09d\n", 1 + int(rand() * 900000000), int(rand() * 1000000000) }' >many
TMPDIR=none "$FIRN" check --memory 1M many >out 2>err
same "no folder for what does not fit the memory" \
    "6 0 firn: cannot write a temporary file in none: No such file or directory: free space there" "$? $(wc -l <out) $(cut -d, -f 1 err)"
(ulimit -f 100; "$FIRN" check --memory 1M many 2>err | cat >out)
same "no room there is one line" "0 1 File too large" "$(wc -l <out) $(wc -l <err) $(grep -o 'File too large' err)"
same "nothing is left in the folder" "" "$(find . -name 'firn-*')"

# ---- another judge -------------------------------------------------------------------------------
cat >judge.py <<'END'
import functools, json, random, subprocess, sys, uuid
firn = sys.argv[1]
random.seed(20261121)

def judge(lines, value):
    seen, again, disorder, before = {}, [], 0, None
    for number, line in enumerate(lines, 1):
        v = value(line)
        if before is not None and v < before:
            disorder += 1
        before = v
        if v in seen:
            again.append((v, seen[v], number))
        else:
            seen[v] = number
    return len(lines), len(again), disorder, again[:10]

def ask(options, lines, pipe):
    text = ("\n".join(lines) + "\n").encode()
    if pipe:
        done = subprocess.run([firn, "check", "--json", *options], input=text, capture_output=True)
    else:
        with open("stream", "wb") as file:
            file.write(text)
        done = subprocess.run([firn, "check", "--json", *options, "stream"], capture_output=True)
    found = json.loads(done.stdout)
    return done.returncode, found

number = 0
def compare(sentence, options, lines, value):
    global number
    ids, duplicates, disorder, again = judge(lines, value)
    wrong = []
    for pipe, memory in ((False, "1M"), (True, "1M"), (False, "256M")):
        status, found = ask([*options, "--memory", memory], lines, pipe)
        first = [(value(one["id"]), one["line"], one["again"]) for one in found["first"]]
        if (status, found["ids"], found["duplicates"], found["out_of_order"], first) != (
                int(duplicates > 0), ids, duplicates, disorder, again):
            wrong.append(f"pipe {pipe} memory {memory}: {status} {found} not {ids} {duplicates} {disorder} {again}")
    number += 1
    print(("ok" if not wrong else "not ok"), number, "-", sentence)
    for line in wrong:
        print("#", line)

hexadecimal = functools.cache(lambda line: int(line, 16))
uuid_value = functools.cache(lambda line: int(line.replace("-", ""), 16))
B62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
def base62(v):
    text = ""
    for _ in range(27):
        v, digit = divmod(v, 62)
        text = B62[digit] + text
    return text
@functools.cache
def from62(line):
    v = 0
    for c in line:
        v = v * 62 + B62.index(c)
    return v
n = 110000
kinds = {
    "decimals": ([], lambda: str(random.getrandbits(63)), int),
    "UUIDs": ([], lambda: str(uuid.UUID(int=random.getrandbits(128))), uuid_value),
    "160 bits": (["--scheme", "ksuid"], lambda: base62(random.getrandbits(160)), from62),
    "96 bits of hex": (["--from", "hex"], lambda: "%024x" % random.getrandbits(96), hexadecimal),
}
for kind, (options, make, value) in kinds.items():
    lines = [make() for _ in range(n)]
    compare(f"{kind} at random have no duplicates", options, lines, value)
    compare(f"{kind}: the first line is found again as the last", options, lines + [lines[0]], value)
    compare(f"{kind}: an adjacent one is found", options, lines[:777] + [lines[776]] + lines[777:], value)
    injected = list(lines)
    for _ in range(25):
        injected.insert(random.randrange(n), random.choice(lines))
    compare(f"{kind}: 25 injected duplicates are found, the first ten named", options, injected, value)
    compare(f"{kind}: a stream twice is all duplicates", options, lines[:20000] + lines[:20000], value)
    ordered = sorted(lines, key=value)
    compare(f"{kind} in order are in order", options, ordered, value)
    compare(f"{kind} in order, one of them twice", options, ordered[:5] + [ordered[4]] + ordered[5:], value)
    compare(f"{kind} in order, the first after the last", options, ordered + [ordered[0]], value)
    compare(f"{kind} backwards", options, ordered[::-1], value)
for kind, (options, make, value) in kinds.items():
    for count in range(240, 2400, 120): # a few IDs in each part
        lines = [make() for _ in range(count)]
        i, at = random.randrange(count), random.randrange(count)
        compare(f"{kind}: one injected duplicate among {count} is found", options, lines[:at] + [lines[i]] + lines[at:], value)
few = [str(random.randrange(1000)) for _ in range(n)]
compare("a thousand numbers again and again", [], few, int)
compare("one number for ever", [], ["7"] * n, int)
compare("the number 0 and others", [], ["0", "1", "0", "2", "0"], int)
cases = [random.choice((str.upper, str.lower))(str(uuid.UUID(int=random.getrandbits(12)))) for _ in range(5000)]
compare("UUIDs in mixed case", [], cases, uuid_value)
nearly = list(map(str, range(10**15, 10**15 + n)))
for _ in range(20):
    i = random.randrange(n - 1)
    nearly[i], nearly[i + 1] = nearly[i + 1], nearly[i]
compare("a stream that is nearly in order", [], nearly, int)
print(f"1..{number}")
END
if command -v python3 >/dev/null; then
    if python3 judge.py "$FIRN" >judged 2>&1; then :; fi
    while read -r line; do
        case $line in
        "ok "*) pass "${line#ok * - }" ;;
        "not ok "*) fail "${line#not ok * - }" "$(grep '^#' judged | cut -c 1-300)" ;;
        esac
    done <judged
    check "the judge came to its end" grep -q '^1\.\.[1-9]' judged
else
    skip "Python counts the same" "there is no python3"
fi

# ---- parts that do not fit the table together ----------------------------------------------------
# 1 MiB holds the UUIDs of no part: each is gone through several times.
n=4000000
"$FIRN" new uuid4 -n $n >uuids
sed -n "${n}p" uuids >last
cat last uuids >injected
ask check --memory 1M injected
same "a duplicate is found in 1 MiB among four million" "1 4000001 IDs, 1 duplicate
$(cat last)  line 1, again line 4000001" "$status $(printf '%s\n' "$out" | sed 's/, [0-9]* out of order//')"
same "from a pipe as well" "$out" "$(cat injected | "$FIRN" check --memory 1M)"
same "and in memory" "$out" "$("$FIRN" check injected)"
{ sed -n '2000000p' uuids; cat uuids; sed -n '1000000,1000003p' uuids; } >injected
same "five among four million, in memory" "5 duplicates" "$("$FIRN" check injected | sed -n 's/.* IDs, \(.*\), .*/\1/p')"
same "four million in memory have none" "4000000 IDs, 0 duplicates" "$("$FIRN" check uuids | sed 's/, [0-9]* out of order//')"
cat last uuids >injected
peak() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
if command -v python3 >/dev/null; then
    used=$(peak "$FIRN" check --memory 16M injected)
    if [ "$used" -lt 32768 ]; then pass "--memory 16M is kept"; else fail "--memory 16M is kept" "$used KiB"; fi
else
    skip "--memory 16M is kept" "there is no python3"
fi
rm -f uuids injected

# ---- several files -------------------------------------------------------------------------------
printf '1\n2\n' >a
printf '2\n1\n' >b
: >c
ask check a c b
same "duplicates are printed with their files" "1 4 IDs, 2 duplicates, 1 out of order
2  a: line 2, again b: line 1
1  a: line 1, again b: line 2" "$status $out"
printf '1\n3\n' >a
printf '2\n4\n' >b
says "the order is checked within each file" "4 IDs, 0 duplicates, 0 out of order" check --sorted a b
same "one of them may be standard input" "4 IDs, 0 duplicates, 0 out of order" "$(cat a | "$FIRN" check - b)"
printf '9\n1\n3\n' >a
same "read from its position" "2 IDs, 0 duplicates, 0 out of order" "$({ read -r _; cat; } <a | "$FIRN" check)"
printf '1\nx\n' >b
refuses "a bad line is reported with its file" 1 "b: line 2: 'x'" check a b
finish
