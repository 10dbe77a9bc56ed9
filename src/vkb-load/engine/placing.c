#include "placing.h"
#include "mem.h"
#include "mixparts.h"
#include "omissions.h"
#include "outbox.h"
#include "run.h"
#include "slotmap.h"
#include "tracefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A recorded connection. */
struct origin {
	bool script;
	bool opening;      /* MULTI waits for the node of the transaction */
	struct conn *conn; /* of an open transaction, or NULL */
	struct placing_command multi;
};

/* A client of this thread, which has a connection to each node. */
struct local {
	int64_t owner; /* the recorded connection in a transaction, or -1 */
	struct placing_command *held;
	size_t nheld, cap;
};

struct placing {
	struct worker *worker;
	struct omissions *omissions; /* borrowed */
	struct origin *origins;
	size_t norigins, cap;
	struct local *locals;
};

struct placing *
placing_new(struct worker *w, struct omissions *omissions)
{
	struct placing *p = mem_new(sizeof *p);

	p->worker = w;
	p->omissions = omissions;
	p->locals = mem_array(w->nclients, sizeof *p->locals);
	for (size_t i = 0; i < w->nclients; i++)
		p->locals[i].owner = -1;
	return p;
}

void
placing_free(struct placing *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->worker->nclients; i++) {
		for (size_t k = 0; k < p->locals[i].nheld; k++)
			free(p->locals[i].held[k].item.bytes);
		free(p->locals[i].held);
	}
	for (size_t i = 0; i < p->norigins; i++)
		if (p->origins[i].opening)
			free(p->origins[i].multi.item.bytes);
	free(p->locals);
	free(p->origins);
	free(p);
}

void
placing_add_origin(struct placing *p, bool script)
{
	p->origins =
	    mem_grow(p->origins, p->norigins, &p->cap, sizeof *p->origins);
	p->origins[p->norigins++] = (struct origin){.script = script};
}

bool
placing_is_script(const struct placing *p, uint32_t from)
{
	return p->origins[from].script;
}

static size_t
find_client(const struct placing *p, uint32_t from)
{
	return from % (size_t)p->worker->run->work->clients;
}

bool
placing_is_ours(const struct placing *p, uint32_t from)
{
	return find_client(p, from) % p->worker->run->nworkers ==
	    (size_t)p->worker->index;
}

static size_t
find_local(const struct placing *p, uint32_t from)
{
	return find_client(p, from) / p->worker->run->nworkers;
}

void
placing_make_item(
    struct sendlist_item *item, const struct tracefile_word *w, size_t n)
{
	size_t size = 32, len;

	for (size_t i = 0; i < n; i++)
		size += w[i].n + 32;
	item->bytes = mem_resize(NULL, size, 1);
	len = (size_t)snprintf(item->bytes, size, "*%zu\r\n", n);
	for (size_t i = 0; i < n; i++) {
		len += (size_t)snprintf(
		    item->bytes + len, size - len, "$%zu\r\n", w[i].n);
		memcpy(item->bytes + len, w[i].s, w[i].n);
		memcpy(item->bytes + len + w[i].n, "\r\n", 2);
		len += w[i].n + 2;
	}
	item->n = len;
}

/* Moves a connection to the database of its next command. */
static void
select_db(struct placing *p, struct conn *c, const struct placing_command *x)
{
	struct sendlist_item item = {.due_ns = x->item.due_ns};
	struct tracefile_word w[2] = {{"SELECT", 6}, {NULL, 0}};
	char text[16];

	if (c->list->db == x->db)
		return;
	w[1].s = text;
	w[1].n = (size_t)snprintf(text, sizeof text, "%u", x->db);
	item.part = mixparts_name(p->worker, "SELECT");
	placing_make_item(&item, w, 2);
	outbox_push(p->worker, c, &item);
	c->list->db = x->db;
}

/* Returns the connection of the command's client to a node. */
static struct conn *
get_conn(const struct placing *p, const struct placing_command *x, size_t pool)
{
	return p->worker->pools[pool].conns[find_local(p, x->from)];
}

