#include "subject.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Does another subject of this name say something else of the key? */
static bool
differs(const struct comparison *c, size_t n, const char *name,
    const struct json *value)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < 2; j++)
			if (strcmp(c[i].name[j], name) == 0 &&
			    !json_equal(value,
				json_get(c[i].subject[j], json_key(value))))
				return true;
	return false;
}

static char *
full_name(const struct comparison *c, size_t n, const char *name,
    const struct json *subject)
{
	struct str s = {0};
	bool any = false;

	str_add(&s, name);
	for (const struct json *j = json_first(subject); j; j = json_next(j)) {
		char *value;

		if (!differs(c, n, name, j))
			continue;
		value = json_str(j) ? mem_str(json_str(j)) : json_print(j);
		str_printf(
		    &s, "%s%s=%s", any ? ", " : " [", json_key(j), value);
		any = true;
		free(value);
	}
	if (any)
		str_addc(&s, ']');
	return str_take(&s);
}

void
subject_tell_apart(struct comparison *c, size_t n)
{
	char **names = mem_array(2 * n + 1, sizeof *names);

	for (size_t i = 0; i < 2 * n; i++)
		names[i] = full_name(
		    c, n, c[i / 2].name[i % 2], c[i / 2].subject[i % 2]);
	for (size_t i = 0; i < 2 * n; i++) {
		free(c[i / 2].name[i % 2]);
		c[i / 2].name[i % 2] = names[i];
	}
	free(names);
}
