/* SPDX-License-Identifier: MIT */
/* One request of HTTP and its answer, from the last byte of its header to the last of its reply.
 * Knows nothing of connections beyond this, and nothing of threads but its own. */
#ifndef FIRN_EXCHANGE_H
#define FIRN_EXCHANGE_H

#include "core/request.h"
#include "net/listener.h"
#include "net/strangers.h"

#include <microhttpd.h>
#include <pthread.h>

typedef struct exchange exchange;
typedef struct client client;
typedef struct route route;

#define BODY_MOST 16384 /* bytes of the body of a POST */

/* A thread of the HTTP listener and its connections. Only the thread touches it, but for the lock. */
typedef struct http_loop {
    pthread_t thread;
    pthread_mutex_t lock; /* over tasks that come back */
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

/* An task that is under way for an exchange, which may give up first. */
typedef struct ticket {
    http_loop *loop;
    struct MHD_Connection *connection;
    sent_task *sent;
    bool back, given_up; /* under the loop's lock */
} ticket;

enum stage {
    STAGE_HEADER, /* its header is complete */
    STAGE_ASKED,  /* request_answer is to be called */
    STAGE_LATER,  /* parked: the same again in a millisecond */
    STAGE_TASK,   /* parked: a renewer has it */
    STAGE_DELAYED /* parked: a refusal that is not to be had quickly */
};

/* The headers that matter, found in one pass over all of them. */
typedef struct header_words {
    word host, authorization, accept, fetch_site, origin, referer, content_type;
    int count, hosts, lengths, codings, types;
    size_t bytes, body;
    bool malformed, odd_coding; /* odd: a Transfer-Encoding other than chunked */
    bool of_browser; /* User-Agent or Accept-Language as every browser sends them and few others */
} header_words;

struct exchange {
    http_loop *loop;
    client *client;
    struct MHD_Connection *connection;
    const route *route; /* NULL: a file of the console, if any */
    const char *path;   /* as it came, the query cut off */
    bool head, posts, as_text, served, asks_options;
    bool body_is_over; /* more of it came than BODY_MOST */
    header_words header;
    access_pass pass;
    bool guessed; /* its token was counted as a wrong one */
    request request;
    char *decoded; /* words that had escapes */
    char *decoded_at;
    char *body; /* NULL: none; BODY_MOST bytes of room */
    size_t body_length;
    size_t query_count; /* of the request's pairs, those of the query */
    json_t *json;       /* the body, whose texts are words of the request; NULL */
    size_t held;        /* bytes of the reply that its client has not read yet */
    int kind;           /* METER_... */
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

/* Another parameter of the request, of the query or of the body; its bytes live as long as the
 * exchange. FIRN_EUSAGE: too many, or it is there with another value. */
int exchange_add(exchange *it, word key, word value, firn_error *error);

/* Of the body: is it of a type that is read? */
bool body_type_is_known(word type);
/* A piece of it has come. False: no memory. */
bool body_keep(exchange *it, const char *bytes, size_t size);
/* All of it is there: its members become parameters. FIRN_EUSAGE. */
int body_read(exchange *it, firn_error *error);
void body_free(exchange *it);

/* The byte of two hex digits, or -1: there are none; and what to say then. */
int hex_pair(const char *text, size_t length);
int refuse_escape(firn_error *error);

/* Are the replies that clients have not read yet as many as may be? Then nothing more that is large is
 * made. */
bool http_is_crowded(void);
/* A reply of so many bytes is made; it is let go of when the exchange ends. */
void http_hold(exchange *it, size_t size);

/* The header is complete; the body may not be. May answer at once, and then
 * the connection is closed. */
enum MHD_Result exchange_begin(exchange *it, const char *method, const char *version);
/* Everything has arrived, or what it waited for happened. Answers or parks. */
enum MHD_Result exchange_go_on(exchange *it);
/* Leaves its task, if any, to the renewer's thread; false: that came back just now and goes on. */
bool exchange_give_up(exchange *it);
/* The reply went out, or the client away; nobody reads its usual reply any more. */
void exchange_end(exchange *it);

/* Of http_listener.c: suspends it until `wake_ns`, or until a task comes back. */
void http_park(exchange *it, enum stage stage, int64_t wake_ns);
/* Likewise: its connection had a right token; had it, by the tokens in force now? */
void http_trust(exchange *it);
bool http_trusts(const exchange *it);
address_key http_address(const exchange *it);
int64_t now_ns(void);

/* Answers; the bytes are freed by the library. `type` NULL: none. */
enum MHD_Result answer_bytes(exchange *it, unsigned status, const char *type, char *bytes,
                             size_t size);
enum MHD_Result answer_text(exchange *it, unsigned status, const char *type, const char *text);
enum MHD_Result answer_json(exchange *it, unsigned status, const char *type, json_t *made);
/* Status 204 with the methods that are served. */
enum MHD_Result answer_options(exchange *it);
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
