/*
 * vkb-pgpush: stores run records, each once, in the PostgreSQL tables of the
 * Python tool; with --export, reads them back as run records.
 */
#include "err.h"
#include "flat.h"
#include "hashset.h"
#include "intern.h"
#include "json.h"
#include "jsonhash.h"
#include "jsonl.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "pg.h"
#include "record.h"
#include "resultsdir.h"
#include "sink.h"
#include "str.h"
#include "vkb-pgpush/coltype.h"
#include "vkb-pgpush/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The state of the tables in the database, and after the plan: a metrics table
 * of the Python tool with our columns for the key of a run, and vkb_runs with
 * the whole records.
 */

struct schema_column {
	char *name;
	struct coltype type;
	bool notnull, has_default;
};

/* Limits of a table: columns, including dropped ones, and bytes in a row. */
#define SCHEMA_COLUMNS 1600

#define SCHEMA_ROW 8160

/* Characters that an index has of a text that is too long for it. */
#define SCHEMA_INDEX_CHARS "100"

/* An index, with one of its text columns. */
struct schema_index {
	char *name, *column;
	char *shorter; /* its columns as SQL, with texts cut */
};

struct schema {
	char *table; /* benchmark_metrics, ... */
	bool module; /* table of a module: has columns for scenarios */
	bool indexed;
	char kind, runs_kind; /* as pg_class.relkind; 0: it does not exist */
	bool names_taken;     /* the names for our indexes are taken */
	struct schema_index *indexes;
	size_t nindexes, indexcap;
	struct schema_column *cols; /* the columns, after the plan if any */
	size_t ncols, cap;
	size_t dropped; /* number of dropped columns */
	size_t omitted; /* number of keys that get no column */
	const char
	    *first_omitted; /* the first of them; borrowed of the spool */
	char **sql;         /* the plan, as statements */
	size_t nsql, sqlcap;
};

/* 'id' is core, tag or a module's name. NULL if invalid (error reported). */
static struct schema *
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

static void
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

static const struct schema_column *
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

/* Reads the state from the database. Returns 0, or -1 (error reported). */
static int
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

/* Returns 0 if both are tables or missing, or -1 (error reported). */
static int
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
#define KEY_COLUMNS 4
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
		if (is_full(s) && k < own_columns + KEY_COLUMNS &&
		    k >= own_columns)
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

/*
 * Plans the changes that the tables need before the rows of a spool fit: SQL
 * statements for what is missing or too narrow. Also counts the keys that get
 * no column because the table is full. Returns 0, or -1 if the key's columns do
 * not fit (error reported).
 */
static int
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

/* Copies the rows of a spool that fit and are not stored yet to the tables. */

struct feed {
	struct spool *spool;
	bool quiet;          /* do not report refused rows again */
	size_t refused;      /* number of refused rows */
	bool *is_refused;    /* for each row */
	const char *rounded; /* a column that rounds some times, or NULL */
	size_t cut;          /* values left out because their row is too long */
};

#define PIECE ((size_t)1 << 16)
#define SESSIONS 1000          /* sessions of one query */
#define KEYS (SPOOL_INDEX + 1) /* columns of a key, the first of the spool */

/* A column of the table that is filled. */
struct target {
	const char *name;
	size_t from; /* column of the spool */
	struct coltype type;
	bool timed; /* it must also be a time, for vkb_runs */
	bool fits;  /* all its values fit */
};

static const struct coltype time_type = {
    COLTYPE_TIMESTAMPTZ, COLTYPE_SECOND, 0};

/* Columns that are filled: first those that describe a run, then its metrics.
 */
struct targets {
	struct target *v;
	size_t n, described;
	size_t room; /* bytes of a row for their values */
};

static void
add_targets(struct targets *t, const struct schema *s,
    const struct spool *spool, bool measured)
{
	size_t n;
	const struct spool_column *c = spool_get_columns(spool, &n);

	for (size_t i = 0; i < n; i++) {
		struct target *x = &t->v[t->n];
		const struct schema_column *to;

		if (i == SPOOL_RECORD || !c[i].n || c[i].measured != measured)
			continue;
		to = schema_find_column(s, c[i].name);
		if (!to)
			continue;
		*x = (struct target){
		    .name = c[i].name, .from = i, .type = to->type};
		x->timed = strcmp(x->name, "timestamp") == 0;
		x->fits = coltype_fits(x->type, &c[i].summary) &&
		    (!x->timed || coltype_fits(time_type, &c[i].summary));
		t->n++;
	}
}

static struct targets
make_targets(const struct schema *s, const struct spool *spool)
{
	size_t n;
	struct targets t = {
	    .room = SCHEMA_ROW - 32 - (s->ncols + s->dropped) / 8};

	spool_get_columns(spool, &n);
	t.v = mem_array(n, sizeof *t.v);
	add_targets(&t, s, spool, false);
	t.described = t.n;
	add_targets(&t, s, spool, true);
	return t;
}

static void
append_copy_value(
    struct str *out, const struct target *t, const struct spool_value *x)
{
	bool json =
	    t->type.kind == COLTYPE_JSON || t->type.kind == COLTYPE_JSONB;
	struct json *j;
	char *text;

