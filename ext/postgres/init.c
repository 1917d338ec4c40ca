/* SPDX-License-Identifier: MIT */
/* Where PostgreSQL meets the extension: what it does when the server, or a session, loads it. */
#include "extension.h"

#include "miscadmin.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
void _PG_init(void) {
    firn_preloaded = process_shared_preload_libraries_in_progress;
    firn_settings_define();
    if (firn_preloaded) {
        firn_shared_request();
        firn_background_register();
    }
}

PG_FUNCTION_INFO_V1(firn_sql_version);
Datum firn_sql_version(PG_FUNCTION_ARGS) {
    PG_RETURN_TEXT_P(cstring_to_text(firn_version()));
}
