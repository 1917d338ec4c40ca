/* SPDX-License-Identifier: MIT */
/* Layouts as text: read into a scheme, and written; the changes of epoch, bits and digits; the
 * namespace of a scheme. Pure. The list of schemes is in scheme.c. */
#include "date_form.h"
#include "error.h"
#include "nearest.h"
#include "number.h"
#include "scheme.h"

#include <assert.h>
#include <firn/recognize.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The words for a tick. */
static const struct {
    const char *name;
    uint32_t tick_ns;
} ticks[] = {{"s", 1000000000}, {"10ms", 10000000}, {"ms", 1000000}, {"us", 1000}, {"100ns", 100}};
enum { TICKS = sizeof ticks / sizeof ticks[0] };

static const char *tick_name(uint32_t tick_ns) {
    size_t i = 0;
    while (ticks[i].tick_ns != tick_ns) {
        i++;
        assert(i < TICKS); /* a scheme has one of these */
    }
    return ticks[i].name;
}

/* Reads a decimal number of at most 3 digits and moves *position. -1: no digit. */
static int small_number(const char **position) {
    int number = 0, digits = 0;
    for (; **position >= '0' && **position <= '9' && digits < 3; digits++, (*position)++) {
        number = number * 10 + (**position - '0');
    }
    return digits == 0 || (**position >= '0' && **position <= '9') ? -1 : number;
}

static uint8_t role_of(const char *name, int bits) {
    static const struct {
        const char *name;
        uint8_t role;
    } words[] = {{"time", FIRN_ROLE_TIME},
                 {"sequence", FIRN_ROLE_SEQUENCE},
                 {"counter", FIRN_ROLE_COUNTER},
                 {"random", FIRN_ROLE_RANDOM}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].name, name) == 0) {
            return words[i].role;
        }
    }
    return bits == 48 ? FIRN_ROLE_ADDRESS : FIRN_ROLE_NODE;
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* 0xVALUE or decimal, up to the colon, of a constant; moves *position. */
static int read_constant(uint64_t *value, const char *word, const char **position,
                         firn_error *error) {
    char digits[24];
    firn_value read;
    size_t length = strcspn(*position, ":");
    size_t kept = length < sizeof digits ? length : sizeof digits - 1;
    memcpy(digits, *position, kept);
    digits[kept] = '\0';
    if (!firn__value_parse(&read, digits) || read.high != 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "'%.40s': a constant is decimal or 0x hex, of at most 64 bits", word);
    }
    *position += kept;
    *value = read.low;
    return FIRN_OK;
}

