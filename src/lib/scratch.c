#include "scratch.h"
#include "err.h"
#include "folder.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENOUGH 65536 /* bytes for one write */

struct scratch {
	const char *dir;
	int fd;
	off_t end;          /* size of the file */
	struct str waiting; /* bytes to be appended */
};

struct scratch *
scratch_new(const char *dir)
{
	struct scratch *s = mem_new(sizeof *s);

	s->dir = dir;
	s->fd = -1;
	return s;
}

void
scratch_free(struct scratch *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	str_free(&s->waiting);
	free(s);
}

static int
report_io_error(const struct scratch *s)
{
	return err_fail_sys("cannot use a temporary file in '%s'", s->dir);
}

static int
flush_waiting(struct scratch *s)
{
	size_t done = 0;

	while (done < s->waiting.len) {
		ssize_t k = pwrite(s->fd, s->waiting.s + done,
		    s->waiting.len - done, s->end + (off_t)done);

		if (k < 0 && errno != EINTR)
			return report_io_error(s);
		done += k > 0 ? (size_t)k : 0;
	}
	s->end += (off_t)done;
	str_clear(&s->waiting);
	return 0;
}

off_t
scratch_add(struct scratch *s, const void *p, size_t n)
{
	off_t at = s->end + (off_t)s->waiting.len;

	if (s->fd < 0 && (s->fd = folder_unnamed_file(s->dir)) < 0)
		return report_io_error(s);
	str_addn(&s->waiting, p, n);
	if (s->waiting.len >= ENOUGH && flush_waiting(s) < 0) {
		s->waiting.len -= n; /* not added */
		return -1;
	}
	return at;
}

int
scratch_read(struct scratch *s, off_t at, void *p, size_t n)
{
	size_t done = 0;

	if (at >= s->end) {
		memcpy(p, s->waiting.s + (at - s->end), n);
		return 0;
	}
	while (done < n) {
		ssize_t k =
		    pread(s->fd, (char *)p + done, n - done, at + (off_t)done);

		if (k == 0)
			errno = EIO; /* the file was truncated */
		if (k == 0 || (k < 0 && errno != EINTR))
			return report_io_error(s);
		done += k > 0 ? (size_t)k : 0;
	}
	return 0;
}
