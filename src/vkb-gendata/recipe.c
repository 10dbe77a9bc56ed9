#include "recipe.h"
#include "config.h"
#include "inputs.h"
#include "json.h"
#include "mem.h"
#include "vocabulary.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct recipe_field *recipe_add_field(struct recipe_file *f, char *name);

/*
 * Reads parameters of transforms and queries by a table of their names, types,
 * bounds and defaults.
 */

enum params_type {
	PARAMS_WHOLE, /* long long */
	PARAMS_REAL,  /* double */
	PARAMS_TEXT,  /* const char *, borrowed */
	PARAMS_LIST   /* transform.list, strings */
};

struct params {
	const char *name; /* NULL ends the table */
	enum params_type type;
	size_t offset; /* in struct transform */
	double fallback, min, max;
	/* Default of a text, or of a list by commas; NULL: required. */
	const char *text;
};

/* Rows for the members of struct transform. */
#define PARAMS_AT(field) offsetof(struct transform, field)

#define PARAMS_INT(name, field, fallback, min, max)                            \
	{                                                                      \
		name, PARAMS_WHOLE, PARAMS_AT(field), fallback, min, max, NULL \
	}

#define PARAMS_STR(name, field, text)                              \
	{                                                          \
		name, PARAMS_TEXT, PARAMS_AT(field), 0, 0, 0, text \
	}

#define PARAMS_NUM(name, field, fallback, min, max)                           \
	{                                                                     \
		name, PARAMS_REAL, PARAMS_AT(field), fallback, min, max, NULL \
	}

/* A kind of transform or query, and its parameters. */
struct params_kind {
	const char *name;   /* NULL ends the table */
	struct params p[7]; /* the rest is {0} */
};

#define MOST_KINDS 31 /* in one table */

/* Reports that the value at 'key' is not 'want'. */
static void
report_bad_value(struct configwalk *w, const char *key, const struct json *v,
    const char *want)
{
	size_t len = configwalk_key(w, key);
	char *text = configfit_format(v);

	configwalk_problem(w, "%s is not %s", text, want);
	free(text);
	configwalk_leave(w, len);
}

static int
parse_number_param(const struct json *v, const char *key, bool whole,
    double min, double max, double *to, struct configwalk *w)
{
	double d = json_num(v, NAN);
	char want[96];

	if (json_type(v) == JSON_NUMBER && d >= min && d <= max &&
	    (!whole || d == floor(d))) {
		*to = d;
		return 0;
	}
	snprintf(want, sizeof want, "a%s number from %.15g to %.15g",
	    whole ? " whole" : "", min, max);
	report_bad_value(w, key, v, want);
	return -1;
}

/* Returns the integer at 'key', or -1 if missing or out of range (reported). */
static long long
read_whole_param(const struct json *j, const char *key, double min, double max,
    struct configwalk *w)
{
	const struct json *v = json_get(j, key);
	double d;

	if (!v) {
		configwalk_problem(w, "lacks '%s'", key);
		return -1;
	}
	return parse_number_param(v, key, true, min, max, &d, w) < 0
	    ? -1
	    : (long long)d;
}

static void
set_default_list(struct transform *t, const char *text)
{
	char *copy = mem_str(text), *rest = copy, *part;

	while ((part = strsep(&rest, ",")))
		recipe_add_text(t, mem_str(part));
	free(copy);
}

static void
parse_text_list(struct transform *t, const char *key, const struct json *v,
    struct configwalk *w)
{
	const struct json *e =
	    json_type(v) == JSON_ARRAY ? json_first(v) : NULL;
	bool valid = e;

	for (; e && valid; e = json_next(e)) {
		valid = json_str(e);
		recipe_add_text(t, mem_str(json_str(e)));
	}
	if (!valid)
		report_bad_value(w, key, v, "a list of strings");
}

static void
parse_param(const struct params *p, const struct json *v, struct transform *t,
    struct configwalk *w)
{
	void *to = (char *)t + p->offset;
	double d = p->fallback;

