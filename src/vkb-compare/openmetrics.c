#include "report.h"
#include "markup.h"
#include "str.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define REGRESSION SIZE_MAX

static const struct family {
	const char *name, *unit, *help;
	size_t value; /* of struct row, a double; REGRESSION: see get_value */
} families[] = {
    {"vkb_baseline", "", "Median of the baseline, in the unit of the metric.",
	offsetof(struct row, facts.median[0])},
    {"vkb_contender", "", "Median of the contender, in the unit of the metric.",
	offsetof(struct row, facts.median[1])},
    {"vkb_change_ratio", "ratio", "Contender over baseline.",
	offsetof(struct row, facts.ratio)},
    {"vkb_change_low_ratio", "ratio", "Lower end of its 95 % interval.",
	offsetof(struct row, facts.lo95)},
    {"vkb_change_high_ratio", "ratio", "Upper end of its 95 % interval.",
	offsetof(struct row, facts.hi95)},
    {"vkb_probability", "", "Probability of a change in its direction.",
	offsetof(struct row, facts.p)},
    {"vkb_regression", "", "1 where the contender is judged to be worse.",
	REGRESSION}};

/* Returns the value of the gauge, or NAN. */
static double
get_value(const struct family *f, const struct row *r)
{
	double v = r->verdict == VERDICT_REGRESSION && report_is_judged(r);

	if (f->value != REGRESSION)
		memcpy(&v, (const char *)r + f->value, sizeof v);
	return v;
}

static void
write_label(struct str *s, const char *name, const char *value)
{
	str_printf(s, "%s=\"", name);
	markup_label(s, value);
	str_addc(s, '"');
}

static void
write_side_labels(struct str *s, const struct comparison *c)
{
	write_label(s, "baseline", c->name[0]);
	str_addc(s, ',');
	write_label(s, "contender", c->name[1]);
}

static void
write_family_head(
    struct str *s, const char *name, const char *unit, const char *help)
{
	str_printf(s, "# TYPE %s gauge\n", name);
	if (*unit)
		str_printf(s, "# UNIT %s %s\n", name, unit);
	str_printf(s, "# HELP %s %s\n", name, help);
}

static void
write_samples(struct str *s, const struct family *f, const struct comparison *c)
{
	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];
		double v = get_value(f, r);

		if (isnan(v))
			continue;
		str_printf(s, "%s{", f->name);
		write_label(s, "case", r->pair->name[0]);
		str_addc(s, ',');
		write_label(s, "metric", r->name);
		str_addc(s, ',');
		write_side_labels(s, c);
		str_add(s, "} ");
		report_number(s, v);
		str_addc(s, '\n');
	}
}

static void
write_counts(struct str *s, const struct report *r)
{
	write_family_head(s, "vkb_rows", "", "Judged rows by their verdict.");
	for (size_t i = 0; i < r->n; i++)
		for (size_t v = 0; v < VERDICTS; v++) {
			str_add(s, "vkb_rows{");
			write_label(
			    s, "verdict", verdict_name((enum verdict)v));
			str_addc(s, ',');
			write_side_labels(s, &r->c[i]);
			str_printf(s, "} %zu\n", r->c[i].count[v]);
		}
	write_family_head(
	    s, "vkb_failed_runs", "", "Runs of the contender that failed.");
	for (size_t i = 0; i < r->n; i++) {
		str_add(s, "vkb_failed_runs{");
		write_side_labels(s, &r->c[i]);
		str_add(s, "} ");
		report_number(s, r->c[i].failed_runs);
		str_addc(s, '\n');
	}
}

/* The format requires all samples of a family in one block. */
void
report_openmetrics(struct str *s, const struct report *r)
{
	for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
		write_family_head(
		    s, families[f].name, families[f].unit, families[f].help);
		for (size_t i = 0; i < r->n; i++)
			write_samples(s, &families[f], &r->c[i]);
	}
	write_counts(s, r);
	str_add(s, "# EOF\n");
}
