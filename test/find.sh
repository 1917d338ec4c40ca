# SPDX-License-Identifier: MIT
# `firn show --find`: the IDs found in any text, the words left out, byte by byte the same output however the input is cut,
# filters, colours, objects; long lines, zero bytes, a closed pipe. Python's regular expressions find the UUIDs a second time.
. test/command.tap
cd "$TMPDIR" || exit 1

seven=0190163d-8694-739b-aea5-966c26f8ad91
note=$("$FIRN" show --json $seven | jq -r '"[\(.scheme) \(.time)]"')
four=7d444840-9dc0-4ac8-8c42-5aeae0ac6e1d

# found SENTENCE WANTED TEXT ARGS...: printf TEXT through firn show --find.
found() {
    sentence=$1
    wanted=$2
    # shellcheck disable=SC2059 # a format on purpose
    printf "$3" >text
    shift 3
    same "$sentence" "$wanted" "$("$FIRN" show --find "$@" <text 2>&1)"
}

# ---- finding -------------------------------------------------------------------------------------
found "a UUID gets its scheme and its time, and the line stays" "a $seven $note b" "a $seven b\n"
found "an ID without a time gets its scheme" "$four [uuid4]" "$four\n"
found "a last line without an end keeps none" "x $seven $note" "x $seven"
printf 'x %s' "$seven" | "$FIRN" show --find | od -c | tail -n 1 >size
same "nor an added one" "$(printf 'x %s %s' "$seven" "$note" | wc -c)" "$(printf '%d' "0$(cat size)")"
for text in "id=$seven," "{$seven}" "urn:uuid:$seven" "\"$seven\"" "/$seven/" "req-$seven" "dump_$seven.gz" "$seven-1" "[$seven]" \
    "\\\\n$seven" "\\\\u003d$seven" "C:\\\\$seven" "id%%3D$seven" "\033[1m$seven" "\033[38;5;33m$seven"; do
    # shellcheck disable=SC2059
    printf "$text\n" >text
    same "a UUID is found in $text" "uuid7" "$("$FIRN" show --find --json text | jq -r .scheme)"
