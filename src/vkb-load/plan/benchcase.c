#include "benchcase.h"
#include "config.h"
#include "cpulist.h"
#include "err.h"
#include "json.h"
#include "keyspec.h"
#include "mem.h"
#include "mixspec.h"
#include "num.h"
#include "plan.h"
#include "record.h"
#include "str.h"
#include "tracefile.h"
#include "valuespec.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BENCH_CASE_REPLAY "REPLAY" /* config.command of such a case */

#define CLOSED "closed"
#define CLIENTS_MOST 1000 /* unless a configuration says how many */
#define PIPELINE 100      /* the same, at recorded times */

/* Returns NULL, or why the text is not a speed; static. A speed is a number
 * above 0, or "closed"; *speed is then 0. */
static const char *
parse_speed(const char *text, double *speed)
{
	*speed = 0;
	if (strcmp(text, CLOSED) == 0)
		return NULL;
	if (num_real(text, speed) == 0 && *speed >= 1e-6 && *speed <= 1e6)
		return NULL;
	return "use a number from 0.000001 to 1000000, or " CLOSED;
}

const char *
bench_case_replay_conflict(const char *replay, const struct plan_want *w,
    bool count, bool no_flush, const char *order)
{
	if (!replay)
		return NULL;
	if (w->db > 0)
		return "'--replay' excludes a database of '--uri'";
	if (count)
		return "'--replay' excludes '--count' and '--count-only'";
	if (no_flush)
		return "'--replay' excludes '--no-flush': the keys of a trace "
		       "cannot get a prefix";
	if (order && strcmp(order, "slices") == 0)
		return "'--replay' excludes '--order slices'";
	return NULL;
}

/* Returns why a trace cannot be replayed at this speed, or NULL. */
static char *
check_times(const char *path, const struct tracefile_totals *t, double speed)
{
	if (!t->commands)
		return mem_printf("%s: it has no commands", path);
	if (speed > 0 && t->seconds <= 0 && t->commands > 1)
		return mem_printf("%s: all its commands came at one time: "
				  "replay it " CLOSED,
		    path);
	return NULL;
}

/* Writes a speed in its only form: 2, not "2.0"; none for 1. */
static void
set_speed(struct json *config, const char *text)
{
	double speed = 1;
	char *plain;

	json_del(config, "replay_speed");
	if (text)
		parse_speed(text, &speed); /* it was checked */
	plain = speed > 0 ? mem_printf("%.15g", speed) : mem_str(CLOSED);
	if (strcmp(plain, "1") != 0)
		json_set_str(config, "replay_speed", plain);
	free(plain);
}

/* Sets what a configuration did not say. */
static void
set_defaults(
    struct json *config, const struct tracefile_totals *t, double speed)
{
	double clients = t->conns > CLIENTS_MOST ? CLIENTS_MOST
	    : t->conns                           ? (double)t->conns
						 : 1;

	if (!json_get(config, "clients"))
		json_set_num(config, "clients", clients);
	if (!json_get(config, "pipeline"))
		json_set_num(config, "pipeline", speed > 0 ? PIPELINE : 1);
}

/*
 * Turns a case into one that replays a trace. Returns NULL, or why the trace
 * cannot be replayed; caller frees.
 */
static char *
set_trace(struct json *cas, const char *path, const char *speed)
{
	/* Options can have set these. */
	static const char *const others[] = {"rate", "arrivals", "db"};
	struct json *config = json_get(cas, "config");
	const char *slash = strrchr(path, '/');
	struct tracefile_totals totals = {0};
	char full[PATH_MAX], *why = NULL;
	double factor = 1;

	if (speed)
		parse_speed(speed, &factor);
	if (tracefile_totals(path, &totals, &why) == 0)
		why = check_times(path, &totals, factor);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		json_del(config, others[i]);
	json_set_str(config, "command", BENCH_CASE_REPLAY);
	json_set_str(config, "replay", slash ? slash + 1 : path);
	json_set_str(config, "trace", totals.id);
	set_speed(config, speed);
	set_defaults(config, &totals, factor);
	if (!json_get(cas, "client"))
		json_set(cas, "client", json_object());
	json_set_str(json_get(cas, "client"), "replay",
	    realpath(path, full) ? full : path);
	return why;
}

