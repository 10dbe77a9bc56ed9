#include "benchcsv.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 64

struct benchcsv {
	struct csvrows *rows;
	bool waiting;        /* for a header; lines before it are skipped */
	char *name[COLUMNS]; /* NULL: the column is not used */
	size_t n;            /* 0: no header */
	struct str why;
};

static bool
is_header(const char *line)
{
	return str_starts(line, "\"test\",\"rps\"") ||
	    str_starts(line, "test,rps");
}

/* Returns true if the line is "NAME","NUMBER" and nothing else. */
static bool
is_pair(const char *line)
{
	const char *p =
	    *line == '"' ? memmem(line, strcspn(line, "\n"), "\",\"", 3) : NULL;

	if (!p)
		return false;
	p += 3;
	p += strspn(p, "0123456789.");
	return p[-1] != '"' && *p == '"' && (!p[1] || strchr("\r\n", p[1]));
}

static const char *
skip_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* Returns the first line that matches, or NULL. */
static const char *
find_line(const char *text, bool (*is)(const char *line))
{
	for (; *text; text = skip_line(text))
		if (is(text))
			return text;
	return NULL;
}

bool
benchcsv_is(const char *head)
{
	return find_line(head, is_header) || is_pair(head);
}

const char *
benchcsv_start(const char *text)
{
	const char *at = find_line(text, is_header);

	if (!at)
		at = find_line(text, is_pair);
	return at ? at : text + strlen(text);
}

struct benchcsv *
benchcsv_new(csvrows_line *line, void *from, const char *head)
{
	struct benchcsv *b = mem_new(sizeof *b);

	b->rows = csvrows_new(',', line, from);
	b->waiting = find_line(head, is_header) != NULL;
	return b;
}

static void
clear_header(struct benchcsv *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->name[i]);
	b->n = 0;
}

void
benchcsv_free(struct benchcsv *b)
{
	if (!b)
		return;
	clear_header(b);
	csvrows_free(b->rows);
	str_free(&b->why);
	free(b);
}

static int
report_why(struct benchcsv *b, const char **why)
{
	*why = b->why.s;
	return -1;
}

static bool
has_column(const struct benchcsv *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->name[i] && strcmp(b->name[i], name) == 0)
			return true;
	return false;
}

/* Returns 0, or -1 with every problem of the header in 'why'. */
static int
read_header(struct benchcsv *b, const char *const *f, size_t n)
{
	double factor;

	clear_header(b);
	if (n > COLUMNS) {
		str_printf(&b->why, "more than %d columns", COLUMNS);
		return -1;
	}
	for (; b->n < n; b->n++) {
		b->name[b->n] = units_key(f[b->n], "", &factor);
		if (!has_column(b, b->name[b->n]))
			continue;
		str_printf(&b->why, "%stwo columns are called '%s'",
		    b->why.len ? ", " : "", f[b->n]);
		free(b->name[b->n]);
		b->name[b->n] = NULL;
	}
	return b->why.len ? -1 : 0;
}

static int
parse_result(
    struct benchcsv *b, const char *const *f, size_t n, struct json **metrics)
{
	size_t columns = b->n ? b->n : 2;
	struct json *m;
	double v;

	if (n != columns) {
		str_printf(&b->why, "%zu columns where there should be %zu", n,
		    columns);
		return -1;
	}
	m = json_object();
	for (size_t i = 1; i < n; i++) {
		const char *name = b->n ? b->name[i] : "rps";

		if (!name || !*f[i])
			continue; /* unknown */
		if (num_real(f[i], &v) < 0) {
			str_printf(&b->why,
			    "'%s' is '%s', which is not a number", name, f[i]);
			json_free(m);
			return -1;
		}
		json_set_num(m, name, v);
	}
	*metrics = m;
	return 1;
}

int
benchcsv_next(struct benchcsv *b, const char **title, struct json **metrics,
    const char **why)
{
	const char *const *f;
	size_t n;
	int got;

	str_clear(&b->why);
	while ((got = csvrows_next(b->rows, &f, &n, why)) != 0) {
		if (got > 0 && n > 1 && strcmp(f[0], "test") == 0 &&
		    strcmp(f[1], "rps") == 0) {
			b->waiting = false;
			if (read_header(b, f, n) < 0)
				return report_why(b, why);
		} else if (b->waiting) {
			continue;
		} else if (got < 0) {
			return -1;
		} else {
			*title = f[0];
			got = parse_result(b, f, n, metrics);
			return got < 0 ? report_why(b, why) : got;
		}
	}
	return 0;
}
