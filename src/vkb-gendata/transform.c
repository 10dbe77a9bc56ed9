#include "transform.h"
#include "configwalk.h"
#include "json.h"
#include "mem.h"
#include "natural.h"
#include "params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 1e12
#define TOKENS 1e9
#define DIGITS 12 /* significant digits of a number, about */

#define AT(field) offsetof(struct transform, field)
#define WHOLE(name, field, fallback, min, max)                          \
	{                                                               \
		name, PARAMS_WHOLE, AT(field), fallback, min, max, NULL \
	}
#define REAL(name, field, fallback, min, max)                          \
	{                                                              \
		name, PARAMS_REAL, AT(field), fallback, min, max, NULL \
	}

static const struct {
	const char *name;
	struct params p[7];
} transform_kinds[TRANSFORM_NAMED] = {
    [TRANSFORM_WIKIPEDIA] = {"wikipedia",
	{WHOLE("offset", offset, 0, 0, TOKENS),
	    WHOLE("words", count, NATURAL_WORDS, 1, TOKENS), {0}}},
    [TRANSFORM_INJECT] = {"inject",
	{{"term", PARAMS_TEXT, AT(text), 0, 0, 0, ""},
	    REAL("percentage", share, 1, 0, 1), {0}}},
    [TRANSFORM_REPEAT] = {"repeat",
	{{"term", PARAMS_TEXT, AT(text), 0, 0, 0, ""},
	    WHOLE("count", count, 1, 0, TOKENS), {0}}},
    [TRANSFORM_PREFIX_GEN] = {"prefix_gen",
	{{"base", PARAMS_TEXT, AT(text), 0, 0, 0, "word"},
	    WHOLE("variations", count, 10, 0, TOKENS), {0}}},
    [TRANSFORM_PROXIMITY] = {"proximity_phrase",
	{WHOLE("repeats", each, 1000, 1, ROWS),
	    WHOLE("term_count", terms, 5, 1, 1e6),
	    WHOLE("combinations", combos, 1, 1, TOKENS), {0}}},
    [TRANSFORM_PHRASE_LABEL] = {"phrase_label",
	{WHOLE("repeats", each, 1000, 1, ROWS), {0}}},
    [TRANSFORM_EXPANSION] = {"expansion",
	{WHOLE("expansion_count", count, 5, 1, TOKENS),
	    WHOLE("docs_per_expansion", each, 20, 1, ROWS),
	    WHOLE("term_count", terms, 100, 1, ROWS), {0}}},
    [TRANSFORM_FUZZY] = {"fuzzy",
	{WHOLE("variant_count", count, 5, 1, 1e6),
	    WHOLE("docs_per_variant", each, 20, 1, ROWS),
	    WHOLE("term_count", terms, 100, 1, ROWS),
	    WHOLE("min_word_length", min_len, 5, 1, 1e6),
	    WHOLE("max_word_length", max_len, 6, 1, 1e6),
	    WHOLE("target_distance", edits, 1, 0, 1e6), {0}}},
    [TRANSFORM_NUMERIC] = {"numeric_range",
	{REAL("min", lo, 0, -1e15, 1e15), REAL("max", hi, 100, -1e15, 1e15),
	    {0}}},
    [TRANSFORM_TAGS] = {"tag_list",
	{{"tags", PARAMS_LIST, 0, 0, 0, 0, "tag1,tag2,tag3"}, {0}}},
    [TRANSFORM_REPEATED] = {"repeated_token",
	{{"token", PARAMS_TEXT, AT(text), 0, 0, 0, "b"},
	    WHOLE("token_count", count, 10000, 1, TOKENS), {0}}},
    [TRANSFORM_CYCLIC] = {"cyclic_pattern",
	{WHOLE("cycle_length", each, 8193, 1, TOKENS),
	    WHOLE("token_count", count, 100000, 1, TOKENS), {0}}},
    [TRANSFORM_UNIQUE] = {"unique_tokens",
	{WHOLE("token_count", count, 1000, 1, TOKENS), {0}}},
    [TRANSFORM_UUID] = {"uuid_tokens",
	{WHOLE("token_count", count, 100, 1, TOKENS),
	    WHOLE("char_length", max_len, 128, 1, 1e6), {0}}},
    [TRANSFORM_PROGRESSIVE] = {"progressive_prefix",
	{WHOLE("max_depth", count, 100, 1, 1e6),
	    WHOLE("leaf_count", each, 10, 0, 1e6), {0}}},
    [TRANSFORM_RANDOM_SET] = {"random_from_set",
	{{"token_set", PARAMS_LIST, 0, 0, 0, 0, "a,b,c,d,e,f,g,h,i,j"},
	    WHOLE("token_count", count, 10, 1, TOKENS), {0}}},
    [TRANSFORM_STEMMABLE] = {"stemmable_words",
	{WHOLE("token_count", count, 10000, 1, TOKENS), {0}}},
    [TRANSFORM_VECTOR] = {"vector",
	{WHOLE("dimensions", dims, 256, 1, 65536), {0}}},
};

