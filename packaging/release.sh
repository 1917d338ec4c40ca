#!/bin/sh
# SPDX-License-Identifier: MIT
# make release: the files of a release of the commit that is checked out, in BUILD/release, with checksums: what make dist writes,
# and each PART of it: packages (for languages), deb (for both releases of Debian; as root, with debootstrap), static, image.
# Use: packaging/release.sh BUILD [PART...]
set -eu
cd "$(dirname "$0")/.."
BUILD=${1:?use: packaging/release.sh BUILD [PART...]}
shift
BUILD=$(cd "$BUILD" && pwd)
export BUILD
there=$BUILD/release
version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# archive NAME FOLDER FILE...: NAME.tar.gz of files in the folder, with the same bytes each time
archive() {
    name=$1 folder=$2
    shift 2
    tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" --transform="s|^\(\./\)\{0,1\}|$name/|" \
        -C "$folder" -c "$@" | gzip -9n >"$there/$name.tar.gz"
}
take() {
    for file; do
        if [ -f "$file" ]; then cp "$file" "$there/"; fi
    done
}
packaging/dist.sh "$BUILD"
rm -rf "$there"
mkdir "$there"
cp "$BUILD"/dist/* "$there/"
for part; do
    case $part in
    packages)
        # shellcheck disable=SC2086 # names
        bindings/build --alone ${LANGUAGES:-python node java rust go}
        for folder in python node java rust; do
            take "$BUILD/packages/$folder"/firn*"$version"*.whl "$BUILD/packages/$folder"/firn*"$version"*.tgz \
                "$BUILD/packages/$folder"/firn*"$version"*.jar "$BUILD/packages/$folder"/firn*"$version"*.crate
        done
        [ ! -f "$BUILD/packages/go/go.mod" ] || (cd "$BUILD/packages/go" && archive "firn-go-$version" . ./*)
        ;;
    deb)
        # A release of Debian has its own version of each package, so that an upgrade of the system replaces it.
        for debian in 12 13; do
            packaged=$(dpkg-parsechangelog -S Version)~deb$debian
            mkdir "$there/debian-$debian"
            if [ "$(sed -n 's/^VERSION_ID="\([0-9]*\)"$/\1/p' /etc/os-release)" = $debian ]; then
                VERSION=$packaged OUT="$there/debian-$debian" packaging/deb.sh
                rm "$there/debian-$debian/log" "$there/debian-$debian"/*.buildinfo "$there/debian-$debian"/*.changes
            else
                VERSION=$packaged packaging/deb-release.sh $debian "$there/debian-$debian"
            fi
        done
        ;;
    static)
        packaging/static.sh
        for processor in x86_64 aarch64; do
            archive "firn-static-$version-$processor" "$BUILD/static/$processor" firn firn-lab firn-serve
        done
        ;;
    image)
        [ -d "$BUILD/static/x86_64" ] || packaging/static.sh
        /usr/bin/python3 packaging/image.py "$BUILD/static" "$BUILD/image"
        archive "firn-image-$version" "$BUILD" image
        ;;
    *)
        echo "make release: '$part' is not one of packages, deb, static, image" >&2
        exit 2
        ;;
    esac
done
(cd "$there" && rm SHA256SUMS && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >../SHA256SUMS && mv ../SHA256SUMS .)
echo "make release: $there: $(find "$there" -type f | wc -l) files"
