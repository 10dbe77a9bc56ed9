#include "stacks.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits in bytes: of a file, and of what is kept of it. */
enum { LARGEST = 64 * 1048576, KEPT = 256 * 1024 };

struct line {
	const char *s;
	size_t n;
	double count;
};

static int
read_folded(struct str *to, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;
	int rc = -1;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size <= LARGEST)
		rc = str_read(to, fd);
	if (fd >= 0)
		close(fd);
	return rc == 0 && to->len && !memchr(to->s, 0, to->len) &&
		str_utf8(to->s, to->len)
	    ? 0
	    : -1;
}

/* Is the line "FRAME;FRAME COUNT"? */
static bool
parse_line(struct line *line, const char *s, size_t n)
{
	const char *blank = memrchr(s, ' ', n);
	char *end;

	*line = (struct line){s, n, 0};
	if (!blank || blank == s)
		return false;
	line->count = strtod(blank + 1, &end);
	return end == s + n && line->count > 0;
}

/* The most frequent first, those of the same count by their texts. */
static int
compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);

	if (x->count < y->count || x->count > y->count)
		return x->count > y->count ? -1 : 1;
	return order ? order : (x->n > y->n) - (x->n < y->n);
}

static void
choose_lines(struct str *to, const struct str *text)
{
	struct line *v = NULL;
	size_t n = 0, cap = 0, len;

	for (const char *s = text->s; *s; s += len + (s[len] == '\n')) {
		len = strcspn(s, "\n");
		v = mem_grow(v, n, &cap, sizeof *v);
		n += parse_line(&v[n], s, len);
	}
	mem_sort(v, n, sizeof *v, compare_lines);
	for (size_t i = 0; i < n && to->len + v[i].n < KEPT; i++) {
		str_addn(to, v[i].s, v[i].n);
		str_addc(to, '\n');
	}
	free(v);
}

void
stacks_keep(struct json *rec)
{
	const char *path = json_get_str(json_get(rec, "artifacts"), "folded");
	struct str text = {0}, kept = {0};

	if (path && str_ends(path, ".folded") && read_folded(&text, path) == 0)
		choose_lines(&kept, &text);
	json_set_str(rec, "stacks", kept.s);
	str_free(&text);
	str_free(&kept);
}

void
stacks_add(struct str *s, const struct json *rec)
{
	const char *of = json_get_str(rec, "case");
	size_t n;

	for (const char *line = json_get_str(rec, "stacks"); line && *line;
	     line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		for (const char *c = of ? of : "profile"; *c; c++)
			str_addc(s, strchr(";\n ", *c) ? '_' : *c);
		str_addc(s, ';');
		str_addn(s, line, n);
		str_addc(s, '\n');
	}
}
