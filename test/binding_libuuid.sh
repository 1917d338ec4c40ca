# SPDX-License-Identifier: MIT
# libfirn-uuid.so: the same answers as util-linux's libuuid; its symbols and their versions; programs that use it by
# LD_PRELOAD or by a link.
. test/tap
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
library=$built/libfirn-uuid.so
original=$(ldconfig -p | sed -n 's/.*libuuid\.so\.1 .*=> //p' | head -n 1)
if [ -z "$original" ] || [ ! -f "$library" ]; then
    [ "${CI:-}" != true ] || fail "libuuid1 is installed and $library built"
    skip "libfirn-uuid.so" "libuuid1 or $library is missing"
    finish
fi
check "the comparison is compiled" cc -std=gnu17 -Wall -Wextra -Werror -O2 -o "$TMPDIR/compare" bindings/libuuid/test.c -ldl -pthread
check "both libraries give the same answers" "$TMPDIR/compare" "$original" "$library"
sed 's/uuid\[6\] >> 4/uuid[6] >> 5/' bindings/libuuid/firn_uuid.c >"$TMPDIR/wrong.c"
check "another one is compiled, with a wrong uuid_type" cc -std=gnu17 -Iinclude -shared -fPIC -o "$TMPDIR/wrong.so" "$TMPDIR/wrong.c" "$built/libfirn.a" -lmd -pthread
check "and the comparison finds it" sh -c "! '$TMPDIR/compare' '$original' '$TMPDIR/wrong.so'"

# symbols FILE: each function with the version that programs bind to
symbols() {
    readelf -W --dyn-syms "$1" | sed -n 's/.* \(uuid_[a-z0-9_]*@@[A-Z0-9_.]*\).*/\1/p' | sort
}
symbols "$library" >"$TMPDIR/ours"
same "no function of libuuid is missing or has another version" "" \
    "$(symbols "$original" | comm -23 - "$TMPDIR/ours")"

if command -v uuidgen >/dev/null && command -v uuidparse >/dev/null; then
    for flags in "-m -n @dns -N www.example.com" "-s -n @url -N firn" "-s -n @oid -N 1.2" "-m -n @x500 -N x"; do
        # shellcheck disable=SC2086 # flags
        same "uuidgen $flags" "$(uuidgen $flags)" "$(LD_PRELOAD=$library uuidgen $flags)"
    done
    for flag in -r -t; do
        uuid=$(LD_PRELOAD=$library uuidgen $flag)
        same "uuidparse reads a UUID of uuidgen $flag" "$(uuidparse "$uuid")" "$(LD_PRELOAD=$library uuidparse "$uuid")"
    done
else
    skip "uuidgen and uuidparse" "uuid-runtime is missing"
fi
python=/usr/bin/python3
if $python -c 'import _uuid' 2>/dev/null; then
    same "Python's uuid1 is firn's, also in forked children" "4000 of version 1" "$(LD_PRELOAD=$library $python -c '
import os, uuid
pipes = []
uuid.uuid1()
for _ in range(4):
    r, w = os.pipe()
    if os.fork() == 0:
        os.write(w, b"".join(uuid.uuid1().bytes for _ in range(1000)))
        os._exit(0)
    os.close(w)
    pipes.append(r)
ids = set()
for r in pipes:
    data = open(r, "rb").read()
    ids |= {uuid.UUID(bytes=data[i:i + 16]) for i in range(0, len(data), 16)}
print(len(ids), "of version", *{id.version for id in ids})')"
else
    skip "Python's uuid1" "python3 is missing"
fi
if ldd "$(pg_config --pkglibdir 2>/dev/null)/uuid-ossp.so" 2>/dev/null | grep -q libuuid.so.1 &&
    url=$(ENGINE_OWNER=$$ LD_PRELOAD=$library test/engine start postgres "$TMPDIR/postgres"); then
    asked=$(psql -qAt "$url" 2>&1 <<'sql'
CREATE EXTENSION "uuid-ossp";
SELECT count(DISTINCT id), min(substr(id::text, 15, 1)), max(substr(id::text, 15, 1)), count(DISTINCT substr(id::text, 20))
FROM (SELECT uuid_generate_v1() AS id FROM generate_series(1, 10000)) AS ids;
SELECT uuid_generate_v5(uuid_ns_url(), 'firn');
SELECT pg_read_file('/proc/self/maps') LIKE '%libfirn-uuid.so%';
sql
    )
    same "PostgreSQL's uuid-ossp gets its UUIDs from firn" "10000|1|1|1 $(uuidgen -s -n @url -N firn) t" "$(echo $asked)"
    ENGINE_OWNER=$$ test/engine stop "$TMPDIR/postgres"
else
    skip "PostgreSQL's uuid-ossp" "PostgreSQL is missing"
fi
finish
