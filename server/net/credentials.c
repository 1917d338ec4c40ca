/* SPDX-License-Identifier: MIT */
#include "credentials.h"

#include "errors.h"
#include "named_pipe.h"

#include <gnutls/abstract.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 16, LOADS_MAX = 10000 };

/* A certificate and its key. Replaced ones are never freed, because a session may still read them:
 * certificates change a few times a year, and equal files make no new one. */
typedef struct tls_identity {
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned length;
    gnutls_privkey_t key;
    gnutls_datum_t cert_bytes;
    struct tls_identity *before;
} tls_identity;

/* The authorities that may sign certificates of clients. Replaced lists are never freed either. */
typedef struct tls_authority {
    gnutls_x509_trust_list_t list;
    gnutls_datum_t bytes;
    struct tls_authority *before;
} tls_authority;

static tls_identity *_Atomic in_force;
static tls_authority *_Atomic signers; /* NULL: clients need no certificate */
static tls_authority *last_signers;    /* of all that were ever in force */
static atomic_ulong signer_changes;
static gnutls_certificate_credentials_t asks; /* shared; calls credentials_retrieve */
static gnutls_priority_t priorities;
static int loads;

static int refused(const char *path, int number, int code, firn_error *error) {
    return set_error(error, code, "cannot use %.100s: %s", path, gnutls_strerror(number));
}

/* ---- loading -------------------------------------------------------------------------------- */

static int load(gnutls_datum_t *bytes, const char *path, firn_error *error) {
    int code = refuse_named_pipe(path, error);
    int number = code == FIRN_OK ? gnutls_load_file(path, bytes) : 0;
    return number < 0 ? refused(path, number, FIRN_EIO, error) : code;
}

