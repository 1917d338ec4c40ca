/* SPDX-License-Identifier: MIT */
#include "masks.h"

#include "errors.h"
#include "mask_list.h"
#include "verbs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A handle serves one thread at a time: each mask has a mutex. */
typedef struct mask_table {
    mask_list list;
    pthread_mutex_t *locks;
} mask_table;

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static mask_table in_force; /* under the lock */

static void free_masks(mask_table *table) {
    for (size_t i = 0; table->locks != NULL && i < table->list.count; i++) {
        pthread_mutex_destroy(&table->locks[i]);
    }
    free(table->locks);
    mask_list_free(&table->list);
}

static int read_masks(mask_table *table, const char *path, firn_error *error) {
    *table = (mask_table){.locks = NULL};
    int code = path != NULL ? mask_list_read(&table->list, path, error) : FIRN_OK;
    if (code != FIRN_OK || path == NULL) {
        return code;
    }
    table->locks = calloc(table->list.count, sizeof *table->locks);
    for (size_t i = 0; table->locks != NULL && i < table->list.count; i++) {
        pthread_mutex_init(&table->locks[i], NULL);
    }
    if (table->locks == NULL) {
        free_masks(table);
        return out_of_memory(error);
    }
    return FIRN_OK;
}

int masks_check(const char *path, firn_error *error) {
    mask_table made;
    int code = read_masks(&made, path, error);
    if (code == FIRN_OK) {
        free_masks(&made);
    }
    return code;
}

int masks_load(const char *path, firn_error *error) {
    mask_table made;
    int code = read_masks(&made, path, error);
    if (code == FIRN_OK) {
        pthread_rwlock_wrlock(&lock);
        mask_table before = in_force;
        in_force = made;
        pthread_rwlock_unlock(&lock);
        free_masks(&before);
    }
    return code;
}

/* Under the lock. */
static listed_mask *find(word name, firn_error *error) {
    if (in_force.list.count == 0) {
        set_error(error, FIRN_EUSAGE, "this server has no masks: set masks = FILE in firn.ini");
        return NULL;
    }
    return mask_list_find(&in_force.list, name.text, name.length, error);
}

int masks_find(mask_forms *forms, word name, firn_error *error) {
    pthread_rwlock_rdlock(&lock);
    const listed_mask *found = find(name, error);
    if (found != NULL) {
        *forms = (mask_forms){found->bits, found->version, found->as};
    }
    pthread_rwlock_unlock(&lock);
    return found != NULL ? FIRN_OK : error->code;
}

/* Puts the MAC of each masked ID into its unused bits. */
static void frame_ids(const listed_mask *mask, server_reply *reply, firn_id *ids) {
    for (size_t i = 0; i < reply->count; i++) {
        char mac[FIRN_MASK_FRAME_SIZE] = "";
        firn_mask_frame(mask->mask, reply->before, mac, &ids[i]);
        reply->has_mac = mac[0] != '\0';
        if (!reply->has_mac) {
            return; /* no ID of the mask has one */
        }
        memcpy(&ids[i].top, mac, sizeof ids[i].top);
    }
}

/* Under the lock. */
static int apply(const listed_mask *mask, server_reply *reply, firn_id *ids, firn_error *error) {
    pthread_mutex_t *own = &in_force.locks[mask - in_force.list.all];
    pthread_mutex_lock(own);
    int code = firn_mask_apply(mask->mask, ids, ids, reply->count, error);
    if (code == FIRN_OK) {
        frame_ids(mask, reply, ids);
    }
    pthread_mutex_unlock(own);
    return code;
}

/* Under the lock. */
static int undo(const listed_mask *mask, firn_id *id, word masked, firn_error *error) {
    pthread_mutex_t *own = &in_force.locks[mask - in_force.list.all];
    pthread_mutex_lock(own);
    const int code = mask_list_unmask(mask, id, masked.text, masked.length, error);
    pthread_mutex_unlock(own);
    return code;
}

int masks_apply(server_reply *reply, firn_id *ids, word name, int *form, firn_error *error) {
    pthread_rwlock_rdlock(&lock);
    const listed_mask *found = find(name, error);
    int code = found == NULL ? error->code : FIRN_OK;
    if (found != NULL) {
        code = found->bits == ids[0].bits ? apply(found, reply, ids, error) : FIRN_EMISMATCH;
        *form = found->as;
    }
    if (code == FIRN_EMISMATCH || code == FIRN_ERANGE) { /* instead of the ID */
        set_error(error, code,
                  "mask %.63s takes IDs of another width or version than this generator has: "
                  "use another mask",
                  found->name);
    }
    pthread_rwlock_unlock(&lock);
    return code;
}

int answer_mask(server_request *request, server_reply *out, firn_error *error) {
    static const char *const known[] = {"mask", NULL};
    const bool back = request->verb == VERB_UNMASK;
    const word name = request_value(request, "mask");
    int code = check_keys(request, back ? "unmask" : "mask", known, error);
    if (code == FIRN_OK && name.text == NULL) {
        code = set_error(error, FIRN_EUSAGE, "the name of the mask is missing: add mask=NAME");
    }
    code = code == FIRN_OK ? worker_make_room(request->worker, false, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    firn_id *id = request->worker->ids;
    pthread_rwlock_rdlock(&lock);
    const listed_mask *found = find(name, error);
    code = found == NULL ? error->code
           : back        ? undo(found, id, request->name, error)
                         : firn_parse(id, found->from, found->bits, request->name.text,
                                      request->name.length, error);
    out->kind = REPLY_IDS;
    out->count = 1;
    out->ids = id;
    if (code == FIRN_OK) {
        request->form = back ? found->from : found->as;
        code = back ? FIRN_OK : apply(found, out, id, error);
    }
    pthread_rwlock_unlock(&lock);
    out->count = code == FIRN_OK ? 1 : 0;
    return code;
}
