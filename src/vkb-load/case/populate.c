#include "populate.h"
#include "err.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/command.h"

#include <stdlib.h>

#define CONNECTIONS 50
#define BATCH 16

static void
check_result(const char *with, struct engine_result *r, int *rc)
{
	if (*rc == 0 && r->refused)
		*rc = err_fail("the server cannot be filled by '%s': %llu of "
			       "%llu requests were refused: %s",
		    with, (unsigned long long)r->refused,
		    (unsigned long long)r->requests, r->refusal);
	engine_result_free(r);
}

int
populate(const struct target *t, const char *with,
    const struct engine_work *like, const volatile int *stop,
    engine_progress_fn *progress, void *arg, struct written **known)
{
	struct engine_work w = *like;
	struct engine_result result = {0};
	char *name;
	int rc;

	if (!with)
		return 0;
	name = str_upper(with);
	w.command = command_known(name) ? name : with;
	w.text = command_known(name) ? NULL : with;
	w.nmix = 0;
	w.data = NULL;
	w.requests = w.keyspacelen > 0 ? w.keyspacelen : 1;
	w.sequential = true;
	w.clients = w.requests < CONNECTIONS ? (int)w.requests : CONNECTIONS;
	if (w.in_turn)
		w.clients = 1;
	w.pipeline = BATCH;
	w.duration_s = w.warmup_s = w.rate = 0;
	w.ttl_low = w.ttl_high = 0;
	w.ramp = (struct ratespec){0};
	w.conns = (struct engine_conns){0};
	rc = engine_run(&t->e, &w, 1, stop, progress, arg, NULL, &result);
	*known = result.written;
	result.written = NULL;
	check_result(with, &result, &rc);
	free(name);
	return rc;
}
