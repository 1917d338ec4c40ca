# SPDX-License-Identifier: MIT
# pack, show, range, convert and schemes: known answers and refusals. They are pure, so each prints the same every time.
. test/command.tap

# piped SENTENCE OUT STATUS INPUT ARGS...: standard input is what printf makes of INPUT.
piped() {
    sentence=$1
    wanted=$2
    code=$3
    # shellcheck disable=SC2059 # a format on purpose
    printf "$4" >"$TMPDIR/stdin"
    shift 4
    out=$("$FIRN" "$@" 2>"$TMPDIR/stderr" <"$TMPDIR/stdin")
    status=$?
    err=$(cat "$TMPDIR/stderr")
    if [ "$status" = "$code" ] && [ "$out" = "$wanted" ]; then
        pass "$sentence"
    else
        fail "$sentence" "$(printf 'wanted: %s %s\n' "$code" "$wanted"; told)"
    fi
}

# ---- pack ----------------------------------------------------------------------------------------
flake=1541815603606036480
uuid1=c232ab00-9414-11ec-b3c8-9f6bdeced846
says "pack snowflake" $flake pack snowflake time=2022-06-28T16:07:40.105Z datacenter=11 worker=26 sequence=0
says "pack takes hex, and the fields in any order" $flake pack snowflake sequence=0x0 worker=0x1A datacenter=11 tick=367597485448
says "pack takes an offset, and seconds since 1970" $flake pack snowflake time=@1656432460.105 datacenter=11 worker=26 sequence=0
says "pack cuts finer digits towards the past" $flake \
    pack snowflake time=2022-06-28T18:07:40.105999999+02:00 datacenter=11 worker=26 sequence=0
says "pack uuid1 with a colon-hex node" $uuid1 pack uuid1 time=2022-02-22T19:22:22Z clock_seq=13256 node=9f:6b:de:ce:d8:46
says "pack with another epoch" 4294967296 pack snowflake epoch=2024-01-01 time=2024-01-01T00:00:01.024Z datacenter=0 worker=0 sequence=0
says "pack with other widths" 2097152 pack baidu bits=29/21/13 tick=0 worker=256 sequence=0
says "pack typeid with a prefix" user_0000000000e0080000000000g0 pack typeid prefix=user tick=0 sequence=0 random=512
says "the empty prefix has no _" 0000000000e0080000000000g0 pack typeid prefix= tick=0 sequence=0 random=512
says "pack writes another form" 1565a11f62000000 pack snowflake tick=0x5596847d88 datacenter=0 worker=0 sequence=0 --as hex
piped "pack - reads a line a set" "4198401
8392705" 0 'tick=1 datacenter=0 worker=1 sequence=1\ntick=2  datacenter=0\tworker=1 sequence=1' pack snowflake -
piped "pack - stops at a bad line" 4198401 2 'tick=1 datacenter=0 worker=1 sequence=1\ntick=2 worker=1\n' pack snowflake -
same "and names line and field" "firn: line 2: snowflake needs datacenter: set datacenter=VALUE" "$err"
piped "pack - --keep-going puts an error in its place" "4198401
error: worker 32 is out of range (0 to 31, 5 bits of snowflake): choose a smaller number
8392705" 1 'tick=1 datacenter=0 worker=1 sequence=1\nworker=32\ntick=2 datacenter=0 worker=1 sequence=1\n' pack snowflake - --keep-going
piped "no input gives no ID" "" 0 "" pack snowflake -
# packed_as TIME FORM: the ID of that time, and the notes
packed_as() {
    "$FIRN" pack tsid time="$1" node=0 sequence=0 --as "$2" 2>&1
}
same "the last positive number causes no note" 9223372036850581504 "$(packed_as 2089-09-06T15:47:35.551Z dec)"
same "a negative number does" "firn: note: this ID is negative as a signed number, and sorts before IDs of earlier times: use the form unsigned or hex
-9223372036854775808" "$(packed_as 2089-09-06T15:47:35.552Z dec | sort -r)"
same "and its unsigned form does not" 9223372036854775808 "$(packed_as 2089-09-06T15:47:35.552Z unsigned)"
refuses "a missing field is named" 2 "needs sequence" pack snowflake tick=1 datacenter=1 worker=1
refuses "an unknown field is named, and its neighbour" 2 "wroker.*worker" pack snowflake wroker=1
refuses "a field given twice is refused" 2 "worker is given twice" pack snowflake worker=1 worker=2
refuses "time and tick cannot be combined" 2 "time is set twice" pack snowflake time=@1656432460 tick=5
refuses "a constant cannot be given" 2 "version is a constant" pack uuid7 version=7
refuses "a field past its end is refused with its bound" 1 "worker 32 is out of range .0 to 31" pack snowflake worker=32
refuses "a field that is not a number is usage" 2 "worker=x is not a number" pack snowflake worker=x
refuses "a time before the epoch is a no" 1 "2010-11-04T01:42:54.657" pack snowflake time=2009-01-01
refuses "a time at the end is a no" 1 "2080-07-10T17:30:30.209" pack snowflake time=2080-07-10T17:30:30.209Z
refuses "an invalid time is a usage error" 2 "time=soon: character 1" pack snowflake time=soon
refuses "a word that is not a field is refused" 2 "'hello' is not a field" pack snowflake hello
refuses "pack - takes no other fields" 2 "worker=1" pack snowflake - worker=1
refuses "pack without a scheme is usage" 2 "needs a SCHEME" pack
for prefix in _user user_ User us3r "$(printf '%064d' 0 | tr 0 a)"; do
    refuses "prefix=$(printf %.9s "$prefix") is not valid" 2 "is not a valid prefix" pack typeid prefix="$prefix" tick=0 sequence=0 random=0
