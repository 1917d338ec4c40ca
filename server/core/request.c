/* SPDX-License-Identifier: MIT */
/* Requests: see request.h. Reading turns words into generators, segments and numbers; answering
 * issues; what needs a store is copied and sent to a renewer. The way of request_answer to IDs and
 * integers takes no lock, allocates nothing after a worker's first batch, and asks no store. */
#include "request.h"

#include "answers.h"
#include "decimal.h"
#include "fault.h"
#include "form.h"
#include "reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- words ----------------------------------------------------------------------------------- */

int refuse_key(word key, const char *verb, const char *const *known, firn_error *error) {
    char name[32];
    const char *near = word_copy(key, name, sizeof name) ? firn_nearest(name, known) : NULL;
    return set_error(error, FIRN_EUSAGE, "%s takes no '%.*s'%s%s", verb, word_shown(key), key.text,
                     near != NULL ? ": did you mean " : "", near != NULL ? near : "");
}

static bool is_integer(word text) {
    size_t first = text.length > 0 && text.text[0] == '-'; /* a number, though none of ours */
    for (size_t i = first; i < text.length; i++) {
        if (text.text[i] < '0' || text.text[i] > '9') {
            return false;
        }
    }
    return text.length > first;
}

int read_count(int64_t *out, word key, word value, int64_t most, firn_error *error) {
    uint64_t number = 0;
    if (!is_integer(value)) {
        return set_error(error, FIRN_EUSAGE, "%.*s=%.*s is no number: ask for 1 to %" PRId64,
                         word_shown(key), key.text, word_shown(value), value.text, most);
    }
    if (value.text[0] != '-' && value.length <= 19) { /* so many digits fit; else 0 is as wrong */
        for (size_t i = 0; i < value.length; i++) {
            number = number * 10 + (uint64_t)(value.text[i] - '0');
        }
    }
    if (number < 1 || number > (uint64_t)most) {
        return set_error(error, FIRN_ERANGE, "%.*s=%.*s is out of bounds: ask for 1 to %" PRId64,
                         word_shown(key), key.text, word_shown(value), value.text, most);
    }
    *out = (int64_t)number;
    return FIRN_OK;
}

static bool is_count(word key) {
    return word_is(key, "count") || word_is(key, "n");
}

/* The value of a key, or one without text. */
static word value_of(const request *it, const char *key) {
    for (size_t i = 0; i < it->pair_count; i++) {
        if (word_is(it->pairs[i].key, key)) {
            return it->pairs[i].value;
        }
    }
    return (word){NULL, 0};
}

static int refuse_twice(const request *it, firn_error *error) {
    for (size_t i = 1; i < it->pair_count; i++) {
        for (size_t j = 0; j < i; j++) {
            word a = it->pairs[i].key, b = it->pairs[j].key;
            if (a.length == b.length && memcmp(a.text, b.text, a.length) == 0) {
                return set_error(error, FIRN_EUSAGE, "%.*s is given twice: give it once",
                                 word_shown(a), a.text);
            }
        }
    }
    return FIRN_OK;
}

/* ---- which generator ------------------------------------------------------------------------- */

/* The nearest name of a generator or of a scheme, or NULL. */
static const char *nearest_name(word name, char room[NAME_SIZE]) {
    enum { NAMES = 512 };
    const char *names[NAMES];
    size_t count = 0;
    const generator *g;
    for (size_t i = 0; (g = catalog_generator_at(i)) != NULL && count < NAMES / 2; i++) {
        names[count++] = g->name;
    }
    for (size_t i = 0; firn_scheme_at(i) != NULL && count < NAMES - 1; i++) {
        names[count++] = firn_scheme_at(i)->name;
    }
    names[count] = NULL;
    return word_copy(name, room, NAME_SIZE) ? firn_nearest(room, names) : NULL;
}

static int refuse_name(const request *it, firn_error *error) {
    word name = it->name;
    char room[NAME_SIZE];
    const char *near = nearest_name(name, room);
    if (catalog_segment(name) != NULL) {
        return set_error(
            error, FIRN_EUSAGE,
            "'%.*s' is a segment and no generator: INCR %.*s, or GET /v1/segments/NAME",
            word_shown(name), name.text, word_shown(name), name.text);
    }
    if (memmem(name.text, name.length, "time:", 5) != NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "clients name no layouts: add [generator NAME] with scheme = %.*s to"
                         " firn.ini",
                         word_shown(name), name.text);
    }
    return set_error(error, FIRN_EUSAGE, "there is no %sgenerator or scheme '%.*s': %s%s",
                     it->verb == VERB_BLOCK ? "segment, " : "", word_shown(name), name.text,
                     near != NULL ? "did you mean "
                                  : "FIRN.SCHEMES and GET /v1/schemes list the schemes",
                     near != NULL ? near : "");
}

