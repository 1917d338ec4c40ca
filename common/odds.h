/* SPDX-License-Identifier: MIT */
/* The odds that two IDs of a scheme collide: one model for each kind of scheme. Pure; draws
 * nothing. */
#ifndef FIRN_ODDS_H
#define FIRN_ODDS_H

#include <firn/firn.h>

enum { ODDS_RESERVED, ODDS_DIGEST, ODDS_DRAWN, ODDS_STARTED, ODDS_NEXT, ODDS_NODES };
#define ODDS_NODE (1u << 31) /* given: a node, of a scheme for which odds_shares_digits */

typedef struct odds odds;
/* The logarithm of the odds that no two are equal, with `amount` of the variable of the model:
 * seconds, IDs or nodes. */
typedef double odds_ln_none(const odds *plan, double amount);

typedef struct odds_model {
    const char *name;
    const char *why;
    const char *formula; /* of a rate */
    const char *exact;   /* of a count */
    odds_ln_none *none;  /* NULL: there are no odds */
    bool of_nodes;       /* depends on nodes, not on time */
    bool alone;          /* one node alone never repeats itself */
} odds_model;

/* Set rate, nodes, seconds and count; odds_begin sets the rest. */
struct odds {
    const firn_scheme *scheme;
    const odds_model *model;
    double rate;    /* IDs per second, of all nodes */
    double nodes;   /* that make them in equal parts */
    double seconds; /* for so long */
    double count;   /* instead of a rate: this many in one tick; 0: not given */
    double tick;    /* seconds; 0: no tick */
    double space;   /* S: how many values the random part has */
    double starts;  /* how many values the sequence of a tick starts at */
    double most;    /* IDs a tick of one node; 0: no bound */
};

/* `given`: bit i: the caller sets the field whose first slice is i. `scheme` is kept. */
void odds_begin(odds *plan, const firn_scheme *scheme, uint32_t given);
bool odds_is(const odds *plan, int model);
/* time-random: a node and the sequence share its digits. */
bool odds_shares_digits(const firn_scheme *scheme);
/* The odds, 0 to 1. */
double odds_now(const odds *plan);
/* The least amount (nodes, IDs of a tick, or seconds) at which the odds reach a goal; infinite:
 * never. */
double odds_reach(const odds *plan, double goal);
/* Do the nodes issue fewer IDs than that? */
bool odds_waits(const odds *plan);
/* How many ticks the seconds are, and how many IDs come in each. */
double odds_ticks(const odds *plan, double seconds, double *each);
/* How many values all fields of a role have that are not given; 1: there are no such fields. */
double odds_space(const firn_scheme *scheme, int role, uint32_t given);

#endif
