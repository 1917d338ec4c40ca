# SPDX-License-Identifier: MIT
# A fresh clone works as its pages say: each word of ./run, the installation, and each command of README.md and docs/
# as printed (docs/start/choosing.md and docs/guides/migrating.md: test/guides.sh). What is installed goes into a /usr/local and an /etc
# that only this test sees, and servers listen at their usual ports of its own network. test/excused lists
# the commands that are not run, with reasons.
. test/tap
tree=$(pwd)
clone=$TMPDIR/clone
built=${built:-$BUILD} # the build under test
export built
unset BUILD FIRN FIRN_STORE CI # a newcomer has none of these set

# ---- the words of ./run ----------------------------------------------------------------------------

# word SENTENCE WORD...: ./run WORD... as a newcomer starts it, from another folder, other time zone and umask than
# the same as in the build under test.
word() {
    sentence=$1
    shift
    if (umask 027 && cd / && TZ=Asia/Tokyo FIRN_NO_INSTALL=1 "$clone/run" "$@") >"$TMPDIR/said" 2>&1 </dev/null; then
        pass "$sentence"
    else
        fail "$sentence" "$(tail -n 60 "$TMPDIR/said")"
    fi
}

# serves SENTENCE [WORD]: ./run serves until Ctrl-C.
serves() {
    sentence=$1
    shift
    : >"$TMPDIR/said"
    (cd "$clone" && FIRN_RESP=127.0.0.1:0 FIRN_HTTP=127.0.0.1:0 FIRN_NO_INSTALL=1 exec ./run "$@") >"$TMPDIR/said" 2>&1 </dev/null &
    server=$!
    limit=$(($(date +%s) + 200))
    until grep -q Ctrl-C "$TMPDIR/said" || ! kill -0 $server 2>/dev/null || [ "$(date +%s)" -gt $limit ]; do
        sleep 0.1
    done
    url=$(sed -n "s,.*'\(http://127.0.0.1:[0-9]*\)/v1.*,\1,p" "$TMPDIR/said")
    issued=$(curl -sS "$url/v1/new/snowflake?format=text" 2>&1)
    kill -TERM $server 2>/dev/null
    if wait $server && printf '%s' "$issued" | grep -qxE '[0-9]{15,20}'; then
        pass "$sentence"
    else
        fail "$sentence" "$(echo "$issued" && tail -n 60 "$TMPDIR/said")"
    fi
}

words() {
    fresh_clone "$clone"
    word "./run help works in a fresh clone" help
    # The order saves time: all builds on what build made.
    offered=$(sed -n 's|^  ./run \([a-z]*\)\( .*\)*$|\1|p' "$TMPDIR/said")
    same "./run help lists the words that are tried here" "build all bindings test bench tour serve help" "$(echo $offered)"
    word "./run build works in a fresh clone" build
    check "and says how far it is, from time to time" grep -q 'building firn: ' "$TMPDIR/said"
    reproducible
    word "./run all works after it" all
    for file in firn/redis.so firn/ff1.so libfirn_sqlite.so ext/mariadb/firn_mariadb.so ext/postgres/firn.so; do
        check "and has built $file" test -s "$clone/build/$file"
    done
    word "./run bindings works" bindings
    if /usr/bin/python3 -c 'import setuptools, wheel' 2>/dev/null; then
        check "and has built a wheel" sh -c "test -s '$clone'/build/packages/python/*.whl"
    fi
    if [ -f /usr/include/node/node_api.h ]; then
        check "and an addon" test -s "$clone/build/packages/node/firn.node"
    fi
    if command -v javac >/dev/null; then
        check "and a jar" sh -c "test -s '$clone'/build/packages/java/firn-*[0-9].jar"
    fi
    if command -v go >/dev/null; then
        check "and a module for Go" test -s "$clone/build/packages/go/go.mod"
    fi
    word "./run tour works" tour
    serves "./run serves until Ctrl-C, and ends with status 0"
    serves "./run serve does the same" serve
    check "./run refuses a word that it does not know" sh -c "! '$clone/run' nosuch 2>'$TMPDIR/said'"
    check "and lists those that it knows" grep -q "not one of serve, tour, build, all, bindings, test, bench, help" "$TMPDIR/said"
    # test is what runs this; bench takes ten minutes: test/bare runs both.
}

