/* The limits of the values of a case: the last one that passes, and the next.
 */
#include "tap.h"

#include "config.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/plan/benchcase.h"

#include <stdlib.h>
#include <string.h>

static const char plain[] =
    "{\"id\":\"a\",\"config\":{\"command\":\"SET\",\"data_size\":1,"
    "\"pipeline\":1,\"clients\":1,\"keyspacelen\":0,\"benchmark_threads\":1,"
    "\"requests\":1,\"writes\":[{\"command\":\"SET\"}],"
    "\"reads\":[{\"command\":\"GET\"}]},\"client\":{}}";

/* Checks the plain case with another value in a section; that of "writes" is
 * its first part. */
static bool
passes(const char *section, const char *key, const char *value)
{
	struct json *cas = json_parse(plain, sizeof plain - 1, NULL, NULL);
	struct json *config = json_get(cas, "config"), *to;
	bool good;

	to = strcmp(section, "config") == 0 ? config
	    : strcmp(section, "client") == 0
	    ? json_get(cas, "client")
	    : json_first(json_get(config, section));
	if (strcmp(key, "duration_s") == 0)
		json_del(config, "requests");
	json_set(to, key, json_parse(value, strlen(value), NULL, NULL));
	good = bench_case_check(cas, "here") == 0;
	json_free(cas);
	return good;
}

static void
limits(void)
{
	static const struct {
		const char *section, *key, *under, *least, *most, *over;
	} v[] = {{"config", "data_size", "0", "1", "536870912", "536870913"},
	    {"config", "pipeline", "0", "1", "1000000", "1000001"},
	    {"config", "clients", "0", "1", "1000000", "1000001"},
	    {"config", "keyspacelen", "-1", "0", "999999999999",
		"1000000000000"},
	    {"config", "benchmark_threads", "0", "1", "1024", "1025"},
	    {"config", "requests", "0", "1", "9007199254740991",
		"9007199254740992"},
	    {"config", "maxdocs", "0", "1", "9007199254740991",
		"9007199254740992"},
	    {"config", "parallel_clients", "0", "1", "1000000", "1000001"},
	    {"config", "duration_s", "0", "0.001", "10000000", "10000001"},
	    {"config", "rate", "0", "0.001", "1000000000", "1000000001"},
	    {"config", "warmup_s", "-0.1", "0", "10000000", "10000001"},
	    {"config", "reconnect", "0", "1", "9007199254740991",
		"9007199254740992"},
	    {"config", "storm_s", "0", "0.001", "10000000", "10000001"},
	    {"config", "idle_clients", "0", "1", "1000000", "1000001"},
	    {"config", "db", "-1", "0", "1000000", "1000001"},
	    {"client", "timeout_s", "0", "0.001", "10000000", "10000001"},
	    {"client", "seed", "-1", "0", "4294967295", "4294967296"},
	    {"client", "max_lost", "-1", "0", "9007199254740991",
		"9007199254740992"},
	    {"writes", "data_size", "0", "1", "536870912", "536870913"},
	    {"writes", "pipeline", "0", "1", "1000000", "1000001"},
	    {"reads", "clients", "0", "1", "1000000", "1000001"},
	    {"reads", "parallel_clients", "0", "1", "1000000", "1000001"},
	    {"writes", "maxdocs", "0", "1", "9007199254740991",
		"9007199254740992"},
	    {"reads", "requests", "0", "1", "9007199254740991",
		"9007199254740992"},
	    {"reads", "duration", "0", "0.001", "10000000", "10000001"},
	    {"reads", "warmup", "-0.1", "0", "10000000", "10000001"},
	    {"writes", "seed", "-1", "0", "4294967295", "4294967296"}};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		tap_ok(passes(v[i].section, v[i].key, v[i].least) &&
			passes(v[i].section, v[i].key, v[i].most),
		    "%s.%s may be from %s to %s", v[i].section, v[i].key,
		    v[i].least, v[i].most);
		tap_ok(!passes(v[i].section, v[i].key, v[i].under),
		    "%s is too small", v[i].under);
		tap_ok(!passes(v[i].section, v[i].key, v[i].over),
		    "%s is too large", v[i].over);
	}
}

