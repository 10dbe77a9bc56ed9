/*
 * Starts Valkey servers, and stops them even if this program is killed. Reads a
 * 'spec' record from a file, or many from stdin with --follow; writes 'server'
 * records.
 */
#include "config.h"
#include "err.h"
#include "halt.h"
#include "inputs.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "opt.h"
#include "proc.h"
#include "record.h"
#include "str.h"
#include "tls.h"
#include "vkb-serve/fleet.h"
#include "vkb-serve/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The operations start, stop and status: a background process, the supervisor,
 * keeps a server running. The supervisor's folder has a lock file, locked while
 * it runs, and a file with its 'server' record.
 */

/* Files of a folder that '--dir' names, which can have others of the user. */
#define LOCK "vkb-serve.lock"
#define STATE "vkb-serve.json"

/* Returns the default folder; caller frees with free(). */
static char *
find_state_folder(void)
{
	return mem_printf("%s/vkb-serve-%ld", opt_tmpdir(), (long)geteuid());
}

/* Checks that we own the folder: in /tmp another user could have made it.
 * Returns 0, or -1 after reporting an error. */
static int
check_folder(const char *folder)
{
	struct stat st;

	if (lstat(folder, &st) < 0)
		return err_fail_sys("cannot use folder '%s'", folder);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return err_fail("'%s' is not a folder that you own", folder);
	return 0;
}

static int
open_lock(const char *folder, int flags)
{
	char *path = mem_printf("%s/" LOCK, folder);
	int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 && (flags & O_CREAT))
		err_fail_sys("cannot use '%s'", path);
	free(path);
	return fd;
}

/* Returns whether fd is still the lock file; a supervisor that ends removes it.
 */
static bool
is_current_lock(const char *folder, int fd)
{
	char *path = mem_printf("%s/" LOCK, folder);
	struct stat mine, there;
	bool same = fstat(fd, &mine) == 0 && stat(path, &there) == 0 &&
	    mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;

	free(path);
	return same;
}

/*
 * Makes and locks the folder until the end of this process. Returns 0, or -1
 * after reporting an error.
 */
static int
lock_server(const char *folder)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd;

	for (;;) {
		if (mkdir(folder, 0700) < 0 && errno != EEXIST)
			return err_fail_sys("cannot make folder '%s'", folder);
		if (check_folder(folder) < 0)
			return -1;
		fd = open_lock(folder, O_RDWR | O_CREAT);
		if (fd < 0)
			return -1;
		if (fcntl(fd, F_SETLK, &l) < 0)
			break;
		if (is_current_lock(folder, fd))
			return 0; /* fd stays open: it holds the lock */
		close(fd);
	}
	if (errno == EACCES || errno == EAGAIN)
		err_say("a server is already running in '%s'", folder);
	else
		err_fail_sys("cannot lock '%s'", folder);
	close(fd);
	return -1;
}

/* Returns the process that holds the lock, 0 if none, -1 after reporting an
 * error. */
static pid_t
find_lock_holder(const char *folder)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd, rc;

	if (access(folder, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (check_folder(folder) < 0)
		return -1;
	fd = open_lock(folder, O_RDWR);
	if (fd < 0)
		return errno == ENOENT
		    ? 0
		    : err_fail_sys("cannot use '%s/" LOCK "'", folder);
	rc = fcntl(fd, F_GETLK, &l);
	close(fd);
	if (rc < 0)
		return err_fail_sys("cannot query the lock of '%s'", folder);
	return l.l_type == F_UNLCK ? 0 : l.l_pid;
}

/* Writes the record into the folder. Returns 0, or -1 after reporting an error.
 */
static int
write_state(const char *folder, const struct json *record)
{
	char *path = mem_printf("%s/" STATE, folder);
	int rc = jsonfile_write(path, record);

	free(path);
	return rc;
}

/* Removes the record, the lock, and the folder if it is empty then. */
static void
remove_state(const char *folder)
{
	static const char *const names[] = {STATE, LOCK};
	char *path;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		path = mem_printf("%s/%s", folder, names[i]);
		unlink(path);
		free(path);
	}
	rmdir(folder); /* fails if it holds other files */
}

