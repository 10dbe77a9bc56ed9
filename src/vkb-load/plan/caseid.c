#include "casecheck.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "plan.h"
#include "record.h"
#include "str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Only what a shell, a file name and a report can bear. */
static void
plain(struct str *s, const char *text)
{
	for (; *text; text++)
		str_addc(s,
		    isalnum((unsigned char)*text) || strchr("._+:=", *text)
			? *text
			: '_');
}

static void
number(struct str *s, const char *letter, const struct json *v)
{
	if (v)
		str_printf(s, "-%s%.15g", letter, json_num(v, 0));
}

/* search.reader-threads 8 becomes reader-threads8, as in the Python tool. */
static void
settings(struct str *s, const struct json *set)
{
	const char *name, *dot;
	char sep = '-';

	for (const struct json *m = json_first(set); m; m = json_next(m)) {
		name = json_key(m);
		dot = strrchr(name, '.');
		str_addc(s, sep);
		plain(s, dot ? dot + 1 : name);
		if (json_str(m))
			plain(s, json_str(m));
		else
			str_printf(s, "%.15g", json_num(m, 0));
		sep = '_';
	}
}

static void
start(struct str *s, const struct json *c)
{
	const char *test = json_get_str(c, "test_id");

	if (test) {
		plain(s, test);
		number(s, "i", json_get(c, "iteration"));
		number(s, "again", json_get(c, "occurrence"));
		return;
	}
	plain(s, json_get_str(c, "command") ? json_get_str(c, "command") : "");
	number(s, "d", json_get(c, "data_size"));
	number(s, "P", json_get(c, "pipeline"));
	number(s, "c", json_get(c, "clients"));
	number(s, "k", json_get(c, "keyspacelen"));
}

void
plan_id(struct str *s, const struct json *c, bool more)
{
	const char *latency = json_get_str(c, "latency");

	start(s, c);
	if (json_get_bool(c, "cluster_mode", false)) {
		str_add(s, "-cluster");
		if (json_get_num(c, "cluster_nodes", 1) > 1)
			str_printf(
			    s, "%.15g", json_get_num(c, "cluster_nodes", 1));
		number(s, "r", json_get(c, "cluster_replicas"));
	}
	if (json_get_bool(c, "tls_mode", false))
		str_add(s, "-tls");
	if (json_get_num(c, "io_threads", 1) > 1)
		number(s, "io", json_get(c, "io_threads"));
	number(s, "rate", json_get(c, "rate"));
	if (json_get_bool(c, "unixsocket", false))
		str_add(s, "-unix");
	if (json_get_bool(c, "resp3", false))
		str_add(s, "-resp3");
	if (json_get_bool(c, "no_flush", false))
		str_add(s, "-no_flush");
	if (strcmp(casecheck_engine(c), CASECHECK_NATIVE) != 0) {
		str_addc(s, '-');
		plain(s, casecheck_engine(c));
	} else if (latency)
		str_add(s, "-bfb");
	settings(s, json_get(c, "config_set"));
	if (json_get(c, "profiling"))
		str_add(s, "-profiled");
	if (!more)
		return;
	number(s, "n", json_get(c, "requests"));
	number(s, "t", json_get(c, "duration_s"));
	number(s, "w", json_get(c, "warmup_s"));
	number(s, "T", json_get(c, "benchmark_threads"));
	if (json_get_bool(c, "sequential", false))
		str_add(s, "-seq");
}

/* A case under a text: its identity or its id. Sorted, equals are neighbours.
 */
struct named {
	char *text;
	size_t i;
};

static int
by_text(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int d = strcmp(x->text, y->text);

	return d ? d : x->i < y->i ? -1 : x->i > y->i;
}

static struct named *
sorted(const struct plan *p, bool ids)
{
	struct named *v = mem_array(p->n + 1, sizeof *v);
	struct str s = {0};

	for (size_t i = 0; i < p->n; i++) {
		str_clear(&s);
		if (ids)
			str_add(&s, json_get_str(p->cases[i], "id"));
		else
			record_room(&s, json_get(p->cases[i], "config"));
		v[i] = (struct named){.text = mem_strn(s.s, s.len), .i = i};
	}
	str_free(&s);
	qsort(v, p->n, sizeof *v, by_text);
	return v;
}

static void
free_sorted(struct named *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].text);
	free(v);
}

/* One identity is one case; the same one twice would be pooled. */
static int
double_of(struct plan *p, const struct json *a, const struct json *b)
{
	struct str s = {0};
	int rc = 0;

	plan_id(&s, json_get(a, "config"), false);
	if (json_equal(json_get(a, "server"), json_get(b, "server")) &&
	    json_equal(json_get(a, "client"), json_get(b, "client")))
		p->doubles++;
	else
		rc = err_fail("case %s is planned twice, with other CPUs or "
			      "ports, which do not identify a case: use two "
			      "files",
		    s.s);
	str_free(&s);
	return rc;
}

static int
no_doubles(struct plan *p)
{
	struct named *v = sorted(p, false);
	size_t n = p->n, first = 0, kept = 0;
	int rc = 0;

	for (size_t i = 1; i < n; i++) {
		if (strcmp(v[first].text, v[i].text) != 0) {
			first = i;
			continue;
		}
		if (double_of(p, p->cases[v[first].i], p->cases[v[i].i]) < 0)
			rc = -1;
		json_free(p->cases[v[i].i]);
		p->cases[v[i].i] = NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (p->cases[i])
			p->cases[kept++] = p->cases[i];
	p->n = kept;
	free_sorted(v, n);
	if (p->doubles)
		err_say("%zu case%s planned twice, run once", p->doubles,
		    num_plural(p->doubles));
	return rc;
}

/* Marks the cases that have no id of their own; how many are they? */
static size_t
mark_same(const struct plan *p, bool *same)
{
	struct named *v = sorted(p, true);
	size_t n = 0;

	memset(same, 0, p->n * sizeof *same);
	for (size_t i = 1; i < p->n; i++)
		if (strcmp(v[i - 1].text, v[i].text) == 0)
			same[v[i - 1].i] = same[v[i].i] = true;
	for (size_t i = 0; i < p->n; i++)
		n += same[i];
	free_sorted(v, p->n);
	return n;
}

static int
given_twice(const struct plan *p, const bool *given, const bool *same)
{
	for (size_t i = 0; i < p->n; i++)
		if (given[i] && same[i])
			return err_fail("case '%s' is there twice, not the "
					"same",
			    json_get_str(p->cases[i], "id"));
	return 0;
}

/* A short name where that is enough, a longer one, then a number. */
static int
name_cases(struct plan *p)
{
	bool *given = mem_array(p->n + 1, sizeof *given);
	bool *same = mem_array(p->n + 1, sizeof *same);
	struct str s = {0};
	size_t i, n;
	int rc;

	for (i = 0; i < p->n; i++)
		given[i] = *json_get_str(p->cases[i], "id");
	for (size_t round = 0; round < p->n + 3; round++) {
		for (i = 0, n = 0; i < p->n; i++) {
			if (given[i] || (round && !same[i]))
				continue;
			str_clear(&s);
			plan_id(&s, json_get(p->cases[i], "config"), round > 0);
			if (round > 1)
				str_printf(&s, "-%zu", ++n);
			json_set_str(p->cases[i], "id", s.s);
		}
		if (!mark_same(p, same))
			break;
	}
	rc = given_twice(p, given, same);
	str_free(&s);
	free(given);
	free(same);
	return rc;
}

int
plan_unique(struct plan *p)
{
	return no_doubles(p) < 0 ? -1 : name_cases(p);
}
