/* SPDX-License-Identifier: MIT */
/* Random bytes from the system, in a block for each thread, which is erased as it is used and empty
 * in a forked child. There is no generator in the process, so nothing is weaker than the system. */
#include "entropy.h"

#include "bits.h"
#include "error.h"
#include "thread.h"
#include "wiped.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#define BLOCK                                                                                      \
    4088 /* bytes, so wiped.c needs one page: 25 ns per 16 bytes, not 230 ns as for 16 alone */

/* A page of its own, wiped at a fork: a child finds `left` 0 and fetches again. */
typedef struct block {
    size_t left; /* unused bytes, at the end of `bytes` */
    size_t mine; /* 1 from before the fetch on; 0 in a child that was forked meanwhile */
    uint8_t bytes[BLOCK - 2 * sizeof(size_t)];
} block;

static FIRN_TLS block *own;
static pthread_key_t at_exit; /* frees a thread's block when it ends */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool key_made;

static void release(void *page) {
    memset(page, 0, sizeof(block));
    firn__wiped_free(page, sizeof(block));
    own = NULL;
}

static void make_key(void) {
    key_made = pthread_key_create(&at_exit, release) == 0;
}

static int system_fill(void *out, size_t size, firn_error *error) {
    for (size_t done = 0; done < size;) {
        ssize_t got = getrandom((uint8_t *)out + done, size - done, 0);
        if (got < 0 && errno != EINTR) {
            return firn__fail(error, FIRN_EENTROPY,
                              "the system provides no randomness (%s): no ID is issued",
                              strerror(errno));
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return FIRN_OK;
}

static int make_block(firn_error *error) {
    int code;
    void *page = firn__wiped(sizeof(block), &code, error);
    if (page == NULL) {
        return code;
    }
    pthread_once(&once, make_key);
    if (!key_made || pthread_setspecific(at_exit, page) != 0) {
        firn__wiped_free(page, sizeof(block));
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a thread's entropy");
    }
    own = page;
    return FIRN_OK;
}

/* Whether nothing was wiped since: a signal handler may have forked between any two steps. */
static inline bool still_mine(void) {
    atomic_signal_fence(memory_order_seq_cst);
    return ((volatile block *)own)->mine != 0;
}

int firn__entropy_fill(const firn_entropy *source, void *out, size_t size, firn_error *error) {
    if (source != NULL) {
        int code = source->fill(source->self, out, size);
        return code == FIRN_OK
                   ? FIRN_OK
                   : firn__fail(error, code, "the entropy source of the caller failed: %s",
                                firn_strerror(code));
    }
    if (size > sizeof own->bytes / 4 ||
        firn__wiped_watch()) { /* keep nothing that a child could draw too */
        return system_fill(out, size, error);
    }
    if (own == NULL) {
        int code = make_block(error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    do {
        if (own->left < size) {
            own->left = 0;
            own->mine = 1;
            int code = system_fill(own->bytes, sizeof own->bytes, error);
            if (code != FIRN_OK) {
                return code;
            }
            own->left = sizeof own->bytes;
        }
        uint8_t *bytes = own->bytes + sizeof own->bytes - own->left;
        memcpy(out, bytes, size);
        memset(bytes, 0, size);
        own->left = still_mine() ? own->left - size : 0;
    } while (!still_mine()); /* again only in a child that was just forked, whose bytes are zero */
    return FIRN_OK;
}

/* Up to 8 bytes of this thread's block in one load, erased by one store. False: none is left, or
 * no block yet. */
static inline bool take_word(uint64_t *word, size_t size) {
    uint64_t bytes;
    if (own == NULL || own->left < 8) {
        return false;
    }
    uint8_t *at = own->bytes + sizeof own->bytes - own->left;
    memcpy(&bytes, at, 8);
    *word = bytes;
    bytes = 0;
    memcpy(at, &bytes, size == 8 ? 8 : size);
    own->left -= size;
    return still_mine();
}

int firn__entropy_bits(const firn_entropy *source, firn_value *value, uint32_t bits,
                       firn_error *error) {
    firn_value out = {0, 0};
    bool wide = bits > 64;
    size_t size = wide ? 8 : (bits + 7) / 8;
    bool fast = source == NULL && take_word(&out.low, size) && (!wide || take_word(&out.high, 8));
    if (!fast) {
        int code = firn__entropy_fill(source, &out, wide ? 16 : 8, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    value->low = out.low & firn__mask(wide ? 64 : bits);
    value->high = wide ? out.high & firn__mask(bits - 64) : 0;
    return FIRN_OK;
}

int firn__entropy_below(const firn_entropy *source, uint64_t *value, uint64_t below,
                        firn_error *error) {
    uint32_t bits = 1;
    while (bits < 64 && below - 1 > firn__mask(bits)) {
        bits++;
    }
    for (int i = 0; i < 128; i++) { /* each round is right with a chance of at least one half */
        firn_value drawn;
        int code = firn__entropy_bits(source, &drawn, bits, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (drawn.low < below) {
            *value = drawn.low;
            return FIRN_OK;
        }
    }
    return firn__fail(error, FIRN_EENTROPY, "the entropy source repeats itself: no ID is issued");
}

/* splitmix64: for simulations, where the same seed must give the same run. */
static int seeded_fill(void *self, void *out, size_t size) {
    uint64_t *state = self;
    uint8_t *bytes = out;
    for (size_t i = 0; i < size; i++) {
        uint64_t z = *state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        bytes[i] = (uint8_t)(z ^ z >> 31);
    }
    return FIRN_OK;
}

firn_entropy firn__entropy_seeded(uint64_t *state) {
    return (firn_entropy){.version = 1, .self = state, .fill = seeded_fill};
}
