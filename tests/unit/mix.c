/*
 * Mixes: how often each command is sent compared with its weight (chi-squared,
 * fixed seeds), their order, and that a copied cursor makes the same commands.
 */
#include "tap.h"

#include "mem.h"
#include "mixspec.h"
#include "rng.h"
#include "str.h"
#include "valuespec.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/cmdsource.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/mix.h"
#include "vkb-load/engine/pieces.h"
#include "vkb-load/engine/template.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 1000000

static struct mixspec spec;

static struct engine_work
make_work(const char *text, bool turn)
{
	struct engine_work w = {
	    .command = text, .data_size = 3, .in_order = turn};
	char *why;

	mixspec_free(&spec);
	why = mixspec_parse(text, &spec);
	tap_ok(!why, "'%s' is a valid mix%s%s", text, why ? ": " : "",
	    why ? why : "");
	w.mix = spec.v;
	w.nmix = spec.n;
	return w;
}

/* Returns a mix of requests with values, in order or not. */
static struct cmdsource *
open_values(const char *text, const char *values, bool ordered)
{
	struct engine_target t = {0};
	struct engine_work w = make_work(text, false);

	tap_ok(!valuespec_parse(values, &w.values),
	    "'%s' is a valid option of values", values);
	if (ordered)
		w.keys.kind = KEYSPEC_SEQUENTIAL;
	return cmdsource_open(&t, &w);
}

static struct cmdsource *
open_mix(const char *text, bool turn)
{
	struct engine_target t = {0};
	struct engine_work w = make_work(text, turn);

	return cmdsource_open(&t, &w);
}

/* Chi-squared of the shares of the parts, in standard deviations from its mean
 * (Wilson and Hilferty, 1931). 'batch' steps are planned at once. */
static double
compare_shares(const char *text, const char *theory, uint32_t batch)
{
	struct cmdsource *o = open_mix(text, false);
	const struct mix *m = o->mix;
	double n[MIXSPEC_MOST] = {0}, all = 0, units = 0, chi = 0, d, e;
	const struct mix_step *s;
	struct mix_ring r;

	mix_ring_init(&r, m, batch, 7, 0);
	for (uint32_t i = 0; i < DRAWS; i += batch) {
		mix_plan(m, &r, batch);
		for (uint32_t k = 0; k < batch; k++) {
			s = mix_step(m, &r, r.at - batch + k);
			n[s->part] += s->first;
			units += s->first;
		}
	}
	o->ops->free(o);
	make_work(theory, false);
	for (size_t i = 0; i < spec.n; i++)
		all += spec.v[i].weight;
	for (size_t i = 0; i < spec.n; i++) {
		e = units * spec.v[i].weight / all;
		chi += (n[i] - e) * (n[i] - e) / e;
	}
	free(r.steps);
	d = (double)spec.n - 1;
	return (cbrt(chi / d) - (1 - 2 / (9 * d))) / sqrt(2 / (9 * d));
}

static void
shares(void)
{
	static const char *const texts[] = {"GET 90, SET 10", "GET 1 SET 1",
	    "GET 99.9 SET 0.1", "GET 1, SET 2, INCR 3, LPUSH 4, SADD 5, ZADD 6",
	    "GET 0.000001, SET 0.000003",
	    "'MULTI ; INCR {key} ; EXEC' 2, GET 5, 'SET {key} x' 1"};
	static const uint32_t batches[] = {1, 10, 128};
	double z;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (size_t k = 0; k < 3; k++) {
			z = compare_shares(texts[i], texts[i], batches[k]);
			tap_ok(fabs(z) < 3.5,
			    "the shares of %s match their weights, %u steps at "
			    "once (z = %.2f)",
			    texts[i], batches[k], z);
		}
	z = compare_shares("GET 90.3, SET 9.7", "GET 90, SET 10", 10);
	tap_ok(
	    z > 6, "a weight of 90.3 is distinguished from 90 (z = %.0f)", z);
	z = compare_shares("GET 3333, SET 6667", "GET 1, SET 1.95", 10);
	tap_ok(z > 6, "1:2 is distinguished from 1:1.95 (z = %.0f)", z);
}

