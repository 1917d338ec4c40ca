# SPDX-License-Identifier: MIT
# ext/sqlite/gapless.sql: numbers belong to their transactions under rollbacks, savepoints, errors, conflict clauses and kill -9;
# the chain, and what firn verify finds in it; an older copy.
. test/gapless.tap
mark=rror

library=$BUILD/libfirn_sqlite.so
if ! [ -s "$library" ] || ! command -v sqlite3 >/dev/null; then
    skip "series without gaps in SQLite" "sqlite3 or $library is missing"
    finish
fi
file=$TMPDIR/shop.db

# ask STATEMENT...: one connection, which continues after errors. As sqlite3 of Debian 13: a schema is not trusted.
ask() {
    printf '%s;\n' "$@" | sqlite3 -cmd ".load $library" -cmd 'PRAGMA trusted_schema = OFF' "${database:-$file}" 2>&1
}
take="INSERT INTO firn_next (series) VALUES ('plain')"
last="SELECT last FROM firn_gapless WHERE name = 'plain'"
chain_of() {
    ask "SELECT line FROM firn_chain WHERE series = '$1' ORDER BY number"
}

install() {
    sqlite3 -cmd ".load $library" "$1" <ext/sqlite/gapless.sql 2>&1
}
same "the file is installed" "" "$(install "$file")"
same "the page's lines run" "" "$(ask "$(awk '/^```sql$/ { inside = 1; part++; next } /^```/ { inside = 0 } inside && /firn_gapless \(name, chain\)/ { on = 1 } inside && on' docs/guides/gapless.md)")"
says "and give the first number" "1|Ada" "SELECT number, customer FROM invoice"
ask "INSERT INTO firn_gapless (name, chain) VALUES ('a', 1), ('b', 1), ('c', 1)" "INSERT INTO firn_gapless (name) VALUES ('plain')" \
    "INSERT INTO firn_gapless (name, last) VALUES ('moved', 4711)" >"$TMPDIR/said"
says "a series continues from another program's" "4712" "INSERT INTO firn_next (series) VALUES ('moved')" \
    "SELECT last FROM firn_gapless WHERE name = 'moved'"
refuses "an unknown series is refused" "firn: there is no such series" "INSERT INTO firn_next (series) VALUES ('plian')"
refuses "nor a name that breaks lines" "CHECK" "INSERT INTO firn_gapless (name) VALUES ('a b')"
refuses "nor a second one" "there is a series of this name" "INSERT INTO firn_gapless (name) VALUES ('plain')"
refuses "nor one that replaces it" "there is a series of this name" "INSERT OR REPLACE INTO firn_gapless (name) VALUES ('plain')"
refuses "a payload needs a chain" "has no chain" "INSERT INTO firn_next (series, payload) VALUES ('plain', 'x')"
refuses "the number cannot be put back" "one step at a time" "UPDATE firn_gapless SET last = 0 WHERE name = 'moved'"
refuses "nor a series removed" "a series stays" "DELETE FROM firn_gapless"
for statement in "UPDATE firn_entry SET payload = '-'" "DELETE FROM firn_entry" "REPLACE INTO firn_entry SELECT * FROM firn_entry"; do
    refuses "nor an entry: ${statement%% *}" "firn:" "$statement"
done

# ---- a number belongs to its transaction ---------------------------------------------------------
says "a rollback gives the number back" "1
0
1" BEGIN "$take" "$last" ROLLBACK "$last" "$take" "$last"
says "a savepoint does" "2
3
2" BEGIN "$take" "$last" 'SAVEPOINT s' "$take" "$last" 'ROLLBACK TO s' "$last" COMMIT
ask 'CREATE TABLE bill (id INTEGER PRIMARY KEY, number INTEGER UNIQUE, total INTEGER CHECK (total > 0))' \
    "CREATE TRIGGER bill_number AFTER INSERT ON bill BEGIN $take; UPDATE bill SET number = ($last) WHERE id = NEW.id; END" >"$TMPDIR/said"
