#include "fold.h"
#include "mem.h"
#include "intern.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct thread {
	long tid;
	size_t stack;   /* when it left the CPU */
	uint64_t since; /* when it left, ns */
	bool off, preempted;
};

struct fold {
	bool by_time;
	struct intern *stacks;
	uint64_t *weight;
	size_t n, cap;
	struct thread *threads;
	size_t nthreads, threads_cap;
	uint64_t now; /* latest time of a line, ns */
	struct fold_sum sum;
	uint64_t cpu, blocked, preempted;

	/* The sample whose frames are being read. */
	bool inside, is_switch;
	long tid;
	uint64_t period;
	struct str comm;
	struct str frames; /* each ends with NUL; leaf first */
	size_t *at;
	size_t nframes, frames_cap;
	struct str stack;
};

struct fold *
fold_new(bool by_time)
{
	struct fold *f = mem_new(sizeof *f);

	f->by_time = by_time;
	f->stacks = intern_new();
	return f;
}

void
fold_free(struct fold *f)
{
	if (!f)
		return;
	intern_free(f->stacks);
	free(f->weight);
	free(f->threads);
	str_free(&f->comm);
	str_free(&f->frames);
	str_free(&f->stack);
	free(f->at);
	free(f);
}

/* --- lines -------------------------------------------------------------- */

/* Cuts the last word off s[0..*n) and returns it; "" if there is none. */
static char *
cut_last_word(char *s, size_t *n)
{
	size_t end = *n, start;

	while (end && s[end - 1] == ' ')
		end--;
	for (start = end; start && s[start - 1] != ' '; start--)
		;
	s[end] = '\0';
	*n = start;
	return s + start;
}

static bool
parse_unsigned(const char *s, uint64_t *v)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	*v = strtoull(s, &end, 10);
	return *end == '\0';
}

/* Parses "12.345678901:" (s) into ns. */
static bool
parse_time(char *s, uint64_t *ns)
{
	size_t n = strlen(s), digits;
	uint64_t part = 0;
	char *dot;

	if (!n || s[n - 1] != ':')
		return false;
	s[n - 1] = '\0';
	dot = strchr(s, '.');
	if (!dot)
		return false;
	*dot++ = '\0';
	digits = strlen(dot);
	if (digits > 9 || !parse_unsigned(s, ns) ||
	    !parse_unsigned(dot, &part) || *ns > UINT64_MAX / 2000000000)
		return false;
	for (; digits < 9; digits++)
		part *= 10;
	*ns = *ns * 1000000000 + part;
	return true;
}

/* Parses "COMM TID TIME:" in s[0..n); COMM can contain any character. */
static bool
parse_thread_and_time(struct fold *f, char *s, size_t n)
{
	uint64_t ns, tid;
	char *word = cut_last_word(s, &n), *slash;

	if (!parse_time(word, &ns))
		return false;
	word = cut_last_word(s, &n);
	slash = strchr(word, '/'); /* "PID/TID" */
	if (!parse_unsigned(slash ? slash + 1 : word, &tid))
		return false;
	while (n && s[n - 1] == ' ')
		n--;
	while (n && *s == ' ') {
		s++;
		n--;
	}
	f->tid = (long)tid;
	if (ns > f->now)
		f->now = ns;
	str_clear(&f->comm);
	str_addn(&f->comm, s, n);
	for (char *p = f->comm.s; *p; p++)
		if (*p == ';' || *p == ' ' || (unsigned char)*p < ' ')
			*p = '_';
	return true;
}

static struct thread *
get_thread(struct fold *f, long tid)
{
	for (size_t i = 0; i < f->nthreads; i++)
		if (f->threads[i].tid == tid)
			return &f->threads[i];
	f->threads = mem_grow(
	    f->threads, f->nthreads, &f->threads_cap, sizeof *f->threads);
	f->threads[f->nthreads] = (struct thread){.tid = tid};
	return &f->threads[f->nthreads++];
}

/* Adds the time since the thread left the CPU to the stack it left with. */
static void
end_wait(struct fold *f, struct thread *t, uint64_t now)
{
	uint64_t off = now > t->since ? now - t->since : 0;

	t->off = false;
	f->weight[t->stack] += off;
	*(t->preempted ? &f->preempted : &f->blocked) += off;
}

/* Handles "SWITCH IN", "SWITCH OUT preempt", "LOST lost 3"; ignores others. */
static void
handle_event(struct fold *f, const char *what)
{
	struct thread *t;
	uint64_t lost;

	if (str_starts(what, "SWITCH IN")) {
		t = get_thread(f, f->tid);
		if (t->off)
			end_wait(f, t, f->now);
	} else if (str_starts(what, "SWITCH OUT")) {
		t = get_thread(f, f->tid);
		t->preempted = strstr(what, "preempt") != NULL;
	} else if (str_starts(what, "LOST lost ") &&
	    parse_unsigned(what + strlen("LOST lost "), &lost))
		f->sum.lost += lost;
}

