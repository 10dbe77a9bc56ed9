#include "dealer.h"
#include "cmdargs.h"
#include "cmdsource.h"
#include "engine.h"
#include "sendlist.h"
#include "keys.h"
#include "mem.h"
#include "mixparts.h"
#include "omissions.h"
#include "outbox.h"
#include "placing.h"
#include "run.h"
#include "sending.h"
#include "tracefile.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 256    /* commands read at once, so that replies do not wait */
#define SCRIPT "lua" /* the address of what scripts send */

struct dealer {
	struct worker *worker;
	struct tracefile *file;
	struct tracefile_command next;
	bool read;     /* 'next' is to be dealt */
	bool ended;    /* nothing is left to read */
	uint64_t seen; /* commands that are sent, by any thread */
	struct placing *placing;
	struct outbox outbox;
	struct omissions omissions;
	enum cmdargs_role *roles;
	size_t roles_cap;
};

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
	d->placing = placing_new(w, &d->omissions);
	w->outbox = &d->outbox;
	return d;
}

void
dealer_free(struct dealer *d)
{
	if (!d)
		return;
	placing_free(d->placing);
	outbox_free(&d->outbox);
	tracefile_close(d->file);
	free(d->roles);
	free(d);
}

/* Returns why the command cannot be sent to a cluster, or NULL. */
static const char *
find_slot(struct dealer *d, struct placing_command *x)
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

static enum placing_act
find_act(const struct tracefile_word *w)
{
	static const struct {
		const char *name;
		enum placing_act act;
	} acts[] = {{"MULTI", PLACING_MULTI}, {"EXEC", PLACING_END},
	    {"DISCARD", PLACING_END}, {"SCRIPT", PLACING_ALL},
	    {"FUNCTION", PLACING_ALL}};

	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
		if (cmdargs_is(w, acts[i].name))
			return acts[i].act;
	return PLACING_PLAIN;
}

/* Returns why the command that was read is not sent, or NULL. */
static const char *
find_obstacle(struct dealer *d, struct placing_command *x)
{
	const struct tracefile_command *c = &d->next;
	const char *why = cmdargs_refuse(c->words, c->n);

	if (placing_is_script(d->placing, c->conn))
		return "a script sent it";
	if (why || c->omitted)
		return why ? why : "it was not hashed";
	return d->worker->run->by_key ? find_slot(d, x) : NULL;
}

static void
end_trace(struct dealer *d)
{
	d->ended = true;
	placing_end(d->placing);
}

/* Deals the command that was read, or counts why not. */
static void
deal_next(struct dealer *d)
{
	const struct tracefile_command *c = &d->next;
	struct placing_command x = {.from = c->conn, .db = c->db, .slot = -1};
	char name[CMDARGS_NAME];
	const char *why;

	d->read = false;
	if (cmdargs_is(&c->words[0], "SELECT"))
		return;
	cmdargs_name(c->words, c->n, name);
	why = find_obstacle(d, &x);
	if (!why && d->seen++ == d->worker->run->requests) {
		end_trace(d);
		return;
	}
	if (!placing_is_ours(d->placing, c->conn))
		return;
	if (why) {
		omissions_add(&d->omissions, name, why, 1);
		return;
	}
	x.act = find_act(&c->words[0]);
	x.item.due_ns = (int64_t)(c->at_us * 1000);
	x.item.part = mixparts_name(d->worker, name);
	placing_make_item(&x.item, c->words, c->n);
	placing_put(d->placing, &x);
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
		if (rc > 0 && address)
			placing_add_origin(
			    d->placing, strcmp(address, SCRIPT) == 0);
		else if (rc == 0)
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
	size_t n = sendlist_count(c->list);

	c->list->waits = !n && c->state == CONN_READY && !c->awaited;
	if (!n || c->state != CONN_READY || c->awaited || c->next)
		return;
	if (n > w->run->pipeline)
		n = w->run->pipeline;
	c->counted = now >= w->run->from;
	sending_batch(w, c, (uint32_t)n, now);
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
		while ((c = outbox_take_ready(&d->outbox)))
			send_next(w, c, now);
	} while (
	    !w->loop.busy && !d->ended && has_room(d) && !run_halted(w->run));
}

int64_t
dealer_get_next(const struct dealer *d)
{
	int64_t next = outbox_get_next(&d->outbox);

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
	struct omissions all;

	if (!d)
		return;
	memcpy(all.v, r->omitted, sizeof all.v);
	all.n = r->nomitted;
	for (size_t i = 0; i < d->omissions.n; i++)
		omissions_add(&all, d->omissions.v[i].kind,
		    d->omissions.v[i].text, d->omissions.v[i].count);
	memcpy(r->omitted, all.v, sizeof r->omitted);
	r->nomitted = all.n;
}

static size_t
get_room(const struct cmdsource *s, size_t bytes)
{
	(void)s;
	return bytes;
}

static void
free_source(struct cmdsource *s)
{
	free(s);
}

struct cmdsource *
dealer_open_source(void)
{
	static const struct cmdsource_ops ops = {
	    .room = get_room, .free = free_source};
	struct cmdsource *s = mem_new(sizeof *s);

	s->ops = &ops;
	s->len = 64; /* only a guess of how much a batch has */
	s->cycle = s->together = 1;
	s->tagged = true;
	s->values = 1;
	return s;
}
