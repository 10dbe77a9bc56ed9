/* Which server a plan is measured on. */
#ifndef WHERE_H
#define WHERE_H

#include <stdbool.h>

struct address;
struct builds;
struct json;
struct plan;

/*
 * Adds to the address that the options give what the configurations of the
 * cases say: 'bind_ip', 'port' or the first of 'cluster_ports', 'tls_mode' if
 * all have it. Returns 0, or -1 after reporting that the cases name several
 * servers, or another one than the options, or another database than 'db',
 * which is that of '--uri' or negative.
 */
int where_merge(struct address *, const struct plan *, long long db);

/* The builds of a session, and whether the server of each was named, also by a
 * process that was forked, as one that counts. */
struct where_named {
	const struct builds *builds;
	bool *done; /* of each build, and of the reference; shared */
};

/* Returns 0, or -1 after reporting an error. */
int where_named_open(struct where_named *, const struct builds *);
void where_named_close(struct where_named *);

/* Prints once for each build, with a struct where_named, which server of it was
 * started. */
void where_name_server(
    void *named, const struct json *build, const struct json *server);

#endif
