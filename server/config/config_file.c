/* SPDX-License-Identifier: MIT */
/* firn.ini: sections, and lines of the form name = value or name: value. Comments have their
 * own lines, beginning with # or ;, since values may contain both. Errors name the line. */
#include "config_file.h"

#include "../src/duration.h"
#include "errors.h"
#include "named_pipe.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 2048, LINES_MAX = 200000, NAMES_MAX = 8192 };

enum place { PLACE_NONE, PLACE_SERVER, PLACE_SECTION };

typedef struct config_reader {
    server_settings *set;
    config_sections *sections;
    const char *path;
    FILE *file;
    int line; /* from 1 */
    char where[128];
    enum place place;
    bool seen_server;
    bool seen[SETTING_COUNT];
    firn_error *error;
} config_reader;

/* ---- sections ------------------------------------------------------------------------------- */

/* Names appear in commands and paths, so a name is one word of plain characters. */
static bool is_plain(const char *name) {
    for (; *name != '\0'; name++) {
        if (*name <= ' ' || *name > '~' || strchr("[]\"'\\", *name) != NULL) {
            return false;
        }
    }
    return true;
}

static int add_section(config_reader *reader, enum section_kind kind, const char *name) {
    if (name[0] == '\0' || strlen(name) >= NAME_SIZE || !is_plain(name)) {
        return set_error(reader->error, FIRN_EUSAGE,
                         "%s: [%.9s %.40s] is not a valid name: use 1 to %d printable ASCII "
                         "characters without quotes, brackets and backslashes",
                         reader->where, section_names[kind], name, NAME_SIZE - 1);
    }
    const config_section *first = sections_find(reader->sections, kind, name);
    if (first != NULL) {
        return set_error(reader->error, FIRN_EUSAGE,
                         "%s: [%.9s %s] is given twice: the first is at %.100s", reader->where,
                         section_names[kind], name, first->where);
    }
    if (reader->sections->count == NAMES_MAX) {
        return set_error(reader->error, FIRN_ERANGE,
                         "%s: more than %d sections: set auto_create to create segments on demand",
                         reader->where, NAMES_MAX);
    }
    config_section added = {.kind = kind};
    snprintf(added.name, sizeof added.name, "%s", name);
    snprintf(added.where, sizeof added.where, "%s", reader->where);
    reader->place = PLACE_SECTION;
    return sections_add(reader->sections, &added, reader->error);
}

/* `text`: between the brackets, without surrounding blanks. */
static int begin_section(config_reader *reader, char *text) {
    static const char *const kinds[] = {"server", "generator", "segment", "series", NULL};
    size_t length = strcspn(text, " \t");
    char *name = text + length + strspn(text + length, " \t");
    text[length] = '\0';
    if (strcmp(text, "server") == 0) {
        if (name[0] != '\0') {
            return set_error(reader->error, FIRN_EUSAGE,
                             "%s: [server %.40s] must not have a name: use [server]", reader->where,
                             name);
        }
        if (reader->seen_server) {
            return set_error(reader->error, FIRN_EUSAGE,
                             "%s: [server] is given twice: merge the two sections", reader->where);
        }
        reader->seen_server = true;
        reader->place = PLACE_SERVER;
        return FIRN_OK;
    }
    for (int kind = 0; kind < SECTION_KINDS; kind++) {
        if (strcmp(text, section_names[kind]) == 0) {
            return add_section(reader, (enum section_kind)kind, name);
        }
    }
    char advice[ADVICE_SIZE];
    return set_error(reader->error, FIRN_EUSAGE, "%s: unknown section [%.40s]: %s", reader->where,
                     text,
                     did_you_mean(advice, firn_nearest(text, kinds),
                                  "use [server], [generator NAME], [segment NAME] or "
                                  "[series NAME]"));
}

/* ---- values --------------------------------------------------------------------------------- */

