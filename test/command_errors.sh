# SPDX-License-Identifier: MIT
# Every class of failure: its exit status, and one line with what is wrong and what to do. Stores that fail are in
# command_store.sh, streams in command_stream.sh.
. test/command.tap

# ---- help ------------------------------------------------------------------------------------------
same "no line of any help is wider than 80 columns" "" "$(
    "$FIRN" --help | awk 'length > 80'
    for command in $({ "$FIRN" help && "$FIRN" lab; } | sed -nE 's/^  ([a-z]+)  .*/\1/p'); do "$FIRN" "$command" --help; done | awk 'length > 80')"

# ---- 2: usage ------------------------------------------------------------------------------------
refuses "a path is not a store, and the sentence says how to write one" 2 \
    "'/tmp/x.db' is not a kind of store: write sqlite:PATH for a file" new snowflake --store /tmp/x.db
refuses "no command" 2 "no command is given: firn help"
refuses "an unknown command has a neighbour" 2 "no command 'nwe': did you mean .firn new.[?]" nwe
refuses "a command far from all is sent to help" 2 "no command 'xyzzy': firn help" xyzzy
refuses "a command of firn in the laboratory" 2 "'new' is not in the laboratory: run .firn new." lab new uuid7
refuses "an unknown command in the laboratory has a neighbour" 2 "no command 'chose': did you mean .firn choose.[?]" lab chose
mkdir "$TMPDIR/alone"
cp "$FIRN" "$TMPDIR/alone/firn"
for words in "odds uuid7" "lab odds uuid7" "check --gaps"; do
    # shellcheck disable=SC2086 # words, to be split
    same "without the laboratory, firn $words says what to install" \
        "6 firn: '$(case $words in *odds*) echo odds ;; *) echo "$words" ;; esac)' is in the laboratory, which is not installed: install the package firn-lab (Debian), or put firn-lab next to firn, in $(printf '%.60s' "$TMPDIR/alone")" \
        "$(said=$("$TMPDIR/alone/firn" $words 2>&1); echo "$? $said")"
done
same "and help shows its commands" "$("$FIRN" lab && "$FIRN" odds --help)" "$("$TMPDIR/alone/firn" lab && "$TMPDIR/alone/firn" odds --help)"
refuses "an unknown option has a neighbour" 2 "new has no option '--jsn': did you mean .--json.[?]" new uuid7 --jsn
refuses "an option of another command is unknown" 2 "range has no option '--store'" range uuid7 2024-01-01 2024-01-02 --store x
refuses "an unknown letter" 2 "new has no option '-x'" new uuid7 -x
refuses "an ID that begins with a dash" 2 "show has no option '-P': see firn show --help, and write -- before an ID" show -P73U6rHwbjzcjH-xWkS
refuses "an option without its value" 2 "-n needs a value: --count COUNT" new uuid7 -n
refuses "an option that is yes or no" 2 "--json is yes or no, not 'maybe': write --json alone for yes" new uuid7 --json=maybe
refuses "a setting without its value" 2 "--node needs a value: see firn new --help" new snowflake --node
refuses "an unknown setting with dashes has a neighbour" 2 "new has no option '--nod': did you mean .--node.[?]" new snowflake --nod 3
refuses "an unknown field with dashes and a value is the scheme's affair" 2 "snowflake has no key or field 'gene'" new snowflake --gene=3 "$unsafe"
refuses "a setting given in both ways" 2 "node is given twice" new snowflake --node 5 node=6
refuses "an option given in both ways" 2 "--count is given twice" new uuid7 -n 1 count=2
refuses "a setting of the layout without a scheme prints nothing first" 2 "need --scheme NAME" show 1541815603606036480 epoch=2024-01-01
refuses "an option given twice" 2 "--count is given twice" new uuid7 -n 1 -n 2
refuses "new without a scheme" 2 "new needs a SCHEME" new
refuses "new with a word too many" 2 "'uuid4' is one argument too many" new uuid7 uuid4
refuses "an unknown scheme has a neighbour" 2 "no scheme 'snowflak': did you mean .snowflake.[?]" new snowflak
refuses "an unknown key has a neighbour" 2 "'wroker': did you mean .worker.[?]" new snowflake wroker=3 "$unsafe"
refuses "an unknown key of the generator too" 2 "'windowms'.*window" new snowflake windowms=3 "$unsafe"
refuses "a key near to nothing names the command that shows the fields" 2 "'machine': see .firn schemes. .*firn new --help" new snowflake machine=3 "$unsafe"
refuses "a layout has no such key" 2 "'machine': see .*firn new --help" new "time:41/ms node:10 sequence:12" machine=3 "$unsafe"
refuses "a scheme far from all names the command that lists them" 2 "no scheme 'qqqq': run firn schemes" new qqqq
# Each command and option of the list of cures must exist.
for word in $(sed -n '/^CURE(/,$p' common/cures.def | grep -oE 'firn [a-z]+|--[a-z-]+' | tr ' ' _ | sort -u); do
    case $word in
    firn_*) check "a cure may name the command ${word#firn_}" "$FIRN" "${word#firn_}" --help ;;
    *) check "a cure may name the option $word" sh -c 'for command in $("$1" help | sed -nE "s/^  ([a-z]+)  .*/\1/p"); do "$1" help "$command" all; done | grep -qe "$2"' sh "$FIRN" "$word" ;;
    esac
