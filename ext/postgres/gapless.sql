-- SPDX-License-Identifier: MIT
-- Series without gaps: firn_next_in('invoices-2026') takes the next number in the caller's transaction, so a rollback gives
-- it back. Plain SQL, for PostgreSQL 15 and newer; needs neither the extension nor a superuser. docs/guides/gapless.md
--     psql -d shop -v ON_ERROR_STOP=1 -f gapless.sql

BEGIN;

-- The functions go into the first schema of your search_path, at the end. Until then the path is PostgreSQL's own: a role
-- that may create in yours could have added an operator that fits an expression of this file better, and runs with your rights.
DO $$ BEGIN
    IF pg_catalog.current_schema() IS NULL THEN
        RAISE 'firn: no schema of the search_path exists' USING ERRCODE = '3F000', HINT = 'SET search_path = public, or another.';
    END IF;
    PERFORM pg_catalog.set_config('firn_gapless.target', pg_catalog.current_schema()::pg_catalog.text, true);
END $$;
SET LOCAL search_path = pg_catalog, pg_temp;

-- Everything belongs to firn_owner, a role that only owns things; or to you, if you are not a superuser. A schema that is
-- there already may be anybody's, so this fails then.
DO $$
DECLARE
    super boolean := (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user);
BEGIN
    IF super AND pg_catalog.to_regrole('firn_owner') IS NULL THEN
        CREATE ROLE firn_owner NOLOGIN;
    END IF;
    IF super AND EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE rolname = 'firn_owner' AND (rolcanlogin OR rolsuper OR rolcreaterole
        OR EXISTS (SELECT FROM pg_catalog.pg_auth_members m WHERE r.oid IN (m.roleid, m.member)))) THEN
        RAISE 'firn: the role firn_owner may log in, has members, is a member, or may do more than own tables'
            USING HINT = 'ALTER ROLE firn_owner NOLOGIN NOSUPERUSER NOCREATEROLE, and REVOKE it from its members.';
    END IF;
    EXECUTE pg_catalog.format('CREATE SCHEMA firn_gapless AUTHORIZATION %I', CASE WHEN super THEN 'firn_owner' ELSE current_user END);
    EXECUTE pg_catalog.format('SET LOCAL ROLE %I', CASE WHEN super THEN 'firn_owner' ELSE current_user END);
END $$;

-- ---- tables -------------------------------------------------------------------------------------

-- `hash` is the hash of the last number; NULL: the series has no chain.
CREATE TABLE firn_gapless.series (
    name text COLLATE "C" PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,62}$'),
    last bigint NOT NULL CHECK (last >= 0),
    at timestamptz NOT NULL,
    hash text COLLATE "C") WITH (fillfactor = 50);
CREATE TABLE firn_gapless.entry (
    series text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    at timestamptz NOT NULL,
    payload text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    PRIMARY KEY (series, number));
COMMENT ON TABLE firn_gapless.series IS 'firn: the last number of each series; firn_next_in() alone writes it';
COMMENT ON TABLE firn_gapless.entry IS 'firn: the chain of each series that has one; firn_next_in() alone writes it';

-- Roles that may write every table can make mistakes: a series goes one step at a time, and an entry stays.
CREATE FUNCTION firn_gapless.keep() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_LEVEL = 'ROW' AND TG_OP = 'UPDATE' AND TG_TABLE_NAME = 'series' THEN
        IF NEW.name = OLD.name AND NEW.last = OLD.last + 1 AND NEW.at >= OLD.at
            AND (NEW.hash IS NULL) = (OLD.hash IS NULL) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE 'firn: a row of firn_gapless.% stays unchanged, or the series repeats a number or has a gap', TG_TABLE_NAME
        USING ERRCODE = '55000', HINT = 'Numbers are taken by firn_next_in() alone.';
END $$;
CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON firn_gapless.series FOR EACH ROW EXECUTE FUNCTION firn_gapless.keep();
CREATE TRIGGER keep_all BEFORE TRUNCATE ON firn_gapless.series EXECUTE FUNCTION firn_gapless.keep();
CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON firn_gapless.entry FOR EACH ROW EXECUTE FUNCTION firn_gapless.keep();
CREATE TRIGGER keep_all BEFORE TRUNCATE ON firn_gapless.entry EXECUTE FUNCTION firn_gapless.keep();

RESET ROLE;

-- ---- functions ----------------------------------------------------------------------------------

-- A line of the chain without its hash: the hash is the SHA-256 of "SERIES NUMBER TIME PAYLOAD PREVIOUS".
CREATE FUNCTION firn_gapless.line(series text, number bigint, at timestamptz, payload text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
RETURN concat_ws(' ', series, number, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), payload);

