/* SPDX-License-Identifier: MIT */
/* The local file of a reserve: an embedded store whose notes say which slots the shared store
 * granted to this machine, and up to where processes may reserve (the ceiling). Its driver is
 * SQLite's, except for the ceiling. Knows no shared store. */
#include "engine.h"
#include "entropy.h"
#include "error.h"
#include "fork_memory.h"
#include "hash.h"
#include "module.h"
#include "stock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- records --------------------------------------------------------------------------------- */

#define BINDING "machine" /* the key whose note binds the file to its machine */
#define REFILL  " refill" /* after a node: the key of its pending refill */

char *firn__right_write(char note[FIRN_NOTE_SIZE], const firn__right *right) {
    snprintf(note, FIRN_NOTE_SIZE,
             "%c%d %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx32
             " %" PRIx32,
             right->state, right->twice, (uint64_t)right->ceiling, (uint64_t)right->first,
             (uint64_t)right->end, right->grant, (uint64_t)right->there_ms,
             (uint64_t)right->read_ms, right->boot, right->epoch);
    return note;
}

/* A note that firn did not write gives no right. */
void firn__right_read(firn__right *right, const firn_records *seen) {
    firn__right read = {.mark = seen->mark};
    int twice = 0;
    char end;
    uint64_t ceiling, first, last, there, when;
    const bool whole =
        seen->key_known && sscanf(seen->note,
                                  "%c%1d %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
                                  " %" SCNx64 " %" SCNx32 " %" SCNx32 "%c",
                                  &read.state, &twice, &ceiling, &first, &last, &read.grant, &there,
                                  &when, &read.boot, &read.epoch, &end) == 10;
    if (!whole || (read.state != FIRN__RIGHT_OPEN && read.state != FIRN__RIGHT_CLOSED) ||
        last > FIRN_SLOT_MAX || ceiling > last || first > last) {
        *right = (firn__right){.mark = seen->mark};
        return;
    }
    read.twice = twice != 0;
    read.ceiling = (int64_t)ceiling;
    read.first = (int64_t)first;
    read.end = (int64_t)last;
    read.there_ms = (int64_t)there;
    read.read_ms = (int64_t)when;
    *right = read;
}

char *firn__pending_key(char key[FIRN_KEY_SIZE], const char *node) {
    snprintf(key, FIRN_KEY_SIZE, "%.40s" REFILL, node);
    return key;
}

/* Its mark is {earliest, grant}. */
char *firn__pending_write(char note[FIRN_NOTE_SIZE], const firn__pending *pending) {
    snprintf(note, FIRN_NOTE_SIZE, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx32,
             (uint64_t)pending->latest, (uint64_t)pending->count, pending->instance,
             (uint64_t)pending->sent_ms, pending->boot);
    return note;
}

void firn__pending_read(firn__pending *pending, const firn_records *seen) {
    uint64_t latest, count, sent;
    *pending = (firn__pending){0};
    if (seen->key_known && seen->mark.grant != 0 &&
        sscanf(seen->note, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx32, &latest,
               &count, &pending->instance, &sent, &pending->boot) == 5) {
        pending->grant = seen->mark.grant;
        pending->earliest = seen->mark.high;
        pending->latest = (int64_t)latest;
        pending->count = (int64_t)count;
        pending->sent_ms = (int64_t)sent;
    }
}

/* ---- one transaction ------------------------------------------------------------------------- */

int firn__machine_begin(firn__machine *machine, firn_records *seen, const char *key,
                        firn_error *error) {
    *seen = (firn_records){
        .ns = machine->ns, .key = key, .alive = &machine->life->used, .layout = "", .note = ""};
    int code = machine->driver->begin(machine->file, seen, FIRN_VERB_RESERVE, error);
    if (code == FIRN_OK) {
        code = machine->driver->read(machine->file, seen, true, error);
        code = code == FIRN_OK ? code : machine->driver->end(machine->file, code);
    }
    return code;
}

/* A loss of the file that shows here is written with it, or nobody would notice it later. The
 * namespace stays doubted: the next window begins after the guard. */
