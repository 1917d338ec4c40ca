# SPDX-License-Identifier: MIT
# Masks of the server: the file that lists them, /v1/mask, FIRN.MASK, MASK of FIRN.NEW; another key is refused, and no key
# is shown.
. test/serve.tap
umask 022 # others may not write the list of masks
hex=$(printf '%064d' 0)
list=$TMPDIR/masks
(umask 077 && printf '1 %s\n' "$hex" >"$TMPDIR/mask.key")
print() {
    "$FIRN" mask fingerprint --key-file "$TMPDIR/mask.key" "$@"
}
orders="name=orders key_file=mask.key width=uuid fingerprint=$(print --name orders width=uuid)"
rows="name=rows key_file=$TMPDIR/mask.key as=base58 fingerprint=$(print --name rows)"
(umask 077 && printf '1 efcdab89674523011032547698badcfe\n' >"$TMPDIR/half.key")
old="name=old width=uuid47 key_file=half.key"
old="$old fingerprint=$("$FIRN" mask fingerprint --key-file "$TMPDIR/half.key" --name old width=uuid47)"
printf '%s\n' '# masks' '' "$orders" "$rows" "$old" >"$list"
id=017f22e2-79b0-7cc3-98c4-dc0c0c07398f masked=ee4010b4-ae5e-47e1-b9da-ad69663a79d9
get() {
    curl -s "http://$http$1"
}

# said SENTENCE PATTERN WORD...: what RESP answers
said() {
    sentence=$1 pattern=$2
    shift 2
    answer=$(ask_resp "$@")
    same "$sentence" "yes" "$(printf '%s\n' "$answer" | grep -qE "$pattern" && echo yes || printf '%s\n' "$answer")"
}

# ---- requests ------------------------------------------------------------------------------------
serve --masks "$list"
same "a server with masks starts" 0 "$?"
same "HTTP masks" '["'$masked'"]' "$(get "/v1/mask/$id?mask=orders" | jq -c .ids)"
same "and unmasks" '["'$id'"]' "$(get "/v1/unmask/$masked?mask=orders" | jq -c .ids)"
same "RESP masks" "$masked" "$(ask_resp FIRN.MASK $id orders)"
same "and unmasks" "$id" "$(ask_resp FIRN.UNMASK $masked orders)"
same "a mask has its form" "$("$FIRN" mask --name rows --key-file "$TMPDIR/mask.key" --as base58 12345)" "$(ask_resp FIRN.MASK 12345 rows)"
same "and reads it" 12345 "$(ask_resp FIRN.UNMASK "$(ask_resp FIRN.MASK 12345 rows)" rows)"
same "UUIDv47 is as published" 2463c780-7fca-4def-8c3f-7b1a2c4d5e6f "$(ask_resp FIRN.MASK 018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f old)"
same "and back" 018f2d9f-9a2a-7def-8c3f-7b1a2c4d5e6f "$(ask_resp FIRN.UNMASK 2463c780-7fca-4def-8c3f-7b1a2c4d5e6f old)"
said "which takes no other version" "^ERR mask old takes UUIDs of version 7, but IDs of uuid4 have version 4" FIRN.NEW uuid4 MASK old
same "new IDs come masked" 4 "$(ask_resp FIRN.NEW uuid7 MASK orders | cut -c 15)"
now=$(date +%Y-%m-%d)
same "and are new ones below" "$now" \
    "$("$FIRN" show --json "$(ask_resp FIRN.UNMASK "$(ask_resp FIRN.NEW uuid7 MASK orders)" orders)" | jq -r '.time[:10]' | sed "s/$(date -d tomorrow +%F)/$now/")"
same "over HTTP, too" 3 "$(get '/v1/new/snowflake?n=3&mask=rows&format=text' | sort -u | grep -cE '^[1-9A-HJ-NP-Za-km-z]{11}$')"
same "they are snowflakes" 3 "$(for each in $(get '/v1/new/snowflake?n=3&mask=rows&format=text'); do
    "$FIRN" show --json --scheme snowflake "$(ask_resp FIRN.UNMASK "$each" rows)" | jq -r '.time[:2]'
