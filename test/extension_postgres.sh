# SPDX-License-Identifier: MIT
# The PostgreSQL extension on real servers: its own regression tests, 64 backends at once, rollbacks, killed backends,
# servers that crash under load, clocks that step, promotion, and old rows next to new ones. At the end all IDs of one
# node are compared, and a duplicate that was put among them is found.
# shellcheck disable=SC2016 # dollars quote SQL, for the server
. test/postgres.tap

private_needed "the extension works"

# A copy of an installation that has firn already.
installed=$TMPDIR/installed
mkdir -p "$installed/bin" "$installed/lib/firn" "$installed/share/extension" "$TMPDIR/fake"
for file in bin/postgres bin/initdb bin/pg_ctl lib/firn.so lib/firn/sqlite.so share/extension/firn.control \
    share/extension/firn--0.1.0.sql; do
    echo installed >"$installed/$file"
done
printf '%s\n' '#!/bin/sh' 'case $1 in' "--bindir) echo $installed/bin ;;" "--pkglibdir) echo $installed/lib ;;" \
    "--sharedir) echo $installed/share ;;" "*) exec $(command -v pg_config) \"\$@\" ;;" 'esac' >"$TMPDIR/fake/pg_config"
chmod 755 "$TMPDIR/fake/pg_config"
(PATH=$TMPDIR/fake:$PATH && private_start && private_end) >"$TMPDIR/private" 2>&1 || sed 's/^/# /' "$TMPDIR/private"
same "a copy to try firn in does not change an installed firn" installed \
    "$(cat "$installed/lib/firn.so" "$installed"/share/extension/firn* "$installed/lib/firn/sqlite.so" | sort -u)"
private_start
place=$TMPDIR/server standby=$TMPDIR/plain
cleanup() {
    test/engine stop "$place"
    test/engine stop "$standby"
    private_end
}
trap cleanup EXIT
trap 'exit 143' TERM HUP INT
ids=$TMPDIR/ids
mkdir -p "$ids"

# ask STATEMENT...: one session; the answer, and an error as "SQLSTATE: message".
ask() {
    set -- "$(printf '%s;\n' "$@")"
    printf '%s\n' "$1" | psql -XqAt -v VERBOSITY=verbose -v SHOW_CONTEXT=never -h 127.0.0.1 -p "$port" -U firn \
        "${database:-postgres}" 2>&1 | sed -n -e '/^LOCATION:/d' -e p
}
# settled COMMAND...: what it says, again for as long as the disk was too slow for a short firn.max_wait.
settled() {
    for _ in $(seq 100); do
        said=$("$@")
        case $said in
        *'were not written within'*) ;;
        *) break ;;
        esac
    done
    printf '%s\n' "$said"
}
# refuses SENTENCE SQLSTATE WORDS STATEMENT...: an error with a hint, and the server continues.
refuses() {
    sentence=$1 state=$2 words=$3
    shift 3
    said=$(settled ask "$@")
    case $said in
    *"$state: "*"$words"*HINT:*) same "$sentence" 1 "$(ask 'SELECT 1')" ;;
    *) fail "$sentence" "$said" ;;
    esac
}
yes_to() {
    [ "$(ask "$@" | tail -n 1)" = t ]
}
# Until new sessions have it.
set_to() {
    before=$(ask "LOAD 'firn'" "ALTER SYSTEM SET $1" "SELECT clock_timestamp()" "SELECT pg_reload_conf()" | head -n 1)
    await yes_to "SELECT pg_conf_load_time() >= '$before'"
}

# upgrade FOLDER: pg_upgrade of FOLDER/pg into FOLDER/new, as the server's user, with the links' programs.
upgrade() {
    new=$(readlink "$1")
    as_user="setpriv --reuid $(id -u nobody) --regid $(id -g nobody) --clear-groups"
    [ "$(id -u)" = 0 ] || as_user=
    (
        cd "$new" && TMPDIR=$new && export TMPDIR && unset PGPORT || exit 1
        $as_user "$prefix$bin/initdb" -D "$new/new" -U firn -A trust --no-sync --locale=C -E UTF8 &&
            echo "shared_preload_libraries = 'firn'" >>"$new/new/postgresql.conf" &&
            $as_user "$prefix$bin/pg_upgrade" -b "$prefix$bin" -B "$prefix$bin" -d "$new/pg" -D "$new/new" -U firn -s "$new" \
                -p "$port" -P "$port"
    ) >"$TMPDIR/upgrade.log" 2>&1
}

check "a server starts with firn preloaded" test/engine start postgres "$place" -c shared_preload_libraries=firn \
    -c max_parallel_workers=4 -c max_worker_processes=8 -c firn.max_wait=60s
port=$(cat "$place/port")
ask 'CREATE EXTENSION firn' >/dev/null
refuses "without a node nothing is issued: a default would be another process's node" 55000 "firn.node is not set" 'SELECT snowflake()'
same "schemes without a node need no grant" t "$(ask 'SELECT uuid7() > uuid4() IS NOT NULL')"
same "a session's IDs without a node rise while its settings stay, across all functions" 300000 \
    "$(ask "WITH made AS MATERIALIZED (SELECT n, CASE WHEN n % 100 = 0 THEN firn_new('uuid7')::uuid ELSE uuid7() END AS id
        FROM generate_series(0, 300000) n) SELECT count(*) FROM made a JOIN made b ON b.n = a.n + 1 AND b.id > a.id")"
refuses "nor are there nodes for old rows" 55000 "firn.history is not set" "SELECT firn_stamp('snowflake', now())"
set_to "firn.node = '1024'"
refuses "a node that is too great is refused" 22003 "does not fit the node" 'SELECT snowflake()'
refuses "a node that is too long for firn stores is refused, not cut" 22023 "128 bytes (at most 127)" \
    "ALTER SYSTEM SET firn.node = 'datacenter=1 worker=$(printf %0108d 3)'"
set_to "firn.node = 'datacenter=1 worker=3'"
same "a node of fields is joined" 35 "$(ask 'SELECT count(snowflake())' \
    "SELECT node FROM firn_marks.mark WHERE ns = 'snowflake'" | tail -n 1)"
refuses "fields that a row has not are not dropped" 22023 "datacenter" 'SELECT tsid()'
ask 'SELECT count(*) FROM pg_settings' >/dev/null
set_to "firn.node = '6'"
same "to read all settings is not what a firn store does, so a new node begins at once" t \
    "$(settled ask "SET firn.max_wait = '5s'" 'SELECT snowflake() > 0')"
set_to "firn.node = '7'"
set_to "firn.history = '900-999'"
ask "CREATE DATABASE other" >/dev/null

# ---- its own regression tests -------------------------------------------------------------------------------------

regress=$(dirname "$(pg_config --pgxs)")/../test/regress/pg_regress
if [ -x "$regress" ]; then
    check "pg_regress: what is pure, and what generates IDs" "$regress" --bindir="$bin" --inputdir=ext/postgres \
        --outputdir="$TMPDIR" --host=127.0.0.1 --port="$port" --user=firn --dbname=contrib_regression pure issue
    [ ! -s "$TMPDIR/regression.diffs" ] || sed 's/^/# /' "$TMPDIR/regression.diffs" | head -n 60
