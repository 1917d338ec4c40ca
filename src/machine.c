/* SPDX-License-Identifier: MIT */
/* The reserve of a machine, as the store of a generator: windows come from the local file, and
 * everything else goes to the shared store. Refills are looked at after a window was reserved, in
 * the call that renews. */
#include "machine.h"
#include "engine.h"
#include "error.h"
#include "fork_memory.h"
#include "law.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEND_NS    INT64_C(10000000000) /* between two looks at the refills, or at the clock */
#define SELDOM_NS  INT64_C(60000000000) /* after failures */
#define ENOUGH_NS  INT64_C(500000000)   /* one call begins no refill after this */
#define EVERY_MS   60000                /* between two refills of a node */
#define DIFFERS_MS 1000                 /* a clock that is so far from the store's is doubted */

/* ---- refills --------------------------------------------------------------------------------- */

/* The end of the reserve: of the node that lasts longest, since a process may move to it. */
static void note_end(firn__machine *machine, const firn__machine_list *list) {
    int64_t end = 0;
    firn_time until = {0, 0};
    for (size_t i = 0; i < list->count; i++) {
        const int64_t ceiling = list->node[i].right.ceiling;
        end = ceiling > end ? ceiling : end;
    }
    if (end > 0) {
        firn_scheme_time(&machine->gen->scheme, (uint64_t)end >> machine->gen->s, &until);
    }
    atomic_store_explicit(&machine->until_ms, until.sec * 1000 + until.ns / 1000000,
                          memory_order_relaxed);
}

/* `firn nodes claim` may exclude a node that the reserve holds. */
static bool is_allowed(const firn__machine *machine, const char *key) {
    return firn__claimable_by(machine->gen, strtoull(key, NULL, 10), true);
}

/* Nodes that can still grant; the others are excluded, or their time is over. */
static uint64_t count_live(const firn__machine *machine, const firn__machine_list *list,
                           int64_t present) {
    uint64_t live = 0;
    for (size_t i = 0; i < list->count; i++) {
        live += list->node[i].right.ceiling > present && is_allowed(machine, list->node[i].key);
    }
    return live;
}

/* Each minute, or of a short reserve from half of it on, and as long as the last refill waits for
 * its fence. Losses of the store, and copies of the file, are noticed then. */
static bool needs_refill(const firn__machine *machine, const firn__right *right, int64_t present) {
    const int64_t ms = machine->reserve_ms, least_ms = ms - (ms / 2 < EVERY_MS ? ms / 2 : EVERY_MS);
    const int64_t least = firn__slots_of(machine->gen, firn__ms_ticks(machine->gen, least_ms));
    return right->ceiling < right->end || right->ceiling - present < least;
}

