# SPDX-License-Identifier: MIT
# The RESP listener, with the clients that there are: redis-cli, redis-benchmark, python3-redis, the npm
# client `redis`, and bare sockets.
. test/serve.tap

# says_resp SENTENCE TEXT WORD...: exactly this
says_resp() {
    sentence=$1
    wanted=$2
    shift 2
    same "$sentence" "$wanted" "$(ask_resp "$@")"
}
# refuses_resp SENTENCE PATTERN WORD...: an error reply, one line
refuses_resp() {
    sentence=$1
    pattern=$2
    shift 2
    found=$(ask_resp "$@" | sed '/^$/d')
    if [ "$(printf '%s\n' "$found" | wc -l)" = 1 ] && printf '%s\n' "$found" | grep -qE "^$pattern"; then
        pass "$sentence"
    else
        fail "$sentence" "$(printf '%s\n' "wanted: $pattern" "found: $found")"
    fi
}

command -v redis-cli >/dev/null || {
    skip "Redis's own clients are served" "redis-cli is missing (Debian: redis-tools)"
    finish
}
serve --auto-create || fail "the server starts" "$(cat "$log")"

# ---- redis-cli -----------------------------------------------------------------------------------
says_resp "PING" PONG PING
says_resp "PING with a text" "a b" PING "a b"
says_resp "ECHO" hello ECHO hello
says_resp "GET of an unused key is nil" "" GET counter
says_resp "INCR begins with 1" 1 INCR counter
says_resp "and goes on" 2 INCR counter
says_resp "INCRBY prints the last of its block" 102 INCRBY counter 100
says_resp "GET prints the last integer" 102 GET counter
says_resp "INCR follows it" 103 INCR counter
refuses_resp "INCRBY 0 is refused" "ERR .*1 to" INCRBY counter 0
refuses_resp "INCRBY -1 is refused" "ERR .*1 to" INCRBY counter -1
refuses_resp "INCRBY x is refused" "ERR " INCRBY counter x
refuses_resp "SET is refused and says what to use" "ERR unknown command 'SET': .*INCR" SET counter 1
refuses_resp "DEL too" "ERR unknown command 'DEL'" DEL counter
for asked in 'FIRN.NEW' 'FIRN.PACK' 'FIRN.SCHEMES' 'FIRN.SHOW 123 SCHEME'; do
    # shellcheck disable=SC2086
    refuses_resp "$asked of nothing says where the list is" "ERR there is no .*'qqqqqqqqqqqq': FIRN.SCHEMES and GET /v1/schemes list" $asked qqqqqqqqqqqq
done
refuses_resp "a count is called COUNT" "ERR COUNT 0 is out of range: use 1 to" FIRN.NEW uuid7 COUNT 0
refuses_resp "a wrong time is named" "ERR time=x: " FIRN.NEW uuid7 TIME x
refuses_resp "WATCH says that nothing can be undone" "ERR unknown command 'WATCH': a batch is not a transaction" WATCH
refuses_resp "INCRBY takes no more than max_block" "ERR COUNT 1000001 is out of range: use 1 to 1000000 \(max_block\)" INCRBY counter 1000001
refuses_resp "so does FIRN.BLOCK" "ERR .*max_block" FIRN.BLOCK counter COUNT 1000001
refuses_resp "FIRN.NEW of a segment says what it is" "ERR 'counter' is a segment, not a generator: use INCR counter" FIRN.NEW counter
refuses_resp "DECR too" "ERR unknown command 'DECR': .*INCR" DECR counter
refuses_resp "an unknown command is named" "ERR unknown command 'NOTHING'" NOTHING
refuses_resp "a command with too few words tells its form" "ERR wrong number of arguments for 'incr' command: key" INCR
refuses_resp "another database is refused" "ERR DB index" SELECT 1
says_resp "SELECT 0" OK SELECT 0
says_resp "CONFIG GET" "$(printf 'save\n\nappendonly\nno')" CONFIG GET 'save' append\*
says_resp "COMMAND COUNT counts what COMMAND LIST lists" "$(ask_resp COMMAND LIST | wc -l)" COMMAND COUNT
same "COMMAND DOCS has a line of help for each" "$(ask_resp COMMAND COUNT)" "$(ask_resp COMMAND DOCS | grep -cx summary)"
same "INFO has the sections that clients read" "Server Clients Memory Persistence Stats Replication CPU Keyspace Firn" \
    "$(ask_resp INFO | tr -d '\r' | sed -n 's/^# //p' | paste -sd' ')"
same "INFO of one section is that section" "Firn" "$(ask_resp INFO firn | tr -d '\r' | sed -n 's/^# //p')"
same "maps of RESP3 are maps" "firn" "$(ask_resp --json -3 HELLO 3 | jq -r .server)"
says_resp "CLIENT SETNAME takes a name" OK CLIENT SETNAME me