/* Reads one slice of a layout. *rest is what follows its bits: tick and epoch. */
static int read_slice(firn_slice *slice, const char *word, const char **rest, firn_error *error) {
    const char *position = word;
    int bits, from = 0, group = 0;
    uint64_t value = 0;
    bool constant = position[0] == '0' && position[1] == 'x';
    size_t name = 0;
    memset(slice, 0, sizeof *slice);
    while (!constant && is_name_char(position[name])) {
        name++;
    }
    if (!constant &&
        (name == 0 || name >= sizeof slice->name || (position[0] >= '0' && position[0] <= '9'))) {
        return firn__fail(error, FIRN_EUSAGE,
                          "'%.40s' is not a valid slice: write field:bits, field@from:bits, "
                          "field~group:bits or 0xVALUE:bits",
                          word);
    }
    memcpy(slice->name, position, name);
    position += name;
    if (constant || *position == '=') {
        position += constant ? 0 : 1;
        constant = true;
        int code = read_constant(&value, word, &position, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    for (; !constant && (*position == '@' || *position == '~');) {
        int *number = *position++ == '@' ? &from : &group;
        *number = small_number(&position);
        if (*number < 0 || *number > 127) {
            return firn__fail(error, FIRN_EUSAGE,
                              "'%.40s': a number from 0 to 127 must follow @ and ~", word);
        }
    }
    bits = *position == ':' ? (position++, small_number(&position)) : -1;
    if (bits < 1 || bits > 128 || from + bits > 128) {
        return firn__fail(error, FIRN_EUSAGE,
                          "'%.40s': write the bits of a slice after a colon, 1 to 128", word);
    }
    if (group > 0 && (bits % group != 0 || bits > 64)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "'%.40s': a mirrored slice must have whole groups and at most 64 bits",
                          word);
    }
    if (constant && (bits > 64 || !firn__fits((firn_value){value, 0}, (uint32_t)bits))) {
        return firn__fail(error, FIRN_ERANGE,
                          "'%.40s': the constant does not fit its bits: write more bits", word);
    }
    slice->role = constant ? FIRN_ROLE_CONST : role_of(slice->name, bits);
    slice->bits = (uint8_t)bits;
    slice->from = (uint8_t)from;
    slice->group = (uint8_t)group;
    slice->value = value;
    *rest = position;
    return FIRN_OK;
}

#define EPOCH_S INT64_C(1000000000000) /* 31 688 years before or after 1970 */

static int read_epoch(firn_scheme *scheme, const char *text, firn_error *error) {
    firn_time epoch;
    int code = firn_time_parse(&epoch, text, strlen(text), error);
    if (code == FIRN_OK && (epoch.sec > EPOCH_S || epoch.sec < -EPOCH_S)) {
        return firn__fail(error, FIRN_ERANGE,
                          "epoch=%.40s is out of range: it must be within 31 688 years of 1970",
                          text);
    }
    if (code == FIRN_OK) {
        scheme->epoch = epoch;
    }
    return code;
}

/* Reads the /TICK@@EPOCH after the bits of a time slice. */
static int read_tick(firn_scheme *scheme, const char *word, const char *position,
                     firn_error *error) {
    if (*position == '/') {
        size_t length = strcspn(++position, "@");
        for (size_t i = 0; i < TICKS; i++) {
            if (strlen(ticks[i].name) == length && memcmp(ticks[i].name, position, length) == 0) {
                scheme->tick_ns = ticks[i].tick_ns;
            }
        }
        if (scheme->tick_ns == 0) {
            return firn__fail(error, FIRN_EUSAGE,
                              "'%.60s': the tick must be s, 10ms, ms, us or 100ns", word);
        }
        position += length;
    }
    if (position[0] == '@' && position[1] == '@') {
        return read_epoch(scheme, position + 2, error);
    }
    return *position == '\0'
               ? FIRN_OK
               : firn__fail(error, FIRN_EUSAGE,
                            "'%.60s': only /TICK@@EPOCH may follow the bits of the time", word);
}

/* No other slice may have the name of a constant: readers would mix their bits up. */
static int check_names(const firn_scheme *scheme, firn_error *error) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const firn_slice *a = &scheme->slices[j], *b = &scheme->slices[i];
            bool constant = a->role == FIRN_ROLE_CONST || b->role == FIRN_ROLE_CONST;
            if (constant && a->name[0] != '\0' && strcmp(a->name, b->name) == 0) {
                return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_OTHER_NAME,
                                      "two slices are named %s: give the constant another name",
                                      a->name);
            }
        }
    }
    return FIRN_OK;
}

/* The slices of a field must contain each bit of the field exactly once. */
static int check_fields(const firn_scheme *scheme, firn_error *error) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        firn_value seen = {0, 0}, all = firn__mask_wide(firn_scheme_width(scheme, i));
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role == FIRN_ROLE_CONST || firn_scheme_first(scheme, i) != i) {
            continue;
        }
        for (uint32_t j = i; j < scheme->slice_count; j++) {
            const firn_slice *other = &scheme->slices[j];
            firn_value part = firn__up(firn__mask_wide(other->bits), other->from);
            if (firn_scheme_first(scheme, j) != i || other->role == FIRN_ROLE_CONST) {
                continue;
            }
            if ((seen.low & part.low) != 0 || (seen.high & part.high) != 0) {
                return firn__fail(error, FIRN_EUSAGE,
                                  "the layout contains a bit of %s twice: "
                                  "give each slice of %s other bits",
                                  slice->name, slice->name);
            }
            seen.low |= part.low;
            seen.high |= part.high;
        }
        if (seen.low != all.low || seen.high != all.high) {
            return firn__fail(error, FIRN_EUSAGE, "a bit of %s is missing: add a slice with it",
                              slice->name);
        }
    }
    return FIRN_OK;
}

/* The widths must fit the words of the generator. */
static int check_widths(const firn_scheme *scheme, firn_error *error) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        int role = scheme->slices[i].role;
        uint32_t width = firn_scheme_width(scheme, i);
        bool word = role == FIRN_ROLE_TIME || role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS;
        bool count = role == FIRN_ROLE_SEQUENCE || role == FIRN_ROLE_COUNTER;
        if ((word && width > 64) || (count && width > 40)) {
            return firn__fail(error, FIRN_EUSAGE, "%s has %" PRIu32 " bits: write at most %d",
                              scheme->slices[i].name, width, word ? 64 : 40);
        }
    }
    return FIRN_OK;
}

/* Every unknown name is a part of the node. A misspelt sequence would therefore be one, and the
 * layout would have no sequence. */
