/* SPDX-License-Identifier: MIT */
/* counters=1: integers as plain keys of Redis, which other programs count with INCRBY. */
#include "redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* NULL: FIRN_EUSAGE. */
static const char *counter_name(const char *ns, const char *key, const char *layout,
                                firn_error *error) {
    static const char prefix[] = "integer ";
    if (strncmp(ns, prefix, sizeof prefix - 1) != 0 || strcmp(key, "1") != 0 ||
        (layout != NULL && strcmp(layout, "integer") != 0)) {
        module_fail(error, FIRN_EUSAGE,
                    "counters=1 is for integers that count by 1, which %.40s is not: omit "
                    "counters=1 from the URL",
                    ns);
        return NULL;
    }
    return ns + sizeof prefix - 1;
}

static int counter_refused(const redisReply *reply, const firn_request *request, const char *name,
                           firn_mark *held, firn_error *error) {
    int64_t old;
    if (redis_says(reply, "expires", 1)) {
        return module_fail(error, FIRN_ESTORE,
                           "the counter %.60s expires and would then repeat: PERSIST it", name);
    }
    if (redis_says(reply, "busy", 2) && redis_read_slot(&old, reply->element[1]) &&
        old < FIRN_SLOT_MAX) {
        *held = (firn_mark){old + 1, 0};
        return module_fail(error, FIRN_EBUSY,
                           "the counter %.60s is %" PRId64 ", past %" PRId64
                           ": use a greater range",
                           name, old, request->latest);
    }
    return module_advise(error, FIRN_ESTORE, FIRN_CURE_OTHER_NAME,
                         "the key %.60s is not a counter from 0 to 2^62 (%.40s): use another name",
                         name, reply->elements > 1 ? reply->element[1]->str : "");
}

/* The counter holds the last number issued, so a block starts after it. A block whose answer was
 * lost is lost: the counter keeps no grants. */
int redis_counter_take(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                       firn_error *error) {
    redis_store *store = self;
    const char *name = counter_name(request->ns, request->key, request->layout, error);
    char count[MODULE_NUMBER_SIZE], least[MODULE_NUMBER_SIZE],
        most[MODULE_NUMBER_SIZE] = ""; /* "" is before 0 */
    redisReply *reply;
    int64_t before;
    if (name == NULL) {
        return FIRN_EUSAGE;
    }
    int code = module_ready(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    module_digits(count, request->count);
    module_digits(least, request->earliest > 0 ? request->earliest - 1 : 0);
    if (request->latest > 0) {
        module_digits(most, request->latest - 1);
    }
    const char *arguments[] = {name, count, least, most};
    code = redis_evaluate(store, &reply, &store->count, 1, 4, arguments,
                          &firn__module_points[FIRN_VERB_RESERVE], error);
    if (code != FIRN_OK) {
        return code;
    }
    if (!redis_says(reply, "ok", 2) || !redis_read_slot(&before, reply->element[1])) {
        code = counter_refused(reply, request, name, held, error);
    } else if ((code = module_point(&store->link, firn__module_points[FIRN_VERB_RESERVE].committed,
                                    error)) == FIRN_OK) {
        *first = before + 1;
    }
    freeReplyObject(reply);
    return code;
}

int redis_counter_list(redis_store *store, const char *ns, firn_visit *visit, void *context,
                       firn_error *error) {
    redisReply *reply;
    int64_t value;
    if (ns == NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "plain counters are listed by name only, among other keys: "
                           "give ns='integer NAME'");
    }
    const char *name = counter_name(ns, "1", NULL, error);
    if (name == NULL) {
        return FIRN_EUSAGE;
    }
    int code = redis_ask(store, &reply, 2, (const char *[]){"GET", name}, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (reply->type == REDIS_REPLY_NIL) {
        freeReplyObject(reply);
        return FIRN_OK;
    }
    if (!redis_is_text(reply) || !redis_read_slot(&value, reply) || value == FIRN_SLOT_MAX) {
        return redis_refused(store, reply, error);
    }
    freeReplyObject(reply);
    const firn_holding holding = {ns, "integer", "1", "", {value + 1, 0}, 0};
    return visit(context, &holding);
}
