#include "buildstep.h"
#include "artifacts.h"
#include "hash.h"

#include "err.h"
#include "folder.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "runas.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

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
		rc = artifacts_put(include, headers[i], from, NULL, NULL);
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
		rc = artifacts_put(dir, programs[i], from, note, keys[i]);
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
