# SPDX-License-Identifier: MIT
# The lists of the packages: each installed file belongs to one package of Debian, the symbols are the library's, the versions
# agree, and ./run installs everything that the build needs. test/deb (make test-deb) builds and installs them.
. test/tap
version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
same "debian/changelog has the version of firn.h" "$version" \
    "$(sed -n '1s/^firn (\([^-)]*\).*/\1/p' debian/changelog)"
same "and so has the spec file of RPM" "$version" "$(sed -n 's/^Version: *//p' packaging/firn.spec)"

exported=$(sed -n '/global:/,/local:/s/^ *\(firn_[a-z0-9_]*\);/\1/p' src/libfirn.map | sort)
same "debian/libfirn0.symbols lists what libfirn.map exports" "$exported" \
    "$(sed -n 's/^ \(firn_[a-z0-9_]*\)@FIRN_.*/\1/p' debian/libfirn0.symbols)"

# A staged installation, named as in the packages. Python and PostgreSQL install themselves: test/deb.
triplet=x86_64-linux-gnu
check "firn installs under DESTDIR" env DESTDIR="$TMPDIR/stage" cmake --install "$BUILD"
prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$BUILD/CMakeCache.txt")
installed=$(cd "$TMPDIR/stage$prefix" && find . ! -type d | sed "s|^\./|usr/|; s|^usr/lib/$triplet/|usr/lib/|; s|^usr/lib/\(systemd/\)\{0,1\}|usr/lib/$triplet/\1|; s|^usr/lib/$triplet/systemd|usr/lib/systemd|" | sort)
patterns=$(grep -H '^[a-z]' debian/*.install debian/not-installed | sed 's|^debian/\(.*\)\.install:|\1 |; s|^debian/not-installed:|nothing |' | awk '{ print $1, $2 }')
owners() { # FILE: the packages whose lists match it
    printf '%s\n' "$patterns" | while read -r package pattern; do
        # shellcheck disable=SC2254 # a pattern
        case $1 in $pattern | $pattern/*) echo "$package" ;; esac
    done | sort -u | tr '\n' ' '
}
wrong=$(printf '%s\n' "$installed" | while read -r file; do
    case $(owners "$file") in
    '') echo "$file: in no package" ;;
    *' '?*) echo "$file: in $(owners "$file")" ;;
    esac
done)
same "each installed file is in one package" "" "$wrong"
unused=$(printf '%s\n' "$patterns" | grep -vE ' usr/(lib/postgresql|share/postgresql|lib/python3)' | while read -r package pattern; do
    printf '%s\n' "$installed" | while read -r file; do
        # shellcheck disable=SC2254
        case $file in $pattern | $pattern/*) echo found && break ;; esac
    done | grep -q found || echo "$package: $pattern"
done)
same "each line of the lists matches a file" "" "$unused"

same "firn-doc has the data of the study" "" "$(diff -r docs/study "$TMPDIR/stage$prefix/share/doc/firn/docs/study" 2>&1)"
same "which the package does not compress" 2 "$(grep -oE -- '-X\.(tsv|csv)' debian/rules | sort -u | wc -l)"

# The image of two files instead of programs, as make image writes it.
mkdir -p "$TMPDIR/static/x86_64"
echo one >"$TMPDIR/static/x86_64/firn" && echo two >"$TMPDIR/static/x86_64/firn-serve"
check "an image is written" python3 packaging/image.py "$TMPDIR/static" "$TMPDIR/image" https://git.example/firn
python3 packaging/image.py "$TMPDIR/static" "$TMPDIR/again" https://git.example/firn >/dev/null
same "with the same bytes each time" "" "$(diff -r "$TMPDIR/image" "$TMPDIR/again" 2>&1)"
config=$(grep -l '"Entrypoint"' "$TMPDIR/image/blobs/sha256"/*)
labels=$(jq -r '.config.Labels | to_entries[] | (.key | sub("org.opencontainers.image."; "")) + "=" + .value' "$config")
same "its labels say what it is, and from where" "$version https://git.example/firn https://git.example/firn" \
    "$(printf '%s\n' "$labels" | sed -nE 's/^(version|source|url)=//p' | sort | paste -sd' ')"
same "and the commit, where git knows it" "$(git rev-parse HEAD 2>/dev/null)" "$(printf '%s\n' "$labels" | sed -n 's/^revision=//p')"
check "and when it was made" [ "$(jq -r .created "$config")" = "$(printf '%s\n' "$labels" | sed -n 's/^created=//p')" ]
same "packaging/Containerfile has the labels that do not change" "$(printf '%s\n' "$labels" | grep -E '^(title|description|licenses)=')" \
    "$(sed -nE 's/.*org\.opencontainers\.image\.([a-z]+)="(.*)".*/\1=\2/p' packaging/Containerfile | sort)"
check "packaging/Containerfile unpacks the layer of the image" grep -qx 'ADD root.tar /' packaging/Containerfile
same "in which the store's folder belongs to the user of the image" "drwx------ 65532/65532" \
    "$(tar --numeric-owner -tvf "$TMPDIR/static/x86_64/root.tar" var/lib/firn | awk '{ print $1, $2 }')"

# The packages that ./run installs to build everything, without the tools that every build has.
lists=$(sed -n "/^to_build='/,/'$/p; /^modules='/p; /^extensions='/p" run | sed "s/^[a-z_]*='//; s/'$//" | tr -s ' ' '\n' | grep . | grep -vxE 'gcc|libc6-dev|make' | sort)
same "debian/control builds with the packages of ./run" "$lists" \
    "$(sed -n '/^Build-Depends:/,/^Standards/s/^ \([a-z0-9-]*\),\{0,1\}$/\1/p' debian/control | grep -vE '^(dh-.*|python3-.*)$' | sort)"
packages=$(sed -n 's/^Package: //p' debian/control)
for file in $(grep -rhoE '(libfirn|firn)-(store-[a-z]+|modules|server|lab)' src cmd --include='*.c' | grep -v 'store-$' | sort -u); do
    printf '%s\n' "$packages" | grep -qx "$file" || unknown="${unknown:-} $file"
done
same "the packages that errors name exist" "" "${unknown:-}"
for store in postgres mysql redis etcd zookeeper; do
    printf '%s\n' "$packages" | grep -qx "libfirn-store-$store" || lacking="${lacking:-} $store"
done
same "and each shared store has one" "" "${lacking:-}"

# The static programs (test/static builds them) replace these files.
for file in packaging/static/no_tls.c packaging/static/module.c; do
    check "$file compiles" "${CC:-cc}" -std=c17 -D_GNU_SOURCE -DFIRN_STATIC -Wall -Wextra -Werror -fsyntax-only -Ipackaging/static -Iinclude \
        -Isrc -Icommon -Iserver $file
done
declared=$(grep -ohE '\<(credentials|secure)_[a-z_]+\(' server/net/credentials.h server/resp/secure.h | sort)
same "no_tls.c has each function of TLS" "$declared" \
    "$(grep -ohE '^[a-z].*\<(credentials|secure)_[a-z_]+\(' packaging/static/no_tls.c | grep -oE '(credentials|secure)_[a-z_]+\(' | sort)"
finish
