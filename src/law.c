/* SPDX-License-Identifier: MIT */
/* The reservation law: decides a request by what the store keeps and the handle remembers. */
#include "law.h"

#include "confined.h"
#include "error.h"
#include "hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REMEMBERED (sizeof((firn__memory *)NULL)->digests / sizeof(uint64_t))

/* Never 0. */
static uint64_t digest(const char *ns) {
    return firn__hash(FIRN__HASH_START, ns, strlen(ns)) | 1;
}

bool firn__remembers_ns(const firn__memory *memory, const char *ns) {
    uint64_t sum = digest(ns);
    for (size_t i = 0; i < REMEMBERED; i++) {
        if (memory->digests[i] == sum) {
            return true;
        }
    }
    return false;
}

void firn__remember_ns(firn__memory *memory, const char *ns) {
    if (!firn__remembers_ns(memory, ns)) {
        memory->digests[memory->next] = digest(ns);
        memory->next = (memory->next + 1) % REMEMBERED;
    }
}

void firn__remember(firn__memory *memory, const firn_request *request, int64_t high) {
    firn__remember_ns(memory, request->ns);
    snprintf(memory->ns, sizeof memory->ns, "%s", request->ns);
    snprintf(memory->key, sizeof memory->key, "%s", request->key);
    memory->mark = (firn_mark){high, request->grant};
}

/* Is the last reservation the key's? */
static bool is_last(const firn__memory *memory, const firn_request *request) {
    return strcmp(memory->ns, request->ns) == 0 && strcmp(memory->key, request->key) == 0;
}

firn_mark firn__least(const firn__memory *memory, const firn_request *request) {
    return is_last(memory, request) ? memory->mark : (firn_mark){0, 0};
}

bool firn__mark_is_lost(firn_mark mine, firn_mark now) {
    return now.high < mine.high ||
           (now.high == mine.high && mine.grant != 0 && now.grant != 0 && now.grant != mine.grant);
}

void firn__forget_last(firn__memory *memory) {
    memory->mark = (firn_mark){0, 0};
}

/* ---- refusals -------------------------------------------------------------------------------- */

int firn__refuse_busy(firn_error *error, const firn_request *request, int64_t high) {
    if (high <= request->latest) {
        return firn_error_set(error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
                              "%.60s/%.63s is no longer reserved up to " FIRN__LIMIT(
                                  "%" PRId64) " by this grant, but up to " FIRN__VALUE("%" PRId64),
                              request->ns, request->key, request->latest, high);
    }
    return firn_error_set(
        error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
        "%.60s/%.63s is reserved up to " FIRN__VALUE("%" PRId64) ", past " FIRN__LIMIT("%" PRId64),
        request->ns, request->key, high, request->latest);
}

int firn__refuse_contended(firn_error *error, const char *where, const char *key) {
    return firn_error_set(error, FIRN_ESTORE, FIRN_CURE_TRY_AGAIN,
                          "store %.60s: other processes keep changing %.63s: try again", where,
                          key);
}

int firn__refuse_back(firn_error *error, const char *where, const char *ns) {
    const bool series = strncmp(ns, "order ", 6) == 0;
    if (strncmp(ns, "integer ", 8) == 0) {
        return firn_error_set(error, FIRN_EBACK, FIRN_CURE_ADVANCE,
                              "%.40s has changed or lost reservations since integer " FIRN__VALUE(
                                  "%s") " was last used",
                              where, ns + 8);
    }
    return firn_error_set(error, FIRN_EBACK,
                          series ? FIRN_CURE_OTHER_SERIES : FIRN_CURE_UNUSED_NODE,
                          "%.60s has changed or lost reservations since %.120s was last used%s",
                          where, ns, series ? "" : ", so it allows no back-dated IDs");
}

