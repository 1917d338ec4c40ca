/* SPDX-License-Identifier: MIT */
/* The law of src/law.c, for modules that decide without the engine: modules use nothing of libfirn. */
#include "module.h"

#define firn_error_set module_advise
#include "../src/law.c" // IWYU pragma: keep
