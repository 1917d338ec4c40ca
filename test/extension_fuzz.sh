# SPDX-License-Identifier: MIT
# Every SQL function of the three extensions with hostile arguments: NULL, huge, negative, of other types, with NUL and invalid
# UTF-8, of a megabyte, and real ones with a few bytes changed. Each call answers or ends with one of the extension's own
# errors, in time, and the server continues.
# The long form: SEED=7 ROUNDS=1000000 BUILD=$PWD/build TMPDIR=$(mktemp -d) sh test/extension_fuzz.sh
# shellcheck disable=SC2016 # dollars quote SQL
. test/tap

seed=${SEED:-1} rounds=${ROUNDS:-3000}
if ! command -v python3 >/dev/null; then
    skip "the SQL functions refuse hostile arguments" "python3 is missing"
    finish
fi
place=$TMPDIR/postgres engine=$TMPDIR/mariadb room=
cleanup() {
    test/engine stop "$place" 2>/dev/null
    test/engine stop "$engine" 2>/dev/null
    [ -z "${prefix:-}" ] || private_end
    [ -z "$room" ] || rm -rf "$room"
}
trap cleanup EXIT
trap 'exit 143' TERM HUP INT
calls() {
    python3 test/extension_fuzz.py "$1" "$seed" "$rounds"
}
# outcomes FILE: how many answers and how many errors; both must be many, or nothing was tried.
tried() {
    answers=$(grep -acE '^([0-9]+|NULL)$' "$2")
    errors=$(grep -acE "$3" "$2")
    check "$1: of $rounds calls (seed $seed) $answers were answered, $errors refused" \
        [ "$answers" -gt $((rounds / 20)) -a "$errors" -gt $((rounds / 20)) ]
}

# ---- SQLite ------------------------------------------------------------------------------------------------------

library=$(find "$BUILD" -name 'libfirn_sqlite.so' | head -n 1)
if [ -n "$library" ] && command -v sqlite3 >/dev/null; then
    export FIRN_STORE="sqlite:$TMPDIR/firn.db?unsafe=1"
    # the shell has functions of its own
    sqlite3 :memory: "CREATE TEMP TABLE others AS SELECT DISTINCT name FROM pragma_function_list" ".load $library" "SELECT name || ' ' || CASE WHEN name LIKE '%min%' OR name LIKE '%max%' THEN
        substr('tmtt', 1, narg) WHEN name LIKE '%stamp' THEN substr('tmtt', 1, narg) WHEN name = 'form_uuid_v1' THEN 'mit'
        WHEN name = 'firn_shard' THEN substr('dit', 1, narg) WHEN name LIKE 'bin%' THEN substr('bi', 1, narg)
        ELSE substr('dttt', 1, narg) END FROM (SELECT DISTINCT name, narg FROM pragma_function_list WHERE narg >= 0
        AND name NOT IN (SELECT name FROM others)) WHERE name <> 'firn_config'" >"$TMPDIR/sqlite.list" 2>"$TMPDIR/sqlite.why"
    {
        echo ".load $library"
        calls sqlite <"$TMPDIR/sqlite.list"
        echo "SELECT 'the end';"
    } | timeout 120 sqlite3 :memory: >"$TMPDIR/sqlite.out" 2>&1
    same "SQLite comes to the end" "the end" "$(tail -n 1 "$TMPDIR/sqlite.out")"
    tried SQLite "$TMPDIR/sqlite.out" '(Runtime|Parse) error|^Error'
else
    skip "SQLite's functions refuse hostile arguments" "libfirn_sqlite.so or sqlite3 is missing"
fi

# ---- PostgreSQL --------------------------------------------------------------------------------------------------

