#include "store.h"
#include "footprint.h"
#include "schema.h"

#include "json.h"
#include "mem.h"
#include "pg.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

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
table_begin(struct store *s, bool alone, double *now)
{
	struct tablestore *t = (struct tablestore *)s;
	struct pg_rows *rows;

	s->pg = pg_open(t->database);
	if (!s->pg || pg_begin(s->pg) < 0 ||
	    (alone && pg_lock(s->pg, t->table) < 0) ||
	    schema_make(s->pg, t->table) < 0)
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
	r->id = atoll(pg_value(rows, i, 0));
	r->sha = mem_str(pg_value(rows, i, 1));
	r->time = get_seconds(rows, i, 2);
	r->status = rules_find_status(pg_value(rows, i, 3));
	r->config_hash = mem_str(pg_value(rows, i, 4));
	r->architecture = mem_str(pg_value(rows, i, 5));
	r->owner = mem_str(pg_value(rows, i, 6));
	r->lease_until = get_seconds(rows, i, 7);
	r->attempts = (long long)get_seconds(rows, i, 8);
	r->reason = mem_str(pg_value(rows, i, 9));
	r->created = get_seconds(rows, i, 10);
	r->updated = get_seconds(rows, i, 11);
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
		fill_row(store_rows_add(out), rows, i);
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
		c = store_configs_add(out);
		c->hash = mem_str(pg_value(rows, i, 0));
		c->text = mem_str(pg_value(rows, i, 1));
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
