/* SPDX-License-Identifier: MIT */
/* The system calls of the library, on a host that has one process, one thread, no files and no
 * stores. Time and randomness are the host's. */
#include "platform/assert.h"
#include "platform/netdb.h"
#include "platform/pthread.h"
#include "platform/sys/mman.h"
#include "platform/sys/random.h"

#include "error.h"
#include "fork_memory.h"
#include "gen.h"
#include "machine.h"
#include "module.h"
#include "processor.h"
#include "store.h"
#include "stream.h"

#include <firn/cipher.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMPORT(name) __attribute__((import_module("firn"), import_name(#name)))

/* ms since 1970 */
IMPORT(wall) double host_wall(void);
/* crypto.getRandomValues; 0, or another value if the host has none */
IMPORT(random) int host_random(void *out, size_t size);

/* ---- clock and randomness -------------------------------------------------------------------- */

#define WRAP_MS 18446744073000. /* 2554-07-21: firn refuses a later time */

/* After a clock rollback the time does not move until the clock has caught up, so that the order of
 * IDs never breaks. The steady clock is the same, so that nothing is judged a step. A time that
 * firn refuses was used by nobody. */
int clock_gettime(clockid_t id, struct timespec *out) {
    static double used;
    double ms = host_wall(), seconds;
    (void)id;
    ms = ms > used ? ms : used;
    used = ms < WRAP_MS ? ms : used;
    seconds = __builtin_floor(ms / 1000);
    *out = (struct timespec){(time_t)seconds, (long)((ms - seconds * 1000) * 1000000)};
    return 0;
}

int nanosleep(const struct timespec *rest, struct timespec *left) {
    (void)rest, (void)left; /* a page cannot sleep: the caller looks again */
    return 0;
}

ssize_t getrandom(void *out, size_t size, unsigned flags) {
    (void)flags;
    if (host_random(out, size) == 0) {
        return (ssize_t)size;
    }
    errno = ENOSYS;
    return -1;
}

/* ---- memory ---------------------------------------------------------------------------------- */

extern uint8_t __heap_base;

/* Fresh zeros from the end of the heap; `size` is a multiple of 16. NULL: the host has no memory
 * left. */
static void *fresh(size_t size, size_t align) {
    static uintptr_t end;
    end = ((end != 0 ? end : (uintptr_t)&__heap_base) + align - 1) / align * align;
    size_t have = __builtin_wasm_memory_size(0) * 65536, need;
    if (__builtin_add_overflow(end, size, &need)) {
        return NULL;
    }
    if (need > have && __builtin_wasm_memory_grow(0, (need - have + 65535) / 65536) == SIZE_MAX) {
        return NULL;
    }
    end = need;
    return (void *)(need - size);
}

/* Blocks of powers of two, with a head of 16 bytes; those that were freed wait in a list for the
 * next of their size. */
typedef struct head {
    uint32_t power;
    struct head *next;
    uint64_t align;
} head;
_Static_assert(sizeof(head) == 16, "what follows is aligned");
static head *freed[32];

void *malloc(size_t size) {
    uint32_t power = 5;
    while (power < 31 && (size_t)1 << power < size + sizeof(head)) {
        power++;
    }
    if (size > ((size_t)1 << power) - sizeof(head)) {
        return NULL;
    }
    head *position = freed[power];
    if (position != NULL) {
        freed[power] = position->next;
    } else if ((position = fresh((size_t)1 << power, 16)) == NULL) {
        return NULL;
    }
    position->power = power;
    return position + 1;
}

void free(void *memory) {
    if (memory != NULL) {
        head *item = (head *)memory - 1;
        item->next = freed[item->power];
        freed[item->power] = item;
    }
}

void *calloc(size_t count, size_t size) {
    size_t all;
    void *memory = __builtin_mul_overflow(count, size, &all) ? NULL : malloc(all);
    return memory != NULL ? memset(memory, 0, all) : NULL;
}

void *realloc(void *memory, size_t size) {
    size_t have = memory != NULL ? ((size_t)1 << ((head *)memory - 1)->power) - sizeof(head) : 0;
    if (size <= have) {
        return memory;
    }
    void *more = malloc(size);
    if (more != NULL && memory != NULL) {
        memcpy(more, memory, have);
        free(memory);
    }
    return more;
}

void *mmap(void *memory, size_t size, int access, int kind, int file, long long offset) {
    (void)memory, (void)access, (void)kind, (void)file, (void)offset;
    void *made = calloc(1, size);
    return made != NULL ? made : MAP_FAILED;
}

void *mremap(void *memory, size_t old_size, size_t size, int flags) {
    (void)flags;
    char *made = realloc(memory, size);
    if (made == NULL) {
        return MAP_FAILED;
    }
    memset(made + old_size, 0, size - old_size);
    return made;
}

