#include "results.h"
#include "appendfile.h"
#include "err.h"
#include "intact.h"
#include "intern.h"
#include "json.h"
#include "jsonpublic.h"
#include "jsonl.h"
#include "redact.h"
#include "mem.h"
#include "record.h"
#include "sink.h"
#include "str.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/plan/builds.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the number of a run, by what tells it from others. */
static size_t
intern_run(const struct results *r, const struct json *subject,
    const struct json *config, size_t index, bool counted)
{
	struct str s = {0};
	size_t id;

	builds_add_key(&s, subject);
	jsonpublic_canonical(&s, config);
	str_printf(&s, "\n%zu%s", index, counted ? " counted" : "");
	id = intern_id(r->keys, s.s);
	str_free(&s);
	return id;
}

/* Keeps the first of equal runs. */
static void
add_finished(struct results *r, struct json *rec)
{
	const char *status = json_get_str(rec, "status");
	double index = json_num(json_path(rec, "run.index"), 0);
	const struct json *config = json_get(rec, "config");
	const char *tool =
	    json_str(json_path(rec, "env.benchmark_tool_sha256"));
	bool counted = json_get_bool(rec, "counted", false);
	bool foreign =
	    strcmp(bench_case_engine(config), BENCH_CASE_NATIVE) != 0;

	if (!record_is(rec, r->part ? "part" : "run") ||
	    json_num(json_path(rec, "run.part.i"), 0) != r->part ||
	    strcmp(status, "ok") != 0 || !(index >= 1 && index < 1e9) ||
	    intern_run(r, json_get(rec, "subject"), config, (size_t)index,
		counted) < r->n)
		return;
	r->done = mem_grow(r->done, r->n, &r->cap, sizeof *r->done);
	r->done[r->n++] =
	    (struct finished){.tool = tool && foreign ? mem_str(tool) : NULL,
		.metrics = json_detach(rec, "metrics")};
	if (!counted && (size_t)index > r->last)
		r->last = (size_t)index;
}

static int
read_finished(struct results *r, const char *file)
{
	struct jsonl *in = jsonl_open(&file, 1);
	struct json *rec;
	int k, rc = 0;

	r->keys = intern_new();
	while ((k = record_next(in, &rec)) != 0) {
		if (k < 0) {
			rc = -1;
			continue;
		}
		add_finished(r, rec);
		json_free(rec);
	}
	jsonl_close(in);
	return rc;
}

int
results_open(
    struct results *r, const char *output, const char *resume, unsigned part)
{
	const char *name = resume ? resume : output;

	*r = (struct results){.fd = STDOUT_FILENO, .part = part};
	if (!name) {
		r->intact = intact_open(r->fd, "standard output");
		return 0;
	}
	r->fd = appendfile_open(name, resume != NULL);
	if (r->fd < 0)
		return -1;
	r->path = name;
	r->resumed = resume;
	if (appendfile_check_end(r->fd, name, resume != NULL) < 0)
		return -1;
	r->intact = intact_open(r->fd, name);
	return resume ? read_finished(r, resume) : 0;
}

int
results_close(struct results *r)
{
	int rc = intact_close(r->intact);

	for (size_t i = 0; i < r->n; i++) {
		free(r->done[i].tool);
		json_free(r->done[i].metrics);
	}
	free(r->done);
	intern_free(r->keys);
	if (r->path)
		close(r->fd);
	return rc;
}

const struct finished *
results_find(const struct results *r, const struct json *subject,
    const struct json *config, size_t index, bool counted)
{
	size_t id = r->n ? intern_run(r, subject, config, index, counted) : 0;

	return id < r->n ? &r->done[id] : NULL;
}

/* Is the file still in a folder? Records in one that was removed are lost. */
static int
check_removed(const struct results *r)
{
	struct stat st;

	if (r->path && fstat(r->fd, &st) == 0 && st.st_nlink == 0)
		return err_fail("'%s' was removed while runs were appended to "
				"it: they are lost, so measure them again",
		    r->path);
	return 0;
}

/*
 * If the reader of stdout is gone, SIGPIPE ends this program without a message;
 * its servers end with it.
 */
int
results_write_all(struct results *r, struct json *const *runs, size_t n)
{
	struct sigaction quiet = {.sa_handler = SIG_DFL}, before;
	int rc = 0, changed = intact_check(r->intact);
	struct str s = {0}, clean = {0};

	for (size_t i = 0; i < n; i++) {
		json_append_line(&s, runs[i]);
	}
	redact_add(&clean, s.s, s.len); /* 'intact' gets what the file gets */
	sigaction(SIGPIPE, &quiet, &before);
	if (sink_write(r->fd, clean.s, clean.len) < 0)
		rc = err_fail_sys("cannot write a record");
	sigaction(SIGPIPE, &before, NULL);
	if (rc == 0 && fdatasync(r->fd) < 0 && errno != EINVAL &&
	    errno != EROFS)
		rc = err_fail_sys("cannot save a record");
	if (rc == 0)
		intact_add(r->intact, clean.s, clean.len);
	str_free(&clean);
	str_free(&s);
	return rc < 0 || changed < 0 ? -1 : check_removed(r);
}

int
results_write(struct results *r, struct json *run)
{
	return results_write_all(r, &run, 1);
}
