#include "push.h"
#include "err.h"
#include "migrate.h"
#include "others.h"
#include "pg.h"
#include "plan.h"
#include "schema.h"
#include "spool.h"

#define TRIES 4

/* Takes the lock and stores all. Returns 0, or -1 (error reported). */
static int
push_in_transaction(struct push *p, struct pg *pg, struct schema *s,
    struct spool *spool, bool quiet)
{
	long long n;

	if (pg_lock(pg, "vkb-pgpush") < 0 ||
	    others_push(p->others, pg, s->table) < 0)
		return -1;
	if (!spool_count_rows(spool))
		return 0;
	if (schema_read(s, pg) < 0 || schema_check(s) < 0)
		return -1;
	n = migrate_runs(pg, s);
	if (n < 0 || plan_make(s, spool) < 0)
		return -1;
	p->migrated = (size_t)n;
	for (size_t i = 0; i < s->nsql; i++)
		if (pg_do(pg, s->sql[i], NULL, 0) < 0)
			return -1;
	feed_free(&p->feed);
	p->feed = (struct feed){.spool = spool, .quiet = quiet};
	n = feed_metrics(&p->feed, pg, s);
	if (n < 0 || feed_records(&p->feed, pg, s) < 0)
		return -1;
	p->stored = (size_t)n;
	p->there = spool_count_rows(spool) - p->feed.refused - p->stored;
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
		if (pg_begin(pg) == 0 &&
		    push_in_transaction(p, pg, s, spool, i > 0) == 0)
			rc = pg_commit(pg);
		again = pg_transient(pg);
		pg_close(pg);
	}
	return rc;
}

int
push_check(struct push *p, const struct schema *s, struct spool *spool)
{
	p->feed = (struct feed){.spool = spool};
	return feed_metrics(&p->feed, NULL, s) < 0 ? -1 : 0;
}
