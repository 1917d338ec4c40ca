# SPDX-License-Identifier: MIT
# `firn check --gaps`: gaps in integers, sequences and counters, counted a second time by Python, at every memory, from files
# and pipes. `firn check --chart`: bins, width, characters, colour.
. test/command.tap
cd "$TMPDIR" || exit 1

# ---- gaps by hand --------------------------------------------------------------------------------
{ seq 1 100; seq 201 300; seq 1001 1003; } >hand
ask check --gaps hand
same "gaps are listed with their first and last number" "1 203 IDs, 0 duplicates, 2 gaps, 800 missing
101 to 200  100 missing
301 to 1000  700 missing
sizes: 100 to 999: 2
each gap ends a multiple of 200 after the first integer: unused ends of blocks
  A gap is normal where a process ended without using up the block that it had
  reserved, where a transaction was rolled back, and where rows were deleted." "$status $out"
seq 5 8 >hand
says "without gaps the exit status is 0" "4 IDs, 0 duplicates, 0 gaps, 0 missing" check --gaps hand
: >empty
says "nothing has no gap" "0 IDs, 0 duplicates, 0 gaps, 0 missing" check --gaps empty
printf '7\n5\n6\n5\n' >hand
same "duplicates are counted, in any order" "1 4 IDs, 1 duplicate, 0 gaps, 0 missing" "$("$FIRN" check --gaps hand >out; echo "$? $(cat out)")"
printf '%s\n' -2 1 >hand
same "through 0" "-1 to 0  2 missing" "$("$FIRN" check --gaps hand | sed -n 2p)"
printf '%s\n' 9223372036854775807 9223372036854775809 >hand
same "without a sign through 2^63" "9223372036854775808 to 9223372036854775808  1 missing" "$("$FIRN" check --gaps hand | sed -n 2p)"
printf '%s\n' 0 18446744073709551615 >hand
same "and from the least to the greatest" '1 18446744073709551614' "$("$FIRN" check --gaps --json hand | jq -r '.first[] | "\(.first) \(.last)"')"
printf '1\n100\n' >hand
same "two integers have a gap between them" "2 IDs, 0 duplicates, 1 gap, 98 missing" "$("$FIRN" check --gaps hand | head -n 1)"
{ seq 5 5 100; seq 115 5 200; } >hand
same "integers of an increment have gaps of their steps" "38 IDs, 0 duplicates, 1 gap, 2 missing, in steps of 5
105 to 110  2 missing" "$("$FIRN" check --gaps hand | head -n 2)"
printf '1\nx\n3\n' >hand
same "--keep-going counts bad lines" "2 1 1" "$("$FIRN" check --gaps --keep-going --json hand | jq -r '"\(.ids) \(.bad) \(.gaps)"')"
refuses "without --keep-going they end the run" 1 "line 2: 'x'" check --gaps hand
"$FIRN" new uuid7 -n 3 >hand
refuses "UUIDs have no gaps" 2 "--gaps compares integers, or sequences and counters" check --gaps hand
refuses "random IDs neither" 2 "uuid4 has neither a sequence nor a counter" check --gaps --scheme uuid4 hand
refuses "a counter in larger steps" 2 "does not count in steps of 1" check --gaps --scheme locality hand
refuses "one check at a time" 2 "use one of them" check --gaps --sorted hand
refuses "nor a chart" 2 "use one of them" check --gaps --chart hand
{
    for sequence in 1 2 5; do "$FIRN" pack snowflake tick=400000000000 datacenter=1 worker=3 sequence=$sequence; done
    "$FIRN" pack snowflake tick=400000000000 datacenter=1 worker=4 sequence=0
    "$FIRN" pack snowflake tick=400000000001 datacenter=1 worker=3 sequence=0
} >hand
same "a sequence has gaps in a tick of a node" "1 5 IDs, 0 duplicates, 2 gaps, 3 missing
0 to 0  1 missing  2023-07-08T16:49:34.657Z datacenter=1 worker=3
3 to 4  2 missing  2023-07-08T16:49:34.657Z datacenter=1 worker=3" "$("$FIRN" check --gaps --scheme snowflake hand >out; echo "$? $(sed -n 1,3p out)")"
{
    "$FIRN" pack objectid time=2024-01-01T00:00:00Z random=5 counter=16777214
    "$FIRN" pack objectid time=2024-01-01T00:00:01Z random=5 counter=1
    "$FIRN" pack objectid time=2024-01-01T00:00:01Z random=6 counter=900
} >hand
same "a counter continues at 0 after its end" "3 IDs, 0 duplicates, 1 gap, 2 missing
16777215 to 0  2 missing  2024-01-01T00:00:01Z random=0x0000000005" "$("$FIRN" check --gaps --scheme objectid hand | sed -n 1,2p)"

