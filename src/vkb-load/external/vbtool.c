#include "vbtool.h"
#include "benchcsv.h"
#include "config.h"
#include "err.h"
#include "flat.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "str.h"
#include "vbench.h"
#include "vkb-load/case/servercounts.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* --- what the program can do, by its own output */

#define ANSWER_MS 10000
#define VERSION_MOST 200

/* The first line of --version; versions before 6 do not know the option. */
static char *
read_version(const char *path)
{
	const char *const argv[] = {path, "--version", NULL};
	struct str out = {0}, s = {0};
	int status;

	if (proc_read(argv, true, ANSWER_MS, &out, &status) == 0 && out.len &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		out.s[strcspn(out.s, "\r\n")] = '\0';
		if (strlen(out.s) <= VERSION_MOST)
			str_visible(&s, out.s);
	}
	str_free(&out);
	if (s.len)
		return str_take(&s);
	str_free(&s);
	return NULL;
}

int
vbtool_read(struct vbtool *v, const char *path)
{
	const char *const argv[] = {path, "--help", NULL};
	char hex[HASH_HEX];
	struct str out = {0};
	int status;

	*v = (struct vbtool){.path = mem_str(path)};
	if (proc_read(argv, true, ANSWER_MS, &out, &status) < 0) {
		str_free(&out);
		return -1;
	}
	v->help = str_take(&out);
	if (!vbtool_has(v, "-n") || !vbtool_has(v, "--csv"))
		return err_fail("'%s' is not valkey-benchmark: its --help does "
				"not list '-n' and '--csv'",
		    path);
	v->version = read_version(path);
	if (hash_file(HASH_SHA256, path, hex) == 0)
		v->sha256 = mem_str(hex);
	return 0;
}

void
vbtool_free(struct vbtool *v)
{
	free(v->path);
	free(v->version);
	free(v->sha256);
	free(v->help);
}

const char *
vbtool_name(const struct vbtool *v)
{
	return v->version ? v->version : v->path;
}

/*
 * Matches a whole word at the beginning of a line: "--cert" is not "--certs".
 */
bool
vbtool_has(const struct vbtool *v, const char *option)
{
	size_t n = strlen(option);

	for (const char *p = v->help; p; p = strchr(p, '\n')) {
		p += strspn(p, " \t\r\n");
		if (strncmp(p, option, n) == 0 &&
		    (!p[n] || strchr(" \t\r\n", p[n])))
			return true;
	}
	return false;
}

static bool
has_word(const struct vbtool *v, const char *word)
{
	return strstr(v->help, word) != NULL;
}

/*
 * Only if its help names the variable; the alternative would be an argument,
 * which is public.
 */
