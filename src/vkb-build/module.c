#include "module.h"
#include "build.h"
#include "flags.h"
#include "hash.h"
#include "artifacts.h"
#include "server.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>

/* --- the file of the module */

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
collect_module(const struct recipe *r, const char *tree, const char *dir,
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

/* --- the recipe */

void
module_make_recipe(struct recipe *r, struct module *m, const struct json *build,
    const char *server_key)
{
	const char *server = json_get_str(build, "server");
	const char *const texts[] = {server_key, m->target.commit.id,
	    m->target.tree, m->command, m->file ? m->file : "", NULL};
	const char *const alike[] = {"module", m->command, NULL};

	*r = (struct recipe){.target = &m->target,
	    .fresh = true,
	    .collect = collect_module,
	    .arg = m};
	r->argv = mem_array(4, sizeof *r->argv);
	r->argv[0] = "/bin/sh";
	r->argv[1] = "-c";
	r->argv[2] = m->command;
	r->env = mem_array(3, sizeof *r->env);
	r->env[0] = mem_printf("VKB_SERVER=%s", server);
	r->env[1] = mem_printf("VKB_INCLUDE=%.*s/" SERVER_INCLUDE,
	    (int)(strrchr(server, '/') - server), server);
	flags_hash(r->key, texts);
	flags_hash(r->kind, alike);
}

void
module_describe(const struct module *m, struct json *subject)
{
	json_set_str(subject, "module_commit", m->target.commit.id);
	json_set_str(subject, "module_time", m->target.commit.time);
	json_set_str(subject, "module_tree", m->target.tree);
	json_set_bool(subject, "module_dirty", m->target.dirty);
	json_set_str(json_get(subject, "build"), "module", m->command);
}
