#include "profiles.h"
#include "err.h"
#include "json.h"
#include "logs.h"
#include "mem.h"
#include "proc.h"
#include "record.h"
#include "str.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/benchcase.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Resolving the stacks of many samples takes long. */
enum { END_MS = 600000 };

#define COUNTERS "ipc,cache,branch"

struct node_profile {
	pid_t pid;
	int port;
	char *dir;
	struct proc *proc; /* NULL: not running */
	int err;           /* its messages */
};

struct profiles {
	const struct profiles_opts *o;
	const struct bench_case *cas;
	const char *session;
	struct node_profile *v;
	size_t n;
	bool begun;
	bool failed; /* to start, reported */
};

bool
profiles_wanted(const struct profiles_opts *o, const struct bench_case *cas)
{
	return o->dir && (o->extra || o->time_s > 0 || cas->profiling);
}

bool
profiles_replace_runs(
    const struct profiles_opts *o, const struct bench_case *cas)
{
	return o->time_s > 0 || cas->profiling;
}

/* --- requested profiles ------------------------------------------------- */

/* Returns the delays for reading or for writing, by what the case does. */
static const struct bench_delay *
get_delays(const struct bench_case *cas)
{
	const char *phase = cas->load.phase, *command = cas->load.command;
	bool reads = phase ? strcmp(phase, "read") == 0
			   : command && command_reads(command);

	return reads ? &cas->profile_reads : &cas->profile_writes;
}

static double
get_duration(const struct profiles_opts *o, const struct bench_case *cas)
{
	return o->time_s > 0 ? o->time_s : get_delays(cas)->duration_s;
}

/*
 * Returns true for a scenario that writes the data of later scenarios, whose
 * number of requests must not change.
 */
static bool
is_filling(const struct bench_case *cas)
{
	return cas->load.phase && strcmp(cas->load.phase, "write") == 0;
}

static const char *
get_mode(const struct bench_case *cas)
{
	const char *mode = cas->profile_mode;

	if (!mode)
		return "cpu";
	return strcmp(mode, "wall-time") == 0 ? "wall" : mode;
}

/* perf takes a while to start; shorter profiles have few samples. */
enum { START_S = 4, SAMPLED_S = 2 };

void
profiles_stretch(const struct profiles_opts *o, const struct bench_case *cas,
    struct engine_work *w, size_t n)
{
	double time = get_duration(o, cas),
	       start = get_delays(cas)->delay_s + START_S;

	if (is_filling(cas))
		return;
	for (size_t i = 0; i < n; i++)
		if (o->time_s > 0 || w[i].requests > 0) {
			w[i].requests = 0;
			w[i].duration_s = start + time;
		} else
			w[i].duration_s = fmax(
			    w[i].duration_s, start + fmin(time, SAMPLED_S));
}

/* --- the folder --------------------------------------------------------- */

static char *
make_folder_name(const struct profiles_opts *o, const struct bench_case *cas,
    const struct json *build, size_t node)
{
	struct str s = {0};

	str_printf(&s, "%s/", o->dir);
	logs_add_folder(&s, cas->id, json_get(build, "subject"));
	if (node)
		str_printf(&s, "-node%zu", node + 1);
	return str_take(&s);
}

/* A profile.json without "case" is of a session that was interrupted. */
static bool
is_complete(const char *dir)
{
	char *file = mem_printf("%s/profile.json", dir);
	struct json *rec = access(file, F_OK) == 0 ? jsonfile_read(file) : NULL;
	bool is = json_get_str(rec, "case") != NULL;

	json_free(rec);
	free(file);
	return is;
}

bool
profiles_exist(const struct profiles_opts *o, const struct bench_case *cas,
    const struct json *build, size_t nodes)
{
	bool all = true;
	char *dir;

	for (size_t i = 0; i < (o->nodes ? nodes : 1) && all; i++) {
		dir = make_folder_name(o, cas, build, i);
		all = is_complete(dir);
		free(dir);
	}
	return all;
}

/* Removes the files of an interrupted session, and no others. */
static void
remove_old_files(const char *dir)
{
	static const char *const files[] = {"profile.json", "perf.data",
	    "stacks.folded", "flame.svg", "functions.txt", NULL};
	char *path;

	for (size_t i = 0; files[i]; i++) {
		path = mem_printf("%s/%s", dir, files[i]);
		if (unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR)
			err_fail_sys("cannot remove '%s'", path);
		free(path);
	}
}

/* --- at work ------------------------------------------------------------ */

