/*
 * vkb-compare: compares summaries (or runs) of a contender with those of a
 * baseline and writes reports. Exit status 1: the contender is slower.
 */
#include "err.h"
#include "jsonl.h"
#include "num.h"
#include "mem.h"
#include "opt.h"
#include "output.h"
#include "policy.h"
#include "str.h"
#include "vkb-compare/calibrate.h"
#include "vkb-compare/canary.h"
#include "vkb-compare/cases.h"
#include "vkb-compare/decide.h"
#include "vkb-compare/history.h"
#include "vkb-compare/recorded.h"
#include "vkb-compare/report.h"
#include "vkb-compare/subject.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct opts {
	const char *metrics, *policy;
	const char *explain;
	const char *on_insufficient, *on_inconclusive, *on_likely, *on_missing;
	struct opt_list baselines, formats, margins, history, canaries;
	const char *base; /* path of the baseline; NULL: it is in the input */
	bool strict, ci, verbose, shift, spread, check, deltas;
	long long calibrate;
};

#define AT(f) offsetof(struct opts, f)

#define LISTED(name, shifts) #name ", "
#define NAME(name, shifts) #name,
#define ROW(name, shifts) {report_##name, shifts},

static const char *const format_names[] = {REPORT_FORMATS(NAME) NULL};
static const struct {
	report_write *write;
	enum report_shifts shifts;
} report_formats[] = {REPORT_FORMATS(ROW)};

static const struct opt option_table[] = {
    {'b', "baseline", OPT_LIST, AT(baselines), "SUBJECT",
	.help = "name a subject of the input: label, ref, commit, version; "
		"repeatable",
	.group = "What to compare"},
    {0, "history", OPT_LIST, AT(history), "FILE",
	.help = "read runs of earlier subjects, in order; repeatable"},
    {'m', "metrics", OPT_STR, AT(metrics), "WHAT",
	.help = "judge all, latency, or a list of metrics: A,B",
	.group = "What to judge"},
    {0, "margin", OPT_LIST, AT(margins), "[METRIC=]N%",
	.help = "ignore changes up to N%: 2%, +10%, auto; repeatable"},
    {0, "canary", OPT_LIST, AT(canaries), "CASE",
	.help = "refuse the comparison if CASE changed; repeatable"},
    {0, "policy", OPT_STR, AT(policy), "FILE",
	.help = "read margins, classes and waivers: vkb-policy(5)"},
    {0, "strict", OPT_FLAG, AT(strict),
	.help = "claim so few changes that probably none is wrong"},
    {'f', "format", OPT_LIST, AT(formats), "FORMAT[:FILE]",
	.help =
	    "write " REPORT_FORMATS(LISTED) "the first by default; repeatable",
	.group = "Output"},
    {'v', "verbose", OPT_FLAG, AT(verbose),
	.help = "text: write a row for each metric, with its interval"},
    {0, "shift", OPT_FLAG, AT(shift),
	.help = "text: show how the latency percentiles moved"},
    {0, "spread", OPT_FLAG, AT(spread),
	.help = "text, markdown, csv: show mean, sd and CV of each side"},
    {0, "explain", OPT_STR, AT(explain), "CASE",
	.help = "text: explain the verdicts of this case, step by step"},
    {0, "ci", OPT_FLAG, AT(ci), .help = "fail what was not measured",
	.group = "What fails"},
    {0, "on-insufficient", OPT_CHOICE, AT(on_insufficient), "ANSWER",
	.choices = "ok|fail", .help = "pass or fail too few runs"},
    {0, "on-inconclusive", OPT_CHOICE, AT(on_inconclusive), "ANSWER",
	.choices = "ok|fail", .help = "pass or fail unclear results"},
    {0, "on-likely", OPT_CHOICE, AT(on_likely), "ANSWER", .choices = "ok|fail",
	.help = "pass or fail likely regressions"},
    {0, "on-missing", OPT_CHOICE, AT(on_missing), "ANSWER",
	.choices = "ok|fail", .help = "pass or fail missing cases"},
    {0, "check-sides", OPT_FLAG, AT(check),
	.help = "only check that the subjects are found; accept build records",
	.group = ""},
    {0, "deltas", OPT_FLAG, AT(deltas),
	.help = "report what the records of -f jsonl hold: text, markdown"},
    {0, "calibrate", OPT_INT, AT(calibrate), "RUNS", .min = VERDICT_RUNS,
	.max = 1000, .help = "measure the false alarms with RUNS a side"},
    {0}};

static const struct opt_prog program = {.name = "vkb-compare",
    .operands = "[BASE] [FILE ...]",
    .purpose = "Is the contender slower than the baseline?",
    .table = option_table,
    .examples = "  vkb compare base.jsonl new.jsonl\n"
		"  vkb compare -b old runs.jsonl -f markdown\n"};