done
refuses "a prefix is for typeid" 2 "prefix=user applies to the form typeid, not uuid: leave" pack uuid7 prefix=user

# ---- show ----------------------------------------------------------------------------------------
says "show lists each field with its place" "$flake  snowflake, 64 bits, dec
  time        2022-06-28T16:07:40.105Z  bits 62..22
  datacenter  11                        bits 21..17
  worker      26                        bits 16..12
  sequence    0                         bits 11..0
  note: Twitter's layout; firn numbers the nodes datacenter * 32 + worker" show --scheme snowflake $flake
says "show --json is the object of the design" '{"id":"1541815603606036480","scheme":"snowflake","bits":64,"time":"2022-06-28T16:07:40.105Z","unix_ns":"1656432460105000000","fields":{"datacenter":11,"worker":26,"sequence":0},"candidates":["snowflake"],"sure":"named"}' \
    show --json --scheme snowflake $flake
says "addresses are colon-hex, named constants appear" '{"id":"c232ab00-9414-11ec-b3c8-9f6bdeced846","scheme":"uuid1","bits":128,"time":"2022-02-22T19:22:22.0000000Z","unix_ns":"1645557742000000000","fields":{"version":1,"variant":2,"clock_seq":13256,"node":"9f:6b:de:ce:d8:46"},"candidates":["uuid1"],"sure":"named"}' \
    show --json --scheme uuid1 $uuid1
same "without a name the best is first" uuid1 "$("$FIRN" show --json $uuid1 | jq -r '.scheme')"
random=0102030405060708090a0b0c0d0e0f10
same "random bits are always full-width hex" 0x0102030405060708090a0b0c0d0e0f10 \
    "$("$FIRN" show --json --scheme ksuid --from hex 0000000a$random | jq -r .fields.random)"
same "a scheme without time has none" "null null" \
    "$("$FIRN" show --json 7d444840-9dc0-4ac8-8c42-5aeae0ac6e1d | jq -r '"\(.time) \(.unix_ns)"')"
same "uuid4 has its version" uuid4 "$("$FIRN" show --json 7d444840-9dc0-4ac8-8c42-5aeae0ac6e1d | jq -r .scheme)"
same "nil is nil" nil "$("$FIRN" show --json 00000000-0000-0000-0000-000000000000 | jq -r .scheme)"
same "a time before 1970 has its unix_ns" -12219292800000000000 \
    "$("$FIRN" show --json --scheme uuid1 00000000-0000-1000-8000-000000000000 | jq -r .unix_ns)"
