#include "schema.h"
#include "footprint.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "pg.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

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

int
schema_make(struct pg *pg, const char *table)
{
	int rc = is_current(pg, table), there;

	if (rc == 0) {
		if (pg_lock(pg, "vkb-trackcommits") < 0 ||
		    (there = ask_yes_no(
			 pg, table, "SELECT " TABLE " IS NOT NULL")) < 0 ||
		    (there ? check_table : create_table)(pg, table) < 0)
			return -1;
		rc = extend_table(pg, table);
	}
	return rc < 0 ? -1 : fill_missing_hashes(pg, table);
}

int
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