static bool is_listed(const firn__machine_list *list, const char *key) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->node[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* To a store that was restored, nodes of this machine may look free. */
static int add_spare(firn__machine *machine, const firn__machine_list *list, int64_t present,
                     firn_error *error) {
    char key[FIRN_KEY_SIZE];
    uint64_t node;
    firn_mark held;
    const int64_t last = present + firn__slots_of(machine->gen, 1) - 1;
    const firn_request claim = {.earliest = present, .latest = last};
    int code = firn__claim_spare(machine->gen, machine->shared, last, &node, error);
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(key, sizeof key, "%" PRIu64, node);
    if (is_listed(list, key) || !is_allowed(machine, key)) {
        return FIRN_OK; /* next time: the claims may have been narrowed during the listing */
    }
    code = firn__machine_refill(machine, key, &claim, &held, error);
    return code == FIRN_EBUSY ? FIRN_OK : code;
}

/* Nodes that need a refill, in the list's order. Surplus nodes, which processes that began at the
 * same time claimed, run out. */
static int find_due(firn__machine *machine, const firn__machine_list *list, int64_t present,
                    bool due[FIRN__MACHINE_NODES], firn_error *error) {
    const uint64_t live = count_live(machine, list, present);
    const uint64_t wanted = (uint64_t)machine->gen->keys.reserve_nodes;
    uint64_t kept = 0;
    int code = FIRN_OK;
    for (size_t i = 0; code == FIRN_OK && i < list->count; i++) {
        const firn__right *right = &list->node[i].right;
        const bool over = right->ceiling <= present;
        const bool excluded = !is_allowed(machine, list->node[i].key);
        if (excluded || (over && live >= wanted)) {
            due[i] = false;
            code = firn__machine_shut(machine, list->node[i].key, excluded ? INT64_MAX : present,
                                      error);
            continue;
        }
        kept += !over;
        due[i] = (over || kept <= wanted) && needs_refill(machine, right, present);
    }
    return code;
}

/* The due node that ends first; the count of nodes: no node. */
static size_t soonest_due(const firn__machine_list *list, const bool due[FIRN__MACHINE_NODES]) {
    size_t found = list->count;
    for (size_t i = 0; i < list->count; i++) {
        if (due[i] && (found == list->count ||
                       list->node[i].right.ceiling < list->node[found].right.ceiling)) {
            found = i;
        }
    }
    return found;
}

/* One node after the other. The first failure of the store ends it; of a slow store, the rest waits
 * for the next call that renews (*later): the window is needed now, the refill within an hour. */
static int tend_all(firn__machine *machine, int64_t present, bool *later, firn_error *error) {
    firn__machine_list list;
    firn_mark held;
    bool due[FIRN__MACHINE_NODES];
    const int64_t enough_ns = firn__machine_steady_ns(machine) + ENOUGH_NS;
    int code = firn__machine_nodes(machine, &list, error);
    code = code == FIRN_OK ? find_due(machine, &list, present, due, error) : code;
    size_t i;
    *later = false;
    while (code == FIRN_OK && !*later && (i = soonest_due(&list, due)) < list.count) {
        *later = firn__machine_steady_ns(machine) > enough_ns;
        if (!*later) {
            due[i] = false;
            code = firn__machine_refill(machine, list.node[i].key, NULL, &held, error);
            code = code == FIRN_EBUSY || code == FIRN_EWINDOW ? FIRN_OK : code;
        }
    }
    code = code == FIRN_OK ? firn__machine_nodes(machine, &list, error) : code;
    if (code == FIRN_OK &&
        count_live(machine, &list, present) < (uint64_t)machine->gen->keys.reserve_nodes) {
        code = add_spare(machine, &list, present, error);
    }
    if (firn__machine_nodes(machine, &list, NULL) == FIRN_OK) {
        note_end(machine, &list);
    }
    return code;
}

/* False: it was not the time. */
static bool tend(firn__machine *machine) {
    firn_error error = {0};
    int64_t present, wait_ns = TEND_NS;
    bool later;
    if (firn__machine_steady_ns(machine) < machine->tend_ns || firn__machine_is_paused(machine) ||
        firn__machine_present(machine, &present, NULL) != FIRN_OK) {
        return false;
    }
    const int code = tend_all(machine, present, &later, &error);
    firn__machine_heard(machine, code);
    machine->failed = code != FIRN_OK ? machine->failed + 1 : 0;
    if (code != FIRN_OK) {
        firn__count(&machine->failures);
        firn__count(&machine->gen->live->any.store_errors);
        wait_ns = machine->failed < 6 ? TEND_NS * machine->failed : SELDOM_NS;
    }
    wait_ns = code == FIRN_OK && later ? 0 : wait_ns;
    machine->tend_ns = firn__machine_steady_ns(machine) + wait_ns;
    return true;
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Of the generator's namespace. History and jobs reserve without a guard. */
static bool is_window(const firn_request *request) {
    return request->guard_tick_ns > 0;
}

/* By the shared store, with a guard of its present clock. */
static int pass(firn__machine *machine, const firn_request *given, int64_t *first, firn_mark *held,
                firn_error *error) {
    firn_request request = *given;
    firn__store_clock clock;
    int code = FIRN_OK;
    if (is_window(given)) {
        /* The request has its last reservation. */
        firn__store_forget(machine->shared, request.ns, request.key);
        code = firn__machine_look(machine, &clock, error);
        if (code == FIRN_OK) {
            code = firn__reach_guard_of(machine->gen, &clock, false, &request, error);
        }
    }
    return code == FIRN_OK ? firn_store_reserve(machine->shared, &request, first, held, error)
                           : code;
}

/* By the local file, and by its ceiling. The window is short: its law ends it at most 15 s after
 * the shared store's clock, as far as that is known. */
static int grant(firn__machine *machine, const firn_request *given, int64_t *first, firn_mark *held,
                 firn_error *error) {
    firn_request request = *given;
    const int64_t now_ns = firn__machine_steady_ns(machine);
    firn__store_clock clock = {.least =
                                   firn__time_after(&machine->there, now_ns - machine->read_ns)};
    clock.most = clock.least;
    int code = firn__clock_system.steady(NULL, &clock.read_ns) == FIRN_OK
                   ? FIRN_OK
                   : firn__clock_refused(machine->gen->clock, error);
    if (code == FIRN_OK) {
        code = firn__reach_guard_of(machine->gen, &clock, true, &request, error);
    }
    request.ns = machine->ns;
    request.layout = machine->layout;
    machine->verdict = FIRN__MACHINE_LAW;
    machine->right = (firn__right){0};
    return code == FIRN_OK ? firn__engine_ops.reserve(machine->engine, &request, first, held, error)
                           : code;
}

/* Is the grant the last one of a right that was closed? */
static bool is_closed(firn__machine *machine, const char *key, uint64_t grant) {
    firn__right right;
    return firn__machine_right(machine, key, &right, NULL) == FIRN_OK &&
           right.state == FIRN__RIGHT_CLOSED && right.mark.grant == grant && grant != 0;
}

/* A window whose right was closed: it is dropped at once. */
static int refuse_closed_right(const firn__machine *machine, const firn_request *request,
                               firn_mark *held, firn_error *error) {
    *held = (firn_mark){FIRN_SLOT_MAX, 2};
    return firn__fail(error, FIRN_EBUSY,
                      "node %.40s of %.60s is no longer in the reserve of this machine: its window "
                      "is dropped",
                      request->key, machine->gen->ns);
}

/* The window ends after the ceiling, which a refill raises; with `claim`, the refill takes the node. */
static int refill_and_grant(firn__machine *machine, const firn_request *request,
                            const firn_request *claim, int64_t *first, firn_mark *held,
                            firn_error *error) {
    int code = firn__machine_refill(machine, request->key, claim, held, error);
    if (code == FIRN_EWINDOW && request->own.high == 0) { /* there are other nodes */
        *held = (firn_mark){request->latest + 1, 2};
        return FIRN_EBUSY;
    }
    return code == FIRN_OK ? grant(machine, request, first, held, error) : code;
}

bool firn__machine_has_room(firn__machine *machine) {
    firn__machine_list list;
    int64_t present;
    return firn__machine_nodes(machine, &list, NULL) == FIRN_OK &&
           firn__machine_present(machine, &present, NULL) == FIRN_OK &&
           count_live(machine, &list, present) < (uint64_t)machine->gen->keys.reserve_nodes;
}

/* The machine does not have the node: the machine takes the node, if there is room, or the process gets
 * a separate window from the shared store. With reserve_claim=, the machine takes only nodes of
 * reserves, and these have no separate windows. */
static int grant_elsewhere(firn__machine *machine, const firn_request *request, int64_t *first,
                           firn_mark *held, firn_error *error) {
    const firn_mark *own = &request->own;
    if (own->high != 0) {
        return own->grant == machine->right.mark.grant
                   ? refuse_closed_right(machine, request, held, error)
                   : pass(machine, request, first, held, error);
    }
    const bool takes = is_allowed(machine, request->key);
    if (takes && firn__machine_has_room(machine)) {
        return refill_and_grant(machine, request, request, first, held, error);
    }
    if (takes && machine->gen->splits) {
        *held = (firn_mark){request->latest + 1, 2};
        return firn__refuse_busy(error, request, held->high);
    }
    return pass(machine, request, first, held, error);
}

static int machine_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                           firn_error *error) {
    firn__machine *machine = self;
    if (!is_window(request) || !machine->clocked) {
        return pass(machine, request, first, held, error);
    }
    firn_error why = {0};
    int code = grant(machine, request, first, held, &why);
    const firn__machine_verdict verdict = machine->verdict;
    if ((code == FIRN_EBUSY || code == FIRN_ECLOCK) && verdict == FIRN__MACHINE_NO_NODE) {
        code = grant_elsewhere(machine, request, first, held, error);
    } else if (code == FIRN_EBUSY && verdict == FIRN__MACHINE_CEILING) {
        code = refill_and_grant(machine, request, NULL, first, held, error);
    } else if (request->own.high == 0 && (code == FIRN_ESTORE || code == FIRN_ENAMESPACE)) {
        code = pass(machine, request, first, held, error); /* the file cannot be used */
        return code == FIRN_ESTORE ? firn__repeat(&why, error) : code;
    } else if (code != FIRN_OK) {
        firn__repeat(&why, error);
    }
    if ((code == FIRN_OK && tend(machine) && is_closed(machine, request->key, request->grant)) ||
        (code == FIRN_EBUSY && is_closed(machine, request->key, request->own.grant))) {
        return refuse_closed_right(machine, request, held, error);
    }
    return code;
}

/* Of a window, from the file or from the shared store. */
static int machine_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                             int64_t high, firn_error *error) {
    firn__machine *machine = self;
    firn_records seen;
    int code = firn__machine_read(machine, &seen, key, error);
    if (code != FIRN_OK) {
        return code;
    }
    return seen.mark.grant == mine->grant
               ? firn__engine_ops.give_back(machine->engine, machine->ns, key, mine, high, error)
               : firn_store_give_back(machine->shared, ns, key, mine, high, error);
}

