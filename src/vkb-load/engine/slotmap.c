#include "slotmap.h"
#include "address.h"
#include "client.h"
#include "connect.h"
#include "control.h"
#include "engine.h"
#include "mem.h"
#include "num.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
slotmap_read_moved(struct slotmap_hint *h, const char *line, const char *sender)
{
	const char *host, *colon = strrchr(line, ':');
	int at = 0;
	size_t n;

	*h = (struct slotmap_hint){.asking = strncmp(line, "ASK ", 4) == 0};
	if (!h->asking && strncmp(line, "MOVED ", 6) != 0)
		return false;
	if (sscanf(line, "%*s %u%n", &h->slot, &at) != 1 || line[at] != ' ' ||
	    !colon || h->slot >= KEYS_SLOTS)
		return false;
	host = line + at;
	n = colon > host ? (size_t)(colon - host - 1) : 0;
	h->port = atoi(colon + 1);
	if (n >= sizeof h->host || h->port <= 0 || h->port > 65535)
		return false;
	snprintf(h->host, sizeof h->host, "%.*s", (int)n, host + 1);
	if (n == 0)
		snprintf(h->host, sizeof h->host, "%s", sender);
	return true;
}

bool
slotmap_read_passing(
    struct slotmap_hint *h, const char *line, const struct slotmap_node *from)
{
	static const char *const kinds[] = {
	    "CLUSTERDOWN", "TRYAGAIN", "LOADING"};
	size_t i, n = strcspn(line, " ");

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (n == strlen(kinds[i]) && memcmp(line, kinds[i], n) == 0)
			break;
	if (i == sizeof kinds / sizeof *kinds)
		return false;
	*h = (struct slotmap_hint){
	    .later = true, .port = from->port, .unixsocket = from->unixsocket};
	snprintf(h->host, sizeof h->host, "%s", from->host);
	return true;
}

#define CONTROL_MS 5000

struct slotmap_node *
slotmap_find(const struct slotmap *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->nodes[i].name, name) == 0)
			return &m->nodes[i];
	return NULL;
}

static struct slotmap_node *
add_node(struct slotmap *m, const char *host, int port, const char *unixsocket)
{
	char *name =
	    unixsocket ? mem_str(unixsocket) : mem_printf("%s:%d", host, port);
	struct slotmap_node *n = slotmap_find(m, name);

	if (n) {
		free(name);
		return n;
	}
	m->nodes = mem_resize(m->nodes, m->n + 1, sizeof *m->nodes);
	n = &m->nodes[m->n++];
	memset(n, 0, sizeof *n);
	n->host = mem_str(host ? host : "");
	n->port = port;
	n->unixsocket = mem_str(unixsocket);
	n->name = name;
	if (!unixsocket)
		n->addresses =
		    connect_resolve(n->host, port, false, &n->unresolved);
	return n;
}

static void
add_slots(struct slotmap_node *n, unsigned first, unsigned end)
{
	if (!n->turns)
		n->turns = mem_array(KEYS_SLOTS, sizeof *n->turns);
	for (unsigned k = first; k < end && n->nturns < KEYS_SLOTS; k++)
		n->turns[n->nturns++] = (uint16_t)k;
}

/* Shares the slots of a range among its replicas. Returns false if none. */
static bool
add_replicas(
    struct slotmap *m, const struct control_range *r, const char *asked)
{
	unsigned n = (unsigned)r->nreplicas, slots = r->last - r->first + 1;
	const char *host;
	int port;

	for (unsigned i = 0; i < n; i++) {
		if (!control_replica(r, i, asked, &host, &port))
			return false;
		add_slots(add_node(m, host, port, NULL),
		    r->first + slots * i / n, r->first + slots * (i + 1) / n);
	}
	return n > 0;
}

static void
add_range(struct slotmap *m, const struct control_range *r, const char *asked)
{
	if (!m->replicas || !add_replicas(m, r, asked))
		add_slots(
		    add_node(m, r->host, r->port, NULL), r->first, r->last + 1);
}

/* Returns why a range of a new map cannot be read from replicas, or NULL. */
static const char *
find_lonely(const struct control_slots *s, char why[CLIENT_WHY])
{
	for (size_t k = 0; k < s->n; k++)
		if (!s->v[k].nreplicas) {
			snprintf(why, CLIENT_WHY,
			    "the primary %s:%d of the slots %u-%u has no "
			    "replica to read from ('read_from')",
			    s->v[k].host, s->v[k].port, s->v[k].first,
			    s->v[k].last);
			return why;
		}
	return NULL;
}