static void
push_to(struct placing *p, const struct placing_command *x, struct conn *c)
{
	select_db(p, c, x);
	outbox_push(p->worker, c, &x->item);
}

static void
push_to_all(struct placing *p, const struct placing_command *x)
{
	struct placing_command copy;

	for (size_t i = 1; i < p->worker->npools; i++) {
		copy = *x;
		copy.item.bytes = mem_strn(x->item.bytes, x->item.n);
		push_to(p, &copy, get_conn(p, &copy, i));
	}
	push_to(p, x, get_conn(p, x, 0));
}

/*
 * Returns the connection of a command, or NULL if its transaction is on another
 * node. MULTI waits for the first command behind it. A transaction keeps its
 * connection, also when the slots move meanwhile.
 */
static struct conn *
choose_conn(struct placing *p, const struct placing_command *x)
{
	const struct worker *w = p->worker;
	struct origin *o = &p->origins[x->from];
	size_t pool = w->npools == 1 ? 0
	    : x->slot < 0            ? x->from % w->npools
				     : w->map->owners[x->slot];
	struct conn *c = get_conn(p, x, pool);

	if (o->opening) {
		o->opening = false;
		o->conn = c;
		push_to(p, &o->multi, c);
	}
	if (!o->conn)
		return c;
	return x->slot >= 0 && pool != o->conn->pool ? NULL : o->conn;
}

static void
place_command(struct placing *p, const struct placing_command *x)
{
	struct origin *o = &p->origins[x->from];
	struct conn *c;

	if (x->act == PLACING_ALL && !o->opening && !o->conn) {
		push_to_all(p, x);
		return;
	}
	if (x->act == PLACING_MULTI && !o->opening && !o->conn &&
	    p->worker->npools > 1) {
		o->opening = true;
		o->multi = *x;
		return;
	}
	c = choose_conn(p, x);
	if (!c) {
		omissions_add(p->omissions, "in a transaction",
		    "it is on another node", 1);
		free(x->item.bytes);
		return;
	}
	push_to(p, x, c);
	if (x->act == PLACING_END)
		o->conn = NULL;
}

/* Notes the begin or the end of a transaction. */
static void
place_in_turn(
    struct placing *p, struct local *l, const struct placing_command *x)
{
	place_command(p, x);
	if (x->act == PLACING_MULTI)
		l->owner = x->from;
	else if (x->act == PLACING_END)
		l->owner = -1;
}

/* Passes on the commands that were held back, up to the next one that must wait
 * for a transaction. */
static void
release_held(struct placing *p, struct local *l)
{
	struct placing_command x;
	size_t i = 0;

	while (i < l->nheld) {
		x = l->held[i];
		if (l->owner >= 0 && l->owner != x.from) {
			i++;
			continue;
		}
		l->nheld--;
		memmove(&l->held[i], &l->held[i + 1],
		    (l->nheld - i) * sizeof *l->held);
		place_in_turn(p, l, &x);
		if (l->owner < 0)
			i = 0;
	}
}

void
placing_put(struct placing *p, const struct placing_command *x)
{
	struct local *l = &p->locals[find_local(p, x->from)];

	if (l->owner >= 0 && l->owner != x->from) {
		l->held = mem_grow(l->held, l->nheld, &l->cap, sizeof *l->held);
		l->held[l->nheld++] = *x;
		return;
	}
	place_in_turn(p, l, x);
	if (l->nheld && l->owner < 0)
		release_held(p, l);
}

void
placing_end(struct placing *p)
{
	struct origin *o;

	for (size_t i = 0; i < p->worker->nclients; i++)
		while (p->locals[i].nheld) {
			p->locals[i].owner = -1;
			release_held(p, &p->locals[i]);
		}
	for (size_t i = 0; i < p->norigins; i++) {
		o = &p->origins[i];
		if (!o->opening)
			continue;
		o->opening = false;
		push_to(p, &o->multi, get_conn(p, &o->multi, 0));
	}
}
