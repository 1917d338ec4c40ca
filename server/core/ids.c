/* SPDX-License-Identifier: MIT */
/* NEW and RUNS. Issuing takes no lock, allocates only for a worker's first batch, and calls no
 * store. */
#include "verbs.h"

#include "catalog.h"
#include "describe.h"
#include "errors.h"
#include "id_form.h"
#include "masks.h"
#include "object.h"
#include "pure_verbs.h"
#include "reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- which generator ------------------------------------------------------------------------- */

/* The nearest name of a generator, or NULL. */
static const char *nearest_generator(const char *name) {
    enum { NAMES = 512 };
    const char *names[NAMES] = {NULL};
    const server_generator *g;
    for (size_t i = 0; (g = catalog_generator_at(i)) != NULL && i < NAMES - 1; i++) {
        names[i] = g->name;
    }
    return firn_nearest(name, names);
}

static int refuse_name(const server_request *request, firn_error *error) {
    word name = request->name;
    char room[NAME_SIZE];
    firn_scheme scheme;
    if (catalog_segment(name) != NULL) {
        return set_error(
            error, FIRN_EUSAGE,
            "'%.*s' is a segment, not a generator: use INCR %.*s or GET /v1/segments/NAME",
            word_shown(name), name.text, word_shown(name), name.text);
    }
    if (memmem(name.text, name.length, "time:", 5) != NULL ||
        firn_scheme_make(&scheme, word_named(name, room, sizeof room), NULL, NULL, NULL, error) ==
            FIRN_OK) {
        return set_error(
            error, FIRN_EUSAGE,
            "clients cannot use a layout: add [generator NAME] with scheme = %.*s to firn.ini",
            word_shown(name), name.text);
    }
    const bool spelled = error->cure == FIRN_CURE_SPELLING;
    const bool listed = error->cure == FIRN_CURE_LIST_SCHEMES;
    const char *near = listed ? nearest_generator(room) : NULL;
    firn_error no_segment;
    if (near == NULL && (spelled || listed) && catalog_may_create(name, &no_segment) == FIRN_OK) {
        char advice[ADVICE_SIZE];
        snprintf(advice, sizeof advice, "%s",
                 spelled ? error->text + error->cure_at
                         : "FIRN.SCHEMES and GET /v1/schemes list them.");
        return firn_error_set(error, FIRN_EUSAGE, spelled ? FIRN_CURE_SPELLING : FIRN_CURE_OTHER,
                              "there is no generator '" ERROR_VALUE(
                                  "%s") "': %s For integers, use INCR %s or GET /v1/segments/NAME",
                              room, advice, room);
    }
    return near == NULL
               ? error->code
               : firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_SPELLING,
                                "there is no generator '" ERROR_VALUE("%s") "': did you mean `%s`?",
                                room, near);
}

static bool is_digest(const firn_scheme *scheme) {
    return scheme_index(scheme, FIRN_ROLE_DIGEST) >= 0;
}

/* A scheme of the table that is not open yet. */
static int read_scheme(server_request *request, const firn_scheme *scheme, firn_error *error) {
    if (scheme->read_only) {
        return set_error(error, FIRN_EUSAGE,
                         "firn reads IDs of %s and does not generate them: %.120s", scheme->name,
                         scheme->note != NULL ? scheme->note : "use uuid4 or uuid7");
    }
    if (scheme->keyed) {
        return pure_keyed_check(scheme, "new", error);
    }
    if (scheme->node_rule == FIRN_NODE_REQUIRED && scheme->node_fields != NULL) {
        return set_error(
            error, FIRN_EUSAGE,
            "%s needs %s: add it to firn.ini in a section [generator NAME] with scheme = %s",
            scheme->name, scheme->node_fields, scheme->name);
    }
    if (is_digest(scheme)) {
        request->digest = scheme;
        return FIRN_OK;
    }
    if (scheme->node_rule == FIRN_NODE_REQUIRED) {
        request->must_open = true; /* its renewer opens it */
        return FIRN_OK;
    }
    return catalog_open_scheme(&request->generator, scheme->name, true, error);
}

static int read_generator(server_request *request, firn_error *error) {
    request->generator = catalog_generator(request->name);
    if (request->generator != NULL) {
        return FIRN_OK;
    }
    if (request->name.length == 0) {
        return set_error(
            error, FIRN_EUSAGE,
            "the name of a generator is missing: add one, or a scheme such as snowflake or uuid7");
    }
    if (catalog_refuse_series(request->name, "a generator", error) != FIRN_OK) {
        return error->code;
    }
    const firn_scheme *scheme = scheme_named(request->name);
    return scheme != NULL ? read_scheme(request, scheme, error) : refuse_name(request, error);
}