bills="SELECT group_concat(number) FROM (SELECT number FROM bill ORDER BY number)"
says "a row and its number are one statement" "3,4,5" "INSERT INTO bill (total) VALUES (1), (2), (3)" "$bills"
same "which an error undoes, in a transaction that continues" "3,4,5,6" \
    "$(ask BEGIN "INSERT INTO bill (total) VALUES (1), (2), (0)" "INSERT INTO bill (total) VALUES (7)" COMMIT "$bills" | tail -n 1)"
same "also with OR FAIL, which keeps the rows before" "3,4,5,6,7" "$(ask "INSERT OR FAIL INTO bill (total) VALUES (1), (0)" "$bills" | tail -n 1)"
says "a row that is ignored takes none" "3,4,5,6,7,8" "INSERT OR IGNORE INTO bill (total) VALUES (0), (1)" "$bills"
says "nor one that an upsert changes" "3,4,5,6,7,8" "INSERT INTO bill (id, total) VALUES (1, 5) ON CONFLICT DO UPDATE SET total = 5" "$bills"
says "a time is never before the last number's, also if the clock was ahead" "2|2999-01-01T00:00:00.000000Z" \
    "INSERT INTO firn_gapless (name, chain) VALUES ('ahead', 1)" \
    "UPDATE firn_gapless SET last = 1, at = '2999-01-01T00:00:00.000000Z' WHERE name = 'ahead'" \
    "INSERT INTO firn_next (series) VALUES ('ahead')" "SELECT number, at FROM firn_entry WHERE series = 'ahead'"
mkfifo "$TMPDIR/hold"
sqlite3 -cmd ".load $library" "$file" <"$TMPDIR/hold" >"$TMPDIR/held" 2>&1 &
holder=$!
exec 7>"$TMPDIR/hold"
printf '%s;\n' 'BEGIN IMMEDIATE' "$take" "$last" >&7
await test -s "$TMPDIR/held"
kill -9 $holder
exec 7>&-
wait $holder 2>/dev/null
says "kill -9 gives it back" "9" "$take" "$last"

# ---- many writers --------------------------------------------------------------------------------
many=$TMPDIR/many.db
install "$many" >"$TMPDIR/said"
database=$many ask "INSERT INTO firn_gapless (name, chain) VALUES ('a', 1), ('b', 1), ('c', 1)" \
    "CREATE TABLE invoice (series TEXT, number INTEGER, PRIMARY KEY (series, number))" >"$TMPDIR/said"
same "many writers leave no gap and no duplicate" "" "$(/usr/bin/python3 test/gapless.py sqlite "$many=$library" 2>&1)"
database=$many chain_of a >"$TMPDIR/chain"
verify() {
    "$FIRN" verify "$@" 2>&1
}
numbers=$(wc -l <"$TMPDIR/chain")
same "and the chain is whole" "a: $numbers numbers, 1 to $numbers, no gap and no duplicate; the chain is whole" "$(verify "$TMPDIR/chain")"

# ---- firn verify ---------------------------------------------------------------------------------
# finds SENTENCE WORDS SED [OPTION...]: in the chain, changed by SED.
finds() {
    sentence=$1 words=$2
    sed "$3" "$TMPDIR/chain" >"$TMPDIR/changed"
    shift 3
    said=$(verify "$@" "$TMPDIR/changed")
    case "$? $said" in
    1*"$words"*) pass "$sentence" ;;
    *) fail "$sentence" "$said" ;;
    esac
}
finds "a gap is named" "line 5: number 5 is missing" 5d
finds "a longer one, too" "line 5: numbers 5 to 7 are missing" 5,7d
finds "a duplicate" "line 6: number 5 is there twice" 5p
finds "another order" "line 5: number 2 comes after number 4: export in the order" '5s/a 5 /a 2 /'
finds "another payload" "the chain breaks at number 5" '5s/[0-9a-f]\{64\} /- /'
finds "another hash" "the chain breaks at number 5" "5s/ [0-9a-f]*\$/ $(printf '%064d' 0)/"
finds "a time before the last one" "of the number before it" '5s/ 20[0-9]*-/ 2001-/'
finds "another series" "line 5: series b follows series a" '5s/^a/b/'
finds "a chain that does not begin at its first number" "the chain does not begin at number 4" 1,3d
for damage in '5s/ /  /' '5s/Z/z/' '5s/.$//' '5s/$/ x/' '5s/a 5/a 05/' 5s/.*//; do
    finds "a line that no database writes: $damage" "line 5: " "$damage"
