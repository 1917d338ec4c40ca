# SPDX-License-Identifier: MIT
# ext/mariadb/gapless.sql in a real server: numbers belong to their transactions under rollbacks, savepoints, errors, kill -9,
# deadlocks and XA; the chain, in the binary log too; rights; a lock that nobody releases; a dump and an older copy.
. test/gapless.tap
mark=ERROR

gapless_server mysql MariaDB --log-bin=firn --server-id=1 --binlog-format=MIXED --log-bin-trust-function-creators=1
port=$(sed -n 1p "$place/port") database=firn

# client [OPTION...] <STATEMENTS: rows without their head.
client() {
    mariadb --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P "$port" -u "${user:-firn}" -NB "$@" 2>&1
}
# ask STATEMENT...: one session, which continues after errors.
ask() {
    printf '%s;\n' "$@" | client --force $database
}
next() {
    echo "SELECT firn_next_in('$1', NULL)"
}
chain_of() {
    ask "CALL firn_chain('$1', 0)"
}

# ---- installation and rights ---------------------------------------------------------------------
same "the file is installed" "" "$(client firn <ext/mariadb/gapless.sql)"
ask "CALL firn_create_series('a', TRUE, 0)" "CALL firn_create_series('b', TRUE, 0)" "CALL firn_create_series('c', TRUE, 0)" \
    "CALL firn_create_series('plain', FALSE, 0)" "CALL firn_create_series('moved', FALSE, 4711)" \
    "CREATE TABLE invoice (series VARCHAR(63), number BIGINT CHECK (number < 1000), PRIMARY KEY (series, number))" >"$TMPDIR/said"
echo "CREATE USER app@'%'; GRANT EXECUTE ON FUNCTION firn.firn_next_in TO app@'%'" |
    mariadb --no-defaults --skip-ssl-verify-server-cert -S "$place/data/s1" -u root >"$TMPDIR/said" 2>&1
user=app database=
says "with EXECUTE an account takes numbers" "1" "SELECT firn.firn_next_in('plain', NULL)"
for statement in 'SELECT * FROM firn.firn_series' "CALL firn.firn_create_series('own', FALSE, 0)" "CALL firn.firn_chain('a', 0)"; do
    refuses "and may not run ${statement%% firn*}" denied "$statement"
done
user=firn database=firn
says "a series continues from another program's" "4712" "$(next moved)"
refuses "an unknown series is refused" "firn: there is no series 'plian'" "$(next plian)"
refuses "nor a name that breaks lines" "firn_series.name" "CALL firn_create_series('a b', FALSE, 0)"
refuses "nor a second one" "1062" "CALL firn_create_series('a', FALSE, 0)"
ask "CALL firn_create_series('blank', TRUE, 0)"
says "a blank after the name" "1
2" "SELECT firn_next_in('blank ', NULL)" "$(next blank)"
same "is not in the chain" "blank: 2 numbers, 1 to 2, no gap and no duplicate; the chain is whole" "$(chain_of blank | "$FIRN" verify 2>&1)"
refuses "a payload needs a chain" "has no chain" "SELECT firn_next_in('plain', 'x')"
refuses "the number cannot be put back" "one step at a time" "UPDATE firn_series SET last = 0 WHERE name = 'plain'"
refuses "nor a series removed" "a series stays" "DELETE FROM firn_series WHERE name = 'plain'"
refuses "nor all" "1701" "TRUNCATE firn_series"
refuses "a transaction that may only read takes no number" "1792" 'START TRANSACTION READ ONLY' "$(next plain)"
refuses "nor a session whose replicas would get other times" "set binlog_format to MIXED or ROW" "SET binlog_format = 'STATEMENT'" "$(next plain)"

# ---- a number belongs to its transaction ---------------------------------------------------------
says "a rollback gives the number back" "2
2" BEGIN "$(next plain)" ROLLBACK "$(next plain)"
says "a savepoint does" "3
4
4
5" BEGIN "$(next plain)" 'SAVEPOINT s' "$(next plain)" 'ROLLBACK TO s' "$(next plain)" COMMIT "$(next plain)"
refuses "an error gives it back" "4025" \
    "INSERT INTO invoice VALUES ('x', 994 + firn_next_in('plain', NULL)), ('x', 994 + firn_next_in('plain', NULL))" # 999, then 1000
same "also within a transaction that continues" "6" "$(ask BEGIN "INSERT INTO invoice VALUES ('x', 1000 + firn_next_in('plain', NULL))" "$(next plain)" COMMIT | tail -n 1)"
says "each row of a statement has its own" "7
8
9" "SELECT firn_next_in('plain', NULL) FROM seq_1_to_3"
says "in any database of the server" "10" "USE mysql" "SELECT firn.firn_next_in('plain', NULL)"
ask "XA START 'orphan'" "DO firn_next_in('plain', NULL)" "XA END 'orphan'" "XA PREPARE 'orphan'" >"$TMPDIR/said"
refuses "an XA transaction keeps it" "1205" "SET innodb_lock_wait_timeout = 1" "$(next plain)"
same "and is listed" "orphan" "$(ask 'XA RECOVER' | cut -f 4)"
says "others get the next one after its end" "12" "XA COMMIT 'orphan'" "$(next plain)"

