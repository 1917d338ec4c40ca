# SPDX-License-Identifier: MIT
# Checks that a machine can make: licences, nothing of anybody's machine, no file that nobody builds or runs.
. test/tap
# With git only what is, or could be, committed; a tree without git is taken as a whole.
files() {
    git ls-files --cached --others --exclude-standard 2>/dev/null | grep . ||
        find . -type f -not -path './build*' -not -path './.git/*' -not -path '*/__pycache__/*' | sed 's|^\./||'
}
all=$(files | sort)
of() {
    printf '%s\n' "$all" | grep -E "$1"
}

# Data (vectors, corpora) and files whose form is Debian's cannot carry the line; LICENSE is the licence.
unlike=$(of '' | grep -vE '^(LICENSE|LICENSES/MIT.txt|debian/(changelog|copyright|source/format)|fuzz/corpus/.*|.*\.(tsv|csv|png|svg|wasm))$' |
    tr '\n' '\0' | xargs -0 awk 'FNR == 1 { lines[FILENAME] = 0 } /SPDX-License-Identifier: MIT/ { lines[FILENAME]++ } FNR == 5 { nextfile }
        END { for (i = 1; i < ARGC; i++) if (lines[ARGV[i]] != 1) print ARGV[i] }')
same "each file says its licence in one SPDX line at its head" "" "$unlike"
check "and the licence is where REUSE looks for it" cmp LICENSE LICENSES/MIT.txt

# shellcheck disable=SC2086
{
    same "no file holds a path of somebody's machine" "" \
        "$(grep -nIE '(^|[^a-z.])/([w]ork|[f]arm|[h]ome|[r]oot|[U]sers|tmp/[b]ash_jobs)/' $all)"
    same "no file names a package registry" "" \
        "$(grep -nIE '(deb|ftp|registry|packages)[.](debian|npmjs|ubuntu)[.](org|com)' $all)"
    same "no line ends in blanks, no C file holds tabs" "" \
        "$(grep -nIE '[ 	]+$' $(of '\.([ch]|def|sh|md|map|txt)$|^(run|Makefile)$'); grep -nI '	' $(of '\.([ch]|def)$'))"
    # shellcheck disable=SC2046
    same "clocks, entropy and stores arrive as arguments: nothing else reads the environment" "" \
        "$(grep -nE '\<(secure_)?getenv\(' $(of '^src/.*\.[ch]$') | grep -vE 'XDG_STATE_HOME|HOME|STATE_DIRECTORY|LD_PRELOAD|TZDIR')"
}

own='(src|modules|server|cmd|lab|common|ext|include)/'
# The library does not know the command, and no code reads the sentence of an error: it has a code and a cure.
# shellcheck disable=SC2046
{
    verbs=$(sed -nE 's/^(COMMAND|LAB|VERBATIM)\(([a-z]*).*/\2/p' cmd/commands.def lab/lab.def | paste -sd'|')
    same "no sentence of the library or its modules names the command or its options" "" \
        "$(grep -nE "\"[^\"]*(--[a-z][a-z-]+|\<firn ($verbs)\>)" $(of '^(src|modules)/.*\.([ch]|def)$') | grep -vE 'etcdctl get --prefix|" /[*] ')"
    same "nothing searches the text of an error" "" \
        "$(grep -nE '\<(str(r?chr|r?str|n?cmp|n?casecmp|c?spn)|mem(chr|cmp))\([^;]*\<(error|why|failed|failure|said|bad_one)(->|\.)text' \
            $(of "^($own|bindings/).*\.([ch]|hpp)$"))"
    same "... nor does a binding" "" "$(grep -nE "(rpartition|lastIndexOf|LastIndex|rsplit(_once)?)\\(.*['\"]: ['\"]" \
        $(of '^bindings/.*\.(py|js|mjs|java|go|rs)$') | grep -v 'LastIndex(format, ')"
}

same "each line that sim/mutants.excused excuses is in its file" "" "$(awk -F '\t' '!/^#/ && NF > 1 {
    for (file = ($1 ~ "/" ? "" : "src/") $1; !(file in seen) && (getline line <file) > 0;) { sub(/^ +/, "", line); has[$1 FS line] }
    seen[file]; if (!(($1 FS $2) in has)) print $1 ": " $2 }' sim/mutants.excused)"