struct profiles *
profiles_new(const struct profiles_opts *o, const struct bench_case *cas,
    const struct json *build, const struct json *server, const char *session)
{
	struct profiles *p = mem_new(sizeof *p);
	const struct json *nodes = json_get(server, "nodes"), *j;

	*p = (struct profiles){.o = o, .cas = cas, .session = session};
	p->v = mem_array(json_len(nodes) + 1, sizeof *p->v);
	for (j = json_first(nodes); j && (o->nodes || !p->n);
	     j = json_next(j)) {
		/* a replica on another host */
		if (json_get(j, "role") && !json_get(j, "pid"))
			continue;
		p->v[p->n] = (struct node_profile){
		    .pid = (pid_t)json_get_num(j, "pid", 0),
		    .port = (int)json_get_num(j, "port", 0),
		    .dir = make_folder_name(o, cas, build, p->n),
		    .err = -1};
		p->n++;
		if (p->v[p->n - 1].pid > 0)
			continue;
		err_say("the server is not a process of this host, so it "
			"cannot be profiled");
		profiles_free(p);
		return NULL;
	}
	return p;
}

void
profiles_free(struct profiles *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].proc)
			proc_stop(p->v[i].proc, 5000);
		proc_free(p->v[i].proc);
		if (p->v[i].err >= 0)
			close(p->v[i].err);
		free(p->v[i].dir);
	}
	free(p->v);
	free(p);
}

static int
start_profile(struct profiles *p, struct node_profile *x)
{
	char *prog = proc_beside("vkb-profile");
	char pid[32], port[32], freq[32], delay[32], duration[32];
	const char *const argv[] = {prog, "-q", "--pid", pid, "--port", port,
	    "-o", x->dir, "-m", get_mode(p->cas), "--freq", freq, "--delay",
	    delay, "-d", duration, "--stat", COUNTERS, "--title", p->cas->id,
	    NULL};
	struct proc_spec spec = {.argv = argv,
	    .in = PROC_NULL,
	    .out = PROC_NULL,
	    .group = true,
	    .death_signal = SIGTERM};

	snprintf(pid, sizeof pid, "%ld", (long)x->pid);
	snprintf(port, sizeof port, "%d", x->port);
	snprintf(freq, sizeof freq, "%lld",
	    p->o->freq ? p->o->freq : p->cas->sampling_freq);
	snprintf(delay, sizeof delay, "%.3fs", get_delays(p->cas)->delay_s);
	snprintf(
	    duration, sizeof duration, "%.3fs", get_duration(p->o, p->cas));
	remove_old_files(x->dir);
	x->err = memfd_create("profile", MFD_CLOEXEC);
	spec.err = x->err;
	if (x->err >= 0)
		x->proc = proc_start(&spec);
	else
		err_fail_sys("cannot start a profile");
	free(prog);
	return x->proc ? 0 : -1;
}

void
profiles_start_when_warm(struct profiles *p, const struct engine_progress *e)
{
	if (p->begun || e->seeding || e->warmup)
		return;
	p->begun = true;
	for (size_t i = 0; i < p->n && !p->failed; i++)
		p->failed = start_profile(p, &p->v[i]) < 0;
}

/* Reports the failure of vkb-profile with its messages. Returns -1. */
static int
report_failure(struct node_profile *x, int status)
{
	char text[1024], how[64];
	ssize_t n = pread(x->err, text, sizeof text - 1, 0);

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = '\0';
	return err_fail(
	    "vkb-profile %s: %s", proc_ended(status, how, sizeof how), text);
}

static int
complete_record(struct profiles *p, struct node_profile *x,
    const struct json *subject, struct json *recs)
{
	char *file = mem_printf("%s/profile.json", x->dir);
	struct json *rec = jsonfile_read(file), *run;
	int rc = -1;

	if (rec && record_check(rec, file) == 0) {
		run = json_object();
		/* All builds of a session are profiled once, interleaved. */
		json_set_str(run, "session", p->session);
		json_set_num(run, "index", 1);
		json_set_num(run, "block", 1);
		json_set_str(rec, "case", p->cas->id);
		json_set(rec, "subject", json_dup(subject));
		json_set(rec, "config", json_dup(p->cas->config));
		json_set(rec, "run", run);
		rc = jsonfile_write(file, rec);
		json_push(recs, rec);
		rec = NULL;
	}
	json_free(rec);
	free(file);
	return rc;
}

int
profiles_end(struct profiles *p, const struct json *subject, struct json *recs)
{
	int rc = p->failed ? -1 : 0, status;
	struct node_profile *x;

	if (!p->begun)
		return err_fail("the load was over before it could be "
				"profiled%s",
		    is_filling(p->cas)
			? ": give this scenario more requests, a load that "
			  "writes for others is not made longer"
			: "");
	/* SIGINT ends a profile; all get it before the first is waited for. */
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].proc)
			proc_signal(p->v[i].proc, SIGINT);
	for (size_t i = 0; i < p->n; i++) {
		x = &p->v[i];
		if (!x->proc)
			continue;
		if (!proc_wait(x->proc, END_MS, &status))
			rc = err_fail("vkb-profile did not end within %d s",
			    END_MS / 1000);
		else if (status != 0)
			rc = report_failure(x, status);
		else if (complete_record(p, x, subject, recs) < 0)
			rc = -1;
		proc_free(x->proc);
		x->proc = NULL;
	}
	return rc;
}
