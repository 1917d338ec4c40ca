#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the command, the laboratory and the server as static programs with musl, which start on any Linux, into
# BUILD/static/PROCESSOR: make static [PROCESSORS='x86_64 aarch64']. The SQLite store is inside; other stores, order numbers
# and TLS are in the packages. musl and the libraries are built from Debian's sources, which apt fetches with its own lists, so that the
# machine's stay as they are; they are kept in BUILD/static. With TESTS=1 it builds C tests too, in PROCESSOR/build/tests/test.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
mkdir -p "$BUILD/static"
folder=$(cd "$BUILD/static" && pwd)
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
tree=$PWD
sources="musl libmd jansson libuv1 libmicrohttpd sqlite3${TESTS:+ cmocka}"
for tool in cmake make gcc dpkg-source tclsh; do
    command -v $tool >/dev/null || { echo "firn: $tool is missing: install cmake make gcc dpkg-dev tcl" >&2; exit 1; }
done
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR CC CFLAGS LDFLAGS CPPFLAGS
export LC_ALL=C.UTF-8

# quietly LOG COMMAND...
quietly() {
    log=$folder/$1.log
    shift
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; echo "firn: the static programs cannot be built: all of it is in $log" >&2; exit 1; }
}

fetch() {
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/sources"
    echo "deb-src $(test/mirror) bookworm main" >"$folder/apt/sources.list"
    set -- -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User=root
    # shellcheck disable=SC2086 # names, to be split
    apt-get "$@" -qq update && cd "$folder/sources" && apt-get "$@" -qq source $sources
}
# Written by a program of SQLite's sources, for every processor.
one_file_of_sqlite() {
    mkdir -p "$folder/sqlite" && cd "$folder/sqlite" && "$folder"/sources/sqlite3-*/configure --disable-tcl && make sqlite3.c
}
for source in $sources; do
    [ -d "$(echo "$folder/sources/$source"-*/)" ] || { quietly sources fetch; break; }
done
[ -e "$folder/sqlite/sqlite3.c" ] || (quietly sqlite one_file_of_sqlite)

# The same bytes from every folder and at every time, and small: each function is left out that nobody calls.
flags="-Os -g0 -fstack-protector-strong -ffunction-sections -fdata-sections -ffile-prefix-map=$tree=. -ffile-prefix-map=$folder=."

c_library() { # HEADERS: linux/, asm/ and asm-generic/ of the kernel, from that folder
    mkdir -p "$there/build/musl" && cd "$there/build/musl" &&
        "$folder"/sources/musl-*/configure --prefix="$there" --syslibdir="$there/lib" --disable-shared --enable-wrapper=gcc CC="$gcc" \
            CFLAGS="$flags" && make -j"$jobs" && make install || return 1
    for header in linux asm asm-generic; do
        for from in "$1/$header" "$1/$processor-linux-gnu/$header"; do
            if [ -d "$from" ]; then ln -sfn "$from" "$there/include/$header"; fi
        done
    done
    mv "$there/bin/musl-gcc" "$there/bin/cc"
    sed -i "s|^exec .* \"\$@\"|exec $gcc \"\$@\"|" "$there/bin/cc"
}

with_configure() { # SOURCE OPTION...
    source=$1
    shift
    mkdir -p "$there/build/$source" && cd "$there/build/$source" &&
        sh "$folder/sources/$source"-*/configure --host="$processor-linux-musl" --prefix="$there" --disable-shared --enable-static \
            CC="$cc" CFLAGS="$flags" AR="$ar" RANLIB="$ranlib" "$@" && make -j"$jobs" && make install
}

with_cmake() { # FOLDER NAME OPTION...
    source=$1 name=$2
    shift 2
    cmake -S "$source" -B "$there/build/$name" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$processor" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_AR="$(command -v "$ar")" -DCMAKE_RANLIB="$(command -v "$ranlib")" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" \
        -DCMAKE_INSTALL_PREFIX="$there" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_FIND_ROOT_PATH="$there" \
        -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY "$@" &&
        cmake --build "$there/build/$name" -j"$jobs" --target "${target:-all}"
}

libraries() {
    with_configure libmd || return 1
    (with_configure libmicrohttpd --disable-https --disable-doc --disable-examples --disable-curl --disable-bauth --disable-dauth) || return 1
    with_cmake "$folder"/sources/jansson-*/ jansson -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF &&
        cmake --install "$there/build/jansson" &&
        target=uv_a with_cmake "$folder"/sources/libuv1-*/ libuv -DBUILD_TESTING=OFF -DLIBUV_BUILD_TESTS=OFF || return 1
    cp -r "$folder"/sources/libuv1-*/include/. "$there/include/" && cp "$there/build/libuv/libuv_a.a" "$there/lib/libuv.a" || return 1
    # shellcheck disable=SC2086 # flags, to be split
    "$cc" $flags -DSQLITE_THREADSAFE=1 -DSQLITE_DQS=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_DEPRECATED -DHAVE_USLEEP=1 \
        -DHAVE_FDATASYNC=1 -c "$folder/sqlite/sqlite3.c" -o "$there/build/sqlite3.o" &&
        "$ar" qcD "$there/lib/libsqlite3.a" "$there/build/sqlite3.o" && "$ranlib" -D "$there/lib/libsqlite3.a" &&
        cp "$folder/sqlite/sqlite3.h" "$there/include/"
}

# For the processor of this machine only, which runs them.
tests() {
    [ -e "$there/lib/libcmocka.a" ] || {
        target=cmocka-static with_cmake "$folder"/sources/cmocka-*/ cmocka -DBUILD_SHARED_LIBS=OFF -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF &&
            cp "$folder"/sources/cmocka-*/include/*.h "$there/include/" &&
            cp "$there/build/cmocka/src/libcmocka-static.a" "$there/lib/libcmocka.a" || return 1
    }
    target=all with_cmake "$tree" tests -DFIRN_STATIC=ON -DFIRN_TESTS=ON -DCMAKE_EXE_LINKER_FLAGS=-static
}

firn() {
    target=all with_cmake "$tree" firn -DFIRN_STATIC=ON -DCMAKE_EXE_LINKER_FLAGS="-static -Wl,--gc-sections -Wl,--build-id=none -s"
}

for processor in ${PROCESSORS:-x86_64 aarch64}; do
    there=$folder/$processor
    mkdir -p "$there/build"
    prefix=$processor-linux-gnu- headers=/usr/$processor-linux-gnu/include
    [ "$processor" != "$(uname -m)" ] || prefix='' headers=/usr/include
    gcc=${prefix}gcc ar=${prefix}ar ranlib=${prefix}ranlib cc=$there/bin/cc
    command -v "$gcc" >/dev/null || { echo "firn: $gcc is missing: install gcc-$(echo "$processor" | tr _ -)-linux-gnu" >&2; exit 1; }
    [ -x "$cc" ] || (quietly "$processor-musl" c_library "$headers")
    [ -e "$there/lib/libsqlite3.a" ] || (quietly "$processor-libraries" libraries)
    quietly "$processor-firn" firn
    [ -z "${TESTS:-}" ] || [ "$processor" != "$(uname -m)" ] || quietly "$processor-tests" tests
    set --
    for program in firn firn-lab firn-serve; do
        cp "$there/build/firn/bin/$program" "$there/"
        set -- "$@" "$program $(stat -c %s "$there/$program") bytes"
    done
    echo "firn: $BUILD/static/$processor: $1, $2, $3"
done
