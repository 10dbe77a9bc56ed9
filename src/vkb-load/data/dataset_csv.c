#include "csvrows.h"
#include "err.h"
#include "intake.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

/* Reads a line, the first one without a byte order mark. */
static int
read_line(void *from, const char **line, size_t *n)
{
	const struct intake *in = from;
	int k = intake_read_line(from, line, n);

	if (k > 0 && in->line_number == 1 && *n >= 3 &&
	    memcmp(*line, "\xef\xbb\xbf", 3) == 0) {
		*line += 3;
		*n -= 3;
	}
	return k;
}

/* Returns 1 for a row, 0 at the end, -1 on error, after reporting it. */
static int
read_row(struct csvrows *rows, const struct intake *in, const char *const **v,
    size_t *n)
{
	const char *why;
	int k = csvrows_next(rows, v, n, &why);

	if (k < 0 && why)
		err_say("%s:%llu: bad row: %s", in->want->path, in->line_number,
		    why);
	return k;
}

static int
read_rows(struct intake *in, struct csvrows *rows)
{
	const char *const *v;
	int *field, k, rc = -1;
	size_t n, columns, i;

	k = read_row(rows, in, &v, &columns);
	if (k < 0)
		return -1;
	if (k == 0)
		columns = 0;
	field = mem_array(columns + 1, sizeof *field);
	for (i = 0; i < columns; i++)
		field[i] = intake_find_field(in, v[i], strlen(v[i]));
	if (intake_check_fields(in) < 0)
		goto out;
	while ((k = read_row(rows, in, &v, &n)) > 0) {
		if (n != columns) {
			err_say("%s:%llu: bad row: it has %zu fields, the "
				"first row has %zu",
			    in->want->path, in->line_number, n, columns);
			goto out;
		}
		for (i = 0; i < n; i++)
			if (field[i] >= 0)
				intake_set_field(in, field[i], v[i],
				    csvrows_length(rows, i));
		k = intake_end_row(in);
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
	struct csvrows *rows = csvrows_new(delimiter, read_line, in);
	int rc;

	csvrows_keep_blanks(rows);
	rc = read_rows(in, rows);
	csvrows_free(rows);
	return rc;
}
