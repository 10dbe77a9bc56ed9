/* Values against theory: sizes and bytes by chi-squared, compression ratios by
 * zlib. */
#include "tap.h"

#include "mem.h"
#include "str.h"
#include "valuespec.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/template.h"
#include "vkb-load/engine/values.h"

#include <stdlib.h>
#include <zlib.h>

static struct keys keys = {.space = 1000, .count = 1000};

static struct engine_work
make_work(const char *text)
{
	struct engine_work w = {.command = "SET"};

	tap_ok(!valuespec_parse(text, &w.values),
	    "'%s' is a valid option of values", text);
	w.data_size = (long long)(valuespec_mean(&w.values) + .5);
	return w;
}

static void
is_form(const char *text, const char *want, double mean)
{
	struct valuespec v;
	char *got;

	if (!tap_ok(!valuespec_parse(text, &v),
		"'%s' is a valid option of values", text))
		return;
	got = valuespec_format(&v);
	tap_str(got, want, text);
	tap_ok(
	    fabs(valuespec_mean(&v) - mean) < 1e-6, "their mean is %g", mean);
	free(got);
}

static void
is_none(const char *text, const char *want)
{
	struct valuespec v;
	const char *why = valuespec_parse(text, &v);

	tap_ok(why && strstr(why, want), "'%s' is not valid: %s", text,
	    why ? why : "");
}

static void
forms(void)
{
	long long low, high;

	is_form("64", "64", 64);
	is_form("64-64 constant", "64", 64);
	is_form("64-1024", "64-1024", 544);
	is_form("64:7 random", "64 random", 64);
	is_form("1024 compressible:3", "1024 compressible:3", 1024);
	is_form("9 compressible:1", "9 random", 9);
	is_form("16384:5,16:80,1024:15", "16:80,1024:15,16384:5", 985.6);
	is_form("16:4,32:1", "16:80,32:20", 19.2);
	is_form("16:2,32:1,16:2", "16:80,32:20", 19.2);
	is_form("8-24:1,16:3  random", "8-24:25,16:75 random", 16);
	is_form("536870912", "536870912", 536870912);
	is_none("", "use bytes");
	is_none("0", "use bytes");
	is_none("536870913", "use bytes");
	is_none("9-8", "use bytes");
	is_none("9-", "use bytes");
	is_none("-9", "use bytes");
	is_none("9,8", "use bytes");
	is_none("9:1,8", "use bytes");
	is_none("9:0,8:1", "use bytes");
	is_none("9:-1", "use bytes");
	is_none("9:1,", "use bytes");
	is_none("random", "use bytes");
	is_none("9 any", "constant, random");
	is_none("9 compressible", "constant, random");
	is_none("9 compressible:.5", "from 1 to 100");
	is_none("9 compressible:101", "from 1 to 100");
	is_none("1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1,10:1,11:1,12:1,13:1,14:1,"
		"15:1,16:1,17:1,18:1,19:1,20:1,21:1,22:1,23:1,24:1,25:1,26:1,"
		"27:1,28:1,29:1,30:1,31:1,32:1,33:1",
	    "at most 32");
	tap_ok(!valuespec_parse_span("60", &low, &high) && low == 60 &&
		high == 60 && !valuespec_parse_span("10-60", &low, &high) &&
		low == 10 && high == 60,
	    "60 and 10-60 are valid times to live");
	tap_ok(valuespec_parse_span("0", &low, &high) &&
		valuespec_parse_span("60-10", &low, &high) &&
		valuespec_parse_span("1m", &low, &high) &&
		valuespec_parse_span("1000000001", &low, &high),
	    "0, 60-10, 1m and 1000000001 are not valid");
}

/* How many standard deviations chi-squared lies above its mean, as if normal
 * (Wilson and Hilferty, 1931). */
static double
compare(const double *got, const double *share, size_t n)
{
	double all = 0, chi = 0, d = -1;

	for (size_t i = 0; i < n; i++)
		all += got[i];
	for (size_t i = 0; i < n; i++) {
		if (share[i] <= 0)
			continue;
		chi += pow(got[i] - all * share[i], 2) / (all * share[i]);
		d++;
	}
	return (cbrt(chi / d) - (1 - 2 / (9 * d))) / sqrt(2 / (9 * d));
}

/*
 * Makes n commands "SET x __data__" with a cursor, in pieces of 'full' bytes.
 * Appends their values to 'values', and counts their sizes in 'sizes'.
 */
