#include "changetext.h"
#include "json.h"
#include "metric.h"
#include "num.h"
#include "record.h"
#include "str.h"
#include "judge/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct changetext
changetext_read(const struct json *record)
{
	const struct json *median = json_get(record, "median");
	const struct json *ci = json_get(record, "ci95");
	const struct json *slow = json_get(record, "slow");
	const struct json *shares = json_get(slow, "shares");
	const char *name = json_get_str(record, "metric");
	const char *method = json_get_str(record, "method");
	const struct metric m = metric_guess(name);
	struct changetext c = {.metric = name,
	    .median = {json_num(json_at(median, 0), NAN),
		json_num(json_at(median, 1), NAN)},
	    .ratio = json_get_num(record, "ratio", NAN),
	    .lo = json_num(json_at(ci, 0), NAN),
	    .hi = json_num(json_at(ci, 1), NAN),
	    .slow_ms = json_get_num(slow, "above_ms", 0),
	    .slow = {json_num(json_at(shares, 0), NAN),
		json_num(json_at(shares, 1), NAN)}};
	/* Counted runs that agree have an interval, without a test. */
	bool counted = m.exact_margin > 0 && method &&
	    strcmp(method, "assumed") == 0 && ci;

	c.exact = (m.exact || counted) && !(c.lo < c.hi);
	return c;
}

void
changetext_values(const struct changetext *c, double v[2])
{
	v[0] = c->median[0];
	v[1] = c->ratio > 0 && !(c->slow_ms > 0) ? c->median[0] * c->ratio
						 : c->median[1];
}

/* Rates are "faster" or "slower"; all else is "higher" or "lower". */
static bool
is_speed(const char *metric)
{
	return strcmp(metric_base(metric), "rps") == 0 ||
	    str_ends(metric, "_per_s");
}

const char *
changetext_direction(const char *metric, double ratio)
{
	if (is_speed(metric))
		return ratio > 1 ? "faster" : "slower";
	return ratio > 1 ? "higher" : "lower";
}

/* Writes "up from 0" or the like, for a ratio that is not above 0. */
static void
write_zero(struct str *s, const struct changetext *c)
{
	const char *zero = c->ratio == 0 || c->exact
	    ? verdict_name_zero(c->median[0], c->median[1])
	    : NULL;

	/* Single runs of 0 make a ratio of 0, too. */
	str_add(s, zero ? zero : c->ratio == 0 ? "down to 0" : "no ratio");
}

/* Writes 8.1 or 230: as many digits as a change has. */
static void
write_size(struct str *s, double ratio)
{
	double v = 100 * fabs(ratio - 1);

	str_printf(s, v < .095 ? "%.2f" : v < 99.95 ? "%.1f" : "%.0f", v);
}

static void
write_slow(struct str *s, const struct changetext *c)
{
	str_printf(s, "%.2g%% of requests above %.2g ms, before %.2g%%",
	    100 * c->slow[1], c->slow_ms, 100 * c->slow[0]);
}

void
changetext_percent(struct str *s, const struct changetext *c)
{
	if (!(c->ratio > 0)) {
		write_zero(s, c);
		return;
	}
	if (c->slow_ms > 0) {
		write_slow(s, c);
		return;
	}
	str_addc(s, c->ratio < 1 ? '-' : '+');
	write_size(s, c->ratio);
	str_addc(s, '%');
}

/* Writes "8.0% slower", "2.4x faster", "12% higher", "up from 0", or the share
 * of slow requests. */
static void
write_words(struct str *s, const struct changetext *c)
{
	double v = c->ratio;

	if (!(v > 0)) {
		write_zero(s, c);
		return;
	}
	if (c->slow_ms > 0) {
		write_slow(s, c);
		return;
	}
	if (v >= 2 || v <= .5) {
		str_printf(s, "%.3gx", v < 1 ? 1 / v : v);
	} else {
		write_size(s, v);
		str_addc(s, '%');
	}
	str_printf(s, " %s", changetext_direction(c->metric, v));
}

void
changetext_size(struct str *s, double ratio)
{
	double v = 100 * fabs(ratio - 1);

	str_printf(s, v < 1 ? "%.2f%%" : "%.1f%%", v);
}

/* Adds the first n bytes of the name of a metric, which are its unit. */
static void
write_unit(struct str *s, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addc(s, name[i] == '_' ? ' ' : name[i]);
}

/* Writes "1 more allocation", "2 more branch misses". */
static void
write_units(
    struct str *s, double by, const char *way, const char *name, size_t n)
{
	size_t from = s->len;
	bool one;

	num_write_count(s, by);
	one = strcmp(s->s + from, "1") == 0;
	str_printf(s, " %s ", way);
	write_unit(s, name, n);
	if (!one || !str_ends(s->s, "s"))
		return;
	s->len -= str_ends(s->s, "sses") ? 2 : 1;
	s->s[s->len] = '\0';
}

