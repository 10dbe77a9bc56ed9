#include "transform.h"
#include "configwalk.h"
#include "json.h"
#include "mem.h"
#include "natural.h"
#include "params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 1e12
#define TOKENS 1e9
#define DIGITS 12 /* significant digits of a number, about */

static const struct params_kind transform_kinds[TRANSFORM_NAMED + 1] = {
    [TRANSFORM_WIKIPEDIA] = {"wikipedia",
	{PARAMS_INT("offset", offset, 0, 0, TOKENS),
	    PARAMS_INT("words", count, NATURAL_WORDS, 1, TOKENS)}},
    [TRANSFORM_INJECT] = {"inject",
	{PARAMS_STR("term", text, ""),
	    PARAMS_NUM("percentage", share, 1, 0, 1)}},
    [TRANSFORM_REPEAT] = {"repeat",
	{PARAMS_STR("term", text, ""),
	    PARAMS_INT("count", count, 1, 0, TOKENS)}},
    [TRANSFORM_PREFIX_GEN] = {"prefix_gen",
	{PARAMS_STR("base", text, "word"),
	    PARAMS_INT("variations", count, 10, 0, TOKENS)}},
    [TRANSFORM_PROXIMITY] = {"proximity_phrase",
	{PARAMS_INT("repeats", each, 1000, 1, ROWS),
	    PARAMS_INT("term_count", terms, 5, 1, 1e6),
	    PARAMS_INT("combinations", combos, 1, 1, TOKENS)}},
    [TRANSFORM_PHRASE_LABEL] = {"phrase_label",
	{PARAMS_INT("repeats", each, 1000, 1, ROWS)}},
    [TRANSFORM_EXPANSION] = {"expansion",
	{PARAMS_INT("expansion_count", count, 5, 1, TOKENS),
	    PARAMS_INT("docs_per_expansion", each, 20, 1, ROWS),
	    PARAMS_INT("term_count", terms, 100, 1, ROWS)}},
    [TRANSFORM_FUZZY] = {"fuzzy",
	{PARAMS_INT("variant_count", count, 5, 1, 1e6),
	    PARAMS_INT("docs_per_variant", each, 20, 1, ROWS),
	    PARAMS_INT("term_count", terms, 100, 1, ROWS),
	    PARAMS_INT("min_word_length", min_len, 5, 1, 1e6),
	    PARAMS_INT("max_word_length", max_len, 6, 1, 1e6),
	    PARAMS_INT("target_distance", edits, 1, 0, 1e6)}},
    [TRANSFORM_NUMERIC] = {"numeric_range",
	{PARAMS_NUM("min", lo, 0, -1e15, 1e15),
	    PARAMS_NUM("max", hi, 100, -1e15, 1e15)}},
    [TRANSFORM_TAGS] = {"tag_list",
	{{"tags", PARAMS_LIST, 0, 0, 0, 0, "tag1,tag2,tag3"}}},
    [TRANSFORM_REPEATED] = {"repeated_token",
	{PARAMS_STR("token", text, "b"),
	    PARAMS_INT("token_count", count, 10000, 1, TOKENS)}},
    [TRANSFORM_CYCLIC] = {"cyclic_pattern",
	{PARAMS_INT("cycle_length", each, 8193, 1, TOKENS),
	    PARAMS_INT("token_count", count, 100000, 1, TOKENS)}},
    [TRANSFORM_UNIQUE] = {"unique_tokens",
	{PARAMS_INT("token_count", count, 1000, 1, TOKENS)}},
    [TRANSFORM_UUID] = {"uuid_tokens",
	{PARAMS_INT("token_count", count, 100, 1, TOKENS),
	    PARAMS_INT("char_length", max_len, 128, 1, 1e6)}},
    [TRANSFORM_PROGRESSIVE] = {"progressive_prefix",
	{PARAMS_INT("max_depth", count, 100, 1, 1e6),
	    PARAMS_INT("leaf_count", each, 10, 0, 1e6)}},
    [TRANSFORM_RANDOM_SET] = {"random_from_set",
	{{"token_set", PARAMS_LIST, 0, 0, 0, 0, "a,b,c,d,e,f,g,h,i,j"},
	    PARAMS_INT("token_count", count, 10, 1, TOKENS)}},
    [TRANSFORM_STEMMABLE] = {"stemmable_words",
	{PARAMS_INT("token_count", count, 10000, 1, TOKENS)}},
    [TRANSFORM_VECTOR] = {"vector",
	{PARAMS_INT("dimensions", dims, 256, 1, 65536)}},
};

void
transform_read(struct transform *t, const struct json *j, struct configwalk *w)
{
	static const char *const other[] = {"type", "description", NULL};
	int kind;

	*t = (struct transform){.kind = TRANSFORM_WIKIPEDIA};
	if (json_type(j) != JSON_OBJECT) {
		configwalk_problem(w, "is not an object");
		return;
	}
	kind =
	    params_find_kind(transform_kinds, "transform", j, "wikipedia", w);
	if (kind < 0)
		return;
	t->kind = (enum transform_kind)kind;
	params_read(transform_kinds[kind].p, other, j, t, w);
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

void
transform_add_text(struct transform *t, char *text)
{
	t->list = mem_grow(t->list, t->nlist, &t->list_cap, sizeof *t->list);
	t->list[t->nlist++] = text;
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

	t->single_tag = fixed;
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
