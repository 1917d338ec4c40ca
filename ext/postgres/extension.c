/* SPDX-License-Identifier: MIT */
/* Where the server meets the extension: its settings, and what is asked for while it starts. */
#include "extension.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

char *firn_setting_node;
char *firn_setting_history;
char *firn_setting_store;
char *firn_setting_database;
int firn_setting_max_wait_ms = 5000;
int firn_setting_max_shift_ms = 1000;
bool firn_setting_unsafe;
bool firn_preloaded;
uint64 firn_settings_count;

static void note_text(const char *value, void *extra) {
    (void)value, (void)extra;
    firn_settings_count++;
}

static void note_flag(bool value, void *extra) {
    (void)value, (void)extra;
    firn_settings_count++;
}

static void define_settings(void) {
    /* A setting of the start can only be defined during it. */
    GucContext start = firn_preloaded ? PGC_POSTMASTER : PGC_SIGHUP;
    DefineCustomStringVariable("firn.node", "The node of this server.",
                               "A number, or fields: datacenter=1 worker=3. No other server that "
                               "makes IDs for the same tables has it.",
                               &firn_setting_node, "", PGC_SIGHUP, 0, NULL, note_text, NULL);
    DefineCustomStringVariable("firn.history", "Nodes for old rows: LOW-HIGH.",
                               "Each statement that back-dates takes one of them for good.",
                               &firn_setting_history, "", PGC_SIGHUP, 0, NULL, note_text, NULL);
    DefineCustomStringVariable("firn.store", "URL of a firn store that gives each backend a node.",
                               "Instead of firn.node and shared_preload_libraries.",
                               &firn_setting_store, "", PGC_SUSET, GUC_SUPERUSER_ONLY, NULL,
                               note_text, NULL);
    DefineCustomStringVariable("firn.database", "The database in which the marks are kept.", NULL,
                               &firn_setting_database, "postgres", start, 0, NULL, NULL, NULL);
    DefineCustomIntVariable("firn.max_wait_ms", "An ID is waited for at most this long.", NULL,
                            &firn_setting_max_wait_ms, 5000, 0, 3600000, PGC_USERSET, GUC_UNIT_MS,
                            NULL, NULL, NULL);
    DefineCustomIntVariable(
        "firn.max_shift_ms", "Old rows of a full tick move on by at most this much.", NULL,
        &firn_setting_max_shift_ms, 1000, 0, 86400000, PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
    DefineCustomBoolVariable("firn.unsafe", "Take a server or store that may lose what it wrote.",
                             NULL, &firn_setting_unsafe, false, PGC_SIGHUP, 0, NULL, note_flag,
                             NULL);
#if PG_VERSION_NUM >= 150000
    MarkGUCPrefixReserved("firn");
#else
    EmitWarningsOnPlaceholders("firn");
#endif
}

PGDLLEXPORT void _PG_init(void);
void _PG_init(void) {
    firn_preloaded = process_shared_preload_libraries_in_progress;
    define_settings();
    if (firn_preloaded) {
        firn_shared_request();
        firn_background_register();
    }
}

PG_FUNCTION_INFO_V1(firn_sql_version);
Datum firn_sql_version(PG_FUNCTION_ARGS) {
    PG_RETURN_TEXT_P(cstring_to_text(firn_version()));
}
