/* A foreign file as a configuration: checked, never crashed on. */
#include "config.h"
#include "json.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *doc = json_parse((const char *)data, size, NULL, NULL);

	if (!doc)
		return 0;
	doc = config_check(doc, "fuzz", size % 2 == 0);
	if (doc && json_type(doc) != JSON_ARRAY)
		abort();
	json_free(doc);
	return 0;
}
