-- SPDX-License-Identifier: MIT
-- The other functions that the bench compares.
CREATE EXTENSION IF NOT EXISTS firn;
CREATE SEQUENCE IF NOT EXISTS bench_sequence;
-- the PL/pgSQL function that people used before
CREATE SCHEMA plain;
CREATE FUNCTION plain.form_uuid_v1(ts timestamptz, clock_seq integer, mac macaddr) RETURNS uuid AS $$
DECLARE
t BIT(60) := (extract(EPOCH FROM ts) * 10000000 + 122192928000000000) :: BIGINT :: BIT(60);
uuid_hi BIT(64) := substring(t FROM 29 FOR 32) || substring(t FROM 13 FOR 16) || b'0001' || substring(t FROM 1 FOR 12);
BEGIN
RETURN lpad(to_hex(uuid_hi :: BIGINT) :: TEXT, 16, '0') || (to_hex((b'10' || clock_seq :: BIT(14)) :: BIT(16) :: INTEGER)) :: TEXT || replace(mac :: TEXT, ':', '');
END $$ LANGUAGE plpgsql;
-- end
