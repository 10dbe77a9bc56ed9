#include "describe.h"
#include "fleet.h"
#include "node.h"
#include "spec.h"

#include "client.h"
#include "cpulist.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "redact.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALL_MS = 5000 };

/* The hash of a file, valid until the file changes. */
struct filehash {
	struct stat st;
	char hex[HASH_HEX];
};

static bool
is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	    a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Returns the SHA-256 of the file as hex, borrowed until the next call, or NULL
 * if it cannot be read. */
static const char *
get_file_hash(struct shared *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *hex = NULL;
	struct filehash k;
	size_t i = 0;

	if (fd < 0 || fstat(fd, &k.st) < 0)
		goto out;
	while (i < s->nhashes && !is_same_file(&s->hashes[i].st, &k.st))
		i++;
	if (i == s->nhashes) {
		if (hash_fd(HASH_SHA256, fd, k.hex) < 0)
			goto out;
		s->hashes = mem_grow(
		    s->hashes, s->nhashes, &s->hashcap, sizeof *s->hashes);
		s->hashes[s->nhashes++] = k;
	}
	hex = s->hashes[i].hex;
out:
	if (fd >= 0)
		close(fd);
	return hex;
}

static struct json *
describe_file(const struct describe *d, const char *name, const char *path)
{
	struct json *j = json_object();

	json_set_str(j, "path", name);
	json_set_str(j, "sha256", get_file_hash(d->shared, path));
	return j;
}

/* The program that runs, and the script that started it, if it is another file:
 * its options may make another server of the same program. */
static struct json *
describe_binary(const struct describe *d)
{
	struct json *j;
	char path[64];
	const char *sha, *own;

	if (d->spec->count) /* the process is that of valgrind */
		return describe_file(d, d->spec->server, d->spec->server);
	snprintf(path, sizeof path, "/proc/%ld/exe", d->node[0].pid);
	j = describe_file(d, d->spec->server, path);
	sha = get_file_hash(d->shared, d->spec->server);
	own = json_get_str(j, "sha256");
	if (sha && own && strcmp(sha, own) != 0)
		json_set_str(j, "script_sha256", sha);
	return j;
}

static struct json *
describe_modules(const struct describe *d)
{
	const struct json *m = json_first(json_get(d->spec->json, "modules"));
	struct json *list = json_array();
	const char *path;

	for (; m; m = json_next(m)) {
		path = json_get_str(m, "path");
		json_push(list, describe_file(d, path, path));
	}
	return list;
}

/* Sets the key to the field of INFO if the server has it. */
static void
set_from_info(struct json *rec, const char *key, const struct reply *info,
    const char *field)
{
	char *s = reply_info(info, field);

	json_set_str(rec, key, s);
	free(s);
}

static struct json *
describe_nodes(const struct describe *d)
{
	struct json *list = json_array(), *j;
	const struct node *n;
	char *cpus;

	for (size_t i = 0; i < d->n; i++) {
		n = &d->node[i];
		j = json_object();
		json_set_str(j, "host", spec_connect_host(d->spec));
		json_set_num(j, "port", n->port);
		json_set_num(j, "pid", (double)n->pid);
		set_from_info(j, "run_id", n->info, "run_id");
		json_set_str(j, "role",
		    i < (size_t)d->spec->primaries ? "primary" : "replica");
		json_set_str(j, "log", n->log);
		json_set_str(j, "unixsocket", n->socket);
		if (d->spec->cpus) {
			cpus = cpulist_text(&d->spec->cpus[i]);
			json_set_str(j, "cpus", cpus);
			free(cpus);
		}
		json_push(list, j);
	}
	return list;
}

static struct json *
describe_tls(const struct describe *d)
{
	static const char *const names[][2] = {{"cacert", "ca.crt"},
	    {"cert", "client.crt"}, {"key", "client.key"}};
	struct json *j = json_object();
	char *path;

	for (size_t i = 0; i < 3; i++) {
		path = mem_printf("%s/%s", d->tlsdir, names[i][1]);
		json_set_str(j, names[i][0], path);
		free(path);
	}
	json_set_str(j, "servername", "localhost");
	return j;
}

/* Adds a setting as the server reports it, unless it is a secret. */
static int
add_effective_setting(const struct describe *d, struct json *out,
    const char *name, struct str *why)
{
	struct client *c = d->node[0].client;
	const char *value;
	struct reply *r;

	if (redact_is_secret(name) || json_get(out, name))
		return 0;
	r = CLIENT_CALL(c, CALL_MS, "CONFIG", "GET", name);
	if (!r)
		return str_fail(
		    why, "CONFIG GET %s: %s", name, client_error(c));
	value = reply_len(r) == 2 ? reply_text(reply_at(r, 1)) : NULL;
	if (value && str_utf8(value, strlen(value)))
		json_set_str(out, name, value);
	reply_free(r);
	return 0;
}

static struct json *
describe_config(const struct describe *d, struct str *why)
{
	static const char *const always[] = {
	    "io-threads", "maxmemory-policy", "appendonly", "save"};
	static const char *const sections[] = {"config", "config_set"};
	struct json *out = json_object();
	const char *threads;

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		if (add_effective_setting(d, out, always[i], why) < 0)
			goto bad;
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		for (const struct json *j =
			 json_first(json_get(d->spec->json, sections[i]));
		     j; j = json_next(j))
			if (add_effective_setting(d, out, json_key(j), why) < 0)
				goto bad;
	threads = json_get_str(out, "io-threads");
	if (d->spec->io_threads && threads &&
	    atoi(threads) != d->spec->io_threads) {
		str_printf(why, "io-threads is %s, but %d was requested",
		    threads, d->spec->io_threads);
		goto bad;
	}
	return out;
bad:
	json_free(out);
	return NULL;
}

static struct json *
describe_count(const struct describe *d)
{
	struct json *j = json_object();

	json_set_str(j, "control", d->node[0].control);
	json_set_str(j, "dumps", d->node[0].dumps);
	return j;
}

struct json *
describe_server(const struct describe *d, struct str *why)
{
	struct json *rec = record_new("server"), *settings;
	const struct reply *info = d->node[0].info;
	const char *sha;

	json_set_str(rec, "id", d->spec->id);
	json_set_str(rec, "status", "ok");
	json_set(rec, "binary", describe_binary(d));
	if (json_len(json_get(d->spec->json, "modules")))
		json_set(rec, "modules", describe_modules(d));
	set_from_info(rec, "version", info, "redis_version");
	set_from_info(rec, "version", info, "valkey_version");
	set_from_info(rec, "git_sha", info, "redis_git_sha1");
	sha = json_get_str(rec, "git_sha");
	if (sha && !sha[strspn(sha, "0")])
		json_del(rec, "git_sha");
	set_from_info(rec, "build_id", info, "redis_build_id");
	json_set_bool(rec, "cluster", d->spec->cluster);
	json_set(rec, "nodes", describe_nodes(d));
	if (d->spec->tls)
		json_set(rec, "tls", describe_tls(d));
	if (d->spec->count)
		json_set(rec, "count", describe_count(d));
	json_set_num(rec, "ready_ms", d->ready_ms);
	settings = describe_config(d, why);
	if (!settings) {
		json_free(rec);
		return NULL;
	}
	json_set(rec, "config", settings);
	json_set_str(rec, "dir", d->dir);
	return rec;
}
