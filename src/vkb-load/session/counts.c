#include "counts.h"
#include "caserunner.h"
#include "cgroup.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "num.h"
#include "proc.h"
#include "progress.h"
#include "results.h"
#include "schedule.h"
#include "sink.h"
#include "statusline.h"
#include "str.h"
#include "vkb-load/case/coproc.h"
#include "vkb-load/case/counting.h"
#include "vkb-load/case/resultrecord.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/logs.h"
#include "vkb-load/case/measure.h"
#include "vkb-load/case/memory.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/plan/builds.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Does the session fail if the case, which is counted, cannot be? */
static bool
is_demanded(const struct counts_opts *o, const struct bench_case *c)
{
	return o->all || (o->only && !o->possible) || c->count;
}

bool
counts_any(const struct schedule *a)
{
	for (size_t i = 0; i < a->ncases; i++)
		if (a->cases[i].counted)
			return true;
	return false;
}

/* Chooses the cases. 0, or -1 after reporting each that must be counted and
 * cannot be. Names one of the others that cannot be. */
static int
choose_cases(const struct counts_opts *o, struct schedule *a)
{
	char *why, *first = NULL;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < a->ncases; i++) {
		struct bench_case *c = &a->cases[i];

		if (!o->all && !o->only && !o->possible && !c->count)
			continue;
		why = counting_refuse(c);
		c->counted = !why;
		c->demanded = is_demanded(o, c);
		if (why && ((o->only && !o->possible) || c->count))
			rc = err_fail("%s: its instructions cannot be "
				      "counted: %s",
			    c->id, why);
		else if (why && !n++)
			first = mem_printf("%s: %s", c->id, why);
		free(why);
	}
	if (n)
		err_say("the instructions of %zu case%s are not counted (%s)",
		    n, num_plural((double)n), first);
	free(first);
	return rc;
}

/* Valgrind would count the shell that runs a script. Returns why a server
 * cannot be counted, or NULL. Caller frees. */
static char *
refuse_scripts(const struct builds *b)
{
	char *why = NULL;

	for (size_t i = 0; i < b->n && !why; i++) {
		const char *name = json_get_str(b->v[i], "server");
		char *path =
		    proc_find(name ? name : "valkey-server", getenv("PATH"));

		if (path && proc_is_script(path))
			why = mem_printf("'count' needs the server program "
					 "itself, '%s' is a script: name the "
					 "program that it starts",
			    path);
		free(path);
	}
	return why;
}

/* Keeps only the cases that must be counted, where nothing can be. Returns
 * whether there are any. */
static bool
drop_possible(const struct counts_opts *o, struct schedule *a)
{
	bool demanded = false;

	for (size_t i = 0; i < a->ncases; i++) {
		a->cases[i].counted &= is_demanded(o, &a->cases[i]);
		demanded |= a->cases[i].counted;
	}
	return demanded;
}

int
counts_choose(const struct counts_opts *o, struct schedule *a, bool running)
{
	int rc = choose_cases(o, a);
	char *why = NULL;

	if (!counts_any(a))
		return rc;
	if (running)
		why = mem_str("instructions are counted on servers that "
			      "vkb-load starts, not on a running one");
	if (!why)
		why = counting_find_obstacle();
	if (!why)
		why = refuse_scripts(a->builds);
	if (why && drop_possible(o, a))
		rc = err_fail("%s", why);
	else if (why)
		err_say("nothing is counted: %s", why);
	free(why);
	return rc;
}

/* One count: a case on a build, for the first or second time. */
struct count {
	size_t cas;
	struct turn turn;
	pid_t pid;   /* of the process that makes it; 0: there is none */
	int records; /* its records and its messages: files in memory */
	int messages;
	int its_turn; /* an eventfd: the counts before it are written */
};

struct counts {
	struct case_runner *runner;
	struct count *v;
	size_t n, begun, taken;
	double *shares; /* of each that are done; shared with its process */
	bool verbose;
	bool *is_named;   /* of each build: its server was named */
	double *before;   /* instructions of each part of the case on the first
			   * server of the build; NAN: not known */
	bool is_hopeless; /* the case counted nothing on this build */
	struct str messages; /* of the count before */
};

/* Has the file a count of this part? */
static bool
is_counted(
    const struct schedule *a, const struct json *config, const struct turn *t)
{
	return results_find(a->results,
	    json_get(a->builds->v[t->build], "subject"), config, t->index,
	    true);
}

