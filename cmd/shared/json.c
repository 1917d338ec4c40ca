/* SPDX-License-Identifier: MIT */
/* Objects a line each: see json.h. */
#include "json.h"

#include "object.h"

#include <math.h>
#include <stdlib.h>

void json_begin(void) {
    json_object_seed(1); /* jansson would draw a seed of the system, and reading is pure */
}

static int add_bytes(const char *bytes, size_t size, void *out) {
    output_bytes(out, bytes, size);
    return 0;
}

void json_line(output *out, json_t *object) {
    if (object == NULL || json_dump_callback(object, add_bytes, out, OBJECT_DUMP) != 0) {
        tell("firn: ", "out of memory: raise the memory limit of this process");
        exit(STATUS_IO);
    }
    output_bytes(out, "\n", 1);
    json_decref(object);
}

json_t *json_finite(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}
