#include "err.h"
#include "footprint.h"
#include "json.h"
#include "mem.h"
#include "pg.h"
#include "store.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/*
 * The table as the Python tool makes it, and our additional columns:
 * config_hash and covers of the configuration, owner and lease_until of the
 * claim, attempts, reason. Call within a transaction; 'table' is a name that
 * needs no quotes.
 */

/* An entry of a btree index has at most about 2700 bytes; the other columns
 * need 100. */
#define FITS "2500"

/* The table's oid in queries whose $1 is its name. */
#define TABLE "to_regclass(quote_ident($1))"

/* Executes the statement, and takes it. */
static int
run_statement(struct pg *pg, char *sql)
{
	long long rc = pg_do(pg, sql, NULL, 0);

	free(sql);
	return rc < 0 ? -1 : 0;
}

/* Returns the answer of a boolean query about the table, or -1. */
static int
ask_yes_no(struct pg *pg, const char *table, const char *sql)
{
	const char *args[] = {table};
	struct pg_rows *rows = pg_ask(pg, sql, args, 1);
	int rc = rows ? *pg_value(rows, 0, 0) == 't' : -1;

	pg_free(rows);
	return rc;
}

static int
is_current(struct pg *pg, const char *table)
{
	return ask_yes_no(pg, table,
	    "SELECT to_regclass(quote_ident('vkb_key_' || $1)) IS NOT NULL "
	    "AND (SELECT count(*) FROM pg_attribute WHERE attrelid = " TABLE
	    " AND NOT attisdropped AND attname IN ('config_hash', 'covers', "
	    "'owner', 'lease_until', 'attempts', 'reason')) = 6");
}

static int
create_table(struct pg *pg, const char *table)
{
	static const char *const on[][2] = {{"sha", "sha"},
	    {"status", "status"}, {"timestamp", "\"timestamp\""},
	    {"sha_status", "sha, status"}};
	const char *id = table + strlen("benchmark_commits");
	int rc = run_statement(pg,
	    mem_printf(
		"CREATE TABLE %s (id SERIAL PRIMARY KEY, "
		"sha VARCHAR(40) NOT NULL, \"timestamp\" TIMESTAMPTZ NOT NULL, "
		"status VARCHAR(20) NOT NULL CHECK (status IN ('in_progress', "
		"'complete', 'failed')), config JSONB NOT NULL, "
		"architecture VARCHAR(50), created_at TIMESTAMPTZ DEFAULT "
		"NOW(), "
		"updated_at TIMESTAMPTZ DEFAULT NOW(), "
		"CONSTRAINT unique%s_sha_config_arch "
		"UNIQUE (sha, config, architecture))",
		table, id));

	/* Names as in the Python tool, whose ON CONFLICT needs the constraint:
	 * idx_commits_sha, idx_MODULE_commits_sha. */
	for (size_t i = 0; rc == 0 && i < sizeof on / sizeof *on; i++)
		rc = run_statement(pg,
		    mem_printf("CREATE INDEX idx%s_commits_%s ON %s (%s)", id,
			on[i][0], table, on[i][1]));
	return rc;
}

/* Returns 0, or -1 after reporting that the table is not one of commits. */
static int
check_table(struct pg *pg, const char *table)
{
	int rc = ask_yes_no(pg, table,
	    "SELECT (SELECT relkind IN ('r', 'p') FROM pg_class "
	    "WHERE oid = " TABLE ") "
	    "AND (SELECT count(*) FROM pg_attribute a JOIN pg_type t "
	    "ON t.oid = atttypid WHERE attrelid = " TABLE
	    " AND NOT attisdropped AND (attname, typcategory) IN "
	    "(('id', 'N'), ('sha', 'S'), ('timestamp', 'D'), ('status', 'S'), "
	    "('config', 'U'), ('architecture', 'S'), ('created_at', 'D'), "
	    "('updated_at', 'D'))) = 8");

	return rc ? rc < 0 ? -1 : 0
		  : err_fail("'%s' is not a table of commits; choose another "
			     "one with --table",
			table);
}

/* Drops each constraint that the query names; 'instead' follows the statement,
 * and 'why', unless it is NULL, is reported with it. */
