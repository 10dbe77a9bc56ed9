#include "reading.h"
#include "ancestry.h"
#include "branch.h"
#include "json.h"
#include "jsonhash.h"
#include "jsonl.h"
#include "mem.h"
#include "names.h"
#include "record.h"
#include "runline.h"
#include "scratch.h"
#include "seen.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPILL (16 * 1048576) /* bytes of values in memory */

struct reading *
reading_new(const char *dir)
{
	struct reading *in = mem_new(sizeof *in);

	in->keys = names_new();
	in->cases = names_new();
	in->errors = names_new();
	in->subjects.names = names_new();
	in->configs.names = names_new();
	in->seen = seen_new();
	in->lines = runlines_new();
	in->scratch = scratch_new(dir);
	in->most = SPILL;
	in->ancestry = ancestry_new();
	return in;
}

static void
free_texts(struct reading_texts *t)
{
	names_free(t->names);
	free(t->v);
	str_free(&t->last);
}

void
reading_free(struct reading *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->n; i++) {
		json_free(in->v[i].config);
		rows_free(&in->v[i].rows);
	}
	free(in->v);
	free(in->failures);
	names_free(in->keys);
	names_free(in->cases);
	names_free(in->errors);
	free_texts(&in->subjects);
	free_texts(&in->configs);
	str_free(&in->env);
	runlines_free(in->lines);
	seen_free(in->seen);
	scratch_free(in->scratch);
	ancestry_free(in->ancestry);
	free(in);
}

static bool
is_dirty(const struct json *subject)
{
	return json_get_bool(subject, "dirty", false) ||
	    json_get_bool(subject, "module_dirty", false);
}

/*
 * A commit of a module is measured, where there is one. A work tree with
 * changes is another thing than its commit. Caller frees; NULL: not said.
 */
static char *
commit_of(const struct json *subject)
{
	const char *s = json_get_str(subject, "module_commit");

	s = s ? s : json_get_str(subject, "commit");
	if (s && is_dirty(subject))
		return mem_printf("%s" BRANCH_DIRTY, s);
	return mem_str(s);
}

static const char *
time_of(const struct json *subject)
{
	const char *s = json_get_str(subject, "module_time");

	return s ? s : json_get_str(subject, "time");
}

/* Of several subjects of one commit, the first by its text speaks. */
static void
know(struct point *p, const struct json *subject)
{
	struct str s = {0}, t = {0};
	const char *time = time_of(subject);

	if (p->subject && json_equal(p->subject, subject))
		return;
	record_room(&s, subject);
	record_room(&t, p->subject);
	if (!p->subject || strcmp(s.s, t.s) < 0) {
		json_free(p->subject);
		p->subject = json_dup(subject);
		free(p->commit);
		p->commit = commit_of(p->subject);
	}
	if (!p->time || (time && strcmp(time, p->time) < 0)) {
		free(p->time);
		p->time = mem_str(time);
	}
	str_free(&s);
	str_free(&t);
}

/* What the changes of a work tree are known by, where that is said. */
static const char *
tree_of(const struct json *subject, const char *key)
{
	const char *tree = json_get_str(subject, key);

	return tree && is_dirty(subject) ? tree : "";
}

/* Subjects of one commit are one point. */
static size_t
point_of(struct reading *in, struct branch *h, const struct json *subject)
{
	const char *commit = json_get_str(subject, "commit");
	const char *module = json_get_str(subject, "module_commit");
	struct str key = {0};
	size_t id;

	if (commit || module)
		str_printf(&key, "%s %s%s%s%s", commit ? commit : "",
		    module ? module : "", is_dirty(subject) ? " dirty " : "",
		    tree_of(subject, "tree"), tree_of(subject, "module_tree"));
	else
		record_room(&key, subject);
	id = names_id(in->keys, key.s);
	if (id == h->npoints) {
		h->points = mem_grow(
		    h->points, h->npoints, &in->pointcap, sizeof *h->points);
		h->points[h->npoints++] = (struct point){.at = -1};
	}
	know(&h->points[id], subject);
	str_free(&key);
	return id;
}

