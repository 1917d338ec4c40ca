# SPDX-License-Identifier: MIT
# Marks that the PostgreSQL extension lost: in promotions, on a primary and its standbys, and by TRUNCATE and DELETE. The
# extension guards the losses once for the whole server, and no ID comes twice.
# shellcheck disable=SC2016 # dollars quote SQL, for the server
. test/postgres.tap

private_needed "lost marks are guarded"
private_start
primary=$TMPDIR/primary early=$TMPDIR/early late=$TMPDIR/late unused=$TMPDIR/unused
from=$primary
cleanup() {
    test/engine stop "$primary"
    test/engine stop "$early"
    test/engine stop "$late"
    test/engine stop "$unused"
    private_end
}
trap cleanup EXIT
trap 'exit 143' TERM HUP INT

# on SERVER STATEMENT...: one session; the answers, and an error as "SQLSTATE: message".
on() {
    port=$(cat "$1/port")
    shift
    printf '%s;\n' "$@" | psql -XqAt -v VERBOSITY=verbose -v SHOW_CONTEXT=never -h 127.0.0.1 -p "$port" -U firn \
        postgres 2>&1 | sed -n -e '/^LOCATION:/d' -e p
}
yes_on() {
    [ "$(on "$@" | tail -n 1)" = t ]
}
# says SENTENCE WORDS SERVER STATEMENT...: the answer has these words, also on a disk that was too slow at first.
says() {
    sentence=$1 words=$2
    shift 2
    for _ in $(seq 100); do
        said=$(on "$@")
        case $said in *'were not written within'*) ;; *) break ;; esac
    done
    case $said in
    *"$words"*) pass "$sentence" ;;
    *) fail "$sentence" "$said" ;;
    esac
}
# issue SERVER SCHEME COUNT FILE
issue() {
    on "$1" "COPY (SELECT $2() FROM generate_series(1, $3)) TO STDOUT" >"$4"
}
# begins_after SERVER SCHEME FILE: the least ID of the file is not before the guard of the server has ended.
begins_after() {
    [ "$(on "$1" "SELECT firn_time($(sort -n "$3" | head -n 1), '$2') >= until AND isfinite(until) FROM firn_marks.server")" = t ]
}
# The end of the guard, in seconds since the server's process began, is 15 or later.
is_guarded_from_start() {
    yes_on "$1" "SELECT until >= pg_postmaster_start_time() + interval '15 s' FROM firn_marks.server"
}
# copies FOLDER: a new server with a copy of $from, which is not started yet.
copies() {
    test/engine start postgres "$1" -c shared_preload_libraries=firn -c firn.node=8 -c firn.max_wait=60s >/dev/null &&
        test/engine halt "$1" && rm -rf "$1/data/pg" &&
        "$bin/pg_basebackup" -h 127.0.0.1 -p "$(cat "$from/port")" -U firn -D "$(readlink "$1/data")/pg" -R -c fast &&
        { [ "$(id -u)" != 0 ] || chown -R "$(id -u nobody):$(id -g nobody)" "$(readlink "$1/data")/pg"; }
}
# standby FOLDER: the same, and it follows that server.
follows() {
    yes_on "$1" "SELECT count(*) = 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'"
}
standby() {
    copies "$1" && test/engine restart "$1" && await follows "$1"
}
# cut STANDBY: it gets nothing more from the primary.
is_cut() {
    yes_on "$1" 'SELECT count(*) = 0 FROM pg_stat_wal_receiver'
}
cut() {
    on "$1" "ALTER SYSTEM SET primary_conninfo = ''" 'SELECT pg_reload_conf()' >/dev/null
    await is_cut "$1"
}
has_looked() {
    yes_on "$1" "SELECT timeline > 1 FROM firn_marks.server"
}
twice() {
    sort "$@" | uniq -d | wc -l | tr -d ' '
}

check "a server starts with firn preloaded" test/engine start postgres "$primary" -c shared_preload_libraries=firn \
    -c firn.node=8 -c firn.max_wait=60s
on "$primary" 'ALTER ROLE firn SET search_path = public' 'CREATE EXTENSION firn' "ALTER SYSTEM SET firn.history = '900-999'" \
    'SELECT pg_reload_conf()' >/dev/null
check "a standby follows it before firn issues anything" standby "$early"
check "and is cut off" cut "$early"
check "a backup is made then too" copies "$unused"

# ---- a new server, and another standby ----------------------------------------------------------------------------------

