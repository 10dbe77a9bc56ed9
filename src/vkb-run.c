/*
 * vkb-run: runs interleaved benchmarks of any program, each repetition in a
 * process of its own, and writes what they print as run records.
 *
 * vkb-parse reads what a process has printed; of several results of one case,
 * the median is the result of the process, since processes are what is
 * repeated.
 */
#include "appendfile.h"
#include "clock.h"
#include "err.h"
#include "folder.h"
#include "halt.h"
#include "hostlock.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "machine.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "proc.h"
#include "reaper.h"
#include "record.h"
#include "redact.h"
#include "rng.h"
#include "sink.h"
#include "stats.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_CHARS                                   \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP" \
	"QRSTUVWXYZ0123456789._+-/@"
#define STOP_MS 5000   /* that a process has after SIGTERM */
#define SHOWN 10       /* lines of what a failed process has printed */
#define PARSE_MS 60000 /* for vkb-parse; it takes milliseconds */

#define PROCESS "process" /* the case of --time and --count */

struct opts {
	long long runs;
	const char *from, *results, *output, *resume;
	struct opt_list columns, sets;
	double timeout_s;
	bool time, count, no_lock, quiet, verbose;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {'n', "runs", OPT_INT, AT(runs), "N", 1, 1000000,
	.help = "processes of each command; default 7, with --count 2"},
    {'f', "from", OPT_STR, AT(from), "FORMAT",
	.help = "format of what they print, as of vkb-parse; default auto"},
    {'c', "columns", OPT_LIST, AT(columns), "MAP",
	.help = "map columns of a CSV to keys: KEY=COLUMN,..."},
    {'s', "set", OPT_LIST, AT(sets), "SECTION.KEY=VALUE",
	.help = "set a key of every run: config.size=16"},
    {0, "results", OPT_STR, AT(results), "FILE",
	.help = "read the file that each process writes, not its output"},
    {0, "time", OPT_FLAG, AT(time),
	.help = "measure the time of each process, whatever it prints"},
    {0, "count", OPT_FLAG, AT(count),
	.help = "count the instructions of each process, with valgrind"},
    {'o', "output", OPT_STR, AT(output), "FILE",
	.help = "append the runs to FILE, not to stdout"},
    {0, "resume", OPT_STR, AT(resume), "FILE",
	.help = "run what is missing in FILE and append it"},
    {0, "timeout", OPT_DURATION, AT(timeout_s), "TIME", .001, 1e7,
	.help = "a process that takes longer has failed"},
    {0, "no-lock", OPT_FLAG, AT(no_lock),
	.help = "do not wait for other programs that measure here"},
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print only errors"},
    {'v', "verbose", OPT_FLAG, AT(verbose),
	.help = "show what the processes print on stderr"},
    {0}};

#define ONE_ARGUMENT                                                           \
	"a command is one argument, with its own in quotes: vkb run 'go test " \
	"-bench .'"

static const struct opt_prog program = {.name = "vkb-run",
    .operands = "[NAME=]COMMAND ...",
    .purpose =
	"Run interleaved benchmarks of any program, and write run records.",
    .table = option_table,
    .examples = "  vkb run old='./old --json' new='./new --json' | vkb stats "
		"--text\n"
		"  vkb run old='cd old && go test -bench .' new='cd new && go "
		"test -bench .' |\n"
		"    vkb stats | vkb compare --baseline old\n",
    .hint = ONE_ARGUMENT};

struct command {
	char *name;
	const char *text; /* for the shell */
};

struct session {
	const struct opts *o;
	struct command *commands;
	size_t n;
	char name[16];
	struct json *env; /* of this machine, as each run has it */
	unsigned long long seed;
	bool *done; /* of each round and command */
	int out;
	const char *out_name;
	struct halt *halt;
	size_t order;      /* processes that have run */
	size_t left;       /* that have not */
	double spent_s;    /* by those that have */
	size_t fruitless;  /* of them, those without a result */
	bool failed;       /* some of them, or of their benchmarks */
	const char *parse; /* the path of vkb-parse */
	char *counts; /* the folder of valgrind during a process, or NULL */
	char *tmp;    /* in it, TMPDIR of the process */
};

