/* The native engine, as engines.h wants it. */
#include "command.h"
#include "engines.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "target.h"
#include "vbench.h"

#include <string.h>

static char *
cannot(const void *self, const struct json *cas)
{
	(void)self;
	if (command_known(json_str(json_path(cas, "config.command"))))
		return NULL;
	return mem_str(
	    "commands with placeholders need '--engine " VBENCH "' so far");
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
sound(const struct json *cas, const struct engine_result *r)
{
	const struct engine_error *e = &r->errors[0];

	if (!r->requests) {
		err_say("no request was answered%s%s", r->nerrors ? ": " : "",
		    r->nerrors ? e->text : "");
		return 1;
	}
	if (!r->nerrors)
		return 0;
	if ((double)r->refused * 100 > (double)r->requests * REFUSED_PERCENT) {
		err_say("%llu of %llu requests were refused: %s",
		    (unsigned long long)r->refused,
		    (unsigned long long)r->requests, r->refusal);
		return 1;
	}
	err_say("%s: %llu errors in %llu requests, the first: %s",
	    json_get_str(cas, "id"), (unsigned long long)r->errors_total,
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

static int
run(void *self, const struct engine_job *j, struct engine_result *results)
{
	const struct engine_target *t = &j->target->e;
	size_t i;
	int rc = 0;

	(void)self;
	for (i = 0; i < j->nwork; i++)
		if (engine_seed(t, &j->work[i], j->stop, j->progress, j->arg) <
		    0)
			return -1;
	if (engine_run(t, j->work, j->nwork, j->stop, j->progress, j->arg,
		results) < 0)
		return -1;
	for (i = 0; i < j->nwork; i++)
		rc |= sound(j->cas, &results[i]);
	return rc;
}

struct engine
native_engine(void)
{
	return (struct engine){.name = ENGINES_NATIVE,
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