static bool is_digest(const firn_scheme *scheme) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == FIRN_ROLE_DIGEST) {
            return true;
        }
    }
    return false;
}

/* A scheme of the table under its own name, which nobody has asked for yet. */
static int read_scheme(request *it, const firn_scheme *scheme, firn_error *error) {
    if (scheme->read_only) {
        return set_error(error, FIRN_EUSAGE, "%s is shown, never generated: %.120s", scheme->name,
                         scheme->note != NULL ? scheme->note : "take uuid4 or uuid7");
    }
    if (scheme->keyed) {
        return set_error(error, FIRN_EUSAGE,
                         "%s is made with a key, which this server has none of: firn new %s"
                         " --key-file FILE, or firn_order_open",
                         scheme->name, scheme->name);
    }
    if (scheme->node_rule == FIRN_NODE_REQUIRED && scheme->node_fields != NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "%s needs %s: add [generator NAME] with scheme=%s and it to firn.ini",
                         scheme->name, scheme->node_fields, scheme->name);
    }
    if (is_digest(scheme)) {
        it->digest = scheme;
        return FIRN_OK;
    }
    if (scheme->node_rule == FIRN_NODE_REQUIRED) {
        it->must_open = true; /* its renewer opens it */
        return FIRN_OK;
    }
    return catalog_open_scheme(&it->generator, scheme->name, true, error);
}

static int read_generator(request *it, firn_error *error) {
    char name[FIRN_NAME_SIZE];
    it->generator = catalog_generator(it->name);
    if (it->generator != NULL) {
        return FIRN_OK;
    }
    if (it->name.length == 0) {
        return set_error(error, FIRN_EUSAGE,
                         "no generator is named: name one, or a scheme, as snowflake or uuid7");
    }
    const firn_scheme *scheme =
        word_copy(it->name, name, sizeof name) ? firn_scheme_find(name) : NULL;
    return scheme != NULL ? read_scheme(it, scheme, error) : refuse_name(it, error);
}

/* The row of what is asked for, open or not. */
static const firn_scheme *scheme_of(const request *it) {
    char name[FIRN_NAME_SIZE];
    if (it->generator != NULL) {
        return it->generator->scheme;
    }
    return word_copy(it->name, name, sizeof name) ? firn_scheme_find(name) : NULL;
}

/* ---- reading what NEW and BLOCK of a generator ask ------------------------------------------- */

static int read_instant(request *it, const firn_scheme *scheme, word key, word value,
                        firn_error *error) {
    char text[FIRN_TIME_SIZE * 2];
    firn_fields fields = {0};
    bool tick = word_is(key, "tick");
    int index = scheme_time_index(scheme), code = FIRN_OK;
    if (it->dated) {
        return set_error(error, FIRN_EUSAGE, "time and tick say the same: give one");
    }
    if (index < 0) {
        return set_error(error, FIRN_EUSAGE, "%s has no time: leave %s out", scheme->name,
                         tick ? "tick" : "time");
    }
    if (!word_copy(value, text, sizeof text)) {
        return set_error(error, FIRN_ETEXT, "%.*s is no instant", word_shown(value), value.text);
    }
    if (!tick) { /* kept whole: the layout's bounds are checked behind it */
        code = firn_time_parse(&it->time, text, strlen(text), error);
    }
    if (code == FIRN_OK) {
        code = firn_fields_set(&fields, scheme, tick ? "tick" : "time", text, error);
    }
    if (code == FIRN_OK && tick) {
        firn_scheme_time(scheme, fields.value[index].low, &it->time);
    }
    it->dated = code == FIRN_OK;
    char *advice = code == FIRN_ELAYOUT ? strstr(error->text, ", epoch= or bits=") : NULL;
    if (advice != NULL) {
        *advice = '\0'; /* clients choose neither: another scheme is what is left */
    }
    return code == FIRN_ETEXT ? set_error(error, code, "%s=%.60s: %.120s", tick ? "tick" : "time",
                                          text, error->text)
                              : code;
}

/* How many back-dated IDs may be asked for at once: each instant that they fill is a reservation of
 * its own, for which the renewer leaves everything else. */