else
    skip "pg_regress: what is pure, and what generates IDs" "it is not installed"
fi

# ---- the guide ---------------------------------------------------------------------------------------------------

set_to "firn.node = '3'"
ask 'CREATE DATABASE readme' >/dev/null
check "docs/guides/postgres.md begins with an example" [ "$(guide_sql postgres | grep -c ';$')" -ge 3 ]
same "it does what it says" "a b" "$(database=readme ask "$(guide_sql postgres)" |
    sed -n 's/^20[0-9][0-9]-[^|]*|//p' | paste -sd' ')"
set_to "firn.node = '7'"

# ---- rights -------------------------------------------------------------------------------------------------------

same "the bounds of a time have the prefix of a TypeID" "user_01hk153x00e008000000000000|user_01hk153x00fzzvzzzzzzzzzzzz" \
    "$(ask "SELECT firn_min_text('typeid', timestamptz '2024-01-01Z', 'prefix=user'), firn_max_text('typeid', timestamptz '2024-01-01Z', 'prefix=user')")"
own="'time:41/ms@@2024-01-01 node:10 sequence:12'"
ask 'CREATE ROLE visitor' "CREATE TABLE public.signs (id bigint DEFAULT snowflake(), key uuid DEFAULT uuid7(), n int)" \
    'GRANT INSERT, SELECT ON public.signs TO visitor' >/dev/null
same "everybody makes plain IDs, and has them as defaults" 't|t|t|t|2' "$(ask 'SET ROLE visitor' \
    'INSERT INTO signs (n) VALUES (1), (2)' "SELECT snowflake() > 0, uuid7() IS NOT NULL,
     firn_new_bigint('tsid') IS NOT NULL, typeid('user') LIKE 'user%', count(DISTINCT id) FROM signs")"
same "and reads them" t "$(ask 'SET ROLE visitor' "SELECT firn_time(snowflake(), 'snowflake') > '2024-01-01'")"
denied=
while read -r call; do
    case $(ask 'SET ROLE visitor' "SELECT $call") in
    *42501:*) ;;
    *) denied="$denied $call" ;;
    esac
done <<'EOF'
firn_new('snowflake', 'node=8')
firn_new_bigint('snowflake', 'ns=x')
firn_new_uuid('uuid7', 'ns=x')
firn_new_bytea('snowflake', 'epoch=2024-01-01')
firn_new_n('snowflake', 1, 'node=8')
firn_new('snowflake epoch=2024-01-01')
firn_new_bigint(' tsid  bits=42/11/11 ')
firn_new_n('snowflake epoch=2024-01-01', 1)
instagram(5)
region(3)
time_member(5)
firn_stamp('snowflake', now())
firn_stamp('snowflake', 'job', now())
firn_stamp('snowflake', 'job', now(), 'node=900')
firn_stamp_uuid('uuid1', now())
firn_stamp_uuid('uuid1', 'job', now())
firn_stamp_uuid('uuid1', 'job', now(), '')
firn_stamp_text('snowflake', now())
firn_stamp_text('snowflake', 'job', now())
firn_stamp_text('snowflake', 'job', now(), '')
firn_confirm_history()
firn_confirm_history('0-1023')
EOF
same "nobody chooses nodes and namespaces, or takes nodes for old rows, without a GRANT" "" "$denied"
refuses "nor with a custom layout" 42501 "a custom layout" 'SET ROLE visitor' "SELECT firn_new_bigint($own)"
same "a scheme without a node does not matter" t "$(ask 'SET ROLE visitor' \
    "SELECT firn_new('time:48/ms@@1970-01-01 random:80') IS NOT NULL")"
same "changes may follow the name of a scheme, and mean what the options do" "t|t|t" "$(ask "SELECT
    firn_new_bigint('snowflake epoch=2024-01-01') < firn_new_bigint('snowflake', 'epoch=2024-01-01'),
    firn_min('snowflake epoch=2020-01-01', '2024-02-03') = firn_min('snowflake', '2024-02-03', 'epoch=2020-01-01'),
    firn_new_bigint('tsid epoch=2024-01-01', 'bits=42/11/11') > 0")"
refuses "other keys do not change a scheme" 22023 "'node=3' does not change snowflake" \
    "SELECT firn_new('snowflake epoch=2024-01-01 node=3')"
refuses "once each" 22023 "epoch is given twice" "SELECT firn_new('snowflake epoch=2024-01-01', 'epoch=2024-01-01')"
ask 'GRANT EXECUTE ON FUNCTION firn_new_bigint(text, text), instagram(integer) TO visitor' >/dev/null
same "a GRANT lets them" "t|t|t" "$(ask 'SET ROLE visitor' "SELECT firn_new_bigint($own) > 0,
    firn_new_bigint('snowflake', 'ns=x') > 0, instagram(5) > 0")"
refuses "with one function, not with the next" 42501 "a custom layout" 'SET ROLE visitor' \
    "SELECT firn_new('time:42/ms@@2024-01-01 node:9 sequence:12')"
refuses "those who may do not fill all places" 2200H "192 pairs of namespace and node" 'SET ROLE visitor' \
    'SELECT count(instagram(n)) FROM generate_series(0, 299) n'
same "others find one for a scheme that was never used" t "$(ask 'SET ROLE visitor' 'SELECT discord() IS NOT NULL')"
same "what another role of the session used is not theirs either" 'ERROR:  42501: firn: permission denied for a custom layout with a node' \
    "$(ask 'CREATE ROLE guest' "SELECT count(firn_new_bigint($own))" 'SET ROLE guest' "SELECT firn_new_bigint($own)" | sed -n 2p)"
ask "CREATE VIEW public.stamped AS SELECT firn_stamp('snowflake', 'by a view', '2020-01-01') AS id" \
    "CREATE VIEW public.sharded AS SELECT instagram(5) AS id" 'GRANT SELECT ON public.stamped, public.sharded TO guest' \
    "CREATE FUNCTION public.stamp_for_them() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public
     AS \$\$SELECT firn_stamp('snowflake', 'for them', '2020-01-01')\$\$" >/dev/null
for view in stamped sharded; do
    refused=$(ask 'SET ROLE guest' "SELECT id FROM $view")
    check "a view of an owner who may gives nothing: $view" [ "${refused#*42501: permission denied}" != "$refused" ]
done
same "a function with SECURITY DEFINER does, and counts" 2 "$(ask 'SET ROLE guest' 'SELECT count(DISTINCT id) FROM
    (SELECT stamp_for_them() AS id FROM generate_series(1, 2)) made')"
