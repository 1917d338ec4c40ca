# SPDX-License-Identifier: MIT
# Series of the server: [series NAME] of firn.ini, /v1/series, FIRN.SERIES; `firn series` continues on the same
# store, and no number is issued twice.
. test/serve.tap
year=$(date -u +%Y) store="sqlite:$TMPDIR/ids.db?unsafe=1"
ini=$TMPDIR/firn.ini
cat >"$ini" <<END
[series invoices]
template = INV{year}/{counter:7}

[series days]
template = {year}-{month}-{day}-{counter:2}
zone = Pacific/Kiritimati
late = 30

[series closes]
template = {year}{counter:2}

[series defined]
END
get() {
    curl -s "http://$http$1"
}
code_of() {
    curl -s -o /dev/null -w '%{http_code}' "http://$http$1"
}
"$FIRN" segment first --store "$store" >"$TMPDIR/first" 2>&1 # makes the store, which a configured server does not
served=$ini
serve
same "a server with series starts" 0 "$?"
same "HTTP issues a number" "{\"numbers\":[\"INV$year/0000001\"]}" "$(get /v1/series/invoices)"
same "several, as text" "INV$year/0000002 INV$year/0000003" "$(get '/v1/series/invoices?n=2&format=text' | paste -sd ' ')"
same "also by POST" "INV$year/0000004" "$(curl -s -X POST "http://$http/v1/series/invoices" | jq -r '.numbers[0]')"
same "RESP issues one" "INV$year/0000005" "$(ask_resp FIRN.SERIES invoices)"
same "or an array" "INV$year/0000006 INV$year/0000007" "$(ask_resp FIRN.SERIES invoices COUNT 2 | paste -sd ' ')"
same "an array of one, if a count is asked for" 1 "$(printf 'FIRN.SERIES invoices COUNT 1\n' | ask_resp --json | jq 'length')"
same "the command continues there" "INV$year/0000009" "$("$FIRN" series invoices --store "$store")"
same "and the server after the command" "INV$year/0000010" "$(ask_resp firn.series invoices)"
week=$(TZ=Pacific/Kiritimati date -d 'last week' +%F)
same "a date alone is a day of the series' zone" "$week-01" "$(ask_resp FIRN.SERIES days TIME "$week")"
same "over HTTP, too" "$week-02" "$(get "/v1/series/days?time=$week&format=text")"
same "a series without a template is not there yet" 400 "$(code_of /v1/series/defined)"
"$FIRN" series defined 'template={year}{counter:4}' --store "$store" >"$TMPDIR/first"
same "after the command defined it, the server continues it" "${year}0002" "$(get '/v1/series/defined?format=text')"

# ---- refusals ------------------------------------------------------------------------------------
said() {
    sentence=$1 pattern=$2
    shift 2
    answer=$(ask_resp "$@")
    same "$sentence" yes "$(printf '%s\n' "$answer" | grep -qE "$pattern" && echo yes || printf '%s\n' "$answer")"
}
said "an unknown series is refused" "^ERR there is no series 'orders': add \[series NAME\] to firn.ini" FIRN.SERIES orders
same "over HTTP it is not found" 404 "$(code_of /v1/series/orders)"
said "another parameter is refused" "^ERR a series has no parameter 'counts': did you mean .COUNT." FIRN.SERIES invoices counts 2
said "too many" "^ERR COUNT 10001 is out of range: use 1 to 10000" FIRN.SERIES invoices COUNT 10001
said "a wrong time" "^ERR .*character 1" FIRN.SERIES days TIME tomorrow
said "a time to come" "^ERR period .* has not begun, since this machine's clock" FIRN.SERIES days TIME 2999-01-01
said "a period that is full" "^END series closes has too few counters left in $year" FIRN.SERIES closes COUNT 100
same "a number closes earlier periods" "${year}01" "$(ask_resp FIRN.SERIES closes)"
said "such as this one" "^END period 2020 of series closes is closed" FIRN.SERIES closes TIME 2020-01-01
same "over HTTP that is a conflict" "409 END" "$(code_of '/v1/series/closes?time=2020-01-01') $(get '/v1/series/closes?time=2020-01-01' | jq -r .code)"
said "FIRN.NEW names the command for a series" "^ERR 'invoices' is a series, not a generator: use FIRN.SERIES invoices or GET /v1/series/invoices" FIRN.NEW invoices
said "and so does INCR" "^ERR 'invoices' is a series, not a segment: use FIRN.SERIES" INCR invoices

# ---- counters ------------------------------------------------------------------------------------
same "the status has the series" '{"name":"invoices","issued":9,"trouble":null}' "$(get /v1/status | jq -c '.series[0]')"
same "metrics count numbers" 'firn_series_numbers_total{series="invoices"} 9' "$(get /metrics | grep '^firn_series_numbers_total.*invoices')"
same "a refused time does not count as a failure" "" "$(get /metrics | grep '^firn_failing.*kind="series".*"closes"')"

# ---- many at once --------------------------------------------------------------------------------
clients=''
for each in 1 2 3 4; do
    { for _ in $(seq 100); do echo FIRN.SERIES invoices COUNT 5; done; } | ask_resp >"$TMPDIR/numbers.$each" &
    clients="$clients $!"
done
"$FIRN" series invoices -n 200 --store "$store" >"$TMPDIR/numbers.5"
for each in $clients; do wait "$each"; done
same "4 clients and the command get 2200 numbers" 2200 "$(cat "$TMPDIR"/numbers.* | grep -c INV)"
same "none of them twice" 2200 "$(cat "$TMPDIR"/numbers.* | sort -u | grep -c INV)"

# ---- reload and limits ---------------------------------------------------------------------------
printf '\n[series more]\ntemplate = M{counter:3}\n' >>"$ini"
kill -HUP "$server"
has_more() {
    has_told 'event=added series=more'
}
await has_more
same "a reload adds a series" M001 "$(ask_resp FIRN.SERIES more)"
stop_server
serve --address-ids-s 5
same "a quota counts numbers" yes \
    "$(for _ in $(seq 99); do echo FIRN.SERIES invoices; done | ask_resp | grep -c '^TRYAGAIN the quota' | awk '{ print($1 > 20 ? "yes" : $1) }')"
stop_server
serve --access-log - --access-log-lines request
ask_resp FIRN.SERIES invoices COUNT 3 >/dev/null
logged() {
    grep -q '"series":"invoices","requests":1,"refused":0,"ids":3}' "$log"
}
await logged
check "the access log has the series" logged
stop_server

# wrong SENTENCE PATTERN LINE...
wrong() {
    sentence=$1 pattern=$2
    shift 2
    printf '%s\n' '[series s]' "$@" >"$ini"
    refuses "$sentence" 2 "$pattern" serve --config "$ini" --check-config
}
wrong "a template without its period is refused" "firn.ini:1: template .* does not name its day" 'template = {counter:5}' 'restart = day'
wrong "an unknown key" "did you mean .template" 'templates = {counter:5}'
wrong "a key without its template" "belong to a template" 'zone = UTC'
wrong "an unknown zone" "Europe/Nowhere" 'template = {year}{counter:5}' 'zone = Europe/Nowhere'
wrong "a scheme" "a series has no key" 'scheme = uuid7'
finish