# Two builds in folders of different names, at different times of different zones, give the same bytes.
reproducible() {
    if grep -qE '^(CMAKE_C_FLAGS:STRING=.|CMAKE_BUILD_TYPE:STRING=(Debug|Release))' "$built/CMakeCache.txt"; then
        skip "the build can be reproduced" "the build under test has other flags"
        return
    fi
    for file in libfirn.a libfirn.so.0 firn/sqlite.so; do
        check "$file is the same as in the build under test" cmp "$built/$file" "$clone/build/$file"
        check "$file does not name where it was built" sh -c "! grep -qaF '$clone' '$clone/build/$file'"
    done
}

# ---- the pages, on a separate machine-----------------------------------------------------------

# From here on this test has its own ports that pages name, and its own files that "make install" and "ldconfig" write.
private_machine() {
    mount --make-rprivate / || return 1
    mkdir -p /srv
    for folder in /usr/local /srv /etc /usr/lib/mysql/plugin $(pg_config --pkglibdir) $(pg_config --sharedir)/extension; do
        own=$TMPDIR/own$folder
        mkdir -p "$own"
        case $folder in
        /usr/local | /srv) ;; # begin empty
        *) cp -a "$folder/." "$own" ;;
        esac
        case $tree/ in "$folder"/*) # this test must not lose the tree that it runs in
            mkdir -p "$own${tree#"$folder"}"
            mount --bind "$tree" "$own${tree#"$folder"}" || return 1
            ;;
        esac
        mount --rbind "$own" "$folder" || return 1
    done
    mount -t tmpfs firn /dev/shm || return 1
    mkdir -p /usr/local/bin /srv/ids
    hostname web-7 # a name with an ordinal, as of a pod
    python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14s", b"lo", 1, b""))' # SIOCSIFFLAGS: up
}

# blocks PAGE PREFIX: what PAGE shows, as PREFIXnumber.sh and other languages, a file each; a block below a line "`NAME`:" is
# the file NAME. Indented commands are blocks of sh too.
blocks() {
    awk -v prefix="$2" '
        /^```/ && file != "" { file = ""; next }
        /^```(sh|)$/ { file = sprintf("%s%03d.sh", prefix, ++n); next }
        /^```/ {
            file = name != "" ? name : sprintf("%s%03d.%s", prefix, ++n, substr($1, 4))
            if (name ~ "/") { folder = name; sub("/[^/]*$", "", folder); system("mkdir -p \"" folder "\"") }
            next
        }
        file != "" { sub(/^\$ /, ""); print >file; next }
        /^    (\$ )?(firn|openssl|\(umask) / { line = $0; sub(/^ *(\$ )?/, "", line); print line >sprintf("%s%03d.sh", prefix, n + 1); indented = 1; next }
        indented { n++; indented = 0 }
        { name = /^`[^`]*`:$/ ? substr($0, 2, length($0) - 3) : name }
        /^$/ { next }
        !/^`[^`]*`:$/ { name = "" }' "$1"
}

# run_page PAGE: its commands in the fresh clone, with its own home and store.
run_page() {
    page=$1
    mine=$TMPDIR/pages/$page
    mkdir -p "$mine/home" "$mine/state"
    HOME=$mine/home XDG_STATE_HOME=$mine/state
    export HOME XDG_STATE_HOME
    cd "$clone" || exit 1
    blocks "$tree/$page" "$mine/" || fail "the blocks of $page are read"
    for block in "$mine"/[0-9][0-9][0-9].sh; do
        [ ! -e "$block" ] || run_block "$block"
    done
    [ -z "${served:-}" ] || { kill "$served" && wait "$served"; }
    served=
    cd "$tree" || exit 1
}

healthy() {
    curl -s http://127.0.0.1:7380/healthz
}

# ---- the pages of databases: what they install, then their SQL --------------------------------------------------------

database_pages() {
    fixture=$TMPDIR/fixture.sql
    # The extension that docs/guides/postgres.md has installed, in a server with the two lines that it names.
    if url=$("$tree/test/engine" start postgres "$TMPDIR/pg" -c shared_preload_libraries=firn -c firn.node=7 \
        -c firn.history=900-999 2>"$TMPDIR/log"); then
        cat >"$fixture" <<'SQL'
DROP EXTENSION IF EXISTS firn CASCADE;
DROP TABLE IF EXISTS event, orders, visit;
SELECT 'CREATE EXTENSION firn' WHERE :'block' <> 'first' \gexec
DO 'BEGIN CREATE ROLE shop; CREATE ROLE migration; EXCEPTION WHEN duplicate_object THEN NULL; END';
CREATE TABLE orders AS SELECT timestamptz '2024-05-01 12:00Z' + g * interval '1 hour' AS created_at FROM generate_series(1, 9) g;
CREATE TABLE visit AS SELECT NULL::bigint AS id, timestamp '2024-05-01' + g * interval '1 hour' AS seen FROM generate_series(1, 9) g;
SQL
        for block in "$TMPDIR/pages/docs/guides/postgres.md"/[0-9][0-9][0-9].sql; do
            # after a promotion: test/extension_postgres_lost.sh; with a store: test/extension_postgres_shared.sh; with masks or a series: test/extension_postgres_masks.sh
            grep -qE 'firn_take_over|firn_share_store|firn_mask|firn_number' "$block" && continue
            grep -q 'CREATE EXTENSION' "$block" && first=first || first=later
            check "docs/guides/postgres.md: SQL that begins with $(head -n 1 "$block")" \
                psql -XqAt -v ON_ERROR_STOP=1 -v block=$first -h 127.0.0.1 -p "$(cat "$TMPDIR/pg/port")" -U firn -f "$fixture" -f "$block" postgres
        done
    else
        skip "docs/guides/postgres.md" "PostgreSQL is not installed"
    fi
    "$tree/test/engine" stop "$TMPDIR/pg" 2>/dev/null

    cat >"$fixture" <<'SQL'
.load libfirn_sqlite
CREATE TABLE event(id INTEGER PRIMARY KEY NOT NULL, note TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE old(id INTEGER, created TEXT, note TEXT);
INSERT INTO old(created, note) VALUES('2024-05-01 12:00:00', 'a'), ('2024-05-01 13:00:00', 'b');
SQL
    for block in "$TMPDIR/pages/docs/guides/sqlite.md"/[0-9][0-9][0-9].sql; do
        grep -q firn_mask "$block" && continue # needs a file of masks
        : >"$TMPDIR/before.sql"
        grep -q '^.load' "$block" || cp "$fixture" "$TMPDIR/before.sql"
        check "docs/guides/sqlite.md: SQL that begins with $(head -n 1 "$block")" \
            sh -c 'cat "$@" | sqlite3 -bail :memory:' sh "$TMPDIR/before.sql" "$block"
    done

    # The client finds the server by its file of options, as root does on Debian by its socket.
    room=$(mktemp -d /tmp/firn-mariadb.XXXXXX) && chmod 777 "$room" # where the server's user can write
    if FIRN_STORE="sqlite:$room/firn.db?unsafe=1" "$tree/test/engine" start mysql "$TMPDIR/mariadb" >/dev/null 2>"$TMPDIR/log"; then
        HOME=$TMPDIR/pages/docs/guides/mariadb.md/home
        printf '[client]\nhost=127.0.0.1\nport=%s\nuser=firn\ndatabase=firn\nskip-ssl-verify-server-cert\n' "$(sed -n 1p "$TMPDIR/mariadb/port")" >"$HOME/.my.cnf"
        while IFS= read -r line; do
            check "docs/guides/mariadb.md: ${line%%  *}" sh -c "$line" </dev/null
        done <"$TMPDIR/mariadb.lines"
        for block in "$TMPDIR/pages/docs/guides/mariadb.md"/[0-9][0-9][0-9].sql; do
            without=', ADD id BIGINT' # the first block supposes the column, a later one makes it
            grep -q 'ALTER TABLE old ADD id' "$block" && without=
            check "docs/guides/mariadb.md: SQL that begins with $(sed 's/^ *//;q' "$block")" sh -c '
                { echo "DROP TABLE IF EXISTS event, old, orders; CREATE TABLE old (created_at DATETIME);"
                  echo "CREATE TABLE orders (note TEXT); INSERT INTO orders VALUES (\"a\"), (\"b\");"
                  echo "INSERT INTO old VALUES (\"2024-05-01 12:00:00\"), (\"2024-05-01 13:00:00\");"
                  [ -z "$2" ] || echo "ALTER TABLE old ${2#, };"
                  cat "$1"; } | mariadb' sh "$block" "$without"
        done
    else
        skip "docs/guides/mariadb.md" "MariaDB is not installed"
    fi
    "$tree/test/engine" stop "$TMPDIR/mariadb" 2>/dev/null
    rm -rf "$room"
}

