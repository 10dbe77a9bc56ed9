#include "query.h"
#include "configwalk.h"
#include "json.h"
#include "mem.h"
#include "params.h"
#include "recipe.h"
#include "transform.h"

#include <string.h>

#define ROWS 1e12
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
	    [PREFIX] = TRANSFORM_IN_TURN, /* terms_read fills the list */
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

int
query_read(
    struct recipe_file *f, struct recipe_file *also, struct configwalk *w)
{
	static const char *const others[] = {
	    "type", "doc_count", "description", "queries", "metric", NULL};
	static const char *const usual[] = {
	    "type", "doc_count", "description", NULL};
	struct transform t = {0};
	int kind = params_find_kind(
	    query_kinds, "query type", f->spec, "proximity_phrase", w);
	long long n = 0;

	if (kind < 0)
		return 0;
	params_read(query_kinds[kind].p, kind == NEIGHBOURS ? others : usual,
	    f->spec, &t, w);
	if (kind != NEIGHBOURS)
		n = params_read_whole(f->spec, "doc_count", 0, ROWS, w);
	f->rows = n > 0 ? (uint64_t)n : 0;
	return read_query_fields(f, also, (enum kind)kind, &t, w);
}
