/*
 * The options for several hosts: a part of a load (--client), a time at which
 * it begins (--start-at), servers on another machine (--serve).
 */
#ifndef HOSTS_H
#define HOSTS_H

#include "vkb-load/case/context.h"

#include <stdbool.h>

struct address;
struct extserver;
struct extserver_opts;
struct peers;
struct plan;
struct session_opts;

struct hosts {
	const char *client, *start_at, *command; /* the options, or NULL */
	unsigned part, parts;                    /* 0: all of the load */
	struct serve serve;
};

/*
 * Reads the options, and sets those of the session. 0, or -1, error reported;
 * hosts_free in any case.
 */
int hosts_parse(
    struct hosts *, const struct extserver_opts *, struct session_opts *);
void hosts_free(struct hosts *);

/*
 * Returns why the options cannot be used together, or NULL. 'running': a
 * running server is measured; 'needs_host': with other options that need all on
 * one host.
 */
const char *hosts_explain(const struct hosts *, const struct extserver_opts *,
    const struct session_opts *, bool running, bool needs_host);

/*
 * Meets the other parts of the load, which make the same runs of the same plan,
 * if there are any, and takes over what they share. 0, or -1, error reported.
 */
int hosts_meet(const struct hosts *, struct session_opts *, const char *runs,
    const struct plan *, struct extserver *, const struct extserver_opts *,
    const volatile int *stop);

/*
 * If part 1, which removes the keys of the load at the end, has ended too
 * early: prints the command that removes them from the server.
 */
void hosts_report_left(const struct peers *, const struct extserver *);

/* Which server a plan is measured on. */

/*
 * Adds to the address that the options give what the configurations of the
 * cases say: 'bind_ip', 'port' or the first of 'cluster_ports', 'tls_mode' if
 * all have it. Returns 0, or -1 after reporting that the cases name several
 * servers, or another one than the options, or another database than 'db',
 * which is that of '--uri' or negative.
 */
int hosts_merge_address(struct address *, const struct plan *, long long db);

#endif
