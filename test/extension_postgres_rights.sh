# SPDX-License-Identifier: MIT
# The tables that the PostgreSQL extension writes with the rights of a superuser: no role becomes a superuser through
# them or causes duplicates, with any grants and default privileges.
# shellcheck disable=SC2016 # dollars quote SQL, for the server
. test/postgres.tap
private_test "the extension's tables are its own"

# ask STATEMENT...: one session; the answer, and an error as "SQLSTATE: message".
ask() {
    printf '%s;\n' "$@" | psql -XqAt -v VERBOSITY=verbose -v SHOW_CONTEXT=never -h 127.0.0.1 -p "$port" -U firn \
        "${database:-postgres}" 2>&1 | sed -n -e '/^LOCATION:/d' -e p
}
# refused SENTENCE SQLSTATE WORDS CURE STATEMENT...
refused() {
    sentence=$1 state=$2 words=$3 cure=$4
    shift 4
    said=$(ask "$@")
    case $said in
    *"$state: "*"$words"*HINT:*"$cure"*) pass "$sentence" ;;
    *) fail "$sentence" "$said" ;;
    esac
}
supers() {
    ask "SELECT string_agg(rolname, ' ' ORDER BY rolname) FROM pg_roles WHERE rolsuper"
}

check "a server starts with firn preloaded" test/engine start postgres "$place" -c shared_preload_libraries=firn \
    -c firn.max_wait=60s -c firn.node=7 -c firn.history=900-999 -c firn.max_nodes=500 -c wal_level=logical
port=$(cat "$place/port")
stamp="SELECT firn_stamp('snowflake', 'attacked', '2020-01-01')"

# ---- default privileges --------------------------------------------------------------------------------------------

# The advice of many guides, before the extension and its marks exist.
ask 'CREATE ROLE mig LOGIN' 'ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO mig' \
    'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO mig WITH GRANT OPTION' \
    'ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO mig WITH GRANT OPTION' \
    'ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON ROUTINES TO mig' \
    'ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO mig' 'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC' \
    'GRANT ALL ON SCHEMA public TO mig' 'CREATE EXTENSION firn' 'SELECT count(snowflake())' \
    'CREATE TABLE landed (n int)' >/dev/null
same "default privileges reach no table that firn writes" "" "$(ask "SELECT relname, grantee::regrole FROM pg_class,
    aclexplode(relacl) WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'firn%')
    AND grantee <> relowner")"
same "nor the schemas of these tables" "" "$(ask "SELECT nspname, grantee::regrole FROM pg_namespace, aclexplode(nspacl)
    WHERE nspname LIKE 'firn%' AND grantee <> nspowner")"
same "nor the functions that not everybody may call" "" "$(ask "SELECT p.oid::regprocedure, a.grantee::regrole FROM pg_proc p,
    aclexplode(proacl) a WHERE a.grantee <> proowner AND (proname LIKE 'firn%' OR pronamespace::regnamespace::text LIKE 'firn%')
    AND NOT EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0)")"
same "so nobody else hands the server over" "ERROR:  42501: permission denied for function firn_hand_over" \
    "$(ask 'SET ROLE mig' 'SELECT firn_hand_over()')"
same "a function of the script that revokes them is gone" 0 "$(ask "SELECT count(*) FROM pg_proc WHERE proname = 'revoke'")"
same "tables of a role that is called firn are not among the marks" public \
    "$(ask "SELECT relnamespace::regnamespace FROM pg_class WHERE relname = 'landed'")"

evil='CREATE OR REPLACE FUNCTION pg_temp.evil() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN ALTER ROLE mig SUPERUSER; RETURN NEW; END$$'
ask 'GRANT EXECUTE ON FUNCTION firn_stamp(text, text, timestamptz) TO mig' \
    'CREATE TABLE public.o (id bigint, c timestamptz DEFAULT now())' 'INSERT INTO public.o DEFAULT VALUES' \
    'GRANT ALL ON ALL TABLES IN SCHEMA public TO mig' >/dev/null
for table in firn_job public.firn_job firn_jobs.job firn_marks.mark; do
    ask 'SET ROLE mig' "$evil" "CREATE TRIGGER evil BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION pg_temp.evil()" \
        "UPDATE public.o SET id = firn_stamp('snowflake', at => c, job => 'x')" 'SELECT count(leaf())' >/dev/null
