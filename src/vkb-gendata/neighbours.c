#include "neighbours.h"
#include "checksum.h"
#include "encode.h"
#include "mem.h"
#include "meter.h"
#include "produce.h"
#include "recipe.h"
#include "str.h"
#include "vectors.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 128 /* rows that a thread takes at a time */
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

struct near {
	double score; /* lower is nearer */
	uint32_t row;
};

/* The nearest k so far: a heap with the farthest on top. */
struct heap {
	struct near *v;
	size_t n;
};

struct search {
	const struct produce *p;
	const struct recipe_file *base;
	enum recipe_metric metric;
	size_t dims, stride; /* floats of a vector, without and with padding */
	float *q;            /* vectors of all queries, padded with zeros */
	double *norm;        /* length of each query's vector */
	size_t nq, k;
	pthread_mutex_t lock;
	uint64_t next, done; /* next base row to take, and rows searched */
};

struct searcher {
	struct search *s;
	struct heap *heaps; /* one for each query */
	struct near *near;  /* memory of the heaps */
	pthread_t thread;
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

static bool
is_worse(const struct near *a, const struct near *b)
{
	return a->score > b->score || (a->score == b->score && a->row > b->row);
}

static void
sift_down(struct heap *h)
{
	for (size_t i = 0, c; (c = 2 * i + 1) < h->n; i = c) {
		struct near t = h->v[i];

		c += c + 1 < h->n && is_worse(&h->v[c + 1], &h->v[c]);
		if (!is_worse(&h->v[c], &t))
			return;
		h->v[i] = h->v[c];
		h->v[c] = t;
	}
}

static void
offer_neighbour(struct heap *h, size_t k, struct near x)
{
	size_t i = h->n;

	if (h->n == k) {
		if (is_worse(&x, &h->v[0]))
			return;
		h->v[0] = x;
		sift_down(h);
		return;
	}
	h->v[h->n++] = x;
	for (; i && is_worse(&h->v[i], &h->v[(i - 1) / 2]); i = (i - 1) / 2) {
		struct near t = h->v[i];

		h->v[i] = h->v[(i - 1) / 2];
		h->v[(i - 1) / 2] = t;
	}
}

static void
compare_row_with_queries(struct searcher *x, const float *row, uint64_t number)
{
	const struct search *s = x->s;
	double norm = compute_length(row, s->dims);
	float dot[4];

	for (size_t q = 0; q < s->nq; q++) {
		struct heap *h = &x->heaps[q];
		const float *v = s->q + q * s->stride;

		if (q % 4 == 0)
			compute_dots(row, v, s->stride, dot);
		if (h->n < s->k ||
		    compute_lower_bound(s, dot[q % 4], norm, s->norm[q]) <=
			h->v->score)
			offer_neighbour(h, s->k,
			    (struct near){
				compute_score(s, v, row), (uint32_t)number});
	}
}

static uint64_t
take_rows(struct search *s, uint64_t *first)
{
	uint64_t left;

	pthread_mutex_lock(&s->lock);
	left = s->base->rows - s->next;
	left = left < BLOCK ? left : BLOCK;
	*first = s->next;
	s->next += left;
	pthread_mutex_unlock(&s->lock);
	return left;
}

static void *
search_rows(void *arg)
{
	struct searcher *x = arg;
	struct search *s = x->s;
	size_t field = recipe_find_vector(s->base);
	uint64_t salt = produce_compute_salt(s->p->seed, s->base->name), first,
		 rows;
	float *row = make_matrix(1, s->stride);

	while ((rows = take_rows(s, &first)) > 0) {
		for (uint64_t i = first; i < first + rows; i++) {
			vectors_make_row(
			    s->p->vectors, salt, i + 1, field, s->dims, row);
			compare_row_with_queries(x, row, i);
		}
		pthread_mutex_lock(&s->lock);
		s->done += rows;
		meter_draw(s->p->meter, (double)s->done,
		    (double)(s->done * s->dims * sizeof(float)));
		pthread_mutex_unlock(&s->lock);
	}
	free(row);
	return NULL;
}

static int
compare_by_score(const void *a, const void *b)
{
	return is_worse(a, b) ? 1 : is_worse(b, a) ? -1 : 0;
}

/* Sets to[0..k-1] to the nearest rows that all threads found, nearest first. */
static void
merge_heaps(struct searcher *all, size_t threads, size_t q, struct near *to)
{
	struct search *s = all->s;
	struct heap h = {.v = to};

	for (size_t t = 0; t < threads; t++)
		for (size_t i = 0; i < all[t].heaps[q].n; i++)
			offer_neighbour(&h, s->k, all[t].heaps[q].v[i]);
	qsort(to, h.n, sizeof *to, compare_by_score);
}

static int
write_ivecs(struct searcher *all, size_t threads, struct checksum *sum)
{
	const struct search *s = all->s;
	struct near *best = mem_array(s->k + 1, sizeof *best);
	struct str out = {0};
	int rc = 0;

	for (size_t q = 0; q < s->nq && rc == 0; q++) {
		merge_heaps(all, threads, q, best);
		str_clear(&out);
		encode_uint32(&out, (uint32_t)s->k);
		for (size_t i = 0; i < s->k; i++)
			encode_uint32(&out, best[i].row);
		rc = checksum_write(sum, &out);
	}
	str_free(&out);
	free(best);
	return rc;
}

static void
make_queries(struct search *s, const struct recipe_file *queries)
{
	uint64_t salt = produce_compute_salt(s->p->seed, queries->name);
	size_t field = recipe_find_vector(queries);

	s->nq = (size_t)queries->rows;
	s->q = make_matrix(s->nq + 3, s->stride); /* see compute_dots */
	s->norm = mem_array(s->nq + 1, sizeof *s->norm);
	for (size_t q = 0; q < s->nq; q++) {
		float *v = s->q + q * s->stride;

		vectors_make_row(s->p->vectors, salt, q + 1, field, s->dims, v);
		s->norm[q] = compute_length(v, s->dims);
	}
}

static void
init_searcher(struct searcher *x, struct search *s)
{
	x->s = s;
	x->heaps = mem_array(s->nq + 1, sizeof *x->heaps);
	x->near = mem_array(s->nq + 1, s->k * sizeof *x->near);
	for (size_t q = 0; q < s->nq; q++)
		x->heaps[q].v = x->near + q * s->k;
}

int
neighbours_write_file(const struct produce *p, const struct recipe_file *base,
    const struct recipe_file *queries, struct checksum *sum)
{
	struct search s = {
	    .p = p, .base = base, .metric = p->file->metric, .k = p->file->k};
	struct searcher *all = mem_array(p->threads, sizeof *all);
	size_t started = 0;
	int rc;

	s.dims = base->fields[recipe_find_vector(base)].dims;
	s.stride = (s.dims + LANES - 1) / LANES * LANES;
	pthread_mutex_init(&s.lock, NULL);
	make_queries(&s, queries);
	for (size_t i = 0; i < p->threads; i++)
		init_searcher(&all[i], &s);
	for (; started + 1 < p->threads; started++)
		if (pthread_create(&all[started + 1].thread, NULL, search_rows,
			&all[started + 1]))
			break; /* continue with fewer threads */
	search_rows(all);
	for (size_t i = 1; i <= started; i++)
		pthread_join(all[i].thread, NULL);
	rc = write_ivecs(all, p->threads, sum);
	for (size_t i = 0; i < p->threads; i++) {
		free(all[i].heaps);
		free(all[i].near);
	}
	pthread_mutex_destroy(&s.lock);
	free(s.q);
	free(s.norm);
	free(all);
	return rc;
}
