/* SPDX-License-Identifier: MIT */
/* A backend's generators. Those with a node of the server's are the library's shared generators:
 * all backends issue from one cursor in a cell's memory. Their store hands each request to the
 * renewer and never waits: the outcome is unknown (FIRN_EUNKNOWN) until the renewer has answered,
 * and the library sends the same request again. So a backend waits here, outside the library, where
 * PostgreSQL may interrupt it, and holds no lock. */
#include "extension.h"

#include "miscadmin.h"

#include <inttypes.h>
#include <time.h>

enum { WINDOW_MS = 2000 };
enum { OTHERS = 2 }; /* a grant that no request has: the library's are odd */

/* ---- the store ------------------------------------------------------------------------------- */

/* Why the renewer granted nothing; the library gives the code FIRN_ESTORE instead. */
static firn_error refused;

static int take_answer(firn_reservation *reservation, int64_t *first, firn_error *error) {
    if (reservation->why.code == FIRN_OK) {
        *first = reservation->first;
        return FIRN_OK;
    }
    refused = reservation->why;
    *error = (firn_error){.code = FIRN_ESTORE};
    reservation->state = FIRN_TAKE_FREE; /* reported once: the same request is made again */
    return FIRN_ESTORE;
}

/* Of each cell: does this process use it because of firn.node? */
static bool is_of_setting[FIRN_CELLS_MOST];

/* Marks of the renewer only rise, so it need not be asked again; marks of the shared list are as
 * old as the answer. */
static int64 busy_of(const firn_cell *cell) {
    return firn_steady_ms() < cell->shared_ms ? Max(cell->busy, cell->shared) : cell->busy;
}

static int reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                   firn_error *error) {
    firn_cell *cell = self;
    firn_reservation *reservation = &cell->reservation;
    int code = FIRN_EUNKNOWN;
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    bool mine = reservation->grant == request->grant && reservation->state != FIRN_TAKE_FREE;
    if (mine && reservation->state == FIRN_TAKE_ANSWERED && reservation->busy == 0 &&
        reservation->shared == 0) {
        code = take_answer(reservation, first, error);
    } else if (request->latest < busy_of(cell)) {
        *held = (firn_mark){busy_of(cell), OTHERS};
        code = FIRN_EBUSY;
    } else if (!mine ||
               reservation->state == FIRN_TAKE_ANSWERED) { /* nobody waits for another any more */
        *reservation = (firn_reservation){.state = FIRN_TAKE_ASKED,
                                          .grant = request->grant,
                                          .count = request->count,
                                          .earliest = request->earliest,
                                          .latest = request->latest};
        if (is_of_setting[cell - firn_slots->cells]) {
            strlcpy(reservation->node, firn_setting_node, sizeof reservation->node);
        }
        firn_wake_renewer();
    }
    LWLockRelease(firn_slots->lock);
    return code;
}

/* A shared window is never given back in part, and the server's nodes are not claimed from a
 * list. */
static int give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                     int64_t high, firn_error *error) {
    return FIRN_ESYSTEM;
}

static int list(void *self, const char *ns, firn_visit *visit, void *context, firn_error *error) {
    return FIRN_ESYSTEM;
}

static void close_none(void *self) {
}

static const firn_store_ops ops = {.version = FIRN_STORE_OPS_VERSION,
                                   .scheme = "server",
                                   .reserve = reserve,
                                   .give_back = give_back,
                                   .list = list,
                                   .close = close_none};

/* ---- opening --------------------------------------------------------------------------------- */

/* The keys of the generator: all backends must give the same for one cell, so no fields of the
 * caller's. */
static void write_keys(firn_issuer *issuer, const firn_recipe *recipe) {
    const firn_scheme *scheme = &recipe->scheme;
    size_t size = sizeof issuer->keys;
    size_t length =
        (size_t)snprintf(issuer->keys, size, "window=%dms max_wait=0 %s", WINDOW_MS, recipe->shape);
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        if (firn_is_part(scheme, i)) {
            char value[FIRN_VALUE_SIZE];
            length += (size_t)snprintf(issuer->keys + length, size - length, " %s=%s",
                                       scheme->slices[i].name,
                                       firn_fields_get(value, &recipe->fields, scheme, i));
        }
    }
}