done
same "so a role's trigger on its table of jobs does not make it a superuser" firn "$(supers)"
same "and the role stamps rows" 1 "$(ask 'SET ROLE mig' "UPDATE public.o SET id = firn_stamp('snowflake', at => c, job => 'x')" \
    'SELECT count(id) FROM public.o')"

# ---- rows of jobs ----------------------------------------------------------------------------------------------------

# job NAME STATEMENT...: 5 rows of a job; the statements, as a role that may write everything; 5 more. All IDs differ.
ask 'CREATE ROLE writer' 'GRANT pg_write_all_data, pg_read_all_data TO writer' 'CREATE TABLE public.kept (id bigint)' >/dev/null
job() {
    name=$1
    shift
    five="INSERT INTO public.kept SELECT firn_stamp('snowflake', '$name', '2024-01-01') FROM generate_series(1, 5)"
    ask "$five" >/dev/null
    said=$(ask "$@")
    after=$(ask "$five")
    same "no ID of a job comes twice after: $*" "" "$(ask 'SELECT id FROM public.kept GROUP BY id HAVING count(*) > 1')"
}
for statement in 'DELETE FROM firn_jobs.job' "UPDATE firn_jobs.job SET counts = ''" \
    "INSERT INTO firn_jobs.job VALUES ('snowflake', 'new', 0, '')"; do
    job "written ${statement%% *}" 'SET ROLE writer' "$statement"
    case $said in
    *"55000: firn: firn_jobs.job counts the IDs"*HINT:*TRUNCATE*) pass "because it is refused" ;;
    *) fail "because it is refused" "$said" ;;
    esac
done
job truncated 'TRUNCATE firn_jobs.job'
job disabled 'ALTER TABLE firn_jobs.job DISABLE TRIGGER ALL' 'DELETE FROM firn_jobs.job'
check "a table without its trigger is refused" [ "${after#*55000: firn: the trigger firn_keep*ENABLE ALWAYS}" != "$after" ]
ask 'ALTER TABLE firn_jobs.job ENABLE ALWAYS TRIGGER firn_keep' >/dev/null
job enabled 'ALTER TABLE firn_jobs.job DISABLE TRIGGER ALL' 'DELETE FROM firn_jobs.job' \
    'ALTER TABLE firn_jobs.job ENABLE ALWAYS TRIGGER firn_keep'
check "a job is not continued when its rows were in danger for a while" [ "${after#*42710:*was lost}" != "$after" ]
job replicated 'SET session_replication_role = replica' 'DELETE FROM firn_jobs.job' \
    "INSERT INTO firn_jobs.job VALUES ('snowflake', 'sent', 0, '')"
same "what replication sends is left out" "|0" "$said|$(ask "SELECT count(*) FROM firn_jobs.job WHERE job = 'sent'")"

# ---- rows of marks ---------------------------------------------------------------------------------------------------

# The rows, without those that the renewer has written since.
marks() {
    ask "SELECT ns, node, high FROM firn_marks.mark WHERE ns = 'untouched'" 'SELECT * FROM firn_marks.server' \
        'SELECT * FROM firn_marks.handover' 'SELECT * FROM firn_marks.history ORDER BY confirmed'
}
# unwritten TABLE COLUMN ROW: nobody writes the rows of a table, with any rights.
unwritten() {
    for statement in "INSERT INTO firn_marks.$1 VALUES ($3)" "INSERT INTO firn_marks.$1 TABLE firn_marks.$1 ON CONFLICT DO NOTHING" \
        "UPDATE firn_marks.$1 SET $2 = 1" "DELETE FROM firn_marks.$1" \
        "MERGE INTO firn_marks.$1 USING (SELECT 1) s ON true WHEN MATCHED THEN UPDATE SET $2 = 1" \
        "COPY firn_marks.$1 FROM PROGRAM 'psql -XqAt -h 127.0.0.1 -p $port -U firn postgres -c \"COPY firn_marks.$1 TO STDOUT\"'"; do
        same "refused: ${statement%% FROM PROGRAM*}" 3 "$({
            ask 'SET ROLE writer' "$statement"
            ask "$statement"
            ask 'SET session_replication_role = replica' "$statement"
        } | grep -c "55000: firn_marks.$1 holds")"
    done
}
ask 'GRANT pg_execute_server_program TO writer' "SELECT firn_new_bigint('snowflake', 'ns=untouched')" >/dev/null
before=$(marks)
unwritten mark high "'untouched', 8, '', 0, NULL, 1, 1, now(), '', NULL"
unwritten history high "1, 1, 0, 1, now(), ''"
unwritten server timeline "true, 1, 1, '', now(), 1, now()"
refused "nobody says that the server handed its nodes over" 55000 "firn_marks.handover holds" "drop schema" 'SET ROLE writer' \
    "INSERT INTO firn_marks.handover SELECT system, timeline, marks, now() FROM firn_marks.server"
