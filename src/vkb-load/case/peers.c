#include "peers.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* The state of a part of a load, which the parts publish; see peers.h.
 */

/* Makes the first state of a part. Caller frees with json_free. */
static struct json *
peerstate_new(const struct peers_opts *o)
{
	struct json *s = json_object();
	unsigned long long token = 0;
	char text[32], host[256] = "";

	if (getrandom(&token, sizeof token, 0) != sizeof token)
		err_die("cannot get random numbers");
	gethostname(host, sizeof host - 1);
	json_set_num(s, "i", o->part);
	json_set_num(s, "n", o->parts);
	snprintf(text, sizeof text, "%016llx", token);
	json_set_str(s, "token", text);
	json_set_str(s, "version", opt_version());
	snprintf(text, sizeof text, "%016llx", o->plan);
	json_set_str(s, "plan", text);
	json_set_str(s, "host", host);
	json_set_str(s, "session", o->session);
	json_set_num(s, "seed", (double)o->seed);
	json_set_str(s, "prefix", o->prefix);
	return s;
}

/*
 * Returns why the state of a part does not fit together with ours, or NULL.
 * Caller frees with free().
 */
static char *
peerstate_explain(const struct json *ours, const struct json *its)
{
	double i = json_get_num(its, "i", 0), n = json_get_num(its, "n", 0);
	const char *version = json_get_str(its, "version");
	char name[64];

	snprintf(name, sizeof name, "part %g of %g", i, n);
	if (n != json_get_num(ours, "n", 0))
		return mem_printf("a load of %g parts is being made on this "
				  "server, not one of %g",
		    n, json_get_num(ours, "n", 0));
	if (!json_get_str(its, "token") || i > n)
		return mem_printf("%s is not a part of this load", name);
	if (i == json_get_num(ours, "i", 0) &&
	    !json_equal(json_get(its, "token"), json_get(ours, "token")))
		return mem_printf("there are two of %s: give each part another "
				  "'--client', and make one load at a time",
		    name);
	if (!json_equal(json_get(its, "version"), json_get(ours, "version")))
		return mem_printf("%s is vkb-load %s, and this is %s", name,
		    version ? version : "of another version", opt_version());
	if (!json_equal(json_get(its, "plan"), json_get(ours, "plan")))
		return mem_printf("%s has other cases or options: give all "
				  "parts the same, but for '--client' and "
				  "'--output'",
		    name);
	return NULL;
}

#define STEPS 8       /* a run has fewer */
#define LAST 9e15     /* the step of a part that has done all runs */
#define LOOK_MS 10    /* between two looks at the others */
#define LINGER_MS 300 /* before a part that does not fit leaves */
#define BEAT_NS INT64_C(1000000000)
#define TELL_NS INT64_C(2000000000) /* until it reports what it waits for */
#define LEAD_US 600000 /* before the load begins: all see that time */
#define TIMEOUT_S 60

struct peers {
	struct peers_opts o;
	const struct target *target;
	struct client *own, *look; /* subscribed; for commands, or NULL */
	char *channel;             /* of our state, or NULL */
	int ms;                    /* of each command */
	struct json *state;
	struct json **seen; /* the states of all parts; NULL: not there */
	char **tokens;      /* of those that met; NULL: not yet */
	unsigned run;
	bool broken;
	bool leaderless; /* since part 1 has ended */
	int64_t beat_ns;
};

/*
 * Programs know each other's states by a server: each is subscribed to one
 * channel, whose name is its state, and lists the channels of all. No message
 * is sent and no key written, and the state of a program that ends is gone.
 */

#define CHANNEL "vkb:part:" /* and the state as JSON */

static int
call_own(struct peers *p, const char *command, const char *channel)
{
	struct reply *r = CLIENT_CALL(p->own, p->ms, command, channel);
	int rc = 0;

	if (!r)
		rc = err_fail("cannot tell the other parts what this one "
			      "does: %s",
		    client_error(p->own));
	else if (reply_type(r) == REPLY_ERROR)
		rc = err_fail("the parts of a load meet by %s of channels "
			      "'" CHANNEL "*': %s",
		    command, reply_text(r));
	reply_free(r);
	return rc;
}

static double
get_step(const struct json *state)
{
	return json_get_num(state, "at", 0);
}

/* Reports why no further run can be made. Returns -1. */
static int
give_up(struct peers *p, char *why)
{
	p->broken = true;
	err_fail("%s", why);
	free(why);
	return -1;
}

/* Tells the others our state: subscribes first and unsubscribes then, so that
 * there is always one. 0, or -1, error reported. */
