# SPDX-License-Identifier: MIT
# The package for Node.js: built as `./run bindings` does, put to its own tests, and these again under the address
# sanitizer.
. test/tap
if ! command -v node >/dev/null || [ ! -f /usr/include/node/node_api.h ]; then
    [ "${CI:-}" != true ] || fail "nodejs and libnode-dev are installed"
    skip "the package for Node.js" "nodejs or libnode-dev is missing"
    finish
fi
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
check "the addon is built" env CFLAGS=-Werror bindings/build node
FIRN_SPEC=$PWD/spec
export FIRN_SPEC

# tried SENTENCE FOLDER_OF_LIBFIRN [VARIABLE=VALUE...]
tried() {
    sentence=$1 library=$2
    shift 2
    if env LD_LIBRARY_PATH="$library" "$@" FIRN_SERVE="${FIRN%/*}/firn-serve" timeout 600 node --expose-gc "$built/bindings/node/test.js" >"$TMPDIR/log" 2>&1 &&
        ! grep -q '^not ok' "$TMPDIR/log"; then
        pass "$sentence: $(grep -cE '^(ok|✔)' "$TMPDIR/log") tests"
    else
        fail "$sentence" "$(grep -vE '^ *(duration_ms|type:|---|\.\.\.)' "$TMPDIR/log" | tail -n 60)"
    fi
}
tried "the package works" "$built"
asan=$(cc -print-file-name=libasan.so)
if [ -f "$built-address/libfirn.so" ] && [ -f "$asan" ]; then
    tried "under the address sanitizer" "$built-address" LD_PRELOAD="$asan" ASAN_OPTIONS=detect_leaks=0
else
    skip "under the address sanitizer" "$built-address is not built"
fi
mkdir -p "$TMPDIR/typed/python/firn" "$TMPDIR/typed/node"
cp bindings/python/firn/__init__.pyi "$TMPDIR/typed/python/firn/"
cp bindings/node/index.d.ts "$TMPDIR/typed/node/"
bindings/keys "$TMPDIR/typed"
check "the types have the keys of src/keys.def: else run bindings/keys" cmp "$TMPDIR/typed/node/index.d.ts" bindings/node/index.d.ts
echo 'const char *firn_version(void) { return "9.8.7"; }' >"$TMPDIR/other.c"
cc -shared -fPIC -o "$TMPDIR/other.so" "$TMPDIR/other.c"
same "another version of libfirn is refused" "libfirn is version 9.8.7, this package is for 0.1.0: install both from one release" \
    "$(LD_PRELOAD="$TMPDIR/other.so" LD_LIBRARY_PATH=$built node -p 'try { require("'"$built"'/bindings/node") } catch (error) { error.message }' 2>&1)"
same "without the addon the reason is printed" "cannot be loaded: build it with bindings/build node" \
    "$(node -e 'require("./bindings/node")' 2>&1 | grep -o 'cannot be loaded: build it with bindings/build node' | head -n 1)"

# The lines for Knex and Prisma, with stubs that keep what they are given. test/frameworks/run has the real ones.
{
    cat <<'end'
const kept = []
const gen = require('firn').open('snowflake', { store: 'memory:' })
const prisma = { order: { create: ({ data }) => kept.push(data.id) } }
const knex = table => ({ insert: row => kept.push(row.id) })
const total = 1
;(async () => {
end
    grep -E '^await (knex|prisma)' bindings/node/README.md
    echo 'console.log(kept.map(id => typeof id).join(" "), kept[1] > BigInt(kept[0]))'
    echo '})()'
} >"$TMPDIR/orm.js"
mkdir -p "$TMPDIR/node_modules"
ln -s "$built/bindings/node" "$TMPDIR/node_modules/firn"
same "the lines for Knex and Prisma give each row its ID" "string bigint true" "$(LD_LIBRARY_PATH=$built node "$TMPDIR/orm.js" 2>&1)"

{
    echo "const crypto = require('crypto'), fs = require('fs'), firn = require('firn'), times = [1556971200000000000n]"
    echo 'const stamp = () => {'
    awk '/^Back-date many/ { here = 1 } /^```/ { inside = here && /js$/; if (seen) here = 0; next } inside { seen = 1; print }' \
        bindings/node/README.md
    echo 'return ids[0] }'
    echo "fs.writeFileSync('old.csv', 'one'); const [a, b] = [stamp(), stamp()]"
    echo "fs.writeFileSync('old.csv', 'other'); try { stamp() } catch (error) { console.log(a === b, error.code) }"
} | sed "s|/var/lib/app/firn.db|$TMPDIR/old.db?unsafe=1|" >"$TMPDIR/old.js"
same "the job of the page repeats its IDs, and no other input has them" "true ERR_FIRN_TAKEN" \
    "$(cd "$TMPDIR" && LD_LIBRARY_PATH=$built node old.js 2>&1)"

# The Next.js app of docs/guides/deploying.md: its first two blocks, without Next.js, which Debian does not have.
mkdir -p "$TMPDIR/app/lib" "$TMPDIR/app/app/api/orders" "$TMPDIR/app/node_modules"
ln -s "$built/bindings/node" "$TMPDIR/app/node_modules/firn"
echo '{ "type": "module" }' >"$TMPDIR/app/package.json"
awk -v folder="$TMPDIR/app/" '/^## / { app = /A Next.js app/ } /^```$/ { file = "" } app && file { print >(folder file) }
    /^```js$/ { n++; file = n == 1 ? "lib/ids.js" : n == 2 ? "app/api/orders/route.js" : "" } !app { n = 0 }' docs/guides/deploying.md
same "the route handler of a Next.js app gives two IDs" "number of IDs: 2" "$(cd "$TMPDIR/app" &&
    FIRN_STORE="sqlite:$TMPDIR/next.db?unsafe=1" LD_LIBRARY_PATH=$built node --input-type=module -e '
import { POST } from "./app/api/orders/route.js"
const given = [await POST(), await POST()].map(response => response.json().then(body => body.id))
console.log("number of IDs:", new Set((await Promise.all(given)).filter(id => /^[0-9]{15,19}$/.test(id))).size)
process.exit()' 2>&1)"
finish