static void
rules(void)
{
	tap_ok(!passes("reads", "warmup", "\"x\"") &&
		!passes("writes", "duration", "\"x\"") &&
		!passes("config", "warmup_s", "\"x\"") &&
		!passes("config", "rate", "\"x\"") &&
		!passes("client", "seed", "\"x\""),
	    "a text instead of a number is invalid");
	tap_ok(!passes("config", "clients", "1.5") &&
		!passes("config", "clients", "\"1\""),
	    "a count that is not an integer is invalid");
	tap_ok(passes("writes", "seed", "true") &&
		!passes("writes", "seed", "1.5"),
	    "the seed of a part may be true");
	tap_ok(!passes("config", "command", "7") &&
		!passes("writes", "command", "7"),
	    "a command must be a text");
	tap_ok(passes("client", "cpus", "\"0-1\"") &&
		!passes("client", "cpus", "\"x\"") &&
		!passes("client", "cpus", "1"),
	    "'cpus' must be a list of CPUs");
	tap_ok(passes("client", "each", "[\"0\",\"1\"]") &&
		!passes("client", "each", "[\"0\",1]") &&
		!passes("client", "each", "[\"0\",\"x\"]"),
	    "'each' must be an array of lists of CPUs");
	tap_ok(passes("config", "unixsocket", "true"),
	    "a unix socket may be used");
	tap_ok(!passes("config", "requests", "null"),
	    "a case must have requests or a duration");
}

/* Returns whether the plain case is valid with a case of this configuration in
 * 'before'. */
static bool
passes_after(const char *config)
{
	struct json *cas = json_parse(plain, sizeof plain - 1, NULL, NULL);
	struct json *before = json_object(), *list = json_array();
	bool good;

	json_set_str(before, "type", "case");
	json_set_num(before, "v", 1);
	json_set_str(before, "id", "b");
	json_set(
	    before, "config", json_parse(config, strlen(config), NULL, NULL));
	json_set(before, "server", json_object());
	json_set(before, "client", json_object());
	json_push(list, before);
	json_set(cas, "before", list);
	good = bench_case_check(cas, "here") == 0;
	json_free(cas);
	return good;
}

#define LOAD(command, clients)                               \
	"{\"command\":" command ",\"clients\":" clients      \
	",\"data_size\":1,\"pipeline\":1,\"keyspacelen\":0," \
	"\"benchmark_threads\":1,\"requests\":1}"

static void
earlier(void)
{
	static const char *const wrong[] = {"[{}]", "[1,\"x\"]", "[[]]",
	    "[{\"type\":\"case\",\"v\":1,\"id\":\"b\"}]"};
	struct json *cas;

	tap_ok(
	    passes_after(LOAD("\"SET\"", "1")), "a case in 'before' is valid");
	tap_ok(!passes_after(LOAD("5", "1")),
	    "the command of a case in 'before' must be a text");
	tap_ok(!passes_after(LOAD("\"SET\"", "-5")) &&
		!passes_after(LOAD("\"SET\"", "1e300")),
	    "the clients of a case in 'before' have the same limits");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		cas = json_parse(plain, sizeof plain - 1, NULL, NULL);
		json_set(cas, "before",
		    json_parse(wrong[i], strlen(wrong[i]), NULL, NULL));
		tap_ok(bench_case_check(cas, "here") < 0,
		    "'before' with %s is refused", wrong[i]);
		json_free(cas);
	}
}

static bool
agrees(const char *config, const char *server)
{
	struct json *cas = json_object();
	bool good;

	json_set(cas, "config", json_parse(config, strlen(config), NULL, NULL));
	json_set(cas, "server", json_parse(server, strlen(server), NULL, NULL));
	good = bench_case_check_server(cas, "here") == 0;
	json_free(cas);
	return good;
}

