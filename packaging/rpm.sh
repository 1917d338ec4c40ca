#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks packaging/firn.spec with rpmlint and builds the RPM packages of the last commit into BUILD/rpm: make rpm. On Debian
# it takes the libraries of Debian, which is enough to try the spec file; packages for others are built on their system.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
mkdir -p "$BUILD/rpm"
top=$(cd "$BUILD/rpm" && pwd)
for tool in rpmbuild rpmlint; do
    command -v $tool >/dev/null || { echo "firn: $tool is missing: install rpm and rpmlint" >&2; exit 1; }
done
rpmlint --config packaging/rpmlint.toml packaging/firn.spec >"$top/lint" || { cat "$top/lint" >&2; exit 1; }
version=$(sed -n 's/^Version: *//p' packaging/firn.spec)
mkdir -p "$top/SOURCES"
git archive --prefix="firn-$version/" -o "$top/SOURCES/firn-$version.tar.gz" "${COMMIT:-HEAD}"
[ -e /etc/debian_version ] && nodeps=--nodeps || nodeps= # its packages have other names
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
# The date of the commit, so that the same tree makes the same packages.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "${COMMIT:-HEAD}")
export SOURCE_DATE_EPOCH
rpmbuild $nodeps -D "_topdir $top" -D '_buildhost localhost' -D 'clamp_mtime_to_source_date_epoch 1' -ba packaging/firn.spec >"$top/log" 2>&1 ||
    { tail -n 40 "$top/log" >&2; echo "firn: the packages cannot be built: the reason is above" >&2; exit 1; }
echo "firn: $(find "$top/RPMS" "$top/SRPMS" -name '*.rpm' | wc -l) packages are in $BUILD/rpm"
