#include "progress.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "record.h"
#include "str.h"
#include "vkb-load/case/search.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"

#include <stdlib.h>

#define SERVER_S 0.5 /* a server's start and end, roughly */

void
progress_open(struct progress *p, bool quiet, bool verbose, size_t ncases)
{
	*p = (struct progress){.left_s = -1, .lines = verbose};
	p->took = mem_array(ncases + 1, sizeof *p->took);
	statusline_open(&p->line, quiet);
}

void
progress_close(struct progress *p)
{
	statusline_close(&p->line);
	free(p->took);
}

double
progress_estimate(
    const struct progress *p, size_t cas, const struct bench_load *l)
{
	if (p->took[cas] > 0)
		return p->took[cas];
	if (l->slo)
		return SEARCH_TRIALS * (l->duration_s + l->warmup_s) + SERVER_S;
	return l->duration_s > 0 ? l->duration_s + l->warmup_s + SERVER_S : -1;
}

void
progress_begin(struct progress *p, const char *name, double left_s)
{
	p->name = name;
	p->left_s = left_s;
	p->started = clock_ns();
	p->line.drawn = 0;
}

void
progress_draw(void *arg, const struct engine_progress *e)
{
	struct progress *p = arg;
	double spent = (double)(clock_ns() - p->started) / 1e9, left;
	struct str s = {0};
	char buf[NUM_BUF];

	if (!statusline_is_due(&p->line))
		return;
	str_printf(&s, "%zu/%zu %s", p->done + 1, p->total, p->name);
	if (e->seeding)
		str_add(&s, "  seeding");
	else if (e->warmup)
		str_add(&s, "  warm-up");
	if (e->done > 0)
		str_printf(&s, " %.0f%%", e->done * 100);
	/* a narrow terminal cuts off the end */
	if (p->left_s >= 0) {
		left = p->left_s - spent;
		str_printf(&s, "  ETA %s%s", p->most ? "<" : "",
		    num_seconds(buf, left > 0 ? left : 0));
	}
	if (e->trial)
		str_printf(&s, "  trial %zu", e->trial);
	if (e->low > 0) {
		str_printf(&s, ", %s to", num_human(buf, e->low));
		str_printf(&s, " %s req/s", num_human(buf, e->high));
	}
	if (e->rps > 0 && !e->trial)
		str_printf(&s, "  %s req/s", num_human(buf, e->rps));
	if (e->p99_ms > 0)
		str_printf(&s, "  p99 %.3f ms", e->p99_ms);
	statusline_draw(s.s);
	str_free(&s);
}

void
progress_end(
    struct progress *p, size_t cas, const struct json *rec, size_t together)
{
	const struct json *m = json_get(rec, "metrics");
	const char *error = json_get_str(rec, "error");
	void (*say)(const char *fmt, ...) ERR_PRINTF(1, 2);
	char buf[NUM_BUF], *who = NULL;

	if (!rec)
		return;
	p->done++;
	if (!error)
		p->took[cas] =
		    (double)(clock_ns() - p->started) / 1e9 / (double)together;
	say = p->lines ? err_say : err_note;
	if (together > 1)
		who = record_subject_name(json_get(rec, "subject"));
	if (error)
		say("%zu/%zu %s%s%s: failed", p->done, p->total, p->name,
		    who ? ", " : "", who ? who : "");
	else if (json_get(m, "capacity_rps"))
		say("%zu/%zu %s%s%s: capacity %s req/s", p->done, p->total,
		    p->name, who ? ", " : "", who ? who : "",
		    num_human(buf, json_get_num(m, "capacity_rps", 0)));
	else
		say("%zu/%zu %s%s%s: %s req/s, p50 %.3f ms, p99 %.3f ms",
		    p->done, p->total, p->name, who ? ", " : "", who ? who : "",
		    num_human(buf, json_get_num(m, "rps", 0)),
		    json_get_num(m, "p50_latency_ms", 0),
		    json_get_num(m, "p99_latency_ms", 0));
	free(who);
}

void
progress_report_stop(const struct progress *p, size_t before, const char *path,
    const char *command)
{
	size_t kept = p->done + before, all = p->total + before;

	if (!all)
		return;
	if (path)
		err_say("%zu of %zu run%s kept; continue with: vkb-load "
			"--resume '%s'%s",
		    kept, all, num_plural((double)all), path, command);
	else
		err_say("%zu of %zu run%s kept: the records are on stdout; "
			"with '--output FILE' a session can be continued",
		    kept, all, num_plural((double)all));
}