/* Returns the record in the folder (caller frees), or NULL. */
static struct json *
read_state(const char *folder)
{
	char *path = mem_printf("%s/" STATE, folder);
	const char *files[] = {path};
	struct json *rec = NULL;
	struct jsonl *in;

	if (access(path, F_OK) == 0) {
		in = jsonl_open(files, 1);
		if (record_next(in, &rec) != 1)
			rec = NULL;
		jsonl_close(in);
	}
	free(path);
	return rec;
}

static bool
is_ok(const struct json *rec)
{
	const char *s = json_get_str(rec, "status");

	return s && strcmp(s, "ok") == 0;
}

static int
show_status(const char *folder, bool quiet)
{
	pid_t pid = find_lock_holder(folder);
	struct json *rec;
	int rc = 1;

	if (pid < 0)
		return 2;
	rec = read_state(folder);
	/* Status ok is outdated if the supervisor has ended. */
	if (rec && (pid || !is_ok(rec))) {
		rc = jsonl_write(STDOUT_FILENO, rec) < 0 ? 2 : !is_ok(rec);
	} else if (!quiet)
		err_say("no server is running in '%s'", folder);
	json_free(rec);
	return rc;
}

/* Sends SIGTERM and waits for the end of the process. Returns 0, or -1 after
 * reporting an error. */
static int
end_process(const char *folder, pid_t pid, int timeout_ms)
{
	struct pollfd fd = {.events = POLLIN};
	int rc = 0;

	fd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd.fd < 0)
		return errno == ESRCH
		    ? 0
		    : err_fail_sys("cannot open process %ld", (long)pid);
	/* With the pidfd open, check that the pid was not reused. */
	if (find_lock_holder(folder) == pid &&
	    syscall(SYS_pidfd_send_signal, fd.fd, SIGTERM, NULL, 0) < 0 &&
	    errno != ESRCH)
		rc = err_fail_sys("cannot stop process %ld", (long)pid);
	else if (poll(&fd, 1, timeout_ms) <= 0)
		rc = err_fail("process %ld did not end", (long)pid);
	close(fd.fd);
	return rc;
}

/* Return exit statuses; write records to stdout. */
static int
stop_supervisor(const char *folder, int timeout_ms, bool quiet)
{
	pid_t pid = find_lock_holder(folder);
	struct json *rec, *out;
	int rc = 0;

	if (pid < 0)
		return 2;
	rec = read_state(folder);
	if (pid && end_process(folder, pid, timeout_ms) < 0)
		rc = 2;
	else if (rec && !is_ok(rec)) {
		err_say("server '%s' had failed", json_get_str(rec, "id"));
		remove_state(folder);
		rc = 1;
	} else if (pid && rec) {
		out = fleet_make_stopped(json_get_str(rec, "id"));
		rc = jsonl_write(STDOUT_FILENO, out) < 0 ? 2 : 0;
		json_free(out);
	} else if (!quiet)
		err_say("no server is running in '%s'", folder);
	json_free(rec);
	return rc;
}

/* --follow: reads 'spec' records from stdin, writes 'server' records to
 * stdout. */

/* A server that was started; 'fleet' is NULL once it has ended by itself. */
struct entry {
	char *id;
	struct fleet *fleet;
};

struct following {
	struct shared *shared;
	struct entry *v;
	size_t n, cap;
	struct str in; /* input after the last newline */
	size_t lineno;
	bool trouble;
	int broken; /* 1: cannot write to stdout; -1: its reader has ended */
};

static bool
is_reader_gone(void)
{
	struct pollfd fd = {.fd = STDOUT_FILENO};

	return poll(&fd, 1, 0) > 0;
}

/* Writes the record to stdout and frees it. */
static void
write_answer(struct following *w, struct json *rec)
{
	if (!w->broken && is_reader_gone())
		w->broken = -1;
	if (!w->broken && jsonl_write(STDOUT_FILENO, rec) < 0)
		w->broken = errno == EPIPE ? -1 : 1;
	json_free(rec);
}

static struct entry *
find_entry(struct following *w, const char *id)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->v[i].id, id) == 0)
			return &w->v[i];
	return NULL;
}

