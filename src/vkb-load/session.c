#include "session.h"
#include "builds.h"
#include "coproc.h"
#include "engines.h"
#include "env.h"
#include "err.h"
#include "json.h"
#include "looks.h"
#include "machine.h"
#include "mem.h"
#include "num.h"
#include "order.h"
#include "pinning.h"
#include "plan.h"
#include "precise.h"
#include "progress.h"
#include "record.h"
#include "results.h"
#include "runner.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct session {
	const struct session_opts *o;
	const struct plan *plan; /* with its own list of what can be run */
	struct json **cases;
	size_t ncases;
	const struct builds *builds;
	const struct engine *engines;
	struct results *results;
	struct slot *slots; /* up to the next look */
	size_t nslots;
	size_t look; /* the next one, from 0 */
	struct precise *precise;
	struct precision *seen; /* of each case at the last look */
	bool *closed;           /* cases that are precise */
	bool *out;              /* of each case, builds that only failed */
	size_t finished, failed, vague;
	struct progress progress;
	struct runner runner;
};

/* Why a case cannot be run, or NULL; caller frees. */
static char *
cannot(const struct session *s, const struct json *cas)
{
	const char *why = plan_cannot(cas);
	const struct engine *e = engines_find(s->engines, cas);

	if (why)
		return mem_str(why);
	if (!e)
		return mem_printf("there is no engine '%s'",
		    engines_name(json_get(cas, "config")));
	return e->cannot(e->self, cas);
}

/* 0: all can be run; -1: some not, which was said, one line for each. */
static int
choose(struct session *s)
{
	char *why;
	int rc = 0;

	s->cases = mem_array(s->plan->n + 1, sizeof *s->cases);
	for (size_t i = 0; i < s->plan->n; i++) {
		why = cannot(s, s->plan->cases[i]);
		if (why)
			rc = err_fail("%s: not run: %s",
			    json_get_str(s->plan->cases[i], "id"), why);
		else
			s->cases[s->ncases++] = s->plan->cases[i];
		free(why);
	}
	return rc;
}

static const struct json *
config_of(const struct session *s, const struct slot *slot)
{
	return json_get(s->cases[slot->cas], "config");
}

static const struct finished *
find(const struct session *s, const struct slot *slot)
{
	return results_find(s->results,
	    json_get(s->builds->v[slot->build], "subject"), config_of(s, slot),
	    slot->index);
}

static int
recall(
    const struct session *s, const struct json *cas, const struct finished *f)
{
	const struct engine *e = engines_find(s->engines, cas);
	struct engine_past past = {.tool = f->tool,
	    .rps = json_get_num(f->metrics, "rps", 0),
	    .requests = json_get_num(f->metrics, "requests", 0)};

	return e->recall(e->self, cas, &past);
}

/*
 * Takes what an earlier session has finished. One that looked at other times,
 * or did not look, cannot be gone on with: its alpha is spent.
 */
static int
take(struct session *s, const struct slot *slot)
{
	const struct finished *f = find(s, slot);
	struct json *run;
	bool same;

	if (!f)
		return 0;
	run = json_object();
	looks_record(s->o->looks, config_of(s, slot), run);
	same = looks_hash(run) == f->looks;
	json_free(run);
	if (!same)
		return err_fail("'%s': run %zu of %s was made with another "
				"'--runs MIN..MAX' or '--until'",
		    s->results->name, slot->index,
		    json_get_str(s->cases[slot->cas], "id"));
	if (recall(s, s->cases[slot->cas], f) < 0)
		return -1;
	precise_add(
	    s->precise, slot->cas, slot->build, slot->index, f->metrics);
	s->finished++;
	return 0;
}

static int
take_finished(struct session *s)
{
	struct slot slot = {0};
	size_t most = looks_most(s->o->looks), last = s->results->last;

	if (last > most)
		last = most;
	for (; slot.cas < s->ncases; slot.cas++)
		for (slot.build = 0; slot.build < s->builds->n; slot.build++)
			for (slot.index = 1; slot.index <= last; slot.index++)
				if (take(s, &slot) < 0)
					return -1;
	if (s->finished && looks_adaptive(s->o->looks))
		err_say("%zu run%s finished already", s->finished,
		    s->finished == 1 ? " is" : "s are");
	else if (s->finished)
		err_say("%zu of %zu runs are finished already", s->finished,
		    s->ncases * s->builds->n * most);
	return 0;
}

static bool *
given_up(const struct session *s, size_t cas)
{
	return &s->out[cas * s->builds->n];
}

static bool
wanted(const struct session *s, const struct slot *slot)
{
	return !s->closed[slot->cas] && !given_up(s, slot->cas)[slot->build];
}

/* The runs before the next look that are still to be made. */
static void
plan_slots(struct session *s)
{
	const struct looks *l = s->o->looks;
	struct order o = {order_parse(s->o->order), s->ncases, s->builds->n,
	    s->look ? (size_t)l->at[s->look - 1] + 1 : 1,
	    (size_t)l->at[s->look], s->o->seed};
	size_t n, kept = 0;

	free(s->slots);
	s->slots = order_make(&o, &n);
	for (size_t i = 0; i < n; i++)
		if (wanted(s, &s->slots[i]) && !find(s, &s->slots[i]))
			s->slots[kept++] = s->slots[i];
	s->nslots = kept;
}

