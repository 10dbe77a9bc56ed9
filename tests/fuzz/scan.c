/* The reply scanner: any bytes, whole and cut in two, give one result. */
#include "vkb-load/engine/scan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
count(void *arg, const char *line, uint32_t nth)
{
	(void)nth;
	*(size_t *)arg += strlen(line) + 1;
}

static int
feed(struct scan *s, const uint8_t *p, size_t n, struct scan_counters *t,
    size_t *errors)
{
	char *copy = malloc(n + !n); /* so that an overrun is seen */
	ptrdiff_t used;

	memcpy(copy, p, n);
	used = scan_feed(s, copy, n, UINT32_MAX, t, count, errors);
	free(copy);
	return used < 0 ? -1 : 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct scan whole = {.zero_miss = true}, parts = whole;
	struct scan_counters a = {0}, b = {0};
	size_t ea = 0, eb = 0, cut = n ? p[0] % n : 0;
	int ra, rb;

	ra = feed(&whole, p, n, &a, &ea);
	rb = feed(&parts, p, cut, &b, &eb);
	if (rb == 0)
		rb = feed(&parts, p + cut, n - cut, &b, &eb);
	if (ra != rb ||
	    (ra == 0 &&
		(a.replies != b.replies || a.misses != b.misses || ea != eb)))
		abort();
	return 0;
}
