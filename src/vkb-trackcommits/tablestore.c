#include "store.h"
#include "footprint.h"
#include "schema.h"

#include "json.h"
#include "mem.h"
#include "pg.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS(c) "extract(epoch FROM " c ")"
#define COLUMNS                                                        \
	"id, sha, " SECONDS(                                           \
	    "\"timestamp\"") ", status, config_hash, "                 \
			     "architecture, owner, " SECONDS(          \
				 "lease_until") ", attempts, "         \
						"reason, " SECONDS(    \
						    "created_"         \
						    "at") ","          \
							  " " SECONDS( \
							      "updated_at")

struct tablestore {
	struct store store;
	const char *database;
	char *table; /* name; needs no quotes */
};

static struct tablestore *
get_tablestore(struct store *s)
{
	return (struct tablestore *)s;
}

static void
table_close(struct store *s)
{
	struct tablestore *t = get_tablestore(s);

	pg_close(s->pg);
	free(t->table);
	free(t);
}

static int
table_begin(struct store *s, bool alone, double *now)
{
	struct tablestore *t = get_tablestore(s);
	struct pg_rows *rows;

	s->pg = pg_open(t->database);
	if (!s->pg || pg_begin(s->pg) < 0 ||
	    (alone && pg_lock(s->pg, t->table) < 0) ||
	    schema_make(s->pg, t->table) < 0)
		return -1;
	rows = pg_ask(s->pg, "SELECT " SECONDS("clock_timestamp()"), NULL, 0);
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
	struct tablestore *t = get_tablestore(s);
	char *all =
	    w->config && w->covered ? footprint_print_array(w->config) : NULL;
	const char *args[] = {w->config ? w->config->hash : NULL, all,
	    w->architecture, w->owner, w->sha,
	    w->status ? rules_names[w->status] : NULL};
	struct pg_rows *rows;
	struct str sql = {0};

	str_printf(&sql,
	    "SELECT " COLUMNS " FROM %s WHERE ($1::text IS NULL OR "
	    "config_hash = $1 OR (status = 'complete' AND covers @> "
	    "$2::bigint[])) AND ($3::text IS NULL OR architecture = $3) AND "
	    "($4::text IS NULL OR owner = $4) AND ($5::text IS NULL OR "
	    "sha = $5) AND ($6::text IS NULL OR status = $6) "
	    "ORDER BY \"timestamp\" DESC, id",
	    t->table);
	rows = pg_ask(s->pg, sql.s, args, 6);
	for (size_t i = 0; rows && i < pg_count(rows); i++)
		fill_row(store_rows_add(out), rows, i);
	pg_free(rows);
	str_free(&sql);
	free(all);
	return rows ? 0 : -1;
}

static int
table_take(struct store *s, struct row *r, bool wait)
{
	struct tablestore *t = get_tablestore(s);
	char id[24];
	const char *args[] = {id};
	struct str sql = {0};
	struct pg_rows *rows;
	int rc = -1;

	snprintf(id, sizeof id, "%lld", r->id);
	str_printf(&sql, "SELECT " COLUMNS " FROM %s WHERE id = $1 FOR UPDATE",
	    t->table);
	if (!wait)
		str_add(&sql, " SKIP LOCKED");
	rows = pg_ask(s->pg, sql.s, args, 1);
	if (rows && (rc = pg_count(rows) > 0)) {
		rules_free_row(r);
		fill_row(r, rows, 0);
	}
	pg_free(rows);
	str_free(&sql);
	return rc;
}

/* --- changes */

static const char *
format_number(char buf[40], double v)
{
	snprintf(buf, 40, "%.6f", v);
	return buf;
}

static int
table_update(struct store *s, const struct row *r)
{
	struct tablestore *t = get_tablestore(s);
	char id[24], attempts[24], lease[40], updated[40];
	const char *args[] = {id, rules_names[r->status], r->owner,
	    r->lease_until > 0 ? format_number(lease, r->lease_until) : NULL,
	    attempts, r->reason, format_number(updated, r->updated)};
	struct str sql = {0};
	long long rc;

	snprintf(id, sizeof id, "%lld", r->id);
	snprintf(attempts, sizeof attempts, "%lld", r->attempts);
	str_printf(&sql,
	    "UPDATE %s SET status = $2, owner = $3, lease_until = "
	    "to_timestamp($4::float8), attempts = $5, reason = $6, "
	    "updated_at = to_timestamp($7::float8) WHERE id = $1",
	    t->table);
	rc = pg_do(s->pg, sql.s, args, 7);
	str_free(&sql);
	return rc < 0 ? -1 : 0;
}

static int
table_drop(struct store *s, const struct row *r)
{
	struct tablestore *t = get_tablestore(s);
	char id[24];
	const char *args[] = {id};
	struct str sql = {0};
	long long rc;

	snprintf(id, sizeof id, "%lld", r->id);
	str_printf(&sql, "DELETE FROM %s WHERE id = $1", t->table);
	rc = pg_do(s->pg, sql.s, args, 1);
	str_free(&sql);
	return rc < 0 ? -1 : 0;
}

static int
table_insert(struct store *s, const struct footprint *f, const struct row *r)
{
	struct tablestore *t = get_tablestore(s);
	char time[40], attempts[24], lease[40], created[40];
	char *all = footprint_print_array(f);
	struct str sql = {0}, config = {0};
	long long n = -1;

	json_canonical(&config, f->config);
	snprintf(attempts, sizeof attempts, "%lld", r->attempts);
	const char *args[] = {r->sha, format_number(time, r->time),
	    rules_names[r->status], config.s, r->architecture,
	    format_number(created, r->created), f->hash, all, r->owner,
	    r->lease_until > 0 ? format_number(lease, r->lease_until) : NULL,
	    attempts, r->reason};
	str_printf(&sql,
	    "INSERT INTO %s (sha, \"timestamp\", status, config, "
	    "architecture, created_at, updated_at, config_hash, covers, "
	    "owner, lease_until, attempts, reason) VALUES ($1, "
	    "to_timestamp($2::float8), $3, $4::jsonb, $5, "
	    "to_timestamp($6::float8), to_timestamp($6::float8), $7, "
	    "$8::bigint[], $9, to_timestamp($10::float8), $11, $12) "
	    "ON CONFLICT DO NOTHING",
	    t->table);
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
	struct tablestore *t = get_tablestore(s);
	struct pg_rows *rows;
	struct str sql = {0};
	struct config *c;

	str_printf(&sql,
	    "SELECT config_hash, min(config::text), "
	    "count(*) FILTER (WHERE status = 'in_progress'), "
	    "count(*) FILTER (WHERE status = 'complete'), "
	    "count(*) FILTER (WHERE status = 'failed') "
	    "FROM %s GROUP BY config_hash ORDER BY config_hash",
	    t->table);
	rows = pg_ask(s->pg, sql.s, NULL, 0);
	for (size_t i = 0; rows && i < pg_count(rows); i++) {
		c = store_configs_add(out);
		c->hash = mem_str(pg_value(rows, i, 0));
		c->text = mem_str(pg_value(rows, i, 1));
		for (size_t k = RULES_IN_PROGRESS; k <= RULES_FAILED; k++)
			c->counts[k] = atoll(pg_value(rows, i, k + 1));
	}
	pg_free(rows);
	str_free(&sql);
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
