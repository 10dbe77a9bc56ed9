#include "named.h"
#include "command.h"
#include "engine.h"
#include "err.h"
#include "template.h"

#include <stdlib.h>

static struct cmdsource *
make_source(char *text, const struct engine_target *t,
    const struct engine_work *w, unsigned values)
{
	struct template *made =
	    template_new_named(text, w->data_size, t->cluster, values);

	free(text);
	return template_source(made);
}

struct cmdsource *
named_open(const struct engine_target *t, const struct engine_work *w)
{
	struct command_style style = {
	    .cluster = t->cluster, .prefix = t->prefix, .same = TEMPLATE_SAME};

	return make_source(command_text(w->command, &style), t, w, 1);
}

struct cmdsource *
named_seed(
    const struct engine_target *t, const struct engine_work *w, unsigned many)
{
	struct command_style style = {
	    .cluster = t->cluster, .prefix = t->prefix, .same = TEMPLATE_SAME};
	char *text = command_seed_text(w->command, &many, &style);

	return make_source(text, t, w, many);
}
