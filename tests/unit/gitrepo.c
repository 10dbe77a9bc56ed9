/* gitrepo_walk, on a history that git made, with a merge. */
#include "tap.h"

#include "err.h"
#include "folder.h"
#include "gitrepo.h"
#include "mem.h"
#include "str.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * A - B - D - E, and C between A and D, later than B; then F, a child of E that
 * has the oldest time, as from a wrong clock.
 */
static const char make[] =
    "set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1;"
    "git init -q; git config user.name t; git config user.email t@t;"
    "at() { GIT_COMMITTER_DATE=\"2020-01-0$1T00:00:00Z\";"
    "  export GIT_COMMITTER_DATE; n=$2; shift 2;"
    "  git \"$@\"; git tag $n; };"
    "at 2 A commit -q --allow-empty -m A;"
    "at 3 B commit -q --allow-empty -m B;"
    "git checkout -q -b other A;"
    "at 4 C commit -q --allow-empty -m C;"
    "git checkout -q -B main B;"
    "at 5 D merge -q --no-ff -m D other;"
    "at 6 E commit -q --allow-empty -m E;"
    "at 1 F commit -q --allow-empty -m F";

struct walked {
	struct gitrepo *r;
	struct str titles;
	int ends_at; /* after so many commits the walk returns 7; 0: never */
};

static int
see(void *arg, const char *id)
{
	struct walked *s = arg;
	struct gitrepo_commit c;

	if (gitrepo_commit(s->r, id, &c) < 0)
		return -2;
	str_add(&s->titles, c.title);
	gitrepo_commit_free(&c);
	return s->ends_at && (int)s->titles.len == s->ends_at ? 7 : 0;
}

/* Returns the titles from 'from' back, and what the walk returned: "FED 0". The
 * caller frees it. */
static char *
walk(struct gitrepo *r, const char *from, const char *until, bool first_parent,
    int ends_at)
{
	char a[GITREPO_ID], b[GITREPO_ID];
	struct walked s = {.r = r, .ends_at = ends_at};
	int rc;

	if (gitrepo_find(r, from, a) != 1 ||
	    (until && gitrepo_find(r, until, b) != 1))
		return mem_str("not found");
	rc = gitrepo_walk(r, a, until ? b : NULL, first_parent, see, &s);
	str_printf(&s.titles, " %d", rc);
	return str_take(&s.titles);
}

static void
walks(struct gitrepo *r)
{
	static const struct {
		const char *from, *until, *want, *what;
		int ends_at;
		bool first_parent;
	} cases[] = {
	    {"A", NULL, "A 0", "a root", 0, false},
	    {"A", NULL, "A 0", "a root along first parents", 0, true},
	    {"F", NULL, "FEDCBA 0",
		"children come before parents, whatever their times", 0, false},
	    {"F", NULL, "FEDBA 0", "along first parents", 0, true},
	    {"F", "D", "FE 0", "without D and its ancestors", 0, false},
	    {"F", "B", "FEDC 0", "without B and A", 0, false},
	    {"F", "B", "FED 0",
		"without B and its ancestors, along first parents", 0, true},
	    {"F", "C", "FEDB 0", "without C and A", 0, false},
	    {"D", "D", " 0", "nothing", 0, false},
	    {"B", "F", " 0", "nothing, since the end is a descendant", 0,
		false},
	    {"F", NULL, "F 7", "the walk ends after one commit", 1, false},
	    {"F", NULL, "FED 7", "the walk ends after three commits", 3, false},
	    {"F", "D", "FE 7", "the walk ends at the last commit", 2, false},
	};
	char *got;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		got = walk(r, cases[i].from, cases[i].until,
		    cases[i].first_parent, cases[i].ends_at);
		tap_str(got, cases[i].want, cases[i].what);
		free(got);
	}
}

static void
wrong(struct gitrepo *r)
{
	static const char none[] = "0123456789012345678901234567890123456789";
	struct walked s = {.r = r};
	char id[GITREPO_ID];

	tap_ok(gitrepo_walk(r, none, NULL, false, see, &s) == -1 &&
		strstr(err_last(), none),
	    "a commit that does not exist is an error: %s", err_last());
	gitrepo_find(r, "F", id);
	tap_ok(gitrepo_walk(r, id, none, false, see, &s) == -1 &&
		strstr(err_last(), id),
	    "an end that does not exist is an error: %s", err_last());
	tap_ok(gitrepo_walk(r, "no id", NULL, false, see, &s) == -1 &&
		strstr(err_last(), "no id"),
	    "no id: %s", err_last());
	tap_ok(gitrepo_walk(r, id, "no id", false, see, &s) == -1,
	    "an end that is not an id is an error");
	tap_ok(s.titles.len == 0, "no commit was visited");
	str_free(&s.titles);
}

int
main(void)
{
	char dir[] = "/tmp/vkb-unit.XXXXXX";
	struct gitrepo *r;

	err_init("gitrepo");
	if (!mkdtemp(dir) || chdir(dir) < 0 || system(make) != 0 ||
	    !(r = gitrepo_open(dir))) {
		tap_ok(false, "git makes a repository");
		return tap_done();
	}
	walks(r);
	wrong(r);
	gitrepo_free(r);
	if (chdir("/") < 0 || folder_remove(dir) < 0)
		tap_ok(false, "the folder is removed");
	return tap_done();
}
