# SPDX-License-Identifier: MIT
# The server as a service: how it begins and ends, signals, reload, what a service manager hears, and sockets of all kinds.
. test/serve.tap
python=/usr/bin/python3
store=sqlite:$TMPDIR/ids.db?unsafe=1
work=$TMPDIR/w # short: a socket's path has 107 bytes at most
[ ${#work} -lt 80 ] || work=$(mktemp -d)
mkdir -p "$work"

# lines_of FILE COUNT: it has that many by now
lines_of() {
    [ "$(wc -l <"$1")" -ge "$2" ]
}
# told_in FILE PATTERN
told_in() {
    grep -qE -- "$2" "$1"
}
gone() {
    ! kill -0 "$1" 2>/dev/null
}

# ---- the end -----------------------------------------------------------------------------------
serve
check "it serves" kill -0 "$server"
id=$(ask_resp firn.new snowflake)
check "and issues" [ "$id" -gt 0 ]
stop_server TERM
same "SIGTERM ends it with 0" 0 "$status"
check "and it says so" has_told 'event=stopped'
check "its window is given back: the mark is in the past" sh -c \
    "'$FIRN' nodes --store '$store' --json | jq -e 'select(.ns == \"snowflake\") | .distance | endswith(\"ago\")'"
mark=$("$FIRN" nodes --store "$store" --json | jq -r 'select(.ns == "snowflake") | .mark')
same "behind the last ID that was issued" "$id" \
    "$(tick=$((id >> 22)) && echo $(((tick << 22) + (id & 4190208) + (mark - tick * 4096 - 1))))"

serve --auto-create
redis-benchmark -p "${resp##*:}" -n 100000000 -c 8 -P 16 firn.new snowflake >"$TMPDIR/load.1" 2>&1 &
load=$!
redis-benchmark -p "${resp##*:}" -n 100000000 -c 8 incr loaded >"$TMPDIR/load.2" 2>&1 &
loads="$load $!"
await told_in "$TMPDIR/load.1" '=[1-9]'
await told_in "$TMPDIR/load.2" '=[1-9]'
# integer COMMAND...: its answer. A busy server may have no integer at the moment, and says so.
integer() {
    for _ in $(seq 600); do
        said=$("$@" 2>&1)
        case $said in *TRYAGAIN*) sleep 0.1 ;; *) break ;; esac
    done
    echo "$said"
}
last=$(integer ask_resp incr loaded)
stop_server TERM
same "under load it ends with 0 too" 0 "$status"
# shellcheck disable=SC2086
kill $loads 2>/dev/null
# shellcheck disable=SC2086
wait $loads 2>/dev/null
# The mark of a generator that was ahead of the clock may be, by max_lead at most; a window would end 2 s ahead.
check "and keeps no window" sh -c "sleep 1.1; '$FIRN' nodes --store '$store' --json |
    jq -se 'all(.[] | select(.ns == \"snowflake\"); .distance | endswith(\"ago\"))'"
serve --auto-create
check "the integers continue after the earlier ones" [ "$(integer ask_resp incr loaded)" -gt "$last" ]
stop_server INT
same "SIGINT ends it with 0" 0 "$status"

# The store of a server passes all on to an engine, so it knows nodes of reserves.
served=$TMPDIR/split.ini
cat >"$served" <<INI
[generator kept]
scheme = snowflake
ns = split
reach = 1h
reserve_claim = 900..1023
reserve = 1h
reserve_path = $TMPDIR/reserve.db
unsafe = 1

[generator plain]
scheme = snowflake
ns = split
reach = 1h
reserve_claim = 900..1023
INI
serve
node_from() {
    echo $(($(ask_resp firn.new "$1") >> 12 & 1023))
}
check "a generator with a reserve has a node of reserves" [ "$(node_from kept)" -ge 900 ]
check "another one has none" [ "$(node_from plain)" -lt 900 ]
stop_server TERM
served=''

