#include "configreplay.h"
#include "configwalk.h"
#include "json.h"

#include <stddef.h>

bool
configreplay_check(struct configwalk *w, const struct json *cfg)
{
	static const char *const others[] = {"commands", "data_sizes",
	    "keyspacelen", "keys", "values", "ttl", "mix", "mix_order",
	    "populate_with", "slo", "sequential", "rate", "arrivals", "count",
	    "max_lost", "test_groups", "scenarios", "reconnect", "storm", "db",
	    "tracking", "read_from"};

	if (!json_get(cfg, "replay")) {
		if (json_get(cfg, "replay_speed"))
			configwalk_problem(w, "'replay_speed' needs 'replay'");
		return false;
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (json_get(cfg, others[i]))
			configwalk_problem(w,
			    "Cannot specify both 'replay' and '%s'", others[i]);
	return true;
}
