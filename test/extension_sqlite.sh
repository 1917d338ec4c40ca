# SPDX-License-Identifier: MIT
# The SQLite extension, loaded into sqlite3: the same answers as the command's, what schemas may hold, a real job of a
# million rows, bad input, and a store that is open where it must not be. Processes and crashes: extension_sqlite_test.c.
. test/command.tap
umask 022 # others may not write the list of masks
library=$BUILD/libfirn_sqlite.so
if ! [ -s "$library" ] || ! command -v sqlite3 >/dev/null; then
    skip "the SQLite extension" "sqlite3 or $library is missing"
    finish
fi
FIRN_STORE="sqlite:$TMPDIR/firn.db?unsafe=1"
export FIRN_STORE

# sql STATEMENTS [FILE]: in its own connection, errors too.
sql() {
    printf '%s\n' ".load $library" "$1" | sqlite3 -cmd 'PRAGMA trusted_schema = ON' "${2:-:memory:}" 2>&1
}
# answers SENTENCE OUT STATEMENTS [FILE]
answers() {
    same "$1" "$2" "$(sql "$3" "${4:-:memory:}")"
}
# like SENTENCE PATTERN STATEMENTS [FILE]: the whole output matches.
like() {
    printed=$(sql "$3" "${4:-:memory:}")
    if printf '%s\n' "$printed" | grep -qvxEe "$2"; then
        fail "$1" "$(printf 'wanted: %s\nfound: %s\n' "$2" "$printed")"
    else
        pass "$1"
    fi
}
# errs SENTENCE TEXT EXPRESSION...: each is an error that holds the text, at most 480 bytes, and no answer.
errs() {
    sentence=$1
    wanted=$2
    shift 2
    for expression; do
        printed=$(sql "SELECT $expression;")
        case $printed in
        *"$wanted"*)
            [ ${#printed} -le 520 ] || fail "$sentence" "too long: $printed"
            case $printed in
            "Runtime error"* | "Parse error"*) continue ;;
            esac
            ;;
        esac
        fail "$sentence" "$(printf '%s\nwanted: %s\nfound: %s\n' "$expression" "$wanted" "$printed")"
        return
    done
    pass "$sentence"
}

# ---- masks: the program names them, not a schema ---------------------------------------------------
(umask 077 && printf '1 %064d\n' 0 >"$TMPDIR/mask.key")
print=$("$FIRN" mask fingerprint --name rows --key-file "$TMPDIR/mask.key")
mac_print=$("$FIRN" mask fingerprint --name coded --as base58 --key-file "$TMPDIR/mask.key")
ord_print=$("$FIRN" mask fingerprint --name ord --prefix ord --key-file "$TMPDIR/mask.key")
printf '%s\n' 'name=orders width=uuid key_file=mask.key fingerprint=78555f0c' \
    "name=rows key_file=mask.key fingerprint=$print" "name=coded as=base58 key_file=mask.key fingerprint=$mac_print" \
    "name=ord prefix=ord key_file=mask.key fingerprint=$ord_print" >"$TMPDIR/masks"
