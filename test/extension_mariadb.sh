# SPDX-License-Identifier: MIT
# The functions of ext/mariadb in a real server: what they say, old rows in one UPDATE, new rows by DEFAULT, ranges by the
# primary key, many connections, a server that is killed, bad input.
. test/mariadb.tap
mariadb_made "the functions of MariaDB"
FIRN_STORE="sqlite:$room/store/firn.db?unsafe=1"
export FIRN_STORE FIRN_OPTIONS_STORE=1
mariadb_started "the functions of MariaDB" --innodb-buffer-pool-size=256M --innodb-log-file-size=256M

# ---- the scripts ---------------------------------------------------------------------------------
rows=$(grep -cE '^(GENERATOR|MARIADB_ISSUE|MARIADB_PURE)\(' ext/functions.def)
# MariaDB 11.7 and newer have their own uuid_v4 and uuid_v7.
native="ERROR 1585 .*'uuid_v[47]' has the same name as a native function"
install() {
    sql --force <"$made/install.sql" >"$TMPDIR/installed"
    grep '^ERROR' "$TMPDIR/installed" | grep -v "$native"
}
same "install.sql makes every function of the list" "" "$(install)"
says "and nothing else" "$((rows - $(grep -c "$native" "$TMPDIR/installed")))" "SELECT count(*) FROM mysql.func WHERE dl = 'firn_mariadb.so'"
says "the version is the library's" "$("$FIRN" --version | sed 's/^firn //; s/ .*//')" "SELECT firn_version()"

# ---- known answers -------------------------------------------------------------------------------
v1=c232ab00-9414-11ec-b3c8-9f6bdeced846 v6=1ec9414c-232a-6b00-b3c8-9f6bdeced846 # RFC 9562, appendix A
says "form_uuid_v1 makes RFC 9562's example" $v1 "SELECT form_uuid_v1('2022-02-22 14:22:22-05:00', 13256, '9f:6b:de:ce:d8:46')"
says "uuid_v1_timestamp reads it" "2022-02-22 19:22:22.000000" "SELECT uuid_v1_timestamp('$v1')"
says "a microsecond is kept both ways" 2024-05-06\ 07:08:09.123457 \
    "SELECT uuid_v1_timestamp(form_uuid_v1('2024-05-06 07:08:09.123457', 0, '01:02:03:04:05:06'))"
says "uuid1 becomes uuid6 and back" "$v6	$v1" "SELECT uuid1_to_uuid6('$v1'), uuid6_to_uuid1('$v6')"
old=6ccd780c-baba-1026-9564-5b8c656024db # MySQL's manual, UUID_TO_BIN
says "uuid_to_bin is MySQL's" "6CCD780CBABA102695645B8C656024DB	1026BABA6CCD780C95645B8C656024DB" \
    "SELECT hex(uuid_to_bin('$old')), hex(uuid_to_bin('$old', 1))"
says "bin_to_uuid turns it back" "$old	$old" "SELECT bin_to_uuid(uuid_to_bin('$old')), bin_to_uuid(uuid_to_bin('$old', 1), 1)"
tweet=1541815603606036480 # Twitter's documentation
says "firn_time reads a tweet" "2022-06-28 16:07:40.105" "SELECT firn_time($tweet, 'snowflake')"
says "firn_shard is MurmurHash3's mixer" 604 "SELECT firn_shard(1, 1000)"
same "firn_show is firn show --json, without formats that are not schemes" "$("$FIRN" show --json --from dec $tweet)" "$(echo "SELECT firn_show($tweet)" | sql)"
same "of a UUID too, as text or bytes" "$("$FIRN" show --json $v6 | sed p)" \
    "$(echo "SELECT firn_show('$v6'); SELECT firn_show(uuid_to_bin('$v6'))" | sql)"
says "firn_pack packs fields" "$("$FIRN" pack snowflake time=2024-01-01T10:00:00Z datacenter=1 worker=2 sequence=3)" \
    "SELECT firn_pack('snowflake', 'time=2024-01-01T10:00:00 datacenter=1 worker=2 sequence=3')"