/* Are all parts of the case counted? Where none is demanded, those of which the
 * server refused some were tried, too, as all are written at once. */
static bool
is_finished(const struct schedule *a, size_t cas, const struct turn *turn)
{
	const struct roles *r = &a->roles[cas];
	size_t found = 0;

	for (size_t i = 0; i < r->nown; i++)
		found += is_counted(a, r->v[i].config, turn);
	return found == r->nown || (found && !a->cases[cas].demanded);
}

/* Returns the *n counts to be made, case by case; caller frees. */
static struct count *
list_counts(const struct schedule *a, size_t *n)
{
	struct count *v =
	    mem_array(a->ncases * a->builds->n * COUNTING_RUNS + 1, sizeof *v);
	struct turn t = {0};

	*n = 0;
	for (size_t i = 0; i < a->ncases; i++)
		for (t.build = 0; t.build < a->builds->n; t.build++)
			for (t.index = 1; t.index <= COUNTING_RUNS; t.index++)
				if (a->cases[i].counted &&
				    !is_finished(a, i, &t))
					v[(*n)++] =
					    (struct count){.cas = i, .turn = t};
	return v;
}

/* Returns how many servers of a case can be counted at once: where a port is
 * given, one has it; else as many as there is memory for the values of. */
static size_t
limit_number(const struct bench_case *c, size_t most)
{
	char *why;

	if (!c->counted)
		return most;
	if (json_get(c->server, "port"))
		return 1;
	while (most > 1 && (why = memory_explain_case(c, most))) {
		free(why);
		most--;
	}
	return most;
}

/* Returns how many of n counts are made at once, one on each CPU: they do not
 * depend on what else runs. No more than a case has. 'serve': it is elsewhere,
 * or NULL. */
static size_t
choose_number(const struct schedule *a, const struct serve *serve, size_t n)
{
	size_t cpus = (size_t)cgroup_count_cpus(""),
	       most = a->builds->n * COUNTING_RUNS;

	if (serve)
		return 1;
	most = cpus < most ? cpus : most;
	for (size_t i = 0; i < a->ncases; i++)
		most = limit_number(&a->cases[i], most);
	return most < n ? most : n;
}

void
counts_announce(const struct schedule *a, const struct serve *serve)
{
	size_t n, cases = 0, at_once;
	struct count *v = list_counts(a, &n);
	char how[64] = " one after the other", buf[NUM_BUF];
	double cost_s = 0;

	for (size_t i = 0; i < n; i++) {
		cost_s += counting_cost(&a->roles[v[i].cas]);
		cases += !i || v[i].cas != v[i - 1].cas;
	}
	free(v);
	at_once = choose_number(a, serve, n);
	if (at_once > 1)
		snprintf(how, sizeof how, ", %zu at a time", at_once);
	if (n)
		err_say("the instructions of %zu case%s are counted first, on "
			"%zu server%s%s: about %s of CPU time, more if the "
			"commands are slow",
		    cases, num_plural((double)cases), n, num_plural((double)n),
		    how, num_seconds(buf, cost_s));
}

/* --- the process that makes a count ------------------------------------- */

static void
share_progress(void *arg, const struct engine_progress *e)
{
	double *share = arg;

	if (!e->seeding)
		*share = e->done;
}

/* Waits until the counts before it are written, which may keep logs, too, or
 * the session ends. */
static void
wait_for_turn(const struct count *c, const volatile int *stop)
{
	struct pollfd p = {.fd = c->its_turn, .events = POLLIN};

	while (!*stop && poll(&p, 1, 200) <= 0)
		continue;
}

static void
report_failure(
    const struct bench_case *cas, struct server_handle *l, struct measure *m)
{
	const char *log = logs_keep(l->logs);

	for (size_t i = 0; i < m->roles.n; i++)
		result_record_fail(m->recs[i],
		    m->error.len ? m->error.s : "the run was interrupted");
	err_say("%s: not counted: %s%s%s%s", cas->id,
	    json_get_str(m->recs[0], "error"),
	    log ? "; the log of its server is kept in '" : "", log ? log : "",
	    log ? "'" : "");
}

/* Hands the session the run records of all parts, and, unless rc is -1, the
 * profiles of the first server. Returns 0, or -1 after reporting an error. */
