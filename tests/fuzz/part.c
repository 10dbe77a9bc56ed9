/* Foreign text as a summary record: the reader without a tree gives what the
 * tree has. */
#include "caseset.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "vkb-compare/part.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool holds)
{
	if (!holds)
		abort();
}

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool
is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static const struct json *
at(const struct json *array, size_t i)
{
	return array && json_type(array) == JSON_ARRAY ? json_at(array, i)
						       : NULL;
}

/* The runs of a metric: its values that are numbers, with their rounds. */
static void
runs(
    const struct sample *s, const struct json *metric, const struct json *names)
{
	const struct json *values = json_get(metric, "values"), *j, *to;
	const struct json *sessions = json_get(metric, "sessions");
	size_t n = 0, i = 0;

	if (!values || json_type(values) != JSON_ARRAY)
		values = NULL;
	for (j = json_first(values); j; j = json_next(j), i++) {
		double which = at(sessions, i) ? json_num(at(sessions, i), NAN)
		    : json_len(names) == 1     ? 0
					       : NAN;

		if (isnan(json_num(j, NAN)))
			continue;
		check(n < s->n && s->v[n] == json_num(j, NAN));
		check(same(s->rounds[n].block,
		    json_num(at(json_get(metric, "blocks"), i), NAN)));
		to = which >= 0 && which < (double)json_len(names)
		    ? json_at(names, (size_t)which)
		    : NULL;
		check(is_same(s->rounds[n++].session, json_str(to)));
	}
	check(n == s->n);
}

static void
metrics(const struct part *p, const struct json *tree)
{
	size_t n = 0;

	for (const struct json *j = json_first(tree); j; j = json_next(j)) {
		const struct part_metric *m = part_metric(p, json_key(j));

		check(m != NULL);
		runs(&m->runs, j, json_get(p->rest, "sessions"));
		n++;
	}
	check(n == p->nmetrics);
}

static void
kept(const struct json *part, const struct json *tree, bool hists)
{
	check(hists && tree ? part && json_equal(part, tree) : !part);
}

static bool
is_among(const char *key, const char *names)
{
	size_t n = strlen(key);

	for (const char *s = names; n && (s = strstr(s, key)); s += n)
		if ((s == names || s[-1] == ' ') && (!s[n] || s[n] == ' '))
			return true;
	return false;
}

static void
rest(const struct part *p, const struct json *tree, struct caseset *sets[2])
{
	for (const struct json *j = json_first(tree); j; j = json_next(j)) {
		const char *key = json_key(j);
		const struct json *k = json_get(p->rest, key);

		if (is_among(
			key, "type v config subject hist metrics quantiles"))
			check(!k);
		else
			check(json_equal(j, k));
	}
	check(json_equal(
	    caseset_tree(sets[0], p->config), json_get(tree, "config")));
	check(json_equal(
	    caseset_tree(sets[1], p->subject), json_get(tree, "subject")));
}

static void
read_again(
    struct part_reader *r, const struct part *p, const char *text, size_t n)
{
	struct part again;

	check(part_read(r, &again, text, n));
	check(part_compare(p, &again) == 0);
	part_free(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_strn((const char *)data, size);
	struct json *tree = json_parse(text, size, NULL, NULL);
	bool summary = tree && record_is(tree, "summary") &&
	    record_check(tree, "input") == 0;
	struct part p;

	for (int hists = 0; hists < 2; hists++) {
		struct caseset *sets[] = {caseset_new(), caseset_new()};
		struct part_reader *r =
		    part_reader_new(sets[0], sets[1], hists);
		bool got = part_read(r, &p, text, size);

		check(got == summary);
		if (got) {
			metrics(&p, json_get(tree, "metrics"));
			kept(p.quantiles, json_get(tree, "quantiles"), hists);
			kept(p.hists, json_get(tree, "hist"), hists);
			rest(&p, tree, sets);
			read_again(r, &p, text, size);
			part_free(&p);
		}
		part_reader_free(r);
		caseset_free(sets[0]);
		caseset_free(sets[1]);
	}
	json_free(tree);
	free(text);
	return 0;
}
