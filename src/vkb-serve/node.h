/*
 * One server process, from its configuration to its end. Functions that fail
 * return -1 and set *why to the reason, with the end of the log; they report
 * nothing.
 */
#ifndef NODE_H
#define NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct client;
struct proc;
struct reply;
struct spec;
struct str;
struct tls_context;

struct node {
	const struct spec *spec;
	size_t index;
	int port;
	char *dir, *log, *socket; /* paths; socket can be NULL */
	char *control, *dumps;    /* of a counted server, else NULL */
	const char *tlsdir;       /* NULL: no TLS */
	struct tls_context *tls;
	struct proc *proc;
	int64_t started; /* clock_ns() of the exec */
	off_t log_start; /* offset of this process's part of the log */
	bool ready;
	bool answered;         /* it answered PING when it was asked to end */
	struct client *client; /* open from ready until node_disconnect */
	struct reply *info;    /* to INFO, once it is ready */
	long pid;              /* by it */
};

/* Writes a file of a node. Returns 0 or -1. */
int node_write_file(const char *path, const struct str *text, struct str *why);

/* Writes the configuration to the folder, which must exist, and starts the
 * process on 'port'. Returns 0 or -1. */
int node_start(struct node *, int port, struct str *why);

/* Returns 1 if the server is ready, 0 if not yet, -1 if it never will be. */
int node_poll(struct node *, struct str *why);

/* Returns whether its log says that the port is in use; call it after its
 * end. */
bool node_port_taken(const struct node *);

bool node_has_ended(const struct node *);
int node_fd(const struct node *); /* readable once it has ended, or -1 */

/* Returns how long a call that takes 'ms' at most may take on this server. */
int node_call_ms(const struct node *, int ms);

/* Returns the CPU time that its process has used; 0: there is none. */
int64_t node_cpu_ns(const struct node *);

/* Appends "node 2 (port 17001) exited with 1; from the end of its log:" and the
 * log. */
void node_append_end(struct node *, struct str *why);

/* Appends "node 2 (port 17001): WHAT: " and why a command failed: the error
 * reply 'r', or if it is NULL the error of the connection. */
void node_append_refusal(
    const struct node *, const char *what, const struct reply *r, struct str *);

/* Closes the control connection. */
void node_disconnect(struct node *);

/*
 * Asks all nodes to end, and kills those that run after grace_ms. Returns how
 * many were killed. If one had crashed before, appends node_append_end to *why;
 * 'why' can be NULL.
 */
int node_stop_all(struct node *, size_t n, int grace_ms, struct str *why);

void node_free(struct node *);

#endif
