#!/bin/sh
# SPDX-License-Identifier: MIT
# make dist: the release of the commit that is checked out, in BUILD/dist: a tarball with the generated pages, one of firn.c
# and firn.h (make amalgamation), one of recipes for Conan, Meson and vcpkg, a list of components (SPDX 2.3), and checksums.
# The same commit gives the same bytes.
# Use: packaging/dist.sh BUILD
set -eu
cd "$(dirname "$0")/.."
BUILD=${1:?use: packaging/dist.sh BUILD}
LC_ALL=C TZ=UTC
export LC_ALL TZ
umask 022
version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
commit=$(git rev-parse HEAD)
time=$(git log -1 --format=%ct)
name=firn-$version
there=$BUILD/dist
if [ -n "$(git status --porcelain)" ]; then
    echo "make dist: the tree has changes that are not committed: commit them first, a release is a commit" >&2
    exit 1
fi
rm -rf "$there"
mkdir -p "$there"
there=$(cd "$there" && pwd)
git archive --prefix="$name/" HEAD | tar -x -C "$there"
mkdir "$there/$name/generated"
DESTDIR=$there/stage cmake --install "$BUILD" >"$there/install.log"
for kind in share/man share/bash-completion share/fish share/zsh; do
    found=$(find "$there/stage" -path "*/$kind" -type d | head -n 1)
    [ -z "$found" ] || cp -r "$found" "$there/$name/generated/"
done
# The libraries that programs and modules link are the distribution's, and not part of the tarball.
components=$(find "$there/stage" -type f -exec readelf -d {} + 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' |
    sort -u | grep -vE '^(libc|ld-linux[^ ]*|libfirn)\.so')
rm -r "$there/stage" "$there/install.log"

archive() { # FOLDER in $there
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" --format=gnu -C "$there" -c "$1" | gzip -9n >"$there/$1.tar.gz"
}
single=firn-amalgamation-$version
"$there/$name/packaging/amalgamation.sh" "$there/$single"
cp LICENSE "$there/$single/"
archive "$name"
archive "$single"
recipes=firn-recipes-$version
mkdir "$there/$recipes"
for file in "$there/$name"/packaging/recipes/*; do
    sed "s/@version@/$version/g; s/@sha256@/$(sha256sum "$there/$single.tar.gz" | cut -d ' ' -f 1)/
        s/@sha512@/$(sha512sum "$there/$single.tar.gz" | cut -d ' ' -f 1)/" "$file" >"$there/$recipes/${file##*/}"
done
archive "$recipes"
sum=$(sha256sum "$there/$name.tar.gz" | cut -d ' ' -f 1)

{
    printf '{\n "spdxVersion": "SPDX-2.3",\n "dataLicense": "CC0-1.0",\n "SPDXID": "SPDXRef-DOCUMENT",\n'
    printf ' "name": "%s",\n "documentNamespace": "urn:firn:%s:%s",\n' "$name" "$version" "$commit"
    printf ' "creationInfo": {"created": "%s", "creators": ["Tool: make dist"]},\n' "$(date -d "@$time" +%Y-%m-%dT%H:%M:%SZ)"
    printf ' "packages": [\n  {"name": "firn", "SPDXID": "SPDXRef-firn", "versionInfo": "%s", "downloadLocation": "NOASSERTION",\n' "$version"
    printf '   "filesAnalyzed": false, "licenseConcluded": "MIT", "licenseDeclared": "MIT", "copyrightText": "NOASSERTION",\n'
    printf '   "checksums": [{"algorithm": "SHA256", "checksumValue": "%s"}]}' "$sum"
    for one in $components; do
        printf ',\n  {"name": "%s", "SPDXID": "SPDXRef-%s", "downloadLocation": "NOASSERTION", "filesAnalyzed": false,\n' "$one" "$one"
        printf '   "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION"}'
    done
    printf '\n ],\n "relationships": [\n  {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-firn"}'
    for one in $components; do
        printf ',\n  {"spdxElementId": "SPDXRef-firn", "relationshipType": "DYNAMIC_LINK", "relatedSpdxElement": "SPDXRef-%s"}' "$one"
    done
    printf '\n ]\n}\n'
} >"$there/$name.spdx.json"
(cd "$there" && sha256sum "$name.tar.gz" "$single.tar.gz" "$recipes.tar.gz" "$name.spdx.json" >SHA256SUMS)
rm -r "${there:?}/$name" "${there:?}/$single" "${there:?}/$recipes"
echo "make dist: $there"
