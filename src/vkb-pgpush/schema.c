#include "schema.h"
#include "err.h"
#include "flat.h"
#include "mem.h"
#include "pg.h"
#include "spool.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

struct schema *
schema_new(const char *id)
{
	struct schema *s;

	if (pg_table_id(id) < 0)
		return NULL;
	s = mem_new(sizeof *s);
	if (strcmp(id, "core") == 0)
		s->table = mem_str("benchmark_metrics");
	else if (strcmp(id, "tag") == 0)
		s->table = mem_str("benchmark_tags_metrics");
	else {
		s->table = mem_printf("benchmark_metrics_%s", id);
		s->module = true;
	}
	return s;
}

static void
clear_schema(struct schema *s)
{
	for (size_t i = 0; i < s->ncols; i++)
		free(s->cols[i].name);
	for (size_t i = 0; i < s->nsql; i++)
		free(s->sql[i]);
	for (size_t i = 0; i < s->nindexes; i++) {
		free(s->indexes[i].name);
		free(s->indexes[i].column);
		free(s->indexes[i].shorter);
	}
	s->ncols = s->nsql = s->nindexes = s->dropped = s->omitted = 0;
}

void
schema_free(struct schema *s)
{
	if (!s)
		return;
	clear_schema(s);
	free(s->cols);
	free(s->indexes);
	free(s->sql);
	free(s->table);
	free(s);
}

/* Adds a column; borrowed until the next call. */
static struct schema_column *
add_column(
    struct schema *s, const char *name, struct coltype type, bool notnull)
{
	s->cols = mem_grow(s->cols, s->ncols, &s->cap, sizeof *s->cols);
	s->cols[s->ncols] =
	    (struct schema_column){mem_str(name), type, notnull, false};
	return &s->cols[s->ncols++];
}

const struct schema_column *
schema_find_column(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->ncols; i++)
		if (strcmp(s->cols[i].name, name) == 0)
			return &s->cols[i];
	return NULL;
}

static int
read_columns(struct schema *s, struct pg *pg)
{
	const char *args[] = {s->table};
	struct pg_rows *rows = pg_ask(pg,
	    "SELECT a.attname, format_type(b.typ, b.mod), a.attnotnull, "
	    "a.atthasdef OR a.attidentity <> '', t.typtype "
	    "FROM pg_attribute a CROSS JOIN LATERAL ("
	    "WITH RECURSIVE d (typ, mod, depth) AS ("
	    "SELECT a.atttypid, a.atttypmod, 0 UNION ALL "
	    "SELECT t.typbasetype, greatest(d.mod, t.typtypmod), depth + 1 "
	    "FROM d JOIN pg_type t ON t.oid = d.typ WHERE t.typtype = 'd') "
	    "SELECT typ, mod FROM d ORDER BY depth DESC LIMIT 1) b "
	    "JOIN pg_type t ON t.oid = b.typ "
	    "WHERE a.attrelid = to_regclass(quote_ident($1)) "
	    "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
	    args, 1);

	if (!rows)
		return -1;
	for (size_t i = 0; i < pg_count(rows); i++) {
		struct schema_column *c = add_column(s, pg_value(rows, i, 0),
		    coltype_parse(pg_value(rows, i, 1)),
		    *pg_value(rows, i, 2) == 't');

		c->has_default = *pg_value(rows, i, 3) == 't';
		if (*pg_value(rows, i, 4) == 'e')
			c->type.kind = COLTYPE_EXACT;
	}
	pg_free(rows);
	return 0;
}

/* Reads the indexes that schema_plan may replace, a row per text column. */
static int
read_indexes(struct schema *s, struct pg *pg)
{
	const char *args[] = {s->table};
	struct pg_rows *rows = pg_ask(pg,
	    "WITH k AS (SELECT i.indexrelid, x.n, a.attname, "
	    "coalesce(t.typcategory = 'S', false) AS text "
	    "FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
	    "JOIN pg_am m ON m.oid = c.relam "
	    "CROSS JOIN generate_series(1, i.indnkeyatts) AS x (n) "
	    "LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid "
	    "AND a.attnum = i.indkey[x.n - 1] AND a.attnum > 0 "
	    "LEFT JOIN pg_type t ON t.oid = a.atttypid "
	    "WHERE i.indrelid = to_regclass(quote_ident($1)) "
	    "AND m.amname = 'btree' AND i.indpred IS NULL "
	    "AND NOT i.indisunique AND i.indnatts = i.indnkeyatts) "
	    "SELECT k.indexrelid::regclass, k.attname, "
	    "(SELECT string_agg(CASE WHEN y.text "
	    "THEN format('left(%I::text, " SCHEMA_INDEX_CHARS ")', y.attname) "
	    "ELSE pg_get_indexdef(y.indexrelid, y.n, false) END, ', ' "
	    "ORDER BY y.n) FROM k y WHERE y.indexrelid = k.indexrelid) "
	    "FROM k WHERE k.text ORDER BY k.indexrelid, k.n",
	    args, 1);

	if (!rows)
		return -1;
	for (size_t i = 0; i < pg_count(rows); i++) {
		*MEM_ADD(s->indexes, s->nindexes, s->indexcap) =
		    (struct schema_index){mem_str(pg_value(rows, i, 0)),
			mem_str(pg_value(rows, i, 1)),
			mem_str(pg_value(rows, i, 2))};
	}
	pg_free(rows);
	return 0;
}

