/* The native engine, as engines.h wants it. */
#include "engines.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "roles.h"
#include "target.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/template.h"
#include "vkb-load/plan/ownkeys.h"

#include <stdlib.h>
#include <string.h>

/* One of the roles of a case. */
static char *
cannot_play(const struct json *config)
{
	const char *text = json_get_str(config, "command");
	struct template *t;
	char *why = NULL, *plain;

	if (command_known(text))
		return NULL;
	if (!strchr(text, ' ') && !json_get(config, "scenario"))
		return mem_printf("it has no test '%s'", text);
	plain = ownkeys_expand(text, NULL);
	t = template_new(plain, 0, false, &why);
	free(plain);
	if (t && *template_fields(t) && !json_get(config, "dataset"))
		why = mem_printf(
		    "'%s' names a field, and there is no dataset", text);
	template_free(t);
	return why;
}

static char *
cannot(const void *self, const struct json *cas)
{
	struct roles roles;
	char *why = NULL;

	(void)self;
	roles_make(&roles, cas, 0, 0);
	for (size_t i = 0; i < roles.n && !why; i++)
		why = cannot_play(roles.v[i].config);
	roles_free(&roles);
	return why;
}

static bool
untried(const void *self, const struct json *cas)
{
	(void)self;
	(void)cas;
	return false;
}

/*
 * An answer that is an error costs a server little, so a run with many of them
 * is no result. What was seen stays in the record.
 */
#define REFUSED_PERCENT 1

static int
sound(const struct engine_job *j, size_t i, const struct engine_result *r)
{
	const struct engine_error *e = &r->errors[0];
	const char *part = j->nwork > 1 ? j->work[i].command : NULL;

	if (!r->requests) {
		err_say("%s%sno request was answered%s%s", part ? part : "",
		    part ? ": " : "", r->nerrors ? ": " : "",
		    r->nerrors ? e->text : "");
		return 1;
	}
	if (!r->nerrors)
		return 0;
	if ((double)r->refused * 100 > (double)r->requests * REFUSED_PERCENT) {
		err_say("%s%s%llu of %llu requests were refused: %s",
		    part ? part : "", part ? ": " : "",
		    (unsigned long long)r->refused,
		    (unsigned long long)r->requests, r->refusal);
		return 1;
	}
	err_say("%s: %llu errors in %llu requests, the first: %s",
	    json_get_str(j->cas, "id"), (unsigned long long)r->errors_total,
	    (unsigned long long)r->requests, e->text);
	return 0;
}

static int
recall(void *self, const struct json *cas, const struct engine_past *past)
{
	(void)self;
	(void)cas;
	(void)past;
	return 0;
}

/* Works with what is known of their datasets; caller frees with free(). */
static struct engine_work *
with_data(void *self, const struct engine_work *works, size_t n)
{
	struct engine_work *v = mem_array(n + 1, sizeof *v);

	for (size_t i = 0; i < n; i++) {
		v[i] = works[i];
		v[i].datasets = self;
	}
	return v;
}

/* By connections of their own; what it measures is not kept. */
static int
warm_up(void *self, const struct engine_job *j)
{
	struct engine_result *v = mem_array(j->nwarmup + 1, sizeof *v);
	struct engine_work *works = with_data(self, j->warmup, j->nwarmup);
	int rc = 0;

	if (j->nwarmup)
		rc = engine_run(&j->target->e, works, j->nwarmup, j->stop,
		    j->progress, j->arg, v);
	for (size_t i = 0; i < j->nwarmup; i++)
		engine_result_free(&v[i]);
	free(works);
	free(v);
	return rc;
}

static int
run(void *self, const struct engine_job *j, struct engine_result *results)
{
	const struct engine_target *t = &j->target->e;
	struct engine_work *works = with_data(self, j->work, j->nwork);
	size_t i;
	int rc = 0;

	for (i = 0; i < j->nwork && rc == 0; i++)
		rc = engine_seed(t, &works[i], j->stop, j->progress, j->arg);
	if (rc == 0)
		rc = warm_up(self, j);
	if (rc == 0)
		rc = engine_run(
		    t, works, j->nwork, j->stop, j->progress, j->arg, results);
	for (i = 0; i < j->nwork && rc >= 0; i++)
		rc |= sound(j, i, &results[i]);
	free(works);
	return rc;
}

struct engine
native_engine(struct datasets *datasets)
{
	return (struct engine){.name = ENGINES_NATIVE,
	    .self = datasets,
	    .cannot = cannot,
	    .untried = untried,
	    .recall = recall,
	    .run = run};
}

const char *
engines_name(const struct json *config)
{
	const char *name = json_get_str(config, "engine");

	return name ? name : ENGINES_NATIVE;
}

const struct engine *
engines_find(const struct engine *list, const struct json *cas)
{
	const char *name = engines_name(json_get(cas, "config"));

	for (; list->name; list++)
		if (strcmp(list->name, name) == 0)
			return list;
	return NULL;
}
