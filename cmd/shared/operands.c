/* SPDX-License-Identifier: MIT */
/* Operands: words and key=value pairs apart: see operands.h. Issues and reads no ID. */
#include "operands.h"

#include "join.h"
#include "pure_verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the name in front of =, or 0: a plain word. */
static size_t key_length(const char *word) {
    size_t length = 0;
    for (;; length++) {
        char c = word[length];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_')) {
            return c == '=' ? length : 0;
        }
    }
}

bool operand_is(const char *word, const char *name) {
    size_t length = strlen(name);
    return key_length(word) == length && memcmp(word, name, length) == 0;
}

static int refuse_twice(session *s) {
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        size_t length = key_length(s->operands[i]);
        for (size_t j = s->plain_count; j < i; j++) {
            if (key_length(s->operands[j]) == length &&
                memcmp(s->operands[i], s->operands[j], length) == 0) {
                return fail_usage(s, "%.*s is given twice: give it once", (int)length,
                                  s->operands[i]);
            }
        }
    }
    return STATUS_DONE;
}

int operands_split(session *s, size_t fixed, size_t least, size_t most, const char *wanted) {
    for (size_t i = 0; i < s->operand_count; i++) {
        char *word = s->operands[i];
        if ((i >= fixed || i >= s->word_count) && key_length(word) > 0) {
            continue;
        }
        for (size_t j = i; j > s->plain_count; j--) {
            s->operands[j] = s->operands[j - 1];
        }
        s->operands[s->plain_count++] = word;
    }
    if (s->plain_count < least) {
        return fail_usage(s, "%s needs %s: see firn %s --help", s->command->name, wanted,
                          s->command->name);
    }
    if (s->plain_count > most && strspn(s->operands[most], "0123456789") > 0 &&
        strcmp(s->command->name, "new") == 0) {
        return fail_usage(s,
                          "'%.60s' is one argument too many: for the number of IDs, use -n %.60s",
                          s->operands[most], s->operands[most]);
    }
    if (s->plain_count > most) {
        return fail_usage(s, "'%.60s' is one argument too many: %s takes %s and key=value",
                          s->operands[most], s->command->name, wanted);
    }
    return refuse_twice(s);
}

const char *operand_value(const session *s, const char *name) {
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        if (operand_is(s->operands[i], name)) {
            return s->operands[i] + strlen(name) + 1;
        }
    }
    return NULL;
}

int operands_are_ids(session *s) {
    for (size_t i = 0; i < s->operand_count; i++) {
        const size_t length = key_length(s->operands[i]);
        const char *value = s->operands[i] + length + 1; /* base64 ends with one or two = */
        if (length > 0 && strcmp(value, "") != 0 && strcmp(value, "=") != 0) {
            return fail_usage(s,
                              "%s has no setting '%.60s': see firn %s --help, and write -- before "
                              "an ID that looks so",
                              s->command->name, s->operands[i], s->command->name);
        }
    }
    return STATUS_DONE;
}

bool operand_is_one_of(const char *word, const char *const *names) {
    for (; *names != NULL; names++) {
        if (operand_is(word, *names)) {
            return true;
        }
    }
    return false;
}

int operands_join(session *s, const char *const *others, size_t room, char *keys, size_t size) {
    keys[0] = '\0';
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        const char *word = s->operands[i];
        if (operand_is_one_of(word, others)) {
            continue;
        }
        if (strpbrk(word, " \t\n") != NULL) {
            return fail_usage(s, "'%.80s' contains a blank: remove it", word);
        }
        if (strlen(keys) + strlen(word) + 2 + room > size) { /* a blank and the zero */
            return fail_usage(s, "the settings have more than %zu characters: shorten them",
                              size - 1 - room);
        }
        text_join(keys, size, " ", "%s", word);
    }
    return STATUS_DONE;
}

void operands_assume(const session *s, const char *name, const char *value, char *keys,
                     size_t size) {
    if (operand_value(s, name) == NULL) {
        text_join(keys, size, " ", "%s=%s", name, value);
    }
}

int operand_scheme(session *s, firn_scheme *scheme) {
    firn_error error;
    const firn_scheme *listed = firn_scheme_find(s->operands[0]);
    bool keyed = listed != NULL &&
                 listed->keyed; /* digits= is the width of the integer, not part of the layout */
    int code =
        pure_scheme(scheme, s->operands[0], operand_value(s, "epoch"), operand_value(s, "bits"),
                    keyed ? NULL : operand_value(s, "digits"), &error);
    return argument_code(code, &error) == FIRN_OK ? STATUS_DONE : fail(s, &error);
}

int operand_field(firn_fields *fields, const firn_scheme *scheme, const char *word,
                  firn_error *error) {
    char name[64];
    size_t length = key_length(word);
    if (length == 0) {
        return set_error(error, FIRN_EUSAGE, "'%.60s' is not a field: write name=value", word);
    }
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    return argument_code(pure_field(fields, scheme, name, word + length + 1, error), error);
}

int operand_fields(session *s, const firn_scheme *scheme, const char *const *not_fields,
                   firn_fields *fields) {
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        const char *word = s->operands[i];
        bool skip = operand_is(word, "epoch") || operand_is(word, "bits") ||
                    operand_is(word, "digits") || operand_is_one_of(word, not_fields);
        firn_error error;
        if (!skip && operand_field(fields, scheme, word, &error) != FIRN_OK) {
            return fail(s, &error);
        }
    }
    return STATUS_DONE;
}

const char *operand_store_url(session *s) {
    const char *url = s->option[OPTION_STORE], *environment = getenv("FIRN_STORE");
    if (url == NULL) {
        return environment != NULL && environment[0] != '\0' ? environment : NULL;
    }
    const char *slashes = strstr(url, "://");
    size_t length = slashes != NULL ? strcspn(slashes + 3, "/?") : 0;
    const char *position = slashes != NULL ? memchr(slashes + 3, '@', length) : NULL;
    const char *colon = slashes != NULL ? memchr(slashes + 3, ':', length) : NULL;
    if (position != NULL && colon != NULL && colon + 1 < position) {
        tell_note(s, "other users can see a password in --store for a moment, and the shell's "
                     "history keeps it: put the URL into FIRN_STORE, or the password where the "
                     "clients of the engine read it");
    }
    return url;
}

firn_store_options operand_store_options(session *s) {
    firn_store_options options = {.notice = tell_note, .notice_self = s};
    options.unsafe = s->option[OPTION_UNSAFE] != NULL;
    return options;
}

int operand_store(session *s, firn_store **store, const char *url, bool must_exist) {
    firn_store_options options = operand_store_options(s);
    options.must_exist = must_exist;
    options.later = operand_value(s, "reserve") != NULL;
    firn_error error = {0};
    if (firn_store_open(store, url, &options, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (options.later && error.code != FIRN_OK) {
        tell_note(s, error.text);
        tell_note(s, "until the store answers, integers come from this machine's reserve");
    }
    if (firn_store_caution(*store) != NULL) {
        tell_note(s, firn_store_caution(*store));
    }
    return STATUS_DONE;
}
