#include "slospec.h"
#include "mem.h"
#include "num.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MS 60e3 /* what histograms can hold */

static const struct slospec percentiles[] = {{"p50", "p50_latency_ms", .5, 0},
    {"p95", "p95_latency_ms", .95, 0}, {"p99", "p99_latency_ms", .99, 0},
    {"p99.9", "p999_latency_ms", .999, 0}, {"max", "max_latency_ms", 1, 0}};

static const struct {
	const char *name;
	double ms;
} units[] = {{"us", 1e-3}, {"ms", 1}, {"s", 1e3}};

/* Copies a text without its blanks. Caller frees. */
static char *
drop_blanks(const char *text)
{
	char *own = mem_str(text), *to = own;

	for (; *text; text++)
		if (*text != ' ')
			*to++ = *text;
	*to = '\0';
	return own;
}

/* Parses "500us" to ms. Returns 0 or -1. */
static int
parse_time(char *text, double *ms)
{
	size_t n = strcspn(text, "mus"), i;
	double v;

	for (i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(text + n, units[i].name) == 0)
			break;
	if (i == sizeof units / sizeof *units)
		return -1;
	text[n] = '\0';
	if (num_real(text, &v) < 0)
		return -1;
	*ms = v * units[i].ms;
	return *ms > 0 && *ms <= MOST_MS ? 0 : -1;
}

const char *
slospec_parse(const char *text, struct slospec *s)
{
	char *own = drop_blanks(text), *sign = strstr(own, "<=");
	const char *why = NULL;
	size_t i, n;

	*s = (struct slospec){0};
	for (i = 0; sign && i < sizeof percentiles / sizeof *percentiles; i++) {
		n = (size_t)(sign - own);
		if (strlen(percentiles[i].name) == n &&
		    memcmp(percentiles[i].name, own, n) == 0)
			*s = percentiles[i];
	}
	if (!s->name)
		why = "use p50, p95, p99, p99.9 or max, and <= and a time, as "
		      "in p99<=1ms";
	else if (parse_time(sign + 2, &s->limit_ms) < 0)
		why = "the time is a number above 0 with us, ms or s, up to "
		      "60s, as in p99<=1ms";
	free(own);
	return why;
}

char *
slospec_format(const struct slospec *s)
{
	size_t i = s->limit_ms < 1 ? 0 : s->limit_ms < 1e3 ? 1 : 2;

	return mem_printf(
	    "%s<=%.12g%s", s->name, s->limit_ms / units[i].ms, units[i].name);
}
