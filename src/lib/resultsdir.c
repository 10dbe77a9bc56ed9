#include "resultsdir.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
resultsdir_set_ref(struct json *run, const char *ref)
{
	static const char *const names[] = {
	    "commit", "ref", "label", "server_version"};
	struct json *subject = json_get(run, "subject");

	if (!subject || json_type(subject) != JSON_OBJECT)
		return;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_get(subject, names[i]))
			return;
	json_set_str(subject, "ref", ref);
}

static int
is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int
is_record_file(const struct dirent *e)
{
	return is_visible(e) && str_ends(e->d_name, ".jsonl");
}

/* Returns 0 if the path is missing, or -1 after reporting an error. */
static int
check_missing(const char *path)
{
	return errno == ENOENT || errno == ENOTDIR
	    ? 0
	    : err_fail_sys("cannot read '%s'", path);
}

/* Reads vkb-bench's DIR/runs. Returns 1, 0 if empty, -1 (errors reported). */
static int
read_run_files(
    const char *dir, const char *ref, resultsdir_file *read, void *arg)
{
	char *runs = mem_printf("%s/runs", dir), *path;
	struct dirent **all = NULL;
	int n = scandir(runs, &all, is_record_file, alphasort);
	int rc = n < 0 ? check_missing(runs) : n > 0;

	for (int i = 0; i < n; i++) {
		path = mem_printf("%s/%s", runs, all[i]->d_name);
		if (read(arg, path, ref) < 0)
			rc = -1;
		free(path);
		free(all[i]);
	}
	free(all);
	free(runs);
	return rc;
}

/* Reads the results of one folder. Returns 1, 0 if there are none, or -1. */
static int
read_results(const char *dir, const char *ref, resultsdir_file *read, void *arg)
{
	char *path = mem_printf("%s/metrics.json", dir);
	int rc = access(path, F_OK) == 0 ? 1 : check_missing(path);

	if (rc > 0 && (rc = read_run_files(dir, ref, read, arg)) == 0)
		rc = read(arg, path, ref) < 0 ? -1 : 1;
	free(path);
	return rc;
}

int
resultsdir_each(const char *dir, resultsdir_file *read, void *arg)
{
	struct dirent **all;
	int n = scandir(dir, &all, is_visible, alphasort), rc = 0, found, got;
	char *path;

	if (n < 0)
		return err_fail_sys("cannot read '%s'", dir);
	found = read_results(dir, NULL, read, arg);
	if (found < 0)
		rc = -1;
	for (int i = 0; i < n; i++) {
		const char *name = all[i]->d_name;

		path = mem_printf("%s/%s", dir, name);
		got = read_results(path,
		    str_utf8(name, strlen(name)) ? name : NULL, read, arg);
		if (got)
			found = 1;
		if (got < 0)
			rc = -1;
		free(path);
		free(all[i]);
	}
	free(all);
	if (!found)
		rc = err_fail("no metrics.json in '%s' or its subfolders", dir);
	return rc;
}