same "tables of marks are nobody's to read, lock or fill" 5 "$(for statement in 'SELECT 1 FROM firn_marks.mark' 'BEGIN; LOCK TABLE firn_marks.mark' \
    'INSERT INTO firn_marks.history DEFAULT VALUES' "INSERT INTO firn_jobs.job VALUES ('', '', 0, '')" 'CREATE TRIGGER t BEFORE INSERT
    ON firn_jobs.job FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()'; do
    ask 'SET ROLE guest' "$statement"
done | grep -c '42501: permission denied')"
refuses "a node wider than a number is refused" 22023 "more than 63 bits" \
    "SELECT firn_new('time:41/ms@@2024-01-01 node:64 sequence:12')"

# ---- the peer's answers -------------------------------------------------------------------------------------------

ask "$(sed -n '/^-- the PL/,/^-- end/p' ext/postgres/bench.sql)" >/dev/null
same "form_uuid_v1 says what the PL/pgSQL function of that name says" '100000|100000' "$(ask "SELECT count(*), count(*)
    FILTER (WHERE plain.form_uuid_v1(at, n % 16384, mac) = form_uuid_v1(at, n % 16384, mac)) FROM (SELECT n,
    '1990-01-01'::timestamptz + n * interval '20001.654321 s' AS at, '44:88:99:36:57:32'::macaddr AS mac
    FROM generate_series(1, 100000) n) t")"
same "firn_shard returns the shard of firn spread" 1 "$(ask 'SELECT firn_shard(1::bigint, 8)' | grep -c '^[0-7]$')"

! short || finish

# ---- load: 64 backends, of two databases, that roll back ----------------------------------------------------------

database=other ask 'CREATE EXTENSION firn' >/dev/null
# load NAME SESSIONS COUNT: each session writes its backend's pid and its IDs into its own file and rolls back.
load() {
    loads=
    for session in $(seq "$2"); do
        base=postgres
        [ $((session % 2)) = 0 ] || base=other
        psql -XqAt -h 127.0.0.1 -p "$port" -U firn "$base" -c 'BEGIN' -c "SET firn.max_wait = '60s'" \
            -c 'SELECT pg_backend_pid()' -c "COPY (SELECT snowflake() FROM generate_series(1, $3)) TO STDOUT" -c ROLLBACK \
            >"$ids/$1.$session" 2>"$ids/$1.$session.errors" &
        loads="$loads $!"
    done
}
loaded() {
    # shellcheck disable=SC2086 # pids, to be split
    wait $loads
}
# Have IDs of each session of a load of 8 come?
works() {
    for session in 1 2 3 4 5 6 7 8; do
        [ "$(wc -c <"$ids/$1.$session")" -ge 10000 ] || return 1
    done
}
# Did the fault come in time?
interrupted() {
    loaded
    got=$(count_of "$1")
    check "in the middle of its work: IDs had come, and not all ($got)" [ "$got" -gt 0 -a "$got" -lt "$2" ]
}
count_of() {
    cat "$ids/$1".*[0-9] | grep -cE '^[0-9]{19}$'
}

load crowd 64 30000
loaded
same "64 backends of two databases get all their IDs, and roll back" 1920000 "$(count_of crowd)"
: >"$ids/steps"
for _ in 1 2 3 4; do
    printf 'BEGIN; SAVEPOINT a; SELECT snowflake(); ROLLBACK TO a; SELECT snowflake(); ROLLBACK;%.0s' $(seq 500) |
        psql -XqAt -h 127.0.0.1 -p "$port" -U firn postgres >>"$ids/steps"
done
same "rolled back one by one they do not come again" 4000 "$(sort -u "$ids/steps" | wc -l | tr -d ' ')"

# ---- faults under load --------------------------------------------------------------------------------------------

load killed 8 3200000
await works killed
check "a backend is killed" kill -9 "$(head -n 1 "$ids/killed.1")"
interrupted killed 25600000
check "the server starts again automatically" await yes_to 'SELECT snowflake() > 0'

load renewer 8 200000
renewer=$(ask "SELECT pid FROM pg_stat_activity WHERE backend_type = 'firn renewer'")
check "the renewer is killed" kill -9 "$renewer"
loaded
check "and comes back" await yes_to 'SELECT snowflake() > 0'

load stopped 8 3200000
await works stopped
kill -QUIT "$(cat "$place/pid.1")" # pg_ctl stop -m immediate
interrupted stopped 25600000
check "a server that was stopped at once starts again" test/engine restart "$place"
check "and generates IDs" await yes_to 'SELECT snowflake() > 0'

load crashed 8 3200000
await works crashed
check "all its processes are killed" test/engine kill "$place"
interrupted crashed 25600000
check "a server that crashed starts again" test/engine restart "$place"
check "and generates IDs again" await yes_to 'SELECT snowflake() > 0'

load ended 8 3200000
await works ended
ask "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND pid % 2 = 0" >/dev/null
ask "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%'" >/dev/null
interrupted ended 25600000
same "backends that were cancelled or ended leave the server alone" t "$(ask 'SELECT snowflake() > 0')"

load steady 4 500000
loaded
same "in the end all is as before" 2000000 "$(count_of steady)"

# ---- one cursor for each node --------------------------------------------------------------------------------------

address="'node=02:00:00:00:00:09 clock_seq=5'"
same "schemes of one namespace share a node: uuid1 and uuid6" '4000|4000' "$(ask "SELECT count(*), count(DISTINCT id) FROM
    (SELECT firn_new('uuid1', $address) AS id FROM generate_series(1, 2000) UNION ALL
    SELECT firn_convert(firn_new('uuid6', $address), 'uuid1') FROM generate_series(1, 2000)) made")"
same "fields of the caller's do not: regions of one node differ in more than the region" '4000|{0,1,5,7}' "$(ask "SELECT
    count(DISTINCT id & ~(7::bigint << 20)), array_agg(DISTINCT id >> 20 & 7) FROM (SELECT region(r) AS id
    FROM generate_series(1, 1000) n, unnest('{0, 1, 5, 7}'::int[]) r) made")"
refuses "another layout does not share the namespace" 55000 "belongs to another layout" "SELECT firn_new('leaf', 'ns=snowflake')"

# ---- a renewer that is stopped -------------------------------------------------------------------------------------

renewer=$(ask "SELECT pid FROM pg_stat_activity WHERE backend_type = 'firn renewer'")
kill -STOP "$renewer"
refuses "a renewer that is stopped is waited for in bounded time" 55000 "were not written within" \
    "SET firn.max_wait = '300ms'" "SELECT firn_new('snowflake', 'ns=stopped')"
case $(ask "SET firn.max_wait = '3000s'" "SET statement_timeout = '300ms'" "SELECT firn_new('snowflake', 'ns=stopped')") in
*57014:*) pass "and a wait ends when the statement is cancelled" ;;
*) fail "and a wait ends when the statement is cancelled" ;;
esac
kill -CONT "$renewer"
same "afterwards the next call gets its ID" t "$(ask "SELECT firn_new('snowflake', 'ns=stopped') IS NOT NULL")"

# ---- parallel workers ---------------------------------------------------------------------------------------------