	if (!x->kind)
		str_addn(out, "\\N", 2);
	else if (x->kind == COLTYPE_NUMBER || x->kind == COLTYPE_BOOL)
		str_addn(out, x->text, x->len);
	else if (json && x->kind == COLTYPE_STRING) {
		j = json_string(x->text);
		text = json_print(j);
		pg_copy_value(out, text, strlen(text));
		free(text);
		json_free(j);
	} else
		pg_copy_value(out, x->text, x->len);
}

/* Appends the value or, if the rest of the row is too short for it, null. */
static void
append_fitting_value(struct str *out, const struct target *t,
    const struct spool_value *x, size_t *room, size_t *cut)
{
	static const struct spool_value none = {0};
	size_t n = x->kind ? coltype_bytes(t->type, x->len) : 0;

	if (n > *room) {
		(*cut)++;
		x = &none;
	} else
		*room -= n;
	append_copy_value(out, t, x);
}

/* Returns 0 if the row fits the types, or -1 (reported unless f->quiet). */
static int
check_row(
    const struct feed *f, const struct targets *t, const struct spool_row *row)
{
	size_t n;
	const struct spool_column *cols = spool_get_columns(f->spool, &n);

	for (size_t i = 0; i < t->n; i++) {
		const struct spool_value *x;
		const char *wants = NULL;

		if (t->v[i].fits)
			continue;
		x = &row->values[t->v[i].from];
		if (x->kind)
			wants =
			    coltype_find_need(t->v[i].type, x->kind, x->text);
		if (x->kind && !wants && t->v[i].timed)
			wants = coltype_find_need(time_type, x->kind, x->text);
		if (!wants)
			continue;
		if (!f->quiet)
			err_say("%s: '%s' is '%.100s', but column '%s' needs "
				"%s: the run is not stored",
			    row->where, cols[t->v[i].from].key, x->text,
			    t->v[i].name, wants);
		return -1;
	}
	return 0;
}

/* What describes a run fills at most half of the row, whatever comes with the
 * environment and the configuration: the rest is for the metrics. */
static void
append_metrics_line(struct str *out, struct feed *f, const struct targets *t,
    const struct spool_row *row)
{
	size_t room = t->room / 2;

	for (size_t i = 0; i < t->n; i++) {
		if (i == t->described)
			room += t->room - t->room / 2;
		if (i)
			str_addc(out, '\t');
		append_fitting_value(
		    out, &t->v[i], &row->values[t->v[i].from], &room, &f->cut);
	}
	str_addc(out, '\n');
}

static void
append_record_line(struct str *out, const char *table, size_t timestamp,
    const struct spool_row *row)
{
	static const struct target plain = {.type = {.kind = COLTYPE_TEXT}};
	const size_t cols[] = {SPOOL_SESSION, SPOOL_CASE, SPOOL_SUBJECT,
	    SPOOL_INDEX, timestamp, SPOOL_RECORD};

	str_add(out, table);
	for (size_t i = 0; i < sizeof cols / sizeof *cols; i++) {
		str_addc(out, '\t');
		append_copy_value(out, &plain, &row->values[cols[i]]);
	}
	str_addc(out, '\n');
}

/* The state of one COPY. */
struct copy_state {
	struct feed *feed;
	struct pg *pg;
	struct hashset *known;   /* keys that the table has, see hash_key */
	const struct targets *t; /* NULL: vkb_runs */
	const char *table;       /* for vkb_runs: metrics_table */
	size_t timestamp;        /* column of the spool */
};

/*
 * Returns a hash of a run's key: session, case, subject, index. Ignores case
 * and subject if the session is made of the whole run (SPOOL_OBJECT):
 * they differ between a metrics.json and the more detailed records it was made
 * of.
 */
static unsigned long long
hash_key(const struct spool_value key[KEYS])
{
	bool whole = str_starts(key[SPOOL_SESSION].text, SPOOL_OBJECT);
	uint64_t h = 0;

	for (size_t i = 0; i < KEYS; i++)
		if (!whole || i == SPOOL_SESSION || i == SPOOL_INDEX)
			h = jsonhash_bytes(h, key[i].text, key[i].len);
	return h;
}

static int
add_known_key(void *known, const struct pg_rows *rows, size_t row)
{
	struct spool_value key[KEYS];

	for (size_t i = 0; i < KEYS; i++) {
		const char *text = pg_value(rows, row, i);

		key[i].text = text ? text : "";
		key[i].len = strlen(key[i].text);
	}
	hashset_add(known, hash_key(key));
	return 0;
}