static void
servers(void)
{
	static const char two[] = "{\"cluster_mode\":true,"
				  "\"cluster_nodes\":2,\"tls_mode\":true}";

	tap_ok(agrees("{}", "{}") && agrees("{\"tls_mode\":false}", "{}"),
	    "a mode that is false is the same as an absent one");
	tap_ok(agrees(two, "{\"primaries\":2,\"tls\":true}"),
	    "a cluster of two nodes is one of two primaries");
	tap_ok(!agrees(two, "{\"primaries\":3,\"tls\":true}") &&
		!agrees(two, "{\"tls\":true}") &&
		!agrees(two, "{\"primaries\":2}"),
	    "a cluster of two differs from three, none and one without TLS");
	tap_ok(agrees("{\"io_threads\":4}", "{\"io_threads\":4}") &&
		agrees(
		    "{\"io_threads\":4}", "{\"config\":{\"io-threads\":4}}") &&
		agrees("{\"io_threads\":1}", "{}"),
	    "I/O threads are those of the server or of its settings");
	tap_ok(!agrees("{\"io_threads\":4}", "{}") &&
		!agrees("{\"io_threads\":4}", "{\"io_threads\":3}") &&
		!agrees("{}", "{\"io_threads\":2}"),
	    "another number of I/O threads differs");
}

/* The names of the flags of a load that are set; caller frees. */
static char *
name_flags(const struct bench_load *l)
{
	const struct engine_work *w = &l->work;
	const struct {
		bool set;
		const char *name;
	} of[] = {{w->keys.kind == KEYSPEC_SEQUENTIAL, "sequential"},
	    {w->conns.tracking, "tracking"}, {w->conns.bcast, "bcast"},
	    {w->resp3, "resp3"}, {w->arrivals == ENGINE_POISSON, "poisson"},
	    {w->batch_first_byte, "first-byte"}, {w->in_order, "in-order"},
	    {l->parallel, "parallel"}, {l->cluster, "cluster"},
	    {w->verify, "verify"}, {l->warmup_apart, "apart"},
	    {l->warmup_writes_only, "writes-only"},
	    {l->read_replicas, "replicas"}, {l->tls_resumption, "resumption"}};
	struct str s = {0};

	str_add(&s, "sets");
	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		if (of[i].set)
			str_printf(&s, " %s", of[i].name);
	return str_take(&s);
}

static void
flags(void)
{
	static const struct {
		const char *config, *sets;
	} v[] = {{"{\"sequential\":false}", "sets"},
	    {"{\"sequential\":true}", "sets sequential"},
	    {"{\"keys\":\"sequential\"}", "sets sequential"},
	    {"{\"tracking\":\"on\"}", "sets tracking resp3"},
	    {"{\"tracking\":\"bcast\"}", "sets tracking bcast resp3"},
	    {"{\"resp3\":true}", "sets resp3"},
	    {"{\"arrivals\":\"poisson\"}", "sets poisson"},
	    {"{\"arrivals\":\"constant\"}", "sets"},
	    {"{\"latency\":\"batch-first-byte\"}", "sets first-byte"},
	    {"{\"mix_order\":\"turn\"}", "sets in-order"},
	    {"{\"cluster_execution\":\"parallel\"}", "sets parallel"},
	    {"{\"cluster_mode\":true}", "sets cluster"},
	    {"{\"verify\":true}", "sets verify"},
	    {"{\"warmup_apart\":true}", "sets apart"},
	    {"{\"warmup_writes_only\":true}", "sets writes-only"},
	    {"{\"read_from\":\"replica\"}", "sets replicas"},
	    {"{\"tls_resumption\":true}", "sets resumption"}};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		struct json *config =
		    json_parse(v[i].config, strlen(v[i].config), NULL, NULL);
		struct bench_load l;
		char *sets;

		bench_case_fill_load(&l, config);
		sets = name_flags(&l);
		tap_str(sets, v[i].sets, v[i].config);
		free(sets);
		json_free(config);
	}
}

