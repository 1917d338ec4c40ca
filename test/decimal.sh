# SPDX-License-Identifier: MIT
# The decimal schemes of the command: time-random, time-member, and order with its key.
. test/command.tap
mkdir "$TMPDIR/decimal" "$TMPDIR/keyed"
store="--store sqlite:$TMPDIR/decimal/firn.db"
nist=2b7e151628aed2a6abf7158809cf4f3c

# key NAME TEXT MODE: a key file.
key() {
    printf '%s' "$2" >"$TMPDIR/$1"
    chmod "$3" "$TMPDIR/$1"
}
key good "$nist
" 600
key other "000102030405060708090a0b0c0d0e0f" 400
good=$TMPDIR/good
other=$TMPDIR/other

# ---- time-random ---------------------------------------------------------------------------------
matches "time-random is the calendar and six digits" '20[0-9]{21}' new time-random -n 5
matches "digits= makes them more" '20[0-9]{33}' new time-random digits=18
before=$(date -u +%Y%m%d%H%M%S)
ask new time-random
check "it has the present time" [ "$before" -le "$(printf '%s' "$out" | cut -c1-14)" ]
check "and not the future" [ "$(printf '%s' "$out" | cut -c1-14)" -le "$(date -u +%Y%m%d%H%M%S)" ]
matches "time= back-dates" '20200229235959999[0-9]{6}' new time-random time=2020-02-29T23:59:59.999Z -n 50
says "pack makes it of its fields" 20240229235959999000042 pack time-random time=2024-02-29T23:59:59.999Z random=42
says "pack takes other digits" 20240229000000000042 pack time-random digits=3 time=2024-02-29 random=042
refuses "what has more digits is refused" 1 "0 to 999999" pack time-random time=2024-02-29 random=1000000
refuses "what is past the year 9999 is refused" 1 "until .10000-01-01" pack time-random time=+10000-01-01T00:00:00Z random=1
says "the last millisecond of 9999 is not" 99991231235959999000000 pack time-random time=9999-12-31T23:59:59.999Z random=0
same "show tells time and digits" "2024-02-29T23:59:59.999Z 000042" \
    "$("$FIRN" show --json --scheme time-random 20240229235959999000042 | jq -r '"\(.time) \(.fields.random)"')"
same "without a name the calendar tells it" time-random "$("$FIRN" show --json 20240229235959999000042 | jq -r .scheme)"
same "of any number of digits" "time-random 75" "$("$FIRN" show --json 2024022923595999900004217 | jq -r '"\(.scheme) \(.bits)"')"
same "--digits names them" 00004217 "$("$FIRN" show --json --scheme time-random --digits 8 2024022923595999900004217 | jq -r .fields.random)"
refuses "a wrong number of digits is a no" 1 "has 23 digits" show --scheme time-random 2024022923595999900004217
refuses "a number of digits is never taken for a decimal" 1 "has 23 digits" show --scheme time-random 20240229235959999123
refuses "a day that does not exist is refused" 1 "the month has fewer days" show --scheme time-random 20230229235959999000042
refuses "a leap second is refused" 1 "00 to 59" show --scheme time-random 20161231235960000000042
says "a range is two texts" "20240101000000000000000
20240101235959999999999" range time-random 2024-01-01 2024-01-02
says "and sorts as its IDs do" "2024010100000000000
2024010100000000199" range time-random digits=2 2024-01-01 2024-01-01T00:00:00.002Z
refuses "an epoch is not for the calendar" 2 "leave epoch out" new time-random epoch=2020-01-01
refuses "nor are widths" 2 "leave bits out" pack time-random bits=48/20 time=2024-01-01 random=1
refuses "nineteen digits are too many" 1 "1 to 18" new time-random digits=19
refuses "digits= is for time-random" 2 "leave digits out" new snowflake digits=6
says "another form is the ID's bits" 018df74f83ff0002a pack time-random --as hex time=2024-02-29T23:59:59.999Z random=42
says "and back" 20240229235959999000042 convert --scheme time-random --from hex --to dated 018df74f83ff0002a
refuses "bits that no calendar tells have no such text" 1 "at most 999999" convert --scheme time-random --from hex --to dated 018df74f83fffffff
refuses "dated is not for other schemes" 2 "an ID of 64 bits has no form dated" new snowflake --as dated
refuses "nor for a row of that width" 2 "the form dated applies to time-random and time-member" pack "time:48 random:20" --as dated time=2024-01-01 random=1

