#include "rebuild.h"
#include "json.h"
#include "record.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/* Adds an option with the text as its argument, unless that is NULL. */
static void
add_option(struct str *s, const char *option, const char *text)
{
	if (!text)
		return;
	str_printf(s, " %s ", option);
	str_word(s, text);
}

bool
rebuild_is_known(const struct json *subject)
{
	return !json_get(subject, "module_commit") ||
	    (!json_get(subject, "module_fixed") &&
		json_path(subject, "build.module"));
}

bool
rebuild_is_same(const struct json *a, const struct json *b)
{
	struct str x = {0}, y = {0};
	bool same;

	str_add(&x, "");
	str_add(&y, "");
	rebuild_add_options(&x, a);
	rebuild_add_options(&y, b);
	same = strcmp(x.s, y.s) == 0;
	str_free(&x);
	str_free(&y);
	return same;
}

/* Is it "https://host/x" or "git@host:x", not a folder? */
static bool
is_url(const char *repository)
{
	size_t n = strcspn(repository, "/:");

	return repository[n] == ':' && !str_starts(repository, "file:");
}

const char *
rebuild_only_here(const struct json *subject)
{
	const struct json *build = json_get(subject, "build");
	const char *repository = json_get_str(build, "server_repo");

	if (!json_get_str(build, "module"))
		return NULL;
	return json_get_str(build, "server")
	    ? "its server is a program of that machine"
	    : repository && !is_url(repository)
	    ? "the repository of its server is a folder of that machine"
	    : NULL;
}

/* Adds the option that makes vkb-build pass this variable to make. */
static void
add_variable(struct str *s, const char *variable)
{
	if (strcmp(variable, "BUILD_TLS=yes") == 0)
		str_add(s, " --tls");
	else if (str_starts(variable, "MALLOC="))
		add_option(s, "--allocator", strchr(variable, '=') + 1);
	else if (str_starts(variable, "SERVER_CFLAGS="))
		add_option(s, "--cflags", strchr(variable, '=') + 1);
	else
		add_option(s, "--make-arg", variable);
}

void
rebuild_add_options(struct str *s, const struct json *subject)
{
	const struct json *build = json_get(subject, "build");
	const char *program = json_get_str(build, "server");
	const char *commit = json_get_str(subject, "commit");
	char *brief;

	for (const struct json *j = json_first(json_get(build, "make")); j;
	     j = json_next(j))
		if (json_str(j))
			add_variable(s, json_str(j));
	if (!json_get_str(build, "module"))
		return;
	add_option(s, "--module-build", json_get_str(build, "module"));
	add_option(s, "--module-file", json_get_str(build, "module_file"));
	brief = commit ? record_commit_brief(commit, REBUILD_DIGITS) : NULL;
	add_option(s, "--server", program ? program : brief);
	add_option(s, "--server-repo", json_get_str(build, "server_repo"));
	free(brief);
}
