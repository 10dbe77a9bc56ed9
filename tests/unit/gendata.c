#include "vkb-gendata/content.h"
#include "vkb-gendata/pyrandom.h"
#include "vkb-gendata/recipe.h"
#include "vkb-gendata/vocabulary.h"
#include "mem.h"
#include "rng.h"
#include "str.h"
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>

#define TEXTS 20000
#define DRAWS 4000000
#define DIMS 64
#define ROWS 2000

/* Gives all 32 bits: only a word of ones would be rejected. */
static uint32_t
draw_word(struct pyrandom *r)
{
	return pyrandom_draw_below(r, UINT32_MAX);
}

/* Against CPython 3.12. */
static void
python(void)
{
	struct pyrandom r = {0};
	uint32_t last = 0;
	const char all[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	char letters[11] = "", many[833];

	pyrandom_seed(&r, 1);
	tap_ok(draw_word(&r) == 577090037 && draw_word(&r) == 2444712010 &&
		draw_word(&r) == 3639700191,
	    "pyrandom: getrandbits(32) of seed 1");
	pyrandom_seed(&r, 0);
	tap_ok(draw_word(&r) >> 5 == (uint32_t)(0.8444218515250481 * (1 << 27)),
	    "pyrandom: the upper bits of random() of seed 0");
	pyrandom_seed(&r, UINT64_C(12345678901234));
	tap_ok(
	    draw_word(&r) >> 5 == (uint32_t)(0.02504137575317178 * (1 << 27)),
	    "pyrandom: those of a seed above 32 bits");
	pyrandom_seed(&r, 7);
	for (int i = 0; i < 1300; i++)
		last = draw_word(&r);
	tap_ok(last == 2010695017, "pyrandom: the 1300th word");
	pyrandom_seed(&r, 5);
	pyrandom_draw_letters(&r, "abc", 3, letters, 10);
	tap_str(letters, "bcccccabcb", "pyrandom: choices()");

	/* Letter 248 is a '2' only if the second word of its number counts. */
	pyrandom_seed(&r, 9712);
	pyrandom_draw_letters(&r, all, 36, many, 312);
	tap_ok(memcmp(many + 240, "h9hamwc286fmk8an", 16) == 0,
	    "pyrandom: choices() where all 53 bits count");
	pyrandom_seed(&r, 7);
	for (int i = 0; i < 3; i++)
		draw_word(&r);
	pyrandom_draw_letters(&r, all, 36, many, 3);
	pyrandom_draw_letters(&r, all, 36, many + 3, 700);
	pyrandom_draw_letters(&r, all, 36, many + 703, 130);
	tap_ok(str_hash(STR_HASH, many, 833) == UINT64_C(0x89cff43f24a728f9),
	    "pyrandom: choices() of many letters, from an odd word on");
}

static size_t
distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), d[40][40];

	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			size_t x = i && j
			    ? d[i - 1][j - 1] + (a[i - 1] != b[j - 1])
			    : i + j;

			if (i && d[i - 1][j] + 1 < x)
				x = d[i - 1][j] + 1;
			if (j && d[i][j - 1] + 1 < x)
				x = d[i][j - 1] + 1;
			d[i][j] = x;
		}
	return d[n][m];
}