done
refuses "a start that is out of range, as it was written" 1 "start=random:0 is not valid: use random:N with N from 1 to 4096" new snowflake start=random:0 "$unsafe"
for time in yesterday '' now; do
    refuses "the time '$time' is answered with the forms of times" 2 "write 2024-01-31, 2024-01-31T12:00:00Z or @SECONDS since 1970" range snowflake "$time" 2024-01-01
done
for store in --store=sqlite:unused store=sqlite:unused; do
    ask new ulid "$store"
    same "a store that the scheme does not need causes a note: $store" "0 firn: note: ulid has no node to reserve, so it uses no store: remove --store" "$status $notes"
done
refuses "a key given twice" 2 "worker is given twice" new snowflake worker=1 worker=2
refuses "a key with a blank" 2 "contains a blank" new snowflake "ns=my orders"
refuses "an unknown form has a neighbour" 2 "no form 'uuidd': did you mean .uuid.[?]" new uuid7 --as uuidd
refuses "a form of other widths" 2 "an ID of 64 bits has no form uuid" new snowflake --as uuid
refuses "a store of no kind" 2 "foo" new snowflake --store foo:bar
refuses "an invalid policy" 2 "ordering=.*strict" new snowflake ordering=loose "$unsafe"
for count in -1 +1 1x 0x10 1.5 1e 1e-3 1e16 '' 9223372036854775808 99999999999999999999; do
    refuses "-n '$count' is refused with its bound" 2 "0 to 9223372036854775807, such as 1000, 50k or 1e6" new uuid7 -n "$count"
