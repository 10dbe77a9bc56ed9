#include "symfiles.h"
#include "lines.h"
#include "symtab.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parses a hexadecimal number and a blank. Returns the end, or NULL. */
static const char *
parse_hex(const char *p, const char *end, uint64_t *v)
{
	const char *from = p;

	for (*v = 0; p < end && isxdigit((unsigned char)*p) && p < from + 16;
	     p++)
		*v = *v * 16 +
		    (unsigned)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
	return p > from && p < end && *p == ' ' ? p + 1 : NULL;
}

static size_t
word_length(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && p[n] != ' ' && p[n] != '\t')
		n++;
	return n;
}

static void
parse_kernel_line(struct symtab *t, const char *p, const char *end)
{
	unsigned bind;
	uint64_t at;
	char type;

	p = parse_hex(p, end, &at);
	if (!p || !at || end - p < 3 || p[1] != ' ')
		return;
	type = (char)toupper((unsigned char)*p);
	if (!strchr("TWDB", type))
		return;
	bind = type == 'W'               ? STB_WEAK
	    : isupper((unsigned char)*p) ? STB_GLOBAL
					 : STB_LOCAL;
	symtab_add(t, at, 0, bind, p + 2, word_length(p + 2, end));
}

static void
parse_jit_line(struct symtab *t, const char *p, const char *end)
{
	uint64_t at, size;

	p = parse_hex(p, end, &at);
	p = p ? parse_hex(p, end, &size) : NULL;
	if (p && p < end)
		symtab_add(t, at, size, STB_GLOBAL, p, (size_t)(end - p));
}

static struct symtab *
read_symbols(const char *path, bool any_owner,
    void (*each)(struct symtab *, const char *, const char *))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct symtab *t;
	struct lines *l;
	struct stat st;
	const char *p;
	size_t n;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    !(any_owner || !st.st_uid || st.st_uid == geteuid())) {
		close(fd);
		return NULL;
	}
	t = symtab_new();
	l = lines_fd(fd, path);
	while (lines_next(l, &p, &n) > 0)
		if (!memchr(p, 0, n))
			each(t, p, p + n);
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
