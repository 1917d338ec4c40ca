/* SPDX-License-Identifier: MIT */
/* Checks Host, origin and token. */
#include "clients.h"
#include "http_reply.h"
#include "net/credentials.h"
#include "net/guesses.h"
#include "parked.h"
#include "serve.h"
#include "settings/setting.h"

#include <string.h>

#define DELAY_NS INT64_C(1000000000) /* delay of the answer to a wrong token */

/* ---- Host ------------------------------------------------------------------------------------ */

/* Without the port: "[::1]:7380" becomes "[::1]". */
static word host_alone(word host) {
    const char *bracket =
        host.length > 0 && host.text[0] == '[' ? memchr(host.text, ']', host.length) : NULL;
    size_t skip = bracket != NULL ? (size_t)(bracket - host.text) : 0;
    const char *colon = memchr(host.text + skip, ':', host.length - skip);
    return colon != NULL ? (word){host.text, (size_t)(colon - host.text)} : host;
}

static bool is_one_of(word host, const char *names) {
    const char *blanks = " \t,";
    for (const char *position = names + strspn(names, blanks); *position != '\0';
         position += strspn(position, blanks)) {
        size_t length = strcspn(position, blanks);
        if (length == host.length && strncasecmp(position, host.text, length) == 0) {
            return true;
        }
        position += length;
    }
    return false;
}

/* DNS rebinding: a page of another site can make its own name resolve to 127.0.0.1; Host is then
 * still its name. Tokens protect against that, and browsers cannot reach a unix socket. */
static bool host_is_ours(const http_exchange *exchange) {
    const server_listener *listener = exchange->loop->listener;
    word host = host_alone(exchange->header.host);
    word own = host_alone(word_of(listener->address));
    return listener->is_unix || access_is_closed() || exchange->header.hosts == 0 ||
           is_one_of(host, "127.0.0.1 localhost [::1]") ||
           (host.length == own.length && strncasecmp(host.text, own.text, own.length) == 0) ||
           is_one_of(host, settings_now()->hosts);
}

/* ---- browsers -------------------------------------------------------------------------------- */

/* Has this URL (Origin or Referer) the host and port of the request? False for "null" and other
 * schemes. */
static bool is_own_page(const http_exchange *exchange, word url) {
    static const char *const schemes[] = {"https://", "http://"};
    bool tls = credentials_are_there() && !exchange->loop->listener->is_unix;
    size_t before = 0;
    for (size_t i = 0; i < (tls ? 1 : 2) && before == 0; i++) {
        size_t length = strlen(schemes[i]);
        before = url.length > length && word_is((word){url.text, length}, schemes[i]) ? length : 0;
    }
    if (before == 0) {
        return false;
    }
    word host = {url.text + before, 0};
    while (before + host.length < url.length && strchr("/?#", host.text[host.length]) == NULL) {
        host.length++;
    }
    return host.length == exchange->header.host.length &&
           strncasecmp(host.text, exchange->header.host.text, host.length) == 0;
}

/* Was the request caused by a page of another site? Sec-Fetch-Site is the best answer, but browsers
 * send it only over TLS and to localhost; Origin comes with every POST, Referer with GET unless
 * suppressed. */
static bool is_of_other_page(const http_exchange *exchange) {
    const header_words *all = &exchange->header;
    if (all->fetch_site.text != NULL) {
        return !word_is(all->fetch_site, "same-origin") && !word_is(all->fetch_site, "none");
    }
    return (all->origin.text != NULL && !is_own_page(exchange, all->origin)) ||
           (all->referer.length > 0 && !is_own_page(exchange, all->referer));
}

/* Is this a GET that issues IDs, perhaps from a browser? An image or link of any page can cause
 * one. With tokens they fail. */
static bool is_unsafe_get(const http_exchange *exchange) {
    const header_words *all = &exchange->header;
    return !access_is_closed() && exchange->route->posts && !exchange->posts &&
           (all->of_browser || all->fetch_site.text != NULL || all->origin.text != NULL ||
            all->referer.text != NULL);
}

/* ---- token ----------------------------------------------------------------------------------- */

