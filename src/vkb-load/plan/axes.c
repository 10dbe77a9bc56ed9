#include "axes.h"
#include "config.h"
#include "json.h"
#include "mem.h"
#include "plan.h"
#include "redact.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The first axes, by their number in config.h; those behind them are for
 * commands. */
enum { CLUSTER = 1, TLS, PROFILING, CONFIG_SET, IO_THREADS };

static void
set_axes(struct plan_axes *x, const struct plan_want *w)
{
	const struct json *const *v = x->values;

	x->cluster = w->cluster_mode ? strcmp(w->cluster_mode, "true") == 0
				     : json_bool(v[CLUSTER], false);
	x->tls = json_bool(v[TLS], false);
	x->profiling =
	    json_get_bool(v[PROFILING], "enabled", false) ? v[PROFILING] : NULL;
	x->set = json_len(v[CONFIG_SET]) ? v[CONFIG_SET] : NULL;
	x->io_threads = json_num(v[IO_THREADS], 0);
}

/* Sets list i and those behind it, up to n, to each of their values. */
static void
expand_list(struct plan *p, struct plan_axes *x, size_t i, size_t n,
    void (*fn)(struct plan *, const struct plan_axes *))
{
	const struct plan_want *w = p->want;
	bool unwanted = (i == CLUSTER && w->cluster_mode) ||
	    (i == PROFILING && w->skip_profiling) ||
	    (i == CONFIG_SET && w->skip_config_set);
	const struct json *v;
	bool list;

	if (i == n) {
		set_axes(x, w);
		fn(p, x);
		return;
	}
	v = unwanted ? NULL : json_get(x->cfg, x->keys[i]->name);
	list = v && json_type(v) == JSON_ARRAY;
	if (list)
		v = json_first(v);
	do {
		x->values[i] = v;
		expand_list(p, x, i + 1, n, fn);
	} while (list && !p->full && (v = json_next(v)));
}

void
axes_each(struct plan *p, const struct json *cfg,
    void (*fn)(struct plan *, const struct plan_axes *))
{
	struct plan_axes x = {.cfg = cfg};

	for (const struct config_key *k = config_keys; k->name; k++)
		x.keys[k->axis] = k;
	expand_list(p, &x, CLUSTER,
	    json_get(cfg, "test_groups") ? CONFIG_AXIS_COMMANDS : PLAN_AXES,
	    fn);
}

static size_t
count_nodes(const struct plan_axes *x)
{
	if (!x->cluster)
		return 1;
	return (size_t)(json_get_num(x->cfg, "cluster_nodes", 1) *
	    (1 + json_get_num(x->cfg, "cluster_replicas", 0)));
}

static const char *
resolve_path(const char *path, char full[PATH_MAX])
{
	return realpath(path, full) ? full : path;
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
		if (identity && slash)
			path = slash + 1;
		json_set_str(
		    m, "path", identity ? path : resolve_path(path, full));
		args = json_get(v, "startup_args");
		json_set(m, "args", args ? json_dup(args) : json_array());
		json_push(out, m);
	}
	return out;
}

static void
set_replicas(struct json *to, const char *name, const struct json *cfg)
{
	double n = json_get_num(cfg, "cluster_replicas", 0);

	if (n > 0)
		json_set_num(to, name, n);
}

