/*
 * vkb-gendata: makes the datasets and query files that configurations ask for.
 * Writes to stdout only with --list: a table of the files and their states.
 */
#include "cgroup.h"
#include "csvrows.h"
#include "err.h"
#include "folder.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "sink.h"
#include "str.h"
#include "table.h"
#include "tempfile.h"
#include "vkb-gendata/content.h"
#include "vkb-gendata/encode.h"
#include "vkb-gendata/meter.h"
#include "vkb-gendata/pyrandom.h"
#include "vkb-gendata/recipe.h"
#include "vkb-gendata/vocabulary.h"
#include "vkb-gendata/wikipedia.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * FILE.spec beside each generated file holds the hash of its recipe, its size,
 * the hash of its content and its modification time. With it, a file whose
 * recipe changed is made again, and a file that another program made or changed
 * is recognized.
 */

/* A file that is being written. */
struct sidecar_content {
	int fd;
	const char *name; /* for messages; borrowed */
	struct hash *hash;
	uint64_t bytes;
};

enum sidecar_state {
	SIDECAR_MISSING, /* the file does not exist */
	SIDECAR_CURRENT, /* this recipe made it */
	SIDECAR_STALE,   /* another recipe made it */
	SIDECAR_CHANGED, /* it was changed after it was made */
	SIDECAR_FOREIGN  /* it has no sidecar */
};

#define HASH_TEXT 20
#define TIME 48

static char *
format_hex(char buf[HASH_TEXT], uint64_t v)
{
	snprintf(buf, HASH_TEXT, "%016llx", (unsigned long long)v);
	return buf;
}

static char *
format_mtime(char buf[TIME], const struct stat *st)
{
	snprintf(buf, TIME, "%lld.%09ld", (long long)st->st_mtim.tv_sec,
	    st->st_mtim.tv_nsec);
	return buf;
}

static bool
has_text(const struct json *j, const char *key, const char *want)
{
	const char *s = json_get_str(j, key);

	return s && strcmp(s, want) == 0;
}

/* Returns the sidecar, NULL if it is missing or broken. Caller frees. */
static struct json *
load_sidecar(const char *path)
{
	char *name = mem_printf("%s.spec", path);
	FILE *f = fopen(name, "r");
	char buf[1024];
	size_t n = f ? fread(buf, 1, sizeof buf, f) : 0;

	if (f)
		fclose(f);
	free(name);
	return n < sizeof buf ? json_parse(buf, n, NULL, NULL) : NULL;
}

/* Returns 1 if the file is unchanged, 0 if changed, or -1 (error reported). */
static int
is_unchanged(const char *path, const struct json *j, const struct stat *st)
{
	char t[TIME], sum[HASH_HEX];

	if (json_get_num(j, "bytes", -1) != (double)st->st_size)
		return 0;
	if (has_text(j, "written", format_mtime(t, st)))
		return 1;
	if (hash_file(HASH_SHA256, path, sum) < 0)
		return err_fail_sys("cannot read '%s'", path);
	return has_text(j, "content", sum);
}

