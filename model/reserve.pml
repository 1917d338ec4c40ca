/* SPDX-License-Identifier: MIT */
/* The reservation protocol: one node key, three processes, one linearizable store, clocks that read anything at any
 * time. Leaves out several nodes, windows shared by threads, forks, one-shot reservations.
 *
 * The network may lose a reply (the same request then goes out again), and deliver a request or a give back late,
 * twice, or not at all; requests that were acknowledged too. Each -D breaks one rule and must repeat a slot:
 *   BYMARK   give back compares the mark only
 *   ADOPTANY after an unknown outcome a holder takes whatever window the store tells
 *   GIVEALL  a window whose request went out more than once is given back
 *   LOOSE    a renewal is also carried out if the mark is lower than the holder's own, or has another grant
 *   CLONE    a process image is run twice with a window
 *   LOSE     the store loses its mark
 * How to run it, and the numbers of states: README.md. */
#define N 3
#ifndef MAXT
#define MAXT 6 /* slots 0 .. MAXT-1 */
#endif
#ifndef MAXG
#define MAXG 4 /* requests drawn in all */
#endif
#define W 2 /* slots a window */

byte high = 0, grant = 0, drawn = 0; /* the store's mark; how many requests were drawn */
byte used[MAXT + W];
byte lo[N], hi[N], mine[N]; /* a window held: next slot, end, grant */
bool have[N];
byte at_slot[N], at_grant[N], at_own[N]; /* a request of unknown outcome: earliest = latest = at_slot */
bool pending[N], twice[N];    /* twice: one went out more than once, so a copy may still be under way */
bool r_late = false;          /* one late or repeated request in the network */
byte r_at, r_grant, r_own;
bool b_late = false; /* one late or repeated give back */
byte b_from, b_end, b_grant;

#ifdef GIVEALL
#define RETURNABLE(i) true
#else
#define RETURNABLE(i) (!twice[i])
#endif
/* A renewal names the mark that it continues: `own` is 0 for a claim. */
#ifdef LOOSE
#define FITS(at, own) (high <= at)
#else
#define FITS(at, own) (high <= at && (own == 0 || (high == at && grant == own)))
#endif
#ifdef BYMARK
#define SAME_MARK (high == b_end)
#else
#define SAME_MARK (high == b_end && grant == b_grant)
#endif

/* The caller learns of [end - W, end): the rest of an old window is kept. */
inline learn(i, end, g) {
    if
    :: have[i] -> skip
    :: else -> have[i] = true; lo[i] = end - W
    fi;
    hi[i] = end; mine[i] = g; pending[i] = false
}

inline forget(i) {
    have[i] = false; lo[i] = 0; hi[i] = 0; mine[i] = 0
}

/* The store's step, and what the caller does with the reply. */
inline request(i, at, g, own) {
    if
    :: FITS(at, own) && at + W <= MAXT ->
        high = at + W; grant = g;
        if /* a copy may stay in the network, whether or not the reply arrives */
        :: !r_late -> r_late = true; r_at = at; r_grant = g; r_own = own
        :: skip
        fi;
        if
        :: learn(i, high, g)
        :: pending[i] = true; twice[i] = true; at_slot[i] = at; at_grant[i] = g; at_own[i] = own
        fi
    :: else -> skip
    fi
}

proctype process(byte i) {
    byte at;
end:
    do
    :: atomic { !have[i] && !pending[i] && drawn < MAXG -> /* claim, the clock showing anything */
        twice[i] = false; select(at : 0 .. MAXT - 1); drawn++; request(i, at, drawn, 0); at = 0 }
    :: atomic { have[i] && !pending[i] && drawn < MAXG -> drawn++; request(i, hi[i], drawn, mine[i]) } /* renew, early or late */
    :: atomic { pending[i] -> /* the same request again */
        if
        :: FITS(at_slot[i], at_own[i]) && at_slot[i] + W <= MAXT -> request(i, at_slot[i], at_grant[i], at_own[i])
#ifdef ADOPTANY
        :: high > at_slot[i] -> learn(i, high, grant)
#else
        :: high > at_slot[i] && grant == at_grant[i] -> learn(i, high, grant)
        :: high > at_slot[i] && grant != at_grant[i] -> pending[i] = false
#endif
        :: else -> pending[i] = false
        fi }
    :: atomic { pending[i] && !r_late -> r_late = true; r_at = at_slot[i]; r_grant = at_grant[i]; r_own = at_own[i] } /* still under way */
    :: atomic { have[i] && lo[i] < hi[i] -> used[lo[i]]++; assert(used[lo[i]] < 2); lo[i]++ } /* issue, at any time */
    :: atomic { have[i] && lo[i] == hi[i] && !pending[i] -> forget(i) }
    :: atomic { have[i] && lo[i] < hi[i] && !pending[i] && !b_late && RETURNABLE(i) -> /* close */
        b_late = true; b_from = lo[i]; b_end = hi[i]; b_grant = mine[i]; forget(i) }
#ifdef CLONE
    :: atomic { have[i] && !have[(i + 1) % N] && !pending[(i + 1) % N] ->
        have[(i + 1) % N] = true; lo[(i + 1) % N] = lo[i]; hi[(i + 1) % N] = hi[i]; mine[(i + 1) % N] = mine[i] }
#endif
    od
}

/* Carries out what is under way, keeps a copy or not, or loses it. */
proctype network() {
end:
    do
    :: atomic { r_late ->
        if
        :: FITS(r_at, r_own) && r_at + W <= MAXT -> high = r_at + W; grant = r_grant
        :: else
        fi;
        if
        :: r_late = false; r_at = 0; r_grant = 0; r_own = 0
        :: skip
        fi }
    :: atomic { r_late -> r_late = false; r_at = 0; r_grant = 0; r_own = 0 }
    :: atomic { b_late ->
        if
        :: SAME_MARK -> high = b_from; grant = 0
        :: else
        fi;
        if
        :: b_late = false; b_from = 0; b_end = 0; b_grant = 0
        :: skip
        fi }
    :: atomic { b_late -> b_late = false; b_from = 0; b_end = 0; b_grant = 0 }
#ifdef LOSE
    :: atomic { high > 0 -> high = 0; grant = 0 }
#endif
    od
}

init {
    atomic {
        byte k = 0;
        do
        :: k < N -> run process(k); k++
        :: else -> break
        od;
        run network()
    }
}
