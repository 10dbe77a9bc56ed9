/* The axes of a configuration, and the server and client that they ask for. */
#include "tap.h"

#include "json.h"
#include "vkb-load/plan/plan.h"

#include <stdlib.h>

static struct json *
parse(const char *text)
{
	return json_parse(text, strlen(text), NULL, NULL);
}

static void
is_json(struct json *got, const char *want, const char *what)
{
	char *text = json_print(got);

	tap_str(text, want, what);
	free(text);
	json_free(got);
}

#define CPUS \
	"\"cpu_allocation\":{\"cores_per_server\":2,\"cores_per_client\":3}"
#define CLUSTER "\"cluster_nodes\":2,\"cluster_replicas\":1"

static void
servers(void)
{
	char *why;
	struct json *cfg = parse(
	    "{" CPUS "," CLUSTER ",\"port\":7000,\"cluster_ports\":[7100,7101],"
	    "\"bind_ip\":\"127.0.0.2\",\"aslr\":false,"
	    "\"unixsocket\":true}");
	struct json *set = parse("{\"hz\":3}");
	struct plan_axes x = {.cfg = cfg};

	is_json(plan_make_server(&x, &why),
	    "{\"host\":\"127.0.0.2\",\"port\":7000,\"unixsocket\":true,"
	    "\"cpus\":[\"0-1\"],\"aslr\":false}",
	    "one server has the port and the first CPUs");
	x.cluster = x.tls = true;
	x.io_threads = 4;
	x.set = set;
	is_json(plan_make_server(&x, &why),
	    "{\"host\":\"127.0.0.2\",\"port\":7100,\"unixsocket\":true,"
	    "\"tls\":true,\"primaries\":2,\"replicas\":1,\"io_threads\":4,"
	    "\"config_set\":{\"hz\":3},"
	    "\"cpus\":[\"0-1\",\"2-3\",\"4-5\",\"6-7\"],\"aslr\":false}",
	    "a cluster has its first port, and CPUs for each replica too");
	json_free(cfg);
	cfg = parse("{" CLUSTER ",\"aslr\":true,\"server_cpu_range\":\"5\"}");
	x = (struct plan_axes){.cfg = cfg, .cluster = true};
	is_json(plan_make_server(&x, &why),
	    "{\"primaries\":2,\"replicas\":1,\"cpus\":[\"5\",\"5\",\"5\","
	    "\"5\"]}",
	    "one range of CPUs is for every node, and aslr is the default");
	json_free(cfg);
	x.cfg = cfg =
	    parse("{\"cluster_nodes\":2,\"cluster_cpu_ranges\":[\"1\",\"2\"]}");
	is_json(plan_make_server(&x, &why),
	    "{\"primaries\":2,\"cpus\":[\"1\",\"2\"]}",
	    "each node of a cluster has the range in its place");
	x.cluster = false;
	is_json(plan_make_server(&x, &why), "{}",
	    "ranges of a cluster do not apply to one server");
	tap_ok(!why, "valid ranges of CPUs are not a problem");
	json_free(cfg);
	x.cfg = cfg =
	    parse("{\"cluster_nodes\":3,\"cluster_cpu_ranges\":[\"1\",\"2\"]}");
	x.cluster = true;
	is_json(plan_make_server(&x, &why), "{\"primaries\":3}",
	    "two ranges are not enough for three nodes");
	tap_ok(why != NULL, "too few ranges are a problem");
	free(why);
	json_free(cfg);
	json_free(set);
}

static void
clients(void)
{
	struct json *cfg = parse(
	    "{" CPUS "," CLUSTER ",\"seed\":7,\"timeout\":8,\"max_lost\":9}");
	struct plan_axes x = {.cfg = cfg};
	char *why;

	is_json(plan_make_client(&x),
	    "{\"cpus\":\"2-4\",\"seed\":7,\"timeout_s\":8,\"max_lost\":9}",
	    "the client has the CPUs behind those of the server");
	x.cluster = true;
	is_json(plan_make_client(&x),
	    "{\"cpus\":\"8-10\",\"seed\":7,\"timeout_s\":8,\"max_lost\":9}",
	    "the client has the CPUs behind those of all nodes");
	json_set(cfg, "test_groups", json_array());
	json_del(cfg, "seed");
	json_set(cfg, "seed", json_boolean(true));
	is_json(plan_make_client(&x),
	    "{\"cpus\":\"8-10\",\"each\":[\"8-10\",\"11-13\",\"14-16\","
	    "\"17-19\"],\"timeout_s\":8,\"max_lost\":9}",
	    "clients of test groups have CPUs of their own; a seed of true is "
	    "ignored");
	x.cluster = false;
	is_json(plan_make_client(&x),
	    "{\"cpus\":\"2-4\",\"timeout_s\":8,\"max_lost\":9}",
	    "the CPUs of a single client are not listed");
	json_free(cfg);
	x.cfg = cfg = parse("{\"client_cpu_range\":\"3\"}");
	is_json(plan_make_client(&x), "{\"cpus\":\"3\"}",
	    "without cpu_allocation the client has client_cpu_range");
	json_free(cfg);
	x.cfg = cfg = parse("{\"cpu_allocation\":{\"x\":1}}");
	is_json(plan_make_server(&x, &why), "{\"cpus\":[\"0-0\"]}",
	    "by default cpu_allocation gives a server one core");
	is_json(plan_make_client(&x), "{\"cpus\":\"1-1\"}",
	    "by default cpu_allocation gives the client one core");
	json_free(cfg);
}

