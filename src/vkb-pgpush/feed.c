#include "feed.h"
#include "err.h"
#include "json.h"
#include "known.h"
#include "mem.h"
#include "pg.h"
#include "schema.h"
#include "seen.h"
#include "spool.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)1 << 16)

/* A column that is filled. */
struct target {
	const char *name;
	size_t from; /* column of the spool */
	struct coltype type;
	bool timed; /* it is a time in vkb_runs */
	bool fits;  /* all its values do */
};

static const struct coltype a_time = {COLTYPE_TIMESTAMPTZ, COLTYPE_SECOND, 0};

/* Those that rows have on their own come first: the rest is one text by frame.
 */
struct targets {
	struct target *v;
	size_t n, alone;
	struct str *rest;
	size_t nrest;
	size_t *room; /* that each of the texts leaves for what is alone */
	size_t *cut;  /* and how many values it has no room for */
	bool narrow;  /* there is room for all */
};

static void
add_targets(struct targets *t, const struct schema *s,
    const struct spool_column *c, size_t n, bool alone)
{
	for (size_t i = 0; i < n; i++) {
		struct target *x = &t->v[t->n];
		const struct schema_column *to;

		if (i == SPOOL_RECORD || !c[i].n || c[i].alone != alone)
			continue;
		to = schema_find(s, c[i].name);
		if (!to)
			continue;
		*x = (struct target){
		    .name = c[i].name, .from = i, .type = to->type};
		x->timed = strcmp(x->name, "timestamp") == 0;
		x->fits = coltype_fits(x->type, &c[i].seen) &&
		    (!x->timed || coltype_fits(a_time, &c[i].seen));
		t->n++;
	}
	if (alone)
		t->alone = t->n;
}

static void
put(struct str *out, const struct target *t, const struct spool_value *x)
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

/* A row of the server is no longer than a page: the value, or null. */
static void
put_in(struct str *out, const struct target *t, const struct spool_value *x,
    size_t *room, size_t *cut)
{
	static const struct spool_value none = {0};
	size_t n = x->kind ? coltype_bytes(t->type, x->len) : 0;

	if (n > *room) {
		(*cut)++;
		x = &none;
	} else
		*room -= n;
	put(out, t, x);
}

/* Of a row: what its header leaves. Of it a part is for what is alone. */
static void
put_rest(struct targets *t, const struct schema *s, const struct spool *spool)
{
	size_t all = s->ncols + s->dropped, row = SCHEMA_ROW - 32 - all / 8;

	t->narrow = t->n * COLTYPE_BYTES <= row;
	t->rest = mem_array(t->nrest, sizeof *t->rest);
	t->room = mem_array(t->nrest, sizeof *t->room);
	t->cut = mem_array(t->nrest, sizeof *t->cut);
	for (size_t k = 0; k < t->nrest; k++) {
		const struct spool_value *v = spool_common(spool, k);
		size_t part = row / 2;

		for (size_t i = t->alone; i < t->n; i++) {
			str_addc(&t->rest[k], '\t');
			put_in(&t->rest[k], &t->v[i], &v[t->v[i].from], &part,
			    &t->cut[k]);
		}
		str_addc(&t->rest[k], '\n');
		t->room[k] = row - row / 2 + part;
	}
}

static struct targets
targets_of(const struct schema *s, const struct spool *spool)
{
	size_t n;
	const struct spool_column *c = spool_columns(spool, &n);
	struct targets t = {
	    .v = mem_array(n, sizeof *t.v), .nrest = spool_frames(spool)};

	add_targets(&t, s, c, n, true);
	add_targets(&t, s, c, n, false);
	put_rest(&t, s, spool);
	return t;
}

static void
free_targets(struct targets *t)
{
	for (size_t i = 0; i < t->nrest; i++)
		str_free(&t->rest[i]);
	free(t->rest);
	free(t->room);
	free(t->cut);
	free(t->v);
}

/* Does the row fit? 0, or -1 and, unless 'quiet', said. */
static int
check(
    const struct feed *f, const struct targets *t, const struct spool_row *row)
{
	size_t n;
	const struct spool_column *cols = spool_columns(f->spool, &n);

	for (size_t i = 0; i < t->n; i++) {
		const struct spool_value *x;
		const char *wants = NULL;

		if (t->v[i].fits)
			continue;
		x = spool_get(f->spool, row, t->v[i].from);
		if (x->kind)
			wants = coltype_wants(t->v[i].type, x->kind, x->text);
		if (x->kind && !wants && t->v[i].timed)
			wants = coltype_wants(a_time, x->kind, x->text);
		if (!wants)
			continue;
		if (!f->quiet)
			err_say("%s: '%s' is '%.100s', and column '%s' wants "
				"%s: the run is not stored",
			    row->where, cols[t->v[i].from].key, x->text,
			    t->v[i].name, wants);
		return -1;
	}
	return 0;
}

