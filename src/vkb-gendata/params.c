#include "params.h"
#include "configwalk.h"
#include "json.h"
#include "mem.h"
#include "transform.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_KINDS 31 /* in one table */

/* Reports that the value at 'key' is not 'want'; a long value is shortened. */
static void
report_bad_value(struct configwalk *w, const char *key, const struct json *v,
    const char *want)
{
	size_t len = configwalk_key(w, key);
	struct str s = {0};

	json_append(&s, v);
	if (s.len > 60) {
		s.len = 57;
		str_add(&s, "...");
	}
	configwalk_problem(w, "%s is not %s", s.s, want);
	str_free(&s);
	configwalk_leave(w, len);
}

static int
parse_number_param(const struct json *v, const char *key, bool whole,
    double min, double max, double *to, struct configwalk *w)
{
	double d = json_num(v, NAN);
	char want[96];

	if (json_type(v) == JSON_NUMBER && d >= min && d <= max &&
	    (!whole || d == floor(d))) {
		*to = d;
		return 0;
	}
	snprintf(want, sizeof want, "a%s number from %.15g to %.15g",
	    whole ? " whole" : "", min, max);
	report_bad_value(w, key, v, want);
	return -1;
}

long long
params_read_whole(const struct json *j, const char *key, double min, double max,
    struct configwalk *w)
{
	const struct json *v = json_get(j, key);
	double d;

	if (!v) {
		configwalk_problem(w, "lacks '%s'", key);
		return -1;
	}
	return parse_number_param(v, key, true, min, max, &d, w) < 0
	    ? -1
	    : (long long)d;
}

static void
set_default_list(struct transform *t, const char *text)
{
	char *copy = mem_str(text), *rest = copy, *part;

	while ((part = strsep(&rest, ",")))
		transform_add_text(t, mem_str(part));
	free(copy);
}

static void
parse_text_list(struct transform *t, const char *key, const struct json *v,
    struct configwalk *w)
{
	const struct json *e =
	    json_type(v) == JSON_ARRAY ? json_first(v) : NULL;
	bool valid = e;

	for (; e && valid; e = json_next(e)) {
		valid = json_str(e);
		transform_add_text(t, mem_str(json_str(e)));
	}
	if (!valid)
		report_bad_value(w, key, v, "a list of strings");
}

static void
parse_param(const struct params *p, const struct json *v, struct transform *t,
    struct configwalk *w)
{
	void *to = (char *)t + p->offset;
	double d = p->fallback;

	if (p->type <= PARAMS_REAL) {
		if (v)
			parse_number_param(v, p->name, p->type == PARAMS_WHOLE,
			    p->min, p->max, &d, w);
		if (p->type == PARAMS_WHOLE)
			*(long long *)to = (long long)d;
		else
			*(double *)to = d;
	} else if (!v && !p->text) {
		configwalk_problem(w, "lacks '%s'", p->name);
	} else if (p->type == PARAMS_TEXT) {
		if (v && !json_str(v))
			report_bad_value(w, p->name, v, "a string");
		*(const char **)to = v ? json_str(v) : p->text;
	} else if (v) {
		parse_text_list(t, p->name, v, w);
	} else {
		set_default_list(t, p->text);
	}
}

/* Reports a key that is neither in the table nor in 'other'. */
static void
check_key(const struct params *table, const char *const *other, const char *key,
    struct configwalk *w)
{
	struct str s = {0};
	bool known = false;

	for (const struct params *p = table; p && p->name; p++) {
		known |= strcmp(p->name, key) == 0;
		str_printf(&s, "%s%s", s.len ? ", " : "", p->name);
	}
	for (; *other; other++) {
		known |= strcmp(*other, key) == 0;
		str_printf(&s, "%s%s", s.len ? ", " : "", *other);
	}
	if (!known)
		configwalk_problem(
		    w, "unknown key '%s' (there are %s)", key, s.s);
	str_free(&s);
}

static void
report_unknown_kind(struct configwalk *w, const char *what, const char *type,
    const struct params_kind *kinds)
{
	const char *names[MOST_KINDS + 1] = {0}, *near;
	size_t len = configwalk_key(w, "type");
	struct str s = {0};

	for (size_t i = 0; kinds[i].name; i++) {
		names[i] = kinds[i].name;
		str_printf(&s, "%s%s", i ? ", " : "", names[i]);
	}
	near = str_nearest(type, names);
	configwalk_problem(w, "unknown %s '%s'%s%s%s (there are %s)", what,
	    type, near ? ", did you mean '" : "", near ? near : "",
	    near ? "'?" : "", s.s);
	configwalk_leave(w, len);
	str_free(&s);
}

int
params_find_kind(const struct params_kind *kinds, const char *what,
    const struct json *j, const char *fallback, struct configwalk *w)
{
	const struct json *type = json_get(j, "type");
	const char *name = type ? json_str(type) : fallback;

	if (!name) {
		configwalk_problem(w, "'type' is not a string");
		return -1;
	}
	for (int i = 0; kinds[i].name; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return i;
	report_unknown_kind(w, what, name, kinds);
	return -1;
}

void
params_read(const struct params *table, const char *const *other,
    const struct json *j, struct transform *t, struct configwalk *w)
{
	for (const struct params *p = table; p && p->name; p++)
		parse_param(p, json_get(j, p->name), t, w);
	for (const struct json *v = json_first(j); v; v = json_next(v))
		check_key(table, other, json_key(v), w);
	if (t && t->min_len > t->max_len)
		configwalk_problem(w,
		    "'min_word_length' %lld is above 'max_word_length' %lld",
		    t->min_len, t->max_len);
}
