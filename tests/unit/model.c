/*
 * The model: of simulated reports, those without a change do not claim one, and
 * those with one do, however the noise lies.
 */
#include "judge/claim.h"
#include "judge/model.h"
#include "normal.h"
#include "rng.h"
#include "tap.h"

enum { CASES = 10, MOST = 24 };

struct cell {
	size_t cases, n, sessions; /* of the baseline, beside the contender's */
	double cv, noisier;        /* of the last case */
	double session_sd, case_sd, shared; /* by all cases of a round */
	double stated; /* the session_sd of the model; 0: .01 */
	size_t changed;
	double change;
	size_t early; /* of the contender's runs, those in the first session */
	size_t late;  /* sessions before the first one of the last case */
	double step;
};

struct outcome {
	int alarms, covered, rows, found;
	double width;
};

struct drawn {
	struct model_row rows[CASES];
	struct model_run runs[CASES][2][MOST];
};

static void
add_run(const struct cell *c, struct drawn *d, size_t k, int side,
    uint32_t session, double time, double y)
{
	struct model_row *row = &d->rows[k];

	if (side && k < c->changed)
		y += log1p(c->change);
	if (c->step > 0)
		y = round(y / c->step) * c->step;
	d->runs[k][side][row->n[side]++] = (struct model_run){y, session, time};
}

/* In one session the sides are measured in rounds. */
static void
draw(struct rng *r, const struct cell *c, struct drawn *d)
{
	for (size_t k = 0; k < c->cases; k++)
		d->rows[k] = (struct model_row){
		    .step = c->step, .runs = {d->runs[k][0], d->runs[k][1]}};
	for (uint32_t s = 0; s <= c->sessions; s++) {
		double of[CASES], all = c->session_sd * normal_draw(r);
		bool last = s == c->sessions;

		for (size_t k = 0; k < c->cases; k++)
			of[k] = all + c->case_sd * normal_draw(r);
		for (size_t i = 0; i < c->n; i++) {
			double shared = c->shared * normal_draw(r);

			for (size_t k = 0; k < c->cases; k++) {
				double cv = c->cv *
				    (k + 1 == c->cases && c->noisier > 0
					    ? c->noisier
					    : 1);
				bool now = !c->sessions || last ||
				    (!s && i < c->early);

				if (k + 1 == c->cases && s < c->late)
					continue;
				if (!c->sessions || !last)
					add_run(c, d, k, 0, s, (double)i,
					    of[k] + cv * normal_draw(r));
				if (now)
					add_run(c, d, k, 1, s,
					    (double)i + (c->sessions ? .5 : 0),
					    of[k] + shared +
						cv * normal_draw(r));
			}
		}
	}
}

static void
judge(const struct cell *c, struct drawn *d, struct outcome *o)
{
	struct claim v[CASES];
	struct model_metric m;
	bool alarm = false;

	model_judge(d->rows, c->cases,
	    &(struct model_prior){.session_sd = c->stated > 0 ? c->stated : .01,
		.case_sd = .01,
		.df = 3},
	    &m);
	for (size_t k = 0; k < c->cases; k++) {
		const struct model_row *row = &d->rows[k];
		double truth = k < c->changed ? log1p(c->change) : 0;
		double wide = model_half_width(row, .95);

		v[k] = (struct claim){.p = fmax(row->down, row->up),
		    .beyond = fabs(row->rest) > .0202 &&
			(row->rest > 0) == (row->up > row->down)};
		o->rows++;
		o->covered += fabs(row->change - truth) <= wide + 1e-12;
		o->width += wide;
	}
	claim_choose(v, c->cases, false);
	for (size_t k = 0; k < c->cases; k++) {
		if (k < c->changed)
			o->found += v[k].word == CLAIM_CHANGE;
		else
			alarm = alarm || v[k].word == CLAIM_CHANGE;
	}
	o->alarms += alarm;
}

/* At most one in twenty reports may have a false claim; three standard
 * deviations are allowed. 'found': the least share of changes. */
static void
check(const char *what, struct cell c, int reports, double found)
{
	double n = reports, slack = 3 * sqrt(.05 * .95 / n);
	struct outcome o = {0};
	static struct drawn d;
	struct rng r;

	c.cases = c.cases ? c.cases : CASES;
	rng_seed(&r, 3, c.n);
	for (int i = 0; i < reports; i++) {
		draw(&r, &c, &d);
		judge(&c, &d, &o);
	}
	tap_ok(o.alarms <= (.05 + slack) * n, "%s: false claims in %d of %d",
	    what, o.alarms, reports);
	tap_ok(o.covered >= (.93 - slack) * o.rows,
	    "%s: %d of %d intervals hold the truth", what, o.covered, o.rows);
	if (c.changed)
		tap_ok(o.found >= found * n * (double)c.changed,
		    "%s: %d of %.0f changes are found", what, o.found,
		    n * (double)c.changed);
}

