/* Parses any CSV with a header, by the map of --columns. */
#include "csvrows.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

/* Returns each column's index in 'names', or NULL (reported). Caller frees. */
static size_t *
find_columns(struct source *s, const struct runs_keys *columns,
    const char *const *names, size_t n)
{
	size_t *at = mem_array(columns->n + 1, sizeof *at), found;

	for (size_t i = 0; i < columns->n; i++) {
		const char *name = columns->v[i].text;

		found = 0;
		for (size_t k = n; k-- > 0;)
			if (strcmp(names[k], name) == 0) {
				at[i] = k;
				found++;
			}
		if (found == 1)
			continue;
		source_fail(s, "%s '%s'",
		    found ? "two columns are called" : "no column is called",
		    name);
		free(at);
		return NULL;
	}
	return at;
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
parse_columns_row(
    struct source *s, struct runs *runs, const size_t *at, const char *const *f)
{
	const struct runs_keys *columns = runs_columns(runs);
	struct json *run = runs_new_run(NULL);

	for (size_t i = 0; i < columns->n; i++)
		if (put_column(run, &columns->v[i], f[at[i]], s) < 0) {
			json_free(run);
			return -1;
		}
	return runs_add(runs, run, source_where(s));
}

int
columns_parse_text(struct source *s, struct runs *runs)
{
	const struct runs_keys *columns = runs_columns(runs);
	struct csvrows *rows;
	size_t *at = NULL, n, width = 0;
	const char *const *f;
	const char *why;
	int rc = 0, got;

	if (!columns->n)
		return source_fail(s, "use --columns to map its columns");
	rows = csvrows_new(source_find_separator(source_peek(s, 1, &n), ",;\t"),
	    source_read_raw_line, s);
	while ((got = csvrows_next(rows, &f, &n, &why)) != 0 &&
	    !runs_have_failed(runs)) {
		if (got < 0) {
			rc = why ? source_fail(s, "%s", why) : -1;
		} else if (!at) {
			width = n;
			at = find_columns(s, columns, f, n);
			if (!at) {
				rc = -1;
				break;
			}
		} else if (n != width) {
			rc = source_fail(s,
			    "%zu columns where there should be "
			    "%zu",
			    n, width);
		} else {
			rc |= parse_columns_row(s, runs, at, f);
		}
	}
	free(at);
	csvrows_free(rows);
	return rc;
}
