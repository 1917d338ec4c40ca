/* SPDX-License-Identifier: MIT */
/* Which row of routes.def a path is. Decodes nothing, asks nothing. */
#include "routes.h"

#include "http_reply.h"
#include "leaf.h"
#include "metrics.h"

#include <string.h>

enum { READS, ISSUES };

/* The role that each verb needs and its counter, as constants: ROLE_OF_NEW, ... */
enum {
#define VERB_X(id, name, role, meter) ROLE_OF_##id = ROLE_##role, KIND_OF_##id = METER_##meter,
    VERBS(VERB_X)
#undef VERB_X
};

static const route routes[] = {
#define ASK(path, id, methods, writer, failer)                                                     \
    {path,   VERB_##id, KIND_OF_##id, (enum role)ROLE_OF_##id, methods == ISSUES,                  \
     writer, failer,    NULL},
#define PAGE(path, needs, maker)                                                                   \
    {path, VERB_COUNT, METER_OTHER, ROLE_##needs, false, NULL, NULL, maker},
#include "routes.def"
};

enum { ROUTE_COUNT = sizeof routes / sizeof *routes };

/* Does the path fit "/before/{name}/behind"? The name is at least one byte and holds no slash. */
static bool fits(const char *pattern, const char *path, word *name) {
    size_t before = strcspn(pattern, "{");
    if (strncmp(pattern, path, before) != 0) {
        return false;
    }
    if (pattern[before] == '\0') {
        *name = (word){"", 0};
        return path[before] == '\0';
    }
    const char *behind = strchr(pattern + before, '}') + 1;
    *name = (word){path + before, strcspn(path + before, "/")};
    return name->length > 0 && strcmp(path + before + name->length, behind) == 0;
}

const route *route_find(const char *path, word *name) {
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (fits(routes[i].path, path, name)) {
            return &routes[i];
        }
    }
    return NULL;
}
