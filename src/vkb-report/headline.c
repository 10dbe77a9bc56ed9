#include "headline.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "str.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 10 }; /* cases whose counts and times have a sentence */

static void add_sentence(struct sentences *, const char *, ...)
    ERR_PRINTF(2, 3);

static void
add_sentence(struct sentences *l, const char *fmt, ...)
{
	va_list ap;

	l->v = mem_grow(l->v, l->n, &l->cap, sizeof *l->v);
	va_start(ap, fmt);
	if (vasprintf(&l->v[l->n++], fmt, ap) < 0)
		err_die("out of memory");
	va_end(ap);
}

/* --- a comparison: its record has the words of vkb-compare */

static void
count_results(struct headline *h, const struct model *m)
{
	for (size_t i = 0; i < m->ndeltas; i++) {
		const struct delta *d = &m->deltas[i];

		if (headline_has(h, d) && d->gate && !d->waived)
			h->count[d->verdict]++;
	}
}

/* Counts the verdicts, for deltas without the record of their comparison. */
static char *
count_verdicts(const size_t *count)
{
	struct str s = {0};

	str_add(&s, changetext_counts(&s, count) ? "." : "Nothing was judged.");
	return str_take(&s);
}

/* Adds the sentences about count and time of the first cases that changed. */
static void
describe_together(struct headline *h, const struct model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->ndeltas; i++) {
		const struct delta *d = &m->deltas[i];
		const char *text = json_get_str(d->rec, "together");

		if (text && *text && headline_has(h, d) &&
		    d->kase->deltas[0]->verdict < VERDICT_EQUIVALENT &&
		    metric_guess(d->text.metric).exact && n++ < TOGETHER)
			add_sentence(&h->facts, "%s.", text);
	}
	if (n > TOGETHER)
		add_sentence(&h->facts,
		    "%zu more case%s: see the notes of their results.",
		    n - TOGETHER, num_plural((double)(n - TOGETHER)));
}

static void
describe_warnings(struct headline *h, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "warnings"));

	for (; j; j = json_next(j)) {
		const char *text = json_get_str(j, "text");

		if (text && *text)
			add_sentence(&h->facts, "Warning: %s", text);
	}
}

/* Returns a copy of the text with a capital first letter; NULL for NULL.
 */
static char *
take_text(const struct json *rec, const char *key)
{
	const char *text = json_get_str(rec, key);
	char *s = text && *text ? mem_str(text) : NULL;

	if (s)
		*s = (char)toupper((unsigned char)*s);
	return s;
}

static bool
has_changed_canary(const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "canary"));

	while (j && json_get_bool(j, "ok", false))
		j = json_next(j);
	return j;
}

static void
describe_pair(struct headline *h, const struct model *m, const struct pair *p)
{
	char *outlook = take_text(p->rec, "outlook");
	const char *next = json_get_str(p->rec, "next");

	*h = (struct headline){.base = p->base, .contender = p->contender};
	count_results(h, m);
	h->outcome = verdict_foremost(h->count);
	if (has_changed_canary(p->rec))
		h->outcome = VERDICT_INSUFFICIENT;
	h->caution = take_text(p->rec, "caution");
	h->what = take_text(p->rec, "summary");
	if (!h->what)
		h->what = take_text(p->rec, "headline");
	if (!h->what)
		h->what = count_verdicts(h->count);
	h->next = next && *next ? mem_str(next) : NULL;
	if (outlook)
		add_sentence(&h->facts, "%s.", outlook);
	describe_together(h, m);
	describe_warnings(h, p->rec);
	free(outlook);
}

void
headline_left_out(struct str *s, const struct model *m)
{
	str_add(s,
	    m->incomplete
		? "Some records could not be read; the report shows the others."
		: "");
	if (m->duplicates)
		str_printf(s,
		    "%s%zu summar%s left out: another of the same case and "
		    "subject has as many runs or more.",
		    m->incomplete ? " " : "", m->duplicates,
		    m->duplicates == 1 ? "y is" : "ies are");
}

bool
headline_has(const struct headline *h, const struct delta *d)
{
	return d->base == h->base && d->contender == h->contender;
}

/* Describes records without a comparison: runs, changes of a history. */
static void
describe_history(struct headline *h, const struct model *m)
{
	size_t worse = 0, spikes = 0, levels;
	struct str s = {0};

	*h = (struct headline){.outcome = VERDICTS};
	for (size_t i = 0; i < m->nchanges; i++) {
		spikes += strcmp(m->changes[i].way, "spike") == 0;
		worse += strcmp(m->changes[i].way, "regression") == 0 &&
		    !json_get(m->changes[i].rec, "waiver");
	}
	levels = m->nchanges - spikes;
	if (m->nchanges) {
		str_printf(&s, "%zu change%s in the history, %zu for the worse",
		    levels, num_plural((double)levels), worse);
		if (spikes)
			str_printf(&s, "; %zu spike%s that went away", spikes,
			    num_plural((double)spikes));
		str_addc(&s, '.');
		h->what = mem_str(s.s);
		h->outcome = worse ? VERDICT_REGRESSION : VERDICTS;
		str_clear(&s);
	} else
		h->what = mem_str("Nothing was compared.");
	str_printf(&s, "%.0f run%s of %zu case%s and %zu subject%s", m->runs,
	    num_plural(m->runs), m->ncases, num_plural((double)m->ncases),
	    m->nsubjects, num_plural((double)m->nsubjects));
	if (m->failed > 0)
		str_printf(&s, "; %.0f run%s failed", m->failed,
		    num_plural(m->failed));
	add_sentence(&h->facts, "%s.", s.s);
	if (!m->nchanges && m->nsubjects == 2)
		add_sentence(&h->facts,
		    "To compare the subjects, add the output of vkb-compare "
		    "--format jsonl to the input.");
	else if (!m->nchanges && m->nsubjects > 2)
		add_sentence(&h->facts,
		    "To find changes in a history, add the output of "
		    "vkb-detect --format jsonl to the input.");
	str_free(&s);
}

struct headline *
headlines_new(const struct model *m, size_t *n)
{
	struct headline *v = mem_array(m->npairs + 1, sizeof *v);

	*n = 0;
	for (size_t i = 0; i < m->npairs; i++)
		describe_pair(&v[(*n)++], m, &m->pairs[i]);
	if (!*n || m->nchanges)
		describe_history(&v[(*n)++], m);
	return v;
}

void
headlines_free(struct headline *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < v[i].facts.n; k++)
			free(v[i].facts.v[k]);
		free(v[i].facts.v);
		free(v[i].caution);
		free(v[i].what);
		free(v[i].next);
	}
	free(v);
}
