# SPDX-License-Identifier: MIT
# ext/postgres/gapless.sql in a real server: numbers belong to their transactions under rollbacks, savepoints, errors, kill -9,
# deadlocks, two-phase commit and every isolation level; the chain; rights; a lock that nobody releases; a dump, an older copy
# and a standby that is promoted.
. test/gapless.tap
mark=ERROR:

gapless_server postgres PostgreSQL -c max_prepared_transactions=4 -c deadlock_timeout=20ms
PGHOST=127.0.0.1 PGPORT=$(sed -n 1p "$place/port") PGUSER=firn PGDATABASE=postgres
export PGHOST PGPORT PGUSER PGDATABASE

# ask STATEMENT...: one session; the answers, and errors as "SQLSTATE: message".
ask() {
    printf '%s;\n' "$@" | psql -XqAt -v VERBOSITY=verbose -v SHOW_CONTEXT=never 2>&1 | sed '/^LOCATION:/d'
}
next() {
    echo "SELECT firn_next_in('$1')"
}
install() {
    psql -Xq -v ON_ERROR_STOP=1 -f ext/postgres/gapless.sql 2>&1
}
chain_of() {
    psql -XqAt -c "SELECT firn_chain('$1')"
}

# ---- installation and rights ---------------------------------------------------------------------
ask 'CREATE ROLE app LOGIN' 'CREATE SCHEMA firn_gapless AUTHORIZATION app' >"$TMPDIR/said"
check "a schema of somebody else is refused" sh -c '! psql -Xq -v ON_ERROR_STOP=1 -f ext/postgres/gapless.sql'
ask 'DROP SCHEMA firn_gapless' 'ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO app' \
    'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO app' >"$TMPDIR/said"
# Operators that fit expressions of the file better than PostgreSQL's own: a type of oid with oid, and text with name.
ask 'CREATE ROLE mallory' 'GRANT CREATE ON SCHEMA public TO mallory' 'SET ROLE mallory' \
    "CREATE FUNCTION same(oid, regprocedure) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE ''called''; END'" \
    "CREATE FUNCTION join(text, name) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE ''called''; END'" \
    'CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = regprocedure, FUNCTION = same)' \
    'CREATE OPERATOR || (LEFTARG = text, RIGHTARG = name, FUNCTION = join)' >"$TMPDIR/said"
refuses "without a schema of the search_path nothing is installed" "3F000: firn: no schema of the search_path exists" \
    'SET search_path = nowhere' '\i ext/postgres/gapless.sql '
same "the file is installed, and calls no operator of another role" "" "$(install)"
says "everything belongs to a role that may not log in" "firn_owner|f" \
    "SELECT DISTINCT o.rolname, o.rolcanlogin FROM pg_roles o WHERE o.oid IN (
        SELECT relowner FROM pg_class WHERE relnamespace = 'firn_gapless'::regnamespace UNION
        SELECT proowner FROM pg_proc WHERE pronamespace = 'firn_gapless'::regnamespace OR proname ~ '^firn_'
        UNION SELECT nspowner FROM pg_namespace WHERE nspname = 'firn_gapless')"
ask "SELECT firn_create_series('a', true), firn_create_series('b', true), firn_create_series('c', true)" \
    "SELECT firn_create_series('plain'), firn_create_series('moved', last => 4711), firn_create_series('waited', true)" >"$TMPDIR/said"
for call in "firn_next_in('plain')" "firn_create_series('own')" "firn_chain('a')"; do
    refuses "without a grant, a role may not call ${call%%(*}" 42501 'SET ROLE app' "SELECT $call"
done
for statement in 'SELECT * FROM firn_gapless.series' 'UPDATE firn_gapless.series SET last = 0' "SELECT firn_gapless.take('plain', '-', true)"; do
    refuses "nor run ${statement%% firn*}" 42501 'SET ROLE app' "$statement"
done
ask 'GRANT EXECUTE ON FUNCTION firn_next_in TO app' >"$TMPDIR/said"
says "with EXECUTE it takes numbers" "1" 'SET ROLE app' "$(next plain)"
says "and its temporary functions are not called" "2" 'SET ROLE app' \
    "CREATE FUNCTION pg_temp.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT 1 / 0'" \
    "CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz'" "$(next plain)"
