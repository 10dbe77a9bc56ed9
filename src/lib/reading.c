#include "reading.h"
#include "ancestry.h"
#include "branch.h"
#include "caseset.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "machines.h"
#include "jsonhash.h"
#include "mem.h"
#include "metric.h"
#include "intern.h"
#include "record.h"
#include "runrecord.h"
#include "hashset.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct reading *
reading_new(void)
{
	struct reading *in = mem_new(sizeof *in);

	in->keys = intern_new();
	in->errors = intern_new();
	in->names = intern_new();
	in->servers = intern_new();
	in->settings = intern_new();
	in->subjects = caseset_new();
	in->configs = caseset_new();
	in->envs = caseset_new();
	in->seen = hashset_new();
	in->sessions = intern_new();
	intern_id(in->sessions, ""); /* 0: not known */
	in->machines = machines_new();
	in->bare = machines_add(in->machines, NULL);
	intern_id(in->settings, ""); /* 0: not known */
	in->reader = run_record_reader_new();
	in->ancestry = ancestry_new();
	return in;
}

void
reading_free(struct reading *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->n; i++) {
		rows_free(&in->v[i].rows);
		free(in->v[i].binaries);
	}
	free(in->v);
	free(in->failures);
	intern_free(in->keys);
	intern_free(in->errors);
	intern_free(in->names);
	intern_free(in->servers);
	intern_free(in->settings);
	caseset_free(in->subjects);
	caseset_free(in->configs);
	caseset_free(in->envs);
	free(in->points);
	free(in->serving);
	free(in->binaries);
	run_record_reader_free(in->reader);
	hashset_free(in->seen);
	intern_free(in->sessions);
	machines_free(in->machines);
	free(in->kinds);
	free(in->set);
	free(in->references);
	ancestry_free(in->ancestry);
	free(in);
}

/*
 * Returns the commit that names the subject, with a suffix for uncommitted
 * changes. Caller frees; NULL: not known.
 */
static char *
make_commit_name(const struct json *subject)
{
	const char *s = record_subject_commit(subject);

	if (s && record_subject_is_dirty(subject))
		return mem_printf("%s" BRANCH_DIRTY, s);
	return mem_str(s);
}

/* Gives a point a subject. Of several, the first by its text stays, and the
 * earliest time. */
static void
update_point(struct branch_point *p, const struct json *subject)
{
	struct str s = {0}, t = {0};
	const char *time = record_subject_time(subject);
	char utc[CLOCK_ISO];

	if (time && clock_utc(utc, time) == 0)
		time = utc; /* times are compared as texts */
	if (p->subject && json_equal(p->subject, subject))
		return;
	json_canonical(&s, subject);
	json_canonical(&t, p->subject);
	if (!p->subject || strcmp(s.s, t.s) < 0) {
		json_free(p->subject);
		p->subject = json_dup(subject);
		free(p->commit);
		p->commit = make_commit_name(p->subject);
	}
	if (!p->time || (time && strcmp(time, p->time) < 0)) {
		free(p->time);
		p->time = mem_str(time);
	}
	str_free(&s);
	str_free(&t);
}

/* Returns the tree of a subject with uncommitted changes, or "". */
static const char *
get_tree(const struct json *subject, const char *key)
{
	const char *tree = json_get_str(subject, key);

	return tree && record_subject_is_dirty(subject) ? tree : "";
}

/* Returns what names the point of a subject. Caller frees. */
static struct str
make_point_key(const struct json *subject)
{
	const char *commit = json_get_str(subject, "commit");
	const char *module = json_get_str(subject, "module_commit");
	struct str key = {0};

	if (commit || module)
		str_printf(&key, "%s %s%s%s%s", commit ? commit : "",
		    module ? module : "",
		    record_subject_is_dirty(subject) ? " dirty " : "",
		    get_tree(subject, "tree"),
		    get_tree(subject, "module_tree"));
	else
		json_canonical(&key, subject);
	return key;
}

size_t
reading_find_point(const struct reading *in, const struct json *subject)
{
	struct str key = make_point_key(subject);
	size_t id = intern_find(in->keys, key.s, key.len);

	str_free(&key);
	return id;
}

/* Returns the number of the point of a subject, which is added. */
static size_t
add_point(struct reading *in, struct branch *h, const struct json *subject)
{
	struct str key = make_point_key(subject);
	size_t id = intern_idn(in->keys, key.s, key.len);

	str_free(&key);
	if (id == h->npoints) {
		*MEM_ADD(h->points, h->npoints, in->pointcap) =
		    (struct branch_point){0};
	}
	update_point(&h->points[id], subject);
	return id;
}