static int64_t max_dated(const request *it, const firn_scheme *scheme) {
    enum { INSTANTS_MOST = 64 };
    bool reserved = it->must_open || (it->generator != NULL && it->generator->renewer != NULL);
    bool random = false;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        uint8_t role = scheme->slices[i].role;
        bool counts = role == FIRN_ROLE_SEQUENCE || role == FIRN_ROLE_COUNTER;
        bits += counts ? scheme->slices[i].bits : 0;
        random = random || role == FIRN_ROLE_RANDOM;
    }
    return !reserved || bits >= 10 || (bits == 0 && random) ? BATCH_MAX
                                                            : (int64_t)INSTANTS_MOST << bits;
}

static int check_dated(const request *it, const firn_scheme *scheme, firn_error *error) {
    int64_t most = max_dated(it, scheme);
    return !it->dated || it->count <= most
               ? FIRN_OK
               : set_error(error, FIRN_ERANGE,
                           "%" PRId64 " back-dated IDs of %s take too many reservations: ask for at"
                           " most %" PRId64 " at once",
                           it->count, scheme->name, most);
}

/* Fields and keys of a generator are not for clients. */
static int refuse_setting(const request *it, const firn_scheme *scheme, word key,
                          firn_error *error) {
    static const char *const known[] = {"count", "time", "tick", "as", "prefix", NULL};
    char name[32];
    if (it->digest != NULL) {
        return set_error(error, FIRN_EUSAGE, "%s takes namespace and name, not '%.*s'",
                         scheme->name, word_shown(key), key.text);
    }
    /* of a word as short as `ns` nothing can be guessed */
    if (!word_copy(key, name, sizeof name) ||
        (key.length > 3 && firn_nearest(name, known) != NULL)) {
        return refuse_key(key, scheme->name, known, error);
    }
    return set_error(
        error, FIRN_EUSAGE,
        "%s is not for clients to choose: it is set in firn.ini under [generator %.63s]", name,
        it->generator != NULL ? it->generator->name : "NAME");
}

static int read_pair(request *it, const firn_scheme *scheme, word key, word value,
                     firn_error *error) {
    if (is_count(key)) {
        return read_count(&it->count, key, value, BATCH_MAX, error);
    }
    if (word_is(key, "as") || word_is(key, "prefix")) {
        return FIRN_OK; /* after the others: one depends on the other */
    }
    if (it->digest != NULL && (word_is(key, "namespace") || word_is(key, "name"))) {
        return FIRN_OK;
    }
    if (it->digest == NULL && (word_is(key, "time") || word_is(key, "tick"))) {
        return read_instant(it, scheme, key, value, error);
    }
    return refuse_setting(it, scheme, key, error);
}

static int read_form(request *it, const firn_scheme *scheme, firn_error *error) {
    word as = value_of(it, "as"), prefix = value_of(it, "prefix");
    int code = FIRN_OK;
    it->form = it->generator != NULL ? it->generator->form : scheme->form;
    if (as.text != NULL) {
        code = form_of(&it->form, scheme, as, error);
    }
    if (code == FIRN_OK && prefix.text != NULL) {
        code = prefix_of(it->prefix, it->form, prefix, error);
    } else if (code == FIRN_OK && it->generator != NULL && it->form == FIRN_FORM_TYPEID) {
        memcpy(it->prefix, it->generator->prefix, sizeof it->prefix);
    }
    return code;
}

static int check_digest(const request *it, firn_error *error) {
    bool space = value_of(it, "namespace").text != NULL;
    if (!space || value_of(it, "name").text == NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "%s needs %s: give namespace=dns|url|oid|x500|UUID and name=TEXT",
                         it->digest->name, space ? "name" : "namespace");
    }
    return it->count == 1
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE, "%s makes one ID of a name: leave count out",
                           it->digest->name);
}

static int read_new(request *it, firn_error *error) {
    int code = read_generator(it, error);
    if (code != FIRN_OK) {
        return code;
    }
    const firn_scheme *scheme = scheme_of(it);
    for (size_t i = 0; i < it->pair_count && code == FIRN_OK; i++) {
        code = read_pair(it, scheme, it->pairs[i].key, it->pairs[i].value, error);
    }
    if (code == FIRN_OK) {
        code = read_form(it, scheme, error);
    }
    if (code == FIRN_OK) {
        code = check_dated(it, scheme, error);
    }
    return code == FIRN_OK && it->digest != NULL ? check_digest(it, error) : code;
}

