/* SPDX-License-Identifier: MIT */
/* firn: IDs for every row, event, order and transaction of a distributed system.
 *
 * An ID is issued from a window of slots that a durable store has granted to one node, so no
 * clock, pause, crash or fork can make it twice; reading an ID, packing one from its fields and
 * bounding a time range are pure functions.
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
 * In order of life: error, id, time, scheme, text, clock and entropy, store, generator, range,
 * order.
 * Every function that can fail returns 0 or a negative FIRN_E... code and, when `error` is not
 * NULL, fills it in; results are untouched on failure, but for IDs, which may then be all zero.
 * What threads and forked children may do with each function: docs/reference/threads.md. */
#ifndef FIRN_FIRN_H
#define FIRN_FIRN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FIRN_API __attribute__((visibility("default")))
#else
#define FIRN_API
#endif

#define FIRN_VERSION "0.1.0" /* the one place: the build reads it from here */

/* The version of the library that is running, as "0.1.0". */
FIRN_API const char *firn_version(void);

/* ---- error ----------------------------------------------------------------------------------- */

/* Every failure: enum name, value, short sentence. The command's exit status follows from the
 * code (docs/reference/errors.md). */
#define FIRN_ERRORS(X)                                                                             \
    X(USAGE, -1, "a key, name or argument is not known or not of its form")                        \
    X(RANGE, -2, "a value is outside the bounds of its field")                                     \
    X(LAYOUT, -3, "the instant is outside what the layout can hold")                               \
    X(TEXT, -4, "the text is not an ID of this form")                                              \
    X(MISMATCH, -5, "the ID does not carry the constants of this scheme")                          \
    X(NAMESPACE, -6, "the namespace belongs to another layout")                                    \
    X(BUSY, -7, "the node is in use")                                                              \
    X(EXHAUSTED, -8, "no ID is left within the bounds that were set")                              \
    X(WINDOW, -9, "the window is used up and could not be renewed")                                \
    X(CLOCK, -10, "the clock cannot be used")                                                      \
    X(STORE, -11, "the store is not available")                                                    \
    X(UNKNOWN, -12, "the store did not say whether the request was carried out")                   \
    X(FORKED, -13, "this process is a child of the one that opened the handle")                    \
    X(CLONED, -14, "another copy of this process image is running")                                \
    X(ENTROPY, -15, "the system gives no randomness")                                              \
    X(MEMORY, -16, "out of memory")                                                                \
    X(IO, -17, "input or output failed")                                                           \
    X(UNSORTED, -18, "IDs of this scheme do not lie together by time")                             \
    X(SYSTEM, -19, "the system lacks something that is needed")                                    \
    X(BACK, -20, "the store has gone back, so what it granted before is not known")

enum {
    FIRN_OK = 0,
#define FIRN_X(name, value, text) FIRN_E##name = (value),
    FIRN_ERRORS(FIRN_X)
#undef FIRN_X
};

/* A failure in words: value, bound and cure, one line without its end. The caller owns it. */
typedef struct firn_error {
    int32_t code;
    char text[204]; /* at most 200 bytes and the terminating zero */
} firn_error;

/* The short sentence of a code; never NULL. */
FIRN_API const char *firn_strerror(int code);
/* The name of a code: "BUSY" for FIRN_EBUSY, "OK" for 0, "?" for a code that is not in the list. */
FIRN_API const char *firn_errname(int code);

/* ---- id -------------------------------------------------------------------------------------- */

/* An unsigned integer of `bits` bits, 1..160. A value: copied, compared, never allocated. Bits
 * above `bits` are 0. */
typedef struct firn_id {
    uint64_t low;  /* bits 63..0 */
    uint64_t high; /* bits 127..64 */
    uint32_t top;  /* bits 159..128 */
    uint32_t bits; /* the width */
} firn_id;

/* Less than, equal or greater than 0, by value alone. */
FIRN_API int firn_id_cmp(const firn_id *a, const firn_id *b);
/* Writes the (bits + 7) / 8 bytes of the ID, most significant first; returns how many. */
FIRN_API size_t firn_id_bytes(uint8_t out[20], const firn_id *id);
/* Reads ceil(bits / 8) bytes. FIRN_ERANGE: bits not 1..160, or bits above the width are set. */
FIRN_API int firn_id_from_bytes(firn_id *id, const uint8_t *bytes, uint32_t bits,
                                firn_error *error);

/* ---- time ------------------------------------------------------------------------------------ */

/* An exact instant: UTC seconds since 1970-01-01 and 0..999999999 ns, so -0.5 s is {-1,
 * 500000000}. Functions that return a code answer any other ns with FIRN_ERANGE. */
typedef struct firn_time {
    int64_t sec;
    int32_t ns;
} firn_time;

#define FIRN_TIME_SIZE 48 /* room for any instant as text, and its zero */

