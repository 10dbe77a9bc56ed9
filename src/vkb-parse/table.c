/*
 * Parses CSV with a header: the tables of the Python tool, as psql writes them,
 * and any other by the map of --columns. Each row is a run.
 */
#include "csvrows.h"
#include "flat.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 1600 }; /* of a table in PostgreSQL */

struct table {
	struct source *s;
	struct runs *runs;
	size_t width;
	char **names; /* of all columns; NULL: a map is used */
	size_t *at;   /* the place of each column of the map */
};

/* Reads the header, or a row. Returns 0, or -1 after reporting an error. */
typedef int read_row(struct table *, const char *const *fields);

static int
read_rows(struct table *t, char delimiter, read_row *header, read_row *row)
{
	struct csvrows *rows =
	    csvrows_new(delimiter, source_read_raw_line, t->s);
	const char *const *f;
	const char *why;
	size_t n;
	int rc = 0, got;

	while ((got = csvrows_next(rows, &f, &n, &why)) != 0 &&
	    !runs_have_failed(t->runs)) {
		if (got < 0) {
			rc = why ? source_fail(t->s, "%s", why) : -1;
		} else if (!t->width) {
			t->width = n;
			if (header(t, f) < 0) {
				rc = -1;
				break;
			}
		} else if (n != t->width) {
			rc = source_fail(t->s,
			    "%zu columns where there should be %zu", n,
			    t->width);
		} else {
			rc |= row(t, f);
		}
	}
	for (size_t i = 0; t->names && i < t->width; i++)
		free(t->names[i]);
	free(t->names);
	free(t->at);
	csvrows_free(rows);
	return rc;
}

/* --- the tables of the Python tool */

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
add_table_row(struct table *t, const char *const *f)
{
	struct json *row = json_object();

	for (size_t i = 0; i < t->width; i++)
		json_set(
		    row, t->names[i], flat_parse_column(t->names[i], f[i]));
	if (flat_is(row))
		return runs_add(
		    t->runs, flat_row_to_run(row), source_where(t->s));
	json_free(row);
	return source_fail(
	    t->s, "not a result with 'command' and 'rps' or 'status'");
}

/* Copies the names of the header. Returns -1, after reporting it, if they are
 * too many, a column has none, or two have the same. */
static int
copy_names(struct table *t, const char *const *f)
{
	if (t->width > COLUMNS_MOST)
		return source_fail(t->s,
		    "%zu columns, but a table in PostgreSQL has at most %d",
		    t->width, COLUMNS_MOST);
	t->names = mem_array(t->width + 1, sizeof *t->names);
	for (size_t i = 0; i < t->width; i++) {
		size_t k = 0;

		t->names[i] = mem_str(f[i]);
		while (strcmp(t->names[k], f[i]) != 0)
			k++;
		if (!*f[i])
			return source_fail(t->s,
			    "column %zu of the header has no name: name it, or "
			    "remove the column",
			    i + 1);
		if (k < i)
			return source_fail(
			    t->s, "two columns are called '%s'", f[i]);
	}
	return 0;
}

int
table_parse_text(struct source *s, struct runs *runs)
{
	struct table t = {.s = s, .runs = runs};

	return read_rows(&t, ',', copy_names, add_table_row);
}

/* --- any table, by the map of --columns */

/* Finds the place of each column of the map. */
static int
find_columns(struct table *t, const char *const *names)
{
	const struct runs_keys *columns = runs_columns(t->runs);

	t->at = mem_array(columns->n + 1, sizeof *t->at);
	for (size_t i = 0; i < columns->n; i++) {
		const char *name = columns->v[i].text;
		size_t found = 0;

		for (size_t k = t->width; k-- > 0;)
			if (strcmp(names[k], name) == 0) {
				t->at[i] = k;
				found++;
			}
		if (found != 1)
			return source_fail(t->s, "%s '%s'",
			    found ? "two columns are called"
				  : "no column is called",
			    name);
	}
	return 0;
}

/* Sets the column's key of the run, unless the text is empty. */
static int
put_column(struct json *run, const struct runs_key *c, const char *text,
    struct source *s)
{
	struct json *section = json_get(run, c->section);
	double v;

	if (!*text)
		return 0;
	if (strcmp(c->section, "metrics") != 0) {
		json_set(section, c->key,
		    runs_parse_typed(c->section, c->key, text));
		return 0;
	}
	if (num_real(text, &v) < 0)
		return source_fail(
		    s, "'%s' is '%s', which is not a number", c->text, text);
	json_set_num(section, c->key, v);
	return 0;
}

static int
add_mapped_row(struct table *t, const char *const *f)
{
	const struct runs_keys *columns = runs_columns(t->runs);
	struct json *run = runs_new_run(NULL);

	for (size_t i = 0; i < columns->n; i++)
		if (put_column(run, &columns->v[i], f[t->at[i]], t->s) < 0) {
			json_free(run);
			return -1;
		}
	return runs_add(t->runs, run, source_where(t->s));
}

int
table_parse_columns(struct source *s, struct runs *runs)
{
	struct table t = {.s = s, .runs = runs};
	size_t n;

	if (!runs_columns(runs)->n)
		return source_fail(s, "use --columns to map its columns");
	return read_rows(&t,
	    source_find_separator(source_peek(s, 1, &n), ",;\t"), find_columns,
	    add_mapped_row);
}