int munmap(void *memory, size_t size) {
    (void)size;
    free(memory);
    return 0;
}

long sysconf(int name) {
    (void)name;
    return 65536;
}

/* Pages that were freed, by their number. Nothing forks, so none is wiped for it. */
#define PAGES_MOST 8
static void *pages[PAGES_MOST + 1];

typedef struct renewal {
    struct renewal *next;
    void *page;
    void (*renew)(void *page);
    enum firn__renew_rank rank;
} renewal;
static renewal *renewals;

void *firn__wiped(size_t size, int *code, firn_error *error) {
    size_t count = (size + 4095) / 4096;
    assert(count <= PAGES_MOST);
    void *page = pages[count];
    if (page != NULL) {
        memcpy(&pages[count], page, sizeof(void *));
        memset(page, 0, size);
    } else {
        page = fresh(count * 4096, 4096);
    }
    *code = page != NULL ? FIRN_OK
                         : firn__fail(error, FIRN_EMEMORY,
                                      "out of memory: %zu bytes are not available", size);
    return page;
}

void firn__wiped_renews(void *page, size_t size, enum firn__renew_rank rank,
                        void (*renew)(void *page)) {
    (void)size;
    renewal *self = malloc(sizeof *self);
    if (self == NULL) {
        abort(); /* else two copies would use the memory */
    }
    *self = (renewal){renewals, page, renew, rank};
    renewals = self;
}

void firn__wiped_renew(enum firn__renew_rank rank) {
    for (renewal *self = renewals; self != NULL; self = self->next) {
        if (self->rank == rank) {
            self->renew(self->page);
        }
    }
}

void firn__wiped_free(void *page, size_t size) {
    size_t count = (size + 4095) / 4096;
    for (renewal **position = &renewals; *position != NULL; position = &(*position)->next) {
        if ((*position)->page == page) {
            renewal *gone = *position;
            *position = gone->next;
            free(gone);
            break;
        }
    }
    explicit_bzero(page, size);
    memcpy(page, &pages[count], sizeof(void *));
    pages[count] = page;
}

bool firn__wiped_watch(void) {
    return false;
}

bool firn__wiped_may_load(void) {
    return false;
}

int64_t firn__process(void) {
    return 1;
}

void firn__wiped_look(void) {
}

bool firn__stream_ready(bool load) {
    (void)load;
    return false; /* random bits are always the host's */
}

bool firn__stream(void *bytes, size_t size, const uint8_t key[32], const uint8_t counter[16]) {
    (void)bytes, (void)size, (void)key, (void)counter;
    return false;
}

firn__noise firn__processor_noise(void) {
    return (firn__noise){0, 0};
}

void firn__processor_hash(uint8_t seed[32], const firn__noise *noise) {
    (void)seed, (void)noise; /* no noise to mix in */
}

/* ---- no files -------------------------------------------------------------------------------- */

int __imported_wasi_snapshot_preview1_fd_close(int file);
int __imported_wasi_snapshot_preview1_fd_close(int file) {
    (void)file;
    return EBADF;
}
int __imported_wasi_snapshot_preview1_fd_seek(int file, int64_t end, int whence, int position);
int __imported_wasi_snapshot_preview1_fd_seek(int file, int64_t end, int whence, int position) {
    (void)file, (void)end, (void)whence, (void)position;
    return EBADF;
}
int __imported_wasi_snapshot_preview1_fd_write(int file, int pieces, int count, int done);
int __imported_wasi_snapshot_preview1_fd_write(int file, int pieces, int count, int done) {
    (void)file, (void)pieces, (void)count, (void)done;
    return EBADF;
}

/* ---- of the C library, smaller --------------------------------------------------------------- */

char *strerror(int code) {
    (void)code;
    return "crypto.getRandomValues fails; Workers allow it within a request only";
}

char *strstr(const char *text, const char *part) {
    const size_t length = strlen(part);
    while (strncmp(text, part, length) != 0) {
        if (*text++ == '\0') {
            return NULL;
        }
    }
    return (char *)(uintptr_t)text;
}

void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    char *items = base;
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && compare(items + (j - 1) * size, items + j * size) > 0; j--) {
            for (size_t k = 0; k < size; k++) {
                char byte = items[j * size + k];
                items[j * size + k] = items[(j - 1) * size + k];
                items[(j - 1) * size + k] = byte;
            }
        }
    }
}

/* ---- modules: the cipher of order numbers is built in ---------------------------------------- */

void *firn__module_open(const char *name, const char *dir, char why[FIRN__MODULE_WHY]) {
    (void)dir;
    why[0] = '\0';
    return strcmp(name, "ff1") == 0 ? (void *)&firn_cipher_module : NULL;
}

const char *firn__module_place(void) {
    return "WebAssembly";
}

