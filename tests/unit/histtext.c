/*
 * Texts of histograms built by hand, byte by byte as HdrHistogram writes them,
 * and histograms of other layouts: what is read, what is refused, and why.
 */
#include "base64.h"
#include "hist.h"
#include "histcodec.h"
#include "str.h"
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct text {
	uint32_t cookie, length, offset, digits;
	int64_t low, high;
	unsigned char counts[800];
	size_t n;
	bool trailing; /* bytes behind the deflated part */
};

/* 64 cells: 0..31 by 1, 32..63 by 2, 64..127 by 4. */
static const struct text small = {
    .cookie = 0x1c849313, .digits = 1, .low = 1, .high = 100};

static void
put(struct str *s, uint64_t v, int bytes)
{
	while (bytes-- > 0)
		str_addc(s, (char)(v >> (8 * bytes)));
}

/* ZigZag LEB128; a ninth byte has eight bits. */
static void
put_count(struct text *t, int64_t v)
{
	uint64_t u = (uint64_t)v * 2;
	int i = 1;

	if (v < 0)
		u = ~u;
	for (; u > 127 && i < 9; i++, u >>= 7)
		t->counts[t->n++] = (unsigned char)(u | 128);
	t->counts[t->n++] = (unsigned char)u;
	t->length = (uint32_t)t->n;
}

/* zlib's format (RFC 1950) with one block that is stored (RFC 1951). */
static void
deflate_stored(struct str *to, const struct str *plain)
{
	uint32_t a = 1, b = 0;

	put(to, 0x7801, 2);
	put(to, 1, 1);
	for (int i = 0; i < 2; i++) {
		size_t n = i ? ~plain->len : plain->len;

		put(to, n & 255, 1);
		put(to, n >> 8 & 255, 1);
	}
	str_addn(to, plain->s, plain->len);
	for (size_t i = 0; i < plain->len; i++) {
		a = (a + (unsigned char)plain->s[i]) % 65521;
		b = (b + a) % 65521;
	}
	put(to, b << 16 | a, 4);
}

static struct hist *
decode(const struct text *t, const char **why)
{
	struct str plain = {0}, packed = {0}, all = {0}, text = {0};
	struct hist *h;

	put(&plain, t->cookie, 4);
	put(&plain, t->length, 4);
	put(&plain, t->offset, 4);
	put(&plain, t->digits, 4);
	put(&plain, (uint64_t)t->low, 8);
	put(&plain, (uint64_t)t->high, 8);
	put(&plain, UINT64_C(0x3ff0000000000000), 8);
	str_addn(&plain, (const char *)t->counts, t->n);
	deflate_stored(&packed, &plain);
	put(&all, 0x1c849314, 4);
	put(&all, packed.len, 4);
	str_addn(&all, packed.s, packed.len);
	if (t->trailing)
		put(&all, 0, 5);
	base64_encode(&text, all.s, all.len);
	*why = "";
	h = histcodec_decode(text.s, text.len, why);
	str_free(&plain);
	str_free(&packed);
	str_free(&all);
	str_free(&text);
	return h;
}

static void
reads(const struct text *t, uint64_t count, int64_t min, int64_t max,
    const char *what)
{
	const char *why;
	struct hist *h = decode(t, &why);

	tap_ok(h && hist_count(h) == count && hist_min(h) == min &&
		hist_max(h) == max,
	    "%s is read", what);
	if (!h)
		printf("# %s\n", why);
	else
		printf("# %llu from %lld to %lld\n",
		    (unsigned long long)hist_count(h), (long long)hist_min(h),
		    (long long)hist_max(h));
	hist_free(h);
}

static void
refuses(const struct text *t, const char *because, const char *what)
{
	const char *why;
	struct hist *h = decode(t, &why);

	tap_ok(!h && strcmp(why, because) == 0, "%s is refused: %s", what, why);
	hist_free(h);
}

