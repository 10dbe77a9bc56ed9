#include "counts.h"
#include "cgroup.h"
#include "clock.h"
#include "counted.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "proc.h"
#include "progress.h"
#include "record.h"
#include "results.h"
#include "schedule.h"
#include "sink.h"
#include "statusline.h"
#include "str.h"
#include "vkb-load/case/context.h"
#include "vkb-load/case/handle.h"
#include "vkb-load/case/counting.h"
#include "vkb-load/case/resultrecord.h"
#include "vkb-load/case/logs.h"
#include "vkb-load/case/measure.h"
#include "vkb-load/case/room.h"
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

#define SHORT_S 10 /* what takes no longer is not told */
#define TOLD 10    /* parts of a case that a message names */

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

/* What a client takes depends on the configuration of the server alone, so one
 * case of each counts it. */
static void
choose_clients(struct schedule *a, size_t cas)
{
	struct bench_case *c = &a->cases[cas];

	c->counts_clients = c->counted;
	for (size_t i = 0; i < cas; i++)
		if (a->cases[i].counted &&
		    json_equal(a->cases[i].server, c->server))
			c->counts_clients = false;
}

/* One connection wakes up no I/O thread. */
static void
tell_threads(const struct schedule *a)
{
	const struct bench_case *c;
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < a->ncases; i++) {
		c = &a->cases[i];
		if (!c->counted || json_get_num(c->config, "io_threads", 1) < 2)
			continue;
		n++;
		first = first ? first : c->id;
	}
	if (n)
		err_say("the I/O threads of %zu case%s (%s) are idle while "
			"they are counted: what the threads execute is not in "
			"the counts, only in the times",
		    n, num_plural((double)n), first);
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
		choose_clients(a, i);
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
	else
		tell_threads(a);
	free(why);
	return rc;
}

/* One count: a case on a build, for the first or second time. */
struct count {
	size_t cas;
	struct turn turn;
	bool skipped; /* it is not needed */
	pid_t pid;    /* of the process that makes it; 0: there is none */
	int records;  /* its records and its messages: files in memory */
	int messages;
	int its_turn; /* an eventfd: the counts before it are written */
};

/* A case on a build. */
struct pair {
	struct json *first;  /* metrics of its parts on the first server, null
			      * for those without; NULL: not known */
	bool is_hopeless;    /* it counted nothing there */
	struct str messages; /* of that server */
};

