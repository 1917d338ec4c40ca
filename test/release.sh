# SPDX-License-Identifier: MIT
# The parts of a release: make dist gives the same bytes twice and a tree that builds, and make abi finds a function that was
# removed.
. test/tap
if ! command -v git >/dev/null; then
    skip "a release" "git is missing"
    finish
fi
tree=$(pwd)
clone=$TMPDIR/clone
fresh_clone "$clone"
(cd "$clone" && git init -q && git add -A && git -c user.name=firn -c user.email=firn@example.com commit -qm release) >"$TMPDIR/log" 2>&1
check "make dist makes a release" sh -c "'$clone/packaging/dist.sh' '$BUILD'"
version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
same "two tarballs, a list of components and checksums" \
    "SHA256SUMS firn-$version.spdx.json firn-$version.tar.gz firn-amalgamation-$version.tar.gz" \
    "$(LC_ALL=C ls "$BUILD/dist" | paste -sd' ')"
cp "$BUILD/dist/SHA256SUMS" "$TMPDIR/sums"
(cd "$clone" && umask 077 && TZ=Asia/Tokyo packaging/dist.sh "$BUILD") >"$TMPDIR/log" 2>&1
check "the same bytes again" cmp "$TMPDIR/sums" "$BUILD/dist/SHA256SUMS"
check "the checksums are right" sh -c "cd '$BUILD/dist' && sha256sum -c SHA256SUMS"
check "the list names the library that hashes" sh -c "jq -e '.packages[] | select(.name == \"libmd.so.0\")' '$BUILD/dist/firn-$version.spdx.json'"
check "the tarball holds the manual" sh -c "tar -tzf '$BUILD/dist/firn-$version.tar.gz' | grep -qx 'firn-$version/generated/man/man1/firn.1'"
same "the other one holds firn in one file" "LICENSE firn.c firn.h meson.build" \
    "$(tar -tzf "$BUILD/dist/firn-amalgamation-$version.tar.gz" | sed 's|.*/||' | grep . | paste -sd' ')"
same "and nothing of this machine" "" "$(tar -xzOf "$BUILD/dist/firn-$version.tar.gz" | grep -aoF "$tree" | head -n 1)"
check "make release adds packages, here the jar" env LANGUAGES=java "$clone/packaging/release.sh" "$BUILD" packages
same "all of them with checksums" "0 $(find "$BUILD/release" -type f ! -name SHA256SUMS | wc -l)" \
    "$(cd "$BUILD/release" && sha256sum --quiet -c SHA256SUMS >&2; echo $? "$(wc -l <SHA256SUMS)")"
check "the jar is there" sh -c "! command -v javac || test -s '$BUILD/release/firn-$version.jar'"
check "another part is refused" sh -c "'$clone/packaging/release.sh' '$BUILD' nonsense 2>&1 | grep -q 'not one of packages, deb, static, image'"
echo >>"$clone/README.md"
check "changes that are not committed are refused" sh -c "! '$clone/packaging/dist.sh' '$BUILD'"

if ! command -v abidiff >/dev/null; then
    [ "${CI:-}" != true ] || fail "abigail-tools is installed"
    skip "the interface of the library" "abigail-tools is missing"
    finish
fi
# linked MAP OUT: the library with another list of functions.
linked() {
    cc -shared -g -o "$2" -Wl,-soname,libfirn.so.0 -Wl,--whole-archive "$BUILD/libfirn.a" -Wl,--no-whole-archive \
        -Wl,--version-script="$1" -lmd -pthread
}
linked src/libfirn.map "$TMPDIR/old.so"
check "the interface of this build is its own" packaging/abi.sh "$TMPDIR/old.so" "$BUILD/libfirn.so.0"
sed '/firn_block_next;/d' src/libfirn.map >"$TMPDIR/less.map"
linked "$TMPDIR/less.map" "$TMPDIR/less.so"
check "a removed function is found" sh -c "! packaging/abi.sh '$TMPDIR/old.so' '$TMPDIR/less.so'"
check "a new function is allowed" packaging/abi.sh "$TMPDIR/less.so" "$TMPDIR/old.so"
finish
