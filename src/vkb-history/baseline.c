#include "baseline.h"
#include "err.h"
#include "gitrepo.h"
#include "jsonfile.h"
#include "mem.h"
#include "archive.h"
#include "record.h"
#include "sink.h"
#include "str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct choice {
	const struct archive *archive;
	size_t *at, n, most; /* indexes of entries, the newest first */
};

/* Is the entry of this commit, without uncommitted changes? Either id may be
 * abbreviated. */
static bool
is_entry_of(const struct archive_entry *e, const char *id)
{
	const char *commit = record_subject_commit(e->subject);

	return commit && strlen(commit) >= 7 && strlen(id) >= 7 &&
	    (str_starts(id, commit) || str_starts(commit, id)) &&
	    !record_subject_is_dirty(e->subject);
}

static int
on_commit(void *arg, const char *id)
{
	struct choice *c = arg;

	for (size_t i = c->archive->n; i-- > 0 && c->n < c->most;)
		if (is_entry_of(&c->archive->v[i], id))
			c->at[c->n++] = i;
	return c->n == c->most;
}

static void
choose_newest(struct choice *c)
{
	while (c->n < c->most && c->n < c->archive->n) {
		c->at[c->n] = c->archive->n - 1 - c->n;
		c->n++;
	}
}

/* Chooses ancestors by the repository. Returns -1 on error, after reporting it.
 */
static int
choose_ancestors(struct choice *c, const struct baseline *f)
{
	struct gitrepo *repo = gitrepo_open(f->repo);
	char id[GITREPO_ID];
	int rc = -1, found;

	if (!repo)
		return -1;
	found = gitrepo_find(repo, f->commit, id);
	if (found == 0)
		err_say("there is no commit '%s' in '%s'", f->commit, f->repo);
	else if (found > 0)
		rc = gitrepo_walk(repo, id, NULL, false, on_commit, c);
	gitrepo_free(repo);
	return rc < 0 ? -1 : 0;
}

/* Chooses, without a repository, the commit itself and older ones. */
static int
choose_older(struct choice *c, const struct baseline *f)
{
	size_t n = c->archive->n;

	while (n > 0 && !is_entry_of(&c->archive->v[n - 1], f->commit))
		n--;
	if (n == 0) {
		err_say(
		    "commit '%s' was not measured: the newest commits are "
		    "taken; name a repository with -C to take its ancestors",
		    f->commit);
		choose_newest(c);
	}
	while (n-- > 0 && c->n < c->most)
		c->at[c->n++] = n;
	return 0;
}

static int
print_choice(const struct choice *c)
{
	struct sink out = {.fd = STDOUT_FILENO};
	struct str text = {0};
	int rc = 0;

	for (size_t i = c->n; rc == 0 && i-- > 0;) {
		rc = jsonfile_text(c->archive->v[c->at[i]].path, &text);
		str_addn(&out.s, text.s, text.len);
		sink_relieve(&out);
		str_clear(&text);
	}
	str_free(&text);
	return sink_close(&out) < 0 ? -1 : rc;
}

int
baseline_print(const char *dir, const struct baseline *f)
{
	struct archive archive;
	struct choice c = {.archive = &archive, .most = f->most};
	int rc = archive_read(&archive, dir), chosen = 0;

	c.at = mem_array(archive.n + 1, sizeof *c.at);
	if (c.most > archive.n)
		c.most = archive.n;
	if (!f->commit)
		choose_newest(&c);
	else if (c.most)
		chosen =
		    f->repo ? choose_ancestors(&c, f) : choose_older(&c, f);
	if (chosen == 0 && c.n == 0)
		err_say("there are no earlier results in '%s'; a comparison "
			"works without them",
		    dir);
	if (chosen < 0 || print_choice(&c) < 0)
		rc = -1;
	free(c.at);
	archive_free(&archive);
	return rc;
}
