#include "perfscript.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define RECORD "PERF_RECORD_"
#define PID_WIDTH 5 /* of perf's "%5d" */
#define OWN 6       /* the rank of what perf prints itself */

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
is_hex(struct perfscript_text t)
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

/* --- events */

/* A time such as "94564.109216:", or none. */
struct stamp {
	bool is, exact; /* 'exact': with 6 or 9 decimals, as perf prints it */
	uint64_t ns;
	const char *end; /* behind the colon */
};

static struct stamp
parse_time(const char *p, const char *end)
{
	const char *dot = skip_digits(p, end), *q = dot;
	struct stamp t = {0};
	size_t decimals = 0;

	if (dot == p)
		return t;
	if (q < end && *q == '.') {
		q = skip_digits(q + 1, end);
		decimals = (size_t)(q - dot - 1);
	}
	if (q == end || *q != ':')
		return t;
	t = (struct stamp){
	    .is = true, .exact = decimals == 6 || decimals == 9, .end = q + 1};
	if (dot - p > 9 || decimals > 9)
		return t; /* more than 30 years */
	for (const char *d = p; d < q; d++)
		if (*d != '.')
			t.ns = t.ns * 10 + (uint64_t)(*d - '0');
	for (; decimals < 9; decimals++)
		t.ns *= 10;
	return t;
}

/* Returns the end of "[003]" and blanks, or p. */
static const char *
skip_cpu(const char *p, const char *end)
{
	const char *q;

	if (p == end || *p != '[')
		return p;
	q = skip_digits(p + 1, end);
	return q > p + 1 && q < end && *q == ']' ? skip_blanks(q + 1, end) : p;
}

/* Returns the end of a number; "-1" is the thread of a record that has none. */
static const char *
skip_id(const char *p, const char *end)
{
	const char *from = p < end && *p == '-' ? p + 1 : p, *q;

	q = skip_digits(from, end);
	return q > from ? q : p;
}

/* Parses "12" or "12/13" and blanks. Returns the end, or NULL. */
static const char *
parse_ids(const char *p, const char *end, struct perfscript_event *e)
{
	const char *q = skip_id(p, end), *r;

	if (q == p)
		return NULL;
	e->pid = (struct perfscript_text){p, 0};
	e->tid = (struct perfscript_text){p, (size_t)(q - p)};
	if (q < end && *q == '/') {
		r = skip_id(q + 1, end);
		e->pid.n = (size_t)(q - p);
		e->tid = (struct perfscript_text){q + 1, (size_t)(r - q - 1)};
		q = r;
	}
	return q < end && is_blank(*q) ? skip_blanks(q, end) : NULL;
}

/*
 * Returns how much the text behind a name, which ends at 'name', is like what
 * perf prints there: OWN at most; 0 if it cannot be that. *behind is the end of
 * the pid.
 */
static int
rank_process(const char *name, const char *end, bool after_time,
    struct perfscript_event *e, const char **behind)
{
	const char *p = skip_blanks(name, end), *cpu;
	bool wide;
	struct stamp t;

	*behind = parse_ids(p, end, e);
	if (!*behind)
		return 0;
	wide = skip_id(p, end) - name > PID_WIDTH; /* with the separator */
	cpu = skip_cpu(*behind, end);
	t = parse_time(cpu, end);
	e->timed = t.is || cpu > *behind;
	e->ns = t.ns;
	if (t.is)
		return !t.exact ? 5 : wide ? OWN : 0;
	return after_time ? 0 : (wide ? 3 : 1) + (cpu > *behind);
}

/* Parses the process, whose name may contain anything. Returns the end, or
 * NULL. */
static const char *
parse_process(const char *line, const char *end, struct perfscript_event *e)
{
	const char *found = NULL, *p = line;
	bool after_time = false; /* what follows may be a period */
	int best = 0;

	while (best < OWN && (p = skip_to_blank(p, end)) < end) {
		struct perfscript_event maybe = {0};
		const char *name = p, *word = p, *behind;
		int rank;

		if (p[-1] == ':') {
			while (word > line && !is_blank(word[-1]))
				word--;
			after_time |= parse_time(word, p).end == p;
		}
		p = skip_blanks(p, end);
		if (!is_digit(*p) && *p != '-')
			continue;
		rank = rank_process(name, end, after_time, &maybe, &behind);
		if (rank <= best)
			continue;
		best = rank;
		found = behind;
		*e = maybe;
		e->comm = (struct perfscript_text){line, (size_t)(name - line)};
	}
	return found;
}

