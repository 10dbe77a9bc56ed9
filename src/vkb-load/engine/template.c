#include "template.h"
#include "command.h"
#include "compile.h"
#include "engine.h"
#include "err.h"
#include "mem.h"
#include "mix.h"
#include "mixshots.h"
#include "prerendered.h"
#include "rowset.h"
#include "together.h"
#include "values.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

#define CYCLE_MOST 10000 /* commands in a cycle */
#define BEFOREHAND                                                 \
	((size_t)256 << 20) /* bytes of rendered rows of a command \
			     */

/*
 * Lists the command of each turn, and what the turns before use. Returns 0, or
 * -1 if there are too many.
 */
static int
make_cycle(struct template *t)
{
	struct cmdsource *o = &t->source;
	const struct compiled *s;
	uint64_t i, n = 0;
	size_t k;

	for (i = 0; i < t->ncommands; i++)
		o->cycle += t->commands[i].times;
	if (o->cycle > CYCLE_MOST)
		return -1;
	t->cycle = mem_array(o->cycle, sizeof *t->cycle);
	for (k = 0; k < CMDSOURCE_COUNTERS; k++)
		t->before[k] = mem_array(o->cycle + 1, sizeof(uint64_t));
	for (i = 0; i < t->ncommands; i++) {
		s = &t->commands[i];
		for (uint64_t j = 0; j < s->times; j++, n++) {
			t->cycle[n] = (uint32_t)i;
			for (k = 0; k < CMDSOURCE_COUNTERS; k++)
				t->before[k][n + 1] =
				    t->before[k][n] + s->uses[k];
		}
		for (k = 0; k < CMDSOURCE_COUNTERS; k++)
			o->counted[k] |= s->uses[k];
	}
	return 0;
}

static uint64_t
count_taken(const struct cmdsource *source, enum cmdsource_counter kind,
    const struct cursor *c, uint64_t n)
{
	const struct template *t = (const struct template *)source;
	const uint64_t *before = t->before[kind];
	uint64_t cycle = source->cycle, turn = c->turn;
	uint64_t from = turn % cycle, to = (turn + n) % cycle;
	uint64_t rounds = (turn + n) / cycle - turn / cycle;

	return rounds * before[cycle] + before[to] - before[from];
}

static void
free_source(struct cmdsource *source)
{
	template_free((struct template *)source);
}

static const struct cmdsource_ops ops = {
    render_room, render_commands, count_taken, free_source};
static const struct cmdsource_ops ops_patched = {
    render_room, render_patched, count_taken, free_source};
static const struct cmdsource_ops ops_placed = {
    render_room, render_placed, count_taken, free_source};

/* For one command that is constant but for numbers: makes its bytes, with '0'
 * for these. */
static void
make_patched_source(struct template *t)
{
	const struct compiled *s = &t->commands[0];
	const struct piece *p;
	size_t i, at = 0, n;

	t->only_patched = true;
	t->one = mem_new(s->len + 1);
	t->source.ops = &ops_patched;
	t->source.bytes = t->one;
	t->source.len = s->len;
	for (i = 0; i < s->npieces; i++, at += n) {
		p = &s->pieces[i];
		n = compile_patch_width(p->kind);
		if (n) {
			memset(t->one + p->at, '0', n);
			t->source.constant = at + n;
		} else {
			n = p->n;
			memcpy(t->one + at, t->bytes + p->at, n);
		}
	}
}

/* For one command that is constant but for numbers and values, if possible. */
static void
make_placed_source(struct template *t, const struct engine_work *w)
{
	struct cmdsource *o = &t->source;
	struct prerendered *k = prerendered_new_values(t, t->commands, w);

	if (!k)
		return;
	t->commands->prerendered = k;
	o->ops = &ops_placed;
	o->places = k->places;
	o->placed = k->bytes;
	o->nplaced = k->at[k->count];
	o->starts = k->at;
	t->only_patched = true;
}

static void
make_source(struct template *t, const struct engine_work *w)
{
	struct cmdsource *o = &t->source;
	const struct compiled *s = t->commands;
	size_t i;

	o->ops = &ops;
	o->items = 1;
	o->values = t->values ? t->values : 1;
	for (i = 0; i < t->ncommands; i++) {
		o->tagged |= t->commands[i].tagged;
		o->keyed |=
		    t->commands[i].keyed || (o->line && t->commands[i].tagged);
	}
	if (t->ncommands == 1 && t->commands[0].items) {
		o->counts = true;
		o->items = t->commands[0].items;
		o->zero_miss = t->commands[0].zero_miss;
	}
	if (t->ncommands == 1 && !o->counted[CMDSOURCE_ROWS] && !s->ints &&
	    !s->data) {
		make_patched_source(t);
		return;
	}
	if (t->ncommands == 1)
		make_placed_source(t, w);
	for (i = 0; i < t->ncommands; i++)
		o->len += t->commands[i].len * t->commands[i].times;
	o->len = o->len / o->cycle + 1;
	o->constant = o->len;
}

