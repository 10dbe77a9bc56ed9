#include "builds.h"
#include "err.h"
#include "jsonl.h"
#include "mem.h"
#include "record.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
append_build(struct builds *b, struct json *rec)
{
	b->v = mem_grow(b->v, b->n, &b->cap, sizeof *b->v);
	b->v[b->n++] = rec;
}

void
builds_add_key(struct str *s, const struct json *subject)
{
	static const char *const names[] = {
	    "label", "ref", "commit", "module_commit"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *v = json_get_str(subject, names[i]);

		str_add(s, v ? v : "");
		str_addc(s, '\n');
	}
}

static bool
is_same_subject(const struct json *a, const struct json *b)
{
	struct str x = {0}, y = {0};
	bool same;

	builds_add_key(&x, a);
	builds_add_key(&y, b);
	same = strcmp(x.s, y.s) == 0;
	str_free(&x);
	str_free(&y);
	return same;
}

bool
builds_have(const struct builds *b, const struct json *subject)
{
	for (size_t i = 0; i < b->n; i++)
		if (is_same_subject(json_get(b->v[i], "subject"), subject))
			return true;
	return false;
}

int
builds_add(struct builds *b, struct json *rec, const char *where)
{
	char *name = record_subject_name(json_get(rec, "subject"));
	const char *error = json_get_str(rec, "error");
	int rc = 0;

	if (strcmp(json_get_str(rec, "status"), "ok") != 0) {
		err_say("%s: build '%s' failed%s%s", where, name,
		    error ? ": " : "", error ? error : "");
		b->failed++;
		json_free(rec);
		free(name);
		return 0;
	}
	if (builds_have(b, json_get(rec, "subject")))
		rc =
		    err_fail("%s: two builds are called '%s': give them labels",
			where, name);
	free(name);
	append_build(b, rec);
	return rc;
}

int
builds_read(struct builds *b, const char *file)
{
	struct jsonl *in = jsonl_open(&file, 1);
	struct json *rec;
	int k, rc = 0;

	while ((k = record_next(in, &rec)) != 0) {
		if (k < 0)
			rc = -1;
		else if (record_is(rec, "build")) {
			if (builds_add(b, rec, jsonl_where(in)) < 0)
				rc = -1;
		} else {
			rc = err_fail(
			    "%s: record of type '%s' instead of 'build'",
			    jsonl_where(in), record_type(rec));
			json_free(rec);
		}
	}
	jsonl_close(in);
	if (rc == 0 && !b->n)
		rc = err_fail("%s has no build that can be measured",
		    strcmp(file, "-") == 0 ? "stdin" : file);
	return rc;
}

void
builds_single(struct builds *b, const char *path, const char *label)
{
	struct json *rec = record_new("build"), *subject = json_object();

	json_set_str(subject, "label", label);
	json_set(rec, "subject", subject);
	json_set_str(rec, "status", "ok");
	json_set_str(rec, "server", path);
	append_build(b, rec);
}

/* Does the file hold records? A server program does not begin so. */
static bool
has_records(const char *file)
{
	FILE *f = fopen(file, "re");
	int c = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return c == '{';
}

int
builds_set_reference(struct builds *b, const char *file)
{
	struct builds one = {0};
	int rc = 0;

	if (!has_records(file))
		builds_single(&one, file, file);
	else if (builds_read(&one, file) < 0)
		rc = -1;
	else if (one.n > 1)
		rc = err_fail("'%s' has %zu builds: the reference is one of "
			      "them, alone in a file",
		    file, one.n);
	if (rc == 0)
		b->reference = one.v[--one.n];
	builds_free(&one);
	return rc;
}

const struct json *
builds_get(const struct builds *b, size_t i)
{
	return i < b->n ? b->v[i] : b->reference;
}

int
builds_module(struct builds *b, const char *file)
{
	char *path = realpath(file, NULL);

	if (!path || access(path, R_OK) < 0) {
		err_fail_sys("cannot read the module '%s'", file);
		free(path);
		return -1;
	}
	for (size_t i = 0; i < b->n; i++)
		json_set_str(b->v[i], "module", path);
	free(path);
	return 0;
}

void
builds_free(struct builds *b)
{
	for (size_t i = 0; i < b->n; i++)
		json_free(b->v[i]);
	json_free(b->reference);
	free(b->v);
}