void
changetext_exact(struct str *s, const struct changetext *c)
{
	double by = c->median[1] - c->median[0];
	const char *way = by > 0 ? "more" : "fewer";
	const char *per = strstr(c->metric, "_per_");
	struct str label = {0};
	const char *name = c->metric;
	size_t n;

	if (!per) { /* of a process */
		metric_write_label(&label, c->metric);
		name = label.s;
	}
	n = per ? (size_t)(per - name) : label.len;
	if (isnan(c->ratio)) {
		write_units(s, fabs(by), way, name, n);
	} else {
		changetext_size(s, c->ratio);
		str_printf(s, " %s ", way);
		write_unit(s, name, n);
	}
	if (per && !str_ends(name, "_req"))
		write_unit(s, per, strlen(per));
	str_free(&label);
}

void
changetext_named(struct str *s, const struct changetext *c)
{
	struct str label = {0};

	if (c->exact && c->ratio > 0) {
		changetext_exact(s, c);
		return;
	}
	metric_write_label(&label, metric_base(c->metric));
	if (strcmp(label.s, "throughput") != 0) {
		metric_write_label(s, c->metric);
		str_add(s, c->slow_ms > 0 ? ": " : " ");
	}
	write_words(s, c);
	str_free(&label);
}

/* To a tenth of a percent, as intervals are; never "-0.0". */
static double
to_percent(double ratio)
{
	double v = 100 * (ratio - 1);

	return fabs(v) < .05 ? 0 : v;
}

void
changetext_interval(struct str *s, const struct changetext *c)
{
	if (!(c->ratio > 0)) {
		write_zero(s, c);
		return;
	}
	if (c->slow_ms > 0) {
		str_printf(s, "%.3gx", c->ratio);
		if (c->lo < c->hi)
			str_printf(s, " [%.3g, %.3g]", c->lo, c->hi);
		return;
	}
	str_printf(s, "%+.1f%%", to_percent(c->ratio));
	if (c->lo < c->hi)
		str_printf(
		    s, " [%+.1f, %+.1f]", to_percent(c->lo), to_percent(c->hi));
}

/*
 * Does the number show a change? A count does beyond the margin of its metric,
 * as that of a policy may be wider. What changed relative to the other cases
 * may have an interval that holds no change.
 */
static bool
is_change(const struct changetext *c, enum verdict v)
{
	struct metric m = metric_guess(c->metric);

	if (v != VERDICT_EQUIVALENT || !c->exact)
		return v < VERDICT_EQUIVALENT &&
		    !(c->lo < c->hi && c->lo <= 1 && c->hi >= 1);
	return fabs(c->ratio - 1) >
	    (m.exact_margin > 0 ? m.exact_margin : m.margin);
}

bool
changetext_cell(struct str *s, const struct changetext *c, enum verdict v,
    bool noise, bool words)
{
	/* Within a factor of ten: two runs can have an interval to 1000%. */
	bool known = words && c->lo < c->hi && c->hi < 10 * c->lo;

	if (is_change(c, v))
		(words ? write_words : changetext_percent)(s, c);
	else if (v == VERDICT_EQUIVALENT && !noise)
		str_addc(s, '=');
	else if (known)
		changetext_interval(s, c);
	else
		str_addc(s, '~');
	return !is_change(c, v) && !known && (v != VERDICT_EQUIVALENT || noise);
}

void
changetext_chance(struct str *s, double probability)
{
	str_printf(
	    s, probability > .999 ? ">99.9%%" : "%.1f%%", 100 * probability);
}

const char *
changetext_way(const struct json *change)
{
	const char *way = json_str(json_path(change, "trend.direction"));

	return way ? way : json_get_str(change, "kind");
}

void
changetext_range(struct str *s, const struct json *change)
{
	const struct json *range = json_get(change, "range");
	const char *first = json_str(json_at(range, 0));
	const char *last = json_str(json_at(range, 1));
	char *from, *to;

	if (!first || !last || strcmp(first, last) == 0)
		return;
	from = record_commit_brief(first, 8);
	to = record_commit_brief(last, 8);
	str_printf(s, "%s to %s", from, to);
	free(from);
	free(to);
}

bool
changetext_counts(struct str *s, const size_t count[VERDICTS])
{
	bool any = false;

	for (size_t i = 0; i < VERDICTS; i++) {
		enum verdict v = verdict_order[i];
		bool plural = v < VERDICT_EQUIVALENT && count[v] != 1 &&
		    !str_ends(verdict_name(v), "different");

		if (!count[v])
			continue;
		str_printf(s, "%s%zu %s%s", any ? ", " : "", count[v],
		    verdict_name(v), plural ? "s" : "");
		any = true;
	}
	return any;
}