/* RFC 3339 with any offset and up to nine digits, years above 9999 with a sign, or
 * @SECONDS[.FRACTION] since 1970, negative too. FIRN_ETEXT tells at which character it stopped. */
FIRN_API int firn_time_parse(firn_time *time, const char *text, size_t length, firn_error *error);
/* RFC 3339 in UTC with `digits` (0..9) of the second; returns `text`. Years above 9999 as
 * +10889-08-02T... */
FIRN_API char *firn_time_format(char text[FIRN_TIME_SIZE], const firn_time *time, int digits);
/* Whole nanoseconds since 1970 as decimal text, exact for every instant; returns `text`. */
FIRN_API char *firn_time_unix_ns(char text[FIRN_TIME_SIZE], const firn_time *time);
/* Less than, equal or greater than 0 as `a` is before, at or after `b`. */
FIRN_API int firn_time_cmp(const firn_time *a, const firn_time *b);

/* ---- scheme ---------------------------------------------------------------------------------- */

#define FIRN_SLICES_MAX 12
#define FIRN_NAME_SIZE  24

/* What a slice holds. */
enum firn_role {
    FIRN_ROLE_CONST,    /* a constant: written when packing, checked when reading */
    FIRN_ROLE_TIME,     /* ticks since the epoch */
    FIRN_ROLE_SEQUENCE, /* counts within a tick */
    FIRN_ROLE_COUNTER,  /* runs on over ticks, modulo its width */
    FIRN_ROLE_RANDOM,   /* drawn for each ID */
    FIRN_ROLE_NODE,     /* a part of the node */
    FIRN_ROLE_ADDRESS,  /* a 48-bit address of the node; random ones are multicast */
    FIRN_ROLE_PROCESS,  /* drawn once a process, and again after a fork */
    FIRN_ROLE_USER,     /* a number that the caller gives, 0 when it does not */
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
    FIRN_FORM_UNSIGNED, /* dec without a sign, in writing and in reading */
    FIRN_FORM_FLAKE,    /* base62 without padding */
    FIRN_FORM_TYPEID,   /* prefix_ and 26 lower-case Crockford digits */
    FIRN_FORM_DATED,    /* yyyyMMddHHmmssSSS and digits: of time-random and time-member */
    FIRN_FORM_COUNT
};

enum firn_sorts { FIRN_SORTS_NO, FIRN_SORTS_PER_NODE, FIRN_SORTS_BY_TICK, FIRN_SORTS_YES };
/* FIRN_SORTS_PER_NODE: among IDs of one node; FIRN_SORTS_BY_TICK: by tick only, in any order within. */

enum firn_node_rule {
    FIRN_NODE_NONE,     /* no node: a probability */
    FIRN_NODE_OPTIONAL, /* random; reserved when the fields that `node_fields` names are given */
    FIRN_NODE_REQUIRED  /* reserved: given, ordinal or claimed */
};

enum firn_start { FIRN_START_ZERO, FIRN_START_RANDOM, FIRN_START_ROLLING };

/* One slice of an ID, in wire order. A field may lie in several slices; it is known by the index
 * of its first one. */
typedef struct firn_slice {
    char name[16];  /* of the field; for a constant its name, or "" */
    uint8_t role;   /* enum firn_role */
    uint8_t bits;   /* 1..128 */
    uint8_t from;   /* the bit of the field that is this slice's lowest, 0..127 */
    uint8_t group;  /* 0: plain; g: written with its groups of g bits in reverse order */
    uint64_t value; /* of a constant */
} firn_slice;

/* A scheme: one row of the table, or a user's own. Read-only; the table's live as long as the
 * library. */
typedef struct firn_scheme {
    char name[FIRN_NAME_SIZE];
    uint32_t bits;        /* 1..160 */
    uint32_t tick_ns;     /* length of a tick; 0: no time */
    firn_time epoch;      /* of tick 0 */
    uint32_t slice_count; /* 1..FIRN_SLICES_MAX */
    firn_slice slices[FIRN_SLICES_MAX];
    uint8_t form;            /* default text form */
    uint8_t sorts;           /* enum firn_sorts: is slot order also the order of the IDs? */
    uint8_t node_rule;       /* enum firn_node_rule */
    uint8_t start;           /* enum firn_start: where the sequence begins in a new tick */
    uint64_t start_below;    /* of FIRN_START_RANDOM and ROLLING: the start is below this */
    uint64_t counter_step;   /* added to the counter for each ID; 0: no counter */
    bool read_only;          /* never generated */
    bool monotonic;          /* the random field of a tick goes on from the last one */
    bool keyed;              /* its text is made and read with a key: firn_order */
    int16_t packer;          /* its packer in the table, -1 for a layout of the user's */
    const char *node_fields; /* of FIRN_NODE_OPTIONAL: the fields that make it a reserved node; of
                            * FIRN_NODE_REQUIRED: the fields that must be given, never claimed */
    const char *ns;          /* the namespace it shares with another row, or NULL: its own */
    const char *note;        /* what to know about it, for people */
    const char *source;      /* where the layout was published */
} firn_scheme;

