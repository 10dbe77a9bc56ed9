#include "buildstep.h"
#include "err.h"
#include "folder.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "runas.h"
#include "sink.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MS 20000

static const char *const programs[] = {
    "valkey-server", "valkey-cli", "valkey-benchmark"};
static const char *const keys[] = {"server", "cli", "benchmark"};
#define PROGRAMS (sizeof programs / sizeof *programs)

/* Headers to compile modules with; before 8.0 only the second exists. */
static const char *const headers[] = {"valkeymodule.h", "redismodule.h"};
#define HEADERS (sizeof headers / sizeof *headers)

/*
 * make may use another allocator than an unknown or missing one. The server
 * reports "malloc=jemalloc-5.3.0"; for tcmalloc_minimal "tcmalloc-2.10".
 */
static int
verify_allocator(const char *wanted, const char *output)
{
	const char *s = strstr(output, " malloc=");
	size_t n = wanted ? strcspn(wanted, "_") : 0;

	if (!wanted || !s || strncmp(s + 8, wanted, n) == 0)
		return 0;
	return err_fail("the server that was built has the allocator '%.*s', "
			"not '%s'",
	    (int)strcspn(s + 8, " \n"), s + 8, wanted);
}

/*
 * Runs the server and notes its version and the commit that it reports, such as
 * "sha=1f9c0ab2:0" (zeros: unknown). Returns 0, or -1 after reporting an error.
 */
static int
note_version(const char *server, const char *commit, const char *allocator,
    struct json *note)
{
	const char *argv[] = {server, "--version", NULL};
	struct str out = {0};
	char *text = NULL;
	const char *s;
	int status, rc = -1;
	size_t n;

	if (proc_read(argv, true, ANSWER_MS, &out, &status) < 0)
		goto out;
	str_add(&out, "");
	if (status || !out.len) {
		err_fail("the server '%s' does not run: %s", server,
		    out.len ? out.s : "it prints nothing");
		goto out;
	}
	if ((s = strstr(out.s, " v="))) {
		text = mem_strn(s + 3, strcspn(s + 3, " \n"));
		json_set_str(note, "version", text);
		free(text);
		text = NULL;
	}
	if (verify_allocator(allocator, out.s) < 0)
		goto out;
	s = strstr(out.s, " sha=");
	n = s ? strspn(s + 5, "0123456789abcdef") : 0;
	rc = 0;
	if (!n || strspn(s + 5, "0") >= n)
		goto out;
	text = mem_strn(s + 5, n);
	json_set_str(note, "git_sha", text);
	if (*commit && !str_starts(commit, text))
		rc = err_fail("the server that was built reports the commit "
			      "'%s', not '%.10s'",
		    text, commit);
out:
	free(text);
	str_free(&out);
	return rc;
}

int
buildstep_describe_server(const char *server, const char *commit,
    const char *allocator, struct json *note)
{
	char hex[HASH_HEX];

	if (hash_file(HASH_SHA256, server, hex) < 0)
		return err_fail_sys("cannot read '%s'", server);
	json_set_str(note, "binary_sha256", hex);
	return note_version(server, commit, allocator, note);
}

static int
copy_headers(const char *tree, const char *dir)
{
	char *include = mem_printf("%s/" BUILDSTEP_INCLUDE, dir), *from;
	int rc = folder_make(include);

	for (size_t i = 0; rc >= 0 && i < HEADERS; i++) {
		from = mem_printf("%s/src/%s", tree, headers[i]);
		rc = buildstep_put(include, headers[i], from, NULL, NULL);
		free(from);
	}
	free(include);
	return rc < 0 ? -1 : 0;
}

static int
collect_programs(const struct buildstep *r, const char *tree, const char *dir,
    struct json *note)
{
	char *server = mem_printf("%s/%s", dir, programs[0]), *from;
	const struct flags *f = r->arg;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < PROGRAMS; i++) {
		from = mem_printf("%s/src/%s", tree, programs[i]);
		rc = buildstep_put(dir, programs[i], from, note, keys[i]);
		if (rc == 1 && i == 0)
			rc = err_fail("make succeeded but made no '%s'", from);
		free(from);
	}
	rc = rc < 0 || copy_headers(tree, dir) < 0
	    ? -1
	    : buildstep_describe_server(
		  server, r->target->commit.id, f->allocator, note);
	free(server);
	return rc;
}

