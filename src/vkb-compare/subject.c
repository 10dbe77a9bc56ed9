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

char *
subject_name(const struct json *subject)
{
	char *name = record_subject_name(subject), *both;
	const char *commit = json_get_str(subject, "module_commit");

	if (!commit)
		commit = json_get_str(subject, "commit");
	if (!commit || strncmp(commit, name, 8) == 0)
		return name;
	both = mem_printf("%s (%.8s)", name, commit);
	free(name);
	return both;
}

static int
list(const struct cases *c, const char *why)
{
	struct str s = {0};

	for (size_t i = 0; i < c->nsubjects; i++) {
		char *name = subject_name(c->subjects[i]);

		str_printf(&s, "%s'%s'", i ? ", " : "", name);
		free(name);
	}
	err_say("%s; the subjects are: %s", why, s.s ? s.s : "none");
	str_free(&s);
	return -1;
}

static bool
labelled(const struct json *subject, const char *name)
{
	const char *s = json_get_str(subject, "label");

	return s && strcmp(s, name) == 0;
}

static bool
means(const struct json *subject, const char *name)
{
	static const char *const whole[] = {"ref", "server_version"};
	static const char *const starts[] = {"commit", "module_commit"};
	const char *s;

	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
		s = json_get_str(subject, whole[i]);
		if (s && strcmp(s, name) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		s = json_get_str(subject, starts[i]);
		if (s && strlen(name) >= 4 && str_starts(s, name))
			return true;
	}
	return false;
}

/* -1: none, -2: several. */
static int
only(const struct cases *c, const char *name,
    bool (*is)(const struct json *, const char *))
{
	int found = -1;

	for (size_t i = 0; i < c->nsubjects; i++)
		if (is(c->subjects[i], name))
			found = found == -1 ? (int)i : -2;
	return found;
}

int
subject_find(const struct cases *c, const char *name)
{
	int found = only(c, name, labelled);
	char *why;

	if (found == -1)
		found = only(c, name, means);
	if (found >= 0)
		return found;
	why = mem_printf(
	    found == -1 ? "no subject is '%s'" : "'%s' means several subjects",
	    name);
	list(c, why);
	free(why);
	return -1;
}

int
subject_only(const struct cases *c, const char *what)
{
	char *why;

	if (c->nsubjects == 1)
		return 0;
	why = mem_printf("%s: %s", what,
	    c->nsubjects ? "several subjects: --baseline chooses one"
			 : "no runs and no summaries");
	if (c->nsubjects)
		list(c, why);
	else
		err_say("%s", why);
	free(why);
	return -1;
}

/* Does another subject of this name say something else of the key? */
static bool
differs(const struct comparison *c, size_t n, const char *name,
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
full_name(const struct comparison *c, size_t n, const char *name,
    const struct json *subject)
{
	struct str s = {0};
	bool any = false;

	str_add(&s, name);
	for (const struct json *j = json_first(subject); j; j = json_next(j)) {
		char *value;

		if (!differs(c, n, name, j))
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

void
subject_tell_apart(struct comparison *c, size_t n)
{
	char **names = mem_array(2 * n + 1, sizeof *names);

	for (size_t i = 0; i < 2 * n; i++)
		names[i] = full_name(
		    c, n, c[i / 2].name[i % 2], c[i / 2].subject[i % 2]);
	for (size_t i = 0; i < 2 * n; i++) {
		free(c[i / 2].name[i % 2]);
		c[i / 2].name[i % 2] = names[i];
	}
	free(names);
}
