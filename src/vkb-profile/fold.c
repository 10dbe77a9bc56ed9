#include "fold.h"
#include "mem.h"
#include "names.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct thread {
	long tid;
	size_t stack;   /* that it left the CPU with */
	uint64_t since; /* ns */
	bool off, preempted;
};

struct fold {
	bool by_time;
	struct names *stacks;
	uint64_t *weight;
	size_t n, cap;
	struct thread *threads;
	size_t nthreads, threads_cap;
	uint64_t now; /* of the last line that had a time */
	struct fold_sum sum;
	uint64_t cpu, blocked, preempted;

	/* The sample whose frames are being read. */
	bool inside, is_switch;
	long tid;
	uint64_t period;
	struct str comm;
	struct str frames; /* each with a NUL behind it, the leaf first */
	size_t *at;
	size_t nframes, frames_cap;
	struct str stack;
};

struct fold *
fold_new(bool by_time)
{
	struct fold *f = mem_new(sizeof *f);

	f->by_time = by_time;
	f->stacks = names_new();
	return f;
}

void
fold_free(struct fold *f)
{
	if (!f)
		return;
	names_free(f->stacks);
	free(f->weight);
	free(f->threads);
	str_free(&f->comm);
	str_free(&f->frames);
	str_free(&f->stack);
	free(f->at);
	free(f);
}

/* --- lines -------------------------------------------------------------- */

/* The last word of s[0..*n), which goes off it; "" when there is none. */
static char *
last_word(char *s, size_t *n)
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
whole(const char *s, uint64_t *v)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	*v = strtoull(s, &end, 10);
	return *end == '\0';
}

/* "12.345678901:" in ns. */
static bool
moment(char *s, uint64_t *ns)
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
	if (digits > 9 || !whole(s, ns) || !whole(dot, &part) ||
	    *ns > UINT64_MAX / 2000000000)
		return false;
	for (; digits < 9; digits++)
		part *= 10;
	*ns = *ns * 1000000000 + part;
	return true;
}

/* "COMM TID TIME:" in s[0..n); the name may be anything. */
static bool
who_and_when(struct fold *f, char *s, size_t n)
{
	uint64_t ns, tid;
	char *word = last_word(s, &n), *slash;

	if (!moment(word, &ns))
		return false;
	word = last_word(s, &n);
	slash = strchr(word, '/'); /* "PID/TID" */
	if (!whole(slash ? slash + 1 : word, &tid))
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
thread_of(struct fold *f, long tid)
{
	for (size_t i = 0; i < f->nthreads; i++)
		if (f->threads[i].tid == tid)
			return &f->threads[i];
	f->threads = mem_grow(
	    f->threads, f->nthreads, &f->threads_cap, sizeof *f->threads);
	f->threads[f->nthreads] = (struct thread){.tid = tid};
	return &f->threads[f->nthreads++];
}

static void
weigh(struct fold *f, size_t stack, uint64_t weight)
{
	f->weight[stack] += weight;
}

static void
back(struct fold *f, struct thread *t, uint64_t now)
{
	uint64_t off = now > t->since ? now - t->since : 0;

	t->off = false;
	weigh(f, t->stack, off);
	*(t->preempted ? &f->preempted : &f->blocked) += off;
}

/* "SWITCH IN", "SWITCH OUT preempt", "LOST lost 3" and others. */
static void
event(struct fold *f, const char *what)
{
	struct thread *t;
	uint64_t lost;

	if (str_starts(what, "SWITCH IN")) {
		t = thread_of(f, f->tid);
		if (t->off)
			back(f, t, f->now);
	} else if (str_starts(what, "SWITCH OUT")) {
		t = thread_of(f, f->tid);
		t->preempted = strstr(what, "preempt") != NULL;
	} else if (str_starts(what, "LOST lost ") &&
	    whole(what + strlen("LOST lost "), &lost))
		f->sum.lost += lost;
}

static bool
header(struct fold *f, char *line, size_t n)
{
	char *word = last_word(line, &n);
	size_t len = strlen(word);
	bool is_switch;

	if (len < 2 || word[len - 1] != ':')
		return false;
	is_switch = str_starts(word, "context-switches") ||
	    str_starts(word, "sched:sched_switch") || strcmp(word, "cs:") == 0;
	word = last_word(line, &n);
	if (!whole(word, &f->period) || !who_and_when(f, line, n))
		return false;
	f->is_switch = is_switch;
	f->inside = true;
	f->nframes = 0;
	str_clear(&f->frames);
	return true;
}

/* "  7f12 name (/path/of/object)". */
static void
frame(struct fold *f, char *line)
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
sample(struct fold *f)
{
	struct thread *t;
	size_t id;

	str_clear(&f->stack);
	str_add(&f->stack, f->comm.len ? f->comm.s : "[unknown]");
	for (size_t i = f->nframes; i-- > 0;) {
		str_addc(&f->stack, ';');
		str_add(&f->stack, f->frames.s + f->at[i]);
	}
	id = names_id(f->stacks, f->stack.s);
	if (id == f->n) {
		f->weight =
		    mem_grow(f->weight, f->n, &f->cap, sizeof *f->weight);
		f->weight[f->n++] = 0;
	}
	f->inside = false;
	if (f->is_switch && f->by_time) {
		t = thread_of(f, f->tid);
		/* The switch back was lost: how long is not known. */
		*t = (struct thread){
		    .tid = f->tid, .stack = id, .since = f->now, .off = true};
		f->sum.switches++;
		return;
	}
	weigh(f, id, f->by_time ? f->period : 1);
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
			frame(f, line);
		else
			sample(f);
		return;
	}
	if (!line[strspn(line, " \t")] || *line == '#')
		return;
	for (char *p = strstr(line, " PERF_RECORD_"); p;
	     p = strstr(p + 1, " PERF_RECORD_"))
		what = p;
	if (what) {
		if (who_and_when(f, line, (size_t)(what - line)))
			event(f, what + strlen(" PERF_RECORD_"));
		else
			f->sum.strange++;
	} else if (!header(f, line, n))
		f->sum.strange++;
}

void
fold_end(struct fold *f)
{
	if (f->inside)
		sample(f);
	for (size_t i = 0; i < f->nthreads; i++)
		if (f->threads[i].off)
			back(f, &f->threads[i], f->now);
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
weight_of(const struct fold *f, size_t i)
{
	return f->by_time ? (f->weight[i] + 500) / 1000 : f->weight[i];
}

void
fold_write(const struct fold *f, FILE *out)
{
	for (size_t i = 0; i < f->n; i++)
		if (weight_of(f, i))
			fprintf(out, "%s %llu\n", names_text(f->stacks, i),
			    weight_of(f, i));
}