with="SELECT count(firn_config('masks', '$TMPDIR/masks'));"
answers "a UUID is masked as the command does" "1
ee4010b4-ae5e-47e1-b9da-ad69663a79d9|017f22e2-79b0-7cc3-98c4-dc0c0c07398f" "$with
SELECT firn_mask('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'orders'), firn_unmask('ee4010b4-ae5e-47e1-b9da-ad69663a79d9', 'orders');"
answers "an integer and a blob, too" "1
1545844954938404436|integer|EE4010B4AE5E47E1B9DAAD69663A79D9|1" "${with}
SELECT replace(firn_mask(1541815603606036480, 'rows'), '$("$FIRN" mask --name rows --key-file "$TMPDIR/mask.key" 1541815603606036480)', '1545844954938404436'),
    typeof(firn_mask(1, 'rows')), hex(firn_mask(x'017f22e279b07cc398c4dc0c0c07398f', 'orders')),
    firn_unmask(firn_mask(77, 'rows'), 'rows') = 77 AND firn_mask(NULL, 'rows') IS NULL;"
answers "a generated column and an index have masked IDs" "1
1000|1000
3" "$with
CREATE TABLE t (id INTEGER PRIMARY KEY, public_id INTEGER GENERATED ALWAYS AS (firn_mask(id, 'rows')) STORED UNIQUE);
INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n;
SELECT count(DISTINCT public_id), sum(firn_unmask(public_id, 'rows') = id) FROM t;
CREATE INDEX t_masked ON t (firn_mask(id + 0, 'rows'));
SELECT id FROM t INDEXED BY t_masked WHERE firn_mask(id + 0, 'rows') = firn_mask(3, 'rows');"
for key in efcdab89674523011032547698badcfe 1581e97df4102211b10cb7e3b8871089; do
    (umask 077 && printf '1 %s\n' $key >"$TMPDIR/half.key")
    echo "name=old width=uuid47 key_file=half.key fingerprint=$("$FIRN" mask fingerprint --name old width=uuid47 --key-file "$TMPDIR/half.key")" >"$TMPDIR/old"
    grep "^$key" test/vectors/uuid47.tsv | while IFS='	' read -r _ plain hidden; do
        printf "SELECT '%s', firn_mask('%s', 'old') = '%s', firn_unmask('%s', 'old') = '%s';\n" "$plain" "$plain" "$hidden" "$hidden" "$plain"
    done >"$TMPDIR/published"
    answers "UUIDv47 is as published, with key $key" "1
$(grep "^$key" test/vectors/uuid47.tsv | awk '{ print $2 "|1|1" }')" "SELECT count(firn_config('masks', '$TMPDIR/old'));
$(cat "$TMPDIR/published")"
done
coded=$("$FIRN" mask --name coded --as base58 --key-file "$TMPDIR/mask.key" 77)
ord=$("$FIRN" mask --name ord --prefix ord --key-file "$TMPDIR/mask.key" 77)
answers "a mask with a MAC gives TEXT with it" "1
$coded|77|77|1000|1000" "$with
CREATE TABLE c (id INTEGER PRIMARY KEY, public_id TEXT GENERATED ALWAYS AS (firn_mask(id, 'coded')) STORED UNIQUE);
INSERT INTO c WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n;
SELECT firn_mask(77, 'coded'), firn_unmask('$coded', 'coded'), (SELECT id FROM c WHERE public_id = '$coded'),
    count(DISTINCT public_id), sum(firn_unmask(public_id, 'coded') = id) FROM c;"
answers "a text with the number of its key comes back" "1
77" "$with
SELECT firn_unmask('$ord', 'ord');"
errs "without firn_config there are no masks" "run SELECT firn_config('masks'" "firn_mask(1, 'rows')"
masks_err() {
    errs "$1" "$2" "firn_config('masks', '$TMPDIR/masks') || $3"
}
masks_err "a damaged text is refused" "the MAC of the masked ID is wrong" "firn_unmask('2${coded#?}', 'coded')"
masks_err "a mask that may change its key is not for columns" "mask ord may change its key" "firn_mask(77, 'ord')"
masks_err "a key number outside" "masked with key 2, which mask ord does not have" "firn_unmask('ord_2${ord#ord_1}', 'ord')"
masks_err "an unknown mask is refused" "there is no mask 'row': did you mean" "firn_mask(1, 'row')"
masks_err "an ID of another kind" "mask rows has 64 bits: give INTEGER or TEXT" "firn_mask(x'00', 'rows')"
masks_err "a UUID of another version" "takes version 7" "firn_mask('c232ab00-9414-4d26-a1a5-04e2e4b9b3b7', 'orders')"
for schema in "CREATE VIEW v AS SELECT firn_unmask(5, 'rows'); SELECT * FROM v;" \
    "CREATE TABLE t (id, plain); CREATE TRIGGER s AFTER INSERT ON t BEGIN UPDATE t SET plain = firn_unmask(NEW.id, 'rows'); END;
     INSERT INTO t (id) VALUES (5); SELECT 'unmasked', plain FROM t;"; do
    like "a trusted schema may not unmask either: ${schema%% [a-z]*}" ".*unsafe use of firn_unmask.*|1" "$with
PRAGMA trusted_schema = ON;
$schema"
done
like "a view of an untrusted schema may not mask" ".*unsafe use of firn_mask.*|1" "$with
PRAGMA trusted_schema = OFF;
CREATE TEMP TABLE x (id INTEGER);
CREATE VIEW v AS SELECT firn_mask(5, 'rows');
SELECT * FROM v;"
sed -i 's/fingerprint=.*/fingerprint=00000000/' "$TMPDIR/masks"
errs "another key is refused" "has fingerprint 78555f0c, not 00000000" "firn_config('masks', '$TMPDIR/masks')"
rm "$TMPDIR/masks" "$TMPDIR/mask.key"

# ---- dated numbers -------------------------------------------------------------------------------
year=$(date -u +%Y)
answers "a statement defines a series and takes numbers" "INV$year/0001|INV$year/0002" "SELECT firn_number('bills', 'template=INV{year}/{counter:4}'),
    firn_number('bills');"
same "the command continues there" "INV$year/0003" "$("$FIRN" series bills)"
answers "a rollback leaves a gap" "INV$year/0005" "BEGIN; CREATE TEMP TABLE x AS SELECT firn_number('bills'); ROLLBACK; SELECT firn_number('bills');"
answers "a column's default and a trigger may take one" "INV$year/0006|INV$year/0007" "CREATE TABLE bill (number TEXT DEFAULT (firn_number('bills')), again TEXT);
CREATE TRIGGER again AFTER INSERT ON bill BEGIN UPDATE bill SET again = firn_number('bills'); END;
PRAGMA trusted_schema = OFF;
CREATE TEMP TABLE begun AS SELECT count(firn_config('store'));
INSERT INTO bill DEFAULT VALUES;
SELECT * FROM bill;"
answers "a time chooses the period, and a date is one of the zone" "2020-05-01-01|2020-05-01-02|2020-05-01-03" "SELECT
    firn_number('days', 'template={year}-{month}-{day}-{counter:2} zone=Pacific/Kiritimati late=99', '2020-05-01'),
    firn_number('days', '', 1588240800), firn_number('days', '', datetime('2020-05-01 09:00:00'));"
like "a schema gives no definition" ".*unsafe use of firn_number.*" "CREATE VIEW v AS SELECT firn_number('bills', ''); SELECT * FROM v;"
errs "a series needs its definition at first" "the store has no series none: define it with template=" "firn_number('none')"
errs "which is not NULL" "write '' for the definition in the store" "firn_number('bills', NULL, '2020-05-01')"
errs "and only one" "leave the definition out" "firn_number('bills', 'template=X{counter:4}')"
errs "a wrong time is refused" "character 1" "firn_number('bills', '', 'tomorrow')"
errs "a wrong key too" "has no key 'templates'" "firn_number('bills', 'templates={counter:4}')"
url=$FIRN_STORE
FIRN_STORE="sqlite:$TMPDIR/untouched.db?unsafe=1"
like "under trusted_schema = OFF the schema does not begin to take numbers" ".*trusted_schema is OFF.*firn_config.*" \
    "CREATE VIEW v AS SELECT firn_number('bills'); PRAGMA trusted_schema = OFF; SELECT * FROM v;"
check "so there is no store" [ ! -e "$TMPDIR/untouched.db" ]
FIRN_STORE=$url

# ---- loading ---------------------------------------------------------------------------------------
answers "it loads without its entry point being named" "$("$FIRN" --version | grep -oE '[0-9]+[.][0-9]+[.][0-9]+')" \
    "SELECT firn_version();"
same "... and by its name alone from where libraries are" "1" \
    "$(printf '.load libfirn_sqlite\nSELECT firn_version() IS NOT NULL;\n' | LD_LIBRARY_PATH=$BUILD sqlite3 2>&1)"
same "it shows its entry point and nothing else" "sqlite3_firnsqlite_init" \
    "$(nm -D --defined-only "$library" | cut -d' ' -f3)"
answers "it may be loaded twice" "36" ".load $library
SELECT length(uuid7());"

# ---- the guide --------------------------------------------------------------------------------------
check "docs/guides/sqlite.md begins with an example" [ "$(guide_sql sqlite | grep -c ';$')" -ge 3 ]
same "it does what it says" "a b" "$(guide_sql sqlite | LD_LIBRARY_PATH=$BUILD sqlite3 2>&1 | sed -n 's/^20[0-9-]*T[^|]*|//p' | paste -sd' ')"

# ---- generators ------------------------------------------------------------------------------------
"$FIRN" schemes --json >"$TMPDIR/schemes"
jq -r 'select(.generated and .reserved != "always" and (.name | test("^(order|uuid3|uuid5|typeid)$") | not)) | .name' "$TMPDIR/schemes" >"$TMPDIR/free"
jq -r 'select(.generated and .reserved == "always" and .name != "time-member" and .name != "baidu") | .name' "$TMPDIR/schemes" >"$TMPDIR/numbered"
for name in $(cat "$TMPDIR/free" "$TMPDIR/numbered"); do
    printf "SELECT '%s', %s();\n" "$name" "$(echo "$name" | tr - _)"
done >"$TMPDIR/each.sql"
sql "$(cat "$TMPDIR/each.sql")" >"$TMPDIR/each"
same "each scheme has a function of its name" "$(wc -l <"$TMPDIR/each.sql")" "$(grep -c '|.' "$TMPDIR/each")"
bad=
while IFS='|' read -r name id; do
    "$FIRN" show --scheme "$name" -- "$id" >"$TMPDIR/shown" 2>&1 ||
        "$FIRN" show --scheme "$name" --from dec -- "$id" >"$TMPDIR/shown" 2>&1 || bad="$bad $name=$id: $(cat "$TMPDIR/shown")"
done <"$TMPDIR/each"
same "... whose IDs the command reads" "" "$bad"
like "an INTEGER is the node" "7" "SELECT firn_show(instagram(7), 'instagram') ->> '\$.fields.shard';"
like "typeid takes its prefix" "user_[0-9a-z]{26}" "SELECT typeid('user');"
like "firn_new takes it as an option" "user_[0-9a-z]{26}" "SELECT firn_new('typeid', 'prefix=user');"
like "firn_convert keeps it" "user_01h455vb4pex5vsknk084sn02q" "SELECT firn_convert('user_01h455vb4pex5vsknk084sn02q', 'typeid');"
answers "and so do the bounds of a time" "user_01hk153x00e008000000000000|user_01hk153x00fzzvzzzzzzzzzzzz" \
    "SELECT firn_min('typeid', '2024-01-01', 'prefix=user'), firn_max('typeid', '2024-01-01', 'prefix=user');"
errs "of a valid prefix" "is not a valid prefix" "firn_min('typeid', '2024-01-01', 'prefix=User')"
errs "of a TypeID" "prefix=user applies to the form typeid, not uuid" "firn_min('uuid7', '2024-01-01', 'prefix=user')"
like "a TypeID of any version is shown" '.*"version":5.*' "SELECT firn_show('prefix_0123456789abcdefghjkmnpqrs', 'typeid');"
answers "64 bits are INTEGER, wider ones TEXT, and _blob is a BLOB" "integer|text|blob|16|integer|text|blob" \
    "SELECT typeof(tsid()), typeof(uuid7()), typeof(ulid_blob()), length(uuid1_blob()),
     typeof(firn_new('leaf')), typeof(firn_new('snowflake', '', 'base62')), typeof(firn_new('uuid4', '', 'blob'));"
answers "each row gets its own" "1000|1000" \
    "WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 1000)
     SELECT count(DISTINCT snowflake()), count(DISTINCT uuid7()) FROM g;"
answers "firn_ids gives exactly that many, in order" "100000|100000|1" \
    "SELECT count(*), count(DISTINCT id), min(up) FROM (SELECT id, id > lag(id, 1, 0) OVER () AS up FROM firn_ids('snowflake', 100000));"
answers "... none of 0, and not more than requested" "0|1|2" \
    "SELECT (SELECT count(*) FROM firn_ids('uuid7', 0)), * FROM (SELECT count(*) FROM firn_ids('uuid7', 1)), (SELECT count(*) FROM firn_ids('ulid', 2, '', 'blob'));"
sql "SELECT snowflake(), leaf(), seata('node=3');" >/dev/null
same "windows are given back when the connection is closed" "" \
    "$("$FIRN" nodes --store "$FIRN_STORE" --json | jq -r --argjson now "$(date +%s%N)" 'select(.unix_ns != null and (.unix_ns | tonumber) > $now) | .ns')"
printed=$(unset FIRN_STORE; sql "SELECT firn_config('unsafe', 1), length(snowflake()), firn_notices() LIKE '%unique among the processes that share the store%';")
same "without a store named it is the default one, and notes are reported" "1|19|1" "$printed"

# ---- the same as the command's ---------------------------------------------------------------------
# except formats that are not schemes, which SQL does not read
schemes_only='select(.what != "none") | del(.formats) | if .readings then .readings |= map(select(.scheme)) else . end | if .readings == [] then .sure = "none" else . end'
for id in 1541815603606036480 0190163d-8694-739b-aea5-966c26f8ad90 01HZ8V3Y6Q4R5S7T9V0WXYZABC 2WuE1xZ4Udc -5 1700000000123 \
    507119778886617994390110; do
    expected=$("$FIRN" show --json -- "$id" 2>/dev/null | jq -c "$schemes_only")
    [ -n "$expected" ] || expected="Runtime error near line 2: '$id' is not an ID of a known scheme: name its scheme"
    answers "firn_show($id) is firn show --json" "$expected" "SELECT firn_show('$id');"
done
answers "a GUID is a UUID that firn does not issue" \
    '{"id":"00000000-0000-0000-C000-000000000046","scheme":null,"bits":null,"time":null,"unix_ns":null,"fields":{},"candidates":[],"sure":"none","readings":[],"what":"uuid","remark":"a UUID of the Microsoft variant, whose fields firn does not read"}' \
    "SELECT firn_show('00000000-0000-0000-C000-000000000046');"
errs "a conversion does not choose between readings" "name its scheme" "firn_convert('507119778886617994390110', 'base62')" \
    "firn_convert('11d78bd030ce40f397a99bbc44406500', 'uuid6')" "firn_convert('d41d8cd98f00b204e9800998ecf8427e', 'uuid6')"
errs "a ULID that lost a character is an error" "25 characters" "firn_show('01ARZ3NDEKTSV4RRFFQ69G5FA', 'ulid')"
answers "an INTEGER is shown as its decimal text" "$("$FIRN" show --json --scheme snowflake 1541815603606036480)" \
    "SELECT firn_show(1541815603606036480, 'snowflake');"
for scheme in snowflake uuid7 ulid uuid6 ksuid sonyflake; do
    answers "firn_min and firn_max of $scheme are firn range of its tick" \
        "$("$FIRN" range $scheme 2024-02-03T04:05:06.007Z 2024-02-03T04:05:06.007000001Z | paste -sd'|')" \
        "SELECT firn_min('$scheme', '2024-02-03 04:05:06.007'), firn_max('$scheme', '2024-02-03T04:05:06.007Z');"
done
answers "fields before the time are pinned, an epoch changed" \
    "$("$FIRN" range seata 2024-02-03 2024-02-03T00:00:00.001Z worker=5 | paste -sd'|')|$("$FIRN" range snowflake epoch=2020-01-01 2024-02-03 2024-02-04 | head -n 1)" \
    "SELECT firn_min('seata', '2024-02-03', 'worker=5'), firn_max('seata', '2024-02-03', 'worker=5'), firn_min('snowflake epoch=2020-01-01', '2024-02-03');"
answers "firn_pack is firn pack" "$("$FIRN" pack snowflake time=2024-01-01 datacenter=1 worker=2 sequence=3)" \
    "SELECT firn_pack('snowflake', 'time=2024-01-01 datacenter=1 worker=2 sequence=3');"
answers "firn_time and firn_unix_ns say when" "2022-06-28T16:07:40.105Z|1656432460105000000|2024-01-01T00:00:00.0000001Z" \
    "SELECT firn_time(1541815603606036480, 'snowflake'), firn_unix_ns(1541815603606036480, 'snowflake'),
     firn_time(firn_pack('uuid6', 'time=2024-01-01T00:00:00.0000001Z clock_seq=1 node=2'), 'uuid6');"
answers "base64 and NCNames are written and read" "kZEI91LRQyCbrPhH20FIqA==|kZEI91LRQyCbrPhH20FIqA|EkZEI91LRMgus-EfbQUioJ" \
    "SELECT firn_convert(id, 'base64'), firn_convert(id, 'base64url'), firn_convert(id, 'ncname64') FROM (SELECT '919108f7-52d1-4320-9bac-f847db4148a8' AS id);"
answers "... as firn convert reads them" "919108f7-52d1-4320-9bac-f847db4148a8|919108f7-52d1-4320-9bac-f847db4148a8|uuid7" \
    "SELECT firn_convert('kZEI91LRQyCbrPhH20FIqA==', 'uuid'), firn_convert('EkZEI91LRMgus-EfbQUioJ', 'uuid'), firn_show('AX8i4nmwfMOYxNwMDAc5jw') ->> '\$.scheme';"
answers "firn_convert is firn convert" "$("$FIRN" convert --to base58 --scheme uuid7 0190163d-8694-739b-aea5-966c26f8ad90)|$("$FIRN" convert --to uuid6 868b6680-a88c-11ee-8005-010203040506)|0190163d-8694-739b-aea5-966c26f8ad90" \
    "SELECT firn_convert('0190163d-8694-739b-aea5-966c26f8ad90', 'base58', 'uuid7'), firn_convert('868b6680-a88c-11ee-8005-010203040506', 'uuid6'),
     firn_convert(firn_convert('0190163d-8694-739b-aea5-966c26f8ad90', 'blob'), 'text', 'uuid7');"
"$FIRN" new uuid7 -n 4000 >"$TMPDIR/spread.ids"
same "firn_shard falls as firn spread's hash does" \
    "$("$FIRN" spread --json --shards 8 "$TMPDIR/spread.ids" 2>/dev/null | jq -r '.ways[] | select(.way == "hash").counts | map(tostring) | join(",")')" \
    "$(sql "CREATE TABLE t(id);
.import $TMPDIR/spread.ids t
SELECT group_concat(n) FROM (SELECT count(*) AS n FROM t GROUP BY firn_shard(id, 8) ORDER BY firn_shard(id, 8));")"
answers "form_uuid_v1 and uuid_v1_timestamp are exact to 100 ns" "$("$FIRN" pack uuid1 time=2024-01-01T00:00:00.0000007Z clock_seq=5 node=01:02:03:04:05:06)|2024-01-01T10:00:00.1234567Z" \
    "SELECT form_uuid_v1('2024-01-01T00:00:00.0000007Z', 5, '01:02:03:04:05:06'), uuid_v1_timestamp(form_uuid_v1('2024-01-01 10:00:00.1234567', 5, '01:02:03:04:05:06'));"
answers "uuid_to_bin swaps as MySQL does" "6CCD780CBABA102695645B8C656024DB|1026BABA6CCD780C95645B8C656024DB|6ccd780c-baba-1026-9564-5b8c656024db" \
    "SELECT hex(uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db')), hex(uuid_to_bin('{6CCD780C-BABA-1026-9564-5B8C656024DB}', 1)),
     bin_to_uuid(x'1026BABA6CCD780C95645B8C656024DB', 1);"
answers "uuid1 to uuid6 and back, as TEXT and as BLOB" "868b6680-a88c-11ee-8005-010203040506|blob" \
    "SELECT uuid6_to_uuid1(uuid1_to_uuid6('868b6680-a88c-11ee-8005-010203040506')), typeof(uuid1_to_uuid6(uuid_to_bin('868b6680-a88c-11ee-8005-010203040506')));"
answers "names are hashed" "cfbff0d1-9375-5685-968c-48ce8b15ae17" "SELECT uuid5('dns', 'example.com');"
answers "firn_series cuts time into steps that share no ID" "3|0|2024-01-01T00:00:00.000Z|2024-01-03T12:00:00.000Z" \
    "SELECT count(*), count(*) FILTER (WHERE least <> before + 1), min(start), max(stop) FROM (SELECT *, lag(greatest, 1, least - 1) OVER () AS before
     FROM firn_series('snowflake', '2024-01-01', '2024-01-03T12:00:00Z'));"