# Lines of other programs than these are what some command prints.
ours='^(firn|build/bin/firn|make|ldconfig|cc|\./[a-z]+|redis-cli|curl|printf|\(umask|openssl|ln|mariadb|sh) |^(ldconfig|\./[a-z]+)( |$)'
run_block() {
    while IFS= read -r line; do
        command=$(printf '%s' "$line" | sed 's/  *#.*//')
        title="$page: $(printf '%s' "$command" | tr -d '\\')"
        printf '%s' "$line" | grep -qE "$ours" || continue
        if reason=$(excuse "$page" "$command"); then
            printf '%s\t%s\n' "$page" "$command" >>"$TMPDIR/excused"
            continue
        fi
        case $command in
        *@@plugin_dir* | 'mariadb --force '*) printf '%s\n' "$line" >>"$TMPDIR/mariadb.lines" ;; # once it runs
        ./run | 'firn serve --auto-create')
            [ -z "${served:-}" ] || continue
            FIRN_NO_INSTALL=1 $command >"$TMPDIR/served" 2>&1 &
            served=$!
            check "$title" await healthy
            ;;
        *--store*://*.example*) with_engine "$(printf '%s' "$command" | sed 's|.*--store \([a-z]*\)://.*|\1|')" ;;
        *) check "$title" timeout 300 sh -c "$line" </dev/null ;;
        esac
    done <"$1"
}

