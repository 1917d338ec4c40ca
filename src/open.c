/* SPDX-License-Identifier: MIT */
/* Opening and closing a generator: keys, scheme, identity, policies and store wired together, every
 * bound checked before anything is issued. */
#include "date_form.h"
#include "duration.h"
#include "entropy.h"
#include "error.h"
#include "fork_memory.h"
#include "gen.h"
#include "machine.h"
#include "reserve.h"
#include "store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON_NS (INT64_C(63072000) * 1000000000) /* two years: a nearer end is reported */

static int make_live(firn_gen *gen, firn_error *error) {
    uint64_t serial;
    int code;
    gen->live = firn__wiped(sizeof(firn__process_state), &code, error);
    if (gen->live == NULL) {
        return code;
    }
    gen->past = &gen->live->locked.past;
    code = firn__entropy_fill(NULL, &serial, sizeof serial, error);
    if (code == FIRN_OK) {
        static _Atomic uint32_t
            opened; /* spreads the generators over what a thread remembers, nothing else */
        firn__wiped_renews(gen->live, sizeof(firn__process_state), FIRN__RENEW_RESERVED,
                           firn__gen_renew);
        gen->seen_at = atomic_fetch_add_explicit(&opened, 1, memory_order_relaxed) % FIRN__SEEN *
                       (uint32_t)sizeof(firn__thread_view);
        atomic_store_explicit(&gen->live->any.era, serial | 1, memory_order_relaxed);
        atomic_store_explicit(&gen->live->any.serial, serial | 1, memory_order_release);
        atomic_store_explicit(&gen->live->watch.trusted_s, INT64_MIN, memory_order_release);
    }
    return code;
}

/* time-random with a node: node and sequence share its digits. */
static void share_digits(firn_gen *gen) {
    uint32_t digits =
        gen->scheme.form == FIRN_FORM_DATED ? firn__dated_digits(gen->scheme.bits) : 0;
    if (digits > 0 && gen->keys.node != NULL && strcmp(gen->keys.node, "random") != 0) {
        gen->scheme = firn__shuffle_scheme(digits);
        gen->shuffle.digits = digits;
    }
}

/* The prefix of TypeIDs; in a layout with a field of this name, the value of the field. */
static int take_prefix(firn_gen *gen, firn_error *error) {
    firn__keys *keys = &gen->keys;
    const char *prefix = keys->prefix;
    if (prefix == NULL) {
        return FIRN_OK;
    }
    if (firn_scheme_field(&gen->scheme, "prefix") >= 0) {
        keys->prefix = NULL;
        return firn__keys_keep(keys, "prefix", prefix, error);
    }
    return gen->scheme.form == FIRN_FORM_TYPEID
               ? firn_prefix_check(prefix, strlen(prefix), error)
               : firn_error_set(
                     error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                     FIRN__VALUE("prefix=%.40s") " applies to typeid, not %s: leave it out", prefix,
                     gen->scheme.name);
}

/* A reserve holds windows of nodes that are claimed. */
static int check_reserve(const firn_gen *gen, firn_error *error) {
    if (!firn__reserves(gen) || gen->fixed || gen->ticket_field >= 0) {
        return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                              FIRN__VALUE("reserve") " applies to nodes that firn claims, and %s "
                                                     "claims none here: leave it out",
                              gen->scheme.name);
    }
    return gen->keys.mode_ == FIRN__MODE_ONLINE
               ? firn__fail(error, FIRN_EUSAGE,
                            "reserve=%s continues without the store, and mode=online, which `firn "
                            "new` has unless mode= is set, needs it at each call: set mode=window",
                            FIRN__MS(gen->keys.reserve_ms))
               : FIRN_OK;
}

