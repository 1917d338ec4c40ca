/* SPDX-License-Identifier: MIT */
/* Tokens, Host and where a browser says that it comes from: see guard.h. */
#include "guard.h"

#include "config.h"

#include <string.h>

#define DELAY_NS INT64_C(1000000000) /* before a wrong token is said to be one */

/* ---- Host ------------------------------------------------------------------------------------ */

/* Without its port: "[::1]:7380" is "[::1]". */
static word host_alone(word host) {
    const char *bracket =
        host.length > 0 && host.text[0] == '[' ? memchr(host.text, ']', host.length) : NULL;
    size_t skip = bracket != NULL ? (size_t)(bracket - host.text) : 0;
    const char *colon = memchr(host.text + skip, ':', host.length - skip);
    return colon != NULL ? (word){host.text, (size_t)(colon - host.text)} : host;
}

static bool is_one_of(word host, const char *names) {
    const char *blanks = " \t,";
    for (const char *at = names + strspn(names, blanks); *at != '\0'; at += strspn(at, blanks)) {
        size_t length = strcspn(at, blanks);
        if (length == host.length && strncasecmp(at, host.text, length) == 0) {
            return true;
        }
        at += length;
    }
    return false;
}

/* A page of another site can make its name resolve to 127.0.0.1 and ask as if it were ours (DNS
 * rebinding); its Host is then still its own name. Who has tokens is safe from that, and a browser
 * cannot reach a unix socket. */
static bool host_is_ours(const exchange *it) {
    const listener *at = it->loop->listener;
    word host = host_alone(it->header.host);
    word own = host_alone((word){at->address, strlen(at->address)});
    return at->is_unix || access_is_closed() || it->header.hosts == 0 ||
           is_one_of(host, "127.0.0.1 localhost [::1]") ||
           (host.length == own.length && strncasecmp(host.text, own.text, own.length) == 0) ||
           is_one_of(host, settings_now()->hosts);
}

/* ---- token ----------------------------------------------------------------------------------- */

/* The role that comes with the header; ROLE_NOBODY and *wrong: it has a token, which is none. */
static enum role role_of(const exchange *it, bool *wrong) {
    word said = it->header.authorization;
    size_t scheme = strlen("Bearer ");
    *wrong = false;
    if (!access_is_closed() || said.text == NULL) {
        return access_default();
    }
    enum role role = ROLE_NOBODY;
    if (said.length > scheme && word_is((word){said.text, scheme}, "Bearer ")) {
        for (; scheme < said.length && said.text[scheme] == ' '; scheme++) {
        }
        role = access_role((word){said.text + scheme, said.length - scheme});
    }
    *wrong = role == ROLE_NOBODY;
    return role;
}

static enum MHD_Result refuse_token(exchange *it, bool wrong) {
    return answer_problem(it, MHD_HTTP_UNAUTHORIZED, NULL,
                          wrong ? "the token is not known here: look at the server's tokens file"
                                : "a token is needed: send Authorization: Bearer TOKEN");
}

bool guard_refuses(exchange *it, enum MHD_Result *result) {
    enum role needs = it->route != NULL ? it->route->role : ROLE_NOBODY;
    bool wrong;
    it->request.role = role_of(it, &wrong);
    it->refused = true;
    if (!host_is_ours(it)) {
        *result = answer_problem(it, MHD_HTTP_MISDIRECTED_REQUEST, NULL,
                                 "this server is not known by that Host: name it in hosts=");
    } else if (needs == ROLE_NOBODY) {
        it->refused = false;
    } else if (it->header.fetch_site.length > 0 && !word_is(it->header.fetch_site, "same-origin") &&
               !word_is(it->header.fetch_site, "none")) {
        *result = answer_problem(it, MHD_HTTP_FORBIDDEN, NULL,
                                 "a page of another site asks: only this server's own pages may");
    } else if (wrong && it->stage != STAGE_DELAYED && !it->loop->over) {
        /* Whoever guesses gets one answer a second and connection; nobody else waits for it. */
        door_park(it, STAGE_DELAYED, it->began_ns + DELAY_NS);
        *result = MHD_YES;
    } else if (it->request.role == ROLE_NOBODY) {
        *result = refuse_token(it, wrong);
    } else if (it->request.role < needs) {
        *result = answer_problem(it, MHD_HTTP_FORBIDDEN, NULL,
                                 "the token's role does not reach: this needs an admin's");
    } else {
        it->refused = false;
    }
    return it->refused;
}
