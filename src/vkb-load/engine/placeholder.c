#include "placeholder.h"
#include "str.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool
is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

size_t
placeholder_len(const char *p, const char *end)
{
	size_t left = (size_t)(end - p), prefix = strlen(PLACEHOLDER_FIELD);
	bool any =
	    (left > prefix && memcmp(p, PLACEHOLDER_FIELD, prefix) == 0) ||
	    (left > strlen(PLACEHOLDER_INT) &&
		memcmp(p, PLACEHOLDER_INT, strlen(PLACEHOLDER_INT)) == 0);
	const char *q = p + 2;

	if (left < 5 || p[0] != '_' || p[1] != '_' || *q == '_')
		return 0;
	for (; end - q >= 2 && (any || is_name_char(*q)); q++)
		if (q[0] == '_' && q[1] == '_')
			return (size_t)(q + 2 - p);
	return 0;
}

size_t
placeholder_misspelled_len(const char *p, const char *end)
{
	static const char *const names[] = {"field", NULL};
	const char *colon = p + 2, *q;
	char name[8] = "";
	size_t n = 0;

	if (end - p < 3 || p[0] != '_' || p[1] != '_')
		return 0;
	for (; colon < end && n < sizeof name - 1 && is_name_char(*colon);
	     colon++)
		name[n++] = (char)tolower((unsigned char)*colon);
	for (q = colon; q < end && (is_name_char(*q) || *q == ':');)
		q++;
	if (str_starts(name, "rand_"))
		return (size_t)(q - p);
	if (colon == end || *colon != ':' || !str_nearest(name, names))
		return 0;
	if (strcmp(name, "field") == 0)
		return (size_t)(q - p);
	if (end - colon < 2 || colon[1] == '_')
		return 0;
	for (q = colon + 1; end - q > 2 && is_name_char(*q); q++)
		if (q[1] == '_' && q[2] == '_')
			return (size_t)(q + 3 - p);
	return 0;
}