/* Scheme, identity and policies: everything that can be refused without a store. */
static int configure(firn_gen *gen, const firn_config *config, firn_error *error) {
    const firn__keys *keys = &gen->keys;
    int code = firn__keys_read(&gen->keys, config->keys, error);
    if (code == FIRN_OK && keys->entropy_ == FIRN__ENTROPY_SYSTEM) {
        if (gen->entropy != NULL) {
            return firn__fail(error, FIRN_EUSAGE,
                              "entropy=system and another source of randomness are both set: "
                              "leave one of them out");
        }
        gen->entropy = &firn__entropy_system;
    }
    if (code == FIRN_OK) {
        code = firn_scheme_make(&gen->scheme, config->scheme, keys->epoch, keys->bits, keys->digits,
                                error);
    }
    if (code == FIRN_OK) {
        code = take_prefix(gen, error);
    }
    if (code == FIRN_OK) {
        share_digits(gen);
        gen->node_bits = firn__scheme_node_bits(&gen->scheme);
        gen->pack = firn__scheme_packer(&gen->scheme);
        code = firn__policy_kind(gen, error);
    }
    if (code == FIRN_OK) {
        code = firn__identity_read(gen, error);
    }
    if (code == FIRN_OK) {
        firn__identity_settle(gen);
        code = firn__claimable_split(gen, error);
    }
    if (code == FIRN_OK) {
        code = firn__policy_bounds(gen, error);
    }
    if (code == FIRN_OK && keys->reach_ != FIRN__REACH_15S && !firn__reserves(gen)) {
        code = firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                              FIRN__VALUE("%.12s") " applies to reservations, and %s makes "
                                                   "none: leave it out",
                              firn__reach_text(gen) + 1, gen->scheme.name);
    }
    if (code == FIRN_OK && keys->reserve_ms > 0) {
        code = check_reserve(gen, error);
    }
    if (code == FIRN_OK && gen->scheme.node_rule == FIRN_NODE_REQUIRED &&
        gen->scheme.node_fields != NULL && !firn__identity_given(gen)) {
        code = firn__fail(error, FIRN_EUSAGE, "%s needs %s, which is never claimed: give %s=NUMBER",
                          gen->scheme.name, gen->scheme.node_fields, gen->scheme.node_fields);
    }
    if (code == FIRN_OK && gen->ticket_field >= 0 && !firn__reserves(gen)) {
        code = firn__fail(error, FIRN_EUSAGE, "%s=ticket is one part of the node: give each of %s",
                          gen->scheme.slices[gen->ticket_field].name, gen->scheme.node_fields);
    }
    if (code == FIRN_OK && keys->nodes > 1 &&
        (gen->fixed || !firn__reserves(gen) || gen->ticket_field >= 0)) {
        code = firn__fail(error, FIRN_EUSAGE, "nodes=%" PRId64 " claims nodes: leave the node out",
                          keys->nodes);
    }
    return code;
}

/* worker=ticket: a number that no start had before. */
static int take_ticket(firn_gen *gen, firn_error *error) {
    char ns[FIRN_NS_SIZE];
    int64_t first;
    firn__attempts sending = {.tries = FIRN__SENDINGS};
    if (gen->ticket_field < 0 || !firn__reserves(gen)) {
        return FIRN_OK;
    }
    uint32_t width = firn_scheme_width(&gen->scheme, (uint32_t)gen->ticket_field);
    snprintf(ns, sizeof ns, "%.200s tickets", gen->ns);
    firn_request request = {.ns = ns,
                            .layout = "integer",
                            .key = gen->scheme.slices[gen->ticket_field].name,
                            .count = 1,
                            .latest = (int64_t)firn__mask(width < 62 ? width : 62),
                            .note = gen->kept.note};
    int code = firn__gen_reserve(gen, &request, &sending, &first, error);
    if (code == FIRN_EBUSY) {
        return firn_error_set(error, FIRN_EEND, FIRN_CURE_NODE_OUT,
                              "all " FIRN__LIMIT("%" PRIu64) " tickets of %s are used up: leave %s "
                                                             "out, so that firn claims a free node",
                              firn__mask(width) + 1, gen->ns, request.key);
    }
    if (code == FIRN_OK) {
        firn__identity_put(gen, (uint32_t)gen->ticket_field, (uint64_t)first);
    }
    return code;
}

static int see_shuffle(void *context, const firn_holding *holding) {
    firn__shuffle *found = context;
    found->digits += firn__shuffle_read(found, holding->layout);
    return FIRN_OK;
}

/* Agrees on the key of shared digits. The first generator of the namespace draws it and stores it
 * as the layout of another namespace. A later one finds it there; if two draw at once, the store
 * refuses the second, which looks again. */