int firn__refuse_closed(firn_error *error, const char *ns, const char *shut, const char *stored) {
    const char *why = stored + sizeof FIRN__CLOSED - 1;
    const char *end = strstr(why, "): ");
    int length = end != NULL && end - why < 100 ? (int)(end - why) : 100;
    if (strncmp(why, "moved to", 8) == 0) {
        return firn_error_set(error, FIRN_ESTORE, FIRN_CURE_OTHER_STORE,
                              "namespace %.60s is closed (%.*s): use that store", ns, length, why);
    }
    if (strncmp(why, "moving ", 7) == 0) {
        return firn_error_set(error, FIRN_ESTORE, FIRN_CURE_MOVING,
                              "namespace %.60s is closed (%.*s)", ns, length, why);
    }
    return strcmp(ns, shut) == 0
               ? firn_error_set(error, FIRN_ESTORE, FIRN_CURE_REOPEN,
                                "namespace " FIRN__VALUE("%.60s") " is closed (%.*s)", ns, length,
                                why)
               : firn_error_set(error, FIRN_ESTORE, FIRN_CURE_NEW_NAMES,
                                "namespace %.60s is closed (%.*s, with '" FIRN__VALUE("%.60s") "')",
                                ns, length, why, shut);
}

static int refuse_damaged(firn_error *error, const char *ns) {
    return firn_error_set(error, FIRN_ENAMESPACE, FIRN_CURE_OTHER_NAMESPACE,
                          "namespace %.60s has no layout, so its record is damaged or of an older "
                          "firn: see docs/reference/stores.md, or use another ns=",
                          ns);
}

/* As people set it: a layout ends with " reach=VALUE", perhaps with the nodes of reserves before. */
static const char *reach_name(const char *layout, size_t at) {
    return layout[at] == '\0' ? "reach=15s" : layout + at + 1;
}

/* Do the layouts differ only in their reach, or in the nodes that have it? */
static bool differs_in_reach(const char *layout, const char *other, size_t at[2]) {
    firn__claims unused;
    (void)firn__confined_reserves(layout, &unused, &at[0]);
    (void)firn__confined_reserves(other, &unused, &at[1]);
    return at[0] == at[1] && strncmp(layout, other, at[0]) == 0 && strcmp(layout, other) != 0;
}

/* Not "use another namespace": IDs of two with the same fields can be equal. */
static int refuse_reach_of(firn_error *error, const char *ns, const char *stored,
                           const char *wanted) {
    const bool usual = strcmp(stored, "reach=15s") == 0;
    const bool drops = strncmp(wanted, "reserve", 7) == 0 && strncmp(stored, "reserve", 7) != 0;
    const char *cure = drops && usual ? "leave reserve_claim and reach out"
                       : usual        ? "leave reach out"
                       : drops && strcmp(stored, "reach=1h") == 0 ? "leave reserve_claim out"
                       : drops ? "leave reserve_claim out, and set "
                               : "set ";
    return firn__fail(
        error, FIRN_ENAMESPACE,
        "namespace %.60s has " FIRN__LIMIT("%.72s") ", not " FIRN__VALUE("%.72s") ": %s%.72s", ns,
        stored, wanted, cure, cure[strlen(cure) - 1] == ' ' ? stored : "");
}

