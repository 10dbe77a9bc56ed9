#include "sink.h"
#include "err.h"
#include "redact.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MUCH 65536

int
sink_write(int fd, const void *bytes, size_t n)
{
	for (const char *s = bytes; n;) {
		ssize_t k = write(fd, s, n);

		if (k < 0 && errno != EINTR)
			return -1;
		s += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return 0;
}

int
sink_memory(const void *bytes, size_t n)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	if (fd >= 0 &&
	    (sink_write(fd, bytes, n) < 0 || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

long long
sink_copy(int in, int out)
{
	char buf[65536];
	long long sum = 0;
	ssize_t n;

	while ((n = copy_file_range(in, NULL, out, NULL, 1 << 30, 0)) > 0)
		sum += n;
	/* The kernel does not copy between all files. */
	for (; (n = read(in, buf, sizeof buf)) > 0; sum += n)
		if (sink_write(out, buf, (size_t)n) < 0)
			return -1;
	return n < 0 ? -1 : sum;
}

int
sink_text(int fd, const char *text, size_t n)
{
	struct str clean = {0};
	int rc;

	redact_add(&clean, text, n);
	rc = sink_write(fd, clean.s, clean.len);
	str_free(&clean);
	return rc;
}

int
sink_fail(int fd)
{
	char link[40], path[PATH_MAX];
	int why = errno;
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path);
	errno = why;
	return n > 0
	    ? err_fail_sys("cannot write a record to '%.*s'", (int)n, path)
	    : err_fail_sys("cannot write a record");
}

int
sink_flush(struct sink *o)
{
	if (o->rc == 0 && o->fd >= 0 && sink_text(o->fd, o->s.s, o->s.len) < 0)
		o->rc = sink_fail(o->fd);
	str_clear(&o->s);
	return o->rc;
}

void
sink_relieve(struct sink *o)
{
	if (o->fd >= 0 && o->s.len >= MUCH)
		sink_flush(o);
}

int
sink_close(struct sink *o)
{
	sink_flush(o);
	str_free(&o->s);
	return o->rc;
}
