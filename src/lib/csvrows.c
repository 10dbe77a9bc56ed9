#include "csvrows.h"
#include "err.h"
#include "mem.h"
#include "str.h"

#include <csv.h>
#include <stdbool.h>
#include <stdlib.h>

struct csvrows {
	struct csv_parser p;
	csvrows_line *line;
	void *from;
	char delimiter;
	struct str text; /* the fields, a NUL after each */
	size_t *at;      /* where each begins in 'text' */
	const char **fields;
	size_t n, cap;
	bool blanks; /* around fields are kept */
	bool whole;  /* the row has ended */
	bool ended;
};

static int
is_never_blank(unsigned char c)
{
	(void)c;
	return 0;
}

static void
start_parser(struct csvrows *r)
{
	if (csv_init(&r->p, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) !=
	    0)
		err_die("cannot set up a CSV parser");
	csv_set_blk_size(&r->p, 1 << 16); /* its room for a row grows by this */
	csv_set_delim(&r->p, (unsigned char)r->delimiter);
	if (r->blanks)
		csv_set_space_func(&r->p, is_never_blank);
}

struct csvrows *
csvrows_new(char delimiter, csvrows_line *line, void *from)
{
	struct csvrows *r = mem_new(sizeof *r);

	r->delimiter = delimiter;
	r->line = line;
	r->from = from;
	start_parser(r);
	return r;
}

void
csvrows_keep_blanks(struct csvrows *r)
{
	r->blanks = true;
	csv_set_space_func(&r->p, is_never_blank);
}

void
csvrows_free(struct csvrows *r)
{
	if (!r)
		return;
	csv_free(&r->p);
	str_free(&r->text);
	free(r->at);
	free(r->fields);
	free(r);
}

static void
on_field(void *s, size_t n, void *arg)
{
	struct csvrows *r = arg;

	*MEM_ADD(r->at, r->n, r->cap) = r->text.len;
	str_addn(&r->text, s, n);
	str_addc(&r->text, '\0');
}

static void
on_row(int end, void *arg)
{
	struct csvrows *r = arg;

	(void)end;
	r->whole = true;
}

static int
reject_row(struct csvrows *r, const char **why)
{
	if (csv_error(&r->p) == CSV_ENOMEM || csv_error(&r->p) == CSV_ETOOBIG)
		err_die("out of memory");
	*why = "its quotes are wrong, or the line is cut short";
	csv_free(&r->p);
	start_parser(r);
	return -1;
}

static int
return_row(struct csvrows *r, const char *const **fields, size_t *n)
{
	free(r->fields);
	r->fields = mem_array(r->n + 1, sizeof *r->fields);
	for (size_t i = 0; i < r->n; i++)
		r->fields[i] = r->text.s + r->at[i];
	*fields = r->fields;
	*n = r->n;
	return 1;
}

int
csvrows_next(
    struct csvrows *r, const char *const **fields, size_t *n, const char **why)
{
	const char *line;
	size_t len;
	int rc;

	*why = NULL;
	r->whole = false;
	r->n = 0;
	str_clear(&r->text);
	while (!r->whole && !r->ended) {
		rc = r->line(r->from, &line, &len);
		if (rc < 0) {
			csv_free(&r->p); /* drops the row that had begun */
			start_parser(r);
			return -1;
		}
		r->ended = rc == 0;
		if (rc > 0 &&
		    csv_parse(&r->p, line, len, on_field, on_row, r) != len)
			return reject_row(r, why);
		if (rc == 0 && csv_fini(&r->p, on_field, on_row, r) != 0)
			return reject_row(r, why);
	}
	return r->whole ? return_row(r, fields, n) : 0;
}

size_t
csvrows_length(const struct csvrows *r, size_t i)
{
	return (i + 1 < r->n ? r->at[i + 1] : r->text.len) - r->at[i] - 1;
}
