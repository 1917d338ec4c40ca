/* SPDX-License-Identifier: MIT */
/* The reservation law: what a request is granted, by what a store keeps and a handle remembers. */
#include "module.h"

#include <stdio.h>
#include <string.h>

int module_refuse_changed(firn_error *error, const char *where, const char *ns) {
    static const struct {
        const char *prefix, *cure;
    } cures[] = {
        {"order ", "use another series"},
        {"", "no back-dated IDs of it: firn stamp without --job, with an unused node=N"},
    };
    size_t i = 0;
    if (strncmp(ns, "integer ", 8) == 0) {
        return module_fail(error, FIRN_EBACK,
                           "%.50s has changed or gone back since %.40s was reserved from: firn "
                           "segment advance '%.30s' --min N, N above all that was handed out",
                           where, ns, ns + 8);
    }
    while (strncmp(ns, cures[i].prefix, strlen(cures[i].prefix)) != 0) {
        i++;
    }
    return module_fail(error, FIRN_EBACK,
                       "%.50s has changed or gone back since %.50s was reserved from: %s", where,
                       ns, cures[i].cure);
}

void module_busy(firn_mark *held, const firn_mark *mark, int64_t floor) {
    *held = mark->high < floor ? (firn_mark){floor, 0} : *mark;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

int module_decide(module_verdict *out, const module_kept *kept, const firn_request *request,
                  const char *where, firn_mark *held, firn_error *error) {
    *out = (module_verdict){.floor = kept->floor, .renew = kept->doubted || !kept->known};
    if (kept->known && strcmp(kept->layout, request->layout) != 0) {
        out->renew = false;
        return module_other_row(error, request, kept->layout);
    }
    if (kept->doubted && request->guard <= 0) {
        out->renew = false;
        if (kept->mark.high <= request->latest) {
            return module_refuse_changed(error, where, request->ns);
        }
    } else if (kept->doubted) {
        out->floor = later(kept->floor, request->guard);
    }
    out->first = later(later(kept->mark.high, request->earliest), out->floor);
    if (out->first <= request->latest) {
        return FIRN_OK;
    }
    module_busy(held, &kept->mark, out->floor);
    return module_refuse_busy(error, request, held->high);
}

/* FNV-1a; 0 stands for none. */
static uint64_t digest(const char *ns) {
    uint64_t sum = UINT64_C(14695981039346656037);
    for (; *ns != '\0'; ns++) {
        sum = (sum ^ (unsigned char)*ns) * UINT64_C(1099511628211);
    }
    return sum | 1;
}

bool module_was_seen(const module_seen *seen, const char *ns) {
    uint64_t sum = digest(ns);
    for (size_t i = 0; i < sizeof seen->digests / sizeof seen->digests[0]; i++) {
        if (seen->digests[i] == sum) {
            return true;
        }
    }
    return false;
}

void module_see(module_seen *seen, const char *ns) {
    if (!module_was_seen(seen, ns)) {
        seen->digests[seen->next] = digest(ns);
        seen->next = (seen->next + 1) % (sizeof seen->digests / sizeof seen->digests[0]);
    }
}

void module_remember(module_last *last, const firn_request *request, int64_t high) {
    snprintf(last->ns, sizeof last->ns, "%s", request->ns);
    snprintf(last->key, sizeof last->key, "%s", request->key);
    last->high = high;
}

int64_t module_least(const module_last *last, const char *ns, const char *key) {
    return strcmp(last->ns, ns) == 0 && strcmp(last->key, key) == 0 ? last->high : 0;
}

void module_forget(module_last *last) {
    last->high = 0;
}