static void
headers(void)
{
	static const char *const range = "its range is invalid";
	struct text t = small;

	reads(&t, 0, 0, 0, "a histogram without counts");
	for (t.digits = 0; t.digits < 7; t.digits++)
		if (t.digits < 1 || t.digits > 5)
			refuses(&t, range, "a precision of 0 or 6 digits");
		else
			reads(&t, 0, 0, 0, "a precision of 1 to 5 digits");
	t = small;
	t.low = 0;
	refuses(&t, range, "a lowest value of 0");
	t.low = INT64_C(1) << 40;
	t.high = INT64_C(1) << 41;
	reads(&t, 0, 0, 0, "a lowest value of 2^40");
	t.high = (INT64_C(1) << 41) - 1;
	refuses(&t, range, "a highest value of less than twice the lowest");
	t.low++;
	t.high = INT64_C(1) << 42;
	refuses(&t, range, "a lowest value above 2^40");
	t = small;
	t.offset = 1;
	refuses(&t, range, "an offset");
	t = small;
	t.cookie = 0x1c849314;
	refuses(&t, "its version is neither V1 nor V2", "another cookie");
	t.cookie = 0x1c849361;
	refuses(&t, "its version is neither V1 nor V2", "V1 by 6 bytes");
	t = small;
	t.n = 577;
	t.length = 577;
	refuses(&t, "it has too many counts", "more than 9 bytes a cell");
	t.n = t.length = 576;
	memset(t.counts, 1, t.n); /* steps over one cell each */
	refuses(&t, "its counts are broken", "576 steps in 64 cells");
	t = small;
	t.length = 1;
	refuses(&t, "its deflated part is broken", "a count that is not there");
}

static void
counts(void)
{
	static const char *const broken = "its counts are broken";
	struct text t = small;

	put_count(&t, -63);
	put_count(&t, 5);
	reads(&t, 5, 124, 127, "a count in the last of 64 cells");
	t.trailing = true;
	reads(&t, 5, 124, 127,
	    "a count in the last cell, and bytes behind the text");
	t = small;
	put_count(&t, -64);
	reads(&t, 0, 0, 0, "a step to the end of the cells");
	put_count(&t, 1);
	refuses(&t, broken, "a count behind the last cell");
	t = small;
	put_count(&t, -65);
	refuses(&t, broken, "a step beyond the end of the cells");
	t = small;
	put_count(&t, 3);
	put_count(&t, 0);
	put_count(&t, 4);
	reads(&t, 7, 0, 2, "a zero counts as one empty cell");
	t = small;
	put_count(&t, -33);
	put_count(&t, INT64_MAX);
	reads(&t, INT64_MAX, 34, 35, "the largest count");
	put_count(&t, 1);
	refuses(&t, broken, "a sum of counts above 2^63 - 1");
	t = small;
	t.counts[0] = 128;
	t.n = t.length = 1;
	refuses(&t, broken, "a number that is cut off");
}

/* V1: words of 2, 4 or 8 bytes, the highest byte first. */
static void
words(void)
{
	static const size_t bytes[] = {2, 4, 8};

	for (size_t i = 0; i < 3; i++) {
		struct text t = small;

		t.cookie = 0x1c849301 | (uint32_t)bytes[i] << 4;
		t.n = 3 * bytes[i];
		t.counts[bytes[i] - 2] = 1;
		t.counts[3 * bytes[i] - 1] = 2;
		t.length = (uint32_t)t.n;
		reads(&t, 258, 0, 2, "V1");
		t.length--;
		refuses(&t, "its counts are broken", "a part of a word");
		t.n = 65 * bytes[i];
		t.length = (uint32_t)t.n;
		refuses(
		    &t, "it has too many counts", "a word for cell 65 of 64");
	}
}

/* Words whose sum is the largest count there is, and 1 more. */
static void
word_sums(void)
{
	struct text t = small;

	t.cookie = 0x1c849381;
	t.n = t.length = 16;
	t.counts[0] = 0x40;
	memset(t.counts + 8, 255, 8);
	t.counts[8] = 0x3f;
	reads(&t, INT64_MAX, 0, 1, "a sum of words of 2^63 - 1");
	t.counts[15]--;
	t.counts[7] = 2;
	refuses(&t, "its counts are broken", "a sum of words above 2^63 - 1");
}

