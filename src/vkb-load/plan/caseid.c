#include "benchcase.h"
#include "caseset.h"
#include "config.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "mixspec.h"
#include "num.h"
#include "plan.h"
#include "str.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
