/* vkb-load: what a terminal shows of a session, and the file that its runs are
 * written to. */
#include "tap.h"

#include "clock.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "vkb-gendata/meter.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/session/progress.h"
#include "vkb-load/session/results.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static struct json *
parse(const char *s)
{
	return json_parse(s, strlen(s), NULL, NULL);
}

/* ---- the terminal */

static int screen; /* the other end of the terminal that is stderr */

/* Makes stderr a terminal with so many columns; returns the old stderr. */
static int
open_screen(void)
{
	struct termios raw;
	int was = dup(STDERR_FILENO), end;

	screen = posix_openpt(O_RDWR | O_NOCTTY);
	if (was < 0 || screen < 0 || grantpt(screen) < 0 ||
	    unlockpt(screen) < 0 ||
	    (end = open(ptsname(screen), O_RDWR | O_NOCTTY)) < 0)
		return -1;
	tcgetattr(end, &raw);
	cfmakeraw(&raw);
	tcsetattr(end, TCSANOW, &raw);
	dup2(end, STDERR_FILENO);
	close(end);
	return was;
}

static void
set_columns(unsigned short n)
{
	struct winsize w = {.ws_col = n, .ws_row = 24};

	ioctl(screen, TIOCSWINSZ, &w);
}

/* Compares what the terminal shows. It arrives soon, and in pieces. */
static void
check_screen(const char *want, const char *what)
{
	struct pollfd fd = {.fd = screen, .events = POLLIN};
	char got[400];
	size_t n = 0;
	ssize_t k;

	while (n < sizeof got - 1 &&
	    poll(&fd, 1, n < strlen(want) ? 10000 : 0) > 0 &&
	    (k = read(screen, got + n, sizeof got - 1 - n)) > 0)
		n += (size_t)k;
	got[n] = '\0';
	tap_str(got, want, what);
}

static void
draw(struct progress *p, struct engine_progress e)
{
	p->line.drawn = 0;
	progress_draw(p, &e);
}

#define WIPE "\r\033[K"

