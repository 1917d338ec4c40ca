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
sed 's/^export default/module.exports =/' "$there/bytes.mjs" >"$there/bytes.js"

include=
for folder in /usr/include/node /usr/include/nodejs/src /usr/local/include/node; do
    if [ -f $folder/node_api.h ]; then include=$folder; fi
done
if [ -n "$include" ]; then
    # shellcheck disable=SC2086 # flags
    ${CC:-cc} -std=c17 -O2 -Wall -Wextra ${CFLAGS:-} -shared -fPIC -fvisibility=hidden -I"$include" -Iinclude "$there"/*.c \
        -o "$there/firn.node" $link
else
    echo "firn: node: without the addon: install nodejs libnode-dev"
fi
# As npm pack does. The addon is compiled: nothing in this package needs a compiler.
if [ "$alone" ]; then
    rm "$there"/*.c "$there"/*.h "$there/binding.gyp" "$there"/test*.js "$there/spec.js" "$there/bench.js"
    version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rwX,go=rX --transform='s|^\.|package|' -C "$there" \
        --exclude=./*.tgz -c . | gzip -9n >"$there/firn-$version.tgz"
    echo "firn: node: $there/firn-$version.tgz"
    return
fi
echo "firn: node: $there"
