# SPDX-License-Identifier: MIT
# show and convert of texts that may be several things: only the best reading is used, and a text that is not an ID is reported as
# none. Rates for many texts of each kind are in confusion_pure_test.c.
. test/command.tap
cd "$TMPDIR" || exit 1

# none SENTENCE TEXT REMARK: show says so, with status 1, and --json the same
none() {
    out=$("$FIRN" show -- "$2")
    status=$?
    object=$("$FIRN" show --json -- "$2")
    same "$1" "1 $2  not an ID of a known scheme,  $3, null $3" \
        "$status $(printf '%s\n' "$out" | sed -n '1,2p' | paste -sd,), $(printf '%s' "$object" | jq -r '"\(.scheme) \(.remark)"')"
}

# ---- what is not an ID -------------------------------------------------------------------------------
none "a small number" 12 "a plain integer"
none "a telephone number" 4915112345678 "a plain integer"
none "seconds since 1970" 1700000000 "a plain integer; as epoch s it is 2023-11-14T22:13:20Z"
none "milliseconds" 1700000000123 "a plain integer; as epoch ms it is 2023-11-14T22:13:20.123Z"
none "microseconds" 1700000000123457 "a plain integer; as epoch us it is 2023-11-14T22:13:20.123457Z"
refuses "a minus before a 0" 1 "is not an ID of a known scheme, but a minus before a 0" show -- -0
none "a calendar" 20240229123456 "a plain integer; as a calendar date it is 2024-02-29T12:34:56Z"
none "a negative number" -17 "a plain integer"
none "one whose bits show a present time" -8387674 "a plain integer"
none "a number of 65 bits" 18446744073709551616 "a plain integer, too big for 64 bits"
none "a UUID of no version" 919108f7-52d1-0320-9bac-f847db4148a8 "a UUID of version 0, which is not defined"
none "MD5" d41d8cd98f00b204e9800998ecf8427e "32 hex digits, like an MD5 digest"
none "SHA-1" da39a3ee5e6b4b0d3255bfef95601890afd80709 "40 hex digits, like a SHA-1 digest"
same "what it is has a name that does not change" "integer uuid hex" \
    "$(printf '12\n919108f7-52d1-0320-9bac-f847db4148a8\nd41d8cd98f00b204e9800998ecf8427e\n' | "$FIRN" show --json | jq -r .what | paste -sd' ')"
same "candidates by chance need --all" "[] js53" \
    "$("$FIRN" show --json 12 | jq -c .candidates) $("$FIRN" show --json --all 12 | jq -r '.candidates[0]')"
same "with their forms and times" "    js53                 dec        2025-01-01T00:00:00.000Z" "$("$FIRN" show --all 12 | sed -n 4p)"

