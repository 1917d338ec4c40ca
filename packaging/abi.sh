#!/bin/sh
# SPDX-License-Identifier: MIT
# make abi OLD=libfirn.so.0: compares the interface of a release with this build. A program that was linked with OLD must
# run with NEW as long as the soname is the same: removed functions and changed types are errors, new functions are not.
# Use: packaging/abi.sh OLD NEW
set -eu
old=${1:?use: packaging/abi.sh OLD NEW} new=${2:?use: packaging/abi.sh OLD NEW}
soname() {
    readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}
if [ "$(soname "$old")" != "$(soname "$new")" ]; then
    echo "make abi: the soname changed from $(soname "$old") to $(soname "$new"): programs must be linked again"
    exit 0
fi
status=0
said=$(abidiff --no-added-syms --fail-no-debug-info "$old" "$new") || status=$?
if [ $status != 0 ]; then
    printf '%s\n' "$said"
    echo "make abi: the interface changed: undo that, or raise SOVERSION in CMakeLists.txt" >&2
    exit 1
fi
echo "make abi: programs linked with $(basename "$(readlink -f "$old")") run with this build"