/* Computes the part of each ID that the caller's fields set. */
static void set_fields(firn_issuer *issuer, const firn_recipe *recipe) {
    const firn_scheme *scheme = &recipe->scheme;
    firn_fields none = {0}, given = {0};
    firn_id without, with;
    firn_error error;
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        int role = scheme->slices[i].role;
        uint32 first = firn_scheme_first(scheme, i);
        if ((role == FIRN_ROLE_TIME || role == FIRN_ROLE_SEQUENCE) &&
            recipe->fields.given >> first & 1) {
            firn_refuse(FIRN_EUSAGE,
                        "the generator chooses %s: leave it out, or use firn_stamp or firn_pack",
                        scheme->slices[i].name);
        }
        none.given |= role != FIRN_ROLE_CONST ? 1u << first : 0;
        given.value[i] = role == FIRN_ROLE_USER ? recipe->fields.value[i] : given.value[i];
    }
    given.given = none.given;
    FIRN_CHECK(firn_pack(&without, scheme, &none, &error));
    FIRN_CHECK(firn_pack(&with, scheme, &given, &error));
    issuer->fields =
        (firn_id){with.low ^ without.low, with.high ^ without.high, with.top ^ without.top, 0};
}

static int open_gen(firn_issuer *issuer, firn_error *error) {
    firn_config config = {.size = sizeof config,
                          .scheme = issuer->layout,
                          .keys = issuer->keys,
                          .store = issuer->store,
                          .notice = firn_tell,
                          .note = "",
                          .shared = issuer->cell->memory,
                          .shared_size = sizeof issuer->cell->memory};
    return firn_open_with(&issuer->gen, &config, error);
}

void firn_issuer_open(firn_issuer *issuer, const firn_recipe *given) {
    firn_recipe recipe = *given;
    firn_error error;
    memset(issuer, 0, sizeof *issuer);
    firn_check_slots(&recipe);
    uint64 node = firn_node_of(&recipe);
    set_fields(issuer, &recipe);
    write_keys(issuer, &recipe);
    firn_require_primary();
    issuer->cell = firn_cell_of(&recipe, node);
    is_of_setting[issuer->cell - firn_slots->cells] = recipe.node_set;
    const firn_scheme *home = &issuer->cell->scheme;
    if (firn_scheme_find(home->name) != NULL) {
        strlcpy(issuer->layout, home->name, sizeof issuer->layout);
    } else {
        firn_scheme_layout(issuer->layout, home);
    }
    issuer->scheme = recipe.scheme;
    issuer->converted = strcmp(home->name, recipe.scheme.name) != 0;
    issuer->changed = issuer->converted || issuer->fields.low != 0 || issuer->fields.high != 0 ||
                      issuer->fields.top != 0;
    FIRN_CHECK(firn_store_wrap(&issuer->store, &ops, issuer->cell, &error));
}

