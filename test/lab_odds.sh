# SPDX-License-Identifier: MIT
# `firn odds`: against exact products of fractions for small spaces, against sums over every number of arrivals, and
# against a simulation; which model applies to which scheme; values that make no sense.
. test/command.tap
cd "$TMPDIR" || exit 1

# model SCHEME... : what the odds are made of
model() {
    "$FIRN" odds --json "$@" | jq -r .model
}
for scheme in snowflake leaf seata sonyflake baidu tsid js53 mastodon tid lable-spread order time-member "time:41/ms node:10 sequence:12"; do
    same "$scheme: nodes are reserved" "reserved 0" "$(model "$scheme") $("$FIRN" odds --json "$scheme" | jq '.odds * 1')" # 0.0 is 0
done
for scheme in simpleflake ksuid timeflake uuid4 time-random "time:40/s random:24"; do
    same "$scheme: each ID draws" drawn "$(model "$scheme" --rate 1)"
done
for scheme in uuid7 typeid "time:48/ms sequence:12 random:40"; do
    same "$scheme: each tick starts at random" started "$(model "$scheme" --rate 1)"
done
for scheme in ulid pushid; do
    same "$scheme: one more than the last" next "$(model "$scheme" --rate 1)"
done
for scheme in uuid1 uuid6 flake xid objectid objectid-legacy locality; do
    same "$scheme: each node draws once" nodes "$(model "$scheme")"
done
for scheme in uuid3 uuid5; do
    same "$scheme: names have digests" digest "$(model "$scheme" -n 5)"
done
for given in "uuid1 node=5" "uuid6 node=02:00:00:00:00:01" "flake worker=1" "xid machine=1 pid=2" "time-random node=1"; do
    # shellcheck disable=SC2086 # words
    same "$given is reserved" reserved "$(model $given)"
done
same "half a node is not" nodes "$(model xid machine=1)"
for scheme in uuid7 ulid; do
    same "$scheme of one node never repeats itself" 0 "$("$FIRN" odds --json $scheme --rate 1e9 --for 1000y | jq '.odds * 1')" # 0.0 is 0
    check "of two it may" sh -c "'$FIRN' odds --json $scheme --rate 1e9 --nodes 2 | jq -e '.odds > 0'"
done
same "a rate above what a node makes waits" "true false" \
    "$("$FIRN" odds --json snowflake --rate 5e6 | jq .waits) $("$FIRN" odds --json snowflake --rate 5e6 --nodes 2 | jq .waits)"
ask odds snowflake --rate 1e7
same "which it says" "snowflake, 10,000,000 IDs per second for 1 y: odds 0
  why: a store reserves each slot: no two IDs are equal
  a node issues at most 4,096 IDs per tick, 4,096,000 IDs per second: this rate needs more nodes or more bits" "$out"
ask odds simpleflake -n 3400
same "for people" "simpleflake, 3,400 IDs in one tick: odds 0.498
  why: each ID is random
  formula: 1 - (1 - 1/S) (1 - 2/S) ... (1 - (n-1)/S)
  with S = 2^23, n = 3,400 IDs
  odds of 1e-6 with 5 IDs, of one half with 3,411 IDs" "$out"
ask odds simpleflake --rate 1000/s --for 30d
same "with its formula" "  formula: 1 - ((1 + m/S) e^(-m/S))^(S T)
  with S = 2^23, m = 1 ID per tick, T = 2,592,000,000 ticks" "$(printf '%s\n' "$out" | sed -n 3,4p)"

ask odds uuid4 --rate 1e6 --for 10y
same "small odds and large amounts have three digits" "uuid4, 1,000,000 IDs per second for 10 y: odds 9.37e-9, 1 in 106,777,939
  why: each ID is random
  formula: 1 - ((1 + m/S) e^(-m/S))^(S T)
  with S = 2^122, m = 3.16e14 IDs, T = 1
  odds of 1e-6 after 103 y, of one half after 86,031 y" "$out"
for odds in "-n 9000:0.992" "-n 12000:above 0.999" "-n 20000:1 (certain)"; do
    same "odds just below 1 are not 1: $odds" "${odds#*:}" "$("$FIRN" odds simpleflake ${odds%%:*} | sed -n '1s/.*: odds //p')"
done

