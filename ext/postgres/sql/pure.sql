-- SPDX-License-Identifier: MIT
-- Functions of their arguments alone. Errors are shown with SQLSTATE and hint.
CREATE EXTENSION firn;
SET timezone = 'UTC';
\set VERBOSITY verbose
\set SHOW_CONTEXT never
-- what a statement ends with, without the place in the C source
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; hint text;
BEGIN
    EXECUTE statement;
    RETURN 'not refused';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ' ' || message || ' | ' || hint;
END $$;

-- reading
SELECT firn_time(1541815603606036480, 'snowflake');
SELECT jsonb_pretty(firn_show(1541815603606036480, 'snowflake'));
SELECT firn_show('01ARZ3NDEKTSV4RRFFQ69G5FAV') ->> 'time', firn_time('01ARZ3NDEKTSV4RRFFQ69G5FAV');
SELECT firn_show('507f1f77bcf86cd799439011', 'objectid') -> 'fields';
SELECT firn_time('C232AB00-9414-11EC-B3C8-9F6BDECED846'::uuid), firn_time('017F22E2-79B0-7CC3-98C4-DC0C0C07398F'::uuid);
SELECT firn_time('\x507f1f77bcf86cd799439011'::bytea, 'objectid');
SELECT firn_show('C232AB00-9414-11EC-B3C8-9F6BDECED846'::uuid) - 'candidates';
SELECT firn_show(NULL::uuid) IS NULL, firn_time(NULL, 'snowflake') IS NULL, firn_min('snowflake', NULL) IS NULL;
SELECT firn_time(-1, 'discord'), firn_time(9223372036854775807, 'snowflake');
-- a layout of less than 64 bits
SELECT id, firn_time(id, layout), firn_show(id, layout) -> 'fields' AS fields FROM (SELECT layout,
    firn_pack_bigint(layout, 'time=2024-01-01T00:00:01Z node=2 sequence=3') FROM (SELECT 'time:41/ms@@2024-01-01 node:10 sequence:12') l (layout)) t (layout, id);
SELECT refusal($$SELECT firn_time(-1, 'time:41/ms@@2024-01-01 node:10 sequence:12')$$);

-- packing
SELECT firn_pack('snowflake', 'time=2022-06-28T16:07:40.105Z datacenter=11 worker=26 sequence=0');
SELECT firn_pack_bigint('snowflake', 'time=2022-06-28T16:07:40.105Z datacenter=11 worker=26 sequence=0');
SELECT firn_pack_uuid('uuid1', 'time=2022-02-22T19:22:22Z clock_seq=0x33c8 node=9f:6b:de:ce:d8:46');
SELECT firn_pack('time:41/ms@@2024-01-01 node:10 sequence:12', 'tick=1 node=2 sequence=3');
SELECT encode(firn_pack_bytea('objectid', 'time=@1350508407 random=0xbcf86cd799 counter=4427793'), 'hex');

-- range: the lowest and the highest ID of the tick
SELECT firn_min('snowflake', '2022-06-28 16:07:40.105999+00'), firn_max('snowflake', '2022-06-28 16:07:40.105+00');
SELECT firn_max('snowflake', '2022-06-28 16:07:40.105+00') + 1 = firn_min('snowflake', '2022-06-28 16:07:40.106+00') AS adjacent;
SELECT firn_min('seata', '2024-01-01', 'worker=5'), firn_max('seata', '2024-01-01', 'worker=5');
SELECT firn_min_uuid('uuid7', '2024-01-01'), firn_max_uuid('uuid7', '2024-01-01');
SELECT firn_min_uuid('uuid6', '2024-01-01 00:00:00.123456'), firn_max_uuid('uuid6', '2024-01-01 00:00:00.123456');
SELECT firn_min_text('ksuid', '2024-01-01'), firn_max_text('objectid', '2024-01-01');

-- conversions
SELECT uuid1_to_uuid6('C232AB00-9414-11EC-B3C8-9F6BDECED846'), uuid6_to_uuid1('1EC9414C-232A-6B00-B3C8-9F6BDECED846');
SELECT uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db'), uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', true);
SELECT bin_to_uuid('\x6ccd780cbaba102695645b8c656024db'), bin_to_uuid('\x1026baba6ccd780c95645b8c656024db', true);
SELECT firn_convert('01ARZ3NDEKTSV4RRFFQ69G5FAV', 'uuid'), firn_convert('01563e3a-b5d3-d676-4c61-efb99302bd5b'::uuid, 'base32', 'ulid');
SELECT firn_convert(1541815603606036480, 'base62', 'snowflake');
SELECT firn_shard(1541815603606036480, 16), firn_shard('1541815603606036480'::text, 16), firn_shard('017F22E2-79B0-7CC3-98C4-DC0C0C07398F'::uuid, 16);

-- UUIDs of version 1 by hand, exact to the microsecond both ways
SELECT form_uuid_v1('2022-02-22 19:22:22+00', 13256, '9f:6b:de:ce:d8:46');
SELECT form_uuid_v1('1582-10-15', 0, '00:00:00:00:00:00'), form_uuid_v1('5236-03-31 21:21:00.684697', 16383, 'ff:ff:ff:ff:ff:ff');
SELECT count(*), bool_and(uuid_v1_timestamp(form_uuid_v1(at, 666, '44:88:99:36:57:32')) = at) AS exact
    FROM (SELECT '1600-01-01'::timestamptz + n * interval '12345678901 microseconds' FROM generate_series(0, 100000) n) t (at);

