#include "cmdsource.h"
#include "client.h"
#include "cmdargs.h"
#include "command.h"
#include "control.h"
#include "dealer.h"
#include "engine.h"
#include "keys.h"
#include "mem.h"
#include "mix.h"
#include "template.h"
#include "verify.h"

#include <stdlib.h>
#include <string.h>

/*
 * The keys of commands without a {tag} in a cluster: where a text has them
 * decides which node gets its requests. Private to the engine.
 *
 * If all requests have the same key, they go to its node. If keys are drawn, a
 * node is drawn in proportion to its part of them, and then a request whose key
 * is on that node. Keys with numbers in sequence or fields of rows come as they
 * are, so a cluster redirects most of them.
 */

#define TRIES 1000 /* to find a request for a node */

/* The first key of a command. */
struct route {
	size_t word;   /* which word of the command; 0: it has none */
	bool constant; /* in 'slot' */
	bool drawn;    /* it has a random number, and no other placeholder */
	uint16_t slot;
};

struct routes {
	struct cmdsource source;
	struct route *v; /* of each turn of the cycle, or step of the mix */
	size_t n, cap;
	const struct engine_target *target; /* while the texts are read */
};

/* Asks the server for the first key of a command that cmdargs does not know.
 * Returns the number of its word, or 0. */
static size_t
ask_for_key(const struct engine_target *t, char *const *list, size_t n)
{
	const char **argv = mem_array(n + 3, sizeof *argv);
	char why[CLIENT_WHY];
	struct client *c = control_open(t, 0, control_ms(t, 0), why);
	struct reply *r = NULL;
	size_t found = 0;

	argv[0] = "COMMAND";
	argv[1] = "GETKEYS";
	memcpy(argv + 2, list, n * sizeof *argv);
	if (c)
		r = client_call(c, control_ms(t, 0), argv);
	for (size_t i = n; r && reply_len(r) && --i > 0;)
		if (reply_is(reply_at(r, 0), list[i]))
			found = i;
	reply_free(r);
	client_close(c);
	free(argv);
	return found;
}

/* Returns the number of the word that is the first key of a command, or 0. */
static size_t
find_key(const struct engine_target *t, char *const *list, size_t n)
{
	struct tracefile_word *words = cmdargs_words(list, n);
	enum cmdargs_role *roles = mem_array(n, sizeof *roles);
	size_t found = 0;

	if (!cmdargs_roles(words, n, roles))
		found = ask_for_key(t, list, n);
	for (size_t i = n; --i > 0;)
		if (roles[i] == CMDARGS_KEY)
			found = i;
	free(words);
	free(roles);
	return found;
}

static struct route
make_route(const struct engine_target *t, char *const *list, size_t n)
{
	struct route r = {.word = find_key(t, list, n)};
	const char *key = list[r.word];

	r.constant = r.word && !strstr(key, "__") && !strpbrk(key, "{\\");
	r.drawn = r.word && (strstr(key, "__rand_") || strstr(key, "__int:")) &&
	    !strstr(key, "__seq__") && !strstr(key, "__field:") &&
	    !strchr(key, '{');
	r.slot = (uint16_t)keys_hash_slot(key, strlen(key));
	return r;
}

/* Adds the routes of a text, or of a named test, whose keys have a tag. */
static void
add_text(struct routes *x, const char *text)
{
	char *own, **list;
	size_t n = 0, at = 0, k;
	unsigned long times;
	struct route r = {0};
	const char *why;

	if (command_known(text)) {
		*MEM_ADD(x->v, x->n, x->cap) = r;
		return;
	}
	own = command_expand_prefix(text, x->target->prefix);
	list = command_split(own, &n, &why);
	for (; list && (k = command_next(list, n, &at, &times)); at += k + 1) {
		r = make_route(x->target, list + at, k);
		for (; times; times--)
			*MEM_ADD(x->v, x->n, x->cap) = r;
	}
	mem_free_list(list);
	free(own);
}

/* Returns the route of the command that a cursor makes next, and that of a
 * step of a mix. */
static const struct route *
get_route(const struct routes *x, const struct cursor *c)
{
	const struct mix_ring *ring = c->ring;

	return &x->v[x->source.inner->mix ? ring->steps[c->step & ring->mask]
					  : c->turn % x->source.inner->cycle];
}

/* Returns the slot of the key of a request. */
static unsigned
find_slot(const struct route *r, const char *p)
{
	size_t n = 0;

	if (r->constant)
		return r->slot;
	p = strchr(p, '$');
	for (size_t i = 0;; i++, p += n + 2) {
		for (n = 0, p++; *p != '\r'; p++)
			n = n * 10 + (size_t)(*p - '0');
		p += 2;
		if (i == r->word)
			return keys_hash_slot(p, n);
	}
}