static bool
parse_sample_header(struct fold *f, char *line, size_t n)
{
	char *word = cut_last_word(line, &n);
	size_t len = strlen(word);
	bool is_switch;

	if (len < 2 || word[len - 1] != ':')
		return false;
	is_switch = str_starts(word, "context-switches") ||
	    str_starts(word, "sched:sched_switch") || strcmp(word, "cs:") == 0;
	word = cut_last_word(line, &n);
	if (!parse_unsigned(word, &f->period) ||
	    !parse_thread_and_time(f, line, n))
		return false;
	f->is_switch = is_switch;
	f->inside = true;
	f->nframes = 0;
	str_clear(&f->frames);
	return true;
}

/* Parses "  7f12 name (/path/of/object)". */
static void
parse_frame(struct fold *f, char *line)
{
	char *name = line + strspn(line, " \t"), *object = NULL, *slash;

	name += strspn(name, "0123456789abcdefABCDEF");
	if (*name == ' ')
		name++;
	for (char *p = strstr(name, " ("); p; p = strstr(p + 1, " ("))
		object = p;
	if (object) {
		*object = '\0';
		object += 2;
		if (*object && object[strlen(object) - 1] == ')')
			object[strlen(object) - 1] = '\0';
		slash = strrchr(object, '/');
		if (slash)
			object = slash + 1;
	}
	f->at = mem_grow(f->at, f->nframes, &f->frames_cap, sizeof *f->at);
	f->at[f->nframes++] = f->frames.len;
	if (strcmp(name, "[unknown]") != 0 && *name)
		str_add(&f->frames, name);
	else if (object && *object && *object != '[')
		str_printf(&f->frames, "[%s]", object);
	else
		str_add(&f->frames, object && *object ? object : "[unknown]");
	for (char *p = f->frames.s + f->at[f->nframes - 1]; *p; p++)
		if (*p == ';' || (unsigned char)*p < ' ')
			*p = ':';
	str_addn(&f->frames, "", 1);
}

static void
add_sample(struct fold *f)
{
	struct thread *t;
	size_t id;

	str_clear(&f->stack);
	str_add(&f->stack, f->comm.len ? f->comm.s : "[unknown]");
	for (size_t i = f->nframes; i-- > 0;) {
		str_addc(&f->stack, ';');
		str_add(&f->stack, f->frames.s + f->at[i]);
	}
	id = intern_id(f->stacks, f->stack.s);
	if (id == f->n) {
		f->weight =
		    mem_grow(f->weight, f->n, &f->cap, sizeof *f->weight);
		f->weight[f->n++] = 0;
	}
	f->inside = false;
	if (f->is_switch && f->by_time) {
		t = get_thread(f, f->tid);
		/* If it was off already, its SWITCH IN was lost: the length
		 * of that wait is unknown and left out. */
		*t = (struct thread){
		    .tid = f->tid, .stack = id, .since = f->now, .off = true};
		f->sum.switches++;
		return;
	}
	f->weight[id] += f->by_time ? f->period : 1;
	f->cpu += f->period;
	f->sum.samples++;
}

void
fold_line(struct fold *f, char *line)
{
	size_t n = strlen(line);
	char *what = NULL;

	if (f->inside) {
		if (line[strspn(line, " \t")])
			parse_frame(f, line);
		else
			add_sample(f);
		return;
	}
	if (!line[strspn(line, " \t")] || *line == '#')
		return;
	for (char *p = strstr(line, " PERF_RECORD_"); p;
	     p = strstr(p + 1, " PERF_RECORD_"))
		what = p;
	if (what) {
		if (parse_thread_and_time(f, line, (size_t)(what - line)))
			handle_event(f, what + strlen(" PERF_RECORD_"));
		else
			f->sum.unparsed++;
	} else if (!parse_sample_header(f, line, n))
		f->sum.unparsed++;
}

void
fold_finish(struct fold *f)
{
	if (f->inside)
		add_sample(f);
	for (size_t i = 0; i < f->nthreads; i++)
		if (f->threads[i].off)
			end_wait(f, &f->threads[i], f->now);
}

struct fold_sum
fold_sum(const struct fold *f)
{
	struct fold_sum s = f->sum;

	s.cpu_s = f->by_time ? (double)f->cpu / 1e9 : 0;
	s.blocked_s = (double)f->blocked / 1e9;
	s.preempted_s = (double)f->preempted / 1e9;
	return s;
}

static unsigned long long
get_weight(const struct fold *f, size_t i)
{
	return f->by_time ? (f->weight[i] + 500) / 1000 : f->weight[i];
}

void
fold_write(const struct fold *f, FILE *out)
{
	for (size_t i = 0; i < f->n; i++)
		if (get_weight(f, i))
			fprintf(out, "%s %llu\n", intern_text(f->stacks, i),
			    get_weight(f, i));
}
