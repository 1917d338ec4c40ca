/* SPDX-License-Identifier: MIT */
/* Who may ask what: tokens and the roles that they give. Tokens come from a file, a line each,
 * "ROLE TOKEN"; of each only a SHA-256 is kept. Any thread; access_load replaces all at once. */
#ifndef FIRN_ACCESS_H
#define FIRN_ACCESS_H

#include "word.h"

#include <firn/firn.h>

#include <stdint.h>

/* What a client may do; each role may do what those before it may. */
enum role {
    ROLE_NOBODY, /* nothing but say who it is */
    ROLE_ISSUE,  /* issue, read, convert */
    ROLE_ADMIN   /* also see nodes, status and configuration */
};

/* Reads the file; NULL: no tokens, and whoever reaches the server is an admin. FIRN_EIO;
 * FIRN_EUSAGE: a bad line, with its number, a token of fewer than 16 bytes, or a file that others
 * may read. On failure the tokens stay as they were. */
int access_load(const char *path, firn_error *error);
/* The same, and changes nothing. */
int access_check(const char *path, firn_error *error);
/* Must clients say a token? */
bool access_is_closed(void);
/* What a client showed, so that its role can be found again when the tokens change. */
typedef struct access_pass {
    uint64_t load; /* of the tokens that it was compared with */
    bool has_token;
    uint8_t digest[32];
} access_pass;

/* A client that has shown nothing yet. */
enum role access_begin(access_pass *it);
/* The role of a token, compared in constant time with all of them; ROLE_NOBODY: it is none, and the
 * pass stays as it was. */
enum role access_enter(access_pass *it, word token);
/* Changes with each access_load: then a role has to be asked for again. */
uint64_t access_load_count(void);
/* The role of the same client by the tokens in force now. */
enum role access_again(access_pass *it);

#endif