answers "... of any length, with fields and kinds" "4|16|2024-01-01T00:45:00.000Z" \
    "SELECT count(*), length(max(least)), max(start) FROM firn_series('uuid7', '2024-01-01', '2024-01-01T01:00:00Z', '15 minutes', '', 'blob');"

# ---- schemas -----------------------------------------------------------------------------------------
file=$TMPDIR/schema.db
answers "column defaults, STRICT, CHECK, generated columns and an index on an expression, with any trusted_schema" "0
3|3|1|text" "
PRAGMA trusted_schema = OFF; SELECT firn_config('unsafe');
CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid7()) CHECK (firn_time(id, 'uuid7') > '2020'),
    n INTEGER NOT NULL DEFAULT (snowflake()), b BLOB NOT NULL DEFAULT (uuid4_blob()), o INTEGER DEFAULT (firn_new('snowflake')),
    at TEXT GENERATED ALWAYS AS (firn_time(n, 'snowflake')) STORED, shard INTEGER AS (firn_shard(n, 4)), note TEXT) STRICT, WITHOUT ROWID;
CREATE INDEX by_time ON t(firn_unix_ns(id, 'uuid7'));
CREATE TABLE log(id INTEGER PRIMARY KEY, of TEXT);
CREATE TRIGGER logged AFTER INSERT ON t BEGIN INSERT INTO log VALUES(snowflake(), new.id); END;
INSERT INTO t(note) VALUES('a'), ('b'), ('c');
SELECT count(DISTINCT id), (SELECT count(*) FROM log), max(at) > '2020' AND min(shard) >= 0, typeof(id) FROM t;" "$file"
like "an index on an expression serves a query" "(QUERY PLAN|\`--SEARCH t USING (COVERING )?INDEX by_time .*)" \
    "EXPLAIN QUERY PLAN SELECT id FROM t WHERE firn_unix_ns(id, 'uuid7') > 5;" "$file"
