/* SPDX-License-Identifier: MIT */
/* Refills of a reserve: reservations from the shared store, whose grant is durable in the local
 * file before it is sent. One refill at a time per node, by any process of the machine. */
#include "error.h"
#include "hash.h"
#include "law.h"
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UNDER_WAY_MS 15000 /* so long a pending refill is left to the process that sent it */

typedef struct refilling {
    firn__machine *machine;
    const char *key;
    char pending_key[FIRN_KEY_SIZE];
    firn__store_clock clock; /* of the shared store */
    firn__right before;
    firn__pending pending;
    bool again;   /* the request may have been sent before, */
    bool settles; /* by another process, boot or machine: the refill counts after one more */
    bool needless;
    firn_request request;
    firn__attempts sending;
    int64_t first;
} refilling;

int64_t firn__machine_steady_ns(const firn__machine *machine) {
    const firn_clock *clock = machine->gen->clock;
    int64_t now = 0;
    (void)clock->steady(clock->self, &now);
    return now;
}

/* The pause is one of the process, so its clock is the system's. */
bool firn__machine_is_paused(const firn__machine *machine) {
    return machine->gen->clock == &firn__clock_system &&
           firn__store_is_paused(firn__store_url(machine->shared));
}

void firn__machine_heard(const firn__machine *machine, int code) {
    if (machine->gen->clock == &firn__clock_system) {
        firn__store_pause(firn__store_url(machine->shared),
                          code != FIRN_ESTORE && code != FIRN_EUNKNOWN);
    }
}

int firn__machine_look(firn__machine *machine, firn__store_clock *clock, firn_error *error) {
    int code = firn__reach_read(machine->gen, machine->shared, clock, error);
    firn__machine_heard(machine, code);
    if (code == FIRN_OK) {
        machine->clocked = true;
        machine->recalled = false;
        machine->there = clock->least;
        machine->read_ns = firn__machine_steady_ns(machine);
    }
    return code;
}

int firn__machine_present(const firn__machine *machine, int64_t *slot, firn_error *error) {
    const firn_time now =
        firn__time_after(&machine->there, firn__machine_steady_ns(machine) - machine->read_ns);
    return firn__reach_slot(machine->gen, &now, 0, 0, slot, error);
}

static int64_t time_ms(const firn_time *time) {
    return time->sec * 1000 + time->ns / 1000000;
}

/* The handle that sends; a child, and a copy that was declared, are others. */
static int instance_of(firn__machine *machine, uint64_t *instance, firn_error *error) {
    int code = FIRN_OK;
    *instance = atomic_load_explicit(&machine->life->instance, memory_order_seq_cst);
    if (*instance == 0) {
        code = firn__reserve_grant(NULL, instance, error); /* which stays 0 if that fails */
        atomic_store_explicit(&machine->life->instance, *instance, memory_order_seq_cst);
    }
    return code;
}

/* ---- the request ---------------------------------------------------------------------------- */

/* A refill continues the last refill. After the end of that, the request is a claim in the present
 * tick. */
static int bound(refilling *f, const firn_request *claim, firn_error *error) {
    const firn__machine *machine = f->machine;
    const firn__right *right = &f->before;
    int64_t target = 0, present;
    int code = firn__reach_slot(machine->gen, &f->clock.least, 0, 0, &present, error);
    if (code != FIRN_OK) {
        return code;
    }
    (void)firn__reach_slot(machine->gen, &f->clock.least, machine->reserve_ms, 0, &target,
                           NULL); /* later, so it is a slot too */
    f->pending = (firn__pending){.earliest = right->end, .latest = right->end};
    if (claim != NULL) {
        f->pending.earliest = claim->earliest;
        f->pending.latest = claim->latest;
    } else if (right->end <= present) {
        f->pending.earliest = present;
        f->pending.latest = present + firn__slots_of(machine->gen, 1) - 1;
    }
    target = target < machine->gen->slot_end ? target : machine->gen->slot_end;
    f->pending.count = target - f->pending.latest;
    if (f->pending.count < 1 && right->ceiling < right->end) {
        f->pending.count = 1; /* the fence */
    }
    f->needless = f->pending.count < 1 || (claim == NULL && right->state != FIRN__RIGHT_OPEN);
    return FIRN_OK;
}