done | grep -cx 20)"
same "back-dated ones as well" 2020-01-01 \
    "$("$FIRN" show --json --scheme snowflake "$(ask_resp FIRN.UNMASK "$(ask_resp FIRN.NEW snowflake TIME 2020-01-01 MASK rows)" rows)" | jq -r '.time[:10]')"
same "a pipeline of masked IDs has no duplicate" 500 \
    "$(for _ in $(seq 500); do echo FIRN.NEW snowflake MASK rows; done | ask_resp | sort -u | wc -l)"
said "an unknown mask is refused, and the nearest named" "^ERR there is no mask 'order': did you mean .orders.[?]" FIRN.MASK $id order
said "also of new IDs" "^ERR there is no mask 'none': add a line" FIRN.NEW uuid7 MASK none
said "an ID of another width is refused" "^ERR mask rows takes IDs of 64 bits, but IDs of uuid7 have 128" FIRN.NEW uuid7 MASK rows
said "of another version too" "^ERR mask orders takes UUIDs of version 7, but IDs of uuid4 have version 4" FIRN.NEW uuid4 MASK orders
said "a text that is not an ID" "^ERR .*character 1" FIRN.MASK x rows
for path in /api/snowflake/get/rows /api/segment/get/rows; do
    same "$path does not ignore a mask" "400 paths of Leaf have no masks: use /v1/new/NAME?mask=MASK" \
        "$(curl -s -w ' %{http_code}' "http://$http$path?mask=rows" | jq -rs '"\(.[1]) \(.[0].error.message // .[0].message // .[0].detail // .[0])"')"
done
said "a mask has one form" "^ERR masked IDs have the form of their mask: remove as" FIRN.NEW uuid7 MASK orders AS hex
said "masked IDs have no runs" "^ERR masked IDs are not consecutive" FIRN.RUNS snowflake MASK rows
same "of 64 bits, a mask of 63 takes half, and no error shows an ID" "one error, without an ID" \
    "$(for _ in $(seq 40); do echo FIRN.NEW lable-spread MASK rows; done | ask_resp | sort -u | grep -v '^[1-9A-HJ-NP-Za-km-z]\{11\}$\|^$' |
        sed 's/^ERR mask rows takes IDs of another width or version than this generator has.*/one error, without an ID/')"
same "a mask must be named" 400 "$(curl -s -o /dev/null -w '%{http_code}' "http://$http/v1/mask/5")"
same "an unknown one is a wrong request" 400 "$(curl -s -o /dev/null -w '%{http_code}' "http://$http/v1/mask/5?mask=none")"
same "the key is in no answer" "" "$(for path in /v1/status /metrics /v1/mask/5?mask=none; do get "$path"; done | grep -F "$hex")"

# ---- reload --------------------------------------------------------------------------------------
printf '%s\n' "$rows" >"$list"
kill -HUP "$server"
reloaded() {
    has_told 'event=reloaded'
}
await reloaded
said "a reload takes the masks" "^ERR there is no mask 'orders'" FIRN.MASK $id orders
printf '%s\n' "$rows" "$rows" >"$list"
kill -HUP "$server"
failed() {
    has_told 'reload failed.*mask rows has an earlier line'
}
await failed
check "a wrong list changes nothing" [ "$(ask_resp FIRN.MASK 5 rows | wc -c)" -gt 2 ]
printf '%s\n' "${rows%as=*}as=hex ${rows##* }" >"$list"
form_of() {
    printf '%s\n' "FIRN.NEW snowflake MASK rows" "FIRN.NEW snowflake MASK rows" | ask_resp | tail -n 1
}
is_hex() {
    form_of | grep -qE '^[0-9a-f]{16}$'
}
kill -HUP "$server"
await is_hex
check "the form of a mask changes with it, also for commands that were just answered" is_hex
stop_server
same "the key is not in the log" "" "$(grep -F "$hex" "$log")"
serve --masks "$list" --address-ids-s 5
for asked in "FIRN.MASK 5 rows" "FIRN.UNMASK 0000000000000005 rows" "FIRN.NEW lable-spread MASK rows"; do
    same "a quota counts ${asked%% *} of a mask" "yes" \
        "$(for _ in $(seq 99); do echo "$asked"; done | ask_resp | grep -c '^TRYAGAIN the quota' | awk '{ print($1 > 20 ? "yes" : $1) }')"
