/* SPDX-License-Identifier: MIT */
#include "credentials.h"

#include "fault.h"

#include <gnutls/abstract.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 16, LOADS_MAX = 10000 };

/* A certificate and its key. Replaced ones are never freed, because a session may still read them:
 * certificates change a few times a year, and equal files make no new one. */
typedef struct identity {
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned length;
    gnutls_privkey_t key;
    gnutls_datum_t cert_bytes;
    struct identity *before;
} identity;

static identity *_Atomic in_force;
static gnutls_certificate_credentials_t asks; /* shared; calls credentials_retrieve */
static gnutls_priority_t priorities;
static int loads;

static int refused(const char *path, int number, int code, firn_error *error) {
    return set_error(error, code, "cannot use %.100s: %s", path, gnutls_strerror(number));
}

/* ---- loading -------------------------------------------------------------------------------- */

/* Does GnuTLS accept them as a pair? */
static int check_pair(const gnutls_datum_t *cert, const gnutls_datum_t *key, const char *cert_path,
                      const char *key_path, firn_error *error) {
    gnutls_certificate_credentials_t trial;
    int code = FIRN_OK;
    if (gnutls_certificate_allocate_credentials(&trial) != 0) {
        return set_error(error, FIRN_EMEMORY,
                         "out of memory: raise the memory limit of this process");
    }
    int number = gnutls_certificate_set_x509_key_mem(trial, cert, key, GNUTLS_X509_FMT_PEM);
    if (number == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) {
        code = set_error(error, FIRN_EUSAGE,
                         "%.80s is not the private key of %.80s: use the key of this certificate",
                         key_path, cert_path);
    } else if (number < 0) {
        code = set_error(error, FIRN_EUSAGE,
                         "%.60s and %.60s are not a certificate and a key in PEM: %s", cert_path,
                         key_path, gnutls_strerror(number));
    }
    gnutls_certificate_free_credentials(trial);
    return code;
}

static int import(identity *to, const gnutls_datum_t *cert, const gnutls_datum_t *key,
                  const char *cert_path, const char *key_path, firn_error *error) {
    to->length = CHAIN_MAX;
    int number =
        gnutls_pcert_list_import_x509_raw(to->chain, &to->length, cert, GNUTLS_X509_FMT_PEM, 0);
    if (number < 0) {
        to->length = 0;
        return refused(cert_path, number, FIRN_EUSAGE, error);
    }
    number = gnutls_privkey_init(&to->key);
    if (number == 0) {
        number = gnutls_privkey_import_x509_raw(to->key, key, GNUTLS_X509_FMT_PEM, NULL, 0);
    }
    return number < 0 ? refused(key_path, number, FIRN_EUSAGE, error) : FIRN_OK;
}

static void free_identity(identity *it) {
    for (unsigned i = 0; i < it->length; i++) {
        gnutls_pcert_deinit(&it->chain[i]);
    }
    if (it->key != NULL) {
        gnutls_privkey_deinit(it->key);
    }
    gnutls_free(it->cert_bytes.data);
    free(it);
}

static int make_identity(identity **out, const char *cert, const char *key, firn_error *error) {
    gnutls_datum_t secret = {NULL, 0};
    identity *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return set_error(error, FIRN_EMEMORY,
                         "out of memory: raise the memory limit of this process");
    }
    int code = FIRN_OK, number = gnutls_load_file(cert, &made->cert_bytes);
    if (number < 0) {
        code = refused(cert, number, FIRN_EIO, error);
    } else if ((number = gnutls_load_file(key, &secret)) < 0) {
        code = refused(key, number, FIRN_EIO, error);
    } else {
        code = check_pair(&made->cert_bytes, &secret, cert, key, error);
        code = code == FIRN_OK ? import(made, &made->cert_bytes, &secret, cert, key, error) : code;
    }
    if (secret.data != NULL) {
        gnutls_memset(secret.data, 0, secret.size);
        gnutls_free(secret.data);
    }
    if (code != FIRN_OK) {
        free_identity(made);
        return code;
    }
    *out = made;
    return FIRN_OK;
}

/* What all sessions share; once. */
static int prepare(firn_error *error) {
    if (asks != NULL) {
        return FIRN_OK;
    }
    if (gnutls_priority_init(&priorities, TLS_PRIORITIES, NULL) != 0 ||
        gnutls_certificate_allocate_credentials(&asks) != 0) {
        return set_error(error, FIRN_ESYSTEM,
                         "GnuTLS refuses TLS 1.2 and 1.3: check its policy file");
    }
    gnutls_certificate_set_retrieve_function2(asks, credentials_retrieve);
    return FIRN_OK;
}

static bool is_alone(const char *cert, const char *key) {
    return (cert[0] == '\0') != (key[0] == '\0');
}

int credentials_check(const char *cert, const char *key, firn_error *error) {
    identity *made = NULL;
    if (is_alone(cert, key)) {
        return set_error(
            error, FIRN_EUSAGE,
            "only one of certificate and key is given: set both tls_cert and tls_key, or neither");
    }
    int code = cert[0] != '\0' ? make_identity(&made, cert, key, error) : FIRN_OK;
    if (made != NULL) {
        free_identity(made);
    }
    return code;
}

int credentials_load(const char *cert, const char *key, firn_error *error) {
    identity *made = NULL, *before = atomic_load(&in_force);
    if (is_alone(cert, key) || cert[0] == '\0') {
        return credentials_check(cert, key, error);
    }
    int code = prepare(error);
    code = code == FIRN_OK ? make_identity(&made, cert, key, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    if (before != NULL && before->cert_bytes.size == made->cert_bytes.size &&
        memcmp(before->cert_bytes.data, made->cert_bytes.data, made->cert_bytes.size) == 0) {
        free_identity(made); /* equal certificates have equal keys */
        return FIRN_OK;
    }
    if (loads == LOADS_MAX) {
        free_identity(made);
        return set_error(error, FIRN_ERANGE, "%d certificates were loaded: restart the server",
                         LOADS_MAX);
    }
    loads++;
    made->before = before;
    atomic_store_explicit(&in_force, made, memory_order_release);
    return FIRN_OK;
}

/* ---- sessions ------------------------------------------------------------------------------- */

bool credentials_are_there(void) {
    return atomic_load(&in_force) != NULL;
}

int credentials_retrieve(gnutls_session_t session, const gnutls_datum_t *names, int count,
                         const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                         gnutls_pcert_st **chain, unsigned *chain_length, gnutls_privkey_t *key) {
    identity *now = atomic_load_explicit(&in_force, memory_order_acquire);
    (void)session, (void)names, (void)count, (void)algorithms, (void)algorithm_count;
    if (now == NULL) {
        return -1;
    }
    *chain = now->chain;
    *chain_length = now->length;
    *key = now->key;
    return 0;
}

int credentials_session(gnutls_session_t *out, firn_error *error) {
    gnutls_session_t made;
    int number = gnutls_init(&made, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);
    if (number != 0) {
        return set_error(error, FIRN_EMEMORY,
                         "out of memory: raise the memory limit of this process");
    }
    if (gnutls_priority_set(made, priorities) != 0 ||
        gnutls_credentials_set(made, GNUTLS_CRD_CERTIFICATE, asks) != 0) {
        gnutls_deinit(made);
        return set_error(error, FIRN_EMEMORY,
                         "out of memory: raise the memory limit of this process");
    }
    *out = made;
    return FIRN_OK;
}
