#include "axes.h"
#include "config.h"
#include "json.h"
#include "mem.h"
#include "plan.h"
#include "str.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Element i of a list, or the value itself for i = 0; NULL at the end. */
static const struct json *
list_item(const struct json *v, size_t i)
{
	if (v && json_type(v) == JSON_ARRAY)
		return json_at(v, i);
	return i ? NULL : v;
}

static void
expand_io_threads(struct plan *p, struct plan_axes *x,
    void (*fn)(struct plan *, const struct plan_axes *))
{
	const struct json *io = json_get(x->cfg, "io-threads"), *v;

	x->io_threads = 0;
	if (!io)
		fn(p, x);
	for (size_t i = 0; !p->full && (v = list_item(io, i)); i++) {
		x->io_threads = json_num(v, 0);
		fn(p, x);
	}
}

static void
expand_config_sets(struct plan *p, struct plan_axes *x,
    void (*fn)(struct plan *, const struct plan_axes *))
{
	const struct json *sets = json_get(x->cfg, "config_sets"), *v;

	x->set = NULL;
	if (!sets || p->want->skip_config_set) {
		expand_io_threads(p, x, fn);
		return;
	}
	for (size_t i = 0; !p->full && (v = json_at(sets, i)); i++) {
		x->set = json_len(v) ? v : NULL;
		expand_io_threads(p, x, fn);
	}
}

static void
expand_profiling_sets(struct plan *p, struct plan_axes *x,
    void (*fn)(struct plan *, const struct plan_axes *))
{
	const struct json *sets = json_get(x->cfg, "profiling_sets"), *v;

	x->profiling = NULL;
	if (!sets || p->want->skip_profiling) {
		expand_config_sets(p, x, fn);
		return;
	}
	for (size_t i = 0; !p->full && (v = json_at(sets, i)); i++) {
		x->profiling = json_get_bool(v, "enabled", false) ? v : NULL;
		expand_config_sets(p, x, fn);
	}
}

void
axes_each(struct plan *p, const struct json *cfg,
    void (*fn)(struct plan *, const struct plan_axes *))
{
	struct json *no = json_boolean(false), *forced = NULL;
	const struct json *cluster = json_get(cfg, "cluster_mode"), *c, *t;
	const struct json *tls = json_get(cfg, "tls_mode");
	struct plan_axes x = {.cfg = cfg};

	if (p->want->cluster_mode)
		cluster = forced =
		    json_boolean(strcmp(p->want->cluster_mode, "true") == 0);
	if (!cluster)
		cluster = no;
	if (!tls)
		tls = no;
	for (size_t i = 0; !p->full && (c = list_item(cluster, i)); i++)
		for (size_t k = 0; !p->full && (t = list_item(tls, k)); k++) {
			x.cluster = json_bool(c, false);
			x.tls = json_bool(t, false);
			expand_profiling_sets(p, &x, fn);
		}
	json_free(no);
	json_free(forced);
}

static size_t
count_nodes(const struct plan_axes *x)
{
	if (!x->cluster)
		return 1;
	return (size_t)(json_get_num(x->cfg, "cluster_nodes", 1) *
	    (1 + json_get_num(x->cfg, "cluster_replicas", 0)));
}

/* An identity has only the file name of a module: paths differ by machine. */
static struct json *
list_modules(const struct json *list, bool identity)
{
	struct json *out, *m, *args;
	const char *path, *slash;
	char full[PATH_MAX];

	if (!json_len(list))
		return NULL;
	out = json_array();
	for (const struct json *v = json_first(list); v; v = json_next(v)) {
		path = json_get_str(v, "path");
		path = path ? path : "";
		slash = strrchr(path, '/');
		m = json_object();
		if (identity)
			json_set_str(m, "path", slash ? slash + 1 : path);
		else
			json_set_str(
			    m, "path", realpath(path, full) ? full : path);
		args = json_get(v, "startup_args");
		json_set(m, "args", args ? json_dup(args) : json_array());
		json_push(out, m);
	}
	return out;
}