-- refusals
SELECT refusal($$SELECT form_uuid_v1('infinity', 1, '00:00:00:00:00:00')$$);
SELECT refusal($$SELECT form_uuid_v1('-infinity', 1, '00:00:00:00:00:00')$$);
SELECT refusal($$SELECT form_uuid_v1('1582-10-14 23:59:59.999999', 1, '00:00:00:00:00:00')$$);
SELECT refusal($$SELECT form_uuid_v1('5236-03-31 21:21:00.684698', 1, '00:00:00:00:00:00')$$);
SELECT refusal($$SELECT form_uuid_v1('2020-01-01', 16384, '00:00:00:00:00:00')$$);
SELECT refusal($$SELECT form_uuid_v1('2020-01-01', -1, '00:00:00:00:00:00')$$);
SELECT refusal($$SELECT uuid_v1_timestamp('017F22E2-79B0-7CC3-98C4-DC0C0C07398F')$$);
SELECT refusal($$SELECT uuid1_to_uuid6('017F22E2-79B0-7CC3-98C4-DC0C0C07398F')$$);
SELECT refusal($$SELECT firn_min('snowflake', 'infinity')$$);
SELECT refusal($$SELECT firn_min('snowflake', '2000-01-01')$$);
SELECT refusal($$SELECT firn_max('snowflake', '2090-01-01')$$);
SELECT refusal($$SELECT firn_min('seata', '2024-01-01')$$);
SELECT refusal($$SELECT firn_min('lable-spread', '2024-01-01')$$);
SELECT refusal($$SELECT firn_min('uuid7', '2024-01-01')$$);
SELECT refusal($$SELECT firn_min_uuid('snowflake', '2024-01-01')$$);
SELECT refusal($$SELECT firn_min('snowflak', '2024-01-01')$$);
SELECT refusal($$SELECT firn_pack('snowflake', 'time=2022-06-28T16:07:40Z datacenter=32 worker=26 sequence=0')$$);
SELECT refusal($$SELECT firn_pack('snowflake', 'time=2022-06-28T16:07:40Z')$$);
SELECT refusal($$SELECT firn_pack('snowflake', 'nonsense')$$);
SELECT refusal($$SELECT firn_pack('snowflake', repeat('a', 2000))$$);
SELECT refusal($$SELECT firn_time(-1, 'snowflake')$$);
SELECT refusal($$SELECT firn_convert('507119778886617994390110', 'base62')$$);
SELECT refusal($$SELECT firn_convert('11d78bd030ce40f397a99bbc44406500', 'uuid6')$$);
SELECT refusal($$SELECT firn_time('01ARZ3NDEKTSV4RRFFQ69G5FA', 'ulid')$$);
SELECT firn_show(12) ->> 'remark';
SELECT refusal($$SELECT firn_time('no ID at all')$$);
SELECT refusal($$SELECT firn_time(repeat('1', 5000))$$);
SELECT refusal($$SELECT firn_time('x' || repeat(chr(233), 60))$$);
SELECT refusal($$SELECT firn_time(gen_random_uuid(), 'uuid4')$$);
SELECT refusal($$SELECT firn_time('ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, 'flake')$$);
SELECT refusal($$SELECT firn_show('\x00'::bytea, 'objectid')$$);
SELECT refusal($$SELECT firn_show('\x00'::bytea, 'time:1 node:1/a')$$);
SELECT refusal($$SELECT bin_to_uuid('\x00')$$);
SELECT refusal($$SELECT firn_shard(1::bigint, 0)$$);
SELECT refusal($$SELECT firn_shard(1::bigint, -5)$$);
SELECT refusal($$SELECT firn_shard('507119778886617994390110', 16)$$);
SELECT refusal($$SELECT firn_convert('1541815603606036480', 'nonsense')$$);

-- fit for generated columns and indexes
CREATE TABLE event (
    id bigint PRIMARY KEY,
    at timestamptz GENERATED ALWAYS AS (firn_time(id, 'snowflake')) STORED,
    shard integer GENERATED ALWAYS AS (firn_shard(id, 8)) STORED);
CREATE INDEX ON event (firn_time(id, 'snowflake'));
INSERT INTO event SELECT firn_pack_bigint('snowflake', 'tick=' || 100000 * n || ' datacenter=1 worker=1 sequence=0')
    FROM generate_series(1, 20000) n;
SELECT at, shard FROM event ORDER BY id LIMIT 2;
ANALYZE event;
EXPLAIN (COSTS OFF) SELECT * FROM event
    WHERE id BETWEEN firn_min('snowflake', '2010-11-10') AND firn_max('snowflake', '2010-11-11');
SELECT count(*) = (SELECT count(*) FROM event WHERE at BETWEEN '2010-11-10' AND '2010-11-11') AS same
    FROM event WHERE id BETWEEN firn_min('snowflake', '2010-11-10') AND firn_max('snowflake', '2010-11-11');
SELECT firn_version();

-- every function says what it is
SELECT provolatile, proisstrict, proparallel, count(*) FROM pg_proc p
    JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid
    WHERE e.extname = 'firn' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
