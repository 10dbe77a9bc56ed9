/* How the cases were measured, and the commands that tell more or measure
 * again. */
#include "brief.h"
#include "cases.h"
#include "json.h"
#include "jsonl.h"
#include "metric.h"
#include "num.h"
#include "rebuild.h"
#include "record.h"
#include "redact.h"
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
 * a release archive, whose folder is not known, or a module that
 * rebuild_add_options cannot name. Caller frees. */
static char *
find_ref(const struct json *subject)
{
	const char *commit = record_subject_commit(subject);
	struct str s = {0};
	const char *ref = commit ? commit : json_get_str(subject, "ref");

	if (!ref || !*ref || *ref == '-' ||
	    strspn(ref, REBUILD_WORD) != strlen(ref))
		return NULL;
	if (json_get(subject, "archive_sha256") || !rebuild_is_known(subject))
		return NULL;
	if (commit)
		return record_commit_brief(commit, REBUILD_DIGITS);
	str_add(&s, ref);
	return str_take(&s);
}

/* Is the text known, and not empty? */
static bool
is_known(const char *text)
{
	return text && *text;
}

/* Is the repository a folder of this machine? */
static bool
is_folder(const char *repository)
{
	struct stat st;

	return is_known(repository) && stat(repository, &st) == 0;
}

/* Adds a path that is not taken for an option. */
static void
add_path(struct str *s, const char *path)
{
	str_add(s, *path == '-' ? "./" : "");
	str_word(s, path);
}

/* Can vkb-load measure the baseline again: has the file runs of a server that
 * vkb-load started, and can it be read once more? */
static bool
can_load_again(const struct json *subject, const char *file)
{
	bool runs = false, other = false;
	struct jsonl *in;
	struct json *rec;
	struct stat st;

	if (!is_known(file) || !json_get(subject, "binary_sha256") ||
	    stat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	in = jsonl_open(&file, 1);
	while (!runs && !other && record_next(in, &rec) > 0) {
		runs = record_is(rec, "run");
		other = record_is(rec, "summary");
		json_free(rec);
	}
	jsonl_close(in);
	return runs;
}

/* Has a case a password, of which files have stars? */
static bool
has_secret(const struct brief *b)
{
	bool any = false;

	for (size_t i = 0; i < b->n && !any; i++) {
		const struct kase *k =
		    b->v[i].pair ? b->v[i].pair->side[1] : NULL;
		char *text = k ? json_print(cases_config(k)) : NULL;

		any = text && strstr(text, REDACT_STARS);
		free(text);
	}
	return any;
}

/* Adds " -C valkey", or nothing if the repository is not known. */
static void
add_repository(struct str *s, const struct brief *b, const struct report *r)
{
	if (is_known(r->repository)) {
		str_add(s, is_folder(r->repository) ? " -C " : " --repo ");
		add_path(s, r->repository);
	} else if (json_path(b->c->subject[1], "build.module"))
		str_add(s, " -C .");
}

/* Adds " old=1f9c0ab21f9c", without the label if that is the commit already, or
 * cannot be one. */
static void
add_side(struct str *s, const struct json *subject, const char *ref)
{
	const char *label = json_get_str(subject, "label");
	struct str word = {0};

	if (is_known(label) && *label != '-' && !strchr(label, '=') &&
	    strcmp(label, ref) != 0)
		str_printf(&word, "%s=", label);
	str_add(&word, ref);
	str_addc(s, ' ');
	str_word(s, word.s);
	str_free(&word);
}

/* Adds "vkb-ab -C valkey old=1f9c0ab21f9c new=7d0c2be00e11 --tls" with the
 * options of vkb-build, and " --" before the configuration. */
static void
add_ab(struct str *s, const struct brief *b, const char *const ref[2],
    const char *repository, const char *options)
{
	str_printf(s, "vkb-ab%s", repository);
	for (int i = 0; i < 2; i++)
		add_side(s, b->c->subject[i], ref[i]);
	str_printf(s, "%s -- ", options);
}

/* Adds the commit of a work tree with its changes, which git makes when the
 * command is run. */
static void
add_changes(struct str *s, const char *repository)
{
	str_add(s, "\"$(git");
	if (is_known(repository)) {
		str_add(s, " -C ");
		add_path(s, repository);
	}
	str_add(s, " stash create)\"");
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
		size_t n = r->needed;

		if (report_is_judged(r) && r->verdict > VERDICT_EQUIVALENT &&
		    !report_is_hopeless(r) && n > most)
			most = n;
	}
	return most;
}

/* Has the change of a metric a cause that functions and counts of a request
 * show? Tails are of few requests, memory has no functions, and vkb-why does
 * not run other programs. */
static bool
has_function(const char *name)
{
	const char *base = metric_base(name);

	return strcmp(base, "rps") == 0 || strcmp(base, "capacity_rps") == 0 ||
	    strcmp(base, "avg_latency_ms") == 0 ||
	    strcmp(base, "p50_latency_ms") == 0 || str_ends(base, "_per_req");
}

