/* SPDX-License-Identifier: MIT */
/* A shared store that goes away, and copies of the file of a reserve. Contains no tests. */
#ifndef FIRN_TEST_AWAY_H
#define FIRN_TEST_AWAY_H

#include "folder.h"
#include "generating.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MINUTE (60 * SECOND)

int statx(int at, const char *restrict path, int flags, unsigned mask, struct statx *restrict out);

/* ---- the shared store ------------------------------------------------------------------------ */

static bool same_inode;    /* a clone of the disk: inode and birth are equal */
static bool no_inode;      /* the file cannot be looked at */
static bool away, unheard; /* unheard: the replies of refills are lost */
static uint16_t away_cure; /* what the store says then, */
static const char *reason; /* and why; NULL: that it is away */
static int64_t slow_ns;    /* of a reservation */
static int told;           /* give backs */
static int answers;        /* reservations until it goes away; 0: no bound */
static void (*at_give_back)(void), (*at_reserve)(void), (*at_list)(void);

/* Once. */
static void act(void (**hook)(void)) {
    void (*const once)(void) = *hook;
    *hook = NULL;
    if (once != NULL) {
        once();
    }
}

/* In place of the C library's, for the file of the reserve. */
int statx(int at, const char *restrict path, int flags, unsigned mask, struct statx *restrict out) {
    if (no_inode && mask == (STATX_INO | STATX_BTIME)) {
        errno = EACCES;
        return -1;
    }
    const int code = (int)syscall(SYS_statx, at, path, flags, mask, out);
    if (same_inode && mask == (STATX_INO | STATX_BTIME)) {
        out->stx_ino = 1;
        out->stx_mask &= ~STATX_BTIME;
    }
    return code;
}

static int refuse_away(firn_error *error) {
    if (error != NULL) {
        *error = (firn_error){.code = FIRN_ESTORE};
        snprintf(error->text, sizeof error->text, "%s",
                 reason != NULL ? reason : "the store is away: start it");
        error->cure = away_cure;
        error->cure_at = away_cure != FIRN_CURE_NONE ? sizeof "the store is away: " - 1 : 0;
    }
    return FIRN_ESTORE;
}

static int shared_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                          firn_error *error) {
    if (away) {
        return refuse_away(error);
    }
    act(&at_reserve);
    away = answers > 0 && --answers == 0;
    pass(&world.clock, slow_ns);
    int code = recorder_reserve(self, request, first, held, error);
    if (unheard && error != NULL) {
        *error = (firn_error){.code = FIRN_EUNKNOWN, .text = "the reply is lost: ask again"};
    }
    return unheard ? FIRN_EUNKNOWN : code;
}

static int shared_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                            int64_t high, firn_error *error) {
    if (away) {
        return refuse_away(error);
    }
    told++;
    if (at_give_back != NULL) {
        at_give_back();
    }
    return recorder_give_back(self, ns, key, mine, high, error);
}

static int shared_list(void *self, const char *ns, firn_visit *visit, void *context,
                       firn_error *error) {
    act(&at_list);
    return away ? refuse_away(error) : recorder_list(self, ns, visit, context, error);
}

static int shared_now(void *self, firn_time *now, firn_error *error) {
    (void)self;
    *now = present(&world.clock);
    return away ? refuse_away(error) : FIRN_OK;
}

static const firn_store_ops shared_ops = {.version = FIRN_STORE_OPS_VERSION,
                                          .scheme = "elsewhere://here",
                                          .reserve = shared_reserve,
                                          .give_back = shared_give_back,
                                          .list = shared_list,
                                          .now = shared_now,
                                          .close = recorder_close};

static char file[400];
static uint64_t *ids; /* everything that was issued */
static size_t issued, room;

static int begin_world(void **state) {
    away = unheard = same_inode = no_inode = false;
    told = answers = 0;
    away_cure = FIRN_CURE_NONE;
    reason = NULL;
    slow_ns = 0;
    at_give_back = at_reserve = at_list = NULL;
    issued = 0;
    if (world_new(state) != 0 || set_up_in_memory(state) != 0) {
        return 1;
    }
    firn_store_close(world.store);
    snprintf(file, sizeof file, "%s/reserve.db", folder);
    return firn_store_open(&world.log.real, "memory:", NULL, NULL) != FIRN_OK ||
           firn_store_wrap(&world.store, &shared_ops, &world.log, NULL) != FIRN_OK;
}

static int end_world(void **state) {
    world_end(state);
    return tear_down(state);
}

static void keep_id(uint64_t id) {
    if (issued == room) {
        room = room * 2 + 1024;
        ids = realloc(ids, room * sizeof *ids);
        assert_non_null(ids);
    }
    ids[issued++] = id;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void nothing_twice(void) {
    qsort(ids, issued, sizeof *ids, by_number);
    for (size_t i = 1; i < issued; i++) {
        assert_int_not_equal(ids[i - 1], ids[i]);
    }
}

static void copy_file(char copy[400], const char *name) {
    char command[1400];
    snprintf(copy, 400, "%s/%s", folder, name);
    snprintf(command, sizeof command,
             "for s in '' -wal -count; do if [ -e '%s'$s ]; then cp '%s'$s '%s'$s; fi; done", file,
             file, copy);
    assert_int_equal(system(command), 0);
}

#endif
