/* SPDX-License-Identifier: MIT */
/* What the result of a request becomes over HTTP: IDs, integers, JSON or a problem. */
#include "http_reply.h"

#include "core/catalog.h"
#include "core/id_form.h"
#include "core/json_lines.h"
#include "core/server.h"
#include "core/text.h"
#include "errors.h"
#include "object.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- problems -------------------------------------------------------------------------------- */

/* The status of each code; others are 400. */
static const struct {
    int code;
    unsigned status;
} statuses[] = {
    {FIRN_ERANGE, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_ELAYOUT, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_ETEXT, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_EMISMATCH, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_EUNSORTED, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_ENAMESPACE, MHD_HTTP_CONFLICT},
    {FIRN_EBACK, MHD_HTTP_CONFLICT},
    {FIRN_ETAKEN, MHD_HTTP_CONFLICT},
    {FIRN_EEND, MHD_HTTP_CONFLICT},
    {FIRN_EFULL, MHD_HTTP_CONFLICT},
    {FIRN_EBUSY, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EEXHAUSTED, MHD_HTTP_TOO_MANY_REQUESTS},
    {FIRN_EWINDOW, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_ECLOCK, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_ESTORE, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EUNKNOWN, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EFORKED, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_ECLONED, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EENTROPY, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EMEMORY, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EIO, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_ESYSTEM, MHD_HTTP_SERVICE_UNAVAILABLE},
};

static bool is_scheme(word name) {
    return memchr(name.text, ':', name.length) != NULL || /* a layout */ scheme_named(name) != NULL;
}

/* Is the name in the path unknown? */
static bool name_is_unknown(const exchange *it, int code) {
    const request *asked = &it->request;
    switch (code == FIRN_EUSAGE ? asked->verb : VERB_STATUS) {
    case VERB_NEW:
    case VERB_RUNS:
        return catalog_generator(asked->name) == NULL && !is_scheme(asked->name);
    case VERB_NEXT:
    case VERB_BLOCK:
        return catalog_segment(asked->name) == NULL && !asked->must_open;
    case VERB_SPREAD:
        return catalog_generator(asked->name) == NULL;
    case VERB_PACK:
    case VERB_RANGE:
    case VERB_SCHEMES:
        return asked->name.length > 0 && catalog_generator(asked->name) == NULL &&
               !is_scheme(asked->name);
    default:
        return false;
    }
}

enum MHD_Result write_problem(exchange *it, int code, const firn_error *error) {
    unsigned status = MHD_HTTP_BAD_REQUEST;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].code == code) {
            status = statuses[i].status;
        }
    }
    if (it->route != NULL && it->route->verb != VERB_COUNT && name_is_unknown(it, code)) {
        status = MHD_HTTP_NOT_FOUND;
    }
    firn_error said = *error;
    if (said.text[0] == '\0') {
        set_error(&said, code, "%s", firn_strerror(code));
    }
    translate_error(&said, SURFACE_SERVER);
    return answer_error(it, status, firn_errname(code), &said);
}

/* ---- IDs ------------------------------------------------------------------------------------- */

static enum MHD_Result write_run(exchange *it, const reply *of) {
    text_out made = {0};
    text_print(&made,
               it->as_text ? "%" PRId64 " %" PRId64 " %" PRId64 "\n"
                           : "{\"first\":\"%" PRId64 "\",\"increment\":\"%" PRId64
                             "\",\"count\":\"%" PRId64 "\"}\n",
               of->first, of->increment, of->run);
    return answer_made(it, MHD_HTTP_OK, type_of(it), &made);
}

static enum MHD_Result write_json(exchange *it, json_t *made) {
    text_out lines = {0};
    if (!it->as_text) {
        return answer_json(it, MHD_HTTP_OK, data_type, made);
    }
    json_lines_write(&lines, made);
    json_decref(made);
    return answer_made(it, MHD_HTTP_OK, plain_type, &lines);
}

/* The table of schemes, as JSON and as lines. */
static enum MHD_Result write_table(exchange *it, json_t *table) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static text_out kept[2];
    text_out *text = &kept[it->as_text];
    pthread_mutex_lock(&lock);
    if (text->length == 0 && it->as_text) {
        json_lines_write(text, table);
    } else if (text->length == 0) {
        char *bytes = json_dumps(table, OBJECT_DUMP);
        text_add(text, bytes, bytes != NULL ? strlen(bytes) : 0);
        text_add(text, "\n", 1);
        text->failed |= bytes == NULL;
        free(bytes);
    }
    if (text->failed) {
        free(text->bytes);
        *text = (text_out){0};
    }
    pthread_mutex_unlock(&lock);
    if (text->length == 0) {
        return write_json(it, table);
    }
    json_decref(table);
    return answer_kept(it, MHD_HTTP_OK, it->as_text ? plain_type : data_type, text->bytes,
                       text->length);
}

enum MHD_Result write_answer(exchange *it, const reply *of) {
    switch (of->kind) {
    case REPLY_NUMBERS:
    case REPLY_IDS:
        return write_ids(it, of);
    case REPLY_INTEGER:
        return write_count(it, of->first, of->increment, 1);
    case REPLY_RUN:
        return write_run(it, of);
    case REPLY_JSON:
        return of->is_table ? write_table(it, of->json) : write_json(it, of->json);
    case REPLY_NIL:
        break;
    }
    return answer_text(it, MHD_HTTP_OK, type_of(it), it->as_text ? "" : "null");
}

/* A reply has the last integer of the block; this writes all n. */
enum MHD_Result write_integers(exchange *it, const reply *of) {
    int64_t count = it->request.count;
    int64_t step = it->request.segment != NULL ? it->request.segment->increment : of->increment;
    if (of->kind != REPLY_INTEGER) {
        return write_answer(it, of);
    }
    return write_count(it, of->first - (count - 1) * step, step, count);
}

enum MHD_Result write_last(exchange *it, const reply *of) {
    text_out made = {0};
    if (of->kind != REPLY_INTEGER) {
        text_print(&made, it->as_text ? "none\n" : "{\"last\":null}\n");
    } else {
        text_print(&made, it->as_text ? "%" PRId64 "\n" : "{\"last\":\"%" PRId64 "\"}\n",
                   of->first);
    }
    return answer_made(it, MHD_HTTP_OK, type_of(it), &made);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* The process answers, so it is alive. */
enum MHD_Result page_health(exchange *it) {
    return answer_text(it, MHD_HTTP_OK, plain_type, "ok\n");
}

enum MHD_Result page_ready(exchange *it) {
    char why[SERVER_WHY_SIZE];
    if (server_is_ready(why)) {
        char text[sizeof why + 8];
        snprintf(text, sizeof text, why[0] != '\0' ? "ready\n%s\n" : "ready\n", why);
        return answer_text(it, MHD_HTTP_OK, plain_type, text);
    }
    return answer_problem(it, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, why);
}
