/*
 * vkb-load: reads configurations or case records, writes a run record for each
 * repetition of each case, measured on a fresh server.
 */
#include "address.h"
#include "clock.h"
#include "cmdargs.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "mixspec.h"
#include "num.h"
#include "opt.h"
#include "proc.h"
#include "record.h"
#include "str.h"
#include "uri.h"
#include "judge/samplesize.h"
#include "vkb-load/case/context.h"
#include "vkb-load/case/engines.h"
#include "vkb-load/case/extserver.h"
#include "vkb-load/case/hdrfile.h"
#include "vkb-load/case/live.h"
#include "vkb-load/case/logs.h"
#include "vkb-load/case/peers.h"
#include "vkb-load/case/profiles.h"
#include "vkb-load/case/target.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/external/vbench.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/plan/builds.h"
#include "vkb-load/plan/plan.h"
#include "vkb-load/plan/request.h"
#include "vkb-load/session/everycommand.h"
#include "vkb-load/session/results.h"
#include "vkb-load/session/schedule.h"
#include "vkb-load/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A configuration on the command line, with the letters of valkey-benchmark:
 * -t set,get -P 10 -d 256 -c 50 -r 10000, and --command, --mix or --replay.
 */

/* As given; NULL: not given. The first are lists, separated by commas. */
struct cmdconfig {
	const char *tests, *pipelines, *data_sizes, *clients, *keyspacelen;
	struct opt_list commands; /* each is a test or a command */
	const char *mix;
	const char *replay; /* path of a trace */
	/* Of the running server that is measured, which the cases have to fit.
	 */
	size_t primaries;       /* of a cluster; 0: it is a single server */
	int running_io_threads; /* 0: not known */
	bool tls;
	bool beside; /* data of others, which stays: there are few keys */
};

#define NAME "command line"
#define FEW_KEYS "10000" /* beside data of others */

/* Is a configuration given, so that stdin is not read for one? */
static bool
cmdconfig_is_given(const struct cmdconfig *q)
{
	return q->tests || q->commands.n || q->mix || q->replay;
}

/*
 * Returns why the options cannot be used together, 'files' being whether there
 * are FILEs, or NULL. Without FILEs 'mix' and 'replay' are loads of their own.
 */
static const char *
cmdconfig_find_conflict(const struct cmdconfig *q, bool files)
{
	bool shaped =
	    q->pipelines || q->data_sizes || q->clients || q->keyspacelen;

	if (!files && !cmdconfig_is_given(q) &&
	    (shaped || isatty(STDIN_FILENO)))
		return "say what to load: '-t set,get', '--command TEXT', or a "
		       "configuration as FILE or on stdin";
	if (files && (q->tests || q->commands.n))
		return "'-t' and '--command' say what to measure, and so does "
		       "FILE: give one of them";
	if (files && shaped)
		return "'-P', '-d', '-c' and '-r' are for '-t', '--command', "
		       "'--mix' or '--replay', not for a FILE";
	return NULL;
}

/* Checks the name of a test. 0, or -1 after reporting it, and the tests. */
static int
check_test(const char *name)
{
	const char *const *names = command_names();
	struct str all = {0};
	char hint[STR_HINT] = "", *upper = str_upper(name);
	int rc = 0;

	if (!command_known(upper)) {
		for (size_t i = 0; names[i]; i++)
			str_printf(&all, "%s%s", i ? "," : "", names[i]);
		if (cmdargs_needs_words(upper) < 0)
			str_hint(hint, upper, names);
		rc = err_fail("option '-t': no test is called '%s'%s (the "
			      "tests are %s; '--command' is for others)",
		    name, hint, all.s);
	}
	str_free(&all);
	free(upper);
	return rc;
}