/*
 * The same of rows of 'length' steps, of which some are drawn at once; the
 * first row begins behind 'skip' steps.
 */
static double
compare_rows(const char *text, uint32_t length, uint32_t skip)
{
	struct cmdsource *o = open_mix(text, false);
	const struct mix *m = o->mix;
	double got[256] = {0}, share[256], all = 0, rows = 0, chi = 0, d, e;
	uint32_t i, k, row, n = 1;
	struct mix_ring r;

	for (i = 0; i < length; i++)
		n *= (uint32_t)spec.n;
	for (i = 0; i < spec.n; i++)
		all += spec.v[i].weight;
	for (i = 0; i < n; i++) {
		share[i] = 1;
		for (k = 0, row = i; k < length; k++, row /= (uint32_t)spec.n)
			share[i] *= spec.v[row % spec.n].weight / all;
	}
	mix_ring_init(&r, m, 120, 9, 0);
	for (i = 0; i < DRAWS / 120; i++) {
		mix_plan(m, &r, 120);
		for (k = row = 0; k < 116; k++) {
			row = row * (uint32_t)spec.n +
			    (uint32_t)mix_step(m, &r, r.at - 120 + skip + k)
				->part;
			if (k % length < length - 1)
				continue;
			got[row]++;
			rows++;
			row = 0;
		}
	}
	o->ops->free(o);
	free(r.steps);
	for (i = 0; i < n; i++) {
		e = rows * share[i];
		chi += (got[i] - e) * (got[i] - e) / e;
	}
	d = (double)n - 1;
	return (cbrt(chi / d) - (1 - 2 / (9 * d))) / sqrt(2 / (9 * d));
}

static void
rows(void)
{
	static const char *const texts[] = {"GET 90, SET 10", "GET 1 SET 1",
	    "GET 5, SET 3, INCR 2", "GET 1, SET 2, INCR 3, LPUSH 4",
	    "GET 3, SET 2, INCR 2, LPUSH 3, SADD 3, ZADD 3, RPUSH 2"};
	uint32_t length;
	double z;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (uint32_t skip = 0; skip < 4; skip++) {
			length = i < 4 ? 4 : 2;
			z = compare_rows(texts[i], length, skip);
			tap_ok(fabs(z) < 3.5,
			    "rows of %u of %s, from the %uth on (z = %.2f)",
			    length, texts[i], skip, z);
		}
}

static void
turns(void)
{
	struct cmdsource *o = open_mix("GET 3, SET 1, INCR 2", true);
	const struct mix *m = o->mix;
	struct mix_ring r;
	char got[25] = "", first[25] = "";

	mix_ring_init(&r, m, 8, 1, 0);
	for (int i = 0; i < 24; i++) {
		mix_plan(m, &r, 1);
		got[i] = "GSI"[mix_step(m, &r, r.at - 1)->part];
	}
	tap_str(got, "GIGSIGGIGSIGGIGSIGGIGSIG",
	    "in turn the steps of each command are spread over the round");
	free(r.steps);
	mix_ring_init(&r, m, 8, 1, 1);
	for (int i = 0; i < 24; i++) {
		mix_plan(m, &r, 1);
		first[i] = "GSI"[mix_step(m, &r, r.at - 1)->part];
	}
	tap_ok(strncmp(first, got + 1, 23) == 0,
	    "the second connection begins one step later");
	free(r.steps);
	o->ops->free(o);
}

/* Makes n commands, at most 'full' bytes at once, and returns them. */
static char *
make_all(const struct cmdsource *o, struct cursor *c, const struct keys *k,
    uint32_t n, size_t full)
{
	char *all = mem_new(o->ops->room(o, 200 * n)), *to = all;
	size_t len;

	for (uint32_t made; n; n -= made) {
		made = o->ops->make(o, c, k, to, n, full, &len);
		to += len;
	}
	*to = '\0';
	return all;
}

/* Checks that a copy of the cursor makes the same commands, also in pieces.
 * Frees the source. */
