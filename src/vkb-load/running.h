/*
 * A server that somebody else started: it is emptied rather than restarted,
 * and what was set in it is put back.
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
	double timeout_s; /* of each question; 0: 60, FLUSHALL 600 */
};

struct running;

/* Asks who it is. NULL, and said. */
struct running *running_open(const struct running_opts *);
void running_close(struct running *); /* NULL does nothing */

/* Sets user and password: VKB_USER and VKB_PASSWORD. */
void running_login(struct target *);

/* A server record, without binary; borrowed. */
const struct json *running_record(const struct running *);
bool running_local(const struct running *);

/*
 * Is it what the case asks for? Then empties it and applies the config set.
 * 0, or -1 and said; running_restore in either case.
 */
int running_prepare(
    struct running *, const struct json *config, double timeout_s);
int running_restore(struct running *);

#endif
