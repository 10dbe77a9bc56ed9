#include "cmdsource.h"
#include "dealer.h"
#include "engine.h"
#include "mem.h"
#include "routes.h"
#include "template.h"
#include "verify.h"

#include <string.h>

struct cmdsource *
cmdsource_open(const struct engine_target *t, const struct engine_work *w)
{
	struct engine_work inner = w->verify ? verify_inner_work(w) : *w;
	struct cmdsource *s =
	    w->replay ? dealer_open_source(w) : template_open(t, &inner);

	if (s)
		s = routes_open(s, t, &inner);
	return s && w->verify ? verify_open(s, w, 0) : s;
}

struct cmdsource *
cmdsource_open_seed(
    const struct engine_target *t, const struct engine_work *w, unsigned many)
{
	struct engine_work inner = w->verify ? verify_inner_work(w) : *w;
	struct cmdsource *s = template_open_seed(t, &inner, many);

	return w->verify ? verify_open(s, w, s->values) : s;
}

char *
cmdsource_buffer(const struct cmdsource *s, size_t full)
{
	char *buf = mem_new(s->ops->room(s, full) + s->nplaced);

	if (s->places)
		memcpy(buf, s->placed, s->nplaced);
	return buf;
}
