# SPDX-License-Identifier: MIT
# The simulation: 40,000 seeds without a duplicate (6,000 in the short form), and each injected bug (sim/bugs/) is found
# within 40,000. `make simulate` runs a million seeds. Replay a seed that fails with BUILD/sim/firn_sim --seed N --trace.
. test/tap

last=40000
! short || last=6000
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
    first=1
    # Else these take most of the time of this test; after a change of the simulation they take it until the numbers are new.
    ! short || case $1 in chosen | closed) first=501 ;; reach) first=5101 ;; loose) first=9001 ;; esac
    "$2" --seeds $first..$((first + 39999)) --jobs "$jobs" >"$logs/found.log" 2>&1
    status=$?
    seed=$(sed -n 's/^failed: seed //p' "$logs/found.log")
    if [ "$status" = 1 ] && [ "${seed:-0}" -gt 0 ]; then
        pass "the injected bug $1 is found, by seed $seed"
        grep "^seed $seed:" "$logs/found.log" | sed 's/^/# /'
    else
        fail "the injected bug $1 is found" "$(tail -n 5 "$logs/found.log")"
    fi
}

simulate "$programs/firn_sim" --seeds 1..$last --jobs "$jobs"
if [ "$status" = 0 ]; then
    pass "$last seeds: nothing twice, outside its grant, out of order or with a false time"
else
    fail "$last seeds: nothing twice, outside its grant, out of order or with a false time" "replay: --seed N --trace"
fi

trace() {
    for seed in 1 2 3 4 5 6 7 8 9; do
        "$programs/firn_sim" --seed $seed --trace
    done | cksum
}
first=$(trace)
second=$(trace)
same "a seed replays the same run" "$first" "$second"

# Traces of some seeds: each step is one of the models.
steps=400
! short || steps=100
seed=0
while [ $((seed += 1)) -le $steps ]; do
    "$programs/firn_sim" --seed $seed --trace
done | grep -E 'model\||^seed ' >"$logs/steps"
simulate test/model_steps.py <"$logs/steps"
same "the steps of $steps seeds are steps of the model" 0 "$status"
simulate test/model_steps.py --self-check <"$logs/steps"
same "a trace with one changed value is refused, for each kind of value" 0 "$status"

simulate "$programs/firn_sim" --self-check
same "a duplicate that is shown to the judge is found" 1 "$status"

for bug in sim/bugs/*.patch; do
    bug=$(basename "$bug" .patch)
    finds "$bug" "$programs/firn_sim_$bug"
done

finish