same "and all rows are as before" "$before" "$(marks)"
# A publication FOR ALL TABLES of another server, whose rows come by COPY first and one by one then.
sent() {
    [ "$(ask "SELECT count(*) FROM public.sentinel")" = "$1" ]
}
ask 'CREATE TABLE public.sentinel (n int PRIMARY KEY)' 'CREATE DATABASE publisher' >/dev/null
database=publisher
ask 'CREATE TABLE public.sentinel (n int PRIMARY KEY)' 'CREATE SCHEMA firn_marks' "CREATE TABLE firn_marks.mark (ns text, node bigint,
    layout text, high bigint, job text, system bigint, timeline integer, changed timestamptz, marks text, counts text, PRIMARY KEY (ns, node))" \
    "INSERT INTO firn_marks.mark VALUES ('sent', 1, '', 0, NULL, 1, 1, now(), '', NULL)" 'INSERT INTO public.sentinel VALUES (1)' \
    'CREATE PUBLICATION all_tables FOR ALL TABLES' "SELECT pg_create_logical_replication_slot('sent', 'pgoutput')" >/dev/null
database=postgres
ask "CREATE SUBSCRIPTION sent CONNECTION 'host=127.0.0.1 port=$port user=firn dbname=publisher' PUBLICATION all_tables
    WITH (create_slot = false)" >/dev/null
check "a subscription to all tables of another server copies them" await sent 1
database=publisher ask "UPDATE firn_marks.mark SET high = 1" "INSERT INTO firn_marks.mark VALUES ('untouched', 7, '', 0, NULL, 1, 1, now(), '', NULL)" \
    'INSERT INTO public.sentinel VALUES (2)' >/dev/null
check "and follows" await sent 2
same "but leaves its marks out" "0 $before" "$(ask "SELECT count(*) FROM firn_marks.mark WHERE ns = 'sent'") $(marks)"
ask 'DROP SUBSCRIPTION sent' >/dev/null
database=publisher ask "SELECT pg_drop_replication_slot('sent')" >/dev/null

# ---- what a superuser did to the tables ------------------------------------------------------------------------------

# attacked TABLE STATEMENT: TABLE is refused after a superuser's change, and used again after UNDO.
count=0
attacked() {
    table=$1 use=$2
    while IFS='|' read -r change words undo; do
        ask "$(echo "$change" | sed "s/@/$table/g")" >/dev/null
        count=$((count + 1))
        refused "$table is refused after $(echo "$change" | sed "s/@/it/g")" "$state" "$words" "" "$(echo "$use" | sed "s/@/$count/")"
        undone=$(ask "$(echo "$undo" | sed "s/@/$table/g")")
        count=$((count + 1))
        case $(ask "$(echo "$use" | sed "s/@/$count/")") in
        *[0-9]) ;;
        *) fail "$table is used again after $undo" "$undone" ;;
        esac
    done <<'END'