/* Runs after the next look, if no case becomes precise before the end. */
static size_t
later(const struct session *s, size_t cas)
{
	const struct looks *l = s->o->looks;
	size_t n = 0;

	for (size_t b = 0; b < s->builds->n; b++)
		n += wanted(s, &(struct slot){.cas = cas, .build = b});
	return n * (looks_most(l) - (size_t)l->at[s->look]);
}

/*
 * Seconds of the runs from slot 'first' on, at most, as far as they are known;
 * *all: they are.
 */
static double
left(const struct session *s, size_t first, bool *all)
{
	double sum = 0, g;

	*all = true;
	for (size_t i = first; i < s->nslots; i++) {
		g = progress_guess(
		    &s->progress, s->slots[i].cas, config_of(s, &s->slots[i]));
		*all = *all && g >= 0;
		sum += g > 0 ? g : 0;
	}
	for (size_t c = 0; c < s->ncases; c++) {
		g = progress_guess(
		    &s->progress, c, json_get(s->cases[c], "config"));
		if (g > 0)
			sum += g * (double)later(s, c);
	}
	return sum;
}

static bool
talks(const struct session *s)
{
	return !s->o->quiet && (s->o->verbose || isatty(STDERR_FILENO));
}

static void
announce(const struct session *s)
{
	bool all, most = looks_adaptive(s->o->looks);
	double known = left(s, 0, &all);
	size_t n = s->progress.total;
	struct str line = {0};
	char buf[NUM_BUF], *text;

	if (!talks(s))
		return;
	str_printf(&line, "%s%zu run%s of %zu case%s", most ? "at most " : "",
	    n, num_plural(n), s->ncases, num_plural(s->ncases));
	if (known > 0)
		str_printf(&line, ", %s %s", all ? "about" : "more than",
		    num_seconds(buf, known));
	err_say("%s", line.s);
	str_free(&line);
	if (most) {
		text = looks_text(s->o->looks);
		err_say("%s", text);
		free(text);
	}
}

/* "rps +-1.4 %, wanted 1 %" */
static void
add_precision(struct str *to, const struct precision *p)
{
	if (isfinite(p->now))
		str_printf(to, p->now < .1 ? "%s +-%.2g %%" : "%s +-%.0f %%",
		    p->metric, 100 * p->now);
	else
		str_printf(to, "%s not known yet", p->metric);
	str_printf(to, ", wanted %g %%", 100 * p->wanted);
}

/* " NAME" of the build where there are several; else "". */
static char *
builder(const struct session *s, const struct slot *slot)
{
	const struct json *build = s->builds->v[slot->build];
	char *name, *text;

	if (s->builds->n < 2)
		return mem_str("");
	name = record_subject_name(json_get(build, "subject"));
	text = mem_printf(" %s", name);
	free(name);
	return text;
}

static char *
name_of(const struct session *s, const struct slot *slot)
{
	const struct looks *l = s->o->looks;
	const struct precision *p = &s->seen[slot->cas];
	char *who = builder(s, slot);
	struct str name = {0};

	str_printf(&name, "%s%s run %zu of ",
	    json_get_str(s->cases[slot->cas], "id"), who, slot->index);
	if (looks_adaptive(l))
		str_printf(&name, "%.0f..", l->at[0]);
	str_printf(&name, "%zu", looks_most(l));
	if (isfinite(p->now) && s->look > 0)
		str_printf(&name, p->now < .1 ? ", +-%.2g %%" : ", +-%.0f %%",
		    100 * p->now);
	free(who);
	return str_take(&name);
}

/*
 * A run of a fixed number that fails is missing. An adaptive session tries
 * again, and then leaves this build out of the case. 0, or -1: stop.
 */
#define TRIES 3

static void
give_up(struct session *s, const struct slot *slot)
{
	char *who = builder(s, slot);

	given_up(s, slot->cas)[slot->build] = true;
	err_say("%s%s: failed %d times in a row, and is not run again",
	    json_get_str(s->cases[slot->cas], "id"), who, TRIES);
	free(who);
}

static int
run_slot(struct session *s, size_t i)
{
	const struct slot *slot = &s->slots[i];
	bool adaptive = looks_adaptive(s->o->looks), known;
	char *name = name_of(s, slot);
	double time = left(s, i, &known);
	int k = 1;

	for (size_t n = 0; n < (adaptive ? TRIES : 1) && k > 0; n++) {
		s->progress.total += n > 0;
		progress_begin(&s->progress, name, known ? time : -1);
		k = runner_run(&s->runner, slot);
		s->failed += k > 0;
	}
	free(name);
	if (k > 0 && adaptive)
		give_up(s, slot);
	return k < 0 ? -1 : 0;
}

