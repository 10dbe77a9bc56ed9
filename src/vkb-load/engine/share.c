#include "share.h"
#include "rng.h"

/* Returns whole * i / n, rounded down, without overflow. */
static uint64_t
get_bound(uint64_t whole, uint64_t i, uint64_t n)
{
	return whole / n * i + whole % n * i / n;
}

uint64_t
share_begin(const struct engine_work *w, uint64_t whole)
{
	return w->parts ? get_bound(whole, w->part - 1, w->parts) : 0;
}

long long
share_requests(const struct engine_work *w)
{
	return w->parts ? w->all_requests : w->requests;
}

struct engine_work
share_work(const struct engine_work *whole, unsigned part, unsigned parts)
{
	struct engine_work w = *whole;
	uint64_t all = (uint64_t)w.requests;
	struct rng rng;

	w.part = part;
	w.parts = parts;
	w.all_requests = w.requests;
	w.requests = (long long)(get_bound(all, part, parts) -
	    get_bound(all, part - 1, parts));
	w.clients = (int)(((unsigned)w.clients + parts - part) / parts);
	w.rate /= parts;
	w.ramp = ratespec_scale(&w.ramp, 1. / parts);
	rng_seed(&rng, w.seed, UINT64_C(0x70617274) + part);
	w.seed = rng_next(&rng);
	return w;
}
