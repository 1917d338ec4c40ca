# SPDX-License-Identifier: MIT
# Masks of the PostgreSQL extension: the command's answers, a generated column and an index, who may call them, a key that
# others can read or that is another one, parallel workers, and a dump. Dated numbers of a store.
. test/postgres.tap
private_test "PostgreSQL masks"
umask 022 # others may not write the list of masks
secrets=$(mktemp -d /tmp/firn-masks.XXXXXX) # the server's user cannot reach TMPDIR
cleanup() {
    test/engine stop "$place"
    private_end
    rm -rf "$secrets"
}
key=$secrets/mask.key
(umask 077 && printf '1 %064d\n' 0 >"$key")
id=017f22e2-79b0-7cc3-98c4-dc0c0c07398f masked=ee4010b4-ae5e-47e1-b9da-ad69663a79d9
line="name=orders width=uuid key_file=mask.key fingerprint=78555f0c"
rows="name=rows key_file=$key fingerprint=$("$FIRN" mask fingerprint --name rows --key-file "$key")"
narrow="name=narrow width=31 key_file=$key fingerprint=$("$FIRN" mask fingerprint --name narrow width=31 --key-file "$key")"
(umask 077 && printf '1 %064d\n2 %064d\n' 0 7 >"$secrets/ring.key")
eights="--name eights width=uuid8 --key-file $secrets/ring.key key_number=2"
ords="--name ord prefix=ord --key-file $secrets/ring.key key_number=2"
# shellcheck disable=SC2086 # the words of eights and ords
rotating="name=eights width=uuid8 key_file=ring.key key_number=2 fingerprint=$("$FIRN" mask fingerprint $eights)
name=ord prefix=ord key_file=ring.key key_number=2 fingerprint=$("$FIRN" mask fingerprint $ords)"
(umask 077 && printf '1 efcdab89674523011032547698badcfe\n' >"$secrets/half.key")
old="name=old width=uuid47 key_file=half.key
 fingerprint=$("$FIRN" mask fingerprint --name old width=uuid47 --key-file "$secrets/half.key")"
printf '%s\n' "$line" "$rows" "$narrow" "$rotating" "$(printf '%s' "$old" | tr -d '\n')" >"$secrets/masks"
check "a server starts" test/engine start postgres "$place"
port=$(sed -n 1p "$place/port")
[ "$(id -u)" != 0 ] || chown -R nobody "$secrets"
# ask STATEMENT...: one session; the answer, and an error as "SQLSTATE: message".
ask() {
    printf '%s;\n' "$@" | psql -XqAt -v VERBOSITY=verbose -v SHOW_CONTEXT=never -h 127.0.0.1 -p "$port" -U firn \
        "${database:-postgres}" 2>&1 | sed -e '/^LOCATION:/d'
}
# refused SENTENCE WORDS STATEMENT...
refused() {
    sentence=$1 words=$2
    shift 2
    said=$(ask "$@" | paste -sd' ')
    case $said in
    *ERROR:*"$words"*) pass "$sentence" ;;
    *) fail "$sentence" "$said" ;;
    esac
}
mask_of() {
    "$FIRN" mask --name "$1" --key-file "$key" "$2"
}
same "the extension is created" "" "$(ask 'CREATE EXTENSION firn')"
refused "without a file there are no masks" "this server has no masks" "SELECT firn_mask(1::bigint, 'rows')"
echo "firn.masks = '$secrets/masks'" >>"$place/data/pg/postgresql.conf"
ask 'SELECT pg_reload_conf()' >/dev/null
has_masks() {
    [ "$(ask "SELECT firn_mask(1::bigint, 'rows')")" = "$(mask_of rows 1)" ]
}
await has_masks
check "a reload brings them" has_masks