done
refuses "uuid5 needs its name" 2 "needs name=" new uuid5 namespace=dns
refuses "uuid5 needs its namespace" 2 "needs namespace=" new uuid5 name=x
refuses "an invalid namespace" 2 "dns, url, oid, x500 or a UUID" new uuid5 namespace=nds name=x
refuses "uuid5 takes nothing else" 2 "not 'node=3'" new uuid5 namespace=dns name=x node=3
refuses "uuid5 is one" 2 "exactly one ID for a name" new uuid5 namespace=dns name=x -n 2
refuses "time and tick at once" 2 "time= or tick=, not both" new uuid7 time=2024-01-01 tick=5
refuses "a time for a scheme without time" 2 "uuid4 has no time" new uuid4 time=2024-01-01
refuses "a row that adds up to nothing" 2 "" new "time:41 node"
refuses "help for what is not a command" 2 "no command 'nwe': did you mean .firn new.[?]" help nwe
refuses "help for two commands" 2 "'show' is one argument too many: help takes one command, and .all." help new show
refuses "a scheme in place of a command" 2 "no command 'uuid7': did you mean .firn new uuid7.[?]" uuid7
refuses "an ID in place of a command" 2 "no command '1541815603606036480': did you mean .firn show 1541815603606036480.[?]" 1541815603606036480
refuses "a letter with two dashes" 2 "new has no option '--n': did you mean .-n.[?]" new uuid7 --n 3
refuses "a number without -n" 2 "'3' is one argument too many: for the number of IDs, use -n 3" new uuid7 3
refuses "a word that nodes does not know" 2 "'snowflake' is not a verb of nodes: use firn nodes" nodes snowflake
refuses "a key that nodes does not know" 2 "nodes has no setting 'node=3': use ns=NAME or unsafe=1" nodes node=3
refuses "segment without a key" 2 "segment needs a NAME" segment
refuses "a segment whose name is not UTF-8" 2 "not UTF-8 at byte 2" segment "$(printf 'a\377')" "$unsafe"
refuses "a URL that is too long" 2 "the URL of the store has [0-9]* characters: use at most" segment k --store "sqlite:$(printf '%05000d' 1)"
refuses "segment with a key it does not know" 2 "did you mean .increment.[?]" segment orders incremnt=3 "$unsafe"
refuses "a measurement by no name" 2 "did you mean .uuid7.[?]" bench uuid77
refuses "a part of the name of an option" 2 "did you mean .--has-store.[?]" choose --store yes
refuses "a format that is not a scheme" 2 "'frostflake' is a format that firn reads, and not a scheme" new frostflake
refuses "epoch= that is not a time" 2 "epoch=soon" new snowflake epoch=soon
refuses "bits= that do not add up" 1 "bits=1/2/3" new baidu bits=1/2/3
refuses "bits= with too few widths" 2 "write one width per field of snowflake, as in time/datacenter/worker/sequence" new snowflake bits=41/10/12
refuses "bits= with too many" 2 "write one width per field of baidu" new baidu bits=28/22/12/1
refuses "bits= of a scheme without fields" 2 "nil has no fields" pack nil bits=1
refuses "a field of a scheme without fields" 2 "max has no fields, so not 'node'" pack max node=1
refuses "a setting without a scheme" 2 "pack needs a SCHEME" pack epoch=2020-01-01
refuses "also with schemes, which lists all without settings" 2 "changes one layout: add its SCHEME" schemes --epoch 2020-01-01
same "options may be anywhere, and -- ends them" 2 "$("$FIRN" convert --to hex --scheme tsid -- 0000000000001 0000000000002 | wc -l)"

# ---- 1: the answer is no -------------------------------------------------------------------------
refuses "a number past 128 bits" 1 "worker=9{60}\.\.\. is out of range .5 bits of snowflake" pack snowflake tick=1 datacenter=0 worker=$(printf '%070d' 0 | tr 0 9) sequence=0
refuses "nor is it a node" 1 "is out of range .0 to 1023, 10 bits" new snowflake node=$(printf '%039d' 0 | tr 0 9)9 "$unsafe"
refuses "a node past its end" 1 "worker 32 is out of range .0 to 31" new snowflake worker=32 "$unsafe"
refuses "a layout that has ended" 1 "2024-11-20T13:24:16" new baidu "$unsafe"
# Slots of a wide sequence end before its time does.
wide="time:62/100ns@@2024-01-01 node:4 sequence:12"
refuses "a layout whose slots have ended" 1 "has ended: from 20[0-9T:.-]*Z its slots pass 2\^62" new "time:62/100ns@@2020-01-01 node:4 sequence:12" "$unsafe"
same "they end at" "  issued  before 2027-07-27T02:59:50.6842623Z: from then on slots of 12 sequence" "$("$FIRN" schemes "$wide" | grep issued)"
refuses "the end of a layout leaves no room for more" 1 "0 of 1 back-dated IDs fit between that time and the end of the layout of tid" \
    new tid -n 4 time=2255-06-05T23:47:34.740990Z node=1 "$unsafe" -q