same "years above 9999 have a sign" +10889-08-02T05:31:50.655Z \
    "$("$FIRN" show --json --scheme uuid7 ffffffff-ffff-7fff-bfff-ffffffffffff | jq -r .time)"
same "the best is first among the candidates" "uuid7 typeid likely" "$("$FIRN" show --json 0190163d-8694-739b-aea5-966c26f8ad91 | jq -r '"\(.candidates | join(" ")) \(.sure)"')"
same "--epoch moves the time" 2031-08-25T14:24:45.448Z \
    "$("$FIRN" show --json --scheme snowflake --epoch 2020-01-01T01:00:00+01:00 $flake | jq -r .time)"
same "--bits moves the fields" "5 256" "$("$FIRN" show --json --scheme baidu --bits 29/21/13 2097157 | jq -r '"\(.fields.sequence) \(.fields.worker)"')"
same "a negative number is an ID, not an option" 1023 "$("$FIRN" show --json --scheme region -5 | jq .fields.worker)"
same "so it follows --" 1023 "$("$FIRN" show --json --scheme region -- -5 | jq .fields.worker)"
printf '01a1fc70-20f2-7485-8438-5d030bbc8faf\r\n01a1fc70-20f2-7485-8438-5d030bbc8faf' >"$TMPDIR/ids"
same "standard input is read by lines, with or without a carriage return" "uuid7 uuid7" \
    "$("$FIRN" show --json <"$TMPDIR/ids" | jq -r .scheme | paste -sd' ')"
piped "show stops at a bad line" "" 1 '01a1fc70\n' show --scheme uuid7
same "and says which character" "firn: line 1: '01a1fc70': text ends after 8 characters: uuid has 36 characters" "$err"
piped "show --keep-going continues" 'error: '"'x'"': character 1 of 1 is '"'x'"': a decimal digit is needed
1  snowflake, 64 bits, dec
  time        2010-11-04T01:42:54.657Z  bits 62..22
  datacenter  0                         bits 21..17
  worker      0                         bits 16..12
  sequence    1                         bits 11..0
  note: Twitter'"'"'s layout; firn numbers the nodes datacenter * 32 + worker' 1 'x\n1\n' show --scheme snowflake --keep-going
piped "with --json the error is an object" '{"error":"'"'x'"': character 1 of 1 is '"'x'"': a decimal digit is needed"}' 1 'x\n' \
    show --scheme snowflake --keep-going --json
piped "a line of any length is one bad line" "error: the line is longer than 4095 bytes: shorten it
error: the ID '': the text is empty: dec of 64 bits has at most 20 digits" 1 "$(printf '%070000d' 1)\n\n" show --scheme snowflake --keep-going
piped "a byte order mark before the first line is read over" "0000000000000001
0000000000000002" 0 '\357\273\2771\n2\n' convert --from dec --scheme snowflake --to hex
piped "an empty line is not an ID" "error: the ID is empty: give one" 1 '\n' show --keep-going
piped "a zero byte is not a text" "error: the line contains a zero byte: send text, as UTF-8 and not UTF-16" 1 '1\0002\n' show --scheme snowflake --keep-going
refuses "an ID of no scheme is a no" 1 "'hello!' is not an ID" show 'hello!'
refuses "a version that is another scheme's is a no" 1 "version" show --scheme uuid7 7d444840-9dc0-4ac8-8c42-5aeae0ac6e1d
refuses "an ID of another width is a no" 1 "at most 20 digits" show --scheme snowflake 340282366920938463463374607431768211455
refuses "--epoch needs a scheme" 2 "need --scheme NAME" show --epoch 2020-01-01 $flake
refuses "an unknown form is a usage error" 2 "no form 'hexx'" show --from hexx $flake
refuses "a form of other widths is usage" 2 "an ID of 64 bits has no form uuid: use another" show --from uuid --scheme snowflake $flake
refuses "an unknown scheme is a usage error" 2 "did you mean .snowflake" show --scheme snowflak $flake