/* Reads the keys of the spool's sessions in rows that match 'where'. */
static int
read_known_keys(
    const struct copy_state *p, const char *table, const char *where)
{
	const struct intern *sessions = spool_get_sessions(p->feed->spool);
	size_t n = intern_count(sessions);
	struct str sql = {0};
	int rc = 0;

	str_printf(&sql,
	    "SELECT vkb_session, vkb_case, vkb_subject, vkb_index FROM %s "
	    "WHERE %s AND vkb_session = ANY "
	    "(ARRAY(SELECT json_array_elements_text($1::json)))",
	    table, where);
	for (size_t i = 0; i < n && rc == 0; i += SESSIONS) {
		struct json *some = json_array();
		char *text;

		for (size_t k = i; k < n && k < i + SESSIONS; k++)
			json_push(some, json_string(intern_text(sessions, k)));
		text = json_print(some);
		rc = pg_each(p->pg, sql.s, (const char *[]){text}, 1,
		    add_known_key, p->known);
		free(text);
		json_free(some);
	}
	str_free(&sql);
	return rc;
}

static bool
is_stored(const struct copy_state *p, const struct spool_row *row)
{
	struct spool_value key[KEYS];

	for (size_t i = 0; i < KEYS; i++)
		key[i] = row->values[i];
	return hashset_add(p->known, hash_key(key));
}

/* Returns whether to send row i: it fits, and is not stored yet. */
static bool
is_row_wanted(const struct copy_state *p, const struct spool_row *row, size_t i)
{
	struct feed *f = p->feed;

	if (p->t && check_row(f, p->t, row) < 0) {
		f->refused++;
		f->is_refused[i] = true;
	}
	return !f->is_refused[i] && p->pg && !is_stored(p, row);
}

static int
send_rows(const struct copy_state *p)
{
	struct feed *f = p->feed;
	struct str out = {0};
	struct spool_row row;
	int rc = spool_rewind(f->spool);

	for (size_t i = 0; rc >= 0 && (rc = spool_next(f->spool, &row)) > 0;
	     i++) {
		if (!is_row_wanted(p, &row, i))
			continue;
		if (p->t)
			append_metrics_line(&out, f, p->t, &row);
		else
			append_record_line(&out, p->table, p->timestamp, &row);
		if (out.len < PIECE)
			continue;
		if ((rc = pg_copy_put(p->pg, out.s, out.len)) < 0)
			break;
		str_clear(&out);
	}
	if (rc == 0 && out.len)
		rc = pg_copy_put(p->pg, out.s, out.len);
	str_free(&out);
	return rc;
}

/* Copies the rows that are not stored yet. Returns their number, or -1. */
static long long
copy_rows(struct copy_state *p, const char *table, const char *where,
    const char *columns)
{
	struct str sql = {0};
	long long rc = -1;

	p->known = hashset_new();
	str_printf(&sql, "COPY %s (%s) FROM STDIN", table, columns);
	if (!p->pg)
		rc = send_rows(p);
	else if (read_known_keys(p, table, where) == 0 &&
	    pg_copy_begin(p->pg, sql.s) == 0 && send_rows(p) == 0)
		rc = pg_copy_end(p->pg);
	hashset_free(p->known);
	str_free(&sql);
	return rc;
}

/*
 * Stores the rows. Needs a transaction that holds the lock, after the plan was
 * carried out. Returns the number of rows stored, or -1 (error reported). If
 * 'pg' is NULL, only reports the rows that would be refused.
 */
static long long
store_metrics(struct feed *f, struct pg *pg, const struct schema *s)
{
	struct targets t;
	struct copy_state p = {.feed = f, .pg = pg, .t = &t};
	struct str columns = {0};
	const struct spool_column *from;
	size_t count;
	long long n;

	f->refused = 0;
	f->is_refused =
	    mem_array(spool_count_rows(f->spool), sizeof *f->is_refused);
	t = make_targets(s, f->spool);
	from = spool_get_columns(f->spool, &count);
	for (size_t i = 0; i < t.n; i++) {
		if (i)
			str_add(&columns, ", ");
		pg_name(&columns, t.v[i].name);
		if (coltype_rounds(t.v[i].type, &from[t.v[i].from].summary))
			f->rounded = t.v[i].name;
	}
	n = copy_rows(&p, s->table, "true", columns.s);
	str_free(&columns);
	free(t.v);
	return n;
}

/* Stores the same rows in vkb_runs; call it after store_metrics. */
static long long
store_records(struct feed *f, struct pg *pg, const struct schema *s)
{
	struct copy_state p = {.feed = f,
	    .pg = pg,
	    .table = s->table,
	    .timestamp = spool_get_column(f->spool, "timestamp")};
	char *where = mem_printf("metrics_table = '%s'", s->table);
	long long n = copy_rows(&p, "vkb_runs", where,
	    "metrics_table, vkb_session, vkb_case, vkb_subject, vkb_index, "
	    "\"timestamp\", record");

	free(where);
	return n;
}

static void
free_feed(struct feed *f)
{
	free(f->is_refused);
}

/*
 * Stores records other than runs in separate tables: env records in
 * vkb_envs, which the session joins to runs, and change records, the last
 * results of vkb-detect for each table of runs, in vkb_changes.
 */

enum { OTHERS_ENV, OTHERS_CHANGE, OTHERS_TYPES };

struct others {
	struct others_list {
		char **records; /* JSON texts */
		size_t n, cap;
		size_t stored; /* set by push_others: records new or changed */
	} lists[OTHERS_TYPES];
};

