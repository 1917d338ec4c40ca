# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The rock's files: nothing is compiled, so each Lua here checks the syntax.
lua=
for each in lua5.4 lua5.3 lua5.2 lua5.1 luajit lua; do
    command -v $each >/dev/null || continue
    lua=$each
    $each -e 'assert(loadfile("bindings/lua/firn.lua"))' || exit 1
done
[ -n "$lua" ] || skipped "lua5.4"
cp bindings/lua/firn.lua bindings/lua/README.md bindings/lua/*.rockspec "$there"
$lua "$there/firn-0.1.0-1.rockspec" || exit 1
echo "firn: lua: $there"
