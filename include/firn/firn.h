/* SPDX-License-Identifier: MIT */
/* firn: unique IDs for the rows, events, orders and transactions of a distributed system.
 *
 * A generator issues IDs from a window of slots that a durable store has reserved for its node.
 * No clock value, pause, crash or fork can therefore make firn issue an ID twice. Functions that
 * read an ID, pack its fields or compute the range of a time span are pure.
 *
 *     #include <firn/firn.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *         firn_gen *gen;
 *         firn_id id;
 *         firn_error error;
 *         char text[FIRN_TEXT_SIZE];
 *         if (firn_open(&gen, "snowflake", "", &error) || firn_next(gen, &id, &error)) {
 *             fprintf(stderr, "%s\n", error.text);
 *             return 1;
 *         }
 *         puts(firn_format(text, &id, firn_gen_scheme(gen)->form));
 *         return firn_close(gen, &error);
 *     }
 *
 * A function that can fail returns 0 or a negative FIRN_E... code. On failure it fills in `error`,
 * unless `error` is NULL, and leaves the results unchanged; arrays of IDs may be zeroed. Strings
 * end with a zero unless a length is passed; FIRN_..._SIZE includes it. docs/reference/threads.md
 * says which threads may call each function, what it does in a forked child, and if it waits. */
#ifndef FIRN_FIRN_H
#define FIRN_FIRN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#ifndef FIRN_API /* a library that contains firn may define it as empty */
#define FIRN_API __attribute__((visibility("default")))
#endif
#define FIRN_VERSION "0.1.0" /* the build reads the version from this line */

FIRN_API const char *firn_version(void); /* The version of the running library. */

/* ---- error ----------------------------------------------------------------------------------- */
/* Every error: name, code, short sentence. docs/reference/errors.md says what to do. */
#define FIRN_ERRORS(X)                                                                             \
    X(USAGE, -1, "a key, name or argument is unknown or malformed")                                \
    X(RANGE, -2, "a value is out of range")                                                        \
    X(LAYOUT, -3, "the time is outside the range of the layout")                                   \
    X(TEXT, -4, "the text is not an ID of this form")                                              \
    X(MISMATCH, -5, "the ID does not belong to this scheme")                                       \
    X(NAMESPACE, -6, "the namespace belongs to another layout")                                    \
    X(BUSY, -7, "the node is in use")                                                              \
    X(EXHAUSTED, -8, "no ID is left until the clock advances")                                     \
    X(WINDOW, -9, "the window is used up and could not be renewed")                                \
    X(CLOCK, -10, "the clock cannot be used")                                                      \
    X(STORE, -11, "the store is not available")                                                    \
    X(UNKNOWN, -12, "the store did not report whether it carried out the request")                 \
    X(FORKED, -13, "this process is a child of the process that opened the handle")                \
    X(CLONED, -14, "another copy of this process image is running")                                \
    X(ENTROPY, -15, "the system provides no randomness")                                           \
    X(MEMORY, -16, "out of memory")                                                                \
    X(IO, -17, "input or output failed")                                                           \
    X(UNSORTED, -18, "IDs of this scheme do not sort by time")                                     \
    X(SYSTEM, -19, "the system lacks a required feature")                                          \
    X(BACK, -20, "the store has lost reservations that it made before")                            \
    X(TAKEN, -21, "the node or name is taken, and waiting does not help")                          \
    X(END, -22, "nothing is left, and waiting does not help")                                      \
    X(FULL, -23, "no ID is left at that time")

enum {
    FIRN_OK = 0,
#define FIRN_X(name, value, text) FIRN_E##name = (value),
    FIRN_ERRORS(FIRN_X)
#undef FIRN_X
};
/* The cures of errors: name, number, words. A program decides by the number; the words are for
 * people, in the terms of this header. docs/reference/errors.md has the words of the command, the
 * server and SQL. OTHER: the text says what to do, without a number. */
#define FIRN_CURES(X)                                                                              \
    X(OTHER, 1, "do what the text says")                                                           \
    X(SPELLING, 2, "use the name that the text suggests")                                          \
    X(LISTED, 3, "use one of the values that the text lists")                                      \
    X(SMALLER, 4, "choose a smaller number")                                                       \
    X(LEAVE_OUT, 5, "leave it out")                                                                \
    X(SET_FIELD, 6, "set the field that the text names")                                           \
    X(NAME_SCHEME, 7, "name another scheme")                                                       \
    X(LIST_SCHEMES, 8, "use a scheme of docs/reference/schemes.md")                                \
    X(LIST_KEYS, 9, "use a key of docs/reference/keys.md, or a field of the scheme")               \
    X(OTHER_SCHEME, 10, "choose another scheme, epoch= or bits=")                                  \
    X(SET_UNSIGNED, 11, "set unsigned=1")                                                          \
    X(RAISE_SHIFT, 12, "allow a larger shift, or use a scheme with more sequence bits")            \
    X(RAISE_DISORDER, 13, "allow more disorder")                                                   \
    X(RAISE_LEAD, 14, "request fewer, or raise max_lead")                                          \
    X(RAISE_WAIT, 15, "check the store, or raise max_wait")                                        \
    X(FEWER_IDS, 16, "request fewer at once")                                                      \
    X(SLOW_DOWN, 17, "issue fewer, or set full=wait or more nodes=")                               \
    X(TRY_AGAIN, 18, "try again")                                                                  \
    X(SEND_AGAIN, 19, "send the same request again with the same grant")                           \
    X(WAIT, 20, "wait")                                                                            \
    X(OTHER_NODE, 21, "use another node, or wait")                                                 \
    X(NODE_OUT, 22, "leave the node out")                                                          \
    X(SET_NODE, 23, "set the node, or name the job to take one from the store")                    \
    X(MORE_NODES, 24, "use a layout with more node bits")                                          \
    X(UNUSED_NODE, 25, "back-date without a store, with a node that was never used")               \
    X(OTHER_NAMESPACE, 26, "use another ns= for this one")                                         \
    X(SAME_KIND, 27, "use the same kind and increment, or another name")                           \
    X(OTHER_NAME, 28, "use another name")                                                          \
    X(ADVANCE, 29, "advance the segment above every number handed out")                            \
    X(OTHER_SERIES, 30, "use another series")                                                      \
    X(NAME_JOB, 31, "set the name of the job")                                                     \
    X(OTHER_JOB, 32, "use the same input and options, or another name of the job")                 \
    X(SET_SEED, 33, "set a separate random seed for each file, and keep it secret")                \
    X(ORDER_KEY, 34, "open it as order numbers, which takes one")                                  \
    X(CHECK_DUPLICATES, 35, "look for duplicates among the IDs since then")                        \
    X(OPEN_OWN, 36, "open another one in this process")                                            \
    X(END_COPY, 37, "end one of the two, and start processes instead of cloning them")             \
    X(FIX_CLOCK, 38, "fix the clock")                                                              \
    X(CHECK_STORE, 39, "check the store")                                                          \
    X(OTHER_STORE, 40, "name another store")                                                       \
    X(KNOWN_STORE, 41, "use a kind of store that firn has")                                        \
    X(LOCAL_DISK, 42, "name a path on a local disk or a volume, or accept the risk with unsafe=1") \
    X(MOVING, 43, "wait until the move of the store is done")                                      \
    X(REOPEN, 44, "the operator of the store must open it again")                                  \
    X(INSTALL, 45, "install what it needs")                                                        \
    X(MEMORY, 46, "give this process more memory")                                                 \
    X(NUMBER_OR_JOB, 47, "set a number, or leave it out and name the job")                         \
    X(JOB_OR_NO_NODE, 48, "name the job, or leave the node out")                                   \
    X(OTHER_PLACE, 49, "create it by hand, or name another place")                                 \
    X(RAISE_END, 50, "raise end=, or use another segment")                                         \
    X(NEW_NAMES, 51, "the operator of the store must accept new names again")

