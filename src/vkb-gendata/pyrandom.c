#include "pyrandom.h"

#include <string.h>

#define N PYRANDOM_WORDS
#define M 397

#define CHARS 4     /* letters that choose_letters draws at a time */
#define FRACTION 26 /* bits of a word that choose_letters uses */
#define FEW 64      /* most letters: an index has the 6 bits above FRACTION */

/* Makes the state that every seeding starts from: init_genrand(19650218). */
static void
init_state(uint32_t s[N])
{
	s[0] = 19650218;
	for (uint32_t i = 1; i < N; i++)
		s[i] = 1812433253 * (s[i - 1] ^ s[i - 1] >> 30) + i;
}

static inline uint32_t
stir_word(uint32_t word, uint32_t last, uint32_t factor)
{
	return word ^ (last ^ last >> 30) * factor;
}

void
pyrandom_seed(struct pyrandom *p, uint64_t seed)
{
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32) + 1};
	uint32_t *s = p->state, odd = seed >> 32 ? 1 : 0, last;

	if (!p->first[0])
		init_state(p->first);
	last = p->first[0];
	for (uint32_t i = 1; i < N; i++)
		last = s[i] =
		    stir_word(p->first[i], last, 1664525) + key[(i - 1) & odd];
	last = s[1] = stir_word(s[1], last, 1664525) + key[(N - 1) & odd];
	for (uint32_t i = 2; i < N; i++)
		last = s[i] = stir_word(s[i], last, 1566083941) - i;
	s[1] = stir_word(s[1], last, 1566083941) - 1;
	s[0] = UINT32_C(1) << 31;
	p->next = N;
}

typedef uint32_t four __attribute__((vector_size(16)));

static inline uint32_t
twist_word(uint32_t high, uint32_t low, uint32_t far)
{
	uint32_t y = (high & UINT32_C(1) << 31) | (low & ~(UINT32_C(1) << 31));

	return far ^ y >> 1 ^ (-(y & 1) & UINT32_C(0x9908b0df));
}

/*
 * Renews the words from..to-1, four at a time. 'far' is the distance of the
 * word that each is mixed with, at least 4.
 */
static void
renew_range(uint32_t *s, unsigned from, unsigned to, int far)
{
	unsigned i = from;

	for (; i + 4 <= to; i += 4) {
		four high, low, other, y;

		memcpy(&high, s + i, sizeof high);
		memcpy(&low, s + i + 1, sizeof low);
		memcpy(&other, s + (int)i + far, sizeof other);
		y = (high & UINT32_C(1) << 31) | (low & ~(UINT32_C(1) << 31));
		y = other ^ y >> 1 ^ (-(y & 1) & UINT32_C(0x9908b0df));
		memcpy(s + i, &y, sizeof y);
	}
	for (; i < to; i++)
		s[i] = twist_word(s[i], s[i + 1], s[(int)i + far]);
}

/* Renews all words. */
static void
renew_state(struct pyrandom *p)
{
	uint32_t *s = p->state;

	renew_range(s, 0, N - M, M);
	renew_range(s, N - M, N - 1, M - N);
	s[N - 1] = twist_word(s[N - 1], s[0], s[M - 1]);
	p->next = 0;
}

static inline uint32_t
draw_word(struct pyrandom *p)
{
	uint32_t y;

	if (p->next == N)
		renew_state(p);
	y = p->state[p->next++];
	y ^= y >> 11;
	y ^= y << 7 & UINT32_C(0x9d2c5680);
	y ^= y << 15 & UINT32_C(0xefc60000);
	return y ^ y >> 18;
}

/* Python's random(): 0 <= x < 1. */
static inline double
draw_unit(struct pyrandom *p)
{
	uint32_t a = draw_word(p) >> 5, b = draw_word(p) >> 6;

	return ((double)a * 67108864.0 + b) * 0x1p-53;
}

uint32_t
pyrandom_draw_below(struct pyrandom *p, uint32_t n)
{
	int shift = __builtin_clz(n);
	uint32_t r;

	do
		r = draw_word(p) >> shift;
	while (r >= n);
	return r;
}

/*
 * Chooses as many letters as the state's remaining words allow, in fours, but
 * at most 'most'. The index of a letter is floor(n (a 2^26 + b) / 2^53), with a
 * the upper 27 bits of one word and b the upper 26 bits of the next. The upper
 * 26 bits of a determine it unless the lower bits can carry into it. Returns
 * the number of letters; 0 after such a carry, with no word drawn.
 */
static uint64_t
choose_letters(struct pyrandom *p, const char *letters, uint32_t n, char *to,
    uint64_t most)
{
	const uint32_t *s = p->state + p->next, one = n << (32 - FRACTION);
	const four even = {UINT32_MAX, 0, UINT32_MAX, 0};
	uint64_t k = (N - p->next) / (2 * CHARS) * CHARS;
	four carry = {0};

	k = k < most ? k : most - most % CHARS;
	for (uint64_t i = 0; i < k; i += CHARS, s += 2 * CHARS) {
		four y, odd;

		memcpy(&y, s, sizeof y);
		memcpy(&odd, s + 3, sizeof odd);
		y = (y & even) | (odd & ~even); /* 0, 4, 2, 6 */
		y ^= y >> 11;
		y ^= y << 7 & UINT32_C(0x9d2c5680);
		y ^= y << 15 & UINT32_C(0xefc60000);
		y ^= y >> 18;
		y = (y >> (32 - FRACTION)) * n;
		carry |= (four)((y << (32 - FRACTION)) + one < one);
		y >>= FRACTION;
		to[i] = letters[y[0]];
		to[i + 1] = letters[y[2]];
		to[i + 2] = letters[y[1]];
		to[i + 3] = letters[y[3]];
	}
	if (carry[0] | carry[1] | carry[2] | carry[3])
		return 0;
	p->next += (unsigned)(2 * k);
	return k;
}

void
pyrandom_draw_letters(
    struct pyrandom *p, const char *letters, uint32_t n, char *to, uint64_t k)
{
	uint64_t i = 0;

	while (i < k) {
		uint64_t done = 0;

		if (n <= FEW && k - i >= CHARS) {
			if (p->next == N)
				renew_state(p);
			done = choose_letters(p, letters, n, to + i, k - i);
		}
		if (!done)
			to[i + done++] = letters[(uint32_t)(draw_unit(p) * n)];
		i += done;
	}
}
