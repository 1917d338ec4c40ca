# SPDX-License-Identifier: MIT
# firn_number of ext/mariadb in a real server: definitions, defaults, times, many connections on many series, bad input, kill -9,
# a store that is the same server, and who may define a series.
. test/mariadb.tap
mariadb_made "dated numbers in MariaDB"
FIRN_STORE="sqlite:$room/store/firn.db?unsafe=1&busy=60s"
export FIRN_STORE
mariadb_started "dated numbers in MariaDB"
# series WORD...: the command on the store of the server.
series() {
    "$FIRN" series "$@" 2>&1
}
sql --force <"$made/install.sql" >"$TMPDIR/installed"

# ---- numbers ------------------------------------------------------------------------------------
year=$(date -u +%Y)
says "a statement defines a series and takes numbers" "INV$year/0001	INV$year/0002" \
    "SELECT firn_number('bills', 'template=INV{year}/{counter:4}'), firn_number('bills')"
same "the command continues there" "INV$year/0003" "$(series bills)"
says "each row has its own, and a rollback leaves a gap" "INV$year/0006 INV$year/0007 INV$year/0008" \
    "CREATE TABLE gone (number VARCHAR(80)); BEGIN; INSERT INTO gone SELECT firn_number('bills') FROM seq_1_to_2; ROLLBACK;
     SELECT group_concat(firn_number('bills') SEPARATOR ' ') FROM seq_1_to_3"
says "a column's default and a trigger take one" "INV$year/0009	INV$year/0010" \
    "CREATE TABLE bill (number VARCHAR(80) PRIMARY KEY DEFAULT (firn_number('bills')), again VARCHAR(80));
     CREATE TRIGGER again BEFORE INSERT ON bill FOR EACH ROW SET NEW.again = firn_number('bills');
     INSERT INTO bill () VALUES (); SELECT least(number, again), greatest(number, again) FROM bill"
says "NULL gives NULL and takes none" "NULL	NULL	NULL	INV$year/0011" \
    "SELECT firn_number(NULL), firn_number('bills', NULL), firn_number('bills', '', NULL), firn_number('bills')"
says "statements of one session have different series" "A001	INV$year/0012	A002	B001" \
    "SELECT firn_number('a', 'template=A{counter:3}'), firn_number('bills'), firn_number('a'), firn_number('b', 'template=B{counter:3}')"
says "a time chooses the period: a date of the zone, text in UTC, a number of seconds" "2020-05-01-01	2020-05-01-02	2020-05-02-01" \
    "SELECT firn_number('days', 'template={year}-{month}-{day}-{counter:2} zone=Pacific/Kiritimati late=99', '2020-05-01'),
     firn_number('days', '', 1588240800), firn_number('days', '', CAST('2020-05-01 12:00:00' AS DATETIME))"
says "an earlier row's date stays in its period" "2020-05-01-03" "SELECT firn_number('days', '', DATE '2020-05-01')"
says "a replica gets the rows, not the function" "INV$year/0013" \
    "FLUSH BINARY LOGS; CREATE TABLE copied (number VARCHAR(80)); INSERT INTO copied VALUES (firn_number('bills')); SELECT number FROM copied"
last=$(echo "SHOW BINARY LOGS" | sql | tail -n 1 | cut -f 1)
same "by its log" "1 0" "$(echo "SHOW BINLOG EVENTS IN '$last'" | sql >"$TMPDIR/log"; grep -c Write_rows "$TMPDIR/log") $(grep -c 'Query.*INSERT' "$TMPDIR/log")"

# ---- bad input -----------------------------------------------------------------------------------
while IFS='|' read -r number pattern call; do
    refuses "refused: $call" "$number" "$pattern" "SELECT $call"
done <<'END'
1210|the store has no series none: define it with template=|firn_number('none')
1105|leave the definition out|firn_number('bills', 'template=X{counter:4}')
1367|firn_number: |firn_number('bills', '', 'tomorrow')
1210|has no key .templates.|firn_number('bills', 'templates={counter:4}')
1210|does not name the century|firn_number('short', 'template={yy}{counter:4}')
1210|remove key_file=|firn_number('keyed', 'template={counter:6} key_file=/etc/passwd')
1690|has not begun, since this machine|firn_number('days', '', '2999-01-01')
1690|the name of a series has 0 bytes|firn_number('')
1690|at most 511|firn_number('bills', repeat('x', 600))
1367|zero byte|firn_number(convert('bills' USING utf16))
1123|floating point|firn_number('bills', '', 1e9)
1123|write firn_number|firn_number()
END
says "a refused call took nothing" "INV$year/0014" "SELECT firn_number('bills')"
refuses "a default that fails is an error, not a NULL" 1105 "too few counters left" \
    "CREATE TABLE full (number VARCHAR(80) DEFAULT (firn_number('full')), n int);
     SELECT count(firn_number('full', 'template=F{counter:1}')) FROM seq_1_to_9; INSERT INTO full (n) VALUES (1)"

