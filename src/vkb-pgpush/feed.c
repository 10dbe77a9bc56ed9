#include "feed.h"
#include "err.h"
#include "hashset.h"
#include "intern.h"
#include "json.h"
#include "jsonhash.h"
#include "mem.h"
#include "pg.h"
#include "schema.h"
#include "spool.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)1 << 16)
#define SESSIONS 1000          /* sessions of one query */
#define KEYS (SPOOL_INDEX + 1) /* columns of a key, the first of the spool */

/* A column of the table that is filled. */
struct target {
	const char *name;
	size_t from; /* column of the spool */
	struct coltype type;
	bool timed; /* it must also be a time, for vkb_runs */
	bool fits;  /* all its values fit */
};

static const struct coltype time_type = {
    COLTYPE_TIMESTAMPTZ, COLTYPE_SECOND, 0};

/* Columns that are filled: first those that describe a run, then its metrics.
 */
struct targets {
	struct target *v;
	size_t n, described;
	size_t room; /* bytes of a row for their values */
};

static void
add_targets(struct targets *t, const struct schema *s,
    const struct spool *spool, bool measured)
{
	size_t n;
	const struct spool_column *c = spool_get_columns(spool, &n);

	for (size_t i = 0; i < n; i++) {
		struct target *x = &t->v[t->n];
		const struct schema_column *to;

		if (i == SPOOL_RECORD || !c[i].n || c[i].measured != measured)
			continue;
		to = schema_find_column(s, c[i].name);
		if (!to)
			continue;
		*x = (struct target){
		    .name = c[i].name, .from = i, .type = to->type};
		x->timed = strcmp(x->name, "timestamp") == 0;
		x->fits = coltype_fits(x->type, &c[i].summary) &&
		    (!x->timed || coltype_fits(time_type, &c[i].summary));
		t->n++;
	}
}

static struct targets
make_targets(const struct schema *s, const struct spool *spool)
{
	size_t n;
	struct targets t = {
	    .room = SCHEMA_ROW - 32 - (s->ncols + s->dropped) / 8};

	spool_get_columns(spool, &n);
	t.v = mem_array(n, sizeof *t.v);
	add_targets(&t, s, spool, false);
	t.described = t.n;
	add_targets(&t, s, spool, true);
	return t;
}

static void
append_copy_value(
    struct str *out, const struct target *t, const struct spool_value *x)
{
	bool json =
	    t->type.kind == COLTYPE_JSON || t->type.kind == COLTYPE_JSONB;
	struct json *j;
	char *text;

	if (!x->kind)
		str_addn(out, "\\N", 2);
	else if (x->kind == COLTYPE_NUMBER || x->kind == COLTYPE_BOOL)
		str_addn(out, x->text, x->len);
	else if (json && x->kind == COLTYPE_STRING) {
		j = json_string(x->text);
		text = json_print(j);
		pg_copy_value(out, text, strlen(text));
		free(text);
		json_free(j);
	} else
		pg_copy_value(out, x->text, x->len);
}

/* Appends the value or, if the rest of the row is too short for it, null. */
static void
append_fitting_value(struct str *out, const struct target *t,
    const struct spool_value *x, size_t *room, size_t *cut)
{
	static const struct spool_value none = {0};
	size_t n = x->kind ? coltype_bytes(t->type, x->len) : 0;

	if (n > *room) {
		(*cut)++;
		x = &none;
	} else
		*room -= n;
	append_copy_value(out, t, x);
}

