/* SPDX-License-Identifier: MIT */
/* A request of HTTP on its way: its header is judged, its words become a request, and the request
 * is answered, or parked until it can be. Writes no reply itself. */
#include "exchange.h"

#include "config/config.h"
#include "fault.h"
#include "guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MOST    4096 /* bytes of the request line */
#define HEADERS_MOST 64   /* lines of the header */
#define HEADER_MOST  8192 /* bytes of all of them and the request line */
#define LARGE_IDS    64   /* a reply with more may be large */
#define RETRY_NS     INT64_C(1000000)

/* ---- header ---------------------------------------------------------------------------------- */

/* RFC 9110's tchar, so that nothing hides in a name: a blank before the colon, an empty name. */
static bool is_token(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c) != NULL) {
            return false;
        }
    }
    return length > 0;
}

/* No control character but a tab: a bare CR, or what is left of a line that was folded. */
static bool is_plain(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* A target with a blank in it would end elsewhere for somebody else. */
static bool is_visible(const char *path) {
    return is_plain(path, strlen(path)) && strpbrk(path, " \t") == NULL;
}

static bool begins_with(word it, const char *name) {
    size_t length = strlen(name);
    return it.length >= length && word_is((word){it.text, length}, name);
}

/* The length of a body: digits and nothing else, or more than any that is allowed. */
static size_t body_length(word value) {
    size_t length = 0;
    for (size_t i = 0; i < value.length; i++) {
        if (value.text[i] < '0' || value.text[i] > '9') {
            return SIZE_MAX;
        }
        length = length > BODY_MOST ? length : length * 10 + (size_t)(value.text[i] - '0');
    }
    return value.length == 0 ? SIZE_MAX : length;
}

/* A folded line is joined by the library to a name like "Content-Lengthb": such names are refused
 * with the real ones, so no body hides in them. */
static void see_framing(header_words *all, word name, word value) {
    if (begins_with(name, "content-length")) {
        size_t length = body_length(value);
        all->lengths++;
        all->malformed |= name.length != strlen("content-length") || length == SIZE_MAX;
        all->body = length;
    } else if (begins_with(name, "transfer-encoding")) {
        all->codings++;
        all->malformed |= name.length != strlen("transfer-encoding");
    } else if (word_is(name, "content-type")) {
        all->types++;
        all->content_type = value;
    }
}

/* Each may come once, since it would not be clear which one counts. */
static void see_once(header_words *all, word *kept, word value) {
    all->malformed |= kept->text != NULL;
    *kept = value;
}

/* A page can change neither of the two for a request to another site. Node's and Deno's fetch()
 * send "*" for a language. */
static bool is_of_browser(word name, word value) {
    return (word_is(name, "user-agent") && begins_with(value, "mozilla/")) ||
           (word_is(name, "accept-language") && !word_is(value, "*"));
}

static enum MHD_Result see_header(void *self, enum MHD_ValueKind kind, const char *key,
                                  size_t key_length, const char *text, size_t length) {
    header_words *all = self;
    word name = {key, key_length}, value = {text, length};
    (void)kind;
    all->count++;
    all->bytes += key_length + length + strlen(": \r\n");
    all->malformed |= !is_token(key, key_length) || !is_plain(text, length);
    while (value.length > 0 && strchr(" \t", text[value.length - 1]) != NULL) {
        value.length--; /* blanks behind a value are none of it (RFC 9110, 5.5) */
    }
    switch (key_length == 0 ? '\0' : key[0] | 0x20) {
    case 'h':
        if (word_is(name, "host")) {
            all->hosts++;
            all->host = value;
        }
        break;
    case 'a':
        if (word_is(name, "accept")) {
            all->accept = value;
        } else if (word_is(name, "authorization")) {
            see_once(all, &all->authorization, value);
        }
        all->of_browser |= is_of_browser(name, value);
        break;
    case 'o':
        if (word_is(name, "origin")) {
            see_once(all, &all->origin, value);
        }
        break;
    case 'r':
        if (word_is(name, "referer")) {
            see_once(all, &all->referer, value);
        }
        break;
    case 's':
        if (word_is(name, "sec-fetch-site")) {
            see_once(all, &all->fetch_site, value);
        }
        break;
    case 'u':
        all->of_browser |= is_of_browser(name, value);
        break;
    default:
        all->odd_coding |= word_is(name, "transfer-encoding") &&
                           !word_is((word){text, length}, "chunked"); /* as the library reads it */
        see_framing(all, name, value);
        break;
    }
    return MHD_YES;
}

static enum MHD_Result count_bytes(void *self, enum MHD_ValueKind kind, const char *key,
                                   size_t key_length, const char *text, size_t length) {
    (void)kind, (void)key, (void)text;
    *(size_t *)self += key_length + length + strlen("&=");
    return MHD_YES;
}

/* Of the body, where there is one. */
static const char *judge_body(const exchange *it, const char *version, unsigned *status) {
    const header_words *all = &it->header;
    if (all->lengths > 1 || all->codings > 1 || (all->lengths > 0 && all->codings > 0)) {
        return "the body has two lengths: send one Content-Length or none";
    }
    if (all->odd_coding) { /* the library would take all that follows for the body */
        *status = MHD_HTTP_NOT_IMPLEMENTED;
        return "this Transfer-Encoding is not read here: send chunked, or Content-Length";
    }
    if (all->codings > 0 && strcmp(version, "HTTP/1.1") != 0) {
        return "HTTP/1.0 has no Transfer-Encoding: send Content-Length";
    }
    if (all->body > BODY_MOST) {
        *status = MHD_HTTP_CONTENT_TOO_LARGE;
        return "the body is longer than 16384 bytes: send fewer parameters";
    }
    if (all->body == 0 && all->codings == 0) {
        return NULL;
    }
    if (!it->served) {
        *status = MHD_HTTP_METHOD_NOT_ALLOWED;
        return "the method is not served here: see Allow";
    }
    if (!it->posts) {
        return "there is a body, which is not read here: parameters stand in the query";
    }
    if (all->types != 1 || !body_type_is_known(all->content_type)) {
        *status = MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
        return "the type of the body is not known: send Content-Type:"
               " application/x-www-form-urlencoded or application/json";
    }
    return NULL;
}

/* "http://host:port/path" (RFC 9112, 3.2.2): the host stands for that of the header. */
static bool take_absolute(exchange *it) {
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i]);
        if (strncasecmp(it->path, schemes[i], length) != 0) {
            continue;
        }
        const char *host = it->path + length;
        size_t size = strcspn(host, "/");
        it->header.host = (word){host, size};
        it->path = host[size] == '\0' ? "/" : host + size;
        return size > 0 && memchr(host, '@', size) == NULL;
    }
    return true;
}