void
axes_hide_secrets(struct json *config)
{
	struct json *own = json_get(config, "server_config"), *next;
	char *name;

	for (struct json *m = json_first(own); m; m = next) {
		next = json_next(m);
		/* The rules of a user say more than the secret. */
		if (!redact_is_secret(json_key(m)) ||
		    strcasecmp(json_key(m), "user") == 0)
			continue;
		name = mem_str(json_key(m));
		json_set_str(own, name, REDACT_STARS);
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
axes_complete_config(const struct plan_axes *x, struct json *c)
{
	const struct json *cfg = x->cfg;
	const char *rdb = json_get_str(cfg, "rdb");
	const char *arrivals = json_get_str(cfg, "arrivals");

	for (size_t i = CONFIG_AXIS_COMMANDS; i < PLAN_AXES; i++)
		if (x->values[i])
			json_set(
			    c, x->keys[i]->identity, json_dup(x->values[i]));
	json_set_bool(c, "cluster_mode", x->cluster);
	json_set_bool(c, "tls_mode", x->tls);
	if (get_io_threads(x) > 0)
		json_set_num(c, "io_threads", get_io_threads(x));
	json_set_str(c, "engine", "native");
	if (x->cluster) {
		json_set_num(
		    c, "cluster_nodes", json_get_num(cfg, "cluster_nodes", 1));
		set_replicas(c, "cluster_replicas", cfg);
	}
	json_set(c, "config_set", json_dup(x->set));
	config_copy_identity(c, "config", cfg);
	axes_hide_secrets(c);
	json_set(c, "modules", list_modules(json_get(cfg, "modules"), true));
	if (rdb)
		json_set_str(
		    c, "rdb", strrchr(rdb, '/') ? strrchr(rdb, '/') + 1 : rdb);
	if (json_get(c, "rate") || json_get(c, "slo"))
		json_set_str(c, "arrivals", arrivals ? arrivals : "constant");
	json_set(c, "profiling", json_dup(x->profiling));
}

/* Returns n CPU lists of so many CPUs each. */
static struct json *
list_cpu_ranges(size_t first, size_t n, size_t each)
{
	struct json *list = json_array();
	char *s;

	for (; n; n--, first += each) {
		s = mem_printf("%zu-%zu", first, first + each - 1);
		json_push(list, json_string(s));
		free(s);
	}
	return list;
}

/* Returns one CPU list per node, or NULL if none are given or too few: *why,
 * which the caller frees, then says it. */
static struct json *
list_server_cpus(const struct plan_axes *x, char **why)
{
	const struct json *alloc = json_get(x->cfg, "cpu_allocation");
	const struct json *range = json_get(x->cfg, "server_cpu_range");
	const struct json *each = json_get(alloc, "servers"), *v = NULL;
	size_t n = count_nodes(x);
	struct json *out;

	if (!alloc && !range && x->cluster)
		each = json_get(x->cfg, "cluster_cpu_ranges");
	if (!alloc && !range && !each)
		return NULL;
	if (!each && !range)
		return list_cpu_ranges(
		    0, n, (size_t)json_get_num(alloc, "cores_per_server", 1));
	if (each && json_len(each) < n) {
		*why = mem_printf(
		    "CPUs are given for %zu nodes, but there are %zu",
		    json_len(each), n);
		return NULL;
	}
	out = json_array();
	v = json_first(each);
	for (size_t i = 0; i < n; i++) {
		json_push(out, json_dup(each ? v : range));
		v = v ? json_next(v) : NULL;
	}
	return out;
}

struct json *
axes_make_server(const struct plan_axes *x, char **why)
{
	const struct json *cfg = x->cfg;
	const char *file = json_get_str(cfg, "custom-server-config-file");
	const char *rdb = json_get_str(cfg, "rdb");
	const char *placement = json_get_str(cfg, "placement");
	const struct json *own = json_get(cfg, "custom-server-configs");
	struct json *s = json_object();
	char full[PATH_MAX];

	*why = NULL;
	json_set_str(s, "host", json_get_str(cfg, "bind_ip"));
	json_set(s, "port",
	    json_dup(x->cluster ? json_first(json_get(cfg, "cluster_ports"))
				: json_get(cfg, "port")));
	if (json_get_bool(cfg, "unixsocket", false))
		json_set_bool(s, "unixsocket", true);
	if (x->tls)
		json_set_bool(s, "tls", true);
	if (x->cluster) {
		json_set_num(
		    s, "primaries", json_get_num(cfg, "cluster_nodes", 1));
		set_replicas(s, "replicas", cfg);
	}
	if (x->io_threads > 0)
		json_set_num(s, "io_threads", x->io_threads);
	json_set(s, "modules", list_modules(json_get(cfg, "modules"), false));
	if (json_len(own))
		json_set(s, "config", json_dup(own));
	if (file)
		json_set_str(s, "config_file", resolve_path(file, full));
	json_set(s, "config_set", json_dup(x->set));
	json_set(s, "cpus", list_server_cpus(x, why));
	if (placement && strcmp(placement, "none") == 0)
		json_set_str(s, "placement", placement);
	if (rdb)
		json_set_str(s, "rdb", resolve_path(rdb, full));
	if (!json_get_bool(cfg, "aslr", true))
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

	return each ? json_dup(each)
		    : list_cpu_ranges(first, count_nodes(x), cores);
}

struct json *
axes_make_client(const struct plan_axes *x)
{
	const struct json *alloc = json_get(x->cfg, "cpu_allocation");
	const struct json *seed = json_get(x->cfg, "seed");
	struct json *c = json_object(), *each;

	if (alloc) {
		each = list_client_cpus(x);
		json_set(c, "cpus", json_dup(json_first(each)));
		if (json_get(x->cfg, "test_groups") && json_len(each) > 1)
			json_set(c, "each", each);
		else
			json_free(each);
	} else
		json_set_str(
		    c, "cpus", json_get_str(x->cfg, "client_cpu_range"));
	if (seed && json_type(seed) == JSON_NUMBER)
		json_set(c, "seed", json_dup(seed));
	json_set(c, "timeout_s", json_dup(json_get(x->cfg, "timeout")));
	json_set(c, "max_lost", json_dup(json_get(x->cfg, "max_lost")));
	json_set(c, "max_errors_percent",
	    json_dup(json_get(x->cfg, "max_errors_percent")));
	if (json_get_bool(x->cfg, "count", false))
		json_set_bool(c, "count", true);
	json_set_str(c, "reference", json_get_str(x->cfg, "reference"));
	return c;
}
