# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The module, compiled against the libfirn of $BUILD. The compiler's cache is in the build folder.
command -v go >/dev/null || skipped golang-go
cp -r bindings/go/. "$there"
rm "$there/build.sh" "$there/codes.sh" "$there/bench.go"
if [ "$alone" ]; then
    # firn.c is compiled by cgo as a file of the package. Its folder of modules is Debian's: no flag of cgo may have a dash in it.
    contain "$there"
    {
        echo '/* SPDX-License-Identifier: MIT */'
        printf '#define FIRN_SQLITE\n#if defined __x86_64__\n#define FIRN_MODULE_DIR "/usr/lib/x86_64-linux-gnu/firn"\n'
        printf '#elif defined __aarch64__\n#define FIRN_MODULE_DIR "/usr/lib/aarch64-linux-gnu/firn"\n#endif\n'
        sed 1d "$there/firn/firn.c"
    } >"$there/libfirn/firn.c"
    mv "$there/firn/firn.h" "$there/libfirn/"
    rm -r "$there/firn"
    sed -i 's|<firn/recognize.h>|"firn.h"|' "$there/libfirn/shim.h"
    cat >"$there/libfirn/link.go" <<'end'
// SPDX-License-Identifier: MIT

package libfirn

// firn.c is compiled with the package, and needs these two archives.

// #cgo CFLAGS: -O2
// #cgo LDFLAGS: -l:libmd.a -l:libsqlite3.a -lm
import "C"
end
fi
(
    # Not CGO_CFLAGS: with other flags than the default ones, package net and all that uses it are compiled again.
    GOCACHE=${GOCACHE:-$BUILD/go-cache} GOFLAGS=-buildvcs=false GOPROXY=off C_INCLUDE_PATH=$PWD/include LIBRARY_PATH=$BUILD
    export GOCACHE GOFLAGS GOPROXY C_INCLUDE_PATH LIBRARY_PATH
    [ -z "$alone" ] || unset C_INCLUDE_PATH LIBRARY_PATH
    # The cache does not notice another firn.h, but another file in the package.
    echo "/* $(cksum <include/firn/firn.h) */" >"$there/libfirn/header.h"
    cd "$there" && go vet ./... && go build ./...
)
echo "firn: go: $there"
