# SPDX-License-Identifier: MIT
# The simulation: 40,000 seeds without a duplicate, and each injected bug (sim/bugs/) is found within as many. That
# takes about 25 s of CPU; `make simulate` runs a million seeds. Replay a seed that fails with
# BUILD/sim/firn_sim --seed N --trace.
. test/tap

seeds=1..40000
jobs=$(nproc 2>/dev/null || echo 2)
logs=${TMPDIR:-/tmp}
programs=$BUILD/sim

# The lines of a run, and its status as the last one.
simulate() {
    "$@" >"$logs/sim.log" 2>&1
    status=$?
    sed 's/^/# /' "$logs/sim.log"
}

# finds NAME PROGRAM: the injected bug is found, and at which seed.
finds() {
    "$2" --seeds $seeds --jobs "$jobs" >"$logs/found.log" 2>&1
    status=$?
    seed=$(sed -n 's/^failed: seed //p' "$logs/found.log")
    if [ "$status" = 1 ] && [ "${seed:-0}" -gt 0 ]; then
        pass "the injected bug $1 is found, by seed $seed"
        grep "^seed $seed:" "$logs/found.log" | sed 's/^/# /'
    else
        fail "the injected bug $1 is found" "$(tail -n 5 "$logs/found.log")"
    fi
}

simulate "$programs/firn_sim" --seeds $seeds --jobs "$jobs"
if [ "$status" = 0 ]; then
    pass "40000 seeds: nothing twice, outside its grant, out of order or with a false time"
else
    fail "40000 seeds: nothing twice, outside its grant, out of order or with a false time" "replay: --seed N --trace"
fi

trace() {
    for seed in 1 2 3 4 5 6 7 8 9; do
        "$programs/firn_sim" --seed $seed --trace
    done | cksum
}
first=$(trace)
second=$(trace)
same "a seed replays the same run" "$first" "$second"

simulate "$programs/firn_sim" --self-check
same "a duplicate that is shown to the judge is found" 1 "$status"

for bug in sim/bugs/*.patch; do
    bug=$(basename "$bug" .patch)
    finds "$bug" "$programs/firn_sim_$bug"
done

finish