static int
run_slots(struct session *s)
{
	for (size_t i = 0; i < s->nslots; i++)
		if (wanted(s, &s->slots[i]) &&
		    (*s->runner.stop || run_slot(s, i) < 0))
			return -1;
	return 0;
}

static bool
runs_at_all(const struct session *s, size_t cas)
{
	for (size_t b = 0; b < s->builds->n; b++)
		if (!given_up(s, cas)[b])
			return true;
	return false;
}

/* Is this case precise enough, or will it never be? */
static void
look_at(struct session *s, size_t cas)
{
	const struct looks *l = s->o->looks;
	const char *id = json_get_str(s->cases[cas], "id");
	struct str line = {0};
	bool enough = precise_enough(
	    s->precise, cas, s->look, given_up(s, cas), &s->seen[cas]);

	s->closed[cas] = enough;
	add_precision(&line, &s->seen[cas]);
	if (!enough && s->look + 1 == l->n) {
		s->vague++;
		err_say("%s: not precise after %.0f runs: %s", id,
		    l->at[s->look], line.s);
	} else if (talks(s))
		err_say("%s: look %zu of %zu, after %.0f runs: %s%s", id,
		    s->look + 1, l->n, l->at[s->look], line.s,
		    enough ? ": enough" : "");
	str_free(&line);
}

static void
look(struct session *s)
{
	for (size_t c = 0; c < s->ncases; c++)
		if (!runs_at_all(s, c))
			s->closed[c] = true;
		else if (!s->closed[c])
			look_at(s, c);
}

/* Before the first run. */
static int
begin(struct session *s)
{
	announce(s);
	if (s->runner.running)
		return 0;
	s->runner.coproc = coproc_start();
	return s->runner.coproc ? 0 : -1;
}

static int
go(struct session *s)
{
	const struct looks *l = s->o->looks;
	size_t total;

	for (; s->look < l->n; s->look++) {
		plan_slots(s);
		total = s->progress.done + s->nslots;
		for (size_t c = 0; c < s->ncases; c++)
			total += later(s, c);
		s->progress.total = total;
		if (s->nslots && !s->progress.done && begin(s) < 0)
			return -1;
		if (run_slots(s) < 0)
			return -1;
		if (looks_adaptive(l))
			look(s);
	}
	if (s->vague)
		err_say("%zu of %zu cases are less precise than wanted",
		    s->vague, s->ncases);
	if (s->failed)
		err_say("%zu of %zu run%s failed", s->failed, s->progress.done,
		    num_plural(s->progress.done));
	return s->failed ? -1 : 0;
}

/* Different for each session of any machine. */
static void
name_session(char name[16], uint64_t seed)
{
	int64_t now[2] = {0};
	FILE *f = fopen("/dev/urandom", "re");
	unsigned long long h;

	if (f) {
		if (fread(now, sizeof now, 1, f) != 1)
			now[0] = getpid();
		fclose(f);
	}
	h = str_hash(STR_HASH, now, sizeof now);
	h = str_hash(h, &seed, sizeof seed);
	snprintf(name, 16, "%012llx", h & 0xffffffffffffULL);
}

int
session_run(const struct session_opts *o, const struct plan *plan,
    const struct builds *builds, const struct engine *engines,
    struct results *results, struct running *running, const volatile int *stop)
{
	struct session s = {.o = o,
	    .plan = plan,
	    .builds = builds,
	    .engines = engines,
	    .results = results};
	struct json *machine, *brief;
	int rc = choose(&s), k = -1;
	char name[16];

	name_session(name, o->seed);
	machine = machine_record("", name);
	brief = env_brief(json_get(machine, "env"));

	progress_open(&s.progress, o->quiet, o->verbose, s.ncases);
	s.progress.most = looks_adaptive(o->looks);
	s.closed = mem_array(s.ncases + 1, sizeof *s.closed);
	s.out = mem_array(s.ncases * builds->n + 1, sizeof *s.out);
	s.seen = mem_array(s.ncases + 1, sizeof *s.seen);
	s.precise = precise_new(o->looks, s.cases, s.ncases, builds->n,
	    order_parse(o->order) == ORDER_INTERLEAVED);
	if (pinning_check(s.cases, s.ncases, running == NULL) < 0 ||
	    take_finished(&s) < 0)
		goto out;
	s.runner = (struct runner){.cases = s.cases,
	    .builds = builds->v,
	    .engines = engines,
	    .looks = o->looks,
	    .precise = s.precise,
	    .results = results,
	    .progress = &s.progress,
	    .running = running,
	    .machine = o->no_env ? NULL : machine,
	    .env = brief,
	    .seed = o->seed,
	    .timeout_s = o->timeout_s,
	    .stop = stop};
	memcpy(s.runner.session, name, sizeof name);
	k = go(&s);
	coproc_close(s.runner.coproc);
out:
	progress_close(&s.progress);
	precise_free(s.precise);
	json_free(machine);
	json_free(brief);
	free(s.slots);
	free(s.seen);
	free(s.closed);
	free(s.out);
	free(s.cases);
	return k < 0 || *stop ? -1 : rc;
}
