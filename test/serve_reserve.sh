# SPDX-License-Identifier: MIT
# A server with a reserve on the machine, whose PostgreSQL is stopped: it is restarted and killed during the outage, every
# request is answered, and no ID is issued twice.
. test/serve.tap

place=$TMPDIR/postgres
started=''
trap 'for each in $started; do kill -KILL "$each" 2>/dev/null; done; test/engine stop "$place" 2>/dev/null' EXIT
ENGINE_OWNER=$$ test/engine start postgres "$place" >"$TMPDIR/url" 2>/dev/null || {
    skip "a reserve outlives PostgreSQL" "PostgreSQL"
    finish
    exit 0
}
url=$(cat "$TMPDIR/url")
cat >"$TMPDIR/firn.ini" <<INI
[generator orders]
scheme = snowflake
ns = orders
reach = 1h
reserve = 1h
reserve_nodes = 4
reserve_path = $TMPDIR/reserve.db
unsafe = 1

[segment invoices]
reserve = 1h
reserve_path = $TMPDIR/reserve.db
unsafe = 1
INI
ids=$TMPDIR/ids
: >"$ids"
begin() {
    servers=$((${servers:-0} + 1))
    log=$TMPDIR/server.$servers.log
    "$FIRN" serve --config "$TMPDIR/firn.ini" --store "$url" --resp 127.0.0.1:0 --http 127.0.0.1:0 --wait 60s \
        >"$log" 2>&1 </dev/null &
    server=$!
    started="$started $server"
    await told_serving
    http=$(address_of http)
    resp=$(address_of resp)
}
ready() {
    curl -sf "http://$http/readyz" >/dev/null
}
# asked N PATH FILE: N requests in turn, all answered; what they issue goes to the file
asked() {
    failed=0
    for _ in $(seq "$1"); do
        line=$(curl -sf -m 60 "http://$http/v1/$2") || failed=$((failed + 1))
        echo "$line" | jq -r '.ids[]' >>"$3" 2>/dev/null
    done
    [ "$failed" = 0 ]
}
# answers N: N requests for IDs
answers() {
    asked "$1" new/orders "$ids"
}
# counts N: N requests for integers, and as many from Redis clients
integers=$TMPDIR/integers
: >"$integers"
counts() {
    asked "$1" segments/invoices "$integers"
    ask_resp -r "$1" INCR invoices >>"$integers"
    [ "$failed" = 0 ] && ! grep -q '[^0-9]' "$integers"
}
no_integer_twice() {
    [ -z "$(sort "$integers" | uniq -d)" ] && [ "$(wc -l <"$integers")" -ge "$1" ]
}
none_twice() {
    [ -z "$(sort "$ids" | uniq -d)" ] && [ "$(wc -l <"$ids")" -ge "$1" ]
}
# in_hand: how many nodes the file has, apart from the pending refills
in_hand() {
    [ "$("$FIRN" nodes --store "sqlite:$TMPDIR/reserve.db?unsafe=1&create=no" --json 2>/dev/null |
        jq -rs '[.[] | select(.key | test("^[0-9]+$"))] | length')" -ge 4 ]
}

begin
await ready
check "it issues" answers 20
check "and counts" counts 20
check "the reserve has its nodes" await in_hand
test/engine halt "$place"
check "without its store it issues" answers 20
check "and counts" counts 50
check "and stays ready" ready
metric() {
    curl -sf "http://$http/metrics" | awk -v name="firn_generator_$1{" 'index($0, name) == 1 { print int($2) }'
}
check "metrics say how long the reserve lasts" [ "$(metric reserve_seconds)" -ge 3000 ]
integers_last() {
    [ "$(curl -sf "http://$http/metrics" |
        awk -F'["} ]+' '/^firn_segment_reserve_seconds/ { print $2, ($3 >= 900) }')" = "invoices 1" ]
}
check "and how long the integers in it last" await integers_last
check "and that it was refilled" [ "$(metric reserve_refills_total)" -ge 2 ]
failed_refills() {
    [ "$(metric reserve_failures_total)" -ge 1 ]
}
stop_server TERM
begin
check "it starts without its store" await ready
check "and issues" answers 20
check "and counts" counts 50
check "its metrics count the refills that fail" await failed_refills
for _ in 1 2 3; do
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    begin
    await ready
    answers 10 || break
done
check "so it does after it was killed" [ "$failed" = 0 ]
check "with integers" counts 50
same "the reserve shows them" invoices "$("$FIRN" reserve "reserve_path=$TMPDIR/reserve.db" --json |
    jq -rs '[.[] | select(.last != null) | .ns] | unique | join(" ")' | sed 's/^integer //')"
status=$(curl -s -o "$TMPDIR/refusal" -w '%{http_code}' -m 60 "http://$http/v1/segments/numbers")
check "integers without a reserve are refused" [ "$status" -ge 400 ]
test/engine restart "$place" >/dev/null
check "when the store is back, it issues" answers 20
check "and counts" counts 20
# Given back by the command, while the server continues: the server fills it again, which looks like no loss.
check "another process gives the reserve back" "$FIRN" reserve give-back snowflake ns=orders reach=1h reserve=1h unsafe=1 \
    reserve_nodes=4 "reserve_path=$TMPDIR/reserve.db" --store "$url"
filled_again() {
    answers 1 && [ "$(metric reserve_seconds)" -ge 3000 ]
}
check "the server fills it again" await filled_again
same "and notices no loss" 0 "$("$FIRN" nodes --store "$url" | grep -c 'lost reservations')"
check "no ID is issued twice" none_twice 110
check "no integer is issued twice" no_integer_twice 380
stop_server TERM
finish
