/* SPDX-License-Identifier: MIT */
/* Recognises texts in formats that firn does not issue, such as ShortUUID and traceparent. A
 * program that issues, reads or stores IDs of firn needs firn.h only. Any thread may call these
 * functions at any time; they cannot fail. */
#ifndef FIRN_RECOGNIZE_H
#define FIRN_RECOGNIZE_H

#include <firn/firn.h>
#ifdef __cplusplus
extern "C" {
#endif

/* ---- formats of others ----------------------------------------------------------------------- */
/* A format that firn recognises. Valid as long as the library. */
typedef struct firn_text_format {
    const char *name;   /* shortuuid */
    const char *title;  /* ShortUUID */
    const char *shape;  /* what a text of the format looks like */
    const char *sure;   /* how sure a match is, and what decides */
    const char *source; /* who specifies the format */
} firn_text_format;
#define FIRN_MATCHES_MAX  8
#define FIRN_MATCH_FIELDS 6
/* A field of a text, as text. */
typedef struct firn_match_field {
    const char *name;
    char value[72];
} firn_match_field;
/* A text in such a format. */
typedef struct firn_match {
    const firn_text_format *format;
    int sure;    /* enum firn_sure, of firn.h */
    bool leads;  /* the format describes the text better than any scheme */
    bool subset; /* each text of the format is an ID of a scheme, too */
    bool timed;  /* the text contains a time: */
    int digits;  /* decimals of the second, 0..9, for firn_time_format */
    firn_time time;
    char reason[160]; /* what fits, in one line */
    uint32_t count;   /* of fields, 0..FIRN_MATCH_FIELDS */
    firn_match_field fields[FIRN_MATCH_FIELDS];
} firn_match;

/* The i-th format of the list, or NULL after the last. */
FIRN_API const firn_text_format *firn_text_format_at(size_t i);
/* The issuer of most IDs of a scheme or format of 64 bits. Valid as long as the library. */
typedef struct firn_owner {
    const char *name;       /* of the scheme or the format: discord */
    const char *title;      /* Discord */
    const char *prevalence; /* everywhere, common or rare */
    const char *source;
} firn_owner;
/* The i-th owner, the most frequent first, or NULL after the last. */
FIRN_API const firn_owner *firn_owner_at(size_t i);
/* The name of an enum firn_sure: "possible", "likely", "certain"; "?" for another number. */
FIRN_API const char *firn_sure_name(int sure);
/* Finds the formats that a text may have, best first, and returns how many. At most the first one
 * leads. `best`: the best plausible reading (firn_guess), or NULL. */
FIRN_API size_t firn_recognize(firn_match matches[FIRN_MATCHES_MAX], const firn_reading *best,
                               const char *text, size_t length);

#ifdef __cplusplus
}
#endif
#endif
