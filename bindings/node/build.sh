# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The package for npm: WebAssembly for browsers and others, and the addon where the headers of Node.js are.
cp bindings/node/*.c bindings/node/*.h bindings/node/*.js bindings/node/*.mjs bindings/node/*.ts bindings/node/*.json \
    bindings/node/README.md bindings/node/binding.gyp bindings/wasm/*.js bindings/wasm/*.mjs bindings/wasm/firn.wasm "$there"
{
    echo '// SPDX-License-Identifier: MIT'
    echo '// Made by bindings/node/build.sh of core.js and api.js, as an ES module.'
    grep -hv '^if (typeof module' "$there/core.js" "$there/api.js" | sed '/SPDX-License-Identifier/d'
    echo 'export default (module, crypto) => firnApi(firnCore(module, crypto))'
} >"$there/make.mjs"
{
    echo '// SPDX-License-Identifier: MIT'
    echo '// firn.wasm in base64. Made by bindings/node/build.sh.'
    printf "export default '%s'\n" "$(base64 -w 0 "$there/firn.wasm")"
} >"$there/bytes.mjs"

include=
for folder in /usr/include/node /usr/include/nodejs/src /usr/local/include/node; do
    if [ -f $folder/node_api.h ]; then include=$folder; fi
done
if [ -n "$include" ]; then
    # shellcheck disable=SC2086 # flags
    ${CC:-cc} -std=c17 -O2 -Wall -Wextra ${CFLAGS:-} -shared -fPIC -fvisibility=hidden -I"$include" -Iinclude "$there"/*.c \
        -o "$there/firn.node" -L"$BUILD" -lfirn
else
    echo "firn: node: without the addon: install nodejs libnode-dev"
fi
echo "firn: node: $there"
