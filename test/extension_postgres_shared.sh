# SPDX-License-Identifier: MIT
# A PostgreSQL has one list of nodes: firn_share_store() moves a store's tables to where the extension reserves too, and leaves
# closed ones. Extension and store then issue side by side, also with the same nodes, and no ID comes twice. FIRN_SIDE=N: N IDs
# in the last part (the usual number is small).
# shellcheck disable=SC2016 # dollars quote SQL, for the server
. test/postgres.tap
private_test "extension and store share a list"

# as ROLE STATEMENT...: one session; the answer, and an error as "SQLSTATE: message".
as() {
    role=$1
    shift
    printf '%s;\n' "$@" | psql -XqAt -v VERBOSITY=verbose -v SHOW_CONTEXT=never -h 127.0.0.1 -p "$port" -U "$role" \
        "${database:-postgres}" 2>&1 | sed -n -e '/^LOCATION:/d' -e p
}
ask() {
    as firn "$@"
}
says() {
    case $2 in
    *"$3"*) pass "$1" ;;
    *) fail "$1" "$2" ;;
    esac
}
set_to() {
    ask "ALTER SYSTEM SET $1 = '$2'" 'SELECT pg_reload_conf()' >/dev/null
    await has "$1" "$2"
}
has() {
    [ "$(ask "SELECT current_setting('$1')")" = "$2" ]
}
# store COMMAND...: as the application, before and after the move
before() {
    "$FIRN" "$@" --store "$old" 2>&1
}
store() {
    "$FIRN" "$@" --store "$old?options=-csearch_path%3Dfirn_store" 2>&1
}

check "a server starts with firn preloaded" test/engine start postgres "$place" -c shared_preload_libraries=firn \
    -c firn.max_wait=60s -c firn.node=7
port=$(cat "$place/port")
old=postgres://app@127.0.0.1:$port/postgres
ask 'CREATE ROLE app LOGIN' 'CREATE ROLE visitor' 'GRANT CREATE ON SCHEMA public TO app' 'CREATE DATABASE other' 'CREATE EXTENSION firn' \
    'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC' 'ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC' >/dev/null

# ---- code of others ------------------------------------------------------------------------------------------------------