static bool is_target(const exchange *it) {
    return (it->path[0] == '/' || (it->asks_options && strcmp(it->path, "*") == 0)) &&
           is_visible(it->path);
}

/* NULL, or what is wrong with the form of the message, so that it is not read on. */
static const char *judge_form(exchange *it, const char *version, unsigned *status) {
    const header_words *all = &it->header;
    size_t line = strlen(it->path) + strlen("OPTIONS  HTTP/1.1\r\n");
    MHD_get_connection_values_n(it->connection, MHD_GET_ARGUMENT_KIND, count_bytes, &line);
    meter_add(&it->loop->worker->meter.received, line + all->bytes);
    *status = MHD_HTTP_BAD_REQUEST;
    if (line > LINE_MOST) {
        *status = MHD_HTTP_URI_TOO_LONG;
        return "the request line is longer than 4096 bytes: ask for less at once";
    }
    if (all->count > HEADERS_MOST || line + all->bytes > HEADER_MOST) {
        *status = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
        return "the header has more than 64 lines or 8192 bytes: send fewer";
    }
    if (all->malformed || !take_absolute(it) || !is_target(it)) {
        return "the header is malformed: names are tokens, values hold no control characters";
    }
    if (all->hosts > 1 || (all->hosts == 0 && strcmp(version, "HTTP/1.0") != 0)) {
        return "HTTP/1.1 has one Host: send it once";
    }
    return NULL;
}

/* How much a media type is wanted, in thousandths: of the last range of Accept that names it. */
static int wanted(word accept, const char *type) {
    const char *at = accept.text, *end = accept.text + accept.length;
    size_t length = strlen(type);
    for (int i = 0; i < 32 && at != NULL && at < end; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        for (; at < stop && (*at == ' ' || *at == '\t'); at++) {
        }
        if ((size_t)(stop - at) >= length && word_is((word){at, length}, type)) {
            const char *q = memmem(at, (size_t)(stop - at), "q=", 2);
            char digits[8] = "1";
            if (q != NULL) {
                size_t room = (size_t)(stop - q) - 2;
                memcpy(digits, q + 2, room < 7 ? room : 7);
                digits[room < 7 ? room : 7] = '\0';
            }
            double share = strtod(digits, NULL);
            return share >= 0 && share <= 1 ? (int)(share * 1000) : 0;
        }
        at = stop + 1;
    }
    return 0;
}