/* Returns the first character of the column in row 0; '\0' if null. */
static char
get_kind(const struct pg_rows *rows, size_t col)
{
	const char *v = pg_value(rows, 0, col);

	return v ? *v : '\0';
}

int
schema_read(struct schema *s, struct pg *pg)
{
	const char *args[] = {s->table};
	struct pg_rows *have = pg_ask(pg,
	    "SELECT (SELECT relkind FROM pg_class "
	    "WHERE oid = to_regclass(quote_ident($1))), "
	    "(SELECT relkind FROM pg_class WHERE oid = to_regclass('vkb_runs'))"
	    ", EXISTS (SELECT FROM pg_index i WHERE indpred IS NULL "
	    "AND indrelid = to_regclass(quote_ident($1)) "
	    "AND (SELECT string_agg(attname, ' ' ORDER BY n) "
	    "FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS x (a, n) "
	    "JOIN pg_attribute ON attrelid = i.indrelid AND attnum = a) "
	    "= 'vkb_session vkb_case vkb_subject vkb_index'), "
	    "to_regclass(quote_ident('vkb_key_' || $1)) IS NULL "
	    "AND to_regclass(quote_ident('idx_' || $1 || '_commit')) IS NULL, "
	    "(SELECT count(*) FROM pg_attribute WHERE attnum > 0 "
	    "AND attisdropped AND attrelid = to_regclass(quote_ident($1)))",
	    args, 1);

	if (!have)
		return -1;
	clear_schema(s);
	s->kind = get_kind(have, 0);
	s->runs_kind = get_kind(have, 1);
	s->indexed = *pg_value(have, 0, 2) == 't';
	s->names_taken = *pg_value(have, 0, 3) == 'f';
	s->dropped = (size_t)strtoul(pg_value(have, 0, 4), NULL, 10);
	pg_free(have);
	return read_columns(s, pg) < 0 || read_indexes(s, pg) < 0 ? -1 : 0;
}

static int
check_kind(const char *name, char kind)
{
	static const struct {
		char kind;
		const char *what;
	} others[] = {{'v', "a view"}, {'m', "a materialized view"},
	    {'f', "a foreign table"}, {'S', "a sequence"}, {'i', "an index"},
	    {'I', "an index"}, {'c', "a type"}};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].kind == kind)
			return err_fail("database: '%s' is %s, not a table",
			    name, others[i].what);
	return 0;
}

int
schema_check(const struct schema *s)
{
	return check_kind(s->table, s->kind) < 0 ||
		check_kind("vkb_runs", s->runs_kind) < 0
	    ? -1
	    : 0;
}

/* --- the plan */

/* Columns that every table has beside those of the Python tool: the key first.
 */
static const struct flat_key own_columns[] = {
    {"vkb_case", NULL, NULL, .sql = "text"},
    {"vkb_index", NULL, NULL, .sql = "integer"},
    {"vkb_session", NULL, NULL, .sql = "text"},
    {"vkb_subject", NULL, NULL, .sql = "text"},
    {"test_type", NULL, NULL, .sql = "character varying(50)"}};
#define KEYS 4
#define OWN (sizeof own_columns / sizeof *own_columns)

/* Returns the next column that tables have, the first after NULL; NULL: none.
 */
static const struct flat_key *
next_base_column(const struct flat_key *k)
{
	if (!k || (k >= own_columns && k + 1 < own_columns + OWN))
		return k ? k + 1 : own_columns;
	k = k == &own_columns[OWN - 1] ? flat_table : k + 1;
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
	*MEM_ADD(s->sql, s->nsql, s->sqlcap) = str_take(sql);
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

static const struct flat_key *
find_base_column(const char *name)
{
	const struct flat_key *k = next_base_column(NULL);

	while (k && strcmp(k->flat, name) != 0)
		k = next_base_column(k);
	return k;
}

/* Returns the type of a new column; 'from' may be NULL for base columns. */
static struct coltype
choose_new_type(const char *name, const struct spool_column *from)
{
	const struct flat_key *b = find_base_column(name);
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

	for (const struct flat_key *k = next_base_column(NULL); k;
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
			add_column(s, k->flat, choose_new_type(k->flat, from),
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
			add_column(s, c[i].name,
			    choose_new_type(c[i].name, &c[i]), false);
		else if (!s->omitted++)
			s->first_omitted = c[i].key;
	}
}

int
schema_plan(struct schema *s, const struct spool *spool)
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