char *
bench_case_replay(const struct json *cfg, struct json *cas)
{
	const struct json *own = json_get(cfg, "replay_speed");
	const char *path = json_get_str(cfg, "replay");
	char *speed, *why;

	if (!path)
		return NULL;
	speed = json_str(own) ? mem_str(json_str(own))
			      : mem_printf("%.15g", json_num(own, 1));
	why = set_trace(cas, path, speed);
	free(speed);
	return why;
}

/* Returns why the trace of a case that was read is not there any more, or NULL;
 * caller frees. */
static char *
check_replay(const struct json *cas)
{
	const char *path = json_str(json_path(cas, "client.replay"));
	const char *want = json_str(json_path(cas, "config.trace"));
	struct tracefile_totals totals;
	char *why = NULL;

	if (!json_path(cas, "config.replay"))
		return NULL;
	if (!path || !want)
		return mem_str("'client.replay' or 'config.trace' is missing");
	if (tracefile_totals(path, &totals, &why) == 0 &&
	    strcmp(totals.id, want) != 0)
		why = mem_printf("%s: not the trace of the case: its id is "
				 "%s, not %s",
		    path, totals.id, want);
	return why;
}

enum kind {
	TEXT,   /* const char * */
	FLAG,   /* bool */
	IS,     /* bool: is the value this word? */
	WHOLE,  /* long long */
	COUNT,  /* int */
	REAL,   /* double */
	RATE,   /* struct ratespec */
	KEYS,   /* struct keyspec */
	VALUES, /* struct valuespec */
	SPAN,   /* long long, twice */
	SPEED,  /* double */
	TREE,   /* const struct json * */
	CHECKED /* none: it is read from the record */
};

struct field {
	const char *path;
	enum kind kind;
	size_t at; /* offset of the member */
	double absent;
	const char *limit[2]; /* section and name of the key with its limits */
	const char *word;     /* of IS */
};

#define AT(member) .at = offsetof(struct bench_load, member)

static const struct field load_fields[] = {{"command", TEXT, AT(command)},
    {"dataset", TEXT, AT(data.path)},
    {"xml_root_element", TEXT, AT(data.xml_element)},
    {"maxdocs", WHOLE, AT(data.maxdocs)}, {"test_phase", TEXT, AT(phase)},
    {"latency", IS, AT(work.batch_first_byte), .word = "batch-first-byte"},
    {"arrivals", IS, AT(poisson), .word = "poisson"},
    {"keys", KEYS, AT(work.keys)}, {"values", VALUES, AT(work.values)},
    {"ttl", SPAN, AT(work.options.ttl_low)}, {"slo", TEXT, AT(slo)},
    {"replay", TEXT, AT(replay)},
    {"replay_speed", SPEED, AT(work.replay_speed)},
    {"cluster_execution", IS, AT(parallel), .word = "parallel"},
    {"data_size", WHOLE, AT(work.data_size), 3},
    {"pipeline", COUNT, AT(work.pipeline), 1},
    {"clients", COUNT, AT(work.clients), 1},
    {"keyspacelen", WHOLE, AT(work.keyspacelen)},
    {"benchmark_threads", COUNT, AT(work.threads), 1},
    {"requests", WHOLE, AT(work.requests)},
    {"parallel_clients", WHOLE, AT(parallel_clients)},
    {"cluster_nodes", WHOLE, AT(nodes), 1},
    {"cluster_replicas", WHOLE, AT(replicas)},
    {"duration_s", REAL, AT(work.duration_s)}, {"rate", RATE, AT(rate)},
    {"warmup_s", REAL, AT(work.warmup_s)},
    {"warmup_apart", FLAG, AT(warmup_apart)},
    {"warmup_writes_only", FLAG, AT(warmup_writes_only)},
    {"resp3", FLAG, AT(work.resp3)}, {"verify", FLAG, AT(work.verify)},
    {"cluster_mode", FLAG, AT(cluster)},
    {"reconnect", WHOLE, AT(work.conns.reconnect)},
    {"storm_s", REAL, AT(work.conns.storm_s)},
    {"idle_clients", WHOLE, AT(idle_clients)}, {"db", WHOLE, AT(db)},
    {"tracking", IS, AT(work.conns.tracking), .word = "on"},
    {"tracking", IS, AT(work.conns.bcast), .word = "bcast"},
    {"read_from", IS, AT(read_replicas), .word = "replica"},
    {"tls_ciphers", TEXT, AT(tls.ciphers)},
    {"tls_ciphersuites", TEXT, AT(tls.suites)},
    {"tls_protocol", TEXT, AT(tls.protocol)},
    {"tls_resumption", FLAG, AT(tls_resumption)}, {"mix", TEXT, AT(mix)},
    {"mix_order", IS, AT(work.in_order), .word = "turn"}};