/* Copies a member. Skips an empty one: it means the same as an absent one. */
static void
copy_nonempty(struct json *to, const char *name, const struct json *v)
{
	bool none = v &&
	    (json_type(v) == JSON_OBJECT || json_type(v) == JSON_ARRAY) &&
	    !json_len(v);

	if (v && !none)
		json_set(to, name, json_dup(v));
}

void
axes_hide(struct json *config)
{
	struct json *own = json_get(config, "server_config"), *next;
	char *name;

	for (struct json *m = json_first(own); m; m = next) {
		next = json_next(m);
		if (!config_secret(json_key(m)))
			continue;
		name = mem_str(json_key(m));
		json_set_str(own, name, "***");
		free(name);
	}
}

static double
get_io_threads(const struct plan_axes *x)
{
	const struct json *own = json_path(x->cfg, "custom-server-configs");
	const struct json *v = json_get(own, "io-threads");

	if (x->io_threads > 0)
		return x->io_threads;
	if (json_str(v))
		return atof(json_str(v));
	if (v)
		return json_num(v, 1);
	/* 0: unknown, the configuration file may set it */
	return json_get(x->cfg, "custom-server-config-file") ? 0 : 1;
}

void
axes_config(const struct plan_axes *x, struct json *c)
{
	const struct json *cfg = x->cfg;
	const char *latency = json_get_str(cfg, "latency"), *rdb;

	json_set_bool(c, "cluster_mode", x->cluster);
	json_set_bool(c, "tls_mode", x->tls);
	if (get_io_threads(x) > 0)
		json_set_num(c, "io_threads", get_io_threads(x));
	json_set_num(
	    c, "benchmark_threads", json_get_num(cfg, "benchmark-threads", 1));
	json_set_str(c, "engine", "native");
	if (x->cluster) {
		json_set_num(
		    c, "cluster_nodes", json_get_num(cfg, "cluster_nodes", 1));
		if (json_get_num(cfg, "cluster_replicas", 0) > 0)
			copy_nonempty(c, "cluster_replicas",
			    json_get(cfg, "cluster_replicas"));
	}
	copy_nonempty(c, "config_set", x->set);
	copy_nonempty(
	    c, "server_config", json_get(cfg, "custom-server-configs"));
	axes_hide(c);
	copy_nonempty(c, "server_config_file",
	    json_get(cfg, "custom-server-config-file"));
	json_set(c, "modules", list_modules(json_get(cfg, "modules"), true));
	rdb = json_get_str(cfg, "rdb");
	if (rdb)
		json_set_str(
		    c, "rdb", strrchr(rdb, '/') ? strrchr(rdb, '/') + 1 : rdb);
	if (json_get(c, "rate"))
		json_set_str(c, "arrivals",
		    json_get_str(cfg, "arrivals")
			? json_get_str(cfg, "arrivals")
			: "constant");
	if (json_get_bool(cfg, "sequential", false))
		json_set_bool(c, "sequential", true);
	if (json_get_bool(cfg, "unixsocket", false))
		json_set_bool(c, "unixsocket", true);
	if (json_get_bool(cfg, "resp3", false))
		json_set_bool(c, "resp3", true);
	json_set_str(c, "latency", latency);
	copy_nonempty(c, "profiling", x->profiling);
}

static void
push_cpu_range(struct json *list, size_t first, size_t n)
{
	char *s = mem_printf("%zu-%zu", first, first + n - 1);

	json_push(list, json_string(s));
	free(s);
}

/* Returns one CPU list per node, or NULL if none are given or too few. */
static struct json *
list_server_cpus(struct plan *p, const struct plan_axes *x)
{
	const struct json *alloc = json_get(x->cfg, "cpu_allocation");
	const struct json *range = json_get(x->cfg, "server_cpu_range");
	const struct json *each = json_get(alloc, "servers"), *v = NULL;
	size_t n = count_nodes(x), cores;
	struct json *out;

	if (!alloc && !range && x->cluster)
		each = json_get(x->cfg, "cluster_cpu_ranges");
	if (!alloc && !range && !each)
		return NULL;
	cores = (size_t)json_get_num(alloc, "cores_per_server", 1);
	if (each && json_len(each) < n) {
		plan_problem(p,
		    "CPUs are given for %zu nodes, but there are %zu",
		    json_len(each), n);
		return NULL;
	}
	out = json_array();
	v = json_first(each);
	for (size_t i = 0; i < n; i++) {
		if (each) {
			json_push(out, json_dup(v));
			v = json_next(v);
		} else if (range)
			json_push(out, json_dup(range));
		else
			push_cpu_range(out, i * cores, cores);
	}
	return out;
}

