# SPDX-License-Identifier: MIT
# stamp: fields from columns, with a job for each node; other delimiters; a first row that is data.
. test/command.tap
cd "$TMPDIR" || exit 1
store=sqlite:$TMPDIR/fields.db

# ---- a node from a column ------------------------------------------------------------------------
{
    echo t,mac,x
    for i in 1 2 3 4 5 6 7 8 9; do
        echo "2024-01-01T00:00:00.00${i}Z,9f:6b:de:ce:d8:4$((i % 3)),$i"
        echo "2024-01-01T00:00:00.00${i}Z,9F:6B:DE:CE:D8:4$((i % 3)),again"
    done
} >macs.csv
"$FIRN" stamp macs.csv --time t --scheme uuid1 --field node=mac --seed abc --job macs --store "$store" >one 2>err
same "the node of each record comes from its column" "" \
    "$(sed 1d one | while IFS=, read -r id _ mac _; do
        [ "$("$FIRN" show --json --scheme uuid1 "$id" | jq -r .fields.node)" = "$(echo "$mac" | tr A-F a-f)" ] || echo "$id $mac"
    done)"
same "rows of one node never get one ID, however it is written" "18 18" "$(sed 1d one | wc -l) $(sed 1d one | cut -d, -f1 | sort -u | wc -l)"
same "the closing line counts" 1 "$(grep -c '^firn: note: 18 records, 18 IDs in [0-9.]* s' err)"
"$FIRN" stamp macs.csv --time t --scheme uuid1 --field node=mac --seed abc --job macs --store "$store" >two 2>err
same "the same job gives the same IDs" "$(cat one)" "$(cat two)"
same "each node is reserved" 3 "$("$FIRN" nodes --store "$store" --json | jq -r 'select(.ns == "uuid1") | .key' | wc -l)"
"$FIRN" stamp macs.csv --time t --scheme uuid1 --field node=mac --seed other --job others --store "$store" >three 2>err
same "another job gets other IDs" 36 "$(cat one three | grep '^[0-9a-f]*-' | cut -d, -f1 | sort -u | wc -l)"
"$FIRN" stamp macs.csv --time t --scheme uuid1 --field node=mac clock_seq=5 --seed abc --job pinned --store "$store" >four 2>err
same "a node that is given whole is taken" 18 "$(sed 1d four | wc -l)"
refuses "and then nobody else's" 2 "another job's" stamp macs.csv --time t --scheme uuid1 --field node=mac clock_seq=5 --seed abc --job thief --store "$store"

# ---- every scheme, every format ------------------------------------------------------------------
printf '{"t":"2024-01-01T00:00:00Z","r":5,"w":"0x3"}\n{"t":"2024-01-01T00:00:00Z","r":6,"w":3}\n{"t":"2024-01-01T00:00:00Z","r":8,"w":3}\n' >rows.jsonl
"$FIRN" stamp rows.jsonl --time t --scheme region --field region=r --field worker=w --on-error skip >out 2>err
same "a number of the caller's, too, from JSON" "5 3 6 3" \
    "$(jq -r .id out | while read -r id; do "$FIRN" show --json --scheme region "$id" | jq -r '"\(.fields.region) \(.fields.worker)"'; done | paste -sd' ')"
same "IDs that differ in it alone come from different slots" "0 1" "$(jq -r .id out | while read -r id; do "$FIRN" show --json --scheme region "$id" | jq .fields.sequence; done | paste -sd' ')"
same "a value that does not fit is a bad row" 1 "$(grep -c 'region 8 is out of range (0 to 7, 3 bits of region)' err)"
printf '2024-01-01T00:00:00Z\t7\n2024-01-01T00:00:00Z\t8\n' >rows.tsv
"$FIRN" stamp rows.tsv --time 1 --no-header --scheme snowflake datacenter=1 --field worker=2 >out 2>err
same "from a table without a header, by number" "7 8" \
    "$(cut -f1 out | while read -r id; do "$FIRN" show --json --scheme snowflake "$id" | jq .fields.worker; done | paste -sd' ')"
same "without a job it says so once" 1 "$(grep -c 'without a store' err)"
refuses "a field that the scheme has not" 2 "snowflake has no node field .* of that name" stamp rows.tsv --time 1 --scheme snowflake --field mac=2
refuses "a sequence is firn's" 2 "has no node field" stamp rows.tsv --time 1 --scheme snowflake --field sequence=2
refuses "a field without a column" 2 "write FIELD=COLUMN" stamp rows.tsv --time 1 --scheme snowflake --field worker
refuses "a field twice" 2 "given twice" stamp macs.csv --time t --scheme snowflake --field worker=x --field worker=mac
refuses "a column that is not there" 2 "there is no column 'nobody'" stamp macs.csv --time t --scheme snowflake --field worker=nobody
refuses "a log has no columns" 2 "--field does not apply to log" stamp macs.csv --format log --scheme snowflake --field worker=x

# ---- tables --------------------------------------------------------------------------------------
printf '2024-01-01,1\n2024-01-02,2\n' >bare.csv
refuses "a first row that is data is not swallowed" 2 "'2024-01-01' is a time: add --no-header and --time 1" \
    stamp bare.csv --time 1 --scheme snowflake datacenter=0 worker=1
printf 'id;t\n1;2024-01-01\n2;2024-01-02\n' >semicolons
"$FIRN" stamp semicolons --time t --id new --delimiter ';' --scheme snowflake datacenter=0 worker=1 >out 2>err
same "--delimiter is taken" "new;id;t 2 3" "$(head -n 1 out) $(grep -c '^[0-9]*;[12];2024-01-0[12]$' out) $(wc -l <out)"
printf 'a|b\n"x|y"|2024-01-01\n' >bars
"$FIRN" stamp bars --time b --delimiter '|' --scheme snowflake datacenter=0 worker=1 >out 2>err
same "with quotes as in CSV" 1 "$(grep -c '^[0-9]*|"x|y"|2024-01-01$' out)"
for delimiter in '' ab 1 '"' -; do
    refuses "the delimiter '$delimiter' is refused" 2 "--delimiter $delimiter" stamp bars --time b --delimiter="$delimiter" --scheme snowflake
done
printf 't,x\n2024-01-01,1\n\n2024-01-02,2\n' >blank.csv
refuses "a blank line is named as what it is" 1 "line 3: the line is blank" stamp blank.csv -o blank.out --time t --scheme snowflake datacenter=0 worker=1

# ---- words ---------------------------------------------------------------------------------------
same "a closed output is named" 1 "$("$FIRN" new uuid7 2>&1 >&- | grep -c 'it is closed; redirect it')"
piped=$(printf 'prefix=user tick=0 sequence=0 random=512\ntick=0 sequence=0 random=512\n' | "$FIRN" pack typeid -)
same "a line of pack - may have a prefix" "user_0000000000e0080000000000g0 0000000000e0080000000000g0" "$(echo "$piped" | paste -sd' ')"

finish
