# SPDX-License-Identifier: MIT
# Measures again what a page shows: sh bench/page.sh BUILD PAGE. After a line <!-- measured: COMMAND --> comes what the command printed,
# up to <!-- end -->: a table if it has --markdown, else a block of text.
set -eu
build=$1 page=$2
awk -v build="$build" '
    /^<!-- end -->$/ { inside = 0 }
    !inside { print }
    /^<!-- measured: .* -->$/ {
        command = $0
        gsub(/^<!-- measured: | -->$/, "", command)
        table = command ~ / --markdown/
        sub(/^firn /, build "/bin/firn ", command)
        sub(/^firn_bench_engines /, build "/bench/firn_bench_engines ", command)
        print table ? "" : "\n```text"
        while ((command | getline line) > 0) {
            print line
        }
        if (close(command) != 0) {
            exit 1
        }
        print table ? "" : "```\n"
        inside = 1
    }' "$page" >"$page.new" || { rm -f "$page.new"; echo "bench/page.sh: a command of $page failed: see above" >&2; exit 1; }
mv "$page.new" "$page"
