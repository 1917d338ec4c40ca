/* SPDX-License-Identifier: MIT */
/* The table from the library's codes to exit statuses: see exit_status.h. */
#include "exit_status.h"

#include <firn/firn.h>

/* One line for each code of FIRN_ERRORS; the names are checked below. */
#define STATUSES(X)                                                                                \
    X(USAGE, STATUS_USAGE)                                                                         \
    X(RANGE, STATUS_NO)                                                                            \
    X(LAYOUT, STATUS_NO)                                                                           \
    X(TEXT, STATUS_NO)                                                                             \
    X(MISMATCH, STATUS_NO)                                                                         \
    X(NAMESPACE, STATUS_USAGE)                                                                     \
    X(BUSY, STATUS_BUSY)                                                                           \
    X(EXHAUSTED, STATUS_BUSY)                                                                      \
    X(WINDOW, STATUS_BUSY)                                                                         \
    X(CLOCK, STATUS_CLOCK)                                                                         \
    X(STORE, STATUS_STORE)                                                                         \
    X(UNKNOWN, STATUS_STORE)                                                                       \
    X(FORKED, STATUS_BUSY)                                                                         \
    X(CLONED, STATUS_BUSY)                                                                         \
    X(ENTROPY, STATUS_IO)                                                                          \
    X(MEMORY, STATUS_IO)                                                                           \
    X(IO, STATUS_IO)                                                                               \
    X(UNSORTED, STATUS_USAGE)                                                                      \
    X(SYSTEM, STATUS_IO)                                                                           \
    X(BACK, STATUS_STORE)

#define ONE(...) +1
_Static_assert((0 STATUSES(ONE)) == (0 FIRN_ERRORS(ONE)), "each code of the library has a status");
#undef ONE

int status_of(int code) {
    switch (code) {
    case FIRN_OK:
        return STATUS_DONE;
#define CASE(name, status)                                                                         \
    case FIRN_E##name:                                                                             \
        return status;
        STATUSES(CASE)
#undef CASE
    default:
        return STATUS_IO;
    }
}
