/*
 * An external server, not started by vkb-load: it is emptied instead of
 * restarted, and its settings are restored. A server that holds data is refused
 * unless --flush or --no-flush is given.
 */
#ifndef RUNNING_H
#define RUNNING_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct target;

struct running_opts {
	const char *host, *unixsocket;
	long long port;
	bool tls;
	const char *cacert, *cert, *key;
	bool flush;       /* delete all data of the server */
	bool no_flush;    /* delete only keys with our prefix */
	double timeout_s; /* of each command; 0: 60, FLUSHALL 600 */
};

struct running;

/*
 * Asks the server for its version, nodes and data. Returns NULL after reporting
 * that it cannot be reached or may not be emptied; then nothing was changed.
 */
struct running *running_open(const struct running_opts *);
void running_close(struct running *); /* NULL does nothing */

/*
 * Returns VKB_PASSWORD, else VALKEYCLI_AUTH, else REDISCLI_AUTH, or NULL.
 * Passwords are never taken from arguments.
 */
const char *running_password(void);

/* Sets user, password and the prefix of our keys. */
void running_login(const struct running *, struct target *);

/* Returns its server record, without binary; borrowed. */
const struct json *running_record(const struct running *);
bool running_local(const struct running *);

/*
 * Checks that the server matches the case and may still be emptied, empties it
 * and applies the config set. Returns 0, or -1 after reporting an error. In
 * either case running_restore then removes what was written and restores the
 * settings.
 */
int running_prepare(
    struct running *, const struct json *config, double timeout_s);
int running_restore(struct running *);

#endif
