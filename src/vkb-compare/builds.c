#include "builds.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <stdlib.h>

/* Adds a text, or the texts of an array with blanks between. */
static void
add_value(struct str *s, const struct json *j)
{
	const char *sep = "";

	if (json_str(j))
		str_add(s, json_str(j));
	else if (!json_first(j))
		str_add(s, "(none)");
	for (const struct json *k = json_first(j); k; k = json_next(k)) {
		if (json_str(k))
			str_printf(s, "%s%s", sep, json_str(k));
		sep = " ";
	}
}

char *
builds_describe_difference(const struct json *base, const struct json *other)
{
	static const char *const keys[] = {"compiler", "make", "module"};
	const struct json *a = json_get(base, "build");
	const struct json *b = json_get(other, "build");
	struct str s = {0};

	if (!a != !b)
		return mem_printf("compiler and flags of the %s are not known",
		    a ? "contender" : "baseline");
	for (size_t i = 0; a && i < sizeof keys / sizeof *keys; i++) {
		const struct json *x = json_get(a, keys[i]);
		const struct json *y = json_get(b, keys[i]);

		if (x && y ? json_equal(x, y) : x == y)
			continue;
		str_printf(&s, "%s%s: ", s.len ? "; " : "", keys[i]);
		add_value(&s, x);
		str_add(&s, " -> ");
		add_value(&s, y);
	}
	return s.len ? str_take(&s) : NULL;
}

/* Have both subjects the same commits, of the server and of the module? */
static bool
are_same_commit(const struct json *a, const struct json *b)
{
	static const char *const keys[] = {"commit", "module_commit"};
	bool any = false;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const struct json *x = json_get(a, keys[i]);
		const struct json *y = json_get(b, keys[i]);

		if (x && y ? !json_equal(x, y) : x != y)
			return false;
		any |= x != NULL;
	}
	return any && !record_subject_is_dirty(a) &&
	    !record_subject_is_dirty(b);
}

bool
builds_are_comparable(const struct json *base, const struct json *other)
{
	bool same;
	char *why;

	if (!json_get(base, "build") || !json_get(other, "build") ||
	    are_same_commit(base, other))
		return true;
	why = builds_describe_difference(base, other);
	same = !why;
	free(why);
	return same;
}
