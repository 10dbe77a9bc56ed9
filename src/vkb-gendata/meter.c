#include "meter.h"
#include "clock.h"
#include "num.h"
#include "redact.h"
#include "str.h"

#include <stdlib.h>

void
meter_begin(struct meter *m, const char *name, double whole)
{
	m->name = name;
	m->whole = whole;
	m->started = m->line.drawn = clock_ns();
}

void
meter_draw(struct meter *m, double done, double bytes)
{
	double spent = (double)(clock_ns() - m->started) / 1e9;
	struct str s = {0};
	char buf[NUM_BUF], *name;

	if (!statusline_is_due(&m->line))
		return;
	name = redact_copy(m->name);
	str_visible(&s, name);
	free(name);
	if (m->whole > 0 && done > 0)
		str_printf(&s, "  %.0f%%  ETA %s", 100 * done / m->whole,
		    num_seconds(buf, spent * (m->whole - done) / done));
	str_printf(&s, "  %s", num_human(buf, bytes));
	str_printf(&s, "B, %sB/s", num_human(buf, bytes / spent));
	statusline_draw(s.s);
	str_free(&s);
}