/* A field's value; most fields use `low` only. */
typedef struct firn_value {
    uint64_t low, high;
} firn_value;

/* The fields of one ID; a field's value stands at the index of its first slice. */
typedef struct firn_fields {
    uint32_t given; /* bit i: value[i] is given */
    firn_value value[FIRN_SLICES_MAX];
} firn_fields;

/* The i-th scheme of the table, or NULL past its end. */
FIRN_API const firn_scheme *firn_scheme_at(size_t i);
/* By name, or NULL. */
FIRN_API const firn_scheme *firn_scheme_find(const char *name);
/* A scheme of the table by name, or a row written as text ("time:41/ms@@2024-01-01 node:10
 * sequence:12"), with its `epoch`, its `bits` (a/b/c: widths of the fields in wire order) and its
 * `digits` (1..18, of time-random) changed unless they are NULL. FIRN_EUSAGE: no such scheme
 * (names the nearest), bad row, or it has nothing of that kind to change; FIRN_ERANGE: widths do
 * not add up, digits out of bounds. */
FIRN_API int firn_scheme_make(firn_scheme *scheme, const char *text, const char *epoch,
                              const char *bits, const char *digits, firn_error *error);
#define FIRN_LAYOUT_SIZE 512
/* The row in the grammar of firn_scheme_make, epoch included; returns `text`. */
FIRN_API char *firn_scheme_layout(char text[FIRN_LAYOUT_SIZE], const firn_scheme *scheme);
/* The index of a field's first slice, or -1. Constants count by their name. */
FIRN_API int firn_scheme_field(const firn_scheme *scheme, const char *name);
/* The index of the first slice of the field that slice i belongs to (i itself for most). */
FIRN_API uint32_t firn_scheme_first(const firn_scheme *scheme, uint32_t i);
/* Width of the field whose first slice is i: 1..128. */
FIRN_API uint32_t firn_scheme_width(const firn_scheme *scheme, uint32_t i);
/* The greatest value of that field: all its bits set, but where the text has decimal digits for
 * it (time-random, time-member) what these can tell. */
FIRN_API firn_value firn_scheme_max(const firn_scheme *scheme, uint32_t i);
/* The first instant that is refused. `whole`: of the bits; else of what is issued, which stops
 * before the first negative number where the text is signed. Returns false when there is none
 * (64-bit time), or no time. */
FIRN_API bool firn_scheme_end(const firn_scheme *scheme, bool whole, firn_time *end);
/* The tick of an instant, cut towards the past. FIRN_ELAYOUT: before the epoch or at or past the
 * end of the bits. */
FIRN_API int firn_scheme_tick(const firn_scheme *scheme, const firn_time *time, uint64_t *tick,
                              firn_error *error);
/* The instant at which a tick begins. */
FIRN_API void firn_scheme_time(const firn_scheme *scheme, uint64_t tick, firn_time *time);
/* How many decimals of the second a tick needs: 0, 2, 3, 6 or 7. */
FIRN_API int firn_scheme_digits(const firn_scheme *scheme);

/* Sets one field from text: decimal, 0x hex, colon-hex for addresses; "time" takes an instant,
 * "tick" the raw time. FIRN_EUSAGE: no such field, constant, or twice; FIRN_ERANGE: too wide;
 * FIRN_ETEXT; FIRN_ELAYOUT. */
FIRN_API int firn_fields_set(firn_fields *fields, const firn_scheme *scheme, const char *name,
                             const char *value, firn_error *error);
/* A field as text: colon-hex for addresses, full-width 0x hex for random bits, else decimal.
 * Returns `text`. */
#define FIRN_VALUE_SIZE 48
FIRN_API char *firn_fields_get(char text[FIRN_VALUE_SIZE], const firn_fields *fields,
                               const firn_scheme *scheme, uint32_t i);

/* Pure. Packs fields into an ID; each field that is not constant must be given. FIRN_EUSAGE: one is
 * missing; FIRN_ERANGE: one is too great. */
FIRN_API int firn_pack(firn_id *id, const firn_scheme *scheme, const firn_fields *fields,
                       firn_error *error);
/* Pure. Takes an ID apart into its fields. FIRN_EMISMATCH: another width, a constant differs, or a field is above its most. */
FIRN_API int firn_unpack(firn_fields *fields, const firn_scheme *scheme, const firn_id *id,
                         firn_error *error);
/* Pure. The least and the greatest ID of [from, to): ticks floor(from) to ceil(to) - 1; `pinned`
 * (may be NULL) holds the fields that stand before the time. FIRN_EUSAGE: a leading field is
 * missing, from >= to; FIRN_ELAYOUT; FIRN_EUNSORTED: mirrored or split time, with what to use
 * instead. */
