#include "make.h"
#include "articles.h"
#include "checksum.h"
#include "err.h"
#include "folder.h"
#include "json.h"
#include "mem.h"
#include "meter.h"
#include "neighbours.h"
#include "produce.h"
#include "recipe.h"
#include "sidecar.h"
#include "str.h"
#include "tempfile.h"
#include "terms.h"
#include "transform.h"
#include "vectors.h"
#include "vocabulary.h"
#include "wikipedia.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GENERATION 1 /* raise it when the same recipe makes another file */

/* What all files share; made when first needed. */
struct tools {
	struct vocabulary *words;
	struct vectors *vectors;
	char *dump;       /* path of a wiki dump; NULL: use the built-in text */
	uint64_t dump_id; /* 0: not fetched yet */
	struct meter meter;
};

static char *
make_path(const struct make *m, const char *name)
{
	return mem_printf("%s/%s", m->dir, name);
}

/* Returns a hash of everything that the file's content depends on. */
static uint64_t
hash_recipe(
    const struct make *m, const struct tools *with, const struct recipe_file *f)
{
	const char *others[] = {f->base, f->queries};
	struct str s = {0};
	uint64_t h;

	str_printf(&s, "%d %llu %d %s ", GENERATION,
	    (unsigned long long)m->seed, f->query, f->name);
	json_canonical(&s, f->spec);
	for (size_t i = 0; i < 2; i++) {
		const struct recipe_file *x =
		    others[i] ? recipe_find(m->recipes, others[i]) : NULL;

		str_addc(&s, ' ');
		if (x)
			json_canonical(&s, x->spec);
	}
	if (f->source)
		for (size_t i = 0; i < f->fields->t->nlist; i++)
			str_printf(&s, " %s", f->fields->t->list[i]);
	if (f->articles && with->dump)
		str_printf(
		    &s, " dump %016llx", (unsigned long long)with->dump_id);
	h = str_hash(STR_HASH, s.s, s.len);
	str_free(&s);
	return h;
}

/* Reads a query file's terms, once, and lowers its rows to their number. */
static int
read_source_terms(const struct make *m, const struct recipe_file *f)
{
	struct recipe_file *file = &m->recipes->v[f - m->recipes->v];
	char *path = make_path(m, f->source);
	int rc = 0;

	if (!file->fields->t->nlist) {
		rc = terms_read(
		    path, f->suffix, (size_t)f->rows, file->fields->t);
		if (file->fields->t->nlist < file->rows)
			file->rows = file->fields->t->nlist;
	}
	free(path);
	return rc;
}

/* Returns enum sidecar_state, or -1 (error reported). */
static int
get_state(
    const struct make *m, const struct tools *with, const struct recipe_file *f)
{
	char *path;
	int state;

	if (f->source && read_source_terms(m, f) < 0)
		return -1;
	path = make_path(m, f->name);
	state = sidecar_state(path, hash_recipe(m, with, f));
	free(path);
	return state;
}

static void
on_progress(void *arg, uint64_t rows, uint64_t bytes)
{
	meter_draw(arg, (double)rows, (double)bytes);
}

static int
write_neighbours(const struct make *m, struct tools *with,
    const struct recipe_file *f, int fd, const char *path, struct checksum *sum)
{
	struct neighbours n = {.base = recipe_find(m->recipes, f->base),
	    .queries = recipe_find(m->recipes, f->queries),
	    .k = f->k,
	    .metric = f->metric,
	    .seed = m->seed,
	    .threads = m->threads,
	    .vectors = with->vectors,
	    .progress = on_progress,
	    .arg = &with->meter};

	meter_begin(&with->meter, f->name, (double)n.base->rows);
	return neighbours_write_file(&n, fd, path, sum);
}

static int
write_rows(const struct make *m, struct tools *with,
    const struct recipe_file *f, int fd, const char *path, struct checksum *sum)
{
	struct produce p = {.file = f,
	    .seed = m->seed,
	    .threads = m->threads,
	    .progress = on_progress,
	    .arg = &with->meter};
	int rc;

	if (recipe_has_words(f) && !with->words)
		with->words = vocabulary_new();
	if ((f->base || recipe_find_vector(f) < f->n) && !with->vectors)
		with->vectors = vectors_new();
	if (f->base)
		return write_neighbours(m, with, f, fd, path, sum);
	p.words = with->words;
	p.vectors = with->vectors;
	if (f->articles && with->dump &&
	    !(p.articles = articles_open(with->dump, m->threads)))
		return -1;
	rc = produce_write_file(&p, fd, path, sum);
	articles_close(p.articles);
	return rc;
}