static const firn_scheme *scheme_of(const server_request *request) {
    return request->generator != NULL ? request->generator->scheme : scheme_named(request->name);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static int read_instant(server_request *request, const firn_scheme *scheme, word key, word value,
                        firn_error *error) {
    char text[FIRN_TIME_SIZE * 2], reply[PARAMETER_SIZE];
    firn_fields fields = {0};
    bool tick = word_is(key, "tick");
    int index = scheme_index(scheme, FIRN_ROLE_TIME);
    if (request->dated) {
        return set_error(error, FIRN_EUSAGE, "time and tick are both given: use one of them");
    }
    if (index < 0) {
        return set_error(error, FIRN_EUSAGE, "IDs of %s contain no time: leave %s out",
                         scheme->name, tick ? "tick" : "time");
    }
    if (!word_copy(value, text, sizeof text)) {
        return set_error(error, FIRN_ETEXT,
                         "%s is not a valid time: use 2024-02-29T12:00:00Z or @SECONDS",
                         parameter_text(reply, request, key, value));
    }
    int code = pure_field(&fields, scheme, tick ? "tick" : "time", text, error);
    if (code == FIRN_OK && tick) {
        firn_scheme_time(scheme, fields.value[index].low, &request->time);
    } else if (code == FIRN_OK) { /* with what the tick cuts off */
        code = firn_time_parse(&request->time, text, strlen(text), error);
    }
    request->dated = code == FIRN_OK;
    return code;
}

/* The limit of back-dated IDs per request: each time is a separate reservation, and the renewer
 * does nothing else until they are made. */
static int64_t max_dated(const server_request *request, const firn_scheme *scheme) {
    enum { INSTANTS_MOST = 64 };
    bool reserved =
        request->must_open || (request->generator != NULL && request->generator->renewer != NULL);
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

static int check_dated(const server_request *request, const firn_scheme *scheme,
                       firn_error *error) {
    int64_t most = max_dated(request, scheme);
    return !request->dated || request->count <= most
               ? FIRN_OK
               : set_error(
                     error, FIRN_ERANGE,
                     "%" PRId64
                     " back-dated IDs of %s need too many reservations: ask for at most %" PRId64
                     " at once",
                     request->count, scheme->name, most);
}

/* IDs as signed numbers end earlier than in the form of the scheme. */
static int check_sign(const server_request *request, const firn_scheme *scheme, firn_error *error) {
    enum { LEAD_S = 10 }; /* of max_lead, at most */
    char text[FIRN_NS_SIZE], when[FIRN_TIME_SIZE];
    firn_time end, last = request->time;
    if (!describe_is_signed(scheme, request->form)) {
        return FIRN_OK;
    }
    const firn_scheme column = describe_as(scheme, FIRN_FORM_DEC);
    if (!request->dated) {
        last = (firn_time){time(NULL) + LEAD_S, 0};
    }
    return !firn_scheme_end(&column, false, &end) || firn_time_cmp(&last, &end) < 0 ||
                   (request->generator != NULL &&
                    strcmp(keys_value(text, request->generator->keys, "unsigned"), "1") == 0)
               ? FIRN_OK
               : set_error(error, FIRN_ELAYOUT,
                           "IDs of %s are negative as signed numbers from %s on: use another form, "
                           "such as %s, or set "
                           "unsigned=1 for the generator",
                           scheme->name, describe_end(when, &column, false),
                           firn_form_name(scheme->form));
}

/* Clients cannot set fields or keys of a generator. */
static int refuse_setting(const server_request *request, const firn_scheme *scheme, word key,
                          firn_error *error) {
    static const char *const known[] = {"count", "time", "tick", "as", "prefix", "mask", NULL};
    char name[32];
    if (request->digest != NULL) {
        return set_error(error, FIRN_EUSAGE, "%s has no parameter '%.*s': use namespace and name",
                         scheme->name, word_shown(key), key.text);
    }
    /* three letters are too short to guess from */
    if (!word_copy(key, name, sizeof name) ||
        (key.length > 3 && firn_nearest(name, known) != NULL)) {
        return refuse_key(request, key, scheme->name, known, error);
    }
    return set_error(error, FIRN_EUSAGE,
                     "clients cannot set %s: set it in firn.ini under [generator %.63s]", name,
                     request->generator != NULL ? request->generator->name : "NAME");
}

/* 0: not UUIDs, or of a version that is not known here. */
static int uuid_version(const firn_scheme *scheme) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role == FIRN_ROLE_CONST && strcmp(slice->name, "version") == 0) {
            return (int)slice->value;
        }
    }
    return 0;
}

