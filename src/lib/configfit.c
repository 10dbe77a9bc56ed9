#include "configfit.h"
#include "config.h"
#include "configwalk.h"
#include "cpulist.h"
#include "json.h"
#include "jsonpublic.h"
#include "keyspec.h"
#include "mem.h"
#include "mixspec.h"
#include "ratespec.h"
#include "redact.h"
#include "slospec.h"
#include "str.h"
#include "valuespec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* Returns why a text in a language of its own is not valid, or NULL. */
static const char *
explain_text(enum config_rule rule, const char *text)
{
	struct keyspec keys;
	struct valuespec values;
	long long low, high;

	if (rule == CONFIG_KEYSPEC)
		return keyspec_parse(text, &keys);
	if (rule == CONFIG_VALUESPEC)
		return valuespec_parse(text, &values);
	return valuespec_parse_ttl(text, &low, &high);
}

/* Reports what is wrong with the text, if 'w' is not NULL. */
static bool
fits_spec(
    struct configwalk *w, const struct config_key *k, const struct json *v)
{
	const char *why;

	if (!json_str(v))
		return false;
	why = explain_text(k->rule, json_str(v));
	if (why && w)
		configwalk_problem(w, "'%s': invalid %s \"%s\": %s", k->name,
		    strcmp(k->name, "keys") == 0 ? "distribution" : "text",
		    json_str(v), why);
	return !why || w;
}

/* Reports what is wrong with the text, if 'w' is not NULL. */
static bool
fits_mix(struct configwalk *w, const struct config_key *k, const struct json *v)
{
	struct mixspec mix;
	char *why;

	if (!json_str(v))
		return false;
	why = mixspec_parse(json_str(v), &mix);
	if (why && w)
		configwalk_problem(w, "'%s': invalid mix \"%s\": %s", k->name,
		    json_str(v), why);
	if (!why)
		mixspec_free(&mix);
	free(why);
	return !why || w;
}

char *
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

static bool
fits_slo(struct configwalk *w, const struct config_key *k, const struct json *v)
{
	struct slospec slo;
	const char *why;

	if (!json_str(v))
		return false;
	why = slospec_parse(json_str(v), &slo);
	if (why && w)
		configwalk_problem(w, "'%s': invalid limit \"%s\": %s", k->name,
		    json_str(v), why);
	return !why || w;
}

/* The same for rates, where numbers only are reported by the caller. */
static bool
fits_rate(
    struct configwalk *w, const struct config_key *k, const struct json *v)
{
	struct ratespec rate;
	const char *why = ratespec_read(v, &rate);

	if (why && w && json_str(v))
		configwalk_problem(w, "'%s': invalid rate \"%s\": %s", k->name,
		    json_str(v), why);
	return !why || (w && json_str(v));
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
	const char *why;
	cpu_set_t set;

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
		return fits_rate(w, k, v);
	case CONFIG_SEED:
		return json_type(v) == JSON_BOOL || is_integer(k, v);
	case CONFIG_KEYSPEC:
	case CONFIG_VALUESPEC:
	case CONFIG_TTL:
		return fits_spec(w, k, v);
	case CONFIG_MIX:
		return fits_mix(w, k, v);
	case CONFIG_SLO:
		return fits_slo(w, k, v);
	case CONFIG_SPEED:
		if (json_str(v))
			return strcmp(json_str(v), "closed") == 0;
		return json_type(v) == JSON_NUMBER && d >= 1e-6 && d <= 1e6;
	case CONFIG_CHOICE:
		return json_str(v) && *json_str(v) &&
		    str_has_part(k->inner, json_str(v), '|');
	case CONFIG_CPUS:
		if (!json_str(v))
			return false;
		if (cpulist_parse(json_str(v), &set, &why) < 0)
			configwalk_problem(w,
			    "'%s': invalid CPU list \"%s\": %s", k->name,
			    json_str(v), why);
		return true;
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