/* The change and its error where the formulas are known. */
static void
formulas(void)
{
	static const struct model_run x[] = {
	    {.00, 0, 0}, {.01, 0, 1}, {-.02, 0, 2}, {.03, 0, 3}};
	static const struct model_run y[] = {
	    {.10, 0, 0}, {.12, 0, 1}, {.06, 0, 2}, {.11, 0, 3}};
	static const struct model_run z[] = {
	    {.10, 1, 0}, {.12, 1, 1}, {.06, 1, 2}, {.11, 1, 3}};
	static const struct model_run v[] = {
	    {.00, 0, 0}, {.00, 0, 1}, {.00, 1, 0}, {.00, 1, 1}};
	static const struct model_run w[] = {
	    {.10, 0, 0}, {.11, 0, 1}, {.04, 1, 0}, {.05, 1, 1}};
	static const struct model_run tenfold[] = {
	    {2.3, 0, 0}, {2.5, 0, 1}, {2.1, 1, 0}, {2.2, 1, 1}};
	struct model_row r = {.runs = {x, y}, .n = {4, 4}};
	const struct model_prior prior = {.01, .02, 3, 0, 0};
	struct model_metric m;

	model_judge(&r, 1, &prior, &m);
	/* The differences .1, .11, .08, .08 have the variance .000225. */
	tap_ok(r.pairs == 4 && fabs(r.change - .0925) < 1e-12 &&
		fabs(r.error.var - .000225 / 4) < 1e-12 &&
		fabs(r.error.df - 3) < 1e-6,
	    "rounds: the mean of their differences, with its error");
	/* t of 3 degrees of freedom is 3.182446. */
	tap_near(model_half_width(&r, .95), 3.182446305 * .0075, 1e-7,
	    "its interval is Student's");
	tap_ok(r.least == r.change, "nothing of it is the machine's");
	tap_ok(r.up > .9 && r.down < .01 && fabs(r.up + r.down) <= 1,
	    "it is probable that the value rose");
	r.runs[0] = v;
	r.runs[1] = w;
	model_judge(&r, 1, &prior, &m);
	/* The differences .1, .11 and .04, .05 are of two sessions, whose means
	 * are .03 off theirs: 2 * 2 * .03^2 is the variance of a round. What is
	 * stated is .0037 / 3 of the rounds and 2 * 2 * .02^2. */
	tap_ok(r.pairs == 4 && fabs(r.change - .075) < 1e-12 &&
		fabs(r.error.var - (.0036 + .0037 + 3 * .0016) / 4 / 4) <
		    1e-12 &&
		fabs(r.error.df - 4) < 1e-6,
	    "rounds of sessions that differ more have what sessions do");
	r.runs[1] = tenfold;
	model_judge(&r, 1, &prior, &m);
	tap_ok(r.up > .95,
	    "a tenfold change is claimed though two sessions differ: %g", r.up);
	r.least_var = 4;
	model_judge(&r, 1, &prior, &m);
	tap_ok(r.error.var >= 4 && r.up < .9,
	    "the error is not below what the counts of few have: %g", r.up);
	r.least_var = 0;
	r.runs[0] = x;
	r.runs[1] = y;
	r.step = .1;
	model_judge(&r, 1, &prior, &m);
	tap_ok(r.up < .3, "not if a step of the clock explains it: %g", r.up);
	r.step = 0;
	r.runs[1] = z;
	model_judge(&r, 1, &prior, &m);
	/* The variances of the means are .0013 / 12 and .002075 / 12. */
	tap_ok(!r.pairs && fabs(r.change - .0925) < 1e-12 &&
		r.error.var > .003375 / 12 + 2 * 1e-4 &&
		r.error.var < .003375 / 12 + 2 * (4e-4 + 16e-4),
	    "two sessions: the error has that of sessions, as it is assumed");
	tap_ok(!m.separate && !m.known,
	    "one case does not tell the machine's change from its own");
}

int
main(void)
{
	formulas();
	check("A/A in rounds", (struct cell){.n = 6, .cv = .03}, 60, 0);
	check("one of ten in rounds",
	    (struct cell){.n = 6, .cv = .02, .changed = 1, .change = -.1}, 30,
	    .8);
	check("A/A, one case is noisy",
	    (struct cell){.n = 6, .cv = .01, .noisier = 5}, 60, 0);
	check("A/A, noise that all cases share",
	    (struct cell){.n = 6, .cv = .01, .shared = .03}, 60, 0);
	check("A/A in another session",
	    (struct cell){.n = 7,
		.sessions = 1,
		.cv = .01,
		.session_sd = .01,
		.case_sd = .01},
	    40, 0);
	check("four of ten at half their speed, in another session",
	    (struct cell){.n = 7,
		.sessions = 1,
		.cv = .01,
		.session_sd = .01,
		.changed = 4,
		.change = -.5},
	    20, .99);
	/* The other nine have moved with the machine; that they changed alike
	 * and this one did not is less likely. */
	check("5 % in one of ten, in another session",
	    (struct cell){.n = 7,
		.sessions = 1,
		.cv = .01,
		.session_sd = .03,
		.stated = .03,
		.changed = 1,
		.change = -.05},
	    200, .88);
	check("A/A in other sessions, one case has one of six",
	    (struct cell){
		.n = 4, .sessions = 6, .late = 5, .cv = .003, .case_sd = .03},
	    60, 0);
	check("A/A in other sessions, one of three cases has one of six",
	    (struct cell){.cases = 3,
		.n = 4,
		.sessions = 6,
		.late = 5,
		.cv = .001,
		.case_sd = .02},
	    60, 0);
	check("A/A, half of the contender's runs share a session",
	    (struct cell){.n = 6,
		.sessions = 1,
		.early = 6,
		.cv = .01,
		.session_sd = .02,
		.case_sd = .01},
	    40, 0);
	check("six sessions, another one",
	    (struct cell){.n = 4,
		.sessions = 6,
		.cv = .02,
		.session_sd = .03,
		.case_sd = .01},
	    30, 0);
	check("A/A, a coarse clock",
	    (struct cell){.n = 6, .cv = .001, .step = .02}, 30, 0);
	return tap_done();
}