"$FIRN" serve --config '' --store memory: --resp none --http "unix:$work/bare" <&- >&- 2>&- &
bare=$!
started="$started $bare"
await test -S "$work/bare"
same "descriptors that were closed do not become sockets: events go nowhere" "/dev/null /dev/null /dev/null" \
    "$(for each in 0 1 2; do readlink "/proc/$bare/fd/$each"; done | xargs)"
kill "$bare"
wait "$bare"
same "and it ends as ever" 0 $?

# A limit on the size of files is like a full disk: lines are missing in the log.
(ulimit -f 1 && exec "$FIRN" serve --config '' --store memory: --resp none --http "unix:$work/limited" \
    --access-log "$work/limited.log" --access-log-lines request 2>/dev/null) &
limited=$!
started="$started $limited"
await test -S "$work/limited"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
    curl -s --max-time 30 --unix-socket "$work/limited" http://localhost/v1/new/uuid7 >/dev/null
    sleep 0.1
done
same "a log that may not grow ends nothing" ok "$(curl -s --max-time 30 --unix-socket "$work/limited" http://localhost/healthz)"
kill "$limited"
wait "$limited"
same "and the end is as ever" 0 $?

answered() {
    curl -s --max-time 30 "http://$http/metrics" | sed -n 's/^firn_requests_total{listener="resp",kind="new"} //p'
}
# Has it answered some of the requests, and stopped answering?
stuck() {
    before=$(answered)
    sleep 0.5
    [ "${before:-0}" -gt 0 ] && [ "$(answered)" = "$before" ]
}
serve --stop 300s --slow 3600s
mkfifo "$work/hold"
: >"$TMPDIR/unread"
$python test/serve/unread.py "$resp" <"$work/hold" >"$TMPDIR/unread" &
client=$!
exec 4>"$work/hold"
await told_in "$TMPDIR/unread" full
await stuck
kill -TERM "$server"
await has_told event=stopping
sleep 0.5 # two signals nearer than 0.3 s are one wish
check "a client that does not read holds it up for stop at most" kill -0 "$server"
stop_server TERM 2>/dev/null
same "a second signal ends it at once" 143 "$status"
exec 4>&-
wait "$client"
serve --stop 1s --slow 3600s
: >"$TMPDIR/unread"
$python test/serve/unread.py "$resp" <"$work/hold" >"$TMPDIR/unread" &
client=$!
exec 4>"$work/hold"
await told_in "$TMPDIR/unread" full
await stuck
stop_server TERM
same "past stop such a client is left" "0" "$status"
exec 4>&-
wait "$client"

# ---- the process -------------------------------------------------------------------------------
(umask 077 && printf 'admin secretsecretsecret\nissue othersecretother\n' >"$TMPDIR/tokens")
(ulimit -S -n 64 && exec "$FIRN" serve --config '' --resp "unix:$work/p" --http none --store "$store" \
    --tokens "$TMPDIR/tokens" >"$TMPDIR/process" 2>&1) &
server=$!
started="$started $server"
await told_in "$TMPDIR/process" serving
same "it takes as many open files as it may have" "$(ulimit -H -n)" "$(awk '/^Max open files/ { print $4 }' "/proc/$server/limits")"
same "with tokens it leaves no core" "0 0" "$(awk '/^Max core/ { print $5, $6 }' "/proc/$server/limits")"
same "SIGPIPE is ignored" 1 "$(($(sed -nE 's/^SigIgn:\s+/0x/p' "/proc/$server/status") >> 12 & 1))"
stop_server
log=$TMPDIR/process
same "no token is reported" "" "$(grep secret "$log")"
"$FIRN" serve --config '' --resp "unix:$work/hidden" --http none --store 'redis://user:se@cret@127.0.0.1:1/0' >"$TMPDIR/hidden" 2>&1 &
server=$!
started="$started $server"
await told_in "$TMPDIR/hidden" serving
same "no list of processes shows the password of a store" "redis://user:*******@127.0.0.1:1/0" \
    "$(tr '\0' '\n' <"/proc/$server/cmdline" | grep redis:)"