static int check_spelling(const firn_scheme *scheme, firn_error *error) {
    static const struct {
        const char *word, *role;
        unsigned most; /* edits */
    } roles[] = {{"sequence", "sequence", 2},
                 {"seq", "sequence", 0},
                 {"counter", "counter", 1},
                 {"random", "random", 1}};
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        bool node = slice->role == FIRN_ROLE_NODE || slice->role == FIRN_ROLE_ADDRESS;
        for (size_t j = 0; node && j < sizeof roles / sizeof *roles; j++) {
            if (firn_scheme_field(scheme, roles[j].role) < 0 &&
                firn__edits(slice->name, roles[j].word) <= roles[j].most) {
                return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_OTHER_NAME,
                                      "%.20s would be a part of the node: write %s:BITS, or choose "
                                      "another name",
                                      slice->name, roles[j].role);
            }
        }
    }
    return FIRN_OK;
}

/* Derives the policies of a caller's layout from its slices: sorting, node, text form. */
static void derive(firn_scheme *scheme) {
    bool random = firn__scheme_role(scheme, FIRN_ROLE_RANDOM) >= 0;
    bool counter = firn__scheme_role(scheme, FIRN_ROLE_COUNTER) >= 0;
    int version = firn_scheme_field(scheme, "version");
    bool node = false;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        int role = scheme->slices[i].role;
        node = node || role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS;
    }
    scheme->node_rule = random ? FIRN_NODE_NONE : FIRN_NODE_REQUIRED;
    scheme->counter_step = counter ? 1 : 0;
    scheme->form = FIRN_FORM_HEX;
    if (scheme->bits <= 64) {
        scheme->form = FIRN_FORM_DEC;
    } else if (scheme->bits == 128 && version >= 0 &&
               scheme->slices[version].role == FIRN_ROLE_CONST) {
        scheme->form = FIRN_FORM_UUID;
    }
    firn_id low, high;
    firn_time next = scheme->epoch;
    next.sec += 1;
    scheme->sorts = random || counter ? FIRN_SORTS_BY_TICK : FIRN_SORTS_YES;
    if (firn_range(&low, &high, scheme, NULL, &scheme->epoch, &next, NULL) == FIRN_EUSAGE) {
        scheme->sorts = FIRN_SORTS_PER_NODE; /* a field of the node comes before the time */
    } else if (firn_range(&low, &high, scheme, NULL, &scheme->epoch, &next, NULL) ==
               FIRN_EUNSORTED) {
        scheme->sorts = FIRN_SORTS_NO;
    }
    if (random && node) { /* random bits: nothing is reserved, and the caller sets the node */
        for (uint32_t i = 0; i < scheme->slice_count; i++) {
            int role = scheme->slices[i].role;
            bool part = role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS;
            scheme->slices[i].role = part ? FIRN_ROLE_USER : (uint8_t)role;
        }
    }
}

static int read_layout(firn_scheme *scheme, const char *text, firn_error *error) {
    memset(scheme, 0, sizeof *scheme);
    snprintf(scheme->name, sizeof scheme->name, "layout");
    scheme->packer = -1;
    for (const char *position = text + strspn(text, " "); *position != '\0';
         position += strspn(position, " ")) {
        char word[96];
        const char *rest = word;
        size_t length = strcspn(position, " ");
        if (length >= sizeof word || scheme->slice_count == FIRN_SLICES_MAX) {
            return firn__fail(error, FIRN_EUSAGE,
                              "a layout has at most %d slices of at most 95 characters",
                              FIRN_SLICES_MAX);
        }
        memcpy(word, position, length);
        word[length] = '\0';
        firn_slice *slice = &scheme->slices[scheme->slice_count];
        int code = read_slice(slice, word, &rest, error);
        if (code == FIRN_OK && slice->role == FIRN_ROLE_TIME) {
            code = read_tick(scheme, word, rest, error);
        } else if (code == FIRN_OK && *rest != '\0') {
            code = firn__fail(error, FIRN_EUSAGE, "'%.60s': unexpected '%.20s' after the bits",
                              word, rest);
        }
        if (code != FIRN_OK) {
            return code;
        }
        scheme->bits += slice->bits;
        scheme->slice_count++;
        position += length;
    }
    if (scheme->bits < 1 || scheme->bits > 160) {
        return firn__fail(error, FIRN_ERANGE,
                          "the layout has %" PRIu32 " bits: an ID must have 1 to 160",
                          scheme->bits);
    }
    if (firn__scheme_role(scheme, FIRN_ROLE_TIME) >= 0 && scheme->tick_ns == 0) {
        scheme->tick_ns = 1000000;
    }
    int code = check_names(scheme, error);
    code = code == FIRN_OK ? check_fields(scheme, error) : code;
    if (code == FIRN_OK) {
        code = check_widths(scheme, error);
        code = code == FIRN_OK ? check_spelling(scheme, error) : code;
    }
    if (code == FIRN_OK) {
        derive(scheme);
    }
    return code;
}

