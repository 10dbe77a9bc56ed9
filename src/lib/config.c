/* Over 500 lines: the checks of one configuration, which read from top to
 * bottom. */
#include "config.h"
#include "configconn.h"
#include "configfit.h"
#include "configplain.h"
#include "configreplay.h"
#include "configwalk.h"
#include "cpulist.h"
#include "err.h"
#include "json.h"
#include "ownsettings.h"
#include "redact.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_object(
    struct configwalk *, const char *section, struct json *);

/* Is it a value of a setting on the command line of a server? */
static bool
is_own_setting(const struct json *v)
{
	bool words, lines = config_has_lines(json_key(v), &words);

	if (json_type(v) == JSON_OBJECT)
		return redact_is_secret(json_key(v)) && json_len(v) == 1 &&
		    json_get_str(v, "env") && *json_get_str(v, "env");
	if (!lines || json_type(v) != JSON_ARRAY)
		return json_type(v) == JSON_NUMBER && !words;
	for (v = json_first(v); v; v = json_next(v))
		if (!json_str(v))
			return false;
	return true;
}

/* Checks a setting of the server, which has this value. */
static void
check_setting(
    struct configwalk *w, const struct config_key *k, const struct json *v)
{
	const char *name = json_key(v);
	const struct own_setting *own = ownsettings_find(name);

	if (!ownsettings_is_name(name))
		configwalk_problem(
		    w, "'%s' is not the name of a server setting", name);
	if (k->rule != CONFIG_SETTINGS_SETS)
		return;
	if (redact_is_secret(name))
		configwalk_problem(w,
		    "'%s' is a secret: move it to 'custom-server-configs'",
		    name);
	if (own && !own->needs_key)
		configwalk_problem(w,
		    "'%s' cannot be changed, since %s%s%s sets it", name,
		    own->config_key ? "the key '" : "vkb-serve",
		    own->config_key ? own->config_key : "",
		    own->config_key ? "' of the configuration" : "");
}

/* Checks the members of a value that fits its rule. */
static void
check_members(struct configwalk *w, const struct config_key *k, struct json *v)
{
	bool fits;
	size_t len;

	if (k->rule == CONFIG_OBJECT || k->rule == CONFIG_OBJECTS) {
		check_object(w, k->inner, v);
		return;
	}
	if (k->rule != CONFIG_SETTINGS && k->rule != CONFIG_SETTINGS_SETS &&
	    k->rule != CONFIG_SUFFIXES)
		return;
	if (json_type(v) != JSON_OBJECT)
		return;
	for (struct json *m = json_first(v); m; m = json_next(m)) {
		if (k->rule != CONFIG_SUFFIXES)
			check_setting(w, k, m);
		fits = k->rule == CONFIG_SETTINGS
		    ? is_own_setting(m)
		    : json_type(m) == JSON_NUMBER && k->rule != CONFIG_SUFFIXES;
		if (fits || json_str(m))
			continue;
		len = configwalk_key(w, json_key(m));
		configfit_report(w, k, m);
		configwalk_leave(w, len);
	}
}

static void
check_list(struct configwalk *w, const struct config_key *k, struct json *v)
{
	size_t i = 0, len;

	if (!json_len(v) && k->min >= 0)
		configfit_report(w, k, v);
	for (struct json *m = json_first(v); m; m = json_next(m)) {
		len = configwalk_index(w, i++);
		if (configfit_matches(w, k, m))
			check_members(w, k, m);
		else
			configfit_report(w, k, m);
		configwalk_leave(w, len);
	}
}

static void
check_value(struct configwalk *w, const struct config_key *k, struct json *v)
{
	bool must = k->rule == CONFIG_TEXTS || k->rule == CONFIG_WHOLES ||
	    k->rule == CONFIG_CPUSETS || k->rule == CONFIG_SETTINGS_SETS ||
	    k->rule == CONFIG_OBJECTS;
	bool may = k->rule == CONFIG_MODES || k->rule == CONFIG_AXIS ||
	    k->rule == CONFIG_RATES || k->rule == CONFIG_KEYSPECS ||
	    k->rule == CONFIG_VALUESPECS || k->rule == CONFIG_TTLS ||
	    k->rule == CONFIG_MIXES;

	if (json_type(v) == JSON_ARRAY && (must || may))
		check_list(w, k, v);
	else if (must || !configfit_matches(w, k, v))
		configfit_report(w, k, v);
	else
		check_members(w, k, v);
}

