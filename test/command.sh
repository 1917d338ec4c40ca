# SPDX-License-Identifier: MIT
# The command from end to end: each subcommand once, every scheme issued, shown, packed again and back-dated.
. test/command.tap

# ---- help and version ----------------------------------------------------------------------------
version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
says "firn --version prints the version of the header" "firn $version" --version
says "firn version prints the same version" "firn $version" version
subcommands=$(sed -nE 's/^(COMMAND|LAB)\(([a-z]*),.*/\2/p' cmd/commands.def lab/lab.def)
"$FIRN" --help >"$TMPDIR/help" 2>&1
"$FIRN" lab >"$TMPDIR/lab" 2>&1
check "firn --help fits a screen of 24 lines with a prompt" [ "$(wc -l <"$TMPDIR/help")" -le 23 ]
same "and its lines fit 80 columns" "" "$(awk 'length > 80' "$TMPDIR/help" "$TMPDIR/lab")"
same "firn help lab and firn lab --help are firn lab" "$(cat "$TMPDIR/lab" "$TMPDIR/lab")" "$("$FIRN" help lab && "$FIRN" lab --help)"
for subcommand in $subcommands; do
    check "firn --help, or for the laboratory firn lab, lists $subcommand" grep -qE "^  $subcommand " "$TMPDIR/help" "$TMPDIR/lab"
    ask "$subcommand" --help
    same "firn $subcommand --help is usage on standard output, status 0" "0 usage: firn $subcommand" \
        "$status $(printf '%s\n' "$out" | head -n 1 | grep -o "^usage: firn $subcommand")"
    # the first words of the options are the same as in the list
    for option in $(awk -v want="$subcommand" '
        /^OPTION\(/ { split($0, part, /[(,"]+ *"?/); name[part[2]] = part[3] }
        /^(COMMAND|LAB)\(/ { split($0, part, /[(,]/); now = part[2] }
        /^(TAKES|RARELY)\(/ && now == want { split($0, part, /[(,]/); print name[part[2]] }' cmd/commands.def lab/lab.def); do
        check "firn help $subcommand all lists --$option" sh -c "'$FIRN' help $subcommand all | grep -qe '--$option'"
    done
done
same "the help of each subcommand fits a screen of 40 lines, and begins with two examples" "" "$(for subcommand in $subcommands serve lab; do
    "$FIRN" "$subcommand" --help | awk -v name="$subcommand" '
        (NR == 5 || NR == 6 && name != "version") && index($0, "  firn " name) != 1 { print name ": no example" }
        END { if (NR > 40) print name ": " NR " lines" }'
done)"
id=1541815603606036480
for words in "--scheme snowflake --json" "scheme=snowflake json=yes" "--scheme=snowflake json=1" "--scheme snowflake --json=true keep_going=yes"; do
    same "options are written --name value or name=value: $words" "$("$FIRN" show "$id" --json --scheme snowflake)" \
        "$("$FIRN" show "$id" $words)" # shellcheck disable=SC2086
done
for words in "epoch=2010-01-01 --as hex" "--epoch 2010-01-01 as=hex" "--epoch=2010-01-01 --as=hex json=no"; do
    same "and so are settings: $words" "$("$FIRN" range snowflake 2024-01-01 2024-01-02 epoch=2010-01-01 --as hex)" \
        "$("$FIRN" range snowflake 2024-01-01 2024-01-02 $words)"
done
same "and fields" "$("$FIRN" pack snowflake time=2024-01-01 datacenter=1 worker=2 sequence=3)" \
    "$("$FIRN" pack snowflake --time 2024-01-01 --datacenter=1 --worker 2 sequence=3)"
same "and fields of a layout" "$("$FIRN" pack "time:41/ms@@2024-01-01 gene:6" time=2024-02-01 gene=3)" \
    "$("$FIRN" pack "time:41/ms@@2024-01-01 gene:6" --time=2024-02-01 --gene=3)"
for count in 1e3 1k 1000 count=1000; do
    case $count in count=*) set -- "$count" ;; *) set -- -n "$count" ;; esac
    same "firn new uuid4 $* issues a thousand" 1000 "$("$FIRN" new uuid4 "$@" | wc -l)"
done
same "a file whose name looks like a setting is a file after ./ and --" "2 IDs, 0 duplicates, 0 out of order
2 IDs, 0 duplicates, 0 out of order" "$(cd "$TMPDIR" && printf '1\n2\n' >json=1 && "$FIRN" check ./json=1 && "$FIRN" check -- json=1)"
same "milliseconds since 1970" "$("$FIRN" range uuid7 2010-11-04T01:42:54.657Z 2024-01-01)" "$("$FIRN" range uuid7 @1288834974657ms 2024-01-01)"
same "firn help new is firn new --help" "$("$FIRN" new --help)" "$("$FIRN" help new)"
ask new --help
same "help says what parentheses mean, where it has some" 1 "$(printf '%s\n' "$out" | grep -cx 'Defaults are in parentheses.')"
ask version --help
same "and only there" 0 "$(printf '%s\n' "$out" | grep -c parentheses)"

# ---- every scheme --------------------------------------------------------------------------------
"$FIRN" schemes --json >"$TMPDIR/schemes"
check "firn schemes --json is one object per line" jq -e . "$TMPDIR/schemes"
same "the list has each scheme and a head" "$(($(wc -l <"$TMPDIR/schemes") + 1))" "$("$FIRN" schemes | grep -c '^[^ ]')"
same "no line of it is wider than a terminal" "" "$("$FIRN" schemes | awk 'length > 80')"
same "so has the table of a page, with two lines of head" "$(($(wc -l <"$TMPDIR/schemes") + 2))" \
    "$("$FIRN" schemes --markdown | sed '/^$/q' | grep -c '^|.*|$')"

# fields_of ID SCHEME: what firn pack needs, from what show --json says; constants are left out.
fields_of() {
    constants=$(jq -c --arg name "$2" 'select(.name == $name) | [.slices[] | select(.role == "constant") | .name]' "$TMPDIR/schemes")
    "$FIRN" show --json --scheme "$2" ${3:+"$3"} ${3:+"$4"} -- "$1" | jq -r --argjson constants "$constants" '
        (if .time then "time=" + .time else empty end),
        (.fields | to_entries[] | select(.key as $key | $constants | index($key) | not) | "\(.key)=\(.value)")'
}
for scheme in $(jq -r 'select(.generated and .name != "order").name' "$TMPDIR/schemes"); do # order: see decimal.sh
    set -- "$scheme"
    case $scheme in
    uuid3 | uuid5) set -- "$scheme" namespace=dns name=www.example.org ;;
    baidu) set -- "$scheme" bits=29/21/13 "$unsafe" ;;
    time-member) set -- "$scheme" member=7 "$unsafe" ;;
    *) set -- "$scheme" "$unsafe" ;;
    esac
    ask new "$@"
    id=$out
    if [ "$status" = 0 ] && [ "$(printf '%s\n' "$id" | wc -l)" = 1 ] && [ -n "$id" ]; then
        pass "firn new $scheme issues an ID"
    else
        fail "firn new $scheme issues an ID" "$(told)"
        continue
    fi
    same "firn schemes $scheme draws it" "  +" "$("$FIRN" schemes "$scheme" | sed -n '4s/^\(  *+\).*/\1/p' | sed 's/^ */  /')"
    bits=
    [ "$scheme" != baidu ] || bits=29/21/13
    # shellcheck disable=SC2046 # fields without blanks
    says "firn pack $scheme builds it again from the output of show" "$id" \
        pack "$scheme" ${bits:+bits=$bits} $(fields_of "$id" "$scheme" ${bits:+--bits} $bits)
    [ "$scheme" = baidu ] || check "firn show finds $scheme among what it may be" \
        sh -c "'$FIRN' show --json -- '$id' | jq -e --arg name $scheme '.candidates | index(\$name) != null'"
    case $(jq -r --arg name "$scheme" 'select(.name == $name).tick_ns' "$TMPDIR/schemes") in
    0) continue ;;
    esac
    now=$(date -u +%s)
    seen=$("$FIRN" show --json --scheme "$scheme" ${bits:+--bits "$bits"} -- "$id" | jq -r .unix_ns)
    check "the time in the $scheme is the time of the call, to 5 s" [ $((${seen%?????????} - now + 5)) -le 10 ]
    [ "$scheme" != time-member ] || set -- "$scheme" member=8 "$unsafe" # a member that issues live stays so
    ask new "$@" time=2025-02-02T22:22:22Z -n 2
    same "firn new $scheme back-dates" "0 2025-02-02T22:22:22" "$status $("$FIRN" show --json --scheme "$scheme" ${bits:+--bits "$bits"} \
        -- "${out%%
*}" | jq -r .time | cut -c 1-19)"
    same "two back-dated $scheme differ" 2 "$(printf '%s\n' "$out" | sort -u | wc -l)"
