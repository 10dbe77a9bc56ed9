#include "buildstep.h"
#include "artifacts.h"
#include "hash.h"

#include "err.h"
#include "folder.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "str.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>

#define INCLUDE "include" /* folder of valkeymodule.h */
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
 * "sha=1f9c0ab2:0" (zeros: unknown), which must be that of the step. Returns
 * 0, or -1 after reporting an error.
 */
static int
note_version(const struct buildstep *r, const char *server, struct json *note)
{
	const char *id = r->target->commit.id;
	const struct flags *f = r->arg;
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
		err_fail("the server that was built does not run: %s",
		    out.len ? out.s : "it prints nothing");
		goto out;
	}
	if ((s = strstr(out.s, " v="))) {
		text = mem_strn(s + 3, strcspn(s + 3, " \n"));
		json_set_str(note, "version", text);
		free(text);
		text = NULL;
	}
	if (verify_allocator(f->allocator, out.s) < 0)
		goto out;
	s = strstr(out.s, " sha=");
	n = s ? strspn(s + 5, "0123456789abcdef") : 0;
	rc = 0;
	if (!n || strspn(s + 5, "0") >= n)
		goto out;
	text = mem_strn(s + 5, n);
	json_set_str(note, "git_sha", text);
	if (*id && !str_starts(id, text))
		rc = err_fail("the server that was built reports the commit "
			      "'%s', not '%.10s'",
		    text, id);
out:
	free(text);
	str_free(&out);
	return rc;
}

static int
describe_server(
    const struct buildstep *r, const char *server, struct json *note)
{
	char hex[HASH_HEX];

	if (hash_file(HASH_SHA256, server, hex) < 0)
		return err_fail_sys("cannot read '%s'", server);
	json_set_str(note, "binary_sha256", hex);
	return note_version(r, server, note);
}

static int
copy_headers(const char *tree, const char *dir)
{
	char *include = mem_printf("%s/" INCLUDE, dir), *from;
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
	    : describe_server(r, server, note);
	free(server);
	return rc;
}

void
buildstep_make_server(
    struct buildstep *r, const struct build_target *g, const struct flags *f)
{
	const char *const texts[] = {f->identity, g->commit.id, g->tree, NULL};
	const char *const compatible[] = {f->identity, NULL};
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

/* --- modules */

/* Returns the module's file (caller frees), or NULL after reporting an
 * error. */
static char *
find_module_file(const char *tree)
{
	char *copy = mem_str(tree), *roots[] = {copy, NULL}, *path = NULL;
	struct str names = {0}; /* relative to the tree */
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;
	size_t n = 0;

	while (fts && (e = fts_read(fts))) {
		if (e->fts_info != FTS_F || !str_ends(e->fts_name, ".so"))
			continue;
		str_add(&names, n++ ? ", '" : "'");
		str_visible(&names, e->fts_path + strlen(tree) + 1);
		str_addc(&names, '\'');
		free(path);
		path = mem_str(e->fts_path);
	}
	if (fts)
		fts_close(fts);
	if (n == 0)
		err_fail("the command succeeded but made no *.so");
	if (n > 1) {
		err_fail("the command made several modules: %s; choose one "
			 "with '--module-file'",
		    names.s);
		free(path);
		path = NULL;
	}
	str_free(&names);
	free(copy);
	return path;
}

static int
collect_module(const struct buildstep *r, const char *tree, const char *dir,
    struct json *note)
{
	const struct module *m = r->arg;
	char *path = m->file ? mem_printf("%s/%s", tree, m->file)
			     : find_module_file(tree);
	char hex[HASH_HEX];
	int rc;

	if (!path)
		return -1;
	if (hash_file(HASH_SHA256, path, hex) < 0)
		rc = err_fail_sys("cannot read the module '%s'", path);
	else {
		json_set_str(note, "module_sha256", hex);
		rc = artifacts_put(
		    dir, strrchr(path, '/') + 1, path, note, "module");
	}
	free(path);
	return rc == 0 ? 0 : -1;
}

void
buildstep_make_module(struct buildstep *r, struct module *m,
    const struct json *build, const char *server_key)
{
	const char *server = json_get_str(build, "server");
	const char *const texts[] = {server_key, m->target.commit.id,
	    m->target.tree, m->command, m->file ? m->file : "", NULL};
	const char *const compatible[] = {"module", m->command, NULL};

	*r = (struct buildstep){.target = &m->target,
	    .fresh = true,
	    .collect = collect_module,
	    .arg = m};
	r->argv = mem_array(4, sizeof *r->argv);
	r->argv[0] = "/bin/sh";
	r->argv[1] = "-c";
	r->argv[2] = m->command;
	r->env = mem_array(3, sizeof *r->env);
	r->env[0] = mem_printf("VKB_SERVER=%s", server);
	r->env[1] = mem_printf("VKB_INCLUDE=%.*s/" INCLUDE,
	    (int)(strrchr(server, '/') - server), server);
	flags_hash(r->key, texts);
	flags_hash(r->kind, compatible);
}

void
buildstep_describe_module(const struct module *m, struct json *subject)
{
	json_set_str(subject, "module_commit", m->target.commit.id);
	json_set_str(subject, "module_time", m->target.commit.time);
	json_set_str(subject, "module_tree", m->target.tree);
	json_set_bool(subject, "module_dirty", m->target.dirty);
	json_set_str(json_get(subject, "build"), "module", m->command);
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
