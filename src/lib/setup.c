#include "setup.h"
#include "branch.h"
#include "intern.h"
#include "json.h"
#include "machines.h"
#include "mem.h"
#include "reading.h"
#include "record.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 12 /* of a commit or hash */

/* Settings that change results and rarely change on a host. */
static const char *const setting_keys[] = {"kernel", "os", "microcode",
    "governor", "turbo", "smt", "thp", "mitigations"};

#define SETTINGS (sizeof setting_keys / sizeof *setting_keys)

char *
setup_server(const struct json *subject)
{
	const char *commit = json_get_str(subject, "commit");
	const char *hash = json_get_str(subject, "binary_sha256");
	const char *version = json_get_str(subject, "server_version");
	struct str s = {0};
	char *brief = commit ? record_commit_brief(commit, DIGITS) : NULL;

	if (json_get(subject, "module_commit") &&
	    !json_get(subject, "module_fixed") && (brief || hash)) {
		str_printf(&s, "%s (", version ? version : "unknown version");
		if (brief)
			str_add(&s, brief);
		else
			str_printf(&s, "SHA-256 %.*s", DIGITS, hash);
		str_addc(&s, ')');
	}
	free(brief);
	return str_take(&s);
}

/* A line for each setting, which is empty if it is not known. */
char *
setup_settings(const struct json *env)
{
	struct str s = {0};

	for (size_t i = 0; env && i < SETTINGS; i++) {
		const struct json *j = json_get(env, setting_keys[i]);

		if (json_str(j))
			str_visible(&s, json_str(j));
		else if (j)
			json_canonical(&s, j);
		str_addc(&s, '\n');
	}
	return str_take(&s);
}

/* Adds what changed, with 'name' before it, if both values are known. */
static void
add_change(struct str *s, const char *name, const char *a, size_t m,
    const char *b, size_t n)
{
	if (!m || !n || (m == n && memcmp(a, b, n) == 0))
		return;
	str_printf(s, "%s%s%s from %.*s to %.*s", s->len ? ", " : "the ", name,
	    s->len ? "" : " changed", (int)m, a, (int)n, b);
}

static void
add_settings(struct str *s, const char *a, const char *b)
{
	for (size_t i = 0; i < SETTINGS && *a && *b; i++) {
		size_t m = strcspn(a, "\n"), n = strcspn(b, "\n");

		add_change(s, setting_keys[i], a, m, b, n);
		a += m + (a[m] == '\n');
		b += n + (b[n] == '\n');
	}
}

static void
add_changes(struct str *s, const struct reading *in, bool host,
    const struct branch_setup *old, const struct branch_setup *new)
{
	const char *x = intern_text(in->servers, old->server);
	const char *y = intern_text(in->servers, new->server);

	add_change(s, "server", x, strlen(x), y, strlen(y));
	if (host)
		add_settings(s, intern_text(in->settings, old->settings),
		    intern_text(in->settings, new->settings));
}

char *
setup_find_change(const struct branch *b, const struct branch_values *v,
    size_t machine, size_t before, size_t lo, size_t hi)
{
	bool host = machines_is_host(b->reading->machines, machine);
	struct str s = {0};

	for (size_t i = lo; i-- > 0 && before && !s.len;) {
		before -= !isnan(v->v[i]);
		for (size_t k = lo; k <= hi && !s.len; k++)
			if (!isnan(v->v[i]) && !isnan(v->v[k]))
				add_changes(&s, b->reading, host, &v->setups[i],
				    &v->setups[k]);
	}
	return s.len ? str_take(&s) : NULL;
}

#define POINTS 10
#define LEAST_LOSS .1  /* ln: a tenth of the CPU time */
#define LEAST_LEFT .01 /* of it */

/* Returns the median of up to n values from point i on, before it if 'back'. */
static double
find_level(const double *v, size_t npoints, size_t i, size_t n, bool back)
{
	double found[POINTS];
	size_t k = 0;

	while (k < n && k < POINTS && (back ? i > 0 : i < npoints)) {
		double x = back ? v[--i] : v[i++];

		if (!isnan(x))
			found[k++] = x;
	}
	stats_sort(found, k);
	return stats_median(found, k);
}

static double
measure_loss(double percent)
{
	return -log(fmax(LEAST_LEFT, 1 - percent / 100));
}

char *
setup_find_neighbours(const struct branch *b, const struct branch_series *of,
    size_t lo, size_t hi, const size_t n[2], double weight, int way, double ln)
{
	const struct branch_series *s = b->series, *end = s + b->nseries;
	struct branch_values v;
	double before, since, loss;

	while (s < end &&
	    (s->kase != of->kase || s->machine != of->machine ||
		strcmp(s->metric, "foreign_cpu_percent") != 0))
		s++;
	if (s == end || !(weight > 0))
		return NULL;
	branch_read_values(b, s, &v);
	before = find_level(v.v, b->npoints, lo, n[0], true);
	since = find_level(v.v, b->npoints, hi, n[1], false);
	branch_free_values(&v);
	if (isnan(before) || isnan(since))
		return NULL;
	loss = measure_loss(since) - measure_loss(before);
	/* With more of them a server is slower, never faster; a ratio to
	 * another one is either. */
	if (way != 0 && way * ln * loss < 0)
		return NULL;
	return fabs(loss) >= LEAST_LOSS && fabs(ln) <= 2 * weight * fabs(loss)
	    ? mem_printf("other processes used %.0f%% of the CPU before and "
			 "%.0f%% since",
		  before, since)
	    : NULL;
}
