#include "symbolname.h"
#include "str.h"

#include <ctype.h>
#include <string.h>

#define HASH 17 /* "h" and 16 digits */

static bool
has_hash(const char *s, size_t n)
{
	if (n < HASH || s[n - HASH] != 'h')
		return false;
	for (size_t i = n - HASH + 1; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

/*
 * Decodes an escape such as "$LT$", one of those of rustc-demangle's legacy.rs.
 * Returns its length, or 0 if it is not one.
 */
static size_t
decode_escape(struct str *to, const char *s, size_t n)
{
	static const char names[][5] = {
	    "$SP$", "$BP$", "$RF$", "$LT$", "$GT$", "$LP$", "$RP$", "$C$"};
	static const char meaning[] = "@*&<>(),";
	unsigned u = 0;
	size_t i = 2;

	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		size_t len = strlen(names[k]);

		if (n < len || memcmp(s, names[k], len) != 0)
			continue;
		str_addc(to, meaning[k]);
		return len;
	}
	if (n < 5 || s[1] != 'u')
		return 0;
	for (; i < n && i < 4 && isxdigit((unsigned char)s[i]); i++)
		u = u * 16 +
		    (unsigned)(s[i] <= '9' ? s[i] - '0'
					   : (s[i] | 32) - 'a' + 10);
	if (i != 4 || s[4] != '$' || u < ' ' || u > '~')
		return 0;
	str_addc(to, (char)u);
	return 5;
}

bool
symbolname_add_rust(struct str *to, const char *s, size_t n)
{
	size_t i = 0;

	if (!has_hash(s, n)) {
		str_addn(to, s, n);
		return false;
	}
	n -= HASH;
	if (n >= 2 && memcmp(s + n - 2, "::", 2) == 0)
		n -= 2;
	if (n >= 2 && memcmp(s, "_$", 2) == 0)
		i = 1;
	while (i < n) {
		size_t k = s[i] == '$' ? decode_escape(to, s + i, n - i) : 0;

		if (k) {
			i += k;
		} else if (s[i] == '.' && i + 1 < n && s[i + 1] == '.') {
			str_add(to, "::");
			i += 2;
		} else {
			str_addc(to, s[i++]);
		}
	}
	return true;
}
