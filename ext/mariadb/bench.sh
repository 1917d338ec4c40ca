#!/bin/sh
# SPDX-License-Identifier: MIT
# Cost of the functions in a real server: ns per row more than the same query with a column, by the server's clock and by its
# processor time, compared with MariaDB's own; and a million rows inserted with each kind of key. Rounds are interleaved, the median of each is printed.
#
#   BUILD=build ext/mariadb/bench.sh [ROUNDS]
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
rounds=${1:-7}
count=1000000

room=$(mktemp -d /tmp/firn-mariadb.XXXXXX) || exit 1
trap 'test/engine stop "$room/engine"; rm -rf "$room"' EXIT
mkdir -p "$room/plugin/firn" "$room/store"
cp "$build/ext/mariadb/firn_mariadb.so" "$room/plugin/" && cp "$build/firn/sqlite.so" "$build/firn/aes.so" "$room/plugin/firn/" || exit 1
chmod -R a+rX "$room" && chmod 777 "$room/store"
export FIRN_STORE="sqlite:$room/store/firn.db?unsafe=1"
ENGINE_OWNER=$$ test/engine start mysql "$room/engine" --plugin-dir="$room/plugin" --innodb-buffer-pool-size=512M \
    --innodb-log-file-size=512M >"$room/url" || exit 1

sql() {
    mariadb --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P "$(sed -n 1p "$room/engine/port")" -u firn -N -B firn || exit 1
}
# seconds STATEMENT: by the server's own clock, without what a client takes.
seconds() {
    printf 'SET profiling = 1;\n%s;\nSHOW PROFILES;\n' "$1" | sql | awk -F '\t' 'NF == 3 { sum += $2 } END { print sum }'
}
# processor_ns: of all threads of the server so far.
processor_ns() {
    cat /proc/"$(cat "$room"/engine/pid.*)"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d", sum }'
}
# measured NAME STATEMENT: adds a round to the times of NAME.
measured() {
    before=$(processor_ns)
    seconds "$2" >>"$times/$1"
    echo "$(($(processor_ns) - before))" >>"$times/processor $1"
}
# median FILE
median() {
    sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

sql <"$build/ext/mariadb/install.sql"
echo "CREATE SEQUENCE numbers CACHE 1000" | sql
times=$room/times
mkdir "$times"

# ---- a value per row -------------------------------------------------------------------------------
# A million snowflakes are 244 ms of the layout, less than a query may lead, so the bench times the code.
calls='seq+0 snowflake() uuid7() uuid4() ulid() firn_new("uuid7") uuid_short() uuid() nextval(numbers) firn_time(seq,"leaf")'
for _ in $(seq "$rounds"); do
    for call in $calls; do
        measured "$call" "SELECT count($call) FROM seq_1_to_$count"
    done
    for call in 'form_uuid_v1' 'uuid_to_bin'; do
        case $call in
        form_uuid_v1) whole='form_uuid_v1(seq, 5, "01:02:03:04:05:06")' ;;
        *) whole='uuid_to_bin(concat("6ccd780c-baba-1026-9564-5b8c", 10000000 + seq))' ;;
        esac
        measured "$call" "SELECT count($whole) FROM seq_1_to_$count"
    done
done
base=$(median "$times/seq+0") processor_base=$(median "$times/processor seq+0")
printf '%-24s %10s %10s\n' "ns a row" "over $(awk "BEGIN { printf \"%.0f\", $base * 1e9 / $count }")" processor
for call in $calls form_uuid_v1 uuid_to_bin; do
    [ "$call" = seq+0 ] || printf '%-24s %10s %10s\n' "$call" \
        "$(awk "BEGIN { printf \"%.0f\", ($(median "$times/$call") - $base) * 1e9 / $count }")" \
        "$(awk "BEGIN { printf \"%.0f\", ($(median "$times/processor $call") - $processor_base) / $count }")"
done

# ---- a million rows ------------------------------------------------------------------------------
keys='auto_increment|bigint AUTO_INCREMENT|NULL
nextval|bigint|nextval(numbers)
snowflake|bigint|snowflake()
seata|bigint|seata()
uuid7 binary(16)|binary(16)|uuid_to_bin(uuid7())
uuid7 uuid|uuid|uuid_to_bin(uuid7())
uuid() uuid|uuid|uuid()
uuid4 uuid|uuid|uuid_to_bin(uuid4())
uuid7 char(36)|char(36) CHARACTER SET ascii|uuid7()
uuid4 char(36)|char(36) CHARACTER SET ascii|uuid4()'
printf '\n%-18s %8s %10s\n' "key of a million rows" s MiB
fill_rounds=$(((rounds + 2) / 3))
for _ in $(seq $fill_rounds); do
    echo "$keys" | while IFS='|' read -r name type value; do
        echo "DROP TABLE IF EXISTS filled; CREATE TABLE filled (id $type PRIMARY KEY, what int NOT NULL)" | sql
        seconds "INSERT INTO filled SELECT $value, seq FROM seq_1_to_$count" >>"$times/fill $name"
        echo "ANALYZE TABLE filled; SELECT round(data_length / 1048576, 1) FROM information_schema.tables WHERE table_name = 'filled'" |
            sql | tail -n 1 >>"$times/size $name"
    done
done
echo "$keys" | while IFS='|' read -r name type value; do
    printf '%-18s %11s %10s\n' "$name" "$(median "$times/fill $name")" "$(median "$times/size $name")"
done