/* Fills a template. Returns why it cannot be, or NULL. */
static char *
fill_template(struct template *t, const char *text, const struct engine_work *w,
    bool cluster)
{
	struct compile_text x = {.text = text, .values = t->values};
	char *why;

	t->data = values_new(w);
	t->fields = mem_array(1, sizeof *t->fields);
	why = compile_template(t, &x, 1, cluster);
	if (!why && make_cycle(t) < 0)
		why =
		    mem_printf("more than %d commands in a cycle", CYCLE_MOST);
	if (!why)
		make_source(t, w);
	return why ? why : together_find(t, w, cluster);
}

struct template *
template_new(
    const char *text, const struct engine_work *w, bool cluster, char **why)
{
	struct template *t = mem_new(sizeof *t);

	if ((*why = fill_template(t, text, w, cluster))) {
		template_free(t);
		return NULL;
	}
	return t;
}

/* Takes the text of a named test, which is valid. */
static struct cmdsource *
open_named(char *text, const struct engine_target *target,
    const struct engine_work *w, unsigned values)
{
	struct template *t = mem_new(sizeof *t);
	char *why;

	t->values = values;
	if ((why = fill_template(t, text, w, target->cluster)))
		err_die("'%s': %s", text, why);
	free(text);
	return &t->source;
}

struct cmdsource *
template_open_named(
    const struct engine_target *target, const struct engine_work *w)
{
	struct command_style style = {target->cluster, target->prefix,
	    TEMPLATE_SAME, w->ttl_low, w->ttl_high};

	return open_named(command_text(w->command, &style), target, w, 1);
}

struct cmdsource *
template_open_seed(const struct engine_target *target,
    const struct engine_work *w, unsigned many)
{
	struct command_style style = {
	    target->cluster, target->prefix, TEMPLATE_SAME, 0, 0};
	char *text = command_seed_text(w->command, &many, &style);
	struct engine_work in_order = *w;

	in_order.sequential = true;
	return open_named(text, target, &in_order, many);
}

static void
free_mix(struct mix *m)
{
	if (!m)
		return;
	mixshots_free(m->shots);
	free(m->steps);
	free(m->firsts);
	free(m->items);
	free(m->zero_misses);
	free(m->until);
	free(m->turns);
	free(m);
}

void
template_free(struct template *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->ncommands; i++) {
		free(t->commands[i].pieces);
		free(t->commands[i].patches);
		prerendered_free(t->commands[i].prerendered);
	}
	for (i = 0; i < t->nfields; i++)
		free(t->fields[i]);
	for (i = 0; i < CMDSOURCE_COUNTERS; i++)
		free(t->before[i]);
	free_mix(t->mix);
	free(t->ranges);
	free(t->one);
	free(t->commands);
	free(t->fields);
	free(t->cycle);
	values_free(t->data);
	free(t->execs);
	free(t->bytes);
	free(t);
}

void
template_bind(struct template *t, const struct rowset *rows, size_t most)
{
	struct cmdsource *o = &t->source;

	t->rows = rows;
	if (rows && t->cycle)
		o->len += rowset_mean(rows) *
		    (size_t)t->before[CMDSOURCE_ROWS][o->cycle] /
		    (size_t)o->cycle;
	o->constant = t->only_patched ? o->constant : o->len;
	for (size_t i = 0; rows && i < t->ncommands; i++)
		t->commands[i].prerendered =
		    prerendered_new(t, &t->commands[i], most);
}

const char *const *
template_fields(const struct template *t)
{
	return (const char *const *)t->fields;
}

struct cmdsource *
template_source(struct template *t)
{
	return &t->source;
}

struct cmdsource *
template_open(const struct engine_target *target, const struct engine_work *w)
{
	char *why, *text = words_expand_prefix(w->text, target->prefix);
	struct template *t = template_new(text, w, target->cluster, &why);

	free(text);
	if (!t) {
		err_say("'%s': %s", w->text, why);
		free(why);
		return NULL;
	}
	if (w->sequential && t->source.line && t->source.cycle > 1) {
		err_say("'%s': " TEMPLATE_LINE_ORDER, w->text);
		template_free(t);
		return NULL;
	}
	if (!*t->fields)
		return &t->source;
	if (w->rows) {
		template_bind(t, w->rows, BEFOREHAND);
		return &t->source;
	}
	err_say("'%s' uses a field, but the case has no dataset", w->text);
	template_free(t);
	return NULL;
}