static void
report_unknown_transform(const char *name, struct configwalk *w)
{
	const char *names[TRANSFORM_NAMED + 1] = {0}, *near;
	struct str s = {0};
	size_t len = configwalk_key(w, "type");

	for (size_t i = 0; i < TRANSFORM_NAMED; i++) {
		names[i] = transform_kinds[i].name;
		str_printf(&s, "%s%s", i ? ", " : "", names[i]);
	}
	near = str_nearest(name, names);
	configwalk_problem(w, "unknown transform '%s'%s%s%s (there are %s)",
	    name, near ? ", did you mean '" : "", near ? near : "",
	    near ? "'?" : "", s.s);
	configwalk_leave(w, len);
	str_free(&s);
}

void
transform_read(struct transform *t, const struct json *j, struct configwalk *w)
{
	static const char *const other[] = {"type", "description", NULL};
	const struct json *type = json_get(j, "type");
	const char *name = type ? json_str(type) : "wikipedia";
	size_t i = 0;

	*t = (struct transform){.kind = TRANSFORM_WIKIPEDIA};
	if (json_type(j) != JSON_OBJECT || !name) {
		configwalk_problem(w, "is not an object with a string 'type'");
		return;
	}
	while (
	    i < TRANSFORM_NAMED && strcmp(transform_kinds[i].name, name) != 0)
		i++;
	if (i == TRANSFORM_NAMED) {
		report_unknown_transform(name, w);
		return;
	}
	t->kind = (enum transform_kind)i;
	params_read(transform_kinds[i].p, other, j, t, w);
	if (t->min_len > t->max_len)
		configwalk_problem(w,
		    "'min_word_length' %lld is above 'max_word_length' %lld",
		    t->min_len, t->max_len);
	if (t->lo > t->hi)
		configwalk_problem(
		    w, "'min' %.15g is above 'max' %.15g", t->lo, t->hi);
}

void
transform_free(struct transform *t)
{
	for (size_t i = 0; i < t->nlist; i++)
		free(t->list[i]);
	free(t->list);
}

/* Returns the characters before the decimal point, with the sign. */
static int
count_whole_digits(double v)
{
	char buf[64];

	return snprintf(buf, sizeof buf, "%.0f", trunc(v));
}

void
transform_fit(
    struct transform *t, size_t size, bool fixed, struct configwalk *w)
{
	int lo = count_whole_digits(t->lo), hi = count_whole_digits(t->hi);
	int most = lo > hi ? lo : hi;
	double unit, least, steps;

	t->one = fixed;
	if (fixed && t->kind == TRANSFORM_PROXIMITY)
		t->kind = TRANSFORM_PHRASE_LABEL;
	if (t->kind != TRANSFORM_NUMERIC)
		return;
	most += t->lo < 0 && t->lo > -1; /* -0.5 */
	t->decimals = fixed ? 2 : most < DIGITS - 1 ? DIGITS - most : 0;
	if ((size_t)most > size || (fixed && (size_t)most + 3 > size))
		configwalk_problem(w,
		    "numbers from %.15g to %.15g do not fit in %zu characters",
		    t->lo, t->hi, size);
	else if ((size_t)most + (size_t)t->decimals + 1 > size)
		t->decimals = (size_t)most + 1 < size
		    ? (int)(size - (size_t)most - 1)
		    : 0;
	unit = pow(10, t->decimals);
	least = ceil(t->lo * unit);
	steps = floor(t->hi * unit) - least + 1;
	if (steps < 1) {
		configwalk_problem(w,
		    "no number with %d decimals is from %.15g to %.15g",
		    t->decimals, t->lo, t->hi);
		return;
	}
	t->least = (long long)least;
	t->steps = (uint64_t)steps;
}
