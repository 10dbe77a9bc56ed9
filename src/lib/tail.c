#include "tail.h"
#include "hist.h"
#include "str.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

double
tail_time(size_t i)
{
	return exp2((double)i / 8);
}

void
tail_write(struct str *s, const struct hist *h)
{
	uint64_t all = hist_count(h), left = all, count = 0;
	int64_t low, high = 0;
	size_t cell = 0, i = 0;
	bool more = true, known = false;

	str_printf(s, "[%" PRIu64 ",", all);
	for (; i < TAIL_TIMES; i++) {
		while (more && (double)high <= tail_time(i)) {
			left -= count;
			more = hist_cell(h, &cell, &low, &high, &count);
		}
		if (!left)
			break;
		if (known)
			str_printf(s, ",%" PRIu64, left);
		else if (left <= all / 2) {
			str_printf(s, "%zu,%" PRIu64, i, left);
			known = true;
		}
	}
	if (!known)
		str_printf(s, "%zu", i);
	str_addc(s, ']');
}

int
tail_read(struct tail *t, const double *v, size_t n)
{
	if (n < 2 || !(v[0] > 0) || !(v[1] >= 0 && v[1] <= TAIL_TIMES))
		return -1;
	for (size_t i = 2; i < n; i++)
		if (!(v[i] > 0 && v[i] <= v[i > 2 ? i - 1 : 0]))
			return -1;
	*t = (struct tail){v[0], (size_t)v[1], v + 2, n - 2};
	return 0;
}

double
tail_share(const struct tail *t, size_t time)
{
	if (time < t->first)
		return .5;
	time -= t->first;
	return time < t->n ? t->above[time] / t->requests : 0;
}