static int read_setting(config_reader *reader, const char *name, const char *value) {
    const setting *found = setting_find(name, strlen(name));
    const setting *renamed = setting_renamed(name, strlen(name));
    if (renamed != NULL) {
        return set_error(reader->error, FIRN_EUSAGE,
                         "%s: %.40s is now %s, with a unit: write %s = %.40s%s", reader->where,
                         name, renamed->name, renamed->name, value,
                         firn__duration_unit(value, renamed->unit));
    }
    if (found == NULL) {
        char advice[ADVICE_SIZE];
        return set_error(
            reader->error, FIRN_EUSAGE, "%s: unknown setting '%.40s': %s", reader->where, name,
            did_you_mean(advice, setting_nearest(name), "run firn serve --help for a list"));
    }
    bool *seen = &reader->seen[found - setting_table];
    if (*seen) {
        return set_error(reader->error, FIRN_EUSAGE, "%s: %s is given twice: give it once",
                         reader->where, found->name);
    }
    *seen = true;
    return setting_read(reader->set, found, value, reader->where, reader->error);
}

static int add_key(config_reader *from, config_section *to, const char *name, const char *value) {
    char before[FIRN_NS_SIZE];
    size_t used = strlen(to->keys);
    if (name[0] == '\0' || name[strcspn(name, " \t")] != '\0') {
        return set_error(from->error, FIRN_EUSAGE, "%s: '%.40s' is not a key: a key is one word",
                         from->where, name);
    }
    if (value[0] == '\0' || value[strcspn(value, " \t")] != '\0') {
        return set_error(from->error, FIRN_EUSAGE,
                         "%s: %.40s = '%.40s' is not one word: remove the blanks", from->where,
                         name, value);
    }
    if (keys_value(before, to->keys, name)[0] != '\0') {
        return set_error(from->error, FIRN_EUSAGE, "%s: %.40s is given twice: give it once",
                         from->where, name);
    }
    int wrote = snprintf(to->keys + used, sizeof to->keys - used, "%s%s=%s", used > 0 ? " " : "",
                         name, value);
    if (wrote < 0 || (size_t)wrote >= sizeof to->keys - used) {
        return set_error(from->error, FIRN_ERANGE,
                         "%s: the keys of '%s' are longer than %d bytes: use fewer or shorter ones",
                         from->where, to->name, KEYS_SIZE - 1);
    }
    return FIRN_OK;
}

/* As for settings of [server]: no control characters, which would reach terminals and logs. */
static int check_plain(const config_reader *reader, const char *name, const char *value) {
    for (const char *position = name; *position != '\0'; position++) {
        if (iscntrl((unsigned char)*position)) {
            return set_error(reader->error, FIRN_EUSAGE,
                             "%s: the name of the key has a control character: remove it",
                             reader->where);
        }
    }
    for (const char *position = value; *position != '\0'; position++) {
        if (iscntrl((unsigned char)*position)) {
            return set_error(reader->error, FIRN_EUSAGE,
                             "%s: %.40s has a control character: remove it", reader->where, name);
        }
    }
    return FIRN_OK;
}

/* Keys of the section itself, not of the generator, segment or series. */
static int read_own(config_reader *from, const char *name, const char *value) {
    config_section *to = &from->sections->all[from->sections->count - 1];
    const struct {
        const char *name;
        char *text;
        size_t size;
        bool of_all;
    } own[] = {
        {"scheme", to->scheme, sizeof to->scheme, false},
        {"store", to->store, sizeof to->store, true},
        {"as", to->form, sizeof to->form, false},
        {"prefix", to->prefix, sizeof to->prefix, false},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(name, own[i].name) != 0 || (to->kind != SECTION_GENERATOR && !own[i].of_all)) {
            continue;
        }
        if (own[i].text[0] != '\0') {
            return set_error(from->error, FIRN_EUSAGE, "%s: %s is given twice: give it once",
                             from->where, name);
        }
        if (value[0] == '\0' || strlen(value) >= own[i].size) {
            return set_error(from->error, FIRN_ERANGE, "%s: %s has %zu bytes: use 1 to %zu",
                             from->where, name, strlen(value), own[i].size - 1);
        }
        memcpy(own[i].text, value, strlen(value) + 1);
        return FIRN_OK;
    }
    return add_key(from, to, name, value);
}