static void
start_server(struct following *w, const char *id, struct json *spec)
{
	struct entry *e = find_entry(w, id);
	struct json *rec;
	struct fleet *f;

	if (e && e->fleet) {
		rec = fleet_make_failed(id, "it is already running");
		json_free(spec);
		write_answer(w, rec);
		return;
	}
	if (!e) {
		e = MEM_ADD(w->v, w->n, w->cap);
		e->id = mem_str(id);
	}
	f = fleet_start(w->shared, spec, &rec);
	e->fleet = f;
	if (!f) {
		free(e->id);
		*e = w->v[--w->n];
	}
	write_answer(w, rec);
}

static void
stop_server(struct following *w, const char *id)
{
	struct entry *e = find_entry(w, id);
	struct json *rec;

	if (!e)
		rec = fleet_make_failed(id, "it is not running");
	else {
		if (e->fleet)
			fleet_stop(e->fleet, &rec);
		else /* its end was reported when it happened */
			rec = fleet_make_stopped(id);
		free(e->id);
		*e = w->v[--w->n];
	}
	write_answer(w, rec);
}

static void
refuse_spec(struct following *w, const struct json *spec, const char *where,
    const char *why)
{
	const char *id = json_get_str(spec, "id");
	char *text = mem_printf("%s: %s", where, why);

	w->trouble = true;
	write_answer(w, fleet_make_failed(id ? id : "", text));
	free(text);
}

static void
handle_line(struct following *w, const char *line, size_t len)
{
	char where[40];
	const char *why = NULL, *action;
	struct json *spec;
	char *id;

	snprintf(where, sizeof where, "stdin:%zu", ++w->lineno);
	if (strspn(line, " \t\r") == len)
		return;
	spec = json_parse(line, len, &why, NULL);
	if (!spec || json_type(spec) != JSON_OBJECT)
		refuse_spec(w, NULL, where, why ? why : "not an object");
	else if (record_check(spec, where) < 0)
		refuse_spec(w, spec, where, "not a valid record");
	else if (!record_is(spec, "spec"))
		refuse_spec(w, spec, where, "not a 'spec' record");
	else {
		action = json_get_str(spec, "action");
		id = mem_str(json_get_str(spec, "id"));
		if (!action || strcmp(action, "start") == 0) {
			start_server(w, id, spec);
			spec = NULL;
		} else if (strcmp(action, "stop") == 0)
			stop_server(w, id);
		else
			refuse_spec(
			    w, spec, where, "'action' is not start or stop");
		free(id);
	}
	json_free(spec);
}

/* Reads input and handles its lines. Returns 0 at the end of input, else 1. */
static int
read_input(struct following *w)
{
	char buf[65536], *line, *end;
	ssize_t n = read(STDIN_FILENO, buf, sizeof buf);
	size_t done;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (n < 0) {
		w->trouble = true;
		err_fail_sys("cannot read stdin");
	}
	if (n <= 0)
		return 0;
	str_addn(&w->in, buf, (size_t)n);
	line = w->in.s;
	while (!w->broken && !halt_reason(w->shared->halt, NULL) &&
	    (end = memchr(line, '\n', w->in.len - (size_t)(line - w->in.s)))) {
		*end = '\0';
		handle_line(w, line, (size_t)(end - line));
		line = end + 1;
	}
	done = (size_t)(line - w->in.s);
	w->in.len -= done;
	memmove(w->in.s, line, w->in.len);
	w->in.s[w->in.len] = '\0';
	return 1;
}

static void
report_dead_servers(struct following *w)
{
	struct json *rec;

	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].fleet && fleet_check_end(w->v[i].fleet, &rec)) {
			fleet_stop(w->v[i].fleet, NULL);
			w->v[i].fleet = NULL;
			write_answer(w, rec);
		}
}

/* Waits for one event and handles it. Returns 0 at the end of input, else 1. */
static int
handle_next_event(struct following *w)
{
	struct pollfd *fd;
	size_t n = 3;
	int rc = 1;

	for (size_t i = 0; i < w->n; i++)
		n += w->v[i].fleet ? fleet_count_nodes(w->v[i].fleet) : 0;
	fd = mem_array(n, sizeof *fd);
	fd[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	fd[1] =
	    (struct pollfd){.fd = halt_fd(w->shared->halt), .events = POLLIN};
	fd[2] = (struct pollfd){.fd = STDOUT_FILENO};
	n = 3;
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].fleet) {
			fleet_fill_fds(w->v[i].fleet, fd + n);
			n += fleet_count_nodes(w->v[i].fleet);
		}
	if (poll(fd, n, -1) < 0) {
		if (errno != EINTR)
			err_die("cannot wait: %s", strerror(errno));
	} else if (fd[2].revents) {
		w->broken = -1;
	} else if (!fd[1].revents) {
		report_dead_servers(w);
		if (fd[0].revents)
			rc = read_input(w);
	}
	free(fd);
	return rc;
}

