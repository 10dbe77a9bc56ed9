#include "memory.h"
#include "cgroup.h"
#include "engines.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "roles.h"
#include "str.h"
#include "sysfile.h"
#include "target.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/engine/demand.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTION 36864 /* bytes of its buffers for a query and a reply */
#define BATCHES 1048576  /* bytes in flight while the server is filled */

/* Returns the bytes that servers which have 'used' so far can still get. */
static double
get_available(double used)
{
	double kb = sysfile_value_num("", "/proc/meminfo", "MemAvailable");
	struct cgroup group;
	double left;

	cgroup_read(&group, "");
	left = group.memory_bytes - used;
	cgroup_free(&group);
	return fmin(kb * 1024, left); /* the other one if one is NAN */
}

static char *
explain_figures(const char *what, double need, double available)
{
	char a[NUM_BUF], b[NUM_BUF];

	if (!(need > available))
		return NULL;
	return mem_printf("%s %sB of memory, and %sB are available", what,
	    num_human(a, need), num_human(b, available));
}

/* Does a text write values under many keys? */
static bool
is_large(const char *text)
{
	return text && strstr(text, "__data__") && strstr(text, "__rand");
}

/* Returns how many keys with values of their own a load has, at most. */
static double
count_values(const struct bench_load *l)
{
	struct command_style style = {.same = ""};
	double n = (double)l->work.keyspacelen;
	unsigned many = 1;
	char *text, *seed = NULL;

	if (l->mix) /* it may write or fill in all */
		return n;
	if (!command_known(l->command))
		text = mem_str(l->command);
	else
		text = command_text(l->command, &style);
	if (command_known(l->command) && command_reads(l->command))
		seed = command_seed_text(l->command, &many, &style);
	if (!is_large(seed))
		n = !is_large(text)        ? 0
		    : l->work.requests > 0 ? fmin(n, (double)l->work.requests)
					   : n;
	free(text);
	free(seed);
	return n;
}

char *
memory_explain_case(const struct bench_case *cas, size_t n)
{
	double bytes =
	    count_values(&cas->load) * (double)cas->load.work.data_size;
	char *what = mem_printf("the values of %zu servers take", n), *why;

	why = explain_figures(what, bytes * (double)n, get_available(0));
	free(what);
	return why;
}

char *
memory_explain_requests(const struct engine_work *w, size_t nodes)
{
	double buffers = (double)w->clients * (double)nodes + w->threads;

	return explain_figures("the values of its requests take",
	    buffers * (double)valuespec_longest(&w->values), get_available(0));
}

static double
get_used(const struct engine_job *job)
{
	struct target_memory m;

	return target_read_memory(job->target, &m) < 0 ? NAN : m.used;
}

char *
memory_explain_servers(const struct engine_job *jobs, size_t n)
{
	double first = get_used(&jobs[0]), used = first, need = 0, own;
	char *what, *why;

	for (size_t i = 1; i < n; i++) {
		own = get_used(&jobs[i]);
		used += own;
		need += fmax(0, first - own);
	}
	what =
	    mem_printf("the servers of %zu further builds need another", n - 1);
	why = explain_figures(what, need, get_available(used));
	free(what);
	return why;
}

/* Adds a command of a work. */
static void
add_command(struct demand *d, const struct engine_work *w, const char *command,
    const struct target *t, struct client *c)
{
	if (command_known(command))
		demand_add_test(d, &t->e, w, command);
	else
		demand_add_text(d, command,
		    !control_text_only_reads(c, control_ms(&t->e, 0), command));
}

/* Adds the commands that are sent before the load. */
static void
add_preparation(struct demand *d, const struct bench_case *cas,
    const struct engine_work *w, const struct target *t, struct client *c)
{
	struct demand one = *d; /* a command is sent once, or for each key */
	struct engine_work fill = *w;
	const char *with = cas->populate_with;
	const struct json *j = json_first(cas->setup_commands);
	char *name = with ? str_upper(with) : NULL;

	one.flight = 0;
	one.requests = one.keys;
	fill.requests = 0;
	if (with)
		add_command(
		    &one, &fill, command_known(name) ? name : with, t, c);
	one.requests = 1;
	for (; j; j = json_next(j))
		demand_add_text(&one, json_str(j), true);
	free(name);
	d->bytes = one.bytes;
	d->elements = one.elements;
	d->largest = one.largest;
}

/* Returns what a work takes, and its connections. */
static double
measure_work(const struct bench_case *cas, const struct engine_work *w,
    bool first, const struct target *t, struct client *c, double *elements)
{
	double connections = (double)w->clients * (double)t->e.nnodes;
	struct demand d = {.keys = fmax(1, (double)w->keyspacelen),
	    .size = (double)w->data_size,
	    .requests = w->requests > 0 ? (double)w->requests : INFINITY,
	    .flight = connections * (double)w->pipeline};

	if (first)
		add_preparation(&d, cas, w, t, c);
	for (size_t k = 0; k < engine_count_commands(w) && !w->replay; k++)
		add_command(&d, w, engine_command(w, k), t, c);
	*elements += d.elements;
	return demand_bytes(&d) + connections * CONNECTION + BATCHES;
}

double
memory_need(const struct bench_case *cas, const struct target *t,
    struct client *c, double *elements)
{
	double bytes = (double)cas->load.idle_clients * CONNECTION, some;
	struct roles roles;

	*elements = 0;
	roles_make(&roles, cas, 0, 0);
	for (size_t i = 0; i < roles.nworks; i++)
		bytes += measure_work(cas, &roles.works[i], !i, t, c, elements);
	roles_free(&roles);
	for (size_t i = 0; i < cas->nbefore; i++) {
		bytes += memory_need(&cas->before[i], t, c, &some);
		*elements += some;
	}
	return bytes;
}
