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

/* Appends text, with "_" for characters that a shell or a path may not have. */
static void
add_plain(struct str *s, const char *text)
{
	for (; *text; text++)
		str_addc(s,
		    isalnum((unsigned char)*text) || strchr("._+:=", *text)
			? *text
			: '_');
}

static void
add_number(struct str *s, const char *letter, const struct json *v)
{
	if (v)
		str_printf(s, "-%s%.15g", letter, json_num(v, 0));
}

/* search.reader-threads 8 becomes reader-threads8, as in the Python tool. */
static void
add_settings(struct str *s, const struct json *set)
{
	const char *name, *dot;
	char sep = '-';

	for (const struct json *m = json_first(set); m; m = json_next(m)) {
		name = json_key(m);
		dot = strrchr(name, '.');
		str_addc(s, sep);
		add_plain(s, dot ? dot + 1 : name);
		if (json_str(m))
			add_plain(s, json_str(m));
		else
			str_printf(s, "%.15g", json_num(m, 0));
		sep = '_';
	}
}

static void
add_test(struct str *s, const struct json *c)
{
	const char *test = json_get_str(c, "test_id");

	if (test) {
		add_plain(s, test);
		add_number(s, "i", json_get(c, "iteration"));
		add_number(s, "again", json_get(c, "occurrence"));
		return;
	}
	add_plain(
	    s, json_get_str(c, "command") ? json_get_str(c, "command") : "");
	add_number(s, "d", json_get(c, "data_size"));
	add_number(s, "P", json_get(c, "pipeline"));
	add_number(s, "c", json_get(c, "clients"));
	add_number(s, "k", json_get(c, "keyspacelen"));
}

void
plan_id(struct str *s, const struct json *c, bool more)
{
	const char *latency = json_get_str(c, "latency");

	add_test(s, c);
	if (json_get_bool(c, "cluster_mode", false)) {
		str_add(s, "-cluster");
		if (json_get_num(c, "cluster_nodes", 1) > 1)
			str_printf(
			    s, "%.15g", json_get_num(c, "cluster_nodes", 1));
		add_number(s, "r", json_get(c, "cluster_replicas"));
	}
	if (json_get_bool(c, "tls_mode", false))
		str_add(s, "-tls");
	if (json_get_num(c, "io_threads", 1) > 1)
		add_number(s, "io", json_get(c, "io_threads"));
	add_number(s, "rate", json_get(c, "rate"));
	if (json_get_bool(c, "unixsocket", false))
		str_add(s, "-unix");
	if (json_get_bool(c, "resp3", false))
		str_add(s, "-resp3");
	if (json_get_bool(c, "no_flush", false))
		str_add(s, "-no_flush");
	if (strcmp(casecheck_engine(c), CASECHECK_NATIVE) != 0) {
		str_addc(s, '-');
		add_plain(s, casecheck_engine(c));
	} else if (latency)
		str_add(s, "-bfb");
	add_settings(s, json_get(c, "config_set"));
	if (json_get(c, "profiling"))
		str_add(s, "-profiled");
	if (!more)
		return;
	add_number(s, "n", json_get(c, "requests"));
	add_number(s, "t", json_get(c, "duration_s"));
	add_number(s, "w", json_get(c, "warmup_s"));
	add_number(s, "T", json_get(c, "benchmark_threads"));
	if (json_get_bool(c, "sequential", false))
		str_add(s, "-seq");
}

/* A case and a text to sort it by: its identity or its id. */
struct named {
	char *text;
	size_t i;
};

static int
compare_by_text(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int d = strcmp(x->text, y->text);

	return d ? d : x->i < y->i ? -1 : x->i > y->i;
}

static struct named *
sort_cases(const struct plan *p, bool ids)
{
	struct named *v = mem_array(p->n + 1, sizeof *v);
	struct str s = {0};

	for (size_t i = 0; i < p->n; i++) {
		str_clear(&s);
		if (ids)
			str_add(&s, json_get_str(p->cases[i], "id"));
		else
			json_canonical(&s, json_get(p->cases[i], "config"));
		v[i] = (struct named){.text = mem_strn(s.s, s.len), .i = i};
	}
	str_free(&s);
	qsort(v, p->n, sizeof *v, compare_by_text);
	return v;
}

static void
free_sorted(struct named *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].text);
	free(v);
}

/*
 * Counts b as a duplicate of a. -1, error reported, if they differ elsewhere.
 */
static int
check_duplicate(struct plan *p, const struct json *a, const struct json *b)
{
	struct str s = {0};
	int rc = 0;

	plan_id(&s, json_get(a, "config"), false);
	if (json_equal(json_get(a, "server"), json_get(b, "server")) &&
	    json_equal(json_get(a, "client"), json_get(b, "client")))
		p->doubles++;
	else
		rc = err_fail("case %s is planned twice with different CPUs or "
			      "ports, which are not part of its identity: run "
			      "them in two sessions with an '--output' each",
		    s.s);
	str_free(&s);
	return rc;
}

static int
drop_duplicates(struct plan *p)
{
	struct named *v = sort_cases(p, false);
	size_t n = p->n, first = 0, kept = 0;
	int rc = 0;

	for (size_t i = 1; i < n; i++) {
		if (strcmp(v[first].text, v[i].text) != 0) {
			first = i;
			continue;
		}
		if (check_duplicate(p, p->cases[v[first].i], p->cases[v[i].i]) <
		    0)
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
		err_say("%zu duplicate case%s dropped", p->doubles,
		    num_plural(p->doubles));
	return rc;
}

/* Marks the cases whose id is not unique. Returns their number. */
static size_t
mark_equal_ids(const struct plan *p, bool *same)
{
	struct named *v = sort_cases(p, true);
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
check_given_ids(const struct plan *p, const bool *given, const bool *same)
{
	for (size_t i = 0; i < p->n; i++)
		if (given[i] && same[i])
			return err_fail("two different cases have the id "
					"'%s': rename one",
			    json_get_str(p->cases[i], "id"));
	return 0;
}

/* Tries a short id, then a longer one, then a number, until all differ. */
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
		if (!mark_equal_ids(p, same))
			break;
	}
	rc = check_given_ids(p, given, same);
	str_free(&s);
	free(given);
	free(same);
	return rc;
}

int
plan_unique(struct plan *p)
{
	return drop_duplicates(p) < 0 ? -1 : name_cases(p);
}
