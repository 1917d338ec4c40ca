# SPDX-License-Identifier: MIT
# The pages say what there is: every function, key, code and scheme is in its page and nothing else is, the
# examples of docs/reference/format.md are what the command makes, every link leads to a file and a heading that exist.
# shellcheck disable=SC2016 # backticks are Markdown's here
. test/tap

# Lines that both sides should have: the first list is the code's.
same_list() {
    same "$1" "$(printf '%s\n' "$2" | sort)" "$(printf '%s\n' "$3" | sort)"
}

# ---- functions -------------------------------------------------------------------------------------

functions=$(cat include/firn/firn.h include/firn/recognize.h | tr '\n' ' ' | grep -oE 'FIRN_API [^;(#]*\(' |
    sed -nE 's/.*[ *](firn_[a-z0-9_]+)\($/\1/p')
same_list "docs/reference/threads.md has one row for each function of the public headers" "$functions" \
    "$(sed -nE 's/^\| `(firn_[a-z0-9_]+)` \|.*/\1/p' docs/reference/threads.md)"

# ---- walks -----------------------------------------------------------------------------------------

# Each line of a block `text walk`: blanks, a function, its file. The line above it that is indented less calls it.
walks=$(awk '/^```text walk$/ { in_walk = 1; delete above; next } /^```/ { in_walk = 0 } in_walk {
    match($0, /^ */); depth = RLENGTH; print $1, $2, depth ? above[depth - 2] : "-"; above[depth] = $2 }' docs/explanation/design.md)
same "the walks of docs/explanation/design.md have functions that are in their files, and are called by the one before" "" \
    "$(echo "$walks" | while read -r function file caller; do
        grep -qE "^[A-Za-z].*[ *]$function\(" "$file" || echo "$function is not in $file"
        [ "$caller" = - ] || grep -qE "^ .*[^a-z_]$function\(" "$caller" || echo "$caller does not call $function"
    done)"

code="src modules common cmd lab server ext bindings include packaging examples model sim spec fuzz bench study test"
same "the files and functions that docs/explanation/ and CONTRIBUTING.md name exist" "" \
    "$(cat docs/explanation/*.md CONTRIBUTING.md | grep -oE '`[a-z0-9_/.-]+[.](c|h|def|sh|py)`|`[a-z0-9_]+[(][)]`' | tr -d '`' | sort -u |
    while read -r name; do
        # shellcheck disable=SC2086 # folders
        case $name in
        *'()') grep -rqw --include='*.[ch]' --include='*.def' --include='*.sql' "${name%??}" $code || echo "$name" ;;
        *) [ -e "$name" ] || find $code -path "*/$name" | grep -q . || echo "$name" ;;
        esac
    done)"

# Each row: | number, if it is another one | functions of src | program: its tests; another program: its tests |
rules=$(awk '/^[|] rule [|]/ { inside = 1 } !NF { inside = 0 } inside && /`/' docs/explanation/reservations.md)
same "the table of docs/explanation/reservations.md has each rule of the page" \
    "$(sed -nE 's/^([0-9]+)[.] .*/\1/p' docs/explanation/reservations.md)" "$(echo "$rules" | cut -d '|' -f 2 | grep -oE '[0-9]+')"
same "the rules of docs/explanation/reservations.md name functions of src, and tests that are in the program they name" "" \
    "$(echo "$rules" | while IFS='|' read -r _ _ where tests _; do
        for name in $(echo "$where" | grep -oE '`[a-z_]{6,}`' | tr -d '`'); do
            grep -qE "^[a-z].*[ *]$name\(" src/*.c || echo "$name"
        done
        program=
        for name in $(echo "$tests" | grep -oE '`[a-z_0-9]+`' | tr -d '`'); do
            case $program/$name in
            */*_test) program=$name ;;
            *) grep -qE "^[a-z].*[ *]$name\(" "test/$program.c" || echo "$name is not in $program" ;;
            esac
        done
    done)"

# ---- keys ------------------------------------------------------------------------------------------

keys=$(sed -nE 's/^(NUMBER|DURATION|CHOICE|WORD)\(([a-z_]+),.*/\2/p' src/keys.def)
same_list "docs/reference/keys.md has a heading for each key of src/keys.def" "$keys" \
    "$(sed -nE 's/^### ([a-z_]+)$/\1/p' docs/reference/keys.md)"
same_list "the table of docs/reference/keys.md lists each key" "$keys" \
    "$(sed -nE 's/^\| \[`([a-z_]+)`\]\(#([a-z_]+)\) \|.*/\1/p' docs/reference/keys.md)"

