# SPDX-License-Identifier: MIT
# A staged install, and programs built against it by pkg-config and by CMake, shared and static.
. test/tap
stage=$TMPDIR/stage
check "firn installs under DESTDIR" env DESTDIR="$stage" cmake --install "$BUILD"
env DESTDIR="$TMPDIR/moved" cmake --install "$BUILD" --prefix /opt/firn >"$TMPDIR/log" 2>&1
same "pkg-config knows another folder, as --prefix names it" "/opt/firn/include" \
    "$(PKG_CONFIG_PATH=$(dirname "$(find "$TMPDIR/moved" -name firn.pc)") pkg-config --variable=includedir firn 2>&1)"
rm -r "$TMPDIR/moved"
prefix=$stage$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$BUILD/CMakeCache.txt")
libdir=$(dirname "$(find "$stage" -name libfirn.a)")
for file in include/firn/firn.h include/firn/recognize.h include/firn/store.h bin/firn share/doc/firn/LICENSE share/doc/firn/README.md \
    share/man/man1/firn.1 share/man/man3/firn.3 share/man/man7/firn-schemes.7 share/man/man7/firn-stores.7 \
    bin/firn-serve bin/firn-lab share/man/man1/firn-lab.1 share/man/man8/firn-serve.8 share/doc/firn/firn.ini lib/systemd/system/firn.service lib/systemd/system/firn.socket \
    share/bash-completion/completions/firn share/zsh/site-functions/_firn share/fish/vendor_completions.d/firn.fish; do
    check "$file is installed" test -s "$prefix/$file"
done
for file in libfirn.so libfirn.so.0 firn/sqlite.so pkgconfig/firn.pc; do
    check "$(basename "$libdir")/$file is installed" test -s "$libdir/$file"
done
same "links of installed pages lead to files that are installed too" "" "$(test/links "$prefix/share/doc/firn")"
same "nothing that is installed names the build" "" \
    "$(grep -rlF -e "$BUILD" -e "$(pwd)" "$stage" | grep -vE '/bin/firn(-lab)?$')"

cat >"$TMPDIR/use.c" <<'TEXT'
#include <firn/recognize.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    firn_id id;
    firn_error error;
    if (strcmp(firn_version(), FIRN_VERSION) != 0 ||
        firn_digest(&id, firn_scheme_find("uuid5"), "dns", "example.com", 11, &error)) {
        return 1;
    }
    char text[FIRN_TEXT_SIZE];
    puts(firn_format(text, &id, FIRN_FORM_UUID));
    return 0;
}
TEXT
expected=cfbff0d1-9375-5685-968c-48ce8b15ae17
PKG_CONFIG_SYSROOT_DIR=$stage
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH
version=$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)
same "pkg-config prints the version" "$version" "$(pkg-config --modversion firn)"

# shellcheck disable=SC2046 # flags, to be split
check "a program builds with pkg-config's flags" \
    cc -std=c99 -pedantic -Wall -Werror $(pkg-config --cflags firn) -o "$TMPDIR/use" "$TMPDIR/use.c" $(pkg-config --libs firn)
same "... and runs with the shared library" $expected "$(LD_LIBRARY_PATH=$libdir "$TMPDIR/use" 2>&1)"
# shellcheck disable=SC2046
check "a program builds with pkg-config --static" cc $(pkg-config --cflags firn) -o "$TMPDIR/use-static" "$TMPDIR/use.c" \
    $(pkg-config --static --libs firn | sed 's/-lfirn/-l:libfirn.a/')
same "... and runs without libfirn.so" $expected "$("$TMPDIR/use-static" 2>&1)"

mkdir "$TMPDIR/consumer"
cat >"$TMPDIR/consumer/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.18)
project(consumer C)
find_package(firn $version REQUIRED)
add_executable(shared $TMPDIR/use.c)
target_link_libraries(shared firn::firn)
add_executable(static $TMPDIR/use.c)
target_link_libraries(static firn::firn_static)
TEXT
check "CMake finds the package" cmake -S "$TMPDIR/consumer" -B "$TMPDIR/consumer/build" -DCMAKE_PREFIX_PATH="$prefix"
check "programs build with firn::firn and firn::firn_static" cmake --build "$TMPDIR/consumer/build"
same "firn::firn runs" $expected "$("$TMPDIR/consumer/build/shared" 2>&1)"
same "firn::firn_static runs" $expected "$("$TMPDIR/consumer/build/static" 2>&1)"
# SQL functions in a program that contains SQLite: the archive, and what it needs.
cat >"$TMPDIR/sql.c" <<'TEXT'
#include <firn/firn_sqlite.h>
#include <sqlite3.h>
#include <stdio.h>

int main(void) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    if (sqlite3_open(":memory:", &db) || firn_sqlite_init(db, NULL, NULL) ||
        sqlite3_prepare_v2(db, "SELECT length(uuid7())", -1, &statement, NULL) || sqlite3_step(statement) != SQLITE_ROW) {
        return 1;
    }
    printf("%d\n", sqlite3_column_int(statement, 0));
    return 0;
}
TEXT
# shellcheck disable=SC2046
check "pkg-config links the SQL functions into a program with SQLite" cc $(pkg-config --cflags firn_sqlite) -o "$TMPDIR/sql" \
    "$TMPDIR/sql.c" $(pkg-config --libs firn_sqlite) -lsqlite3
same "... which has them" 36 "$(LD_LIBRARY_PATH=$libdir "$TMPDIR/sql" 2>&1)"
mkdir "$TMPDIR/embedded"
cat >"$TMPDIR/embedded/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.18)
project(embedded C)
find_package(firn REQUIRED)
add_executable(sql $TMPDIR/sql.c)
target_link_libraries(sql firn::firn_sqlite sqlite3)
TEXT
check "CMake's package has them as firn::firn_sqlite" sh -c "cmake -S '$TMPDIR/embedded' -B '$TMPDIR/embedded/build' \
    -DCMAKE_PREFIX_PATH='$prefix' && cmake --build '$TMPDIR/embedded/build'"
same "... and the program has them" 36 "$("$TMPDIR/embedded/build/sql" 2>&1)"
check "CMake refuses a version that is not there" \
    sh -c "sed -i 's/firn $version/firn 99.0/' '$TMPDIR/consumer/CMakeLists.txt'; ! cmake -S '$TMPDIR/consumer' -B '$TMPDIR/consumer/no' -DCMAKE_PREFIX_PATH='$prefix'"

# A C++ program may include the header too; without a C++ compiler its guard is looked at only.
for header in firn recognize; do
    check "$header.h opens and closes extern \"C\"" sh -c "[ \$(grep -c __cplusplus include/firn/$header.h) = 2 ]"
done
finish