# For address/store_test a line of test/run-all does so.
same "test/long lists each program that tries less with TEST_SHORT=1" "" "$({
    grep -lE 'short_step\(|TEST_SHORT|^ *(! |if )?short( |;|$)|\<short \|\|' $(of '^test/([a-z0-9_]*_test\.c|[a-z_0-9]*\.sh|scripted\.h)$')
    } | sed -E 's|^test/||; s/\.(c|sh)$//; s/^scripted\.h$/scripted_*_test/; s/^fork_steps_pure_test$/fork_steps_*_test/' |
    while read -r program; do grep -qF "#   $program " test/long || echo "$program"; done
    sed -n '/TEST_SHORT=1:$/,$s/^#   \([a-z_*]*\) .*/\1/p' test/long | sed 's/\*/[a-z]*/g' | while read -r program; do
        case $program in address) continue ;; scripted*) set -- test/scripted.h ;; *) set -- test/$program.sh test/$program.c ;; esac
        grep -qsE 'short_step\(|TEST_SHORT|\<short( |$|;)' "$@" || echo "test/long: $program tries as much"
    done)"

# An access that leaves its memory order to the language reads as if nobody had thought of it. Calls are found by their names;
# operators, and plain reads and writes of _Atomic variables, by clang, in the files of compile_commands.json.
# shellcheck disable=SC2046
same "each call on an atomic variable says its memory order" "" \
    "$(grep -nE '\<atomic_(load|store|exchange|compare_exchange_(weak|strong)|fetch_[a-z]+|flag_(test_and_set|clear))\>' $(of "^$own.*\.[ch]$"))"
explicit="no operator reads or writes an atomic variable"
if short; then
    :
elif command -v clang >/dev/null && command -v jq >/dev/null; then
    same "$explicit" "" "$(jq -r --arg own "^$PWD/$own" 'unique_by(.file)[] | select(.file | test($own)) |
        "cd \(.directory) && clang \(.command | sub("^[^ ]+ "; "") | sub(" -o [^ ]+"; "") | gsub(" -f[^ ]+"; "")) -fsyntax-only -Wno-everything -Watomic-implicit-seq-cst"' \
        "$BUILD/compile_commands.json" | sh 2>&1 | grep -E '(warning|error):' | sort -u)"
else
    skip "$explicit" "clang or jq is missing"
fi

unbuilt=$(of '^(src|modules|common|packaging|sim|test)/[^/]*\.c$|^(cmd|lab|server|bench)/.*\.c$' | while read -r file; do echo "$file /$file\""; done |
    awk 'FNR == NR { built = built $0 "\n"; next } !index(built, $2) { print $1 }' "$BUILD/compile_commands.json" -)
included=$(grep -hrE '#include "' src modules common cmd lab server packaging sim test fuzz bench ext bindings | sed -n 's|.*#include "\([^"]*/\)\{0,1\}\([^"]*\)".*|/\2|p' | sort -u)
for file in $(of '\.(h|def)$' | grep -vE '^(include|packaging/static)/|^test/counted[.]h$'); do # make coverage includes the last
    case "$included
" in *"/${file##*/}
"*) ;; *) unbuilt="$unbuilt $file" ;; esac
done
same "every C file is built and every header and list included" "" "$unbuilt"

for file in $(of '^test/[^/]*$' | grep -vE '\.(c|h|sh)$') $(of '^docs/.*\.sh$'); do
    grep -qrF --include=run --include=Makefile --include='*.sh' --include='run-all' --include=bare --include=arch --include=systemd --include='*.[ch]' --include=CMakeLists.txt \
        "$file" run Makefile CMakeLists.txt test || unused="${unused:-} $file"
done
same "every script is run by another or by make" "" "${unused:-}"

for file in $(of '^(run|test/(run-all|bare|arch|deb|image|static|several|fuzz)|debian/(rules|tests/(command|library|server|sql))|\.ci/run)$'); do
    [ -x "$file" ] || plain="${plain:-} $file"
done
same "what is started by its name can be executed" "" "${plain:-}"
for file in run .ci/run $(of '\.sh$|^debian/(tests/(command|library|server|sql)|.*[.]p[a-z]*)$') test/run-all test/tap; do
    sh -n "$file" || broken="${broken:-} $file"
done
same "the plainest shell reads every script" "" "${broken:-}"
finish
