#include "again.h"
#include "builds.h"
#include "err.h"
#include "hash.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "proc.h"
#include "record.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Hashes a regular file; others may have no end. Returns NULL, or why not. */
static const char *
hash_regular(const char *path, char hex[HASH_HEX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why = NULL;
	struct stat st;

	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		why = "it is not a regular file";
	else if (hash_fd(HASH_SHA256, fd, hex) < 0)
		why = strerror(errno);
	close(fd);
	return why;
}

static bool
has_hash(const char *path, const char *sha)
{
	char hex[HASH_HEX];

	return sha && !hash_regular(path, hex) && strcmp(hex, sha) == 0;
}

/* Checks that the names and hashes of a run are texts, and that its paths do
 * not depend on the current folder or PATH. 0, or -1, error reported. */
static int
check_run(const struct json *run, const char *where)
{
	static const char *const texts[] = {"label", "ref", "commit",
	    "module_commit", "binary_sha256", "module_sha256"};
	static const char *const paths[] = {"server_path", "module_path"};
	const struct json *j;
	const char *path;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		j = json_get(json_get(run, "subject"), texts[i]);
		if (j && !json_str(j))
			return err_fail("%s: record 'run': 'subject.%s' is not "
					"of type string",
			    where, texts[i]);
	}
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		path = json_get_str(json_get(run, "run"), paths[i]);
		if (path && *path != '/')
			return err_fail("%s: record 'run': 'run.%s' is '%s', "
					"which does not begin with '/'",
			    where, paths[i], path);
	}
	return 0;
}

/* Returns a build record of what the run measured. */
static struct json *
make_build(const struct json *run)
{
	const struct json *subject = json_get(run, "subject");
	struct json *rec = record_new("build");

	json_set(rec, "subject", json_dup(subject));
	json_set_str(rec, "status", "ok");
	json_set_bool(rec, "again", true);
	json_set_str(
	    rec, "server", json_str(json_path(run, "run.server_path")));
	json_set_str(
	    rec, "module", json_str(json_path(run, "run.module_path")));
	json_set_str(
	    rec, "binary_sha256", json_get_str(subject, "binary_sha256"));
	json_set_str(
	    rec, "module_sha256", json_get_str(subject, "module_sha256"));
	return rec;
}

/* Has an earlier run the same server? */
static bool
is_known(struct intern *seen, const struct json *rec)
{
	const char *module = json_get_str(rec, "module_sha256");
	size_t known = intern_count(seen), id;
	struct str s = {0};

	builds_add_key(&s, json_get(rec, "subject"));
	str_printf(&s, "%s %s", json_get_str(rec, "binary_sha256"),
	    module ? module : "");
	id = intern_id(seen, s.s);
	str_free(&s);
	return id < known;
}

/* Reports why a file cannot be measured again, and what to do. Returns -1. */
static int
refuse_file(const char *file, const char *path, const char *to_do)
{
	char hex[HASH_HEX];
	const char *why = hash_regular(path, hex);

	if (why)
		return err_fail("%s: cannot read '%s', which was measured: "
				"%s; %s, or measure the baseline again",
		    file, path, why, to_do);
	return err_fail("%s: '%s' is not the file that was measured: it was "
			"replaced, or is a script; %s, or measure the baseline "
			"again",
	    file, path, to_do);
}

/* Finds the files of a build. 0, or -1, error reported. */
static int
find_files(struct json *rec, const char *file)
{
	const char *path = json_get_str(rec, "server");
	const char *sha = json_get_str(rec, "binary_sha256");
	const char *module = json_get_str(rec, "module");
	char *copy = mem_printf("%s.server", file);
	char *real = realpath(copy, NULL);
	char *to_do = mem_printf("put the old one there or at '%s'", copy);
	int rc = 0;

	if (!has_hash(path, sha)) {
		if (real && has_hash(real, sha))
			json_set_str(rec, "server", real);
		else
			rc = refuse_file(file, path, to_do);
	}
	if (rc == 0 && module &&
	    !has_hash(module, json_get_str(rec, "module_sha256")))
		rc = refuse_file(file, module, "put the old one there");
	free(to_do);
	free(real);
	free(copy);
	return rc;
}