refuses "a time before the epoch" 1 "1970-01-01" new uuid7 time=1960-01-01
refuses "a time past the end" 1 "2150-06-19T23:21:36" new ksuid time=2200-01-01
refuses "the first time with a negative ID" 1 "2045-09-06T21:36:42.433" new region time=2045-09-06T21:36:42.433Z "$unsafe"
matches "which unsigned=1 allows" '-[0-9]+' new region time=2045-09-06T21:36:42.433Z unsigned=1 "$unsafe"
# The sign belongs to the form: schemes that are written in letters end earlier as signed integers.
for late in lable-sequential=2039-09-07T15:47:35.552 tsid=2089-09-06T15:47:35.552 discord=2084-09-06T15:47:35.552; do
    scheme=${late%=*}
    refuses "$scheme --as dec ends where it would be negative" 1 "at ${late#*=}Z are negative" \
        new "$scheme" --as dec "time=${late#*=}Z" "$unsafe"
    matches "which unsigned=1 allows" '-[0-9]+' new "$scheme" --as dec "time=${late#*=}Z" unsigned=1 "$unsafe"
    matches "and its own form" '[0-9a-zA-Z]+' new "$scheme" "time=${late#*=}Z" "$unsafe"
    refuses "the clock of $scheme --as dec ends there too" 1 "has ended.*unsigned=1" \
        new "$scheme" --as dec epoch=1900-01-01 "$unsafe"
    printf 'time\n%sZ\n' "${late#*=}" >"$TMPDIR/late.csv"
    same "$scheme in stamp --as dec" 1 "$("$FIRN" stamp "$TMPDIR/late.csv" --time time --scheme "$scheme" --as dec -q node=1 2>&1 | grep -c 'are negative')"
    refuses "a range of $scheme --as dec with both signs" 1 "from ${late#*=}Z on" range "$scheme" 2030-01-01 2100-01-01 --as dec
    same "its own form has one" 2 "$("$FIRN" range "$scheme" 2030-01-01 2100-01-01 | wc -l)"
    same "firn schemes $scheme says when" 1 "$("$FIRN" schemes "$scheme" | grep -c "(--as dec) at ${late#*=}Z")"
done
same "a range of region has both signs in hex only" 2 "$("$FIRN" range region 2045-01-01 2046-01-01 --as hex | wc -l)"
refuses "as the decimals of region have both" 1 "from 2045-09-06T21:36:42.433Z on" range region 2045-01-01 2046-01-01
matches "IDs that do not sort have no end as integers" '-?[0-9]+' new lable-spread time=2090-01-01 --as dec "$unsafe"

# ---- keys that are for the command ---------------------------------------------------------------
says "uuid3 of the RFC" 5df41881-3aed-3515-88a7-2f4a814cf09e new uuid3 namespace=dns name=www.example.com
says "uuid5 of the RFC" 2ed6657d-e927-568b-95e1-2665a8aea6a2 new uuid5 namespace=dns name=www.example.com
same "a name may hold blanks and =" "$("$FIRN" new uuid5 namespace=dns "name=a b=c")" "$("$FIRN" new uuid5 name="a b=c" namespace=dns)"
says "a namespace may be a UUID" 2ed6657d-e927-568b-95e1-2665a8aea6a2 \
    new uuid5 namespace=6ba7b810-9dad-11d1-80b4-00c04fd430c8 name=www.example.com
matches "typeid with a prefix" 'user_a_[0-7][0-9a-hjkmnp-tv-z]{25}' new typeid prefix=user_a
matches "typeid without" '[0-7][0-9a-hjkmnp-tv-z]{25}' new typeid
matches "any UUID as a typeid" 'x_[0-7][0-9a-hjkmnp-tv-z]{25}' new uuid4 --as typeid prefix=x
matches "the raw time" '00000000-0005-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}' new uuid7 tick=5
matches "new --json is the object of show" '\{"id":"[0-9]+","scheme":"snowflake","bits":64,.*"fields":\{"datacenter":1,"worker":2,"sequence":0\},"candidates":\["snowflake"\],"sure":"named"\}' \
    new snowflake datacenter=1 worker=2 "$unsafe" --json
same "a claimed node is reported once" 1 "$("$FIRN" new snowflake "$unsafe" -n 100000 2>&1 >/dev/null | grep -c '^firn: note: ')"
ask new snowflake "$unsafe" node=9
same "a given one names who shares the store" 1 "$(printf '%s\n' "$notes" | grep -c 'datacenter=0 worker=9 is reserved only among')"
ask new snowflake "$unsafe" worker=9
same "a part of one names the claimed node" 1 "$(printf '%s\n' "$notes" | grep -c 'firn claims a free node with worker=9; IDs are unique among')"
ask new uuid1 time=2020-01-01
same "that back-dated IDs without a store are unique within one run only is reported" 1 "$(printf '%s\n' "$notes" | grep -c 'within')"
finish
