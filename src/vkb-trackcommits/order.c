#include "order.h"

static size_t
find_bisect_place(const enum order_state *v, size_t n, enum order_state wanted)
{
	size_t best = ORDER_END, most = 0, at;

	if (n && v[0] == wanted)
		return 0;
	for (size_t from = 0, to; from < n; from = to + 1) {
		for (to = from; to < n && v[to] != ORDER_KNOWN; to++)
			;
		if (to - from <= most)
			continue;
		/* Find the wanted one that is nearest to the middle. */
		for (size_t k = 0; k < 2 * (to - from); k++) {
			at = from + (to - from - 1) / 2;
			at = k % 2 ? at - (k + 1) / 2 : at + k / 2;
			if (at >= from && at < to && v[at] == wanted) {
				best = at;
				most = to - from;
				break;
			}
		}
	}
	return best;
}

static size_t
find_next_place(
    enum order o, const enum order_state *v, size_t n, enum order_state wanted)
{
	if (o == ORDER_BISECT)
		return find_bisect_place(v, n, wanted);
	for (size_t i = 0; i < n; i++) {
		size_t at = o == ORDER_NEWEST ? i : n - 1 - i;

		if (v[at] == wanted)
			return at;
	}
	return ORDER_END;
}

size_t
order_next(enum order o, const enum order_state *v, size_t n)
{
	size_t at = find_next_place(o, v, n, ORDER_FREE);

	return at == ORDER_END ? find_next_place(o, v, n, ORDER_LATE) : at;
}
