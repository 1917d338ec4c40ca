# SPDX-License-Identifier: MIT
# ./run tour: sh docs/tour.sh COMMAND issues an ID of every scheme from a separate store, reads each one, and stops at
# the first step that fails.
set -eu
firn=$1
folder=$(mktemp -d "${TMPDIR:-$PWD/build}/tour.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
store=sqlite:$folder/firn.db

# On file systems that may lose data firn refuses to reserve; for a tour a loss does not matter.
case $(stat -f -c %T "$folder") in
overlayfs | tmpfs | ramfs | nfs*)
    unsafe=unsafe=1
    echo "note: this folder is on a file system that may lose reservations, so the tour sets unsafe=1"
    ;;
*) unsafe= ;;
esac

title() {
    printf '\n%s\n' "$1"
}

# Prints the command that is run next.
say() {
    printf '\n$ firn'
    printf ' %s' "$@"
    printf '\n'
}

new() {
    "$firn" new "$@" --store "$store" $unsafe 2>"$folder/notes" || { cat "$folder/notes" >&2; return 1; }
}

# ---- every scheme ------------------------------------------------------------------------------

title "An ID of every scheme, and its fields as firn show prints them"
count=0
"$firn" schemes --json >"$folder/schemes"
while read -r line; do
    case $line in
    *'"generated":true'*) ;;
    *) continue ;;
    esac
    scheme=$(printf '%s\n' "$line" | sed 's/^{"name":"\([^"]*\)".*/\1/')
    keys=
    options=
    case $scheme in
    baidu) # its default layout ended in 2024
        keys=bits=29/21/13
        options='--bits 29/21/13'
        ;;
    uuid3 | uuid5) keys='namespace=dns name=example.com' ;;
    typeid) keys=prefix=user ;;
    time-member) keys=member=7 ;;
    order) # a key of the tour's own
        (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' ' >"$folder/order.key")
        keys="--key-file $folder/order.key"
        options=$keys
        # shellcheck disable=SC2086
        if ! "$firn" new order $keys -n 0 --store "$store" $unsafe 2>"$folder/notes" && grep -q 'module ff1' "$folder/notes"; then
            printf '  %-19s  needs the module ff1, which was not built: libcrypto is missing\n' "$scheme"
            continue
        fi
        ;;
    esac
    # shellcheck disable=SC2086 # keys and options, to be split
    id=$(new "$scheme" $keys)
    # shellcheck disable=SC2086
    "$firn" show --json --scheme "$scheme" $options -- "$id" >"$folder/shown"
    grep -qF "\"id\":\"$id\"" "$folder/shown"
    time=$(sed -n 's/.*"time":"\([^"]*\)".*/\1 /p' "$folder/shown")
    fields=$(sed 's/.*"fields":{\([^}]*\)}.*/\1/; s/"\([a-z_0-9]*\)":/\1=/g; s/"//g; s/,/ /g' "$folder/shown")
    printf '  %-19s  %-36s  %s\n' "$scheme" "$id" "$time$fields"
    count=$((count + 1))
done <"$folder/schemes"
[ "$count" -ge 20 ] || { echo "only $count schemes were seen" >&2; exit 1; }

# ---- what else there is ------------------------------------------------------------------------

title "Back-dated: an ID with a time in the past, which sorts with the others"
say new snowflake time=2024-02-29T12:00:00Z
id=$(new snowflake time=2024-02-29T12:00:00Z)
echo "$id"
say show --scheme snowflake "$id"
"$firn" show --scheme snowflake "$id"

title "The range of a day, for WHERE id BETWEEN"
say range snowflake 2024-02-29T00:00:00Z 2024-03-01T00:00:00Z
"$firn" range snowflake 2024-02-29T00:00:00Z 2024-03-01T00:00:00Z >"$folder/bounds"
cat "$folder/bounds"
{ sed -n 1p "$folder/bounds" && echo "$id" && sed -n 2p "$folder/bounds"; } | sort -n -C
echo "the ID above is between them"

title "Integers: a sequence, and odd tickets, while another server issues the even ones"
say segment orders -n 3
"$firn" segment orders -n 3 --store "$store" $unsafe
say segment tickets kind=ticket increment=2 offset=1 -n 3
"$firn" segment tickets kind=ticket increment=2 offset=1 -n 3 --store "$store" $unsafe

title "A custom layout, as a line of text"
say new "'time:41/ms@@2024-01-01 node:10 sequence:12'" node=7
new 'time:41/ms@@2024-01-01 node:10 sequence:12' node=7

title "Which process holds which node"
say nodes
"$firn" nodes --store "$store" $unsafe

title "Old records: the latest lines of a log of this machine, each with an ID of its own time"
for log in /var/log/dpkg.log /var/log/syslog /var/log/apache2/access.log /var/log/nginx/access.log; do
    [ -r "$log" ] && [ -s "$log" ] && break
    log=
done
if [ -n "$log" ]; then
    say stamp "$log" --scheme snowflake --job tour
    tail -n 2000 "$log" >"$folder/rows.log" # a copy, since somebody may be writing to the log
    "$firn" stamp "$folder/rows.log" --scheme snowflake --job tour --on-error null --store "$store" $unsafe \
        >"$folder/stamped" 2>"$folder/notes" || { cat "$folder/notes" >&2; exit 1; }
    head -n 3 "$folder/stamped" | cut -c 1-100
    cat "$folder/notes"
    say check
    grep -oE '^[0-9]+' "$folder/stamped" | "$firn" check --scheme snowflake
else
    echo "no readable log was found here (dpkg.log, syslog, access.log): nothing is stamped"
fi

printf '\nfirn issued and read back an ID of each of %s schemes. Next: README.md, build/bin/firn --help\n' "$count"