int firn__machine_write(firn__machine *machine, const firn_records *seen, firn_mark mark,
                        const char *note, firn_error *error) {
    firn_records next = *seen;
    int which = FIRN_RECORD_KEY;
    next.key_known = true;
    next.mark = mark;
    next.note = note;
    if (machine->driver->lost(machine->file, seen)) {
        which |= FIRN_RECORD_STORE;
        next.losses = seen->losses + 1;
    }
    if (!seen->ns_known) {
        which |= FIRN_RECORD_NS;
        next.ns_known = true;
        next.layout = machine->layout;
        next.ns_losses = seen->losses;
    }
    return machine->driver->write(machine->file, seen, &next, which, FIRN_VERB_RESERVE, error);
}

int firn__machine_end(firn__machine *machine, int code) {
    return machine->driver->end(machine->file, code);
}

int firn__machine_read(firn__machine *machine, firn_records *seen, const char *key,
                       firn_error *error) {
    const int code = firn__machine_begin(machine, seen, key, error);
    return code == FIRN_OK ? firn__machine_end(machine, FIRN_OK) : code;
}

int firn__machine_right(firn__machine *machine, const char *key, firn__right *right,
                        firn_error *error) {
    firn_records seen;
    const int code = firn__machine_read(machine, &seen, key, error);
    firn__right_read(right, &seen);
    return code;
}

int firn__machine_pending(firn__machine *machine, const char *node, firn__pending *pending,
                          firn_error *error) {
    char key[FIRN_KEY_SIZE];
    firn_records seen;
    const int code = firn__machine_read(machine, &seen, firn__pending_key(key, node), error);
    firn__pending_read(pending, &seen);
    return code;
}

static size_t soonest_over(const firn__machine_list *list) {
    size_t found = 0;
    for (size_t i = 1; i < list->count; i++) {
        found = list->node[i].right.ceiling < list->node[found].right.ceiling ? i : found;
    }
    return found;
}

static int see_right(void *context, const firn_holding *holding) {
    firn__machine_list *list = context;
    firn_value node;
    const firn_records seen = {.key_known = true, .mark = holding->mark, .note = holding->note};
    firn__right right;
    firn__right_read(&right, &seen);
    if (!firn__value_parse(&node, holding->key) || right.state != FIRN__RIGHT_OPEN ||
        right.ceiling <= list->least) {
        return FIRN_OK;
    }
    size_t place = list->count;
    if (list->count < FIRN__MACHINE_NODES) {
        list->count++;
    } else {
        list->more = true;
        place = soonest_over(list);
        if (list->node[place].right.ceiling >= right.ceiling) {
            return FIRN_OK;
        }
    }
    snprintf(list->node[place].key, FIRN_KEY_SIZE, "%s", holding->key);
    list->node[place].right = right;
    return FIRN_OK;
}

int firn__machine_rights(firn__machine *machine, int64_t least, firn__machine_list *list,
                         firn_error *error) {
    list->count = 0;
    list->more = false;
    list->least = least;
    return machine->driver->list(machine->file, machine->ns, see_right, list, error);
}

int firn__machine_nodes(firn__machine *machine, firn__machine_list *list, firn_error *error) {
    int64_t present;
    int code = firn__machine_rights(machine, -1, list, error);
    const bool full = code == FIRN_OK && list->more && machine->clocked &&
                      firn__machine_present(machine, &present, NULL) == FIRN_OK &&
                      list->node[soonest_over(list)].right.ceiling > present;
    return full ? firn__fail(error, FIRN_ERANGE,
                             "the reserve %.120s has more than %d nodes: stop its processes, "
                             "then remove it",
                             machine->path, FIRN__MACHINE_NODES)
                : code;
}

/* ---- the ceiling ----------------------------------------------------------------------------- */

static int ceiling_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    const firn__machine *machine = self;
    return machine->driver->begin(machine->file, names, verb, error);
}

static int ceiling_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    firn__machine *machine = self;
    int code = machine->driver->read(machine->file, seen, surely, error);
    if (code == FIRN_OK) {
        firn__right_read(&machine->right, seen);
        machine->verdict =
            machine->right.state == FIRN__RIGHT_OPEN ? FIRN__MACHINE_LAW : FIRN__MACHINE_NO_NODE;
    }
    return code;
}

