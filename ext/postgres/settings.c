/* SPDX-License-Identifier: MIT */
/* _PG_init, which runs when the server or a session loads the extension, and the settings:
 * firn.NAME in postgresql.conf and SET. */
#include "extension.h"

#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"

char *firn_setting_node;
char *firn_setting_history;
char *firn_setting_store;
char *firn_setting_database;
char *firn_setting_masks;
int firn_setting_max_wait_ms = 5000;
int firn_setting_max_nodes = FIRN_CELLS;
int firn_setting_max_shift_ms = 1000;
bool firn_setting_unsafe;
bool firn_setting_whole_pages;
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

static void note_masks(const char *value, void *extra) {
    (void)value, (void)extra;
    firn_masks_forget();
}

/* A longer value would be cut where it is compared with the nodes that firn stores may still
 * hold. */
static bool check_node(char **value, void **extra, GucSource source) {
    const size_t size = strlen(*value);
    (void)extra, (void)source;
    if (size >= FIRN_NODE_SIZE) {
        GUC_check_errdetail("firn.node has %zu bytes (at most %d).", size, FIRN_NODE_SIZE - 1);
        GUC_check_errhint("Write each field of the node once, or the node as one number.");
    }
    return size < FIRN_NODE_SIZE;
}

/* The postmaster reloads the settings first, so every process that has the new node can see here
 * that it is new. */
static void note_node(const char *value, void *extra) {
    note_text(value, extra);
    if (firn_slots != NULL && !IsUnderPostmaster && strcmp(value, firn_setting_node) != 0) {
        firn_shared_change_node(value);
    }
}

/* The view pg_settings reads also the settings that it leaves out, before PostgreSQL 16. */
static bool is_for_view(void) {
    const char *text = debug_query_string != NULL ? debug_query_string : "";
    return PG_VERSION_NUM < 160000 &&
           (firn_is_renewer || ((strcasestr(text, "pg_settings") != NULL ||
                                 strcasestr(text, "pg_show_all_settings") != NULL) &&
                                strcasestr(text, "firn.taken") == NULL));
}

/* Each reservation of a firn store in this server reads it (modules/postgres_taken.c): the nodes
 * that are this extension's, "NODE;HISTORY", and after a semicolon each, what other processes may
 * still take for firn.node. */
static const char *show_taken(void) {
    static char text[2048], nodes[FIRN_NODES * (FIRN_NODE_SIZE + 1)];
    if (firn_slots == NULL) {
        return "";
    }
    if (!is_for_view()) {
        pg_atomic_write_u64(&firn_slots->store_seen_ms, (uint64)firn_steady_ms());
    }
    firn_shared_list_nodes(nodes, sizeof nodes);
    snprintf(text, sizeof text, "%s;%s%s", firn_setting_node, firn_setting_history, nodes);
    return text;
}

static void define_taken(void) {
    static char *unused;
    DefineCustomStringVariable("firn.taken", "The nodes that firn stores in this server refuse.",
                               NULL, &unused, "", PGC_INTERNAL,
                               GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, NULL,
                               NULL, show_taken);
}

static void define(void) {
    /* PostgreSQL accepts a PGC_POSTMASTER setting only during its start. */
    GucContext start = firn_preloaded ? PGC_POSTMASTER : PGC_SIGHUP;
    DefineCustomStringVariable("firn.node", "The node of this server.",
                               "A number, or fields: datacenter=1 worker=3. No other server that "
                               "generates IDs for the same tables may have it.",
                               &firn_setting_node, "", PGC_SIGHUP, 0, check_node, note_node, NULL);
    DefineCustomStringVariable("firn.history", "Nodes for back-dated IDs: LOW-HIGH.",
                               "Each back-dating job takes one of them permanently.",
                               &firn_setting_history, "", PGC_SIGHUP, 0, NULL, note_text, NULL);
    DefineCustomStringVariable("firn.store", "URL of a firn store that gives each backend a node.",
                               "Instead of firn.node and shared_preload_libraries.",
                               &firn_setting_store, "", PGC_SUSET, GUC_SUPERUSER_ONLY, NULL,
                               note_text, NULL);
    DefineCustomStringVariable("firn.database", "The database that keeps the high-water marks.",
                               NULL, &firn_setting_database, "postgres", start, 0, NULL, NULL,
                               NULL);
    DefineCustomIntVariable(
        "firn.max_nodes",
        "Maximum number of pairs of namespace and node with IDs between two starts.",
        "Each takes 4 to 5 kB of shared memory.", &firn_setting_max_nodes, FIRN_CELLS, FIRN_CELLS,
        FIRN_CELLS_MOST, start, 0, NULL, NULL, NULL);
    DefineCustomStringVariable("firn.masks", "The file of the masks of firn_mask and firn_unmask.",
                               "Their key files are for the server's user alone.",
                               &firn_setting_masks, "", PGC_SIGHUP, GUC_SUPERUSER_ONLY, NULL,
                               note_masks, NULL);
    DefineCustomIntVariable("firn.max_wait", "Maximum time that one call waits for an ID.", NULL,
                            &firn_setting_max_wait_ms, 5000, 0, 3600000, PGC_USERSET, GUC_UNIT_MS,
                            NULL, NULL, NULL);
    DefineCustomIntVariable(
        "firn.max_shift",
        "Maximum time by which back-dated IDs of a full tick move into the future.", NULL,
        &firn_setting_max_shift_ms, 1000, 0, 86400000, PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
    DefineCustomBoolVariable("firn.unsafe",
                             "Accept a server or store that may lose acknowledged writes.", NULL,
                             &firn_setting_unsafe, false, PGC_SIGHUP, 0, NULL, note_flag, NULL);
    DefineCustomBoolVariable(
        "firn.whole_pages",
        "The file system never writes a part of a page: accept full_page_writes = off.",
        "True of ZFS with a recordsize of 8 KiB or more.", &firn_setting_whole_pages, false,
        PGC_SIGHUP, 0, NULL, NULL, NULL);
    if (firn_preloaded) {
        define_taken();
    }
    MarkGUCPrefixReserved("firn");
}

void firn_check_way(const firn_recipe *recipe, const char *setting) {
    bool store = firn_setting_store[0] != '\0';
    if (store && firn_setting_node[0] != '\0') {
        firn_refuse(FIRN_EUSAGE, "firn.store gives each backend its own node and firn.node "
                                 "is set: unset one of them");
    }
    if (!store && firn_slots == NULL) {
        firn_refuse(FIRN_EWINDOW,
                    "%s needs reserved slots: put firn into shared_preload_libraries, restart and "
                    "set %s, or set firn.store",
                    recipe->scheme.name, setting);
    }
}

/* ---- loading --------------------------------------------------------------------------------- */

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
void _PG_init(void) {
    firn_preloaded = process_shared_preload_libraries_in_progress;
    define();
    firn_counts_listen();
    if (firn_preloaded) {
        firn_shared_request();
        firn_background_register();
    }
}

FIRN_ENTRY(version, PointerGetDatum(cstring_to_text(firn_version())))
