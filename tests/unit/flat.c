/*
 * The flat metrics.json, on random runs: it has only keys of the Python tool,
 * reading it gives what these keys can hold, and with the record in it the
 * whole run.
 */
#include "tap.h"

#include "flat.h"
#include "json.h"
#include "record.h"
#include "rng.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>

#define RUNS 2000

/* The keys that the Python tool writes. */
static const char *const python[] = {"timestamp", "commit", "repository",
    "command", "data_size", "pipeline", "clients", "rps", "avg_latency_ms",
    "min_latency_ms", "p50_latency_ms", "p95_latency_ms", "p99_latency_ms",
    "max_latency_ms", "cluster_mode", "tls", "duration", "requests",
    "benchmark_mode", "io_threads", "valkey_benchmark_threads", "warmup",
    "architecture", "env_kernel_version", "env_os", "env_cpu_model",
    "env_cpu_governor", "env_turbo_boost", "env_idle_states", "env_aslr",
    "env_thp", "env_numa_nodes", "env_cpu_freq_mhz_at_setup",
    "env_server_cpu_range", "env_client_cpu_range",
    "env_benchmark_tool_version", "status", "error", "test_id", "test_phase",
    "group", "scenario", "group_description", "scenario_description",
    "config_set", "config_name", "module_commit", "module_commit_timestamp",
    "dataset"};

static bool
is_python(const char *key)
{
	for (size_t i = 0; i < sizeof python / sizeof *python; i++)
		if (strcmp(python[i], key) == 0)
			return true;
	return false;
}

/* Keys of each section; only the first ones have a key in the flat form. */
static const char *const subject[] = {"commit", "module_commit", "time",
    "repository", "label", "ref", "server_version", "binary_sha256", NULL};
static const char *const config[] = {"command", "data_size", "pipeline",
    "clients", "cluster_mode", "tls_mode", "duration_s", "requests",
    "io_threads", "benchmark_threads", "warmup_s", "test_id", "test_phase",
    "group", "scenario", "config_set", "dataset", "keyspacelen", "engine",
    "rate", "resp3", "cpu_mode", NULL};
static const char *const env[] = {"arch", "kernel", "os", "cpu_model",
    "governor", "turbo", "idle_states", "aslr", "thp", "numa_nodes",
    "server_cpus", "client_cpus", "benchmark_tool_version", "host", "cpus",
    NULL};
static const char *const metrics[] = {"rps", "avg_latency_ms", "min_latency_ms",
    "p50_latency_ms", "p95_latency_ms", "p99_latency_ms", "max_latency_ms",
    "p999_latency_ms", "requests", "elapsed_s", "cpu0_busy_percent",
    "cpu191_busy_percent", "memory_mb", "new_metric", NULL};

static struct json *
random_value(struct rng *r, const char *key)
{
	static const char *const texts[] = {"SET", "MSET", "LRANGE_100",
	    "HSET k:__rand_int__ \"f\"", "1_a", ""};
	static const char *const times[] = {
	    "2026-01-02T03:04:05Z", "2026-11-22T17:40:00.736Z"};
	struct json *set;

	if (strcmp(key, "time") == 0)
		return json_string(times[rng_below(r, 2)]);
	if (strcmp(key, "repository") == 0)
		return json_string("valkey-io/valkey");
	if (strcmp(key, "config_set") == 0) {
		set = json_object();
		json_set_num(set, "maxmemory-samples", 3);
		return set;
	}
	if (strcmp(key, "turbo") == 0 || strstr(key, "_mode") ||
	    strcmp(key, "resp3") == 0)
		return json_boolean(rng_below(r, 2));
	if (strcmp(key, "command") == 0 || strcmp(key, "commit") == 0 ||
	    rng_below(r, 8) == 0)
		return json_string(texts[rng_below(r, 6)]);
	return json_number((double)rng_below(r, 100000));
}

static struct json *
random_section(struct rng *r, const char *const *keys, bool numbers)
{
	struct json *section = json_object();

	for (; *keys; keys++)
		if (rng_below(r, 4))
			json_set(section, *keys,
			    numbers ? json_number(ldexp(rng_unit(r),
					  1 + (int)rng_below(r, 40)))
				    : random_value(r, *keys));
	return section;
}