static bool method_is_served(exchange *it, const char *method, bool posts) {
    it->head = strcmp(method, "HEAD") == 0;
    it->posts = strcmp(method, "POST") == 0;
    return it->head || strcmp(method, "GET") == 0 || (posts && it->posts);
}

enum MHD_Result exchange_begin(exchange *it, const char *method, const char *version) {
    unsigned status;
    it->kind = METER_OTHER;
    it->request.name = it->header.host = (word){"", 0};
    MHD_get_connection_values_n(it->connection, MHD_HEADER_KIND, see_header, &it->header);
    it->asks_options = strcmp(method, "OPTIONS") == 0;
    const char *trouble = judge_form(it, version, &status);
    if (trouble == NULL) {
        it->route = route_find(it->path, &it->request.name);
        it->kind = it->route != NULL ? it->route->kind : METER_OTHER;
        it->served = method_is_served(it, method, it->route != NULL && it->route->posts);
        trouble = judge_body(it, version, &status);
    }
    if (trouble != NULL) { /* before the body has come, so the connection is closed */
        it->refused = true;
        meter_add(&it->loop->worker->meter.closed_broken, 1);
        return answer_problem(it, status, NULL, trouble);
    }
    it->stage = STAGE_HEADER;
    it->as_text = it->header.accept.length > 3 && wanted(it->header.accept, "text/plain") >
                                                      wanted(it->header.accept, "application/json");
    return MHD_YES;
}

/* ---- words ----------------------------------------------------------------------------------- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

int hex_pair(const char *text, size_t length) {
    int high = length > 1 ? hex_digit(text[0]) : -1, low = length > 1 ? hex_digit(text[1]) : -1;
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

int refuse_escape(firn_error *error) {
    return set_error(error, FIRN_EUSAGE, "'%%' without two hex digits behind it: write it as %%25");
}

/* Room for all that can be decoded: nothing of it grows. */
static bool has_room(exchange *it) {
    if (it->decoded == NULL) {
        it->decoded = malloc(LINE_MOST);
        it->decoded_at = it->decoded;
    }
    return it->decoded != NULL;
}

/* Decodes %XX; a word without them stays where it is. */
static int decode(exchange *it, word *of, firn_error *error) {
    if (memchr(of->text, '%', of->length) == NULL) {
        return FIRN_OK;
    }
    if (!has_room(it)) {
        return set_error(error, FIRN_EMEMORY, "out of memory: give the process more");
    }
    char *begin = it->decoded_at;
    for (size_t i = 0; i < of->length; i++) {
        char c = of->text[i];
        if (c == '%') {
            int value = hex_pair(of->text + i + 1, of->length - i - 1);
            if (value < 0) {
                return refuse_escape(error);
            }
            c = (char)value;
            i += 2;
        }
        *it->decoded_at++ = c; /* never more than came, which is below LINE_MOST */
    }
    *of = (word){begin, (size_t)(it->decoded_at - begin)};
    return FIRN_OK;
}

static int take_format(exchange *it, word value, firn_error *error) {
    it->as_text = word_is(value, "text");
    if (!it->as_text && !word_is(value, "json")) {
        return set_error(error, FIRN_EUSAGE, "format=%.*s is not known: take text or json",
                         (int)(value.length < 50 ? value.length : 50), value.text);
    }
    return FIRN_OK;
}

