/* Fast decimal numbers: some are written for each request. */
#ifndef DIGITS_H
#define DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_12 12 /* the width of a number in a key */
#define DIGITS_MOST 20

/* Writes v without leading zeros. Returns the number of digits. */
static inline size_t
digits_put(char *p, uint64_t v)
{
	char d[DIGITS_MOST];
	size_t n = 0, i;

	do {
		d[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	for (i = 0; i < n; i++)
		p[i] = d[n - 1 - i];
	return n;
}

/* Writes a line of RESP: its type and v. Returns its length. */
static inline size_t
digits_line(char *p, char type, uint64_t v)
{
	size_t n = 1 + digits_put(p + 1, v);

	*p = type;
	memcpy(p + n, "\r\n", 2);
	return n + 2;
}

#endif
