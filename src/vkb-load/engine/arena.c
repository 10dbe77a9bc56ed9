#include "arena.h"
#include "cgroup.h"
#include "err.h"
#include "folder.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST (1 << 20)

struct arena {
	char *map;
	size_t size, cap, limit;
	int fd; /* -1: plain memory */
};

static size_t
compute_default_limit(void)
{
	double memory =
	    (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	struct cgroup g;

	cgroup_read(&g, "");
	memory = fmin(memory, g.memory_bytes); /* fmin ignores NAN */
	cgroup_free(&g);
	return (size_t)(memory / 4);
}

struct arena *
arena_new(size_t limit)
{
	struct arena *s = mem_new(sizeof *s);

	s->fd = -1;
	s->limit = limit;
	return s;
}

void
arena_free(struct arena *s)
{
	if (!s)
		return;
	if (s->map)
		munmap(s->map, s->cap);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

/* Closes the file again, if the buffer was to move there. Returns -1. */
static int
stay_in_memory(struct arena *s, bool moves)
{
	if (moves) {
		close(s->fd);
		s->fd = -1;
	}
	return -1;
}

/* Makes the buffer 'cap' bytes large; beyond the limit it moves to a file. */
static int
grow_map(struct arena *s, size_t cap)
{
	const char *dir = getenv("TMPDIR");
	bool moves;
	size_t from;
	char *map;

	if (!s->limit && cap > FIRST)
		s->limit = compute_default_limit();
	moves = s->fd < 0 && s->limit && cap > s->limit;
	from = moves ? 0 : s->cap;
	if (!dir || !*dir)
		dir = "/var/tmp";
	if (moves && (s->fd = folder_unnamed_file(dir)) < 0)
		return err_fail_sys("cannot make a file in '%s'", dir);
	/* Writing to a hole on a full disk would raise SIGBUS. */
	if (s->fd >= 0 &&
	    (errno =
		    posix_fallocate(s->fd, (off_t)from, (off_t)(cap - from)))) {
		err_fail_sys("cannot make room for a dataset in '%s'", dir);
		return stay_in_memory(s, moves);
	}
	map = s->map && !moves
	    ? mremap(s->map, s->cap, cap, MREMAP_MAYMOVE)
	    : mmap(NULL, cap, PROT_READ | PROT_WRITE,
		  moves ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, s->fd, 0);
	if (map == MAP_FAILED) {
		err_fail_sys("cannot make room for a dataset");
		return stay_in_memory(s, moves);
	}
	if (moves && s->map) {
		memcpy(map, s->map, s->size);
		munmap(s->map, s->cap);
	}
	s->map = map;
	s->cap = cap;
	/* Huge pages save page-table look-ups: each row is read once. */
	if (s->fd < 0)
		(void)madvise(map, cap, MADV_HUGEPAGE);
	/* The reaper of a child process (proc.c) needs no copy of it. */
	(void)madvise(map, cap, MADV_DONTFORK);
	return 0;
}

char *
arena_room(struct arena *s, size_t n)
{
	size_t need = s->size + n + ARENA_SLACK, cap = s->cap ? s->cap : FIRST;

	while (cap < need)
		cap += cap / 2;
	cap = (cap + 4095) & ~(size_t)4095;
	if (cap > s->cap && grow_map(s, cap) < 0)
		return NULL;
	return s->map + s->size;
}

void
arena_keep(struct arena *s, size_t n)
{
	s->size += n;
}

int
arena_add(struct arena *s, const void *p, size_t n)
{
	char *to = arena_room(s, n);

	if (!to)
		return -1;
	if (n)
		memcpy(to, p, n);
	s->size += n;
	return 0;
}

char *
arena_bytes(struct arena *s)
{
	return s->map;
}

size_t
arena_size(const struct arena *s)
{
	return s->size;
}
