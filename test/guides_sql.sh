# SPDX-License-Identifier: MIT
# Each block of SQL of each page runs as printed, in the order of its page, on a fresh engine: here, or in the tests that the
# end names. A block below the line <!-- not run: REASON --> is left out.
. test/tap

ENGINE_OWNER=$$
export ENGINE_OWNER
room=$(mktemp -d /tmp/firn-guides.XXXXXX) || exit 1 # which the users of servers can reach
chmod 755 "$room"
prefix=
cleanup() {
    test/engine stop "$TMPDIR/postgres"
    test/engine stop "$TMPDIR/mysql"
    [ -z "$prefix" ] || private_end
    rm -rf "$room"
}
trap cleanup EXIT
trap 'exit 143' TERM HUP INT

# blocks PAGE [FROM]: its blocks of SQL, from the heading FROM on, as NUMBER.sql; those that are not run, as NUMBER.reason.
blocks() {
    at=$TMPDIR/blocks/$1
    mkdir -p "$at"
    awk -v folder="$at" -v from="${2:-}" '
        from == "" || $0 == from { here = 1 }
        /^<!-- not run: / { reason = $0; next }
        /^```sql$/ && here { file = sprintf("%s/%02d.%s", folder, ++n, reason == "" ? "sql" : "reason") }
        /^```sql$/ && here && reason != "" { print reason >file; close(file); file = "" }
        /^```sql$/ { reason = ""; next }
        /^```/ && file != "" { close(file); file = ""; next }
        file != "" { print >file }
        { reason = "" }' "docs/$1.md"
}
# run_page PAGE [FROM]: block for block by `run` with what `before PAGE NUMBER` prints ahead of it.
run_page() {
    blocks "$1" "${2:-}"
    for block in "$at"/*; do
        number=${block##*/} number=${number%.*}
        title="docs/$1.md: block $number, $(head -n 1 "$block")"
        case $block in
        *.reason) check "$title" grep -qE '^<!-- not run: .{9,} -->$' "$block" ;;
        *) check "$title" run "$1" "$block" ;;
        esac
    done
}
# before PAGE NUMBER: the tables that the page supposes, at its first block that needs them.
before() {
    case $1:$2 in
    guides/sqlite:02) echo "CREATE TABLE old(id INTEGER, created TEXT, note TEXT);
        INSERT INTO old(created, note) VALUES('2024-05-01 12:00:00', 'a'), ('2024-05-01 13:00:00', 'b');" ;;
    reference/format:02) printf '.parameter set ?%s\n' "1 \"'snowflake'\"" "2 \"'17'\"" "3 5" "4 1000" "5 2000" "6 7" "7 \"'note'\"" ;;
    guides/postgres:02) echo "CREATE ROLE shop; CREATE ROLE migration;" ;;
    guides/postgres:03 | guides/postgres:04) echo "DROP TABLE IF EXISTS orders; CREATE TABLE orders AS
        SELECT timestamptz '2024-05-01 12:00Z' + g * interval '5 days' AS created_at FROM generate_series(1, 9) g;" ;;
    guides/postgres:05) echo "CREATE TABLE visit AS SELECT NULL::bigint AS id, timestamp '2024-05-01' + g * interval '1 hour' AS seen
        FROM generate_series(1, 9) g;" ;;
    guides/built-in:01) echo "CREATE TABLE items (id uuid PRIMARY KEY DEFAULT uuid7());
        DO \$\$BEGIN IF current_setting('server_version_num')::int < 180000 THEN
            CREATE FUNCTION uuidv7() RETURNS uuid LANGUAGE sql AS 'SELECT uuid7()'; END IF; END\$\$;" ;;
    guides/mariadb:02) echo "CREATE TABLE orders (note TEXT); INSERT INTO orders VALUES ('a'), ('b');" ;;
    guides/mariadb:03) echo "CREATE TABLE old (created_at DATETIME); INSERT INTO old VALUES ('2024-05-01 12:00:00'), ('2024-05-01 13:00:00');" ;;
    guides/migrating:01) echo "CREATE TABLE orders (n INT PRIMARY KEY, created_at DATETIME(3), id BIGINT);
        INSERT INTO orders SELECT seq, '2019-01-01' + INTERVAL seq DIV 3 SECOND, NULL FROM seq_1_to_100;" ;;
    esac
}
# counts PAGE EXPECTED FOUND
counts() {
    same "$1: each old row has another ID with its time" "$2" "$3"
}

# ---- SQLite -------------------------------------------------------------------------------------------------------
database=$TMPDIR/page.db
loaded=".load $BUILD/libfirn_sqlite"
run() {
    {
        echo "$loaded"
        before "$1" "$number"
        sed "s#^\.load libfirn_sqlite#$loaded#" "$2"
    } | sqlite3 -bail "$database"
}
if [ ! -f "$BUILD/libfirn_sqlite.so" ] || ! command -v sqlite3 >/dev/null; then
    skip "docs/guides/sqlite.md" "the extension is not built, or sqlite3 is missing"
