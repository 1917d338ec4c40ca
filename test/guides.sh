# SPDX-License-Identifier: MIT
# The guides do what they say: each ```sh block of them is run as it stands, page by page in a folder and with a store of
# its own, and a ```text block after it is what it prints; ```console is an example.
. test/tap
tree=$(pwd)
PATH=$(dirname "$FIRN"):$PATH
export PATH

for page in start/choosing start/tutorial guides/migrating skill/SKILL; do
    work=$TMPDIR/$page
    XDG_STATE_HOME=$work/state
    export XDG_STATE_HOME
    mkdir -p "$work/state" && cd "$work" || exit 1
    # NUMBER.sh, NUMBER.text, and NUMBER.title: the heading above
    awk '
        /^```sh$/ { n++; file = sprintf("%02d.sh", n); print title >sprintf("%02d.title", n); next }
        /^```text$/ && !shown[n]++ { file = sprintf("%02d.text", n); next }
        /^```/ { file = ""; next }
        file != "" { print >file; next }
        /^#+ / { title = $0; sub(/^#+ /, "", title) }' "$tree/docs/$page.md"
    for block in [0-9]*.sh; do
        number=${block%.sh}
        ! grep -qE '^(firn serve|curl) ' "$block" || continue # test/clone.sh runs these, at the usual ports
        title="docs/$page.md, $(cat "$number.title"): block $number"
        if ! timeout 300 sh -eu "$block" >"$number.said" 2>"$number.notes" </dev/null; then
            fail "$title" "$(cat "$number.said" "$number.notes")"
        elif [ -e "$number.text" ]; then
            same "$title" "$(cat "$number.text")" "$(cat "$number.said")"
        else
            pass "$title"
        fi
    done
    check "docs/$page.md has at least ten blocks" test -e 10.sh
done
cd "$tree" || exit 1
same "docs/start/choosing.md has five workloads" 5 "$(sed -n '/^## Five/,/^## What/p' docs/start/choosing.md | grep -c '^### ')"
finish