static void
make_values(const struct cmdsource *o, struct cursor *c, uint32_t n,
    size_t full, struct str *values, double *sizes, size_t most)
{
	size_t room = o->ops->room(o, full), len, size;
	char *buf = cmdsource_buffer(o, full), *at, *p;
	uint32_t k, i;
	int head;

	for (; n; n -= k) {
		at = cmdsource_place(o, c, buf);
		k = o->ops->make(o, c, &keys, at, n, full, &len);
		if (len > room)
			break;
		for (p = at, i = 0; i < k; i++, p += size + 2) {
			if (sscanf(p,
				"*3\r\n$3\r\nSET\r\n$16\r\nkey:%*12u\r\n"
				"$%zu%n",
				&size, &head) != 1 ||
			    memcmp(p + head, "\r\n", 2) != 0)
				break;
			p += head + 2;
			if (sizes && size < most)
				sizes[size]++;
			if (values)
				str_addn(values, p, size);
		}
		if (i < k || p != at + len)
			break;
	}
	tap_ok(n == 0, "all commands are whole");
	free(buf);
}

/* Computes the share of each size. */
static void
list_shares(const struct valuespec *v, double share[4096])
{
	memset(share, 0, 4096 * sizeof *share);
	for (size_t i = 0; i < v->n; i++)
		for (long long k = v->sizes[i].low; k <= v->sizes[i].high; k++)
			share[k] += v->sizes[i].share /
			    (double)(v->sizes[i].high - v->sizes[i].low + 1);
}

/* Returns the largest difference between two cumulative distributions of
 * sizes. */
static double
get_distance(const double *got, const double *share, size_t n)
{
	double all = 0, sum = 0, most = 0;

	for (size_t i = 0; i < n; i++)
		all += got[i];
	for (size_t i = 0; i < n; i++) {
		sum += got[i] / all - share[i];
		most = fmax(most, fabs(sum));
	}
	return most;
}

/* Values in prepared places have their sizes; with numbers in order they are
 * drawn for each request. */
static void
sizes(const char *text, bool ordered)
{
	static double got[4096], share[4096];
	struct engine_target target = {0};
	struct engine_work w = make_work(text);
	struct cursor c = {
	    .chooser = ordered ? &chooser_sequential : &chooser_uniform};
	struct cmdsource *o;
	double z;

	if (ordered)
		w.keys.kind = KEYSPEC_SEQUENTIAL;
	o = cmdsource_open(&target, &w);
	memset(got, 0, sizeof got);
	list_shares(&w.values, share);
	rng_seed(&c.rng, 7, 7);
	tap_ok((o->places > 0) == !ordered, "%s: %zu places are prepared", text,
	    o->places);
	make_values(o, &c, o->places ? 20 * (uint32_t)o->places : 50000, 9999,
	    NULL, got, 4096);
	z = ordered ? compare(got, share, 4096)
		    : get_distance(got, share, 4096) * (double)o->places;
	tap_ok(z < (ordered ? 3 : 1), "%s: the sizes have their shares (%.2f)",
	    text, z);
	o->ops->free(o);
}

/* If a size would be in fewer than eight places, values are made for each
 * request. */
static void
rare(void)
{
	struct engine_target target = {0};
	struct engine_work w = make_work("16:99.9,4000:0.1");
	struct cursor c = {.chooser = &chooser_uniform};
	struct cmdsource *o = cmdsource_open(&target, &w);
	static double got[4096], share[4096];

	list_shares(&w.values, share);
	rng_seed(&c.rng, 7, 7);
	make_values(o, &c, 100000, 9999, NULL, got, 4096);
	tap_ok(o->places == 0 && compare(got, share, 4096) < 3,
	    "rare sizes are drawn for each request: %.0f", got[4000]);
	o->ops->free(o);
}

/* A number behind a value of any size is below the key space. */
static void
moving(void)
{
	struct engine_target target = {0};
	struct engine_work w = make_work("1-300");
	struct cursor c = {.chooser = &chooser_uniform};
	struct cmdsource *o;
	char *buf, *at, *p;
	uint32_t k, i, whole = 0, below = 0;
	size_t len, n;
	int head;

	w.command = "HSET h __data__ key:__rand_int__";
	o = cmdsource_open(&target, &w);
	buf = cmdsource_buffer(o, 99999);
	rng_seed(&c.rng, 7, 7);
	c.turn = o->places -
	    50; /* to the end of the places, and on from the first */
	at = cmdsource_place(o, &c, buf);
	k = o->ops->make(o, &c, &keys, at, 100, 99999, &len);
	for (i = 0, p = at; i < k; i++, p += 16 + 2) {
		if (sscanf(p, "*4\r\n$4\r\nHSET\r\n$1\r\nh\r\n$%zu%n", &n,
			&head) != 1)
			break;
		p += (size_t)head + 2 + n;
		if (memcmp(p, "\r\n$16\r\nkey:000000000", 20) != 0)
			break;
		p += 7;
		whole++;
		below += atoi(p + 4) < 1000 && p[16] == '\r';
	}
	tap_ok(o->places > 100 && k == 100 && whole == k && below == k &&
		p == at + len,
	    "numbers behind values are written in their place");
	free(buf);
	o->ops->free(o);
}

