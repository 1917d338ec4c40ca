# SPDX-License-Identifier: MIT
# make amalgamation: firn.c and firn.h compile without a warning, show only the names of firn.h, pass the conformance cases,
# work in C++, and two processes that contain them share a SQLite store without a duplicate.
. test/tap
one=$TMPDIR/firn # so that its header is <firn/firn.h>, too
check "the library becomes one source and one header" packaging/amalgamation.sh "$one"
packaging/amalgamation.sh "$TMPDIR/again"
same "with the same bytes each time" "" "$(diff -r "$one" "$TMPDIR/again" 2>&1)"

quiet="-std=c17 -Wall -Wextra -Werror"
level=-O2
! short || level=-O0 # ./run test compiles each file with -O2 alone
# shellcheck disable=SC2086 # flags, to be split
{
    "${CC:-cc}" $quiet $level -DFIRN_SQLITE -c "$one/firn.c" -o "$TMPDIR/sqlite.o" >"$TMPDIR/sqlite.log" 2>&1 &
    optimised=$!
    check "without stores it compiles without a warning" "${CC:-cc}" $quiet -DFIRN_PURE -c "$one/firn.c" -o "$TMPDIR/pure.o"
    if command -v clang >/dev/null; then
        for stores in SQLITE PURE; do
            check "... with clang and -DFIRN_$stores, too" clang $quiet -DFIRN_$stores -fsyntax-only "$one/firn.c"
        done
    else
        skip "... with clang, too" "clang is missing"
    fi
    check "neither flag is an error that names both" \
        sh -c "! ${CC:-cc} -fsyntax-only '$one/firn.c' 2>'$TMPDIR/neither' && grep -q 'FIRN_SQLITE.*FIRN_PURE' '$TMPDIR/neither'"
    wait $optimised
    same "with the SQLite store and $level it compiles without a warning" "0 " "$? $(cat "$TMPDIR/sqlite.log")"
}
same "a program meets only names that begin with firn_" "" \
    "$(nm -g --defined-only "$TMPDIR/sqlite.o" | awk '$3 !~ /^firn_/ { print $3 }')"

cat >"$TMPDIR/issue.c" <<'TEXT'
#include "firn.h"
#include <inttypes.h>
#include <stdio.h>

/* issue SCHEME STORE: 20000 IDs in the order of their issue. */
int main(int count, char **words) {
    firn_error error;
    firn_gen *gen;
    firn_config config = {.size = sizeof config, .scheme = words[1], .keys = "max_wait=60s", .store_url = count > 2 ? words[2] : NULL};
    char text[FIRN_TEXT_SIZE];
    if (firn_open_with(&gen, &config, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (int i = 0; i < 20000; i++) {
        firn_id id;
        if (firn_next(gen, &id, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 2;
        }
        puts(firn_format(text, &id, firn_gen_scheme(gen)->form));
    }
    return firn_close(gen, &error) ? 3 : 0;
}
TEXT
check "a program links it with libmd and SQLite" \
    "${CC:-cc}" -std=c17 -Wall -Werror -I"$one" "$TMPDIR/issue.c" "$TMPDIR/sqlite.o" -o "$TMPDIR/issue" -lmd -lsqlite3 -pthread
store="sqlite:$TMPDIR/ids.db?unsafe=1"
for process in 1 2; do
    "$TMPDIR/issue" snowflake "$store" >"$TMPDIR/ids.$process" 2>"$TMPDIR/failure.$process" &
    eval "process_$process=$!"
done
# shellcheck disable=SC2154 # set by eval
{ wait "$process_1"; first=$?; wait "$process_2"; same "two processes issue from one store" "0 0 " "$first $? $(cat "$TMPDIR"/failure.*)"; }
same "40000 IDs, none twice" 40000 "$(sort -u "$TMPDIR/ids.1" "$TMPDIR/ids.2" | wc -l)"

check "without stores it links with libmd only" \
    "${CC:-cc}" -std=c17 -I"$one" "$TMPDIR/issue.c" "$TMPDIR/pure.o" -o "$TMPDIR/issue-pure" -lmd -pthread
same "... and issues what needs no store" 20000 "$("$TMPDIR/issue-pure" uuid7 | sort -u | wc -l)"
check "... and refuses what needs one" sh -c "'$TMPDIR/issue-pure' snowflake '$store' 2>&1 | grep -q FIRN_PURE"

check "a program that contains the conformance test compiles" "${CC:-cc}" -std=c17 -D_GNU_SOURCE -I"$TMPDIR" \
    "-DFIRN_SOURCE_DIR=\"$(pwd)\"" "-DFIRN_BUILD_DIR=\"$BUILD\"" test/spec_pure_test.c \
    "$TMPDIR/sqlite.o" -o "$TMPDIR/spec" -lmd -lsqlite3 -ljansson -lcmocka -pthread
check "... and all cases hold" "$TMPDIR/spec"

if command -v "${CXX:-c++}" >/dev/null; then
    printf '#include "firn.h"\n#include <iostream>\nint main() { std::cout << firn_version() << std::endl; }\n' >"$TMPDIR/use.cpp"
    check "a C++ program links it" "${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror -I"$one" "$TMPDIR/use.cpp" "$TMPDIR/sqlite.o" \
        -o "$TMPDIR/use" -lmd -lsqlite3 -pthread
    same "... and runs" "$(sed -n 's/^#define FIRN_VERSION "\(.*\)".*/\1/p' include/firn/firn.h)" "$("$TMPDIR/use")"
else
    skip "a C++ program links it" "g++ is missing"
fi
finish