ask 'CREATE TABLE wide AS SELECT n FROM generate_series(1, 400000) n' 'ANALYZE wide' >/dev/null
parallel='SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
    SET max_parallel_workers_per_gather = 3; SET parallel_leader_participation = off'
same "parallel workers generate IDs" 1 \
    "$(ask "$parallel" 'EXPLAIN SELECT snowflake() FROM wide' | grep -c 'Parallel Seq Scan')"
ask "$parallel" 'SELECT snowflake() FROM wide' >"$ids/parallel"
same "as many as there are rows" 400000 "$(grep -cE '^[0-9]{19}$' "$ids/parallel")"
same "of schemes without a node too, each once" 400000 "$(ask "$parallel" \
    'SELECT count(DISTINCT id) FROM (SELECT uuid7() AS id FROM wide OFFSET 0) made')"

# ---- a clock that steps -------------------------------------------------------------------------------------------

. test/clock
export CLOCK_OFFSET="$prefix/offset"
echo 0 >"$CLOCK_OFFSET"
if make_clock "$prefix/clock.so"; then
    test/engine halt "$place"
    (export LD_PRELOAD="$prefix/clock.so" && exec test/engine restart "$place")
    stepped() {
        psql -XqAt -h 127.0.0.1 -p "$port" -U firn postgres -c "SET firn.max_wait = ${2:-5000}" \
            -c "COPY (SELECT snowflake() FROM generate_series(1, $1)) TO STDOUT" 2>&1
    }
    stepped 100000 60000 >"$ids/step.1"
    test/engine kill "$place"
    echo -2 >"$CLOCK_OFFSET"
    (export LD_PRELOAD="$prefix/clock.so" && exec test/engine restart "$place")
    stepped 400000 60000 >"$ids/step.5"
    same "a server that crashed and starts with a slow clock begins at its mark" t \
        "$([ "$(sort "$ids/step.5" | head -n 1)" -gt "$(sort "$ids/step.1" | tail -n 1)" ] && echo t)"
    echo -1 >"$CLOCK_OFFSET"
    stepped 100000 60000 >"$ids/step.2"
    same "a clock a second back is gone on from, or waited for" 100000 "$(grep -cE '^[0-9]{19}$' "$ids/step.2")"
    echo -3600 >"$CLOCK_OFFSET"
    case $(settled stepped 100000 500) in
    *"ahead of the clock"*) pass "an hour back nothing is issued, and the error says why" ;;
    *) fail "an hour back nothing is issued, and the error says why" ;;
    esac
    echo 0 >"$CLOCK_OFFSET"
    stepped 100000 60000 >"$ids/step.3"
    echo 40 >"$CLOCK_OFFSET"
    stepped 100000 60000 >"$ids/step.4"
    same "a jump ahead is believed when it holds" 100000 "$(grep -cE '^[0-9]{19}$' "$ids/step.4")"
    check "and reported" grep -q 'jumped ahead' "$place/log.1"
    test/engine restart "$place" # with the true clock, which is before the mark
    refuses "a mark ahead of the clock is waited for, not passed" 53400 "ahead of the clock" \
        "SET firn.max_wait = '100ms'" 'SELECT snowflake()'
else
    skip "a clock that steps" "there is no C compiler"
fi

# ---- old rows and new ones ----------------------------------------------------------------------------------------

rows=100000 # one each 97 s
set_to "firn.node = '8'"
ask "CREATE TABLE orders (at timestamptz NOT NULL, id bigint)" \
    "INSERT INTO orders SELECT '2019-01-01'::timestamptz + n * interval '97 s' FROM generate_series(1, $rows) n" \
    "UPDATE orders SET id = firn_stamp('snowflake', 'orders', at)" \
    "ALTER TABLE orders ADD PRIMARY KEY (id), ALTER id SET DEFAULT snowflake()" \
    "INSERT INTO orders (at) SELECT now() FROM generate_series(1, $((rows / 10)))" \
    "CREATE TABLE late AS SELECT firn_stamp('snowflake', 'late', at) AS id, at FROM orders WHERE at < '2019-02-01'" \
    "INSERT INTO orders (id, at) SELECT id, at FROM late" "ANALYZE orders" >/dev/null
same "$rows old rows get IDs in one UPDATE, new ones by default, late ones by INSERT: no two are equal" \
    't|t' "$(ask "SELECT count(*) = count(DISTINCT id), count(*) = $((rows + rows / 10)) + (SELECT count(*) FROM late) FROM orders")"
same "the old ones tell their time" 0 "$(ask "SELECT count(*) FROM orders WHERE at < '2026-01-01' AND
    firn_time(id, 'snowflake') <> at")"
range="FROM orders WHERE id >= firn_min('snowflake', '2019-03-01') AND id < firn_min('snowflake', '2019-03-02')"
same "a range of time uses the primary key" 1 "$(ask "EXPLAIN SELECT * $range" | grep -c 'Index Cond: ((id >= ')"
same "and finds what the time column finds" t "$(ask "SELECT count(*) = (SELECT count(*) FROM orders WHERE at >=
    '2019-03-01' AND at < '2019-03-02') $range")"
ask "CREATE TABLE zoneless (at timestamp, day date)" "INSERT INTO zoneless VALUES ('2024-03-30 23:30', '2024-03-31')" >/dev/null
for zone in UTC Europe/Berlin; do
    while read -r call; do
        case $(PGTZ=$zone ask "SELECT $call FROM zoneless") in
        *'22023: firn: a time without a zone'*'HINT:  Name its zone, as in COLUMN::timestamp AT TIME ZONE'*) ;;
        *) echo "$zone: $call" ;;
        esac
    done <<'EOF'
firn_min('snowflake', at)
firn_max('snowflake', day)
firn_min_uuid('uuid7', at)
firn_max_text('tsid', at, '')
firn_min('snowflake', timestamp '2024-03-30 23:30')
firn_min('snowflake', coalesce(at, now()))
firn_min('snowflake', date_trunc('day', at) + interval '1 day')
firn_stamp('snowflake', at)
firn_stamp('snowflake', at => day, job => 'zoneless')
firn_stamp_uuid('uuid7', at)
firn_stamp_text('snowflake', 'zoneless', at, '')
form_uuid_v1(at, 1, '44:88:99:36:57:32')
EOF
done >"$TMPDIR/zoneless"
same "a time without a zone is refused, not read in the zone of the session" "" "$(cat "$TMPDIR/zoneless")"
zoned="SELECT firn_min('snowflake', at AT TIME ZONE 'UTC'), firn_max('snowflake', day::timestamp AT TIME ZONE 'UTC'),
    firn_stamp('snowflake', 'zoned $(date +%s%N)', at AT TIME ZONE 'UTC'), form_uuid_v1(at AT TIME ZONE 'UTC', 1, '44:88:99:36:57:32'),
    firn_min('snowflake', '2024-03-31Z') FROM zoneless"
