#include "config.h"
#include "cpulist.h"
#include "err.h"
#include "json.h"
#include "keyspec.h"
#include "mem.h"
#include "mixspec.h"
#include "ratespec.h"
#include "redact.h"
#include "slospec.h"
#include "str.h"
#include "valuespec.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

static const struct own_setting own_settings[] = {
    {"port", "port", "port", false},
    {"bind", "host", "bind_ip", false},
    {"unixsocket", "unixsocket", "unixsocket", false},
    {"tls-port", "tls", "tls_mode", false},
    {"tls-cert-file", "tls", "tls_mode", false},
    {"tls-key-file", "tls", "tls_mode", false},
    {"tls-ca-cert-file", "tls", "tls_mode", false},
    {"tls-ca-cert-dir", "tls", "tls_mode", false},
    {"tls-client-cert-file", "tls", "tls_mode", false},
    {"tls-client-key-file", "tls", "tls_mode", false},
    {"tls-replication", "tls", "tls_mode", false},
    {"tls-cluster", "tls", "tls_mode", false},
    {"io-threads", "io_threads", "io-threads", true},
    {"loadmodule", "modules", "modules", false},
    {"include", "config_file", "custom-server-config-file", false},
    {"dbfilename", "rdb", "rdb", true},
    {"cluster-enabled", "primaries", "cluster_mode", false},
    {"replicaof", "replicas", "cluster_replicas", false},
    {"slaveof", "replicas", "cluster_replicas", false},
    {"cluster-config-file", NULL, NULL, false},
    {"cluster-port", NULL, NULL, false},
    {"cluster-announce-ip", NULL, NULL, false},
    {"cluster-announce-port", NULL, NULL, false},
    {"cluster-announce-tls-port", NULL, NULL, false},
    {"cluster-announce-bus-port", NULL, NULL, false},
    {"dir", NULL, NULL, false},
    {"logfile", NULL, NULL, false},
    {"daemonize", NULL, NULL, false},
    {"pidfile", NULL, NULL, false},
    {"supervised", NULL, NULL, false},
};

const struct own_setting *
config_find_own(const char *name)
{
	for (size_t i = 0; i < sizeof own_settings / sizeof *own_settings; i++)
		if (strcasecmp(name, own_settings[i].name) == 0)
			return &own_settings[i];
	return NULL;
}

bool
config_is_setting(const char *name)
{
	return *name && !name[strspn(name, letters)];
}

/* Reports that a setting is ignored. */
static void
report_own_setting(
    const struct own_setting *o, const struct json *value, const char *file)
{
	char *text = json_print(value);

	if (o->config_key)
		err_say("%s: 'custom-server-configs': '%s': %s is ignored, "
			"since the key '%s' of the configuration sets it",
		    file, o->name, text, o->config_key);
	else
		err_say("%s: 'custom-server-configs': '%s': %s is ignored, "
			"since vkb-serve sets it",
		    file, o->name, text);
	free(text);
}

/*
 * Removes what vkb-serve sets from the 'custom-server-configs' of an array of
 * configurations: the Python tool's users may have it there, where that tool
 * documents it as without effect. Reports each setting that is ignored once,
 * under the file's name.
 */
static void
ignore_own_settings(struct json *configs, const char *file)
{
	bool said[sizeof own_settings / sizeof *own_settings] = {false};
	const struct own_setting *o;
	struct json *all, *j, *next;
	char *name;

	for (struct json *c = json_first(configs); c; c = json_next(c)) {
		all = json_get(c, "custom-server-configs");
		for (j = json_first(all); j; j = next) {
			next = json_next(j);
			o = config_find_own(json_key(j));
			if (!o || (o->needs_key && !json_get(c, o->config_key)))
				continue;
			if (!said[o - own_settings])
				report_own_setting(o, j, file);
			said[o - own_settings] = true;
			name = mem_str(json_key(j));
			json_del(all, name);
			free(name);
		}
	}
}