# ---- shared digits -------------------------------------------------------------------------------
for node in 1 2 3 4; do
    # shellcheck disable=SC2086 # an option and its value
    "$FIRN" new time-random digits=4 node=$node $store "$unsafe" -n 2000 >"$TMPDIR/shared.$node" 2>"$TMPDIR/stderr.$node" &
    eval "p$node=\$!"
done
# shellcheck disable=SC2154 # set by eval
wait "$p1" && wait "$p2" && wait "$p3" && wait "$p4" && ended=fine
same "four nodes share four digits" fine "${ended:-}"
same "and no two of their IDs are equal" 8000 "$(cat "$TMPDIR"/shared.[1-4] | sort -u | wc -l)"
# shellcheck disable=SC2086
same "they share one key too" 1 "$("$FIRN" nodes $store "$unsafe" --json | jq -r 'select(.key == "key").layout' | sort -u | wc -l)"
# shellcheck disable=SC2086
refuses "a node that the digits do not hold is refused" 1 "node" new time-random digits=3 node=32 $store "$unsafe"

# ---- time-member ---------------------------------------------------------------------------------
# shellcheck disable=SC2086
matches "time-member is the calendar, the member and three digits" '20[0-9]{15}10001[0-5][0-9]{2}' new time-member member=10001 $store "$unsafe" -n 3
# shellcheck disable=SC2086
same "a member that acts often never repeats" 3000 "$("$FIRN" new time-member member=10001 $store "$unsafe" -n 3000 2>"$TMPDIR/stderr" | sort -u | wc -l)"
refuses "the member is always given" 2 "give member=" new time-member
refuses "its texts have several lengths, and bound nothing" 2 "first 17 digits" range time-member 2024-02-29 2024-03-01
says "pack makes it of its fields" 20240229235959999777003 pack time-member time=2024-02-29T23:59:59.999Z member=777 sequence=3
same "show reads it back" "777 3" "$("$FIRN" show --json --scheme time-member 20240229235959999777003 | jq -r '"\(.fields.member) \(.fields.sequence)"')"
refuses "a text that fits two schemes is not converted on a guess" 1 "set --scheme or --from" convert --to hex 20240229235959999777003
refuses "a member with a zero in front is a no" 1 "must not begin with 0" show --scheme time-member 202402292359599990777003

# ---- order: the key ------------------------------------------------------------------------------
says "NIST's first sample" 2433477484 pack order number=123456789 --key-file "$good"
says "NIST's second sample" 6124200773 pack order number=123456789 tweak=39383736353433323130 --key-file "$good"
same "show turns it back" 123456789 "$("$FIRN" show --json --scheme order --key-file "$good" 2433477484 | jq -r .fields.number)"
same "the key comes from the environment too" 123456789 \
    "$(FIRN_ORDER_KEY=$nist "$FIRN" show --json --scheme order 2433477484 | jq -r .fields.number)"
same "the file is meant when both are there" 123456789 \
    "$(FIRN_ORDER_KEY=00 "$FIRN" show --json --scheme order --key-file "$good" 2433477484 | jq -r .fields.number)"
check "another key turns it into something else" [ \
    "$("$FIRN" show --json --scheme order --key-file "$other" 2433477484 | jq -r .fields.number)" != 123456789 ]
