/* SPDX-License-Identifier: MIT */
/* One request of HTTP and its answer, from the last byte of its header to the last of its reply.
 * Knows nothing of connections beyond this, and nothing of threads but its own. */
#ifndef FIRN_EXCHANGE_H
#define FIRN_EXCHANGE_H

#include "listener.h"
#include "request.h"
#include "strangers.h"

#include <microhttpd.h>
#include <pthread.h>

typedef struct exchange exchange;
typedef struct client client;
typedef struct route route;

/* A thread of the door with what it serves. Only the thread touches it, but for the lock. */
typedef struct http_loop {
    pthread_t thread;
    pthread_mutex_t lock; /* over errands that come back */
    struct MHD_Daemon *daemon;
    const listener *listener;
    worker *worker;
    client *clients;  /* connections that are open */
    crowd crowd;      /* those without a token */
    exchange *parked; /* that wait, suspended */
    exchange *unused; /* to be used again */
    int unused_count;
    _Atomic int64_t beat_ms, end_ms; /* CLOCK_MONOTONIC; end: when a loop that closes gives up */
    int64_t swept_ms;
    atomic_bool closing;
    bool over; /* closed by force: nothing may be parked any more, since nobody would wake it */
} http_loop;

/* An errand that is under way for an exchange, which may give up first. */
typedef struct ticket {
    http_loop *loop;
    struct MHD_Connection *connection;
    sent_errand *sent;
    bool back, given_up; /* under the loop's lock */
} ticket;

enum stage {
    STAGE_HEADER, /* its header is complete */
    STAGE_ASKED,  /* request_answer is to be called */
    STAGE_LATER,  /* parked: the same again in a millisecond */
    STAGE_ERRAND, /* parked: a keeper has it */
    STAGE_DELAYED /* parked: a refusal that is not to be had quickly */
};

/* The headers that matter, found in one pass over all of them. */
typedef struct header_words {
    word host, authorization, accept, fetch_site, origin, referer;
    int count, hosts, lengths, codings;
    size_t bytes, body;
    bool malformed;
    bool of_browser; /* User-Agent or Accept-Language as every browser sends them and few others */
} header_words;

struct exchange {
    http_loop *loop;
    client *client;
    struct MHD_Connection *connection;
    const route *route; /* NULL: a file of the console, if any */
    const char *path;   /* as it came, the query cut off */
    bool head, posts, as_text, served;
    header_words header;
    access_pass pass;
    bool guessed; /* its token was counted as a wrong one */
    request request;
    char *decoded; /* words that had escapes */
    char *decoded_at;
    int kind; /* METER_... */
    enum stage stage;
    ticket *ticket;
    int64_t began_ns, until_ns, wake_ns; /* CLOCK_MONOTONIC; until: then it fails, 0: not yet
                                          * known; wake: when a parked one is tried again */
    firn_error error;                    /* of the last try */
    bool is_parked, refused;
    exchange *next, *previous;
    /* Stays from one use of the exchange to the next: */
    struct usual_reply {
        struct MHD_Response *made; /* NULL: none yet */
        size_t size;
        char bytes[32];
    } usual; /* one number as text, whose bytes are written anew each time */
};

/* What answers a path. */
struct route {
    const char *path;
    enum verb verb; /* VERB_COUNT: a page */
    int kind;       /* METER_... */
    enum role role;
    bool posts;
    enum MHD_Result (*write)(exchange *it, const reply *of);
    enum MHD_Result (*fail)(exchange *it, int code, const firn_error *error);
    enum MHD_Result (*page)(exchange *it);
};

/* The row of a path, and the part that is the name, as it came. NULL: none. */
const route *route_find(const char *path, word *name);

/* The header is complete; the body, which nobody wants, may not be. May answer at once, and then
 * the connection is closed. */
enum MHD_Result exchange_begin(exchange *it, const char *method, const char *version);
/* Everything has arrived, or what it waited for happened. Answers or parks. */
enum MHD_Result exchange_go_on(exchange *it);
/* Leaves its errand, if any, to the keeper's thread; false: that came back just now and goes on. */
bool exchange_give_up(exchange *it);
/* The reply went out, or the client away; nobody reads its usual reply any more. */
void exchange_end(exchange *it);

/* Of the door: suspends it until `wake_ns`, or until an errand comes back. */
void door_park(exchange *it, enum stage stage, int64_t wake_ns);
/* Likewise: its connection had a right token; had it, by the tokens in force now? */
void door_trust(exchange *it);
bool door_trusts(const exchange *it);
address_key door_address(const exchange *it);
int64_t now_ns(void);

/* Answers; the bytes are freed by the library. `type` NULL: none. */
enum MHD_Result answer_bytes(exchange *it, unsigned status, const char *type, char *bytes,
                             size_t size);
enum MHD_Result answer_text(exchange *it, unsigned status, const char *type, const char *text);
enum MHD_Result answer_json(exchange *it, unsigned status, const char *type, json_t *made);
/* As RFC 9457 has it. `code`: the name of a FIRN_E code, or NULL. */
enum MHD_Result answer_problem(exchange *it, unsigned status, const char *code, const char *text);

/* What routes.def names. */
enum MHD_Result write_answer(exchange *it, const reply *of);
enum MHD_Result write_last(exchange *it, const reply *of);
enum MHD_Result write_integers(exchange *it, const reply *of);
enum MHD_Result write_problem(exchange *it, int code, const firn_error *error);
void leaf_read(request *asked);
enum MHD_Result leaf_write(exchange *it, const reply *of);
enum MHD_Result leaf_fail(exchange *it, int code, const firn_error *error);
enum MHD_Result leaf_decode(exchange *it);
enum MHD_Result page_metrics(exchange *it);
enum MHD_Result page_health(exchange *it);
enum MHD_Result page_ready(exchange *it);
enum MHD_Result page_file(exchange *it);

#endif
