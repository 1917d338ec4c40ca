# SPDX-License-Identifier: MIT
# Sends one list of requests to the command, HTTP, RESP, the extensions of SQLite, PostgreSQL and MariaDB, and the packages for
# Python, Node.js, Go, Java and Rust: the same answers, codes and cures. test/surfaces/ has the list, the surfaces, and for each
# language a program in drivers/.
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

# The packages of other languages go into a folder of this test: their own tests build them too, perhaps at this moment. A language
# without its tools is left out.
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
own=$TMPDIR/built
mkdir "$own"
ln -s "$built"/libfirn.so* "$own/"
GOCACHE=${GOCACHE:-$built/go-cache}
export GOCACHE
cargo=cargo
[ ! -x /usr/bin/cargo ] || cargo=/usr/bin/cargo
languages=
short || ! command -v javac >/dev/null || languages=java
short || ! command -v go >/dev/null || languages="$languages go"
short || [ ! -f /usr/include/node/node_api.h ] || languages="$languages node"
short || [ -z "$(find /usr/share/cargo/registry -maxdepth 1 -name 'serde_json-*' 2>/dev/null)" ] || languages="$languages rust"
# shellcheck disable=SC2086 # names
[ -z "$languages" ] || check "the packages are built: $languages" env BUILD="$own" bindings/build $languages
short || [ "${CI:-}" != true ] || same "no language is left out" "java go node rust" "$languages"
set --
for language in $languages; do
    case $language in
    java)
        set -- "$@" "Java=java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp $(find "$own/bindings/java" -name 'firn-*[0-9].jar') test/surfaces/drivers/Driver.java"
        ;;
    go)
        mkdir "$TMPDIR/go"
        cp test/surfaces/drivers/driver.go "$TMPDIR/go/main.go"
        printf 'module driver\n\ngo 1.19\n\nrequire firn.example/firn v0.1.0\n\nreplace firn.example/firn => %s\n' "$own/bindings/go" >"$TMPDIR/go/go.mod"
        check "the program in Go is built" env -C "$TMPDIR/go" GOFLAGS=-mod=mod GOPROXY=off C_INCLUDE_PATH="$PWD/include" LIBRARY_PATH="$built" go build .
        set -- "$@" "Go=$TMPDIR/go/driver"
        ;;
    node)
        mkdir "$TMPDIR/node_modules"
        ln -s "$own/bindings/node" "$TMPDIR/node_modules/firn"
        set -- "$@" "Node.js=env NODE_PATH=$TMPDIR/node_modules node test/surfaces/drivers/driver.js"
        ;;
    rust)
        mkdir -p "$TMPDIR/rust/src"
        cp test/surfaces/drivers/driver.rs "$TMPDIR/rust/src/main.rs"
        printf '[package]\nname = "driver"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nfirn = "0.1"\n' >"$TMPDIR/rust/Cargo.toml"
        check "the program in Rust is built" env -C "$own/bindings/rust" -u CARGO_TARGET_DIR CARGO_HOME="$TMPDIR/rust/home" FIRN_LIB="$built" \
            RUSTC="$(dirname "$(command -v $cargo)")/rustc" $cargo build -q --manifest-path "$TMPDIR/rust/Cargo.toml"
        set -- "$@" "Rust=$own/bindings/rust/target/debug/driver"
        ;;
    esac
done

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
LD_LIBRARY_PATH=$built PYTHONPATH=$TMPDIR/package $python test/surfaces/compare.py "$FIRN" "$BUILD/bin/firn-serve" \
    "$BUILD/libfirn_sqlite.so" "$(cat "$TMPDIR/postgres.url")" "$(sed -n 1p "$TMPDIR/mariadb/port")" "$BUILD/ext/mariadb/install.sql" "$@" \
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
