# SPDX-License-Identifier: MIT
# Every C file reads as .clang-format says. With --write (make format) they are made to.
# The lists (*.def) are tables set by hand, and stay as they are.
cd "$(dirname "$0")/.." || exit 1
. test/tap
formatter=${CLANG_FORMAT:-clang-format-14} # of one version, since each breaks some lines elsewhere
files=$(find include src modules common cmd lab server packaging sim test fuzz bench ext bindings -name '*.[ch]' 2>/dev/null | sort)

if [ "${1:-}" = --write ]; then
    # shellcheck disable=SC2086 # names without blanks
    exec "$formatter" -i $files
fi
if ! command -v "$formatter" >/dev/null; then
    lacks "every C file is formatted" clang-format-14
    finish
fi
# shellcheck disable=SC2086
same "every C file is formatted: make format does it" "" \
    "$("$formatter" --dry-run -Werror $files 2>&1 | sed -n 's/:[0-9]*:[0-9]*: error: .*//p' | sort -u)"
finish
