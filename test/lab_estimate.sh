# SPDX-License-Identifier: MIT
# `firn estimate`: known answers, what stays hidden, refusals; and simulated issuers whose truth is known: how often the
# 95 % intervals contain it.
. test/command.tap
cd "$TMPDIR" || exit 1

# value EXPRESSION ARGS...: of the object
value() {
    expression=$1
    shift
    "$FIRN" estimate --json "$@" | jq -c "$expression | walk(if type == \"number\" then . + 0 else . end)" # 74.0 is 74
}

# ---- known answers -------------------------------------------------------------------------------
same "the German tank problem: four of 60 at most" '{"estimate":74,"low":60,"high":125}' "$(value .volume 19 40 42 60 | jq -c '.high |= floor')"
same "one integer says little" '{"estimate":19,"low":10,"high":199}' "$(value .volume 10)"
same "integers from 0 are one more" 1 "$(value .volume.estimate 0 | jq 'floor')"
printf '1000 2024-01-01T00:00:00Z\n1360 2024-01-01T01:00:00Z\n' >two
same "two integers with their times show the rate" "0.1 integers" "$("$FIRN" estimate --json - <two | jq -r '"\(.rate_per_s.estimate) \(.rate_from)"')"
a=$("$FIRN" pack objectid time=2024-01-01T00:00:00Z random=5 counter=16777000)
b=$("$FIRN" pack objectid time=2024-01-01T00:01:40Z random=5 counter=784)
c=$("$FIRN" pack objectid time=2024-01-01T00:01:40Z random=6 counter=1000000)
same "a counter shows how many came between two IDs, also past its end" "10 counter 2" \
    "$(value '"\(.rate_per_s.estimate * 1) \(.rate_from) \(.issuers.seen)"' "$a" "$b" "$c" | tr -d '"')"
flake() {
    "$FIRN" pack snowflake time="$1" datacenter=0 worker="$2" sequence="$3"
}
same "sequence numbers show the rate of a tick" 2000 \
    "$(value .rate_per_s.estimate --scheme snowflake "$(flake 2024-01-01T00:00:00.001Z 1 1)" "$(flake 2024-01-01T00:00:00.002Z 1 1)")"
for i in 1 2 3 4 5 6 7; do flake 2024-01-01T00:00:00.0${i}0Z 1 0; done >tens
same "a coarse clock shows" 0.01 "$("$FIRN" estimate --json <tens | jq .grain_s)"
for i in 1 2 3; do flake 2024-01-01T00:00:01Z $i 0 && flake 2024-01-01T00:00:08Z $i 0; done >pairs
same "but two times of several issuers show no clock" null "$("$FIRN" estimate --json <pairs | jq .grain_s)"
same "so does one that is ahead" 5 "$(value .ahead_s --seen 2024-01-01T00:00:00Z "$(flake 2024-01-01T00:00:05Z 1 0)")"
same "the earliest time is accepted" 9223372038558840000 \
    "$(value '.ahead_s | round' --seen @-9223372036854775808 "$(flake 2024-01-01T00:00:05Z 1 0)")"
same "and one that is not" -5 "$(value .ahead_s --seen 2024-01-01T00:00:10Z "$(flake 2024-01-01T00:00:05Z 1 0)")"
same "uuid1 shows the address of a network card, unless it is random" "1 0" \
    "$(value .issuers.cards c232ab00-9414-11ec-b3c8-9e6bdeced846) $(value .issuers.cards c232ab00-9414-11ec-b3c8-9f6bdeced846)"
refuses "a number of 128 bits is not an integer" 1 "'1': it is not of the same scheme as the IDs before" \
    estimate 340282366920938463463374607431768211455 1
refuses "nor one above 2^63" 1 "'17212345678901234567': the integer is out of range" estimate 17212345678901234567 5
same "duplicates count once" "1 1" "$(value '"\(.ids) \(.duplicates)"' 7 7 | tr -d '"')"
same "with integers among them, all are read as integers" integer "$(value .scheme 1541815603606036480 17 | tr -d '"')"
same "and with --scheme integer" integer "$(value .scheme --scheme integer 1541815603606036480 | tr -d '"')"
same "the scheme is one that all IDs fit" typeid "$(value .scheme user_01h455vb4pex5vsknk084sn02q order_01h455vb4pex5vsknk084sn02q | tr -d '"')"

