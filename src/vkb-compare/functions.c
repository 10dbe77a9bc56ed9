#include "functions.h"
#include "callgraph.h"
#include "causes.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMED 3      /* causes, or system calls, that are named */
#define ROUNDED 1e-9 /* system calls in each request: below, it is rounding */
#define EXPLAINED .9 /* of the sum of all, by those that are named: enough */
#define FOLDED .05   /* of the change: what is left then is not named */
#define SMALL .02    /* of it; smaller ones are not named */
#define MOST .75     /* of the change, by causes that cancel each other */
#define CANCEL 1.5   /* of what functions themselves change, by causes */

struct functions {
	struct intern *keys;
	struct callgraphs *v; /* by the id of the key: one graph, or none */
	size_t cap;
};

struct functions *
functions_new(void)
{
	struct functions *f = mem_new(sizeof *f);

	f->keys = intern_new();
	return f;
}

void
functions_free(struct functions *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < intern_count(f->keys); i++)
		callgraph_free(&f->v[i]);
	free(f->v);
	intern_free(f->keys);
	free(f);
}

static void
write_key(struct str *s, const struct json *config, const struct json *subject)
{
	json_canonical(s, config);
	str_addc(s, '\n');
	json_canonical(s, subject);
}

const struct callgraph *
functions_find(const struct functions *f, const struct json *config,
    const struct json *subject)
{
	struct str key = {0};
	size_t n = intern_count(f->keys), id;

	if (!n)
		return NULL;
	write_key(&key, config, subject);
	id = intern_find(f->keys, key.s, key.len);
	str_free(&key);
	return id < n && f->v[id].n ? f->v[id].v : NULL;
}

int
functions_add(
    struct functions *f, const struct json *profile, const char *where)
{
	size_t had = intern_count(f->keys), id;
	struct str key = {0};

	if (!callgraph_is_counted(profile))
		return 0;
	write_key(
	    &key, json_get(profile, "config"), json_get(profile, "subject"));
	id = intern_id(f->keys, key.s);
	str_free(&key);
	if (id == had) {
		f->v = mem_grow(f->v, id, &f->cap, sizeof *f->v);
		f->v[id] = (struct callgraphs){0};
	}
	return f->v[id].n ? 0
			  : callgraph_read_profile(&f->v[id], profile, where,
				&(struct callgraph_opts){0});
}

/* "+155 in setCommand", "+252 as incrDecrCommand calls lookupKey 0.49 times
 * instead of 0" */
static void
write_cause(struct str *s, const struct causes *c, const struct cause *v)
{
	const struct cause_function *f = c->functions;
	size_t in = v->from == CAUSES_NONE ? v->to : v->from;

	str_printf(s, "%s%c", s->len ? ", " : "", v->change < 0 ? '-' : '+');
	num_write_count(s, fabs(v->change));
	if (v->from == CAUSES_NONE || v->to == CAUSES_NONE) {
		str_printf(s, " in %s", f[in].name);
		return;
	}
	str_printf(s, " as %s calls %s ", f[in].name, f[v->to].name);
	num_write_count(s, v->times[1]);
	str_add(
	    s, v->times[1] == 1 ? " time instead of " : " times instead of ");
	num_write_count(s, v->times[0]);
}

static double
sum_causes(const struct causes *c)
{
	double all = 0;

	for (size_t i = 0; i < c->n; i++)
		all += fabs(c->v[i].change);
	return all;
}

/* Do causes cancel each other, since functions were renamed or compiled into
 * others, or have other callers now? */
static bool
do_cancel(const struct causes *c)
{
	double selves = 0;

	for (size_t i = 0; i < c->nfunctions; i++)
		selves +=
		    fabs(c->functions[i].self[1] - c->functions[i].self[0]);
	return sum_causes(c) > CANCEL * selves;
}

/* Of causes that cancel each other keeps those that lead to the change, largest
 * first, if they are most of it. Else says what each function itself executes.
 */
static void
choose_causes(struct causes *c)
{
	double change = c->total[1] - c->total[0], left = change;
	size_t kept = 0;

	if (!do_cancel(c))
		return;
	for (size_t i = 0; i < c->n && kept < NAMED; i++) {
		double by = c->v[i].change;

		if (fabs(left - by) > fabs(left) - fabs(by) / 2)
			continue;
		left -= by;
		c->v[kept++] = c->v[i];
	}
	if (fabs(left) > (1 - MOST) * fabs(change))
		causes_take_selves(c);
	else
		c->n = kept;
}

/* Writes the largest causes that have names. Returns whether there is one. */
static bool
write_causes(struct str *s, const struct causes *c)
{
	double change = c->total[1] - c->total[0], rest = change;
	double all = sum_causes(c), told = 0;
	size_t named = 0;

	for (size_t i = 0; i < c->n && named < NAMED &&
	     told < EXPLAINED * all && fabs(rest) > FOLDED * fabs(change);
	     i++) {
		const struct cause *v = &c->v[i];
		size_t in = v->from == CAUSES_NONE ? v->to : v->from;

		if (!(fabs(v->change) > SMALL * all) ||
		    c->functions[in].unnamed)
			continue;
		write_cause(s, c, v);
		told += fabs(v->change);
		rest -= v->change;
		named++;
	}
	if (named && fabs(rest) > SMALL * all)
		str_printf(s, ", %c", rest < 0 ? '-' : '+');
	if (named && fabs(rest) > SMALL * all) {
		num_write_count(s, fabs(rest));
		str_add(s, " in others");
	}
	return named > 0;
}

char *
functions_explain(const struct callgraph *a, const struct callgraph *b)
{
	struct causes *c;
	struct str s = {0};
	bool any;

	if (!a || !b)
		return NULL;
	c = causes_find(a, b);
	choose_causes(c);
	any = write_causes(&s, c);
	causes_free(c);
	if (!any)
		str_free(&s);
	return any ? str_take(&s) : NULL;
}

/* System calls of one function of libc, in each request. */
struct syscall {
	const char *name;
	double n[2];
};

static int
compare_syscalls(const void *a, const void *b)
{
	const struct syscall *x = a, *y = b;
	double d = fabs(y->n[1] - y->n[0]) - fabs(x->n[1] - x->n[0]);

	return d > 0 ? 1 : d < 0 ? -1 : strcmp(x->name, y->name);
}

char *
functions_list_syscalls(const struct callgraph *a, const struct callgraph *b)
{
	const struct callgraph *sides[] = {a, b};
	struct intern *names = intern_new();
	struct syscall *v = NULL;
	size_t n = 0, cap = 0;
	struct str s = {0};

	for (int k = 0; k < 2 && sides[0] && sides[1]; k++)
		for (size_t i = 0; i < sides[k]->nfunctions; i++) {
			const struct callgraph_function *f =
			    &sides[k]->functions[i];
			size_t id = intern_id(names, f->name);

			if (id == n) {
				v = mem_grow(v, n, &cap, sizeof *v);
				v[n++] = (struct syscall){f->name, {0}};
			}
			v[id].n[k] += f->syscalls;
		}
	if (n)
		qsort(v, n, sizeof *v, compare_syscalls);
	for (size_t i = 0;
	     i < n && i < NAMED && fabs(v[i].n[1] - v[i].n[0]) > ROUNDED; i++) {
		str_printf(&s, "%s%s ", i ? ", " : "", v[i].name);
		num_write_count(&s, v[i].n[0]);
		str_add(&s, " -> ");
		num_write_count(&s, v[i].n[1]);
	}
	free(v);
	intern_free(names);
	return s.len ? str_take(&s) : NULL;
}
