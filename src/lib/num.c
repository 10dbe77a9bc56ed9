#include "num.h"
#include "str.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
num_int(const char *s, long long *v)
{
	char *end;

	if (!isdigit((unsigned char)s[s[0] == '-']))
		return -1;
	errno = 0;
	*v = strtoll(s, &end, 10);
	return errno || *end ? -1 : 0;
}

/* A decimal real at the front of 's'; the rest is returned, or NULL. */
static const char *
real(const char *s, double *v)
{
	const char *p = s + (*s == '-');
	char *end;

	if (!isdigit((unsigned char)*p) && *p != '.')
		return NULL;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		return NULL;
	*v = strtod(s, &end);
	return end == s || !isfinite(*v) ? NULL : end;
}

int
num_real(const char *s, double *v)
{
	const char *rest = real(s, v);

	return rest && !*rest ? 0 : -1;
}

int
num_percent(const char *s, double *v)
{
	const char *rest = real(s, v);

	if (!rest || strcmp(rest, "%") != 0)
		return -1;
	*v /= 100;
	return 0;
}

int
num_duration(const char *s, double *v)
{
	static const struct {
		const char *unit;
		double s;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60},
	    {"h", 3600}, {"d", 86400}};
	const char *rest = real(s, v);

	for (size_t i = 0; rest && i < sizeof units / sizeof *units; i++)
		if (strcmp(rest, units[i].unit) == 0) {
			*v *= units[i].s;
			return 0;
		}
	return -1;
}

int
num_size(const char *s, long long *v)
{
	long long k = 1;
	char *end;

	if (!isdigit((unsigned char)*s))
		return -1;
	errno = 0;
	*v = strtoll(s, &end, 10);
	if (errno)
		return -1;
	switch (tolower((unsigned char)*end)) {
	case 'k':
		k = 1LL << 10;
		break;
	case 'm':
		k = 1LL << 20;
		break;
	case 'g':
		k = 1LL << 30;
		break;
	}
	if (k > 1)
		end++;
	if (*end || *v > LLONG_MAX / k)
		return -1;
	*v *= k;
	return 0;
}

char *
num_human(char buf[NUM_BUF], double v)
{
	static const struct {
		double div;
		const char *unit;
	} steps[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "K"}};
	double a = fabs(v), d = 1;
	const char *unit = "";

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (a >= steps[i].div * 0.9995) {
			d = steps[i].div;
			unit = steps[i].unit;
			break;
		}
	a /= d;
	if (a >= 9999.5 || (a > 0 && a < 0.0995 && !*unit)) {
		snprintf(buf, NUM_BUF, "%#.3g%s", v / d, unit);
		return buf;
	}
	snprintf(buf, NUM_BUF, "%.*f%s",
	    a >= 99.95       ? *unit ? 0 : 1
		: a >= 9.995 ? 1
		: *unit      ? 2
			     : 3,
	    v / d, unit);
	return buf;
}

char *
num_seconds(char buf[NUM_BUF], double s)
{
	long t = s >= 0 && s < 1e9 ? (long)(s + 0.5) : -1;

	if (t < 0)
		snprintf(buf, NUM_BUF, "?");
	else if (s < 9.95)
		snprintf(buf, NUM_BUF, "%.1fs", s);
	else if (t < 60)
		snprintf(buf, NUM_BUF, "%lds", t);
	else if (t < 3600)
		snprintf(buf, NUM_BUF, "%ldm%02lds", t / 60, t % 60);
	else
		snprintf(buf, NUM_BUF, "%ldh%02ldm", t / 3600, t / 60 % 60);
	return buf;
}

static char *
digits(char *end, uint64_t m)
{
	do
		*--end = (char)('0' + m % 10);
	while (m /= 10);
	return end;
}

/*
 * A number with few places, as %.15g has it: where m / 10^k is v and m has up
 * to 15 digits, they are what it prints. False: it has more.
 */
static bool
short_number(struct str *b, double v)
{
	static const double ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
	double a = fabs(v);
	char buf[24], *end = buf + sizeof buf, *s;

	if (!(a >= 1e-4 && a < 1e9))
		return false;
	for (size_t k = 1; k < sizeof ten / sizeof *ten; k++) {
		double m = nearbyint(a * ten[k]);

		if (m >= 1e15 || m / ten[k] != a)
			continue;
		/* The places, with a 1 before them that keeps their zeros. */
		s = digits(
		    end, (uint64_t)m % (uint64_t)ten[k] + (uint64_t)ten[k]);
		*s = '.';
		s = digits(s, (uint64_t)m / (uint64_t)ten[k]);
		if (v < 0)
			*--s = '-';
		str_addn(b, s, (size_t)(end - s));
		return true;
	}
	return false;
}

void
num_append(struct str *b, double v)
{
	char buf[40], *end = buf + sizeof buf, *s;

	if (v == floor(v) && fabs(v) < 0x1p53) {
		s = digits(end, (uint64_t)fabs(v));
		if (v < 0) /* -0 is 0 */
			*--s = '-';
		str_addn(b, s, (size_t)(end - s));
		return;
	}
	if (short_number(b, v))
		return;
	snprintf(buf, sizeof buf, "%.15g", v);
	if (strtod(buf, NULL) != v)
		snprintf(buf, sizeof buf, "%.17g", v);
	str_add(b, buf);
}
