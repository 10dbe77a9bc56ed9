/* TLS over a descriptor that the caller owns (OpenSSL). */
#ifndef TLS_H
#define TLS_H

#include <sys/types.h>

struct tls_context;
struct tls;

/*
 * A client context that verifies the server against 'cacert'; cert and key may
 * both be NULL. NULL, and said, when a file cannot be used.
 */
struct tls_context *tls_context_new(
    const char *cacert, const char *cert, const char *key);
void tls_context_free(struct tls_context *);

/* Over 'fd' (borrowed, blocking or not); 'servername' NULL: any name. */
struct tls *tls_new(struct tls_context *, int fd, const char *servername);
void tls_free(struct tls *);

/* 0 done; -1 with errno EAGAIN: wait for tls_events, call again. */
int tls_handshake(struct tls *);
/* As read(2) and write(2) on a non-blocking fd: -1 with EAGAIN; 0 the end. */
ssize_t tls_read(struct tls *, void *buf, size_t n);
ssize_t tls_write(struct tls *, const void *buf, size_t n);
short tls_events(const struct tls *);      /* POLLIN or POLLOUT it waits for */
int tls_pending(const struct tls *);       /* bytes read can give at once */
const char *tls_error(const struct tls *); /* text of the last failure */

#endif