says "firn_convert changes the form" "$("$FIRN" convert --scheme snowflake --to base62 $tweet)" "SELECT firn_convert($tweet, 'base62', 'snowflake')"
says "to base64 and back" "kZEI91LRQyCbrPhH20FIqA==	919108f7-52d1-4320-9bac-f847db4148a8" \
    "SELECT firn_convert('919108f7-52d1-4320-9bac-f847db4148a8', 'base64'), firn_convert('kZEI91LRQyCbrPhH20FIqA', 'uuid')"
says "an ID is within the range of its own time and not of the next" "1	0" \
    "SELECT $tweet BETWEEN firn_min('snowflake', firn_time($tweet, 'snowflake')) AND firn_max('snowflake', firn_time($tweet, 'snowflake')),
     $tweet >= firn_min('snowflake', '2022-06-28 16:07:40.106')"
says "a time is UTC, has an offset, or is a number of seconds" "1	1	1" \
    "SELECT firn_min('snowflake', '2024-01-01 02:00:00.5+02:00') = @b, firn_min('snowflake', 1704067200.5) = @b,
     firn_min('snowflake', '@1704067200.5') = @b FROM (SELECT @b := firn_min('snowflake', '2024-01-01 00:00:00.5')) b"
says "unix_timestamp() of a time in the session's zone is exact" 1 \
    "SET time_zone = '+02:00'; SELECT firn_min('snowflake', unix_timestamp('2024-01-01 02:00:00.5')) = firn_min('snowflake', '2024-01-01 00:00:00.5')"
says "64-bit rows are BIGINT, UUIDs CHAR(36)" "bigint	varchar(36)" \
    "CREATE TEMPORARY TABLE kinds AS SELECT snowflake() AS a, uuid7() AS b; SELECT (SELECT 'bigint' FROM kinds WHERE a > 0),
     (SELECT concat('varchar(', char_length(b), ')') FROM kinds)"
says "a UUID column takes the bytes" 1 \
    "CREATE TEMPORARY TABLE typed (id uuid PRIMARY KEY DEFAULT (uuid_to_bin(uuid7())), n int, was char(36)); INSERT INTO typed (n) VALUES (1), (2);
     SELECT count(*) = 2 AND min(firn_time(CAST(id AS char), 'uuid7')) > '2024' FROM typed"
says "JSON functions read what firn_show says" "2022-06-28T16:07:40.105Z	11" \
    "SELECT json_value(firn_show($tweet, 'snowflake'), '$.time'), json_value(firn_show($tweet, 'snowflake'), '$.fields.datacenter')"
one_each=$(sed -nE 's/^GENERATOR\(([a-z0-9_]+),.*/\1()/p; s/^MARIADB_ISSUE\(([a-z0-9_]+), [A-Z]+, next(_of)?(_typeid)?,.*"([IT]*)", .*/\1()/p' ext/functions.def |
    grep -v baidu | paste -sd,)
says "every generator gives a value, and another one for each row" "$(echo "$one_each" | tr ',' '\n' | sed 's/.*/3/' | paste -s)" \
    "SELECT $(echo "$one_each" | sed 's/\([a-z0-9_]*()\)/count(DISTINCT \1)/g') FROM seq_1_to_3"
says "the bounds of a time have the prefix" "user_01hk153x00e008000000000000	user_01hk153x00fzzvzzzzzzzzzzzz" \
    "SELECT firn_min_text('typeid', '2024-01-01', 'prefix=user'), firn_max_text('typeid', '2024-01-01', 'prefix=user')"
says "arguments name a shard, a prefix, a member" "7	user_	77" "SELECT instagram(7) >> 10 & 8191, left(typeid('user'), 5), substr(time_member(77), 18, 2)"
says "a layout that has ended takes other widths" 1 "SELECT baidu('bits=29/21/13') > 0"
says "firn_new takes any scheme and any key" "5" "SELECT firn_new('snowflake', 'node=5') >> 12 & 1023"
says "changes may follow the name of a scheme, and mean what the options do" "1	1	1	1" \
    "SELECT firn_new('snowflake epoch=2024-01-01') < firn_new('snowflake', 'epoch=2024-01-01'), firn_new('snowflake epoch=2024-01-01', 'node=5') >> 12 & 1023 = 5,
     firn_time(firn_new(' tsid  bits=42/11/11 '), 'tsid bits=42/11/11') > '2024', length(firn_new('time-random digits=3')) = length(firn_new('time-random', 'digits=3'))"