#define SETUP_DIGITS 12 /* of a commit or hash */

/* Settings that change results and rarely change on a host. */
static const char *const setting_keys[] = {"kernel", "os", "microcode",
    "governor", "turbo", "smt", "thp", "mitigations"};

/* Returns the server of a commit of a module, as a text that differs if it
 * does; "" if it is not known. Caller frees. */
static char *
make_server(const struct json *subject)
{
	const char *commit = json_get_str(subject, "commit");
	const char *hash = json_get_str(subject, "binary_sha256");
	const char *version = json_get_str(subject, "server_version");
	struct str s = {0};
	char *brief = commit ? record_commit_brief(commit, SETUP_DIGITS) : NULL;

	if (json_get(subject, "module_commit") &&
	    !json_get(subject, "module_fixed") && (brief || hash)) {
		str_printf(&s, "%s (", version ? version : "unknown version");
		if (brief)
			str_add(&s, brief);
		else
			str_printf(&s, "SHA-256 %.*s", SETUP_DIGITS, hash);
		str_addc(&s, ')');
	}
	free(brief);
	return str_take(&s);
}

/* Returns the settings of an environment: a line for each with its name, a tab,
 * and its value, which is empty if it is not known. Caller frees. */
static char *
make_settings(const struct json *env)
{
	const size_t n = sizeof setting_keys / sizeof *setting_keys;
	struct str s = {0};

	for (size_t i = 0; env && i < n; i++) {
		const struct json *j = json_get(env, setting_keys[i]);

		str_printf(&s, "%s\t", setting_keys[i]);
		if (json_str(j))
			str_visible(&s, json_str(j));
		else if (j)
			json_canonical(&s, j);
		str_addc(&s, '\n');
	}
	return str_take(&s);
}

/* Returns the number of such a text, which it takes. */
static size_t
intern_setup(struct intern *to, char *text)
{
	size_t id = intern_id(to, text);

	free(text);
	return id;
}

/* Returns the hash with this key, which the reading owns, or NULL. */
static const char *
intern_hash(struct reading *in, const struct json *j, const char *key)
{
	const char *hash = json_get_str(j, key);

	return hash ? intern_text(in->names, intern_id(in->names, hash)) : NULL;
}

/* Returns the number of the subject, and sets *point to that of its point. */
static size_t
intern_subject(struct reading *in, struct branch *h,
    const struct jsonscan_text *subject, size_t *point)
{
	size_t id = caseset_add(in->subjects, subject->s, subject->n);
	const struct json *j;

	if (id == in->npoints) {
		size_t cap = in->subjectcap;

		in->points =
		    mem_grow(in->points, in->npoints, &cap, sizeof *in->points);
		cap = in->subjectcap;
		in->binaries = mem_grow(
		    in->binaries, in->npoints, &cap, sizeof *in->binaries);
		in->serving = mem_grow(in->serving, in->npoints,
		    &in->subjectcap, sizeof *in->serving);
		j = caseset_tree(in->subjects, id);
		in->binaries[id] = intern_hash(in, j, "binary_sha256");
		in->serving[id] = intern_setup(in->servers, make_server(j));
		in->points[in->npoints++] = add_point(in, h, j);
	}
	*point = in->points[id];
	return id;
}

/* Makes a new case of the configuration with this number, if there is none.
 * Returns the number. */
static size_t
make_case(struct reading *in, size_t id)
{
	if (id == in->n) {
		*MEM_ADD(in->v, in->n, in->cap) = (struct reading_case){
		    .config = caseset_tree(in->configs, id)};
	}
	return id;
}

static void
add_failure(struct reading *in, size_t kase, size_t point, double failed,
    const char *error)
{
	if (!(failed > 0))
		return;
	if (error)
		error = intern_text(in->errors, intern_id(in->errors, error));
	*MEM_ADD(in->failures, in->nfailures, in->failurecap) =
	    (struct reading_failure){kase, point, (size_t)failed, error};
}

/* Was this record read before? Without a session two may be equal. */
static bool
is_duplicate(struct reading *in, bool session, uint64_t hash)
{
	return session && hashset_add(in->seen, hash);
}

/* Is a metric of a run left out because it is a latency, and the run did not
 * reach its rate? 'achieved' is its achieved_percent, or NAN. */
static bool
is_unreached(const char *name, size_t n, double achieved)
{
	return achieved < METRIC_REACHED_PERCENT &&
	    metric_follows_rate(name, n);
}

