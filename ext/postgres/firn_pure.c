/* SPDX-License-Identifier: MIT */
/* The extension firn_pure: what firn does without nodes. It replaces settings.c, shared.c and
 * issuer.c: no setting, no shared memory, no table, no other process, so the owner of a database may
 * create it. */
#include "extension.h"

#include "utils/builtins.h"

char *firn_setting_node = "";
char *firn_setting_store = "";
int firn_setting_max_wait_ms = 5000;
bool firn_setting_unsafe;
uint64 firn_settings_count;
firn_shared *firn_slots;

PG_MODULE_MAGIC;

FIRN_ENTRY(version, PointerGetDatum(cstring_to_text(firn_version())))

void firn_check_way(const firn_recipe *recipe, const char *setting) {
    (void)setting;
    firn_refuse(FIRN_EWINDOW,
                "%.60s has a node, and firn_pure issues only schemes without a node: use the "
                "extension firn, or a scheme such as uuid7",
                recipe->scheme.name);
}

/* firn_check_way refuses what would need an issuer. */
void firn_issuer_open(firn_issuer *issuer, const firn_recipe *recipe) {
    (void)issuer;
    firn_check_way(recipe, "");
}

void firn_issuer_close(firn_issuer *issuer) {
    (void)issuer;
}

void firn_issuer_next(firn_issuer *issuer, firn_id *id) {
    (void)issuer, (void)id;
    pg_unreachable();
}
