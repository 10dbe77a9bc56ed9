#include "runline.h"
#include "jsonhash.h"
#include "mem.h"
#include "str.h"

#include <stdlib.h>

#define SHAPES 4  /* that are remembered */
#define STEPS 128 /* values of one */
#define LONGEST 1048576

enum object { TOP, RUN, METRICS, HIST, OBJECTS };

/* What stands in an object, from the top's objects on; numbers of 'needed'. */
enum what {
	OTHER = OBJECTS,
	TYPE,
	V,
	STATUS,
	SUBJECT,
	CONFIG,
	ENV,
	ABOUT,
	BOUND,
	SESSION,
	INDEX,
	BLOCK,
	ORDER,
	STARTED,
	SEED,
	METRIC,
	HISTOGRAM,
	ODD /* not in a plain record */
};

static const unsigned needed = 1u << RUN | 1u << METRICS | 1u << TYPE |
    1u << V | 1u << STATUS | 1u << SUBJECT | 1u << CONFIG;

struct known {
	const char *key;
	unsigned what;
};

static const struct known of_top[] = {{"type", TYPE}, {"v", V},
    {"subject", SUBJECT}, {"config", CONFIG}, {"run", RUN}, {"env", ENV},
    {"about", ABOUT}, {"metrics", METRICS}, {"hist", HIST}, {"bound", BOUND},
    {"status", STATUS}, {"series", ODD}, {"artifacts", ODD}, {"errors", ODD},
    {"flat", ODD}, {"error", ODD}, {0}};
static const struct known of_run[] = {{"session", SESSION}, {"index", INDEX},
    {"block", BLOCK}, {"order", ORDER}, {"started", STARTED}, {"seed", SEED},
    {"looks", ODD}, {"until", ODD}, {0}};

/* A value that may vary, and the text from the one before up to it. */
struct step {
	size_t at, n;
	unsigned what;
	enum object in;
	uint64_t key;     /* its hash */
	size_t back, len; /* where the key begins before the value */
};

struct shape {
	struct str text;
	struct step v[STEPS + 1]; /* the last is the text behind all values */
	size_t n;
	uint64_t sums[OBJECTS]; /* of the hashes of what does not vary */
	uint64_t keys[OBJECTS]; /* hashes of the keys of its objects */
	unsigned seen;
};

struct runlines {
	struct shape *v[SHAPES + 1]; /* the last used first; one to be made */
};

struct runlines *
runlines_new(void)
{
	struct runlines *l = mem_new(sizeof *l);

	for (size_t i = 0; i <= SHAPES; i++)
		l->v[i] = mem_new(sizeof *l->v[i]);
	return l;
}

void
runlines_free(struct runlines *l)
{
	for (size_t i = 0; l && i <= SHAPES; i++) {
		str_free(&l->v[i]->text);
		free(l->v[i]);
	}
	free(l);
}

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

