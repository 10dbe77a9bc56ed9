#include "input.h"
#include "callgraph.h"
#include "err.h"
#include "folded.h"
#include "folding.h"
#include "inputs.h"
#include "json.h"
#include "lines.h"
#include "mem.h"
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

/* Reads the output of `perf script`. */

/*
 * The first characters tell three kinds of lines apart:
 *
 *   java 24636/25607 [000] 94564.109216: 100 cycles:
 *        67fa7 dictFind+0x67 (/usr/bin/valkey-server)
 *       false 39654 19115.489713: 1 cycles:u:  ffff9b20 main+0x4 (/bin/false)
 *
 * an event with frames below it, a frame, and an event without a call chain,
 * followed by its only frame. A blank line ends the frames.
 */

enum state {
	OUTSIDE, /* not in an event */
	EVENT,   /* after the line of a counted event */
	EMPTY,   /* same, after a blank line */
	FRAMES,  /* after a frame of a counted event */
	OTHERS   /* in an event that is not counted */
};

struct reader {
	struct folding *f;
	bool frames; /* there was one */
	enum state state;
	double period; /* of the event */
};

struct event {
	struct text comm, pid, tid;
	struct text name; /* may be empty */
	bool timed;       /* has a CPU or time after the pid */
	double period;
	const char *rest; /* after the name */
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_hex(struct text t)
{
	for (size_t i = 0; i < t.n; i++)
		if (!is_digit(t.s[i]) && !(t.s[i] >= 'a' && t.s[i] <= 'f'))
			return false;
	return true;
}

/* Does each parenthesis have its other? */
static bool
is_closed(const char *p, const char *end)
{
	int open = 0;

	for (; p < end; p++)
		open += (*p == '(') - (*p == ')');
	return open == 0;
}

static const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

static const char *
skip_digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

static const char *
skip_to_blank(const char *p, const char *end)
{
	while (p < end && !is_blank(*p))
		p++;
	return p;
}

/* Returns true at "[003]" or a time such as "94564.109216:". */
static bool
is_cpu_or_time(const char *p, const char *end)
{
	const char *q;

	if (p < end && *p == '[')
		return true;
	q = skip_digits(p, end);
	if (q == p)
		return false;
	if (q < end && *q == '.')
		q = skip_digits(q + 1, end);
	return q < end && *q == ':';
}

/* Parses "12" or "12/13" and blanks. Returns the end, or NULL. */
static const char *
parse_ids(const char *p, const char *end, struct event *e)
{
	const char *q = skip_digits(p, end), *r;

	if (q == p)
		return NULL;
	e->pid = (struct text){p, 0};
	e->tid = (struct text){p, (size_t)(q - p)};
	if (q < end && *q == '/') {
		r = skip_digits(q + 1, end);
		e->pid.n = (size_t)(q - p);
		e->tid = (struct text){q + 1, (size_t)(r - q - 1)};
		q = r;
	}
	return q < end && is_blank(*q) ? skip_blanks(q, end) : NULL;
}

/* Is what is before 'end' a time, such as "94564.109216:"? */
static bool
is_last_word_time(const char *line, const char *end)
{
	const char *word = end;

	while (word > line && !is_blank(word[-1]))
		word--;
	return is_cpu_or_time(word, end) && *word != '[';
}

/* Parses the process, whose name may have blanks. Returns the end, or NULL. */
static const char *
parse_process(const char *line, const char *end, struct event *e)
{
	const char *found = NULL, *p = line;
	struct event maybe = *e;

	while ((p = skip_to_blank(p, end)) < end) {
		const char *name = p, *behind;

		if (p[-1] == ':' && is_last_word_time(line, p))
			break; /* there is no pid before the time */
		p = skip_blanks(p, end);
		behind = parse_ids(p, end, &maybe);
		if (!behind || (found && !is_cpu_or_time(behind, end)))
			continue;
		found = behind;
		*e = maybe;
		e->comm = (struct text){line, (size_t)(name - line)};
		if (is_cpu_or_time(behind, end))
			break;
	}
	return found;
}

/* Parses "[000] 6544038.708352: 235 cpu-clock: ..." */
static void
parse_event_name(const char *p, const char *end, struct event *e)
{
	const char *q;

	e->name = (struct text){p, 0};
	e->rest = end;
	e->period = 1;
	if (p < end && *p == '[')
		p = skip_blanks(skip_to_blank(p, end), end);
	q = skip_to_blank(p, end);
	if (is_cpu_or_time(p, end) && q > p && q[-1] == ':')
		e->name.s = p = skip_blanks(q, end);
	else if (p < end && !memchr(p, ':', (size_t)(end - p)))
		return;
	q = skip_digits(p, end);
	if (q > p && q < end && is_blank(*q)) {
		double v = strtod(p, NULL); /* stops at the blank */

		e->period = v > 0 ? v : 1;
		p = skip_blanks(q, end);
	}
	q = skip_to_blank(p, end);
	if (q <= p + 1 || q[-1] != ':')
		return;
	e->name = (struct text){p, (size_t)(q - p - 1)};
	e->rest = skip_blanks(q, end);
}

static bool
parse_event(const char *line, const char *end, struct event *e)
{
	const char *p;

	while (end > line && is_blank(end[-1]))
		end--;
	p = parse_process(line, end, e);
	if (!p)
		return false;
	e->timed = is_cpu_or_time(p, end);
	parse_event_name(p, end, e);
	return e->timed || (e->name.n && e->rest == end);
}

/* Is it a line of "perf script -F +srcline", "dict.c:70 (inlined)"? */
static bool
is_source_line(const char *p, const char *end)
{
	static const char inlined[] = " (inlined)";
	size_t n = sizeof inlined - 1;
	const char *q;

	if ((size_t)(end - p) > n && memcmp(end - n, inlined, n) == 0)
		end -= n;
	for (q = end; q > p && is_digit(q[-1]); q--)
		;
	return q < end && q > p + 1 && q[-1] == ':';
}

/* Parses "67fa7 dictFind+0x67 (/usr/bin/valkey-server)"; without the field
 * 'dso' there is no module. */
static bool
parse_frame(const char *p, const char *end, struct folding *f)
{
	static const char gone[] = " (deleted))";
	struct text pc, symbol, module;
	const char *q, *open, *close;

	p = q = skip_blanks(p, end);
	while (q < end && is_word(*q))
		q++;
	pc = (struct text){p, (size_t)(q - p)};
	p = skip_blanks(q, end);
	if (p == q)
		return false;
	while (end > p && is_blank(end[-1]))
		end--;
	if (!pc.n || p == end)
		return false;
	close = end - 1;
	if (*close != ')') {
		if (!is_hex(pc) || !is_closed(p, end))
			return false;
		folding_frame(f, pc, (struct text){p, (size_t)(end - p)},
		    (struct text){end, 0});
		return true;
	}
	q = close;
	if (close - p >= (long)sizeof gone &&
	    memcmp(close - sizeof gone + 2, gone, sizeof gone - 1) == 0)
		q = close - sizeof gone + 2;
	do
		open = q = memrchr(p, '(', (size_t)(q - p));
	while (open && (open == p || open[-1] != ' '));
	if (!open || open - p < 2)
		return false;
	symbol = (struct text){p, (size_t)(open - 1 - p)};
	module = (struct text){open + 1, (size_t)(close - open - 1)};
	folding_frame(f, pc, symbol, module);
	return true;
}

/* Returns true if the line is an event. */
static bool
perftext_is_event(const char *line, size_t n)
{
	struct event e = {0};

	return parse_event(skip_blanks(line, line + n), line + n, &e);
}

static void
end_sample(struct reader *r)
{
	if (r->state == EVENT || r->state == EMPTY || r->state == FRAMES)
		folding_end(r->f, r->period);
	r->state = OUTSIDE;
}

static void
begin_sample(struct reader *r, const struct event *e, const char *end)
{
	end_sample(r);
	if ((size_t)(end - e->name.s) > strlen("PERF_RECORD_") &&
	    str_starts(e->name.s, "PERF_RECORD_")) {
		r->state = OTHERS; /* of a process, not a sample */
		return;
	}
	if (e->name.n && !folding_choose_event(r->f, e->name.s, e->name.n)) {
		r->state = OTHERS;
		return;
	}
	folding_begin(r->f, e->comm, e->pid, e->tid);
	r->period = e->period;
	r->state = EVENT;
	if (e->rest < end && parse_frame(e->rest, end, r->f))
		end_sample(r);
}

/* Parses a line without leading blanks. Returns false if it is not an event. */
static bool
parse_outer_line(struct reader *r, const char *p, const char *end)
{
	struct event e = {0};

	if (parse_event(p, end, &e)) {
		begin_sample(r, &e, end);
		return true;
	}
	end_sample(r);
	return false;
}

/* Parses a line with leading blanks: a frame, or an event with one frame. */
static bool
parse_indented_line(struct reader *r, const char *p, const char *end)
{
	struct event e = {0};

	if (r->state == OTHERS)
		return true;
	if ((r->state == OUTSIDE || r->state == EMPTY) &&
	    parse_event(p, end, &e) && e.timed) {
		begin_sample(r, &e, end);
		end_sample(r);
		return true;
	}
	if (r->state == OUTSIDE)
		return false;
	if (!parse_frame(p, end, r->f))
		return r->state == FRAMES && is_source_line(p, end);
	r->state = FRAMES;
	r->frames = true;
	return true;
}

static void
on_blank_line(struct reader *r)
{
	if (r->state == FRAMES)
		end_sample(r);
	else if (r->state == EVENT)
		r->state = EMPTY;
}

/* Returns 0, or -1 after reporting a read error or lines of another format; all
 * other lines are read. */
static int
perftext_read(struct lines *l, struct folding *f)
{
	struct reader r = {.f = f};
	unsigned long long bad = 0, first = 0;
	const char *p, *q;
	size_t n;
	int k;

	while ((k = lines_next(l, &p, &n)) > 0) {
		const char *end = p + n;

		if (l->torn)
			break;
		if (n && end[-1] == '\r')
			end--;
		q = skip_blanks(p, end);
		if (q == end)
			on_blank_line(&r);
		else if (*p == '#' ||
		    (q > p ? parse_indented_line(&r, q, end)
			   : parse_outer_line(&r, p, end)))
			continue;
		else if (!bad++)
			first = l->number;
	}
	if (k == 0)
		end_sample(&r);
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
	if (perftext_is_event(s, n))
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