void
buildstep_make_server(
    struct buildstep *r, const struct build_target *g, const struct flags *f)
{
	const char *const texts[] = {f->identity, g->commit.id, g->tree, NULL};
	const char *const compatible[] = {f->identity, runas_name(), NULL};
	size_t n = 0;

	*r = (struct buildstep){.target = g, .collect = collect_programs};
	r->arg = f;
	r->argv = mem_array(f->n + PROGRAMS + 4, sizeof *r->argv);
	r->argv[n++] = "make";
	r->argv[n++] = "-C";
	r->argv[n++] = "src";
	for (size_t i = 0; i < f->n; i++)
		r->argv[n++] = f->make[i];
	for (size_t i = 0; i < PROGRAMS; i++)
		r->argv[n++] = programs[i];
	flags_hash(r->key, texts);
	flags_hash(r->kind, compatible);
}

void
buildstep_free(struct buildstep *r)
{
	for (size_t i = 0; r->env && r->env[i]; i++)
		free(r->env[i]);
	free(r->env);
	free(r->argv);
	*r = (struct buildstep){0};
}

#define FILES "files" /* of a note: {KEY: {name, bytes}} */

/* Returns 0, 1 if 'from' does not exist, or -1 after reporting an error. */
static int
copy_file(const char *from, const char *to, long long *bytes)
{
	int in, out, rc = 0;

	runas_begin_files(false);
	in = open(from, O_RDONLY | O_CLOEXEC);
	runas_end_files();
	if (in < 0)
		return errno == ENOENT ? 1
				       : err_fail_sys("cannot read '%s'", from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
	*bytes = out < 0 ? -1 : sink_copy(in, out);
	if (*bytes < 0 || fsync(out) < 0)
		rc = err_fail_sys("cannot write '%s'", to);
	if (out >= 0 && close(out) < 0 && rc == 0)
		rc = err_fail_sys("cannot write '%s'", to);
	close(in);
	return rc;
}

int
buildstep_put(const char *dir, const char *name, const char *from,
    struct json *note, const char *key)
{
	char *to = mem_printf("%s/%s", dir, name);
	struct json *files = json_get(note, FILES), *file;
	long long bytes = 0;
	int rc = copy_file(from, to, &bytes);

	free(to);
	if (rc != 0 || !key)
		return rc;
	if (!files) {
		files = json_object();
		json_set(note, FILES, files);
	}
	file = json_object();
	json_set_str(file, "name", name);
	json_set_num(file, "bytes", (double)bytes);
	json_set(files, key, file);
	return 0;
}

int
buildstep_write_note(const char *dir, const struct json *note)
{
	char *path = mem_printf("%s/build.json", dir);
	int rc = jsonfile_write(path, note);

	free(path);
	return rc;
}

static int
find_files(const char *dir, const struct json *files, struct json *rec)
{
	const char *name;
	struct stat st;
	char *path;
	int rc = 1;

	for (const struct json *f = json_first(files); f && rc;
	     f = json_next(f)) {
		name = json_get_str(f, "name");
		path = mem_printf("%s/%s", dir, name ? name : "");
		rc = stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    (double)st.st_size == json_get_num(f, "bytes", -1);
		if (rc)
			json_set_str(rec, json_key(f), path);
		free(path);
	}
	return rc;
}

int
buildstep_find(const char *dir, struct json *rec)
{
	char *path = mem_printf("%s/build.json", dir);
	struct json *note = NULL;
	int rc = 0;

	if (access(path, R_OK) == 0)
		note = jsonfile_read(path);
	if (note)
		utimensat(AT_FDCWD, path, NULL, 0); /* for --prune */
	free(path);
	if (json_first(json_get(note, FILES)))
		rc = find_files(dir, json_get(note, FILES), rec);
	for (const struct json *j = json_first(note); j && rc; j = json_next(j))
		if (strcmp(json_key(j), FILES) != 0)
			json_set(rec, json_key(j), json_dup(j));
	json_free(note);
	return rc;
}