static bool ceiling_lost(void *self, const firn_records *seen) {
    const firn__machine *machine = self;
    return machine->driver->lost(machine->file, seen);
}

static int refuse_slots(firn__machine *machine, const firn_records *seen,
                        firn__machine_verdict verdict, firn_error *error) {
    machine->verdict = verdict;
    return firn__fail(error, FIRN_EBUSY,
                      verdict == FIRN__MACHINE_NO_NODE
                          ? "node %.40s is not of the reserve %.120s"
                          : "the reserve of node %.40s in %.120s is used up",
                      seen->key, machine->path);
}

/* In the transaction that read the right. */
static int ceiling_write(void *self, const firn_records *seen, firn_records *next, int which,
                         firn_verb verb, firn_error *error) {
    firn__machine *machine = self;
    if ((which & FIRN_RECORD_KEY) != 0 && verb == FIRN_VERB_RESERVE) {
        if (machine->right.state != FIRN__RIGHT_OPEN) {
            return refuse_slots(machine, seen, FIRN__MACHINE_NO_NODE, error);
        }
        if (next->mark.high > machine->right.ceiling) {
            return refuse_slots(machine, seen, FIRN__MACHINE_CEILING, error);
        }
        next->note = seen->note;
    }
    return machine->driver->write(machine->file, seen, next, which, verb, error);
}

static int ceiling_confirm(void *self, firn_error *error) {
    const firn__machine *machine = self;
    return machine->driver->confirm(machine->file, error);
}

static int ceiling_end(void *self, int code) {
    const firn__machine *machine = self;
    return machine->driver->end(machine->file, code);
}

static const char *ceiling_where(void *self) {
    const firn__machine *machine = self;
    return machine->driver->where(machine->file);
}

static void ceiling_close(void *self) {
    const firn__machine *machine = self;
    machine->driver->close(machine->file);
}

static const firn_driver ceiling_driver = {.version = FIRN_DRIVER_VERSION,
                                           .scheme = "reserve",
                                           .locks = true,
                                           .begin = ceiling_begin,
                                           .read = ceiling_read,
                                           .lost = ceiling_lost,
                                           .write = ceiling_write,
                                           .confirm = ceiling_confirm,
                                           .end = ceiling_end,
                                           .where = ceiling_where,
                                           .close = ceiling_close};

/* ---- open ------------------------------------------------------------------------------------ */

/* A number for the first line of a file; 0: there is no such file, or it is empty. */
static uint64_t digest_file(const char *path) {
    char text[64];
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    text[strcspn(text, "\n")] = '\0';
    return text[0] != '\0' ? firn__hash(FIRN__HASH_START, text, strlen(text)) | 1 : 0;
}

static uint64_t machine_id(void) {
    const uint64_t id = digest_file("/etc/machine-id");
    return id != 0 ? id : digest_file("/var/lib/dbus/machine-id");
}

/* A copy of the file has another inode or another birth. */
static uint64_t file_id(const firn__machine *machine) {
    struct statx found;
    if (statx(AT_FDCWD, machine->path, 0, STATX_INO | STATX_BTIME, &found) != 0) {
        return 0;
    }
    const uint64_t words[3] = {found.stx_ino,
                               found.stx_mask & STATX_BTIME ? (uint64_t)found.stx_btime.tv_sec : 0,
                               found.stx_mask & STATX_BTIME ? found.stx_btime.tv_nsec : 0};
    return firn__hash(FIRN__HASH_START, words, sizeof words) | 1;
}

static void renew_instance(void *life) {
    atomic_store_explicit(&((firn__machine_life *)life)->instance, 0, memory_order_seq_cst);
}

/* Of a file, its absolute path: a relative one names another file in another folder. While the file
 * is away, the path as it was given. */
static const char *settle_url(char settled[PATH_MAX], const char *url) {
    char path[FIRN__STORE_URL_SIZE];
    if (strncmp(url, "sqlite:", 7) != 0) {
        return url;
    }
    snprintf(path, sizeof path, "%s", url + 7);
    char *keys = strrchr(path, '?');
    if (keys != NULL) {
        *keys = '\0';
    }
    if (realpath(path, settled) == NULL) {
        snprintf(settled, PATH_MAX, "%.*s", PATH_MAX - 1, path);
    }
    return settled;
}

