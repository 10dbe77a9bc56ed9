#include "benchcase.h"
#include "caseset.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "jsonpublic.h"
#include "mem.h"
#include "mixspec.h"
#include "num.h"
#include "plan.h"
#include "str.h"

#include <ctype.h>
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
		str_printf(s, "-%s%.15g", letter, json_num(v, 0));
}

static void
add_word(struct str *s, const char *letter, const char *word)
{
	if (!word)
		return;
	str_printf(s, "-%s", letter);
	add_plain(s, word);
}

/* search.reader-threads 8 becomes reader-threads8, as in the Python tool. */
static void
add_settings(struct str *s, const struct json *set)
{
	const char *name, *dot;
	char sep = '-';

	for (const struct json *m = json_first(set); m; m = json_next(m)) {
		name = json_key(m);
		dot = strrchr(name, '.');
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
add_cut(struct str *s, const char *letter, const char *text, size_t most)
{
	struct str part = {0};

	if (!text)
		return;
	str_add(&part, text);
	str_cut(&part, most);
	str_add(s, letter);
	add_plain(s, part.s);
	str_free(&part);
}

static void
add_test(struct str *s, const struct json *c)
{
	const char *test = json_get_str(c, "test_id");

	if (test) {
		add_plain(s, test);
		add_number(s, "i", json_get(c, "iteration"));
		add_number(s, "again", json_get(c, "occurrence"));
		return;
	}
	if (json_get_str(c, "mix"))
		add_mix(s, json_get_str(c, "mix"));
	else
		add_cut(s, "", json_get_str(c, "command"), COMMAND_MOST);
	add_number(s, "d", json_get(c, "data_size"));
	add_number(s, "P", json_get(c, "pipeline"));
	add_number(s, "c", json_get(c, "clients"));
	add_number(s, "k", json_get(c, "keyspacelen"));
}

static void
format_id(struct str *s, const struct json *c, bool more)
{
	const char *latency = json_get_str(c, "latency");

	add_test(s, c);
	if (json_get_str(c, "mix_order"))
		str_add(s, "-in_turn");
	add_word(s, "", json_get_str(c, "keys"));
	add_cut(s, "-v", json_get_str(c, "values"), VALUES_MOST);
	add_word(s, "ttl", json_get_str(c, "ttl"));
	add_word(s, "", json_get_str(c, "replay"));
	add_word(s, "x", json_get_str(c, "replay_speed"));
	if (json_get_bool(c, "cluster_mode", false)) {
		str_add(s, "-cluster");
		if (json_get_num(c, "cluster_nodes", 1) > 1)
			str_printf(
			    s, "%.15g", json_get_num(c, "cluster_nodes", 1));
		add_number(s, "r", json_get(c, "cluster_replicas"));
	}
	if (json_get_bool(c, "tls_mode", false))
		str_add(s, "-tls");
	add_word(s, "", json_get_str(c, "tls_protocol"));
	add_word(s, "", json_get_str(c, "tls_ciphers"));
	add_word(s, "", json_get_str(c, "tls_ciphersuites"));
	if (json_get_bool(c, "tls_resumption", false))
		str_add(s, "-resumed");
	if (json_get_num(c, "io_threads", 1) > 1)
		add_number(s, "io", json_get(c, "io_threads"));
	add_word(s, "", json_get_str(c, "slo"));
	if (json_get_str(c, "rate")) {
		str_add(s, "-rate");
		add_plain(s, json_get_str(c, "rate"));
	} else
		add_number(s, "rate", json_get(c, "rate"));
	if (json_get_bool(c, "unixsocket", false))
		str_add(s, "-unix");
	if (json_get_bool(c, "resp3", false))
		str_add(s, "-resp3");
	add_number(s, "re", json_get(c, "reconnect"));
	add_number(s, "storm", json_get(c, "storm_s"));
	add_number(s, "idle", json_get(c, "idle_clients"));
	add_number(s, "db", json_get(c, "db"));
	add_word(s, "track_", json_get_str(c, "tracking"));
	add_word(s, "from_", json_get_str(c, "read_from"));
	if (json_get_bool(c, "verify", false))
		str_add(s, "-verify");
	if (json_get_bool(c, "no_flush", false))
		str_add(s, "-no_flush");
	if (strcmp(bench_case_engine(c), BENCH_CASE_NATIVE) != 0) {
		str_addc(s, '-');
		add_plain(s, bench_case_engine(c));
	} else if (latency)
		str_add(s, "-bfb");
	add_settings(s, json_get(c, "config_set"));
	if (json_get(c, "profiling"))
		str_add(s, "-profiled");
	if (!more)
		return;
	add_number(s, "n", json_get(c, "requests"));
	add_number(s, "t", json_get(c, "duration_s"));
	add_number(s, "w", json_get(c, "warmup_s"));
	add_number(s, "T", json_get(c, "benchmark_threads"));
	if (json_get_bool(c, "sequential", false))
		str_add(s, "-seq");
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
	struct str s = {0};

	if (json_equal(json_get(a, "server"), json_get(b, "server")) &&
	    json_equal(json_get(a, "client"), json_get(b, "client")))
		return 0;
	plan_format_id(&s, json_get(a, "config"), false);
	err_say("case %s is planned twice with different CPUs or ports, which "
		"are not part of its identity: run them in two sessions with "
		"an '--output' each",
	    s.s);
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
		if (given[i] && same[i])
			rc = err_fail("two different cases have the id '%s': "
				      "rename one",
			    json_get_str(p->cases[i], "id"));
	str_free(&s);
	free(given);
	free(same);
	return rc;
}
