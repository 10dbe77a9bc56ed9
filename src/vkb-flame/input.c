#include "input.h"
#include "callgraph.h"
#include "err.h"
#include "folded.h"
#include "folding.h"
#include "inputs.h"
#include "json.h"
#include "lines.h"
#include "mem.h"
#include "perfscript.h"
#include "proc.h"
#include "record.h"
#include "str.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- Reads the output of `perf script`. */

struct samples {
	struct folding *f;
	double period; /* of the event */
};

static bool
begin_sample(void *arg, const struct perfscript_event *e)
{
	struct samples *s = arg;

	if (e->record.n ||
	    (e->name.n && !folding_choose_event(s->f, e->name.s, e->name.n)))
		return false;
	folding_begin(s->f, e->comm, e->pid, e->tid);
	s->period = e->period;
	return true;
}

static void
add_frame(void *arg, struct perfscript_text pc, struct perfscript_text symbol,
    struct perfscript_text module)
{
	folding_frame(((struct samples *)arg)->f, pc, symbol, module);
}

static void
end_sample(void *arg)
{
	struct samples *s = arg;

	folding_end(s->f, s->period);
}

/* Returns 0, or -1 after reporting a read error or lines of another format; all
 * other lines are read. */
static int
perftext_read(struct lines *l, struct folding *f)
{
	struct samples samples = {.f = f};
	struct perfscript r = {
	    .to = {begin_sample, add_frame, end_sample, &samples}};
	unsigned long long bad = 0, first = 0;
	const char *p;
	size_t n;
	int k;

	while ((k = lines_next(l, &p, &n)) > 0) {
		if (l->torn)
			break;
		if (!perfscript_read_line(&r, p, n) && !bad++)
			first = l->number;
	}
	if (k == 0)
		perfscript_finish(&r);
	else if (k > 0)
		err_say("%s:%llu: the last line has no newline; the last "
			"sample is ignored",
		    l->name, l->number);
	if (bad)
		err_say("%s:%llu: neither an event nor a frame; lines ignored: "
			"%llu%s%s",
		    l->name, first, bad, r.frames ? "" : "; ",
		    r.frames ? "" : FOLDED_FIELDS);
	return k || bad ? -1 : 0;
}

/* --- Reads perf.data files with `perf script`. */

/* Starts perf, which writes to the returned file, and its messages to a
 * descriptor. Returns NULL after reporting an error. */
static FILE *
start_perf(const char *file, int messages, struct proc **p)
{
	/* --no-inline takes a tenth of the time; --force accepts a file of
	 * another user. */
	const char *const argv[] = {"perf", "script", "--no-inline", "--force",
	    "-F", "+pid", "-i", file, NULL};
	/* libdw would send the build-ids of local files to servers. */
	const char *const setenv[] = {
	    "LC_ALL", "C", "DEBUGINFOD_URLS", "", NULL};
	const struct proc_spec spec = {.argv = argv,
	    .setenv = setenv,
	    .in = PROC_NULL,
	    .err = messages,
	    .group = true,
	    .death_signal = SIGKILL};
	int fd = messages < 0 ? err_fail_sys("cannot start perf")
			      : proc_pipe(&spec, p);

	return fd < 0 ? NULL : fdopen(fd, "re");
}

/* Reports what perf wrote to 'messages', and how it ended. Returns 0 or -1. */
static int
check_end(struct proc *p, int messages, const char *file)
{
	struct str text = {0};
	char how[64];
	int status, rc = 0;

	proc_wait(p, -1, &status);
	if (lseek(messages, 0, SEEK_SET) < 0 || str_read(&text, messages) < 0)
		rc = err_fail_sys("cannot read the messages of perf");
	while (text.len && text.s[text.len - 1] == '\n')
		text.s[--text.len] = '\0';
	if (status != 0)
		rc = err_fail("%s: 'perf script' %s%s%s", file,
		    proc_ended(status, how, sizeof how), text.len ? ":\n" : "",
		    text.len ? text.s : "");
	else if (text.len)
		err_say("%s: 'perf script' says:\n%s", file, text.s);
	str_free(&text);
	return rc;
}

/*
 * Runs `perf script` on the file and reads its output. Returns 0, or -1 after
 * reporting that perf is not installed or failed, or what perftext_read
 * reports; what perf printed before it failed is read.
 */
static int
read_by_perf(const char *file, struct folding *f)
{
	int messages = memfd_create("messages", MFD_CLOEXEC), rc = -1;
	char *found = proc_find("perf", getenv("PATH"));
	struct proc *p = NULL;
	struct lines *l;
	FILE *out = NULL;

	if (!found)
		err_fail(
		    "%s: perf reads this file, and is not in PATH: "
		    "install it with 'vkb-needs --yes test' or the package "
		    "linux-perf",
		    file);
	else
		out = start_perf(file, messages, &p);
	if (out) {
		char *name = mem_printf("%s (perf script)", file);

		l = lines_open(out, name);
		rc = perftext_read(l, f);
		lines_close(l);
		rc |= check_end(p, messages, file);
		free(name);
	}
	proc_free(p);
	free(found);
	if (messages >= 0)
		close(messages);
	return rc;
}

