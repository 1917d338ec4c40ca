/* SPDX-License-Identifier: MIT */
/* IDs read from text: by the scheme and form that were named, or by what fits. Judges texts, not
 * what they are for. Needs only firn.h. */
#ifndef FIRN_READING_H
#define FIRN_READING_H

#include <firn/firn.h>

/* What the unambiguous texts of a stream are: digits only may be decimal or hex. */
enum reading_habit { HABIT_NONE, HABIT_NUMBER, HABIT_HEX };

/* How IDs are read. */
typedef struct id_reader {
    bool named; /* `scheme` is what they are */
    firn_scheme scheme;
    int form; /* -1: any */
    enum reading_habit habit;
    const char *cure; /* what to do about a text of no scheme; NULL: the command's options */
} id_reader;

/* How many readings of a text there are: the first `plausible` are plausible, the rest fit by chance. */
typedef struct id_counts {
    size_t all, plausible;
} id_counts;

/* Fills `readings` with all that fits, best first. A named scheme is read in its own form, as decimal or as hex, or in the form that is
 * named. FIRN_ETEXT: nothing fits; FIRN_EMISMATCH. */
int reader_look(id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], id_counts *counts,
                const char *text, size_t length, firn_error *error);
/* The plausible ones only. FIRN_ETEXT when there are none. */
int reader_read(id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], size_t *count,
                const char *text, size_t length, firn_error *error);
/* Takes note of another text of the same stream. */
void reader_notice(id_reader *reader, const char *text, size_t length);
/* May the text be decimal or hex, and does the stream not decide which? */
bool reader_wonders(const id_reader *reader, const char *text, size_t length);
/* FIRN_ETEXT: the text is no ID of a scheme, and what it is instead; `cure` as in id_reader. */
int refuse_reading(firn_error *error, const char *text, size_t length, const char *cure);

/* Do all plausible readings mean the same ID, and a number nothing else? If not, FIRN_ETEXT:
 * to choose one would be a silent guess. `cure` says how to choose. */
int readings_certain(const firn_reading *readings, id_counts counts, const char *cure,
                     firn_error *error);
/* The best reading in another scheme. FIRN_ETEXT: the readings disagree; the errors of
 * firn_convert. */
int readings_convert(firn_id *out, const firn_scheme *to, const firn_reading *readings,
                     id_counts counts, const char *cure, firn_error *error);

enum { READING_TEXT_SIZE = FIRN_TEXT_SIZE + 72 }; /* typeid brings a prefix */

/* The canonical text: the scheme's own form, with the prefix that was given. Returns `text`. */
char *reading_text(char text[READING_TEXT_SIZE], const firn_reading *reading, const char *given);

/* The index of the slice that is the time, or -1. */
int scheme_time_index(const firn_scheme *scheme);

#endif
