/* TAP for unit tests: one header, included by each test's one .c file. */
#ifndef TAP_H
#define TAP_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_n, tap_bad;

__attribute__((format(printf, 2, 3), unused)) static bool
tap_ok(bool good, const char *fmt, ...)
{
	__builtin_va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_n);
	tap_bad += !good;
	__builtin_va_start(ap, fmt);
	vprintf(fmt, ap);
	__builtin_va_end(ap);
	putchar('\n');
	return good;
}

__attribute__((unused)) static bool
tap_str(const char *got, const char *want, const char *what)
{
	bool good = got && want ? strcmp(got, want) == 0 : got == want;

	tap_ok(good, "%s", what);
	if (!good)
		printf("# got '%s', wanted '%s'\n", got ? got : "(null)",
		    want ? want : "(null)");
	return good;
}

/* Relative error; two infinities of one sign are near, and two NANs. */
__attribute__((unused)) static bool
tap_near(double got, double want, double rtol, const char *what)
{
	bool good = got == want || (isnan(got) && isnan(want)) ||
	    fabs(got - want) <= rtol * fmax(fabs(want), 1e-300);

	tap_ok(good, "%s", what);
	if (!good)
		printf("# got %.17g, wanted %.17g\n", got, want);
	return good;
}

__attribute__((unused)) static int
tap_done(void)
{
	printf("1..%d\n", tap_n);
	return tap_bad != 0;
}

#endif