static struct json *
config(const char *cfg, struct plan_axes x, const char *start)
{
	struct json *c = parse(start), *own = parse(cfg);

	x.cfg = own;
	plan_complete_config(&x, c);
	json_free(own);
	return c;
}

static void
identities(void)
{
	struct plan_axes one = {0}, many = {.cluster = true, .tls = true};

	is_json(config("{}", one, "{}"),
	    "{\"cluster_mode\":false,\"tls_mode\":false,\"io_threads\":1,"
	    "\"engine\":\"native\",\"benchmark_threads\":1}",
	    "every value is explicit");
	is_json(config("{\"cluster_replicas\":0}", many, "{}"),
	    "{\"cluster_mode\":true,\"tls_mode\":true,\"io_threads\":1,"
	    "\"engine\":\"native\",\"cluster_nodes\":1,"
	    "\"benchmark_threads\":1}",
	    "a cluster has one node unless it says more");
	is_json(config("{" CLUSTER ",\"benchmark-threads\":5,\"rdb\":\"/a/b\","
		       "\"custom-server-config-file\":\"/c/d\"}",
		    many, "{}"),
	    "{\"cluster_mode\":true,\"tls_mode\":true,"
	    "\"engine\":\"native\","
	    "\"cluster_nodes\":2,\"cluster_replicas\":1,"
	    "\"benchmark_threads\":5,"
	    "\"server_config_file\":\"/c/d\",\"rdb\":\"b\"}",
	    "io_threads is absent if a configuration file of the server may "
	    "set it");
	is_json(config("{\"custom-server-configs\":{\"io-threads\":\"6\","
		       "\"requirepass\":\"x\"},\"arrivals\":\"poisson\","
		       "\"sequential\":true,\"unixsocket\":true,"
		       "\"resp3\":true,\"latency\":\"request\"}",
		    one, "{\"rate\":5}"),
	    "{\"rate\":5,\"cluster_mode\":false,\"tls_mode\":false,"
	    "\"io_threads\":6,\"engine\":\"native\",\"unixsocket\":true,"
	    "\"resp3\":true,\"latency\":\"request\","
	    "\"benchmark_threads\":1,\"sequential\":true,"
	    "\"server_config\":{\"io-threads\":\"6\",\"requirepass\":\"***\"},"
	    "\"arrivals\":\"poisson\"}",
	    "each setting of a server counts, except its secrets");
	is_json(config("{\"arrivals\":\"poisson\","
		       "\"modules\":[{\"path\":\"/m/x.so\","
		       "\"startup_args\":[\"a\"]},{\"path\":\"y.so\"}]}",
		    one, "{}"),
	    "{\"cluster_mode\":false,\"tls_mode\":false,\"io_threads\":1,"
	    "\"engine\":\"native\",\"benchmark_threads\":1,"
	    "\"modules\":[{\"path\":\"x.so\",\"args\":[\"a\"]},"
	    "{\"path\":\"y.so\",\"args\":[]}]}",
	    "a module is recorded by its file name; arrivals are recorded only "
	    "with a rate");
}

static char order[256];

static void
note(struct plan *p, const struct plan_axes *x)
{
	size_t n = strlen(order);

	(void)p;
	snprintf(order + n, sizeof order - n, "%d%d%d%d%.0f ", x->cluster,
	    x->tls, x->profiling != NULL, x->set != NULL, x->io_threads);
}

static void
is_order(struct plan_want want, const char *cfg, const char *wanted,
    const char *what)
{
	struct plan p = {.want = &want};
	struct json *own = parse(cfg);

	*order = '\0';
	plan_each(&p, own, note);
	tap_str(order, wanted, what);
	json_free(own);
}

static void
combinations(void)
{
	static const char all[] =
	    "{\"cluster_mode\":[false,true],\"tls_mode\":true,"
	    "\"profiling_sets\":[{\"enabled\":false},{\"enabled\":true}],"
	    "\"config_sets\":[{},{\"a\":1}],\"io-threads\":[1,4]}";

	is_order((struct plan_want){0}, "{}", "00000 ",
	    "an empty configuration has one combination");
	is_order((struct plan_want){0}, all,
	    "01001 01004 01011 01014 01101 01104 01111 01114 "
	    "11001 11004 11011 11014 11101 11104 11111 11114 ",
	    "I/O threads turn first, the cluster last");
	is_order((struct plan_want){.cluster_mode = "true",
		     .skip_config_set = true,
		     .skip_profiling = true},
	    all, "11001 11004 ", "skipped settings are not combined");
	is_order((struct plan_want){.cluster_mode = "false"},
	    "{\"cluster_mode\":true}", "00000 ",
	    "--cluster-mode replaces cluster_mode");
}

int
main(void)
{
	servers();
	clients();
	identities();
	combinations();
	return tap_done();
}