/* Runs until the end of stdin or a signal. Returns the exit status, or -1 if
 * the reader of stdout has ended. */
static int
follow_stdin(struct shared *shared)
{
	struct following w = {.shared = shared};
	size_t left;

	while (!w.broken && !halt_reason(shared->halt, NULL))
		if (handle_next_event(&w) == 0)
			break;
	left = w.in.len;
	if (left && !w.broken && !halt_reason(shared->halt, NULL)) {
		w.trouble = true;
		err_say("stdin:%zu: torn record: the last line has no newline",
		    w.lineno + 1);
	}
	for (size_t i = 0; i < w.n; i++) {
		fleet_stop(w.v[i].fleet, NULL);
		free(w.v[i].id);
	}
	free(w.v);
	str_free(&w.in);
	if (w.broken < 0)
		return -1;
	return w.trouble || w.broken ? 2 : 0;
}

/* Makes a 'spec' record from a file and command-line options. */
struct specopts {
	const char *server, *host, *config_file, *rdb;
	long long port, primaries, replicas, io_threads;
	bool unixsocket, tls, no_aslr;
	struct opt_list cpus, config, module;
};

/* Warns of unknown keys, which are probably misspelt. */
static void
warn_unknown(const struct json *spec, const char *where)
{
	const struct record_type *t = record_types;
	const char *names[64] = {0};
	char hint[STR_HINT];
	bool known;

	while (strcmp(t->name, "spec") != 0)
		t++;
	for (size_t i = 0; i < 63 && t->keys[i].path; i++)
		names[i] = t->keys[i].path;
	for (const struct json *j = json_first(spec); j; j = json_next(j)) {
		known = strcmp(json_key(j), "type") == 0 ||
		    strcmp(json_key(j), "v") == 0;
		for (size_t i = 0; names[i] && !known; i++)
			known = strcmp(names[i], json_key(j)) == 0;
		if (known)
			continue;
		err_say("%s: unknown key '%s' is ignored%s", where, json_key(j),
		    str_hint(hint, json_key(j), names));
	}
}

static int
add_config(struct json *spec, const char *text)
{
	const char *eq = strchr(text, '=');
	struct json *section = json_get(spec, "config"), *lines;
	bool words;
	char *name;

	if (!eq || eq == text)
		return err_fail(
		    "option '--config': '%s' is not NAME=VALUE", text);
	if (!section) {
		json_set(spec, "config", json_object());
		section = json_get(spec, "config");
	}
	name = mem_strn(text, (size_t)(eq - text));
	if (!config_has_lines(name, &words))
		json_set_str(section, name, eq + 1);
	else {
		lines = json_detach(section, name);
		if (!lines || json_type(lines) != JSON_ARRAY) {
			json_free(lines);
			lines = json_array();
		}
		json_push(lines, json_string(eq + 1));
		json_set(section, name, lines);
	}
	free(name);
	return 0;
}

static void
add_module(struct json *list, const char *text)
{
	char *all = mem_str(text), *rest = all, *word = strsep(&rest, " ");
	struct json *m = json_object(), *args = json_array();

	json_set_str(m, "path", word);
	while ((word = strsep(&rest, " ")))
		if (*word)
			json_push(args, json_string(word));
	json_set(m, "args", args);
	json_push(list, m);
	free(all);
}