/* ---- reading what NEXT, BLOCK and LAST of a segment ask -------------------------------------- */

static int read_integers(request *it, word key, word value, firn_error *error) {
    int code = read_count(&it->count, key, value, max_catalog_block(), error);
    return code == FIRN_ERANGE ? set_error(error, code, "%.170s (max_block)", error->text) : code;
}

static int read_counts_only(request *it, const char *verb, firn_error *error) {
    static const char *const known[] = {"count", "n", NULL};
    int code = FIRN_OK;
    for (size_t i = 0; i < it->pair_count && code == FIRN_OK; i++) {
        word key = it->pairs[i].key;
        code = is_count(key) ? read_integers(it, key, it->pairs[i].value, error)
                             : refuse_key(key, verb, known, error);
    }
    return code;
}

/* No integers of it: is IDs what was meant? */
static int refuse_segment(word name, int code, firn_error *error) {
    char text[FIRN_NAME_SIZE];
    bool scheme = word_copy(name, text, sizeof text) && firn_scheme_find(text) != NULL;
    const char *kind = catalog_generator(name) != NULL ? "generator" : scheme ? "scheme" : NULL;
    return kind == NULL
               ? code
               : set_error(error, FIRN_EUSAGE,
                           "'%.*s' is a %s and no segment: FIRN.NEW %.*s, or GET /v1/new/NAME",
                           word_shown(name), name.text, kind, word_shown(name), name.text);
}

static int read_next(request *it, firn_error *error) {
    it->segment = catalog_segment(it->name);
    if (it->segment == NULL) {
        int code = catalog_may_create(it->name, error);
        if (code != FIRN_OK) {
            return refuse_segment(it->name, code, error);
        }
        it->must_open = it->wants_segment = true;
    }
    return read_counts_only(it, "a segment", error);
}

/* A segment of that name first, then a generator or scheme, then a segment to be made. */
static int read_block(request *it, firn_error *error) {
    char name[FIRN_NAME_SIZE];
    bool scheme = word_copy(it->name, name, sizeof name) && firn_scheme_find(name) != NULL;
    firn_error none;
    if (catalog_segment(it->name) != NULL || (!scheme && catalog_generator(it->name) == NULL &&
                                              catalog_may_create(it->name, &none) == FIRN_OK)) {
        return read_next(it, error);
    }
    int code = read_new(it, error);
    const firn_scheme *row = code == FIRN_OK ? scheme_of(it) : NULL;
    if (row != NULL && (row->bits > 64 || it->digest != NULL || it->dated)) {
        return set_error(error, FIRN_EUSAGE,
                         "a block is of integers, or of present IDs of at most 64 bits, and %s has"
                         " %u: ask for new ones with count",
                         row->name, (unsigned)row->bits);
    }
    return code;
}

static int read_last(request *it, firn_error *error) {
    it->segment = catalog_segment(it->name); /* NULL: none was issued */
    return it->pair_count == 0
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE, "the last integer takes a name only");
}