/* Returns 0 if the row fits the types, or -1 (reported unless f->quiet). */
static int
check_row(
    const struct feed *f, const struct targets *t, const struct spool_row *row)
{
	size_t n;
	const struct spool_column *cols = spool_get_columns(f->spool, &n);

	for (size_t i = 0; i < t->n; i++) {
		const struct spool_value *x;
		const char *wants = NULL;

		if (t->v[i].fits)
			continue;
		x = &row->values[t->v[i].from];
		if (x->kind)
			wants =
			    coltype_find_need(t->v[i].type, x->kind, x->text);
		if (x->kind && !wants && t->v[i].timed)
			wants = coltype_find_need(time_type, x->kind, x->text);
		if (!wants)
			continue;
		if (!f->quiet)
			err_say("%s: '%s' is '%.100s', but column '%s' needs "
				"%s: the run is not stored",
			    row->where, cols[t->v[i].from].key, x->text,
			    t->v[i].name, wants);
		return -1;
	}
	return 0;
}

/* What describes a run fills at most half of the row, whatever comes with the
 * environment and the configuration: the rest is for the metrics. */
static void
append_metrics_line(struct str *out, struct feed *f, const struct targets *t,
    const struct spool_row *row)
{
	size_t room = t->room / 2;

	for (size_t i = 0; i < t->n; i++) {
		if (i == t->described)
			room += t->room - t->room / 2;
		if (i)
			str_addc(out, '\t');
		append_fitting_value(
		    out, &t->v[i], &row->values[t->v[i].from], &room, &f->cut);
	}
	str_addc(out, '\n');
}

static void
append_record_line(struct str *out, const char *table, size_t timestamp,
    const struct spool_row *row)
{
	static const struct target plain = {.type = {.kind = COLTYPE_TEXT}};
	const size_t cols[] = {SPOOL_SESSION, SPOOL_CASE, SPOOL_SUBJECT,
	    SPOOL_INDEX, timestamp, SPOOL_RECORD};

	str_add(out, table);
	for (size_t i = 0; i < sizeof cols / sizeof *cols; i++) {
		str_addc(out, '\t');
		append_copy_value(out, &plain, &row->values[cols[i]]);
	}
	str_addc(out, '\n');
}

/* The state of one COPY. */
struct copy_state {
	struct feed *feed;
	struct pg *pg;
	struct hashset *known;   /* keys that the table has, see hash_key */
	const struct targets *t; /* NULL: vkb_runs */
	const char *table;       /* for vkb_runs: metrics_table */
	size_t timestamp;        /* column of the spool */
};

/*
 * Returns a hash of a run's key: session, case, subject, index. Ignores case
 * and subject if the session is made of the whole run (SPOOL_OBJECT):
 * they differ between a metrics.json and the more detailed records it was made
 * of.
 */
static unsigned long long
hash_key(const struct spool_value key[KEYS])
{
	bool whole = str_starts(key[SPOOL_SESSION].text, SPOOL_OBJECT);
	uint64_t h = 0;

	for (size_t i = 0; i < KEYS; i++)
		if (!whole || i == SPOOL_SESSION || i == SPOOL_INDEX)
			h = jsonhash_bytes(h, key[i].text, key[i].len);
	return h;
}

static int
add_known_key(void *known, const struct pg_rows *rows, size_t row)
{
	struct spool_value key[KEYS];

	for (size_t i = 0; i < KEYS; i++) {
		const char *text = pg_value(rows, row, i);

		key[i].text = text ? text : "";
		key[i].len = strlen(key[i].text);
	}
	hashset_add(known, hash_key(key));
	return 0;
}

/* Reads the keys of the spool's sessions in rows that match 'where'. */
static int
read_known_keys(
    const struct copy_state *p, const char *table, const char *where)
{
	const struct intern *sessions = spool_get_sessions(p->feed->spool);
	size_t n = intern_count(sessions);
	struct str sql = {0};
	int rc = 0;

	str_printf(&sql,
	    "SELECT vkb_session, vkb_case, vkb_subject, vkb_index FROM %s "
	    "WHERE %s AND vkb_session = ANY "
	    "(ARRAY(SELECT json_array_elements_text($1::json)))",
	    table, where);
	for (size_t i = 0; i < n && rc == 0; i += SESSIONS) {
		struct json *some = json_array();
		char *text;

		for (size_t k = i; k < n && k < i + SESSIONS; k++)
			json_push(some, json_string(intern_text(sessions, k)));
		text = json_print(some);
		rc = pg_each(p->pg, sql.s, (const char *[]){text}, 1,
		    add_known_key, p->known);
		free(text);
		json_free(some);
	}
	str_free(&sql);
	return rc;
}

