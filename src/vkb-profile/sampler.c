#include "sampler.h"
#include "err.h"
#include "fold.h"
#include "halt.h"
#include "json.h"
#include "mem.h"
#include "perf.h"
#include "proc.h"
#include "str.h"
#include "tempfile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const mode_names[] = {"cpu", "wall", "offcpu"};

enum sampler_mode
sampler_find_mode(const char *name)
{
	enum sampler_mode m = SAMPLER_OFFCPU;

	while (m != SAMPLER_CPU && strcmp(mode_names[m], name) != 0)
		m--;
	return m;
}

const char *
sampler_mode_name(enum sampler_mode m)
{
	return mode_names[m];
}

static char *
make_path(const struct sampler *s, const char *name)
{
	return mem_printf("%s/%s", s->dir, name);
}

struct args {
	const char *v[32]; /* NULL ends it */
	size_t n;
};

static void
add_args(struct args *a, const char *option, const char *value)
{
	a->v[a->n++] = option;
	a->v[a->n++] = value;
}

struct perf *
sampler_start(const struct sampler *s, pid_t pid)
{
	char *out = make_path(s, "perf.data"), freq[32], id[32];
	const char *graph = s->call_graph;
	struct args a = {.n = 0};
	struct perf *p;

	snprintf(freq, sizeof freq, "%lld", s->freq);
	snprintf(id, sizeof id, "%ld", (long)pid);
	if (s->copies)
		add_args(&a, "--buildid-dir", s->copies);
	a.v[a.n++] = "record";
	if (!s->copies)
		a.v[a.n++] = "--no-buildid-cache";
	/* perf falls back to a clock if the CPU has no such counter. */
	if (s->mode == SAMPLER_CPU)
		add_args(&a, "-e", s->user_only ? "cycles:u" : "cycles");
	if (s->mode == SAMPLER_WALL)
		add_args(&a, "-e", s->user_only ? "cpu-clock:u" : "cpu-clock");
	if (s->mode != SAMPLER_CPU) {
		/* Samples each switch, and records the time of the switch back;
		 * unlike tracepoints this needs neither root nor tracefs. */
		add_args(&a, "-e", "context-switches/period=1/");
		a.v[a.n++] = "--switch-events";
	}
	add_args(&a, "-F", freq);
	/* Switches are frequent and their stacks shallow: copy less of each. */
	if (strcmp(graph, "dwarf") == 0)
		graph = s->mode == SAMPLER_CPU ? "dwarf,8192" : "dwarf,4096";
	add_args(&a, "--call-graph", graph);
	if (s->large)
		add_args(&a, "-m", "2M");
	add_args(&a, "-o", out);
	add_args(&a, "-p", id);
	p = perf_start("record", a.v);
	free(out);
	return p;
}

/* --- reading perf.data -------------------------------------------------- */

/* Returns the last line that was written to a file, or "". Borrowed from
 * 'text'. */
static const char *
read_last_line(int fd, struct str *text)
{
	char *last;

	str_add(text, "");
	if (lseek(fd, 0, SEEK_SET) == 0)
		str_read(text, fd);
	while (text->len && strchr(" \n", text->s[text->len - 1]))
		text->s[--text->len] = '\0';
	last = strrchr(text->s, '\n');
	if (last)
		memmove(text->s, last + 1, strlen(last));
	return text->s;
}

/* Runs argv, which is perf 'what', and gives each line of its output to 'read'.
 * Returns 0, or -1 after reporting an error. */
