# SPDX-License-Identifier: MIT
# `firn spread`: streams whose counts were made so, even and skewed ones, with chi-square and its odds worked out by
# Python; shards of every width; samples of schemes, which reserve nothing.
. test/command.tap
cd "$TMPDIR" || exit 1

# ---- known streams -------------------------------------------------------------------------------
seq 0 15999 | "$FIRN" spread - --json >even
check "an even stream is even by modulo" sh -c "jq -e '.ways[1] | .way == \"modulo\" and .verdict == \"even\"
    and .chi_square == 0 and .p == 1 and .freedom == 15 and .empty == 0 and ([.counts[] == 1000] | all)' even"
check "by leading bits all its small numbers are in one shard" sh -c "jq -e '.ways[0] | .verdict == \"uneven\"
    and .counts[0] == 16000 and .empty == 15 and .fullest == 16 and .chi_square == 240000 and .p < 1e-300' even"
check "its order is reported" sh -c "jq -e '.order | .ascending == 15999 and .out_of_order == 0 and .longest == 16000 and .greatest == 16000' even"
printf '5\n6\n7\n3\n4\n4\n9\n' | "$FIRN" spread - --json --shards 2 >mixed
same "of a mixed one too" '{"ascending":4,"out_of_order":1,"equal":1,"longest":3,"greatest":4}' "$(jq -c .order mixed)"
printf '1\n2\nx\n3\n' >bad
refuses "a bad line is reported with its number" 1 "line 3: 'x'" spread bad
ask spread bad --keep-going --shards 2
same "or left out and counted" "1 1 bad line, the first: line 3: 'x'" \
    "$status $(printf '%s\n' "$out" | tail -n 1 | sed "s/'x'.*/'x'/")"
: >empty
ask spread empty --json
same "nothing falls nowhere" "0 0 too few IDs" "$status $(printf '%s' "$out" | jq -r '.ids, .ways[0].verdict' | paste -sd' ')"
seq 0 39 >few
same "few IDs say nothing" "too few IDs" "$("$FIRN" spread few --json | jq -r '.ways[1].verdict')"

# ---- for people ----------------------------------------------------------------------------------
for i in 0 1 2 3 4 5 6 7; do seq $i $i; seq $i $i; seq $i $i; seq $i $i; seq $i $i; done | "$FIRN" spread - --shards 4 >out
same "bars, verdicts and the order" "standard input: 40 IDs in 4 shards

      shard  leading bits       %  modulo             %  hash               %
          0  ############# 100.00  #############  25.00  #########      25.00
          1                  0.00  #############  25.00  #############  37.50
          2                  0.00  #############  25.00  ####           12.50
          3                  0.00  #############  25.00  #########      25.00

leading bits  uneven: fullest 4.00 times its share, 3 empty; chi-square 120, p
              7.72e-26
modulo        even: fullest 1.00 times its share, 0 empty; chi-square 0, p 1
hash          even: fullest 1.50 times its share, 0 empty; chi-square 5, p 0.172
arrival       ascending 17.95 %, 0 out of order, 32 equal; longest run 2;
              greater than all before 20.00 %" "$(cat out)"
seq 0 7 | "$FIRN" spread - --shards 1000 >out
same "many shards share bars" "32 1" "$(grep -cE '^ +[0-9]+-[0-9]+ ' out) $(grep -c '^ *992-999 ' out)"
same "no line is wider than a terminal" 0 "$(head -n 20 out | grep -cE '.{80}')"
if command -v script >/dev/null; then
    seq 0 99 >hundred
    script -qec "$FIRN spread hundred" /dev/null </dev/null >colored
    NO_COLOR=1 script -qec "$FIRN spread hundred" /dev/null </dev/null >plain
    same "a terminal gets colours unless NO_COLOR is set" "yes no" \
        "$(grep -q "$(printf '\033')" colored && echo yes || echo no) $(grep -q "$(printf '\033')" plain && echo yes || echo no)"
else
    skip "a terminal gets colours unless NO_COLOR is set" "there is no script"
fi