# ---- answers -------------------------------------------------------------------------------------
same "a uuid is masked as the command does" $masked "$(ask "SELECT firn_mask('$id'::uuid, 'orders')")"
same "and comes back" $id "$(ask "SELECT firn_unmask('$masked'::uuid, 'orders')")"
same "a bigint is" "$(mask_of rows 1541815603606036480)" "$(ask "SELECT firn_mask(1541815603606036480, 'rows')")"
same "10000 bigints come back, all different" "10000 0" "$(ask "SELECT count(DISTINCT firn_mask(n::bigint, 'rows')),
    count(*) FILTER (WHERE firn_unmask(firn_mask(n::bigint, 'rows'), 'rows') <> n) FROM generate_series(1, 10000) n" | tr '|' ' ')"
same "of 31 bits, too" "t" "$(ask "SELECT firn_mask(5::bigint, 'narrow') < 2147483648")"
same "NULL is NULL" "t" "$(ask "SELECT firn_mask(NULL::bigint, 'rows') IS NULL AND firn_unmask('$id'::uuid, NULL) IS NULL")"
refused "an unknown mask is refused, and the nearest named" "there is no mask 'order'" "SELECT firn_mask('$id'::uuid, 'order')"
refused "a mask of the other type" "mask rows has 64 bits, and a uuid has 128" "SELECT firn_mask('$id'::uuid, 'rows')"
refused "a negative bigint" "22003" "SELECT firn_mask(-1::bigint, 'rows')"
refused "a uuid of another version" "takes version 7" "SELECT firn_mask('$masked'::uuid, 'orders')"

# shellcheck disable=SC2086 # the words of eights
same "a UUID of version 8 comes back, of an old key too" "$id $id" "$(ask "SELECT firn_unmask('$("$FIRN" mask $eights $id)'::uuid, 'eights'),
    firn_unmask('$("$FIRN" mask ${eights%2}1 $id)'::uuid, 'eights')" | tr '|' ' ')"
refused "no column has a mask that may change its key" "mask eights may change its key" \
    "CREATE TABLE bad AS SELECT firn_mask('$id'::uuid, 'eights')"
refused "nor has an index" "mask ord may change its key" "SELECT firn_mask(1::bigint, 'ord')"
refused "a bigint does not name its key" "Give the text" "SELECT firn_unmask(1::bigint, 'ord')"
# ---- UUIDv47: the published answers ---------------------------------------------------------------
published=$(grep -v '^#' test/vectors/uuid47.tsv | grep '^efcdab89674523011032547698badcfe')
check "there are published answers of one key" [ -n "$published" ]
same "UUIDv47 is as published, in both directions" "" "$(printf '%s\n' "$published" | while IFS='	' read -r _ plain_id hidden; do
    [ "$(ask "SELECT firn_mask('$plain_id'::uuid, 'old'), firn_unmask('$hidden'::uuid, 'old')")" = "$hidden|$plain_id" ] || echo "$plain_id"
done)"

# ---- columns, indexes, parallel workers ----------------------------------------------------------
ask "CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuid7(), public_id uuid GENERATED ALWAYS AS (firn_mask(id, 'orders')) STORED UNIQUE)" \
    'INSERT INTO orders SELECT uuid7() FROM generate_series(1, 20000)' 'ANALYZE orders' >/dev/null
same "a generated column has masked IDs" "20000 20000" "$(ask "SELECT count(DISTINCT public_id), count(*) FILTER (WHERE
    firn_unmask(public_id, 'orders') = id) FROM orders" | tr '|' ' ')"
same "a request finds its row by the primary key" "1" \
    "$(ask "EXPLAIN SELECT * FROM orders WHERE id = firn_unmask('$masked'::uuid, 'orders')" | grep -c orders_pkey)"
ask "CREATE TABLE plain (id bigint PRIMARY KEY)" 'INSERT INTO plain SELECT generate_series(1, 20000)' \
    "CREATE INDEX plain_masked ON plain (firn_mask(id, 'rows'))" 'ANALYZE plain' >/dev/null
