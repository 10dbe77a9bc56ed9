#include "configplain.h"
#include "configwalk.h"
#include "json.h"

#include <string.h>

static const struct {
	const char *key;
	double value;
} defaults[] = {{"keyspacelen", 1000000}, {"data_sizes", 3}, {"pipelines", 1},
    {"clients", 50}};

bool
configplain_is(const struct json *cfg)
{
	return json_get(cfg, "commands") || json_get(cfg, "mix");
}

void
configplain_check(struct configwalk *w, const struct json *cfg)
{
	static const char *const pairs[][2] = {
	    {"requests", "duration"}, {"commands", "mix"}};

	for (size_t i = 0; i < 2; i++)
		if (json_get(cfg, pairs[i][0]) && json_get(cfg, pairs[i][1]))
			configwalk_problem(w,
			    "Cannot specify both '%s' and "
			    "'%s'",
			    pairs[i][0], pairs[i][1]);
	if (json_get(cfg, "mix_order") && !json_get(cfg, "mix"))
		configwalk_problem(w, "'mix_order' needs a 'mix'");
}

void
configplain_complete(struct json *cfg)
{
	struct json *list;

	for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
		if (json_get(cfg, defaults[i].key) ||
		    (strcmp(defaults[i].key, "data_sizes") == 0 &&
			json_get(cfg, "values")))
			continue;
		list = json_array();
		json_push_num(list, defaults[i].value);
		json_set(cfg, defaults[i].key, list);
	}
}
