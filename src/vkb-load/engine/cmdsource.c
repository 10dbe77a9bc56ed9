#include "cmdsource.h"
#include "dealer.h"
#include "mem.h"
#include "engine.h"
#include "mix.h"
#include "template.h"

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
	size_t places = s->places * s->len;
	char *buf = mem_new(s->ops->room(s, full) + places);

	if (places)
		s->ops->fill(s, buf, (places + full) / s->len + 1);
	return buf;
}