/* The parameters of 'insert' are those of store_record. */
static const struct {
	const char *type, *name, *columns, *insert;
} tables[OTHERS_TYPES] = {
    [OTHERS_ENV] = {"env", "vkb_envs",
	"\n  vkb_session TEXT NOT NULL,\n  vkb_hash TEXT NOT NULL,\n"
	"  created_at TIMESTAMPTZ DEFAULT NOW(),\n  host TEXT,\n"
	"  \"time\" TIMESTAMPTZ,\n  record JSON NOT NULL,\n"
	"  PRIMARY KEY (vkb_session, vkb_hash)\n",
	"INSERT INTO vkb_envs (vkb_session, vkb_hash, host, \"time\", "
	"record) SELECT $1, $2, $3, $4::timestamptz, $5::json "
	"WHERE NOT EXISTS (SELECT FROM vkb_envs "
	"WHERE vkb_session = $1 AND vkb_hash = $2)"},
    [OTHERS_CHANGE] = {"change", "vkb_changes",
	"\n  metrics_table TEXT NOT NULL,\n  vkb_key TEXT NOT NULL,\n"
	"  vkb_case TEXT NOT NULL,\n"
	"  created_at TIMESTAMPTZ DEFAULT NOW(),\n"
	"  seen_at TIMESTAMPTZ DEFAULT NOW(),\n"
	"  \"time\" TIMESTAMPTZ,\n  record JSON NOT NULL,\n"
	"  PRIMARY KEY (metrics_table, vkb_key)\n",
	"INSERT INTO vkb_changes (metrics_table, vkb_key, vkb_case, "
	"\"time\", record) VALUES ($1, $2, $3, $4::timestamptz, $5::json) "
	"ON CONFLICT (metrics_table, vkb_key) DO UPDATE SET seen_at = "
	"NOW(), \"time\" = excluded.\"time\", record = excluded.record"}};

/* Sets 'text' to the hash of a record or a section, as 16 digits. */
static void
format_hash(char text[17], const struct json *j)
{
	struct str s = {0};

	json_canonical(&s, j);
	snprintf(text, 17, "%016llx", str_hash(STR_HASH, s.s, s.len));
	str_free(&s);
}

/* Adds the record if it is of one of the types. */
static void
keep_other(struct others *o, const struct json *rec)
{
	for (size_t i = 0; i < OTHERS_TYPES; i++) {
		struct others_list *l = &o->lists[i];

		if (!record_is(rec, tables[i].type))
			continue;
		*MEM_ADD(l->records, l->n, l->cap) = json_print(rec);
	}
}

static void
free_others(struct others *o)
{
	for (size_t i = 0; i < OTHERS_TYPES; i++) {
		for (size_t k = 0; k < o->lists[i].n; k++)
			free(o->lists[i].records[k]);
		free(o->lists[i].records);
	}
}

static void
append_table(struct str *s, size_t i)
{
	str_printf(
	    s, "CREATE TABLE %s (%s)", tables[i].name, tables[i].columns);
}

/* Appends the statements that create the tables which the records need. */
static void
append_other_tables(const struct others *o, struct str *s)
{
	for (size_t i = 0; i < OTHERS_TYPES; i++)
		if (o->lists[i].n) {
			append_table(s, i);
			str_add(s, ";\n");
		}
}

/* Creates the table only if missing: the role may lack the right to create. */
static int
ensure_table(struct pg *pg, size_t i)
{
	struct pg_rows *rows =
	    pg_ask(pg, "SELECT 1 WHERE to_regclass($1) IS NOT NULL",
		(const char *[]){tables[i].name}, 1);
	struct str sql = {0};
	int rc = rows ? 0 : -1;

	if (rows && !pg_count(rows)) {
		append_table(&sql, i);
		rc = pg_do(pg, sql.s, NULL, 0) < 0 ? -1 : 0;
	}
	pg_free(rows);
	str_free(&sql);
	return rc;
}

/* Stores a record; a change without a key has its hash as the key. Returns 1, 0
 * if it was there already, or -1 (error reported). */
static long long
store_record(
    struct pg *pg, size_t type, const char *metrics_table, const char *text)
{
	struct json *rec = json_parse(text, strlen(text), NULL, NULL);
	const char *args[5] = {[4] = text}, *key, *time;
	char hash[17], of_case[17];
	long long n;

	format_hash(hash, rec);
	if (type == OTHERS_ENV) {
		key = json_get_str(rec, "session");
		args[0] = key ? key : "";
		args[1] = hash;
		args[2] = json_str(json_path(rec, "env.host"));
		time = json_get_str(rec, "time");
	} else {
		format_hash(of_case, json_get(rec, "config"));
		key = json_get_str(rec, "key");
		args[0] = metrics_table;
		args[1] = key ? key : hash;
		args[2] = of_case;
		time = json_get_str(rec, "first_seen");
	}
	args[3] = time && coltype_is_time(time) ? time : NULL;
	n = pg_do(pg, tables[type].insert, args, 5);
	json_free(rec);
	return n;
}