static int
hand_over(const struct count *c, struct measure *m, int rc)
{
	struct json *all = json_object(), *runs = json_array();

	for (size_t i = 0; i < m->roles.n; i++) {
		if (!json_get(m->recs[i], "status"))
			json_set_str(m->recs[i], "status", "ok");
		json_push(runs, json_dup(m->recs[i]));
	}
	json_set(all, "runs", runs);
	if (rc == 0 && c->turn.index == 1)
		json_set(all, "profiles", json_dup(m->profiled));
	return jsonl_write(c->records, all);
}

/* Counts have the CPUs that are free, and not those that were chosen for the
 * server of a measured run. */
static struct bench_case
unpin_case(const struct bench_case *c)
{
	struct bench_case own = *c;

	if (c->placed) {
		own.server_cpus = own.client_cpus_each = NULL;
		own.client_cpus = NULL;
	}
	own.unplaced = true;
	return own;
}

/* Returns 0; 1 if the case failed; 2 if it was interrupted. */
static int
count_case(struct case_runner *r, const struct count *c)
{
	struct case_context *x = &r->context;
	const struct json *build = r->schedule->builds->v[c->turn.build];
	struct bench_case cas = unpin_case(&r->schedule->cases[c->cas]);
	struct server_handle l = {.context = x, .build = build, .count = true};
	struct measure m;
	char *why;
	int rc;

	snprintf(x->run_name, sizeof x->run_name, "count-%zu", c->turn.index);
	measure_init(&m, x, &cas, build, c->turn.index, 0);
	measure_count(&m);
	rc = handle_start(&l, &cas, &why);
	rc = rc < 0 ? measure_fail(&m, why) : measure_run(&m, &l);
	if (handle_end(&l, &why) < 0)
		rc = measure_fail(&m, why);
	coproc_close(x->coproc);
	if (rc < 0)
		wait_for_turn(c, x->stop);
	if (*x->stop)
		return 2;
	if (rc < 0)
		report_failure(&cas, &l, &m);
	handle_free(&l);
	return hand_over(c, &m, rc) < 0 ? 2 : rc < 0;
}

/* Closes the files of the session in its child, since a copy of a descriptor
 * keeps their locks, but what it writes to. */
static void
close_files(const struct count *c)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	struct stat st;
	int fd;

	while (d && (e = readdir(d))) {
		fd = atoi(e->d_name);
		if (fd > STDERR_FILENO && fd != c->records &&
		    fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
			close(fd);
	}
	if (d)
		closedir(d);
}

/* Runs in the child of a fork. It shows nothing: that is for the session. */
static _Noreturn void
make_count(const struct counts *s, const struct count *c, pid_t session)
{
	struct case_context *x = &s->runner->context;

	setpgid(0, 0); /* ^C is for the session, which stops this process */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != session || dup2(c->messages, STDERR_FILENO) < 0 ||
	    dup2(c->messages, STDOUT_FILENO) < 0)
		_exit(2);
	close_files(c);
	err_before(NULL);
	if (s->is_named[c->turn.build])
		x->started = NULL;
	x->hdr = NULL;
	x->live = NULL;
	x->show = share_progress;
	x->progress = &s->shares[c - s->v];
	_exit(count_case(s->runner, c));
}

/* --- the session -------------------------------------------------------- */

static int
begin_count(struct counts *s, struct count *c)
{
	const struct schedule *a = s->runner->schedule;
	pid_t session = getpid();
	char *who = schedule_format_build(a, &c->turn);

	if (s->verbose)
		err_say("%s%s count %zu of %d", a->cases[c->cas].id, who,
		    c->turn.index, COUNTING_RUNS);
	free(who);
	c->records = memfd_create("records", MFD_CLOEXEC);
	c->messages = memfd_create("messages", MFD_CLOEXEC);
	c->its_turn = eventfd(0, EFD_CLOEXEC);
	c->pid =
	    c->records < 0 || c->messages < 0 || c->its_turn < 0 ? -1 : fork();
	if (c->pid < 0)
		return err_fail_sys("cannot start a process that counts");
	if (c->pid == 0)
		make_count(s, c, session);
	s->is_named[c->turn.build] = true;
	s->runner->context.order += a->roles[c->cas].n;
	s->runner->context.servers++;
	return 0;
}

/* Waits for the end of a process. Returns its wait status. */
static int
end_process(struct count *c)
{
	int status = 0;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	c->pid = 0;
	return status;
}

