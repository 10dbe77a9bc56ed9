/* Foreign text as a summary record: the reader without a tree gives what the
 * tree has. */
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
is_object(const struct json *j)
{
	return j && json_type(j) == JSON_OBJECT;
}

static void
list(const struct part_list *l, const struct json *j)
{
	size_t n = 0;

	if (!j || json_type(j) != JSON_ARRAY)
		j = NULL;
	for (j = json_first(j); j; j = json_next(j), n++)
		check(n < l->n && same(l->v[n], json_num(j, NAN)));
	check(n == l->n);
}

static void
metrics(const struct part *p, const struct json *tree)
{
	size_t n = 0;

	for (const struct json *j = json_first(tree); j; j = json_next(j)) {
		const struct part_metric *m = part_metric(p, json_key(j));

		check(m != NULL);
		list(&m->values, json_get(j, "values"));
		list(&m->blocks, json_get(j, "blocks"));
		list(&m->sessions, json_get(j, "sessions"));
		check(same(m->mean, json_get_num(j, "mean", NAN)));
		n++;
	}
	check(n == p->nmetrics);
}

static void
quantiles(const struct part *p, const struct json *tree)
{
	size_t n = 0;

	for (const struct json *j = json_first(tree); j; j = json_next(j))
		n += is_object(j) ? json_len(j) : 0;
	check(n == p->nquantiles);
	for (size_t i = 0; i < n; i++) {
		const struct part_quantile *q = &p->quantiles[i];

		list(&q->values,
		    json_get(json_get(tree, q->hist), q->percentile));
	}
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
rest(const struct part *p, const struct json *tree, bool hists)
{
	for (const struct json *j = json_first(tree); j; j = json_next(j)) {
		const char *key = json_key(j);
		const struct json *k = json_get(p->rest, key);

		if (is_among(key, "type v metrics quantiles") ||
		    (!hists && strcmp(key, "hist") == 0))
			check(!k);
		else
			check(json_equal(j, k));
	}
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
		struct part_reader *r = part_reader_new(hists);
		bool got = part_read(r, &p, text, size);

		check(got == summary);
		if (!got) {
			part_reader_free(r);
			continue;
		}
		metrics(&p, json_get(tree, "metrics"));
		quantiles(&p, json_get(tree, "quantiles"));
		rest(&p, tree, hists);
		read_again(r, &p, text, size);
		part_free(&p);
		part_reader_free(r);
	}
	json_free(tree);
	free(text);
	return 0;
}