FIRN_API int firn_range(firn_id *least, firn_id *greatest, const firn_scheme *scheme,
                        const firn_fields *pinned, const firn_time *from, const firn_time *to,
                        firn_error *error);
/* Pure. The same content in another scheme: uuid1 <-> uuid6 <-> uuid1-swapped. FIRN_EUSAGE:
 * their fields differ. */
FIRN_API int firn_convert(firn_id *out, const firn_scheme *to, const firn_id *id,
                          const firn_scheme *from, firn_error *error);
/* Pure. uuid3 or uuid5: `space` is dns, url, oid, x500 or a UUID. FIRN_EUSAGE: another scheme, a
 * bad namespace. */
FIRN_API int firn_digest(firn_id *id, const firn_scheme *scheme, const char *space,
                         const void *name, size_t length, firn_error *error);
/* Pure. The counter before the first ID of locality-sequential at an instant: MD5 of the UTC
 * time to ten minutes. */
FIRN_API uint32_t firn_locality_start(const firn_time *time);

/* ---- text ------------------------------------------------------------------------------------ */

#define FIRN_TEXT_SIZE 168 /* room for any ID in any form (160 binary digits) and its zero */

/* The name of a form, or NULL: dec hex uuid urn braced base32 base32hex base36 base58 base62 bin,
 * unsigned flake typeid dated. */
FIRN_API const char *firn_form_name(int form);
/* The form of that name, or -1. */
FIRN_API int firn_form_find(const char *name);
/* Characters an ID of this width takes in this form; 0: the form does not take it (uuid is for
 * 128 bits, dated for those of time-random and time-member). For dec, unsigned, flake and
 * time-member's, which are not padded, the most; for typeid without its prefix. */
FIRN_API size_t firn_form_width(int form, uint32_t bits);
/* Writes the ID and a zero; returns `text`. dec is signed when the ID has 64 bits. A form that
 * does not take the width gives "" (ask firn_form_width first), and so does dated for an ID that
 * firn_unpack of such a row would refuse. */
FIRN_API char *firn_format(char text[FIRN_TEXT_SIZE], const firn_id *id, int form);
/* Reads an ID from its text in one form. Strict: letter case aside, each ID has exactly one text.
 * FIRN_ETEXT tells at which character it stopped, counted from 1, and why. typeid takes any valid
 * prefix. */
FIRN_API int firn_parse(firn_id *id, int form, uint32_t bits, const char *text, size_t length,
                        firn_error *error);

/* One way to read a text. */
typedef struct firn_reading {
    const firn_scheme *scheme;
    int form;
    firn_id id;
} firn_reading;

#define FIRN_READINGS_MAX 64
/* The schemes of the table that a text is plausibly an ID of, best first, judged by constants, form
 * and time, never by the present clock; returns how many (at most FIRN_READINGS_MAX), 0 for none:
 * numbers below 10^13, times since 1970 and hashes, for example. Readings may be of two IDs: digits
 * only are decimal, and hex too where a scheme's own form is hex and has as many. Compare before
 * you convert. form: only that form, or -1. */
FIRN_API size_t firn_guess(firn_reading readings[FIRN_READINGS_MAX], const char *text,
                           size_t length, int form);
/* The same, and behind the *plausible first readings those that fit by chance: a 64-bit number fits
 * most schemes of 64 bits. Returns how many there are of both. */
FIRN_API size_t firn_guess_all(firn_reading readings[FIRN_READINGS_MAX], size_t *plausible,
                               const char *text, size_t length, int form);

/* ---- clock and entropy ----------------------------------------------------------------------- */

/* A clock; NULL stands for the system's. Methods return 0 or a FIRN_E code and may be called by
 * any thread. */
typedef struct firn_clock {
    uint32_t version; /* 1 */
    void *self;
    int (*wall)(void *self, firn_time *now); /* required: UTC, may step */
    int (*steady)(void *self,
                  int64_t *ns); /* required: never steps, counts suspension (CLOCK_BOOTTIME) */
    int (*pause)(void *self, int64_t ns); /* required: sleeps; may return early */
} firn_clock;

/* A source of randomness; NULL stands for the system's, in per-thread blocks that are erased as
 * used. */
typedef struct firn_entropy {
    uint32_t version; /* 1 */
    void *self;
    int (*fill)(void *self, void *out, size_t size); /* required: all of it or a FIRN_E code */
} firn_entropy;

/* ---- store ----------------------------------------------------------------------------------- */

#define FIRN_SLOT_MAX  (INT64_C(1) << 62) /* marks are 0 .. FIRN_SLOT_MAX */
#define FIRN_KEY_SIZE  64                 /* a key and its zero */
#define FIRN_NS_SIZE   256                /* a namespace and its zero */
#define FIRN_NOTE_SIZE 128                /* a note and its zero */