int firn__refuse_layout(firn_error *error, const firn_request *request, const char *stored) {
    size_t same = 0;
    if (firn_layout_closed(stored)) {
        return firn__refuse_closed(error, request->ns, request->ns, stored);
    }
    if (stored[0] == '\0') {
        return refuse_damaged(error, request->ns);
    }
    firn__claims unused;
    const char *kept = firn__confined_read(stored, &unused);
    const char *wanted = firn__confined_read(request->layout, &unused);
    size_t at[2];
    if (differs_in_reach(kept, wanted, at)) {
        return refuse_reach_of(error, request->ns, reach_name(kept, at[0]),
                               reach_name(wanted, at[1]));
    }
    if (strcmp(kept, wanted) == 0) { /* only the claims differ */
        kept = stored;
        wanted = request->layout;
    }
    while (kept[same] != '\0' && kept[same] == wanted[same]) {
        same++;
    }
    /* Long layouts are shown from shortly before the first difference. */
    same = same < 24 || strlen(kept) + strlen(wanted) < 96 ? 0 : same - 8;
    return firn_error_set(
        error, FIRN_ENAMESPACE, FIRN_CURE_OTHER_NAMESPACE,
        "namespace %.60s has layout '" FIRN__VALUE("%.96s") "', not '" FIRN__LIMIT("%.96s") "'",
        request->ns, kept + same, wanted + same);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

int64_t firn__law_guard(const firn_request *request, int64_t now_ms) {
    const int64_t since_ms = request->guard_tick_ns == 0 ? 0 : now_ms - request->guard_ms;
    uint64_t ticks = since_ms <= 0 ? 0 : (uint64_t)since_ms * 1000000 / request->guard_tick_ns + 1;
    const uint64_t room = (uint64_t)(FIRN_SLOT_MAX - request->guard) >> request->guard_shift;
    ticks = ticks < room ? ticks : room;
    return request->guard <= 0 ? 0 : request->guard + (int64_t)(ticks << request->guard_shift);
}

/* Not past the greatest slot. */
static int64_t slot_sum(int64_t slot, int64_t more) {
    const int64_t room = FIRN_SLOT_MAX - slot;
    return slot + (more < room ? more : room);
}

/* The part of the guard that is the floor of a doubted namespace. */
static int64_t floor_of(const firn__store_record *kept, const firn_request *request) {
    const int64_t guard = firn__law_guard(request, kept->now_ms);
    const bool known = kept->known || kept->now_ms < request->guard_known_ms;
    const int64_t more = known || request->guard_more < 0 ? 0 : request->guard_more;
    return later(kept->floor, slot_sum(guard, more));
}

int64_t firn__law_later(const firn_request *request) {
    const char *key = request->key;
    const uint64_t tick_ns = request->guard_tick_ns;
    firn__claims reserves;
    uint64_t node;
    size_t unused;
    if (request->guard <= 0 || !firn__claims_number(&node, &key) || *key != '\0' ||
        !firn__confined_reserves(request->layout, &reserves, &unused) ||
        !firn__claims_have(&reserves, node)) {
        return 0;
    }
    const uint64_t later_ns = UINT64_C(1000000000) * FIRN__RESERVES_LATER_S;
    const uint64_t most = (uint64_t)FIRN_SLOT_MAX >> request->guard_shift;
    const uint64_t ticks = tick_ns == 0 ? most : later_ns / tick_ns + 1;
    return (int64_t)((ticks < most ? ticks : most) << request->guard_shift);
}

int64_t firn__law_begin(int64_t floor, const firn_request *request) {
    return floor > 0 ? slot_sum(floor, firn__law_later(request)) : 0;
}

static bool record_went_back(const firn__store_record *kept, const firn__memory *memory,
                             const firn_request *request) {
    return kept->back || (!kept->known && firn__remembers_ns(memory, request->ns)) ||
           (is_last(memory, request) && firn__mark_is_lost(memory->mark, kept->mark));
}

/* Slots with a time end at most at the guard, after which nothing that a loss took can be. Callers
 * ask for less; a request that was computed from another clock is refused. */
static firn_raise raise_of(const firn__store_record *kept, int64_t begin,
                           const firn__memory *memory, const firn_request *request) {
    const bool limited = request->guard_tick_ns > 0;
    const int64_t guard =
        limited ? slot_sum(firn__law_guard(request, kept->now_ms), firn__law_later(request)) : 0;
    const bool reached = guard > 0 && guard - request->count < request->latest;
    const firn_mark least = firn__least(memory, request);
    return (firn_raise){.min = least.high,
                        .grant = least.grant,
                        .low = later(request->earliest, begin),
                        .most = reached ? guard - request->count : request->latest,
                        .count = request->count};
}

bool firn__raise_allows(const firn_raise *raise, firn_mark mark, int64_t *first) {
    *first = later(mark.high, raise->low);
    return !firn__mark_is_lost((firn_mark){raise->min, raise->grant}, mark) &&
           *first <= raise->most;
}

static bool same_mark(const firn_mark *a, const firn_mark *b) {
    return a->high == b->high && a->grant == b->grant;
}

/* A copy of a renewal that arrives after its window was given back must not restore the mark: a
 * copy of the give back would then free slots that another process has. */
static bool continues_own(const firn_request *request, const firn_mark *mark) {
    return request->own.high == 0 || same_mark(mark, &request->own);
}

static int refuse_reach(firn_error *error, const firn_request *request,
                        const firn__verdict *verdict, const char *where) {
    return firn_error_set(error, FIRN_ECLOCK, FIRN_CURE_FIX_CLOCK,
                          "a reservation of %.60s/%.63s would end at slot %" PRId64
                          ", after %" PRId64 ", which the clock of %.60s allows: "
                          "fix the wrong clock",
                          request->ns, request->key, verdict->first + request->count,
                          verdict->raise.most + request->count, where);
}

int firn__law_reserve(firn__verdict *out, const firn__store_record *kept,
                      const firn__memory *memory, const firn_request *request, const char *where,
                      firn_mark *held, firn_error *error) {
    const bool back = record_went_back(kept, memory, request);
    const bool doubted = back || (kept->known ? !kept->current : !kept->complete);
    *out = (firn__verdict){.floor = kept->floor};
    out->back = back;
    if (!kept->known && kept->shut != NULL && !firn_layout_closed(request->layout)) {
        return firn__refuse_closed(error, request->ns, FIRN_ALL_NAMES, kept->shut);
    }
    if (kept->known && firn_layout_closed(kept->layout) &&
        strcmp(kept->layout, request->layout) != 0) {
        return firn__refuse_closed(error, request->ns, request->ns, kept->layout);
    }
    if (kept->known && strcmp(kept->layout, request->layout) != 0) {
        return firn__refuse_layout(error, request, kept->layout);
    }
    if (doubted && request->guard <= 0 && kept->mark.high <= request->latest) {
        return firn__refuse_back(error, where, request->ns);
    }
    if (doubted && request->guard > 0) {
        out->floor = floor_of(kept, request);
    }
    out->renew = doubted ? request->guard > 0 : !kept->known;
    const int64_t begin = firn__law_begin(out->floor, request);
    out->raise = raise_of(kept, begin, memory, request);
    if (back) { /* with this verdict it is forgotten */
        out->raise.min = 0;
        out->raise.grant = 0;
    }
    const bool allowed = firn__raise_allows(&out->raise, kept->mark, &out->first);
    const bool continues = continues_own(request, &kept->mark);
    if (allowed && continues) {
        return FIRN_OK;
    }
    if (out->first <= request->latest && continues) {
        return refuse_reach(error, request, out, where);
    }
    *held = kept->mark.high < begin ? (firn_mark){begin, 0} : kept->mark;
    if (doubted && request->guard <= 0 && held->grant == request->grant) {
        held->grant = 0; /* a late copy of the request, whose slots another copy may have granted */
    }
    return firn__refuse_busy(error, request, held->high);
}

int firn__law_give_back(const firn__store_record *kept, const char *ns, const char *key,
                        const firn_mark *mine, firn_error *error) {
    return same_mark(&kept->mark, mine)
               ? FIRN_OK
               : firn__fail(error, FIRN_EBUSY,
                            "%.24s/%.63s was not given back: its mark is no longer %" PRId64
                            " of this grant",
                            ns, key, mine->high);
}

bool firn__declares_loss(const firn_relabel *change) {
    return strcmp(change->to, FIRN__GONE_BACK) == 0;
}

/* ---- closed namespaces ----------------------------------------------------------------------- */

/* Marks and doubt stay, so an open namespace is as safe as one that was never closed. */
static bool opens_forgotten(const firn_relabel *change) {
    return change->from != NULL && !change->lowers && !firn_layout_closed(change->to) &&
           strncmp(change->from, FIRN__FORGOTTEN, sizeof FIRN__FORGOTTEN - 1) == 0;
}

int firn__law_relabel(int64_t *floor, const firn__store_record *kept, const firn_relabel *change,
                      const char *where, firn_error *error) {
    *floor = kept->floor;
    if (kept->back ||
        (kept->known ? !kept->current && !opens_forgotten(change) : !kept->complete)) {
        return firn__refuse_back(error, where, change->ns);
    }
    if (kept->known && kept->layout[0] == '\0') {
        return refuse_damaged(error, change->ns);
    }
    const bool again = kept->known && strcmp(kept->layout, change->to) == 0;
    const bool fits = kept->known ? change->from != NULL && strcmp(kept->layout, change->from) == 0
                                  : change->from == NULL;
    if (!again && !fits) {
        return firn__fail(error, FIRN_ENAMESPACE,
                          "namespace %.24s of %.40s has %s%.60s%s: another process has changed it, "
                          "so run this again",
                          change->ns, where, kept->known ? "layout '" : "no record",
                          kept->known ? kept->layout : "", kept->known ? "'" : "");
    }
    *floor = change->lowers ? change->floor : later(kept->floor, change->floor);
    return FIRN_OK;
}