/* Masked IDs have the form of the mask. A mask for IDs of another width or version would lose each
 * ID. */
static int read_mask(server_request *request, const firn_scheme *scheme, word name,
                     firn_error *error) {
    mask_forms forms;
    int code = masks_find(&forms, name, error);
    if (code == FIRN_OK && (request_value(request, "as").text != NULL ||
                            request_value(request, "prefix").text != NULL)) {
        return set_error(error, FIRN_EUSAGE,
                         "masked IDs have the form of their mask: remove as and prefix");
    }
    if (code == FIRN_OK && forms.bits != scheme->bits) {
        return set_error(error, FIRN_EUSAGE,
                         "mask %.*s takes IDs of %" PRIu32 " bits, but IDs of %s have %u: use "
                         "another mask",
                         word_shown(name), name.text, forms.bits, scheme->name,
                         (unsigned)scheme->bits);
    }
    const int version = uuid_version(scheme);
    if (code == FIRN_OK && forms.version != 0 && version != 0 && forms.version != version) {
        return set_error(error, FIRN_EUSAGE,
                         "mask %.*s takes UUIDs of version %d, but IDs of %s have version %d: use "
                         "another mask",
                         word_shown(name), name.text, forms.version, scheme->name, version);
    }
    request->form = code == FIRN_OK ? forms.as : request->form;
    request->prefix[0] = '\0';
    return code;
}

static int read_pair(server_request *request, const firn_scheme *scheme, word key, word value,
                     firn_error *error) {
    if (word_is(key, "count")) {
        return read_count(&request->count, request, key, value, BATCH_MAX, error);
    }
    if (word_is(key, "as") || word_is(key, "prefix") || word_is(key, "mask")) {
        return FIRN_OK; /* read after the others, because they depend on each other */
    }
    if (request->digest != NULL && (word_is(key, "namespace") || word_is(key, "name"))) {
        return FIRN_OK;
    }
    if (request->digest == NULL && (word_is(key, "time") || word_is(key, "tick"))) {
        return read_instant(request, scheme, key, value, error);
    }
    return refuse_setting(request, scheme, key, error);
}

int ids_read_form(server_request *request, const firn_scheme *scheme, bool takes_prefix,
                  firn_error *error) {
    word form = request_value(request, "as"), prefix = request_value(request, "prefix");
    request->form = request->generator != NULL ? request->generator->form : scheme->form;
    int code = form.text != NULL ? form_of(&request->form, scheme, form, error) : FIRN_OK;
    if (code == FIRN_OK && prefix.text != NULL && takes_prefix) {
        code = prefix_of(request->prefix, request->form, prefix, error);
    } else if (code == FIRN_OK && request->generator != NULL && request->form == FIRN_FORM_TYPEID) {
        memcpy(request->prefix, request->generator->prefix, sizeof request->prefix);
    }
    return code;
}

static int check_digest(const server_request *request, firn_error *error) {
    char text[PARAMETER_SIZE];
    bool space = request_value(request, "namespace").text != NULL;
    if (!space || request_value(request, "name").text == NULL) {
        return set_error(error, FIRN_EUSAGE,
                         request->worker->http
                             ? "%s needs %s: use namespace=dns|url|oid|x500|UUID and name=TEXT"
                             : "%s needs %s: use NAMESPACE dns|url|oid|x500|UUID and NAME text",
                         request->digest->name, space ? "a name" : "a namespace");
    }
    return request->count == 1
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE, "%s generates one ID for each name: leave %s out",
                           request->digest->name, parameter_name(text, request, "count"));
}

int ids_read_new(server_request *request, firn_error *error) {
    int code = read_generator(request, error);
    if (code != FIRN_OK) {
        return code;
    }
    const firn_scheme *scheme = scheme_of(request);
    for (size_t i = 0; i < request->pair_count && code == FIRN_OK; i++) {
        code = read_pair(request, scheme, request->pairs[i].key, request->pairs[i].value, error);
    }
    code = code == FIRN_OK ? ids_read_form(request, scheme, true, error) : code;
    code = code == FIRN_OK ? check_dated(request, scheme, error) : code;
    const word mask = request_value(request, "mask");
    if (code == FIRN_OK) {
        code = mask.text != NULL ? read_mask(request, scheme, mask, error)
                                 : check_sign(request, scheme, error);
    }
    return code == FIRN_OK && request->digest != NULL ? check_digest(request, error) : code;
}

