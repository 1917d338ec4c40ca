# SPDX-License-Identifier: MIT
# firn_pure: the owner of a database who is not a superuser creates it in any schema of a server without preload. It has
# the answers of firn, issues IDs without nodes, and shares no name with firn in one database.
# shellcheck disable=SC2016 # dollars quote SQL, for the server
. test/postgres.tap
private_test "the owner of a database creates firn_pure"

check "a server starts without preload" test/engine start postgres "$place"
port=$(cat "$place/port")
# ask STATEMENT...: one session of $user; the answer, and an error as "SQLSTATE: message".
ask() {
    printf '%s;\n' "$@" | psql -XqAt -v VERBOSITY=verbose -v SHOW_CONTEXT=never -h 127.0.0.1 -p "$port" -U "${user:-owner}" \
        "${database:-own}" 2>&1 | sed -n -e '/^LOCATION:/d' -e p
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
user=firn database=postgres ask 'CREATE ROLE owner LOGIN CREATEDB' 'CREATE ROLE guest LOGIN'
database=postgres ask 'CREATE DATABASE own'

refused "firn itself needs a superuser" 42501 "permission denied" "superuser" 'CREATE EXTENSION firn'
same "the owner of a database creates firn_pure, in a schema of any name" '"My Own"' "$(ask 'CREATE SCHEMA "My Own"' \
    'CREATE EXTENSION firn_pure SCHEMA "My Own"' "SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'firn_pure'")"
user=firn ask 'CREATE SCHEMA pure AUTHORIZATION owner'
ask 'CREATE TABLE public.event (id uuid PRIMARY KEY DEFAULT "My Own".uuid7(), n int)' 'INSERT INTO event (n) VALUES (1)'
user=firn ask 'ALTER EXTENSION firn_pure SET SCHEMA pure'
same "a superuser moves it; columns keep their defaults" 2 "$(ask 'INSERT INTO event (n) VALUES (2)' \
    "SELECT count(*) FROM event WHERE pure.firn_time(id) > now() - interval '1 h'")"

# ---- IDs -----------------------------------------------------------------------------------------------------------

free=$(awk '/^GENERATOR/ { gsub(/[(),]/, " "); if ($5 == "FREE") print $2 }' ext/functions.def | sort | tr '\n' ' ')
functions="FROM pg_proc, pg_depend WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'firn_pure')
    AND classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND provolatile = 'v' AND pronargs = 0"
same "it has the generators of all schemes without a node" "$free" "$(ask "SELECT proname $functions ORDER BY 1" |
    sort | tr '\n' ' ')"
same "which every role may call that may use the schema" "ERROR:  42501: permission denied for schema pure" \
    "$(user=guest ask 'SELECT pure.uuid7()' | grep ERROR)"
ask 'GRANT USAGE ON SCHEMA pure TO guest'
ask "SELECT format('SELECT count(DISTINCT pure.%I()::text) > 990, %L FROM generate_series(1, 1000)', proname, proname) $functions" |
    sed 's/$/;/' | psql -XqAt -h 127.0.0.1 -p "$port" -U guest own >"$TMPDIR/made" 2>&1
same "each generates a thousand IDs" "$free" "$(sed -n 's/^t|//p' "$TMPDIR/made" | sort | tr '\n' ' ')"
same "typeid and firn_new as well, also with a layout" "t|t|t|t|t" "$(ask "SELECT pure.typeid('user') LIKE 'user\\_%',
    pure.firn_time(pure.firn_new_uuid('uuid7')) > now() - interval '1 h', length(pure.firn_new('ksuid')) = 27,
    pure.firn_new_bigint('time:40/ms@@2024-01-01 random:23') > 0, length(pure.firn_new_bytea('ulid')) = 16")"
for scheme in snowflake tsid xid\ node=1 'time:41/ms@@2024-01-01 node:10 sequence:12' instagram; do
    case $(ask "SELECT pure.firn_new('$scheme')") in
    *'55000: firn: '*' has a node'*HINT:*'extension firn'* | *22023*HINT:*) ;;
    *) fail "a scheme with a node is refused: $scheme" "$(ask "SELECT pure.firn_new('$scheme')")" ;;
    esac
done
refused "a scheme with a node needs firn" 55000 "snowflake has a node" "extension firn" "SELECT pure.firn_new_bigint('snowflake')"
same "every function is strict and parallel safe" "i|t|s v|t|s" "$(ask "SELECT DISTINCT provolatile, proisstrict, proparallel
    $functions OR classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND refobjid = (SELECT oid FROM pg_extension
    WHERE extname = 'firn_pure') ORDER BY 1" | tr '\n' ' ' | sed 's/ $//')"
