/* How the cases were measured, and the commands that tell more or measure
 * again. */
#include "brief.h"
#include "json.h"
#include "num.h"
#include "rebuild.h"
#include "record.h"
#include "report.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void
brief_add_runs(struct str *s, const struct brief *b)
{
	const struct row *one = NULL;

	for (size_t i = 0; i < b->n; i++) {
		const struct row *r = b->v[i].first;

		if (r->common || report_is_exact(r))
			continue;
		if (one &&
		    (one->facts.m != r->facts.m || one->facts.n != r->facts.n ||
			one->facts.paired != r->facts.paired))
			return;
		one = r;
	}
	if (!one)
		return;
	str_add(s, s->len ? ", " : "");
	if (one->facts.m == one->facts.n)
		str_printf(s, "%zu run%s each", one->facts.m,
		    num_plural((double)one->facts.m));
	else
		str_printf(s, "%zu and %zu runs", one->facts.m, one->facts.n);
	if (one->facts.paired)
		str_add(s, ", interleaved");
}

/* Returns the commit or ref by which a subject can be built again, or NULL, as
 * for a server of which only the version is known, which may be that of Redis,
 * or a module that rebuild_add_module cannot name. Caller frees. */
static char *
find_ref(const struct json *subject)
{
	const char *commit = record_subject_commit(subject);
	struct str s = {0};
	const char *ref = commit ? commit : json_get_str(subject, "ref");

	if (!ref || !*ref || *ref == '-' ||
	    strspn(ref, REBUILD_WORD) != strlen(ref))
		return NULL;
	if (!rebuild_is_known(subject))
		return NULL;
	if (commit)
		return record_commit_brief(commit, REBUILD_DIGITS);
	str_add(&s, ref);
	return str_take(&s);
}

/* Adds a file, or the word for it if it is not known. */
static void
add_file(struct str *s, const char *file, const char *unknown)
{
	if (file && *file)
		str_word(s, file);
	else
		str_add(s, unknown);
}

/* Adds "vkb-why -C valkey", with the option if the repository is known. */
static void
add_program(struct str *s, const char *program, const struct brief *b,
    const struct report *r)
{
	struct stat st;

	str_printf(s, "%s ", program);
	if (!r->repository || !*r->repository) {
		if (json_path(b->c->subject[1], "build.module"))
			str_add(s, "-C . ");
		return;
	}
	str_add(s, stat(r->repository, &st) == 0 ? "-C " : "--repo ");
	str_word(s, r->repository);
	str_addc(s, ' ');
}

/* Returns the first case that more runs or other ones would decide, or NULL. */
static const struct brief_case *
find_unclear(const struct brief *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].worst &&
		    (b->v[i].worst->verdict == VERDICT_INCONCLUSIVE ||
			b->v[i].worst->verdict == VERDICT_INSUFFICIENT))
			return &b->v[i];
	return NULL;
}

/* Returns how many rounds would decide what is unclear; 0: not known. */
static size_t
count_rounds(const struct brief *b)
{
	size_t most = 0;

	for (size_t i = 0; i < b->c->nrows; i++) {
		const struct row *r = &b->c->rows[i];
		size_t n = r->rounds ? r->rounds : r->needed;

		if (report_is_judged(r) && r->verdict > VERDICT_EQUIVALENT &&
		    !report_is_hopeless(r) && n > most)
			most = n;
	}
	return most;
}

/* Does the build cost more, in time or in work? */
static bool
is_worse(const struct brief_case *b)
{
	return b->worst && !b->worst->waived && !b->worst->common &&
	    (b->worst->verdict == VERDICT_REGRESSION ||
		b->worst->verdict == VERDICT_LIKELY_REGRESSION);
}

void
brief_add_next(struct str *s, const struct brief *b, const struct report *r)
{
	char *base = find_ref(b->c->subject[0]);
	char *ref = find_ref(b->c->subject[1]);
	bool known = base && ref && strcmp(base, ref) != 0 &&
	    rebuild_is_same(b->c->subject[0], b->c->subject[1]);
	bool dirty = record_subject_is_dirty(b->c->subject[1]);
	const struct brief_case *open = find_unclear(b);
	size_t rounds = count_rounds(b), i = 0;
	struct str same = {0};

	while (i < b->n && b->v[i].worst && !is_worse(&b->v[i]))
		i++;
	report_same_server(&same, b->c);
	if (same.len)
		;
	else if (i < b->n && b->v[i].worst && (known || (base && dirty))) {
		str_add(s, dirty ? "commit the change, then " : "");
		add_program(s, "vkb-why", b, r);
		str_printf(s, "%s %s ", base, dirty ? "HEAD" : ref);
		add_file(s, r->config, "CONFIG");
		str_addc(s, ' ');
		str_word(s, b->v[i].pair->name[0]);
		rebuild_add_module(s, " --", b->c->subject[1]);
	} else if (open && known && !dirty) {
		add_program(s, "vkb-ab", b, r);
		str_printf(s, "%s %s", base, ref);
		rebuild_add_module(s, "", b->c->subject[1]);
		str_add(s, " -- ");
		add_file(s, r->config, "CONFIG");
		if (rounds)
			str_printf(s, " --runs %zu", rounds);
	} else if (open && !open->worst->facts.paired) {
		str_add(s, "vkb-load --again ");
		add_file(s, r->base, "BASE");
		str_addc(s, ' ');
		add_file(s, r->config, "CONFIG");
		str_add(s, " | vkb-compare --baseline baseline");
	}
	str_free(&same);
	free(base);
	free(ref);
}

void
brief_add_again(struct str *s, const struct brief *b, const struct report *r)
{
	char *base = find_ref(b->c->subject[0]);
	char *ref = find_ref(b->c->subject[1]);
	size_t runs = 0;

	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].first->facts.n > runs &&
		    !report_is_exact(b->v[i].first) && !b->v[i].first->common)
			runs = b->v[i].first->facts.n;
	if (base && ref && strcmp(base, ref) != 0 &&
	    rebuild_is_same(b->c->subject[0], b->c->subject[1]) &&
	    !record_subject_is_dirty(b->c->subject[1])) {
		str_printf(s, "vkb-ab -C . %s %s", base, ref);
		rebuild_add_module(s, "", b->c->subject[1]);
		str_add(s, " -- ");
		add_file(s, r->config, "CONFIG");
		if (runs)
			str_printf(s, " --runs %zu", runs);
	}
	free(base);
	free(ref);
}
