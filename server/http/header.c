/* SPDX-License-Identifier: MIT */
#include "header.h"

#include "http_reply.h"

#include <stdlib.h>
#include <string.h>

#define HEADERS_MOST 64   /* lines */
#define HEADER_MOST  8192 /* bytes, with the request line */

/* RFC 9110's tchar: no blank before the colon, no empty name. */
static bool is_token(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c) != NULL) {
            return false;
        }
    }
    return length > 0;
}

/* No control characters except tab: no bare CR, no folded line. */
static bool is_plain(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* Others would end a target with a blank elsewhere. */
static bool is_visible(const char *path) {
    return is_plain(path, strlen(path)) && strpbrk(path, " \t") == NULL;
}

static bool begins_with(word text, const char *name) {
    size_t length = strlen(name);
    return text.length >= length && word_is((word){text.text, length}, name);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static word without_blanks(word text) {
    while (text.length > 0 && is_blank(text.text[0])) {
        text = (word){text.text + 1, text.length - 1};
    }
    while (text.length > 0 && is_blank(text.text[text.length - 1])) {
        text.length--;
    }
    return text;
}

/* SIZE_MAX: not a number. */
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

/* libmicrohttpd joins a folded line to a name such as "Content-Lengthb": refused, because a body
 * could hide there. */
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

/* Pages cannot change these for requests to other sites. fetch() of Node and Deno sends the
 * language "*". */
static bool is_of_browser(word name, word value) {
    return (word_is(name, "user-agent") && begins_with(value, "mozilla/")) ||
           (word_is(name, "accept-language") && !word_is(value, "*"));
}

/* Headers that are kept. `once`: duplicates are refused, because it would be unclear which one
 * counts. */
static const struct {
    const char *name;
    size_t place;
    bool once;
} kept[] = {
    {"host", offsetof(header_words, host), false}, /* counted */
    {"accept", offsetof(header_words, accept), false},
    {"authorization", offsetof(header_words, authorization), true},
    {"origin", offsetof(header_words, origin), true},
    {"referer", offsetof(header_words, referer), true},
    {"sec-fetch-site", offsetof(header_words, fetch_site), true},
};

static void keep_header(header_words *all, word name, word value) {
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if ((name.text[0] | 0x20) == kept[i].name[0] && word_is(name, kept[i].name)) {
            word *out = (word *)((char *)all + kept[i].place);
            all->malformed |= kept[i].once && out->text != NULL;
            *out = value;
        }
    }
}

static enum MHD_Result see_header(void *self, enum MHD_ValueKind kind, const char *key,
                                  size_t key_length, const char *text, size_t length) {
    header_words *all = self;
    word name = {key, key_length}, value = {text, length};
    (void)kind;
    all->count++;
    all->bytes += key_length + length + strlen(": \r\n");
    if (!is_token(key, key_length) || !is_plain(text, length)) {
        all->malformed = true;
        return MHD_YES;
    }
    value = without_blanks(value); /* blanks around it are not part of a value (RFC 9110, 5.5) */
    keep_header(all, name, value);
    all->hosts += word_is(name, "host");
    all->expects |= word_is(name, "expect");
    all->of_browser |= is_of_browser(name, value);
    all->odd_coding |= word_is(name, "transfer-encoding") &&
                       !word_is((word){text, length}, "chunked"); /* as libmicrohttpd compares it */
    see_framing(all, name, value);
    return MHD_YES;
}

static enum MHD_Result count_bytes(void *self, enum MHD_ValueKind kind, const char *key,
                                   size_t key_length, const char *text, size_t length) {
    (void)kind, (void)key, (void)text;
    *(size_t *)self += key_length + length + strlen("&=");
    return MHD_YES;
}

static const char *judge_body(const http_exchange *exchange, const char *version,
                              unsigned *status) {
    const header_words *all = &exchange->header;
    if (all->lengths > 1 || all->codings > 1 || (all->lengths > 0 && all->codings > 0)) {
        return "the body has more than one length: send one Content-Length or one "
               "Transfer-Encoding";
    }
    if (all->odd_coding) { /* libmicrohttpd would read everything that follows as the body */
        *status = MHD_HTTP_NOT_IMPLEMENTED;
        return "unknown Transfer-Encoding: use chunked, or send Content-Length";
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
    if (!exchange->served) {
        *status = MHD_HTTP_METHOD_NOT_ALLOWED;
        return "method not allowed: use a method of the Allow header";
    }
    if (!exchange->posts) {
        return "this method takes no body: send the parameters in the query";
    }
    if (all->types != 1 || !body_type_is_known(all->content_type)) {
        *status = MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
        return "unknown type of body: send Content-Type: application/x-www-form-urlencoded or "
               "application/json";
    }
    return NULL;
}

/* "http://host:port/path" (RFC 9112, 3.2.2): the host replaces the Host header. */
static bool take_absolute(http_exchange *exchange) {
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i]);
        if (strncasecmp(exchange->path, schemes[i], length) != 0) {
            continue;
        }
        const char *host = exchange->path + length;
        size_t size = strcspn(host, "/");
        exchange->header.host = (word){host, size};
        exchange->path = host[size] == '\0' ? "/" : host + size;
        return size > 0 && memchr(host, '@', size) == NULL;
    }
    return true;
}

static bool is_target(const http_exchange *exchange) {
    return (exchange->path[0] == '/' ||
            (exchange->asks_options && strcmp(exchange->path, "*") == 0)) &&
           is_visible(exchange->path);
}

