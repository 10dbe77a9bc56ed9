#include "report.h"
#include "markup.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

/* Add new columns at the end: scripts address columns by number. */
static const char csv_header[] =
    "contender,baseline,case,metric,unit,better,class,baseline_runs,"
    "contender_runs,baseline_median,contender_median,ratio,ci95_low,"
    "ci95_high,ci90_low,ci90_high,probability,method,paired,margin,verdict,"
    "visible,needed_runs,needed_minutes,waiver,notes";
static const char spread_header[] =
    ",baseline_mean,baseline_sd,baseline_cv,contender_mean,contender_sd,"
    "contender_cv";

static void
write_csv_text(struct str *s, const char *t)
{
	markup_csv(s, t);
	str_addc(s, ',');
}

/* Writes an empty field for NAN. */
static void
write_csv_number(struct str *s, double v)
{
	report_number(s, v);
	str_addc(s, ',');
}

static void
write_csv_spread(struct str *s, const struct row *r)
{
	for (size_t side = 0; side < 2; side++) {
		double v[REPORT_SPREAD];

		report_get_spread(r, side, v);
		for (size_t i = 0; i < REPORT_SPREAD; i++) {
			str_addc(s, ',');
			report_number(s, v[i]);
		}
	}
}

static void
write_csv_row(
    struct str *s, const struct comparison *c, const struct row *r, bool spread)
{
	const struct verdict_facts *f = &r->facts;
	struct str notes = {0};

	write_csv_text(s, c->name[1]);
	write_csv_text(s, c->name[0]);
	write_csv_text(s, r->pair->name[0]);
	write_csv_text(s, r->name);
	write_csv_text(s, r->metric->unit);
	write_csv_text(s, metric_better_name(r->metric->better));
	str_printf(s, "%s,%zu,%zu,", r->gate ? "gate" : "info", f->m, f->n);
	write_csv_number(s, f->median[0]);
	write_csv_number(s, f->median[1]);
	write_csv_number(s, f->ratio);
	write_csv_number(s, f->lo95);
	write_csv_number(s, f->hi95);
	write_csv_number(s, f->lo90);
	write_csv_number(s, f->hi90);
	write_csv_number(s, f->p);
	str_printf(s, "%s,%s,", f->method, f->paired ? "yes" : "no");
	write_csv_number(s, r->margin);
	str_printf(s, "%s,", verdict_name(r->verdict));
	write_csv_number(s, report_find_visible(r));
	write_csv_number(s, r->needed ? (double)r->needed : NAN);
	write_csv_number(s, r->minutes);
	write_csv_text(s, r->waiver.reason ? r->waiver.reason : "");
	report_notes(&notes, r);
	markup_csv(s, notes.s ? notes.s : "");
	if (spread)
		write_csv_spread(s, r);
	str_addc(s, '\n');
	str_free(&notes);
}

void
report_csv(struct str *s, const struct report *r)
{
	str_printf(s, "%s%s\n", csv_header, r->spread ? spread_header : "");
	for (size_t i = 0; i < r->n; i++) {
		const struct comparison *c = &r->c[i];

		for (size_t k = 0; k < c->nrows; k++)
			write_csv_row(s, c, &c->rows[k], r->spread);
	}
}
