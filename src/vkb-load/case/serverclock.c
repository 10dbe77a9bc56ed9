#include "serverclock.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "num.h"
#include "vkb-load/engine/control.h"

#include <stdbool.h>

#define SAMPLES 8

static bool
read_time(const struct reply *r, int64_t *us)
{
	long long v[2];

	for (size_t i = 0; i < 2; i++)
		if (reply_len(r) != 2 || !reply_text(reply_at(r, i)) ||
		    num_int(reply_text(reply_at(r, i)), &v[i]) < 0)
			return false;
	*us = v[0] * 1000000 + v[1];
	return true;
}

int
server_clock_read(struct server_clock *to, struct client *c, int timeout_ms)
{
	int64_t sent, half, at, us, least = INT64_MAX;
	struct reply *r;
	double here;
	bool ok;

	for (int i = 0; i < SAMPLES; i++) {
		sent = clock_ns();
		r = CONTROL_ASK(c, timeout_ms, "TIME");
		here = clock_now();
		half = (clock_ns() - sent) / 2;
		ok = r && read_time(r, &us);
		reply_free(r);
		if (!r)
			return -1;
		if (!ok)
			return err_fail("the server's answer to TIME is not "
					"a time");
		if (half >= least)
			continue;
		least = half;
		at = sent + half;
		*to = (struct server_clock){.offset_us = us - at / 1000,
		    .ahead_ms =
			(double)us / 1e3 - here * 1e3 + (double)half / 1e6,
		    .error_ms = (double)half / 1e6};
	}
	return 0;
}

int64_t
server_clock_us(const struct server_clock *c, int64_t ns)
{
	return ns / 1000 + c->offset_us;
}

int64_t
server_clock_ns(const struct server_clock *c, int64_t us)
{
	return (us - c->offset_us) * 1000;
}
