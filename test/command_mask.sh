# SPDX-License-Identifier: MIT
# firn mask, unmask and mask keygen: forms, files, JSON, and what they refuse. spec/masks.py computes the answers.
. test/command.tap
zero=$TMPDIR/zero.key
(umask 077 && printf '# a comment\n\n1 %064d\n' 0 >"$zero")
orders="--name orders --key-file $zero"

# ---- masking -------------------------------------------------------------------------------------
# shellcheck disable=SC2086 # the words of orders
{
    says "an integer" 1545844954938404436 mask $orders 1541815603606036480
    says "and back" 1541815603606036480 unmask $orders 1545844954938404436
    says "a UUID" ee4010b4-ae5e-47e1-b9da-ad69663a79d9 mask $orders width=uuid 017f22e2-79b0-7cc3-98c4-dc0c0c07398f
    says "and back" 017f22e2-79b0-7cc3-98c4-dc0c0c07398f unmask $orders width=uuid ee4010b4-ae5e-47e1-b9da-ad69663a79d9
    says "JSON has both" '{"id":"1541815603606036480","masked":"1545844954938404436"}' mask $orders --json 1541815603606036480
    says "also of unmask" '{"id":"1541815603606036480","masked":"1545844954938404436"}' unmask $orders --json 1545844954938404436
    for width in 20 53 63 64 uuid 128; do
        case $width in
        uuid) "$FIRN" new uuid7 -n 20 >"$TMPDIR/ids" && forms="uuid hex base58 base64url" ;;
        128) "$FIRN" new ulid -n 20 >"$TMPDIR/ids" && forms="base32 hex uuid" ;;
        *) seq 100001 100020 >"$TMPDIR/ids" && forms="dec base58 base32 hex" ;;
        esac
        same "there are twenty IDs of width $width" 20 "$(grep -c . "$TMPDIR/ids")"
        for form in $forms; do
            "$FIRN" mask $orders width=$width --as "$form" <"$TMPDIR/ids" >"$TMPDIR/masked" 2>"$TMPDIR/said"
            same "lines of width $width as $form are masked to others" 20 \
                "$(sort -u "$TMPDIR/masked" "$TMPDIR/ids" | grep -c . | awk '{ print $1 - 20 }')"
            same "and come back" "$(cat "$TMPDIR/ids")" "$("$FIRN" unmask $orders width=$width --as "$form" <"$TMPDIR/masked" 2>&1)"
        done
    done
    same "a bad line is in its place with --keep-going" "1545844954938404436
