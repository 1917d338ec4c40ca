/* SPDX-License-Identifier: MIT */
/* Flags override the environment, which overrides the file, which overrides the presets. */
#include "config.h"

#include "../src/duration.h"
#include "config_file.h"
#include "errors.h"
#include "net/listener.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STANDARD_FILE "/etc/firn/firn.ini"

extern char **environ;

/* ---- flags ---------------------------------------------------------------------------------- */

/* A name as a flag without its dashes. */
static void write_flag(char flag[64], const char *name) {
    snprintf(flag, 64, "%s", name);
    for (char *at = flag; *at != '\0'; at++) {
        *at = *at == '_' ? '-' : *at;
    }
}

/* The command line, read before the file because it names the file. */
typedef struct flags {
    const char *value[SETTING_COUNT];
    const char *file;
} flags;

static int set_flag(flags *to, const setting *found, const char *value, firn_error *error) {
    char flag[64];
    const char **place = &to->value[found - setting_table];
    write_flag(flag, found->name);
    if (*place != NULL) {
        return set_error(error, FIRN_EUSAGE, "--%s is given twice: give it once", flag);
    }
    if (value == NULL) {
        return set_error(error, FIRN_EUSAGE, "--%s needs a value: use --%s %.100s", flag, flag,
                         found->argument);
    }
    *place = value;
    return FIRN_OK;
}

static int unknown_flag(const char *text, const char *next, firn_error *error) {
    char bare[64], flag[66] = "--", advice[ADVICE_SIZE];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(text, "="), text);
    for (char *at = bare; *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    const char *value = text[strcspn(text, "=")] == '=' ? text + strcspn(text, "=") + 1
                        : next != NULL && isdigit((unsigned char)next[0]) ? next
                                                                          : NULL;
    const setting *renamed = setting_renamed(bare, strlen(bare));
    if (renamed != NULL) {
        return set_error(error, FIRN_EUSAGE, "--%.60s is now --%s, with a unit: write --%s %.40s%s",
                         text, renamed->name, renamed->name, value != NULL ? value : "N",
                         firn__duration_unit(value != NULL ? value : "", renamed->unit));
    }
    const char *near = setting_nearest(bare);
    if (near != NULL) {
        write_flag(flag + 2, near);
    }
    return set_error(
        error, FIRN_EUSAGE, "unknown option --%.60s: %s", text,
        did_you_mean(advice, near != NULL ? flag : NULL, "run firn serve --help for a list"));
}

/* One flag without its dashes; `next` is the next word or NULL; *used: `next` was the value. */
static int read_flag(flags *to, const char *flag, const char *next, bool *used, firn_error *error) {
    size_t length = strcspn(flag, "=");
    const char *value = flag[length] == '=' ? flag + length + 1 : NULL;
    const setting *found = setting_find(flag, length);
    if (found == NULL && strncmp(flag, "no-", 3) == 0 && value == NULL) {
        found = setting_find(flag + 3, length - 3);
        if (found != NULL && found->kind == SETTING_SWITCH) {
            return set_flag(to, found, "no", error);
        }
        found = NULL;
    }
    bool is_file = length == strlen("config") && strncmp(flag, "config", length) == 0;
    if (found == NULL && !is_file) {
        return unknown_flag(flag, next, error);
    }
    if (found != NULL && found->kind == SETTING_SWITCH) {
        return set_flag(to, found, value != NULL ? value : "yes", error);
    }
    /* a value begins with a dash only if it is one */
    *used = value == NULL && next != NULL && (next[0] != '-' || next[1] == '\0');
    value = *used ? next : value;
    if (found != NULL) {
        return set_flag(to, found, value, error);
    }
    if (value == NULL || to->file != NULL) {
        return set_error(error, FIRN_EUSAGE, "--config is given %s: use --config FILE",
                         value == NULL ? "without a file" : "twice");
    }
    to->file = value;
    return FIRN_OK;
}