# As a superuser, this function makes the role that begins its name one: nothing may run it so. It stays out of the way for others.
before segment invoices_of_then >/dev/null
ask 'CREATE ROLE dbo LOGIN' 'GRANT CREATE ON DATABASE postgres TO dbo' 'GRANT USAGE, CREATE ON SCHEMA public TO dbo' >/dev/null
ask "CREATE FUNCTION trap_of(name text) RETURNS text LANGUAGE plpgsql AS
    \$\$BEGIN IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('ALTER ROLE %I SUPERUSER', name); END IF; RETURN name; END\$\$" \
    "CREATE FUNCTION fixed(name text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS \$\$BEGIN RETURN public.trap_of(name); END\$\$" >/dev/null
trapped() {
    ask "SELECT coalesce(string_agg(rolname, ' '), 'none') FROM pg_roles WHERE rolname IN ('app', 'dbo') AND rolsuper"
}
as dbo 'CREATE SCHEMA firn_store' \
    'CREATE TABLE firn_store.firn_namespace (name text PRIMARY KEY, layout text, identity text, floor bigint)' \
    'CREATE TABLE firn_store.firn_mark (ns text, key text, high bigint, "grant" bigint, note text, PRIMARY KEY (ns, key))' \
    "INSERT INTO firn_store.firn_namespace VALUES ('', '', 'new', 0)" \
    "CREATE FUNCTION firn_store.evil() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN PERFORM public.trap_of('dbo'); RETURN NEW; END\$\$" \
    'CREATE TRIGGER t BEFORE UPDATE ON firn_store.firn_namespace FOR EACH ROW EXECUTE FUNCTION firn_store.evil()' >/dev/null
says "a schema that somebody made before is refused" "$(ask "SELECT firn_share_store('app')")" 'does not belong to the role firn_owner'
same "and its trigger does not run" none "$(trapped)"
as dbo 'DROP SCHEMA firn_store CASCADE' 'CREATE SCHEMA firn_store' >/dev/null
says "as is an empty one" "$(ask "SELECT firn_share_store('app')")" 'is there without the tables'
as dbo 'DROP SCHEMA firn_store' >/dev/null
# refused WORDS STATEMENT UNDO: of the tables' owner
refused() {
    as app "$2" >/dev/null
    says "old tables: $1" "$(ask "SELECT firn_share_store('app', 'public.firn')")" "$1"
    as app "$3" >/dev/null
}
refused 'has an index on an expression' "CREATE INDEX trap ON firn_namespace ((name || public.fixed('app')))" 'DROP INDEX trap'
refused 'has an index on an expression' "CREATE INDEX trap ON firn_mark (key) WHERE ns > public.fixed('app')" 'DROP INDEX trap'
refused 'has extended statistics' "CREATE STATISTICS trap ON (name || public.fixed('app')), layout FROM firn_namespace" 'DROP STATISTICS trap'
refused 'has row security' 'ALTER TABLE firn_mark ENABLE ROW LEVEL SECURITY' 'ALTER TABLE firn_mark DISABLE ROW LEVEL SECURITY'
refused 'has a rule' 'CREATE RULE r AS ON UPDATE TO firn_mark DO ALSO NOTHING' 'DROP RULE r ON firn_mark'
same "none of this ran as a superuser" none "$(trapped)"
says "an old snapshot is refused" "$(ask 'BEGIN ISOLATION LEVEL REPEATABLE READ' "SELECT firn_share_store('app', 'public.firn')")" 'READ COMMITTED'
# While the function waits for the second table, the owner of the schemas puts others in their place.
as dbo 'CREATE SCHEMA s' 'CREATE SCHEMA n' >/dev/null
swapped() {
    "$FIRN" segment x --store "postgres://dbo@127.0.0.1:$port/postgres?options=-csearch_path%3Ds" >/dev/null 2>&1
}
check "another role has a store" await swapped
as dbo "CREATE VIEW n.firn_namespace AS SELECT 'a'::text AS name, public.trap_of('dbo') AS layout, ''::text AS identity, 0::bigint AS floor" \
    'CREATE TABLE n.firn_mark (ns text, key text, high bigint, "grant" bigint, note text)' >/dev/null
waits() {
    [ "$(ask "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%firn_share_store(''dbo''%'
        AND pid <> pg_backend_pid()")" = 1 ]
}
mkfifo "$TMPDIR/hold"
psql -XqAt -h 127.0.0.1 -p "$port" -U dbo postgres <"$TMPDIR/hold" >/dev/null 2>&1 &
holder=$!
exec 7>"$TMPDIR/hold"
printf '%s;\n' BEGIN 'LOCK TABLE s.firn_mark IN ACCESS SHARE MODE' "SET application_name = 'holds'" >&7
holds() {
    [ "$(ask "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holds'")" = 1 ]
}
await holds 1
ask "SELECT firn_share_store('dbo', 's.firn')" >"$TMPDIR/swap" &
mover=$!
await waits 1
printf '%s;\n' 'ALTER SCHEMA s RENAME TO s_old' 'ALTER SCHEMA n RENAME TO s' COMMIT >&7
exec 7>&-
wait "$holder" "$mover"
same "nor do tables that take the place of others" none "$(trapped)"
ask 'DROP SCHEMA IF EXISTS s, s_old, n CASCADE' 'DROP SCHEMA IF EXISTS firn_store CASCADE' 'DROP SCHEMA IF EXISTS firn_marks CASCADE' \
    'COMMENT ON ROLE firn_owner IS NULL' >/dev/null

# ---- the move ------------------------------------------------------------------------------------------------------------

before new snowflake node=900 -q >"$TMPDIR/first"
before segment orders -n 3 >/dev/null
ask 'SELECT snowflake()' "SELECT firn_new('snowflake', 'node=5')" >>"$TMPDIR/first"
high=$(ask "SELECT high FROM firn_mark WHERE ns = 'snowflake'")
ask 'GRANT EXECUTE ON FUNCTION firn_share_store(regrole, text) TO app' >/dev/null
says "only a superuser moves tables" "$(as app "SELECT firn_share_store('app', 'public.firn')")" '42501: firn: only a superuser'
says "other tables are refused" "$(ask "SELECT firn_share_store('app', 'pg_catalog.pg')")" 'does not exist'
says "as are texts" "$(ask "SELECT firn_share_store('app', 'firn')")" 'does not name the tables of a store'
ask 'ALTER TABLE firn_namespace RENAME TO kept_namespace' 'CREATE VIEW firn_namespace AS SELECT * FROM kept_namespace' >/dev/null
says "and views" "$(ask "SELECT firn_share_store('app', 'public.firn')")" 'firn_namespace'
same "nothing of it stays" f "$(ask "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'firn_store')")"
ask 'DROP VIEW firn_namespace' 'ALTER TABLE kept_namespace RENAME TO firn_namespace' >/dev/null
says "a schema that search_path reads as another is refused" "$(ask "SELECT firn_share_store('app', '\"\$user\".firn')")" 'Rename the schema'
as app 'BEGIN' 'LOCK TABLE firn_mark IN ACCESS SHARE MODE' 'SELECT pg_sleep(60)' >/dev/null &
holder=$!
locks() {
    [ "$(ask "SELECT count(*) FROM pg_locks WHERE relation = 'firn_mark'::regclass AND granted")" = 1 ]
}
await locks
says "a table that somebody holds is waited for, but not for long" "$(ask "SELECT firn_share_store('app', 'public.firn')")" 'lock timeout'
ask "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60);'" >/dev/null
wait "$holder"
database=other ask 'CREATE EXTENSION firn' >/dev/null
mkdir "$place/space" && chown --reference="$place/data" "$place/space"
ask "CREATE TABLESPACE space LOCATION '$place/space'" 'ALTER ROLE firn SET default_tablespace = space' >/dev/null
says "the list is in one database" "$(database=other ask "SELECT firn_share_store('app')")" 'Connect to that one'
as app 'CREATE FUNCTION public.concat_ws(text, text, text, oid, oid) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN ALTER ROLE app SUPERUSER; RETURN 1; END$$' >/dev/null
same "a superuser moves the tables" "" "$(ask "SELECT firn_share_store('app', 'public.firn')")"
same "where the database is, in spite of the caller's settings" 0 "$(ask "SELECT count(*) FROM pg_class WHERE reltablespace <> 0
    AND relnamespace IN ('firn_store'::regnamespace, 'public'::regnamespace)")"
same "without calling a function of the tables' owner" f "$(ask "SELECT rolsuper FROM pg_roles WHERE rolname = 'app'")"
ask 'DROP FUNCTION public.concat_ws' >/dev/null
says "the list is not moved into itself" "$(ask "SELECT firn_share_store('app', 'firn_store.firn')")" 'is the shared list itself'
says "twice is refused" "$(ask "SELECT firn_share_store('app', 'public.firn')")" 'has moved already'

same "marks have come along" "$high" "$(ask "SELECT high FROM firn_store.firn_mark WHERE (ns, key) = ('snowflake', '900')")"
same "integers continue" 4 "$(store segment orders)"
says "the old place is closed" "$(before new snowflake node=900)" 'closed (moved to the schema firn_store)'
says "for integers" "$(before segment orders)" 'closed (moved to the schema firn_store)'
says "and for new names" "$(before segment invoices)" 'closed (moved to the schema firn_store'
same "so it grants nothing more" 0 "$(ask "SELECT count(*) FROM public.firn_namespace WHERE name <> '' AND layout NOT LIKE 'closed (%'")"
ask 'SELECT snowflake()' "SELECT firn_new('snowflake', 'node=5')" >>"$TMPDIR/first"
store new snowflake node=900 -q >>"$TMPDIR/first"
same "everybody issues on, and nothing twice" "6 6" "$(wc -l <"$TMPDIR/first") $(sort -u "$TMPDIR/first" | grep -c '^[0-9]*$')"
whose=$(store nodes ns=snowflake --json | jq -r 'select(.ns != "") | "\(.key) \(.whose)"' | paste -sd' ')
same "firn nodes says whose is whose" "5 extension 7 extension 900 process" "$whose"

# ---- one list ------------------------------------------------------------------------------------------------------------

# patient SENTENCE WORDS CALL: the call fails with these words, also where the renewer was slow at first.
patient() {
    for _ in $(seq 20); do
        said=$(ask "SET firn.max_wait = '4s'" "SELECT $3")
        case $said in *'were not written within'*) ;; *) break ;; esac
    done
    says "$1" "$said" "$2"
}
# A mark as of a process that holds the node for an hour.
store new snowflake node=11 -q >/dev/null
as app "UPDATE firn_store.firn_mark SET high = high + (3600000::bigint << 12), \"grant\" = 3 WHERE (ns, key) = ('snowflake', '11')"
patient "the extension does not take what a store holds" 'is reserved by a store in the schema firn_store' \
    "firn_new('snowflake', 'node=11')"