# ---- samples of schemes --------------------------------------------------------------------------
rm -rf "$XDG_STATE_HOME"
verdicts() {
    "$FIRN" spread "$@" --json time=2023-05-01 | jq -r '[.ways[].verdict] | join(" ")'
}
same "snowflakes made one at a time are uneven by modulo" "uneven uneven even" "$(verdicts snowflake --rate 10)"
check "nearly all of them in one shard" sh -c "'$FIRN' spread --json snowflake --rate 10 | jq -e '.ways[1].counts[0] > 99000'"
same "when ticks are full they are even" "uneven even even" "$(verdicts snowflake --rate 1e7)"
same "a random start helps leaf" "0" "$("$FIRN" spread --json leaf --rate 10 | jq .ways[1].empty)"
same "uuid4 is even every way" "even even even" "$(verdicts uuid4)"
same "so is lable-spread by leading bits" "even" "$(verdicts lable-spread | cut -d' ' -f 1)"
check "seata scatters by node" sh -c "'$FIRN' spread --json seata --nodes 8 | jq -e '.ways[0].empty < 15 and .order.out_of_order > 10000'"
check "snowflake of eight nodes is nearly in order" sh -c "'$FIRN' spread --json snowflake --nodes 8 --rate 100 | jq -e '.order | .out_of_order > 0 and .out_of_order < 10000'"
same "a sample is the same every time" "$("$FIRN" spread uuid7 time=2023-05-01 --nodes 3 --json)" \
    "$("$FIRN" spread uuid7 time=2023-05-01 --nodes 3 --json)"
same "-n and --shards are kept" "500 7" "$("$FIRN" spread ulid -n 500 --shards 7 --json | jq -r '[.ids, (.ways[0].counts | length)] | join(" ")')"
same "a row of one's own, with keys" "300" "$("$FIRN" spread 'time:41/ms node:10 sequence:12' node=3 bits=42/9/12 -n 300 --json | jq .ids)"
check "nothing was reserved" [ ! -e "$XDG_STATE_HOME" ]

# ---- what cannot be meant ------------------------------------------------------------------------
refuses "nothing to spread" 2 "needs a SCHEME, a FILE or -" spread
for shards in 1 0 65537 x -2; do
    refuses "--shards $shards is out of bounds" 2 "--shards $shards is out of range .2 to 65536" spread uuid4 --shards=$shards
done
for nodes in 0 65; do
    refuses "--nodes $nodes is out of bounds" 2 "--nodes $nodes is out of range .1 to 64" spread uuid4 --nodes=$nodes
done
refuses "a misspelt scheme names the nearest" 2 "did you mean .snowflake" spread snowflak
refuses "a file that is not there is missed as a file" 6 "cannot read ids.txt: No such file" spread ids.txt
refuses "a scheme that is never made" 2 "reads IDs of nil" spread nil
refuses "a stream makes no IDs" 2 "--rate applies to a SCHEME" spread empty --rate 5
refuses "nor settings of a generator" 2 "'node=5' applies to a SCHEME" spread empty node=5
refuses "a scheme has no lines" 2 "--from applies to a stream" spread uuid4 --from hex
refuses "one stream at a time" 2 "one argument too many" spread empty bad
refuses "no store is touched" 2 "remove unsafe=" spread snowflake unsafe=1
refuses "an unknown key names the nearest" 2 "ordering" spread snowflake orderin=strict
refuses "a time outside the layout" 1 "1999|before" spread snowflake time=1999-01-01
refuses "an invalid time" 2 "the time 'soon'" spread snowflake time=soon

# ---- another judge -------------------------------------------------------------------------------
cat >judge.py <<'END'
import json, math, random, subprocess, sys, uuid
firn = sys.argv[1]
random.seed(20261121)
number = 0
M = 2**64 - 1

def fmix64(k):
    k = ((k ^ k >> 33) * 0xff51afd7ed558ccd) & M
    k = ((k ^ k >> 33) * 0xc4ceb9fe1a85ec53) & M
    return k ^ k >> 33

def hashed(v, bits):
    h = fmix64(v >> 128) if bits > 128 else 0
    h = fmix64(h ^ (v >> 64 & M)) if bits > 64 else h
    return fmix64(h ^ (v & M))

