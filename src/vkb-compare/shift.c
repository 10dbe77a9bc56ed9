#include "shift.h"
#include "group.h"
#include "hist.h"
#include "json.h"
#include "infer.h"
#include "judge.h"
#include "mem.h"
#include "part.h"
#include "str.h"
#include "judge/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the histogram merged over the parts; NULL if no part has it, or if
 * one is bad, which is reported and sets *rc to -1. */
static struct hist *
merge_histograms(const struct kase *k, const char *name, int *rc)
{
	struct hist *all = NULL;

	for (size_t i = 0; i < k->nparts; i++) {
		const struct json *j = json_get(k->parts[i].hists, name);
		const char *text;
		struct hist *h;

		if (!j)
			continue;
		text = json_str(j);
		h = group_decode(text, text ? strlen(text) : 0, name, k->key);
		if (!h) {
			*rc = -1;
			hist_free(all);
			return NULL;
		}
		if (all) {
			hist_merge(all, h);
			hist_free(h);
		} else {
			all = h;
		}
	}
	return all;
}

/* The values of a percentile in each run. Where all measured runs have it,
 * their rounds are those of any metric that all have. */
static struct sample
collect_quantile(const struct kase *k, const char *hist, const char *percentile)
{
	const struct part *all = k->parts;
	struct sample s = {0};

	for (size_t i = 0; i < k->nparts; i++) {
		size_t n;
		double *v = json_numbers(
		    json_get(json_get(k->parts[i].quantiles, hist), percentile),
		    &n);

		sample_add(&s, v, NULL, n);
		free(v);
	}
	for (size_t i = 0; i < all->nmetrics; i++) {
		const struct sample *runs = &all->metrics[i].runs;

		if (s.n && runs->n == s.n && !all->metrics[i].counted) {
			memcpy(s.rounds, runs->rounds, s.n * sizeof *s.rounds);
			break;
		}
	}
	return s;
}

static void
add_shift_line(struct shift *s, double q, struct hist *const h[2],
    const struct model_prior *prior)
{
	struct shift_line l = {.percentile = 100 * q};
	struct sample runs[2];
	char key[32];

	snprintf(key, sizeof key, "%.10g", l.percentile);
	for (size_t j = 0; j < 2; j++)
		runs[j] = collect_quantile(s->pair->side[j], s->hist, key);
	if (runs[0].n && runs[1].n && s->n < SHIFT_LINES) {
		struct verdict_facts f = infer_samples(runs, true, prior);

		for (size_t j = 0; j < 2; j++)
			l.value[j] = (double)hist_quantile(h[j], q);
		l.ratio = f.ratio;
		l.lo = f.lo95;
		l.hi = f.hi95;
		s->v[s->n++] = l;
	}
	sample_free(&runs[0]);
	sample_free(&runs[1]);
}

static int
add_shift(struct shifts *all, const struct pairing *p, const char *name,
    const struct model_prior *prior)
{
	struct shift s = {.pair = p, .hist = mem_str(name)};
	struct hist *h[2];
	int rc = 0;

	for (size_t j = 0; j < 2; j++)
		h[j] = merge_histograms(p->side[j], name, &rc);
	if (h[0] && h[1] && hist_count(h[0]) && hist_count(h[1])) {
		for (const double *q = histdiff_quantiles; *q > 0; q++)
			add_shift_line(&s, *q, h, prior);
		s.diff = histdiff_ks(h[0], h[1]);
	}
	if (s.n) {
		all->v = mem_grow(all->v, all->n, &all->cap, sizeof *all->v);
		all->v[all->n++] = s;
	} else {
		free(s.hist);
	}
	hist_free(h[0]);
	hist_free(h[1]);
	return rc;
}

int
shifts_new(struct comparison *c)
{
	size_t k = 0;
	int rc = 0;

	for (size_t i = 0; i < c->npairs; i++) {
		const struct pairing *p = &c->pairs[i];
		struct model_prior prior = sessions_assume(NULL, c->host, NULL);
		const struct json *h = NULL;

		/* As in the rows of the case that are times, which follow each
		 * other. */
		for (; k < c->nrows && c->rows[k].pair == p; k++)
			if (c->rows[k].of &&
			    metric_has_clock(c->rows[k].metric))
				prior = c->rows[k].of->prior;
		/* The first part represents all: they come from one tool. */
		if (p->rows)
			h = json_first(p->side[0]->parts->hists);
		for (; h; h = json_next(h))
			rc |= add_shift(&c->shifts, p, json_key(h), &prior);
	}
	return rc;
}

const char *
shift_unit(const struct shift *s, double *by)
{
	*by = 1;
	if (str_ends(s->hist, "_ns"))
		*by = 1e6;
	else if (str_ends(s->hist, "_us"))
		*by = 1e3;
	else if (!str_ends(s->hist, "_ms"))
		return "";
	return "ms";
}
