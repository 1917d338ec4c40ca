/* SPDX-License-Identifier: MIT */
/* Reads IDs from text: by scheme and form if given, otherwise by what fits. Needs only firn.h. */
#ifndef FIRN_READING_H
#define FIRN_READING_H

#include <firn/recognize.h>

/* How the unambiguous texts of a stream read: only digits can be decimal or hex. */
enum reading_habit { HABIT_NONE, HABIT_NUMBER, HABIT_HEX };

/* How to read IDs. */
typedef struct id_reader {
    bool named; /* `scheme` was given */
    firn_scheme scheme;
    int form; /* -1: any */
    enum reading_habit habit;
    const char *cure; /* advice if no scheme fits */
    const char *from; /* how to name a form: "--from ", "from="; NULL: the caller cannot */
} id_reader;

/* Readings of a text: the first `plausible` of `all` are plausible, the rest fit by chance. */
typedef struct id_counts {
    size_t all, plausible;
} id_counts;

/* Formats that are not schemes, best first; at most the first leads. */
typedef struct id_matches {
    size_t count;
    firn_match list[FIRN_MATCHES_MAX];
} id_matches;

/* Fills `readings` with everything that fits, best first. A given scheme is read in the given form,
 * or in its own form or as hex; as decimal only if its own form is decimal or it has 64 bits.
 * FIRN_ETEXT: nothing fits; FIRN_EMISMATCH. */
int reader_look(id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], id_counts *counts,
                const char *text, size_t length, firn_error *error);
/* The same, and the formats that the text may have. FIRN_ETEXT only if there is no format, or if
 * the text is nearly an ID and no format leads. */
int reader_show(id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], id_counts *counts,
                id_matches *matches, const char *text, size_t length, firn_error *error);
/* As reader_look; a UUID in a format that leads, such as ShortUUID and base64, is the only
 * reading. */
int reader_convert(id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], id_counts *counts,
                   const char *text, size_t length, firn_error *error);
/* Learns from another text of the stream. */
void reader_notice(id_reader *reader, const char *text, size_t length);
/* Can the text be decimal or hex, with nothing in the stream to decide? */
bool reader_wonders(const id_reader *reader, const char *text, size_t length);
/* FIRN_ETEXT: not an ID, and what it is instead; `cure` as in id_reader. */
int refuse_reading(firn_error *error, const char *text, size_t length, const char *cure);

/* "named" for a reading whose scheme the caller gave, else the name of its likelihood. */
const char *reading_sure_name(const firn_reading *reading);
/* Whether the best reading is an answer. Numbers and 16 hex digits are only possible. */
bool readings_sure(const firn_reading *readings, id_counts counts);
/* FIRN_ETEXT unless the best reading is an answer. */
int readings_answer(const firn_reading *readings, id_counts counts, const char *cure,
                    firn_error *error);
/* Without an answer: keeps what is within ten years of a time, if anything is. If that is one time
 * only, its most frequent reading, or its format, becomes the answer. */
void readings_near(firn_reading *readings, id_counts *counts, id_matches *matches,
                   const firn_time *near);

/* A possible reading of a text. */
typedef struct id_possible {
    const firn_reading *reading; /* or NULL: */
    const firn_match *match;
    const firn_owner *owner; /* who issues most of them, or NULL */
    bool timed;
    int digits; /* of the second */
    firn_time time;
} id_possible;
enum { POSSIBLE_MAX = FIRN_READINGS_MAX + FIRN_MATCHES_MAX };
/* The plausible readings and the formats (may be NULL), the most frequent owner first; returns how
 * many. A plain integer is not in the list. */
size_t readings_possible(id_possible list[POSSIBLE_MAX], const firn_reading *readings,
                         id_counts counts, const id_matches *matches);

/* FIRN_ETEXT unless all plausible readings mean the same ID and the text is not also a plain
 * number. `cure` says how to choose. */
int readings_certain(const firn_reading *readings, id_counts counts, const char *cure,
                     firn_error *error);
/* Converts the best reading. FIRN_ETEXT: readings disagree, or the ID would change and its scheme
 * is only possible; errors of firn_convert. */
int readings_convert(firn_id *out, const firn_scheme *target, const firn_reading *readings,
                     id_counts counts, const char *cure, firn_error *error);

enum { READING_TEXT_SIZE = FIRN_TEXT_SIZE + 72 }; /* more than any ID: for messages about it */

/* The canonical text: in the scheme's form; a TypeID stays one, with its prefix. Returns `text`. */
char *reading_text(char text[READING_TEXT_SIZE], const firn_reading *reading, const char *given);

/* The index of the first slice of a role, which is the index of that field, or -1. */
int scheme_index(const firn_scheme *scheme, int role);
/* The time of an ID. 1; 0: its scheme has no time; -1: the ID does not fit the scheme. */
int id_time(firn_time *time, const firn_scheme *scheme, const firn_id *id);
/* As firn_guess has it for IDs that are issued today: [2005, 2045). */
#define TODAY_FROM INT64_C(1104537600)
#define TODAY_END  INT64_C(2366841600)
bool is_today(const firn_time *time);

#endif