/*
 * Creates the tables that are missing and stores the records: env records that
 * are not there, and the changes of 'metrics_table', which replace those with
 * their keys. Needs a transaction that holds the lock. Returns 0, or -1 (error
 * reported).
 */
static int
push_others(struct others *o, struct pg *pg, const char *metrics_table)
{
	long long n;

	for (size_t i = 0; i < OTHERS_TYPES; i++) {
		struct others_list *l = &o->lists[i];

		l->stored = 0;
		if (l->n && ensure_table(pg, i) < 0)
			return -1;
		for (size_t k = 0; k < l->n; k++) {
			n = store_record(pg, i, metrics_table, l->records[k]);
			if (n < 0)
				return -1;
			l->stored += (size_t)n;
		}
	}
	return 0;
}

struct opts {
	const char *database, *table, *type, *since;
	bool dry, export, quiet;
};

#define AT(f) offsetof(struct opts, f)
#define TRIES 4

static const struct opt option_table[] = {
    {0, "database", OPT_STR, AT(database), "CONNINFO",
	.help = "name, settings or URI; without a password"},
    {0, "dry-run", OPT_FLAG, AT(dry),
	.help = "print the planned SQL; needs no server"},
    {0, "export", OPT_FLAG, AT(export),
	.help = "write the stored runs to stdout as run records"},
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print only errors"},
    {0, "since", OPT_STR, AT(since), "TIME",
	.help = "export runs from this time on: 2026-03-02"},
    {0, "table", OPT_STR, AT(table), "ID",
	.help = "use table core (default), tag, or a module's"},
    {0, "test-type", OPT_STR, AT(type), "TEXT",
	.help = "set the column test_type; default the table"},
    {0}};

static const struct opt_prog program = {.name = "vkb-pgpush",
    .operands = "[FILE|DIR ...]",
    .purpose = "Store run records in PostgreSQL, or export them.",
    .table = option_table};

/* --- reads runs into a spool */

struct intake {
	struct spool *spool;
	struct others *others; /* gets the records that are not runs */
	const char *test_type;
	bool releases; /* runs of releases: their commit is the label or ref */
	size_t failed; /* runs in the spool with a status other than ok */
};

/* The file that is being read. */
struct file {
	struct intake *to;
	const char *ref;         /* name of its folder, or NULL */
	bool results;            /* it is in a folder of results */
	struct intern *sessions; /* made-up sessions of runs without one */
	size_t *count, cap;      /* runs with each of them */
	struct str text;         /* scratch */
};

static void
put_own_text(struct spool *sp, size_t column, const char *text)
{
	spool_put_own(sp, column, COLTYPE_STRING, text, strlen(text));
}

/* Returns the number, from 1, of this run among equal ones of the file. */
static size_t
count_occurrence(struct file *f, const char *hash)
{
	size_t id = intern_id(f->sessions, hash), had = f->cap;

	f->count = mem_grow(f->count, id, &f->cap, sizeof *f->count);
	if (f->cap > had)
		memset(f->count + had, 0, (f->cap - had) * sizeof *f->count);
	return ++f->count[id];
}

/* Stores the session; one that is too long for a key is replaced by a hash. */
static void
put_session(struct spool *sp, const char *text)
{
	size_t n = strlen(text);
	char hash[32];

	if (n > SPOOL_SESSION_MAX || str_starts(text, SPOOL_OBJECT)) {
		snprintf(hash, sizeof hash, "session %016llx",
		    str_hash(STR_HASH, text, n));
		text = hash;
	}
	put_own_text(sp, SPOOL_SESSION, text);
}

/* Is the number an index of a run: an integer from 1? */
static bool
is_index(double v)
{
	return v >= 1 && v < 2147483648. && v == (double)(long)v;
}

/*
 * Stores the key of a run: session, case, subject and index. A run without a
 * session or index, or from a folder of results, whose metrics.json lacks them,
 * gets a session made of what identifies it (flat_identity). A failed run
 * may be repeated in its session, so it gets one made of its whole record. The
 * index of a counted run is negative: a session counts and measures a case.
 */
static void
put_key(struct file *f, const struct json *run)
{
	struct spool *sp = f->to->spool;
	const struct json *section = json_get(run, "run");
	struct json *identity;
	const char *session = json_get_str(section, "session"),
		   *status = json_get_str(run, "status");
	double index = json_get_num(section, "index", 0);
	char number[32], hash[17], object[32];

	if (!f->results && session && *session && is_index(index) &&
	    strcmp(status, "ok") == 0) {
		put_session(sp, session);
	} else {
		if (f->results || !session) {
			identity = flat_identity(run);
			format_hash(hash, identity);
			json_free(identity);
		} else {
			format_hash(hash, run);
		}
		snprintf(object, sizeof object, SPOOL_OBJECT "%s", hash);
		put_own_text(sp, SPOOL_SESSION, object);
		index = (double)count_occurrence(f, object);
	}
	if (json_get_bool(run, "counted", false))
		index = -index;
	format_hash(hash, json_get(run, "config"));
	put_own_text(sp, SPOOL_CASE, hash);
	format_hash(hash, json_get(run, "subject"));
	put_own_text(sp, SPOOL_SUBJECT, hash);
	snprintf(number, sizeof number, "%.0f", index);
	spool_put_own(sp, SPOOL_INDEX, COLTYPE_NUMBER, number, strlen(number));
}

