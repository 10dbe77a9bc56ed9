#include "dealer.h"
#include "client.h"
#include "cmdargs.h"
#include "cmdsource.h"
#include "counters.h"
#include "engine.h"
#include "keys.h"
#include "mem.h"
#include "run.h"
#include "slotmap.h"
#include "str.h"
#include "tracefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns how many are to be sent. */
static inline size_t
dealer_count(const struct dealer_list *f)
{
	return f->n - f->nsent;
}

struct dealer_list *
dealer_list_new(uint32_t db)
{
	struct dealer_list *f = mem_new(sizeof *f);

	f->db = db;
	return f;
}

static void
push_item(struct dealer_list *f, const struct dealer_item *item)
{
	f->ring =
	    run_grow_ring(f->ring, &f->head, f->n, &f->cap, sizeof *f->ring);
	*dealer_at(f, f->n++) = *item;
}

/* Frees the n oldest items, which were answered. Returns their bytes. */
static size_t
drop_items(struct dealer_list *f, uint32_t n)
{
	struct dealer_item *item;
	size_t bytes = 0;

	for (; n && f->n; n--) {
		item = dealer_at(f, 0);
		bytes += item->n;
		free(item->bytes);
		f->head = (f->head + 1) & (f->cap - 1);
		f->n--;
		f->nsent -= f->nsent > 0;
	}
	return bytes;
}

void
dealer_list_free(struct dealer_list *f)
{
	if (!f)
		return;
	while (f->n)
		drop_items(f, 1);
	free(f->ring);
	free(f);
}

static void
free_outbox(struct dealer_outbox *o)
{
	free(o->order);
	free(o->ready);
}

void
dealer_add_ready(struct dealer_outbox *o, struct conn *c)
{
	if (c->list->listed)
		return;
	c->list->listed = true;
	*MEM_ADD(o->ready, o->nready, o->ready_cap) = c;
}

struct conn *
dealer_take_ready(struct dealer_outbox *o)
{
	struct conn *c;

	if (!o->nready)
		return NULL;
	c = o->ready[--o->nready];
	c->list->listed = false;
	return c;
}

static void
add_order(struct dealer_outbox *o, struct conn *c)
{
	o->order = run_grow_ring(
	    o->order, &o->order_at, o->norder, &o->order_cap, sizeof *o->order);
	o->order[(o->order_at + o->norder++) & (o->order_cap - 1)] = c;
}

/* Adds a command of a connection, and takes its bytes. */
static void
push_outbox(struct worker *w, struct conn *c, const struct dealer_item *item)
{
	struct dealer_outbox *o = w->outbox;

	push_item(c->list, item);
	o->waiting++;
	o->bytes += item->n;
	if (run_is_open(w->run))
		add_order(o, c);
	else if (c->list->waits)
		dealer_add_ready(o, c);
}

/* Returns when the next command of a connection is due that is not late. */
static int64_t
get_due(const struct conn *c)
{
	return dealer_at(c->list, c->list->nsent + c->list->late)->due_ns;
}

void
dealer_expire(struct dealer_outbox *o, int64_t due_ns)
{
	struct conn *c;

	while (o->norder) {
		c = o->order[o->order_at];
		if (get_due(c) > due_ns)
			break;
		o->order_at = (o->order_at + 1) & (o->order_cap - 1);
		o->norder--;
		o->late++;
		c->list->late++;
		dealer_add_ready(o, c);
	}
}

static int64_t
get_next_due(const struct dealer_outbox *o)
{
	return o->norder ? get_due(o->order[o->order_at]) : -1;
}

void
dealer_answer(struct dealer_outbox *o, struct conn *c, uint32_t n)
{
	o->bytes -= drop_items(c->list, n);
	if (c->list->late)
		dealer_add_ready(o, c);
}

#define DEALER_COMMANDS 65536

#define DEALER_BYTES (64 << 20)

#define CHUNK 256    /* commands read at once, so that replies do not wait */
#define SCRIPT "lua" /* the address of what scripts send */

/* What a command means for the order of others. */
enum dealer_act { PLAIN, MULTI, END, TO_ALL };

struct dealer_command {
	struct dealer_item item; /* its bytes are owned */
	enum dealer_act act;     /* TO_ALL: each node gets it */
	uint32_t from;           /* the recorded connection */
	uint32_t db;
	long slot; /* of its keys; -1: it has none */
};

