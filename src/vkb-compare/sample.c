#include "sample.h"
#include "cases.h"
#include "json.h"
#include "mem.h"
#include "part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the strings of an array, NULL for other members. Caller frees the
 * array only. */
static const char **
list_texts(const struct json *array, size_t *n)
{
	const char **v = mem_array(json_len(array), sizeof *v);

	*n = 0;
	for (const struct json *j = json_first(array); j; j = json_next(j))
		v[(*n)++] = json_str(j);
	return v;
}

/* Adds 'values', one for each run that has the metric 'm', which gives their
 * rounds; NULL: the rounds are not known. */
static void
add_sample_values(struct sample *s, const struct part *p,
    const struct part_list *values, const struct part_metric *m)
{
	const struct part_list none = {NULL, 0};
	const struct part_list *blocks = m ? &m->blocks : &none;
	const struct part_list *of = m ? &m->sessions : &none;
	size_t n = values->n, nnames;
	const char **names = list_texts(json_get(p->rest, "sessions"), &nnames);

	s->v = mem_resize(s->v, s->n + n + 1, sizeof *s->v);
	s->rounds = mem_resize(s->rounds, s->n + n + 1, sizeof *s->rounds);
	for (size_t i = 0; i < n; i++) {
		double block = i < blocks->n ? blocks->v[i] : NAN;
		double at = i < of->n ? of->v[i] : nnames == 1 ? 0 : NAN;
		bool known = at >= 0 && at < (double)nnames;

		if (!isfinite(values->v[i]))
			continue;
		s->v[s->n] = values->v[i];
		s->rounds[s->n++] =
		    (struct round){known ? names[(size_t)at] : NULL, block};
	}
	free(names);
}

struct sample
sample_metric(const struct kase *k, const char *metric)
{
	struct sample s = {0};

	for (size_t i = 0; i < k->nparts; i++) {
		const struct part_metric *m = part_metric(&k->parts[i], metric);

		if (m)
			add_sample_values(&s, &k->parts[i], &m->values, m);
	}
	return s;
}

/* Returns a metric that all n runs have, for their rounds, or NULL. */
static const struct part_metric *
find_full_metric(const struct part *p, size_t n)
{
	for (size_t i = 0; i < p->nmetrics; i++)
		if (p->metrics[i].values.n == n)
			return &p->metrics[i];
	return NULL;
}

static bool
is_quantile(
    const struct part_quantile *q, const char *hist, const char *percentile)
{
	return strcmp(q->hist, hist) == 0 &&
	    strcmp(q->percentile, percentile) == 0;
}

struct sample
sample_quantile(const struct kase *k, const char *hist, const char *percentile)
{
	struct sample s = {0};

	for (size_t i = 0; i < k->nparts; i++) {
		const struct part *p = &k->parts[i];

		for (size_t j = 0; j < p->nquantiles; j++) {
			const struct part_list *v = &p->quantiles[j].values;

			if (is_quantile(&p->quantiles[j], hist, percentile))
				add_sample_values(
				    &s, p, v, find_full_metric(p, v->n));
		}
	}
	return s;
}

void
sample_free(struct sample *s)
{
	free(s->v);
	free(s->rounds);
	*s = (struct sample){0};
}

static int
compare_rounds(const struct round *x, const struct round *y)
{
	int c = strcmp(x->session, y->session);

	return c ? c : (x->block > y->block) - (x->block < y->block);
}

static int
compare_by_round(const void *a, const void *b)
{
	const struct round *x = *(const struct round *const *)a;
	const struct round *y = *(const struct round *const *)b;
	int c = compare_rounds(x, y);

	return c ? c : (x > y) - (x < y);
}

/* Returns the rounds whose session is known, and with 'blocks' their block,
 * sorted; those of a session without blocks in the order of the values. */
static const struct round **
sort_rounds(const struct sample *s, bool blocks, size_t *n)
{
	const struct round **at = mem_array(s->n + 1, sizeof *at);

	*n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->rounds[i].session &&
		    !(blocks && isnan(s->rounds[i].block)))
			at[(*n)++] = &s->rounds[i];
	if (*n)
		qsort(at, *n, sizeof *at, compare_by_round);
	return at;
}

bool
sample_pair(struct sample s[2], size_t *shared, size_t *dropped)
{
	size_t n[2], i = 0, k = 0, got = 0, least;
	const struct round **at[2] = {
	    sort_rounds(&s[0], true, &n[0]), sort_rounds(&s[1], true, &n[1])};
	struct sample to[2] = {{0}, {0}};

	for (size_t j = 0; j < 2; j++) {
		to[j].v = mem_array(n[j] + 1, sizeof(double));
		to[j].rounds = mem_array(n[j] + 1, sizeof(struct round));
	}
	while (i < n[0] && k < n[1]) {
		const struct round *x = at[0][i], *y = at[1][k];
		int c = compare_rounds(x, y);

		if (c == 0) {
			to[0].v[got] = s[0].v[x - s[0].rounds];
			to[1].v[got] = s[1].v[y - s[1].rounds];
			to[0].rounds[got] = *x;
			to[1].rounds[got++] = *y;
		}
		i += c <= 0;
		k += c >= 0;
	}
	free(at[0]);
	free(at[1]);
	least = s[0].n < s[1].n ? s[0].n : s[1].n;
	*shared = got;
	if (got < SAMPLE_PAIRS || 2 * got < least) {
		sample_free(&to[0]);
		sample_free(&to[1]);
		return false;
	}
	*dropped = s[0].n + s[1].n - 2 * got;
	for (size_t j = 0; j < 2; j++) {
		to[j].n = got;
		sample_free(&s[j]);
		s[j] = to[j];
	}
	return true;
}

size_t
sample_add_serial(const struct sample *s, struct serial *sum)
{
	size_t n, from = 0, sessions = 0;
	const struct round **at = sort_rounds(s, false, &n);
	double *v = mem_array(n + 1, sizeof *v);

	for (size_t i = 0; i < n; i++)
		v[i] = log(s->v[at[i] - s->rounds]);
	for (size_t i = 1; i <= n && n == s->n; i++) {
		if (i < n && strcmp(at[i]->session, at[from]->session) == 0)
			continue;
		serial_add(sum, v + from, i - from);
		from = i;
		sessions++;
	}
	free(at);
	free(v);
	return sessions ? sessions : 1;
}