int ids_read_runs(server_request *request, firn_error *error) {
    int code = ids_read_new(request, error);
    const firn_scheme *scheme = code == FIRN_OK ? scheme_of(request) : NULL;
    if (scheme != NULL && request_value(request, "mask").text != NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "masked IDs are not consecutive: request IDs instead of runs");
    }
    if (scheme != NULL && (scheme->bits > 64 || request->digest != NULL || request->dated)) {
        return set_error(error, FIRN_EUSAGE,
                         "runs need a scheme of at most 64 bits (%s has %u) and no time parameter: "
                         "request IDs instead of runs",
                         scheme->name, (unsigned)scheme->bits);
    }
    return code;
}

/* ---- issuing --------------------------------------------------------------------------------- */

/* Can the request wait? *error is the renewer's, if it has one. */
static int wait_for_gen(server_generator *generator, int code, firn_error *error) {
    if (code == FIRN_EEXHAUSTED) {
        return generator->waits ? REQUEST_LATER : code;
    }
    if (code == FIRN_ECLOCK) {
        return generator->back_fails ? code : REQUEST_LATER;
    }
    if (code != FIRN_EWINDOW || generator->renewer == NULL) {
        return code;
    }
    generator_want(generator);
    return wait_for_renewer(&generator->failed, error);
}

/* More IDs than one call can ever issue: waiting does not help. */
static int refuse_count(const server_request *request, firn_gen *gen, int code, firn_error *error) {
    char count[24], text[PARAMETER_SIZE];
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    word value = {count, write_number(count, (uint64_t)request->count, false)};
    return request->count <= status.max_count
               ? code
               : set_error(error, FIRN_ERANGE,
                           "%s is more than %s can issue within max_lead: use 1 to %" PRId64,
                           parameter_text(text, request, (word){"count", 5}, value),
                           request->generator->name, status.max_count);
}

static int wait_for_opening(server_generator *generator, firn_error *error) {
    set_error(error, FIRN_EWINDOW, "%s is not open yet: try again in a moment", generator->name);
    return wait_for_gen(generator, FIRN_EWINDOW, error);
}

/* firn_next is faster than a batch of one. */
static int issue_one(firn_gen *gen, const server_worker *worker, bool narrow, firn_error *error) {
    firn_id id;
    int code = firn_next(gen, narrow ? &id : worker->ids, error);
    if (narrow && code == FIRN_OK) {
        worker->numbers[0] = id.low;
    }
    return code;
}

static int issue(firn_gen *gen, const server_worker *worker, bool narrow, size_t n,
                 firn_error *error) {
    return n == 1   ? issue_one(gen, worker, narrow, error)
           : narrow ? firn_next_u64(gen, worker->numbers, n, error)
                    : firn_next_n(gen, worker->ids, n, error);
}

static void reply_ids(const server_request *request, bool narrow, size_t n, server_reply *out) {
    const firn_scheme *scheme = request->generator->scheme;
    out->kind = narrow ? REPLY_NUMBERS : REPLY_IDS;
    out->count = n;
    out->numbers = narrow ? request->worker->numbers : NULL;
    out->ids = narrow ? NULL : request->worker->ids;
    out->is_signed = request->form == FIRN_FORM_DEC && scheme->bits == 64;
}

/* As the request says, in place. The IDs are spent if this fails. */
static int mask_ids(const server_request *request, server_reply *reply, firn_id *ids, int *form,
                    firn_error *error) {
    const word mask = request_value(request, "mask");
    return mask.text != NULL ? masks_apply(reply, ids, mask, form, error) : FIRN_OK;
}

/* If fewer than `times` are left, half as many are tried, and so on; the remaining requests wait a
 * millisecond. One request for many gets all or none. */