/* A recorded connection. */
struct origin {
	bool script;
	bool inside;       /* what was read last of it is in a transaction */
	bool opening;      /* MULTI waits for the node of the transaction */
	struct conn *conn; /* of an open transaction, or NULL */
	struct dealer_command multi;
};

/* A trace, as all threads see it. */
struct trace {
	struct cmdsource source;
	/* Of each recorded connection: which command, from 1 on, begins the
	 * transaction that is never ended; or 0. */
	uint64_t *endless;
	size_t n, cap;
};

/* A client of this thread, which has a connection to each node. */
struct local {
	int64_t owner; /* the recorded connection in a transaction, or -1 */
	struct dealer_command *held;
	size_t nheld, cap;
};

struct dealer {
	struct worker *worker;
	struct tracefile *file;
	struct tracefile_command next;
	bool read;     /* 'next' is to be dealt */
	bool ended;    /* nothing is left to read */
	uint64_t nth;  /* 'next' in the trace, from 1 on */
	uint64_t seen; /* commands that are sent, by any thread */
	struct dealer_outbox outbox;
	struct origin *origins; /* by the number of the recorded connection */
	size_t norigins, origins_cap;
	struct local *locals; /* of each client */
	struct engine_error omitted[ENGINE_ERRORS];
	size_t nomitted;
	enum cmdargs_role *roles;
	size_t roles_cap;
};

static size_t
find_client(const struct dealer *d, uint32_t from)
{
	return from % (size_t)d->worker->run->work->clients;
}

/* Is it a client of this thread? */
static bool
is_ours(const struct dealer *d, uint32_t from)
{
	return find_client(d, from) % d->worker->run->nworkers ==
	    (size_t)d->worker->index;
}

static size_t
find_local(const struct dealer *d, uint32_t from)
{
	return find_client(d, from) / d->worker->run->nworkers;
}

static void
make_item(struct dealer_item *item, const struct tracefile_word *w, size_t n)
{
	struct str s = {0};

	client_format_head(&s, n);
	for (size_t i = 0; i < n; i++)
		client_format_word(&s, w[i].s, w[i].n);
	item->n = s.len;
	item->bytes = str_take(&s);
}

/* Moves a connection to the database of its next command. */
static void
select_db(struct dealer *d, struct conn *c, const struct dealer_command *x)
{
	struct dealer_item item = {.due_ns = x->item.due_ns};
	struct tracefile_word w[2] = {{"SELECT", 6}, {NULL, 0}};
	char text[16];

	if (c->list->db == x->db)
		return;
	w[1].s = text;
	w[1].n = (size_t)snprintf(text, sizeof text, "%u", x->db);
	item.part = counters_name_part(d->worker, "SELECT");
	make_item(&item, w, 2);
	push_outbox(d->worker, c, &item);
	c->list->db = x->db;
}

/* Returns the connection of the command's client to a node. */
static struct conn *
get_conn(const struct dealer *d, const struct dealer_command *x, size_t pool)
{
	return d->worker->pools[pool].conns[find_local(d, x->from)];
}

static void
push_to(struct dealer *d, const struct dealer_command *x, struct conn *c)
{
	select_db(d, c, x);
	push_outbox(d->worker, c, &x->item);
}

static void
push_to_all(struct dealer *d, const struct dealer_command *x)
{
	struct dealer_command copy;

	for (size_t i = 1; i < d->worker->npools; i++) {
		copy = *x;
		copy.item.bytes = mem_strn(x->item.bytes, x->item.n);
		push_to(d, &copy, get_conn(d, &copy, i));
	}
	push_to(d, x, get_conn(d, x, 0));
}

/*
 * Returns the connection of a command, or NULL if its transaction is on another
 * node. MULTI waits for the first command behind it. A transaction keeps its
 * connection, also when the slots move meanwhile.
 */
static struct conn *
choose_conn(struct dealer *d, const struct dealer_command *x)
{
	const struct worker *w = d->worker;
	struct origin *o = &d->origins[x->from];
	size_t pool = w->npools == 1 ? 0
	    : x->slot < 0            ? x->from % w->npools
				     : w->map->owners[x->slot];
	struct conn *c = get_conn(d, x, pool);

	if (o->opening) {
		o->opening = false;
		o->conn = c;
		push_to(d, &o->multi, c);
	}
	if (!o->conn)
		return c;
	return x->slot >= 0 && pool != o->conn->pool ? NULL : o->conn;
}

