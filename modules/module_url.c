/* SPDX-License-Identifier: MIT */
/* URLs of stores: their parts and parameters, passwords and exact numbers. */
#include "module.h"

#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

bool module_uint64(uint64_t *out, const char *text, size_t length) {
    uint64_t value = 0;
    if (length < 1 || length > 20 || (length > 1 && text[0] == '0')) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool module_int64(int64_t *out, const char *text, size_t length) {
    uint64_t value;
    if (!module_uint64(&value, text, length) || value > INT64_MAX) {
        return false;
    }
    *out = (int64_t)value;
    return true;
}

const char *module_digits(char out[MODULE_NUMBER_SIZE], int64_t value) {
    snprintf(out, MODULE_NUMBER_SIZE, "%" PRId64, value);
    return out;
}

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A copy of the part with each %XX decoded; NULL: no memory, or a % without two hex digits. */
static char *decoded(const char *text, size_t length) {
    char *out = malloc(length + 1), *position = out;
    for (size_t i = 0; out != NULL && i < length; i++) {
        int high = 0, low = 0;
        if (text[i] != '%') {
            *position++ = text[i];
            continue;
        }
        if (i + 2 >= length || (high = hex(text[i + 1])) < 0 || (low = hex(text[i + 2])) < 0 ||
            high + low == 0) {
            free(out);
            return NULL;
        }
        *position++ = (char)(high * 16 + low);
        i += 2;
    }
    if (out != NULL) {
        *position = '\0';
    }
    return out;
}

static int bad_url(firn_error *error, const char *what) {
    return module_fail(error, FIRN_EUSAGE,
                       "the store's URL %s: write "
                       "ENGINE://[USER[:PASSWORD]@]HOST[:PORT][,HOST...][/PATH][?NAME=VALUE&...], "
                       "other characters as %%XX",
                       what);
}

static bool read_port(module_host *host, const char *text, size_t length) {
    int64_t port;
    if (!module_int64(&port, text, length) || port < 1 || port > 65535) {
        return false;
    }
    host->port = (int)port;
    return true;
}

/* Reads one host[:port] or [address][:port]. */
static bool read_host(module_url *url, const char *text, size_t length) {
    module_host *host = &url->hosts[url->host_count];
    const char *end = text + length, *name = text, *stop, *rest;
    if (length > 0 && text[0] == '[') {
        stop = memchr(text, ']', length);
        name = text + 1;
        rest = stop != NULL ? stop + 1 : NULL;
    } else {
        stop = memchr(text, ':', length);
        stop = stop != NULL ? stop : end;
        rest = stop;
    }
    if (rest == NULL || stop == name || (rest < end && rest[0] != ':') ||
        (rest < end && !read_port(host, rest + 1, (size_t)(end - rest - 1)))) {
        return false;
    }
    host->name = decoded(name, (size_t)(stop - name));
    url->host_count += host->name != NULL;
    return host->name != NULL;
}

static int read_hosts(module_url *url, const char *text, size_t length, firn_error *error) {
    const char *end = text + length;
    while (text <= end && length > 0) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma != NULL ? comma : end;
        if (url->host_count == MODULE_HOSTS_MAX) {
            return bad_url(error, "names more than 16 hosts");
        }
        if (!read_host(url, text, (size_t)(stop - text))) {
            return bad_url(error, "has an invalid host or port (1 to 65535)");
        }
        text = stop + 1;
    }
    return FIRN_OK;
}

static int read_login(module_url *url, const char *text, size_t length, firn_error *error) {
    const char *colon = memchr(text, ':', length);
    size_t user = colon != NULL ? (size_t)(colon - text) : length;
    if (user > 0) {
        url->user = decoded(text, user);
    }
    if (colon != NULL) {
        url->password = decoded(colon + 1, length - user - 1);
    }
    return (user > 0 && url->user == NULL) || (colon != NULL && url->password == NULL)
               ? bad_url(error, "has a % in user or password without two hex digits")
               : FIRN_OK;
}

static int read_params(module_url *url, const char *text, firn_error *error) {
    while (*text != '\0') {
        size_t length = strcspn(text, "&");
        const char *equals = memchr(text, '=', length);
        if (equals == NULL || equals == text || url->param_count == MODULE_PARAMS_MAX) {
            return bad_url(error, equals == NULL || equals == text
                                      ? "has a parameter without a name or ="
                                      : "has more than 24 parameters");
        }
        size_t name = (size_t)(equals - text);
        size_t i = url->param_count++;
        url->params[i].name = decoded(text, name);
        url->params[i].value = decoded(equals + 1, length - name - 1);
        if (url->params[i].name == NULL || url->params[i].value == NULL) {
            return bad_url(error, "has a % in a parameter without two hex digits");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(url->params[j].name, url->params[i].name) == 0) {
                return bad_url(error, "gives a parameter twice");
            }
        }
        text += length + (text[length] == '&');
    }
    return FIRN_OK;
}

