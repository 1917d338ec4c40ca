/* SPDX-License-Identifier: MIT */
/* Objects a line each: see json.h. Decides only what is a number and what a string. */
#include "json.h"

#include "object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- IDs ------------------------------------------------------------------------------------ */

void json_put_id(output *out, const char *text, const firn_reading *readings, size_t count) {
    json_line(out, object_of_id(text, readings, count));
}

void json_put_text(output *out, const char *text, const firn_reading *readings, id_counts counts,
                   const id_matches *matches, bool all, bool named) {
    json_line(out, object_of_text(text, readings, counts, matches, all, named));
}

void json_put_error(output *out, const firn_error *error) {
    json_line(out, json_pack("{s:o}", "error", json_foreign(error->text)));
}

void json_put_scheme(output *out, const firn_scheme *scheme) {
    json_line(out, object_of_scheme(scheme));
}