/* Words that ask for something else than serving. */
static bool read_run(config *it, const char *flag) {
    static const struct {
        const char *flag;
        unsigned run;
    } runs[] = {
        {"--print-config", RUN_PRINT},
        {"--check-config", RUN_CHECK},
        {"--check-ready", RUN_READY},
        {"--help", RUN_HELP},
        {"-h", RUN_HELP},
        {"--version", RUN_VERSION},
        {"-V", RUN_VERSION},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (strcmp(flag, runs[i].flag) == 0) {
            it->run = runs[i].run;
            return true;
        }
    }
    return false;
}

static int read_flags(config *it, flags *to, int count, char **words, firn_error *error) {
    int code = FIRN_OK;
    for (int i = 1; i < count && code == FIRN_OK; i++) {
        const char *flag = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
        bool used = false;
        if (read_run(it, flag)) {
            if (it->run == RUN_HELP || it->run == RUN_VERSION) {
                return FIRN_OK;
            }
        } else if (strcmp(flag, "-c") == 0) {
            code = read_flag(to, "config", next, &used, error);
        } else if (strncmp(flag, "--", 2) == 0 && flag[2] != '\0') {
            code = read_flag(to, flag + 2, next, &used, error);
        } else {
            code = set_error(error, FIRN_EUSAGE,
                             "unexpected argument '%.60s': firn serve takes options only; run firn "
                             "serve --help for a list",
                             flag);
        }
        i += used;
    }
    return code;
}

/* ---- environment ---------------------------------------------------------------------------- */

static void variable_of(char name[72], const setting *it) {
    snprintf(name, 72, "FIRN_%s", it->name);
    for (char *at = name; *at != '\0'; at++) {
        *at = (char)toupper((unsigned char)*at);
    }
}

/* An empty variable counts as not set: shells and containers pass those on. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* `name` is the variable of the setting. FIRN_EUSAGE: the old one is set, such as FIRN_DRAIN_S. */
static int check_renamed(const char *name, const setting *it, firn_error *error) {
    char old[80];
    snprintf(old, sizeof old, "%s_%s", name,
             it->unit == NULL              ? ""
             : strcmp(it->unit, "ms") == 0 ? "MS"
                                           : "S");
    const char *value = it->unit != NULL ? variable(old) : NULL;
    return value == NULL
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE, "%s is now %s, with a unit: write %s=%.40s%s", old,
                           name, name, value, firn__duration_unit(value, it->unit));
}

static int read_environment(config *it, firn_error *error) {
    int code = FIRN_OK;
    for (int i = 0; i < SETTING_COUNT && code == FIRN_OK; i++) {
        char name[72];
        variable_of(name, &setting_table[i]);
        const char *value = variable(name);
        code = check_renamed(name, &setting_table[i], error);
        if (code == FIRN_OK && value != NULL) {
            code = setting_read(&it->set, &setting_table[i], value, name, error);
        }
    }
    return code;
}

/* Other programs use the environment too, so an unknown variable is only a warning if its name is
 * close to a setting's. */
static void look_for_mistakes(config *it) {
    for (char **at = environ; *at != NULL; at++) {
        static const char *const others[] = {"FIRN_CONFIG", "FIRN_ORDER_KEY",
                                             "FIRN_ZOOKEEPER_PASSWORD", NULL};
        char name[72], bare[64];
        size_t length = strcspn(*at, "=");
        if (strncmp(*at, "FIRN_", 5) != 0 || length >= sizeof name) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)length, *at);
        bool known = false;
        for (size_t i = 0; others[i] != NULL; i++) {
            known = known || strcmp(name, others[i]) == 0;
        }
        snprintf(bare, sizeof bare, "%.60s", name + strlen("FIRN_"));
        for (char *c = bare; *c != '\0'; c++) {
            *c = (char)tolower((unsigned char)*c);
        }
        const char *near = setting_nearest(bare);
        if (!known && near != NULL && strcmp(near, bare) != 0) {
            char meant[72];
            variable_of(meant, setting_find(near, strlen(near)));
            snprintf(it->caution, sizeof it->caution,
                     "the environment variable %s is unknown: did you mean `%s`?", name, meant);
        }
    }
}