-- Who holds the row of a series: a session, or a prepared transaction that nobody has ended. A holder that waited for the row
-- itself wrote it in a subtransaction, whose number does not lead to the session: then this is the oldest writer of any series.
CREATE FUNCTION firn_gapless.holder(name text) RETURNS text
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
RETURN (SELECT CASE WHEN x.transactionid = s.xmax THEN '' ELSE 'a transaction, perhaps ' END || coalesce(
        'the prepared transaction ' || quote_literal(p.gid) || ' of ' || p.owner || ' since '
            || to_char(p.prepared AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"')
            || ': end it with COMMIT PREPARED or ROLLBACK PREPARED',
        'process ' || r.pid || ' of ' || a.usename || coalesce(' (' || nullif(a.application_name, '') || ')', '')
            || ': its transaction must end')
    FROM firn_gapless.series s
    JOIN pg_locks r ON r.relation = 'firn_gapless.series'::regclass AND r.mode = 'RowExclusiveLock' AND r.granted
        AND r.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    JOIN pg_locks x ON x.locktype = 'transactionid' AND x.granted AND x.virtualtransaction = r.virtualtransaction
    LEFT JOIN pg_prepared_xacts p ON r.pid IS NULL AND p.transaction = x.transactionid
    LEFT JOIN pg_stat_activity a ON a.pid = r.pid
    WHERE s.name = $1 AND r.pid IS DISTINCT FROM pg_backend_pid() AND coalesce(p.transaction::text, a.pid::text) IS NOT NULL
    ORDER BY x.transactionid = s.xmax DESC, age(x.transactionid) DESC LIMIT 1);

-- The row stays locked until the caller's transaction ends, so numbers are in the order of the commits. The time is read
-- with the lock, and is never before the time of the number before. NULL: another transaction holds the row, or no row has this name.
CREATE FUNCTION firn_gapless.take(series text, digest text, waits boolean) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own firn_gapless.series;
BEGIN
    IF waits THEN
        SELECT * INTO own FROM firn_gapless.series s WHERE s.name = take.series FOR NO KEY UPDATE;
    ELSE
        SELECT * INTO own FROM firn_gapless.series s WHERE s.name = take.series FOR NO KEY UPDATE SKIP LOCKED;
    END IF;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    own.last := own.last + 1;
    own.at := greatest(clock_timestamp(), own.at);
    IF own.hash IS NOT NULL THEN
        own.hash := encode(sha256(convert_to(firn_gapless.line(series, own.last, own.at, digest) || ' ' || own.hash, 'UTF8')), 'hex');
        INSERT INTO firn_gapless.entry VALUES (series, own.last, own.at, digest, own.hash);
    ELSIF digest <> '-' THEN
        RAISE 'firn: series % has no chain, which a payload is for', series
            USING ERRCODE = '22023', HINT = 'Leave the payload out, or create the series with chain => true.';
    END IF;
    UPDATE firn_gapless.series s SET last = own.last, at = own.at, hash = own.hash WHERE s.name = take.series;
    RETURN own.last;
END $$;

-- Waits, 10 s if the session has no lock_timeout. Only this path has a subtransaction.
CREATE FUNCTION firn_gapless.await(series text, digest text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    number bigint;
    patience text := current_setting('lock_timeout');
BEGIN
    IF patience = '0' THEN
        PERFORM set_config('lock_timeout', '10s', true);
    END IF;
    number := firn_gapless.take(series, digest, true);
    PERFORM set_config('lock_timeout', patience, true);
    IF number IS NULL THEN
        RAISE 'firn: there is no series %', quote_literal(series)
            USING ERRCODE = '42704', HINT = format('SELECT firn_create_series(%L), once, or correct the name.', series);
    END IF;
    RETURN number;
EXCEPTION WHEN lock_not_available THEN
    RAISE 'firn: series % is locked by %', series, coalesce(firn_gapless.holder(series), 'a transaction that has just ended: try again')
        USING ERRCODE = '55P03', HINT = 'A series serialises its writers: keep their transactions short, or raise lock_timeout.';
END $$;

CREATE FUNCTION firn_gapless.firn_next_in(series text, payload text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    digest text := coalesce(encode(sha256(convert_to(payload, 'UTF8')), 'hex'), '-');
BEGIN
    RETURN coalesce(firn_gapless.take(series, digest, false), firn_gapless.await(series, digest));
END $$;

-- `last`: the last number that another program has issued.
CREATE FUNCTION firn_gapless.firn_create_series(series text, chain boolean DEFAULT false, last bigint DEFAULT 0) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO firn_gapless.series VALUES (series, last, clock_timestamp(), CASE WHEN chain THEN repeat('0', 64) END);
END;

-- The lines that `firn verify` reads: SERIES NUMBER TIME PAYLOAD HASH.
CREATE FUNCTION firn_gapless.firn_chain(series text, after bigint DEFAULT 0) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT firn_gapless.line(e.series, e.number, e.at, e.payload) || ' ' || e.hash FROM firn_gapless.entry e
     WHERE e.series = firn_chain.series AND e.number > after ORDER BY e.number;
END;

-- ---- rights -------------------------------------------------------------------------------------

-- Nobody but the owner has a right yet: not everybody, and no role that default privileges name.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER FUNCTION %s OWNER TO %I', p.oid::regprocedure, pg_get_userbyid(n.nspowner))
          FROM pg_proc p JOIN pg_namespace n ON p.pronamespace = n.oid
         WHERE n.nspname = 'firn_gapless'
    LOOP EXECUTE statement; END LOOP;
    FOR statement IN
        SELECT format('REVOKE ALL ON %s FROM %s', o.object, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
          FROM pg_namespace n, LATERAL (
            SELECT 'SCHEMA firn_gapless', n.nspacl, n.nspowner UNION ALL
            SELECT 'TABLE ' || c.oid::regclass, c.relacl, c.relowner FROM pg_class c
             WHERE c.relkind = 'r' AND c.relnamespace = n.oid UNION ALL
            SELECT 'FUNCTION ' || p.oid::regprocedure, coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner
              FROM pg_proc p WHERE p.pronamespace = n.oid
          ) o (object, acl, owner), aclexplode(o.acl) a
         WHERE n.nspname = 'firn_gapless' AND a.grantee <> o.owner
    LOOP EXECUTE statement; END LOOP;
    FOR statement IN
        SELECT format('ALTER FUNCTION %s SET SCHEMA %I', p.oid::regprocedure, current_setting('firn_gapless.target'))
          FROM pg_proc p JOIN pg_namespace n ON p.pronamespace = n.oid
         WHERE n.nspname = 'firn_gapless' AND p.proname LIKE 'firn\_%'
    LOOP EXECUTE statement; END LOOP;
END $$;

COMMIT;
