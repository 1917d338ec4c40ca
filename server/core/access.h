/* SPDX-License-Identifier: MIT */
/* Authentication: tokens, their roles, names and quotas. The file has one "ROLE TOKEN [NAME
 * [ids_s=N]]" per line; only SHA-256 digests stay in memory. Any thread; access_load replaces all
 * tokens at once. */
#ifndef FIRN_ACCESS_H
#define FIRN_ACCESS_H

#include "text_view.h"

#include <firn/firn.h>

#include <stdatomic.h>
#include <stdint.h>

/* Each role may do what the previous ones may. */
enum role {
    ROLE_NOBODY, /* authenticate */
    ROLE_ISSUE,  /* issue, read, convert */
    ROLE_ADMIN   /* also list nodes, status and configuration */
};

/* Reads the file; NULL: no tokens, every client is an admin. FIRN_EIO; FIRN_EUSAGE: a bad line
 * (named), a token below 16 bytes, or a file that other users can read. On failure the old tokens
 * stay. */
int access_load(const char *path, firn_error *error);
/* Only checks. */
int access_check(const char *path, firn_error *error);
/* Are tokens required? */
bool access_is_closed(void);
#define ACCOUNT_NAME_SIZE 33

/* Whose token it is, for logs and quotas. Never freed; a token keeps its account when the file is
 * read again, unless its name changes. */
typedef struct account {
    char name[ACCOUNT_NAME_SIZE]; /* without one: "token-" and 8 hex digits of its digest */
    uint8_t digest[32];
    _Atomic int64_t ids_s; /* quota; 0: none, -1: the setting token_ids_s */
    _Atomic int64_t until; /* of quota.c */
    struct account *next;
} account;

/* The token with which a client has authenticated. Its role is computed again when the tokens
 * change. */
typedef struct access_pass {
    uint64_t load; /* the load of tokens it was compared with */
    bool has_token;
    uint8_t digest[32];
    account *account; /* NULL: no token */
} access_pass;

/* A client that has not authenticated. */
enum role access_begin(access_pass *pass);
/* The role of a token, compared in constant time. ROLE_NOBODY: unknown; the pass is unchanged. */
enum role access_enter(access_pass *pass, word token);
/* Increases with each access_load: roles must be computed again. */
uint64_t access_load_count(void);
/* The client's role with the current tokens. */
enum role access_again(access_pass *pass);

#endif
