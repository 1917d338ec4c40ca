/* SPDX-License-Identifier: MIT */
/* Injected bugs: each breaks one rule of uniqueness, to show that the simulation finds it. A build
 * has none unless FIRN_BUG names one; the installed library never does. */
#ifndef FIRN_BUG_H
#define FIRN_BUG_H

#define FIRN_BUG_BYMARK  1  /* give back compares the mark alone */
#define FIRN_BUG_CURSOR  2  /* the permit is retired without closing its cursor */
#define FIRN_BUG_NOFORK  3  /* nothing is wiped on fork */
#define FIRN_BUG_ADOPT   5  /* after an unknown outcome any window the store tells is taken */
#define FIRN_BUG_BELOW   6  /* a give back goes below the first slot of the last grant */
#define FIRN_BUG_CLOSED  7  /* firn_next takes slots of a permit that was closed */
#define FIRN_BUG_SHELF   9  /* a segment's limit is raised before its next block begins */
#define FIRN_BUG_EXACT   10 /* a block of exact size is cut from two that do not touch */
#define FIRN_BUG_ADVANCE 11 /* an advance reserves nothing */
#define FIRN_BUG_FIXED   12 /* a child claims the fixed node of its parent */
#define FIRN_BUG_JOB     13 /* a job takes the node of another */
#define FIRN_BUG_GUARD   14 /* on a store that lost reservations, issue begins at the present */

#define FIRN_BUG_RENEWERS 15 /* two processes renew a shared window at once */
#define FIRN_BUG_CHOSEN   16 /* a shared permit is opened before it is chosen */

#define FIRN_BUG_ANCHOR 21 /* a reading is compared with the last judged one only */

#ifndef FIRN_BUG
#define FIRN_BUG 0
#endif

#endif
