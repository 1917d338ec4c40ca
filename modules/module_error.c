/* SPDX-License-Identifier: MIT */
/* Errors with the same words in all modules. */
#include "module.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int module_fail(firn_error *error, int code, const char *format, ...) {
    if (error == NULL) {
        return code;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, 201, format, arguments);
    va_end(arguments);
    for (char *c = error->text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            *c = ' '; /* one line */
        }
    }
    error->code = code;
    return code;
}

int module_no_memory(firn_error *error) {
    return module_fail(error, FIRN_EMEMORY, "out of memory: give this process more memory");
}

int module_unknown(firn_error *error, const char *where, const char *why) {
    return module_fail(error, FIRN_EUNKNOWN,
                       "store %.60s did not confirm the write (%.60s): send the same request again "
                       "with the same grant",
                       where, why);
}

int module_unreachable(firn_error *error, const char *where, const char *why) {
    return module_fail(error, FIRN_ESTORE,
                       "store %.46s cannot be reached (%.88s): check its host name, port and login",
                       where, why);
}

int module_refuse_busy(firn_error *error, const firn_request *request, int64_t high) {
    return module_fail(error, FIRN_EBUSY,
                       "%.24s/%.63s is reserved up to %" PRId64 ", past %" PRId64
                       ": use another node, or wait",
                       request->ns, request->key, high, request->latest);
}

int module_refuse_contended(firn_error *error, const char *where, const char *key) {
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s: other processes keep changing %.63s: try again", where, key);
}

int module_refuse_give_back(firn_error *error, const char *ns, const char *key,
                            const firn_mark *mine) {
    return module_fail(error, FIRN_EBUSY,
                       "%.24s/%.63s was not given back: its mark is no longer %" PRId64
                       " of this grant",
                       ns, key, mine->high);
}

int module_refuse_back(firn_error *error, const char *where, const char *ns) {
    const bool series = strncmp(ns, "order ", 6) == 0;
    if (strncmp(ns, "integer ", 8) == 0) {
        return module_fail(
            error, FIRN_EBACK,
            "%.50s has changed or lost reservations since %.40s was last used: run firn "
            "segment advance '%.30s' --min N, N above every number handed out",
            where, ns, ns + 8);
    }
    return module_fail(
        error, FIRN_EBACK, "%.50s has changed or lost reservations since %.50s was last used: %s",
        where, ns,
        series ? "use another series"
               : "no back-dated IDs: run firn stamp without --job, with an unused node=N");
}

bool module_is_closed(const char *layout) {
    return strncmp(layout, MODULE_CLOSED, sizeof MODULE_CLOSED - 1) == 0;
}

int module_refuse_closed(firn_error *error, const char *ns, const char *shut, const char *stored) {
    const char *why = stored + sizeof MODULE_CLOSED - 1;
    const char *end = strstr(why, "): ");
    int length = end != NULL && end - why < 100 ? (int)(end - why) : 100;
    char undo[120];
    snprintf(undo, sizeof undo, "firn nodes --forget '%.40s' --undo %s", shut,
             strcmp(ns, shut) == 0 ? "opens it" : "accepts new names");
    const char *cure = strncmp(why, "moved to", 8) == 0  ? "use that store"
                       : strncmp(why, "moving ", 7) == 0 ? "wait until firn store move is done"
                                                         : undo;
    return module_fail(error, FIRN_ESTORE, "namespace %.40s is closed (%.*s): %s", ns, length, why,
                       cure);
}

int module_refuse_layout(firn_error *error, const firn_request *request, const char *stored) {
    size_t same = 0;
    if (module_is_closed(stored)) {
        return module_refuse_closed(error, request->ns, request->ns, stored);
    }
    if (stored[0] == '\0') {
        return module_fail(error, FIRN_ENAMESPACE,
                           "namespace %.60s has no layout, so its record is damaged or of an older "
                           "firn: see docs/reference/stores.md, or use another ns=",
                           request->ns);
    }
    while (stored[same] != '\0' && stored[same] == request->layout[same]) {
        same++;
    }
    /* Long layouts are shown from shortly before the first difference. */
    same = same < 24 || strlen(stored) + strlen(request->layout) < 96 ? 0 : same - 8;
    return module_fail(
        error, FIRN_ENAMESPACE,
        "namespace %.24s has layout '%.48s', not '%.48s': use another ns= for this one",
        request->ns, stored + same, request->layout + same);
}

int module_recode(firn_error *error, int code, int from, int to) {
    if (code == from && error != NULL) {
        error->code = to;
    }
    return code == from ? to : code;
}
