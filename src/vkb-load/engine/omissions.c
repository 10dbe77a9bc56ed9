#include "omissions.h"

#include <stdio.h>
#include <string.h>

void
omissions_add(
    struct omissions *o, const char *name, const char *why, uint64_t count)
{
	struct engine_error *e;
	size_t i;

	for (i = 0; i < o->n; i++)
		if (strcmp(o->v[i].kind, name) == 0 &&
		    strcmp(o->v[i].text, why) == 0)
			break;
	if (i == ENGINE_ERRORS)
		i--;
	e = &o->v[i];
	e->count += count;
	if (i < o->n)
		return;
	if (++o->n == ENGINE_ERRORS) {
		name = "others";
		why = "for several reasons";
	}
	snprintf(e->kind, sizeof e->kind, "%s", name);
	snprintf(e->text, sizeof e->text, "%s", why);
}
