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
same "three tarballs, a list of components and checksums" \
    "SHA256SUMS firn-$version.spdx.json firn-$version.tar.gz firn-amalgamation-$version.tar.gz firn-recipes-$version.tar.gz" \
    "$(LC_ALL=C ls "$BUILD/dist" | paste -sd' ')"
cp "$BUILD/dist/SHA256SUMS" "$TMPDIR/sums"
(cd "$clone" && umask 077 && TZ=Asia/Tokyo packaging/dist.sh "$BUILD") >"$TMPDIR/log" 2>&1
check "the same bytes again" cmp "$TMPDIR/sums" "$BUILD/dist/SHA256SUMS"
check "the checksums are right" sh -c "cd '$BUILD/dist' && sha256sum -c SHA256SUMS"
check "the list names the library that hashes" sh -c "jq -e '.packages[] | select(.name == \"libmd.so.0\")' '$BUILD/dist/firn-$version.spdx.json'"
check "the tarball holds the manual" sh -c "tar -tzf '$BUILD/dist/firn-$version.tar.gz' | grep -qx 'firn-$version/generated/man/man1/firn.1'"
same "the second holds firn in one file" "CMakeLists.txt LICENSE firn.c firn.h meson.build" \
    "$(tar -tzf "$BUILD/dist/firn-amalgamation-$version.tar.gz" | sed 's|.*/||' | grep . | paste -sd' ')"
tar -xzf "$BUILD/dist/firn-recipes-$version.tar.gz" -C "$TMPDIR"
same "the third holds recipes for Conan, Meson and vcpkg that name the second" \
    "conanfile.py firn.wrap portfile.cmake vcpkg.json $(sha256sum <"$BUILD/dist/firn-amalgamation-$version.tar.gz" | cut -d ' ' -f 1)" \
    "$(cd "$TMPDIR/firn-recipes-$version" && ! grep -rn '@[a-z0-9]*@' . && ls | paste -sd' ') $(sed -n 's/^source_hash = //p' \
        "$TMPDIR/firn-recipes-$version/firn.wrap")"
# Meson takes the archive from its cache. Debian has neither Conan nor vcpkg: the recipe of vcpkg runs with its functions replaced.
recipes=$TMPDIR/firn-recipes-$version
mkdir -p "$TMPDIR/meson/subprojects/packagecache" "$TMPDIR/vcpkg"
cp "$recipes/firn.wrap" "$TMPDIR/meson/subprojects/"
cp "$BUILD/dist/firn-amalgamation-$version.tar.gz" "$TMPDIR/meson/subprojects/packagecache/"
printf "project('app', 'c')\ndependency('firn')\n" >"$TMPDIR/meson/meson.build"
if command -v meson >/dev/null; then
    check "Meson uses the recipe" env PKG_CONFIG_PATH= meson setup "$TMPDIR/meson/build" "$TMPDIR/meson" --wrap-mode=forcefallback
else
    skip "Meson uses the recipe" "meson is missing"
fi
check "the recipe of Conan is Python" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipes/conanfile.py"
same "the manifest of vcpkg is JSON" "firn $version" "$(jq -r '"\(.name) \(.version)"' "$recipes/vcpkg.json")"
cat >"$TMPDIR/vcpkg/run.cmake" <<TEXT
function(vcpkg_download_distfile out)
    cmake_parse_arguments(PARSE_ARGV 1 asked "" "URLS;FILENAME;SHA512" "")
    file(SHA512 "$BUILD/dist/\${asked_FILENAME}" sum)
    if(NOT sum STREQUAL asked_SHA512)
        message(FATAL_ERROR "another checksum")
    endif()
    set(\${out} "$BUILD/dist/\${asked_FILENAME}" PARENT_SCOPE)
endfunction()
function(vcpkg_extract_source_archive out)
    cmake_parse_arguments(PARSE_ARGV 1 asked "" "ARCHIVE" "")
    file(ARCHIVE_EXTRACT INPUT "\${asked_ARCHIVE}" DESTINATION "$TMPDIR/vcpkg")
    set(\${out} "$TMPDIR/vcpkg/firn-amalgamation-$version" PARENT_SCOPE)
endfunction()
function(vcpkg_check_features)
    set(options -DFIRN_PURE=OFF PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 asked "" "SOURCE_PATH" "OPTIONS")
    execute_process(COMMAND cmake -S \${asked_SOURCE_PATH} -B "$TMPDIR/vcpkg/build" \${asked_OPTIONS} -DCMAKE_INSTALL_LIBDIR=lib
        "-DCMAKE_INSTALL_PREFIX=\${CURRENT_PACKAGES_DIR}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
    execute_process(COMMAND cmake --build "$TMPDIR/vcpkg/build" --target install COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 asked "" "CONFIG_PATH" "")
    if(NOT EXISTS "\${CURRENT_PACKAGES_DIR}/\${asked_CONFIG_PATH}/firnConfig.cmake")
        message(FATAL_ERROR "no firnConfig.cmake")
    endif()
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 asked "" "FILE_LIST" "")
    file(READ "\${asked_FILE_LIST}" licence)
endfunction()
set(VERSION $version)
set(CURRENT_PACKAGES_DIR "$TMPDIR/vcpkg/packages")
include("$recipes/portfile.cmake")
TEXT
check "the recipe of vcpkg builds and installs the library" cmake -P "$TMPDIR/vcpkg/run.cmake"
check "... which is there" test -s "$TMPDIR/vcpkg/packages/lib/libfirn.a"
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
