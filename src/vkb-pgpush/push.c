#include "push.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "pg.h"
#include "schema.h"
#include "spool.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 4
#define PIECE ((size_t)1 << 16)

/* The columns that are filled, in the order of the stage. */
struct target {
	const char *name;
	size_t from; /* column of the spool */
	struct coltype type;
};

struct targets {
	struct target *v;
	size_t n;
};

static struct targets
targets_of(const struct schema *s, const struct spool *spool)
{
	size_t n;
	const struct spool_column *c = spool_columns(spool, &n);
	struct targets t = {.v = mem_array(n, sizeof *t.v)};

	for (size_t i = 0; i < n; i++) {
		const struct schema_column *col = schema_find(s, c[i].name);

		if (i == SPOOL_RECORD)
			t.v[t.n++] = (struct target){
			    c[i].name, i, {.kind = COLTYPE_JSON}};
		else if (c[i].n && col)
			t.v[t.n++] = (struct target){c[i].name, i, col->type};
	}
	return t;
}

/* Does the row fit? 0, or -1 and, unless 'quiet', said. */
static int
check(const struct targets *t, const struct spool_column *cols,
    const struct spool_value *v, const char *where, bool quiet)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct spool_value *x = &v[t->v[i].from];
		const char *wants = x->kind
		    ? coltype_wants(t->v[i].type, x->kind, x->text)
		    : NULL;

		if (!wants)
			continue;
		if (!quiet)
			err_say("%s: '%s' is '%.100s', and column '%s' wants "
				"%s: the run is not stored",
			    where, cols[t->v[i].from].key, x->text,
			    t->v[i].name, wants);
		return -1;
	}
	return 0;
}

static void
line(struct str *out, const struct targets *t, const struct spool_value *v)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct spool_value *x = &v[t->v[i].from];
		bool json = t->v[i].type.kind == COLTYPE_JSON ||
		    t->v[i].type.kind == COLTYPE_JSONB;

		if (i)
			str_addc(out, '\t');
		if (!x->kind)
			str_add(out, "\\N");
		else if (json && x->kind == COLTYPE_STRING) {
			struct json *j = json_string(x->text);
			char *text = json_print(j);

			pg_copy_value(out, text, strlen(text));
			free(text);
			json_free(j);
		} else
			pg_copy_value(out, x->text, x->len);
	}
	str_addc(out, '\n');
}

static int
copy(struct push *p, struct pg *pg, const struct targets *t,
    struct spool *spool, bool quiet)
{
	struct str out = {0};
	const struct spool_value *v;
	const char *where;
	size_t n;
	const struct spool_column *cols = spool_columns(spool, &n);
	int rc;

	p->refused = 0;
	if (pg && pg_copy_begin(pg, "COPY pg_temp.vkb_stage FROM STDIN") < 0)
		return -1;
	spool_rewind(spool);
	while ((rc = spool_next(spool, &where, &v)) > 0) {
		if (check(t, cols, v, where, quiet) < 0) {
			p->refused++;
			continue;
		}
		if (!pg)
			continue;
		line(&out, t, v);
		if (out.len < PIECE)
			continue;
		if ((rc = pg_copy_put(pg, out.s, out.len)) < 0)
			break;
		str_clear(&out);
	}
	if (rc == 0 && out.len)
		rc = pg_copy_put(pg, out.s, out.len);
	if (rc == 0 && pg)
		rc = pg_copy_end(pg);
	str_free(&out);
	return rc;
}

static void
names(struct str *sql, const struct targets *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->v[i].from == SPOOL_RECORD)
			continue;
		if (sql->s[sql->len - 1] != ' ')
			str_add(sql, ", ");
		pg_name(sql, t->v[i].name);
	}
}

/* A table as the columns are, without their constraints. */
static int
stage(struct pg *pg, const struct schema *s, const struct targets *t)
{
	struct str sql = {0};
	long long rc;

	str_add(&sql, "CREATE TEMP TABLE vkb_stage ON COMMIT DROP AS SELECT ");
	for (size_t i = 0; i < t->n; i++) {
		if (i)
			str_add(&sql, ", ");
		if (t->v[i].from == SPOOL_RECORD)
			str_add(&sql, "NULL::json AS ");
		pg_name(&sql, t->v[i].name);
	}
	str_printf(&sql, " FROM %s WITH NO DATA", s->table);
	rc = pg_do(pg, sql.s, NULL, 0);
	str_free(&sql);
	return rc < 0 ? -1 : 0;
}

static long long
insert(struct pg *pg, const struct schema *s, const struct targets *t)
{
	struct str sql = {0};
	long long n;

	str_printf(&sql, "INSERT INTO %s ( ", s->table);
	names(&sql, t);
	str_add(&sql, ") SELECT ");
	names(&sql, t);
	str_add(&sql,
	    " FROM pg_temp.vkb_stage ON CONFLICT "
	    "(vkb_session, vkb_case, vkb_subject, vkb_index) DO NOTHING");
	n = pg_do(pg, sql.s, NULL, 0);
	str_free(&sql);
	return n;
}

static int
insert_records(struct pg *pg, const struct schema *s, const struct targets *t)
{
	const char *args[] = {s->table};
	const char *time = "NULL::timestamptz";
	struct str sql = {0};
	long long n;

	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].name, "timestamp") == 0)
			time = "\"timestamp\"::timestamptz";
	str_printf(&sql,
	    "INSERT INTO vkb_runs (metrics_table, vkb_session, vkb_case, "
	    "vkb_subject, vkb_index, \"timestamp\", record) SELECT $1, "
	    "vkb_session, vkb_case, vkb_subject, vkb_index, %s, vkb_record "
	    "FROM pg_temp.vkb_stage ON CONFLICT DO NOTHING",
	    time);
	n = pg_do(pg, sql.s, args, 1);
	str_free(&sql);
	return n < 0 ? -1 : 0;
}

/* Within a transaction, alone. */
static int
work(struct push *p, struct pg *pg, struct schema *s, struct spool *spool,
    bool quiet)
{
	struct targets t = {0};
	long long n = -1;

	if (pg_lock(pg, "vkb-pgpush") < 0 || schema_read(s, pg) < 0)
		return -1;
	schema_plan(s, spool);
	for (size_t i = 0; i < s->nsql; i++)
		if (pg_do(pg, s->sql[i], NULL, 0) < 0)
			return -1;
	t = targets_of(s, spool);
	if (stage(pg, s, &t) == 0 && copy(p, pg, &t, spool, quiet) == 0 &&
	    (n = insert(pg, s, &t)) >= 0 && insert_records(pg, s, &t) < 0)
		n = -1;
	free(t.v);
	if (n < 0)
		return -1;
	p->stored = (size_t)n;
	p->there = spool_rows(spool) - p->refused - p->stored;
	return 0;
}

int
push_rows(struct push *p, struct schema *s, struct spool *spool)
{
	struct pg *pg;
	bool again = true;
	int rc = -1;

	for (int i = 0; rc < 0 && again && i < TRIES; i++) {
		if (i)
			err_say("trying again: nothing was stored so far");
		pg = pg_open(p->database);
		if (!pg)
			return -1;
		if (pg_begin(pg) == 0 && work(p, pg, s, spool, i > 0) == 0)
			rc = pg_commit(pg);
		again = pg_transient(pg);
		pg_close(pg);
	}
	return rc;
}

int
push_check(struct push *p, const struct schema *s, struct spool *spool)
{
	struct targets t = targets_of(s, spool);
	int rc = copy(p, NULL, &t, spool, false);

	free(t.v);
	return rc;
}
