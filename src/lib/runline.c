#include "runline.h"
#include "jsonhash.h"

/* A string without escapes; its hash. */
static bool
text(struct jsonscan *c, struct jsonscan_text *t, uint64_t *h)
{
	if (!jsonscan_string(c, t) || t->escaped)
		return false;
	*h = jsonhash_string(t->s, t->n);
	return true;
}

static bool
is(struct jsonscan *c, const char *want, uint64_t *h)
{
	struct jsonscan_text t;

	return text(c, &t, h) && jsonscan_is(&t, want);
}

static bool
number(struct jsonscan *c, double *v, uint64_t *h)
{
	if (!jsonscan_number(c, v))
		return false;
	*h = jsonhash_number(*v);
	return true;
}

/* The object that the room is. */
static bool
room(struct jsonscan *c, struct jsonscan_text *t)
{
	return jsonscan_peek(c) == '{' && jsonscan_value(c, t, NULL);
}

static bool
run_member(struct runline *r, struct jsonscan *c,
    const struct jsonscan_text *key, uint64_t *h)
{
	struct jsonscan_text t;
	double v;

	if (jsonscan_is(key, "session"))
		return text(c, &r->session, h);
	if (jsonscan_is(key, "index"))
		return number(c, &r->index, h);
	if (jsonscan_is(key, "block"))
		return number(c, &r->block, h);
	if (jsonscan_is(key, "order"))
		return number(c, &r->order, h);
	if (jsonscan_is(key, "started"))
		return text(c, &t, h);
	if (jsonscan_is(key, "seed"))
		return number(c, &v, h);
	if (jsonscan_is(key, "looks") || jsonscan_is(key, "until"))
		return false;
	return jsonscan_value(c, NULL, h);
}

static bool
metric(struct runline *r, struct jsonscan *c, const struct jsonscan_text *key,
    uint64_t *h)
{
	struct runline_metric *m = &r->metrics[r->nmetrics];

	if (r->nmetrics++ == RUNLINE_METRICS)
		return false;
	m->name = *key;
	return number(c, &m->v, h);
}

static bool
hist(struct runline *r, struct jsonscan *c, const struct jsonscan_text *key,
    uint64_t *h)
{
	struct runline_hist *m = &r->hists[r->nhists];

	if (r->nhists++ == RUNLINE_HISTS)
		return false;
	m->name = *key;
	return text(c, &m->text, h);
}

/* Each member by 'one'; the hash of the object. */
static bool
members(struct runline *r, struct jsonscan *c, uint64_t *h,
    bool (*one)(struct runline *, struct jsonscan *,
	const struct jsonscan_text *, uint64_t *))
{
	struct jsonscan_keys o;
	struct jsonscan_text key;
	uint64_t sum = 0, k = 0;

	if (!jsonscan_object(c, &o))
		return false;
	while (jsonscan_member(c, &o, &key)) {
		if (key.escaped || !one(r, c, &key, &k))
			return false;
		sum += jsonhash_member(key.s, key.n, k);
	}
	*h = jsonhash_object(sum);
	return !c->failed;
}

enum { TYPE = 1, V = 2, SUBJECT = 4, CONFIG = 8, RUN = 16, METRICS = 32 };
#define STATUS 64
#define NEEDED 127 /* all of them */

/* *what: which of the needed it was. */
static bool
member(struct runline *r, struct jsonscan *c, const struct jsonscan_text *key,
    uint64_t *h, int *what)
{
	static const char *const odd[] = {
	    "series", "artifacts", "errors", "flat", "error"};
	double v;

	if (jsonscan_is(key, "type"))
		return *what = TYPE, is(c, "run", h);
	if (jsonscan_is(key, "v"))
		return *what = V, number(c, &v, h) && v == 1;
	if (jsonscan_is(key, "subject"))
		return *what = SUBJECT, room(c, &r->subject);
	if (jsonscan_is(key, "config"))
		return *what = CONFIG, room(c, &r->config);
	if (jsonscan_is(key, "run"))
		return *what = RUN, members(r, c, h, run_member);
	if (jsonscan_is(key, "env"))
		return room(c, &r->env);
	if (jsonscan_is(key, "metrics"))
		return *what = METRICS, members(r, c, h, metric);
	if (jsonscan_is(key, "hist"))
		return members(r, c, h, hist);
	if (jsonscan_is(key, "bound"))
		return text(c, &r->bound, h);
	if (jsonscan_is(key, "status"))
		return *what = STATUS, is(c, "ok", h);
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		if (jsonscan_is(key, odd[i]))
			return false;
	return jsonscan_value(c, NULL, h);
}

bool
runline_read(struct runline *r, const char *line, size_t n)
{
	struct jsonscan_text none = {0}, key;
	struct jsonscan_keys o;
	struct jsonscan c;
	const char *why;
	int seen = 0;
	size_t at;

	r->subject = r->config = r->env = r->session = r->bound = none;
	r->index = r->block = r->order = -1;
	r->nmetrics = r->nhists = 0;
	r->hash = 0;
	jsonscan_begin(&c, line, n);
	if (!jsonscan_object(&c, &o))
		return false;
	while (jsonscan_member(&c, &o, &key)) {
		uint64_t h = 0;
		int what = 0;

		if (key.escaped || !member(r, &c, &key, &h, &what))
			return false;
		seen |= what;
		if (what != SUBJECT && what != CONFIG &&
		    !jsonscan_is(&key, "env"))
			r->hash += jsonhash_member(key.s, key.n, h);
	}
	return seen == NEEDED && !c.escaped && jsonscan_end(&c, &why, &at) == 0;
}
