# SPDX-License-Identifier: MIT
# docs/guides/shared-store.md, section by section, as printed: an administrator's lines on a real engine that has the settings
# of the page, then its URL, for a user that can do nothing else. The hosts and the places of the page are this machine's.
. test/tap

page=docs/guides/shared-store.md
ENGINE_OWNER=$$
export ENGINE_OWNER
places=
cleanup() {
    for place in "$TMPDIR"/*/engine; do
        [ ! -d "$place" ] || test/engine stop "$place"
    done
    # shellcheck disable=SC2086 # folders, to be split
    [ -z "$places" ] || rm -rf $places
}
trap cleanup EXIT
trap 'exit 143' TERM HUP INT

# blocks TITLE FOLDER: the blocks below the heading, as 1.sql, 2.url and so on.
blocks() {
    mkdir -p "$2"
    awk -v title="## $1" -v folder="$2" '
        /^## / { inside = $0 == title }
        !inside { next }
        /^```/ && file { close(file); file = ""; next }
        /^```/ { file = sprintf("%s/%d.%s", folder, ++n, substr($0, 4)); next }
        file { print >file }' "$page"
}
# The URL of the page, with the address of this engine instead of its hosts.
url_here() {
    sed -E "s#@db1(,db2,db3)?#@127.0.0.1:$port#" "$at"/*.url
}
# issues SENTENCE [AS...]: the last section of the page, with the URL; AS runs commands as another user.
issues() {
    title=$1
    shift
    FIRN_STORE=$(url_here)
    export FIRN_STORE
    said=$("$@" sh -eu "$TMPDIR/check/1.sh" 2>&1 </dev/null)
    status=$?
    case $status:$said in
    0:*caution*) fail "$title, without a caution" "$said" ;;
    0:*"snowflake "*) pass "$title" ;;
    *) fail "$title" "$said" ;;
    esac
}
# begin KIND TITLE: its blocks in $at.
begin() {
    kind=$1 title=$2 at=$TMPDIR/$1
    blocks "$title" "$at"
}
# started [OPTION...]: the engine of this section, which listens at $port; skips the section where it is not installed.
started() {
    if [ ! -e "$BUILD/firn/$kind.so" ]; then
        skip "$title" "its module is not built"
    elif test/engine start "$kind" "$at/engine" "$@" >"$at/log" 2>&1; then
        port=$(sed -n 1p "$at/engine/port")
        return
    else
        status=$?
        if [ $status = 77 ]; then skip "$title" "it is not installed"; else fail "$title: the engine starts" "$(cat "$at/log")"; fi
    fi
    return 1
}
# refused SENTENCE PATTERN COMMAND...: it fails, and says so.
refused() {
    sentence=$1 pattern=$2
    shift 2
    printed=$("$@" 2>&1 </dev/null)
    if [ $? != 0 ] && printf '%s\n' "$printed" | grep -qE "$pattern"; then pass "$sentence"; else fail "$sentence" "$printed"; fi
}

blocks "Check it" "$TMPDIR/check"
PATH=$(dirname "$FIRN"):$PATH
export PATH

# ---- SQLite: as root its users are other users than root; else the same user is every user ------------------------
begin sqlite SQLite
place=$(mktemp -d /tmp/firn-ids.XXXXXX) || exit 1 # which all users can reach
places="$places $place"
chmod 755 "$place"
mkdir -p "$place/bin" "$place/lib/firn"
cp "$FIRN" "$place/bin/" && cp "$BUILD/firn/sqlite.so" "$place/lib/firn/"
for word in groupadd usermod; do
    printf '#!/bin/sh\necho "%s $*" >>%s/asked\n' "$word" "$place" >"$place/bin/$word"
done
printf '#!/bin/sh\nexec "$@"\n' >"$place/bin/sudo"
chmod 755 "$place/bin/"*
group=$(id -gn) as=
if [ "$(id -u)" = 0 ]; then
    group=$(id -gn nobody) as="setpriv --reuid $(id -u nobody) --regid $(id -g nobody) --clear-groups"
fi
# A disk of containers is refused without unsafe=1, which the test adds where it must.
unsafe=
"$place/bin/firn" nodes --store "sqlite:$place/try.db?create=yes" >"$at/log" 2>&1 || unsafe='\&unsafe=1'
sed -i -E "s#/srv/ids#$place/ids#g; s#(\?create=[a-z]+)#\1$unsafe#; s#-g ids#-g $group#" "$at"/*
check "SQLite: the lines of the page make the store" sh -eu -c "PATH=$place/bin:\$PATH; . $at/1.sh"
same "... for a group that has its users" "groupadd --system ids usermod --append --groups ids alice" "$(paste -sd' ' "$place/asked")"
same "... and nobody else" "2770 660 660" "$(stat -c %a "$place/ids" "$place/ids/firn.db" "$place/ids/firn.db-count" | paste -sd' ')"
port=
# shellcheck disable=SC2086 # words, to be split
issues "a user of the group issues an ID" $as env PATH="$place/bin:$PATH"
# shellcheck disable=SC2086 # words, to be split
[ -z "$as" ] || refused "another user does not" "ermission denied|not writable|cannot open" setpriv --reuid "$(id -u nobody)" --regid 65500 --clear-groups \
    "$place/bin/firn" new snowflake --store "$(url_here)"

# ---- PostgreSQL ---------------------------------------------------------------------------------------------------
begin postgres PostgreSQL
if started; then
    admin() {
        psql -XqAt -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U firn "$@"
    }
    same "PostgreSQL: the lines of the page make a role and a database" "fsync|on full_page_writes|on" "$(admin -d postgres -f "$at/1.sql" 2>&1 | paste -sd' ')"
    # The line of pg_hba.conf for this address, before those that trust everybody; without TLS, which this server lacks.
    sed 's#hostssl#host#; s#10.0.0.0/24#127.0.0.1/32#' "$at/2.hba" | cat - "$at/engine/data/pg/pg_hba.conf" >"$at/hba"
    cat "$at/hba" >"$at/engine/data/pg/pg_hba.conf"
    admin -d postgres -c 'SELECT pg_reload_conf()' >"$at/log"
    issues "its URL issues an ID"
    reloaded() {
        ! PGPASSWORD=wrong psql -Xq -h 127.0.0.1 -p "$port" -U ids -c '' ids 2>/dev/null
    }
    check "with the password only" await reloaded
    check "the role does not need to own the tables" admin -d ids -f "$at/4.sql"
    issues "... and then still issues IDs"
    for statement in 'DROP TABLE firn_mark' 'DROP DATABASE ids' 'DELETE FROM firn_mark' 'CREATE ROLE other' 'ALTER TABLE firn_mark DISABLE TRIGGER ALL'; do
        refused "the role cannot $statement" "must be owner|permission denied" env PGPASSWORD=PASSWORD psql -XqAt -v ON_ERROR_STOP=1 \
            -h 127.0.0.1 -p "$port" -U ids -c "$statement" ids
    done
fi

# ---- MariaDB ------------------------------------------------------------------------------------------------------
begin mysql "MariaDB and MySQL"
# shellcheck disable=SC2046 # options, to be split
if started $(sed -n 's/^\([a-z_]*\) = /--\1=/p' "$at"/2.ini) --log-bin; then
    admin() {
        mariadb --no-defaults --skip-ssl-verify-server-cert -N -B --socket="$at/engine/data/s1" -u root "$@"
    }
    check "MariaDB: the lines of the page make a user and a database" admin -e "$(cat "$at/1.sql")"
    issues "its URL issues an ID"
    check "the user does not need CREATE" admin -e "$(cat "$at/4.sql")"
    issues "... and then still issues IDs"
    for statement in 'DROP TABLE firn_mark' 'DELETE FROM firn_mark' 'TRUNCATE firn_mark' 'CREATE DATABASE other' 'CREATE TABLE other (n int)'; do
        refused "the user cannot $statement" "denied" mariadb --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P "$port" -u ids \
            -pPASSWORD -e "$statement" ids
    done
fi

# ---- Redis --------------------------------------------------------------------------------------------------------
begin redis Redis
# The default user is switched off later: until then the test waits for an answer to PING.
set --
while read -r key rest; do
    case "$key $rest" in "user default "*) off=${rest#default } && continue ;; esac
    # shellcheck disable=SC2086 # words, to be split
    set -- "$@" "--$key" $rest
done <"$at/1.conf"
if started "$@" --enable-debug-command yes; then
    admin() {
        redis-cli -e -h 127.0.0.1 -p "$port" --no-auth-warning --user admin --pass ADMINPASSWORD "$@"
    }
    set -f
    # shellcheck disable=SC2086 # words, to be split
    check "Redis: the administrator can switch the default user off, as the page does" admin ACL SETUSER default reset ${off:-on}
    set +f
    issues "its URL issues an ID"
    # Redis replays its log as the default user: without rights, it drops what scripts wrote.
    check "the log can be replayed" admin DEBUG LOADAOF
    same "... and has the marks" 1 "$(admin EXISTS '{firn}:snowflake')"
    for command in 'GET other' 'FLUSHALL' 'SHUTDOWN' 'CONFIG SET appendonly no' 'DEL {firn}'; do
        # shellcheck disable=SC2086 # words, to be split
        refused "the user cannot $command" NOPERM redis-cli -e -h 127.0.0.1 -p "$port" --no-auth-warning --user ids --pass PASSWORD $command
    done
    refused "nobody else can do anything" NOAUTH redis-cli -e -h 127.0.0.1 -p "$port" GET other
fi

# ---- etcd ---------------------------------------------------------------------------------------------------------
begin etcd etcd
if ! command -v etcdctl >/dev/null; then
    lacks "etcd" etcd-client
elif started; then
    export ETCDCTL_API=3 ETCDCTL_ENDPOINTS="127.0.0.1:$port"
    check "etcd: the lines of the page make a user" sh -eu "$at/1.sh"
    issues "its URL issues an ID"
    refused "the user cannot read other keys" "permission denied" etcdctl --user ids:PASSWORD get other
    refused "... or make users" "permission denied" etcdctl --user ids:PASSWORD user add other:PASSWORD
    refused "nobody else can read the marks" "user name is empty|permission denied" etcdctl get --prefix firn/
fi

# ---- ZooKeeper ----------------------------------------------------------------------------------------------------
begin zookeeper ZooKeeper
lines=$(grep -vE '^(server\.|dataDir=|clientPort=)' "$at/1.properties")
# shellcheck disable=SC2086 # one line an option
if started $lines; then
    issues "ZooKeeper: its URL issues an ID"
    refused "another user cannot" "does not allow it" firn new snowflake --store "zookeeper://ids:WRONG@127.0.0.1:$port"
    refused "... nor nobody" "does not allow it" firn new snowflake --store "zookeeper://127.0.0.1:$port"
fi

same "each section has its URL" 6 "$(grep -c '^```url$' "$page")"
finish