issue "$primary" snowflake 100000 "$TMPDIR/early.lost"
same "the first tables of a new server have no guard" -infinity "$(on "$primary" 'SELECT until FROM firn_marks.server')"
says "which was not promoted, so nothing can be taken over" 'nothing to take over' "$primary" 'SELECT firn_take_over()'
issue "$primary" leaf 1000 "$TMPDIR/leaf.before"
on "$primary" "SELECT firn_stamp('snowflake', 'before', '2020-01-01')" >/dev/null
check "another standby follows it" standby "$late"
check "and is cut off too" cut "$late"
issue "$primary" js53 150000 "$TMPDIR/js53.lost"
issue "$primary" snowflake 100000 "$TMPDIR/snowflake.lost"
test/engine kill "$primary"

# ---- promotions ---------------------------------------------------------------------------------------------------------

on "$late" 'SELECT pg_promote(true, 60)' >/dev/null
check "a promoted server finds itself on another timeline before it reserves an ID" await has_looked "$late"
issue "$late" js53 60000 "$TMPDIR/js53.late"
issue "$late" snowflake 100000 "$TMPDIR/snowflake.late"
same "it issues no ID again of a scheme that was first used after the standby was cut off" '60000 0' \
    "$(grep -c '^[0-9]*$' "$TMPDIR/js53.late") $(twice "$TMPDIR/js53.lost" "$TMPDIR/js53.late")"
check "because it guards a mark that is absent" begins_after "$late" js53 "$TMPDIR/js53.late"
same "nor one of a scheme whose mark it has" '100000 0' \
    "$(grep -c '^[0-9]*$' "$TMPDIR/snowflake.late") $(twice "$TMPDIR/snowflake.lost" "$TMPDIR/snowflake.late")"
check "whose mark it guards too" begins_after "$late" snowflake "$TMPDIR/snowflake.late"
check "for 15 s since the promotion" is_guarded_from_start "$late"
says "the guard is over for all schemes at once, also for those that are used later" '|1' "$late" \
    "SET firn.max_wait = '5s'" "SELECT '|' || count(leaf())"
says "and for those that were never used" '|1' "$late" "SET firn.max_wait = '5s'" "SELECT '|' || count(seata())"
says "the nodes for old rows must be confirmed" 'may have old rows' "$late" "SELECT firn_stamp('snowflake', 'after', '2020-01-01')"

on "$early" 'SELECT pg_promote(true, 60)' >/dev/null
issue "$early" snowflake 100000 "$TMPDIR/early.new"
same "a promoted server that has no tables yet repeats no ID" '100000 0' \
    "$(grep -c '^[0-9]*$' "$TMPDIR/early.new") $(twice "$TMPDIR/early.lost" "$TMPDIR/snowflake.lost" "$TMPDIR/early.new")"
check "because it guards all marks since its promotion" begins_after "$early" snowflake "$TMPDIR/early.new"
check "that is for 15 s" yes_on "$early" 'SELECT isfinite(until) FROM firn_marks.server'
says "and the nodes for old rows must be confirmed there too" 'may have old rows' "$early" \
    "SELECT firn_stamp('snowflake', 'after', '2020-01-01')"
test/engine stop "$early"

# ---- copies of the data directory that no promotion made ------------------------------------------------------------------

# Neither standby.signal nor recovery.signal: PostgreSQL begins no timeline.
starts_alone() {
    rm -f "$1/data/pg/standby.signal"
    test/engine restart "$1"
}
says_copy() {
    cat "$1"/log.* | grep -q 'the data directory is a copy'
}
case $(stat -c %W "$unused/data/pg/PG_VERSION") in
0 | -) ;; # a file system without birth times: not noticed
*)
    starts_alone "$unused"
    issue "$unused" snowflake 100000 "$TMPDIR/unused.new"
    same "a backup from before the first ID repeats none, though it begins no timeline" '1 100000 0' \
        "$(on "$unused" 'SELECT timeline FROM firn_marks.server') $(grep -c '^[0-9]*$' "$TMPDIR/unused.new") $(
            twice "$TMPDIR/early.lost" "$TMPDIR/snowflake.lost" "$TMPDIR/unused.new")"
    check "because its data directory is a copy, which the log says" says_copy "$unused"
    check "and so it is guarded" begins_after "$unused" snowflake "$TMPDIR/unused.new"
    says "and old rows get no node" 'may have old rows' "$unused" "SELECT firn_stamp('snowflake', 'after', '2020-01-01')"
    test/engine stop "$unused"
    ;;
esac