/* Returns enum sidecar_state, or -1 (error reported). */
static int
find_file_state(const char *path, uint64_t recipe)
{
	struct json *j;
	struct stat st;
	char h[HASH_TEXT];
	int rc;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? (int)SIDECAR_MISSING
				       : err_fail_sys("cannot read '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_fail("'%s' is a folder", path);
	j = load_sidecar(path);
	if (!j)
		return SIDECAR_FOREIGN;
	rc = is_unchanged(path, j, &st);
	if (rc == 0)
		rc = SIDECAR_CHANGED;
	else if (rc > 0)
		rc = has_text(j, "recipe", format_hex(h, recipe))
		    ? SIDECAR_CURRENT
		    : SIDECAR_STALE;
	json_free(j);
	return rc;
}

/* Writes the text to the file. Returns 0, or -1 (error reported). */
static int
append_content(struct sidecar_content *c, const struct str *s)
{
	if (sink_write(c->fd, s->s, s->len) < 0)
		return err_fail_sys("cannot write '%s'", c->name);
	hash_add(c->hash, s->s, s->len);
	c->bytes += s->len;
	return 0;
}

/*
 * Writes the sidecar of a file that was written, and ends the hash of its
 * content. Returns 0, or -1 (error reported).
 */
static int
write_sidecar(
    const char *path, uint64_t recipe, struct sidecar_content *content)
{
	struct json *j;
	char *name, buf[TIME], sum[HASH_HEX];
	struct stat st;
	int rc;

	hash_end(content->hash, sum);
	if (stat(path, &st) < 0)
		return err_fail_sys("cannot read '%s'", path);
	j = json_object();
	json_set_str(j, "recipe", format_hex(buf, recipe));
	json_set_str(j, "content", sum);
	json_set_num(j, "bytes", (double)content->bytes);
	json_set_str(j, "written", format_mtime(buf, &st));
	name = mem_printf("%s.spec", path);
	rc = jsonfile_write(name, j);
	json_free(j);
	free(name);
	return rc;
}

/*
 * Brings the files of recipes up to date: makes those that are missing or were
 * made by another recipe, and leaves those that other programs made.
 */

struct make {
	const char *dir;
	const char *wikipedia; /* path or URL of a wiki dump; NULL: use the
				* built-in text */
	const char *sha1;      /* expected of the dump; NULL: as published */
	long long seed, threads;
	const struct recipes *recipes;
	bool force, quiet;
	/* What all files share; made when first needed: */
	struct vocabulary *words;
	char *dump;       /* path of a wiki dump; NULL: use the built-in text */
	uint64_t dump_id; /* 0: not fetched yet */
	struct meter meter; /* shows the rows and bytes of a file so far */
};

/*
 * Makes the rows of a file on several threads: each takes the next block of
 * rows, makes it, and writes it when the blocks before it are written. A row
 * depends only on its number, so any number of threads makes the same bytes.
 */

#define BLOCK_BYTES (1 << 20) /* bytes of a block, about */
#define FIRST 4         /* rows of a block while the size of rows is unknown */
#define MOST 65536      /* rows of a block */
#define TEXTS (4 << 20) /* bytes of articles of a block, about */

struct work {
	struct make *make;
	const struct recipe_file *file;
	struct articles *articles; /* NULL: use the built-in text */
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

/* Returns a hash of seed and file name, which the rows are seeded with. */
static uint64_t
compute_salt(uint64_t seed, const char *name)
{
	uint64_t h = str_hash(STR_HASH, &seed, sizeof seed);

	return str_hash(h, name, strlen(name));
}

static void
produce_text(struct produce_thread *m, const struct cell *c)
{
	const struct recipe_file *f = m->work->file;
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
	const struct work *w = m->work;
	const struct recipe_file *f = w->file;
	struct cell c = {.row = n,
	    .rows = f->rows,
	    .seed = (uint64_t)w->make->seed,
	    .salt = w->salt,
	    .words = w->make->words,
	    .py = &m->py};

	if (w->articles) {
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
		rc = wikipedia_read_next(w->articles, &m->articles[i]);
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
		    (unsigned long long)w->file->rows);
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
	left = w->failed ? 0 : w->file->rows - w->next;
	if (w->rows)
		n = BLOCK_BYTES / (w->bytes / w->rows + 1) + 1;
	n = n < MOST ? n : MOST;
	n = n < left ? n : left;
	if (n && w->articles)
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
		ok = append_content(w->to, &m->block) == 0;
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
		meter_draw(&w->make->meter, (double)w->rows, (double)w->bytes);
	pthread_cond_broadcast(&w->turn_came);
	pthread_mutex_unlock(&w->lock);
}

static void *
produce_blocks(void *arg)
{
	struct produce_thread m = {.work = arg};
	const struct recipe_file *f = m.work->file;
	uint64_t first, block, n;
	size_t dims = 0;

	for (size_t i = 0; i < f->n; i++)
		dims = f->fields[i].dims > dims ? f->fields[i].dims : dims;
	m.vector = mem_array(dims + 1, sizeof *m.vector);
	while ((n = take_block(&m, &first, &block)) > 0) {
		for (uint64_t i = 1; i <= n; i++) {
			produce_row(&m, first + i, i - 1);
			if (m.block.len > BLOCK_BYTES || i == n)
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

/* Calls work(arg) in n threads, the caller's among them, or in fewer if no more
 * can be started. Returns when all have ended. */
static void
run_threads(size_t n, void *(*work)(void *), void *arg)
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

/* Writes the file with append_content. Returns 0, or -1 (error reported). */
static int
write_produced_file(struct make *m, const struct recipe_file *f,
    struct articles *articles, struct sidecar_content *to)
{
	struct work w = {.make = m,
	    .file = f,
	    .articles = articles,
	    .salt = compute_salt((uint64_t)m->seed, f->name),
	    .to = to};
	struct str s = {0};
	int rc;

	pthread_mutex_init(&w.lock, NULL);
	pthread_cond_init(&w.turn_came, NULL);
	encode_head(&s, f);
	rc = append_content(to, &s);
	if (rc == 0)
		run_threads(f->rows > FIRST ? (size_t)m->threads : 1,
		    produce_blocks, &w);
	if (w.failed)
		rc = -1;
	str_clear(&s);
	encode_foot(&s, f);
	if (rc == 0)
		rc = append_content(to, &s);
	str_free(&s);
	pthread_mutex_destroy(&w.lock);
	pthread_cond_destroy(&w.turn_came);
	return rc;
}

/*
 * Finds the exact k nearest neighbours of each query vector among the base
 * vectors, and writes them as .ivecs: for each query k and k row numbers (from
 * 0), nearest first, ties by number. Base vectors are generated again, not
 * read, so memory holds the queries and 2k rows of each for every thread.
 */

#define BLOCK_ROWS 128 /* rows that a thread takes at a time */
#define LANES 16
#define EPSILON 1.2e-7 /* FLT_EPSILON: twice the rounding error of a float */

#if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&          \
    !defined(__SANITIZE_THREAD__)
#define CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONED
#endif

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

struct neighbour {
	double score; /* lower is nearer */
	uint32_t row;
};

/* The nearest k rows so far, and up to k more since they were last sorted. */
struct neighbours {
	struct neighbour *v;
	size_t n;
	double limit; /* the score of the k-th; a greater one is not added */
};

struct search {
	struct make *make;
	const struct recipe_file *base;
	enum recipe_metric metric;
	size_t dims, stride; /* floats of a vector, without and with padding */
	float *q;            /* vectors of all queries, padded with zeros */
	double *norm;        /* length of each query's vector */
	size_t nq, k;
	pthread_mutex_t lock;
	uint64_t next, done; /* next base row to take, and rows searched */
	struct neighbours
	    *nearest; /* for each query, of threads that are done */
};

static float *
make_matrix(size_t rows, size_t stride)
{
	void *p;

	if (posix_memalign(
		&p, LANES * sizeof(float), (rows + 1) * stride * sizeof(float)))
		err_die("out of memory");
	memset(p, 0, (rows + 1) * stride * sizeof(float));
	return p;
}

/* Computes the dot products of a row and four queries, reading it once. */
CLONED static void
compute_dots(const float *row, const float *q, size_t stride, float out[4])
{
	lanes sum[4] = {{0}};

	for (size_t i = 0; i < stride; i += LANES) {
		lanes r = *(const lanes *)(row + i);

		for (size_t k = 0; k < 4; k++)
			sum[k] += r * *(const lanes *)(q + k * stride + i);
	}
	for (size_t k = 0; k < 4; k++) {
		out[k] = 0;
		for (size_t i = 0; i < LANES; i++)
			out[k] += sum[k][i];
	}
}

static double
compute_length(const float *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)v[i] * v[i];
	return sqrt(sum);
}

static double
compute_score(const struct search *s, const float *a, const float *b)
{
	double sum = 0;

	for (size_t i = 0; i < s->dims; i++) {
		double d = (double)a[i] - b[i];

		sum += s->metric == RECIPE_L2 ? d * d : -(double)a[i] * b[i];
	}
	if (s->metric == RECIPE_COSINE)
		sum /= compute_length(a, s->dims) * compute_length(b, s->dims);
	return sum;
}

/* Returns a lower bound of the score, for any order of summing floats. */
static double
compute_lower_bound(
    const struct search *s, double dot, double row, double query)
{
	double error = EPSILON * (double)(s->dims + 16) * row * query;

	if (s->metric == RECIPE_IP)
		return -(dot + error);
	if (s->metric == RECIPE_COSINE)
		return -(dot + error) / (row * query);
	return row * row + query * query - 2 * (dot + error) -
	    EPSILON * (row * row + query * query);
}

static int
compare_nearness(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Makes empty lists for all queries. Caller frees the first 'v' and the list.
 */
static struct neighbours *
make_nearest(const struct search *s)
{
	struct neighbours *all = mem_array(s->nq + 1, sizeof *all);

	all->v = mem_array(s->nq + 1, 2 * s->k * sizeof *all->v);
	for (size_t q = 0; q < s->nq; q++) {
		all[q].v = all->v + q * 2 * s->k;
		all[q].limit = INFINITY;
	}
	return all;
}

/* Sorts the rows, nearest first, and drops all but the nearest k. */
static void
sort_nearest(struct neighbours *h, size_t k)
{
	qsort(h->v, h->n, sizeof *h->v, compare_nearness);
	if (h->n < k)
		return;
	h->n = k;
	h->limit = h->v[k - 1].score;
}

static void
add_near(struct neighbours *h, size_t k, struct neighbour x)
{
	h->v[h->n++] = x;
	if (h->n == 2 * k)
		sort_nearest(h, k);
}

static void
compare_row_with_queries(const struct search *s, struct neighbours *nearest,
    const float *row, uint64_t number)
{
	double norm = compute_length(row, s->dims);
	float dot[4];

	for (size_t q = 0; q < s->nq; q++) {
		struct neighbours *h = &nearest[q];
		const float *v = s->q + q * s->stride;
		struct neighbour x = {.row = (uint32_t)number};

		if (q % 4 == 0)
			compute_dots(row, v, s->stride, dot);
		if (compute_lower_bound(s, dot[q % 4], norm, s->norm[q]) >
		    h->limit)
			continue;
		x.score = compute_score(s, v, row);
		if (x.score <= h->limit)
			add_near(h, s->k, x);
	}
}

static uint64_t
take_rows(struct search *s, uint64_t *first)
{
	uint64_t left;

	pthread_mutex_lock(&s->lock);
	left = s->base->rows - s->next;
	left = left < BLOCK_ROWS ? left : BLOCK_ROWS;
	*first = s->next;
	s->next += left;
	pthread_mutex_unlock(&s->lock);
	return left;
}

static void *
search_rows(void *arg)
{
	struct search *s = arg;
	size_t field = recipe_find_vector(s->base);
	uint64_t salt = compute_salt((uint64_t)s->make->seed, s->base->name),
		 first, rows;
	float *row = make_matrix(1, s->stride);
	struct neighbours *nearest = make_nearest(s);

	while ((rows = take_rows(s, &first)) > 0) {
		for (uint64_t i = first; i < first + rows; i++) {
			content_make_vector(salt, i + 1, field, s->dims, row);
			compare_row_with_queries(s, nearest, row, i);
		}
		pthread_mutex_lock(&s->lock);
		s->done += rows;
		meter_draw(&s->make->meter, (double)s->done,
		    (double)(s->done * s->dims * sizeof(float)));
		pthread_mutex_unlock(&s->lock);
	}
	pthread_mutex_lock(&s->lock);
	for (size_t q = 0; q < s->nq; q++)
		for (size_t i = 0; i < nearest[q].n; i++)
			add_near(&s->nearest[q], s->k, nearest[q].v[i]);
	pthread_mutex_unlock(&s->lock);
	free(nearest->v);
	free(nearest);
	free(row);
	return NULL;
}

static int
write_ivecs(const struct search *s, struct sidecar_content *to)
{
	struct str out = {0};
	int rc = 0;

	for (size_t q = 0; q < s->nq && rc == 0; q++) {
		sort_nearest(&s->nearest[q], s->k);
		str_clear(&out);
		encode_uint32(&out, (uint32_t)s->k);
		for (size_t i = 0; i < s->k; i++)
			encode_uint32(&out, s->nearest[q].v[i].row);
		rc = append_content(to, &out);
	}
	str_free(&out);
	return rc;
}

static void
make_queries(struct search *s, const struct recipe_file *queries)
{
	uint64_t salt = compute_salt((uint64_t)s->make->seed, queries->name);
	size_t field = recipe_find_vector(queries);

	s->nq = (size_t)queries->rows;
	s->q = make_matrix(s->nq + 3, s->stride); /* see compute_dots */
	s->norm = mem_array(s->nq + 1, sizeof *s->norm);
	for (size_t q = 0; q < s->nq; q++) {
		float *v = s->q + q * s->stride;

		content_make_vector(salt, q + 1, field, s->dims, v);
		s->norm[q] = compute_length(v, s->dims);
	}
}

/*
 * Writes the neighbours of the vectors of the queries in the base of the file,
 * with append_content. The meter shows the rows and bytes of 'base' searched.
 * Returns 0, or -1 (error reported).
 */
static int
write_neighbours(struct make *m, const struct recipe_file *f,
    const struct recipe_file *base, struct sidecar_content *to)
{
	struct search s = {
	    .make = m, .base = base, .metric = f->metric, .k = f->k};
	int rc;

	s.dims = base->fields[recipe_find_vector(base)].dims;
	s.stride = (s.dims + LANES - 1) / LANES * LANES;
	pthread_mutex_init(&s.lock, NULL);
	make_queries(&s, recipe_find(m->recipes, f->queries));
	s.nearest = make_nearest(&s);
	run_threads((size_t)m->threads, search_rows, &s);
	rc = write_ivecs(&s, to);
	pthread_mutex_destroy(&s.lock);
	free(s.nearest->v);
	free(s.nearest);
	free(s.q);
	free(s.norm);
	return rc;
}

#define GENERATION 2 /* raise it when the same recipe makes another file */

static char *
make_path(const struct make *m, const char *name)
{
	return mem_printf("%s/%s", m->dir, name);
}

/* Returns a hash of everything that the file's content depends on. */
static uint64_t
hash_recipe(const struct make *m, const struct recipe_file *f)
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
		json_canonical(&s, x ? x->spec : NULL);
	}
	if (f->source)
		for (size_t i = 0; i < f->fields->t->nlist; i++)
			str_printf(&s, " %s", f->fields->t->list[i]);
	if (f->articles && m->dump)
		str_printf(&s, " dump %016llx", (unsigned long long)m->dump_id);
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
read_source_terms(const struct make *m, struct recipe_file *f)
{
	char *path = make_path(m, f->source);
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
get_state(const struct make *m, struct recipe_file *f)
{
	char *path;
	int state;

	if (f->source && read_source_terms(m, f) < 0)
		return -1;
	path = make_path(m, f->name);
	state = find_file_state(path, hash_recipe(m, f));
	free(path);
	return state;
}

static int
write_rows(
    struct make *m, const struct recipe_file *f, struct sidecar_content *to)
{
	const struct recipe_file *base =
	    f->base ? recipe_find(m->recipes, f->base) : NULL;
	struct articles *articles = NULL;
	int rc;

	if (f->words && !m->words)
		m->words = vocabulary_new();
	meter_begin(&m->meter, f->name, (double)(base ? base : f)->rows);
	if (base)
		return write_neighbours(m, f, base, to);
	if (f->articles && m->dump && !(articles = wikipedia_open(m->dump)))
		return -1;
	rc = write_produced_file(m, f, articles, to);
	wikipedia_close(articles);
	return rc;
}

static int
make_file(struct make *m, const struct recipe_file *f)
{
	char *path = make_path(m, f->name);
	struct tempfile *t = tempfile_open(path);
	struct sidecar_content to = {.name = path};
	int rc = -1;

	if (t) {
		to.fd = fileno(tempfile_stream(t));
		to.hash = hash_begin(HASH_SHA256);
		rc = write_rows(m, f, &to);
		if (rc == 0)
			rc = tempfile_commit(t);
		else
			tempfile_discard(t);
	}
	if (rc == 0)
		rc = write_sidecar(path, hash_recipe(m, f), &to);
	else if (to.hash)
		hash_end(to.hash, NULL);
	free(path);
	return rc;
}

static int
update_file(struct make *m, struct recipe_file *f)
{
	int state = get_state(m, f);

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
	return make_file(m, f);
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

/*
 * Sets states[i] for each chosen recipe file i: enum sidecar_state, or -1 on
 * error. Returns 0, or -1 (errors reported).
 */
static int
find_states(struct make *m, const bool *chosen, int *states)
{
	int rc = 0;

	if (needs_dump(m, chosen)) {
		m->dump = wikipedia_find_path(m->wikipedia, m->dir);
		if (access(m->dump, F_OK) == 0)
			rc = wikipedia_hash_dump(m->dump, &m->dump_id);
	}
	for (size_t i = 0; i < m->recipes->n; i++)
		if (chosen[i]) {
			states[i] = get_state(m, &m->recipes->v[i]);
			rc = states[i] < 0 ? -1 : rc;
		}
	return rc;
}

/*
 * Makes each chosen recipe file and the files it is made of, which become
 * chosen too. Continues after errors. Returns 0, or -1 (errors reported).
 */
static int
make_files(struct make *m, bool *chosen)
{
	const struct recipes *r = m->recipes;
	int rc = 0;

	choose_sources(r, chosen);
	if (r->n && folder_make(m->dir) < 0)
		return -1;
	statusline_open(&m->meter.line, m->quiet);
	if (needs_dump(m, chosen)) {
		m->dump = wikipedia_fetch_dump(
		    m->wikipedia, m->dir, m->sha1, &m->meter);
		rc = m->dump ? wikipedia_hash_dump(m->dump, &m->dump_id) : -1;
	}
	if (rc < 0)
		goto out;
	for (int derived = 0; derived < 2; derived++)
		for (size_t i = 0; i < r->n; i++)
			if (chosen[i] && derived == !!r->v[i].source &&
			    update_file(m, &r->v[i]) < 0)
				rc = -1;
out:
	statusline_close(&m->meter.line);
	return rc;
}

#define MOST_JOBS 1024
#define MOST_SEED 0x1p53
#define SHA1 40 /* digits */
#define HEX_DIGITS "0123456789abcdefABCDEF"

struct opts {
	struct opt_list files;
	struct make make;
	bool list;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {'f', "force", OPT_FLAG, AT(make.force),
	.help = "make the files again, even if something else made them"},
    {0, "files", OPT_LIST, AT(files), "NAME,...",
	.help = "make these files only; may be repeated"},
    {'j', "jobs", OPT_INT, AT(make.threads), "N", .min = 1, .max = MOST_JOBS,
	.help = "run N threads; default one for each CPU"},
    {'l', "list", OPT_FLAG, AT(list),
	.help = "list the files and their states, make nothing"},
    {'o', "output", OPT_STR, AT(make.dir), "DIR",
	.help = "make the files in DIR (datasets)"},
    {'q', "quiet", OPT_FLAG, AT(make.quiet),
	.help = "show no progress on the terminal"},
    {0, "seed", OPT_INT, AT(make.seed), "N", .max = MOST_SEED,
	.help = "seed random contents; 0 makes the Python tool's"},
    {0, "sha1", OPT_STR, AT(make.sha1), "HEX",
	.help = "check a fetched dump against this SHA-1"},
    {0, "wikipedia", OPT_STR, AT(make.wikipedia), "FILE|URL",
	.help = "take texts from this wiki dump"},
    {0}};

static const struct opt_prog program = {.name = "vkb-gendata",
    .operands = "[CONFIG ...]",
    .purpose = "Make the datasets and query files of benchmark configurations.",
    .table = option_table};

static int
report_unknown_file(const struct recipes *r, const char *name)
{
	struct str s = {0};

	for (size_t i = 0; i < r->n; i++)
		str_printf(&s, "%s%s", i ? ", " : "", r->v[i].name);
	err_say("option '--files': no file '%s' in the configuration "
		"(there are %s)",
	    name, s.len ? s.s : "none");
	str_free(&s);
	return -1;
}

/* Marks the files of one "a,b" in 'chosen'. Returns -1 for an unknown name. */
static int
choose_listed_files(const struct recipes *r, const char *names, bool *chosen)
{
	char *copy = mem_str(names), *rest = copy, *name;
	int rc = 0;

	while (rc == 0 && (name = strsep(&rest, ","))) {
		size_t hits = 0;

		for (size_t i = 0; i < r->n; i++)
			if (strcmp(r->v[i].name, name) == 0 ||
			    strcmp(r->v[i].key, name) == 0) {
				chosen[i] = true;
				hits++;
			}
		if (!*name)
			rc = err_fail(
			    "option '--files': '%s' has an empty name", names);
		else if (!hits)
			rc = report_unknown_file(r, name);
	}
	free(copy);
	return rc;
}

static int
choose_files(
    const struct recipes *r, const struct opt_list *files, bool *chosen)
{
	for (size_t i = 0; i < r->n && !files->n; i++)
		chosen[i] = true;
	for (size_t i = 0; i < files->n; i++)
		if (choose_listed_files(r, files->v[i], chosen) < 0)
			return -1;
	return 0;
}

static int
print_states(struct make *m, const bool *chosen)
{
	const struct recipes *r = m->recipes;
	static const char *const names[] = {[SIDECAR_MISSING] = "missing",
	    [SIDECAR_CURRENT] = "current",
	    [SIDECAR_STALE] = "stale",
	    [SIDECAR_CHANGED] = "changed",
	    [SIDECAR_FOREIGN] = "foreign"};
	struct table *t = table_new();
	struct str out = {0};
	int *states = mem_array(r->n + 1, sizeof *states);
	int rc = find_states(m, chosen, states);

	table_titles(t, "file|>rows|>fields|state");
	for (size_t i = 0; i < r->n; i++) {
		const struct recipe_file *f = &r->v[i];
		unsigned long long rows = f->rows;

		if (!chosen[i])
			continue;
		table_cell(t, f->name);
		table_take(
		    t, f->base ? mem_str("-") : mem_printf("%llu", rows));
		table_take(t, f->base ? mem_str("-") : mem_printf("%zu", f->n));
		table_cell(t, states[i] < 0 ? "unknown" : names[states[i]]);
	}
	table_print(t, &out, false);
	table_free(t);
	free(states);
	fwrite(out.s ? out.s : "", 1, out.len, stdout);
	str_free(&out);
	return rc;
}

static int
make_or_list(struct opts *o)
{
	const struct recipes *r = o->make.recipes;
	const char *sha1 = o->make.sha1;
	bool *chosen = mem_array(r->n + 1, sizeof *chosen);
	int rc = -1;

	if (sha1 && (strlen(sha1) != SHA1 || strspn(sha1, HEX_DIGITS) != SHA1))
		err_say(
		    "option '--sha1': '%s' is not 40 hexadecimal digits", sha1);
	else if (choose_files(r, &o->files, chosen) == 0)
		rc = o->list ? print_states(&o->make, chosen)
			     : make_files(&o->make, chosen);
	free(chosen);
	return rc;
}

static int
run_gendata(void *opts, struct opt_args *args)
{
	struct opts *o = opts;
	struct recipes r = {0};
	int rc = 0;

	if (!args->n && opt_stdin(&program) < 0)
		return -1;
	o->make.recipes = &r;
	if (!o->make.threads)
		o->make.threads = cgroup_count_cpus("");
	if (!args->n)
		rc = recipe_read(&r, "-");
	for (size_t i = 0; i < args->n; i++)
		if (recipe_read(&r, args->v[i]) < 0)
			rc = -1;
	if (rc == 0)
		rc = recipe_check_sources(&r);
	if (rc == 0)
		rc = make_or_list(o);
	vocabulary_free(o->make.words);
	free(o->make.dump);
	recipe_free(&r);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {.make.dir = "datasets"};

	return opt_main(&program, argc, argv, &o, run_gendata);
}
