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
		return copy_reason(rule == CONFIG_TTL
			? valuespec_parse_ttl(text, &low, &high)
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
	case CONFIG_TTL:
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