/* Replaces the random field of time-random. */
static int change_digits(firn_scheme *scheme, const char *text, firn_error *error) {
    const char *position = text;
    if (firn__dated_digits(scheme->bits) == 0 || scheme->form != FIRN_FORM_DATED) {
        return firn__fail(error, FIRN_EUSAGE, "%s has no random digits: leave digits out",
                          scheme->name);
    }
    int digits = small_number(&position);
    if (digits < 1 || digits > FIRN__DATED_DIGITS || *position != '\0') {
        return firn__fail(error, FIRN_ERANGE, "digits=%.40s is out of range (1 to %d)", text,
                          FIRN__DATED_DIGITS);
    }
    *scheme = *firn__scheme_digits((uint32_t)digits);
    return FIRN_OK;
}

static int refuse_widths(const firn_scheme *scheme, const char *bits, firn_error *error) {
    char names[160] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < scheme->slice_count && length < sizeof names; i++) {
        if (scheme->slices[i].role != FIRN_ROLE_CONST) {
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length > 0 ? "/" : "", scheme->slices[i].name);
        }
    }
    return length == 0
               ? firn__fail(error, FIRN_EUSAGE, "%s has no fields: leave bits out", scheme->name)
               : firn__fail(
                     error, FIRN_EUSAGE,
                     "bits=%.40s is not valid: write one width per field of %s, as in %.160s", bits,
                     scheme->name, names);
}

/* Replaces the widths of the fields, most significant first. Their sum stays the same. */
static int change_bits(firn_scheme *scheme, const char *bits, firn_error *error) {
    uint32_t before = 0, after = 0, i = 0;
    const char *position = bits;
    for (; i < scheme->slice_count; i++) {
        firn_slice *slice = &scheme->slices[i];
        if (slice->role == FIRN_ROLE_CONST) {
            continue;
        }
        int width = small_number(&position);
        if (firn_scheme_first(scheme, i) != i || firn_scheme_width(scheme, i) != slice->bits ||
            slice->group != 0) {
            return firn__fail(
                error, FIRN_EUSAGE,
                "%s has a field in several slices: write a layout instead of bits=", scheme->name);
        }
        if (width < 1 || width > 64 || (*position != '/' && *position != '\0')) {
            return refuse_widths(scheme, bits, error);
        }
        before += slice->bits;
        after += (uint32_t)width;
        slice->bits = (uint8_t)width;
        position += position[0] == '/' && position[1] != '\0';
    }
    if (*position != '\0') {
        return refuse_widths(scheme, bits, error);
    }
    if (before != after) {
        return firn__fail(error, FIRN_ERANGE,
                          "bits=%.40s has %" PRIu32
                          " bits in all, but the fields of %s have %" PRIu32
                          ": write widths with the same sum",
                          bits, after, scheme->name, before);
    }
    scheme->packer = -1;
    return FIRN_OK;
}

static int unknown_scheme(const char *text, firn_error *error) {
    const char *names[64];
    size_t count = 0;
    for (const firn_scheme *known; count < 63 && (known = firn_scheme_at(count)) != NULL; count++) {
        names[count] = known->name;
    }
    names[count] = NULL;
    if (strcasecmp(text, "uuid") == 0 || strcasecmp(text, "guid") == 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "there is no scheme '%s': use uuid7, which sorts by time, or uuid4, "
                          "which is random",
                          text);
    }
    for (size_t i = 0; firn_text_format_at(i) != NULL; i++) {
        if (strcasecmp(text, firn_text_format_at(i)->name) == 0) {
            return firn__fail(error, FIRN_EUSAGE,
                              "'%s' is a format that firn reads, and not a scheme: show such an ID "
                              "without naming a scheme",
                              text);
        }
    }
    return firn__refuse_unknown(error, "there is", "no scheme", text, names, FIRN_CURE_LIST_SCHEMES,
                                NULL);
}