/* Adds the options; they override the file. */
static int
add_options(struct json *spec, const struct specopts *o)
{
	struct json *list;

	json_set_str(spec, "server", o->server);
	json_set_str(spec, "host", o->host);
	json_set_str(spec, "config_file", o->config_file);
	json_set_str(spec, "rdb", o->rdb);
	if (o->port)
		json_set_num(spec, "port", (double)o->port);
	if (o->primaries)
		json_set_num(spec, "primaries", (double)o->primaries);
	if (o->replicas)
		json_set_num(spec, "replicas", (double)o->replicas);
	if (o->io_threads)
		json_set_num(spec, "io_threads", (double)o->io_threads);
	if (o->unixsocket)
		json_set_bool(spec, "unixsocket", true);
	if (o->tls)
		json_set_bool(spec, "tls", true);
	if (o->no_aslr)
		json_set_bool(spec, "aslr", false);
	list = o->cpus.n ? json_array() : NULL;
	for (size_t i = 0; i < o->cpus.n; i++)
		json_push(list, json_string(o->cpus.v[i]));
	json_set(spec, "cpus", list);
	list = o->module.n ? json_array() : NULL;
	for (size_t i = 0; i < o->module.n; i++)
		add_module(list, o->module.v[i]);
	json_set(spec, "modules", list);
	for (size_t i = 0; i < o->config.n; i++)
		if (add_config(spec, o->config.v[i]) < 0)
			return -1;
	return 0;
}

/*
 * Returns the 'spec' record of 'file' (or NULL) and the options, which
 * override it. Warns of unknown keys unless 'quiet'. Caller frees. Returns NULL
 * after reporting an error.
 */
static struct json *
specopts_make(const struct specopts *o, const char *file, bool quiet)
{
	struct json *spec = record_new("spec"), *j;
	const char *where = file ? file : "options";

	if (file) {
		j = jsonfile_read(file);
		if (!j)
			goto bad;
		if (json_type(j) != JSON_OBJECT) {
			err_say("%s: not an object", inputs_name(file));
			json_free(j);
			goto bad;
		}
		if (!quiet)
			warn_unknown(j, where);
		for (struct json *k = json_first(j); k; k = json_next(k))
			json_set(spec, json_key(k), json_dup(k));
		json_free(j);
	}
	if (!json_get(spec, "id"))
		json_set_str(spec, "id", "server");
	/* 'config' must be an object before an option is added to it. */
	if (record_check(spec, where) < 0)
		goto bad;
	if (!record_is(spec, "spec")) {
		err_say("%s: not a 'spec' record", where);
		goto bad;
	}
	if (add_options(spec, o) == 0)
		return spec;
bad:
	json_free(spec);
	return NULL;
}

struct opts {
	const char *out, *dir, *logs;
	double wait, grace;
	bool quiet, follow, keep;
	struct specopts spec;
};

#define AT(field) offsetof(struct opts, field)

static const struct opt table[] = {
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print only errors",
	.group = "Start and stop"},
    {'o', "output", OPT_STR, AT(out), "FILE",
	.help = "write the server record to FILE"},
    {0, "follow", OPT_FLAG, AT(follow),
	.help = "read specs from stdin, write server records to stdout"},
    {0, "dir", OPT_STR, AT(dir), "DIR",
	.help = "use and keep DIR as run directory"},
    {0, "keep", OPT_FLAG, AT(keep), .help = "keep the run directory"},
    {0, "logs", OPT_STR, AT(logs), "DIR", .help = "keep the logs in DIR"},
    {0, "wait", OPT_DURATION, AT(wait), "TIME", .min = 0.001, .max = 86400,
	.help = "give up if it is not ready after TIME (60s)"},
    {0, "grace", OPT_DURATION, AT(grace), "TIME", .min = 0, .max = 3600,
	.help = "wait TIME between SIGTERM and SIGKILL (5s)"},
    {0, "server", OPT_STR, AT(spec.server), "FILE", .help = "server binary",
	.group = "Servers"},
    {0, "host", OPT_STR, AT(spec.host), "ADDRESS", .help = "address to bind"},
    {'p', "port", OPT_INT, AT(spec.port), "PORT", .min = 0, .max = 65535,
	.help = "first port; 0 chooses free ports"},
    {0, "unixsocket", OPT_FLAG, AT(spec.unixsocket),
	.help = "listen on a unix socket too"},
    {0, "tls", OPT_FLAG, AT(spec.tls), .help = "use TLS instead of plain TCP"},
    {0, "primaries", OPT_INT, AT(spec.primaries), "N", .min = 1, .max = 1000,
	.help = "start a cluster of N primaries"},
    {0, "replicas", OPT_INT, AT(spec.replicas), "N", .min = 0, .max = 100,
	.help = "start N replicas of each primary"},
    {0, "io-threads", OPT_INT, AT(spec.io_threads), "N", .min = 1, .max = 1024,
	.help = "I/O threads of the server",
	.group = "Settings of each server"},
    {0, "cpus", OPT_LIST, AT(spec.cpus), "LIST",
	.help = "pin the next node to CPUs, such as 0-3,8"},
    {0, "config", OPT_LIST, AT(spec.config), "NAME=VALUE",
	.help = "change a setting of the server"},
    {0, "config-file", OPT_STR, AT(spec.config_file), "FILE",
	.help = "read this server configuration first"},
    {0, "module", OPT_LIST, AT(spec.module), "FILE",
	.help = "load a module; append its arguments after blanks"},
    {0, "rdb", OPT_STR, AT(spec.rdb), "FILE", .help = "load a copy of FILE"},
    {0, "no-aslr", OPT_FLAG, AT(spec.no_aslr),
	.help = "disable address randomisation"},
    {0}};

