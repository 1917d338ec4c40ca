/* SPDX-License-Identifier: MIT */
/* The window inside one process: two threads that issue, a renewer that claims, renews and retires, and another process
 * on the same node. Every step of a thread may be followed by a pause of any length. The store is one number here: what
 * messages do to it is reserve.pml's affair.
 *
 * A window is a base, a cursor relative to it with an OPEN bit in the same word, and an end. Each -D breaks one rule and
 * must repeat a slot:
 *   CURSOR  the cursor stands beside the pointer to the window, without an OPEN bit
 *   REUSE   a retired window's place is used for the next one
 *   ADDCLOSED, ADDEND  a slot that was added is issued although the window was closed; beyond its end
 *   LATE    what is left is given back by a reading of the cursor taken before the window was closed
 * How to run it, and the numbers of states: README.md. */
#define THREADS 2
#define WINDOWS 3
#define NONE    9
#ifndef MAXT
#define MAXT 5 /* slots 0 .. MAXT-1 */
#endif
#define W 2 /* slots a window */

byte high = 0; /* the store's mark */
byte used[MAXT + W + THREADS + 1];
byte base[WINDOWS], cursor[WINDOWS], length[WINDOWS]; /* cursor and length count from the base */
bool usable[WINDOWS]; /* OPEN */
byte now = NONE; /* which window the threads find */
byte taken = 0;  /* places used so far */

#ifdef CURSOR
byte shared = 0; /* the cursor of whatever window is the present one, absolute */
#endif

inline issue(slot) {
    used[slot]++;
    assert(used[slot] < 2)
}

proctype thread() {
    byte p, b, c, e;
end:
    do
    :: atomic { now != NONE -> p = now };
        b = base[p]; /* never changes while the place is this window's */
        atomic { c = cursor[p]; e = length[p] }; /* the end only rises, so an old reading is a safe one */
#ifdef CURSOR
        c = shared - b;
        atomic {
            if
            :: shared == b + c && c < e -> shared++; issue(b + c)
            :: else
            fi
        };
#else
        if
        :: atomic { /* one compare-and-swap: OPEN and cursor are one word */
            if
            :: usable[p] && cursor[p] == c && c < e -> cursor[p]++; issue(b + c)
            :: else
            fi }
        :: c < e -> /* or one addition, which moves whatever is there by now: the sum says what that was */
            atomic {
            c = cursor[p];
            cursor[p] = (usable[p] -> c + 1 : c); /* nobody reads the cursor of a closed one again */
            if
#ifdef ADDCLOSED
            :: c < e -> issue(b + c)
#elif defined(ADDEND)
            :: usable[p] -> issue(b + c)
#else
            :: usable[p] && c < e -> issue(b + c)
#endif
            :: else
            fi }
        fi;
#endif
        atomic { p = 0; b = 0; c = 0; e = 0 }
    od
}

proctype renewer() {
    byte p = 0, stop = 0, at = 0;
end:
    do
    :: atomic { now == NONE && taken < WINDOWS -> /* claim: the clock may show anything that is not behind the mark */
        select(at : 0 .. MAXT - W);
        at = (at > high -> at : high);
        if
        :: at + W <= MAXT ->
            high = at + W;
#ifdef REUSE
            p = 0; taken++;
#else
            p = taken; taken++;
#endif
            base[p] = at; cursor[p] = 0; length[p] = W; usable[p] = true;
#ifdef CURSOR
            shared = at;
#endif
            now = p
        :: else
        fi;
        at = 0; p = 0 }
    :: atomic { now != NONE && high == base[now] + length[now] && high + W <= MAXT -> /* renew: raised in place */
        high = high + W; length[now] = length[now] + W }
    :: now != NONE -> /* retire */
        p = now;
#if defined(CURSOR)
        stop = shared - base[p];
        now = NONE;
#elif defined(LATE)
        stop = cursor[p];
        atomic { usable[p] = false; now = NONE };
#else
        atomic { stop = cursor[p]; usable[p] = false; now = NONE };
#endif
        atomic { /* the rest goes back, if nobody came after it */
            if
            :: high == base[p] + length[p] && stop < length[p] -> high = base[p] + stop
            :: else
            fi;
            p = 0; stop = 0
        }
    od
}

/* Another process on the same node, which reserves one slot at a time. */
proctype other() {
    byte at;
end:
    do
    :: atomic { select(at : 0 .. MAXT - 1);
        at = (at > high -> at : high);
        if
        :: at < MAXT -> high = at + 1; issue(at)
        :: else
        fi;
        at = 0 }
    od
}

init {
    atomic {
        byte k = 0;
        do
        :: k < THREADS -> run thread(); k++
        :: else -> break
        od;
        run renewer(); run other()
    }
}
