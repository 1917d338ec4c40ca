/* SPDX-License-Identifier: MIT */
/* Fuzzes the reader of the tokens file. A refusal is one plain line without any token of the file,
 * and leaves the old tokens in force. Of an accepted file each token has its role, name and quota,
 * another text has none, and reading the file again keeps the accounts. */
#include "core/access.c" /* its accounts are released between inputs */

#include <assert.h>
#include <ctype.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char blanks[] = " \t\r", old_token[] = "an-old-token-of-the-fuzzer";

static int load(int fd, firn_error *error) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return access_load(path, error);
}

static int file_of(const void *bytes, size_t size) {
    int fd = memfd_create("tokens", MFD_CLOEXEC);
    assert(fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, bytes, size) == (ssize_t)size);
    return fd;
}

static enum role role_with(const char *text, size_t length, account **whose) {
    access_pass pass;
    assert(access_begin(&pass) == ROLE_NOBODY);
    enum role role = access_enter(&pass, (word){.text = text, .length = length});
    assert(role == access_again(&pass) && (role == ROLE_NOBODY) == (pass.account == NULL));
    *whose = pass.account;
    return role;
}

/* The second word of the line, as the file's description says; NULL: a blank line or a comment. */
static const char *token_in(const char *line, size_t *length) {
    const char *role = line + strspn(line, blanks);
    const char *text = role + strcspn(role, blanks);
    text += strspn(text, blanks);
    *length = strcspn(text, blanks);
    return role[0] == '\0' || role[0] == '#' ? NULL : text;
}

static void check_accepted(const char *line, const char *text, size_t length) {
    account *whose = NULL;
    bool is_admin = strncmp(line + strspn(line, blanks), "admin", 5) == 0;
    assert(role_with(text, length, &whose) == (is_admin ? ROLE_ADMIN : ROLE_ISSUE));
    size_t name_length = strlen(whose->name);
    assert(name_length > 0 && name_length < ACCOUNT_NAME_SIZE);
    for (size_t i = 0; i < name_length; i++) {
        assert(isalnum((unsigned char)whose->name[i]) || strchr("._-", whose->name[i]) != NULL);
    }
    assert(whose->ids_s >= -1 && whose->ids_s <= QUOTA_MOST);
    char other[TOKEN_MOST + 1]; /* no token has a blank */
    memcpy(other, text, length);
    other[length - 1] = ' ';
    assert(role_with(other, length, &whose) == ROLE_NOBODY);
}

static void check_refused(const firn_error *error, const char *text, size_t length) {
    const char *path = strstr(error->text, "/proc/self/fd/");
    for (const char *position = error->text; *position != '\0'; position++) {
        assert(!iscntrl((unsigned char)*position));
        bool names_path = path != NULL && position >= path && position < path + strcspn(path, " ");
        assert(names_path || length < TOKEN_LEAST || strncmp(position, text, length) != 0);
    }
}

/* Calls one of both for each line that has a token. */
static void check_lines(const uint8_t *data, size_t size, const firn_error *error) {
    char *copy = malloc(size + 1);
    assert(copy != NULL);
    memcpy(copy, data, size);
    copy[size] = '\0';
    for (size_t position = 0, end; position < size; position = end + 1) {
        size_t length = 0;
        end = position + strcspn(copy + position, "\n");
        copy[end] = '\0';
        const char *text = token_in(copy + position, &length);
        if (text != NULL && error->code != 0) {
            check_refused(error, text, length);
        } else if (text != NULL) {
            check_accepted(copy + position, text, length);
        }
    }
    free(copy);
}

static void release(void) {
    free_table(in_force);
    in_force = NULL;
    while (accounts != NULL) {
        account *next = accounts->next;
        free(accounts);
        accounts = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[64];
    firn_error error = {0};
    account *whose = NULL;
    int old = file_of(line, (size_t)snprintf(line, sizeof line, "issue %s\n", old_token));
    assert(load(old, &error) == FIRN_OK);
    int given = file_of(data, size);
    int code = load(given, &error);
    assert(code == error.code && (code == FIRN_OK) == (error.text[0] == '\0'));
    check_lines(data, size, &error);
    if (code == FIRN_OK) {
        assert(memchr(data, '\0', size) == NULL);
        account *first = accounts;
        assert(load(given, &error) == FIRN_OK && accounts == first);
    } else {
        assert(role_with(old_token, sizeof old_token - 1, &whose) == ROLE_ISSUE);
    }
    close(given);
    close(old);
    release();
    return 0;
}