static int list_own(firn__machine *machine, firn_visit *visit, void *context, firn_error *error) {
    firn__machine_list list;
    int64_t present;
    int code = machine->clocked ? firn__machine_nodes(machine, &list, error) : FIRN_EBUSY;
    if (code != FIRN_OK || firn__machine_present(machine, &present, NULL) != FIRN_OK) {
        return FIRN_OK; /* a file that cannot be used has none */
    }
    for (size_t i = 0; code == FIRN_OK && i < list.count; i++) {
        const firn__right *right = &list.node[i].right;
        const firn_holding holding = {.ns = machine->gen->ns,
                                      .layout = machine->gen->kept.stored,
                                      .key = list.node[i].key,
                                      .note = "",
                                      .mark = right->mark};
        if (right->ceiling > present && is_allowed(machine, list.node[i].key)) {
            code = visit(context, &holding);
        }
    }
    return code;
}

static int machine_list(void *self, const char *ns, firn_visit *visit, void *context,
                        firn_error *error) {
    firn__machine *machine = self;
    return ns != NULL && strcmp(ns, machine->ns) == 0
               ? list_own(machine, visit, context, error)
               : firn_store_list(machine->shared, ns, visit, context, error);
}

/* Before a refusal for the clock, which may be due to the last reading: a machine that was paused
 * has a CLOCK_BOOTTIME without the pause. */
