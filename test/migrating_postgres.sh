# SPDX-License-Identifier: MIT
# The move of a large table in docs/guides/migrating.md, block by block as printed, on a real server, while writers use
# the old key and the new key: all steps, all ways back, and all steps again. A ledger knows which order each item
# belongs to.
# shellcheck disable=SC2016 # dollars quote SQL, for the server
. test/postgres.tap

private_needed "a large table moves"
if [ ! -x "$(pg_config --bindir)/pgbench" ]; then
    skip "a large table moves" "pgbench is not installed"
    finish
fi
writers=
cleanup() {
    # shellcheck disable=SC2086 # pids, to be split
    [ -z "$writers" ] || kill $writers 2>/dev/null
    test/engine stop "$place"
    private_end
}
private_test "a large table moves"

export PGOPTIONS='-c client_min_messages=warning'
ask() {
    psql -XqAt -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U firn postgres -c "$1" 2>&1
}
says() {
    [ "$(ask "$1")" = "$2" ]
}

check "a server starts with firn preloaded" test/engine start postgres "$place" -c shared_preload_libraries=firn \
    -c firn.max_wait=60s -c firn.node=7 -c firn.history=900-999
port=$(cat "$place/port")
old_rows=25000 # more than one batch
# The code of an order is what the writers know it by. An order with a code up to $old_rows stays.
same "it has two tables with rows" "" "$(ask "CREATE EXTENSION firn;
    CREATE TABLE orders (n serial PRIMARY KEY, created_at timestamptz, code integer NOT NULL UNIQUE);
    CREATE TABLE items (k serial PRIMARY KEY, order_n integer NOT NULL REFERENCES orders (n), size integer);
    CREATE TABLE ledger (k integer PRIMARY KEY, code integer NOT NULL);
    CREATE SEQUENCE codes START $((old_rows + 1)); CREATE SEQUENCE done_old; CREATE SEQUENCE done_new;
    INSERT INTO orders (created_at, code) SELECT '2016-01-01'::timestamptz + c * interval '3.5 s', c FROM generate_series(1, $old_rows) c;
    INSERT INTO items (order_n) SELECT n FROM orders ORDER BY n;
    INSERT INTO ledger SELECT k, code FROM items JOIN orders ON n = order_n; ANALYZE")"

# ---- the page -----------------------------------------------------------------------------------------------------------

# A file a block: STEP.WAY.NUMBER.sql, where WAY is "on" or "back".
mkdir "$TMPDIR/blocks"
awk -v folder="$TMPDIR/blocks" '
    /^## A large table/ { here = 1 }
    /^### MariaDB/ { exit }
    /^\*\*[0-9]\. / { step = substr($0, 3, 1); way = "on" }
    /^Way back from/ { way = "back" }
    /^```/ && inside { inside = 0; close(file); next }
    here && /^```sql/ { inside = 1; file = sprintf("%s/%s.%s.%02d.sql", folder, step, way, ++count); next }
    inside { print >file }' docs/guides/migrating.md
check "the page has blocks for steps 0 to 6 and ways back from 1 to 5" [ "$(find "$TMPDIR/blocks" -name '*.sql' |
    sed 's,.*/\(.*\)\.[0-9]*\.sql,\1,' | sort -u | paste -sd' ')" = \
    "0.on 1.back 1.on 2.back 2.on 3.back 3.on 4.back 4.on 5.back 5.on 6.on" ]

# run_block FILE: as the page says, again after a lock timeout, and a CALL until no row is left.
run_block() {
    for _ in $(seq 200); do
        said=$(psql -XqAt -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U firn -f "$1" postgres 2>&1)
        case $(head -n 1 "$1"):$said in
        BEGIN*'due to lock timeout'*) ;;
        CALL*:[1-9]*) ;;
        CALL*:0) said= && return ;;
        *) return ;;
        esac
    done
}

# ---- writers ------------------------------------------------------------------------------------------------------------

# Each transaction writes one kind of key, and the ledger. They move, insert and delete items, insert and delete orders,
# and change another column. $2 is the reference, $3 the key of the order.
for one in 'old order_n n' 'new order_id id'; do
    # shellcheck disable=SC2086 # three words
    set -- $one
    cat >"$TMPDIR/$1.move" <<END
