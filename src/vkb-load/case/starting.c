#include "starting.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "num.h"
#include "peers.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <math.h>
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

/* Reads the clock by some TIME commands; the fastest one counts. Returns 0, or
 * -1 after reporting an error. */
static int
sample_clock(struct starting_clock *to, struct client *c, int timeout_ms)
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
		*to = (struct starting_clock){.offset_us = us - at / 1000,
		    .ahead_ms =
			(double)us / 1e3 - here * 1e3 + (double)half / 1e6,
		    .error_ms = (double)half / 1e6};
	}
	return 0;
}

/* Convert between the time of the server in us and clock_ns(). */
static int64_t
get_server_us(const struct starting *s, int64_t ns)
{
	return ns / 1000 + s->clock.offset_us;
}

static int64_t
get_own_ns(const struct starting *s, int64_t us)
{
	return (us - s->clock.offset_us) * 1000;
}

static int
read_clock(struct starting *s)
{
	struct client *c = target_client(s->target, 0);
	int rc = c
	    ? sample_clock(&s->clock, c, control_ms(&s->target->e, 10000))
	    : -1;

	client_close(c);
	return rc;
}

int64_t
starting_when(void *arg, double warmup_s)
{
	struct starting *s = arg;
	char text[CLOCK_ISO];
	int64_t at, left;

	if (read_clock(s) < 0)
		return -1;
	at = get_server_us(s, clock_ns());
	if (s->peers && peers_agree(s->peers, &at) < 0)
		return -1;
	if (!(s->at_s > 0))
		return get_own_ns(s, at) + (int64_t)(warmup_s * 1e9);
	at = get_own_ns(s, (int64_t)llround(s->at_s * 1e6));
	left = at - (int64_t)(warmup_s * 1e9) - clock_ns();
	if (left >= 0)
		return at;
	return err_fail("%.3f s too late to begin at %s%s", -(double)left / 1e9,
	    clock_iso_of(text, s->at_s),
	    warmup_s > 0 ? ", after the warm-up" : "");
}

/* Sets a number with at most three digits behind the point. */
static void
set_rounded(struct json *to, const char *key, double v)
{
	json_set_num(to, key, round(v * 1e3) / 1e3 + 0.); /* not -0 */
}

void
starting_set_part(
    const struct starting *s, struct json *run, const struct engine_result *r)
{
	struct json *part;

	if (!s->peers)
		return;
	part = json_object();
	json_set_str(run, "type", "part");
	json_set_num(part, "i", peers_number(s->peers));
	json_set_num(part, "n", peers_count(s->peers));
	if (s->clock.offset_us) {
		set_rounded(part, "clock_ahead_ms", -s->clock.ahead_ms);
		set_rounded(part, "clock_error_ms", s->clock.error_ms);
	}
	if (s->clock.offset_us && r && r->end_ns > r->start_ns) {
		json_set_num(
		    part, "begin_us", (double)get_server_us(s, r->start_ns));
		json_set_num(
		    part, "end_us", (double)get_server_us(s, r->end_ns));
	}
	json_set(json_get(run, "run"), "part", part);
}