static int
read_output_lines(const char *const *argv, const char *what, struct halt *halt,
    void (*read)(void *, char *line), void *arg)
{
	struct proc_spec spec = {.argv = argv,
	    .setenv = proc_plain,
	    .in = PROC_NULL,
	    .err = memfd_create("errors", MFD_CLOEXEC),
	    .group = true,
	    .death_signal = SIGKILL};
	struct proc *p = NULL;
	int fd = spec.err < 0 ? err_fail_sys("cannot start perf")
			      : proc_pipe(&spec, &p);
	int status, rc = -1;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "re");
	struct str errors = {0};
	const char *last;
	char *line = NULL, how[64];
	size_t cap = 0;
	ssize_t n;

	if (!f)
		goto out;
	while ((n = getline(&line, &cap, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		read(arg, line);
		if (halt && halt_reason(halt, NULL) > 0 &&
		    halt_reason(halt, NULL) != SIGINT)
			break;
	}
	if (n > 0) {
		err_say("stopped by a signal");
		goto out;
	}
	proc_wait(p, -1, &status);
	last = read_last_line(spec.err, &errors);
	if (status == 0)
		rc = 0;
	else
		err_say("'perf %s' %s%s%s", what,
		    proc_ended(status, how, sizeof how), *last ? ": " : "",
		    last);
out:
	free(line);
	str_free(&errors);
	if (spec.err >= 0)
		close(spec.err);
	proc_free(p);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return rc;
}

static void
on_stack_line(void *arg, char *line)
{
	fold_line(arg, line);
}

static void
on_event_line(void *arg, char *line)
{
	line[strcspn(line, " ")] = '\0';
	if (*line && *line != '#')
		json_push(arg, json_string(line));
}

static struct fold *
read_stacks(const struct sampler *s, const char *data, struct halt *halt)
{
	struct fold *f = fold_new(s->mode != SAMPLER_CPU);
	const char *all[] = {"perf", "--buildid-dir", s->copies, "script", "-i",
	    data, "--force", /* whoever owns the file */
	    "--ns", "--no-inline", "--show-lost-events", "--show-switch-events",
	    "-F", FOLD_FIELDS, NULL};
	const char **argv = s->copies ? all : all + 2;

	argv[0] = "perf";
	if (read_output_lines(argv, "script", halt, on_stack_line, f) < 0) {
		fold_free(f);
		f = NULL;
	} else
		fold_finish(f);
	return f;
}

/* Adds the recorded events, which can differ from those asked for. */
static void
add_events(const char *data, struct json *sampling)
{
	const char *const argv[] = {
	    "perf", "evlist", "-i", data, "--force", NULL};
	struct json *list = json_array();

	if (read_output_lines(argv, "evlist", NULL, on_event_line, list) == 0)
		json_set(sampling, "events", list);
	else
		json_free(list);
}

static int
write_folded(const char *path, const struct fold *f)
{
	struct tempfile *t = tempfile_open(path);

	if (!t)
		return -1;
	fold_write(f, tempfile_stream(t));
	return tempfile_commit(t);
}

static int
draw_flame_graph(
    const char *folded, const char *title, const char *svg, const char *table)
{
	char *to = mem_printf("svg:%s", svg);
	char *list = mem_printf("table:%s", table);
	const char *argv[] = {
	    "vkb-flame", "-f", to, "-f", list, "--title", title, folded, NULL};
	int rc = proc_call(argv, 0, NULL, 600000);

	free(to);
	free(list);
	return rc;
}

static void
add_summary(const struct sampler *s, const struct fold_sum *sum, struct json *j)
{
	bool timed = s->mode != SAMPLER_CPU;

	json_set_str(j, "unit", timed ? "us" : "samples");
	if (s->mode != SAMPLER_OFFCPU)
		json_set_num(j, "samples", (double)sum->samples);
	if (s->mode == SAMPLER_WALL)
		json_set_num(j, "cpu_s", sum->cpu_s);
	if (timed) {
		json_set_num(j, "switches", (double)sum->switches);
		json_set_num(j, "blocked_s", sum->blocked_s);
		json_set_num(j, "preempted_s", sum->preempted_s);
	}
	json_set_num(j, "lost", (double)sum->lost);
}

int
sampler_read(const struct sampler *s, const char *title, struct halt *halt,
    struct json *sampling, struct json *artifacts)
{
	char *folded = make_path(s, "stacks.folded"),
	     *svg = make_path(s, "flame.svg");
	char *data = make_path(s, "perf.data"),
	     *table = make_path(s, "functions.txt");
	struct fold *f = read_stacks(s, data, halt);
	struct fold_sum sum;
	int rc = -1;

	if (!f)
		goto out;
	sum = fold_sum(f);
	add_events(data, sampling);
	add_summary(s, &sum, sampling);
	json_set_str(artifacts, "perf_data", data);
	if (sum.unparsed)
		err_say("cannot parse %llu lines of 'perf script'; they are "
			"left out",
		    sum.unparsed);
	if (sum.lost)
		err_say(
		    "perf lost %llu records: a lower --freq or --call-graph "
		    "fp loses fewer",
		    sum.lost);
	if (!sum.samples && !sum.switches) {
		err_say("%s: no samples: %s", data,
		    s->mode == SAMPLER_CPU
			? "the process did not run; --mode offcpu shows where "
			  "it waits"
			: "no thread of the process ran or began to wait");
		goto out;
	}
	if (write_folded(folded, f) < 0 ||
	    draw_flame_graph(folded, title, svg, table) < 0)
		goto out;
	json_set_str(artifacts, "folded", folded);
	json_set_str(artifacts, "svg", svg);
	json_set_str(artifacts, "functions", table);
	rc = 0;
out:
	fold_free(f);
	free(folded);
	free(svg);
	free(table);
	free(data);
	return rc;
}
