#include "schema.h"
#include "err.h"
#include "mem.h"
#include "pg.h"

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

struct schema_column *
schema_add_column(
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
		struct schema_column *c = schema_add_column(s,
		    pg_value(rows, i, 0), coltype_parse(pg_value(rows, i, 1)),
		    *pg_value(rows, i, 2) == 't');

		c->has_default = *pg_value(rows, i, 3) == 't';
		if (*pg_value(rows, i, 4) == 'e')
			c->type.kind = COLTYPE_EXACT;
	}
	pg_free(rows);
	return 0;
}

/* Reads the indexes that plan_make may replace, a row per text column. */
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
		s->indexes = mem_grow(
		    s->indexes, s->nindexes, &s->indexcap, sizeof *s->indexes);
		s->indexes[s->nindexes++] =
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
