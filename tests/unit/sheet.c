/* Values of a metric as rows of the model: logarithms, scales, steps. */
#include "judge/model.h"
#include "judge/sheet.h"
#include "tap.h"

/* Makes a sheet of one row with n values of each side. */
static struct sheet *
make(const double *x, const double *y, size_t n, bool clock)
{
	struct sheet *s = sheet_new(1, clock);

	for (size_t i = 0; i < 2 * n; i++)
		sheet_add(s, 0, i >= n, i < n ? x[i] : y[i - n], 0, NAN);
	return s;
}

static void
rows(void)
{
	struct sheet *s = sheet_new(2, false);
	const struct model_row *r;

	sheet_add(s, 0, 0, 200, 1, 5);
	sheet_add(s, 0, 0, 100, 0, 7);
	sheet_add(s, 0, 0, 400, 0, 6);
	sheet_add(s, 0, 1, 300, 0, NAN);
	sheet_add(s, 1, 0, 4, 0, 0);
	sheet_add(s, 1, 0, 0, 0, 1);
	sheet_add(s, 1, 1, 1, 0, 0);
	r = sheet_rows(s);
	tap_ok(r[0].n[0] == 3 && r[0].n[1] == 1 && r[0].logs &&
		r[0].runs[0][0].y == log(400) &&
		r[0].runs[0][1].y == log(100) &&
		r[0].runs[0][2].y == log(200) && r[0].runs[0][2].session == 1,
	    "logarithms, by session and time");
	tap_ok(r[0].runs[1][0].time > 1e6,
	    "without times no runs are of one round");
	tap_ok(!r[1].logs && r[1].runs[0][0].y == 2 && r[1].runs[0][1].y == 0 &&
		r[1].runs[1][0].y == .5,
	    "with a zero, shares of the baseline's mean");
	tap_ok(sheet_step(s) == 0 && r[0].step == 0,
	    "values that are all different have no step");
	sheet_free(s);
	s = make((double[]){0, 0}, (double[]){3, 5}, 2, false);
	r = sheet_rows(s);
	tap_ok(r[0].runs[1][0].y == .75 && r[0].runs[0][1].y == 0,
	    "up from 0, shares of the contender's mean");
	sheet_free(s);
	s = make((double[]){0, 0}, (double[]){0, 0}, 2, false);
	r = sheet_rows(s);
	tap_ok(r[0].runs[1][0].y == 0, "0 as before");
	sheet_free(s);
	sheet_free(NULL);
}

static double
step_of(const double *x, const double *y, size_t n, bool clock)
{
	struct sheet *s = make(x, y, n, clock);
	double step;

	sheet_rows(s);
	step = sheet_step(s);
	sheet_free(s);
	return step;
}

static void
steps(void)
{
	static const double x[] = {.103, .111, .103, .111};
	static const double y[] = {.127, .111, .111, .103};
	static const double two[] = {5, 5, 5, 5}, other[] = {6, 6, 6, 6};
	static const double all[] = {.1, .107, .113, .12};
	struct sheet *s = sheet_new(2, true);
	const struct model_row *r;

	for (size_t i = 0; i < 12; i++)
		sheet_add(s, i / 8, i >= 4, i < 4 ? x[i] : y[i % 4], 0, NAN);
	r = sheet_rows(s);
	tap_near(sheet_step(s), .008, 1e-6,
	    "the step is the common divisor, whatever the offset");
	tap_near(r[0].step, log1p(.008 / .107), 1e-6,
	    "it is one of logarithms at the smaller mean");
	tap_ok(r[1].step == 0, "a row of one side has none");
	sheet_free(s);
	tap_ok(step_of(x, all, 4, true) == 0,
	    "no step where more than half of the values are different");
	tap_near(step_of(two, other, 4, true), 1, 1e-6,
	    "two values of a clock are a step apart");
	tap_ok(step_of(two, other, 4, false) == 0,
	    "two values without noise have none");
	tap_ok(step_of(two, two, 4, true) == 0, "equal values have none");
	tap_ok(step_of(two, two, 1, true) == 0, "nor have two values");
}

int
main(void)
{
	rows();
	steps();
	return tap_done();
}
