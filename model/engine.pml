/* SPDX-License-Identifier: MIT */
/* The engine of stores (src/engine.c) and the law (src/law.c) over a driver: read, decide, write if nothing has changed.
 *
 * The store keeps S (origin, losses, identity of the engine when it was written), a record of each namespace (losses seen,
 * floor) and one of each key (mark, grant, stamp). C clients reserve windows of one slot, from the state that their last verb
 * left or from a read, issue them or give them back, and CRASHES times one of them starts again without its memory. The
 * network loses, delays and repeats writes, acknowledged ones too. The store is put back to an earlier copy of itself, LOUD
 * times with another identity and SILENT times with the same.
 *
 * The clock ticks TICKS times. A slot with a time ends at most REACH after the clock, which is the guard; the second namespace
 * (-DTWONS), or each one (-DBARE), has no guard, as integers have none.
 *
 * No slot is issued twice, and no loss is counted that did not happen, or twice. Of a silent loss only: one client alone never
 * repeats its own slots (-DC=1). -DQUIET: when the faults end, a client that asks alone has a slot within ROUNDS rounds, or is
 * refused as the law says. Each other -D breaks one rule. */
#ifndef C
#define C 2
#endif
#ifndef MAXG
#define MAXG 3 /* requests in all */
#endif
#ifndef LOUD
#define LOUD 1
#endif
#ifndef SILENT
#define SILENT 0
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef LATES
#define LATES 1 /* how often a write arrives late */
#endif
#ifndef REACH
#define REACH 2
#endif
#ifndef TICKS
#define TICKS 2
#endif
#define ROUNDS 3
#define T      (TICKS + REACH + MAXG)
#define FAR    99
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* Client 1 has another key than client 0 in the same namespace, or in a namespace of its own. */
#ifdef TWOKEYS
#define KEY(i) (i)
#define NS(k)  0
#else
#ifdef TWONS
#define KEY(i) (i)
#define NS(k)  (k)
#else
#define KEY(i) 0
#define NS(k)  0
#endif
#endif

#ifdef BARE
#define TIMED(i) false
#else
#define TIMED(i) (NS(KEY(i)) == 0)
#endif

typedef Records { bool sk, nk; byte so, sl, sw, nl, nf, mh, mg, stamp, wit }

bool sk, nk[2];
byte so, sl, sw, nl[2], nf[2], mh[2], mg[2], stamp[2], wit = 1, now;

bool copied, csk, cnk[2]; /* an earlier copy */
byte cso, csl, csw, cnl[2], cnf[2], cmh[2], cmg[2], cstamp[2];

bool late; Records lseen, lnext; byte lkey, lates; /* a write under way */

bool used[2 * T]; /* slots that were issued */
byte losses;      /* that happened */
byte drawn, loud, silent, crashes;
bool quiet;

byte st[C];          /* 0: idle, 1: decides over what is seen, 2: unknown outcome, 3: has a slot, 4: done (-DQUIET) */
Records seen[C];
bool fresh[C], rem[C]; /* what is seen was just read; it is what the last verb left */
byte g[C], lat[C], slot[C], guard[C];
bool sent[C], kn[C], mk[C];       /* an outcome is unknown; knows the store, the namespace */
byte mo[C], ml[C], mr[C], mst[C]; /* the origin, the losses, its own mark, the key's stamp */
byte wasted[C];

#if defined(NOS)
#define SAME_S(X) true
#else
#define SAME_S(X) (sk == X.sk && so == X.so && sl == X.sl && sw == X.sw)
#endif
#if defined(NON)
#define SAME_N(X) true
#else
#define SAME_N(X) (nk[n] == X.nk && nl[n] == X.nl && nf[n] == X.nf)
#endif
#if defined(MARKONLY)
#define SAME_M(X) (mh[k] == X.mh)
#else
#define SAME_M(X) (mh[k] == X.mh && mg[k] == X.mg)
#endif
#if defined(FOREIGN) || defined(NOIDENTITY)
#define SAME_W(X) true
#else
#define SAME_W(X) (wit == X.wit)
#endif
#if defined(KEEPFOREIGN) || defined(NOIDENTITY)
#define FOREIGNER(X) false
#else
#define FOREIGNER(X) (wit != X.wit)
#endif

inline clear(Z) {
    Z.sk = 0; Z.nk = 0; Z.so = 0; Z.sl = 0; Z.sw = 0; Z.nl = 0; Z.nf = 0; Z.mh = 0; Z.mg = 0; Z.stamp = 0; Z.wit = 0
}
inline copy(Z, X) {
    Z.sk = X.sk; Z.nk = X.nk; Z.so = X.so; Z.sl = X.sl; Z.sw = X.sw; Z.nl = X.nl; Z.nf = X.nf; Z.mh = X.mh; Z.mg = X.mg;
    Z.stamp = X.stamp; Z.wit = X.wit
}

