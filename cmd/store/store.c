/* SPDX-License-Identifier: MIT */
/* `firn store move FROM TO`: moves all reservations to another store. The work is in
 * common/closing_move.c. */
#include "closing.h"
#include "shared/operands.h"

#include <stdio.h>
#include <string.h>

/* A URL without user, password and parameters, except those by which one database has several
 * stores. */
static void show_url(char out[120], const char *url) {
    const char *slashes = strstr(url, "://");
    const char *text = slashes != NULL ? slashes + 3 : url;
    size_t length = strcspn(text, "?");
    const char *position = slashes != NULL ? memrchr(text, '@', length) : NULL;
    const char *rest = position != NULL ? position + 1 : text;
    size_t used = (size_t)snprintf(out, 120, "%.*s%.*s", (int)(text - url), url,
                                   (int)(text + length - rest), rest);
    for (const char *mark = text + length; *mark != '\0' && used < 120;) {
        const char *part = mark + 1;
        size_t size = strcspn(part, "&");
        if (strncmp(part, "table=", 6) == 0 || strncmp(part, "prefix=", 7) == 0) {
            used += (size_t)snprintf(out + used, 120 - used, "?%.*s", (int)size, part);
        }
        mark = part + size;
    }
}

static int move(session *s, const closing_end *from, const closing_end *to) {
    closing_moved moved;
    firn_error error;
    output_print(&s->out,
                 "The namespaces of %s are closed, and %s continues after their high-water "
                 "marks.\n"
                 "Processes that use %s issue IDs for the rest of their windows: restart them "
                 "with the new store.\n",
                 from->name, to->name, from->name);
    int status = confirm(s, "Move?", "add --yes to move");
    if (status != STATUS_DONE) {
        return status;
    }
    if (closing_move(from, to, &moved, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    output_print(&s->out, "moved %zu namespace%s with %zu high-water mark%s\n", moved.namespaces,
                 plural(moved.namespaces), moved.marks, plural(moved.marks));
    return STATUS_DONE;
}

int run_store(session *s) {
    char names[2][120];
    closing_end ends[2] = {{NULL, names[0]}, {NULL, names[1]}};
    int status = operands_split(s, 3, 3, 3, "move FROM TO");
    if (status == STATUS_DONE && strcmp(s->operands[0], "move") != 0) {
        return fail_usage(s, "'%.60s' is not a verb of store: use firn store move FROM TO",
                          s->operands[0]);
    }
    for (int i = 0; i < 2 && status == STATUS_DONE; i++) {
        show_url(names[i], s->operands[i + 1]);
        status = operand_store(s, &ends[i].store, s->operands[i + 1], i == 0);
    }
    if (status == STATUS_DONE) {
        status = move(s, &ends[0], &ends[1]);
    }
    for (int i = 0; i < 2; i++) {
        firn_store_close(ends[i].store);
    }
    return status;
}
