#include "adding.h"
#include "err.h"
#include "json.h"
#include "jsonfile.h"
#include "jsonl.h"
#include "mem.h"
#include "intern.h"
#include "num.h"
#include "record.h"
#include "hashset.h"
#include "archive.h"
#include "stacks.h"
#include "str.h"
#include "tempfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of the archive. */
struct target {
	char *path;
	struct str was, more; /* its content, and the added records */
	struct hashset *known;
	size_t added;
	bool bad; /* it cannot be read, so it is not changed */
};

struct env {
	unsigned long long session;
	struct json *rec;
};

struct adding {
	const char *dir;
	struct intern *files;
	struct target *v; /* by the ids of files */
	size_t n, cap;
	struct hashset *equal; /* runs of the input without a key */
	struct use {
		unsigned long long session;
		size_t target;
	} * uses; /* the files with runs of each session */
	size_t nuses, usecap;
	struct hashset *paired;
	struct env *envs;
	size_t nenvs, envcap;
	struct intern *others; /* types that are left out */
	size_t present, left_out;
	int rc;
};

static unsigned long long
mix_hash(unsigned long long h, unsigned long long v)
{
	return str_hash(h, &v, sizeof v);
}

/* Returns a hash of the record without the stacks that stacks_keep adds. */
static unsigned long long
hash_record(const struct json *rec)
{
	struct json *copy;
	unsigned long long h;

	if (!json_get(rec, "stacks"))
		return json_hash(rec);
	copy = json_dup(rec);
	json_del(copy, "stacks");
	h = json_hash(copy);
	json_free(copy);
	return h;
}

/* Returns the key that tells whether a record was added before: of a successful
 * run its session, case and index, of a commit its id. A failed run may be
 * repeated, so that its key is the whole record and how many equal ones came
 * before, by the set 'equal'; that of all others is the whole record. */
static unsigned long long
make_key(const struct json *rec, struct hashset *equal)
{
	const struct json *run = json_get(rec, "run");
	const char *session = json_get_str(run, "session"),
		   *status = json_get_str(rec, "status");
	double index = json_get_num(run, "index", 0);
	unsigned long long h = STR_HASH;

	if (record_is(rec, "commit")) {
		const char *id = json_get_str(rec, "commit");

		return str_hash(h, id, strlen(id));
	}
	if (!record_is(rec, "run") || !session || !*session || index < 1 ||
	    !status || strcmp(status, "ok") != 0) {
		h = mix_hash(h, hash_record(rec));
		while (record_is(rec, "run") && hashset_add(equal, h))
			h = mix_hash(h, h);
		return h;
	}
	h = str_hash(h, session, strlen(session) + 1);
	h = mix_hash(h, json_hash(json_get(rec, "config")));
	h = mix_hash(h, json_hash(json_get(rec, "subject")));
	return mix_hash(h, (unsigned long long)index);
}

/* Reads the file, if it exists. */
static void
load_target(struct adding *a, struct target *t)
{
	const char *path = t->path;
	struct jsonl *in;
	struct hashset *equal;
	struct json *rec;
	int got;

	if (access(path, F_OK) < 0)
		return;
	equal = hashset_new();
	in = jsonl_open(&path, 1);
	while (!t->bad && (got = record_next(in, &rec)) != 0) {
		t->bad = got < 0;
		if (got < 0)
			break;
		hashset_add(t->known, make_key(rec, equal));
		json_free(rec);
	}
	jsonl_close(in);
	hashset_free(equal);
	if (!t->bad && jsonfile_text(path, &t->was) < 0)
		t->bad = true;
	if (t->bad) {
		err_say("'%s' is not changed: repair it to add records", path);
		a->rc = -1;
	}
}

static size_t
intern_target(struct adding *a, const char *file)
{
	size_t id = intern_id(a->files, file);
	struct target *t;

	if (id < a->n)
		return id;
	a->v = mem_grow(a->v, a->n, &a->cap, sizeof *a->v);
	t = &a->v[a->n++];
	*t = (struct target){
	    .path = mem_printf("%s/%s", a->dir, file), .known = hashset_new()};
	load_target(a, t);
	return id;
}

static void
append_to_target(
    struct adding *a, size_t id, const struct json *rec, unsigned long long key)
{
	struct target *t = &a->v[id];

	if (t->bad)
		return;
	if (hashset_add(t->known, key)) {
		a->present++;
		return;
	}
	json_append_line(&t->more, rec);
	t->added++;
}

static unsigned long long
hash_session(const char *session)
{
	return str_hash(STR_HASH, session, strlen(session));
}

