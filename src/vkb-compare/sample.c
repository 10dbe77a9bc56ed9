#include "sample.h"
#include "cases.h"
#include "json.h"
#include "mem.h"
#include "part.h"
#include "stats.h"

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

double
sample_median(const struct kase *k, const char *metric)
{
	struct sample s = sample_metric(k, metric);
	double median;

	stats_sort(s.v, s.n);
	median = stats_median(s.v, s.n);
	sample_free(&s);
	return median;
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