/* A value of a key that no case has without it; NULL: an object, or a list. */
static struct json *
make_value(const struct config_key *k, const char *choice)
{
	static const char *const texts[] = {[CONFIG_TEXT] = "x",
	    [CONFIG_KEYSPEC] = "zipf",
	    [CONFIG_VALUESPEC] = "3-9",
	    [CONFIG_SPAN] = "5-9",
	    [CONFIG_MIX] = "GET 1",
	    [CONFIG_SLO] = "p99<=1ms",
	    [CONFIG_SPEED] = "2"};

	if (k->rule == CONFIG_CHOICE)
		return json_string(choice);
	if (k->rule == CONFIG_BOOL)
		return json_boolean(true);
	if (k->rule == CONFIG_WHOLE || k->rule == CONFIG_SECONDS ||
	    k->rule == CONFIG_RATE)
		return json_number(7);
	if (k->rule < sizeof texts / sizeof *texts && texts[k->rule])
		return json_string(texts[k->rule]);
	return NULL;
}

/* What adds words to a command says so in its row, adds them, and is refused
 * where there is no place for them. */
static void
words_added(const struct config_key *k, const struct command_options *o)
{
	static const struct command_options none;
	struct command_style style = {.same = "=", .options = o};
	char *with, *without, *why;

	if (memcmp(o, &none, sizeof none) == 0)
		return;
	with = command_text("SET", &style);
	style.options = NULL;
	without = command_text("SET", &style);
	tap_ok(strcmp(with, without) != 0, "%s: SET has its words: %s", k->name,
	    with);
	why = command_explain_options("GET", o);
	tap_ok(why && strstr(why, k->name), "%s: GET refuses it: %s", k->name,
	    why ? why : "");
	tap_ok(k->id && k->not_replayed && k->foreign,
	    "%s: it is in the id of a case, and neither a trace nor "
	    "valkey-benchmark has it",
	    k->name);
	free(with);
	free(without);
	free(why);
}

/* Does a load change if the key has the value, which is taken? */
static bool
changes_load(const struct config_key *k, struct json *value)
{
	static const char command[] = "{\"command\":\"SET\"}";
	struct json *config =
	    json_parse(command, sizeof command - 1, NULL, NULL);
	struct bench_load before, after;
	bool differs;

	memset(&before, 0, sizeof before);
	memset(&after, 0, sizeof after);
	bench_case_fill_load(&before, config);
	json_set(config, k->identity, value);
	bench_case_fill_load(&after, config);
	differs = memcmp(&before, &after, sizeof before) != 0;
	words_added(k, &after.work.options);
	json_free(config);
	return differs;
}

/* Is the word of a choice what a case has without the key? */
static bool
is_usual(const struct config_key *k, const char *word)
{
	if (k->usual)
		return strcmp(word, k->usual) == 0;
	return (k->made || k->form == CONFIG_ID_ENGINE) &&
	    strncmp(k->inner, word, strlen(word)) == 0;
}

static void
check_reach(const struct config_key *k, const char *word)
{
	/* Those of the server, of the whole case and of the session. */
	static const char others[] =
	    "populate_with tls_mode io_threads unixsocket no_flush "
	    "server_config_file rdb setup_commands teardown_commands "
	    "flush_before restart_before engine trace";
	struct json *v = make_value(k, word);

	if (v)
		tap_ok(changes_load(k, v) ==
			!str_has_part(others, k->identity, ' '),
		    "%s%s%s is %s", k->name, word ? " " : "", word ? word : "",
		    str_has_part(others, k->identity, ' ')
			? "not of the load"
			: "known to the load");
}

/* Each key that tells cases apart has an effect. */
static void
reach(void)
{
	for (const struct config_key *k = config_keys; k->name; k++) {
		char *words, *rest;

		if (k->identity && k->rule != CONFIG_CHOICE)
			check_reach(k, NULL);
		if (!k->identity || k->rule != CONFIG_CHOICE)
			continue;
		words = mem_str(k->inner);
		for (char *word = strtok_r(words, "|", &rest); word;
		     word = strtok_r(NULL, "|", &rest))
			if (!is_usual(k, word))
				check_reach(k, word);
		free(words);
	}
}

int
main(void)
{
	if (!freopen("/dev/null", "w", stderr)) /* refusals are reported */
		return 2;
	limits();
	rules();
	earlier();
	servers();
	flags();
	reach();
	return tap_done();
}
