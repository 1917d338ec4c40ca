/* SPDX-License-Identifier: MIT */
/* The result of choose.h as a JSON object, as `firn choose --json` and /v1/choose return it. */
#ifndef FIRN_CHOOSE_OBJECT_H
#define FIRN_CHOOSE_OBJECT_H

#include "choose.h"

#include <jansson.h>

/* `most`: of the schemes that fit. NULL: out of memory. The caller releases it. */
json_t *choose_object(const choose_result *result, const choose_answers *answers, size_t most);

#endif
