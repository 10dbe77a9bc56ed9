#include "valuespec.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define SECONDS_MOST 1000000000LL

static const char why_sizes[] =
    "use bytes such as 1024, a range such as 64-1024, or a list such as "
    "16:80,64-1024:15,16384:5, whose numbers behind ':' are weights";
static const char why_contents[] =
    "behind the sizes comes constant, random or compressible:R, where R is a "
    "number from 1 to 100";

/* Parses N or LOW-HIGH, n bytes of text. Returns 0 or -1. */
static int
parse_range(
    const char *text, size_t n, long long most, long long *low, long long *high)
{
	char *first = mem_strn(text, n), *dash = strchr(first, '-');
	int rc;

	if (dash)
		*dash = '\0';
	rc = num_int(first, low);
	*high = *low;
	if (rc == 0 && dash)
		rc = num_int(dash + 1, high);
	free(first);
	return rc < 0 || *low < 1 || *low > *high || *high > most ? -1 : 0;
}

/* Adds a size, or its weight to one that is there. */
static void
add_size(struct valuespec *v, const struct valuespec_size *s)
{
	size_t i = 0;

	while (i < v->n &&
	    (v->sizes[i].low < s->low ||
		(v->sizes[i].low == s->low && v->sizes[i].high < s->high)))
		i++;
	if (i < v->n && v->sizes[i].low == s->low &&
	    v->sizes[i].high == s->high) {
		v->sizes[i].share += s->share;
		return;
	}
	memmove(
	    &v->sizes[i + 1], &v->sizes[i], (v->n++ - i) * sizeof *v->sizes);
	v->sizes[i] = *s;
}

/* Parses SIZE:WEIGHT, n bytes of text; a single SIZE needs no weight. */
static int
parse_size(const char *text, size_t n, bool single, struct valuespec_size *s)
{
	const char *colon = memchr(text, ':', n);
	char *weight;
	int rc = -1;

	s->share = 1;
	if (colon) {
		weight = mem_strn(colon + 1, (size_t)(text + n - colon - 1));
		rc = num_real(weight, &s->share);
		free(weight);
		n = (size_t)(colon - text);
	} else if (single) {
		rc = 0;
	}
	return rc < 0 || s->share <= 0 || s->share > 1e9
	    ? -1
	    : parse_range(text, n, VALUESPEC_LONGEST, &s->low, &s->high);
}

/* Parses n bytes of text. Returns NULL, or why they are not valid. */
static const char *
parse_sizes(const char *text, size_t n, struct valuespec *v)
{
	const char *end = text + n, *comma;
	struct valuespec_size s;
	double sum = 0;

	for (;; text = comma + 1) {
		comma = memchr(text, ',', (size_t)(end - text));
		if (parse_size(text, (size_t)((comma ? comma : end) - text),
			!comma && !v->n, &s) < 0)
			return why_sizes;
		if (v->n == VALUESPEC_MOST)
			return "a list has at most 32 sizes";
		add_size(v, &s);
		sum += s.share;
		if (!comma)
			break;
	}
	for (size_t i = 0; i < v->n; i++)
		v->sizes[i].share = v->n == 1 ? 1 : v->sizes[i].share / sum;
	return NULL;
}

const char *
valuespec_parse(const char *text, struct valuespec *v)
{
	static const char ratio[] = "compressible:";
	size_t n = strcspn(text, " ");
	const char *contents = text + n + strspn(text + n, " "), *why;

	memset(v, 0, sizeof *v);
	v->ratio = 1;
	why = parse_sizes(text, n, v);
	if (why || (!text[n] || strcmp(contents, "constant") == 0))
		return why;
	v->random = true;
	if (strcmp(contents, "random") == 0)
		return NULL;
	if (!str_starts(contents, ratio) ||
	    num_real(contents + strlen(ratio), &v->ratio) < 0 || v->ratio < 1 ||
	    v->ratio > VALUESPEC_RATIO)
		return why_contents;
	return NULL;
}

static void
add_range(struct str *s, long long low, long long high)
{
	str_printf(s, "%lld", low);
	if (high > low)
		str_printf(s, "-%lld", high);
}

char *
valuespec_format(const struct valuespec *v)
{
	struct str s = {0};

	for (size_t i = 0; i < v->n; i++) {
		if (i)
			str_addc(&s, ',');
		add_range(&s, v->sizes[i].low, v->sizes[i].high);
		if (v->n > 1)
			str_printf(&s, ":%.10g", 100 * v->sizes[i].share);
	}
	if (v->random && v->ratio > 1)
		str_printf(&s, " compressible:%.10g", v->ratio);
	else if (v->random)
		str_add(&s, " random");
	return str_take(&s);
}

double
valuespec_mean(const struct valuespec *v)
{
	double sum = 0;

	for (size_t i = 0; i < v->n; i++)
		sum += v->sizes[i].share *
		    (double)(v->sizes[i].low + v->sizes[i].high) / 2;
	return sum;
}

long long
valuespec_longest(const struct valuespec *v)
{
	long long most = 0;

	for (size_t i = 0; i < v->n; i++)
		if (v->sizes[i].high > most)
			most = v->sizes[i].high;
	return most;
}

bool
valuespec_is_plain(const struct valuespec *v)
{
	return v->n == 1 && v->sizes[0].low == v->sizes[0].high && !v->random;
}

const char *
valuespec_parse_span(const char *text, long long *low, long long *high)
{
	return parse_range(text, strlen(text), SECONDS_MOST, low, high) < 0
	    ? "use seconds such as 60, or a range such as 10-60, from 1 to "
	      "1000000000"
	    : NULL;
}

bool
valuespec_equal(const struct valuespec *a, const struct valuespec *b)
{
	if (a->n != b->n || a->random != b->random || a->ratio != b->ratio)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->sizes[i].low != b->sizes[i].low ||
		    a->sizes[i].high != b->sizes[i].high ||
		    a->sizes[i].share != b->sizes[i].share)
			return false;
	return true;
}