/* ---- all three ------------------------------------------------------------------------------ */

static int read_file(config *it, const char *named_file, firn_error *error) {
    const char *file = named_file != NULL ? named_file : variable("FIRN_CONFIG");
    if (file == NULL && access(STANDARD_FILE, F_OK) == 0) {
        file = STANDARD_FILE;
    }
    if (file == NULL || file[0] == '\0') { /* --config '' : none */
        return FIRN_OK;
    }
    if (strlen(file) >= sizeof it->file) {
        return set_error(error, FIRN_EUSAGE,
                         "the path of --config is longer than %zu bytes: use a shorter one",
                         sizeof it->file - 1);
    }
    memcpy(it->file, file, strlen(file) + 1);
    return config_file_read(&it->set, &it->sections, it->file, error);
}

static int check_addresses(const config *it, const char *name, const char *addresses,
                           firn_error *error) {
    int code = addresses_check(addresses, error);
    if (code != FIRN_OK) {
        return prefix_error(error, code, error, "%s: ", name);
    }
    if (!settings_authenticate(&it->set) && address_is_public(addresses)) {
        return set_error(error, FIRN_EUSAGE,
                         "%s = %.60s can be reached from other machines without authentication: "
                         "set tokens = FILE or tls_client_ca, or listen on 127.0.0.1",
                         name, addresses);
    }
    return FIRN_OK;
}

static int check_named(const config *it, const section *one, firn_error *error) {
    if (!one->is_segment && one->scheme[0] == '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "%.100s: [generator %s] has no scheme: add scheme = NAME", one->where,
                         one->name);
    }
    const section *other = sections_with_node_of(&it->sections, one);
    return other == NULL ? FIRN_OK
                         : set_error(error, FIRN_EUSAGE,
                                     "%.80s: [generator %.30s] has the same node as [generator "
                                     "%.30s]: set another node or another ns, or leave node out",
                                     one->where, one->name, other->name);
}

static int check(const config *it, firn_error *error) {
    if ((it->set.tls_cert[0] == '\0') != (it->set.tls_key[0] == '\0')) {
        return set_error(error, FIRN_EUSAGE,
                         "%s is set without the other: set both tls_cert and tls_key, or neither",
                         it->set.tls_cert[0] != '\0' ? "tls_cert" : "tls_key");
    }
    int code = FIRN_OK;
    for (size_t i = 0; i < it->sections.count && code == FIRN_OK; i++) {
        code = check_named(it, &it->sections.all[i], error);
    }
    code = code == FIRN_OK ? check_addresses(it, "resp", it->set.resp, error) : code;
    return code == FIRN_OK ? check_addresses(it, "http", it->set.http, error) : code;
}

int config_read(config *it, int count, char **words, firn_error *error) {
    flags given = {.file = NULL};
    *it = (config){.run = RUN_SERVE};
    settings_preset(&it->set);
    int code = read_flags(it, &given, count, words, error);
    if (code != FIRN_OK || it->run == RUN_HELP || it->run == RUN_VERSION) {
        return code;
    }
    code = read_file(it, given.file, error);
    if (code == FIRN_OK) {
        code = read_environment(it, error);
        look_for_mistakes(it);
    }
    for (int i = 0; i < SETTING_COUNT && code == FIRN_OK; i++) {
        if (given.value[i] != NULL) {
            code = setting_read(&it->set, &setting_table[i], given.value[i], "command line", error);
        }
    }
    code = code == FIRN_OK ? check(it, error) : code;
    if (code != FIRN_OK) {
        config_free(it);
    }
    return code;
}

void config_free(config *it) {
    sections_free(&it->sections);
}

/* ---- for people ----------------------------------------------------------------------------- */

