# SPDX-License-Identifier: MIT
# tls_client_ca: over both listeners and both versions of TLS only clients with a certificate of that CA are served.
. test/serve.tap
if ! command -v openssl >/dev/null; then
    [ "${CI:-}" != true ] || fail "openssl is installed"
    skip "mutual TLS" "openssl is missing"
    finish
fi
cd "$TMPDIR" || exit 1

# authority NAME, and signed NAME BY PURPOSE [DATES...]: NAME.pem and NAME.key
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
        -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,digitalSignature \
        -keyout "$1.key" -out "$1.pem" 2>>openssl.log
}
signed() {
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2>>openssl.log
    printf 'extendedKeyUsage=%s\nsubjectAltName=IP:127.0.0.1\n' "$3" >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -extfile "$1.ext" -days "${4:-2}" -out "$1.pem" 2>>openssl.log
}
authority ours
authority theirs
signed server ours serverAuth
signed client ours clientAuth
signed stranger theirs clientAuth
signed misused ours serverAuth
signed expired ours clientAuth -1
chmod 600 ./*.key
serve --auto-create --tls-cert "$TMPDIR/server.pem" --tls-key "$TMPDIR/server.key" --tls-client-ca "$TMPDIR/ours.pem" ||
    fail "it starts" "$(cat "$log")"

# over_http VERSION [CLIENT], over_resp [CLIENT]: what the client gets
over_http() {
    version=$1
    shift
    curl -sS --max-time 60 "--tlsv$version" --tls-max "$version" --cacert ours.pem ${1:+--cert "$1.pem" --key "$1.key"} \
        -o /dev/null -w '%{http_code}' "https://$http/healthz" 2>>curl.log
}
over_resp() {
    ask_resp --tls --cacert ours.pem ${1:+--cert "$1.pem" --key "$1.key"} PING
}
# alerted PATTERN VERSION [CLIENT]: the client sends nothing after its handshake, since a server that closes with bytes
# unread resets the connection, and the alert may be lost
alerted() {
    timeout 60 openssl s_client -connect "$http" -ign_eof "-tls$(echo "$2" | tr . _)" -CAfile ours.pem \
        ${3:+-cert "$3.pem" -key "$3.key"} </dev/null >alert.log 2>&1
    grep -qiE "alert.*($1)" alert.log
}
for version in 1.2 1.3; do
    same "HTTP, TLS $version: a client with a certificate is served" 200 "$(over_http $version client)"
    same "HTTP, TLS $version: a client without one is not" 000 "$(over_http $version)"
    for bad in stranger misused expired; do
        same "HTTP, TLS $version: nor one with a certificate that is $bad" 000 "$(over_http $version $bad)"
    done
    check "HTTP, TLS $version: an alert tells a client without one why" alerted 'handshake failure|certificate required' $version
    check "HTTP, TLS $version: and one with a bad one" alerted 'bad certificate' $version stranger
done
same "RESP: a client with a certificate is served" PONG "$(over_resp client)"
check "RESP: a client without one is not" sh -c "! echo '$(over_resp)' | grep -q PONG"
for bad in stranger misused expired; do
    check "RESP: nor one with a certificate that is $bad" sh -c "! echo '$(over_resp $bad | tr -d "'")' | grep -q PONG"
done
stop_server
same "the server ends with 0" 0 "$status"

# A reload replaces the CA.
printf '[server]\nresp = 127.0.0.1:0\nhttp = 127.0.0.1:0\nstore = memory:\nunsafe = on\ntls_cert = %s\ntls_key = %s\n' \
    "$TMPDIR/server.pem" "$TMPDIR/server.key" >firn.ini
serve_file() {
    "$FIRN" serve -c "$TMPDIR/firn.ini" >"$log" 2>&1 </dev/null &
    server=$!
    started="$started $server"
    await told_serving
    http=$(address_of http)
    resp=$(address_of resp)
}
log=$TMPDIR/reloaded.log
serve_file
reloaded=0
# reload CA: "" for none
reload() {
    sed -i '/tls_client_ca/d' firn.ini
    [ -z "$1" ] || echo "tls_client_ca = $TMPDIR/$1.pem" >>firn.ini
    kill -HUP "$server"
    reloaded=$((reloaded + 1))
    await sh -c "[ \"\$(grep -c 'event=reloaded' '$log')\" -ge $reloaded ]"
}
same "without tls_client_ca nobody needs a certificate" 200 "$(over_http 1.3)"
reload ours
same "a reload requires one" "000 200" "$(over_http 1.3) $(over_http 1.3 client)"
reload theirs
same "and another reload for one of another CA" "000 200" "$(over_http 1.3 client) $(over_http 1.3 stranger)"
for _ in 1 2 3; do reload theirs; done
same "and again for none" "000 200" "$(over_http 1.3) $(reload '' && over_http 1.3)"
stop_server
same "the server ends with 0" 0 "$status"

# Connections that are open at a reload.
sed -i '/tls_client_ca/d' firn.ini
echo "tls_client_ca = $TMPDIR/clients.pem" >>firn.ini
cp ours.pem clients.pem
log=$TMPDIR/open.log
serve_file
same "open connections whose certificate would be refused now are closed, and no other" done \
    "$(timeout 300 python3 "$OLDPWD/test/serve/mutual.py" "$resp" "$http" "$server" "$log" 2>&1)"
stop_server
same "the server ends with 0" 0 "$status"

refused() {
    ask serve --config '' "$@" --check-config
    printf '%s %s' "$status" "$err"
}
same "tls_client_ca alone is refused" "2 firn: tls_client_ca needs TLS: set tls_cert and tls_key too" \
    "$(refused --tls-client-ca "$TMPDIR/ours.pem")"
check "a missing file is refused" sh -c "echo '$(refused --tls-cert "$TMPDIR/server.pem" --tls-key "$TMPDIR/server.key" --tls-client-ca /nowhere)' | grep -q 'cannot use /nowhere'"
check "a file without certificates too" sh -c "echo '$(refused --tls-cert "$TMPDIR/server.pem" --tls-key "$TMPDIR/server.key" --tls-client-ca "$TMPDIR/server.key")' | grep -q 'has no certificate in PEM'"
check "with it the server may listen on every address" sh -c "echo '$(refused --http 0.0.0.0:7380 --tls-cert "$TMPDIR/server.pem" --tls-key "$TMPDIR/server.key" --tls-client-ca "$TMPDIR/ours.pem")' | grep -q '^0'"
finish
