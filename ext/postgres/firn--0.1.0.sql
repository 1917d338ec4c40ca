-- SPDX-License-Identifier: MIT
-- firn: distributed unique IDs in SQL. What each function does: docs/guides/postgres.md.
\echo Use "CREATE EXTENSION firn" to load this file. \quit

-- ---- making IDs -----------------------------------------------------------------------------

CREATE FUNCTION snowflake() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_snowflake' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION leaf() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_leaf' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION seata() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_seata' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION region() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_region' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION simpleflake() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_simpleflake' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION baidu() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_baidu' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION lable() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_lable' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION lable_spread() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_lable_spread' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION sonyflake() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_sonyflake' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION discord() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_discord' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION tsid() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_tsid' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION js53() RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_js53' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION region(region integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_region_of' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION instagram(shard integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_instagram' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION flake() RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_flake' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION locality() RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_locality' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION locality_sequential() RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_locality_sequential' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid1() RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_uuid1' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid1_swapped() RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_uuid1_swapped' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid4() RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_uuid4' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid6() RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_uuid6' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid7() RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_uuid7' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION ulid() RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_ulid' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION objectid() RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_objectid' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION objectid_legacy() RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_objectid_legacy' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION xid() RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_xid' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION ksuid() RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_ksuid' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION time_random() RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_time_random' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION time_member(member bigint) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_time_member' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION typeid(prefix text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_typeid' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_new(scheme text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_new_text' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_new(scheme text, options text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_new_text' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_new_bigint(scheme text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_new_int' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_new_bigint(scheme text, options text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_new_int' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_new_uuid(scheme text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_new_uuid' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_new_uuid(scheme text, options text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_new_uuid' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_new_bytea(scheme text) RETURNS bytea
    AS 'MODULE_PATHNAME', 'firn_sql_new_bytes' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_new_bytea(scheme text, options text) RETURNS bytea
    AS 'MODULE_PATHNAME', 'firn_sql_new_bytes' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

-- Many at once. PostgreSQL writes all of them to temporary files before the first is read, so their number has a bound.

CREATE FUNCTION firn_check_count(n bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_check_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_new_n(scheme text, n bigint) RETURNS SETOF text LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.firn_new(scheme) FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION firn_new_n(scheme text, n bigint, options text) RETURNS SETOF text LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.firn_new(scheme, options) FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION snowflakes(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.snowflake() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION leafs(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.leaf() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION seatas(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.seata() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION regions(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.region() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION simpleflakes(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.simpleflake() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION baidus(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.baidu() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION lables(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.lable() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION lable_spreads(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.lable_spread() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION sonyflakes(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.sonyflake() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION discords(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.discord() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION tsids(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.tsid() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION js53s(n bigint) RETURNS SETOF bigint LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.js53() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION flakes(n bigint) RETURNS SETOF uuid LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.flake() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION localitys(n bigint) RETURNS SETOF uuid LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.locality() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION locality_sequentials(n bigint) RETURNS SETOF uuid LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.locality_sequential() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION uuid1s(n bigint) RETURNS SETOF uuid LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.uuid1() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION uuid1_swappeds(n bigint) RETURNS SETOF uuid LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.uuid1_swapped() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION uuid4s(n bigint) RETURNS SETOF uuid LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.uuid4() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION uuid6s(n bigint) RETURNS SETOF uuid LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.uuid6() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION uuid7s(n bigint) RETURNS SETOF uuid LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.uuid7() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION ulids(n bigint) RETURNS SETOF uuid LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.ulid() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION objectids(n bigint) RETURNS SETOF text LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.objectid() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION objectid_legacys(n bigint) RETURNS SETOF text LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.objectid_legacy() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION xids(n bigint) RETURNS SETOF text LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.xid() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION ksuids(n bigint) RETURNS SETOF text LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.ksuid() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';
CREATE FUNCTION time_randoms(n bigint) RETURNS SETOF text LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
    AS 'SELECT @extschema@.time_random() FROM pg_catalog.generate_series(1::bigint, @extschema@.firn_check_count(n))';

-- How many IDs each job with a name has given in each tick: written by the transaction that writes the rows, with the
-- rights of the table's owner.

CREATE TABLE firn_job (
    ns text COLLATE "C" NOT NULL,
    job text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    counts bytea NOT NULL,
    PRIMARY KEY (ns, job, chunk));
REVOKE ALL ON firn_job FROM PUBLIC;

-- Old rows: (scheme, time), (scheme, job, time), (scheme, job, time, options).

CREATE FUNCTION firn_stamp(scheme text, at timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_stamp_int' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
CREATE FUNCTION firn_stamp(scheme text, job text, at timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_stamp_int' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION firn_stamp(scheme text, job text, at timestamptz, options text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_stamp_int' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION firn_stamp_uuid(scheme text, at timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_stamp_uuid' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
CREATE FUNCTION firn_stamp_uuid(scheme text, job text, at timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_stamp_uuid' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION firn_stamp_uuid(scheme text, job text, at timestamptz, options text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_stamp_uuid' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION firn_stamp_text(scheme text, at timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_stamp_text' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
CREATE FUNCTION firn_stamp_text(scheme text, job text, at timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_stamp_text' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
CREATE FUNCTION firn_stamp_text(scheme text, job text, at timestamptz, options text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_stamp_text' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

-- After a promotion or a restore: what the range of nodes had for old rows is all in firn.mark.

CREATE FUNCTION firn_confirm_history() RETURNS void
    AS 'MODULE_PATHNAME', 'firn_sql_confirm_history' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
CREATE FUNCTION firn_confirm_history(nodes text) RETURNS void
    AS 'MODULE_PATHNAME', 'firn_sql_confirm_history' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

-- Around a planned switchover.

CREATE FUNCTION firn_hand_over() RETURNS void
    AS 'MODULE_PATHNAME', 'firn_sql_hand_over' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
CREATE FUNCTION firn_take_back() RETURNS void
    AS 'MODULE_PATHNAME', 'firn_sql_take_back' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

-- Not for everybody: whoever chooses a node or a namespace may repeat another server's IDs and use up what the server
-- has of both, and old rows take nodes for good. GRANT EXECUTE to the roles that shall.

REVOKE EXECUTE ON FUNCTION
    region(integer), instagram(integer), time_member(bigint),
    firn_new(text, text), firn_new_bigint(text, text), firn_new_uuid(text, text), firn_new_bytea(text, text),
    firn_new_n(text, bigint, text),
    firn_stamp(text, timestamptz), firn_stamp(text, text, timestamptz), firn_stamp(text, text, timestamptz, text),
    firn_stamp_uuid(text, timestamptz), firn_stamp_uuid(text, text, timestamptz),
    firn_stamp_uuid(text, text, timestamptz, text),
    firn_stamp_text(text, timestamptz), firn_stamp_text(text, text, timestamptz),
    firn_stamp_text(text, text, timestamptz, text),
    firn_confirm_history(), firn_confirm_history(text), firn_hand_over(), firn_take_back()
    FROM PUBLIC;

-- ---- reading them: pure ---------------------------------------------------------------------

CREATE FUNCTION firn_show(id bigint) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'firn_sql_show_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_show(id bigint, scheme text) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'firn_sql_show_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_show(id uuid) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'firn_sql_show_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_show(id uuid, scheme text) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'firn_sql_show_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_show(id text) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'firn_sql_show_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_show(id text, scheme text) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'firn_sql_show_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_show(id bytea, scheme text) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'firn_sql_show_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_time(id bigint, scheme text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'firn_sql_time_of_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_time(id uuid, scheme text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'firn_sql_time_of_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_time(id text, scheme text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'firn_sql_time_of_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_time(id bytea, scheme text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'firn_sql_time_of_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_time(id uuid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'firn_sql_time_of_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_time(id text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'firn_sql_time_of_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_pack(scheme text, fields text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_pack_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_pack_bigint(scheme text, fields text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_pack_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_pack_uuid(scheme text, fields text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_pack_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_pack_bytea(scheme text, fields text) RETURNS bytea
    AS 'MODULE_PATHNAME', 'firn_sql_pack_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_min(scheme text, at timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_least_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_min(scheme text, at timestamptz, fields text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_least_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_min_uuid(scheme text, at timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_least_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_min_uuid(scheme text, at timestamptz, fields text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_least_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_min_text(scheme text, at timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_least_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_min_text(scheme text, at timestamptz, fields text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_least_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_max(scheme text, at timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_greatest_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_max(scheme text, at timestamptz, fields text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'firn_sql_greatest_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_max_uuid(scheme text, at timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_greatest_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_max_uuid(scheme text, at timestamptz, fields text) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_greatest_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_max_text(scheme text, at timestamptz) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_greatest_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_max_text(scheme text, at timestamptz, fields text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_greatest_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_convert(id bigint, "to" text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_convert_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_convert(id bigint, "to" text, "from" text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_convert_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_convert(id uuid, "to" text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_convert_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_convert(id uuid, "to" text, "from" text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_convert_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_convert(id text, "to" text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_convert_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_convert(id text, "to" text, "from" text) RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_convert_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_shard(id bigint, shards integer) RETURNS integer
    AS 'MODULE_PATHNAME', 'firn_sql_shard_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_shard(id uuid, shards integer) RETURNS integer
    AS 'MODULE_PATHNAME', 'firn_sql_shard_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_shard(id text, shards integer) RETURNS integer
    AS 'MODULE_PATHNAME', 'firn_sql_shard_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION form_uuid_v1(ts timestamptz, clock_seq integer, mac macaddr) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_form_uuid_v1' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_v1_timestamp(id uuid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'firn_sql_uuid_v1_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid1_to_uuid6(id uuid) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_uuid1_to_uuid6' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid6_to_uuid1(id uuid) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_uuid6_to_uuid1' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_to_bin(id uuid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'firn_sql_uuid_to_bin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_to_bin(id uuid, swap boolean) RETURNS bytea
    AS 'MODULE_PATHNAME', 'firn_sql_uuid_to_bin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bin_to_uuid(id bytea) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_bin_to_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bin_to_uuid(id bytea, swap boolean) RETURNS uuid
    AS 'MODULE_PATHNAME', 'firn_sql_bin_to_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION firn_version() RETURNS text
    AS 'MODULE_PATHNAME', 'firn_sql_version' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