static struct json *
random_run(struct rng *r)
{
	struct json *run = record_new("run"), *section;

	json_set(run, "subject", random_section(r, subject, false));
	json_set(run, "config", random_section(r, config, false));
	json_set(json_get(run, "config"), "command", json_string("GET"));
	section = json_object();
	json_set_str(section, "session", "s");
	json_set_num(section, "index", (double)rng_below(r, 9) + 1);
	json_set_str(section, "started", "2026-03-01T09:00:00Z");
	json_set(run, "run", section);
	json_set(run, "env", random_section(r, env, false));
	json_set(run, "metrics", random_section(r, metrics, true));
	json_set(json_get(run, "metrics"), "rps", json_number(rng_unit(r)));
	json_set_str(run, "status", "ok");
	return run;
}

/* Returns whether the section of the run that was read has only what was
 * written. */
static bool
is_part(const struct json *read, const struct json *run, const char *section)
{
	for (const struct json *j = json_first(json_get(read, section)); j;
	     j = json_next(j))
		if (!json_equal(
			j, json_get(json_get(run, section), json_key(j))))
			return false;
	return true;
}

static bool
is_known(const struct json *flat)
{
	for (const struct json *j = json_first(flat); j; j = json_next(j))
		if (!is_python(json_key(j)))
			return false;
	return true;
}

static bool
differ(const struct json *a, const struct json *b)
{
	char *x, *y;

	if (json_equal(a, b))
		return false;
	x = json_print(a);
	y = json_print(b);
	printf("# %s\n# %s\n", x, y);
	free(x);
	free(y);
	return true;
}

/* What is wrong with the run, as bits. */
enum { KEYS = 1, PARTS = 2, TWICE = 4, WHOLE = 8, IDENTITY = 16 };

static unsigned
check(const struct json *run)
{
	struct json *flat = flat_from_run(run, false), *read, *again, *x, *y;
	unsigned wrong = is_known(flat) ? 0 : KEYS;

	read = flat_to_run(json_dup(flat));
	if (!is_part(read, run, "config") || !is_part(read, run, "metrics") ||
	    !is_part(read, run, "env"))
		wrong |= PARTS;
	again = flat_from_run(read, false);
	wrong |= differ(flat, again) ? TWICE : 0;
	x = flat_identity(run);
	y = flat_identity(read);
	if (json_get(json_get(run, "metrics"), "avg_latency_ms") &&
	    !json_get(json_get(run, "metrics"), "new_metric") &&
	    !json_get(json_get(run, "config"), "cpu_mode"))
		wrong |= differ(x, y) ? IDENTITY : 0;
	json_free(x);
	json_free(y);
	json_free(again);
	json_free(read);
	read = flat_to_run(flat_from_run(run, true));
	wrong |= differ(read, run) ? WHOLE : 0;
	json_free(read);
	json_free(flat);
	return wrong;
}

static void
property(void)
{
	struct rng r;
	unsigned wrong = 0;

	rng_seed(&r, 11, 0);
	for (int i = 0; i < RUNS && !wrong; i++) {
		struct json *run = random_run(&r);

		wrong = check(run);
		json_free(run);
	}
	tap_ok(!(wrong & KEYS), "only keys of the Python tool are written");
	tap_ok(
	    !(wrong & PARTS), "the run that is read has only what was written");
	tap_ok(!(wrong & TWICE), "a file that was read is written unchanged");
	tap_ok(!(wrong & WHOLE),
	    "a run with its record in the file is read back whole");
	tap_ok(!(wrong & IDENTITY),
	    "a run and its form in metrics.json have the same identity");
}

/* Returns an array with two records of one text, which the caller frees. */
static struct json *
read_text(const char *text)
{
	return flat_to_run(json_parse(text, strlen(text), NULL, NULL));
}