/* Adds the replicas of a single server. Returns 0, or -1 with 'why'. */
static int
ask_role(struct slotmap *m, const struct engine_target *t, char why[CLIENT_WHY])
{
	int ms = control_ms(t, CONTROL_MS);
	struct client *c = control_open(t, 0, ms, why);
	struct reply *r = c ? CLIENT_CALL(c, ms, "ROLE") : NULL;
	const struct reply *list, *one;
	long long port;

	if (c && !r)
		snprintf(why, CLIENT_WHY, "%s", client_error(c));
	else if (r)
		snprintf(why, CLIENT_WHY,
		    "it has no replica to read from ('read_from')");
	list = r && reply_len(r) > 2 ? reply_at(r, 2) : NULL;
	for (size_t i = 0; list && i < reply_len(list); i++) {
		one = reply_at(list, i);
		if (reply_len(one) > 1 && reply_text(reply_at(one, 0)) &&
		    reply_text(reply_at(one, 1)) &&
		    num_int(reply_text(reply_at(one, 1)), &port) == 0)
			add_node(
			    m, reply_text(reply_at(one, 0)), (int)port, NULL);
	}
	reply_free(r);
	client_close(c);
	return m->n ? 0 : -1;
}

static int
ask_node(struct slotmap *m, const struct engine_target *t, size_t i,
    char why[CLIENT_WHY])
{
	int ms = control_ms(t, CONTROL_MS);
	struct client *c = control_open(t, i, ms, why);
	struct control_slots s;
	const char *wrong;

	if (!c)
		return -1;
	wrong = control_slots(&s, c, ms, t->nodes[i].host);
	if (wrong)
		snprintf(why, CLIENT_WHY, "%s", wrong);
	else if (m->replicas && !m->older)
		wrong = find_lonely(&s, why);
	for (size_t k = 0; k < s.n && !wrong; k++)
		add_range(m, &s.v[k], t->nodes[i].host);
	control_slots_free(&s);
	client_close(c);
	return wrong ? -1 : 0;
}

