/* SPDX-License-Identifier: MIT */
#include "answer.h"

#include "catalog.h"
#include "config/setting.h"
#include "errors.h"
#include "monotonic.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

int request_read(request *it, firn_error *error) {
    static const enum role roles[] = {
#define VERB_X(id, name, role, meter) ROLE_##role,
        VERBS(VERB_X)
#undef VERB_X
    };
    it->generator = NULL;
    it->segment = NULL;
    it->digest = NULL;
    it->count = 1;
    it->form = FIRN_FORM_DEC;
    it->prefix[0] = '\0';
    it->dated = it->must_open = it->wants_segment = false;
    if (it->role < roles[it->verb]) {
        return set_error(error, FIRN_EUSAGE,
                         "the token's role does not allow this: use a token of role admin");
    }
    static const char *const none[] = {NULL};
    int code = it->pair_count > 1 ? refuse_twice(it, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    switch (it->verb) {
    case VERB_NEW:
        return ids_read_new(it, error);
    case VERB_RUNS:
        return ids_read_runs(it, error);
    case VERB_NEXT:
    case VERB_BLOCK:
        return integers_read(it, error);
    case VERB_LAST:
        return integers_read_last(it, error);
    case VERB_NODES:
        return check_keys(it, "nodes", none, error);
    default:
        return FIRN_OK; /* checked when answered */
    }
}

int request_is_late(firn_error *error) {
    return set_error(error, FIRN_ESTORE,
                     "the store did not answer within %lld ms: try again, or see /readyz",
                     (long long)settings_now()->wait_ms);
}

bool request_is_large(const request *it) {
    enum { LARGE_IDS = 64 };
    return it->count > LARGE_IDS || it->verb == VERB_STATUS || it->verb == VERB_NODES ||
           it->verb == VERB_SCHEMES || it->verb == VERB_CHOOSE;
}

/* Another request may have opened it by now. `wants_segment` decides between a generator and a segment,
 * because one name can be both. */
static void look_again(request *it) {
    if (it->wants_segment) {
        it->segment = catalog_segment(it->name);
    } else {
        it->generator = catalog_generator(it->name);
    }
    it->must_open = it->generator == NULL && it->segment == NULL;
}

int request_answer(request *it, size_t times, reply *out, firn_error *error) {
    out->count = 0;
    out->json = NULL;
    out->is_table = false;
    if (it->must_open) {
        look_again(it);
    }
    if (it->must_open || it->verb == VERB_NODES) {
        return REQUEST_TASK;
    }
    switch (it->verb) {
    case VERB_NEW:
        return ids_answer_new(it, times, out, error);
    case VERB_RUNS:
        return ids_answer_runs(it, out, error);
    case VERB_NEXT:
    case VERB_BLOCK:
        return integers_answer(it, it->verb == VERB_NEXT ? times : 1, out, error);
    case VERB_LAST:
        return integers_answer_last(it, out);
    case VERB_STATUS:
        return answer_status(it, out, error);
    case VERB_SPREAD:
        return answer_spread(it, out, error);
    case VERB_CHOOSE:
        return answer_choose(it, out, error);
    default:
        return answer_pure(it, out, error);
    }
}

/* ---- tasks ----------------------------------------------------------------------------------- */

struct sent_task {
    task task; /* first, because the renewer knows only this */
    request request;
    task_client client;
    renewer *renewer;
    int code;
    firn_error error;
    int64_t first; /* of a block */
    firn_id *ids;  /* back-dated */
    json_t *json;
    char *words; /* the copied words of the request */
};

/* In the renewer's thread; may wait for the store. */
static int run_opening(sent_task *sent) {
    char name[NAME_SIZE];
    request *it = &sent->request;
    word_copy(it->name, name, sizeof name); /* checked when it was read */
    return it->wants_segment ? catalog_open_segment(&it->segment, name, &sent->error)
                             : catalog_open_scheme(&it->generator, name, false, &sent->error);
}

static int run_dated(sent_task *sent) {
    request *it = &sent->request;
    sent->ids = malloc((size_t)it->count * sizeof *sent->ids);
    return sent->ids == NULL
               ? set_error(&sent->error, FIRN_EMEMORY, "out of memory for a batch of IDs")
               : generator_date(it->generator, &it->time, sent->ids, (size_t)it->count,
                                &sent->error);
}

static int run_block(sent_task *sent) {
    const request *it = &sent->request;
    return segment_fetch(it->segment, it->count, &sent->first, &sent->error);
}

static int run_nodes(sent_task *sent) {
    char ns[FIRN_NS_SIZE];
    const request *it = &sent->request;
    firn_store *store = renewer_store(sent->renewer, &sent->error);
    if (store == NULL) {
        return sent->error.code;
    }
    if (!word_copy(it->name, ns, sizeof ns)) {
        return set_error(&sent->error, FIRN_ERANGE,
                         "the namespace is too long: use 1 to %d characters", FIRN_NS_SIZE - 1);
    }
    return answer_nodes(store, ns[0] != '\0' ? ns : NULL, &sent->json, &sent->error);
}

static void run_sent(task *self) {
    sent_task *sent = (sent_task *)self;
    const request *it = &sent->request;
    sent->code = it->must_open            ? run_opening(sent)
                 : it->verb == VERB_NODES ? run_nodes(sent)
                 : it->dated              ? run_dated(sent)
                                          : run_block(sent);
}

/* Opening is never too late: it serves the requests after this one. */
static enum wish wish_sent(task *self, firn_error *why) {
    const sent_task *sent = (const sent_task *)self;
    enum wish wish = sent->client.wish != NULL ? sent->client.wish(sent->client.self) : WISH_STAYS;
    if (sent->request.must_open) {
        return wish == WISH_IS_OVER ? WISH_FADES : wish;
    }
    if (wish == WISH_IS_OVER || monotonic_ms() > sent->client.until_ms) {
        request_is_late(why);
        return WISH_IS_OVER;
    }
    bool is_large = sent->request.dated && request_is_large(&sent->request);
    const char *full = is_large && sent->client.full != NULL ? sent->client.full() : NULL;
    if (full != NULL) { /* the tasks before this one have used the memory up */
        set_error(why, FIRN_EWINDOW, "%s", full);
        return WISH_IS_OVER;
    }
    return wish;
}

static void refuse_sent(task *self, const firn_error *why) {
    sent_task *sent = (sent_task *)self;
    sent->code = why->code;
    sent->error = *why;
}

static void done_sent(task *self) {
    const sent_task *sent = (const sent_task *)self;
    sent->client.finished(sent->client.self);
}

/* The renewer that can run it. */
static renewer *renewer_for(const request *it, firn_error *error) {
    return it->must_open || it->verb == VERB_NODES ? catalog_renewer(error)
           : it->generator != NULL                 ? it->generator->renewer
                                                   : it->segment->renewer;
}

static char *copy_word(word *it, char *room) {
    if (it->length > 0) {
        memcpy(room, it->text, it->length);
    }
    it->text = room;
    return room + it->length;
}

/* Copies the words of the request into one allocation of the task. */
static bool copy_words(sent_task *sent) {
    request *it = &sent->request;
    size_t size = it->name.length + 1;
    for (size_t i = 0; i < it->pair_count; i++) {
        size += it->pairs[i].key.length + it->pairs[i].value.length;
    }
    char *at = sent->words = malloc(size);
    if (at == NULL) {
        return false;
    }
    at = copy_word(&it->name, at);
    for (size_t i = 0; i < it->pair_count; i++) {
        at = copy_word(&it->pairs[i].key, at);
        at = copy_word(&it->pairs[i].value, at);
    }
    return true;
}

int request_send(const request *it, const task_client *client, sent_task **out, firn_error *error) {
    renewer *to = renewer_for(it, error);
    sent_task *sent = calloc(1, sizeof *sent);
    if (sent == NULL || to == NULL) {
        free(sent);
        return to == NULL ? error->code
                          : set_error(error, FIRN_EMEMORY, "out of memory for a request");
    }
    sent->task = (task){.wish = wish_sent,
                        .run = run_sent,
                        .refuse = refuse_sent,
                        .done = done_sent,
                        .client = client->share};
    list_clear(&sent->task.place);
    sent->request = *it;
    sent->client = *client;
    sent->renewer = to;
    sent->code = FIRN_ESTORE; /* until it has run */
    if (!copy_words(sent)) {
        sent_free(sent);
        return set_error(error, FIRN_EMEMORY, "out of memory for a request");
    }
    *out = sent; /* before sending: the task may finish before renewer_send returns */
    if (!renewer_send(to, &sent->task)) {
        sent_free(sent);
        *out = NULL;
        return refuse_crowd(error);
    }
    return FIRN_OK;
}

bool request_take_back(sent_task *sent) {
    return !sent->request.must_open && renewer_take_back(sent->renewer, &sent->task);
}

int request_finish(sent_task *sent, reply *out, firn_error *error) {
    const request *it = &sent->request;
    out->count = 0;
    out->json = NULL;
    if (sent->code != FIRN_OK) {
        *error = sent->error;
        return sent->code;
    }
    if (it->must_open) {
        return REQUEST_LATER;
    }
    if (it->verb == VERB_NODES) {
        out->kind = REPLY_JSON;
        out->json = sent->json;
        sent->json = NULL;
    } else if (it->dated) {
        ids_reply_dated(it, sent->ids, out);
    } else {
        integers_reply(it, sent->first, out);
    }
    return FIRN_OK;
}

bool sent_issued(const sent_task *sent) {
    return sent != NULL && sent->code == FIRN_OK && !sent->request.must_open;
}

size_t sent_size(const sent_task *sent) {
    return sent->ids != NULL ? (size_t)sent->request.count * sizeof *sent->ids : 0;
}

void sent_free(sent_task *sent) {
    if (sent != NULL) {
        free(sent->ids);
        free(sent->words);
        json_decref(sent->json);
        free(sent);
    }
}
