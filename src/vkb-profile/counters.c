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

static const char set_names[] =
    "software,ipc,stalls,cache,tlb,branch,topdown,all";

/* Cuts the first part off *list, as strsep does; a comma between slashes or in
 * braces belongs to an event. */
static char *
cut_part(char **list)
{
	char *part = *list, *p = part;
	bool slashes = false;
	int braces = 0;

	for (; *p && (*p != ',' || slashes || braces > 0); p++) {
		slashes = slashes != (*p == '/');
		braces += (*p == '{') - (*p == '}');
	}
	*list = *p && p[1] ? p + 1 : NULL;
	*p = '\0';
	return part;
}

/* Asks perf whether it can count all events on this machine. Returns 1 or 0,
 * then with its answer, or -1 after reporting that perf cannot be run. */
static int
ask_perf(const char *events, struct str *answer)
{
	const char *const argv[] = {
	    "perf", "stat", "-x;", "-e", events, "--", "true", NULL};
	int status = -1;

	str_add(answer, "");
	if (proc_read(argv, false, 20000, answer, &status) < 0)
		return -1;
	return status == 0;
}

/* Returns 0 if a part is a set or an event, or -1 after reporting an error. */
static int
check_part(const char *part)
{
	struct str answer = {0};
	int rc = 0, known;

	if (str_has_part(set_names, part, ','))
		return 0;
	if (!*part)
		return err_fail("option '--stat': a name is empty; name sets "
				"(%s) or events",
		    set_names);
	known = ask_perf(part, &answer);
	if (known == 0)
		rc = err_fail("option '--stat': '%s' is not a set (%s), and "
			      "perf does not know such an event: %.*s",
		    part, set_names, (int)strcspn(answer.s, "\n"), answer.s);
	str_free(&answer);
	return known < 0 ? -1 : rc;
}

/* Makes a key of an event: "L1-dcache-loads:u" becomes "l1_dcache_loads",
 * "uops_executed.thread" uops_executed_thread, "sched:sched_switch"
 * sched_sched_switch. */
static char *
make_key(const char *event, const char *unit)
{
	const char *colon = strrchr(event, ':');
	size_t n = strlen(event);
	struct str s = {0};

	/* Modifiers: of perf, "u", "k", "pp" and others, after the last colon.
	 */
	if (colon && strspn(colon + 1, "ukhGHpPSDIWe") == strlen(colon + 1))
		n = (size_t)(colon - event);
	for (size_t i = 0; i < n; i++) {
		char c = event[i];

		str_addc(&s,
		    c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A')
			: (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
			? c
			: '_');
	}
	if (strcmp(unit, "msec") == 0)
		str_add(&s, "_ms");
	return str_take(&s);
}

/* Returns the next event of a list, also within braces, and moves *at behind
 * it; NULL at the end. Caller frees. */
static char *
copy_event(const char **at)
{
	const char *p = *at, *from;
	bool slashes = false;

	for (;;) {
		p += strspn(p, ",{}");
		if (*p != ':')
			break;
		p += strcspn(p, ",{}"); /* modifiers of a group */
	}
	for (from = p; *p && (slashes || !strchr(",{}", *p)); p++)
		slashes = slashes != (*p == '/');
	*at = p;
	return p > from ? mem_strn(from, (size_t)(p - from)) : NULL;
}

/* Fails if two different events would have one key, so that their counts would
 * be added up. */
static int
check_keys(const char *events)
{
	struct {
		char *event, *key;
	} *v = NULL;
	size_t n = 0, cap = 0;
	char *event;
	int rc = 0;

	while ((event = copy_event(&events))) {
		char *key = make_key(event, "");

		for (size_t i = 0; i < n && rc == 0; i++)
			if (strcmp(v[i].key, key) == 0 &&
			    strcmp(v[i].event, event) != 0)
				rc = err_fail(
				    "option '--stat': the counts of '%s' and "
				    "'%s' would both be called '%s'; name one "
				    "of them",
				    v[i].event, event, key);
		v = mem_grow(v, n, &cap, sizeof *v);
		v[n].event = event;
		v[n++].key = key;
	}
	while (n-- > 0) {
		free(v[n].event);
		free(v[n].key);
	}
	free(v);
	return rc;
}

/* Adds what a part stands for to a list of events. */
static void
expand_part(struct str *to, const char *part)
{
	bool set = false;

	for (const struct set *s = set_table; s->name; s++)
		if (strcmp(part, s->name) == 0 || strcmp(part, "all") == 0) {
			str_printf(to, ",%s", s->events);
			set = true;
		}
	if (!set)
		str_printf(to, ",%s", part);
}

int
counters_check(const char *list)
{
	char *all = mem_str(list), *rest = all;
	struct str events = {0};
	int rc = 0;

	str_add(&events, SOFTWARE);
	while (rc == 0 && rest) {
		const char *part = cut_part(&rest);

		rc = check_part(part);
		expand_part(&events, part);
	}
	if (rc == 0)
		rc = check_keys(events.s);
	str_free(&events);
	free(all);
	return rc;
}

/* Adds the events that are not in the list yet: the counts of an event that is
 * there twice would be added up. */
static void
add_events(struct str *to, const char *events)
{
	char *all = mem_str(events), *rest = all;

	while (rest) {
		const char *event = cut_part(&rest);

		if (!str_has_part(to->s, event, ','))
			str_printf(to, ",%s", event);
	}
	free(all);
}

/* Adds the events of a set, if perf has them. */
static void
add_set(struct str *to, const struct set *s, bool user_only)
{
	struct str answer = {0};

	if (s->probed && ask_perf(s->events, &answer) != 1)
		err_say(
		    "this machine cannot count '%s'; it is left out", s->name);
	else
		add_events(to, s->events);
	/* perf adds ":u" itself, but not to groups in braces. */
	if (user_only && s->probed && str_ends(to->s, "}"))
		str_add(to, ":u");
	str_free(&answer);
}

/* Adds the events of a part, which is a set or one event. */
static void
add_part(struct str *to, const char *part, bool user_only)
{
	if (!str_has_part(set_names, part, ','))
		add_events(to, part);
	for (const struct set *s = set_table; s->name; s++)
		if (strcmp(part, s->name) == 0 || strcmp(part, "all") == 0)
			add_set(to, s, user_only);
}

struct perf *
counters_start(const char *list, bool user_only, pid_t pid)
{
	struct str events = {0};
	char id[32], *all = mem_str(list), *rest = all;
	const char *argv[] = {"stat", "-x;", "-e", NULL, "-p", id, NULL};
	struct perf *p;

	snprintf(id, sizeof id, "%ld", (long)pid);
	str_add(&events, SOFTWARE);
	while (rest)
		add_part(&events, cut_part(&rest), user_only);
	argv[3] = events.s;
	p = perf_start("stat", argv);
	str_free(&events);
	free(all);
	return p;
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
