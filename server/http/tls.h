/*
 * What the daemon shows to TLS clients: a certificate chain and its private key, as PEM files hold
 * them. Each handshake takes them from the current snapshot, so that a renewed certificate is
 * used from the next SIGHUP on, without a connection being lost.
 *
 * Thread-safety: immutable.
 */
#ifndef MT_SERVER_HTTP_TLS_H
#define MT_SERVER_HTTP_TLS_H

#include "base/status.h"

#include <stdbool.h>

#include <gnutls/abstract.h>

struct mt_settings;
struct mt_tls;

/* Only TLS 1.2 and 1.3. The key only signs, and session secrets are never encrypted with it, so
 * that whoever gets the key later cannot decrypt recorded sessions. TLS 1.2 is limited to suites
 * that encrypt and authenticate in one step (AEAD), as all suites of 1.3 do: CBC suites have leaked
 * plaintext through the time that their padding takes (Lucky Thirteen). */
#define MT_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-MAC-ALL:+AEAD"

/* Memory that a TLS connection needs in addition: 14 KiB when idle, measured, and a record in each
 * direction. */
#define MT_TLS_CONNECTION_BYTES (48 * 1024)

#define MT_MAX_TLS_FILE_BYTES ((size_t)1 << 20)

/* *out is NULL where settings->tls_certificate and tls_key are empty. MT_INVALID where only one is
 * empty, where a file does not hold what it should, or where the key does not belong to the
 * certificate; statuses of mt_file_read. */
MT_MUST_CHECK enum mt_status mt_tls_open(const struct mt_settings *settings, struct mt_tls **out,
                                         struct mt_error *err);
/* tls may be NULL. The key is wiped from memory. */
void mt_tls_destroy(struct mt_tls *tls);

/* Whether users other than the file's own could read the private key. */
bool mt_tls_key_is_public(const struct mt_tls *tls);
/* Days until the certificate expires, rounded down; negative where it has expired. */
long mt_tls_days_left(const struct mt_tls *tls);

/* Does what gnutls_certificate_retrieve_function3 has to do; it makes copies, which GnuTLS
 * frees. */
int mt_tls_retrieve(const struct mt_tls *tls, gnutls_pcert_st **certificates,
                    unsigned *n_certificates, gnutls_privkey_t *key, unsigned *flags);

#endif
