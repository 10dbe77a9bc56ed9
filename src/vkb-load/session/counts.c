#include "counts.h"
#include "caserunner.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "proc.h"
#include "progress.h"
#include "results.h"
#include "schedule.h"
#include "statusline.h"
#include "str.h"
#include "vkb-load/case/counting.h"
#include "vkb-load/case/resultrecord.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/logs.h"
#include "vkb-load/case/measure.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/plan/builds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Does the session fail if the case, which is counted, cannot be? */
static bool
is_demanded(const struct counts_opts *o, const struct bench_case *c)
{
	return o->all || (o->only && !o->possible) || c->count;
}

bool
counts_any(const struct schedule *a)
{
	for (size_t i = 0; i < a->ncases; i++)
		if (a->cases[i].counted)
			return true;
	return false;
}

/* Chooses the cases. 0, or -1 after reporting each that must be counted and
 * cannot be. Names one of the others that cannot be. */
static int
choose_cases(const struct counts_opts *o, struct schedule *a)
{
	char *why, *first = NULL;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < a->ncases; i++) {
		struct bench_case *c = &a->cases[i];

		if (!o->all && !o->only && !o->possible && !c->count)
			continue;
		why = counting_refuse(c);
		c->counted = !why;
		c->demanded = is_demanded(o, c);
		if (why && ((o->only && !o->possible) || c->count))
			rc = err_fail("%s: its instructions cannot be "
				      "counted: %s",
			    c->id, why);
		else if (why && !n++)
			first = mem_printf("%s: %s", c->id, why);
		free(why);
	}
	if (n)
		err_say("the instructions of %zu case%s are not counted (%s)",
		    n, num_plural((double)n), first);
	free(first);
	return rc;
}

/* Valgrind would count the shell that runs a script. Returns why a server
 * cannot be counted, or NULL. Caller frees. */
static char *
refuse_scripts(const struct builds *b)
{
	char *why = NULL;

	for (size_t i = 0; i < b->n && !why; i++) {
		const char *name = json_get_str(b->v[i], "server");
		char *path =
		    proc_find(name ? name : "valkey-server", getenv("PATH"));

		if (path && proc_is_script(path))
			why = mem_printf("'count' needs the server program "
					 "itself, '%s' is a script: name the "
					 "program that it starts",
			    path);
		free(path);
	}
	return why;
}

/* Keeps only the cases that must be counted, where nothing can be. Returns
 * whether there are any. */
static bool
drop_possible(const struct counts_opts *o, struct schedule *a)
{
	bool demanded = false;

	for (size_t i = 0; i < a->ncases; i++) {
		a->cases[i].counted &= is_demanded(o, &a->cases[i]);
		demanded |= a->cases[i].counted;
	}
	return demanded;
}

int
counts_choose(const struct counts_opts *o, struct schedule *a, bool running)
{
	int rc = choose_cases(o, a);
	char *why = NULL;

	if (!counts_any(a))
		return rc;
	if (running)
		why = mem_str("instructions are counted on servers that "
			      "vkb-load starts, not on a running one");
	if (!why)
		why = counting_find_obstacle();
	if (!why)
		why = refuse_scripts(a->builds);
	if (why && drop_possible(o, a))
		rc = err_fail("%s", why);
	else if (why)
		err_say("nothing is counted: %s", why);
	free(why);
	return rc;
}

/* One case on one build. */
struct counted {
	struct case_runner *runner;
	const struct bench_case *cas;
	struct turn turn;
	double took_s;  /* of its last count; < 0: not counted yet */
	double *before; /* instructions of each part on the first server; NAN:
			 * not known */
};

static int
write_all(struct case_runner *r, struct json **v, size_t n)
{
	if (r->machine && results_write(r->schedule->results, r->machine) < 0)
		return -1;
	r->machine = NULL; /* written once */
	return results_write_all(r->schedule->results, v, n);
}