says "a series continues from another program's" "4712" "$(next moved)"
refuses "an unknown series is refused" "42704: firn: there is no series 'plian'" "$(next plian)"
refuses "nor a name that breaks lines" "series_name_check" "SELECT firn_create_series('a b')"
refuses "nor a second one" "23505" "SELECT firn_create_series('a')"
refuses "a payload needs a chain" "22023: firn: series plain has no chain" "SELECT firn_next_in('plain', 'x')"
refuses "the number cannot be put back" "55000: firn: a row of firn_gapless.series stays" "UPDATE firn_gapless.series SET last = 0 WHERE name = 'plain'"
refuses "nor a series removed" "55000" "DELETE FROM firn_gapless.series"
refuses "nor all" "55000" "TRUNCATE firn_gapless.series"
refuses "a transaction that may only read takes no number" "25006" 'BEGIN READ ONLY' "$(next plain)"

# ---- a number belongs to its transaction ---------------------------------------------------------
ask 'CREATE TABLE invoice (series text, number bigint CHECK (number < 1000), PRIMARY KEY (series, number))' >"$TMPDIR/said"
says "a rollback gives the number back" "3
3" BEGIN "$(next plain)" ROLLBACK "$(next plain)"
says "a savepoint does" "4
5
5
6" BEGIN "$(next plain)" 'SAVEPOINT s' "$(next plain)" 'ROLLBACK TO s' "$(next plain)" COMMIT "$(next plain)"
refuses "an error gives it back" "23514" "INSERT INTO invoice SELECT 'x', 999 + firn_next_in('plain') FROM generate_series(1, 3)"
says "each row of a statement has its own" "7 8 9" "SELECT string_agg(n::text, ' ') FROM (SELECT firn_next_in('plain') AS n FROM generate_series(1, 3)) t"
says "a prepared transaction keeps it" "" BEGIN "INSERT INTO invoice SELECT 'plain', firn_next_in('plain')" "PREPARE TRANSACTION 'orphan'"
refuses "others then learn who holds the series" \
    "55P03: firn: series plain is locked by the prepared transaction 'orphan' of firn since" "SET lock_timeout = '50ms'" "$(next plain)"
says "and get the next one after its end" "11" "COMMIT PREPARED 'orphan'" "$(next plain)"
says "or the same one after its rollback" "12
12" BEGIN "$(next plain)" "PREPARE TRANSACTION 'orphan'" "ROLLBACK PREPARED 'orphan'" "$(next plain)"

# hold SERIES: a session that has taken a number and waits; `release` ends it.
hold() {
    mkfifo "$TMPDIR/hold"
    PGAPPNAME=holder psql -XqAt <"$TMPDIR/hold" >"$TMPDIR/held" 2>&1 &
    holder=$!
    exec 7>"$TMPDIR/hold"
    printf '%s;\n' BEGIN "$(next "$1")" >&7
    await test -s "$TMPDIR/held"
}
release() {
    printf '%s;\n' "$1" >&7
    exec 7>&-
    wait "$holder"
    rm "$TMPDIR/hold"
}
hold plain
refuses "a session that holds it is named" "is locked by process $(ask "SELECT pid FROM pg_stat_activity WHERE application_name = 'holder'") of firn (holder)" \
    'SET ROLE app' "SET lock_timeout = '50ms'" "$(next plain)"