like "a trigger cannot take nodes for good" ".*unsafe use of firn_stamp.*" \
    "CREATE TRIGGER bad AFTER INSERT ON t BEGIN INSERT INTO log VALUES(firn_stamp('snowflake', 0), ''); END; INSERT INTO t(note) VALUES('d');" "$file"
# A file of a stranger: a program that only reads it gets no store and takes no node.
stranger=$TMPDIR/stranger.db
sql "CREATE VIEW plain AS SELECT snowflake() AS id; CREATE VIEW any AS SELECT firn_new('leaf') AS id;
    CREATE VIEW named AS SELECT snowflake('node=3') AS id; CREATE VIEW numbered AS SELECT instagram(3) AS id;
    CREATE VIEW layout AS SELECT firn_new('time:41/ms@@2024-01-01 node:10 sequence:12') AS id;
    CREATE VIEW nines AS SELECT firn_new('time:41/ms@@2024-01-01 node:10 sequence:12', 'node=9') AS id;
    CREATE VIEW spaced AS SELECT firn_new('snowflake', 'ns=other', 'text') AS id; CREATE VIEW prefixed AS SELECT typeid('user') AS id;
    CREATE VIEW blobs AS SELECT uuid1_blob('node=3') AS id; CREATE VIEW listed AS SELECT id FROM firn_ids('snowflake', 3);
    CREATE TABLE t(n, id DEFAULT (snowflake())); CREATE TABLE u(n, id DEFAULT (snowflake('ns=u')));
    CREATE TRIGGER takes AFTER UPDATE ON t BEGIN UPDATE u SET id = snowflake(new.n); END; INSERT INTO t VALUES(1, 1);" "$stranger"
