#include "memory.h"
#include "cgroup.h"
#include "engines.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "sysfile.h"
#include "target.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
	double n = (double)l->keyspacelen;
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
		n = !is_large(text)   ? 0
		    : l->requests > 0 ? fmin(n, (double)l->requests)
				      : n;
	free(text);
	free(seed);
	return n;
}

char *
memory_explain_case(const struct bench_case *cas, size_t n)
{
	double bytes = count_values(&cas->load) * (double)cas->load.data_size;
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
	struct json *memory = json_object();
	double used = NAN;

	if (target_memory(job->target, memory) == 0)
		used = json_get_num(memory, "used_memory_bytes", NAN);
	json_free(memory);
	return used;
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