# ---- IDs -----------------------------------------------------------------------------------------
id=$(ask_resp FIRN.NEW snowflake)
same "FIRN.NEW gives an ID of the scheme" 2 "$("$FIRN" show --json --scheme snowflake "$id" | jq -r '.time[:1]')"
same "with COUNT that many, all different, rising" 1000 "$(ask_resp FIRN.NEW snowflake COUNT 1000 | sort -nu | wc -l)"
same "COUNT 1 is a list too" '["string"]' "$(ask_resp --json FIRN.NEW snowflake COUNT 1 | jq -c 'map(type)')"
same "without COUNT an ID is a string, since JavaScript's numbers end at 2^53" '"string"' "$(ask_resp --json FIRN.NEW snowflake | jq -c type)"
same "TIME back-dates" 2020-01-01 "$("$FIRN" show --json --scheme snowflake "$(ask_resp FIRN.NEW snowflake TIME 2020-01-01)" | jq -r '.time[:10]')"
same "AS chooses the form" 16 "$(ask_resp FIRN.NEW snowflake AS hex | awk '{ print length }')"
same "AS dec of a scheme in hex is a number" 1 "$(ask_resp FIRN.NEW tsid AS dec | grep -cE '^[1-9][0-9]{16,18}$')"
refuses_resp "AS dec ends where the number would be negative" "ERR IDs of tsid are negative" FIRN.NEW tsid AS dec TIME 2090-01-01
same "which the scheme's own form is not" 13 "$(ask_resp FIRN.NEW tsid TIME 2090-01-01 | tr -d '\n' | wc -c | tr -d ' ')"
refuses_resp "a range has one sign" "ERR IDs of tsid are negative as signed numbers from 2089" FIRN.RANGE tsid 2080-01-01 2090-01-01 AS dec
same "uuid7" 7 "$(ask_resp FIRN.NEW uuid7 | cut -c 15)"
refuses_resp "a field without a value is refused" "ERR 'node' has no value" FIRN.NEW snowflake node
refuses_resp "an unknown scheme is refused, and the nearest named" "ERR .*nowflake" FIRN.NEW snowflak
refuses_resp "COUNT beyond 65536 is refused" "ERR .*65536" FIRN.NEW snowflake COUNT 65537
same "FIRN.BLOCK of integers is first, last, increment, count" "104 113 1 10" "$(ask_resp FIRN.BLOCK counter COUNT 10 | paste -sd' ')"
same "and a map in RESP3" '{"first":114,"last":123,"increment":1,"count":10}' "$(ask_resp --json -3 FIRN.BLOCK counter COUNT 10 | jq -c .)"
same "FIRN.RUNS is first and last of consecutive IDs" "[[19,19]]" \
    "$(ask_resp --json -3 FIRN.RUNS snowflake COUNT 3 | jq -c '[first | map(length)]')"
pack='snowflake time 2024-01-01 datacenter 1 worker 2 sequence 3'
# shellcheck disable=SC2086 # words
packed=$(ask_resp FIRN.PACK $pack)
same "FIRN.PACK packs as the command does" "$("$FIRN" pack snowflake time=2024-01-01 datacenter=1 worker=2 sequence=3)" "$packed"
same "name=value in one word is taken too" "$packed" "$(ask_resp FIRN.PACK snowflake time=2024-01-01 datacenter=1 worker=2 sequence=3)"
same "FIRN.SHOW shows what the command does" "$("$FIRN" show --json "$packed" | jq -cS .)" \
    "$(ask_resp --json -3 FIRN.SHOW "$packed" | jq -cS .)"
same "as the scheme that is named, too" "$("$FIRN" show --json --scheme snowflake "$packed" | jq -cS .fields)" \
    "$(ask_resp --json -3 FIRN.SHOW "$packed" SCHEME snowflake | jq -cS .fields)"
same "FIRN.RANGE has both ends" "$("$FIRN" range snowflake 2024-01-01 2024-01-02 | paste -sd' ')" \
    "$(ask_resp --json -3 FIRN.RANGE snowflake 2024-01-01 2024-01-02 | jq -r '"\(.least) \(.greatest)"')"
same "FIRN.CONVERT converts" "$("$FIRN" convert "$packed" --to hex)" "$(ask_resp FIRN.CONVERT "$packed" hex)"
same "FIRN.SCHEMES names them all" "$("$FIRN" schemes --json | jq -r .name | sort | paste -sd' ')" \
    "$(ask_resp --json -3 FIRN.SCHEMES | jq -r '.[].name? // .schemes[].name' | sort | paste -sd' ')"
same "FIRN.NODES lists the windows" yes "$(ask_resp FIRN.NODES | grep -qx snowflake && echo yes)"

# ---- many commands -------------------------------------------------------------------------------
for _ in $(seq 2000); do
    printf 'INCR piped\r\n'
done >"$TMPDIR/inline"
same "redis-cli --pipe takes lines" "errors: 0, replies: 2000" "$(ask_resp --pipe <"$TMPDIR/inline" | tail -n 1)"
for _ in $(seq 2000); do
    # shellcheck disable=SC2016 # dollars of the protocol
    printf '*2\r\n$4\r\nINCR\r\n$5\r\npiped\r\n'