\set k random(1, $old_rows)
\set code random(1, $old_rows)
BEGIN;
WITH moved AS (UPDATE items SET $2 = o.$3 FROM orders o WHERE o.code = :code AND o.$3 IS NOT NULL AND items.k = :k
    RETURNING 1) SELECT count(*) AS moved FROM moved \gset
UPDATE ledger SET code = :code WHERE k = :k AND :moved = 1;
COMMIT;
SELECT nextval('done_$1');
END
    cat >"$TMPDIR/$1.insert" <<END
BEGIN;
INSERT INTO orders (created_at, code) VALUES (now(), nextval('codes')) RETURNING $3 AS own, code \gset
INSERT INTO items ($2) VALUES (:own) RETURNING k \gset
INSERT INTO ledger VALUES (:k, :code);
INSERT INTO items ($2) VALUES (:own) RETURNING k \gset
INSERT INTO ledger VALUES (:k, :code);
COMMIT;
UPDATE items SET size = 1 WHERE k = :k;
SELECT nextval('done_$1');
END
    cat >"$TMPDIR/$1.delete" <<END
\set k random(1, $old_rows)
BEGIN;
INSERT INTO orders (created_at, code) VALUES (now(), nextval('codes')) RETURNING $3 AS own, code \gset
INSERT INTO items ($2) VALUES (:own) RETURNING k AS last \gset
INSERT INTO ledger VALUES (:last, :code);
COMMIT;
BEGIN;
DELETE FROM items WHERE $2 = :own;
DELETE FROM orders WHERE $3 = :own;
DELETE FROM items WHERE k = :k;
DELETE FROM ledger WHERE k IN (:last, :k);
COMMIT;
SELECT nextval('done_$1');
END
done

# start_writer NAME: at most 900 s, about 40 transactions a second.
start_writer() {
    "$prefix$bin/pgbench" -n -M prepared -c 2 -T 900 -R 40 --random-seed="$(wc -c <"$0")" -h 127.0.0.1 -p "$port" -U firn \
        -f "$TMPDIR/$1.move@6" -f "$TMPDIR/$1.insert@3" -f "$TMPDIR/$1.delete@1" postgres >"$TMPDIR/$1.log" 2>&1 &
    eval "$1=$!"
    writers="$writers $!"
}
# end_writer NAME: SIGALRM ends pgbench as its own clock does, after the current transactions.
end_writer() {
    eval "pid=\$$1"
    kill -ALRM "$pid"
    wait "$pid"
    same "no statement of the writer of the $1 key failed" "0 0" "$? $(sed -n 's/^number of failed transactions: \([0-9]*\).*/\1/p' "$TMPDIR/$1.log")"
    # shellcheck disable=SC2046,SC2086 # pids, to be split
    writers=$(printf '%s\n' $writers | grep -vx "$pid" | paste -sd' ')
    grep -E 'ERROR|aborted' "$TMPDIR/$1.log" | head -n 5 | sed 's/^/# /'
}
# Until each writer has written ten times more.
go_on() {
    for name; do
        await says "SELECT last_value >= $(ask "SELECT last_value + 10 FROM done_$name") FROM done_$name" t || return 1
    done
}

# ---- steps --------------------------------------------------------------------------------------------------------------

# Items whose old and new key and ledger do not name the same order; a key that is not filled yet counts for nothing.
wrong='SELECT count(*) FROM items i FULL JOIN ledger l USING (k) LEFT JOIN orders o ON o.n = i.order_n
    LEFT JOIN orders p ON p.id = i.order_id WHERE l.code IS DISTINCT FROM o.code OR i.order_id IS NOT NULL AND p.code IS DISTINCT FROM o.code'

