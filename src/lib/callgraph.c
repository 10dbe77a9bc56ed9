#include "callgraph.h"
#include "callgrind.h"
#include "casename.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct callgraph *
add_graph(struct callgraphs *all)
{
	struct callgraph *g;

	g = MEM_ADD(all->v, all->n, all->cap);
	*g = (struct callgraph){.names = intern_new()};
	return g;
}

const struct callgraph *
callgraph_find(const struct callgraphs *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->v[i].name, name) == 0)
			return &all->v[i];
	return NULL;
}

static void
drop_last(struct callgraphs *all)
{
	struct callgraph *g = &all->v[--all->n];

	free(g->name);
	free(g->unit);
	json_free(g->config);
	free(g->functions);
	free(g->edges);
	intern_free(g->names);
}

void
callgraph_free(struct callgraphs *all)
{
	while (all->n)
		drop_last(all);
	free(all->v);
	*all = (struct callgraphs){0};
}

/* Returns the length of a name without what callgrind appends, its callers
 * ("f'main") or the depth of recursion ("f'2"), and without what a compiler
 * appends to a copy or a part of a function ("f.constprop.0"). */
static size_t
measure_name(const char *name)
{
	static const char *const ends[] = {
	    "'", ".constprop.", ".isra.", ".part.", ".cold", ".lto_priv."};
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const char *end = strstr(name, ends[i]);

		if (end && end > name && (size_t)(end - name) < n)
			n = (size_t)(end - name);
	}
	return n;
}

/* What has no symbol is named by its object, or by its address. A program is
 * called so, as the same one may lie under two names. */
static void
name_function(struct callgraph *g, struct callgraph_function *f,
    const char *name, const char *object, const struct callgraph_opts *o)
{
	const char *base = strrchr(object, '/');
	size_t n = measure_name(name);
	char *s;

	base = base ? base + 1 : object;
	f->unnamed = str_starts(name, "0x") || strcmp(name, "???") == 0;
	if (!f->unnamed)
		s = mem_strn(name, n);
	else if (o->addrs)
		s = mem_printf("[%s <%.*s>]", base, (int)n, name);
	else
		s = mem_printf(
		    "[%s]", *base && !strstr(base, ".so") ? "program" : base);
	f->name = intern_text(g->names, intern_id(g->names, s));
	free(s);
}

/* Drops the last graph if there is one of this name. 0 or -1, reported. */
static int
check_last(struct callgraphs *all, const char *where)
{
	const struct callgraph *g = &all->v[all->n - 1];

	if (callgraph_find(all, g->name) == g)
		return 0;
	if (!*g->name)
		err_say("%s: a second profile without a case; join files of "
			"callgrind with cat",
		    where);
	else
		err_say("%s: a second profile of the case '%s'; give that of "
			"one build and one session",
		    where, g->name);
	drop_last(all);
	return -1;
}

/* --- callgrind's files */

bool
callgraph_is_callgrind(const char *line, size_t n)
{
	static const char *const begin[] = {
	    "# callgrind format", "version: ", "creator: callgrind"};

	for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
		if (n >= strlen(begin[i]) && str_starts(line, begin[i]))
			return true;
	return false;
}

static int
find_event(const struct callgrind *from, const char *event, const char *name)
{
	struct str s = {0};
	int rc;

	for (size_t i = 0; i < from->nevents; i++)
		if (!event || strcmp(from->events[i], event) == 0)
			return (int)i;
	for (size_t i = 0; i < from->nevents; i++)
		str_printf(&s, " %s", from->events[i]);
	rc = err_fail("%s: it has no event '%s'; its events are:%s", name,
	    event, s.s ? s.s : "");
	str_free(&s);
	return rc;
}

static void
copy_counts(struct callgraph *g, const struct callgrind *from, size_t event,
    const struct callgraph_opts *o)
{
	const struct callgrind_function *f;
	struct callgraph_function *to;
	const struct callgrind_call *c;

	g->name = mem_str("");
	g->unit = mem_str(strcmp(from->events[event], "Ir") == 0
		? "instructions"
		: from->events[event]);
	g->total = (double)from->total[event];
	g->nfunctions = from->nfunctions;
	g->functions = mem_array(g->nfunctions, sizeof *g->functions);
	for (size_t i = 0; i < g->nfunctions; i++) {
		f = &from->functions[i];
		to = &g->functions[i];
		to->self = (double)f->self[event];
		to->calls = (double)f->calls;
		name_function(g, to, f->name, f->object, o);
	}
	g->nedges = from->ncalls;
	g->edges = mem_array(g->nedges, sizeof *g->edges);
	for (size_t i = 0; i < g->nedges; i++) {
		c = &from->calls[i];
		g->edges[i] = (struct callgraph_edge){.from = c->from,
		    .to = c->to,
		    .calls = (double)c->count,
		    .cost = (double)c->cost[event]};
	}
}