	if (p->type <= PARAMS_REAL) {
		if (v)
			parse_number_param(v, p->name, p->type == PARAMS_WHOLE,
			    p->min, p->max, &d, w);
		if (p->type == PARAMS_WHOLE)
			*(long long *)to = (long long)d;
		else
			*(double *)to = d;
	} else if (!v && !p->text) {
		configwalk_problem(w, "lacks '%s'", p->name);
	} else if (p->type == PARAMS_TEXT) {
		if (v && !json_str(v))
			report_bad_value(w, p->name, v, "a string");
		*(const char **)to = v ? json_str(v) : p->text;
	} else if (v) {
		parse_text_list(t, p->name, v, w);
	} else {
		set_default_list(t, p->text);
	}
}

/* Reports a key that is neither in the table nor in 'other'. */
static void
check_key(const struct params *table, const char *const *other, const char *key,
    struct configwalk *w)
{
	struct str s = {0};
	bool known = false;

	for (const struct params *p = table; p && p->name; p++) {
		known |= strcmp(p->name, key) == 0;
		str_printf(&s, "%s%s", s.len ? ", " : "", p->name);
	}
	for (; *other; other++) {
		known |= strcmp(*other, key) == 0;
		str_printf(&s, "%s%s", s.len ? ", " : "", *other);
	}
	if (!known)
		configwalk_problem(
		    w, "unknown key '%s' (there are %s)", key, s.s);
	str_free(&s);
}

static void
report_unknown_kind(struct configwalk *w, const char *what, const char *type,
    const struct params_kind *kinds)
{
	const char *names[MOST_KINDS + 1] = {0};
	char hint[STR_HINT];
	size_t len = configwalk_key(w, "type");
	struct str s = {0};

	for (size_t i = 0; kinds[i].name; i++) {
		names[i] = kinds[i].name;
		str_printf(&s, "%s%s", i ? ", " : "", names[i]);
	}
	configwalk_problem(w, "unknown %s '%s'%s (there are %s)", what, type,
	    str_hint(hint, type, names), s.s);
	configwalk_leave(w, len);
	str_free(&s);
}

/*
 * Returns the index of the kind that "type" of 'j' names, which is 'fallback'
 * if it is missing. Returns -1, after reporting it with the nearest, if it is
 * unknown; 'what' is "transform" or "query type".
 */