static void
repositories(void)
{
	static const char *const names[][2] = {
	    {"valkey-io/valkey", "valkey-io/valkey"},
	    {"https://github.com/valkey-io/valkey.git", "valkey-io/valkey"},
	    {"git@github.com:me/mine", "me/mine"}, {"/srv/valkey", NULL},
	    {"../valkey", NULL}, {"https://example.org/a/b.git", NULL}};
	struct json *run, *flat;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		run = record_new("run");
		json_set(run, "subject", json_object());
		json_set_str(
		    json_get(run, "subject"), "repository", names[i][0]);
		flat = flat_from_run(run, false);
		tap_str(
		    json_get_str(flat, "repository"), names[i][1], names[i][0]);
		json_free(flat);
		json_free(run);
	}
}

/* What is in the identity of a run, by the metrics it has. */
static void
identity(void)
{
	static const char text[] =
	    "{\"type\":\"run\",\"v\":1,\"subject\":{\"commit\":\"c\"},"
	    "\"config\":{\"command\":\"SET\",\"engine\":\"native\","
	    "\"keyspacelen\":7,\"cpu_mode\":\"m\"},\"env\":{\"os\":\"o\"},"
	    "\"metrics\":{\"rps\":1,\"avg_latency_ms\":2,"
	    "\"p999_latency_ms\":3,\"new_metric\":4},\"status\":\"ok\"}";
	struct json *run = json_parse(text, sizeof text - 1, NULL, NULL);
	struct json *id = flat_identity(run);

	tap_str(json_get_str(id, "cpu_mode"), "m",
	    "identity: other keys of the configuration are part of it");
	tap_ok(!json_get(id, "engine") && !json_get(id, "keyspacelen") &&
		!json_get(id, "env_os"),
	    "identity: keys that only vkb-load records, and the environment, "
	    "are not part of it");
	tap_ok(json_get_num(id, "rps", 0) == 1 &&
		json_get_num(id, "new_metric", 0) == 4,
	    "identity: metrics of the Python tool and unknown metrics are part "
	    "of it");
	tap_ok(!json_get(id, "p999_latency_ms"),
	    "identity: other metrics of vkb-load are not part of it");
	json_free(id);
	json_del(json_get(run, "metrics"), "avg_latency_ms");
	id = flat_identity(run);
	tap_ok(json_get_num(id, "p999_latency_ms", 0) == 3,
	    "identity: they are part of it if a metric of the Python tool is "
	    "missing");
	json_free(id);
	json_free(run);
}

/* The columns of a table if keys of two sections have the same name. */
static void
columns(void)
{
	static const char text[] =
	    "{\"type\":\"run\",\"v\":1,\"config\":{\"command\":\"SET\","
	    "\"requests\":10,\"rate\":5},\"env\":{\"host\":\"h\"},"
	    "\"metrics\":{\"rps\":1,\"requests\":11,\"new_metric\":4},"
	    "\"status\":\"ok\"}";
	struct json *run = json_parse(text, sizeof text - 1, NULL, NULL);
	struct json *obj = flat_columns(run);

	tap_ok(json_get_num(obj, "requests", 0) == 10 &&
		json_get_num(obj, "requests_done", 0) == 11,
	    "columns: 'requests' is that of the configuration; the metric is "
	    "'requests_done'");
	tap_str(json_get_str(obj, "env_host"), "h",
	    "columns: a key of the environment has a prefix");
	tap_ok(json_get_num(obj, "rate", 0) == 5 &&
		json_get_num(obj, "new_metric", 0) == 4,
	    "columns: other keys have their names");
	json_free(obj);
	json_free(run);
}

static void
statuses(void)
{
	static const char *const words[][2] = {{"\"success\"", "ok"},
	    {"\"ok\"", "ok"}, {"\"failed\"", "failed"},
	    {"\"timeout\"", "timeout"}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		char text[80];
		struct json *run;

		snprintf(text, sizeof text,
		    "{\"command\":\"SET\",\"rps\":1,\"status\":%s}",
		    words[i][0]);
		run = read_text(text);
		tap_str(json_get_str(run, "status"), words[i][1], text);
		json_free(run);
	}
}

int
main(void)
{
	property();
	identity();
	columns();
	statuses();
	repositories();
	return tap_done();
}
