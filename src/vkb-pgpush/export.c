#include "export.h"
#include "err.h"
#include "flat.h"
#include "flatrow.h"
#include "json.h"
#include "mem.h"
#include "pg.h"
#include "record.h"
#include "schema.h"
#include "sink.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	int rc;

	if (!rec || json_type(rec) != JSON_OBJECT)
		rc = err_fail(
		    "%s: bad record: %s", where, rec ? "not an object" : why);
	else {
		if (strcmp(origin, "vkb_runs") != 0)
			rec = flatrow_to_run(rec);
		rc = record_check(rec, where);
	}
	if (rc == 0) {
		json_append_line(&e->out.s, rec);
		sink_relieve(&e->out);
	}
	e->bad |= rc < 0;
	json_free(rec);
	free(where);
	return e->out.rc;
}

int
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
