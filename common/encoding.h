/* SPDX-License-Identifier: MIT */
/* Base64 of the bytes of an ID, which is not a text form of the library: conversions write it, and `firn show` reads the
 * base64 of a UUID. */
#ifndef FIRN_ENCODING_H
#define FIRN_ENCODING_H

#include <firn/firn.h>

/* These numbers follow enum firn_form. */
enum { ENCODING_BASE64 = FIRN_FORM_COUNT, ENCODING_BASE64URL };

/* A form of the library, base64 (with =) or base64url (without), or -1. */
int encoding_find(const char *name);
/* Writes an ID in a form or an encoding; returns `text`. */
char *encoding_write(char text[FIRN_TEXT_SIZE], const firn_id *id, int form);

#endif
