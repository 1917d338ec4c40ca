#!/bin/sh
# SPDX-License-Identifier: MIT
# firn series: numbers, peek, advance, prune, check, JSON, and what they refuse.
. test/command.tap
FIRN_STORE=sqlite:$TMPDIR/series.db
export FIRN_STORE
"$FIRN" series -q invoices 'template=INV{year}/{counter:7}' zone=Europe/Berlin >/dev/null || skip "series" "SQLite is missing"
year=$(TZ=Europe/Berlin date +%Y)
says "the stored definition is enough" "INV$year/0000002" series invoices
same "several numbers" "$(printf 'INV%s/%07d\n' "$year" 3 "$year" 4 "$year" 5)" "$("$FIRN" series invoices -n 3)"
same "none" "" "$("$FIRN" series invoices -n 0)"
same "more than a batch, without a gap" "$(seq -f "INV$year/%07.0f" 6 5005 | cksum)" "$("$FIRN" series invoices -n 5000 | cksum)"
says "peek takes nothing" "INV$year/0005006" series peek invoices
says "show prints the definition" "template=INV{year}/{counter:7} zone=Europe/Berlin restart=year late=0 grow=0" series show invoices
says "show as JSON" '{"series":"invoices","definition":"template=INV{year}/{counter:7} zone=Europe/Berlin restart=year late=0 grow=0"}' \
    series show invoices --json
refuses "show takes no time" 2 "--at applies to new numbers" series show invoices --at 2026-01-01
refuses "show needs a name" 2 "show needs a NAME" series show
says "JSON" "{\"series\":\"invoices\",\"number\":\"INV$year/0005006\"}" series --json invoices
says "advance shows the next number" "INV$year/0010000" series advance invoices --min 10000
says "and it is next" "INV$year/0010000" series invoices
says "check reads a number" 42 series check invoices INV2026/0000042
same "also lines" "$(printf '7\n8')" "$(printf 'INV2026/0000007\r\nINV2026/0000008\n' | "$FIRN" series check invoices)"
says "check in JSON" '{"series":"invoices","number":"INV2026/0000042","counter":"42"}' series --json check invoices INV2026/0000042
refuses "another form" 1 "the numbers of this series have 'I' here" series check invoices 2026/0000042
refuses "a number that is too short" 1 "ends after 14 characters" series check invoices INV2026/000042

same "late periods stay open" "$(printf '2026-11-02-000001\n2026-11-01-000001\n2026-11-02-000002')" "$(
    "$FIRN" series orders 'template={year}-{month}-{day}-{counter:6}' late=366 --at 2026-11-02
    "$FIRN" series orders --at 2026-11-01T23:59:59Z
    "$FIRN" series orders --at 2026-11-02T01:00:00+01:00
)"
refuses "prune asks" 2 "add --yes" series prune orders --before 2026-11-02
check "prune closes" "$FIRN" series prune orders --before 2026-11-02 --yes
refuses "a pruned period" 1 "period 2026-11-01 of series orders is closed, since the store is at 2026-11-02: use a later time" \
    series orders --at 2026-11-01
says "the next period is open" 2026-11-02-000003 series orders --at 2026-11-02
refuses "a time to come" 1 "has not begun, since this machine's clock" series orders --at 2999-01-01
same "nodes shows period and counter" 1 "$("$FIRN" nodes | grep -c "series invoices  *1  *$year 10001 ")"

refuses "another template" 2 "leave the definition out to use the stored one" series invoices 'template={year}/{counter:7}'
refuses "an unknown series" 2 "the store has no series typo: define it with template=" series typo
refuses "a year of two digits" 2 "does not name the century" series new 'template={yy}{counter:5}'
refuses "a zone alone" 2 "belong to a template" series invoices zone=UTC
refuses "an unknown setting" 2 "did you mean .template.[?]" series invoices templat=x
refuses "an unknown zone" 2 "zone Mars is not valid" series new 'template={year}{counter:5}' zone=Mars
refuses "a verb without a name" 2 "peek needs a NAME" series peek
refuses "two names" 2 "'b' is one word too many" series a b
refuses "advance without a number" 2 "advance needs --min N" series advance invoices
refuses "prune without a time" 2 "prune needs --before TIME" series prune invoices
refuses "a count for peek" 2 "remove it" series peek invoices -n 3
refuses "a minimum for numbers" 2 "applies to advance" series invoices --min 3
refuses "a counter that is too great" 1 "a counter of series invoices is 1 to 9999999, not 10000000" series advance invoices --min 10000000
refuses "a store that is not there" 3 "there is no store at" series peek invoices --store "sqlite:$TMPDIR/none.db"
# A date alone is a day of the series' zone.
for zone in America/New_York Asia/Tokyo Pacific/Apia; do
    says "a day of $zone" N20111231001 series "in_$zone" "template=N{year}{month}{day}{counter:3}" "zone=$zone" late=9 --at 2011-12-31
done
check "prune, too" "$FIRN" series prune in_America/New_York --before 2012-01-01 --yes
refuses "so the day before is closed" 1 "period 2011-12-31 of series in_America/New_York is closed" series in_America/New_York --at 2011-12-31
refuses "peek of another template" 2 "leave the definition out" series peek invoices 'template=A{year}{counter:7}'