static void
report_unknown_key(struct configwalk *w, const char *section, const char *key)
{
	const char *names[128], *near;
	size_t n = 0;
	char hint[160] = "";

	for (const struct config_key *k = config_keys; k->name; k++)
		if (strcmp(k->section, section) == 0 && n < 127)
			names[n++] = k->name;
	names[n] = NULL;
	near = str_nearest(key, names);
	if (near)
		snprintf(hint, sizeof hint, ", did you mean '%s'?", near);
	if (w->lenient)
		err_say(
		    "%s: %s: unknown key, ignored%s", w->name, w->path.s, hint);
	else
		configwalk_problem(w, "unknown key%s", hint);
}

static void
check_required(
    struct configwalk *w, const struct json *obj, const char *const *keys)
{
	for (; *keys; keys++)
		if (!json_get(obj, *keys))
			configwalk_problem(
			    w, "Missing required key: %s", *keys);
}

/* Replaces words such as "yes" by booleans, as Python's parse_bool does. */
static void
convert_truths(struct json *obj, const char *key)
{
	const struct json *v = json_get(obj, key);
	struct json *all;

	if (json_type(v) != JSON_ARRAY) {
		if (configfit_parse_truth(v) >= 0)
			json_set_bool(obj, key, configfit_parse_truth(v));
		return;
	}
	all = json_array();
	for (v = json_first(v); v; v = json_next(v))
		json_push(all, json_boolean(configfit_parse_truth(v) == 1));
	json_set(obj, key, all);
}

/* Renames 'ingestion' and 'search', which older files have. */
static void
rename_delays(struct configwalk *w, struct json *delays)
{
	static const char *const names[][2] = {
	    {"ingestion", "write"}, {"search", "read"}};

	for (size_t i = 0; i < 2; i++) {
		if (!json_get(delays, names[i][0]))
			continue;
		if (json_get(delays, names[i][1]))
			configwalk_problem(w,
			    "Cannot specify both '%s' and '%s', which mean "
			    "the same",
			    names[i][0], names[i][1]);
		else
			json_set(delays, names[i][1],
			    json_detach(delays, names[i][0]));
	}
}

/* Replaces a mix that is a list of objects by its text. */
static void
convert_mix(struct configwalk *w, const struct config_key *k, struct json *obj)
{
	const struct json *v = json_get(obj, k->name);
	char *text = configfit_read_mix(w, k, v);

	if (text)
		json_set_str(obj, k->name, text);
	free(text);
}

static bool
is_list_of_objects(const struct json *v)
{
	return json_type(v) == JSON_ARRAY && json_len(v) &&
	    json_type(json_first(v)) == JSON_OBJECT;
}

/* Checks the keys of an object, except "any". Null counts as absent where
 * Python's files have it. */
static void
check_object(struct configwalk *w, const char *section, struct json *obj)
{
	static const char *const path[] = {"path", NULL};
	const struct config_key *k;
	struct json *m, *next;
	const char *name;
	size_t len;

	if (strcmp(section, "any") == 0)
		return;
	if (strcmp(section, "module") == 0)
		check_required(w, obj, path);
	for (m = json_first(obj); m; m = next) {
		next = json_next(m);
		name = json_key(m);
		if (str_starts(name, "x-"))
			continue;
		k = config_find(section, name);
		len = configwalk_key(w, name);
		if (!k)
			report_unknown_key(w, section, name);
		else if (json_type(m) == JSON_NULL &&
		    (strcmp(name, "requests") == 0 ||
			strcmp(name, "duration") == 0))
			json_del(obj, name);
		else if ((k->rule == CONFIG_MIX || k->rule == CONFIG_MIXES) &&
		    is_list_of_objects(m))
			convert_mix(w, k, obj);
		else {
			check_value(w, k, m);
			if (k->rule == CONFIG_BOOL || k->rule == CONFIG_MODES)
				convert_truths(obj, name);
		}
		configwalk_leave(w, len);
	}
	if (strcmp(section, "delays") == 0)
		rename_delays(w, obj);
}

static void
check_overlap(struct configwalk *w, const struct json *a, const struct json *b,
    const char *what)
{
	cpu_set_t x, y, both;
	const char *why;

	if (!json_str(a) || !json_str(b) ||
	    cpulist_parse(json_str(a), &x, &why) < 0 ||
	    cpulist_parse(json_str(b), &y, &why) < 0)
		return;
	CPU_AND(&both, &x, &y);
	if (CPU_COUNT(&both))
		configwalk_problem(w, "%s overlap: \"%s\" and \"%s\"", what,
		    json_str(a), json_str(b));
}