# ---- numbers, which show no scheme -------------------------------------------------------------------
# possible SENTENCE TEXT REMARK READINGS: show exits with 1, and lists these first schemes and formats
possible() {
    "$FIRN" show --json -- "$2" >object
    same "$1" "1 null null possible $3: $4" \
        "$? $(jq -r '"\(.scheme) \(.time) \(.sure) \(.remark): \([.readings[] | .scheme // .format] | .[:3] | join(" "))"' object)"
    same "and the same for people" "1 $2  possibly an ID: its scheme cannot be seen" "$("$FIRN" show -- "$2" >human; echo $?) $(head -n 1 human)"
    same "with the times" "$(jq -r '.readings[] | select(.owner) | "\(.scheme // .format) \(.time) \(.owner)"' object)" \
        "$(sed -n '/^  possible/,/^  formats/ s/^    \([^ ]*\)  *[^ ]*  *\([^ ]*\)  *\(.*\)/\1 \2 \3/p' human)"
}
possible "a tweet" 1541815603606036480 "a plain integer; as epoch ns it is 2018-11-10T02:06:43.606036480Z" "snowflake discord instagram"
possible "an IMEI" 490154203237518 "a plain integer; its check digit is valid (Luhn), as of cards and IMEIs" "snowflake discord instagram"
possible "a card" 4111111111111111 "a plain integer; its check digit is valid (Luhn), as of cards and IMEIs" "snowflake discord instagram"
possible "a span ID" 00f067aa0ba902b7 "16 hex digits" "snowflake discord instagram"
possible "a number in hex" 0x1565a11f6217a000 "16 hex digits" "snowflake discord instagram"
possible "a snowflake since 1970" 7102577116159582209 "a plain integer" "tiktok instagram linkedin"
same "yitter's ID has its time" 2021-07-26T18:30:01.184Z \
    "$("$FIRN" show --json 184971260575813 | jq -r '.readings[] | select(.format == "yitter").time')"
same "firn's own js53 comes last" js53 "$("$FIRN" show --json 184971260575813 | jq -r '.readings[-1].scheme')"
same "24 hex digits are an ObjectId of 2007 to 2039" "0 objectid likely, 1 null possible" \
    "$("$FIRN" show --json 507f1f77bcf86cd799439011 >object; echo "$? $(jq -r '"\(.scheme) \(.sure)"' object)"), $("$FIRN" show --json 357f1f77bcf86cd799439011 >object; echo "$? $(jq -r '"\(.scheme) \(.sure)"' object)")"
same "a named scheme is an answer" "0 snowflake named" \
    "$("$FIRN" show --json --scheme snowflake 1541815603606036480 >object; echo "$? $(jq -r '"\(.scheme) \(.sure)"' object)")"
# near SENTENCE WANTED TIME ID: status, scheme or format, time and how sure
near() {
    "$FIRN" show --json --near "$3" "$4" >object
    same "$1" "$2" "$? $(jq -r '"\(.scheme // .what) \(.time) \(.sure) \(.readings | length)"' object)"
}
near "--near chooses the one reading of ten years before or after" "0 instagram 2038-06-23T13:39:53.718Z likely 0" 2048-06-01 7102577116159582209
near "not if there are two" "1 integer null possible 2" 2040-01-01 7102577116159582209
near "nor without any: then all are listed" "1 integer null possible 8" 1990-01-01 7102577116159582209
near "readings with one time count as one" "0 objectid 1998-06-11T00:06:15Z likely 0" 2000-01-01 357f1f77bcf86cd799439011
near "a format may be the only one" "0 format 2044-01-01T00:00:00.000Z likely 0" 2053-12-01 2647243358208020487
near "what is sure stays" "0 uuid7 2024-06-14T10:14:09.300Z likely 0" 2000-01-01 0190163d-8694-739b-aea5-966c26f8ad91
refuses "--near is a time" 2 "--near soon: " show --near soon 7
refuses "and for texts without --scheme" 2 "remove --near or --scheme" show --near 2024-01-01 --scheme snowflake 7
refuses "nor does it apply to --find" 2 "--near does not apply to --find" show --find --near 2024-01-01
refuses "a number is not converted as one of its schemes" 1 "it may be an ID of uuid1 or of another scheme: set --scheme" \
    convert --to uuid6 258133314363070689776975542038781941830
says "but to other digits" 1565a11f6217a000 convert --to hex 1541815603606036480
same "a text that is not of the form has the option that was given as its cure" \
    "1 firn: 'zzz' is not an ID of a known scheme: set --scheme, or another form with --from" \
    "$("$FIRN" convert zzz --from hex --to dec 2>err; echo $?) $(cat err)"
same "words are not IDs" "1 firn: 'hello' is not an ID of a known scheme: set --scheme or --from, or find IDs in a text with show --find" \
    "$("$FIRN" show hello 2>err; echo $?) $(cat err)"

# ---- formats that are not schemes ----------------------------------------------------------------
# known SENTENCE STATUS TEXT LINES: show prints these first lines, joined by commas
known() {
    out=$("$FIRN" show -- "$3" 2>&1)
    same "$1" "$2 $3  $4" "$? $(printf '%s\n' "$out" | sed -n '1,2p' | paste -sd,)"
}
known "IUnknown is a GUID" 0 00000000-0000-0000-C000-000000000046 "Microsoft GUID, certain,  variant  6 (Microsoft)"
known "an NCS UUID has a time" 0 333a2276-0000-0000-0d00-00809c000000 "NCS UUID, certain,  time     1987-02-20T15:05:17.113344Z"
known "a Nano ID is only possible" 1 V1StGXR8_Z5jdHi6B-myT "not an ID of a known scheme,  formats that are not schemes:"
known "a UUID in base57 is likely" 0 2J2YViS7khb9taUUPULmrj "ShortUUID, likely,  time    2025-01-01T00:00:00.000Z"
same "as an object" "format null 2025-01-01T00:00:00.000Z 1735689600000000000 uuid7 shortuuid likely" \
    "$("$FIRN" show --json 2J2YViS7khb9taUUPULmrj | jq -r '"\(.what) \(.scheme) \(.time) \(.unix_ns) \(.fields.scheme) \(.formats[0].format) \(.formats[0].sure)"')"
same "next to a scheme it is listed" "ulid julid likely" \
    "$("$FIRN" show --json 01JGFJJZ0000007ZZZZZZZZZZZ | jq -r '"\(.scheme) \(.formats[0].format) \(.formats[0].sure)"')"
other() {
    "$FIRN" show --json "$1" | jq -r '"\(.scheme) \(.formats[0].format) \(.formats[0].fields.uuid) \(.formats[0].fields.bytes)"'
}
same "a UUID may be a version 7 in the order of a GUID" \
    "uuid4 swapped-uuid 0190163d-8694-7f4b-aea5-966c26f8ad90 in the order of a GUID" "$(other 3d169001-9486-4b7f-aea5-966c26f8ad90)"
same "or in the order of MongoDB's Java driver" \
    "null swapped-uuid 0190163d-8694-7f4b-aea5-966c26f8ad90 in the order of MongoDB's Java driver" \
    "$(other 4b7f9486-3d16-9001-90ad-f8266c96a5ae)"
same "also if the bytes have a version by chance" \
    "uuid8 swapped-uuid 01801234-8694-7f4b-aea5-966c26f8ad90 in the order of MongoDB's Java driver" \
    "$(other 4b7f9486-3412-8001-90ad-f8266c96a5ae)"
same "a UUID of version 4 is nothing else" "uuid4 null null null" "$(other 7d444840-9dc0-4ac8-8c42-5aeae0ac6e1d)"
for pair in "objectid 123456789012" "ulid 1" "xid 5" "tid 77" "ksuid 9" "uuid7 12"; do
    # shellcheck disable=SC2086
    set -- $pair
    refuses "digits alone are no $1" 1 "with --from dec" show --scheme "$1" "$2"
done
same "a named scheme or form has no formats" "null null" \
    "$({ "$FIRN" show --json --scheme ulid 01JGFJJZ0000007ZZZZZZZZZZZ; "$FIRN" show --json --from dec 151819733950271234; } | jq -r .formats | paste -sd' ')"
same "--formats lists each once" "$("$FIRN" show --formats --json | jq -r .name | sort -u | wc -l) formats" "$("$FIRN" show --formats | grep -c '^[a-z]') formats"
refuses "and takes no IDs" 2 "leave the IDs out" show --formats 12
head -c 10000000 /dev/zero | tr '\0' 1 >long
check "a line of 10 MB ends soon" sh -c "timeout 60 '$FIRN' show - <long >/dev/null 2>&1; [ \$? = 1 ] || [ \$? = 6 ]"
check "and so does one with zeros" sh -c "printf '8dx554y5rzerz1syh\\000sdw8t\\n' | timeout 60 '$FIRN' show - >/dev/null 2>&1; [ \$? != 0 ]"
# damaged SENTENCE TEXT PATTERN: show and convert say what is wrong with it
damaged() {
    refuses "$1" 1 "$3" convert --to hex -- "$2"
    refuses "and show does, too" 1 "$3" show -- "$2"
}
damaged "a ULID without a character" 01ARZ3NDEKTSV4RRFFQ69G5FA "nearly a ULID: text ends after 25 characters"
damaged "a ULID with a wrong character" 01ARZ3NDEKTSV4RRFUQ69G5FAV "nearly a ULID: character 18 of 26 is 'U'"
damaged "a UUID without a digit" 018f6d2a-9c3e-7abc-8def-0123456789a "nearly a UUID: text ends after 35 characters"
damaged "a UUID without a hyphen" 018f6d2a-9c3e-7abc-8def0123456789ab "nearly a UUID: character 24 of 35 is '0'"
damaged "a UUID with a letter too many" 018f6d2a-9c3e-7abc-8def-0123456789abg "nearly a UUID: character 37 of 37"
damaged "an ObjectId with an O" 507f1f77bcf86cd79943901O "nearly an ObjectId: character 24 of 24 is 'O'"
damaged "an xid without a character" 9m4e2mr0ui3e8a215n4 "nearly an xid: text ends after 19"
damaged "a KSUID without a character" 0ujtsYcgvSTl8PAuAdqWYSMnLO "nearly a KSUID: text ends after 26"
damaged "a number with an O" 154181560360603648O "nearly a decimal number: character 19 of 19 is 'O'"
damaged "a pasted blank" "1541815603606036480 " "nearly a decimal number: character 20 of 20 is ' '"
same "words are nothing nearly" 0 "$(printf 'hello\nfirn\nthe-quick-brown-fox\n' | "$FIRN" show --keep-going | grep -c nearly)"
same "one that is invalid does not stop the rest" "1 12 919108f7-52d1-4320-9bac-f847db4148a8" \
    "$(printf '12\n919108f7-52d1-4320-9bac-f847db4148a8\n' | "$FIRN" show --json >out; echo $?) $(jq -r .id out | paste -sd' ')"
same "a ULID of the year 6829 is one, with a note" "0 ulid its time is unusual: it may not be an ID of ulid" \
    "$("$FIRN" show --json 4DF3T1A1C1W1T8CZX5S6KSRJ98 >out; echo $?) $(jq -r '"\(.scheme) \(.remark)"' out)"

# ---- canonical text, layouts for reading ---------------------------------------------------------
same "the object has the canonical text" "c232ab00-9414-11ec-b3c8-9f6bdeced846" "$("$FIRN" show --json '{C232AB00-9414-11EC-B3C8-9F6BDECED846}' | jq -r .id)"
same "of a number in hex the decimal one" 1541815603606036480 "$("$FIRN" show --json --scheme snowflake 0x1565a11f6217a000 | jq -r .id)"
same "of a typeid with its prefix" user_01h455vb4pex5vsknk084sn02q "$("$FIRN" show --json user_01h455vb4pex5vsknk084sn02q | jq -r .id)"
same "a layout that could not be issued is read" 62286 "$("$FIRN" show --json --scheme "time:48/ms random:16" 123456789012345678 | jq -r '.fields.random' | xargs printf %d)"
refuses "and not issued" 2 "16 random bits are too few" new "time:48/ms random:16"

# ---- notes ---------------------------------------------------------------------------------------
# Other generators of a scheme may have other habits, and an ID does not show who issued it.
same "a note about a habit says whose it is" "" \
    "$("$FIRN" schemes --json | jq -r 'select(.note // "" | test("start|draw|take|add|fill|carr|share|numbered|repeat") and (test("firn") | not)) | .name')"

# ---- other owners of integers ----------------------------------------------------------------
# owned OWNER FORMAT TIME NUMBER: the number is only possibly one
owned() {
    "$FIRN" show --json "$4" >object
    same "a number may be of $1" "1 possible $2 $3" \
        "$? $(jq -r --arg name "$1" '"\(.sure) \(.readings[] | select(.owner == $name) | "\(.format) \(.time)")"' object)"
}
owned TiDB tidb-tso 2023-08-27T18:33:41.687Z 443852055297916932
owned CockroachDB unique-rowid 2020-01-01T00:00:00.000Z 516968939520000001
owned "Microsoft, a time" filetime 2020-01-01T00:00:00.0000000Z 132223104000000000
owned ".NET, a time" net-ticks 2020-01-01T00:00:00.0000000Z 637134336000000000
owned Steam steam null 76561197960265729

# ---- TypeIDs: a prefix and any UUID ----------------------------------------------------------------
awk -F'\t' '$1 == "ok" { print $3 }' "$OLDPWD/test/vectors/beyond_typeid.tsv" >typed
awk -F'\t' '$1 == "ok" { print $4 }' "$OLDPWD/test/vectors/beyond_typeid.tsv" >uuids
awk -F'\t' '$1 == "refuse" { print $3 }' "$OLDPWD/test/vectors/beyond_typeid.tsv" >untyped
same "every valid text of the specification is read" "$(cat typed)" "$("$FIRN" show --scheme typeid --json <typed | jq -r .id)"
same "with its prefix" "$(sed -n 's/_[^_]*$//p; t; s/.*//p' typed | sed 's/^[0-9].*//')" "$("$FIRN" show --scheme typeid --json <typed | jq -r .prefix)"
same "and is the UUID of the same row" "$(cat uuids)" "$("$FIRN" convert --scheme typeid --to uuid <typed)"
same "each UUID becomes that text" "$(cat typed)" \
    "$(paste typed uuids | while read -r typed uuid; do
        prefix=; case $typed in *_*) prefix=${typed%_*} ;; esac
        "$FIRN" convert "$uuid" --from uuid --to typeid "prefix=$prefix"
    done)"
same "no invalid text is" "$(wc -l <untyped)" "$("$FIRN" show --scheme typeid --keep-going <untyped 2>/dev/null | grep -c ^error)"
same "one with a prefix is a TypeID without a scheme" "7 uuid7 null, typeid a TypeID of a UUID that is not version 7, nil a TypeID of a UUID that is not version 7" \
    "7 $("$FIRN" show --json prefix_01h455vb4pex5vsknk084sn02q | jq -r '"\(.candidates[1]) \(.remark)"'), $("$FIRN" show --json my__type_01h5fskfsk4fpeqwnsyz5hj55t | jq -r '"\(.scheme) \(.remark)"'), $("$FIRN" show --json pre_fix_00000000000000000000000000 | jq -r '"\(.scheme) \(.remark)"')"
same "show has the prefix" "  prefix    my_user" "$("$FIRN" show my_user_01h455vb4pex5vsknk084sn02q | sed -n 2p)"
says "convert keeps the prefix" user_01h455vb4pex5vsknk084sn02q convert user_01h455vb4pex5vsknk084sn02q --to typeid
says "or replaces it" org_01h455vb4pex5vsknk084sn02q convert user_01h455vb4pex5vsknk084sn02q --to typeid prefix=org
says "or leaves it out" 01h455vb4pex5vsknk084sn02q convert user_01h455vb4pex5vsknk084sn02q --to typeid prefix=
same "with the object of that text" "org_01h455vb4pex5vsknk084sn02q org" \
    "$("$FIRN" convert --json user_01h455vb4pex5vsknk084sn02q --to typeid prefix=org | jq -r '"\(.id) \(.prefix)"')"
refuses "a wrong prefix" 2 "'Org' is not a valid prefix: use at most 63" convert user_01h455vb4pex5vsknk084sn02q --to typeid prefix=Org
refuses "a prefix of another form" 2 "prefix=org applies to the form typeid, not uuid" convert user_01h455vb4pex5vsknk084sn02q --to uuid prefix=org
same "range writes the prefix" "user_01hqs2ja00e008000000000000 user_01hqvmz0zzfzzvzzzzzzzzzzzz" \
    "$("$FIRN" range typeid 2024-02-29T00:00:00Z 2024-03-01T00:00:00Z prefix=user | paste -sd' ')"

# ---- what show reads, convert reads ----------------------------------------------------------------
uuid=919108f7-52d1-4320-9bac-f847db4148a8
for text in 32CQvwbvpbnkmkhhguznVH kZEI91LRQyCbrPhH20FIqA== "uuid:$uuid"; do
    if [ "$("$FIRN" show --json "$text" | jq -r '.fields.uuid // .id')" != null ]; then
        same "$text is the UUID that show has" "$("$FIRN" show --json "$text" | jq -r '.fields.uuid // .id')" "$("$FIRN" convert "$text" --to uuid)"
    fi
done
says "base64 is written" kZEI91LRQyCbrPhH20FIqA== convert --to base64 $uuid
says "base64url without =" _-8AAAAAQACAAAAAAAAAAA convert --to base64url ffef0000-0000-4000-8000-000000000000
says "of 64 bits" EjRWeJq83vA= convert --to base64 --from hex 123456789abcdef0
same "and show reads base64 of a UUID" $uuid "$("$FIRN" show --json "$("$FIRN" convert --to base64url $uuid)" | jq -r .fields.uuid)"
says "base64 is converted" $uuid convert --to uuid kZEI91LRQyCbrPhH20FIqA==
refuses "68 bits are not whole bytes" 2 "no form base64" convert --to base64 --scheme time-random 20240229000000000123456
refuses "nor are its texts bounds of a range" 2 "do not sort" range uuid7 2024-02-29 2024-03-01 --as base64
says "a form to read it in" 123456789abcdef0 convert --to hex --scheme snowflake --from base64 EjRWeJq83vA=
for form in ncname32 ncname58 ncname64; do
    same "$form is written and read" "$uuid $uuid" \
        "$("$FIRN" convert --to uuid "$("$FIRN" convert --to $form $uuid)") $("$FIRN" show --json "$("$FIRN" convert --to $form $uuid)" | jq -r .fields.uuid)"
done
says "a UUID-NCName is what its draft says" HAX8i4nmwzDjE3AwMBzmPJ convert --to ncname64 017f22e2-79b0-7cc3-98c4-dc0c0c07398f
says "an ObjectId as drivers print it" 507f1f77bcf86cd799439011 convert --to hex 'ObjectId("507f1f77bcf86cd799439011")'
same "and it is shown" "0 objectid" "$("$FIRN" show --json "ObjectId('507f1f77bcf86cd799439011')" >object; echo "$? $(jq -r .scheme object)")"
same "a UUID after uuid: is one" "0 uuid4" "$("$FIRN" show --json "uuid:$uuid" >object; echo "$? $(jq -r .scheme object)")"
same "26 Crockford digits are never a uuid2" ulid "$("$FIRN" show --json 030G18ZMAG47RVS9N91NEDMMSJ | jq -r .scheme)"
for nil in "ulid 26" "ksuid 27" "xid 20"; do
    same "the nil ${nil% *} is named" "0 ${nil% *} all its bits are zero: the nil ID of ${nil% *}" \
        "$("$FIRN" show --json "$(printf %0${nil#* }d 0)" >object; echo "$? $(jq -r '"\(.scheme) \(.remark)"' object)")"
done
same "an xid has no capital letters" "0 xid, 1 null" \
    "$("$FIRN" show --json 9m4e2mr0ui3e8a215n4g >object; echo "$? $(jq -r .scheme object)"), $("$FIRN" show --json 9M4E2MR0UI3E8A215N4G >object; echo "$? $(jq -r .scheme object)")"
same "which its owner refuses, so the named scheme is read with a note" "it has capital letters: rs/xid, which issues xid, refuses them null" \
    "$("$FIRN" show --json --scheme xid 9M4E2MR0UI3E8A215N4G | jq -r .remark) $("$FIRN" show --json --scheme xid 9m4e2mr0ui3e8a215n4g | jq -r .remark)"
same "the part of an address in a Locality UUID is hex" "0xd537a50 0xd537a50" \
    "$("$FIRN" show 20be0ffc-314a-bd53-7a50-013a65ca76d2 | awk '$1 == "mac" { print $2 }') $("$FIRN" show --json 20be0ffc-314a-bd53-7a50-013a65ca76d2 | jq -r .fields.mac)"
same "base58 is read with and without its leading digit" "919108f7-52d1-4320-9bac-f847db4148a8 019b8d2c-5b00-7000-8000-000000000001" \
    "$("$FIRN" convert "$("$FIRN" convert 919108f7-52d1-4320-9bac-f847db4148a8 --to base58)" --to uuid) $("$FIRN" convert "$("$FIRN" convert 019b8d2c-5b00-7000-8000-000000000001 --to base58 | sed 's/^1*//')" --to uuid)"
same "google/uuid's version 6 has its own time" "0 uuid6-google 2025-12-29T" \
    "$("$FIRN" show --json 01f0e491-3653-6eec-8000-0242ac130002 >object; echo "$? $(jq -r '"\(.formats[0].format) \(.time[:11])"' object)")"
same "and so has draft 02 of version 7" "0 uuid7-draft2 2021-12-28T" \
    "$("$FIRN" show --json 061cb26a-54b8-7a52-8000-2124e7041024 >object; echo "$? $(jq -r '"\(.formats[0].format) \(.time[:11])"' object)")"
same "32 hex digits of version 4 may be a digest" "1 null possible" \
    "$("$FIRN" show --json "$(printf %s $uuid | tr -d -)" >object; echo "$? $(jq -r '"\(.scheme) \(.sure)"' object)")"
same "with the scheme they are a UUID" "0 uuid4" "$("$FIRN" show --json --scheme uuid4 "$(printf %s $uuid | tr -d -)" >object; echo "$? $(jq -r .scheme object)")"
for command in show convert estimate; do
    to=; [ $command != convert ] || to="--to hex"
    # shellcheck disable=SC2086 # two words, or none
    ask $command $to 1541815603606036480 epoch=2020-01-01T00:00:00Z
    same "$command refuses a setting before any output" "2 " "$status $out"
done

# ---- conversion ----------------------------------------------------------------------------------
uuid4=1fa0c5b7-7c1e-4b7a-9d8f-3b2a1c0d9e8f
refuses "a uuid4 is not a uuid6" 2 "" convert --to uuid6 $uuid4
refuses "whose first digit is 1, in plain hex" 2 "" convert --to uuid6 "$(printf %s $uuid4 | tr -d -)"
says "its form may change" "$uuid4" convert --to uuid "$(printf %s $uuid4 | tr -d -)"
says "a uuid1 in plain hex is one" 1ec9414c-232a-6b00-b3c8-9f6bdeced846 convert --to uuid6 c232ab00941411ecb3c89f6bdeced846
refuses "plain hex that may be two schemes" 1 "it may be uuid1-swapped or uuid4: set --scheme" convert --to uuid6 11d78bd030ce40f397a99bbc44406500
says "is converted when the scheme is named" 30ce40f3-8bd0-11d7-97a9-9bbc44406500 convert --to uuid1 --scheme uuid1-swapped 11d78bd030ce40f397a99bbc44406500
says "a hash still has forms" d41d8cd9-8f00-b204-e980-0998ecf8427e convert --to uuid d41d8cd98f00b204e9800998ecf8427e
refuses "and is not an ID of a scheme" 1 "by chance" convert --to uuid6 d41d8cd98f00b204e9800998ecf8427e
says "a number has forms, too" 000000000000000c convert --to hex 12

# ---- digits only ---------------------------------------------------------------------------------
digits=507119778886617994390110
same "digits are hex where a scheme has as many, but only possibly" "possible hex" \
    "$("$FIRN" show --json $digits | jq -r '"\(.sure) \(.readings[0].form)"')"
refuses "a conversion refuses to choose" 1 "as hex .objectid. and another as dec .*--scheme or --from" convert --to base62 $digits
hex=$("$FIRN" convert --from hex --to base32hex $digits)
says "--from chooses" a1ohits8gpgnj51p0480 convert --from hex --to base32hex $digits
says "--scheme, too" "$hex" convert --scheme objectid --to base32hex $digits
same "a stream whose other lines are hex is hex, if they come first" "$hex" \
    "$(printf '507f1f77bcf86cd799439011\n%s\n' $digits | "$FIRN" convert --to base32hex | tail -n 1)"
same "or later" "$hex" "$(printf '%s\n507f1f77bcf86cd799439011\n' $digits | "$FIRN" convert --to base32hex | head -n 1)"
same "words are a stream" "$hex" "$("$FIRN" convert --to base32hex $digits 507f1f77bcf86cd799439011 | head -n 1)"
same "a stream of numbers is decimal" 00006b6304af3da350386a5e \
    "$(printf '12\n%s\n' $digits | "$FIRN" convert --to hex | tail -n 1)"

# ---- a named scheme ------------------------------------------------------------------------------
ulid=01ARZ3NDEKTSV4RRFFQ69G5FAV
for command in show "convert --to hex"; do
    bad=0
    for i in 1 5 10 20 26; do
        # shellcheck disable=SC2086 # words
        "$FIRN" $command --scheme ulid "$(printf %s $ulid | cut -c "$i" --complement)" >/dev/null 2>&1 && bad=$((bad + 1))
    done
    same "$command: a ULID that lost a character is an error" 0 $bad
done
refuses "the form that it has by chance is named" 1 "valid as base36 with --from base36.$" show --scheme ulid 1ARZ3NDEKTSV4RRFFQ69G5FAV
says "a named scheme takes its own form" 01563e3ab5d3d6764c61efb99302bd5b convert --scheme ulid --to hex $ulid
says "hex" $ulid convert --scheme ulid --to base32 01563e3ab5d3d6764c61efb99302bd5b
says "0x and hex" $ulid convert --scheme ulid --to base32 0x01563e3ab5d3d6764c61efb99302bd5b
says "decimal" $ulid convert --scheme ulid --from dec --to base32 1777027686520646174104517696511196507
refuses "and nothing else" 1 "valid as uuid with --from uuid" show --scheme ulid 01563e3a-b5d3-d676-4c61-efb99302bd5b
says "0x and hex is hex where hex is named" $ulid convert --scheme ulid --from hex --to base32 0X01563e3ab5d3d6764c61efb99302bd5b
says "unless it is named" $ulid convert --scheme ulid --from uuid --to base32 01563e3a-b5d3-d676-4c61-efb99302bd5b

same "formats without a time, one after the other" "null null" \
    "$(printf '%s\n' whk_AdgH69VIkzVWfiJy9ZA1NggUldzQy5m7 184BUFC5OSN3TLH6L6TLPP | "$FIRN" show --json - | jq -c .formats[0].time | tr '\n' ' ' | sed 's/ $//')"

finish