/* Sets 'commit' to the label or ref, by which releases are known. */
static void
set_release(struct json *flat, const struct json *run)
{
	const struct json *subject = json_get(run, "subject");
	const char *label = json_get_str(subject, "label");

	if (!json_get_bool(subject, "dirty", false))
		json_set_str(flat, "commit",
		    label ? label : json_get_str(subject, "ref"));
}

/* Stores the text of the line, which may have numbers of more digits than the
 * run, unless the run is not what the line says. */
static void
put_text(struct file *f, const struct json *run, const char *line, size_t n)
{
	struct json *said = json_parse(line, n, NULL, NULL);

	while (n && strchr("\r\n\t ", line[n - 1]))
		n--;
	str_clear(&f->text);
	if (json_equal(said, run))
		str_addn(&f->text, line, n);
	else
		json_append(&f->text, run);
	spool_put_own(
	    f->to->spool, SPOOL_RECORD, COLTYPE_NESTED, f->text.s, f->text.len);
	json_free(said);
}

static int
put_run(struct file *f, struct json *run, const char *where, const char *line,
    size_t n)
{
	struct spool *sp = f->to->spool;
	const struct json *metrics = json_get(run, "metrics");
	struct json *flat;

	if (f->ref)
		resultsdir_set_ref(run, f->ref);
	flat = flat_columns(run);
	if (f->to->releases)
		set_release(flat, run);
	spool_begin_row(sp, where);
	put_key(f, run);
	for (const struct json *j = json_first(flat); j; j = json_next(j))
		spool_put_json(sp, json_key(j), j);
	for (const struct json *j = json_first(metrics); j; j = json_next(j))
		spool_note_metric(sp, flat_metric(json_key(j)));
	put_own_text(sp, SPOOL_TYPE, f->to->test_type);
	put_text(f, run, line, n);
	if (strcmp(json_get_str(run, "status"), "ok") != 0)
		f->to->failed++;
	json_free(flat);
	return spool_end_row(sp);
}

/* Returns 0, -1 for an invalid record, -2 on a spool error (reported). */
static int
put_record(struct file *f, struct jsonl *in, const char *s, size_t n)
{
	struct json *rec;
	int rc = 0;

	if (n > SPOOL_RECORD_MAX)
		return err_fail("%s: a record of %zu bytes is not stored: "
				"the limit is %zu",
		    jsonl_where(in), n, SPOOL_RECORD_MAX);
	if (record_tree(in, &rec) < 0)
		return -1;
	if (record_is(rec, "run") && put_run(f, rec, jsonl_where(in), s, n) < 0)
		rc = -2;
	keep_other(f->to->others, rec);
	json_free(rec);
	return rc;
}

static int
read_records(struct intake *to, const char *path, const char *ref, bool results)
{
	struct jsonl *in = jsonl_open(&path, 1);
	struct file f = {
	    .to = to, .ref = ref, .results = results, .sessions = intern_new()};
	const char *s;
	size_t n;
	int got, rc = 0;

	while (rc > -2 && (got = jsonl_text(in, &s, &n)) != 0) {
		if (got > 0)
			got = put_record(&f, in, s, n);
		if (got < rc)
			rc = got;
	}
	jsonl_close(in);
	intern_free(f.sessions);
	free(f.count);
	str_free(&f.text);
	return rc < 0 ? -1 : 0;
}

static int
read_results_file(void *to, const char *path, const char *ref)
{
	return read_records(to, path, ref, true);
}

/*
 * Reads 'path': a file, "-", or a folder with a metrics.json in it or in its
 * subfolders, whose names are the refs. Records that vkb-bench left in runs/
 * beside a metrics.json are read instead of it. Continues after errors. Returns
 * 0, or -1 (errors reported).
 */
static int
read_path(struct intake *to, const char *path)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		return resultsdir_each(path, read_results_file, to);
	return read_records(to, path, NULL, false);
}

/* --- stores them */

struct push {
	const char *database; /* conninfo, or NULL */
	struct others *others;
	/* Results: */
	size_t stored, there; /* rows */
	struct feed feed;     /* of the last try; free with free_feed */
};

/* Takes the lock and stores all. Returns 0, or -1 (error reported). */
static int
push_in_transaction(struct push *p, struct pg *pg, struct schema *s,
    struct spool *spool, bool quiet)
{
	long long n;

	if (pg_lock(pg, "vkb-pgpush") < 0 ||
	    push_others(p->others, pg, s->table) < 0)
		return -1;
	if (!spool_count_rows(spool))
		return 0;
	if (schema_read(s, pg) < 0 || schema_check(s) < 0 ||
	    schema_plan(s, spool) < 0)
		return -1;
	for (size_t i = 0; i < s->nsql; i++)
		if (pg_do(pg, s->sql[i], NULL, 0) < 0)
			return -1;
	free_feed(&p->feed);
	p->feed = (struct feed){.spool = spool, .quiet = quiet};
	n = store_metrics(&p->feed, pg, s);
	if (n < 0 || store_records(&p->feed, pg, s) < 0)
		return -1;
	p->stored = (size_t)n;
	p->there = spool_count_rows(spool) - p->feed.refused - p->stored;
	return 0;
}