def odds(x, freedom):
    """Of chi-square, by the sums that are exact for even and for odd degrees of freedom."""
    h = x / 2
    if h == 0:
        return 1.0
    if freedom % 2 == 0:
        return math.fsum(math.exp(i * math.log(h) - h - math.lgamma(i + 1)) for i in range(freedom // 2))
    return math.erfc(math.sqrt(h)) + math.fsum(
        math.exp((i + 0.5) * math.log(h) - h - math.lgamma(i + 1.5)) for i in range((freedom - 1) // 2))

def report(fine, sentence, *more):
    global number
    number += 1
    print("ok" if fine else "not ok", number, "-", sentence)
    if not fine:
        print("#", *more)

def ask(lines, *options):
    done = subprocess.run([firn, "spread", "-", "--json", *map(str, options)], input="".join(l + "\n" for l in lines).encode(),
                          capture_output=True, check=True)
    return json.loads(done.stdout)

def compare(sentence, lines, values, bits, shards, *options):
    found = ask(lines, "--shards", shards, *options)
    ways = (lambda v: (v << 160 >> bits) * shards >> 160, lambda v: v % shards, lambda v: hashed(v, bits) % shards)
    for way, name in enumerate(("leading bits", "modulo", "hash")):
        counts = [0] * shards
        for v in values:
            counts[ways[way](v)] += 1
        e = len(values) / shards
        x = math.fsum((c - e) ** 2 / e for c in counts)
        p = odds(x, shards - 1)
        one = found["ways"][way]
        fine = (one["way"] == name and one["counts"] == counts and math.isclose(one["chi_square"], x, rel_tol=1e-9, abs_tol=1e-9)
                and math.isclose(one["p"], p, rel_tol=1e-7, abs_tol=1e-13)
                and one["verdict"] == ("uneven" if p < 0.001 else "even") and one["empty"] == counts.count(0))
        report(fine, f"{sentence}, {shards} shards: {name}", one["chi_square"], x, one["p"], p, one["counts"][:8], counts[:8])

B62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
def base62(v):
    text = ""
    for _ in range(27):
        v, digit = divmod(v, 62)
        text = B62[digit] + text
    return text

for shards in (2, 3, 16, 17, 1000):
    values = [random.getrandbits(64) for _ in range(12000)]
    compare("decimals at random", list(map(str, values)), values, 64, shards)
    values = [int(random.triangular(0, 2**64, 0)) for _ in range(12000)]
    compare("skewed decimals", list(map(str, values)), values, 64, shards)
values = [random.getrandbits(128) for _ in range(9000)]
compare("UUIDs", [str(uuid.UUID(int=v)) for v in values], values, 128, 12)
values = [random.getrandbits(160) for _ in range(9000)]
compare("160 bits", list(map(base62, values)), values, 160, 31, "--scheme", "ksuid")
values = [random.getrandbits(96) for _ in range(9000)]
compare("96 bits", ["%024x" % v for v in values], values, 96, 64, "--from", "hex")
values = [random.getrandbits(64) | 1 << 63 for _ in range(9000)]
compare("skewed by a constant bit", list(map(str, values)), values, 64, 16)

# arrival, counted again
values = [random.randrange(5000) for _ in range(9000)]
found = ask(map(str, values))["order"]
steps = list(zip(values, values[1:]))
run = longest = right = 0
most, before = -1, None
for v in values:
    run = run + 1 if before is not None and v > before else 1
    longest, right, most, before = max(longest, run), right + (v > most), max(most, v), v
report(found == {"ascending": sum(a < b for a, b in steps), "out_of_order": sum(a > b for a, b in steps),
                 "equal": sum(a == b for a, b in steps), "longest": longest, "greatest": right}, "how sorted they come", found)

# odds of chi-square over its whole range, from two shards to many
for shards in (2, 3, 10, 101, 4096):
    for share in (0.5, 0.51, 0.6):
        n = shards * 20
        first = int(n * share * 2 / shards) if shards > 2 else int(n * share)
        counts = [first] + [(n - first) // (shards - 1)] * (shards - 1)
        values = [i for i, c in enumerate(counts) for _ in range(c)]
        compare(f"counts made so ({share})", list(map(str, values)), values, 64, shards) if shards < 4096 else None
print(f"1..{number}")
END
if command -v python3 >/dev/null; then
    if python3 judge.py "$FIRN" >judged 2>&1; then :; fi
    while read -r line; do
        case $line in
        "ok "*) pass "${line#ok * - }" ;;
        "not ok "*) fail "${line#not ok * - }" "$(grep -A 1 -F "$line" judged | cut -c 1-300)" ;;
        esac
    done <judged
    check "the judge came to its end" sh -c 'grep "^1\.\.[1-9]" judged || { tail -n 5 judged; false; }'
else
    skip "Python finds the same" "there is no python3"
fi
finish
