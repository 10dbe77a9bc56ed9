#include "certificate.h"
#include "err.h"
#include "mem.h"
#include "tls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

static EVP_PKEY *
make_key(void)
{
	EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
	EVP_PKEY *key = NULL;

	if (c && EVP_PKEY_keygen_init(c) == 1 &&
	    EVP_PKEY_CTX_set_ec_paramgen_curve_nid(c, NID_X9_62_prime256v1) ==
		1 &&
	    EVP_PKEY_keygen(c, &key) != 1)
		key = NULL;
	EVP_PKEY_CTX_free(c);
	return key;
}

static int
add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX c;
	X509_EXTENSION *e;
	int rc;

	X509V3_set_ctx_nodb(&c);
	X509V3_set_ctx(&c, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &c, nid, value);
	rc = e && X509_add_ext(x, e, -1) == 1 ? 0 : -1;
	X509_EXTENSION_free(e);
	return rc;
}

/* Adds the names that a server may be called by. */
static int
add_names(X509 *x, const char *host)
{
	struct in6_addr a;
	bool ip = inet_pton(AF_INET, host, &a) == 1 ||
	    inet_pton(AF_INET6, host, &a) == 1;
	char *names = mem_printf("DNS:localhost,IP:127.0.0.1,IP:::1%s%s",
	    !*host   ? ""
		: ip ? ",IP:"
		     : ",DNS:",
	    host);
	int rc = add_extension(x, x, NID_subject_alt_name, names);

	free(names);
	return rc;
}

enum { DAY = 24 * 60 * 60, DAYS = 825 };

/* Returns a certificate signed by 'ca' (NULL: self-signed), or NULL. One with a
 * 'host' is for clients too, since nodes of a cluster connect to each other. */
static X509 *
make_certificate(const char *name, EVP_PKEY *key, X509 *ca, EVP_PKEY *cakey,
    const char *host)
{
	X509 *x = X509_new();
	X509_NAME *subject = X509_NAME_new();
	uint64_t serial;
	bool ok;

	ok = x && subject &&
	    RAND_bytes((unsigned char *)&serial, sizeof serial) == 1 &&
	    X509_set_version(x, 2) == 1 &&
	    ASN1_INTEGER_set_uint64(
		X509_get_serialNumber(x), serial >> 1 | 1) == 1 &&
	    X509_gmtime_adj(X509_getm_notBefore(x), -(long)DAY) &&
	    X509_gmtime_adj(X509_getm_notAfter(x), (long)DAYS * DAY) &&
	    X509_set_pubkey(x, key) == 1 &&
	    X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_ASC,
		(const unsigned char *)"vkb", -1, -1, 0) == 1 &&
	    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
		(const unsigned char *)name, -1, -1, 0) == 1 &&
	    X509_set_subject_name(x, subject) == 1 &&
	    X509_set_issuer_name(x, ca ? X509_get_subject_name(ca) : subject) ==
		1 &&
	    add_extension(x, ca ? ca : x, NID_subject_key_identifier, "hash") ==
		0;
	if (ok && !ca)
		ok = add_extension(x, x, NID_basic_constraints,
			 "critical,CA:TRUE") == 0 &&
		    add_extension(x, x, NID_key_usage,
			"critical,keyCertSign,cRLSign") == 0;
	if (ok && ca)
		ok = add_extension(x, ca, NID_basic_constraints,
			 "critical,CA:FALSE") == 0 &&
		    add_extension(x, ca, NID_authority_key_identifier,
			"keyid:always") == 0 &&
		    add_extension(x, ca, NID_key_usage,
			"critical,digitalSignature") == 0 &&
		    add_extension(x, ca, NID_ext_key_usage,
			host ? "serverAuth,clientAuth" : "clientAuth") == 0;
	if (ok && host)
		ok = add_names(x, host) == 0;
	ok = ok && X509_sign(x, ca ? cakey : key, EVP_sha256()) > 0;
	X509_NAME_free(subject);
	if (ok)
		return x;
	X509_free(x);
	return NULL;
}

/* Writes the certificate x, or the key if x is NULL. */
static int
write_pem(const char *dir, const char *name, X509 *x, EVP_PKEY *key)
{
	char *path = mem_printf("%s/%s.%s", dir, name, x ? "crt" : "key");
	int fd =
	    open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		x ? 0644 : 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int rc = -1;

	if (!f) {
		err_fail_sys("cannot write '%s'", path);
		if (fd >= 0)
			close(fd);
		goto out;
	}
	rc = (x ? PEM_write_X509(f, x)
		: PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL)) == 1
	    ? 0
	    : -1;
	if (fclose(f) != 0)
		rc = -1;
	if (rc < 0)
		err_fail_sys("cannot write '%s'", path);
out:
	free(path);
	return rc;
}

int
certificate_make(const char *dir, const char *host)
{
	static const char *const names[] = {"ca", "server", "client"};
	EVP_PKEY *key[3] = {0};
	X509 *x[3] = {0};
	char why[256];
	int rc = -1;

	ERR_clear_error();
	for (int i = 0; i < 3; i++) {
		key[i] = make_key();
		if (key[i])
			x[i] =
			    make_certificate(names[i], key[i], i ? x[0] : NULL,
				key[0], i == 1 ? host ? host : "" : NULL);
		if (!x[i]) {
			tls_explain(why, sizeof why);
			err_say(
			    "cannot make certificate '%s': %s", names[i], why);
			goto out;
		}
		if (write_pem(dir, names[i], x[i], NULL) < 0 ||
		    write_pem(dir, names[i], NULL, key[i]) < 0)
			goto out;
	}
	rc = 0;
out:
	for (int i = 0; i < 3; i++) {
		EVP_PKEY_free(key[i]);
		X509_free(x[i]);
	}
	return rc;
}
