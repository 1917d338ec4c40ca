# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The module, compiled against the libfirn of $BUILD. The compiler's cache is in the build folder.
command -v go >/dev/null || skipped golang-go
cp -r bindings/go/. "$there"
rm "$there/build.sh" "$there/codes.sh" "$there/bench.go"
(
    # Not CGO_CFLAGS: with other flags than the default ones, package net and all that uses it are compiled again.
    GOCACHE=${GOCACHE:-$BUILD/go-cache} GOFLAGS=-buildvcs=false GOPROXY=off C_INCLUDE_PATH=$PWD/include LIBRARY_PATH=$BUILD
    export GOCACHE GOFLAGS GOPROXY C_INCLUDE_PATH LIBRARY_PATH
    # The cache does not notice another firn.h, but another file in the package.
    echo "/* $(cksum <include/firn/firn.h) */" >"$there/libfirn/header.h"
    cd "$there" && go vet ./... && go build ./...
)
echo "firn: go: $there"