static void
lines(void)
{
	struct progress p;
	struct json *rec = parse("{\"metrics\":{\"rps\":12345,"
				 "\"p50_latency_ms\":0.25,"
				 "\"p99_latency_ms\":4.5}}"),
		    *bad = parse("{\"error\":\"it broke\"}");
	struct bench_load timed = {.work = {.duration_s = 3, .warmup_s = 2}};
	struct bench_load cold = {.work.duration_s = 3},
			  counted = {.work.requests = 3};
	int was = open_screen();

	if (was < 0) {
		tap_ok(false, "a terminal can be opened");
		return;
	}
	set_columns(0);
	progress_open(&p, false, true, 2);
	p.total = 3;
	tap_near(progress_estimate(&p, 0, &timed), 5.5, 1e-12,
	    "the estimate is the time, the warm-up and half a second");
	tap_near(progress_estimate(&p, 0, &cold), 3.5, 1e-12,
	    "the estimate of a run without a warm-up");
	tap_ok(progress_estimate(&p, 0, &counted) < 0,
	    "a run with a number of requests has no estimate at first");
	progress_begin(&p, "SET", 1, 3, -1);
	progress_draw(&p, &(struct engine_progress){.seeding = true});
	check_screen(WIPE "SET seeding", "a run that is being prepared");
	progress_draw(&p, &(struct engine_progress){.warmup = true});
	check_screen("", "a line is not drawn again at once");
	p.line.drawn -= SECOND / 5;
	progress_draw(
	    &p, &(struct engine_progress){.warmup = true, .done = .041});
	check_screen(WIPE "SET warm-up 4%",
	    "a line is drawn again a fifth of a second later");
	p.left_s = 65;
	p.started = clock_ns() - 60 * SECOND;
	draw(&p,
	    (struct engine_progress){
		.done = .5, .rps = 12345, .p99_ms = 1.2346});
	check_screen(WIPE "SET 12.3K req/s p99 1.23 ms, 5 s left",
	    "a run that is being measured");
	p.left_s = 60 + 131.6;
	p.started = clock_ns() - 60 * SECOND;
	draw(&p, (struct engine_progress){.done = .5, .p99_ms = .0456});
	check_screen(WIPE "SET p99 .0456 ms, 2 min 12 s left",
	    "minutes, and microseconds");
	p.left_s = 60 + 7500;
	p.started = clock_ns() - 60 * SECOND;
	draw(&p,
	    (struct engine_progress){
		.seeding = true, .done = .25, .p99_ms = 120.4});
	check_screen(WIPE "SET seeding 25% p99 120 ms, 2 h 5 min left",
	    "hours, and tenths of a second");
	p.left_s = 60 + 10;
	p.started = clock_ns() - 60 * SECOND;
	draw(&p, (struct engine_progress){.reading = true, .done = .25});
	check_screen(WIPE "SET reading back 25%, 10 s left",
	    "a run that reads back what was written");
	p.left_s = 65;
	p.most = true;
	p.started = clock_ns() - 70 * SECOND;
	draw(&p, (struct engine_progress){.done = 1});
	check_screen(WIPE "SET, at most 0 s left",
	    "a late run has no time left; with a budget a session may end "
	    "earlier");
	p.name = "a name of forty characters, not one less";
	p.left_s = -1;
	draw(&p, (struct engine_progress){.done = .25, .rps = 1e6});
	check_screen(WIPE "a name of forty characters, not one less 25% 1.00M "
			  "req/s",
	    "a terminal that does not report its width has 80 columns");
	set_columns(30);
	draw(&p, (struct engine_progress){.done = .25});
	check_screen(WIPE "a name of forty characters, n",
	    "the last column of a narrow terminal is not used");
	p.name = "SET";
	p.started = clock_ns() - 4 * SECOND;
	progress_end(&p, 1, &timed, rec, 1);
	check_screen(WIPE "vkb: SET: 12.3K req/s, p50 0.250 ms, p99 4.500 ms\n",
	    "the line is erased before the result of a run is printed");
	tap_ok(
	    p.done == 1 && p.took[1] >= 4 && p.took[1] < 100 && p.took[0] == 0,
	    "the time of the run is recorded");
	tap_near(progress_estimate(&p, 1, &timed), p.took[1], 1e-12,
	    "the estimate of the next run is that time");
	tap_ok(progress_estimate(&p, 0, &cold) == 3.5 &&
		progress_estimate(&p, 0, &counted) < 0,
	    "the time of a run that is shorter than its load is not used for "
	    "other cases");
	p.done = 0;
	p.started = clock_ns() - 9 * SECOND;
	progress_end(&p, 1, &timed, rec, 1);
	check_screen("vkb: SET: 12.3K req/s, p50 0.250 ms, p99 4.500 ms\n",
	    "a run that took 9 seconds");
	tap_near(progress_estimate(&p, 0, &cold), 3 + 4, .5,
	    "its preparation time is expected of other cases, too");
	p.took[1] = 7;
	progress_end(&p, 1, &timed, bad, 1);
	check_screen("vkb: SET: failed\n", "a failed run is printed");
	tap_ok(p.done == 2 && p.took[1] == 7,
	    "the time of a failed run is not recorded");
	draw(&p, (struct engine_progress){.done = 0});
	progress_close(&p);
	check_screen(WIPE "SET" WIPE, "at the end the line is erased");
	progress_open(&p, true, false, 1);
	progress_begin(&p, "SET", 1, 3, 1);
	draw(&p, (struct engine_progress){.done = .5});
	check_screen("", "with --quiet nothing is printed");
	progress_close(&p);
	dup2(was, STDERR_FILENO);
	close(was);
	close(screen);
	json_free(rec);
	json_free(bad);
}

static void
data_made(void)
{
	struct meter m;
	int was = open_screen();

	if (was < 0) {
		tap_ok(false, "a terminal can be opened");
		return;
	}
	set_columns(0);
	statusline_open(&m.line, false);
	meter_begin(&m, "a.csv", 200);
	meter_draw(&m, 50, 1e6);
	check_screen("", "nothing is shown of a file at first");
	m.line.drawn -= SECOND / 5;
	/* Half a second more is the same text. */
	m.started = clock_ns() - 100 * SECOND;
	meter_draw(&m, 100, 10.045e6);
	check_screen(WIPE "a.csv  50%  ETA 1m40s  10.0MB, 100KB/s",
	    "later its share, the time that is left and the speed are shown");
	meter_draw(&m, 101, 10.045e6);
	check_screen("", "a line is not drawn again at once");
	set_columns(22);
	m.line.drawn = 0;
	m.started = clock_ns() - 100 * SECOND;
	meter_draw(&m, 0, 10.045e6);
	check_screen(
	    WIPE "a.csv  10.0MB, 100KB/", "a narrow terminal cuts the line");
	err_say("a message");
	check_screen(
	    WIPE "vkb: a message\n", "the line is erased before a message");
	statusline_close(&m.line);
	check_screen("", "after the message there is no line to erase");
	dup2(was, STDERR_FILENO);
	close(was);
	close(screen);
}

/* ---- the file */

static char path[] = "/tmp/vkb-session.XXXXXX";

static void
write_file(const struct str *s)
{
	FILE *f = fopen(path, "w");

	fwrite(s->s, 1, s->len, f);
	fclose(f);
}

static void
add_run(struct str *s, const char *label, const char *command, int index,
    const char *status)
{
	str_printf(s,
	    "{\"type\":\"run\",\"v\":1,\"subject\":{\"label\":\"%s\"},"
	    "\"config\":{\"command\":\"%s\"},\"run\":{\"index\":%d},"
	    "\"metrics\":{\"rps\":1},\"status\":\"%s\"%s}\n",
	    label, command, index, status,
	    strcmp(status, "ok") == 0 ? "" : ",\"error\":\"it broke\"");
}

