#include "starting.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "peers.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <math.h>

static int
read_clock(struct starting *s)
{
	struct client *c = target_client(s->target, 0);
	int rc = c
	    ? server_clock_read(&s->clock, c, control_ms(&s->target->e, 10000))
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
	if (s->peers && peers_agree(s->peers, &s->clock, &at) < 0)
		return -1;
	if (!(s->at_s > 0))
		return server_clock_ns(&s->clock, at) +
		    (int64_t)(warmup_s * 1e9);
	at = server_clock_ns(&s->clock, (int64_t)llround(s->at_s * 1e6));
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
		json_set_num(part, "begin_us",
		    (double)server_clock_us(&s->clock, r->start_ns));
		json_set_num(part, "end_us",
		    (double)server_clock_us(&s->clock, r->end_ns));
	}
	json_set(json_get(run, "run"), "part", part);
}
