#include "jsonhash.h"

uint64_t
jsonhash_bytes(uint64_t h, const char *s, size_t n)
{
	uint64_t a, b = 0;

	h = jsonhash_mix(h, n);
	for (; n > 16; s += 16, n -= 16) {
		memcpy(&a, s, 8);
		memcpy(&b, s + 8, 8);
		h = jsonhash_mix(h ^ a, b);
	}
	if (n >= 8) {
		memcpy(&a, s, 8);
		memcpy(&b, s + n - 8, 8);
		return jsonhash_mix(h ^ a, b);
	}
	if (n >= 4) {
		uint32_t low, high;

		memcpy(&low, s, 4);
		memcpy(&high, s + n - 4, 4);
		return jsonhash_mix(h, (uint64_t)high << 32 | low);
	}
	for (b = 0; n; n--)
		b = b << 8 | (unsigned char)*s++;
	return jsonhash_mix(h, b);
}