#undef AT
#define AT(member) .at = offsetof(struct bench_case, member)
#define DELAY(side, name) "config.profiling.delays." side "." name

static const struct field case_fields[] = {{"id", TEXT, AT(id)},
    {"config", TREE, AT(config)},
    {"config.populate_with", TEXT, AT(populate_with)},
    {"config.setup_commands", TREE, AT(setup_commands)},
    {"config.teardown_commands", TREE, AT(teardown_commands)},
    {"config.profiling", TREE, AT(profiling)},
    {"config.profiling.mode", TEXT, AT(profile_mode),
	.limit = {"profiling", "mode"}},
    {"config.profiling.sampling_freq", WHOLE, AT(sampling_freq), 999,
	.limit = {"profiling", "sampling_freq"}},
    {DELAY("write", "delay"), REAL, AT(profile_writes.delay_s), 0,
	.limit = {"delay", "delay"}},
    {DELAY("write", "duration"), REAL, AT(profile_writes.duration_s), 10,
	.limit = {"delay", "duration"}},
    {DELAY("read", "delay"), REAL, AT(profile_reads.delay_s), 0,
	.limit = {"delay", "delay"}},
    {DELAY("read", "duration"), REAL, AT(profile_reads.duration_s), 10,
	.limit = {"delay", "duration"}},
    {"config.unixsocket", FLAG, AT(unixsocket)}, {"server", TREE, AT(server)},
    {"server.modules", TREE, AT(modules)},
    {"server.cpus", TREE, AT(server_cpus)},
    {"server.config.requirepass", TEXT, AT(password)},
    {"client.cpus", TEXT, AT(client_cpus)},
    {"client.each", TREE, AT(client_cpus_each)},
    {"client.seed", WHOLE, AT(seed), -1, .limit = {"config", "seed"}},
    {"client.max_lost", WHOLE, AT(max_lost), .limit = {"config", "max_lost"}},
    {"client.max_errors_percent", CHECKED,
	.limit = {"config", "max_errors_percent"}},
    {"client.count", FLAG, AT(count)}, {"client.replay", TEXT, AT(trace)},
    {"client.timeout_s", REAL, AT(timeout_s), .limit = {"config", "timeout"}}};

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

/* Sets a member to a value, which was checked. */
static void
fill_field(void *to, const struct field *f, const struct json *v)
{
	void *member = (char *)to + f->at;
	const char *text = json_str(v);
	long long *span = member;

	switch (f->kind) {
	case TEXT:
		*(const char **)member = text;
		break;
	case FLAG:
		*(bool *)member = json_bool(v, false);
		break;
	case IS:
		*(bool *)member = text && strcmp(text, f->word) == 0;
		break;
	case WHOLE:
		*(long long *)member = (long long)json_num(v, f->absent);
		break;
	case COUNT:
		*(int *)member = (int)json_num(v, f->absent);
		break;
	case REAL:
		*(double *)member = json_num(v, f->absent);
		break;
	case RATE:
		ratespec_read(v, (struct ratespec *)member);
		break;
	case KEYS:
		if (text)
			keyspec_parse(text, (struct keyspec *)member);
		break;
	case VALUES:
		if (text)
			valuespec_parse(text, (struct valuespec *)member);
		break;
	case SPAN:
		if (text)
			valuespec_parse_span(text, &span[0], &span[1]);
		break;
	case SPEED:
		*(double *)member = 1;
		if (text)
			parse_speed(text, member);
		break;
	case TREE:
		*(const struct json **)member = v;
		break;
	case CHECKED:
		break;
	}
}

