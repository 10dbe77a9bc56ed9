/*
 * A simple synchronous connection to one server, for control, not for load:
 * one command, one reply, each with a deadline. Over TCP, unix socket or TLS.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stddef.h>

#include "reply.h"

struct client;
struct str;
struct tls_context;

#define CLIENT_WHY 256

struct client_address {
	const char *host;
	int port;
	const char *unixsocket;  /* used instead of host and port unless NULL */
	struct tls_context *tls; /* NULL: plain */
	const char *servername;
	const char *user, *password; /* NULL: no AUTH */
	int db;                      /* SELECT, unless it is 0 */
	char *why; /* NULL, or CLIENT_WHY bytes for the reason of a failure */
};

/* Returns NULL with errno if the server cannot be reached. ENXIO: unknown host
 * name; EACCES: AUTH was refused, EDOM: SELECT, and 'why' has the answer.
 * Reports nothing, because callers poll. */
struct client *client_open(const struct client_address *, int timeout_ms);
void client_close(struct client *);

/*
 * Sends argv (ended by NULL) and returns the reply (caller frees with
 * reply_free). An error reply is a reply. Returns NULL if the connection failed
 * or timed out: client_error has the reason, and the connection cannot be used
 * again.
 */
struct reply *client_call(
    struct client *, int timeout_ms, const char *const *argv);
#define CLIENT_CALL(c, ms, ...) \
	client_call(c, ms, (const char *const[]){__VA_ARGS__, NULL})
/* Add a command as RESP: all of it, whose words NULL ends, or its number of
 * words and then each, which may hold any bytes. */
void client_format(struct str *, const char *const *argv);
void client_format_head(struct str *, size_t words);
void client_format_word(struct str *, const char *, size_t n);

/* The same as client_call for one command that is RESP already. */
struct reply *client_send(
    struct client *, int timeout_ms, const char *bytes, size_t n);
/*
 * Returns the next reply of a server that sends them without being asked, as
 * after MONITOR. NULL with errno ETIMEDOUT: none has arrived yet; otherwise as
 * client_call.
 */
struct reply *client_next(struct client *, int timeout_ms);
const char *client_error(const struct client *);

#endif