says "other series do not wait" "4713" "SET lock_timeout = '50ms'" "$(next moved)"
release ROLLBACK
waits() {
    [ "$(ask "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waiter' AND wait_event_type = 'Lock'")" = 1 ]
}
hold waited
PGAPPNAME=waiter psql -XqAt -c "$(next waited)" >"$TMPDIR/waited" &
waiter=$!
await waits
began=$(ask 'SELECT clock_timestamp()')
release COMMIT
wait $waiter
says "a waiter gets the next number, and a time after the lock" "t" "SELECT at > '$began' FROM firn_gapless.entry WHERE series = 'waited' AND number = 2"
says "a time is never before the last number's, also if the clock was ahead" "t" 'SET session_replication_role = replica' \
    "UPDATE firn_gapless.series SET at = '2999-01-01' WHERE name = 'waited'" 'RESET session_replication_role' \
    "SELECT firn_next_in('waited') IS NULL OR at = '2999-01-01' FROM firn_gapless.series WHERE name = 'waited'"
says "REPEATABLE READ answers 40001 when another one was faster" "1
ERROR:  40001: could not serialize access due to concurrent update" 'BEGIN ISOLATION LEVEL REPEATABLE READ' 'SELECT 1' \
    "\\! psql -XqAt -c \"$(next waited)\" >'$TMPDIR/said'" "$(next waited)"

ask 'CREATE TABLE draft (id int PRIMARY KEY, number bigint)' 'INSERT INTO draft VALUES (7)' "SELECT firn_create_series('once')" >"$TMPDIR/said"
hold once
printf '%s;\n' "UPDATE draft SET number = firn_next_in('once') WHERE id = 7 RETURNING number" >&7
has_updated() {
    [ "$(wc -l <"$TMPDIR/held")" = 2 ]
}
await has_updated
awk '/^  SELECT .* FOR UPDATE;/ { on = 1 } /^  ```/ { on = 0 } on' docs/guides/gapless.md | sed "s/invoices-2026/once/" |
    (echo 'BEGIN;' && cat && echo 'COMMIT;') | PGAPPNAME=waiter psql -Xq >"$TMPDIR/waited" 2>&1 &
waiter=$!
await waits
release COMMIT
wait $waiter
says "a row that gets its number once, as the page says, takes one number from two transactions" "2 2" \
    "SELECT d.number || ' ' || s.last FROM draft d, firn_gapless.series s WHERE s.name = 'once'"

# ---- faults --------------------------------------------------------------------------------------
ask BEGIN "$(next moved)" "PREPARE TRANSACTION 'survivor'" >"$TMPDIR/said"
hold plain
backend=$(ask "SELECT pid FROM pg_stat_activity WHERE application_name = 'holder'")
kill -9 "$backend"
release COMMIT
is_up() {
    [ "$(ask 'SELECT 1')" = 1 ]
}
await is_up
says "kill -9 of a backend gives its number back" "13" "$(next plain)"
refuses "a prepared transaction still holds its series" "is locked by the prepared transaction 'survivor'" "SET lock_timeout = '50ms'" "$(next moved)"
says "and keeps its number" "4715" "COMMIT PREPARED 'survivor'" "$(next moved)"

same "many writers leave no gap and no duplicate" "" "$(/usr/bin/python3 test/gapless.py postgres "$PGPORT" 2>&1)" # after the restart
chains() {
    for series in a b c; do
        chain_of $series >"$TMPDIR/$series" && "$FIRN" verify "$TMPDIR/$series"
    done | grep -c 'the chain is whole'
}
same "and the chains hold" "3" "$(chains)"
says "the chain has all invoices, and no others" "0" "SELECT count(*) FROM (SELECT series, number FROM firn_gapless.entry
    WHERE series IN ('a', 'b', 'c')) e FULL JOIN (SELECT * FROM invoice WHERE series <> 'plain') i
    USING (series, number) WHERE i IS NULL OR e IS NULL"

# ---- a pooler --------------------------------------------------------------------------------------
# Eight writers with three sessions of a server, in transaction mode.
pool() {
    pooled=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    at=$place/data/pool
    printf '%s\n' '[databases]' "postgres = host=127.0.0.1 port=$PGPORT user=firn dbname=pooled" '[pgbouncer]' \
        "listen_port = $pooled" 'listen_addr = 127.0.0.1' 'auth_type = any' 'pool_mode = transaction' 'default_pool_size = 3' \
        'unix_socket_dir =' "logfile = $at.log" >"$at.ini"
    chmod 644 "$at.ini"
    as=''
    [ "$(id -u)" != 0 ] || as='-u nobody'
    # shellcheck disable=SC2086 # two words, or none
    timeout 600 pgbouncer -q $as "$at.ini" >"$TMPDIR/pool.log" 2>&1 </dev/null &
    pooler=$!
}
answers() {
    [ "$(PGPORT=$pooled ask 'SELECT 1')" = 1 ]
}
if command -v pgbouncer >/dev/null; then
    ask 'CREATE DATABASE pooled' >"$TMPDIR/said"
    PGDATABASE=pooled install >"$TMPDIR/said"
    PGDATABASE=pooled ask 'CREATE TABLE invoice (series text, number bigint CHECK (number < 1000), PRIMARY KEY (series, number))' \
        "SELECT firn_create_series('a', true), firn_create_series('b', true), firn_create_series('c', true)" >"$TMPDIR/said"
    pool
    await answers
    same "with PgBouncer in transaction mode, many writers leave no gap and no duplicate" "" \
        "$(/usr/bin/python3 test/gapless.py postgres "$pooled" 2>&1)"
    says "and take turns on three sessions of the server" "t" "SELECT count(*) <= 3 FROM pg_stat_activity WHERE datname = 'pooled'"
    same "the chains hold" "3" "$(PGDATABASE=pooled chains)"
    kill "$pooler"
    wait "$pooler"
    chains >"$TMPDIR/said" # writes the files of the chains again
