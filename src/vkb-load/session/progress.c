#include "progress.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "record.h"
#include "str.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define SERVER_S 0.5 /* a server's start and end, roughly */

static volatile sig_atomic_t is_drawn;

/* Ignores errors: a run does not depend on the terminal. */
static void
write_terminal(const char *s)
{
	ssize_t n = write(STDERR_FILENO, s, strlen(s));

	(void)n;
}

void
progress_wipe(void)
{
	if (is_drawn)
		write_terminal("\r\033[K");
	is_drawn = 0;
}

void
progress_open(struct progress *p, bool quiet, bool verbose, size_t ncases)
{
	*p = (struct progress){
	    .live = !quiet && isatty(STDERR_FILENO), .left_s = -1};
	p->lines = verbose;
	p->took = mem_array(ncases + 1, sizeof *p->took);
	err_before(progress_wipe);
}

void
progress_close(struct progress *p)
{
	progress_wipe();
	err_before(NULL);
	free(p->took);
}

double
progress_estimate(
    const struct progress *p, size_t cas, const struct bench_load *l)
{
	if (p->took[cas] > 0)
		return p->took[cas];
	return l->duration_s > 0 ? l->duration_s + l->warmup_s + SERVER_S : -1;
}

void
progress_begin(struct progress *p, const char *name, double left_s)
{
	p->name = name;
	p->left_s = left_s;
	p->started = clock_ns();
	p->drawn = 0;
}

static int
count_columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20)
		return w.ws_col;
	return 80;
}

void
progress_draw(void *arg, const struct engine_progress *e)
{
	struct progress *p = arg;
	double spent = (double)(clock_ns() - p->started) / 1e9, left;
	struct str s = {0};
	char buf[NUM_BUF];
	int width;

	if (!p->live || (p->drawn && clock_ns() - p->drawn < SECOND / 5))
		return;
	p->drawn = clock_ns();
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
	if (e->rps > 0)
		str_printf(&s, "  %s req/s", num_human(buf, e->rps));
	if (e->p99_ms > 0)
		str_printf(&s, "  p99 %.3f ms", e->p99_ms);
	width = count_columns() - 1;
	if (s.len > (size_t)width)
		s.s[width] = '\0';
	write_terminal("\r\033[K");
	write_terminal(s.s);
	is_drawn = 1;
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
	else
		say("%zu/%zu %s%s%s: %s req/s, p50 %.3f ms, p99 %.3f ms",
		    p->done, p->total, p->name, who ? ", " : "", who ? who : "",
		    num_human(buf, json_get_num(m, "rps", 0)),
		    json_get_num(m, "p50_latency_ms", 0),
		    json_get_num(m, "p99_latency_ms", 0));
	free(who);
}
