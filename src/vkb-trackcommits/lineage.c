#include "lineage.h"

#include "err.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

static int
add_commit(void *arg, const char *id)
{
	struct lineage *h = arg;

	memcpy(*MEM_ADD(h->ids, h->n, h->cap), id, GITREPO_ID);
	return 0;
}

static int
compare_by_id(const void *x, const void *y, void *ids)
{
	const size_t *a = x, *b = y;
	char(*v)[GITREPO_ID] = ids;

	return strcmp(v[*a], v[*b]);
}

int
lineage_find_id(struct gitrepo *repo, const char *name, char id[GITREPO_ID])
{
	int rc = gitrepo_find(repo, name, id);

	if (rc == 0)
		return err_fail("there is no branch, tag or commit '%s' in the "
				"repository%s",
		    name, gitrepo_shallow(repo));
	return rc < 0 ? -1 : 0;
}

int
lineage_read(struct lineage *h, struct gitrepo *repo, const char *branch,
    const char *since, bool first_parent)
{
	char from[GITREPO_ID], until[GITREPO_ID];

	*h = (struct lineage){.repo = repo, .branch = branch};
	if (lineage_find_id(repo, branch, from) < 0 ||
	    (since && lineage_find_id(repo, since, until) < 0) ||
	    gitrepo_walk(repo, from, since ? until : NULL, first_parent,
		add_commit, h) < 0)
		return -1;
	h->sorted = mem_array(h->n + 1, sizeof *h->sorted);
	for (size_t i = 0; i < h->n; i++)
		h->sorted[i] = i;
	qsort_r(h->sorted, h->n, sizeof *h->sorted, compare_by_id, h->ids);
	return 0;
}

void
lineage_free(struct lineage *h)
{
	free(h->ids);
	free(h->sorted);
	*h = (struct lineage){0};
}

size_t
lineage_find_index(const struct lineage *h, const char *sha)
{
	size_t lo = 0, hi = h->n, middle;

	while (lo < hi) {
		middle = lo + (hi - lo) / 2;
		if (strcmp(h->ids[h->sorted[middle]], sha) < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	if (lo == h->n || !str_starts(h->ids[h->sorted[lo]], sha) ||
	    (lo + 1 < h->n && str_starts(h->ids[h->sorted[lo + 1]], sha)))
		return h->n;
	return h->sorted[lo];
}

struct json *
lineage_make_record(
    struct gitrepo *repo, const char *id, const char *ref, double *time)
{
	struct gitrepo_commit c;
	struct json *rec, *parents;

	if (gitrepo_commit(repo, id, &c) < 0)
		return NULL;
	*time = (double)c.seconds;
	rec = record_new("commit");
	json_set_str(rec, "commit", c.id);
	parents = json_array();
	for (size_t i = 0; i < c.nparents; i++)
		json_push(parents, json_string(c.parents[i]));
	json_set(rec, "parents", parents);
	json_set_str(rec, "time", c.time);
	json_set_str(rec, "ref", ref);
	if (c.title && str_utf8(c.title, strlen(c.title)))
		json_set_str(rec, "title", c.title);
	gitrepo_commit_free(&c);
	return rec;
}
