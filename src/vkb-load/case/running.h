/*
 * A server that somebody else started: it is emptied rather than restarted,
 * and what was set in it is put back. One that holds data of others is left
 * alone, unless the user said that it may be deleted, or that it stays.
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
	bool flush;       /* delete whatever the server holds */
	bool no_flush;    /* delete nothing but keys of our own prefix */
	double timeout_s; /* of each question; 0: 60, FLUSHALL 600 */
};

struct running;

/*
 * Asks who it is, and how much it holds. Returns NULL, reported, if it cannot
 * be reached or may not be emptied; then nothing was changed.
 */
struct running *running_open(const struct running_opts *);
void running_close(struct running *); /* NULL does nothing */

/*
 * VKB_PASSWORD, else VALKEYCLI_AUTH, else REDISCLI_AUTH; NULL if none is set.
 */
const char *running_password(void);

/* Sets user, password and the prefix of our keys. */
void running_login(const struct running *, struct target *);

/* A server record, without binary; borrowed. */
const struct json *running_record(const struct running *);
bool running_local(const struct running *);

/*
 * Is it what the case asks for, and still ours to empty? Then empties it and
 * applies the config set. 0, or -1 and said. running_restore in either case
 * removes what was written since, and puts settings back.
 */
int running_prepare(
    struct running *, const struct json *config, double timeout_s);
int running_restore(struct running *);

#endif