# The store loses numbers: the series continues only from a number above all of the present period, which closes the others.
lost() {
    cp "$TMPDIR/copy.db" "$TMPDIR/loses.db"
    rm -f "$TMPDIR/loses.db-wal" "$TMPDIR/loses.db-shm"
}
FIRN_STORE=sqlite:$TMPDIR/loses.db
says "a series" 2020-01-001 series monthly 'template={year}-{month}-{counter:3}' late=1 --at 2020-01-05
month=$(date -u +%Y-%m)
before=$(date -u -d "$month-15 -1 month" +%Y-%m)
says "whose month before is open" "$before-001" series monthly --at "$before-15"
cp "$TMPDIR/loses.db" "$TMPDIR/copy.db"
"$FIRN" series monthly -n 3 >"$TMPDIR/numbers"
"$FIRN" series monthly -n 3 --at "$before-15" >>"$TMPDIR/numbers"
lost
refuses "a store that lost numbers" 3 "advance its present period" series monthly
refuses "the month before does not end the doubt" 3 "advance its present period" series advance monthly --min 100 --at "$before-15"
refuses "so no number comes yet" 3 "advance its present period" series monthly
says "the present month does" "$month-100" series advance monthly --min 100
"$FIRN" series monthly -n 3 >>"$TMPDIR/numbers"
refuses "and closes the month before" 1 "period $before of series monthly is closed" series monthly --at "$before-15"
same "no number came twice" 9 "$(sort -u "$TMPDIR/numbers" | wc -l)"
FIRN_STORE=sqlite:$TMPDIR/series.db
TZDIR=$TMPDIR/none
export TZDIR
refuses "a machine without zones says so" 6 "no time zone database in .*: install tzdata" series invoices
says "UTC needs none" 2026-11-02-000004 series orders --at 2026-11-02

# ---- masked counters -----------------------------------------------------------------------------
unset TZDIR
(umask 077 && printf '1 %064d\n' 0 >"$TMPDIR/mask.key" && printf '1 %063d1\n' 0 >"$TMPDIR/other.key")
masked="key_file=$TMPDIR/mask.key"
# ff1_of SERIES PERIOD COUNTER: the digits, by spec/masks.py
ff1_of() {
    python3 -c 'import sys; sys.path.insert(0, "spec"); import masks
series, period, counter = sys.argv[1:]
key = masks.subkey(bytes(32), "firn-series-1|6|%s|key_number=1" % series)
print("".join(map(str, masks.ff1(key, period.encode(), 10, [int(digit) for digit in counter]))))' "$@"
}
template='template={year}-{month}-{day}-{counter:6}-{damm}'
day=$(date -u -d yesterday +%F)
got=$("$FIRN" series days "$template" late=9 "$masked" --at "$day" -n 1000)
same "a masked counter is FF1 of the counter, as spec/masks.py has it" "$day-$(ff1_of days "$day" 000001)" "$(echo "$got" | head -n 1 | cut -c 1-17)"
same "also of the last one" "$day-$(ff1_of days "$day" 001000)" "$(echo "$got" | tail -n 1 | cut -c 1-17)"
same "1000 of them differ" 1000 "$(echo "$got" | sort -u | wc -l)"
same "check has the counters" "$(seq 1000)" "$(echo "$got" | "$FIRN" series check days "$masked")"
before=$(date -u -d '2 days ago' +%F)
same "another period has other digits" "$before-$(ff1_of days "$before" 000001)" "$("$FIRN" series days "$masked" --at "$before" | cut -c 1-17)"
same "peek has the next one" "$day-$(ff1_of days "$day" 001001)" "$("$FIRN" series peek days "$masked" --at "$day" | cut -c 1-17)"
check "the definition has the fingerprint of the key, not its file" \
    sh -c "'$FIRN' series show days | grep -qE ' grow=0 masked=[0-9a-f]{8}\$'"
refuses "without the key there are no numbers" 2 "the counters of series days are masked: add key_file=FILE" series days
refuses "and none are read" 2 "add key_file=FILE" series check days "$(echo "$got" | head -n 1)"
refuses "another key is refused" 2 "has fingerprint [0-9a-f]*, not [0-9a-f]*: use the key that it has had" series days key_file="$TMPDIR/other.key"
(umask 077 && cat "$TMPDIR/mask.key" "$TMPDIR/mask.key" | awk '/^[0-9]/ { $1 = ++n } 1' >"$TMPDIR/two.key")
refuses "a file with two keys is for masks that rotate" 2 "has 2 keys, and a series has one: name a file with one key" \
    series days key_file="$TMPDIR/two.key"
refuses "a series that is not masked takes no key" 2 "are not masked: remove key_file" series invoices "$masked"
refuses "nor a counter of five digits" 2 "at least 6 digits and does not grow" series five 'template={counter:5}' "$masked"
refuses "nor one that grows" 2 "at least 6 digits and does not grow" series grows 'template={counter:6}' grow=1 "$masked"
refuses "a number that was never issued may have counter 0" 1 "the counter is 0" series check days "$masked" "$(
    python3 -c 'import sys; sys.path.insert(0, "spec"); import masks
key = masks.subkey(bytes(32), "firn-series-1|6|days|key_number=1")
text = sys.argv[1] + "-" + "".join(map(str, masks.ff1(key, sys.argv[1].encode(), 10, [0] * 6)))
rows = "0317598642 7092154863 4206871359 1750983426 6123045978 3674209581 5869720134 8945362017 9438617205 2581436790".split()
value = "0"
for digit in text.replace("-", ""):
    value = rows[int(value)][int(digit)]
print(text + "-" + value)' "$day")"
finish
