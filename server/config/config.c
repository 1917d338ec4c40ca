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
    for (char *position = flag; *position != '\0'; position++) {
        *position = *position == '_' ? '-' : *position;
    }
}

/* The command line, read before the file because it names the file. */
typedef struct flag_values {
    const char *value[SETTING_COUNT];
    const char *file;
} flag_values;

static int set_flag(flag_values *flags, const setting *found, const char *value,
                    firn_error *error) {
    char flag[64];
    const char **place = &flags->value[found - setting_table];
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

/* As other servers call the settings resp and http. */
static bool names_address(const char *name) {
    static const char *const names[] = {"port", "host", "bind", "listen", "address"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static int unknown_flag(const char *text, const char *next, firn_error *error) {
    char bare[64], flag[66] = "--", advice[ADVICE_SIZE];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(text, "="), text);
    for (char *position = bare; *position != '\0'; position++) {
        *position = *position == '-' ? '_' : *position;
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
    if (names_address(bare)) {
        return set_error(error, FIRN_EUSAGE,
                         "unknown option --%.60s: use --resp HOST:PORT for the Redis protocol and "
                         "--http HOST:PORT for HTTP",
                         text);
    }
    const char *near = setting_nearest(bare);
    if (near != NULL) {
        write_flag(flag + 2, near);
    }
    return set_error(
        error, FIRN_EUSAGE, "unknown option --%.60s: %s", text,
        did_you_mean(advice, near != NULL ? flag : NULL, "run firn serve --help for a list"));
}

/* Reads a flag without its dashes; `next` is the next word or NULL; *used: `next` was the value. */
static int read_flag(flag_values *flags, const char *flag, const char *next, bool *used,
                     firn_error *error) {
    size_t length = strcspn(flag, "=");
    const char *value = flag[length] == '=' ? flag + length + 1 : NULL;
    const setting *found = setting_find(flag, length);
    if (found == NULL && strncmp(flag, "no-", 3) == 0 && value == NULL) {
        found = setting_find(flag + 3, length - 3);
        if (found != NULL && found->kind == SETTING_SWITCH) {
            return set_flag(flags, found, "no", error);
        }
        found = NULL;
    }
    bool is_file = length == strlen("config") && strncmp(flag, "config", length) == 0;
    if (found == NULL && !is_file) {
        return unknown_flag(flag, next, error);
    }
    if (found != NULL && found->kind == SETTING_SWITCH) {
        return set_flag(flags, found, value != NULL ? value : "yes", error);
    }
    /* a value begins with a dash only if it is one */
    *used = value == NULL && next != NULL && (next[0] != '-' || next[1] == '\0');
    value = *used ? next : value;
    if (found != NULL) {
        return set_flag(flags, found, value, error);
    }
    if (value == NULL || flags->file != NULL) {
        return set_error(error, FIRN_EUSAGE, "--config is given %s: use --config FILE",
                         value == NULL ? "without a file" : "twice");
    }
    flags->file = value;
    return FIRN_OK;
}

/* Words that ask for something else than serving. */
static bool read_run(server_config *config, const char *flag) {
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
            config->run = runs[i].run;
            return true;
        }
    }
    return false;
}

static int read_flags(server_config *config, flag_values *flags, int count, char **words,
                      firn_error *error) {
    int code = FIRN_OK;
    for (int i = 1; i < count && code == FIRN_OK; i++) {
        const char *flag = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
        bool used = false;
        if (read_run(config, flag)) {
            if (config->run == RUN_HELP || config->run == RUN_VERSION) {
                return FIRN_OK;
            }
        } else if (strcmp(flag, "-c") == 0) {
            code = read_flag(flags, "config", next, &used, error);
        } else if (strncmp(flag, "--", 2) == 0 && flag[2] != '\0') {
            code = read_flag(flags, flag + 2, next, &used, error);
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

static void variable_of(char name[72], const setting *row) {
    snprintf(name, 72, "FIRN_%s", row->name);
    for (char *position = name; *position != '\0'; position++) {
        *position = (char)toupper((unsigned char)*position);
    }
}

/* An empty variable counts as not set: shells and containers pass those on. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* `name` is the variable of the setting. FIRN_EUSAGE: the old one is set, such as FIRN_DRAIN_S. */
static int check_renamed(const char *name, const setting *row, firn_error *error) {
    char old[80];
    snprintf(old, sizeof old, "%s_%s", name,
             row->unit == NULL              ? ""
             : strcmp(row->unit, "ms") == 0 ? "MS"
                                            : "S");
    const char *value = row->unit != NULL ? variable(old) : NULL;
    return value == NULL
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE, "%s is now %s, with a unit: write %s=%.40s%s", old,
                           name, name, value, firn__duration_unit(value, row->unit));
}

static int read_environment(server_config *config, firn_error *error) {
    int code = FIRN_OK;
    for (int i = 0; i < SETTING_COUNT && code == FIRN_OK; i++) {
        char name[72];
        variable_of(name, &setting_table[i]);
        const char *value = variable(name);
        code = check_renamed(name, &setting_table[i], error);
        if (code == FIRN_OK && value != NULL) {
            code = setting_read(&config->set, &setting_table[i], value, name, error);
        }
    }
    return code;
}

/* Other programs use the environment too, so an unknown variable is only a warning if its name is
 * close to a setting's. */
static void look_for_mistakes(server_config *config) {
    for (char **position = environ; *position != NULL; position++) {
        /* FIRN_INCLUDE and FIRN_LIB are of bindings that are built. */
        static const char *const others[] = {
            "FIRN_CONFIG", "FIRN_INCLUDE", "FIRN_LIB", "FIRN_ORDER_KEY", "FIRN_ZOOKEEPER_PASSWORD",
            NULL};
        char name[72], bare[64];
        size_t length = strcspn(*position, "=");
        if (strncmp(*position, "FIRN_", 5) != 0 || length >= sizeof name) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)length, *position);
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
            snprintf(config->caution, sizeof config->caution,
                     "the environment variable %s is unknown: did you mean `%s`?", name, meant);
        }
    }
}