/* One reservation: [first, first + count) for the caller alone, first = max(high, earliest) <=
 * latest. */
typedef struct firn_request {
    const char *ns;     /* namespace */
    const char *layout; /* its layout: stored at first use, another one is refused */
    const char *key;    /* node, node@tick, a job, or of integers 1 or the offset */
    int64_t count;      /* 1 .. FIRN_SLOT_MAX - latest */
    int64_t earliest;   /* 0 .. latest */
    int64_t latest;
    uint64_t
        grant; /* a fresh random number a request; the same when the same request is sent again */
    const char *note; /* who holds it, for people */
    int64_t
        guard; /* the slot that begins 30 s from now: nothing before it is granted any more once the
                       * engine turns out to be another one than when the namespace was last reserved from,
                       * or to have gone back; 0: then nothing is granted at all (integers, history) */
} firn_request;

/* What a key stands at. */
typedef struct firn_mark {
    int64_t high;   /* the first slot that nobody was granted */
    uint64_t grant; /* of the reservation that set it; 0 after a give back */
} firn_mark;

/* One line of a listing; the strings live as long as the call. */
typedef struct firn_holding {
    const char *ns, *layout, *key, *note;
    firn_mark mark;
} firn_holding;

/* Not 0: stop, and return that. It must not call the store. */
typedef int firn_visit(void *context, const firn_holding *holding);

/* Seams of a store: tests pass them, by argument. The zero value is right for everybody else. */
typedef struct firn_store_options {
    void (*failpoint)(void *self,
                      const char *name); /* called at named points before and after every write */
    void *failpoint_self;
    const char *vfs;        /* sqlite: the name of the VFS that does its system calls */
    const char *module_dir; /* where modules are looked for first */
    bool unsafe;            /* take an engine or a place that may lose what it acknowledged */
    bool must_exist;        /* sqlite: do not make a store that is not there (create=no) */
    int64_t wait_ms;        /* how long a verb may take in all; 0: 5000 */
    void (*notice)(void *self, const char *text); /* what people should know of the opening */
    void *notice_self;
} firn_store_options;

/* A store's plug: one const struct a module, exported as `firn_store_module`. All methods are
 * called by any thread, one at a time for each handle. A module takes nothing from libfirn. */
typedef struct firn_store_ops {
    uint32_t version;   /* 1 */
    const char *scheme; /* of its URLs: "sqlite" */
    /* required */
    int (*open)(void **self, const char *url, const firn_store_options *options, firn_error *error);
    /* required; 0 fills first; FIRN_EBUSY fills held; FIRN_EUNKNOWN: perhaps carried out;
     * FIRN_ENAMESPACE; FIRN_ESTORE; FIRN_EBACK: without a guard only */
    int (*reserve)(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                   firn_error *error);
    /* required; lowers high from `mine->high` to `high` if mark and grant are still `mine`, and
     * sets the grant to 0; FIRN_EBUSY when they are not */
    int (*give_back)(void *self, const char *ns, const char *key, const firn_mark *mine,
                     int64_t high, firn_error *error);
    /* required; every key of a namespace, or of all (ns NULL), ordered by namespace and key */
    int (*list)(void *self, const char *ns, firn_visit *visit, void *context, firn_error *error);
    int (*now)(void *self, firn_time *now, firn_error *error); /* optional: the engine's clock */
    /* optional; one sentence: why what this engine acknowledged may be lost all the same (it was
     * taken because of unsafe=1, or may be taken but should not); NULL: it keeps it. Lives as long
     * as the handle. */
    const char *(*caution)(void *self);
    void (*close)(void *self); /* required */
} firn_store_ops;

typedef struct firn_store firn_store;

/* Opens a store by URL: "memory:", "sqlite:PATH", or NULL for the default (sqlite in
 * $XDG_STATE_HOME/firn or /var/lib/firn for root). The caller closes it, after every generator
 * on it. FIRN_EUSAGE: an unknown engine. */
FIRN_API int firn_store_open(firn_store **store, const char *url, const firn_store_options *options,
                             firn_error *error);
/* A store of the caller's own making; `self` is closed with it. */
FIRN_API int firn_store_wrap(firn_store **store, const firn_store_ops *ops, void *self,
                             firn_error *error);
/* Reserves slots: *first is the first of them. FIRN_ERANGE: earliest < 0, latest < earliest, count < 1
 * or latest > FIRN_SLOT_MAX - count; FIRN_EBUSY: fills in `held`, the mark that stands there;
 * FIRN_ENAMESPACE; FIRN_ESTORE; FIRN_EUNKNOWN: send the same request again. */
FIRN_API int firn_store_reserve(firn_store *store, const firn_request *request, int64_t *first,
                                firn_mark *held, firn_error *error);
