/* Command lines of valkey-benchmark for what each version can do, and its
 * output. */
#include "tap.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "vkb-load/case/servercounts.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/external/vbench.h"

#include <stdlib.h>

/* Help texts of versions that can do different things. */
static char oldest[] = " -n <requests>\n --csv\n __rand_int__\n";
static char six[] =
    " -n <requests>\n --csv\n --threads <n>\n --cluster\n __rand_int__\n";
static char eight[] = " -n <n>\n --csv\n --threads <n>\n --cluster\n"
		      " --seed <n>\n __rand_int__\n";
static char nine[] = " -n <n>\n --csv\n --threads <n>\n --cluster\n"
		     " --seed <n>\n --duration <s>\n __rand_int__\n"
		     "__rand_1st__  __rand_2nd__ through __rand_9th__ are too\n"
		     " __data__ {tag}\n";

/* Compares the arguments that follow the common options. */
static void
does(char *help, const char *command, bool cluster, const char *want)
{
	struct vbtool tool = {.path = (char[]){"vb"}, .help = help};
	struct engine_node node = {.host = "h", .port = 1};
	struct engine_target t = {
	    .nodes = &node, .nnodes = 1, .cluster = cluster};
	struct engine_work w = {.command = command,
	    .data_size = 3,
	    .keyspacelen = 9,
	    .pipeline = 2,
	    .clients = 5,
	    .threads = 1,
	    .seed = 7};
	static const char same[] = "vb -h h -p 1 -n 8 -r 9 -d 3 -P 2 -c 5 ";
	char **argv =
	    vbench_argv(&tool, &t, &w, &(struct vbtool_length){.requests = 8});
	char *text = vbench_text(argv);

	tap_ok(str_starts(text, same), "%s: %s", command, text);
	if (strlen(text) > sizeof same)
		tap_str(text + sizeof same - 1, want, "the other arguments");
	free(text);
	mem_free_list(argv);
}

static void
arguments(void)
{
	does(oldest, "SET", false, "--csv -t set");
	does(oldest, "PING", false, "--csv -t ping_mbulk");
	does(oldest, "HSET", false,
	    "--csv HSET myhash element:__rand_int__ VXK");
	does(oldest, "XADD", false, "--csv XADD mystream '*' myfield VXK");
	does(oldest, "ZADD", false,
	    "--csv ZADD myzset __rand_int__ element:__rand_int__");
	does(oldest, "ZPOPMIN", false, "--csv ZPOPMIN myzset");
	does(six, "HSET", false, "--csv -t hset");
	does(six, "ZADD", true, "--threads 1 --cluster --csv -t zadd");
	does(six, "XADD", true,
	    "--threads 1 --cluster --csv XADD 'mystream:{tag}' '*' myfield "
	    "VXK");
	does(eight, "XADD", false, "--seed 7 --csv -t xadd");
	does(eight, "LRANGE_300", false, "--seed 7 --csv LRANGE mylist 0 299");
	does(eight, "SET a 'b c' \"\"", false, "--seed 7 --csv SET a 'b c' ''");
	does(nine, "SET a __data__", false, "--seed 7 --csv SET a __data__");
}

/* Checks the throughput, or why it is unknown. */
static void
says(const char *out, const char *command, const char *words, const char *want)
{
	const char *why;
	size_t n;
	char **list = words ? command_split(words, &n, &why) : NULL, *got;
	struct str s = {0};
	bool quick;
	struct json *m = vbench_result(out, command, list, &quick, &s);

	if (m)
		str_printf(&s, "%g", json_get_num(m, "rps", -1));
	got = str_take(&s);
	tap_str(got, want, want);
	tap_ok(quick == (strstr(want, "millisecond") != NULL),
	    "only a time below a millisecond is too short");
	json_free(m);
	mem_free_list(list);
	free(got);
}

#define HEAD "\"test\",\"rps\",\"avg_latency_ms\"\n"

