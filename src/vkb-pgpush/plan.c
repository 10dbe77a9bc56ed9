#include "plan.h"
#include "err.h"
#include "flatkeys.h"
#include "mem.h"
#include "pg.h"
#include "schema.h"
#include "spool.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/* Columns that every table has beside those of the Python tool: the key first.
 */
static const struct flatkeys_key own_columns[] = {
    {"vkb_case", NULL, NULL, .sql = "text"},
    {"vkb_index", NULL, NULL, .sql = "integer"},
    {"vkb_session", NULL, NULL, .sql = "text"},
    {"vkb_subject", NULL, NULL, .sql = "text"},
    {"test_type", NULL, NULL, .sql = "character varying(50)"}};
#define KEYS 4
#define OWN (sizeof own_columns / sizeof *own_columns)

/* Returns the next column that tables have, the first after NULL; NULL: none.
 */
static const struct flatkeys_key *
next_base_column(const struct flatkeys_key *k)
{
	if (!k || (k >= own_columns && k + 1 < own_columns + OWN))
		return k ? k + 1 : own_columns;
	k = k == &own_columns[OWN - 1] ? flatkeys_table : k + 1;
	while (k->flat && !k->sql)
		k++;
	return k->flat ? k : NULL;
}

#define KEY "(vkb_session, vkb_case, vkb_subject, vkb_index)"

/*
 * A btree entry has at most 2704 bytes. If texts are longer in sum, the index
 * has only their first characters.
 */
#define INDEX_BYTES 2000

static void
add_statement(struct schema *s, struct str *sql)
{
	s->sql = mem_grow(s->sql, s->nsql, &s->sqlcap, sizeof *s->sql);
	s->sql[s->nsql++] = str_take(sql);
}

/* Plans "ALTER TABLE ... ACTION NAME REST". */
static void
plan_alteration(
    struct schema *s, const char *action, const char *name, const char *rest)
{
	struct str sql = {0};

	str_add(&sql, "ALTER TABLE ");
	pg_name(&sql, s->table);
	str_add(&sql, action);
	pg_name(&sql, name);
	str_add(&sql, rest);
	add_statement(s, &sql);
}

static int
compare_by_name(const void *x, const void *y)
{
	const struct schema_column *a = x, *b = y;

	return strcmp(a->name, b->name);
}

/* Appends the type of the column to 'sql'. */
static void
append_type(struct str *sql, const struct schema_column *c)
{
	coltype_print(sql, c->type);
	if (c->notnull)
		str_add(sql, " NOT NULL");
}

static const struct spool_column *
find_source(const struct spool *spool, const char *name)
{
	size_t n;
	const struct spool_column *c = spool_get_columns(spool, &n);

	for (size_t i = 0; i < n; i++)
		if (i != SPOOL_RECORD && strcmp(c[i].name, name) == 0)
			return &c[i];
	return NULL;
}

static size_t
get_longest(const struct spool *spool, const char *name)
{
	const struct spool_column *c = find_source(spool, name);

	return c ? c->summary.longest : 0;
}

/* Plans the indexes that dashboards need; texts that are too long are cut. */
static void
plan_indexes(struct schema *s, const struct spool *spool)
{
	static const struct {
		const char *name, *cols[6];
	} on[] = {{"commit", {"commit"}}, {"timestamp", {"timestamp"}},
	    {"command", {"command"}},
	    {"config",
		{"commit", "command", "data_size", "pipeline", "clients"}}};
	struct str sql = {0};

	for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
		size_t n = 0;

		str_add(&sql, "CREATE INDEX ");
		if (!s->names_taken)
			str_printf(&sql, "idx_%s_%s ", s->table, on[i].name);
		str_printf(&sql, "ON %s (", s->table);
		for (const char *const *c = on[i].cols; *c; c++)
			if (strcmp(*c, "timestamp") != 0)
				n += get_longest(spool, *c);
		for (const char *const *c = on[i].cols; *c; c++) {
			bool cut = n > INDEX_BYTES &&
			    (strcmp(*c, "commit") == 0 ||
				strcmp(*c, "command") == 0);

			str_add(&sql, c == on[i].cols ? "" : ", ");
			str_add(&sql, cut ? "left(" : "");
			pg_name(&sql, *c);
			str_add(&sql, cut ? ", " SCHEMA_INDEX_CHARS ")" : "");
		}
		str_addc(&sql, ')');
		add_statement(s, &sql);
	}
}