for trusted in OFF ON; do
    for wanted in "SELECT * FROM named" "SELECT * FROM numbered" "SELECT * FROM nines" "SELECT * FROM spaced" "SELECT * FROM blobs" \
        "SELECT * FROM listed" "UPDATE t SET n = 5" "INSERT INTO u(n) VALUES(1)"; do
        like "trusted_schema = $trusted: no options in the schema: $wanted" ".*unsafe use of .*" "PRAGMA trusted_schema = $trusted; $wanted;" "$stranger"
    done
    like "trusted_schema = $trusted: no layout either" ".*not only the name of a scheme.*firn_new\(scheme, ''\).*" \
        "PRAGMA trusted_schema = $trusted; SELECT * FROM layout;" "$stranger"
done
url=$FIRN_STORE
FIRN_STORE="sqlite:$TMPDIR/untouched.db?unsafe=1"
for wanted in "SELECT * FROM plain" "SELECT * FROM any" "INSERT INTO t(n) VALUES(2)" "SELECT * FROM plain -- snowflake" \
    "SELECT id AS snowflake FROM plain WHERE length (id)" "SELECT asnowflake.id FROM plain AS asnowflake"; do
    like "under trusted_schema = OFF the schema does not begin to issue: $wanted" ".*trusted_schema is OFF.*firn_config.*" \
        "PRAGMA trusted_schema = OFF; $wanted;" "$stranger"