/* What a process has left behind. */
struct process {
	int out, err;    /* files in memory */
	struct stat was; /* the file of --results before it; st_nlink 0: none */
	double started, time_s;
	bool left; /* with --count: something that it began still ran */
};

/* Returns the name of an argument, and what is behind it. Caller frees. */
static char *
take_name(const char *arg, const char **text)
{
	size_t n = strspn(arg, NAME_CHARS);
	bool named = n && arg[n] == '=';

	*text = named ? arg + n + 1 : arg;
	return named ? mem_strn(arg, n) : redact_copy(arg);
}

/* Is it a word that names no program, such as an argument of a command? */
static bool
is_argument(const char *text)
{
	static const char plain[] = NAME_CHARS "/+%@:,";
	char *found;
	bool none;

	if (text[strspn(text, plain)])
		return false; /* for the shell */
	found = proc_find(text, getenv("PATH"));
	none = !found && errno == ENOENT;
	free(found);
	return none;
}

static int
read_commands(struct session *s, const struct opt_args *args)
{
	if (!args->n)
		return opt_usage(&program, "there is no command");
	s->commands = mem_array(args->n, sizeof *s->commands);
	for (size_t i = 0; i < args->n; i++) {
		struct command *c = &s->commands[s->n++];

		c->name = take_name(args->v[i], &c->text);
		if (!c->text[strspn(c->text, " \t\n")])
			return err_fail(
			    "'%s' has no command: NAME='COMMAND'", args->v[i]);
		if (!str_utf8(c->text, strlen(c->text)))
			return err_fail("'%s' is not UTF-8", args->v[i]);
		if (i && c->text == args->v[i] && is_argument(c->text))
			return err_fail("there is no program '%s'; %s", c->text,
			    ONE_ARGUMENT);
		for (size_t k = 0; k < i; k++)
			if (strcmp(c->name, s->commands[k].name) == 0)
				return err_fail("two commands are called '%s': "
						"give them names, as in "
						"old='%s'",
				    c->name, c->text);
	}
	return 0;
}

/* ---- what was measured before */

/* What a file to resume says of a round of a command. */
struct before {
	char session[16]; /* the last that ran it */
	bool failed;      /* there, or a part of it */
};

/* Is it of what is asked for: the time or the count of a process, or what a
 * process has printed? */
static bool
is_asked(const struct opts *o, const struct json *rec)
{
	const char *command = json_str(json_path(rec, "config.command"));
	const struct json *m = json_get(rec, "metrics");
	bool process = command && strcmp(command, PROCESS) == 0,
	     timed = process && json_get(m, "time_s"),
	     counted = process && json_get(m, "process_instructions");

	if (o->time || o->count)
		return o->time ? timed : counted;
	return !timed && !counted;
}

static void
note_run(struct session *s, const struct json *rec, struct before *v)
{
	const char *label = json_str(json_path(rec, "subject.label"));
	const char *session = json_str(json_path(rec, "run.session"));
	double index = json_num(json_path(rec, "run.index"), 0);
	struct before *b;

	if (!record_is(rec, "run") || !label || !is_asked(s->o, rec) ||
	    !(index >= 1 && index <= (double)s->o->runs))
		return;
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(label, s->commands[i].name) != 0)
			continue;
		b = &v[((size_t)index - 1) * s->n + i];
		session = session ? session : "?";
		if (strncmp(b->session, session, sizeof b->session - 1) != 0)
			b->failed = false;
		snprintf(b->session, sizeof b->session, "%s", session);
		b->failed |= strcmp(json_get_str(rec, "status"), "ok") != 0;
	}
}

static int
read_done(struct session *s)
{
	size_t places = s->n * (size_t)s->o->runs;
	struct before *v = mem_array(places, sizeof *v);
	struct jsonl *in = jsonl_open(&s->o->resume, 1);
	struct json *rec;
	int k, rc = 0;

	while ((k = record_next(in, &rec)) != 0) {
		if (k < 0) {
			rc = -1;
			continue;
		}
		note_run(s, rec, v);
		json_free(rec);
	}
	jsonl_close(in);
	for (size_t i = 0; i < places; i++)
		s->done[i] = v[i].session[0] && !v[i].failed;
	free(v);
	return rc;
}