same "an index on the masked ID is used" "1" \
    "$(ask "EXPLAIN SELECT * FROM plain WHERE firn_mask(id, 'rows') = 5" | grep -c plain_masked)"
same "and finds the row" 17 "$(ask "SELECT id FROM plain WHERE firn_mask(id, 'rows') = $(mask_of rows 17)")"
same "parallel workers mask" "20000" "$(ask "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
    SET debug_parallel_query = on; SET force_parallel_mode = on" "SELECT count(DISTINCT firn_mask(id, 'rows')) FROM plain" 2>&1 | tail -n 1)"

# ---- rights --------------------------------------------------------------------------------------
ask 'CREATE ROLE visitor LOGIN' 'GRANT SELECT ON orders, plain TO visitor' >/dev/null
for call in "firn_mask('$id'::uuid, 'orders')" "firn_unmask('$masked'::uuid, 'orders')" "firn_mask(1::bigint, 'rows')" "firn_unmask(1::bigint, 'rows')"; do
    refused "another role may not call ${call%%(*} of ${call##*, }" "42501" 'SET ROLE visitor' "SELECT $call"
done
refused "nor see the name of the file" "42501" 'SET ROLE visitor' 'SELECT uuid7()' 'SHOW firn.masks'
refused "nor name another" "55P02" 'SET ROLE visitor' 'SELECT uuid7()' 'SET firn.masks = $$/tmp/other$$'
ask 'CREATE ROLE shop' 'GRANT EXECUTE ON FUNCTION firn_mask(bigint, text) TO shop' >/dev/null
same "with EXECUTE it may" "$(mask_of rows 1)" "$(ask 'SET ROLE shop' "SELECT firn_mask(1::bigint, 'rows')")"
same "a name that is set before the extension is loaded does not count" "$(mask_of rows 1)" \
    "$(ask 'SET ROLE shop' 'SET firn.masks = $$/tmp/other$$' "SELECT firn_mask(1::bigint, 'rows')" | tail -n 1)"

ask "CREATE FUNCTION order_of(masked uuid) RETURNS uuid LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS \$\$ SELECT public.firn_unmask(masked, 'orders') \$\$" >/dev/null
same "a function with the name in it is for one mask" $id "$(ask 'SET ROLE visitor' "SELECT order_of('$masked')")"

# ---- a dump --------------------------------------------------------------------------------------
pg_dump -h 127.0.0.1 -p "$port" -U firn postgres >"$TMPDIR/dump" 2>"$TMPDIR/said"
ask 'CREATE DATABASE other' >/dev/null
database=other
psql -Xq -h 127.0.0.1 -p "$port" -U firn other <"$TMPDIR/dump" >"$TMPDIR/said" 2>&1
same "a dump is restored, with its generated column and index" "20000 1" "$(ask "SELECT count(*) FILTER (WHERE
    firn_unmask(public_id, 'orders') = id), (SELECT id FROM plain WHERE firn_mask(id, 'rows') = $(mask_of rows 1)) FROM orders" | tr '|' ' ')"
database=postgres

# ---- the file ------------------------------------------------------------------------------------
chmod 640 "$key"
refused "a key that others can read" "hmod 600" "SELECT firn_mask(1::bigint, 'rows')"
chmod 600 "$key"
(umask 077 && printf '1 %063d1\n' 0 >"$key")
refused "another key is refused" "has fingerprint" "SELECT firn_mask(1::bigint, 'rows')"
refused "also when a row is written" "has fingerprint" 'INSERT INTO orders DEFAULT VALUES'
refused "a role with EXECUTE does not see the names of files" "the masks cannot be read" 'SET ROLE shop' "SELECT firn_mask(1::bigint, 'rows')"
refused "nor who calls a function of a superuser" "the masks cannot be read" 'SET ROLE visitor' "SELECT order_of('$masked')"
same "nor the fingerprint" "" "$(printf '%s' "$said" | grep -E "$secrets|fingerprint")"
same "also with client_min_messages" "" \
    "$(ask 'SET ROLE shop' 'SET client_min_messages = debug5' "SELECT firn_mask(1::bigint, 'rows')" | grep -E "$secrets|has fingerprint")"