static int
make_file(const struct make *m, struct tools *with, const struct recipe_file *f)
{
	char *path = make_path(m, f->name);
	struct tempfile *t = tempfile_open(path);
	struct checksum sum = {0};
	int rc = -1;

	if (t) {
		meter_begin(&with->meter, f->name, (double)f->rows);
		rc = write_rows(
		    m, with, f, fileno(tempfile_stream(t)), path, &sum);
		if (rc == 0)
			rc = tempfile_commit(t);
		else
			tempfile_discard(t);
	}
	if (rc == 0) {
		uint64_t bytes = sum.bytes;

		rc = sidecar_write(
		    path, hash_recipe(m, with, f), checksum_end(&sum), bytes);
	}
	free(path);
	return rc;
}

static int
update_file(
    const struct make *m, struct tools *with, const struct recipe_file *f)
{
	int state = get_state(m, with, f);

	if (state < 0)
		return -1;
	if (state == SIDECAR_CURRENT && !m->force)
		return 0;
	if (state == SIDECAR_CHANGED && !m->force)
		return err_fail("'%s/%s' was changed since it was made; "
				"use --force to make it again",
		    m->dir, f->name);
	if (state == SIDECAR_FOREIGN && !m->force) {
		err_say("'%s/%s' was not made by this program and is kept; "
			"use --force to make it again",
		    m->dir, f->name);
		return 0;
	}
	return make_file(m, with, f);
}

/* Also chooses the files that chosen files are made of. */
static void
choose_sources(const struct make *m, bool *chosen)
{
	for (size_t i = 0; i < m->recipes->n; i++) {
		const struct recipe_file *f = &m->recipes->v[i], *s;

		if (!chosen[i] || !f->source)
			continue;
		s = recipe_find(m->recipes, f->source);
		if (s && !s->source)
			chosen[s - m->recipes->v] = true;
	}
}

/* Tells whether a chosen file has texts of a wiki dump. */
static bool
needs_dump(const struct make *m, const bool *chosen)
{
	for (size_t i = 0; i < m->recipes->n; i++)
		if (chosen[i] && m->recipes->v[i].articles)
			return m->wikipedia != NULL;
	return false;
}

static void
free_tools(struct tools *with)
{
	vocabulary_free(with->words);
	vectors_free(with->vectors);
	free(with->dump);
}

int
make_states(const struct make *m, const bool *chosen, int *states)
{
	struct tools with = {0};
	int rc = 0;

	if (needs_dump(m, chosen)) {
		with.dump = wikipedia_find_path(m->wikipedia, m->dir);
		if (access(with.dump, F_OK) == 0)
			rc = wikipedia_hash_dump(with.dump, &with.dump_id);
	}
	for (size_t i = 0; i < m->recipes->n; i++)
		if (chosen[i]) {
			states[i] = get_state(m, &with, &m->recipes->v[i]);
			rc = states[i] < 0 ? -1 : rc;
		}
	free_tools(&with);
	return rc;
}

int
make_all(const struct make *m, bool *chosen)
{
	const struct recipes *r = m->recipes;
	struct tools with = {0};
	int rc = 0;

	choose_sources(m, chosen);
	if (r->n && folder_make(m->dir) < 0)
		return -1;
	meter_open(&with.meter, m->quiet);
	if (needs_dump(m, chosen)) {
		with.dump = wikipedia_fetch_dump(
		    m->wikipedia, m->dir, m->sha1, &with.meter);
		rc = with.dump ? wikipedia_hash_dump(with.dump, &with.dump_id)
			       : -1;
	}
	if (rc < 0)
		goto out;
	for (int derived = 0; derived < 2; derived++)
		for (size_t i = 0; i < r->n; i++)
			if (chosen[i] && derived == !!r->v[i].source &&
			    update_file(m, &with, &r->v[i]) < 0)
				rc = -1;
out:
	meter_close(&with.meter);
	free_tools(&with);
	return rc;
}