static int read_parts(module_url *url, const char *text, firn_error *error) {
    const char *colon = strstr(text, "://");
    if (colon == NULL) {
        return bad_url(error, "has no //");
    }
    const char *authority = colon + 3, *query = strchr(authority, '?');
    const char *end = query != NULL ? query : authority + strlen(authority);
    const char *slash = memchr(authority, '/', (size_t)(end - authority));
    const char *stop = slash != NULL ? slash : end;
    const char *position = memrchr(authority, '@', (size_t)(stop - authority));
    int code = position != NULL ? read_login(url, authority, (size_t)(position - authority), error)
                                : FIRN_OK;
    const char *hosts = position != NULL ? position + 1 : authority;
    if (slash != NULL && memchr(slash, '@', (size_t)(end - slash)) != NULL) {
        return bad_url(error, "has an @ after a /, perhaps of a password"); /* not shown */
    }
    code = code == FIRN_OK ? read_hosts(url, hosts, (size_t)(stop - hosts), error) : code;
    if (code == FIRN_OK && slash != NULL && slash + 1 < end &&
        (url->path = decoded(slash + 1, (size_t)(end - slash - 1))) == NULL) {
        code = bad_url(error, "has a % in its path without two hex digits");
    }
    if (code == FIRN_OK && query != NULL) {
        code = read_params(url, query + 1, error);
    }
    snprintf(url->shown, sizeof url->shown, "%.*s://%.*s", (int)(colon - text), text,
             (int)(end - hosts), hosts);
    return code;
}

int module_url_parse(module_url *url, const char *text, firn_error *error) {
    memset(url, 0, sizeof *url);
    int code = read_parts(url, text, error);
    if (code != FIRN_OK) {
        module_url_free(url);
    }
    return code;
}

void module_url_free(module_url *url) {
    free(url->user);
    if (url->password != NULL) {
        explicit_bzero(url->password, strlen(url->password));
        free(url->password);
    }
    free(url->path);
    for (size_t i = 0; i < url->host_count; i++) {
        free(url->hosts[i].name);
    }
    for (size_t i = 0; i < url->param_count; i++) {
        free(url->params[i].name);
        free(url->params[i].value);
    }
    memset(url, 0, sizeof *url);
}

const char *module_param(module_url *url, const char *name) {
    for (size_t i = 0; i < url->param_count; i++) {
        if (strcmp(url->params[i].name, name) == 0) {
            url->params[i].used = true;
            return url->params[i].value;
        }
    }
    return NULL;
}

static int read_number_param(module_url *url, const module_number *entry, firn_error *error) {
    const char *value = module_param(url, entry->name);
    int64_t number = entry->initial;
    if (value != NULL && entry->unit != NULL) {
        char before[64];
        snprintf(before, sizeof before, "in the store's URL, %s=", entry->name);
        return firn__duration_set(entry->out, before, value, entry->unit, entry->least, entry->most,
                                  error);
    }
    if (value != NULL && (!module_int64(&number, value, strlen(value)) || number < entry->least ||
                          number > entry->most)) {
        return module_fail(error, FIRN_ERANGE,
                           "the store's URL has %s=%.40s: give a number from %" PRId64
                           " to %" PRId64,
                           entry->name, value, entry->least, entry->most);
    }
    *entry->out = number;
    return FIRN_OK;
}

int module_param_numbers(module_url *url, const module_number *numbers, size_t count,
                         firn_error *error) {
    int code = FIRN_OK;
    for (size_t i = 0; i < count && code == FIRN_OK; i++) {
        code = read_number_param(url, &numbers[i], error);
    }
    return code;
}

int module_param_name(const char **out, module_url *url, const char *name, const char *initial,
                      firn_error *error) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const char *value = module_param(url, name);
    value = value != NULL ? value : initial;
    size_t length = strlen(value);
    if (length < 1 || length > 48 || strspn(value, letters) != length ||
        (value[0] >= '0' && value[0] <= '9')) {
        return module_fail(
            error, FIRN_EUSAGE,
            "the store's URL has %s=%.60s: give 1 to 48 letters, digits and _, not a digit first",
            name, value);
    }
    *out = value;
    return FIRN_OK;
}

