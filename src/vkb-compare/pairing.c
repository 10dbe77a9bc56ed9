#include "pairing.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct candidate {
	const struct kase *k;
	size_t partner; /* index + 1 in the other half, or 0 */
	size_t fits;    /* how many cases could be the partner */
	size_t first;   /* index of the first of these */
	/* Of the config, for a quick test; NULL and NAN: not known. */
	const char *command;
	double size, depth;
};

static struct candidate *
collect_half(const struct cases *c, size_t who, size_t *n)
{
	struct candidate *h = mem_array(c->n + 1, sizeof *h);

	*n = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct json *config = c->v[i].config;

		if (c->v[i].who != who)
			continue;
		h[(*n)++] = (struct candidate){.k = &c->v[i],
		    .command = json_get_str(config, "command"),
		    .size = json_get_num(config, "data_size", NAN),
		    .depth = json_get_num(config, "pipeline", NAN)};
	}
	return h;
}

/* Has one side a number of requests and the other a time? */
static bool
differ_in_length(const struct json *a, const struct json *b)
{
	return json_get(a, "requests") && !json_get(a, "duration_s") &&
	    json_get(b, "duration_s") && !json_get(b, "requests");
}

static bool
is_compatible(const struct json *a, const struct json *b)
{
	size_t both = 0;

	for (const struct json *j = json_first(a); j; j = json_next(j)) {
		const struct json *k = json_get(b, json_key(j));

		if (k && !json_equal(j, k))
			return false;
		both += k != NULL;
	}
	return both > 0 && !differ_in_length(a, b) && !differ_in_length(b, a);
}

static void
describe_lacking(
    struct str *s, const struct json *a, const struct json *b, const char *who)
{
	bool any = false;

	for (const struct json *j = json_first(a); j; j = json_next(j)) {
		if (json_get(b, json_key(j)))
			continue;
		if (!any)
			str_add(s, s->len ? "; " : "paired by common keys: ");
		str_printf(s, any ? ", %s" : "%s", json_key(j));
		any = true;
	}
	if (any)
		str_printf(s, " unknown in the %s", who);
}

static int
compare_key_to_half(const void *key, const void *member)
{
	const struct kase *const *x = key;
	const struct candidate *y = member;
	int c = strverscmp((*x)->key, y->k->key);

	return c ? c : strcmp((*x)->key, y->k->key);
}

static void
pair_equal(struct candidate *a, size_t n, struct candidate *b, size_t m)
{
	for (size_t i = 0; i < n; i++) {
		struct candidate *h =
		    bsearch(&a[i].k, b, m, sizeof *b, compare_key_to_half);

		if (!h)
			continue;
		a[i].partner = (size_t)(h - b) + 1;
		h->partner = i + 1;
	}
}

static bool
is_other_case(const struct candidate *a, const struct candidate *b)
{
	return a->size < b->size || a->size > b->size || a->depth < b->depth ||
	    a->depth > b->depth ||
	    (a->command && b->command && strcmp(a->command, b->command) != 0);
}

static void
pair_likely(struct candidate *a, size_t n, struct candidate *b, size_t m)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m && !a[i].partner; k++) {
			if (b[k].partner || is_other_case(&a[i], &b[k]) ||
			    !is_compatible(a[i].k->config, b[k].k->config))
				continue;
			if (!a[i].fits++)
				a[i].first = k;
			b[k].fits++;
		}
	for (size_t i = 0; i < n; i++) {
		struct candidate *h = &b[a[i].first];

		if (a[i].partner || a[i].fits != 1 || h->fits != 1)
			continue;
		a[i].partner = a[i].first + 1;
		h->partner = i + 1;
	}
}

struct pairing *
pairing_new(const struct cases *base, size_t base_who,
    const struct cases *contender, size_t contender_who, size_t *count)
{
	size_t n, m, at = 0;
	struct candidate *a = collect_half(base, base_who, &n);
	struct candidate *b = collect_half(contender, contender_who, &m);
	struct pairing *p = mem_array(n + m + 1, sizeof *p);

	pair_equal(a, n, b, m);
	pair_likely(a, n, b, m);
	for (size_t i = 0; i < n; i++, at++) {
		const struct kase *x = a[i].k, *y;
		struct str note = {0};

		y = a[i].partner ? b[a[i].partner - 1].k : NULL;
		p[at].side[0] = x;
		p[at].side[1] = y;
		if (!y || strcmp(x->key, y->key) == 0)
			continue;
		describe_lacking(&note, x->config, y->config, "contender");
		describe_lacking(&note, y->config, x->config, "baseline");
		p[at].note = str_take(&note);
	}
	for (size_t k = 0; k < m; k++)
		if (!b[k].partner)
			p[at++].side[1] = b[k].k;
	*count = at;
	free(a);
	free(b);
	return p;
}

void
pairing_free(struct pairing *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(p[i].note);
		free(p[i].functions);
		free(p[i].syscalls);
		free(p[i].together);
		free(p[i].name[0]);
		free(p[i].name[1]);
	}
	free(p);
}
