/* SPDX-License-Identifier: MIT */
#include "access.h"

#include "errors.h"
#include "named_pipe.h"

#include <errno.h>
#include <pthread.h>
#include <sha2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    TOKENS_MAX = 1000,
    TOKEN_LEAST = 16,
    TOKEN_MOST = 1000,
    DIGEST_SIZE = 32,
    QUOTA_MOST = 1000000000
};

typedef struct access_token {
    enum role role;
    uint8_t digest[DIGEST_SIZE];
    char name[ACCOUNT_NAME_SIZE];
    int64_t ids_s;    /* as in account */
    account *account; /* once the table is in force */
} access_token;

typedef struct access_table {
    size_t count;
    access_token tokens[TOKENS_MAX];
} access_table;

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static access_table *in_force; /* under the lock; NULL: no tokens, everybody is an admin */
static account *accounts;      /* under the lock */
static atomic_bool closed;
static _Atomic uint64_t loads;

static void digest_of(uint8_t out[DIGEST_SIZE], const char *text, size_t length) {
    SHA2_CTX state;
    SHA256Init(&state);
    SHA256Update(&state, (const uint8_t *)text, length);
    SHA256Final(out, &state);
    explicit_bzero(&state, sizeof state);
}

/* In a time that does not depend on the bytes. */
static bool is_same(const uint8_t *a, const uint8_t *b) {
    unsigned differing = 0;
    for (size_t i = 0; i < DIGEST_SIZE; i++) {
        differing |= (unsigned)(a[i] ^ b[i]);
    }
    return differing == 0;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int bad_line(const char *path, int line, const char *why, firn_error *error) {
    return set_error(error, FIRN_EUSAGE, "%.100s:%d: %s", path, line, why);
}

/* Reads "[NAME [ids_s=N]]". */
static bool read_rest(access_token *token, const char *text) {
    static const char blanks[] = " \t\r", key[] = "ids_s=";
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    text += strspn(text, blanks);
    size_t length = strcspn(text, blanks);
    if (length >= sizeof token->name || strspn(text, plain) != length) {
        return false;
    }
    memcpy(token->name, text, length);
    text += length + strspn(text + length, blanks);
    if (text[0] == '\0') {
        return true;
    }
    const char *number = text + sizeof key - 1;
    if (strncmp(text, key, sizeof key - 1) != 0 || number[0] < '0' || number[0] > '9') {
        return false;
    }
    char *end;
    token->ids_s = strtoll(number, &end, 10);
    return token->ids_s <= QUOTA_MOST && end[strspn(end, blanks)] == '\0';
}

/* Reads a line without its newline. Errors never quote it, because it may be a token. */
static int read_line(access_table *table, const char *path, int number, char *text,
                     firn_error *error) {
    static const char blanks[] = " \t\r";
    char *role = text + strspn(text, blanks);
    size_t role_length = strcspn(role, blanks);
    char *secret = role + role_length + strspn(role + role_length, blanks);
    size_t length = strcspn(secret, blanks);
    if (role[0] == '\0' || role[0] == '#') {
        return FIRN_OK;
    }
    bool is_admin = role_length == 5 && memcmp(role, "admin", 5) == 0;
    if (!is_admin && !(role_length == 5 && memcmp(role, "issue", 5) == 0)) {
        return bad_line(path, number,
                        "the line does not begin with a role: use issue TOKEN or admin TOKEN",
                        error);
    }
    if (length < TOKEN_LEAST || length > TOKEN_MOST) {
        return set_error(error, FIRN_EUSAGE,
                         "%.100s:%d: the token has %zu bytes: use %d to %d random bytes", path,
                         number, length, TOKEN_LEAST, TOKEN_MOST);
    }
    access_token made = {.role = is_admin ? ROLE_ADMIN : ROLE_ISSUE, .ids_s = -1};
    if (!read_rest(&made, secret + length)) {
        return bad_line(
            path, number,
            "the words after the token are not a name and a quota: use ROLE TOKEN [NAME "
            "[ids_s=N]], a NAME of 1 to 32 letters, digits, '.', '_' and '-', and N up "
            "to 1000000000",
            error);
    }
    if (table->count == TOKENS_MAX) {
        return bad_line(path, number, "more than 1000 tokens: remove some", error);
    }
    digest_of(made.digest, secret, length);
    for (size_t i = 0; i < table->count; i++) {
        if (memcmp(table->tokens[i].digest, made.digest, sizeof made.digest) == 0) {
            return bad_line(path, number,
                            "the token is in an earlier line too: remove one of the two lines",
                            error);
        }
    }
    if (made.name[0] == '\0') {
        snprintf(made.name, sizeof made.name, "token-%02x%02x%02x%02x", made.digest[0],
                 made.digest[1], made.digest[2], made.digest[3]);
    }
    table->tokens[table->count++] = made;
    return FIRN_OK;
}

/* Reads a line without its newline. *ends: the file ended without a newline. */
static const char *next_line(FILE *file, char *text, size_t size, bool *ends) {
    size_t length = 0;
    int byte = getc(file);
    *ends = byte == EOF;
    for (; byte != EOF && byte != '\n'; byte = getc(file)) {
        if (byte == '\0') {
            return "the line contains a zero byte: remove it";
        }
        if (length + 1 == size) {
            return "the line is too long: use a token of at most 1000 bytes";
        }
        text[length++] = (char)byte;
    }
    text[length] = '\0';
    return NULL;
}

static int read_lines(access_table *table, const char *path, FILE *file, firn_error *error) {
    char text[TOKEN_MOST + 100];
    int code = FIRN_OK;
    bool ends = false;
    for (int line = 1; code == FIRN_OK && !ends; line++) {
        const char *why = next_line(file, text, sizeof text, &ends);
        if (why != NULL) {
            code = bad_line(path, line, why, error);
        } else if (!ends) {
            code = read_line(table, path, line, text, error);
        }
    }
    explicit_bzero(text, sizeof text);
    if (code == FIRN_OK && ferror(file)) {
        code = set_error(error, FIRN_EIO, "cannot read %.100s: check that it is a file", path);
    }
    if (code == FIRN_OK && table->count == 0) {
        code =
            set_error(error, FIRN_EUSAGE, "%.100s contains no token: add a line admin TOKEN", path);
    }
    return code;
}

static int read_table(access_table **out, const char *path, firn_error *error) {
    struct stat about;
    int code = refuse_named_pipe(path, error);
    if (code != FIRN_OK) {
        return code;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL || fstat(fileno(file), &about) != 0) {
        int number = errno;
        if (file != NULL) {
            fclose(file);
        }
        return set_error(error, FIRN_EIO, "cannot read the tokens in %.100s: %s", path,
                         strerror(number));
    }
    access_table *made = calloc(1, sizeof *made);
    setvbuf(file, NULL, _IONBF, 0); /* unbuffered, so that no copy of the tokens stays in memory */
    if (made == NULL) {
        code = out_of_memory(error);
    } else if ((about.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        code = set_error(error, FIRN_EUSAGE,
                         "other users can read %.100s: run chmod 640 or chmod 600", path);
    } else {
        code = read_lines(made, path, file, error);
    }
    fclose(file);
    if (code != FIRN_OK) {
        free(made);
        return code;
    }
    *out = made;
    return FIRN_OK;
}

static void free_table(access_table *table) {
    if (table != NULL) {
        explicit_bzero(table, sizeof *table);
        free(table);
    }
}

int access_check(const char *path, firn_error *error) {
    access_table *made = NULL;
    int code = path != NULL ? read_table(&made, path, error) : FIRN_OK;
    free_table(made);
    return code;
}

/* Under the lock. The account of a token, which keeps what it has spent. NULL: out of memory. */
static account *account_of(const access_token *token) {
    account *found = accounts;
    while (found != NULL && (memcmp(found->digest, token->digest, DIGEST_SIZE) != 0 ||
                             strcmp(found->name, token->name) != 0)) {
        found = found->next;
    }
    if (found == NULL && (found = calloc(1, sizeof *found)) != NULL) {
        memcpy(found->digest, token->digest, DIGEST_SIZE);
        memcpy(found->name, token->name, sizeof found->name);
        found->next = accounts;
        accounts = found;
    }
    return found;
}

/* Under the lock. The quotas change only if there is memory for all accounts. */
static bool take_accounts(access_table *table) {
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        table->tokens[i].account = account_of(&table->tokens[i]);
        if (table->tokens[i].account == NULL) {
            return false;
        }
    }
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        atomic_store_explicit(&table->tokens[i].account->ids_s, table->tokens[i].ids_s,
                              memory_order_seq_cst);
    }
    return true;
}