/* Lowers the mark to `high`, if it is still `mine`. FIRN_EBUSY: it is not. Not to be sent again. */
FIRN_API int firn_store_give_back(firn_store *store, const char *ns, const char *key,
                                  const firn_mark *mine, int64_t high, firn_error *error);
/* Calls `visit` for each mark of a namespace, or of all (NULL), in the order of namespace and key. */
FIRN_API int firn_store_list(firn_store *store, const char *ns, firn_visit *visit, void *context,
                             firn_error *error);
/* The time of the engine's clock. FIRN_ESYSTEM: the engine has none. */
FIRN_API int firn_store_now(firn_store *store, firn_time *now, firn_error *error);
/* Why what the engine acknowledged may be lost, one sentence, or NULL; as long as the store. */
FIRN_API const char *firn_store_caution(const firn_store *store);
/* Closes and frees; no generator or range may be using the store. NULL is allowed. */
FIRN_API void firn_store_close(firn_store *store);

/* ---- generator ------------------------------------------------------------------------------- */

typedef struct firn_gen firn_gen;

/* Everything a generator stands on. The zero value of each member is the default; set `size`. */
typedef struct firn_config {
    size_t size;           /* sizeof(firn_config) */
    const char *scheme;    /* required: a name, or a row as text */
    const char *keys;      /* "key=value key=value"; docs/reference/keys.md lists them */
    firn_store *store;     /* the caller's; or NULL: */
    const char *store_url; /* opened when a store is needed at all, and closed with the generator */
    const firn_store_options *store_options;
    const firn_clock *clock;                      /* outlives the generator */
    const firn_entropy *entropy;                  /* outlives the generator */
    void (*notice)(void *self, const char *text); /* what people should know; must not call firn */
    void *notice_self;
    const char *note; /* stored with each reservation; NULL: program, host and pid */
    bool
        has_renewer; /* firn_next leaves the store to firn_gen_step, in a renewer of the caller's */
} firn_config;

/* For people who just want IDs: a generator with system clock and entropy, and the default store
 * if it needs one. Close it with firn_close, which gives the rest of its window back. Errors:
 * any of the list. */
FIRN_API int firn_open(firn_gen **gen, const char *scheme, const char *keys, firn_error *error);
/* The same with all settings, stores, clocks and callbacks of the caller's. */
FIRN_API int firn_open_with(firn_gen **gen, const firn_config *config, firn_error *error);
/* Issues one ID. Any thread; no lock, allocation or system call but on the way to a renewal.
 * FIRN_EEXHAUSTED: ahead of the clock by max_lead_ms; FIRN_EWINDOW, FIRN_ESTORE, FIRN_EBUSY: no
 * window; FIRN_ECLOCK: stepped back beyond back_ms; FIRN_ELAYOUT: the layout has ended;
 * FIRN_EFORKED. */
FIRN_API int firn_next(firn_gen *gen, firn_id *id, firn_error *error);
/* Issues exactly n, in order, or none. */
FIRN_API int firn_next_n(firn_gen *gen, firn_id *ids, size_t n, firn_error *error);
/* The same for rows of at most 64 bits, as plain integers. FIRN_EUSAGE: a wider row. */
FIRN_API int firn_next_u64(firn_gen *gen, uint64_t *ids, size_t n, firn_error *error);
/* Issues n back-dated IDs, the first at `time`, a full tick running on into the next ones within
 * max_lead_ms. They never share a node with live issue; with a row that needs a store and none,
 * FIRN_ESTORE. */
FIRN_API int firn_at(firn_gen *gen, const firn_time *time, firn_id *ids, size_t n,
                     firn_error *error);
/* Does what is due (claim, renew) and tells after how many ms to call again. Any thread. */
FIRN_API int firn_gen_step(firn_gen *gen, int64_t *wait_ms, firn_error *error);
/* The generator's scheme, with its keys applied; lives as long as the generator. */
FIRN_API const firn_scheme *firn_gen_scheme(const firn_gen *gen);

/* What a generator does at the moment; a snapshot. */
typedef struct firn_status {
    size_t size;              /* sizeof(firn_status), set by the caller */
    bool reserved;            /* its slots come from a store */
    bool held;                /* it holds a window now */
    uint64_t node;            /* the slices that are the node, joined */
    int64_t first, next, end; /* slots of the window; next is the first not issued */
    int64_t lead_ns;          /* of the last ID before the clock, negative when behind */
    uint64_t claims, renewals, give_backs, store_errors;
    uint64_t steps_back_absorbed, steps_back_left; /* clock steps within and beyond back_ms */
    uint64_t jumps_ahead;                          /* more than 5 s against the steady clock */
    bool unsafe;
} firn_status;
/* Fills in the members that `status->size` has room for. Any thread. */
FIRN_API void firn_gen_status(firn_gen *gen, firn_status *status);
/* Ends issue, gives windows back, frees. No other thread may be using `gen`. The result is that
 * of the give back; the generator is gone in any case. In a forked child nothing of the parent's
 * is given back. */
