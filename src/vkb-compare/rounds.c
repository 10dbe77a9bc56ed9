#include "rounds.h"
#include "mem.h"
#include "power.h"

#include <stdlib.h>
#include <string.h>

static int
compare_by_round(const void *a, const void *b)
{
	const struct round *x = *(const struct round *const *)a;
	const struct round *y = *(const struct round *const *)b;
	int c = strcmp(x->session, y->session);

	c = c ? c : (x->block > y->block) - (x->block < y->block);
	return c ? c : (x > y) - (x < y);
}

static const struct round **
sort_rounds(const struct sample *s, size_t *n)
{
	const struct round **at = mem_array(s->n + 1, sizeof *at);

	*n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->rounds[i].session)
			at[(*n)++] = &s->rounds[i];
	if (*n)
		qsort(at, *n, sizeof *at, compare_by_round);
	return at;
}

bool
rounds_pair(struct sample s[2], double level, size_t *dropped)
{
	size_t n[2], i = 0, k = 0, got = 0, least;
	const struct round **at[2] = {
	    sort_rounds(&s[0], &n[0]), sort_rounds(&s[1], &n[1])};
	struct sample to[2] = {{0}, {0}};

	for (size_t j = 0; j < 2; j++) {
		to[j].v = mem_array(n[j] + 1, sizeof(double));
		to[j].rounds = mem_array(n[j] + 1, sizeof(struct round));
	}
	while (i < n[0] && k < n[1]) {
		const struct round *x = at[0][i], *y = at[1][k];
		int c = strcmp(x->session, y->session);

		c = c ? c : (x->block > y->block) - (x->block < y->block);
		if (c == 0) {
			to[0].v[got] = s[0].v[x - s[0].rounds];
			to[1].v[got] = s[1].v[y - s[1].rounds];
			to[0].rounds[got] = *x;
			to[1].rounds[got++] = *y;
		}
		i += c <= 0;
		k += c >= 0;
	}
	free(at[0]);
	free(at[1]);
	least = s[0].n < s[1].n ? s[0].n : s[1].n;
	if (got < power_least(true, 1, level) || 2 * got < least) {
		sample_free(&to[0]);
		sample_free(&to[1]);
		return false;
	}
	*dropped = s[0].n + s[1].n - 2 * got;
	for (size_t j = 0; j < 2; j++) {
		to[j].n = got;
		sample_free(&s[j]);
		s[j] = to[j];
	}
	return true;
}

struct serial
rounds_alike(const struct sample s[2])
{
	double *v[2];
	size_t n[2];
	struct serial r;

	for (size_t j = 0; j < 2; j++) {
		const struct round **at = sort_rounds(&s[j], &n[j]);

		v[j] = mem_array(n[j] + 1, sizeof *v[j]);
		for (size_t i = 0; i < n[j]; i++)
			v[j][i] = s[j].v[at[i] - s[j].rounds];
		free(at);
	}
	if (n[0] == s[0].n && n[1] == s[1].n)
		r = serial_of(v[0], n[0], v[1], n[1]);
	else
		r = serial_none(s[0].n, s[1].n);
	free(v[0]);
	free(v[1]);
	return r;
}
