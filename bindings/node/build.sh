# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The package for npm: WebAssembly for browsers and others, and the addon where the headers of Node.js are.
cp bindings/node/*.c bindings/node/*.h bindings/node/*.js bindings/node/*.mjs bindings/node/*.ts bindings/node/*.json \
    bindings/node/README.md bindings/node/binding.gyp bindings/wasm/*.js bindings/wasm/*.mjs bindings/wasm/firn.wasm \
    bindings/wasm/issue.wasm "$there"
# bare FILE...: as parts of an ES module, without comments and indents, because browsers load them
bare() {
    (cd "$there" && sed -E '/^if \(typeof module|^.use strict.$/d; /^ *(\/\/|\/\*\*|\*)/d; s/^ +//; s_ +// [^"\x27`]*$__' "$@")
}
sed -i '2,$ { /^ *\/\/ /d }' "$there/wasm.mjs" "$there/issue.mjs" "$there/load.mjs"
{
    echo '// SPDX-License-Identifier: MIT'
    echo '// Made by bindings/node/build.sh of core.js and generators.js, as an ES module.'
    bare core.js generators.js
    echo 'export { firnCore, firnGenerators }'
    echo 'export default (module, crypto) => { const { parts, ...made } = firnGenerators(firnCore(module, crypto)); return made }'
} >"$there/issue_make.mjs"
{
    echo '// SPDX-License-Identifier: MIT'
    echo '// Made by bindings/node/build.sh of api.js, as an ES module.'
    echo "import { firnCore, firnGenerators } from './issue_make.mjs'"
    bare api.js
    echo 'export default (module, crypto) => { const native = firnCore(module, crypto); return firnApi(native, firnGenerators(native)) }'
} >"$there/make.mjs"
# bytes MODULE NAME
bytes() {
    echo '// SPDX-License-Identifier: MIT'
    echo "// $1 in base64. Made by bindings/node/build.sh."
    printf "module.exports = '%s'\n" "$(base64 -w 0 "$there/$1")"
}
bytes firn.wasm >"$there/bytes.js"
bytes issue.wasm >"$there/issue_bytes.js"

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
        -c . | gzip -9n >"$there.tgz" # not into the folder while tar reads it
    mv "$there.tgz" "$there/firn-$version.tgz"
    echo "firn: node: $there/firn-$version.tgz"
    return
fi
echo "firn: node: $there"