static int
find_kind(const struct params_kind *kinds, const char *what,
    const struct json *j, const char *fallback, struct configwalk *w)
{
	const struct json *type = json_get(j, "type");
	const char *name = type ? json_str(type) : fallback;

	if (!name) {
		configwalk_problem(w, "'type' is not a string");
		return -1;
	}
	for (int i = 0; kinds[i].name; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return i;
	report_unknown_kind(w, what, name, kinds);
	return -1;
}

/*
 * Fills 't' from the object 'j'. A key that is neither in the table nor in
 * 'other' (NULL ends it) is a problem. 'w' counts the problems it reports. A
 * table and 't' of NULL check the keys only.
 */
static void
read_params(const struct params *table, const char *const *other,
    const struct json *j, struct transform *t, struct configwalk *w)
{
	for (const struct params *p = table; p && p->name; p++)
		parse_param(p, json_get(j, p->name), t, w);
	for (const struct json *v = json_first(j); v; v = json_next(v))
		check_key(table, other, json_key(v), w);
	if (t && t->min_len > t->max_len)
		configwalk_problem(w,
		    "'min_word_length' %lld is above 'max_word_length' %lld",
		    t->min_len, t->max_len);
}

/*
 * Transforms make the content of a field. One table holds every transform of
 * vkb-gendata(1) with its parameters; content_apply_transform applies them.
 */

#define ROWS 1e12
#define TOKENS 1e9
#define DIGITS 12 /* significant digits of a number, about */

static const struct params_kind transform_kinds[TRANSFORM_NAMED + 1] = {
    [TRANSFORM_WIKIPEDIA] = {"wikipedia",
	{PARAMS_INT("offset", offset, 0, 0, TOKENS),
	    PARAMS_INT("words", count, VOCABULARY_MEDIAN, 1, TOKENS)}},
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

/*
 * Reads one transform of a field. Problems are reported and counted in 'w';
 * texts are borrowed from 'j'.
 */
static void
read_transform(struct transform *t, const struct json *j, struct configwalk *w)
{
	static const char *const other[] = {"type", "description", NULL};
	int kind;

	*t = (struct transform){.kind = TRANSFORM_WIKIPEDIA};
	if (json_type(j) != JSON_OBJECT) {
		configwalk_problem(w, "is not an object");
		return;
	}
	kind = find_kind(transform_kinds, "transform", j, "wikipedia", w);
	if (kind < 0)
		return;
	t->kind = (enum transform_kind)kind;
	read_params(transform_kinds[kind].p, other, j, t, w);
	if (t->lo > t->hi)
		configwalk_problem(
		    w, "'min' %.15g is above 'max' %.15g", t->lo, t->hi);
}

static void
free_transform(struct transform *t)
{
	for (size_t i = 0; i < t->nlist; i++)
		free(t->list[i]);
	free(t->list);
}

void
recipe_add_text(struct transform *t, char *text)
{
	*MEM_ADD(t->list, t->nlist, t->list_cap) = text;
}

/* Returns the characters before the decimal point, with the sign. */
static int
count_whole_digits(double v)
{
	char buf[64];

	return snprintf(buf, sizeof buf, "%.0f", trunc(v));
}

/*
 * Adapts the transform to a field of 'size' characters. 'fixed' is NPY, whose
 * columns have a fixed width and whose numbers have two decimals. Problems are
 * reported and counted in 'w'.
 */
static void
fit_transform(
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

/* Reads the recipes of query_generation. */

#define TERM_SIZE 20 /* bytes of the search terms in a file with vectors */
#define STOP 120     /* most frequent words, which queries skip */

enum kind {
	PROXIMITY,
	PREFIX,
	SUFFIX,
	EXPANSION,
	FUZZY,
	TAGS,
	VECTOR,
	WORDS,
	NEIGHBOURS,
	KINDS
};

static const struct params_kind query_kinds[KINDS + 1] = {
    [PROXIMITY] = {"proximity_phrase",
	{PARAMS_INT("term_count", terms, 1, 1, 10000)}},
    [PREFIX] = {"prefix", {PARAMS_STR("source", text, "search_terms.csv")}},
    [SUFFIX] = {"suffix", {PARAMS_STR("source", text, "search_terms.csv")}},
    [EXPANSION] = {.name = "expansion"},
    [FUZZY] = {"fuzzy",
	{PARAMS_INT("min_word_length", min_len, 5, 1, 1e6),
	    PARAMS_INT("max_word_length", max_len, 6, 1, 1e6),
	    PARAMS_INT("target_distance", edits, 1, 0, 1e6)}},
    [TAGS] = {"tag_only",
	{{"tags", PARAMS_LIST, 0, 0, 0, 0, "tag1,tag2,tag3"}}},
    [VECTOR] = {"vector", {PARAMS_INT("dimensions", dims, 256, 1, 65536)}},
    [WORDS] = {"words", {PARAMS_INT("term_count", terms, 1, 1, 10000)}},
    [NEIGHBOURS] = {"neighbours",
	{PARAMS_STR("source", text, NULL),
	    PARAMS_INT("k", count, 100, 1, 100000)}},
};

static struct recipe_field *
add_field(struct recipe_file *f, char *name, const struct transform *t)
{
	struct recipe_field *x = recipe_add_field(f, name);

	x->size = SIZE_MAX / 8;
	x->nt = 1;
	x->t = mem_new(sizeof *x->t);
	*x->t = *t;
	return x;
}

/* Adds the fields term1, term2 ...; a single one is called 'single' if set. */
static void
add_term_fields(struct recipe_file *f, struct transform *t, const char *single)
{
	for (long long i = 0; i < t->terms; i++) {
		t->first = (unsigned long)i + 1;
		if (t->kind == TRANSFORM_WORD)
			t->first = STOP + (unsigned long)i;
		add_field(f,
		    single && t->terms == 1 ? mem_str(single)
					    : mem_printf("term%lld", i + 1),
		    t);
	}
}

/* Adds search_term and query_vector. Returns 1 if *also got the terms alone. */
static int
add_vector_fields(struct recipe_file *f, struct recipe_file *also,
    struct transform *t, struct configwalk *w)
{
	struct transform label = {.kind = TRANSFORM_LABEL, .each = 1};
	bool both = f->format == RECIPE_CSV || f->format == RECIPE_NPY;
	size_t dims = (size_t)t->dims;

	if (!both && f->format != RECIPE_FVECS)
		configwalk_problem(
		    w, "vectors need a .csv, .npy or .fvecs file");
	if (both)
		add_field(f, mem_str("search_term"), &label)->size = TERM_SIZE;
	add_field(f, mem_str("query_vector"), t)->dims = dims;
	if (f->format != RECIPE_CSV)
		return 0;
	also->format = RECIPE_CSV;
	also->rows = f->rows;
	add_field(also, mem_str("search_term"), &label);
	return 1;
}

static void
read_neighbours(
    struct recipe_file *f, const struct transform *t, struct configwalk *w)
{
	static const char *const names[] = {"l2", "ip", "cosine", NULL};
	const struct json *metric = json_get(f->spec, "metric");
	const char *name = metric ? json_str(metric) : "l2";
	size_t i = 0;

	f->base = t->text;
	f->queries = json_get_str(f->spec, "queries");
	f->k = (size_t)t->count;
	while (names[i] && (!name || strcmp(names[i], name) != 0))
		i++;
	f->metric = (enum recipe_metric)i;
	if (!names[i])
		configwalk_problem(w, "'metric' is not l2, ip or cosine");
	if (!f->queries)
		configwalk_problem(w, "lacks 'queries', a file of vectors");
	if (f->format != RECIPE_IVECS)
		configwalk_problem(w, "neighbours need a .ivecs file");
}

static int
read_query_fields(struct recipe_file *f, struct recipe_file *also,
    enum kind kind, struct transform *t, struct configwalk *w)
{
	static const enum transform_kind transforms[KINDS] = {
	    [PROXIMITY] = TRANSFORM_TERM,
	    [PREFIX] = TRANSFORM_IN_TURN, /* vkb-gendata.c reads the list */
	    [SUFFIX] = TRANSFORM_IN_TURN,
	    [EXPANSION] = TRANSFORM_EXPANDED,
	    [FUZZY] = TRANSFORM_SPELT,
	    [TAGS] = TRANSFORM_IN_TURN,
	    [VECTOR] = TRANSFORM_VECTOR,
	    [WORDS] = TRANSFORM_WORD};

	t->kind = transforms[kind];
	if (kind == VECTOR)
		return add_vector_fields(f, also, t, w);
	if (kind == PREFIX || kind == SUFFIX)
		f->source = t->text;
	f->suffix = kind == SUFFIX;
	if (kind == FUZZY)
		t->count = t->each = 1;
	if (kind == NEIGHBOURS)
		read_neighbours(f, t, w);
	else if (kind == PROXIMITY || kind == WORDS)
		add_term_fields(f, t, kind == WORDS ? "term" : NULL);
	else
		add_field(f, mem_str(kind == TAGS ? "category" : "term"), t);
	return 0;
}

/*
 * Fills *f from f->spec. Problems are reported and counted in 'w'. Returns 1 if
 * it also filled *also, a second file with the terms alone, else 0.
 */
static int
read_query(
    struct recipe_file *f, struct recipe_file *also, struct configwalk *w)
{
	static const char *const others[] = {
	    "type", "doc_count", "description", "queries", "metric", NULL};
	static const char *const usual[] = {
	    "type", "doc_count", "description", NULL};
	struct transform t = {0};
	int kind = find_kind(
	    query_kinds, "query type", f->spec, "proximity_phrase", w);
	long long n = 0;

	if (kind < 0)
		return 0;
	read_params(query_kinds[kind].p, kind == NEIGHBOURS ? others : usual,
	    f->spec, &t, w);
	if (kind != NEIGHBOURS)
		n = read_whole_param(f->spec, "doc_count", 0, ROWS, w);
	f->rows = n > 0 ? (uint64_t)n : 0;
	return read_query_fields(f, also, (enum kind)kind, &t, w);
}

#define SIZE 1e9
#define FIELDS 10000

static const struct {
	const char *end;
	enum recipe_format format;
} formats[] = {{".csv", RECIPE_CSV}, {".tsv", RECIPE_TSV}, {".xml", RECIPE_XML},
    {".jsonl", RECIPE_JSONL}, {".npy", RECIPE_NPY}, {".fvecs", RECIPE_FVECS},
    {".ivecs", RECIPE_IVECS}};

/* Checks that the key is a plain file name, and sets the format by its end. */
static int
read_format(struct recipe_file *f, struct configwalk *w)
{
	if (!*f->key || *f->key == '.' || strchr(f->key, '/')) {
		configwalk_problem(w, "'%s' is not a plain file name", f->key);
		return -1;
	}
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (str_ends(f->key, formats[i].end)) {
			f->format = formats[i].format;
			return 0;
		}
	configwalk_problem(w,
	    "the name does not end in .csv, .tsv, .xml, .jsonl, "
	    ".npy, .fvecs or .ivecs");
	return -1;
}

static bool
is_xml_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_-.", *s))
			return false;
	return true;
}

static void
check_field_name(const struct recipe_file *f, const struct recipe_field *x,
    struct configwalk *w)
{
	if (!*x->name)
		configwalk_problem(w, "the name is empty");
	for (const struct recipe_field *y = f->fields; y < x; y++)
		if (strcmp(x->name, y->name) == 0) {
			configwalk_problem(
			    w, "two fields are called '%s'", x->name);
			return;
		}
	if (f->format == RECIPE_XML &&
	    (!is_xml_name(x->name) || strcmp(x->name, "id") == 0))
		configwalk_problem(w,
		    "'%s' is 'id' or not a valid name of an XML element",
		    x->name);
	if (f->format == RECIPE_NPY && strpbrk(x->name, "'\\\n"))
		configwalk_problem(
		    w, "'%s' is not a valid name of an NPY column", x->name);
}

/* Reads the transforms of a field; without a list it is one of Wikipedia. */
static void
read_transforms(
    struct recipe_field *x, const struct json *list, struct configwalk *w)
{
	size_t len = configwalk_key(w, "transforms"), at, i = 0;

	if (list && json_type(list) != JSON_ARRAY) {
		configwalk_problem(w, "is not a list");
		configwalk_leave(w, len);
		return;
	}
	x->t = mem_array(json_len(list) + 1, sizeof *x->t);
	if (!list) {
		struct json *none = json_object();

		read_transform(&x->t[x->nt++], none, w);
		json_free(none);
	}
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		struct transform *t = &x->t[x->nt++];

		at = configwalk_index(w, i++);
		read_transform(t, j, w);
		if (t->kind == TRANSFORM_VECTOR)
			x->dims = (size_t)t->dims;
		configwalk_leave(w, at);
	}
	if (x->dims && x->nt > 1)
		configwalk_problem(w, "a vector cannot have other transforms");
	configwalk_leave(w, len);
}

/* Adds a field, and takes its name; borrowed until the next call. */
static struct recipe_field *
recipe_add_field(struct recipe_file *f, char *name)
{
	f->fields = mem_resize(f->fields, f->n + 1, sizeof *f->fields);
	f->fields[f->n] = (struct recipe_field){.name = name};
	return &f->fields[f->n++];
}

/* Reads a field whose 'size' and 'transforms' are in 'j'; takes its name. */
static void
read_field(struct recipe_file *f, char *name, const struct json *j,
    struct configwalk *w)
{
	struct recipe_field *x = recipe_add_field(f, name);

	check_field_name(f, x, w);
	read_transforms(x, json_get(j, "transforms"), w);
	if (!x->dims) {
		long long n = read_whole_param(j, "size", 1, SIZE, w);

		x->size = n > 0 ? (size_t)n : 1;
	}
}

static void
read_listed_fields(
    struct recipe_file *f, const struct json *list, struct configwalk *w)
{
	static const char *const keys[] = {
	    "name", "size", "transforms", "description", NULL};
	size_t len = configwalk_key(w, "fields"), at, i = 0;

	if (json_type(list) != JSON_ARRAY || !json_len(list))
		configwalk_problem(w, "is not a list of fields");
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		const char *name = json_get_str(j, "name");

		at = configwalk_index(w, i++);
		if (json_type(j) != JSON_OBJECT || !name) {
			configwalk_problem(
			    w, "is not an object with a string 'name'");
		} else {
			read_params(NULL, keys, j, NULL, w);
			read_field(f, mem_str(name), j, w);
		}
		configwalk_leave(w, at);
	}
	configwalk_leave(w, len);
}

