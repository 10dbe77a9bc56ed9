#include "pyrandom.h"

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
}

/* A word is renewed when it is drawn: few are, of most seeds. */
uint32_t
pyrandom_word(struct pyrandom *p)
{
	uint32_t *s = p->state, i, y;

	if (p->next == N)
		p->next = 0;
	i = p->next++;
	y = (s[i] & UINT32_C(1) << 31) |
	    (s[i + 1 < N ? i + 1 : 0] & ~(UINT32_C(1) << 31));
	y = s[i < N - M ? i + M : i + M - N] ^ y >> 1 ^
	    (-(y & 1) & UINT32_C(0x9908b0df));
	s[i] = y;
	y ^= y >> 11;
	y ^= y << 7 & UINT32_C(0x9d2c5680);
	y ^= y << 15 & UINT32_C(0xefc60000);
	return y ^ y >> 18;
}

double
pyrandom_unit(struct pyrandom *p)
{
	uint32_t a = pyrandom_word(p) >> 5, b = pyrandom_word(p) >> 6;

	return (a * 67108864.0 + b) * 0x1p-53;
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
		to[i] = letters[(uint32_t)(pyrandom_unit(p) * n)];
}