static bool is_same_word(word a, word b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* Of the query's keys, is that one given by the body too? A key twice within one of them is for the
 * request to refuse. */
static int agree(const exchange *it, word said, word key, word value, bool *there,
                 firn_error *error) {
    const request *of = &it->request;
    *there = false;
    for (size_t i = 0; i < it->query_count; i++) {
        if (is_same_word(of->pairs[i].key, key)) {
            *there = true;
            if (!is_same_word(of->pairs[i].value, value)) {
                return set_error(
                    error, FIRN_EUSAGE,
                    "%.*s=%.*s in the body and %.*s in the query disagree: send it once",
                    word_shown(said), said.text, word_shown(value), value.text,
                    word_shown(of->pairs[i].value), of->pairs[i].value.text);
            }
        }
    }
    return FIRN_OK;
}

int exchange_add(exchange *it, word key, word value, firn_error *error) {
    request *to = &it->request;
    bool there;
    if (word_is(key, "format")) {
        return take_format(it, value, error);
    }
    word said = key;
    key = word_is(key, "n") ? (word){"count", 5} : key;
    int code = agree(it, said, key, value, &there, error);
    if (code != FIRN_OK || there) {
        return code;
    }
    if (to->pair_count == REQUEST_PAIRS_MAX) {
        return set_error(error, FIRN_EUSAGE, "more than %d parameters: send fewer",
                         REQUEST_PAIRS_MAX);
    }
    to->pairs[to->pair_count].key = key;
    to->pairs[to->pair_count++].value = value;
    return FIRN_OK;
}

typedef struct pair_reader {
    exchange *it;
    int code;
} pair_reader;

static enum MHD_Result take_pair(void *self, enum MHD_ValueKind kind, const char *key,
                                 size_t key_length, const char *text, size_t length) {
    pair_reader *reader = self;
    exchange *it = reader->it;
    word name = {key, key_length}, value = {text != NULL ? text : "", length};
    (void)kind;
    reader->code = decode(it, &name, &it->error);
    if (reader->code == FIRN_OK) {
        reader->code = decode(it, &value, &it->error);
    }
    if (reader->code == FIRN_OK) {
        reader->code = exchange_add(it, name, value, &it->error);
    }
    return reader->code == FIRN_OK ? MHD_YES : MHD_NO;
}

/* Name and query, with their escapes undone, and the body. */
static int take_words(exchange *it, firn_error *error) {
    pair_reader reader = {it, decode(it, &it->request.name, &it->error)};
    if (reader.code == FIRN_OK) {
        MHD_get_connection_values_n(it->connection, MHD_GET_ARGUMENT_KIND, take_pair, &reader);
    }
    it->query_count = it->request.pair_count;
    if (reader.code == FIRN_OK) {
        reader.code = body_read(it, &it->error);
    }
    if (reader.code != FIRN_OK) {
        *error = it->error;
    }
    return reader.code;
}

/* ---- answer ---------------------------------------------------------------------------------- */

static void free_ticket(ticket *one) {
    sent_free(one->sent);
    free(one);
}

static void task_is_back(void *self) {
    ticket *it = self;
    http_loop *loop = it->loop;
    pthread_mutex_lock(&loop->lock);
    bool given_up = it->given_up;
    it->back = true;
    if (!given_up) {
        MHD_resume_connection(it->connection); /* which wakes the loop */
    }
    pthread_mutex_unlock(&loop->lock);
    if (given_up) {
        free_ticket(it);
    }
}

/* The lock keeps the task from coming back before it is known what was sent. */
static void send_task(exchange *it) {
    http_loop *loop = it->loop;
    ticket *one = calloc(1, sizeof *one);
    if (one == NULL) {
        set_error(&it->error, FIRN_EMEMORY, "out of memory: give the process more");
        http_park(it, STAGE_TASK, 0);
        return;
    }
    *one = (ticket){.loop = loop, .connection = it->connection};
    pthread_mutex_lock(&loop->lock);
    http_park(it, STAGE_TASK, it->until_ns);
    int code = request_send(&it->request, task_is_back, one, &one->sent, &it->error);
    it->ticket = code == FIRN_OK ? one : NULL;
    if (code != FIRN_OK) { /* told when it is resumed, since a suspended one takes no answer */
        MHD_resume_connection(it->connection);
    }
    pthread_mutex_unlock(&loop->lock);
    if (code != FIRN_OK) {
        free(one);
    }
}

bool exchange_give_up(exchange *it) {
    ticket *one = it->ticket;
    pthread_mutex_lock(&it->loop->lock);
    bool back = one != NULL && one->back;
    if (one != NULL && !back) {
        one->given_up = true; /* from here on it is the renewer's thread's to free */
        it->ticket = NULL;
    }
    pthread_mutex_unlock(&it->loop->lock);
    return !back;
}

static enum MHD_Result fail(exchange *it, int code) {
    it->refused = true;
    return it->route->fail(it, code, &it->error);
}

static enum MHD_Result ask(exchange *it);

static enum MHD_Result end_task(exchange *it) {
    ticket *one = it->ticket;
    reply of = {0};
    it->ticket = NULL;
    if (one == NULL) {
        return fail(it, it->error.code);
    }
    int code = request_finish(one->sent, &of, &it->error);
    enum MHD_Result result = MHD_YES;
    if (code == FIRN_OK) {
        result = it->route->write(it, &of);
    } else if (code != REQUEST_LATER) {
        result = fail(it, code);
    }
    free_ticket(one);
    return code == REQUEST_LATER ? ask(it) : result;
}

/* Tries; what cannot be answered now is parked, until wait_ms are over. */
static enum MHD_Result ask(exchange *it) {
    reply of = {0};
    int code = request_answer(&it->request, 1, &of, &it->error);
    if (code == FIRN_OK) {
        return it->route->write(it, &of);
    }
    if (code != REQUEST_LATER && code != REQUEST_TASK) {
        return fail(it, code);
    }
    if (it->until_ns == 0) {
        it->until_ns = it->began_ns + settings_now()->wait_ms * INT64_C(1000000);
        meter_add(&it->loop->worker->meter.parked, 1);
    }
    if (code == REQUEST_TASK && !it->loop->over) {
        send_task(it);
        return MHD_YES;
    }
    if (it->loop->over || now_ns() >= it->until_ns) {
        int why = code == REQUEST_TASK ? FIRN_ESTORE : FIRN_EEXHAUSTED;
        return fail(it, it->error.code != 0 ? it->error.code : why);
    }
    http_park(it, STAGE_LATER, now_ns() + RETRY_NS);
    return MHD_YES;
}

/* May the reply be of more than a few KiB? A page of the console is none that is made. */
static bool is_large(const exchange *it) {
    enum verb verb = it->request.verb;
    return it->route->page == page_metrics ||
           (it->route->verb != VERB_COUNT &&
            (it->request.count > LARGE_IDS || verb == VERB_STATUS || verb == VERB_NODES ||
             verb == VERB_SCHEMES));
}

/* Before anything is issued of it. */
static enum MHD_Result refuse_large(exchange *it) {
    it->refused = true;
    return answer_problem(
        it, MHD_HTTP_SERVICE_UNAVAILABLE, NULL,
        "clients have not read the replies that they asked for (replies_mib): ask "
        "for at most 64 IDs, or try again later");
}

static enum MHD_Result begin_asking(exchange *it) {
    it->stage = STAGE_ASKED;
    it->request.worker = it->loop->worker;
    it->request.verb = it->route->verb;
    int code = take_words(it, &it->error);
    if (it->route->write == leaf_write) {
        leaf_read(&it->request);
    }
    if (code == FIRN_OK) {
        code = request_read(&it->request, &it->error);
    }
    if (code == FIRN_OK && it->route->write == write_integers && it->request.count > BATCH_MAX) {
        code = set_error(
            &it->error, FIRN_ERANGE,
            "n=%lld is out of bounds: ask for 1 to %d, or take a run of so many from /v1/block",
            (long long)it->request.count, BATCH_MAX);
    }
    if (code == FIRN_OK && is_large(it) && http_is_crowded()) {
        return refuse_large(it);
    }
    return code == FIRN_OK ? ask(it) : fail(it, code);
}

/* A page reads its own query; what it does not know it refuses in its own way. */
static enum MHD_Result show_page(exchange *it) {
    int code = take_words(it, &it->error);
    if (code != FIRN_OK) {
        it->refused = true;
        return write_problem(it, code, &it->error);
    }
    if (it->route != NULL && is_large(it) && http_is_crowded()) {
        return refuse_large(it);
    }
    return it->route != NULL ? it->route->page(it) : page_file(it);
}

static enum MHD_Result refuse_method(exchange *it) {
    it->refused = true;
    return answer_problem(it, MHD_HTTP_METHOD_NOT_ALLOWED, NULL,
                          it->route != NULL && it->route->posts
                              ? "the method is not served here: use GET, HEAD or POST"
                              : "the method is not served here: use GET or HEAD");
}

enum MHD_Result exchange_go_on(exchange *it) {
    enum MHD_Result result;
    switch (it->stage) {
    case STAGE_TASK:
        return end_task(it);
    case STAGE_ASKED:
    case STAGE_LATER:
        return ask(it);
    case STAGE_HEADER:
    case STAGE_DELAYED:
        break;
    }
    if (!it->served && !it->asks_options) {
        return refuse_method(it);
    }
    if (it->body_is_over) {
        it->refused = true;
        return answer_problem(it, MHD_HTTP_CONTENT_TOO_LARGE, NULL,
                              "the body is longer than 16384 bytes: send fewer parameters");
    }
    if (guard_refuses(it, &result)) {
        return result;
    }
    if (it->asks_options) {
        return answer_options(it);
    }
    return it->route != NULL && it->route->verb != VERB_COUNT ? begin_asking(it) : show_page(it);
}

void exchange_end(exchange *it) {
    if (!exchange_give_up(it)) {
        free_ticket(it->ticket);
    }
    free(it->decoded);
    body_free(it);
}
