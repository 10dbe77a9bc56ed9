#include "counters.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "perf.h"
#include "proc.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct set {
	const char *name;
	const char *events;
	bool probed; /* ask perf whether it has them: not every version does */
};

/* Always counted: every user may, on every machine. */
#define SOFTWARE "task-clock,context-switches,cpu-migrations,page-faults"

static const struct set set_table[] = {
    {"software", "minor-faults,major-faults", false},
    {"ipc", "cycles,instructions,ref-cycles", false},
    {"stalls", "cycles,stalled-cycles-frontend,stalled-cycles-backend", false},
    {"cache",
	"cache-references,cache-misses,L1-dcache-loads,L1-dcache-load-misses,"
	"L1-icache-load-misses,LLC-loads,LLC-load-misses",
	false},
    {"tlb", "dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses", false},
    {"branch", "branches,branch-misses", false},
    {"topdown",
	"{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,"
	"topdown-be-bound}",
	true},
    {0}};

int
counters_check(const char *sets)
{
	static const char known[] =
	    "software,ipc,stalls,cache,tlb,branch,topdown,all";
	char *all = mem_str(sets), *rest = all, *name;
	int rc = *sets ? 0 : err_fail("option '--stat': no set is named");

	while (rc == 0 && rest && *rest) {
		name = strsep(&rest, ",");
		if (!str_has_part(known, name, ','))
			rc = err_fail("option '--stat': unknown set '%s'; "
				      "the sets are %s",
			    name, known);
	}
	free(all);
	return rc;
}

/* Asks perf whether it can count all events on this machine. */
static bool
are_events_known(const char *events)
{
	const char *const argv[] = {
	    "perf", "stat", "-x;", "-e", events, "--", "true", NULL};
	struct str s = {0};
	int status = -1;
	bool is =
	    proc_read(argv, false, 20000, &s, &status) == 0 && status == 0;

	str_free(&s);
	return is;
}

struct perf *
counters_start(const char *sets, bool user_only, pid_t pid)
{
	struct str events = {0};
	char id[32];
	const char *argv[] = {"stat", "-x;", "-e", NULL, "-p", id, NULL};
	struct perf *p;

	snprintf(id, sizeof id, "%ld", (long)pid);
	str_add(&events, SOFTWARE);
	for (const struct set *s = set_table; s->name; s++) {
		if (!str_has_part(sets, s->name, ',') &&
		    !str_has_part(sets, "all", ','))
			continue;
		if (s->probed && !are_events_known(s->events)) {
			err_say("this machine cannot count '%s'; it is left "
				"out",
			    s->name);
			continue;
		}
		str_addc(&events, ',');
		str_add(&events, s->events);
		/* perf adds ":u" itself, but not to groups in braces. */
		if (user_only && s->probed)
			str_add(&events, ":u");
	}
	argv[3] = events.s;
	p = perf_start("stat", argv);
	str_free(&events);
	return p;
}

/* Makes a key of an event: "L1-dcache-loads:u" becomes "l1_dcache_loads". */
static char *
make_key(const char *event, const char *unit)
{
	struct str s = {0};

	for (const char *p = event; *p && *p != ':'; p++)
		str_addc(&s,
		    *p == '-'                    ? '_'
			: *p >= 'A' && *p <= 'Z' ? (char)(*p + 'a' - 'A')
						 : *p);
	if (strcmp(unit, "msec") == 0)
		str_add(&s, "_ms");
	return str_take(&s);
}

struct json *
counters_parse(const char *text, double *shared)
{
	struct json *j = json_object();
	char *all = mem_str(text), *rest = all, *line, *f[5], *key;
	double v, percent;
	size_t n;

	*shared = 1;
	while ((line = strsep(&rest, "\n"))) {
		for (n = 0; n < 5 && line; n++)
			f[n] = strsep(&line, ";");
		if (n < 5 || num_real(f[0], &v) < 0 || v < 0 || !*f[2])
			continue; /* "<not supported>", "<not counted>" */
		/* They happen in the kernel, so ":u" counts none. */
		if (str_ends(f[2], ":u") &&
		    (str_starts(f[2], "context-switches") ||
			str_starts(f[2], "cpu-migrations")))
			continue;
		key = make_key(f[2], f[1]);
		/* Hybrid CPUs have a line for each kind of core. */
		json_set_num(j, key, json_get_num(j, key, 0) + v);
		free(key);
		if (num_real(f[4], &percent) == 0 && percent >= 0 &&
		    percent / 100 < *shared)
			*shared = percent / 100;
	}
	free(all);
	return j;
}

static const struct ratio {
	const char *key, *above, *below;
	double factor;
} ratios[] = {{"ipc", "instructions", "cycles", 1},
    {"ghz", "cycles", "task_clock_ms", 1e-6},
    {"frontend_stalled_percent", "stalled_cycles_frontend", "cycles", 100},
    {"backend_stalled_percent", "stalled_cycles_backend", "cycles", 100},
    {"cache_miss_percent", "cache_misses", "cache_references", 100},
    {"l1d_miss_percent", "l1_dcache_load_misses", "l1_dcache_loads", 100},
    {"llc_miss_percent", "llc_load_misses", "llc_loads", 100},
    {"dtlb_miss_percent", "dtlb_load_misses", "dtlb_loads", 100},
    {"itlb_miss_percent", "itlb_load_misses", "itlb_loads", 100},
    {"branch_miss_percent", "branch_misses", "branches", 100},
    {"retiring_percent", "topdown_retiring", "slots", 100},
    {"bad_speculation_percent", "topdown_bad_spec", "slots", 100},
    {"frontend_bound_percent", "topdown_fe_bound", "slots", 100},
    {"backend_bound_percent", "topdown_be_bound", "slots", 100}};

struct json *
counters_derive(const struct json *c)
{
	struct json *j = json_object();

	for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
		const struct ratio *r = &ratios[i];
		double a = json_get_num(c, r->above, NAN);
		double b = json_get_num(c, r->below, 0);

		if (b > 0 && a >= 0)
			json_set_num(j, r->key, r->factor * a / b);
	}
	return j;
}

struct json *
counters_per_request(
    const struct json *counts, double requests, const char *end)
{
	struct json *j = json_object();
	char *key;

	for (const struct json *c = json_first(counts); c && requests > 0;
	     c = json_next(c)) {
		key = mem_printf("%s%s", json_key(c), end);
		json_set_num(j, key, json_num(c, 0) / requests);
		free(key);
	}
	return j;
}