/* A record that is cut off at the end of the file is removed, however long it
 * is. */
static void
torn(void)
{
	static const size_t tails[] = {
	    0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 8193, 20000};
	struct results r;
	struct str s = {0};
	struct stat st;
	size_t good = 0, refused = 0, n = sizeof tails / sizeof *tails;

	for (size_t i = 0; i < 2 * n; i++) {
		size_t head;

		str_clear(&s);
		str_add(&s, "");
		if (i < n)
			add_run(&s, "a", "SET", 1, "ok");
		head = s.len;
		for (size_t k = 0; k < tails[i % n]; k++)
			str_addc(&s, '{');
		write_file(&s);
		if (tails[i % n]) {
			refused += results_open(&r, path, NULL, 0) == -1;
			results_close(&r);
		}
		good += results_open(&r, NULL, path, 0) == 0 &&
		    r.n == (size_t)(i < n) && stat(path, &st) == 0 &&
		    (size_t)st.st_size == head;
		results_close(&r);
	}
	tap_ok(good == 2 * n, "a torn last line is cut off: %zu of %zu lengths",
	    good, 2 * n);
	tap_ok(refused == 2 * (n - 1),
	    "without --resume a torn last line is an error");
	str_free(&s);
}

static void
resumed(void)
{
	struct json *a = parse("{\"label\":\"a\"}"),
		    *b = parse("{\"label\":\"b\"}"),
		    *set = parse("{\"command\":\"SET\"}"),
		    *get = parse("{\"command\":\"GET\"}"), *rec;
	const struct finished *f;
	struct results r, second;
	struct str s = {0};
	struct stat st;

	add_run(&s, "a", "SET", 2, "ok");
	add_run(&s, "a", "GET", 1, "failed");
	add_run(&s, "a", "SET", 1, "ok");
	add_run(&s, "b", "SET", 7, "ok");
	add_run(&s, "a", "SET", 2, "ok");
	add_run(&s, "b", "SET", 0, "ok");
	add_run(&s, "b", "SET", 1000000000, "ok");
	add_run(&s, "b", "GET", 9, "failed");
	write_file(&s);
	tap_ok(results_open(&r, NULL, path, 0) == 0 && r.n == 3 && r.last == 7,
	    "runs that are ok are done, each once");
	f = results_find(&r, a, set, 2, false);
	tap_ok(f == &r.done[0], "of equal runs the first in the file counts");
	f = results_find(&r, a, set, 1, false);
	tap_ok(f == &r.done[1] && !f->tool &&
		json_get_num(f->metrics, "rps", 0) == 1,
	    "a run is found with its metrics");
	tap_ok(results_find(&r, b, set, 7, false) &&
		!results_find(&r, b, set, 2, false) &&
		!results_find(&r, a, set, 7, false) &&
		!results_find(&r, a, get, 1, false) &&
		!results_find(&r, b, get, 9, false) &&
		!results_find(&r, b, set, 0, false) &&
		!results_find(&r, a, set, 3, false),
	    "other runs are not done");
	tap_ok(intern_count(r.keys) == r.n,
	    "what is looked for is not added to what is done");
	tap_ok(!results_find(&r, a, set, 1, true),
	    "a measured run is not a counted run");
	tap_ok(results_open(&second, NULL, path, 0) == -1,
	    "a second session cannot resume the same file");
	results_close(&second);
	tap_ok(results_open(&second, path, NULL, 0) == -1,
	    "a second session cannot append to it meanwhile");
	results_close(&second);
	rec = parse("{\"type\":\"run\"}");
	tap_ok(results_write(&r, rec) == 0 && stat(path, &st) == 0 &&
		(size_t)st.st_size == s.len + strlen("{\"type\":\"run\"}\n"),
	    "a run is appended");
	unlink(path);
	tap_ok(results_write(&r, rec) == -1 &&
		strstr(err_last(), "was removed while runs were appended"),
	    "a file that was removed meanwhile is an error");
	results_close(&r);
	tap_ok(results_open(&r, path, NULL, 0) == 0 && r.n == 0 &&
		results_open(&second, path, NULL, 0) == 0,
	    "two sessions may append to one file, which they do not read");
	results_close(&r);
	results_close(&second);
	tap_ok(results_open(&r, NULL, NULL, 0) == 0 && r.fd == STDOUT_FILENO &&
		!results_find(&r, a, set, 1, false),
	    "without a file no run is done");
	results_close(&r);
	json_free(rec);
	json_free(a);
	json_free(b);
	json_free(set);
	json_free(get);
	str_free(&s);
}

int
main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return 2;
	close(fd);
	lines();
	data_made();
	torn();
	resumed();
	unlink(path);
	return tap_done();
}
