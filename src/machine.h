/* SPDX-License-Identifier: MIT */
/* The reserve of a machine: a local SQLite store of slots that the shared store granted to this
 * machine, from which its processes reserve windows by the same law while the shared store is away.
 * A generator sees it as its store. Inside src/ only; the rules are in
 * docs/explanation/uniqueness.md. */
#ifndef FIRN_MACHINE_H
#define FIRN_MACHINE_H

#include "gen.h"
#include "store.h"

#define FIRN__MACHINE_NODES     128   /* open rights of one reserve at most */
#define FIRN__MACHINE_WINDOW_MS 10000 /* the longest window: a closed right ends it */

/* The right of the machine to a node. The mark is the end of its processes' windows. */
typedef struct firn__right {
    char state; /* 0: no record; FIRN__RIGHT_OPEN, FIRN__RIGHT_CLOSED */
    bool twice; /* the last refill was sent more than once: it is never given back */
    firn_mark mark;
    int64_t ceiling;  /* processes get no slot from here on */
    int64_t first;    /* of the last refill, and of those that it continues: each was sent once */
    int64_t end;      /* of the last refill. ceiling < end: it counts after one more */
    uint64_t grant;   /* of the last refill */
    int64_t there_ms; /* the shared store's clock at the last refill, */
    int64_t read_ms;  /* and CLOCK_BOOTTIME then, */
    uint32_t boot;    /* of this boot */
    uint32_t epoch;   /* how often it was closed */
} firn__right;
enum { FIRN__RIGHT_OPEN = 'o', FIRN__RIGHT_CLOSED = 'c' };

/* A refill that was sent, or is about to be. */
typedef struct firn__pending {
    uint64_t grant; /* 0: none */
    int64_t earliest, latest, count;
    uint64_t instance; /* the handle that sent it */
    int64_t sent_ms;   /* CLOCK_BOOTTIME */
    uint32_t boot;
} firn__pending;

/* Why the local file granted nothing. */
typedef enum firn__machine_verdict {
    FIRN__MACHINE_LAW,     /* by the law, or the file cannot be used */
    FIRN__MACHINE_NO_NODE, /* the machine does not have the node */
    FIRN__MACHINE_CEILING  /* the slots end after the ceiling */
} firn__machine_verdict;

/* Of one process: a fork wipes it. */
typedef struct firn__machine_life {
    uint64_t used;
    _Atomic uint64_t instance; /* 0: to be drawn */
} firn__machine_life;

typedef struct firn__machine {
    firn_gen *gen; /* NULL: the file is the one of integers (stock.h), and only its records count */
    firn_store *shared;
    bool owns_shared;
    int64_t reserve_ms;
    bool trusts; /* reserve_trust=1 */

    /* The local file: the driver of SQLite, and the engine over it (machine_file.c). */
    void *library;
    const firn_driver *driver;
    void *file, *engine;
    char ns[FIRN_NS_SIZE]; /* of the shared namespace and the shared store's URL */
    /* The layout there: without the nodes of reserves, since windows from the file are short. */
    char layout[FIRN_LAYOUT_SIZE];
    char path[4096];
    firn__machine_life *life;
    uint32_t boot;
    firn__right right; /* of the last key that was read */
    firn__machine_verdict verdict;

    /* The shared store's clock, by CLOCK_BOOTTIME since it was read. */
    bool clocked;
    bool recalled; /* the clock of this machine, after a boot without the store */
    firn_time there;
    int64_t read_ns;

    int64_t look_ns;          /* nor is that clock read again, */
    int64_t tend_ns;          /* nor are the refills looked at, before this */
    int failed;               /* looks at the refills that failed, one after the other */
    _Atomic int64_t until_ms; /* Unix time: the end of the reserve; 0: nothing */
    _Atomic uint64_t refills;
    _Atomic uint64_t failures; /* looks at the refills that failed */
} firn__machine;

/* ---- machine_file.c: the local file ---------------------------------------------------------- */

/* A file, and whose records of it. */
typedef struct firn__machine_place {
    const char *ns, *layout; /* of the shared namespace */
    const char *path;        /* NULL: the default one of the user */
    firn_store_options options;
} firn__machine_place;
/* With machine->shared. After a failure it is closed as well. */
int firn__machine_file_open(firn__machine *machine, const firn__machine_place *place,
                            firn_error *error);
void firn__machine_file_close(firn__machine *machine);
/* Machine, boot, file and store that the file is bound to. */
typedef struct firn__binding {
    bool known;
    uint64_t id, file; /* of the machine; inode and birth of the file */
    uint32_t boot;
    uint64_t origin; /* of the shared store's record; 1: the engine has none; 0: no record */
    int64_t losses;  /* of that, when the rights were last found sound */
} firn__binding;
int firn__binding_read(firn__machine *machine, firn__binding *binding, firn_error *error);
int firn__binding_write(firn__machine *machine, const firn__binding *binding, firn_error *error);
/* As this machine, this boot and the file are now; `origin` and `losses` stay. */
void firn__binding_here(const firn__machine *machine, firn__binding *binding);
/* Strikes out every pending refill. */
int firn__machine_strike_all(firn__machine *machine, firn_error *error);

