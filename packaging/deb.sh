#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Debian packages of the last commit into BUILD/deb: make deb. They are the same bytes whenever and wherever they
# are built with the same versions of the tools. Environment:
#     COMMIT   the commit to package; HEAD if unset
#     VERSION  the packages get this version instead of the version in debian/changelog: test/deb builds an upgrade
#     OUT      the folder of the packages
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
OUT=${OUT:-$BUILD/deb}
for tool in dpkg-buildpackage dh; do
    command -v $tool >/dev/null || { echo "firn: $tool is missing: install debhelper and dpkg-dev" >&2; exit 1; }
done
git rev-parse -q --verify "${COMMIT:-HEAD}^{tree}" >/dev/null ||
    { echo "firn: packages are built from a git repository, which this folder is not: run dpkg-buildpackage -b here" >&2; exit 1; }
if [ -z "${COMMIT:-}" ] && ! git diff --quiet HEAD; then
    echo "firn: the packages contain the last commit, not the changes since then"
fi

mkdir -p "$OUT"
work=$(mktemp -d "$OUT/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$work/firn"
git archive "${COMMIT:-HEAD}" | tar -x -C "$work/firn"
cd "$work/firn"
if [ -n "${VERSION:-}" ]; then
    { printf 'firn (%s) unstable; urgency=medium\n\n  * Next version.\n\n' "$VERSION"
        sed -n '/^ -- /{p;q}' debian/changelog
        echo
        cat debian/changelog; } >debian/changelog.new
    mv debian/changelog.new debian/changelog
fi
lacking=$(dpkg-checkbuilddeps 2>&1) ||
    { echo "firn: ${lacking##*: error: }: run apt-get build-dep ./ as root" >&2; exit 1; }
# Nothing of this user's environment gets into a package. Another python3, for one, installs into other folders.
umask 022
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CC CFLAGS LDFLAGS CPPFLAGS PYTHONPATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TZ=UTC dpkg-buildpackage -us -uc -b "-j${JOBS:-auto}" >../log 2>&1 ||
    { tail -n 60 ../log >&2; echo "firn: the packages cannot be built: the reason is above" >&2; exit 1; }
cd - >/dev/null
rm -f "$OUT"/*.deb "$OUT"/firn_*.buildinfo "$OUT"/firn_*.changes
mv "$work"/*.deb "$work"/firn_*.buildinfo "$work"/firn_*.changes "$work/log" "$OUT/"
echo "firn: $(ls "$OUT"/*.deb | wc -l) packages are in $OUT"