static void
line(struct str *out, struct feed *f, const struct targets *t,
    const struct spool_row *row)
{
	const struct str *rest = &t->rest[row->frame];
	size_t room = t->room[row->frame];

	f->cut += t->cut[row->frame];
	for (size_t i = 0; i < t->alone; i++) {
		const struct spool_value *x =
		    spool_get(f->spool, row, t->v[i].from);

		if (i)
			str_addc(out, '\t');
		if (t->narrow)
			put(out, &t->v[i], x);
		else
			put_in(out, &t->v[i], x, &room, &f->cut);
	}
	str_addn(out, rest->s, rest->len);
}

static void
record_line(struct str *out, const struct feed *f, const char *table,
    size_t timestamp, const struct spool_row *row)
{
	static const size_t own[] = {
	    SPOOL_SESSION, SPOOL_CASE, SPOOL_SUBJECT, SPOOL_INDEX};
	const struct spool_value *x;

	str_add(out, table);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		x = spool_get(f->spool, row, own[i]);
		str_addc(out, '\t');
		pg_copy_value(out, x->text, x->len);
	}
	x = spool_get(f->spool, row, timestamp);
	str_addc(out, '\t');
	if (x->kind)
		pg_copy_value(out, x->text, x->len);
	else
		str_addn(out, "\\N", 2);
	x = spool_get(f->spool, row, SPOOL_RECORD);
	str_addc(out, '\t');
	pg_copy_value(out, x->text, x->len);
	str_addc(out, '\n');
}

/* One COPY. */
struct pass {
	struct feed *feed;
	struct pg *pg;
	struct seen *seen;       /* keys that are there */
	const struct targets *t; /* NULL: vkb_runs */
	const char *table;
	size_t timestamp; /* its column */
};

static bool
is_there(const struct pass *p, const struct spool_row *row)
{
	static const size_t own[] = {
	    SPOOL_SESSION, SPOOL_CASE, SPOOL_SUBJECT, SPOOL_INDEX};
	struct known_key k;

	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		const struct spool_value *x =
		    spool_get(p->feed->spool, row, own[i]);

		k.text[i] = x->text;
		k.len[i] = x->len;
	}
	return seen_add(p->seen, known_hash(&k));
}

/* Is the row one to be sent? */
static bool
wanted(const struct pass *p, const struct spool_row *row, size_t i)
{
	struct feed *f = p->feed;

	if (p->t && check(f, p->t, row) < 0) {
		f->refused++;
		f->out[i] = true;
	}
	return !f->out[i] && p->pg && !is_there(p, row);
}

static int
send_rows(const struct pass *p)
{
	struct feed *f = p->feed;
	struct str out = {0};
	struct spool_row row;
	int rc;

	spool_rewind(f->spool);
	for (size_t i = 0; (rc = spool_next(f->spool, &row)) > 0; i++) {
		if (!wanted(p, &row, i))
			continue;
		if (p->t)
			line(&out, f, p->t, &row);
		else
			record_line(&out, f, p->table, p->timestamp, &row);
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

/* Those that are there are left out, so that COPY meets no conflict. */
static long long
copy(struct pass *p, const char *table, const char *where, const char *columns)
{
	struct str sql = {0};
	size_t n;
	const struct names *sessions = spool_sessions(p->feed->spool, &n);
	long long rc = -1;

	p->seen = seen_new();
	str_printf(&sql, "COPY %s (%s) FROM STDIN", table, columns);
	if (!p->pg)
		rc = send_rows(p);
	else if (known_read(p->seen, p->pg, table, where, sessions, n) == 0 &&
	    pg_copy_begin(p->pg, sql.s) == 0 && send_rows(p) == 0)
		rc = pg_copy_end(p->pg);
	seen_free(p->seen);
	str_free(&sql);
	return rc;
}

static const struct coltype_seen *
seen(const struct feed *f, size_t column)
{
	size_t n;

	return &spool_columns(f->spool, &n)[column].seen;
}

long long
feed_metrics(struct feed *f, struct pg *pg, const struct schema *s)
{
	struct targets t;
	struct pass p = {.feed = f, .pg = pg, .t = &t};
	struct str columns = {0};
	long long n;

	f->refused = 0;
	f->out = mem_array(spool_rows(f->spool), sizeof *f->out);
	spool_rewind(f->spool);
	t = targets_of(s, f->spool);
	for (size_t i = 0; i < t.n; i++) {
		if (i)
			str_add(&columns, ", ");
		pg_name(&columns, t.v[i].name);
		if (coltype_rounds(t.v[i].type, seen(f, t.v[i].from)))
			f->rounded = t.v[i].name;
	}
	n = copy(&p, s->table, "true", columns.s);
	str_free(&columns);
	free_targets(&t);
	return n;
}

long long
feed_records(struct feed *f, struct pg *pg, const struct schema *s)
{
	struct pass p = {.feed = f,
	    .pg = pg,
	    .table = s->table,
	    .timestamp = spool_column(f->spool, "timestamp")};
	char *where = mem_printf("metrics_table = '%s'", s->table);
	long long n = copy(&p, "vkb_runs", where,
	    "metrics_table, vkb_session, vkb_case, vkb_subject, vkb_index, "
	    "\"timestamp\", record");

	free(where);
	return n;
}

void
feed_free(struct feed *f)
{
	free(f->out);
}