/* A count in any one cell, and in any two cells, is written and read back. */
static void
each_cell(void)
{
	size_t right = 0, all = 0;

	for (size_t i = 0; i < 64; i++)
		for (size_t k = 0; k <= i; k++, all++) {
			struct hist_tally v[] = {{k, 3}, {i, 1 + i * i * i}};
			struct hist *h = hist_new(1, 100, 1), *back;
			struct str text = {0};
			const char *why;
			bool same;

			hist_put(h, v, 2);
			histcodec_encode(&text, h);
			back = histcodec_decode(text.s, text.len, &why);
			same = back != NULL;
			for (size_t c = 0; c < 64 && same; c++)
				same = hist_get(back, c) == hist_get(h, c);
			right += same && hist_min(back) == hist_min(h) &&
			    hist_max(back) == hist_max(h) &&
			    hist_mean(back) == hist_mean(h);
			str_free(&text);
			hist_free(back);
			hist_free(h);
		}
	tap_ok(right == all,
	    "counts in any two of 64 cells are read back: %zu of %zu", right,
	    all);
}

/* Histograms whose layouts differ in one number are merged by the middle of
 * each cell. */
static void
layouts(void)
{
	static const struct {
		int64_t low, high;
		int digits;
	} other[] = {{1, 200, 1}, {1, 100, 2}, {4, 100, 1}, {4, 200, 2}};

	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		struct hist *from = hist_new(1, 100, 1), *to;
		int64_t low, high;
		uint64_t n = 0;
		size_t at = 0;

		to = hist_new(other[i].low, other[i].high, other[i].digits);
		hist_add(from, 69, 3); /* 68..71: 69.5 */
		hist_add(from, 100, 1);
		hist_add(from, 101, 2);
		hist_merge(to, from);
		tap_ok(hist_cell(to, &at, &low, &high, &n) == 1 && n == 3 &&
			low <= 69 && 69 <= high && hist_count(to) == 6,
		    "layout %lld..%lld of %d digits: 69.5 is in %lld..%lld",
		    (long long)other[i].low, (long long)other[i].high,
		    other[i].digits, (long long)low, (long long)high);
		/* 100 lay in 100..103, whose middle is 101. */
		tap_ok(hist_over(to) == (other[i].high < 101 ? 3 : 2),
		    "values above its range are counted as such: %llu",
		    (unsigned long long)hist_over(to));
		tap_ok(hist_max(to) == 101 && hist_min(to) == 69,
		    "the smallest and the largest value are exact");
		hist_free(from);
		hist_free(to);
	}
}

/* Returns whether the program ends if such a histogram is made. */
static bool
dies(int64_t lowest, int64_t highest, int digits)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(3);
		hist_free(hist_new(lowest, highest, digits));
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 2;
}

static void
ranges(void)
{
	tap_ok(dies(0, 100, 2) && !dies(1, 100, 2),
	    "the lowest value is at least 1");
	tap_ok(dies(50, 99, 2) && !dies(50, 100, 2),
	    "the highest value is at least twice the lowest");
	tap_ok(dies(1, 100, 0) && dies(1, 100, 6) && !dies(1, 100, 1) &&
		!dies(1, 100, 5),
	    "a precision has one to five digits");
	/* 2^(7 + 1) cells of 2^53 are 2^61, of 2^54 too many. */
	tap_ok(!dies(INT64_C(1) << 53, INT64_MAX, 2) &&
		dies(INT64_C(1) << 54, INT64_MAX, 2),
	    "the linear part fits into 61 bits");
}

static void
figures(void)
{
	struct hist *h = hist_new(1, 1000, 3);

	hist_add(h, 2, 3);
	hist_add(h, 6, 1);
	tap_near(hist_mean(h), 3, 1e-15, "2, 2, 2, 6 have the mean 3");
	hist_add(h, 2000, 4);
	tap_near(hist_mean(h), 1001.5, 1e-15,
	    "a value above the range counts with its value in the mean");
	tap_ok(hist_cells(h) == 2048, "1000 has its place in 2048 cells");
	hist_free(h);
}

int
main(void)
{
	headers();
	counts();
	words();
	word_sums();
	each_cell();
	layouts();
	figures();
	ranges();
	return tap_done();
}