static void
check_cpus(struct configwalk *w, const struct json *cfg)
{
	static const char *const both[] = {
	    "cores_per_server", "cores_per_client", NULL};
	const struct json *alloc = json_get(cfg, "cpu_allocation");
	const struct json *server = json_get(cfg, "server_cpu_range");
	const struct json *client = json_get(cfg, "client_cpu_range");
	size_t len;

	check_overlap(
	    w, server, client, "server_cpu_range and client_cpu_range");
	if (!alloc || json_type(alloc) != JSON_OBJECT)
		return;
	if (server || client)
		configwalk_problem(w,
		    "Cannot specify both 'cpu_allocation' and '%s'",
		    server ? "server_cpu_range" : "client_cpu_range");
	len = configwalk_key(w, "cpu_allocation");
	check_required(w, alloc, both);
	for (const struct json *a = json_first(json_get(alloc, "servers")); a;
	     a = json_next(a))
		for (const struct json *b =
			 json_first(json_get(alloc, "clients"));
		     b; b = json_next(b))
			check_overlap(w, a, b, "servers and clients");
	configwalk_leave(w, len);
}

/* Checks that the keys of the server do not contradict each other. */
static void
check_server(struct configwalk *w, const struct json *cfg)
{
	const struct json *own = json_get(cfg, "custom-server-configs");
	const struct json *ports = json_get(cfg, "cluster_ports");
	double last = NAN, nodes = json_get_num(cfg, "cluster_nodes", NAN);
	size_t len;

	if (json_get(own, "io-threads") && json_get(cfg, "io-threads")) {
		len = configwalk_key(w, "custom-server-configs");
		configwalk_problem(w,
		    "Cannot specify both 'io-threads' here and as a "
		    "key of the configuration");
		configwalk_leave(w, len);
	}
	if (!ports || json_type(ports) != JSON_ARRAY)
		return;
	len = configwalk_key(w, "cluster_ports");
	for (const struct json *p = json_first(ports); p; p = json_next(p)) {
		if (!isnan(last) && json_num(p, NAN) != last + 1) {
			configwalk_problem(w,
			    "ports must be consecutive: %g does not "
			    "follow %g",
			    json_num(p, NAN), last);
			break;
		}
		last = json_num(p, NAN);
	}
	if (!isnan(nodes) && (double)json_len(ports) < nodes)
		configwalk_problem(
		    w, "%zu ports for %g nodes", json_len(ports), nodes);
	configwalk_leave(w, len);
}

/* Checks each object of a list. */
static void
check_elements(struct configwalk *w, const struct json *of, const char *key,
    void (*check)(struct configwalk *, const struct json *))
{
	size_t i = 0, len = configwalk_key(w, key), at;

	for (const struct json *j = json_first(json_get(of, key)); j;
	     j = json_next(j)) {
		at = configwalk_index(w, i++);
		if (json_type(j) == JSON_OBJECT)
			check(w, j);
		configwalk_leave(w, at);
	}
	configwalk_leave(w, len);
}

static void
check_keys(struct configwalk *w, const struct json *of)
{
	static const char *const sizes[] = {"data_sizes", "data_size"};

	if (json_get(of, "keys") && json_get_bool(of, "sequential", false))
		configwalk_problem(
		    w, "Cannot specify both 'keys' and 'sequential'");
	for (size_t i = 0; i < 2; i++)
		if (json_get(of, "values") && json_get(of, sizes[i]))
			configwalk_problem(w,
			    "Cannot specify both 'values' and '%s'", sizes[i]);
}

/* A search chooses the rate, and its trials have a duration. */
static void
check_slo(struct configwalk *w, const struct json *of)
{
	static const char *const others[] = {"rate", "requests"};

	for (size_t i = 0; i < 2; i++)
		if (json_get(of, "slo") && json_get(of, others[i]))
			configwalk_problem(
			    w, "Cannot specify both 'slo' and '%s'", others[i]);
}

static void
check_part(struct configwalk *w, const struct json *part)
{
	check_keys(w, part);
	if (!json_get(part, "command") && !json_get(part, "test"))
		configwalk_problem(w, "Missing required key: command");
}

