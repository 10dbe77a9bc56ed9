#include "progress.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "record.h"
#include "str.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"

#include <stdio.h>
#include <stdlib.h>

#define SERVER_S 0.5 /* a server's start and end, roughly */

void
progress_open(struct progress *p, bool quiet, bool verbose, size_t ncases)
{
	*p = (struct progress){.left_s = -1,
	    .name = "preparing",
	    .lines = verbose,
	    .quiet = quiet};
	p->took = mem_array(ncases + 1, sizeof *p->took);
	statusline_open(&p->line, quiet);
}

void
progress_close(struct progress *p)
{
	statusline_close(&p->line);
	free(p->took);
}

/* Returns the seconds of load and warm-up of a run; < 0: not known before. */
static double
measure_load(const struct bench_load *l)
{
	double once = l->work.duration_s + l->work.warmup_s;

	if (l->slo)
		return ENGINES_TRIALS * once;
	return l->work.duration_s > 0 ? once : -1;
}

double
progress_estimate(
    const struct progress *p, size_t cas, const struct bench_load *l)
{
	double load = measure_load(l);

	if (p->took[cas] > 0 || load < 0)
		return p->took[cas] > 0 ? p->took[cas] : -1;
	if (p->timed)
		return load + p->beside / (double)p->timed;
	return (1 + p->reference) * (load + SERVER_S);
}

/* Writes ", 2 min 10 s left", or nothing if that is not known. */
static void
write_time_left(struct str *s, const struct progress *p, double left)
{
	long long t = left > 0 ? (long long)(left + .5) : 0;

	if (p->left_s < 0)
		return;
	str_add(s, p->most ? ", at most " : ", ");
	if (t >= 3600)
		str_printf(s, "%lld h %lld min", t / 3600, t / 60 % 60);
	else if (t >= 60)
		str_printf(s, "%lld min %lld s", t / 60, t % 60);
	else
		str_printf(s, "%lld s", t);
	str_add(s, " left");
}

/* Writes "p99 .81 ms", with three digits. */
static void
write_p99(struct str *s, double ms)
{
	char buf[NUM_BUF];

	snprintf(buf, sizeof buf, ms < 99.95 ? "%#.3g" : "%.0f", ms);
	str_printf(s, " p99 %s ms", buf + (buf[0] == '0' && ms > 0));
}

void
progress_begin(struct progress *p, const char *name, size_t round,
    size_t rounds, double left_s)
{
	bool next = p->done && round > p->round;
	struct str s = {0};

	p->name = name;
	p->left_s = left_s;
	p->started = clock_ns();
	p->line.drawn = 0;
	if (next && !p->line.live && !p->lines && !p->quiet) {
		write_time_left(&s, p, left_s);
		if (rounds)
			err_say("round %zu/%zu done%s", p->round, rounds,
			    s.len ? s.s : "");
		else
			err_say("round %zu done%s", p->round, s.len ? s.s : "");
		str_free(&s);
	}
	p->round = round;
}

void
progress_draw(void *arg, const struct engine_progress *e)
{
	struct progress *p = arg;
	double spent = (double)(clock_ns() - p->started) / 1e9;
	struct str s = {0};
	char buf[NUM_BUF];

	if (!statusline_is_due(&p->line))
		return;
	str_add(&s, p->name);
	if (e->seeding)
		str_add(&s, " seeding");
	else if (e->warmup)
		str_add(&s, " warm-up");
	else if (e->reading)
		str_add(&s, " reading back");
	if (e->done > 0 &&
	    (e->seeding || e->warmup || e->reading || p->left_s < 0))
		str_printf(&s, " %.0f%%", e->done * 100);
	if (e->trial)
		str_printf(&s, " trial %zu", e->trial);
	if (e->low > 0) {
		str_printf(&s, ", %s to", num_human(buf, e->low));
		str_printf(&s, " %s req/s", num_human(buf, e->high));
	}
	if (e->rps > 0 && !e->trial)
		str_printf(&s, " %s req/s", num_human(buf, e->rps));
	if (e->p99_ms > 0)
		write_p99(&s, e->p99_ms);
	write_time_left(&s, p, p->left_s - spent);
	statusline_draw(s.s);
	str_free(&s);
}

/* Takes the time of a run for the estimates of later ones. */
static void
take_time(struct progress *p, size_t cas, const struct bench_load *l, double s)
{
	double load = measure_load(l);

	p->took[cas] = s;
	if (load < 0 || l->slo || s < load) /* a search ends when it knows */
		return;
	p->beside += s - load;
	p->timed++;
}

void
progress_end(struct progress *p, size_t cas, const struct bench_load *l,
    const struct json *rec, size_t together)
{
	const struct json *m = json_get(rec, "metrics");
	const char *error = json_get_str(rec, "error");
	void (*say)(const char *fmt, ...) ERR_PRINTF(1, 2);
	char buf[NUM_BUF], *who = NULL;

	p->done++;
	if (!error)
		take_time(p, cas, l,
		    (double)(clock_ns() - p->started) / 1e9 / (double)together);
	say = p->lines ? err_say : err_note;
	if (together > 1)
		who = record_subject_name(json_get(rec, "subject"));
	if (error)
		say("%s%s%s: failed", p->name, who ? ", " : "", who ? who : "");
	else if (json_get(m, "capacity_rps"))
		say("%s%s%s: capacity %s req/s", p->name, who ? ", " : "",
		    who ? who : "",
		    num_human(buf, json_get_num(m, "capacity_rps", 0)));
	else
		say("%s%s%s: %s req/s, p50 %.3f ms, p99 %.3f ms", p->name,
		    who ? ", " : "", who ? who : "",
		    num_human(buf, json_get_num(m, "rps", 0)),
		    json_get_num(m, "p50_latency_ms", 0),
		    json_get_num(m, "p99_latency_ms", 0));
	free(who);
}

char *
progress_format_resume(
    const char *text, const char *command, const char *path, bool has_stdin)
{
	struct str s = {0};

	if (!path)
		return NULL;
	str_printf(&s, "; %s%s with: vkb-load --resume ", text,
	    has_stdin ? ", with the same standard input," : "");
	str_word(&s, path);
	str_add(&s, command ? command : "");
	return str_take(&s);
}