# hold SERIES: a session that has taken a number and waits; `release` ends it.
hold() {
    mkfifo "$TMPDIR/hold"
    client --force -n firn <"$TMPDIR/hold" >"$TMPDIR/held" 2>&1 &
    holder=$!
    exec 7>"$TMPDIR/hold"
    printf '%s;\n' BEGIN 'SELECT connection_id()' "$(next "$1")" >&7
    await has_taken
}
has_taken() {
    [ "$(wc -l <"$TMPDIR/held")" = 2 ]
}
release() {
    printf '%s;\n' "$1" >&7
    exec 7>&-
    wait "$holder"
    rm "$TMPDIR/hold"
}
hold plain
refuses "others wait for a session that holds it" "1205" 'SET innodb_lock_wait_timeout = 0' "$(next plain)"
says "which the query of the page names" "$(head -n 1 "$TMPDIR/held")" "$(sed -n '/FROM information_schema.innodb_trx/p' docs/guides/gapless.md) LIMIT 1"
says "other series do not wait" "4713" 'SET innodb_lock_wait_timeout = 0' "$(next moved)"
release ROLLBACK
waits() { # innodb_trx is a copy of 100 ms ago, and not renewed while it is read more often
    [ "$(ask "SELECT count(*) FROM information_schema.processlist WHERE info LIKE '%FOR UPDATE%' AND id <> connection_id()")" = 1 ]
}
ask "CALL firn_create_series('waited', TRUE, 0)"
hold waited
ask "SET time_zone = 'SYSTEM'" "$(next waited)" >"$TMPDIR/waited" &
waiter=$!
await waits
began=$(ask 'SELECT utc_timestamp(6)')
release COMMIT
wait $waiter
says "a waiter gets the next number, and a time after the lock" "1" "SELECT at > '$began' FROM firn_entry WHERE series = 'waited' AND number = 2"
ask "CALL firn_create_series('ahead', TRUE, 0)" "UPDATE firn_series SET last = 1, at = '2999-01-01' WHERE name = 'ahead'" >"$TMPDIR/said"
says "a time is never before the last number's, also if the clock was ahead" "2	2999-01-01 00:00:00.000000" "DO firn_next_in('ahead', NULL)" \
    "SELECT number, at FROM firn_entry WHERE series = 'ahead'"
says "in every time zone" "1" "SET time_zone = '-05:00'" "DO firn_next_in('waited', NULL)" \
    "SELECT abs(timestampdiff(SECOND, at, utc_timestamp())) < 600 FROM firn_entry WHERE series = 'waited' AND number = 3"

# ---- faults --------------------------------------------------------------------------------------
ask "XA START 'survivor'" "DO firn_next_in('moved', NULL)" "XA END 'survivor'" "XA PREPARE 'survivor'" >"$TMPDIR/said"
hold plain
test/engine kill "$place"
release COMMIT
check "the server starts again after kill -9" test/engine restart "$place"
says "which gave the number back" "13" "$(next plain)"
refuses "an XA transaction still keeps its own" "1205" "SET innodb_lock_wait_timeout = 1" "$(next moved)"
says "which its rollback gives back" "4714" "XA ROLLBACK 'survivor'" "$(next moved)"
same "many writers leave no gap and no duplicate" "" "$(/usr/bin/python3 test/gapless.py mariadb "$port" 2>&1)"
chains() {
    for series in a b c; do
        chain_of $series >"$TMPDIR/$series" && "$FIRN" verify "$TMPDIR/$series"
    done | grep -c 'the chain is whole'
}
same "and the chains hold" "3" "$(chains)"
says "the chain has all invoices" "0" "SELECT count(*) FROM firn_entry e LEFT JOIN invoice i USING (series, number)
    WHERE series IN ('a', 'b', 'c') AND i.series IS NULL"
log=$(ask 'SHOW BINARY LOGS' | tail -n 1 | cut -f 1)
same "replicas get rows, not calls" "0" "$(ask "SHOW BINLOG EVENTS IN '$log'" | grep -c 'firn_next_in')"

# ---- copies --------------------------------------------------------------------------------------
"$FIRN" verify --head "$TMPDIR/a" >"$TMPDIR/heads"
last=$(wc -l <"$TMPDIR/a")
mariadb-dump --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P "$port" -u firn --single-transaction --routines firn >"$TMPDIR/dump" 2>"$TMPDIR/said"
ask "$(next a)" 'CREATE DATABASE restored' >"$TMPDIR/said"
chain_of a | "$FIRN" verify --head >>"$TMPDIR/heads"
same "a dump with its routines is restored" "" "$(client restored <"$TMPDIR/dump")"
database=restored chain_of a >"$TMPDIR/older"
same "with its chain" "$(cat "$TMPDIR/a")" "$(cat "$TMPDIR/older")"
same "but without the later heads" "firn: series a ends at $last, and --known has number $((last + 1)): the numbers between are lost, as after the restore of an older copy; issue none before you have them again" \
    "$("$FIRN" verify --known "$TMPDIR/heads" "$TMPDIR/older" 2>&1 | sed "s,^firn: $TMPDIR/older[^:]*: ,firn: ,")"
same "it continues" "$((last + 1))" "$(database=restored ask "$(next a)")"
finish