same "with a zone, sessions of two zones get the same" "1 2024-03-30 23:30:00+00" "$(for zone in UTC Europe/Berlin; do
    PGTZ=$zone ask "$zoned"
done | cut -d '|' -f 1,2,4- | sort -u | wc -l) $(PGTZ=UTC ask "SELECT firn_time(firn_min('snowflake', at AT TIME ZONE 'UTC'), 'snowflake') FROM zoneless")"
same "a literal is a timestamptz, as everywhere in PostgreSQL" "2024-03-31 00:00:00+01" \
    "$(PGTZ=Europe/Berlin ask "SELECT firn_time(firn_min('snowflake', '2024-03-31'), 'snowflake')")"
refuses "two sources of nodes are refused for old rows too" 22023 "gives each backend its own node" \
    "SET firn.store = 'sqlite:/nowhere/firn.db'" "SELECT firn_stamp('snowflake', now())"
same "each statement took its own node" 2 "$(ask "SELECT count(DISTINCT node) FROM firn_marks.mark WHERE job IN
    ('orders', 'late')")"

# ---- one job in batches, over sessions, rollbacks and a crash -----------------------------------------------------

ask "CREATE TABLE parts (k int PRIMARY KEY, at timestamptz NOT NULL, id bigint)" \
    "INSERT INTO parts SELECT n, '2019-01-01'::timestamptz + (n / 3) * interval '1 ms' FROM generate_series(1, 80000) n" >/dev/null
batch() {
    echo "UPDATE parts SET id = firn_stamp('snowflake', at => at, job => 'parts') WHERE id IS NULL AND k BETWEEN $1 AND $2"
}
sum_of="SELECT md5(string_agg(id::text, ' ' ORDER BY k)) FROM parts WHERE k BETWEEN 10001 AND 20000"
ask "$(batch 1 10000)" >/dev/null
seen=$(ask BEGIN "$(batch 10001 20000)" "$sum_of" | tail -n 1)
test/engine kill "$place"
test/engine restart "$place"
same "a batch that a crash undid gets the same IDs again" "$seen" "$(ask "$(batch 10001 20000)" "$sum_of")"
ask BEGIN "$(batch 20001 21000)" 'SAVEPOINT a' "$(batch 21001 22000)" 'ROLLBACK TO a' "$(batch 21001 24000)" COMMIT >/dev/null
sessions=
for session in 0 1 2 3; do
    for part in 0 1 2 3 4 5; do
        batch $((24001 + session * 12000 + part * 2000)) $((26000 + session * 12000 + part * 2000))
        echo ';'
    done | psql -XqAt -h 127.0.0.1 -p "$port" -U firn postgres >"$TMPDIR/parts.$session" 2>&1 &
    sessions="$sessions $!"
done
# shellcheck disable=SC2086 # pids, to be split
wait $sessions
same "four sessions at once do it without an error" "" "$(cat "$TMPDIR"/parts.[0-3])"
ask "$(batch 1 80000)" >/dev/null
same "all of it has one node, and its own IDs that tell their time" 't|t|1' "$(ask "SELECT count(DISTINCT id) = 80000,
    bool_and(firn_time(id, 'snowflake') = at), count(DISTINCT id >> 12 & 1023) FROM parts")"
short="SELECT firn_stamp('time:50/100ns@@2020-01-01 node:10 sequence:3', 'short ticks', '2020-01-01 00:16:00')"
same "short ticks are counted exactly too: no ID comes twice" 3 "$({ ask "$short" && ask "$short" && ask "$short"; } |
    sort -u | grep -cE '^[0-9]+$')"
ask "CREATE TABLE copied_in (k int, id bigint DEFAULT firn_stamp('snowflake', 'copied in', '2020-01-01'))" >/dev/null
for first in 1 4; do
    seq "$first" $((first + 2)) | psql -Xq -h 127.0.0.1 -p "$port" -U firn postgres -c 'COPY copied_in (k) FROM STDIN'
done
same "what COPY stamps is counted when it commits" '6|6' "$(ask 'SELECT count(*), count(DISTINCT id) FROM copied_in')"
same "a transaction writes its counts once, not in each statement" 0 "$(ask BEGIN "DO \$\$ BEGIN FOR i IN 1..200 LOOP
    PERFORM firn_stamp('snowflake', 'once', '2020-01-01'); END LOOP; END \$\$" \
    "SELECT n_tup_upd FROM pg_stat_xact_user_tables WHERE schemaname = 'firn_jobs'" COMMIT)"

# ---- IDs that outlive a rollback: in variables, and in results that loops and cursors read --------------------------
# once SENTENCE TABLE STATEMENT...: after two runs of the statements without an error, all rows of the table have
# different IDs.
once() {
    sentence=$1 table=$2
    shift 2
    ask "CREATE TABLE $table (id bigint, n int, x text, at timestamptz DEFAULT '2024-01-01Z')" >/dev/null
    said=$({ ask "$@" && ask "$@"; } 2>&1)
    same "$sentence" '|t|t' "$said|$(ask "SELECT count(id) > 0 AND count(id) = count(*), count(*) = count(DISTINCT id) FROM $table")"
}
ask "CREATE FUNCTION caught(n int) RETURNS int LANGUAGE plpgsql AS
     'BEGIN PERFORM 1 FROM pg_class LIMIT 1; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN RETURN n; END'" \
    "CREATE FUNCTION catches() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN PERFORM caught(1); RETURN new; END'" >/dev/null
once "a function that catches an error while the statement stamps repeats no ID" s_function \
    "INSERT INTO s_function (id, n) SELECT firn_stamp('snowflake', 's_function', '2024-01-01Z'), caught(n) FROM generate_series(1, 10) n"
once "nor does a BEFORE trigger that catches one" s_before \
    'CREATE OR REPLACE TRIGGER catches BEFORE INSERT ON s_before FOR EACH ROW EXECUTE FUNCTION catches()' \
    "INSERT INTO s_before (id) SELECT firn_stamp('snowflake', 's_before', '2024-01-01Z') FROM generate_series(1, 10)"
once "nor an AFTER trigger" s_after \
    'CREATE OR REPLACE TRIGGER catches AFTER INSERT ON s_after FOR EACH ROW EXECUTE FUNCTION catches()' \
    "INSERT INTO s_after (id) SELECT firn_stamp('snowflake', 's_after', '2024-01-01Z') FROM generate_series(1, 10)"
same "and it does not fail" 20 "$(ask 'SELECT count(*) FROM s_after')"
once "nor a loop that catches errors of single rows" s_loop "DO \$\$ DECLARE r record; BEGIN
    FOR r IN SELECT firn_stamp('snowflake', 's_loop', '2024-01-01Z') AS id FROM generate_series(1, 50) LOOP
        BEGIN INSERT INTO s_loop VALUES (r.id); PERFORM caught(1); EXCEPTION WHEN others THEN NULL; END;
    END LOOP; END \$\$"