inline read(i) {
    seen[i].sk = sk; seen[i].so = so; seen[i].sl = sl; seen[i].sw = sw; seen[i].wit = wit;
    seen[i].nk = nk[NS(KEY(i))]; seen[i].nl = nl[NS(KEY(i))]; seen[i].nf = nf[NS(KEY(i))];
    seen[i].mh = mh[KEY(i)]; seen[i].mg = mg[KEY(i)]; seen[i].stamp = stamp[KEY(i)];
    fresh[i] = true
}

/* The store carries out write(X, Y) of key k, or finds that something has changed. */
inline land(X, Y, kk, ok) {
    k = kk; n = NS(kk);
    if
    :: SAME_S(X) && SAME_N(X) && SAME_M(X) && SAME_W(X) ->
        ok = true;
        if
        :: Y.sk != X.sk || Y.sl != X.sl || Y.sw != X.sw ->
            sk = Y.sk; so = Y.so; sl = Y.sl; sw = Y.sw;
#ifndef NOCOUNT
            assert(sl <= losses) /* no loss is counted twice, or without a loss */
#endif
        :: else
        fi;
        if
        :: Y.nk != X.nk || Y.nl != X.nl || Y.nf != X.nf -> nk[n] = Y.nk; nl[n] = Y.nl; nf[n] = Y.nf
        :: else
        fi;
        if
        :: Y.mh != X.mh || Y.mg != X.mg -> mh[k] = Y.mh; mg[k] = Y.mg; stamp[k]++
        :: else
        fi;
        Y.stamp = stamp[k]
    :: else -> ok = false
    fi;
    k = 0; n = 0
}

inline maybe_late(i) {
    if
    :: !late && !quiet && lates < LATES -> late = true; lates++; copy(lseen, seen[i]); copy(lnext, Y); lkey = KEY(i)
    :: true
    fi
}

inline forget(i) {
    kn[i] = false; mk[i] = false; mo[i] = 0; ml[i] = 0; mr[i] = 0; mst[i] = 0
}

/* What came before a loss is forgotten, and its count is not. */
inline counted(i, X) {
#ifndef NOCOUNTED
    kn[i] = true; mo[i] = X.so; ml[i] = X.sl
#else
    skip
#endif
}

/* Do the records, or what the client remembers, show a loss? */
inline went_back(i) {
    if
#ifndef NOFORGET
    :: kn[i] && seen[i].sk && seen[i].so == mo[i] && seen[i].sl > ml[i] -> forget(i); counted(i, seen[i])
#endif
    :: else
    fi;
    lost = (seen[i].sk && seen[i].sw != seen[i].wit) || (!seen[i].sk && seen[i].nk);
#ifdef IGNOREIDENTITY
    lost = !seen[i].sk && seen[i].nk;
#endif
#ifndef NOSTORE
    lost = lost || (kn[i] && (!seen[i].sk || seen[i].so != mo[i] || seen[i].sl < ml[i]));
#endif
#ifndef NONAMES
    lost = lost || (mk[i] && !seen[i].nk);
#endif
#ifndef NOMARK
    lost = lost || seen[i].mh < mr[i];
#endif
#ifndef NOSTAMP
    lost = lost || seen[i].stamp < mst[i];
#endif
    if
    :: lost -> Y.sk = true; Y.sw = seen[i].wit; Y.so = (seen[i].sk -> seen[i].so : g[i]);
        Y.sl = 1 + MAX(MAX(seen[i].sl, seen[i].nl), (kn[i] -> ml[i] : 0))
    :: else
    fi
}