check "the log has both" grep -q "firn: $secrets/masks:[0-9]*: mask .* has fingerprint" "$place"/log.*
hex=$(printf '%064d' 7)
printf '%s\n' "name=rows key_file=$hex fingerprint=00000000" >"$secrets/masks"
refused "a key instead of its file" "the line has 32 hex digits in a row" "SELECT firn_mask(1::bigint, 'rows')"
same "is shown neither to a client nor in the log" "" "$(printf '%s' "$said" | cat - "$place"/log.* | grep -F "$(printf '%032d' 0)")"
same "no error shows the key" "" "$(grep -F "$(printf '%063d1' 0)" "$place"/log.*)"

# ---- dated numbers -------------------------------------------------------------------------------
refused "without a store there are no numbers" "series need a store" "SELECT firn_number('bills')"
url="sqlite:$secrets/numbers.db?unsafe=1"
echo "firn.store = '$url'" >>"$place/data/pg/postgresql.conf"
ask 'SELECT pg_reload_conf()' >"$TMPDIR/said"
defines="SELECT firn_number('bills', 'template=INV{counter:5}')"
has_store() {
    ask "$defines" | grep -q '^INV'
}
await has_store
first=$("$FIRN" series peek bills --store "$url" | sed 's/INV0*//')
numbers() {
    for each in "$@"; do printf 'INV%05d\n' $((first + each)); done
}
same "a session continues the series, and a rollback leaves a gap" "$(numbers 0 2)" \
    "$(ask "SELECT firn_number('bills')" 'BEGIN' "DO \$\$BEGIN PERFORM firn_number('bills'); END\$\$" 'ROLLBACK' "SELECT firn_number('bills')")"
same "the command continues there" "$(numbers 3)" "$("$FIRN" series bills --store "$url")"
same "as a default of a column" "$(numbers 4 5 6)" "$(ask "CREATE TABLE bill (number text PRIMARY KEY DEFAULT firn_number('bills'), total int)" \
    'INSERT INTO bill (total) VALUES (1), (2), (3)' 'SELECT number FROM bill ORDER BY number')"
for each in 1 2 3 4; do
    ask "SELECT firn_number('bills') FROM generate_series(1, 50)" >"$TMPDIR/bills.$each" &
    sessions="${sessions:-} $!"
done
for each in $sessions; do wait "$each"; done
same "four sessions at once take numbers" "" "$(grep -hv '^INV' "$TMPDIR"/bills.*)"
same "none twice" 200 "$(cat "$TMPDIR"/bills.* | sort -u | wc -l)"
same "a session may use more series than it keeps open" "40 $(numbers 207)" \
    "$(ask "SELECT count(firn_number('many' || n, 'template=N{counter:4}')) FROM generate_series(1, 40) n" "SELECT firn_number('bills')" | paste -sd' ')"
same "a time chooses the period" "2020-05-02-01" \
    "$(ask "SELECT firn_number('days', 'template={year}-{month}-{day}-{counter:2} zone=Pacific/Kiritimati', '2020-05-01 12:00Z'::timestamptz)")"
refused "a closed period is refused" "period 2020-05-01 of series days is closed" \
    "SELECT firn_number('days', 'template={year}-{month}-{day}-{counter:2} zone=Pacific/Kiritimati', '2020-05-01 01:00Z'::timestamptz)"
refused "a time without a zone too" "a time without a zone depends on" "SELECT firn_number('days', '', '2020-05-01'::date)"
refused "and a series without its definition" "the store has no series none" "SELECT firn_number('none')"
refused "no file of the server is named" "Remove key_file=" "SELECT firn_number('keyed', 'template={counter:6} key_file=$key')"
refused "nobody takes numbers without a grant" "42501" 'SET ROLE shop' "SELECT firn_number('bills')"
finish