# ---- what cannot be meant ------------------------------------------------------------------------
refuses "without a rate there are no odds" 2 "depend on the number of IDs.*--rate N or -n COUNT" odds uuid4
refuses "without a scheme neither" 2 "needs a SCHEME" odds
refuses "an unknown scheme names the nearest" 2 "did you mean .uuid7" odds uuid77 --rate 1
for rate in 0 -1 x 1x 0x10 inf nan "" 1e19 " 1"; do
    refuses "--rate '$rate' is not valid" 2 "--rate $rate is not valid" odds uuid4 --rate="$rate"
done
for time in 0d 1 d 1w 1dd -1d infy; do
    refuses "--for $time is not valid" 2 "--for $time is not valid" odds uuid4 --rate 1 --for=$time
done
for nodes in 0 x -1 1000000000001; do
    refuses "--nodes $nodes is out of bounds" 2 "--nodes $nodes is out of range .1 to " odds uuid1 --nodes=$nodes
done
refuses "more nodes than a layout has are a no" 1 "1025 nodes are too many for snowflake, which has 1024" odds snowflake --nodes 1025
refuses "no IDs have no odds" 2 "-n 0 is not valid: use a whole number from 1" odds uuid4 -n 0
refuses "-n and --rate exclude each other" 2 "-n and --rate cannot be combined" odds uuid4 -n 1 --rate 1
refuses "an unknown field is refused" 2 "uuid1 has no field 'nodde=1'" odds uuid1 nodde=1
for scheme in nil max uuid2 uuid8 scru64; do
    refuses "$scheme is never made" 2 "only reads it" odds $scheme --rate 1
done

# ---- another judge -------------------------------------------------------------------------------
cat >judge.py <<'END'
import json, math, random, subprocess, sys
from decimal import Decimal, getcontext
from fractions import Fraction
firn = sys.argv[1]
getcontext().prec = 60
number = 0

def odds(*words):
    return json.loads(subprocess.run([firn, "odds", "--json", *map(str, words)], capture_output=True, check=True).stdout)

def close(sentence, found, expected, relative=1e-10):
    global number
    number += 1
    fine = abs(found - float(expected)) <= relative * abs(float(expected))
    print("ok" if fine else "not ok", number, "-", sentence)
    if not fine:
        print("#", found, "not", float(expected))

def product(count, space, first=0):
    none = Fraction(1)
    for i in range(first, first + count):
        none *= Fraction(space - i, space)
    return 1 - none

row = "time:43/s random:20"
for n in (1, 2, 3, 10, 100, 1000, 2000):
    close(f"{n} of 2^20: the product of fractions", odds(row, "-n", n)["odds"], product(n, 2**20))
close("more than there are: certain", odds(row, "-n", 2**20 + 1)["odds"], 1)
close("xid of one machine: 300 processes", odds("xid", "machine=1", "--nodes", 300)["odds"], product(300, 2**16))
for n in (9999, 10000, 10001, 10002, 12345, 30000):
    logs = math.fsum(math.log1p(-i / 2**23) for i in range(n))
    close(f"{n} of 2^23: the sum of logarithms", odds("simpleflake", "-n", n)["odds"], -math.expm1(logs))
logs = math.fsum(math.log1p(-i / 2**40) for i in range(1000000))
close("a million of 2^40: the sum of logarithms", odds("objectid", "--nodes", 1000000)["odds"], -math.expm1(logs))
for n in (2, 1000, 10**6, 10**9):
    close(f"{n} uuid4: n(n-1)/2S, which is all of it", odds("uuid4", "-n", n)["odds"], Fraction(n * (n - 1), 2**123), 1e-12)
for scheme, bits in (("uuid1", 61), ("flake", 47), ("locality", 44), ("objectid", 40), ("xid", 40)):
    close(f"{scheme} draws {bits} bits", odds(scheme, "--nodes", 2)["odds"], Fraction(1, 2**bits), 1e-12)

for digits in (3, 6, 9):
    close(f"time-random of {digits} digits", odds("time-random", f"digits={digits}", "-n", 40)["odds"], product(40, 10**digits))

# the number of IDs in a tick is a Poisson number: the sum over all of them
def poisson(mean):
    mean, k = Decimal(mean), 0
    term = (-mean).exp()
    while k < 10 or k < 4 * mean or term > Decimal("1e-50"):
        yield k, term
        k += 1
        term *= mean / k
def drawn(mean, space, ticks):
    none, some = Decimal(0), Decimal(1)
    for k, chance in poisson(mean):
        none += chance * some
        some *= 1 - Decimal(k) / space if k < space else 0
    return 1 - none ** ticks
