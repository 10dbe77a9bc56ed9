/*
 * A part of vkb-still.c: functions of libc for strings and memory. What they
 * execute depends on the contents alone, not on the CPU or where a page ends.
 */
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* gcc would make a call of strlen or memset of such a loop, with -fno-builtin
 * too. */
#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

struct word {
	uint64_t x;
} __attribute__((packed, may_alias));

enum { WORD = sizeof(struct word) };

static int
fold_case(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

size_t
strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

size_t
strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

int
strncmp(const char *a, const char *b, size_t n)
{
	for (; n; a++, b++, n--)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

int
strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

int
strncasecmp(const char *a, const char *b, size_t n)
{
	int d;

	for (; n; a++, b++, n--) {
		d = fold_case((unsigned char)*a) - fold_case((unsigned char)*b);
		if (d || !*a)
			return d;
	}
	return 0;
}

int
strcasecmp(const char *a, const char *b)
{
	return strncasecmp(a, b, SIZE_MAX);
}

char *
strchrnul(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return (char *)(uintptr_t)s;
}

char *
strchr(const char *s, int c)
{
	char *p = strchrnul(s, c);

	return *p == (char)c ? p : NULL;
}

char *
strrchr(const char *s, int c)
{
	const char *found = NULL;

	for (;; s++) {
		if (*s == (char)c)
			found = s;
		if (!*s)
			return (char *)(uintptr_t)found;
	}
}

void *
memchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	for (; n; p++, n--)
		if (*p == (unsigned char)c)
			return (void *)(uintptr_t)p;
	return NULL;
}

void *
memrchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	while (n--)
		if (p[n] == (unsigned char)c)
			return (void *)(uintptr_t)(p + n);
	return NULL;
}

int
memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n >= WORD; p += WORD, q += WORD, n -= WORD)
		if (((const struct word *)p)->x != ((const struct word *)q)->x)
			break;
	for (; n; p++, q++, n--)
		if (*p != *q)
			return *p - *q;
	return 0;
}

int
bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}

void *
memcpy(void *restrict to, const void *restrict from, size_t n)
{
	unsigned char *p = to;
	const unsigned char *q = from;

	for (; n >= WORD; p += WORD, q += WORD, n -= WORD)
		((struct word *)p)->x = ((const struct word *)q)->x;
	while (n--)
		*p++ = *q++;
	return to;
}

void *
mempcpy(void *restrict to, const void *restrict from, size_t n)
{
	return (char *)memcpy(to, from, n) + n;
}

/* Forwards where that is right: memcpy is, as it reads before it writes. */
void *
memmove(void *to, const void *from, size_t n)
{
	unsigned char *p = to;
	const unsigned char *q = from;

	if ((uintptr_t)to - (uintptr_t)from >= n)
		return memcpy(to, from, n);
	for (; n >= WORD; n -= WORD)
		((struct word *)(p + n - WORD))->x =
		    ((const struct word *)(q + n - WORD))->x;
	while (n--)
		p[n] = q[n];
	return to;
}

void *
memset(void *to, int c, size_t n)
{
	unsigned char *p = to;
	uint64_t x = (unsigned char)c * UINT64_C(0x0101010101010101);

	for (; n >= WORD; p += WORD, n -= WORD)
		((struct word *)p)->x = x;
	while (n--)
		*p++ = (unsigned char)c;
	return to;
}