done
like "IDs without a store are free" "user_[0-9a-z]{26}" "PRAGMA trusted_schema = OFF; SELECT * FROM prefixed;" "$stranger"
check "so there is no store, and no node is taken" [ ! -e "$TMPDIR/untouched.db" ]
for wanted in "SELECT snowflake()" "SELECT 1, SnowFlake ()" "SELECT firn_new('leaf')" "INSERT INTO t SELECT 1, snowflake()"; do
    like "a statement that names the function begins: $wanted" "(1\|)?[0-9]*" "PRAGMA trusted_schema = OFF; $wanted;" "$stranger"
    rm -f "$TMPDIR"/untouched.db*
done
like "a statement with options begins" "[0-9]+" "PRAGMA trusted_schema = OFF; INSERT INTO t SELECT 1, snowflake(''); SELECT id FROM plain;" "$stranger"
like "... or firn_ids" "[0-9]+" "PRAGMA trusted_schema = OFF; INSERT INTO t SELECT 1, id FROM firn_ids('uuid7', 1); SELECT id FROM plain;" "$stranger"
like "... or firn_config" "[0-9]+" "PRAGMA trusted_schema = OFF; INSERT INTO t SELECT 1, firn_config('unsafe'); SELECT id FROM any;" "$stranger"
check "and then there is a store" [ -s "$TMPDIR/untouched.db" ]
FIRN_STORE=$url
answers "a statement has all options, and layouts with options" "3|9|8" "SELECT snowflake('node=3') >> 12 & 1023,
    firn_new('time:41/ms@@2024-01-01 node:10 sequence:12', 'node=9') >> 12 & 1023, length(firn_new('time:41/ms@@2024-01-01 random:23', '', 'blob'));"
errs "a layout alone may be a call of the schema" "firn_new(scheme, '')" "firn_new('time:41/ms@@2024-01-01 random:23')" "firn_new('snowflake epoch=2024-01-01')"
like "nor set where marks are kept" ".*unsafe use of firn_config.*" \
    "CREATE VIEW v AS SELECT firn_config('store', 'sqlite:/nowhere'); SELECT * FROM v;" "$file"
answers "a column that folds case takes IDs that do not depend on it" "1000" \
    "CREATE TABLE t(id TEXT COLLATE NOCASE PRIMARY KEY); INSERT INTO t SELECT id FROM firn_ids('ulid', 1000); SELECT count(*) FROM t;"
answers "databases in UTF-16 too" "36|$("$FIRN" range uuid7 2024-01-01 2024-01-02 | head -n 1)" \
    "PRAGMA encoding = 'UTF-16'; CREATE TABLE t(id TEXT DEFAULT (uuid7()), n); INSERT INTO t(n) VALUES(1); SELECT length(id), firn_min('uuid7', '2024-01-01') FROM t;"

# ---- a real job --------------------------------------------------------------------------------------
file=$TMPDIR/job.db
million="WITH RECURSIVE g(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM g WHERE i < 999999) SELECT"
answers "an old table has a million times and no ID" "1000000" "
CREATE TABLE old(created TEXT, note TEXT);
INSERT INTO old $million strftime('%Y-%m-%d %H:%M:%S', 1577836800 + i * 7 / 3 * 10, 'unixepoch'), 'row ' || i FROM g;
SELECT count(*) FROM old;" "$file"
answers "one INSERT ... SELECT back-dates them, and new ones get live IDs" "1002000|1002000|0" "
CREATE TABLE event(id INTEGER PRIMARY KEY NOT NULL DEFAULT (snowflake()), created TEXT, note TEXT) STRICT, WITHOUT ROWID;
INSERT INTO event(created, note) $million NULL, 'live' FROM g WHERE i < 1000;
INSERT INTO event SELECT firn_stamp('snowflake', created), created, note FROM old;
INSERT INTO event(created, note) $million NULL, 'live' FROM g WHERE i < 1000;
SELECT count(*), count(DISTINCT id),
    (SELECT count(*) FROM event WHERE created IS NOT NULL AND substr(replace(firn_time(id, 'snowflake'), 'T', ' '), 1, 19) <> created) FROM event;" "$file"
answers "an injected duplicate is refused, so none of them was one" "Runtime error near line 2: UNIQUE constraint failed: event.id (19)" \
    "INSERT INTO event SELECT id, created, note FROM event LIMIT 1;" "$file"
answers "an UPDATE does it in place, with its own node" "1000000|1000000|0" "
ALTER TABLE old ADD COLUMN id INTEGER;
UPDATE old SET id = firn_stamp('snowflake', created);
CREATE UNIQUE INDEX old_id ON old(id);
SELECT count(id), count(DISTINCT id), (SELECT count(*) FROM old JOIN event USING (id)) FROM old;" "$file"
range="id BETWEEN firn_min('snowflake', '2020-02-01') AND firn_max('snowflake', '2020-02-29 23:59:59.999')"
like "a range of time is a search of the primary key" "(QUERY PLAN|\`--SEARCH event USING PRIMARY KEY \(id>\? AND id<\?\))" \
    "EXPLAIN QUERY PLAN SELECT count(*) FROM event WHERE $range;" "$file"
like "... of the rowid too" "(QUERY PLAN|\`--SEARCH t USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\))" \
    "CREATE TABLE t(id INTEGER PRIMARY KEY); EXPLAIN QUERY PLAN SELECT count(*) FROM t WHERE $range;"
answers "... and finds what the times say" "1" \
    "SELECT (SELECT count(*) FROM event WHERE $range) = (SELECT count(*) FROM old WHERE created >= '2020-02-01' AND created < '2020-03-01');" "$file"
answers "counts a day come from the index" "29|1" \
    "SELECT count(*), sum(n) = (SELECT count(*) FROM old WHERE created >= '2020-02-01' AND created < '2020-03-01') FROM
     (SELECT start, (SELECT count(*) FROM event WHERE id BETWEEN least AND greatest) AS n FROM firn_series('snowflake', '2020-02-01', '2020-03-01'));" "$file"

