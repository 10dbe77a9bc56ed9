#include "symfiles.h"
#include "lines.h"
#include "symtab.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parses a hexadecimal number and a blank. Returns the end, or NULL. */
static const char *
parse_hex(const char *p, uint64_t *v)
{
	char *end;

	*v = isxdigit((unsigned char)*p) ? strtoull(p, &end, 16) : 0;
	return isxdigit((unsigned char)*p) && *end == ' ' ? end + 1 : NULL;
}

static void
parse_kernel_line(struct symtab *t, const char *p)
{
	unsigned bind;
	uint64_t at;

	p = parse_hex(p, &at);
	if (!p || !at || !*p || p[1] != ' ' || !p[2] || !strchr("TWDBtwdb", *p))
		return;
	bind = tolower((unsigned char)*p) == 'w' ? STB_WEAK
	    : isupper((unsigned char)*p)         ? STB_GLOBAL
						 : STB_LOCAL;
	symtab_add(t, at, 0, bind, p + 2, strcspn(p + 2, " \t"));
}

static void
parse_jit_line(struct symtab *t, const char *p)
{
	uint64_t at, size;

	p = parse_hex(p, &at);
	p = p ? parse_hex(p, &size) : NULL;
	if (p && *p)
		symtab_add(t, at, size, STB_GLOBAL, p, strlen(p));
}

static struct symtab *
read_symbols(const char *path, bool any_owner,
    void (*each)(struct symtab *, const char *line))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct symtab *t;
	struct lines *l;
	struct stat st;
	FILE *f;
	const char *p;
	size_t n;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    !(any_owner || !st.st_uid || st.st_uid == geteuid()) ||
	    !(f = fdopen(fd, "r"))) {
		close(fd);
		return NULL;
	}
	t = symtab_new();
	l = lines_open(f, path);
	while (lines_next(l, &p, &n) > 0)
		if (!memchr(p, 0, n))
			each(t, p);
	lines_close(l);
	symtab_sort(t);
	return t;
}

struct symtab *
symfiles_read_kernel(const char *path)
{
	return read_symbols(path, true, parse_kernel_line);
}

struct symtab *
symfiles_read_jit(const char *path)
{
	return read_symbols(path, false, parse_jit_line);
}