static int
open_output(struct session *s)
{
	const struct opts *o = s->o;

	s->done = mem_array(s->n * (size_t)o->runs, sizeof *s->done);
	s->out = STDOUT_FILENO;
	s->out_name = o->resume ? o->resume : o->output;
	if (s->out_name) {
		s->out = appendfile_open(s->out_name, o->resume != NULL);
		if (s->out < 0 ||
		    appendfile_check_end(
			s->out, s->out_name, o->resume != NULL) < 0 ||
		    (o->resume && read_done(s) < 0))
			return -1;
	}
	for (size_t i = 0; i < s->n * (size_t)o->runs; i++)
		s->left += !s->done[i];
	if (!s->left && !o->quiet)
		err_say(
		    "'%s' has all of these runs: nothing is run", o->resume);
	return 0;
}

/* ---- a process */

static int
open_memory(void)
{
	int fd = sink_memory("", 0);

	return fd < 0 ? err_fail_sys("cannot make a file in memory") : fd;
}

/* Waits for the end of a process. Returns 0, or -1 after reporting that it took
 * too long, or because this program is to stop. */
static int
wait_for(
    struct session *s, const struct command *c, struct proc *p, int *status)
{
	int64_t limit = (int64_t)(s->o->timeout_s * 1e9),
		end = clock_ns() + limit;
	struct pollfd fds[2] = {
	    {proc_fd(p), POLLIN, 0}, {halt_fd(s->halt), POLLIN, 0}};

	for (;;) {
		poll(fds, 2, limit ? clock_left_ms(end) : -1);
		if (halt_reason(s->halt, NULL))
			return -1;
		if (proc_wait(p, 0, status) != 0)
			return 0;
		if (limit && clock_ns() >= end)
			return err_fail("'%s' has not ended after %g s (option "
					"'--timeout')",
			    c->name, s->o->timeout_s);
	}
}