static int
drop_constraints(struct pg *pg, const char *query, const char *const *args,
    size_t nargs, const char *instead, const char *why)
{
	struct pg_rows *rows = pg_ask(pg, query, args, nargs);
	int rc = rows ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < pg_count(rows); i++) {
		struct str s = {0};

		str_printf(&s, "ALTER TABLE %s DROP CONSTRAINT ", args[0]);
		pg_name(&s, pg_value(rows, i, 0));
		str_add(&s, instead);
		if (why)
			err_say("%s: %s", why, s.s);
		rc = run_statement(pg, str_take(&s));
	}
	pg_free(rows);
	return rc;
}

/* Extends the Python tool's check constraint on 'status', which lacks
 * 'failed'. */
static int
allow_failed_status(struct pg *pg, const char *table)
{
	return drop_constraints(pg,
	    "SELECT conname FROM pg_constraint WHERE conrelid = " TABLE
	    " AND contype = 'c' AND conkey = (SELECT ARRAY[attnum] FROM "
	    "pg_attribute WHERE attrelid = " TABLE " AND attname = 'status') "
	    "AND strpos(pg_get_constraintdef(oid), '''failed''') = 0",
	    &table, 1,
	    ", ADD CHECK (status IN ('in_progress', 'complete', 'failed'))",
	    NULL);
}

static int
extend_table(struct pg *pg, const char *table)
{
	if (run_statement(pg,
		mem_printf("ALTER TABLE %s "
			   "ADD COLUMN IF NOT EXISTS config_hash TEXT, "
			   "ADD COLUMN IF NOT EXISTS covers BIGINT[], "
			   "ADD COLUMN IF NOT EXISTS owner TEXT, "
			   "ADD COLUMN IF NOT EXISTS lease_until TIMESTAMPTZ, "
			   "ADD COLUMN IF NOT EXISTS attempts INTEGER NOT NULL "
			   "DEFAULT 0, ADD COLUMN IF NOT EXISTS reason TEXT",
		    table)) < 0 ||
	    allow_failed_status(pg, table) < 0)
		return -1;
	return run_statement(pg,
	    mem_printf("CREATE UNIQUE INDEX IF NOT EXISTS vkb_key_%s ON %s "
		       "(sha, config_hash, architecture)",
		table, table));
}

static int
fill_config(struct pg *pg, const char *table, const char *text)
{
	struct footprint f = {0};
	struct json *config = json_parse(text, strlen(text), NULL, NULL);
	char *covers, *sql;
	long long rc;

	if (!config)
		return err_fail("%s: column 'config': '%.100s' cannot be read",
		    table, text);
	footprint_make(&f, config);
	covers = footprint_print_array(&f);
	const char *args[] = {text, f.hash, covers};
	sql =
	    mem_printf("UPDATE %s SET config_hash = $2, covers = $3::bigint[] "
		       "WHERE config_hash IS NULL AND config = $1::jsonb",
		table);
	rc = pg_do(pg, sql, args, 3);
	free(sql);
	free(covers);
	footprint_free(&f);
	return rc < 0 ? -1 : 0;
}

/* Sets config_hash and covers in rows of another tool. */
static int
fill_missing_hashes(struct pg *pg, const char *table)
{
	char *sql = mem_printf(
	    "SELECT DISTINCT config::text FROM %s WHERE config_hash IS NULL",
	    table);
	struct pg_rows *rows = pg_ask(pg, sql, NULL, 0);
	int rc = rows ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < pg_count(rows); i++)
		rc = fill_config(pg, table, pg_value(rows, i, 0));
	pg_free(rows);
	free(sql);
	return rc;
}

/*
 * Extends the table and fills our columns in rows of other tools; 'make' makes
 * it if there is none, else that is an error. Returns 0, or -1 after reporting
 * an error.
 */
static int
schema_make(struct pg *pg, const char *table, bool make)
{
	int rc = is_current(pg, table), there;

	if (rc == 0) {
		if (pg_lock(pg, "vkb-trackcommits") < 0 ||
		    (there = ask_yes_no(
			 pg, table, "SELECT " TABLE " IS NOT NULL")) < 0)
			return -1;
		if (!there && !make)
			return err_fail("there is no table '%s'; "
					"'vkb-trackcommits init' makes it",
			    table);
		if ((there ? check_table : create_table)(pg, table) < 0)
			return -1;
		rc = extend_table(pg, table);
	}
	return rc < 0 ? -1 : fill_missing_hashes(pg, table);
}

/*
 * Call it before a configuration (JSON text) is stored: if it is too large for
 * the Python tool's unique constraint, drops the constraint and reports that.
 * Returns 0, or -1 after reporting an error.
 */