static int
publish_state(struct peers *p)
{
	char *text, *was = p->channel;
	int rc = 0;

	if (p->broken)
		return -1;
	text = json_print(p->state);
	p->channel = mem_printf(CHANNEL "%s", text);
	if (!was || strcmp(was, p->channel) != 0)
		rc = call_own(p, "SUBSCRIBE", p->channel);
	if (rc == 0 && was && strcmp(was, p->channel) != 0)
		rc = call_own(p, "UNSUBSCRIBE", was);
	free(text);
	free(was);
	p->broken = rc < 0;
	return rc;
}

static const char *
get_name(const struct peers *p, size_t i, char name[64])
{
	snprintf(name, 64, "part %zu of %u", i + 1, p->o.parts);
	return name;
}

/* Is this a part that met? Others came too late, and see that themselves. */
static bool
is_known(const struct peers *p, const struct json *state, size_t i)
{
	const char *token = json_get_str(state, "token");

	return i < p->o.parts && token && strcmp(token, p->tokens[i]) == 0;
}

/* Stores a state, which it takes. If a part has two, the later one is stored.
 */
static int
keep_state(struct peers *p, struct json *state)
{
	double part = json_get_num(state, "i", 0);
	size_t i = (size_t)part - 1;
	bool known = part >= 1 && (!p->tokens || is_known(p, state, i));
	char *why = known ? peerstate_explain(p->state, state) : NULL;
	int rc = 0;

	if (why)
		rc = give_up(p, why);
	if (rc < 0 || !known || get_step(p->seen[i]) > get_step(state)) {
		json_free(state);
		return rc;
	}
	json_free(p->seen[i]);
	p->seen[i] = state;
	return 0;
}

static void
forget_states(struct peers *p)
{
	for (size_t i = 0; i < p->o.parts; i++) {
		json_free(p->seen[i]);
		p->seen[i] = NULL;
	}
}

static struct reply *
list_channels(struct peers *p)
{
	return CLIENT_CALL(p->look, p->ms, "PUBSUB", "CHANNELS", CHANNEL "*");
}

/* Lists the channels; a connection that was lost is made anew once. Returns
 * NULL after reporting an error. */
static struct reply *
look_around(struct peers *p)
{
	struct reply *r = p->look ? list_channels(p) : NULL;
	const char *text;

	if (!r) {
		client_close(p->look);
		p->look = target_client(p->target, 0);
		if (!p->look)
			return NULL;
		r = list_channels(p);
	}
	if (r && reply_type(r) == REPLY_ARRAY)
		return r;
	text = r ? reply_text(r) : client_error(p->look);
	err_say("cannot see what the other parts do: %s",
	    text ? text : "bad reply to PUBSUB");
	reply_free(r);
	return NULL;
}

/* Looks at what all parts do; while a state is replaced there may be two of a
 * part. 0, or -1, error reported. */
static int
read_states(struct peers *p)
{
	struct reply *r = look_around(p);
	struct json *state;
	const char *text;
	int rc = r ? 0 : -1;

	forget_states(p);
	for (size_t i = 0; rc == 0 && i < reply_len(r); i++) {
		text = reply_text(reply_at(r, i));
		if (!text || !str_starts(text, CHANNEL))
			continue;
		text += strlen(CHANNEL);
		state = json_parse(text, strlen(text), NULL, NULL);
		if (state)
			rc = keep_state(p, state);
	}
	reply_free(r);
	p->broken |= rc < 0;
	return rc;
}

static void
wait_ms(int ms)
{
	poll(NULL, 0, ms);
}

/* Appends "parts 2 and 3 of 4", of those that are not there. */
static void
add_missing(const struct peers *p, struct str *s)
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < p->o.parts; i++)
		n += !p->seen[i];
	str_printf(s, "part%s ", num_plural((double)n));
	for (size_t i = 0; i < p->o.parts; i++) {
		if (p->seen[i])
			continue;
		k++;
		str_printf(s, "%s%zu",
		    k == 1       ? ""
			: k == n ? " and "
				 : ", ",
		    i + 1);
	}
	str_printf(s, " of %u", p->o.parts);
}

static bool
is_complete(const struct peers *p)
{
	for (size_t i = 0; i < p->o.parts; i++)
		if (!p->seen[i])
			return false;
	return true;
}

static double
get_timeout(const struct peers *p)
{
	return p->o.timeout_s > 0 ? p->o.timeout_s : TIMEOUT_S;
}