void
bench_case_fill_load(struct bench_load *l, const struct json *config)
{
	struct engine_work *w = &l->work;

	*l = (struct bench_load){0};
	for (size_t i = 0; i < COUNT_OF(load_fields); i++)
		fill_field(
		    l, &load_fields[i], json_get(config, load_fields[i].path));
	if (json_get_bool(config, "sequential", false))
		w->keys.kind = KEYSPEC_SEQUENTIAL;
	w->command = l->mix ? l->mix : l->command;
	w->conns.tracking = w->conns.tracking || w->conns.bcast;
	w->arrivals = l->poisson ? ENGINE_POISSON : ENGINE_CONSTANT;
	w->resp3 = w->resp3 || w->conns.tracking;
}

void
bench_case_fill(struct bench_case *c, const struct json *record)
{
	const struct json *before = json_get(record, "before");

	*c = (struct bench_case){.record = record};
	for (size_t i = 0; i < COUNT_OF(case_fields); i++)
		fill_field(
		    c, &case_fields[i], json_path(record, case_fields[i].path));
	c->no_aslr = !json_bool(json_path(record, "server.aslr"), true);
	bench_case_fill_load(&c->load, c->config);
	c->before = mem_array(json_len(before) + 1, sizeof *c->before);
	for (before = json_first(before); before; before = json_next(before))
		bench_case_fill(&c->before[c->nbefore++], before);
}

void
bench_case_free(struct bench_case *c)
{
	for (size_t i = 0; i < c->nbefore; i++)
		bench_case_free(&c->before[i]);
	free(c->before);
	json_free(c->placed);
}

static void
set_cpus(struct bench_case *c, const struct json *placed)
{
	c->unplaced = true;
	if (placed) {
		c->server_cpus = json_get(placed, "servers");
		c->client_cpus = json_get_str(placed, "clients");
		c->client_cpus_each = json_get(placed, "each");
	}
}

void
bench_case_place(struct bench_case *c)
{
	set_cpus(c, c->placed);
	for (size_t i = 0; i < c->nbefore; i++)
		set_cpus(&c->before[i], c->placed);
}

void
bench_case_adopt_part(struct json *config, const struct json *part)
{
	for (const struct config_key *k = config_keys; k->name; k++)
		if (k->identity && str_has_part(k->where, "part", ' '))
			json_set(config, k->identity,
			    json_dup(json_get(part, k->name)));
	if (json_get(part, "keys"))
		bench_case_set_keys(config, json_get_str(part, "keys"));
	else if (json_get_bool(part, "sequential", false))
		json_del(config, "keys");
	if (json_get(part, "values"))
		bench_case_set_values(config, json_get_str(part, "values"));
	else if (json_get(part, "data_size"))
		json_del(config, "values");
}

void
bench_case_set_values(struct json *config, const char *text)
{
	struct valuespec v;
	char *plain;

	if (!text || valuespec_parse(text, &v))
		return; /* bench_case_check reports it */
	plain = valuespec_format(&v);
	json_del(config, "values");
	json_set_num(config, "data_size", floor(valuespec_mean(&v) + .5));
	if (!valuespec_is_plain(&v))
		json_set_str(config, "values", plain);
	free(plain);
}

void
bench_case_set_keys(struct json *config, const char *text)
{
	struct keyspec k;
	char *plain;

	if (keyspec_parse(text, &k))
		return; /* bench_case_check reports it */
	plain = keyspec_format(&k);
	json_del(config, "keys");
	json_del(config, "sequential");
	if (k.kind == KEYSPEC_SEQUENTIAL)
		json_set_bool(config, "sequential", true);
	else if (k.kind != KEYSPEC_UNIFORM)
		json_set_str(config, "keys", plain);
	free(plain);
}

void
bench_case_set_mix(struct json *config, const char *text)
{
	struct mixspec m;
	char *why = mixspec_parse(text, &m), *plain;

	if (why) { /* bench_case_check reports it */
		free(why);
		return;
	}
	plain = mixspec_format(&m);
	json_set_str(config, "mix", plain);
	json_set_str(config, "command", BENCH_CASE_MIX);
	free(plain);
	mixspec_free(&m);
}

