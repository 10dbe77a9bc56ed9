/* hist, histcodec, rng: their properties, the text of the codec, and a log of
 * another tool. */
#include "tap.h"

#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "rng.h"
#include "str.h"

#include <errno.h>
#include <stdlib.h>

static bool
same(const struct hist *a, const struct hist *b)
{
	size_t i;

	if (hist_cells(a) != hist_cells(b))
		return false;
	for (i = 0; i < hist_cells(a); i++)
		if (hist_get(a, i) != hist_get(b, i))
			return false;
	return hist_count(a) == hist_count(b) && hist_over(a) == hist_over(b);
}

static void
values(void)
{
	struct hist *h = hist_new(1, 3600000000, 3);
	int64_t v, low, high;
	uint64_t count, sum = 0;
	size_t i = 0;
	bool near = true;

	tap_ok(isnan(hist_mean(h)) && hist_quantile(h, .5) == 0 &&
		hist_min(h) == 0 && hist_max(h) == 0,
	    "an empty histogram");
	for (v = 1; v <= 10000; v++)
		hist_add(h, v * 1000, 1);
	for (v = 1; v <= 100; v++)
		near &= fabs((double)hist_quantile(h, (double)v / 100) /
				((double)v * 100000) -
			    1) <= 1e-3;
	tap_ok(near, "each percentile within 0.1 %%");
	tap_near(hist_mean(h), 5000500, 1e-12, "the mean is exact");
	tap_ok(hist_min(h) == 1000 && hist_max(h) == 10000000, "min, max");
	tap_ok(hist_quantile(h, 1) == 10000000, "never above the maximum");
	hist_add(h, 3600000001, 5);
	hist_add(h, -1, 2);
	tap_ok(hist_over(h) == 5 && hist_count(h) == 10007 &&
		hist_min(h) == 0 && hist_max(h) == 3600000001,
	    "values above and below the range");
	while (hist_cell(h, &i, &low, &high, &count))
		sum += low <= high ? count : 0;
	tap_ok(sum == 10002,
	    "the cells hold all values but those above the range");
	hist_clear(h);
	tap_ok(hist_count(h) == 0 && hist_over(h) == 0, "clear");
	hist_free(h);
	hist_free(NULL);
}

static void
ranks(void)
{
	struct hist *h = hist_new(1, 1000, 3);
	int64_t v;

	for (v = 1; v <= 100; v++)
		hist_add(h, v, 1);
	tap_ok(hist_quantile(h, .99) == 99 && hist_quantile(h, .07) == 7 &&
		hist_quantile(h, .29) == 29 && hist_quantile(h, 0) == 1,
	    "a quantile is the value of its rank, not of the next");
	hist_free(h);
}

static void
edges(void)
{
	struct hist *h = HIST_LATENCY(), *wide = hist_new(1, INT64_MAX, 5);
	int64_t low = 0, high = 0;
	uint64_t count;
	size_t i, cell;
	bool right = true;

	for (i = 0; i < hist_cells(h); i++) {
		hist_clear(h);
		hist_put(h, &(struct hist_tally){i, 1}, 1);
		cell = 0;
		right &= hist_cell(h, &cell, &low, &high, &count) == 1;
		if (high > hist_highest(h))
			break;
		hist_clear(h);
		hist_add(h, low, 1);
		hist_add(h, high, 1);
		right &= hist_get(h, i) == 2;
	}
	tap_ok(right && i > 20000, "the bounds of each cell lead to it");
	hist_add(wide, INT64_MAX, 3);
	tap_ok(hist_quantile(wide, .5) == INT64_MAX && !hist_over(wide),
	    "the largest value");
	hist_free(h);
	hist_free(wide);
}

