# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The module, compiled against the libfirn of $BUILD. The compiler's cache is in the build folder.
command -v go >/dev/null || skipped golang-go
cp -r bindings/go/. "$there"
rm "$there/build.sh" "$there/codes.sh" "$there/bench.go"
(
    GOCACHE=${GOCACHE:-$BUILD/go-cache} GOFLAGS=-buildvcs=false GOPROXY=off
    CGO_CFLAGS="-O2 -I$PWD/include ${CFLAGS:-}" CGO_LDFLAGS="-L$BUILD"
    export GOCACHE GOFLAGS GOPROXY CGO_CFLAGS CGO_LDFLAGS
    cd "$there" && go vet ./... && go build ./...
)
echo "firn: go: $there"
