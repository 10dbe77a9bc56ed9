#include "configreplay.h"
#include "configwalk.h"
#include "json.h"

#include <stddef.h>

const char *const configreplay_others[] = {"commands", "data_sizes",
    "keyspacelen", "keys", "values", "ttl", "mix", "mix_order", "populate_with",
    "slo", "sequential", "rate", "arrivals", "count", "max_lost", "reconnect",
    "storm", "db", "tracking", "read_from", NULL};

bool
configreplay_check(struct configwalk *w, const struct json *cfg)
{
	static const char *const groups[] = {"test_groups", "scenarios"};

	if (!json_get(cfg, "replay")) {
		if (json_get(cfg, "replay_speed"))
			configwalk_problem(w, "'replay_speed' needs 'replay'");
		return false;
	}
	for (size_t i = 0; configreplay_others[i]; i++)
		if (json_get(cfg, configreplay_others[i]))
			configwalk_problem(w,
			    "Cannot specify both 'replay' and '%s'",
			    configreplay_others[i]);
	for (size_t i = 0; i < 2; i++)
		if (json_get(cfg, groups[i]))
			configwalk_problem(w,
			    "Cannot specify both 'replay' and '%s'", groups[i]);
	return true;
}
