#include "server/http/tls.h"

#include "base/file.h"
#include "config/settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

/* Most certificates in a chain: the server's own and those of its issuers. */
#define MAX_CHAIN 16
#define SECONDS_PER_DAY 86400

struct mt_tls {
    char *certificate, *key; /* PEM */
    size_t certificate_length, key_length;
    bool key_is_public;
    time_t expires;
};

static gnutls_datum_t datum(char *bytes, size_t length)
{
    return (gnutls_datum_t){.data = (unsigned char *)bytes, .size = (unsigned)length};
}

/* Whether the certificate and the key can be read and belong together. */
static enum mt_status check_pair(const struct mt_tls *tls, const struct mt_settings *settings,
                                 struct mt_error *err)
{
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t certificate = datum(tls->certificate, tls->certificate_length);
    gnutls_datum_t key = datum(tls->key, tls->key_length);
    if (gnutls_certificate_allocate_credentials(&credentials) != 0)
        return mt_fail_memory(err, 0, "TLS credentials");
    int code =
        gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    if (code >= 0)
        return MT_OK;
    return mt_fail(err, MT_INVALID, "tls_certificate %s, tls_key %s: %s", settings->tls_certificate,
                   settings->tls_key, gnutls_strerror(code));
}

static enum mt_status read_chain(struct mt_tls *tls, const char *path, struct mt_error *err)
{
    gnutls_x509_crt_t chain[MAX_CHAIN];
    unsigned n = MAX_CHAIN;
    gnutls_datum_t pem = datum(tls->certificate, tls->certificate_length);
    int code = gnutls_x509_crt_list_import(chain, &n, &pem, GNUTLS_X509_FMT_PEM,
                                           GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED);
    if (code < 0)
        return mt_fail(err, MT_INVALID,
                       "tls_certificate %s: expected 1 to %d certificates in PEM: %s", path,
                       MAX_CHAIN, gnutls_strerror(code));
    tls->expires = gnutls_x509_crt_get_expiration_time(chain[0]);
    for (unsigned i = 0; i < n; i++)
        gnutls_x509_crt_deinit(chain[i]);
    return MT_OK;
}

static enum mt_status read_files(struct mt_tls *tls, const struct mt_settings *settings,
                                 struct mt_error *err)
{
    struct stat st;
    enum mt_status status = mt_file_read(settings->tls_certificate, MT_MAX_TLS_FILE_BYTES,
                                         &tls->certificate, &tls->certificate_length, err);
    if (status)
        return mt_fail_in(err, status, "tls_certificate");
    status =
        mt_file_read(settings->tls_key, MT_MAX_TLS_FILE_BYTES, &tls->key, &tls->key_length, err);
    if (status)
        return mt_fail_in(err, status, "tls_key");
    tls->key_is_public = stat(settings->tls_key, &st) == 0 && (st.st_mode & S_IROTH) != 0;
    status = read_chain(tls, settings->tls_certificate, err);
    return status ? status : check_pair(tls, settings, err);
}

enum mt_status mt_tls_open(const struct mt_settings *settings, struct mt_tls **out,
                           struct mt_error *err)
{
    bool has_certificate = settings->tls_certificate[0] != '\0';
    bool has_key = settings->tls_key[0] != '\0';
    *out = NULL;
    if (has_certificate != has_key)
        return mt_fail(err, MT_INVALID, "%s is empty, but %s is not: TLS takes both",
                       has_key ? "tls_certificate" : "tls_key",
                       has_key ? "tls_key" : "tls_certificate");
    if (!has_certificate)
        return MT_OK;
    struct mt_tls *tls = calloc(1, sizeof *tls);
    if (!tls)
        return mt_fail_memory(err, sizeof *tls, "TLS");
    enum mt_status status = read_files(tls, settings, err);
    if (status) {
        mt_tls_destroy(tls);
        return status;
    }
    *out = tls;
    return MT_OK;
}

void mt_tls_destroy(struct mt_tls *tls)
{
    if (!tls)
        return;
    if (tls->key)
        explicit_bzero(tls->key, tls->key_length);
    free(tls->key);
    free(tls->certificate);
    free(tls);
}

bool mt_tls_key_is_public(const struct mt_tls *tls)
{
    return tls->key_is_public;
}

long mt_tls_days_left(const struct mt_tls *tls)
{
    double seconds = difftime(tls->expires, time(NULL));
    return seconds < 0 ? -1 : (long)(seconds / SECONDS_PER_DAY);
}

static int copy_key(const struct mt_tls *tls, gnutls_privkey_t *out)
{
    gnutls_datum_t pem = datum(tls->key, tls->key_length);
    int code = gnutls_privkey_init(out);
    if (code != 0)
        return code;
    code = gnutls_privkey_import_x509_raw(*out, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code != 0)
        gnutls_privkey_deinit(*out);
    return code;
}

int mt_tls_retrieve(const struct mt_tls *tls, gnutls_pcert_st **certificates,
                    unsigned *n_certificates, gnutls_privkey_t *key, unsigned *flags)
{
    gnutls_datum_t pem = datum(tls->certificate, tls->certificate_length);
    unsigned n = MAX_CHAIN;
    gnutls_pcert_st *chain = gnutls_calloc(n, sizeof chain[0]);
    if (!chain)
        return -1;
    if (gnutls_pcert_list_import_x509_raw(chain, &n, &pem, GNUTLS_X509_FMT_PEM, 0) != 0) {
        gnutls_free(chain);
        return -1;
    }
    if (copy_key(tls, key) != 0) {
        for (unsigned i = 0; i < n; i++)
            gnutls_pcert_deinit(&chain[i]);
        gnutls_free(chain);
        return -1;
    }
    *certificates = chain;
    *n_certificates = n;
    *flags = GNUTLS_CERT_RETR_DEINIT_ALL;
    return 0;
}