static bool is_doubtful(const firn__machine *machine, int64_t now_ns) {
    const firn_clock *clock = machine->gen->clock;
    const int64_t skew_ms = machine->gen->keys.max_skew_ms;
    const int64_t most_ns = (skew_ms < DIFFERS_MS ? skew_ms : DIFFERS_MS) * 1000000;
    const firn_time there = firn__time_after(&machine->there, now_ns - machine->read_ns);
    firn_time here;
    if (clock->wall(clock->self, &here) != FIRN_OK) {
        return false;
    }
    const int64_t off_ns = firn__time_since(&here, &there);
    return off_ns > most_ns || off_ns < -most_ns;
}

static firn_time time_of_ms(int64_t ms) {
    return (firn_time){ms / 1000, (int32_t)(ms % 1000) * 1000000};
}

/* The clock of the last refill, if this boot made it. After another boot the clock of this machine,
 * if it is between the last refill and the end of the reserve. */
static int recall_clock(firn__machine *machine, firn_error *error) {
    firn__machine_list list;
    const firn__right *last = NULL;
    firn_time wall;
    int64_t present, ceiling = 0;
    int code = firn__machine_nodes(machine, &list, error);
    for (size_t i = 0; code == FIRN_OK && i < list.count; i++) {
        const firn__right *right = &list.node[i].right;
        ceiling = right->ceiling > ceiling ? right->ceiling : ceiling;
        last = last == NULL || right->there_ms > last->there_ms ? right : last;
    }
    if (code != FIRN_OK || last == NULL) {
        return code;
    }
    note_end(machine, &list);
    const firn_time there = time_of_ms(last->there_ms);
    const firn_clock *clock = machine->gen->clock;
    if (last->boot == machine->boot) {
        machine->there = there;
        machine->read_ns = last->read_ms * 1000000;
        machine->clocked = firn__machine_steady_ns(machine) >= machine->read_ns;
        machine->recalled = false;
        return FIRN_OK;
    }
    if (clock->wall(clock->self, &wall) == FIRN_OK && firn_time_cmp(&wall, &there) > 0 &&
        firn__reach_slot(machine->gen, &wall, 0, 0, &present, NULL) == FIRN_OK &&
        present < ceiling) {
        machine->there = wall;
        machine->read_ns = firn__machine_steady_ns(machine);
        machine->clocked = machine->recalled = true;
    }
    return FIRN_OK; /* else the shared store is asked */
}

/* Between two refills, the time that has passed since the last. Of a process that was idle for
 * longer, the clocks may differ by more than max_skew. */
