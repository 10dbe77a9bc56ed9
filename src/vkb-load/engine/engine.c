#include "mem.h"
#include "run.h"
#include "seed.h"
#include "str.h"
#include "streams.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

#define BEFOREHAND                                                 \
	((size_t)256 << 20) /* bytes of rendered rows of a command \
			     */

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

/* The commands of a stream. */
struct made {
	struct command *command, *refill;
	struct template *template;
	bool shared; /* the template belongs to another stream */
};

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

static int
make_commands(
    struct made *m, const struct engine_target *t, const struct engine_work *w)
{
	char *why, *text;

	if (w->text) {
		text = words_expand_prefix(w->text, t->prefix);
		m->template =
		    template_new(text, w->data_size, t->cluster, &why);
		free(text);
		if (!m->template) {
			err_say("'%s': %s", w->text, why);
			free(why);
			return -1;
		}
		if (*template_fields(m->template) && !w->rows)
			return err_fail(
			    "'%s' uses a field, but the case has no dataset",
			    w->text);
		if (*template_fields(m->template))
			template_bind(m->template, w->rows, BEFOREHAND);
		return 0;
	}
	m->command =
	    command_new(w->command, w->data_size, t->cluster, t->prefix);
	if (seed_refills(t, w))
		m->refill = command_seed(w->command, w->data_size, t->cluster,
		    t->prefix, seed_many(w));
	return 0;
}

static void
free_commands(struct made *m)
{
	command_free(m->command);
	command_free(m->refill);
	if (!m->shared)
		template_free(m->template);
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
		o[i].taken[TEMPLATE_SEQ] = &counters[n];
		o[i].taken[TEMPLATE_ROWS] = &counters[first];
	}
}

int
engine_run(const struct engine_target *t, const struct engine_work *works,
    size_t n, const volatile int *stop, engine_progress_fn *progress, void *arg,
    const struct engine_meter *meter, struct engine_result *results)
{
	struct run_options *o = mem_array(n, sizeof *o);
	struct made *m = mem_array(n, sizeof *m);
	_Atomic uint64_t *counters = mem_array(n + 1, sizeof *counters);
	size_t i, first;
	int rc = -1;

	memset(results, 0, n * sizeof *results);
	for (i = 0; i < n; i++) {
		first = find_same_template(works, i);
		if (run_check(t, &works[i]) < 0)
			goto out;
		if (first != SIZE_MAX) {
			m[i] = m[first];
			m[i].shared = true;
		} else if (make_commands(&m[i], t, &works[i]) < 0)
			goto out;
		o[i] = (struct run_options){.only_node = SIZE_MAX,
		    .space = run_space(&works[i]),
		    .command = m[i].template ? template_command(m[i].template)
					     : m[i].command,
		    .template = m[i].template,
		    .refill = m[i].refill};
	}
	share_counters(o, works, n, counters);
	rc = streams_run(t, works, o, n, stop, progress, arg, meter, results);
out:
	for (i = 0; i < n; i++)
		free_commands(&m[i]);
	free(counters);
	free(m);
	free(o);
	return rc;
}