static int take_pair(config_reader *reader, const char *name, const char *value) {
    int code = FIRN_OK;
    switch (reader->place) {
    case PLACE_NONE:
        code = set_error(reader->error, FIRN_EUSAGE,
                         "%s: %.40s is before the first section: move it under [server] or "
                         "[generator NAME]",
                         reader->where, name);
        break;
    case PLACE_SERVER:
        code = read_setting(reader, name, value);
        break;
    case PLACE_SECTION:
        code = check_plain(reader, name, value);
        code = code == FIRN_OK ? read_own(reader, name, value) : code;
        break;
    }
    return code;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void strip_end(char *text) {
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    text[length] = '\0';
}

static char *skip_blanks(char *text) {
    return text + strspn(text, " \t\r\n\f\v");
}

/* `line` has no blanks around it. */
static int take_line(config_reader *reader, char *line) {
    size_t length = strlen(line);
    if (length == 0 || line[0] == '#' || line[0] == ';') {
        return FIRN_OK;
    }
    if (line[0] == '[') {
        if (line[length - 1] != ']') {
            return set_error(reader->error, FIRN_EUSAGE,
                             "%s: the section has no closing bracket: add ]", reader->where);
        }
        line[length - 1] = '\0';
        strip_end(line + 1);
        return begin_section(reader, skip_blanks(line + 1));
    }
    char *value = line + strcspn(line, "=:");
    if (*value == '\0') {
        return set_error(reader->error, FIRN_EUSAGE,
                         "%s: not a line of the form name = value: start comments with #",
                         reader->where);
    }
    *value = '\0';
    strip_end(line);
    return take_pair(reader, line, skip_blanks(value + 1));
}

static int next_line(config_reader *reader, char *line) {
    enum { SHOWN = 68 }; /* the end of a longer path: messages have room for 80 bytes */
    size_t path = strlen(reader->path), cut = path > SHOWN ? path - SHOWN + 3 : 0;
    size_t length = strlen(line);
    reader->line++;
    snprintf(reader->where, sizeof reader->where, "%s%s:%d", cut > 0 ? "..." : "",
             reader->path + cut, reader->line);
    if (reader->line > LINES_MAX) {
        return set_error(reader->error, FIRN_ERANGE,
                         "%s: more than %d lines: check that this is the right file", reader->where,
                         LINES_MAX);
    }
    if ((length == 0 || line[length - 1] != '\n') && !feof(reader->file)) {
        return set_error(reader->error, FIRN_ERANGE,
                         "%s: the line is longer than %d bytes or contains a zero byte: shorten it",
                         reader->where, LINE_SIZE - 2);
    }
    if (reader->line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3; /* a byte order mark */
    }
    strip_end(line);
    return take_line(reader, skip_blanks(line));
}

int config_file_read(server_settings *set, config_sections *to, const char *path,
                     firn_error *error) {
    int code = refuse_named_pipe(path, error);
    if (code != FIRN_OK) {
        return code;
    }
    config_reader from = {
        .set = set, .sections = to, .path = path, .file = fopen(path, "re"), .error = error};
    if (from.file == NULL) {
        return set_error(error, FIRN_EIO, "cannot read %.100s: %s: use --config FILE", path,
                         strerror(errno));
    }
    char line[LINE_SIZE];
    while (code == FIRN_OK && fgets(line, sizeof line, from.file) != NULL) {
        code = next_line(&from, line);
    }
    bool failed = ferror(from.file) != 0;
    fclose(from.file);
    return code == FIRN_OK && failed
               ? set_error(error, FIRN_EIO, "cannot read %.100s: check that it is a file", path)
               : code;
}
