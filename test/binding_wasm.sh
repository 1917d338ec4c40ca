# SPDX-License-Identifier: MIT
# The package for npm where there is no addon: it is packed, installed and put to its own tests on Node.js and in a headless
# Chromium. The three modules in the tree are what the sources give.
. test/tap
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac

same_bytes="the modules are what the sources give, byte for byte: else run make wasm"
if ! command -v clang >/dev/null || ! command -v wasm-ld >/dev/null || [ ! -d /usr/lib/wasm32-wasi ]; then
    skip "the sources compile without a warning" "clang, lld or wasi-libc is missing"
elif command -v clang-14 >/dev/null; then
    check "the sources compile without a warning" env CFLAGS=-Werror bindings/wasm/compile.sh "$TMPDIR/firn.wasm"
else # other bytes
    mkdir "$TMPDIR/other"
    check "the sources compile without a warning" env CLANG=clang LINKER=wasm-ld CFLAGS=-Werror bindings/wasm/compile.sh "$TMPDIR/other/firn.wasm"
fi
if [ -f "$TMPDIR/firn.wasm" ]; then
    check "$same_bytes" sh -c 'for module in firn issue console; do cmp "$1/$module.wasm" "bindings/wasm/$module.wasm" || exit 1; done' sh "$TMPDIR"
else
    lacks "$same_bytes" clang-14
fi

if ! command -v node >/dev/null; then
    skip "the package without the addon" "nodejs is missing"
    finish
fi
app=$TMPDIR/app
mkdir -p "$app/node_modules/firn"
own=$TMPDIR/built # test/binding_node.sh builds the package too, perhaps at this moment
mkdir "$own"
ln -s "$built"/libfirn.so* "$own/"
# The addon is compiled, too, and removed below: test/binding_node.sh has it with the usual optimisation.
check "the package is built" env BUILD="$own" CFLAGS=-O0 bindings/build node
if command -v npm >/dev/null; then
    check "npm packs it without a network" env npm_config_cache="$TMPDIR/npm" \
        sh -c 'cd "$1" && npm pack --offline --ignore-scripts --pack-destination "$2"' sh "$own/bindings/node" "$TMPDIR"
    tar -xzf "$TMPDIR"/firn-*.tgz --strip-components 1 -C "$app/node_modules/firn"
else
    skip "npm packs it without a network" "npm is missing"
    cp "$own"/bindings/node/* "$app/node_modules/firn"
fi
# smaller ENTRY BYTES FILE...: a page loads these files of the package
smaller() {
    entry=$1 most=$2
    shift 2
    size=$(cd "$app/node_modules/firn" && { gzip -9c "$1" && shift && cat "$@" | gzip -9; } | wc -c)
    check "a page that imports $entry loads at most $most bytes with gzip: $size" test "$size" -le "$most"
}
smaller firn/issue 60000 issue.wasm issue.mjs load.mjs issue_make.mjs
smaller firn 86500 firn.wasm wasm.mjs load.mjs issue_make.mjs make.mjs # a bundler that minifies takes off another 1700

rm -f "$app/node_modules/firn/firn.node" # as on a machine that it was not built for
cp bindings/wasm/test_wasm.js bindings/node/test_answers.js bindings/node/spec.js "$app"

FIRN_SPEC=$PWD/spec
export FIRN_SPEC
if (cd "$app" && timeout 600 node --test test_wasm.js) >"$TMPDIR/log" 2>&1; then
    pass "WebAssembly works on Node.js: $(grep -cE '^(ok|✔)' "$TMPDIR/log") tests"
else
    fail "WebAssembly works on Node.js" "$(grep -vE '^ *(duration_ms|type:|---|\.\.\.)' "$TMPDIR/log" | tail -n 60)"
fi
same "without the addon, require('firn') is WebAssembly, and says why a store is missing" \
    "wasm ERR_FIRN_SYSTEM true Cannot find module './firn.node'" \
    "$(cd "$app" && node -e 'const firn = require("firn")
        try { firn.open("snowflake") } catch (error) {
            console.log(firn.backend, error.code, /WebAssembly has none/.test(error.message), /Cannot find.*node.$/m.exec(error.cause.message)[0])
        }' 2>&1)"

awk '/^```js$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print >sprintf("%s/block%d.mjs", folder, n) }' \
    folder="$app" bindings/wasm/README.md
same "the first example of README.md prints what it says" "true 2022-06-28T16:07:40.105Z true 1ec9414c-232a-6b00-b3c8-9f6bdeced846" \
    "$(cd "$app" && node block1.mjs | tr -s '\n ' '  ' | sed -E "s/^01[0-9a-f-]{34} /true /; s/\\[ '019b909a-.*-ffffffffffff' \\]/true/; s/ $//")"
same "the worker of README.md answers with a ULID" 26 \
    "$(cd "$app" && node --input-type=module -e 'import worker from "./block2.mjs"; console.log((await (await worker.fetch()).text()).length)')"
same "the example of firn/issue prints the length of a ULID" 26 "$(cd "$app" && node block3.mjs)"

if short; then
    :
elif command -v chromium >/dev/null && command -v openssl >/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 test/binding_wasm.py "$app/node_modules/firn" spec "$TMPDIR" >"$TMPDIR/browser" 2>&1 || true
    while IFS= read -r line; do
        case $line in
        'ok '*) pass "${line#* - }" ;;
        'not ok '*) fail "${line#* - }" "$(grep '^#' "$TMPDIR/browser")" ;;
        esac
    done <"$TMPDIR/browser"
    grep -q '^1\.\.' "$TMPDIR/browser" || fail "the test in Chromium comes to its end" "$(cat "$TMPDIR/browser")"
else
    skip "WebAssembly in Chromium" "chromium or openssl is missing"
fi
finish
