# SPDX-License-Identifier: MIT
# MariaDB's replicas have the same IDs: the blocks of docs/guides/mariadb.md, as printed, on a primary with a replica, with
# MIXED and with ROW, and on two servers of a Galera cluster.
. test/tap

made=$BUILD/ext/mariadb
if [ ! -f "$made/firn_mariadb.so" ]; then
    skip "replicas of MariaDB" "ext/mariadb is not built: mysql.h is missing (libmariadb-dev)"
    finish
fi

# The servers' user must reach the plugins and the stores.
room=$(mktemp -d /tmp/firn-replicas.XXXXXX) || exit 1
trap 'test/engine stop "$TMPDIR/first"; test/engine stop "$TMPDIR/second"; rm -rf "$room"' EXIT
mkdir -p "$room/plugin/firn" "$room/store"
cp "$made/firn_mariadb.so" "$room/plugin/" && cp "$BUILD/firn/sqlite.so" "$room/plugin/firn/"
chmod -R a+rX "$room"
chmod 777 "$room/store"
export ENGINE_OWNER=$$

# begin KIND FOLDER OPTION...
begin() {
    kind=$1 folder=$TMPDIR/$2
    shift 2
    test/engine start "$kind" "$folder" --plugin-dir="$room/plugin" "$@" >"$TMPDIR/started" 2>&1
}
# on first|second [OPTION...] <STATEMENTS: one of the two servers, wherever it is.
on() {
    server=$1
    shift
    if [ "$server" = first ]; then port=$first; else port=$second; fi
    mariadb --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P "$port" -u firn -N -B "$@" 2>&1
}

# Of the threads of a replica that read and apply.
running() {
    echo "SHOW SLAVE STATUS" | on second | cut -f 11,12
}
# Until the replica has everything, or has stopped: it stays where it is when a statement fails there.
has_all() {
    [ "$(echo "SELECT @@gtid_slave_pos" | on second)" = "$position" ] || running | grep -q 'No$'
}
synced() {
    echo "SET SESSION wsrep_sync_wait = 15; SELECT 1" | on second | grep -q '^1$'
}
# Until the second server has applied what the first had written before.
await_second() {
    if [ "$kind" = galera ]; then
        await synced || await synced
    else
        position=$(echo "SELECT @@gtid_binlog_pos" | on first)
        await has_all || await has_all
    fi
}

# ---- the page ------------------------------------------------------------------------------------
awk -v place="$TMPDIR" '/^```sql$/ { file = sprintf("%s/page.%d", place, ++n); next } /^```/ { file = "" } file { print >file }' \
    docs/guides/mariadb.md
# Tables that the blocks are about, with rows.
tables="CREATE TABLE orders (note VARCHAR(20)); INSERT INTO orders SELECT concat('row ', seq) FROM seq_1_to_100;
    CREATE TABLE old (created_at DATETIME(3) NOT NULL);
    INSERT INTO old SELECT '2020-01-01' + INTERVAL seq SECOND FROM seq_1_to_100;"
# And what applications do to the tables afterwards.
printf 'loaded\nloaded\n' >"$room/loaded"
chmod 644 "$room/loaded"
uses="INSERT INTO orders (note) VALUES ('new'), ('newer'); LOAD DATA INFILE '$room/loaded' INTO TABLE orders (note); UPDATE orders SET note = concat(note, '!');
    DELETE FROM orders WHERE note = 'row 7!'; INSERT INTO old (created_at) VALUES ('2026-01-01'); UPDATE old SET created_at = created_at + INTERVAL 1 SECOND;
    UPDATE event SET note = 'c' WHERE note = 'b';
    CREATE TABLE copied AS SELECT snowflake() AS id, note FROM orders ORDER BY note; UPDATE copied SET note = 'd';"

# try_page SENTENCE DATABASE FORMAT: runs it all on the first server, and compares the tables of the second.
try_page() {
    echo "CREATE DATABASE $2; USE $2; $tables" | on first
    said=
    for block in 1 2 3 4 5 6 7 8 9; do
        [ ! -f "$TMPDIR/page.$block" ] ||
            said="$said$({ [ -z "$3" ] || echo "SET SESSION binlog_format = $3;"; cat "$TMPDIR/page.$block"; } | on first "$2" | grep '^ERROR')"
    done
    said="$said$({ [ -z "$3" ] || echo "SET SESSION binlog_format = $3;"; echo "$uses"; } | on first "$2")"
    same "$1: the page's blocks run" "" "$said"
    await_second
    for table in event orders old copied; do
        rows=$(echo "SELECT * FROM $table ORDER BY id" | on first "$2")
        same "$1: $table is the same on both" "$rows" "$(echo "SELECT * FROM $table ORDER BY id" | on second "$2")"
        count=$(echo "SELECT count(*) = count(DISTINCT id) AND min(id) > 0 AND count(*) > 1 FROM $table" | on second "$2")
        same "$1: each row of $table has an ID" 1 "$count"
    done
    same "$1: all columns have the default" 3 \
        "$(echo "SELECT count(*) FROM information_schema.columns WHERE table_schema = '$2' AND column_default LIKE '%snowflake%'" | on second)"
}
# Does what the page warns of; if the result does not differ, the comparison sees nothing.
try_other_way() {
    echo "CREATE DATABASE $2_wrong; USE $2_wrong; SET SESSION binlog_format = ROW; CREATE TABLE t (n INT); INSERT INTO t VALUES (1), (2);
        ALTER TABLE t ADD id BIGINT DEFAULT (snowflake());" | on first
    await_second
    rows=$(echo "SELECT id FROM t" | on first "$2_wrong")
    differing=$(echo "SELECT count(*) FROM t WHERE id > 0 AND id NOT IN ($(echo "$rows" | paste -sd,))" | on second "$2_wrong")
    same "$1: a column that is added with the default differs, as the page says" 2 "$differing"
}

