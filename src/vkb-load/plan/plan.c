#include "plan.h"
#include "benchcase.h"
#include "casename.h"
#include "caseset.h"
#include "cmdargs.h"
#include "config.h"
#include "err.h"
#include "inputs.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "keyspec.h"
#include "mem.h"
#include "mixspec.h"
#include "num.h"
#include "opt.h"
#include "ratespec.h"
#include "record.h"
#include "redact.h"
#include "scene.h"
#include "sink.h"
#include "slospec.h"
#include "str.h"
#include "valuespec.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/command.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Does the record lack a secret that it had when it was made? */
static bool
lacks_secret(const struct json *cas)
{
	struct json *rec = json_dup(cas);
	struct str s = {0};
	bool yes;

	/* The identity never has those of the server. */
	json_del(json_get(rec, "config"), "server_config");
	json_append(&s, rec);
	yes = redact_is_hidden(s.s);
	str_free(&s);
	json_free(rec);
	return yes;
}

static int
resolve_case(struct json *cas)
{
	struct json *b = json_get(cas, "before");
	const char *id = json_get_str(cas, "id");
	struct str why = {0};
	int rc = 0;

	for (b = json_first(b); b; b = json_next(b))
		if (resolve_case(b) < 0)
			return -1;
	if (lacks_secret(cas))
		return err_fail("case '%s': its record is without its secrets, "
				"as all files of vkb are: give the "
				"configuration instead, or write the password "
				"there as {\"env\": \"NAME\"}, which names an "
				"environment variable",
		    id);
	if (config_resolve_secrets(json_path(cas, "server.config"), &why) < 0)
		rc = err_fail("case '%s': %s", id, why.s);
	str_free(&why);
	return rc;
}

int
plan_resolve_secrets(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (resolve_case(p->cases[i]) < 0)
			return -1;
	return 0;
}

/*
 * With --no-flush the server keeps its data, so each key of vkb-load begins
 * with a prefix of the session. In the commands of scenarios "__prefix__" marks
 * its position.
 */

#define MARK COMMAND_PREFIX

/* Members of a configuration that hold commands, or lists of them. */
static const char *const command_keys[] = {
    "command", "populate_with", "setup_commands", "teardown_commands"};
#define FIRST_SETUP 2 /* the members from here on are sent once, and whole */
static const char *const side_keys[] = {"writes", "reads"};

static char *
copy_without_mark(const char *text, const void *none)
{
	return command_expand_prefix(text, none);
}

static void
strip_member(struct json *of, const char *key)
{
	json_set(of, key,
	    json_change_texts(json_get(of, key), copy_without_mark, NULL));
}

/* Removes "__prefix__" from all commands of a case's identity. */
static void
ownkeys_strip(struct json *config)
{
	struct json *p;

	for (size_t i = 0; i < 4; i++)
		strip_member(config, command_keys[i]);
	strip_member(config, "mix");
	for (size_t i = 0; i < 2; i++)
		for (p = json_first(json_get(config, side_keys[i])); p;
		     p = json_next(p))
			strip_member(p, "command");
}

/* Is it a built-in test, whose keys vkb-load names? */
static bool
is_builtin_test(const char *text)
{
	char *name = str_upper(text);
	bool yes = command_known(name);

	free(name);
	return yes;
}

/* May it write keys that it does not name? */
static bool
is_script(const char *name)
{
	char *upper = str_upper(name);
	bool yes = str_has_part("EVAL EVALSHA FCALL", upper, ' ');

	free(upper);
	return yes;
}

/* Does a command of n >= 1 words have all its keys, and are they ours? */
static bool
has_own_keys(char *const *list, size_t n)
{
	struct tracefile_word *words = cmdargs_words(list, n);
	enum cmdargs_role *roles = mem_array(n, sizeof *roles);
	bool own = cmdargs_keys(words, n, roles) && !is_script(list[0]);

	for (size_t i = 1; i < n; i++)
		own &= roles[i] != CMDARGS_KEY || str_starts(list[i], MARK);
	free(words);
	free(roles);
	return own;
}

/*
 * Are all keys of a text ours? It is 'one' command, or has ";" between several,
 * each of which may begin with the number of times that it is sent. Sets
 * 'script' if one is a script.
 */
static bool
has_prefix_marks(const char *text, bool one, bool *script)
{
	const char *why;
	size_t n = 0, at = 0, k;
	char **list = command_split(text, &n, &why);
	bool own = list && n > 0;

	while (list && (k = one ? n - at : command_next(list, n, &at, NULL))) {
		*script |= is_script(list[at]);
		own &= has_own_keys(list + at, k);
		at += k + !one;
	}
	mem_free_list(list);
	return own;
}

/*
 * Returns what is wrong with the command of a load, or with one of a list; or
 * NULL. Commands of 'setup' are sent whole, even the name of a test.
 */
static char *
check_own_commands(const struct json *j, bool setup)
{
	const char *text = json_str(j);
	char *why = NULL;
	bool script = false;

	if (text && (setup || !is_builtin_test(text)) &&
	    !has_prefix_marks(text, setup, &script))
		return mem_printf("--no-flush needs a prefix on all keys: "
				  "put " MARK " in front of each key and index "
				  "of '%s'%s",
		    text,
		    script ? "; a script may write any key, so EVAL, EVALSHA "
			     "and FCALL are refused, but not their _RO forms"
			   : "");
	for (j = json_first(j); j && !why; j = json_next(j))
		why = check_own_commands(j, setup);
	return why;
}

/* Returns what is wrong with the commands of a mix, or NULL. */
static char *
check_own_mix(const char *text)
{
	struct json *list = json_array();
	struct mixspec m;
	char *why;

	free(mixspec_parse(text, &m));
	for (size_t i = 0; i < m.n; i++)
		json_push(list, json_string(m.v[i].command));
	why = check_own_commands(list, false);
	json_free(list);
	mixspec_free(&m);
	return why;
}

char *
plan_explain_own_keys(const struct json *cas)
{
	const struct json *c = json_get(cas, "config"), *j;
	const char *mix = json_get_str(c, "mix");
	bool mixed = mix || json_get(c, "writes") || json_get(c, "reads");
	char *why = NULL;

	if (strcmp(bench_case_engine(c), BENCH_CASE_NATIVE) != 0)
		return mem_str("--no-flush needs a prefix on all keys, which "
			       "this engine does not support");
	if (json_get(c, "replay"))
		return mem_str("--no-flush needs a prefix on all keys, which "
			       "those of a trace cannot get");
	if (json_get(c, "config_set"))
		return mem_str("its config_set would change a running server, "
			       "which --no-flush forbids; use "
			       "--skip-config-set");
	if (mix)
		why = check_own_mix(mix);
	for (size_t i = mixed ? 1 : 0; i < 4 && !why; i++)
		why = check_own_commands(
		    json_get(c, command_keys[i]), i >= FIRST_SETUP);
	for (size_t i = 0; i < 2; i++)
		for (j = json_first(json_get(c, side_keys[i])); j && !why;
		     j = json_next(j))
			why = check_own_commands(json_get(j, "command"), false);
	return why;
}

/*
 * Values that the command line gives to keys of configurations: --set
 * KEY=VALUE. A value is written as in vkb-config(5), without the quotes of
 * JSON; numbers of a list are separated by commas, times may have a unit.
 */

/* Returns the row of a key that can be set by a text, or NULL, error reported.
 */
static const struct config_key *
find_set_key(const char *name)
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
read_set_value(const struct config_key *k, const char *text)
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
plan_add_value(
    struct json *values, const char *option, const char *key, const char *text)
{
	const struct config_key *k = find_set_key(key);
	struct json *v = k ? read_set_value(k, text) : NULL;
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
		rc = plan_add_value(to, "--set", name, eq + 1);
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

/*
 * Adds the values to an object, checked by the rules of their keys. 0, or -1,
 * error reported.
 */
static int
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
	struct json *part;