says "for jobs too" 1 "SELECT firn_time(firn_stamp('snowflake epoch=2020-01-01', '2024-01-01', 'changes'), 'snowflake epoch=2020-01-01') LIKE '2024-01-01%'"
says "NULL gives NULL" "NULL	NULL	NULL	NULL" "SELECT snowflake(NULL), firn_time(NULL, 'uuid7'), uuid_to_bin(NULL), firn_stamp('snowflake', NULL, 'nothing')"
says "a prepared statement draws again each time" 1 \
    "PREPARE one FROM 'SELECT snowflake(?) INTO @a'; SET @o = 'node=6'; EXECUTE one USING @o; SET @b = @a; EXECUTE one USING @o; SELECT @a > @b"

# ---- a real job ----------------------------------------------------------------------------------
says "a million old rows get their IDs in one UPDATE" "1000000	1000000" \
    "SET sql_log_bin = 0;
     CREATE TABLE events (id bigint NULL, created_at datetime(3) NOT NULL, what int NOT NULL);
     INSERT INTO events SELECT NULL, '2020-01-01' + INTERVAL seq * 37 SECOND + INTERVAL seq % 1000 * 1000 MICROSECOND, seq FROM seq_1_to_1000000;
     UPDATE events SET id = firn_stamp('snowflake', created_at, 'events') ORDER BY created_at;
     SELECT count(*), count(DISTINCT id) FROM events"
says "each ID has the time of its row" 0 "SELECT count(*) FROM events WHERE firn_time(id, 'snowflake') <> created_at"
says "and all are of one node" 1 "SELECT count(DISTINCT id >> 12 & 1023) FROM events"
says "the column gets a default and the key" "" \
    "SET sql_log_bin = 0; ALTER TABLE events MODIFY id bigint NOT NULL DEFAULT (snowflake()), ADD PRIMARY KEY (id)"
says "new rows get live IDs from it" "1000	0" \
    "INSERT INTO events (created_at, what) SELECT utc_timestamp(3), -seq FROM seq_1_to_1000;
     SELECT count(*), sum(abs(timestampdiff(SECOND, firn_time(id, 'snowflake'), created_at)) > 60) FROM events WHERE what < 0"
says "they are on another node than the old ones" 2 "SELECT count(DISTINCT id >> 12 & 1023) FROM events"
between="id BETWEEN firn_min('snowflake', '2020-06-01 00:00:00') AND firn_max('snowflake', '2020-06-01 23:59:59.999')"
plan=$(echo "EXPLAIN SELECT * FROM events WHERE $between" | sql | cut -f 4,6)
same "a range of time uses the primary key" "range	PRIMARY" "$plan"
same "the same range by the column of time does not" "ALL	NULL" \
    "$(echo "EXPLAIN SELECT * FROM events WHERE created_at BETWEEN '2020-06-01 00:00:00' AND '2020-06-01 23:59:59.999'" | sql | cut -f 4,6)"
says "and finds the same rows" "2335	2335" \
    "SELECT (SELECT count(*) FROM events WHERE $between),
     (SELECT count(*) FROM events WHERE created_at BETWEEN '2020-06-01 00:00:00' AND '2020-06-01 23:59:59.999')"
echo "SELECT id FROM events" | sql >"$TMPDIR/events"
says "a second statement takes its own node" "1	1" \
    "CREATE TABLE more AS SELECT created_at FROM events LIMIT 1000; ALTER TABLE more ADD id bigint;
     UPDATE more SET id = firn_stamp('snowflake', created_at, 'more');
     SELECT count(DISTINCT id >> 12 & 1023), count(DISTINCT id) = 1000 FROM more"
echo "SELECT id FROM more" | sql >"$TMPDIR/more"
check "old and new rows have no ID twice" "$FIRN" check --scheme snowflake "$TMPDIR/events" "$TMPDIR/more"
head -n 1 "$TMPDIR/more" >>"$TMPDIR/events"
same "an injected one is found" 1 "$("$FIRN" check --scheme snowflake "$TMPDIR/events" "$TMPDIR/more" --json | jq .duplicates)"
refuses "the name of a job is used up" 1105 "job more was started" "UPDATE more SET id = firn_stamp('snowflake', created_at, 'more')"
refuses "a statement has one job" 1105 "job each-1|firn_stamp: the job changes" \
    "UPDATE more SET id = firn_stamp('snowflake', created_at, concat('each-', id))"
