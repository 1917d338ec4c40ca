/* SPDX-License-Identifier: MIT */
/* The functions of util-linux's libuuid, by firn: with LD_PRELOAD, or linked in its place. The
 * names, types and results are as in <uuid/uuid.h>, version 2.38 and later; README.md says what
 * differs. Any thread may call each function, also in a forked child, which never repeats a UUID of
 * its parent. */
#include <firn/firn.h>

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define UUID   16

typedef unsigned char uuid_t[UUID];

enum { VARIANT_NCS, VARIANT_DCE, VARIANT_MICROSOFT, VARIANT_OTHER }; /* as UUID_VARIANT_... */

/* ---- generators ------------------------------------------------------------------------------ */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static firn_gen *by_time, *by_random; /* one of each for the life of the process */

/* libuuid's functions cannot fail. A UUID that might not be unique is not an answer either, so the
 * process ends. */
static void fail(const firn_error *error) {
    fprintf(stderr, "libfirn-uuid: %s\n", error->text);
    abort();
}

static void open_both(void) {
    firn_error error;
    if (firn_open(&by_time, "uuid1", "full=wait", &error) != FIRN_OK ||
        firn_open(&by_random, "uuid4", "", &error) != FIRN_OK) {
        fail(&error);
    }
}

static void put(uuid_t out, const firn_id *id) {
    uint8_t bytes[20];
    firn_id_bytes(bytes, id);
    memcpy(out, bytes, UUID);
}

static void generate(bool timed, uuid_t out) {
    firn_error error;
    firn_id id;
    pthread_once(&once, open_both);
    if (firn_next(timed ? by_time : by_random, &id, &error) != FIRN_OK) {
        fail(&error);
    }
    put(out, &id);
}

EXPORT void uuid_generate_random(uuid_t out) {
    generate(false, out);
}

EXPORT void uuid_generate(uuid_t out) {
    generate(false, out);
}

EXPORT void uuid_generate_time(uuid_t out) {
    generate(true, out);
}

/* 0: no other process uses this clock sequence and node. Both are random here, 61 bits in all, and
 * new after a fork. */
EXPORT int uuid_generate_time_safe(uuid_t out) {
    generate(true, out);
    return 0;
}

EXPORT void uuid_generate_time_v6(uuid_t out) {
    firn_id id, converted;
    firn_error error;
    generate(true, out);
    firn_id_from_bytes(&id, out, 128, NULL);
    if (firn_convert(&converted, firn_scheme_find("uuid6"), &id, firn_scheme_find("uuid1"),
                     &error) != FIRN_OK) {
        fail(&error);
    }
    put(out, &converted);
}

static pthread_once_t once_v7 = PTHREAD_ONCE_INIT;
static firn_gen *by_ms;

static void open_v7(void) {
    firn_error error;
    if (firn_open(&by_ms, "uuid7", "full=wait", &error) != FIRN_OK) {
        fail(&error);
    }
}

EXPORT void uuid_generate_time_v7(uuid_t out) {
    firn_error error;
    firn_id id;
    pthread_once(&once_v7, open_v7);
    if (firn_next(by_ms, &id, &error) != FIRN_OK) {
        fail(&error);
    }
    put(out, &id);
}

static void digest(const char *scheme, uuid_t out, const uuid_t space, const char *name,
                   size_t length) {
    char text[FIRN_TEXT_SIZE];
    firn_error error;
    firn_id id;
    firn_id_from_bytes(&id, space, 128, NULL);
    if (firn_digest(&id, firn_scheme_find(scheme), firn_format(text, &id, FIRN_FORM_UUID), name,
                    length, &error) != FIRN_OK) {
        fail(&error);
    }
    put(out, &id);
}

EXPORT void uuid_generate_md5(uuid_t out, const uuid_t space, const char *name, size_t length) {
    digest("uuid3", out, space, name, length);
}