/* Parses "[000] 6544038.708352: 235 cpu-clock: ..." */
static void
parse_event_name(const char *p, const char *end, struct perfscript_event *e)
{
	const char *q;
	struct stamp t;

	e->name = e->record = (struct perfscript_text){end, 0};
	e->rest = end;
	e->period = 1;
	p = skip_cpu(p, end);
	t = parse_time(p, end);
	if (t.is)
		p = skip_blanks(t.end, end);
	else if (!memchr(p, ':', (size_t)(end - p)))
		return;
	if ((size_t)(end - p) > strlen(RECORD) && str_starts(p, RECORD)) {
		p += strlen(RECORD);
		e->record = (struct perfscript_text){p, (size_t)(end - p)};
		return;
	}
	q = skip_digits(p, end);
	if (q > p && q < end && is_blank(*q)) {
		double v = strtod(p, NULL); /* stops at the blank */

		e->period = v > 0 && v < 0x1p63 ? v : 1;
		p = skip_blanks(q, end);
	}
	q = skip_to_blank(p, end);
	if (q <= p + 1 || q[-1] != ':')
		return;
	e->name = (struct perfscript_text){p, (size_t)(q - p - 1)};
	e->rest = skip_blanks(q, end);
}

bool
perfscript_parse_event(
    const char *line, const char *end, struct perfscript_event *e)
{
	const char *p;

	*e = (struct perfscript_event){0};
	while (end > line && is_blank(end[-1]))
		end--;
	p = parse_process(line, end, e);
	if (!p)
		return false;
	parse_event_name(p, end, e);
	return e->timed || (e->name.n && e->rest == end);
}

/* --- frames */

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
parse_frame(const char *p, const char *end, const struct perfscript_handler *to)
{
	static const char gone[] = " (deleted))";
	struct perfscript_text pc, symbol, module;
	const char *q, *open, *close;

	p = q = skip_blanks(p, end);
	while (q < end && is_word(*q))
		q++;
	pc = (struct perfscript_text){p, (size_t)(q - p)};
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
		to->frame(to->arg, pc,
		    (struct perfscript_text){p, (size_t)(end - p)},
		    (struct perfscript_text){end, 0});
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
	symbol = (struct perfscript_text){p, (size_t)(open - 1 - p)};
	module = (struct perfscript_text){open + 1, (size_t)(close - open - 1)};
	to->frame(to->arg, pc, symbol, module);
	return true;
}

/* --- lines */

void
perfscript_finish(struct perfscript *r)
{
	if (r->state == PERFSCRIPT_EVENT || r->state == PERFSCRIPT_EMPTY ||
	    r->state == PERFSCRIPT_FRAMES)
		r->to.end(r->to.arg);
	r->state = PERFSCRIPT_OUTSIDE;
}

static void
begin_sample(
    struct perfscript *r, const struct perfscript_event *e, const char *end)
{
	perfscript_finish(r);
	if (!r->to.begin(r->to.arg, e)) {
		r->state = PERFSCRIPT_OTHERS;
		return;
	}
	r->state = PERFSCRIPT_EVENT;
	if (e->rest < end && parse_frame(e->rest, end, &r->to))
		perfscript_finish(r);
}

/* Parses a line without leading blanks. False: it is not an event. */
static bool
parse_outer_line(struct perfscript *r, const char *p, const char *end)
{
	struct perfscript_event e;

	r->indented = false;
	if (perfscript_parse_event(p, end, &e)) {
		begin_sample(r, &e, end);
		return true;
	}
	perfscript_finish(r);
	return false;
}

/* Parses a line with leading blanks: a frame, or an event, whose frame may be
 * behind it. */
static bool
parse_indented_line(struct perfscript *r, const char *p, const char *end)
{
	struct perfscript_event e;

	if (((r->state != PERFSCRIPT_EVENT && r->state != PERFSCRIPT_FRAMES) ||
		r->indented) &&
	    perfscript_parse_event(p, end, &e) && e.timed) {
		begin_sample(r, &e, end);
		r->indented = true;
		return true;
	}
	if (r->state == PERFSCRIPT_OTHERS)
		return true;
	if (r->state == PERFSCRIPT_OUTSIDE)
		return false;
	if (!parse_frame(p, end, &r->to))
		return r->state == PERFSCRIPT_FRAMES && is_source_line(p, end);
	r->state = PERFSCRIPT_FRAMES;
	r->frames = true;
	return true;
}

bool
perfscript_read_line(struct perfscript *r, const char *line, size_t n)
{
	const char *end = line + n, *p;

	if (n && end[-1] == '\r')
		end--;
	p = skip_blanks(line, end);
	if (p == end) {
		if (r->state == PERFSCRIPT_FRAMES)
			perfscript_finish(r);
		else if (r->state == PERFSCRIPT_EVENT)
			r->state = PERFSCRIPT_EMPTY;
		return true;
	}
	return *line == '#' ||
	    (p > line ? parse_indented_line(r, p, end)
		      : parse_outer_line(r, line, end));
}
