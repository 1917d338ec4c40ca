/* SPDX-License-Identifier: MIT */
/* IDs that are hashes of a namespace and a name, and the hashed start of a counter. The hash
 * functions are libmd's. */
#include "error.h"
#include "fields.h"

#include <md5.h>
#include <sha1.h>
#include <stdio.h>
#include <string.h>

/* RFC 9562 section 6.6: the standard namespaces differ in one byte. */
static const struct {
    const char *name;
    uint8_t byte;
} spaces[] = {{"dns", 0x10}, {"url", 0x11}, {"oid", 0x12}, {"x500", 0x14}};

static bool read_space(uint8_t out[20], const char *space) {
    static const uint8_t common[16] = {0x6b, 0xa7, 0xb8, 0x00, 0x9d, 0xad, 0x11, 0xd1,
                                       0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8};
    firn_id id;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (strcmp(spaces[i].name, space) == 0) {
            memcpy(out, common, sizeof common);
            out[3] = spaces[i].byte;
            return true;
        }
    }
    if (firn_parse(&id, FIRN_FORM_UUID, 128, space, strlen(space), NULL) != FIRN_OK) {
        return false;
    }
    firn_id_bytes(out, &id);
    return true;
}

int firn_digest(firn_id *id, const firn_scheme *scheme, const char *space, const void *name,
                size_t length, firn_error *error) {
    uint8_t namespace[20], digest[SHA1_DIGEST_LENGTH];
    firn_id whole;
    firn_fields fields = {0, {{0, 0}}};
    bool sha1 = scheme->hash == FIRN_HASH_SHA1;
    int field = firn__scheme_role(scheme, FIRN_ROLE_DIGEST);
    if (field < 0) {
        return firn__fail(error, FIRN_EUSAGE, "%s is not made from a name: use uuid3 or uuid5",
                          scheme->name);
    }
    if (!read_space(namespace, space)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "namespace=%.60s is not valid: use dns, url, oid, x500 or a UUID", space);
    }
    if (sha1) {
        SHA1_CTX context;
        SHA1Init(&context);
        SHA1Update(&context, namespace, 16);
        SHA1Update(&context, name, length);
        SHA1Final(digest, &context);
    } else {
        MD5_CTX context;
        MD5Init(&context);
        MD5Update(&context, namespace, 16);
        MD5Update(&context, name, length);
        MD5Final(digest, &context);
    }
    /* Version and variant replace 6 of the first 128 bits of the hash; the field is the other
     * 122. */
    firn_id_from_bytes(&whole, digest, 128, NULL);
    firn__fields_put(&fields, (uint32_t)field, firn__uuid_free(&whole));
    return firn_pack(id, scheme, &fields, error);
}

uint32_t firn_locality_start(const firn_time *time) {
    char text[FIRN_TIME_SIZE], hashed[16];
    uint8_t digest[MD5_DIGEST_LENGTH];
    MD5_CTX context;
    firn_time_format(text, time, 0); /* 2012-10-15T18:58:18Z gives 20121015185 */
    snprintf(hashed, sizeof hashed, "%.4s%.2s%.2s%.2s%.1s", text, text + 5, text + 8, text + 11,
             text + 14);
    MD5Init(&context);
    MD5Update(&context, (const uint8_t *)hashed, 11);
    MD5Final(digest, &context);
    return digest[0] | (uint32_t)digest[1] << 8 | (uint32_t)digest[2] << 16 |
           (uint32_t)digest[3] << 24;
}
