#include "slospec.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "str.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MS 60e3 /* what histograms can hold */

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

static bool
has_label(const struct metric *m, const char *text)
{
	struct str label = {0};
	bool same;

	metric_write_label(&label, m->name);
	same = strcmp(label.s, text) == 0;
	str_free(&label);
	return same;
}

/* Writes "use p50, p95 or max, and <= and a time, ...". */
static void
explain_form(char *why, size_t size)
{
	struct str s = {0};
	const struct metric *last = metric_find("max_latency_ms");

	for (const struct metric *m = metric_table; m->name; m++) {
		if (!metric_is_percentile(m, "latency_ns"))
			continue;
		str_add(&s, !s.len ? "use " : m == last ? " or " : ", ");
		metric_write_label(&s, m->name);
	}
	snprintf(why, size, "%s, and <= and a time, as in p99<=1ms", s.s);
	str_free(&s);
}

const char *
slospec_parse(const char *text, struct slospec *s)
{
	char *own = drop_blanks(text), *sign = strstr(own, "<=");

	*s = (struct slospec){0};
	if (sign)
		*sign = '\0';
	for (const struct metric *m = metric_table; sign && m->name; m++)
		if (metric_is_percentile(m, "latency_ns") && has_label(m, own))
			s->metric = m;
	if (!s->metric)
		explain_form(s->why, sizeof s->why);
	else if (parse_time(sign + 2, &s->limit_ms) < 0)
		snprintf(s->why, sizeof s->why,
		    "the time is a number above 0 with us, ms or s, up to "
		    "60s, as in p99<=1ms");
	free(own);
	return *s->why ? s->why : NULL;
}

char *
slospec_format(const struct slospec *s)
{
	size_t i = s->limit_ms < 1 ? 0 : s->limit_ms < 1e3 ? 1 : 2;
	struct str text = {0};

	metric_write_label(&text, s->metric->name);
	str_printf(
	    &text, "<=%.12g%s", s->limit_ms / units[i].ms, units[i].name);
	return str_take(&text);
}
