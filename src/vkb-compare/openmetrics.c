#include "report.h"
#include "casename.h"
#include "markup.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

/* The values of the gauges; NAN: the row has no value. */
static double
get_baseline(const struct row *r)
{
	return r->facts.median[0];
}

static double
get_contender(const struct row *r)
{
	return r->facts.median[1];
}

static double
get_ratio(const struct row *r)
{
	return r->facts.ratio;
}

static double
get_low(const struct row *r)
{
	return r->facts.lo95;
}

static double
get_high(const struct row *r)
{
	return r->facts.hi95;
}

static double
get_adjusted_p(const struct row *r)
{
	return r->p;
}

static double
get_regression(const struct row *r)
{
	return r->verdict == VERDICT_REGRESSION && r->gate && !r->waived;
}

static const struct family {
	const char *name, *unit, *help;
	double (*value)(const struct row *);
} families[] = {
    {"vkb_baseline", "", "Median of the baseline, in the unit of the metric.",
	get_baseline},
    {"vkb_contender", "", "Median of the contender, in the unit of the metric.",
	get_contender},
    {"vkb_change_ratio", "ratio", "Contender over baseline.", get_ratio},
    {"vkb_change_low_ratio", "ratio", "Lower end of its 95 % interval.",
	get_low},
    {"vkb_change_high_ratio", "ratio", "Upper end of its 95 % interval.",
	get_high},
    {"vkb_p_adjusted", "", "p of the change, adjusted over the report.",
	get_adjusted_p},
    {"vkb_regression", "", "1 where the contender is judged to be worse.",
	get_regression}};

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
write_samples(struct str *s, const struct family *f, const struct comparison *c,
    const struct casename *names)
{
	for (size_t i = 0; i < c->nrows; i++) {
		const struct row *r = &c->rows[i];
		double v = f->value(r);
		char *name;

		if (isnan(v))
			continue;
		name = casename_of(names, r->pair->side[0]->config);
		str_printf(s, "%s{", f->name);
		write_label(s, "case", name);
		str_addc(s, ',');
		write_label(s, "metric", r->name);
		str_addc(s, ',');
		write_side_labels(s, c);
		str_add(s, "} ");
		report_number(s, v);
		str_addc(s, '\n');
		free(name);
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
	struct casename **names = mem_array(r->n + 1, sizeof *names);

	for (size_t i = 0; i < r->n; i++)
		names[i] = judge_names(&r->c[i]);
	for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
		write_family_head(
		    s, families[f].name, families[f].unit, families[f].help);
		for (size_t i = 0; i < r->n; i++)
			write_samples(s, &families[f], &r->c[i], names[i]);
	}
	write_counts(s, r);
	str_add(s, "# EOF\n");
	for (size_t i = 0; i < r->n; i++)
		casename_free(names[i]);
	free(names);
}
