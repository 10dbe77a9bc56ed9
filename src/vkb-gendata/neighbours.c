#include "neighbours.h"
#include "encode.h"
#include "mem.h"
#include "meter.h"
#include "produce.h"
#include "recipe.h"
#include "sidecar.h"
#include "str.h"
#include "content.h"

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
	const struct produce *p;
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
	left = left < BLOCK ? left : BLOCK;
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
	uint64_t salt = produce_compute_salt(s->p->seed, s->base->name), first,
		 rows;
	float *row = make_matrix(1, s->stride);
	struct neighbours *nearest = make_nearest(s);

	while ((rows = take_rows(s, &first)) > 0) {
		for (uint64_t i = first; i < first + rows; i++) {
			content_make_vector(salt, i + 1, field, s->dims, row);
			compare_row_with_queries(s, nearest, row, i);
		}
		pthread_mutex_lock(&s->lock);
		s->done += rows;
		meter_draw(s->p->meter, (double)s->done,
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
		rc = sidecar_append(to, &out);
	}
	str_free(&out);
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

		content_make_vector(salt, q + 1, field, s->dims, v);
		s->norm[q] = compute_length(v, s->dims);
	}
}

int
neighbours_write_file(const struct produce *p, const struct recipe_file *base,
    const struct recipe_file *queries, struct sidecar_content *to)
{
	struct search s = {
	    .p = p, .base = base, .metric = p->file->metric, .k = p->file->k};
	int rc;

	s.dims = base->fields[recipe_find_vector(base)].dims;
	s.stride = (s.dims + LANES - 1) / LANES * LANES;
	pthread_mutex_init(&s.lock, NULL);
	make_queries(&s, queries);
	s.nearest = make_nearest(&s);
	produce_run_threads(p->threads, search_rows, &s);
	rc = write_ivecs(&s, to);
	pthread_mutex_destroy(&s.lock);
	free(s.nearest->v);
	free(s.nearest);
	free(s.q);
	free(s.norm);
	return rc;
}