/* Prints the last lines of what a failed process has printed. */
static void
show_end(int fd)
{
	char text[8192], *p, *line, *rest;
	off_t size = lseek(fd, 0, SEEK_END);
	off_t from =
	    size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0;
	ssize_t n = pread(fd, text, sizeof text - 1, from);
	size_t lines = 0;

	if (n <= 0)
		return;
	text[n] = '\0';
	for (p = text + n - 1; p > text && lines < SHOWN; p--)
		lines += p[-1] == '\n';
	for (line = strtok_r(p, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		err_say("  %s", line);
}

/* Runs a command to its end. Returns 0, or -1 after reporting how it failed, or
 * because this program is to stop. */
static int
run_process(struct session *s, const struct command *c, struct process *of)
{
	char *file = s->counts
	    ? mem_printf("--callgrind-out-file=%s/%%p", s->counts)
	    : NULL;
	/* Killed while it starts, valgrind leaves a file in TMPDIR. */
	const char *const env[] = {"TMPDIR", s->tmp, NULL};
	/* Callgrind copies the counts at a fork, so these are written before
	 * it, which sets them to 0. */
	const char *argv[] = {"valgrind", "-q", "--tool=callgrind",
	    "--trace-children=yes", "--vgdb=no", "--combine-dumps=yes",
	    "--dump-before=fork", "--dump-before=vfork", file, "sh", "-c",
	    c->text, NULL};
	struct proc_spec spec = {.argv = file ? argv : argv + 9,
	    .setenv = file ? env : NULL,
	    .in = PROC_NULL,
	    .out = of->out,
	    .err = s->o->verbose ? 0 : of->err,
	    .group = true};
	int64_t began = clock_ns();
	struct proc *p;
	char how[64];
	int status = 0, rc;

	of->started = clock_now();
	p = proc_start(&spec);
	rc = p ? wait_for(s, c, p, &status) : -1;
	of->time_s = (double)(clock_ns() - began) / 1e9;
	if (p && rc < 0)
		proc_stop(p, STOP_MS);
	of->left = file && p && rc == 0 && proc_left(p);
	proc_free(p);
	free(file);
	if (rc == 0 && status != 0) {
		err_say(
		    "'%s' %s", c->name, proc_ended(status, how, sizeof how));
		show_end(of->err);
		show_end(of->out);
		rc = -1;
	}
	return rc;
}

/* ---- what it has printed */

/* Returns the sum of the parts of a file of callgrind, or 0 if it has none. */
static double
read_totals(int folder, const char *name)
{
	static const char key[] = "totals: ";
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t size = 0;
	double sum = 0;

	while (f && getline(&line, &size, f) >= 0)
		if (strncmp(line, key, strlen(key)) == 0)
			sum += strtod(line + strlen(key), NULL);
	free(line);
	if (f)
		fclose(f);
	return sum;
}

/* Returns how many instructions a process and those that it began executed, or
 * 0 after reporting an error: a count that lacks some of them would be false.
 */
static double
read_count(
    const struct session *s, const struct command *c, const struct process *of)
{
	DIR *d = opendir(s->counts);
	struct dirent *e;
	double sum = 0, n;
	size_t killed = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		n = read_totals(dirfd(d), e->d_name);
		sum += n;
		killed += !(n > 0);
	}
	if (d)
		closedir(d);
	if (killed)
		err_say("'%s': %zu of its processes were killed, or still ran "
			"at its end: they cannot be counted",
		    c->name, killed);
	else if (of->left) /* before valgrind had made the file of it */
		err_say("'%s': one of its processes still ran at its end: it "
			"cannot be counted",
		    c->name);
	else if (!(sum > 0)) {
		err_say("'%s': valgrind has not counted it:", c->name);
		show_end(of->err);
	}
	return killed || of->left ? 0 : sum;
}

/* Writes the time or the count of a process as what it had printed. */
static int
write_cost(const struct session *s, const struct command *c, struct process *of)
{
	double v = s->o->count ? read_count(s, c, of) : of->time_s;
	struct json *run = record_new("run"), *j = json_object();
	char *text;
	int rc;

	json_set_str(j, "command", PROCESS);
	json_set(run, "subject", json_object());
	json_set(run, "config", j);
	json_set(run, "run", json_object());
	json_set(run, "metrics", j = json_object());
	json_set_num(j, s->o->count ? "process_instructions" : "time_s", v);
	if (s->o->count)
		json_set_bool(run, "counted", true);
	json_set_str(run, "status", "ok");
	text = json_print(run);
	rc = v == 0 ? -1
	    : ftruncate(of->out, 0) < 0 || lseek(of->out, 0, SEEK_SET) < 0 ||
		sink_write(of->out, text, strlen(text)) < 0 ||
		sink_write(of->out, "\n", 1) < 0
	    ? err_fail_sys("cannot keep the cost of a process")
	    : 0;
	free(text);
	json_free(run);
	return rc;
}

/* Returns a descriptor of what there is to read, or -1 after reporting an
 * error. */
static int
open_results(
    const struct session *s, const struct command *c, struct process *of)
{
	const char *file = s->o->results;
	struct stat st;
	int fd;

	if (!file) {
		if ((s->o->time || s->o->count) && write_cost(s, c, of) < 0)
			return -1;
		lseek(of->out, 0, SEEK_SET);
		fd = dup(of->out);
		return fd < 0 ? err_fail_sys("cannot read a file in memory")
			      : fd;
	}
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_fail_sys(
		    "cannot read '%s' (option '--results')", file);
	if (of->was.st_nlink && st.st_ino == of->was.st_ino &&
	    st.st_size == of->was.st_size &&
	    memcmp(&st.st_mtim, &of->was.st_mtim, sizeof st.st_mtim) == 0 &&
	    memcmp(&st.st_ctim, &of->was.st_ctim, sizeof st.st_ctim) == 0) {
		close(fd);
		return err_fail("the process has not written '%s' (option "
				"'--results')",
		    file);
	}
	return fd;
}

static void
add_options(
    const char **argv, size_t *n, const char *option, const struct opt_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		argv[(*n)++] = option;
		argv[(*n)++] = l->v[i];
	}
}

/* Converts results to records. Returns the descriptor of these, or -1 after an
 * error was reported. */
