#include "places.h"
#include "mem.h"
#include "names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct host {
	const char *name; /* borrowed from 'hosts' */
	size_t id;
};

struct places {
	struct names *sessions, *hosts;
	size_t *host; /* of each session */
	size_t n, cap;
	size_t *rank; /* of each host; NULL: not computed */
};

struct places *
places_new(void)
{
	struct places *p = mem_new(sizeof *p);

	p->sessions = names_new();
	p->hosts = names_new();
	names_id(p->hosts, ""); /* an unknown host has number 0 */
	return p;
}

void
places_free(struct places *p)
{
	if (!p)
		return;
	names_free(p->sessions);
	names_free(p->hosts);
	free(p->host);
	free(p->rank);
	free(p);
}

uint32_t
places_add(struct places *p, const char *session, const char *host)
{
	size_t id, at;

	if (!session)
		return PLACES_UNKNOWN;
	id = names_id(p->sessions, session);
	at = names_id(p->hosts, host ? host : "");
	if (id == p->n) {
		p->host = mem_grow(p->host, p->n, &p->cap, sizeof *p->host);
		p->host[p->n++] = at;
		free(p->rank);
		p->rank = NULL;
	} else if (p->host[id] != at) {
		p->host[id] = 0;
	}
	return (uint32_t)id;
}

const char *
places_session(const struct places *p, uint32_t id)
{
	return names_text(p->sessions, id);
}

uint32_t *
places_order(const struct places *p)
{
	return names_rank(p->sessions);
}

static int
compare_host_names(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Sorts the hosts of the sessions by name. */
static void
rank_hosts(struct places *p)
{
	size_t n = 0;
	struct host *h;

	for (size_t i = 0; i < p->n; i++)
		n = p->host[i] >= n ? p->host[i] + 1 : n;
	h = mem_array(n + 1, sizeof *h);
	p->rank = mem_array(n + 1, sizeof *p->rank);
	for (size_t i = 0; i < n; i++)
		h[i] = (struct host){names_text(p->hosts, i), i};
	if (n)
		qsort(h, n, sizeof *h, compare_host_names);
	for (size_t i = 0; i < n; i++)
		p->rank[h[i].id] = i;
	free(h);
}

size_t
places_machine(struct places *p, uint32_t id)
{
	if (!p->rank)
		rank_hosts(p);
	return p->rank[p->host[id]];
}
