# SPDX-License-Identifier: MIT
# The tests for other people's stores (make test-store), on the example: they find none of its bugs, and each bug of
# test/driver_bugs/ is found by the check that the bug names.
. test/tap
compiler=${CC:-cc}
own=$TMPDIR/own
mkdir -p "$own"
cat >"$own/backup" <<'END'
#!/bin/sh
path=${2#dir:}
case $1 in
save) rm -rf "$path.saved" && cp -a "$path" "$path.saved" ;;
restore) cat "$path.saved/rows" >"$path/rows" ;; # in place, so inode and time of birth stay
esac
END
chmod +x "$own/backup"
build() {
    mkdir -p "$own/$1"
    "$compiler" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -shared -fPIC -Iinclude -o "$own/$1/dir.so" "$2"
}
for wrong in '' "$own/none.so dir:x{}" "$BUILD/examples/dir.so mine:x{}" "$BUILD/examples/dir.so dir:x" \
    "$BUILD/examples/dir.so dir:x{} $own/none"; do
    # shellcheck disable=SC2086
    test/kit $wrong >/dev/null 2>&1
    same "test/kit ${wrong#"$BUILD/"}: is refused" 2 $?
done
if ! command -v "$compiler" >/dev/null; then
    skip "the example is built as the guide says" "a C compiler is missing"
    finish
fi

check "the example is built as the guide says" build right examples/dir.c
check "... also for a program in C++" sh -c "echo '#include <firn/store.h>' |
    ${CXX:-c++} -std=c++17 -Wall -Wextra -pedantic -Werror -Iinclude -fsyntax-only -x c++ -"
check "the tests find no bug in it" test/kit "$own/right/dir.so" "dir:$own/right/{}" "$own/backup" ': *kept*'
check "it notices that its rows alone were restored" test/kit "$own/right/dir.so" "dir:$own/right/{}" "$own/backup" \
    ': *restored*'

for patch in test/driver_bugs/*.patch; do
    bug=$(basename "$patch" .patch)
    what=$(sed -n 's/^The bug: \(.*\)[.]$/\1/p' "$patch")
    program=$(sed -n 's/^Found by \([a-z_]*\): .*/\1/p' "$patch")
    pattern=$(sed -n 's/^Found by [a-z_]*: \(.*\)/\1/p' "$patch")
    if ! why=$(sim/inject "$patch" examples/dir.c "$own/$bug/dir.c" 2>&1 && build "$bug" "$own/$bug/dir.c" 2>&1); then
        fail "$bug: the patch fits the example" "$why"
        continue
    fi
    said=$(STORE_MODULE=$own/$bug/dir.so STORE_URL="dir:$own/$bug/{}" STORE_BACKUP=$own/backup \
        "$BUILD/test/$program" "dir: $pattern" 2>&1)
    if printf '%s\n' "$said" | grep -q '^not ok [0-9]* - dir: '; then
        pass "it is found that $what"
    else
        fail "it is found that $what" "$said"
    fi
done
finish