# The machines of example are not machines: an engine on loopback replaces each.
export ENGINE_OWNER=$$
with_engine() {
    url=$("$tree/test/engine" start "$1" "$TMPDIR/$1" 2>"$TMPDIR/log")
    case $? in
    0) check "$title" sh -c "$(printf '%s' "$command" | sed "s|$1://[^ ]*|'$url'|")" </dev/null ;;
    77) skip "$title" "$1 is not installed" ;;
    *) fail "$title" "$(cat "$TMPDIR/log")" ;;
    esac
    "$tree/test/engine" stop "$TMPDIR/$1" 2>/dev/null
}

# excuse PAGE COMMAND: prints why it is not run; fails when it must be run.
excuse() {
    awk -F '\t' -v page="$1" -v command="$2" '
        $1 == page && $2 == command { print $3; found = 1; exit } END { exit !found }' "$tree/test/excused"
}

pages() {
    private_machine >"$TMPDIR/log" 2>&1 || { fail "this test has its own machine" "$(cat "$TMPDIR/log")"; finish; }
    # Errors of servers are not failures of their clients unless clients see them.
    mkdir "$TMPDIR/bin"
    for client in "redis-cli -e" "curl -fsS"; do
        printf '#!/bin/sh\nexec %s/%s "$@"\n' "$(dirname "$(command -v "${client%% *}")")" "$client" >"$TMPDIR/bin/${client%% *}"
    done
    chmod +x "$TMPDIR/bin/"*
    PATH=$TMPDIR/bin:/usr/local/sbin:/usr/local/bin:$PATH
    : >"$TMPDIR/excused"
    for page in docs/start/install.md README.md SECURITY.md CONTRIBUTING.md docs/*.md docs/explanation/*.md docs/guides/*.md docs/reference/*.md docs/start/tutorial.md docs/skill/SKILL.md; do
        case $page in docs/guides/migrating.md | docs/guides/backup.md | docs/guides/shared-store.md) continue ;; esac # test/guides.sh, test/guides_stores.sh
        run_page "$page"
    done
    database_pages
    same "test/excused excuses only what pages say" "$(grep -v '^#' test/excused | cut -f 1,2 | sort)" \
        "$(sort -u "$TMPDIR/excused")"
    missing_module
}

# ./run and "make install" alone leave the modules of shared stores out; the error says how to get them.
missing_module() {
    rm -f /usr/local/lib/firn/redis.so /usr/local/lib/firn/ff1.so
    firn new snowflake --store redis://127.0.0.1 >"$TMPDIR/said" 2>&1
    same "without its module a store is refused as usage" 2 $?
    check "and the error names the cure" \
        grep -q 'redis is not installed in /usr/local/lib/firn: install the package libfirn-store-redis (Debian), or in firn.s source run ./run all, then make install' "$TMPDIR/said"
}

if [ "${1:-}" = --pages ]; then
    checks=$2 failures=$3
    pages
    finish
fi
words
if unshare -mnu true 2>/dev/null; then
    exec unshare -mnu sh "$0" --pages "$checks" "$failures"
elif unshare -rmnu true 2>/dev/null; then
    exec unshare -rmnu sh "$0" --pages "$checks" "$failures"
fi
skip "the pages' commands run as printed" "this test may not have mounts and a network of its own (unshare)"
finish