# ---- jobs ----------------------------------------------------------------------------------------------
answers "rows with the same time are numbered, a full tick runs on" "5000|5000|0|1" \
    "$million firn_stamp('snowflake', '2020-01-01') AS id FROM g LIMIT 0;
     CREATE TABLE t(id INTEGER); INSERT INTO t $million firn_stamp('snowflake', '2020-01-01') FROM g WHERE i < 5000;
     SELECT count(*), count(DISTINCT id), min(id - firn_min('snowflake', '2020-01-01')) & 4095, max(firn_unix_ns(id, 'snowflake')) / 1000000 - 1577836800000 FROM t;"
errs "... at most by max_shift" "2025-02-01" "(SELECT count(firn_stamp('js53', '2025-02-01', 'max_shift=0')) FROM firn_ids('uuid4', 65))"
answers "each connection's job has its own node" "2" "SELECT count(DISTINCT node) FROM (SELECT $(sql "SELECT firn_stamp('snowflake', 0 + 1577836800);") AS node UNION SELECT $(sql "SELECT firn_stamp('snowflake', 1577836800);"));"
# docs/guides/migrating.md: one statement makes all IDs, batches in any connection copy them.
moved=$TMPDIR/moved.db
sql "CREATE TABLE orders(n INTEGER PRIMARY KEY, created_at TEXT, id INTEGER);
     WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 1000)
     INSERT INTO orders(n, created_at) SELECT i, datetime(1546300800 + i / 3, 'unixepoch') FROM g;
     CREATE TABLE orders_ids AS SELECT n, firn_stamp('snowflake', created_at, 'job=orders-2019') AS id FROM orders ORDER BY created_at, n;" "$moved"
batch="UPDATE orders SET id = (SELECT id FROM orders_ids i WHERE i.n = orders.n) WHERE id IS NULL AND n BETWEEN"
sql "BEGIN; $batch 1 AND 500; ROLLBACK; $batch 1 AND 600;" "$moved"
sql "$batch 501 AND 1000;" "$moved"
answers "a table is moved in batches, each of which may come twice" "1000|1000|1|0" "SELECT count(id), count(DISTINCT id),
    count(DISTINCT id >> 12 & 1023), sum(substr(replace(firn_time(id, 'snowflake'), 'T', ' '), 1, 19) <> created_at) FROM orders;" "$moved"
first=$(sql "SELECT firn_stamp('snowflake', '2020-01-01', 'job=nightly');")
like "a job of a name is not begun twice" ".*job nightly was begun before: .*again=1.*" "SELECT firn_stamp('snowflake', '2020-01-01', 'job=nightly');"
answers "... but issues its IDs again with again=1" "$first" "SELECT firn_stamp('snowflake', '2020-01-01', 'job=nightly again=1');"
answers "... wherever the option is and however many blanks there are" "$first" "SELECT firn_stamp('snowflake', '2020-01-01', ' again=1   job=nightly ');"
errs "a seed needs a job with a name, or two jobs would make the same random fields" "add job=NAME" \
    "firn_stamp('uuid7', '2024-01-01', 'seed=word')" "firn_stamp('uuid7', '2024-01-01', 'max_shift=5ms seed=word')" \
    "firn_stamp('snowflake', '2024-01-01', 'seed=word')"
first=$(sql "SELECT firn_stamp('uuid7', '2024-01-01', 'job=seeded seed=word');")
answers "... which make them again with it, and others with another one" "1|1" \
    "SELECT firn_stamp('uuid7', '2024-01-01', 'job=seeded seed=word again=1') = '$first',
     firn_stamp('uuid7', '2024-01-01', 'job=second seed=another') <> '$first';"
answers "a rolled back statement leaves no ID that comes again" "0" "
CREATE TABLE t(id INTEGER PRIMARY KEY); CREATE TEMP TABLE seen AS SELECT firn_stamp('snowflake', '2020-01-01') AS id;
BEGIN; INSERT INTO t VALUES(firn_stamp('snowflake', '2020-01-01')), (snowflake()); ROLLBACK;
INSERT INTO t VALUES(firn_stamp('snowflake', '2020-01-01')), (snowflake()); SELECT count(*) FROM t JOIN seen USING (id);"

# ---- bad input -----------------------------------------------------------------------------------------
answers "NULL in is NULL out" "1" "SELECT firn_show(NULL) IS NULL AND firn_time(NULL, 'snowflake') IS NULL AND firn_min('snowflake', NULL) IS NULL
    AND firn_pack('snowflake', NULL) IS NULL AND firn_convert(NULL, 'hex') IS NULL AND firn_shard(NULL, 3) IS NULL AND uuid_to_bin(NULL) IS NULL
    AND bin_to_uuid(NULL, 1) IS NULL AND form_uuid_v1('2024-01-01', NULL, '01:02:03:04:05:06') IS NULL AND uuid_v1_timestamp(NULL) IS NULL
    AND uuid1_to_uuid6(NULL) IS NULL AND uuid5('dns', NULL) IS NULL AND NOT EXISTS (SELECT * FROM firn_series('snowflake', NULL, '2024-01-01'));"