from=$late
on "$late" "SELECT firn_confirm_history('940-949')" >/dev/null
check "a standby follows the promoted server" standby "$early"
check "and is cut off once more" cut "$early"
test/engine halt "$early"
issue "$late" js53 150000 "$TMPDIR/js53.1"
says "it gives old rows a node that was confirmed before" '|940' "$late" \
    "SELECT '|' || (firn_stamp('snowflake', 'lost', '2020-01-01', 'node=940') >> 12 & 1023)"
until=$(on "$late" 'SELECT until FROM firn_marks.server')
test/engine kill "$late"
starts_alone "$early"
issue "$early" js53 60000 "$TMPDIR/js53.2"
same "started without its signal it repeats no ID on the same timeline" "2 60000 0" \
    "$(on "$early" 'SELECT timeline FROM firn_marks.server') $(grep -c '^[0-9]*$' "$TMPDIR/js53.2") $(
        twice "$TMPDIR/js53.1" "$TMPDIR/js53.2")"
check "because it is guarded" begins_after "$early" js53 "$TMPDIR/js53.2"
check "as a copy, which the log says" says_copy "$early"
says "and old rows get no node, though it was confirmed" 'may have old rows' "$early" \
    "SELECT firn_stamp('snowflake', 'found', '2020-01-01', 'node=940')"
again=$(on "$early" 'SELECT until FROM firn_marks.server')
for how in kill halt; do
    test/engine $how "$early"
    test/engine restart "$early"
    says "after $how it is the same server" '|10' "$early" "SELECT '|' || count(snowflake()) FROM generate_series(1, 10)"
done
same "without another guard" "$again" "$(on "$early" 'SELECT until FROM firn_marks.server')"
test/engine stop "$early"
test/engine restart "$late"
says "the original continues" '|10' "$late" "SELECT '|' || count(js53()) FROM generate_series(1, 10)"
same "without one too" "$until" "$(on "$late" 'SELECT until FROM firn_marks.server')"

# ---- a hand-over that is taken back --------------------------------------------------------------------------------------

has_hand_over() {
    yes_on "$1" "SELECT count(*) = 1 FROM firn_marks.handover WHERE at $2 now() - interval '10 minutes'"
}
check "another standby follows it" standby "$early"
on "$late" 'SELECT firn_hand_over()' >/dev/null
check "and gets the hand-over" await has_hand_over "$early" '>'
says "it could use it, so the hand-over is not taken back" 'may issue without a guard until' "$late" 'SELECT firn_take_back()'
says "nor with the promise that is not given" 55000 "$late" 'SELECT firn_take_back(standbys_discarded => false)'
says "and no new window is given" 'handed its nodes over' "$late" 'SELECT tsid()'
check "its data directory is copied" copies "$unused"
starts_alone "$unused"
says "the copy issues nothing either" 'handed its nodes over' "$unused" 'SELECT tsid()'
says "nor does it take back before the time" 'may issue without a guard until' "$unused" 'SELECT firn_take_back()'
check "though it knows that it is a copy" says_copy "$unused"
test/engine stop "$unused"
# It becomes 11 minutes old; a change of the triggers would be another identity of the tables
on "$late" "UPDATE pg_class SET relhastriggers = false WHERE oid = 'firn_marks.handover'::regclass" \
    "UPDATE firn_marks.handover SET at = at - interval '11 minutes'" \
    "UPDATE pg_class SET relhastriggers = true WHERE oid = 'firn_marks.handover'::regclass" >/dev/null
check "the standby has it for so long" await has_hand_over "$early" '<'
check "and loses its connection" cut "$early"
same "then it is taken back" "" "$(on "$late" 'SELECT firn_take_back()')"
issue "$late" js53 150000 "$TMPDIR/js53.1"
check "and IDs continue after the guard" begins_after "$late" js53 "$TMPDIR/js53.1"
test/engine kill "$late"
on "$early" 'SELECT pg_promote(true, 60)' >/dev/null
issue "$early" js53 60000 "$TMPDIR/js53.2"
same "the standby that still has it repeats no ID" '60000 0' \
    "$(grep -c '^[0-9]*$' "$TMPDIR/js53.2") $(twice "$TMPDIR/js53.1" "$TMPDIR/js53.2")"
check "because it is guarded, as after any promotion" begins_after "$early" js53 "$TMPDIR/js53.2"
test/engine stop "$early"
test/engine restart "$late"

# ---- a promotion that lost nothing --------------------------------------------------------------------------------------