int request_read(request *it, firn_error *error) {
    static const enum role roles[] = {
#define VERB_X(id, name, role, meter) ROLE_##role,
        VERBS(VERB_X)
#undef VERB_X
    };
    it->generator = NULL;
    it->segment = NULL;
    it->digest = NULL;
    it->count = 1;
    it->form = FIRN_FORM_DEC;
    it->prefix[0] = '\0';
    it->dated = it->must_open = it->wants_segment = false;
    if (it->role < roles[it->verb]) {
        return set_error(error, FIRN_EUSAGE, "this needs a token of another role: say one first");
    }
    int code = it->pair_count > 1 ? refuse_twice(it, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    switch (it->verb) {
    case VERB_NEW:
        return read_new(it, error);
    case VERB_BLOCK:
        return read_block(it, error);
    case VERB_NEXT:
        return read_next(it, error);
    case VERB_LAST:
        return read_last(it, error);
    default:
        return FIRN_OK; /* checked when answered, which costs nothing else */
    }
}

/* ---- IDs ------------------------------------------------------------------------------------- */

/* Room for a batch, at a worker's first one. */
static int make_room(worker *it, bool narrow, firn_error *error) {
    if (narrow && it->numbers == NULL) {
        it->numbers = malloc(BATCH_MAX * sizeof *it->numbers);
    } else if (!narrow && it->ids == NULL) {
        it->ids = malloc(BATCH_MAX * sizeof *it->ids);
    }
    return (narrow ? (void *)it->numbers : (void *)it->ids) != NULL
               ? FIRN_OK
               : set_error(error, FIRN_EMEMORY, "out of memory for a batch of IDs");
}

/* Is this a failure that time or the renewer mends? */
static bool is_passing(int code) {
    return code == FIRN_EWINDOW || code == FIRN_ESTORE || code == FIRN_EUNKNOWN ||
           code == FIRN_EBUSY || code == FIRN_ECLOCK || code == FIRN_EIO;
}

/* The end of a segment is for good; a lead that is used up, for milliseconds. */
bool request_may_pass(const request *it, int code) {
    return is_passing(code) ||
           (code == FIRN_EEXHAUSTED && it->segment == NULL && !it->wants_segment);
}

/* No ID came: is it worth waiting? Says why as the renewer knows it, where it knows more. */
static int wait_for_gen(generator *it, int code, firn_error *error) {
    firn_error why;
    if (code == FIRN_EEXHAUSTED) {
        return it->waits ? REQUEST_LATER : code;
    }
    if (code == FIRN_ECLOCK) {
        return it->back_fails ? code : REQUEST_LATER;
    }
    if (code != FIRN_EWINDOW || it->renewer == NULL) {
        return code;
    }
    generator_want(it);
    int trouble = generator_trouble(it, &why);
    if (trouble != FIRN_OK) {
        *error = why;
    }
    return trouble == FIRN_OK || is_passing(trouble) ? REQUEST_LATER : trouble;
}

static int wait_for_opening(generator *it, firn_error *error) {
    set_error(error, FIRN_EWINDOW, "%s is not open yet: ask again in a moment", it->name);
    return wait_for_gen(it, FIRN_EWINDOW, error);
}

/* A single one has a faster way through the library than a batch of one. */
static int issue_one(firn_gen *gen, const worker *by, bool narrow, firn_error *error) {
    firn_id id;
    int code = firn_next(gen, narrow ? &id : by->ids, error);
    if (narrow && code == FIRN_OK) {
        by->numbers[0] = id.low;
    }
    return code;
}

static int issue(firn_gen *gen, const worker *by, bool narrow, size_t n, firn_error *error) {
    return n == 1   ? issue_one(gen, by, narrow, error)
           : narrow ? firn_next_u64(gen, by->numbers, n, error)
                    : firn_next_n(gen, by->ids, n, error);
}

static void reply_ids(const request *it, bool narrow, size_t n, reply *out) {
    const firn_scheme *scheme = it->generator->scheme;
    out->kind = narrow ? REPLY_NUMBERS : REPLY_IDS;
    out->count = n;
    out->numbers = narrow ? it->worker->numbers : NULL;
    out->ids = narrow ? NULL : it->worker->ids;
    out->is_signed = it->form == FIRN_FORM_DEC && scheme->bits == 64;
}

/* Where less is left than `times` ask for, half as many are tried, and so on: whoever came too much
 * is answered a millisecond later. One request for many gets all or none. */
static int answer_new(request *it, size_t times, reply *out, firn_error *error) {
    generator *from = it->generator;
    firn_gen *gen = atomic_load_explicit(&from->gen, memory_order_acquire);
    bool narrow = it->form == from->form ? from->narrow : is_narrow(from->scheme, it->form);
    size_t n = it->count > 1 ? (size_t)it->count : times < BATCH_MAX ? times : BATCH_MAX;
    if (gen == NULL) {
        return wait_for_opening(from, error);
    }
    int code = make_room(it->worker, narrow, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = issue(gen, it->worker, narrow, n, error);
    while (code == FIRN_EEXHAUSTED && it->count == 1 && n > 1) {
        n /= 2;
        code = issue(gen, it->worker, narrow, n, error);
    }
    if (code != FIRN_OK) {
        return wait_for_gen(from, code, error);
    }
    generator_tell(from, it->worker, narrow ? it->worker->numbers : NULL, it->worker->ids, n);
    reply_ids(it, narrow, n, out);
    return FIRN_OK;
}

static int answer_digest(request *it, reply *out, firn_error *error) {
    char space[64];
    word name = value_of(it, "name"), of = value_of(it, "namespace");
    int code = make_room(it->worker, false, error);
    if (code == FIRN_OK && !word_copy(of, space, sizeof space)) {
        code = set_error(error, FIRN_EUSAGE, "namespace=%.*s: dns, url, oid, x500 or a UUID",
                         word_shown(of), of.text);
    }
    if (code == FIRN_OK) {
        code = firn_digest(it->worker->ids, it->digest, space, name.text, name.length, error);
    }
    out->kind = REPLY_IDS;
    out->count = 1;
    out->ids = it->worker->ids;
    return code;
}

/* Back-dated ones of a row without a store; the others are an task. */
static int answer_dated(request *it, reply *out, firn_error *error) {
    if (it->generator->renewer != NULL) {
        return atomic_load(&it->generator->gen) != NULL ? REQUEST_TASK
                                                        : wait_for_opening(it->generator, error);
    }
    int code = make_room(it->worker, false, error);
    if (code == FIRN_OK) {
        code = generator_date(it->generator, &it->time, it->worker->ids, (size_t)it->count, error);
    }
    if (code == FIRN_OK) {
        generator_tell(it->generator, it->worker, NULL, it->worker->ids, (size_t)it->count);
        reply_ids(it, false, (size_t)it->count, out);
    }
    return code == FIRN_EWINDOW ? REQUEST_LATER : code;
}

/* ---- a block of a generator's IDs ------------------------------------------------------------ */

static json_t *number_text(uint64_t number, bool is_signed) {
    char text[24];
    return json_stringn(text, write_number(text, number, is_signed));
}

/* Runs of consecutive numbers: [["first", "last"], ...]. */
static int reply_runs(const request *it, reply *out, firn_error *error) {
    const uint64_t *numbers = it->worker->numbers;
    bool is_signed = out->is_signed;
    json_t *runs = json_array();
    for (size_t i = 0, first; i < out->count && runs != NULL; i++) {
        first = i;
        while (i + 1 < out->count && numbers[i + 1] == numbers[i] + 1) {
            i++;
        }
        json_t *run = json_pack("[o, o]", number_text(numbers[first], is_signed),
                                number_text(numbers[i], is_signed));
        if (json_array_append_new(runs, run) != 0) {
            json_decref(runs);
            runs = NULL;
        }
    }
    if (runs == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a block: ask for fewer");
    }
    out->kind = REPLY_JSON;
    out->json = runs;
    return FIRN_OK;
}

static int answer_runs(request *it, reply *out, firn_error *error) {
    it->form = is_narrow(it->generator->scheme, it->form) ? it->form : FIRN_FORM_UNSIGNED;
    int code = answer_new(it, 1, out, error);
    if (code == FIRN_OK && out->kind != REPLY_NUMBERS) {
        return set_error(error, FIRN_EUSAGE, "%s has no IDs of 64 bits to count: ask for IDs",
                         it->generator->name);
    }
    return code == FIRN_OK ? reply_runs(it, out, error) : code;
}

/* ---- integers -------------------------------------------------------------------------------- */

/* Nothing is fetched. An task helps where it is asked for; else the renewer is on its way. */
static int wait_for_range(segment *it, int code, firn_error *error) {
    firn_error why;
    if (code != FIRN_EWINDOW) {
        return code;
    }
    int trouble = segment_trouble(it, &why);
    segment_want(it);
    if (trouble != FIRN_OK) {
        *error = why;
    }
    return trouble == FIRN_OK || is_passing(trouble) ? REQUEST_LATER : trouble;
}

static void reply_block(const request *it, int64_t first, reply *out) {
    int64_t increment = it->segment->increment, last = first + (it->count - 1) * increment;
    out->kind = it->verb == VERB_BLOCK ? REPLY_RUN : REPLY_INTEGER;
    out->first = it->verb == VERB_BLOCK ? first : last;
    out->increment = increment;
    out->run = it->count;
    out->count = it->verb == VERB_BLOCK ? (size_t)it->count : 1;
    segment_tell(it->segment, it->worker, last, (uint64_t)it->count);
    meter_add(&it->worker->meter.ids, (uint64_t)it->count);
}

static int answer_block(request *it, firn_segment *range, reply *out, firn_error *error) {
    int64_t first;
    bool due = false;
    int code = firn_segment_exact(range, it->count, false, &first, &due, error);
    if (code == FIRN_EWINDOW) {
        return REQUEST_TASK;
    }
    if (code == FIRN_OK) {
        if (due) {
            segment_want(it->segment);
        }
        reply_block(it, first, out);
    }
    return code;
}

static int answer_next(request *it, size_t times, reply *out, firn_error *error) {
    segment *from = it->segment;
    firn_segment *range = atomic_load_explicit(&from->range, memory_order_acquire);
    int64_t first, count;
    bool due = false;
    if (range == NULL) {
        set_error(error, FIRN_EWINDOW, "%s is not open yet: ask again in a moment", from->name);
        return wait_for_range(from, FIRN_EWINDOW, error);
    }
    if (it->count > 1 || it->verb == VERB_BLOCK) {
        return answer_block(it, range, out, error);
    }
    int code = firn_segment_take(range, (int64_t)times, &first, &count, &due, error);
    if (code != FIRN_OK) {
        return wait_for_range(from, code, error);
    }
    if (due) {
        segment_want(from);
    }
    out->kind = REPLY_INTEGER;
    out->first = first;
    out->increment = from->increment;
    out->run = count;
    out->count = (size_t)count;
    segment_tell(from, it->worker, first + (count - 1) * from->increment, (uint64_t)count);
    meter_add(&it->worker->meter.ids, (uint64_t)count);
    return FIRN_OK;
}

static int answer_last(const request *it, reply *out) {
    int64_t last = it->segment == NULL ? INT64_MIN : segment_last(it->segment);
    out->kind = last == INT64_MIN ? REPLY_NIL : REPLY_INTEGER;
    out->first = last;
    out->increment = 1;
    out->count = 1;
    return FIRN_OK;
}

/* ---- all answers ----------------------------------------------------------------------------- */

/* Has somebody opened it meanwhile? What was meant, a generator or a segment, was settled when
 * it was read: the same name may be both. */
static void look_again(request *it) {
    if (it->wants_segment) {
        it->segment = catalog_segment(it->name);
    } else {
        it->generator = catalog_generator(it->name);
    }
    it->must_open = it->generator == NULL && it->segment == NULL;
}

int request_answer(request *it, size_t times, reply *out, firn_error *error) {
    out->count = 0;
    out->json = NULL;
    if (it->must_open) {
        look_again(it);
    }
    if (it->must_open || it->verb == VERB_NODES) {
        return REQUEST_TASK;
    }
    switch (it->verb) {
    case VERB_NEW:
        return it->dated            ? answer_dated(it, out, error)
               : it->digest != NULL ? answer_digest(it, out, error)
                                    : answer_new(it, times, out, error);
    case VERB_BLOCK:
        return it->segment != NULL ? answer_next(it, 1, out, error) : answer_runs(it, out, error);
    case VERB_NEXT:
        return answer_next(it, times, out, error);
    case VERB_LAST:
        return answer_last(it, out);
    case VERB_STATUS:
        return answer_status(it, out, error);
    case VERB_SPREAD:
        return answer_spread(it, out, error);
    default:
        return answer_reading(it, out, error);
    }
}

/* ---- tasks --------------------------------------------------------------------------------- */

struct sent_task {
    task task; /* first: the renewer knows it by this */
    request request;
    void (*finished)(void *self);
    void *self;
    renewer *renewer;
    int code;
    firn_error error;
    int64_t first; /* of a block */
    firn_id *ids;  /* back-dated */
    json_t *json;
    char *words; /* what the request's words were copied to */
};

/* In the renewer's thread, where it may wait for the store. */
static int run_opening(sent_task *sent) {
    char name[NAME_SIZE];
    request *it = &sent->request;
    word_copy(it->name, name, sizeof name); /* checked when it was read */
    return it->wants_segment ? catalog_open_segment(&it->segment, name, &sent->error)
                             : catalog_open_scheme(&it->generator, name, false, &sent->error);
}

static int run_dated(sent_task *sent) {
    request *it = &sent->request;
    sent->ids = malloc((size_t)it->count * sizeof *sent->ids);
    return sent->ids == NULL
               ? set_error(&sent->error, FIRN_EMEMORY, "out of memory for a batch of IDs")
               : generator_date(it->generator, &it->time, sent->ids, (size_t)it->count,
                                &sent->error);
}

static int run_block(sent_task *sent) {
    const request *it = &sent->request;
    return segment_fetch(it->segment, it->count, &sent->first, &sent->error);
}

static int run_nodes(sent_task *sent) {
    char ns[FIRN_NS_SIZE];
    const request *it = &sent->request;
    firn_store *store = renewer_store(sent->renewer, &sent->error);
    if (store == NULL) {
        return sent->error.code;
    }
    if (!word_copy(it->name, ns, sizeof ns)) {
        return set_error(&sent->error, FIRN_ERANGE, "a namespace has 1..%d characters",
                         FIRN_NS_SIZE - 1);
    }
    return answer_nodes(store, ns[0] != '\0' ? ns : NULL, &sent->json, &sent->error);
}

static void run_sent(task *self) {
    sent_task *sent = (sent_task *)self;
    const request *it = &sent->request;
    sent->code = it->must_open            ? run_opening(sent)
                 : it->verb == VERB_NODES ? run_nodes(sent)
                 : it->dated              ? run_dated(sent)
                                          : run_block(sent);
}

static void done_sent(task *self) {
    sent_task *sent = (sent_task *)self;
    sent->finished(sent->self);
}

/* The renewer that can do it. */
static renewer *renewer_for(const request *it, firn_error *error) {
    return it->must_open || it->verb == VERB_NODES ? catalog_renewer(error)
           : it->generator != NULL                 ? it->generator->renewer
                                                   : it->segment->renewer;
}

static char *copy_word(word *it, char *room) {
    if (it->length > 0) {
        memcpy(room, it->text, it->length);
    }
    it->text = room;
    return room + it->length;
}

/* The words of the request, into room of the task's. */
static bool copy_words(sent_task *sent) {
    request *it = &sent->request;
    size_t size = it->name.length + 1;
    for (size_t i = 0; i < it->pair_count; i++) {
        size += it->pairs[i].key.length + it->pairs[i].value.length;
    }
    char *at = sent->words = malloc(size);
    if (at == NULL) {
        return false;
    }
    at = copy_word(&it->name, at);
    for (size_t i = 0; i < it->pair_count; i++) {
        at = copy_word(&it->pairs[i].key, at);
        at = copy_word(&it->pairs[i].value, at);
    }
    return true;
}

int request_send(const request *it, void (*finished)(void *self), void *self, sent_task **out,
                 firn_error *error) {
    renewer *to = renewer_for(it, error);
    sent_task *sent = calloc(1, sizeof *sent);
    if (sent == NULL || to == NULL) {
        free(sent);
        return to == NULL ? error->code
                          : set_error(error, FIRN_EMEMORY, "out of memory for a request");
    }
    sent->task = (task){run_sent, done_sent, NULL};
    sent->request = *it;
    sent->finished = finished;
    sent->self = self;
    sent->renewer = to;
    if (!copy_words(sent)) {
        sent_free(sent);
        return set_error(error, FIRN_EMEMORY, "out of memory for a request");
    }
    *out = sent; /* first: it may be finished before renewer_send returns */
    if (!renewer_send(to, &sent->task)) {
        sent_free(sent);
        *out = NULL;
        return set_error(error, FIRN_ESTORE,
                         "%d requests wait for the store already: ask again later", TASKS_MAX);
    }
    return FIRN_OK;
}

int request_finish(sent_task *sent, reply *out, firn_error *error) {
    const request *it = &sent->request;
    out->count = 0;
    out->json = NULL;
    if (sent->code != FIRN_OK) {
        *error = sent->error;
        return sent->code;
    }
    if (it->must_open) {
        return REQUEST_LATER;
    }
    if (it->verb == VERB_NODES) {
        out->kind = REPLY_JSON;
        out->json = sent->json;
        sent->json = NULL;
    } else if (it->dated) {
        generator_tell(it->generator, it->worker, NULL, sent->ids, (size_t)it->count);
        reply_ids(it, false, (size_t)it->count, out);
        out->ids = sent->ids;
    } else {
        reply_block(it, sent->first, out);
    }
    return FIRN_OK;
}

void sent_free(sent_task *sent) {
    if (sent != NULL) {
        free(sent->ids);
        free(sent->words);
        json_decref(sent->json);
        free(sent);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

size_t write_number(char *out, uint64_t number, bool is_signed) {
    char digits[DECIMAL_MAX + 8]; /* a step writes eight bytes at once */
    size_t length = decimal_write_signed(digits, number, is_signed);
    memcpy(out, digits, length);
    return length;
}

size_t reply_write_id(char *out, const request *it, const reply *of, size_t i) {
    if (of->kind == REPLY_NUMBERS) {
        return write_number(out, of->numbers[i], of->is_signed);
    }
    size_t prefix = strlen(it->prefix);
    memcpy(out, it->prefix, prefix);
    firn_format(out + prefix, &of->ids[i], it->form);
    return prefix + strlen(out + prefix);
}