/* --- where a check is, and what it found */

void
configwalk_vproblem(struct configwalk *w, const char *fmt, va_list ap)
{
	struct str line = {0};
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		err_die("out of memory");
	str_visible(&line, w->path.s); /* names may hold anything */
	str_add(&line, ": ");
	str_visible(&line, text);
	err_say("%s: %s", w->name, line.s);
	str_free(&line);
	free(text);
	w->problems++;
}

void
configwalk_problem(struct configwalk *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	configwalk_vproblem(w, fmt, ap);
	va_end(ap);
}

size_t
configwalk_key(struct configwalk *w, const char *key)
{
	size_t len = w->path.len;
	bool plain = *key != '\0';

	for (const char *s = key; *s; s++)
		plain =
		    plain && (isalnum((unsigned char)*s) || strchr("_-", *s));
	str_printf(&w->path, plain ? ".%s" : "['%s']", key);
	return len;
}

size_t
configwalk_index(struct configwalk *w, size_t i)
{
	size_t len = w->path.len;

	str_printf(&w->path, "[%zu]", i);
	return len;
}

void
configwalk_leave(struct configwalk *w, size_t len)
{
	w->path.len = len;
	w->path.s[len] = '\0';
}

char *
configfit_format(const struct json *v)
{
	struct str s = {0};

	if (json_key(v) && redact_is_secret(json_key(v)))
		return mem_str(REDACT_STARS);
	jsonpublic_append(&s, v);
	if (s.len > 60)
		str_cut(&s, 57);
	return str_take(&s);
}

void
configfit_report(struct configwalk *w, const char *section,
    const struct config_key *k, const struct json *v)
{
	char words[CONFIG_WORDS], *s = configfit_format(v);

	configwalk_problem(w, "'%s' must be %s, not %s", k->name,
	    config_format_rule(k, section, words), s);
	free(s);
}

static bool
is_integer(const struct config_key *k, const struct json *v)
{
	double d = json_num(v, NAN);

	return json_type(v) == JSON_NUMBER && d == floor(d) && d >= k->min &&
	    d <= k->max;
}

static bool
is_text(const struct json *v)
{
	const char *s = json_str(v);

	return s && s[strspn(s, " \t\r\n")];
}

/* Copies a reason, if there is one. */
static char *
copy_reason(const char *why)
{
	return why ? mem_str(why) : NULL;
}

/* Returns why a text is not valid by a rule that has a language of its own, or
 * NULL; caller frees. Sets *what to what it should be. */
static char *
explain_text(enum config_rule rule, const struct json *v, const char **what)
{
	const char *text = json_str(v), *why;
	struct valuespec values;
	struct ratespec rate;
	struct mixspec mix;
	struct keyspec keys;
	struct slospec slo;
	long long low, high;
	cpu_set_t cpus;
	char *wrong;

	switch (rule) {
	case CONFIG_KEYSPEC:
		*what = "distribution";
		return copy_reason(keyspec_parse(text, &keys));
	case CONFIG_SLO:
		*what = "limit";
		return copy_reason(slospec_parse(text, &slo));
	case CONFIG_RATE:
		*what = "rate";
		return copy_reason(ratespec_read(v, &rate));
	case CONFIG_CPUS:
		*what = "CPU list";
		return cpulist_parse(text, &cpus, &why) < 0 ? mem_str(why)
							    : NULL;
	case CONFIG_MIX:
		*what = "mix";
		wrong = mixspec_parse(text, &mix);
		if (!wrong)
			mixspec_free(&mix);
		return wrong;
	default:
		*what = "text";
		return copy_reason(rule == CONFIG_SPAN
			? valuespec_parse_span(text, &low, &high)
			: valuespec_parse(text, &values));
	}
}

/* Reports what is wrong with the text, if 'w' is not NULL. */
static bool
fits_text(
    struct configwalk *w, const struct config_key *k, const struct json *v)
{
	const char *what;
	char *why;
	bool fits;

