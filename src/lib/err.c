#include "err.h"
#include "clock.h"
#include "redact.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program_name = "vkb";
static void (*before_message)(void);
static int copy_fd = -1;
static char last_message[4096 + 256];

/*
 * Occupies closed standard files so that no file or socket opened later gets
 * their number: its content would mix with what is meant for stdout. They are
 * opened the wrong way round, so that reading and writing still fail.
 */
static void
occupy_standard_files(void)
{
	static const int modes[] = {O_WRONLY, O_RDONLY, O_RDWR};

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", modes[fd]) != fd)
			err_die("cannot open '/dev/null' in place of a closed "
				"standard file");
}

void
err_init(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;

	if (argv0)
		program_name = slash ? slash + 1 : argv0;
	occupy_standard_files();
}

const char *
err_prog(void)
{
	return program_name;
}

void
err_before(void (*hook)(void))
{
	before_message = hook;
}

const char *
err_last(void)
{
	return last_message;
}

/*
 * Formats a message without its secrets. A URL at the end of one that is cut
 * may lack the '@' by which redact_text finds a password, and is cut as well.
 */
ERR_PRINTF(3, 0)
static void
format_message(char *raw, size_t size, const char *fmt, va_list ap)
{
	char *url = NULL;

	if (vsnprintf(raw, size, fmt, ap) >= (int)size) {
		for (char *p = raw; (p = strstr(p, "://")); p += 3)
			url = p + 3;
		if (!url || url + strcspn(url, "/ \t\n") < raw + size - 1 ||
		    url > raw + size - 4)
			url = raw + size - 4;
		memcpy(url, "...", 4);
	}
	redact_text(raw);
}

/* One write, so that lines of several processes do not mix. */
static void
write_line(int fd, const char *line, size_t n)
{
	while (write(fd, line, n) < 0 && errno == EINTR)
		;
}

/* Writes to the copy, if there is one, and to stderr unless it is a note. */
ERR_PRINTF(1, 0)
static void
emit_message(const char *fmt, va_list ap, const char *why, bool note)
{
	char raw[4096], line[CLOCK_ISO + 3 * sizeof raw + 512];
	size_t start, n;

	format_message(raw, sizeof raw, fmt, ap);
	if (!note)
		snprintf(last_message, sizeof last_message, "%s%s%s", raw,
		    why ? ": " : "", why ? why : "");
	clock_iso(line);
	start = strlen(line);
	line[start++] = ' ';
	n = start;
	n += (size_t)snprintf(line + n, 256, "%.200s: ", program_name);
	for (const char *p = raw; *p && n < sizeof line - 256;) {
		if (*p == '\t') {
			line[n++] = *p++;
		} else if (*p == '\n') {
			/* The next line must not pass for another message. */
			line[n++] = *p++;
			line[n++] = '\t';
		} else {
			p += str_show(line + n, p);
			n += strlen(line + n);
		}
	}
	if (why)
		n += (size_t)snprintf(line + n, 200, ": %.190s", why);
	line[n++] = '\n';
	if (copy_fd >= 0)
		write_line(copy_fd, line, n);
	if (note)
		return;
	if (before_message)
		before_message();
	write_line(STDERR_FILENO, line + start, n - start);
}

void
err_copy(int fd)
{
	copy_fd = fd;
}

void
err_note(const char *fmt, ...)
{
	va_list ap;

	if (copy_fd < 0)
		return;
	va_start(ap, fmt);
	emit_message(fmt, ap, NULL, true);
	va_end(ap);
}

void
err_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit_message(fmt, ap, NULL, false);
	va_end(ap);
}

int
err_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit_message(fmt, ap, NULL, false);
	va_end(ap);
	return -1;
}

int
err_fail_sys(const char *fmt, ...)
{
	const char *why = strerror(errno);
	va_list ap;

	va_start(ap, fmt);
	emit_message(fmt, ap, why, false);
	va_end(ap);
	return -1;
}

void
err_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit_message(fmt, ap, NULL, false);
	va_end(ap);
	exit(2);
}
