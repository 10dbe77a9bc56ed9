#include "recipe.h"
#include "configwalk.h"
#include "json.h"
#include "jsonfile.h"
#include "mem.h"
#include "params.h"
#include "query.h"
#include "transform.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 1e12
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

		transform_read(&x->t[x->nt++], none, w);
		json_free(none);
	}
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		struct transform *t = &x->t[x->nt++];

		at = configwalk_index(w, i++);
		transform_read(t, j, w);
		if (t->kind == TRANSFORM_VECTOR)
			x->dims = (size_t)t->dims;
		configwalk_leave(w, at);
	}
	if (x->dims && x->nt > 1)
		configwalk_problem(w, "a vector cannot have other transforms");
	configwalk_leave(w, len);
}

struct recipe_field *
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
		long long n = params_read_whole(j, "size", 1, SIZE, w);

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
			params_read(NULL, keys, j, NULL, w);
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
	long long n = params_read_whole(j, "count", 1, FIELDS, w);
	int before = w->problems;

	params_read(NULL, keys, j, NULL, w);
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
			transform_fit(
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
	long long n = params_read_whole(f->spec, "doc_count", 0, ROWS, w);

	f->rows = n > 0 ? (uint64_t)n : 0;
	params_read(NULL, keys, f->spec, NULL, w);
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
			transform_free(&f->fields[i].t[k]);
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
	r->v = mem_grow(r->v, r->n, &r->cap, sizeof *r->v);
	r->v[r->n++] = *f;
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
		n += query_read(&f[0], &f[1], w);
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

	return doc ? recipe_parse(r, doc, strcmp(file, "-") ? file : "stdin")
		   : -1;
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