done
for scheme in $(jq -r 'select(.generated | not).name' "$TMPDIR/schemes"); do
    refuses "firn new $scheme is refused: only read, not generated" 2 "does not generate" new "$scheme"
done

# ---- order and number ----------------------------------------------------------------------------
for scheme in $(jq -r 'select(.generated and .sorts == "yes" and .name != "flake" and .name != "baidu").name' "$TMPDIR/schemes"); do
    "$FIRN" new "$scheme" "$unsafe" -n 3000 --as hex >"$TMPDIR/ids" 2>"$TMPDIR/stderr"
    same "3000 of $scheme are sorted, and no two are equal" "3000 sorted" \
        "$(sort -u "$TMPDIR/ids" | wc -l) $(sort -c "$TMPDIR/ids" && echo sorted)"
done
same "a hundred thousand snowflakes are a hundred thousand" 100000 \
    "$("$FIRN" new snowflake "$unsafe" -n 100000 2>/dev/null | sort -u | wc -l)"
says "-n 0 is nothing" "" new uuid7 -n 0
says "-n 0 opens no store" "" new snowflake -n 0 --store nonsense:
matches "-n2 is two" '[0-9a-f-]{36}' new uuid4 -n2
matches "--count=2 is two" '[0-9a-f-]{36}' new uuid4 --count=2

# ---- rows of one's own ---------------------------------------------------------------------------
row="time:41/ms@@2024-01-01 node:10 sequence:12"
ask new "$row" node=5 "$unsafe"
same "a row of one's own is issued" 0 "$status"
same "and read" "layout 5" "$("$FIRN" show --scheme "$row" --json "$out" | jq -r '"\(.scheme) \(.fields.node)"')"
says "and packed" 21509 pack "$row" tick=0 node=5 sequence=1029
says "a row whose fields hold = is a row" 0000001100000022 pack "time:32/s@@2024-01-01 version=0x0:4 a:28" tick=17 a=34 --as hex
finish
