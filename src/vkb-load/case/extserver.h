/*
 * An external server, not started by vkb-load: it is emptied instead of
 * restarted, and its settings are restored. A server that holds data is refused
 * unless --flush or --no-flush is given.
 */
#ifndef EXTSERVER_H
#define EXTSERVER_H

#include "address.h"

#include <stdbool.h>
#include <stddef.h>

struct bench_case;
struct json;
struct room;
struct target;

struct extserver_opts {
	struct address at; /* complete */
	bool flush;        /* delete all data of the server */
	bool no_flush;     /* delete only keys with our prefix */
	bool joins;        /* another part of the load prepares it */
	double timeout_s;  /* of each command; 0: 60, FLUSHALL 600 */
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
 * Checks that what the cases write fits into the memory of the server, and says
 * which server is measured, what is written and what is deleted. Returns 0, or
 * -1 after reporting an error; then nothing was written.
 */
int extserver_admit(
    struct extserver *, const struct bench_case *, size_t ncases);

/*
 * Checks that the server matches the case, has memory for it and may still be
 * emptied, empties it and applies the config set. Returns 0, or -1 after
 * reporting an error. In either case extserver_restore then removes what was
 * written and restores the settings.
 */
int extserver_prepare(
    struct extserver *, const struct bench_case *, double timeout_s);
int extserver_restore(struct extserver *);

/*
 * Watches the memory of a server that holds data of others while the case that
 * it was prepared for runs, see room.h. Sets *room, borrowed, or NULL for other
 * servers. Returns 0, or -1 after reporting an error.
 */
int extserver_watch(const struct extserver *, struct room **room);

#endif
