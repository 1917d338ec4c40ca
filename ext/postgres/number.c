/* SPDX-License-Identifier: MIT */
/* firn_number: dated numbers of a series, from the store that firn.store names. The store reserves
 * each in its own transaction, so a rollback of the caller's leaves a gap. */
#include "extension.h"

#include "storage/ipc.h"
#include "utils/builtins.h"

enum { SERIES_MOST = 32 };

typedef struct opened_series {
    char name[FIRN_KEY_SIZE], definition[FIRN_LAYOUT_SIZE]; /* as the call has them */
    firn_store *store;
    firn_series *series;
} opened_series;

static opened_series all_opened[SERIES_MOST];
static int opened_count;
static uint64 opened_for; /* firn_settings_count */

/* The least recently opened one. */
static void close_first(void) {
    const opened_series first = all_opened[0];
    firn_error error;
    opened_count--;
    memmove(all_opened, all_opened + 1, (size_t)opened_count * sizeof *all_opened);
    if (firn_series_close(first.series, &error) != FIRN_OK) {
        ereport(LOG, (errmsg("firn: %s", error.text)));
    }
    firn_store_close(first.store);
}

static void close_series(void) {
    while (opened_count > 0) {
        close_first();
    }
}

static void close_at_exit(int code, Datum unused) {
    close_series();
}

static void take_argument(char *out, size_t size, const text *argument, const char *what) {
    if (VARSIZE_ANY_EXHDR(argument) >= size) {
        firn_refuse(FIRN_ERANGE, "the %s has %zu bytes: use at most %zu", what,
                    (size_t)VARSIZE_ANY_EXHDR(argument), size - 1);
    }
    text_to_cstring_buffer(argument, out, size);
}

static void open_series(opened_series *series) {
    const firn_store_options options = {.unsafe = firn_setting_unsafe, .notice = firn_tell};
    firn_error error;
    FIRN_CHECK(firn_store_open(&series->store, firn_setting_store, &options, &error));
    if (firn_series_open(&series->series, series->name, series->definition, series->store, NULL,
                         &error) != FIRN_OK) {
        firn_store_close(series->store);
        firn_fail(&error);
    }
}

static firn_series *find_series(const text *name, const text *definition) {
    static bool registered;
    opened_series wanted = {.series = NULL};
    if (firn_setting_store[0] == '\0') {
        firn_refuse(FIRN_EUSAGE, "series need a store: set firn.store, or use the plain SQL of "
                                 "series without gaps");
    }
    if (opened_for != firn_settings_count) {
        close_series();
        opened_for = firn_settings_count;
    }
    take_argument(wanted.name, sizeof wanted.name, name, "name of the series");
    if (definition != NULL) {
        take_argument(wanted.definition, sizeof wanted.definition, definition, "definition");
        if (strstr(wanted.definition, "key_file=") != NULL) {
            firn_refuse(FIRN_EUSAGE, "SQL functions have no masked counters, since a statement "
                                     "would name a file of the server: remove key_file=");
        }
    }
    for (int i = 0; i < opened_count; i++) {
        if (strcmp(all_opened[i].name, wanted.name) == 0 &&
            strcmp(all_opened[i].definition, wanted.definition) == 0) {
            return all_opened[i].series;
        }
    }
    if (opened_count == SERIES_MOST) { /* a pooler's session may serve many */
        close_first();
    }
    if (!registered) {
        before_shmem_exit(close_at_exit, 0);
        registered = true;
    }
    open_series(&wanted);
    all_opened[opened_count] = wanted;
    return all_opened[opened_count++].series;
}

/* (series), (series, definition) or (series, definition, time) */
static Datum number(FunctionCallInfo fcinfo) {
    char made[1][FIRN_SERIES_SIZE];
    firn_error error;
    firn_time at = {0};
    const bool dated = PG_NARGS() > 2;
    if (dated) {
        if (fcinfo->flinfo->fn_extra == NULL) {
            firn_check_zone(fcinfo, 2);
            fcinfo->flinfo->fn_extra = all_opened; /* checked */
        }
        at = firn_time_of(PG_GETARG_TIMESTAMPTZ(2));
    }
    firn_series *series =
        find_series(PG_GETARG_TEXT_PP(0), PG_NARGS() > 1 ? PG_GETARG_TEXT_PP(1) : NULL);
    FIRN_CHECK(firn_series_next(series, dated ? &at : NULL, made, 1, &error));
    return PointerGetDatum(cstring_to_text(made[0]));
}

FIRN_ENTRY(number, number(fcinfo))
