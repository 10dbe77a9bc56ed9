#include "precision.h"
#include "jsontext.h"
#include "mem.h"
#include "stats.h"
#include "steady.h"
#include "str.h"
#include "tdist.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum {
	SESSION = 6, /* runs of a session needed to show a drift */
	EXACT = 128  /* slopes of more runs use medians of neighbours */
};

/* Returns the source that adds most to the error of the mean. */
static enum variance_source
find_largest_source(const struct variance_part *p)
{
	enum variance_source top = VARIANCE_WITHIN;
	double most = -1;

	for (int i = 0; i < VARIANCE_SOURCES; i++)
		if (p[i].var / (double)p[i].n > most) {
			most = p[i].var / (double)p[i].n;
			top = (enum variance_source)i;
		}
	return top;
}

/* Appends a sentence on which further runs would reduce the error most. */
static void
append_advice(
    struct str *to, const struct variance_part *p, double mean, double wanted)
{
	static const struct {
		const char *what, *where, *many;
	} texts[] = {{"add a machine", "between machines", "machines"},
	    {"add a session", "between sessions", "sessions"},
	    {"add runs", "from run to run", "runs"},
	    {"make runs longer", "within a run", NULL}};
	double all = variance_of_mean(p), sd;
	enum variance_source s = find_largest_source(p);
	struct str text = {0};
	size_t n = 0;

	if (!(all > 0))
		return;
	sd = 100 * sqrt(p[s].var) / mean;
	str_printf(&text,
	    "%s: the variation %s (%.2g %%) is %.0f %% of the error",
	    texts[s].what, texts[s].where, sd,
	    100 * p[s].var / (double)p[s].n / all);
	if (texts[s].many)
		n = variance_needed(p, s, wanted * mean, .95);
	if (n > p[s].n)
		str_printf(&text, "; %zu %s would give a precision of %.3g %%",
		    n, texts[s].many, 100 * wanted);
	jsontext_str(to, "advice", text.s);
	str_free(&text);
}

static void
append_variance_split(struct str *to, const struct precision *m, double wanted)
{
	const struct variance_run *runs = m->runs;
	struct variance_part p[VARIANCE_SOURCES];
	double mean = fabs(m->mean);
	int known = 0;

	/* The usual case: one session without series cannot be split. */
	if (!m->n ||
	    (runs[0].session == runs[m->n - 1].session &&
		isnan(runs[0].within)))
		return;
	variance_split(runs, m->n, p);
	for (int i = 0; i < VARIANCE_SOURCES; i++)
		known += !isnan(p[i].var);
	if (known < 2 || !(mean > 0))
		return;
	jsontext_key(to, "split");
	str_addc(to, '[');
	for (int i = 0; i < VARIANCE_SOURCES; i++) {
		if (isnan(p[i].var))
			continue;
		jsontext_comma(to);
		str_addc(to, '{');
		jsontext_str(to, "source",
		    variance_source_name((enum variance_source)i));
		jsontext_num(to, "sd_percent", 100 * sqrt(p[i].var) / mean);
		jsontext_num(to, "n", (double)p[i].n);
		if (p[i].below)
			jsontext_true(to, "below");
		str_addc(to, '}');
	}
	str_addc(to, ']');
	append_advice(to, p, mean, wanted);
}

/* Copies the values of the session that begins at 'from'; returns their
 * number. */
static size_t
copy_session(const struct variance_run *runs, size_t from, size_t n, double *v)
{
	size_t k = 0;

	for (; from + k < n && runs[from + k].session == runs[from].session;
	     k++)
		v[k] = runs[from + k].value;
	return k;
}

/* Do more than half of the sessions have a significant trend of this sign? */
static bool
is_trend_common(const struct variance_run *runs, size_t n, double *v,
    size_t sessions, double way)
{
	size_t with = 0;

	for (size_t i = 0, k; i < n; i += k) {
		struct steady_trend t;

		k = copy_session(runs, i, n, v);
		if (k < SESSION)
			continue;
		t = steady_trend(v, k, EXACT);
		if (isnan(steady_drift(v, k, t.slope)))
			continue;
		with += way > 0 ? t.lo > 0 : t.hi < 0;
	}
	return 2 * with > sessions;
}

/* Appends the median of the drifts of the sessions. */
static void
append_drift(struct str *to, const struct variance_run *runs, size_t n)
{
	double *v = mem_resize(NULL, n, sizeof *v);
	double *of = mem_resize(NULL, n / SESSION, sizeof *of), mid;
	size_t sessions = 0;

	for (size_t i = 0, k; i < n; i += k) {
		k = copy_session(runs, i, n, v);
		if (k < SESSION)
			continue;
		of[sessions] = steady_drift(v, k, steady_slope(v, k, EXACT));
		sessions += !isnan(of[sessions]);
	}
	if (sessions) {
		mid = stats_middle(of, sessions);
		jsontext_num(to, "drift_percent", 100 * mid);
		if (fabs(mid) > STEADY_DRIFT &&
		    is_trend_common(runs, n, v, sessions, mid))
			jsontext_true(to, "drifting");
	}
	free(v);
	free(of);
}

/*
 * The expected half width of the interval that stats_ci gives for n values of
 * normal noise, in standard deviations: normal scores (Blom 1958), or t where
 * there are too few for order statistics. INFINITY for n < 3.
 */
static double
estimate_half_width(size_t n, double conf)
{
	size_t l = stats_median_ci(n, conf, NULL);

	if (l)
		return -tdist_normal_quantile(
		    ((double)l - .375) / ((double)n + .25));
	if (n < 3)
		return INFINITY;
	return tdist_quantile((1 + conf) / 2, (double)(n - 1)) /
	    sqrt((double)n);
}

/*
 * Returns how many more values are expected to narrow the interval of stats_ci
 * from the half width 'now' (with n values) to 'wanted'. 0: it is narrow
 * enough; SIZE_MAX: unknown. If n < 3, returns how many values are missing for
 * an interval.
 */
static size_t
count_more_runs(double now, double wanted, size_t n, double conf)
{
	double z = tdist_normal_quantile((1 + conf) / 2), far, goal;
	size_t to;

	if (now <= wanted)
		return 0;
	if (n < 3)
		return 3 - n;
	goal = estimate_half_width(n, conf) * wanted / now;
	far = M_PI / 2 * (z / goal) * (z / goal); /* variance of the median */
	if (!(far < 1e9))
		return SIZE_MAX;
	to = far * .8 > (double)n ? (size_t)(far * .8) : n + 1;
	while (far < 1000 && estimate_half_width(to, conf) > goal)
		to++;
	return (far < 1000 ? to : (size_t)fmax(far, (double)n + 1)) - n;
}

static void
append_precision(struct str *to, const struct precision *m, double wanted)
{
	double width = m->hi - m->lo;
	double now = width == 0 ? 0 : width / 2 / fabs(m->median);
	size_t more = count_more_runs(now, wanted, m->n, .95);

	jsontext_key(to, "precision");
	str_addc(to, '{');
	jsontext_num(to, "now", now);
	jsontext_num(to, "wanted", wanted);
	if (more != SIZE_MAX)
		jsontext_num(to, "runs", (double)more);
	str_addc(to, '}');
}

void
precision_append(struct str *to, const struct precision *m, double wanted)
{
	append_variance_split(to, m, wanted);
	if (m->timed)
		append_drift(to, m->runs, m->n);
	if (wanted > 0)
		append_precision(to, m, wanted);
}