done
same "over HTTP, too" "yes" "$(for _ in $(seq 20); do
    curl -s -o /dev/null -w '%{http_code}\n' "http://$http/v1/unmask/0000000000000005?mask=rows"
done | grep -cx 429 | awk '{ print($1 > 0 ? "yes" : "no") }')"
stop_server
serve
said "a server without masks says so" "^ERR this server has no masks: set masks = FILE" FIRN.MASK 5 rows
stop_server

# ---- the list ------------------------------------------------------------------------------------
# wrong SENTENCE STATUS PATTERN LINE...
wrong() {
    sentence=$1 wanted=$2 pattern=$3
    shift 3
    printf '%s\n' "$@" >"$list"
    refuses "$sentence" "$wanted" "$pattern" serve --config '' --masks "$list" --check-config
}
wrong "a mask without its fingerprint is refused with it" 2 ":1: mask orders has no fingerprint.*add ${orders##* }" "${orders% *}"
wrong "another key is refused" 2 ":2: mask orders has fingerprint .* not 00000000: use the key" '# x' "${orders%=*}=00000000"
wrong "a mask without a key file" 2 "add key_file=FILE" 'name=orders'
wrong "a mask without a name" 2 "add name=" 'key_file=mask.key'
wrong "a missing key file" 6 "cannot open the key file .*none.key" 'name=orders key_file=none.key fingerprint=00000000'
wrong "an unknown form" 2 "base59" "${rows%as=*}as=base59 ${rows##* }"
wrong "two forms" 2 "as is given twice: give it once" "$rows as=base59"
wrong "a MAC" 2 "no room for a MAC: remove mac=20" "$rows mac=20"
wrong "an unknown word" 2 "did you mean .width" "$rows widht=20"
wrong "an empty list" 2 "contains no mask" '# nothing'
refuses "a missing list" 6 "cannot read the masks" serve --config '' --masks "$TMPDIR/nowhere" --check-config
secret=$(printf '%064d' 5)
for line in "name=s key_file=$secret" "name=s key_file=/nowhere/$secret.old" "name=$secret key_file=mask.key" "name=s dec $secret" \
    "name=s fingerprint=$secret" "name=s as=$secret" "1 $secret" "name=$secret/ key_file=mask.key"; do
    printf '%s\n' "$rows" "$line" >"$list"
    ask serve --config '' --masks "$list" --check-config
    same "a key in the list is not shown: ${line%%0000*}" "2 yes 0" \
        "$status $(printf '%s' "$err" | grep -q ':2: the line has 32 hex digits in a row' && echo yes) $(printf '%s' "$out$err" | grep -c 00000000)"
done
wrong "two key files" 2 "key_file is given twice" "$rows key_file=mask.key"
printf '%s\0\n' "$rows" >"$list"
refuses "a zero byte" 2 ":1: the line has a zero byte" serve --config '' --masks "$list" --check-config
printf '%s\n\0hidden' "$rows" >"$list"
refuses "also where no line ends" 2 ":2: the line has a zero byte" serve --config '' --masks "$list" --check-config
refuses "an endless file" 2 "/dev/zero is not a regular file" serve --config '' --masks /dev/zero --check-config
mkfifo "$TMPDIR/pipe"
refuses "a named pipe" 2 "pipe is not a regular file" serve --config '' --masks "$TMPDIR/pipe" --check-config
head -c 600000 /dev/zero | tr '\0' '#' >"$TMPDIR/long"
refuses "a file that is too long" 2 "at most 524288 bytes" serve --config '' --masks "$TMPDIR/long" --check-config
printf '%s\n' "$orders" >"$list"
for mode in 664 646; do
    chmod $mode "$list"
    refuses "a list that others can write, with mode $mode" 2 "other users can write .*run chmod 644" serve --config '' --masks "$list" --check-config
done
chmod 644 "$list"
chmod 640 "$TMPDIR/mask.key"
refuses "a key that others can read" 2 "chmod 600" serve --config '' --masks "$list" --check-config
ask serve --config '' --masks "$list" --print-config
same "only the name of the list is printed" "masks = $list" "$(printf '%s\n' "$out" | grep masks)"
finish
