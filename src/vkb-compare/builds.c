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

		if (json_equal(x, y))
			continue;
		str_printf(&s, "%s%s: ", s.len ? "; " : "", keys[i]);
		add_value(&s, x);
		str_add(&s, " -> ");
		add_value(&s, y);
	}
	return s.len ? str_take(&s) : NULL;
}

/* Have both subjects this value, or neither? */
static bool
is_same(const struct json *a, const struct json *b, const char *key)
{
	return json_equal(json_get(a, key), json_get(b, key));
}

bool
builds_have_other_servers(const struct json *base, const struct json *other)
{
	return json_get(base, "module_commit") &&
	    json_get(other, "module_commit") &&
	    !json_get(base, "module_fixed") &&
	    !json_get(other, "module_fixed") &&
	    !is_same(base, other, "module_commit") &&
	    (!is_same(base, other, "commit") ||
		(json_get(base, "binary_sha256") &&
		    json_get(other, "binary_sha256") &&
		    !is_same(base, other, "binary_sha256")));
}

/* Have both subjects the same commits, of the server and of the module? */
static bool
are_same_commit(const struct json *a, const struct json *b)
{
	static const char *const keys[] = {"commit", "module_commit"};
	bool any = false;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (!is_same(a, b, keys[i]))
			return false;
		any |= json_get(a, keys[i]) != NULL;
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