done
for pair in "ulid 01ARYZ6S41TSV4RRFFQ69G5FAV" "ksuid 0ujtsYcgvSTl8PAuAdqWYSMnLOv" "xid 9m4e2mr0ui3e8a215n4g" \
    "objectid 507f1f77bcf86cd799439011" "typeid user_01h455vb4pex5vsknk084sn02q" "typeid my_user_01h455vb4pex5vsknk084sn02q" \
    "scru128 036z9mdrx6v4w4jh2tq9k3f6z" "timeflake $("$FIRN" pack timeflake time=2024-01-01 random=12345)" \
    "uuid7 0190163d-8694-739b-aea5-966c26f8ad91"; do
    same "$pair is found by its shape" "${pair% *} ${pair#* }" \
        "$(echo "at ${pair#* }: done" | "$FIRN" show --find --json | jq -r '"\(.scheme) \(.id)"')"
done
same "32 hex digits are a UUID if its time is one of today's" "uuid7 32" \
    "$(echo "$seven $four" | tr -d - | "$FIRN" show --find --json | jq -r '"\(.scheme) \(.length)"')"
same "each of three in a line is found" "uuid7 uuid4 uuid7" \
    "$(echo "$seven,$four;$seven" | "$FIRN" show --find --json | jq -r .scheme | paste -sd' ')"

odd=$(printf 'seven_ch"\\ \t\b\f\r\n\001\037\177\303\251 12345678"')
echo $seven | tee "$odd" >plain
"$FIRN" show --find --json "$odd" plain >object
same "every character of a file's name is quoted" "$odd" "$(jq -r 'select(.file != "plain").file' object)"
same "as few as JSON needs" 'seven_ch\"\\ \t\b\f\r\n\u0001\u001F'"$(printf '\177\303\251 12345678')"'\"' \
    "$(head -n 1 object | sed 's/^{"file":"\(.*\)","line".*/\1/')"

# ---- what is not ---------------------------------------------------------------------------------
for text in "" 1541815603606036480 1732290000123 1732290000123456789 deadbeefdeadbeefdeadbeefdeadbeef \
    da39a3ee5e6b4b0d3255bfef95601890afd80709 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 internationalization \
    aaaaaaaaaaaaaaaaaaaaaaaaaaaa "${seven}0" "0$seven" "${seven%?}" "$(echo $seven | tr - _)" 01ARYZ6S41TSV4RRFFQ69G5FA \
    91ARYZ6S41TSV4RRFFQ69G5FAV 192.168.100.200 +491701234567 2024-06-14T12:45:05.556Z; do
    echo "$text" >text
    same "nothing is found in '$text'" "1 $text" "$("$FIRN" show --find text >out; echo "$? $(cat out)")"
done
flake=1541815603606036480
same "but a note says that integers may be IDs" \
    "firn: note: 2 integers of 15 to 20 digits may be IDs: add --scheme NAME, or --all to guess the schemes" \
    "$(echo "$flake 12345678 $flake" | "$FIRN" show --find 2>&1 >/dev/null)"
same "and nothing if an ID was found, or with --scheme" "" \
    "$({ echo "$flake $seven" | "$FIRN" show --find; echo "$flake" | "$FIRN" show --find --scheme ulid; } 2>&1 >/dev/null)"
found "an integer is found where --scheme names its scheme" "id=$flake [snowflake 2022-06-28T16:07:40.105Z], 17" \
    "id=$flake, 17\n" --scheme snowflake
found "unless its time is not of today" "4611686018427387904" "4611686018427387904\n" --scheme snowflake
found "or where --all finds it plausible, with a question mark" "id=$flake [snowflake? 2022-06-28T16:07:40.105Z]" "id=$flake\n" --all
found "which the time of a log is not" "1732290000123" "1732290000123\n" --all
found "--scheme finds no other scheme" "$seven $four [uuid4]" "$seven $four\n" --scheme uuid4
tsid=$("$FIRN" pack tsid time=2024-01-01 node=7 sequence=0)
found "--scheme finds the text form of the scheme" "$tsid [tsid 2024-01-01T00:00:00.000Z]" "$tsid\n" --scheme tsid
found "and a custom layout" "104333312 [layout 2024-01-02T04:18:08Z]" "104333312\n" \
    --scheme "time:28/s@@2024-01-01 node:6 sequence:4"

push=$("$FIRN" pack pushid time=2024-01-01 random=12345)
hex=$("$FIRN" convert --to hex --scheme pushid -- "$push")
found "and IDs of pushid in hex" "at $push $hex [pushid 2024-01-01T00:00:00.000Z]" "at $push $hex\n" --scheme pushid --from hex
found "and hexadecimal IDs of a scheme that is written in decimal" "1565a11f6217a000 [snowflake 2022-06-28T16:07:40.105Z]" \
    "1565a11f6217a000\n" --scheme snowflake

# ---- filters -------------------------------------------------------------------------------------
"$FIRN" range uuid7 2024-01-01 2024-01-02 >two
one=$(head -n 1 two)
printf 'first %s\nnone\nsecond %s, %s\n%s\nlast' "$one" "$seven" "$one" "$four" >text
same "--since prints the lines with an ID of that time or later" "second $seven $note, $one" \
    "$("$FIRN" show --find --since 2024-06-01 text)"
same "--until excludes its own time" "first $one [uuid7 2024-01-01T00:00:00.000Z]
second $seven, $one [uuid7 2024-01-01T00:00:00.000Z]" "$("$FIRN" show --find --until 2024-01-01T00:00:00.001Z text)"
same "and excludes it" 1 "$("$FIRN" show --find --until 2024-01-01 text >out; echo "$?$(cat out)")"
same "with --json as well" "3 8" "$("$FIRN" show --find --json --since 2024-06-01 text | jq -r '"\(.line) \(.column)"')"
same "line and column of each, and the file" "text 1 7
text 3 8
text 3 46
text 4 1
two 1 1
two 2 1" "$("$FIRN" show --find --json text two | jq -r '"\(.file) \(.line) \(.column)"')"

# ---- refusals ------------------------------------------------------------------------------------
refuses "--since alone is for --find" 2 "--since applies to --find: add --find" show --since 2024-01-01
refuses "an invalid time" 2 "--until soon: " show --find --until soon
refuses "a time span that is empty" 2 "is not before --until" show --find --since 2024-01-02 --until 2024-01-01
refuses "--since with a scheme without a time" 2 "uuid4 have no time" show --find --scheme uuid4 --since 2024-01-01
refuses "a scheme whose IDs are not words" 2 "IDs that contain - and _, as pushid has" show --find --scheme pushid
refuses "--all with a scheme" 2 "leave --all out" show --find --all --scheme uuid7
refuses "--from without --scheme" 2 "add --scheme NAME" show --find --from hex
refuses "a file that is not there" 6 "cannot read nowhere: No such file" show --find nowhere
refuses "a folder" 6 "cannot read .: Is a directory" show --find .
same "a folder as standard input" "6 firn: cannot read standard input: Is a directory: choose a readable file" \
    "$("$FIRN" show --find <. 2>err; echo "$? $(cat err)")"
refuses "order numbers cannot be found" 2 "order needs a key" show --find --scheme order
refuses "a key" 2 "--key-file" show --find --key-file x

# ---- colours -------------------------------------------------------------------------------------
same "--color=always colours the ID and the note, and nothing else" \
    "$(printf 'a \033[1m%s\033[0m \033[38;5;33m%s\033[0m b' "$seven" "$note")" \
    "$(echo "a $seven b" | COLORTERM=1 "$FIRN" show --find --color=always)"

# ---- any bytes, however they come ------------------------------------------------------------------
cat >judge.py <<'END'
import json, os, random, re, subprocess, sys, time, uuid
firn = sys.argv[1]
cases = 8 if "-address/" in firn else 40 # the sanitizer starts slowly
random.seed(20261122)
ids = [b"0190163d-8694-739b-aea5-966c26f8ad91", b"01ARYZ6S41TSV4RRFFQ69G5FAV", b"user_01h455vb4pex5vsknk084sn02q",
       b"507f1f77bcf86cd799439011", b"7D444840-9DC0-4AC8-8C42-5AEAE0AC6E1D", b"1541815603606036480"]
glue = [b" ", b"\n", b"-", b"_", b"a", b"Z", b"0", b"\0", b"\xff", b"=", b"\r\n", b"%3D", b"\\n", b"\033[1m", b"x" * 70, b"_-" * 90, b"a" * 300]

def run(args, text, cut=None):
    process = subprocess.Popen([firn, "show", "--find", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if cut is None:
        return process.communicate(text)[0]
    out, at = [], 0
    import threading
    reader = threading.Thread(target=lambda: out.append(process.stdout.read()))
    reader.start()
    while at < len(text):
        step = random.randrange(1, cut)
        process.stdin.write(text[at:at + step])
        process.stdin.flush()
        at += step
        if random.random() < 0.2:
            time.sleep(0.0005)
    process.stdin.close()
    reader.join()
    process.wait()
    return out[0]

def strip(text):
    return re.sub(rb" \[[a-z0-9-]+\??( [0-9TZ:.-]+)?\]", b"", text)

for case in range(cases):
    pieces = [random.choice(ids if random.random() < 0.4 else glue) for _ in range(random.choice([5, 50, 3000, 20000]))]
    text = b"".join(pieces)
    for args in ([], ["--scheme", "snowflake"], ["--all"]):
        out = run(args, text)
        if strip(out) != text:
            print("bytes were lost or added", case, args)
        if len(text) < 20000 and run(args, text, 90) != out:
            print("another cut has another output", case, args)
        objects = [json.loads(line) for line in run(args + ["--json"], text).splitlines()]
        lines = text.split(b"\n")
        for o in objects:
            place = lines[o["line"] - 1][o["column"] - 1:]
            if o["length"] == len(o["id"]) and not place.lower().startswith(o["id"].lower().encode()):
                print("not at its place", case, o)
        if len(objects) != out.count(b"Z]") + out.count(b"[uuid4]"):
            print("not as many objects as notes", case, args)
    limited = run(["--since", "2020-01-01"], text)
    wanted = [line for line in run([], text).splitlines(keepends=True) if re.search(rb"\[[a-z0-9-]+ 202", line)]
    if [re.sub(rb" \[[a-z0-9-]+( 201[0-9TZ:.-]+)?\]", b"", l) for l in wanted] != \
       [l for l in limited.split(b"\n") and limited.splitlines(keepends=True)] and b"\r" not in text and b"\0" not in text:
        print("other lines with --since", case)

# UUIDs by another judge, in text of random bytes.
for case in range(cases // 2):
    text = b"".join(random.choice([str(uuid.UUID(int=random.getrandbits(128), version=4)).encode(), re.sub(rb"[\\%[]", b" ", random.randbytes(9)), b"-", b"7"])
                    for _ in range(400))
    wanted = [m.group().decode() for m in re.finditer(
        rb"(?<![0-9A-Za-z])[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?![0-9A-Za-z])", text)]
    got = [json.loads(l)["id"] for l in run(["--json"], text).splitlines()]
    if [g for g in got if "-" in g] != wanted:
        print("other UUIDs", case, set(got) ^ set(wanted))

# Very long lines, in time that grows with their length only.
def seconds(text):
    begun = time.process_time(), os.times().children_user
    run([], text)
    return os.times().children_user - begun[1]
for unit in (b"a", b"0", b"-", b"_a", b"0190163d-", b"0190163d-8694-739b-aea5-966c26f8ad91", b"\033[1", b"z_" * 40, b"%3"):
    text = unit * (8_000_000 // len(unit))
    if seconds(text) > 20:
        print("slow", unit)
END
same "all other bytes are copied unchanged, and each ID is found at its place" "" "$(python3 judge.py "$FIRN" 2>&1)"
yes "$seven" | head -n 300000 >many
same "a closed pipe is not a failure" "0 $seven $note" "$("$FIRN" show --find many >pipe.out 2>err; "$FIRN" show --find many 2>>err | head -n 1 >line; echo "$? $(cat err line)")"
head -c 64M /dev/zero >zeros
peak() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$FIRN" show --find "$1"
}
check "memory is bounded for a line of any length" [ "$(peak zeros)" -lt $(($(peak two) + 8192)) ]
mkfifo pipe
"$FIRN" show --find <pipe >answer &
pid=$!
exec 3>pipe
printf '%s\npart' "$seven" >&3
check "a line is answered before the next one comes" sh -c "
    for i in \$(seq 1 600); do grep -q 'uuid7' answer && exit 0; sleep 0.05; done; exit 1"
exec 3>&-
wait $pid
same "and the rest follows" "$seven $note
part" "$(cat answer)"
finish
