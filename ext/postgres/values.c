/* SPDX-License-Identifier: MIT */
/* Converts SQL values, errors to SQLSTATEs, and options to recipes. Knows no scheme by name. */
#include "extension.h"

#include "common/int.h"
#include "errors.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bswap.h"
#include "pure_verbs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include <ctype.h>

/* ---- errors ---------------------------------------------------------------------------------- */

static const struct {
    int code, state;
} states[] = {{FIRN_EUSAGE, ERRCODE_INVALID_PARAMETER_VALUE},
              {FIRN_ERANGE, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE},
              {FIRN_ELAYOUT, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE},
              {FIRN_ETEXT, ERRCODE_INVALID_TEXT_REPRESENTATION},
              {FIRN_EMISMATCH, ERRCODE_INVALID_PARAMETER_VALUE},
              {FIRN_ENAMESPACE, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE},
              {FIRN_EBUSY, ERRCODE_OBJECT_IN_USE},
              {FIRN_EEXHAUSTED, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED},
              {FIRN_ETAKEN, ERRCODE_DUPLICATE_OBJECT},
              {FIRN_EEND, ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED},
              {FIRN_EFULL, ERRCODE_PROGRAM_LIMIT_EXCEEDED},
              {FIRN_EWINDOW, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE},
              {FIRN_EMEMORY, ERRCODE_OUT_OF_MEMORY},
              {FIRN_EIO, ERRCODE_IO_ERROR},
              {FIRN_ESTORE, ERRCODE_CONNECTION_FAILURE},
              {FIRN_EUNKNOWN, ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN},
              {FIRN_EBACK, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE},
              {FIRN_EUNSORTED, ERRCODE_FEATURE_NOT_SUPPORTED}};

static int state_of(int code) {
    for (size_t i = 0; i < lengthof(states); i++) {
        if (states[i].code == code) {
            return states[i].state;
        }
    }
    return ERRCODE_SYSTEM_ERROR;
}

/* A text that was cut in the middle of a character is not one of the server's encoding. */
static void make_valid(char *text) {
    if (!pg_verifymbstr(text, (int)strlen(text), true)) {
        for (char *position = text; *position != '\0'; position++) {
            *position = IS_HIGHBIT_SET(*position) ? '?' : *position;
        }
    }
}

void firn_fail(const firn_error *error) {
    firn_error told = *error;
    char *cure = NULL;
    translate_error(&told, SURFACE_POSTGRES);
    make_valid(told.text);
    if (told.cure_at > 0) {
        told.text[told.cure_at - 2] = '\0';
        cure = told.text + told.cure_at;
    }
    ereport(ERROR, (errcode(state_of(error->code)), errmsg("firn: %s", told.text),
                    cure != NULL ? errhint("%c%s%s", toupper((unsigned char)cure[0]), cure + 1,
                                           cure[strlen(cure) - 1] == '?' ? "" : ".")
                                 : 0));
}

void firn_refuse(int code, const char *format, ...) {
    firn_error error;
    va_list arguments;
    va_start(arguments, format);
    set_error_list(&error, code, format, arguments);
    va_end(arguments);
    firn_fail(&error);
}