static int
convert_results(const struct session *s, int in)
{
	const struct opts *o = s->o;
	const char **argv =
	    mem_array(2 * (o->columns.n + o->sets.n) + 4, sizeof *argv);
	size_t n = 0;
	int out = open_memory(), status = 1;
	struct proc *p;

	argv[n++] = s->parse;
	if (o->from) {
		argv[n++] = "--from";
		argv[n++] = o->from;
	}
	add_options(argv, &n, "--columns", &o->columns);
	add_options(argv, &n, "--set", &o->sets);
	p = out < 0 ? NULL
		    : proc_start(&(struct proc_spec){
			  .argv = argv, .in = in, .out = out});
	if (p && proc_wait(p, PARSE_MS, &status) == 0)
		status = 1;
	proc_free(p);
	free(argv);
	if (status != 0) {
		if (out >= 0)
			close(out);
		return -1;
	}
	lseek(out, 0, SEEK_SET);
	return out;
}

/* ---- runs */

/* The results of one case by one process. */
struct result {
	struct json *run;    /* the first of them */
	struct json *values; /* NAME: array */
};

static void
add_result(struct result *r, struct json *run)
{
	const struct json *m = json_first(json_get(run, "metrics"));

	if (!r->run)
		*r = (struct result){run, json_object()};
	for (; m; m = json_next(m)) {
		struct json *v = json_get(r->values, json_key(m));

		if (!v)
			json_set(r->values, json_key(m), v = json_array());
		json_push(v, json_dup(m));
	}
	if (r->run != run)
		json_free(run);
}

/* Sets each metric to the median of its values. */
static void
settle_result(struct result *r)
{
	struct json *metrics = json_get(r->run, "metrics");

	for (struct json *m = json_first(r->values); m; m = json_next(m)) {
		size_t n;
		double *v = json_numbers(m, &n);

		if (v && n) {
			stats_sort(v, n);
			json_set_num(metrics, json_key(m), stats_median(v, n));
		}
		free(v);
	}
	json_free(r->values);
}

/* Says which process a run is of. */
static void
complete_run(const struct session *s, const struct command *c, size_t round,
    const struct process *of, struct json *rec)
{
	struct json *run = json_get(rec, "run"), *env = json_get(rec, "env");
	const struct json *mine = s->env;
	const char *host = json_get_str(env, "host");
	char iso[CLOCK_ISO], node[HOST_NAME_MAX + 1] = "";

	gethostname(node, sizeof node - 1);
	if (!env)
		json_set(rec, "env", env = json_object());
	if (host && strcmp(host, node) != 0 &&
	    !json_equal(json_get(env, "host"), json_get(mine, "host")))
		mine = NULL; /* it ran elsewhere */
	for (const struct json *j = json_first(mine); j; j = json_next(j))
		if (!json_get(env, json_key(j)))
			json_set(env, json_key(j), json_dup(j));
	json_set_str(json_get(rec, "subject"), "label", c->name);
	json_set_str(run, "session", s->name);
	json_set_num(run, "index", (double)round);
	json_set_num(run, "block", (double)round);
	json_set_num(run, "order", (double)s->order);
	json_set_str(run, "started", clock_iso_of(iso, of->started));
}

/* Are both runs of one subject, whatever its label? */
static bool
is_same_subject(const struct json *a, const struct json *b)
{
	json_del(json_get(a, "subject"), "label");
	json_del(json_get(b, "subject"), "label");
	return json_equal(json_get(a, "subject"), json_get(b, "subject"));
}

static void
free_results(struct result *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_free(v[i].run);
		json_free(v[i].values);
	}
	free(v);
}

/* Reads the records that vkb-parse has made; takes 'fd'. Returns the results,
 * of *n cases, or NULL after reporting an error; the caller frees them. */
