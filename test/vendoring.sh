# SPDX-License-Identifier: MIT
# firn inside another project of CMake, by FetchContent and by add_subdirectory: firn::firn has the SQLite store, and nothing
# else of firn is configured, built or installed. The folder of firn.c works as a subproject of CMake and of Meson, and as a
# package that CMake finds.
. test/tap
tree=$(pwd)
cat >"$TMPDIR/app.c" <<'TEXT'
#include <firn/firn.h>
#include <stdio.h>

int main(int count, char **words) {
    firn_error error;
    firn_gen *gen;
    firn_id id;
    firn_config config = {.size = sizeof config, .scheme = "snowflake", .store_url = words[count - 1]};
    if (firn_open_with(&gen, &config, &error) || firn_next(gen, &id, &error)) {
        puts(error.text);
        return 1;
    }
    return firn_close(gen, &error);
}
TEXT
# project NAME LINE...: a project that has firn by these lines of CMake.
project() {
    mkdir "$TMPDIR/$1"
    {
        printf 'cmake_minimum_required(VERSION 3.18)\nproject(app C)\n%s\n' "$2"
        printf 'add_executable(app ../app.c)\ntarget_link_libraries(app firn::firn)\ninstall(TARGETS app)\n'
    } >"$TMPDIR/$1/CMakeLists.txt"
}
configure() {
    project=$1
    shift
    cmake -S "$TMPDIR/$project" -B "$TMPDIR/$project/build" -DCMAKE_BUILD_TYPE=Debug "$@"
}

project inside "add_subdirectory($tree firn)"
check "add_subdirectory configures" configure inside
same "... without looking for what the command and the server need" "" \
    "$(grep -iE 'jansson|gnutls|microhttpd|libpq' "$TMPDIR/inside/build/CMakeCache.txt")"
same "... and brings two targets" "firn firn_objects" \
    "$(cmake --build "$TMPDIR/inside/build" --target help | sed -n 's/^\.\.\. //p' | grep firn | grep -v / | sort | paste -sd' ')"
project pure "add_subdirectory($tree firn)"
check "with FIRN_PURE it does not need SQLite" configure pure -DFIRN_PURE=ON -DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON

if command -v git >/dev/null; then
    fresh_clone "$TMPDIR/origin"
    (cd "$TMPDIR/origin" && git init -q -b main && git add -A && git -c user.name=firn -c user.email=firn@example.com commit -qm all) \
        >"$TMPDIR/log" 2>&1
    project fetched "include(FetchContent)
FetchContent_Declare(firn GIT_REPOSITORY file://$TMPDIR/origin GIT_TAG main)
FetchContent_MakeAvailable(firn)"
    check "FetchContent configures" configure fetched
    check "... and builds" cmake --build "$TMPDIR/fetched/build" -j2
    same "the program issues from a SQLite store" "" "$("$TMPDIR/fetched/build/app" "sqlite:$TMPDIR/ids.db?unsafe=1" 2>&1)"
    DESTDIR=$TMPDIR/stage cmake --install "$TMPDIR/fetched/build" >"$TMPDIR/log" 2>&1
    same "and nothing of firn is installed" app "$(find "$TMPDIR/stage" -type f -exec basename {} \;)"
else
    skip "FetchContent" "git is missing"
fi

# The folder of two files: CMake installs it as a package, with which a program issues.
single=$TMPDIR/meson/subprojects/firn
mkdir "$TMPDIR/meson"
packaging/amalgamation.sh "$single"
check "CMake configures the folder of firn.c" cmake -S "$single" -B "$TMPDIR/single" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$TMPDIR/installed"
check "... builds it" sh -c "cmake --build '$TMPDIR/single' --verbose >'$TMPDIR/verbose'"
check "... with assertions, which Release leaves out elsewhere" grep -q 'DNDEBUG.*-UNDEBUG.* -c ' "$TMPDIR/verbose"
check "... and installs a package" cmake --install "$TMPDIR/single"
project found "find_package(firn REQUIRED)"
check "find_package finds it" configure found "-DCMAKE_PREFIX_PATH=$TMPDIR/installed"
check "... for a program" cmake --build "$TMPDIR/found/build"
same "... that issues from a SQLite store" "" "$("$TMPDIR/found/build/app" "sqlite:$TMPDIR/found.db?unsafe=1" 2>&1)"

if command -v meson >/dev/null; then
    printf "project('app', 'c')\nexecutable('app', '../app.c', dependencies: dependency('firn', fallback: ['firn', 'firn_dep']))\n" \
        >"$TMPDIR/meson/meson.build"
    check "Meson configures firn.c as a subproject" env PKG_CONFIG_PATH= meson setup "$TMPDIR/meson/build" "$TMPDIR/meson"
else
    skip "Meson configures firn.c as a subproject" "meson is missing"
fi
finish
