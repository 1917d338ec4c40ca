# SPDX-License-Identifier: MIT
# Cost of an ID in SQL, compared with the server's own functions: sh ext/postgres/bench.sh, with BUILD (default: build). Each
# round runs every statement once, the empty one too, whose time is taken off; printed is the median of the rounds. Then a
# million rows with each kind of key. ROUNDS (7) and ROWS (1000000) may be set.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
rounds=${ROUNDS:-7} rows=${ROWS:-1000000}
[ -f "$BUILD/ext/postgres/firn.so" ] || { echo "bench: $BUILD/ext/postgres/firn.so is not built" >&2; exit 1; }
. ext/postgres/private.sh
private_start
work=$(mktemp -d) || exit 1
cleanup() {
    test/engine stop "$work/server"
    private_end
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP
test/engine start postgres "$work/server" -c shared_preload_libraries=firn -c firn.node=7 -c max_wal_size=8GB \
    -c checkpoint_timeout=1h -c autovacuum=off -c shared_buffers=512MB >/dev/null || exit 1
sql() {
    psql -XqAt -h 127.0.0.1 -p "$(cat "$work/server/port")" -U firn postgres "$@"
}
sql -f ext/postgres/bench.sql

# ---- a row ---------------------------------------------------------------------------------------------------------

# name | statement's expression | a part of the rows, for what is slow | the peer
cat >"$work/list" <<'LIST'
nothing|g|1|
nextval|nextval('bench_sequence')|1|
gen_random_uuid|gen_random_uuid()|1|
PL/pgSQL form_uuid_v1|plain.form_uuid_v1('2020-01-01'::timestamptz + g * interval '1 s', 666, '44:88:99:36:57:32')|10|
its argument alone|'2020-01-01'::timestamptz + g * interval '1 s'|1|
snowflake()|snowflake()|1|nextval
uuid7()|uuid7()|1|gen_random_uuid
uuid4()|uuid4()|1|gen_random_uuid
form_uuid_v1|form_uuid_v1('2020-01-01'::timestamptz + g * interval '1 s', 666, '44:88:99:36:57:32')|1|PL/pgSQL form_uuid_v1
uuid1()|uuid1()|1|
ulid()|ulid()|1|
firn_new of snowflake|firn_new('snowflake')|1|
LIST
for _ in $(seq "$rounds"); do
    while IFS='|' read -r name expression part peer; do
        printf '%s\n' "\\echo $name" '\timing on' \
            "SELECT count($expression) FROM generate_series(1, $((rows / part))) g;" '\timing off'
    done <"$work/list" | sed '1iSET max_parallel_workers_per_gather = 0; SET jit = off;' | sql -f -
done | awk -v rows="$rows" -v list="$work/list" '
    BEGIN { FS = "|"; while ((getline <list) > 0) { part[$1] = $3; peer[$1] = $4; order[++count] = $1 } FS = " " }
    function median(name,   i, j, n, t) {
        n = seen[name]
        for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++)
            if (ns[name, j] < ns[name, i]) { t = ns[name, i]; ns[name, i] = ns[name, j]; ns[name, j] = t }
        return ns[name, int((n + 1) / 2)]
    }
    /^Time: / {
        own = $2 * 1e6 / (rows / part[name])
        if (name == "nothing") base = own
        else if (name == "its argument alone") argument = own - base
        if (name != "nothing") ns[name, ++seen[name]] = own - base
        next
    }
    !/^[0-9]+$/ { name = $0 }
    END {
        argument = median("its argument alone")
        for (i = 2; i <= count; i++) {
            name = order[i]
            if (name == "its argument alone") continue
            cost[name] = median(name) - (name ~ /form_uuid_v1/ ? argument : 0)
            printf "%-24s %8.1f ns a row", name, cost[name]
            if (peer[name] != "") printf "   %5.1f x faster than %s", cost[peer[name]] / cost[name], peer[name]
            printf "\n"
        }
    }'
sql -c '\timing on' -c "SELECT count(snowflake()) FROM generate_series(1, 10 * $rows)" |
    awk -v rows="$rows" '/^Time/ { printf "%-24s %8.1f ns a row over %d rows: the layout holds 4096 a ms, and a second may be borrowed\n", "snowflake() sustained", $2 * 1e6 / rows / 10, rows * 10 }'

# ---- a million rows with each kind of key --------------------------------------------------------------------------

echo
echo "| key | time, s | index, MB | WAL, MB | WAL |"
echo "|---|--:|--:|--:|:--|"
while IFS='|' read -r name type default; do
    sql -c "CREATE TABLE t (id $type, v integer)" -c CHECKPOINT
    before=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
    took=$(sql -c '\timing on' -c "INSERT INTO t (v) SELECT g FROM generate_series(1, $rows) g" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p')
    sql -F ' ' -c "SELECT pg_relation_size('t_pkey'), pg_current_wal_insert_lsn() - '$before'" |
        awk -v name="$name" -v took="$took" '{
            bar = sprintf("%*s", $2 / 4e6, ""); gsub(/ /, "#", bar)
            printf "| %s | %.2f | %.0f | %.0f | `%s` |\n", name, took / 1000, $1 / 1e6, $2 / 1e6, bar }'
    sql -c 'DROP TABLE t'
done <<LIST
\`bigserial\`|bigserial PRIMARY KEY
\`snowflake()\`|bigint PRIMARY KEY DEFAULT snowflake()
\`uuid7()\`|uuid PRIMARY KEY DEFAULT uuid7()
\`uuid6()\`|uuid PRIMARY KEY DEFAULT uuid6()
\`uuid1()\`|uuid PRIMARY KEY DEFAULT uuid1()
\`ulid()\`|uuid PRIMARY KEY DEFAULT ulid()
\`uuid4()\`|uuid PRIMARY KEY DEFAULT uuid4()
\`gen_random_uuid()\`|uuid PRIMARY KEY DEFAULT gen_random_uuid()
LIST
