/* SPDX-License-Identifier: MIT */
/* One HTTP request and its reply: the types, and its parameters. serve.h takes a request from its
 * header to its reply. */
#ifndef FIRN_EXCHANGE_H
#define FIRN_EXCHANGE_H

#include "core/answer.h"
#include "net/listener.h"
#include "net/strangers.h"

#include <microhttpd.h>
#include <pthread.h>

typedef struct exchange exchange;
typedef struct http_client http_client;
typedef struct route route;

#define BODY_MOST 16384 /* bytes of the body of a POST */

/* A thread of the HTTP listener and its connections. Only the thread touches it, but for the lock. */
typedef struct http_loop {
    pthread_t thread;
    pthread_mutex_t lock; /* over tasks that come back */
    struct MHD_Daemon *daemon;
    const listener *listener;
    worker *worker;
    http_client *clients; /* connections that are open */
    crowd crowd;          /* those without a token */
    exchange *parked;     /* that wait, suspended */
    exchange *unused;     /* to be used again */
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
    http_client *client;
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

/* Another parameter of the request, of the query or of the body; its bytes live as long as the
 * exchange. FIRN_EUSAGE: too many, or it is there with another value. */
int exchange_add(exchange *it, word key, word value, firn_error *error);
/* Decodes %XX of a part of the path or the query; a word without escapes stays where it is. FIRN_EUSAGE,
 * FIRN_EMEMORY. */
int exchange_decode(exchange *it, word *of, firn_error *error);

/* The byte of two hex digits, or -1: there are none; and the error for that case. */
int hex_pair(const char *text, size_t length);
int refuse_escape(firn_error *error);
/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t now_ns(void);

#endif
