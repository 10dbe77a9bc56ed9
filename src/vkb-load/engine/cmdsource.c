#include "cmdsource.h"
#include "dealer.h"
#include "mem.h"
#include "engine.h"
#include "mix.h"
#include "template.h"

#include <string.h>

struct cmdsource *
cmdsource_open(const struct engine_target *t, const struct engine_work *w)
{
	if (w->nmix)
		return mix_open(t, w);
	if (w->replay)
		return dealer_open_source();
	return w->text ? template_open(t, w) : template_open_named(t, w);
}

char *
cmdsource_buffer(const struct cmdsource *s, size_t full)
{
	char *buf = mem_new(s->ops->room(s, full) + s->nplaced);

	if (s->places)
		memcpy(buf, s->placed, s->nplaced);
	return buf;
}