	if (!json_str(v))
		return false;
	why = explain_text(k->rule, v, &what);
	fits = !why || w;
	if (why && w)
		configwalk_problem(w, "'%s': invalid %s \"%s\": %s", k->name,
		    what, json_str(v), why);
	free(why);
	return fits;
}

/*
 * Returns the text of a mix that is a list of objects, which the caller frees;
 * NULL after reporting what is wrong with it.
 */
static char *
configfit_read_mix(
    struct configwalk *w, const struct config_key *k, const struct json *v)
{
	struct mixspec mix;
	char *why = mixspec_read(v, &mix), *text;

	if (why)
		configwalk_problem(w, "'%s': %s", k->name, why);
	text = why ? NULL : mixspec_format(&mix);
	if (!why)
		mixspec_free(&mix);
	free(why);
	return text;
}

int
configfit_parse_truth(const struct json *v)
{
	static const char *const yes[] = {"yes", "true", "1"};
	static const char *const no[] = {"no", "false", "0"};
	const char *s = json_str(v);

	if (json_type(v) == JSON_BOOL)
		return json_bool(v, false);
	for (size_t i = 0; s && i < 3; i++)
		if (strcasecmp(s, yes[i]) == 0)
			return 1;
		else if (strcasecmp(s, no[i]) == 0)
			return 0;
	return -1;
}

bool
configfit_matches(
    struct configwalk *w, const struct config_key *k, const struct json *v)
{
	double d = json_num(v, NAN);
	struct ratespec rate;

	switch (k->rule) {
	case CONFIG_ANY:
		return true;
	case CONFIG_TEXT:
		return is_text(v);
	case CONFIG_BOOL:
		return configfit_parse_truth(v) >= 0;
	case CONFIG_WHOLE:
		return is_integer(k, v);
	case CONFIG_SECONDS:
		return json_type(v) == JSON_NUMBER && d <= k->max &&
		    (k->min < 0 ? d >= 0 : d > 0);
	case CONFIG_RATE:
		return json_str(v) ? fits_text(w, k, v)
				   : !ratespec_read(v, &rate);
	case CONFIG_SEED:
		return json_type(v) == JSON_BOOL || is_integer(k, v);
	case CONFIG_KEYSPEC:
	case CONFIG_VALUESPEC:
	case CONFIG_SPAN:
	case CONFIG_MIX:
	case CONFIG_SLO:
	case CONFIG_CPUS:
		return fits_text(w, k, v);
	case CONFIG_SPEED:
		if (json_str(v))
			return strcmp(json_str(v), "closed") == 0;
		return json_type(v) == JSON_NUMBER && d >= 1e-6 && d <= 1e6;
	case CONFIG_CHOICE:
		return json_str(v) && *json_str(v) &&
		    str_has_part(k->inner, json_str(v), '|');
	case CONFIG_SETTINGS:
	case CONFIG_SETTINGS_SET:
		return json_type(v) == JSON_OBJECT;
	case CONFIG_SUFFIXES:
		return json_type(v) == JSON_OBJECT || json_type(v) == JSON_NULL;
	case CONFIG_OBJECT:
		return json_type(v) == JSON_OBJECT;
	}
	return false;
}

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
	const struct own_setting *own = config_find_own(name);

	if (!config_is_setting(name))
		configwalk_problem(
		    w, "'%s' is not the name of a server setting", name);
	if (k->rule != CONFIG_SETTINGS_SET)
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
check_members(struct configwalk *w, const char *section,
    const struct config_key *k, struct json *v)
{
	bool fits;
	size_t len;

	if (k->rule == CONFIG_OBJECT) {
		check_object(w, k->inner, v);
		return;
	}
	if (k->rule != CONFIG_SETTINGS && k->rule != CONFIG_SETTINGS_SET &&
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
		configfit_report(w, section, k, m);
		configwalk_leave(w, len);
	}
}

