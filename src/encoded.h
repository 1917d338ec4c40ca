/* SPDX-License-Identifier: MIT */
/* The text forms of whole bytes: base64 of RFC 4648, and UUIDs as NCNames, which begin with a
 * letter (draft-taylor-uuid-ncname). For the inside of the library; knows no scheme. */
#ifndef FIRN_ENCODED_H
#define FIRN_ENCODED_H

#include "forms.h"

/* The number of characters; 0: the form does not take the width. */
size_t firn__encoded_width(const firn__form *form, uint32_t bits);
/* Writes the text without a zero and returns its length. */
size_t firn__encoded_write(char *out, const firn__form *form, const firn_id *id);
/* Reads an ID of id->bits. False: the text is not exactly the text of an ID. */
bool firn__encoded_read(firn_id *id, const firn__form *form, const char *text, size_t length);
/* FIRN_ETEXT: what is wrong with a text that firn__encoded_read did not read. */
int firn__encoded_refuse(firn_error *error, const firn__form *form, uint32_t bits, const char *text,
                         size_t length);

#endif
