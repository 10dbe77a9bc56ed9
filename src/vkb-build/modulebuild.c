#include "modulebuild.h"
#include "buildstep.h"
#include "hash.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "runas.h"
#include "str.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *
modulebuild_check(struct modulebuild_wanted *w)
{
	const char **const texts[] = {
	    &w->dir, &w->server, &w->server_repo, &w->command, &w->file};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (*texts[i] && !**texts[i])
			*texts[i] = NULL;
	if (w->dir && w->server)
		return "options '--module-dir' and '--server' exclude each "
		       "other";
	if (w->command && !w->dir && !w->server)
		return "'--module-build' needs '--server', to build commits of "
		       "a module for one server, or '--module-dir', to build "
		       "one module for each server";
	if (w->server_repo && !w->server)
		return "'--server-repo' needs '--server'";
	if (w->command)
		return NULL;
	return w->dir   ? "'--module-dir' needs '--module-build'"
	    : w->server ? "'--server' needs '--module-build'"
	    : w->file   ? "'--module-file' needs '--module-build'"
			: NULL;
}

bool
modulebuild_is_program(const char *server)
{
	return server && (*server == '/' || *server == '.');
}

/* Describes an installed server. Its path stays a link if it is one: some
 * programs behave differently under another name. Returns 0, or -1 after
 * reporting the error.
 */
static int
find_program(struct modulebuild *m)
{
	const char *name = strrchr(m->wanted.server, '/');
	char *dir = name
	    ? mem_strn(m->wanted.server, (size_t)(name + 1 - m->wanted.server))
	    : mem_str(".");
	char *real = realpath(dir, NULL);

	name = name ? name + 1 : m->wanted.server;
	m->path = real ? mem_printf("%s/%s", real[1] ? real : "", name)
		       : mem_str(m->wanted.server);
	free(dir);
	free(real);
	if (access(m->path, X_OK) < 0)
		return err_fail_sys(
		    "cannot run the server '%s'", m->wanted.server);
	m->program = json_object();
	json_set_str(m->program, "server", m->path);
	return buildstep_describe_server(m->path, "", NULL, m->program);
}

int
modulebuild_open(struct modulebuild *m, const struct modulebuild_wanted *w,
    const struct cache *cache)
{
	*m = (struct modulebuild){.wanted = *w};
	if (w->dir)
		return target_find_worktree(&m->fixed, cache, w->dir);
	if (modulebuild_is_program(w->server))
		return find_program(m);
	m->origin = target_open_origin(
	    cache, w->server_repo ? w->server_repo : TARGET_VALKEY, NULL);
	return m->origin ? target_find_ref(&m->fixed, m->origin, w->server)
			 : -1;
}

void
modulebuild_close(struct modulebuild *m)
{
	target_free(&m->fixed);
	target_free_origin(m->origin);
	json_free(m->program);
	free(m->path);
}

const struct build_target *
modulebuild_server(const struct modulebuild *m, const struct build_target *t)
{
	return m->wanted.dir ? t : m->program ? NULL : &m->fixed;
}

static const struct build_target *
get_module(const struct modulebuild *m, const struct build_target *t)
{
	return m->wanted.dir ? &m->fixed : t;
}

void
modulebuild_describe(const struct modulebuild *m, const struct build_target *t,
    struct json *subject)
{
	const struct build_target *module = get_module(m, t);
	struct json *build = json_get(subject, "build");

	json_set_str(subject, "module_commit", module->commit.id);
	json_set_str(subject, "module_time", module->commit.time);
	json_set_str(subject, "module_tree", module->tree);
	json_set_bool(subject, "module_dirty", module->dirty);
	if (m->wanted.dir)
		json_set_bool(subject, "module_fixed", true);
	json_set_str(build, "module", m->wanted.command);
	json_set_str(build, "module_file", m->wanted.file);
	json_set_str(build, "server", m->path);
	json_set_str(build, "server_repo", m->wanted.server_repo);
}

void
modulebuild_add_program(
    const struct modulebuild *m, struct json *build, char key[65])
{
	for (const struct json *j = json_first(m->program); j; j = json_next(j))
		json_set(build, json_key(j), json_dup(j));
	memcpy(key, json_get_str(m->program, "binary_sha256"), 65);
}

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
	const struct modulebuild *m = r->arg;
	char *path = m->wanted.file ? mem_printf("%s/%s", tree, m->wanted.file)
				    : find_module_file(tree);
	char hex[HASH_HEX];
	int rc;

	if (!path)
		return -1;
	runas_begin_files(false);
	rc = hash_file(HASH_SHA256, path, hex);
	runas_end_files();
	if (rc < 0)
		rc = err_fail_sys("cannot read the module '%s'", path);
	else {
		json_set_str(note, "module_sha256", hex);
		rc = buildstep_put(
		    dir, strrchr(path, '/') + 1, path, note, "module");
	}
	free(path);
	return rc == 0 ? 0 : -1;
}

void
modulebuild_make_step(struct buildstep *r, const struct modulebuild *m,
    const struct build_target *t, const struct json *build,
    const char *server_key)
{
	const struct build_target *module = get_module(m, t);
	const char *command = m->wanted.command, *file = m->wanted.file;
	const char *server = json_get_str(build, "server");
	const char *const texts[] = {server_key, module->commit.id,
	    module->tree, command, file ? file : "", NULL};
	const char *const compatible[] = {
	    "module", command, runas_name(), NULL};

	*r = (struct buildstep){.target = module,
	    .fresh = true,
	    .collect = collect_module,
	    .arg = m};
	r->argv = mem_array(4, sizeof *r->argv);
	r->argv[0] = "/bin/sh";
	r->argv[1] = "-c";
	r->argv[2] = command;
	r->env = mem_array(3, sizeof *r->env);
	r->env[0] = mem_printf("VKB_SERVER=%s", server);
	if (!m->program)
		r->env[1] = mem_printf("VKB_INCLUDE=%.*s/" BUILDSTEP_INCLUDE,
		    (int)(strrchr(server, '/') - server), server);
	flags_hash(r->key, texts);
	flags_hash(r->kind, compatible);
}