void firn_tell(void *self, const char *text) {
    ereport(LOG, (errmsg("firn: %s", text)));
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Seconds from 1970 to 2000, where the server's timestamps begin. */
#define YEAR_2000 ((int64)(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)

firn_time firn_time_of(TimestampTz instant) {
    if (TIMESTAMP_NOT_FINITE(instant)) {
        firn_refuse(FIRN_ELAYOUT, "an ID has no infinite time: give a finite timestamp");
    }
    int64 sec = instant / USECS_PER_SEC, us = instant % USECS_PER_SEC;
    if (us < 0) {
        sec--;
        us += USECS_PER_SEC;
    }
    return (firn_time){sec + YEAR_2000, (int32)us * 1000};
}

/* Does an expression read a timestamp or a date as a timestamptz, although nobody wrote so? */
static bool lacks_zone(Node *node, void *unused) {
    if (node != NULL && IsA(node, FuncExpr)) {
        const FuncExpr *cast = (const FuncExpr *)node;
        if (cast->funcformat == COERCE_IMPLICIT_CAST &&
            (cast->funcid == F_TIMESTAMPTZ_TIMESTAMP || cast->funcid == F_TIMESTAMPTZ_DATE)) {
            return true;
        }
    }
    return node != NULL && expression_tree_walker(node, lacks_zone, unused);
}

void firn_check_zone(FunctionCallInfo fcinfo, int argument) {
    const Node *call = fcinfo->flinfo->fn_expr;
    if (call != NULL && IsA(call, FuncExpr) &&
        lacks_zone(list_nth(((const FuncExpr *)call)->args, argument), NULL)) {
        firn_refuse(FIRN_EUSAGE,
                    "a time without a zone depends on the time zone of the session: name its zone, "
                    "as in COLUMN::timestamp AT TIME ZONE 'UTC'");
    }
}

/* Cut to the microsecond, towards the past. */
TimestampTz firn_timestamp_of(const firn_time *time) {
    int64 sec, us;
    if (pg_sub_s64_overflow(time->sec, YEAR_2000, &sec) ||
        pg_mul_s64_overflow(sec, USECS_PER_SEC, &us) ||
        pg_add_s64_overflow(us, time->ns / 1000, &us) || !IS_VALID_TIMESTAMP(us)) {
        char text[FIRN_TIME_SIZE];
        firn_refuse(FIRN_ELAYOUT, "%s is outside the range of timestamp: use firn_show",
                    firn_time_format(text, time, 6));
    }
    return us;
}

/* ---- IDs ------------------------------------------------------------------------------------- */

firn_id firn_id_of_uuid(const pg_uuid_t *uuid) {
    uint64 words[2];
    memcpy(words, uuid->data, sizeof words);
    return (firn_id){.high = pg_ntoh64(words[0]), .low = pg_ntoh64(words[1]), .bits = 128};
}

static Datum uuid_datum(const firn_id *id) {
    pg_uuid_t *uuid = palloc(sizeof *uuid);
    uint64 words[2] = {pg_hton64(id->high), pg_hton64(id->low)};
    memcpy(uuid->data, words, sizeof words);
    return UUIDPGetDatum(uuid);
}

static Datum bytes_datum(const firn_id *id) {
    uint8 bytes[20];
    size_t size = firn_id_bytes(bytes, id);
    bytea *out = palloc(VARHDRSZ + size);
    SET_VARSIZE(out, VARHDRSZ + size);
    memcpy(VARDATA(out), bytes, size);
    return PointerGetDatum(out);
}

Datum firn_datum(const firn_id *id, enum firn_type type, int form) {
    char text[FIRN_TEXT_SIZE];
    switch (type) {
    case FIRN_AS_INT:
        if (id->bits > 64) {
            firn_refuse(FIRN_EUSAGE,
                        "an ID of %u bits does not fit bigint: use the function for uuid or text",
                        id->bits);
        }
        return Int64GetDatum((int64)id->low);
    case FIRN_AS_UUID:
        if (id->bits != 128) {
            firn_refuse(FIRN_EUSAGE,
                        "an ID of %u bits does not fit uuid: use the function for bigint or text",
                        id->bits);
        }
        return uuid_datum(id);
    case FIRN_AS_BYTES:
        return bytes_datum(id);
    default:
        firn_format(text, id, form);
        if (text[0] == '\0') {
            firn_error error;
            pure_form_refuse(form, &error);
            firn_fail(&error);
        }
        return PointerGetDatum(cstring_to_text(text));
    }
}

bool firn_is_signed(const firn_scheme *scheme, bool unsigned_) {
    return scheme->bits == 64 && scheme->sorts != FIRN_SORTS_NO && !unsigned_;
}

void firn_refuse_sign(void) {
    firn_refuse(FIRN_ERANGE, "this ID would be a negative bigint, out of order: use text, or "
                             "unsigned=1 for new IDs");
}

text *firn_text_keep(text *item) {
    return item == NULL ? NULL : (text *)PG_DETOAST_DATUM_COPY(PointerGetDatum(item));
}

bool firn_text_same(const text *a, const text *b) {
    size_t size = a != NULL ? VARSIZE_ANY_EXHDR(a) : 0;
    return size == (b != NULL ? VARSIZE_ANY_EXHDR(b) : 0) &&
           (size == 0 || memcmp(VARDATA_ANY(a), VARDATA_ANY(b), size) == 0);
}

/* ---- options --------------------------------------------------------------------------------- */

#define BLANKS " \t\n"

enum { OPTIONS_SIZE = 1024, WORDS_MAX = 64 };

/* Keys of a generator that SQL must not set: the server's settings choose the store, and decide
 * what is safe. */
static const char *const forbidden[] = {"store", "unsafe"};
/* Keys that are passed to a generator of the backend. */
static const char *const steering[] = {
    "nodes",    "ordering", "clock",    "stale",    "entropy", "full",    "start",    "back",
    "max_back", "mode",     "max_lead", "max_wait", "window",  "history", "max_skew", "reach"};

static bool is_one_of(const char *name, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Keys that change the scheme or the namespace. */
static const char *const shaping[] = {"epoch", "bits", "digits", "ns", "unsigned"};

typedef struct recipe_word {
    char *key, *value;
} recipe_word;

/* Splits "key=value key=value" in place. */
static int split_words(recipe_word words[WORDS_MAX], char *text) {
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, BLANKS, &rest); word != NULL;
         word = strtok_r(NULL, BLANKS, &rest)) {
        char *sign = strchr(word, '=');
        if (sign == NULL || sign == word || count == WORDS_MAX) {
            firn_refuse(FIRN_EUSAGE, "option '%.40s' is not of the form key=value: write %s", word,
                        count == WORDS_MAX ? "fewer" : "it so");
        }
        *sign = '\0';
        for (int i = 0; i < count; i++) {
            if (strcmp(words[i].key, word) == 0) {
                firn_refuse(FIRN_EUSAGE, "%.40s is given twice: give it once", word);
            }
        }
        words[count++] = (recipe_word){word, sign + 1};
    }
    return count;
}