# ---- many connections ----------------------------------------------------------------------------
# spawn COUNT STATEMENT NAME: that many clients at once; `joined` waits for them.
spawn() {
    clients=
    for number in $(seq "$1"); do
        echo "$2" | sql >"$TMPDIR/$3.$number" &
        clients="$clients $!"
    done
}
joined() {
    # shellcheck disable=SC2086 # pids, to be split
    wait $clients
}
spawn 8 "SELECT firn_number('bills') FROM seq_1_to_10" many
joined
same "eight connections take numbers of one series, without a gap" "$(seq -f "INV$year/%04.0f" 15 94 | cksum)" "$(sort "$TMPDIR"/many.* | cksum)"
spawn 2 "SELECT concat(seq % 68, firn_number(concat('many', seq % 68), 'template=N{counter:4}')) FROM seq_1_to_102" turn
joined
same "a server uses more series than it keeps open; none fails, and none has a number twice" "204 0" \
    "$(cat "$TMPDIR"/turn.* | grep -cE '^[0-9]+N[0-9]{4}$') $(sort "$TMPDIR"/turn.* | uniq -d | wc -l)"
same "and the first one is opened again" "INV$year/0095" "$(echo "SELECT firn_number('bills')" | sql)"
says "a block is of all connections, and a server that ends gives the rest back" "K001" "SELECT firn_number('blocks', 'template=K{counter:3} block=50')"
says "so the next connection continues it" "K002" "SELECT firn_number('blocks', 'template=K{counter:3} block=50')"

# ---- a server that ends, or is killed ------------------------------------------------------------
export FIRN_OPTIONS=0
check "the server restarts with FIRN_OPTIONS=0" test/engine restart "$engine"
same "the block continues" "K003" "$(echo "SELECT firn_number('blocks')" | sql)"
refuses "a call may not define a series" 1210 "define it with .firn series" "SELECT firn_number('own', 'template=O{counter:3}')"
same "what the command defines is there" "O001" "$(series own 'template=O{counter:3}')"
says "for all calls, and times" "O002	2020-05-02-02" "SELECT firn_number('own'), firn_number('days', '', '2020-05-02')"
unset FIRN_OPTIONS
spawn 4 "SELECT firn_number('bills') FROM seq_1_to_9000" killed
flows() {
    for number in 1 2 3 4; do [ -s "$TMPDIR/killed.$number" ] || return 1; done
}
await flows
test/engine kill "$engine"
joined
sqlite=$FIRN_STORE
FIRN_STORE=$url?timeout=60s
check "after kill -9 the server starts, with itself as the store" test/engine restart "$engine"
FIRN_STORE=$sqlite
series bills -n 50 >"$TMPDIR/killed.5"
same "no number from before comes again" "" "$(grep -h ^INV "$TMPDIR"/killed.* | sort | uniq -d)"

# ---- a store that is the same server -------------------------------------------------------------
says "it has its own series" "S001	S002" "SELECT firn_number('self', 'template=S{counter:3}'), firn_number('self')"
says "whose numbers stay with a rollback and under LOCK TABLES" "S004	S005" \
    "BEGIN; SELECT firn_number('self') INTO @gone; ROLLBACK; SELECT firn_number('self') INTO @a;
     LOCK TABLES copied WRITE; SELECT @a, firn_number('self'); UNLOCK TABLES"
spawn 8 "SELECT firn_number('self') FROM seq_1_to_3" self
joined
same "eight connections take numbers there" "24 0" "$(cat "$TMPDIR"/self.* | grep -c '^S0') $(sort "$TMPDIR"/self.* | uniq -d | wc -l)"
FIRN_STORE=$url?timeout=1s
check "with a store that waits 1 s" test/engine restart "$engine"
FIRN_STORE=$sqlite
says "after a restart the series continues" "S030" "SELECT firn_number('self')"
refuses "while all its tables are locked there is an error and no deadlock" 1105 "firn_number: store " \
    "FLUSH TABLES WITH READ LOCK; SELECT firn_number('self')"
says "and afterwards there are numbers" "1" "SELECT firn_number('self') > 'S030'"

# A session calls when all connections are taken, so that the store has none.
echo "SET GLOBAL max_connections = 10" | sql
connections() {
    echo "SELECT count(*) FROM information_schema.processlist WHERE user = 'firn' AND id <> connection_id()" | sql
}
before=$(connections)
{
    while [ ! -e "$TMPDIR/go" ]; do sleep 0.05; done
    echo "SELECT firn_number('other', 'template=O{counter:3}')"
} | sql >"$TMPDIR/alone" &
caller=$!
is_connected() {
    [ "$(connections)" -gt "$before" ]
}
await is_connected
for number in $(seq 14); do # those that are refused try again, and so take each connection that ends
    while [ ! -e "$TMPDIR/go" ]; do echo "SELECT sleep(600)" | sql >"$TMPDIR/sleeps.$number"; done &
done
refused=0
is_full() {
    if echo "SELECT 1" | sql | grep -q '^ERROR'; then refused=$((refused + 1)); else refused=0; fi
    [ $refused -ge 10 ] # once is not enough: a connection may be about to end
}
await is_full
touch "$TMPDIR/go"
wait $caller
said=$(cat "$TMPDIR/alone")
case $said in
*'ERROR 1105'*firn_number:*) pass "with no connection left, a call fails instead of waiting for itself" ;;
*) fail "with no connection left, a call fails instead of waiting for itself" "$said" ;;
esac
# shellcheck disable=SC2086 # pids, to be split
kill $clients 2>/dev/null
joined 2>/dev/null
finish