/* Plans to replace each index that the longest values would not fit. */
static void
plan_shorter_indexes(struct schema *s, const struct spool *spool)
{
	struct str sql = {0};

	for (size_t i = 0, k; i < s->nindexes; i = k) {
		const struct schema_index *x = &s->indexes[i];
		size_t n = 0;

		for (k = i; k < s->nindexes &&
		     strcmp(s->indexes[k].name, x->name) == 0;
		     k++)
			n += get_longest(spool, s->indexes[k].column);
		if (n <= INDEX_BYTES)
			continue;
		str_printf(&sql, "DROP INDEX %s", x->name);
		add_statement(s, &sql);
		str_printf(
		    &sql, "CREATE INDEX ON %s (%s)", s->table, x->shorter);
		add_statement(s, &sql);
	}
}

static void
plan_table(struct schema *s, const struct spool *spool)
{
	struct str sql = {0};

	qsort(s->cols, s->ncols, sizeof *s->cols, compare_by_name);
	str_add(&sql, "CREATE TABLE ");
	pg_name(&sql, s->table);
	str_add(&sql,
	    " (\n  id SERIAL PRIMARY KEY,\n"
	    "  created_at TIMESTAMPTZ DEFAULT NOW()");
	for (size_t i = 0; i < s->ncols; i++) {
		str_add(&sql, ",\n  ");
		pg_name(&sql, s->cols[i].name);
		str_addc(&sql, ' ');
		append_type(&sql, &s->cols[i]);
	}
	str_add(&sql, "\n)");
	add_statement(s, &sql);
	plan_indexes(s, spool);
}

/* Returns whether NOT NULL must go: some row has no value and no default. */
static bool
must_allow_null(
    const struct schema_column *c, const struct spool_column *from, size_t rows)
{
	if (!c->notnull)
		return false;
	return from && from->n ? from->n < rows : !c->has_default;
}

/* The Python tool numbers groups; here a group may have a name instead. */
static struct coltype
widen_type(const char *name, struct coltype t, const struct spool_column *from)
{
	if (strcmp(name, "group") == 0 && t.kind <= COLTYPE_NUMERIC &&
	    from->summary.values & COLTYPE_STRING)
		return (struct coltype){.kind = COLTYPE_TEXT};
	return coltype_widen(t, &from->summary);
}

/* Plans to widen an old column, and to drop its NOT NULL if rows lack it. */
static void
plan_wider_column(struct schema *s, struct schema_column *c,
    const struct spool_column *from, size_t rows)
{
	struct coltype type =
	    from ? widen_type(c->name, c->type, from) : c->type;
	struct str rest = {0};

	if (!coltype_equal(type, c->type)) {
		c->type = type;
		str_add(&rest, " TYPE ");
		coltype_print(&rest, type);
		plan_alteration(s, " ALTER COLUMN ", c->name, rest.s);
		str_free(&rest);
	}
	if (must_allow_null(c, from, rows)) {
		c->notnull = false;
		plan_alteration(s, " ALTER COLUMN ", c->name, " DROP NOT NULL");
	}
}

static const struct flatkeys_key *
find_base_column(const char *name)
{
	const struct flatkeys_key *k = next_base_column(NULL);

	while (k && strcmp(k->flat, name) != 0)
		k = next_base_column(k);
	return k;
}

/* Returns the type of a new column; 'from' may be NULL for base columns. */
static struct coltype
choose_new_type(const char *name, const struct spool_column *from)
{
	const struct flatkeys_key *b = find_base_column(name);
	struct coltype t;

	if (!b)
		return coltype_choose(&from->summary);
	t = coltype_parse(b->sql);
	return from ? widen_type(name, t, from) : t;
}

