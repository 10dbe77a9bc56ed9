#include "spec.h"

#include "config.h"
#include "cpulist.h"
#include "json.h"
#include "mem.h"
#include "placement.h"
#include "proc.h"
#include "redact.h"
#include "str.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Reads an integer in min..max; leaves *v if the key is absent. */
static int
read_integer(const struct spec *s, const char *key, int min, int max, int *v,
    struct str *why)
{
	const struct json *j = json_get(s->json, key);
	double d = json_num(j, NAN);

	if (!j)
		return 0;
	if (!(d >= min && d <= max) || d != floor(d))
		return str_fail(
		    why, "'%s' is not an integer from %d to %d", key, min, max);
	*v = (int)d;
	return 0;
}

char *
spec_print_value(const struct json *j)
{
	switch (json_type(j)) {
	case JSON_STRING:
		return mem_str(json_str(j));
	case JSON_NUMBER:
		return json_print(j);
	case JSON_BOOL:
		return mem_str(json_bool(j, false) ? "yes" : "no");
	default:
		return NULL;
	}
}

/* Is it a value, or lines if the setting has those? */
static bool
is_setting(const struct json *j)
{
	bool words, lines = config_has_lines(json_key(j), &words);
	const struct json *line;

	if (json_type(j) == JSON_NUMBER)
		return !words;
	if (json_type(j) != JSON_ARRAY)
		return json_str(j) && !(words && strpbrk(json_str(j), "\r\n"));
	for (line = json_first(j); line; line = json_next(line))
		if (!json_str(line) || strpbrk(json_str(line), "\r\n"))
			return false;
	return lines;
}

static int
check_setting(const struct spec *s, const char *section, const struct json *j,
    struct str *why)
{
	const char *name = json_key(j);
	const struct own_setting *own = config_find_own(name);
	char *value;
	bool words;

	if (!config_is_setting(name))
		return str_fail(
		    why, "'%s': invalid setting name '%s'", section, name);
	if (strcmp(section, "config_set") == 0 && redact_is_secret(name))
		return str_fail(why, "'%s.%s' is a secret: move it to 'config'",
		    section, name);
	if (!is_setting(j))
		return str_fail(why,
		    "'%s.%s' is neither a string nor a number%s", section, name,
		    config_has_lines(name, &words)
			? ", nor a list of strings without line breaks"
			: "");
	if (!own || (own->needs_key && !json_get(s->json, own->key)))
		return 0;
	value = spec_print_value(j);
	str_printf(
	    why, "'%s.%s': '%s' is not possible, since ", section, name, value);
	free(value);
	return own->key
	    ? str_fail(why, "the key '%s' of the spec sets it", own->key)
	    : str_fail(why, "vkb-serve sets it");
}

static int
check_settings(struct spec *s, const char *section, struct str *why)
{
	const struct json *j = json_first(json_get(s->json, section));

	for (; j; j = json_next(j))
		if (check_setting(s, section, j, why) < 0)
			return -1;
	return 0;
}

/* Makes the path absolute, because the server runs in another folder. */
static int
resolve_file(const char *what, const char *path, char **out, struct str *why)
{
	*out = path ? realpath(path, NULL) : NULL;
	if (path && (!*out || access(*out, R_OK) < 0))
		return str_fail(why, "cannot read %s '%s': %s", what, path,
		    strerror(errno));
	return 0;
}

static int
check_modules(struct spec *s, struct str *why)
{
	struct json *m = json_first(json_get(s->json, "modules"));
	const struct json *args;
	char *path;

	for (; m; m = json_next(m)) {
		if (!json_get_str(m, "path"))
			return str_fail(why, "a module lacks 'path'");
		if (resolve_file(
			"module", json_get_str(m, "path"), &path, why) < 0) {
			free(path);
			return -1;
		}
		json_set_str(m, "path", path);
		free(path);
		args = json_get(m, "args");
		if (args && json_type(args) != JSON_ARRAY)
			return str_fail(
			    why, "'args' of a module is not an array");
		for (args = json_first(args); args; args = json_next(args))
			if (!json_str(args))
				return str_fail(
				    why, "'args' of a module: not a string");
	}
	return 0;
}

static int
check_cpus(struct spec *s, struct str *why)
{
	const struct json *list = json_get(s->json, "cpus"), *j;
	const char *how = json_get_str(s->json, "placement"), *text;
	size_t i = 0;

	if (how && strcmp(how, "auto") != 0 && strcmp(how, "none") != 0)
		return str_fail(
		    why, "'placement': '%s' is neither auto nor none", how);
	if (!list) {
		s->cpus = placement_servers(s->json);
		return 0;
	}
	if (json_len(list) != s->nodes)
		return str_fail(why, "'cpus' has %zu lists for %zu nodes",
		    json_len(list), s->nodes);
	s->cpus = mem_array(s->nodes, sizeof *s->cpus);
	for (j = json_first(list); j; j = json_next(j)) {
		if (!json_str(j))
			return str_fail(why, "'cpus': not a string");
		if (cpulist_parse(json_str(j), &s->cpus[i++], &text) < 0)
			return str_fail(
			    why, "'cpus': '%s': %s", json_str(j), text);
	}
	return 0;
}

