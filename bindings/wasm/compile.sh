#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles the core to WebAssembly: bindings/wasm/compile.sh OUT/firn.wasm. Next to firn.wasm, which the package has, it writes
# issue.wasm, which only issues IDs, and console.wasm, which also has the objects that the console and the decoder page show.
# The same sources give the same bytes with Debian 12's clang-14, lld-14 and wasi-libc, wherever they are; so the three files are
# in the tree, and a program without these tools has them too. test/binding_wasm.sh compares.
set -eu
LC_ALL=C && export LC_ALL
out=$1
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")/../.."

# Not what needs a system: platform.c is in its place.
sources=$(for file in src/*.c; do
    case $file in
    */engine.c | */law.c | */machine*.c | */mask_file.c | */memory.c | */module.c | */node.c | */processor.c | */shared.c | */simd*.c | */stock*.c | */store.c | */stream.c | */fork_memory.c | */block.c | */job.c | */segment*.c | */series*.c | */zone.c) ;;
    *) echo "$file" ;;
    esac
done)
clang=${CLANG:-clang-14} linker=${LINKER:-wasm-ld-14} objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
# compiled FOLDER SOURCE FLAG...: small, not fast: no function is copied into its callers for speed
compiled() {
    folder=$objects/$1 source=$2
    shift 2
    mkdir -p "$folder"
    # shellcheck disable=SC2086 # flags
    $clang --target=wasm32-wasi -nostdlibinc -isystem bindings/wasm/platform -isystem /usr/include/wasm32-wasi \
        -mbulk-memory -msign-ext -mnontrapping-fptoint -std=c17 -Oz -flto -ffunction-sections -fdata-sections \
        -D_GNU_SOURCE= -DCLOCK_REALTIME_COARSE=CLOCK_REALTIME -DCLOCK_BOOTTIME=CLOCK_MONOTONIC -DFIRN_CHUNK_PAGES=1 \
        -DFIRN_SMALL -DFIRN_FF1 -Dalways_inline=unused \
        -Iinclude -Isrc -Icommon -Ibindings/wasm -ffile-prefix-map="$PWD"=. -Wall -Wextra ${CFLAGS:-} "$@" \
        -c "$source" -o "$folder/$(echo "$source" | tr / _).o"
}
for source in $sources src/simd.c common/object.c common/reading.c common/remark.c common/describe.c common/join.c common/errors.c \
    modules/ff1.c modules/module_error.c bindings/wasm/*.c; do
    case $source in
    src/scheme.c | src/formats.c | */firn_wasm.c)
        compiled console "$source"
        compiled firn "$source" -DFIRN_TERSE -Wno-initializer-overrides
        compiled issue "$source" -DFIRN_TERSE -DFIRN_ISSUE -Wno-initializer-overrides
        ;;
    *) compiled all "$source" ;;
    esac
done
# Not by clang: it would run wasm-opt too, where that is installed.
for module in console firn issue; do
    $linker -m wasm32 --no-entry --gc-sections --strip-all -z stack-size=65536 -mllvm -enable-merge-functions "$objects"/all/*.o \
        "$objects/$module"/*.o -L/usr/lib/wasm32-wasi -lc-printscan-no-floating-point -lc \
        "$($clang --target=wasm32-wasi -print-libgcc-file-name)" -o "$(dirname "$out")/$module.wasm"
    chmod 644 "$(dirname "$out")/$module.wasm"
done
