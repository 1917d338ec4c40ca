/* SPDX-License-Identifier: MIT */
/* How IDs are written: a text form, and typeid's prefix. Reads no ID and issues none. */
#ifndef FIRN_SERVER_FORM_H
#define FIRN_SERVER_FORM_H

#include "word.h"

#include <firn/firn.h>

#define PREFIX_SIZE 66 /* 63 characters, the _ and the zero */

/* The form of this name. FIRN_EUSAGE: the form is unknown, or IDs of the scheme do not have it. */
int form_of(int *form, const firn_scheme *scheme, word name, firn_error *error);
/* FIRN_EUSAGE: the form is not typeid, or it is no prefix. Empty: none. */
int prefix_of(char prefix[PREFIX_SIZE], int form, word text, firn_error *error);
/* Do plain numbers do for IDs of the scheme in this form? */
bool is_narrow(const firn_scheme *scheme, int form);

#endif