/* Two stores have two reserves in one file, and two names of one store too: their nodes differ. So
 * do two settings of the nodes of reserves, the text `reserves`: the shared store refuses one of
 * them, and that refusal must not close what the other one holds. */
static void name_local(firn__machine *machine, const char *ns, const char *reserves, size_t size) {
    char settled[PATH_MAX];
    const char *url = settle_url(settled, firn__store_url(machine->shared));
    uint64_t sum = firn__hash(firn__hash(FIRN__HASH_START, ns, strlen(ns) + 1), url, strlen(url));
    sum = firn__hash(sum, reserves, size);
    snprintf(machine->ns, sizeof machine->ns, "%.200s @%016" PRIx64, ns, sum);
}

int firn__machine_file_open(firn__machine *machine, const firn__machine_place *place,
                            firn_error *error) {
    char url[FIRN__STORE_URL_SIZE];
    int code = firn__store_beside(url, place->path, "reserve.db", error);
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(machine->path, sizeof machine->path, "%.*s", (int)strcspn(url + 7, "?"), url + 7);
    machine->boot = (uint32_t)digest_file("/proc/sys/kernel/random/boot_id");
    firn__claims unused;
    size_t length, reach;
    (void)firn__confined_reserves(place->layout, &unused, &length);
    (void)firn__confined_reach_s(place->layout, &reach);
    snprintf(machine->layout, sizeof machine->layout, "%.*s%s", (int)length, place->layout,
             place->layout + reach);
    name_local(machine, place->ns, place->layout + length, reach - length);
    machine->life = firn__wiped(sizeof *machine->life, &code, error);
    if (machine->life == NULL) {
        return code;
    }
    machine->life->used = 1;
    firn__wiped_renews(machine->life, sizeof *machine->life, FIRN__RENEW_MARKS, renew_instance);
    code = firn__store_drive(&machine->library, &machine->driver, &machine->file, url,
                             &place->options, error);
    return code == FIRN_OK ? firn__engine_make(&machine->engine, &ceiling_driver, machine, error)
                           : code;
}

void firn__machine_file_close(firn__machine *machine) {
    if (machine->engine != NULL) {
        firn__engine_ops.close(machine->engine);
    }
    if (machine->library != NULL) {
        firn__module_close(machine->library);
    }
    if (machine->life != NULL) {
        firn__wiped_free(machine->life, sizeof *machine->life);
    }
}

/* ---- for people ------------------------------------------------------------------------------ */

typedef struct shown_reserve {
    firn_visit *visit;
    void *context;
} shown_reserve;

/* Its integers: from the number in the note on, below the mark. */
static int show_integers(const shown_reserve *shown, const firn_holding *holding, const char *ns,
                         const firn__stock_record *record) {
    const int64_t blocks[2][2] = {{record->mark.high, record->ceiling},
                                  {record->first, record->end}};
    int code = 0;
    for (size_t i = 0; code == 0 && i < 2; i++) {
        char note[24];
        snprintf(note, sizeof note, "%" PRId64, blocks[i][0]);
        const firn_holding told = {.ns = ns,
                                   .layout = holding->layout,
                                   .key = holding->key,
                                   .note = note,
                                   .mark = {blocks[i][1], record->grant}};
        code = blocks[i][0] < blocks[i][1] ? shown->visit(shown->context, &told) : 0;
    }
    return code;
}

