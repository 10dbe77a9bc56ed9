#include "intact.h"
#include "err.h"
#include "hash.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536 /* bytes of the earlier contents that share a digest */

struct piece {
	off_t at;
	size_t n;
	unsigned char sum[32];
};

struct intact {
	int fd; /* to append; borrowed */
	int in; /* to read */
	const char *name;
	struct piece *v;
	size_t n, cap;
	struct timespec changed; /* after what was added last */
	bool reported;
};

static void
note_change_time(struct intact *f)
{
	struct stat st;

	if (fstat(f->in, &st) == 0)
		f->changed = st.st_ctim;
}

static bool
has_changed(const struct intact *f)
{
	struct stat st;

	return fstat(f->in, &st) < 0 ||
	    st.st_ctim.tv_sec != f->changed.tv_sec ||
	    st.st_ctim.tv_nsec != f->changed.tv_nsec;
}

static void
add_piece(struct intact *f, off_t at, const void *bytes, size_t n)
{
	struct piece *p;

	f->v = mem_grow(f->v, f->n, &f->cap, sizeof *f->v);
	p = &f->v[f->n++];
	p->at = at;
	p->n = n;
	hash_bytes(bytes, n, p->sum);
}

/* Reads up to n bytes. Returns their number. */
static size_t
read_bytes(int fd, char *to, size_t n, off_t at)
{
	size_t done = 0;
	ssize_t k = 1;

	while (done < n && k > 0) {
		k = pread(fd, to + done, n - done, at + (off_t)done);
		if (k < 0 && errno == EINTR)
			k = 1;
		else
			done += k > 0 ? (size_t)k : 0;
	}
	return done;
}

struct intact *
intact_open(int fd, const char *name)
{
	char path[40], buf[PIECE];
	struct intact *f;
	struct stat st;
	size_t n;
	int in;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	in = open(path, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return NULL;
	f = mem_new(sizeof *f);
	*f = (struct intact){.fd = fd, .in = in, .name = name};
	for (off_t at = 0; (n = read_bytes(in, buf, PIECE, at)) > 0;
	     at += (off_t)n)
		add_piece(f, at, buf, n);
	note_change_time(f);
	return f;
}

/* Returns 0, or -1 after reporting the first change. */
static int
check_pieces(struct intact *f)
{
	unsigned char sum[32];
	const struct piece *p;
	char *buf = NULL;
	size_t cap = 0;
	int rc = 0;

	for (size_t i = 0; i < f->n && rc == 0; i++) {
		p = &f->v[i];
		if (cap < p->n) {
			free(buf);
			buf = mem_array(cap = p->n, 1);
		}
		if (read_bytes(f->in, buf, p->n, p->at) < p->n)
			rc = err_fail("'%s' was cut off in or before its bytes "
				      "%lld to %lld while runs were appended",
			    f->name, (long long)p->at,
			    (long long)p->at + (long long)p->n);
		else {
			hash_bytes(buf, p->n, sum);
			if (memcmp(sum, p->sum, sizeof sum) != 0)
				rc = err_fail("'%s' was changed in its bytes "
					      "%lld to %lld while runs were "
					      "appended",
				    f->name, (long long)p->at,
				    (long long)p->at + (long long)p->n);
		}
	}
	free(buf);
	if (rc < 0) {
		f->reported = true;
		err_say("do not use these results: another program has written "
			"them, perhaps one under test (vkb-ci(7)); measure "
			"again into another file");
	}
	return rc;
}

int
intact_check(struct intact *f)
{
	return f && has_changed(f) ? check_pieces(f) : 0;
}

void
intact_add(struct intact *f, const void *bytes, size_t n)
{
	off_t end;

	if (!f || !n)
		return;
	/* O_APPEND too moves the offset to the end of what was written. */
	end = lseek(f->fd, 0, SEEK_CUR);
	if (end >= (off_t)n)
		add_piece(f, end - (off_t)n, bytes, n);
	note_change_time(f);
}

int
intact_close(struct intact *f)
{
	int rc;

	if (!f)
		return 0;
	rc = f->reported ? -1 : check_pieces(f);
	close(f->in);
	free(f->v);
	free(f);
	return rc;
}