/* Has the file a count of this part? */
static bool
is_counted(const struct schedule *a, const struct role *r, const struct turn *t)
{
	return results_find(a->results,
	    json_get(a->builds->v[t->build], "subject"), r->config, t->index,
	    true);
}

/* Returns 0; 1 if the case or a part of it failed, which is then written where
 * the case is demanded; -1 as counts_run. */
static int
write_records(
    struct counted *c, struct server_handle *l, struct measure *m, int rc)
{
	struct case_runner *r = c->runner;
	struct json **v = mem_array(m->roles.n, sizeof *v);
	const char *log;
	size_t n = 0;
	int failed = 0;

	if (rc < 0) {
		log = logs_keep(l->logs);
		for (size_t i = 0; i < m->roles.n; i++)
			result_record_fail(m->recs[i],
			    m->error.len ? m->error.s
					 : "the run was interrupted");
		err_say("%s: not counted: %s%s%s%s", c->cas->id,
		    json_get_str(m->recs[0], "error"),
		    log ? "; the log of its server is kept in '" : "",
		    log ? log : "", log ? "'" : "");
	}
	statusline_clear();
	for (size_t i = 0; i < m->roles.n; i++) {
		if (is_counted(r->schedule, &m->roles.v[i], &c->turn))
			continue; /* by a session before */
		if (!json_get(m->recs[i], "status"))
			json_set_str(m->recs[i], "status", "ok");
		else
			failed = 1;
		if (c->cas->demanded || !json_get(m->recs[i], "error"))
			v[n++] = m->recs[i];
	}
	if (write_all(r, v, n) < 0)
		failed = -1;
	free(v);
	for (struct json *j = json_first(m->profiled);
	     j && failed >= 0 && rc == 0 && c->turn.index == 1;
	     j = json_next(j))
		if (results_write(r->schedule->results, j) < 0)
			failed = -1;
	return failed;
}

/* Prints a message if this server needed another number than the one before. */
static void
compare_servers(struct counted *c, const struct measure *m)
{
	double now;

	for (size_t i = 0; i < m->roles.n; i++) {
		now = json_num(
		    json_path(m->recs[i], "metrics.instructions_per_req"), NAN);
		if (!isnan(c->before[i]) && now != c->before[i])
			err_say("%s: its instructions are not exact: %.4f and "
				"%.4f per request on two fresh servers; "
				"vkb-counting(7) says what can be done",
			    m->roles.v[i].name, c->before[i], now);
		c->before[i] = now;
	}
}

/* Returns as write_records. */
static int
run_once(struct counted *c)
{
	struct case_context *x = &c->runner->context;
	const struct json *build =
	    c->runner->schedule->builds->v[c->turn.build];
	struct server_handle l = {.context = x, .build = build, .count = true};
	struct measure m;
	char *why;
	int rc, failed;

	snprintf(x->run_name, sizeof x->run_name, "count-%zu", c->turn.index);
	measure_init(&m, x, c->cas, build, c->turn.index, 0);
	measure_count(&m);
	rc = handle_start(&l, c->cas, &why);
	rc = rc < 0 ? measure_fail(&m, why) : measure_run(&m, &l);
	if (handle_end(&l, &why) < 0)
		rc = measure_fail(&m, why);
	failed = *x->stop ? -1 : write_records(c, &l, &m, rc);
	if (rc == 0)
		compare_servers(c, &m);
	handle_free(&l);
	measure_free(&m);
	return failed;
}

/* Are all parts of the case counted? Where none is demanded, those of which the
 * server refused some were tried, too, as all are written at once. */
static bool
is_finished(const struct schedule *a, size_t cas, const struct turn *turn)
{
	const struct roles *r = &a->roles[cas];
	size_t found = 0;

	for (size_t i = 0; i < r->nown; i++)
		found += is_counted(a, &r->v[i], turn);
	return found == r->nown || (found && !a->cases[cas].demanded);
}