static int answer_new(server_request *request, size_t times, server_reply *out, firn_error *error) {
    server_generator *from = request->generator;
    firn_gen *gen = atomic_load_explicit(&from->gen, memory_order_acquire);
    const bool masked = request_value(request, "mask").text != NULL;
    bool narrow = !masked && (request->form == from->form ? from->narrow
                                                          : is_narrow(from->scheme, request->form));
    size_t n = request->count > 1 ? (size_t)request->count : times < BATCH_MAX ? times : BATCH_MAX;
    if (gen == NULL) {
        return wait_for_opening(from, error);
    }
    int code = worker_make_room(request->worker, narrow, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = issue(gen, request->worker, narrow, n, error);
    while ((code == FIRN_EEXHAUSTED || code == FIRN_ERANGE) && request->count == 1 && n > 1) {
        n /= 2;
        code = issue(gen, request->worker, narrow, n, error);
    }
    if (code == FIRN_ERANGE) {
        code = refuse_count(request, gen, code, error);
    }
    if (code != FIRN_OK) {
        return wait_for_gen(from, code, error);
    }
    generator_count(from, request->worker, narrow ? request->worker->numbers : NULL,
                    request->worker->ids, n);
    reply_ids(request, narrow, n, out);
    code = mask_ids(request, out, request->worker->ids, &request->form, error);
    return code;
}

static int answer_digest(server_request *request, server_reply *out, firn_error *error) {
    char space[64];
    word name = request_value(request, "name"), text = request_value(request, "namespace");
    int code = worker_make_room(request->worker, false, error);
    if (code == FIRN_OK && !word_copy(text, space, sizeof space)) {
        char given[PARAMETER_SIZE];
        code = set_error(error, FIRN_EUSAGE,
                         "%s is not a namespace: use dns, url, oid, x500 or a UUID",
                         parameter_text(given, request, word_of("namespace"), text));
    }
    if (code == FIRN_OK) {
        code = firn_digest(request->worker->ids, request->digest, space, name.text, name.length,
                           error);
    }
    out->kind = REPLY_IDS;
    out->count = code == FIRN_OK ? 1 : 0;
    out->ids = request->worker->ids;
    return code == FIRN_OK ? mask_ids(request, out, request->worker->ids, &request->form, error)
                           : code;
}

/* Here without a store; with one, as a task. */
static int answer_dated(server_request *request, server_reply *out, firn_error *error) {
    if (request->generator->renewer != NULL) {
        return atomic_load_explicit(&request->generator->gen, memory_order_seq_cst) != NULL
                   ? REQUEST_TASK
                   : wait_for_opening(request->generator, error);
    }
    int code = worker_make_room(request->worker, false, error);
    if (code == FIRN_OK) {
        code = generator_date(request->generator, &request->time, request->worker->ids,
                              (size_t)request->count, error);
    }
    if (code == FIRN_OK) {
        code = ids_reply_dated(request, request->worker->ids, out, error);
    }
    return code == FIRN_EWINDOW ? REQUEST_LATER : code;
}

int ids_answer_new(server_request *request, size_t times, server_reply *out, firn_error *error) {
    return request->dated            ? answer_dated(request, out, error)
           : request->digest != NULL ? answer_digest(request, out, error)
                                     : answer_new(request, times, out, error);
}

int ids_reply_dated(const server_request *request, firn_id *ids, server_reply *out,
                    firn_error *error) {
    generator_count(request->generator, request->worker, NULL, ids, (size_t)request->count);
    reply_ids(request, false, (size_t)request->count, out);
    out->ids = ids;
    int form = request->form;
    int code = mask_ids(request, out, ids, &form, error);
    return code == FIRN_OK && form != request->form
               ? set_error(error, FIRN_EWINDOW,
                           "the masks changed while the IDs were reserved: try again")
               : code;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static json_t *number_text(uint64_t number, bool is_signed) {
    return is_signed ? json_sprintf("%" PRId64, (int64_t)number) : json_sprintf("%" PRIu64, number);
}

/* [["first", "last"], ...] */
static int reply_runs(const server_request *request, server_reply *out, firn_error *error) {
    const uint64_t *numbers = request->worker->numbers;
    bool is_signed = out->is_signed;
    json_t *runs = json_array();
    for (size_t i = 0, first; i < out->count && runs != NULL; i++) {
        first = i;
        while (i + 1 < out->count && numbers[i + 1] == numbers[i] + 1) {
            i++;
        }
        json_t *run = json_pack("[o, o]", number_text(numbers[first], is_signed),
                                number_text(numbers[i], is_signed));
        runs = json_with(runs, run);
    }
    return reply_json(runs, out, error);
}

int ids_answer_runs(server_request *request, server_reply *out, firn_error *error) {
    request->form =
        is_narrow(request->generator->scheme, request->form) ? request->form : FIRN_FORM_UNSIGNED;
    int code = answer_new(request, 1, out, error);
    if (code == FIRN_OK && out->kind != REPLY_NUMBERS) {
        return set_error(error, FIRN_EUSAGE,
                         "IDs of %s have more than 64 bits: request IDs instead of runs",
                         request->generator->name);
    }
    return code == FIRN_OK ? reply_runs(request, out, error) : code;
}