else
    run_page guides/sqlite
    counts docs/guides/sqlite.md "2 2" "$(sqlite3 -separator ' ' -cmd "$loaded" "$database" "SELECT count(DISTINCT id),
        sum(substr(replace(firn_time(id, 'snowflake'), 'T', ' '), 1, 19) = created) FROM old")"
    database=$TMPDIR/format.db
    run_page reference/format
    "$FIRN" new snowflake --store "sqlite:$TMPDIR/firn.db?create=yes&unsafe=1" >"$TMPDIR/log" 2>&1
    tables() {
        sqlite3 "$1" ".schema" | tr -s ' \n' ' ' | tr ';' '\n' | sort
    }
    same "docs/reference/format.md has the tables of a store" "$(tables "$TMPDIR/firn.db")" "$(tables "$database")"
fi

# ---- PostgreSQL ---------------------------------------------------------------------------------------------------
if [ ! -f "$BUILD/ext/postgres/firn.so" ] || ! command -v pg_config >/dev/null; then
    skip "docs/guides/postgres.md" "the extension is not built: PGXS is missing (Debian: postgresql-server-dev-all)"
else
    . ext/postgres/private.sh
    private_start
    check "a PostgreSQL starts with firn preloaded" test/engine start postgres "$TMPDIR/postgres" -c shared_preload_libraries=firn \
        -c firn.max_wait=60s -c firn.node=7 -c firn.history=900-999
    ask() {
        psql -XqAt -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$(cat "$TMPDIR/postgres/port")" -U firn "$@" postgres
    }
    run() {
        before "$1" "$number" >"$TMPDIR/before.sql"
        ask -f "$TMPDIR/before.sql" -f "$2"
    }
    run_page guides/postgres
    counts docs/guides/postgres.md "9|9" "$(ask -c "SELECT count(DISTINCT id), count(*) FILTER (WHERE firn_time(id, 'snowflake') = created_at) FROM orders")"
    run_page guides/built-in
fi

# ---- MariaDB ------------------------------------------------------------------------------------------------------
made=$BUILD/ext/mariadb
if [ ! -f "$made/firn_mariadb.so" ]; then
    skip "docs/guides/mariadb.md" "ext/mariadb is not built: mysql.h is missing (libmariadb-dev)"
else
    mkdir -p "$room/plugin/firn" "$room/store"
    cp "$made/firn_mariadb.so" "$room/plugin/" && cp "$BUILD/firn/sqlite.so" "$room/plugin/firn/"
    chmod -R a+rX "$room"
    chmod 777 "$room/store"
    check "a MariaDB starts" env FIRN_STORE="sqlite:$room/store/firn.db?unsafe=1" test/engine start mysql "$TMPDIR/mysql" \
        --plugin-dir="$room/plugin"
    ask() {
        mariadb --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P "$(sed -n 1p "$TMPDIR/mysql/port")" -u firn -N -B "$@"
    }
    run() {
        { before "$1" "$number"; cat "$2"; } | ask "$schema"
    }
    schema=firn
    ask --force firn <"$made/install.sql" >"$TMPDIR/log" 2>&1
    run_page guides/mariadb
    counts docs/guides/mariadb.md "2 2" "$(ask firn -e "SELECT count(DISTINCT id), sum(firn_time(id, 'snowflake') = created_at) FROM old" | tr '\t' ' ')"
    ask -e "CREATE DATABASE migrating"
    schema=migrating
    run_page guides/migrating '### MariaDB and SQLite'
    counts "docs/guides/migrating.md, MariaDB" "100 100" \
        "$(ask migrating -e "SELECT count(DISTINCT id), sum(firn_time(id, 'snowflake') = created_at) FROM orders" | tr '\t' ' ')"
fi

# ---- no block is left out ------------------------------------------------------------------------------------------
# test/migrating_postgres.sh runs the blocks of migrating.md above the heading for MariaDB, test/guides_stores.sh its own page.
number_of() {
    sed -n "$1" "docs/$2.md" | grep -c '^```sql$'
}
same "each page with SQL is one of these" "guides/built-in guides/gapless guides/mariadb guides/migrating guides/postgres guides/shared-store guides/sqlite reference/format" \
    "$(grep -l '^```sql$' -r docs README.md | sed 's#^docs/##; s#\.md$##' | sort | paste -sd' ')"
same "docs/guides/migrating.md has no SQL outside of the two parts that are run" "$(number_of p guides/migrating)" \
    "$(($(number_of '/^## A large table/,/^### MariaDB/p' guides/migrating) + $(number_of '/^### MariaDB/,$p' guides/migrating)))"
same "no page has SQL in a block without its name" "" "$(find docs README.md -name '*.md' -exec awk '
    /^```/ { open = !open; plain = open && ($0 == "```" || $0 == "```text"); first = open; next }
    first && plain && /^(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|GRANT|REVOKE|BEGIN|CALL) .*/ { print FILENAME ":" FNR }
    { first = 0 }' {} +)"
finish