static const struct opt_prog prog = {.name = "vkb-serve",
    .operands = "[start | stop | status] [SPEC] [-- COMMAND ...]",
    .purpose = "Run Valkey servers, and stop them in any case.",
    .table = table};

/* --- what all modes use */

struct resources {
	struct shared shared;
	struct rundir rundir;
};

static int
open_resources(struct resources *h, const struct opts *o, bool caller)
{
	*h = (struct resources){.shared = {.rundir = &h->rundir,
				    .quiet = o->quiet,
				    .wait_ms = (int)(o->wait * 1000),
				    .grace_ms = (int)(o->grace * 1000)}};
	signal(SIGPIPE, SIG_IGN);
	if (o->logs) {
		if (mkdir(o->logs, 0777) < 0 && errno != EEXIST)
			return err_fail_sys("cannot make folder '%s'", o->logs);
		h->shared.logs = realpath(o->logs, NULL);
		if (!h->shared.logs)
			return err_fail_sys("cannot use folder '%s'", o->logs);
	}
	h->shared.halt = halt_open(caller);
	if (!h->shared.halt)
		return -1;
	return rundir_make(&h->rundir, o->dir, o->keep);
}

static void
close_resources(struct resources *h)
{
	rundir_close(&h->rundir);
	tls_context_free(h->shared.tls);
	free(h->shared.hashes);
	free(h->shared.logs);
}

/* As close_resources; if a signal asked to halt, ends the program by it. */
static int
close_resources_and_raise(struct resources *h, int status)
{
	bool stopped = h->shared.halt && halt_reason(h->shared.halt, NULL);

	close_resources(h);
	halt_finish(h->shared.halt);
	return stopped ? 2 : status;
}

static int
write_record(const char *file, const struct json *rec)
{
	if (!file)
		return 0;
	if (strcmp(file, "-") == 0)
		return jsonl_write(STDOUT_FILENO, rec);
	return jsonfile_write(file, rec);
}

/* --- --follow */

static int
run_follow(const struct opts *o)
{
	struct resources h;
	int rc = 2;

	if (open_resources(&h, o, true) == 0)
		rc = follow_stdin(&h.shared);
	rc = close_resources_and_raise(&h, rc);
	if (rc >= 0)
		return rc;
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	return 2;
}

/* --- COMMAND */

static void
set_env(const char *name, const char *value)
{
	if ((value ? setenv(name, value, 1) : unsetenv(name)) < 0)
		err_die("out of memory");
}

static void
set_environment(const struct fleet *f, const struct json *rec)
{
	const struct json *n = json_first(json_get(rec, "nodes"));
	const struct json *tls = json_get(rec, "tls");
	struct str all = {0};
	char text[32];
	char *json = json_print(rec);

	set_env("VKB_SERVER", json);
	free(json);
	set_env("VKB_HOST", json_get_str(n, "host"));
	snprintf(text, sizeof text, "%.0f", json_get_num(n, "port", 0));
	set_env("VKB_PORT", text);
	snprintf(text, sizeof text, "%.0f", json_get_num(n, "pid", 0));
	set_env("VKB_PID", text);
	set_env("VKB_SOCKET", json_get_str(n, "unixsocket"));
	set_env("VKB_DIR", json_get_str(rec, "dir"));
	set_env("VKB_TLS_CACERT", json_get_str(tls, "cacert"));
	set_env("VKB_TLS_CERT", json_get_str(tls, "cert"));
	set_env("VKB_TLS_KEY", json_get_str(tls, "key"));
	set_env("VKB_PASSWORD", fleet_password(f));
	for (; n; n = json_next(n))
		str_printf(&all, "%s%s:%.0f", all.len ? " " : "",
		    json_get_str(n, "host"), json_get_num(n, "port", 0));
	set_env("VKB_NODES", all.s);
	str_free(&all);
}

