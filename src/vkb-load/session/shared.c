#include "shared.h"
#include "json.h"
#include "mem.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/plan/benchcase.h"

#include <string.h>

static char *
explain_role(const struct role *r, unsigned parts)
{
	const struct bench_load *l = &r->load;
	const struct engine_work *w = &l->work;

	if (l->slo)
		return mem_str("each part of '--client' would search a "
			       "capacity ('slo') of its own");
	if ((unsigned)w->clients < parts)
		return mem_printf("it has %d client%s, fewer than the %u "
				  "parts of '--client'",
		    w->clients, w->clients == 1 ? "" : "s", parts);
	if (w->requests > 0 && w->requests < parts)
		return mem_printf("it has fewer requests than the %u parts of "
				  "'--client'",
		    parts);
	if (w->keys.kind == KEYSPEC_LATEST)
		return mem_str("the latest keys are known to one vkb-load "
			       "only, so '--client' cannot share it");
	if (l->cluster && (w->sequential || w->keys.kind == KEYSPEC_SEQUENTIAL))
		return mem_str("'--client' cannot share the keys in sequence "
			       "of a cluster");
	return NULL;
}

char *
shared_explain(const struct json *cas, unsigned parts)
{
	struct bench_case c;
	struct roles roles;
	char *why = NULL;

	if (strcmp(bench_case_engine(json_get(cas, "config")),
		BENCH_CASE_NATIVE) != 0)
		return mem_printf("'--client' is not for the engine '%s'",
		    bench_case_engine(json_get(cas, "config")));
	bench_case_fill(&c, cas);
	roles_make(&roles, &c, 0, 0);
	for (size_t i = 0; i < roles.n && !why; i++)
		why = explain_role(&roles.v[i], parts);
	roles_free(&roles);
	bench_case_free(&c);
	return why;
}