static const char *value_of(const recipe_word *words, int count, const char *key) {
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i].key, key) == 0) {
            return words[i].value;
        }
    }
    return NULL;
}

/* The namespace of a scheme as libfirn names it, so that both mean the same with one store. */
static void name_namespace(firn_recipe *recipe, const char *scheme, const char *epoch,
                           const char *bits) {
    const char *own = recipe->scheme.ns != NULL ? recipe->scheme.ns : recipe->scheme.name;
    int length;
    if (recipe->ns[0] != '\0') {
        strlcpy(recipe->name, recipe->ns, sizeof recipe->name);
        return;
    }
    length =
        snprintf(recipe->name, sizeof recipe->name, "%s%s%s%s%s",
                 recipe->scheme.packer < 0 ? scheme : own, epoch != NULL ? "@" : "",
                 epoch != NULL ? epoch : "", bits != NULL ? "/" : "", bits != NULL ? bits : "");
    if (length >= (int)sizeof recipe->name) {
        firn_refuse(FIRN_ERANGE, "the layout is too long to name a namespace: give ns=NAME");
    }
}

static void read_word(firn_recipe *recipe, const recipe_word *word, enum firn_reading_of what) {
    firn_error error;
    bool keys = what == FIRN_OF_KEYS;
    if (is_one_of(word->key, forbidden, lengthof(forbidden))) {
        firn_refuse(FIRN_EUSAGE, "%s is not an option in SQL: change the setting firn.%s",
                    word->key, word->key);
    }
    if (keys && strcmp(word->key, "ns") == 0) {
        if (strlcpy(recipe->ns, word->value, sizeof recipe->ns) >= 250 || word->value[0] == '\0') {
            firn_refuse(FIRN_ERANGE, "ns has %zu characters: 1 to 249", strlen(word->value));
        }
    } else if (strcmp(word->key, "prefix") == 0 &&
               firn_scheme_field(&recipe->scheme, "prefix") < 0) {
        FIRN_CHECK(pure_prefix(recipe->prefix, recipe->scheme.form, word->value,
                               strlen(word->value), &error));
    } else if (strcmp(word->key, "unsigned") == 0) {
        recipe->unsigned_ = strcmp(word->value, "1") == 0;
        if (!recipe->unsigned_ && strcmp(word->value, "0") != 0) {
            firn_refuse(FIRN_EUSAGE, "unsigned=%.20s is not valid: give 0 or 1", word->value);
        }
    } else if (keys && strcmp(word->key, "node") == 0 &&
               firn_scheme_field(&recipe->scheme, "node") < 0) {
        char *end;
        errno = 0;
        recipe->node = strtoull(word->value, &end, 0);
        recipe->node_given = true;
        if (*end != '\0' || !isdigit((unsigned char)word->value[0]) || errno != 0) {
            firn_refuse(FIRN_EUSAGE, "node=%.40s is not a number: give a number", word->value);
        }
    } else if (!keys || !is_one_of(word->key, steering, lengthof(steering))) {
        FIRN_CHECK(pure_field(&recipe->fields, &recipe->scheme, word->key, word->value, &error));
    }
}

