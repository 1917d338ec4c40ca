# SPDX-License-Identifier: MIT
# Each bug of test/machine_bugs/, in the reserve of a machine, is found by the test that the bug names.
. test/tap
compiler=${CC:-cc}
own=$TMPDIR/own
mkdir -p "$own"
compile() {
    "$compiler" -std=c17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -O1 -w -Iinclude -Isrc \
        -DFIRN_SOURCE_DIR="\"$PWD\"" -DFIRN_BUILD_DIR="\"$BUILD\"" -c -o "$1" "$2"
}
wraps=$(grep -o '__real_[a-z][a-z0-9_]*' test/machine_test.c | sort -u | sed 's/__real_/-Wl,--wrap=/')
# link BUG OBJECT...
link() {
    bug=$1
    shift
    # shellcheck disable=SC2086 # flags, to be split
    "$compiler" $wraps -o "$own/$bug.test" "$own/test.o" "$@" "$BUILD/libfirn.a" -lcmocka -lmd -lpthread -lm -ldl
}
# inject BUG FILE: the program with the bug that its patch makes of FILE
inject() {
    sim/inject "test/machine_bugs/$1.patch" "$2" "$own/$1/bug.c" && compile "$own/$1/bug.o" "$own/$1/bug.c" &&
        link "$1" "$own/$1/bug.o"
}

if ! command -v "$compiler" >/dev/null; then
    skip "each bug of a reserve is found" "a C compiler is missing"
    finish
fi
ln -s "$BUILD/firn" "$own/firn" # where the programs look for modules
check "the test of the reserve is compiled" compile "$own/test.o" test/machine_test.c
check "... and linked" link none
for patch in test/machine_bugs/*.patch; do
    bug=$(basename "$patch" .patch)
    what=$(sed -n 's/^The bug: \(.*\)[.]$/\1/p' "$patch")
    named=$(sed -n 's/^Found by machine_test: //p' "$patch")
    if ! why=$(inject "$bug" "$(sed -n 's,^--- a/,,p' "$patch")" 2>&1); then
        fail "$bug: the patch fits" "$why"
        continue
    fi
    check "without the bug, $named passes" "$own/none.test" "$named"
    said=$("$own/$bug.test" "$named" 2>&1)
    if printf '%s\n' "$said" | grep -q "^not ok .*$named"; then
        pass "it is found that $what"
    else
        fail "it is found that $what" "$said"
    fi
done
finish
