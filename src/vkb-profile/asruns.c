#include "asruns.h"
#include "json.h"
#include "jsonl.h"
#include "record.h"

#include <unistd.h>

static void
add_metrics(struct json *metrics, const struct json *rec, const char *section)
{
	for (const struct json *j = json_first(json_get(rec, section)); j;
	     j = json_next(j))
		json_set(metrics, json_key(j), json_dup(j));
}

/* Makes a 'run' record; returns NULL if the profile has no such metrics. */
static struct json *
make_run(const struct json *rec)
{
	static const char *const sections[] = {"subject", "config", "run"};
	struct json *run = record_new("run"), *metrics = json_object();
	const struct json *section;

	for (size_t i = 0; i < 3; i++) {
		section = json_get(rec, sections[i]);
		json_set(run, sections[i],
		    section ? json_dup(section) : json_object());
	}
	add_metrics(metrics, rec, "per_req");
	add_metrics(metrics, rec, "derived");
	json_set(run, "metrics", metrics);
	json_set_str(run, "status", "ok");
	if (json_first(metrics))
		return run;
	json_free(run);
	return NULL;
}

int
asruns_print(const char *const *files, size_t n)
{
	struct jsonl *in = jsonl_open(files, n);
	struct json *rec, *run;
	int rc = in ? 0 : -1, k;

	while (in && (k = record_next(in, &rec)) != 0) {
		if (k < 0) {
			rc = -1;
			continue;
		}
		run = record_is(rec, "profile") ? make_run(rec) : NULL;
		if (run && jsonl_write(STDOUT_FILENO, run) < 0) {
			k = -1;
			rc = -1;
		}
		json_free(run);
		json_free(rec);
		if (k < 0)
			break;
	}
	jsonl_close(in);
	return rc;
}