static void
place_command(struct dealer *d, const struct dealer_command *x)
{
	struct origin *o = &d->origins[x->from];
	struct conn *c;

	if (x->act == TO_ALL && !o->opening && !o->conn) {
		push_to_all(d, x);
		return;
	}
	if (x->act == MULTI && !o->opening && !o->conn &&
	    d->worker->npools > 1) {
		o->opening = true;
		o->multi = *x;
		return;
	}
	c = choose_conn(d, x);
	if (!c) {
		counters_add_row(d->omitted, &d->nomitted, "in a transaction",
		    "it is on another node", 1, true);
		free(x->item.bytes);
		return;
	}
	push_to(d, x, c);
	if (x->act == END)
		o->conn = NULL;
}

/* Notes the begin or the end of a transaction. */
static void
place_in_turn(struct dealer *d, struct local *l, const struct dealer_command *x)
{
	place_command(d, x);
	if (x->act == MULTI)
		l->owner = x->from;
	else if (x->act == END)
		l->owner = -1;
}

/* Passes on the commands that were held back, up to the next one that must wait
 * for a transaction. */
static void
release_held(struct dealer *d, struct local *l)
{
	struct dealer_command x;
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
		place_in_turn(d, l, &x);
		if (l->owner < 0)
			i = 0;
	}
}

/* Gives a command to the connection that sends it, now or when a transaction
 * has ended that keeps it back. Takes its bytes. */
static void
put_command(struct dealer *d, const struct dealer_command *x)
{
	struct local *l = &d->locals[find_local(d, x->from)];

	if (l->owner >= 0 && l->owner != x->from) {
		*MEM_ADD(l->held, l->nheld, l->cap) = *x;
		return;
	}
	place_in_turn(d, l, x);
	if (l->nheld && l->owner < 0)
		release_held(d, l);
}

struct dealer *
dealer_new(struct worker *w)
{
	struct dealer *d;
	char *why = NULL;
	struct tracefile *file = tracefile_open(w->run->work->replay, &why);

	if (!file) {
		run_fail(w->run, "%s", why);
		free(why);
		return NULL;
	}
	d = mem_new(sizeof *d);
	d->worker = w;
	d->file = file;
	d->locals = mem_array(w->nclients, sizeof *d->locals);
	for (size_t i = 0; i < w->nclients; i++)
		d->locals[i].owner = -1;
	w->outbox = &d->outbox;
	return d;
}

void
dealer_free(struct dealer *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->worker->nclients; i++) {
		for (size_t k = 0; k < d->locals[i].nheld; k++)
			free(d->locals[i].held[k].item.bytes);
		free(d->locals[i].held);
	}
	for (size_t i = 0; i < d->norigins; i++)
		if (d->origins[i].opening)
			free(d->origins[i].multi.item.bytes);
	free(d->locals);
	free(d->origins);
	free_outbox(&d->outbox);
	tracefile_close(d->file);
	free(d->roles);
	free(d);
}

/* Returns why the command cannot be sent to a cluster, or NULL. */
static const char *
find_slot(struct dealer *d, struct dealer_command *x)
{
	const struct tracefile_command *c = &d->next;
	long slot;

	if (c->db)
		return "a cluster has no such database";
	if (d->roles_cap < c->n) {
		d->roles_cap = c->n;
		d->roles = mem_resize(d->roles, c->n, sizeof *d->roles);
	}
	if (!cmdargs_roles(c->words, c->n, d->roles))
		return "its keys are not known";
	for (size_t i = 1; i < c->n; i++) {
		if (d->roles[i] != CMDARGS_KEY)
			continue;
		slot = keys_hash_slot(c->words[i].s, c->words[i].n);
		if (x->slot >= 0 && x->slot != slot)
			return "its keys are in several slots";
		x->slot = slot;
	}
	return NULL;
}