error: character 1 of 1 is 'x': a decimal digit is needed" \
        "$(printf '1541815603606036480\nx\n' | "$FIRN" mask $orders --keep-going)"
    same "another name is another mask" 0 "$("$FIRN" mask --name order --key-file "$zero" 1541815603606036480 | grep -c 1545844954938404436)"

    # ---- fingerprints: spec/masks.py computes this one ------------------------------------------
    says "a mask has a fingerprint" 78555f0c mask fingerprint $orders width=uuid
    print=$out
    says "with it, the mask is the same" ee4010b4-ae5e-47e1-b9da-ad69663a79d9 \
        mask $orders width=uuid fingerprint="$print" 017f22e2-79b0-7cc3-98c4-dc0c0c07398f
    refuses "a UUID where integers are expected" 1 "mask orders is of integers, and this is a UUID: add width=uuid" \
        mask $orders 017f22e2-79b0-7cc3-98c4-dc0c0c07398f
    refuses "another width has another one" 2 "has fingerprint .*, not $print: use the key, number, width" mask $orders fingerprint="$print" 5
    refuses "and another version" 2 "has fingerprint" mask $orders width=uuid version=4 fingerprint="$print" 5
    refuses "a fingerprint has 8 digits" 2 "use the 8 hex digits" mask $orders fingerprint=12345 5
    refuses "fingerprint takes no ID" 2 "takes no ID" mask fingerprint $orders 5

    # ---- a MAC: four letters after the masked ID -------------------------------------------------
    says "a masked ID with a MAC is longer" 4b7xxg9Yn5Zy77y mask $orders --as base58 --mac 20 1541815603606036480
    says "which is the default of such a form" 4b7xxg9Yn5Zy77y mask $orders --as base58 1541815603606036480
    says "unless mac=0 is set" 4b7xxg9Yn5Z mask $orders --as base58 --mac 0 1541815603606036480
    refuses "a text from before is refused with the cure" 1 "has no MAC, which mask orders needs: .*use mac=0" \
        unmask $orders --as base58 4b7xxg9Yn5Z
    for kept in "--as hex 1541815603606036480 16" "--as uuid width=uuid 017f22e2-79b0-7cc3-98c4-dc0c0c07398f 36" \
        "--from base58 --as base58 4b7xxg9Yn5Z 11" "width=128 01FX92R0000000000000000000 26"; do
        same "no MAC by default: ${kept% [0-9]*}" "${kept##* }" "$("$FIRN" mask $orders ${kept% *} | tr -d '\n' | wc -c)"
    done
    plain=$("$FIRN" mask fingerprint $orders) print_mac=$("$FIRN" mask fingerprint $orders --as base58)
    same "a mask with a MAC has another fingerprint" 2 "$(printf '%s\n' "$plain" "$print_mac" | sort -u | wc -l)"
    says "a name that was made without a MAC stays without" 4b7xxg9Yn5Z mask $orders --as base58 fingerprint="$plain" 1541815603606036480
    says "also back" 1541815603606036480 unmask $orders --as base58 fingerprint="$plain" 4b7xxg9Yn5Z
    says "one that was made with a MAC keeps it" 4b7xxg9Yn5Zy77y mask $orders --as base58 fingerprint="$print_mac" 1541815603606036480
    refuses "a name does not get a MAC later" 2 "fingerprint $plain is of mask orders with mac=0: use mac=0" \
        mask $orders --as base58 fingerprint="$plain" --mac 20 5
    refuses "nor lose it" 2 "fingerprint $print_mac is of mask orders with mac=20: use mac=20" \
        mask $orders --as base58 fingerprint="$print_mac" --mac 0 5
    with_mac=4b7xxg9Yn5Zy77y
    says "and comes back" 1541815603606036480 unmask $orders --as base58 --mac 20 "$with_mac"
    refuses "a damaged one is refused" 1 "the MAC of the masked ID is wrong" unmask $orders --as base58 --mac 20 "2${with_mac#?}"
    refuses "one of another name" 1 "the MAC .* is wrong" unmask --name order --key-file "$zero" --as base58 --mac 20 "$with_mac"
    refuses "one without its MAC" 1 "has no MAC" unmask $orders --as base58 --mac 20 "${with_mac%????}"
    refuses "a few letters" 1 "has more than 4 characters, not 3" unmask $orders --mac 20 123
    refuses "a UUID has no room for it" 2 "no room for a MAC: use another form" mask $orders width=uuid --mac 20 5
    refuses "another length" 2 "choose one of 0 20" mask $orders --mac 32 5
    says "JSON has it too" "{\"id\":\"1541815603606036480\",\"masked\":\"$with_mac\"}" unmask $orders --as base58 --mac 20 --json "$with_mac"

    # ---- refusals --------------------------------------------------------------------------------
    refuses "a negative integer" 1 "is negative .*: use width=64" mask $orders -- -5
    refuses "a UUID of another version" 1 "is a UUID of version 4, .*: use version=4" \
        mask $orders width=uuid c232ab00-9414-4d26-a1a5-04e2e4b9b3b7
    refuses "a UUID that is not masked" 1 "is not a UUID of version 4" unmask $orders width=uuid 017f22e2-79b0-7cc3-98c4-dc0c0c07398f
    refuses "nor is a UUID of another version, if version 4 is masked" 1 "as all masked ones are: give a masked ID" \
        unmask $orders width=uuid version=4 017f22e2-79b0-7cc3-98c4-dc0c0c07398f
    refuses "a small domain" 1 "20 to 128" mask $orders width=19 5
    refuses "an unknown setting" 2 "did you mean .width.[?]" mask $orders widht=20 5
    refuses "a form that does not fit" 2 "has no form uuid" mask $orders --as uuid 5
    refuses "a number that the key does not have" 2 "has no key 2, but 1: use key_number=1" mask $orders key_number=2 5
    refuses "a key among the arguments" 2 "can read a secret key in an argument" mask $orders key=00 5
}
refuses "a mask without a name" 2 "add name=" mask --key-file "$zero" 5
refuses "a mask without a key" 2 "firn mask keygen FILE" mask --name orders 5
refuses "a key in place of its file" 2 "not the secret key" mask --name orders --key-file "$(printf '%064d' 0)" 5
refuses "also with a folder" 2 "not the secret key" mask --name orders --key-file "./$(printf '%064d' 0)" 5
refuses "and for order numbers" 2 "not the secret key" new order --key-file "/nowhere/$(printf '%032d' 0)"
refuses "a missing file" 6 "cannot open the key file" mask --name orders --key-file "$TMPDIR/none" 5
chmod 640 "$zero"
refuses "a file that others can read" 2 "chmod 600" mask --name orders --key-file "$zero" 5
chmod 600 "$zero"
for wrong in '' '1' "$(printf '%064d' 0)" "1 $(printf '%063d' 0)" "1 $(printf '%065d' 0)" "1 $(printf '%064d' 0) more" \
    "1 $(printf '%064d\n2 %063d' 0 0)" "1234567890 $(printf '%064d' 0)"; do
    (umask 077 && printf '%s\n' "$wrong" >"$TMPDIR/wrong.key")
    refuses "a file with '$(printf %.12s "$wrong")...' has no key" 2 "contains no secret key" mask --name orders --key-file "$TMPDIR/wrong.key" 5