static int show_right(void *context, const firn_holding *holding) {
    const shown_reserve *shown = context;
    firn__stock_record record;
    const firn_records seen = {.key_known = true, .mark = holding->mark, .note = holding->note};
    const size_t length = strlen(holding->ns), cut = strlen(" @0123456789abcdef");
    const char *tail = length > cut ? holding->ns + length - cut : NULL; /* of name_local */
    char ns[FIRN_NS_SIZE];
    firn_value node;
    firn__right right;
    firn__right_read(&right, &seen);
    if (!firn__value_parse(&node, holding->key) || tail == NULL || strncmp(tail, " @", 2) != 0) {
        return FIRN_OK;
    }
    snprintf(ns, sizeof ns, "%.*s", (int)(tail - holding->ns), holding->ns);
    if (firn__stock_read(&record, &holding->mark, holding->note)) {
        return show_integers(shown, holding, ns, &record);
    }
    if (right.state != FIRN__RIGHT_OPEN) {
        return FIRN_OK;
    }
    const firn_holding told = {.ns = ns,
                               .layout = holding->layout,
                               .key = holding->key,
                               .note = "",
                               .mark = {right.ceiling, right.grant}};
    return shown->visit(shown->context, &told);
}

int firn_reserve_list(const char *path, firn_visit *visit, void *context, firn_error *error) {
    char url[FIRN__STORE_URL_SIZE];
    shown_reserve shown = {visit, context};
    const firn_store_options options = {.unsafe = true, .must_exist = true, .wait_ms = 1000};
    struct stat found;
    firn_store *store;
    int code = firn__store_beside(url, path, "reserve.db", error);
    if (code != FIRN_OK) {
        return code;
    }
    *strrchr(url, '?') = '\0'; /* the file is not made */
    if (stat(url + strlen("sqlite:"), &found) != 0) {
        return path == NULL
                   ? FIRN_OK
                   : firn__fail(
                         error, FIRN_ESTORE,
                         "there is no reserve at %.120s: set reserve_path as the processes have it",
                         url + strlen("sqlite:"));
    }
    code = firn_store_open(&store, url, &options, error);
    if (code == FIRN_OK) {
        code = firn_store_list(store, NULL, show_right, &shown, error);
        firn_store_close(store);
    }
    return code;
}

/* ---- whose file ------------------------------------------------------------------------------ */

int firn__binding_read(firn__machine *machine, firn__binding *binding, firn_error *error) {
    firn_records seen;
    uint64_t losses = 0;
    *binding = (firn__binding){0};
    const int code = firn__machine_read(machine, &seen, BINDING, error);
    binding->known =
        seen.key_known &&
        sscanf(seen.note, "%" SCNx64 " %" SCNx64 " %" SCNx32 " %" SCNx64 " %" SCNx64, &binding->id,
               &binding->file, &binding->boot, &binding->origin, &losses) == 5;
    binding->losses = (int64_t)losses;
    return code;
}

int firn__binding_write(firn__machine *machine, const firn__binding *binding, firn_error *error) {
    char note[FIRN_NOTE_SIZE];
    firn_records seen;
    int code = firn__machine_begin(machine, &seen, BINDING, error);
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(note, sizeof note, "%" PRIx64 " %" PRIx64 " %" PRIx32 " %" PRIx64 " %" PRIx64,
             binding->id, binding->file, binding->boot, binding->origin, (uint64_t)binding->losses);
    return firn__machine_end(machine, firn__machine_write(machine, &seen, seen.mark, note, error));
}

void firn__binding_here(const firn__machine *machine, firn__binding *binding) {
    binding->id = machine_id();
    binding->file = file_id(machine);
    binding->boot = machine->boot;
}

/* ---- pending refills ------------------------------------------------------------------------- */

static int see_pending(void *context, const firn_holding *holding) {
    const size_t length = strlen(holding->key), end = sizeof REFILL - 1;
    if (holding->mark.grant == 0 || length < end ||
        strcmp(holding->key + length - end, REFILL) != 0) {
        return FIRN_OK;
    }
    snprintf(context, FIRN_KEY_SIZE, "%s", holding->key);
    return 1;
}

/* One after the other: a listing cannot write. */
int firn__machine_strike_all(firn__machine *machine, firn_error *error) {
    char key[FIRN_KEY_SIZE];
    firn_records seen;
    int code;
    while ((code = machine->driver->list(machine->file, machine->ns, see_pending, key, error)) ==
           1) {
        code = firn__machine_begin(machine, &seen, key, error);
        if (code == FIRN_OK) {
            code = firn__machine_end(
                machine, firn__machine_write(machine, &seen, (firn_mark){0, 0}, "", error));
        }
        if (code != FIRN_OK) {
            return code;
        }
    }
    return code;
}