const char *
vbtool_password(const struct vbtool *v)
{
	static const char *const names[] = {"VALKEYCLI_AUTH", "REDISCLI_AUTH"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (has_word(v, names[i]))
			return names[i];
	return NULL;
}

/* --- its command lines */

#define VALUE "__data__"
#define ARGUMENT_MOST 131072 /* bytes, with the NUL: Linux's MAX_ARG_STRLEN */

struct list {
	char **v;
	size_t n, cap;
};

/* Adds a word, which the list then owns. */
static void
push_word(struct list *l, char *word)
{
	l->v = mem_grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
	l->v[l->n++] = word;
	l->v[l->n] = NULL;
}

static void
push_option(struct list *l, const char *option, const char *value)
{
	if (!value)
		return;
	push_word(l, mem_str(option));
	push_word(l, mem_str(value));
}

static void
push_number(struct list *l, const char *option, double v)
{
	push_word(l, mem_str(option));
	push_word(l, mem_printf("%.15g", v));
}

static void
push_target(struct list *l, const struct engine_target *t)
{
	const struct engine_node *n = &t->nodes[0];

	if (n->unixsocket)
		push_option(l, "-s", n->unixsocket);
	else {
		push_option(l, "-h", n->host);
		push_number(l, "-p", n->port);
	}
	if (!t->tls)
		return;
	push_word(l, mem_str("--tls"));
	push_option(l, "--cacert", t->how.cacert);
	push_option(l, "--cert", t->how.cert);
	push_option(l, "--key", t->how.key);
	/* An address is not allowed as a server name (RFC 6066, section 3). */
	if (t->servername &&
	    t->servername[strcspn(t->servername, ":")] != ':' &&
	    t->servername[strspn(t->servername, "0123456789.")])
		push_option(l, "--sni", t->servername);
}

/*
 * Tests that valkey-benchmark has under our name, in versions that have the
 * option 'since', with one result line. Before --threads, HSET used a key for
 * each field and sorted sets had no test; before --seed, streams had none.
 * LRANGE is missing since a test that fills the list would come first. Other
 * tests are passed as a command.
 */
static const struct {
	const char *name, *since;
} tests[] = {{"PING_INLINE", "-n"}, {"PING_MBULK", "-n"}, {"PING", "-n"},
    {"SET", "-n"}, {"GET", "-n"}, {"INCR", "-n"}, {"LPUSH", "-n"},
    {"RPUSH", "-n"}, {"LPOP", "-n"}, {"RPOP", "-n"}, {"SADD", "-n"},
    {"SPOP", "-n"}, {"MSET", "-n"}, {"HSET", "--threads"},
    {"ZADD", "--threads"}, {"ZPOPMIN", "--threads"}, {"XADD", "--seed"}};

/* Returns true if the program has that test; else it gets a command. */
static bool
has_test(const struct vbtool *tool, const char *command)
{
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if (strcmp(tests[i].name, command) == 0)
			return vbtool_has(tool, tests[i].since);
	return false;
}

/* The program draws each number anew. */
static char *
make_text(const char *command, bool cluster)
{
	struct command_style style = {
	    .cluster = cluster, .same = "__rand_int__"};

	return command_text(command, &style);
}

/* Replaces __data__ by the value, for versions that do not know it. */
static void
set_value(char **words, long long size)
{
	for (; *words; words++)
		if (strcmp(*words, VALUE) == 0) {
			free(*words);
			*words = command_value((size_t)size);
		}
}

char **
vbtool_words(
    const struct vbtool *tool, const struct engine_work *w, bool cluster)
{
	const char *why;
	char *text, **words;
	size_t n;

	if (has_test(tool, w->command))
		return NULL;
	text = command_known(w->command) ? make_text(w->command, cluster)
					 : mem_str(w->command);
	words = command_split(text, &n, &why);
	free(text);
	if (words && !has_word(tool, VALUE))
		set_value(words, w->data_size);
	return words;
}

static bool
fits_argument(const struct vbtool *tool, const char *command, double size)
{
	bool literal = false;
	char *text;

	if (command_known(command) && !has_test(tool, command) &&
	    !has_word(tool, VALUE)) {
		text = make_text(command, false);
		literal = strstr(text, VALUE) != NULL;
		free(text);
	}
	return !literal || size < ARGUMENT_MOST;
}

static void
push_test(struct list *l, const char *command)
{
	char *name =
	    mem_str(strcmp(command, "PING") == 0 ? "PING_MBULK" : command);

	for (char *p = name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	push_option(l, "-t", name);
	free(name);
}

char **
vbtool_argv(const struct vbtool *tool, const struct engine_target *t,
    const struct engine_work *w, const struct vbtool_length *length)
{
	char **words = vbtool_words(tool, w, t->cluster);
	struct list l = {0};

	push_word(&l, mem_str(tool->path));
	push_target(&l, t);
	if (length->requests)
		push_number(&l, "-n", (double)length->requests);
	else
		push_number(&l, "--duration", length->duration_s);
	/* Without -r the key would be the literal __rand_int__. */
	push_number(&l, "-r", w->keyspacelen ? (double)w->keyspacelen : 1);
	push_number(&l, "-d", (double)w->data_size);
	push_number(&l, "-P", w->pipeline);
	push_number(&l, "-c", w->clients);
	/* In a cluster its default would be one thread for each node. */
	if (w->threads > 1 || t->cluster)
		push_number(&l, "--threads", w->threads);
	if (length->warmup_s > 0)
		push_number(&l, "--warmup", length->warmup_s);
	if (w->resp3)
		push_word(&l, mem_str("-3"));
	if (engine_is_ordered(w))
		push_word(&l, mem_str("--sequential"));
	if (t->cluster)
		push_word(&l, mem_str("--cluster"));
	if (vbtool_has(tool, "--seed"))
		push_number(&l, "--seed", (double)w->seed);
	push_word(&l, mem_str("--csv"));
	if (!words)
		push_test(&l, w->command);
	for (char **p = words; p && *p; p++)
		push_word(&l, mem_str(*p));
	mem_free_list(words);
	return l.v;
}

char *
vbtool_text(char *const *argv)
{
	struct str s = {0};

	for (; *argv; argv++) {
		if (s.len)
			str_addc(&s, ' ');
		str_word(&s, *argv);
	}
	return str_take(&s);
}

/* --- cases that it cannot run, or would run differently */

/* "__rand_2nd__ through __rand_9th__ are also available" */
static bool
is_placeholder_known(const struct vbtool *v, const char *word)
{
	static const char *const between[] = {"__rand_3rd__", "__rand_4th__",
	    "__rand_5th__", "__rand_6th__", "__rand_7th__", "__rand_8th__"};

	for (size_t i = 0; i < sizeof between / sizeof *between; i++)
		if (strcmp(between[i], word) == 0)
			word = "__rand_9th__";
	return has_word(v, word);
}

/*
 * Returns a placeholder of a command that its help does not name, or NULL;
 * caller frees.
 */
static char *
find_unknown_placeholder(const struct vbtool *v, const char *command)
{
	const char *p = command, *end;
	char *word;

	while ((p = strstr(p, "__"))) {
		end = strstr(p + 2, "__");
		if (!end)
			break;
		word = mem_strn(p, (size_t)(end + 2 - p));
		if (!strpbrk(word, " \t\n") && !is_placeholder_known(v, word))
			return word;
		free(word);
		p = end + 2;
	}
	return NULL;
}

/*
 * Returns why a command that is not a test cannot be run, or NULL; caller
 * frees.
 */
static char *
explain_command(const struct vbtool *v, const struct json *c)
{
	const char *command = json_get_str(c, "command"), *why = NULL;
	const char *phase = json_get_str(c, "test_phase");
	char **words, *mark, *text;
	size_t n;

	if (phase && strcmp(phase, "read") == 0)
		return mem_str("it reads what another scenario wrote, and is "
			       "tried on a server of its own");
	words = command_split(command, &n, &why);
	if (!words)
		return mem_printf("its command: %s", why);
	/* The program takes a number as a repeat count. */
	if (!n || words[0][0] == '-' || isdigit((unsigned char)words[0][0]))
		why = "its command does not begin with a name";
	else if (!servercounts_is_load(words[0], strlen(words[0])))
		why = "its command is not only sent by the load, so the "
		      "servers cannot count it";
	for (size_t i = 0; i < n && !why; i++)
		if (strcmp(words[i], ";") == 0)
			why = "it is a sequence of commands";
	mem_free_list(words);
	if (why)
		return mem_str(why);
	if (json_get_bool(c, "cluster_mode", false) &&
	    !strstr(command, "{tag}"))
		return mem_str("in a cluster the key of its command needs "
			       "'{tag}'");
	mark = find_unknown_placeholder(v, command);
	if (!mark)
		return NULL;
	text = mem_printf("%s does not know '%s'", vbtool_name(v), mark);
	free(mark);
	return text;
}

/* Returns an option that the case needs and the program lacks, or NULL. */
static const char *
find_lacking_option(const struct vbtool *v, const struct json *cas)
{
	const struct json *c = json_get(cas, "config");
	const struct {
		const char *option;
		bool wanted;
	} needs[] = {{"--tls", json_get_bool(c, "tls_mode", false)},
	    {"--cluster", json_get_bool(c, "cluster_mode", false)},
	    {"--threads", json_get_num(c, "benchmark_threads", 1) > 1},
	    {"-3", json_get_bool(c, "resp3", false)},
	    {"--sequential", json_get_bool(c, "sequential", false)},
	    {"--seed", json_path(cas, "client.seed") != NULL}};

	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
		if (needs[i].wanted && !vbtool_has(v, needs[i].option))
			return needs[i].option;
	return NULL;
}

/* Returns true if more elements are popped than can be seeded. */
static bool
has_too_many_pops(const struct json *c)
{
	struct engine_target t = {0};
	struct engine_work w = {.command = json_get_str(c, "command"),
	    .data_size = (long long)json_get_num(c, "data_size", 1),
	    .requests = (long long)json_get_num(c, "requests", 0)};

	return w.requests > 0 && engine_refills(&t, &w);
}

/* Returns a feature that one process of the program cannot have, or NULL. */
static const char *
find_unsupported(const struct json *c)
{
	for (const struct config_key *k = config_keys; k->name; k++)
		if (k->foreign && json_get(c, k->identity))
			return k->foreign;
	return NULL;
}

char *
vbtool_refuse(const struct vbtool *v, const struct json *cas, bool login)
{
	const struct json *c = json_get(cas, "config");
	const char *command = json_get_str(c, "command"), *option;
	const char *own = json_str(json_path(cas, "server.config.requirepass"));
	const char *latency = json_get_str(c, "latency");

	if (find_unsupported(c))
		return mem_printf(
		    "%s need the engine of vkb-load", find_unsupported(c));
	if (!latency || strcmp(latency, "batch-first-byte") != 0)
		return mem_str("the latency of " VBENCH
			       " is batch-first-byte, not request");
	if (json_path(cas, "client.max_lost"))
		return mem_str(VBENCH " does not count what it loses "
				      "('max_lost')");
	option = find_lacking_option(v, cas);
	if (option)
		return mem_printf("%s has no '%s'", vbtool_name(v), option);
	if (((own && *own) || login) && !vbtool_password(v))
		return mem_printf("%s takes a password as an argument only, "
				  "which every user could read",
		    vbtool_name(v));
	if (json_get_num(c, "requests", 0) > INT_MAX ||
	    json_get_num(c, "keyspacelen", 0) > INT_MAX)
		return mem_printf(
		    VBENCH " counts requests and keys to %d", INT_MAX);
	if (!command_known(command))
		return explain_command(v, c);
	if (json_get_bool(c, "cluster_mode", false) &&
	    command_needs(command) != NEEDS_NOTHING)
		return mem_printf("in a cluster " VBENCH " takes keys of any "
				  "slot, so %s would find nothing",
		    command);
	if (!fits_argument(v, command, json_get_num(c, "data_size", 0)))
		return mem_printf("%s has no test %s, and the value is too "
				  "long for an argument",
		    vbtool_name(v), command);
	if (has_too_many_pops(c))
		return mem_printf("%s needs more elements than can be "
				  "seeded",
		    command);
	return NULL;
}

/* --- its results */

/* Reads a text, a line at a time; 'from' points to its rest. */
static int
next_line(void *from, const char **line, size_t *n)
{
	const char **rest = from;

	*line = *rest;
	*n = strcspn(*line, "\n");
	*n += (*line)[*n] == '\n';
	*rest += *n;
	return *n > 0;
}

/*
 * Replaces the title of a command, which is its words, since a quote in it
 * would end the CSV field. Caller frees.
 */
static char *
replace_title(const char *out, char *const *words)
{
	const char *at = out;
	struct str title = {0}, text = {0};

	str_addc(&title, '"');
	for (; *words; words++)
		str_printf(&title, "%s%s", title.len > 1 ? " " : "", *words);
	str_add(&title, "\",");
	while ((at = strstr(at, title.s)) && at > out && at[-1] != '\n')
		at++;
	if (!at)
		at = out + strlen(out);
	str_addn(&text, out, (size_t)(at - out));
	if (*at)
		str_printf(&text, "\"command\",%s", at + title.len);
	str_free(&title);
	return str_take(&text);
}

/* Returns true if the result is of our test; a command has only one result. */
static bool
is_ours(const char *title, const char *command, bool words)
{
	static const char *const pings[] = {"PING", "PING_MBULK", "PING_BULK"};
	char *name = flat_command(title);
	bool ours = words || strcmp(name, command) == 0;

	if (strcmp(command, pings[0]) == 0 || strcmp(command, pings[1]) == 0)
		for (size_t i = 0; i < sizeof pings / sizeof *pings; i++)
			ours = ours || strcmp(name, pings[i]) == 0;
	free(name);
	return ours;
}

/*
 * Finds our first result. Returns how many there are, or -1 if one cannot be
 * read.
 */
static int
find_result(struct benchcsv *b, const char *command, bool words,
    struct json **found, const char **why)
{
	struct json *metrics;
	const char *title;
	int got, n = 0;

	*found = NULL;
	while ((got = benchcsv_next(b, &title, &metrics, why)) > 0)
		if (is_ours(title, command, words) && n++ == 0)
			*found = metrics;
		else
			json_free(metrics);
	return got < 0 ? -1 : n;
}

struct json *
vbtool_result(const char *out, const char *command, char *const *words,
    bool *quick, struct str *why)
{
	char *text = words ? replace_title(out, words) : mem_str(out);
	const char *start = benchcsv_start(text), *rest = start, *bad = NULL;
	struct benchcsv *b = benchcsv_new(next_line, &rest, start);
	struct json *found;
	int n = find_result(b, command, words != NULL, &found, &bad);

	*quick = strstr(text, ",\"inf\"") != NULL;
	if (*quick)
		str_add(why,
		    "took less than a millisecond, the least that "
		    "it can measure");
	else if (n < 0)
		str_printf(why, "printed an invalid result: %s",
		    bad ? bad : "it cannot be read");
	else if (n != 1)
		str_printf(why,
		    "printed %d results of '%s' where there should be one", n,
		    command);
	else if (!(json_get_num(found, "rps", -1) > 0))
		str_add(why, "printed a result without a throughput");
	if (why->len) {
		json_free(found);
		found = NULL;
	}
	benchcsv_free(b);
	free(text);
	return found;
}
