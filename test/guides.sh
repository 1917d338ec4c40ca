# SPDX-License-Identifier: MIT
# The guides do what they say: each ```sh block of them is run as printed, page by page with its own folder and
# store, and a ```text block after it is its output; ```console is an example.
. test/tap
tree=$(pwd)
PATH=$(dirname "$FIRN"):$PATH
export PATH

for page in start/choosing start/tutorial guides/migrating skill/SKILL; do
    work=$TMPDIR/$page
    XDG_STATE_HOME=$work/state
    export XDG_STATE_HOME
    mkdir -p "$work/state" && cd "$work" || exit 1
    # Later commands take this node again. Else one in 1024 takes the node of the tutorial's job, whose IDs it prints.
    firn new snowflake --node 0 >/dev/null 2>&1 || fail "docs/$page.md starts with a node that was used"
    # NUMBER.sh, NUMBER.text, and NUMBER.title: the heading above
    awk '
        /^```sh$/ { n++; file = sprintf("%02d.sh", n); print title >sprintf("%02d.title", n); next }
        /^```text$/ && !shown[n]++ { file = sprintf("%02d.text", n); next }
        /^```/ { file = ""; next }
        file != "" { print >file; next }
        /^#+ / { title = $0; sub(/^#+ /, "", title) }' "$tree/docs/$page.md"
    for block in [0-9]*.sh; do
        number=${block%.sh}
        ! grep -qE '^(firn serve|curl) ' "$block" || continue # test/clone.sh runs these, at the usual ports
        title="docs/$page.md, $(cat "$number.title"): block $number"
        if ! timeout 300 sh -eu "$block" >"$number.said" 2>"$number.notes" </dev/null; then
            fail "$title" "$(cat "$number.said" "$number.notes")"
        elif [ -e "$number.text" ]; then
            same "$title" "$(cat "$number.text")" "$(cat "$number.said")"
        else
            pass "$title"
        fi
    done
    check "docs/$page.md has at least ten blocks" test -e 10.sh
done
cd "$tree" || exit 1

# ---- backups: a section each, with its engine ----------------------------------------------------
ENGINE_OWNER=$$
export ENGINE_OWNER
page=$tree/docs/guides/backup.md
# Sets what the clients of the engine read, to reach the one in $TMPDIR/backup/KIND.
name_engine() {
    port=$(sed -n 1p "$TMPDIR/backup/$1/engine/port")
    case $1 in
    postgres) export PGHOST=127.0.0.1 PGPORT="$port" PGUSER=firn PGDATABASE=postgres ;;
    mysql) printf '[client]\nhost=127.0.0.1\nport=%s\nuser=firn\nskip-ssl-verify-server-cert\n' "$port" >"$HOME/.my.cnf" ;;
    esac
}
# The administrators of these restore the data of a server that is stopped: before the second block.
loses_data() {
    case $1 in
    redis | zookeeper) "$tree/test/engine" save engine && "$tree/test/engine" restore engine ;;
    esac >/dev/null 2>&1
}
while read -r kind title; do
    HOME=$TMPDIR/backup/$kind
    mkdir -p "$HOME" && cd "$HOME" || exit 1
    if [ "$kind" = sqlite ]; then
        url=
    elif [ ! -e "$BUILD/firn/$kind.so" ]; then
        skip "docs/guides/backup.md, $title" "its module is not built"
        continue
    elif url=$("$tree/test/engine" start "$kind" "$PWD/engine" 2>log); then
        name_engine "$kind"
    else
        [ "${CI:-}" != true ] || fail "$kind is installed"
        skip "docs/guides/backup.md, $title" "$(tail -n 1 log)"
        continue
    fi
    FIRN_STORE=$url
    export FIRN_STORE HOME
    awk -v title="## $title" '
        /^## / { inside = $0 == title }
        !inside { next }
        /^```sh$/ { n++; file = n ".sh"; next }
        /^```text$/ { file = n ".text"; next }
        /^```/ { file = ""; next }
        file != "" { print >file }' "$page"
    for block in [0-9].sh; do
        [ "$block" = 1.sh ] || loses_data "$kind"
        sh -eu "$block" >said 2>notes </dev/null || echo "status $?" >>notes
        same "docs/guides/backup.md, $title, block ${block%.sh}" "$(cat "${block%.sh}.text")" "$(cat said)" || cat notes
    done
    [ -z "$url" ] || "$tree/test/engine" stop engine
done <<'KINDS'
sqlite SQLite
postgres PostgreSQL
mysql MariaDB and MySQL
redis Redis
etcd etcd
zookeeper ZooKeeper
KINDS
cd "$tree" || exit 1
same "docs/start/choosing.md has five workloads" 5 "$(sed -n '/^## Five/,/^## What/p' docs/start/choosing.md | grep -c '^### ')"
finish
