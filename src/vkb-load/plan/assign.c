#include "assign.h"
#include "config.h"
#include "configfit.h"
#include "configreplay.h"
#include "configwalk.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/* A configuration cannot have both; setting the first removes the second. */
static const char *const exclusive[][2] = {{"keys", "sequential"},
    {"values", "data_sizes"}, {"values", "data_size"}, {"slo", "rate"},
    {"slo", "requests"}, {"rate", "slo"}, {"mix", "commands"},
    {"mix", "command"}, {"mix", "test"}, {"mix", "mix_order"},
    {"commands", "mix"}, {"requests", "duration"}, {"duration", "requests"}};

/* Returns the row of a key that can be set by a text, or NULL, error reported.
 */
static const struct config_key *
find_key(const char *name)
{
	const struct config_key *k = config_find("config", name);
	const char *names[128], *near;
	size_t n = 0;

	if (k)
		switch (k->rule) {
		case CONFIG_ANY:
		case CONFIG_SETTINGS:
		case CONFIG_SETTINGS_SETS:
		case CONFIG_SUFFIXES:
		case CONFIG_OBJECT:
		case CONFIG_OBJECTS:
		case CONFIG_CPUSETS:
			err_say("option '--set': '%s' is more than a text or a "
				"number: write it into a configuration",
			    name);
			return NULL;
		default:
			return k;
		}
	for (k = config_keys; k->name; k++)
		if (strcmp(k->section, "config") == 0 && n < 127)
			names[n++] = k->name;
	names[n] = NULL;
	near = str_nearest(name, names);
	err_say("option '--set': a configuration has no key '%s'%s%s%s", name,
	    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

/* Returns the number that the text is, or the text. */
static struct json *
read_scalar(const struct config_key *k, const char *text)
{
	double v;

	if (k->rule == CONFIG_SECONDS
		? num_duration(text, &v) == 0
		: (k->rule == CONFIG_WHOLE || k->rule == CONFIG_WHOLES ||
		      k->rule == CONFIG_AXIS || k->rule == CONFIG_SEED ||
		      k->rule == CONFIG_SPEED) &&
		    num_real(text, &v) == 0)
		return json_number(v);
	if (k->rule == CONFIG_SEED && strcmp(text, "true") == 0)
		return json_boolean(true);
	if (k->rule == CONFIG_SEED && strcmp(text, "false") == 0)
		return json_boolean(false);
	return json_string(text);
}

/* Returns the value as a configuration has it. */
static struct json *
read_value(const struct config_key *k, const char *text)
{
	struct json *list;
	char *word;
	size_t n;

	if (k->rule != CONFIG_WHOLES && k->rule != CONFIG_AXIS &&
	    k->rule != CONFIG_TEXTS)
		return read_scalar(k, text);
	list = json_array();
	if (k->rule == CONFIG_TEXTS) {
		json_push(list, json_string(text));
		return list;
	}
	for (bool more = true; more; text += n + 1) {
		n = strcspn(text, ",");
		more = text[n];
		word = mem_strn(text, n);
		json_push(list, read_scalar(k, word));
		free(word);
	}
	return list;
}

/* Checks one value, or each of a list. 0, or -1, error reported. */
static int
check_value(const struct config_key *k, const struct json *v, const char *given)
{
	struct configwalk w = {.name = "option '--set'"};

	str_add(&w.path, given);
	if (json_type(v) != JSON_ARRAY) {
		if (!configfit_matches(&w, k, v))
			configfit_report(&w, k, v);
	} else
		for (v = json_first(v); v; v = json_next(v))
			if (!configfit_matches(&w, k, v))
				configfit_report(&w, k, v);
	str_free(&w.path);
	return w.problems ? -1 : 0;
}

/* Adds the value of "KEY=VALUE". 0, or -1, error reported. */
static int
parse_one(struct json *to, const char *text)
{
	const char *eq = strchr(text, '=');
	char *name = eq ? mem_strn(text, (size_t)(eq - text)) : NULL;
	const struct config_key *k;
	struct json *v;
	int rc = -1;

	if (!eq || eq == text)
		err_say("option '--set': '%s' is not KEY=VALUE", text);
	else if ((k = find_key(name))) {
		v = read_value(k, eq + 1);
		rc = check_value(k, v, text);
		json_set(to, name, v);
	}
	free(name);
	return rc;
}

/* 0, or -1, error reported, if two values exclude each other. Only a mix has an
 * order. */
static int
check_pairs(const struct json *values)
{
	for (size_t i = 0; i < sizeof exclusive / sizeof *exclusive; i++)
		if (json_get(values, exclusive[i][0]) &&
		    json_get(values, exclusive[i][1]) &&
		    strcmp(exclusive[i][1], "mix_order") != 0)
			return err_fail("option '--set': '%s' and '%s' exclude "
					"each other",
			    exclusive[i][0], exclusive[i][1]);
	return 0;
}

int
assign_parse(const struct opt_list *set, struct json *values)
{
	int rc = 0;

	for (size_t i = 0; i < set->n; i++)
		if (parse_one(values, set->v[i]) < 0)
			rc = -1;
	return rc < 0 ? -1 : check_pairs(values);
}

/* Removes what contradicts the value of a key. */
static void
remove_exclusive(struct json *of, const char *name)
{
	for (size_t i = 0; i < sizeof exclusive / sizeof *exclusive; i++)
		if (strcmp(exclusive[i][0], name) == 0)
			json_del(of, exclusive[i][1]);
	for (size_t i = 0;
	     strcmp(name, "replay") == 0 && configreplay_others[i]; i++)
		json_del(of, configreplay_others[i]);
}

static void
set_value(struct json *of, const struct json *v)
{
	remove_exclusive(of, json_key(v));
	json_set(of, json_key(v), json_dup(v));
}

/* Sets a value in each scenario of a list; its writers and readers have it from
 * there. */
static void
set_in_scenarios(struct json *list, const struct json *v)
{
	static const char *const sides[] = {"writes", "reads"};
	struct json *part;

	for (struct json *s = json_first(list); s; s = json_next(s)) {
		if (json_type(s) != JSON_OBJECT)
			continue; /* an error, which the check reports */
		set_value(s, v);
		for (size_t i = 0; i < 2; i++)
			for (part = json_first(json_get(s, sides[i])); part;
			     part = json_next(part)) {
				remove_exclusive(part, json_key(v));
				json_del(part, json_key(v));
			}
	}
}

static void
set_in_config(struct json *cfg, const struct json *v)
{
	struct json *groups = json_get(cfg, "test_groups");
	struct json *scenarios = json_get(cfg, "scenarios");

	if ((!groups && !scenarios) || !config_find("scenario", json_key(v))) {
		set_value(cfg, v);
		return;
	}
	set_in_scenarios(scenarios, v);
	for (struct json *g = json_first(groups); g; g = json_next(g))
		set_in_scenarios(json_get(g, "scenarios"), v);
}

void
assign_apply(const struct json *values, struct json *doc)
{
	bool list = json_type(doc) == JSON_ARRAY;
	struct json *cfg = list ? json_first(doc) : doc;

	for (; cfg; cfg = list ? json_next(cfg) : NULL)
		if (json_type(cfg) == JSON_OBJECT)
			for (const struct json *v = json_first(values); v;
			     v = json_next(v))
				set_in_config(cfg, v);
}