errs "floating point is not a time" "cannot be REAL" "firn_min('snowflake', 1700000000.5)" "firn_stamp('snowflake', julianday('now'))" "form_uuid_v1(1.5, 1, '01:02:03:04:05:06')"
errs "... and no ID" "cannot be REAL" "firn_time(1.5e18, 'snowflake')" "firn_show(0.5)" "firn_convert(1.0, 'hex')"
errs "a time outside the layout is refused" "snowflake" "firn_min('snowflake', '2010-01-01')" "firn_min('snowflake', '2090-01-01')" "firn_stamp('snowflake', '2000-01-01')" "firn_max('snowflake', -9223372036854775808)" "firn_max('snowflake', 9223372036854775807)"
errs "an invalid time is refused" "" "firn_min('snowflake', 'yesterday')" "firn_min('snowflake', 'infinity')" "firn_min('snowflake', '')" "firn_min('snowflake', '2024-02-30')" "firn_min('snowflake', x'00')" "firn_min('snowflake', '2024-01-01' || char(0) || 'x')"
errs "NULL as the time gives no ID" "NULL for the time" "firn_stamp('snowflake', NULL)"
errs "another version is refused" "uuid1" "uuid_v1_timestamp('0190163d-8694-739b-aea5-966c26f8ad90')" "uuid1_to_uuid6(uuid4())" "uuid_v1_timestamp(uuid4_blob())"
errs "an ID of another width too" "" "firn_time('0190163d-8694-739b-aea5-966c26f8ad90', 'snowflake')" "firn_time(x'0011', 'snowflake')" "firn_time(-1, 'snowflake')"
errs "out of range is refused" "" "form_uuid_v1('2024-01-01', 16384, '01:02:03:04:05:06')" "form_uuid_v1('2024-01-01', -1, '01:02:03:04:05:06')" "form_uuid_v1('2024-01-01', 1, '01:02:03:04:05')" "form_uuid_v1('1500-01-01', 1, '01:02:03:04:05:06')" "firn_shard(1, 0)" "firn_shard(1, -1)" "firn_shard(1, 1.5)" "firn_pack('snowflake', 'time=2024-01-01 datacenter=32 worker=0 sequence=0')" "bin_to_uuid(x'00')" "uuid_to_bin('x')" "uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', 2)"
errs "a slip is answered with what is near" "did you mean \`snowflake" "firn_new('snowflak')" "firn_time(1, 'snowflak')"
errs "huge values are refused" "" "firn_show(zeroblob(1000000))" "firn_show(printf('%.1000000c', 'a'))" "firn_new(printf('%.1000000c', 'a'))" "uuid7(printf('%.1000000c', 'a'))" "firn_pack('snowflake', printf('%.1000000c', 'a'))" "firn_min(printf('%.1000000c', 'a'), 0)" "typeid(printf('%.1000000c', 'a'))" "firn_min('snowflake', printf('%.1000000c', '1'))"
errs "invalid options are refused" "" "uuid7('nope=1')" "snowflake(1024)" "snowflake(-1)" "snowflake(NULL)" "snowflake('node=x')" "firn_new('snowflake', 'node=1 worker=2')" "firn_new('order')" "firn_new('uuid5')" "firn_new('uuid7', '', 'integer')" "firn_new('snowflake', '', 'uuid')" "typeid('User')" "typeid('_a')" "firn_config('nope')" "firn_config('unsafe', 2)"
errs "no call says where marks are kept" "firn_config" "snowflake('store=sqlite:/tmp/x.db')" "snowflake('unsafe=1')" "firn_stamp('snowflake', 0, 'store=memory:')"
errs "a store that is shared with nobody is refused" "memory:" "firn_config('store', 'memory:') || snowflake()"
errs "steps that would share a tick, or none, are refused" "step" "* FROM firn_series('baidu', '2020-01-01', '2021-01-01', '500 milliseconds')" "* FROM firn_series('snowflake', '2020-01-01', '2021-01-01', 0)" "* FROM firn_series('snowflake', '2020-01-01', '2021-01-01', '1 month')" "* FROM firn_series('snowflake', '2020-01-01', '2021-01-01', -5)"
errs "tables say what they need" "" "* FROM firn_ids('snowflake')" "* FROM firn_ids" "* FROM firn_ids('snowflake', -1)" "* FROM firn_series('uuid4', '2020-01-01', '2021-01-01')"
errs "a bound that would be negative, and so out of order, is refused" "negative" "firn_min('instagram', '2050-01-01')"
errs "so is a new ID, unless unsigned=1, in every function that gives an INTEGER" "negative" "lable_sequential('node=1 epoch=1900-01-01')" "tsid('node=1 epoch=1900-01-01')" "discord('node=1 epoch=1900-01-01')" "firn_new('tsid', 'node=1 epoch=1900-01-01')" "firn_new('tsid', 'node=1 epoch=1900-01-01', 'dec')" "firn_stamp('lable-sequential', '2040-01-01')" "firn_min('tsid', '2090-01-01')" "* FROM firn_ids('tsid', 1, 'node=1 epoch=1900-01-01')"
answers "... and its own text is fine" "13|integer|1" "SELECT length(firn_new('tsid', 'node=2 epoch=1900-01-01', 'text')), typeof(tsid('node=3 epoch=1900-01-01 unsigned=1')), firn_stamp('lable-sequential', '2040-01-01', 'unsigned=1') < 0;"
errs "options are bounded in number" "32 generators" "(SELECT count(firn_new('uuid7', printf('stale=%dus', value))) FROM json_each('[$(seq -s, 1 33)]'))"

# ---- the store, where it must not be ---------------------------------------------------------------------
like "rows inside the store are refused, at once" ".*firn store open as 'main'.*" "BEGIN IMMEDIATE; CREATE TABLE t(id); INSERT INTO t VALUES(snowflake());" "$TMPDIR/firn.db"
like "... attached too" ".*firn store open as 'marks'.*" "ATTACH '$TMPDIR/firn.db' AS marks; SELECT firn_stamp('snowflake', 1577836800);"
answers "... but IDs without a store, and what only reads, continue" "36|2" \
    "ATTACH '$TMPDIR/firn.db' AS marks; SELECT length(uuid7()), count(*) FROM marks.namespace WHERE name IN ('snowflake', 'tsid');"
printf '.load %s\nSELECT snowflake();\n' "$library" | FIRN_STORE=sqlite:/proc/none/firn.db sqlite3 >"$TMPDIR/out" 2>&1
check "a store that cannot be had is reported with what to do" grep -q "^Runtime error.*: " "$TMPDIR/out"
finish
