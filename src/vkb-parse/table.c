/* Parses the tables of the Python tool, as psql writes them as CSV: each row is
 * a run. */
#include "csvrows.h"
#include "flat.h"
#include "json.h"
#include "mem.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 1600 }; /* of a table in PostgreSQL */

/* Has the first line this name, with or without quotes? */
static bool
has_column(const char *head, const char *name)
{
	size_t len = strlen(name), n;

	for (const char *p = head;; p += n + 1) {
		size_t quoted;

		n = strcspn(p, ",\r\n");
		quoted = *p == '"' && n > 1 && p[n - 1] == '"';
		if (n - 2 * quoted == len &&
		    strncmp(p + quoted, name, len) == 0)
			return true;
		if (p[n] != ',')
			return false;
	}
}

bool
table_is(const char *head)
{
	return has_column(head, "commit") && has_column(head, "command") &&
	    has_column(head, "rps");
}

static int
parse_table_row(struct source *s, struct runs *runs, char *const *names,
    const char *const *f, size_t n)
{
	struct json *row = json_object();

	for (size_t i = 0; i < n; i++)
		json_set(row, names[i], flat_parse_column(names[i], f[i]));
	if (flat_is(row))
		return runs_add(runs, flat_row_to_run(row), source_where(s));
	json_free(row);
	return source_fail(
	    s, "not a result with 'command' and 'rps' or 'status'");
}

static void
free_names(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* Copies the names of the header. Returns NULL, after reporting it, if they are
 * too many, a column has none, or two have the same. */
static char **
copy_names(struct source *s, const char *const *f, size_t n)
{
	char **names;

	if (n > COLUMNS_MOST) {
		source_fail(s,
		    "%zu columns, but a table in PostgreSQL has at most %d", n,
		    COLUMNS_MOST);
		return NULL;
	}
	names = mem_array(n + 1, sizeof *names);
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		names[i] = mem_str(f[i]);
		while (strcmp(names[k], names[i]) != 0)
			k++;
		if (*names[i] && k == i)
			continue;
		if (*names[i])
			source_fail(s, "two columns are called '%s'", names[i]);
		else
			source_fail(s,
			    "column %zu of the header has no name: name it, or "
			    "remove the column",
			    i + 1);
		free_names(names, i + 1);
		return NULL;
	}
	return names;
}

int
table_parse_text(struct source *s, struct runs *runs)
{
	struct csvrows *rows = csvrows_new(',', source_read_raw_line, s);
	char **names = NULL;
	const char *const *f;
	const char *why;
	size_t n, width = 0;
	int rc = 0, got;

	while ((got = csvrows_next(rows, &f, &n, &why)) != 0 &&
	    !runs_have_failed(runs)) {
		if (got < 0) {
			rc = why ? source_fail(s, "%s", why) : -1;
		} else if (!names) {
			width = n;
			names = copy_names(s, f, n);
			if (!names) {
				rc = -1;
				break;
			}
		} else if (n != width) {
			rc = source_fail(s,
			    "%zu columns where there should be %zu", n, width);
		} else {
			rc |= parse_table_row(s, runs, names, f, n);
		}
	}
	free_names(names, names ? width : 0);
	csvrows_free(rows);
	return rc;
}