# The standby is this server's own copy, which has every commit.
promote_itself() {
    touch "$late/data/pg/standby.signal"
    chmod 666 "$late/data/pg/standby.signal"
    test/engine restart "$late"
    on "$late" 'SELECT pg_promote(true, 60)' >/dev/null
    await yes_on "$late" "SELECT timeline > $1 FROM firn_marks.server"
}
# take_over STATEMENT...: promotes it again where the guard ended before the last statement.
take_over() {
    for timeline in 2 3 4 5; do
        on "$late" "SELECT firn_confirm_history('950-999')" >/dev/null
        issue "$late" snowflake 100000 "$TMPDIR/snowflake.before$timeline"
        until=$(on "$late" 'SELECT until FROM firn_marks.server')
        promote_itself "$timeline"
        said=$(on "$late" "$@")
        [ "${said%nothing to take over*}" != "$said" ] || break
    done
}
on "$late" 'CREATE ROLE visitor' >/dev/null
take_over "SET firn.max_wait = '0'" 'SELECT snowflake()' 'RESET firn.max_wait' 'SELECT firn_take_over()' # it sees the guard
same "a server with every commit is promoted, and somebody says so" 0 "$(echo "$said" | grep -c 'to take over')"
says "not everybody may" 42501 "$late" 'SET ROLE visitor' 'SELECT firn_take_over()'
same "then there is no other guard than before the promotion" "$until" "$(on "$late" 'SELECT until FROM firn_marks.server')"
issue "$late" snowflake 100000 "$TMPDIR/snowflake.after"
same "IDs continue, and none comes twice" '100000 0' "$(grep -c '^[0-9]*$' "$TMPDIR/snowflake.after") $(
    twice "$TMPDIR/snowflake.lost" "$TMPDIR/snowflake.late" "$TMPDIR"/snowflake.before* "$TMPDIR/snowflake.after")"
says "old rows get nodes of the ranges that were confirmed before" '|950' "$late" \
    "SELECT '|' || (firn_stamp('snowflake', 'taken', '2020-01-01', 'node=950') >> 12 & 1023)"

says "when the guard has ended, nothing can be taken over" 'the guard after the promotion has ended' "$late" 'SELECT firn_take_over()'

# ---- copies of marks ----------------------------------------------------------------------------------------------------

test/engine restart "$late" # without windows
on "$late" 'ALTER TABLE firn_marks.mark DISABLE TRIGGER ALL' "UPDATE firn_marks.mark SET system = 1 WHERE ns = 'leaf'" \
    'ALTER TABLE firn_marks.mark ENABLE ALWAYS TRIGGER firn_keep, ENABLE ALWAYS TRIGGER firn_keep_rows' >/dev/null
issue "$late" leaf 1000 "$TMPDIR/leaf.after"
same "a mark that came from another server is noticed" "1000 t" \
    "$(grep -c '^[0-9]*$' "$TMPDIR/leaf.after") $(on "$late" "SELECT until > timestamptz '$until' FROM firn_marks.server")"
check "and guarded" begins_after "$late" leaf "$TMPDIR/leaf.after"

# ---- TRUNCATE and DELETE ------------------------------------------------------------------------------------------------

for statement in 'TRUNCATE firn_marks.mark' 'DELETE FROM firn_marks.mark' 'DELETE FROM firn_marks.history' 'TRUNCATE firn_marks.server' \
    'TRUNCATE firn_marks.mark, firn_marks.history CASCADE'; do
    says "refused: $statement" '55000: firn_marks.' "$late" "$statement"
done
says "a session that replicates is refused too" '55000: firn_marks.' "$late" 'SET session_replication_role = replica' \
    'DELETE FROM firn_marks.mark'

# loses SENTENCE STATEMENT...: the statement removes a mark that is ahead of the clock, and the server crashes.
loses() {
    sentence=$1
    shift
    issue "$late" js53 150000 "$TMPDIR/js53.1"
    said=$(on "$late" "$@")
    test/engine kill "$late"
    test/engine restart "$late"
    on "$late" "${afterwards:-SELECT}" >/dev/null
    issue "$late" js53 60000 "$TMPDIR/js53.2"
    same "$sentence: no ID comes twice after a crash" ' 60000 0' \
        "$said $(grep -c '^[0-9]*$' "$TMPDIR/js53.2") $(twice "$TMPDIR/js53.1" "$TMPDIR/js53.2")"
    check "because the loss is noticed and guarded" begins_after "$late" js53 "$TMPDIR/js53.2"
    same "and forbidden again" 8 \
        "$(on "$late" "SELECT count(*) FROM pg_trigger WHERE tgfoid = 'firn_marks.keep'::regproc AND tgenabled = 'A'")"
}
on_disk='SET synchronous_commit = on'
loses "TRUNCATE with its trigger disabled" "$on_disk" 'ALTER TABLE firn_marks.mark DISABLE TRIGGER ALL' 'TRUNCATE firn_marks.mark' \
    'ALTER TABLE firn_marks.mark ENABLE TRIGGER ALL'