/* Plans, alters the tables and stores all rows or none; tries again if the
 * connection breaks. Returns 0, or -1: nothing stored (reported). */
static int
push_rows(struct push *p, struct schema *s, struct spool *spool)
{
	struct pg *pg;
	bool again = true;
	int rc = -1;

	for (int i = 0; rc < 0 && again && i < TRIES; i++) {
		if (i)
			err_say("trying again: nothing was stored so far");
		pg = pg_open(p->database);
		if (!pg)
			return -1;
		if (pg_begin(pg) == 0 &&
		    push_in_transaction(p, pg, s, spool, i > 0) == 0)
			rc = pg_commit(pg);
		again = pg_transient(pg);
		pg_close(pg);
	}
	return rc;
}

/* Reports the keys that get no column because the table is full. */
static void
report_omitted_keys(const struct schema *s)
{
	if (s->omitted)
		err_say("%s: %zu %s no column, first '%.100s': a table "
			"has %d at most; vkb_runs has all values",
		    s->table, s->omitted,
		    s->omitted == 1 ? "key gets" : "keys get", s->first_omitted,
		    SCHEMA_COLUMNS);
}

/* Prints the plan as SQL statements. Returns 0, or -1 (error reported). */
static int
dry_run(struct push *p, struct schema *s, struct spool *spool, size_t failed)
{
	struct sink out = {.fd = STDOUT_FILENO};
	int rc;

	if (schema_plan(s, spool) < 0)
		return -1;
	p->feed = (struct feed){.spool = spool};
	rc = store_metrics(&p->feed, NULL, s) < 0 ? -1 : 0;
	report_omitted_keys(s);
	for (size_t i = 0; i < s->nsql; i++)
		str_printf(&out.s, "%s;\n", s->sql[i]);
	append_other_tables(p->others, &out.s);
	str_printf(&out.s, "-- %s: %zu runs", s->table,
	    spool_count_rows(spool) - p->feed.refused);
	if (failed)
		str_printf(&out.s, ", %zu of them failed", failed);
	str_addc(&out.s, '\n');
	return sink_close(&out) < 0 ? -1 : rc;
}

static void
report_push(const struct push *p, const struct schema *s, size_t failed)
{
	const struct others_list *envs = &p->others->lists[OTHERS_ENV];
	const struct others_list *changes = &p->others->lists[OTHERS_CHANGE];
	struct str text = {0};

	for (size_t i = 0; i < s->nsql; i++)
		if (str_starts(s->sql[i], "ALTER") ||
		    str_starts(s->sql[i], "DROP"))
			err_say("%s", s->sql[i]);
	report_omitted_keys(s);
	if (p->feed.cut)
		err_say("%s: left out %zu values that did not fit in rows of "
			"%d bytes; vkb_runs has all values",
		    s->table, p->feed.cut, SCHEMA_ROW);
	if (p->feed.rounded)
		err_say("column '%s': times are rounded to microseconds; "
			"vkb_runs has them unrounded",
		    p->feed.rounded);
	str_printf(&text, "%s: %zu run%s stored, %zu were there already",
	    s->table, p->stored, num_plural(p->stored), p->there);
	if (failed)
		str_printf(&text, ", %zu of all failed", failed);
	if (p->feed.refused)
		str_printf(&text, "; %zu refused", p->feed.refused);
	if (envs->n)
		str_printf(&text, "; vkb_envs: %zu of %zu env record%s stored",
		    envs->stored, envs->n, num_plural((double)envs->n));
	if (changes->n)
		str_printf(&text, "; vkb_changes: %zu stored", changes->n);
	err_say("%s", text.s);
	str_free(&text);
}

static int
push_files(const struct opts *o, struct schema *s, const struct opt_args *args)
{
	struct spool *spool = spool_new(opt_tmpdir());
	struct intake in = {.spool = spool,
	    .test_type = o->type ? o->type
		: o->table       ? o->table
				 : "core"};
	struct others others = {0};
	struct push p = {.database = o->database, .others = &others};
	int rc = 0, done = 0;

	in.releases = o->table && strcmp(o->table, "tag") == 0;
	in.others = &others;
	for (size_t i = 0; i < args->n; i++)
		rc |= read_path(&in, args->v[i]);
	if (!args->n)
		rc = read_path(&in, "-");
	if (o->dry)
		done = dry_run(&p, s, spool, in.failed);
	else if (spool_count_rows(spool) || others.lists[OTHERS_ENV].n ||
	    others.lists[OTHERS_CHANGE].n) {
		done = push_rows(&p, s, spool);
		if (done == 0 && !o->quiet)
			report_push(&p, s, in.failed);
	}
	free_feed(&p.feed);
	free_others(&others);
	spool_free(spool);
	return done < 0 || p.feed.refused ? -1 : rc;
}

/* --- export */