same "no ID before them in their tick: only an upper limit" "null true" \
    "$("$FIRN" estimate --json --scheme snowflake 1541815603606036480 1541815603606036481 1541815603606036482 |
        jq -r '"\(.rate_per_s.estimate) \(.rate_per_s.high > 1000)"')"
same "which is not a rate of 0" "rate     40000 IDs per second or fewer (97.5 %) for each issuer" \
    "$("$FIRN" estimate --scheme snowflake 1541815603606036480 1541815603606036481 1541815603606036482 | grep -o 'rate .*issuer')"

# ---- which scheme --------------------------------------------------------------------------------
# IDs of now in other schemes are times of the future in snowflake.
for scheme in instagram sonyflake leaf; do
    "$FIRN" range $scheme -- "@$(date +%s)" "@$(($(date +%s) + 3600))" >now
    same "IDs of $scheme from now: not of the future, it is named, and a rate that depends on the scheme is not printed" "true true null" \
        "$("$FIRN" estimate --json <now | jq -r '"\(.time.last < (now + 90000 | todate)) \([.scheme, .or[]] | index("'$scheme'") != null) \(.rate_per_s)"')"
done
same "other schemes that fit are named" "true not known" \
    "$("$FIRN" estimate --json "$(flake 2024-01-01T00:00:00Z 1 0)" | jq '.or | length > 0') $("$FIRN" estimate "$(flake 2024-01-01T00:00:00Z 1 0)" | grep -o 'not known')"
same "not those that --scheme rules out" "[]" "$(value .or --scheme snowflake "$(flake 2024-01-01T00:00:00Z 1 0)")"
same "numbers are as short as they can be" 0 "$("$FIRN" estimate --json 10417 11802 | grep -c '[0-9]\.[0-9]\{16\}')"

# ---- what stays hidden ---------------------------------------------------------------------------
says "random IDs reveal nothing" "1 ID of uuid4
  Nothing can be inferred from these IDs.
  hidden   when they were issued
           the rate and how many there are
           which machine issued them, and how many machines there are
           other IDs: 122 bits are random, so nobody can guess them" estimate 7d444840-9dc0-4ac8-8c42-5aeae0ac6e1d
same "unless they count up within a tick" '"other IDs: 80 bits are random; but an ID of the same tick is the one before plus 1"' \
    "$(value '.hidden[-1]' 01ARZ3NDEKTSV4RRFFQ69G5FAV)"
same "or have few random bits" '"other IDs: 32 bits are random, so one guess in 2^32 is right"' \
    "$(value '.hidden[-1]' 03ha9bqn6a1o5sip992t0t3gq)"
same "nor from order numbers" "order 1" "$("$FIRN" estimate --scheme order 7 --json | jq -r '"\(.scheme) \(.hidden | length)"')"
same "uuid7 shows its time only" "2024-06-14T10:14:09.300Z null null null" \
    "$(value '"\(.time.first) \(.rate_per_s) \(.issuers) \(.volume)"' 0190163d-8694-739b-aea5-966c26f8ad91 | tr -d '"')"
refuses "no ID" 2 "there is no ID: give some" estimate
refuses "a word that is not an ID" 1 "'hello' is not an ID of a known scheme" estimate hello
refuses "IDs of two schemes" 1 "not of the same scheme as the IDs before" estimate 0190163d-8694-739b-aea5-966c26f8ad91 \
    7d444840-9dc0-4ac8-8c42-5aeae0ac6e1d
refuses "an invalid time" 2 "--seen soon: " estimate --seen soon 7
refuses "a negative integer" 1 "'-5'" estimate --scheme integer -- -5
same "a time after an ID that is not valid" "1 firn: line 1: " "$(echo '7 soon' | "$FIRN" estimate 2>&1 >/dev/null | cut -c 1-14 | sed 's/^/1 /')"

