/* Parses valkey-benchmark --csv: each result is a run. */
#include "benchcsv.h"
#include "flat.h"
#include "json.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdlib.h>

int
benchcsv_parse_text(struct source *s, struct runs *runs)
{
	const char *title, *why;
	struct json *run, *metrics;
	struct benchcsv *b;
	char *command;
	size_t n;
	int rc = 0, got;

	b = benchcsv_new(source_read_raw_line, s, source_peek(s, 1, &n));
	while (!runs_have_failed(runs) &&
	    (got = benchcsv_next(b, &title, &metrics, &why)) != 0) {
		if (got < 0) {
			rc = why ? source_fail(s, "%s", why) : -1;
			continue;
		}
		command = flat_command(title);
		run = runs_new_run(command);
		free(command);
		json_set(run, "metrics", metrics);
		rc |= runs_add(runs, run, source_where(s));
	}
	benchcsv_free(b);
	return rc;
}
