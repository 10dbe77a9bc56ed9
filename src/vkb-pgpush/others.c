#include "others.h"
#include "coltype.h"
#include "json.h"
#include "mem.h"
#include "pg.h"
#include "record.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void
others_hash(char text[17], const struct json *j)
{
	struct str s = {0};

	json_canonical(&s, j);
	snprintf(text, 17, "%016llx", str_hash(STR_HASH, s.s, s.len));
	str_free(&s);
}

void
others_add(struct others *o, const struct json *rec)
{
	for (size_t i = 0; i < OTHERS_TYPES; i++) {
		struct others_list *l = &o->lists[i];

		if (!record_is(rec, tables[i].type))
			continue;
		*MEM_ADD(l->records, l->n, l->cap) = json_print(rec);
	}
}

void
others_free(struct others *o)
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

void
others_append_tables(const struct others *o, struct str *s)
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

	others_hash(hash, rec);
	if (type == OTHERS_ENV) {
		key = json_get_str(rec, "session");
		args[0] = key ? key : "";
		args[1] = hash;
		args[2] = json_str(json_path(rec, "env.host"));
		time = json_get_str(rec, "time");
	} else {
		others_hash(of_case, json_get(rec, "config"));
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

int
others_push(struct others *o, struct pg *pg, const char *metrics_table)
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