/* The law: Y is what to write. ok: [Y.mh - 1, Y.mh) is granted; busy: the key is reserved past what was asked for. */
inline law(i) {
    copy(Y, seen[i]);
    went_back(i);
#ifdef ABSENTFRESH
    doubted = lost || (seen[i].nk && seen[i].nl != seen[i].sl);
#else
    doubted = lost || (seen[i].nk -> seen[i].nl != seen[i].sl : seen[i].sl != 0);
#endif
#ifdef IGNOREDOUBT
    doubted = lost;
#endif
#ifdef OLDGUARD
    top = (TIMED(i) -> guard[i] : 0);
#else
    top = (TIMED(i) -> now + REACH : 0);
#endif
    first = MAX(seen[i].mh, seen[i].nf);
    if
    :: doubted && top == 0 && seen[i].mh <= lat[i] -> first = FAR + 1 /* FIRN_EBACK */
    :: doubted && top > 0 ->
#ifndef NOFLOOR
        first = MAX(first, top); Y.nf = MAX(seen[i].nf, top);
#endif
        Y.nl = Y.sl; Y.nk = true
    :: !doubted && !seen[i].nk -> Y.nk = true; Y.nl = Y.sl
    :: else
    fi;
    if
    :: Y.nk != seen[i].nk && !Y.sk -> Y.sk = true; Y.sw = seen[i].wit; Y.so = g[i]
    :: else
    fi;
#ifdef NOREACH
    grants = first <= lat[i];
#else
    grants = first <= lat[i] && (top == 0 || first < now + REACH);
#endif
    busy = !grants && first > lat[i] && first <= FAR;
    held = (seen[i].mh < Y.nf || (doubted && top == 0) || seen[i].mg == wasted[i] -> 0 : seen[i].mg);
#ifdef ADOPTDOUBT
    held = (seen[i].mg == wasted[i] -> 0 : seen[i].mg);
#endif
#ifdef ADOPTFOREIGN
    held = (seen[i].mh < Y.nf || (doubted && top == 0) -> 0 : seen[i].mg);
#endif
#ifdef ADOPTANY
    held = g[i];
#endif
    if
    :: grants -> Y.mh = first + 1; Y.mg = g[i]
    :: else
    fi
}

inline idle(i) {
    st[i] = 0; g[i] = 0; lat[i] = 0; slot[i] = 0; guard[i] = 0; fresh[i] = false; sent[i] = false; wasted[i] = 0
}
inline refused(i) {
    idle(i); rem[i] = false; clear(seen[i])
}
inline has(i, at) {
    st[i] = 3; slot[i] = at; fresh[i] = false; sent[i] = false; lat[i] = 0; guard[i] = 0; wasted[i] = 0
}

/* An unknown outcome turned out to be its own: the mark is remembered as after a write. */
inline adopt(i) {
#ifndef NOADOPTED
    kn[i] = true; mo[i] = seen[i].so; ml[i] = seen[i].sl; mk[i] = mk[i] || seen[i].nk; mr[i] = seen[i].mh;
    mst[i] = seen[i].stamp;
#endif
    has(i, seen[i].mh - 1); rem[i] = false
}

inline decide(i) {
    law(i);
    if
    :: !fresh[i] && (!grants || Y.sl != seen[i].sl || Y.sk != seen[i].sk || doubted) -> read(i)
    :: fresh[i] && !grants && Y.sl == seen[i].sl && Y.sk == seen[i].sk && Y.nk == seen[i].nk && Y.nl == seen[i].nl &&
       Y.nf == seen[i].nf ->
        if
        :: busy && sent[i] && held == g[i] -> adopt(i)
        :: else -> refused(i)
        fi
    :: else ->
        if
        :: true -> /* answered */
            land(seen[i], Y, KEY(i), ok);
            maybe_late(i);
            if
            :: !ok -> read(i)
            :: ok && FOREIGNER(seen[i]) -> wasted[i] = g[i]; read(i)
            :: ok && !FOREIGNER(seen[i]) ->
                if
                :: lost -> forget(i)
                :: else
                fi;
                kn[i] = true; mo[i] = Y.so; ml[i] = Y.sl; mk[i] = mk[i] || Y.nk; mst[i] = Y.stamp;
                copy(seen[i], Y);
                if
                :: grants -> mr[i] = Y.mh; rem[i] = true; has(i, first)
                :: !grants && busy && sent[i] && held == g[i] -> adopt(i)
                :: else -> refused(i)
                fi
            fi
        :: !quiet -> land(seen[i], Y, KEY(i), ok); maybe_late(i); st[i] = 2 /* not answered */
        :: !quiet -> maybe_late(i); st[i] = 2                               /* lost, or late */
        fi
    fi;
    clear(Y); lost = false; doubted = false; ok = false; grants = false; busy = false; first = 0; top = 0; held = 0
}

/* At the mark that is seen, as a renewal or a claim, or anywhere. */
inline draw(i) {
    drawn++; g[i] = drawn; st[i] = 1; guard[i] = now + REACH;
    if
    :: rem[i] -> rem[i] = false; fresh[i] = false
    :: true -> rem[i] = false; read(i)
    fi;
    if
    :: lat[i] = MAX(seen[i].mh, seen[i].nf)
    :: lat[i] = FAR
    fi
}

inline issue(i) {
    assert(!used[KEY(i) * T + slot[i]]);
    used[KEY(i) * T + slot[i]] = true
}

