#include "changes.h"
#include "coltype.h"
#include "frames.h"
#include "json.h"
#include "mem.h"
#include "pg.h"

#include <stdlib.h>
#include <string.h>

void
changes_add(struct changes *c, const struct json *rec)
{
	c->records = mem_grow(c->records, c->n, &c->cap, sizeof *c->records);
	c->records[c->n++] = json_print(rec);
}

void
changes_free(struct changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->records[i]);
	free(c->records);
	*c = (struct changes){0};
}

const char *
changes_table(void)
{
	return "CREATE TABLE vkb_changes (\n  metrics_table TEXT NOT NULL,\n"
	       "  vkb_key TEXT NOT NULL,\n  vkb_case TEXT NOT NULL,\n"
	       "  created_at TIMESTAMPTZ DEFAULT NOW(),\n"
	       "  seen_at TIMESTAMPTZ DEFAULT NOW(),\n"
	       "  \"time\" TIMESTAMPTZ,\n  record JSON NOT NULL,\n"
	       "  PRIMARY KEY (metrics_table, vkb_key)\n)";
}

/* Creates the table only if missing: the role may lack the right to create. */
static int
ensure_changes_table(struct pg *pg)
{
	struct pg_rows *rows = pg_ask(pg,
	    "SELECT 1 WHERE to_regclass('vkb_changes') IS NOT NULL", NULL, 0);
	size_t n = rows ? pg_count(rows) : 0;

	if (!rows)
		return -1;
	pg_free(rows);
	return n ? 0 : pg_do(pg, changes_table(), NULL, 0) < 0 ? -1 : 0;
}

/* Stores or updates a record; one without a key has its hash as the key. */
static int
store_change(struct pg *pg, const char *metrics_table, const char *text)
{
	struct json *rec = json_parse(text, strlen(text), NULL, NULL);
	const char *key = json_get_str(rec, "key");
	const char *time = json_get_str(rec, "first_seen");
	char hash[17], of_case[17];
	const char *args[] = {metrics_table, key ? key : hash, of_case,
	    time && coltype_is_time(time) ? time : NULL, text};
	long long n;

	frames_hash(hash, rec);
	frames_hash(of_case, json_get(rec, "config"));
	n = pg_do(pg,
	    "INSERT INTO vkb_changes (metrics_table, vkb_key, vkb_case, "
	    "\"time\", record) VALUES ($1, $2, $3, $4::timestamptz, $5::json) "
	    "ON CONFLICT (metrics_table, vkb_key) DO UPDATE SET seen_at = "
	    "NOW(), \"time\" = excluded.\"time\", record = excluded.record",
	    args, 5);
	json_free(rec);
	return n < 0 ? -1 : 0;
}

int
changes_push(const struct changes *c, struct pg *pg, const char *metrics_table)
{
	if (c->n && ensure_changes_table(pg) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (store_change(pg, metrics_table, c->records[i]) < 0)
			return -1;
	return 0;
}
