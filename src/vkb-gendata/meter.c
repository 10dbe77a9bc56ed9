#include "meter.h"
#include "clock.h"
#include "err.h"
#include "num.h"
#include "redact.h"
#include "str.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFTEN INT64_C(200000000) /* ns between two updates */
#define WIDTH 79

static volatile sig_atomic_t is_line_shown;

static void
write_terminal(const char *s)
{
	ssize_t n = write(STDERR_FILENO, s, strlen(s));

	(void)n; /* progress is optional: errors are ignored */
}

static void
erase_line(void)
{
	if (is_line_shown)
		write_terminal("\r\033[K");
	is_line_shown = 0;
}

void
meter_open(struct meter *m, bool quiet)
{
	*m = (struct meter){.live = !quiet && isatty(STDERR_FILENO)};
	err_before(erase_line);
}

void
meter_close(struct meter *m)
{
	erase_line();
	err_before(NULL);
	m->live = false;
}

void
meter_begin(struct meter *m, const char *name, double whole)
{
	m->name = name;
	m->whole = whole;
	m->started = m->drawn = clock_ns();
}

void
meter_draw(struct meter *m, double done, double bytes)
{
	int64_t now = clock_ns();
	double spent = (double)(now - m->started) / 1e9;
	struct str s = {0};
	char buf[NUM_BUF], *name;

	if (!m->live || now - m->drawn < OFTEN)
		return;
	m->drawn = now;
	name = redact_copy(m->name);
	str_visible(&s, name);
	free(name);
	if (m->whole > 0 && done > 0)
		str_printf(&s, "  %.0f%%  ETA %s", 100 * done / m->whole,
		    num_seconds(buf, spent * (m->whole - done) / done));
	str_printf(&s, "  %s", num_human(buf, bytes));
	str_printf(&s, "B, %sB/s", num_human(buf, bytes / spent));
	if (s.len > WIDTH)
		s.s[WIDTH] = '\0';
	write_terminal("\r\033[K");
	write_terminal(s.s);
	is_line_shown = 1;
	str_free(&s);
}
