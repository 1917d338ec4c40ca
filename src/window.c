/* SPDX-License-Identifier: MIT */
/* Windows: their memory, how one is published, closed and given back. Called with the renewal lock
 * held. */
#include "error.h"
#include "fork_memory.h"
#include "gen.h"
#include "store.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW_SIZE ((sizeof(firn__window) + 63) / 64 * 64)
#define PAGE        4096
#ifndef FIRN_CHUNK_PAGES
#define FIRN_CHUNK_PAGES 64
#endif
#define CHUNK (FIRN_CHUNK_PAGES * PAGE)
/* A window of 10 min is renewed when it has 9.5 min left, so a process whose store goes away issues
 * for that long. */
#define RENEW_MS 30000

/* A page holds a head and as many windows as fit. When all of them are retired, the kernel
 * takes the page back, and it reads as zero from then on: closed. */
typedef struct page_head {
    uint64_t retired;
} page_head;
enum { PER_PAGE = (PAGE - 64) / (int)WINDOW_SIZE };

firn__window *firn__window_new(firn_gen *gen, int *code, firn_error *error) {
    firn__renewal_state *locked = &gen->live->locked;
    *code = FIRN_OK;
    if (locked->spare != NULL) {
        firn__window *spare = locked->spare;
        locked->spare = NULL;
        memset(spare, 0, sizeof *spare);
        return spare;
    }
    if (locked->next == locked->end) {
        uint8_t *chunk = firn__wiped(CHUNK, code, error);
        if (chunk == NULL) {
            return NULL;
        }
        uint8_t **chunks = realloc(gen->kept.chunks, (gen->kept.chunk_count + 1) * sizeof *chunks);
        if (chunks == NULL) {
            firn__wiped_free(chunk, CHUNK);
            *code = firn__fail(error, FIRN_EMEMORY, "out of memory for a window");
            return NULL;
        }
        gen->kept.chunks = chunks;
        gen->kept.chunks[gen->kept.chunk_count++] = chunk;
        locked->next = chunk;
        locked->end = chunk + CHUNK;
    }
    size_t offset = (size_t)((uintptr_t)locked->next % PAGE);
    uint8_t *position = locked->next + (offset == 0 ? 64 : 0);
    offset = offset == 0 ? 64 : offset;
    bool last = offset + 2 * WINDOW_SIZE > PAGE;
    locked->next = last ? position - offset + PAGE : position + WINDOW_SIZE;
    return (firn__window *)(void *)position;
}

void firn__window_drop(firn_gen *gen, firn__window *window) {
    gen->live->locked.spare = window;
}

void firn__window_free(firn_gen *gen) {
    for (size_t i = 0; i < gen->kept.chunk_count; i++) {
        firn__wiped_free(gen->kept.chunks[i], CHUNK);
    }
    free(gen->kept.chunks);
}

static void free_page(const firn__window *window) {
    uint8_t *page = (uint8_t *)((uintptr_t)window / PAGE * PAGE);
    page_head *head = (page_head *)(void *)page;
    if (++head->retired == PER_PAGE && sysconf(_SC_PAGESIZE) == PAGE) {
        madvise(page, PAGE, MADV_DONTNEED); /* larger pages hold other windows too, and only stay */
    }
}

int64_t firn__window_wait(const firn_gen *gen, int64_t slots) {
    const int64_t most = firn__slots_of(gen, (uint64_t)firn__ms_ticks(gen, RENEW_MS));
    return slots < most ? slots : most;
}

void firn__window_set_soft(const firn_gen *gen, firn__window *window, int64_t from) {
    int64_t end = firn__end_of(window);
    int64_t soft = window->reserved ? from + firn__window_wait(gen, (end - from) / 2) : end;
    soft = soft < from + 1 ? from + 1 : soft;
    atomic_store_explicit(&window->soft, soft < end ? soft : end,
                          memory_order_release); /* never past the grant */
}

void firn__window_renew_soon(const firn_gen *gen, firn__window *window) {
    firn__window_set_soft(gen, window, (int64_t)firn__next_of(window));
}

