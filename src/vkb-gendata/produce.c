#include "produce.h"
#include "wikipedia.h"
#include "content.h"
#include "encode.h"
#include "err.h"
#include "mem.h"
#include "meter.h"
#include "pyrandom.h"
#include "recipe.h"
#include "sidecar.h"
#include "str.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (1 << 20) /* bytes of a block, about */
#define FIRST 4         /* rows of a block while the size of rows is unknown */
#define MOST 65536      /* rows of a block */
#define TEXTS (4 << 20) /* bytes of articles of a block, about */

struct work {
	const struct produce *p;
	uint64_t salt;
	struct sidecar_content *to;

	pthread_mutex_t lock;
	pthread_cond_t turn_came;
	uint64_t next;        /* row to take next, from 0 */
	uint64_t blocks;      /* blocks taken */
	uint64_t turn;        /* block that may be written */
	uint64_t rows, bytes; /* written so far */
	bool failed;
};

/* The state of one thread. */
struct produce_thread {
	struct work *work;
	struct str block, content;
	struct str *articles; /* one for each row of the block */
	size_t narticles;
	struct pyrandom py;
	float *vector;
};

uint64_t
produce_compute_salt(uint64_t seed, const char *name)
{
	uint64_t h = str_hash(STR_HASH, &seed, sizeof seed);

	return str_hash(h, name, strlen(name));
}

static void
produce_text(struct produce_thread *m, const struct cell *c)
{
	const struct recipe_file *f = m->work->p->file;
	const struct recipe_field *x = &f->fields[c->field];
	size_t len = 0;

	str_clear(&m->content);
	for (size_t i = 0; i < x->nt; i++) {
		content_apply_transform(&x->t[i], c, &m->content);
		len = content_count_text(&x->t[i], len, &m->content);
	}
	content_make_room(&m->content, len, x->size);
	content_cut(&m->content, x->size);
	encode_text(&m->block, f, c->field, &m->content);
}

static void
produce_row(struct produce_thread *m, uint64_t n, size_t place)
{
	const struct produce *p = m->work->p;
	const struct recipe_file *f = p->file;
	struct cell c = {.row = n,
	    .rows = f->rows,
	    .seed = p->seed,
	    .salt = m->work->salt,
	    .words = p->words,
	    .py = &m->py};

	if (p->articles) {
		c.article = m->articles[place].s;
		c.article_len = m->articles[place].len;
	}
	encode_begin(&m->block, f, n);
	for (c.field = 0; c.field < f->n; c.field++) {
		const struct recipe_field *x = &f->fields[c.field];

		if (x->dims) {
			content_make_vector(
			    c.salt, n, c.field, x->dims, m->vector);
			encode_vector(&m->block, f, c.field, m->vector);
			continue;
		}
		c.size = x->size;
		produce_text(m, &c);
	}
	encode_end(&m->block, f);
}

/* Reads at most n articles. Returns their number, or 0 (error reported). */
static uint64_t
read_articles(struct produce_thread *m, uint64_t n)
{
	struct work *w = m->work;
	size_t bytes = 0;
	uint64_t i = 0;
	int rc = 1;

	if (n > m->narticles) {
		m->articles = mem_resize(m->articles, n, sizeof *m->articles);
		memset(m->articles + m->narticles, 0,
		    (n - m->narticles) * sizeof *m->articles);
		m->narticles = n;
	}
	for (; i < n && bytes < TEXTS; i++) {
		rc = wikipedia_read_next(w->p->articles, &m->articles[i]);
		if (rc <= 0)
			break;
		bytes += m->articles[i].len;
	}
	if (rc > 0)
		return i;
	if (rc == 0)
		err_say("the dump has %llu articles, but '%s' has %llu rows: "
			"lower its doc_count",
		    (unsigned long long)w->next + i, w->to->name,
		    (unsigned long long)w->p->file->rows);
	w->failed = true;
	return 0;
}

