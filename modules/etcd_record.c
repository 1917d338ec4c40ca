/* SPDX-License-Identifier: MIT */
/* The records of the etcd store, and the transactions that read and write them. Each write compares
 * the revisions of the records that it was computed from, so that a late copy of it does nothing.
 *
 * The keys are PREFIXstore, a text "LOSSES CLUSTER TERM ORIGIN MEMBERS", the IDs of the voting
 * members with commas between them; PREFIXnamespace/NS, a text "FLOOR LOSSES LAYOUT"; and
 * PREFIXmark/NS, a zero byte and KEY, a text "HIGH GRANT NOTE". The zero byte keeps the order of
 * names. */
#include "etcd.h"

#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *etcd_base64(const char *data, size_t length) {
    const gnutls_datum_t in = {(unsigned char *)(uintptr_t)data, (unsigned)length};
    gnutls_datum_t out;
    if (gnutls_base64_encode2(&in, &out) != 0) {
        return NULL;
    }
    json_t *text = json_stringn((const char *)out.data, out.size);
    gnutls_free(out.data);
    return text;
}

bool etcd_plain(char *out, size_t size, size_t *length, const json_t *text) {
    const char *value = json_string_value(text);
    gnutls_datum_t bin = {NULL, 0},
                   in = {(unsigned char *)(uintptr_t)value, (unsigned)json_string_length(text)};
    if (value == NULL || gnutls_base64_decode2(&in, &bin) != 0) {
        return false;
    }
    const bool fits = bin.size > 0 && bin.size < size;
    if (fits) {
        memcpy(out, bin.data, bin.size);
        out[bin.size] = '\0';
        *length = bin.size;
    }
    gnutls_free(bin.data);
    return fits;
}

/* 64-bit numbers are strings. 0 is omitted, but these are at least 1. */
static bool number(uint64_t *out, const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return module_uint64(out, json_string_value(value), json_string_length(value)) && *out > 0;
}

static bool take_revision(int64_t *out, const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return module_int64(out, json_string_value(value), json_string_length(value)) && *out > 0;
}

json_t *etcd_number(int64_t value) {
    char text[MODULE_NUMBER_SIZE];
    return json_string(module_digits(text, value));
}

/* ---- records --------------------------------------------------------------------------------- */

static void name_store(bytes *out, const etcd_store *store) {
    out->length = (size_t)snprintf(out->text, sizeof out->text, "%sstore", store->prefix);
}

void etcd_name_namespace(bytes *out, const etcd_store *store, const char *ns) {
    out->length =
        (size_t)snprintf(out->text, sizeof out->text, "%snamespace/%s", store->prefix, ns);
}

void etcd_name_mark(bytes *out, const etcd_store *store, const char *ns, const char *key) {
    out->length = (size_t)snprintf(out->text, sizeof out->text, "%smark/%s%c%s", store->prefix, ns,
                                   '\0', key);
}

/* The next numbers of a record; a blank follows each. */
static bool next_numbers(uint64_t *out, size_t count, const char **position) {
    for (size_t i = 0; i < count; i++) {
        const char *blank = strchr(*position, ' ');
        if (blank == NULL || !module_uint64(&out[i], *position, (size_t)(blank - *position))) {
            return false;
        }
        *position = blank + 1;
    }
    return true;
}

static bool read_voters(voters *out, const char *text) {
    for (out->count = 0; *text != '\0' && out->count < ETCD_VOTERS_MOST; out->count++) {
        size_t length = strcspn(text, ",");
        if (!module_uint64(&out->ids[out->count], text, length)) {
            return false;
        }
        text += length + (text[length] != '\0');
    }
    return *text == '\0';
}

static bool read_store(firn_records *out, etcd_records *own, const char *text) {
    uint64_t numbers[3];
    if (!next_numbers(numbers, 3, &text) || numbers[0] >= INT64_MAX) {
        return false;
    }
    size_t length = strcspn(text, " "); /* an older record has no members */
    out->losses = (int64_t)numbers[0];
    own->cluster = numbers[1];
    own->term = numbers[2];
    return module_uint64(&out->origin, text, length) &&
           read_voters(&own->voters, text + length + (text[length] != '\0'));
}

bool etcd_read_namespace(char layout[FIRN_LAYOUT_SIZE], int64_t *floor, int64_t *losses,
                         const char *text) {
    uint64_t numbers[2];
    if (!next_numbers(numbers, 2, &text) || numbers[0] > FIRN_SLOT_MAX || numbers[1] > INT64_MAX ||
        strlen(text) >= FIRN_LAYOUT_SIZE) {
        return false;
    }
    *floor = (int64_t)numbers[0];
    *losses = (int64_t)numbers[1];
    strcpy(layout, text);
    return true;
}