refuses "without a key there is nothing" 2 "--key-file FILE" pack order number=1
refuses "a key among the arguments is refused" 2 "can read a secret key in an argument" pack order number=1 "key=$nist"
refuses "even with a good one" 2 "another key" new order --key-file "$good" "key=$nist"
refuses "a missing file is reported" 6 "cannot open the key file" pack order number=1 --key-file "$TMPDIR/none"
refuses "a key in place of its file is not printed" 2 "--key-file needs a file, not the secret key: every user can read arguments, so choose another key$" pack order number=1 --key-file "$nist"
refuses "a folder is not a key" 2 "is not a file" pack order number=1 --key-file "$TMPDIR"
mkfifo -m 600 "$TMPDIR/unwritten"
refuses "a named pipe that nobody writes is not waited for" 2 "is a named pipe, .*: use a regular file" \
    pack order number=1 --key-file "$TMPDIR/unwritten"
same "a shell's pipe is read" 2433477484 "$("$FIRN" pack order number=123456789 --key-file /dev/fd/9 9<<KEY
$nist
KEY
)"
same "and another program's output" 2433477484 \
    "$(printf '%s\n' "$nist" | "$FIRN" pack order number=123456789 --key-file /dev/stdin)"
for mode in 640 604 660 610; do
    chmod $mode "$good"
    refuses "a key of mode $mode is refused" 2 "chmod 600" pack order number=1 --key-file "$good"
done
chmod 600 "$good"
key short 2b7e151628aed2a6abf7158809cf4f3 600
key long "${nist}0" 600
key lines "$nist
$nist
" 600
key words "the key is $nist" 600
key empty "" 600
for name in short long lines words empty; do
    refuses "a file with a $name key holds none" 2 "contains no secret key" pack order number=1 --key-file "$TMPDIR/$name"
done
FIRN_ORDER_KEY=secretsecret
export FIRN_ORDER_KEY
refuses "what the environment holds is never printed" 2 "FIRN_ORDER_KEY is not a secret key: set it to 32 hex digits$" pack order number=1
unset FIRN_ORDER_KEY
key told "${nist}zz" 600
refuses "nor what a file holds" 2 "contains no secret key: write 32 hex digits and nothing else$" pack order number=1 --key-file "$TMPDIR/told"
"$FIRN" new order --key-file "$good" --store "sqlite:$TMPDIR/keyed/firn.db" "$unsafe" >"$TMPDIR/printed" 2>&1
check "the key is nowhere in the store" sh -c "! cat '$TMPDIR'/keyed/* | grep -qaiE '$nist|2b7e1516|09cf4f3c'"

# ---- order: numbers ------------------------------------------------------------------------------
# shellcheck disable=SC2086
matches "order numbers have one length" '[0-9]{12}' new order --key-file "$good" key_id=4 check=1 $store "$unsafe" -n 500
numbers=$out
same "no two are equal" 500 "$(printf '%s\n' "$numbers" | sort -u | wc -l)"
same "each begins with the id of its key" 4 "$(printf '%s\n' "$numbers" | cut -c1 | sort -u)"
same "they turn back into 1 to 500" "$(seq 500)" \
    "$(printf '%s\n' "$numbers" | "$FIRN" show --json --scheme order --key-file "$good" key_id=4 check=1 | jq -r .fields.number)"