int firn__gen_agree(firn_gen *gen, firn_error *error) {
    char ns[FIRN_NS_SIZE], layout[FIRN__SHUFFLE_SIZE];
    int code = gen->shuffle.digits > 0 ? FIRN_ENAMESPACE : FIRN_OK;
    snprintf(ns, sizeof ns, "%.*s key", FIRN__NS_MOST, gen->ns);
    for (int i = 0; i < 3 && (code == FIRN_ENAMESPACE || code == FIRN_EBUSY); i++) {
        firn__shuffle key = {{0, 0}, 0};
        firn__attempts sending = {.tries = FIRN__SENDINGS};
        int64_t first;
        firn_request request = {
            .ns = ns, .layout = layout, .key = "key", .count = 1, .note = gen->kept.note};
        code = firn_store_list(gen->store, ns, see_shuffle, &key, error);
        if (code == FIRN_OK && key.digits == 0) {
            code = firn__entropy_fill(gen->entropy, key.key, sizeof key.key, error);
            firn__shuffle_write(layout, &key);
            if (code == FIRN_OK) {
                code = firn__gen_reserve(gen, &request, &sending, &first, error);
            }
        }
        if (code == FIRN_OK) {
            memcpy(gen->shuffle.key, key.key, sizeof key.key);
        }
    }
    return code;
}

/* " with worker=3": the fields of the node that are given, if others are claimed. */
static char *with_given(char text[128], const firn_gen *gen) {
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < gen->scheme.slice_count && length < 60; i++) {
        if (firn__identity_part(gen, i) && gen->kept.fields.given >> i & 1) {
            char value[FIRN_VALUE_SIZE];
            length += (size_t)snprintf(text + length, 128 - length, "%s%s=%s",
                                       length > 0 ? " " : " with ", gen->scheme.slices[i].name,
                                       firn_fields_get(value, &gen->kept.fields, &gen->scheme, i));
        }
    }
    return text;
}

/* Reports among which generators the IDs are unique, if nobody chose the store. */
static void tell_store(const firn_gen *gen, const char *url) {
    char node[128];
    if (url == NULL && !gen->fixed && gen->ticket_field < 0) {
        firn__gen_notice(
            gen,
            "firn claims a free node%s; IDs are unique among the processes that share the store %s",
            with_given(node, gen), firn__store_url(gen->store));
    } else if (url == NULL && gen->fixed) {
        firn__gen_notice(gen, "%s is reserved only among the processes that share the store %s",
                         firn__gen_node_text(node, gen, gen->pinned), firn__store_url(gen->store));
    } else if (url != NULL && strncmp(url, "memory:", 7) == 0) {
        firn__gen_notice(gen,
                         "the store memory: ends with this process: IDs are unique within it only");
    }
}

/* The record of the namespace: the layout, a reach other than the default, and whose it is. */
static int name_layout(firn_gen *gen, firn_error *error) {
    const firn_scheme *home = gen->scheme.ns != NULL ? firn_scheme_find(gen->scheme.ns) : NULL;
    char reach[sizeof FIRN__RESERVES + FIRN__CLAIMS_SIZE + sizeof FIRN__LONGEST_REACH] = "";
    char claims[FIRN__CLAIMS_SIZE];
    firn_scheme shared = gen->scheme;
    snprintf(reach, sizeof reach, "%s%s%s", gen->splits ? FIRN__RESERVES : "",
             gen->splits ? firn__confined_write(claims, &gen->reserves) : "",
             firn__reach_text(gen));
    if (home != NULL && gen->scheme.packer >= 0) {
        shared = *home;
        shared.epoch = gen->scheme.epoch;
    }
    firn_scheme_layout(gen->layout, &shared);
    const size_t length = strlen(gen->layout), most = sizeof gen->layout - 1 - strlen(reach);
    if (length > most) {
        return firn__fail(error, FIRN_ERANGE,
                          "the layout has %zu characters: with another reach use at most %zu",
                          length, most);
    }
    strcpy(gen->layout + length, reach);
    strcpy(gen->kept.stored, gen->layout);
    return FIRN_OK;
}