"$FIRN" range snowflake 2024-01-01 2024-01-02 >hand
same "IDs of a scheme are not a series" "  These are probably not integers of a series: they look like IDs of snowflake
  or of a similar scheme. Add --scheme snowflake, or the right one. snowflake" \
    "$("$FIRN" check --gaps hand | tail -n 2) $("$FIRN" check --gaps --json hand | jq -r .looks_like)"
seq 1704067200000000000 1 1704067200000000999 >hand
same "integers as great, but close together, are one" null "$({ cat hand; echo 1704067200000100000; } | "$FIRN" check --gaps --json | jq .looks_like)"

# ---- another judge -------------------------------------------------------------------------------
cat >judge.py <<'END'
import json, random, subprocess, sys
firn = sys.argv[1]
random.seed(20261122)

def ask(args, text, file):
    if file:
        open("in", "w").write(text)
        return json.loads(subprocess.run([firn, "check", "--gaps", "--json", *args, "in"], stdout=subprocess.PIPE).stdout)
    return json.loads(subprocess.run([firn, "check", "--gaps", "--json", *args], input=text.encode(), stdout=subprocess.PIPE).stdout)

def integers(values):
    v = sorted(set(values))
    d = [(a, b) for a, b in zip(v, v[1:]) if b - a > 1]
    return {"ids": len(values), "duplicates": len(values) - len(v), "gaps": len(d), "missing": sum(b - a - 1 for a, b in d),
            "largest": max((b - a - 1 for a, b in d), default=0),
            "first": [{"first": str(a + 1), "last": str(b - 1), "missing": b - a - 1} for a, b in d[:10]]}

def fields(ids):
    found = {"ids": len(ids), "duplicates": len(ids) - len(set(ids)), "gaps": 0, "missing": 0, "largest": 0}
    groups = {}
    for node, tick, sequence in set(ids):
        groups.setdefault((node, tick), []).append(sequence)
    for group in groups.values():
        before = -1
        for s in sorted(group):
            if s - before > 1:
                found["gaps"] += 1
                found["missing"] += s - before - 1
                found["largest"] = max(found["largest"], s - before - 1)
            before = s
    return found

def compare(what, got, wanted):
    bad = {k: (got[k], wanted[k]) for k in wanted if got[k] != wanted[k]}
    if bad:
        print(what, bad)