static void
results(void)
{
	says(HEAD "\"SET\",\"5.00\",\"1.0\"\n", "SET", NULL, "5");
	says("WARNING: \"x\nCluster has 3\n\"\n\n" HEAD
	     "\"SET\",\"6.00\",\"1.0\"\n",
	    "SET", NULL, "6");
	says("Cluster has 3\n\nMaster 0: ab 127.0.0.1:3\n\"SET\",\"7.00\"\n",
	    "SET", NULL, "7");
	says("\"SET\",\"7.00\"", "SET", NULL, "7");
	says("\"PING_BULK\",\"8.00\"\r\n", "PING_MBULK", NULL, "8");
	says("\"PING_INLINE\",\"8.00\"\n\"PING_BULK\",\"9.00\"\n", "PING", NULL,
	    "9");
	says("\"MSET (10 keys)\",\"1.50\"\n", "MSET", NULL, "1.5");
	says(HEAD "\"SET a \"x,\"y\",\"3.00\",\"1.0\"\n", "-",
	    "SET a '\"x,\"y'", "3");
	says("\"SET a\nb\",\"4.00\"\n", "-", "SET 'a\nb'", "4");
	says("x\"GET\",\"1.00\"\n\"GET\",\"4.00\"\n", "-", "GET", "4");
	says("", "SET", NULL,
	    "printed 0 results of 'SET' where there should be one");
	says("\"\n\"\n\"", "SET", NULL,
	    "printed 0 results of 'SET' where there should be one");
	says("\"GET\",\"7.00\"\n", "SET", NULL,
	    "printed 0 results of 'SET' where there should be one");
	says("\"SET\",\"7.00\"\n\"SET\",\"8.00\"\n", "SET", NULL,
	    "printed 2 results of 'SET' where there should be one");
	says(HEAD "Error from server: OOM\n\"SET\",\"7.00\",\"1\"\n", "SET",
	    NULL,
	    "printed an invalid result: 1 columns where there should be 3");
	says(HEAD "\"SET\",\"0.00\",\"1\"\n", "SET", NULL,
	    "printed a result without a throughput");
	says(HEAD "\"SET\",\"inf\",\"1\"\n", "SET", NULL,
	    "took less than a millisecond, the least that it can measure");
	says("\"SET\",\"inf\"\n", "SET", NULL,
	    "took less than a millisecond, the least that it can measure");
}

static void
refuses(char *help, const char *more, const char *want)
{
	struct vbtool tool = {
	    .path = (char[]){"vb"}, .version = (char[]){"vb"}, .help = help};
	struct str s = {0};
	struct json *cas;
	char *why;

	str_printf(&s,
	    "{\"config\":{\"latency\":\"batch-first-byte\",\"clients\":2,"
	    "\"requests\":9,%s}}",
	    more);
	cas = json_parse(s.s, s.len, NULL, NULL);
	why = vbench_refuse(&tool, cas, false);
	tap_str(why, want, want ? want : more);
	free(why);
	json_free(cas);
	str_free(&s);
}

static void
refusals(void)
{
	refuses(eight, "\"command\":\"SET\"", NULL);
	refuses(eight, "\"command\":\"SET a __rand_3rd__\"",
	    "vb does not know '__rand_3rd__'");
	refuses(nine, "\"command\":\"SET a __rand_3rd__\"", NULL);
	refuses(nine, "\"command\":\"SET a __rand_0th__\"",
	    "vb does not know '__rand_0th__'");
	refuses(eight, "\"command\":\"5 PING\"",
	    "its command does not begin with a name");
	refuses(eight, "\"command\":\"-h x\"",
	    "its command does not begin with a name");
	refuses(
	    eight, "\"command\":\"a ';' b\"", "it is a sequence of commands");
	refuses(oldest, "\"command\":\"XADD\",\"data_size\":200000",
	    "vb has no test XADD, and the value is too long for an "
	    "argument");
	/* A value that is an argument has at most the length of one. */
	refuses(oldest, "\"command\":\"HSET\",\"data_size\":131071", NULL);
	refuses(oldest, "\"command\":\"HSET\",\"data_size\":131072",
	    "vb has no test HSET, and the value is too long for an argument");
	refuses(oldest, "\"command\":\"SET\",\"data_size\":131072", NULL);
	refuses(oldest, "\"command\":\"ZADD\",\"data_size\":131072", NULL);
	refuses(nine, "\"command\":\"HSET\",\"data_size\":131072", NULL);
	refuses(eight, "\"command\":\"Config GET save\"",
	    "its command is not only sent by the load, so the servers cannot "
	    "count it");
	refuses(oldest, "\"command\":\"SET\",\"cluster_mode\":true",
	    "vb has no '--cluster'");
}

