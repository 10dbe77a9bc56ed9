#include "plan.h"
#include "assign.h"
#include "axes.h"
#include "benchcase.h"
#include "config.h"
#include "configwalk.h"
#include "err.h"
#include "json.h"
#include "jsonfile.h"
#include "jsonl.h"
#include "keyspec.h"
#include "mem.h"
#include "mixspec.h"
#include "intern.h"
#include "ownkeys.h"
#include "ratespec.h"
#include "record.h"
#include "replay.h"
#include "sink.h"
#include "slospec.h"
#include "str.h"
#include "valuespec.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void
plan_report_problem(struct plan *p, const char *fmt, ...)
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

bool
plan_is_listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = list; s; s = strchr(s, ',')) {
		s += *s == ',';
		s += strspn(s, " ");
		if (strncmp(s, word, n) == 0 &&
		    (s[n + strspn(s + n, " ")] == ',' ||
			!s[n + strspn(s + n, " ")]))
			return true;
	}
	return !list;
}

void
plan_check_command(struct plan *p, const char *command, const char *where,
    const char *what, const char *given)
{
	const char *near;
	char *upper;

	for (size_t i = 0; p->commands && p->commands[i]; i++)
		if (strcmp(p->commands[i], command) == 0)
			return;
	if (!p->commands)
		return;
	upper = str_upper(command);
	near = str_nearest(upper, p->commands);
	plan_report_problem(p, "%s: unknown %s '%s'%s%s%s", where, what, given,
	    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	free(upper);
}

void
plan_check_mix(struct plan *p, const char *mix, const char *where)
{
	struct mixspec m;

	free(mixspec_parse(mix, &m));
	for (size_t i = 0; i < m.n; i++)
		if (mixspec_is_test(m.v[i].command))
			plan_check_command(p, m.v[i].command, where, "command",
			    m.v[i].command);
	mixspec_free(&m);
}

struct json *
plan_change_texts(const struct json *j,
    char *(*fn)(const char *text, const void *arg), const void *arg)
{
	struct json *out;
	char *text;

	if (j && json_type(j) == JSON_ARRAY) {
		out = json_array();
		for (j = json_first(j); j; j = json_next(j))
			json_push(out, plan_change_texts(j, fn, arg));
		return out;
	}
	if (!json_str(j))
		return json_dup(j);
	text = fn(json_str(j), arg);
	out = json_string(text);
	free(text);
	return out;
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
	static const char *const sides[] = {"writes", "reads"};
	struct json *part;

	override_length(w, config, "duration_s");
	if (w->warmup >= 0)
		json_set_num(config, "warmup_s", w->warmup);
	for (size_t i = 0; i < 2; i++)
		for (part = json_first(json_get(config, sides[i])); part;
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
	else if (k->rule == CONFIG_TTL && text &&
	    !valuespec_parse_ttl(text, &low, &high))
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
	static const char *const sides[] = {"writes", "reads"};
	const char *latency = json_get_str(config, "latency"), *command;

	normalize_values(config, false);
	for (size_t i = 0; i < 2; i++)
		for (struct json *p = json_first(json_get(config, sides[i])); p;
		     p = json_next(p))
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
	p->cases = mem_grow(p->cases, p->n, &p->cap, sizeof *p->cases);
	p->cases[p->n++] = cas;
}

/* The id is set by plan_finish: it depends on the other cases. */
struct json *
plan_add(struct plan *p, const struct plan_axes *x, struct json *config)
{
	struct json *cas;

	if (p->n == PLAN_MOST) {
		if (!p->full)
			plan_report_problem(p,
			    "more than %d cases, which is the limit: the "
			    "lists multiply, so shorten them or split the "
			    "configuration",
			    PLAN_MOST);
		p->full = true;
		json_free(config);
		return NULL;
	}
	cas = record_new("case");
	axes_complete_config(x, config);
	override_config(p->want, config);
	json_set_str(cas, "id", "");
	json_set(cas, "config", config);
	json_set(cas, "server", axes_make_server(p, x));
	json_set(cas, "client", axes_make_client(x));
	if (replay_make_case(p, x->cfg, cas) < 0)
		p->full = true; /* one message is enough */
	append_case(p, cas);
	return cas;
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
	plan_add(p, x, c);
}

static void
expand_config(struct plan *p, const struct json *cfg)
{
	bool groups = json_get(cfg, "test_groups");
	const struct json *m =
	    groups ? NULL : json_first(json_get(cfg, "commands"));

	for (; m; m = json_next(m))
		if (mixspec_is_test(json_str(m)))
			plan_check_command(
			    p, json_str(m), "commands", "command", json_str(m));
	m = groups ? NULL : json_get(cfg, "mix");
	if (json_str(m))
		plan_check_mix(p, json_str(m), "mix");
	for (m = json_first(m); m; m = json_next(m))
		plan_check_mix(p, json_str(m), "mix");
	axes_each(p, cfg, groups ? plan_expand_scenarios : add_command);
}

/* Applies the options to a case that was read. */
static void
override_case(const struct plan_want *w, struct json *cas)
{
	struct json *config = json_get(cas, "config");

	override_config(w, config);
	axes_hide_secrets(config);
}

/* Adds a case that was read; options override it. 0, or -1, error reported. */
static int
take_case(struct plan *p, struct json *rec, const char *where)
{
	struct json *b;

	if (!record_is(rec, "case"))
		return err_fail("%s: record of type '%s' instead of 'case'",
		    where, record_type(rec));
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

	p->file = strcmp(file, "-") == 0 ? "stdin" : file;
	if (jsonfile_text(file, &s) < 0)
		goto out;
	if (!s.s[strspn(s.s, " \t\r\n")]) { /* an empty file has no cases */
		rc = 0;
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
