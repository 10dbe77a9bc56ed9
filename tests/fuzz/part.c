/* Foreign text as a summary record: the reader without a tree gives what the
 * tree has. */
#include "json.h"
#include "mem.h"
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

static void
rest(const struct part *p, const struct json *tree, bool hists)
{
	for (const struct json *j = json_first(tree); j; j = json_next(j)) {
		const char *key = json_key(j);
		const struct json *k = json_get(p->rest, key);

		if (is_object(j) && strcmp(key, "metrics") == 0)
			check(k && !json_first(k));
		else if (is_object(j) &&
		    (strcmp(key, "quantiles") == 0 ||
			(!hists && strcmp(key, "hist") == 0)))
			check(!k);
		else
			check(json_equal(j, k));
	}
}

static void
read_again(const struct part *p, const char *text, size_t n, bool hists)
{
	struct part again;

	check(part_read(&again, text, n, hists));
	check(part_compare(p, &again) == 0);
	part_free(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_strn((const char *)data, size);
	struct json *tree = json_parse(text, size, NULL, NULL);
	const char *type = json_get_str(tree, "type");
	struct part p;

	for (int hists = 0; hists < 2; hists++) {
		bool got = part_read(&p, text, size, hists);

		check(got == (type && strcmp(type, "summary") == 0));
		if (!got)
			continue;
		metrics(&p, json_get(tree, "metrics"));
		if (is_object(json_get(tree, "quantiles")))
			quantiles(&p, json_get(tree, "quantiles"));
		rest(&p, tree, hists);
		read_again(&p, text, size, hists);
		part_free(&p);
	}
	json_free(tree);
	free(text);
	return 0;
}