EXPORT void uuid_generate_sha1(uuid_t out, const uuid_t space, const char *name, size_t length) {
    digest("uuid5", out, space, name, length);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

EXPORT void uuid_clear(uuid_t uuid) {
    memset(uuid, 0, UUID);
}

EXPORT void uuid_copy(uuid_t to, const uuid_t from) {
    memcpy(to, from, UUID);
}

EXPORT int uuid_compare(const uuid_t a, const uuid_t b) {
    int order = memcmp(a, b, UUID);
    return (order > 0) - (order < 0);
}

EXPORT int uuid_is_null(const uuid_t uuid) {
    static const uuid_t null;
    return memcmp(uuid, null, UUID) == 0;
}

EXPORT int uuid_type(const uuid_t uuid) {
    return uuid[6] >> 4;
}

EXPORT int uuid_variant(const uuid_t uuid) {
    return uuid[8] < 0x80   ? VARIANT_NCS
           : uuid[8] < 0xc0 ? VARIANT_DCE
           : uuid[8] < 0xe0 ? VARIANT_MICROSOFT
                            : VARIANT_OTHER;
}

/* Versions 1, 6 and 7. Others have no time: -1. */
EXPORT time_t uuid_time(const uuid_t uuid, struct timeval *out) {
    static const char *const names[16] = {[1] = "uuid1", [6] = "uuid6", [7] = "uuid7"};
    const char *name = names[uuid_type(uuid)];
    firn_time time = {-1, -1000};
    firn_fields fields;
    firn_id id;
    firn_id_from_bytes(&id, uuid, 128, NULL);
    if (name != NULL && firn_unpack(&fields, firn_scheme_find(name), &id, NULL) == FIRN_OK) {
        const firn_scheme *scheme = firn_scheme_find(name);
        firn_scheme_time(scheme, fields.value[firn_scheme_field(scheme, "time")].low, &time);
    }
    if (out != NULL) {
        out->tv_sec = time.sec;
        out->tv_usec = time.ns / 1000;
    }
    return time.sec;
}

#ifdef __LP64__
/* The function that uuid.h of libuuid 2.40 declares as uuid_time where time_t has 64 bits. */
EXPORT time_t uuid_time64(const uuid_t uuid, struct timeval *out)
    __attribute__((alias("uuid_time")));
#endif

/* ---- text ------------------------------------------------------------------------------------ */

EXPORT int uuid_parse_range(const char *from, const char *to, uuid_t out) {
    firn_id id;
    if (firn_parse(&id, FIRN_FORM_UUID, 128, from, (size_t)(to - from), NULL) != FIRN_OK) {
        return -1;
    }
    put(out, &id);
    return 0;
}

EXPORT int uuid_parse(const char *text, uuid_t out) {
    return uuid_parse_range(text, text + strlen(text), out);
}

EXPORT void uuid_unparse_lower(const uuid_t uuid, char *out) {
    char text[FIRN_TEXT_SIZE];
    firn_id id;
    firn_id_from_bytes(&id, uuid, 128, NULL);
    memcpy(out, firn_format(text, &id, FIRN_FORM_UUID), 37);
}

EXPORT void uuid_unparse(const uuid_t uuid, char *out) {
    uuid_unparse_lower(uuid, out);
}

EXPORT void uuid_unparse_upper(const uuid_t uuid, char *out) {
    uuid_unparse_lower(uuid, out);
    for (; *out != '\0'; out++) {
        *out = (char)toupper((unsigned char)*out);
    }
}

/* ---- the namespaces of RFC 9562 -------------------------------------------------------------- */

#define SPACE(x)                                                                                   \
    { 0x6b, 0xa7, 0xb8, x, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8 }

/* NULL: no such name. The result is static. */
EXPORT const uuid_t *uuid_get_template(const char *alias) {
    static const struct {
        const char *name;
        uuid_t uuid;
    } spaces[] = {{"dns", SPACE(0x10)},
                  {"url", SPACE(0x11)},
                  {"oid", SPACE(0x12)},
                  {"x500", SPACE(0x14)},
                  {"x.500", SPACE(0x14)}};
    for (size_t i = 0; alias != NULL && i < sizeof spaces / sizeof spaces[0]; i++) {
        if (strcmp(alias, spaces[i].name) == 0) {
            return &spaces[i].uuid;
        }
    }
    return NULL;
}