/* A test in the list has no blanks in its name. 0, or -1, error reported. */
static int
check_tests(const char *list)
{
	const char *text = list;
	size_t n;
	char *name;
	int rc;

	for (; text; text = text[n] ? text + n + 1 : NULL) {
		text += strspn(text, " ");
		n = strcspn(text, ",");
		if (!n)
			return err_fail("option '-t': a name in the list '%s' "
					"is empty",
			    list);
		if (strcspn(text, " \t\r\n\f\v") < n)
			return err_fail(
			    "option '-t': '%.*s' is not the name of "
			    "a test: '--command' is for commands "
			    "with arguments",
			    (int)n, text);
		name = mem_strn(text, n);
		rc = check_test(name);
		free(name);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Checks the texts of the tests and the mix. 0, or -1, error reported. */
static int
cmdconfig_check(const struct cmdconfig *q)
{
	struct mixspec m;
	char *wrong = q->mix ? mixspec_parse(q->mix, &m) : NULL;
	int rc = wrong ? 0 : check_tests(q->tests);

	if (wrong)
		rc = err_fail(
		    "option '--mix': invalid mix '%s': %s", q->mix, wrong);
	else if (q->mix)
		mixspec_free(&m);
	free(wrong);
	return rc;
}

/* Adds a command to a list, the name of a test in upper case. */
static void
add_command(struct json *list, const char *text)
{
	char *upper = str_upper(text);

	json_push(list, json_string(mixspec_is_test(text) ? upper : text));
	free(upper);
}

/* Returns the tests and the commands as an array of texts. */
static struct json *
list_commands(const struct cmdconfig *q)
{
	struct json *list = json_array();
	const char *text = q->tests;
	size_t n;
	char *word;

	for (; text; text = text[n] ? text + n + 1 : NULL) {
		text += strspn(text, " ");
		n = strcspn(text, ",");
		word = mem_strn(text, n);
		add_command(list, word);
		free(word);
	}
	for (size_t i = 0; i < q->commands.n; i++)
		add_command(list, q->commands.v[i]);
	return list;
}

/* Returns a configuration with the numbers, or NULL, error reported. */
static struct json *
make_config(const struct cmdconfig *q)
{
	bool few = q->beside && !q->keyspacelen;
	const struct {
		const char *option, *key, *text;
	} lists[] = {{"-P", "pipelines", q->pipelines},
	    {"-d", "data_sizes", q->data_sizes}, {"-c", "clients", q->clients},
	    {"-r", "keyspacelen", few ? FEW_KEYS : q->keyspacelen}};
	struct json *cfg = json_object();

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (lists[i].text &&
		    plan_add_value(cfg, lists[i].option, lists[i].key,
			lists[i].text) < 0) {
			json_free(cfg);
			return NULL;
		}
	if (q->primaries) {
		json_set_bool(cfg, "cluster_mode", true);
		json_set_num(cfg, "cluster_nodes", (double)q->primaries);
	}
	if (q->running_io_threads)
		json_set_num(cfg, "io-threads", q->running_io_threads);
	if (q->tls)
		json_set_bool(cfg, "tls_mode", true);
	return cfg;
}

/* Adds the cases. 0, or -1, error reported. */
static int
cmdconfig_plan(struct plan *p, const struct cmdconfig *q)
{
	struct json *doc = json_array(), *cfg;
	int rc;

	for (int i = 0; i < 3; i++) {
		if (!(i == 0 ? q->tests || q->commands.n
			     : (i == 1 ? q->mix : q->replay) != NULL))
			continue;
		cfg = make_config(q);
		if (!cfg) {
			json_free(doc);
			return -1;
		}
		if (i == 0)
			json_set(cfg, "commands", list_commands(q));
		else
			json_set_str(cfg, i == 1 ? "mix" : "replay",
			    i == 1 ? q->mix : q->replay);
		json_push(doc, cfg);
	}
	p->any_word = true; /* in '--command' and '--mix'; '-t' is checked */
	rc = plan_take(p, doc, NAME);
	p->any_word = false;
	return rc;
}

/*
 * The options for several hosts: a part of a load (--client), a time at which
 * it begins (--start-at), servers on another machine (--serve).
 */

struct hosts {
	const char *client, *start_at, *command; /* the options, or NULL */
	unsigned part, parts;                    /* 0: all of the load */
	struct serve serve;
};

struct opts {
	struct plan_want want;
	struct session_opts session;
	struct extserver_opts external;
	struct profiles_opts profiles;
	const char *runs, *shard, *output, *resume, *builds, *server, *label;
	const char *again, *reference, *benchmark, *module, *logs, *hdr, *live;
	struct hosts hosts;
	struct cmdconfig line;
	const char *request; /* file */
	const char *address; /* --uri */
	struct uri uri;
	long long seed;
	bool plan, use_running, add_commands;
};

#define MOST 1000 /* parts */

/* 0/N is part N: some schedulers number their tasks from 0 on. */
static int
parse_client(struct hosts *h)
{
	const char *s = h->client;
	int n = 0;

	if (!s)
		return 0;
	if (sscanf(s, "%9u/%9u%n", &h->part, &h->parts, &n) != 2 || s[n] ||
	    strspn(s, "0123456789/") != (size_t)n || h->parts < 1 ||
	    h->parts > MOST || h->part > h->parts)
		return err_fail("option '--client': '%s' is not I/N with I "
				"from 1 to N, or from 0 to N - 1, and N up to "
				"%d",
		    s, MOST);
	if (!h->part)
		h->part = h->parts;
	return 0;
}

/* Reads the options, and sets those of the session. 0, or -1, error reported.
 */
static int
hosts_parse(struct opts *o)
{
	struct case_context *x = &o->session.context;
	const char *why = "it is empty", *start = o->hosts.start_at;
	size_t n = 0;

	if (parse_client(&o->hosts) < 0)
		return -1;
	if (start && clock_seconds(start, &x->start_at_s) < 0)
		return err_fail("option '--start-at': '%s' is not a date with "
				"a time, as 2026-03-02T08:00:00Z",
		    start);
	if (!o->hosts.command)
		return 0;
	o->hosts.serve =
	    (struct serve){.command = command_split(o->hosts.command, &n, &why),
		.host = o->external.at.host,
		.port = (int)o->external.at.port};
	x->serve = &o->hosts.serve;
	/* What memory that machine has for several servers is not known. */
	if (!o->session.order)
		o->session.order = "interleaved";
	return n ? 0
		 : err_fail("option '--serve': '%s' is not a command: %s",
		       o->hosts.command, why);
}

/* Returns why the options cannot be used together, or NULL. */
static const char *
hosts_explain(const struct opts *o, bool running)
{
	const struct hosts *h = &o->hosts;
	const struct extserver_opts *r = &o->external;
	const struct counts_opts *count = &o->session.count;
	const char *order = o->session.order;

	if (h->command && (running || r->at.unixsocket || r->at.tls))
		return "'--serve' starts servers: a running one, "
		       "'--unixsocket' and '--tls' cannot be combined with it";
	if (h->command && !r->at.host)
		return "'--serve' needs '--host', the address of that machine, "
		       "to which servers bind";
	if (h->client && !running)
		return "'--client' needs a server that all parts reach: add "
		       "'--host', '--port' or '--use-running-server'";
	if (h->client && o->session.budget_s > 0)
		return "'--client' cannot be combined with '--budget': parts "
		       "would end their cases after different numbers of runs";
	if ((h->client || h->command) &&
	    (o->profiles.dir || o->again || o->logs || count->all ||
		count->only || count->possible ||
		(order && strcmp(order, "slices") == 0)))
		return "'--client' and '--serve' cannot be combined with "
		       "'--count', '--profiles', '--logs', '--again' and "
		       "'--order slices', which need all on one host";
	return NULL;
}

/* Returns a hash of what all parts of a load must have equal. */
static unsigned long long
hash_plan(const struct opts *o, const struct plan *p)
{
	const char *order = o->session.order;
	struct str s = {0};
	unsigned long long h;

	for (size_t i = 0; i < p->n; i++)
		jsonpublic_canonical(&s, p->cases[i]);
	str_printf(&s, "\n%s %s %d %d %f", o->runs, order ? order : "",
	    o->external.flush, o->external.no_flush,
	    o->session.context.start_at_s);
	h = str_hash(STR_HASH, s.s, s.len);
	str_free(&s);
	return h;
}

/*
 * Meets the other parts of the load, which make the same runs of the same plan,
 * if there are any, and takes over what they share. 0, or -1, error reported.
 */
static int
hosts_meet(struct opts *o, const struct plan *p)
{
	struct case_context *x = &o->session.context;
	char name[16];
	struct peers_opts want = {.part = o->hosts.part,
	    .parts = o->hosts.parts,
	    .plan = hash_plan(o, p),
	    .session = name,
	    .seed = x->seed,
	    .timeout_s = x->timeout_s,
	    .quiet = o->session.quiet,
	    .stop = x->stop};

	if (!o->hosts.part)
		return 0;
	if (record_name_session(name) < 0)
		return -1;
	want.prefix = extserver_prefix(x->external);
	x->peers = peers_meet(extserver_target(x->external), &want);
	if (!x->peers)
		return -1;
	x->seed = peers_seed(x->peers);
	if (peers_prefix(x->peers))
		extserver_share_prefix(x->external, peers_prefix(x->peers));
	return 0;
}

static void
add_option(struct str *s, const char *name, const char *value)
{
	if (!value)
		return;
	str_printf(s, " %s ", name);
	str_word(s, value);
}

/* Adds valkey-cli with the options that reach a node of the target. */
static void
add_client(
    struct str *s, const struct engine_target *e, const struct engine_node *n)
{
	str_add(s, "valkey-cli");
	if (n->unixsocket) {
		add_option(s, "-s", n->unixsocket);
	} else {
		add_option(s, "-h", n->host);
		str_printf(s, " -p %d", n->port);
	}
	if (e->tls) {
		str_add(s, e->how.insecure ? " --tls --insecure" : " --tls");
		add_option(s, "--cacert", e->how.cacert);
		add_option(s, "--cert", e->how.cert);
		add_option(s, "--key", e->how.key);
	}
	add_option(s, "--user", e->user);
	if (e->db)
		str_printf(s, " -n %d", e->db);
}

/* Makes the command that removes the keys of the load from a node. A password
 * is where it was taken from, and is not shown. */
static void
add_removal(struct str *s, const struct engine_target *e,
    const struct engine_node *n, const char *prefix)
{
	const char *name = opt_password_name();
	struct str login = {0}, client = {0}, pattern = {0};

	str_add(&login, "");
	if (name && strcmp(name, "REDISCLI_AUTH") != 0)
		str_printf(&login, "REDISCLI_AUTH=\"$%s\" ", name);
	add_client(&client, e, n);
	str_printf(s, "%s%s", login.s, client.s);
	if (prefix) {
		str_printf(&pattern, "%s*", prefix);
		add_option(s, "--scan --pattern", pattern.s);
		/* In a cluster a command may only use keys of one slot. */
		if (e->cluster)
			str_printf(s,
			    " | LC_ALL=C sed 's/[\"\\\\]/\\\\&/g; "
			    "s/.*/unlink \"&\"/' | %s%s --pipe",
			    login.s, client.s);
		else
			str_printf(s, " | %sxargs -r -d '\\n' %s unlink",
			    login.s, client.s);
	} else {
		str_add(s, " flushall");
	}
	str_free(&login);
	str_free(&client);
	str_free(&pattern);
}

/*
 * If part 1, which removes the keys of the load at the end, has ended too
 * early: prints the command that removes them from the server.
 */
static void
hosts_report_left(const struct peers *p, const struct extserver *r)
{
	const struct engine_target *e;
	struct str s = {0};

	if (!peers_is_leaderless(p))
		return;
	e = &extserver_target(r)->e;
	err_say("part 1, which removes the keys of the load, has ended; if it "
		"was killed, they are still there. To remove them%s:",
	    e->cluster ? " from all primaries" : "");
	for (size_t i = 0; i < e->nnodes; i++) {
		str_clear(&s);
		add_removal(&s, e, &e->nodes[i], extserver_prefix(r));
		err_say("  %s", s.s);
	}
	str_free(&s);
}

/* Returns the address that servers bind to, or NULL if it is not only one. */
static const char *
get_host(const struct json *server)
{
	static const char *const any[] = {"*", "0.0.0.0", "::", "::*"};
	const char *host = json_get_str(server, "host");

	for (size_t i = 0; host && i < sizeof any / sizeof *any; i++)
		if (strcmp(host, any[i]) == 0)
			return NULL;
	return host && !strchr(host, ' ') ? host : NULL;
}

static int
refuse_option(const struct json *cas, const char *option, const char *value,
    const char *key, const char *own)
{
	return err_fail("the option '%s' says %s, and the configuration of %s "
			"has \"%s\": %s; a running server is one of them: "
			"leave the other one out",
	    option, value, json_get_str(cas, "id"), key, own);
}

static int
refuse_case(const struct json *cas, const char *key, const char *own,
    const struct json *other, const char *value)
{
	return err_fail("the configuration of %s has \"%s\": %s, that of %s "
			"has %s: choose the cases of one running server by "
			"'--case'",
	    json_get_str(other, "id"), key, value, json_get_str(cas, "id"),
	    own);
}

/* A part of the address as the cases have it. */
struct part {
	const char *option, *key;
	const char *given; /* by the option, or NULL */
	char given_text[32];
	const struct json *first; /* the case that said it first, or NULL */
	const char *value;        /* what it said */
	char text[32];
};

/* Takes what a case says of a part. 0, or -1, error reported. */
static int
take_part(struct part *p, const struct json *cas, const char *own)
{
	if (!own)
		return 0;
	if (p->given && strcmp(p->given, own) != 0)
		return refuse_option(cas, p->option, p->given, p->key, own);
	if (p->first && strcmp(p->value, own) != 0)
		return refuse_case(cas, p->key, own, p->first, p->value);
	if (!p->first) {
		p->first = cas;
		p->value = own;
	}
	return 0;
}

static int
take_port(struct part *p, const struct json *cas, const struct json *server)
{
	double port = json_get_num(server, "port", 0);
	char text[32];
	bool first = !p->first;
	int rc;

	snprintf(text, sizeof text, "%.0f", port);
	rc = take_part(p, cas, port > 0 ? text : NULL);
	if (first && p->first) { /* 'text' does not last */
		memcpy(p->text, text, sizeof text);
		p->value = p->text;
	}
	return rc;
}

static int
check_db(const struct json *cas, long long db)
{
	long long own =
	    (long long)json_get_num(json_get(cas, "config"), "db", 0);
	char given[32], text[32];

	if (db < 0 || own == db)
		return 0;
	snprintf(given, sizeof given, "%lld", db);
	snprintf(text, sizeof text, "%lld", own);
	return refuse_option(cas, "--uri", given, "db", text);
}

/*
 * Adds to the address that the options give what the configurations of the
 * cases say: 'bind_ip', 'port' or the first of 'cluster_ports', 'tls_mode' if
 * all have it. Returns 0, or -1 after reporting that the cases name several
 * servers, or another one than the options, or another database than 'db',
 * which is that of '--uri' or negative.
 */
static int
hosts_merge_address(struct address *at, const struct plan *p, long long db)
{
	struct part host = {
	    .option = "--host", .key = "bind_ip", .given = at->host};
	struct part port = {.option = "--port",
	    .key = "port",
	    .given = at->port ? port.given_text : NULL};
	const struct json *server;
	size_t tls = 0, sockets = 0;

	snprintf(port.given_text, sizeof port.given_text, "%lld", at->port);
	for (size_t i = 0; i < p->n; i++) {
		server = json_get(p->cases[i], "server");
		tls += json_get_bool(server, "tls", false);
		sockets += json_get_bool(server, "unixsocket", false);
		if (check_db(p->cases[i], db) < 0)
			return -1;
		if (!at->unixsocket &&
		    (take_part(&host, p->cases[i], get_host(server)) < 0 ||
			take_port(&port, p->cases[i], server) < 0))
			return -1;
	}
	if (sockets && sockets == p->n && !address_is_given(at))
		at->unixsocket = opt_variable("VKB_SOCKET");
	if (at->unixsocket)
		return 0;
	if (!at->host)
		at->host = host.value;
	if (!at->port && port.value)
		at->port = atoi(port.value);
	if (tls && tls == p->n)
		at->tls = true;
	return 0;
}

#define AT(field) offsetof(struct opts, field)
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const struct opt option_table[] = {
    {'t', "tests", OPT_STR, AT(line.tests), "LIST",
	.help = "run these named tests, such as set,get",
	.group = "What to load, without FILE"},
    {0, "command", OPT_LIST, AT(line.commands), "TEXT",
	.help = "run a command, 'GETRANGE key:{key} 0 9'"},
    {0, "mix", OPT_STR, AT(line.mix), "TEXT",
	.help = "run a mix of commands, 'GET 90 SET 10'"},
    {'d', "data-size", OPT_STR, AT(line.data_sizes), "LIST", .last = true,
	.help = "bytes of a value; default 3"},
    {'r', "keyspacelen", OPT_STR, AT(line.keyspacelen), "LIST", .last = true,
	.help = "number of keys; default 1000000"},
    {0, "set", OPT_LIST, AT(want.sets), "KEY=VALUE",
	.help = "set a key of vkb-config(5): keys=zipf:0.99"},
    {'c', "clients", OPT_STR, AT(line.clients), "LIST", .last = true,
	.help = "connections; default 50", .group = "How much"},
    {'P', "pipeline", OPT_STR, AT(line.pipelines), "LIST", .last = true,
	.help = "requests that are sent together; default 1"},
    {'n', "requests", OPT_INT, AT(want.requests), "N", .min = 1, .max = 9e15,
	.help = "requests of each run"},
    {0, "duration", OPT_DURATION, AT(want.duration), "TIME", .min = .001,
	.max = 1e7, .help = "length of each run"},
    {0, "runs", OPT_STR, AT(runs), "N", .last = true,
	.help = "repetitions of each case; default 6 to 10"},
    {0, "budget", OPT_DURATION, AT(session.budget_s), "TIME", .min = .001,
	.max = 1e7, .help = "runs until a case is decided, for TIME at most"},
    {0, "server", OPT_STR, AT(server), "PATH",
	.help = "start and measure this; default valkey-server",
	.group = "Which server"},
    {0, "builds", OPT_STR, AT(builds), "FILE",
	.help = "measure the servers of these build records"},
    {'h', "host", OPT_STR, AT(external.at.host), "HOST",
	.help = "measure a running server; default 127.0.0.1"},
    {'p', "port", OPT_INT, AT(external.at.port), "PORT", .min = 1, .max = 65535,
	.help = "its port; default 6379"},
    {'s', "unixsocket", OPT_STR, AT(external.at.unixsocket), "PATH",
	.help = "connect to this unix socket instead"},
    {'u', "uri", OPT_STR, AT(address), "URI",
	.help = "the same as valkey://USER@HOST:PORT/DB"},
    {0, "user", OPT_STR, AT(external.at.user), "NAME",
	.help = "log in as NAME, with VKB_PASSWORD"},
    {0, "tls", OPT_FLAG, AT(external.at.tls), .help = "connect with TLS"},
    {0, "no-flush", OPT_FLAG, AT(external.no_flush),
	.help = "keep its data, delete only keys of vkb-load"},
    {0, "count", OPT_FLAG, AT(session.count.all),
	.help = "also count instructions per request, exactly",
	.group = "How to measure"},
    {0, "profiles", OPT_STR, AT(profiles.dir), "DIR",
	.help = "write a flame graph of each case to DIR"},
    {0, "count-only", OPT_FLAG, AT(session.count.only),
	.help = "count the instructions, measure nothing"},
    {'o', "output", OPT_STR, AT(output), "FILE",
	.help = "append the runs to FILE, not to stdout", .group = "Output"},
    {0, "resume", OPT_STR, AT(resume), "FILE",
	.help = "run what is missing in FILE and append it"},
    {0, "plan", OPT_FLAG, AT(plan), .help = "print the cases, run nothing"},
    {0, "add-commands", OPT_FLAG, AT(add_commands),
	.help = "print FILE with the commands that it lacks"},
    {'q', "quiet", OPT_FLAG, AT(session.quiet), .help = "print no progress"},
    {'v', "verbose", OPT_FLAG, AT(session.verbose),
	.help = "print a line for each run", .group = ""},
    {0, "request", OPT_STR, AT(request), "FILE",
	.help = "read the load from the options in FILE, within limits"},
    {0, "order", OPT_CHOICE, AT(session.order), "HOW",
	.choices = "interleaved|slices|random|sequential",
	.help = "in this order"},
    {0, "seed", OPT_INT, AT(seed), "N", .min = 1, .max = UINT32_MAX,
	.help = "seed the order and the load"},
    {0, "again", OPT_STR, AT(again), "FILE",
	.help = "measure the server of these runs again, beside the others"},
    {0, "reference", OPT_STR, AT(reference), "PATH|BUILD|none",
	.help = "measure this server beside each, to store the ratio"},
    {0, "label", OPT_STR, AT(label), "TEXT",
	.help = "name the server in the records"},
    {0, "module", OPT_STR, AT(module), "FILE",
	.help = "load this module instead of those of the case"},
    {0, "groups", OPT_STR, AT(want.groups), "LIST",
	.help = "run only these test groups"},
    {0, "scenarios", OPT_STR, AT(want.scenarios), "LIST",
	.help = "run only these scenarios"},
    {0, "case", OPT_LIST, AT(want.patterns), "PATTERN",
	.help =
	    "run only cases of this id or name; !PATTERN: others; repeatable"},
    {0, "shard", OPT_STR, AT(shard), "I/N",
	.help = "run only each Nth case, from the Ith"},
    {0, "client", OPT_STR, AT(hosts.client), "I/N",
	.help = "make the Ith part of a load that N vkb-load make"},
    {0, "start-at", OPT_STR, AT(hosts.start_at), "TIME",
	.help = "begin to measure at this time of the server's clock"},
    {0, "serve", OPT_STR, AT(hosts.command), "COMMAND",
	.help = "start servers by COMMAND, such as ssh HOST vkb-serve "
		"--follow"},
    {0, "cluster-mode", OPT_CHOICE, AT(want.cluster_mode), "BOOL",
	.choices = "false|true", .help = "run only in this mode"},
    {0, "skip-config-set", OPT_FLAG, AT(want.skip_config_set),
	.help = "ignore config_sets"},
    {0, "skip-profiling", OPT_FLAG, AT(want.skip_profiling),
	.help = "ignore profiling_sets"},
    {0, "count-possible", OPT_FLAG, AT(session.count.possible),
	.help = "the same where possible"},
    {0, "engine", OPT_CHOICE, AT(want.engine), "NAME",
	.choices = BENCH_CASE_NATIVE "|" VBENCH,
	.help = "generate the load with this engine"},
    {0, "count-caches", OPT_FLAG, AT(session.context.count_caches),
	.help = "simulate caches and branches where cases are counted"},
    {0, "profile", OPT_FLAG, AT(profiles.extra),
	.help = "also profile each case, in one more run"},
    {0, "profile-time", OPT_DURATION, AT(profiles.time_s), "TIME", .min = .1,
	.max = 86400, .help = "profile each case for TIME, measure nothing"},
    {0, "profile-freq", OPT_INT, AT(profiles.freq), "HZ", .min = 1,
	.max = 100000, .help = "take this many samples per second and CPU"},
    {0, "profile-nodes", OPT_FLAG, AT(profiles.nodes),
	.help = "profile every node of a cluster"},
    {0, "logs", OPT_STR, AT(logs), "DIR",
	.help = "keep the log of each server, and all messages, in DIR"},
    {0, "hdr", OPT_STR, AT(hdr), "FILE",
	.help = "append the latencies of each second to an HdrHistogram log"},
    {0, "live", OPT_STR, AT(live), "[ADDRESS:]PORT",
	.help = "serve metrics of the run in progress for Prometheus"},
    {0, "lenient", OPT_FLAG, AT(want.lenient),
	.help = "only warn about unknown or unused keys"},
    {0, "warmup", OPT_DURATION, AT(want.warmup), "TIME", .min = 0, .max = 1e7,
	.help = "set the warm-up before each run"},
    {0, "replay", OPT_STR, AT(line.replay), "FILE",
	.help = "send the commands of a trace of vkb-record"},
    {0, "valkey-benchmark-path", OPT_STR, AT(benchmark), "FILE",
	.help = "run this valkey-benchmark; default from PATH"},
    {0, "timeout", OPT_DURATION, AT(session.context.timeout_s), "TIME",
	.min = .001, .max = 1e7,
	.help = "fail a run after TIME without a reply; default 60s"},
    {0, "no-lock", OPT_FLAG, AT(session.no_lock),
	.help = "measure even if another program measures on this host"},
    {0, "no-pin", OPT_FLAG, AT(session.no_pin),
	.help = "choose no CPUs for servers and load"},
    {0, "use-running-server", OPT_FLAG, AT(use_running),
	.help = "use a running server instead of starting one"},
    {0, "flush", OPT_FLAG, AT(external.flush),
	.help = "delete all data of the running server"},
    {0, "cacert", OPT_STR, AT(external.at.cacert), "FILE",
	.help = "trust the certificate authorities in FILE"},
    {0, "cert", OPT_STR, AT(external.at.cert), "FILE",
	.help = "send this client certificate"},
    {0, "key", OPT_STR, AT(external.at.key), "FILE",
	.help = "use this private key of the certificate"},
    {0, "insecure", OPT_FLAG, AT(external.at.insecure),
	.help = "do not verify the certificate of the server"},
    {0}};

/* Options that valkey-benchmark, valkey-cli and memtier_benchmark have and this
 * program writes in another way. */
#define RANDOM_KEYS                                    \
	"keys are random; '--set keys=zipf:0.99' and " \
	"'--set sequential=true' choose them otherwise"
#define RECORDS                                                      \
	"runs go to '-o FILE'; 'vkb stats --text FILE' is a table, " \
	"'vkb compare -f csv BASE FILE' is CSV"

#define LATENCY \
	"'-t ping -c 1' measures the latency, '--set rate=1000' at a rate"
#define CLI "this is for valkey-cli: vkb only measures"

static const struct opt_foreign foreign_options[] = {{"--latency", LATENCY},
    {"--latency-history", LATENCY}, {"--latency-dist", LATENCY},
    {"--stat", CLI}, {"--bigkeys", CLI}, {"--memkeys", CLI}, {"--hotkeys", CLI},
    {"--scan", CLI},
    {"--intrinsic-latency", "'vkb env --check' lists what is noisy here"},
    {"-3", "write '--set resp3=true'"}, {"-2", "RESP2 is the default"},
    {"-k", "write '--set reconnect=1' for a connection per request"},
    {"-l", "write '--duration TIME' or '--budget TIME'"},
    {"-I", "write '--set idle_clients=N' beside a load"},
    {"-e", "errors are always counted and reported"},
    {"-x",
	"write '-d BYTES' for a value of this size, or its text in "
	"'--command'"},
    {"--threads", "write '--set benchmark-threads=N'"},
    {"--cluster",
	"a running cluster is recognized; write '--cluster-mode true' "
	"for one that is started"},
    {"--rfr", "write '--set read_from=replica'"},
    {"--enable-tracking", "write '--set tracking=on'"},
    {"--dbnum", "write '--set db=N'"}, {"--select-db", "write '--set db=N'"},
    {"--rps", "write '--set rate=N', requests/s of all connections"},
    {"--rate-limiting", "write '--set rate=N', requests/s of all connections"},
    {"--precision", "the records of '-o FILE' have all digits"},
    {"--print-percentiles", "'-o FILE' has p50 to p99.99, '--hdr FILE' all"},
    {"--hdr-file-prefix", "write '--hdr FILE'"}, {"--csv", RECORDS},
    {"--json-out-file", RECORDS}, {"--out-file", RECORDS},
    {"--hide-histogram", "no histogram is printed"},
    {"--sequential", "write '--set sequential=true'"},
    {"--sni", "the name in '--host' is sent as SNI"},
    {"--cacertdir", "write '--cacert FILE'"},
    {"--tls-skip-verify", "write '--insecure'"},
    {"--tls-ciphers", "write '--set tls_ciphers=LIST'"},
    {"--tls-ciphersuites", "write '--set tls_ciphersuites=LIST'"},
    {"--num-functions", "write '--command \"FCALL NAME 1 {key}\"'"},
    {"--protocol", "the protocol is RESP2; write '--set resp3=true' for RESP3"},
    {"--ratio", "write '--mix \"SET 1 GET 10\"' for a ratio of 1:10"},
    {"--num-keys-in-fcall", "write '--command \"FCALL NAME 1 {key}\"'"},
    {"--run-count", "write '--runs N'"},
    {"--test-time", "write '--duration TIME'"}, {"--key-pattern", RANDOM_KEYS},
    {"--command-key-pattern", RANDOM_KEYS},
    {"--key-maximum", "write '-r N' for the number of keys"},
    {"--key-minimum", "keys begin with 0; write '-r N' for their number"},
    {"--key-prefix", "write it in '--command \"GET prefix:{key}\"'"},
    {"--command-ratio", "write '--mix' with a weight behind each command"},
    {"--data-size-range", "write '--set values=MIN-MAX'"},
    {"--random-data", "write '--set \"values=64 random\"'"},
    {"--expiry-range", "write '--set ttl=MIN-MAX'"},
    {"--distinct-client-seed", "each connection has numbers of its own"}, {0}};

static const struct opt_prog program = {.name = "vkb-load",
    .operands = "[FILE ...]",
    .purpose = "Runs benchmark cases against Valkey servers, one run record "
	       "per repetition.",
    .table = option_table,
    .examples = "  vkb load -t set,get -P 10 -o runs.jsonl\n"
		"  vkb load -h db1 --no-flush --mix 'GET 90 SET 10'\n",
    .foreign = foreign_options};

static int
parse_shard(const char *s, struct plan_want *w)
{
	int n = 0;

	if (s &&
	    (sscanf(s, "%lld/%lld%n", &w->shard, &w->shards, &n) != 2 || s[n] ||
		w->shard < 1 || w->shard > w->shards))
		return err_fail("option '--shard': '%s' is not I/N with I "
				"from 1 to N",
		    s);
	return 0;
}

/* "auto" is 0. */
static int
parse_runs(const char *s, size_t *runs)
{
	long long n = 0;

	if (strcmp(s, "auto") != 0 &&
	    (num_int(s, &n) < 0 || n < 1 || n > SCHEDULE_MOST))
		return err_fail("option '--runs': '%s' is not auto or N from 1 "
				"to %d",
		    s, SCHEDULE_MOST);
	*runs = (size_t)n;
	return 0;
}

/*
 * Takes the server from --uri, whose text is not shown: it may have a password.
 * 0, or -1, error reported.
 */
static int
take_uri(struct opts *o)
{
	struct address *r = &o->external.at;
	const char *why = o->address ? uri_parse(o->address, &o->uri) : NULL;

	if (why)
		return err_fail("option '--uri': %s", why);
	if (r->user && !opt_password())
		return err_fail("option '--user': the password of '%s' is "
				"taken from VKB_PASSWORD, which is not set",
		    r->user);
	if (!o->address)
		return 0;
	if (address_is_given(r) || r->user)
		return err_fail("'--uri' excludes '--host', '--port', "
				"'--unixsocket', '--user' and '--tls'");
	if (o->uri.user && !opt_password())
		return err_fail("option '--uri': the password of the user is "
				"taken from VKB_PASSWORD, which is not set");
	r->host = o->uri.host;
	r->port = o->uri.port;
	r->unixsocket = o->uri.unixsocket;
	r->user = o->uri.user;
	r->tls = o->uri.tls;
	if (o->uri.db >= 0)
		o->want.db = o->uri.db;
	return 0;
}

/* Adds the options of --request. 0, or -1, error reported. */
static int
take_request(struct opts *o, struct request *r, const struct opt_args *args)
{
	if (!o->request)
		return 0;
	if (args->n || cmdconfig_is_given(&o->line))
		return err_fail("'--request' has the commands: it does not go "
				"with a FILE, '-t', '--command', '--mix' or "
				"'--replay'");
	if (request_read(r, o->request, option_table, o, &o->want.sets) < 0)
		return -1;
	if (!cmdconfig_is_given(&o->line))
		o->line.tests = "set,get";
	return 0;
}

/* Is a running server measured? Then vkb-load does not start any. */
static bool
uses_running_server(const struct opts *o)
{
	return o->use_running ||
	    (!o->hosts.command && address_is_given(&o->external.at));
}

static size_t
count_stdin(const struct opts *o, const struct opt_args *args)
{
	size_t n = !args->n && !cmdconfig_is_given(&o->line);

	n += o->request && strcmp(o->request, "-") == 0;
	n += o->builds && strcmp(o->builds, "-") == 0;
	n += o->again && strcmp(o->again, "-") == 0;
	for (size_t i = 0; i < args->n; i++)
		n += strcmp(args->v[i], "-") == 0;
	return n;
}

/* Returns the tests and the operands as one list if these name tests, too, or
 * NULL. Caller frees. */
static char *
join_tests(const char *tests, const struct opt_args *args)
{
	struct str list = {0};
	char *upper = NULL, *name;
	bool known = true;
	const char *word;

	for (size_t i = 0; i <= args->n; i++) {
		word = i ? args->v[i - 1] : tests;
		for (size_t n; *word && known; word += n) {
			word += strspn(word, ", ");
			n = strcspn(word, ", ");
			name = mem_strn(word, n);
			upper = str_upper(name);
			known = !n || command_known(upper);
			str_printf(
			    &list, "%s%s", list.len && n ? "," : "", name);
			free(upper);
			free(name);
		}
	}
	if (known)
		return str_take(&list);
	str_free(&list);
	return NULL;
}

/*
 * Operands that name no file: a URI, the name of a program before its options,
 * a test behind a comma and a blank in the list of '-t', or a word, which
 * begins a command, as behind the options of valkey-benchmark. Reports how to
 * write it; 0 if they are files.
 */
static int
refuse_words(const struct opt_args *args, const char *tests)
{
	static const char programs[] =
	    "valkey-benchmark|redis-benchmark|memtier_benchmark|valkey-cli|"
	    "redis-cli";
	struct str text = {0}, word = {0};
	char *list;
	const char *first = args->n ? args->v[0] : "-";
	int rc = 0;

	if (tests && args->n && (list = join_tests(tests, args))) {
		rc = err_fail("option '-t': write its list without blanks: "
			      "-t %s",
		    list);
		free(list);
		return rc;
	}
	if (strstr(first, "://"))
		return err_fail("a server is given by '--uri', not as a FILE");
	if (str_has_part(programs, first, '|') && access(first, F_OK) < 0)
		return err_fail("'%s' is a program: leave it out, and write "
				"its options alone",
		    first);
	if (first[strspn(first, LETTERS)] == '\0' && access(first, F_OK) < 0) {
		for (size_t i = 0; i < args->n; i++) {
			str_add(&text, i ? " " : "");
			str_word(&text, args->v[i]);
		}
		str_word(&word, text.s);
		rc = err_fail("cannot read '%s': %s; a command is written as "
			      "--command %s",
		    first, strerror(errno), word.s);
	}
	str_free(&text);
	str_free(&word);
	return rc;
}

/* Returns why the options cannot be used together, or NULL. */
static const char *
find_conflict(const struct opts *o, const struct opt_args *args)
{
	const struct extserver_opts *r = &o->external;
	const struct address *at = &r->at;
	bool running = uses_running_server(o);
	const char *wrong;

	if (o->want.duration > 0 && o->want.requests > 0)
		return "'--duration' and '--requests' exclude each other";
	if (o->plan && (o->output || o->resume || o->logs || o->hdr || o->live))
		return "'--plan' prints to stdout and runs nothing: "
		       "'--output', '--resume', '--logs', '--hdr' and '--live' "
		       "cannot be combined with it";
	if (o->add_commands && (running || o->plan || args->n != 1))
		return "'--add-commands' needs one FILE, prints to stdout and "
		       "asks servers that vkb-load starts";
	if (o->output && o->resume)
		return "'--output' and '--resume' exclude each other";
	if (o->session.budget_s > 0 && o->session.order &&
	    strcmp(o->session.order, "sequential") == 0)
		return "'--budget' cannot be combined with '--order "
		       "sequential': a case ends when its builds were measured "
		       "beside each other";
	if (o->builds && (o->server || o->label))
		return "'--builds' names the servers, '--server' and "
		       "'--label' cannot be combined with it";
	if (running &&
	    (o->builds || o->again || o->reference || o->server || o->module))
		return "'--builds', '--again', '--reference', '--server' and "
		       "'--module' cannot be combined with a running server, "
		       "which vkb-load does not start";
	if (running && (o->session.count.all || o->session.count.only))
		return "'--count' and '--count-only' cannot be combined with "
		       "a running server, which vkb-load does not start";
	if (r->flush && r->no_flush)
		return "'--flush' and '--no-flush' exclude each other";
	if ((r->flush || r->no_flush) && !running && !o->plan)
		return "'--flush' and '--no-flush' are for a running server: "
		       "add '--use-running-server', '--host', '--port' or "
		       "'--unixsocket'";
	if ((wrong = address_find_conflict(at)))
		return wrong;
	if (!o->profiles.dir &&
	    (o->profiles.extra || o->profiles.nodes || o->profiles.freq ||
		o->profiles.time_s > 0))
		return "'--profile', '--profile-time', '--profile-freq' and "
		       "'--profile-nodes' need '--profiles'";
	if (count_stdin(o, args) > 1)
		return "stdin can be only one of builds, runs and cases";
	if ((wrong = cmdconfig_find_conflict(&o->line, args->n)))
		return wrong;
	wrong = o->line.replay && o->hosts.client
	    ? "'--replay' excludes '--client': a trace cannot be shared"
	    : bench_case_replay_conflict(o->line.replay, &o->want,
		  o->session.count.all || o->session.count.only, r->no_flush,
		  o->session.order);
	if (wrong)
		return wrong;
	return hosts_explain(o, running);
}

/* The same of --set, when it has been parsed. */
static const char *
find_set_conflict(const struct opts *o)
{
	if (uses_running_server(o) && json_get(o->want.set, "io-threads"))
		return "'--set io-threads' cannot be combined with a running "
		       "server, which has its own number";
	if (o->uri.db >= 0 && json_get(o->want.set, "db"))
		return "'--uri' with a database excludes '--set db'";
	return NULL;
}

static int
read_files(struct plan *p, const struct opts *o, const struct opt_args *args)
{
	int rc = 0;

	if (!args->n)
		rc = cmdconfig_is_given(&o->line) ? cmdconfig_plan(p, &o->line)
						  : plan_read(p, "-");
	for (size_t i = 0; i < args->n; i++)
		if (plan_read(p, args->v[i]) < 0)
			rc = -1;
	return rc < 0 ? -1 : plan_finish(p);
}

/* Runs are not appended to those of the baseline: fresh ones replace these. */
static int
check_output(const struct opts *o)
{
	const char *name = o->output ? o->output : o->resume;
	struct stat a, b;

	if (o->again && name && stat(o->again, &a) == 0 &&
	    stat(name, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return err_fail("'%s' has the baseline of '--again': write the "
				"runs to another file",
		    name);
	return 0;
}

/* Takes the reference of the option, or that of the cases, which is one. 0, or
 * -1, error reported. */
static int
read_reference(const struct opts *o, const struct plan *p, struct builds *b)
{
	const char *name = o->reference, *own;

	if (name && strcmp(name, "none") == 0)
		return 0;
	for (size_t i = 0; i < p->n && !o->reference; i++) {
		own = json_str(json_path(p->cases[i], "client.reference"));
		if (own && name && strcmp(own, name) != 0)
			return err_fail("the cases have two references, '%s' "
					"and '%s': choose one by '--reference'",
			    name, own);
		name = own ? own : name;
	}
	if (!name || !uses_running_server(o))
		return name ? builds_set_reference(b, name) : 0;
	if (!o->session.quiet)
		err_say("the reference '%s' is not measured: it would run in "
			"turns with the server, which vkb-load did not start",
		    name);
	return 0;
}

static int
read_builds(const struct opts *o, struct builds *b)
{
	if (!o->builds)
		builds_single(b, o->server, o->label);
	else if (builds_read(b, o->builds) < 0)
		return -1;
	if (o->module && builds_module(b, o->module) < 0)
		return -1;
	if (!o->again)
		return 0;
	if (check_output(o) < 0)
		return -1;
	return builds_read_again(b, o->again, o->session.quiet || o->plan);
}

/* Whether the servers of --again are still there is checked too. */
static int
print_plan(const struct opts *o, const struct plan *p)
{
	struct builds b = {0};
	int rc = 0;

	if (o->again) {
		rc = read_builds(o, &b);
		builds_free(&b);
	}
	for (size_t i = 0; i < p->n && rc == 0; i++)
		rc = jsonl_write(STDOUT_FILENO, p->cases[i]);
	return rc;
}

static volatile sig_atomic_t stop_signal;

/* Prints the configuration with the commands of the servers that it lacks. */
static int
add_commands(const struct opts *o, const char *file)
{
	struct builds b = {0};
	int rc = read_builds(o, &b);

	if (rc == 0)
		rc = everycommand_add(&b, file, o->session.quiet, &stop_signal);
	builds_free(&b);
	return rc;
}

static const struct opt *
find_option(const char *name, size_t n, char letter)
{
	for (const struct opt *o = option_table; o->name; o++)
		if (name ? strlen(o->name) == n && !strncmp(o->name, name, n)
			 : o->letter == letter)
			return o;
	return NULL;
}

/* Returns the option with a value that an argument has, or NULL. It begins at
 * *at, a letter behind others or 0; *next: the next argument is the value. */
static const struct opt *
find_value(const char *word, size_t *at, bool *next)
{
	const struct opt *o = NULL;
	size_t n = strcspn(word, "=");

	*at = 0;
	*next = false;
	if (str_starts(word, "--")) {
		o = find_option(word + 2, n - 2, 0);
		*next = !word[n];
	} else if (*word == '-')
		for (size_t i = 1; word[i] && (!o || o->kind == OPT_FLAG);
		     i++) {
			o = find_option(NULL, 0, word[i]);
			*at = i;
			*next = !word[i + 1];
		}
	return o && o->kind != OPT_FLAG ? o : NULL;
}

/* Returns the arguments as words of a shell, without the file of the results.
 * Caller frees. */
static char *
format_command(int argc, char **argv)
{
	const struct opt *o;
	bool next = false, left_out, rest = false;
	struct str s = {0};
	char *word;
	size_t at = 0;

	str_add(&s, "");
	for (int i = 1; i < argc; i++) {
		rest = rest || strcmp(argv[i], "--") == 0;
		o = rest ? NULL : find_value(argv[i], &at, &next);
		left_out =
		    o && (o->offset == AT(output) || o->offset == AT(resume));
		word = mem_strn(argv[i], left_out ? at : strlen(argv[i]));
		if (!left_out || at > 1) {
			str_addc(&s, ' ');
			str_word(&s, word);
		}
		free(word);
		if (!o || !next || ++i == argc || left_out)
			continue;
		str_addc(&s, ' ');
		str_word(&s, argv[i]);
	}
	return str_take(&s);
}

/* The first signal stops the current run, the second ends the program. */
static void
on_signal(int sig)
{
	if (stop_signal) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	stop_signal = sig;
}

/* Ignores SIGPIPE too: a broken connection fails a run, not the program. */
static void
catch_signals(void)
{
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction a = {.sa_handler = on_signal}, was;

	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
		if (sigaction(sigs[i], NULL, &was) == 0 &&
		    was.sa_handler != SIG_IGN)
			sigaction(sigs[i], &a, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Opens the engines that the cases need. 0, or -1, error reported. */
static int
open_engines(const struct opts *o, const struct plan *p, const struct builds *b,
    bool external, struct datasets *datasets, struct engine list[3],
    struct vbench **v)
{
	bool wanted = false;

	for (size_t i = 0; i < p->n; i++)
		if (strcmp(bench_case_engine(json_get(p->cases[i], "config")),
			VBENCH) == 0)
			wanted = true;
	list[0] = native_engine(datasets);
	if (o->benchmark && p->n && !wanted)
		return err_fail("option '--valkey-benchmark-path': no case has "
				"the engine '%s'",
		    VBENCH);
	if (!wanted)
		return 0;
	*v = vbench_open(o->benchmark, b, external && opt_password() != NULL);
	if (!*v)
		return -1;
	list[1] = vbench_engine(*v);
	return 0;
}

/* Opens what shows the runs besides their records. 0, or -1, error reported. */
static int
open_views(struct opts *o, bool builds)
{
	struct case_context *x = &o->session.context;

	if (o->hdr && !(x->hdr = hdrfile_open(o->hdr, builds)))
		return -1;
	if (o->live && !(x->live = live_open(o->live, o->session.quiet)))
		return -1;
	return 0;
}

/* Connects to the running server. Cases from options, of which the plan has
 * none yet, get its topology. Returns 0, or -1, error reported. */
static int
open_running(struct opts *o, const struct plan *p)
{
	struct case_context *x = &o->session.context;
	const struct target *t;

	if (hosts_merge_address(&o->external.at, p, o->want.db) < 0 ||
	    address_complete(&o->external.at) < 0)
		return -1;
	o->external.timeout_s = x->timeout_s;
	o->external.joins = o->hosts.part > 1;
	x->external = extserver_open(&o->external);
	if (!x->external)
		return -1;
	t = extserver_target(x->external);
	o->line.primaries = t->e.cluster ? t->e.nnodes : 0;
	o->line.running_io_threads = extserver_io_threads(x->external);
	o->line.tls = t->e.tls;
	return 0;
}

/* --- output on a terminal: the records go to a new file in the working folder,
 * and the terminal gets a table of them */

enum { FILES = 9999 }; /* in a folder */

/* Makes runs.jsonl, or runs-2.jsonl if that exists, and so on. Says its name
 * unless 'quiet'. Returns it, caller frees; or NULL, error reported. */
static char *
make_file(bool quiet)
{
	for (int n = 1; n <= FILES; n++) {
		char *name = n == 1 ? mem_str("runs.jsonl")
				    : mem_printf("runs-%d.jsonl", n);
		int fd =
		    open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

		if (fd >= 0) {
			close(fd);
			if (!quiet)
				err_say("the runs are written to '%s'", name);
			return name;
		}
		free(name);
		if (errno != EEXIST)
			break;
	}
	err_fail_sys("cannot make 'runs.jsonl' in this folder for the runs; "
		     "name a file with '--output'");
	return NULL;
}

/* Writes the table of the file to stdout, or removes the file if it is empty.
 * 0, or -1, error reported. */
static int
write_table(const char *path)
{
	char *stats = proc_beside("vkb-stats");
	const char *const argv[] = {stats, "--text", path, NULL};
	const struct proc_spec spec = {.argv = argv, .death_signal = SIGKILL};
	struct proc *p = NULL;
	struct stat st;
	int status, rc = -1;

	if (stat(path, &st) == 0 && st.st_size == 0)
		rc = unlink(path) < 0
		    ? err_fail_sys("cannot remove the empty '%s'", path)
		    : 0;
	else if ((p = proc_start(&spec)))
		rc = proc_wait(p, -1, &status) == 1 && status == 0 ? 0 : -1;
	proc_free(p);
	free(stats);
	return rc;
}

/* --- the session */

static int
run_session(struct opts *o, const struct plan *p)
{
	struct case_context *x = &o->session.context;
	struct datasets *datasets = datasets_new();
	struct vbench *vbench = NULL;
	struct engine engines[3] = {0};
	struct builds b = {0};
	struct results out = {.fd = -1};
	char *shown = NULL; /* the file of a session on a terminal */
	struct address at;
	const char *env = getenv("VKB_ENV_RECORD");
	int rc = -1;

	o->session.no_env = env && strcmp(env, "no") == 0;
	if (o->seed)
		x->seed = (uint64_t)o->seed;
	else if (getrandom(&x->seed, sizeof x->seed, 0) < 0) {
		err_fail_sys("cannot get a random seed");
		goto out;
	}
	if (read_builds(o, &b) < 0 || read_reference(o, p, &b) < 0)
		goto out;
	if (!o->hosts.command && !uses_running_server(o) &&
	    builds_check(&b) < 0)
		goto out;
	if (o->hosts.command) { /* its servers get the port of the option */
		at = o->external.at;
		if (hosts_merge_address(&at, p, -1) < 0)
			goto out;
	}
	if (uses_running_server(o) &&
	    ((!x->external && open_running(o, p) < 0) || hosts_meet(o, p) < 0))
		goto out;
	if (open_engines(o, p, &b, x->external, datasets, engines, &vbench) < 0)
		goto out;
	if (!o->output && !o->resume && isatty(STDOUT_FILENO) &&
	    !(o->output = shown = make_file(o->session.quiet)))
		goto out;
	if (results_open(&out, o->output, o->resume, o->hosts.part) < 0)
		goto out;
	x->logs = logs_open(o->logs, o->output ? o->output : o->resume);
	if (!x->logs || open_views(o, b.n > 1) < 0)
		goto out;
	x->engines = engines;
	rc = session_run(&o->session, p, &b, &out);
	if (b.failed)
		rc = -1;
out:
	hosts_report_left(x->peers, x->external);
	peers_part(x->peers);
	vbench_close(vbench);
	datasets_free(datasets);
	if (results_close(&out) < 0)
		rc = -1;
	if (shown && !stop_signal && write_table(shown) < 0)
		rc = -1;
	live_close(x->live);
	if (hdrfile_close(x->hdr) < 0)
		rc = -1;
	logs_close(x->logs);
	builds_free(&b);
	free(shown);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {.want = {.warmup = -1, .db = -1},
	    .uri.db = -1,
	    .session.context.stop = &stop_signal};
	struct plan p = {.want = &o.want, .commands = command_names()};
	struct request request = {0};
	struct opt_args args;
	const char *wrong;
	char *folder = NULL, *command = NULL;
	bool closed;
	int rc;

	err_init(argv[0]);
	closed = (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY;
	o.session.command = command = format_command(argc, argv);
	rc = opt_parse(&program, argc, argv, &o, &args);
	if (rc == 0)
		rc = take_request(&o, &request, &args);
	if (rc == 0)
		rc = take_uri(&o);
	if (rc == 0)
		rc = refuse_words(&args, o.line.tests);
	if (rc)
		goto out;
	o.line.beside = o.external.no_flush;
	o.want.mix = args.n ? o.line.mix : NULL;
	o.want.replay = args.n ? o.line.replay : NULL;
	if (!o.runs) /* data of others are loaded as little as possible */
		o.runs = o.line.beside && cmdconfig_is_given(&o.line) && !args.n
		    ? "1"
		    : "auto";
	wrong = closed && !o.output && !o.resume ? "stdout is closed"
						 : find_conflict(&o, &args);
	if (wrong)
		rc = opt_usage(&program, wrong);
	else if (parse_shard(o.shard, &o.want) < 0 || hosts_parse(&o) < 0 ||
	    plan_check_want(&o.want) < 0 || cmdconfig_check(&o.line) < 0 ||
	    parse_runs(o.runs, &o.session.runs) < 0)
		rc = -1;
	if (rc == 0 && (wrong = find_set_conflict(&o)))
		rc = opt_usage(&program, wrong);
	if (rc < 0)
		goto out;
	o.session.has_stdin = count_stdin(&o, &args) > 0;
	o.session.context.profiles = &o.profiles;
	o.want.unixsocket = o.external.at.unixsocket != NULL;
	if (o.profiles.dir && *o.profiles.dir == '-') {
		folder = mem_printf("./%s", o.profiles.dir);
		o.profiles.dir = folder; /* not an option of perf */
	}
	o.want.no_flush = o.external.no_flush;
	o.want.running = uses_running_server(&o);
	if (!o.plan)
		catch_signals();
	if (!o.plan && !args.n && cmdconfig_is_given(&o.line) &&
	    uses_running_server(&o))
		rc = open_running(&o, &p);
	if (rc == 0 && o.add_commands) {
		rc = add_commands(&o, args.v[0]);
		goto out;
	}
	if (rc == 0)
		rc = read_files(&p, &o, &args);
	if (rc == 0 && o.request)
		rc = request_check(
		    &p, o.session.runs ? o.session.runs : SAMPLESIZE_MOST);
	if (rc == 0)
		rc = o.plan                        ? print_plan(&o, &p)
		    : plan_resolve_secrets(&p) < 0 ? -1
						   : run_session(&o, &p);
out:
	extserver_close(o.session.context.external);
	mem_free_list(o.hosts.serve.command);
	uri_free(&o.uri);
	free(folder);
	free(command);
	plan_free(&p);
	free(o.want.patterns.v);
	free(o.want.sets.v);
	json_free(o.want.set);
	free(o.line.commands.v);
	request_free(&request);
	if (stop_signal) {
		signal(stop_signal, SIG_DFL);
		raise(stop_signal);
	}
	return rc < 0 ? 2 : 0;
}
