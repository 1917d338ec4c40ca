#!/bin/bash
# SPDX-License-Identifier: MIT
# The conformance cases of spec/: they are what make.py writes, plain.py passes them, and the runner finds a wrong case.
# test/spec_pure_test.c puts them to the library.
. "$(dirname "$0")/tap"
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

python3 spec/make.py "$scratch"
for file in "$scratch"/*.json; do
    check "$(basename "$file") is what make.py writes" cmp "$file" "spec/$(basename "$file")"
done
python3 spec/masks.py "$scratch/mask.json"
check "mask.json is what masks.py writes" cmp "$scratch/mask.json" spec/mask.json
check "masks.py passes NIST's samples, mask.json and order.json" python3 spec/masks.py
check "plain.py passes every case" python3 spec/runner.py
same "README.md shows how many" "$(spec/runner.py)" "$(sed -n '/^\$ spec.runner/ { n; p; }' spec/README.md)"

same "each file of test/vectors is a case there, or in test/vectors_pure_test.c or test/command_mask.sh" "" \
    "$(for file in test/vectors/*.tsv; do
        grep -qF -e "\"$(basename "$file" .tsv)\"" -e "<$file" spec/make.py test/vectors_pure_test.c test/command_mask.sh || echo "$file"
    done)"

# wrong SENTENCE FILE OLD NEW: the runner finds a case that was changed.
wrong() {
    cp -r spec "$scratch/changed"
    sed -i "0,/$3/s//$4/" "$scratch/changed/$2"
    if cmp -s "spec/$2" "$scratch/changed/$2"; then fail "$1" "nothing was changed"; fi
    same "$1" "1 failed" "$(python3 "$scratch/changed/runner.py" | tail -n 1 | grep -o '1 failed')"
    rm -r "$scratch/changed"
}
wrong "a wrong text is found" snowflake.json '"text": "4095"' '"text": "4096"'
wrong "wrong bytes are found" ksuid.json '"bytes": "00' '"bytes": "01'
wrong "a wrong field is found" uuid7.json '"sequence": "67108863"' '"sequence": "67108862"'
wrong "a wrong range is found" tsid.json '"greatest": "4VB0WW09QZZZZ"' '"greatest": "4VB0WW09QZZZY"'
wrong "an accepted text is found" ulid.json '"text": "[^"]*", "why"' '"text": "00000000000000000000000000", "why"'
wrong "a pair in the wrong order is found" tsid.json '"0BEPRAM4B8VA3", "0BEPRAM4B8VA4"' '"0BEPRAM4B8VA4", "0BEPRAM4B8VA3"'
same "and Python's uuid, asked as known/README.md says" "0" \
    "$(spec/known/check.py 'python3 spec/known/packages.py' | sed -nE 's/^\| uuid \| .* \| ([^|]*) \|$/\1/p')"
finish