	for (struct json *s = json_first(list); s; s = json_next(s)) {
		if (json_type(s) != JSON_OBJECT)
			continue; /* an error, which the check reports */
		set_values(s, values);
		for (size_t i = 0; i < 2; i++)
			for (part = json_first(json_get(s, side_keys[i])); part;
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

/*
 * Sets the values in each configuration of a document that is not checked yet;
 * those that scenarios have too, in each scenario. What contradicts a value,
 * such as 'sequential' and 'keys', and values of writers and readers are
 * removed.
 */
static void
assign_apply(const struct json *values, struct json *doc)
{
	bool list = json_type(doc) == JSON_ARRAY;
	struct json *cfg = list ? json_first(doc) : doc;

	for (; cfg; cfg = list ? json_next(cfg) : NULL)
		if (json_type(cfg) == JSON_OBJECT)
			set_in_config(cfg, values);
}

/* Ids become names of folders, so bytes of long texts are left out. */
#define PART_MOST 24 /* of a command of a mix */
#define MIX_MOST 72  /* then further commands are only counted */
#define COMMAND_MOST 96
#define VALUES_MOST 48

/* Appends text, with "_" for characters that a shell or a path may not have. */
static void
add_plain(struct str *s, const char *text)
{
	for (; *text; text++)
		str_addc(s,
		    isalnum((unsigned char)*text) || strchr("._+:=", *text)
			? *text
			: '_');
}

static void
add_number(struct str *s, const char *letter, const struct json *v)
{
	if (v)
		str_printf(s, "%s%.15g", letter, json_num(v, 0));
}

/* search.reader-threads 8 becomes reader-threads8, as in the Python tool. */
static void
add_settings(struct str *s, const struct json *set)
{
	const char *name, *dot;
	char sep = '\0';

	for (const struct json *m = json_first(set); m; m = json_next(m)) {
		name = json_key(m);
		dot = strrchr(name, '.');
		if (sep)
			str_addc(s, sep);
		add_plain(s, dot ? dot + 1 : name);
		if (json_str(m))
			add_plain(s, json_str(m));
		else
			str_printf(s, "%.15g", json_num(m, 0));
		sep = '_';
	}
}

/* "GET 90, SET 10" becomes GET90+SET10. */
static void
add_mix(struct str *s, const char *text)
{
	struct mixspec m;
	struct str part = {0};
	size_t begin = s->len;

	free(mixspec_parse(text, &m));
	for (size_t i = 0; i < m.n; i++) {
		if (s->len - begin > MIX_MOST) {
			str_printf(s, "+%zu_more", m.n - i);
			break;
		}
		str_clear(&part);
		str_add(&part, m.v[i].command);
		str_cut(&part, PART_MOST);
		str_add(s, i ? "+" : "");
		add_plain(s, part.s);
		str_printf(s, "%.15g", m.v[i].weight);
	}
	str_free(&part);
	mixspec_free(&m);
}

/* Appends a text that may be long. */
static void
add_cut(struct str *s, const char *text, size_t most)
{
	struct str part = {0};

	if (!text)
		return;
	str_add(&part, text);
	str_cut(&part, most);
	add_plain(s, part.s);
	str_free(&part);
}

static void
add_test(struct str *s, const struct json *c)
{
	const char *test = json_get_str(c, "test_id");

	if (test) {
		add_plain(s, test);
		add_number(s, "-i", json_get(c, "iteration"));
		add_number(s, "-again", json_get(c, "occurrence"));
	} else if (json_get_str(c, "mix"))
		add_mix(s, json_get_str(c, "mix"));
	else
		add_cut(s, json_get_str(c, "command"), COMMAND_MOST);
}

/* Adds the engine, or its latency if it is not the usual one. */
static void
add_engine(struct str *s, const struct config_key *k, const struct json *c)
{
	const char *engine = bench_case_engine(c);

	if (strcmp(engine, BENCH_CASE_NATIVE) != 0) {
		str_addc(s, '-');
		add_plain(s, engine);
	} else if (json_get(c, k->identity))
		str_add(s, k->id);
}

/* Adds the value that the case has of a key. */
static void
add_value(struct str *s, const struct config_key *k, const struct json *v)
{
	switch (json_type(v)) {
	case JSON_BOOL:
		str_add(s, json_bool(v, false) ? k->id : "");
		break;
	case JSON_NUMBER:
		if (k->form != CONFIG_ID_ABOVE_1 || json_num(v, 0) > 1)
			add_number(s, k->id, v);
		break;
	default:
		if (k->form == CONFIG_ID_WORD || json_str(v) || json_len(v))
			str_add(s, k->id);
		if (k->form == CONFIG_ID_WORD)
			break;
		if (json_str(v))
			add_cut(s, json_str(v),
			    k->rule == CONFIG_VALUESPEC ? VALUES_MOST
							: SIZE_MAX);
		else
			add_settings(s, v);
	}
}

/* Adds the values of the keys that have this form in an id, or, with 'rest',
 * of those that have another form than the first and the last. */
static void
add_values(struct str *s, const struct json *c, enum config_id form, bool rest)
{
	const struct json *v;

	for (const struct config_key *k = config_keys; k->name; k++) {
		if (!k->id ||
		    (rest ? k->form == CONFIG_ID_SIZE ||
				k->form == CONFIG_ID_LONG
			  : k->form != form))
			continue;
		v = json_get(c, k->identity);
		if (k->form == CONFIG_ID_ENGINE)
			add_engine(s, k, c);
		else if (v)
			add_value(s, k, v);
	}
}

static void
format_id(struct str *s, const struct json *c, bool more)
{
	add_test(s, c);
	if (!json_get(c, "test_id"))
		add_values(s, c, CONFIG_ID_SIZE, false);
	add_values(s, c, CONFIG_ID_VALUE, true);
	if (more)
		add_values(s, c, CONFIG_ID_LONG, false);
}

void
plan_format_id(struct str *s, const struct json *config, bool more)
{
	struct json *c = jsonpublic_copy(config);

	format_id(s, c, more);
	json_free(c);
}

/* 0, or -1, error reported, if cases of one identity differ elsewhere. */
static int
check_duplicate(const struct json *a, const struct json *b)
{
	static const char *const parts[] = {"server", "client"};
	const char *key = NULL;
	struct str s = {0};
	size_t i = 0;

	while (i < 2 && !key) {
		key = json_difference(
		    json_get(a, parts[i]), json_get(b, parts[i]));
		i++;
	}
	if (!key)
		return 0;
	/* As they are in a configuration. */
	if (strcmp(key, "timeout_s") == 0)
		key = "timeout";
	else if (strcmp(key, "cpus") == 0)
		key = i == 1 ? "server_cpu_range" : "client_cpu_range";
	plan_format_id(&s, json_get(a, "config"), false);
	err_say("case %s is planned twice with different \"%s\" of the %s, "
		"which is not part of its identity: run them in two sessions "
		"with an '--output' each",
	    s.s, key, parts[i - 1]);
	str_free(&s);
	return -1;
}

static int
drop_duplicates(struct plan *p)
{
	struct json **first = mem_array(p->n + 1, sizeof *first), *cas;
	struct caseset *identities = caseset_new();
	size_t n = p->n, id, dropped = 0;
	int rc = 0;

	p->n = 0;
	for (size_t i = 0; i < n; i++) {
		cas = p->cases[i];
		id = caseset_add_value(identities, json_get(cas, "config"));
		if (!first[id]) {
			first[id] = p->cases[p->n++] = cas;
			continue;
		}
		if (check_duplicate(first[id], cas) < 0)
			rc = -1;
		else
			dropped++;
		json_free(cas);
	}
	caseset_free(identities);
	free(first);
	if (dropped)
		err_say("%zu duplicate case%s dropped", dropped,
		    num_plural(dropped));
	return rc;
}

/* Marks the cases whose id is not unique. Returns their number. */
static size_t
mark_equal_ids(const struct plan *p, bool *same)
{
	size_t *id = mem_array(p->n + 1, sizeof *id), equal = 0;
	size_t *times = mem_array(p->n + 1, sizeof *times);
	struct intern *ids = intern_new();

	for (size_t i = 0; i < p->n; i++) {
		id[i] = intern_id(ids, json_get_str(p->cases[i], "id"));
		times[id[i]]++;
	}
	for (size_t i = 0; i < p->n; i++)
		equal += same[i] = times[id[i]] > 1;
	intern_free(ids);
	free(times);
	free(id);
	return equal;
}

/* Tries a short id, then a longer one, then a number, until all differ. */
int
plan_name_cases(struct plan *p)
{
	int rc = drop_duplicates(p);
	bool *given = mem_array(p->n + 1, sizeof *given);
	bool *same = mem_array(p->n + 1, sizeof *same);
	struct str s = {0};
	size_t i, n;

	for (i = 0; i < p->n; i++)
		given[i] = *json_get_str(p->cases[i], "id");
	for (size_t round = 0; round < p->n + 3; round++) {
		for (i = 0, n = 0; i < p->n; i++) {
			if (given[i] || (round && !same[i]))
				continue;
			str_clear(&s);
			plan_format_id(
			    &s, json_get(p->cases[i], "config"), round > 0);
			if (round > 1)
				str_printf(&s, "-%zu", ++n);
			json_set_str(p->cases[i], "id", s.s);
		}
		if (!mark_equal_ids(p, same))
			break;
	}
	for (i = 0; i < p->n && rc == 0; i++)
		if (same[i])
			rc = err_fail("two different cases have the id '%s': "
				      "rename one",
			    json_get_str(p->cases[i], "id"));
	str_free(&s);
	free(given);
	free(same);
	return rc;
}

/*
 * The axes every configuration has, in either format: cluster and TLS mode,
 * profiling set, config set, io-threads; and the server that they ask for.
 */

/* The first axes, by their number in config.h; those behind them are for
 * commands. */
enum { CLUSTER = 1, TLS, PROFILING, CONFIG_SET, IO_THREADS };

static void
set_axes(struct plan_axes *x, const struct plan_want *w)
{
	const struct json *const *v = x->values;

	x->cluster = w->cluster_mode ? strcmp(w->cluster_mode, "true") == 0
				     : json_bool(v[CLUSTER], false);
	x->tls = json_bool(v[TLS], false);
	x->profiling =
	    json_get_bool(v[PROFILING], "enabled", false) ? v[PROFILING] : NULL;
	x->set = json_len(v[CONFIG_SET]) ? v[CONFIG_SET] : NULL;
	x->io_threads = json_num(v[IO_THREADS], 0);
}

/* Sets list i and those behind it, up to n, to each of their values. */
static void
expand_list(struct plan *p, struct plan_axes *x, size_t i, size_t n,
    void (*fn)(struct plan *, const struct plan_axes *))
{
	const struct plan_want *w = p->want;
	bool unwanted = (i == CLUSTER && w->cluster_mode) ||
	    (i == PROFILING && w->skip_profiling) ||
	    (i == CONFIG_SET && w->skip_config_set);
	const struct json *v;
	bool list;

	if (i == n) {
		set_axes(x, w);
		fn(p, x);
		return;
	}
	v = unwanted ? NULL : json_get(x->cfg, x->keys[i]->name);
	list = v && json_type(v) == JSON_ARRAY;
	if (list)
		v = json_first(v);
	do {
		x->values[i] = v;
		expand_list(p, x, i + 1, n, fn);
	} while (list && !p->full && (v = json_next(v)));
}

void
plan_each(struct plan *p, const struct json *cfg,
    void (*fn)(struct plan *, const struct plan_axes *))
{
	struct plan_axes x = {.cfg = cfg};

	for (const struct config_key *k = config_keys; k->name; k++)
		x.keys[k->axis] = k;
	expand_list(p, &x, CLUSTER,
	    json_get(cfg, "test_groups") ? CONFIG_AXIS_COMMANDS : PLAN_AXES,
	    fn);
}

static size_t
count_nodes(const struct plan_axes *x)
{
	if (!x->cluster)
		return 1;
	return (size_t)(json_get_num(x->cfg, "cluster_nodes", 1) *
	    (1 + json_get_num(x->cfg, "cluster_replicas", 0)));
}

static const char *
resolve_path(const char *path, char full[PATH_MAX])
{
	return realpath(path, full) ? full : path;
}

/* An identity has only the file name of a module: paths differ by machine. */
static struct json *
list_modules(const struct json *list, bool identity)
{
	struct json *out, *m, *args;
	const char *path, *slash;
	char full[PATH_MAX];

	if (!json_len(list))
		return NULL;
	out = json_array();
	for (const struct json *v = json_first(list); v; v = json_next(v)) {
		path = json_get_str(v, "path");
		path = path ? path : "";
		slash = strrchr(path, '/');
		m = json_object();
		if (identity && slash)
			path = slash + 1;
		json_set_str(
		    m, "path", identity ? path : resolve_path(path, full));
		args = json_get(v, "startup_args");
		json_set(m, "args", args ? json_dup(args) : json_array());
		json_push(out, m);
	}
	return out;
}

static void
set_replicas(struct json *to, const char *name, const struct json *cfg)
{
	double n = json_get_num(cfg, "cluster_replicas", 0);

	if (n > 0)
		json_set_num(to, name, n);
}

/* Replaces secrets among the settings of an identity with "***". */
static void
hide_secrets(struct json *config)
{
	struct json *own = json_get(config, "server_config"), *next;
	char *name;

	for (struct json *m = json_first(own); m; m = next) {
		next = json_next(m);
		/* The rules of a user say more than the secret. */
		if (!redact_is_secret(json_key(m)) ||
		    strcasecmp(json_key(m), "user") == 0)
			continue;
		name = mem_str(json_key(m));
		json_set_str(own, name, REDACT_STARS);
		free(name);
	}
}

static double
get_io_threads(const struct plan_axes *x)
{
	const struct json *own = json_path(x->cfg, "custom-server-configs");
	const struct json *v = json_get(own, "io-threads");

	if (x->io_threads > 0)
		return x->io_threads;
	if (json_str(v))
		return atof(json_str(v));
	if (v)
		return json_num(v, 1);
	/* 0: unknown, the configuration file may set it */
	return json_get(x->cfg, "custom-server-config-file") ? 0 : 1;
}

void
plan_complete_config(const struct plan_axes *x, struct json *c)
{
	const struct json *cfg = x->cfg;
	const char *rdb = json_get_str(cfg, "rdb");
	const char *arrivals = json_get_str(cfg, "arrivals");

	for (size_t i = CONFIG_AXIS_COMMANDS; i < PLAN_AXES; i++)
		if (x->values[i])
			json_set(
			    c, x->keys[i]->identity, json_dup(x->values[i]));
	json_set_bool(c, "cluster_mode", x->cluster);
	json_set_bool(c, "tls_mode", x->tls);
	if (get_io_threads(x) > 0)
		json_set_num(c, "io_threads", get_io_threads(x));
	json_set_str(c, "engine", "native");
	if (x->cluster) {
		json_set_num(
		    c, "cluster_nodes", json_get_num(cfg, "cluster_nodes", 1));
		set_replicas(c, "cluster_replicas", cfg);
	}
	json_set(c, "config_set", json_dup(x->set));
	config_copy_identity(c, "config", cfg);
	hide_secrets(c);
	json_set(c, "modules", list_modules(json_get(cfg, "modules"), true));
	if (rdb)
		json_set_str(
		    c, "rdb", strrchr(rdb, '/') ? strrchr(rdb, '/') + 1 : rdb);
	if (json_get(c, "rate") || json_get(c, "slo"))
		json_set_str(c, "arrivals", arrivals ? arrivals : "constant");
	json_set(c, "profiling", json_dup(x->profiling));
}

/* Returns n CPU lists of so many CPUs each. */
static struct json *
list_cpu_ranges(size_t first, size_t n, size_t each)
{
	struct json *list = json_array();
	char *s;

	for (; n; n--, first += each) {
		s = mem_printf("%zu-%zu", first, first + each - 1);
		json_push(list, json_string(s));
		free(s);
	}
	return list;
}

/* Returns one CPU list per node, or NULL if none are given or too few: *why,
 * which the caller frees, then says it. */
static struct json *
list_server_cpus(const struct plan_axes *x, char **why)
{
	const struct json *alloc = json_get(x->cfg, "cpu_allocation");
	const struct json *range = json_get(x->cfg, "server_cpu_range");
	const struct json *each = json_get(alloc, "servers"), *v = NULL;
	size_t n = count_nodes(x);
	struct json *out;

	if (!alloc && !range && x->cluster)
		each = json_get(x->cfg, "cluster_cpu_ranges");
	if (!alloc && !range && !each)
		return NULL;
	if (!each && !range)
		return list_cpu_ranges(
		    0, n, (size_t)json_get_num(alloc, "cores_per_server", 1));
	if (each && json_len(each) < n) {
		*why = mem_printf(
		    "CPUs are given for %zu nodes, but there are %zu",
		    json_len(each), n);
		return NULL;
	}
	out = json_array();
	v = json_first(each);
	for (size_t i = 0; i < n; i++) {
		json_push(out, json_dup(each ? v : range));
		v = v ? json_next(v) : NULL;
	}
	return out;
}

struct json *
plan_make_server(const struct plan_axes *x, char **why)
{
	const struct json *cfg = x->cfg;
	const char *file = json_get_str(cfg, "custom-server-config-file");
	const char *rdb = json_get_str(cfg, "rdb");
	const char *placement = json_get_str(cfg, "placement");
	const struct json *own = json_get(cfg, "custom-server-configs");
	struct json *s = json_object();
	char full[PATH_MAX];

	*why = NULL;
	json_set_str(s, "host", json_get_str(cfg, "bind_ip"));
	json_set(s, "port",
	    json_dup(x->cluster ? json_first(json_get(cfg, "cluster_ports"))
				: json_get(cfg, "port")));
	if (json_get_bool(cfg, "unixsocket", false))
		json_set_bool(s, "unixsocket", true);
	if (x->tls)
		json_set_bool(s, "tls", true);
	if (x->cluster) {
		json_set_num(
		    s, "primaries", json_get_num(cfg, "cluster_nodes", 1));
		set_replicas(s, "replicas", cfg);
	}
	if (x->io_threads > 0)
		json_set_num(s, "io_threads", x->io_threads);
	json_set(s, "modules", list_modules(json_get(cfg, "modules"), false));
	if (json_len(own))
		json_set(s, "config", json_dup(own));
	if (file)
		json_set_str(s, "config_file", resolve_path(file, full));
	json_set(s, "config_set", json_dup(x->set));
	json_set(s, "cpus", list_server_cpus(x, why));
	if (placement && strcmp(placement, "none") == 0)
		json_set_str(s, "placement", placement);
	if (rdb)
		json_set_str(s, "rdb", resolve_path(rdb, full));
	if (!json_get_bool(cfg, "aslr", true))
		json_set_bool(s, "aslr", false);
	return s;
}

/* Returns the CPU lists of clients that work in parallel. */
static struct json *
list_client_cpus(const struct plan_axes *x)
{
	const struct json *alloc = json_get(x->cfg, "cpu_allocation");
	const struct json *each = json_get(alloc, "clients");
	size_t first =
	    count_nodes(x) * (size_t)json_get_num(alloc, "cores_per_server", 1);
	size_t cores = (size_t)json_get_num(alloc, "cores_per_client", 1);

	return each ? json_dup(each)
		    : list_cpu_ranges(first, count_nodes(x), cores);
}

struct json *
plan_make_client(const struct plan_axes *x)
{
	const struct json *alloc = json_get(x->cfg, "cpu_allocation");
	const struct json *seed = json_get(x->cfg, "seed");
	struct json *c = json_object(), *each;

	if (alloc) {
		each = list_client_cpus(x);
		json_set(c, "cpus", json_dup(json_first(each)));
		if (json_get(x->cfg, "test_groups") && json_len(each) > 1)
			json_set(c, "each", each);
		else
			json_free(each);
	} else
		json_set_str(
		    c, "cpus", json_get_str(x->cfg, "client_cpu_range"));
	if (seed && json_type(seed) == JSON_NUMBER)
		json_set(c, "seed", json_dup(seed));
	json_set(c, "timeout_s", json_dup(json_get(x->cfg, "timeout")));
	json_set(c, "max_lost", json_dup(json_get(x->cfg, "max_lost")));
	json_set(c, "max_errors_percent",
	    json_dup(json_get(x->cfg, "max_errors_percent")));
	if (json_get_bool(x->cfg, "count", false))
		json_set_bool(c, "count", true);
	json_set_str(c, "reference", json_get_str(x->cfg, "reference"));
	return c;
}

/* Most cases of all files; three lists of 2,999 values make 27 billion. */
#define PLAN_MOST 100000

static void report_problem(struct plan *p, const char *fmt, ...)
    ERR_PRINTF(2, 3);

static void
report_problem(struct plan *p, const char *fmt, ...)
{
	struct configwalk w = {.name = p->file};
	va_list ap;

	str_add(&w.path, "$");
	configwalk_index(&w, p->element);
	va_start(ap, fmt);
	configwalk_vproblem(&w, fmt, ap);
	va_end(ap);
	str_free(&w.path);
	p->problems++;
}

/* Is the word at the beginning of a comma-separated list? */
static bool
begins_list(const char *list, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(list, word, n) != 0)
		return false;
	n += strspn(list + n, " ");
	return list[n] == ',' || !list[n];
}

/* Is 'word' in the comma-separated list? A NULL list has every word. */
static bool
is_listed(const char *list, const char *word)
{
	for (const char *s = list; s; s = strchr(s, ',')) {
		s += *s == ',';
		s += strspn(s, " ");
		if (begins_list(s, word))
			return true;
	}
	return !list;
}

static bool
is_test(const struct plan *p, const char *command)
{
	for (size_t i = 0; p->commands[i]; i++)
		if (strcmp(p->commands[i], command) == 0)
			return true;
	return false;
}

/*
 * Checks that a command of one word is a named test, or one of the server that
 * needs no arguments. If not, reports what may be meant: "WHERE: unknown WHAT
 * 'GIVEN', did you mean 'GET'?".
 */
static void
check_command(struct plan *p, const char *command, const char *where,
    const char *what, const char *given)
{
	char hint[STR_HINT], *upper;
	int words;

	if (!p->commands || is_test(p, command))
		return;
	upper = str_upper(command);
	words = is_test(p, upper) ? -1 : cmdargs_needs_words(upper);
	str_hint(hint, upper, p->commands);
	if (words > 0)
		report_problem(p,
		    "%s: '%s' is not a named test: give its arguments, too, as "
		    "in '%s key:__rand_int__ ...'",
		    where, given, upper);
	else if (words < 0 && (*hint || !p->any_word))
		report_problem(
		    p, "%s: unknown %s '%s'%s", where, what, given, hint);
	free(upper);
}

/* The same for the named tests of a mix, which was checked. */
static void
check_mix(struct plan *p, const char *mix, const char *where)
{
	struct mixspec m;

	free(mixspec_parse(mix, &m));
	for (size_t i = 0; i < m.n; i++)
		if (mixspec_is_test(m.v[i].command))
			check_command(p, m.v[i].command, where, "command",
			    m.v[i].command);
	mixspec_free(&m);
}

/* Sets the length of an identity, or of a writer or reader of a mixed case. */
static void
override_length(
    const struct plan_want *w, struct json *of, const char *duration)
{
	if (w->duration > 0 || w->requests > 0) {
		json_del(of, "requests");
		json_del(of, duration);
	}
	if (w->duration > 0)
		json_set_num(of, duration, w->duration);
	if (w->requests > 0)
		json_set_num(of, "requests", (double)w->requests);
}

static void
override_part(const struct plan_want *w, struct json *part)
{
	override_length(w, part, "duration");
	if (w->duration > 0 || w->requests > 0)
		json_del(part, "maxdocs");
	if (w->warmup >= 0)
		json_del(part, "warmup");
}

/* Applies --duration and other options that are part of the identity. */
static void
override_config(const struct plan_want *w, struct json *config)
{
	struct json *part;

	override_length(w, config, "duration_s");
	if (w->warmup >= 0)
		json_set_num(config, "warmup_s", w->warmup);
	for (size_t i = 0; i < 2; i++)
		for (part = json_first(json_get(config, side_keys[i])); part;
		     part = json_next(part))
			override_part(w, part);
	if (w->no_flush)
		json_set_bool(config, "no_flush", true);
	else {
		json_del(config, "no_flush");
		ownkeys_strip(config);
	}
	if (w->unixsocket)
		json_set_bool(config, "unixsocket", true);
	/* Of a running server it is not changed: one that differs is an error.
	 */
	if (w->db >= 0 && !(w->running && json_get(config, "db")))
		json_set_num(config, "db", (double)w->db);
	if (w->engine)
		json_set_str(config, "engine", w->engine);
}

/* Writes the value of a key in its only form. A part of a mixed case has
 * uniform keys, too, in place of those of the case. */
static void
normalize_value(struct json *config, const struct config_key *k, bool part)
{
	const struct json *v = json_get(config, k->identity);
	char *text = mem_str(json_str(v)), *plain = NULL;
	long long low, high;
	struct ratespec rate;
	struct keyspec keys;
	struct slospec slo;

	if (k->rule == CONFIG_RATE && v && !ratespec_read(v, &rate))
		json_set(config, k->identity, ratespec_json(&rate));
	else if (k->rule == CONFIG_KEYSPEC && part && text)
		plain =
		    keyspec_parse(text, &keys) ? NULL : keyspec_format(&keys);
	else if (k->rule == CONFIG_KEYSPEC && text)
		bench_case_set_keys(config, text);
	else if (k->rule == CONFIG_VALUESPEC && text)
		bench_case_set_values(config, text);
	else if (k->rule == CONFIG_MIX && text)
		bench_case_set_mix(config, text);
	else if (k->rule == CONFIG_SLO && text && !slospec_parse(text, &slo))
		plain = slospec_format(&slo);
	else if (k->rule == CONFIG_SPAN && text &&
	    !valuespec_parse_span(text, &low, &high))
		plain = low < high ? mem_printf("%lld-%lld", low, high)
				   : mem_printf("%lld", low);
	if (plain)
		json_set_str(config, k->identity, plain);
	free(plain);
	free(text);
}

/* Is a value of a case what cases without it have, or does it lack what it
 * needs? */
static bool
is_needless(const struct json *config, const struct config_key *k)
{
	const struct json *v = json_get(config, k->identity);
	char *text = json_str(v) ? mem_str(json_str(v)) : json_print(v);
	bool usual = k->usual && strcmp(text, k->usual) == 0;

	free(text);
	return usual || (k->needs && !config_is_given(config, k->needs));
}

/* Gives the values of a case, or of a part of it, their only form. */
static void
normalize_values(struct json *config, bool part)
{
	for (const struct config_key *k = config_keys; k->name; k++) {
		if (!k->identity || !json_get(config, k->identity))
			continue;
		if (!part && is_needless(config, k))
			json_del(config, k->identity);
		else
			normalize_value(config, k, part);
	}
}

/* Gives the same work one identity, so that its results are paired. */
static void
normalize_config(struct json *config)
{
	const char *latency = json_get_str(config, "latency"), *command;

	normalize_values(config, false);
	for (size_t i = 0; i < 2; i++)
		for (struct json *p =
			 json_first(json_get(config, side_keys[i]));
		     p; p = json_next(p))
			normalize_values(p, true);
	command = json_get_str(config, "command");
	if (command && strcmp(command, "LRANGE") == 0)
		json_set_str(config, "command", "LRANGE_100");
	if (strcmp(bench_case_engine(config), BENCH_CASE_NATIVE) != 0) {
		if (!latency)
			json_set_str(config, "latency", "batch-first-byte");
	} else if (latency && strcmp(latency, "request") == 0)
		json_del(config, "latency");
}

static void
append_case(struct plan *p, struct json *cas)
{
	normalize_config(json_get(cas, "config"));
	*MEM_ADD(p->cases, p->n, p->cap) = cas;
}

/* Reports a reason, if there is one, and frees it. */
static void
report_reason(struct plan *p, char *why)
{
	if (why)
		report_problem(p, "%s", why);
	free(why);
}

/*
 * Adds a case; takes 'config' and completes it from the axes. Its id is set by
 * plan_finish, since it depends on the other cases. Returns NULL if there are
 * too many, which is reported once; loops must end when 'full' is set.
 */
static struct json *
add_config(struct plan *p, const struct plan_axes *x, struct json *config)
{
	struct json *cas;
	char *why;

	if (p->n == PLAN_MOST) {
		if (!p->full)
			report_problem(p,
			    "more than %d cases, which is the limit: the "
			    "lists multiply, so shorten them or split the "
			    "configuration",
			    PLAN_MOST);
		p->full = true;
		json_free(config);
		return NULL;
	}
	cas = record_new("case");
	plan_complete_config(x, config);
	override_config(p->want, config);
	json_set_str(cas, "id", "");
	json_set(cas, "config", config);
	json_set(cas, "server", plan_make_server(x, &why));
	json_set(cas, "client", plan_make_client(x));
	report_reason(p, why);
	why = bench_case_replay(x->cfg, cas);
	p->full |= why != NULL; /* one message is enough */
	report_reason(p, why);
	append_case(p, cas);
	return cas;
}

/* One scenario, in one iteration of its group, in one of its variants. */
struct take {
	const struct json *group, *s;
	const char *name;    /* of the group */
	const char *scene;   /* name of the group's scene */
	size_t first;        /* index of the group's first case */
	const char *id;      /* with the suffix of the variant */
	const char *flag;    /* added to the command; may be "" */
	long long iteration; /* 0: the group does not have it */
	const struct json *rate;
};

/* Returns a string as it is, another value printed. Caller frees. */
static char *
format_name(const struct json *v)
{
	if (!v)
		return mem_str("unknown");
	return json_str(v) ? mem_str(json_str(v)) : json_print(v);
}

/*
 * Replaces "{iteration}" by the number, a long long, unless it is 0. Caller
 * frees.
 */
static char *
expand_iteration(const char *s, const void *number)
{
	long long iteration = *(const long long *)number;
	char digits[32];

	if (!iteration)
		return mem_str(s);
	snprintf(digits, sizeof digits, "%lld", iteration);
	return str_replace(s, "{iteration}", digits);
}

/* Copies a text or a list of texts, unless it is empty. */
static void
set_expanded(struct json *to, const char *key, const struct json *from,
    const struct take *y)
{
	const struct json *v = json_get(from, key);

	if (json_str(v) || json_len(v))
		json_set(to, key,
		    json_change_texts(v, expand_iteration, &y->iteration));
}

static const char *
get_phase(const struct json *s)
{
	const char *type = json_get_str(s, "type");

	if (!type)
		return "test";
	if (strcmp(type, "ingestion") == 0) /* older name */
		return "write";
	return strcmp(type, "search") == 0 ? "read" : type;
}

/* A test is looked up in upper case, a command is unchanged. Caller frees. */
static char *
make_command(struct plan *p, const struct take *x, const struct json *s)
{
	const char *test = json_get_str(s, "test");
	const char *text = json_get_str(s, "command");
	char *name, *it;

	if (json_get(s, "mix"))
		return mem_str(BENCH_CASE_MIX);
	if (!test) {
		it = expand_iteration(text ? text : "mixed", &x->iteration);
		if (!*x->flag || !text)
			return it;
		name = mem_printf("%s %s", it, x->flag);
		free(it);
		return name;
	}
	name = str_upper(test);
	it = mem_printf("scenario '%s'", x->id);
	check_command(p, name, it, "test", test);
	free(it);
	return name;
}

static void
set_length(const struct plan_axes *x, const struct json *s, struct json *c)
{
	const struct json *d = json_get(s, "duration");
	const struct json *n = json_get(s, "requests");

	if (!n)
		n = json_get(s, "maxdocs");
	json_del(c, "requests");
	if (d)
		json_set(c, "duration_s", json_dup(d));
	else if (n)
		json_set(c, "requests", json_dup(n));
	else
		json_set_num(
		    c, "duration_s", json_get_num(x->cfg, "duration", 60));
}

/* Returns writers or readers of a mixed scenario with inherited values. */
static struct json *
list_parts(struct plan *p, const struct take *x, const char *side)
{
	static const char *const inherited[] = {
	    "duration", "pipeline", "cluster_execution"};
	const struct json *list = json_get(x->s, side);
	bool reads = strcmp(side, "reads") == 0;
	struct take y = *x;
	struct json *out, *part;
	char *text;

	if (!list)
		return NULL;
	if (!reads)
		y.flag = "";
	out = json_array();
	for (const struct json *v = json_first(list); v; v = json_next(v)) {
		part = json_dup(v);
		json_del(part, "description");
		json_del(part, "test");
		text = make_command(p, &y, v);
		json_set_str(part, "command", text);
		free(text);
		set_expanded(part, "dataset", v, x);
		for (size_t i = 0; i < 3; i++)
			if (!json_get(v, inherited[i]))
				json_set(part, inherited[i],
				    json_dup(json_get(x->s, inherited[i])));
		if (!json_get(part, "pipeline"))
			json_set_num(part, "pipeline", 1);
		json_push(out, part);
	}
	return out;
}

/* Copies the members of 'over' into an object, and into objects in it. */
static void
merge_object(struct json *into, const struct json *over)
{
	struct json *old;

	for (const struct json *m = json_first(over); m; m = json_next(m)) {
		old = json_get(into, json_key(m));
		if (old && json_type(old) == JSON_OBJECT &&
		    json_type(m) == JSON_OBJECT)
			merge_object(old, m);
		else
			json_set(into, json_key(m), json_dup(m));
	}
}

static void
merge_profiling(struct json *c, const struct json *over)
{
	struct json *set = json_get(c, "profiling");

	if (!set || !over)
		return;
	merge_object(set, over);
	if (!json_get_bool(set, "enabled", false))
		json_del(c, "profiling");
}

static double
get_keyspace(const struct plan_axes *x, const struct json *s)
{
	const struct json *list = json_get(x->cfg, "keyspacelen");

	if (json_get(s, "keyspacelen"))
		return json_get_num(s, "keyspacelen", 0);
	return list ? json_num(json_first(list), 1000000) : 1000000;
}

/* Sets the warm-up in seconds, on own connections or those of the run. */
static void
set_warmup(const struct take *y, struct json *c)
{
	double apart = json_get_num(y->s, "warmup", 0);

	json_set_num(c, "warmup_s",
	    apart > 0 ? apart : json_get_num(y->s, "warmup_inline", 0));
	if (apart <= 0)
		return;
	json_set_bool(c, "warmup_apart", true);
	if (json_get_bool(y->s, "warmup_writes_only", false))
		json_set_bool(c, "warmup_writes_only", true);
}

static struct json *
make_identity(struct plan *p, const struct plan_axes *x, const struct take *y)
{
	static const char *const expanded[] = {"dataset", "setup_commands",
	    "teardown_commands", "populate_with", "mix"};
	char *text = mem_printf("%s_%s", y->name, y->id);
	struct json *c = json_object();

	json_set_str(c, "test_id", text);
	free(text);
	json_set_str(c, "test_phase", get_phase(y->s));
	json_set(c, "group", json_dup(json_get(y->group, "group")));
	json_set_str(c, "scenario", y->id);
	text = make_command(p, y, y->s);
	json_set_str(c, "command", text);
	free(text);
	if (json_get_str(y->s, "mix")) {
		text = mem_printf("scenario '%s'", y->id);
		check_mix(p, json_get_str(y->s, "mix"), text);
		free(text);
	}
	config_copy_identity(c, "scenario", y->s);
	json_set_num(c, "keyspacelen", get_keyspace(x, y->s));
	set_length(x, y->s, c);
	set_warmup(y, c);
	if (y->iteration)
		json_set_num(c, "iteration", (double)y->iteration);
	for (size_t i = 0; i < sizeof expanded / sizeof *expanded; i++)
		set_expanded(c, expanded[i], y->s, y);
	json_set(c, "writes", list_parts(p, y, "writes"));
	json_set(c, "reads", list_parts(p, y, "reads"));
	json_set(c, "rate", json_dup(y->rate));
	return c;
}

/* Returns what the Python tool's dashboards filter by, or NULL. */
static struct json *
make_about(const struct plan *p, const struct take *y)
{
	const char *file = strrchr(p->file, '/');
	const char *text = json_get_str(y->s, "description");
	struct json *a = json_object();
	char *both;

	if (strcmp(p->file, "stdin") != 0)
		json_set_str(a, "config_name", file ? file + 1 : p->file);
	json_set_str(
	    a, "group_description", json_get_str(y->group, "description"));
	both = text && *y->flag ? mem_printf("%s + %s", text, y->flag) : NULL;
	json_set_str(a, "scenario_description", both ? both : text);
	free(both);
	if (json_first(a))
		return a;
	json_free(a);
	return NULL;
}

static void
add_case(struct plan *p, const struct plan_axes *x, const struct take *y)
{
	bool listed = is_listed(p->want->scenarios, y->id);
	const struct json *seed = json_get(y->s, "seed");
	struct json *cas = add_config(p, x, make_identity(p, x, y));

	if (!cas)
		return;
	merge_profiling(json_get(cas, "config"), json_get(y->s, "profiling"));
	json_set(cas, "about", make_about(p, y));
	if (seed && json_type(seed) == JSON_NUMBER)
		json_set(json_get(cas, "client"), "seed", json_dup(seed));
	json_set(cas, "data", dataset_recipes(x->cfg, json_get(cas, "config")));
	scene_place(p, y->first, y->scene);
	if (!listed)
		json_set_bool(cas, "unlisted", true);
}

static void
expand_rates(struct plan *p, const struct plan_axes *x, struct take *y)
{
	const struct json *rate = json_get(y->s, "rate");

	if (!rate)
		rate = json_get(x->cfg, "rate");
	y->rate = rate;
	if (!rate || json_type(rate) != JSON_ARRAY) {
		add_case(p, x, y);
		return;
	}
	for (y->rate = json_first(rate); y->rate && !p->full;
	     y->rate = json_next(y->rate))
		add_case(p, x, y);
}

/* Has the scenario, or a reader, a command to which options can be added? */
static bool
accepts_options(const struct json *s)
{
	const struct json *j = json_first(json_get(s, "reads"));

	for (; j; j = json_next(j))
		if (json_get(j, "command"))
			return true;
	return json_get(s, "command") != NULL;
}

static void
expand_options(struct plan *p, const struct plan_axes *x, struct take *y)
{
	const struct json *m = json_first(json_get(y->s, "options"));
	char *base = format_name(json_get(y->s, "id")), *id;

	y->flag = "";
	y->id = base;
	if (!m)
		expand_rates(p, x, y);
	else if (!accepts_options(y->s))
		report_problem(p,
		    "scenario '%s': 'options' need a 'command', but there is "
		    "only a 'test'; replace it with a 'command' as in "
		    "'GET key:__rand_int__'",
		    base);
	for (; m && !p->full; m = json_next(m)) {
		id = mem_printf("%s%s", base, json_str(m));
		y->id = id;
		y->flag = json_key(m);
		expand_rates(p, x, y);
		free(id);
	}
	free(base);
}

static bool
runs_in_iteration(const struct json *s, long long iteration)
{
	const struct json *on = json_get(s, "on_iterations");

	for (const struct json *m = json_first(on); m; m = json_next(m))
		if (json_num(m, 0) == (double)iteration)
			return true;
	return !on;
}

static void
expand_group(struct plan *p, const struct plan_axes *x, const struct json *g,
    const char *name, size_t at)
{
	long long n = (long long)json_get_num(g, "iterations", 0);
	char *scene = scene_name(x, name, at);
	struct take y = {
	    .group = g, .name = name, .scene = scene, .first = p->n};

	for (long long i = n ? 1 : 0; i <= n && !p->full; i++)
		for (y.s = json_first(json_get(g, "scenarios"));
		     y.s && !p->full; y.s = json_next(y.s)) {
			y.iteration = i;
			if (runs_in_iteration(y.s, i ? i : 1))
				expand_options(p, x, &y);
		}
	free(scene);
}

static void
expand_scenarios(struct plan *p, const struct plan_axes *x)
{
	const struct json *g = json_first(json_get(x->cfg, "test_groups"));
	char *name;

	for (size_t i = 0; g && !p->full; g = json_next(g), i++) {
		name = format_name(json_get(g, "group"));
		if (is_listed(p->want->groups, name))
			expand_group(p, x, g, name, i);
		free(name);
	}
}

static void
add_command(struct plan *p, const struct plan_axes *x)
{
	struct json *c = json_object();

	if (!json_get(x->cfg, "requests") &&
	    (!json_get(x->cfg, "replay") || json_get(x->cfg, "duration")))
		json_set_num(
		    c, "duration_s", json_get_num(x->cfg, "duration", 1));
	json_set_num(c, "warmup_s", json_get_num(x->cfg, "warmup", 0));
	add_config(p, x, c);
}

static void
expand_config(struct plan *p, const struct json *cfg)
{
	bool groups = json_get(cfg, "test_groups");
	const struct json *m =
	    groups ? NULL : json_first(json_get(cfg, "commands"));

	for (; m; m = json_next(m))
		if (mixspec_is_test(json_str(m)))
			check_command(
			    p, json_str(m), "commands", "command", json_str(m));
	m = groups ? NULL : json_get(cfg, "mix");
	if (json_str(m))
		check_mix(p, json_str(m), "mix");
	for (m = json_first(m); m; m = json_next(m))
		check_mix(p, json_str(m), "mix");
	plan_each(p, cfg, groups ? expand_scenarios : add_command);
}

/* Applies the options to a case that was read. */
static void
override_case(const struct plan_want *w, struct json *cas)
{
	struct json *config = json_get(cas, "config");

	override_config(w, config);
	if (w->skip_config_set) {
		json_del(config, "config_set");
		json_del(json_get(cas, "server"), "config_set");
	}
	if (w->skip_profiling)
		json_del(config, "profiling");
	hide_secrets(config);
}

/* Is a value of a case in the list? One without such a value is. */
static bool
has_listed(const struct json *config, const char *key, const char *list)
{
	char *name = format_name(json_get(config, key));
	bool is = !json_get(config, key) || is_listed(list, name);

	free(name);
	return is;
}

/* Adds a case that was read, if its group is wanted; options override it. 0, or
 * -1, error reported. */
static int
take_case(struct plan *p, struct json *rec, const char *where)
{
	const struct plan_want *w = p->want;
	const struct json *config = json_get(rec, "config");
	struct json *b;

	if (!record_is(rec, "case"))
		return err_fail("%s: record of type '%s' instead of 'case'",
		    where, record_type(rec));
	if (w->cluster_mode &&
	    json_get_bool(config, "cluster_mode", false) !=
		(strcmp(w->cluster_mode, "true") == 0))
		return err_fail(
		    "%s: case '%s' has another cluster mode: give "
		    "'--cluster-mode' to the 'vkb-load --plan' that "
		    "makes the cases",
		    where, json_get_str(rec, "id"));
	if (!has_listed(config, "group", w->groups)) {
		json_free(rec);
		return 0;
	}
	if (!has_listed(config, "scenario", w->scenarios))
		json_set_bool(rec, "unlisted", true);
	if (bench_case_check_server(rec, where) < 0)
		return -1;
	override_case(p->want, rec);
	if (bench_case_check(rec, where) < 0)
		return -1;
	for (b = json_first(json_get(rec, "before")); b; b = json_next(b))
		override_case(p->want, b);
	append_case(p, rec);
	return 0;
}

/* Reads case records by record_next, whose messages have line numbers. */
static int
read_cases(struct plan *p, const struct str *s)
{
	int fd, got, rc = 0;
	struct jsonl *in;
	struct json *rec;

	if (json_len(p->want->set))
		return err_fail(
		    "%s: '--set', '--mix' and '--replay' change "
		    "configurations, and these are cases: give them "
		    "to the 'vkb-load --plan' that makes the cases",
		    p->file);
	fd = sink_memory(s->s, s->len);
	if (fd < 0)
		return err_fail_sys("cannot copy '%s' to memory", p->file);
	in = jsonl_fd(fd, p->file);
	while ((got = record_next(in, &rec)) != 0)
		if (got < 0)
			rc = -1;
		else if (take_case(p, rec, jsonl_where(in)) < 0) {
			rc = -1;
			json_free(rec);
		}
	jsonl_close(in);
	return rc;
}

/* Is the first line, or the first element, a record? */
static bool
holds_records(const struct str *s, const struct json *doc)
{
	const struct json *first = doc;
	struct json *line;
	const char *end;
	bool yes;

	if (doc && json_type(doc) == JSON_ARRAY)
		first = json_first(doc);
	if (first)
		return json_type(first) == JSON_OBJECT &&
		    json_get(first, "type");
	end = memchr(s->s, '\n', s->len);
	line =
	    json_parse(s->s, end ? (size_t)(end - s->s) : s->len, NULL, NULL);
	yes = line && json_type(line) == JSON_OBJECT && json_get(line, "type");
	json_free(line);
	return yes;
}

int
plan_take(struct plan *p, struct json *doc, const char *name)
{
	int rc;

	p->file = name;
	assign_apply(p->want->set, doc);
	doc = config_check(doc, name, p->want->lenient);
	p->problems = 0;
	p->element = 0;
	for (const struct json *c = json_first(doc); c && !p->full;
	     c = json_next(c)) {
		expand_config(p, c);
		p->element++;
	}
	rc = doc && !p->problems ? 0 : -1;
	json_free(doc);
	return rc;
}

int
plan_read(struct plan *p, const char *file)
{
	struct str s = {0};
	struct json *doc = NULL;
	int rc = -1;

	p->file = inputs_name(file);
	if (inputs_read(file, &s) < 0)
		goto out;
	if (!s.s[strspn(s.s, " \t\r\n")]) {
		err_say("%s: the input is empty: a configuration is expected, "
			"or '-t set,get'",
		    p->file);
		goto out;
	}
	doc = json_parse(s.s, s.len, NULL, NULL);
	if (holds_records(&s, doc)) {
		rc = read_cases(p, &s);
		goto out;
	}
	if (!doc &&
	    !(doc = jsonfile_parse(&s, p->file))) /* reports the error */
		goto out;
	rc = plan_take(p, doc, p->file);
	doc = NULL;
out:
	json_free(doc);
	str_free(&s);
	return rc;
}

void
plan_free(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		json_free(p->cases[i]);
	free(p->cases);
	json_free(p->others);
	intern_free(p->placed);
}

/* Selects cases of the plan, and keeps the cases that must run before them. */

#define LISTED_MOST 10

int
plan_check_want(struct plan_want *w)
{
	w->set = json_object();
	json_set_str(w->set, "mix", w->mix);
	json_set_str(w->set, "replay", w->replay);
	return assign_parse(&w->sets, w->set);
}

/* Does the pattern match the id of a case, or the name that reports give it?
 * 'words': it is that of a report of fewer cases, and lacks words. */
static bool
is_named(const char *pattern, const struct casename *names,
    const struct json *cas, bool words)
{
	const struct json *config = json_get(cas, "config");
	char *name = casename_of(names, config);
	bool is = fnmatch(pattern, json_get_str(cas, "id"), 0) == 0 ||
	    casename_matches(pattern, name) ||
	    (words && casename_has_words(names, config, pattern));

	free(name);
	return is;
}

/* Sets named[i] for each listed case that a pattern names. Returns their
 * number. */
static size_t
find_named(const struct plan *p, const struct casename *names,
    const char *pattern, bool *named)
{
	size_t n = 0;

	for (int words = 0; words < 2 && !n; words++)
		for (size_t i = 0; i < p->n; i++)
			n += named[i] = !json_get(p->cases[i], "unlisted") &&
			    is_named(pattern, names, p->cases[i], words);
	return n;
}

/* Reports that a pattern names no case, or, if it is NULL, that none is left,
 * with ids that it could name. Returns -1. */
static int
report_no_match(const struct plan *p, const char *pattern)
{
	struct str ids = {0}, what = {0};
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (!json_get(p->cases[i], "unlisted") && n++ < LISTED_MOST)
			str_printf(&ids, "%s%s", n > 1 ? ", " : "",
			    json_get_str(p->cases[i], "id"));
	if (pattern)
		str_printf(&what, "no case matches '%s'", pattern);
	else
		str_add(&what, "no case is left by '--case'");
	err_say("%s; the %zu case%s %s: %s%s", what.s, n, num_plural((double)n),
	    n == 1 ? "is" : "are", ids.s, n > LISTED_MOST ? ", ..." : "");
	str_free(&what);
	str_free(&ids);
	return -1;
}

/*
 * Clears keep[i] of each case that is not selected: those that no pattern
 * names, unless all patterns exclude cases, and those that one excludes. 0, or
 * -1 after reporting that a pattern names none or that none is left.
 */
static int
select_cases(const struct plan *p, bool *keep)
{
	const struct opt_list *l = &p->want->patterns;
	const struct json **configs = mem_array(p->n + 1, sizeof *configs);
	bool *named = mem_array(p->n + 1, sizeof *named);
	bool *chosen = mem_array(p->n + 1, sizeof *chosen);
	bool excludes, any = false;
	const char *pattern = NULL;
	struct casename *names;
	size_t matched = 1, left = 0;

	for (size_t i = 0; i < p->n; i++)
		configs[i] = json_get(p->cases[i], "config");
	names = casename_new(configs, p->n);
	for (size_t k = 0; k < l->n && matched; k++) {
		pattern = casename_pattern(l->v[k], &excludes);
		matched = find_named(p, names, pattern, named);
		any = any || !excludes;
		for (size_t i = 0; i < p->n; i++)
			if (excludes)
				keep[i] = keep[i] && !named[i];
			else
				chosen[i] = chosen[i] || named[i];
	}
	for (size_t i = 0; i < p->n; i++)
		left += keep[i] = keep[i] && matched && (!any || chosen[i]);
	casename_free(names);
	free(chosen);
	free(named);
	free(configs);
	return left ? 0 : report_no_match(p, matched ? NULL : pattern);
}

/* Moves the 'before' list that a case has from an earlier --plan. */
static void
move_before(struct json *list, struct json *cas)
{
	struct json *before = json_detach(cas, "before");

	while (json_len(before))
		json_push(list, json_shift(before));
	json_free(before);
}

/*
 * A later case may need the data of a case that is left out. Such a case moves
 * to 'before' of the later one, to be run without being recorded.
 */
static void
select_in_scene(struct plan *p, const struct scene *s, const bool *keep)
{
	struct json *list = json_array();
	bool any = false;

	for (size_t i = 0; i < s->n; i++)
		any = any || keep[s->v[i]];
	for (size_t i = 0; i < s->n; i++) {
		struct json **cas = &p->cases[s->v[i]];

		if (scene_resets_server(*cas)) {
			json_free(list);
			list = json_array();
		}
		if (keep[s->v[i]]) {
			move_before(list, *cas);
			if (json_len(list)) {
				json_set(*cas, "before", list);
				list = json_array();
			}
			continue;
		}
		if (any && scene_changes_server(*cas)) {
			move_before(list, *cas);
			json_del(*cas, "unlisted");
			json_push(list, *cas);
		} else
			json_free(*cas);
		*cas = NULL;
	}
	json_free(list);
}

/* Keeps every Nth of the scenes that have selected cases, and copies the
 * others, which are part of the same comparison. */
static void
select_shard(struct plan *p, const struct scenes *s, bool *keep)
{
	long long *number = mem_array(s->n + 1, sizeof *number), n = 0;
	const struct plan_want *w = p->want;

	for (size_t i = 0; i < p->n; i++) {
		if (!keep[i])
			continue;
		if (!number[s->of[i]])
			number[s->of[i]] = ++n;
		keep[i] = !w->shards ||
		    (number[s->of[i]] - 1) % w->shards == w->shard - 1;
		if (keep[i])
			continue;
		if (!p->others)
			p->others = json_array();
		json_push(p->others, json_dup(p->cases[i]));
	}
	free(number);
}

/* Checks that each name that an option lists is the value of some case. 0, or
 * -1, error reported. */
static int
check_list(
    const struct plan *p, const char *option, const char *key, const char *list)
{
	size_t n;
	char *name;

	for (const char *s = list; s && *s; s += n) {
		s += strspn(s, ", ");
		n = 0;
		for (size_t i = 0; i < p->n && !n; i++) {
			name = format_name(
			    json_get(json_get(p->cases[i], "config"), key));
			n = begins_list(s, name) ? strlen(name) : 0;
			free(name);
		}
		if (*s && !n)
			return err_fail(
			    "option '%s': no case has the %s '%.*s'", option,
			    key, (int)strcspn(s, ","), s);
	}
	return 0;
}

int
plan_finish(struct plan *p)
{
	const struct plan_want *w = p->want;
	size_t kept = 0, listed = 0;
	struct scenes s;
	bool *keep;
	int rc = 0;

	if (plan_name_cases(p) < 0 ||
	    check_list(p, "--groups", "group", w->groups) < 0 ||
	    check_list(p, "--scenarios", "scenario", w->scenarios) < 0)
		return -1;
	keep = mem_array(p->n + 1, sizeof *keep);
	scenes_make(&s, p->cases, p->n);
	for (size_t i = 0; i < p->n; i++)
		listed += keep[i] = !json_get(p->cases[i], "unlisted");
	if (listed && w->patterns.n)
		rc = select_cases(p, keep);
	else if (!listed && (w->groups || w->scenarios))
		rc = err_fail("no case matches '--groups' and '--scenarios': "
			      "check the names in the configuration");
	select_shard(p, &s, keep);
	for (size_t i = 0; i < s.n; i++)
		select_in_scene(p, &s.v[i], keep);
	for (size_t i = 0; i < p->n; i++)
		if (p->cases[i])
			p->cases[kept++] = p->cases[i];
	p->n = kept;
	scenes_free(&s);
	free(keep);
	return rc;
}