static void
check_list(struct configwalk *w, const char *section,
    const struct config_key *k, struct json *v)
{
	size_t i = 0, len;

	if (!json_len(v) && k->min >= 0)
		configfit_report(w, section, k, v);
	for (struct json *m = json_first(v); m; m = json_next(m)) {
		len = configwalk_index(w, i++);
		if (configfit_matches(w, k, m))
			check_members(w, section, k, m);
		else
			configfit_report(w, section, k, m);
		configwalk_leave(w, len);
	}
}

static void
check_value(struct configwalk *w, const char *section,
    const struct config_key *k, struct json *v)
{
	enum config_list list = config_listing(k, section);

	if (json_type(v) == JSON_ARRAY && list != CONFIG_SINGLE)
		check_list(w, section, k, v);
	else if (list == CONFIG_LIST || !configfit_matches(w, k, v))
		configfit_report(w, section, k, v);
	else
		check_members(w, section, k, v);
}

/* A problem of the key here, or only a warning. */
static void
report_ignored(struct configwalk *w, const char *what)
{
	if (w->lenient)
		err_say("%s: %s: ignored: %s", w->name, w->path.s, what);
	else
		configwalk_problem(w, "%s", what);
}

static void
report_unknown_key(struct configwalk *w, const char *section, const char *key)
{
	const char *names[128];
	char hint[STR_HINT], what[STR_HINT + 64];
	size_t n = 0;

	for (const struct config_key *k = config_keys; k->name; k++)
		if (str_has_part(k->where, section, ' ') && n < 127)
			names[n++] = k->name;
	names[n] = NULL;
	str_hint(hint, key, names);
	snprintf(what, sizeof what, "unknown key%s", hint);
	report_ignored(w,
	    *hint || !config_find("scenario", key)
		? what
		: "unknown key, it goes into a scenario");
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

static bool
is_row_given(
    const struct config_key *k, const char *section, const struct json *obj)
{
	return str_has_part(k->where, section, ' ') &&
	    config_is_given(obj, k->name);
}

/* May both keys be there, since only cases of 'commands' are made of both? */
static bool
is_for_commands(
    const struct config_key *k, const char *section, const struct json *obj)
{
	return strcmp(k->name, "requests") == 0 &&
	    (strcmp(section, "config") != 0 || json_get(obj, "test_groups") ||
		json_get(obj, "scenarios"));
}

/* Reports keys that exclude each other, and those that lack what they need. */
static void
check_relations(
    struct configwalk *w, const char *section, const struct json *obj)
{
	for (const struct config_key *k = config_keys; k->name; k++) {
		if (!is_row_given(k, section, obj))
			continue;
		for (const struct config_key *o = config_keys; o->name; o++)
			if (config_excludes(k, o) &&
			    is_row_given(o, section, obj) &&
			    !is_for_commands(k, section, obj))
				configwalk_problem(w,
				    "Cannot specify both '%s' and '%s'",
				    k->name, o->name);
		if (k->needs && !config_is_given(obj, k->needs))
			configwalk_problem(w, "'%s' needs a '%s'%s", k->name,
			    k->needs,
			    config_find(section, k->needs)->rule == CONFIG_BOOL
				? " of true"
				: "");
	}
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
		else if (k->rule == CONFIG_MIX && is_list_of_objects(m))
			convert_mix(w, k, obj);
		else {
			check_value(w, section, k, m);
			if (k->rule == CONFIG_BOOL)
				convert_truths(obj, name);
		}
		configwalk_leave(w, len);
	}
	if (strcmp(section, "delays") == 0)
		rename_delays(w, obj);
	check_relations(w, section, obj);
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
	size_t len;

	check_overlap(w, json_get(cfg, "server_cpu_range"),
	    json_get(cfg, "client_cpu_range"),
	    "server_cpu_range and client_cpu_range");
	if (!alloc || json_type(alloc) != JSON_OBJECT)
		return;
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
check_part(struct configwalk *w, const struct json *part)
{
	if (!json_get(part, "command") && !json_get(part, "test"))
		configwalk_problem(w, "Missing required key: command");
}

/* Checks that a scenario has a test, a command, or writes and reads. */
static void
check_scenario(struct configwalk *w, const struct json *s)
{
	const char *type = json_get_str(s, "type");
	bool parts = json_get(s, "writes") || json_get(s, "reads");

	if (type && strcmp(type, "mixed") == 0) {
		if (!parts)
			configwalk_problem(w,
			    "a mixed scenario needs 'writes' or "
			    "'reads'");
	} else if (parts)
		configwalk_problem(
		    w, "'writes' and 'reads' need type \"mixed\"");
	else if (!json_get(s, "test") && !json_get(s, "command") &&
	    !json_get(s, "mix"))
		configwalk_problem(w, "Missing required key: command");
	if (json_get(s, "mix") && parts)
		configwalk_problem(
		    w, "Cannot specify both 'mix' and 'writes' or 'reads'");
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

/* Sets the lists that a configuration with commands leaves out: those of
 * valkey-benchmark, but with a million keys, as in scenarios; it has one key
 * without -r. */
static void
complete_lists(struct json *cfg)
{
	struct json *list;
	bool excluded;

	for (const struct config_key *k = config_keys; k->name; k++) {
		excluded = k->plain <= 0 || json_get(cfg, k->name);
		for (const struct config_key *o = config_keys; o->name; o++)
			excluded = excluded ||
			    (config_excludes(o, k) && json_get(cfg, o->name));
		if (excluded)
			continue;
		list = json_array();
		json_push_num(list, k->plain);
		json_set(cfg, k->name, list);
	}
}

/* The files of the Python tool may have its own keys, which it ignores. */
static void
report_unused_key(struct configwalk *w, const char *key)
{
	static const char what[] =
	    "has no effect on scenarios: give each its own";
	static const char known[] =
	    "commands data_sizes pipelines clients requests warmup";

	if (str_has_part(known, key, ' '))
		err_say("%s: %s: %s", w->name, w->path.s, what);
	else
		report_ignored(w, what);
}

/* Reports keys that scenarios do not take from their configuration: those of
 * commands, which make cases of their own, and what each scenario says. */
static void
report_unused(struct configwalk *w, const struct json *cfg)
{
	for (const struct json *v = json_first(cfg); v; v = json_next(v)) {
		const struct config_key *k = config_find("config", json_key(v));
		size_t len = configwalk_key(w, json_key(v));

		if (k && config_is_given(cfg, k->name) &&
		    !str_has_part("keyspacelen rate", k->name, ' ') &&
		    (k->axis >= CONFIG_AXIS_COMMANDS ||
			str_has_part("warmup populate_with", k->name, ' ')))
			report_unused_key(w, k->name);
		configwalk_leave(w, len);
	}
}

static void
check_config(struct configwalk *w, struct json *cfg)
{
	bool plain = json_get(cfg, "commands") || json_get(cfg, "mix");
	bool groups =
	    json_get(cfg, "test_groups") || json_get(cfg, "scenarios");
	char *s;

	if (json_type(cfg) != JSON_OBJECT) {
		s = configfit_format(cfg);
		configwalk_problem(
		    w, "a configuration must be an object, not %s", s);
		free(s);
		return;
	}
	check_object(w, "config", cfg);
	if (!plain && !groups && !json_get(cfg, "replay"))
		configwalk_problem(w,
		    "neither 'commands' nor 'mix' nor 'test_groups' is given");
	if (groups)
		report_unused(w, cfg);
	check_elements(w, cfg, "scenarios", check_scenario);
	check_elements(w, cfg, "test_groups", check_group);
	check_cpus(w, cfg);
	check_server(w, cfg);
	if (plain)
		complete_lists(cfg);
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
		ignore_own_settings(all, name);
		return all;
	}
	json_free(all);
	return NULL;
}
