-- SPDX-License-Identifier: MIT
-- Generators, on a server with firn preloaded, firn.node = '7' and firn.history = '900-999'.
-- Every scheme generates IDs that are read as its own.
SELECT scheme, firn_show(firn_new(scheme), scheme) ->> 'scheme' = scheme AS own,
    abs(extract(epoch FROM firn_time(firn_new(scheme), scheme) - clock_timestamp())) < 12 AS present
    FROM unnest('{snowflake,leaf,seata,region,simpleflake,lable-spread,lable-sequential,sonyflake,discord,tsid,js53,mastodon,
        tid,pushid,scru128,
        objectid,objectid-legacy,xid,flake,locality,locality-sequential,uuid1,uuid1-swapped,uuid6,uuid7,ulid,timeflake,ksuid,
        time-random}'::text[]) scheme;
SELECT firn_show(snowflake(), 'snowflake') -> 'fields' ->> 'worker' AS worker, firn_show(instagram(5), 'instagram') -> 'fields' ->> 'shard' AS shard,
    firn_show(region(3), 'region') -> 'fields' ->> 'region' AS region;
SELECT typeid('user') ~ '^user_[0-9a-z]{26}$' AS typeid, time_member(12345) ~ '^[0-9]{17}12345[0-9]{3}$' AS member;
SELECT firn_new('typeid', 'prefix=order') ~ '^order_' AS prefixed, firn_new_bigint('snowflake', 'ns=x') > 0 AS named;
-- one generator for all prefixes
SELECT bool_and(id > before) AS rising FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
    FROM (SELECT n, right(typeid('p' || translate(n::text, '0123456789', 'abcdefghij')), 26) AS id FROM generate_series(1, 3000) n) m) t;
SELECT firn_new_bigint('time:41/ms@@2024-01-01 node:10 sequence:12', 'node=3') > 0 AS own_row;
SELECT firn_show(firn_new('uuid1', 'node=02:00:00:00:00:01 clock_seq=5'), 'uuid1') -> 'fields' ->> 'node' AS node;
SELECT count(*), count(DISTINCT id) FROM snowflakes(10000) id;
SELECT count(*), count(DISTINCT id) FROM uuid7s(10000) id;
SELECT count(*), count(DISTINCT id) FROM firn_new_n('ksuid', 1000) id;
SELECT count(*), count(DISTINCT id) FROM firn_new_n('snowflake', 1000, 'ns=x') id;
SELECT count(*) FROM snowflakes(0);
SELECT count(*) FROM snowflakes(-1);
SELECT count(*) FROM snowflakes(NULL);
SELECT refusal($$SELECT count(*) FROM snowflakes(9000000000000000000)$$);
SELECT refusal($$SELECT count(*) FROM firn_new_n('uuid7', 10000001)$$);
SELECT firn_new(NULL) IS NULL, instagram(NULL) IS NULL;
-- in order
SELECT bool_and(id > before) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
    FROM (SELECT n, snowflake() AS id FROM generate_series(1, 100000) n) made) pairs;
SELECT bool_and(id > before) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
    FROM (SELECT n, uuid7() AS id FROM generate_series(1, 100000) n) made) pairs;
-- column defaults
CREATE TABLE thing (id bigint PRIMARY KEY DEFAULT snowflake(), key uuid UNIQUE DEFAULT uuid7(), name text);
INSERT INTO thing (name) SELECT 'thing ' || n FROM generate_series(1, 10000) n;
SELECT count(DISTINCT id), count(DISTINCT key) FROM thing;
-- back-dated IDs: one node per statement
CREATE TABLE old (id bigint, at timestamptz);
INSERT INTO old (at) SELECT '2020-01-01'::timestamptz + (n / 10) * interval '1 ms' FROM generate_series(1, 20000) n;
UPDATE old SET id = firn_stamp('snowflake', at) WHERE at < '2020-01-01 00:00:01';
UPDATE old SET id = firn_stamp('snowflake', 'the rest', at) WHERE id IS NULL;
SELECT count(*), count(DISTINCT id), bool_and(firn_time(id, 'snowflake') = at) AS exact FROM old;
SELECT DISTINCT firn_show(id, 'snowflake') -> 'fields' ->> 'worker' AS worker FROM old ORDER BY 1;
-- a named job continues: no duplicate, one node for the job, and the same IDs for a batch that was rolled back
UPDATE old SET id = NULL;
UPDATE old SET id = firn_stamp('snowflake', at => at, job => 'in batches') WHERE at < '2020-01-01 00:00:00.5';
BEGIN;
UPDATE old SET id = firn_stamp('snowflake', at => at, job => 'in batches') WHERE id IS NULL AND at < '2020-01-01 00:00:01';
SELECT md5(string_agg(id::text, ' ' ORDER BY id)) AS first_run FROM old \gset
ROLLBACK;
UPDATE old SET id = firn_stamp('snowflake', at => at, job => 'in batches') WHERE id IS NULL AND at < '2020-01-01 00:00:01';
SELECT md5(string_agg(id::text, ' ' ORDER BY id)) = :'first_run' AS the_same_again FROM old;
INSERT INTO old SELECT firn_stamp('snowflake', at => at, job => 'in batches'), at FROM old WHERE id IS NULL;
DELETE FROM old WHERE id IS NULL;
SELECT count(*), count(DISTINCT id), bool_and(firn_time(id, 'snowflake') = at) AS exact,
    count(DISTINCT firn_show(id, 'snowflake') -> 'fields' ->> 'worker') AS workers FROM old;
