#include "tls.h"
#include "err.h"
#include "mem.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct tls_context {
	SSL_CTX *ctx;
	BIO_METHOD *method;
	bool insecure;
	char *cacert; /* NULL: authorities of the system */
};

struct tls {
	SSL *ssl;
	int fd;
	bool emptied; /* the last read took all that the socket had */
	bool ended;   /* it met the end of the stream */
	const struct tls_context *context;
	char *servername;
	short events;
	char error[256];
};

/*
 * A BIO over a socket that sends with MSG_NOSIGNAL, since a server that closes
 * would end the program with SIGPIPE, and that remembers whether a read took
 * all that had arrived. OpenSSL's own BIO does neither. The system calls are
 * made directly: send and recv are points of cancellation, which costs four
 * locked instructions in a program of several threads.
 */
static int
send_without_signal(BIO *b, const char *buf, int n)
{
	const struct tls *t = BIO_get_data(b);
	ssize_t k =
	    syscall(SYS_sendto, t->fd, buf, (size_t)n, MSG_NOSIGNAL, NULL, 0);

	if (k > 0) /* OpenSSL reads the flags of failures only */
		return (int)k;
	BIO_clear_retry_flags(b);
	if (k < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_write(b);
	return (int)k;
}

static int
receive_some(BIO *b, char *buf, int n)
{
	struct tls *t = BIO_get_data(b);
	ssize_t k = syscall(SYS_recvfrom, t->fd, buf, (size_t)n, 0, NULL, NULL);

	t->emptied = k < n;
	if (k > 0)
		return (int)k;
	t->ended = k == 0;
	BIO_clear_retry_flags(b);
	if (k < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_read(b);
	return (int)k;
}

/*
 * OpenSSL asks whether the stream has ended, and to send what is kept; for each
 * record it asks some ten times whether the kernel encrypts, which it does not.
 */
static long
control_socket(BIO *b, int what, long number, void *p)
{
	(void)number;
	(void)p;
	if (what == BIO_CTRL_EOF)
		return ((const struct tls *)BIO_get_data(b))->ended;
	return what == BIO_CTRL_FLUSH;
}

static BIO_METHOD *
make_method(void)
{
	BIO_METHOD *m = BIO_meth_new(
	    BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "vkb socket");

	if (!m || !BIO_meth_set_write(m, send_without_signal) ||
	    !BIO_meth_set_read(m, receive_some) ||
	    !BIO_meth_set_ctrl(m, control_socket))
		err_die("out of memory");
	return m;
}

/* Copies the text of OpenSSL's oldest error, or 'fallback' if there is none,
 * and empties the error queue. */
static void
copy_reason(char *buf, size_t n, const char *fallback)
{
	if (ERR_peek_error())
		tls_explain(buf, n);
	else
		snprintf(buf, n, "%s", fallback);
	ERR_clear_error();
}

void
tls_explain(char *buf, size_t n)
{
	unsigned long e = ERR_get_error();
	const char *s = ERR_SYSTEM_ERROR(e) ? strerror(ERR_GET_REASON(e))
					    : ERR_reason_error_string(e);

	if (s)
		snprintf(buf, n, "%s", s);
	else
		ERR_error_string_n(e, buf, n); /* "error:" and its number */
	ERR_clear_error();
}

static int
report_failure(const char *what, const char *name)
{
	char text[256];

	tls_explain(text, sizeof text);
	return err_fail("%s '%s': %s", what, name, text);
}

static void
explain_time(struct tls *t, const char *what, const ASN1_TIME *at)
{
	BIO *text = BIO_new(BIO_s_mem());
	char *s = NULL;
	long n = 0;

	if (text && at && ASN1_TIME_print(text, at))
		n = BIO_get_mem_data(text, &s);
	snprintf(t->error, sizeof t->error, "%s%s%.*s", what, n > 0 ? " " : "",
	    (int)n, n > 0 ? s : "");
	BIO_free(text);
}

/* Verify callback: explains what OpenSSL rejects, and returns 'ok' as it is. */
static int
explain_certificate(int ok, X509_STORE_CTX *x)
{
	SSL *ssl =
	    X509_STORE_CTX_get_ex_data(x, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct tls *t = SSL_get_app_data(ssl);
	X509 *cert = X509_STORE_CTX_get_current_cert(x);
	const char *whose = X509_STORE_CTX_get_error_depth(x) > 0
	    ? "the authority of the server's certificate"
	    : "the server's certificate";
	char what[128];
	int error = X509_STORE_CTX_get_error(x);

	if (ok)
		return ok;
	switch (error) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		snprintf(what, sizeof what, "%s expired on", whose);
		explain_time(t, what, X509_get0_notAfter(cert));
		break;
	case X509_V_ERR_CERT_NOT_YET_VALID:
		snprintf(what, sizeof what, "%s is not valid before", whose);
		explain_time(t, what, X509_get0_notBefore(cert));
		break;
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		snprintf(t->error, sizeof t->error,
		    "the server's certificate is not for the name '%s'",
		    t->servername ? t->servername : "");
		break;
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
		snprintf(t->error, sizeof t->error,
		    "the server's certificate is not signed by the authority "
		    "in '%s'",
		    t->context->cacert ? t->context->cacert
				       : "the files of the system");
		break;
	default:
		snprintf(t->error, sizeof t->error, "%s: %s", whose,
		    X509_verify_cert_error_string(error));
	}
	return ok;
}

static int
load_certificates(
    SSL_CTX *ctx, const char *cacert, const char *cert, const char *key)
{
	if (cacert && !SSL_CTX_load_verify_locations(ctx, cacert, NULL))
		return report_failure("cannot use CA certificate", cacert);
	if (!cacert && !SSL_CTX_set_default_verify_paths(ctx))
		return report_failure(
		    "cannot use CA certificates of", "the system");
	if (cert && SSL_CTX_use_certificate_chain_file(ctx, cert) != 1)
		return report_failure("cannot use certificate", cert);
	if (!key)
		key = cert;
	if (key && SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
		return report_failure("cannot use key", key);
	if (key && SSL_CTX_check_private_key(ctx) != 1)
		return report_failure(
		    "the certificate does not belong to key", key);
	return 0;
}

/* Returns 0, or -1 after reporting what OpenSSL does not know. */
static int
set_ciphers(SSL_CTX *ctx, const struct tls_options *o)
{
	bool old = o->protocol && strcmp(o->protocol, "TLSv1.2") == 0;
	bool new = o->protocol &&strcmp(o->protocol, "TLSv1.3") == 0;

	SSL_CTX_set_min_proto_version(
	    ctx, new ? TLS1_3_VERSION : TLS1_2_VERSION);
	SSL_CTX_set_max_proto_version(ctx, old ? TLS1_2_VERSION : 0);
	if (o->ciphers && !SSL_CTX_set_cipher_list(ctx, o->ciphers))
		return report_failure("cannot use TLS ciphers", o->ciphers);
	if (o->suites && !SSL_CTX_set_ciphersuites(ctx, o->suites))
		return report_failure("cannot use TLS ciphersuites", o->suites);
	return 0;
}

struct tls_context *
tls_context_new(const struct tls_options *o)
{
	struct tls_context *c = mem_new(sizeof *c);

	ERR_clear_error();
	c->ctx = SSL_CTX_new(TLS_client_method());
	c->method = make_method();
	if (!c->ctx)
		err_die("out of memory");
	c->cacert = mem_str(o->cacert);
	SSL_CTX_set_verify(c->ctx,
	    o->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
	    o->insecure ? NULL : explain_certificate);
	c->insecure = o->insecure;
	SSL_CTX_set_mode(c->ctx,
	    SSL_MODE_ENABLE_PARTIAL_WRITE |
		SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
	/* One call reads all that has arrived, not each header and record. */
	SSL_CTX_set_read_ahead(c->ctx, 1);
#ifdef SSL_OP_IGNORE_UNEXPECTED_EOF
	/* Valkey closes without an alert; replies state their length. */
	SSL_CTX_set_options(c->ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
#endif
	if (set_ciphers(c->ctx, o) < 0 ||
	    load_certificates(c->ctx, o->cacert, o->cert, o->key) < 0) {
		tls_context_free(c);
		return NULL;
	}
	return c;
}

void
tls_context_free(struct tls_context *c)
{
	if (!c)
		return;
	SSL_CTX_free(c->ctx);
	BIO_meth_free(c->method);
	free(c->cacert);
	free(c);
}

/* struct tls_session is never defined: it is OpenSSL's session. */
static SSL_SESSION *
cast_session(struct tls_session *s)
{
	return (void *)s;
}

struct tls *
tls_new(struct tls_context *c, int fd, const char *servername,
    struct tls_session *session)
{
	struct tls *t = mem_new(sizeof *t);
	BIO *bio = BIO_new(c->method);
	X509_VERIFY_PARAM *param;
	bool ok = true;

	t->ssl = SSL_new(c->ctx);
	if (!t->ssl || !bio)
		err_die("out of memory");
	t->context = c;
	t->fd = fd;
	t->servername = mem_str(servername);
	SSL_set_app_data(t->ssl, t);
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	SSL_set_bio(t->ssl, bio, bio); /* takes bio */
	SSL_set_connect_state(t->ssl);
	t->events = POLLOUT;
	if (servername) {
		param = SSL_get0_param(t->ssl);
		if (X509_VERIFY_PARAM_set1_ip_asc(param, servername) != 1)
			ok = X509_VERIFY_PARAM_set1_host(
				 param, servername, 0) == 1 &&
			    SSL_set_tlsext_host_name(t->ssl, servername) == 1;
	}
	ERR_clear_error(); /* set_ip_asc fails for a name */
	if (!ok || (session && !SSL_set_session(t->ssl, cast_session(session))))
		err_die("out of memory");
	return t;
}

/* OpenSSL resumes no session of a connection that ended without a shutdown. */
struct tls_session *
tls_end(struct tls *t)
{
	ERR_clear_error();
	SSL_shutdown(t->ssl);
	ERR_clear_error();
	return (void *)SSL_get1_session(t->ssl);
}

void
tls_session_free(struct tls_session *s)
{
	SSL_SESSION_free(cast_session(s));
}

bool
tls_is_resumed(const struct tls *t)
{
	return SSL_session_reused(t->ssl);
}

void
tls_free(struct tls *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	free(t->servername);
	free(t);
}

/* Explains an error that is not about the server's certificate. */
static void
explain_protocol(struct tls *t)
{
	const char *text = NULL;

	switch (ERR_GET_REASON(ERR_peek_error())) {
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_HTTP_REQUEST:
	case SSL_R_PACKET_LENGTH_TOO_LONG:
	case SSL_R_UNEXPECTED_MESSAGE:
		if (!SSL_is_init_finished(t->ssl))
			text = "the server does not speak TLS on this port";
		break;
	case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
		text = "the server requires a client certificate";
		break;
	case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
		text = "the server accepts none of the client's ciphers "
		       "('tls_ciphers', 'tls_ciphersuites')";
		break;
	case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
	case SSL_R_UNSUPPORTED_PROTOCOL:
		text = "the server accepts none of the client's versions of "
		       "TLS ('tls_protocol')";
		break;
	case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
		text = "the server does not accept the authority of the "
		       "client's certificate";
		break;
	}
	if (text) {
		snprintf(t->error, sizeof t->error, "%s", text);
		ERR_clear_error();
	} else
		copy_reason(t->error, sizeof t->error, "protocol error");
}

/*
 * Converts OpenSSL's result n. Returns 0 at the end, or -1 with errno; EAGAIN
 * sets t->events, other errors set t->error. OpenSSL's queue of errors, which
 * must be empty before a call, is empty again: to clear it for each call takes
 * as long as to make a small record.
 */
static int
convert_result(struct tls *t, int n)
{
	int was = errno;

	switch (SSL_get_error(t->ssl, n)) {
	case SSL_ERROR_WANT_READ:
		t->events = POLLIN;
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_WANT_WRITE:
		t->events = POLLOUT;
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_SYSCALL:
		ERR_clear_error();
		if (was) {
			snprintf(
			    t->error, sizeof t->error, "%s", strerror(was));
			errno = was;
			return -1;
		}
		/* fall through */
	case SSL_ERROR_ZERO_RETURN:
		snprintf(t->error, sizeof t->error,
		    "the server closed the connection");
		return 0;
	default:
		if (!t->context->insecure &&
		    SSL_get_verify_result(t->ssl) != X509_V_OK)
			ERR_clear_error(); /* explain_certificate did it */
		else
			explain_protocol(t);
		errno = EPROTO;
		return -1;
	}
}

int
tls_handshake(struct tls *t)
{
	int n;

	ERR_clear_error();
	errno = 0;
	n = SSL_do_handshake(t->ssl);
	if (n == 1) { /* there may be errors that did not end it */
		ERR_clear_error();
		t->events = POLLIN;
		return 0;
	}
	if (convert_result(t, n) == 0)
		errno = ECONNRESET;
	return -1;
}

ssize_t
tls_read(struct tls *t, void *buf, size_t n)
{
	size_t got;
	int rc;

	errno = 0;
	rc = SSL_read_ex(t->ssl, buf, n, &got);
	return rc == 1 ? (ssize_t)got : convert_result(t, rc);
}

ssize_t
tls_write(struct tls *t, const void *buf, size_t n)
{
	size_t put;
	int rc;

	if (!n)
		return 0;
	errno = 0;
	rc = SSL_write_ex(t->ssl, buf, n, &put);
	if (rc == 1)
		return (ssize_t)put;
	if (convert_result(t, rc) == 0)
		errno = EPIPE;
	return -1;
}

short
tls_events(const struct tls *t)
{
	return t->events;
}

bool
tls_is_drained(const struct tls *t)
{
	return t->emptied && !SSL_has_pending(t->ssl);
}

const char *
tls_error(const struct tls *t)
{
	return t->error;
}
