# SPDX-License-Identifier: MIT
# Two clones in folders of different names and lengths, built at different times of different zones, give the same bytes.
. test/tap
CC=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
export CC

# build FOLDER BUILD_FOLDER
build() {
    mkdir -p "$1" &&
        cp -R CMakeLists.txt LICENSE packaging include src modules cmd server "$1" &&
        cmake -S "$1" -B "$1/$2" &&
        cmake --build "$1/$2" --target firn firn_static module_sqlite
}

check "the first clone builds" build "$TMPDIR/a" build
(umask 077 && TZ=Asia/Tokyo build "$TMPDIR/another clone of it" out) >"$TMPDIR/log" 2>&1
same "the second clone builds" 0 $?
for file in libfirn.a libfirn.so.0 firn/sqlite.so; do
    check "$file is the same from both" cmp "$TMPDIR/a/build/$file" "$TMPDIR/another clone of it/out/$file"
    check "$file does not tell where it was built" sh -c "! grep -qaF '$TMPDIR' '$TMPDIR/a/build/$file'"
done
finish