static int
schema_make_room(struct pg *pg, const char *table, const char *config)
{
	const char *args[] = {table, config};

	return drop_constraints(pg,
	    "SELECT conname FROM pg_constraint WHERE conrelid = " TABLE
	    " AND contype = 'u' AND (SELECT attnum FROM pg_attribute WHERE "
	    "attrelid = " TABLE " AND attname = 'config') = ANY (conkey) "
	    "AND pg_column_size($2::jsonb) > " FITS,
	    args, 2, "",
	    "the configuration is too large for a constraint, without "
	    "which the Python tool cannot write to the table");
}

/* In the order of fill_row. */
static const char row_columns[] =
    "id, sha, extract(epoch FROM \"timestamp\"), status, config_hash, "
    "architecture, owner, extract(epoch FROM lease_until), attempts, reason, "
    "extract(epoch FROM created_at), extract(epoch FROM updated_at)";

struct tablestore {
	struct store store;
	const char *database;
	char *table; /* name; needs no quotes */
};

static void
table_close(struct store *s)
{
	struct tablestore *t = (struct tablestore *)s;

	pg_close(s->pg);
	free(t->table);
	free(t);
}

static int
table_begin(struct store *s, bool alone, bool make, double *now)
{
	struct tablestore *t = (struct tablestore *)s;
	struct pg_rows *rows;

	s->pg = pg_open(t->database);
	if (!s->pg || pg_begin(s->pg) < 0 ||
	    (alone && pg_lock(s->pg, t->table) < 0) ||
	    schema_make(s->pg, t->table, make) < 0)
		return -1;
	rows = pg_ask(
	    s->pg, "SELECT extract(epoch FROM clock_timestamp())", NULL, 0);
	if (!rows)
		return -1;
	*now = strtod(pg_value(rows, 0, 0), NULL);
	pg_free(rows);
	return 0;
}

static int
table_commit(struct store *s)
{
	return pg_commit(s->pg);
}

/* --- rows */

static double
get_seconds(const struct pg_rows *rows, size_t i, size_t col)
{
	const char *s = pg_value(rows, i, col);

	return s ? strtod(s, NULL) : 0;
}

static void
fill_row(struct row *r, const struct pg_rows *rows, size_t i)
{
	*r = (struct row){.id = atoll(pg_value(rows, i, 0)),
	    .sha = mem_str(pg_value(rows, i, 1)),
	    .time = get_seconds(rows, i, 2),
	    .status = rules_find_status(pg_value(rows, i, 3)),
	    .config_hash = mem_str(pg_value(rows, i, 4)),
	    .architecture = mem_str(pg_value(rows, i, 5)),
	    .owner = mem_str(pg_value(rows, i, 6)),
	    .lease_until = get_seconds(rows, i, 7),
	    .attempts = (long long)get_seconds(rows, i, 8),
	    .reason = mem_str(pg_value(rows, i, 9)),
	    .created = get_seconds(rows, i, 10),
	    .updated = get_seconds(rows, i, 11)};
}

static int
table_read(struct store *s, const struct wanted *w, struct rowlist *out)
{
	struct tablestore *t = (struct tablestore *)s;
	char *all =
	    w->config && w->covered ? footprint_print_array(w->config) : NULL;
	const char *args[] = {w->config ? w->config->hash : NULL, all,
	    w->architecture, w->owner, w->sha,
	    w->status ? rules_names[w->status] : NULL};
	char *sql = mem_printf(
	    "SELECT %s FROM %s WHERE ($1::text IS NULL OR "
	    "config_hash = $1 OR (status = 'complete' AND covers @> "
	    "$2::bigint[])) AND ($3::text IS NULL OR architecture = $3) AND "
	    "($4::text IS NULL OR owner = $4) AND ($5::text IS NULL OR "
	    "sha = $5) AND ($6::text IS NULL OR status = $6) "
	    "ORDER BY \"timestamp\" DESC, id",
	    row_columns, t->table);
	struct pg_rows *rows = pg_ask(s->pg, sql, args, 6);

	for (size_t i = 0; rows && i < pg_count(rows); i++)
		fill_row(MEM_ADD(out->v, out->n, out->cap), rows, i);
	pg_free(rows);
	free(sql);
	free(all);
	return rows ? 0 : -1;
}