# ---- range ---------------------------------------------------------------------------------------
says "settings may come before the scheme" 0EP7TRC000400 pack --epoch 2020-01-01 node=1 tsid time=2024-01-01 sequence=0
says "range of a day" "1741610183685046272
1741972571550646271" range snowflake 2024-01-01 2024-01-02
says "range covers the ticks that the interval touches" "1741610183685046272
1741610183693434879" range snowflake 2024-01-01T00:00:00.0005Z 2024-01-01T00:00:00.0011Z
says "range of a node in front of the time" "45509624945704960
45509978840104959" range seata 2024-01-01 2024-01-02 worker=5
says "range of uuid7" "018cc251-f400-7000-8000-000000000000
018cc778-4fff-7fff-bfff-ffffffffffff" range uuid7 2024-01-01 2024-01-02
says "range writes another form" "182b713c0fc00000
182b713c0fffffff" range snowflake 2024-01-01 2024-01-01T00:00:00.001Z --as hex
refuses "an empty range is usage" 2 "time span is empty" range uuid7 2024-01-02 2024-01-02
refuses "a range with an invalid time is a usage error" 2 "FROM .tomorrow.: character 1" range uuid7 tomorrow 2024-01-02
refuses "so is one with an invalid end" 2 "TO .tomorrow.: character 1" range uuid7 2024-01-02 tomorrow
refuses "a range past the layout is a no" 1 "TO 2081-.* is outside the range of snowflake" range snowflake 2080-01-01 2081-01-01
refuses "so is a range before it" 1 "FROM 2001-.* is outside the range of snowflake" range snowflake 2001-01-01 2081-01-01
refuses "the end of the layout is in no range, but ends one" 1 "TO 2080-07-10T17:30:30.209Z is outside" \
    range snowflake 2080-01-01 2080-07-10T17:30:30.209001Z
refuses "a range of a node in front needs it" 2 "set worker=VALUE" range seata 2024-01-01 2024-01-02
for scheme in uuid1 lable-spread locality uuid4; do
    refuses "a range of $scheme is refused with what to do" 2 ": " range $scheme 2024-01-01 2024-01-02
done
refuses "a range with one time is a usage error" 2 "needs SCHEME FROM TO" range uuid7 2024-01-01

# ---- convert -------------------------------------------------------------------------------------
says "uuid1 to uuid6" 1ec9414c-232a-6b00-b3c8-9f6bdeced846 convert --to uuid6 $uuid1
says "and back" $uuid1 convert --to uuid1 1ec9414c-232a-6b00-b3c8-9f6bdeced846
says "uuid1 to what MySQL stores" 11ec9414c232ab00b3c89f6bdeced846 convert --to uuid1-swapped $uuid1
says "and back, named" $uuid1 convert --to uuid1 --scheme uuid1-swapped 11ec9414c232ab00b3c89f6bdeced846
while read -r form small wide; do
    says "64 bits as $form" "$small" convert --scheme snowflake --to "$form" $flake
    says "and back" $flake convert --scheme snowflake --from "$form" --to dec "$small"
    says "128 bits as $form" "$wide" convert --to "$form" $uuid1
    says "and back from there" $uuid1 convert --scheme uuid1 --from "$form" --to uuid "$wide"
done <<TABLE
dec $flake 258133314363070689776975542038781941830
hex 1565a11f6217a000 c232ab00941411ecb3c89f6bdeced846
base32 1ASD13XH1F800 626ANG150M27PB7J4ZDFFCXP26
base32hex 2liq27r22ug00 o8pam04k2g8upcu8jtlttjmo8o
base36 0BPPC0M3JU134 BHW3F9QSZLQPYH8GTZ35HZ4UE
base58 4aaW4SzAyQK Qys2KsgsAKw9ZKupo76FCh
base62 1ptWyK4WgZU 5uRfL2yjhnArtoQfhtK5hO
TABLE
says "a URN" urn:uuid:$uuid1 convert --to urn $uuid1
says "braced" "{$uuid1}" convert --to braced urn:uuid:$uuid1
says "upper case is read, lower case written" $uuid1 convert --to uuid "$(echo $uuid1 | tr a-f A-F)"
says "several are converted in turn" "0000000000000001
0000000000000002" convert --scheme snowflake --to hex 1 2
refuses "another content is refused" 2 "whose fields differ: keep its bits in a form such as hex" convert --to snowflake $uuid1
refuses "a form of another width is refused" 2 "has no form uuid" convert --scheme snowflake --to uuid 5
refuses "convert without --to is usage" 2 "needs --to" convert $uuid1
refuses "--to what is neither is usage" 2 "'hexx' is neither a form nor a scheme" convert --to hexx $uuid1