/* All values of a byte are equally frequent in random values, prepared or
 * not. */
static void
bytes(const char *text)
{
	struct engine_target target = {0};
	struct engine_work w = make_work(text);
	struct cmdsource *o = cmdsource_open(&target, &w);
	struct cursor c = {.chooser = &chooser_uniform};
	double got[256] = {0}, share[256], z;
	struct str s = {0};

	rng_seed(&c.rng, 7, 7);
	make_values(o, &c, 200, 9999, &s, NULL, 0);
	for (size_t i = 0; i < s.len; i++)
		got[(unsigned char)s.s[i]]++;
	for (size_t i = 0; i < 256; i++)
		share[i] = 1. / 256;
	z = compare(got, share, 256);
	tap_ok(s.len > 50000 && z < 3, "%s: the bytes have their shares (%.2f)",
	    text, z);
	str_free(&s);
	o->ops->free(o);
}

/* All values are different. */
static void
differ(const char *text, size_t size)
{
	struct engine_target target = {0};
	struct engine_work w = make_work(text);
	struct cmdsource *o = cmdsource_open(&target, &w);
	struct cursor c = {.chooser = &chooser_uniform};
	struct str s = {0};
	size_t same = 0, n;

	rng_seed(&c.rng, 7, 7);
	make_values(o, &c, 100, 9999, &s, NULL, 0);
	n = s.len / size;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			same +=
			    memcmp(s.s + i * size, s.s + k * size, size) == 0;
	tap_ok(n == 100 && same == 0, "%s: all values are different", text);
	str_free(&s);
	o->ops->free(o);
}

/* A copied cursor makes the same values, in pieces and buffers of any size. */
static void
again(const char *text)
{
	struct engine_target target = {0};
	struct engine_work w = make_work(text);
	struct cmdsource *o = cmdsource_open(&target, &w);
	struct cursor c = {.chooser = &chooser_uniform, .place = 77}, d;
	struct str s = {0}, t = {0};

	rng_seed(&c.rng, 7, 7);
	make_values(o, &c, 3, 9999, &s, NULL, 0);
	str_clear(&s);
	d = c;
	make_values(o, &c, 300, 9999, &s, NULL, 0);
	make_values(o, &d, 300, 1, &t, NULL, 0);
	tap_ok(s.len && s.len == t.len && memcmp(s.s, t.s, s.len) == 0,
	    "%s: a copied cursor makes the same values", text);
	tap_ok(memcmp(&c.rng, &d.rng, sizeof c.rng) == 0 && c.turn == d.turn,
	    "%s: then both cursors are in the same state", text);
	str_free(&s);
	str_free(&t);
	o->ops->free(o);
}

/* At every place of a buffer a whole command begins. */
static void
anywhere(const char *text)
{
	struct engine_target target = {0};
	struct engine_work w = make_work(text);
	struct cmdsource *o = cmdsource_open(&target, &w);
	struct cursor c = {.chooser = &chooser_uniform};
	char *buf = cmdsource_buffer(o, 9999), *at;
	size_t len, whole = 0, n = 0;
	uint32_t k;

	rng_seed(&c.rng, 7, 7);
	for (c.turn = 40; c.turn < 60; c.turn -= 15) {
		at = cmdsource_place(o, &c, buf);
		k = o->ops->make(o, &c, &keys, at, 10, 9999, &len);
		n += k;
		for (uint32_t i = 0; i < k; i++)
			whole +=
			    memcmp(at + i * len / k, "*3\r\n$3\r\n", 8) == 0;
	}
	tap_ok(
	    n > 20 && whole == n, "%s: at every place a command begins", text);
	free(buf);
	o->ops->free(o);
}

