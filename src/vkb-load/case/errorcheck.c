#include "errorcheck.h"
#include "err.h"
#include "json.h"
#include "num.h"
#include "str.h"
#include "vkb-load/engine/engine.h"

#include <math.h>
#include <string.h>

#define MOST_PERCENT 1

static bool
is_reply(const struct engine_error *e)
{
	return !str_starts(e->kind, "connection ");
}

/* Appends the first error, and the number of each kind if there are several. */
static void
add_kinds(struct str *s, const struct engine_result *r, const char *first)
{
	str_add(s, first);
	for (size_t i = 0; i < r->nerrors && r->nerrors > 1; i++)
		str_printf(s, "%s%s %llu", i ? ", " : " (", r->errors[i].kind,
		    (unsigned long long)r->errors[i].count);
	str_add(s, r->nerrors > 1 ? ")" : "");
}

static double
count_replies(const struct engine_result *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->nerrors; i++)
		sum += is_reply(&r->errors[i]) ? (double)r->errors[i].count : 0;
	return sum;
}

const char *
errorcheck_advice(const struct engine_result *r)
{
	const struct engine_error *e, *most = r->errors;

	if (!r->nerrors)
		return "";
	for (e = r->errors; e < r->errors + r->nerrors; e++)
		most = e->count > most->count ? e : most;
	return strcmp(most->kind, "MOVED") == 0
	    ? "; put {tag} into the keys that decide the node"
	    : strcmp(most->kind, "CLUSTERDOWN") == 0
	    ? "; does the cluster serve all slots?"
	    : "";
}

/* Returns the percentage of errors that the case allows. */
static double
get_most(const struct json *cas)
{
	return json_num(
	    json_path(cas, "client.max_errors_percent"), MOST_PERCENT);
}

bool
errorcheck_allows_more(const struct json *cas)
{
	return get_most(cas) > MOST_PERCENT;
}

bool
errorcheck_fails(
    const struct json *cas, const char *part, const struct engine_result *r)
{
	double most = get_most(cas);
	/* Errors are counted from the first request on. */
	double all = fmax((double)r->requests, (double)r->answered);
	double errors = count_replies(r);
	struct str s = {0};

	if ((double)r->refused * 100 > (double)r->requests * most) {
		str_printf(&s, "%llu of %llu requests were refused: ",
		    (unsigned long long)r->refused,
		    (unsigned long long)r->requests);
		add_kinds(&s, r, r->refusal);
	} else if (most < 100 && errors * 100 > all * most) {
		str_printf(&s,
		    "%.0f errors in %.0f requests, more than "
		    "'max_errors_percent' (%.15g) allows, the first: ",
		    errors, all, most);
		add_kinds(&s, r, r->errors->text);
		str_add(&s, errorcheck_advice(r));
	} else {
		return false;
	}
	err_say("%s%s%s", part ? part : "", part ? ": " : "", s.s);
	str_free(&s);
	return true;
}

void
errorcheck_report(const struct json *cas, const struct engine_result *r)
{
	struct str s = {0};

	if (!r->nerrors)
		return;
	add_kinds(&s, r, r->errors->text);
	err_say("%s: %llu error%s in %llu requests, the first: %s",
	    json_get_str(cas, "id"), (unsigned long long)r->errors_total,
	    num_plural((double)r->errors_total),
	    (unsigned long long)r->requests, s.s);
	str_free(&s);
}