/* Does a new build have the same files as the old one? */
static bool
is_same_server(const struct json *build, const struct json *old)
{
	const char *name = json_get_str(build, "server");
	const char *module = json_get_str(build, "module");
	const char *sha = json_get_str(old, "module_sha256");
	char *path = proc_find(name ? name : "valkey-server", getenv("PATH"));
	bool same = path &&
	    has_hash(path, json_get_str(old, "binary_sha256")) &&
	    (module ? has_hash(module, sha) : !sha);

	free(path);
	return same;
}

/* Labels a build whose subject has no name, or that of another build. */
static void
name_build(const struct builds *others, struct json *rec, const char *label)
{
	struct json *subject = json_get(rec, "subject");

	if ((others && builds_have(others, subject)) ||
	    (!json_get(subject, "label") && !json_get(subject, "ref") &&
		!json_get(subject, "commit")))
		json_set_str(subject, "label", label);
}

static void
say_same(const struct json *build, const char *old_name)
{
	char *name = record_subject_name(json_get(build, "subject"));

	err_say("'%s' and '%s' are the same server, so differences are noise",
	    name, old_name);
	free(name);
}

/* Adds a build, which it takes, to the first 'n' ones. 0, or -1, reported. */
static int
add_again(
    struct builds *b, size_t n, struct json *rec, const char *file, bool quiet)
{
	char *name;

	if (find_files(rec, file) < 0) {
		json_free(rec);
		return -1;
	}
	name_build(b, rec, "baseline");
	name = record_subject_name(json_get(rec, "subject"));
	for (size_t i = 0; i < n && !quiet; i++)
		if (is_same_server(b->v[i], rec))
			say_same(b->v[i], name);
	if (!quiet)
		err_say("%s: '%s' is measured again, as '%s'", file,
		    json_get_str(rec, "server"), name);
	free(name);
	return builds_add(b, rec, file);
}

/* Adds the server of a run, unless it is known or the run has failed before it
 * had one. 0, or -1, error reported. */
static int
add_run(struct builds *b, size_t n, struct intern *seen, const struct json *run,
    const char *file, const char *where, bool quiet)
{
	bool ok = strcmp(json_get_str(run, "status"), "ok") == 0;
	struct json *rec;
	int rc = 0;

	if (check_run(run, where) < 0)
		return -1;
	rec = make_build(run);
	if (json_get(rec, "server") && json_get(rec, "binary_sha256")) {
		if (!is_known(seen, rec))
			return add_again(b, n, rec, file, quiet);
	} else if (ok)
		rc = err_fail("%s: the run has no 'run.server_path', the file "
			      "of a server that vkb-load started, so it cannot "
			      "be measured again; measure the baseline again",
		    where);
	json_free(rec);
	return rc;
}

int
again_read(struct builds *b, const char *file, bool quiet)
{
	struct jsonl *in = jsonl_open(&file, 1);
	struct intern *seen = intern_new();
	struct json *rec;
	size_t n = b->n, runs = 0;
	int k, rc = 0;

	for (size_t i = 0; i < n; i++)
		name_build(NULL, b->v[i], "new");
	while (rc == 0 && (k = record_next(in, &rec)) != 0) {
		if (k < 0)
			rc = -1;
		else if (record_is(rec, "run")) {
			runs++;
			rc = add_run(
			    b, n, seen, rec, file, jsonl_where(in), quiet);
		}
		json_free(rec);
	}
	if (rc == 0 && b->n == n)
		rc = err_fail(runs ? "%s: all runs failed before they had a "
				     "server; measure the baseline again"
				   : "%s: no runs; '--again' needs the run "
				     "records of the baseline",
		    file);
	intern_free(seen);
	jsonl_close(in);
	return rc;
}