/* What the servers counted between two readings of INFO. */
static void
served(void)
{
	struct servercounts_sums a = {
	    .calls = 100, .totals = {1000, 2000, 0, 0, 5}};
	struct servercounts_sums b = {
	    .calls = 1100, .totals = {1750, 2250, 0, 0, 15}};
	struct json *cas = json_object();
	struct engine_result r = {.requests = 0};

	tap_ok(servercounts_check(&a, &b, 1000, 1000, cas, &r) == 0,
	    "one refused request in a hundred is allowed");
	tap_ok(r.errors_total == 10 && !r.errors_unknown,
	    "the errors are those between the two readings");
	tap_near(r.hit_rate_percent, 75, 1e-12,
	    "the hit rate is that between the two readings");
	b.totals[SERVERCOUNTS_ERRORS] = 16;
	tap_ok(servercounts_check(&a, &b, 1000, 1000, cas, &r) == 1,
	    "more refused requests are not allowed");
	tap_str(err_last(),
	    "11 errors in 1000 requests, more than 'max_errors_percent' (1) "
	    "allows, the first: ERR",
	    "refusals are reported");
	a.kinds[a.nkinds++] = (struct engine_error){.kind = "OOM", .count = 5};
	b.kinds[b.nkinds++] =
	    (struct engine_error){.kind = "MOVED", .text = "MOVED", .count = 9};
	b.kinds[b.nkinds++] =
	    (struct engine_error){.kind = "OOM", .text = "OOM", .count = 7};
	tap_ok(servercounts_check(&a, &b, 1000, 1000, cas, &r) == 1 &&
		strstr(err_last(), "(MOVED 9, OOM 2)"),
	    "the kinds of errors are those between the two readings");
	b.totals[SERVERCOUNTS_ERRORS] = 25;
	tap_ok(servercounts_check(&a, &b, 1000, 1000, cas, &r) == 1 &&
		strstr(err_last(), "20 errors in 1000 requests") &&
		strstr(err_last(), "(MOVED 9, OOM 2, other 9)"),
	    "errors of kinds beyond those that are kept are counted");
	a.nkinds = b.nkinds = 0;
	b.totals[SERVERCOUNTS_ERRORS] = 4;
	tap_ok(servercounts_check(&a, &b, 1010, 1000, cas, &r) == 0 &&
		r.errors_total == 0,
	    "errors are at least 0");
	b.calls = 1099;
	tap_ok(servercounts_check(&a, &b, 1010, 1000, cas, &r) == 1,
	    "fewer served requests than sent ones are an error");
	tap_str(err_last(), "the servers served only 999 of 1010 requests",
	    "missing requests are reported");
	tap_ok(servercounts_check(&a, &(struct servercounts_sums){.calls = NAN},
		   1000, 1000, cas, &r) == 1,
	    "an unknown number of calls is not enough");
	b = (struct servercounts_sums){
	    .calls = 1100, .totals = {1000, 2000, 0, 0, NAN}};
	r = (struct engine_result){.hit_rate_percent = 7};
	tap_ok(servercounts_check(&a, &b, 1000, 1000, cas, &r) == 0 &&
		r.errors_unknown && r.errors_total == 0 &&
		r.hit_rate_percent == 7,
	    "without counts of the servers errors and hit rate are unknown");
	tap_ok(!servercounts_is_load("INFO", 4) &&
		!servercounts_is_load("psync", 5) &&
		servercounts_is_load("get", 3) &&
		servercounts_is_load("infox", 5) &&
		servercounts_is_load("information", 3),
	    "commands of control connections are not part of the load");
	json_free(cas);
}

static void
ended(int status, const char *out, const char *err, const char *want)
{
	struct child c = {.status = status};
	char *text;

	str_add(&c.out, out);
	str_add(&c.err, err);
	text = vbench_describe_end(&c, "vb");
	tap_str(text, want, want);
	free(text);
	vbench_free_child(&c);
}

/* The message about a program that ended, with the end of its output. */
static void
ends(void)
{
	char text[800], want[500];

	ended(256, "", "", "vb exited with 1 and printed nothing");
	ended(512, "a\r\nb \t\r\n", "", "vb exited with 2: a |b");
	ended(256, "a", "c\nd", "vb exited with 1: c|d");
	memset(text, 'x', sizeof text);
	text[799] = '\0';
	snprintf(want, sizeof want, "vb exited with 1: %.400s", text);
	ended(256, text, "", want);
	text[398] = '\n'; /* the last 400 characters begin here */
	ended(256, text, "", want);
	text[398] = 'x';
	text[500] = '\n';
	snprintf(want, sizeof want, "vb exited with 1: %.298s", text);
	ended(256, text, "", want);
}

int
main(void)
{
	if (!freopen("/dev/null", "w", stderr)) /* messages about refusals */
		return 2;
	arguments();
	results();
	refusals();
	served();
	ends();
	return tap_done();
}