static int
wait_for_all(struct peers *p)
{
	int64_t begun = clock_ns();
	int64_t until = begun + (int64_t)(get_timeout(p) * 1e9);
	bool told = p->o.quiet;
	struct str who = {0};
	int rc;

	while ((rc = read_states(p)) == 0 && !is_complete(p) && !*p->o.stop) {
		str_free(&who);
		add_missing(p, &who);
		if (clock_ns() > until) {
			rc = give_up(p,
			    mem_printf("%s did not come within %g s", who.s,
				get_timeout(p)));
			break;
		}
		if (!told && clock_ns() > begun + TELL_NS) {
			err_say("waiting for %s", who.s);
			told = true;
		}
		wait_ms(LOOK_MS);
	}
	str_free(&who);
	return rc < 0 || *p->o.stop ? -1 : 0;
}

/* Takes over what part 1 proposes. */
static void
take_proposals(struct peers *p)
{
	static const char *const keys[] = {"session", "seed", "prefix"};
	const struct json *v;

	for (size_t i = 0; i < 3; i++) {
		v = json_get(p->seen[0], keys[i]);
		if (v)
			json_set(p->state, keys[i], json_dup(v));
	}
}

static void
free_peers(struct peers *p)
{
	client_close(p->own);
	client_close(p->look);
	free(p->channel);
	forget_states(p);
	for (size_t i = 0; p->tokens && i < p->o.parts; i++)
		free(p->tokens[i]);
	free(p->tokens);
	free(p->seen);
	json_free(p->state);
	free(p);
}

struct peers *
peers_meet(const struct target *t, const struct peers_opts *o)
{
	struct peers *p = mem_new(sizeof *p);

	p->o = *o;
	p->seen = mem_array(o->parts, sizeof *p->seen);
	p->state = peerstate_new(o);
	p->target = t;
	p->ms = control_ms(&t->e, 0);
	p->own = target_client(t, 0);
	p->look = p->own ? target_client(t, 0) : NULL;
	if (!p->look || publish_state(p) < 0 || wait_for_all(p) < 0) {
		if (p->look) /* the others see what does not fit, too */
			wait_ms(LINGER_MS);
		free_peers(p);
		return NULL;
	}
	take_proposals(p);
	p->tokens = mem_array(p->o.parts, sizeof *p->tokens);
	for (size_t i = 0; i < p->o.parts; i++)
		p->tokens[i] = mem_str(json_get_str(p->seen[i], "token"));
	return p;
}

/* Waits until all other parts have seen the last step, or have left. */
void
peers_part(struct peers *p)
{
	int64_t until;
	bool all = false;

	if (!p)
		return;
	until = clock_ns() + (int64_t)(get_timeout(p) * 1e9);
	json_set_num(p->state, "at", LAST);
	if (!*p->o.stop && publish_state(p) == 0)
		while (!all && clock_ns() < until && !*p->o.stop &&
		    read_states(p) == 0) {
			all = true;
			for (size_t i = 0; i < p->o.parts; i++)
				all &=
				    !p->seen[i] || get_step(p->seen[i]) >= LAST;
			if (!all)
				wait_ms(LOOK_MS);
		}
	free_peers(p);
}

const char *
peers_session(const struct peers *p)
{
	return json_get_str(p->state, "session");
}

const char *
peers_prefix(const struct peers *p)
{
	return json_get_str(p->state, "prefix");
}

uint64_t
peers_seed(const struct peers *p)
{
	return (uint64_t)json_get_num(p->state, "seed", 0);
}

unsigned
peers_number(const struct peers *p)
{
	return p ? p->o.part : 0;
}

unsigned
peers_count(const struct peers *p)
{
	return p ? p->o.parts : 0;
}

bool
peers_leads(const struct peers *p)
{
	return !p || p->o.part == 1;
}

bool
peers_is_first_here(const struct peers *p)
{
	const struct json *host = p ? json_get(p->state, "host") : NULL;

	for (size_t i = 0; p && i + 1 < p->o.part; i++)
		if (json_equal(json_get(p->seen[i], "host"), host))
			return false;
	return true;
}

bool
peers_is_broken(const struct peers *p)
{
	return p && p->broken;
}

bool
peers_is_leaderless(const struct peers *p)
{
	return p && p->leaderless;
}

void
peers_begin(struct peers *p, const char *name)
{
	if (!p)
		return;
	p->run++;
	json_set_str(p->state, "run", name);
}

/* Reports why a part failed in this run, if it did. */
static int
check_failure(struct peers *p, size_t i)
{
	const struct json *state = p->seen[i];
	const char *why = json_get_str(state, "why");
	char name[64];

	if (json_get_num(state, "failed", 0) < p->run || i + 1 == p->o.part)
		return 0;
	return err_fail(
	    "%s failed: %s", get_name(p, i, name), why ? why : "unknown");
}

