# SPDX-License-Identifier: MIT
# The server over HTTP, asked by curl: each route, both formats, failures, tokens, names of hosts, TLS, a unix socket,
# Leaf's paths, metrics and the description of it all. What is malformed is in serve_malformed.sh.
. test/tap
program=${FIRN%/*}/firn-serve
[ -x "$program" ] || { fail "the server is built"; finish; }
server=
export FIRN_WAIT=60s # the store's disk may be slow
trap '[ -z "$server" ] || kill "$server"' EXIT

# begin FLAGS...: a server with its own empty store; $at is its address.
begin() {
    [ -z "$server" ] || end
    : >"$TMPDIR/log"
    "$program" --config "$TMPDIR/firn.ini" --resp none --http "127.0.0.1:0 unix:$TMPDIR/http" "$@" 2>"$TMPDIR/log" &
    server=$!
    await grep -q event=serving "$TMPDIR/log" || fail "the server starts" "$(cat "$TMPDIR/log")"
    at=$(sed -n 's/.* event=listening listener=http address=\(127[^ ]*\).*/\1/p' "$TMPDIR/log" | head -n 1)
}
end() {
    kill "$server"
    wait "$server"
    ended=$?
    server=
}

# ask PATH [CURL'S FLAGS...]: $out, $status and $type hold what came.
ask() {
    path=$1
    shift
    said=$(curl --silent --show-error --max-time 30 --write-out '\n%{http_code} %{content_type}' "$@" "http://$at$path" 2>&1)
    out=${said%"$newline"*} last=${said##*"$newline"}
    out=${out%"$newline"} status=${last%% *} type=${last#* }
}
# json SENTENCE JQ'S TEST PATH [FLAGS...]: status 200 and JSON that passes the test.
json() {
    sentence=$1
    rule=$2
    shift 2
    ask "$@"
    if [ "$status $type" = "200 application/json" ] && printf '%s' "$out" | jq -e "$rule" >/dev/null 2>&1; then
        pass "$sentence"
    else
        fail "$sentence" "$status $type $out"
    fi
}
# lines SENTENCE PATTERN COUNT PATH [FLAGS...]: that many lines of plain text, all of which match.
lines() {
    sentence=$1
    pattern=$2
    count=$3
    shift 3
    ask "$@"
    if [ "$status $type" = "200 text/plain; charset=utf-8" ] && [ "$(printf '%s\n' "$out" | grep -cxE "$pattern")" = "$count" ] &&
        [ "$(printf '%s\n' "$out" | wc -l)" = "$count" ]; then
        pass "$sentence"
    else
        fail "$sentence" "$status $type $out"
    fi
}
# refuses SENTENCE STATUS TEXT PATH [FLAGS...]: a problem of that status whose detail holds the text.
refuses() {
    sentence=$1
    wanted=$2
    text=$3
    shift 3
    ask "$@"
    if [ "$status $type" = "$wanted application/problem+json" ] && printf '%s' "$out" |
        jq -e --arg text "$text" --argjson status "$wanted" \
            '.status == $status and .type == "about:blank" and .title != "" and (.detail | contains($text))' >/dev/null; then
        pass "$sentence"
    else
        fail "$sentence" "$status $type $out"
    fi
}
# header NAME PATH [FLAGS...]: the value of a header of the reply.
header() {
    name=$1
    path=$2
    shift 2
    curl --silent --max-time 30 --dump-header - --output /dev/null "$@" "http://$at$path" | tr -d '\r' |
        sed -n "s/^$name: //Ip"
}

cat >"$TMPDIR/firn.ini" <<'INI'
[server]
store = memory:
auto_create = yes
[generator orders]
scheme = snowflake
node = 5
[generator full]
scheme = 0x0:1 time:41/ms@@2020-01-01 node:10 sequence:12
node = 1
full = fail
ns = full
max_lead = 1s
[generator users]
scheme = typeid
prefix = user
[segment tickets]
step = 100
INI
begin
ask /readyz
await sh -c "curl -sf http://$at/readyz >/dev/null" || fail "it gets ready"

# ---- new ---------------------------------------------------------------------------------------------
json "new issues one ID, a string" '.ids | length == 1 and (.[0] | test("^[0-9]{19}$"))' /v1/new/snowflake
json "n= issues this number of IDs, in order" '.ids | length == 500 and . == sort and (unique | length) == 500' '/v1/new/snowflake?n=500'
lines "format=text gives one ID per line" '[0-9]{19}' 3 '/v1/new/snowflake?n=3&format=text'
lines "so does Accept: text/plain" '[0-9]{19}' 1 /v1/new/snowflake -H 'Accept: text/plain'
json "Accept names JSON first" '.ids' /v1/new/snowflake -H 'Accept: text/plain;q=0.5, application/json'
json "format= goes before Accept" '.ids' '/v1/new/snowflake?format=json' -H 'Accept: text/plain'
lines "an ID of 128 bits is a UUID" '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}' 2 '/v1/new/uuid7?n=2&format=text'
lines "as= chooses the form" '[0-9A-Za-z]{11}' 1 '/v1/new/snowflake?as=base62&format=text'
lines "a configured generator has its prefix" 'user_[0-9a-z]{26}' 1 '/v1/new/users?format=text'
ask '/v1/new/orders?format=text'
same "and its node" 5 "$("$FIRN" show --scheme snowflake --json "$out" | jq .fields.worker)"
ask '/v1/new/snowflake?time=2020-01-01T00%3A00%3A00Z&format=text'
same "time= back-dates, percent-encoded" 2020-01-01T00:00:00.000Z "$("$FIRN" show --scheme snowflake --json "$out" | jq -r .time)"
json "POST issues too" '.ids | length == 2' '/v1/new/snowflake?n=2' -X POST
json "65536 are given at once" '.ids | unique | length == 65536' '/v1/new/uuid7?n=65536'
same "HEAD returns only the length" "200 32 0" "$(curl -sI --max-time 30 "http://$at/v1/new/snowflake" -w '%{http_code} %header{content-length} %{size_download}' -o /dev/null)"
# The console's files: compressed, and not again to a browser that has them.
for file in / /live.js /console.wasm /openapi.json; do
    tag=$(header ETag "$file")
    packed=$(header ETag "$file" -H 'Accept-Encoding: br;q=1, gzip;q=0.8')
    case $tag,$packed in \"*\",\"*-gzip\") found=yes ;; *) found="$tag,$packed" ;; esac
    same "$file has a tag, and another one if it is compressed" yes "$found"
    same "$file is asked for again, for each encoding" "no-cache Accept-Encoding" "$(header Cache-Control "$file") $(header Vary "$file")"
    curl -s --max-time 30 "http://$at$file" >"$TMPDIR/plain"
    curl -s --max-time 30 -H 'Accept-Encoding: gzip' "http://$at$file" >"$TMPDIR/packed"
    gzip -dc <"$TMPDIR/packed" >"$TMPDIR/unpacked"
    same "$file is the same if it is compressed" "$(sha256sum <"$TMPDIR/plain")" "$(sha256sum <"$TMPDIR/unpacked")"
    same "$file: lengths are right, by HEAD too" "$(wc -c <"$TMPDIR/plain") $(wc -c <"$TMPDIR/packed") $(wc -c <"$TMPDIR/packed")" \
        "$(header Content-Length "$file") $(header Content-Length "$file" -H 'Accept-Encoding: gzip') $(header Content-Length "$file" -H 'Accept-Encoding: gzip' --head)"
    for known in "$tag" "W/$tag" "\"other\" , $tag" '*'; do
        same "$file is not sent again for $known" "304 0 $tag" \
            "$(curl -s --max-time 30 -o /dev/null -w '%{http_code} %{size_download} %header{etag}' -H "If-None-Match: $known" "http://$at$file")"
    done
    same "$file is sent if only the compressed one is known" 200 "$(curl -s --max-time 30 -o /dev/null -w '%{http_code}' -H "If-None-Match: $packed" "http://$at$file")"
    same "$file is not sent again compressed" 304 \
        "$(curl -s --max-time 30 -o /dev/null -w '%{http_code}' -H "If-None-Match: $packed" -H 'Accept-Encoding: gzip' "http://$at$file")"
done
for coding in identity 'gzip;q=0' 'gzip; q=0.000' 'x-gzip, *;q=0' gzipped ''; do
    same "not compressed for Accept-Encoding: $coding" "" "$(header Content-Encoding /live.js -H "Accept-Encoding: $coding")"
done
same "the time of building is not in a compressed file" 1f8b0800000000 "$(od -An -tx1 -N7 "$TMPDIR/packed" | tr -d ' ')"
same "replies are not kept by anybody" no-store "$(header Cache-Control /v1/new/snowflake)"
ask '/v1/show/1541815603606036480?scheme=snowflake&format=text'
same "what is in an ID is a name and its value a line" "200 text/plain; charset=utf-8 scheme snowflake|bits 64|time 2022-06-28T16:07:40.105Z|fields.worker 26" \
    "$status $type $(printf '%s\n' "$out" | grep -E '^(scheme|bits|time|fields.worker) ' | paste -sd '|')"
lines "a range is its two ends" '17[0-9]{17}' 2 '/v1/range/snowflake?from=2024-01-01&to=2024-01-02&format=text'
ask '/v1/schemes?format=text'
same "each scheme is listed once" "$("$FIRN" schemes --json | wc -l)" "$(printf '%s\n' "$out" | awk -v RS= '/^name [^\n]+\nbits [0-9]+\n/ { n++ } END { print n }')"
ask '/v1/show/nothing-known?format=text'
same "a failure is a problem anyway" "422 application/problem+json" "$status $type"
check "IDs of many requests are all different" [ "$(for _ in 1 2 3 4 5 6 7 8; do
    curl -s --max-time 30 "http://$at/v1/new/snowflake?n=1000&format=text"
done | sort -u | wc -l)" = 8000 ]

# ---- segments and blocks -----------------------------------------------------------------------------
json "a segment begins with 1" '.ids == ["1"]' /v1/segments/tickets
lines "n= takes the next ones" '[234]' 3 '/v1/segments/tickets?n=3&format=text'
json "the last one is shown" '.last == "4"' /v1/segments/tickets/last
json "an unknown one has no last" '.last == null' /v1/segments/nobody/last
json "auto_create makes one" '.ids == ["1"]' /v1/segments/made-now
json "a key may be percent-encoded" '.ids == ["2"]' /v1/segments/made%2Dnow
json "a block is a run of integers" '.increment == "1" and .count == "1000" and (.first | test("^[0-9]+$"))' '/v1/block/tickets?n=1000'
json "runs are first and last of consecutive IDs" '[.[] | (.[1] | length == 19)] | all' '/v1/runs/orders?n=100'
refuses "a name that is almost a scheme's may be a segment's" 404 "no generator 'ordr': did you mean \`order\`? For integers, use INCR ordr" \
    /v1/new/ordr
refuses "... and so may another one" 404 "no generator 'invoices': FIRN.SCHEMES and GET /v1/schemes list them. For integers, use INCR invoices or GET /v1/segments/NAME" \
    /v1/new/invoices
refuses "more than a batch is a block's" 422 /v1/block '/v1/segments/tickets?n=65537'
refuses "a count is called n" 422 'n=0 is out of range: use 1 to' '/v1/segments/tickets?n=0'
refuses "where a name is misspelt too" 400 'did you mean `n`?' '/v1/segments/tickets?cont=2'
refuses "a time is called time" 422 'time=x: ' '/v1/new/uuid7?time=x'
refuses "a parameter that is given twice has its name" 400 'n is given twice' '/v1/segments/tickets?n=1&n=1'

# ---- reading -----------------------------------------------------------------------------------------
json "show says what is in an ID" '.id == "1234567890123456789" and .scheme == "snowflake" and .unix_ns == "1583178896824000000"' \
    '/v1/show/1234567890123456789?scheme=snowflake'
different=
for id in 12 1700000000123 1541815603606036480 507119778886617994390110 4DF3T1A1C1W1T8CZX5S6KSRJ98 \
    00000000-0000-0000-C000-000000000046 d41d8cd98f00b204e9800998ecf8427e C232AB00941411ECB3C89F6BDECED846; do
    ask "/v1/show/$id"
    [ "$out" = "$("$FIRN" show --json $id)" ] || different="$different $id"
    ask "/v1/show/$id?all=1"
    [ "$out" = "$("$FIRN" show --json --all $id)" ] || different="$different $id (all)"
done
same "show answers as the command, for what is not an ID too" "" "$different"
json "a number is only possibly an ID" '.scheme == null and .time == null and .sure == "possible" and .readings[0].scheme == "snowflake"' \
    /v1/show/1541815603606036480
ask '/v1/show/7102577116159582209?near=2035-01-01'
same "near= chooses as --near does" "200 $("$FIRN" show --json --near 2035-01-01 7102577116159582209)" "$status $out"
refuses "near= and scheme= exclude each other" 400 "remove near or the scheme" '/v1/show/7?near=2024-01-01&scheme=snowflake'
refuses "near= is a time" 422 "the time 'soon': " '/v1/show/7?near=soon'
refuses "digits that may be hex are not converted on a guess" 422 "add scheme=NAME or from=FORM" '/v1/convert/507119778886617994390110?to=base62'
refuses "plain hex that may be two schemes is not" 422 "uuid4: add scheme=NAME" '/v1/convert/11d78bd030ce40f397a99bbc44406500?to=uuid1'
refuses "a uuid4 is not a uuid6" 400 "" '/v1/convert/1fa0c5b7-7c1e-4b7a-9d8f-3b2a1c0d9e8f?to=uuid6'
refuses "a ULID that lost a character is an error" 422 "25 characters" '/v1/show/01ARZ3NDEKTSV4RRFFQ69G5FA?scheme=ulid'
json "convert writes another form" '.ids == ["112210f47de98115"]' '/v1/convert/1234567890123456789?to=hex'
json "base64 too" '.ids == ["kZEI91LRQyCbrPhH20FIqA=="]' '/v1/convert/919108f7-52d1-4320-9bac-f847db4148a8?to=base64'
json "and an NCName" '.ids == ["HAX8i4nmwzDjE3AwMBzmPJ"]' '/v1/convert/017f22e2-79b0-7cc3-98c4-dc0c0c07398f?to=ncname64'
json "of a TypeID with its prefix" '.ids == ["user_01h455vb4pex5vsknk084sn02q"]' '/v1/convert/user_01h455vb4pex5vsknk084sn02q?to=typeid'
json "or with another" '.ids == ["org_01h455vb4pex5vsknk084sn02q"]' '/v1/convert/01890a5d-ac96-774b-bcce-b302099a8057?to=typeid&prefix=org'
refuses "for typeid only" 400 "prefix=org applies to the form typeid, not hex" '/v1/convert/01890a5d-ac96-774b-bcce-b302099a8057?to=hex&prefix=org'
json "a TypeID of any version is shown with its prefix" '.prefix == "a" and .scheme == "uuid4"' '/v1/show/a_4hj44femph8cg9qb7r8zdm2j58?scheme=typeid'
lines "in text too" 112210f47de98115 1 '/v1/convert/1234567890123456789?to=hex&format=text'
json "range bounds an interval" '.least == "1741610183685046272" and .greatest == "1741972571550646271"' \
    '/v1/range/snowflake?from=2024-01-01&to=2024-01-02'
refuses "in a form whose texts sort" 422 "do not sort" '/v1/range/uuid7?from=2024-01-01&to=2024-01-02&as=base64'
lines "in two lines of text" '[0-9]{19}' 2 '/v1/range/snowflake?from=2024-01-01&to=2024-01-02&format=text'
json "pack builds an ID from its fields" '.ids == ["1234567890123456789"]' \
    '/v1/pack/snowflake?time=2020-03-02T19:54:56.824Z&datacenter=20&worker=24&sequence=277'
late='/v1/pack/tsid?time=2089-09-06T15:47:35.552Z&node=0&sequence=0'
same "a packed ID that is a negative number has the note of firn pack" \
    "$("$FIRN" pack tsid time=2089-09-06T15:47:35.552Z node=0 sequence=0 --as dec 2>&1 >/dev/null | sed 's/^firn: note: //')" "$(header Firn-Note "$late&as=dec")"
same "in another form it has none" "" "$(header Firn-Note "$late&as=hex")"
json "schemes lists the table" 'type == "array" and length > 30 and (map(.name) | index("snowflake") != null)' /v1/schemes
for words in "" "rate=5&peak=200&nodes=4&hide=volume&readers=urls&database=mariadb" "sort=yes&hide=time" "has_store=no"; do
    # shellcheck disable=SC2046 # words
    same "choose is the command's: ${words:-no answer}" "$("$FIRN" choose --json $(printf '%s' "${words:+--}$words" | sed 's/&/ --/g') | jq -Sc .)" \
        "$(curl -s "http://$at/v1/choose?$words" | jq -Sc .)"
done
refuses "an answer that is not one is refused" 400 "rate=x is not valid: use a number from 1e-9 to 1e15" '/v1/choose?rate=x'
refuses "a question that does not exist" 400 "rate" '/v1/choose?rat=1'
json "or one row" '.name == "uuid7"' /v1/schemes/uuid7
json "nodes lists what the store holds" 'type == "array" and length > 0' /v1/nodes
json "status is an object" 'type == "object"' /v1/status
json "spread counts shards" 'type == "object"' '/v1/spread/orders?shards=4'

# ---- failures ----------------------------------------------------------------------------------------
refuses "an unknown scheme is not found, the nearest is named" 404 'did you mean `snowflake`?' /v1/new/snowflak
refuses "nor is a row of the table" 404 "" /v1/schemes/nothing
refuses "an unknown key is refused" 400 colour '/v1/new/snowflake?colour=red'
refuses "so is a key given twice" 400 twice '/v1/new/snowflake?n=1&n=2'
refuses "and an unknown format" 400 format=xml '/v1/new/snowflake?format=xml'
refuses "a number out of range is reported with them" 422 65536 '/v1/new/snowflake?n=65537'
refuses "a time outside the layout is" 422 "" '/v1/new/snowflake?time=2200-01-01'
refuses "and what is not an ID" 422 "" /v1/show/---
refuses "half an escape is refused" 400 %25 '/v1/new/snowflake?as=%4'
refuses "a zero byte is refused" 404 "" /v1/new/snow%00flake
refuses "a name that is not UTF-8 is reported nevertheless" 404 "'?'" /v1/new/%ff
refuses "an escaped slash is not one" 404 "" /v1/new/a%2Fb
refuses "an unknown path is not found" 404 openapi.json /v2/new/snowflake
refuses "nothing above the console is served" 404 "" /..%2f..%2fetc%2fpasswd --path-as-is
refuses "more IDs than one call can issue are refused" 422 "use 1 to" '/v1/new/full?n=65536'
same "the code is the library's" RANGE "$(curl -s --max-time 30 "http://$at/v1/new/full?n=65536" | jq -r .code)"
refuses "PUT is not served" 405 GET /v1/new/snowflake -X PUT
same "Allow says what is" "GET, HEAD, OPTIONS, POST" "$(header Allow /v1/new/snowflake -X PUT)"
refuses "reading is not posted" 405 GET '/v1/show/1' -X POST
same "Allow leaves it out" "GET, HEAD, OPTIONS" "$(header Allow /v1/schemes -X DELETE)"
json "a form in the body is read" '.ids | length == 5' /v1/new/snowflake -d n=5
json "so is JSON" '.ids | length == 5' /v1/new/snowflake -d '{"n": 5}' -H 'Content-Type: application/json'
refuses "a body that is too long is not" 413 16384 /v1/new/snowflake -d "$(head -c 70000 /dev/zero | tr '\0' x)" -H 'Expect:'

# ---- browsers ----------------------------------------------------------------------------------------
refuses "another Host is refused: DNS rebinding" 421 hosts /v1/schemes -H 'Host: evil.example'
refuses "for the console too" 421 hosts / -H 'Host: evil.example:80'
json "localhost is ours" '.name' /v1/schemes/uuid4 -H 'Host: localhost:1234'
json "so is [::1]" '.name' /v1/schemes/uuid4 -H 'Host: [::1]:1234'
refuses "a page of another site may not ask" 403 site /v1/new/snowflake -H 'Sec-Fetch-Site: cross-site'
refuses "nor ask as Leaf's client" 403 site /api/segment/get/tickets -H 'Sec-Fetch-Site: cross-site'
json "our own may, by POST" '.ids' /v1/new/snowflake -X POST -H 'Sec-Fetch-Site: same-origin'
refuses "not by GET, which any page can send" 403 POST /v1/new/snowflake -H 'Sec-Fetch-Site: same-origin'
same "nor HEAD" 403 "$(curl -s -I -o /dev/null -w '%{http_code}' -H 'Sec-Fetch-Site: none' "http://$at/v1/new/snowflake")"
for sign in 'User-Agent: Mozilla/5.0' 'Accept-Language: en' 'Sec-Fetch-Site: none' "Referer: http://$at/" "Origin: http://$at"; do
    refuses "a GET with $sign issues nothing" 403 POST /v1/segments/plain -H "$sign"
done
json "a fetch of Node.js is a program's" '.ids' /v1/new/snowflake -H 'Sec-Fetch-Mode: cors' -H 'Accept-Language: *'
json "a browser reads by GET" '.scheme' '/v1/show/1541815603606036480?scheme=snowflake' -H 'User-Agent: Mozilla/5.0' -H 'Accept-Language: en'
json "Origin is this server" '.ids' /v1/new/snowflake -X POST -H "Origin: http://$at"
json "as the browser asked for it" '.ids' /v1/new/snowflake -X POST -H 'Host: localhost:99' -H "Origin: https://LOCALHOST:99"
for origin in null http://evil.example "http://evil.example/http://$at" "http://$at:1" "http://$at.evil.example" "http://${at%:*}" \
    "ftp://$at" "http://" "https" ""; do
    refuses "Origin: $origin is not" 403 site /v1/new/snowflake -X POST -H "Origin${origin:+: }${origin:-;}"
done
refuses "another site's Referer is refused, for reading too" 403 site /v1/show/7 -H 'Referer: http://evil.example/'
json "our own page's is not" '.scheme' '/v1/show/1541815603606036480?scheme=snowflake' -H "Referer: http://$at/?a#b"
refuses "two Origins are malformed" 400 malformed /v1/new/snowflake -X POST -H "Origin: http://$at" -H "Origin: http://$at"
same "no other site is allowed in" "" "$(header Access-Control-Allow-Origin /v1/new/snowflake -H 'Origin: http://evil.example')"
refuses "nor asked beforehand" 403 "another site" /v1/new/snowflake -X OPTIONS -H 'Origin: http://evil.example'
for path in '/v1/new/uuid7?format=text' /v1/new/uuid7 /v1/new/nothing /api/segment/get/plain /metrics; do
    same "the type of $path is not guessed" nosniff "$(header X-Content-Type-Options "$path")"
done
ask /
same "the console is there" "200 text/html; charset=utf-8" "$status $type"
check "its page may load from this server alone" sh -c "echo \"$(header Content-Security-Policy /)\" | grep -q \"default-src 'self'.*frame-ancestors 'none'\""
same "its types are not guessed" nosniff "$(header X-Content-Type-Options /)"
same "addresses are not shown" no-referrer "$(header Referrer-Policy /)"

# ---- Leaf --------------------------------------------------------------------------------------------
ask /api/segment/get/leafy
same "Leaf's segment is a bare number" "200 text/plain;charset=UTF-8 1" "$status $type $out"
same "without an end of line" 1 "$(curl -s "http://$at/api/segment/get/leafy2" | wc -c)"
ask /api/snowflake/get/any-key
check "its snowflake is one of its scheme, under any key" sh -c "[ ${#out} = 19 ] && \"$FIRN\" show --scheme leaf $out"
ask /api/snowflake/get/orders
same "or of the generator of that name" 5 "$("$FIRN" show --scheme snowflake --json "$out" | jq .fields.worker)"
ask /api/segment/get/%00
check "a failure is its framework's object, status 500" sh -c "[ '$status' = 500 ] && printf '%s' '$out' | jq -e '
    .status == 500 and .error == \"Internal Server Error\" and (.timestamp | type) == \"number\" and .path == \"/api/segment/get/%00\" and
    (.message | test(\"^Result.id=-[123], status=EXCEPTION.\$\")) and (.exception | endswith(\".LeafServerException\"))'"
same "decodeSnowflakeId is a map of strings" '{"timestamp":"1583178896824(2020-03-02 19:54:56.824)","sequenceId":"277","workerId":"664"}' \
    "$(TZ=UTC curl -s "http://$at/decodeSnowflakeId?snowflakeId=1234567890123456789")"
same "of a negative number too" 1288834974656 "$(curl -s "http://$at/decodeSnowflakeId?snowflakeId=-5" | jq -r .timestamp | cut -d'(' -f1)"
same "what is not a number has its message" '["errorMsg"]' "$(curl -s "http://$at/decodeSnowflakeId?snowflakeId=5x" | jq -c keys)"
ask /decodeSnowflakeId
same "without one it is a bad request" "400 400" "$status $(printf '%s' "$out" | jq .status)"

# ---- health, metrics, description --------------------------------------------------------------------
same "healthz says ok" ok "$(curl -s "http://$at/healthz")"
same "readyz says ready" ready "$(curl -s "http://$at/readyz")"
refuses "a segment's name is UTF-8" 400 "not UTF-8" /v1/segments/%ff%c3%a4%ed%a0%80
for hidden in %1b %7f %c2%85 %c2%9b %c2%ad %e2%80%a8 %e2%80%ae %e2%81%a6 %ef%bb%bf %f3%a0%80%a1; do
    refuses "and holds no control character $hidden" 404 "must not contain blanks, control or invisible" "/v1/segments/a$hidden"
done
refuses "and no two dots" 404 "or contain '..'" "/v1/segments/a..b"
json "what comes after those is a name" '.ids == ["1"]' /v1/segments/a%c2%a1
json "in any alphabet" '.ids == ["1"]' /v1/segments/%c3%a4
ask /metrics
same "metrics are Prometheus's text" "200 text/plain; version=0.0.4; charset=utf-8" "$status $type"
printf '%s\n' "$out" >"$TMPDIR/metrics"
check "each line of it parses, each metric has help, type and no line twice" /usr/bin/python3 test/serve/prometheus.py "$TMPDIR/metrics"
for name in firn_build_info firn_ids_total 'firn_requests_total{listener="http",kind="new"}' firn_request_duration_seconds_bucket \
    'firn_generator_window_left_seconds{generator="orders"' 'firn_generator_lead_seconds{generator="orders"' \
    'firn_generator_steps_back_absorbed_total{' 'firn_generator_steps_back_left_total{' 'firn_generator_jumps_ahead_total{' \
    'firn_generator_store_errors_total{' 'firn_generator_claims_total{' 'firn_generator_renewals_total{' \
    'firn_generator_give_backs_total{' 'firn_segment_left{segment="tickets"}' 'firn_segment_left{segment="ä"}' 'firn_store_calls_total{store="memory:"}' \
    'firn_store_failures_total{' 'firn_store_usable{store="memory:"} 1' 'firn_connections_open{listener="http"} 1' firn_uptime_seconds \
    'process_cpu_seconds_total ' 'process_resident_memory_bytes ' 'process_open_fds ' 'process_max_fds ' 'process_start_time_seconds 1'; do
    check "metrics have $name" grep -qF "$name" "$TMPDIR/metrics"
done
before=$(sed -n 's/^firn_segment_integers_total{segment="tickets"} //p' "$TMPDIR/metrics")
ask '/v1/segments/tickets?n=7'
same "integers are counted" $((before + 7)) "$(curl -s "http://$at/metrics" | sed -n 's/^firn_segment_integers_total{segment="tickets"} //p')"
ask /openapi.json
same "the description is served" "200 application/json" "$status $type"
printf '%s' "$out" >"$TMPDIR/openapi.json"
same "its version is the program's" "$("$FIRN" version)" "firn $(jq -r .info.version "$TMPDIR/openapi.json")"
same "it has both bounds of n" "" "$(jq -r '.. | objects | select(.name == "n") | .schema | select(.minimum != 1 or .maximum == null)' "$TMPDIR/openapi.json")"
sed -n 's/^\(ASK\|PAGE\)("\([^"]*\)".*/\2/p' server/http/routes.def | sort >"$TMPDIR/routes"
same "it has every route, and no other" "$(cat "$TMPDIR/routes")" "$(jq -r '.paths | keys[]' "$TMPDIR/openapi.json" | sort)"
sed -n 's/^ASK("\([^"]*\)", [A-Z]*, ISSUES.*/\1/p' server/http/routes.def | sort >"$TMPDIR/routes"
same "those that take POST say so" "$(cat "$TMPDIR/routes")" \
    "$(jq -r '.paths | to_entries[] | select(.value.post) | .key' "$TMPDIR/openapi.json" | sort)"
check "each reference in it leads somewhere" sh -c "jq -r '.. | .[\"\$ref\"]? // empty' '$TMPDIR/openapi.json' | sed 's|^#/||; s|/|\",\"|g; s|.*|[\"&\"]|' |
    sort -u | while read -r path; do jq -e \"getpath(\$path)\" '$TMPDIR/openapi.json' >/dev/null || exit 1; done"

# ---- connections -------------------------------------------------------------------------------------
same "a unix socket is served, under any Host" 200 \
    "$(curl -s --unix-socket "$TMPDIR/http" -H 'Host: any.example' -o /dev/null -w '%{http_code}' "http://any.example/v1/new/snowflake")"
same "a connection is used again" "0 1" "$(curl -s "http://$at/healthz" "http://$at/healthz" -o /dev/null -o /dev/null -w '%{num_connects} ' |
    awk '{print $2, $1}')"
end
same "SIGTERM ends it well" 0 "$ended"

# ---- no store ----------------------------------------------------------------------------------------
begin --store "sqlite:/dev/null/firn.db" --wait 200ms
refuses "without its store a new segment fails within wait" 503 "" /v1/segments/tickets
refuses "a generator's first ID likewise" 503 "" /v1/new/orders
refuses "and readyz says why" 503 "" /readyz
json "what needs no store continues" '.ids' /v1/new/uuid7
same "healthz as well" ok "$(curl -s "http://$at/healthz")"
begin --store "sqlite:$TMPDIR/other.db?nokey=1" --wait 200ms
refuses "a store whose URL is wrong is the server's fault, not the client's" 503 "nokey" /v1/new/orders

# ---- tokens ------------------------------------------------------------------------------------------
issue='issue-token-0123456789'
admin='admin-token-0123456789'
printf 'issue %s\nadmin %s\n' $issue $admin >"$TMPDIR/tokens"
chmod 600 "$TMPDIR/tokens"
begin --tokens "$TMPDIR/tokens"
refuses "without a token nothing is issued" 401 TOKEN /v1/new/uuid7
same "and the expected kind is named" 'Bearer realm="firn"' "$(header WWW-Authenticate /v1/new/uuid7)"
start=$(date +%s%N)
refuses "a wrong one is refused" 401 'unknown token' /v1/new/uuid7 -H 'Authorization: Bearer no-such-token-at-all'
check "after a second" [ $(($(date +%s%N) - start)) -ge 1000000000 ]
refuses "a scheme other than Bearer is too" 401 "" /v1/new/uuid7 -u name:$issue
json "issue may issue" '.ids' /v1/new/uuid7 -H "Authorization: Bearer $issue"
json "blanks after it are not part of it" '.ids' /v1/new/uuid7 -H "Authorization: Bearer $issue "
json "letter case of the scheme aside" '.ids' /v1/new/uuid7 -H "Authorization: bearer $issue"
refuses "but not see the nodes" 403 admin /v1/nodes -H "Authorization: Bearer $issue"
json "admin may" 'type == "array"' /v1/nodes -H "Authorization: Bearer $admin"
refuses "metrics want a token" 401 TOKEN /metrics
ask /metrics -H "Authorization: Bearer $issue"
same "of any role" 200 "$status"
refuses "Leaf's paths want one too" 401 TOKEN /api/segment/get/tickets
for path in /healthz / /openapi.json; do
    ask "$path"
    same "$path does not" 200 "$status"
done
json "who has a token may use any Host" '.ids' /v1/new/uuid7 -H "Authorization: Bearer $issue" -H 'Host: ids.example'

# ---- TLS ---------------------------------------------------------------------------------------------
if openssl req -x509 -newkey rsa:2048 -nodes -keyout "$TMPDIR/key.pem" -out "$TMPDIR/cert.pem" -days 2 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 2>/dev/null; then
    chmod 600 "$TMPDIR/key.pem"
    begin --tls-cert "$TMPDIR/cert.pem" --tls-key "$TMPDIR/key.pem"
    same "TCP speaks TLS" 200 "$(curl -s --cacert "$TMPDIR/cert.pem" -o /dev/null -w '%{http_code}' "https://$at/v1/new/uuid7")"
    same "of version 1.2 too" 200 "$(curl -s --tls-max 1.2 --cacert "$TMPDIR/cert.pem" -o /dev/null -w '%{http_code}' "https://$at/v1/new/uuid7")"
    check "but not plain HTTP" sh -c "! curl -s --max-time 5 http://$at/healthz"
    tls12() { openssl s_client -connect "$at" -tls1_2 -cipher "$1" </dev/null 2>&1 | grep -o 'Cipher is .*'; }
    weak=$(openssl ciphers -s -tls1_2 'ALL:!aNULL:!PSK:!SRP:!AESGCM:!AESCCM:!CHACHA20:!ARIAGCM:@SECLEVEL=0')
    same "with no cipher of CBC or SHA-1" "Cipher is (NONE)" "$(tls12 "$weak:@SECLEVEL=0")"
    same "nor without forward secrecy" "Cipher is (NONE)" "$(tls12 'AES128-GCM-SHA256:AES256-GCM-SHA384:@SECLEVEL=0')"
    same "but with what is good today" "Cipher is ECDHE-RSA-AES128-GCM-SHA256" "$(tls12 ECDHE-RSA-AES128-GCM-SHA256)"
    check "nor TLS before 1.2" sh -c "! openssl s_client -connect $at -tls1_1 -cipher DEFAULT@SECLEVEL=0 </dev/null 2>/dev/null | grep -q 'Cipher is [A-Z]*[0-9]'"
    same "a unix socket stays plain" ok "$(curl -s --unix-socket "$TMPDIR/http" http://localhost/healthz)"
else
    skip "TLS" "openssl is missing"
fi
end
finish
