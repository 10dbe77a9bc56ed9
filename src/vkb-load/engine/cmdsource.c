#include "cmdsource.h"
#include "engine.h"
#include "mix.h"
#include "template.h"

struct cmdsource *
cmdsource_open(const struct engine_target *t, const struct engine_work *w)
{
	if (w->nmix)
		return mix_open(t, w);
	return w->text ? template_open(t, w) : template_open_named(t, w);
}