static int
check_name(struct peers *p, size_t i)
{
	const char *its = json_get_str(p->seen[i], "run");
	const char *ours = json_get_str(p->state, "run");
	char name[64];

	if (its && ours && strcmp(its, ours) == 0)
		return 0;
	return give_up(p,
	    mem_printf("%s makes '%s' and this one '%s': give '--resume' to "
		       "all parts or to none",
		get_name(p, i, name), its ? its : "nothing",
		ours ? ours : "nothing"));
}

/* Returns 1 if the others have come to the step, 0 if not yet, or -1. */
static int
check_step(struct peers *p, double step, size_t *slow)
{
	char name[64];

	for (size_t i = 0; i < p->o.parts; i++) {
		if (!p->seen[i]) {
			p->leaderless = i == 0;
			return give_up(p,
			    mem_printf("%s has ended", get_name(p, i, name)));
		}
		if (check_failure(p, i) < 0)
			return -1;
	}
	for (size_t i = 0; i < p->o.parts; i++)
		if (get_step(p->seen[i]) < step) {
			*slow = i;
			return 0;
		}
	return 1;
}

static int
wait_for_step(struct peers *p, double step)
{
	int64_t until = 0, patience = (int64_t)(get_timeout(p) * 1e9);
	struct json *was = NULL;
	size_t slow = 0;
	char name[64];
	int k = 0;

	while (k == 0 && !*p->o.stop) {
		k = read_states(p) < 0 ? -1 : check_step(p, step, &slow);
		if (k)
			break;
		if (!was || !json_equal(was, p->seen[slow])) {
			json_free(was); /* its state has changed */
			was = json_dup(p->seen[slow]);
			until = clock_ns() + patience;
		}
		if (clock_ns() > until)
			k = give_up(p,
			    mem_printf("%s did not report its state for %g s",
				get_name(p, slow, name), get_timeout(p)));
		else
			wait_ms(LOOK_MS);
	}
	json_free(was);
	return k > 0 ? 0 : -1;
}

static double
number_step(const struct peers *p, enum peers_step step)
{
	return (double)p->run * STEPS + step;
}

int
peers_wait(struct peers *p, enum peers_step step)
{
	if (!p)
		return 0;
	if (p->broken)
		return err_fail("a part of the load has ended");
	json_set_num(p->state, "at", number_step(p, step));
	if (publish_state(p) < 0 || wait_for_step(p, number_step(p, step)) < 0)
		return -1;
	for (size_t i = 0; i < p->o.parts && step == PEERS_BEGUN; i++)
		if (check_name(p, i) < 0)
			return -1;
	return 0;
}

/* Before the load begins the state is published every BEAT_NS, then only four
 * times per timeout, to disturb the load as little as possible. */
void
peers_beat(struct peers *p)
{
	int64_t now = clock_ns(), quarter;

	if (!p || p->broken || now < p->beat_ns)
		return;
	quarter = (int64_t)(get_timeout(p) / 4 * 1e9);
	p->beat_ns = now +
	    (get_step(p->state) < number_step(p, PEERS_READY) ? BEAT_NS
							      : quarter);
	json_set_num(p->state, "beat", json_get_num(p->state, "beat", 0) + 1);
	publish_state(p);
}

/*
 * The step PEERS_READY: agrees on the time, by the clock of the server, at
 * which the load begins; sets *us, which is now, to it. Returns as peers_wait.
 */
static int
agree_time(struct peers *p, int64_t *us)
{
	double latest = 0;

	json_set_num(p->state, "ready_us", (double)*us);
	if (peers_wait(p, PEERS_READY) < 0)
		return -1;
	for (size_t i = 0; i < p->o.parts; i++)
		if (json_get_num(p->seen[i], "ready_us", 0) > latest)
			latest = json_get_num(p->seen[i], "ready_us", 0);
	*us = (int64_t)latest + LEAD_US;
	return 0;
}

int
peers_done(struct peers *p, const char *failure)
{
	int rc = 0;

	if (!p)
		return 0;
	if (failure) {
		json_set_num(p->state, "failed", p->run);
		json_set_str(p->state, "why", failure);
	}
	json_set_num(p->state, "at", number_step(p, PEERS_DONE));
	if (p->broken || publish_state(p) < 0)
		return failure ? 0 : err_fail("a part of the load has ended");
	rc = wait_for_step(p, number_step(p, PEERS_DONE));
	return failure ? 0 : rc;
}

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
sample_clock(struct peers_clock *to, struct client *c, int timeout_ms)
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
		*to = (struct peers_clock){.offset_us = us - at / 1000,
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
peers_when(void *arg, double warmup_s)
{
	struct starting *s = arg;
	char text[CLOCK_ISO];
	int64_t at, left;

	if (read_clock(s) < 0)
		return -1;
	at = get_server_us(s, clock_ns());
	if (s->peers && agree_time(s->peers, &at) < 0)
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
peers_set_part(
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
