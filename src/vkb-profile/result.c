#include "result.h"
#include "calls.h"
#include "counters.h"
#include "err.h"
#include "folder.h"
#include "json.h"
#include "mem.h"
#include "perf.h"
#include "watch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

int
result_claim_folder(const char *dir)
{
	static const char *const files[] = {
	    "profile.json", "perf.data", "stacks.folded", "debug", NULL};

	if (folder_make(dir) < 0)
		return -1;
	for (size_t i = 0; files[i]; i++) {
		char *path = mem_printf("%s/%s", dir, files[i]);
		bool there = access(path, F_OK) == 0;

		free(path);
		if (there)
			return err_fail(
			    "folder '%s' already holds a profile; choose "
			    "another one with -o",
			    dir);
	}
	return 0;
}

char *
result_name_copies(const char *dir)
{
	char *whole = realpath(dir, NULL);
	char *path = mem_printf("%s/debug", whole ? whole : dir);

	free(whole);
	return path;
}

static void
add_counters(struct json *rec, struct perf *counters, double n)
{
	double shared;
	struct json *c = counters_parse(perf_text(counters), &shared);

	json_set(rec, "counters", c);
	if (shared < 1)
		json_set_num(rec, "counted_percent", 100 * shared);
	json_set(rec, "derived", counters_derive(c));
	if (n > 0)
		json_set(
		    rec, "per_req", counters_per_request(c, n, "_per_req"));
}

int
result_add_counts(struct json *rec, const struct watch *w)
{
	double n = w->requests;
	struct json *calls;

	if (n > 0)
		json_set_num(rec, "requests", n);
	if (w->counters)
		add_counters(rec, w->counters, n);
	if (!w->calls)
		return 0;
	calls = calls_read(w->calls);
	if (!calls)
		return -1;
	json_set(rec, "calls", calls);
	if (n > 0)
		json_set(
		    rec, "calls_per_req", counters_per_request(calls, n, ""));
	return 0;
}