static int machine_now(void *self, firn_time *now, firn_error *error) {
    firn__machine *machine = self;
    firn__store_clock clock;
    const int64_t now_ns = firn__machine_steady_ns(machine);
    const bool old = now_ns - machine->read_ns > machine->reserve_ms * 1000000 / 2;
    const bool doubtful = machine->clocked && is_doubtful(machine, now_ns);
    if (!machine->clocked ||
        ((old || doubtful) && now_ns >= machine->look_ns && !firn__machine_is_paused(machine))) {
        int code = firn__machine_look(machine, &clock, error);
        if (code != FIRN_OK && !machine->clocked) {
            return code;
        }
        machine->look_ns = now_ns + TEND_NS;
    }
    if (doubtful && machine->recalled) { /* somebody has corrected the clock that was believed */
        (void)recall_clock(machine, NULL);
    }
    *now = firn__time_after(&machine->there, firn__machine_steady_ns(machine) - machine->read_ns);
    return FIRN_OK;
}

static void machine_close(void *self) {
    firn__machine *machine = self;
    firn__machine_file_close(machine);
    if (machine->owns_shared) {
        firn_store_close(machine->shared);
    }
    free(machine);
}

int firn__machine_wait(firn_gen *gen, int64_t soonest, int64_t latest, const firn_error *why,
                       firn_error *error) {
    const uint64_t ticks = ((uint64_t)(soonest - latest) >> gen->s) + 1;
    atomic_store_explicit(&gen->live->any.busy_ms, (int64_t)(ticks * gen->scheme.tick_ns / 1000000),
                          memory_order_relaxed);
    return firn__fail(error, FIRN_EBUSY,
                      "each node of the reserve of this machine is in use, and no other can be "
                      "claimed (%.200s): wait, or raise reserve_nodes",
                      why->text);
}

static int64_t left_ms(const firn__machine *machine) {
    const firn_clock *clock = machine->gen->clock;
    const int64_t until_ms = atomic_load_explicit(&machine->until_ms, memory_order_relaxed);
    firn_time now;
    if (until_ms == 0 || clock->wall(clock->self, &now) != FIRN_OK) {
        return 0;
    }
    const int64_t ms = until_ms - (now.sec * 1000 + now.ns / 1000000);
    return ms > 0 ? ms : 0;
}

void firn__machine_tell(const firn__machine *machine, firn_status *status) {
    if (machine != NULL) {
        status->reserve_ms = left_ms(machine);
        status->reserve_refills = atomic_load_explicit(&machine->refills, memory_order_relaxed);
        status->reserve_failures = atomic_load_explicit(&machine->failures, memory_order_relaxed);
    }
}

int firn_reserve_give_back(firn_gen *gen, firn_error *error) {
    firn__wiped_look();
    firn__gen_begin(gen);
    if (gen->machine == NULL) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the generator of %s has no reserve: set reserve=DURATION, as in the "
                          "processes of this machine",
                          gen->scheme.name);
    }
    int code = firn__renewal_lock(gen, true, error);
    if (code == FIRN_OK) {
        code = firn__machine_give_back(gen->machine, error);
        firn__renewal_unlock(gen);
    }
    return code;
}

/* ---- open ------------------------------------------------------------------------------------ */