int access_load(const char *path, firn_error *error) {
    access_table *made = NULL;
    int code = path != NULL ? read_table(&made, path, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    pthread_rwlock_wrlock(&lock);
    if (!take_accounts(made)) {
        pthread_rwlock_unlock(&lock);
        free_table(made);
        return out_of_memory(error);
    }
    access_table *before = in_force;
    in_force = made;
    atomic_store_explicit(&closed, made != NULL, memory_order_seq_cst);
    atomic_fetch_add_explicit(&loads, 1, memory_order_seq_cst);
    pthread_rwlock_unlock(&lock);
    free_table(before);
    return FIRN_OK;
}

/* ---- asking --------------------------------------------------------------------------------- */

bool access_is_closed(void) {
    return atomic_load_explicit(&closed, memory_order_seq_cst);
}

/* Compares with every token, so that the time reveals neither which token nor how many of its bytes
 * match. */
static enum role role_of(const uint8_t digest[DIGEST_SIZE], account **whose) {
    unsigned found = ROLE_NOBODY;
    size_t place = 0; /* from 1 */
    for (size_t i = 0; i < in_force->count; i++) {
        const access_token *token = &in_force->tokens[i];
        unsigned same = is_same(digest, token->digest);
        found |= (0U - same) & (unsigned)token->role;
        size_t mask = (size_t)0 - same;
        place = (place & ~mask) | ((i + 1) & mask);
    }
    *whose = place > 0 ? in_force->tokens[place - 1].account : NULL;
    /* a token listed with both roles has the greater one */
    return found > ROLE_ADMIN ? ROLE_ADMIN : (enum role)found;
}

uint64_t access_load_count(void) {
    return atomic_load_explicit(&loads, memory_order_acquire);
}

/* Reads the count before the tokens, so that a load in between is noticed. */
enum role access_again(access_pass *pass) {
    enum role role = ROLE_NOBODY;
    pass->load = access_load_count();
    pass->account = NULL;
    pthread_rwlock_rdlock(&lock);
    if (in_force == NULL) {
        role = ROLE_ADMIN;
    } else if (pass->has_token) {
        role = role_of(pass->digest, &pass->account);
    }
    pthread_rwlock_unlock(&lock);
    return role;
}

enum role access_begin(access_pass *pass) {
    *pass = (access_pass){.has_token = false};
    return access_again(pass);
}

enum role access_enter(access_pass *pass, word given) {
    access_pass made = {.has_token = true};
    if (given.length > TOKEN_MOST) {
        return ROLE_NOBODY;
    }
    digest_of(made.digest, given.text, given.length);
    enum role role = access_again(&made);
    if (role != ROLE_NOBODY) {
        *pass = made;
    }
    return role;
}
