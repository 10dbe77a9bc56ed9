#include "livetext.h"
#include "hist.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "str.h"
#include "vkb-load/engine/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void
forget_loads(struct livetext *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->loads[i].name);
		free(t->loads[i].build);
		hist_free(t->loads[i].latency);
	}
	t->n = 0;
}

void
livetext_free(struct livetext *t)
{
	forget_loads(t);
	free(t->loads);
	free(t->run);
}

void
livetext_begin(struct livetext *t, const char *run)
{
	forget_loads(t);
	free(t->run);
	t->run = mem_str(run);
	t->phase = "preparing";
	t->done = 0;
}

static struct livetext_load *
find_load(struct livetext *t, const char *name, const char *build)
{
	struct livetext_load *l;

	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->loads[i].name, name) == 0 &&
		    strcmp(t->loads[i].build, build) == 0)
			return &t->loads[i];
	if (t->n == LIVETEXT_MOST)
		return NULL;
	l = MEM_ADD(t->loads, t->n, t->cap);
	*l = (struct livetext_load){.name = mem_str(name),
	    .build = mem_str(build),
	    .latency = HIST_LATENCY()};
	return l;
}

void
livetext_add(struct livetext *t, const char *name, const char *build,
    const struct engine_ended *e)
{
	struct livetext_load *l = find_load(t, name, build);

	if (!l)
		return;
	l->requests += e->requests;
	l->errors += e->errors;
	l->rps = (double)e->requests / e->length_s;
	if (e->latency)
		hist_merge(l->latency, e->latency);
}

static void
write_head(struct str *s, const char *name, const char *type, const char *help)
{
	str_printf(
	    s, "# HELP vkb_%s %s\n# TYPE vkb_%s %s\n", name, help, name, type);
}

/* Writes "vkb_NAME{case="...",build="..."" without the closing brace. */
static void
write_name(struct str *s, const char *name, const struct livetext_load *l)
{
	str_printf(s, "vkb_%s{case=\"", name);
	markup_label(s, l->name);
	str_add(s, "\",build=\"");
	markup_label(s, l->build);
	str_addc(s, '"');
}

static void
write_session(const struct livetext *t, struct str *s)
{
	static const char *const phases[] = {
	    "waiting", "preparing", "seeding", "warmup", "measuring", "ending"};

	write_head(s, "runs_planned", "gauge",
	    "Runs of this session, or their largest possible number.");
	str_printf(s, "vkb_runs_planned %zu\n", t->total);
	write_head(s, "runs_total", "counter", "Runs that were recorded.");
	str_printf(s, "vkb_runs_total{status=\"ok\"} %zu\n", t->ok);
	str_printf(s, "vkb_runs_total{status=\"failed\"} %zu\n", t->failed);
	write_head(s, "run_info", "gauge", "The run in progress.");
	str_add(s, "vkb_run_info{run=\"");
	markup_label(s, t->run ? t->run : "");
	str_add(s, "\"} 1\n");
	write_head(s, "phase", "gauge", "1 for what the session does now.");
	for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
		str_printf(s, "vkb_phase{phase=\"%s\"} %d\n", phases[i],
		    strcmp(t->phase ? t->phase : *phases, phases[i]) == 0);
	write_head(s, "run_done_ratio", "gauge",
	    "Share of the run that is over, with its warm-up.");
	str_printf(s, "vkb_run_done_ratio %.4g\n", t->done);
}

static void
write_latencies(const struct livetext *t, struct str *s)
{
	const struct livetext_load *l;
	uint64_t n;

	write_head(s, "latency_seconds", "summary",
	    "Latency of the requests of the run so far.");
	for (size_t k = 0; k < t->n; k++) {
		l = &t->loads[k];
		n = hist_count(l->latency);
		for (const struct metric *m = metric_table; n && m->name; m++) {
			if (!metric_is_percentile(m, "latency_ns") ||
			    m->quantile == 1)
				continue;
			write_name(s, "latency_seconds", l);
			str_printf(s, ",quantile=\"%g\"} %.9g\n", m->quantile,
			    metric_time(m, l->latency) / 1e3);
		}
		write_name(s, "latency_seconds_sum", l);
		str_printf(s, "} %.9g\n",
		    n ? hist_mean(l->latency) * (double)n / 1e9 : 0);
		write_name(s, "latency_seconds_count", l);
		str_printf(s, "} %" PRIu64 "\n", n);
	}
}

void
livetext_write(const struct livetext *t, struct str *s)
{
	const struct livetext_load *l, *end = t->n ? t->loads + t->n : NULL;

	write_session(t, s);
	write_head(s, "requests_total", "counter",
	    "Requests of the run that were answered in the measured time.");
	for (l = t->loads; l < end; l++) {
		write_name(s, "requests_total", l);
		str_printf(s, "} %" PRIu64 "\n", l->requests);
	}
	write_head(s, "errors_total", "counter",
	    "Error replies and broken connections of the run.");
	for (l = t->loads; l < end; l++) {
		write_name(s, "errors_total", l);
		str_printf(s, "} %" PRIu64 "\n", l->errors);
	}
	write_head(s, "requests_per_second", "gauge",
	    "Requests per second of the last interval.");
	for (l = t->loads; l < end; l++) {
		write_name(s, "requests_per_second", l);
		str_printf(s, "} %.9g\n", l->rps);
	}
	write_latencies(t, s);
}
