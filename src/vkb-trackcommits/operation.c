#include "operation.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "str.h"
#include "table.h"

#include <string.h>

static bool
is_format(const struct session *s, const char *name)
{
	return s->o->format && strcmp(s->o->format, name) == 0;
}

static void
print_id(struct session *s, const char *sha, size_t i)
{
	str_printf(&s->out.s, "%s%s", i ? " " : "", sha);
}

/* --- what they print */

/* Takes the record. */
static void
append_record(struct str *out, struct json *rec)
{
	json_append_line(out, rec);
	json_free(rec);
}

/* Adds "2026-03-02 08:00:00", or "-" if v is 0. */
static void
add_time_cell(struct table *t, double v)
{
	char iso[CLOCK_ISO];

	if (!(v > 0)) {
		table_cell(t, "-");
		return;
	}
	clock_iso_of(iso, v);
	iso[strlen("2026-03-02T08:00:00")] = '\0';
	iso[strlen("2026-03-02")] = ' ';
	table_cell(t, iso);
}

static void
add_short_cell(struct table *t, const char *s, size_t most)
{
	table_take(t, s ? mem_strn(s, strnlen(s, most)) : mem_str("-"));
}

static void
add_row_cells(struct table *t, const struct row *r, double now)
{
	add_short_cell(t, r->sha, 12);
	add_time_cell(t, r->time);
	table_cell(t, rules_names[r->status]);
	table_cell(t, r->owner ? r->owner : "-");
	if (r->status == RULES_IN_PROGRESS && rules_lease_end(r) <= now)
		table_cell(t, "ended");
	else
		add_time_cell(
		    t, r->status == RULES_IN_PROGRESS ? rules_lease_end(r) : 0);
	table_take(t, mem_printf("%lld", r->attempts));
	table_cell(t, r->architecture ? r->architecture : "-");
	add_short_cell(t, r->config_hash, 8);
	table_cell(t, r->reason ? r->reason : "");
}

/* Prints rows as a table ('text'), all ids on one line, as the Python tool
 * does, or a record each. */
static void
print_rows(struct session *s, const struct rowlist *rows)
{
	struct table *t;

	if (is_format(s, "shas")) {
		for (size_t i = 0; i < rows->n; i++)
			print_id(s, rows->v[i].sha, i);
		str_addc(&s->out.s, '\n');
		return;
	}
	if (is_format(s, "jsonl")) {
		for (size_t i = 0; i < rows->n; i++) {
			struct json *rec = record_new("track");

			store_fill_record(rec, &rows->v[i]);
			append_record(&s->out.s, rec);
		}
		return;
	}
	t = table_new();
	table_titles(t,
	    "commit|time|status|owner|lease until|taken|architecture|config|"
	    "reason");
	for (size_t i = 0; i < rows->n; i++)
		add_row_cells(t, &rows->v[i], s->work.rules.now);
	table_print(t, &s->out.s, false);
	table_free(t);
}

static struct json *
make_config_record(const struct config *c)
{
	struct json *rec = record_new("track_config");

	json_set_str(rec, "config_hash", c->hash);
	if (c->text)
		json_set(rec, "config",
		    json_parse(c->text, strlen(c->text), NULL, NULL));
	for (size_t i = RULES_IN_PROGRESS; i <= RULES_FAILED; i++)
		json_set_num(rec, rules_names[i], (double)c->counts[i]);
	return rec;
}

static void
print_config_table(struct str *out, const struct configs *c)
{
	struct table *t = table_new();

	table_titles(t, "config|in_progress|complete|failed|content");
	for (size_t i = 0; i < c->n; i++) {
		add_short_cell(t, c->v[i].hash, 8);
		for (size_t k = RULES_IN_PROGRESS; k <= RULES_FAILED; k++)
			table_take(t, mem_printf("%lld", c->v[i].counts[k]));
		add_short_cell(t, c->v[i].text, 60);
	}
	table_print(t, out, false);
	table_free(t);
}

static void
print_commits(struct session *s, const struct commits *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_format(s, "shas"))
			print_id(s, c->v[i].sha, i);
		else
			append_record(&s->out.s, json_dup(c->v[i].rec));
	if (is_format(s, "shas"))
		str_addc(&s->out.s, '\n');
}

/* --- the operations, which run within a transaction */

