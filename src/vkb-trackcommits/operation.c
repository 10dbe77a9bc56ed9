#include "operation.h"
#include "err.h"
#include "json.h"
#include "listing.h"
#include "str.h"

#include <string.h>

static bool
is_format(const struct session *s, const char *name)
{
	return s->o->format && strcmp(s->o->format, name) == 0;
}

/* Prints all ids on one line, as the Python tool does, or a record each. */
static void
print_commits(struct session *s, const struct commits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (is_format(s, "shas")) {
			str_printf(
			    &s->out.s, "%s%s", i ? " " : "", c->v[i].sha);
			continue;
		}
		json_append(&s->out.s, c->v[i].rec);
		str_addc(&s->out.s, '\n');
	}
	if (is_format(s, "shas"))
		str_addc(&s->out.s, '\n');
}

static void
print_rows(struct session *s, const struct rowlist *rows)
{
	struct commits c = {0};

	if (!is_format(s, "shas")) {
		listing_print_rows(
		    &s->out.s, rows, s->work.rules.now, !is_format(s, "jsonl"));
		return;
	}
	for (size_t i = 0; i < rows->n; i++)
		work_commits_add(&c, rows->v[i].sha, 0, NULL);
	print_commits(s, &c);
	work_commits_free(&c);
}

/* The operations run within a transaction. */

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
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < h->n; i++) {
		rec = lineage_make_record(h->repo, h->ids[i], h->branch, &time);
		if (rec)
			work_commits_add(&all, h->ids[i], time, rec);
		else
			rc = -1;
	}
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

	if (rc == 0)
		listing_print_configs(
		    &s->out.s, &configs, !is_format(s, "jsonl"));
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
