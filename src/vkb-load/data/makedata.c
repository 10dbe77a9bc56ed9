#include "makedata.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "intern.h"
#include "proc.h"
#include "recipes.h"
#include "sink.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 100
#define GRACE_MS 5000

struct making {
	const struct json *recipes;
	struct intern *made; /* path and recipes of each */
	const volatile int *stop;
	char *why;
};

/* Returns the wait status, or -1 if it was not started or *stop ended it. */
static int
run_gendata(struct making *m, const char *dir, const char *name, int fd)
{
	char *program = proc_beside("vkb-gendata");
	const char *const argv[] = {
	    program, "-o", dir, "--files", name, "-", NULL};
	struct proc_spec spec = {
	    .argv = argv, .in = fd, .group = true, .death_signal = 15};
	struct proc *p = proc_start(&spec);
	int status = -1;

	free(program);
	if (!p)
		return -1;
	while (!*m->stop && !proc_wait(p, LOOK_MS, &status))
		;
	if (*m->stop) {
		proc_stop(p, GRACE_MS);
		status = -1;
	}
	proc_free(p);
	return status;
}

static int
make_dataset(struct making *m, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	char *dir = slash ? mem_strn(path, len ? len : 1) : mem_str(".");
	char *recipes = json_print(m->recipes), how[80];
	int fd = sink_memory(recipes, strlen(recipes)), status = -1;

	free(recipes);
	if (fd >= 0) {
		status = run_gendata(m, dir, name, fd);
		close(fd);
	}
	if (status)
		m->why = mem_printf("its dataset '%s': vkb-gendata %s", path,
		    status < 0 ? "could not be run"
			       : proc_ended(status, how, sizeof how));
	free(dir);
	return status ? -1 : 0;
}

static bool
was_made(const struct intern *made, const char *key)
{
	for (size_t i = 0; i < intern_count(made); i++)
		if (strcmp(intern_text(made, i), key) == 0)
			return true;
	return false;
}

static int
make_once(struct making *m, const char *path, const char *name)
{
	char *recipes = json_print(m->recipes);
	char *key = mem_printf("%s\n%s", path, recipes);
	int rc = 0;

	if (!was_made(m->made, key)) {
		rc = make_dataset(m, path, name);
		if (rc == 0)
			intern_id(m->made, key);
	}
	free(key);
	free(recipes);
	return rc;
}

static int
check_dataset(void *arg, const char *path)
{
	struct making *m = arg;
	const char *name = recipes_name(m->recipes, path);

	if (name && make_once(m, path, name) < 0)
		return -1;
	if (access(path, R_OK) == 0)
		return 0;
	m->why = name
	    ? mem_printf(
		  "its dataset '%s' was not written by vkb-gendata", path)
	    : mem_printf("its dataset '%s' cannot be read (%s), and no recipe "
			 "makes it",
		  path, strerror(errno));
	return -1;
}

char *
makedata_run(
    const struct json *cas, struct intern *made, const volatile int *stop)
{
	struct making m = {
	    .recipes = json_get(cas, "data"), .made = made, .stop = stop};

	recipes_files(json_get(cas, "config"), check_dataset, &m);
	return m.why;
}