int firn_scheme_make(firn_scheme *scheme, const char *text, const char *epoch, const char *bits,
                     const char *digits, firn_error *error) {
    firn_scheme made;
    int code = FIRN_OK;
    const firn_scheme *known = firn_scheme_find(text);
    if (known != NULL) {
        made = *known;
    } else if (strchr(text, ':') == NULL) {
        return unknown_scheme(text, error);
    } else {
        code = read_layout(&made, text, error);
    }
    if (code == FIRN_OK && digits != NULL) {
        code = change_digits(&made, digits, error);
    }
    if (code == FIRN_OK && made.form == FIRN_FORM_DATED && (epoch != NULL || bits != NULL)) {
        code = firn__fail(error, FIRN_EUSAGE, "%s has no %s: leave %s out%s", made.name,
                          epoch != NULL ? "other epoch" : "other widths",
                          epoch != NULL ? "epoch" : "bits",
                          firn__dated_digits(made.bits) > 0 ? ", and use digits=1..18" : "");
    }
    if (code == FIRN_OK && bits != NULL) {
        code = change_bits(&made, bits, error);
        code = code == FIRN_OK ? check_widths(&made, error) : code;
    }
    if (code == FIRN_OK && epoch != NULL) {
        code = made.tick_ns == 0
                   ? firn__fail(error, FIRN_EUSAGE, "%s has no time: leave epoch out", made.name)
                   : read_epoch(&made, epoch, error);
    }
    if (code == FIRN_OK && !firn__scheme_times_fit(&made)) {
        char epoch_text[FIRN_TIME_SIZE];
        code = firn__fail(error, FIRN_ERANGE,
                          "%" PRIu32 " bits of seconds from %s reach beyond the year 292277026596: "
                          "use at most 62",
                          firn__scheme_role_width(&made, FIRN_ROLE_TIME),
                          firn_time_format(epoch_text, &made.epoch, 0));
    }
    if (code == FIRN_OK) {
        *scheme = made;
    }
    return code;
}

char *firn_scheme_layout(char text[FIRN_LAYOUT_SIZE], const firn_scheme *scheme) {
    size_t length = 0;
    bool dated = false;
    text[0] = '\0';
    for (uint32_t i = 0; i < scheme->slice_count && length < FIRN_LAYOUT_SIZE - 100; i++) {
        const firn_slice *slice = &scheme->slices[i];
        char *position = text + length;
        size_t room = FIRN_LAYOUT_SIZE - length;
        int n = snprintf(position, room, "%s%s", i > 0 ? " " : "", slice->name);
        if (slice->role == FIRN_ROLE_CONST) {
            n += snprintf(position + n, room - (size_t)n, "%s0x%" PRIx64, slice->name[0] ? "=" : "",
                          slice->value);
        } else if (slice->from != 0 ||
                   firn_scheme_width(scheme, firn_scheme_first(scheme, i)) != slice->bits) {
            n += snprintf(position + n, room - (size_t)n, "@%d", slice->from);
        }
        if (slice->group != 0) {
            n += snprintf(position + n, room - (size_t)n, "~%d", slice->group);
        }
        n += snprintf(position + n, room - (size_t)n, ":%d", slice->bits);
        if (slice->role == FIRN_ROLE_TIME && !dated) {
            char epoch[FIRN_TIME_SIZE];
            int digits = scheme->epoch.ns == 0 ? 0 : scheme->epoch.ns % 1000000 == 0 ? 3 : 9;
            n += snprintf(position + n, room - (size_t)n, "/%s@@%s", tick_name(scheme->tick_ns),
                          firn_time_format(epoch, &scheme->epoch, digits));
            dated = true;
        }
        length += (size_t)n;
    }
    return text;
}

char *firn__scheme_ns(char text[FIRN_NS_SIZE], const firn_scheme *scheme) {
    const firn_scheme *known = firn_scheme_find(scheme->name);
    char part[FIRN_LAYOUT_SIZE];
    if (known == NULL) {
        firn_scheme_layout(part, scheme);
        snprintf(text, FIRN_NS_SIZE, "%.*s", FIRN__NS_MOST, part);
        return text;
    }
    size_t length =
        (size_t)snprintf(text, FIRN_NS_SIZE, "%s", scheme->ns ? scheme->ns : scheme->name);
    if (firn_time_cmp(&known->epoch, &scheme->epoch) != 0) {
        firn_time_format(part, &scheme->epoch, scheme->epoch.ns == 0 ? 0 : 9);
        length += (size_t)snprintf(text + length, FIRN_NS_SIZE - length, "@%s", part);
    }
    for (uint32_t i = 0; scheme->packer < 0 && i < scheme->slice_count; i++) {
        if (scheme->slices[i].role != FIRN_ROLE_CONST) {
            length += (size_t)snprintf(text + length, FIRN_NS_SIZE - length, "/%d",
                                       scheme->slices[i].bits);
        }
    }
    return text;
}
