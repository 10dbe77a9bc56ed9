#include "search.h"
#include "engines.h"
#include "err.h"
#include "hist.h"
#include "json.h"
#include "metric.h"
#include "num.h"
#include "slospec.h"
#include "target.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_DUE 10. /* requests of a trial, at least */

struct search {
	const struct engine_job *job;
	struct engine_work work;
	const struct slospec *slo;
	struct capacity *capacity;  /* NULL: the first trial is not over */
	struct json *room, *trials; /* of the record */
	size_t done;
	struct engine_result last; /* without its errors, which 'all' has */
	struct engine_result all;  /* errors of all trials */
};

static void
report_progress(void *arg, const struct engine_progress *e)
{
	const struct search *s = arg;
	struct engine_progress all = *e;
	struct capacity_answer a;

	all.done = ((double)s->done + e->done) / SEARCH_TRIALS;
	all.trial = s->done + 1;
	if (s->capacity) {
		a = capacity_answer(s->capacity);
		all.low = a.low;
		all.high = a.high;
	}
	s->job->progress(s->job->arg, &all);
}

static bool
check_held(const struct search *s, const struct engine_result *r)
{
	struct metric_achieved a = {
	    r->rps, r->offered_rps, s->slo->limit_ms / 1e3, r->elapsed_s};

	return !r->errors_total && r->lost + r->unanswered <= 0 &&
	    metric_time(s->slo->metric, r->latency) <= s->slo->limit_ms &&
	    metric_achieved_percent(&a) >= METRIC_REACHED_PERCENT;
}

static void
push_column(struct json *room, const char *name, struct json *v)
{
	if (!json_get(room, name))
		json_set(room, name, json_array());
	json_push(json_get(room, name), v);
}

static void
note_trial(struct search *s, const struct engine_result *r, bool held)
{
	static const char *const shown[] = {"p50_latency_ms", "p99_latency_ms"};

	if (!hist_count(r->latency))
		return;
	push_column(s->trials, "offered_rps", json_number(r->offered_rps));
	push_column(s->trials, "rps", json_number(r->rps));
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		push_column(s->trials, shown[i],
		    json_number(
			metric_time(metric_find(shown[i]), r->latency)));
	push_column(s->trials, "limited_latency_ms",
	    json_number(metric_time(s->slo->metric, r->latency)));
	push_column(s->trials, "held", json_boolean(held));
}

/* Makes a trial at a rate; 0: a closed loop. Keeps its result in 'last'. */
static int
make_trial(struct search *s, double rate, const struct engine_meter *meter)
{
	struct engine_result *r = &s->last;
	int rc;

	engine_result_free(r);
	s->work.rate = rate;
	s->work.seed++; /* trials differ, those of another build do not */
	rc = engine_run(&s->job->target->e, &s->work, 1, s->job->stop,
	    s->job->progress ? report_progress : NULL, s, meter, r);
	engine_result_add_errors(&s->all, r);
	s->done++;
	return rc;
}

/*
 * The closed loop, whose rate is where the search starts. If the run begins at
 * a given time, it does so then.
 */
static int
find_start(struct search *s, const struct engine_meter *meter)
{
	struct engine_meter first = {
	    .when = meter->when, .when_arg = meter->when_arg};
	int rc = make_trial(s, 0, &first);

	if (rc < 0)
		return -1;
	if (!s->last.requests || s->last.refused) {
		err_say("no capacity can be searched: in a closed loop %s%s",
		    s->last.requests ? "requests were refused: "
				     : "no request was answered",
		    s->last.requests ? s->last.refusal : "");
		return 1;
	}
	json_set_num(s->room, "closed_rps", s->last.rps);
	s->capacity = capacity_new(s->last.rps);
	return 0;
}

/* Reports that all trials, or none, held. Returns 1. */
static int
report_outside(const struct search *s, double rate, bool held)
{
	char *limit = slospec_format(s->slo), buf[NUM_BUF];

	if (held)
		err_say("no capacity was found: %s holds even at %s requests "
			"per second, %d times the rate of a closed loop",
		    limit, num_human(buf, rate), CAPACITY_UP);
	else
		err_say("no capacity was found: %s does not hold even at %s "
			"requests per second (%.6g ms, %llu errors%s%s)",
		    limit, num_human(buf, rate),
		    metric_time(s->slo->metric, s->last.latency),
		    (unsigned long long)s->all.errors_total,
		    s->all.nerrors ? ": " : "",
		    s->all.nerrors ? s->all.errors[0].text : "");
	free(limit);
	return 1;
}

static int
search_rates(struct search *s)
{
	double rate, least = LEAST_DUE / s->work.duration_s, last = 0;
	struct capacity_answer a;
	bool held;

	while ((rate = capacity_next(s->capacity)) > 0) {
		a = capacity_answer(s->capacity);
		if (rate < least && !a.held)
			break;
		last = rate = fmax(rate, least);
		if (make_trial(s, rate, NULL) < 0)
			return -1;
		held = check_held(s, &s->last);
		note_trial(s, &s->last, held);
		capacity_add(s->capacity, rate, held);
	}
	a = capacity_answer(s->capacity);
	if (!a.held || a.held == a.trials)
		return report_outside(s, last, a.held > 0);
	json_set(s->room, "ci95", json_pair(a.low, a.high));
	return 0;
}

/* The last trial, at the capacity. */
static int
measure_cost(struct search *s, const struct engine_meter *meter)
{
	double rate = capacity_answer(s->capacity).rate;
	struct engine_meter last = *meter;

	last.when = NULL;
	if (make_trial(s, rate, &last) < 0)
		return -1;
	note_trial(s, &s->last, check_held(s, &s->last));
	s->last.capacity_rps = rate;
	return 0;
}

/*
 * Returns the last result with the errors of all, without rate and latency; an
 * empty one if the search failed.
 */
static struct engine_result
make_result(struct search *s, int rc)
{
	struct engine_result r = s->last;

	r.written = NULL;
	engine_result_free(&r);
	r.written = s->last.written;
	if (rc != 0)
		return (struct engine_result){.written = r.written};
	for (size_t i = 0; i < s->all.nerrors; i++)
		r.errors[i] = s->all.errors[i];
	r.nerrors = s->all.nerrors;
	r.errors_total = s->all.errors_total;
	r.lost = s->all.lost;
	r.unanswered = s->all.unanswered;
	r.reconnects = s->all.reconnects;
	r.verified = s->all.verified;
	r.rps = r.offered_rps = r.max_backlog = NAN;
	return r;
}

int
search_run(const struct engine_job *j, const struct engine_work *work,
    const struct slospec *slo, const struct engine_meter *meter,
    struct engine_result *result)
{
	struct search s = {.job = j, .work = *work, .slo = slo};
	int rc;

	s.room = json_object();
	s.trials = json_object();
	json_set(s.room, "trials", s.trials);
	json_set(j->rec, "capacity", s.room);
	rc = find_start(&s, meter);
	if (rc == 0)
		rc = search_rates(&s);
	if (rc == 0)
		rc = measure_cost(&s, meter);
	if (!json_len(s.trials))
		json_del(j->rec, "capacity");
	*result = make_result(&s, rc);
	capacity_free(s.capacity);
	return rc;
}
