/*
 * Commands to the servers outside of the load: connections with a deadline, and
 * CLUSTER SLOTS.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct client;
struct engine_target;
struct reply;

/* Returns the timeout of the target in ms, at most 'most'; 0: no limit. */
int control_ms(const struct engine_target *, int most);

/*
 * Connects to node i, counted through the primaries and the replicas that are
 * read. Returns NULL with errno, as client_open; 'why' as in
 * client_address.
 */
struct client *control_open(
    const struct engine_target *, size_t i, int ms, char *why);

/*
 * As client_call, but an error (also an error reply) is reported and NULL is
 * returned. The caller frees the reply with reply_free.
 */
struct reply *control_ask(struct client *, int ms, const char *const *argv);
#define CONTROL_ASK(c, ms, ...) \
	control_ask(c, ms, (const char *const[]){__VA_ARGS__, NULL})

/* Does the server say that a command only reads? */
bool control_only_reads(struct client *, int ms, const char *command);
/* Do a named test, or all commands of a text, only read? */
bool control_text_only_reads(struct client *, int ms, const char *text);

/*
 * Returns why a text with commands cannot be run on the server: the command
 * that it does not know, with its answer. NULL if it knows all, or has no
 * COMMAND; it is not asked about usual commands, such as those of named tests.
 * Caller frees.
 */
char *control_explain_unknown(struct client *, int ms, const char *text);

/* CLUSTER SLOTS: the ranges, each with its primary. */
struct control_range {
	unsigned first, last; /* below 16384 */
	const char *host;     /* borrowed from the reply, or 'asked' */
	int port;
	size_t nreplicas;
	const struct reply *row; /* for control_replica */
};

struct control_slots {
	struct reply *reply;
	struct control_range *v;
	size_t n; /* 1 or more */
};

/*
 * Reads the slots of the cluster. 'asked' is the host of a node without a name
 * of its own. Returns NULL, or why it failed: text borrowed from the client or
 * the slots. The caller calls control_slots_free in either case.
 */
const char *control_slots(
    struct control_slots *, struct client *, int ms, const char *asked);
/* Reads the ith replica of a range. Returns false if it has no address. */
bool control_replica(const struct control_range *, size_t i, const char *asked,
    const char **host, int *port);
void control_slots_free(struct control_slots *);

#endif
