# SPDX-License-Identifier: MIT
# Promises of the README and docs/guides/languages.md besides their commands (test/clone.sh): the C program has no warnings, the
# hints of the server work, the README stays short. docs/reference/schemes.md has the table of the library; with --write COMMAND
# (make readme) the table is written.
. test/tap
tree=$(pwd)
schemes=$tree/docs/reference/schemes.md
if [ "${1:-}" = --write ]; then
    "$2" schemes --markdown >"$schemes.table" &&
        sed -e '/^<!-- schemes -->$/,/^<!-- \/schemes -->$/{/^<!--/!d}' -e "/^<!-- schemes -->\$/r $schemes.table" "$schemes" >"$schemes.new" &&
        mv "$schemes.new" "$schemes" && rm -f "$schemes.table"
    exit
fi
stage=$TMPDIR/stage
DESTDIR=$stage cmake --install "$BUILD" >"$TMPDIR/log" 2>&1 || fail "firn installs" "$(cat "$TMPDIR/log")"
libdir=$(dirname "$(find "$stage" -name libfirn.a)")
PATH=$(dirname "$(find "$stage" -path '*/bin/firn')"):$PATH
LD_LIBRARY_PATH=$libdir
PKG_CONFIG_PATH=$libdir/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$stage
export PATH LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

# block LANGUAGE PAGE: the lines inside ```LANGUAGE fences.
block() {
    awk -v fence="\`\`\`$1" '$0 == "```" { inside = 0 } inside { print } $0 == fence { inside = 1 }' "$tree/$2"
}

mkdir "$TMPDIR/work"
cd "$TMPDIR/work" || exit 1
block c docs/guides/languages.md >first.c
check "the program of docs/guides/languages.md compiles without a warning" sh -c \
    'cc -std=c99 -pedantic -Wall -Wextra -Werror -o strict first.c $(pkg-config --cflags --libs firn)'
# The server of the README, on other ports, since somebody may be trying the real one.
FIRN_RESP=127.0.0.1:0 FIRN_HTTP=127.0.0.1:0 FIRN_WAIT=60s firn serve --hints --auto-create >"$TMPDIR/hints" 2>"$TMPDIR/served" &
server=$!
for _ in $(seq 600); do
    grep -q Ctrl-C "$TMPDIR/hints" && break
    sleep 0.1
done
resp=$(sed -n 's/.*redis-cli -h 127.0.0.1 -p \([0-9]*\) INCR.*/\1/p' "$TMPDIR/hints")
http=$(sed -n 's,.*http://127.0.0.1:\([0-9]*\)/v1.*,\1,p' "$TMPDIR/hints")
check "the server of the README serves, and says where" test -n "$resp" -a -n "$http"
try_hint() {
    case $1 in
    curl*) check "what it says to try works: ${1%% *}" sh -c "$1 -fsS" ;;
    *) check "what it says to try works: ${1%% *}" sh -c "$1" ;;
    esac
}
sed -n 's/^  //p' "$TMPDIR/hints" >"$TMPDIR/tries"
while read -r line; do
    try_hint "$line" </dev/null
done <"$TMPDIR/tries"
same "and it is three things" 3 "$(wc -l <"$TMPDIR/tries")"
kill "$server" && wait "$server"
same "the server ends with status 0" 0 "$?"
# Where no client is installed, the hint is the command.
empty=$TMPDIR/empty
mkdir "$empty"
firn=$(command -v firn)
(PATH=$empty FIRN_RESP=127.0.0.1:0 FIRN_HTTP=127.0.0.1:0 FIRN_WAIT=60s exec "$firn" serve --hints --auto-create) >"$TMPDIR/alone" 2>&1 &
server=$!
for _ in $(seq 600); do
    grep -q 'in a browser' "$TMPDIR/alone" && break
    sleep 0.1
done
kill "$server" && wait "$server"
same "without curl and redis-cli the hint is a command that works" "2022-06-28" \
    "$(sh -c "$(sed -n 's/^  //p' "$TMPDIR/alone")" | grep -o -m 1 '2022-06-28')"
same "and names the packages of the clients" "Install redis-tools and curl to try more." "$(grep '^Install' "$TMPDIR/alone")"
# With a file, the hints name what it has.
printf '[server]\nstore = memory:\nunsafe = yes\n[segment bills]\n' >"$TMPDIR/hints.ini"
hints_of() {
    : >"$TMPDIR/hints" # the job empties it too, but perhaps after the first look
    FIRN_RESP=127.0.0.1:0 FIRN_HTTP=none FIRN_HINTS=yes firn serve -c "$TMPDIR/hints.ini" >"$TMPDIR/hints" 2>"$TMPDIR/served" &
    server=$!
    for _ in $(seq 600); do
        grep -q 'FIRN.NEW' "$TMPDIR/hints" && break
        sleep 0.1
    done
    kill "$server" && wait "$server"
    sed -n 's/.* \(INCR .*\)/\1/p' "$TMPDIR/hints"
}
same "with a file the hints ask for a segment that it has" "INCR 'bills'" "$(hints_of)"
printf '[server]\nstore = memory:\nunsafe = yes\n' >"$TMPDIR/hints.ini"
same "and for none where it has none" "" "$(hints_of)"
same "the README has one command to try everything" "./run" "$(block sh README.md | grep '^\./run')"
check "the README has at most 150 lines" test "$(wc -l <"$tree/README.md")" -le 150
check "the program prints one decimal ID" sh -c './strict 2>/dev/null | grep -qxE "[0-9]{15,20}"'
same "the header begins with the same program" "$(cat first.c)" \
    "$(sed -n '/^ \*     #include <firn/,/^ \*     }/p' "$OLDPWD/include/firn/firn.h" | sed 's/^ \*//; s/^     //')"
# Which layouts have ended depends on the day, so the marks are compared apart.
"$FIRN" schemes --markdown >table
sed -n '/^<!-- schemes -->$/,/^<!-- \/schemes -->$/p' "$schemes" | grep -v '^<!--' >shown
plain() { sed -E 's/\*\*end(ed|s soon):\*\* //' "$1"; }
same "docs/reference/schemes.md has the table of firn schemes --markdown (make readme writes it)" "$(plain table)" "$(plain shown)"
same "a layout that has ended is marked" "| **ended:** 2024-11-20T13:24:16Z |" "$(sed -n '/^$/q; /^| `baidu`/s/.*\(| [^|]* |\)$/\1/p' table)"
same "a layout that ends in more than two years is not" 0 "$(grep -c '^| `uuid7`.*\*\*' table)"
finish