/* Lets a request of a mix be another one, if its commands are drawn one by one.
 * A key that is always the same is then drawn with the others. */
static void
draw_step(const struct routes *x, const struct cursor *c, struct rng *rng)
{
	const struct mix *m = x->source.inner->mix;

	if (m && m->single && !m->turns)
		c->ring->steps[c->step & c->ring->mask] =
		    (uint8_t)m->parts[mix_draw_part(m, rng)].first;
}

/* Makes a request whose key is on the node. Returns its length. */
static size_t
make_one(
    const struct routes *x, struct cursor *c, const struct keys *keys, char *to)
{
	const struct cursor begin = *c;
	const struct route *r;
	struct rng rng;
	size_t used;

	for (int i = 0;; i++) {
		r = get_route(x, c);
		*to = 0;
		x->source.inner->ops->make(
		    x->source.inner, c, keys, to, 1, 1, &used);
		if (!r->word || i == TRIES || !(r->drawn || r->constant) ||
		    keys->owners[find_slot(r, to)] == keys->node)
			return used;
		if (r->constant &&
		    !(x->source.inner->mix && x->source.inner->mix->single))
			return used;
		rng = c->rng;
		*c = begin;
		draw_step(x, c, &rng);
		c->rng = rng;
	}
}

static size_t
get_room(const struct cmdsource *source, size_t bytes)
{
	const struct routes *x = (const struct routes *)source;

	return x->source.inner->ops->room(x->source.inner, bytes);
}

static uint32_t
make_requests(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct routes *x = (const struct routes *)source;
	uint32_t i;

	*len = 0;
	for (i = 0; i < n && *len < full; i++)
		*len += make_one(x, c, keys, buf + *len);
	return i;
}

static void
free_source(struct cmdsource *source)
{
	struct routes *x = (struct routes *)source;

	x->source.inner->ops->free(x->source.inner);
	free(x->v);
	free(x);
}

static const struct cmdsource_ops ops = {
    get_room, make_requests, cmdsource_count_inner, free_source};

/* Have all commands the same key? */
static bool
is_fixed(const struct routes *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (!x->v[i].constant || x->v[i].slot != x->v->slot)
			return false;
	return x->n > 0;
}

static bool
is_drawn(const struct routes *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].drawn)
			return true;
	return false;
}

/*
 * Sets 'fixed' and 'slot' of the source of a work, or returns a source of such
 * requests that takes it; 'routes' is then set. Otherwise returns the source.
 */
static struct cmdsource *
routes_open(struct cmdsource *inner, const struct engine_target *t,
    const struct engine_work *w)
{
	struct routes *x;

	if (!t->cluster || w->replay)
		return inner;
	x = mem_new(sizeof *x);
	x->target = t;
	for (size_t i = 0; i < engine_count_commands(w); i++)
		add_text(x, engine_command(w, i));
	x->target = NULL;
	inner->fixed = !inner->tagged && is_fixed(x);
	inner->slot = x->n ? x->v->slot : 0;
	if (engine_is_ordered(w) || !is_drawn(x)) {
		free(x->v);
		free(x);
		return inner;
	}
	cmdsource_wrap(&x->source, inner, &ops);
	x->source.routes = x;
	return &x->source;
}

unsigned
cmdsource_draw_slot(const struct routes *x, struct cursor *c,
    const struct keys *keys, char *buf)
{
	const struct route *r;
	size_t used;

	r = get_route(x, c);
	*buf = 0;
	x->source.inner->ops->make(x->source.inner, c, keys, buf, 1, 1, &used);
	return r->word ? find_slot(r, buf)
		       : (unsigned)rng_below(&c->rng, KEYS_SLOTS);
}

struct cmdsource *
cmdsource_open(const struct engine_target *t, const struct engine_work *w)
{
	struct engine_work inner = w->verify ? verify_inner_work(w) : *w;
	struct cmdsource *s =
	    w->replay ? dealer_open_source(w) : template_open(t, &inner);

	if (s)
		s = routes_open(s, t, &inner);
	return s && w->verify ? verify_open(s, w, 0) : s;
}

struct cmdsource *
cmdsource_open_seed(
    const struct engine_target *t, const struct engine_work *w, unsigned many)
{
	struct engine_work inner = w->verify ? verify_inner_work(w) : *w;
	struct cmdsource *s = template_open_seed(t, &inner, many);

	return w->verify ? verify_open(s, w, s->values) : s;
}

char *
cmdsource_buffer(const struct cmdsource *s, size_t full)
{
	const struct cmdsource_request *r = s->requests;
	size_t n = s->places ? (size_t)(r[s->nrequests].bytes - r->bytes) : 0;
	char *buf = mem_new(s->ops->room(s, full) + n);

	if (n)
		memcpy(buf, r->bytes, n);
	return buf;
}
