#include "csvrows.h"
#include "err.h"
#include "intake.h"
#include "mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines {
	FILE *f;
	const char *name;
	char *line;
	size_t cap;
	unsigned long long n;
};

static int
read_line(void *from, const char **line, size_t *n)
{
	struct lines *l = from;
	ssize_t k = getline(&l->line, &l->cap, l->f);

	if (k < 0 && ferror(l->f))
		return err_fail_sys("cannot read '%s'", l->name);
	if (k < 0)
		return 0;
	*line = l->line;
	*n = (size_t)k;
	if (!l->n++ && k >= 3 && memcmp(l->line, "\xef\xbb\xbf", 3) == 0) {
		*line += 3;
		*n -= 3;
	}
	return 1;
}

/* Returns 1 for a row, 0 at the end, -1 on error, after reporting it. */
static int
read_row(struct csvrows *rows, const struct lines *l, const char *const **v,
    size_t *n)
{
	const char *why;
	int k = csvrows_next(rows, v, n, &why);

	if (k < 0 && why)
		err_say("%s:%llu: bad row: %s", l->name, l->n, why);
	return k;
}

static int
read_rows(struct intake *in, struct csvrows *rows, struct lines *l)
{
	const char *const *v;
	int *field, k, rc = -1;
	size_t n, columns, i;

	k = read_row(rows, l, &v, &columns);
	if (k < 0)
		return -1;
	if (k == 0)
		columns = 0;
	field = mem_array(columns + 1, sizeof *field);
	for (i = 0; i < columns; i++)
		field[i] = intake_name(in, v[i], strlen(v[i]));
	if (intake_names_end(in) < 0)
		goto out;
	while ((k = read_row(rows, l, &v, &n)) > 0) {
		if (n != columns) {
			err_say("%s:%llu: bad row: it has %zu fields, the "
				"first row has %zu",
			    l->name, l->n, n, columns);
			goto out;
		}
		for (i = 0; i < n; i++)
			if (field[i] >= 0)
				intake_field(in, field[i], v[i],
				    csvrows_length(rows, i));
		k = intake_row(in);
		if (k != 0)
			break;
	}
	rc = k < 0 ? -1 : 0;
out:
	free(field);
	return rc;
}

int
dataset_csv(struct intake *in, char delimiter)
{
	struct lines l = {.name = intake_path(in)};
	struct csvrows *rows;
	int rc;

	l.f = fopen(l.name, "re");
	if (!l.f)
		return err_fail_sys("cannot read '%s'", l.name);
	rows = csvrows_new(delimiter, read_line, &l);
	csvrows_keep_blanks(rows);
	rc = read_rows(in, rows, &l);
	csvrows_free(rows);
	fclose(l.f);
	free(l.line);
	return rc;
}