once "nor a variable that keeps an ID of a block that an error ended" s_block "DO \$\$ DECLARE id bigint; BEGIN
    BEGIN id := firn_stamp('snowflake', 's_block', '2024-01-01Z'); RAISE division_by_zero;
    EXCEPTION WHEN division_by_zero THEN NULL; END;
    INSERT INTO s_block VALUES (id), (firn_stamp('snowflake', 's_block', '2024-01-01Z')); END \$\$"
once "nor one that an INSERT of such a block gave" s_inner "DO \$\$ DECLARE kept bigint; BEGIN
    BEGIN INSERT INTO s_inner VALUES (firn_stamp('snowflake', 's_inner', '2024-01-01Z')) RETURNING id INTO kept;
    RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END;
    INSERT INTO s_inner VALUES (kept);
    INSERT INTO s_inner VALUES (firn_stamp('snowflake', 's_inner', '2024-01-01Z')); END \$\$"
once "nor a loop that continues after its own ROLLBACK" s_rollback "DO \$\$ DECLARE r record; BEGIN
    FOR r IN SELECT n, firn_stamp('snowflake', 's_rollback', '2024-01-01Z') AS id FROM generate_series(1, 300) n LOOP
        INSERT INTO s_rollback VALUES (r.id);
        IF r.n % 100 = 1 THEN ROLLBACK; ELSIF r.n % 100 = 0 THEN COMMIT; END IF;
    END LOOP; END \$\$"
once "nor a variable that a ROLLBACK leaves, after a COMMIT of nothing" s_nothing "DO \$\$ DECLARE id bigint; BEGIN
    id := firn_stamp('snowflake', 's_nothing', '2024-01-01Z'); ROLLBACK; COMMIT; ROLLBACK; INSERT INTO s_nothing VALUES (id);
    COMMIT; INSERT INTO s_nothing VALUES (firn_stamp('snowflake', 's_nothing', '2024-01-01Z')); END \$\$"
once "nor a cursor and a savepoint that is rolled back" s_cursor "DO \$\$ DECLARE id bigint;
    c CURSOR FOR SELECT firn_stamp('snowflake', 's_cursor', '2024-01-01Z') FROM generate_series(1, 9); BEGIN
    OPEN c; FETCH c INTO id; INSERT INTO s_cursor VALUES (id); PERFORM caught(1);
    FETCH c INTO id; INSERT INTO s_cursor VALUES (id); END \$\$"
once "nor two texts of options of one job and such a savepoint" s_options "INSERT INTO s_options (id)
    SELECT CASE WHEN n % 2 = 0 THEN firn_stamp('snowflake', 's_options', '2024-01-01Z')
                ELSE firn_stamp('snowflake', 's_options', '2024-01-01Z', '') END + 0 * caught(n) FROM generate_series(1, 10) n"
ask "CREATE TABLE s_copy (k int, id bigint DEFAULT firn_stamp('snowflake', 's_copy', '2024-01-01Z'))" >/dev/null
printf '%s\n' 'BEGIN;' 'SAVEPOINT a;' 'COPY s_copy (k) FROM STDIN;' 1 2 3 '\.' 'RELEASE a;' 'SAVEPOINT b;' 'ROLLBACK TO b;' \
    'COPY s_copy (k) FROM STDIN;' 4 5 6 '\.' 'COMMIT;' | psql -Xq -h 127.0.0.1 -p "$port" -U firn postgres
same "COPY in a released savepoint is counted there" '6|6' "$(ask 'SELECT count(*), count(DISTINCT id) FROM s_copy')"

gives="SELECT firn_stamp('snowflake', 'both', '2024-01-01Z')"
other="\\! psql -XqAtc \"$gives\" -h 127.0.0.1 -p $port -U firn postgres"
refuses "an ID that another session got after a rollback is not committed" 55006 "other sessions may have got the IDs" \
    BEGIN 'SAVEPOINT a' "$gives" 'ROLLBACK TO a' "$other" COMMIT
refuses "nor are more given" 55006 "other sessions may have got the IDs" \
    BEGIN 'SAVEPOINT a' "$gives" 'ROLLBACK TO a' "$other" "$gives"
same "a session that had none waits for nothing" 3 "$(ask BEGIN 'SAVEPOINT a' 'ROLLBACK TO a' "$other" "$gives" COMMIT "$gives" |
    sort -u | grep -c '^[0-9]*$')"
same "a whole transaction that was rolled back gives the same IDs" 1 "$(ask BEGIN "$gives" ROLLBACK "$gives" | sort -u | grep -c .)"
ask 'CREATE DATABASE dropped' >/dev/null
dropped=$(database=dropped ask 'CREATE EXTENSION firn' BEGIN 'SAVEPOINT a' "SELECT firn_stamp('snowflake', 'dropped', now()) > 0" \
    'ROLLBACK TO a' 'DROP EXTENSION firn' COMMIT 'SELECT count(*) FROM pg_extension WHERE extname = '"'firn'")
same "and one may drop the extension" 't 0' "$(echo $dropped)"
same "nobody reads or changes its counts" 'ERROR:  42501: permission denied for schema firn_jobs' \
    "$(ask 'SET ROLE visitor' 'SELECT count(*) FROM firn_jobs.job' | head -n 1)"
ask 'GRANT EXECUTE ON FUNCTION firn_stamp(text, text, timestamptz) TO visitor' 'CREATE SCHEMA trap AUTHORIZATION visitor' \
    >/dev/null
same "a user who may stamp needs no further grant" t "$(ask 'SET ROLE visitor' "SELECT firn_stamp('snowflake', 'of a visitor', now()) > 0")"
same "and passes no operator of the user to the owner of the table" visitor "$(ask 'SET ROLE visitor' \
    'CREATE TABLE trap.seen (who text)' \
    'CREATE FUNCTION trap.same(a text, b text) RETURNS boolean LANGUAGE sql AS $$INSERT INTO trap.seen VALUES (current_user); SELECT a OPERATOR(pg_catalog.=) b$$' \
    'CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.same)' 'SET search_path = trap, pg_catalog, public' \
    "SELECT 'a'::text = 'a'::text" "SELECT firn_stamp('snowflake', 'of a visitor', now()) > 0" \
    'SELECT DISTINCT who FROM trap.seen' | tail -n 1)"
same "functions of a hostile search_path are not called" '2|2' "$(ask 'SET ROLE visitor' \
    'CREATE FUNCTION trap.generate_series(bigint, bigint) RETURNS SETOF bigint LANGUAGE sql AS $$SELECT 1 / 0::bigint$$' \
    'CREATE FUNCTION trap.firn_check_count(bigint) RETURNS bigint LANGUAGE sql AS $$SELECT 1 / 0::bigint$$' \
    'CREATE FUNCTION trap.uuid7() RETURNS uuid LANGUAGE sql AS $$SELECT (1 / 0)::text::uuid$$' \
    'CREATE FUNCTION trap.firn_new(text) RETURNS text LANGUAGE sql AS $$SELECT (1 / 0)::text$$' \
    'SET search_path = trap, pg_catalog, public' "SELECT (SELECT count(*) FROM uuid7s(2)), (SELECT count(*) FROM firn_new_n('ksuid', 2))")"