void firn_issuer_close(firn_issuer *issuer) {
    firn_error error;
    if (firn_close(issuer->gen, &error) != FIRN_OK) {
        ereport(LOG, (errmsg("firn: %s", error.text)));
    }
    firn_store_close(issuer->store);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool is_answered(const void *cell) {
    return ((const firn_cell *)cell)->reservation.state != FIRN_TAKE_ASKED;
}

/* Fails with the reason of the renewer, if it has one. The library may have given the request up,
 * and would ask again without looking at the answer. */
static void take_reason(firn_cell *cell) {
    firn_error why = {.code = FIRN_OK};
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    if (cell->reservation.state != FIRN_TAKE_ASKED && cell->reservation.why.code != FIRN_ECLOCK) {
        why = cell->reservation.why;
        cell->reservation.state = why.code != FIRN_OK ? FIRN_TAKE_FREE : cell->reservation.state;
    }
    LWLockRelease(firn_slots->lock);
    if (why.code != FIRN_OK) {
        firn_fail(&why);
    }
}

static void refuse_ahead(const firn_issuer *issuer, int code) __attribute__((noreturn));
static void refuse_ahead(const firn_issuer *issuer, int code) {
    const firn_cell *cell = issuer->cell;
    firn_status status = {.size = sizeof status};
    struct timespec now;
    firn_time time;
    LWLockAcquire(firn_slots->lock, LW_SHARED);
    int64 busy = code == FIRN_EBUSY ? Max(cell->busy, cell->shared) : 0;
    int64 guard = cell->guard, shared = cell->shared;
    bool lost = cell->lost;
    LWLockRelease(firn_slots->lock);
    if (busy == 0 && issuer->gen != NULL) {
        firn_gen_status(issuer->gen, &status);
    }
    uint64 slot = (uint64)Max(busy, status.next);
    clock_gettime(CLOCK_REALTIME, &now);
    firn_scheme_time(&cell->scheme, slot >> cell->sequence_bits, &time);
    double ms = (double)(time.sec - now.tv_sec) * 1e3 + (double)(time.ns - now.tv_nsec) / 1e6;
    if (busy != 0 && busy <= guard) {
        firn_refuse(
            FIRN_EWINDOW,
            "node %" PRIu64 " of %.60s is guarded for %.0f s more, after a promotion, a "
            "restore, pg_upgrade, or a change of firn.node next to a firn store: wait, or, if a "
            "promotion lost no commit, SELECT firn_take_over()",
            cell->node, cell->ns, ms / 1000);
    }
    if (busy != 0 && busy <= shared && lost) {
        firn_refuse(FIRN_EWINDOW,
                    "node %" PRIu64 " of %.60s is guarded for %.0f s more, since the list in the "
                    "schema " FIRN_REGISTRY " may have lost marks: wait, or, before the first use "
                    "after a loss, firn nodes trust",
                    cell->node, cell->ns, ms / 1000);
    }
    if (busy != 0 && busy <= shared) {
        firn_refuse(FIRN_EWINDOW,
                    "node %" PRIu64 " of %.60s is reserved by a store in the schema " FIRN_REGISTRY
                    " for %.0f s more: wait, or give this server another node",
                    cell->node, cell->ns, ms / 1000);
    }
    firn_refuse(FIRN_EEXHAUSTED,
                "IDs of %.60s node %" PRIu64 " are %.0f ms ahead of the clock, more than 1000: "
                "issue fewer per second, or check whether the clock was set back",
                cell->ns, cell->node, ms);
}

/* Until the library may be asked again, or the statement fails. */
static void wait_after(const firn_issuer *issuer, int code, const firn_error *error,
                       firn_patience *waited) {
    if (code == FIRN_ESTORE && refused.code != FIRN_OK) {
        firn_error why = refused;
        refused.code = FIRN_OK;
        if (why.code != FIRN_ECLOCK) {
            firn_fail(&why);
        }
        code = why.code;
    }
    if (code == FIRN_EUNKNOWN) {
        firn_await(is_answered, issuer->cell, waited);
        take_reason(issuer->cell);
        return;
    }
    bool soon = code == FIRN_EWINDOW || code == FIRN_EEXHAUSTED;
    if (!soon && code != FIRN_EBUSY && code != FIRN_ECLOCK) {
        firn_fail(error);
    }
    if (firn_patience_left(waited) <= 0) {
        if (code == FIRN_EWINDOW) {
            firn_refuse_late();
        }
        refuse_ahead(issuer, code);
    }
    firn_nap(soon ? 1 : 10);
}

static int try_next(firn_issuer *issuer, firn_id *id, firn_error *error) {
    int code = issuer->gen == NULL ? open_gen(issuer, error) : FIRN_OK;
    return code == FIRN_OK ? firn_next(issuer->gen, id, error) : code;
}

static void finish(const firn_issuer *issuer, firn_id *id) {
    firn_error error;
    if (issuer->converted) {
        firn_id made = *id;
        FIRN_CHECK(firn_convert(id, &issuer->scheme, &made, firn_gen_scheme(issuer->gen), &error));
    }
    id->low |= issuer->fields.low;
    id->high |= issuer->fields.high;
    id->top |= issuer->fields.top;
}

void firn_issuer_next(firn_issuer *issuer, firn_id *id) {
    firn_error error;
    int code = likely(issuer->gen != NULL) ? firn_next(issuer->gen, id, &error)
                                           : try_next(issuer, id, &error);
    if (unlikely(code != FIRN_OK)) {
        firn_patience waited = 0;
        for (; code != FIRN_OK; code = try_next(issuer, id, &error)) {
            wait_after(issuer, code, &error, &waited);
        }
    }
    if (issuer->changed) {
        finish(issuer, id);
    }
}
