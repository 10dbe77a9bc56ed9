#include "show.h"
#include "cmdargs.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "monline.h"
#include "num.h"
#include "sink.h"
#include "table.h"
#include "tracefile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KINDS_MOST 1000 /* that are listed apart */

struct kind {
	uint64_t count, bytes;
	char name[CMDARGS_NAME];
	const char *why; /* it is not sent again; or NULL */
};

struct summary {
	struct intern *names;
	struct kind *kinds;
	size_t n, cap;
	uint64_t commands, conns, bytes, omitted, last_us;
	unsigned databases; /* the highest one, plus 1 */
};

static const char *
explain_omission(const struct tracefile_command *c)
{
	const char *why;

	if (c->omitted && c->n == 1 && cmdargs_is(&c->words[0], "SCRIPT"))
		return "a script sent it";
	why = cmdargs_refuse(c->words, c->n);
	return why || !c->omitted ? why : "it was not hashed";
}

static void
count_command(struct summary *s, const struct tracefile_command *c)
{
	char name[CMDARGS_NAME], id[CMDARGS_NAME + 2];
	const char *why = explain_omission(c);
	struct kind *k;
	size_t i;

	cmdargs_name(c->words, c->n, name);
	snprintf(id, sizeof id, "%d%s", why != NULL, name);
	if (intern_count(s->names) == KINDS_MOST)
		snprintf(id, sizeof id, "%d", why != NULL);
	i = intern_id(s->names, id);
	while (s->n <= i) {
		s->kinds = mem_grow(s->kinds, s->n, &s->cap, sizeof *s->kinds);
		s->kinds[s->n] = (struct kind){.why = why};
		snprintf(s->kinds[s->n++].name, CMDARGS_NAME, "%s",
		    id[1] ? name : "others");
	}
	k = &s->kinds[i];
	k->count++;
	for (i = 0; i < c->n; i++)
		k->bytes += c->words[i].n;
	s->commands++;
	s->omitted += why != NULL;
	s->last_us = c->at_us;
	if (c->db >= s->databases)
		s->databases = c->db + 1;
}

static int
compare_kinds(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
add_kinds(struct str *s, const struct summary *x)
{
	struct table *t = table_new();

	table_titles(t, "command|>count|>bytes each|not sent again");
	for (size_t i = 0; i < x->n; i++) {
		const struct kind *k = &x->kinds[i];

		table_cell(t, k->name);
		table_take(t, mem_printf("%" PRIu64, k->count));
		table_take(
		    t, mem_printf("%.0f", (double)k->bytes / (double)k->count));
		table_cell(t, k->why ? k->why : "");
	}
	table_print(t, s, false);
	table_free(t);
}

static void
add_numbers(struct str *s, const struct json *head, const struct summary *x)
{
	const char *source = json_get_str(head, "source");
	const char *hash = json_get_str(head, "hash");
	const char *started = json_get_str(head, "started");
	char n[NUM_BUF];

	str_add(s, "source       ");
	str_visible(s, source ? source : "unknown");
	str_add(s, "\nstarted      ");
	str_visible(s, started ? started : "unknown");
	str_add(s, "\nhashed       ");
	str_visible(s, hash ? hash : "unknown");
	str_printf(s, "\nduration     %.6f s\n", (double)x->last_us / 1e6);
	str_printf(s, "connections  %" PRIu64 "\n", x->conns);
	str_printf(s, "databases    %u\n", x->databases);
	str_printf(s, "bytes        %s\n", num_human(n, (double)x->bytes));
	str_printf(s,
	    "commands     %" PRIu64 ", of which %" PRIu64
	    " are not sent again\n\n",
	    x->commands, x->omitted);
}

/* Reads a trace to its end. Returns 0 or -1. */
static int
read_summary(struct tracefile *t, struct summary *s)
{
	struct tracefile_command c;
	const char *address;
	int rc;

	while ((rc = tracefile_next(t, &c, &address)) > 0) {
		if (address) {
			s->conns++;
			continue;
		}
		for (size_t i = 0; i < c.n; i++)
			s->bytes += c.words[i].n;
		count_command(s, &c);
	}
	return rc < 0 ? err_fail("%s", tracefile_error(t)) : 0;
}

static struct tracefile *
open_trace(const char *path)
{
	char *why = NULL;
	struct tracefile *t = tracefile_open(path, &why);

	if (!t)
		err_say("%s", why);
	free(why);
	return t;
}

int
show_summary(const char *path)
{
	struct tracefile *t = open_trace(path);
	struct summary s = {0};
	struct sink out = {.fd = STDOUT_FILENO};
	int rc;

	if (!t)
		return -1;
	s.names = intern_new();
	rc = read_summary(t, &s);
	if (s.n)
		qsort(s.kinds, s.n, sizeof *s.kinds, compare_kinds);
	add_numbers(&out.s, tracefile_head(t), &s);
	add_kinds(&out.s, &s);
	intern_free(s.names);
	free(s.kinds);
	tracefile_close(t);
	return sink_close(&out) < 0 ? -1 : rc;
}

/* The addresses of the connections, one after the other. */
struct addresses {
	struct str s;
	size_t *at, n, cap;
};

static void
add_address(struct addresses *a, const char *text)
{
	a->at = mem_grow(a->at, a->n, &a->cap, sizeof *a->at);
	a->at[a->n++] = a->s.len;
	str_visible(&a->s, text);
	str_addc(&a->s, '\0');
}

int
show_monitor(const char *path)
{
	struct tracefile *t = open_trace(path);
	struct tracefile_command c;
	struct addresses a = {0};
	struct sink out = {.fd = STDOUT_FILENO};
	double start_us;
	const char *address;
	int rc;

	if (!t)
		return -1;
	start_us = json_get_num(tracefile_head(t), "start_us", 0);
	if (!(start_us >= 0 && start_us < 1e18))
		start_us = 0;
	while ((rc = tracefile_next(t, &c, &address)) > 0) {
		if (address) {
			add_address(&a, address);
			continue;
		}
		address = a.s.s + a.at[c.conn];
		monline_append(&out.s,
		    &(struct monline){.us = (uint64_t)start_us + c.at_us,
			.db = c.db,
			.address = address,
			.naddress = strlen(address),
			.words = (struct tracefile_word *)(uintptr_t)c.words,
			.n = c.n});
		str_addc(&out.s, '\n');
		sink_relieve(&out);
	}
	if (rc < 0)
		err_say("%s", tracefile_error(t));
	tracefile_close(t);
	str_free(&a.s);
	free(a.at);
	return sink_close(&out) < 0 ? -1 : rc;
}