if [ -f "$BUILD/ext/postgres/firn.so" ] && command -v pg_config >/dev/null; then
    . ext/postgres/private.sh
    private_start
    check "PostgreSQL starts" test/engine start postgres "$place" -c shared_preload_libraries=firn -c firn.node=7 \
        -c firn.history=900-999
    port=$(cat "$place/port")
    # SQL_ASCII takes any byte as text
    ask() {
        psql -XqAt -v VERBOSITY=verbose -v SHOW_CONTEXT=never -h 127.0.0.1 -p "$port" -U firn "$@" 2>&1
    }
    ask postgres -c "CREATE DATABASE hostile ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'" >"$TMPDIR/made"
    ask hostile -c 'CREATE EXTENSION firn' >"$TMPDIR/made"
    started=$(ask postgres -c 'SELECT pg_postmaster_start_time()')
    ask hostile -c "SELECT p.proname || ' ' || coalesce(string_agg(CASE WHEN names[i] = 'n' THEN 'n' ELSE
        CASE t::regtype::text WHEN 'text' THEN 't' WHEN 'bigint' THEN 'd' WHEN 'integer' THEN 'i' WHEN 'uuid' THEN 'u'
        WHEN 'bytea' THEN 'b' WHEN 'timestamp with time zone' THEN 'm' WHEN 'macaddr' THEN 'k' WHEN 'boolean' THEN 'o'
        END END, '' ORDER BY i), '') FROM (SELECT oid, proname, proargtypes, proargnames AS names FROM pg_proc) p
        JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e' LEFT JOIN LATERAL
        unnest(p.proargtypes) WITH ORDINALITY u(t, i) ON true WHERE p.proname NOT IN ('firn_hand_over', 'firn_take_back', 'firn_take_over', 'firn_share_store')
        GROUP BY p.oid, p.proname ORDER BY 1" | sed 's/ \(.*\)d/ \1d/' >"$TMPDIR/postgres.list"
    {
        echo "SET client_encoding = 'SQL_ASCII'; SET firn.max_wait = '50ms'; SET statement_timeout = '20s';"
        calls postgres <"$TMPDIR/postgres.list" | sed "s/'::text::bigint/'::bigint/g"
        echo "SELECT 'the end';"
    } | timeout 120 psql -XqAt -v VERBOSITY=verbose -v SHOW_CONTEXT=never -h 127.0.0.1 -p "$port" -U firn hostile \
        >"$TMPDIR/postgres.out" 2>&1
    same "PostgreSQL comes to the end" "the end" "$(tail -n 1 "$TMPDIR/postgres.out")"
    tried PostgreSQL "$TMPDIR/postgres.out" 'ERROR: '
    same "it was never restarted" "$started" "$(ask postgres -c 'SELECT pg_postmaster_start_time()')"
    same "no call failed inside (XX...) or was too slow (57014)" "" "$(grep -aE 'ERROR: +(XX|57)' "$TMPDIR/postgres.out" | head -n 5)"
else
    skip "PostgreSQL's functions refuse hostile arguments" "it is not built: PGXS is missing"
fi

# ---- MariaDB -----------------------------------------------------------------------------------------------------

made=$BUILD/ext/mariadb
if [ -f "$made/firn_mariadb.so" ]; then
    room=$(mktemp -d /tmp/firn-mariadb.XXXXXX) || exit 1
    mkdir -p "$room/plugin/firn" "$room/store"
    cp "$made/firn_mariadb.so" "$room/plugin/" && cp "$BUILD/firn/sqlite.so" "$room/plugin/firn/"
    chmod -R a+rX "$room"
    chmod 777 "$room/store"
    export FIRN_STORE="sqlite:$room/store/firn.db?unsafe=1"
    url=$(ENGINE_OWNER=$$ test/engine start mysql "$engine" --plugin-dir="$room/plugin" --max-statement-time=20)
    case $? in
    0)
        sql() {
            mariadb --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P "$(sed -n 1p "$engine/port")" -u firn -N -B -q --force firn 2>&1
        }
        sql <"$made/install.sql"
        sed -nE 's/^GENERATOR\(([a-z0-9_]+),.*/\1 T/p; s/^MARIADB_(ISSUE|PURE)\(([a-z0-9_]+),.*"([A-Za-z]*)", "[^"]*"\)$/\2 \3/p' ext/functions.def |
            tr 'TIDM' 'tidm' >"$TMPDIR/mariadb.list"
        {
            calls mariadb <"$TMPDIR/mariadb.list"
            echo "SELECT 'the end';"
        } | sql >"$TMPDIR/mariadb.out"
        same "MariaDB comes to the end" "the end" "$(tail -n 1 "$TMPDIR/mariadb.out")"
        tried MariaDB "$TMPDIR/mariadb.out" '^ERROR'
        check "it was never restarted" [ "$(grep -ac 'got signal' "$engine/log.1")" = 0 ]
        # MariaDB 11.7 and newer have their own uuid_v4 and uuid_v7.
        same "each error is one of the functions'" "" "$(grep -aE '^ERROR' "$TMPDIR/mariadb.out" |
            grep -avE "^ERROR (1105|1123|1210|1690|1367) |native function 'uuid_v[47]'" | head -n 5)"
        ;;
    77) skip "MariaDB's functions refuse hostile arguments" "MariaDB is not installed" ;;
    *) fail "MariaDB starts" "$url" ;;
    esac
else
    skip "MariaDB's functions refuse hostile arguments" "ext/mariadb is not built"
fi
finish