# step NUMBER WAY WRITER...: its blocks, with the writers before, during and after it.
step() {
    number=$1 way=$2
    shift 2
    told=
    go_on "$@" || told="writers stopped before"
    for block in "$TMPDIR/blocks/$number.$way".*; do
        run_block "$block"
        told=$told$said
        go_on "$@" || { told="$told; writers stopped after ${block##*/}" && break; }
    done
    [ "$number" != 0 ] || told=${told#0|0|0}
    case $told in
    *'writers stopped'*) fail "step $number, $way" "$told; $(grep -hE 'ERROR|aborted' "$TMPDIR"/*.log | head -n 5)" && finish ;;
    esac
    same "step $number, $way, with writers of: $*" "" "$told"
}
filled() {
    same "both keys of each item are the ledger's order, and none is NULL" "0 0" "$(ask "$wrong") $(ask "SELECT
        (SELECT count(*) FROM orders WHERE id IS NULL) + (SELECT count(*) FROM items WHERE order_id IS NULL)")"
}

start_writer old
step 0 on old
step 1 on old
start_writer new
for number in 2 3 4 5; do
    step $number on old new
    same "no item has lost its order" 0 "$(ask "$wrong")"
done
filled
refused=$(ask "UPDATE items SET order_n = 1, order_id = (SELECT id FROM orders WHERE n = 2) WHERE k = (SELECT max(k) FROM items)")
check "an item with keys of two orders is refused" [ "${refused#*is not the order with n = 1}" != "$refused" ]
refused=$(ask "INSERT INTO items (order_id) VALUES (5)")
check "so is a new key of no order" [ "${refused#*order_id 5 is not the order}" != "$refused" ]
same "both keys of one order are not" "" "$(ask "BEGIN; INSERT INTO items (order_n, order_id) SELECT n, id FROM orders LIMIT 1; ROLLBACK")"
same "old rows have IDs of one node that tell their time" '0|1' "$(ask "SELECT count(*) FILTER (WHERE firn_time(id, 'snowflake') <> created_at),
    count(DISTINCT id >> 12 & 1023) FROM orders WHERE code <= $old_rows")"
for number in 5 4 3; do
    step $number back old new
    filled
done
step 2 back old new
end_writer new
step 1 back old
same "after all ways back the tables are as they were" "orders_pkey items_pkey items_order_n_fkey orders_code_key ledger_pkey" "$(ask "
    SELECT conname FROM pg_constraint WHERE conrelid IN ('orders'::regclass, 'items'::regclass, 'ledger'::regclass)
    AND convalidated AND contype IN ('p', 'f', 'u', 'c') ORDER BY conname <> 'orders_pkey', conname <> 'items_pkey', conname <> 'items_order_n_fkey',
    conname <> 'orders_code_key'" | paste -sd' ')"
same "with nothing left of the steps" 0 "$(ask "SELECT (SELECT count(*) FROM pg_attribute WHERE attname IN ('id', 'order_id') AND attrelid IN
    ('orders'::regclass, 'items'::regclass)) + (SELECT count(*) FROM pg_proc WHERE proname IN ('items_follow', 'stamp_orders', 'follow_items'))")"
step 1 on old
start_writer new
for number in 2 3 4 5; do
    step $number on old new
done
filled
end_writer old
same "at the end each item's old key is right" 0 "$(ask "$wrong")"
step 6 on new
end_writer new
same "the old keys are gone, and each item has the ledger's order" "0 0" "$(ask "SELECT count(*) FROM items i FULL JOIN ledger l USING (k)
    LEFT JOIN orders o ON o.id = i.order_id WHERE l.code IS DISTINCT FROM o.code") $(ask "SELECT count(*) FROM pg_attribute
    WHERE attname IN ('n', 'order_n') AND attrelid IN ('orders'::regclass, 'items'::regclass)")"
same "the new keys are the primary key, NOT NULL, and checked" "items_order_id_fkey orders_pkey 2" "$(ask "SELECT
    (SELECT string_agg(conname, ' ' ORDER BY conname) FROM pg_constraint WHERE convalidated AND (conrelid = 'orders'::regclass AND contype = 'p'
    AND conkey = ARRAY[(SELECT attnum FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'id')]
    OR conrelid = 'items'::regclass AND contype = 'f'))" | paste -sd' ') $(ask "SELECT count(*) FROM pg_attribute
    WHERE attnotnull AND (attrelid, attname) IN (('orders'::regclass, 'id'), ('items'::regclass, 'order_id'))")"
same "each order has its own ID" 0 "$(ask "SELECT count(*) - count(DISTINCT id) FROM orders")"
finish