/* Begins a change of a key's record, in one transaction until firn__machine_end. */
int firn__machine_begin(firn__machine *machine, firn_records *seen, const char *key,
                        firn_error *error);
int firn__machine_write(firn__machine *machine, const firn_records *seen, firn_mark mark,
                        const char *note, firn_error *error);
int firn__machine_end(firn__machine *machine, int code);
/* The record, in a separate transaction. Its note stays valid until the next read. */
int firn__machine_read(firn__machine *machine, firn_records *seen, const char *key,
                       firn_error *error);

char *firn__right_write(char note[FIRN_NOTE_SIZE], const firn__right *right);
void firn__right_read(firn__right *right, const firn_records *seen);
/* As the file has it. After a failure it says nothing. */
int firn__machine_right(firn__machine *machine, const char *key, firn__right *right,
                        firn_error *error);
/* The key of a node's pending refill. */
char *firn__pending_key(char key[FIRN_KEY_SIZE], const char *node);
char *firn__pending_write(char note[FIRN_NOTE_SIZE], const firn__pending *pending);
void firn__pending_read(firn__pending *pending, const firn_records *seen);
int firn__machine_pending(firn__machine *machine, const char *node, firn__pending *pending,
                          firn_error *error);

/* Nodes of the reserve with open rights. */
typedef struct firn__machine_list {
    size_t count;
    bool more;     /* there are more, with earlier ceilings */
    int64_t least; /* the ceiling of each is above this slot */
    struct {
        char key[FIRN_KEY_SIZE];
        firn__right right;
    } node[FIRN__MACHINE_NODES];
} firn__machine_list;
int firn__machine_rights(firn__machine *machine, int64_t least, firn__machine_list *list,
                         firn_error *error);
/* All of them, as far as there is room. FIRN_ERANGE: there is no room for one that is not over. */
int firn__machine_nodes(firn__machine *machine, firn__machine_list *list, firn_error *error);

/* ---- machine_refill.c: the shared store ------------------------------------------------------ */

int64_t firn__machine_steady_ns(const firn__machine *machine);
/* Did the shared store not answer in the last 10 s? Then only a call that needs it asks. */
bool firn__machine_is_paused(const firn__machine *machine);
/* After a call of the shared store. */
void firn__machine_heard(const firn__machine *machine, int code);
/* Reads the shared store's clock. */
int firn__machine_look(firn__machine *machine, firn__store_clock *clock, firn_error *error);
/* The first slot of the present tick, by the last reading of the shared store's clock. */
int firn__machine_present(const firn__machine *machine, int64_t *slot, firn_error *error);
/* Declares that the shared store lost reservations. */
int firn__machine_declare(firn_store *shared, firn_error *error);
/* Refills a node; with `claim`, a node that the machine does not have. FIRN_OK also if another
 * process did it. FIRN_EBUSY: somebody else has the node, and `held` is its mark; FIRN_EWINDOW:
 * another process is about to. */
int firn__machine_refill(firn__machine *machine, const char *key, const firn_request *claim,
                         firn_mark *held, firn_error *error);
/* Nothing more of the node's right is granted, if its ceiling is at most `most`: ceiling = mark. */
int firn__machine_shut(firn__machine *machine, const char *key, int64_t most, firn_error *error);
/* Closes every right whose ceiling is above `least`, and strikes out what is pending. */
int firn__machine_shut_all(firn__machine *machine, int64_t least, firn_error *error);
/* Closes every right, then gives back to the shared store what no process was granted of it.
 * Nothing happens if the store is away. */
int firn__machine_give_back(firn__machine *machine, firn_error *error);
/* Did the shared store grant the rights? The rights of another store are closed. With `marks`, also
 * if the store has no origin and does not know a grant. */
int firn__machine_identify(firn__machine *machine, bool marks, firn_error *error);
/* Did this machine make the file, in this boot? If not and the shared store is there, the rights
 * are closed, since a copy may use them. If it is away, *booted: another boot of this machine made
 * it, and the caller binds it. FIRN_ESTORE: it is a copy, and the store is away. */
int firn__machine_bind(firn__machine *machine, bool *booted, firn_error *error);

/* ---- machine.c ------------------------------------------------------------------------------- */

/* A store of a program may be any: its URL is only a kind. One in memory ends with its process. */
int firn__machine_has_place(const firn_store *store, firn_error *error);
/* Makes the reserve the generator's store, if a key sets it. A listing of machine->ns has the nodes
 * of the reserve; of another namespace, the nodes of the shared store. */
int firn__machine_open(firn_gen *gen, const char *module_dir, firn_error *error);
/* May the machine take one more node? */
bool firn__machine_has_room(firn__machine *machine);
/* FIRN_EBUSY: each node of the reserve is in use, until the mark `soonest` at least, and no other
 * can be asked for: `why`. */
int firn__machine_wait(firn_gen *gen, int64_t soonest, int64_t latest, const firn_error *why,
                       firn_error *error);
/* Fills in what a status says of the reserve, which may be NULL. Any thread. */
void firn__machine_tell(const firn__machine *machine, firn_status *status);

#endif