static const char *
resolve_path(const char *path, char full[PATH_MAX])
{
	return realpath(path, full) ? full : path;
}

struct json *
axes_server(struct plan *p, const struct plan_axes *x)
{
	const struct json *cfg = x->cfg;
	const char *file = json_get_str(cfg, "custom-server-config-file");
	const char *rdb = json_get_str(cfg, "rdb");
	struct json *s = json_object();
	char full[PATH_MAX];

	if (json_get(cfg, "bind_ip"))
		copy_nonempty(s, "host", json_get(cfg, "bind_ip"));
	if (!x->cluster)
		copy_nonempty(s, "port", json_get(cfg, "port"));
	else
		copy_nonempty(
		    s, "port", json_first(json_get(cfg, "cluster_ports")));
	if (json_get_bool(cfg, "unixsocket", false))
		json_set_bool(s, "unixsocket", true);
	if (x->tls)
		json_set_bool(s, "tls", true);
	if (x->cluster) {
		json_set_num(
		    s, "primaries", json_get_num(cfg, "cluster_nodes", 1));
		if (json_get_num(cfg, "cluster_replicas", 0) > 0)
			copy_nonempty(
			    s, "replicas", json_get(cfg, "cluster_replicas"));
	}
	if (x->io_threads > 0)
		json_set_num(s, "io_threads", x->io_threads);
	json_set(s, "modules", list_modules(json_get(cfg, "modules"), false));
	copy_nonempty(s, "config", json_get(cfg, "custom-server-configs"));
	if (file)
		json_set_str(s, "config_file", resolve_path(file, full));
	copy_nonempty(s, "config_set", x->set);
	json_set(s, "cpus", list_server_cpus(p, x));
	if (rdb)
		json_set_str(s, "rdb", resolve_path(rdb, full));
	if (json_get(cfg, "aslr") && !json_get_bool(cfg, "aslr", true))
		json_set_bool(s, "aslr", false);
	return s;
}

/* Returns the CPU lists of clients that work in parallel. */
static struct json *
list_client_cpus(const struct plan_axes *x)
{
	const struct json *alloc = json_get(x->cfg, "cpu_allocation");
	const struct json *each = json_get(alloc, "clients");
	size_t first =
	    count_nodes(x) * (size_t)json_get_num(alloc, "cores_per_server", 1);
	size_t cores = (size_t)json_get_num(alloc, "cores_per_client", 1);
	struct json *list;

	if (each)
		return json_dup(each);
	list = json_array();
	for (size_t i = 0; i < count_nodes(x); i++)
		push_cpu_range(list, first + i * cores, cores);
	return list;
}

struct json *
axes_client(const struct plan_axes *x)
{
	const struct json *alloc = json_get(x->cfg, "cpu_allocation"), *seed;
	struct json *c = json_object(), *each;

	if (alloc) {
		each = list_client_cpus(x);
		copy_nonempty(c, "cpus", json_first(each));
		if (json_get(x->cfg, "test_groups") && json_len(each) > 1)
			json_set(c, "each", each);
		else
			json_free(each);
	} else
		copy_nonempty(c, "cpus", json_get(x->cfg, "client_cpu_range"));
	seed = json_get(x->cfg, "seed");
	if (seed && json_type(seed) == JSON_NUMBER)
		copy_nonempty(c, "seed", seed);
	copy_nonempty(c, "timeout_s", json_get(x->cfg, "timeout"));
	copy_nonempty(c, "max_lost", json_get(x->cfg, "max_lost"));
	return c;
}
