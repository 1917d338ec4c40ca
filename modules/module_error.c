/* SPDX-License-Identifier: MIT */
/* Failures in words that every module tells alike. */
#include "module.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
            *c = ' '; /* one line, whatever the engine said */
        }
    }
    error->code = code;
    return code;
}

int module_other_row(firn_error *error, const firn_request *request, const char *row) {
    size_t same = 0;
    if (row[0] == '\0') {
        return module_fail(error, FIRN_ENAMESPACE,
                           "namespace %.60s has no layout, so its record is damaged or of an older "
                           "firn: see docs/reference/stores.md, or use another ns=",
                           request->ns);
    }
    while (row[same] != '\0' && row[same] == request->layout[same]) {
        same++;
    }
    /* Long rows are shown from a little before the place where they differ. */
    same = same < 24 || strlen(row) + strlen(request->layout) < 96 ? 0 : same - 8;
    return module_fail(
        error, FIRN_ENAMESPACE,
        "namespace %.24s holds row '%.48s', not '%.48s': use another ns= for this one", request->ns,
        row + same, request->layout + same);
}

int module_refuse_busy(firn_error *error, const firn_request *request, int64_t high) {
    return module_fail(error, FIRN_EBUSY,
                       "%.24s/%.63s is granted up to %" PRId64 ", past %" PRId64
                       ": use another node or wait",
                       request->ns, request->key, high, request->latest);
}

int module_refuse_give_back(firn_error *error, const char *ns, const char *key,
                            const firn_mark *mine) {
    return module_fail(error, FIRN_EBUSY,
                       "%.24s/%.63s was not given back: its mark is not %" PRId64
                       " of this grant any more",
                       ns, key, mine->high);
}

int module_point(const firn_store_options *options, pid_t pid, const char *name,
                 firn_error *error) {
    if (options->failpoint != NULL) {
        options->failpoint(options->failpoint_self, name);
    }
    return getpid() == pid
               ? FIRN_OK
               : module_fail(error, FIRN_EFORKED,
                             "this process was forked while the store was at work, so the call is "
                             "its parent's: call again, or fork between calls");
}