static int
wait_for_command(struct shared *s, struct fleet *f, struct proc *p)
{
	size_t n = fleet_count_nodes(f) + 2;
	struct pollfd *fd = mem_array(n, sizeof *fd);
	struct json *rec;
	bool tty;
	int status = -1, reason;

	while (status < 0) {
		fd[0] = (struct pollfd){.fd = proc_fd(p), .events = POLLIN};
		fd[1] =
		    (struct pollfd){.fd = halt_fd(s->halt), .events = POLLIN};
		fleet_fill_fds(f, fd + 2);
		if (poll(fd, (nfds_t)n, -1) < 0 && errno != EINTR)
			err_die("cannot wait: %s", strerror(errno));
		if (proc_wait(p, 0, &status)) {
			status = proc_exit_status(status);
			break;
		}
		reason = halt_reason(s->halt, &tty);
		if (reason) {
			if (reason > 0 && !tty)
				proc_signal(p, reason);
			if (reason < 0 || !proc_wait(p, s->grace_ms, NULL))
				proc_stop(p, s->grace_ms);
			status = 125;
		} else if (fleet_check_end(f, &rec)) {
			json_free(rec);
			proc_stop(p, s->grace_ms);
			status = 125;
		}
	}
	free(fd);
	return status;
}

/*
 * Runs the command with the server's address in its environment. Returns the
 * exit status: the command's; 128 + its signal; 125 if the server ended before
 * it, or a signal stopped it; 126 or 127 if it cannot be run.
 */
static int
run_beside_server(
    struct shared *s, struct fleet *f, const struct json *rec, char **argv)
{
	struct proc_spec spec = {
	    .argv = (const char *const *)argv, .death_signal = SIGTERM};
	struct proc *p;
	int status;

	set_environment(f, rec);
	p = proc_start(&spec);
	if (!p)
		return errno == ENOENT ? 127 : 126;
	status = wait_for_command(s, f, p);
	proc_free(p);
	return status;
}

static int
run_command(const struct opts *o, struct json *spec, char **argv)
{
	struct json *rec = NULL;
	struct fleet *f = NULL;
	struct resources h;
	int rc = 125;

	if (open_resources(&h, o, true) < 0)
		json_free(spec);
	else
		f = fleet_start(&h.shared, spec, &rec);
	if (rec && write_record(o->out, rec) == 0 && f)
		rc = run_beside_server(&h.shared, f, rec, argv);
	fleet_stop(f, NULL);
	json_free(rec);
	return close_resources_and_raise(&h, rc);
}

/* --- start, stop, status */

/* Waits until a signal or the end of a node, then stops and frees *f. */
static void
wait_for_stop(struct shared *s, struct fleet **f, const char *folder)
{
	size_t n = fleet_count_nodes(*f) + 1;
	struct pollfd *fd = mem_array(n, sizeof *fd);
	struct json *rec = NULL;

	fleet_fill_fds(*f, fd);
	fd[n - 1] = (struct pollfd){.fd = halt_fd(s->halt), .events = POLLIN};
	while (poll(fd, (nfds_t)n, -1) < 0 && errno == EINTR)
		;
	if (!halt_reason(s->halt, NULL) && fleet_check_end(*f, &rec)) {
		write_state(folder, rec);
		json_free(rec);
		fleet_stop(*f, NULL);
	} else {
		fleet_stop(*f, NULL);
		remove_state(folder);
	}
	*f = NULL;
	free(fd);
}

