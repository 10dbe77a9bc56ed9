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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
append_build(struct builds *b, struct json *rec)
{
	*MEM_ADD(b->v, b->n, b->cap) = rec;
}

void
builds_add_key(struct str *s, const struct json *subject)
{
	static const char *const names[] = {
	    "label", "ref", "commit", "module_commit"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *v = json_get_str(subject, names[i]);

		str_add(s, v ? v : "");
		str_addc(s, '\n');
	}
}

static bool
is_same_subject(const struct json *a, const struct json *b)
{
	struct str x = {0}, y = {0};
	bool same;

	builds_add_key(&x, a);
	builds_add_key(&y, b);
	same = strcmp(x.s, y.s) == 0;
	str_free(&x);
	str_free(&y);
	return same;
}

/* Has a build the names of this subject? */
static bool
has_subject(const struct builds *b, const struct json *subject)
{
	for (size_t i = 0; i < b->n; i++)
		if (is_same_subject(json_get(b->v[i], "subject"), subject))
			return true;
	return false;
}

/*
 * Adds a build record, which it takes; one that failed is reported and counted.
 * 0, or -1, error reported: another build has the same names.
 */
static int
add_build(struct builds *b, struct json *rec, const char *where)
{
	char *name = record_subject_name(json_get(rec, "subject"));
	const char *error = json_get_str(rec, "error");
	int rc = 0;

	if (strcmp(json_get_str(rec, "status"), "ok") != 0) {
		err_say("%s: build '%s' failed%s%s", where, name,
		    error ? ": " : "", error ? error : "");
		b->failed++;
		json_free(rec);
		free(name);
		return 0;
	}
	if (has_subject(b, json_get(rec, "subject")))
		rc =
		    err_fail("%s: two builds are called '%s': give them labels",
			where, name);
	free(name);
	append_build(b, rec);
	return rc;
}

int
builds_read(struct builds *b, const char *file)
{
	struct jsonl *in = jsonl_open(&file, 1);
	struct json *rec;
	int k, rc = 0;

	while ((k = record_next(in, &rec)) != 0) {
		if (k < 0)
			rc = -1;
		else if (record_is(rec, "build")) {
			if (add_build(b, rec, jsonl_where(in)) < 0)
				rc = -1;
		} else {
			rc = err_fail(
			    "%s: record of type '%s' instead of 'build'",
			    jsonl_where(in), record_type(rec));
			json_free(rec);
		}
	}
	jsonl_close(in);
	if (rc == 0 && !b->n)
		rc = err_fail("%s has no build that can be measured",
		    strcmp(file, "-") == 0 ? "stdin" : file);
	return rc;
}

void
builds_single(struct builds *b, const char *path, const char *label)
{
	struct json *rec = record_new("build"), *subject = json_object();

	json_set_str(subject, "label", label);
	json_set(rec, "subject", subject);
	json_set_str(rec, "status", "ok");
	json_set_str(rec, "server", path);
	append_build(b, rec);
}

/* Does the file hold records? A server program does not begin so. */
static bool
has_records(const char *file)
{
	FILE *f = fopen(file, "re");
	int c = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return c == '{';
}

/* Is it a program? If not, it may be the name of a commit. */
static bool
is_program(const char *name)
{
	char *path = proc_find(name, getenv("PATH"));
	bool is = path || errno != ENOENT;

	free(path);
	return is;
}

int
builds_set_reference(struct builds *b, const char *file)
{
	struct builds one = {0};
	int rc = 0;

	if (!is_program(file) && access(file, F_OK) < 0)
		return err_fail("the reference '%s' is neither a server nor a "
				"file: if it is a commit, build it ('vkb build "
				"%s >reference.json') and name that file; "
				"'--reference none' measures without one",
		    file, file);
	if (!has_records(file))
		builds_single(&one, file, file);
	else if (builds_read(&one, file) < 0)
		rc = -1;
	else if (one.n > 1)
		rc = err_fail("'%s' has %zu builds: the reference is one of "
			      "them, alone in a file",
		    file, one.n);
	if (rc == 0)
		b->reference = one.v[--one.n];
	builds_free(&one);
	return rc;
}

int
builds_check(const struct builds *b)
{
	for (size_t i = 0; i < b->n + (b->reference != NULL); i++) {
		const char *name = json_get_str(builds_get(b, i), "server");
		char *path =
		    proc_find(name ? name : "valkey-server", getenv("PATH"));

		if (!path && !name && errno == ENOENT)
			return err_fail("valkey-server is not in PATH: "
					"'vkb-needs run' installs it");
		if (!path)
			return err_fail_sys("cannot run server '%s'", name);
		free(path);
	}
	return 0;
}

const struct json *
builds_get(const struct builds *b, size_t i)
{
	return i < b->n ? b->v[i] : b->reference;
}

int
builds_module(struct builds *b, const char *file)
{
	char *path = realpath(file, NULL);

	if (!path || access(path, R_OK) < 0) {
		err_fail_sys("cannot read the module '%s'", file);
		free(path);
		return -1;
	}
	for (size_t i = 0; i < b->n; i++)
		json_set_str(b->v[i], "module", path);
	free(path);
	return 0;
}

void
builds_free(struct builds *b)
{
	for (size_t i = 0; i < b->n; i++)
		json_free(b->v[i]);
	json_free(b->reference);
	free(b->v);
}

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

	if ((others && has_subject(others, subject)) ||
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
	return add_build(b, rec, file);
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
builds_read_again(struct builds *b, const char *file, bool quiet)
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
