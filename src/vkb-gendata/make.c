#include "make.h"
#include "csvrows.h"
#include "err.h"
#include "folder.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "meter.h"
#include "neighbours.h"
#include "produce.h"
#include "recipe.h"
#include "sidecar.h"
#include "str.h"
#include "tempfile.h"
#include "vocabulary.h"
#include "wikipedia.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define GENERATION 2 /* raise it when the same recipe makes another file */

/* The work, and what all files share; made when first needed. */
struct make_state {
	const struct make *m;
	const struct recipes *recipes;
	struct vocabulary *words;
	char *dump;       /* path of a wiki dump; NULL: use the built-in text */
	uint64_t dump_id; /* 0: not fetched yet */
	struct meter meter;
};

static char *
make_path(const struct make_state *k, const char *name)
{
	return mem_printf("%s/%s", k->m->dir, name);
}

/* Returns a hash of everything that the file's content depends on. */
static uint64_t
hash_recipe(const struct make_state *k, const struct recipe_file *f)
{
	const char *others[] = {f->base, f->queries};
	struct str s = {0};
	uint64_t h;

	str_printf(&s, "%d %llu %d %s ", GENERATION,
	    (unsigned long long)k->m->seed, f->query, f->name);
	json_canonical(&s, f->spec);
	for (size_t i = 0; i < 2; i++) {
		const struct recipe_file *x =
		    others[i] ? recipe_find(k->recipes, others[i]) : NULL;

		str_addc(&s, ' ');
		json_canonical(&s, x ? x->spec : NULL);
	}
	if (f->source)
		for (size_t i = 0; i < f->fields->t->nlist; i++)
			str_printf(&s, " %s", f->fields->t->list[i]);
	if (f->articles && k->dump)
		str_printf(&s, " dump %016llx", (unsigned long long)k->dump_id);
	h = str_hash(STR_HASH, s.s, s.len);
	str_free(&s);
	return h;
}

/* --- the terms of queries: prefixes or suffixes of those in a CSV file */

#define CHARACTERS 3

struct term_reader {
	FILE *f;
	const char *name;
	char *line;
	size_t cap;
};

static int
read_term_line(void *arg, const char **line, size_t *n)
{
	struct term_reader *x = arg;
	ssize_t k = getline(&x->line, &x->cap, x->f);

	if (k < 0)
		return ferror(x->f) ? err_fail_sys("cannot read '%s'", x->name)
				    : 0;
	*line = x->line;
	*n = (size_t)k;
	return 1;
}

static bool
is_stop_word(const char *s)
{
	static const char *const words[] = {"a", "an", "and", "are", "as", "at",
	    "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
	    "not", "of", "on", "or", "such", "that", "the", "their", "then",
	    "there", "these", "they", "this", "to", "was", "will", "with"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(s, words[i]) == 0)
			return true;
	return false;
}

static bool
begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static char *
trim_term(const char *s)
{
	size_t n = strlen(s);

	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	for (; n && isspace((unsigned char)*s); s++)
		n--;
	return mem_strn(s, n);
}

static char *
cut_term(const char *s, bool last)
{
	size_t i = last ? strlen(s) : 0;

	for (int k = 0; last && i && k < CHARACTERS;)
		k += begins_character(s[--i]);
	for (int k = 0; !last && s[i]; i++) {
		k += begins_character(s[i]);
		if (k > CHARACTERS)
			break;
	}
	return last ? mem_str(s + i) : mem_strn(s, i);
}

/*
 * Fills t->list with the first or, if 'last', the last CHARACTERS of the first
 * field of each row, at most 'most' of them. Skips English stop words and a
 * first row that begins with "term" or "search_term". Returns 0, or -1 (error
 * reported).
 */
static int
read_terms(const char *file, bool last, size_t most, struct transform *t)
{
	struct term_reader x = {.f = fopen(file, "re"), .name = file};
	struct csvrows *rows;
	const char *const *v, *why;
	size_t n;
	bool first = true;
	int got = 0;

	if (!x.f)
		return err_fail_sys("cannot read '%s'", file);
	rows = csvrows_new(',', read_term_line, &x);
	while (
	    t->nlist < most && (got = csvrows_next(rows, &v, &n, &why)) > 0) {
		char *term = n ? trim_term(*v) : mem_str("");

		/* The Python tool takes a heading that begins with "term" for
		 * a term, and any other first row for a heading. */
		if (*term && !is_stop_word(term) &&
		    (!first || strncasecmp(x.line, "term", 4) == 0))
			recipe_add_text(t, cut_term(term, last));
		first = false;
		free(term);
	}
	if (got < 0 && why)
		err_say("%s: %s", file, why);
	csvrows_free(rows);
	free(x.line);
	fclose(x.f);
	return got < 0 ? -1 : 0;
}

/* --- the files */

/* Reads a query file's terms, once, and lowers its rows to their number. */
static int
read_source_terms(const struct make_state *k, struct recipe_file *f)
{
	char *path = make_path(k, f->source);
	int rc = 0;

	if (!f->fields->t->nlist) {
		rc = read_terms(path, f->suffix, (size_t)f->rows, f->fields->t);
		if (f->fields->t->nlist < f->rows)
			f->rows = f->fields->t->nlist;
	}
	free(path);
	return rc;
}