# ---- schemes -------------------------------------------------------------------------------------
says "schemes draws the bits" "tsid, 64 bits, text: base32

  63                                                            32
  +---------------------------------------------------------------+
  |                          time 41..10                          |
  +---------------------------------------------------------------+
  31                  21                  11                     0
  +-------------------+-------------------+-----------------------+
  |     time 9..0     |      node:10      |      sequence:12      |
  +-------------------+-------------------+-----------------------+

  time           42  time      at most 4398046511103, bits 63..22
  node           10  node      at most 1023, bits 21..12
  sequence       12  sequence  at most 4095, bits 11..0

  tick    ms
  epoch   2020-01-01T00:00:00Z
  ends    2159-05-15T07:35:11.104Z, the first time that does not fit
          as a signed integer (--as dec) at 2089-09-06T15:47:35.552Z: from then
          on IDs are negative, and refused unless unsigned=1
  node    node: given, ordinal or claimed; reserved in a store
  outage  claimed nodes issue for 5 to 10 s without their store; in a namespace
          with reach=10min for 9.5 to 10 min, and then a node stays busy for as
          long after a crash
  sorts   yes: the order of IDs is the order of issue
  start   zero: the first sequence number of a tick
  layout  time:42/ms@@2020-01-01T00:00:00Z node:10 sequence:12
  source  github.com/f4b6a3/tsid-creator, TSID with 1024 nodes" schemes tsid
while read -r name end; do
    same "$name ends when its table says" "$end" "$("$FIRN" schemes --json "$name" | jq -r .end)"
done <<TABLE
snowflake 2080-07-10T17:30:30.209Z
leaf 2080-07-10T17:30:30.209Z
seata 2090-01-07T07:47:35.552Z
region 2045-09-06T21:36:42.433Z
instagram 2046-06-27T17:00:49.497Z
simpleflake 2034-11-04T00:53:47.776Z
baidu 2024-11-20T13:24:16Z
tid 2255-06-05T23:47:34.740992Z
lable-spread 2109-05-15T07:35:11.104Z
flake null
objectid 2106-02-07T06:28:16Z
uuid1 5236-03-31T21:21:00.6846976Z
uuid7 +10889-08-02T05:31:50.656Z
TABLE
same "a slice with groups of 0 bits is a plain one, and the last of several counts" "$("$FIRN" schemes --json "time:41/ms node:10 sequence:12" | jq -r .layout)" \
    "$("$FIRN" schemes --json "time~0:41/ms node~5~0:10 sequence~00:12" | jq -r .layout)"
refuses "a slice without the number of its groups is refused" 2 "a number from 0 to 127 must follow @ and ~" schemes "time:41/ms node~:10 sequence:12"
refuses "groups that do not fit are refused" 2 "a mirrored slice must have whole groups" schemes "time:41/ms node~3:10 sequence:12"
wide="time:62/100ns@@2020-01-01 node:4 sequence:12"
ended=$("$FIRN" schemes "$wide" | sed -n 's/^  issued  before \([^ ]*\):.*/\1/p')
same "an object says when the slots of a wide sequence end, as the drawing does" "$ended" \
    "$("$FIRN" schemes --json "$wide" | jq -r .slots_end)"
check "it is a time" sh -c 'printf %s "$1" | grep -qE "^20[0-9]{2}-.*Z\$"' sh "$ended"
same "an object and its drawing agree about every scheme" "" "$("$FIRN" schemes --json | jq -r '"\(.name) \(.slots_end != null)"' |
    while read -r name ends; do
        drawn=$("$FIRN" schemes "$name" | tr -s ' \n' ' ' | grep -q 'sequence bits pass 2^62' && echo true || echo false)
        [ "$drawn" = "$ends" ] || echo "$name $ends $drawn"
    done)"