else
    skip "with PgBouncer in transaction mode, many writers leave no gap" "pgbouncer is not installed"
fi

# ---- copies --------------------------------------------------------------------------------------
same "a standby is made" 0 "$(ENGINE_STANDBY_OF=$PGPORT test/engine start postgres "$place.standby" -c max_prepared_transactions=4 >"$TMPDIR/said" 2>&1; echo $?)"
standby=$(sed -n 1p "$place.standby/port")
said=$(PGPORT=$standby ask "$(next a)")
case $said in
*25006*) pass "it gives no number" ;;
*) fail "it gives no number" "$said" ;;
esac
same "and has the chain" "$(cat "$TMPDIR/a")" "$(PGPORT=$standby chain_of a)"
"$FIRN" verify --head "$TMPDIR/a" >"$TMPDIR/heads"
last=$(wc -l <"$TMPDIR/a")
PGDATABASE=template1 ask 'CREATE DATABASE older TEMPLATE postgres' >"$TMPDIR/said"
ask "$(next a)" >"$TMPDIR/said"
chain_of a | "$FIRN" verify --head >>"$TMPDIR/heads"
check "the chain has the heads that were kept" sh -c "psql -XqAt -c \"SELECT firn_chain('a')\" | '$FIRN' verify --known '$TMPDIR/heads'"
PGDATABASE=older chain_of a >"$TMPDIR/older"
same "an older copy does not" "firn: series a ends at $last, and --known has number $((last + 1)): the numbers between are lost, as after the restore of an older copy; issue none before you have them again" \
    "$("$FIRN" verify --known "$TMPDIR/heads" "$TMPDIR/older" 2>&1)"
pg_dump older >"$TMPDIR/dump"
ask 'DROP DATABASE older' 'CREATE DATABASE restored' >"$TMPDIR/said"
same "a dump is restored" "" "$(PGDATABASE=restored psql -Xq -v ON_ERROR_STOP=1 -o /dev/null <"$TMPDIR/dump" 2>&1)"
same "with its chain and rights" "$(cat "$TMPDIR/older")" "$(PGDATABASE=restored chain_of a)"
same "and continues" "$((last + 1))" "$(PGDATABASE=restored ask 'SET ROLE app' "$(next a)")"
ask 'CREATE ROLE owner LOGIN' 'CREATE DATABASE own OWNER owner' >"$TMPDIR/said"
same "an owner of a database installs it without a superuser" "" "$(PGUSER=owner PGDATABASE=own install)"
same "and its numbers are as good" "1
2" "$(PGUSER=owner PGDATABASE=own ask "SELECT firn_create_series('x', true)" "$(next x)" "$(next x)" | grep .)"
has_all() {
    [ "$(PGPORT=$standby ask "SELECT last FROM firn_gapless.series WHERE name = 'a'")" = $((last + 1)) ]
}
await has_all
PGPORT=$standby ask 'SELECT pg_promote()' >"$TMPDIR/said"
same "a standby that is promoted continues" "$((last + 2))" "$(PGPORT=$standby ask "$(next a)")"
same "and its chain holds" "a: $((last + 2)) numbers, 1 to $((last + 2)), no gap and no duplicate; the chain is whole" \
    "$(PGPORT=$standby chain_of a | "$FIRN" verify 2>&1)"
finish