static void
read_generated_fields(
    struct recipe_file *f, const struct json *j, struct configwalk *w)
{
	static const char *const keys[] = {
	    "count", "prefix", "size", "transforms", "description", NULL};
	size_t len = configwalk_key(w, "generate_fields");
	const struct json *prefix = json_get(j, "prefix");
	long long n = read_whole_param(j, "count", 1, FIELDS, w);
	int before = w->problems;

	read_params(NULL, keys, j, NULL, w);
	if (prefix && !json_str(prefix))
		configwalk_problem(w, "'prefix' is not a string");
	for (long long i = 1; i <= n && w->problems == before; i++)
		read_field(f,
		    mem_printf(
			"%s%lld", prefix ? json_str(prefix) : "field", i),
		    j, w);
	configwalk_leave(w, len);
}

/* Checks that the format fits, or makes a CSV with a vector NPY; sets name. */
static void
fit_format(struct recipe_file *f, struct configwalk *w)
{
	size_t vectors = 0;

	for (size_t i = 0; i < f->n; i++)
		vectors += f->fields[i].dims > 0;
	if (vectors && f->format == RECIPE_CSV)
		f->format = RECIPE_NPY;
	if (vectors && f->format != RECIPE_NPY && f->format != RECIPE_FVECS)
		configwalk_problem(w,
		    "vectors need a .npy or .fvecs file (.csv becomes .npy)");
	if (f->format == RECIPE_FVECS && (f->n != 1 || !vectors))
		configwalk_problem(
		    w, "a .fvecs file needs exactly one field, a vector");
	if (f->format == RECIPE_IVECS && !f->base)
		configwalk_problem(
		    w, "a .ivecs file needs a query of type 'neighbours'");
	f->name = mem_str(f->key);
	if (f->format == RECIPE_NPY && str_ends(f->name, ".csv"))
		memcpy(f->name + strlen(f->name) - 4, ".npy", 4);
	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->fields[i].nt; k++) {
			struct transform *t = &f->fields[i].t[k];

			f->articles |= t->kind == TRANSFORM_WIKIPEDIA;
			f->words |= t->kind == TRANSFORM_WIKIPEDIA ||
			    t->kind == TRANSFORM_STEMMABLE ||
			    t->kind == TRANSFORM_WORD;
			fit_transform(
			    t, f->fields[i].size, f->format == RECIPE_NPY, w);
		}
}