/* The names of its marks in a store. */
static int name_marks(firn_gen *gen, const char *note, firn_error *error) {
    int code = name_layout(gen, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn__scheme_ns(gen->ns, firn_gen_scheme(gen));
    if (gen->keys.ns != NULL) {
        size_t length = strlen(gen->keys.ns);
        if (length > FIRN__NS_MOST) {
            return firn__fail(error, FIRN_ERANGE,
                              "the namespace ns=%.20s... has %zu characters: at most %d",
                              gen->keys.ns, length, FIRN__NS_MOST);
        }
        memcpy(gen->ns, gen->keys.ns, length + 1);
    }
    if (note != NULL) {
        snprintf(gen->kept.note, sizeof gen->kept.note, "%s", note);
    } else {
        firn__node_note(gen->kept.note);
    }
    return FIRN_OK;
}

static int connect_store(firn_gen *gen, const firn_config *config, firn_error *error) {
    int code = FIRN_OK;
    gen->store = config->store;
    if (gen->store == NULL && gen->reserved) {
        firn_store_options options =
            config->store_options != NULL ? *config->store_options : (firn_store_options){0};
        options.unsafe = options.unsafe || gen->keys.unsafe_ != 0;
        if (options.wait_ms == 0) {
            options.wait_ms = gen->keys.max_wait_ms > 0 ? gen->keys.max_wait_ms : 1;
        }
        if (options.notice == NULL) {
            options.notice = config->notice;
            options.notice_self = config->notice_self;
        }
        const char *url = config->store_url != NULL ? config->store_url : gen->keys.store;
        firn_error why = {0};
        options.later = gen->keys.reserve_ms > 0;
        code = firn_store_open(&gen->store, url, &options, &why);
        if (code == FIRN_OK && why.code != FIRN_OK) {
            firn__gen_notice(gen, "%s", why.text);
            firn__gen_notice(gen, "until the store answers, IDs come from this machine's reserve");
        } else if (code != FIRN_OK && error != NULL) {
            *error = why;
        }
        gen->own_store = code == FIRN_OK;
        if (code == FIRN_OK) {
            tell_store(gen, url);
        }
    }
    if (code == FIRN_OK && firn__reserves(gen) && gen->splits && !firn__store_has_law(gen->store)) {
        code =
            firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                           FIRN__VALUE("reserve_claim") " applies to stores of firn's, and %.60s "
                                                        "is a program's: leave it out",
                           firn__store_url(gen->store));
    }
    if (code == FIRN_OK && firn__reserves(gen) && firn_store_caution(gen->store) != NULL) {
        gen->cautioned = true;
        firn__gen_notice(gen, "%s", firn_store_caution(gen->store));
    }
    return code;
}

static void tell_end(const firn_gen *gen) {
    firn_time now, end;
    char when[FIRN_TIME_SIZE];
    if (!firn__gen_end(gen, &end) || gen->clock->wall(gen->clock->self, &now) != FIRN_OK ||
        firn__time_since(&end, &now) >= SOON_NS) {
        return;
    }
    firn_time_format(when, &end, firn_scheme_digits(&gen->scheme));
    if (firn_time_cmp(&end, &now) <= 0) {
        firn__gen_notice(gen, "the layout of %s ended at %s: only back-dated IDs are left",
                         gen->scheme.name, when);
    } else {
        firn__gen_notice(gen,
                         "the layout of %s ends at %s: plan the move to another epoch= or scheme",
                         gen->scheme.name, when);
    }
}

/* The first window, so that errors are reported here and not by the first ID. */
static int first_window(firn_gen *gen, firn_error *error) {
    int64_t left = gen->keys.max_wait_ms;
    uint64_t tick;
    if (gen->keys.mode_ == FIRN__MODE_ONLINE) {
        return FIRN_OK; /* holds nothing: an ended layout may still be back-dated */
    }
    int code = firn__gen_now(gen, &tick, error);
    if (code != FIRN_OK || !firn__reserves(gen) || gen->has_renewer) {
        return code;
    }
    for (;;) {
        code = firn__renewal_lock(gen, true, error);
        if (code != FIRN_OK) {
            return code;
        }
        firn__need need = {
            NULL, tick, atomic_load_explicit(&gen->live->watch.stepped, memory_order_acquire),
            1,    1,    true};
        code = firn__window_keep(gen, 0, &need, error);
        firn__renewal_unlock(gen);
        if (code != FIRN_EBUSY ||
            atomic_load_explicit(&gen->live->any.busy_ms, memory_order_relaxed) > left ||
            left <= 0 || firn__gen_spent_ms() >= gen->keys.max_wait_ms) {
            return code;
        }
        gen->clock->pause(gen->clock->self, 10000000);
        left -= 10;
        int again = firn__gen_now(gen, &tick, error);
        if (again != FIRN_OK) {
            return again;
        }
    }
}