static void
made_again(struct cmdsource *o, const char *text)
{
	struct keys keys = {.space = 1000, .count = 1000};
	struct cursor c = {.chooser = &chooser_uniform}, from;
	struct mix_ring r;
	char *a, *b;

	mix_ring_init(&r, o->mix, 100, 3, 0);
	rng_seed(&c.rng, 5, 0);
	c.ring = &r;
	mix_plan(o->mix, &r, 100);
	from = c;
	a = make_all(o, &c, &keys, 100, SIZE_MAX);
	c = from;
	b = make_all(o, &c, &keys, 100, 1);
	tap_ok(strcmp(a, b) == 0 && strlen(a) > 2000,
	    "%s: a copy of the cursor makes the same commands, also in pieces",
	    text);
	free(a);
	free(b);
	free(r.steps);
	o->ops->free(o);
}

/* With numbers in order a value depends only on the number of its request. */
static void
values_in_order(void)
{
	struct cmdsource *o =
	    open_values("SET 1, 'SET {key} __data__' 1", "10-30", true);
	struct keys keys = {.space = 1000, .count = 1000};
	struct cursor c = {.chooser = &chooser_sequential, .number = 100};
	struct cursor d = c;
	struct mix_ring r;
	char *a, *b, *end;

	mix_ring_init(&r, o->mix, 64, 3, 0);
	rng_seed(&c.rng, 5, 0);
	rng_seed(&d.rng, 6, 0);
	c.ring = d.ring = &r;
	mix_plan(o->mix, &r, 64);
	free(make_all(o, &c, &keys, 20, SIZE_MAX));
	a = make_all(o, &c, &keys, 20, SIZE_MAX);
	d.step = 20;
	d.number = 120;
	b = make_all(o, &d, &keys, 20, SIZE_MAX);
	end = strstr(a, "key:000000000139");
	tap_ok(end && strcmp(a, b) == 0,
	    "with numbers in order a value depends only on the number of its "
	    "request");
	free(a);
	free(b);
	free(r.steps);
	o->ops->free(o);
}

/* Sizes and contents of the values of a mix; those of SET in their order. */
static void
values(const char *text)
{
	struct cmdsource *o = open_values("GET 1, SET 1", text, false);
	struct keys keys = {.space = 1000, .count = 1000};
	struct cursor c = {.chooser = &chooser_uniform};
	double got[3] = {0};
	char *a, *p, *last = NULL;
	size_t size, sets = 0, i, same = 0;
	struct mix_ring r;

	mix_ring_init(&r, o->mix, 65536, 3, 0);
	rng_seed(&c.rng, 5, 0);
	c.ring = &r;
	mix_plan(o->mix, &r, 40000);
	a = make_all(o, &c, &keys, 40000, SIZE_MAX);
	for (i = 0, p = a; i < 40000; i++) {
		if (memcmp(p, "*2\r\n$3\r\nGET\r\n$16\r\nkey:0000", 26) == 0) {
			p += 36;
			continue;
		}
		if (memcmp(p, "*3\r\n$3\r\nSET\r\n$16\r\nkey:0000", 26) != 0)
			break;
		size = (size_t)atoi(p + 37);
		p += 36 + 5; /* all sizes have two digits */
		sets++;
		got[size == 20 ? 0 : size == 50 ? 1 : 2]++;
		same += size == 50 && last && memcmp(last, p, 50) == 0;
		last = size == 50 ? p : last;
		p += size + 2;
	}
	tap_ok(i == 40000 && sets > 19000 && got[2] == 0 &&
		fabs(got[1] / (double)sets - .25) < .03,
	    "%s: %.0f values of 20 bytes and %.0f of 50", text, got[0], got[1]);
	tap_ok(strstr(text, "random") ? same < 20 : same > 4000,
	    "%s: only random values differ (%zu are equal)", text, same);
	free(a);
	free(r.steps);
	o->ops->free(o);
}

static size_t
count_prerendered(const struct prerendered *k)
{
	return (size_t)(k->list[k->count].bytes - k->list->bytes);
}