as app "UPDATE firn_store.firn_mark SET high = high - (3600000::bigint << 12) WHERE (ns, key) = ('snowflake', '11')"
same "once the store has given that back, it does" 1 "$(ask "SELECT count(firn_new('snowflake', 'node=11'))")"
store nodes claim snowflake 0..99 >/dev/null
same "confined claims are not for the node of a server" 7 "$(($(ask 'SELECT snowflake()') >> 12 & 1023))"
set_to firn.history 900-901
says "old rows get a node that no store has used" "$(ask "SELECT firn_stamp('snowflake', 'old', '2020-01-01') >> 12 & 1023")" 901
same "which the store has as a job's" "job extension" "$(store nodes ns=snowflake --json | jq -r 'select(.key == "901") | "\(.kind) \(.whose)"')"

# ---- rights --------------------------------------------------------------------------------------------------------------

same "tables belong to a role that only owns them" "firn_owner firn_owner f f" \
    "$(ask "SELECT string_agg(relowner::regrole::text, ' ') || ' ' || (SELECT concat_ws(' ', rolcanlogin, rolsuper)
        FROM pg_roles WHERE rolname = 'firn_owner') FROM pg_class WHERE relkind = 'r' AND relnamespace = 'firn_store'::regnamespace")"
same "the application reads and writes them, and nothing else" "INSERT SELECT UPDATE" \
    "$(ask "SELECT string_agg(DISTINCT privilege_type, ' ' ORDER BY privilege_type) FROM pg_class, aclexplode(relacl) a
        WHERE relnamespace = 'firn_store'::regnamespace AND a.grantee <> relowner")"