/* Checks that a scenario has one test, one command, or writes and reads. */
static void
check_scenario(struct configwalk *w, const struct json *s)
{
	const char *type = json_get_str(s, "type");
	bool parts = json_get(s, "writes") || json_get(s, "reads");
	bool test = json_get(s, "test"), command = json_get(s, "command");
	bool mix = json_get(s, "mix");

	check_keys(w, s);
	check_slo(w, s);
	if (json_get_num(s, "warmup", 0) > 0 &&
	    json_get_num(s, "warmup_inline", 0) > 0)
		configwalk_problem(
		    w, "Cannot specify both 'warmup' and 'warmup_inline'");
	if (type && strcmp(type, "mixed") == 0) {
		if (!parts)
			configwalk_problem(w,
			    "a mixed scenario needs 'writes' or "
			    "'reads'");
	} else if (parts)
		configwalk_problem(
		    w, "'writes' and 'reads' need type \"mixed\"");
	else if (test + command + mix > 1)
		configwalk_problem(w, "Cannot specify both '%s' and '%s'",
		    test ? "test" : "command", mix ? "mix" : "command");
	else if (!test && !command && !mix)
		configwalk_problem(w, "Missing required key: command");
	if (mix && parts)
		configwalk_problem(
		    w, "Cannot specify both 'mix' and 'writes' or 'reads'");
	if (json_get(s, "mix_order") && !mix)
		configwalk_problem(w, "'mix_order' needs a 'mix'");
	check_elements(w, s, "writes", check_part);
	check_elements(w, s, "reads", check_part);
}

static void
check_group(struct configwalk *w, const struct json *g)
{
	static const char *const needed[] = {"scenarios", NULL};

	check_required(w, g, needed);
	check_elements(w, g, "scenarios", check_scenario);
}

/* Moves the scenarios at the top into one group without a name. */
static void
wrap_scenarios(struct json *cfg)
{
	struct json *all, *group;

	if (!json_get(cfg, "scenarios") || json_get(cfg, "test_groups"))
		return;
	group = json_object();
	json_set(group, "scenarios", json_detach(cfg, "scenarios"));
	all = json_array();
	json_push(all, group);
	json_set(cfg, "test_groups", all);
}

static void
check_config(struct configwalk *w, struct json *cfg)
{
	char *s;

	if (json_type(cfg) != JSON_OBJECT) {
		s = configfit_format(cfg);
		configwalk_problem(
		    w, "a configuration must be an object, not %s", s);
		free(s);
		return;
	}
	check_object(w, "config", cfg);
	if (configreplay_check(w, cfg) || configplain_is(cfg))
		configplain_check(w, cfg);
	else if (!json_get(cfg, "test_groups") && !json_get(cfg, "scenarios"))
		configwalk_problem(w,
		    "neither 'commands' nor 'mix' nor 'test_groups' is given");
	if (json_get(cfg, "populate_with") &&
	    (json_get(cfg, "test_groups") || json_get(cfg, "scenarios")))
		configwalk_problem(
		    w, "'populate_with' goes into each scenario");
	check_elements(w, cfg, "scenarios", check_scenario);
	check_elements(w, cfg, "test_groups", check_group);
	check_keys(w, cfg);
	check_slo(w, cfg);
	check_cpus(w, cfg);
	check_server(w, cfg);
	configconn_check(w, cfg);
	if (configplain_is(cfg))
		configplain_complete(cfg);
	wrap_scenarios(cfg);
}

struct json *
config_check(struct json *doc, const char *name, bool lenient)
{
	struct configwalk w = {.name = name, .lenient = lenient};
	struct json *all = doc;
	size_t i = 0, len;

	str_add(&w.path, "$");
	if (json_type(doc) == JSON_OBJECT) {
		all = json_array();
		json_push(all, doc);
		check_config(&w, doc);
	} else if (json_type(doc) == JSON_ARRAY) {
		for (struct json *c = json_first(doc); c; c = json_next(c)) {
			len = configwalk_index(&w, i++);
			check_config(&w, c);
			configwalk_leave(&w, len);
		}
		if (!i)
			configwalk_problem(&w, "No configurations found");
	} else
		configwalk_problem(&w, "expected an array of objects, not a %s",
		    json_type_name(json_type(doc)));
	str_free(&w.path);
	if (!w.problems) {
		ownsettings_ignore(all, name);
		return all;
	}
	json_free(all);
	return NULL;
}