GRANT SELECT ON @ TO mig|is granted to mig|REVOKE ALL ON @ FROM mig
GRANT TRIGGER ON @ TO mig WITH GRANT OPTION; SET ROLE mig; GRANT TRIGGER ON @ TO PUBLIC|is granted to|REVOKE ALL ON TABLE @ FROM mig CASCADE
GRANT UPDATE (ns) ON @ TO PUBLIC|is granted to PUBLIC|REVOKE ALL ON @ FROM PUBLIC
CREATE TRIGGER t BEFORE UPDATE ON @ FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()|has a trigger|DROP TRIGGER t ON @
CREATE RULE r AS ON INSERT TO @ DO ALSO NOTIFY stolen|has a rule|DROP RULE r ON @
ALTER TABLE @ ENABLE ROW LEVEL SECURITY|has row security|ALTER TABLE @ DISABLE ROW LEVEL SECURITY
ALTER TABLE @ FORCE ROW LEVEL SECURITY|has row security|ALTER TABLE @ NO FORCE ROW LEVEL SECURITY
CREATE TABLE child () INHERITS (@)|inherits|DROP TABLE child
CREATE TABLE parent (); ALTER TABLE @ INHERIT parent|inherits|ALTER TABLE @ NO INHERIT parent; DROP TABLE parent
ALTER TABLE @ ALTER ns SET DEFAULT 'x'|has a default|ALTER TABLE @ ALTER ns DROP DEFAULT
ALTER TABLE @ ADD CONSTRAINT c CHECK (ns <> 'x')|a CHECK|ALTER TABLE @ DROP CONSTRAINT c
CREATE INDEX i ON @ (lower(ns))|index on an expression|DROP INDEX CONCURRENTLY i; DROP INDEX i; DROP INDEX firn_marks.i; DROP INDEX firn_jobs.i
CREATE DOMAIN d AS text; ALTER TABLE @ ADD extra d|own type|ALTER TABLE @ DROP extra; DROP DOMAIN d
ALTER TABLE @ OWNER TO mig|not a superuser|ALTER TABLE @ OWNER TO firn
END
}
state=42501
attacked firn_jobs.job "SELECT firn_stamp('snowflake', 'attacked @', '2020-01-01')"
state=08006
attacked firn_marks.mark "SELECT firn_new_bigint('snowflake', 'ns=attacked@')"
same "nobody else became a superuser" firn "$(supers)"
refused "a grant is named with its cure" 42501 "TABLE firn_jobs.job is granted to mig" \
    "REVOKE ALL ON TABLE firn_jobs.job FROM mig CASCADE" 'GRANT DELETE ON firn_jobs.job TO mig' "$stamp"
ask 'REVOKE ALL ON TABLE firn_jobs.job FROM mig CASCADE' >/dev/null
refused "a grant on the schema too" 42501 "SCHEMA firn_jobs is granted to PUBLIC" "REVOKE ALL ON SCHEMA firn_jobs FROM PUBLIC" \
    'GRANT USAGE ON SCHEMA firn_jobs TO PUBLIC' "$stamp"
ask 'REVOKE ALL ON SCHEMA firn_jobs FROM PUBLIC CASCADE' >/dev/null
refused "a schema of another is refused" 42501 "not a superuser" "OWNER TO" 'ALTER SCHEMA firn_jobs OWNER TO mig' "$stamp"
ask 'ALTER SCHEMA firn_jobs OWNER TO firn' >/dev/null
refused "and a superuser of its name" 42501 "a superuser has the name" "RENAME TO" 'CREATE ROLE firn_jobs SUPERUSER' "$stamp"
ask 'DROP ROLE firn_jobs' >/dev/null
same "afterwards all is as before" 1 "$(ask "$stamp" | grep -cE '^[0-9]+$')"

# ---- a race, and names that mean something else ------------------------------------------------------------------------

same "no trigger comes between the look and the use: the table is locked" 55P03 "$(ask BEGIN "$stamp" \
    '\! PGOPTIONS="-c lock_timeout=200ms" psql -XqAt -v VERBOSITY=sqlstate -h 127.0.0.1 -p '"$port"' -U firn postgres -c "CREATE TRIGGER t BEFORE UPDATE ON firn_jobs.job FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"' \
    ROLLBACK | sed -n 's/^ERROR:  //p')"
