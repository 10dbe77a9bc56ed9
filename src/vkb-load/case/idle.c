#include "idle.h"
#include "client.h"
#include "context.h"
#include "err.h"
#include "fdlimit.h"
#include "json.h"
#include "measure.h"
#include "mem.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct idle {
	const struct target *target;
	struct client **v; /* owned */
	size_t n;          /* opened */
};

/* Returns NULL if a connection answers a PING, else what is wrong; borrowed
 * from the connection or *reply, which the caller frees. */
static const char *
ping_server(const struct target *t, struct client *c, struct reply **reply)
{
	*reply = CLIENT_CALL(c, control_ms(&t->e, 0), "PING");
	if (!*reply)
		return client_error(c);
	if (reply_type(*reply) == REPLY_ERROR &&
	    str_starts(reply_text(*reply), "ERR max number of clients"))
		return reply_text(*reply);
	return NULL;
}

/* Opens the next connection of n. Returns 0, or -1 after reporting an error. */
static int
open_next(struct idle *x, size_t n)
{
	const struct target *t = x->target;
	size_t node = x->n % t->e.nnodes;
	struct client *c = target_client(t, node);
	struct reply *r = NULL;
	const char *wrong;
	int rc = 0;

	if (!c)
		return err_fail(
		    "idle connection %zu of %zu: %s", x->n + 1, n, err_last());
	x->v[x->n++] = c;
	wrong = ping_server(t, c, &r);
	if (wrong)
		rc = err_fail("idle connection %zu of %zu: the server at %s:%d "
			      "answers '%s': 'maxclients' of the server must "
			      "be above all connections together",
		    x->n, n, t->nodes[node].host, t->nodes[node].port, wrong);
	reply_free(r);
	return rc;
}

static void
close_all(struct idle *x)
{
	for (size_t i = 0; i < x->n; i++)
		client_close(x->v[i]);
	free(x->v);
	free(x);
}

int
idle_begin(struct measure *m, const struct target *t)
{
	size_t n = (size_t)m->cas->load.idle_clients;
	struct idle *x;
	int rc = 0;

	if (!n || m->counted)
		return 0;
	if (fdlimit_raise(n, "idle connections") < 0)
		return -1;
	x = m->idle = mem_new(sizeof *x);
	x->target = t;
	x->v = mem_array(n, sizeof(struct client *));
	while (x->n < n && rc == 0)
		rc = m->context->halt ? -1 : open_next(x, n);
	return rc;
}

/* Returns 0, or -1 after reporting how many do not answer. */
static int
check_all(struct idle *x)
{
	char *first = NULL;
	const char *wrong;
	struct reply *r;
	size_t lost = 0;
	bool hangs = false;
	int rc = 0;

	for (size_t i = 0; i < x->n && !hangs; i++) {
		errno = 0;
		wrong = ping_server(x->target, x->v[i], &r);
		hangs = wrong && errno == ETIMEDOUT;
		if (wrong && !first)
			first = mem_str(wrong);
		lost += hangs ? x->n - i : wrong != NULL;
		reply_free(r);
	}
	if (lost)
		rc = err_fail("%zu of %zu idle connections were closed during "
			      "the run: %s; see 'timeout' and "
			      "'maxmemory-clients' of the server",
		    lost, x->n, first);
	free(first);
	return rc;
}

int
idle_end(struct measure *m, int rc)
{
	struct idle *x = m->idle;

	if (!x)
		return rc;
	if (rc == 0 && check_all(x) < 0)
		rc = measure_fail(m, NULL);
	for (size_t i = 0; rc == 0 && i < m->roles.nown; i++)
		json_set_num(json_get(m->recs[i], "metrics"), "idle_clients",
		    (double)x->n);
	close_all(x);
	m->idle = NULL;
	return rc;
}