static void
read_dataset(struct recipe_file *f, struct configwalk *w)
{
	static const char *const keys[] = {
	    "doc_count", "fields", "generate_fields", "description", NULL};
	const struct json *all = json_get(f->spec, "generate_fields");
	const struct json *list = json_get(f->spec, "fields");
	long long n = read_whole_param(f->spec, "doc_count", 0, ROWS, w);

	f->rows = n > 0 ? (uint64_t)n : 0;
	read_params(NULL, keys, f->spec, NULL, w);
	if (all)
		read_generated_fields(f, all, w);
	else if (list)
		read_listed_fields(f, list, w);
	else
		configwalk_problem(w, "lacks 'fields' and 'generate_fields'");
}

static void
free_file(struct recipe_file *f)
{
	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; k < f->fields[i].nt; k++)
			free_transform(&f->fields[i].t[k]);
		free(f->fields[i].t);
		free(f->fields[i].name);
	}
	free(f->fields);
	free(f->name);
	free(f->where);
}

/* Takes over *f, unless an equal recipe of the same file is there already. */
static void
keep_file(struct recipes *r, struct recipe_file *f, struct configwalk *w)
{
	const struct recipe_file *old = recipe_find(r, f->name);

	if (old) {
		if (!json_equal(old->spec, f->spec) || old->query != f->query)
			configwalk_problem(w,
			    "another recipe also makes '%s': %s", f->name,
			    old->where);
		free_file(f);
		return;
	}
	f->where = mem_printf("%s: %s", w->name, w->path.s);
	*MEM_ADD(r->v, r->n, r->cap) = *f;
}

