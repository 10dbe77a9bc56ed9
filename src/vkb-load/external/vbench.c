#include "vbench.h"
#include "benchcsv.h"
#include "clock.h"
#include "config.h"
#include "err.h"
#include "flat.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "proc.h"
#include "record.h"
#include "vkb-load/case/servercounts.h"
#include "vkb-load/case/target.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/meter/watch.h"
#include "vkb-load/plan/benchcase.h"
#include "vkb-load/plan/builds.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A program valkey-benchmark of any version: what it can do, by its own output,
 * its command lines, the cases that it cannot run, and its results.
 */

/* --- what the program can do, by its own output */

#define ANSWER_MS 10000
#define VERSION_MOST 200

/*
 * Returns true if the program has the option, such as "--duration". Matches a
 * whole word at the beginning of a line: "--cert" is not "--certs".
 */
static bool
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

/*
 * Returns 0, or -1 after reporting that the program cannot be run or is not
 * valkey-benchmark. The caller calls vbtool_free in any case.
 */
static int
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

static void
vbtool_free(struct vbtool *v)
{
	free(v->path);
	free(v->version);
	free(v->sha256);
	free(v->help);
}

/* Returns its version, or its path if unknown. */
static const char *
vbtool_name(const struct vbtool *v)
{
	return v->version ? v->version : v->path;
}

static bool
has_word(const struct vbtool *v, const char *word)
{
	return strstr(v->help, word) != NULL;
}

/*
 * Returns the environment variable for a password, or NULL. Only if its help
 * names the variable; the alternative would be an argument, which is public.
 */
static const char *
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

/*
 * Returns the words of the command, or NULL if the program has that test. Free
 * with mem_free_list.
 */
