# SPDX-License-Identifier: MIT
# One list of requests to the command, HTTP, RESP, the extensions of SQLite, PostgreSQL and MariaDB, and the package for Python:
# the same answers, codes and cures. test/surfaces/ has the list and the surfaces.
# shellcheck disable=SC2154 # prefix, of ext/postgres/private.sh
. test/tap
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
python=/usr/bin/python3
for need in "$BUILD/libfirn_sqlite.so" "$BUILD/ext/postgres/firn.so" "$BUILD/ext/mariadb/firn_mariadb.so"; do
    [ -s "$need" ] || { skip "all surfaces give the same answers" "$need is not built" && finish; }
done
if ! $python -c 'import psycopg2, MySQLdb, setuptools' 2>/dev/null; then
    skip "all surfaces give the same answers" "python3-psycopg2, python3-mysqldb or python3-setuptools is missing"
    finish
fi

room=$(mktemp -d /tmp/firn-surfaces.XXXXXX) || exit 1 # where the user of MariaDB reaches the plugin
. ext/postgres/private.sh
cleanup() {
    wait
    test/engine stop "$TMPDIR/postgres"
    test/engine stop "$TMPDIR/mariadb"
    rm -rf "$room"
    private_end
}
trap cleanup EXIT
trap 'exit 143' TERM HUP INT
private_start
mkdir -p "$room/plugin/firn" "$room/store"
cp "$BUILD/ext/mariadb/firn_mariadb.so" "$room/plugin/" && cp "$BUILD/firn/sqlite.so" "$room/plugin/firn/"
chmod -R a+rX "$room"
chmod 777 "$room/store"

# All three at once: each takes seconds.
ENGINE_OWNER=$$ test/engine start postgres "$TMPDIR/postgres" >"$TMPDIR/postgres.url" &
first=$!
ENGINE_OWNER=$$ FIRN_STORE="sqlite:$room/store/firn.db?unsafe=1" test/engine start mysql "$TMPDIR/mariadb" \
    --plugin-dir="$room/plugin" >"$TMPDIR/mariadb.url" &
second=$!
cp -r bindings/python "$TMPDIR/package"
(cd "$TMPDIR/package" && FIRN_INCLUDE=$OLDPWD/include FIRN_LIB=$BUILD $python setup.py -q build_ext --inplace) >"$TMPDIR/package.log" 2>&1 &
third=$!
for started in $first $second $third; do
    if ! wait "$started"; then
        fail "PostgreSQL, MariaDB and the package for Python are there" "$(cat "$TMPDIR"/*.url "$TMPDIR/package.log")"
        finish
    fi
done
LD_LIBRARY_PATH=$BUILD PYTHONPATH=$TMPDIR/package $python test/surfaces/compare.py "$FIRN" "$BUILD/bin/firn-serve" \
    "$BUILD/libfirn_sqlite.so" "$(cat "$TMPDIR/postgres.url")" "$(sed -n 1p "$TMPDIR/mariadb/port")" "$BUILD/ext/mariadb/install.sql" \
    >"$TMPDIR/compared" 2>&1
sed -n '/^ok\|^not/!s/^#* */# /p' "$TMPDIR/compared"
while read -r line; do
    case $line in
    ok*) pass "${line#*- }" ;;
    "not ok"*) fail "${line#*- }" ;;
    esac
done <"$TMPDIR/compared"
check "the comparison came to its end" grep -q '^1[.][.]' "$TMPDIR/compared"
finish