check "and do not come in order" sh -c "! printf '%s\n' '$numbers' | sort -c 2>/dev/null"
first=$(printf '%s\n' "$numbers" | head -n 1)
wrong=$(printf '%s' "$first" | tr 0123456789 1234567890)
refuses "a wrong check digit is a no" 1 "the check digit does not fit" show --scheme order --key-file "$good" key_id=4 check=1 "$wrong"
check "and the right one is not printed" sh -c "! printf '%s' \"\$1\" | sed 's/.*: the/the/' | grep -q '[0-9]'" sh "$err"
refuses "a number of another key id says so" 1 "key of id 4, this is 5" show --scheme order --key-file "$other" key_id=5 check=1 "$first"
refuses "a number of another length says so" 1 "has 10 digits" show --scheme order --key-file "$good" "$first"
# shellcheck disable=SC2086
refuses "another key under the same id is refused" 2 "had another key of id 4" new order --key-file "$other" key_id=4 check=1 $store "$unsafe"
# shellcheck disable=SC2086
matches "the next key takes the next id, and continues" '5[0-9]{11}' new order --key-file "$other" key_id=5 check=1 $store "$unsafe"
same "behind the last integer" 501 "$("$FIRN" show --json --scheme order --key-file "$other" key_id=5 check=1 "$out" | jq -r .fields.number)"
# shellcheck disable=SC2086
refuses "other digits in one series are refused" 2 "begun with other digits" new order --key-file "$good" key_id=4 digits=8 check=1 $store "$unsafe"
# shellcheck disable=SC2086
matches "another series counts for itself" '[0-9]{6}' new order --key-file "$good" digits=6 series=invoices start=999998 $store "$unsafe" -n 2
# shellcheck disable=SC2086
refuses "its digits end, and then it does" 1 "end=999999" new order --key-file "$good" digits=6 series=invoices start=999998 $store "$unsafe"
refuses "an integer of more digits is a no" 1 "0 to 999999" pack order digits=6 number=1000000 --key-file "$good"
refuses "five digits are too few" 1 "digits" pack order digits=5 number=1 --key-file "$good"
refuses "an order number has no other form" 2 "remove --as" pack order number=1 --key-file "$good" --as hex
refuses "order is not converted" 2 "order needs a key: use firn show" convert --scheme order --to hex 2433477484
refuses "a range of order has no time" 2 "no time" range order 2024-01-01 2024-01-02
refuses "--key-file is for order" 2 "add --scheme order" show --key-file "$good" 1541815603606036480
printf 'number=123456789\nnumber=x\n' >"$TMPDIR/sets"
same "pack reads a line a set" "2433477484
error: number=x is not a number: write decimal or 0x hex" "$("$FIRN" pack order - --key-file "$good" --keep-going <"$TMPDIR/sets")"
same "order is never guessed" null "$("$FIRN" show --json 2433477484 | jq -c '.candidates | index("order")')"

# ---- order: the module ---------------------------------------------------------------------------
mkdir -p "$TMPDIR/alone/bin" "$TMPDIR/alone/lib/firn"
cp "$FIRN" "$TMPDIR/alone/bin/firn"
if [ -e /usr/lib/firn/ff1.so ] || [ -e /usr/local/lib/firn/ff1.so ]; then
    skip "a missing module is reported with what to do" "the module is installed on this machine"
else
    alone=$("$TMPDIR/alone/bin/firn" pack order number=1 --key-file "$good" 2>&1)
    same "a missing module is reported with what to do" "6 1" \
        "$("$TMPDIR/alone/bin/firn" pack order number=1 --key-file "$good" >/dev/null 2>&1; echo $?) $(printf '%s\n' "$alone" | grep -c 'module ff1, which is not installed in .*, or in firn.s source run ./run all, then make install')"
    for store in redis sqlite; do
        check "so is the module of $store" sh -c "\"\$0\" new snowflake --store \"\$1\" 2>&1 | grep -q 'the module for $store is not installed in .*: install the package libfirn-'" \
            "$TMPDIR/alone/bin/firn" "$store:$TMPDIR/none"
    done
    printf 'no library' >"$TMPDIR/alone/lib/firn/ff1.so"
    alone=$("$TMPDIR/alone/bin/firn" pack order number=1 --key-file "$good" 2>&1)
    check "a module that cannot be loaded is reported too" sh -c "printf '%s' \"\$1\" | grep -q 'module ff1, which cannot be loaded: .*: install what it needs'" sh "$alone"
fi
check "nothing else loads libcrypto" sh -c "! ldd '$FIRN' | grep -q crypto && ! LD_DEBUG=libs '$FIRN' new uuid7 2>&1 | grep -q libcrypto"
finish