enum {
    FIRN_CURE_NONE = 0,
#define FIRN_X(name, value, text) FIRN_CURE_##name = (value),
    FIRN_CURES(FIRN_X)
#undef FIRN_X
};

/* A part of the text of an error, in bytes; a length of 0: no such part. */
typedef struct firn_span {
    uint16_t at, length;
} firn_span;

/* An error. `text` is one line, "what is wrong (value, limit): what to do", and is never cut.
 *
 * The layout is fixed, 512 bytes, without a size by which it could grow: callers declare an error
 * without setting it (`firn_error error;`), so the library could not trust a size in it. Members to
 * come take bytes of `reserved`, which are 0. On failure the library sets every member. */
typedef struct firn_error {
    int32_t code;     /* FIRN_E..., or 0 */
    uint16_t cure;    /* FIRN_CURE_...; FIRN_CURE_NONE: the text says only what is wrong */
    uint16_t cure_at; /* where in `text` the cure begins; 0: it has none */
    firn_span value;  /* the wrong value */
    firn_span limit;  /* its limit, such as "0 to 1023" */
    uint8_t reserved[16];
    char text[480];
} firn_error;

FIRN_API const char *firn_strerror(int code); /* The short sentence for a code; never NULL. */
/* The name of a code: "BUSY" for FIRN_EBUSY, "OK" for 0, "?" for an unknown code. */
FIRN_API const char *firn_errname(int code);
/* The name of a cure: "RAISE_SHIFT" for FIRN_CURE_RAISE_SHIFT, "NONE" for 0, "?" if unknown. */
FIRN_API const char *firn_curename(int cure);
/* Fills in `error` (may be NULL) and returns `code`, for your own stores, clocks and bindings. The
 * last ": " of `format` begins the cure: "%d is too large: use less". If it has none, the words of
 * `cure` follow. Arguments are never searched. `cure` may be 0. */
