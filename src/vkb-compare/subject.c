#include "subject.h"
#include "cases.h"
#include "err.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int
list_subjects(const struct cases *c, const char *why)
{
	struct str s = {0};

	for (size_t i = 0; i < c->nsubjects; i++) {
		char *name = record_subject_title(c->subjects[i]);

		str_printf(&s, "%s'%s'", i ? ", " : "", name);
		free(name);
	}
	err_say("%s; the subjects are: %s", why, s.s ? s.s : "none");
	str_free(&s);
	return -1;
}

/* Is the name that of a commit, or the first digits of its hash? */
static bool
is_commit(const char *commit, const char *name)
{
	return strlen(name) >= SUBJECT_DIGITS && record_is_hash(commit) &&
	    str_starts(commit, name);
}

/* Returns the index of the only subject of which one of the two keys has the
 * name; -1 if no subject matches, -2 if several do. */
static int
find_subject_by(
    const struct cases *c, const char *name, const char *const keys[2])
{
	int found = -1;

	for (size_t i = 0; i < c->nsubjects; i++) {
		bool has = false;

		for (size_t k = 0; k < 2 && keys[k]; k++) {
			const char *s = json_get_str(c->subjects[i], keys[k]);

			has = has ||
			    (s &&
				(strcmp(s, name) == 0 ||
				    (str_ends(keys[k], "commit") &&
					is_commit(s, name))));
		}
		if (has)
			found = found == -1 ? (int)i : -2;
	}
	return found;
}

int
subject_find(const struct cases *c, const char *name)
{
	static const char *const kinds[][2] = {{"label"}, {"ref"},
	    {"commit", "module_commit"}, {"server_version"}};
	int found = -1;
	char *why;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && found == -1; i++)
		found = find_subject_by(c, name, kinds[i]);
	if (found >= 0)
		return found;
	why = mem_printf(found == -1 ? "no subject matches '%s'"
				     : "several subjects match '%s'",
	    name);
	list_subjects(c, why);
	free(why);
	return -1;
}

int
subject_check_only(const struct cases *c, const char *what)
{
	char *why;

	if (c->nsubjects == 1)
		return 0;
	why = mem_printf("%s: %s", what,
	    c->nsubjects ? "several subjects; choose one with --baseline"
			 : "no runs and no summaries");
	if (c->nsubjects)
		list_subjects(c, why);
	else
		err_say("%s", why);
	free(why);
	return -1;
}

/* Has another subject of this name a different value of the key? */
static bool
differs_from_namesake(const struct comparison *c, size_t n, const char *name,
    const struct json *value)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < 2; j++)
			if (strcmp(c[i].name[j], name) == 0 &&
			    !json_equal(value,
				json_get(c[i].subject[j], json_key(value))))
				return true;
	return false;
}

static char *
make_full_name(const struct comparison *c, size_t n, const char *name,
    const struct json *subject)
{
	struct str s = {0};
	bool any = false;

	str_add(&s, name);
	for (const struct json *j = json_first(subject); j; j = json_next(j)) {
		char *value;

		if (!differs_from_namesake(c, n, name, j))
			continue;
		value = json_str(j) ? mem_str(json_str(j)) : json_print(j);
		str_printf(
		    &s, "%s%s=%s", any ? ", " : " [", json_key(j), value);
		any = true;
		free(value);
	}
	if (any)
		str_addc(&s, ']');
	return str_take(&s);
}

/* Returns a name for the results in these files. 'whole': the other side has
 * the same, so that the path is the name, and of a pipe 'role'. */
static char *
name_files(char *const *paths, size_t n, bool whole, const char *role)
{
	const char *name = n ? strrchr(paths[0], '/') : NULL, *end;

	if (n > 1)
		return mem_printf("%zu files", n);
	if (!n || strcmp(paths[0], "-") == 0 || str_starts(paths[0], "/dev/"))
		return mem_str(whole ? role : "stdin");
	name = name && !whole ? name + 1 : paths[0];
	end = strrchr(name, '.');
	return mem_strn(name,
	    end > name && !strchr(end, '/') ? (size_t)(end - name)
					    : strlen(name));
}

void
subject_name_by_files(struct comparison *c, char *const *paths, size_t n)
{
	char *names[2];

	for (int whole = 0; whole < 2; whole++) {
		names[0] = name_files(paths, 1, whole, "baseline");
		names[1] = name_files(paths + 1, n - 1, whole, "contender");
		if (whole || strcmp(names[0], names[1]) != 0)
			break;
		free(names[0]);
		free(names[1]);
	}
	for (int j = 0; j < 2; j++) {
		if (strcmp(c->name[j], RECORD_NAMELESS) == 0) {
			c->named[j] = json_dup(c->subject[j]);
			json_set_str(c->named[j], "label", names[j]);
			c->subject[j] = c->named[j];
			free(c->name[j]);
			c->name[j] = record_subject_title(c->subject[j]);
		}
		free(names[j]);
	}
}

void
subject_tell_apart(struct comparison *c, size_t n)
{
	char **names = mem_array(2 * n + 1, sizeof *names);

	for (size_t i = 0; i < 2 * n; i++)
		names[i] = make_full_name(
		    c, n, c[i / 2].name[i % 2], c[i / 2].subject[i % 2]);
	for (size_t i = 0; i < 2 * n; i++) {
		free(c[i / 2].name[i % 2]);
		c[i / 2].name[i % 2] = names[i];
	}
	free(names);
}
