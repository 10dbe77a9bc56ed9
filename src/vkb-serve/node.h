/*
 * One server process: from its folder and configuration to its end. Functions
 * that fail put the reason, with the end of the log, in *why, and say nothing.
 */
#ifndef NODE_H
#define NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct client;
struct client_address;
struct guard;
struct proc;
struct spec;
struct str;
struct tls_context;

struct node {
	const struct spec *spec;
	size_t index;
	int port;
	char *dir, *log, *socket; /* socket NULL: none */
	const char *tlsdir;       /* NULL: no TLS */
	struct tls_context *tls;
	struct proc *proc;
	int64_t started; /* clock_ns() of the exec */
	off_t log_start; /* where this process' log starts */
	bool ready;
	bool lives;            /* it answered when it was asked to end */
	struct client *client; /* open from ready until node_settle */
	/* From INFO, once it is ready. */
	long pid;
	char *run_id, *version, *git_sha, *build_id;
};

/* The folder must be there; sets 'port', starts the process. 0 or -1. */
int node_start(struct node *, struct guard *, int port, struct str *why);

/* 1 it is ready; 0 not yet; -1 it has ended, or is not ours. */
int node_poll(struct node *, struct str *why);

/* Did it fail because of its port? Only after its end. */
bool node_port_taken(const struct node *);

bool node_ended(const struct node *);
int node_fd(const struct node *); /* readable when it has ended; -1: none */

/* "node 2 (port 17001) exited with 1; from the end of its log:" and the log. */
void node_tell_end(struct node *, struct str *why);

/* Closes the control connection. */
void node_settle(struct node *);

/*
 * Asks all of them to end, waits for grace_ms, kills. How many were killed. One
 * that had crashed before it could be asked is told as node_tell_end does; why
 * may be NULL.
 */
int node_stop_all(struct node *, size_t n, int grace_ms, struct str *why);

void node_free(struct node *);

#endif