SELECT count(DISTINCT firn_stamp_uuid('uuid7', at)) FROM old;
SELECT count(DISTINCT firn_stamp_text('ksuid', 'k', at)) FROM old;
SELECT count(DISTINCT firn_stamp('snowflake', 'by hand', at, 'node=55')) FROM old;
SELECT count(DISTINCT firn_stamp('snowflake', 'by parts', at, 'datacenter=1 worker=29')) FROM old;
SELECT count(DISTINCT firn_stamp('tsid', 'its field', at, 'node=61')) FROM old;
SELECT count(DISTINCT firn_stamp_uuid('uuid1', 'an address', at, 'node=02:00:00:00:00:02 clock_seq=6')) FROM old;
-- refusals
SELECT refusal($$SELECT firn_stamp('snowflake', 'the rest', now(), 'node=990')$$);
SELECT refusal($$SELECT firn_stamp('leaf', 'the rest', now(), 'ns=snowflake')$$);
SELECT refusal($$SELECT firn_stamp('snowflake', 'live', now(), 'node=7')$$);
SELECT refusal($$SELECT firn_new('snowflake', 'node=55')$$);
SELECT refusal($$SELECT firn_stamp('snowflake', 'infinity')$$);
SELECT refusal($$SELECT firn_stamp('uuid4', now())$$);
SELECT refusal($$SELECT count(firn_stamp('snowflake', n::text, now())) FROM generate_series(1, 3) n$$);
SELECT refusal($$SELECT count(firn_stamp('snowflake', 'crowd', '2020-01-01', 'node=56')) FROM generate_series(1, 5000000)$$);
SELECT refusal($$SELECT instagram(8192)$$);
SELECT refusal($$SELECT instagram(-1)$$);
SELECT refusal($$SELECT region(8)$$);
SELECT left(refusal($$SELECT baidu()$$), 5);
SELECT refusal($$SELECT typeid('user store=memory:')$$);
SELECT refusal($$SELECT firn_new('snowflake', 'worker=32')$$);
SELECT refusal($$SELECT firn_new('snowflake', 'worker=3')$$);
SELECT refusal($$SELECT firn_new('snowflake', 'store=memory:')$$);
SELECT refusal($$SELECT firn_new('uuid7', 'unsafe=1')$$);
SELECT refusal($$SELECT firn_new('snowflake', 'time=2020-01-01')$$);
SELECT refusal($$SELECT firn_new('leaf', 'ns=snowflake')$$);
SELECT refusal($$SELECT firn_new('xid', 'machine=1 pid=2')$$);
SELECT refusal($$SELECT firn_new('time-member')$$);
SELECT refusal($$SELECT firn_new('uuid5')$$);
SELECT refusal($$SELECT firn_new('order')$$);
SELECT refusal($$SELECT firn_new('snowflke')$$);
SELECT refusal($$SELECT firn_new('snowflake', 'worker')$$);
SELECT refusal($$SELECT firn_new_uuid('snowflake')$$);
SELECT refusal($$SELECT firn_new_bigint('uuid7')$$);
SELECT refusal($$SELECT firn_new_bigint('lable-sequential', 'node=1 epoch=1900-01-01')$$);
SELECT refusal($$SELECT firn_stamp('lable-sequential', '2040-01-01 00:00:00+00')$$);
SELECT refusal($$SELECT firn_min('tsid', '2090-01-01 00:00:00+00')$$);
SELECT firn_new_bigint('lable-sequential', 'node=1 unsigned=1 epoch=1900-01-01') < 0 AS negative, length(firn_new('lable-sequential', 'node=1 epoch=1900-01-01')) AS hex;
SELECT refusal($$SELECT typeid('Bad Prefix')$$);
SELECT refusal($$SELECT typeid('')$$);
SELECT refusal($$SELECT firn_new('uuid7', repeat('a=b ', 500))$$);
-- without a superuser's rights
CREATE ROLE plain;
SET ROLE plain;
SELECT snowflake() > 0 AS made;
SET firn.node = '9';
SET firn.store = 'memory:';
RESET ROLE;
DROP ROLE plain;
