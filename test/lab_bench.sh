# SPDX-License-Identifier: MIT
# firn bench measures what it lists, merges processes and compares libraries. The figures themselves are not judged.
. test/tap
firn=$BUILD/bin/firn

"$firn" bench uuid-read --json >"$TMPDIR/one" 2>"$TMPDIR/notes"
check "each line is an object with a name, a kind and a note" jq -es 'all(.name and .kind and .note != null)' "$TMPDIR/one"
same "the path is first, and has its goal" "uuid-read path 3.5" "$(jq -rs '.[0] | "\(.name) \(.kind) \(.goal_ns)"' "$TMPDIR/one")"
check "its minimum is not above its median" jq -es '.[0] | [.alone, .shared] | map(select(. != null)) | all(.min_ns > 0 and .min_ns <= .median_ns)' "$TMPDIR/one"

"$firn" bench decimal-write --processes 2 --json >"$TMPDIR/two"
same "figures of two processes are merged into one row each" "decimal-write snprintf" "$(jq -rs 'map(.name) | join(" ")' "$TMPDIR/two")"
check "with the samples of both" jq -es '.[0] | (.alone.samples // 0) + (.shared.samples // 0) <= 2000' "$TMPDIR/two"

"$firn" bench snowflake --library "$BUILD/libfirn.so" --against "$BUILD/libfirn.so" --json >"$TMPDIR/against"
same "another library is measured in turn" "path other peer limit" "$(jq -rs 'map(.kind) | join(" ")' "$TMPDIR/against")"
check "a library with a wrong path is refused" sh -c "'$firn' bench snowflake --against '$TMPDIR/one' 2>&1 | grep -q 'use the path of a libfirn.so'"

"$firn" bench process --json >"$TMPDIR/process" 2>"$TMPDIR/notes"
check "whole processes of the command are measured" jq -es '.[0].all.median_ns > 0' "$TMPDIR/process"

# The files of its processes have no name, so nothing stays when it is killed.
mkdir "$TMPDIR/files"
TMPDIR=$TMPDIR/files "$firn" bench million --json >"$TMPDIR/killed" 2>&1 &
bench=$!
has_file() { find "/proc/$bench/fd" -lname "$TMPDIR/files/*" 2>/dev/null | grep -q .; }
check "it writes into TMPDIR" await has_file
kill -KILL $bench
wait $bench 2>/dev/null
same "and leaves nothing there when it is killed" "" "$(ls "$TMPDIR/files")"

# firn_format of this library is slower than any noise, and all else is the real one's.
cat >"$TMPDIR/slow.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <firn/firn.h>
char *firn_format(char text[FIRN_TEXT_SIZE], const firn_id *id, int form) {
    static char *(*real)(char *, const firn_id *, int);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "firn_format");
    }
    for (int i = 0; i < 100; i++) {
        real(text, id, form);
    }
    return real(text, id, form);
}
END
cc -shared -fPIC -O2 -Iinclude "$TMPDIR/slow.c" -o "$TMPDIR/slow.so" -Wl,--no-as-needed "$BUILD/libfirn.so" -Wl,-rpath,"$BUILD"
for processes in "" "--processes 2"; do
    for try in 1 2 3 4 5; do # on a busy machine, too few bursts may count for a figure
        # shellcheck disable=SC2086 # two words, or none
        "$firn" bench uuid-write --library "$TMPDIR/slow.so" --against "$BUILD/libfirn.so" $processes >"$TMPDIR/slower" 2>&1
        found="$? $(grep 'paths slower' "$TMPDIR/slower" || cat "$TMPDIR/slower")"
        [ "$found" != "0 paths slower than in the other library: 0" ] || continue
        break
    done
    same "a slower path is found: ${processes:-one process}" "1 paths slower than in the other library: 1" "$found"
done

same "a Markdown table has as many cells in each row" 1 "$("$firn" bench ulid-read --markdown | sed 's/[^|]//g' | sort -u | wc -l)"
check "a path is shown with its goal" sh -c "'$firn' bench ulid-read | grep -q '^ulid-read .*4.50 ns: '"
for name in $("$firn" bench guess --json | jq -r .name); do
    check "'$name' is one of the texts that are guessed" expr "$name" : guess-
done

printf '%s\n' before '<!-- measured: firn bench guess-word --markdown -->' old '<!-- end -->' after >"$TMPDIR/page.md"
check "bench/page.sh measures the tables of a page again" sh bench/page.sh "$BUILD" "$TMPDIR/page.md"
same "and changes nothing else" "before after 1 0" \
    "$(head -n 1 "$TMPDIR/page.md") $(tail -n 1 "$TMPDIR/page.md") $(grep -c '^| guess-word' "$TMPDIR/page.md") $(grep -c old "$TMPDIR/page.md")"
finish