static void
add_measured(struct adding *a, const struct json *rec)
{
	const char *session = json_get_str(json_get(rec, "run"), "session");
	char *file = archive_file(json_get(rec, "subject"));
	size_t id = intern_target(a, file);
	struct use u = {session ? hash_session(session) : 0, id};

	free(file);
	append_to_target(a, id, rec, make_key(rec, a->equal));
	if (!session || hashset_add(a->paired, mix_hash(u.session, id)))
		return;
	a->uses = mem_grow(a->uses, a->nuses, &a->usecap, sizeof *a->uses);
	a->uses[a->nuses++] = u;
}

static void
leave_out(struct adding *a, const struct json *rec)
{
	intern_id(a->others, record_type(rec));
	a->left_out++;
}

/* Adds a record to its file, and takes it. */
static void
dispatch_record(struct adding *a, struct json *rec)
{
	const char *session = json_get_str(rec, "session");

	if (record_is(rec, "profile"))
		stacks_keep(rec);
	if (record_is(rec, "commit"))
		append_to_target(a, intern_target(a, ARCHIVE_COMMITS), rec,
		    make_key(rec, a->equal));
	else if (record_is(rec, "env") && session) {
		a->envs =
		    mem_grow(a->envs, a->nenvs, &a->envcap, sizeof *a->envs);
		a->envs[a->nenvs++] = (struct env){hash_session(session), rec};
		return;
	} else if (record_is(rec, "run") || record_is(rec, "summary") ||
	    (json_get(rec, "subject") &&
		(record_is(rec, "profile") || record_is(rec, "build"))))
		add_measured(a, rec);
	else
		leave_out(a, rec);
	json_free(rec);
}

static void
add_envs(struct adding *a)
{
	for (size_t i = 0; i < a->nenvs; i++) {
		const struct env *e = &a->envs[i];
		bool any = false;

		for (size_t k = 0; k < a->nuses; k++) {
			if (a->uses[k].session != e->session)
				continue;
			append_to_target(a, a->uses[k].target, e->rec,
			    make_key(e->rec, a->equal));
			any = true;
		}
		if (!any)
			leave_out(a, e->rec);
	}
}

static void
report_added(const struct adding *a, size_t files, size_t added)
{
	struct str s = {0};

	err_say("%zu record%s added to %zu file%s, %zu there already", added,
	    num_plural((double)added), files, num_plural((double)files),
	    a->present);
	if (!a->left_out)
		return;
	for (size_t i = 0; i < intern_count(a->others); i++)
		str_printf(
		    &s, "%s%s", i ? ", " : "", intern_text(a->others, i));
	err_say("%zu record%s without a commit left out: %s", a->left_out,
	    num_plural((double)a->left_out), s.s);
	str_free(&s);
}

static void
read_file(struct adding *a, const char *const *file, size_t n)
{
	struct jsonl *in = jsonl_open(file, n);
	struct json *rec;
	int got;

	hashset_free(a->equal);
	a->equal = hashset_new();
	while ((got = record_next(in, &rec)) != 0)
		if (got < 0)
			a->rc = -1;
		else
			dispatch_record(a, rec);
	jsonl_close(in);
}

static void
write_all(struct adding *a, bool quiet)
{
	size_t changed = 0, added = 0;

	for (size_t i = 0; i < a->n; i++) {
		struct target *t = &a->v[i];

		if (!t->added)
			continue;
		str_addn(&t->was, t->more.s, t->more.len);
		if (tempfile_write(t->path, t->was.s, t->was.len) < 0) {
			a->rc = -1;
			continue;
		}
		changed++;
		added += t->added;
	}
	if (!quiet)
		report_added(a, changed, added);
}

static void
free_adding(struct adding *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].path);
		str_free(&a->v[i].was);
		str_free(&a->v[i].more);
		hashset_free(a->v[i].known);
	}
	for (size_t i = 0; i < a->nenvs; i++)
		json_free(a->envs[i].rec);
	free(a->v);
	free(a->envs);
	free(a->uses);
	intern_free(a->files);
	intern_free(a->others);
	hashset_free(a->paired);
	hashset_free(a->equal);
}

int
adding_files(const char *dir, const char *const *files, size_t n, bool quiet)
{
	struct adding a = {.dir = dir,
	    .files = intern_new(),
	    .others = intern_new(),
	    .paired = hashset_new()};

	for (size_t i = 0; i < n; i++)
		read_file(&a, files + i, 1);
	if (!n)
		read_file(&a, NULL, 0);
	add_envs(&a);
	write_all(&a, quiet);
	free_adding(&a);
	return a.rc;
}
