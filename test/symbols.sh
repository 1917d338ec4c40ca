# SPDX-License-Identifier: MIT
# The exports, needs and hardening of the binaries, compared with the header, which is the contract.
. test/tap
library=$BUILD/libfirn.so.0
module=$BUILD/firn/sqlite.so

headers=$TMPDIR/headers # all public ones
cat include/firn/firn.h include/firn/recognize.h >"$headers"
header=$(sed -n 's/^FIRN_API [^(]*[ *]\(firn_[a-z0-9_]*\)(.*/\1/p' "$headers" | sort)
same "each exported function of the headers is found by its line" \
    "$(grep -c '^FIRN_API' "$headers")" "$(printf '%s\n' "$header" | wc -l)"
same "the symbol map lists each function of the headers once" \
    "$header" "$(sed -n 's/^ *\(firn_[a-z0-9_]*\);$/\1/p' src/libfirn.map | sort)"
same "libfirn.so exports the functions of the headers under their version, and nothing else" \
    "$(printf '%s\n' "$header" | sed 's/$/@@FIRN_0.1/')" \
    "$(nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $3 }' | sort)"
version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
same "the library's file carries the header's version" "libfirn.so.$version" "$(basename "$(readlink -f "$library")")"

needs() {
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | sort | paste -sd' '
}
same "its soname is libfirn.so.0" libfirn.so.0 "$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')"
same "the library needs libc and libmd only" "libc.so.6 libmd.so.0" "$(needs "$library")"
same "the sqlite module exports its struct" firn_store_driver "$(nm -D --defined-only "$module" | awk '{ print $3 }' | sort | paste -sd' ')"
same "the sqlite module takes nothing from libfirn" "" "$(nm -D --undefined-only "$module" | grep firn)"
same "the aes module exports its one struct" firn_stream_module "$(nm -D --defined-only "$BUILD/firn/aes.so" | awk '{ print $3 }')"
same "the aes module takes nothing from libfirn" "" "$(nm -D --undefined-only "$BUILD/firn/aes.so" | grep firn)"
same "the command needs no library that costs its start" "" "$(needs "$FIRN" | tr ' ' '\n' | grep -vE '^lib(c|m|md)\.so')"

for file in "$FIRN" "$library" "$module"; do
    name=$(basename "$file")
    check "$name: addresses are bound at start, then read-only" \
        sh -c "readelf -d '$file' | grep -q BIND_NOW && readelf -lW '$file' | grep -q GNU_RELRO"
    check "$name: no stack can be executed" sh -c "readelf -lW '$file' | grep GNU_STACK | grep -qv RWE"
    check "$name: can be loaded at any address" sh -c "readelf -h '$file' | grep -q 'Type: *DYN'"
done
check "the command is linked with checked string functions" sh -c "nm -D '$FIRN' | grep -q '_chk'"
finish
