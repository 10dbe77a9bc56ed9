#include "str.h"
#include "mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
room(struct str *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 64;

	if (b->len + more + 1 <= b->cap)
		return;
	while (cap < b->len + more + 1)
		cap *= 2;
	b->s = mem_resize(b->s, cap, 1);
	b->cap = cap;
}

void
str_addn(struct str *b, const void *s, size_t n)
{
	room(b, n);
	if (n)
		memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void
str_add(struct str *b, const char *s)
{
	str_addn(b, s, strlen(s));
}

void
str_addc(struct str *b, char c)
{
	str_addn(b, &c, 1);
}

void
str_printf(struct str *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		err_die("cannot format '%s'", fmt);
	room(b, (size_t)n);
	vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
	va_end(again);
	b->len += (size_t)n;
}

void
str_clear(struct str *b)
{
	b->len = 0;
	if (b->s)
		b->s[0] = '\0';
}

char *
str_take(struct str *b)
{
	char *s = b->s ? b->s : mem_str("");

	*b = (struct str){0};
	return s;
}

void
str_free(struct str *b)
{
	free(b->s);
	*b = (struct str){0};
}

/* Line and paragraph separators, and what turns the direction of writing. */
static bool
turns(const unsigned char *p)
{
	return p[0] == 0xe2 &&
	    ((p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) ||
		(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

void
str_visible(struct str *b, const char *s)
{
	for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
		if (*p < 0x20 || *p == 0x7f) {
			str_printf(b, "\\x%02x", *p);
		} else if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f) {
			str_printf(b, "\\x%02x", p[1]);
			p++;
		} else if (turns(p)) {
			str_printf(b, "\\u%04x",
			    0x2000u | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu));
			p += 2;
		} else {
			str_addc(b, (char)*p);
		}
	}
}

bool
str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool
str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && strcmp(s + n - k, suffix) == 0;
}

bool
str_utf8(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;

	while (p < end) {
		unsigned c = *p++, min;
		int more;

		if (c < 0x80)
			continue;
		if (c >= 0xc2 && c <= 0xdf)
			more = 1, min = 0x80, c &= 0x1f;
		else if (c >= 0xe0 && c <= 0xef)
			more = 2, min = 0x800, c &= 0x0f;
		else if (c >= 0xf0 && c <= 0xf4)
			more = 3, min = 0x10000, c &= 0x07;
		else
			return false;
		if (end - p < more)
			return false;
		for (; more; more--, p++) {
			if ((*p & 0xc0) != 0x80)
				return false;
			c = c << 6 | (*p & 0x3f);
		}
		if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return false;
	}
	return true;
}

static size_t
distance(const char *a, const char *b)
{
	size_t n = strlen(b), row[65], diag, up;

	if (n > 64 || strlen(a) > 64)
		return 64;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		diag = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diag + (a[i - 1] != b[j - 1]);

			up = row[j];
			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diag = up;
			row[j] = best;
		}
	}
	return row[n];
}

const char *
str_nearest(const char *s, const char *const *names)
{
	const char *best = NULL;
	size_t least = strlen(s) / 3 + 1;

	for (; *names; names++) {
		size_t d = distance(s, *names);

		if (d < least || (d == least && !best)) {
			least = d;
			best = *names;
		}
	}
	return best;
}

unsigned long long
str_hash(unsigned long long h, const void *s, size_t n)
{
	for (const unsigned char *p = s; n; n--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}