/* Returns the number of the ratio to the reference with this name, of n bytes,
 * or of the ratio of the metric with this name; METRIC_RATIOS: none. */
static size_t
find_ratio(const char *name, size_t n, bool base)
{
	size_t i = 0;

	for (const struct metric *m = metric_table; m->name; m++) {
		const char *want = base ? m->instead_of : m->name;

		if (!m->instead_of)
			continue;
		if (strlen(want) == n && memcmp(want, name, n) == 0)
			break;
		i++;
	}
	return i;
}

bool
reading_is_replaced(const struct reading_case *k, const char *metric)
{
	size_t i = find_ratio(metric, strlen(metric), true);

	return i < METRIC_RATIOS && k->ratios[i] && k->ratios[i] >= k->bases[i];
}

/* Adds a row of the server with this hash. */
static void
add_row(struct reading_case *k, struct rows_run run, const char *binary)
{
	k->binaries = mem_grow(
	    k->binaries, k->rows.n, &k->binarycap, sizeof *k->binaries);
	k->binaries[k->rows.n] = binary;
	rows_add(&k->rows, run);
}

/* Sets a value of the last row. A ratio is in the column of its reference,
 * whose hash is in the name: another reference begins another series, unless
 * branch.c joins them. */
static void
set_value(struct reading *in, size_t kase, const char *name, size_t n, double v,
    const char *reference, size_t *at)
{
	struct reading_case *k = &in->v[kase];
	size_t base = find_ratio(name, n, true), i = find_ratio(name, n, false);
	struct str s = {0};

	if (base < METRIC_RATIOS)
		k->bases[base]++;
	if (i == METRIC_RATIOS) {
		rows_set(&k->rows, in->names, name, n, v, at);
		return;
	}
	if (!reference)
		return;
	k->ratios[i]++;
	str_addn(&s, name, n);
	str_printf(&s, "\n%s", reference);
	rows_set(&k->rows, in->names, s.s, s.len, v, at);
	str_free(&s);
}

/* Adds a row for each value of a summary, or for its median. */
static void
add_values(struct reading *in, size_t kase, struct rows_run run,
    const struct json *m, const char *binary, const char *reference)
{
	size_t n = json_len(m), most = 0, k = 0, at, *len, rate = n;
	double **v = mem_array(n + 1, sizeof *v);

	len = mem_array(n + 1, sizeof *len);
	for (const struct json *j = json_first(m); j; j = json_next(j), k++) {
		v[k] = json_numbers(json_get(j, "values"), &len[k]);
		if (!len[k] && json_get(j, "median")) {
			free(v[k]);
			v[k] = mem_array(len[k] = 1, sizeof **v);
			*v[k] = json_get_num(j, "median", NAN);
		}
		most = len[k] > most ? len[k] : most;
		if (strcmp(json_key(j), "achieved_percent") == 0)
			rate = k;
	}
	for (size_t i = 0; i < most; i++) {
		double achieved = rate < n && i < len[rate] ? v[rate][i] : NAN;

		add_row(&in->v[kase], run, binary);
		k = at = 0;
		for (const struct json *j = json_first(m); j;
		     j = json_next(j), k++)
			if (i < len[k] &&
			    !is_unreached(
				json_key(j), strlen(json_key(j)), achieved))
				set_value(in, kase, json_key(j),
				    strlen(json_key(j)), v[k][i], reference,
				    &at);
	}
	for (k = 0; k < n; k++)
		free(v[k]);
	free(v);
	free(len);
}

static void
set_session(struct reading *in, struct branch_point *p, const char *s, size_t n)
{
	if (s && !p->session)
		p->session = intern_idn(in->sessions, s, n);
}

/* Adds the session of a summary, and what its machine is. */
static void
add_sessions(struct reading *in, struct branch_point *p, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "sessions"));

	in->host = sessions_see(in->host, json_get(rec, "env"));
	const char *name = json_str(j);

	set_session(in, p, name, name ? strlen(name) : 0);
}

