/* SPDX-License-Identifier: MIT */
/* How far ahead reservations end, and what a store that lost some of them grants next. Two processes reserve windows of
 * one node. Their clocks are up to SKEW off, or wild. The store is copied at any time, and restored from the copy once.
 * A slot is a unit of time. Whoever reserves first after the restore sets the guard.
 *
 * -DOWNCLOCK: the guard is computed with the clock of the process. -DSHORT: the guard is one slot earlier.
 * -DLATE: the guard is computed when the request is prepared, not when the store carries it out.
 * -DUNCHECKED: no window is compared with the store's clock. -DTAME: clocks are within SKEW. */

#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef LEAD
#define LEAD 1
#endif
#ifndef SKEW
#define SKEW 1
#endif
#define REACH (WINDOW + LEAD + SKEW)
#ifdef SHORT
#define GUARD (REACH - 1)
#else
#define GUARD REACH
#endif
#define MAXT 5
#define WILD 4 /* how far off a clock is that is not within SKEW */
#define SLOTS (MAXT + WILD + REACH + GUARD + 1)

byte now = WILD; /* the store's clock */
byte mark, copy, floor;
bool copied, lost, guarded;
bool used[SLOTS + WILD];

inline take(first) {
    byte slot = first;
    do
    :: slot < first + WINDOW -> assert(!used[slot]); used[slot] = true; slot++
    :: else -> break
    od;
    mark = first + WINDOW
}

proctype process() {
    short clock;
    byte first, guard, tries;
    do
    :: tries < 2 ->
        tries++;
        atomic { /* the request is prepared */
            if
            :: clock = now
            :: clock = now + SKEW
            :: clock = now - SKEW
#ifndef TAME
            :: clock = now + WILD
#endif
            fi;
            guard = now + GUARD
        }
        atomic { /* and carried out */
#ifndef LATE
            guard = now + GUARD;
#endif
#ifdef OWNCLOCK
            guard = clock + GUARD;
#endif
            if
            :: lost && !guarded -> guarded = true; floor = guard
            :: else
            fi;
            if
            :: first = clock
            :: first = clock + LEAD
            fi;
            first = (mark > first -> mark : first);
            first = (floor > first -> floor : first);
            if
            :: first > clock + LEAD /* busy */
#ifndef UNCHECKED
            :: first <= clock + LEAD && first + WINDOW > now + REACH /* refused */
            :: first <= clock + LEAD && first + WINDOW <= now + REACH -> take(first)
#else
            :: first <= clock + LEAD -> take(first)
#endif
            fi;
            first = 0;
            clock = 0;
            guard = 0
        }
    :: else -> break
    od
}

init {
    atomic { run process(); run process() }
    do
    :: now < WILD + MAXT -> now++
    :: !copied -> atomic { copied = true; copy = mark }
    :: copied && !lost -> atomic { lost = true; mark = copy }
    :: now == WILD + MAXT && lost -> break
    od
}