/* The role of the header's token. */
static enum role enter(const http_exchange *exchange, access_pass *pass) {
    word text = exchange->header.authorization;
    size_t scheme = strlen("Bearer ");
    enum role role = access_begin(pass);
    if (role == ROLE_NOBODY && text.text != NULL && text.length > scheme &&
        word_is((word){text.text, scheme}, "Bearer ")) {
        for (; scheme < text.length && text.text[scheme] == ' '; scheme++) {
        }
        role = access_enter(pass, (word){text.text + scheme, text.length - scheme});
    }
    return role;
}

/* The role for guard_refuses; *wrong: it has an unknown token. */
static enum role role_of(http_exchange *exchange, bool *wrong) {
    enum role role = enter(exchange, &exchange->pass);
    *wrong = role == ROLE_NOBODY && exchange->header.authorization.text != NULL;
    if (exchange->pass.has_token) {
        client_trust(exchange);
    } else if (*wrong && !exchange->guessed) {
        exchange->guessed = true;
        guess_note(client_address(exchange), exchange->loop->worker,
                   exchange->stage == STAGE_DELAYED);
    }
    return role;
}

/* After several wrong tokens from an address, each token from there waits before it is checked,
 * except on connections with a valid one. */
static bool must_wait(http_exchange *exchange) {
    if (!access_is_closed() || exchange->header.authorization.text == NULL ||
        exchange->stage == STAGE_DELAYED || client_is_trusted(exchange) || exchange->loop->over) {
        return false;
    }
    int64_t delay_ms = guess_delay_ms(client_address(exchange));
    if (delay_ms > 0) {
        park(exchange, STAGE_DELAYED, exchange->began_ns + delay_ms * 1000000);
    }
    return delay_ms > 0;
}

static enum MHD_Result refuse_token(http_exchange *exchange, bool wrong) {
    return answer_problem(exchange, MHD_HTTP_UNAUTHORIZED, NULL,
                          wrong ? "unknown token: check the server's tokens file"
                                : "authentication required: send Authorization: Bearer TOKEN");
}

/* The answer may still be delayed, so that this does not help to guess. */
bool guard_knows(const http_exchange *exchange) {
    access_pass pass;
    return enter(exchange, &pass) != ROLE_NOBODY;
}

bool guard_refuses(http_exchange *exchange, enum MHD_Result *result) {
    enum role needs = exchange->route != NULL ? exchange->route->role : ROLE_NOBODY;
    bool wrong = false;
    exchange->refused = true;
    if (needs != ROLE_NOBODY && must_wait(exchange)) {
        *result = MHD_YES;
        return true;
    }
    exchange->request.role = needs != ROLE_NOBODY ? role_of(exchange, &wrong) : ROLE_NOBODY;
    if (exchange->body_is_strange) { /* also if its token has become right since then */
        exchange->request.role = ROLE_NOBODY;
    }
    if (!host_is_ours(exchange)) {
        *result = answer_problem(exchange, MHD_HTTP_MISDIRECTED_REQUEST, NULL,
                                 "unknown host name: add it to the setting hosts");
    } else if (needs == ROLE_NOBODY) {
        exchange->refused = false;
    } else if (is_of_other_page(exchange)) {
        *result = answer_problem(exchange, MHD_HTTP_FORBIDDEN, NULL,
                                 "the request comes from a page of another site: use this server's "
                                 "console; a proxy must pass on the browser's Host header");
    } else if (is_unsafe_get(exchange)) {
        *result = answer_problem(exchange, MHD_HTTP_FORBIDDEN, NULL,
                                 "a browser's GET issues no IDs, because any page can send one: "
                                 "use POST, or the console at /");
    } else if (wrong && exchange->stage != STAGE_DELAYED && !exchange->loop->over) {
        /* one answer per second and connection; other clients are not delayed */
        park(exchange, STAGE_DELAYED, exchange->began_ns + DELAY_NS);
        *result = MHD_YES;
    } else if (exchange->request.role == ROLE_NOBODY) {
        *result = refuse_token(exchange, wrong);
    } else if (exchange->request.role < needs) {
        *result = answer_problem(exchange, MHD_HTTP_FORBIDDEN, NULL,
                                 "the token has the role issue: use a token of role admin");
    } else {
        exchange->refused = false;
    }
    return exchange->refused;
}