static struct jsonscan_text *
room_of(struct runline *r, unsigned what)
{
	return what == SUBJECT ? &r->subject
	    : what == CONFIG   ? &r->config
	    : what == ENV      ? &r->env
			       : NULL;
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

/* The next value, and its hash; that of a room is not asked for. */
static bool
take(struct runline *r, struct jsonscan *c, unsigned what,
    const struct jsonscan_text *key, uint64_t *h)
{
	double v;

	switch (what) {
	case TYPE:
		return is(c, "run", h);
	case V:
		return number(c, &v, h) && v == 1;
	case STATUS:
		return is(c, "ok", h);
	case SUBJECT:
	case CONFIG:
	case ENV:
		return room(c, room_of(r, what));
	case ABOUT:
		return jsonscan_peek(c) == '{' &&
		    jsonscan_value(c, &r->about, h);
	case BOUND:
		return text(c, &r->bound, h);
	case SESSION:
		return text(c, &r->session, h);
	case INDEX:
		return number(c, &r->index, h);
	case BLOCK:
		return number(c, &r->block, h);
	case ORDER:
		return number(c, &r->order, h);
	case STARTED:
		return text(c, &r->started, h);
	case SEED:
		return number(c, &v, h);
	case METRIC:
		return metric(r, c, key, h);
	case HISTOGRAM:
		return hist(r, c, key, h);
	case ODD:
		return false;
	default:
		return jsonscan_value(c, NULL, h);
	}
}

static void
empty(struct runline *r)
{
	static const struct jsonscan_text none = {0};

	r->subject = r->config = r->env = r->about = none;
	r->session = r->started = r->bound = none;
	r->index = r->block = r->order = -1;
	r->nmetrics = r->nhists = 0;
}

static uint64_t
total(const struct shape *s, const uint64_t *sums)
{
	uint64_t all = sums[TOP];

	for (size_t i = RUN; i < OBJECTS; i++)
		if (s->seen >> i & 1)
			all +=
			    jsonhash_of(s->keys[i], jsonhash_object(sums[i]));
	return all;
}

/* A line that is read member by member, and what it looks like. */
struct reading {
	struct jsonscan c;
	struct runline *r;
	struct shape *shape;
	const char *done; /* so far the shape has it */
	uint64_t sums[OBJECTS];
};

static unsigned
what_of(enum object in, const struct jsonscan_text *key)
{
	const struct known *k = in == TOP ? of_top : of_run;

	if (in == METRICS || in == HIST)
		return in == METRICS ? METRIC : HISTOGRAM;
	while (k->key && !jsonscan_is(key, k->key))
		k++;
	return k->key ? k->what : OTHER;
}

/* The text up to 'to' stands before a value or the end. */
static struct step *
literal(struct reading *x, const char *to)
{
	struct shape *s = x->shape;
	struct step *step = &s->v[s->n];

	step->at = s->text.len;
	step->n = (size_t)(to - x->done);
	str_addn(&s->text, x->done, step->n);
	x->done = x->c.p;
	return step;
}

static void
learn(struct reading *x, enum object in, unsigned what,
    const struct jsonscan_text *key, const char *from, uint64_t h)
{
	uint64_t k = jsonhash_key(key->s, key->n);
	struct shape *s = x->shape;
	struct step *step;

	if (!room_of(x->r, what))
		x->sums[in] += jsonhash_of(k, h);
	if (what == TYPE || what == V || what == STATUS) {
		s->sums[in] += jsonhash_of(k, h);
	} else if (s->n < STEPS) {
		step = literal(x, from);
		step->what = what;
		step->in = in;
		step->key = k;
		step->back = (size_t)(from - key->s);
		step->len = key->n;
		s->n++;
	}
}

static bool
members(struct reading *x, enum object in)
{
	struct jsonscan_keys o;
	struct jsonscan_text key;
	struct jsonscan *c = &x->c;

	if (!jsonscan_object(c, &o))
		return false;
	while (jsonscan_member(c, &o, &key)) {
		unsigned what = key.escaped ? ODD : what_of(in, &key);
		const char *from;
		uint64_t h = 0;

		x->shape->seen |= 1u << what;
		if (what < OBJECTS) {
			x->shape->keys[what] = jsonhash_key(key.s, key.n);
			if (!members(x, what))
				return false;
			continue;
		}
		jsonscan_peek(c);
		from = c->p;
		if (!take(x->r, c, what, &key, &h))
			return false;
		learn(x, in, what, &key, from, h);
	}
	return !c->failed;
}

/* Sets the shape too. */
static bool
read_all(struct runline *r, struct shape *s, const char *line, size_t n)
{
	struct reading x = {.r = r, .shape = s, .done = line};
	const char *why;
	size_t at;

	str_clear(&s->text);
	s->n = 0;
	s->seen = 0;
	memset(s->sums, 0, sizeof s->sums);
	empty(r);
	r->guessed = false;
	jsonscan_begin(&x.c, line, n);
	if (!members(&x, TOP) || (s->seen & needed) != needed || x.c.escaped ||
	    jsonscan_end(&x.c, &why, &at) < 0)
		return false;
	literal(&x, line + n);
	r->hash = total(s, x.sums);
	return true;
}

static inline bool
alike(const char *a, const char *b, size_t n)
{
	uint64_t x, y;

	if (n < 8)
		return memcmp(a, b, n) == 0;
	for (; n > 8; a += 8, b += 8, n -= 8) {
		memcpy(&x, a, sizeof x);
		memcpy(&y, b, sizeof y);
		if (x != y)
			return false;
	}
	memcpy(&x, a + n - 8, sizeof x); /* some of it again */
	memcpy(&y, b + n - 8, sizeof y);
	return x == y;
}

/* Goes beyond the text, if it stands there. */
static inline bool
skip(struct jsonscan *c, const char *s, size_t n)
{
	if ((size_t)(c->end - c->p) < n || !alike(c->p, s, n))
		return false;
	c->p += n;
	return true;
}

/* A room ends, it seems, where a bracket stands before the text. */
static bool
guess(struct jsonscan *c, struct jsonscan_text *t, const char *s, size_t n)
{
	const char *p = c->p;

	if (*p != '{')
		return false;
	while ((p = memchr(p, '}', (size_t)(c->end - p)))) {
		if ((size_t)(c->end - ++p) < n)
			return false;
		if (alike(p, s, n))
			break;
	}
	if (!p)
		return false;
	*t = (struct jsonscan_text){c->p, (size_t)(p - c->p), false};
	c->p = p;
	return true;
}

/* The line, if it is of this shape. */
static bool
follow(const struct shape *s, struct runline *r, const char *line, size_t n)
{
	struct jsonscan c = {.s = line, .p = line, .end = line + n};
	const struct step *step = s->v, *last = s->v + s->n;
	uint64_t sums[OBJECTS];

	memcpy(sums, s->sums, sizeof sums);
	empty(r);
	r->guessed = true;
	for (; step < last; step++) {
		struct jsonscan_text key, *t = room_of(r, step->what);
		uint64_t h;

		if (!skip(&c, s->text.s + step->at, step->n))
			return false;
		if (t) {
			if (!guess(&c, t, s->text.s + step[1].at, step[1].n))
				return false;
			continue;
		}
		key =
		    (struct jsonscan_text){c.p - step->back, step->len, false};
		c.depth = step->in == TOP ? 1 : 2;
		if (!take(r, &c, step->what, &key, &h))
			return false;
		sums[step->in] += jsonhash_of(step->key, h);
	}
	if (!skip(&c, s->text.s + step->at, step->n) || c.p != c.end ||
	    c.escaped || !str_utf8(line, n))
		return false;
	r->hash = total(s, sums);
	return true;
}

/* The shape was used last. */
static void
to_front(struct runlines *l, size_t i)
{
	struct shape *s = l->v[i];

	for (; i; i--)
		l->v[i] = l->v[i - 1];
	l->v[0] = s;
}

bool
runline_read(struct runlines *l, struct runline *r, const char *line, size_t n)
{
	for (size_t i = 0; i < SHAPES; i++)
		if (l->v[i]->n && follow(l->v[i], r, line, n)) {
			to_front(l, i);
			return true;
		}
	if (!read_all(r, l->v[SHAPES], line, n))
		return false;
	if (n <= LONGEST && l->v[SHAPES]->n < STEPS)
		to_front(l, SHAPES);
	return true;
}

bool
runline_rooms(const struct runline *r, const char *line, size_t n)
{
	const struct jsonscan_text *const rooms[] = {
	    &r->subject, &r->config, &r->env};

	for (size_t i = 0; r->guessed && i < 3; i++) {
		struct jsonscan c = {.s = line, .end = line + n, .depth = 1};
		struct jsonscan_text t;

		c.p = rooms[i]->s;
		if (c.p && (!room(&c, &t) || t.n != rooms[i]->n))
			return false;
	}
	return true;
}
