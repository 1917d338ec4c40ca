/* SPDX-License-Identifier: MIT */
/* Fails each call of the etcd module: calls_store.h. */
#define CALLS_NEEDED "json_" /* no request is sent that lacks a part */
#define CALLERS      8
#define CALLS_DRIVER
#include "calls_store.h"

#include <curl/curl.h>
#include <gnutls/gnutls.h>
#include <jansson.h>

CALL(CURL *, curl_easy_init, (void), (), 1, NULL)
CALL(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text),
     (list, text), 1, NULL)
CALL(CURLcode, curl_easy_perform, (CURL * curl), (curl), 4, CURLE_COULDNT_CONNECT,
     CURLE_COULDNT_RESOLVE_HOST, CURLE_PEER_FAILED_VERIFICATION, CURLE_OUT_OF_MEMORY)
CALL(int, gnutls_base64_encode2, (const gnutls_datum_t *in, gnutls_datum_t *out), (in, out), 1, -1)

/* An error; or another record. */
CALL_BY_HAND(int, gnutls_base64_decode2, (const gnutls_datum_t *in, gnutls_datum_t *out)) {
    static const char *const records[] = {"",
                                          "1",
                                          "1 2",
                                          "x 2 3 4",
                                          "1 x 3 4",
                                          "1 2 x 4",
                                          "1 2 3 x",
                                          "9223372036854775807 2 3 4",
                                          "99999999999999999999 2 3 4"};
    enum { RECORDS = sizeof records / sizeof records[0] };
    int which = calls_answer("gnutls_base64_decode2", 1, RECORDS + 2);
    if (which <= 1) {
        return which == 1 ? -1 : __real_gnutls_base64_decode2(in, out);
    }
    size_t size = which == RECORDS + 2 ? 700 : strlen(records[which - 2]);
    out->data = gnutls_malloc(size + 1);
    assert_non_null(out->data);
    memset(out->data, 'x', size);
    memcpy(out->data, which == RECORDS + 2 ? "1 2 3 4" : records[which - 2],
           which == RECORDS + 2 ? 7 : size);
    out->size = (unsigned)size;
    return 0;
}

/* A status of HTTP that differs from the answer's. */
#undef curl_easy_getinfo
CALL_BY_HAND(CURLcode, curl_easy_getinfo, (CURL * curl, CURLINFO what, ...)) {
    va_list arguments;
    va_start(arguments, what);
    long *out = va_arg(arguments, long *);
    va_end(arguments);
    int which = calls_answer("curl_easy_getinfo", 2, 2);
    CURLcode code = __real_curl_easy_getinfo(curl, what, out);
    *out = which == 1 ? 404 : which == 2 ? 503 : *out;
    return code;
}

CALL(time_t, curl_getdate, (const char *text, const time_t *unused), (text, unused), 1, -1)
CALL(json_t *, json_object, (void), (), 1, NULL)
CALL(json_t *, json_array, (void), (), 1, NULL)
CALL(json_t *, json_string, (const char *text), (text), 1, NULL)
CALL(json_t *, json_stringn, (const char *text, size_t size), (text, size), 1, NULL)
CALL(char *, json_dumps, (const json_t *from, size_t flags), (from, flags), 1, NULL)
CALL(json_t *, json_loadb, (const char *text, size_t size, size_t flags, json_error_t *error),
     (text, size, flags, error), 1, NULL)

CALL_BY_HAND(json_t *, json_pack, (const char *format, ...)) {
    va_list arguments;
    va_start(arguments, format);
    json_t *made = json_vpack_ex(NULL, 0, format, arguments);
    va_end(arguments);
    if (calls_answer("json_pack", 1, 1) != 0) {
        json_decref(made);
        return NULL;
    }
    return made;
}

/* These functions own the value, even when they fail. */
CALL_BY_HAND(int, json_array_append_new, (json_t * array, json_t *value)) {
    if (calls_answer("json_array_append_new", 1, 1) != 0) {
        json_decref(value);
        return -1;
    }
    return __real_json_array_append_new(array, value);
}

/* Another value in the answer. The library's macros evaluate their argument twice, so both calls
 * return the same. */
CALL_BY_HAND(json_t *, json_object_get, (const json_t *object, const char *name)) {
    static const char *const texts[] = {"", "x", "-7", "99999999999999999999",
                                        "9223372036854775807"};
    enum { OTHERS = 2, TEXTS = sizeof texts / sizeof texts[0] };
    static json_t *told[1 + OTHERS + TEXTS];
    static const json_t *json;
    static char under[40];
    static int which, told_in;
    if (told[1] == NULL) {
        told[1] = json_integer(5);
        told[2] = json_true();
        for (int i = 0; i < TEXTS; i++) {
            told[1 + OTHERS + i] = __real_json_string(texts[i]);
        }
    }
    if (told_in != calls_number || json != object || strcmp(under, name) != 0) {
        told_in = calls_number;
        json = object;
        snprintf(under, sizeof under, "%s", name);
        which = calls_answer("json_object_get", 0, 1 + OTHERS + TEXTS);
    }
    return which == 0 ? __real_json_object_get(object, name) : told[which - 1];
}

static const calls_scenario scenarios[] = {
    {.title = "marks", .url = "?prefix=t"},
    {.title = "a new prefix", .url = "?prefix=t#", .ns = "n1", .list_all = true},
    {.title = "a login", .url = "?prefix=t", .host = "u:p@localhost", .ns = "n1"},
    {.title = "connections break", .url = "?prefix=t", .cut = true},
};

int main(int count, char **arguments) {
    return calls_main("etcd", "", scenarios, sizeof scenarios / sizeof scenarios[0],
                      count > 1 ? arguments[1] : NULL);
}
