/* SPDX-License-Identifier: MIT */
/* Schemes in words, for people and documents: layout, tick, node, ordering, end. */
#ifndef FIRN_DESCRIBE_H
#define FIRN_DESCRIBE_H

#include "output.h"

#include <firn/firn.h>

enum { DESCRIBE_SIZE = 256, DESCRIBE_PLACE_SIZE = 64 };

/* Its name, or "the layout" of one that has none. */
const char *describe_name(const firn_scheme *scheme);
/* All return `text`. The slices, most significant first; tick and epoch are not included. */
char *describe_layout(char text[DESCRIBE_SIZE], const firn_scheme *scheme);
char *describe_slice(char text[64], const firn_scheme *scheme, uint32_t i);
/* The position of the field whose first slice is `first`: "bits 127..96 95..80", "bit 15". */
char *describe_place(char text[DESCRIBE_PLACE_SIZE], const firn_scheme *scheme, uint32_t first);
/* s 10ms ms us 100ns, or - */
const char *describe_tick(const firn_scheme *scheme);
/* The fields of the node, or -; `rule`: also when they must be given. */
char *describe_node(char text[DESCRIBE_SIZE], const firn_scheme *scheme, bool rule);
/* yes | per node | by ms | no */
char *describe_sorts(char text[DESCRIBE_SIZE], const firn_scheme *scheme);
/* The epoch with as few digits as possible; the first time that does not fit, or -. */
char *describe_epoch(char text[FIRN_TIME_SIZE], const firn_scheme *scheme);
char *describe_end(char text[FIRN_TIME_SIZE], const firn_scheme *scheme, bool whole);
/* Does `form` write IDs of a scheme as signed 64-bit numbers, although its own form does not? Then
 * they would sort before all others once their top bit is 1. */
bool describe_is_signed(const firn_scheme *scheme, int form);
/* Do texts of a form sort as their IDs do (numbers as numbers), so that two of them bound a
 * range? */
bool describe_is_sorted(int form);
/* A scheme of 64 bits as `form` writes it, FIRN_FORM_DEC also for a column of signed integers: for
 * firn_scheme_end and firn_range, which ask whether IDs can be negative. */
firn_scheme describe_as(const firn_scheme *scheme, int form);
/* Reserved slots of a wide sequence pass 2^62 before the time ends: from when on. False: they do
 * not. */
bool describe_slots_end(char text[FIRN_TIME_SIZE], const firn_scheme *scheme);
/* How long a claimed node issues without its store, and what longer costs; NULL: none is claimed. */
const char *describe_outage(const firn_scheme *scheme);
/* The text form; "decimal" for schemes with a key. */
const char *describe_text(const firn_scheme *scheme);
const char *describe_role(int role);
const char *describe_rule(int node_rule);
char *describe_start(char text[64], const firn_scheme *scheme);

#endif