static void
misspelt(void)
{
	struct pyrandom r = {0};
	struct str w = {0}, v = {0};
	bool one = true, three = true, base = true;

	for (uint64_t term = 1; term <= 50; term++) {
		str_clear(&w);
		pyrandom_append_word(&w, &r, term, 8, 10, 0);
		base = base && w.len >= 8 && w.len <= 10;
		for (uint64_t i = 0; i < 20; i++) {
			str_clear(&v);
			pyrandom_append_variant(&v, &r, w.s, term, i, 1, 0);
			one = one && distance(w.s, v.s) == (i > 0);
			str_clear(&v);
			pyrandom_append_variant(&v, &r, w.s, term, i, 3, 0);
			three = three && distance(w.s, v.s) <= 3 * (i > 0);
		}
	}
	tap_ok(base, "fuzzy: words have the requested length");
	tap_ok(one,
	    "fuzzy: one edit has an edit distance of 1, variant 0 has none");
	tap_ok(three, "fuzzy: three edits have an edit distance of at most 3");
	str_clear(&v);
	pyrandom_append_variant(&v, &r, "a", 1, 1, 3, 0);
	tap_str(v.s, "a", "fuzzy: a word of one letter is not changed");
	str_free(&w);
	str_free(&v);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool
is_stemmable(const struct vocabulary *v, const char *word)
{
	for (size_t i = 0, n; i < vocabulary_count_stemmable(v); i++)
		if (strcmp(vocabulary_get_stemmable(v, i, &n), word) == 0)
			return true;
	return false;
}

static void
vocabulary(const struct vocabulary *v)
{
	const char **w = mem_array(VOCABULARY_WORDS, sizeof *w);
	size_t len, twice = 0, *seen, wrong = 0;
	double sum = 0;
	struct rng r;

	for (size_t i = 0; i < VOCABULARY_WORDS; i++) {
		w[i] = vocabulary_get_word(v, i, &len);
		twice += strlen(w[i]) != len;
	}
	tap_str(w[0], "the", "vocabulary: the most frequent word");
	qsort(w, VOCABULARY_WORDS, sizeof *w, by_text);
	for (size_t i = 1; i < VOCABULARY_WORDS; i++)
		twice += strcmp(w[i - 1], w[i]) == 0;
	tap_ok(twice == 0, "vocabulary: all words differ");
	free(w);

	seen = mem_array(VOCABULARY_WORDS, sizeof *seen);
	rng_seed(&r, 1, 0);
	for (size_t i = 0; i < DRAWS; i++)
		seen[vocabulary_draw_rank(v, &r)]++;
	for (size_t i = 0; i < VOCABULARY_WORDS; i++)
		sum += pow((double)(i + 1) + 2.7, -1.07);
	tap_near(100 * pow(3.7, -1.07) / sum, 3.8, .01,
	    "vocabulary: the most frequent word has the share that the manual "
	    "gives");
	for (size_t i = 0; i < 200; i++) { /* five sigma */
		double p = pow((double)(i + 1) + 2.7, -1.07) / sum;

		wrong +=
		    fabs((double)seen[i] - DRAWS * p) > 5 * sqrt(DRAWS * p);
	}
	tap_ok(wrong == 0,
	    "vocabulary: the 200 most frequent words are as frequent as they "
	    "should be");
	sum = 0;
	for (size_t i = 0; i < VOCABULARY_WORDS; i++)
		sum += seen[i] > 0;
	tap_ok(sum > .995 * VOCABULARY_WORDS,
	    "vocabulary: rare words are drawn too");
	free(seen);
	tap_ok(is_stemmable(v, "training") && is_stemmable(v, "hipkerts") &&
		is_stemmable(v, "hipkerted") && is_stemmable(v, "series") &&
		!is_stemmable(v, "spring") && !is_stemmable(v, "glass") &&
		!is_stemmable(v, "virus") && !is_stemmable(v, "speed") &&
		!is_stemmable(v, "was"),
	    "vocabulary: words that a stemmer changes are known");
	tap_ok(vocabulary_count_stemmable(v) > 10000,
	    "vocabulary: a stemmer changes more than 10000 words");
}

static int
by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What the manual says about natural texts. */
static void
natural(const struct vocabulary *v)
{
	double *words = mem_array(TEXTS, sizeof *words), mean = 0;
	size_t longer = 0, distinct = 0, n = 0;
	const char **w = mem_array(200000, sizeof *w);
	struct str s = {0}, all = {0};
	struct rng r;

	rng_seed(&r, 1, 0);
	for (size_t i = 0; i < TEXTS; i++) {
		str_clear(&s);
		vocabulary_append_text(
		    &s, v, &r, VOCABULARY_MEDIAN, SIZE_MAX / 8);
		words[i] = s.len > 0;
		for (size_t k = 0; k < s.len; k++)
			words[i] += s.s[k] == ' ';
		mean += words[i] / TEXTS;
		longer += words[i] > 660;
		if (all.len < 600000)
			str_printf(&all, "%s ", s.s);
	}
	qsort(words, TEXTS, sizeof *words, by_number);
	tap_near(words[TEXTS / 2], VOCABULARY_MEDIAN, .03,
	    "natural: the median number of words");
	tap_near(mean, 413, .03, "natural: the mean number of words");
	tap_near((double)longer / TEXTS, 1. / 6, .05,
	    "natural: one text in six is longer than 660 words");
	for (char *p = strtok(all.s, " .,"); p && n < 100000;
	     p = strtok(NULL, " .,")) {
		*p = (char)(*p | 0x20);
		w[n++] = p;
	}
	qsort(w, n, sizeof *w, by_text);
	for (size_t i = 0; i < n; i++)
		distinct += i == 0 || strcmp(w[i - 1], w[i]) != 0;
	tap_near((double)distinct, 16000, .05,
	    "natural: distinct words among 100000");
	str_clear(&s);
	for (size_t i = 0; i < 200; i++) {
		size_t from = s.len;

		vocabulary_append_text(&s, v, &r, VOCABULARY_MEDIAN, i);
		if (s.len - from > i)
			tap_ok(false,
			    "natural: a text has %zu of at most %zu bytes",
			    s.len, i);
	}
	free(words);
	free(w);
	str_free(&s);
	str_free(&all);
}

static void
letters(void)
{
	static const struct {
		uint64_t n;
		const char *want;
	} t[] = {{0, "a"}, {25, "z"}, {26, "aa"}, {51, "az"}, {52, "ba"},
	    {701, "zz"}, {702, "aaa"}, {UINT64_MAX - 1, NULL}};
	struct str s = {0};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		str_clear(&s);
		content_apply_transform(
		    &(struct transform){.kind = TRANSFORM_UNIQUE, .count = 1},
		    &(struct cell){.row = t[i].n + 1, .size = 100}, &s);
		if (t[i].want)
			tap_str(
			    s.s, t[i].want, "unique: the letters of a number");
		else
			tap_ok(s.len == 14, "unique: the largest number");
	}
	str_free(&s);
}