void *firn__module_symbol(void *module, const char *symbol) {
    (void)symbol;
    return module;
}

void firn__module_close(void *module) {
    (void)module;
}

/* ---- stores ---------------------------------------------------------------------------------- */

static int no_store(firn_error *error) {
    return firn__fail(error, FIRN_ESYSTEM,
                      "this scheme reserves its nodes in a store, and WebAssembly has none: take "
                      "the IDs from firn serve, or use the addon of Node.js");
}

int firn_store_open(firn_store **store, const char *url, const firn_store_options *options,
                    firn_error *error) {
    (void)store, (void)url, (void)options;
    return no_store(error);
}

int firn_store_reserve(firn_store *store, const firn_request *request, int64_t *first,
                       firn_mark *held, firn_error *error) {
    (void)store, (void)request, (void)first, (void)held;
    return no_store(error);
}

int firn_store_give_back(firn_store *store, const char *ns, const char *key, const firn_mark *mine,
                         int64_t high, firn_error *error) {
    (void)store, (void)ns, (void)key, (void)mine, (void)high;
    return no_store(error);
}

int firn_store_list(firn_store *store, const char *ns, firn_visit *visit, void *context,
                    firn_error *error) {
    (void)store, (void)ns, (void)visit, (void)context;
    return no_store(error);
}

int firn_store_others(firn_store *store, firn_visit *visit, void *context, firn_error *error) {
    (void)store, (void)visit, (void)context;
    return no_store(error);
}

int firn_store_now(firn_store *store, firn_time *now, firn_error *error) {
    (void)store, (void)now;
    return no_store(error);
}

int firn_store_relabel(firn_store *store, const firn_relabel *change, int64_t *floor,
                       firn_error *error) {
    (void)store, (void)change, (void)floor;
    return no_store(error);
}

const char *firn_store_caution(const firn_store *store) {
    (void)store;
    return NULL;
}

void firn_store_close(firn_store *store) {
    (void)store;
}

bool firn__store_embedded(const firn_store *store) {
    (void)store;
    return true;
}

const char *firn__store_url(const firn_store *store) {
    (void)store;
    return "";
}

void firn__store_pause(const char *url, bool answers) {
    (void)url, (void)answers;
}

int firn__machine_open(firn_gen *gen, const char *module_dir, firn_error *error) {
    (void)module_dir;
    return gen->keys.reserve_ms == 0 ? FIRN_OK : no_store(error);
}

int firn__machine_wait(firn_gen *gen, int64_t soonest, int64_t latest, const firn_error *why,
                       firn_error *error) {
    (void)gen, (void)soonest, (void)latest, (void)why;
    return no_store(error);
}

void firn__machine_tell(const firn__machine *machine, firn_status *status) {
    (void)machine, (void)status;
}

/* ---- a node and a process -------------------------------------------------------------------- */

int firn__node_read(uint64_t *number, const char *name, const char *value, uint32_t bits, int role,
                    firn_error *error) {
    firn_value parsed;
    (void)role;
    if (!firn__value_parse(&parsed, value)) {
        return firn__fail(error, FIRN_EUSAGE, "%s=%.40s is not valid: use a number", name, value);
    }
    if (parsed.high != 0 || (parsed.low & ~firn__mask(bits)) != 0) {
        return firn__fail(error, FIRN_ERANGE,
                          "%s %.40s is out of range (0 to %" PRIu64 ", %" PRIu32
                          " bits): choose a smaller number",
                          name, value, firn__mask(bits), bits);
    }
    *number = parsed.low;
    return FIRN_OK;
}

char *firn__node_note(char text[FIRN_NOTE_SIZE]) {
    text[0] = '\0';
    return text;
}

int firn__renewal_lock(firn_gen *gen, bool patient, firn_error *error) {
    (void)gen, (void)patient, (void)error;
    return FIRN_OK;
}

void firn__renewal_unlock(firn_gen *gen) {
    (void)gen;
}

int firn__shared_attach(firn_gen *gen, void *memory, size_t size, firn_error *error) {
    (void)gen, (void)memory, (void)size;
    return no_store(error);
}

int firn__shared_join(const firn_gen *gen, firn_error *error) {
    (void)gen;
    return no_store(error);
}

void firn__shared_look(const firn_gen *gen) {
    (void)gen;
}

int firn__shared_place(firn_gen *gen, const firn__window *claimed, firn__window **placed,
                       firn_error *error) {
    (void)gen, (void)claimed, (void)placed;
    return no_store(error);
}

void firn__shared_choose(firn_gen *gen, const firn__window *window) {
    (void)gen, (void)window;
}

firn__claim *firn__shared_claim(const firn_gen *gen) {
    (void)gen;
    return NULL;
}

bool firn__shared_refuses(const firn_gen *gen, uint64_t node) {
    (void)gen, (void)node;
    return false;
}