says "it deletes nothing" "$(as app 'DELETE FROM firn_store.firn_mark')" '42501'
says "and puts no code there" "$(as app 'CREATE TRIGGER t BEFORE UPDATE ON firn_store.firn_mark FOR EACH ROW EXECUTE FUNCTION
    suppress_redundant_updates_trigger()')" '42501'
# refuses SENTENCE WORDS STATEMENT UNDO: after the statement no window begins
refuses() {
    ask "$3" >/dev/null
    says "$1" "$(ask "SELECT firn_new('snowflake', 'node=$((node += 1))')")" "$2"
    ask "$4" >/dev/null
}
node=20
refuses "a grant of more is refused" 'is granted to app' 'GRANT DELETE ON firn_store.firn_mark TO app' \
    'REVOKE DELETE ON firn_store.firn_mark FROM app'
refuses "as is a trigger" 'has a trigger' 'CREATE TRIGGER t BEFORE UPDATE ON firn_store.firn_mark FOR EACH ROW EXECUTE FUNCTION
    suppress_redundant_updates_trigger()' 'DROP TRIGGER t ON firn_store.firn_mark'
refuses "a rule" 'has a rule' 'CREATE RULE r AS ON UPDATE TO firn_store.firn_mark DO ALSO NOTHING' 'DROP RULE r ON firn_store.firn_mark'
refuses "another owner" 'does not belong to the role firn_owner' 'ALTER TABLE firn_store.firn_mark OWNER TO visitor' \
    'ALTER TABLE firn_store.firn_mark OWNER TO firn_owner'