static void add_word(char text[OPTIONS_SIZE], const recipe_word *word) {
    size_t length = strlen(text);
    snprintf(text + length, OPTIONS_SIZE - length, "%s%s=%s", length > 0 ? " " : "", word->key,
             word->value);
}

const char *firn_recipe_base(const firn_recipe *recipe, const char *scheme) {
    return firn_scheme_find(recipe->scheme.name) != NULL ? recipe->scheme.name : scheme;
}

/* "snowflake epoch=2024-01-01": the name, and the changes that follow it, or "". A layout stays
 * whole. */
static const char *split_scheme(const char **scheme) {
    char name[FIRN_NAME_SIZE];
    const char *start = *scheme + strspn(*scheme, BLANKS);
    size_t length = strcspn(start, BLANKS);
    snprintf(name, sizeof name, "%.*s", (int)Min(length, sizeof name), start);
    const firn_scheme *found = firn_scheme_find(name);
    if (found == NULL) {
        return "";
    }
    *scheme = found->name;
    start += length;
    start += strspn(start, BLANKS);
    for (const char *position = start; *position != '\0'; position += strspn(position, BLANKS)) {
        length = strcspn(position, BLANKS);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(position, "="), position);
        if (!is_one_of(name, shaping, 3)) { /* epoch, bits, digits */
            firn_refuse(FIRN_EUSAGE,
                        "'%.*s' does not change %s: use epoch=, bits= or digits=, once each",
                        (int)Min(length, 60), position, found->name);
        }
        position += length;
    }
    return start;
}

void firn_recipe_read(firn_recipe *recipe, const char *scheme, const char *options,
                      enum firn_reading_of what) {
    char text[OPTIONS_SIZE];
    recipe_word words[WORDS_MAX];
    firn_error error;
    const char *changes = split_scheme(&scheme);
    if (snprintf(text, sizeof text, "%s%s%s", changes, changes[0] != '\0' ? " " : "", options) >=
        (int)sizeof text) {
        firn_refuse(FIRN_ERANGE, "the options have %zu characters: at most %d",
                    strlen(changes) + strlen(options), OPTIONS_SIZE - 1);
    }
    int count = split_words(words, text);
    const char *epoch = value_of(words, count, "epoch"), *bits = value_of(words, count, "bits");
    const char *digits = value_of(words, count, "digits");
    memset(recipe, 0, sizeof *recipe);
    FIRN_CHECK(pure_scheme(&recipe->scheme, scheme, epoch, bits, digits, &error));
    if (what == FIRN_OF_FIELDS && options[0] != '\0') {
        FIRN_CHECK(pure_keyed_check(&recipe->scheme, "pack", &error));
    }
    for (int i = 0; i < count; i++) {
        const char *key = words[i].key;
        if (!is_one_of(key, shaping, 3)) { /* epoch, bits, digits */
            read_word(recipe, &words[i], what);
        }
        if (strcmp(key, "prefix") != 0) { /* the text's, not the generator's */
            add_word(recipe->keys, &words[i]);
        }
        if (is_one_of(key, shaping, lengthof(shaping))) {
            add_word(recipe->shape, &words[i]);
        }
    }
    name_namespace(recipe, scheme, epoch, bits);
}

/* ---- remembered at the call ------------------------------------------------------------------ */

typedef struct memo {
    text *scheme, *options;
    firn_recipe recipe;
} memo;

const firn_recipe *firn_recipe_at(FunctionCallInfo fcinfo, text *scheme, text *options) {
    memo *known = fcinfo->flinfo->fn_extra;
    if (known == NULL || !firn_text_same(known->scheme, scheme) ||
        !firn_text_same(known->options, options)) {
        firn_recipe recipe;
        firn_recipe_read(&recipe, text_to_cstring(scheme),
                         options != NULL ? text_to_cstring(options) : "", FIRN_OF_FIELDS);
        MemoryContext before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
        memo *made = palloc(sizeof *made);
        *made = (memo){firn_text_keep(scheme), firn_text_keep(options), recipe};
        MemoryContextSwitchTo(before);
        if (known != NULL) {
            pfree(known->scheme);
            if (known->options != NULL) {
                pfree(known->options);
            }
            pfree(known);
        }
        fcinfo->flinfo->fn_extra = known = made;
    }
    return &known->recipe;
}