static int
parse_margin(const char *s, struct margin *m)
{
	const char *eq = strrchr(s, '=');

	m->answer = POLICY_NO_ANSWER;
	if (eq == s || policy_parse_margin(eq ? eq + 1 : s, &m->answer) < 0)
		return err_fail(
		    "option '--margin': '%s' is not a percentage from 0%% to "
		    "below 100%%, like 2%% or p99_latency_ms=5%%, +10%%, -10%% "
		    "or auto",
		    s);
	m->name = eq ? mem_strn(s, (size_t)(eq - s)) : NULL;
	return 0;
}

static int
make_rules(const struct opts *o, struct rules *r)
{

	*r = (struct rules){.metrics = o->metrics, .strict = o->strict};
	r->margins = mem_array(o->margins.n + 1, sizeof *r->margins);
	for (size_t i = 0; i < o->margins.n; i++)
		if (parse_margin(o->margins.v[i], &r->margins[r->nmargins++]) <
		    0)
			return -1;
	if (clock_today(r->today, getenv("SOURCE_DATE_EPOCH")) < 0)
		return -1;
	if (o->policy && !(r->policy = policy_read(o->policy)))
		return -1;
	for (size_t i = 0; i < r->nmargins; i++)
		if (r->margins[i].answer.margin_auto && !o->history.n)
			return err_fail("option '--margin': '%s' needs "
					"--history",
			    o->margins.v[i]);
	if (o->history.n &&
	    !(r->history = history_read(o->history.v, o->history.n)))
		return -1;
	return 0;
}

static void
rules_free(struct rules *r)
{
	for (size_t i = 0; i < r->nmargins; i++)
		free((char *)(size_t)r->margins[i].name);
	free(r->margins);
	policy_free(r->policy);
	history_free(r->history);
}

static bool
is_answer(const char *answer, const char *want)
{
	return answer && strcmp(answer, want) == 0;
}

