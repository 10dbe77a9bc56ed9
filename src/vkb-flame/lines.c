#include "lines.h"
#include "err.h"
#include "mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 18)

struct lines {
	int fd;
	const char *name;
	char *buf;
	size_t at, end, cap; /* the unread part of buf is at..end */
	size_t last;         /* offset of the last line */
	unsigned long long number;
	bool ended;
	bool torn; /* the last line has no newline */
};

struct lines *
lines_fd(int fd, const char *name)
{
	struct lines *l = mem_new(sizeof *l);

	l->fd = fd;
	l->name = name;
	return l;
}

void
lines_close(struct lines *l)
{
	if (!l)
		return;
	if (l->fd > STDIN_FILENO)
		close(l->fd);
	free(l->buf);
	free(l);
}

const char *
lines_name(const struct lines *l)
{
	return l->name;
}

unsigned long long
lines_number(const struct lines *l)
{
	return l->number;
}

/* Returns 0, or -1 after reporting the error. */
static int
read_more(struct lines *l)
{
	ssize_t k;

	if (l->at) {
		memmove(l->buf, l->buf + l->at, l->end - l->at);
		l->end -= l->at;
		l->at = 0;
	}
	if (l->cap - l->end < PIECE) {
		l->cap = l->cap ? 2 * l->cap : 2 * PIECE;
		l->buf = mem_resize(l->buf, l->cap, 1);
	}
	do
		k = read(l->fd, l->buf + l->end, PIECE);
	while (k < 0 && errno == EINTR);
	if (k < 0)
		return err_fail_sys("cannot read '%s'", l->name);
	l->ended = !k;
	l->end += (size_t)k;
	return 0;
}

int
lines_next(struct lines *l, const char **line, size_t *n)
{
	size_t seen = 0;

	for (;;) {
		const char *from = l->buf ? l->buf + l->at : "";
		const char *nl =
		    memchr(from + seen, '\n', l->end - l->at - seen);

		if (!nl && !l->ended) {
			seen = l->end - l->at;
			if (read_more(l) < 0)
				return -1;
			continue;
		}
		if (!nl && l->at == l->end)
			return 0;
		*line = from;
		*n = nl ? (size_t)(nl - from) : l->end - l->at;
		l->last = l->at;
		l->at += *n + (nl != NULL);
		l->number++;
		l->torn = !nl;
		return 1;
	}
}

void
lines_unread(struct lines *l)
{
	l->at = l->last;
	l->number--;
}

bool
lines_torn(const struct lines *l)
{
	return l->torn;
}
