# SPDX-License-Identifier: MIT
# The header for C++: its test with exceptions and without, with gcc and clang; under the sanitizers; the program of its
# page; and as a CMake package from an installation.
. test/tap
if ! command -v g++ >/dev/null; then
    [ "${CI:-}" != true ] || fail "g++ is installed"
    skip "the header for C++" "g++ is missing"
    finish
fi
flags='-std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -Ibindings/cpp -pthread'

# tried SENTENCE COMPILER FOLDER_OF_LIBFIRN FLAG...
tried() {
    sentence=$1 compiler=$2 library=$3
    shift 3
    # shellcheck disable=SC2086 # flags
    if $compiler $flags "$@" -o "$TMPDIR/test" bindings/cpp/test.cpp -L"$library" -lfirn -Wl,-rpath,"$library" >"$TMPDIR/log" 2>&1 &&
        "$TMPDIR/test" >"$TMPDIR/log" 2>&1; then
        pass "$sentence: $(tail -n 1 "$TMPDIR/log")"
    else
        fail "$sentence" "$(tail -n 40 "$TMPDIR/log")"
    fi
}
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
tried "with exceptions" g++ "$built" -O2
tried "without exceptions" g++ "$built" -O2 -fno-exceptions
short || tried "without exceptions by choice" g++ "$built" -DFIRN_NO_EXCEPTIONS
short || tried "as C++20" g++ "$built" -std=c++20
if short; then
    :
elif command -v clang++ >/dev/null; then
    tried "with clang" clang++ "$built"
else
    skip "with clang" "clang++ is missing"
fi
if [ -f "$built-address/libfirn.so" ]; then
    tried "under the address sanitizer" g++ "$built-address" -fsanitize=address,undefined
else
    skip "under the address sanitizer" "$built-address is not built"
fi

sed -n '/^```cpp$/,/^```$/p' bindings/cpp/README.md | sed '1d;$d' | sed "s|sqlite:/var/lib/app|sqlite:$TMPDIR|" >"$TMPDIR/first.cpp"
check "the program of the page is compiled" g++ -std=c++17 -Iinclude -Ibindings/cpp -o "$TMPDIR/first" "$TMPDIR/first.cpp" -L"$built" -lfirn -Wl,-rpath,"$built"
check "and prints two IDs and a range" sh -c "'$TMPDIR/first' | grep -cE '^[0-9]+ [0-9]+\$|^[0-9a-f-]{36} \.\. [0-9a-f-]{36}\$' | grep -qx 2"

check "it is installed next to firn.h" env DESTDIR="$TMPDIR/root" cmake --install "$built"
header=$(find "$TMPDIR/root" -name firn.hpp)
same "in the folder of firn.h" "$(dirname "$(find "$TMPDIR/root" -name firn.h)")" "$(dirname "$header")"
finish