/* Runs the background process; writes its record to 'out' for its parent. */
static int
run_background(
    const struct opts *o, struct json *spec, const char *folder, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct json *rec = NULL;
	struct fleet *f = NULL;
	struct resources h;
	bool given;

	setsid();
	if (open_resources(&h, o, false) < 0)
		json_free(spec);
	else
		f = fleet_start(&h.shared, spec, &rec);
	given = rec && (!f || write_state(folder, rec) == 0) &&
	    jsonl_write(out, rec) == 0;
	json_free(rec);
	close(out);
	if (f && given) {
		for (int i = 0; i < 3; i++)
			dup2(null, i);
		wait_for_stop(&h.shared, &f, folder);
	} else {
		fleet_stop(f, NULL);
		remove_state(folder);
	}
	close_resources(&h);
	halt_close(h.shared.halt);
	close(null);
	return 0;
}

/*
 * Moves 'fd' to 3 and closes all above: a pipe of the caller must not stay open
 * in the background process, or its reader would wait for us.
 */
static int
close_other_fds(int fd)
{
	if (fd != 3 && dup3(fd, 3, O_CLOEXEC) < 0)
		err_die("cannot duplicate a descriptor: %s", strerror(errno));
	if (syscall(SYS_close_range, 4, ~0U, 0) < 0)
		for (int i = 4; i < sysconf(_SC_OPEN_MAX); i++)
			close(i);
	return 3;
}

static int
run_start(const struct opts *o, struct json *spec, const char *folder)
{
	struct json *rec = NULL;
	struct jsonl *in;
	const char *status;
	int fds[2], rc = 2, got, ended;
	char how[80];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		json_free(spec);
		err_fail_sys("cannot start the background process");
		return 2;
	}
	if (pid == 0) {
		fds[1] = close_other_fds(fds[1]);
		if (lock_server(folder) < 0) {
			json_free(spec);
			exit(2);
		}
		exit(run_background(o, spec, folder, fds[1]));
	}
	json_free(spec);
	close(fds[1]);
	in = jsonl_fd(fds[0], "the background process");
	got = jsonl_next(in, &rec);
	if (got == 1 && write_record(o->out ? o->out : "-", rec) == 0 &&
	    (status = json_get_str(rec, "status")) && strcmp(status, "ok") == 0)
		rc = 0;
	else {
		if (got) /* the record is lost; without one it ends itself */
			kill(pid, SIGTERM);
		if (waitpid(pid, &ended, 0) == pid && !got &&
		    WIFSIGNALED(ended))
			err_say("the background process %s",
			    proc_ended(ended, how, sizeof how));
	}
	json_free(rec);
	jsonl_close(in);
	return rc;
}

static int
run_verb(const struct opts *o, const struct opt_args *a)
{
	char *folder = o->dir ? mem_str(o->dir) : find_state_folder();
	struct json *spec;
	int rc = 2;

	if (strcmp(a->v[0], "start") == 0) {
		spec = specopts_make(
		    &o->spec, a->n > 1 ? a->v[1] : NULL, o->quiet);
		if (spec)
			rc = run_start(o, spec, folder);
	} else if (a->n > 1)
		opt_usage(&prog, "stop and status take no SPEC");
	else if (strcmp(a->v[0], "stop") == 0)
		rc = stop_supervisor(
		    folder, (int)(o->grace * 1000) + 20000, o->quiet);
	else
		rc = show_status(folder, o->quiet);
	free(folder);
	return rc;
}

static bool
is_verb(const char *s)
{
	return strcmp(s, "start") == 0 || strcmp(s, "stop") == 0 ||
	    strcmp(s, "status") == 0;
}

static int
run_serve(void *opts, struct opt_args *a)
{
	const struct opts *o = opts;
	struct json *spec;

	if (o->follow && (a->n || a->rest))
		return opt_usage(
		    &prog, "--follow takes no SPEC and no COMMAND");
	if (o->follow)
		return run_follow(o);
	if (!a->rest && a->n >= 1 && a->n <= 2 && is_verb(a->v[0]))
		return run_verb(o, a);
	if (!a->nrest || a->n > 1)
		return opt_usage(
		    &prog, "give start, stop, status, --follow or a COMMAND");
	spec = specopts_make(&o->spec, a->n ? a->v[0] : NULL, o->quiet);
	return spec ? run_command(o, spec, a->rest) : 125;
}

int
main(int argc, char **argv)
{
	struct opts o = {.wait = 60, .grace = 5};

	return opt_main(&prog, argc, argv, &o, run_serve);
}