static void
merging(void)
{
	struct hist *a = HIST_LATENCY(), *b = HIST_LATENCY();
	struct hist *all = HIST_LATENCY(), *other = hist_new(1, 1 << 30, 2);
	struct rng r;
	int64_t v;
	int i;

	rng_seed(&r, 7, 0);
	for (i = 0; i < 20000; i++) {
		v = (int64_t)(rng_exponential(&r) * 1e6) << rng_below(&r, 20);
		hist_add(i % 3 ? a : b, v, 1);
		hist_add(all, v, 1);
	}
	hist_merge(a, b);
	tap_ok(same(a, all) && hist_min(a) == hist_min(all) &&
		hist_max(a) == hist_max(all),
	    "merged parts equal the whole");
	tap_ok(hist_over(a) > 0, "values above the range are merged too");
	hist_merge(other, b);
	tap_ok(hist_count(other) == hist_count(b),
	    "merged into another layout: the count is kept");
	v = hist_quantile(other, .3);
	tap_near((double)v, (double)hist_quantile(b, .3), .02,
	    "merged into another layout: a quantile is near");
	hist_free(a);
	hist_free(b);
	hist_free(all);
	hist_free(other);
}

static void
coding(void)
{
	struct hist *h = HIST_LATENCY(), *back;
	struct str s = {0};
	const char *why = "";
	struct rng r;
	size_t i;
	int refused = 0;

	histcodec_encode(&s, h);
	back = histcodec_decode(s.s, s.len, &why);
	tap_ok(
	    back && hist_count(back) == 0, "an empty histogram is read back");
	hist_free(back);
	rng_seed(&r, 1, 0);
	for (i = 0; i < 50000; i++)
		hist_add(h, (int64_t)(rng_exponential(&r) * 3e5), 1);
	hist_add(h, 59999999999, UINT64_C(1) << 40);
	str_clear(&s);
	histcodec_encode(&s, h);
	tap_ok(str_starts(s.s, "HISTFAAA"),
	    "the text begins as that of other tools does");
	back = histcodec_decode(s.s, s.len, &why);
	tap_ok(back && same(h, back), "a histogram is read back (%s)", why);
	hist_free(back);
	for (i = 0; i < s.len; i += 7) {
		back = histcodec_decode(s.s, i, &why);
		refused += !back;
		hist_free(back);
	}
	tap_ok(refused == (int)((s.len + 6) / 7),
	    "a text that is cut off is refused");
	for (i = 0; i < s.len;
	     i++) { /* no corrupted text may crash the decoder */
		s.s[i] ^= (char)(1 << (i % 8));
		hist_free(histcodec_decode(s.s, s.len, &why));
		s.s[i] ^= (char)(1 << (i % 8));
	}
	tap_ok(!histcodec_decode("", 0, &why) &&
		!histcodec_decode("HISTF", 5, &why) &&
		!histcodec_decode("====", 4, &why),
	    "other texts are refused");
	hist_add(h, INT64_C(1) << 60, 3);
	str_clear(&s);
	histcodec_encode(&s, h);
	back = histcodec_decode(s.s, s.len, &why);
	tap_ok(back && hist_count(back) == hist_count(h) && !hist_over(back),
	    "values above the range are in the last cell");
	hist_free(back);
	str_free(&s);
	hist_free(h);
}

/* A log of jHiccup, and the values that other tools read from it. */
static double
want(const struct json *e, const char *a, const char *b)
{
	e = json_get(e, "jHiccup-2.0.7S.logV2.hlog");
	return b ? json_num(json_get(json_get(e, a), b), NAN)
		 : json_num(json_get(e, a), NAN);
}

static struct hist *
read_log(FILE *f, int *n)
{
	struct hist *all = NULL, *h;
	char line[8192], *p;
	const char *why = "";

	for (*n = 0; fgets(line, sizeof line, f);) {
		p = strstr(line, "HIST");
		if (line[0] == '#' || !p || line[0] == '"')
			continue;
		h = histcodec_decode(p, strcspn(p, "\r\n"), &why);
		if (!h) {
			printf("# %s\n", why);
			continue;
		}
		++*n;
		if (!all) {
			all = h;
			continue;
		}
		hist_merge(all, h);
		hist_free(h);
	}
	return all;
}