# name default least most, where the least is not above the default (which then is chosen by what else is set)
numbers=$(sed -nE 's/^NUMBER\(([a-z_]+), *([0-9]+), *([0-9]+), *([0-9]+),.*/\1 none \2 \3 \4/p
    s/^DURATION\(([a-z_]+), *([a-z]+), *([0-9]+), *([0-9]+), *([0-9]+),.*/\1 \2 \3 \4 \5/p' src/keys.def)
# amount NUMBER UNIT: a number, or a duration as a whole number of the largest unit that fits
amount() {
    awk -v number="$1" -v unit="$2" 'BEGIN {
        if (unit == "none") { print number; exit }
        us = number * (unit == "us" ? 1 : unit == "ms" ? 1000 : 1000000)
        split("86400000000 d 3600000000 h 60000000 min 1000000 s 1000 ms 1 us", units, " ")
        for (i = us == 0 ? 7 : 1; us % units[i] != 0; i += 2) { }
        print us / units[i] units[i + 1] }'
}
wrong=$(printf '%s\n' "$numbers" | while read -r key unit initial least most; do
    row=$(grep "^| \[\`$key\`\]" docs/reference/keys.md)
    bounds="$(amount "$least" "$unit") to $(amount "$most" "$unit")"
    case $row in
    *" $bounds"*) ;;
    *) echo "$key: $bounds" ;;
    esac
    if [ "$initial" -ge "$least" ]; then
        case $row in
        *") | $(amount "$initial" "$unit") | "*) ;;
        *) echo "$key: default $initial" ;;
        esac
    fi
done)
same "that table has the defaults and bounds of src/keys.def" "" "$wrong"

choices=$(sed -nE 's/^CHOICE\(([a-z_]+), *[0-9]+, *"([^"]*)",.*/\1 \2/p' src/keys.def)
wrong=$(printf '%s\n' "$choices" | while read -r key words; do
    row=$(grep "^| \[\`$key\`\]" docs/reference/keys.md)
    for word in $words; do
        case ${row##*" | "} in
        *"\`$word\`"* | *" $word "* | "$word "*) ;;
        *) echo "$key=$word" ;;
        esac
    done
done)
same "and every word that a key takes" "" "$wrong"

# ---- the server ------------------------------------------------------------------------------------

# shown PAGE BETWEEN: the first words in backticks of the rows between two marks of docs/reference/PAGE.md.
shown() {
    sed -n "/^<!-- $2 -->/,/^<!-- \\/$2 -->/s/^| \`\([^ \`]*\).*/\1/p" "docs/reference/$1.md"
}
same_list "docs/reference/settings.md has a row for each setting of server/settings/settings.def" \
    "$(sed -nE '/^#/!s/^(TEXT|NUMBER|DURATION|SWITCH|CHOICE)\(([a-z_]+), .*/\2/p' server/settings/settings.def)" "$(shown settings settings)"
wrong=$(sed -nE 's/^NUMBER\(([a-z_]+), *([0-9]+), *([0-9]+), *([0-9]+), *([01]),.*/\1 none \2 \3 \4 \5/p
    s/^DURATION\(([a-z_]+), *([a-z]+), *"([^"]*)", *([0-9]+), *([0-9]+), *([01]),.*/\1 \2 \3 \4 \5 \6/p' server/settings/settings.def |
    while read -r name unit initial least most reloads; do
        [ "$reloads" = 1 ] && again=SIGHUP || again=
        bounds="$(amount "$least" "$unit") to $(amount "$most" "$unit")"
        grep -qF "| \`$name\` | $initial ($bounds) | $again |" docs/reference/settings.md || echo "$name"
    done)
same "with the defaults and bounds of the numbers" "" "$wrong"
same_list "docs/reference/resp.md has one for each command of server/resp/commands.def" \
    "$(sed -nE 's/^(ASK|COMMAND)\("([a-z.]+)".*/\2/p' server/resp/commands.def | tr a-z A-Z)" "$(shown resp commands)"
