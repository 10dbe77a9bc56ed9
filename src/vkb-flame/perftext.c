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
#include "perftext.h"
#include "err.h"
#include "folding.h"
#include "lines.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

enum state {
	OUTSIDE, /* not in an event */
	EVENT,   /* after the line of a counted event */
	EMPTY,   /* same, after a blank line */
	FRAMES,  /* after a frame of a counted event */
	OTHERS   /* in an event that is not counted */
};

struct reader {
	struct folding *f;
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

/* Parses the process, whose name may have blanks. Returns the end, or NULL. */
static const char *
parse_process(const char *line, const char *end, struct event *e)
{
	const char *found = NULL, *p = line;
	struct event maybe = *e;

	while ((p = skip_to_blank(p, end)) < end) {
		const char *name = p, *behind;

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

bool
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

int
perftext_read(struct lines *l, struct folding *f)
{
	struct reader r = {.f = f};
	unsigned long long bad = 0, first = 0;
	const char *p, *q;
	size_t n;
	int k;

	while ((k = lines_next(l, &p, &n)) > 0) {
		const char *end = p + n;

		if (lines_torn(l))
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
			first = lines_number(l);
	}
	if (k == 0)
		end_sample(&r);
	else if (k > 0)
		err_say("%s:%llu: the last line has no newline; the last "
			"sample is ignored",
		    lines_name(l), lines_number(l));
	if (bad)
		err_say("%s:%llu: neither an event nor a frame; lines ignored: "
			"%llu",
		    lines_name(l), first, bad);
	return k || bad ? -1 : 0;
}
