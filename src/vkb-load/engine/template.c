#include "template.h"
#include "prerendered.h"
#include "digits.h"
#include "mem.h"
#include "rowset.h"
#include "compile.h"

#include <stdlib.h>
#include <string.h>

#define CYCLE_MOST 10000 /* commands in a cycle */

/*
 * Lists the shape of each turn, and what the turns before use. Returns 0, or -1
 * if there are too many.
 */
static int
make_cycle(struct template *t)
{
	const struct compiled *s;
	uint64_t i, n = 0;
	size_t k;

	for (i = 0; i < t->nshapes; i++)
		t->ncycle += t->shapes[i].times;
	if (t->ncycle > CYCLE_MOST)
		return -1;
	t->cycle = mem_array(t->ncycle, sizeof *t->cycle);
	for (k = 0; k < TEMPLATE_KINDS; k++)
		t->before[k] = mem_array(t->ncycle + 1, sizeof(uint64_t));
	for (i = 0; i < t->nshapes; i++) {
		s = &t->shapes[i];
		for (uint64_t j = 0; j < s->times; j++, n++) {
			t->cycle[n] = (uint32_t)i;
			for (k = 0; k < TEMPLATE_KINDS; k++)
				t->before[k][n + 1] =
				    t->before[k][n] + s->uses[k];
		}
	}
	return 0;
}

/*
 * For one shape of constant length: makes its bytes, with '0' for the numbers.
 */
static void
make_alike(struct template *t)
{
	const struct compiled *s = &t->shapes[0];
	const struct piece *p;
	struct command *c = &t->command;
	size_t i, at = 0;

	c->bytes = mem_new(s->len + 1);
	c->len = s->len;
	for (i = 0; i < s->npieces; i++) {
		p = &s->pieces[i];
		if (p->kind == PIECE_BYTES) {
			memcpy(c->bytes + at, t->bytes + p->at, p->n);
			at += p->n;
			continue;
		}
		at += p->kind == PIECE_TAG ? 3 : DIGITS_12;
		c->constant = at;
		memset(c->bytes + p->at, '0', at - p->at);
	}
}

static void
make_command(struct template *t)
{
	struct command *c = &t->command;
	size_t i;

	c->items = c->values = 1;
	for (i = 0; i < t->nshapes; i++) {
		c->ntags += t->shapes[i].tagged;
		c->keyed |= t->shapes[i].keyed;
	}
	if (t->nshapes == 1 && t->shapes[0].items) {
		c->counts = true;
		c->items = t->shapes[0].items;
		c->zero_miss = t->shapes[0].zero_miss;
	}
	t->alike = t->nshapes == 1 && !t->shapes[0].uses[TEMPLATE_ROWS];
	if (t->alike) {
		make_alike(t);
		return;
	}
	for (i = 0; i < t->nshapes; i++)
		c->len += t->shapes[i].len * t->shapes[i].times;
	c->len = c->len / t->ncycle + 1;
	c->constant = c->len;
}

struct template *
template_new(const char *text, long long data_size, bool cluster, char **why)
{
	struct template *t = mem_new(sizeof *t);

	t->fields = mem_array(1, sizeof *t->fields);
	*why = compile_template(t, text, (size_t)data_size, cluster);
	if (!*why && make_cycle(t) < 0)
		*why =
		    mem_printf("more than %d commands in a cycle", CYCLE_MOST);
	if (*why) {
		template_free(t);
		return NULL;
	}
	make_command(t);
	return t;
}

void
template_free(struct template *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->nshapes; i++) {
		free(t->shapes[i].pieces);
		prerendered_free(t->shapes[i].prerendered);
	}
	for (i = 0; i < t->nfields; i++)
		free(t->fields[i]);
	for (i = 0; i < TEMPLATE_KINDS; i++)
		free(t->before[i]);
	free(t->command.bytes);
	free(t->shapes);
	free(t->fields);
	free(t->cycle);
	free(t->bytes);
	free(t);
}

void
template_bind(struct template *t, const struct rowset *rows, size_t most)
{
	uint64_t uses = t->before[TEMPLATE_ROWS][t->ncycle];

	t->rows = rows;
	if (rows && t->ncycle)
		t->command.len +=
		    rowset_mean(rows) * (size_t)uses / (size_t)t->ncycle;
	t->command.constant = t->alike ? t->command.constant : t->command.len;
	for (size_t i = 0; rows && i < t->nshapes; i++)
		t->shapes[i].prerendered =
		    prerendered_new(t, &t->shapes[i], most);
}

const char *const *
template_fields(const struct template *t)
{
	return (const char *const *)t->fields;
}

struct command *
template_command(struct template *t)
{
	return &t->command;
}

uint64_t
template_takes(const struct template *t, enum template_kind kind, uint64_t turn,
    uint64_t n)
{
	const uint64_t *before = t->before[kind];
	uint64_t from = turn % t->ncycle, to = (turn + n) % t->ncycle;
	uint64_t rounds = (turn + n) / t->ncycle - turn / t->ncycle;

	return rounds * before[t->ncycle] + before[to] - before[from];
}