struct counts {
	struct case_context *context;
	struct schedule *schedule;
	struct json **machine; /* env record still to be written; or NULL */
	struct count *v;
	size_t n, begun, taken;
	double *shares; /* of each that are done; shared with its process */
	bool verbose, quiet;
	struct pair *pairs; /* by case and build */
	int64_t started;    /* ns of clock_ns */
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

/* Returns the metrics that the file has of the parts of a case on the first
 * server of a build, or NULL; caller frees. */
static struct json *
recall_first(const struct schedule *a, size_t cas, size_t build)
{
	const struct roles *r = &a->roles[cas];
	struct turn t = {.build = build, .index = 1};
	struct json *all;
	const struct finished *f;

	if (!a->cases[cas].counted || !is_finished(a, cas, &t))
		return NULL;
	all = json_array();
	for (size_t i = 0; i < r->nown; i++) {
		f = results_find(a->results,
		    json_get(a->builds->v[build], "subject"), r->v[i].config, 1,
		    true);
		json_push(all, f ? json_dup(f->metrics) : json_null());
	}
	return all;
}

/* Did the first servers of two builds or more count the same? Then one of them
 * is the second server of the other. */
static bool
do_builds_agree(const struct schedule *a, const struct pair *pairs, size_t cas)
{
	const struct pair *v = &pairs[cas * a->builds->n];
	bool agree = a->builds->n > 1;

	for (size_t b = 0; b < a->builds->n && agree; b++)
		agree = v[b].first && json_equal(v[b].first, v->first);
	return agree;
}

static struct pair *
recall_pairs(const struct schedule *a)
{
	size_t builds = a->builds->n;
	struct pair *v = mem_array(a->ncases * builds + 1, sizeof *v);

	for (size_t i = 0; i < a->ncases * builds; i++)
		v[i].first = recall_first(a, i / builds, i % builds);
	return v;
}

static void
free_pairs(const struct schedule *a, struct pair *v)
{
	for (size_t i = 0; i < a->ncases * a->builds->n; i++) {
		json_free(v[i].first);
		str_free(&v[i].messages);
	}
	free(v);
}

/* Returns the *n counts to be made, caller frees: each case on a first server
 * of each build, and then on a second one. */
static struct count *
list_counts(const struct schedule *a, const struct pair *pairs, size_t *n)
{
	struct count *v =
	    mem_array(a->ncases * a->builds->n * COUNTING_RUNS + 1, sizeof *v);
	struct turn t = {0};

	*n = 0;
	for (t.index = 1; t.index <= COUNTING_RUNS; t.index++)
		for (size_t i = 0; i < a->ncases; i++)
			for (t.build = 0; t.build < a->builds->n; t.build++)
				if (a->cases[i].counted &&
				    !is_finished(a, i, &t) &&
				    !do_builds_agree(a, pairs, i))
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
	while (most > 1 && (why = room_explain_case(c, most))) {
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
	struct pair *pairs = recall_pairs(a);
	size_t n, least = 0, cases = 0, at_once;
	struct count *v = list_counts(a, pairs, &n);
	bool *seen = mem_array(a->ncases + 1, sizeof *seen);
	char how[64] = " one after the other", to[32] = "";

	for (size_t i = 0; i < n; i++) {
		cases += !seen[v[i].cas];
		seen[v[i].cas] = true;
		least += v[i].turn.index == 1 || a->builds->n < 2;
	}
	free(seen);
	free(v);
	free_pairs(a, pairs);
	at_once = choose_number(a, serve, n);
	if (at_once > 1)
		snprintf(how, sizeof how, ", %zu at a time", at_once);
	else if (n == 1)
		*how = '\0';
	if (least && least < n)
		snprintf(to, sizeof to, "%zu to ", least);
	if (n)
		err_say("the instructions of %zu case%s are counted first, on "
			"%s%zu server%s%s",
		    cases, num_plural((double)cases), to, n,
		    num_plural((double)n), how);
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
	for (size_t i = 0; i < m->roles.n; i++)
		result_record_fail(m->recs[i], measure_why(m));
	logs_report(l->logs, cas->id,
	    mem_printf("not counted: %s", json_get_str(m->recs[0], "error")));
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
count_case(const struct counts *s, const struct count *c)
{
	struct case_context *x = s->context;
	const struct json *build = s->schedule->builds->v[c->turn.build];
	struct bench_case cas = unpin_case(&s->schedule->cases[c->cas]);
	struct server_handle l = {.context = x, .build = build, .count = true};
	struct server_handle *handle = &l;
	struct measure m;
	char *why;
	int rc;

	snprintf(x->run_name, sizeof x->run_name, "count-%zu", c->turn.index);
	measure_init(&m, x, &cas, build, c->turn.index, 0);
	measure_count(&m);
	rc = handle_start(&l, &cas, &why);
	if (rc < 0)
		measure_fail(&m, why);
	measure_run(&m, &handle, 1, &rc);
	if (handle_end(&l, &why) < 0)
		rc = measure_fail(&m, why);
	handle_close_serve(x->coproc);
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
	struct case_context *x = s->context;

	setpgid(0, 0); /* ^C is for the session, which stops this process */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != session || dup2(c->messages, STDERR_FILENO) < 0 ||
	    dup2(c->messages, STDOUT_FILENO) < 0)
		_exit(2);
	close_files(c);
	err_before(NULL);
	x->hdr = NULL;
	x->live = NULL;
	x->show = share_progress;
	x->progress = &s->shares[c - s->v];
	_exit(count_case(s, c));
}

/* --- the session -------------------------------------------------------- */

static struct pair *
find_pair(const struct counts *s, const struct count *c)
{
	return &s->pairs[c->cas * s->schedule->builds->n + c->turn.build];
}

/* A second server waits for the first ones of its case, which may agree. */
static bool
may_begin(const struct counts *s, const struct count *c)
{
	bool waits = c->turn.index > 1 && s->schedule->builds->n > 1;

	for (size_t i = s->taken; i < s->begun && waits; i++)
		if (s->v[i].cas == c->cas && s->v[i].turn.index == 1)
			return false;
	return true;
}

static int
begin_count(struct counts *s, struct count *c)
{
	const struct schedule *a = s->schedule;
	pid_t session = getpid();
	char *who;

	c->skipped = find_pair(s, c)->is_hopeless ||
	    do_builds_agree(a, s->pairs, c->cas);
	if (c->skipped)
		return 0;
	who = schedule_format_build(a, &c->turn);
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
	s->context->order += a->roles[c->cas].n;
	s->context->servers++;
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
	if (c->skipped)
		return;
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
	progress_draw(&s->schedule->progress, &e);
}

/* Shows the progress until the process has ended, or the session is stopped.
 * Returns 0, or -1 after reporting an error. */
static int
watch_count(const struct counts *s, const struct count *c)
{
	struct schedule *a = s->schedule;
	char *who = schedule_format_build(a, &c->turn);
	uint64_t one = 1;
	struct pollfd p = {
	    .events = POLLIN, .fd = (int)syscall(SYS_pidfd_open, c->pid, 0)};
	struct str name = {0};
	int rc = 0;

	str_printf(&name, "count %zu/%zu, ", s->taken + 1, s->n);
	str_visible(&name, a->names[c->cas]);
	str_add(&name, who);
	a->progress.most = false;
	progress_begin(&a->progress, name.s, 0, 0, -1);
	if (p.fd < 0 || write(c->its_turn, &one, sizeof one) != sizeof one)
		rc = err_fail_sys("cannot watch a process that counts");
	while (rc == 0 && !*s->context->stop && poll(&p, 1, 200) <= 0)
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

/* Prints what the process has said, but no line that the first server said.
 * Returns 0, or -1 after reporting an error. */
static int
print_messages(struct counts *s, const struct count *c)
{
	struct str now = {0}, news = {0}, *before = &find_pair(s, c)->messages;
	const char *line, *end;
	size_t n;
	int rc = read_memory(&now, c->messages);

	for (line = now.s; line && line < now.s + now.len; line += n) {
		n = (size_t)(now.s + now.len - line);
		end = memchr(line, '\n', n);
		n = end ? (size_t)(end - line) + 1 : n;
		if (!before->len || !memmem(before->s, before->len, line, n))
			str_addn(&news, line, n);
	}
	statusline_clear();
	if (news.len && sink_write(STDERR_FILENO, news.s, news.len) < 0)
		err_note("cannot write to stderr");
	str_free(&news);
	str_free(before);
	*before = now;
	return rc;
}

/* Prints a message if this server needed another number than the first one. */
static void
compare_servers(
    const struct role *r, const struct json *first, const struct json *second)
{
	double before = json_get_num(first, COUNTED_METRIC, NAN);
	double now = json_get_num(second, COUNTED_METRIC, NAN);

	if (!isnan(before) && !isnan(now) && now != before)
		err_say("%s: its instructions are not exact: %.4f and "
			"%.4f per request on two fresh servers; "
			"vkb-counting(7) says what can be done",
		    r->name, before, now);
}

/* Writes the records of a count that the file lacks; those of a part that
 * failed where the case is demanded. Returns as take_count. */
static int
write_records(struct counts *s, const struct count *c, const struct json *all)
{
	struct schedule *a = s->schedule;
	const struct json *runs = json_get(all, "runs");
	const struct json *profiles = json_get(all, "profiles");
	bool demanded = a->cases[c->cas].demanded;
	struct json **v =
	    mem_array(1 + json_len(runs) + json_len(profiles), sizeof *v);
	size_t n = 0;
	int failed = 0;

	if (*s->machine)
		v[n++] = *s->machine;
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
	*s->machine = NULL; /* written once */
	free(v);
	return failed;
}

/* Compares the parts with those of the first server, or keeps them if it is
 * that. Returns whether any was counted. */
static bool
compare_parts(struct counts *s, const struct count *c, const struct json *all)
{
	const struct roles *r = &s->schedule->roles[c->cas];
	const struct json *j = json_first(json_get(all, "runs")), *metrics;
	struct pair *pair = find_pair(s, c);
	struct json *now = json_array();
	bool any = false;

	for (size_t i = 0; i < r->nown && j; i++, j = json_next(j)) {
		metrics = json_get(j, "metrics");
		any |= metrics != NULL;
		compare_servers(&r->v[i],
		    c->turn.index > 1 ? json_at(pair->first, i) : NULL,
		    metrics);
		json_push(now, metrics ? json_dup(metrics) : json_null());
	}
	if (c->turn.index > 1)
		json_free(now);
	else {
		json_free(pair->first);
		pair->first = now;
	}
	return any;
}

/* Returns the change of a part of a case from the first build to another, as a
 * fraction, or NAN. */
static double
find_change(const struct pair *v, size_t build, size_t part)
{
	double x = json_get_num(json_at(v->first, part), COUNTED_METRIC, NAN);
	double y =
	    json_get_num(json_at(v[build].first, part), COUNTED_METRIC, NAN);

	return y / x - 1;
}

/* Adds "b executes 3.1 % more instructions than a, 4342.1 for each request". */
static void
add_change(struct str *to, const struct pair *v, size_t build,
    const char *const names[2])
{
	double change = find_change(v, build, 0);
	double now =
	    json_get_num(json_at(v[build].first, 0), COUNTED_METRIC, NAN);

	str_printf(to, "%s executes ", names[1]);
	if (fabs(change) < 1e-4)
		str_printf(to, "%sas many instructions as",
		    change == 0 ? "" : "about ");
	else
		str_printf(to, "%.2g %% %s instructions than",
		    100 * fabs(change), change > 0 ? "more" : "fewer");
	str_printf(to, " %s, %.1f for each request", names[0], now);
}

/* Adds "2 of 239 commands differ in b by more than 0.3 % in their instructions
 * from a: SET +3.1 %, GET -1 %". */
static void
add_changes(struct str *to, const struct pair *v, size_t build,
    const char *const names[2], const struct roles *r)
{
	double margin = metric_find(COUNTED_METRIC)->margin, change;
	struct str which = {0};
	size_t n = 0, counted = 0;

	for (size_t i = 0; i < r->nown; i++) {
		change = find_change(v, build, i);
		counted += isfinite(change);
		if (!(fabs(change) > margin) || ++n > TOLD)
			continue;
		str_add(&which, n > 1 ? ", " : ": ");
		str_visible(&which, r->v[i].name);
		str_printf(&which, " %+.2g %%", 100 * change);
	}
	str_printf(to,
	    "%zu of %zu parts differ in %s by more than %g %% in their "
	    "instructions from %s%s%s",
	    n, counted, names[1], 100 * margin, names[0],
	    which.len ? which.s : "", n > TOLD ? ", ..." : "");
	str_free(&which);
}

/* Says how the builds differ in a case, once all have counted it: long before
 * the other cases are. */
static void
tell_case(const struct counts *s, size_t cas)
{
	const struct schedule *a = s->schedule;
	const struct pair *v = &s->pairs[cas * a->builds->n];
	const struct roles *r = &a->roles[cas];
	char *names[2];
	struct str line = {0};

	for (size_t b = 0; b < a->builds->n; b++)
		if (!v[b].first)
			return;
	names[0] = record_subject_name(json_get(a->builds->v[0], "subject"));
	for (size_t b = 1; b < a->builds->n; b++) {
		names[1] =
		    record_subject_name(json_get(a->builds->v[b], "subject"));
		str_clear(&line);
		if (r->nown > 1)
			add_changes(&line, v, b, (const char *const *)names, r);
		else if (isfinite(find_change(v, b, 0)))
			add_change(&line, v, b, (const char *const *)names);
		if (line.len)
			err_say("%s: %s", a->names[cas], line.s);
		free(names[1]);
	}
	free(names[0]);
	str_free(&line);
}

/* Waits for a count and writes what it has. Returns 0; 1 if the case or a part
 * of it failed; -1 as counts_run. */
static int
take_count(struct counts *s, struct count *c)
{
	bool demanded = s->schedule->cases[c->cas].demanded;
	struct str text = {0};
	struct json *all;
	const char *why;
	int status, rc;
	char how[80];

	if (c->skipped || find_pair(s, c)->is_hopeless)
		return 0;
	if (watch_count(s, c) < 0 || *s->context->stop)
		return -1;
	status = end_process(c);
	if (print_messages(s, c) < 0 || *s->context->stop)
		return -1;
	if (proc_exit_status(status) > 1)
		return err_fail("the process that counts %s %s",
		    s->schedule->cases[c->cas].id,
		    proc_ended(status, how, sizeof how));
	if (read_memory(&text, c->records) < 0)
		return -1;
	all = json_parse(text.s, text.len, &why, NULL);
	str_free(&text);
	if (!all)
		return err_fail("the records of a count: %s", why);
	rc = write_records(s, c, all);
	if (!compare_parts(s, c, all) && rc > 0)
		find_pair(s, c)->is_hopeless = !demanded;
	else if (c->turn.index == 1 && !s->quiet)
		tell_case(s, c->cas);
	json_free(all);
	return rc;
}

/* Says how long the counts take, by those that are made. */
static void
tell_time(const struct counts *s)
{
	const struct roles *roles = s->schedule->roles;
	double spent = (double)(clock_ns() - s->started) / 1e9;
	double made = 0, first = 0, all = 0, cost;
	char buf[2][NUM_BUF];

	for (size_t i = 0; i < s->n; i++) {
		cost = counting_cost(&roles[s->v[i].cas]);
		made += i < s->taken ? cost : 0;
		first += s->v[i].turn.index == 1 ? cost : 0;
		all += cost;
	}
	all *= spent / made;
	first *= spent / made;
	if (s->schedule->builds->n < 2 || !(first > spent))
		first = all;
	if (all - spent < SHORT_S)
		return;
	num_seconds(buf[0], first);
	num_seconds(buf[1], all);
	if (first < all)
		err_say("counting takes about %s, and %s if the builds differ "
			"in every case",
		    buf[0], buf[1]);
	else
		err_say("counting takes about %s", buf[0]);
}

/* Begins and takes counts in their order. Returns 0 or -1. */
static int
make_counts(struct counts *s, size_t at_once, size_t *failed)
{
	struct count *c;
	int rc = 0;

	for (; s->taken < s->n && rc >= 0; s->taken++) {
		c = &s->v[s->taken];
		if (s->taken == at_once && !s->quiet)
			tell_time(s);
		while (s->begun < s->n && s->begun < s->taken + at_once &&
		    rc >= 0 && may_begin(s, &s->v[s->begun]))
			rc = begin_count(s, &s->v[s->begun++]);
		if (rc >= 0)
			rc = take_count(s, c);
		*failed += rc > 0 && s->schedule->cases[c->cas].demanded;
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
counts_run(struct case_context *context, struct schedule *a,
    struct json **machine, bool verbose, bool quiet, size_t *failed)
{
	struct counts s = {.context = context,
	    .schedule = a,
	    .machine = machine,
	    .verbose = verbose,
	    .quiet = quiet,
	    .pairs = recall_pairs(a),
	    .started = clock_ns()};
	int rc = 0;

	s.v = list_counts(a, s.pairs, &s.n);
	s.shares = mmap(NULL, (s.n + 1) * sizeof *s.shares,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.shares == MAP_FAILED)
		rc = err_fail_sys("cannot share memory");
	else if (s.n)
		rc = make_counts(
		    &s, choose_number(a, context->serve, s.n), failed);
	if (s.shares != MAP_FAILED)
		munmap(s.shares, (s.n + 1) * sizeof *s.shares);
	free_pairs(a, s.pairs);
	free(s.v);
	return rc;
}
