#include "cmdsource.h"
#include "engine.h"

static bool
wants_text(const struct engine_work *w)
{
	return w->text != NULL;
}

static bool
wants_name(const struct engine_work *w)
{
	return w->command != NULL;
}

static const struct {
	bool (*wanted)(const struct engine_work *);
	struct cmdsource *(*open)(
	    const struct engine_target *, const struct engine_work *);
} kinds[] = {{wants_text, template_open}, {wants_name, named_open}};

struct cmdsource *
cmdsource_open(const struct engine_target *t, const struct engine_work *w)
{
	size_t i = 0;

	while (!kinds[i].wanted(w))
		i++;
	return kinds[i].open(t, w);
}
