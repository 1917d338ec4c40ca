/* SPDX-License-Identifier: MIT */
#include "pure_verbs.h"

#include "describe.h"
#include "errors.h"

#include <string.h>

int pure_scheme(firn_scheme *scheme, const char *text, const char *epoch, const char *bits,
                const char *digits, firn_error *error) {
    int code = firn_scheme_make(scheme, text, epoch, bits, digits, error);
    return code == FIRN_ETEXT && epoch != NULL
               ? prefix_error(error, code, error, "epoch=%.60s: ", epoch)
               : code;
}

int pure_field(firn_fields *fields, const firn_scheme *scheme, const char *name, const char *value,
               firn_error *error) {
    int code = firn_fields_set(fields, scheme, name, value, error);
    return code == FIRN_ETEXT && strcmp(name, "time") == 0
               ? prefix_error(error, code, error, "time=%.60s: ", value)
               : code;
}

static int read_time(firn_time *time, const char *name, const char *text, size_t length,
                     firn_error *error) {
    int code = firn_time_parse(time, text, length, error);
    return code == FIRN_OK ? code
                           : prefix_error(error, code, error, "%s '%.*s': ", name,
                                          (int)(length < 60 ? length : 60), text);
}

int pure_time(firn_time *time, const char *text, size_t length, firn_error *error) {
    return read_time(time, "the time", text, length, error);
}

int pure_named_time(firn_time *time, const char *name, const char *text, firn_error *error) {
    return read_time(time, name, text, strlen(text), error);
}

/* ---- forms ----------------------------------------------------------------------------------- */

int pure_form(int *form, const char *name, firn_error *error) {
    const char *names[FIRN_FORM_COUNT + 1] = {NULL};
    char advice[ADVICE_SIZE];
    *form = firn_form_find(name);
    if (*form >= 0) {
        return FIRN_OK;
    }
    for (int i = 0; i < FIRN_FORM_COUNT; i++) {
        names[i] = firn_form_name(i);
    }
    return set_error(error, FIRN_EUSAGE, "there is no form '%.40s': %s", name,
                     did_you_mean(advice, firn_nearest(name, names), "use " FORM_NAMES));
}

int pure_form_check(int form, const firn_scheme *scheme, uint32_t bits, firn_error *error) {
    if (firn_form_width(form, bits) == 0) {
        return set_error(error, FIRN_EUSAGE, "an ID of %u bits has no form %s: use another form",
                         (unsigned)bits, firn_form_name(form));
    }
    return scheme == NULL || form != FIRN_FORM_DATED || scheme->form == FIRN_FORM_DATED
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "the form dated applies to time-random and time-member, not %s: use "
                           "another form",
                           scheme->name);
}

int pure_form_refuse(int form, firn_error *error) {
    return set_error(error, FIRN_EMISMATCH,
                     "this ID has no form %s, because its time or its digits are out of range: use "
                     "another form",
                     firn_form_name(form));
}

int pure_prefix(char prefix[FIRN_PREFIX_SIZE], int form, const char *text, size_t length,
                firn_error *error) {
    if (form != FIRN_FORM_TYPEID) {
        return set_error(error, FIRN_EUSAGE,
                         "prefix=%.*s applies to the form typeid, not %s: leave it out, or use "
                         "that form",
                         (int)(length < 64 ? length : 64), text,
                         form < 0 ? "numbers" : firn_form_name(form));
    }
    int code = firn_prefix_check(text, length, error);
    if (code == FIRN_OK) {
        memcpy(prefix, text, length);
        prefix[length] = '\0';
    }
    return code;
}

/* ---- pack and range -------------------------------------------------------------------------- */

int pure_keyed_check(const firn_scheme *scheme, const char *words, firn_error *error) {
    return scheme->keyed
               ? set_error(error, FIRN_EUSAGE, "%s needs a key: use firn %s %s --key-file FILE",
                           scheme->name, words, scheme->name)
               : FIRN_OK;
}

int pure_pack(firn_id *id, const firn_scheme *scheme, const firn_fields *fields,
              firn_error *error) {
    int code = pure_keyed_check(scheme, "pack", error);
    return code == FIRN_OK ? firn_pack(id, scheme, fields, error) : code;
}

const char *pure_pack_note(const firn_scheme *scheme, int form, const firn_id *id) {
    return form == FIRN_FORM_DEC && scheme->sorts != FIRN_SORTS_NO && id->bits == 64 &&
                   id->low > INT64_MAX
               ? "this ID is negative as a signed number, and sorts before IDs of earlier times: "
                 "use the form unsigned or hex"
               : NULL;
}

int pure_range(firn_id *least, firn_id *greatest, const firn_scheme *scheme, int form,
               const firn_fields *pinned, const firn_time *from, const firn_time *to,
               firn_error *error) {
    if (form == FIRN_FORM_DATED && scheme->node_rule == FIRN_NODE_REQUIRED) {
        return set_error(error, FIRN_EUNSORTED,
                         "IDs of %s have texts of several lengths, so texts cannot bound a range: "
                         "compare their first 17 digits, or use the form hex",
                         scheme->name);
    }
    if (!describe_is_sorted(form)) {
        return set_error(error, FIRN_EUNSORTED,
                         "texts in %s do not sort as their IDs do: use another form, such as hex",
                         firn_form_name(form));
    }
    /* The library refuses numbers that become negative. */
    const firn_scheme written = form >= 0 ? describe_as(scheme, form) : *scheme;
    return firn_range(least, greatest, &written, pinned, from, to, error);
}

int pure_span(firn_id *least, firn_id *greatest, const firn_scheme *scheme, int form,
              const firn_fields *pinned, const firn_time *from, const firn_time *to,
              firn_error *error) {
    int code = pure_range(least, greatest, scheme, form, pinned, from, to, error);
    uint64_t tick;
    if (code != FIRN_ELAYOUT || error->cure != FIRN_CURE_OTHER_SCHEME) {
        return code;
    }
    const bool early = firn_scheme_tick(scheme, from, &tick, NULL) != FIRN_OK;
    return prefix_error(error, code, error, "%s ", early ? "FROM" : "TO");
}

/* ---- convert --------------------------------------------------------------------------------- */

int pure_target_find(pure_target *target, const char *name, firn_error *error) {
    target->form = firn_form_find(name);
    return target->form >= 0 ||
                   firn_scheme_make(&target->scheme, name, NULL, NULL, NULL, error) == FIRN_OK
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "'%.30s' is neither a form nor a scheme: use a scheme, " FORM_NAMES,
                           name);
}

int pure_convert(firn_id *id, const pure_target *target, const firn_reading *readings,
                 id_counts counts, const char *text, const char *cure, firn_error *error) {
    *id = readings[0].id;
    int code = target->form >= 0
                   ? readings_certain(readings, counts, cure, error)
                   : readings_convert(id, &target->scheme, readings, counts, cure, error);
    if (code != FIRN_OK) {
        return prefix_error(error, code, error, "'%.50s'%s: ", text,
                            strlen(text) > 50 ? "..." : "");
    }
    return target->form >= 0 ? pure_form_check(target->form, NULL, id->bits, error) : FIRN_OK;
}