# ---- a primary and a replica ---------------------------------------------------------------------
for server in first second; do
    number=$((${number:-0} + 1))
    FIRN_STORE="sqlite:$room/store/$server.db?unsafe=1" FIRN_NODE=$number begin mysql $server --server-id=$number --log-bin=firn
    case $? in
    0) ;;
    77)
        skip "replicas of MariaDB" "MariaDB is not installed"
        finish
        ;;
    *)
        fail "MariaDB starts" "$(cat "$TMPDIR/started")"
        finish
        ;;
    esac
done
first=$(sed -n 1p "$TMPDIR/first/port") second=$(sed -n 1p "$TMPDIR/second/port")
echo "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = $first, MASTER_USER = 'firn', MASTER_SSL = 0,
    MASTER_SSL_VERIFY_SERVER_CERT = 0, MASTER_USE_GTID = slave_pos; START SLAVE" | on second
on first --force <"$made/install.sql" >"$TMPDIR/installed"
await_second
same "the replica has the functions of the primary" "$(echo "SELECT count(*) FROM mysql.func" | on first)" \
    "$(echo "SELECT count(*) FROM mysql.func" | on second)"
try_page "replica, MIXED" mixed MIXED
sed -i "s/created_at, '/&again, /" "$TMPDIR"/page.* # a job's name is used up
try_page "replica, ROW" row_based ROW
third="ALTER TABLE late MODIFY id BIGINT NOT NULL DEFAULT (snowflake()), ADD PRIMARY KEY (id)"
said=$(echo "CREATE TABLE late (n INT, id BIGINT); INSERT INTO late VALUES (1, snowflake()), (2, NULL); $third" | on first mixed)
same "the third step refuses a row that has no ID" 1 "$(echo "$said" | grep -c '^ERROR 1265')"
same "and succeeds when the second step came again" 2 \
    "$(echo "UPDATE late SET id = snowflake() WHERE id IS NULL; $third; SELECT count(DISTINCT id) FROM late" | on first mixed)"
await_second
same "the replica runs" "Yes	Yes" "$(running)"
numbers="SELECT number FROM bill"
same "dated numbers are the same on both" "$(echo "$numbers" | on first mixed | grep .)" "$(echo "$numbers" | on second mixed)"
echo "SET GLOBAL log_bin_trust_function_creators = 1" | on first
echo "SET GLOBAL log_bin_trust_function_creators = 1" | on second
echo "CREATE DATABASE gapless" | on first
on first gapless <ext/mariadb/gapless.sql >"$TMPDIR/installed"
echo "CALL firn_create_series('a', TRUE, 0); DO firn_next_in('a', 'one'); BEGIN; DO firn_next_in('a', 'gone'); ROLLBACK;
    SELECT count(firn_next_in('a', seq)) FROM seq_1_to_3" | on first gapless >"$TMPDIR/installed"
await_second
chain="CALL firn_chain('a', 0)"
same "series without gaps have the same chain" "$(echo "$chain" | on first gapless | grep -E '^a [1-4] ')" "$(echo "$chain" | on second gapless)"
same "and a replica that becomes the primary continues it" "a: 5 numbers, 1 to 5, no gap and no duplicate; the chain is whole" \
    "$(echo "DO firn_next_in('a', NULL); $chain" | on second gapless | "$FIRN" verify 2>&1)"
try_other_way "replica" rows
for server in first second; do
    test/engine stop "$TMPDIR/$server"
done

# ---- Galera --------------------------------------------------------------------------------------
export FIRN_STORE="sqlite:$room/store/galera.db?unsafe=1"
begin galera first
case $? in
0) ;;
77)
    lacks "Galera" galera-4
    finish
    ;;
*)
    fail "the Galera cluster starts" "$(cat "$TMPDIR/started")"
    finish
    ;;
esac
first=$(sed -n 1p "$TMPDIR/first/port") second=$(sed -n 2p "$TMPDIR/first/port")
for server in first second; do
    on $server --force <"$made/install.sql" >"$TMPDIR/installed"
done
try_page "Galera" cluster ""
same "both servers are in the cluster" "2	2" "$(for server in first second; do
    echo "SHOW STATUS LIKE 'wsrep_cluster_size'" | on $server
done | cut -f 2 | paste -s)"
try_other_way "Galera" cluster

# ---- a store in the cluster ----------------------------------------------------------------------
# A cluster compares written rows only, so a namespace that is closed on one server would not keep a new key on the other
# from being granted. The floor of the store's own row counts the transactions that lock it.
locked() {
    echo "SET SESSION wsrep_sync_wait = 1; SELECT floor FROM firn_namespace WHERE name = ''" | on "$1" firn
}
# Issues an ID of a worker, from a store on one of the servers.
issue() {
    env -u FIRN_STORE "$FIRN" new snowflake ns=cluster datacenter=0 worker="$2" --store "mysql://firn@127.0.0.1:$1/firn" -q
}
issue "$first" 1 >"$TMPDIR/id"
before=$(locked first)
issue "$second" 2 >"$TMPDIR/id"
same "in a cluster, the first reservation of a key locks the store" $((before + 1)) "$(locked second)"
issue "$second" 2 >"$TMPDIR/id"
same "and the next one does not" $((before + 1)) "$(locked first)"
finish