bool etcd_read_mark(firn_mark *mark, char note[FIRN_NOTE_SIZE], const char *text) {
    uint64_t numbers[2];
    if (!next_numbers(numbers, 2, &text) || numbers[0] > FIRN_SLOT_MAX ||
        strlen(text) >= FIRN_NOTE_SIZE) {
        return false;
    }
    *mark = (firn_mark){(int64_t)numbers[0], numbers[1]};
    strcpy(note, text);
    return true;
}

static void store_text(char out[ETCD_RECORD_SIZE], const firn_records *now,
                       const etcd_records *own) {
    int length = snprintf(out, ETCD_RECORD_SIZE, "%" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                          now->losses, own->cluster, own->term, now->origin);
    for (size_t i = 0; i < own->voters.count; i++) {
        length += snprintf(out + length, ETCD_RECORD_SIZE - (size_t)length, "%s%" PRIu64,
                           i == 0 ? " " : ",", own->voters.ids[i]);
    }
}

static void mark_text(char out[ETCD_RECORD_SIZE], const firn_records *now) {
    snprintf(out, ETCD_RECORD_SIZE, "%" PRId64 " %" PRIu64 " %.*s", now->mark.high, now->mark.grant,
             FIRN_NOTE_SIZE - 1, now->note);
}

/* ---- transactions ---------------------------------------------------------------------------- */

bool etcd_take_head(etcd_store *store, const json_t *answer) {
    const json_t *header = json_object_get(answer, "header");
    uint64_t cluster, term;
    int64_t revision;
    if (!number(&cluster, header, "cluster_id") || !number(&term, header, "raft_term") ||
        !take_revision(&revision, header, "revision")) {
        return false;
    }
    if (store->reserved && (cluster != store->cluster || revision < store->revision)) {
        store->suspect = true;
    }
    store->revision = revision;
    store->cluster = cluster;
    store->term = term;
    return true;
}

/* Sets the revision and the text if there is a record. */
static bool take_record(json_t *responses, size_t position, int64_t *revision,
                        char text[ETCD_RECORD_SIZE]) {
    json_t *range = json_object_get(json_array_get(responses, position), "response_range");
    json_t *record = json_array_get(json_object_get(range, "kvs"), 0);
    size_t length;
    return range != NULL && (record == NULL || (take_revision(revision, record, "mod_revision") &&
                                                etcd_plain(text, ETCD_RECORD_SIZE, &length,
                                                           json_object_get(record, "value"))));
}

/* Reads the answers to the four ranges of ranges_of. */
static bool take_records(etcd_store *store, firn_records *seen, const json_t *answer) {
    json_t *responses = json_object_get(answer, "responses");
    char text[ETCD_RECORD_SIZE];
    int64_t all = 0, all_floor, all_losses = 0;
    etcd_records own = {0};
    if (!take_record(responses, 0, &own.store_revision, text) ||
        (own.store_revision > 0 && !read_store(seen, &own, text)) ||
        !take_record(responses, 1, &own.ns_revision, text) ||
        (own.ns_revision > 0 &&
         !etcd_read_namespace(store->layout, &seen->floor, &seen->ns_losses, text)) ||
        !take_record(responses, 2, &own.mark_revision, text) ||
        (own.mark_revision > 0 && !etcd_read_mark(&seen->mark, store->note, text)) ||
        !take_record(responses, 3, &all, text) ||
        (all > 0 && !etcd_read_namespace(store->shut, &all_floor, &all_losses, text))) {
        return false;
    }
    seen->fresh = true;
    seen->known = own.store_revision > 0;
    seen->all_new = all > 0 && all_losses == seen->losses;
    seen->shut = all > 0 && firn_layout_closed(store->shut) ? store->shut : NULL;
    seen->ns_known = own.ns_revision > 0;
    seen->layout = seen->ns_known ? store->layout : "";
    seen->key_known = own.mark_revision > 0;
    seen->note = seen->key_known ? store->note : "";
    seen->stamp = own.mark_revision;
    memcpy(seen->own, &own, sizeof own);
    return true;
}

static json_t *range_of(const bytes *name) {
    return json_pack("{s:{s:o}}", "requestRange", "key", etcd_base64(name->text, name->length));
}

static json_t *ranges_of(const etcd_store *store, const firn_records *names) {
    bytes own, ns, mark, all;
    name_store(&own, store);
    etcd_name_namespace(&ns, store, names->ns);
    etcd_name_mark(&mark, store, names->ns, names->key);
    etcd_name_namespace(&all, store, FIRN_ALL_NAMES);
    return json_pack("[o, o, o, o]", range_of(&own), range_of(&ns), range_of(&mark),
                     range_of(&all));
}