done
verify --head "$TMPDIR/chain" >"$TMPDIR/heads"
same "the head is the last line" "$(tail -n 1 "$TMPDIR/chain")" "$(cat "$TMPDIR/heads")"
sed -n 3p "$TMPDIR/chain" >>"$TMPDIR/heads"
echo "b 1 $(cut -d' ' -f3- "$TMPDIR/heads" | head -n 1)" >>"$TMPDIR/heads"
check "a chain has the heads that were kept" "$FIRN" verify --known "$TMPDIR/heads" "$TMPDIR/chain"
sed 1,3d "$TMPDIR/chain" >"$TMPDIR/rest"
same "a part after a head holds" "a: $((numbers - 3)) numbers, 4 to $numbers, no gap and no duplicate; the chain is whole" "$(verify --known "$TMPDIR/heads" "$TMPDIR/rest")"
finds "an older copy is noticed" "series a ends at $((numbers - 1)), and --known has number $numbers" "\$d" --known "$TMPDIR/heads"
# a chain that begins with zeros after number 3 of `heads`, as if its table were made again.
awk 'NR == 1 { sub(/^a 1/, "a 5"); sub(/ [0-9a-f]*$/, ""); print }' "$TMPDIR/chain" | tr -d '\n' >"$TMPDIR/line"
echo "$(cat "$TMPDIR/line") $(printf '%s %064d' "$(cat "$TMPDIR/line")" 0 | sha256sum | cut -d' ' -f1)" >"$TMPDIR/again"
tail -n 2 "$TMPDIR/heads" >"$TMPDIR/few" # of a only number 3
check "a chain may begin at a later number" "$FIRN" verify "$TMPDIR/again"
same "but not after a kept head that it leaves out" "firn: $TMPDIR/again, line 1: the chain begins at number 5, and --known has number 3: export it from its first number, or from the one after a head" \
    "$(verify --known "$TMPDIR/few" "$TMPDIR/again")"
sed "1s/ [0-9a-f]*\$/ $(printf '%064d' 0)/" "$TMPDIR/few" | cat "$TMPDIR/few" - >"$TMPDIR/two"
same "two heads of one number are refused" "firn: --known has two heads of series a, number 3: the chain was written again between them" \
    "$(verify --known "$TMPDIR/two" "$TMPDIR/chain")"
sed -i "2s/ [0-9a-f]*\$/ $(printf '%064d' 0)/" "$TMPDIR/heads"
finds "a chain that was written again" "number 3 is another one than --known has" p\;d --known "$TMPDIR/heads"

# ---- an older copy -------------------------------------------------------------------------------
sqlite3 "$many" ".backup $TMPDIR/older.db"
database=$many ask "INSERT INTO firn_next (series) VALUES ('a')" >"$TMPDIR/said"
database=$many chain_of a | verify --head >"$TMPDIR/kept"
same "a database that is restored from an older copy is noticed" "series a ends at $numbers, and --known has number $((numbers + 1))" \
    "$(database=$TMPDIR/older.db chain_of a | verify --known "$TMPDIR/kept" | sed 's/^firn: //; s/: the numbers between are lost.*//')"

# ---- the anchor ----------------------------------------------------------------------------------
export FIRN_STORE="sqlite:$TMPDIR/anchors.db?unsafe=1"
whole="numbers, 1 to $numbers, no gap and no duplicate; the chain is whole"
sed '4,$d' "$TMPDIR/chain" >"$TMPDIR/begun"
"$FIRN" verify --anchor "$TMPDIR/begun" >"$TMPDIR/said" 2>&1
same "the first time, the store gets the last line" 0 "$?"
check "and a note says that nothing was compared" grep -q "the store had no anchor of series a, so nothing was compared; it has number 3 now" "$TMPDIR/said"
same "as a mark and its hash" "$(awk 'NR == 3 { print "anchor a", $5 }' "$TMPDIR/chain")" \
    "$("$FIRN" nodes --json | jq -r 'select(.key == "head") | "\(.ns) \(.note)"')"
