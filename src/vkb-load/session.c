#include "session.h"
#include "builds.h"
#include "coproc.h"
#include "cpulist.h"
#include "env.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "order.h"
#include "plan.h"
#include "progress.h"
#include "record.h"
#include "results.h"
#include "runner.h"
#include "str.h"

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
	struct results *results;
	struct slot *slots;
	size_t nslots;
	struct progress progress;
	struct runner runner;
};

/* The CPUs of this machine; 0, or -1: they cannot be read. */
static int
online(cpu_set_t *set)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	char line[4096];
	const char *why;
	int rc = -1;

	if (!f)
		return -1;
	if (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		rc = cpulist_parse(line, set, &why);
	}
	fclose(f);
	return rc;
}

static int
has_cpus(const struct json *cas, const struct json *list, const cpu_set_t *all)
{
	cpu_set_t set, both;
	const char *why;

	if (!json_str(list))
		return 0;
	if (cpulist_parse(json_str(list), &set, &why) < 0)
		return err_fail("%s: \"%s\" is no CPU list: %s",
		    json_get_str(cas, "id"), json_str(list), why);
	CPU_AND(&both, &set, all);
	if (!CPU_EQUAL(&both, &set))
		return err_fail("%s: this machine has not all of the CPUs "
				"\"%s\"",
		    json_get_str(cas, "id"), json_str(list));
	return 0;
}

/* Servers elsewhere have CPUs of their own. */
static int
check_cpus(const struct session *s, bool servers)
{
	const struct json *j;
	cpu_set_t all;
	int rc = 0;

	if (online(&all) < 0)
		return 0;
	for (size_t i = 0; i < s->ncases && rc == 0; i++) {
		rc = has_cpus(
		    s->cases[i], json_path(s->cases[i], "client.cpus"), &all);
		j = servers ? json_path(s->cases[i], "server.cpus") : NULL;
		for (j = json_first(j); j && rc == 0; j = json_next(j))
			rc = has_cpus(s->cases[i], j, &all);
	}
	return rc;
}

/* 0: all can be run; -1: some not, which was said, one line for each. */
static int
choose(struct session *s)
{
	const char *why;
	int rc = 0;

	s->cases = mem_array(s->plan->n + 1, sizeof *s->cases);
	for (size_t i = 0; i < s->plan->n; i++) {
		why = plan_cannot(s->plan, s->plan->cases[i]);
		if (why)
			rc = err_fail("%s: not run: %s",
			    json_get_str(s->plan->cases[i], "id"), why);
		else
			s->cases[s->ncases++] = s->plan->cases[i];
	}
	return rc;
}

static const struct json *
config_of(const struct session *s, const struct slot *slot)
{
	return json_get(s->cases[slot->cas], "config");
}

/* Drops what an earlier session has finished. */
static void
leave_out_done(struct session *s)
{
	const struct json *build;
	size_t kept = 0;

	for (size_t i = 0; i < s->nslots; i++) {
		build = s->builds->v[s->slots[i].build];
		if (!results_has(s->results, json_get(build, "subject"),
			config_of(s, &s->slots[i]), s->slots[i].index))
			s->slots[kept++] = s->slots[i];
	}
	if (kept < s->nslots)
		err_say("%zu of %zu runs are finished already",
		    s->nslots - kept, s->nslots);
	s->nslots = kept;
}

/* Seconds of the runs from 'first'; < 0: one of them is not known. */
static double
left(const struct session *s, size_t first)
{
	double sum = 0, g;

	for (size_t i = first; i < s->nslots; i++) {
		g = progress_guess(
		    &s->progress, s->slots[i].cas, config_of(s, &s->slots[i]));
		if (g < 0)
			return -1;
		sum += g;
	}
	return sum;
}

static void
announce(const struct session *s)
{
	double known = 0, g;
	struct str line = {0};
	bool all = true;
	char buf[NUM_BUF];

	if (s->o->quiet || !s->nslots ||
	    !(s->o->verbose || isatty(STDERR_FILENO)))
		return;
	for (size_t i = 0; i < s->nslots; i++) {
		g = progress_guess(
		    &s->progress, s->slots[i].cas, config_of(s, &s->slots[i]));
		known += g > 0 ? g : 0;
		all = all && g >= 0;
	}
	str_printf(&line, "%zu run%s of %zu case%s", s->nslots,
	    s->nslots == 1 ? "" : "s", s->ncases, s->ncases == 1 ? "" : "s");
	if (known > 0)
		str_printf(&line, ", %s %s", all ? "about" : "more than",
		    num_seconds(buf, known));
	err_say("%s", line.s);
	str_free(&line);
}

static char *
name_of(const struct session *s, const struct slot *slot)
{
	const struct json *build = s->builds->v[slot->build];
	char *who = s->builds->n > 1
	    ? record_subject_name(json_get(build, "subject"))
	    : mem_str("");
	char *name = mem_printf("%s%s%s run %zu of %lld",
	    json_get_str(s->cases[slot->cas], "id"), *who ? " " : "", who,
	    slot->index, s->o->runs);

	free(who);
	return name;
}

static int
go(struct session *s, const volatile int *stop)
{
	const struct slot *slot;
	size_t failed = 0;
	char *name;
	int k;

	for (size_t i = 0; i < s->nslots && !*stop; i++) {
		slot = &s->slots[i];
		name = name_of(s, slot);
		progress_begin(&s->progress, name, left(s, i));
		k = runner_run(&s->runner, slot);
		free(name);
		if (k < 0)
			return -1;
		failed += k > 0;
	}
	if (failed)
		err_say("%zu of %zu runs failed", failed, s->nslots);
	return *stop || failed ? -1 : 0;
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
    const struct builds *builds, struct results *results,
    struct running *running, const volatile int *stop)
{
	struct session s = {
	    .o = o, .plan = plan, .builds = builds, .results = results};
	struct json *env = env_read();
	int rc = choose(&s), k = -1;

	progress_open(&s.progress, o->quiet, o->verbose, s.ncases);
	if (check_cpus(&s, running == NULL) < 0)
		goto out;
	s.slots = order_make(order_parse(o->order), s.ncases, builds->n,
	    (size_t)o->runs, o->seed);
	s.nslots = s.ncases * builds->n * (size_t)o->runs;
	leave_out_done(&s);
	s.progress.total = s.nslots;
	announce(&s);
	s.runner = (struct runner){.cases = s.cases,
	    .builds = builds->v,
	    .results = results,
	    .progress = &s.progress,
	    .running = running,
	    .env = env,
	    .seed = o->seed,
	    .timeout_s = o->timeout_s,
	    .stop = stop};
	name_session(s.runner.session, o->seed);
	if (!running && s.nslots) {
		s.runner.coproc = coproc_start();
		if (!s.runner.coproc)
			goto out;
	}
	k = go(&s, stop);
	coproc_close(s.runner.coproc);
out:
	progress_close(&s.progress);
	json_free(env);
	free(s.slots);
	free(s.cases);
	return k < 0 ? -1 : rc;
}