static int
do_nothing(struct session *s)
{
	(void)s;
	return 0;
}

static int
find_next(struct session *s, bool claim)
{
	struct commits found = {0};
	int rc = work_find_next(
	    &s->work, &s->history, (size_t)s->o->most, claim, &found);

	if (rc == 0)
		print_commits(s, &found);
	work_commits_free(&found);
	return rc;
}

static int
determine_commits(struct session *s)
{
	return find_next(s, false);
}

static int
list_history(struct session *s)
{
	const struct lineage *h = &s->history;
	struct commits all = {0};
	struct json *rec;
	double time;
	int rc;

	for (size_t i = 0; i < h->n; i++) {
		rec = lineage_make_record(h->repo, h->ids[i], h->branch, &time);
		if (!rec)
			break;
		work_commits_add(&all, h->ids[i], time, rec);
	}
	rc = all.n == h->n ? 0 : -1;
	if (rc == 0)
		print_commits(s, &all);
	work_commits_free(&all);
	return rc;
}

int
operation_claim(struct session *s)
{
	struct commits taken = {0};
	int rc;

	if (!s->named.n)
		return find_next(s, true);
	rc = work_change(&s->work, &s->named, RULES_IN_PROGRESS, NULL, &taken);
	if (rc >= 0 && taken.n)
		print_commits(s, &taken);
	work_commits_free(&taken);
	return rc;
}

int
operation_mark(struct session *s)
{
	return work_change(&s->work, &s->named, rules_find_status(s->o->status),
	    s->o->reason, NULL);
}

int
operation_prolong(struct session *s)
{
	return work_prolong(&s->work, &s->named);
}

static int
give_back_claims(struct session *s)
{
	size_t n;
	int rc = work_drop_claims(&s->work, &n);

	if (rc == 0)
		err_say(
		    "%zu claim%s given back", n, n == 1 ? " was" : "s were");
	return rc;
}

int
operation_list_configs(struct session *s)
{
	struct configs configs = {0};
	int rc = s->work.store->ops->configs(s->work.store, &configs);

	for (size_t i = 0; i < configs.n && is_format(s, "jsonl"); i++)
		append_record(&s->out.s, make_config_record(&configs.v[i]));
	if (rc == 0 && !is_format(s, "jsonl"))
		print_config_table(&s->out.s, &configs);
	store_configs_free(&configs);
	return rc;
}

int
operation_query(struct session *s)
{
	struct wanted wanted = {.config = s->work.config,
	    .architecture = s->o->arch,
	    .owner = s->o->owner,
	    .status = rules_find_status(s->o->status)};
	struct store *store = s->work.store;
	struct rowlist rows = {0};
	int rc = 0;

	if (s->o->list_configs)
		return operation_list_configs(s);
	for (size_t i = 0; rc == 0 && i < s->named.n; i++) {
		wanted.sha = s->named.v[i].sha;
		rc = store->ops->read(store, &wanted, &rows);
	}
	if (!s->named.n)
		rc = store->ops->read(store, &wanted, &rows);
	if (rc == 0)
		print_rows(s, &rows);
	store_rows_free(&rows);
	return rc;
}

static const struct operation operations[] = {
    {"init", do_nothing, OPERATION_ALONE},
    {"history", list_history,
	OPERATION_NEEDS_REPO | OPERATION_HISTORY | OPERATION_NO_STORE},
    {"determine", determine_commits, OPERATION_NEEDS_REPO | OPERATION_HISTORY},
    {"claim", operation_claim,
	OPERATION_NEEDS_CONFIG | OPERATION_NEEDS_REPO | OPERATION_MAY_COMMITS |
	    OPERATION_HISTORY | OPERATION_ALONE},
    {"mark", operation_mark,
	OPERATION_NEEDS_CONFIG | OPERATION_NEEDS_COMMITS | OPERATION_ALONE},
    {"heartbeat", operation_prolong,
	OPERATION_MAY_COMMITS | OPERATION_ANY_ARCH},
    {"cleanup", give_back_claims, OPERATION_ANY_ARCH},
    {"query", operation_query, OPERATION_MAY_COMMITS | OPERATION_ANY_ARCH},
    {"configs", operation_list_configs, 0},
    {NULL, NULL, 0},
};

const struct operation *
operation_find(const char *name)
{
	for (const struct operation *v = operations; v->name; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}
