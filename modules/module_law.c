/* SPDX-License-Identifier: MIT */
/* The reservation law: decides a request by what the store keeps and the handle remembers. */
#include "module.h"

#include <stdio.h>
#include <string.h>

#define REMEMBERED (sizeof((module_memory *)NULL)->digests / sizeof(uint64_t))

/* FNV-1a, never 0. */
static uint64_t digest(const char *ns) {
    uint64_t sum = UINT64_C(14695981039346656037);
    for (; *ns != '\0'; ns++) {
        sum = (sum ^ (unsigned char)*ns) * UINT64_C(1099511628211);
    }
    return sum | 1;
}

bool module_remembers_ns(const module_memory *memory, const char *ns) {
    uint64_t sum = digest(ns);
    for (size_t i = 0; i < REMEMBERED; i++) {
        if (memory->digests[i] == sum) {
            return true;
        }
    }
    return false;
}

void module_remember_ns(module_memory *memory, const char *ns) {
    if (!module_remembers_ns(memory, ns)) {
        memory->digests[memory->next] = digest(ns);
        memory->next = (memory->next + 1) % REMEMBERED;
    }
}

void module_remember(module_memory *memory, const firn_request *request, int64_t high) {
    module_remember_ns(memory, request->ns);
    snprintf(memory->ns, sizeof memory->ns, "%s", request->ns);
    snprintf(memory->key, sizeof memory->key, "%s", request->key);
    memory->high = high;
}

int64_t module_least(const module_memory *memory, const firn_request *request) {
    return strcmp(memory->ns, request->ns) == 0 && strcmp(memory->key, request->key) == 0
               ? memory->high
               : 0;
}

void module_forget_last(module_memory *memory) {
    memory->high = 0;
}

int64_t module_guard(const firn_request *request) {
    const int64_t since_ms = request->guard_tick_ns == 0 ? 0 : module_now_ms() - request->guard_ms;
    uint64_t ticks = since_ms <= 0 ? 0 : (uint64_t)since_ms * 1000000 / request->guard_tick_ns + 1;
    const uint64_t room = (uint64_t)(FIRN_SLOT_MAX - request->guard) >> request->guard_shift;
    ticks = ticks < room ? ticks : room;
    return request->guard <= 0 ? 0 : request->guard + (int64_t)(ticks << request->guard_shift);
}

static bool went_back(const module_kept *kept, const module_memory *memory,
                      const firn_request *request) {
    return kept->back || (!kept->known && module_remembers_ns(memory, request->ns)) ||
           kept->mark.high < module_least(memory, request);
}

int module_decide(module_verdict *out, const module_kept *kept, const module_memory *memory,
                  const firn_request *request, const char *where, firn_mark *held,
                  firn_error *error) {
    const bool back = went_back(kept, memory, request);
    const bool doubted = back || (kept->known ? !kept->current : !kept->complete);
    *out = (module_verdict){.floor = kept->floor};
    out->back = back;
    if (!kept->known && kept->shut != NULL && !module_is_closed(request->layout)) {
        return module_refuse_closed(error, request->ns, MODULE_ALL_NAMES, kept->shut);
    }
    if (kept->known && module_is_closed(kept->layout) &&
        strcmp(kept->layout, request->layout) != 0) {
        return module_refuse_closed(error, request->ns, request->ns, kept->layout);
    }
    if (kept->known && strcmp(kept->layout, request->layout) != 0) {
        return module_refuse_layout(error, request, kept->layout);
    }
    if (doubted && request->guard <= 0 && kept->mark.high <= request->latest) {
        return module_refuse_back(error, where, request->ns);
    }
    if (doubted && request->guard > 0) {
        out->floor = module_later(kept->floor, module_guard(request));
    }
    out->renew = doubted ? request->guard > 0 : !kept->known;
    out->first = module_later(module_later(kept->mark.high, request->earliest), out->floor);
    if (out->first <= request->latest) {
        return FIRN_OK;
    }
    *held = kept->mark.high < out->floor ? (firn_mark){out->floor, 0} : kept->mark;
    return module_refuse_busy(error, request, held->high);
}

bool module_declares_loss(const firn_relabel *change) {
    return strcmp(change->to, MODULE_GONE_BACK) == 0;
}

/* ---- closed namespaces ----------------------------------------------------------------------- */

/* Marks and doubt stay, so an open namespace is as safe as one that was never closed. */
static bool opens_forgotten(const firn_relabel *change) {
    return change->from != NULL && !change->lowers && !module_is_closed(change->to) &&
           strncmp(change->from, MODULE_FORGOTTEN, sizeof MODULE_FORGOTTEN - 1) == 0;
}

int module_decide_relabel(int64_t *floor, const module_kept *kept, const firn_relabel *change,
                          const char *where, firn_error *error) {
    *floor = kept->floor;
    if (kept->back ||
        (kept->known ? !kept->current && !opens_forgotten(change) : !kept->complete)) {
        return module_refuse_back(error, where, change->ns);
    }
    const bool again = kept->known && strcmp(kept->layout, change->to) == 0;
    const bool fits = kept->known ? change->from != NULL && strcmp(kept->layout, change->from) == 0
                                  : change->from == NULL;
    if (!again && !fits) {
        return module_fail(
            error, FIRN_ENAMESPACE,
            "namespace %.24s of %.40s has %s%.60s%s: another process has changed it, "
            "so run this again",
            change->ns, where, kept->known ? "layout '" : "no record",
            kept->known ? kept->layout : "", kept->known ? "'" : "");
    }
    *floor = change->lowers ? change->floor : module_later(kept->floor, change->floor);
    return FIRN_OK;
}
