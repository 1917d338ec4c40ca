/* SPDX-License-Identifier: MIT */
/* The text form of IDs, and the prefix of typeid. */
#ifndef FIRN_ID_FORM_H
#define FIRN_ID_FORM_H

#include "text_view.h"

#include <firn/firn.h>

#define PREFIX_SIZE 66 /* 63 characters, the _ and the zero */

/* The scheme of the table with this name, or NULL. */
const firn_scheme *scheme_named(word name);
/* Finds a form by name. FIRN_EUSAGE: unknown, or not a form of the scheme. */
int form_of(int *form, const firn_scheme *scheme, word name, firn_error *error);
/* FIRN_EUSAGE: the form is not typeid, or the prefix is invalid. "": no prefix. */
int prefix_of(char prefix[PREFIX_SIZE], int form, word text, firn_error *error);
/* Can IDs of the scheme be plain numbers in this form? */
bool is_narrow(const firn_scheme *scheme, int form);

#endif