check "no drawing is wider than 80 columns, except a layout in a pipe" sh -c "
    for name in \$('$FIRN' schemes --json | jq -r .name); do '$FIRN' schemes \$name; done |
        grep -v '^  layout  ' | awk 'length > 80 { print; bad = 1 } END { exit bad }'"
check "no name in a drawing is cut without a mark" sh -c "! '$FIRN' schemes snowflake | grep -F '|datacente|'"
refuses "an unknown scheme: the nearest name" 2 "did you mean .uuid7" schemes uuid77
refuses "--json and --markdown exclude each other" 2 "cannot be combined" schemes --json --markdown

# ---- slips ---------------------------------------------------------------------------------------
refuses "a field whose role is misspelt is not a node" 2 "seqence would be a part of the node: write sequence:BITS, or choose another name" new 'time:41/ms@@2024-01-01 node:10 seqence:12' node=1
refuses "nor is seq" 2 "seq would be a part of the node: write sequence:BITS, or choose another name" new 'time:41/ms@@2024-01-01 node:10 seq:12' node=1
refuses "nor one of 48 bits" 2 "randm would be a part of the node: write random:BITS, or choose another name" new 'time:41/ms@@2024-01-01 randm:48'
refuses "a constant and a field have different names" 2 "two slices are named node: give the constant another name" schemes 'node:10 time:41 sequence:4 node=3:9'
refuses "so have two constants" 2 "two slices are named v: give the constant another name" schemes 'v=1:4 v=2:4 time:41 node:10'
says "with a sequence it is one" 4194304 pack 'time:41/ms@@2024-01-01 sequencer:10 sequence:12' time=2024-01-01T00:00:00.001Z sequencer=0 sequence=0
refuses "capitals find their scheme" 2 "did you mean .ulid" new ULID
refuses "a typo in a number is not an ID of another scheme" 1 "is nearly a decimal number: character 20 of 20" show 1541815603606036480x
refuses "a form that cannot be guessed is not converted as another" 1 "is not an ID of a known scheme" convert "$("$FIRN" convert 0190163d-8694-739b-aea5-966c26f8ad91 --to base32hex)" --to uuid
says "but read when it is named" 0190163d-8694-739b-aea5-966c26f8ad91 convert "$("$FIRN" convert 0190163d-8694-739b-aea5-966c26f8ad91 --to base32hex)" --from base32hex --to uuid
same "- is standard input" hex "$(echo 1541815603606036480 | "$FIRN" convert - --to hex | grep -qxE '[0-9a-f]{16}' && echo hex)"
says "a range as an object" '{"least":"1741610183685046272","greatest":"1741972571550646271"}' range snowflake 2024-01-01 2024-01-02 --json
says "an ID that is built, as the object of show" "$("$FIRN" show --scheme snowflake --json $flake)" \
    pack snowflake time=2022-06-28T16:07:40.105Z datacenter=11 worker=26 sequence=0 --json
same "so from lines" "$("$FIRN" show --scheme snowflake --json 1 2)" \
    "$(printf 'tick=0 datacenter=0 worker=0 sequence=%s\n' 1 2 | "$FIRN" pack snowflake - --json)"
says "a converted ID, as the object of show with the text of the form" \
    "$("$FIRN" show --scheme snowflake --json $flake | jq -c '.id = "1565a11f6217a000"')" \
    convert --scheme snowflake --to hex $flake --json
says "of another scheme, as its object" "$("$FIRN" show --scheme uuid6 --json 1ec9414c-232a-6b00-b3c8-9f6bdeced846)" \
    convert --to uuid6 $uuid1 --json
same "a bad line is an object too" '{"error":"the ID is empty: give one"} status 1' \
    "$(echo | "$FIRN" convert --to hex --json --keep-going | tr '\n' ' ')status $(echo | "$FIRN" convert --to hex --keep-going >"$TMPDIR/bad"; echo $?)"
finish