/* Returns how many counts of a case are to be made, from a turn on. */
static size_t
count_missing(const struct schedule *a, size_t cas, struct turn t)
{
	size_t n = 0;

	for (; a->cases[cas].counted && t.build < a->builds->n;
	     t.build++, t.index = 1)
		for (; t.index <= COUNTING_RUNS; t.index++)
			n += !is_finished(a, cas, &t);
	return n;
}

void
counts_announce(struct schedule *a)
{
	static const struct turn first = {.index = 1};
	size_t n = 0, cases = 0, missing;
	double cost_s = 0;
	char buf[NUM_BUF];

	for (size_t i = 0; i < a->ncases; i++) {
		missing = count_missing(a, i, first);
		cost_s += (double)missing *
		    counting_cost(&a->cases[i], a->roles[i].nown);
		n += missing;
		cases += missing > 0;
	}
	if (n)
		err_say("the instructions of %zu case%s are counted first, on "
			"%zu server%s one after the other: "
			"about %s of CPU time, more if the commands are slow",
		    cases, num_plural((double)cases), n, num_plural((double)n),
		    num_seconds(buf, cost_s));
}

/*
 * Begins the progress of the next count. The time that is left is known once
 * the last case was counted on a server: what a command costs under callgrind
 * is not known before.
 */
static void
begin_progress(const struct counted *c, size_t cas, const char *name)
{
	struct schedule *a = c->runner->schedule;
	static const struct turn first = {.index = 1};
	size_t later = 0;

	for (size_t i = cas + 1; i < a->ncases; i++)
		later += count_missing(a, i, first);
	a->progress.most = false;
	progress_begin(&a->progress, name, 0, 0,
	    later || c->took_s < 0
		? -1
		: c->took_s * (double)count_missing(a, cas, c->turn));
}

/* Makes one count of a case, with its progress. Returns as run_once. */
static int
make_count(struct counted *c, size_t cas, const char *who)
{
	const struct schedule *a = c->runner->schedule;
	int64_t started = clock_ns();
	struct str name = {0};
	int rc;

	str_visible(&name, a->names ? a->names[cas] : c->cas->id);
	str_printf(&name, "%s count %zu/%d", who, c->turn.index, COUNTING_RUNS);
	begin_progress(c, cas, name.s);
	rc = run_once(c);
	if (rc >= 0)
		c->took_s = (double)(clock_ns() - started) / 1e9;
	str_free(&name);
	return rc;
}

static bool
counted_any(const double *instructions, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(instructions[i]))
			return true;
	return false;
}

static int
count_case(struct counted *c, size_t cas, bool verbose, size_t *failed)
{
	const struct schedule *a = c->runner->schedule;
	char *who = schedule_format_build(a, &c->turn);
	size_t n = a->roles[cas].n;
	int rc = 0;

	c->cas = &a->cases[cas];
	c->before = mem_array(n, sizeof *c->before);
	for (size_t i = 0; i < n; i++)
		c->before[i] = NAN;
	for (c->turn.index = 1; c->turn.index <= COUNTING_RUNS && rc >= 0;
	     c->turn.index++) {
		if (is_finished(a, cas, &c->turn))
			continue;
		if (verbose)
			err_say("%s%s count %zu of %d", c->cas->id, who,
			    c->turn.index, COUNTING_RUNS);
		rc = make_count(c, cas, who);
		*failed += rc > 0 && c->cas->demanded;
		if (rc > 0 && !c->cas->demanded && !counted_any(c->before, n))
			break;
	}
	free(c->before);
	free(who);
	return rc < 0 ? -1 : 0;
}

int
counts_run(struct case_runner *r, bool verbose, size_t *failed)
{
	const struct schedule *a = r->schedule;
	struct counted c = {.runner = r};

	for (size_t i = 0; i < a->ncases; i++) {
		if (!a->cases[i].counted)
			continue;
		c.took_s = -1;
		for (c.turn.build = 0; c.turn.build < a->builds->n;
		     c.turn.build++)
			if (*r->context.stop ||
			    count_case(&c, i, verbose, failed) < 0)
				return -1;
	}
	return 0;
}
