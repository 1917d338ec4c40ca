#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages of the last commit for a release of Debian, 12 or 13, built in a new minimal root of it: for make release.
# As root, with debootstrap. Use: packaging/deb-release.sh 12|13 FOLDER. VERSION as in packaging/deb.sh; DEBS=FOLDER keeps the
# downloaded packages for the next run.
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
12) release=bookworm ;;
13) release=trixie ;;
*) echo "use: packaging/deb-release.sh 12|13 FOLDER" >&2; exit 2 ;;
esac
out=${2:?use: packaging/deb-release.sh 12|13 FOLDER}
mkdir -p "$out"
. test/root
make_root $release
(inside sh -euc "cd $tree
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    apt-get install -qy --no-install-recommends dpkg-dev debhelper git
    apt-get build-dep -qy --no-install-recommends ./") >"$out/log" 2>&1 || { tail -n 30 "$out/log" >&2; exit 1; }
(inside VERSION="${VERSION:-}" JOBS="${JOBS:-}" sh -c "cd $tree && exec packaging/deb.sh")
cp "$root$tree"/build/deb/*.deb "$out/"
rm "$out/log"
echo "firn: $(find "$out" -name '*.deb' | wc -l) packages for Debian $1 are in $out"
