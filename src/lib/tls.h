/* TLS over a descriptor that the caller owns (OpenSSL). */
#ifndef TLS_H
#define TLS_H

#include <stdbool.h>
#include <sys/types.h>

struct tls_context;
struct tls;

/*
 * Returns a client context that verifies the server against 'cacert' (NULL: the
 * authorities of the system). cert may be NULL; key NULL: the key is in cert.
 * Returns NULL after reporting that a file cannot be used.
 */
struct tls_context *tls_context_new(
    const char *cacert, const char *cert, const char *key);
void tls_context_free(struct tls_context *);

/* A connection over 'fd' (borrowed, blocking or not) with a context, which must
 * outlive it. 'servername' NULL: accept any name. */
struct tls *tls_new(struct tls_context *, int fd, const char *servername);
void tls_free(struct tls *);

/* Returns 0, or -1 with errno; EAGAIN: wait for tls_events, call again. */
int tls_handshake(struct tls *);
/* Like read(2) and write(2): -1 with errno (EAGAIN as above); 0 at the end. */
ssize_t tls_read(struct tls *, void *buf, size_t n);
ssize_t tls_write(struct tls *, const void *buf, size_t n);
short tls_events(const struct tls *);      /* POLLIN or POLLOUT to wait for */
bool tls_pending(const struct tls *);      /* bytes that poll does not see */
const char *tls_error(const struct tls *); /* text of the last error */

#endif
