/* SPDX-License-Identifier: MIT */
/* Fuzzes what the etcd module reads: the JSON of its answers. One that begins with '!' has status
 * 400, with '#' 503; one that is empty is a connection that broke. */
#include "lying.h"

#include <curl/curl.h>

static void *lie_call; /* what the module hands to libcurl for the answer */
static long lie_status;

static CURLcode lie_perform(void);

static CURLcode lie_set(CURLoption option, uintptr_t value) {
    lie_call = option == CURLOPT_WRITEDATA ? (void *)value : lie_call;
    return CURLE_OK;
}

#undef curl_easy_setopt
#undef curl_easy_getinfo
#define curl_easy_setopt(curl, option, value) ((void)(curl), lie_set(option, (uintptr_t)(value)))
#define curl_easy_getinfo(curl, info, out)    ((void)(curl), *(out) = lie_status)
#define curl_easy_perform(curl)               ((void)(curl), lie_perform())
#define curl_easy_init()                      ((CURL *)malloc(1))
#define curl_easy_cleanup(curl)               free(curl)
#include "../modules/etcd.c"
#include "../modules/etcd_http.c"
#include "../modules/etcd_record.c"

static CURLcode lie_perform(void) {
    etcd_call *call = lie_call;
    size_t length = 0;
    char *text = lie_next(&length), date[] = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    lie_status = 0;
    if (text == NULL || begin_request(call, NULL, NULL, 0, 0) != CURL_PREREQFUNC_OK ||
        length == 0) {
        free(text);
        return CURLE_RECV_ERROR;
    }
    size_t from = text[0] == '!' || text[0] == '#';
    lie_status = text[0] == '!' ? 400 : text[0] == '#' ? 503 : 200;
    take_header(date, 1, strlen(date), call);
    size_t half = (length - from) / 2; /* the body comes in pieces */
    bool taken =
        take_answer(text + from, 1, half, call) == half &&
        take_answer(text + from + half, 1, length - from - half, call) == length - from - half;
    free(text);
    return taken ? CURLE_OK : CURLE_WRITE_ERROR;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    void *self = NULL;
    firn_error error = {0};
    const firn_store_options options = {.unsafe = true};
    if (size < 2) {
        return 0;
    }
    lie_begin(data + 2, size - 2);
    const char *url = (data[0] & 1) != 0 ? "etcd://u:" LIE_PASSWORD "@h,i" : "etcd://h";
    int code = etcd_open(&self, url, &options, &error);
    lie_told(code, &error);
    if (code == FIRN_OK) {
        lie_driven(&firn_store_driver, self, data[1]);
    }
    return 0;
}
