/* SPDX-License-Identifier: MIT */
/* The types of GnuTLS that server/net/credentials.h names, for static programs, which have no
 * TLS. */
#ifndef FIRN_NO_GNUTLS_H
#define FIRN_NO_GNUTLS_H

typedef struct no_gnutls *gnutls_session_t, *gnutls_privkey_t;
typedef struct no_gnutls gnutls_datum_t, gnutls_pcert_st;
typedef int gnutls_pk_algorithm_t;

#endif
