#include "specopts.h"
#include "config.h"
#include "err.h"
#include "json.h"
#include "jsonfile.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/* Warns of unknown keys, which are probably misspelt. */
static void
warn_unknown(const struct json *spec, const char *where)
{
	const struct record_type *t = record_types;
	const char *names[64] = {0}, *near;
	bool known;

	while (strcmp(t->name, "spec") != 0)
		t++;
	for (size_t i = 0; i < 63 && t->keys[i].path; i++)
		names[i] = t->keys[i].path;
	for (const struct json *j = json_first(spec); j; j = json_next(j)) {
		known = strcmp(json_key(j), "type") == 0 ||
		    strcmp(json_key(j), "v") == 0;
		for (size_t i = 0; names[i] && !known; i++)
			known = strcmp(names[i], json_key(j)) == 0;
		if (known)
			continue;
		near = str_nearest(json_key(j), names);
		err_say("%s: unknown key '%s' is ignored%s%s%s", where,
		    json_key(j), near ? ", did you mean '" : "",
		    near ? near : "", near ? "'?" : "");
	}
}

static int
add_config(struct json *spec, const char *text)
{
	const char *eq = strchr(text, '=');
	struct json *section = json_get(spec, "config"), *lines;
	bool words;
	char *name;

	if (!eq || eq == text)
		return err_fail(
		    "option '--config': '%s' is not NAME=VALUE", text);
	if (!section) {
		json_set(spec, "config", json_object());
		section = json_get(spec, "config");
	}
	name = mem_strn(text, (size_t)(eq - text));
	if (!config_has_lines(name, &words))
		json_set_str(section, name, eq + 1);
	else {
		lines = json_detach(section, name);
		if (!lines || json_type(lines) != JSON_ARRAY) {
			json_free(lines);
			lines = json_array();
		}
		json_push(lines, json_string(eq + 1));
		json_set(section, name, lines);
	}
	free(name);
	return 0;
}

static void
add_module(struct json *list, const char *text)
{
	char *all = mem_str(text), *rest = all, *word = strsep(&rest, " ");
	struct json *m = json_object(), *args = json_array();

	json_set_str(m, "path", word);
	while ((word = strsep(&rest, " ")))
		if (*word)
			json_push(args, json_string(word));
	json_set(m, "args", args);
	json_push(list, m);
	free(all);
}

/* Adds the options; they override the file. */
static int
add_options(struct json *spec, const struct specopts *o)
{
	struct json *list;

	json_set_str(spec, "server", o->server);
	json_set_str(spec, "host", o->host);
	json_set_str(spec, "config_file", o->config_file);
	json_set_str(spec, "rdb", o->rdb);
	if (o->port)
		json_set_num(spec, "port", (double)o->port);
	if (o->primaries)
		json_set_num(spec, "primaries", (double)o->primaries);
	if (o->replicas)
		json_set_num(spec, "replicas", (double)o->replicas);
	if (o->io_threads)
		json_set_num(spec, "io_threads", (double)o->io_threads);
	if (o->unixsocket)
		json_set_bool(spec, "unixsocket", true);
	if (o->tls)
		json_set_bool(spec, "tls", true);
	if (o->no_aslr)
		json_set_bool(spec, "aslr", false);
	list = o->cpus.n ? json_array() : NULL;
	for (size_t i = 0; i < o->cpus.n; i++)
		json_push(list, json_string(o->cpus.v[i]));
	json_set(spec, "cpus", list);
	list = o->module.n ? json_array() : NULL;
	for (size_t i = 0; i < o->module.n; i++)
		add_module(list, o->module.v[i]);
	json_set(spec, "modules", list);
	for (size_t i = 0; i < o->config.n; i++)
		if (add_config(spec, o->config.v[i]) < 0)
			return -1;
	return 0;
}

struct json *
specopts_make(const struct specopts *o, const char *file, bool quiet)
{
	struct json *spec = record_new("spec"), *j;
	const char *where = file ? file : "options";

	if (file) {
		j = jsonfile_read(file);
		if (!j)
			goto bad;
		if (json_type(j) != JSON_OBJECT) {
			err_say("%s: not an object",
			    strcmp(file, "-") == 0 ? "stdin" : file);
			json_free(j);
			goto bad;
		}
		if (!quiet)
			warn_unknown(j, where);
		for (struct json *k = json_first(j); k; k = json_next(k))
			json_set(spec, json_key(k), json_dup(k));
		json_free(j);
	}
	if (!json_get(spec, "id"))
		json_set_str(spec, "id", "server");
	/* 'config' must be an object before an option is added to it. */
	if (record_check(spec, where) < 0)
		goto bad;
	if (!record_is(spec, "spec")) {
		err_say("%s: not a 'spec' record", where);
		goto bad;
	}
	if (add_options(spec, o) == 0)
		return spec;
bad:
	json_free(spec);
	return NULL;
}