static int
find_server(struct spec *s, struct str *why)
{
	const char *name = json_get_str(s->json, "server");
	char *path, *cwd;

	if (!name)
		name = "valkey-server";
	path = proc_find(name, getenv("PATH"));
	if (!path)
		return str_fail(why, "cannot run server '%s': %s%s", name,
		    strerror(errno),
		    errno == ENOENT && !strchr(name, '/') ? " in PATH" : "");
	s->server = path;
	if (*path == '/')
		return 0;
	cwd = getcwd(NULL, 0);
	s->server = mem_printf("%s/%s", cwd ? cwd : ".", path);
	free(cwd);
	free(path);
	return 0;
}

static int
check_host(struct spec *s, struct str *why)
{
	s->host = json_get_str(s->json, "host");
	if (!s->host)
		s->host = "127.0.0.1";
	if (!*s->host || s->host[strspn(s->host, LETTERS ".:_*-%")])
		return str_fail(why, "'host': invalid address '%s'", s->host);
	return 0;
}

/* What is counted must be the same each time, so not all can be counted. */
static int
read_count(struct spec *s, struct str *why)
{
	double seed = json_get_num(s->json, "count", -1);
	const struct json *const sections[] = {
	    json_get(s->json, "config"), json_get(s->json, "config_set")};

	s->count = json_get(s->json, "count") != NULL;
	s->caches = json_get_bool(s->json, "count_caches", false);
	if (!s->count && s->caches)
		return str_fail(why, "'count_caches' needs 'count'");
	if (!s->count)
		return 0;
	if (s->caches) /* addresses choose the lines of a cache */
		s->aslr = false;
	if (!(seed >= 0 && seed <= UINT32_MAX) || seed != floor(seed))
		return str_fail(why, "'count' is not a 32-bit integer");
	s->seed = (long long)seed;
	if (s->cluster || s->tls)
		return str_fail(why, "'count' cannot be combined with '%s'",
		    s->cluster ? "primaries" : "tls");
	for (size_t i = 0; i < 2; i++)
		if (json_get(sections[i], "jemalloc-bg-thread"))
			return str_fail(
			    why, "'count' sets 'jemalloc-bg-thread' itself");
	if (proc_is_script(s->server))
		return str_fail(why,
		    "'count' needs the server program itself, '%s' is a "
		    "script: name the program that it starts",
		    s->server);
	s->still = proc_library("vkb-still.so");
	if (!s->still)
		return str_fail(why,
		    "cannot find 'vkb-still.so' in '../lib/vkb' beside "
		    "vkb-serve: %s",
		    strerror(errno));
	return 0;
}

static int
read_members(struct spec *s, struct str *why)
{
	const struct json *j = s->json;
	int last;

	s->id = json_get_str(j, "id");
	if (!*s->id)
		return str_fail(why, "'id' is empty");
	s->tls = json_get_bool(j, "tls", false);
	s->unixsocket = json_get_bool(j, "unixsocket", false);
	s->aslr = json_get_bool(j, "aslr", true);
	s->cluster = json_get(j, "primaries") != NULL;
	s->primaries = 1;
	if (read_integer(s, "port", 0, 65535, &s->port, why) < 0 ||
	    read_integer(s, "primaries", 1, 1000, &s->primaries, why) < 0 ||
	    read_integer(s, "replicas", 0, 100, &s->replicas, why) < 0 ||
	    read_integer(s, "io_threads", 1, 1024, &s->io_threads, why) < 0 ||
	    check_host(s, why) < 0)
		return -1;
	if (s->replicas && !s->cluster)
		return str_fail(why, "'replicas' needs 'primaries'");
	s->nodes = (size_t)s->primaries * (size_t)(1 + s->replicas);
	last = s->port + (int)s->nodes - 1;
	if (s->port && last > (s->cluster ? 55535 : 65535))
		return str_fail(why, "'port': %d is too high%s", s->port,
		    s->cluster ? ", the cluster bus needs port + 10000" : "");
	if (json_get(j, "rdb") && s->cluster)
		return str_fail(why, "'rdb' is for one server, not a cluster");
	if (config_resolve_secrets(json_get(s->json, "config"), why) < 0)
		return -1;
	s->password = json_str(json_path(j, "config.requirepass"));
	if (s->password && !*s->password)
		s->password = NULL;
	if (check_settings(s, "config", why) < 0 ||
	    check_settings(s, "config_set", why) < 0 ||
	    check_modules(s, why) < 0 || check_cpus(s, why) < 0 ||
	    resolve_file("config_file", json_get_str(j, "config_file"),
		&s->config_file, why) < 0 ||
	    resolve_file("rdb", json_get_str(j, "rdb"), &s->rdb, why) < 0 ||
	    find_server(s, why) < 0)
		return -1;
	return read_count(s, why);
}

int
spec_read(struct spec *s, struct json *json, struct str *why)
{
	*s = (struct spec){.json = json};
	if (read_members(s, why) == 0)
		return 0;
	spec_free(s);
	return -1;
}