FIRN_API int firn_close(firn_gen *gen, firn_error *error);

/* ---- job -------------------------------------------------------------------------------------- */

/* One job: IDs for old rows that have a time but none, in the order in which they come. The same
 * rows and the same config give the same IDs, on every machine, with or without a store. Rows of
 * one instant are numbered; a full tick runs on into the next free ones. A node belongs to one
 * job: with a store it is taken for good under the job's name, without one the caller keeps it
 * apart. Not for two threads at once. */
typedef struct firn_job firn_job;

/* The zero value of each member is the default; set `size`. */
typedef struct firn_job_config {
    size_t size;         /* sizeof(firn_job_config) */
    const char *scheme;  /* required: a name, or a row as text */
    const char *keys;    /* fields that are pinned, and ns node epoch bits digits unsigned */
    firn_store *store;   /* used while opening only; NULL: none, the caller keeps the node apart */
    const char *name;    /* of the job, 1..63 characters; required with a store */
    uint64_t digest;     /* of the input, and of what else the caller does to the rows: with the
                          * same name, scheme, keys, seed and bounds it is the same job only if it
                          * is the same */
    const char *seed;    /* random fields follow from it alone: one seed is for one job, or two may
                          * make the same IDs. Required, and not "", when the row has any */
    int64_t shift_ms;    /* rows of a full tick move on by at most this much, 0..86400000 */
    int64_t disorder_ms; /* rows come at most this much earlier than one before; 0: in any order.
                          * Ticks further back are forgotten. Memory: 16 bytes a tick that is kept,
                          * in a table 3/8 to 3/4 full: 22 to 43, and 64 while it grows */
    void (*notice)(void *self, const char *text); /* what people should know; must not call firn */
    void *notice_self;
} firn_job_config;

/* Opens a job. FIRN_EUSAGE: a row without time, a key that is none of a job's, no node, name or seed;
 * FIRN_ERANGE; FIRN_EBUSY: the name was used with another digest or config, or the node is used,
 * or none is left; FIRN_ESTORE and the other errors of a store. */
FIRN_API int firn_job_open(firn_job **job, const firn_job_config *config, firn_error *error);
/* The ID of the next row. *shift_ns: how far it was moved into the future, from the tick of `time`
 * on. A row that is refused changes nothing. FIRN_ELAYOUT; FIRN_EEXHAUSTED: no slot is free within
 * shift_ms; FIRN_ERANGE: earlier than disorder_ms allows; FIRN_EFORKED; FIRN_EMEMORY. */
FIRN_API int firn_job_next(firn_job *job, const firn_time *time, firn_id *id, int64_t *shift_ns,
                           firn_error *error);
/* The job's scheme, with its keys applied; lives as long as the job. */
FIRN_API const firn_scheme *firn_job_scheme(const firn_job *job);
/* Was the job begun before, with the same digest? False without a store. */
FIRN_API bool firn_job_again(const firn_job *job);
/* Frees the job and wipes what follows from its seed. NULL is allowed. */
FIRN_API void firn_job_close(firn_job *job);

/* ---- range ----------------------------------------------------------------------------------- */

typedef struct firn_segment firn_segment;

/* Integers on a store, unique under their key: serial (step 1), ticket (increment and offset),
 * segment (adaptive step). `key`: its name, 1..63 bytes of UTF-8. keys: kind=serial|ticket|segment step=N increment=N offset=N start=N
 * end=N adapt=0|1. The store outlives the range. */
FIRN_API int firn_segment_open(firn_segment **range, const char *key, const char *keys,
                               firn_store *store, const firn_clock *clock, firn_error *error);
/* The next integer. FIRN_EEXHAUSTED: past `end`; FIRN_ESTORE; FIRN_EBACK: the store has gone back,
 * so somebody has to say from where on (firn_segment_advance). Any thread. */
FIRN_API int firn_segment_next(firn_segment *range, int64_t *value, firn_error *error);
/* A block of `count` integers for the caller alone: *first, *first + increment, ... */
FIRN_API int firn_segment_block(firn_segment *range, int64_t count, int64_t *first,
                                firn_error *error);
/* For threads that may not wait, beside a renewer that calls firn_segment_step: 1 to `most` integers of
 * those fetched already, *first, *first + increment, ..., `count` of them. Never asks the store.
 * *due (may be NULL): firn_segment_step has something to do now. FIRN_EWINDOW: none is fetched, ask
 * again when firn_segment_step has run; FIRN_ERANGE. */
FIRN_API int firn_segment_take(firn_segment *range, int64_t most, int64_t *first, int64_t *count,
                               bool *due, firn_error *error);