FIRN_API int firn_error_set(firn_error *error, int code, int cure, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The element of `names` (NULL-terminated) nearest to `name`, ignoring letter case; or NULL. */
FIRN_API const char *firn_nearest(const char *name, const char *const *names);

/* ---- id -------------------------------------------------------------------------------------- */
/* An ID: an unsigned integer of 1 to 160 bits. You may copy it. Bits above `bits` are 0. */
typedef struct firn_id {
    uint64_t low, high; /* bits 63..0 and 127..64 */
    uint32_t top, bits; /* bits 159..128, and the width */
} firn_id;

/* Compares two IDs as integers, ignoring their widths: less than, equal to or greater than 0. */
FIRN_API int firn_id_cmp(const firn_id *a, const firn_id *b);
/* Writes the (bits + 7) / 8 bytes of an ID, most significant first, and returns their number. */
FIRN_API size_t firn_id_bytes(uint8_t out[20], const firn_id *id);
/* Reads (bits + 7) / 8 bytes. FIRN_ERANGE: `bits` not 1..160, or a bit above the width is set. */
FIRN_API int firn_id_from_bytes(firn_id *id, const uint8_t *in, uint32_t bits, firn_error *error);

/* ---- time ------------------------------------------------------------------------------------ */
/* UTC seconds since 1970 and 0..999999999 ns: -0.5 s is {-1, 500000000}. Other ns: FIRN_ERANGE. */
typedef struct firn_time {
    int64_t sec;
    int32_t ns;
} firn_time;
#define FIRN_TIME_SIZE 48 /* room for any time as text */
/* Reads RFC 3339 with any offset and up to nine decimals, or @SECONDS[.FRACTION] or @NUMBERms (us,
 * ns) since 1970, also negative. Years above 9999 and below 0 have a sign. FIRN_ETEXT, with the
 * character from 1. */
FIRN_API int firn_time_parse(firn_time *time, const char *text, size_t length, firn_error *error);
/* Writes RFC 3339 in UTC with `digits` (0..9) decimals of the second; returns `text`. */
FIRN_API char *firn_time_format(char text[FIRN_TIME_SIZE], const firn_time *time, int digits);
/* Writes nanoseconds since 1970 in decimal, exact for every time, and returns `text`. */
FIRN_API char *firn_time_unix_ns(char text[FIRN_TIME_SIZE], const firn_time *time);
FIRN_API int firn_time_cmp(const firn_time *a, const firn_time *b); /* Compares like firn_id_cmp. */

/* ---- scheme ---------------------------------------------------------------------------------- */
#define FIRN_SLICES_MAX 12
#define FIRN_NAME_SIZE  24
/* The contents of a slice. */
enum firn_role {
    FIRN_ROLE_CONST,    /* a constant: written when packing, checked when reading */
    FIRN_ROLE_TIME,     /* ticks since the epoch */
    FIRN_ROLE_SEQUENCE, /* counts the IDs of one tick */
    FIRN_ROLE_COUNTER,  /* counts IDs across ticks, modulo its width */
    FIRN_ROLE_RANDOM,   /* drawn for each ID */
    FIRN_ROLE_NODE,     /* a part of the node */
    FIRN_ROLE_ADDRESS,  /* a 48-bit address as node; a random one has the multicast bit set */
    FIRN_ROLE_PROCESS,  /* drawn once per process, and again after a fork */
    FIRN_ROLE_USER,     /* a number that the caller sets; 0 by default */
    FIRN_ROLE_DIGEST    /* a hash of namespace and name */
};

enum firn_form {
    FIRN_FORM_DEC,
    FIRN_FORM_HEX,
    FIRN_FORM_UUID,
    FIRN_FORM_URN,
    FIRN_FORM_BRACED,
    FIRN_FORM_BASE32,
    FIRN_FORM_BASE32HEX,
    FIRN_FORM_BASE36,
    FIRN_FORM_BASE58,
    FIRN_FORM_BASE62,
    FIRN_FORM_BIN,
    FIRN_FORM_UNSIGNED,    /* dec without a sign */
    FIRN_FORM_FLAKE,       /* base62 without padding */
    FIRN_FORM_TYPEID,      /* prefix_ and 26 lower-case Crockford digits */
    FIRN_FORM_DATED,       /* yyyyMMddHHmmssSSS and digits, of time-random and time-member */
    FIRN_FORM_BASE32SORT,  /* 2-7 and a-z, of tid */
    FIRN_FORM_BASE36LOWER, /* 0-9 and a-z, of scru128 */
    FIRN_FORM_BASE64SORT,  /* - 0-9 A-Z _ a-z in the order of ASCII, of pushid */
    FIRN_FORM_BASE64,      /* the bytes as in RFC 4648, with = at the end; texts do not sort */
    FIRN_FORM_BASE64URL,   /* the same with - and _, without = */
    FIRN_FORM_NCNAME32,    /* UUID-NCName: the version, 120 bits in base32, the variant */
    FIRN_FORM_NCNAME58,    /* the same in base58, filled up with _ */
    FIRN_FORM_NCNAME64,    /* the same in base64url */
    FIRN_FORM_COUNT
};

/* Whether IDs sort in the order of issue: among IDs of one node only, or by tick only. */
enum firn_sorts { FIRN_SORTS_NO, FIRN_SORTS_PER_NODE, FIRN_SORTS_BY_TICK, FIRN_SORTS_YES };
/* NONE: IDs are unique with a probability. OPTIONAL: the node is random, and reserved once the
 * caller sets the `node_fields`. REQUIRED: reserved; set by the caller, an ordinal, or claimed. */
enum firn_node_rule { FIRN_NODE_NONE, FIRN_NODE_OPTIONAL, FIRN_NODE_REQUIRED };
/* The first sequence of a tick. RANDOM: below `start_below`; ROLLING: the last + 1, modulo it. */
enum firn_start { FIRN_START_ZERO, FIRN_START_RANDOM, FIRN_START_ROLLING };
/* The hash of a digest field; with a counter: it begins at firn_locality_start, not at random. */
enum firn_hash { FIRN_HASH_NONE, FIRN_HASH_MD5, FIRN_HASH_SHA1 };

/* A slice of an ID. A field may have several slices; its index is the index of the first. */
typedef struct firn_slice {
    char name[16];  /* of the field or the constant; a constant may have none: "" */
    uint8_t role;   /* enum firn_role */
    uint8_t bits;   /* 1..128 */
    uint8_t from;   /* the lowest bit of the field that the slice contains, 0..127 */
    uint8_t group;  /* 0, or g: groups of g bits are written in reverse order */
    uint64_t value; /* of a constant */
} firn_slice;

/* A scheme: its layout, as slices from the most significant bit on, and its policies. Read-only. */
typedef struct firn_scheme {
    char name[FIRN_NAME_SIZE];
    uint32_t bits;        /* 1..160 */
    uint32_t tick_ns;     /* length of a tick; 0: no time */
    firn_time epoch;      /* when tick 0 begins */
    uint32_t slice_count; /* 1..FIRN_SLICES_MAX */
    firn_slice slices[FIRN_SLICES_MAX];
    uint8_t form, sorts, node_rule, start, hash; /* enum firn_form (the default) and so on */
    uint64_t start_below, counter_step; /* of `start`; added to the counter for each ID, or 0 */
    bool read_only;                     /* firn reads these IDs and never generates them */
    bool monotonic;          /* within a tick the random field is the previous one plus 1 */
    bool keyed;              /* its text needs a key: see firn_order_open */
    int16_t packer;          /* index of the packer in firn's list; -1: a layout of the caller's */
    const char *node_fields; /* which fields of FIRN_NODE_OPTIONAL make the node a reserved one, or
                              * which of FIRN_NODE_REQUIRED the caller must set; may be NULL */
    const char *ns;          /* the namespace, if shared with another scheme; NULL: the name */
    const char *note, *source; /* a sentence for users; where it was published; may be NULL */
} firn_scheme;

/* The value of a field. Fields of up to 64 bits use `low` only. */
typedef struct firn_value {
    uint64_t low, high;
} firn_value;
/* The fields of one ID. The value of a field is at the index of its first slice. */
typedef struct firn_fields {
    uint32_t given; /* bit i: value[i] is set */
    firn_value value[FIRN_SLICES_MAX];
} firn_fields;

FIRN_API const firn_scheme *firn_scheme_at(size_t i); /* The i-th scheme, NULL after the last. */
FIRN_API const firn_scheme *firn_scheme_find(const char *name); /* By name; NULL: not found. */
/* Makes a scheme from a name or a layout ("time:41/ms@@2024-01-01 node:10 sequence:12"). Unless
 * NULL, `epoch` replaces the epoch, `bits` (a/b/c) the widths of the fields from the most
 * significant on, and `digits` (1..18) the random digits of time-random. FIRN_EUSAGE: unknown
 * scheme, bad layout, or nothing to replace; FIRN_ERANGE: wrong sum of widths, or out of range. */
FIRN_API int firn_scheme_make(firn_scheme *scheme, const char *text, const char *epoch,
                              const char *bits, const char *digits, firn_error *error);
#define FIRN_LAYOUT_SIZE 512 /* room for any layout as text */
/* Writes the layout of a scheme as firn_scheme_make reads it, with its epoch; returns `text`. */
FIRN_API char *firn_scheme_layout(char text[FIRN_LAYOUT_SIZE], const firn_scheme *scheme);
/* The index of the first slice of a field, or of a named constant; -1: no such name. */
FIRN_API int firn_scheme_field(const firn_scheme *scheme, const char *name);
/* The index of the first slice of the field that slice i belongs to, which is i for most fields. */
FIRN_API uint32_t firn_scheme_first(const firn_scheme *scheme, uint32_t i);
/* The width of the field whose first slice is i: 1..128 bits. */
FIRN_API uint32_t firn_scheme_width(const firn_scheme *scheme, uint32_t i);
/* The greatest value of that field: all bits set, or all decimal digits 9 in the form dated. */
FIRN_API firn_value firn_scheme_max(const firn_scheme *scheme, uint32_t i);
/* The first time after the last tick: of the bits if `whole`, else of the IDs that firn issues,
 * which are never negative in the form of the scheme: for a column of signed integers, take a copy
 * with form FIRN_FORM_DEC. False: the scheme has no time, or no end (64-bit time). */
FIRN_API bool firn_scheme_end(const firn_scheme *scheme, bool whole, firn_time *end);
/* The tick that contains a time. FIRN_ELAYOUT: before the epoch, or after the last tick. */
FIRN_API int firn_scheme_tick(const firn_scheme *scheme, const firn_time *time, uint64_t *tick,
                              firn_error *error);
/* The time at which a tick begins. */
FIRN_API void firn_scheme_time(const firn_scheme *scheme, uint64_t tick, firn_time *time);
/* How many decimals of the second a tick needs: 0, 2, 3, 6 or 7. */
FIRN_API int firn_scheme_digits(const firn_scheme *scheme);

/* Sets a field from text: decimal, 0x hex, colon-separated hex (addresses), a time ("time") or its
 * tick ("tick"). FIRN_EUSAGE: no field, or set twice; FIRN_ERANGE; FIRN_ETEXT; FIRN_ELAYOUT. */
FIRN_API int firn_fields_set(firn_fields *fields, const firn_scheme *scheme, const char *name,
                             const char *value, firn_error *error);
#define FIRN_VALUE_SIZE 48 /* room for any value as text */
/* Writes field i: an address as colon-separated hex, random bits as 0x hex, else decimal. */
FIRN_API char *firn_fields_get(char text[FIRN_VALUE_SIZE], const firn_fields *fields,
                               const firn_scheme *scheme, uint32_t i);

/* Pure. Packs all fields into an ID. FIRN_EUSAGE: one is missing; FIRN_ERANGE: one is too great. */
FIRN_API int firn_pack(firn_id *id, const firn_scheme *scheme, const firn_fields *fields,
                       firn_error *error);
/* Pure. Reads the fields of an ID. FIRN_EMISMATCH: wrong width or constant, a field too great. */
FIRN_API int firn_unpack(firn_fields *fields, const firn_scheme *scheme, const firn_id *id,
                         firn_error *error);
/* Pure. The least and greatest ID of the ticks that overlap from <= time < to. `pinned`: the
 * fields before it, or NULL. FIRN_EUSAGE: one is missing, or from >= to; FIRN_ELAYOUT;
 * FIRN_EUNSORTED. */
FIRN_API int firn_range(firn_id *least, firn_id *greatest, const firn_scheme *scheme,
                        const firn_fields *pinned, const firn_time *from, const firn_time *to,
                        firn_error *error);
/* Pure. Converts between schemes of the same fields: uuid1, uuid6. FIRN_EMISMATCH, FIRN_EUSAGE. */
FIRN_API int firn_convert(firn_id *out, const firn_scheme *to, const firn_id *id,
                          const firn_scheme *from, firn_error *error);
/* Pure. A uuid3 or uuid5 of a namespace (dns, url, oid, x500 or a UUID) and a name. FIRN_EUSAGE. */
FIRN_API int firn_digest(firn_id *id, const firn_scheme *scheme, const char *space,
                         const void *name, size_t length, firn_error *error);
/* Pure. Where the counter of locality-sequential begins: MD5 of the UTC time to ten minutes. */
FIRN_API uint32_t firn_locality_start(const firn_time *time);

/* ---- text ------------------------------------------------------------------------------------ */
#define FIRN_TEXT_SIZE 168 /* room for any ID in any form */
/* The name of a form, such as "base32hex" for FIRN_FORM_BASE32HEX, or NULL. */
FIRN_API const char *firn_form_name(int form);
FIRN_API int firn_form_find(const char *name); /* The form of that name, or -1. */
/* How many characters an ID of this width has in a form, without the prefix of a typeid; for dec,
 * unsigned, flake and time-member the maximum. 0: the form does not support the width: uuid, urn,
 * braced and typeid take 128 bits, dated the widths of time-random and time-member. */
FIRN_API size_t firn_form_width(int form, uint32_t bits);
/* Writes an ID and returns `text`; "" if the form cannot write its width (dated: or its value). */
FIRN_API char *firn_format(char text[FIRN_TEXT_SIZE], const firn_id *id, int form);
/* Reads an ID: one text each, apart from letter case and a prefix. FIRN_ETEXT, with character. */
FIRN_API int firn_parse(firn_id *id, int form, uint32_t bits, const char *text, size_t length,
                        firn_error *error);
/* The scheme of an ID that firn_parse has read as one of `scheme`: `scheme` itself, unless that is
 * typeid. A TypeID is a prefix and any UUID: for another one than version 7 this is the scheme of
 * its version, or if it has none a layout of the same name, with version and variant as fields. */
FIRN_API const firn_scheme *firn_scheme_seen(const firn_scheme *scheme, const firn_id *id);
#define FIRN_PREFIX_SIZE 64 /* room for the prefix of a TypeID */
/* Checks the prefix of a TypeID: a-z and _, a letter at both ends, at most 63; or "".
 * FIRN_EUSAGE. */
FIRN_API int firn_prefix_check(const char *prefix, size_t length, firn_error *error);
/* Copies the prefix of a text that firn_parse reads as a typeid; "": it has none. Returns its
 * length. */
FIRN_API size_t firn_prefix_read(char prefix[FIRN_PREFIX_SIZE], const char *text, size_t length);
/* Writes a TypeID: the prefix, _ and the digits, or only these if the prefix is "". Returns `text`;
 * "" if the ID has not 128 bits, or the prefix is not valid. */
FIRN_API char *firn_prefix_format(char text[FIRN_TEXT_SIZE], const char *prefix, const firn_id *id);

/* How sure an answer about a text is. A random text of its alphabet and length gets the answer in
 * more than 1 case of 64 (possible), in at most 1 of 64 (likely) or in at most 1 of 10^6
 * (certain). */
enum firn_sure { FIRN_POSSIBLE, FIRN_LIKELY, FIRN_CERTAIN };

/* A reading of a text. */
typedef struct firn_reading {
    const firn_scheme *scheme;
    int form;
    int sure; /* FIRN_POSSIBLE: not an answer; FIRN_LIKELY */
    firn_id id;
} firn_reading;
#define FIRN_READINGS_MAX 64
/* Finds the schemes that a text is plausibly an ID of, best first, and returns how many: 0 for
 * numbers below 10^13, times since 1970 and hashes, for example. A number, or 16 hex digits, shows
 * no scheme: all its readings are only possible, the most frequent owner first; ask for the scheme.
 * The readings may be different IDs (decimal and hex): compare them before you convert. `form`: the
 * only form to read, or -1. */
FIRN_API size_t firn_guess(firn_reading readings[FIRN_READINGS_MAX], const char *text,
                           size_t length, int form);
/* Like firn_guess, with the readings that fit by chance after the *plausible ones; returns all. */
FIRN_API size_t firn_guess_all(firn_reading readings[FIRN_READINGS_MAX], size_t *plausible,
                               const char *text, size_t length, int form);

/* ---- clock and entropy ----------------------------------------------------------------------- */
/* A clock; NULL: the system's. All methods are required; any thread calls them. 0 or FIRN_E... */
typedef struct firn_clock {
    uint32_t version; /* 1 */
    void *self;
    int (*wall)(void *self, firn_time *now); /* UTC; may step */
    int (*steady)(void *self, int64_t *ns);  /* like CLOCK_BOOTTIME: never steps or stops */
    int (*pause)(void *self, int64_t ns);    /* sleeps; may return early */
} firn_clock;

/* The caller's source of random bytes. NULL: firn's, see docs/explanation/randomness.md. */
typedef struct firn_entropy {
    uint32_t version; /* 1 */
    void *self;
    int (*fill)(void *self, void *out, size_t size); /* required: fills all, or returns an error */
} firn_entropy;

/* ---- store ----------------------------------------------------------------------------------- */
#define FIRN_SLOT_MAX  (INT64_C(1) << 62) /* high-water marks are 0..FIRN_SLOT_MAX */
#define FIRN_KEY_SIZE  64                 /* room for a key */
#define FIRN_NS_SIZE   256                /* room for a namespace */
#define FIRN_NOTE_SIZE 128                /* room for a note */

/* The state of a key. */
typedef struct firn_mark {
    int64_t high;   /* the high-water mark: the first slot that was never reserved */
    uint64_t grant; /* of the last reservation; 0 after a give back */
} firn_mark;

/* A reservation of `count` slots from max(high, earliest) on, which must be <= latest. */
typedef struct firn_request {
    const char *ns;     /* namespace */
    const char *layout; /* of the namespace: stored at first use; the store refuses another one */
    const char *key;    /* a node, node@tick, a job's name; for integers 1, or a ticket's offset */
    int64_t count;      /* 1 .. FIRN_SLOT_MAX - latest */
    int64_t earliest, latest; /* 0 <= earliest <= latest */
    uint64_t grant;           /* random, new for each request; the same when it is sent again */
    const char *note;         /* who holds the slots, for users */
    /* The slot 15 s after the store's clock, 615 s with reach=10min, or 3615 s with reach=1h (15 s with
     * reserve_claim=, and a store of firn's adds an hour for the nodes of reserves). A store that was
     * replaced, or has lost reservations, grants no slot before it. 0: it grants none at all then
     * (integers, back-dated IDs). */
    int64_t guard;
    int64_t guard_ms;       /* when the guard was computed (CLOCK_BOOTTIME) */
    uint64_t guard_tick_ns; /* length of a tick: the store adds the time since then; 0: nothing */
    uint32_t guard_shift;   /* a tick has 2^guard_shift slots */
    int64_t guard_known_ms; /* until then (CLOCK_BOOTTIME) `guard_more` is not added */
    int64_t guard_more; /* 0, or slots that are added to the guard if the namespace has no record:
                         * a lost record may have had a longer reach */
    firn_mark own; /* of a renewal: the mark that it continues. A store with any other mark refuses
                    * it (FIRN_EBUSY), so no late copy of it is carried out after a give back;
                    * {0, 0}: any mark */
} firn_request;

/* A key in a listing. The strings are valid during the call. */
typedef struct firn_holding {
    const char *ns, *layout, *key, *note;
    firn_mark mark;
    int64_t floor; /* of the namespace: the store grants no slot below it */
} firn_holding;
/* Called for each key; must not call the store. Results other than 0 end the listing with it. */
typedef int firn_visit(void *context, const firn_holding *holding);

/* Options of a store; a zero is the default. */
typedef struct firn_store_options {
    void (*failpoint)(void *self, const char *name); /* for tests: before and after every write */
    void *failpoint_self;
    const char *vfs;        /* sqlite: the name of the VFS that makes its system calls */
    const char *module_dir; /* where to look for modules first */
    bool unsafe;            /* accept an engine or a place that may lose acknowledged writes */
    bool must_exist;        /* sqlite: do not create a missing file (create=no) */
    int64_t wait_ms;        /* time limit of each call; 0: 5000 */
    void (*notice)(void *self, const char *text); /* notes for users, while opening */
    void *notice_self;
    bool later; /* a store that is away is opened when it is first used: firn_store_open returns
                 * FIRN_OK then, and `error` has the reason. For segments with reserve= */
} firn_store_options;

/* The methods of a store that a program brings itself: see firn_store_wrap. They are called by any
 * thread, one at a time per handle. firn/store.h is for a kind of store that has a URL. */
#define FIRN_STORE_OPS_VERSION 4
typedef struct firn_store_ops {
    uint32_t version;   /* FIRN_STORE_OPS_VERSION */
    const char *scheme; /* the kind of store, for errors */
    /* success sets *first, FIRN_EBUSY *held (if held->high is FIRN_SLOT_MAX, the store never grants
     * the key, and the error says why). FIRN_EUNKNOWN: may have been carried out;
     * FIRN_ENAMESPACE; FIRN_ESTORE; FIRN_EBACK: only for requests without guard */
    int (*reserve)(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                   firn_error *error);
    /* if mark and grant are still `mine`, lowers the mark and clears the grant; else FIRN_EBUSY */
    int (*give_back)(void *self, const char *ns, const char *key, const firn_mark *mine,
                     int64_t high, firn_error *error);
    /* visits keys as firn_store_list does */
    int (*list)(void *self, const char *ns, firn_visit *visit, void *context, firn_error *error);
    int (*now)(void *self, firn_time *now, firn_error *error); /* optional: the engine's clock */
    const char *(*caution)(void *self); /* optional: firn_store_caution, as long as the handle */
    void (*close)(void *self);
} firn_store_ops;

/* Closes or opens a namespace, or confines its claims. "closed (WHY): LAYOUT" is the closed form of
 * a layout: no generator has it, so no reservation succeeds until LAYOUT is back. With
 * "claim=0..899 LAYOUT" generators claim these nodes only; an older firn reserves nothing. */
typedef struct firn_relabel {
    const char *ns;
    const char *from; /* the layout to replace; NULL: the namespace is not known yet */
    const char *to;   /* the same layout, closed, open or confined; closed if `from` is NULL */
    int64_t floor;    /* the store grants no slot below it */
    bool lowers;      /* false: a stored floor that is greater stays */
} firn_relabel;

typedef struct firn_store firn_store;
/* Opens a store by URL, as "memory:". NULL is the default: SQLite in $XDG_STATE_HOME/firn, else
 * /var/lib/firn (root) or ~/.local/state/firn. FIRN_EUSAGE: unknown store; FIRN_ESTORE. */
FIRN_API int firn_store_open(firn_store **store, const char *url, const firn_store_options *options,
                             firn_error *error);
/* Makes a store from the caller's methods. firn_store_close closes `self`. */
FIRN_API int firn_store_wrap(firn_store **store, const firn_store_ops *ops, void *self,
                             firn_error *error);
/* Reserves slots; *first is the first of them. FIRN_ERANGE: not 0 <= earliest <= latest <=
 * FIRN_SLOT_MAX - count, or count < 1; FIRN_EBUSY: *held is the mark in the store;
 * FIRN_ENAMESPACE; FIRN_ESTORE; FIRN_EBACK; FIRN_EUNKNOWN: send the same request again. */
FIRN_API int firn_store_reserve(firn_store *store, const firn_request *request, int64_t *first,
                                firn_mark *held, firn_error *error);
/* Lowers a mark to `high` if it is still `mine`. FIRN_EBUSY: it is not. Never send it again. */
FIRN_API int firn_store_give_back(firn_store *store, const char *ns, const char *key,
                                  const firn_mark *mine, int64_t high, firn_error *error);
/* Visits each key of a namespace, or of all (NULL), sorted by namespace and key. Among all, a
 * namespace without keys has one visit, with the key "". */
FIRN_API int firn_store_list(firn_store *store, const char *ns, firn_visit *visit, void *context,
                             firn_error *error);
/* Visits the nodes that other programs of the engine issue with, such as an extension of a database
 * server. The store has no mark for them and refuses them. A holding whose ns is "" concerns each
 * namespace. Most stores have none. */
FIRN_API int firn_store_others(firn_store *store, firn_visit *visit, void *context,
                               firn_error *error);
/* Reads the engine's clock. FIRN_ESYSTEM: the engine has none. */
FIRN_API int firn_store_now(firn_store *store, firn_time *now, firn_error *error);
/* Replaces the layout of a namespace in one atomic update; *floor is the stored one. Repeat it to
 * make sure that the change is on disk. FIRN_ENAMESPACE: it has neither layout; FIRN_EBACK: the
 * store lost reservations, and the change does not open a namespace that was forgotten;
 * FIRN_EUSAGE: another layout, no method; FIRN_ESTORE; FIRN_EUNKNOWN. If ns is "integer *", and
 * from and to are "gone back", the call declares that the store lost reservations, and changes no
 * layout. */
FIRN_API int firn_store_relabel(firn_store *store, const firn_relabel *change, int64_t *floor,
                                firn_error *error);
/* Why the store may lose acknowledged writes: a sentence, valid as long as the store, or NULL. */
FIRN_API const char *firn_store_caution(const firn_store *store);
/* Closes a store, after every generator and segment that uses it. NULL is allowed. */
FIRN_API void firn_store_close(firn_store *store);

/* ---- generator ------------------------------------------------------------------------------- */
typedef struct firn_gen firn_gen;
/* The settings of a generator. Set `size` and `scheme`; a zero elsewhere is the default. */
typedef struct firn_config {
    size_t size;           /* sizeof(firn_config) */
    const char *scheme;    /* a name, or a layout as text */
    const char *keys;      /* "key=value key=value": docs/reference/keys.md */
    firn_store *store;     /* the caller's store, or NULL: */
    const char *store_url; /* opened if a store is needed, and closed with the generator */
    const firn_store_options *store_options;
    const firn_clock *clock; /* must outlive the generator, as must: */
    const firn_entropy *entropy;
    void (*notice)(void *self, const char *text); /* notes for users; must not call firn */
    void *notice_self;
    const char *note;   /* stored with each reservation; NULL: program, host and pid */
    bool has_renewer;   /* firn_next never calls the store: your thread calls firn_gen_step */
    void *shared;       /* zeros at first; processes share it: docs/reference/threads.md; or NULL */
    size_t shared_size; /* firn_shared_size(); with a fixed node 2048 are enough */
} firn_config;
FIRN_API size_t firn_shared_size(void); /* The bytes of firn_config.shared for any generator. */

/* Opens a generator with default settings, and the default store if the scheme needs one. */
FIRN_API int firn_open(firn_gen **gen, const char *scheme, const char *keys, firn_error *error);
/* Opens a generator. All errors are possible. */
FIRN_API int firn_open_with(firn_gen **gen, const firn_config *config, firn_error *error);
/* Issues one ID. Any thread; no lock, allocation or system call, except to renew the window.
 * FIRN_EEXHAUSTED: max_lead ahead of the clock; FIRN_EWINDOW, FIRN_ESTORE, FIRN_EBUSY: no
 * window; FIRN_ECLOCK: rollback beyond max_back; FIRN_ELAYOUT: the layout ended; FIRN_EFORKED. */
FIRN_API int firn_next(firn_gen *gen, firn_id *id, firn_error *error);
/* Issues exactly n IDs, in order, or none. Errors as firn_next; FIRN_ERANGE: n above max_count. */
FIRN_API int firn_next_n(firn_gen *gen, firn_id *ids, size_t n, firn_error *error);
/* Issues exactly n IDs as integers, or none. FIRN_EUSAGE: over 64 bits. Else as firn_next. */
FIRN_API int firn_next_u64(firn_gen *gen, uint64_t *ids, size_t n, firn_error *error);
/* Issues n back-dated IDs from `at` on, on a node for such IDs only; a full tick continues in the
 * next, within max_lead. FIRN_ESTORE: the scheme needs a store. Else as firn_next. */
FIRN_API int firn_at(firn_gen *gen, const firn_time *at, firn_id *ids, size_t n, firn_error *error);
/* Claims or renews windows if necessary; *wait_ms is when to call it again. Any thread. */
FIRN_API int firn_gen_step(firn_gen *gen, int64_t *wait_ms, firn_error *error);
/* The scheme with the generator's keys applied. Valid as long as the generator. */
FIRN_API const firn_scheme *firn_gen_scheme(const firn_gen *gen);
/* The key prefix= of a generator of TypeIDs, for firn_prefix_format; "". Valid as long as it. */
FIRN_API const char *firn_gen_prefix(const firn_gen *gen);

/* The state of a generator, at one moment. */
typedef struct firn_status {
    size_t size;              /* sizeof(firn_status), set by the caller */
    bool reserved, held;      /* slots are reserved in a store; a window is held now */
    uint64_t node;            /* the slices of the node, joined */
    int64_t first, next, end; /* slots of the window; next is the first not issued */
    int64_t lead_ns;          /* the time of the last ID minus the clock's */
    uint64_t claims, renewals, give_backs, store_errors;
    uint64_t steps_back_absorbed, steps_back_left; /* clock rollbacks within and beyond max_back */
    uint64_t jumps_ahead;                          /* of the clock, by more than 5 s */
    bool unsafe;        /* the store or a key allows the loss of acknowledged writes */
    int64_t max_count;  /* the most IDs that one call can issue */
    bool stays;         /* after a clock rollback: IDs keep the time until the clock catches up */
    uint64_t contended; /* how often a thread tried again, because another one took its slot */
    int64_t reserve_ms; /* how long the reserve of the machine lasts without the store; 0: none */
    uint64_t reserve_refills, reserve_failures; /* of this generator: refills; looks that failed */
} firn_status;
/* Fills in the members that `status->size` has room for. Any thread. */
FIRN_API void firn_gen_status(firn_gen *gen, firn_status *status);
/* Gives back to the store the rest of the reserve of this machine in the generator's namespace. Stop
 * the other processes of the machine first: a process that continues fills it again. Returns
 * FIRN_EUSAGE if the generator has no reserve, FIRN_ESTORE if the store is away; then nothing has
 * changed. Any thread. */
FIRN_API int firn_reserve_give_back(firn_gen *gen, firn_error *error);
/* Visits each node of a reserve's file (NULL: the default one of the user), also one whose time is
 * over: its namespace, layout and key, and in `mark.high` the end of the machine's slots. Of
 * integers, each block: the note is the first that nobody has, mark.high follows the last. Stops if
 * `visit` returns another value than 0, and returns it. Without the default file, visits nothing.
 * FIRN_ESTORE: there is no file of this path. */
FIRN_API int firn_reserve_list(const char *path, firn_visit *visit, void *context,
                               firn_error *error);
/* Gives the windows back and frees the generator, even if giving back fails; returns that error.
 * No other thread may be using `gen`. A forked child gives back nothing of its parent. */
FIRN_API int firn_close(firn_gen *gen, firn_error *error);

/* ---- a process that runs twice --------------------------------------------------------------- */
/* Declares that another copy of this process may be running: for the restore hook of a host that
 * starts processes from a snapshot (SnapStart, CRaC, CRIU, a virtual machine). Calls that begin
 * after it returns issue nothing that was prepared before it: all threads draw new random bytes,
 * each generator draws a new identity and claims another node, and segments fetch other integers. A
 * generator with a fixed node claims the same node again: the store refuses that (FIRN_EBUSY) until
 * the old window has passed. Gives no window back. Jobs stay unchanged. Any thread, at any time;
 * does not wait. */
FIRN_API void firn_renew_identity(void);

/* ---- block ----------------------------------------------------------------------------------- */
#define FIRN_BLOCK_MAX 256
/* IDs issued ahead, for languages in which a call costs more than an ID. One thread at a time. */
typedef struct firn_block firn_block;
/* A page of IDs, which follow it: ID i is at (char *)(page + 1) + i * stride. IDs of up to 64 bits
 * are uint64_t, others `stride` bytes, most significant first. Take ID `next` and raise `next`
 * while next < count and CLOCK_MONOTONIC is before until_ns. A fork empties the child's page. */
typedef struct firn_page {
    uint32_t next, count;
    int64_t until_ns;
    uint32_t stride, reserved;
} firn_page;
/* Opens an empty block. age_us: how long its IDs are fresh, 1..1000000; 0: 1000. FIRN_ERANGE. */
FIRN_API int firn_block_open(firn_block **block, firn_gen *gen, int64_t age_us, firn_error *error);
FIRN_API firn_page *firn_block_page(const firn_block *block); /* The page of an open block. */
/* Drops unused IDs and issues 1..FIRN_BLOCK_MAX. Errors as firn_next; the page is then empty. */
FIRN_API int firn_block_fill(firn_block *block, firn_error *error);
/* Takes one ID of `stride` bytes, and fills the page when necessary. Errors as firn_next. */
FIRN_API int firn_block_next(firn_block *block, void *id, firn_error *error);
/* Frees a block, even after its generator was closed. NULL is allowed. */
FIRN_API void firn_block_close(firn_block *block);

/* ---- job ------------------------------------------------------------------------------------- */
/* A job issues back-dated IDs for records that have a time but no ID. The same records and settings
 * give the same IDs. A node belongs to one job: a store reserves it permanently, under the job's
 * name; without a store the caller must not use it elsewhere. One thread at a time. */
typedef struct firn_job firn_job;
/* The settings of a job. Set `size` and `scheme`; a zero elsewhere is the default. */
typedef struct firn_job_config {
    size_t size;        /* sizeof(firn_job_config) */
    const char *scheme; /* a name, or a layout */
    /* Fields with a fixed value, and ns node reach reserve_claim epoch bits digits unsigned. */
    const char *keys;
    firn_store *store;   /* used while opening only; NULL: none */
    const char *name;    /* of the job, 1..63 bytes; required with a store */
    uint64_t digest;     /* of the input: a name belongs to one digest */
    const char *seed;    /* of the random fields, if any: jobs of one seed may issue the same IDs */
    int64_t shift_ms;    /* how far a record of a full tick may move ahead, 0..86400000 */
    int64_t disorder_ms; /* by how much a record may precede the latest one; 0: any order. Each
                          * tick kept takes 22 to 43 bytes, 64 while the table grows */
    void (*notice)(void *self, const char *text); /* notes for users; must not call firn */
    void *notice_self;
} firn_job_config;
/* Opens a job. FIRN_EUSAGE: no time in the scheme, unknown key, no node, name or seed; FIRN_ERANGE;
 * FIRN_ETAKEN: the name has another digest or settings; FIRN_EEND: no node is left; errors of a
 * store. */
FIRN_API int firn_job_open(firn_job **job, const firn_job_config *config, firn_error *error);
/* Issues the ID of the next record; *shift_ns is how far it moved from the tick of `time`. Changes
 * nothing if it fails. FIRN_EFULL: no slot is free within shift_ms; FIRN_ERANGE: earlier than
 * disorder_ms allows; FIRN_ELAYOUT; FIRN_EFORKED; FIRN_EMEMORY. */
FIRN_API int firn_job_next(firn_job *job, const firn_time *time, firn_id *id, int64_t *shift_ns,
                           firn_error *error);
/* The scheme with the job's keys applied. Valid as long as the job. */
FIRN_API const firn_scheme *firn_job_scheme(const firn_job *job);
/* Whether the job was started before, with the same digest. False without a store. */
FIRN_API bool firn_job_again(const firn_job *job);
/* Frees a job and erases all that was derived from its seed. NULL is allowed. */
FIRN_API void firn_job_close(firn_job *job);

/* ---- segment --------------------------------------------------------------------------------- */
typedef struct firn_segment firn_segment;
/* Opens a segment: integers that are unique under `key`, its name of 1..63 bytes of UTF-8. `keys`:
 * kind=serial (step 1), ticket (increment and offset) or segment (adaptive step), step=N,
 * increment=N, offset=N, start=N, end=N, adapt=0|1, and reserve=DURATION with reserve_path=,
 * max_reserve= and reserve_trust=. Close it before the store. FIRN_EUSAGE. */
FIRN_API int firn_segment_open(firn_segment **segment, const char *key, const char *keys,
                               firn_store *store, const firn_clock *clock, firn_error *error);
/* The next integer. Any thread. FIRN_EEND: after `end`; FIRN_ESTORE; FIRN_EBACK: advance. */
FIRN_API int firn_segment_next(firn_segment *segment, int64_t *value, firn_error *error);
/* Reserves `count` integers: *first, *first + increment, ... Errors as firn_segment_next. */
FIRN_API int firn_segment_block(firn_segment *segment, int64_t count, int64_t *first,
                                firn_error *error);
/* Takes 1 to `most` of the integers fetched before, without the store; a renewer calls
 * firn_segment_step. *due (may be NULL): it has work. FIRN_EWINDOW: none is left; FIRN_ERANGE. */
FIRN_API int firn_segment_take(firn_segment *segment, int64_t most, int64_t *first, int64_t *count,
                               bool *due, firn_error *error);
/* Takes exactly `count` integers of one block, greater than all handed out before; drops a block
 * with fewer. FIRN_EWINDOW, or `fetch_more`: asks the store as firn_segment_next; FIRN_ERANGE. */
FIRN_API int firn_segment_exact(firn_segment *segment, int64_t count, bool fetch_more,
                                int64_t *first, bool *due, firn_error *error);
/* About how many integers are fetched and not handed out. Any thread, no lock. */
FIRN_API int64_t firn_segment_left(const firn_segment *segment);
/* Gives back to the store the last block of the reserve of this machine, unless others reserved after
 * it, and drops the rest. Stop the segment's processes first. FIRN_EUSAGE if the segment has no
 * reserve; FIRN_ESTORE if the store is away: then nothing has changed. */
FIRN_API int firn_segment_give_back(firn_segment *segment, firn_error *error);
/* How many integers the reserve of this machine has, and how long they last at the recent rate, which
 * counts as at least one an hour. Reads the file of the reserve. FIRN_EUSAGE if the segment has no
 * reserve. Any thread. */
FIRN_API int firn_segment_reserve(firn_segment *segment, int64_t *left, int64_t *lasts_ms,
                                  firn_error *error);
/* The difference between two integers of the segment: 1, or the increment of a ticket. */
FIRN_API int64_t firn_segment_increment(const firn_segment *segment);
/* The next integer that the store would grant. Reserves nothing. FIRN_EEND. */
FIRN_API int firn_segment_peek(firn_segment *segment, int64_t *next, firn_error *error);
/* Makes the store grant nothing below `from` (0 to `end`); *next is the first integer left. Cures
 * FIRN_EBACK, if `from` is above every integer ever handed out, by any server of a ticket. */
FIRN_API int firn_segment_advance(firn_segment *segment, int64_t from, int64_t *next,
                                  firn_error *error);
/* Fetches the next block if necessary; *wait_ms is when to call it again. Any thread. */
FIRN_API int firn_segment_step(firn_segment *segment, int64_t *wait_ms, firn_error *error);
/* Gives back unused integers, unless another process reserved after them; frees the segment. */
FIRN_API int firn_segment_close(firn_segment *segment, firn_error *error);

/* ---- order ----------------------------------------------------------------------------------- */
#define FIRN_ORDER_SIZE 24 /* room for an order number */
/* Order numbers: encrypted integers of a fixed number of decimal digits. The same integer gives the
 * same number, so the integers come from a store. One thread at a time. */
typedef struct firn_order firn_order;
/* Opens a key for order numbers: [key id] [integer, encrypted with FF1: AES-128, radix 10] [check
 * digit: Damm]. `keys`: digits=6..19 (10) of the integer, key_id=0..9 (none), check=0|1 (0),
 * tweak=HEX of at most 32 bytes (none). Numbers of two keys with one key id may collide.
 * `module_dir` (may be NULL) is searched first. FIRN_EUSAGE, FIRN_ERANGE; FIRN_ESYSTEM: no ff1. */
FIRN_API int firn_order_open(firn_order **order, const char *keys, const uint8_t key[16],
                             const char *module_dir, firn_error *error);
/* Writes the order number of an integer. FIRN_ERANGE: the integer has more digits. */
FIRN_API int firn_order_write(firn_order *order, char text[FIRN_ORDER_SIZE], uint64_t integer,
                              firn_error *error);
/* Reads an order number. FIRN_ETEXT: another length, not a digit, or a wrong check digit;
 * FIRN_EMISMATCH: another key id. Without check digit, every number of the length is valid. */
FIRN_API int firn_order_read(firn_order *order, uint64_t *integer, const char *text, size_t length,
                             firn_error *error);
/* Opens the segment of a series, from `start` to the greatest integer. FIRN_ENAMESPACE: the series
 * was used with another key under this key id, or another form, so its numbers could collide. */
FIRN_API int firn_order_series(const firn_order *order, firn_segment **segment, const char *series,
                               int64_t start, firn_store *store, firn_error *error);
FIRN_API void firn_order_close(firn_order *order); /* Frees, and erases the key. NULL is allowed. */

/* ---- mask ------------------------------------------------------------------------------------ */
#define FIRN_MASK_KEY_SIZE 32 /* bytes of a secret key */
/* A mask: another ID for each ID, which shows neither time nor volume, and which only the key turns
 * back. Two IDs never get the same masked ID of one mask. A masked ID authorises nobody: every
 * number is the masked form of some ID. One thread at a time. */
typedef struct firn_mask firn_mask;
/* Opens the mask of a name and a secret key of random bytes. `keys`: name=WORD (needed: 1 to 63
 * letters, digits, . _ and -); width=63 (the default: integers that are not negative), any other
 * 20..128 (bits), or uuid (a UUID of version=1..8 (7) gives one of version 4);
 * key_number=0..999999999 (1). Any other name, width, version or number is another mask.
 * width=uuid47 is UUIDv47 as other programs have it: it hides the millisecond of a uuid7 alone, and
 * takes a key of 16 bytes and 16 zeros. width=uuid8 gives UUIDs of version 8, whose first hex digit
 * is the number of the key, 0..15, for UUIDs of version 7 before the year 2527. from=, as=: the
 * text forms of IDs and of masked IDs; uuid for UUIDs, base32 above 64 bits, else dec. prefix=WORD:
 * masked texts begin with the prefix and the number of the key, such as ord_1_; as= is then base58.
 * mac=0|20: masked texts end with a MAC of 20 bits, 4 letters. It is the default with prefix=, and
 * if as= is another form than from= and of letters and digits, such as base58, unless fingerprint=
 * is of the mask without a MAC. fingerprint=HEX: FIRN_EUSAGE unless firn_mask_fingerprint returns
 * this. The permutation is FF1 with AES-128 and radix 2; its key comes from the secret one by
 * HKDF-SHA256. `module_dir` (may be NULL) is searched first. FIRN_EUSAGE, FIRN_ERANGE;
 * FIRN_ESYSTEM: no ff1. */
FIRN_API int firn_mask_open(firn_mask **mask, const char *keys,
                            const uint8_t key[FIRN_MASK_KEY_SIZE], const char *module_dir,
                            firn_error *error);
/* The same with a key, and its number, of a file of `firn mask keygen`, which only its owner may be
 * able to read. key_number= chooses the key if the file has several; with prefix= or width=uuid8,
 * this key masks and all unmask. The library erases its copy of the keys. FIRN_EUSAGE: not such a
 * file; FIRN_EIO. */
FIRN_API int firn_mask_load(firn_mask **mask, const char *keys, const char *key_file,
                            const char *module_dir, firn_error *error);
/* The width of the IDs, masked or not, for firn_parse: 64 for width=63, 128 for width=uuid. */
FIRN_API uint32_t firn_mask_bits(const firn_mask *mask);
/* The text form of IDs (from=), or of masked IDs (as=). */
FIRN_API int firn_mask_form(const firn_mask *mask, bool masked);
/* 8 hex digits that another key, key number, name, width, version or MAC changes, except once in
 * 4*10^9 times; for each key, with commas between them. Not secret. Valid until the mask is
 * closed. */
FIRN_API const char *firn_mask_fingerprint(const firn_mask *mask);
/* Masks `count` IDs; `masked` may be `ids`. FIRN_ERANGE: an ID is too great or negative;
 * FIRN_EMISMATCH: not a UUID of the version. Masks all IDs or none. */
FIRN_API int firn_mask_apply(firn_mask *mask, firn_id *masked, const firn_id *ids, size_t count,
                             firn_error *error);
/* Turns masked IDs back; `ids` may be `masked`. Errors as firn_mask_apply: a wrong key or name
 * gives other IDs, not an error. FIRN_EMISMATCH: not a UUID of version 4, or of version 8 with the
 * number of a key; FIRN_EUSAGE: the mask has prefix=, so only a text names its key. */
FIRN_API int firn_mask_undo(firn_mask *mask, firn_id *ids, const firn_id *masked, size_t count,
                            firn_error *error);
/* The masked form of the text of an ID. FIRN_ETEXT; errors as of firn_mask_apply. */
FIRN_API int firn_mask_write(firn_mask *mask, char text[FIRN_TEXT_SIZE], const char *id,
                             size_t length, firn_error *error);
/* The ID of a masked text. FIRN_EMISMATCH: another MAC (one text in 2^20 passes by chance), or the
 * number of a key that the mask does not have. FIRN_ETEXT; errors as of firn_mask_undo. */
FIRN_API int firn_mask_read(firn_mask *mask, char text[FIRN_TEXT_SIZE], const char *masked,
                            size_t length, firn_error *error);
#define FIRN_MASK_FRAME_SIZE 40 /* room for either end of a masked text */
/* Writes the two ends of a masked text, before and after the masked ID in its form: prefix and number
 * of the key, the same for each ID, and the MAC, 4 letters; "" without them. For IDs of
 * firn_mask_apply. */
FIRN_API void firn_mask_frame(const firn_mask *mask, char before[FIRN_MASK_FRAME_SIZE],
                              char after[FIRN_MASK_FRAME_SIZE], const firn_id *masked);
FIRN_API void firn_mask_close(firn_mask *mask); /* Frees, and erases the key. NULL is allowed. */

/* ---- zone ------------------------------------------------------------------------------------ */
/* A time zone. Read-only, with the rules that the machine's zone database had when it was opened. */
typedef struct firn_zone firn_zone;
/* Opens UTC, an offset as +hh:mm, or a name of the zone database, such as Europe/Berlin.
 * FIRN_EUSAGE: no such zone; FIRN_ESYSTEM: the machine has no zone database. */
FIRN_API int firn_zone_open(firn_zone **zone, const char *name, firn_error *error);
/* The offset of local time at `sec`, seconds since 1970, in seconds east of UTC. */
FIRN_API int32_t firn_zone_offset(const firn_zone *zone, int64_t sec);
FIRN_API void firn_zone_close(firn_zone *zone); /* NULL is allowed. */

/* ---- series ---------------------------------------------------------------------------------- */
#define FIRN_SERIES_SIZE 80 /* room for a number of a series */
/* Dated numbers for people, such as INV2026/0000042: their counter begins at 1 in each period of
 * local time. A number is never issued twice, for any clock values, and names its own period. Not
 * gapless: a process that ends without closing loses the rest of its block. One thread at a time. */
typedef struct firn_series firn_series;
/* Opens the series of a name (1..63 bytes of UTF-8). `keys`: template=TEXT of letters, digits, - /
 * . _ : + # and {year} {month} {day} {weekyear} {week} {yearday} {counter:DIGITS} {damm} {luhn}
 * {mod97}; zone=UTC|+hh:mm|NAME (UTC); restart=never|day|week|month|year (the shortest period that
 * the template names); late=0..366 (0), how many later periods may begin before a period is closed;
 * grow=0|1 (0), a counter that needs more digits gets them; block=1..1000000 (1), how many counters
 * to reserve at a time; key_file=FILE of `firn mask keygen` masks the counter, which needs the module
 * ff1. The store keeps all but `block` and the file at the first number; without template the
 * stored definition applies. Close it before the store. FIRN_EUSAGE, FIRN_ERANGE; FIRN_ESYSTEM: no
 * zone database; errors of a store. */
FIRN_API int firn_series_open(firn_series **series, const char *name, const char *keys,
                              firn_store *store, const firn_clock *clock, firn_error *error);
/* Issues exactly n numbers (1..1000000) of one period, or none: of the present, or of the time `at`
 * if that is not NULL. FIRN_EEND: the period is closed, or it has no counter left; FIRN_ERANGE:
 * `at` is in a period to come; FIRN_ECLOCK: the clock is earlier than the series, or ahead of the store;
 * FIRN_ENAMESPACE: the series has another definition; FIRN_EBACK: advance; errors of a store. */
FIRN_API int firn_series_next(firn_series *series, const firn_time *at,
                              char (*texts)[FIRN_SERIES_SIZE], size_t n, firn_error *error);
/* The number that the store would grant next. Reserves nothing. Errors as firn_series_next, but no
 * FIRN_EBACK. */
FIRN_API int firn_series_peek(firn_series *series, const firn_time *at, char text[FIRN_SERIES_SIZE],
                              firn_error *error);
/* Pure. Reads a number: its counter. FIRN_ETEXT: another form, a wrong date or check digit. */
FIRN_API int firn_series_read(const firn_series *series, int64_t *counter, const char *text,
                              size_t length, firn_error *error);
/* Makes the counter of the period of `at` (NULL: now) continue at `from` or later, except in blocks
 * of other handles. In the present period this cures FIRN_EBACK, if `from` is above every counter of
 * that period; earlier periods are then closed. FIRN_EBACK in an earlier period. */
FIRN_API int firn_series_advance(firn_series *series, const firn_time *at, int64_t from,
                                 firn_error *error);
/* Closes every period before the one of `before`, for ever, except for blocks that other handles
 * have. FIRN_ERANGE: in a period to come; FIRN_ECLOCK: this machine's clock is ahead of the store's;
 * FIRN_EUSAGE: the store cannot; errors of a store. */
FIRN_API int firn_series_prune(firn_series *series, const firn_time *before, firn_error *error);
/* The definition, as keys. Valid as long as the series. */
FIRN_API const char *firn_series_definition(const firn_series *series);
/* Explains a mark or floor of a series in a listing, from its layout: "2026-11-26 138" is the first
 * counter that was never reserved, and its period. Returns `text`; "": not a series. */
FIRN_API char *firn_series_mark(char text[FIRN_SERIES_SIZE], const char *layout, int64_t slot);
/* Gives back unused counters, unless another process reserved after them; frees the series. */
FIRN_API int firn_series_close(firn_series *series, firn_error *error);

#ifdef __cplusplus
}
#endif
#endif
