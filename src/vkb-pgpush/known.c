#include "known.h"
#include "frames.h"
#include "json.h"
#include "jsonhash.h"
#include "intern.h"
#include "pg.h"
#include "hashset.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define SESSIONS 1000 /* sessions of one query */

unsigned long long
known_hash(const struct known_key *k)
{
	bool whole = str_starts(k->text[0], FRAMES_OBJECT);
	uint64_t h = 0;

	for (size_t i = 0; i < 4; i++)
		if (!whole || i == 0 || i == 3)
			h = jsonhash_bytes(h, k->text[i], k->len[i]);
	return h;
}

static int
fetch_known_keys(struct hashset *set, struct pg *pg)
{
	struct pg_rows *rows;
	struct known_key k;
	size_t n = 1;

	while (n) {
		rows = pg_ask(pg, "FETCH 5000 FROM vkb_known", NULL, 0);
		if (!rows)
			return -1;
		n = pg_count(rows);
		for (size_t i = 0; i < n; i++) {
			for (size_t c = 0; c < 4; c++) {
				const char *v = pg_value(rows, i, c);

				k.text[c] = v ? v : "";
				k.len[c] = strlen(k.text[c]);
			}
			hashset_add(set, known_hash(&k));
		}
		pg_free(rows);
	}
	return pg_do(pg, "CLOSE vkb_known", NULL, 0) < 0 ? -1 : 0;
}

int
known_read(struct hashset *set, struct pg *pg, const char *table,
    const char *where, const struct intern *sessions, size_t n)
{
	struct str sql = {0};
	struct json *some;
	char *text;
	int rc = 0;

	str_printf(&sql,
	    "DECLARE vkb_known NO SCROLL CURSOR FOR SELECT vkb_session, "
	    "vkb_case, vkb_subject, vkb_index FROM %s WHERE %s AND "
	    "vkb_session = ANY "
	    "(ARRAY(SELECT json_array_elements_text($1::json)))",
	    table, where);
	for (size_t i = 0; i < n && rc == 0; i += SESSIONS) {
		some = json_array();
		for (size_t k = i; k < n && k < i + SESSIONS; k++)
			json_push(some, json_string(intern_text(sessions, k)));
		text = json_print(some);
		rc = pg_do(pg, sql.s, (const char *[]){text}, 1) < 0
		    ? -1
		    : fetch_known_keys(set, pg);
		free(text);
		json_free(some);
	}
	str_free(&sql);
	return rc;
}
