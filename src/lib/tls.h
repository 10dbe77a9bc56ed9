/* TLS over a descriptor that the caller owns (OpenSSL). */
#ifndef TLS_H
#define TLS_H

#include <stdbool.h>
#include <sys/types.h>

struct tls_context;
struct tls;
struct tls_session;

/* How to connect; NULL: OpenSSL's default. */
struct tls_options {
	const char *cacert;     /* the file to verify the server against; NULL:
				 * the authorities of the system */
	const char *cert, *key; /* of the client; key NULL: it is in cert */
	const char *ciphers;    /* of TLS 1.2, as OpenSSL names them */
	const char *suites;     /* of TLS 1.3 */
	const char *protocol;   /* "TLSv1.2" or "TLSv1.3"; NULL: any */
	bool insecure;          /* the server is not verified */
};

/*
 * Returns a client context. Returns NULL after reporting that a file cannot be
 * used, or that OpenSSL knows none of the ciphers.
 */
struct tls_context *tls_context_new(const struct tls_options *);
void tls_context_free(struct tls_context *);

/*
 * A connection over 'fd' (borrowed, blocking or not) with a context, which must
 * outlive it. 'servername' NULL: accept any name. 'session' to resume,
 * borrowed, or NULL.
 */
struct tls *tls_new(struct tls_context *, int fd, const char *servername,
    struct tls_session *session);
void tls_free(struct tls *);

/*
 * Tells the server that the connection ends, and returns its session, which
 * later ones can resume, or NULL. The caller frees both.
 */
struct tls_session *tls_end(struct tls *);
void tls_session_free(struct tls_session *);
bool tls_is_resumed(const struct tls *); /* after the handshake */

/* Returns 0, or -1 with errno; EAGAIN: wait for tls_events, call again. */
int tls_handshake(struct tls *);
/* Like read(2) and write(2): -1 with errno (EAGAIN as above); 0 at the end. */
ssize_t tls_read(struct tls *, void *buf, size_t n);
ssize_t tls_write(struct tls *, const void *buf, size_t n);
short tls_events(const struct tls *); /* POLLIN or POLLOUT to wait for */
/* After a read: had no more bytes arrived? Then poll reports those to come. */
bool tls_is_drained(const struct tls *);
const char *tls_error(const struct tls *); /* text of the last error */

/*
 * Copies the text of OpenSSL's oldest error: its reason, that of the system
 * call, or its number. Empties the error queue.
 */
void tls_explain(char *buf, size_t n);

#endif