int firn__window_publish(firn_gen *gen, uint32_t k, firn__window *window, firn_error *error) {
    int64_t start = 0;
    int code = gen->start != FIRN_START_ZERO && ((uint64_t)window->first & firn__mask(gen->s)) == 0
                   ? firn__gen_start(gen, &start, error) /* the window opens a new tick */
                   : FIRN_OK;
    int64_t first = window->first, end = firn__end_of(window);
    if (code == FIRN_OK && end == 0) { /* a handler forked, and the kernel wiped the child's page */
        return firn__forked_inside(error);
    }
    if (code == FIRN_OK) {
        assert(!(atomic_load_explicit(&window->cursor, memory_order_relaxed) & FIRN__OPEN));
        assert(first >= 0 && first < end);
        if (gen->shared != NULL) {
            firn__window *placed = NULL;
            code = firn__shared_place(gen, window, &placed, error);
            if (code != FIRN_OK) {
                return code;
            }
            first += firn__slots_of(gen, window->base_tick - placed->base_tick);
            firn__window_drop(gen, window);
            window = placed;
        }
        /* First: what is open is chosen, wherever a process is killed. */
        firn__shared_choose(gen, window);
        firn__window_set_soft(gen, window, first + start);
        atomic_store_explicit(&window->cursor, FIRN__OPEN | (uint64_t)(first + start),
                              memory_order_release);
        atomic_store_explicit(&gen->live->any.windows[k], window, memory_order_seq_cst);
        if (gen->shared == NULL && firn__is_renewed(gen)) { /* while it was being claimed */
            firn__window_shut(window);
        }
        firn__count(&gen->live->any.claims);
    }
    return code;
}

/* A node that comes after this window's begins in a later tick. */
static void note_last(firn_gen *gen, const firn__window *window, uint64_t next) {
    firn__node_history *past = gen->past;
    if ((int64_t)next > window->first) {
        uint64_t last = window->base_tick + ((next - 1) >> gen->s);
        past->last_tick = !past->has_last || last > past->last_tick ? last : past->last_tick;
        past->has_last = true;
    }
}

int firn__window_retire(firn_gen *gen, uint32_t k, bool give_back, firn_error *error) {
    firn__process_state *live = gen->live;
    firn__window *window = firn__window_of(gen, k);
    int code = FIRN_OK;
    if (window == NULL) {
        return FIRN_OK;
    }
    note_last(gen, window,
              firn__next_of(window)); /* first: a process may be killed after the step */
    /* A single atomic step closes the cursor and returns where issuing stopped. */
    uint64_t cursor = atomic_fetch_and_explicit(&window->cursor, ~FIRN__OPEN, memory_order_acq_rel);
    int64_t next = (int64_t)(cursor & ~FIRN__OPEN), end = firn__end_of(window);
    firn__event(gen);
    assert(next >= window->first); /* the cursor never falls */
    note_last(gen, window, (uint64_t)next);
    bool mine = window->reserved && !window->twice && window->pending_grant == 0 && !window->lost &&
                !firn__is_renewed(gen); /* else another copy of the process may have it */
    /* Of a shared window nothing is given back: a thread that was stopped may have seen its end. */
    if (give_back && mine && next < end && gen->shared == NULL) {
        int64_t base = firn__slots_of(gen, window->base_tick);
        firn_mark mark = {base + end, window->grant};
        char key[FIRN_KEY_SIZE];
        snprintf(key, sizeof key, "%" PRIu64, window->node);
        code = firn_store_give_back(gen->store, gen->ns, key, &mark, base + next, error);
        firn__count(&live->any.give_backs);
    }
    firn__shared_choose(gen, NULL);
    atomic_store_explicit(&live->any.windows[k], NULL, memory_order_release);
    if (gen->shared == NULL) {
        free_page(window);
    }
    return code == FIRN_EBUSY ? FIRN_OK : code; /* busy: somebody came after us */
}

void firn__window_leave(firn_gen *gen) {
    for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
        /* with a renewer of the caller's, firn_next stays away from the store: the rest is then
         * lost */
        firn__window_retire(gen, k, !gen->has_renewer, NULL);
        gen->past->has_node[k] = false;
    }
    /* The present is before the last ID: begin at the present nevertheless. */
    gen->past->has_last = false;
    pthread_mutex_lock(&gen->live->counted.lock);
    gen->live->counted.window = NULL;
    pthread_mutex_unlock(&gen->live->counted.lock);
    if (!firn__reserves(gen)) {
        /* The claim to come draws a new identity, or fails. */
        gen->live->locked.unidentified = true;
    }
}