/* NULL, or why the message is not read further. */
static const char *judge_form(http_exchange *exchange, const char *version, unsigned *status) {
    const header_words *all = &exchange->header;
    size_t line = strlen(exchange->path) + strlen("OPTIONS  HTTP/1.1\r\n");
    MHD_get_connection_values_n(exchange->connection, MHD_GET_ARGUMENT_KIND, count_bytes, &line);
    meter_add(&exchange->loop->worker->meter.received, line + all->bytes);
    *status = MHD_HTTP_BAD_REQUEST;
    if (line > LINE_MOST) {
        *status = MHD_HTTP_URI_TOO_LONG;
        return "the request line is longer than 4096 bytes: send fewer or shorter parameters";
    }
    if (all->count > HEADERS_MOST || line + all->bytes > HEADER_MOST) {
        *status = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
        return "the header has more than 64 lines or 8192 bytes: send fewer";
    }
    if (all->malformed || !take_absolute(exchange) || !is_target(exchange)) {
        return "malformed header: names must be tokens, values must not contain control "
               "characters, and lines must end in CR LF";
    }
    if (all->hosts > 1 || (all->hosts == 0 && strcmp(version, "HTTP/1.0") != 0)) {
        return "HTTP/1.1 needs exactly one Host header: send it once";
    }
    return NULL;
}

/* Cuts `text` before the mark, and makes the rest after it *rest; without a mark the rest is
 * empty. */
static word cut(word text, char mark, word *rest) {
    const char *position = memchr(text.text, mark, text.length);
    size_t length = position != NULL ? (size_t)(position - text.text) : text.length,
           used = length + (position != NULL);
    *rest = (word){text.text + used, text.length - used};
    return without_blanks((word){text.text, length});
}

word list_part(word *list) {
    return cut(*list, ',', list);
}

int accept_weight(word list, const char *name) {
    for (int i = 0; i < 32 && list.length > 0; i++) {
        word parameters, text = cut(list_part(&list), ';', &parameters);
        if (word_is(text, name)) {
            const char *q = memmem(parameters.text, parameters.length, "q=", 2);
            char digits[8] = "1";
            if (q != NULL) {
                size_t room = (size_t)(parameters.text + parameters.length - q) - 2;
                memcpy(digits, q + 2, room < 7 ? room : 7);
                digits[room < 7 ? room : 7] = '\0';
            }
            double share = strtod(digits, NULL);
            return share >= 0 && share <= 1 ? (int)(share * 1000) : 0;
        }
    }
    return 0;
}

/* ---- routes ---------------------------------------------------------------------------------- */

enum { READS, ISSUES };

/* Role and counter of each verb as constants: ROLE_OF_NEW, KIND_OF_NEW, ... */
enum {
#define VERB_X(id, name, role, meter) ROLE_OF_##id = ROLE_##role, KIND_OF_##id = METER_##meter,
    VERBS(VERB_X)
#undef VERB_X
};

static const route routes[] = {
#define ASK(path, id, methods, writer, failer)                                                     \
    {path,   VERB_##id, KIND_OF_##id, (enum role)ROLE_OF_##id, methods == ISSUES,                  \
     writer, failer,    NULL},
#define PAGE(path, needs, maker)                                                                   \
    {path, VERB_COUNT, METER_OTHER, ROLE_##needs, false, NULL, NULL, maker},
#include "routes.def"
};

enum { ROUTE_COUNT = sizeof routes / sizeof *routes };

/* Does the path match "/before/{name}/after"? A name has at least one byte and no slash. */
static bool fits(const char *pattern, const char *path, word *name) {
    size_t before = strcspn(pattern, "{");
    if (strncmp(pattern, path, before) != 0) {
        return false;
    }
    if (pattern[before] == '\0') {
        *name = (word){"", 0};
        return path[before] == '\0';
    }
    const char *behind = strchr(pattern + before, '}') + 1;
    *name = (word){path + before, strcspn(path + before, "/")};
    return name->length > 0 && strcmp(path + before + name->length, behind) == 0;
}

/* The route of a path; *name: the part for {name}, still encoded. NULL: no route. */
static const route *route_find(const char *path, word *name) {
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (fits(routes[i].path, path, name)) {
            return &routes[i];
        }
    }
    return NULL;
}

/* ---- the header ------------------------------------------------------------------------------ */

static bool method_is_served(http_exchange *exchange, const char *method, bool posts) {
    exchange->head = strcmp(method, "HEAD") == 0;
    exchange->posts = strcmp(method, "POST") == 0;
    return exchange->head || strcmp(method, "GET") == 0 || (posts && exchange->posts);
}

const char *header_read(http_exchange *exchange, const char *method, const char *version,
                        unsigned *status) {
    exchange->kind = METER_OTHER;
    exchange->request.name = exchange->header.host = (word){"", 0};
    MHD_get_connection_values_n(exchange->connection, MHD_HEADER_KIND, see_header,
                                &exchange->header);
    exchange->asks_options = strcmp(method, "OPTIONS") == 0;
    const char *trouble = judge_form(exchange, version, status);
    if (trouble == NULL) {
        exchange->route = route_find(exchange->path, &exchange->request.name);
        exchange->kind = exchange->route != NULL ? exchange->route->kind : METER_OTHER;
        exchange->served =
            method_is_served(exchange, method, exchange->route != NULL && exchange->route->posts);
        trouble = judge_body(exchange, version, status);
    }
    exchange->as_text = exchange->header.accept.length > 3 &&
                        accept_weight(exchange->header.accept, "text/plain") >
                            accept_weight(exchange->header.accept, "application/json");
    return trouble;
}