/* Does the build cost more, in time or in work, by what vkb-why can explain? */
static bool
is_explained(const struct brief_case *b)
{
	for (size_t i = 0; b->worst && i < b->n; i++) {
		const struct row *r = &b->rows[i];

		if (report_is_judged(r) && !r->common &&
		    (r->verdict == VERDICT_REGRESSION ||
			r->verdict == VERDICT_LIKELY_REGRESSION) &&
		    has_function(r->name))
			return true;
	}
	return false;
}

/* Adds the command that finds the function of a slower case. */
static void
add_why(struct str *s, const struct report *r, const char *const ref[2],
    const char *name, const char *repository, const char *options)
{
	str_printf(s, "vkb-why%s %s ", repository, ref[0]);
	if (ref[1])
		str_add(s, ref[1]);
	else
		add_changes(s, r->repository);
	str_addc(s, ' ');
	add_path(s, r->config);
	str_addc(s, ' ');
	str_word(s, name);
	if (*options)
		str_printf(s, " --%s", options);
}

/* Adds the command that measures the server of the baseline and the present one
 * interleaved. */
static void
add_load(struct str *s, const struct brief *b, const struct report *r)
{
	char *name = record_subject_name(b->c->subject[0]);
	bool named = !b->c->named[0] &&
	    (json_get(b->c->subject[0], "label") ||
		json_get(b->c->subject[0], "ref") ||
		json_get(b->c->subject[0], "commit"));

	str_add(s, "vkb-load --again ");
	add_path(s, r->base);
	str_addc(s, ' ');
	add_path(s, r->config);
	str_add(s, " | vkb-compare --baseline ");
	str_word(s, named ? name : "baseline");
	free(name);
}

void
brief_add_next(struct str *s, const struct brief *b, const struct report *r)
{
	const struct json *const *subject = b->c->subject;
	char *base = find_ref(subject[0]), *other = find_ref(subject[1]);
	bool dirty = record_subject_is_dirty(subject[1]);
	bool known = base && other && !dirty && strcmp(base, other) != 0 &&
	    rebuild_is_same(subject[0], subject[1]);
	const char *ref[2] = {base, dirty ? NULL : other};
	const struct brief_case *open = find_unclear(b);
	size_t rounds = count_rounds(b), i = 0;
	struct str same = {0}, options = {0}, repository = {0};

	while (i < b->n && !is_explained(&b->v[i]))
		i++;
	str_add(&options, "");
	str_add(&repository, "");
	rebuild_add_options(&options, subject[1]);
	if (is_known(r->cache)) {
		str_add(&options, " --cache ");
		str_word(&options, r->cache);
	}
	add_repository(&repository, b, r);
	report_same_server(&same, b->c);
	if (same.len || !is_known(r->config))
		;
	else if (i < b->n &&
	    (known ||
		(base && dirty &&
		    (!is_known(r->repository) || is_folder(r->repository)))))
		add_why(
		    s, r, ref, b->v[i].pair->name[0], repository.s, options.s);
	else if (open && known) {
		add_ab(s, b, ref, repository.s, options.s);
		add_path(s, r->config);
		if (rounds)
			str_printf(s, " --runs %zu", rounds);
	} else if (open && !open->worst->facts.paired &&
	    can_load_again(subject[0], r->base))
		add_load(s, b, r);
	str_free(&repository);
	str_free(&options);
	str_free(&same);
	free(base);
	free(other);
}

void
brief_add_again(struct str *s, const struct brief *b, struct str *why)
{
	const struct json *const *subject = b->c->subject;
	char *base = find_ref(subject[0]), *other = find_ref(subject[1]);
	const char *ref[2] = {base, other};
	struct str options = {0};
	const char *here = rebuild_only_here(subject[1]);
	size_t runs = 0;

	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].first->facts.n > runs &&
		    !report_is_exact(b->v[i].first) && !b->v[i].first->common)
			runs = b->v[i].first->facts.n;
	str_add(&options, "");
	rebuild_add_options(&options, subject[1]);
	if (!base || !other || strcmp(base, other) == 0 ||
	    !rebuild_is_same(subject[0], subject[1]) ||
	    record_subject_is_dirty(subject[1])) {
		;
	} else if (here) {
		str_printf(why,
		    "Only the machine that measured the module can repeat "
		    "this: %s.",
		    here);
	} else if (has_secret(b)) {
		str_add(why,
		    "To repeat this, the configuration with its passwords is "
		    "needed: the results do not have them.");
	} else {
		add_ab(s, b, ref, " -C .", options.s);
		str_add(s, BRIEF_CASES);
		if (runs)
			str_printf(s, " --runs %zu", runs);
	}
	str_free(&options);
	free(base);
	free(other);
}
