#include "redact.h"
#include "mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define SPACE " \t\r\n\v\f"
#define STARS 3

/*
 * 's' follows "://". Returns the length of the login before its '@', or 0. A
 * password may hold "/", "?" and "#": they belong to it if they follow a colon
 * that no port follows.
 */
static size_t
measure_login(const char *s)
{
	size_t n = strcspn(s, "/?#" SPACE), port;
	const char *at = memrchr(s, '@', n), *colon;

	if (!at && (colon = memchr(s, ':', n))) {
		port = strspn(colon + 1, "0123456789");
		if (colon + 1 + port != s + n)
			at = memrchr(s, '@', strcspn(s, SPACE));
	}
	return at ? (size_t)(at - s) : 0;
}

/*
 * 's' begins a word. Returns the length of the login of a repository that is
 * named as with scp, user:password@host:path, or 0. "git@host:path" has none.
 */
static size_t
measure_scp_login(const char *s)
{
	size_t colon = strcspn(s, ":@/=,;()'\"" SPACE);
	size_t n = strcspn(s, "'\"" SPACE);
	const char *at = s + n;

	if (!colon || s[colon] != ':' || s[colon + 1] == '/')
		return 0;
	while ((at = memrchr(s, '@', (size_t)(at - s)))) {
		size_t host = strcspn(at + 1, ":@/'\"" SPACE);

		if (host && at[1 + host] == ':' && at > s + colon + 1)
			return (size_t)(at - s);
	}
	return 0;
}

/* Does the text from 'start' to 'end' end in the name of a secret? */
static bool
names_secret(const char *start, const char *end)
{
	static const char *const names[] = {"password", "passwd", "passphrase",
	    "token", "secret", "apikey", "api_key", "requirepass", "masterauth",
	    "primaryauth"};
	size_t n;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		n = strlen(names[i]);
		if ((size_t)(end - start) >= n &&
		    strncasecmp(end - n, names[i], n) == 0)
			return true;
	}
	return false;
}

/* Returns the length of the value at 's', with its quotes. */
static size_t
measure_value(const char *s)
{
	size_t n;

	if (*s != '\'' && *s != '"')
		return strcspn(s, "&'\",;)" SPACE);
	for (n = 1; s[n] && s[n] != *s; n++)
		if (s[n] == '\\' && s[n + 1])
			n++;
	return s[n] ? n + 1 : n;
}

/* Returns the length of the secret at 'from', which follows 'before'. */
static size_t
measure_secret(const char *start, const char *before, const char *from)
{
	size_t n = before - start >= 3 && memcmp(before - 3, "://", 3) == 0
	    ? measure_login(from)
	    : 0;

	if (before > start && before[-1] == '=' &&
	    names_secret(start, before - 1))
		n = measure_value(from);
	if (!n && (before == start || strchr("=,;('\"" SPACE, before[-1])))
		n = measure_scp_login(from);
	return n;
}

void
redact_text(char *text)
{
	const char *from = text;
	char *to = text;
	size_t n;

	while (*from) {
		n = measure_secret(text, to, from);
		memset(to, '*', n < STARS ? n : STARS);
		to += n < STARS ? n : STARS;
		from += n;
		if (*from)
			*to++ = *from++;
	}
	*to = '\0';
}

char *
redact_copy(const char *text)
{
	char *copy = text ? mem_str(text) : NULL;

	if (copy)
		redact_text(copy);
	return copy;
}
