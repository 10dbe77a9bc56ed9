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

#define GENERATION 1 /* of the programs: equal ones make equal files */

/* What making needs, once. */
struct tools {
	struct vocabulary *words;
	struct vectors *vectors;
	char *dump;       /* of a wiki; NULL: the built-in text is taken */
	uint64_t dump_id; /* 0: it is not there yet */
	struct meter meter;
};

static char *
path_of(const struct make *m, const char *name)
{
	return mem_printf("%s/%s", m->dir, name);
}

/* Everything that the content depends on. */
static uint64_t
recipe_hash(
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
		    others[i] ? recipe_of(m->recipes, others[i]) : NULL;

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

/* The terms that queries are made of, once their file is there. */
static int
read_source(const struct make *m, const struct recipe_file *f)
{
	struct recipe_file *file = &m->recipes->v[f - m->recipes->v];
	char *path = path_of(m, f->source);
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

static int
state_of(
    const struct make *m, const struct tools *with, const struct recipe_file *f)
{
	char *path;
	int state;

	if (f->source && read_source(m, f) < 0)
		return -1;
	path = path_of(m, f->name);
	state = sidecar_state(path, recipe_hash(m, with, f));
	free(path);
	return state;
}

static void
progress(void *arg, uint64_t rows, uint64_t bytes)
{
	meter_draw(arg, (double)rows, (double)bytes);
}

static int
write_neighbours(const struct make *m, struct tools *with,
    const struct recipe_file *f, int fd, const char *path, struct checksum *sum)
{
	struct neighbours n = {.base = recipe_of(m->recipes, f->base),
	    .queries = recipe_of(m->recipes, f->queries),
	    .k = f->k,
	    .metric = f->metric,
	    .seed = m->seed,
	    .threads = m->threads,
	    .vectors = with->vectors,
	    .progress = progress,
	    .arg = &with->meter};

	meter_begin(&with->meter, f->name, (double)n.base->rows);
	return neighbours_file(&n, fd, path, sum);
}

static int
write_rows(const struct make *m, struct tools *with,
    const struct recipe_file *f, int fd, const char *path, struct checksum *sum)
{
	struct produce p = {.file = f,
	    .seed = m->seed,
	    .threads = m->threads,
	    .progress = progress,
	    .arg = &with->meter};
	int rc;

	if (recipe_has_words(f) && !with->words)
		with->words = vocabulary_new();
	if ((f->base || recipe_vector(f) < f->n) && !with->vectors)
		with->vectors = vectors_new();
	if (f->base)
		return write_neighbours(m, with, f, fd, path, sum);
	p.words = with->words;
	p.vectors = with->vectors;
	if (f->articles && with->dump &&
	    !(p.articles = articles_open(with->dump, m->threads)))
		return -1;
	rc = produce_file(&p, fd, path, sum);
	articles_close(p.articles);
	return rc;
}

static int
make_one(const struct make *m, struct tools *with, const struct recipe_file *f)
{
	char *path = path_of(m, f->name);
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
		    path, recipe_hash(m, with, f), checksum_end(&sum), bytes);
	}
	free(path);
	return rc;
}

static int
update(const struct make *m, struct tools *with, const struct recipe_file *f)
{
	int state = state_of(m, with, f);

	if (state < 0)
		return -1;
	if (state == SIDECAR_CURRENT && !m->force)
		return 0;
	if (state == SIDECAR_CHANGED && !m->force)
		return err_fail("'%s/%s' was changed since it was made; "
				"--force makes it again",
		    m->dir, f->name);
	if (state == SIDECAR_FOREIGN && !m->force) {
		err_say("'%s/%s' was not made by this program and is left as "
			"it is; --force makes it again",
		    m->dir, f->name);
		return 0;
	}
	return make_one(m, with, f);
}

/* What is chosen for what others are made of. */
static void
choose_sources(const struct make *m, bool *chosen)
{
	for (size_t i = 0; i < m->recipes->n; i++) {
		const struct recipe_file *f = &m->recipes->v[i], *s;

		if (!chosen[i] || !f->source)
			continue;
		s = recipe_of(m->recipes, f->source);
		if (s && !s->source)
			chosen[s - m->recipes->v] = true;
	}
}

/* Does a chosen file have texts of a dump. */
static bool
wants_dump(const struct make *m, const bool *chosen)
{
	for (size_t i = 0; i < m->recipes->n; i++)
		if (chosen[i] && m->recipes->v[i].articles)
			return m->wikipedia != NULL;
	return false;
}

static void
tools_free(struct tools *with)
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

	if (wants_dump(m, chosen)) {
		with.dump = wikipedia_path(m->wikipedia, m->dir);
		if (access(with.dump, F_OK) == 0)
			rc = wikipedia_id(with.dump, &with.dump_id);
	}
	for (size_t i = 0; i < m->recipes->n; i++)
		if (chosen[i]) {
			states[i] = state_of(m, &with, &m->recipes->v[i]);
			rc = states[i] < 0 ? -1 : rc;
		}
	tools_free(&with);
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
	if (wants_dump(m, chosen)) {
		with.dump =
		    wikipedia_get(m->wikipedia, m->dir, m->sha1, &with.meter);
		rc = with.dump ? wikipedia_id(with.dump, &with.dump_id) : -1;
	}
	if (rc < 0)
		goto out;
	for (int derived = 0; derived < 2; derived++)
		for (size_t i = 0; i < r->n; i++)
			if (chosen[i] && derived == !!r->v[i].source &&
			    update(m, &with, &r->v[i]) < 0)
				rc = -1;
out:
	meter_close(&with.meter);
	tools_free(&with);
	return rc;
}