static void
plan_runs_table(struct schema *s)
{
	struct str sql = {0};

	str_add(&sql,
	    "CREATE TABLE vkb_runs (\n  id BIGSERIAL PRIMARY KEY,\n"
	    "  created_at TIMESTAMPTZ DEFAULT NOW(),\n"
	    "  metrics_table TEXT NOT NULL,\n  vkb_session TEXT NOT NULL,\n"
	    "  vkb_case TEXT NOT NULL,\n  vkb_subject TEXT NOT NULL,\n"
	    "  vkb_index INTEGER NOT NULL,\n  \"timestamp\" TIMESTAMPTZ,\n"
	    "  record JSON NOT NULL,\n  UNIQUE (metrics_table, vkb_session, "
	    "vkb_case, vkb_subject, vkb_index)\n)");
	add_statement(s, &sql);
}

/* Returns whether the table is full; a new table gets id and created_at too. */
static bool
is_full(const struct schema *s)
{
	return s->ncols + s->dropped + (s->kind ? 0 : 2) >= SCHEMA_COLUMNS;
}

static int
plan_base_columns(struct schema *s, const struct spool *spool)
{
	size_t had = s->ncols, rows = spool_count_rows(spool);
	const struct spool_column *from;

	for (const struct flatkeys_key *k = next_base_column(NULL); k;
	     k = next_base_column(k)) {
		if ((k->module && !s->module) || schema_find_column(s, k->flat))
			continue;
		if (is_full(s) && k < own_columns + KEYS && k >= own_columns)
			return err_fail("database: '%s' has %d columns, "
					"including dropped ones: there is no "
					"room for the key's columns",
			    s->table, SCHEMA_COLUMNS);
		from = find_source(spool, k->flat);
		if (!is_full(s))
			schema_add_column(s, k->flat,
			    choose_new_type(k->flat, from),
			    k->notnull && !had && from && from->n == rows);
	}
	return 0;
}

static void
plan_other_columns(struct schema *s, const struct spool *spool)
{
	size_t n;
	const struct spool_column *c = spool_get_columns(spool, &n);

	for (size_t i = 0; i < n; i++) {
		if (i == SPOOL_RECORD || !c[i].n ||
		    schema_find_column(s, c[i].name))
			continue;
		if (!is_full(s))
			schema_add_column(s, c[i].name,
			    choose_new_type(c[i].name, &c[i]), false);
		else if (!s->omitted++)
			s->first_omitted = c[i].key;
	}
}

int
plan_make(struct schema *s, const struct spool *spool)
{
	size_t had = s->ncols;
	struct str sql = {0};

	for (size_t i = 0; i < had; i++)
		if (strcmp(s->cols[i].name, "id") != 0 &&
		    strcmp(s->cols[i].name, "created_at") != 0)
			plan_wider_column(s, &s->cols[i],
			    find_source(spool, s->cols[i].name),
			    spool_count_rows(spool));
	if (plan_base_columns(s, spool) < 0)
		return -1;
	plan_other_columns(s, spool);
	if (!s->kind)
		plan_table(s, spool);
	else
		plan_shorter_indexes(s, spool);
	for (size_t i = had; s->kind && i < s->ncols; i++) {
		str_addc(&sql, ' ');
		append_type(&sql, &s->cols[i]);
		plan_alteration(s, " ADD COLUMN ", s->cols[i].name, sql.s);
		str_clear(&sql);
	}
	if (!s->indexed) {
		str_printf(
		    &sql, "CREATE %sINDEX ", s->kind == 'p' ? "" : "UNIQUE ");
		if (!s->names_taken)
			str_printf(&sql, "vkb_key_%s ", s->table);
		str_printf(&sql, "ON %s " KEY, s->table);
		add_statement(s, &sql);
	}
	str_free(&sql);
	if (!s->runs_kind)
		plan_runs_table(s);
	return 0;
}
