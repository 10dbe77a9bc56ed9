#include "statusline.h"
#include "clock.h"
#include "err.h"

#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define OFTEN INT64_C(200000000) /* ns between two texts */

static volatile sig_atomic_t is_drawn;

/* Ignores errors: no work depends on the terminal. */
static void
write_terminal(const char *s, size_t n)
{
	ssize_t got = write(STDERR_FILENO, s, n);

	(void)got;
}

static void
write_clear(void)
{
	static const char clear[] = "\r\033[K";

	write_terminal(clear, strlen(clear));
}

void
statusline_clear(void)
{
	if (is_drawn)
		write_clear();
	is_drawn = 0;
}

void
statusline_open(struct statusline *l, bool quiet)
{
	*l = (struct statusline){.live = !quiet && isatty(STDERR_FILENO)};
	err_before(statusline_clear);
}

void
statusline_close(struct statusline *l)
{
	statusline_clear();
	err_before(NULL);
	l->live = false;
}

bool
statusline_is_due(struct statusline *l)
{
	int64_t now = clock_ns();

	if (!l->live || (l->drawn && now - l->drawn < OFTEN))
		return false;
	l->drawn = now;
	return true;
}

static size_t
count_columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20)
		return w.ws_col;
	return 80;
}

void
statusline_draw(const char *text)
{
	write_clear();
	write_terminal(text, strnlen(text, count_columns() - 1));
	is_drawn = 1;
}
