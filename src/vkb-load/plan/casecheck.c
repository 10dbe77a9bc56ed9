#include "casecheck.h"
#include "cpulist.h"
#include "err.h"
#include "json.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

static bool
is_integer_in(const struct json *j, double least, double most)
{
	double d = json_num(j, -1);

	return j && d >= least && d <= most && d == floor(d);
}

/* Checks the writers or the readers of a mixed case. */
static int
check_parts(const struct json *cas, const char *side, const char *where)
{
	static const struct {
		const char *key;
		double least, most;
	} wholes[] = {{"data_size", 1, 1 << 29}, {"pipeline", 1, 1e6},
	    {"clients", 1, 1e6}, {"parallel_clients", 1, 1e6},
	    {"maxdocs", 1, 9007199254740991.0},
	    {"requests", 1, 9007199254740991.0}};
	const struct json *list = json_get(json_get(cas, "config"), side), *j;
	const char *id = json_get_str(cas, "id"), *wrong = NULL;

	for (const struct json *p = json_first(list); p; p = json_next(p)) {
		if (!json_get_str(p, "command"))
			wrong = "command";
		for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
			j = json_get(p, wholes[i].key);
			if (j &&
			    !is_integer_in(j, wholes[i].least, wholes[i].most))
				wrong = wholes[i].key;
		}
		j = json_get(p, "duration");
		if (j && !(json_num(j, 0) > 0 && json_num(j, 0) <= 1e9))
			wrong = "duration";
		j = json_get(p, "warmup");
		if (j && !(json_num(j, -1) >= 0 && json_num(j, -1) <= 1e7))
			wrong = "warmup";
		j = json_get(p, "seed");
		if (j && json_type(j) != JSON_BOOL &&
		    !is_integer_in(j, 0, UINT32_MAX))
			wrong = "seed";
	}
	if (wrong)
		return err_fail("%s: case '%s': '%s' in 'config.%s' is missing "
				"or invalid",
		    where, id, wrong, side);
	return 0;
}

int
casecheck(const struct json *cas, const char *where)
{
	static const struct {
		const char *path;
		bool required;
		double least, most;
	} wholes[] = {{"config.data_size", true, 1, 1 << 29},
	    {"config.pipeline", true, 1, 1e6}, {"config.clients", true, 1, 1e6},
	    {"config.keyspacelen", true, 0, 999999999999},
	    {"config.benchmark_threads", true, 1, 1024},
	    {"config.requests", false, 1, 9007199254740991.0},
	    {"config.maxdocs", false, 1, 9007199254740991.0},
	    {"config.parallel_clients", false, 1, 1e6},
	    {"client.seed", false, 0, UINT32_MAX},
	    {"client.max_lost", false, 0, 9007199254740991.0}};
	static const char *const positive[] = {
	    "config.duration_s", "config.rate", "client.timeout_s"};
	const char *id = json_get_str(cas, "id"), *why;
	const struct json *j;
	cpu_set_t set;

	if (!json_str(json_path(cas, "config.command")))
		return err_fail(
		    "%s: case '%s' lacks 'config.command'", where, id);
	for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
		j = json_path(cas, wholes[i].path);
		if ((j || wholes[i].required) &&
		    !is_integer_in(j, wholes[i].least, wholes[i].most))
			return err_fail("%s: case '%s': '%s' is not an integer "
					"from %.0f to %.0f",
			    where, id, wholes[i].path, wholes[i].least,
			    wholes[i].most);
	}
	for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) {
		j = json_path(cas, positive[i]);
		if (j && !(json_num(j, 0) > 0 && json_num(j, 0) <= 1e9))
			return err_fail("%s: case '%s': '%s' is not a positive "
					"number",
			    where, id, positive[i]);
	}
	j = json_path(cas, "config.warmup_s");
	if (j && !(json_num(j, -1) >= 0 && json_num(j, -1) <= 1e7))
		return err_fail("%s: case '%s': 'config.warmup_s' is not a "
				"number >= 0",
		    where, id);
	if (!json_path(cas, "config.requests") ==
	    !json_path(cas, "config.duration_s"))
		return err_fail("%s: case '%s': 'config' needs one of "
				"'requests' and 'duration_s'",
		    where, id);
	if (json_bool(json_path(cas, "config.unixsocket"), false) &&
	    (json_bool(json_path(cas, "config.cluster_mode"), false) ||
		json_bool(json_path(cas, "config.tls_mode"), false)))
		return err_fail("%s: case '%s': a unix socket cannot be used "
				"with TLS or a cluster",
		    where, id);
	j = json_path(cas, "client.cpus");
	if (j && (!json_str(j) || cpulist_parse(json_str(j), &set, &why) < 0))
		return err_fail(
		    "%s: case '%s': 'client.cpus' is not a CPU list", where,
		    id);
	for (j = json_first(json_path(cas, "client.each")); j; j = json_next(j))
		if (!json_str(j) || cpulist_parse(json_str(j), &set, &why) < 0)
			return err_fail("%s: case '%s': 'client.each' is not a "
					"list of CPU lists",
			    where, id);
	return check_parts(cas, "writes", where) < 0 ||
		check_parts(cas, "reads", where) < 0
	    ? -1
	    : 0;
}

/* Are two values equal? An absent one equals false. */
static bool
is_same_value(const struct json *a, const struct json *b)
{
	if ((!a || json_type(a) == JSON_BOOL) &&
	    (!b || json_type(b) == JSON_BOOL))
		return json_bool(a, false) == json_bool(b, false);
	return a && b && json_equal(a, b);
}

int
casecheck_server(const struct json *cas, const char *where)
{
	static const char *const pairs[][2] = {
	    {"config.tls_mode", "server.tls"},
	    {"config.unixsocket", "server.unixsocket"},
	    {"config.cluster_nodes", "server.primaries"},
	    {"config.cluster_replicas", "server.replicas"},
	    {"config.config_set", "server.config_set"}};
	const struct json *threads = json_path(cas, "server.io_threads");
	const struct json *own = json_path(cas, "server.config");
	double io = json_num(json_path(cas, "config.io_threads"), 1);
	bool cluster = json_bool(json_path(cas, "config.cluster_mode"), false);
	const char *wrong = NULL;

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !wrong; i++)
		if (!is_same_value(json_path(cas, pairs[i][0]),
			json_path(cas, pairs[i][1])))
			wrong = pairs[i][0];
	if (cluster != (json_path(cas, "server.primaries") != NULL))
		wrong = "config.cluster_mode";
	else if (threads ? json_num(threads, 0) != io
			 : io != 1 && !json_get(own, "io-threads"))
		wrong = "config.io_threads";
	if (!wrong)
		return 0;
	return err_fail("%s: case '%s': 'server' does not agree with '%s'",
	    where, json_get_str(cas, "id"), wrong);
}

const char *
casecheck_engine(const struct json *config)
{
	const char *name = json_get_str(config, "engine");

	return name ? name : CASECHECK_NATIVE;
}