/* Does GnuTLS accept them as a pair? */
static int check_pair(const gnutls_datum_t *cert, const gnutls_datum_t *key, const char *cert_path,
                      const char *key_path, firn_error *error) {
    gnutls_certificate_credentials_t trial;
    int code = FIRN_OK;
    if (gnutls_certificate_allocate_credentials(&trial) != 0) {
        return out_of_memory(error);
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

static int import(tls_identity *identity, const gnutls_datum_t *cert, const gnutls_datum_t *key,
                  const char *cert_path, const char *key_path, firn_error *error) {
    identity->length = CHAIN_MAX;
    int number = gnutls_pcert_list_import_x509_raw(identity->chain, &identity->length, cert,
                                                   GNUTLS_X509_FMT_PEM, 0);
    if (number < 0) {
        identity->length = 0;
        return refused(cert_path, number, FIRN_EUSAGE, error);
    }
    number = gnutls_privkey_init(&identity->key);
    if (number == 0) {
        number = gnutls_privkey_import_x509_raw(identity->key, key, GNUTLS_X509_FMT_PEM, NULL, 0);
    }
    return number < 0 ? refused(key_path, number, FIRN_EUSAGE, error) : FIRN_OK;
}

static void free_identity(tls_identity *identity) {
    for (unsigned i = 0; i < identity->length; i++) {
        gnutls_pcert_deinit(&identity->chain[i]);
    }
    if (identity->key != NULL) {
        gnutls_privkey_deinit(identity->key);
    }
    gnutls_free(identity->cert_bytes.data);
    free(identity);
}

static int make_identity(tls_identity **out, const char *cert, const char *key, firn_error *error) {
    gnutls_datum_t secret = {NULL, 0};
    tls_identity *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return out_of_memory(error);
    }
    int code = load(&made->cert_bytes, cert, error);
    code = code == FIRN_OK ? load(&secret, key, error) : code;
    code = code == FIRN_OK ? check_pair(&made->cert_bytes, &secret, cert, key, error) : code;
    code = code == FIRN_OK ? import(made, &made->cert_bytes, &secret, cert, key, error) : code;
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

/* Prepares, once, the data that all sessions share. */
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

/* ---- who may sign ---------------------------------------------------------------------------- */

static void free_authority(tls_authority *authority) {
    if (authority->list != NULL) {
        gnutls_x509_trust_list_deinit(authority->list, 1);
    }
    gnutls_free(authority->bytes.data);
    free(authority);
}

static int make_authority(tls_authority **out, const char *path, firn_error *error) {
    tls_authority *made = calloc(1, sizeof *made);
    if (made == NULL || gnutls_x509_trust_list_init(&made->list, 0) != 0) {
        free(made);
        return out_of_memory(error);
    }
    int code = load(&made->bytes, path, error);
    if (code == FIRN_OK && gnutls_x509_trust_list_add_trust_mem(made->list, &made->bytes, NULL,
                                                                GNUTLS_X509_FMT_PEM, 0, 0) <= 0) {
        code = set_error(error, FIRN_EUSAGE,
                         "%.100s has no certificate in PEM: set tls_client_ca to the "
                         "certificates that signed the client certificates",
                         path);
    }
    if (code != FIRN_OK) {
        free_authority(made);
        return code;
    }
    *out = made;
    return FIRN_OK;
}

/* ---- checking and loading -------------------------------------------------------------------- */

static int check_set(const credential_files *files, firn_error *error) {
    if ((files->cert[0] == '\0') != (files->key[0] == '\0')) {
        return set_error(
            error, FIRN_EUSAGE,
            "only one of certificate and key is given: set both tls_cert and tls_key, or neither");
    }
    if (files->client_ca[0] != '\0' && files->cert[0] == '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "tls_client_ca needs TLS: set tls_cert and tls_key too");
    }
    return FIRN_OK;
}

static int make_both(tls_identity **own, tls_authority **signs, const credential_files *files,
                     firn_error *error) {
    int code = make_identity(own, files->cert, files->key, error);
    if (code == FIRN_OK && files->client_ca[0] != '\0') {
        code = make_authority(signs, files->client_ca, error);
        if (code != FIRN_OK) {
            free_identity(*own);
        }
    }
    return code;
}

int credentials_check(const credential_files *files, firn_error *error) {
    tls_identity *own = NULL;
    tls_authority *signs = NULL;
    int code = check_set(files, error);
    if (code != FIRN_OK || files->cert[0] == '\0') {
        return code;
    }
    code = make_both(&own, &signs, files, error);
    if (code == FIRN_OK) {
        free_identity(own);
    }
    if (signs != NULL) {
        free_authority(signs);
    }
    return code;
}

static bool same(const gnutls_datum_t *a, const gnutls_datum_t *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Both replace what is in force, unless the files are the same: equal certificates have equal
 * keys. */
static void put_in_force(tls_identity *own, tls_authority *signs) {
    tls_identity *own_before = atomic_load_explicit(&in_force, memory_order_seq_cst);
    tls_authority *signs_before = atomic_load_explicit(&signers, memory_order_seq_cst);
    if (own_before != NULL && same(&own_before->cert_bytes, &own->cert_bytes)) {
        free_identity(own);
    } else {
        own->before = own_before;
        atomic_store_explicit(&in_force, own, memory_order_release);
        loads++;
    }
    if (signs != NULL && signs_before != NULL && same(&signs_before->bytes, &signs->bytes)) {
        free_authority(signs);
    } else if (signs != signs_before) {
        if (signs != NULL) {
            signs->before = last_signers;
            last_signers = signs;
        }
        atomic_store_explicit(&signers, signs, memory_order_release);
        atomic_fetch_add_explicit(&signer_changes, 1, memory_order_seq_cst);
        loads++;
    }
}

int credentials_load(const credential_files *files, firn_error *error) {
    tls_identity *own = NULL;
    tls_authority *signs = NULL;
    int code = check_set(files, error);
    if (code != FIRN_OK || files->cert[0] == '\0') {
        return code;
    }
    if (loads >= LOADS_MAX) {
        return set_error(error, FIRN_ERANGE,
                         "%d certificates were loaded, the maximum: restart the server", LOADS_MAX);
    }
    code = prepare(error);
    code = code == FIRN_OK ? make_both(&own, &signs, files, error) : code;
    if (code == FIRN_OK) {
        put_in_force(own, signs);
    }
    return code;
}

/* ---- sessions ------------------------------------------------------------------------------- */

bool credentials_are_there(void) {
    return atomic_load_explicit(&in_force, memory_order_seq_cst) != NULL;
}

/* The client's chain ends at one that may sign, and is meant for clients. */
static int check_client(gnutls_session_t session) {
    tls_authority *now = atomic_load_explicit(&signers, memory_order_acquire);
    gnutls_typed_vdata_st purpose = {GNUTLS_DT_KEY_PURPOSE_OID,
                                     (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT, 0};
    gnutls_x509_crt_t chain[CHAIN_MAX];
    unsigned count = 0, length = 0, status = 1;
    const gnutls_datum_t *raw = gnutls_certificate_get_peers(session, &count);
    int number = GNUTLS_E_NO_CERTIFICATE_FOUND;
    if (now == NULL) { /* turned off during the handshake */
        return 0;
    }
    for (; length < count && length < CHAIN_MAX; length++) {
        if (gnutls_x509_crt_init(&chain[length]) != 0) {
            break;
        }
        if (gnutls_x509_crt_import(chain[length], &raw[length], GNUTLS_X509_FMT_DER) != 0) {
            gnutls_x509_crt_deinit(chain[length]);
            break;
        }
    }
    if (length > 0 && length == count) {
        number = gnutls_x509_trust_list_verify_crt2(now->list, chain, length, &purpose, 1, 0,
                                                    &status, NULL);
    }
    for (unsigned i = 0; i < length; i++) {
        gnutls_x509_crt_deinit(chain[i]);
    }
    return number == 0 && status == 0 ? 0 : GNUTLS_E_CERTIFICATE_ERROR;
}

/* The same within the handshake, which then ends with the alert: libmicrohttpd would send none. */
static int admit_client(gnutls_session_t session) {
    unsigned count = 0;
    int code = check_client(session);
    if (code != 0) {
        gnutls_certificate_get_peers(session, &count);
        gnutls_alert_send(session, GNUTLS_AL_FATAL,
                          count > 0 ? GNUTLS_A_BAD_CERTIFICATE
                          : gnutls_protocol_get_version(session) >= GNUTLS_TLS1_3
                              ? GNUTLS_A_CERTIFICATE_REQUIRED
                              : GNUTLS_A_HANDSHAKE_FAILURE);
    }
    return code;
}

unsigned long credentials_signer_changes(void) {
    return atomic_load_explicit(&signer_changes, memory_order_seq_cst);
}

bool credentials_accept(gnutls_session_t session, unsigned long *seen) {
    unsigned long now = credentials_signer_changes();
    if (*seen != now && check_client(session) != 0) {
        return false;
    }
    *seen = now;
    return true;
}

int credentials_retrieve(gnutls_session_t session, const gnutls_datum_t *names, int count,
                         const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                         gnutls_pcert_st **chain, unsigned *chain_length, gnutls_privkey_t *key) {
    tls_identity *now = atomic_load_explicit(&in_force, memory_order_acquire);
    (void)names, (void)count, (void)algorithms, (void)algorithm_count;
    if (now == NULL) {
        return -1;
    }
    if (atomic_load_explicit(&signers, memory_order_acquire) != NULL) {
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
        gnutls_session_set_verify_function(session, admit_client);
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
        return out_of_memory(error);
    }
    if (gnutls_priority_set(made, priorities) != 0 ||
        gnutls_credentials_set(made, GNUTLS_CRD_CERTIFICATE, asks) != 0) {
        gnutls_deinit(made);
        return out_of_memory(error);
    }
    *out = made;
    return FIRN_OK;
}