static void
read_recipe(struct recipes *r, const struct json *spec, bool query,
    struct configwalk *w)
{
	struct recipe_file f[2] = {
	    {.key = json_key(spec), .spec = spec, .query = query},
	    {.key = json_key(spec), .spec = spec, .query = query}};
	size_t len = configwalk_key(w, f->key);
	int before = w->problems, n = 1;

	if (json_type(spec) != JSON_OBJECT)
		configwalk_problem(w, "is not an object");
	else if (read_format(f, w) == 0 && query)
		n += read_query(&f[0], &f[1], w);
	else if (w->problems == before)
		read_dataset(f, w);
	for (int i = 0; i < n && w->problems == before; i++)
		fit_format(&f[i], w);
	for (int i = 0; i < 2; i++)
		if (i < n && w->problems == before)
			keep_file(r, &f[i], w);
		else
			free_file(&f[i]);
	configwalk_leave(w, len);
}

static void
read_section(struct recipes *r, const struct json *config, const char *key,
    bool query, struct configwalk *w)
{
	const struct json *all = json_get(config, key);
	size_t len = configwalk_key(w, key);

	if (all && json_type(all) != JSON_OBJECT)
		configwalk_problem(w, "is not an object of files");
	else
		for (const struct json *j = json_first(all); j;
		     j = json_next(j))
			read_recipe(r, j, query, w);
	configwalk_leave(w, len);
}

