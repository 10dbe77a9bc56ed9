#include "clock.h"
#include "err.h"
#include "num.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

int64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

char *
clock_iso(char buf[CLOCK_ISO])
{
	struct timespec t;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &tm);
	snprintf(buf + strftime(buf, CLOCK_ISO, "%Y-%m-%dT%H:%M:%S", &tm), 8,
	    ".%03dZ", (int)(t.tv_nsec / 1000000));
	return buf;
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
