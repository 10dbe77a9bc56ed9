#include "machines.h"
#include "coltype.h"
#include "frames.h"
#include "json.h"
#include "mem.h"
#include "pg.h"

#include <stdlib.h>
#include <string.h>

void
machines_add(struct machines *m, const struct json *rec)
{
	m->records = mem_grow(m->records, m->n, &m->cap, sizeof *m->records);
	m->records[m->n++] = json_print(rec);
}

void
machines_free(struct machines *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->records[i]);
	free(m->records);
	*m = (struct machines){0};
}

const char *
machines_table(void)
{
	return "CREATE TABLE vkb_envs (\n  vkb_session TEXT NOT NULL,\n"
	       "  vkb_hash TEXT NOT NULL,\n"
	       "  created_at TIMESTAMPTZ DEFAULT NOW(),\n  host TEXT,\n"
	       "  \"time\" TIMESTAMPTZ,\n  record JSON NOT NULL,\n"
	       "  PRIMARY KEY (vkb_session, vkb_hash)\n)";
}

/* Creates the table only if missing: the role may lack the right to create. */
static int
ensure_envs_table(struct pg *pg)
{
	struct pg_rows *rows = pg_ask(
	    pg, "SELECT 1 WHERE to_regclass('vkb_envs') IS NOT NULL", NULL, 0);
	size_t n = rows ? pg_count(rows) : 0;

	if (!rows)
		return -1;
	pg_free(rows);
	return n ? 0 : pg_do(pg, machines_table(), NULL, 0) < 0 ? -1 : 0;
}

/* Returns 1, 0 if the record was there already, or -1 (error reported). */
static long long
store_env(struct pg *pg, const char *text)
{
	struct json *rec = json_parse(text, strlen(text), NULL, NULL);
	const char *session = json_get_str(rec, "session");
	const char *time = json_get_str(rec, "time");
	char hash[17];
	const char *args[5] = {session ? session : "", hash,
	    json_str(json_path(rec, "env.host")),
	    time && coltype_is_time(time) ? time : NULL, text};
	long long n;

	frames_hash(hash, rec);
	n = pg_do(pg,
	    "INSERT INTO vkb_envs (vkb_session, vkb_hash, host, \"time\", "
	    "record) SELECT $1, $2, $3, $4::timestamptz, $5::json "
	    "WHERE NOT EXISTS (SELECT FROM vkb_envs "
	    "WHERE vkb_session = $1 AND vkb_hash = $2)",
	    args, 5);
	json_free(rec);
	return n;
}

int
machines_push(struct machines *m, struct pg *pg)
{
	long long n;

	m->stored = 0;
	if (m->n && ensure_envs_table(pg) < 0)
		return -1;
	for (size_t i = 0; i < m->n; i++) {
		n = store_env(pg, m->records[i]);
		if (n < 0)
			return -1;
		m->stored += (size_t)n;
	}
	return 0;
}
