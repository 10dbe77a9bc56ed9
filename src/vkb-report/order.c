#include "order.h"
#include "casename.h"
#include "caseset.h"
#include "mem.h"
#include "model.h"
#include "intern.h"
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double
change_size(const struct delta *d)
{
	double size = fabs(log(d->ratio));

	return isnan(size) ? 0 : size;
}

/* Orders gates first, then by verdict, then by size of the change. */
static int
compare_by_weight(const struct delta *x, const struct delta *y)
{
	double a = change_size(x), b = change_size(y);
	bool p = x->gate && !x->waived, q = y->gate && !y->waived;

	if (p != q)
		return p ? -1 : 1;
	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	return a > b ? -1 : a < b;
}

static int
compare_texts(const char *s, const char *t)
{
	int c = strverscmp(s, t); /* so that 64 precedes 4096 */

	return c ? c : strcmp(s, t);
}

static int
compare_places(const struct subject *x, const struct subject *y)
{
	return (x->place > y->place) - (x->place < y->place);
}

static int
compare_deltas(const void *a, const void *b)
{
	const struct delta *x = a, *y = b;
	int c = compare_by_weight(x, y);

	c = c ? c : strcmp(x->metric, y->metric);
	c = c ? c : compare_texts(x->kase->name, y->kase->name);
	return c ? c : compare_places(x->contender, y->contender);
}

static int
compare_cases(const void *a, const void *b)
{
	const struct kase *x = *(struct kase *const *)a;
	const struct kase *y = *(struct kase *const *)b;
	int c = 0;

	if (!x->ndeltas != !y->ndeltas)
		return x->ndeltas ? -1 : 1;
	if (x->ndeltas)
		c = compare_by_weight(x->deltas[0], y->deltas[0]);
	return c ? c : compare_texts(x->name, y->name);
}

static int
compare_subjects(const void *a, const void *b)
{
	const struct subject *x = *(struct subject *const *)a;
	const struct subject *y = *(struct subject *const *)b;
	const char *s = x->time, *t = y->time;

	if (x->baseline != y->baseline)
		return x->baseline ? -1 : 1;
	if (s && t && strcmp(s, t) != 0)
		return strcmp(s, t);
	if (!s != !t)
		return s ? -1 : 1;
	return compare_texts(x->key, y->key);
}

static int
compare_cells(const void *a, const void *b)
{
	const struct cell *x = *(struct cell *const *)a;
	const struct cell *y = *(struct cell *const *)b;

	return compare_places(x->subject, y->subject);
}

/* With many subjects, only the first and the last ones get a colour. */
static size_t
choose_look(size_t place, size_t n)
{
	size_t skip = n > MODEL_LOOKS ? n - MODEL_LOOKS : 0;

	return !place ? 0 : place > skip ? place - skip : MODEL_LOOKS;
}

/* Makes names unique: adds the commit or the side, then a number. */
static void
name_subjects(struct model *m)
{
	struct intern *seen = intern_new();

	for (size_t i = 0; i < m->nsubjects; i++) {
		struct subject *s = m->ordered[i];
		const char *commit = record_subject_commit(s->json);
		char *name = record_subject_name(s->json), *was = name;
		bool again = intern_id(seen, name) != i;

		if (again && (s->twin || (!commit && s->contender))) {
			name = mem_printf("%s (contender)", was);
			free(was);
		} else if (again && commit) {
			char *brief = record_commit_brief(commit, 8);

			name = mem_printf("%s (%s)", was, brief);
			free(brief);
			free(was);
		}
		while (intern_id(seen, name) != i) {
			was = name;
			name = mem_printf("%s (%zu)", was, i + 1);
			free(was);
		}
		s->name = name;
		s->place = i;
		s->look = choose_look(i, m->nsubjects);
	}
	intern_free(seen);
}

static void
name_cases(struct model *m)
{
	const struct json **configs = mem_array(m->ncases + 1, sizeof *configs);
	struct casename *names;

	for (size_t i = 0; i < m->ncases; i++)
		configs[i] = m->cases[i]->config;
	names = casename_new(configs, m->ncases);
	for (size_t i = 0; i < m->ncases; i++)
		m->cases[i]->name = casename_of(names, configs[i]);
	m->common = casename_common(names);
	casename_free(names);
	free(configs);
}

void
order_all(struct model *m)
{
	name_cases(m);
	m->ordered = mem_array(m->nsubjects + 1, sizeof *m->ordered);
	for (size_t i = 0; i < m->nsubjects; i++) {
		m->ordered[i] = m->subjects[i];
		m->ordered[i]->key = caseset_text(m->subject_set, i);
	}
	if (m->nsubjects)
		qsort(m->ordered, m->nsubjects, sizeof(*m->ordered),
		    compare_subjects);
	name_subjects(m);
	if (m->ndeltas)
		qsort(m->deltas, m->ndeltas, sizeof *m->deltas, compare_deltas);
	for (size_t i = 0; i < m->ndeltas; i++) {
		struct kase *k = m->deltas[i].kase;

		k->deltas = mem_grow(
		    k->deltas, k->ndeltas, &k->dcap, sizeof *k->deltas);
		k->deltas[k->ndeltas++] = &m->deltas[i];
	}
	for (size_t i = 0; i < m->ncells; i++) {
		struct kase *k = m->cells[i].kase;

		k->cells =
		    mem_grow(k->cells, k->ncells, &k->cap, sizeof *k->cells);
		k->cells[k->ncells++] = &m->cells[i];
	}
	m->order = mem_array(m->ncases + 1, sizeof *m->order);
	for (size_t i = 0; i < m->ncases; i++) {
		struct kase *k = m->order[i] = m->cases[i];

		if (k->ncells)
			qsort(k->cells, k->ncells, sizeof *k->cells,
			    compare_cells);
	}
	if (m->ncases)
		qsort(m->order, m->ncases, sizeof *m->order, compare_cases);
	for (size_t i = 0; i < m->ncases; i++)
		m->order[i]->place = i;
}