int
callgraph_read_callgrind(struct callgraphs *all, FILE *in, const char *name,
    size_t line, const struct callgraph_opts *o)
{
	struct callgrind from;
	int rc = callgrind_read(&from, in, name, line), event = 0;

	if (rc == 0)
		event = find_event(&from, o->event, name);
	if (rc == 0 && event >= 0) {
		copy_counts(add_graph(all), &from, (size_t)event, o);
		rc = check_last(all, name);
	}
	callgrind_free(&from);
	return event < 0 ? -1 : rc;
}

/* --- profile records */

/* Reads a number from 0 on. */
static bool
read_count(const struct json *j, const char *key, double *v)
{
	*v = json_get_num(j, key, -1);
	return *v >= 0;
}

static bool
read_place(const struct json *j, const char *key, size_t n, size_t *v)
{
	double x = json_get_num(j, key, -1);

	*v = x >= 0 && x < (double)n ? (size_t)x : n;
	return *v < n && (double)*v == x;
}

static bool
read_functions(struct callgraph *g, const struct json *list,
    const struct callgraph_opts *o)
{
	g->functions = mem_array(json_len(list), sizeof *g->functions);
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		struct callgraph_function *f = &g->functions[g->nfunctions++];
		const char *name = json_get_str(j, "name");
		const char *object = json_get_str(j, "object");

		if (!name || !object || !read_count(j, "self", &f->self) ||
		    !read_count(j, "calls", &f->calls))
			return false;
		f->syscalls = fmax(0, json_get_num(j, "syscalls", 0));
		name_function(g, f, name, object, o);
		g->total += f->self;
	}
	return g->nfunctions > 0;
}

static bool
read_edges(struct callgraph *g, const struct json *list)
{
	g->edges = mem_array(json_len(list), sizeof *g->edges);
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		struct callgraph_edge *e = &g->edges[g->nedges++];

		if (!read_place(j, "from", g->nfunctions, &e->from) ||
		    !read_place(j, "to", g->nfunctions, &e->to) ||
		    !read_count(j, "calls", &e->calls) ||
		    !read_count(j, "inclusive", &e->cost))
			return false;
	}
	return true;
}

bool
callgraph_is_counted(const struct json *rec)
{
	const char *mode = json_get_str(rec, "mode");

	return record_is(rec, "profile") && mode && strcmp(mode, "count") == 0;
}

int
callgraph_read_profile(struct callgraphs *all, const struct json *rec,
    const char *where, const struct callgraph_opts *o)
{
	const char *name = json_get_str(rec, "case"), *wrong = NULL;
	struct callgraph *g;

	if (!json_get(rec, "edges"))
		return err_fail("%s: the profile does not say which function "
				"called which: count again with this "
				"vkb-load",
		    where);
	g = add_graph(all);
	g->name = mem_str(name ? name : "");
	g->unit = mem_str("instructions per request");
	g->config = json_dup(json_get(rec, "config"));
	g->per_request = true;
	if (!read_functions(g, json_get(rec, "functions"), o))
		wrong = "'functions' is not a list of functions with name, "
			"object, self and calls";
	else if (!read_edges(g, json_get(rec, "edges")))
		wrong = "'edges' is not a list of calls with from, to, calls "
			"and inclusive";
	if (wrong) {
		drop_last(all);
		return err_fail("%s: %s", where, wrong);
	}
	return check_last(all, where);
}

/* Returns the name of the profile's case as a frame of stacks. Caller frees. */
static char *
format_case(const struct casename *names, const struct callgraph *g)
{
	char *name = g->config ? casename_of(names, g->config) : NULL;

	if (!name)
		return mem_str(g->name);
	for (char *c = name; *c; c++)
		if (*c == ';') /* separates frames */
			*c = ':';
	return name;
}

/* Gives the profiles of a side their names, unless two would have the same. */
static void
name_side(struct callgraphs *side, const struct casename *names)
{
	struct intern *given = intern_new();
	char **texts = mem_array(side->n + 1, sizeof *texts);
	bool differ = true;

	for (size_t i = 0; i < side->n; i++) {
		texts[i] = format_case(names, &side->v[i]);
		differ = differ && intern_id(given, texts[i]) == i;
	}
	for (size_t i = 0; i < side->n; i++) {
		free(differ ? side->v[i].name : texts[i]);
		if (differ)
			side->v[i].name = texts[i];
	}
	free(texts);
	intern_free(given);
}

void
callgraph_name_cases(struct callgraphs sides[2])
{
	const struct json **configs =
	    mem_array(sides[0].n + sides[1].n + 1, sizeof *configs);
	struct casename *names;
	size_t n = 0;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side].n; i++)
			if (sides[side].v[i].config)
				configs[n++] = sides[side].v[i].config;
	names = casename_new(configs, n);
	name_side(&sides[0], names);
	name_side(&sides[1], names);
	casename_free(names);
	free(configs);
}