/* The same ten values by all encodings: 9 of 1 ms, 1 of 5 ms, 2 digits. */
static void
version1(void)
{
	static const char *const texts[] = {
	    "HISTFAAAACh42pNpmSzMwMDAxgABTBCK+QUQuxnsWMBg/wEi8pxT6CgLEwCGBwcH",
	    "HISTIgAAADJ42pNpmazIwMBuxAABTBCK+QUQuxnsWMBg/"
	    "4FhFIyCUTAKRgbgHA2CUUAFwAgA7PQFhQ==",
	    "HISTQgAAAD142pNpmezIwMCXwgABTBCK+QUQuxnsWMBg/"
	    "4FhFIyCUTAKRsEoGAWjYBQMD8A5GgSjYBSMgkECGAF/6QXe",
	    "HISTggAAAEh42u3QMQ2AQAAEwQMqPLwIHHyHLxIcYAAZSEAKJRIg+"
	    "QoHFDPJ5vor67Yk5UzTtxmut3k69tQ7AAAAAMA/jC4AAPjoHqjxBpA=",
	};
	const char *why = "";
	struct hist *h;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		h = histcodec_decode(texts[i], strlen(texts[i]), &why);
		tap_ok(h && hist_count(h) == 10 &&
			hist_quantile(h, .5) == 1003519 &&
			hist_max(h) == 5013503,
		    "V%d, %zu bytes of text", i ? 1 : 2, strlen(texts[i]));
		hist_free(h);
		h = histcodec_decode(texts[i], strlen(texts[i]) - 8, &why);
		tap_ok(!h, "cut short: %s", why);
		hist_free(h);
	}
}

static void
reference(void)
{
	static const char *const names[] = {"50", "90", "99", "99.9", "99.99"};
	const char *dir = getenv("VKB_ACCEPTANCE");
	struct str path = {0};
	struct json *e = NULL;
	struct hist *all = NULL;
	char text[4096];
	const char *why;
	size_t i, at, len = 0;
	FILE *f;
	int n = 0;

	str_printf(
	    &path, "%s/hdr/expect.json", dir ? dir : "../shared/acceptance");
	f = fopen(path.s, "r");
	if (!f) {
		tap_ok(true, "a log of jHiccup # SKIP no reference cases");
		goto out;
	}
	len = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[len] = '\0';
	e = json_parse(text, len, &why, &at);
	str_clear(&path);
	str_printf(&path, "%s/hdr/jHiccup-2.0.7S.logV2.hlog",
	    dir ? dir : "../shared/acceptance");
	f = fopen(path.s, "r");
	tap_ok(e && f, "the log and what is expected of it are there");
	if (!e || !f)
		goto out;
	all = read_log(f, &n);
	fclose(f);
	tap_near(n, want(e, "histograms", NULL), 0,
	    "all histograms of the log are read");
	if (!all)
		goto out;
	tap_near((double)hist_count(all), want(e, "total", NULL), 0, "total");
	tap_near((double)hist_max(all), want(e, "max", NULL), 0, "maximum");
	for (i = 0; i < 5; i++)
		tap_near((double)hist_quantile(all, atof(names[i]) / 100),
		    want(e, "p", names[i]), 0, names[i]);
out:
	str_free(&path);
	json_free(e);
	hist_free(all);
}

static void
random_numbers(void)
{
	struct rng a, b, c;
	double sum = 0;
	uint64_t seen[7] = {0}, x;
	int i;
	bool flat = true;

	/* By the definition of xoshiro256**: state {1, 2, 3, 4}. */
	a = (struct rng){.s = {1, 2, 3, 4}};
	x = rng_next(&a);
	tap_ok(x == 11520 && rng_next(&a) == 0 && rng_next(&a) == 1509978240,
	    "xoshiro256**: its first numbers");
	rng_seed(&a, 42, 1);
	rng_seed(&b, 42, 1);
	rng_seed(&c, 42, 2);
	x = rng_next(&a);
	tap_ok(x == rng_next(&b) && x != rng_next(&c), "streams of a seed");
	for (i = 0; i < 70000; i++)
		seen[rng_below(&a, 7)]++;
	for (i = 0; i < 7; i++)
		flat &= seen[i] > 9500 && seen[i] < 10500;
	tap_ok(flat && rng_below(&a, 1) == 0, "below 7, evenly");
	for (i = 0; i < 100000; i++)
		sum += rng_exponential(&a);
	tap_near(sum / 100000, 1, .02, "exponential: mean 1");
}

int
main(void)
{
	values();
	ranks();
	edges();
	merging();
	coding();
	version1();
	reference();
	random_numbers();
	return tap_done();
}