static int
compare_slots(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Asks the nodes in order until one answers. */
static int
ask_nodes(
    struct slotmap *m, const struct engine_target *t, char why[CLIENT_WHY])
{
	size_t i;
	int rc = -1;

	for (i = 0; i < t->nnodes && rc < 0; i++)
		rc = ask_node(m, t, i, why);
	for (i = 0; i < m->n; i++)
		qsort(m->nodes[i].turns, m->nodes[i].nturns,
		    sizeof *m->nodes[i].turns, compare_slots);
	return m->n ? rc : -1;
}

/*
 * Places the collections of a node; those of 'old' (may be NULL) stay in their
 * slots.
 */
static void
place_collections(
    struct slotmap_node *n, const char *here, const struct slotmap *old)
{
	const struct keys *was;
	struct keys *k = &n->keys;
	struct collection *to;
	size_t i, at, most = KEYS_COLLECTIONS;

	for (i = 0; old && i < old->n; i++)
		most += old->nodes[i].keys.ncollections;
	n->collections = mem_array(most, sizeof *to);
	k->collections = n->collections;
	for (i = 0; old && i < old->n; i++) {
		was = &old->nodes[i].keys;
		for (at = 0; at < was->ncollections; at++)
			if (here[was->collections[at].slot])
				n->collections[k->ncollections++] =
				    was->collections[at];
	}
	if (k->ncollections)
		return;
	for (i = 0; i < KEYS_COLLECTIONS; i++) {
		to = &n->collections[k->ncollections++];
		to->slot = n->turns[i * n->nturns / KEYS_COLLECTIONS];
		to->part = (uint16_t)i;
	}
}

static void
set_owners(struct slotmap *m)
{
	struct slotmap_node *n;
	size_t i, k;

	m->owners = mem_array(KEYS_SLOTS, sizeof *m->owners);
	for (i = 0; i < m->n; i++) {
		n = &m->nodes[i];
		for (k = 0; k < n->nturns; k++)
			m->owners[n->turns[k]] = (uint16_t)i;
		n->keys.owners = m->owners;
		n->keys.node = (uint16_t)i;
		n->refills = n->keys;
		n->refills.space = KEYS_NUMBERS;
	}
}

/* Sets the part of the key space that has its slots on this node. */
static void
share_key_space(struct slotmap_node *n, uint64_t space, const char (*tags)[3],
    const struct slotmap *old)
{
	struct keys *k = &n->keys;
	uint64_t rest = space % KEYS_SLOTS;
	bool none;
	char *here;
	size_t i;

	k->space = k->count = space;
	if (!n->nturns)
		return;
	k->cluster = true;
	k->tags = tags;
	k->rounds = space / KEYS_SLOTS;
	here = mem_new(KEYS_SLOTS);
	for (i = 0; i < n->nturns; i++)
		here[n->turns[i]] = 1;
	n->residues = mem_array(KEYS_SLOTS, sizeof *n->residues);
	for (i = 0; i < KEYS_SLOTS; i++)
		if (here[keys_slot(i)] && i < space)
			n->residues[k->nresidues++] = (uint16_t)i;
	/*
	 * If no number of a small key space is on this node, its requests use
	 * one outside of the key space.
	 */
	none = !k->nresidues;
	for (i = 0; !k->nresidues; i++)
		if (here[keys_slot(i)]) {
			n->residues[k->nresidues++] = (uint16_t)i;
			k->nlong = 1;
		}
	qsort(n->residues, k->nresidues, sizeof *n->residues, compare_slots);
	for (i = 0; i < k->nresidues; i++)
		k->nlong += n->residues[i] < rest;
	k->residues = n->residues;
	k->count = k->nresidues * k->rounds + k->nlong;
	n->nkeys = none ? 0 : k->count;
	place_collections(n, here, old);
	free(here);
}

struct slotmap *
slotmap_new(const struct engine_target *t, uint64_t space,
    const char (*tags)[3], bool replicas)
{
	struct slotmap *m = mem_new(sizeof *m);
	char why[CLIENT_WHY] = "there are no nodes", *at;
	size_t i;
	int rc;

	m->replicas = replicas;
	rc = t->cluster ? ask_nodes(m, t, why)
	    : replicas  ? ask_role(m, t, why)
			: 0;
	for (i = 0; i < t->nnodes && !t->cluster && !replicas; i++)
		add_node(m, t->nodes[i].host, t->nodes[i].port,
		    t->nodes[i].unixsocket);
	if (rc < 0 || !m->n) {
		at = address_format(
		    t->nodes[0].host, t->nodes[0].port, t->nodes[0].unixsocket);
		err_say("cannot read the %s at %s: %s",
		    t->cluster ? "slots of the cluster"
			       : "replicas of the server",
		    at, why);
		free(at);
		slotmap_free(m);
		return NULL;
	}
	for (i = 0; i < m->n; i++)
		share_key_space(&m->nodes[i], space, tags, NULL);
	set_owners(m);
	return m;
}

static bool
is_same_map(const struct slotmap *a, const struct slotmap *b)
{
	const struct slotmap_node *x, *y;
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		x = &a->nodes[i];
		y = slotmap_find(b, x->name);
		if (!y || x->nturns != y->nturns ||
		    memcmp(x->turns, y->turns, x->nturns * sizeof *x->turns) !=
			0)
			return false;
	}
	return true;
}

/*
 * Nodes continue at the mean progress of all: a key whose slot has moved may be
 * used twice in this round, or not at all.
 */
static void
keep_places(struct slotmap *m, struct slotmap *old)
{
	double done = 0, all = 0;
	size_t i;

	for (i = 0; i < old->n; i++) {
		done += (double)atomic_load(&old->nodes[i].place);
		all += (double)old->nodes[i].keys.count;
	}
	for (i = 0; i < m->n; i++)
		atomic_store(&m->nodes[i].place,
		    (uint64_t)(done / all * (double)m->nodes[i].keys.count));
}

struct slotmap *
slotmap_refresh(struct slotmap *old, const struct engine_target *t,
    uint64_t space, const char (*tags)[3])
{
	struct slotmap *m = mem_new(sizeof *m);
	char why[CLIENT_WHY];
	size_t i;

	m->replicas = old->replicas;
	m->older = old;
	if (ask_nodes(m, t, why) < 0 || is_same_map(old, m)) {
		m->older = NULL;
		slotmap_free(m);
		return old;
	}
	for (i = 0; i < m->n; i++)
		share_key_space(&m->nodes[i], space, tags, old);
	set_owners(m);
	keep_places(m, old);
	return m;
}

void
slotmap_free(struct slotmap *m)
{
	struct slotmap *older;
	size_t i;

	for (; m; m = older) {
		older = m->older;
		for (i = 0; i < m->n; i++) {
			free(m->nodes[i].host);
			free(m->nodes[i].unixsocket);
			free(m->nodes[i].name);
			if (m->nodes[i].addresses)
				freeaddrinfo(m->nodes[i].addresses);
			free(m->nodes[i].turns);
			free(m->nodes[i].residues);
			free(m->nodes[i].collections);
		}
		free(m->nodes);
		free(m->owners);
		free(m);
	}
}
