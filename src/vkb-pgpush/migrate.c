#include "migrate.h"
#include "err.h"
#include "flat.h"
#include "frames.h"
#include "json.h"
#include "mem.h"
#include "intern.h"
#include "pg.h"
#include "schema.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the query of migrate_runs. */
enum { ID, TABLE, SESSION, CASE, SUBJECT, INDEX, EXISTS, RECORD };

struct migration {
	struct pg *pg;
	struct intern *keys;
	int *count; /* rows of each key so far */
	size_t cap;
	long long changed;
};

/* Returns the number, from 1, of a row among those with its key. */
static int
count_row(struct migration *m, const char *table, const char *session)
{
	char *key = mem_printf("%s %s", table, session);
	size_t id = intern_id(m->keys, key), had = m->cap;

	free(key);
	m->count = mem_grow(m->count, id, &m->cap, sizeof *m->count);
	if (m->cap > had)
		memset(m->count + had, 0, (m->cap - had) * sizeof *m->count);
	return ++m->count[id];
}

/* Changes the row's key in its metrics table from $5..$8 to $1..$4. */
static int
update_metrics_key(
    struct migration *m, const char *table, const char *const *args)
{
	struct str sql = {0};
	int rc;

	str_add(&sql, "UPDATE ");
	pg_name(&sql, table);
	str_add(&sql,
	    " SET vkb_session = $1, vkb_case = $2, vkb_subject = $3, "
	    "vkb_index = $4::integer WHERE vkb_session = $5 AND vkb_case = $6 "
	    "AND vkb_subject = $7 AND vkb_index = $8::integer");
	rc = pg_do(m->pg, sql.s, args, 8) < 0 ? -1 : 0;
	str_free(&sql);
	return rc;
}

static int
migrate_row(void *arg, const struct pg_rows *rows, size_t i)
{
	struct migration *m = arg;
	const char *text = pg_value(rows, i, RECORD);
	char key[4][32];
	const char *args[8] = {key[0], key[1], key[2], key[3],
	    pg_value(rows, i, SESSION), pg_value(rows, i, CASE),
	    pg_value(rows, i, SUBJECT), pg_value(rows, i, INDEX)};
	struct json *run = json_parse(text, strlen(text), NULL, NULL);
	bool moved, same = true;
	int rc = 0;

	/* A failed run of a session keeps the key of its whole record. */
	if (!run || json_type(run) != JSON_OBJECT ||
	    json_get_str(json_get(run, "run"), "session")) {
		json_free(run);
		return 0;
	}
	moved = flat_repair(run);
	frames_make_session(key[0], run);
	frames_hash_section(key[1], json_get(run, "config"));
	frames_hash_section(key[2], json_get(run, "subject"));
	snprintf(key[3], sizeof key[3], "%d",
	    count_row(m, pg_value(rows, i, TABLE), key[0]));
	for (size_t k = 0; k < 4; k++)
		same = same && strcmp(key[k], args[k + 4]) == 0;
	if (moved || !same) {
		char *record = json_print(run);
		const char *const own[] = {key[0], key[1], key[2], key[3],
		    record, pg_value(rows, i, ID)};

		if (pg_do(m->pg,
			"UPDATE vkb_runs SET vkb_session = $1, vkb_case = $2, "
			"vkb_subject = $3, vkb_index = $4::integer, "
			"record = $5::json WHERE id = $6::bigint",
			own, 6) < 0 ||
		    (*pg_value(rows, i, EXISTS) == 't' &&
			update_metrics_key(m, pg_value(rows, i, TABLE), args) <
			    0))
			rc = -1;
		m->changed++;
		free(record);
	}
	json_free(run);
	return rc;
}

/* Returns whether there are rows to rewrite; true also if the query fails. */
static bool
has_old_rows(struct pg *pg)
{
	struct pg_rows *rows = pg_ask(pg,
	    "SELECT 1 FROM vkb_runs WHERE vkb_session LIKE '" FRAMES_SESSION
	    "%' LIMIT 1",
	    NULL, 0);
	bool has = !rows || pg_count(rows) > 0;

	pg_free(rows);
	return has;
}

long long
migrate_runs(struct pg *pg, const struct schema *s)
{
	struct migration m = {.pg = pg};
	bool done;

	if (s->runs_current || (!s->runs_owned && !has_old_rows(pg)))
		return 0;
	if (!s->runs_owned)
		return err_fail(
		    "vkb_runs: rows that an older vkb-pgpush stored must be "
		    "brought up to date, which only the owner of the table can "
		    "do: run this vkb-pgpush once as the owner");
	m.keys = intern_new();
	/* Rows from a metrics.json have a session of frames_make_session. */
	done =
	    pg_each(pg,
		"SELECT id, metrics_table, vkb_session, vkb_case, "
		"vkb_subject, vkb_index, "
		"to_regclass(quote_ident(metrics_table)) IS NOT NULL, "
		"record FROM vkb_runs WHERE vkb_session LIKE '" FRAMES_SESSION
		"%' ORDER BY id",
		NULL, 0, migrate_row, &m) == 0 &&
	    pg_do(pg, "COMMENT ON TABLE vkb_runs IS '" MIGRATE_DONE "'", NULL,
		0) >= 0;
	intern_free(m.keys);
	free(m.count);
	return done ? m.changed : -1;
}