/* Squares of the components have mean 1 / d, and a kurtosis near 3. */
static void
directions(void)
{
	float v[DIMS], w[DIMS];
	double one = 0, two = 0, four = 0, worst = 0;

	for (uint64_t i = 1; i <= ROWS; i++) {
		double norm = 0;

		content_make_vector(1, i, 0, DIMS, v);
		for (size_t k = 0; k < DIMS; k++) {
			double x = v[k] * sqrt(DIMS);

			norm += (double)v[k] * v[k];
			one += x;
			two += x * x;
			four += x * x * x * x;
		}
		worst = fmax(worst, fabs(norm - 1));
	}
	tap_ok(worst < 1e-6, "vectors: of length 1");
	tap_ok(fabs(one) < 5 * sqrt(ROWS * DIMS),
	    "vectors: the components have the mean 0");
	tap_near(two, ROWS * DIMS, 1e-6, "vectors: variance");
	tap_near(four / (ROWS * DIMS), 3. * DIMS / (DIMS + 2), .02,
	    "vectors: kurtosis of a sphere");
	content_make_vector(1, 1, 0, DIMS, v);
	content_make_vector(1, 1, 0, DIMS, w);
	tap_ok(memcmp(v, w, sizeof v) == 0,
	    "vectors: the same row twice is equal");
	content_make_vector(2, 1, 0, DIMS, w);
	tap_ok(memcmp(v, w, sizeof v) != 0,
	    "vectors: rows of another file differ");
	content_make_vector(1, 1, 1, DIMS, w);
	tap_ok(memcmp(v, w, sizeof v) != 0,
	    "vectors: rows of another field differ");
}

int
main(void)
{
	struct vocabulary *v = vocabulary_new();

	python();
	misspelt();
	vocabulary(v);
	natural(v);
	letters();
	directions();
	vocabulary_free(v);
	return tap_done();
}
