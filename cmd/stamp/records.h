/* SPDX-License-Identifier: MIT */
/* Records of text that have a time and get an ID: where a record ends, where its time is, where its
 * ID goes. Each format is a line of one table; none of them copies, changes or writes a byte. */
#ifndef FIRN_RECORDS_H
#define FIRN_RECORDS_H

#include "moments.h"
#include "records_shape.h"

#define RECORDS_NONE SIZE_MAX /* no such column */
enum {
    RECORDS_FIELDS = 8, /* fields of IDs that come from columns, at most */
    RECORDS_SHAPES = 16 /* of JSON lines, that are known at once */
};

typedef struct records_format records_format;

/* A shape of JSON lines, and which of its values are the time, the ID and the fields. */
typedef struct records_shape {
    json_shape shape;
    size_t time, id, field[RECORDS_FIELDS]; /* id is RECORDS_NONE if there is no such member */
} records_shape;

/* The options, and what the beginning of the text showed. */
typedef struct records_plan {
    const records_format *format;
    const char *time;      /* name or number of the column; NULL: where logs have it */
    const char *id;        /* name of the column that the ID gets */
    bool header;           /* of a table: the first record names the columns */
    bool replace;          /* an ID that is there already is written over */
    record_times *moments; /* of logs, whose times have no column */

    char wanted_delimiter;             /* of a table; 0: the format's own */
    const char *field[RECORDS_FIELDS]; /* names or numbers of the columns of fields */
    size_t field_count;

    char delimiter[2];                  /* of a table, and a zero */
    size_t field_index[RECORDS_FIELDS]; /* as time_index */
    size_t time_index, id_index; /* of tables, from 0; id_index is RECORDS_NONE for a new column */
    size_t width;                /* columns of a table; 0: not known yet */
    char title[256];             /* the new column's name, quoted as it needs, and its delimiter */
    size_t title_length;
    size_t word; /* of logs: the time is in this one, from 1; 0: at the beginning or in [] */

    /* of JSON: */
    char member[256];                       /* "name": */
    char before[264], nothing[2][264];      /* the new member and a quote; without an ID: the only
                                            * member, one of several */
    char *decoded;                          /* a time that was written with escapes; owned */
    records_shape shapes[RECORDS_SHAPES];   /* the first `shape_count` are known */
    size_t shape_count, shape_last, oldest; /* the last match; the next to replace */
    unsigned patience;                      /* lines without a match, until few are looked at */
    unsigned passed;                        /* lines since then */
    json_piece values[SHAPE_VALUES];        /* of the line that matched */
} records_plan;

/* A record. Texts are in the window, and good until it moves. */
typedef struct record {
    size_t size;        /* with its line end; 0: it is not all there yet */
    size_t lines;       /* of the text that it takes; 0: not counted */
    const char *time;   /* the text of its time, */
    size_t time_length; /* unless */
    bool timed;         /* `instant` is known already */
    firn_time instant;
    bool cut;                   /* its last line has no end, and the time is the last thing on it */
    bool passes;                /* not a record: its bytes are copied unchanged */
    bool fatal;                 /* nothing after it can be trusted, or the arguments are wrong */
    bool placed;                /* the record has a place for its ID: */
    size_t offset;              /* after this many bytes, */
    size_t skip;                /* instead of this many, */
    const char *before, *after; /* between these, */
    const char *nothing;        /* or this, when it gets none */
    struct {
        const char *text;
        size_t length;
    } field[RECORDS_FIELDS]; /* as plan->field; text NULL: the field is absent */
} record;

struct records_format {
    const char *name;
    const char *endings; /* of file names, a blank before and after each */
    char delimiter;      /* of a table, else 0 */
    /* Reads the arguments; for tables also the header, which is at the start of `text` without a
     * BOM: `r` is its size and the place of the new title. FIRN_EUSAGE; FIRN_ETEXT. */
    int (*begin)(records_plan *plan, const char *text, size_t length, bool last, record *r,
                 firn_error *error);
    /* Reads the record at the beginning of `text`. `last`: the text ends where it ends.
     * Else it is bad, and its size is still known, unless it is fatal. */
    int (*read)(records_plan *plan, const char *text, size_t length, bool last, record *r,
                firn_error *error);
};

extern const records_format records_csv, records_tsv, records_json, records_log;

/* By name: csv, tsv, jsonl, log; or NULL. */
const records_format *records_find(const char *name);
/* By the ending of a file's name; or NULL. */
const records_format *records_by_ending(const char *path);
/* By the first line; or NULL. `table`: --time or --no-header exclude a log. */
const records_format *records_by_line(record_times *m, const char *line, size_t length, bool table);

/* The size of the line at the beginning of `text`, with its end; 0: it is not all there yet. */
size_t records_line(const char *text, size_t length, bool last);
/* The size of its end: 0, 1 or 2 bytes. */
size_t records_line_end(const char *text, size_t size);
/* FIRN_ETEXT when it holds a zero byte. */
int records_no_zero(const char *text, size_t size, firn_error *error);
/* The number that `text` is, 1..SIZE_MAX - 1, or 0. */
size_t records_number(const char *text);

#endif