static size_t
case_of(struct reading *in, const struct json *config)
{
	struct str key = {0};
	size_t id;

	record_room(&key, config);
	id = names_id(in->cases, key.s);
	str_free(&key);
	if (id == in->n) {
		in->v = mem_grow(in->v, in->n, &in->cap, sizeof *in->v);
		in->v[in->n++] =
		    (struct reading_case){.config = json_dup(config)};
	}
	return id;
}

static void
fail(struct reading *in, size_t kase, size_t point, double failed,
    const char *error)
{
	if (!(failed > 0))
		return;
	if (error)
		error = names_text(in->errors, names_id(in->errors, error));
	in->failures = mem_grow(
	    in->failures, in->nfailures, &in->failurecap, sizeof *in->failures);
	in->failures[in->nfailures++] =
	    (struct reading_failure){kase, point, (size_t)failed, error};
}

/* A row of values of the case at the point. */
static struct rows *
row(struct reading *in, size_t kase, size_t point)
{
	struct rows *r = &in->v[kase].rows;

	in->bytes -= rows_bytes(r);
	rows_add(r,
	    (struct rows_run){
		(uint32_t)point, ROWS_UNKNOWN, ROWS_UNKNOWN, ROWS_UNKNOWN});
	return r;
}

/* After the values of that row. */
static int
relieve(struct reading *in, const struct rows *r)
{
	in->bytes += rows_bytes(r);
	if (!in->most || in->bytes <= in->most)
		return 0;
	for (size_t i = 0; i < in->n; i++)
		if (rows_spill(&in->v[i].rows, in->scratch) < 0) {
			in->most = 0; /* then all of it stays in memory */
			return -1;
		}
	in->bytes = 0;
	return 0;
}

/* Without a session two runs may be alike. */
static bool
known(struct reading *in, bool session, uint64_t hash)
{
	return session && seen_add(in->seen, hash);
}

/* One row for each of the values that the metrics have. */
static int
add_values(struct reading *in, size_t kase, size_t point, const struct json *m)
{
	size_t n = json_len(m), most = 0, k = 0, at, *len;
	double **v = mem_array(n + 1, sizeof *v);
	int rc = 0;

	len = mem_array(n + 1, sizeof *len);
	for (const struct json *j = json_first(m); j; j = json_next(j), k++) {
		v[k] = json_numbers(json_get(j, "values"), &len[k]);
		if (!len[k] && json_get(j, "median")) {
			free(v[k]);
			v[k] = mem_array(len[k] = 1, sizeof **v);
			*v[k] = json_get_num(j, "median", NAN);
		}
		most = len[k] > most ? len[k] : most;
	}
	for (size_t i = 0; i < most && rc == 0; i++) {
		struct rows *r = row(in, kase, point);

		k = at = 0;
		for (const struct json *j = json_first(m); j;
		     j = json_next(j), k++)
			if (i < len[k])
				rows_set(r, json_key(j), strlen(json_key(j)),
				    v[k][i], &at);
		rc = relieve(in, r);
	}
	for (k = 0; k < n; k++)
		free(v[k]);
	free(v);
	free(len);
	return rc;
}

static int
add_summary(struct reading *in, struct branch *h, const struct json *rec)
{
	size_t point = point_of(in, h, json_get(rec, "subject")), kase;

	if (known(in, json_get(rec, "sessions") != NULL, json_hash(rec)))
		return 0;
	kase = case_of(in, json_get(rec, "config"));
	fail(in, kase, point, json_get_num(rec, "failed", 0),
	    json_str(json_first(json_get(rec, "errors"))));
	if (!(json_get_num(rec, "n", 0) > 0))
		return 0;
	return add_values(in, kase, point, json_get(rec, "metrics"));
}

static int
add_run(struct reading *in, struct branch *h, const struct json *rec)
{
	size_t point = point_of(in, h, json_get(rec, "subject")), kase, at = 0;
	const char *status = json_get_str(rec, "status");
	struct rows *r;

	if (known(in, json_path(rec, "run.session") != NULL, json_hash(rec)))
		return 0;
	kase = case_of(in, json_get(rec, "config"));
	if (!status || strcmp(status, "ok") != 0) {
		fail(in, kase, point, 1, json_get_str(rec, "error"));
		return 0;
	}
	r = row(in, kase, point);
	for (const struct json *j = json_first(json_get(rec, "metrics")); j;
	     j = json_next(j))
		rows_set(
		    r, json_key(j), strlen(json_key(j)), json_num(j, NAN), &at);
	return relieve(in, r);
}

