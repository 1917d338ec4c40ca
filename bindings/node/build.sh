# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The addon for Node.js.
include=
for folder in /usr/include/node /usr/include/nodejs/src /usr/local/include/node; do
    if [ -f $folder/node_api.h ]; then include=$folder; fi
done
if [ -z "$include" ] || ! command -v node >/dev/null; then skipped "nodejs libnode-dev"; fi
cp bindings/node/* "$there"
rm "$there/build.sh"
# shellcheck disable=SC2086 # flags
${CC:-cc} -std=c17 -O2 -Wall -Wextra ${CFLAGS:-} -shared -fPIC -fvisibility=hidden -I"$include" -Iinclude "$there"/*.c \
    -o "$there/firn.node" -L"$BUILD" -lfirn
echo "firn: node: $there"