static void
add_summary(struct reading *in, struct branch *h, const struct json *rec)
{
	const struct json *subject = json_get(rec, "subject");
	const struct json *env = json_get(rec, "env");
	size_t point = add_point(in, h, subject), kase;
	struct rows_run run = {.session = (uint32_t)point};

	if (is_duplicate(in, json_get(rec, "sessions") != NULL, json_hash(rec)))
		return;
	kase = make_case(
	    in, caseset_add_value(in->configs, json_get(rec, "config")));
	add_failure(in, kase, point, json_get_num(rec, "failed", 0),
	    json_str(json_first(json_get(rec, "errors"))));
	if (!(json_get_num(rec, "n", 0) > 0))
		return;
	add_sessions(in, &h->points[point], rec);
	run.block = (uint32_t)machines_add(in->machines, env);
	run.index = (uint32_t)intern_setup(in->servers, make_server(subject));
	run.order = (uint32_t)intern_setup(in->settings, make_settings(env));
	machines_saw(in->machines, run.block, point);
	in->mixed += record_env_varied(rec, "host");
	add_values(in, kase, run, json_get(rec, "metrics"),
	    intern_hash(in, subject, "binary_sha256"),
	    intern_hash(in, env, "reference_sha256"));
}

/* Interns the environment of a run, and looks at a new one. */
static size_t
intern_env(struct reading *in, const struct jsonscan_text *env)
{
	size_t n = caseset_count(in->envs);
	size_t id = caseset_add(in->envs, env->s, env->n);
	const struct json *new;

	if (id < n)
		return id;
	new = caseset_tree(in->envs, id);
	n = in->kindcap;
	in->kinds = mem_grow(in->kinds, in->nkinds, &n, sizeof *in->kinds);
	in->references = mem_resize(in->references, n, sizeof *in->references);
	in->references[id] = intern_hash(in, new, "reference_sha256");
	in->set = mem_grow(in->set, in->nkinds, &in->kindcap, sizeof *in->set);
	in->set[id] = intern_setup(in->settings, make_settings(new));
	in->kinds[in->nkinds++] = machines_add(in->machines, new);
	in->host = sessions_see(in->host, new);
	return id;
}

/* Returns the hash of the run, which equals json_hash of its tree. */
static uint64_t
hash_run(struct reading *in, const struct run_record *r, size_t subject,
    size_t config)
{
	uint64_t sum = r->hash +
	    caseset_member_hash(in->subjects, subject, "subject") +
	    caseset_member_hash(in->configs, config, "config");

	if (r->env.s)
		sum += caseset_member_hash(
		    in->envs, intern_env(in, &r->env), "env");
	return jsonhash_object(sum);
}

static bool
is_text(const struct jsonscan_text *t, const char *want)
{
	return t->s && t->n == strlen(want) && memcmp(t->s, want, t->n) == 0;
}

static void
add_run(struct reading *in, struct branch *h, const struct run_record *r)
{
	size_t point, subject = intern_subject(in, h, &r->subject, &point);
	size_t kase =
	    make_case(in, caseset_add(in->configs, r->config.s, r->config.n));
	size_t at = 0, env;
	struct rows_run run = {(uint32_t)point, (uint32_t)in->bare,
	    (uint32_t)in->serving[subject], 0};
	const char *reference = NULL;
	double achieved = NAN;
	char *error;

	if (is_duplicate(
		in, r->session.s != NULL, hash_run(in, r, subject, kase)))
		return;
	if (!r->ok) {
		error = r->error.s ? mem_strn(r->error.s, r->error.n) : NULL;
		add_failure(in, kase, point, 1, error);
		free(error);
		return;
	}
	set_session(in, &h->points[point], r->session.s, r->session.n);
	if (r->env.s) {
		env = intern_env(in, &r->env);
		run.block = (uint32_t)in->kinds[env];
		run.order = (uint32_t)in->set[env];
		reference = in->references[env];
	} else {
		in->host = sessions_see(in->host, NULL);
	}
	machines_saw(in->machines, run.block, point);
	add_row(&in->v[kase], run, in->binaries[subject]);
	for (size_t i = 0; i < r->nmetrics; i++)
		if (is_text(&r->metrics[i].name, "achieved_percent"))
			achieved = r->metrics[i].value;
	for (size_t i = 0; i < r->nmetrics; i++)
		if (!is_unreached(
			r->metrics[i].name.s, r->metrics[i].name.n, achieved))
			set_value(in, kase, r->metrics[i].name.s,
			    r->metrics[i].name.n, r->metrics[i].value,
			    reference, &at);
}

int
reading_add(struct reading *in, struct branch *h, struct jsonl *from)
{
	struct run_record r;
	struct json *rec;
	int rc = 0, got;

	while ((got = run_record_next(in->reader, from, &r, &rec)) != 0) {
		if (got < 0)
			rc = -1;
		else if (!rec)
			add_run(in, h, &r);
		else if (record_is(rec, "summary"))
			add_summary(in, h, rec);
		if (rec && record_is(rec, "commit"))
			ancestry_add(in->ancestry, rec);
		else
			json_free(rec);
	}
	return rc;
}
