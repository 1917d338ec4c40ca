/* SPDX-License-Identifier: MIT */
/* Planted bugs: each breaks one rule of uniqueness, so that the simulation can be shown to find
 * it. A build is free of them unless FIRN_PLANT names one; the library that is installed never
 * does. */
#ifndef FIRN_PLANT_H
#define FIRN_PLANT_H

#define FIRN_PLANT_BYMARK  1  /* give back compares the mark alone */
#define FIRN_PLANT_CURSOR  2  /* the permit is retired without closing its cursor */
#define FIRN_PLANT_NOFORK  3  /* nothing is wiped on fork */
#define FIRN_PLANT_ADOPT   5  /* after an unknown outcome any window the store tells is taken */
#define FIRN_PLANT_BELOW   6  /* a give back goes below the first slot of the last grant */
#define FIRN_PLANT_CLOSED  7  /* firn_next takes slots of a permit that was closed */
#define FIRN_PLANT_SHELF   9  /* a segment's limit is raised before its next block begins */
#define FIRN_PLANT_EXACT   10 /* a block of exact size is cut from two that do not touch */
#define FIRN_PLANT_ADVANCE 11 /* an advance reserves nothing */
#define FIRN_PLANT_FIXED   12 /* a child claims the fixed node of its parent */
#define FIRN_PLANT_JOB     13 /* a job takes the node of another */
#define FIRN_PLANT_GUARD   14 /* on a store that went back, issue begins at the present */

#ifndef FIRN_PLANT
#define FIRN_PLANT 0
#endif

#endif
