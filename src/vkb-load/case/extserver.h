/*
 * An external server, not started by vkb-load: it is emptied instead of
 * restarted, and its settings are restored. A server that holds data is refused
 * unless --flush or --no-flush is given.
 */
#ifndef EXTSERVER_H
#define EXTSERVER_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct target;

struct extserver_opts {
	const char *host, *unixsocket, *user;
	long long port;
	bool tls, insecure;
	const char *cacert, *cert, *key;
	bool flush;       /* delete all data of the server */
	bool no_flush;    /* delete only keys with our prefix */
	bool joins;       /* another part of the load prepares it */
	double timeout_s; /* of each command; 0: 60, FLUSHALL 600 */
};

struct extserver;

/*
 * Asks the server for its version, nodes and data. Returns NULL after reporting
 * that it cannot be reached or may not be emptied; then nothing was changed.
 */
struct extserver *extserver_open(const struct extserver_opts *);
void extserver_close(struct extserver *); /* NULL does nothing */

/* Returns its target, and the prefix of our keys or NULL; borrowed. */
const struct target *extserver_target(const struct extserver *);
const char *extserver_prefix(const struct extserver *);
/* Sets the prefix to that of another part of the load. */
void extserver_share_prefix(struct extserver *, const char *);

/* Sets user, password and the prefix of our keys. */
void extserver_login(const struct extserver *, struct target *);

/* Returns its server record, without binary; borrowed. */
const struct json *extserver_record(const struct extserver *);
bool extserver_local(const struct extserver *);

/* Returns how many io-threads it has; 0: it does not say. */
int extserver_io_threads(const struct extserver *);

/*
 * Checks that the server matches the case and may still be emptied, empties it
 * and applies the config set. Returns 0, or -1 after reporting an error. In
 * either case extserver_restore then removes what was written and restores the
 * settings.
 */
int extserver_prepare(
    struct extserver *, const struct json *config, double timeout_s);
int extserver_restore(struct extserver *);

#endif
