/* The names of cases: short where that is enough, and always different. */
#include "tap.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "vkb-load/plan/plan.h"

#include <stdlib.h>

static struct json *
parse(const char *text)
{
	return json_parse(text, strlen(text), NULL, NULL);
}

static void
is_id(const char *config, bool more, const char *want, const char *what)
{
	struct json *c = parse(config);
	struct str s = {0};

	plan_format_id(&s, c, more);
	tap_str(s.s, want, what);
	str_free(&s);
	json_free(c);
}

#define PLAIN                                                                \
	"\"command\":\"SET\",\"data_size\":16,\"pipeline\":2,\"clients\":3," \
	"\"keyspacelen\":4"
#define REST                                                     \
	"\"requests\":5,\"warmup_s\":7,\"benchmark_threads\":8," \
	"\"sequential\":true"

static void
ids(void)
{
	is_id("{" PLAIN "}", false, "SET-d16-P2-c3-k4",
	    "a name has the command and its four sizes");
	is_id("{" PLAIN "," REST "}", false, "SET-d16-P2-c3-k4",
	    "other keys are left out of the short name");
	is_id("{" PLAIN "," REST "}", true, "SET-d16-P2-c3-k4-n5-w7-T8-seq",
	    "the long name has them");
	is_id("{\"command\":\"GET\",\"duration_s\":1.5}", true, "GET-t1.5",
	    "a time is in seconds");
	is_id("{" PLAIN ",\"cluster_mode\":true,\"cluster_nodes\":1,"
	      "\"tls_mode\":true,\"io_threads\":1}",
	    false, "SET-d16-P2-c3-k4-cluster-tls",
	    "the number 1 of nodes and threads is left out");
	is_id("{" PLAIN ",\"cluster_mode\":true,\"cluster_nodes\":2,"
	      "\"cluster_replicas\":1,\"io_threads\":2,\"rate\":9,"
	      "\"unixsocket\":true,\"resp3\":true,\"no_flush\":true,"
	      "\"engine\":\"native\",\"latency\":\"batch-first-byte\","
	      "\"profiling\":{\"enabled\":true}}",
	    false,
	    "SET-d16-P2-c3-k4-cluster2-r1-io2-rate9-unix-resp3-no_flush-bfb-"
	    "profiled",
	    "each axis has a word");
	is_id("{" PLAIN ",\"tls_mode\":true,\"tls_protocol\":\"TLSv1.2\","
	      "\"tls_ciphers\":\"A:B\",\"tls_ciphersuites\":\"C\","
	      "\"tls_resumption\":true,\"reconnect\":1,\"storm_s\":0.5,"
	      "\"idle_clients\":7,\"db\":2,\"tracking\":\"bcast\","
	      "\"read_from\":\"replica\"}",
	    false,
	    "SET-d16-P2-c3-k4-tls-TLSv1.2-A:B-C-resumed-re1-storm0.5-idle7-db2-"
	    "track_bcast-from_replica",
	    "a case has a word for each key about connections");
	is_id("{" PLAIN ",\"engine\":\"valkey-benchmark\","
	      "\"latency\":\"request\"}",
	    false, "SET-d16-P2-c3-k4-valkey_benchmark",
	    "another engine is named, and has its own latency");
	is_id("{\"command\":\"a b/c.d_e+f:g=h\",\"config_set\":"
	      "{\"search.reader-threads\":8,\"maxmemory\":\"1 gb\"}}",
	    false, "a_b_c.d_e+f:g=h-reader_threads8_maxmemory1_gb",
	    "a character that file names cannot have becomes _");
	is_id("{\"test_id\":\"1_a\",\"iteration\":2,\"occurrence\":3," PLAIN
	      "}",
	    false, "1_a-i2-again3", "a scenario has its own name");
}

static void
is_named(
    const char *const *configs, size_t n, const char *want, const char *what)
{
	struct plan p = {.cases = mem_array(n + 1, sizeof(struct json *))};
	struct str s = {0};

	for (size_t i = 0; i < n; i++) {
		p.cases[p.n] = json_object();
		json_set(p.cases[p.n++], "config", parse(configs[i]));
		json_set_str(p.cases[i], "id", "");
	}
	if (tap_ok(plan_name_cases(&p) == 0, "%zu cases have names", n))
		for (size_t i = 0; i < p.n; i++)
			str_printf(&s, "%s ", json_get_str(p.cases[i], "id"));
	tap_str(s.s, want, what);
	str_free(&s);
	for (size_t i = 0; i < p.n; i++)
		json_free(p.cases[i]);
	free(p.cases);
}

static void
unique(void)
{
	static const char *const short_ones[] = {
	    "{\"command\":\"A\"}", "{\"command\":\"B\"}"};
	static const char *const longer[] = {
	    "{\"command\":\"A\",\"requests\":1}",
	    "{\"command\":\"B\",\"requests\":1}",
	    "{\"command\":\"A\",\"requests\":2}"};
	static const char *const numbered[] = {"{\"command\":\"A\",\"x\":1}",
	    "{\"command\":\"B\"}", "{\"command\":\"A\",\"x\":2}"};
	static const char *const twice[] = {"{\"command\":\"B\"}",
	    "{\"command\":\"A\"}", "{\"command\":\"B\"}"};

	is_named(short_ones, 2, "A B ", "short names if they differ");
	is_named(longer, 3, "A-n1 B A-n2 ",
	    "only cases whose short names are equal get long names");
	is_named(numbered, 3, "A-1 B A-2 ",
	    "cases whose long names are equal too get numbers from 1");
	is_named(twice, 3, "B A ",
	    "a case that is there twice keeps the first place");
}

/* A case with two of a member that is not in its id would be measured as one:
 * it is refused. */
static void
is_refused(const char *one, const char *two, const char *want)
{
	struct plan p = {.cases = mem_array(3, sizeof(struct json *)), .n = 2};

	for (size_t i = 0; i < 2; i++) {
		p.cases[i] =
		    parse("{\"config\":{\"command\":\"A\"},\"id\":\"\"}");
		json_set(p.cases[i], "client", parse(i ? two : one));
	}
	tap_ok(plan_name_cases(&p) < 0 && strstr(err_last(), want),
	    "one case with different %s is refused", want);
	for (size_t i = 0; i < p.n; i++)
		json_free(p.cases[i]);
	free(p.cases);
}

int
main(void)
{
	ids();
	if (!freopen("/dev/null", "w", stderr)) /* doubles are reported */
		return 2;
	unique();
	is_refused("{\"cpus\":\"0\"}", "{\"cpus\":\"1\"}",
	    "\"client_cpu_range\" of the client");
	is_refused("{\"seed\":1}", "{\"seed\":1,\"timeout_s\":5}",
	    "\"timeout\" of the client");
	return tap_done();
}