proctype client(byte i) {
    Records Y;
    bool ok, lost, doubted, grants, busy;
    byte n, k, first, top, held;
end:
    do
    :: atomic { !quiet && st[i] == 0 && drawn < MAXG -> draw(i) }
    :: atomic { !quiet && st[i] == 1 -> decide(i) }
    :: atomic { !quiet && st[i] == 2 && drawn < MAXG -> drawn++; read(i); sent[i] = true; st[i] = 1 } /* with its grant */
    :: atomic { !quiet && st[i] == 2 -> refused(i) }                                             /* gives up */
    :: atomic { !quiet && st[i] == 3 -> issue(i); idle(i) }
    :: atomic { !quiet && st[i] == 3 && rem[i] -> /* gives it back, sent once; the network may repeat it */
        mr[i] = 0;
#ifdef KEEPMARK
        mr[i] = seen[i].mh;
#endif
        if
        :: true
        :: read(i)
        fi;
        if
        :: seen[i].mh == slot[i] + 1 && seen[i].mg == g[i] ->
            copy(Y, seen[i]); went_back(i); Y.mh = slot[i]; Y.mg = 0;
            if
            :: land(seen[i], Y, KEY(i), ok); maybe_late(i);
                if
                :: ok && lost && !FOREIGNER(seen[i]) -> forget(i); counted(i, Y)
                :: else
                fi
            :: maybe_late(i)
            fi
        :: else
        fi;
        clear(Y); ok = false; lost = false;
#ifdef GIVEKEEP
        rem[i] = false; clear(seen[i]); fresh[i] = false
#else
        refused(i)
#endif
        }
    :: atomic { !quiet && crashes < CRASHES && (st[i] > 0 || kn[i]) -> crashes++; refused(i); forget(i) }
#ifdef QUIET
    :: atomic { quiet && st[i] < 3 ->
        late = false; g[i] = 200; st[i] = 1; lat[i] = FAR; sent[i] = false;
        if
        :: rem[i] -> fresh[i] = false
        :: else -> read(i)
        fi;
        rem[i] = false; k = 0;
        do
        :: st[i] == 1 && slot[i] < ROUNDS -> slot[i]++; decide(i)
        :: else -> break
        od;
        assert(st[i] != 1);
        st[i] = 4 }
#endif
    od
}

proctype world() {
    bool ok;
    byte n, k;
end:
    do
    :: atomic { late && !quiet -> land(lseen, lnext, lkey, ok); ok = false;
        if
        :: late = false; clear(lseen); clear(lnext); lkey = 0
        :: lates < LATES -> lates++ /* and once more */
        fi }
    :: atomic { late && !quiet -> late = false; clear(lseen); clear(lnext); lkey = 0 }
    :: atomic { now < TICKS && !quiet -> now++ }
#if LOUD + SILENT > 0
    :: atomic { !copied && losses < LOUD + SILENT && sk && !quiet -> copied = true;
        csk = sk; cso = so; csl = sl; csw = sw; cnk[0] = nk[0]; cnk[1] = nk[1]; cnl[0] = nl[0]; cnl[1] = nl[1];
        cnf[0] = nf[0]; cnf[1] = nf[1]; cmh[0] = mh[0]; cmh[1] = mh[1]; cmg[0] = mg[0]; cmg[1] = mg[1];
        cstamp[0] = stamp[0]; cstamp[1] = stamp[1] }
    :: atomic { copied && losses < LOUD + SILENT && !quiet ->
        if
        :: loud < LOUD -> loud++; wit++
        :: silent < SILENT -> silent++
#ifdef AGAIN /* the identity comes back */
        :: loud > 0 && loud < LOUD -> loud++; wit--
#endif
        fi;
        losses++;
        sk = csk; so = cso; sl = csl; sw = csw; nk[0] = cnk[0]; nk[1] = cnk[1]; nl[0] = cnl[0]; nl[1] = cnl[1];
        nf[0] = cnf[0]; nf[1] = cnf[1]; mh[0] = cmh[0]; mh[1] = cmh[1]; mg[0] = cmg[0]; mg[1] = cmg[1];
        stamp[0] = cstamp[0]; stamp[1] = cstamp[1];
        copied = false; csk = 0; cso = 0; csl = 0; csw = 0; cnk[0] = 0; cnk[1] = 0; cnl[0] = 0; cnl[1] = 0;
        cnf[0] = 0; cnf[1] = 0; cmh[0] = 0; cmh[1] = 0; cmg[0] = 0; cmg[1] = 0; cstamp[0] = 0; cstamp[1] = 0 }
#endif
#ifdef QUIET
    :: atomic { !quiet -> quiet = true; late = false; now = TICKS }
#endif
    od
}

init {
    atomic {
        byte i = 0;
        do
        :: i < C -> run client(i); i++
        :: else -> break
        od;
        run world()
    }
}
