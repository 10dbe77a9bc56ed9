/* Starts and stops sampler, counters and calls together. */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <sys/types.h>

struct calls;
struct client;
struct halt;
struct held;
struct perf;

struct watch {
	pid_t pid;
	struct held *held; /* the command; NULL: the process runs already */
	struct halt *halt;
	double delay, duration; /* s; duration 0: until the process ends */
	struct perf *sampler, *counters; /* each can be NULL */
	struct calls *calls;             /* or NULL */
	struct client *server;           /* whose requests to count, or NULL */
	double requests;                 /* counted; NAN: unknown */
	bool announce;                   /* report when all have started */
};

/* Connects to the local server whose requests are counted. Returns NULL, and
 * reports nothing, if none answers on the port without a password and TLS. Free
 * with client_close. */
struct client *watch_open_server(int port);

/*
 * Returns the time watched in seconds, or -1 after reporting an error. The end
 * of the process and Ctrl-C end it early.
 */
double watch_run(struct watch *);

#endif