/* Takes the rows of the next block. Returns their number, 0 at the end. */
static uint64_t
take_block(struct produce_thread *m, uint64_t *first, uint64_t *block)
{
	struct work *w = m->work;
	uint64_t left, n = FIRST;

	pthread_mutex_lock(&w->lock);
	left = w->failed ? 0 : w->p->file->rows - w->next;
	if (w->rows)
		n = BLOCK / (w->bytes / w->rows + 1) + 1;
	n = n < MOST ? n : MOST;
	n = n < left ? n : left;
	if (n && w->p->articles)
		n = read_articles(m, n);
	*first = w->next;
	w->next += n;
	*block = n ? w->blocks++ : 0;
	pthread_mutex_unlock(&w->lock);
	return n;
}

/* Waits for the block's turn and writes it, unless an error occurred. */
static void
write_block(struct produce_thread *m, uint64_t block)
{
	struct work *w = m->work;
	bool ok;

	pthread_mutex_lock(&w->lock);
	while (w->turn != block)
		pthread_cond_wait(&w->turn_came, &w->lock);
	ok = !w->failed;
	pthread_mutex_unlock(&w->lock);
	if (ok)
		ok = sidecar_append(w->to, &m->block) == 0;
	pthread_mutex_lock(&w->lock);
	w->failed = w->failed || !ok;
	w->bytes += m->block.len;
	pthread_mutex_unlock(&w->lock);
	str_clear(&m->block);
}

static void
end_block(struct produce_thread *m, uint64_t rows)
{
	struct work *w = m->work;

	pthread_mutex_lock(&w->lock);
	w->rows += rows;
	w->turn++;
	if (!w->failed)
		meter_draw(w->p->meter, (double)w->rows, (double)w->bytes);
	pthread_cond_broadcast(&w->turn_came);
	pthread_mutex_unlock(&w->lock);
}

static void *
produce_blocks(void *arg)
{
	struct produce_thread m = {.work = arg};
	const struct recipe_file *f = m.work->p->file;
	uint64_t first, block, n;
	size_t dims = 0;

	for (size_t i = 0; i < f->n; i++)
		dims = f->fields[i].dims > dims ? f->fields[i].dims : dims;
	m.vector = mem_array(dims + 1, sizeof *m.vector);
	while ((n = take_block(&m, &first, &block)) > 0) {
		for (uint64_t i = 1; i <= n; i++) {
			produce_row(&m, first + i, i - 1);
			if (m.block.len > BLOCK || i == n)
				write_block(&m, block);
		}
		end_block(&m, n);
	}
	str_free(&m.block);
	str_free(&m.content);
	for (size_t i = 0; i < m.narticles; i++)
		str_free(&m.articles[i]);
	free(m.articles);
	free(m.vector);
	return NULL;
}

void
produce_run_threads(size_t n, void *(*work)(void *), void *arg)
{
	pthread_t *t = mem_array(n, sizeof *t);
	size_t started = 0;

	while (started + 1 < n &&
	    pthread_create(&t[started], NULL, work, arg) == 0)
		started++;
	work(arg);
	while (started)
		pthread_join(t[--started], NULL);
	free(t);
}

int
produce_write_file(const struct produce *p, struct sidecar_content *to)
{
	struct work w = {.p = p, .to = to};
	struct str s = {0};
	int rc;

	w.salt = produce_compute_salt(p->seed, p->file->name);
	pthread_mutex_init(&w.lock, NULL);
	pthread_cond_init(&w.turn_came, NULL);
	encode_head(&s, p->file);
	rc = sidecar_append(to, &s);
	if (rc == 0)
		produce_run_threads(
		    p->file->rows > FIRST ? p->threads : 1, produce_blocks, &w);
	if (w.failed)
		rc = -1;
	str_clear(&s);
	encode_foot(&s, p->file);
	if (rc == 0)
		rc = sidecar_append(to, &s);
	str_free(&s);
	pthread_mutex_destroy(&w.lock);
	pthread_cond_destroy(&w.turn_came);
	return rc;
}
