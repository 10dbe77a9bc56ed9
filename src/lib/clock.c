#include "clock.h"
#include "err.h"
#include "num.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

double
clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

char *
clock_iso(char buf[CLOCK_ISO])
{
	return clock_iso_of(buf, clock_now());
}

/* Clamps to the years 1970 to 9999. */
char *
clock_iso_of(char buf[CLOCK_ISO], double seconds)
{
	double ms = fmin(fmax(round(seconds * 1000), 0), 253402300799999.);
	time_t t = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&t, &tm);
	snprintf(buf + strftime(buf, CLOCK_ISO, "%Y-%m-%dT%H:%M:%S", &tm), 8,
	    ".%03dZ", (int)(ms - (double)t * 1000) % 1000);
	return buf;
}

/* Returns whether the month has that day: timegm makes 1 March of 29 February.
 */
static int
has_day(struct tm date)
{
	int day = date.tm_mday;

	date.tm_hour = date.tm_min = date.tm_sec = 0;
	timegm(&date);
	return date.tm_mday == day;
}

/* Returns 1 if s begins with the shape, in which 'd' is a digit. */
static int
has_shape(const char *s, const char *shape)
{
	for (; *shape; s++, shape++)
		if (*shape == 'd' ? *s < '0' || *s > '9' : *s != *shape)
			return 0;
	return 1;
}

/* Parses +01:00, +0100 or +01 to seconds; Z and "" are 0. Returns 0 or -1. */
static int
parse_zone(const char *s, long *offset)
{
	struct tm tm = {0};
	const char *end = s;

	if (*s == ' ' || (*s && !(end = strptime(s, "%z", &tm))))
		return -1;
	*offset = tm.tm_gmtoff;
	return !*end && labs(*offset) < 24 * 60 * 60 ? 0 : -1;
}

int
clock_parse(struct clock_parts *p, const char *text)
{
	struct tm tm = {0};
	const char *part = text + 10;

	if (!has_shape(text, "dddd-dd-dd") ||
	    !strptime(text, "%Y-%m-%d", &tm) || !has_day(tm))
		return -1;
	*p = (struct clock_parts){.part = "", .precision = CLOCK_DAY};
	if (*part) {
		if ((*part != 'T' && *part != ' ') ||
		    !has_shape(part + 1, "dd:dd"))
			return -1;
		p->precision =
		    has_shape(part + 6, ":dd") ? CLOCK_SECOND : CLOCK_MINUTE;
		part = strptime(part + 1,
		    p->precision == CLOCK_SECOND ? "%H:%M:%S" : "%H:%M", &tm);
		if (!part)
			return -1;
		if (p->precision == CLOCK_SECOND && *part == '.') {
			p->part = part;
			p->npart = 1 + strspn(part + 1, "0123456789");
		}
		if (parse_zone(part + p->npart, &p->offset) < 0)
			return -1;
	}
	p->second = tm.tm_sec;
	p->seconds = timegm(&tm) - p->offset;
	return 0;
}

int
clock_utc_of(char buf[CLOCK_ISO], const struct clock_parts *p)
{
	time_t t = p->seconds;
	struct tm tm;

	gmtime_r(&t, &tm);
	if (tm.tm_year < -1900 || tm.tm_year > 9999 - 1900 || p->npart == 1)
		return -1;
	/* strftime has no fixed width for years below 1000. */
	snprintf(buf, CLOCK_ISO, "%04d-%02d-%02dT%02d:%02d:%02d%.*sZ",
	    (tm.tm_year + 1900) % 10000, (tm.tm_mon + 1) % 100,
	    tm.tm_mday % 100, tm.tm_hour % 100, tm.tm_min % 100,
	    tm.tm_sec % 100, p->npart > 10 ? 10 : (int)p->npart, p->part);
	return 0;
}

int
clock_utc(char buf[CLOCK_ISO], const char *text)
{
	struct clock_parts p;

	return clock_parse(&p, text) == 0 && p.precision == CLOCK_SECOND
	    ? clock_utc_of(buf, &p)
	    : -1;
}

int
clock_seconds(const char *text, double *seconds)
{
	struct clock_parts p;

	if (clock_parse(&p, text) < 0 || p.precision != CLOCK_SECOND)
		return -1;
	*seconds = (double)p.seconds + strtod(p.part, NULL);
	return 0;
}

int
clock_today(char buf[CLOCK_ISO], const char *epoch)
{
	long long seconds = (long long)time(NULL);
	struct tm tm;
	time_t t;

	if (epoch && *epoch &&
	    (num_int(epoch, &seconds) < 0 || seconds < 0 ||
		seconds > 253402300799)) /* the end of 9999 */
		return err_fail("SOURCE_DATE_EPOCH: '%s' is not a number of "
				"seconds since 1970",
		    epoch);
	t = (time_t)seconds;
	gmtime_r(&t, &tm);
	strftime(buf, CLOCK_ISO, "%Y-%m-%d", &tm);
	return 0;
}

int
clock_left_ms(int64_t deadline_ns)
{
	int64_t left = (deadline_ns - clock_ns() + 999999) / 1000000;

	return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}