static enum dealer_act
find_act(const struct tracefile_word *w)
{
	static const struct {
		const char *name;
		enum dealer_act act;
	} acts[] = {{"MULTI", MULTI}, {"EXEC", END}, {"DISCARD", END},
	    {"RESET", END}, {"SCRIPT", TO_ALL}, {"FUNCTION", TO_ALL}};

	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
		if (cmdargs_is(w, acts[i].name))
			return acts[i].act;
	return PLAIN;
}

/* Belongs the command that was read to a transaction without an end? Its client
 * went away, and the server did none of it. */
static bool
is_endless(const struct dealer *d)
{
	const struct trace *t = (const struct trace *)d->worker->run->source;
	uint32_t from = d->next.conn;

	return from < t->n && t->endless[from] && d->nth >= t->endless[from];
}

/* Returns why the command that was read is not sent, or NULL. */
static const char *
find_obstacle(struct dealer *d, struct dealer_command *x)
{
	const struct tracefile_command *c = &d->next;
	const char *why = cmdargs_refuse(c->words, c->n);

	if (d->origins[c->conn].script)
		return "a script sent it";
	if (why || c->omitted)
		return why ? why : "it was not hashed";
	if (is_endless(d))
		return "its transaction has no end";
	return d->worker->run->by_key ? find_slot(d, x) : NULL;
}

/* No command follows: passes on those that were held back. */
static void
end_trace(struct dealer *d)
{
	struct origin *o;

	d->ended = true;
	for (size_t i = 0; i < d->worker->nclients; i++)
		while (d->locals[i].nheld) {
			d->locals[i].owner = -1;
			release_held(d, &d->locals[i]);
		}
	for (size_t i = 0; i < d->norigins; i++) {
		o = &d->origins[i];
		if (!o->opening)
			continue;
		o->opening = false;
		push_to(d, &o->multi, get_conn(d, &o->multi, 0));
	}
}

/* A RESET ends a transaction, and is not sent: a DISCARD does what is needed.
 */
static void
replace_reset(struct dealer *d)
{
	static const struct tracefile_word discard = {"DISCARD", 7};

	if (!d->origins[d->next.conn].inside ||
	    !cmdargs_is(&d->next.words[0], "RESET"))
		return;
	d->next.words = &discard;
	d->next.n = 1;
	d->next.omitted = false;
}

/* Deals the command that was read, or counts why not. */
static void
deal_next(struct dealer *d)
{
	const struct tracefile_command *c = &d->next;
	struct dealer_command x = {.from = c->conn, .db = c->db, .slot = -1};
	char name[CMDARGS_NAME];
	const char *why;

	d->read = false;
	d->nth++;
	if (cmdargs_is(&c->words[0], "SELECT"))
		return;
	replace_reset(d);
	cmdargs_name(c->words, c->n, name);
	why = find_obstacle(d, &x);
	if (!why && d->seen++ == d->worker->run->requests) {
		end_trace(d);
		return;
	}
	x.act = find_act(&c->words[0]);
	if (!why && (x.act == MULTI || x.act == END))
		d->origins[c->conn].inside = x.act == MULTI;
	if (!is_ours(d, c->conn))
		return;
	if (why) {
		counters_add_row(d->omitted, &d->nomitted, name, why, 1, true);
		return;
	}
	x.item.due_ns = (int64_t)(c->at_us * 1000);
	x.item.part = counters_name_part(d->worker, name);
	make_item(&x.item, c->words, c->n);
	put_command(d, &x);
}

/* Makes a command available in 'next'. Returns false at the end. */
static bool
read_next(struct dealer *d)
{
	const char *address;
	int rc;

	while (!d->read && !d->ended) {
		rc = tracefile_next(d->file, &d->next, &address);
		d->read = rc > 0 && !address;
		if (rc > 0 && address) {
			*MEM_ADD(d->origins, d->norigins, d->origins_cap) =
			    (struct origin){
				.script = strcmp(address, SCRIPT) == 0};
		} else if (rc == 0)
			end_trace(d);
		else if (rc < 0) {
			run_fail(
			    d->worker->run, "%s", tracefile_error(d->file));
			d->ended = true;
		}
	}
	return d->read;
}

static bool
has_room(const struct dealer *d)
{
	return d->outbox.waiting < DEALER_COMMANDS &&
	    d->outbox.bytes < DEALER_BYTES;
}

