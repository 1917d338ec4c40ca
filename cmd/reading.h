/* SPDX-License-Identifier: MIT */
/* IDs read from text: by the scheme and form that were named, or by what fits. Judges texts, not
 * what they are for. Stands on firn.h alone. */
#ifndef FIRN_READING_H
#define FIRN_READING_H

#include <firn/firn.h>

/* How IDs are read. */
typedef struct id_reader {
    bool named; /* `scheme` is what they are */
    firn_scheme scheme;
    int form; /* -1: any */
} id_reader;

/* Fills `readings`, best first, and how many there are. FIRN_ETEXT, FIRN_EMISMATCH. */
int reader_read(const id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], size_t *count,
                const char *text, size_t length, firn_error *error);

/* The first reading that is another ID than the best one, so that to guess would be silent; NULL: they
 * are all one ID. */
const firn_reading *readings_differ(const firn_reading *readings, size_t count);
/* In another scheme: the best reading whose content it can hold; if none, what the best one says. */
int readings_convert(firn_id *out, const firn_scheme *to, const firn_reading *readings,
                     size_t count, firn_error *error);

/* The index of the slice that is the time, or -1. */
int scheme_time_index(const firn_scheme *scheme);

#endif