/* Returns the size of the requests of a mix that are made in advance. */
static size_t
count_bytes(size_t commands, const char *sizes)
{
	struct str text = {0};
	const struct template *t;
	struct cmdsource *o;
	size_t sum = 0, i;

	for (i = 0; i < commands; i++)
		str_printf(&text, "%s'SET %zu:__rand_int__ __data__' 1",
		    i ? ", " : "", i);
	o = open_values(text.s, sizes, false);
	t = (const struct template *)o;
	for (i = 0; i < t->ncommands; i++)
		if (t->commands[i].prerendered)
			sum += count_prerendered(t->commands[i].prerendered);
	o->ops->free(o);
	str_free(&text);
	return sum;
}

/* The memory for values of many commands is limited. */
static void
memory(void)
{
	size_t few = count_bytes(4, "1000 random"),
	       many = count_bytes(60, "1000 random"),
	       large = count_bytes(60, "200000 random");

	tap_ok(few > 3 << 20 && few < 5 << 20,
	    "4 commands have 1 MiB of values each (%zu bytes)", few);
	tap_ok(many > 50 << 20 && many <= 64 << 20,
	    "60 commands have no more than 64 MiB (%zu bytes)", many);
	tap_ok(large == 0,
	    "large values of 60 commands are made for each request");
}

static void
wire(void)
{
	struct cmdsource *o =
	    open_mix("LRANGE_100 1, SET 1, 'PING \"a b\"' 1", true);
	struct keys keys = {.space = 1, .count = 1};
	struct cursor c = {.chooser = &chooser_uniform};
	struct mix_ring r;
	char *a;

	mix_ring_init(&r, o->mix, 4, 3, 0);
	c.ring = &r;
	mix_plan(o->mix, &r, 3);
	a = make_all(o, &c, &keys, 3, SIZE_MAX);
	tap_str(a,
	    "*4\r\n$6\r\nLRANGE\r\n$6\r\nmylist\r\n$1\r\n0\r\n$2\r\n99\r\n"
	    "*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000000\r\n$3\r\nVXK\r\n"
	    "*2\r\n$4\r\nPING\r\n$3\r\na b\r\n",
	    "the bytes of the commands");
	free(a);
	free(r.steps);
	o->ops->free(o);
}

/* The steps of a part follow each other and have the same {key}. */
static void
units(void)
{
	struct cmdsource *o =
	    open_mix("'MULTI ; INCR {key} ; GET {key} ; EXEC' 1, GET 2", false);
	struct keys keys = {.space = 100000, .count = 100000};
	struct cursor c = {.chooser = &chooser_uniform};
	struct mix_ring r;
	char *a, *p, key[17], before[17] = "";
	int found = 0, same = 0, alone = 0, differ = 0;

	mix_ring_init(&r, o->mix, 1000, 3, 0);
	rng_seed(&c.rng, 5, 0);
	c.ring = &r;
	for (int i = 0; i < 100; i++) /* batches end within a part */
		mix_plan(o->mix, &r, 10);
	a = make_all(o, &c, &keys, 1000, SIZE_MAX);
	for (p = a; (p = strstr(p, "MULTI\r\n")); p++) {
		found++;
		alone += strncmp(p + 7, "*2\r\n$4\r\nINCR\r\n$16\r\n", 19) != 0;
		memcpy(key, p + 7 + 19, 16);
		key[16] = '\0';
		same += strncmp(p + 7 + 19 + 18 + 18, key, 16) == 0;
		differ += strcmp(key, before) != 0;
		memcpy(before, key, 17);
	}
	tap_ok(
	    found > 100 && !alone, "the commands of a part follow each other");
	tap_ok(same >= found - 1, "{key} is the same in all of them");
	tap_ok(differ >= found - 1, "{key} is another one in the next part");
	free(a);
	free(r.steps);
	o->ops->free(o);
}