kill -HUP "$server"
await told_in "$TMPDIR/hidden" reloaded
same "and a reload still knows it" "" "$(grep -E 'needs a restart|cret' "$TMPDIR/hidden")"
stop_server

# A restored or cloned machine: the kernel's notice, in a network where this test may have the kernel send one.
# cloned_node: of the next snowflake
cloned_node() {
    id=$(curl -s --max-time 60 --unix-socket "$work/cloned" http://localhost/v1/new/snowflake | jq -r ".ids[0]")
    echo "$((id >> 12 & 1023))"
}
# in_there COMMAND...: in the namespaces of the server
in_there() {
    nsenter -t "$server" -U -n --preserve-credentials "$@"
}
renews="the kernel's notice of another VM generation ID"
if unshare -rn true 2>/dev/null; then
    log=$TMPDIR/cloned.log
    unshare -rn "$FIRN" serve --config '' --store "sqlite:$TMPDIR/cloned.db?unsafe=1" --resp "unix:$work/cloned.resp" \
        --http "unix:$work/cloned" --auto-create >"$log" 2>&1 </dev/null &
    server=$!
    started="$started $server"
    await told_serving
    node=$(cloned_node)
    same "a generator keeps its node, and a segment its block" "$node 1 2" \
        "$(cloned_node) $(integer redis-cli -s "$work/cloned.resp" incr orders) $(integer redis-cli -s "$work/cloned.resp" incr orders)"
    in_there $python test/serve/vmgenid.py -
    kill -HUP "$server"
    await has_told reloaded
    same "a process that sends the kernel's notice of another VM generation ID is not heard" "$node 0" \
        "$(cloned_node) $(grep -c 'identity renewed' "$log")"
    in_there $python test/serve/vmgenid.py
    await has_told 'event="identity renewed"'
    check "$renews makes it claim another" [ "$(cloned_node)" != "$node" ]
    check "and fetch another block" [ "$(integer redis-cli -s "$work/cloned.resp" incr orders)" -gt 3 ]
    stop_server
    same "and it ends as ever" 0 "$status"
else
    skip "$renews" "this test may not have a network of its own (unshare)"
fi

# ---- reload ------------------------------------------------------------------------------------
for name in one two; do
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$name" \
        -keyout "$TMPDIR/$name.key" -out "$TMPDIR/$name.pem" 2>/dev/null
done
cp "$TMPDIR/one.pem" "$TMPDIR/cert.pem" && cp "$TMPDIR/one.key" "$TMPDIR/key.pem"
# configure LINE...: the file, with these lines and the common ones
configure() {
    printf '%s\n' '[server]' 'resp = 127.0.0.1:0' 'http = 127.0.0.1:0' "store = $store" "tokens = $TMPDIR/tokens" \
        "tls_cert = $TMPDIR/cert.pem" "tls_key = $TMPDIR/key.pem" "$@" >"$TMPDIR/firn.ini"
}
# reload: SIGHUP, and waits until its end is logged
reload() {
    before=$(grep -c 'event="\?reload' "$log")
    kill -HUP "$server"
    await reloaded
}
reloaded() {
    [ "$(grep -c 'event="\?reload' "$log")" -gt "$before" ]
}
# role_of TOKEN: the role that a client with it gets
role_of() {
    redis-cli -p "${resp##*:}" --tls --insecure -a "$1" --no-auth-warning ping 2>&1
}
# ask_inside WORD...: of the server with TLS, as its admin
ask_inside() {
    redis-cli -p "${resp##*:}" --tls --insecure -a newsecretnewsecret --no-auth-warning "$@" 2>&1
}
subject() {
    openssl s_client -connect "$1" </dev/null 2>/dev/null | openssl x509 -noout -subject 2>&1 | sed 's/.*= *//'
}
log=$TMPDIR/reload.log
configure 'auto_create = no' 'loops = 1'
env -u XDG_CONFIG_HOME "$FIRN" serve --config "$TMPDIR/firn.ini" >"$log" 2>&1 </dev/null &
server=$!
started="$started $server"
await told_serving
resp=$(address_of resp)
http=$(address_of http)
same "a token opens the server" PONG "$(role_of secretsecretsecret)"
same "both listeners show the certificate" "one one" "$(subject "$resp") $(subject "$http")"
same "integers nobody made are refused" "" "$(redis-cli -p "${resp##*:}" --tls --insecure -a secretsecretsecret --no-auth-warning incr n 2>&1 | grep -E '^[0-9]+$')"

cp "$TMPDIR/two.pem" "$TMPDIR/cert.pem" && cp "$TMPDIR/two.key" "$TMPDIR/key.pem"
echo 'admin newsecretnewsecret' >"$TMPDIR/tokens"
configure 'auto_create = yes' 'loops = 2' 'log_level = debug' 'max_block = 7' '[segment late]' 'start = 500' \
    '[generator later]' 'scheme = snowflake' 'node = 77'
reload
check "SIGHUP reloads" has_told 'event=reloaded'
mv "$TMPDIR/tokens" "$TMPDIR/kept" && mkfifo -m 600 "$TMPDIR/tokens"
reload
check "a named pipe as tokens file is refused, and not waited for" has_told 'event="reload failed.*is a named pipe'
mv "$TMPDIR/kept" "$TMPDIR/tokens"
same "the new token opens the server" PONG "$(role_of newsecretnewsecret)"
same "the old one does not any more" "" "$(role_of secretsecretsecret | grep -x PONG)"
same "both listeners show the new certificate" "two two" "$(subject "$resp") $(subject "$http")"
same "integers nobody made are made now" 1 "$(ask_inside incr n)"
same "a block has the new bound" "COUNT 8 is out of range: use 1 to 7 (max_block)" \
    "$(ask_inside incrby n 8 | grep -o 'COUNT 8 is out of range: use 1 to 7 (max_block)')"
check "what changed is reported" has_told 'event="setting changed" setting=auto_create'
check "what needs a restart is reported" has_told 'event="needs a restart" setting=loops'
check "a new segment is reported" has_told 'event=added segment=late$'
same "and served" 500 "$(ask_inside incr late)"
same "so is a new generator, as its section says" 77 \
    "$("$FIRN" show --scheme snowflake --json "$(ask_inside firn.new later)" | jq '.fields.datacenter * 32 + .fields.worker')"
reload
same "the same file once more adds nothing" 2 "$(grep -c event=added "$log")"
configure 'auto_create = yes' 'max_block = 7' '[generator later]' 'scheme = snowflake' 'node = 78' '[segment n]' '[segment latest]'
reload
check "a section that changed waits for a restart" has_told 'event="needs a restart" generator=later why="until then the old settings apply: scheme=snowflake node=77"'
check "so does one that is gone" has_told 'event="needs a restart" segment=late why="its section was removed"'
check "and one whose segment somebody has made" has_told 'event="needs a restart" segment=n why="it was created on demand before it was configured"'
same "all of them are served as before" "501 2 77" "$(ask_inside incr late) $(ask_inside incr n) $("$FIRN" show --scheme snowflake --json \
    "$(ask_inside firn.new later)" | jq '.fields.datacenter * 32 + .fields.worker')"
same "next to the new one" 1 "$(ask_inside incr latest)"
configure 'auto_create = yes' '[generator renamed]' 'scheme = snowflake' 'node = 77'
reload
check "so does a new name for a node that is served" has_told 'event="needs a restart" generator=renamed why="another generator has the same node"'
configure 'auto_create = yes' '[generator uuid7]' 'scheme = ulid' '[segment away]' 'store = redis://127.0.0.1:1'
reload
check "a scheme's own name waits for a restart, since clients may have it" has_told 'event="needs a restart" generator=uuid7 why="clients may already have'
await has_told 'event="store unavailable" store=redis:'
same "a new section whose store is away leaves the server ready, and readyz says why it may not stay so" "ready refused" \
    "$(curl -sk --max-time 30 "https://$http/readyz" | sed '1!s/.*:1 cannot.*refused.*/refused/' | paste -sd' ')"
(store=sqlite:$TMPDIR/another.db && configure '[segment astray]' '[segment own]' "store = sqlite:$TMPDIR/third.db?unsafe=1&create=yes")
reload
check "what would come from another store after a restart is not served before" \
    has_told 'event="needs a restart" segment=astray why="the setting store changed'
check "a segment with its own store is served" has_told 'event=added segment=own$'

# spoilt SENTENCE PATTERN: a reload that fails, and changes nothing
spoilt() {
    reload
    check "$1" told_in "$TMPDIR/reload.log" "event=\"reload failed, nothing changed\".*$2"
    same "and nothing changed" "PONG two" "$(role_of newsecretnewsecret) $(subject "$resp")"
}
configure 'auto_create = no' 'lops = 2'
spoilt "a wrong file is reported, with its line" 'firn.ini:9: .*lops'
configure 'auto_create = no' '[segment late]' 'foo = 1'
spoilt "so is a wrong key of a segment" 'firn.ini:9: .*foo'
configure 'auto_create = no' '[generator late]' 'scheme = snowflake' 'foo = 1'
spoilt "and of a generator" 'firn.ini:9: .*foo'
configure 'auto_create = no' '[generator late]' 'scheme = snowflke'
spoilt "so is an unknown scheme" 'firn.ini:9: .*snowflake'
configure 'auto_create = no' '[segment late]' 'store = nosuch://x'
spoilt "so is an unknown kind of store" "firn.ini:9: firn has no store of kind 'nosuch'"
configure 'auto_create = no'
echo 'admin short' >"$TMPDIR/tokens"
spoilt "so is a wrong token" 'tokens:1: '
echo 'admin finesecretfinesecret' >"$TMPDIR/tokens"
cp "$TMPDIR/one.key" "$TMPDIR/key.pem"
spoilt "so is a key of another certificate" 'not the private key of'
rm "$TMPDIR/tokens" && cp "$TMPDIR/two.key" "$TMPDIR/key.pem"
spoilt "so are tokens that are gone" 'cannot read'
same "the server still makes integers" 3 "$(ask_inside incr n)"
stop_server
same "and ends well" 0 "$status"
rm -f "$TMPDIR/tokens"

# ---- a service manager -------------------------------------------------------------------------
mkfifo "$work/listen"
$python test/serve/notify_socket.py "$work/notify" "$TMPDIR/notes" <"$work/listen" >"$TMPDIR/listening" &
manager=$!
exec 4>"$work/listen"
await told_in "$TMPDIR/listening" listening
NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=600000 serve
check "a service manager hears READY=1" await told_in "$TMPDIR/notes" '^READY=1 STATUS=serving'
watchdogs() {
    [ "$(grep -c '^WATCHDOG=1' "$TMPDIR/notes")" -ge 3 ]
}
check "and signs of life" await watchdogs
kill -HUP "$server"
check "and of a reload, when it begins" await told_in "$TMPDIR/notes" '^RELOADING=1 MONOTONIC_USEC=[0-9]+'
check "and when it is done" await told_in "$TMPDIR/notes" '^READY=1'
stop_server
check "and that it ends" await told_in "$TMPDIR/notes" '^STOPPING=1'
same "in this order" "READY RELOADING READY STOPPING" \
    "$(sed -nE 's/^(READY|RELOADING|STOPPING)=1.*/\1/p' "$TMPDIR/notes" | tr '\n' ' ' | sed 's/ $//')"
exec 4>&-
wait "$manager"

# ---- many addresses ----------------------------------------------------------------------------
FIRN_HTTP='127.0.0.1:0 127.0.0.1:0 127.0.0.1:0 127.0.0.1:0 127.0.0.1:0' serve --http-threads 4 --loops 1
same "each of five addresses has its threads" "ok ok ok ok ok" \
    "$(sed -nE 's/.*listener=http address=([^ ]*) .*/\1/p' "$log" | while read -r each; do curl -s "http://$each/healthz"; done | xargs)"
stop_server
same "and they end well" 0 "$status"
refuses "more threads than there may be are refused" 1 "http_threads" \
    serve --config '' --resp none --store memory: --http-threads 16 --log-level error \
    --http '127.0.0.1:0 127.0.0.1:0 127.0.0.1:0 127.0.0.1:0 127.0.0.1:0 127.0.0.1:0'

# ---- sockets that are handed over --------------------------------------------------------------
# handed NAME=ADDRESS... -- FLAG...
handed() {
    words='' && while [ "$1" != -- ]; do words="$words $1" && shift; done
    shift
    servers=$((${servers:-0} + 1))
    log=$TMPDIR/handed.$servers.log
    # shellcheck disable=SC2086 # words without blanks
    $python test/serve/socket_activation.py $words -- "$FIRN" serve --config '' --store "$store" "$@" >"$log" 2>&1 </dev/null &
    server=$!
    started="$started $server"
    await told_serving
    resp=$(address_of resp)
    http=$(address_of http)
}
handed resp=127.0.0.1:0 http=127.0.0.1:0 -- --loops 2 --resp 127.0.0.1:1 --http none
same "sockets that are handed over replace the addresses" "PONG 200" \
    "$(ask_resp ping) $(curl -s -o /dev/null -w '%{http_code}' "http://$http/healthz")"
same "each loop takes clients of the one socket" PONG "$(for _ in 1 2 3 4 5 6 7 8; do ask_resp ping; done | sort -u)"
stop_server
same "and it ends well" 0 "$status"
handed "resp=$work/handed" -- --http none
same "a unix socket may be handed over" PONG "$(redis-cli -s "$work/handed" ping 2>&1)"
stop_server
check "and its file stays, being not ours" [ -S "$work/handed" ]
handed other=127.0.0.1:0 -- --resp none --http none
check "a socket of another name is refused with the cure" has_told "named 'other': set FileDescriptorName=resp"
handed resp=0.0.0.0:0 -- --http none
check "a public one without tokens is refused" has_told '0\.0\.0\.0:[0-9]+ can be reached from other machines'
if [ -s /proc/net/if_inet6 ]; then
    (umask 077 && echo "admin $(printf '%032d' 7)" >"$TMPDIR/handed.tokens")
    handed 'http=[::]:0' -- --resp none --tokens "$TMPDIR/handed.tokens" --address-most 1
    same "of a socket for IPv6 and IPv4, each client of IPv4 has its own address" "200 200" "$($python -c '
import http.client, sys
lines = [http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), 60, (source, 0)) for source in ("127.0.0.1", "127.0.0.2")]
for line in lines:
    line.request("GET", "/healthz")
print(*[line.getresponse().status for line in lines])' "${http##*:}" 2>&1)"
    stop_server
else
    echo "# no kernel with IPv6: what a socket for both reports of IPv4 is in server_addresses_test alone"
fi
if command -v systemd-socket-activate >/dev/null; then
    log=$TMPDIR/activate.log
    systemd-socket-activate -l "$work/activated" --fdname=resp "$FIRN" serve --config '' --store "$store" --http none \
        >"$log" 2>&1 </dev/null &
    server=$!
    started="$started $server"
    await [ -S "$work/activated" ]
    same "systemd starts it with the first client" PONG "$(redis-cli -s "$work/activated" ping 2>&1)"
    stop_server
    same "and it ends well too" 0 "$status"
else
    echo "# no systemd-socket-activate: sockets were handed over as it does, above"
fi

# ---- unix sockets ------------------------------------------------------------------------------
serve --resp "unix:$work/resp" --http "unix:$work/http" --loops 2
same "both listeners serve unix sockets" "PONG 200" \
    "$(redis-cli -s "$work/resp" ping) $(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$work/http" http://x/healthz)"
same "which owner and group may use" "660 660" "$(stat -c %a "$work/resp" "$work/http" | tr '\n' ' ' | sed 's/ $//')"
printf kept >"$work/file"
refuses "a path that is not a socket is refused, with what it is" 6 "file: File exists: it is not a socket: remove it, or use another path" \
    serve --config '' --resp "unix:$work/file" --http none --store memory:
same "and the file is unchanged" kept "$(cat "$work/file")"
refuses "a second server on one path is refused" 6 "resp: Address already in use: another process listens there" \
    serve --config '' --resp "unix:$work/resp" --http none --store "$store"
same "and the first continues" PONG "$(redis-cli -s "$work/resp" ping)"
stop_server
check "its files are gone with it" [ ! -e "$work/resp" ]
serve --resp "unix:$work/resp" --http none --socket-mode 600
same "socket_mode is their mode" 600 "$(stat -c %a "$work/resp")"
stop_server KILL
check "a server that is killed leaves its socket" [ -S "$work/resp" ]
serve --resp "unix:$work/resp" --http none
same "which the next one replaces" PONG "$(redis-cli -s "$work/resp" ping)"
rm "$work/resp" && touch "$work/resp"
stop_server
check "what somebody put in its place is not removed" [ -f "$work/resp" ]
refuses "a file is not taken for a stale socket" 6 "it is not a socket: remove it, or use another path" \
    serve --config '' --resp "unix:$work/resp" --http none --store "$store"
check "and stays" [ -f "$work/resp" ]
refuses "a missing folder is reported" 6 "its directory is missing" \
    serve --config '' --resp "unix:$work/none/resp" --http none --store "$store"
# Of eight that start at once on a stale socket one serves.
serve --resp "unix:$work/race" --http none
stop_server KILL
racers=''
for i in 1 2 3 4 5 6 7 8; do
    "$FIRN" serve --config '' --resp "unix:$work/race" --http none --store "$store" >"$TMPDIR/race.$i" 2>&1 </dev/null &
    racers="$racers $!"
    started="$started $!"
done
decided() {
    [ "$(cat "$TMPDIR"/race.[1-8] | grep -cE 'event=serving|in use')" = 8 ]
}
await decided
same "of eight servers that start at once on a stale socket one serves" "1 PONG" \
    "$(cat "$TMPDIR"/race.[1-8] | grep -c event=serving) $(redis-cli -s "$work/race" ping)"
for each in $racers; do
    kill "$each" 2>/dev/null
    wait "$each" 2>/dev/null
done

# ---- addresses ---------------------------------------------------------------------------------
serve --loops 2
refuses "an address in use is refused, by a server of the same user too" 6 "$resp: .*another process listens there" \
    serve --config '' --loops 2 --resp "$resp" --http none --store "$store"
refuses "so is one of HTTP" 6 "cannot listen on $http" \
    serve --config '' --resp 127.0.0.1:0 --http "$http" --store "$store"
same "and who was refused has claimed nothing" "" "$("$FIRN" nodes --store "$store" --json | grep "pid $!")"
stop_server
serve --loops 2 --resp "$resp"
same "a server may follow another on its address at once" PONG "$(ask_resp ping)"
stop_server
(umask 077 && echo 'admin finesecretfinesecret' >"$TMPDIR/last")
refuses "an address that no interface has is refused" 6 "no interface has this address" \
    serve --config '' --tokens "$TMPDIR/last" --resp none --http 192.0.2.1:1 --store "$store"

# ---- the log -----------------------------------------------------------------------------------
serve --log json
same "each line of log=json is an object with time, level and event" "" \
    "$(jq -c 'select((.time | test("^[0-9-]+T[0-9:.]+Z$")) and .level and .event | not)' "$log" 2>&1)"
stop_server
mkfifo "$work/full"
exec 4<>"$work/full"
timeout 1 dd if=/dev/zero of="$work/full" bs=4096 count=64 oflag=nonblock 2>/dev/null
"$FIRN" serve --config '' --resp "unix:$work/lost" --http none --store "$store" --log-level debug 2>"$work/full" </dev/null &
server=$!
started="$started $server"
await sh -c "timeout 20 redis-cli -s '$work/lost' ping >'$TMPDIR/lost' 2>&1" # the socket is there before it listens
same "a log that nobody reads holds nothing up" PONG "$(timeout 20 redis-cli -s "$work/lost" ping)"
stop_server
exec 4>&-
same "and it ends well" 0 "$status"
finish
