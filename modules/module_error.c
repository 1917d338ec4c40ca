/* SPDX-License-Identifier: MIT */
/* Errors with the same words in all modules. */
#include "module.h"

#include <inttypes.h>

int module_advise(firn_error *error, int code, int cure, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        firn__error_write(error, code, cure, format, arguments);
        va_end(arguments);
    }
    return code;
}

int module_copy(firn_error *error, int code, const firn_error *from) {
    if (error != NULL) {
        *error = *from;
        error->code = code;
    }
    return code;
}

int module_no_memory(firn_error *error) {
    return module_advise(error, FIRN_EMEMORY, FIRN_CURE_MEMORY, "out of memory");
}

int module_unknown(firn_error *error, const char *where, const char *why) {
    return module_advise(error, FIRN_EUNKNOWN, FIRN_CURE_SEND_AGAIN,
                         "store %.60s did not confirm the write (%.60s)", where, why);
}

int module_unreachable(firn_error *error, const char *where, const char *why) {
    return module_advise(
        error, FIRN_ESTORE, FIRN_CURE_CHECK_STORE,
        "store " FIRN__VALUE(
            "%.60s") " cannot be reached (%.88s): check its host name, port and login",
        where, why);
}

int module_refuse_busy(firn_error *error, const firn_request *request, int64_t high) {
    return module_advise(
        error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
        "%.60s/%.63s is reserved up to " FIRN__VALUE("%" PRId64) ", past " FIRN__LIMIT("%" PRId64),
        request->ns, request->key, high, request->latest);
}

int module_refuse_contended(firn_error *error, const char *where, const char *key) {
    return module_advise(error, FIRN_ESTORE, FIRN_CURE_TRY_AGAIN,
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
        return module_advise(error, FIRN_EBACK, FIRN_CURE_ADVANCE,
                             "%.40s has changed or lost reservations since integer " FIRN__VALUE(
                                 "%s") " was last used",
                             where, ns + 8);
    }
    return module_advise(error, FIRN_EBACK, series ? FIRN_CURE_OTHER_SERIES : FIRN_CURE_UNUSED_NODE,
                         "%.60s has changed or lost reservations since %.120s was last used%s",
                         where, ns, series ? "" : ", so it allows no back-dated IDs");
}

bool module_is_closed(const char *layout) {
    return strncmp(layout, MODULE_CLOSED, sizeof MODULE_CLOSED - 1) == 0;
}

int module_refuse_closed(firn_error *error, const char *ns, const char *shut, const char *stored) {
    const char *why = stored + sizeof MODULE_CLOSED - 1;
    const char *end = strstr(why, "): ");
    int length = end != NULL && end - why < 100 ? (int)(end - why) : 100;
    if (strncmp(why, "moved to", 8) == 0) {
        return module_advise(error, FIRN_ESTORE, FIRN_CURE_OTHER_STORE,
                             "namespace %.60s is closed (%.*s): use that store", ns, length, why);
    }
    if (strncmp(why, "moving ", 7) == 0) {
        return module_advise(error, FIRN_ESTORE, FIRN_CURE_MOVING,
                             "namespace %.60s is closed (%.*s)", ns, length, why);
    }
    return strcmp(ns, shut) == 0
               ? module_advise(error, FIRN_ESTORE, FIRN_CURE_REOPEN,
                               "namespace " FIRN__VALUE("%.60s") " is closed (%.*s)", ns, length,
                               why)
               : module_advise(error, FIRN_ESTORE, FIRN_CURE_NEW_NAMES,
                               "namespace %.60s is closed (%.*s, with '" FIRN__VALUE("%.60s") "')",
                               ns, length, why, shut);
}

int module_refuse_layout(firn_error *error, const firn_request *request, const char *stored) {
    size_t same = 0;
    if (module_is_closed(stored)) {
        return module_refuse_closed(error, request->ns, request->ns, stored);
    }
    if (stored[0] == '\0') {
        return module_advise(
            error, FIRN_ENAMESPACE, FIRN_CURE_OTHER_NAMESPACE,
            "namespace %.60s has no layout, so its record is damaged or of an older "
            "firn: see docs/reference/stores.md, or use another ns=",
            request->ns);
    }
    while (stored[same] != '\0' && stored[same] == request->layout[same]) {
        same++;
    }
    /* Long layouts are shown from shortly before the first difference. */
    same = same < 24 || strlen(stored) + strlen(request->layout) < 96 ? 0 : same - 8;
    return module_advise(
        error, FIRN_ENAMESPACE, FIRN_CURE_OTHER_NAMESPACE,
        "namespace %.60s has layout '" FIRN__VALUE("%.96s") "', not '" FIRN__LIMIT("%.96s") "'",
        request->ns, stored + same, request->layout + same);
}

int module_recode(firn_error *error, int code, int from, int to) {
    if (code == from && error != NULL) {
        error->code = to;
    }
    return code == from ? to : code;
}