/* Rows without vkb_session are other tools'; the rest comes from vkb_runs. */
static void
append_export_query(struct str *sql, const struct schema *s)
{
	bool timed = schema_find_column(s, "timestamp") != NULL;
	const struct schema_column *id = schema_find_column(s, "id");
	bool counted = id && id->type.kind > COLTYPE_BOOLEAN &&
	    id->type.kind <= COLTYPE_BIGINT;

	str_add(sql, "SELECT origin, id, record FROM (");
	if (s->kind)
		str_printf(sql,
		    "SELECT %s::timestamptz AS at, $1 AS origin, "
		    "%s::bigint AS id, row_to_json(t)::text AS record "
		    "FROM %s t%s",
		    timed ? "t.\"timestamp\"" : "NULL",
		    counted ? "t.id" : "NULL", s->table,
		    schema_find_column(s, "vkb_session")
			? " WHERE t.vkb_session IS NULL"
			: "");
	if (s->kind && s->runs_kind)
		str_add(sql, " UNION ALL ");
	if (s->runs_kind)
		str_add(sql,
		    "SELECT \"timestamp\", 'vkb_runs', id, record::text "
		    "FROM vkb_runs WHERE metrics_table = $1");
	str_add(sql,
	    ") runs WHERE $2::timestamptz IS NULL OR at >= $2::timestamptz "
	    "ORDER BY at NULLS FIRST, origin, id");
	if (!counted)
		str_add(sql, ", record COLLATE \"C\"");
}

/* The state of an export. */
struct export
{
	struct sink out;
	bool bad; /* a row was not a run, and was reported */
};

/* Writes a row; reports and skips one that is not a run. */
static int
write_exported_row(void *arg, const struct pg_rows *rows, size_t i)
{
	struct export *e = arg;
	const char *origin = pg_value(rows, i, 0), *id = pg_value(rows, i, 1);
	const char *text = pg_value(rows, i, 2), *why;
	char *where = mem_printf("%s: row %s", origin, id ? id : "?");
	struct json *rec = json_parse(text, strlen(text), &why, NULL);
	bool stored = strcmp(origin, "vkb_runs") == 0;
	int rc;

	if (!rec || json_type(rec) != JSON_OBJECT)
		rc = err_fail(
		    "%s: bad record: %s", where, rec ? "not an object" : why);
	else {
		if (!stored)
			rec = flat_row_to_run(rec);
		rc = record_check(rec, where);
	}
	if (rc == 0) {
		if (stored && !strchr(text, '\n'))
			str_printf(&e->out.s, "%s\n", text);
		else
			json_append_line(&e->out.s, rec);
		sink_relieve(&e->out);
	}
	e->bad |= rc < 0;
	json_free(rec);
	free(where);
	return e->out.rc;
}

/* Writes the runs of a table to stdout as run records, by time, then insertion:
 * pushed runs unchanged, rows of the Python tool converted as vkb-parse does.
 * 'since': a time, or NULL for all. Returns 0, or -1 (errors reported). */
static int
export_runs(const char *database, struct schema *s, const char *since)
{
	const char *args[] = {s->table, since};
	struct export e = {.out = {.fd = STDOUT_FILENO}};
	struct pg *pg = pg_open(database);
	struct str sql = {0};
	int rc = -1;

	if (!pg)
		return -1;
	if (pg_do(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL,
		0) < 0 ||
	    schema_read(s, pg) < 0)
		goto out;
	if (!s->kind) {
		err_say("database: the table '%s' does not exist; check "
			"--database and --table",
		    s->table);
		goto out;
	}
	append_export_query(&sql, s);
	rc = pg_each(pg, sql.s, args, 2, write_exported_row, &e);
out:
	if (sink_close(&e.out) < 0 || e.bad)
		rc = -1;
	str_free(&sql);
	pg_close(pg);
	return rc;
}

/* --- options */

/* Returns a message about options that exclude each other, or NULL. */
static const char *
find_conflict(const struct opts *o, const struct opt_args *args)
{
	if (o->export && args->n)
		return "--export takes no FILE";
	if (o->export && (o->dry || o->type))
		return "--export cannot be combined with --dry-run or "
		       "--test-type";
	if (o->since && !o->export)
		return "--since needs --export";
	return NULL;
}

static int
run_pgpush(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	const char *why = find_conflict(o, args);
	struct schema *s;
	int rc;

	if (why)
		return opt_usage(&program, why);
	if (!o->export && !args->n && opt_stdin(&program) < 0)
		return -1;
	if (o->since && !coltype_is_time(o->since))
		return err_fail(
		    "option '--since': invalid time '%s', it must be "
		    "like 2026-03-02 or 2026-03-02T08:00:00Z",
		    o->since);
	if (o->type && !str_utf8(o->type, strlen(o->type)))
		return err_fail(
		    "option '--test-type': '%s' is not UTF-8", o->type);
	s = schema_new(o->table ? o->table : "core");
	if (!s)
		return -1;
	rc = o->export ? export_runs(o->database, s, o->since)
		       : push_files(o, s, args);
	schema_free(s);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_pgpush);
}
