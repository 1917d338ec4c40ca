# SPDX-License-Identifier: MIT
# PostgreSQL on a machine that was restored or cloned: the kernel says so, in a network where this test may have it say that.
# shellcheck disable=SC2016 # dollars quote SQL, for the server
. test/postgres.tap
here=$0
renews="backends of a copied machine drop what they have prepared"
private_needed "$renews"
if [ "${1:-}" != --inside ]; then
    if [ "$(id -u)" = 0 ] && unshare -n true 2>/dev/null; then
        exec unshare -n sh "$here" --inside
    elif unshare -cn --keep-caps true 2>/dev/null; then
        exec unshare -cn --keep-caps sh "$here" --inside
    fi
    skip "$renews" "this test may not have a network of its own (unshare)"
    finish
fi

# loopback is up, without iproute2: SIOCSIFFLAGS, IFF_UP
/usr/bin/python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 1))'
private_test "$renews"
check "a server starts with firn preloaded" test/engine start postgres "$place" -c shared_preload_libraries=firn \
    -c firn.node=7 -c firn.max_wait=60s
port=$(cat "$place/port") log=$place/log.1
# ask <STATEMENTS: a session that reads them
ask() {
    psql -XqAt -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U firn postgres 2>&1
}
echo 'CREATE EXTENSION firn' | ask
# The commands that a session has run: the notice, and a wait until the renewer has read it.
notice="/usr/bin/python3 test/serve/vmgenid.py"
cat >"$TMPDIR/heard" <<EOF
. test/tap
heard() { grep -q 'the VM generation ID changed' "$log"; }
await heard
EOF

# node of a random uuid1, and whether snowflakes rise
show="SELECT right(uuid1()::text, 12), :last < snowflake() AS rises, snowflake() AS last \\gset
\\echo :right :rises"
found=$(
    printf '%s\n' "\\set last 0" "$show" "$show" "\\! $notice -" "$show" "\\! $notice" "\\! sh $TMPDIR/heard" "$show" "$show" |
        ask | tr '\n' ' '
)
# shellcheck disable=SC2086 # words: node and t, five times
set -- $found
same "a session's IDs without a node have their own random one" "$1 t $1 t" "${1:-} ${2:-} ${3:-} ${4:-}"
same "a process that sends the kernel's notice is not heard" "$1 t" "${5:-} ${6:-}"
check "$renews" [ "${7:-$1}" != "$1" ]
same "and continue" "${7:-} t ${7:-} t" "${7:-} ${8:-} ${9:-} ${10:-}"
same "a session that begins later sees nothing of it" t "$(echo 'SELECT snowflake() > 0' | ask)"
same "the log says it once" 1 "$(grep -c 'the VM generation ID changed' "$log")"
finish
