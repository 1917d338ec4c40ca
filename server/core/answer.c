/* SPDX-License-Identifier: MIT */
#include "answer.h"

#include "catalog.h"
#include "errors.h"
#include "monotonic.h"
#include "series.h"
#include "settings/setting.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

int request_read(server_request *request, firn_error *error) {
    static const enum role roles[] = {
#define VERB_X(id, name, role, meter) ROLE_##role,
        VERBS(VERB_X)
#undef VERB_X
    };
    request->generator = NULL;
    request->segment = NULL;
    request->series = NULL;
    request->digest = NULL;
    request->count = 1;
    request->form = FIRN_FORM_DEC;
    request->prefix[0] = '\0';
    request->dated = request->must_open = request->wants_segment = false;
    if (request->role < roles[request->verb]) {
        return set_error(error, FIRN_EUSAGE,
                         "the token's role does not allow this: use a token of role admin");
    }
    static const char *const none[] = {NULL};
    int code = request->pair_count > 1 ? refuse_twice(request, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    switch (request->verb) {
    case VERB_NEW:
        return ids_read_new(request, error);
    case VERB_RUNS:
        return ids_read_runs(request, error);
    case VERB_NEXT:
    case VERB_BLOCK:
        return integers_read(request, error);
    case VERB_LAST:
        return integers_read_last(request, error);
    case VERB_SERIES:
        return series_read(request, error);
    case VERB_NODES:
        return check_keys(request, "nodes", none, error);
    default:
        return FIRN_OK; /* checked when answered */
    }
}

int request_is_late(firn_error *error) {
    return set_error(error, FIRN_ESTORE,
                     "the store did not answer within %lld ms: try again, or see /readyz",
                     (long long)settings_now()->wait_ms);
}

bool request_is_large(const server_request *request) {
    enum { LARGE_IDS = 64 };
    return request->count > LARGE_IDS || request->verb == VERB_STATUS ||
           request->verb == VERB_NODES || request->verb == VERB_SCHEMES ||
           request->verb == VERB_CHOOSE;
}

/* Another request may have opened it by now. `wants_segment` decides between a generator and a
 * segment, because one name can be both. */
static void look_again(server_request *request) {
    if (request->wants_segment) {
        request->segment = catalog_segment(request->name);
    } else {
        request->generator = catalog_generator(request->name);
    }
    request->must_open = request->generator == NULL && request->segment == NULL;
}

int request_answer(server_request *request, size_t times, server_reply *out, firn_error *error) {
    out->count = 0;
    out->json = NULL;
    out->is_table = false;
    if (request->must_open) {
        look_again(request);
    }
    if (request->must_open || request->verb == VERB_NODES || request->verb == VERB_SERIES) {
        return REQUEST_TASK;
    }
    switch (request->verb) {
    case VERB_NEW:
        return ids_answer_new(request, times, out, error);
    case VERB_RUNS:
        return ids_answer_runs(request, out, error);
    case VERB_NEXT:
    case VERB_BLOCK:
        return integers_answer(request, request->verb == VERB_NEXT ? times : 1, out, error);
    case VERB_LAST:
        return integers_answer_last(request, out);
    case VERB_MASK:
    case VERB_UNMASK:
        return answer_mask(request, out, error);
    case VERB_STATUS:
        return answer_status(request, out, error);
    case VERB_SPREAD:
        return answer_spread(request, out, error);
    case VERB_CHOOSE:
        return answer_choose(request, out, error);
    default:
        return answer_pure(request, out, error);
    }
}

/* ---- tasks ----------------------------------------------------------------------------------- */

struct sent_task {
    renewer_task task; /* first, because the renewer knows only this */
    server_request request;
    task_client client;
    store_renewer *renewer;
    int code;
    firn_error error;
    int64_t first; /* of a block */
    firn_id *ids;  /* back-dated */
    json_t *json;
    char (*texts)[FIRN_SERIES_SIZE]; /* of a series */
    char *words;                     /* the copied words of the request */
};

/* In the renewer's thread; may wait for the store. */
static int run_opening(sent_task *task) {
    char name[NAME_SIZE];
    server_request *request = &task->request;
    word_copy(request->name, name, sizeof name); /* checked when it was read */
    return request->wants_segment
               ? catalog_open_segment(&request->segment, name, &task->error)
               : catalog_open_scheme(&request->generator, name, false, &task->error);
}

static int run_dated(sent_task *task) {
    server_request *request = &task->request;
    task->ids = malloc((size_t)request->count * sizeof *task->ids);
    return task->ids == NULL
               ? set_error(&task->error, FIRN_EMEMORY, "out of memory for a batch of IDs")
               : generator_date(request->generator, &request->time, task->ids,
                                (size_t)request->count, &task->error);
}

static int run_block(sent_task *task) {
    const server_request *request = &task->request;
    return segment_fetch(request->segment, request->count, &task->first, &task->error);
}

static int run_series(sent_task *task) {
    const server_request *request = &task->request;
    task->texts = calloc((size_t)request->count, sizeof *task->texts);
    return task->texts == NULL ? set_error(&task->error, FIRN_EMEMORY,
                                           "out of memory for %lld numbers: ask for fewer",
                                           (long long)request->count)
                               : series_take(request->series, request, task->texts, &task->error);
}

static int run_nodes(sent_task *task) {
    char ns[FIRN_NS_SIZE];
    const server_request *request = &task->request;
    firn_store *store = renewer_store(task->renewer, &task->error);
    if (store == NULL) {
        return task->error.code;
    }
    if (!word_copy(request->name, ns, sizeof ns)) {
        return set_error(&task->error, FIRN_ERANGE,
                         "the namespace is too long: use 1 to %d characters", FIRN_NS_SIZE - 1);
    }
    return answer_nodes(store, ns[0] != '\0' ? ns : NULL, &task->json, &task->error);
}

static void run_sent(renewer_task *self) {
    sent_task *task = (sent_task *)self;
    const server_request *request = &task->request;
    task->code = request->must_open            ? run_opening(task)
                 : request->verb == VERB_NODES ? run_nodes(task)
                 : request->series != NULL     ? run_series(task)
                 : request->dated              ? run_dated(task)
                                               : run_block(task);
}

/* Opening is never too late: it serves the requests after this one. */
static enum task_need need_sent(renewer_task *self, firn_error *why) {
    const sent_task *task = (const sent_task *)self;
    enum task_need need =
        task->client.need != NULL ? task->client.need(task->client.self) : NEED_STAYS;
    if (task->request.must_open) {
        return need == NEED_IS_OVER ? NEED_FADES : need;
    }
    if (need == NEED_IS_OVER || monotonic_ms() > task->client.until_ms) {
        request_is_late(why);
        return NEED_IS_OVER;
    }
    bool is_large =
        (task->request.dated || task->request.series != NULL) && request_is_large(&task->request);
    const char *full = is_large && task->client.full != NULL ? task->client.full() : NULL;
    if (full != NULL) { /* the tasks before this one have used the memory up */
        set_error(why, FIRN_EWINDOW, "%s", full);
        return NEED_IS_OVER;
    }
    return need;
}

static void refuse_sent(renewer_task *self, const firn_error *why) {
    sent_task *task = (sent_task *)self;
    task->code = why->code;
    task->error = *why;
}

static void done_sent(renewer_task *self) {
    const sent_task *task = (const sent_task *)self;
    task->client.finished(task->client.self);
}

/* The renewer that can run it. */
static store_renewer *renewer_for(const server_request *request, firn_error *error) {
    return request->must_open || request->verb == VERB_NODES ? catalog_renewer(error)
           : request->series != NULL                         ? request->series->renewer
           : request->generator != NULL                      ? request->generator->renewer
                                                             : request->segment->renewer;
}

static char *copy_word(word *text, char *room) {
    if (text->length > 0) {
        memcpy(room, text->text, text->length);
    }
    text->text = room;
    return room + text->length;
}

/* Copies the words of the request into one allocation of the task. */
static bool copy_words(sent_task *task) {
    server_request *request = &task->request;
    size_t size = request->name.length + 1;
    for (size_t i = 0; i < request->pair_count; i++) {
        size += request->pairs[i].key.length + request->pairs[i].value.length;
    }
    char *position = task->words = malloc(size);
    if (position == NULL) {
        return false;
    }
    position = copy_word(&request->name, position);
    for (size_t i = 0; i < request->pair_count; i++) {
        position = copy_word(&request->pairs[i].key, position);
        position = copy_word(&request->pairs[i].value, position);
    }
    return true;
}

int request_send(const server_request *request, const task_client *client, sent_task **out,
                 firn_error *error) {
    store_renewer *renewer = renewer_for(request, error);
    sent_task *task = calloc(1, sizeof *task);
    if (task == NULL || renewer == NULL) {
        free(task);
        return renewer == NULL ? error->code
                               : set_error(error, FIRN_EMEMORY, "out of memory for a request");
    }
    task->task = (renewer_task){.need = need_sent,
                                .run = run_sent,
                                .refuse = refuse_sent,
                                .done = done_sent,
                                .client = client->share};
    list_clear(&task->task.place);
    task->request = *request;
    task->client = *client;
    task->renewer = renewer;
    task->code = FIRN_ESTORE; /* until it has run */
    if (!copy_words(task)) {
        sent_free(task);
        return set_error(error, FIRN_EMEMORY, "out of memory for a request");
    }
    *out = task; /* before sending: the task may finish before renewer_send returns */
    if (!renewer_send(renewer, &task->task)) {
        sent_free(task);
        *out = NULL;
        return refuse_crowd(error);
    }
    return FIRN_OK;
}

bool request_take_back(sent_task *task) {
    return !task->request.must_open && renewer_take_back(task->renewer, &task->task);
}

int request_finish(sent_task *task, server_reply *out, firn_error *error) {
    const server_request *request = &task->request;
    out->count = 0;
    out->json = NULL;
    if (task->code != FIRN_OK) {
        *error = task->error;
        return task->code;
    }
    if (request->must_open) {
        return REQUEST_LATER;
    }
    if (request->verb == VERB_NODES) {
        out->kind = REPLY_JSON;
        out->json = task->json;
        task->json = NULL;
    } else if (request->series != NULL) {
        return series_reply(request, task->texts, out, error);
    } else if (request->dated) {
        return ids_reply_dated(request, task->ids, out, error);
    } else {
        integers_reply(request, task->first, out);
    }
    return FIRN_OK;
}

bool sent_issued(const sent_task *task) {
    return task != NULL && task->code == FIRN_OK && !task->request.must_open;
}

size_t sent_size(const sent_task *task) {
    const size_t count = (size_t)task->request.count;
    return (task->ids != NULL ? count * sizeof *task->ids : 0) +
           (task->texts != NULL ? count * sizeof *task->texts : 0);
}

void sent_free(sent_task *task) {
    if (task != NULL) {
        free(task->ids);
        free(task->texts);
        free(task->words);
        json_decref(task->json);
        free(task);
    }
}
