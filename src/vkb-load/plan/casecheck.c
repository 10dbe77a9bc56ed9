#include "casecheck.h"
#include "benchcase.h"
#include "cpulist.h"
#include "err.h"
#include "json.h"

#include <sched.h>
#include <stdbool.h>

int
casecheck(const struct json *cas, const char *where)
{
	const char *id = json_get_str(cas, "id"), *why;
	const struct json *j;
	cpu_set_t set;

	if (bench_case_check(cas, where) < 0)
		return -1;
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
	return 0;
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
