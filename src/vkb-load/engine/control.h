/*
 * Questions to the servers that load goes to, outside of the load: connections
 * with a deadline, and what a cluster says of itself.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stddef.h>

struct client;
struct engine_target;
struct reply;
struct tls_context;

/* The timeout of the target in ms, but at most so many; 0: no other bound. */
int control_ms(const struct engine_target *, int most);

/* To node i; NULL with errno, as client_open; 'why' as in client_address. */
struct client *control_open(const struct engine_target *, struct tls_context *,
    size_t i, int ms, char *why);

/*
 * As client_call, but an error is reported, and the result is NULL. Caller
 * frees with reply_free.
 */
struct reply *control_ask(struct client *, int ms, const char *const *argv);
#define CONTROL_ASK(c, ms, ...) \
	control_ask(c, ms, (const char *const[]){__VA_ARGS__, NULL})

/* CLUSTER SLOTS: the ranges, each with its primary. */
struct control_range {
	unsigned first, last; /* below 16384 */
	const char *host;     /* borrowed from the reply, or 'asked' */
	int port;
};

struct control_slots {
	struct reply *reply;
	struct control_range *v;
	size_t n; /* 1 or more */
};

/*
 * 'asked' is the host of a node that does not name itself. NULL, or why there
 * is no answer: text borrowed from the client or the slots.
 * control_slots_free in either case.
 */
const char *control_slots(
    struct control_slots *, struct client *, int ms, const char *asked);
void control_slots_free(struct control_slots *);

#endif
