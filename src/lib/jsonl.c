#include "jsonl.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct jsonl {
	const char *const *files;
	size_t nfiles, next;
	FILE *f;
	const char *name;
	char *line;
	size_t cap;
	size_t lineno;
	bool fresh;         /* nothing read from this file yet */
	struct json *array; /* a whole-array file being delivered */
	struct str where;
};

static const char *const just_stdin[] = {"-"};

struct jsonl *
jsonl_open(const char *const *files, size_t n)
{
	struct jsonl *r = mem_new(sizeof *r);

	r->files = n ? files : just_stdin;
	r->nfiles = n ? n : 1;
	return r;
}

struct jsonl *
jsonl_fd(int fd, const char *name)
{
	struct jsonl *r = mem_new(sizeof *r);

	r->f = fdopen(fd, "r");
	if (!r->f)
		err_die("cannot read %s: %s", name, strerror(errno));
	r->name = name;
	r->fresh = true;
	return r;
}

void
jsonl_close(struct jsonl *r)
{
	if (!r)
		return;
	if (r->f && r->f != stdin)
		fclose(r->f);
	json_free(r->array);
	free(r->line);
	str_free(&r->where);
	free(r);
}

const char *
jsonl_where(const struct jsonl *r)
{
	return r->where.s ? r->where.s : "input";
}

static void
here(struct jsonl *r, const char *unit, size_t n)
{
	str_clear(&r->where);
	str_printf(&r->where, "%s:%s%zu", r->name, unit, n);
}

static int
open_next(struct jsonl *r)
{
	const char *file = r->files[r->next++];

	r->lineno = 0;
	r->fresh = true;
	if (strcmp(file, "-") == 0) {
		r->name = "stdin";
		r->f = stdin;
		return 0;
	}
	r->name = file;
	r->f = fopen(file, "re");
	if (!r->f)
		return err_fail_sys("cannot read '%s'", file);
	return 0;
}

static void
close_file(struct jsonl *r)
{
	if (r->f != stdin)
		fclose(r->f);
	r->f = NULL;
}

static int
not_json(struct jsonl *r, const char *why, size_t at)
{
	if (at)
		return err_fail("%s: bad record: %s (at byte %zu)",
		    jsonl_where(r), why, at + 1);
	return err_fail("%s: bad record: %s", jsonl_where(r), why);
}

/* The rest of the file is one array. */
static int
slurp(struct jsonl *r, ssize_t n)
{
	struct str all = {0};
	const char *why;
	char buf[65536];
	size_t got, at;

	str_addn(&all, r->line, (size_t)n);
	while ((got = fread(buf, 1, sizeof buf, r->f)) > 0)
		str_addn(&all, buf, got);
	here(r, "", 1);
	if (ferror(r->f)) {
		str_free(&all);
		close_file(r);
		return err_fail_sys("cannot read '%s'", r->name);
	}
	r->array = json_parse(all.s, all.len, &why, &at);
	if (!r->array) {
		for (size_t i = 0, l = 1; i <= at && i < all.len; i++)
			if (all.s[i] == '\n')
				here(r, "", ++l);
		not_json(r, why, 0);
	}
	str_free(&all);
	close_file(r);
	r->lineno = 0;
	return r->array ? 0 : -1;
}

static int
element(struct jsonl *r, struct json **rec)
{
	if (!json_first(r->array)) {
		json_free(r->array);
		r->array = NULL;
		return 0;
	}
	here(r, "element ", ++r->lineno);
	*rec = json_shift(r->array);
	if (json_type(*rec) == JSON_OBJECT)
		return 1;
	json_free(*rec);
	*rec = NULL;
	return err_fail("%s: not an object", jsonl_where(r));
}

int
jsonl_next(struct jsonl *r, struct json **rec)
{
	const char *why;
	ssize_t n;
	size_t at, blank;
	int rc;

	*rec = NULL;
	for (;;) {
		if (r->array) {
			rc = element(r, rec);
			if (rc)
				return rc;
			continue;
		}
		if (!r->f) {
			if (r->next >= r->nfiles)
				return 0;
			if (open_next(r) < 0)
				return -1;
		}
		errno = 0;
		n = getline(&r->line, &r->cap, r->f);
		if (n < 0) {
			rc = ferror(r->f)
			    ? err_fail_sys("cannot read '%s'", r->name)
			    : 0;
			close_file(r);
			if (rc)
				return rc;
			continue;
		}
		here(r, "", ++r->lineno);
		blank = strspn(r->line, " \t\r\n");
		if (blank == (size_t)n)
			continue;
		if (r->fresh && r->line[blank] == '[') {
			if (slurp(r, n) < 0)
				return -1;
			continue;
		}
		r->fresh = false;
		if (r->line[n - 1] != '\n')
			return err_fail("%s: torn record: the last line has "
					"no newline",
			    jsonl_where(r));
		*rec = json_parse(r->line, (size_t)n, &why, &at);
		if (!*rec)
			return not_json(r, why, at);
		if (json_type(*rec) == JSON_OBJECT)
			return 1;
		json_free(*rec);
		*rec = NULL;
		return err_fail(
		    "%s: bad record: not an object", jsonl_where(r));
	}
}

int
jsonl_write(int fd, const struct json *rec)
{
	char *s = json_print(rec);
	size_t n = strlen(s), done = 0;
	ssize_t k;
	int rc = -1;

	s[n++] = '\n'; /* in place of the NUL */
	while (done < n) {
		k = write(fd, s + done, n - done);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			err_fail_sys("cannot write a record");
			goto out;
		}
		done += (size_t)k;
	}
	rc = 0;
out:
	free(s);
	return rc;
}