void
dealer_read(struct worker *w, int64_t until_ns)
{
	struct dealer *d = w->dealer;

	for (int i = 0; i < CHUNK && has_room(d) && read_next(d) &&
	     (int64_t)(d->next.at_us * 1000) <= until_ns;
	     i++)
		deal_next(d);
	if (w->index == 0)
		atomic_store_explicit(&w->run->replayed,
		    (int)(1000 * tracefile_done(d->file)),
		    memory_order_relaxed);
}

static void
send_next(struct worker *w, struct conn *c, int64_t now)
{
	size_t n = dealer_count(c->list);

	c->list->waits = !n && c->state == CONN_READY && !c->awaited;
	if (!n || c->state != CONN_READY || c->awaited || c->next)
		return;
	if (n > w->run->pipeline)
		n = w->run->pipeline;
	c->counted = now >= w->run->from;
	run_send(w, c, (uint32_t)n, now);
}

void
dealer_next(struct worker *w, struct conn *c, int64_t now)
{
	struct dealer *d = w->dealer;

	if (now >= w->run->t1)
		w->ending = true;
	if (w->ending)
		return;
	send_next(w, c, now);
	do {
		if (!d->ended && has_room(d))
			dealer_read(w, INT64_MAX);
		while ((c = dealer_take_ready(&d->outbox)))
			send_next(w, c, now);
	} while (
	    !w->loop.busy && !d->ended && has_room(d) && !run_halted(w->run));
}

int64_t
dealer_get_next(const struct dealer *d)
{
	int64_t next = get_next_due(&d->outbox);

	if (next >= 0)
		return next;
	if (!has_room(d)) /* a reply has to come first */
		return INT64_MAX;
	return d->read ? (int64_t)(d->next.at_us * 1000)
	    : d->ended ? INT64_MAX
		       : 0;
}

bool
dealer_is_empty(const struct dealer *d)
{
	return d->ended && !d->outbox.waiting;
}

void
dealer_report(const struct dealer *d, struct engine_result *r)
{
	for (size_t i = 0; d && i < d->nomitted; i++)
		counters_add_row(r->omitted, &r->nomitted, d->omitted[i].kind,
		    d->omitted[i].text, d->omitted[i].count, true);
}

static size_t
get_trace_room(const struct cmdsource *s, size_t bytes)
{
	(void)s;
	return bytes;
}

static void
free_source(struct cmdsource *s)
{
	struct trace *t = (struct trace *)s;

	free(t->endless);
	free(t);
}

/* Notes a transaction that a command begins or ends. */
static void
note_command(struct trace *t, const struct tracefile_command *c, uint64_t nth)
{
	enum dealer_act act = find_act(&c->words[0]);

	if (act == END)
		t->endless[c->conn] = 0;
	else if (act == MULTI && !t->endless[c->conn])
		t->endless[c->conn] = nth;
}

/* Do recorded connections share a client? */
static bool
is_shared(const struct engine_work *w)
{
	struct tracefile_totals totals;
	char *why = NULL;
	bool ok = tracefile_totals(w->replay, &totals, &why) == 0;

	free(why);
	return ok && totals.conns > (uint64_t)w->clients;
}

/* Finds the transactions without an end. Of a file that cannot be read those
 * that were found: dealer_new and dealer_read report it. */
static void
find_endless(struct trace *t, const char *path)
{
	char *why = NULL;
	struct tracefile *file = tracefile_open(path, &why);
	struct tracefile_command c;
	const char *address;
	uint64_t nth = 0;

	while (file && tracefile_next(file, &c, &address) > 0) {
		if (!address) {
			note_command(t, &c, ++nth);
			continue;
		}
		*MEM_ADD(t->endless, t->n, t->cap) = 0;
	}
	if (file)
		tracefile_close(file);
	free(why);
}

struct cmdsource *
dealer_open_source(const struct engine_work *w)
{
	static const struct cmdsource_ops ops = {
	    .room = get_trace_room, .free = free_source};
	struct trace *t = mem_new(sizeof *t);
	struct cmdsource *s = &t->source;

	if (is_shared(w))
		find_endless(t, w->replay);
	s->ops = &ops;
	s->len = 64; /* only a guess of how much a batch has */
	s->cycle = s->together = 1;
	s->tagged = true;
	s->values = 1;
	return s;
}