/* Does a value of a case fit the rule of its key? */
static bool
is_valid(const struct config_key *k, const struct json *v)
{
	bool list = k->list == CONFIG_LIST && !k->axis;

	if (k->rule == CONFIG_BOOL)
		return json_type(v) == JSON_BOOL;
	if (k->rule == CONFIG_SPEED) /* a text; parse_speed checks it */
		return json_str(v);
	if (!list || json_type(v) != JSON_ARRAY)
		return !list && configfit_matches(NULL, k, v);
	for (v = json_first(v); v; v = json_next(v))
		if (!configfit_matches(NULL, k, v))
			return false;
	return true;
}

/* Returns what is wrong with the length of a case, or NULL. */
static const char *
check_length(const struct json *config)
{
	bool requests = json_get(config, "requests");
	bool duration = json_get(config, "duration_s");

	if (requests != duration)
		return NULL;
	if (json_get(config, "replay"))
		return requests ? "at most one" : NULL;
	return "one";
}

/* Reports that a value of a case does not fit the rule of its key. -1. */
static int
report_value(const struct config_key *k, const struct json *record,
    const char *path, double least, const char *where)
{
	const char *id = json_get_str(record, "id");
	char words[CONFIG_WORDS];

	if (k->rule == CONFIG_WHOLE)
		return err_fail("%s: case '%s': '%s' is not an integer from "
				"%.0f to %.0f",
		    where, id, path, least, k->max);
	return err_fail("%s: case '%s': '%s' is not %s", where, id, path,
	    config_format_rule(k, "scenario", words));
}

/* Checks a value of the identity. 0, or -1, error reported. */
static int
check_identity(
    const struct config_key *k, const struct json *record, const char *where)
{
	const struct json *config = json_get(record, "config");
	const struct json *v = json_get(config, k->identity);
	bool command = strcmp(k->identity, "command") == 0;
	bool one_key = strcmp(k->identity, "keyspacelen") == 0;
	char *path;

	if (command && !json_str(v))
		return err_fail("%s: case '%s' lacks 'config.command'", where,
		    json_get_str(record, "id"));
	if (v ? is_valid(k, v) || (one_key && json_num(v, NAN) == 0)
	      : (k->absent <= 0 && k->plain <= 0) ||
		    (k->not_replayed && json_get(config, "replay")))
		return 0;
	path = mem_printf("config.%s", k->identity);
	report_value(k, record, path, one_key ? 0 : k->min, where);
	free(path);
	return -1;
}

/* Checks a value at a path of the record. 0, or -1, error reported. */
static int
check_field(const struct field *f, const struct json *record, const char *where)
{
	const struct json *v = json_path(record, f->path);
	const struct config_key *k =
	    f->limit[0] && v ? config_find(f->limit[0], f->limit[1]) : NULL;

	return !k || is_valid(k, v)
	    ? 0
	    : report_value(k, record, f->path, k->min, where);
}

/* Checks the writers or the readers of a mixed case. */
static int
check_parts(const struct json *record, const char *side, const char *where)
{
	const struct json *list = json_get(json_get(record, "config"), side);
	const struct json *v;
	const char *wrong = NULL;

	for (const struct json *p = json_first(list); p; p = json_next(p)) {
		if (!json_get(p, "command"))
			wrong = "command";
		for (const struct config_key *k = config_keys; k->name; k++) {
			v = str_has_part(k->where, "part", ' ')
			    ? json_get(p, k->name)
			    : NULL;
			if (v && !configfit_matches(NULL, k, v))
				wrong = k->name;
		}
	}
	if (wrong)
		return err_fail("%s: case '%s': '%s' in 'config.%s' is missing "
				"or invalid",
		    where, json_get_str(record, "id"), wrong, side);
	return 0;
}

static bool
is_cpu_list(const struct json *j)
{
	const char *why;
	cpu_set_t set;

	return json_str(j) && cpulist_parse(json_str(j), &set, &why) == 0;
}

