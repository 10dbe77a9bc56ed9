#include "fold.h"
#include "mem.h"
#include "intern.h"
#include "perfscript.h"
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
	struct perfscript reader;
	uint64_t cpu, blocked, preempted;

	/* The sample whose frames are being read. */
	bool is_switch;
	long tid;
	uint64_t period;
	struct str comm;
	struct str frames; /* each ends with NUL; leaf first */
	size_t *at;
	size_t nframes, frames_cap;
	struct str stack;
};

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
handle_record(struct fold *f, const char *what)
{
	struct thread *t;

	if (str_starts(what, "SWITCH IN")) {
		t = get_thread(f, f->tid);
		if (t->off)
			end_wait(f, t, f->now);
	} else if (str_starts(what, "SWITCH OUT")) {
		t = get_thread(f, f->tid);
		t->preempted = strstr(what, "preempt") != NULL;
	} else if (str_starts(what, "LOST lost "))
		f->sum.lost += strtoull(what + strlen("LOST lost "), NULL, 10);
}

static bool
text_starts(struct perfscript_text t, const char *s)
{
	return t.n >= strlen(s) && memcmp(t.s, s, strlen(s)) == 0;
}

/* Begins a sample, or handles a record of perf: then it returns false. */
static bool
begin_sample(void *arg, const struct perfscript_event *e)
{
	struct fold *f = arg;

	f->tid = strtol(e->tid.s, NULL, 10); /* stops behind it */
	if (e->ns > f->now)
		f->now = e->ns;
	if (e->record.n || !e->name.n) {
		if (e->record.n)
			handle_record(f, e->record.s);
		else
			f->sum.unparsed++;
		return false;
	}
	f->is_switch = text_starts(e->name, "context-switches") ||
	    text_starts(e->name, "sched:sched_switch") ||
	    (e->name.n == 2 && text_starts(e->name, "cs"));
	f->period = (uint64_t)e->period;
	str_clear(&f->comm);
	str_addn(&f->comm, e->comm.s, e->comm.n);
	for (char *p = f->comm.s; p && *p; p++)
		if (*p == ';' || *p == ' ' || (unsigned char)*p < ' ')
			*p = '_';
	f->nframes = 0;
	str_clear(&f->frames);
	return true;
}

static void
add_frame(void *arg, struct perfscript_text pc, struct perfscript_text symbol,
    struct perfscript_text module)
{
	struct fold *f = arg;
	const char *slash = module.n ? memrchr(module.s, '/', module.n) : NULL;

	(void)pc;
	if (slash) {
		module.n -= (size_t)(slash + 1 - module.s);
		module.s = slash + 1;
	}
	*MEM_ADD(f->at, f->nframes, f->frames_cap) = f->frames.len;
	if (symbol.n && !text_starts(symbol, "[unknown]"))
		str_addn(&f->frames, symbol.s, symbol.n);
	else if (module.n && *module.s != '[')
		str_printf(&f->frames, "[%.*s]", (int)module.n, module.s);
	else if (module.n)
		str_addn(&f->frames, module.s, module.n);
	else
		str_add(&f->frames, "[unknown]");
	for (char *p = f->frames.s + f->at[f->nframes - 1]; *p; p++)
		if (*p == ';' || (unsigned char)*p < ' ')
			*p = ':';
	str_addn(&f->frames, "", 1);
}

static void
add_sample(void *arg)
{
	struct fold *f = arg;
	struct thread *t;
	size_t id;

	str_clear(&f->stack);
	str_add(&f->stack, f->comm.len ? f->comm.s : "[unknown]");
	for (size_t i = f->nframes; i-- > 0;) {
		str_addc(&f->stack, ';');
		str_add(&f->stack, f->frames.s + f->at[i]);
	}
	id = intern_id(f->stacks, f->stack.s);
	if (id == f->n)
		*MEM_ADD(f->weight, f->n, f->cap) = 0;
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

struct fold *
fold_new(bool by_time)
{
	struct fold *f = mem_new(sizeof *f);

	f->by_time = by_time;
	f->stacks = intern_new();
	f->reader.to =
	    (struct perfscript_handler){begin_sample, add_frame, add_sample, f};
	return f;
}

void
fold_line(struct fold *f, const char *line)
{
	if (!perfscript_read_line(&f->reader, line, strlen(line)))
		f->sum.unparsed++;
}

void
fold_finish(struct fold *f)
{
	perfscript_finish(&f->reader);
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