ask 'TRUNCATE firn_jobs.job' >/dev/null
refuses "a job whose counts are lost is not continued" 42710 "its table firn_jobs.job was lost" "$(batch 1 1)" \
    "SELECT firn_stamp('snowflake', 'parts', now())"

# ---- promotion and restored backups -------------------------------------------------------------------------------

test/engine save "$place"
ask 'SELECT snowflake()' >"$ids/lost"
ask "SELECT count(firn_stamp('snowflake', 'lost', now()))" >/dev/null
taken=$(ask "SELECT node FROM firn_marks.mark WHERE job = 'lost'")
restored=$(date -u +%Y-%m-%dT%H:%M:%SZ)
check "a backup is restored, on its own timeline" test/engine restore "$place"
refuses "what was made after it may not be made again: 15 s are skipped" 55000 "is guarded for" \
    "SET firn.max_wait = '100ms'" 'SELECT snowflake()'
same "the row of the server tells so" t "$(ask "SELECT timeline > 1 AND until > timestamptz '$restored' + interval '15 s'
    FROM firn_marks.server")"

refuses "which nodes old rows took after it is not known, so none is given" 55000 "may have old rows" \
    "SELECT firn_stamp('snowflake', 'found', now())"
refuses "nor one that is named" 55000 "nodes 950-950" \
    "SELECT firn_stamp('snowflake', 'found', now(), 'node=950')"
check "and the hint does not say to confirm that node" [ "${said#*HINT:*950}" = "$said" ]
refuses "a range is needed to confirm" 22023 "not a range of nodes" "SELECT firn_confirm_history('many')"
set_to "firn.history = '$((taken + 1))-999'"
ask "SELECT firn_confirm_history()" >/dev/null
same "once a superuser has confirmed a range old rows get a node of it, not the lost node" "$((taken + 1))" \
    "$(ask "SELECT count(firn_stamp('snowflake', 'found', now()))" "SELECT node FROM firn_marks.mark WHERE job = 'found'" | tail -n 1)"
refuses "but none outside of it" 55000 "may have old rows" "SELECT firn_stamp('snowflake', 'other', now(), 'node=$taken')"

touch "$place/data/pg/standby.signal"
chmod 666 "$place/data/pg/standby.signal"
test/engine restart "$place"
refuses "a standby reserves nothing" 25006 "a standby cannot reserve" 'SELECT snowflake()'
same "but makes what needs no node, and reads" t "$(ask "SELECT uuid7() > firn_min_uuid('uuid7', '2020-01-01')")"
ask 'SELECT pg_promote(true, 60)' >/dev/null
refuses "promoted it skips 15 s too" 55000 "is guarded for" "SET firn.max_wait = '100ms'" 'SELECT snowflake()'

refuses "and no longer knows the nodes of earlier rows" 55000 "(timeline 3)" \
    "SELECT firn_stamp('snowflake', 'again', now())"
ask "SELECT firn_confirm_history('980-989')" >/dev/null
same "a range that is named is confirmed" 985 "$(ask "SELECT count(firn_stamp('snowflake', 'again', now(), 'node=985'))" \
    "SELECT node FROM firn_marks.mark WHERE job = 'again'" | tail -n 1)"

# A planned switchover: the standby is this server's own copy, which is exact as long as nothing is issued after it.
set_to "firn.node = '12'"
ask 'SELECT count(snowflake())' 'SELECT firn_hand_over()' >/dev/null
set_to "firn.node = '13'"
refuses "a server that handed over has stopped issuing" 55000 "handed its nodes over at" 'SELECT snowflake()'
refuses "nor takes nodes for old rows" 55000 "handed its nodes over at" \
    "SELECT firn_stamp('snowflake', 'behind', now(), 'node=986')"
refuses "it does not take back at once, since a standby may issue" 55000 "may issue without a guard until" 'SELECT firn_take_back()'
ask 'SELECT firn_hand_over()' 'SELECT firn_take_back(standbys_discarded => true)' >/dev/null
set_to "firn.node = '12'"
is_guarded() {
    ask "SET firn.max_wait = '100ms'" 'SELECT snowflake()' | grep -q 'is guarded for'
}
check "with a promise it does, and continues after the guard when its window is used up" await is_guarded
set_to "firn.node = '14'"
same "a node that issued nothing waits for it too" t "$(ask 'SELECT firn_time(snowflake(), $$snowflake$$) >= until FROM firn_marks.server')"
ask 'SELECT firn_hand_over()' >/dev/null
touch "$place/data/pg/standby.signal"
chmod 666 "$place/data/pg/standby.signal"
test/engine restart "$place"
ask 'SELECT pg_promote(true, 60)' >/dev/null
same "after a planned switchover IDs come without the 15 s" t "$(ask "SET firn.max_wait = '10s'" 'SELECT snowflake() > 0')"
same "and old rows get nodes of the ranges that were confirmed" 1 \
    "$(ask "SELECT count(firn_stamp('snowflake', 'behind', now(), 'node=986'))")"
refuses "there is nothing to take back then" 22023 "did not hand" "SELECT firn_take_back()"

# ---- tables that were lost, restored or emptied -------------------------------------------------------------------

dump() {
    pg_dump -h 127.0.0.1 -p "$port" -U firn -n firn_marks "$@" postgres
}
# unkept STATEMENT: without the triggers that forbid it.
unkept() {
    ask 'ALTER TABLE firn_marks.mark DISABLE TRIGGER ALL' 'ALTER TABLE firn_marks.history DISABLE TRIGGER ALL' "$1"
}
set_to "firn.node = '15'"
set_to "firn.history = '980-989'"
ask "SELECT firn_stamp('snowflake', 'before the dump', '2020-01-01')" >"$TMPDIR/dumped"
dump >"$TMPDIR/dump.sql"
dump --data-only >"$TMPDIR/data.sql"
ask "SELECT firn_stamp('snowflake', 'behind the dump', '2020-01-01')" >>"$TMPDIR/dumped"
for lost in restored emptied dropped; do
    case $lost in
    restored) ask 'DROP SCHEMA firn_marks CASCADE' >/dev/null && psql -Xq -h 127.0.0.1 -p "$port" -U firn postgres -f "$TMPDIR/dump.sql" >/dev/null ;;
    emptied) unkept 'TRUNCATE firn_marks.mark, firn_marks.history' >/dev/null && psql -Xq -h 127.0.0.1 -p "$port" -U firn postgres -f "$TMPDIR/data.sql" >/dev/null ;;
    dropped) ask 'DROP SCHEMA firn_marks CASCADE' >/dev/null ;;
    esac
    refuses "tables that were $lost give no node to old rows" 55000 "may have old rows" \
        "SELECT firn_stamp('snowflake', 'again $lost', '2020-01-01')"
