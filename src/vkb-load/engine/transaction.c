#include "transaction.h"
#include "pieces.h"
#include "engine.h"
#include "mem.h"
#include "run.h"

#include <string.h>
#include <strings.h>

/* Does a command begin with that word? */
static bool
is_command(const struct template *t, const struct compiled *s, const char *name)
{
	const struct piece *first = &s->pieces[0];
	const char *p = t->bytes + first->at, *end = p + first->n;
	char head[DIGITS_MOST + 8];
	size_t n = digits_line(head, '$', strlen(name)), len = strlen(name);

	while (p < end && *p != '$')
		p++;
	return (size_t)(end - p) >= n + len + 2 && memcmp(p, head, n) == 0 &&
	    strncasecmp(p + n, name, len) == 0;
}

bool
transaction_begins(const struct template *t, const struct compiled *s)
{
	return is_command(t, s, "MULTI");
}

/* Returns why MULTI and EXEC do not belong together, or NULL; static. */
static const char *
find_mistake(struct template *t, bool *any)
{
	const struct compiled *s;
	bool open = false, exec;

	for (uint64_t i = 0; i < t->source.cycle; i++) {
		s = &t->commands[t->cycle[i]];
		exec = is_command(t, s, "EXEC");
		if (transaction_begins(t, s)) {
			if (open)
				return "MULTI comes again before EXEC";
			open = *any = true;
		} else if (exec || is_command(t, s, "DISCARD")) {
			if (!open)
				return "EXEC or DISCARD comes without MULTI";
			open = false;
		}
		t->execs[i] = exec;
	}
	return open ? "EXEC is missing after MULTI" : NULL;
}

char *
transaction_find(struct template *t, const struct engine_work *w, bool cluster)
{
	struct cmdsource *o = &t->source;
	const char *why;
	bool any = false;

	o->together = 1;
	if (!t->bytes || *t->bytes != '*') /* PING_INLINE */
		return NULL;
	t->execs = mem_array(o->cycle, sizeof *t->execs);
	why = find_mistake(t, &any);
	if (!any)
		return why ? mem_str(why) : NULL;
	if (!why && cluster && !o->line)
		why = "in a cluster a transaction needs '{key}', and '{tag}' "
		      "in its other keys, so that all are in one slot";
	if (!why && cluster && engine_is_ordered(w))
		why = "in a cluster a transaction cannot use keys in sequence";
	o->together = (uint32_t)o->cycle;
	o->execs = t->execs;
	return why ? mem_str(why) : NULL;
}

bool
transaction_is_exec(const struct worker *w, const struct conn *c, uint32_t nth)
{
	const struct cmdsource *s = w->run->source;
	uint64_t next = c->cursor.turn + c->todo - (c->awaited - c->refills);

	return s->execs && s->execs[(next + nth) % s->cycle];
}

bool
transaction_is_whole(const struct worker *w, const struct conn *c, uint32_t nth)
{
	const struct mix *m = w->run->source->mix;

	return w->run->together > 1 ||
	    (m && mix_step(m, &c->ring, c->ring.at - c->awaited + nth)->whole);
}

uint32_t
transaction_complete(const struct worker *w, struct conn *c, uint32_t n)
{
	const struct mix *m = w->run->source->mix;
	uint32_t whole = w->run->together, more;

	more =
	    m ? mix_count_begun(m, &c->ring, n) : (whole - n % whole) % whole;
	c->ring.fresh = false; /* its last part continues */
	c->repeats += more;
	return more;
}

uint32_t
transaction_count_new(struct conn *c, uint32_t n)
{
	uint32_t old = c->repeats < n ? c->repeats : n;

	c->repeats -= old;
	return n - old;
}