/* Is somebody else's refill under way? */
static bool is_under_way(const firn__machine *machine, const firn__pending *pending) {
    const int64_t age_ms = firn__machine_steady_ns(machine) / 1000000 - pending->sent_ms;
    return pending->boot == machine->boot && age_ms >= 0 && age_ms < UNDER_WAY_MS;
}

/* Makes the refill durable in the file, or finds a pending refill. */
static int write_down(refilling *f, firn_error *error) {
    firn__machine *machine = f->machine;
    firn_records seen;
    firn__pending found;
    char note[FIRN_NOTE_SIZE];
    uint64_t instance, grant;
    int code = instance_of(machine, &instance, error);
    code = code == FIRN_OK ? firn__reserve_grant(NULL, &grant, error) : code;
    code = code == FIRN_OK ? firn__machine_begin(machine, &seen, f->pending_key, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    firn__pending_read(&found, &seen);
    if (found.grant != 0 && found.grant != f->before.grant) {
        f->pending = found;
        f->again = true;
        f->settles = found.instance != instance;
        code = f->settles && is_under_way(machine, &found)
                   ? firn__fail(error, FIRN_EWINDOW, "another process refills the reserve: wait")
                   : FIRN_OK;
        return firn__machine_end(machine, code);
    }
    f->again = f->settles = false;
    f->pending.grant = grant;
    f->pending.instance = instance;
    f->pending.sent_ms = firn__machine_steady_ns(machine) / 1000000;
    f->pending.boot = machine->boot;
    firn__pending_write(note, &f->pending);
    return firn__machine_end(
        machine,
        firn__machine_write(machine, &seen, (firn_mark){f->pending.earliest, grant}, note, error));
}

/* Writes the record of the pending refill, unless another refill is pending. */
static int write_pending(refilling *f, firn_mark mark, const char *note, firn_error *error) {
    firn_records seen;
    int code = firn__machine_begin(f->machine, &seen, f->pending_key, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (seen.mark.grant == f->pending.grant) {
        code = firn__machine_write(f->machine, &seen, mark, note, error);
    }
    return firn__machine_end(f->machine, code);
}

/* Nothing of it is pending any more. */
static int strike_out(refilling *f, firn_error *error) {
    return write_pending(f, (firn_mark){0, 0}, "", error);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* The end of the note of each refill: whose mark it is in the shared store. Without a machine ID,
 * files of two machines may look equal, and nothing is written. */
static char *write_mine(const firn__machine *machine, char mine[FIRN_NOTE_SIZE]) {
    firn__binding here = {0};
    firn__binding_here(machine, &here);
    const uint64_t words[2] = {here.id, here.file};
    mine[0] = '\0';
    if (here.id != 0 && here.file != 0) {
        snprintf(mine, FIRN_NOTE_SIZE, ", file %016" PRIx64,
                 firn__hash(FIRN__HASH_START, words, sizeof words));
    }
    return mine;
}

static int send_refill(refilling *f, firn_error *error) {
    firn__machine *machine = f->machine;
    firn_gen *gen = machine->gen;
    const firn__patience patience = firn__patience_begin(gen->clock, gen->keys.max_wait_ms);
    const bool continues = f->pending.earliest == f->pending.latest &&
                           f->pending.earliest == f->before.end &&
                           f->before.state == FIRN__RIGHT_OPEN;
    char note[FIRN_NOTE_SIZE], mine[FIRN_NOTE_SIZE];
    snprintf(note, sizeof note, "reserve: %.90s%.28s", gen->kept.note, write_mine(machine, mine));
    f->request = (firn_request){.ns = gen->ns,
                                .layout = gen->kept.stored,
                                .key = f->key,
                                .count = f->pending.count,
                                .earliest = f->pending.earliest,
                                .latest = f->pending.latest,
                                .grant = f->pending.grant,
                                .note = note,
                                .own = continues ? (firn_mark){f->before.end, f->before.grant}
                                                 : (firn_mark){0, 0}};
    f->sending = (firn__attempts){.tries = FIRN__SENDINGS, .sent = f->again, .twice = f->again};
    int code = firn__reach_guard_of(gen, &f->clock, false, &f->request, error);
    return code == FIRN_OK ? firn__reserve(machine->shared, &f->request, &patience, &f->sending,
                                           &f->first, error)
                           : code;
}

/* ---- what came of it ------------------------------------------------------------------------- */

static void close_right(firn__right *right) {
    if (right->state == FIRN__RIGHT_OPEN) {
        right->epoch++;
    }
    right->state = FIRN__RIGHT_CLOSED;
    right->ceiling = right->mark.high < right->ceiling ? right->mark.high : right->ceiling;
}

/* The slots of a refill that continues no other one begin at its first. What another process left
 * pending counts only after one more refill: a copy of this file may have settled it too. */
static void raise_right(const refilling *f, firn__right *right) {
    const bool is_new = right->state != FIRN__RIGHT_OPEN;
    const bool lengthens = !is_new && f->first == right->end && !right->twice && !f->sending.twice;
    const int64_t end = f->first + f->request.count;
    if (is_new || f->first != right->end) {
        const bool later = right->mark.high < f->first;
        right->mark = later ? (firn_mark){f->first, 0} : right->mark;
        right->ceiling = right->ceiling < f->first && !is_new ? right->ceiling : f->first;
    }
    right->ceiling = f->settles ? right->ceiling : end;
    right->first = lengthens ? right->first : f->first;
    right->end = end;
    right->grant = f->request.grant;
    right->twice = f->sending.twice;
    right->state = FIRN__RIGHT_OPEN;
    right->there_ms = time_ms(&f->clock.least);
    right->read_ms = f->machine->read_ns / 1000000;
    right->boot = f->machine->boot;
}

/* Each refill has another grant, and each closing another epoch. */
static bool is_changed(const firn__right *now, const firn__right *before) {
    return now->grant != before->grant || now->epoch != before->epoch;
}

/* Writes the outcome, if no other process has: then its right counts. A slot of a right that was
 * given back in between is used by nobody. */
static int write_right(refilling *f, bool closes, bool *done_before, firn_error *error) {
    firn_records seen;
    firn__right right;
    char note[FIRN_NOTE_SIZE];
    int code = firn__machine_begin(f->machine, &seen, f->key, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn__right_read(&right, &seen);
    *done_before = is_changed(&right, &f->before);
    if (!*done_before) {
        if (closes) {
            close_right(&right);
        } else {
            raise_right(f, &right);
        }
        code = firn__machine_write(f->machine, &seen, right.mark, firn__right_write(note, &right),
                                   error);
    }
    return firn__machine_end(f->machine, code);
}

int firn__machine_declare(firn_store *shared, firn_error *error) {
    const firn_relabel loss = {FIRN_ALL_NAMES, FIRN__GONE_BACK, FIRN__GONE_BACK, 0, false};
    int64_t floor;
    return firn_store_relabel(shared, &loss, &floor, error);
}

/* Everybody continues after the guard, which is later than every reserve. Not FIRN_OK: the store
 * does not know the loss, so nothing of the reserve may be used. */
static int declare_loss(firn__machine *machine) {
    firn_error error = {0};
    int code = firn__machine_declare(machine->shared, &error);
    firn__gen_notice(machine->gen,
                     "the store of %.60s has lost reservations, as the reserve of this machine "
                     "shows%s%s",
                     machine->gen->ns, code == FIRN_OK ? "" : ": ",
                     code == FIRN_OK ? "" : error.text);
    return code;
}

/* Nodes whose mark in the store is of this file. */
typedef struct owned {
    const firn__machine_list *list;
    const char *mine;
    bool is_mine[FIRN__MACHINE_NODES];
} owned;

static int see_owned(void *context, const firn_holding *holding) {
    owned *found = context;
    const size_t length = strlen(holding->note), end = strlen(found->mine);
    for (size_t i = 0; i < found->list->count; i++) {
        if (strcmp(found->list->node[i].key, holding->key) == 0) {
            found->is_mine[i] =
                end > 0 && length >= end && strcmp(holding->note + length - end, found->mine) == 0;
        }
    }
    return FIRN_OK;
}

/* The store lost reservations, and knows it. What this machine holds stays, since nobody is granted
 * a slot before the guard. But the store, or an older copy of it, may have granted a node to somebody
 * before it knew: only nodes stay whose mark is an older one of this file. */
static int keep_own(firn__machine *machine, firn_error *error) {
    firn__machine_list list;
    char mine[FIRN_NOTE_SIZE];
    owned found = {.list = &list, .mine = write_mine(machine, mine)};
    int code = firn__machine_nodes(machine, &list, error);
    if (code == FIRN_OK) {
        code = firn_store_list(machine->shared, machine->gen->ns, see_owned, &found, error);
    }
    for (size_t i = 0; code == FIRN_OK && i < list.count; i++) {
        if (!found.is_mine[i]) {
            code = firn__machine_shut(machine, list.node[i].key, INT64_MAX, error);
        }
    }
    return code == FIRN_OK ? firn__machine_strike_all(machine, error) : code;
}

/* The marks are read after the loss was declared. */
static int keep_after_loss(firn__machine *machine, bool declares, firn_error *error) {
    int code = declares && declare_loss(machine) != FIRN_OK ? FIRN_ESTORE : FIRN_OK;
    code = code == FIRN_OK ? keep_own(machine, NULL) : code;
    return code == FIRN_OK ? code : firn__machine_shut_all(machine, -1, error);
}

/* The refill was refused. Is the mark ours, or has another process of this machine raised it? */
static int judge_busy(refilling *f, firn_mark *held, firn_error *error) {
    const firn_mark *mark = &f->sending.held;
    const bool continues = f->request.own.grant != 0;
    firn__right now;
    bool unused;
    *held = *mark;
    int code = firn__machine_right(f->machine, f->key, &now, error);
    if (code != FIRN_OK || is_changed(&now, &f->before)) {
        return code; /* another process did, or has given the right back */
    }
    if (continues && mark->high < f->before.end) {
        code = keep_after_loss(f->machine, true, error);
        return code == FIRN_OK ? FIRN_EBUSY : code;
    }
    if ((continues && mark->grant != 0 && mark->grant != f->before.grant) ||
        (!continues && now.state == FIRN__RIGHT_OPEN)) {
        code = write_right(f, true, &unused, error);
        firn__gen_notice(f->machine->gen,
                         "node %s of %.60s is no longer this machine's: its reserve is closed",
                         f->key, f->machine->gen->ns);
        return code == FIRN_OK ? FIRN_EBUSY : code;
    }
    return FIRN_EBUSY; /* a floor: what is in hand stays */
}

/* The refill met its own grant before the first sending: another process took the refill over, or
 * a copy of this process did. In doubt other processes settle it. */
static int leave_pending(refilling *f, firn_error *error) {
    firn__right now;
    char note[FIRN_NOTE_SIZE];
    int code = firn__machine_right(f->machine, f->key, &now, error);
    if (code != FIRN_OK || is_changed(&now, &f->before)) {
        return code;
    }
    f->pending.instance = 0;
    code = write_pending(f, (firn_mark){f->pending.earliest, f->pending.grant},
                         firn__pending_write(note, &f->pending), error);
    return code == FIRN_OK ? firn__fail(error, FIRN_EWINDOW,
                                        "the reserve of this machine is settled: try again")
                           : code;
}

static int conclude(refilling *f, int code, firn_mark *held, firn_error *error) {
    bool done_before = false;
    if (code == FIRN_ECLONED) {
        return leave_pending(f, error);
    }
    if (code == FIRN_ENAMESPACE) {
        firn__machine_list list;
        if (firn__machine_nodes(f->machine, &list, NULL) == FIRN_OK && list.count > 0) {
            firn__gen_notice(f->machine->gen,
                             "the store has %.60s with another layout or reach: the reserve of "
                             "this machine is closed",
                             f->machine->gen->ns);
        }
        (void)firn__machine_shut_all(f->machine, -1, NULL);
        return code;
    }
    if (code == FIRN_EUNKNOWN || (code != FIRN_OK && code != FIRN_EBUSY && f->sending.twice)) {
        return code; /* the refill stays pending */
    }
    if (code == FIRN_OK) {
        code = write_right(f, false, &done_before, error);
        if (code != FIRN_OK) {
            return code;
        }
        firn__count(&f->machine->refills);
    } else if (code == FIRN_EBUSY) {
        code = judge_busy(f, held, error);
    }
    int struck = strike_out(f, code == FIRN_OK ? error : NULL);
    return code == FIRN_OK ? struck : code;
}

/* Who gives a right back closes it, then looks for a pending refill. So a refill that is written
 * down while the right is open is seen, and one that finds it closed is not sent. */
static int look_again(refilling *f, firn_error *error) {
    firn__right now;
    int code = firn__machine_right(f->machine, f->key, &now, error);
    f->needless = code == FIRN_OK && is_changed(&now, &f->before);
    return f->needless && !f->again ? strike_out(f, error) : code;
}

static int refill_once(refilling *f, const firn_request *claim, firn_mark *held,
                       firn_error *error) {
    int code = firn__machine_right(f->machine, f->key, &f->before, error);
    if (code == FIRN_OK) {
        code = bound(f, claim, error);
    }
    if (code != FIRN_OK || f->needless) {
        return code;
    }
    /* The file remembers the last reservation. Another process may have given it back since. */
    firn__store_forget(f->machine->shared, f->machine->gen->ns, f->key);
    code = write_down(f, error);
    if (code == FIRN_OK) {
        code = look_again(f, error);
    }
    if (code != FIRN_OK || f->needless) {
        return code;
    }
    code = send_refill(f, error);
    if (code == FIRN_ENAMESPACE && !f->sending.twice &&
        firn__claimable_learn(f->machine->gen, f->machine->shared)) {
        code = send_refill(f, error);
    }
    return conclude(f, code, held, error);
}

int firn__machine_refill(firn__machine *machine, const char *key, const firn_request *claim,
                         firn_mark *held, firn_error *error) {
    refilling f = {.machine = machine, .key = key};
    firn__pending_key(f.pending_key, key);
    int code = firn__machine_look(machine, &f.clock, error); /* is the store there? */
    code = code == FIRN_OK ? firn__machine_identify(machine, false, error) : code;
    if (code == FIRN_OK) {
        code = refill_once(&f, claim, held, error);
    }
    if (code == FIRN_OK && f.settles) { /* the fence */
        code = refill_once(&f, NULL, held, error);
    }
    return code;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* With the right as it was before. */
static int shut_right(firn__machine *machine, const char *key, int64_t most, firn__right *before,
                      firn_error *error) {
    firn_records seen;
    char note[FIRN_NOTE_SIZE];
    int code = firn__machine_begin(machine, &seen, key, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn__right_read(before, &seen);
    firn__right right = *before;
    if (right.state == FIRN__RIGHT_OPEN && right.ceiling <= most) {
        close_right(&right);
        code =
            firn__machine_write(machine, &seen, right.mark, firn__right_write(note, &right), error);
    }
    return firn__machine_end(machine, code);
}

int firn__machine_shut(firn__machine *machine, const char *key, int64_t most, firn_error *error) {
    firn__right before;
    return shut_right(machine, key, most, &before, error);
}

/* Refills that were sent once, and answered, are given back together: no copy of them is under way.
 * The rest ends with its time. */
static int give_back_node(firn__machine *machine, const char *key, int64_t least,
                          firn_error *error) {
    firn__right before;
    firn__pending pending;
    int code = shut_right(machine, key, INT64_MAX, &before, error);
    if (code == FIRN_OK) {
        code = firn__machine_pending(machine, key, &pending, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    const firn_mark mine = {before.end, before.grant};
    int64_t from = before.mark.high > before.first ? before.mark.high : before.first;
    from = from > least ? from : least;
    if (before.state != FIRN__RIGHT_OPEN || before.twice || before.ceiling != before.end ||
        from >= before.end || (pending.grant != 0 && pending.grant != before.grant)) {
        return FIRN_OK;
    }
    return firn_store_give_back(machine->shared, machine->gen->ns, key, &mine, from, error);
}

int firn__machine_give_back(firn__machine *machine, firn_error *error) {
    firn__machine_list list;
    firn__store_clock clock;
    int64_t least;
    const firn_gen *gen = machine->gen;
    int code = firn__machine_look(machine, &clock, error); /* is the store there? */
    code = code == FIRN_OK ? firn__machine_identify(machine, true, error) : code;
    if (code == FIRN_OK) {
        /* Even if the file is an older copy, and nothing shows that: no window ends later. */
        code = firn__reach_slot(gen, &clock.most,
                                FIRN__MACHINE_WINDOW_MS + gen->keys.max_lead_ms +
                                    gen->keys.max_skew_ms,
                                3, &least, error);
    }
    if (code == FIRN_OK) {
        code = firn__machine_nodes(machine, &list, error);
    }
    for (size_t i = 0; code == FIRN_OK && i < list.count; i++) {
        code = give_back_node(machine, list.node[i].key, least, error);
    }
    if (firn__machine_nodes(machine, &list, NULL) == FIRN_OK && list.count == 0) {
        atomic_store_explicit(&machine->until_ms, 0, memory_order_relaxed);
    }
    return code;
}

/* A full list is one of several. */
int firn__machine_shut_all(firn__machine *machine, int64_t least, firn_error *error) {
    firn__machine_list list;
    int code;
    do {
        code = firn__machine_rights(machine, least, &list, error);
        for (size_t i = 0; code == FIRN_OK && i < list.count; i++) {
            code = firn__machine_shut(machine, list.node[i].key, INT64_MAX, error);
        }
    } while (code == FIRN_OK && list.more);
    return code == FIRN_OK ? firn__machine_strike_all(machine, error) : code;
}

/* ---- whose file, and which store ------------------------------------------------------------- */

/* Where the nodes of reserves begin after a loss. */
static int64_t reserve_begin(const firn_gen *gen, int64_t floor) {
    char key[FIRN_KEY_SIZE];
    const firn_request request = {.key = key,
                                  .layout = gen->layout,
                                  .guard = floor,
                                  .guard_tick_ns = gen->scheme.tick_ns,
                                  .guard_shift = gen->s};
    snprintf(key, sizeof key, "%" PRIu64, gen->reserves.first);
    return firn__law_begin(floor, &request);
}

/* The store forgot a loss that it knew, or counts one more. A right that was granted before a loss
 * stays, as long as the floor of the namespace is not below its ceiling, and nobody else was granted
 * the node before the store knew. */
static int weigh_losses(firn__machine *machine, const firn_records *seen, firn__binding *binding,
                        firn_error *error) {
    if (seen->losses < binding->losses) { /* of some engines the count is only "now" */
        binding->losses = seen->losses;
        return seen->origin == 0 || declare_loss(machine) == FIRN_OK
                   ? FIRN_OK
                   : firn__machine_shut_all(machine, -1, error);
    }
    int code = keep_own(machine, error);
    if (code != FIRN_OK || !seen->ns_known || seen->ns_losses != seen->losses) {
        return code; /* nobody has set the floor yet */
    }
    binding->losses = seen->losses;
    return firn__machine_shut_all(machine, reserve_begin(machine->gen, seen->floor), error);
}

enum { NOT_LOST, LOST, LOST_AND_KNOWN };

/* The store's mark of a node is the right's end, or the end of the pending refill. A mark below the
 * right's end is an older one: *lost, or LOST_AND_KNOWN if the store knows the loss. Of any other
 * mark the store knows another holder, and the right is closed. The rights are read before the
 * marks, so a right that has changed says nothing. */
static int compare_mark(firn__machine *machine, const char *key, const firn__right *right,
                        int *lost, firn_error *error) {
    firn_records seen;
    firn__right now;
    firn__pending pending;
    int code = firn__store_known(machine->shared, machine->gen->ns, key, &seen, error);
    if (code != FIRN_OK || (seen.mark.high == right->end && seen.mark.grant == right->grant)) {
        return code;
    }
    code = firn__machine_pending(machine, key, &pending, error);
    code = code == FIRN_OK ? firn__machine_right(machine, key, &now, error) : code;
    if (code != FIRN_OK || is_changed(&now, right) ||
        (pending.grant != 0 && seen.mark.grant == pending.grant)) {
        return code;
    }
    if (seen.mark.high < right->end) {
        const bool known = seen.ns_known && (seen.ns_losses != seen.losses ||
                                             reserve_begin(machine->gen, seen.floor) >= right->end);
        *lost = known && *lost != LOST ? LOST_AND_KNOWN : LOST;
        return FIRN_OK;
    }
    firn__gen_notice(machine->gen, "node %s of %.60s has another holder: its reserve is closed",
                     key, machine->gen->ns);
    return firn__machine_shut(machine, key, INT64_MAX, error);
}

static int compare_marks(firn__machine *machine, int *lost, firn_error *error) {
    firn__machine_list list;
    int code = firn__machine_nodes(machine, &list, error);
    for (size_t i = 0; code == FIRN_OK && i < list.count; i++) {
        code = compare_mark(machine, list.node[i].key, &list.node[i].right, lost, error);
    }
    return code;
}

int firn__machine_identify(firn__machine *machine, bool marks, firn_error *error) {
    firn_records seen;
    firn__binding binding;
    int lost = NOT_LOST;
    int code = firn__store_known(machine->shared, machine->gen->ns, "1", &seen, error);
    code = code == FIRN_OK ? firn__binding_read(machine, &binding, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    const uint64_t origin = !seen.known ? 0 : seen.origin != 0 ? seen.origin : 1;
    if (marks && origin == 1) {
        code = compare_marks(machine, &lost, error);
    }
    if (code != FIRN_OK || !binding.known ||
        (lost == NOT_LOST && origin == binding.origin && seen.losses == binding.losses)) {
        return code;
    }
    const firn__binding before = binding;
    if (lost != NOT_LOST) { /* another store, or an older copy */
        code = keep_after_loss(machine, lost == LOST, error);
    } else if (binding.origin != 0 && origin != binding.origin) {
        firn__gen_notice(
            machine->gen,
            "%.120s did not fill the reserve %.120s, so it is another store: the nodes "
            "are closed",
            firn__store_url(machine->shared), machine->path);
        code = firn__machine_shut_all(machine, -1, error);
    } else if (binding.origin != 0) {
        code = weigh_losses(machine, &seen, &binding, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    if (origin != binding.origin) {
        binding.origin = origin;
        binding.losses = seen.losses;
    }
    return binding.origin != before.origin || binding.losses != before.losses
               ? firn__binding_write(machine, &binding, error)
               : FIRN_OK;
}

static int nothing(void *context, const firn_holding *holding) {
    (void)context, (void)holding;
    return 1;
}

static bool is_there(firn__machine *machine) {
    const int code = firn_store_list(machine->shared, machine->gen->ns, nothing, NULL, NULL);
    return code == FIRN_OK || code == 1;
}

/* Everything that a copy holds may be in use elsewhere. Nothing of it is given back. */
int firn__machine_bind(firn__machine *machine, bool *booted, firn_error *error) {
    firn__binding was, here;
    firn__machine_list list;
    int code = firn__binding_read(machine, &was, error);
    here = was;
    firn__binding_here(machine, &here);
    *booted = false;
    if (here.id == 0) {
        firn__gen_notice(machine->gen, "this machine has no /etc/machine-id: a reserve that is "
                                       "copied to another machine is not noticed at once");
    }
    const bool moved = was.id != here.id, copied = moved || was.file != here.file;
    if (code != FIRN_OK || (was.known && !copied && was.boot == here.boot)) {
        return code;
    }
    const bool empty = firn__machine_nodes(machine, &list, error) == FIRN_OK && list.count == 0;
    if (empty || is_there(machine)) {
        code = firn__machine_shut_all(machine, -1, error);
    } else if ((copied || !was.known) && !machine->trusts) {
        return firn__fail(error, FIRN_ESTORE,
                          "the reserve %.120s %s, and the store is away: wait for the store, or "
                          "set reserve_trust=1 if nothing else uses its slots",
                          machine->path, moved ? "was made on another machine" : "is a copy");
    } else if (was.boot != here.boot) {
        *booted = true;
        return FIRN_OK;
    }
    return code == FIRN_OK ? firn__binding_write(machine, &here, error) : code;
}