done
test/engine restart "$place"
refuses "nor does a server that was started again without them" 55000 "may have old rows" \
    "DROP SCHEMA firn_marks CASCADE" "SELECT firn_stamp('snowflake', 'again', '2020-01-01')"
ask "SELECT firn_confirm_history('987-989')" >/dev/null
ask "SELECT firn_stamp('snowflake', 'confirmed', '2020-01-01', 'node=987')" >>"$TMPDIR/dumped"
same "until nodes are confirmed, and no ID came twice" 3 "$(sort -u "$TMPDIR/dumped" | grep -cE '^[0-9]{19}$')"
ask 'SELECT count(snowflake())' >/dev/null
dump >"$TMPDIR/dump.sql"
ask 'DROP SCHEMA firn_marks CASCADE' >/dev/null
psql -Xq -h 127.0.0.1 -p "$port" -U firn postgres -f "$TMPDIR/dump.sql" >/dev/null
test/engine restart "$place"
refuses "live IDs of restored marks wait for the guard too" 55000 "is guarded for" "SET firn.max_wait = '100ms'" \
    'SELECT snowflake()'

# ---- others in firn.database --------------------------------------------------------------------------------------

set_to "firn.node = '16'"
copies() {
    [ -z "$(database=template1 ask 'DROP DATABASE IF EXISTS copied' 'CREATE DATABASE copied TEMPLATE postgres' |
        grep ERROR)" ]
}
check "firn.database can be copied, the renewer leaves it for so long" copies
same "and be renamed" "" "$(database=template1 ask 'ALTER DATABASE postgres RENAME TO renamed' \
    'ALTER DATABASE renamed RENAME TO postgres')"
same "or dropped and created again" "" "$(database=template1 ask 'ALTER DATABASE postgres RENAME TO gone' 'DROP DATABASE gone' \
    'CREATE DATABASE postgres TEMPLATE copied')"
check "and IDs are made afterwards" await yes_to 'SELECT snowflake() > 0'

# ---- marks that cannot be written ---------------------------------------------------------------------------------

set_to "firn.node = '9'"
ask 'SELECT count(leaf())' >/dev/null
unkept "DELETE FROM firn_marks.mark WHERE ns = 'leaf'"
ask "SELECT firn_confirm_history('9-9')" >/dev/null
refuses "a node of live IDs is not given to old rows, even if its mark was deleted" 2200H "no node of leaf" \
    "SELECT firn_stamp('leaf', 'late', now(), 'node=9')"
set_to "fsync = off"
refuses "a server without fsync may forget: it is refused" 08006 "fsync is off" 'SELECT snowflake()'
set_to "fsync = on"
ask 'SELECT count(snowflake())' >/dev/null
set_to "firn.node = '10'"
same "a lock on the table ends in an error, not in a wait for ever" 1 "$(ask 'BEGIN' 'BEGIN; LOCK TABLE firn_marks.mark' \
    "SET firn.max_wait = '1s'" 'SELECT snowflake()' 'ROLLBACK' | grep -c '55000\|08006')"
check "and is over with the lock" await yes_to 'SELECT snowflake() > 0'
ask 'CREATE FUNCTION steal() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$' \
    'CREATE TRIGGER steal BEFORE INSERT ON firn_marks.mark FOR EACH ROW EXECUTE FUNCTION steal()' >/dev/null
set_to "firn.node = '11'"
refuses "somebody's trigger on it is not run by the renewer" 08006 "has a trigger" 'SELECT snowflake()'
ask 'DROP TRIGGER steal ON firn_marks.mark' >/dev/null
same "once it is gone there are IDs, before any VACUUM" t "$(ask 'SELECT snowflake() > 0')"
ask "CREATE RULE steal AS ON INSERT TO firn_marks.mark DO ALSO NOTIFY stolen" >/dev/null
set_to "firn.node = '17'"
refuses "nor is a rule" 08006 "has a rule" 'SELECT snowflake()'
ask 'DROP RULE steal ON firn_marks.mark' >/dev/null
same "which is over with the rule" t "$(ask 'SELECT snowflake() > 0')"

# ---- pg_upgrade ---------------------------------------------------------------------------------------------------

test/engine halt "$place"
if [ -x "$(pg_config --bindir)/pg_upgrade" ] && upgrade "$place/data"; then
    pass "pg_upgrade takes a server over into one that preloads firn"
else
    fail "pg_upgrade takes a server over into one that preloads firn" "$(cat "$TMPDIR/upgrade.log")"
fi

# ---- without preload ----------------------------------------------------------------------------------------------

check "a server starts without firn preloaded" test/engine start postgres "$standby"
port=$(cat "$standby/port")
ask 'CREATE EXTENSION firn' >/dev/null
refuses "without preload reserved rows are refused, with the cure" 55000 "needs reserved slots" 'SELECT snowflake()'
same "others work" 1000 "$(ask 'SELECT count(DISTINCT id) FROM uuid7s(1000) id')"
store=sqlite:$(readlink "$standby/data")/firn.db
set_to "firn.store = '$store'"
set_to "firn.unsafe = on" # the folder may be on a disk that forgets
for session in $(seq 16); do
    ask 'SELECT * FROM snowflakes(5000)' >"$TMPDIR/store.$session" &
    sessions="${sessions:-} $!"
done
# shellcheck disable=SC2086 # pids, to be split
wait $sessions
same "with firn.store each backend has its own node" 80000 "$(sort -u "$TMPDIR"/store.* | grep -cE '^[0-9]{19}$')"
same "old rows get one from there too" 1000 "$(ask "SELECT count(DISTINCT firn_stamp('snowflake', '2020-01-01'))
    FROM generate_series(1, 1000)")"
stored="SELECT firn_stamp('snowflake', 'stored', '2020-01-01') FROM generate_series(1, 2)"
same "a job with a name continues over sessions there too" 4 "$({ ask "$stored" && ask "$stored"; } | sort -u | grep -cE '^[0-9]{19}$')"
refuses "unless its counts are lost" 42710 "started with other input" 'TRUNCATE firn_jobs.job' "$stored"
set_to "firn.node = '7'"
refuses "both at once are refused" 22023 "gives each backend its own node" 'SELECT snowflake()'

# ---- all of them --------------------------------------------------------------------------------------------------

cat "$ids"/*[0-9] "$ids"/steps "$ids"/parallel | grep -E '^[0-9]{19}$' >"$TMPDIR/all"
total=$(wc -l <"$TMPDIR/all")
check "at least ten million IDs of one node were made ($total)" [ "$total" -ge 10000000 ]
same "through all of that no two are equal" "0 duplicates" "$("$FIRN" check --scheme snowflake "$TMPDIR/all" |
    grep -o '[0-9]* duplicate[s]*')"
sed -n -e 1,100000p -e 777p -e 100000q "$TMPDIR/all" >"$TMPDIR/injected"
same "one that is put among some of them is found" "1 duplicate" "$("$FIRN" check --scheme snowflake "$TMPDIR/injected" |
    grep -o '[0-9]* duplicate[s]*')"
finish