void
spec_free(struct spec *s)
{
	json_free(s->json);
	free(s->server);
	free(s->config_file);
	free(s->rdb);
	free(s->cpus);
	free(s->still);
	*s = (struct spec){0};
}

/* Does the text begin with the value of a secret? Returns its length, or 0. */
static size_t
measure_value(const struct spec *s, const char *text)
{
	const struct json *j = json_first(json_get(s->json, "config"));
	const char *value;

	for (; j; j = json_next(j)) {
		value = json_str(j);
		if (value && *value && redact_is_secret(json_key(j)) &&
		    str_starts(text, value))
			return strlen(value);
	}
	return 0;
}

void
spec_redact(const struct spec *s, struct str *out, const char *text)
{
	struct str known = {0};
	size_t n;

	str_add(&known, "");
	for (; *text; text += n ? n : 1) {
		n = measure_value(s, text);
		if (n)
			str_add(&known, REDACT_STARS);
		else
			str_addc(&known, *text);
	}
	redact_add(out, known.s, known.len);
	str_free(&known);
}

const char *
spec_connect_host(const struct spec *s)
{
	if (strcmp(s->host, "*") == 0 || strcmp(s->host, "0.0.0.0") == 0)
		return "127.0.0.1";
	if (strcmp(s->host, "::") == 0 || strcmp(s->host, "::*") == 0)
		return "::1";
	return s->host;
}

static void
append_quoted(struct str *c, const char *s)
{
	str_add(c, " \"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			str_printf(c, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			str_printf(c, "\\x%02x", (unsigned char)*s);
		else
			str_addc(c, *s);
	}
	str_addc(c, '"');
}

static void
append_setting(struct str *c, const char *name, const char *value)
{
	str_add(c, name);
	append_quoted(c, value);
	str_addc(c, '\n');
}

/* Appends the lines of a setting of the spec. */
static void
append_lines(struct str *c, const struct json *setting)
{
	bool list = json_type(setting) == JSON_ARRAY, words;
	const struct json *line = list ? json_first(setting) : setting;
	char *value;

	config_has_lines(json_key(setting), &words);
	for (; line; line = list ? json_next(line) : NULL) {
		value = spec_print_value(line);
		if (words)
			str_printf(c, "%s %s\n", json_key(setting), value);
		else
			append_setting(c, json_key(setting), value);
		free(value);
	}
}

/* Quotes the path, because folder names can contain any character. */
static void
append_path_setting(
    struct str *c, const char *name, const char *dir, const char *file)
{
	char *all = mem_printf("%s/%s", dir, file);

	append_setting(c, name, all);
	free(all);
}

static void
append_tls_settings(struct str *c, int port, const char *dir, bool cluster)
{
	str_printf(c, "port 0\ntls-port %d\n", port);
	append_path_setting(c, "tls-cert-file", dir, "server.crt");
	append_path_setting(c, "tls-key-file", dir, "server.key");
	append_path_setting(c, "tls-ca-cert-file", dir, "ca.crt");
	if (cluster)
		str_add(c, "tls-replication yes\ntls-cluster yes\n");
}

void
spec_print_configuration(const struct spec *s, struct str *c, int port,
    const char *dir, const char *tlsdir)
{
	const struct json *m, *j;

	if (s->config_file)
		append_setting(c, "include", s->config_file);
	/* SIGTERM neither saves nor waits for replicas. */
	str_add(c,
	    "save \"\"\nappendonly no\nmaxmemory-policy allkeys-lru\n"
	    "protected-mode no\nshutdown-on-sigterm nosave now\n"
	    "daemonize no\nsupervised no\nlogfile \"\"\n");
	append_setting(c, "dir", dir);
	append_setting(c, "bind", s->host);
	if (s->tls)
		append_tls_settings(c, port, tlsdir, s->cluster);
	else
		str_printf(c, "port %d\n", port);
	if (s->unixsocket) {
		append_path_setting(c, "unixsocket", dir, "sock");
		str_add(c, "unixsocketperm 700\n");
	}
	if (s->io_threads)
		str_printf(c, "io-threads %d\n", s->io_threads);
	if (s->cluster) {
		str_add(c,
		    "cluster-enabled yes\ncluster-config-file nodes.conf\n"
		    "repl-diskless-sync-delay 0\n");
		if (s->password)
			append_setting(c, "masterauth", s->password);
	}
	if (s->rdb)
		str_add(c, "dbfilename dump.rdb\n");
	if (s->count) /* its thread would wake up by a clock that is not fixed
		       */
		str_add(c, "jemalloc-bg-thread no\n");
	for (m = json_first(json_get(s->json, "modules")); m;
	     m = json_next(m)) {
		str_add(c, "loadmodule");
		append_quoted(c, json_get_str(m, "path"));
		for (j = json_first(json_get(m, "args")); j; j = json_next(j))
			append_quoted(c, json_str(j));
		str_addc(c, '\n');
	}
	for (j = json_first(json_get(s->json, "config")); j; j = json_next(j))
		append_lines(c, j);
}
