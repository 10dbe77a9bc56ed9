#include "functions.h"
#include "cases.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "together.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAMED 3      /* functions that are named */
#define SMALL .02    /* of all changes; smaller ones are not named */
#define ROUNDED 1e-9 /* instructions in each request: below, it is rounding */

struct cost { /* instructions of a function in each request */
	size_t name;
	double self;
};

struct profile {
	struct cost *v;
	size_t n;
};

struct functions {
	struct intern *keys, *names;
	struct profile *v; /* by the id of the key */
	size_t cap;
};

struct change {
	const char *name;
	double by;
};

struct functions *
functions_new(void)
{
	struct functions *f = mem_new(sizeof *f);

	f->keys = intern_new();
	f->names = intern_new();
	return f;
}

void
functions_free(struct functions *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < intern_count(f->keys); i++)
		free(f->v[i].v);
	free(f->v);
	intern_free(f->keys);
	intern_free(f->names);
	free(f);
}

/* Returns the length of a name without what a compiler or callgrind adds to it:
 * "f.constprop.0" is a copy of f, "f'2" f called by itself. */
static size_t
measure_name(const char *name)
{
	size_t n = strcspn(name, ".'");

	return n ? n : strlen(name);
}

/* Returns the profile of a case and subject; its v is NULL if there is none. */
static struct profile *
get_profile(
    struct functions *f, const struct json *config, const struct json *subject)
{
	struct str key = {0};
	size_t had = intern_count(f->keys), id;

	json_canonical(&key, config);
	str_addc(&key, '\n');
	json_canonical(&key, subject);
	id = intern_id(f->keys, key.s);
	str_free(&key);
	if (id == had) {
		f->v = mem_grow(f->v, id, &f->cap, sizeof *f->v);
		f->v[id] = (struct profile){0};
	}
	return &f->v[id];
}

void
functions_add(struct functions *f, const struct json *profile)
{
	const struct json *list = json_get(profile, "functions");
	const char *mode = json_get_str(profile, "mode");
	struct profile *p;

	if (!mode || strcmp(mode, "count") != 0)
		return;
	p = get_profile(
	    f, json_get(profile, "config"), json_get(profile, "subject"));
	if (p->v)
		return;
	p->v = mem_array(json_len(list) + 1, sizeof *p->v);
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		const char *name = json_get_str(j, "name");

		if (name)
			p->v[p->n++] = (struct cost){
			    intern_idn(f->names, name, measure_name(name)),
			    json_get_num(j, "self", 0)};
	}
}

static int
compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double d = fabs(y->by) - fabs(x->by);

	return d > 0 ? 1 : d < 0 ? -1 : strcmp(x->name, y->name);
}

/* Adds sign * the costs to the changes, which 'names' finds by their names. */
static void
add_costs(struct change *v, struct intern *names, const struct functions *f,
    const struct profile *p, double sign)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *name = intern_text(f->names, p->v[i].name);
		struct change *c = &v[intern_id(names, name)];

		c->by += sign * p->v[i].self;
	}
}

static void
write_change(struct str *s, const char *name, double by)
{
	str_printf(s, "%s%c", s->len ? ", " : "", by < 0 ? '-' : '+');
	together_write_count(s, fabs(by));
	str_printf(s, " in %s", name);
}

char *
functions_explain(struct functions *base, const struct kase *x,
    struct functions *contender, const struct kase *y)
{
	const struct profile a = *get_profile(base, x->config, x->subject);
	const struct profile b = *get_profile(contender, y->config, y->subject);
	struct intern *names;
	struct change *v;
	struct str s = {0};
	double all = 0, rest = 0;
	size_t n, named = 0;

	if (!a.v || !b.v)
		return NULL;
	names = intern_new();
	v = mem_array(a.n + b.n + 1, sizeof *v);
	add_costs(v, names, base, &a, -1);
	add_costs(v, names, contender, &b, 1);
	n = intern_count(names);
	for (size_t i = 0; i < n; i++) {
		v[i].name = intern_text(names, i);
		if (fabs(v[i].by) < ROUNDED)
			v[i].by = 0;
		all += fabs(v[i].by);
	}
	qsort(v, n, sizeof *v, compare_changes);
	for (size_t i = 0; i < n; i++) {
		if (named < NAMED && fabs(v[i].by) > SMALL * all &&
		    !str_starts(v[i].name, "0x")) {
			write_change(&s, v[i].name, v[i].by);
			named++;
		} else
			rest += v[i].by;
	}
	if (named && fabs(rest) > SMALL * all)
		write_change(&s, "others", rest);
	free(v);
	intern_free(names);
	return named ? str_take(&s) : NULL;
}
