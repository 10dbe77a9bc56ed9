/* A foreign file as a policy: checked, asked, never crashed on. */
#include "json.h"
#include "policy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char config[] = "{\"command\":\"SET\",\"pipeline\":10}";
	struct json *doc = json_parse((const char *)data, size, NULL, NULL);
	struct json *c = json_parse(config, sizeof config - 1, NULL, NULL);
	struct policy *p = doc ? policy_new(doc, "fuzz") : NULL;
	struct policy_answer a;

	if (p) {
		policy_find_answer(p, c, "SET", "rps", "2026-11-21", &a);
		if (a.margin < 0 || a.margin >= 1 || a.better > 2 ||
		    (a.waiver.reason && !a.waiver.expires))
			abort();
		policy_unused_rule(p, 1);
	}
	policy_free(p);
	json_free(c);
	return 0;
}
