#include "variance.h"
#include "mem.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>

const char *
variance_source_name(enum variance_source s)
{
	static const char *const names[] = {
	    "machine", "session", "restart", "within"};

	return names[s];
}

double
variance_within(const double *v, size_t n)
{
	double sd = stats_sd(v, n), r = stats_lag1(v, n);

	if (n < 8)
		return NAN;
	r = r > 0 ? fmin(r, .99) : 0;
	return sd * sd / (double)n * (1 + r) / (1 - r);
}

static int
compare_by_machine_and_session(const void *a, const void *b)
{
	const struct variance_run *x = a, *y = b;
	int c = (x->machine > y->machine) - (x->machine < y->machine);

	return c ? c : (x->session > y->session) - (x->session < y->session);
}

/* Counts the runs from 'v' on of the same machine, or of the same session. */
static size_t
count_group(const struct variance_run *v, size_t n, bool session)
{
	size_t i = 1;

	while (i < n && v[i].machine == v->machine &&
	    (!session || v[i].session == v->session))
		i++;
	return i;
}

static double
compute_mean(const struct variance_run *v, size_t n)
{
	double sum = 0;

	/* Relative to the first value: the mean of equal values is exact. */
	for (size_t i = 0; i < n; i++)
		sum += v[i].value - v->value;
	return v->value + sum / (double)n;
}

/* Sums of squares and the coefficients of their expectations (Searle). */
struct sums {
	double squares[3];    /* of machines, sessions, runs */
	size_t n[3];          /* number of machines, sessions, runs */
	double nn, session_n; /* sum n_i^2 / N, sum n_ij^2 / n_i */
	double all_n;         /* sum n_ij^2 / N */
};

static double
compute_square(double v)
{
	return v * v;
}

static void
add_machine(struct sums *s, const struct variance_run *v, size_t n, double all)
{
	double mid = compute_mean(v, n), size = (double)n, own, k;
	size_t left = n, count;

	s->n[0]++;
	s->squares[0] += size * compute_square(mid - all);
	s->nn += size * size;
	for (; left; v += count, left -= count) {
		count = count_group(v, left, true);
		own = compute_mean(v, count);
		k = (double)count;
		s->n[1]++;
		s->squares[1] += k * compute_square(own - mid);
		s->session_n += k * k / size;
		s->all_n += k * k;
		for (size_t i = 0; i < count; i++)
			s->squares[2] += compute_square(v[i].value - own);
	}
}

/* 'run' is the variance of runs to use if no session has two runs. */
static void
estimate_components(
    const struct sums *s, double total, double run, double raw[3])
{
	double a = (double)s->n[0], b = (double)s->n[1], session = 0;

	raw[0] = raw[1] = raw[2] = NAN;
	if (total > b)
		raw[2] = run = s->squares[2] / (total - b);
	if (b > a)
		raw[1] = session = (s->squares[1] / (b - a) - run) /
		    ((total - s->session_n) / (b - a));
	if (a > 1)
		raw[0] =
		    (s->squares[0] / (a - 1) - run -
			session * (s->session_n - s->all_n / total) / (a - 1)) /
		    ((total - s->nn / total) / (a - 1));
}

static void
set_variance(struct variance_part *p, double var)
{
	p->below = var < 0;
	p->var = var < 0 ? 0 : var;
}

void
variance_split(const struct variance_run *runs, size_t n,
    struct variance_part parts[VARIANCE_SOURCES])
{
	struct variance_run *v = mem_array(n + 1, sizeof *v);
	struct sums s = {.n = {0, 0, n}};
	double raw[3], within = 0, all;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		v[i] = runs[i];
		if (isnan(runs[i].within))
			continue;
		within += runs[i].within / (double)n;
		known++;
	}
	qsort(v, n, sizeof *v, compare_by_machine_and_session);
	all = n ? compute_mean(v, n) : NAN;
	for (size_t i = 0, count; i < n; i += count) {
		count = count_group(v + i, n - i, false);
		add_machine(&s, v + i, count, all);
	}
	estimate_components(&s, (double)n, known == n ? within : 0, raw);
	for (int i = 0; i < 3; i++) {
		parts[i].n = s.n[i];
		set_variance(&parts[i], raw[i]);
	}
	parts[VARIANCE_WITHIN] = (struct variance_part){NAN, known, false};
	if (n > 1 && known == n) {
		parts[VARIANCE_WITHIN].var = within;
		set_variance(&parts[VARIANCE_RESTART], raw[2] - within);
	}
	free(v);
}

double
variance_of_mean(const struct variance_part parts[VARIANCE_SOURCES])
{
	double sum = 0;
	bool known = false;

	for (int i = 0; i < VARIANCE_SOURCES; i++) {
		if (isnan(parts[i].var))
			continue;
		sum += parts[i].var / (double)parts[i].n;
		known = true;
	}
	return known ? sum : NAN;
}

size_t
variance_needed(const struct variance_part parts[VARIANCE_SOURCES],
    enum variance_source source, double half, double conf)
{
	double above = 0, here = 0, room, n;

	if (isnan(parts[source].var))
		return 0;
	for (int i = 0; i < VARIANCE_SOURCES; i++) {
		double part = parts[i].var / (double)parts[i].n;

		if (isnan(part))
			continue;
		if (i < (int)source)
			above += part;
		else
			here += part * (double)parts[source].n;
	}
	room = compute_square(half / tdist_normal_quantile((1 + conf) / 2)) -
	    above;
	n = ceil(here / fmax(room, 0));
	return n < 1e9 ? (size_t)fmax(n, 1) : 0;
}