static void
read_config(struct recipes *r, const struct json *j, struct configwalk *w)
{
	if (json_type(j) != JSON_OBJECT) {
		configwalk_problem(w, "is not an object");
		return;
	}
	read_section(r, j, "dataset_generation", false, w);
	read_section(r, j, "query_generation", true, w);
}

int
recipe_parse(struct recipes *r, struct json *doc, const char *name)
{
	struct configwalk w = {.name = name};
	size_t i = 0, len;

	r->docs = mem_resize(r->docs, r->ndocs + 1, sizeof *r->docs);
	r->docs[r->ndocs++] = doc;
	str_addc(&w.path, '$');
	if (json_type(doc) != JSON_ARRAY)
		read_config(r, doc, &w);
	else
		for (const struct json *j = json_first(doc); j;
		     j = json_next(j)) {
			len = configwalk_index(&w, i++);
			read_config(r, j, &w);
			configwalk_leave(&w, len);
		}
	str_free(&w.path);
	return w.problems ? -1 : 0;
}

int
recipe_read(struct recipes *r, const char *file)
{
	struct json *doc = jsonfile_read(file);

	return doc ? recipe_parse(r, doc, inputs_name(file)) : -1;
}

void
recipe_free(struct recipes *r)
{
	for (size_t i = 0; i < r->n; i++)
		free_file(&r->v[i]);
	for (size_t i = 0; i < r->ndocs; i++)
		json_free(r->docs[i]);
	free(r->v);
	free(r->docs);
}

const struct recipe_file *
recipe_find(const struct recipes *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->v[i].name, name) == 0)
			return &r->v[i];
	return NULL;
}

/* Returns the vector field of the file 'name', NULL (error reported). */
static const struct recipe_field *
find_vectors(const struct recipes *r, const struct recipe_file *f,
    const char *name, const char *key)
{
	const struct recipe_file *x = recipe_find(r, name);
	size_t i = x ? recipe_find_vector(x) : 0;

	if (x && i < x->n)
		return &x->fields[i];
	err_say("%s.%s: no recipe makes '%s', or it has no vectors", f->where,
	    key, name);
	return NULL;
}

static int
link_vectors(const struct recipes *r, const struct recipe_file *f)
{
	const struct recipe_field *b = find_vectors(r, f, f->base, "source");
	const struct recipe_field *q =
	    find_vectors(r, f, f->queries, "queries");
	uint64_t rows;

	if (!b || !q)
		return -1;
	rows = recipe_find(r, f->base)->rows;
	if (b->dims != q->dims)
		return err_fail("%s: '%s' has %zu dimensions, '%s' has %zu",
		    f->where, f->base, b->dims, f->queries, q->dims);
	if (f->k > rows || rows > INT32_MAX)
		return err_fail(
		    "%s: %zu neighbours are wanted, but '%s' has %llu rows%s",
		    f->where, f->k, f->base, (unsigned long long)rows,
		    f->k > rows ? "" : ", too many for .ivecs");
	return 0;
}

int
recipe_check_sources(const struct recipes *r)
{
	int rc = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].base && link_vectors(r, &r->v[i]) < 0)
			rc = -1;
	return rc;
}

size_t
recipe_find_vector(const struct recipe_file *f)
{
	size_t i = 0;

	while (i < f->n && !f->fields[i].dims)
		i++;
	return i;
}
