/* SPDX-License-Identifier: MIT */
/* Errors with the same words in all modules. */
#include "module.h"

#include <stdio.h>

int module_advise(firn_error *error, int code, int cure, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        firn__error_write(error, code, cure, format, arguments);
        va_end(arguments);
    }
    return code;
}

int module_copy(firn_error *error, int code, const firn_error *source) {
    if (error != NULL) {
        *error = *source;
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

int module_replace_code(firn_error *error, int code, int from, int to) {
    if (code == from && error != NULL) {
        error->code = to;
    }
    return code == from ? to : code;
}
