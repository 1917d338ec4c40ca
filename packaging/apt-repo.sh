#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes a signed repository for apt of the packages in BUILD/deb: make apt-repo [KEY=ID of your own key]. The folder
# BUILD/apt can be served over HTTP without changes. Without KEY, a key is made in BUILD/apt-key and used again later.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
DEB=${DEB:-$BUILD/deb}
OUT=${OUT:-$BUILD/apt}
suite=stable
for tool in apt-ftparchive:apt-utils gpg:gpg gpg-agent:gpg-agent gpgconf:gpgconf; do
    command -v ${tool%:*} >/dev/null || lacking="${lacking:-} ${tool#*:}"
done
[ -z "${lacking:-}" ] || { echo "firn: make apt-repo needs more packages: run apt-get install$lacking as root" >&2; exit 1; }
ls "$DEB"/firn_*.deb >/dev/null 2>&1 || { echo "firn: $DEB contains no packages: run make deb first" >&2; exit 1; }

if [ -z "${KEY:-}" ]; then
    # A short path: the path of the agent's socket has at most 107 bytes.
    mkdir -p "$BUILD/apt-key"
    chmod 700 "$BUILD/apt-key"
    GNUPGHOME=$(mktemp -d)
    trap 'gpgconf --kill all 2>/dev/null || true; rm -rf "$GNUPGHOME"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    export GNUPGHOME
    KEY='packages of firn'
    if [ -s "$BUILD/apt-key/secret.asc" ]; then
        gpg --batch -q --import "$BUILD/apt-key/secret.asc"
    else
        gpg --batch -q --passphrase '' --quick-generate-key "$KEY" ed25519 sign never 2>"$GNUPGHOME/why" ||
            { cat "$GNUPGHOME/why" >&2; echo "firn: no key was made: see the reason above, or pass KEY=ID of a key that you have" >&2; exit 1; }
        (umask 077 && gpg --batch -q --armor --export-secret-keys "$KEY" >"$BUILD/apt-key/secret.asc")
    fi
fi

rm -rf "$OUT"
mkdir -p "$OUT/pool"
cp "$DEB"/*.deb "$OUT/pool/"
cd "$OUT"
for architecture in $(for file in pool/*.deb; do dpkg-deb -f "$file" Architecture; done | sort -u | grep -v '^all$'); do
    index=dists/$suite/main/binary-$architecture
    mkdir -p "$index"
    apt-ftparchive --arch "$architecture" packages pool >"$index/Packages"
    gzip -9nk "$index/Packages"
    architectures="${architectures:-}$architecture "
done
apt-ftparchive -o APT::FTPArchive::Release::Origin=firn -o APT::FTPArchive::Release::Label=firn \
    -o APT::FTPArchive::Release::Suite=$suite -o APT::FTPArchive::Release::Codename=$suite \
    -o APT::FTPArchive::Release::Components=main -o "APT::FTPArchive::Release::Architectures=${architectures% }" \
    release dists/$suite >Release
mv Release dists/$suite/Release
gpg --batch -q --yes --local-user "$KEY" --clearsign -o dists/$suite/InRelease dists/$suite/Release
gpg --batch -q --yes --local-user "$KEY" --armor --detach-sign -o dists/$suite/Release.gpg dists/$suite/Release
gpg --batch -q --yes --export "$KEY" >firn.gpg
echo "firn: the repository is $OUT; on each machine, copy its firn.gpg into /etc/apt/keyrings/ and add this line to apt's lists:"
echo "deb [signed-by=/etc/apt/keyrings/firn.gpg] URL-OF-THE-FOLDER $suite main"
