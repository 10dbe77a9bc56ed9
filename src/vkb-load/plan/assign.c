#include "assign.h"
#include "config.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/* Returns the row of a key that can be set by a text, or NULL, error reported.
 */
static const struct config_key *
find_key(const char *name)
{
	const struct config_key *k = config_find("config", name);
	const char *names[128];
	char hint[STR_HINT];
	size_t n = 0;

	if (k && k->rule != CONFIG_ANY && k->rule != CONFIG_SETTINGS &&
	    k->rule != CONFIG_SETTINGS_SET && k->rule != CONFIG_OBJECT &&
	    (k->rule != CONFIG_CPUS || k->list == CONFIG_SINGLE))
		return k;
	if (k) {
		err_say("option '--set': '%s' is more than a text or a "
			"number: write it into a configuration",
		    name);
		return NULL;
	}
	for (k = config_keys; k->name; k++)
		if (str_has_part(k->where, "config", ' ') && n < 127)
			names[n++] = k->name;
	names[n] = NULL;
	err_say("option '--set': a configuration has no key '%s'%s", name,
	    str_hint(hint, name, names));
	return NULL;
}

/* Returns the number or boolean that the text is, or the text. */
static struct json *
read_scalar(const struct config_key *k, const char *text)
{
	struct json *said = json_string(text);
	int truth = k->rule == CONFIG_BOOL ? configfit_parse_truth(said) : -1;
	double v;

	if (truth >= 0) {
		json_free(said);
		return json_boolean(truth);
	}
	json_free(said);

	if (k->rule == CONFIG_SECONDS
		? num_duration(text, &v) == 0
		: (k->rule == CONFIG_WHOLE || k->rule == CONFIG_SEED ||
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

	if (k->list == CONFIG_SINGLE ||
	    (k->list == CONFIG_LISTABLE && k->rule != CONFIG_WHOLE))
		return read_scalar(k, text);
	list = json_array();
	if (k->rule == CONFIG_TEXT) {
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
check_value(const struct config_key *k, const struct json *v,
    const char *option, const char *given)
{
	char *name = mem_printf("option '%s'", option);
	struct configwalk w = {.name = name};

	str_printf(&w.path, "%s=%s", k->name, given);
	if (json_type(v) != JSON_ARRAY) {
		if (!configfit_matches(&w, k, v))
			configfit_report(&w, "config", k, v);
	} else
		for (v = json_first(v); v; v = json_next(v))
			if (!configfit_matches(&w, k, v))
				configfit_report(&w, "config", k, v);
	str_free(&w.path);
	free(name);
	return w.problems ? -1 : 0;
}

int
assign_add(
    struct json *values, const char *option, const char *key, const char *text)
{
	const struct config_key *k = find_key(key);
	struct json *v = k ? read_value(k, text) : NULL;
	int rc = k ? check_value(k, v, option, text) : -1;

	if (v)
		json_set(values, key, v);
	return rc;
}

/* Adds the value of "KEY=VALUE". 0, or -1, error reported. */
static int
parse_one(struct json *to, const char *text)
{
	const char *eq = strchr(text, '=');
	char *name = eq ? mem_strn(text, (size_t)(eq - text)) : NULL;
	int rc = -1;

	if (!eq || eq == text)
		err_say("option '--set': '%s' is not KEY=VALUE", text);
	else
		rc = assign_add(to, "--set", name, eq + 1);
	free(name);
	return rc;
}

/* 0, or -1, error reported, if two values exclude each other. */
static int
check_pairs(const struct json *values)
{
	const struct config_key *k;

	for (const struct json *a = json_first(values); a; a = json_next(a)) {
		k = config_find("config", json_key(a));
		for (const struct json *b = json_first(values); b;
		     b = json_next(b))
			if (config_is_given(values, k->name) &&
			    config_is_given(values, json_key(b)) &&
			    config_excludes(
				k, config_find("config", json_key(b))))
				return err_fail("option '--set': '%s' and '%s' "
						"exclude each other",
				    k->name, json_key(b));
	}
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

/* Is a value replaced by that of the key, since they exclude each other, or
 * since it is the order of another mix? */
static bool
is_replaced(const struct config_key *other, const struct config_key *k)
{
	return config_excludes(k, other) ||
	    (config_excludes(other, k) && strcmp(other->name, "replay") != 0) ||
	    (other->needs && k->rule == CONFIG_MIX &&
		strcmp(other->needs, k->name) == 0);
}

/* Removes what the value replaces, and of writers and readers the value. */
static void
remove_replaced(struct json *of, const struct json *values, bool part)
{
	const struct config_key *k;

	for (const struct json *v = json_first(values); v; v = json_next(v)) {
		k = config_find("config", json_key(v));
		for (const struct config_key *o = config_keys; o->name; o++)
			if (o->rule != CONFIG_OBJECT && is_replaced(o, k) &&
			    config_is_given(values, k->name))
				json_del(of, o->name);
		if (part)
			json_del(of, k->name);
	}
}

static void
set_values(struct json *of, const struct json *values)
{
	remove_replaced(of, values, false);
	for (const struct json *v = json_first(values); v; v = json_next(v))
		json_set(of, json_key(v), json_dup(v));
}

/* Sets values in each scenario of a list; its writers and readers have them
 * from there. */
static void
set_in_scenarios(struct json *list, const struct json *values)
{
	static const char *const sides[] = {"writes", "reads"};
	struct json *part;

	for (struct json *s = json_first(list); s; s = json_next(s)) {
		if (json_type(s) != JSON_OBJECT)
			continue; /* an error, which the check reports */
		set_values(s, values);
		for (size_t i = 0; i < 2; i++)
			for (part = json_first(json_get(s, sides[i])); part;
			     part = json_next(part))
				remove_replaced(part, values, true);
	}
}

/* Returns the values that scenarios have, or those that they do not have. */
static struct json *
select_values(const struct json *values, bool scenario)
{
	struct json *some = json_object();

	for (const struct json *v = json_first(values); v; v = json_next(v))
		if (scenario == (config_find("scenario", json_key(v)) != NULL))
			json_set(some, json_key(v), json_dup(v));
	return some;
}

static void
set_in_config(struct json *cfg, const struct json *values)
{
	struct json *groups = json_get(cfg, "test_groups");
	struct json *scenarios = json_get(cfg, "scenarios");
	struct json *inner, *outer;

	if (!groups && !scenarios) {
		set_values(cfg, values);
		return;
	}
	inner = select_values(values, true);
	outer = select_values(values, false);
	set_values(cfg, outer);
	set_in_scenarios(scenarios, inner);
	for (struct json *g = json_first(groups); g; g = json_next(g))
		set_in_scenarios(json_get(g, "scenarios"), inner);
	json_free(inner);
	json_free(outer);
}

void
assign_apply(const struct json *values, struct json *doc)
{
	bool list = json_type(doc) == JSON_ARRAY;
	struct json *cfg = list ? json_first(doc) : doc;

	for (; cfg; cfg = list ? json_next(cfg) : NULL)
		if (json_type(cfg) == JSON_OBJECT)
			set_in_config(cfg, values);
}