# ---- coverage --------------------------------------------------------------------------------------
# Simulated issuers; each interval must contain the truth in 95 % of the runs, less what chance allows in that many runs
# (three standard deviations).
cat >cover.py <<'END'
import json, math, random, subprocess, sys
firn, runs = sys.argv[1], 25 if "-address/" in sys.argv[1] else 250 # the sanitizer starts slowly
random.seed(20261122)

def ask(lines, *args):
    out = subprocess.run([firn, "estimate", "--json", *args], input="\n".join(lines).encode(), stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)

def poisson(mean):
    if mean > 500:
        return round(random.gauss(mean, math.sqrt(mean)))
    limit, k, p = math.exp(-mean), 0, random.random()
    while p > limit:
        k, p = k + 1, p * random.random()
    return k

def snowflake(tick, node, sequence):
    return str(tick << 22 | node << 12 | sequence)

start = 420000000000 # 2024

def tank():
    total = random.choice([20, 1000, 10**6, 10**12])
    got = random.sample(range(1, total + 1), random.choice([1, 2, 5, 15]))
    return ask(map(str, got))["volume"], total

def density():
    mean, count = random.choice([0.05, 0.5, 3, 40, 300]), random.choice([1, 3, 10, 40, 200])
    got, tick = [], start
    while len(got) < count:  # a random ID of a tick: ticks with more IDs come more often
        tick += 1
        got.append(snowflake(tick, 7, poisson(mean * random.random())))
    return {k: v and v / 1000 for k, v in ask(got, "--scheme", "snowflake")["rate_per_s"].items()}, mean

def issuers():
    total, count = random.choice([2, 5, 30, 300]), random.choice([2, 10, 60, 1500])
    nodes = random.sample(range(1024), total)
    return ask([snowflake(start + i, random.choice(nodes), 0) for i in range(count)], "--scheme", "snowflake")["issuers"], total

def counter():
    rate, span = random.choice([0.05, 1, 50]), random.choice([60, 1000])
    count = poisson(rate * span)
    first = random.randrange(1 << 24)
    ids = ["%08x%010x%06x" % (1700000000 + at, 77, (first + n) % (1 << 24)) for at, n in ((0, 0), (span, count))]
    return ask(ids, "--scheme", "objectid")["rate_per_s"], rate

def series():
    rate, span = random.choice([0.01, 0.3]), random.choice([600, 3600])
    lines = [f"1000 @{10**9}", f"{1000 + poisson(rate * span)} @{10**9 + span}"]
    if lines[0].split()[0] == lines[1].split()[0]:
        return None, rate
    return ask(lines)["rate_per_s"], rate

def drift():
    ppm, count = random.uniform(-200, 200), random.choice([3, 10, 40])
    lines = [f"{snowflake(start + round(t * 1000 * (1 + ppm / 1e6) + random.gauss(0, 3)), 1, 0)} "
             f"@{(start + 1288834974657) / 1000 + t:.3f}" for t in sorted(random.sample(range(100000), count))]
    return ask(lines, "--scheme", "snowflake")["drift_ppm"], ppm

for name, draw in (("volume", tank), ("density", density), ("issuers", issuers), ("counter", counter), ("series", series), ("drift", drift)):
    hits, valid, wide = 0, 0, 0
    for _ in range(runs):
        got, truth = draw()
        if got is None:
            continue
        valid += 1
        high = math.inf if got["high"] is None else got["high"]
        hits += got["low"] <= truth <= high
    least = 0.95 * valid - 3 * math.sqrt(valid * 0.95 * 0.05)
    if len(sys.argv) > 2:
        print(f"{name}: {hits} of {valid}, {100 * hits / valid:.1f} %")
    elif hits < least:
        print(f"{name}: {hits} of {valid} intervals contain the truth, expected at least {least:.0f}")
END
same "the intervals contain the truth as often as they say" "" "$(python3 cover.py "$FIRN" 2>&1)"
finish
