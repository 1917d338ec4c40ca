#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints docs/reference/errors.md with its tables of codes and cures made again from the lists.
cd "$(dirname "$0")/.." || exit 1
while IFS= read -r line; do
    case $line in
    '<!-- codes: '* | '<!-- cures: '*)
        part=${line#<!-- }
        printf '%s\n' "$line"
        awk -v part="${part%%:*}" -f docs/errors.awk include/firn/firn.h common/errors.h common/errors.c common/cures.def
        within=1
        ;;
    '<!-- end -->')
        printf '%s\n' "$line"
        within=
        ;;
    *) [ -n "${within:-}" ] || printf '%s\n' "$line" ;;
    esac
done <docs/reference/errors.md
