#include "cmdsource.h"
#include "engine.h"
#include "template.h"

struct cmdsource *
cmdsource_open(const struct engine_target *t, const struct engine_work *w)
{
	return w->text ? template_open(t, w) : template_open_named(t, w);
}