# docs/guides/migrating.md: one statement makes all IDs, batches copy them.
says "a table is moved in batches, each of which may come twice" "$(printf '1000\t1000\t1\n0')" \
    "SET sql_log_bin = 0; CREATE TABLE moved (n int PRIMARY KEY, created_at datetime(3), id bigint);
     INSERT INTO moved SELECT seq, '2019-01-01' + INTERVAL seq DIV 3 SECOND, NULL FROM seq_1_to_1000;
     CREATE TABLE moved_ids (n BIGINT PRIMARY KEY, id BIGINT NOT NULL UNIQUE)
         SELECT n, firn_stamp('snowflake', created_at, 'moved-2019') AS id FROM moved ORDER BY created_at, n;
     START TRANSACTION;
     UPDATE moved JOIN moved_ids USING (n) SET moved.id = moved_ids.id WHERE moved.id IS NULL AND n BETWEEN 1 AND 500; ROLLBACK;
     UPDATE moved JOIN moved_ids USING (n) SET moved.id = moved_ids.id WHERE moved.id IS NULL AND n BETWEEN 1 AND 600;
     UPDATE moved JOIN moved_ids USING (n) SET moved.id = moved_ids.id WHERE moved.id IS NULL AND n BETWEEN 501 AND 1000;
     SELECT count(id), count(DISTINCT id), count(DISTINCT id >> 12 & 1023) FROM moved;
     SELECT count(*) FROM moved WHERE firn_time(id, 'snowflake') <> created_at"
says "a trigger fills a key as well" "2	1" \
    "CREATE TABLE hooked (id char(36) PRIMARY KEY, n int); CREATE TRIGGER fill BEFORE INSERT ON hooked FOR EACH ROW SET NEW.id = uuid7();
     INSERT INTO hooked (n) VALUES (1), (2); SELECT count(*), min(n) = (SELECT n FROM hooked ORDER BY id LIMIT 1) FROM hooked"
says "a replica gets the rows, not the function" 1 \
    "FLUSH BINARY LOGS; INSERT INTO events (created_at, what) VALUES (utc_timestamp(3), 0);
     SELECT 1 FROM events WHERE what = 0"
last=$(echo "SHOW BINARY LOGS" | sql | tail -n 1 | cut -f 1)
check "by its log" grep -q Write_rows <<EOF
$(echo "SHOW BINLOG EVENTS IN '$last'" | sql)
EOF

# ---- bad input -----------------------------------------------------------------------------------
while IFS='|' read -r number pattern statement; do
    refuses "refused: $statement" "$number" "$pattern" "SELECT $statement"