/* Checks the cases that run before another. */
static int
check_before(const struct json *record, const char *where)
{
	const struct json *b = json_get(record, "before");

	for (b = json_first(b); b; b = json_next(b)) {
		if (json_type(b) != JSON_OBJECT || !record_is(b, "case"))
			return err_fail("%s: case '%s': 'before' is not a list "
					"of case records",
			    where, json_get_str(record, "id"));
		if (record_check(b, where) < 0 ||
		    bench_case_check(b, where) < 0)
			return -1;
	}
	return 0;
}

int
bench_case_check(const struct json *cas, const char *where)
{
	const char *id = json_get_str(cas, "id"), *text;
	const struct json *j;
	double speed;
	char *why;

	for (const struct config_key *k = config_keys; k->name; k++)
		if (k->identity && check_identity(k, cas, where) < 0)
			return -1;
	for (size_t i = 0; i < COUNT_OF(case_fields); i++)
		if (check_field(&case_fields[i], cas, where) < 0)
			return -1;
	if (check_parts(cas, "writes", where) < 0 ||
	    check_parts(cas, "reads", where) < 0 ||
	    check_before(cas, where) < 0)
		return -1;
	if (check_length(json_get(cas, "config")))
		return err_fail("%s: case '%s': 'config' needs %s of "
				"'requests' and 'duration_s'",
		    where, id, check_length(json_get(cas, "config")));
	text = json_str(json_path(cas, "config.replay_speed"));
	if (text && parse_speed(text, &speed))
		return err_fail("%s: case '%s': 'config.replay_speed': %s",
		    where, id, parse_speed(text, &speed));
	why = check_replay(cas);
	if (why) {
		err_say("%s: case '%s': %s", where, id, why);
		free(why);
		return -1;
	}
	if (json_bool(json_path(cas, "config.unixsocket"), false) &&
	    (json_bool(json_path(cas, "config.cluster_mode"), false) ||
		json_bool(json_path(cas, "config.tls_mode"), false)))
		return err_fail("%s: case '%s': a unix socket cannot be used "
				"with TLS or a cluster",
		    where, id);
	j = json_path(cas, "client.cpus");
	if (j && !is_cpu_list(j))
		return err_fail(
		    "%s: case '%s': 'client.cpus' is not a CPU list", where,
		    id);
	for (j = json_first(json_path(cas, "client.each")); j; j = json_next(j))
		if (!is_cpu_list(j))
			return err_fail("%s: case '%s': 'client.each' is not a "
					"list of CPU lists",
			    where, id);
	return 0;
}

/* Are two values equal? An absent one equals false. */
static bool
is_same_value(const struct json *a, const struct json *b)
{
	if ((!a || json_type(a) == JSON_BOOL) &&
	    (!b || json_type(b) == JSON_BOOL))
		return json_bool(a, false) == json_bool(b, false);
	return a && b && json_equal(a, b);
}

int
bench_case_check_server(const struct json *cas, const char *where)
{
	static const char *const pairs[][2] = {
	    {"config.tls_mode", "server.tls"},
	    {"config.unixsocket", "server.unixsocket"},
	    {"config.cluster_nodes", "server.primaries"},
	    {"config.cluster_replicas", "server.replicas"},
	    {"config.config_set", "server.config_set"}};
	const struct json *threads = json_path(cas, "server.io_threads");
	const struct json *own = json_path(cas, "server.config");
	double io = json_num(json_path(cas, "config.io_threads"), 1);
	bool cluster = json_bool(json_path(cas, "config.cluster_mode"), false);
	const char *wrong = NULL;

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !wrong; i++)
		if (!is_same_value(json_path(cas, pairs[i][0]),
			json_path(cas, pairs[i][1])))
			wrong = pairs[i][0];
	if (cluster != (json_path(cas, "server.primaries") != NULL))
		wrong = "config.cluster_mode";
	else if (threads ? json_num(threads, 0) != io
			 : io != 1 && !json_get(own, "io-threads"))
		wrong = "config.io_threads";
	if (!wrong)
		return 0;
	return err_fail("%s: case '%s': 'server' does not agree with '%s'",
	    where, json_get_str(cas, "id"), wrong);
}

const char *
bench_case_engine(const struct json *config)
{
	const char *name = json_get_str(config, "engine");

	return name ? name : BENCH_CASE_NATIVE;
}