for rate, seconds in (("0.001", 1), ("1", 1), ("50", 1), ("50", 3600), ("1000", 1), ("3000", 2)):
    close(f"{rate} a second for {seconds} s: the sum over all arrivals",
          odds(row, "--rate", rate, "--for", f"{seconds}s")["odds"], drawn(rate, 2**20, seconds))
close("less than a tick is a part of one", odds(row, "--rate", 1000, "--for", "500ms")["odds"], drawn(500, 2**20, 1))
close("uuid4 over a year", odds("uuid4", "--rate", 1, "--for", "1y")["odds"], Fraction(31557600**2, 2**123), 1e-7)
tiny = odds("ksuid", "--rate", "0.0001", "--for", "1s")["odds"]
close("odds below 1e-40 are exact too", tiny, Fraction(1, 10**8) / 2**129, 1e-12)

# ulid: runs on a ring, one per node
def rings(space, runs):
    """By trying all places of runs on a small ring."""
    import itertools
    clash = 0
    for places in itertools.product(range(space), repeat=len(runs)):
        taken = [(p + i) % space for p, n in zip(places, runs) for i in range(n)]
        clash += len(set(taken)) < len(taken)
    return Fraction(clash, space ** len(runs))
def ring_formula(space, runs):
    total = sum(runs)
    return product(len(runs) - 1, space, total - len(runs) + 1)
number += 1
fine = all(rings(space, runs) == ring_formula(space, runs) for space, runs in
           ((12, (2, 3, 1)), (9, (1, 1, 1)), (10, (4, 4)), (7, (2, 2, 1, 1))))
print("ok" if fine else "not ok", number, "- the formula for runs on a ring counts all their places")
for n, nodes in ((9, 3), (1000, 10), (5, 2)):
    close(f"ulid: {n} IDs of {nodes} nodes", odds("ulid", "-n", n, "--nodes", nodes)["odds"],
          ring_formula(2**80, (1,) * (nodes - 1) + (n - nodes + 1,)), 1e-12)
for rate, nodes in ((10, 2), (2000, 2), (5000, 7), (1e6, 10)):
    mean = rate / nodes / 1000
    p = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(1, 60 + int(mean * 4))]
    ways = math.fsum(x * y * (a + b - 1) for a, x in enumerate(p, 1) for b, y in enumerate(p, 1))
    expected = 60000 * nodes * (nodes - 1) / 2 * ways / 2**80
    close(f"ulid: {rate:.0f} a second of {nodes} nodes: the sum over all arrivals",
          odds("ulid", "--rate", rate, "--nodes", nodes, "--for", "60s")["odds"], expected, 1e-5)
for rate, nodes in ((1000, 2), (1e6, 10)):
    expected = 60000 * (rate / 1000) ** 2 / 2 * (1 - 1 / nodes) / 2**73
    close(f"uuid7: {rate:.0f} a second of {nodes} nodes", odds("uuid7", "--rate", rate, "--nodes", nodes, "--for", "60s")["odds"],
          expected, 1e-9)

# the result has the requested odds
for words, option in (((row, "--rate", 20), "s"), (("uuid4", "--rate", 1e6), "s"), (("simpleflake", "-n", 1), ""),
                      (("uuid1",), "nodes")):
    for goal, name in ((1e-6, "reach_1e-6"), (0.5, "reach_half")):
        there = odds(*words)[name]
        if option == "s":
            close(f"{words[0]}: {goal} is reached after {there:.3g} s", odds(*words, "--for", f"{there!r}s")["odds"], goal, 1e-6)
            continue
        at = [odds(*(("simpleflake", "-n", int(n)) if option == "" else ("uuid1", "--nodes", int(n))))["odds"]
              for n in (there - 1, there)]
        number += 1
        print("ok" if at[0] <= goal * (1 + 1e-9) and at[1] >= goal * (1 - 1e-9) else "not ok", number,
              "-", f"{words[0]}: {goal} is reached with {there:.0f}, not with one less")

# a simulation of it all: IDs at random times, drawn, and searched for two equal ones in one second
random.seed(20261121)
trials, hits = 3000, 0
for _ in range(trials):
    seen, hit, now = set(), False, random.expovariate(300)
    while now < 5:
        one = int(now) << 20 | random.getrandbits(20)
        hit = hit or one in seen
        seen.add(one)
        now += random.expovariate(300)
    hits += hit
p = odds(row, "--rate", 300, "--for", "5s")["odds"]
number += 1
fine = abs(hits - trials * p) < 4.5 * math.sqrt(trials * p * (1 - p))
print("ok" if fine else "not ok", number, "- a simulation finds as many")
print("#", hits, "of", trials, "expected", trials * p)
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
