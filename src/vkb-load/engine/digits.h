/* Fast decimal numbers: some are written for each request. */
#ifndef DIGITS_H
#define DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGITS_12 12 /* the width of a number in a key */
#define DIGITS_MOST 20

/*
 * Puts the quotients q of lanes and, shifted by 'bits', their remainders side
 * by side: v - q * by. One multiplication does both.
 */
static inline uint64_t
digits_split(uint64_t v, uint64_t q, uint64_t by, int bits)
{
	return (v << bits) + q * (1 - (by << bits));
}

/*
 * Eight decimal digits at once: fours, pairs, then single digits, in one word.
 */
static inline void
digits_8(char *p, uint32_t v)
{
	uint64_t w = digits_split(v, v / 10000, 10000, 32);

	w = digits_split(
	    w, (w * 10486 >> 20) & UINT64_C(0x7f0000007f), 100, 16);
	w = digits_split(w, (w * 103 >> 10) & UINT64_C(0xf000f000f000f), 10, 8);
	w = htole64(w + UINT64_C(0x3030303030303030));
	memcpy(p, &w, sizeof w);
}

/*
 * Writes 12 digits with leading zeros. If not 'wide', v is below 10^8, and the
 * first four bytes are '0' already.
 */
static inline void
digits_12(char *p, uint64_t v, bool wide)
{
	uint32_t high;

	if (!wide) {
		digits_8(p + 4, (uint32_t)v);
		return;
	}
	digits_8(p + 4, (uint32_t)(v % 100000000));
	high = (uint32_t)(v / 100000000);
	p[0] = (char)('0' + high / 1000 % 10);
	p[1] = (char)('0' + high / 100 % 10);
	p[2] = (char)('0' + high / 10 % 10);
	p[3] = (char)('0' + high % 10);
}

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