static struct result *
read_results(const struct command *c, int fd, size_t *n)
{
	struct jsonl *in = jsonl_fd(fd, "vkb-parse");
	struct intern *keys = intern_new();
	struct result *v = NULL;
	size_t cap = 0;
	struct json *rec;
	int k;

	while ((k = record_next(in, &rec)) > 0) {
		struct str key = {0};
		size_t id;

		if (!record_is(rec, "run")) {
			json_free(rec);
			continue;
		}
		if (*n && !is_same_subject(v[0].run, rec)) {
			k = err_fail("'%s' prints results of several subjects: "
				     "give each a command of its own",
			    c->name);
			json_free(rec);
			break;
		}
		json_canonical(&key, json_get(rec, "config"));
		str_printf(&key, " %d %s", json_get_bool(rec, "counted", false),
		    json_get_str(rec, "status"));
		id = intern_id(keys, key.s);
		str_free(&key);
		if (id == *n)
			*MEM_ADD(v, *n, cap) = (struct result){0};
		add_result(&v[id], rec);
	}
	jsonl_close(in);
	intern_free(keys);
	if (k == 0 && !*n)
		err_say("'%s' has printed no result", c->name);
	if (k == 0)
		return v;
	free_results(v, *n);
	*n = 0;
	return NULL;
}

/* Writes the results of a process in one piece, so that a kill leaves all or
 * none. */
static int
write_results(struct session *s, const struct command *c, size_t round,
    const struct process *of, struct result *v, size_t n)
{
	struct str lines = {0};
	int rc;

	for (size_t i = 0; i < n; i++) {
		settle_result(&v[i]);
		complete_run(s, c, round, of, v[i].run);
		json_append_line(&lines, v[i].run);
		if (strcmp(json_get_str(v[i].run, "status"), "ok") != 0) {
			s->failed = true;
			err_say("'%s': a benchmark failed: %s", c->name,
			    json_get_str(v[i].run, "error"));
		}
		json_free(v[i].run);
	}
	free(v);
	rc = sink_text(s->out, lines.s ? lines.s : "", lines.len);
	str_free(&lines);
	return rc < 0 ? sink_fail(s->out) : 0;
}

/* Runs a command once. Returns 0, also if it failed, or -1 if the session
 * cannot go on. */
static int
run_once(struct session *s, size_t round, const struct command *c)
{
	struct process of = {.out = open_memory(), .err = open_memory()};
	struct result *v = NULL;
	size_t n = 0;
	int fd = -1, rc = of.out < 0 || of.err < 0 ? -1 : 0;

	if (s->counts && rc == 0 && mkdir(s->counts, 0700) < 0)
		rc = err_fail_sys("cannot make folder '%s'", s->counts);
	if (s->tmp && rc == 0 && mkdir(s->tmp, 0700) < 0)
		rc = err_fail_sys("cannot make folder '%s'", s->tmp);
	s->order++;
	if (s->o->results && stat(s->o->results, &of.was) < 0)
		of.was.st_nlink = 0;
	if (rc == 0 && run_process(s, c, &of) == 0) {
		fd = open_results(s, c, &of);
		if (fd >= 0) {
			int records = convert_results(s, fd);

			close(fd);
			if (records >= 0)
				v = read_results(c, records, &n);
			else
				err_say("'%s': vkb-parse does not know what it "
					"has printed; --from names a format, "
					"--time measures the process itself",
				    c->name);
		}
	}
	if (n)
		rc = write_results(s, c, round, &of, v, n);
	else {
		s->failed = true;
		s->fruitless++;
	}
	s->spent_s += of.time_s;
	s->left--;
	if (of.out >= 0)
		close(of.out);
	if (of.err >= 0)
		close(of.err);
	if (s->counts && folder_remove(s->counts) < 0)
		rc = err_fail_sys("cannot remove '%s'", s->counts);
	return rc;
}

static void
say_round(const struct session *s, size_t round)
{
	double left = s->spent_s / (double)s->order * (double)s->left;
	char buf[NUM_BUF];

	if (s->o->quiet || !s->left)
		return;
	err_say("round %zu/%lld done, %s left", round, s->o->runs,
	    num_seconds(buf, left));
}

