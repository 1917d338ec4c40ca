/* SPDX-License-Identifier: MIT */
/* An HTTP request and its reply: the types and the parameters. serve.h handles it. */
#ifndef FIRN_EXCHANGE_H
#define FIRN_EXCHANGE_H

#include "core/answer.h"
#include "net/listener.h"
#include "net/unauthenticated.h"
#include "net/waiter.h"

#include <microhttpd.h>
#include <pthread.h>

typedef struct http_exchange http_exchange;
typedef struct http_client http_client;
typedef struct route route;

#define BODY_MOST 16384 /* bytes of the body of a POST */

/* A thread of the HTTP listener and its connections. Only that thread uses them, except the
 * lock. */
typedef struct http_loop {
    pthread_t thread;
    waiter_owner owner; /* of waiters, whose client is the exchange */
    struct MHD_Daemon *daemon;
    server_listener *listener;
    server_worker *worker;
    list_link clients; /* open connections */
    unauthenticated_list unauthenticated;
    list_link later;    /* suspended exchanges by stage: LATER, */
    list_link tasks;    /* TASK, */
    list_link parked;   /* and the others */
    int64_t retried_ns; /* when those in `later` were tried */
    list_link unused;   /* exchanges for reuse */
    int unused_count;
    _Atomic int64_t beat_ms, end_ms; /* CLOCK_MONOTONIC; end: when a stopping loop gives up */
    int64_t ending_ms;               /* when it stopped accepting */
    int64_t swept_ms;
    atomic_bool closing;
    bool has_late;   /* requests in `later` whose time is over are left */
    bool is_used_up; /* descriptors or memory, when it last accepted */
    bool over;       /* stopped by force: parking would be for ever */
} http_loop;

enum stage {
    STAGE_HEADER,   /* its header is complete */
    STAGE_ASKED,    /* request_answer is next */
    STAGE_LATER,    /* parked: tried again each millisecond, if it may succeed */
    STAGE_ANSWERED, /* has its answer since then */
    STAGE_TASK,     /* parked: a renewer has the task */
    STAGE_WRITING,  /* parked between slices of a large reply */
    STAGE_DELAYED   /* parked: a delayed refusal */
};

/* The headers that matter, collected in one pass. */
typedef struct header_words {
    word host, authorization, accept, fetch_site, origin, referer, content_type;
    int count, hosts, lengths, codings, types;
    size_t bytes, body;
    bool malformed, odd_coding; /* odd: a Transfer-Encoding other than chunked */
    bool of_browser;            /* User-Agent or Accept-Language of a browser */
    bool expects;               /* has Expect */
} header_words;

struct http_exchange {
    http_loop *loop;
    http_client *client;
    struct MHD_Connection *connection;
    const route *route; /* NULL: perhaps a file of the console */
    const char *path;   /* as received, without the query */
    bool head, posts, as_text, served, asks_options;
    /* Its body is discarded: longer than BODY_MOST; of a client without a right token;
     * clients_mib. */
    bool body_is_over, body_is_strange, body_lacks_room;
    header_words header;
    access_pass pass;
    bool guessed; /* its wrong token is counted */
    server_request request;
    quota_charge charge; /* until the request is answered or sent */
    char *decoded;       /* room for decoded words: of the request line and the body */
    char *decoded_at;
    char *body; /* NULL: none */
    size_t body_length, body_room;
    size_t query_count; /* pairs from the query */
    json_t *json;       /* the parsed body, which owns words of the request; or NULL */
    int64_t retry_s;    /* of Retry-After; 0: 1 */
    const char *note;   /* of Firn-Note; NULL: none */
    size_t held;        /* bytes of the reply that are not sent yet */
    int kind;           /* METER_... */
    enum stage stage;
    server_waiter *waiter;      /* NULL: none */
    server_reply answer;        /* of STAGE_ANSWERED, with its own array */
    struct ids_writer *writing; /* a large reply; NULL: none */
    int64_t began_ns, until_ns,
        wake_ns; /* CLOCK_MONOTONIC; until: when it fails, 0: unknown; wake: next try if parked */
    firn_error error; /* of the last try */
    bool is_parked, refused;
    list_link place; /* in the list of parked or of unused ones */
    /* Kept when the exchange is reused: */
    struct usual_reply {
        struct MHD_Response *made; /* NULL: none */
        size_t size;
        char bytes[32];
    } usual; /* a number as text, written again for each reply */
};

/* How a path is answered. */
struct route {
    const char *path;
    enum verb verb; /* VERB_COUNT: a page */
    int kind;       /* METER_... */
    enum role role;
    bool posts;
    enum MHD_Result (*write)(http_exchange *http, const server_reply *reply);
    enum MHD_Result (*fail)(http_exchange *http, int code, const firn_error *error);
    enum MHD_Result (*page)(http_exchange *http);
};

/* Adds a parameter of the query or the body; its bytes must live as long as the exchange.
 * FIRN_EUSAGE: too many, or a different value exists. */
int exchange_add(http_exchange *exchange, word key, word value, firn_error *error);
/* Decodes %XX, and with `plus` + as a blank; a word without escapes is unchanged. FIRN_EUSAGE,
 * FIRN_EMEMORY. */
int exchange_decode(http_exchange *exchange, word *text, bool plus, firn_error *error);

#endif