int module_param_file(const char **out, module_url *url, const char *name, firn_error *error) {
    struct stat about;
    struct statfs holds_it;
    const char *path = *out = module_param(url, name);
    if (path == NULL || stat(path, &about) != 0 || !S_ISFIFO(about.st_mode) ||
        statfs(path, &holds_it) != 0 || holds_it.f_type == PIPEFS_MAGIC) {
        return FIRN_OK;
    }
    return module_fail(error, FIRN_EUSAGE,
                       "%.20s=%.80s is a named pipe, and reading one can take for ever: use a "
                       "regular file",
                       name, path);
}

int module_param_unknown(const char *name, const char *value, const char *known,
                         firn_error *error) {
#define RENAMED(old, new, unit)                                                                    \
    if (strcmp(name, #old) == 0) {                                                                 \
        return module_fail(error, FIRN_EUSAGE,                                                     \
                           "the store's URL has " #old                                             \
                           ", which is now " #new ", with a unit: write " #new "=%.40s%s",         \
                           value, firn__duration_unit(value, #unit));                              \
    }
#include "../src/keys.def"
    return module_fail(error, FIRN_EUSAGE,
                       "the store's URL has an unknown parameter '%.40s': use %s", name, known);
}

int module_params_done(const module_url *url, const char *known, firn_error *error) {
    for (size_t i = 0; i < url->param_count; i++) {
        if (!url->params[i].used) {
            return module_param_unknown(url->params[i].name, url->params[i].value, known, error);
        }
    }
    return FIRN_OK;
}

static int read_password(module_url *url, const char *path, firn_error *error) {
    char line[1026];
    FILE *file = fopen(path, "re");
    bool read =
        file != NULL &&
        setvbuf(file, NULL, _IONBF, 0) == 0 && /* unbuffered, so that no copy stays in memory */
        fgets(line, sizeof line, file) != NULL;
    if (file != NULL) {
        fclose(file);
    }
    size_t length = read ? strcspn(line, "\r\n") : 0;
    if (length > 0 && length < 1024) {
        url->password = strndup(line, length);
    }
    explicit_bzero(line, sizeof line);
    if (length == 0 || length > 1023) {
        return module_fail(error, FIRN_EUSAGE,
                           "password-file=%.80s cannot be read: give a file whose first line is a "
                           "password of 1 to 1023 characters",
                           path);
    }
    return url->password != NULL ? FIRN_OK : module_no_memory(error);
}

int module_password(module_url *url, const char *variable, firn_error *error) {
    const char *path, *value = variable != NULL ? getenv(variable) : NULL;
    int code = module_param_file(&path, url, "password-file", error);
    if (code != FIRN_OK || url->password != NULL) {
        return code;
    }
    if (path != NULL) {
        return read_password(url, path, error);
    }
    if (value != NULL && value[0] != '\0' && (url->password = strdup(value)) == NULL) {
        return module_no_memory(error);
    }
    return FIRN_OK;
}

int module_needs(const char *name, bool given, const char *need, bool there, firn_error *error) {
    return !given || there
               ? FIRN_OK
               : module_fail(error, FIRN_EUSAGE,
                             "%s= protects nothing without %s: add it, or leave %s= out", name,
                             need, name);
}

int module_param_tls(const char **out, module_url *url, firn_error *error) {
    static const char *const words[] = {"off", "prefer", "require", "verify"};
    const char *value = *out = module_param(url, "tls");
    for (size_t i = 0; value != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(value, words[i]) == 0) {
            return FIRN_OK;
        }
    }
    return value == NULL
               ? FIRN_OK
               : module_fail(error, FIRN_EUSAGE,
                             "the store's URL has tls=%.40s: give off, prefer, require or verify",
                             value);
}

int module_tls_read(module_tls *tls, module_url *url, bool initial, firn_error *error) {
    const module_number numbers[] = {{"tls", &tls->enabled, initial, 0, 1, NULL},
                                     {"verify", &tls->verify, 1, 0, 1, NULL}};
    int code = module_param_numbers(url, numbers, 2, error);
    const struct {
        const char *name, **to;
    } files[] = {{"ca", &tls->ca}, {"cert", &tls->cert}, {"key", &tls->key}};
    for (size_t i = 0; i < 3 && code == FIRN_OK; i++) {
        code = module_param_file(files[i].to, url, files[i].name, error);
    }
    if (code == FIRN_OK && !tls->enabled &&
        (tls->ca != NULL || tls->cert != NULL || tls->key != NULL || !tls->verify)) {
        code = module_fail(error, FIRN_EUSAGE, "ca, cert, key and verify need TLS: add tls=1");
    }
    if (code == FIRN_OK) {
        code = module_needs("ca", tls->ca != NULL, "verify=1", tls->verify, error);
    }
    if (code == FIRN_OK && (tls->cert == NULL) != (tls->key == NULL)) {
        code = module_fail(error, FIRN_EUSAGE, "cert and key belong together: give both");
    }
    return code;
}