# signed if one of them is negative; else up to 2^64 - 1
for case in range(24):
    start = (-50, 1, 10**12, 2**62, -50000, -2**63, 2**63 - 20, 2**64 - 1200000)[case // 3]
    values = [start + i for i in range(random.choice([2, 30, 3000, 100000])) if random.random() < 0.9 or i == 0]
    values += random.choices(values, k=random.choice([0, 3]))
    if case % 3:
        random.shuffle(values)
    if case % 3 == 2:
        values = [v + random.choice([0, 0, 0, 10**6]) for v in values]
    text = "\n".join(map(str, values)) + "\n"
    for args in ([], ["--memory", "1M"]):
        compare((case, args), ask(args, text, case % 2), integers(values))
for case in range(6): # the order of issue is known here: 12 bytes of objectid from a counter that passes its end, perhaps within a tick
    start = random.randrange(1, 800)
    issued = [(n, t, (2**24 - start + t * 40 + i) % 2**24) for n in range(3) for t in range(20) for i in range(40)]
    kept = [one for one in issued if random.random() < 0.8]
    wanted = {"ids": len(kept), "duplicates": 0, "gaps": 0, "missing": 0, "largest": 0}
    for (node, _, before), (other, _, after) in zip(kept, kept[1:]):
        missing = (after - before - 1) % 2**24 if node == other else 0
        wanted["gaps"] += missing > 0
        wanted["missing"] += missing
        wanted["largest"] = max(wanted["largest"], missing)
    random.shuffle(kept)
    text = "".join("%08x%010x%06x\n" % (1704067200 + t, n, c) for n, t, c in kept)
    compare(("objectid", case), ask(["--scheme", "objectid"], text, case % 2), wanted)
for case in range(4):
    ids = [(random.randrange(4), 4 * 10**11 + random.randrange(400), random.randrange(30)) for _ in range(random.choice([50, 60000]))]
    text = "\n".join(str(t << 22 | n << 12 | s) for n, t, s in ids) + "\n"
    for args in ([], ["--memory", "1M"]):
        compare(("snowflake", case, args), ask(["--scheme", "snowflake", *args], text, case % 2), fields(ids))
END
same "Python finds the same gaps" "" "$(python3 judge.py "$FIRN" 2>&1)"

# ---- the chart -----------------------------------------------------------------------------------
cat >issue.py <<'END'
import sys
start, step, count = map(int, sys.argv[1:])
for i in range(count):
    print((start + i * step) << 22 | 77 << 12)
END
python3 issue.py 400000000000 250 4000 >ids
same "bins contain all IDs, and are in order" "4000 true 2023-07-08T16:49:34.657Z" \
    "$("$FIRN" check --chart --json --scheme snowflake ids | jq -r '"\([.bins[].ids] | add) \([.bins[].time] == ([.bins[].time] | sort)) \(.first)"')"
same "in any order" "$("$FIRN" check --chart --json ids)" "$(shuf ids | "$FIRN" check --chart --json --scheme snowflake)"
same "also from the last on" "$("$FIRN" check --chart --json --scheme snowflake ids)" "$(tac ids | "$FIRN" check --chart --json --scheme snowflake -)"
{ echo 1675037245440; python3 issue.py 400000000000 1 3; python3 issue.py 2000000000000 1 2; } >far
same "over decades, too" 6 "$("$FIRN" check --chart --json --scheme snowflake far | jq '[.bins[].ids] | add')"
for seconds in 1 60 86400; do
    python3 issue.py 400000000000 $((seconds * 1000)) 500 >spread
    same "one ID every $seconds s: no line is wider than 80 columns" "" "$(LC_ALL=C "$FIRN" check --chart --scheme snowflake spread | awk 'length > 80')"
done
printf '%s\n' 1541815603606036480 1541815603606036481 1541815607800340480 >three
same "two of three IDs in the first column" "3 IDs of snowflake
        2 #
          #
          #
          #
          #                                                                 #" "$(LC_ALL=C "$FIRN" check --chart three | head -n 6 | sed 's/##*/#/')"
same "in ASCII, unless the terminal shows UTF-8" "0 1" \
    "$(LC_ALL=C "$FIRN" check --chart ids | LC_ALL=C grep -c "$(printf '\342')") $(LC_ALL=de_DE.utf8 "$FIRN" check --chart ids | LC_ALL=C grep -c "$(printf '\342')" | sed 's/^[1-9].*/1/')"
same "no blanks at the end of a line" 0 "$("$FIRN" check --chart ids three | grep -c ' $')"
same "colour with --color=always" 8 "$("$FIRN" check --chart --color=always ids | grep -c "$(printf '\033')")"
same "what does not fit the scheme is counted" "1 1" "$({ cat ids; echo 99; echo 9223372036854775808; } | "$FIRN" check --chart --json --scheme snowflake --keep-going >out; echo "$? $(jq .bad out)")"
says "nothing has no chart" "no ID" check --chart empty
seq 20 >hand
refuses "integers have no time" 2 "not of a known scheme: add --scheme" check --chart hand
"$FIRN" new uuid4 -n 2 >hand
refuses "random IDs neither" 2 "uuid4 have no time" check --chart hand
finish