done

# ---- rotation: masked IDs with the number of their key -------------------------------------------
ring=$TMPDIR/ring.key
(umask 077 && printf '1 %064d\n' 0 >"$ring")
rotating="--name orders --key-file $ring prefix=ord"
seven="--name orders --key-file $ring width=uuid8"
id=1541815603606036480 uuid=017f22e2-79b0-7cc3-98c4-dc0c0c07398f
# shellcheck disable=SC2086 # the words of rotating and seven
{
    says "a masked ID with a prefix has the number of its key, and a MAC" ord_1_4b7xxg9Yn5Zy77y mask $rotating $id
    says "and comes back" $id unmask $rotating ord_1_4b7xxg9Yn5Zy77y
    one=$("$FIRN" mask $seven $uuid)
    same "a UUID of version 8 begins with it" "1 8" "$(printf '%s\n' "$one" | sed 's/^\(.\).\{13\}\(.\).*/\1 \2/')"
    (umask 077 && printf '2 %064d\n' 7 >>"$ring")
    refuses "with two keys, one is chosen" 2 "has the keys 1 and 2: choose which key masks with key_number=1" mask $rotating $id
    refuses "of the keys that there are" 2 "has no key 3, but 1 and 2" mask $rotating key_number=3 $id
    two=$("$FIRN" mask $rotating key_number=2 $id)
    same "the new key masks" ord_2_ "$(printf '%s\n' "$two" | cut -c 1-6)"
    says "the old key unmasks" $id unmask $rotating key_number=2 ord_1_4b7xxg9Yn5Zy77y
    says "and the new one before it masks" $id unmask $rotating key_number=1 "$two"
    new=$("$FIRN" mask $seven key_number=2 $uuid)
    same "UUIDs of both keys come back" "$uuid$uuid" "$("$FIRN" unmask $seven key_number=2 "$one" "$new" | tr -d '\n')"
    prints=$("$FIRN" mask fingerprint $rotating key_number=2)
    check "each key has its fingerprint" sh -c "printf '%s\n' $prints | grep -qxE '[0-9a-f]{8},[0-9a-f]{8}'"
    says "both are needed" $id unmask $rotating key_number=2 fingerprint="$prints" "$two"
    refuses "not one" 2 "key 2 of mask orders has fingerprint ${prints#*,}, which is not in fingerprint=${prints%,*}" \
        mask $rotating key_number=2 fingerprint="${prints%,*}" $id
    refuses "nor three" 2 "more fingerprints than mask orders has keys" mask $rotating key_number=2 fingerprint="$prints,00000000" $id
    refuses "a key with another number" 1 "masked with key 3, which mask orders does not have" unmask $rotating key_number=2 "ord_3${two#ord_2}"
    refuses "the number is in the MAC's key" 1 "the MAC of the masked ID is wrong" unmask $rotating key_number=2 "ord_1${two#ord_2}"
    refuses "no other spelling of the number" 1 "the number of the key is missing" unmask $rotating key_number=2 "ord_02${two#ord_2}"
    refuses "another prefix" 1 "does not begin with ord_" unmask $rotating key_number=2 "inv${two#ord}"
    refuses "a text without its end" 1 "has no MAC" unmask $rotating key_number=2 "${two%????}"
    refuses "a text without its number" 1 "the number of the key is missing" unmask $rotating key_number=2 "ord_$id"
    refuses "an empty one" 1 "ord_" unmask $rotating key_number=2 ''
    refuses "a UUID with another number" 1 "masked with key 15, which" unmask $seven key_number=2 "f${new#?}"
    refuses "of another version" 1 "is not a UUID of version 8" unmask $seven key_number=2 $uuid
    refuses "of a time without room" 1 "after 2527-06-23" mask $seven key_number=2 "1${uuid#?}"
    refuses "uuid8 has no MAC" 2 "has no MAC and no prefix" mask $seven key_number=2 --mac 20 $uuid
    refuses "a mask without the number of its key has one key" 2 "has the keys 1 and 2: choose" mask --name orders --key-file "$ring" $id
    says "which may be the old one" 1545844954938404436 mask --name orders --key-file "$ring" key_number=1 $id
    refuses "a prefix has letters" 2 "'1'|prefix" mask --name orders --key-file "$ring" key_number=1 prefix=ord1 $id
    refuses "at most 20" 2 "at most 20" mask --name orders --key-file "$ring" key_number=1 prefix=abcdefghijklmnopqrstu $id
    (umask 077 && printf '02 %064d\n' 8 >>"$ring")
    refuses "a number twice is refused" 2 "two keys with the number 2" mask $rotating key_number=1 $id
    (umask 077 && printf '2 %064d\n16 %064d\n' 7 8 >"$ring")
    refuses "uuid8 has numbers to 15" 1 "key number 16 is out of range .0 to 15." mask $seven key_number=2 $uuid
    (umask 077 && for each in $(seq 17); do printf '%d %064d\n' "$each" "$each"; done >"$ring")
    refuses "a file has at most 16 keys" 2 "more than 16 keys" mask $rotating key_number=2 $id
    (umask 077 && printf '1 %064d\n# %09000d\n2 %064d\n' 0 0 7 >"$ring")
    refuses "no key is beyond what is read" 2 "more than 8191 bytes" mask $rotating key_number=1 $id
}

