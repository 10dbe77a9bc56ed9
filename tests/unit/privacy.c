/* Hashed keys and values keep their lengths, identities, numbers and tags. */
#include "vkb-record/privacy.h"
#include "intern.h"
#include "str.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static const unsigned char salt[32] = "the salt of a test";

static void
hide(struct privacy *p, const char *s, size_t n, bool key, struct str *to)
{
	str_clear(to);
	if (key)
		privacy_add_key(p, s, n, to);
	else
		privacy_add_value(p, s, n, to);
	str_addc(to, '\0');
	to->len--;
}

/* Returns whether n different texts become n different texts of the same
 * lengths. */
static bool
is_injective(struct privacy *p, void (*make)(char[32], size_t i), size_t n)
{
	struct intern *all = intern_new();
	struct str s = {0};
	char text[32];
	bool ok = true;

	for (size_t i = 0; i < n; i++) {
		make(text, i);
		hide(p, text, strlen(text), true, &s);
		ok &= s.len == strlen(text) && intern_idn(all, s.s, s.len) == i;
	}
	intern_free(all);
	str_free(&s);
	return ok;
}

static void
make_number(char to[32], size_t i)
{
	snprintf(to, 32, "%zu", i);
}

static void
make_pair(char to[32], size_t i)
{
	snprintf(to, 32, "%c%c", (char)('a' + i / 26), (char)('a' + i % 26));
}

static void
make_letter(char to[32], size_t i)
{
	snprintf(to, 32, "%c", (char)('a' + i));
}

static void
make_name(char to[32], size_t i)
{
	snprintf(to, 32, "k:%zu", 100000 + i);
}

/* Makes bytes that are not printable, all of one length. */
static void
make_bytes(char to[32], size_t i)
{
	snprintf(to, 32, "\x01%c%c", (char)(1 + i / 100), (char)(1 + i % 100));
}

static bool
is_number(const char *s)
{
	char *end;

	strtod(s, &end);
	return *s && !*end;
}

int
main(void)
{
	static const char *const numbers[] = {"0", "7", "10", "-5", "99999",
	    "123456789012345678", "3.14", "-0.5", "0.001"};
	struct privacy *p = privacy_new(salt), *q = privacy_new(salt);
	struct privacy *other = privacy_new(NULL);
	struct str a = {0}, b = {0};
	bool ok;

	tap_ok(is_injective(p, make_number, 20000),
	    "different numbers stay different");
	tap_ok(is_injective(p, make_letter, 26),
	    "different letters stay different");
	tap_ok(is_injective(p, make_pair, 26 * 26),
	    "different pairs of letters stay different");
	tap_ok(is_injective(p, make_name, 20000),
	    "different short names stay different");
	tap_ok(is_injective(p, make_bytes, 10000),
	    "different short bytes stay different");

	ok = true;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		hide(p, numbers[i], strlen(numbers[i]), false, &a);
		ok &= is_number(a.s) && a.len == strlen(numbers[i]) &&
		    (a.s[0] == '-') == (numbers[i][0] == '-') &&
		    (a.s[0] != '0' || a.len == 1 || a.s[1] == '.') &&
		    strcspn(a.s, ".") == strcspn(numbers[i], ".");
	}
	tap_ok(ok, "numbers keep their number of digits and their sign");

	hide(p, "a key of some length", 20, true, &a);
	hide(q, "a key of some length", 20, true, &b);
	tap_ok(strcmp(a.s, b.s) == 0, "the same salt gives the same result");
	hide(other, "a key of some length", 20, true, &b);
	tap_ok(a.len == b.len && strcmp(a.s, b.s) != 0,
	    "another salt gives another result");
	hide(p, "a key of some lengtH", 20, true, &b);
	tap_ok(strcmp(a.s, b.s) != 0, "similar texts have different results");

	hide(p, "{user:1}:a", 10, true, &a);
	hide(p, "{user:1}:b", 10, true, &b);
	tap_ok(a.s[0] == '{' && a.s[7] == '}' && strncmp(a.s, b.s, 8) == 0 &&
		strcmp(a.s, b.s) != 0 && !strstr(a.s, "user"),
	    "keys with the same tag keep a common tag");
	hide(p, "user:1", 6, true, &b);
	tap_ok(strncmp(a.s + 1, b.s, 6) == 0,
	    "the tag is replaced as if it were alone");
	hide(p, "", 0, true, &a);
	tap_ok(a.len == 0, "an empty key stays empty");
	str_free(&a);
	str_free(&b);
	privacy_free(p);
	privacy_free(q);
	privacy_free(other);
	return tap_done();
}
