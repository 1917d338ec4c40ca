#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Debian packages of the last commit into BUILD/deb: make deb. Without git, of the folder. They are the same bytes whenever and wherever they
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
# A repository of another user is read too: git refuses it to root unless it is named as safe, for this command alone.
own_git() {
    git -c safe.directory="$PWD" "$@"
}
if [ ! -e .git ]; then
    [ -z "${COMMIT:-}" ] || { echo "firn: COMMIT is set, and this folder is not a git repository: unset it" >&2; exit 1; }
    echo "firn: this folder is not a git repository: the packages contain its files as they are"
elif ! command -v git >/dev/null; then
    echo "firn: git is missing: install git, or unpack a tarball of a release" >&2
    exit 1
elif ! own_git rev-parse -q --verify "${COMMIT:-HEAD}^{tree}" >/dev/null; then
    echo "firn: git does not know the commit ${COMMIT:-HEAD}: name a commit of this repository" >&2
    exit 1
elif [ -z "${COMMIT:-}" ] && ! own_git diff --quiet HEAD; then
    echo "firn: the packages contain the last commit, not the changes since then"
fi

mkdir -p "$OUT"
work=$(mktemp -d "$OUT/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$work/firn"
if [ -e .git ]; then
    own_git archive "${COMMIT:-HEAD}" | tar -x -C "$work/firn"
else
    tar -c --exclude='./build*' . | tar -x -C "$work/firn"
fi
cd "$work/firn"
if [ -n "${VERSION:-}" ]; then
    { printf 'firn (%s) unstable; urgency=medium\n\n  * Next version.\n\n' "$VERSION"
        sed -n '/^ -- /{p;q}' debian/changelog
        echo
        cat debian/changelog; } >debian/changelog.new
    mv debian/changelog.new debian/changelog
fi
# The extension is for the newest PostgreSQL with headers here, as a release of Debian has one.
postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin/pg_config | sed -n 's,^/usr/lib/postgresql/\([0-9]*\)/.*,\1,p' | sort -n | tail -n 1)
packaged=$(sed -n 's/^Package: postgresql-\([0-9]*\)-firn$/\1/p' debian/control)
if [ "${postgres:-$packaged}" != "$packaged" ]; then
    sed -i "s,postgresql\([-/]\)$packaged\>,postgresql\1$postgres,g" debian/control debian/tests/* "debian/postgresql-$packaged-firn.install"
    mv "debian/postgresql-$packaged-firn.install" "debian/postgresql-$postgres-firn.install"
fi
lacking=$(dpkg-checkbuilddeps 2>&1) ||
    { echo "firn: ${lacking##*: error: }: run apt-get build-dep ./ as root" >&2; exit 1; }
# Nothing of this user's environment gets into a package. Another python3, for one, installs into other folders.
umask 022
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CC CFLAGS LDFLAGS CPPFLAGS PYTHONPATH
# A line each 15 s: the percentage of the compiler's part, or the step of debhelper that follows it.
tell_progress() {
    seconds=0
    while sleep 15 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        seconds=$((seconds + 15))
        step=$(sed -n -e 's/^\[ *\([0-9]*%\)\].*/compiling, \1/p' -e 's/^ *\(dh_[a-z_]*\).*/\1/p' ../log | tail -n 1)
        echo "firn: building the packages: ${step:-beginning}, $seconds s"
    done
}
: >../log
tell_progress &
teller=$!
status=0
PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TZ=UTC dpkg-buildpackage -us -uc -b "-j${JOBS:-auto}" >../log 2>&1 || status=$?
kill $teller 2>/dev/null || true
[ $status = 0 ] || { tail -n 60 ../log >&2; echo "firn: the packages cannot be built: the reason is above" >&2; exit 1; }
cd - >/dev/null
rm -f "$OUT"/*.deb "$OUT"/firn_*.buildinfo "$OUT"/firn_*.changes
mv "$work"/*.deb "$work"/firn_*.buildinfo "$work"/firn_*.changes "$work/log" "$OUT/"
echo "firn: $(ls "$OUT"/*.deb | wc -l) packages are in $OUT"