same_list "docs/reference/http.md has one for each path of server/http/routes.def" \
    "$(sed -nE 's/^(ASK|PAGE)\("([^"]+)".*/\2/p' server/http/routes.def)" "$(shown http routes)"

# Members of C structures, and what stored jobs say (format.md), keep these names.
old=$(sed -nE 's/^RENAMED\(([a-z_]+),.*/\1/p' src/keys.def; sed -nE 's/^DURATION\(([a-z_]+), *([a-z]+), *".*/\1_\2/p' server/settings/settings.def)
same "no page has a name that a key or a setting had before its value got a unit" "" \
    "$(of_pages=$(find README.md SECURITY.md docs packaging -name '*.md' ! -path docs/reference/format.md)
    # shellcheck disable=SC2086 # names without blanks
    for name in $old; do grep -nE "\`$name(=|\`)|[^a-z_]$name=" $of_pages; done)"

# ---- errors ----------------------------------------------------------------------------------------

same_list "docs/reference/errors.md has one row for each code of firn.h, with its number" \
    "$(sed -nE 's/^ *X\(([A-Z]+), (-[0-9]+),.*/FIRN_E\1 \2/p' include/firn/firn.h)" \
    "$(sed -nE 's/^\| `(FIRN_E[A-Z]+)` (-[0-9]+) \|.*/\1 \2/p' docs/reference/errors.md)"
statuses=$(sed -nE 's/^ *(STATUS_[A-Z]+) = ([0-9]+),.*/s,\1$,\2,/p' common/errors.h)
same_list "docs/reference/errors.md has the exit status of each code" \
    "$(sed -nE 's/^ *X\(([A-Z]+), (STATUS_[A-Z]+)\).*/FIRN_E\1 \2/p' common/errors.c | sed "$statuses")" \
    "$(sed -nE 's/^\| `(FIRN_E[A-Z]+)` .* \| ([0-9])(;[^|]*)? \|$/\1 \2/p' docs/reference/errors.md)"

# ---- schemes ---------------------------------------------------------------------------------------

schemes=$(sed -nE 's/^SCHEME\([a-z0-9_]+, "([a-z0-9-]+)",.*/\1/p' src/schemes.def)
same_list "docs/reference/format.md has a heading for each scheme of src/schemes.def" "$schemes" \
    "$(sed -n 's/^#### //p' docs/reference/format.md | tr ',' '\n' | tr -d ' ')"

# NAME TAB FIELDS TAB ID of every line with an arrow in an example block.
examples=$(awk '
    /^```example / { name = $2; next }
    /^```/ { name = "" }
    name != "" && / -> / { split($0, sides, " -> "); printf "%s\t%s\t%s\n", name, sides[1], sides[2] }' docs/reference/format.md)
for name in $schemes; do
    case $name in nil | max) continue ;; esac
    printf '%s\n' "$examples" | grep -q "^$name	" || without="${without:-} $name"
done
same "each scheme that is not a single ID has an example" "" "${without:-}"
sample=2b7e151628aed2a6abf7158809cf4f3c # NIST's key of the samples of FF1
if [ -x "${FIRN:-}" ]; then
    wrong=$(printf '%s\n' "$examples" | while IFS='	' read -r name fields id; do
        verb=pack
        case $name in uuid3 | uuid5) verb=new ;; esac
        # shellcheck disable=SC2086 # fields have no blanks in them
        made=$(FIRN_ORDER_KEY=$sample "$FIRN" "$verb" "$name" $fields 2>&1)
        [ "$made" = "$id" ] || echo "$name $fields: $made, not $id"
    done)
    same "the examples of docs/reference/format.md are what the command makes" "" "$wrong"
else
    skip "the examples of docs/reference/format.md are what the command makes" "no command is built"
fi

# ---- the head and the end of a page ------------------------------------------------------------------

unsaid=$(for page in docs/*/*.md; do
    # without the front matter of a skill
    sed -e '1{/^---$/{:more' -e 'N;/\n---$/!b more' -e 'd}}' -e '/^<!--/d; /^# /d; /^$/d' "$page" | sed -n 1p | grep -q '^For ' || echo "$page: whom is it for?"
    tail -n 12 "$page" | grep -qE '^(Next: |## Where to go next$)' || echo "$page: where to go next?"
done)
same "each page begins with whom it is for, and ends with where to go next" "" "$unsaid"

# ---- links -----------------------------------------------------------------------------------------

same "every link of a page leads to a file and a heading that exist" "" "$(test/links .)"
same "docs/reference/errors.md has the tables that docs/errors.sh makes from the lists: make docs/reference/errors.md" "" \
    "$(sh docs/errors.sh | diff - docs/reference/errors.md)"
same "docs/reference/sql.md is what ext/functions.awk makes from the list of SQL functions: make docs/reference/sql.md" "" \
    "$(awk -v out=page -f ext/functions.awk ext/functions.def | diff - docs/reference/sql.md)"
finish