refuses "and a role that is more than the owner" 'firn_owner may log in' 'GRANT firn_owner TO visitor' 'REVOKE firn_owner FROM visitor'
refuses "also by another role" 'firn_owner may log in' 'GRANT visitor TO firn_owner' 'REVOKE visitor FROM firn_owner'
refuses "and a list that is gone" 'the shared list is gone' 'ALTER SCHEMA firn_store RENAME TO ids' 'ALTER SCHEMA ids RENAME TO firn_store'
ask 'ALTER SCHEMA firn_store RENAME TO ids' >/dev/null
says "no second list begins then" "$(ask "SELECT firn_share_store('app')")" 'the shared list is gone'
ask 'ALTER SCHEMA ids RENAME TO firn_store' >/dev/null
same "then it issues" 1 "$(ask "SELECT count(firn_new('snowflake', 'node=20'))")"
refuses "a list that was left is not used again" 'lacks what the extension has granted without it' 'COMMENT ON SCHEMA firn_marks IS NULL' \
    "SELECT firn_share_store('app')"

# ---- side by side --------------------------------------------------------------------------------------------------------

# Each has its own nodes, and node 12 is everybody's in turn.
side=$((${FIRN_SIDE:-120000} / 6))
copy() {
    ask "COPY (SELECT $1 FROM generate_series(1, $side)) TO STDOUT" >"$TMPDIR/side.$2"
}
wait_for=
begin() {
    "$@" &
    wait_for="$wait_for $!"
}
issue() {
    store new snowflake -n "$side" -q max_wait=60s "$2" >"$TMPDIR/side.$1"
}
begin copy 'snowflake()' a
begin copy 'snowflake()' b
begin copy "firn_new('snowflake', 'node=12')" c
begin issue d node=12
begin issue e full=wait
begin issue f full=wait
for pid in $wait_for; do
    wait "$pid"
done
twice() {
    cat "$TMPDIR"/side.* | grep '^[0-9]*$' | sort | uniq -d | wc -l
}
same "all of them issue" $((6 * side)) "$(cat "$TMPDIR"/side.* | grep -c '^[0-9]*$')"
same "and none fails" "" "$(cat "$TMPDIR"/side.* | grep -v '^[0-9]*$')"
same "and no ID was issued twice" 0 "$(twice)"
head -n 1 "$TMPDIR/side.a" >"$TMPDIR/side.added"
same "a duplicate that is added is found" 1 "$(twice)"

# ---- a loss --------------------------------------------------------------------------------------------------------------

store nodes lost --yes >/dev/null
patient "what the store lost, the extension guards" 'is guarded for' "firn_new('snowflake', 'node=30')"

# ---- lists in doubt ------------------------------------------------------------------------------------------------------

# lost_store SCHEMA: another store of the application, which has lost reservations
lost_store() {
    ask "CREATE SCHEMA $1 AUTHORIZATION app" >/dev/null
    other="$old?options=-csearch_path%3D$1"
    "$FIRN" segment "of_$1" --store "$other" >/dev/null
    "$FIRN" nodes lost --yes --store "$other" >/dev/null
}
all_names() {
    ask "SELECT CASE identity WHEN 'gone back' THEN 'in doubt' ELSE 'current' END FROM firn_store.firn_namespace WHERE name = 'integer *'"
}
lost_store first
"$FIRN" segment advance '*' --yes --min 1 --store "$other" >/dev/null
ask "SELECT firn_share_store('app', 'first.firn')" >/dev/null
same "names that the list may have lost are not known by a store's record" "in doubt" "$(all_names)"
store segment advance '*' --yes --min 1 >/dev/null
same "after an advance they are" current "$(all_names)"
lost_store second
ask "SELECT firn_share_store('app', 'second.firn')" >/dev/null
same "nor those that a store may have lost, by the list's record" "in doubt" "$(all_names)"
ask 'ALTER SCHEMA firn_store RENAME TO ids' 'DROP SCHEMA firn_marks CASCADE' >/dev/null
says "no second list begins after firn_marks was dropped" "$(ask "SELECT firn_share_store('app')")" 'the shared list is gone'
ask 'COMMENT ON ROLE firn_owner IS NULL' >/dev/null
same "after the list was left, one does" "" "$(ask "SELECT firn_share_store('app')")"
same "which does not vouch for marks that the extension may have lost" "gone back" \
    "$(ask "SELECT identity FROM firn_store.firn_namespace WHERE name = ''")"
finish