# ---- keygen --------------------------------------------------------------------------------------
made=$TMPDIR/made.key
check "keygen makes a file" "$FIRN" mask keygen "$made"
same "that only its owner can read" 600 "$(stat -c %a "$made")"
check "with a number and 64 hex digits" grep -qxE '1 [0-9a-f]{64}' "$made"
same "the key works" 5 "$("$FIRN" unmask --name orders --key-file "$made" "$("$FIRN" mask --name orders --key-file "$made" 5)")"
before=$(cat "$made")
refuses "an existing file is kept" 2 "exists, and may be a key in use" mask keygen "$made"
same "as it was" "$before" "$(cat "$made")"
refuses "another key has another fingerprint" 2 "has fingerprint" mask --name orders --key-file "$made" width=uuid fingerprint="$print" 5
check "another key has another number" "$FIRN" mask keygen "$TMPDIR/second.key" key_number=2
check "and other digits" sh -c "grep -qxE '2 [0-9a-f]{64}' '$TMPDIR/second.key' && ! grep -qF '${before##* }' '$TMPDIR/second.key'"
refuses "keygen needs a file" 2 "needs one FILE" mask keygen
refuses "only one" 2 "needs one FILE" mask keygen a b
refuses "and a number in its range" 2 "0 to 999999999" mask keygen "$TMPDIR/third.key" key_number=1000000000
refuses "keygen has no other setting" 2 "has no setting 'name=x'" mask keygen "$TMPDIR/third.key" name=x

# ---- UUIDv47 -------------------------------------------------------------------------------------
half=$TMPDIR/half.key
while IFS='	' read -r key id masked; do
    case $key in '#'*) continue ;; esac
    rm -f "$half"
    (umask 077 && printf '1 %s\n' "$key" >"$half")
    says "UUIDv47 of $id is as published" "$masked" mask --name a --key-file "$half" width=uuid47 "$id"
    says "and back" "$id" unmask --name a --key-file "$half" width=uuid47 "$masked"
done <test/vectors/uuid47.tsv
check "keygen makes a key of UUIDv47" "$FIRN" mask keygen "$TMPDIR/made47.key" width=uuid47
check "with 32 hex digits" grep -qxE '1 [0-9a-f]{32}' "$TMPDIR/made47.key"
refuses "which other masks do not take" 2 "32 hex digits, which only width=uuid47 takes" mask --name a --key-file "$half" 5
refuses "UUIDv47 takes no key of another mask" 2 "a key of UUIDv47 has 16 bytes.*make a key with width=uuid47" \
    mask --name a --key-file "$made" width=uuid47 018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f
refuses "nor another version" 2 "version 7 and has no MAC" mask --name a --key-file "$half" width=uuid47 version=4 5
refuses "nor a MAC" 2 "version 7 and has no MAC" mask --name a --key-file "$half" width=uuid47 --as base58 --mac 20 5
refuses "nor a UUID of version 4" 1 "version 4, and this mask takes version 7: use width=uuid version=4" \
    mask --name a --key-file "$half" width=uuid47 2463c780-7fca-4def-8c3f-7b1a2c4d5e6f
refuses "keygen has one width" 2 "a key is for every width but uuid47: remove width=64" mask keygen "$TMPDIR/third.key" width=64
check "a refused keygen makes no file" [ ! -e "$TMPDIR/third.key" ]
finish