static bool
is_stored(const struct copy_state *p, const struct spool_row *row)
{
	struct spool_value key[KEYS];

	for (size_t i = 0; i < KEYS; i++)
		key[i] = row->values[i];
	return hashset_add(p->known, hash_key(key));
}

/* Returns whether to send row i: it fits, and is not stored yet. */
static bool
is_row_wanted(const struct copy_state *p, const struct spool_row *row, size_t i)
{
	struct feed *f = p->feed;

	if (p->t && check_row(f, p->t, row) < 0) {
		f->refused++;
		f->is_refused[i] = true;
	}
	return !f->is_refused[i] && p->pg && !is_stored(p, row);
}

static int
send_rows(const struct copy_state *p)
{
	struct feed *f = p->feed;
	struct str out = {0};
	struct spool_row row;
	int rc = spool_rewind(f->spool);

	for (size_t i = 0; rc >= 0 && (rc = spool_next(f->spool, &row)) > 0;
	     i++) {
		if (!is_row_wanted(p, &row, i))
			continue;
		if (p->t)
			append_metrics_line(&out, f, p->t, &row);
		else
			append_record_line(&out, p->table, p->timestamp, &row);
		if (out.len < PIECE)
			continue;
		if ((rc = pg_copy_put(p->pg, out.s, out.len)) < 0)
			break;
		str_clear(&out);
	}
	if (rc == 0 && out.len)
		rc = pg_copy_put(p->pg, out.s, out.len);
	str_free(&out);
	return rc;
}

/* Copies the rows that are not stored yet. Returns their number, or -1. */
static long long
copy_rows(struct copy_state *p, const char *table, const char *where,
    const char *columns)
{
	struct str sql = {0};
	long long rc = -1;

	p->known = hashset_new();
	str_printf(&sql, "COPY %s (%s) FROM STDIN", table, columns);
	if (!p->pg)
		rc = send_rows(p);
	else if (read_known_keys(p, table, where) == 0 &&
	    pg_copy_begin(p->pg, sql.s) == 0 && send_rows(p) == 0)
		rc = pg_copy_end(p->pg);
	hashset_free(p->known);
	str_free(&sql);
	return rc;
}

long long
feed_metrics(struct feed *f, struct pg *pg, const struct schema *s)
{
	struct targets t;
	struct copy_state p = {.feed = f, .pg = pg, .t = &t};
	struct str columns = {0};
	const struct spool_column *from;
	size_t count;
	long long n;

	f->refused = 0;
	f->is_refused =
	    mem_array(spool_count_rows(f->spool), sizeof *f->is_refused);
	t = make_targets(s, f->spool);
	from = spool_get_columns(f->spool, &count);
	for (size_t i = 0; i < t.n; i++) {
		if (i)
			str_add(&columns, ", ");
		pg_name(&columns, t.v[i].name);
		if (coltype_rounds(t.v[i].type, &from[t.v[i].from].summary))
			f->rounded = t.v[i].name;
	}
	n = copy_rows(&p, s->table, "true", columns.s);
	str_free(&columns);
	free(t.v);
	return n;
}

long long
feed_records(struct feed *f, struct pg *pg, const struct schema *s)
{
	struct copy_state p = {.feed = f,
	    .pg = pg,
	    .table = s->table,
	    .timestamp = spool_get_column(f->spool, "timestamp")};
	char *where = mem_printf("metrics_table = '%s'", s->table);
	long long n = copy_rows(&p, "vkb_runs", where,
	    "metrics_table, vkb_session, vkb_case, vkb_subject, vkb_index, "
	    "\"timestamp\", record");

	free(where);
	return n;
}

void
feed_free(struct feed *f)
{
	free(f->is_refused);
}