/* Reads the perf.data 'file', or if that is NULL, lines of `perf script`. */
static int
read_samples(struct lines *l, const char *file, const struct input_target *to,
    const struct folding_opts *o)
{
	struct folding *f = folding_new(to->tree, to->column, to->samples, o);
	int rc = file ? read_by_perf(file, f) : perftext_read(l, f);

	if (folding_count_others(f) && !folding_has_event(f))
		rc = err_fail("%s: there is no sample of '%s', but %llu of "
			      "other events; choose one that all profiles have "
			      "with --event",
		    l->name, folding_get_event(f), folding_count_others(f));
	else if (folding_count_others(f) && !o->event)
		err_say("%s: %llu samples of other events than '%s' are "
			"ignored; choose the event with --event",
		    l->name, folding_count_others(f), folding_get_event(f));
	if (!*to->event && folding_get_event(f))
		*to->event = mem_str(folding_get_event(f));
	folding_free(f);
	return rc;
}

static int
read_record(const struct input_target *to, const char *s, size_t n,
    const char *where, const struct callgraph_opts *o)
{
	const char *why;
	struct json *rec = json_parse(s, n, &why, NULL);
	int rc;

	if (!rec)
		return err_fail("%s: not JSON: %s", where, why);
	rc = record_check(rec, where);
	if (rc == 0 && callgraph_is_counted(rec))
		rc = callgraph_read_profile(to->counts, rec, where, o);
	json_free(rec);
	return rc;
}

/* Adds the profiles of counts among the records of all lines. Returns 0, or -1
 * after reporting what is wrong, or that there is none. */
static int
read_records(struct lines *l, const struct input_target *to,
    const struct callgraph_opts *o)
{
	size_t before = to->counts->n, n;
	char *where;
	const char *s;
	int rc, bad = 0;

	while ((rc = lines_next(l, &s, &n)) > 0) {
		if (strspn(s, " \t\r") == n)
			continue;
		where = mem_printf("%s:%llu", l->name, l->number);
		bad |= l->torn
		    ? err_fail("%s: the last line has no newline", where)
		    : read_record(to, s, n, where, o);
		free(where);
	}
	if (rc == 0 && !bad && to->counts->n == before)
		return err_fail("%s: there is no profile of counts; "
				"'vkb-load --count' writes them",
		    l->name);
	return rc < 0 || bad ? -1 : 0;
}

/* Returns true for blank lines and comments. */
static bool
is_ignored(const char *s, size_t n)
{
	return strspn(s, " \t\r") == n ||
	    (*s == '#' && !callgraph_is_callgrind(s, n));
}

static bool
is_event(const char *s, size_t n)
{
	size_t blanks = strspn(s, " \t");
	struct perfscript_event e;

	return blanks < n && perfscript_parse_event(s + blanks, s + n, &e);
}

/* Tells the format from the first line that is neither blank nor a comment. */
static int
read_profile(struct lines *l, FILE *in, const struct input_target *to,
    const struct folding_opts *o)
{
	const struct callgraph_opts counts = {o->addrs, o->event};
	const char *s;
	size_t n;
	bool blank = true;
	int k;

	while ((k = lines_next(l, &s, &n)) > 0 && is_ignored(s, n))
		blank = blank && *s != '#';
	if (k == 0 && blank)
		return err_fail("%s: the input is empty: what writes it "
				"failed, or took no samples; a profile is a "
				"perf.data, output of 'perf script', folded "
				"stacks or counts of callgrind",
		    l->name);
	if (k <= 0)
		return k;
	if (l->number == 1 && n >= 8 && memcmp(s, "PERFILE2", 8) == 0)
		return in == stdin
		    ? err_fail("stdin is a perf.data: give its name, or pipe "
			       "the output of 'perf script' in")
		    : read_samples(l, l->name, to, o);
	if (callgraph_is_callgrind(s, n))
		return callgraph_read_callgrind(
		    to->counts, in, l->name, (size_t)l->number, &counts);
	l->again = true;
	if (*s == '{')
		return read_records(l, to, &counts);
	if (is_event(s, n))
		return read_samples(l, NULL, to, o);
	if (folded_is_stack(s, n))
		return folded_read(l, to->tree, to->column, to->samples);
	return err_fail("%s:%llu: neither output of 'perf script' nor folded "
			"stacks nor counts of callgrind; %s",
	    l->name, l->number, FOLDED_FIELDS);
}

int
input_read(const char *file, const struct input_target *to,
    const struct folding_opts *o)
{
	FILE *f = inputs_open(file);
	struct lines *l;
	int rc;

	if (!f)
		return -1;
	l = lines_open(f, inputs_name(file));
	rc = read_profile(l, f, to, o);
	lines_close(l);
	return rc;
}