/* No window of the node begins before `least`. */
static int raise_mark(firn__machine *machine, const char *key, int64_t least, firn_error *error) {
    firn_records seen;
    int code = firn__machine_begin(machine, &seen, key, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (seen.mark.high < least) {
        code = firn__machine_write(machine, &seen, (firn_mark){least, 0}, seen.note, error);
    }
    return firn__machine_end(machine, code);
}

/* The first process after a boot. The file may be older than windows that were granted from it:
 * others begin after those. */
static int begin_boot(firn__machine *machine, firn_error *error) {
    const firn_gen *gen = machine->gen;
    firn__machine_list list;
    firn__binding binding;
    int64_t least;
    int code = firn__machine_nodes(machine, &list, error);
    if (code == FIRN_OK) {
        code = firn__reach_slot(gen, &machine->there,
                                FIRN__MACHINE_WINDOW_MS + gen->keys.max_lead_ms, 1, &least, error);
    }
    for (size_t i = 0; code == FIRN_OK && i < list.count; i++) {
        code = raise_mark(machine, list.node[i].key, least, error);
    }
    code = code == FIRN_OK ? firn__binding_read(machine, &binding, error) : code;
    if (code == FIRN_OK) {
        firn__binding_here(machine, &binding);
        binding.known = true;
        code = firn__binding_write(machine, &binding, error);
    }
    return code;
}

static int open_file(firn__machine *machine, const char *module_dir, firn_error *error) {
    const firn_gen *gen = machine->gen;
    const firn__keys *keys = &gen->keys;
    const firn__machine_place place = {
        .ns = gen->ns,
        .layout = gen->layout,
        .path = keys->reserve_path,
        .options = {.unsafe = keys->unsafe_ != 0 || firn__store_options(machine->shared).unsafe,
                    .wait_ms = keys->max_wait_ms > 0 ? keys->max_wait_ms : 1000,
                    .module_dir = module_dir,
                    .notice = gen->notice,
                    .notice_self = gen->notice_self}};
    return firn__machine_file_open(machine, &place, error);
}

/* A shared store that is there is looked at when the reserve is opened. */
static int begin_reserve(firn__machine *machine, firn_error *error) {
    firn__store_clock clock;
    bool booted = false;
    int code = firn__machine_bind(machine, &booted, error);
    if (code == FIRN_OK && !firn__machine_is_paused(machine)) {
        const int heard = firn__machine_identify(machine, true, NULL);
        firn__machine_heard(machine, heard);
        if (heard == FIRN_OK) {
            (void)firn__claimable_learn(machine->gen, machine->shared);
        }
        if (heard == FIRN_OK && booted) { /* the store is there after all */
            code = firn__machine_bind(machine, &booted, error);
        }
    }
    if (code == FIRN_OK) {
        code = recall_clock(machine, error);
    }
    if (code == FIRN_OK && !machine->clocked) {
        code = firn__machine_look(machine, &clock, error);
        code = code == FIRN_OK && booted ? firn__machine_bind(machine, &booted, error) : code;
    }
    return code == FIRN_OK && booted ? begin_boot(machine, error) : code;
}

int firn__machine_has_place(const firn_store *store, firn_error *error) {
    const char *url = firn__store_url(store), *colon = strchr(url, ':');
    return colon != NULL && colon[1] != '\0'
               ? FIRN_OK
               : firn__fail(error, FIRN_ESTORE,
                            "a reserve needs a store with a place, and %.60s names none: leave "
                            "reserve out, or use a store that has a URL",
                            url);
}

/* The disk fails or is full. The owner of the file is not known, so nothing of it is used later
 * either. The shared store grants other nodes. */
static bool is_dispensable(firn__machine *machine, int code, const firn_error *why) {
    firn__store_clock clock;
    if (code != FIRN_ESTORE || why->cure != FIRN_CURE_CHECK_STORE ||
        firn__machine_look(machine, &clock, NULL) != FIRN_OK) {
        return false;
    }
    firn__gen_notice(machine->gen, "this process continues without its reserve: %.300s", why->text);
    return true;
}

int firn__machine_open(firn_gen *gen, const char *module_dir, firn_error *error) {
    static const firn_store_ops ops = {.version = FIRN_STORE_OPS_VERSION,
                                       .scheme = "reserve",
                                       .reserve = machine_reserve,
                                       .give_back = machine_give_back,
                                       .list = machine_list,
                                       .now = machine_now,
                                       .close = machine_close};
    firn_store *wrapped;
    firn_error why = {0};
    if (gen->keys.reserve_ms == 0) {
        return FIRN_OK;
    }
    int code = firn__machine_has_place(gen->store, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn__machine *machine = calloc(1, sizeof *machine);
    if (machine == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a reserve");
    }
    machine->gen = gen;
    machine->shared = gen->store;
    machine->reserve_ms = gen->keys.reserve_ms;
    machine->trusts = gen->keys.reserve_trust_ != 0;
    code = open_file(machine, module_dir, error);
    if (code == FIRN_OK) {
        code = begin_reserve(machine, &why);
        if (is_dispensable(machine, code, &why)) {
            machine_close(machine);
            return FIRN_OK;
        }
        code = code == FIRN_OK ? code : firn__repeat(&why, error);
    }
    if (code == FIRN_OK) {
        code = firn_store_wrap(&wrapped, &ops, machine, error);
    }
    if (code != FIRN_OK) {
        machine_close(machine);
        return code;
    }
    machine->owns_shared = gen->own_store;
    gen->store = wrapped;
    gen->own_store = true;
    gen->machine = machine;
    return FIRN_OK;
}