loses "DELETE while the trigger was disabled" "$on_disk" 'ALTER TABLE firn_marks.mark DISABLE TRIGGER firn_keep_rows' \
    "DELETE FROM firn_marks.mark WHERE ns = 'js53'" 'ALTER TABLE firn_marks.mark ENABLE ALWAYS TRIGGER firn_keep_rows'
loses "DELETE with another function in the trigger" "$on_disk" \
    'CREATE OR REPLACE FUNCTION firn_marks.keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$' \
    "DELETE FROM firn_marks.mark WHERE ns = 'js53'"
loses "DROP of all tables" "$on_disk" 'SET client_min_messages = error' 'DROP SCHEMA firn_marks CASCADE'
afterwards='ALTER TABLE firn_marks.mark SET LOGGED'
loses "an unlogged table" "$on_disk" 'ALTER TABLE firn_marks.mark SET UNLOGGED'
afterwards=

# The owner of firn.database may rewrite the tables, which loses nothing.
rows="SELECT marks, until FROM firn_marks.server"
before=$(on "$late" "SELECT firn_confirm_history('970-979') IS NULL" "$rows" | tail -n 1)
same "VACUUM FULL and CLUSTER lose nothing: no guard, and old rows get nodes" "1 $before" \
    "$(on "$late" 'CREATE ROLE landlord' 'ALTER DATABASE postgres OWNER TO landlord' 'SET client_min_messages = error' \
        'SET ROLE landlord' 'VACUUM FULL' 'RESET ROLE' 'CLUSTER firn_marks.mark USING mark_pkey' \
        'CLUSTER firn_marks.history USING history_pkey' 'VACUUM FREEZE firn_marks.mark, firn_marks.history' \
        "SELECT count(firn_stamp('snowflake', 'rewritten', '2020-01-01', 'node=972'))" "$rows" | paste -sd' ')"

# ---- tables that come back after others were in use ----------------------------------------------------------------------

# returns WHERE AWAY BACK: IDs and a node for old rows after the statement AWAY, then BACK and a crash.
returns() {
    on "$late" "SELECT firn_confirm_history('970-979')" "$2" >/dev/null
    test/engine restart "$late"
    issue "$late" js53 150000 "$TMPDIR/js53.1"
    on "$late" "SELECT firn_confirm_history('970-979')" "SELECT firn_stamp('snowflake', '$1', '2020-01-01', 'node=970')" >/dev/null
    moment=$(on "$late" 'SELECT now()')
    on "$late" "$on_disk" "$3" >/dev/null
    test/engine kill "$late"
    test/engine restart "$late"
    issue "$late" js53 60000 "$TMPDIR/js53.2"
    same "no ID comes twice when the marks come back from $1" '60000 0' \
        "$(grep -c '^[0-9]*$' "$TMPDIR/js53.2") $(twice "$TMPDIR/js53.1" "$TMPDIR/js53.2")"
    check "because they are guarded, though they are the same as before" yes_on "$late" "\\c $marks_in" \
        "SELECT until >= timestamptz '$moment' + interval '15 s' FROM firn_marks.server"
    says "and old rows get no node that they got in between" 'may have old rows' "$late" \
        "SELECT firn_stamp('snowflake', 'back from $1', '2020-01-01', 'node=970')"
}
on "$late" 'CREATE DATABASE other' >/dev/null
marks_in=postgres
returns 'another schema' 'ALTER SCHEMA firn_marks RENAME TO aside' 'DROP SCHEMA firn_marks CASCADE; ALTER SCHEMA aside RENAME TO firn_marks'
returns 'another database' "ALTER SYSTEM SET firn.database = 'other'" 'ALTER SYSTEM RESET firn.database'
on "$late" "ALTER SYSTEM SET firn.database = 'other'" >/dev/null
test/engine restart "$late"
number=$(on "$late" "SELECT oid FROM pg_database WHERE datname = 'other'")
marks_in=other
returns 'a copy of their database' 'CREATE DATABASE copied TEMPLATE other' \
    "DROP DATABASE other; CREATE DATABASE other TEMPLATE copied OID $number"
finish