/* Exactly `count` integers in one block, greater than all that this range has handed out: a rest of a
 * block that is too short is dropped. `fetch_more`: asks the store when they are not fetched, for
 * renewers; else FIRN_EWINDOW. FIRN_EEXHAUSTED, FIRN_ERANGE, FIRN_ESTORE,
 * FIRN_EBACK. */
FIRN_API int firn_segment_exact(firn_segment *range, int64_t count, bool fetch_more, int64_t *first,
                                bool *due, firn_error *error);
/* How many integers are fetched and not handed out, about. Any thread, no lock. */
FIRN_API int64_t firn_segment_left(const firn_segment *range);
/* What lies between two integers of the range: 1, or the increment of a ticket. */
FIRN_API int64_t firn_segment_increment(const firn_segment *range);
/* The next integer that the store would grant; takes nothing, so somebody may be faster. What this
 * range has fetched already lies before it. FIRN_EEXHAUSTED. */
FIRN_API int firn_segment_peek(firn_segment *range, int64_t *next, firn_error *error);
/* Nothing below `least` (0 to `end`) is granted any more under this key. A store that has gone back serves the name
 * again, and then grants nothing below `least` to any server of a ticket: `least` must be above all numbers that any
 * of them handed out. *next: the first number that is left, never lower than before. */
FIRN_API int firn_segment_advance(firn_segment *range, int64_t least, int64_t *next,
                                  firn_error *error);
/* Fetches the next segment when it is due and tells after how many ms to ask again. Any thread. */
FIRN_API int firn_segment_step(firn_segment *range, int64_t *wait_ms, firn_error *error);
/* Gives the block fetched ahead back, or the rest of the present one, where nobody came after it;
 * frees. */
FIRN_API int firn_segment_close(firn_segment *range, firn_error *error);

/* ---- order ----------------------------------------------------------------------------------- */

/* The plug of a cipher over numbers of so many decimal digits: one const struct a module, exported
 * as `firn_cipher_module`. One call at a time for each handle. A module takes nothing from
 * libfirn. */
typedef struct firn_cipher_ops {
    uint32_t version; /* 1 */
    const char *name; /* "ff1" */
    /* all required; the key is copied, and wiped by close */
    int (*open)(void **self, const uint8_t key[16], uint32_t digits, const uint8_t *tweak,
                size_t tweak_size, firn_error *error);
    int (*encrypt)(void *self, uint64_t *out, uint64_t in, firn_error *error);
    int (*decrypt)(void *self, uint64_t *out, uint64_t in, firn_error *error);
    void (*close)(void *self);
} firn_cipher_ops;

#define FIRN_ORDER_SIZE 24 /* room for an order number and its zero */

/* Order numbers: decimal, of one length, an integer in disguise. Whoever has the key turns one
 * back; nobody else learns from them how many there are, or which stand beside one. The same
 * integer gives the same number, so integers come from a store. Not for two threads at once. */
typedef struct firn_order firn_order;

/* [key id digit] FF1 of an integer (NIST SP 800-38G, AES-128, radix 10) [check digit: Damm].
 * keys: digits=6..19 (10) of the integer, key_id=0..9 (none) in front, check=0|1 (0), tweak=HEX of
 * at most 32 bytes (none). A new key takes a new key id: numbers of two keys are else alike by
 * chance. `key` is copied, and wiped by firn_order_close. `module_dir` is where the module is looked
 * for first, or NULL. FIRN_EUSAGE, FIRN_ERANGE; FIRN_ESYSTEM: no module ff1, or no libcrypto. */
FIRN_API int firn_order_open(firn_order **order, const char *keys, const uint8_t key[16],
                             const char *module_dir, firn_error *error);
/* Writes the order number of an integer and a zero. FIRN_ERANGE: the integer has more digits. */
FIRN_API int firn_order_write(firn_order *order, char text[FIRN_ORDER_SIZE], uint64_t integer,
                              firn_error *error);
/* Reads an order number. FIRN_ETEXT: another length, no digit, or the check digit does not fit;
 * FIRN_EMISMATCH: of another key id. Without a check digit every number of that length is one. */
FIRN_API int firn_order_read(firn_order *order, uint64_t *integer, const char *text, size_t length,
                             firn_error *error);
/* The integers of a series, from `start` up to what the digits hold, never one twice: a range,
 * which the caller closes before the store. FIRN_ENAMESPACE: the series had another key under this key
 * id, or numbers of another shape, so that two numbers of it could be alike. */
FIRN_API int firn_order_series(const firn_order *order, firn_segment **range, const char *series,
                               int64_t start, firn_store *store, firn_error *error);
/* Frees, and wipes the key. NULL is allowed. */
FIRN_API void firn_order_close(firn_order *order);

#ifdef __cplusplus
}
#endif
#endif
