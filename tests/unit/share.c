/* Shares of a load: all parts together make exactly the whole. */
#include "tap.h"
#include "vkb-load/engine/run.h"

#include <math.h>
#include <stdbool.h>

static bool
check_sum(long long requests, int clients, unsigned parts)
{
	struct engine_work w = {
	    .requests = requests, .clients = clients, .rate = 1e4, .seed = 5};
	struct engine_work s, before = w;
	long long n = 0, c = 0;
	double rate = 0;
	bool ok = true;

	for (unsigned i = 1; i <= parts; i++) {
		s = engine_share_work(&w, i, parts);
		ok = ok &&
		    run_begin_share(&s, (uint64_t)requests) == (uint64_t)n &&
		    s.clients >= clients / (int)parts && s.clients >= 1 &&
		    run_all_requests(&s) == requests && s.seed != before.seed;
		n += s.requests;
		c += s.clients;
		rate += s.rate;
		before = s;
	}
	return ok && n == requests && c == clients && fabs(rate - 1e4) < 1e-6;
}

int
main(void)
{
	struct engine_work w = {.requests = 10, .clients = 2, .seed = 9};
	bool ok = true;

	for (unsigned parts = 1; parts < 40; parts++)
		ok = ok && check_sum(1000003, 41, parts) &&
		    check_sum(39, 40, parts);
	tap_ok(ok,
	    "requests, clients and rate add up, and begin where the "
	    "part before ends");
	tap_ok(check_sum(9000000000000000, 100000, 1000),
	    "they do for the largest loads");
	tap_ok(run_begin_share(&w, 10) == 0 && run_all_requests(&w) == 10,
	    "a load that is not shared is the whole");
	tap_ok(engine_share_work(&w, 2, 2).seed ==
		engine_share_work(&w, 2, 2).seed,
	    "the random numbers of a part are always the same");
	return tap_done();
}