done <<'EOF'
1210|no scheme 'nosuch'|firn_new('nosuch')
1210|no scheme ''|firn_new('')
1210|nodee.*node|snowflake('nodee=3')
1690|out of range .0 to 1023, 10 bits|snowflake('node=1024')
1210|node=-1|snowflake('node=-1')
1210|uuid8|firn_new('uuid8')
1690|outside the range of baidu|baidu()
1690|outside the range of snowflake|firn_min('snowflake', '1969-12-31 23:59:59')
1690|outside the range of snowflake|firn_max('snowflake', '9999-12-31 23:59:59')
1367|firn_min|firn_min('snowflake', '0000-00-00 00:00:00')
1367|firn_min|firn_min('snowflake', '2024-02-30 00:00:00')
1367|firn_min|firn_min('snowflake', 'infinity')
1367|empty|firn_min('snowflake', '')
1690|outside the range of snowflake|firn_min('snowflake', -99999999999999)
1690|outside the range of snowflake|firn_min('snowflake', -9223372036854775807 - 1)
1690|outside the range of snowflake|firn_min('snowflake', 9223372036854775807)
1123|floating point|firn_min('snowflake', 1e9)
1210|uuid7.*use text|firn_min('uuid7', '2024-01-01')
1210|lable-spread|firn_min_text('lable-spread', '2024-01-01')
1690|outside the range of uuid1|form_uuid_v1('5237-01-01 00:00:00', 5000, '01:02:03:04:05:06')
1367|64-bit seconds|form_uuid_v1(18446744073709551615, 1, '01:02:03:04:05:06')
1690|16384|form_uuid_v1('2024-01-01', 16384, '01:02:03:04:05:06')
1690|clock_seq -1|form_uuid_v1('2024-01-01', -1, '01:02:03:04:05:06')
1367|form_uuid_v1|form_uuid_v1('2024-01-01', 1, 'no address')
1367|uuid_v1_timestamp|uuid_v1_timestamp('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
1367|uuid6_to_uuid1|uuid6_to_uuid1('c232ab00-9414-11ec-b3c8-9f6bdeced846')
1367|UUID|uuid_to_bin('017f22e2-79b0-7cc3-98c4')
1367|15 bytes|bin_to_uuid('123456789012345')
1367|no ID|firn_show('no ID at all')
1367|firn_show|firn_show(-5, 'uuid7')
1690|out of range|firn_shard(1, 0)
1690|out of range|firn_shard(1, -1)
1367|zero byte|firn_new(convert('snowflake' USING utf16))
1367|prefix|typeid('Bad Prefix')
1690|at most 511|firn_new('snowflake', repeat('x', 600))
1690|at most 511|firn_show(repeat('1', 100000), 'snowflake')
1210|contains no time|firn_time(uuid4(), 'uuid4')
1690|years|firn_time('ffffffff-ffff-7000-8000-000000000000', 'uuid7')
1123|write snowflake|snowflake('', '')
1123|write firn_time|firn_time(1)
1210|no time|firn_stamp('uuid4', '2024-01-01', 'timeless')
1690|outside the range of snowflake|firn_stamp('snowflake', '1999-01-01 00:00:00', 'early')
1690|negative|firn_stamp('lable-sequential', '2040-01-01 00:00:00', 'late')
1690|negative|tsid('node=1 epoch=1900-01-01')
1690|negative|firn_min('tsid', '2090-01-01')
1210|memory: is not shared|snowflake('store=memory:')
1105|store|firn_new('snowflake', 'ns=away store=mysql://firn@127.0.0.1:9/firn')
EOF
says "unsigned=1 allows the negative ones" 1 "SELECT tsid('node=2 epoch=1900-01-01 unsigned=1') < 0"
says "a lable_spread ID may be negative, and is read" 1 "SELECT count(firn_time(lable_spread(), 'lable-spread')) FROM dual"
says "the server is still the same" 1 "SELECT variable_value < 600 AND variable_value > 0 FROM information_schema.global_status WHERE variable_name = 'UPTIME'"

# ---- a default that fails ------------------------------------------------------------------------
refuses "a default that cannot be made is an error" 1367 "no ID" \
    "CREATE TABLE kept (f varchar(40), s int DEFAULT (firn_shard(f, 7))); INSERT INTO kept (f) VALUES ('no ID')"
says "and the next row has it again, in another session and in the same one" "$(printf '1\t1\n3\t3')" \
    "INSERT INTO kept (f) VALUES ('$v1'); SELECT count(*), sum(s = firn_shard('$v1', 7)) FROM kept;
     DELIMITER //
     BEGIN NOT ATOMIC
         DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
         INSERT INTO kept (f) VALUES ('no ID'); INSERT INTO kept (f) VALUES ('$v6');
         INSERT INTO kept (f) VALUES ('$v1'), ('no ID'); INSERT INTO kept (f) VALUES ('$v6');
     END //
     DELIMITER ;
     SELECT count(*), count(s) FROM kept WHERE f <> 'no ID'"

# ---- what an account without rights can use up ---------------------------------------------------
jobs_taken() {
    "$FIRN" nodes ns='firn_stamp of SQL' --store "$FIRN_STORE" --json | jq -r .mark
}
same "jobs are counted in the store: changes, events, more, moved, and three whose rows were refused later" 7 "$(jobs_taken)"
echo "CREATE USER nobody@'%'" | sql
poor() {
    mariadb --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P "$(sed -n 1p "$engine/port")" -u nobody -N -B -q 2>&1
}
for number in $(seq 40); do
    echo "SELECT firn_stamp('snowflake', '2020-01-01', 'greedy $number')" | poor
done >"$TMPDIR/greedy"
check "an account without rights begins few jobs" [ "$(grep -cE '^[0-9]+$' "$TMPDIR/greedy")" -le 16 ]
same "and gets the limit, and how to raise it" 40 \
    "$(grep -cE '^[0-9]+$|16 jobs in SQL took a node permanently, the maximum: set FIRN_JOBS' "$TMPDIR/greedy")"
says "live IDs are not touched by it" 1 "SELECT snowflake() > 0"
export FIRN_JOBS=40
check "the server is started with room for more" test/engine restart "$engine"
says "so that there are jobs again" 1 "SELECT firn_stamp('snowflake', '2020-01-01', 'after it') > 0"

# ---- a store inside the same server --------------------------------------------------------------
# A request that the server had received may still be granted when nobody waits for it any more, as soon as the lock is
# gone. Then the node is in use until that window ends, which a later call must wait for: longer where all is slow.
inside="ns=inside max_wait=60s store=$url?timeout=60s" brief="ns=inside max_wait=1s store=$url?timeout=1s"
says "marks may be in this server" "$(printf '1\n1000')" \
    "CREATE TABLE inner_rows AS SELECT created_at FROM more; ALTER TABLE inner_rows ADD id bigint;
     UPDATE inner_rows SET id = firn_stamp('snowflake', created_at, 'inside', 'ns=inside store=$url?timeout=60s');
     LOCK TABLES inner_rows WRITE; UPDATE inner_rows SET id = snowflake('$inside'); UNLOCK TABLES;
     START TRANSACTION; SELECT count(snowflake('$inside node=7')) FROM dual; ROLLBACK; SELECT count(DISTINCT id) FROM inner_rows"
refuses "while all its tables are locked there is an error and no deadlock" 1105 "store" \
    "FLUSH TABLES WITH READ LOCK; SELECT snowflake('$brief node=8')"
says "and afterwards there are IDs" 1 "SELECT count(snowflake('$inside node=8')) FROM dual"

# A call whose store does not answer does not delay a call with another store.
echo "FLUSH TABLES WITH READ LOCK; SELECT sleep(120)" | sql >"$TMPDIR/lock" &
lock=$!
waits_in() {
    [ "$(echo "SELECT count(*) FROM information_schema.processlist WHERE $1 AND id <> connection_id()" | sql)" -ge 1 ]
}
await waits_in "info LIKE 'SELECT sleep%'"
echo "SELECT count(snowflake('ns=stalled store=$url?timeout=60s'))" | sql >"$TMPDIR/stalled" &
stalled=$!
await waits_in "state LIKE 'Waiting for%lock%'"
says "while a store is waited for, calls that need another one are answered" "1	1" \
    "SELECT count(tsid('ns=aside')), count(locality_sequential()) FROM dual"
check "and it is still waited for" kill -0 $stalled
echo "SELECT concat('KILL ', id) FROM information_schema.processlist WHERE info LIKE 'SELECT sleep%' AND id <> connection_id()" |
    sql | sql >"$TMPDIR/killed"
wait $lock $stalled
same "then there is an ID of it too" 1 "$(cat "$TMPDIR/stalled")"

# ---- the guide ----------------------------------------------------------------------------------
check "docs/guides/mariadb.md begins with an example" [ "$(guide_sql mariadb | grep -c ';$')" -ge 3 ]
same "it does what it says" "a b" "$(echo "CREATE DATABASE readme; USE readme; $(guide_sql mariadb)" | sql | cut -f 2 | paste -sd' ')"

! short || finish

# ---- many connections ----------------------------------------------------------------------------
# spawn COUNT STATEMENT NAME: that many clients at once; their pids in $clients.
spawn() {
    clients=
    number=0
    while [ $number -lt "$1" ]; do
        number=$((number + 1))
        echo "$2" | sql >"$TMPDIR/$3.$number" &
        clients="$clients $!"
    done
}
spawn 64 "SELECT snowflake() FROM seq_1_to_160000" many
# shellcheck disable=SC2086 # pids, to be split
wait $clients
said=$("$FIRN" check --scheme snowflake "$TMPDIR"/many.* --json)
same "of ten million IDs of 64 connections none is there twice" "10240000 0" "$(echo "$said" | jq -r '"\(.ids) \(.duplicates)"')"
head -n 1 "$TMPDIR/many.7" >>"$TMPDIR/many.9"
same "an injected one is found" "10240001 1" "$("$FIRN" check --scheme snowflake "$TMPDIR"/many.* --json | jq -r '"\(.ids) \(.duplicates)"')"
rm -f "$TMPDIR"/many.*

# ---- a server that is killed ---------------------------------------------------------------------
# flows NAME: IDs of each client have come.
flows() {
    for client in 1 2 3 4 5 6 7 8; do
        [ -s "$TMPDIR/$1.$client" ] || return 1
    done
}
for round in 1 2 3; do
    spawn 8 "SELECT snowflake() FROM seq_1_to_3000000" "killed.$round"
    await flows "killed.$round"
    test/engine kill "$engine"
    # shellcheck disable=SC2086
    wait $clients
    check "the server starts again after kill -9, round $round" test/engine restart "$engine"
done
spawn 4 "SELECT snowflake() FROM seq_1_to_100000" killed.4
# shellcheck disable=SC2086
wait $clients
grep -hE '^[0-9]+$' "$TMPDIR"/killed.* >"$TMPDIR/all"
said=$("$FIRN" check --scheme snowflake "$TMPDIR/all" --json)
same "no ID from before comes again" 0 "$(echo "$said" | jq .duplicates)"
check "and there were many" [ "$(echo "$said" | jq .ids)" -gt 410000 ]

# ---- calls with options: 64 generators: the least recently used is closed ----------------
says "a statement may use more than 64 generators, one after the other" "80	80" \
    "SELECT count(*), count(DISTINCT id) FROM (SELECT tsid(concat('ns=other', seq)) AS id FROM seq_1_to_80) made"
gone=$(echo "SELECT snowflake('ns=gone')" | sql)
kept=$(echo "SELECT snowflake('ns=kept') >> 12 & 1023" | sql)
for round in 1 2 3; do
    echo "WITH RECURSIVE many AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM many WHERE n < 60)
        SELECT count(tsid(concat('ns=poor$round-', n))) FROM many" | poor >"$TMPDIR/poor"
    same "an account that uses many options does not lock others out, round $round" "60 $kept" \
        "$(cat "$TMPDIR/poor") $(echo "SELECT snowflake('ns=kept') >> 12 & 1023" | sql)"
done
# back MARK-OF-ID NS: a window of the namespace was given back, up to this ID.
back() {
    "$FIRN" nodes ns="$2" --store "$FIRN_STORE" --json |
        jq -c --arg mark $((($1 >> 22) * 4096 + ($1 & 4095) + 1)) 'select(.mark == $mark)' | wc -l
}
same "one that was not used again has given its window back" 1 "$(back "$gone" gone)"
says "and is opened again" 1 "SELECT snowflake('ns=gone') > $gone"
spawn 4 "SELECT concat(seq % 75, ' ', snowflake(concat('ns=turn', seq % 75, ' node=5'))) FROM seq_1_to_300" turn
# shellcheck disable=SC2086
wait $clients
same "while they are closed and opened in turn no ID of a namespace comes twice, and no call fails" "1200 0" \
    "$(cat "$TMPDIR"/turn.* | grep -cE '^[0-9]+ [0-9]+$') $(sort "$TMPDIR"/turn.* | uniq -d | wc -l)"
says "calls without options have their own places" "1	1	1	1" \
    "SELECT count(tsid()), count(leaf()), count(ksuid()), count(firn_new('discord')) FROM dual"

# ---- the end -------------------------------------------------------------------------------------
echo "SELECT snowflake()" | sql >"$TMPDIR/last"
test/engine halt "$engine"
last=$(cat "$TMPDIR/last")
same "a server that ends gives its window back" 1 "$(back "$last" snowflake)"
export FIRN_OPTIONS=0
check "the server starts with FIRN_OPTIONS=0" test/engine restart "$engine"
while read -r call; do
    refuses "it forbids $call" 1210 "FIRN_OPTIONS" "SELECT $call"
done <<'EOF'
snowflake('node=3')
snowflake('worker=3')
snowflake('full=wait ns=orders full=fail')
snowflake('epoch=2024-01-01')
tsid('bits=42/11/11')
objectid_legacy('machine=3')
instagram(7)
time_member(77)
firn_new('snowflake', 'nodes=64')
firn_new('snowflake epoch=2024-01-01')
firn_new('time:41/ms@@2024-01-01 node:10 sequence:12')
firn_stamp('snowflake', '2024-01-01', 'forbidden', 'ns=orders')
firn_stamp('snowflake epoch=2024-01-01', '2024-01-01', 'forbidden')
EOF
says "and leaves the others" "1	1	1	1	1" "SELECT snowflake('ordering=thread max_wait=9s') > 0, instagram() > 0, typeid('user') > '',
    firn_new('uuid7', 'stale=50us') > '', firn_stamp('snowflake', '2024-01-01', 'allowed', 'max_shift=5ms') > 0"
unset FIRN_OPTIONS
export FIRN_NODE=17
check "it starts again, with its own node" test/engine restart "$engine"
says "which rows that have one are on" "17	17" "SELECT snowflake() >> 12 & 1023, tsid() >> 12 & 1023"
says "unless they say another" 18 "SELECT snowflake('node=18') >> 12 & 1023"
says "its tables still have their default" 1 "INSERT INTO events (created_at, what) VALUES (utc_timestamp(3), 9000000); SELECT count(*) FROM events WHERE what = 9000000"
says "a table is in the cache" 1 "INSERT INTO events (created_at, what) VALUES (utc_timestamp(3), 9000002); SELECT 1"
sql <"$made/uninstall.sql" >"$TMPDIR/uninstalled"
same "uninstall.sql names the columns that use a function" \
    "firn.events.id uses snowflake(), firn.kept.s uses firn_shard(), readme.event.id uses snowflake()" \
    "$(sed -n 's/, which this script drops: .*//p' "$TMPDIR/uninstalled" | sort | paste -sd, | sed 's/,/, /g')"
same "says nothing else" "" "$(grep -v 'which this script drops: ' "$TMPDIR/uninstalled")"
says "and takes every function away" 0 "SELECT count(*) FROM mysql.func"
refuses "a table that needs one says so" '[0-9]+' "snowflake" "INSERT INTO events (created_at, what) VALUES (utc_timestamp(3), 9000001)"
same "they can be installed again" "" "$(install)"
says "and the table works again" 1 "FLUSH TABLES; INSERT INTO events (created_at, what) VALUES (utc_timestamp(3), 9000001); SELECT count(*) FROM events WHERE what = 9000001"

# ---- a clock that steps --------------------------------------------------------------------------
. test/clock
CLOCK_OFFSET=$room/offset
export CLOCK_OFFSET
echo 0 >"$CLOCK_OFFSET"
chmod 644 "$CLOCK_OFFSET"
if ! make_clock "$room/clock.so"; then
    skip "a clock that steps" "there is no C compiler"
    finish
fi
chmod 755 "$room/clock.so"
unset FIRN_NODE FIRN_OPTIONS_STORE
check "the server starts on its own clock" env LD_PRELOAD="$room/clock.so" test/engine restart "$engine"
refuses "a call does not choose the store unless the server lets it" 1210 "FIRN_OPTIONS_STORE=1" \
    "SELECT snowflake('store=sqlite:/tmp/other.db')"
spawn 2 "SELECT snowflake() FROM seq_1_to_2000000" stepped
for step in -3600 30 -10; do
    sleep 0.3
    echo $step >"$CLOCK_OFFSET"
done
# shellcheck disable=SC2086
wait $clients
same "while it steps by an hour and back no ID comes twice, and none fails" "4000000 0" \
    "$(grep -hE '^[0-9]+$' "$TMPDIR"/stepped.* | "$FIRN" check --scheme snowflake --json | jq -r '"\(.ids) \(.duplicates)"')"
grep -hvE '^[0-9]+$' "$TMPDIR"/stepped.* | sed 's/^/# /;3q'
finish