same "names of the session mean nothing to the tables' owner" "2|mig" "$(ask 'GRANT CREATE ON DATABASE postgres TO mig' 'SET ROLE mig' 'CREATE SCHEMA trap' \
    'CREATE TABLE trap.called (who text)' 'CREATE TEMP TABLE job (ns text, job text, chunk bigint, counts bytea)' \
    'CREATE TEMP TABLE pg_class AS SELECT * FROM pg_catalog.pg_class' \
    'CREATE FUNCTION trap.same(a text, b text) RETURNS boolean LANGUAGE sql AS $$INSERT INTO trap.called VALUES (current_user); SELECT true$$' \
    'CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.same)' \
    'SET search_path = pg_temp, trap, pg_catalog, public' "SELECT 'a'::text = 'b'::text AND NULL" \
    "UPDATE public.o SET id = firn_stamp('snowflake', at => c, job => 'y')" "UPDATE public.o SET id = firn_stamp('snowflake', at => c, job => 'y')" \
    "SELECT (SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname IN ('mig', 'firn')), string_agg(DISTINCT who, ' ') FROM trap.called" | tail -n 1)"
same "and its search_path is as it was" 'trap, public' "$(ask 'SET ROLE mig' 'SET search_path = trap, public' \
    "UPDATE public.o SET id = firn_stamp('snowflake', at => c, job => 'y')" 'SHOW search_path')"
same "nobody else is a superuser in the end" firn "$(supers)"

# ---- tables that somebody made first ----------------------------------------------------------------------------------

ask 'CREATE DATABASE early' 'GRANT CREATE ON DATABASE early TO mig' >/dev/null
same "CREATE EXTENSION refuses a schema of its name" 'ERROR:  42P06: schema "firn_jobs" already exists' \
    "$(database=early ask 'SET ROLE mig' 'CREATE SCHEMA firn_jobs' 'RESET ROLE' 'CREATE EXTENSION firn')"
# ---- reasons that reach the caller -------------------------------------------------------------------------------------

same "a call that waits longer than the renewer has the reason" 'ERROR:  08006: firn: the marks could not be written, canceling statement due to lock timeout' \
    "$(ask BEGIN 'LOCK TABLE firn_marks.mark' '\! psql -XqAt -v VERBOSITY=verbose -h 127.0.0.1 -p '"$port"' -U firn postgres -c "SELECT discord()" 2>&1' \
        ROLLBACK | grep ERROR)"
is_set() {
    [ "$(ask "SELECT setting FROM pg_settings WHERE name = '$1'")" = "$2" ]
}
ask 'ALTER SYSTEM SET full_page_writes = off' 'SELECT pg_reload_conf()' >/dev/null
await is_set full_page_writes off
fails() {
    count=$((count + 1))
    why=$(ask "SELECT firn_new('snowflake', 'ns=torn$count')")
    [ "${why#ERROR}" != "$why" ]
}
await fails # the renewer reads its settings after a while
same "the reason comes once, with its own hint" "ERROR:  08006: firn: full_page_writes is off, so a crash may lose marks
HINT:  Set it to on, firn.whole_pages = on on ZFS, or set firn.unsafe = on if IDs may repeat." "$why"
ask 'ALTER SYSTEM SET firn.whole_pages = on' 'SELECT pg_reload_conf()' >/dev/null
works() {
    count=$((count + 1))
    [ -z "$(ask "SELECT firn_new('snowflake', 'ns=torn$count')" | grep ERROR)" ]
}
check "a file system that writes whole pages needs no full_page_writes" await works
ask 'ALTER SYSTEM SET fsync = off' 'SELECT pg_reload_conf()' >/dev/null
await is_set fsync off
await fails
same "fsync = off stays refused there" "ERROR:  08006: firn: fsync is off, so a crash may lose marks" "$(echo "$why" | head -n 1)"
ask 'ALTER SYSTEM RESET fsync' 'ALTER SYSTEM RESET firn.whole_pages' >/dev/null
ask 'ALTER SYSTEM RESET full_page_writes' 'SELECT pg_reload_conf()' >/dev/null
same "the planner knows what is slow" "150|10|1" "$(ask "SELECT 'firn_show(bigint)'::regprocedure" "SELECT max(procost)
    FILTER (WHERE proname = 'firn_show'), max(procost) FILTER (WHERE proname = 'firn_time'),
    max(procost) FILTER (WHERE proname = 'snowflake') FROM pg_proc" | tail -n 1)"
waits=$(ask "SELECT wait_event FROM pg_stat_activity WHERE backend_type = 'firn renewer'" \
    "SELECT CASE WHEN current_setting('server_version_num')::int >= 170000 THEN 'FirnRequests' ELSE 'Extension' END")