/* Ends what a count uses, and its process. */
static void
end_count(struct count *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGTERM);
		end_process(c);
	}
	close(c->records);
	close(c->messages);
	close(c->its_turn);
}

static void
draw_progress(const struct counts *s)
{
	struct engine_progress e = {.done = (double)s->taken};

	for (size_t i = s->taken; i < s->begun; i++)
		e.done += s->shares[i];
	e.done /= (double)s->n;
	progress_draw(&s->runner->schedule->progress, &e);
}

/* Shows the progress until the process has ended, or the session is stopped.
 * Returns 0, or -1 after reporting an error. */
static int
watch_count(const struct counts *s, const struct count *c)
{
	struct schedule *a = s->runner->schedule;
	char *who = schedule_format_build(a, &c->turn);
	uint64_t one = 1;
	struct pollfd p = {
	    .events = POLLIN, .fd = (int)syscall(SYS_pidfd_open, c->pid, 0)};
	struct str name = {0};
	int rc = 0;

	str_printf(&name, "count %zu/%zu, ", s->taken + 1, s->n);
	str_visible(&name, a->names ? a->names[c->cas] : a->cases[c->cas].id);
	str_add(&name, who);
	a->progress.most = false;
	progress_begin(&a->progress, name.s, 0, 0, -1);
	if (p.fd < 0 || write(c->its_turn, &one, sizeof one) != sizeof one)
		rc = err_fail_sys("cannot watch a process that counts");
	while (rc == 0 && !*s->runner->context.stop && poll(&p, 1, 200) <= 0)
		draw_progress(s);
	if (p.fd >= 0)
		close(p.fd);
	a->progress.name = "";
	str_free(&name);
	free(who);
	return rc;
}

/* Adds what a process has written to a file in memory. Returns 0, or -1 after
 * reporting an error. */
static int
read_memory(struct str *s, int fd)
{
	if (lseek(fd, 0, SEEK_SET) < 0 || str_read(s, fd) < 0)
		return err_fail_sys(
		    "cannot read what a process that counts has written");
	return 0;
}

/* Prints what the process has said, but no line that the one before said.
 * Returns 0, or -1 after reporting an error. */
static int
print_messages(struct counts *s, const struct count *c)
{
	struct str now = {0}, news = {0};
	const char *line, *end;
	size_t n;
	int rc = read_memory(&now, c->messages);

	for (line = now.s; line && line < now.s + now.len; line += n) {
		n = (size_t)(now.s + now.len - line);
		end = memchr(line, '\n', n);
		n = end ? (size_t)(end - line) + 1 : n;
		if (!s->messages.len ||
		    !memmem(s->messages.s, s->messages.len, line, n))
			str_addn(&news, line, n);
	}
	statusline_clear();
	if (news.len && sink_write(STDERR_FILENO, news.s, news.len) < 0)
		err_note("cannot write to stderr");
	str_free(&news);
	str_free(&s->messages);
	s->messages = now;
	return rc;
}

/* Prints a message if this server needed another number than the one before. */
static void
compare_servers(const struct role *r, double *before, const struct json *rec)
{
	double now =
	    json_num(json_path(rec, "metrics.instructions_per_req"), NAN);

	if (!isnan(*before) && !isnan(now) && now != *before)
		err_say("%s: its instructions are not exact: %.4f and "
			"%.4f per request on two fresh servers; "
			"vkb-counting(7) says what can be done",
		    r->name, *before, now);
	*before = now;
}

/* Writes the records of a count that the file lacks; those of a part that
 * failed where the case is demanded. Returns as take_count. */
static int
write_records(struct counts *s, const struct count *c, const struct json *all)
{
	struct schedule *a = s->runner->schedule;
	const struct json *runs = json_get(all, "runs");
	const struct json *profiles = json_get(all, "profiles");
	bool demanded = a->cases[c->cas].demanded;
	struct json **v =
	    mem_array(1 + json_len(runs) + json_len(profiles), sizeof *v);
	size_t n = 0;
	int failed = 0;

	if (s->runner->machine)
		v[n++] = s->runner->machine;
	for (struct json *j = json_first(runs); j; j = json_next(j)) {
		if (is_counted(a, json_get(j, "config"), &c->turn))
			continue; /* by a session before */
		failed |= json_get(j, "error") != NULL;
		if (demanded || !json_get(j, "error"))
			v[n++] = j;
	}
	for (struct json *j = json_first(profiles); j; j = json_next(j))
		v[n++] = j;
	if (results_write_all(a->results, v, n) < 0)
		failed = -1;
	s->runner->machine = NULL; /* written once */
	free(v);
	return failed;
}