static char **
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
vbench_argv(const struct vbtool *tool, const struct engine_target *t,
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
vbench_text(char *const *argv)
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
vbench_refuse(const struct vbtool *v, const struct json *cas, bool login)
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
vbench_result(const char *out, const char *command, char *const *words,
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

/*
 * Runs another program that makes the load. It is watched and cannot outlive
 * us; its output is kept, up to a limit.
 */

#define TICK_MS 100
#define SILENCE_S 60
#define OUTPUT_MOST 1048576 /* bytes, of stdout and of stderr each */
#define LAST_WORDS 400

/*
 * In each interval as long as the timeout of the work, or 60 s, the servers
 * must serve something.
 */
struct child_spec {
	const struct engine_job *job; /* whose first work it does */
	const char *const *argv;
	const char *const *setenv; /* as in proc.h */
	double expected_s;         /* for the progress; 0: unknown */
	double most_s; /* limit if there is no timeout; 0: unlimited */
	bool warmup;
};

struct waiting {
	const struct child_spec *s;
	struct servercounts *counts;
	struct proc *proc;
	int out, err;
	int64_t began, asked;
	double calls; /* served, when last asked */
	double silence_s;
};

static double
get_age_s(int64_t ns)
{
	return (double)(clock_ns() - ns) / 1e9;
}

/* Returns -1 after reporting that nothing was served since the last look. */
static int
check_silence(struct waiting *w)
{
	double calls;

	if (get_age_s(w->asked) < w->silence_s)
		return 0;
	calls = servercounts_calls(w->counts);
	if (servercounts_require(w->counts) < 0)
		return -1;
	if (calls <= w->calls)
		return err_fail(
		    "'%s' sent nothing for %g s", w->s->argv[0], w->silence_s);
	w->calls = calls;
	w->asked = clock_ns();
	return 0;
}

static int
check_output_size(const struct waiting *w)
{
	const int fds[] = {w->out, w->err};
	struct stat st;

	for (size_t i = 0; i < 2; i++)
		if (fstat(fds[i], &st) == 0 && st.st_size > OUTPUT_MOST)
			return err_fail("'%s' printed more than %d bytes",
			    w->s->argv[0], OUTPUT_MOST);
	return 0;
}

static void
report_progress(const struct waiting *w)
{
	struct engine_progress e = {.p99_ms = NAN, .warmup = w->s->warmup};
	const struct engine_job *j = w->s->job;

	if (w->s->expected_s > 0)
		e.done = fmin(.99, get_age_s(w->began) / w->s->expected_s);
	if (j->progress)
		j->progress(j->arg, &e);
}

/*
 * Waits until the child ends, without reaping it. Returns 0, or -1 as
 * child_run.
 */
static int
wait_for_end(struct waiting *w)
{
	struct pollfd p = {.fd = proc_fd(w->proc), .events = POLLIN};
	const struct child_spec *s = w->s;
	double most_s = s->most_s + w->silence_s;

	while (poll(&p, 1, TICK_MS) <= 0) {
		report_progress(w);
		if (*s->job->stop)
			return -1;
		if (s->most_s > 0 && get_age_s(w->began) > most_s)
			return err_fail(
			    "'%s' took more than %.3g s", s->argv[0], most_s);
		if (check_output_size(w) < 0 || check_silence(w) < 0)
			return -1;
	}
	return check_output_size(w);
}

/* Reads an output, up to the limit, and closes its file. */
static void
take_output(struct str *to, int fd)
{
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return;
	lseek(fd, 0, SEEK_SET);
	while (to->len < OUTPUT_MOST && (n = read(fd, buf, sizeof buf)) > 0)
		str_addn(to, buf, (size_t)n);
	close(fd);
}

static int
run_child(struct waiting *w, struct child *c)
{
	const struct child_spec *s = w->s;
	struct proc_spec spec = {.argv = s->argv,
	    .setenv = s->setenv,
	    .untrusted = true,
	    .in = PROC_NULL,
	    .out = w->out,
	    .err = w->err,
	    .group = true,
	    .death_signal = SIGKILL,
	    .cpus = s->job->work->cpus};
	int rc;

	c->counts = w->counts = servercounts_open(s->job->target, 0);
	servercounts_begin(c->counts);
	if (servercounts_require(c->counts) < 0)
		return -1;
	c->watch = watch_child(&s->job->target->e, s->job->work->threads);
	watch_begin(c->watch);
	w->proc = proc_start(&spec);
	if (!w->proc) {
		watch_end(c->watch);
		return -1;
	}
	watch_set_child(c->watch, proc_pid(w->proc));
	w->began = w->asked = clock_ns();
	rc = wait_for_end(w);
	watch_end(c->watch);
	c->status = proc_stop(w->proc, 0);
	proc_free(w->proc);
	if (rc < 0 || c->status)
		return rc;
	servercounts_end(c->counts);
	return servercounts_require(c->counts);
}

/*
 * Returns 0 if the program ended by itself; -1 after reporting that it could
 * not be started, or was killed for taking too long, sending nothing or
 * printing too much, or the servers did not answer; or -1 silently when *stop
 * is set. Its output is kept in any case; the caller calls vbench_free_child in
 * any case.
 */
static int
child_run(const struct child_spec *s, struct child *c)
{
	double timeout_s = s->job->work->timeout_s;
	struct waiting w = {.s = s,
	    .silence_s = timeout_s > 0 ? timeout_s : SILENCE_S,
	    .out = memfd_create("stdout", MFD_CLOEXEC),
	    .err = memfd_create("stderr", MFD_CLOEXEC)};
	int rc;

	*c = (struct child){0};
	rc = w.out < 0 || w.err < 0
	    ? err_fail_sys("cannot start '%s'", s->argv[0])
	    : run_child(&w, c);
	take_output(&c->out, w.out);
	take_output(&c->err, w.err);
	return rc;
}

void
vbench_free_child(struct child *c)
{
	watch_free(c->watch);
	servercounts_close(c->counts);
	str_free(&c->out);
	str_free(&c->err);
}

/* Adds the end of an output, from the beginning of a line. */
static void
append_tail(struct str *to, const struct str *from)
{
	size_t n = from->len, at, first;
	char *text;

	while (n && strchr(" \t\r\n", from->s[n - 1]))
		n--;
	first = at = n > LAST_WORDS ? n - LAST_WORDS : 0;
	while (at && at < n && from->s[at - 1] != '\n')
		at++;
	if (at == n)
		at = first; /* it is one long line */
	text = mem_strn(from->s + at, n - at);
	for (char *p = text; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = *p == '\n' ? '|' : ' ';
	str_visible(to, text);
	free(text);
}

char *
vbench_describe_end(const struct child *c, const char *name)
{
	struct str s = {0};
	char how[80];

	str_printf(&s, "%s %s", name, proc_ended(c->status, how, sizeof how));
	if (c->err.len || c->out.len) {
		str_add(&s, ": ");
		append_tail(&s, c->err.len ? &c->err : &c->out);
	} else
		str_add(&s, " and printed nothing");
	return str_take(&s);
}

#define TRIAL_LEAST_S .2
#define TRIAL_MOST_S 5
#define TRIALS 12
#define SEEN .9     /* least served part of the requests of a run by duration */
#define NEARLY 1.25 /* tolerated factor of an emulated duration */

/* The rate of a case in its trial, or in an earlier session. */
struct rate {
	const struct json *cas;
	double rps;
	long long requests; /* for its duration */
	bool reported;      /* a different duration was reported */
};

struct vbench {
	struct vbtool tool;
	bool login;
	struct rate *rates;
	size_t n, cap;
};

/* How a case is run with this program. */
struct how {
	double duration_s, warmup_s; /* asked for */
	bool pops;
	bool by_duration;    /* by an option */
	bool inline_warmup;  /* by an option */
	bool timed_warmup;   /* in a process of its own, by duration */
	bool counted_warmup; /* in a process of its own, by requests */
};

static double
get_duration(const struct json *cas)
{
	return json_get_num(json_get(cas, "config"), "duration_s", 0);
}

static bool
can_last(
    const struct vbench *v, const struct how *h, const char *option, double s)
{
	return !h->pops && s >= 1 && s == floor(s) &&
	    vbtool_has(&v->tool, option);
}

static void
set_duration(const struct vbench *v, struct how *h, double s)
{
	h->duration_s = s;
	h->by_duration = can_last(v, h, "--duration", s);
}

static struct how
plan_case(const struct vbench *v, const struct json *cas)
{
	const struct json *c = json_get(cas, "config");
	const char *command = json_get_str(c, "command");
	struct how h = {.warmup_s = json_get_num(c, "warmup_s", 0)};

	/* The number of pops must be known in advance, to seed the elements. */
	h.pops = command_needs(command) == NEEDS_POPS;
	set_duration(v, &h, get_duration(cas));
	if (h.warmup_s > 0) {
		h.inline_warmup = can_last(v, &h, "--warmup", h.warmup_s);
		h.timed_warmup = !h.inline_warmup &&
		    can_last(v, &h, "--duration", h.warmup_s);
		h.counted_warmup = !h.inline_warmup && !h.timed_warmup;
	}
	return h;
}

static char *
explain_case(
    const void *self, const struct bench_case *c, const struct roles *roles)
{
	const struct vbench *v = self;

	(void)roles;
	return vbench_refuse(&v->tool, c->record, v->login);
}

static struct rate *
find_rate(const struct vbench *v, const struct json *cas)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->rates[i].cas == cas)
			return &v->rates[i];
	return NULL;
}

/* Must the rate be known, as the number of requests for some seconds? */
static bool
needs_rate(const struct how *h)
{
	return (h->duration_s > 0 && !h->by_duration) || h->counted_warmup;
}

static bool
needs_trial(const void *self, const struct json *cas)
{
	struct how h = plan_case(self, cas);

	return needs_rate(&h) && !find_rate(self, cas);
}

static long long
count_requests(double rps, double s)
{
	return (long long)fmin(fmax(1, ceil(rps * s)), 1e18);
}

static void
keep_rate(
    struct vbench *v, const struct json *cas, double rps, long long requests)
{
	*MEM_ADD(v->rates, v->n, v->cap) =
	    (struct rate){cas, rps, requests, false};
}

/* All runs of a case make the same number of requests, in all sessions. */
static int
recall_run(void *self, const struct json *cas, const struct engine_past *past)
{
	struct vbench *v = self;
	struct how h = plan_case(v, cas);

	if (past->tool && v->tool.sha256 &&
	    strcmp(past->tool, v->tool.sha256) != 0)
		return err_fail("%s: some runs were made with another " VBENCH
				": use the same one for all runs of a file",
		    json_get_str(cas, "id"));
	if (needs_trial(self, cas) && past->rps > 0 && past->requests > 0)
		keep_rate(v, cas, past->rps,
		    h.duration_s > 0 ? (long long)past->requests : 0);
	return 0;
}

static int
start_child(struct vbench *v, const struct engine_job *j,
    const struct vbtool_length *p, bool warmup, char *const *argv,
    struct child *c)
{
	const struct engine_target *t = &j->target->e;
	const char *variable = t->password ? vbtool_password(&v->tool) : NULL;
	const char *const env[] = {variable, t->password, NULL};
	const struct rate *rate = find_rate(v, j->cas);
	double s = p->duration_s;

	if (p->requests)
		s = rate ? (double)p->requests / rate->rps : 0;
	return child_run(&(struct child_spec){.job = j,
			     .argv = (const char *const *)argv,
			     .setenv = variable ? env : NULL,
			     .expected_s = s > 0 ? s + p->warmup_s : 0,
			     .most_s = p->requests ? 0 : 2 * (s + p->warmup_s),
			     .warmup = warmup},
	    c);
}

/*
 * Runs one process and keeps its output unless it is a warm-up. Returns 0, or
 * -1 after reporting an error, or -1 silently when stopped.
 */
static int
run_process(struct vbench *v, const struct engine_job *j,
    const struct vbtool_length *p, bool warmup, struct child *c)
{
	char **argv = vbench_argv(&v->tool, &j->target->e, j->work, p), *text;
	int rc = start_child(v, j, p, warmup, argv, c);

	if (j->raw && !warmup && (c->out.len || c->err.len)) {
		text = vbench_text(argv);
		*j->raw = record_raw("valkey-csv", text,
		    c->out.len ? c->out.s : c->err.s,
		    c->out.len ? c->out.len : c->err.len);
		free(text);
	}
	mem_free_list(argv);
	if (rc < 0)
		return -1;
	if (WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0)
		return 0;
	text = vbench_describe_end(c, vbtool_name(&v->tool));
	err_say("%s", text);
	free(text);
	return -1;
}

/*
 * Returns the metrics, freed by the caller; NULL after reporting an error, or
 * silently with *quick (may be NULL).
 */
static struct json *
read_result(const struct vbench *v, const struct engine_job *j,
    const struct child *c, bool *quick)
{
	char **words = vbtool_words(&v->tool, j->work, j->target->e.cluster);
	struct str why = {0};
	struct json *metrics;
	char *last;
	bool too_quick;

	metrics = vbench_result(c->out.len ? c->out.s : "", j->work->command,
	    words, &too_quick, &why);
	if (quick)
		*quick = too_quick;
	if (!metrics && !(quick && too_quick)) {
		last = vbench_describe_end(c, "it");
		err_say("%s %s; %s", vbtool_name(&v->tool), why.s, last);
		free(last);
	}
	str_free(&why);
	mem_free_list(words);
	return metrics;
}

/* Seeds the data for that many requests; a user's command gets none. */
static int
fill_servers(const struct engine_job *j, long long requests)
{
	struct engine_work w = *j->work;

	if (!command_known(w.command))
		return 0;
	w.requests = requests > 0 ? requests : 1;
	w.duration_s = w.warmup_s = 0;
	if (command_needs(w.command) == NEEDS_POPS &&
	    engine_refills(&j->target->e, &w))
		return err_fail("%lld elements for %s are more than can be "
				"seeded: limit them with '--requests'",
		    requests, w.command);
	return engine_seed(&j->target->e, &w, j->stop, j->progress, j->arg);
}

/*
 * Tries that many requests. Returns their rate; 0: they took no time; -1 after
 * reporting an error, or when stopped.
 */
static double
try_requests(struct vbench *v, const struct engine_job *j, double requests)
{
	struct vbtool_length p = {
	    .requests = (long long)fmin(requests, INT_MAX)};
	struct json *metrics = NULL;
	struct child c = {0};
	bool quick = false;
	double rps = -1;

	if (fill_servers(j, p.requests) == 0 &&
	    run_process(v, j, &p, true, &c) == 0)
		metrics = read_result(v, j, &c, &quick);
	if (metrics)
		rps = json_get_num(metrics, "rps", -1);
	json_free(metrics);
	vbench_free_child(&c);
	return quick ? 0 : rps;
}

/*
 * Tries more and more requests, until they take about as long as a run: the
 * number of keys and elements affects the rate, and with threads the program
 * notices the end up to a quarter of a second late.
 */
static int
try_case(void *self, const struct engine_job *j)
{
	struct vbench *v = self;
	struct how h = plan_case(v, j->cas);
	double goal = fmax(
	    TRIAL_LEAST_S, fmin(TRIAL_MOST_S, fmax(h.duration_s, h.warmup_s)));
	double rps = -1, n = 20.0 * j->work->clients * j->work->pipeline;

	for (int i = 0; i < TRIALS; i++) {
		rps = try_requests(v, j, n);
		if (rps < 0 || (rps > 0 && n / rps >= goal / 2))
			break;
		n = ceil(
		    n * (rps > 0 ? fmin(20, fmax(2, goal * rps / n)) : 20));
	}
	if (rps < 0)
		return -1;
	if (rps == 0)
		return err_fail(
		    "%s reported no throughput", vbtool_name(&v->tool));
	keep_rate(v, j->cas, rps,
	    h.duration_s > 0 ? count_requests(rps, h.duration_s) : 0);
	return 0;
}

/* Records the program, and which options were emulated. */
static void
set_tool(const struct vbench *v, const struct how *h, struct json *rec)
{
	static const char *const emulated[] = {
	    NULL, "duration", "warmup", "duration, warmup"};
	struct json *env = json_get(rec, "env");
	bool duration = h->duration_s > 0 && !h->by_duration;
	bool warmup = h->timed_warmup || h->counted_warmup;

	json_del(env, "benchmark_tool_version");
	json_set_str(env, "benchmark_tool_version", v->tool.version);
	json_set_str(env, "benchmark_tool_sha256", v->tool.sha256);
	json_set_str(env, "emulated", emulated[duration + 2 * warmup]);
	if (!vbtool_has(&v->tool, "--seed"))
		json_del(json_get(rec, "run"), "seed");
}

static int
warm_up(struct vbench *v, const struct engine_job *j, const struct how *h)
{
	struct vbtool_length p = {0};
	struct child c;
	int rc;

	if (h->counted_warmup)
		p.requests =
		    count_requests(find_rate(v, j->cas)->rps, h->warmup_s);
	else if (h->timed_warmup)
		p.duration_s = h->warmup_s;
	else
		return 0;
	rc = run_process(v, j, &p, true, &c);
	vbench_free_child(&c);
	return rc;
}

static int
measure_process(struct vbench *v, const struct engine_job *j,
    const struct vbtool_length *p, struct engine_result *r)
{
	struct json *metrics = NULL;
	struct child c = {0};
	double asked;
	int rc = -1;

	if (run_process(v, j, p, false, &c) < 0 ||
	    !(metrics = read_result(v, j, &c, NULL)))
		goto out;
	r->requests = (uint64_t)p->requests;
	engine_result_set_unknown(r);
	r->rps = json_get_num(metrics, "rps", NAN);
	r->elapsed_s = r->requests ? (double)r->requests / r->rps : NAN;
	watch_report(
	    c.watch, &(struct watch_load){.requests = r->requests}, j->cost);
	servercounts_report(c.counts, j->cost);
	for (const struct metric *m = metric_table; m->name; m++)
		if (m->hist)
			json_set_num(watch_cost_metrics(j->cost), m->name,
			    json_get_num(metrics, m->name, NAN));
	asked = p->requests ? (double)p->requests : r->rps * p->duration_s;
	rc = servercounts_check(servercounts_sums(c.counts, false),
	    servercounts_sums(c.counts, true), asked,
	    p->requests ? asked : SEEN * asked, j->cas, r);
out:
	json_free(metrics);
	vbench_free_child(&c);
	return rc;
}

/* Reports once if the emulated duration was missed. */
static void
report_time(struct rate *rate, const struct how *h,
    const struct vbtool_length *p, const struct json *cas,
    const struct engine_result *r)
{
	double times = r->elapsed_s / h->duration_s;

	if (rate->reported || (times <= NEARLY && times >= 1 / NEARLY))
		return;
	rate->reported = true;
	err_say("%s: %lld requests took %.3g s instead of %g s",
	    json_get_str(cas, "id"), p->requests, r->elapsed_s, h->duration_s);
}

static int
run_case(struct vbench *v, const struct engine_job *j, struct engine_result *r)
{
	struct how h = plan_case(v, j->cas);
	struct vbtool_length p = {.requests = j->work->requests};
	struct rate *rate = find_rate(v, j->cas);
	long long pops;
	int rc = -1;

	/*
	 * A profile lasts longer than the case, and perhaps has no trial; nor
	 * has a case that only makes data for a later one.
	 */
	set_duration(v, &h, j->work->requests > 0 ? 0 : j->work->duration_s);
	if (!rate && needs_rate(&h)) {
		if (try_case(v, j) < 0)
			return -1;
		rate = find_rate(v, j->cas);
	}
	set_tool(v, &h, j->rec);
	if (h.by_duration)
		p.duration_s = h.duration_s;
	else if (h.duration_s > 0)
		p.requests = h.duration_s == get_duration(j->cas)
		    ? rate->requests
		    : count_requests(rate->rps, h.duration_s);
	if (h.inline_warmup)
		p.warmup_s = h.warmup_s;
	pops = p.requests +
	    (h.counted_warmup ? count_requests(rate->rps, h.warmup_s) : 0);
	if (pops > INT_MAX)
		return err_fail(VBENCH " cannot count %lld requests", pops);
	if (fill_servers(j, pops) == 0 && warm_up(v, j, &h) == 0)
		rc = measure_process(v, j, &p, r);
	if (rc == 0 && h.duration_s > 0 && !h.by_duration)
		report_time(rate, &h, &p, j->cas, r);
	return rc;
}

static void
run_job(void *self, const struct engine_job *j, size_t n, uint64_t seed,
    struct engine_result *const *results, int *rcs)
{
	(void)n;
	(void)seed;
	*rcs = run_case(self, j, *results);
}

static char *
find_program(const char *path, const struct builds *b)
{
	const char *own, *dirs = getenv("PATH");
	char *file = proc_find(path ? path : VBENCH, dirs);

	for (size_t i = 0; !file && !path && i < b->n; i++) {
		own = json_get_str(b->v[i], "benchmark");
		file = own ? proc_find(own, dirs) : NULL;
	}
	if (!file)
		err_fail("there is no program '%s'%s", path ? path : VBENCH,
		    path && strchr(path, '/') ? "" : " in PATH");
	return file;
}

struct vbench *
vbench_open(const char *path, const struct builds *b, bool login)
{
	struct vbench *v = mem_new(sizeof *v);
	char *file = find_program(path, b);

	v->login = login;
	if (!file || vbtool_read(&v->tool, file) < 0) {
		vbench_close(v);
		v = NULL;
	}
	free(file);
	return v;
}

void
vbench_close(struct vbench *v)
{
	if (!v)
		return;
	vbtool_free(&v->tool);
	free(v->rates);
	free(v);
}

struct engine
vbench_engine(struct vbench *v)
{
	return (struct engine){.name = VBENCH,
	    .self = v,
	    .cannot = explain_case,
	    .untried = needs_trial,
	    .recall = recall_run,
	    .attempt = try_case,
	    .run = run_job};
}
