#include "flat.h"
#include "json.h"
#include "metric.h"
#include "record.h"
#include "str.h"

#include <string.h>

/* Where a key of the flat form goes; the rest of the scalars are config. */
static const struct {
	const char *flat, *room, *key;
} rooms[] = {
    {"commit", "subject", "commit"},
    {"timestamp", "subject", "time"},
    {"repository", "subject", "repository"},
    {"module_commit", "subject", "module_commit"},
    {"module_commit_timestamp", "subject", "module_time"},
    {"tls", "config", "tls_mode"},
    {"warmup", "config", "warmup_s"},
    {"duration", "config", "duration_s"},
    {"valkey_benchmark_threads", "config", "benchmark_threads"},
    {"architecture", "env", "arch"},
    {"group_description", NULL, NULL},
    {"scenario_description", NULL, NULL},
    {"benchmark_mode", NULL, NULL},
    {"config_name", NULL, NULL},
};

bool
flat_is(const struct json *obj)
{
	return !json_get(obj, "type") && json_get(obj, "command") &&
	    (json_get(obj, "rps") || json_get(obj, "status"));
}

/*
 * "LRANGE_100 (first 100 elements)" and "MSET (10 keys)" are our names, and
 * LRANGE kept only the first of its results.
 */
static void
command_name(struct json *config)
{
	const char *s = json_get_str(config, "command"), *cut;
	struct str name = {0};

	if (s && strcmp(s, "LRANGE") == 0) {
		json_set_str(config, "command", "LRANGE_100");
		return;
	}
	cut = s ? strstr(s, " (") : NULL;
	if (!cut || s[strlen(s) - 1] != ')')
		return;
	str_addn(&name, s, (size_t)(cut - s));
	json_set_str(config, "command", name.s);
	str_free(&name);
}

static void
put(struct json *run, const char *room, const char *key, struct json *value)
{
	enum json_type type = json_type(value);

	/* null and an empty config_set: nothing was set. */
	if (type == JSON_NULL || (type == JSON_OBJECT && !json_first(value)))
		json_free(value);
	else
		json_set(json_get(run, room), key, value);
}

static void
sort_in(struct json *run, const char *name, struct json *v)
{
	for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
		if (strcmp(rooms[i].flat, name) != 0)
			continue;
		if (rooms[i].room)
			put(run, rooms[i].room, rooms[i].key, v);
		else
			json_free(v);
		return;
	}
	if (metric_find(name) && strcmp(name, "requests") != 0)
		put(run, "metrics", name, v);
	else if (str_starts(name, "env_"))
		put(run, "env", name + 4, v);
	else if (strcmp(name, "status") == 0 || strcmp(name, "error") == 0)
		json_set(run, name, v);
	else
		put(run, "config", name, v);
}

struct json *
flat_to_run(struct json *obj)
{
	struct json *run = record_new("run"), *v;
	const char *status;
	struct str key = {0};

	json_set(run, "subject", json_object());
	json_set(run, "config", json_object());
	json_set(run, "run", json_object());
	json_set(run, "env", json_object());
	json_set(run, "metrics", json_object());
	while ((v = json_first(obj))) {
		str_clear(&key);
		str_add(&key, json_key(v));
		sort_in(run, key.s, json_detach(obj, key.s));
	}
	command_name(json_get(run, "config"));
	status = json_get_str(run, "status");
	json_set_str(run, "status",
	    !status || strcmp(status, "success") == 0 ? "ok" : status);
	str_free(&key);
	json_free(obj);
	return run;
}
