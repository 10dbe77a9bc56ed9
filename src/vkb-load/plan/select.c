/* Selects cases of the plan, and keeps the cases that must run before them. */
#include "assign.h"
#include "casename.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "plan.h"
#include "scene.h"
#include "str.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>

#define LISTED_MOST 10

int
plan_check_want(struct plan_want *w)
{
	w->set = json_object();
	json_set_str(w->set, "mix", w->mix);
	json_set_str(w->set, "replay", w->replay);
	return assign_parse(&w->sets, w->set);
}

/* Does the pattern match the id of a case, or the name that reports give it?
 * 'words': it is that of a report of fewer cases, and lacks words. */
static bool
is_named(const char *pattern, const struct casename *names,
    const struct json *cas, bool words)
{
	const struct json *config = json_get(cas, "config");
	char *name = casename_of(names, config);
	bool is = fnmatch(pattern, json_get_str(cas, "id"), 0) == 0 ||
	    casename_matches(pattern, name) ||
	    (words && casename_has_words(names, config, pattern));

	free(name);
	return is;
}

/* Sets named[i] for each listed case that a pattern names. Returns their
 * number. */
static size_t
find_named(const struct plan *p, const struct casename *names,
    const char *pattern, bool *named)
{
	size_t n = 0;

	for (int words = 0; words < 2 && !n; words++)
		for (size_t i = 0; i < p->n; i++)
			n += named[i] = !json_get(p->cases[i], "unlisted") &&
			    is_named(pattern, names, p->cases[i], words);
	return n;
}

/* Reports that a pattern names no case, or, if it is NULL, that none is left,
 * with ids that it could name. Returns -1. */
static int
report_no_match(const struct plan *p, const char *pattern)
{
	struct str ids = {0}, what = {0};
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (!json_get(p->cases[i], "unlisted") && n++ < LISTED_MOST)
			str_printf(&ids, "%s%s", n > 1 ? ", " : "",
			    json_get_str(p->cases[i], "id"));
	if (pattern)
		str_printf(&what, "no case matches '%s'", pattern);
	else
		str_add(&what, "no case is left by '--case'");
	err_say("%s; the %zu case%s %s: %s%s", what.s, n, num_plural((double)n),
	    n == 1 ? "is" : "are", ids.s, n > LISTED_MOST ? ", ..." : "");
	str_free(&what);
	str_free(&ids);
	return -1;
}

/*
 * Clears keep[i] of each case that is not selected: those that no pattern
 * names, unless all patterns exclude cases, and those that one excludes. 0, or
 * -1 after reporting that a pattern names none or that none is left.
 */
static int
select_cases(const struct plan *p, bool *keep)
{
	const struct opt_list *l = &p->want->patterns;
	const struct json **configs = mem_array(p->n + 1, sizeof *configs);
	bool *named = mem_array(p->n + 1, sizeof *named);
	bool *chosen = mem_array(p->n + 1, sizeof *chosen);
	bool excludes, any = false;
	const char *pattern = NULL;
	struct casename *names;
	size_t matched = 1, left = 0;

	for (size_t i = 0; i < p->n; i++)
		configs[i] = json_get(p->cases[i], "config");
	names = casename_new(configs, p->n);
	for (size_t k = 0; k < l->n && matched; k++) {
		pattern = casename_pattern(l->v[k], &excludes);
		matched = find_named(p, names, pattern, named);
		any = any || !excludes;
		for (size_t i = 0; i < p->n; i++)
			if (excludes)
				keep[i] = keep[i] && !named[i];
			else
				chosen[i] = chosen[i] || named[i];
	}
	for (size_t i = 0; i < p->n; i++)
		left += keep[i] = keep[i] && matched && (!any || chosen[i]);
	casename_free(names);
	free(chosen);
	free(named);
	free(configs);
	return left ? 0 : report_no_match(p, matched ? NULL : pattern);
}

/* Moves the 'before' list that a case has from an earlier --plan. */
static void
move_before(struct json *list, struct json *cas)
{
	struct json *before = json_detach(cas, "before");

	while (json_len(before))
		json_push(list, json_shift(before));
	json_free(before);
}

/*
 * A later case may need the data of a case that is left out. Such a case moves
 * to 'before' of the later one, to be run without being recorded.
 */
static void
select_in_scene(struct plan *p, const struct scene *s, const bool *keep)
{
	struct json *list = json_array();
	bool any = false;

	for (size_t i = 0; i < s->n; i++)
		any = any || keep[s->v[i]];
	for (size_t i = 0; i < s->n; i++) {
		struct json **cas = &p->cases[s->v[i]];

		if (scene_resets_server(*cas)) {
			json_free(list);
			list = json_array();
		}
		if (keep[s->v[i]]) {
			move_before(list, *cas);
			if (json_len(list)) {
				json_set(*cas, "before", list);
				list = json_array();
			}
			continue;
		}
		if (any && scene_changes_server(*cas)) {
			move_before(list, *cas);
			json_del(*cas, "unlisted");
			json_push(list, *cas);
		} else
			json_free(*cas);
		*cas = NULL;
	}
	json_free(list);
}

/* Keeps every Nth of the scenes that have selected cases, and copies the
 * others, which are part of the same comparison. */
static void
select_shard(struct plan *p, const struct scenes *s, bool *keep)
{
	long long *number = mem_array(s->n + 1, sizeof *number), n = 0;
	const struct plan_want *w = p->want;

	for (size_t i = 0; i < p->n; i++) {
		if (!keep[i])
			continue;
		if (!number[s->of[i]])
			number[s->of[i]] = ++n;
		keep[i] = !w->shards ||
		    (number[s->of[i]] - 1) % w->shards == w->shard - 1;
		if (keep[i])
			continue;
		if (!p->others)
			p->others = json_array();
		json_push(p->others, json_dup(p->cases[i]));
	}
	free(number);
}

int
plan_finish(struct plan *p)
{
	const struct plan_want *w = p->want;
	size_t kept = 0, listed = 0;
	struct scenes s;
	bool *keep;
	int rc = 0;

	if (plan_name_cases(p) < 0)
		return -1;
	keep = mem_array(p->n + 1, sizeof *keep);
	scenes_make(&s, p->cases, p->n);
	for (size_t i = 0; i < p->n; i++)
		listed += keep[i] = !json_get(p->cases[i], "unlisted");
	if (listed && w->patterns.n)
		rc = select_cases(p, keep);
	else if (!listed && (w->groups || w->scenarios))
		rc = err_fail("no case matches '--groups' and '--scenarios': "
			      "check the names in the configuration");
	select_shard(p, &s, keep);
	for (size_t i = 0; i < s.n; i++)
		select_in_scene(p, &s.v[i], keep);
	for (size_t i = 0; i < p->n; i++)
		if (p->cases[i])
			p->cases[kept++] = p->cases[i];
	p->n = kept;
	scenes_free(&s);
	free(keep);
	return rc;
}
