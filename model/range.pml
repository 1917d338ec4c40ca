/* SPDX-License-Identifier: MIT */
/* A range of nodes with its own reach, for reserves: a loss of the store stops nodes outside it for the short reach only.
 * Node 0 is outside, node 1 inside the range. Two processes reserve windows of either node: short ones of node 0, up to
 * LONG of node 1. The store is copied at any time, and restored from the copy once. A slot is a unit of time, and the
 * clocks of processes are up to SKEW off. The namespace has one floor, which whoever reserves first after the restore
 * sets: the store's clock + the short reach. Nodes inside the range begin MORE after the floor.
 *
 * -DONEFLOOR: nodes inside begin at the floor. -DOWNFLOOR: who reserves first sets the floor with the reach of its node,
 * and all begin there. -DEARLY: nodes inside begin one slot less than MORE after the floor. -DSTRAY: a process without
 * the range reserves a long window of node 0. -DWAITS asserts that no node of the namespace is granted before the long
 * guard: it fails, as node 0 is. */

#ifndef SHORT
#define SHORT 2 /* windows outside */
#endif
#ifndef LONG
#define LONG 4 /* reserves */
#endif
#define SKEW 1
#define REACH(node) ((node == 0 -> SHORT : LONG) + SKEW)
#define DIFFERENCE (LONG - SHORT)
#ifdef EARLY
#define MORE (DIFFERENCE - 1)
#else
#ifdef ONEFLOOR
#define MORE 0
#else
#ifdef OWNFLOOR
#define MORE 0
#else
#define MORE DIFFERENCE
#endif
#endif
#endif
#define MAXT 4
#define SLOTS (MAXT + 2 * (LONG + SKEW) + DIFFERENCE + 4)
#define MAX(a, b) ((a) > (b) -> (a) : (b))

byte now = SKEW; /* the store's clock */
byte mark[2], copy[2], floor, restored;
bool copied, lost, guarded;
bool used[SLOTS * 2];

inline take(node, first, length) {
    byte slot = first;
    do
    :: slot < first + length -> assert(!used[2 * slot + node]); used[2 * slot + node] = true; slot++
    :: else -> break
    od;
    mark[node] = first + length
}

/* The store carries out a reservation of `length` slots that begins at `clock` or later, but within the present tick. */
inline reserve(node, clock, length, limit) {
    if
    :: lost && !guarded -> guarded = true;
#ifdef OWNFLOOR
        floor = now + REACH(node)
#else
        floor = now + SHORT + SKEW
#endif
    :: else
    fi;
    first = MAX(mark[node], clock);
    first = MAX(first, (floor > 0 -> floor + (node == 1 -> MORE : 0) : 0));
    if
    :: first <= MAX(clock, mark[node]) && first + length <= now + limit ->
#ifdef WAITS
        assert(!(lost && first < restored + LONG + SKEW));
#endif
        take(node, first, length)
    :: else /* busy, or past the reach */
    fi;
    first = 0
}

proctype process() {
    byte clock, node, length, limit, first, tries;
    do
    :: tries < 3 ->
        atomic {
            tries++;
            if
            :: clock = now
            :: clock = now + SKEW
            :: clock = now - SKEW
            fi;
            limit = LONG + SKEW;
            if
            :: node = 0; length = SHORT; limit = SHORT + SKEW
            :: node = 1; length = SHORT
            :: node = 1; length = LONG
#ifdef STRAY
            :: node = 0; length = LONG
#endif
            fi;
            reserve(node, clock, length, limit);
            clock = 0;
            node = 0;
            length = 0;
            limit = 0
        }
    :: else -> break
    od
}

init {
    atomic { run process(); run process() }
    do
    :: now < SKEW + MAXT -> now++
    :: !copied -> atomic { copied = true; copy[0] = mark[0]; copy[1] = mark[1] }
    :: copied && !lost -> atomic { lost = true; restored = now; mark[0] = copy[0]; mark[1] = copy[1] }
    :: now == SKEW + MAXT && lost -> break
    od
}
