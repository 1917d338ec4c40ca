/* SPDX-License-Identifier: MIT */
/* The store of a forked child: its parent, who waits for it and serves its verbs over a socket, so
 * that what the child claims is claimed from the one store of the run. */
#include "sim.h"

#include <sys/socket.h>
#include <unistd.h>

typedef struct question {
    enum { RESERVE, GIVE_BACK, LIST } verb;
    int from; /* index of the maker */
    bool any; /* LIST: of every namespace */
    char ns[FIRN_NS_SIZE], layout[FIRN_LAYOUT_SIZE], key[FIRN_KEY_SIZE];
    firn_request request;
    firn_mark mine;
    int64_t high;
} question;

/* LIST is answered by one message for each mark, and a last one without a mark. */
typedef struct answer {
    int code;
    bool more;
    int64_t first;
    firn_mark mark;
    char ns[FIRN_NS_SIZE], layout[FIRN_LAYOUT_SIZE], key[FIRN_KEY_SIZE];
} answer;

static int ends[2]; /* the parent's, the child's */

bool child_begin(void) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
}

/* ---- in the child ---------------------------------------------------------------------------- */

void child_born(void) {
    close(ends[0]);
}

static answer hear_answer(void) {
    answer got = {.code = FIRN_ESTORE};
    if (recv(ends[1], &got, sizeof got, 0) != (ssize_t)sizeof got) {
        _exit(8);
    }
    return got;
}

static answer ask(const question *what) {
    if (send(ends[1], what, sizeof *what, 0) != (ssize_t)sizeof *what) {
        _exit(8);
    }
    return hear_answer();
}

int child_reserve(const sim_maker *sender, const firn_request *request, int64_t *first,
                  firn_mark *held) {
    question what = {.verb = RESERVE, .from = (int)(sender - sim.makers), .request = *request};
    snprintf(what.ns, sizeof what.ns, "%s", request->ns);
    snprintf(what.layout, sizeof what.layout, "%s", request->layout);
    snprintf(what.key, sizeof what.key, "%s", request->key);
    answer got = ask(&what);
    *first = got.code == FIRN_OK ? got.first : *first;
    *held = got.code == FIRN_EBUSY ? got.mark : *held;
    return got.code;
}

int child_give_back(const sim_maker *sender, const char *ns, const char *key, const firn_mark *mine,
                    int64_t high) {
    question what = {
        .verb = GIVE_BACK, .from = (int)(sender - sim.makers), .mine = *mine, .high = high};
    snprintf(what.ns, sizeof what.ns, "%s", ns);
    snprintf(what.key, sizeof what.key, "%s", key);
    return ask(&what).code;
}

int child_list(const sim_maker *sender, const char *ns, firn_visit *visit, void *context) {
    question what = {.verb = LIST, .from = (int)(sender - sim.makers), .any = ns == NULL};
    snprintf(what.ns, sizeof what.ns, "%s", ns != NULL ? ns : "");
    int code = FIRN_OK;
    for (answer got = ask(&what); got.more; got = hear_answer()) {
        firn_holding holding = {got.ns, got.layout, got.key, "", got.mark};
        code = code == FIRN_OK ? visit(context, &holding) : code;
    }
    return code;
}

/* ---- in the parent --------------------------------------------------------------------------- */

static int tell_mark(void *context, const firn_holding *holding) {
    answer told = {.more = true, .mark = holding->mark};
    (void)context;
    snprintf(told.ns, sizeof told.ns, "%s", holding->ns);
    snprintf(told.layout, sizeof told.layout, "%s", holding->layout);
    snprintf(told.key, sizeof told.key, "%s", holding->key);
    return send(ends[0], &told, sizeof told, 0) == (ssize_t)sizeof told ? FIRN_OK : FIRN_ESTORE;
}

void child_serve(void) {
    question what;
    close(ends[1]);
    while (recv(ends[0], &what, sizeof what, 0) == (ssize_t)sizeof what) {
        answer told = {.code = FIRN_OK};
        sim_maker *sender = &sim.makers[what.from];
        what.request.ns = what.ns;
        what.request.layout = what.layout;
        what.request.key = what.key;
        what.request.note = "child";
        switch (what.verb) {
        case RESERVE:
            told.code = wire_carry_out(sender, &what.request, &told.first, &told.mark);
            break;
        case GIVE_BACK:
            judge_giving(sender, what.ns, what.key, what.high, what.mine.high);
            told.code = wire_carry_back(what.ns, what.key, &what.mine, what.high);
            break;
        case LIST:
            sim.whole = true;
            firn_store_list(sim.store, what.any ? NULL : what.ns, tell_mark, NULL, NULL);
            sim.whole = false;
            break;
        }
        if (chance(sim.lost) && what.verb != LIST) {
            told.code = FIRN_EUNKNOWN;
        }
        if (send(ends[0], &told, sizeof told, 0) != (ssize_t)sizeof told) {
            break;
        }
    }
    close(ends[0]);
}