same "what the renewer waits for has a name on PostgreSQL 17" 1 "$(echo "$waits" | sort -u | wc -l | tr -d ' ')"

# ---- settings of firn.database, which belongs to another role ---------------------------------------------------------

renewer() {
    ask "SELECT pid FROM pg_stat_activity WHERE backend_type = 'firn renewer'"
}
has_begun_again() {
    now=$(renewer)
    [ "${now:-$before}" != "$before" ]
}
# with_new_renewer STATEMENT...: an ID that only a renewer can have reserved that began after the statements.
with_new_renewer() {
    before=$(renewer) count=$((count + 1))
    ask "$@" "SELECT pg_terminate_backend($before)" >/dev/null
    await has_begun_again
    ask "SET firn.max_wait = '20s'" "SELECT count(firn_new_bigint('snowflake', 'ns=settled$count'))"
}
ask 'CREATE ROLE owner' 'CREATE DATABASE aside' 'ALTER DATABASE postgres OWNER TO owner' >/dev/null
database=aside
ask 'CREATE EXTENSION firn' >/dev/null
for setting in 'role = owner' 'session_authorization = owner' 'search_path = trap' 'default_transaction_read_only = on' \
    "default_transaction_isolation = 'serializable'" 'statement_timeout = 1' 'lock_timeout = 1' 'row_security = off' \
    'standard_conforming_strings = off' 'exit_on_error = on' "DateStyle = 'German'"; do
    said=$(ask 'SET ROLE owner' "ALTER DATABASE postgres SET $setting")
    [ -z "$said" ] || fail "the owner may set $setting" "$said"
done
same "the renewer writes marks in spite of the owner's settings" 1 "$(with_new_renewer 'SELECT 1')"
same "and where the owner forbids connections" 1 "$(with_new_renewer 'SET ROLE owner' \
    'ALTER DATABASE postgres ALLOW_CONNECTIONS false' 'RESET ROLE')"
same "and in spite of settings of the role that the server belongs to" 1 "$(with_new_renewer \
    'ALTER ROLE firn IN DATABASE postgres SET role = owner' 'ALTER ROLE firn SET default_transaction_read_only = on')"
ask 'SET default_transaction_read_only = off' 'ALTER ROLE firn RESET ALL' 'ALTER ROLE firn IN DATABASE postgres RESET ALL' \
    'ALTER DATABASE postgres RESET ALL' 'ALTER DATABASE postgres ALLOW_CONNECTIONS true' 'ALTER DATABASE postgres OWNER TO firn' >/dev/null
database=postgres

long='mig: a role with a name that is as long as the server allows it'
refused "the hint reaches the caller, however long, and with any name" 08006 "is granted to" \
    "REVOKE ALL ON TABLE firn_marks.mark FROM \"$long\" CASCADE" \
    "CREATE ROLE \"$long\"" "GRANT SELECT ON firn_marks.mark TO \"$long\"" "SELECT firn_new_bigint('snowflake', 'ns=granted')"
ask "DROP OWNED BY \"$long\"" >/dev/null

# ---- in the end --------------------------------------------------------------------------------------------------------

refused "a table that a crash empties is refused" 42501 "not a plain, permanent table" "drop it" \
    'ALTER TABLE firn_jobs.job SET UNLOGGED' "$stamp"
refused "firn's own trigger is refused while its function belongs to somebody else" 08006 \
    "has a trigger whose function belongs to a role" "ALTER FUNCTION ... OWNER TO a superuser" \
    'ALTER FUNCTION firn_marks.keep() OWNER TO mig' "SELECT firn_new_bigint('snowflake', 'ns=kept')"
ask 'ALTER FUNCTION firn_marks.keep() OWNER TO firn' >/dev/null
same "firn.max_nodes makes room for more shards" 300 \
    "$(ask 'SELECT count(DISTINCT instagram(n)) FROM generate_series(0, 299) n' | tail -n 1)"
refused "up to that number" 2200H "436 pairs of namespace and node" "firn.max_nodes, now 500" \
    'SELECT count(instagram(n)) FROM generate_series(0, 450) n'
finish
