/* SPDX-License-Identifier: MIT */
/* FF1, from its module: see permutation.h. */
#include "permutation.h"

#include "error.h"
#include "module.h"

#include <string.h>

int firn__permutation_load(firn__permutation *permutation, const char *users, const char *dir,
                           firn_error *error) {
    char why[FIRN__MODULE_WHY];
    permutation->library = firn__module_open("ff1", dir, why);
    if (permutation->library == NULL) {
        return why[0] != '\0'
                   ? firn__fail(error, FIRN_ESYSTEM,
                                "%.16s need the module ff1, which cannot be loaded: %.95s: "
                                "install what it needs",
                                users, why)
                   : firn__fail(error, FIRN_ESYSTEM,
                                "%.16s need the module ff1, which is not installed in "
                                "%.40s: install the package libfirn-modules (Debian), or in firn's "
                                "source run ./run all, then make install",
                                users, firn__module_place());
    }
    const firn_cipher_ops *ops = firn__module_symbol(permutation->library, "firn_cipher_module");
    if (ops == NULL || ops->version != 2 || strcmp(ops->name, "ff1") != 0) {
        return firn__fail(error, FIRN_ESYSTEM,
                          "the module ff1 is of another version: install firn's own");
    }
    permutation->ops = ops;
    return FIRN_OK;
}

void firn__permutation_close(firn__permutation *permutation) {
    if (permutation->cipher != NULL) {
        permutation->ops->close(permutation->cipher);
    }
    if (permutation->library != NULL) {
        firn__module_close(permutation->library);
    }
}
