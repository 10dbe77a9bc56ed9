#include "stopping.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "opt.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define RUNS 1000000

static bool
parse_run_count(const char *s, long long *v)
{
	return num_int(s, v) == 0 && *v >= 1 && *v <= RUNS;
}

static int
parse_runs(struct stopping_rule *l, const char *s, bool until)
{
	const char *dots = strstr(s, "..");
	char *first = dots ? mem_strn(s, (size_t)(dots - s)) : mem_str(s);
	long long min = 1, max = 0;
	bool automatic = strcmp(s, "auto") == 0;
	bool good = (automatic || parse_run_count(first, &min)) &&
	    (dots ? parse_run_count(dots + 2, &max) && max >= min : true);

	free(first);
	if (!good)
		return err_fail("option '--runs': '%s' is not auto, N or "
				"MIN..MAX from 1 to %d",
		    s, RUNS);
	if (dots && !until)
		return err_fail("option '--runs': '%s' needs '--until', which "
				"says when to stop",
		    s);
	if (!dots && until)
		return err_fail("option '--until' needs '--runs MIN..MAX'");
	l->automatic = automatic;
	l->n = 1;
	l->at[0] = (double)min;
	if (dots)
		l->n = sequential_looks((size_t)min, (size_t)max, l->at);
	return 0;
}

static int
parse_until(struct stopping_until *u, const char *s)
{
	const char *eq = strchr(s, '=');

	if (num_percent(eq ? eq + 1 : s, &u->width) < 0 || u->width <= 0 ||
	    u->width > 1 || eq == s)
		return err_fail("option '--until': '%s' is not a percentage "
				"above 0%% and up to 100%%, like 1%% or "
				"p99_latency_ms=5%%",
		    s);
	if (!eq)
		return 0;
	u->metric = mem_strn(s, (size_t)(eq - s));
	return metric_find(u->metric) ? 0
				      : err_fail("option '--until': no metric "
						 "is called '%s'",
					    u->metric);
}

int
stopping_parse(
    struct stopping_rule *l, const char *runs, const struct opt_list *until)
{
	double part[SEQUENTIAL_LOOKS];

	*l = (struct stopping_rule){0};
	l->until = mem_array(until->n + 1, sizeof *l->until);
	if (parse_runs(l, runs, until->n > 0) < 0)
		return -1;
	for (size_t i = 0; i < until->n; i++)
		if (parse_until(&l->until[l->nuntil++], until->v[i]) < 0)
			return -1;
	for (size_t i = 0; i < l->n; i++)
		part[i] = l->at[i] / l->at[l->n - 1];
	sequential_levels(part, l->n, .05, l->level);
	return 0;
}

void
stopping_free(struct stopping_rule *l)
{
	for (size_t i = 0; i < l->nuntil; i++)
		free(l->until[i].metric);
	free(l->until);
	*l = (struct stopping_rule){0};
}

bool
stopping_is_adaptive(const struct stopping_rule *l)
{
	return l->nuntil > 0;
}

size_t
stopping_max_runs(const struct stopping_rule *l)
{
	return (size_t)l->at[l->n - 1];
}

const char *
stopping_metric(const struct stopping_until *u, const struct json *config)
{
	if (u->metric)
		return u->metric;
	return metric_has_rate(config) ? "p50_latency_ms"
				       : metric_primary(config);
}

/* Of two conditions on one metric the narrower counts. */
static struct json *
make_until(const struct stopping_rule *l, const struct json *config)
{
	struct json *until = json_object();

	for (size_t i = 0; i < l->nuntil; i++) {
		const char *name = stopping_metric(&l->until[i], config);

		if (json_get_num(until, name, 2) > l->until[i].width)
			json_set_num(until, name, l->until[i].width);
	}
	return until;
}

void
stopping_record(
    const struct stopping_rule *l, const struct json *config, struct json *run)
{
	struct json *at;

	if (!stopping_is_adaptive(l))
		return;
	at = json_array();
	for (size_t i = 0; i < l->n; i++)
		json_push_num(at, l->at[i]);
	json_set(run, "looks", at);
	json_set(run, "until", make_until(l, config));
}

unsigned long long
stopping_hash(const struct json *run)
{
	const struct json *rule = json_get(run, "looks");
	const struct json *until = json_get(run, "until");

	return (rule ? json_hash(rule) : 0) +
	    (until ? 31 * json_hash(until) : 0);
}

char *
stopping_format(const struct stopping_rule *l)
{
	struct str s = {0};

	str_add(&s, "looks after ");
	for (size_t i = 0; i < l->n; i++)
		str_printf(&s, "%s%.0f",
		    i == 0             ? ""
			: i + 1 < l->n ? ", "
				       : " and ",
		    l->at[i]);
	str_add(&s, " runs of each case, until");
	for (size_t i = 0; i < l->nuntil; i++)
		str_printf(&s, "%s %s%s+-%g %%", i ? "," : "",
		    l->until[i].metric ? l->until[i].metric : "",
		    l->until[i].metric ? " " : "", 100 * l->until[i].width);
	return str_take(&s);
}