/* What a line's text means, if it is known. */
static struct reading_room *
room(struct reading_texts *t, const struct jsonscan_text *text)
{
	if (t->n && t->last.len == text->n &&
	    memcmp(t->last.s, text->s, text->n) == 0)
		return &t->v[t->at];
	str_clear(&t->last);
	str_addn(&t->last, text->s, text->n);
	t->at = names_id(t->names, t->last.s);
	if (t->at == t->n) {
		t->v = mem_grow(t->v, t->n, &t->cap, sizeof *t->v);
		t->v[t->n++] = (struct reading_room){0};
	}
	return &t->v[t->at];
}

static bool
same_env(const struct reading *in, const struct jsonscan_text *text)
{
	return in->env.len == text->n &&
	    (!text->n || memcmp(in->env.s, text->s, text->n) == 0);
}

/* The rooms of a line: what is not known yet is looked at. */
static void
learn(struct reading *in, struct branch *h, struct reading_room *subject,
    struct reading_room *config, const struct runline *r)
{
	struct json *j;

	if (!subject->known) {
		j = json_parse(r->subject.s, r->subject.n, NULL, NULL);
		*subject = (struct reading_room){true,
		    jsonhash_member("subject", 7, json_hash(j)),
		    point_of(in, h, j)};
		json_free(j);
	}
	if (!config->known) {
		j = json_parse(r->config.s, r->config.n, NULL, NULL);
		*config = (struct reading_room){true,
		    jsonhash_member("config", 6, json_hash(j)), case_of(in, j)};
		json_free(j);
	}
	if (!same_env(in, &r->env)) {
		str_clear(&in->env);
		str_addn(&in->env, r->env.s ? r->env.s : "", r->env.n);
		j = json_parse(r->env.s ? r->env.s : "", r->env.n, NULL, NULL);
		in->env_hash = j ? jsonhash_member("env", 3, json_hash(j)) : 0;
		json_free(j);
	}
}

/* False: the line is to be read otherwise. */
static bool
add_line(
    struct reading *in, struct branch *h, const char *text, size_t n, int *rc)
{
	struct reading_room *subject, *config;
	struct runline r;
	struct rows *rows;
	size_t at = 0;

	if (!runline_read(in->lines, &r, text, n))
		return false;
	subject = room(&in->subjects, &r.subject);
	config = room(&in->configs, &r.config);
	if (!(subject->known && config->known && same_env(in, &r.env)) &&
	    !runline_rooms(&r, text, n))
		return false;
	learn(in, h, subject, config, &r);
	if (known(in, r.session.s != NULL,
		jsonhash_object(
		    r.hash + subject->hash + config->hash + in->env_hash)))
		return true;
	rows = row(in, config->id, subject->id);
	for (size_t i = 0; i < r.nmetrics; i++)
		rows_set(rows, r.metrics[i].name.s, r.metrics[i].name.n,
		    r.metrics[i].v, &at);
	*rc |= relieve(in, rows);
	return true;
}

int
reading_add(struct reading *in, struct branch *h, struct jsonl *from)
{
	struct json *rec;
	const char *text;
	int rc = 0, got;
	size_t n;

	while ((got = jsonl_text(from, &text, &n)) != 0) {
		if (got > 0 && add_line(in, h, text, n, &rc))
			continue;
		if (got < 0 || record_tree(from, &rec) < 0) {
			rc = -1;
			continue;
		}
		if (record_is(rec, "commit")) {
			ancestry_add(in->ancestry, rec);
			continue;
		}
		if (record_is(rec, "summary"))
			rc |= add_summary(in, h, rec);
		else if (record_is(rec, "run"))
			rc |= add_run(in, h, rec);
		json_free(rec);
	}
	return rc;
}