/* A URL without the password of USER:PASSWORD@. A malformed one is cut as well. */
static void write_url(char *out, size_t size, const char *url) {
    const char *user = strstr(url, "://");
    user = user != NULL ? user + 3 : url;
    const char *host = strrchr(user, '@');
    for (const char *at = user; *at != '\0' && *at != '?'; at++) {
        host = *at == '@' ? at : host;
    }
    const char *colon = host != NULL ? memchr(user, ':', (size_t)(host - user)) : NULL;
    if (colon == NULL) {
        snprintf(out, size, "%s", url);
    } else {
        snprintf(out, size, "%.*s%s", (int)(colon - url), url, host);
    }
}

static void print_value(const char *name, const char *value) {
    char text[VALUE_TEXT_SIZE];
    bool is_url = strcmp(name, "store") == 0;
    write_url(text, sizeof text, value);
    printf("%s =%s%s\n", name, value[0] != '\0' ? " " : "", is_url ? text : value);
}

static void print_named(const section *it) {
    printf("\n[%s %s]\n", it->is_segment ? "segment" : "generator", it->name);
    const struct {
        const char *name, *value;
    } own[] = {
        {"scheme", it->scheme}, {"store", it->store}, {"as", it->form}, {"prefix", it->prefix}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (own[i].value[0] != '\0') {
            print_value(own[i].name, own[i].value);
        }
    }
    for (const char *at = it->keys; *at != '\0';) {
        size_t length = strcspn(at, " "), name = strcspn(at, "=");
        printf("%.*s = %.*s\n", (int)name, at, (int)(length - name - 1), at + name + 1);
        at += length + (at[length] != '\0');
    }
}

void config_print(const config *it) {
    puts("[server]");
    for (const setting *at = setting_table; at < setting_table + SETTING_COUNT; at++) {
        char text[VALUE_TEXT_SIZE];
        setting_write(text, &it->set, at);
        print_value(at->name, text);
    }
    for (size_t i = 0; i < it->sections.count; i++) {
        print_named(&it->sections.all[i]);
    }
}

static void print_flag(const char *name, char letter, const char *argument, const char *text,
                       const char *preset) {
    enum { HELP_COLUMNS = 80 };
    char left[128], right[320], flag[64], front[8] = "    ";
    if (letter != 0) {
        snprintf(front, sizeof front, "-%c, ", letter);
    }
    write_flag(flag, name);
    snprintf(left, sizeof left, "%s--%s %s", front, flag, argument != NULL ? argument : "");
    snprintf(right, sizeof right, "%s%s%s%s", text, preset != NULL ? " (" : "",
             preset != NULL ? preset : "", preset != NULL ? ")" : "");
    int column = printf("  %-34s", left);
    for (const char *at = right; *at != '\0'; at += strspn(at, " ")) {
        int length = (int)strcspn(at, " ");
        if (column + 1 + length > HELP_COLUMNS) {
            column = printf("\n%36s", "") - 1;
        }
        column += printf(" %.*s", length, at);
        at += length;
    }
    putchar('\n');
}

void config_help(void) {
    puts("usage: firn serve [OPTION...]\n\n"
         "Serve IDs over the Redis protocol and HTTP, with a console for browsers.\n\n"
         "Each option of the second list can also be an environment variable\n"
         "(FIRN_LOG_LEVEL) or a line under [server] of the file (log_level = info).\n"
         "Options override variables, and variables override the file. Defaults are in\n"
         "parentheses.\n");
#define FLAG(name, letter, argument, text) print_flag(#name, letter, argument, text, NULL);
#include "settings.def"
    print_flag("version", 'V', NULL, "print the version", NULL);
    print_flag("help", 'h', NULL, "print this help", NULL);
    putchar('\n');
    for (const setting *at = setting_table; at < setting_table + SETTING_COUNT; at++) {
        print_flag(at->name, 0, at->argument, at->text, at->preset);
    }
}