/* ---- all three ------------------------------------------------------------------------------ */

static int read_file(server_config *config, const char *named_file, firn_error *error) {
    const char *file = named_file != NULL ? named_file : variable("FIRN_CONFIG");
    if (file == NULL && access(STANDARD_FILE, F_OK) == 0) {
        file = STANDARD_FILE;
    }
    if (file == NULL || file[0] == '\0') { /* --config '' : none */
        return FIRN_OK;
    }
    if (strlen(file) >= sizeof config->file) {
        return set_error(error, FIRN_EUSAGE,
                         "the path of --config is longer than %zu bytes: use a shorter one",
                         sizeof config->file - 1);
    }
    memcpy(config->file, file, strlen(file) + 1);
    return config_file_read(&config->set, &config->sections, config->file, error);
}

static int check_addresses(const server_config *config, const char *name, const char *addresses,
                           firn_error *error) {
    int code = addresses_check(addresses, error);
    if (code != FIRN_OK) {
        return prefix_error(error, code, error, "%s: ", name);
    }
    if (!settings_authenticate(&config->set) && address_is_public(addresses)) {
        return set_error(error, FIRN_EUSAGE,
                         "%s = %.60s can be reached from other machines without authentication: "
                         "set tokens = FILE or tls_client_ca, or listen on 127.0.0.1",
                         name, addresses);
    }
    return FIRN_OK;
}

static int check_named(const server_config *config, const config_section *section,
                       firn_error *error) {
    if (section->kind == SECTION_GENERATOR && section->scheme[0] == '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "%.100s: [generator %s] has no scheme: add scheme = NAME", section->where,
                         section->name);
    }
    const config_section *other = sections_with_node_of(&config->sections, section);
    return other == NULL ? FIRN_OK
                         : set_error(error, FIRN_EUSAGE,
                                     "%.80s: [generator %.30s] has the same node as [generator "
                                     "%.30s]: set another node or another ns, or leave node out",
                                     section->where, section->name, other->name);
}

static int check(const server_config *config, firn_error *error) {
    if ((config->set.tls_cert[0] == '\0') != (config->set.tls_key[0] == '\0')) {
        return set_error(error, FIRN_EUSAGE,
                         "%s is set without the other: set both tls_cert and tls_key, or neither",
                         config->set.tls_cert[0] != '\0' ? "tls_cert" : "tls_key");
    }
    int code = FIRN_OK;
    for (size_t i = 0; i < config->sections.count && code == FIRN_OK; i++) {
        code = check_named(config, &config->sections.all[i], error);
    }
    code = code == FIRN_OK ? check_addresses(config, "resp", config->set.resp, error) : code;
    return code == FIRN_OK ? check_addresses(config, "http", config->set.http, error) : code;
}

int config_read(server_config *config, int count, char **words, firn_error *error) {
    flag_values given = {.file = NULL};
    *config = (server_config){.run = RUN_SERVE};
    settings_preset(&config->set);
    int code = read_flags(config, &given, count, words, error);
    if (code != FIRN_OK || config->run == RUN_HELP || config->run == RUN_VERSION) {
        return code;
    }
    code = read_file(config, given.file, error);
    if (code == FIRN_OK) {
        code = read_environment(config, error);
        look_for_mistakes(config);
    }
    for (int i = 0; i < SETTING_COUNT && code == FIRN_OK; i++) {
        if (given.value[i] != NULL) {
            code = setting_read(&config->set, &setting_table[i], given.value[i], "command line",
                                error);
        }
    }
    code = code == FIRN_OK ? check(config, error) : code;
    if (code != FIRN_OK) {
        config_free(config);
    }
    return code;
}

void config_free(server_config *config) {
    sections_free(&config->sections);
}

/* ---- for people ----------------------------------------------------------------------------- */

/* A URL without the password of USER:PASSWORD@. A malformed one is cut as well. */
static void write_url(char *out, size_t size, const char *url) {
    const char *user = strstr(url, "://");
    user = user != NULL ? user + 3 : url;
    const char *host = strrchr(user, '@');
    for (const char *position = user; *position != '\0' && *position != '?'; position++) {
        host = *position == '@' ? position : host;
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

static void print_named(const config_section *section) {
    printf("\n[%s %s]\n", section_names[section->kind], section->name);
    const struct {
        const char *name, *value;
    } own[] = {{"scheme", section->scheme},
               {"store", section->store},
               {"as", section->form},
               {"prefix", section->prefix}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (own[i].value[0] != '\0') {
            print_value(own[i].name, own[i].value);
        }
    }
    for (const char *position = section->keys; *position != '\0';) {
        size_t length = strcspn(position, " "), name = strcspn(position, "=");
        printf("%.*s = %.*s\n", (int)name, position, (int)(length - name - 1), position + name + 1);
        position += length + (position[length] != '\0');
    }
}

void config_print(const server_config *config) {
    puts("[server]");
    for (const setting *row = setting_table; row < setting_table + SETTING_COUNT; row++) {
        char text[VALUE_TEXT_SIZE];
        setting_write(text, &config->set, row);
        print_value(row->name, text);
    }
    for (size_t i = 0; i < config->sections.count; i++) {
        print_named(&config->sections.all[i]);
    }
}
