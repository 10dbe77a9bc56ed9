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

/* Within 1970 and 9999. */
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

int
clock_seconds(const char *iso, double *seconds)
{
	struct tm tm = {0};
	const char *end = strptime(iso, "%Y-%m-%dT%H:%M:%S", &tm);
	double part = 0;
	size_t n;

	if (!end)
		return -1;
	if (*end == '.') {
		n = strspn(end + 1, "0123456789");
		part = strtod(end, NULL);
		end += n + 1;
		if (!n)
			return -1;
	}
	if (strcmp(end, "Z") != 0)
		return -1;
	*seconds = (double)timegm(&tm) + part;
	return 0;
}

char *
clock_day(char buf[CLOCK_ISO], const char *epoch)
{
	long long seconds = (long long)time(NULL);
	struct tm tm;
	time_t t;

	if (epoch && *epoch &&
	    (num_int(epoch, &seconds) < 0 || seconds < 0 ||
		seconds > 253402300799)) /* the end of 9999 */
		return NULL;
	t = (time_t)seconds;
	gmtime_r(&t, &tm);
	strftime(buf, CLOCK_ISO, "%Y-%m-%d", &tm);
	return buf;
}

int
clock_today(char buf[CLOCK_ISO], const char *epoch)
{
	if (clock_day(buf, epoch))
		return 0;
	return err_fail("SOURCE_DATE_EPOCH: '%s' is not a number of seconds "
			"since 1970",
	    epoch);
}

int
clock_left_ms(int64_t deadline_ns)
{
	int64_t left = (deadline_ns - clock_ns() + 999999) / 1000000;

	return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}