/* Returns the columns of the terminal that the output goes to, or 0. */
static size_t
find_width(const struct output *o)
{
	struct winsize size;

	if (o->file || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

/* Sets what makes the exit status 1. */
static void
set_failures(struct report *r, const struct opts *o)
{
	r->fails[VERDICT_REGRESSION] = true;
	r->fails[VERDICT_INSUFFICIENT] = is_answer(o->on_insufficient, "fail");
	r->fails[VERDICT_INCONCLUSIVE] = is_answer(o->on_inconclusive, "fail");
	r->fails[VERDICT_LIKELY_REGRESSION] = is_answer(o->on_likely, "fail");
	r->fails_missing = is_answer(o->on_missing, "fail");
}

/* Does an output show shifts? Only then are histograms read. */
static bool
shows_shifts(const struct output *out, size_t n, const struct opts *o)
{
	for (size_t i = 0; i < n; i++)
		if (report_formats[out[i].format].shifts >
		    (o->shift ? SHIFTS_NEVER : SHIFTS_BY_OPTION))
			return true;
	return false;
}

static int
write_reports(const struct output *out, size_t nout, struct comparison *c,
    size_t n, const struct rules *rules, const struct opts *o)
{
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		warnings_new(&c[i]);
	for (size_t i = 0; i < nout; i++) {
		struct report r = {.c = c,
		    .n = n,
		    .rules = rules,
		    .verbose = o->verbose,
		    .shift = o->shift,
		    .spread = o->spread,
		    .explain = o->explain,
		    .config = getenv("VKB_CONFIG"),
		    .base = o->base,
		    .repository = getenv("VKB_REPOSITORY"),
		    .cache = getenv("VKB_CACHE"),
		    .colour = output_has_colour(&out[i]),
		    .width = find_width(&out[i])};
		struct str s = {0};

		set_failures(&r, o);
		report_formats[out[i].format].write(&s, &r);
		rc |= output_write(&out[i], &s);
		str_free(&s);
	}
	for (size_t i = 0; i < n; i++)
		warnings_free(&c[i].warnings);
	return rc;
}

/* Returns the exit status: 1 if the contender is slower or an option makes
 * another outcome fail, 2 if there is no answer. */
static int
decide_status(const struct comparison *c, size_t n, const struct opts *o)
{
	size_t count[VERDICTS] = {0}, rows = 0, shown = 0, missing = 0;
	size_t waived = 0;
	struct report r = {0};
	double failed = 0;
	bool fails;

	for (size_t i = 0; i < n; i++) {
		for (size_t v = 0; v < VERDICTS; v++) {
			count[v] += c[i].count[v];
			rows += c[i].count[v];
		}
		shown += c[i].nrows;
		waived += c[i].waived;
		missing += report_count_missing(&c[i]);
		failed += c[i].failed_runs;
	}
	set_failures(&r, o);
	fails = missing && r.fails_missing;
	for (size_t v = 0; v < VERDICTS; v++)
		fails = fails || (count[v] && r.fails[v]);
	if (fails)
		return 1;
	/* The status of a vkb-load in front of a pipe is lost. */
	if (failed > 0) {
		err_say("%.0f run%s of the contender failed", failed,
		    num_plural(failed));
		return 2;
	}
	if (!shown) {
		err_say("nothing to compare: no case and metric is on both "
			"sides");
		return 2;
	}
	if (!rows && !waived) {
		err_say("nothing was judged: no gate metric is on both sides "
			"(--metrics NAME,... judges others)");
		return 2;
	}
	if (rows && count[VERDICT_INSUFFICIENT] == rows &&
	    !is_answer(o->on_insufficient, "ok")) {
		err_say(
		    "nothing was judged: each case has fewer than "
		    "%d runs on a side ('--on-insufficient ok' lets it pass)",
		    VERDICT_RUNS);
		return 2;
	}
	return 0;
}

/* --- the sides: the baselines and contenders of the input */

struct sides {
	struct cases base, other;       /* one input: other is empty */
	const struct cases *contenders; /* one of them */
	size_t *who, n;                 /* indexes of the baselines in base */
	size_t *whom, m; /* indexes of the contenders in theirs */
};

static bool
is_among(size_t who, const size_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == who)
			return true;
	return false;
}

static int
find_baselines(struct sides *s, const struct opt_list *baselines)
{
	for (size_t i = 0; i < baselines->n; i++) {
		int who = subject_find(&s->base, baselines->v[i]);

		if (who < 0)
			return -1;
		if (!is_among((size_t)who, s->who, s->n))
			s->who[s->n++] = (size_t)who;
	}
	return 0;
}

/*
 * Reads the files and finds the baselines by their names; without names the
 * first file is the baseline. All other subjects are contenders. Returns 1 if
 * some input could not be read and -1 if a baseline was not found, or there is
 * no contender, after reporting it. Free with free_sides in any case.
 */
static int
read_sides(struct sides *s, const struct opt_list *baselines,
    const struct opt_args *args, enum cases_of of)
{
	const char *const *files = (const char *const *)args->v;
	bool inside = baselines->n > 0; /* one input */
	int rc;

	*s = (struct sides){.contenders = inside ? &s->base : &s->other,
	    .who = mem_array(baselines->n + 1, sizeof *s->who)};
	rc = cases_read(&s->base, NULL, files, inside ? args->n : 1, of) < 0;
	if (inside) {
		rc = find_baselines(s, baselines) < 0 ? -1 : rc;
	} else {
		if (rc && !s->base.nsubjects)
			return -1;
		rc |= cases_read(
			  &s->other, &s->base, files + 1, args->n - 1, of) < 0;
		rc = subject_check_only(&s->base, files[0]) < 0 ? -1 : rc;
		s->n = 1; /* the only subject */
	}
	if (rc < 0)
		return -1;
	s->whom = mem_array(s->contenders->nsubjects + 1, sizeof *s->whom);
	for (size_t i = 0; i < s->contenders->nsubjects; i++)
		if (!inside || !is_among(i, s->who, s->n))
			s->whom[s->m++] = i;
	return s->m ? rc
		    : err_fail("there is no contender: the input has no "
			       "subject besides the baseline");
}

static void
free_sides(struct sides *s)
{
	cases_free(&s->base);
	cases_free(&s->other);
	free(s->who);
	free(s->whom);
}

static struct comparison *
compare_sides(const struct sides *s, const struct rules *r,
    const struct opts *o, const struct opt_args *files, size_t *n)
{
	struct comparison *c = mem_array(s->n * s->m + 1, sizeof *c);

	*n = 0;
	for (size_t b = 0; b < s->n; b++)
		for (size_t i = 0; i < s->m; i++)
			judge_compare(&c[(*n)++], &s->base, s->who[b],
			    s->contenders, s->whom[i], r);
	for (size_t i = 0; i < *n && s->contenders == &s->other; i++)
		subject_name_by_files(&c[i], files->v, files->n);
	for (size_t i = 0; i < *n && o->ci; i++)
		c[i].on_likely = o->on_likely ? o->on_likely : "ok";
	cases_forget_configs(&s->base);
	decide_all(c, *n, r);
	for (size_t i = 0; i < *n; i++)
		report_describe_together(&c[i]);
	subject_tell_apart(c, *n);
	return c;
}

/* Returns -1 if a canary changed: then the exit status is 2. */
static int
check_canaries(
    struct comparison *c, size_t n, const struct opts *o, const struct rules *r)
{
	int rc = 0;

	for (size_t i = 0; i < n && o->canaries.n; i++)
		rc |= canary_check(&c[i], &o->canaries, r);
	return rc;
}

/* --calibrate: judges runs of one build against each other. */
static int
run_calibration(const struct opts *o, const struct opt_args *args)
{
	static const char *const names[] = {"text", "policy", NULL};
	struct rules r = {0};
	struct calibration *c = NULL;
	struct output *out = NULL;
	size_t n = 0;
	int rc = 2;

	if (make_rules(o, &r) < 0 ||
	    !(out = output_list(&o->formats, names, &n)))
		goto out;
	c = calibrate(
	    (const char *const *)args->v, args->n, (size_t)o->calibrate, &r);
	if (!c)
		goto out;
	rc = 0;
	for (size_t i = 0; i < n; i++) {
		struct str s = {0};

		(out[i].format ? calibrate_policy : calibrate_text)(&s, c);
		if (output_write(&out[i], &s) < 0)
			rc = 2;
		str_free(&s);
	}
out:
	calibrate_free(c);
	rules_free(&r);
	free(out);
	return rc;
}

static int
compare_files(const struct opts *o, const struct opt_args *args)
{
	struct rules r = {0};
	struct sides s = {0};
	struct comparison *c = NULL;
	struct output *out = NULL;
	size_t n = 0, nout = 0;
	int rc = 2, trouble;

	if (make_rules(o, &r) < 0 ||
	    !(out = output_list(&o->formats, format_names, &nout)))
		goto out;
	trouble = read_sides(&s, &o->baselines, args,
	    shows_shifts(out, nout, o) ? CASES_HISTS : CASES_VALUES);
	if (trouble < 0)
		goto out;
	c = compare_sides(&s, &r, o, args, &n);
	trouble |= explain_check(c, n, o->explain) < 0;
	trouble |= rules_check_names(&r, c, n) < 0;
	rc = decide_status(c, n, o);
	if (check_canaries(c, n, o, &r) < 0)
		rc = 2;
	for (size_t i = 0; i < n; i++)
		if (shifts_new(&c[i]) < 0)
			rc = 2;
	if (write_reports(out, nout, c, n, &r, o) < 0)
		rc = 2;
	if (trouble && rc == 0)
		rc = 2;
out:
	for (size_t i = 0; i < n; i++)
		judge_free(&c[i]);
	rules_free(&r);
	free(c);
	free(out);
	free_sides(&s);
	return rc;
}

/* --check-sides: returns 0 if both sides are found. */
static int
check_sides(const struct opts *o, const struct opt_args *args)
{
	struct rules r = {0};
	struct sides s = {0};
	struct output *out = NULL;
	size_t n = 0;
	int rc = 2;

	if (make_rules(o, &r) == 0 &&
	    (out = output_list(&o->formats, format_names, &n)) &&
	    read_sides(&s, &o->baselines, args, CASES_SUBJECTS) == 0)
		rc = 0;
	rules_free(&r);
	free(out);
	free_sides(&s);
	return rc;
}

/* --deltas: reports what was judged elsewhere. Returns 0 or 2. */
static int
report_deltas(const struct opts *o, const struct opt_args *args)
{
	static const char *const names[] = {"text", "markdown", NULL};
	struct recorded r = {0};
	struct jsonl *in = NULL;
	struct output *out;
	size_t n = 0;
	int rc = 2;

	if (!(out = output_list(&o->formats, names, &n)))
		return 2;
	in = jsonl_open((const char *const *)args->v, args->n);
	if (recorded_read(&r, in) == 0 &&
	    write_reports(out, n, r.c, r.n, NULL, o) == 0)
		rc = 0;
	jsonl_close(in);
	recorded_free(&r);
	free(out);
	return rc;
}

static int
run_compare(void *opts, struct opt_args *args)
{
	struct opts *o = opts;
	bool one_input;

	if (o->ci && !o->on_missing)
		o->on_missing = "fail";
	if (o->ci && !o->on_insufficient)
		o->on_insufficient = "fail";
	one_input = o->baselines.n || o->calibrate || o->deltas;
	if (!args->n && !one_input)
		return opt_usage(&program,
		    "give BASE, the file to compare with, or --baseline NAME, "
		    "one of the subjects");
	if (args->n < (one_input ? 1 : 2) && opt_stdin(&program) < 0)
		return -1;
	if (o->deltas && o->explain)
		return opt_usage(&program,
		    "--explain needs the runs, which --deltas does not read");
	if (!one_input && strcmp(args->v[0], "-") != 0)
		o->base = args->v[0];
	if (o->deltas)
		return report_deltas(o, args);
	if (o->check)
		return check_sides(o, args);
	return (o->calibrate ? run_calibration : compare_files)(o, args);
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_compare);
}