void firn__gen_dispose(firn_gen *gen) {
    if (gen->own_store) {
        firn_store_close(gen->store);
    }
    firn__ticks_free(&gen->kept.history);
    if (gen->live != NULL) {
        /* first: another thread that renews the identity must not find the windows any more */
        firn__wiped_free(gen->live, sizeof(firn__process_state));
        firn__window_free(gen);
    }
    free(gen);
}

int firn__gen_make(firn_gen **out, const firn_config *config, firn_error *error) {
    firn_gen *gen = calloc(1, sizeof *gen);
    if (gen == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a generator");
    }
    gen->ticket_field = -1;
    gen->clock = config->clock != NULL ? config->clock : &firn__clock_system;
    gen->entropy = config->entropy;
    gen->has_renewer = config->has_renewer;
    gen->notice = config->notice;
    gen->notice_self = config->notice_self;
    int code = config->scheme == NULL
                   ? firn__fail(error, FIRN_EUSAGE, "no scheme is given: name one")
                   : configure(gen, config, error);
    if (code == FIRN_OK) {
        code = make_live(gen, error);
    }
    if (code == FIRN_OK) {
        code = firn__gen_identify(gen, error);
    }
    if (code == FIRN_OK) {
        code = name_marks(gen, config->note, error);
    }
    if (code != FIRN_OK) {
        firn__gen_dispose(gen);
        return code;
    }
    *out = gen;
    return FIRN_OK;
}

int firn_open_with(firn_gen **out, const firn_config *given, firn_error *error) {
    firn_config config = {0};
    firn_gen *gen;
    memcpy(&config, given, given->size < sizeof config ? given->size : sizeof config);
    int code = firn__gen_make(&gen, &config, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn__gen_begin(gen);
    gen->cycles =
        config.clock == NULL && gen->keys.clock_ == FIRN__CLOCK_FRESH && firn__cycles_constant();
    code = connect_store(gen, &config, error);
    if (code == FIRN_OK) {
        code = firn__gen_agree(gen, error);
    }
    if (code == FIRN_OK) {
        code = take_ticket(gen, error);
    }
    if (code == FIRN_OK) {
        code = firn__reach_window(gen, error);
    }
    if (code == FIRN_OK && gen->keys.reserve_ms > 0 && config.shared != NULL) {
        code = firn__fail(error, FIRN_EUSAGE,
                          "a generator in shared memory holds no reserve: leave reserve out");
    }
    if (code == FIRN_OK) {
        code = firn__machine_open(
            gen, config.store_options != NULL ? config.store_options->module_dir : NULL, error);
    }
    if (code == FIRN_OK) {
        code = config.shared != NULL
                   ? firn__shared_attach(gen, config.shared, config.shared_size, error)
                   : FIRN_OK;
    }
    if (code == FIRN_OK) {
        firn__policy_way(gen);
        code = first_window(gen, error);
    }
    if (code != FIRN_OK) {
        firn__gen_dispose(gen);
        return code;
    }
    tell_end(gen);
    *out = gen;
    return FIRN_OK;
}

int firn_open(firn_gen **gen, const char *scheme, const char *keys, firn_error *error) {
    firn_config config = {.size = sizeof config, .scheme = scheme, .keys = keys};
    return firn_open_with(gen, &config, error);
}

int firn_close(firn_gen *gen, firn_error *error) {
    int code = FIRN_OK;
    if (gen == NULL) {
        return FIRN_OK;
    }
    firn__wiped_look();
    /* In a forked child nothing is its own; a shared window is not its process's. */
    bool own = atomic_load_explicit(&gen->live->any.serial, memory_order_acquire) != 0;
    if (own && gen->shared == NULL) {
        pthread_mutex_lock(&gen->live->locked.lock);
        for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
            int value = firn__window_retire(gen, k, true, error);
            code = value != FIRN_OK ? value : code;
        }
        pthread_mutex_unlock(&gen->live->locked.lock);
    }
    firn__gen_dispose(gen);
    return code;
}
