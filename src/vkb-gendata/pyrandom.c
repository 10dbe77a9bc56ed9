#include "pyrandom.h"

#include <string.h>

#define N PYRANDOM_WORDS
#define M 397

/* The state that every seeding starts from: init_genrand(19650218). */
static void
start(uint32_t s[N])
{
	s[0] = 19650218;
	for (uint32_t i = 1; i < N; i++)
		s[i] = 1812433253 * (s[i - 1] ^ s[i - 1] >> 30) + i;
}

void
pyrandom_seed(struct pyrandom *p, uint64_t seed)
{
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, *s;
	uint32_t i = 1, j = 0, n = key[1] ? 2 : 1, k;

	s = p->state;
	start(s);
	for (k = N; k; k--) {
		s[i] =
		    (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1664525) + key[j] + j;
		if (++i == N) {
			s[0] = s[N - 1];
			i = 1;
		}
		if (++j == n)
			j = 0;
	}
	for (k = N - 1; k; k--) {
		s[i] = (s[i] ^ (s[i - 1] ^ s[i - 1] >> 30) * 1566083941) - i;
		if (++i == N) {
			s[0] = s[N - 1];
			i = 1;
		}
	}
	s[0] = UINT32_C(1) << 31;
	p->next = 0;
	p->renewed = false;
}

typedef uint32_t four __attribute__((vector_size(16)));

static inline uint32_t
twisted(uint32_t high, uint32_t low, uint32_t far)
{
	uint32_t y = (high & UINT32_C(1) << 31) | (low & ~(UINT32_C(1) << 31));

	return far ^ y >> 1 ^ (-(y & 1) & UINT32_C(0x9908b0df));
}

/* From..to-1, whose words 'far' away are M or more off; four at a time. */
static void
renew_some(uint32_t *s, unsigned from, unsigned to, int far)
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
		s[i] = twisted(s[i], s[i + 1], s[(int)i + far]);
}

/*
 * Of most seeds few words are drawn, so the first ones are renewed one by one;
 * where it gets to be many, all at once.
 */
static inline uint32_t
next_word(struct pyrandom *p)
{
	uint32_t *s = p->state, i, y;

	if (p->next == N) {
		renew_some(s, 0, N - M, M);
		renew_some(s, N - M, N - 1, M - N);
		s[N - 1] = twisted(s[N - 1], s[0], s[M - 1]);
		p->renewed = true;
		p->next = 0;
	}
	i = p->next++;
	if (!p->renewed)
		s[i] = twisted(s[i], s[i + 1 < N ? i + 1 : 0],
		    s[i < N - M ? i + M : i + M - N]);
	y = s[i];
	y ^= y >> 11;
	y ^= y << 7 & UINT32_C(0x9d2c5680);
	y ^= y << 15 & UINT32_C(0xefc60000);
	return y ^ y >> 18;
}

uint32_t
pyrandom_word(struct pyrandom *p)
{
	return next_word(p);
}

static inline double
unit(struct pyrandom *p)
{
	uint32_t a = next_word(p) >> 5, b = next_word(p) >> 6;

	return ((double)a * 67108864.0 + b) * 0x1p-53;
}

double
pyrandom_unit(struct pyrandom *p)
{
	return unit(p);
}

uint32_t
pyrandom_below(struct pyrandom *p, uint32_t n)
{
	int shift = __builtin_clz(n);
	uint32_t r;

	do
		r = pyrandom_word(p) >> shift;
	while (r >= n);
	return r;
}

uint32_t
pyrandom_int(struct pyrandom *p, uint32_t min, uint32_t max)
{
	return min + pyrandom_below(p, max - min + 1);
}

void
pyrandom_choices(
    struct pyrandom *p, const char *letters, uint32_t n, char *to, uint64_t k)
{
	for (uint64_t i = 0; i < k; i++)
		to[i] = letters[(uint32_t)(unit(p) * n)];
}