/* Equal is the default. */
static json_t *compare_value_of(const bytes *name, const char *text) {
    return json_pack("{s:o, s:s, s:o}", "key", etcd_base64(name->text, name->length), "target",
                     "VALUE", "value", etcd_base64(text, strlen(text)));
}

/* A key that does not exist has revision 0. */
static json_t *compare_of(const bytes *name, int64_t revision) {
    return json_pack("{s:o, s:s, s:o}", "key", etcd_base64(name->text, name->length), "target",
                     "MOD", "modRevision", etcd_number(revision));
}

static json_t *put_of(const bytes *name, const char *text) {
    return json_pack("{s:{s:o, s:o}}", "requestPut", "key", etcd_base64(name->text, name->length),
                     "value", etcd_base64(text, strlen(text)));
}

int etcd_damaged(const etcd_store *store, int code, firn_error *error) {
    return module_fail(error, code,
                       "store %.60s has a record or an answer that cannot be read: see "
                       "etcdctl get --prefix %.60s",
                       store->link.url.shown, store->prefix);
}

int etcd_read_records(etcd_store *store, firn_records *seen, firn_error *error) {
    json_t *answer = NULL;
    int code = etcd_ask(store, "/v3/kv/txn", json_pack("{s:o}", "success", ranges_of(store, seen)),
                        NULL, &answer, error);
    if (code == FIRN_OK && (!etcd_take_head(store, answer) || !take_records(store, seen, answer))) {
        code = etcd_damaged(store, FIRN_ESTORE, error);
    }
    json_decref(answer);
    const etcd_records own = etcd_own(seen);
    /* what a member lists after this answer is at least as new as the list that was read */
    return code == FIRN_OK && etcd_gone(&own.voters, &store->voters) > 0 ? etcd_look(store, error)
                                                                         : code;
}

/* The array with one more item. NULL, out of memory: never compare or write less. */
static json_t *with(json_t *array, json_t *item) {
    if (json_array_append_new(array, item) != 0) {
        json_decref(array);
        array = NULL;
    }
    return array;
}

/* The conditions of a write: the same revisions, and the same text of the mark. Another cluster at
 * the same address can have another mark at the same revision, which would be lowered. */
static json_t *compares_of(const bytes names[3], const firn_records *seen,
                           const etcd_records *own) {
    char was[ETCD_RECORD_SIZE];
    json_t *all = json_pack("[o, o, o]", compare_of(&names[0], own->store_revision),
                            compare_of(&names[1], own->ns_revision),
                            compare_of(&names[2], own->mark_revision));
    mark_text(was, seen);
    return own->mark_revision == 0 ? all : with(all, compare_value_of(&names[2], was));
}

/* Almost always nobody else has written. Then a transaction without reads is a tenth faster. */
int etcd_write_records(etcd_store *store, const firn_records *seen, const firn_records *next,
                       int which, etcd_records *own, const module_points *points, bool *written,
                       firn_error *error) {
    static const int kinds[] = {FIRN_RECORD_STORE, FIRN_RECORD_NS, FIRN_RECORD_KEY};
    int64_t *revisions[] = {&own->store_revision, &own->ns_revision, &own->mark_revision};
    char texts[3][ETCD_RECORD_SIZE];
    bytes names[3];
    json_t *answer = NULL;
    int code = module_point(&store->link, points->before, error);
    if (code != FIRN_OK) {
        return code;
    }
    name_store(&names[0], store);
    etcd_name_namespace(&names[1], store, seen->ns);
    etcd_name_mark(&names[2], store, seen->ns, seen->key);
    store_text(texts[0], next, own);
    snprintf(texts[1], ETCD_RECORD_SIZE, "%" PRId64 " %" PRId64 " %s", next->floor, next->ns_losses,
             next->layout);
    mark_text(texts[2], next);
    json_t *puts = json_array();
    for (size_t i = 0; i < 3; i++) {
        if ((which & kinds[i]) != 0) {
            puts = with(puts, put_of(&names[i], texts[i]));
        }
    }
    json_t *body =
        json_pack("{s:o, s:o}", "compare", compares_of(names, seen, own), "success", puts);
    code = etcd_ask(store, "/v3/kv/txn", body, points, &answer, error);
    if (code == FIRN_OK && !etcd_take_head(store, answer)) {
        code = etcd_damaged(store, FIRN_EUNKNOWN, error);
    }
    *written = code == FIRN_OK && json_is_true(json_object_get(answer, "succeeded"));
    for (size_t i = 0; i < 3 && *written; i++) {
        *revisions[i] = (which & kinds[i]) != 0 ? store->revision : *revisions[i];
    }
    json_decref(answer);
    return code;
}
