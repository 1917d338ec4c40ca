# SPDX-License-Identifier: MIT
# The tables that the PostgreSQL extension writes with the rights of a superuser: no role becomes a superuser through
# them or causes duplicates, with any grants and default privileges.
# shellcheck disable=SC2016 # dollars quote SQL, for the server
. test/tap

if [ ! -f "$BUILD/ext/postgres/firn.so" ] || ! command -v pg_config >/dev/null; then
    skip "the extension's tables are its own" "it is not built: PGXS is missing (Debian: postgresql-server-dev-all)"
    finish
fi
. ext/postgres/private.sh
private_start
place=$TMPDIR/server
cleanup() {
    test/engine stop "$place"
    private_end
}
trap cleanup EXIT
trap 'exit 143' TERM HUP INT

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
    -c firn.max_wait_ms=60000 -c firn.node=7 -c firn.history=900-999
port=$(cat "$place/port")
stamp="SELECT firn_stamp('snowflake', 'attacked', '2020-01-01')"

# ---- default privileges --------------------------------------------------------------------------------------------

# What many guides say, before the extension and its marks exist.
ask 'CREATE ROLE mig LOGIN' 'ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO mig' \
    'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO mig WITH GRANT OPTION' \
    'ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO mig' 'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC' \
    'GRANT ALL ON SCHEMA public TO mig' 'CREATE EXTENSION firn' 'SELECT count(snowflake())' \
    'CREATE TABLE landed (n int)' >/dev/null
same "default privileges reach no table that firn writes" "" "$(ask "SELECT relname, grantee::regrole FROM pg_class,
    aclexplode(relacl) WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'firn%')
    AND grantee <> relowner")"
same "nor the schemas of these tables" "" "$(ask "SELECT nspname, grantee::regrole FROM pg_namespace, aclexplode(nspacl)
    WHERE nspname LIKE 'firn%' AND grantee <> nspowner")"
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
HINT:  Set it to on, or set firn.unsafe = on if IDs may repeat." "$why"
ask 'ALTER SYSTEM RESET full_page_writes' 'SELECT pg_reload_conf()' >/dev/null
same "the planner knows what is slow" "150|10|1" "$(ask "SELECT 'firn_show(bigint)'::regprocedure" "SELECT max(procost)
    FILTER (WHERE proname = 'firn_show'), max(procost) FILTER (WHERE proname = 'firn_time'),
    max(procost) FILTER (WHERE proname = 'snowflake') FROM pg_proc" | tail -n 1)"
waits=$(ask "SELECT wait_event FROM pg_stat_activity WHERE backend_type = 'firn renewer'" \
    "SELECT CASE WHEN current_setting('server_version_num')::int >= 170000 THEN 'FirnRequests' ELSE 'Extension' END")
same "what the renewer waits for has a name on PostgreSQL 17" 1 "$(echo "$waits" | sort -u | wc -l | tr -d ' ')"

# ---- in the end --------------------------------------------------------------------------------------------------------

refused "a table that a crash empties is refused" 42501 "not a plain, permanent table" "drop it" \
    'ALTER TABLE firn_jobs.job SET UNLOGGED' "$stamp"
refused "firn's own trigger is refused while its function belongs to somebody else" 08006 "has a trigger" "" \
    'ALTER FUNCTION firn_marks.keep() OWNER TO mig' "SELECT firn_new_bigint('snowflake', 'ns=kept')"
finish