/* With numbers in order a value depends only on the number of its key. */
static void
in_order(const char *text)
{
	struct engine_target target = {0};
	struct engine_work w = make_work(text);
	struct cursor c = {.chooser = &chooser_sequential}, d = c;
	struct str s = {0}, t = {0};
	struct cmdsource *o;

	w.keys.kind = KEYSPEC_SEQUENTIAL;
	o = cmdsource_open(&target, &w);
	rng_seed(&c.rng, 7, 7);
	rng_seed(&d.rng, 8, 8);
	make_values(o, &c, 20, 9999, NULL, NULL, 0);
	make_values(o, &c, 20, 9999, &s, NULL, 0);
	d.number = d.turn = 20;
	make_values(o, &d, 20, 9999, &t, NULL, 0);
	tap_ok(s.len && s.len == t.len && memcmp(s.s, t.s, s.len) == 0,
	    "%s: with numbers in order all connections write the same value to "
	    "a key",
	    text);
	str_free(&s);
	str_free(&t);
	o->ops->free(o);
}

static void
ratio(size_t size, double want)
{
	char *text = mem_printf("%zu compressible:%g", size, want);
	struct engine_work w = make_work(text);
	struct values *v = values_new(&w);
	uLongf room = compressBound(size), len, all = 0;
	char *value = mem_new(size), *packed = mem_new(room);
	struct rng rng;
	double got;

	rng_seed(&rng, 5, 5);
	for (int i = 0; i < 4; i++) {
		len = room;
		tap_ok(values_write(v, value, size, &rng) == value + size,
		    "a value has its length");
		compress((Bytef *)packed, &len, (Bytef *)value, size);
		all += len;
	}
	got = 4. * (double)size / (double)all;
	tap_ok(fabs(got / want - 1) < .1,
	    "the compression ratio of %zu bytes is %.3f, and should be %g",
	    size, got, want);
	free(packed);
	free(value);
	free(text);
	values_free(v);
}

static void
ratios(void)
{
	static const size_t all[] = {
	    400, 1000, 1024, 4096, 5000, 16384, 100000, 1 << 20};
	static const double want[] = {1.1, 1.5, 2, 3, 5, 8};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (size_t k = 0; k < sizeof want / sizeof *want; k++)
			ratio(all[i], want[k]);
	ratio(4096, 20);
	ratio(100000, 50);
	ratio(1 << 20, 100);
	ratio(1024, 1.0001);
}

/* The memory is limited, whatever the values are. */
static void
memory(void)
{
	struct engine_target target = {0};
	struct engine_work w = {.command = "SET"};
	struct cmdsource *o;
	size_t most = 0;

	for (long long size = 1; size <= 1 << 24; size *= 2) {
		valuespec_parse("1 random", &w.values);
		w.values.sizes[0].low = w.values.sizes[0].high = size;
		o = cmdsource_open(&target, &w);
		most = o->places * o->len > most ? o->places * o->len : most;
		tap_ok(o->ops->room(o, 0) < 3 * (size_t)size + 1000,
		    "a buffer has room for a command of %lld bytes", size);
		o->ops->free(o);
	}
	tap_ok(most >= 1 << 20 && most <= 5 << 20,
	    "the places take at most 5 MB (%zu)", most);
	w = make_work("536870912 random");
	o = cmdsource_open(&target, &w);
	tap_ok(o->places == 0 && o->constant == o->len,
	    "values of 512 MB are made for each request");
	o->ops->free(o);
}

static void
equals(void)
{
	static const char *const texts[] = {"9", "9 random", "9 compressible:2",
	    "8-9", "7-9", "7-10", "7:10,9:90", "7:20,9:80"};
	struct valuespec a, b;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
			tap_ok(!valuespec_parse(texts[i], &a) &&
				!valuespec_parse(texts[j], &b) &&
				valuespec_equal(&a, &b) == (i == j),
			    "'%s' and '%s' are compared", texts[i], texts[j]);
}

int
main(void)
{
	equals();
	forms();
	sizes("64-1024", false);
	sizes("64-1024", true);
	sizes("16:80,1024:15,4000:5 random", false);
	sizes("16:80,1024:15,4000:5 random", true);
	sizes("8-24:50,100-1100:49,4095:1 compressible:2", false);
	sizes("8-24:50,100-1100:49,4095:1 compressible:2", true);
	sizes("1-4", false);
	rare();
	moving();
	bytes("1024 random");
	bytes("100-1000 random");
	differ("8 random", 8);
	differ("1024 random", 1024);
	differ("1024 compressible:10", 1024);
	differ("300000 random", 300000);
	again("64-1024");
	again("100 random");
	again("3000 compressible:2");
	again("64:1,1024:1 random");
	anywhere("100 random");
	anywhere("1000 compressible:2");
	in_order("64-1024");
	in_order("16:80,1024:20 random");
	ratios();
	memory();
	return tap_done();
}