/* Returns enum sidecar_state, or -1 (error reported). */
static int
get_state(const struct make_state *k, struct recipe_file *f)
{
	char *path;
	int state;

	if (f->source && read_source_terms(k, f) < 0)
		return -1;
	path = make_path(k, f->name);
	state = sidecar_find_state(path, hash_recipe(k, f));
	free(path);
	return state;
}

static int
write_rows(struct make_state *k, const struct recipe_file *f,
    struct sidecar_content *to)
{
	const struct recipe_file *base =
	    f->base ? recipe_find(k->recipes, f->base) : NULL;
	struct produce p = {.file = f,
	    .seed = (uint64_t)k->m->seed,
	    .threads = (size_t)k->m->threads,
	    .meter = &k->meter};
	int rc;

	if (f->words && !k->words)
		k->words = vocabulary_new();
	p.words = k->words;
	meter_begin(&k->meter, f->name, (double)(base ? base : f)->rows);
	if (base)
		return neighbours_write_file(
		    &p, base, recipe_find(k->recipes, f->queries), to);
	if (f->articles && k->dump && !(p.articles = wikipedia_open(k->dump)))
		return -1;
	rc = produce_write_file(&p, to);
	wikipedia_close(p.articles);
	return rc;
}

static int
make_file(struct make_state *k, const struct recipe_file *f)
{
	char *path = make_path(k, f->name);
	struct tempfile *t = tempfile_open(path);
	struct sidecar_content to = {.name = path};
	int rc = -1;

	if (t) {
		to.fd = fileno(tempfile_stream(t));
		to.hash = hash_begin(HASH_SHA256);
		rc = write_rows(k, f, &to);
		if (rc == 0)
			rc = tempfile_commit(t);
		else
			tempfile_discard(t);
	}
	if (rc == 0)
		rc = sidecar_write(path, hash_recipe(k, f), &to);
	else if (to.hash)
		hash_end(to.hash, NULL);
	free(path);
	return rc;
}

static int
update_file(struct make_state *k, struct recipe_file *f)
{
	int state = get_state(k, f);

	if (state < 0)
		return -1;
	if (state == SIDECAR_CURRENT && !k->m->force)
		return 0;
	if (state == SIDECAR_CHANGED && !k->m->force)
		return err_fail("'%s/%s' was changed since it was made; "
				"use --force to make it again",
		    k->m->dir, f->name);
	if (state == SIDECAR_FOREIGN && !k->m->force) {
		err_say("'%s/%s' was not made by this program and is kept; "
			"use --force to make it again",
		    k->m->dir, f->name);
		return 0;
	}
	return make_file(k, f);
}

/* Also chooses the files that chosen files are made of. */
static void
choose_sources(const struct recipes *r, bool *chosen)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct recipe_file *f = &r->v[i], *s;

		if (!chosen[i] || !f->source)
			continue;
		s = recipe_find(r, f->source);
		if (s && !s->source)
			chosen[s - r->v] = true;
	}
}

/* Returns whether a chosen file has texts of a wiki dump. */
static bool
needs_dump(const struct make *m, const bool *chosen)
{
	for (size_t i = 0; i < m->recipes->n; i++)
		if (chosen[i] && m->recipes->v[i].articles)
			return m->wikipedia != NULL;
	return false;
}

static void
free_maker(struct make_state *k)
{
	vocabulary_free(k->words);
	free(k->dump);
}

int
make_find_states(const struct make *m, const bool *chosen, int *states)
{
	struct make_state k = {.m = m, .recipes = m->recipes};
	int rc = 0;

	if (needs_dump(m, chosen)) {
		k.dump = wikipedia_find_path(m->wikipedia, m->dir);
		if (access(k.dump, F_OK) == 0)
			rc = wikipedia_hash_dump(k.dump, &k.dump_id);
	}
	for (size_t i = 0; i < m->recipes->n; i++)
		if (chosen[i]) {
			states[i] = get_state(&k, &m->recipes->v[i]);
			rc = states[i] < 0 ? -1 : rc;
		}
	free_maker(&k);
	return rc;
}

int
make_files(const struct make *m, bool *chosen)
{
	const struct recipes *r = m->recipes;
	struct make_state k = {.m = m, .recipes = r};
	int rc = 0;

	choose_sources(r, chosen);
	if (r->n && folder_make(m->dir) < 0)
		return -1;
	statusline_open(&k.meter.line, m->quiet);
	if (needs_dump(m, chosen)) {
		k.dump = wikipedia_fetch_dump(
		    m->wikipedia, m->dir, m->sha1, &k.meter);
		rc = k.dump ? wikipedia_hash_dump(k.dump, &k.dump_id) : -1;
	}
	if (rc < 0)
		goto out;
	for (int derived = 0; derived < 2; derived++)
		for (size_t i = 0; i < r->n; i++)
			if (chosen[i] && derived == !!r->v[i].source &&
			    update_file(&k, &r->v[i]) < 0)
				rc = -1;
out:
	statusline_close(&k.meter.line);
	free_maker(&k);
	return rc;
}
