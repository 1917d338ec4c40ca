/* SPDX-License-Identifier: MIT */
/* Series: their requests, and their calls of the store. */
#include "series.h"

#include "errors.h"
#include "log.h"
#include "no_store.h"
#include "series_day.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

/* ---- a series -------------------------------------------------------------------------------- */

/* With a template, the library checks the keys without a store; without one, it asks the store for
 * the definition, after it has checked the other keys. */
static int check_definition(const char *name, const char *keys, firn_error *error) {
    firn_series *series = NULL;
    int code = firn_series_open(&series, name, keys, no_store(), NULL, error);
    if (code == FIRN_OK) {
        firn_series_close(series, NULL);
    }
    return code == FIRN_ESTORE ? FIRN_OK : code;
}

int series_make(server_series **out, const char *name, const char *keys, firn_error *error) {
    server_series *series = calloc(1, sizeof *series);
    if (series == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a series");
    }
    int code = take_configured(series->name, sizeof series->name, name, "name of a series", error);
    if (code == FIRN_OK) {
        code = take_configured(series->keys, sizeof series->keys, keys, "line of keys", error);
    }
    code = code == FIRN_OK ? check_definition(name, series->keys, error) : code;
    if (code != FIRN_OK) {
        free(series);
        return code;
    }
    *out = series;
    return FIRN_OK;
}

void series_free(server_series *series) {
    if (series != NULL) {
        firn_series_close(series->open, NULL);
        free(series);
    }
}

static int open_series(server_series *series, firn_error *error) {
    firn_store *store = series->open == NULL ? renewer_store(series->renewer, error) : NULL;
    return series->open != NULL ? FIRN_OK
           : store == NULL
               ? error->code
               : firn_series_open(&series->open, series->name, series->keys, store, NULL, error);
}

int series_take(server_series *series, const server_request *request,
                char (*texts)[FIRN_SERIES_SIZE], firn_error *error) {
    const uint64_t calls = renewer_calls(series->renewer);
    firn_time at = request->time;
    int code = open_series(series, error);
    if (code == FIRN_OK && request->dated) {
        const word time = request_value(request, "time");
        code = series_day_read(&at, series->open, time.text, time.length, error);
    }
    code = code == FIRN_OK ? firn_series_next(series->open, request->dated ? &at : NULL, texts,
                                              (size_t)request->count, error)
                           : code;
    const bool is_clients = request->dated && (code == FIRN_ERANGE || code == FIRN_EEND);
    if (renewer_calls(series->renewer) != calls && !is_clients) {
        last_error_set(&series->failed, "series", series->name, code, error);
    }
    if (code == FIRN_OK) {
        meter_add(&series->issued, (uint64_t)request->count);
    }
    return code;
}

void series_close(server_series *series) {
    firn_error error;
    firn_series *open = series->open;
    series->open = NULL;
    if (firn_series_close(open, &error) != FIRN_OK) {
        log_event(LOG_LEVEL_WARNING, "block not given back", "series", series->name, "why",
                  error.text, NULL);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

static int read_series_time(server_request *request, word value, firn_error *error) {
    request->dated = true;
    return firn_time_parse(&request->time, value.text, value.length, error);
}

int series_read(server_request *request, firn_error *error) {
    static const char *const known[] = {"count", "time", NULL};
    int code = FIRN_OK;
    request->series = catalog_series(request->name);
    if (request->series == NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "there is no series '%.*s': add [series NAME] to firn.ini",
                         word_shown(request->name), request->name.text);
    }
    for (size_t i = 0; i < request->pair_count && code == FIRN_OK; i++) {
        const word key = request->pairs[i].key, value = request->pairs[i].value;
        code = word_is(key, "count")
                   ? read_count(&request->count, request, key, value, SERIES_MOST, error)
               : word_is(key, "time") ? read_series_time(request, value, error)
                                      : refuse_key(request, key, "a series", known, error);
    }
    return code;
}

int series_reply(const server_request *request, char (*texts)[FIRN_SERIES_SIZE], server_reply *out,
                 firn_error *error) {
    meter_add(&request->worker->meter.ids, (uint64_t)request->count);
    if (!request->worker->http && request_value(request, "count").text == NULL) {
        return reply_json(json_string(texts[0]), out, error);
    }
    json_t *array = json_array();
    for (int64_t i = 0; i < request->count && array != NULL; i++) {
        if (json_array_append_new(array, json_string(texts[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return reply_json(array, out, error);
}
