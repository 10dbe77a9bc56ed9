#include "speedscope.h"
#include "calltree.h"
#include "json.h"
#include "intern.h"
#include "num.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>

static void
append_string(struct str *to, const char *s)
{
	struct json *j = json_string(s);

	json_append(to, j);
	json_free(j);
}

static void
append_profile(
    struct str *to, const struct calltree *t, const double *v, const char *name)
{
	uint32_t *path = NULL, i;
	const char *comma = "";
	size_t cap = 0;
	double sum = 0;

	str_add(to, "{\"type\":\"sampled\",\"name\":");
	append_string(to, name);
	str_add(to, ",\"unit\":\"none\",\"samples\":[");
	for (i = calltree_next(t, 0, 0); i != CALLTREE_NONE;
	     i = calltree_next(t, i, 0)) {
		size_t n = v[i] != 0 ? calltree_path(t, i, &path, &cap) : 0;

		if (!n)
			continue;
		str_add(to, comma);
		for (size_t k = 0; k < n; k++)
			str_printf(
			    to, "%c%u", k ? ',' : '[', t->frame[path[k]]);
		str_addc(to, ']');
		comma = ",";
	}
	free(path);
	str_add(to, "],\"weights\":[");
	comma = "";
	for (i = calltree_next(t, 0, 0); i != CALLTREE_NONE;
	     i = calltree_next(t, i, 0)) {
		if (v[i] == 0)
			continue;
		str_add(to, comma);
		num_append(to, v[i]);
		sum += v[i];
		comma = ",";
	}
	str_add(to, "],\"startValue\":0,\"endValue\":");
	num_append(to, sum);
	str_addc(to, '}');
}

void
speedscope_write(struct str *to, const struct calltree *t,
    const double *const *v, size_t n, const char *title)
{
	size_t frames = intern_count(t->names);

	str_add(to,
	    "{\"$schema\":"
	    "\"https://www.speedscope.app/file-format-schema.json\","
	    "\"exporter\":\"vkb-flame\",\"name\":");
	append_string(to, title ? title : "vkb-flame");
	str_add(to, ",\"shared\":{\"frames\":[");
	for (size_t i = 0; i < frames; i++) {
		str_add(to, i ? ",{\"name\":" : "{\"name\":");
		append_string(to, intern_text(t->names, i));
		str_addc(to, '}');
	}
	str_add(to, "]},\"profiles\":[");
	append_profile(to, t, v[0], n > 1 ? "before" : "all");
	if (n > 1) {
		str_addc(to, ',');
		append_profile(to, t, v[1], "after");
	}
	str_add(to, "]}\n");
}