same "no setting is there to change" 0 "$(ask "SELECT count(*) FROM pg_settings WHERE name LIKE 'firn%'")"

# ---- reading -------------------------------------------------------------------------------------------------------

same "a time of an ID can be a generated column with an index" 2 "$(ask \
    'ALTER TABLE event ADD made timestamptz GENERATED ALWAYS AS (pure.firn_time(id)) STORED' 'CREATE INDEX ON event (pure.firn_time(id))' \
    'SELECT count(made) FROM event')"
# All answers of firn's own regression test.
database=postgres ask 'CREATE DATABASE answers'
for file in sql/pure.sql expected/pure.out; do
    sed -e 's/^CREATE EXTENSION firn;/CREATE EXTENSION firn_pure;/' -e '/^-- every function/,$d' ext/postgres/$file \
        >"$TMPDIR/${file#*/}"
done
PGDATESTYLE='Postgres, MDY' PGTZ=PST8PDT psql -Xaq -h 127.0.0.1 -p "$port" -U firn answers <"$TMPDIR/pure.sql" >"$TMPDIR/found.out" 2>&1
check "firn_pure answers as firn does" diff "$TMPDIR/pure.out" "$TMPDIR/found.out"

# ---- the next version --------------------------------------------------------------------------------------------------

folder=$prefix$(pg_config --sharedir)/extension
for extension in firn firn_pure; do
    for version in $(sed -n 's/^## \([0-9.]*[0-9]\).*/\1/p' CHANGELOG.md); do
        same "$extension: version $version is here, or has a way to this one" t "$(ask "SELECT bool_or(name = '$extension'
            AND (default_version = '$version' OR EXISTS (SELECT FROM pg_extension_update_paths(name) WHERE source = '$version'
            AND target = default_version AND path IS NOT NULL))) FROM pg_available_extensions WHERE name = '$extension'")"
    done
done
cat >"$folder/firn--0.1.0--0.1.0next.sql" <<'SQL'
CREATE FUNCTION firn_added(scheme text) RETURNS bigint AS 'MODULE_PATHNAME', 'firn_sql_new_int' LANGUAGE C VOLATILE STRICT;
CREATE FUNCTION firn_jobs.revoke(VARIADIC functions regprocedure[]) RETURNS void
    AS 'MODULE_PATHNAME', 'firn_sql_revoke_jobs' LANGUAGE C VOLATILE;
SELECT firn_jobs.revoke('firn_added(text)');
DROP FUNCTION firn_jobs.revoke(regprocedure[]);
SQL
echo "CREATE FUNCTION firn_added() RETURNS text AS 'MODULE_PATHNAME', 'firn_sql_version' LANGUAGE C IMMUTABLE STRICT;" \
    >"$folder/firn_pure--0.1.0--0.1.0next.sql"
same "the owner updates firn_pure, and columns keep their defaults" "0.1.0|3" \
    "$(ask "ALTER EXTENSION firn_pure UPDATE TO '0.1.0next'" 'INSERT INTO event (n) VALUES (3)' \
        'SELECT pure.firn_added(), count(*) FROM event')"
same "an update of firn takes its new functions from roles of default privileges" "f|f|t" "$(user=firn database=answers ask \
    'DROP EXTENSION firn_pure CASCADE' 'ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO guest' 'CREATE EXTENSION firn' \
    "ALTER EXTENSION firn UPDATE TO '0.1.0next'" "SELECT has_function_privilege('guest', 'firn_added(text)', 'EXECUTE'),
        has_function_privilege('guest', 'firn_stamp(text, timestamptz)', 'EXECUTE'), firn_added('simpleflake') > 0" | tail -n 1)"

# ---- firn and firn_pure ---------------------------------------------------------------------------------------------------

user=firn
refused "firn in the schema of firn_pure is refused" 42723 "has the extension firn_pure" "CREATE EXTENSION firn SCHEMA another" \
    'CREATE EXTENSION firn SCHEMA pure'
same "both are in one database, in two schemas, and in one session" "t|t|t" "$(ask 'CREATE EXTENSION firn' \
    "SELECT uuid7() <> pure.uuid7(), firn_show(id) = pure.firn_show(id), firn_min('tsid', made) = pure.firn_min('tsid', made)
     FROM event LIMIT 1")"
refused "what firn says of a scheme with a node stays" 55000 "snowflake needs reserved slots" "shared_preload_libraries" \
    'SELECT pure.uuid7()' 'SELECT snowflake()'
ask 'DROP TABLE event' 'DROP EXTENSION firn_pure'
refused "firn_pure in the schema of firn is refused" 42723 "has the functions of firn" "CREATE EXTENSION firn_pure SCHEMA another" \
    'CREATE EXTENSION firn_pure'
finish