/* What happens when a connection breaks within a part. */
static void
cut(void)
{
	struct cmdsource *o =
	    open_mix("'WATCH a ; MULTI ; INCR {key} ; EXEC' 1", false);
	struct cmdsource *other =
	    open_mix("'GET {key} ; SET {key} x' 1", false);
	struct mix_ring r;

	mix_ring_init(&r, o->mix, 4, 3, 0);
	mix_plan(o->mix, &r, 7);
	tap_ok(mix_count_begun(o->mix, &r, 1) == 2 &&
		mix_count_begun(o->mix, &r, 3) == 0 &&
		mix_count_begun(o->mix, &r, 5) == 2,
	    "a transaction that is cut is sent again from its first step");
	r.fresh = true;
	mix_plan(o->mix, &r, 2);
	tap_ok(mix_step(o->mix, &r, r.at - 2)->first &&
		!mix_step(o->mix, &r, r.at - 1)->first,
	    "a new connection begins with a new transaction");
	free(r.steps);
	mix_ring_init(&r, other->mix, 4, 3, 0);
	mix_plan(other->mix, &r, 2);
	tap_ok(mix_count_begun(other->mix, &r, 1) == 0,
	    "parts that are not transactions are continued");
	free(r.steps);
	o->ops->free(o);
	other->ops->free(other);
}

static void
counters(void)
{
	struct cmdsource *o =
	    open_mix("'SET k:__seq__ x' 1, 'GET k:__rand_int__' 3", false);
	struct cursor c = {0};
	struct mix_ring r;
	uint64_t n = 0;

	mix_ring_init(&r, o->mix, 64, 3, 0);
	c.ring = &r;
	mix_plan(o->mix, &r, 64);
	for (uint32_t i = 0; i < 64; i++)
		n += mix_step(o->mix, &r, i)->part == 0;
	tap_ok(n > 0 && o->ops->takes(o, CMDSOURCE_SEQ, &c, 64) == n,
	    "as many numbers in sequence are taken as are used");
	free(r.steps);
	o->ops->free(o);
}

static void
texts(void)
{
	static const char *const forms[][2] = {
	    {"get 90 SET 10", "GET 90, SET 10"},
	    {" 'a  b' 1,\"c 'd' \"\"e\"\"\" .5 ",
		"'a  b' 1, \"c 'd' \"\"e\"\"\" 0.5"}};
	static const char *const wrong[] = {"", " ", ",", "GET", "GET x",
	    "GET -1", "GET 1 GET 2", "'GET 1", "GET 1,, SET 1", "'' 1",
	    "GET 1e10"};
	struct mixspec m;
	char *why, *text;

	for (size_t i = 0; i < 2; i++) {
		why = mixspec_parse(forms[i][0], &m);
		text = why ? why : mixspec_format(&m);
		tap_str(text, forms[i][1], forms[i][0]);
		free(text);
		if (!why)
			mixspec_free(&m);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		why = mixspec_parse(wrong[i], &m);
		tap_ok(why != NULL, "'%s' is not a valid mix: %s", wrong[i],
		    why ? why : "");
		free(why);
	}
}

static void
refused(const char *text, bool turn, const char *what)
{
	struct engine_target t = {0};
	struct engine_work w = make_work(text, turn);
	char *why = NULL;
	struct template *x = template_new(&t, &w, &why);

	tap_ok(!x && why, "%s: %s", what, why ? why : "");
	template_free(x);
	free(why);
}

int
main(void)
{
	texts();
	shares();
	rows();
	turns();
	wire();
	made_again(open_mix("GET 90, SET 10", false), "a mix");
	made_again(open_mix("MSET 1, 'HSET {key} f __int:0:9999__' 3", false),
	    "a mix with ranges");
	made_again(open_values("GET 1, SET 2", "10-30", false), "with values");
	values_in_order();
	values("20:3,50:1");
	values("20:3,50:1 random");
	memory();
	units();
	cut();
	counters();
	refused("GET 1.5, SET 1", true, "weights in turn are whole");
	refused("GET 9999, SET 2", true, "a round has an end");
	refused("'200 PING' 1, '56 PING a' 1", false, "steps are limited");
	refused("'GET __nope__' 1", false, "placeholders are checked");
	mixspec_free(&spec);
	return tap_done();
}