static int
table_take(struct store *s, struct row *r, bool wait)
{
	struct tablestore *t = (struct tablestore *)s;
	char *sql = mem_printf("SELECT %s FROM %s WHERE id = %lld FOR UPDATE%s",
	    row_columns, t->table, r->id, wait ? "" : " SKIP LOCKED");
	struct pg_rows *rows = pg_ask(s->pg, sql, NULL, 0);
	int rc = -1;

	if (rows && (rc = pg_count(rows) > 0)) {
		rules_free_row(r);
		fill_row(r, rows, 0);
	}
	pg_free(rows);
	free(sql);
	return rc;
}

/* --- changes */

static int
table_update(struct store *s, const struct row *r)
{
	const char *args[] = {rules_names[r->status], r->owner, r->reason};
	struct tablestore *t = (struct tablestore *)s;
	char *sql = mem_printf(
	    "UPDATE %s SET status = $1, owner = $2, reason = $3, lease_until = "
	    "to_timestamp(nullif(%.6f, 0)), attempts = %lld, "
	    "updated_at = to_timestamp(%.6f) WHERE id = %lld",
	    t->table, r->lease_until, r->attempts, r->updated, r->id);
	int rc = pg_do(s->pg, sql, args, 3) < 0 ? -1 : 0;

	free(sql);
	return rc;
}

static int
table_drop(struct store *s, const struct row *r)
{
	struct tablestore *t = (struct tablestore *)s;
	char *sql =
	    mem_printf("DELETE FROM %s WHERE id = %lld", t->table, r->id);
	int rc = pg_do(s->pg, sql, NULL, 0) < 0 ? -1 : 0;

	free(sql);
	return rc;
}

static int
table_insert(struct store *s, const struct footprint *f, const struct row *r)
{
	struct tablestore *t = (struct tablestore *)s;
	char *all = footprint_print_array(f);
	struct str sql = {0}, config = {0};
	long long n = -1;

	json_canonical(&config, f->config);
	const char *args[] = {r->sha, rules_names[r->status], config.s,
	    r->architecture, f->hash, all, r->owner, r->reason};
	str_printf(&sql,
	    "INSERT INTO %s (sha, status, config, architecture, config_hash, "
	    "covers, owner, reason, \"timestamp\", created_at, updated_at, "
	    "lease_until, attempts) VALUES ($1, $2, $3::jsonb, $4, $5, "
	    "$6::bigint[], $7, $8, to_timestamp(%.6f), to_timestamp(%.6f), "
	    "to_timestamp(%.6f), to_timestamp(nullif(%.6f, 0)), %lld) "
	    "ON CONFLICT DO NOTHING",
	    t->table, r->time, r->created, r->created, r->lease_until,
	    r->attempts);
	if (schema_make_room(s->pg, t->table, config.s) == 0)
		n = pg_do(s->pg, sql.s, args, sizeof args / sizeof *args);
	free(all);
	str_free(&sql);
	str_free(&config);
	return n < 0 ? -1 : n > 0;
}

static int
table_configs(struct store *s, struct configs *out)
{
	struct tablestore *t = (struct tablestore *)s;
	struct config *c;
	char *sql =
	    mem_printf("SELECT config_hash, min(config::text), "
		       "count(*) FILTER (WHERE status = 'in_progress'), "
		       "count(*) FILTER (WHERE status = 'complete'), "
		       "count(*) FILTER (WHERE status = 'failed') "
		       "FROM %s GROUP BY config_hash ORDER BY config_hash",
		t->table);
	struct pg_rows *rows = pg_ask(s->pg, sql, NULL, 0);

	for (size_t i = 0; rows && i < pg_count(rows); i++) {
		c = MEM_ADD(out->v, out->n, out->cap);
		*c = (struct config){.hash = mem_str(pg_value(rows, i, 0)),
		    .text = mem_str(pg_value(rows, i, 1))};
		for (size_t k = RULES_IN_PROGRESS; k <= RULES_FAILED; k++)
			c->counts[k] = atoll(pg_value(rows, i, k + 1));
	}
	pg_free(rows);
	free(sql);
	return rows ? 0 : -1;
}

struct store *
store_open_table(const char *database, const char *id)
{
	static const struct store_ops ops = {table_close, table_begin,
	    table_commit, table_read, table_take, table_update, table_drop,
	    table_insert, table_configs};
	struct tablestore *t;

	if (pg_table_id(id) < 0)
		return NULL;
	t = mem_new(sizeof *t);
	t->store.ops = &ops;
	t->database = database;
	t->table = strcmp(id, "core") == 0
	    ? mem_str("benchmark_commits")
	    : mem_printf("benchmark_commits_%s", id);
	return &t->store;
}
