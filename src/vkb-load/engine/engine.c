#include "command.h"
#include "mem.h"
#include "named.h"
#include "run.h"
#include "seed.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

const char *const *
engine_commands(void)
{
	return command_names();
}

bool
engine_reads(const char *command)
{
	return command_reads(command);
}

/* Returns an earlier stream with the same template and rows, or SIZE_MAX. */
static size_t
find_same_template(const struct engine_work *works, size_t i)
{
	const struct engine_work *w = &works[i], *v;

	for (size_t j = 0; j < i && w->text; j++) {
		v = &works[j];
		if (v->text && strcmp(v->text, w->text) == 0 &&
		    v->rows == w->rows && v->data_size == w->data_size)
			return j;
	}
	return SIZE_MAX;
}

/* Sets the sources of a stream, perhaps to those of an earlier one. */
static int
open_sources(struct run_options *o, size_t i, const struct engine_target *t,
    const struct engine_work *works)
{
	const struct engine_work *w = &works[i];
	size_t first = find_same_template(works, i);

	if (run_check(t, w) < 0)
		return -1;
	o[i].only_node = SIZE_MAX;
	o[i].space = run_space(w);
	o[i].source =
	    first != SIZE_MAX ? o[first].source : cmdsource_open(t, w);
	if (o[i].source && seed_refills(t, w))
		o[i].refill = named_seed(t, w, seed_many(w));
	return o[i].source ? 0 : -1;
}

static void
free_source(struct cmdsource *s)
{
	if (s)
		s->ops->free(s);
}

/* Each row of a dataset, and each number in sequence, goes to one stream. */
static void
share_counters(struct run_options *o, const struct engine_work *works, size_t n,
    _Atomic uint64_t *counters)
{
	size_t i, first;

	for (i = 0; i < n; i++) {
		for (first = 0; works[first].rows != works[i].rows; first++)
			continue;
		o[i].taken[CMDSOURCE_SEQ] = &counters[n];
		o[i].taken[CMDSOURCE_ROWS] = &counters[first];
	}
}

int
engine_run(const struct engine_target *t, const struct engine_work *works,
    size_t n, const volatile int *stop, engine_progress_fn *progress, void *arg,
    const struct engine_meter *meter, struct engine_result *results)
{
	struct run_options *o = mem_array(n, sizeof *o);
	_Atomic uint64_t *counters = mem_array(n + 1, sizeof *counters);
	size_t i;
	int rc = 0;

	memset(results, 0, n * sizeof *results);
	for (i = 0; i < n && rc == 0; i++)
		rc = open_sources(o, i, t, works);
	if (rc == 0) {
		share_counters(o, works, n, counters);
		rc = streams_run(
		    t, works, o, n, stop, progress, arg, meter, results);
	}
	for (i = 0; i < n; i++) {
		if (find_same_template(works, i) == SIZE_MAX)
			free_source(o[i].source);
		free_source(o[i].refill);
	}
	free(counters);
	free(o);
	return rc;
}
