#include "symbols.h"
#include "elffile.h"
#include "err.h"
#include "mem.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool
matches_pattern(const char *name, const char *const *patterns, size_t n)
{
	char *stem = mem_strn(name, strcspn(name, ".@"));
	bool is = false;

	for (size_t i = 0; i < n && !is; i++)
		is = fnmatch(patterns[i], stem, 0) == 0;
	free(stem);
	return is;
}

static void
add_function(struct symbols *s, const char *name, uint64_t offset)
{
	size_t lo = 0, hi = s->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->v[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < s->n && s->v[lo].offset == offset)
		return; /* an alias */
	s->v = mem_grow(s->v, s->n, &s->cap, sizeof *s->v);
	memmove(s->v + lo + 1, s->v + lo, (s->n - lo) * sizeof *s->v);
	s->v[lo] = (struct symbol){.name = mem_str(name), .offset = offset};
	s->n++;
}

struct search {
	struct symbols *found;
	const struct elffile *elf;
	const char *const *patterns;
	size_t n;
};

static void
see_function(void *arg, const char *name, uint64_t at)
{
	const struct search *s = arg;
	uint64_t offset;

	if (!at)
		return;
	s->found->seen++;
	if (matches_pattern(name, s->patterns, s->n) &&
	    elffile_offset(s->elf, at, &offset))
		add_function(s->found, name, offset);
}

int
symbols_read(struct symbols *found, const char *path,
    const char *const *patterns, size_t n)
{
	struct elffile *elf = elffile_open(path);
	struct search s = {found, elf, patterns, n};

	if (!elf && errno == ENOEXEC)
		return err_fail("'%s' is not a program for this machine", path);
	if (!elf)
		return err_fail_sys("cannot read '%s'", path);
	elffile_functions(elf, see_function, &s);
	elffile_close(elf);
	return 0;
}

void
symbols_free(struct symbols *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].name);
	free(s->v);
	*s = (struct symbols){0};
}