done >"$TMPDIR/arrays"
same "and arrays" "errors: 0, replies: 2000" "$(ask_resp --pipe <"$TMPDIR/arrays" | tail -n 1)"
says_resp "each command counted once" 4000 GET piped
if command -v redis-benchmark >/dev/null; then
    bench() {
        redis-benchmark -h "${resp%:*}" -p "${resp##*:}" -q -P 16 -n 32000 "$@" 2>&1 | tr '\r' '\n'
    }
    bench -t incr,ping >"$TMPDIR/bench"
    same "redis-benchmark runs ping and incr" "INCR PING_INLINE PING_MBULK" \
        "$(sed -nE 's/^([A-Z_]+): [0-9.]+ requests per second.*/\1/p' "$TMPDIR/bench" | sort | paste -sd' ')"
    same "and finds nothing wrong" "" "$(grep -iE 'warn|err' "$TMPDIR/bench")"
    same "its INCRs are integers of one segment" 32000 "$(ask_resp GET counter:__rand_int__)"
    bench FIRN.NEW uuid7 >"$TMPDIR/bench"
    check "redis-benchmark runs FIRN.NEW" grep -q 'requests per second' "$TMPDIR/bench"
    same "without an error" "" "$(grep -i err "$TMPDIR/bench")"
else
    skip "redis-benchmark runs" "redis-benchmark is missing (Debian: redis-tools)"
fi
stop_server
same "the server ends well" 0 "$status"
serve --auto-create
check "after a restart integers continue above the last" [ "$(ask_resp INCR piped)" -gt 4000 ]
stop_server

# ---- other ways in -------------------------------------------------------------------------------
log=$TMPDIR/unix.log
"$FIRN" serve --config '' --resp "unix:$TMPDIR/resp" --http none --store "sqlite:$TMPDIR/ids.db?unsafe=1" --auto-create >"$log" 2>&1 &
server=$!
started="$started $server"
await told_serving
says_unix() {
    redis-cli -s "$TMPDIR/resp" "$@" 2>&1
}
same "a unix socket serves" PONG "$(says_unix PING)"
# A store that is slow under valgrind asks to try again.
issued_by_unix() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        reply=$(says_unix INCR piped)
        case $reply in TRYAGAIN*) ;; *) break ;; esac
    done
    echo "$reply"
}
check "and issues" [ "$(issued_by_unix)" -gt 4000 ]
stop_server
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$TMPDIR/key.pem" -out "$TMPDIR/cert.pem" 2>"$TMPDIR/stderr"
    serve --auto-create --tls-cert "$TMPDIR/cert.pem" --tls-key "$TMPDIR/key.pem" || fail "TLS starts" "$(cat "$log")"
    same "redis-cli --tls, the certificate checked" PONG "$(ask_resp --tls --cacert "$TMPDIR/cert.pem" PING)"
    same "thousands of IDs through TLS" 30000 "$(ask_resp --tls --cacert "$TMPDIR/cert.pem" FIRN.NEW uuid7 COUNT 30000 | sort -u | wc -l)"
    same "a pipeline through TLS" "errors: 0, replies: 2000" \
        "$(ask_resp --tls --cacert "$TMPDIR/cert.pem" --pipe <"$TMPDIR/arrays" | tail -n 1)"
    check "a client without TLS gets nothing" sh -c "! timeout 5 redis-cli -h 127.0.0.1 -p ${resp##*:} PING 2>&1 | grep -q PONG"
    stop_server
    same "the server with TLS ends well" 0 "$status"
else
    skip "TLS" "openssl is missing"
fi

# ---- programs ------------------------------------------------------------------------------------
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
/usr/bin/python3 test/serve/resp.py || [ $? = 1 ] || fail "test/serve/resp.py runs to its end"

# node_speaks FOLDER VERSION PROTOCOL
node_speaks() {
    spoken=yes
    same "the client redis $2 for Node.js speaks RESP$3" fine \
        "$(NODE_PATH=$1 timeout 120 node test/serve/clients.js "${resp##*:}" "$3" 2>&1)"
}
serve --auto-create
if command -v node >/dev/null; then
    [ ! -e /usr/share/nodejs/redis ] || node_speaks /usr/share/nodejs "of Debian" 2
    for version in 4 5; do
        modules=$TMPDIR/npm$version
        mkdir -p "$modules"
        timeout 60 npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$modules" "redis@$version" \
            >"$TMPDIR/npm.log" 2>&1 || continue # without npm or a network
        node_speaks "$modules/node_modules" $version 2
        [ $version = 4 ] || node_speaks "$modules/node_modules" $version 3
    done
fi
[ -n "${spoken:-}" ] || skip "the client redis for Node.js is served" "nodejs, or node-redis and npm's registry, are missing"
stop_server
finish