same "an anchor moves on with the chain" "a: $numbers $whole" "$(verify --anchor "$TMPDIR/chain")"
same "and stays there" "a: $numbers $whole" "$(verify --anchor "$TMPDIR/chain")"
same "a restored older copy is noticed" \
    "firn: series a ends at 3, and the anchor in the store has number $numbers: the numbers between are lost, as after the restore of an older copy; issue none before you have them again" \
    "$(verify --anchor "$TMPDIR/begun")"
same "which does not move the anchor back" "a: $numbers $whole" "$(verify --anchor "$TMPDIR/chain")"
last=$(tail -n 1 "$TMPDIR/chain")
before=$(tail -n 2 "$TMPDIR/chain" | head -n 1 | awk '{ print $5 }')
line=$(echo "$last" | awk '{ print $1, $2, $3, "-" }')
{ sed '$d' "$TMPDIR/chain" && echo "$line $(printf '%s %s' "$line" "$before" | sha256sum | cut -d' ' -f1)"; } >"$TMPDIR/other"
check "a chain with another last line is whole" "$FIRN" verify "$TMPDIR/other"
same "but the anchor has another line" \
    "firn: $TMPDIR/other, line $numbers: number $numbers is another one than the anchor has: the chain was written again since then, as after the restore of an older copy" \
    "$(verify --anchor "$TMPDIR/other")"
next="a $((numbers + 1)) 2999-01-01T00:00:00.000000Z -"
echo "$next $(printf '%s %s' "$next" "$(echo "$last" | awk '{ print $5 }')" | sha256sum | cut -d' ' -f1)" >"$TMPDIR/next"
same "a part after the anchor holds, and becomes the anchor" "a: 1 number, $((numbers + 1)) to $((numbers + 1)), no gap and no duplicate; the chain is whole" \
    "$(verify --anchor "$TMPDIR/next")"
same "so the whole one of before is too short" "firn: series a ends at $numbers" "$(verify --anchor "$TMPDIR/chain" | cut -d, -f1)"
same "a part that leaves numbers out is refused" "firn: $TMPDIR/late, line 1: the chain begins at number $((numbers + 3)), and the anchor has number $((numbers + 1)): export it from its first number, or from the one after the anchor" \
    "$(line="a $((numbers + 3)) 2999-01-01T00:00:00.000000Z -" && echo "$line $(printf '%s %064d' "$line" 0 | sha256sum | cut -d' ' -f1)" >"$TMPDIR/late"; verify --anchor "$TMPDIR/late")"
same "numbers alone have no anchor" 2 "$(echo 1 | verify --anchor >"$TMPDIR/said"; echo $?)"
unset FIRN_STORE
same "--store is for the anchor" 2 "$(verify --store memory: "$TMPDIR/chain" >"$TMPDIR/said"; echo $?)"
: >"$TMPDIR/none"
same "a file without heads is refused" "2" "$(verify --known "$TMPDIR/none" "$TMPDIR/chain" >"$TMPDIR/said"; echo $?)"
same "an empty file is refused" "1" "$(verify "$TMPDIR/none" >"$TMPDIR/said"; echo $?)"
same "numbers alone are read, too" "3 numbers, 5 to 7, no gap and no duplicate" "$(printf '%s\n' 5 6 7 | verify)"
same "and their gaps" "firn: standard input, line 2: number 6 is missing" "$(printf '%s\n' 5 7 | verify)"
same "as JSON" "a $numbers" "$(verify --json "$TMPDIR/chain" | jq -r '"\(.series) \(.last)"')"
same "sha256sum has the same hash" "$(awk 'NR == 2 { print $5 }' "$TMPDIR/chain")" \
    "$(awk 'NR == 1 { hash = $5 } NR == 2 { printf "%s %s %s %s %s", $1, $2, $3, $4, hash }' "$TMPDIR/chain" | sha256sum | cut -d' ' -f1)"
finish