/* Returns 0, or -1 if the session cannot go on. */
static int
run_rounds(struct session *s)
{
	size_t *order = mem_array(s->n, sizeof *order), rounds;
	bool fresh; /* no earlier session has results */
	int rc = 0;

	rounds = (size_t)s->o->runs;
	fresh = s->left == s->n * rounds;
	for (size_t round = 1; round <= rounds && rc == 0; round++) {
		size_t before = s->order;

		rng_order(order, s->n, s->seed, (round - 1) / s->n, round - 1);
		for (size_t i = 0; i < s->n && rc == 0; i++) {
			if (s->done[(round - 1) * s->n + order[i]])
				continue;
			rc = run_once(s, round, &s->commands[order[i]]);
			if (halt_reason(s->halt, NULL))
				rc = -1;
		}
		if (rc == 0 && fresh && s->left && s->order > before &&
		    s->order == s->fruitless)
			rc = err_fail("no process gave a result: the other "
				      "rounds are not run");
		if (rc == 0 && s->order > before)
			say_round(s, round);
	}
	free(order);
	return rc;
}

/* Notes what this machine is, and writes it once for all runs. */
static int
write_machine(struct session *s)
{
	struct json *env = machine_record("", s->name);
	struct str line = {0};
	int rc;

	s->env = machine_brief(json_get(env, "env"));
	json_append_line(&line, env);
	rc = sink_text(s->out, line.s, line.len) < 0 ? sink_fail(s->out) : 0;
	str_free(&line);
	json_free(env);
	return rc;
}

static void
remove_counts(void *path)
{
	folder_remove(path);
}

/* Names the folder that valgrind writes to, and has it removed when this
 * program is killed. Returns 0, or -1 after reporting an error. */
static int
prepare_counts(struct session *s)
{
	char *tmp = realpath(opt_tmpdir(), NULL);

	if (!tmp)
		return err_fail_sys("cannot use '%s'", opt_tmpdir());
	s->counts = mem_printf("%s/vkb-counts.%s", tmp, s->name);
	s->tmp = mem_printf("%s/.tmp", s->counts); /* passed over as hidden */
	free(tmp);
	return reaper_start(remove_counts, s->counts);
}

static int
run_session(struct session *s)
{
	const volatile int go_on =
	    0; /* a signal ends this program until then */
	int lock = s->o->no_lock ? HOSTLOCK_NONE : hostlock_take(&go_on);
	int rc = lock == -1 ? -1 : 0;

	s->halt = rc == 0 ? halt_open(true) : NULL;
	if (!s->halt)
		rc = -1;
	if (rc == 0 && s->left)
		rc = write_machine(s);
	if (rc == 0 && s->o->count)
		rc = prepare_counts(s);
	if (rc == 0)
		rc = run_rounds(s);
	reaper_dismiss();
	if (rc == 0 && s->failed && s->out_name)
		err_say("some processes failed; '--resume %s' runs them again",
		    s->out_name);
	else if (rc < 0 && s->out_name && s->order)
		err_say("'%s' has the runs so far; '--resume %s' runs the rest",
		    s->out_name, s->out_name);
	hostlock_release(lock);
	return rc < 0 || s->failed ? -1 : 0;
}

static int
run_run(void *opts, struct opt_args *args)
{
	struct opts *o = opts;
	struct session s = {.o = o};
	char *parse = proc_beside("vkb-parse");
	char *valgrind = proc_find("valgrind", getenv("PATH"));
	int rc = -1;

	o->runs = o->runs ? o->runs : o->count ? 2 : 7;
	s.parse = parse;
	if ((o->time || o->count) && (o->results || o->from || o->columns.n))
		rc = opt_usage(&program,
		    "--time and --count read no results: --results, --from and "
		    "--columns have no use");
	else if (o->time && o->count)
		rc = opt_usage(&program,
		    "--time and --count: a process that is counted is slow; "
		    "measure its time in a second session");
	else if (o->count && !valgrind)
		rc = err_fail("option '--count': valgrind is not in PATH: "
			      "'vkb-needs run' installs it");
	else if (o->resume && o->output)
		rc = opt_usage(&program, "--resume appends to its FILE itself");
	else if (read_commands(&s, args) == 0 && open_output(&s) == 0 &&
	    record_name_session(s.name) == 0) {
		s.seed = strtoull(s.name, NULL, 16);
		rc = run_session(&s);
	}
	for (size_t i = 0; i < s.n; i++)
		free(s.commands[i].name);
	free(s.commands);
	free(s.done);
	free(s.tmp);
	free(s.counts);
	json_free(s.env);
	free(parse);
	free(valgrind);
	halt_finish(s.halt);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_run);
}
