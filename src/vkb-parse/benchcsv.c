/*
 * valkey-benchmark --csv. Until Redis 6.2 it had no header and two columns;
 * since then the header says which there are. What stands before a header is
 * talk of the program.
 */
#include "csvrows.h"
#include "flat.h"
#include "json.h"
#include "num.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 64

struct table {
	char *name[COLUMNS]; /* NULL: not used */
	size_t n;            /* 0: no header yet */
};

static bool
is_header(const char *line)
{
	return str_starts(line, "\"test\",\"rps\"") ||
	    str_starts(line, "test,rps");
}

/* "NAME","NUMBER" and the end of the line. */
static bool
is_pair(const char *line)
{
	const char *p = strstr(line, "\",\"");

	if (*line != '"' || !p || memchr(line, '\n', (size_t)(p - line)))
		return false;
	p += 3;
	p += strspn(p, "0123456789.");
	return p[-1] != '"' && *p == '"' && (!p[1] || strchr("\r\n", p[1]));
}

static bool
has_header(const char *head)
{
	for (const char *p = head; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (is_header(p))
			return true;
	}
	return false;
}

bool
benchcsv_is(const char *head)
{
	return has_header(head) || is_pair(head);
}

static void
clear(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->name[i]);
	t->n = 0;
}

static bool
named(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->name[i] && strcmp(t->name[i], name) == 0)
			return true;
	return false;
}

static int
header(struct table *t, const struct source *s, const char *const *f, size_t n)
{
	int rc = 0;

	clear(t);
	if (n > COLUMNS)
		return source_fail(s, "more than %d columns", COLUMNS);
	for (t->n = 0; t->n < n; t->n++) {
		double factor;

		t->name[t->n] = units_key(f[t->n], "", &factor);
		if (!named(t, t->name[t->n]))
			continue;
		rc = source_fail(s, "two columns are called '%s'", f[t->n]);
		free(t->name[t->n]);
		t->name[t->n] = NULL;
	}
	return rc;
}

static int
row(const struct table *t, struct source *s, const char *const *f, size_t n,
    struct runs *runs)
{
	struct json *run, *metrics;
	char *command;
	double v;

	if (n != (t->n ? t->n : 2))
		return source_fail(s, "%zu columns where there should be %zu",
		    n, t->n ? t->n : 2);
	run = runs_blank();
	metrics = json_get(run, "metrics");
	command = flat_command(f[0]);
	json_set_str(json_get(run, "config"), "command", command);
	free(command);
	for (size_t i = 1; i < n; i++) {
		const char *name = t->n ? t->name[i] : "rps";

		if (!name || !*f[i])
			continue; /* not known */
		if (num_real(f[i], &v) < 0) {
			source_fail(s, "'%s' is '%s', which is not a number",
			    name, f[i]);
			json_free(run);
			return -1;
		}
		json_set_num(metrics, name, v);
	}
	return runs_add(runs, run, source_where(s));
}

int
benchcsv_text(struct source *s, struct runs *runs)
{
	struct csvrows *rows = csvrows_new(',', source_raw_line, s);
	struct table t = {0};
	const char *const *f;
	const char *why;
	size_t n;
	bool waiting;
	int rc = 0, got;

	waiting = has_header(source_head(s, 1, &n));
	while (
	    (got = csvrows_next(rows, &f, &n, &why)) != 0 && !runs_dead(runs)) {
		if (got > 0 && n > 1 && strcmp(f[0], "test") == 0 &&
		    strcmp(f[1], "rps") == 0) {
			waiting = false;
			rc |= header(&t, s, f, n);
		} else if (waiting) {
			continue;
		} else if (got < 0) {
			rc = why ? source_fail(s, "%s", why) : -1;
		} else {
			rc |= row(&t, s, f, n, runs);
		}
	}
	clear(&t);
	csvrows_free(rows);
	return rc;
}