/* Compares the parts with those of the server before. Returns whether any was
 * counted on one of them. */
static bool
compare_parts(struct counts *s, const struct count *c, const struct json *all)
{
	const struct roles *r = &s->runner->schedule->roles[c->cas];
	const struct json *j = json_first(json_get(all, "runs"));
	bool any = false;

	for (size_t i = 0; i < r->nown && j; i++, j = json_next(j)) {
		compare_servers(&r->v[i], &s->before[i], j);
		any |= !isnan(s->before[i]);
	}
	return any;
}

/* Forgets the server before, which was of another case or build. */
static void
begin_pair(struct counts *s, const struct count *c)
{
	size_t n = s->runner->schedule->roles[c->cas].nown;

	free(s->before);
	s->before = mem_array(n, sizeof *s->before);
	for (size_t i = 0; i < n; i++)
		s->before[i] = NAN;
	s->is_hopeless = false;
	str_clear(&s->messages);
}

/* Waits for a count and writes what it has. Returns 0; 1 if the case or a part
 * of it failed; -1 as counts_run. */
static int
take_count(struct counts *s, struct count *c)
{
	bool demanded = s->runner->schedule->cases[c->cas].demanded;
	struct str text = {0};
	struct json *all;
	const char *why;
	int status, rc;
	char how[80];

	if (s->is_hopeless)
		return 0;
	if (watch_count(s, c) < 0 || *s->runner->context.stop)
		return -1;
	status = end_process(c);
	if (print_messages(s, c) < 0 || *s->runner->context.stop)
		return -1;
	if (proc_exit_status(status) > 1)
		return err_fail("the process that counts %s %s",
		    s->runner->schedule->cases[c->cas].id,
		    proc_ended(status, how, sizeof how));
	if (read_memory(&text, c->records) < 0)
		return -1;
	all = json_parse(text.s, text.len, &why, NULL);
	str_free(&text);
	if (!all)
		return err_fail("the records of a count: %s", why);
	rc = write_records(s, c, all);
	if (!compare_parts(s, c, all) && rc > 0)
		s->is_hopeless = !demanded;
	json_free(all);
	return rc;
}

static bool
is_same_pair(const struct count *a, const struct count *b)
{
	return a->cas == b->cas && a->turn.build == b->turn.build;
}

/* Begins and takes counts in their order. Returns 0 or -1. */
static int
make_counts(struct counts *s, size_t at_once, size_t *failed)
{
	struct count *c;
	int rc = 0;

	for (; s->taken < s->n && rc >= 0; s->taken++) {
		c = &s->v[s->taken];
		if (!s->taken || !is_same_pair(c, c - 1))
			begin_pair(s, c);
		while (
		    s->begun < s->n && s->begun < s->taken + at_once && rc >= 0)
			rc = begin_count(s, &s->v[s->begun++]);
		if (rc >= 0)
			rc = take_count(s, c);
		*failed +=
		    rc > 0 && s->runner->schedule->cases[c->cas].demanded;
		end_count(c);
	}
	for (size_t i = s->taken; i < s->begun; i++)
		if (s->v[i].pid > 0)
			kill(s->v[i].pid, SIGTERM);
	for (size_t i = s->taken; i < s->begun; i++)
		end_count(&s->v[i]);
	return rc < 0 ? -1 : 0;
}

int
counts_run(struct case_runner *r, bool verbose, size_t *failed)
{
	const struct schedule *a = r->schedule;
	struct counts s = {.runner = r, .verbose = verbose};
	int rc = 0;

	s.v = list_counts(a, &s.n);
	s.is_named = mem_array(a->builds->n, sizeof *s.is_named);
	s.shares = mmap(NULL, (s.n + 1) * sizeof *s.shares,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.shares == MAP_FAILED)
		rc = err_fail_sys("cannot share memory");
	else if (s.n)
		rc = make_counts(
		    &s, choose_number(a, r->context.serve, s.n), failed);
	if (s.shares != MAP_FAILED)
		munmap(s.shares, (s.n + 1) * sizeof *s.shares);
	free(s.is_named);
	free(s.before);
	str_free(&s.messages);
	free(s.v);
	return rc;
}
