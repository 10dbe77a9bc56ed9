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

#define CHUNK 65536
#define SHOWN 3 /* bad records of a file that are reported one by one */

struct jsonl {
	const char *const *files;
	size_t nfiles, next;
	FILE *f;
	const char *name;
	char *line;
	size_t cap;
	size_t lineno;
	size_t bad;      /* records of this file that are of no use */
	bool pretty;     /* its first bad line is a lone bracket */
	size_t indent;   /* bytes of the first line that were skipped */
	bool fresh;      /* nothing read from this file yet */
	bool array;      /* it is one array, at work */
	size_t elements; /* of it, delivered */
	char *chunk;     /* of it, read; [at, end) is still to do */
	size_t at, end;
	struct str element;
	const char *text; /* what stands next, */
	size_t len;
	size_t from; /* the line it begins in, */
	size_t skip; /* and how many bytes of it were skipped */
	struct str where;
	size_t prefix; /* of 'where': "FILE:" */
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

void
jsonl_close(struct jsonl *r)
{
	if (!r)
		return;
	if (r->f && r->f != stdin)
		fclose(r->f);
	free(r->line);
	free(r->chunk);
	str_free(&r->element);
	str_free(&r->where);
	free(r);
}

const char *
jsonl_where(const struct jsonl *r)
{
	return r->where.s ? r->where.s : "input";
}

/* "FILE:UNIT N"; for each record, so it is quick. */
static void
here(struct jsonl *r, const char *unit, size_t n)
{
	char buf[24], *end = buf + sizeof buf, *s = end;

	if (!r->prefix) {
		str_clear(&r->where);
		str_add(&r->where, r->name);
		str_addc(&r->where, ':');
		r->prefix = r->where.len;
	}
	do
		*--s = (char)('0' + n % 10);
	while (n /= 10);
	r->where.len = r->prefix;
	str_add(&r->where, unit);
	str_addn(&r->where, s, (size_t)(end - s));
}

static void
begin(struct jsonl *r, const char *name)
{
	r->name = name;
	r->prefix = 0;
	r->lineno = r->indent = r->elements = r->at = r->end = 0;
	r->fresh = true;
	r->array = r->pretty = false;
	r->bad = 0;
}

static int
open_next(struct jsonl *r)
{
	const char *file = r->files[r->next++];

	if (strcmp(file, "-") == 0) {
		begin(r, "stdin");
		r->f = stdin;
		return 0;
	}
	begin(r, file);
	r->f = fopen(file, "re");
	if (!r->f)
		return err_fail_sys("cannot read '%s'", file);
	return 0;
}

static void
close_file(struct jsonl *r)
{
	size_t more = r->bad > SHOWN ? r->bad - SHOWN : 0;

	if (r->pretty)
		err_say(
		    "%s: %zu more bad lines: the file looks pretty-printed; "
		    "'jq -c . %s' writes one record a line",
		    r->name, more, r->name);
	else if (more)
		err_say("%s: %zu more bad record%s", r->name, more,
		    more == 1 ? "" : "s");
	r->bad = 0;
	r->pretty = false;
	if (r->f != stdin)
		fclose(r->f);
	r->f = NULL;
}

int
jsonl_fail(struct jsonl *r, const char *why)
{
	return ++r->bad > SHOWN ? -1 : err_fail("%s: %s", jsonl_where(r), why);
}

static int
not_json(struct jsonl *r, const char *why, size_t at)
{
	if (!r->bad && !r->array && r->len &&
	    strspn(r->text + 1, " \t\r\n") == r->len - 1 && *r->text == '{')
		r->pretty = true;
	if (++r->bad > SHOWN)
		return -1;
	if (at)
		return err_fail("%s: bad record: %s (at byte %zu)",
		    jsonl_where(r), why, at + 1);
	return err_fail("%s: bad record: %s", jsonl_where(r), why);
}

/*
 * The end of the file: 0, or -1 and said where it could not be read; nothing
 * between that and here sets errno.
 */
static int
ended(struct jsonl *r)
{
	int rc = feof(r->f) ? 0 : err_fail_sys("cannot read '%s'", r->name);

	close_file(r);
	return rc;
}

/* The next byte of an array; EOF. */
static int
peek(struct jsonl *r)
{
	if (r->at == r->end) {
		r->chunk = r->chunk ? r->chunk : mem_new(CHUNK);
		r->at = 0;
		r->end = fread(r->chunk, 1, CHUNK, r->f);
	}
	return r->at < r->end ? (unsigned char)r->chunk[r->at] : EOF;
}

static int
peek_solid(struct jsonl *r)
{
	int c;

	while ((c = peek(r)) == ' ' || c == '\t' || c == '\r' || c == '\n') {
		r->lineno += c == '\n';
		r->at++;
	}
	return c;
}

/* What is left of the file cannot be understood. */
static int
give_up(struct jsonl *r, const char *why)
{
	int rc = ferror(r->f) ? ended(r) : 0;

	if (rc < 0)
		return rc;
	close_file(r);
	here(r, "", r->lineno);
	return not_json(r, why, 0);
}

/* How far the element goes: up to the end of what is read, or its own. */
struct depth {
	size_t brackets;
	bool string, escaped, done;
};

static size_t
run_of(struct depth *d, const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n && !d->done; i++) {
		char c = s[i];

		if (d->string) {
			d->string = d->escaped || c != '"';
			d->escaped = !d->escaped && c == '\\';
			d->done = !d->string && !d->brackets;
		} else if (c == '"') {
			d->string = true;
		} else if (c == '{' || c == '[') {
			d->brackets++;
		} else if (d->brackets && (c == '}' || c == ']')) {
			d->done = !--d->brackets;
		} else if (!d->brackets && strchr(",]} \t\r\n", c)) {
			d->done = true;
			return i;
		}
	}
	return i;
}

/* Reads one element into r->element; false: the file ended in it. */
static bool
collect(struct jsonl *r)
{
	struct depth d = {0};

	str_clear(&r->element);
	while (!d.done && peek(r) != EOF) {
		size_t n = run_of(&d, r->chunk + r->at, r->end - r->at);

		str_addn(&r->element, r->chunk + r->at, n);
		r->at += n;
	}
	return d.done;
}

static size_t
newlines(const char *s, size_t n)
{
	size_t k = 0;

	for (const char *p = s; (p = memchr(p, '\n', n - (size_t)(p - s))); p++)
		k++;
	return k;
}

/* 'r->array': 1, -1 as jsonl_text; 0: the array has ended, and its file. */
static int
element(struct jsonl *r)
{
	int c = peek_solid(r);

	if (c != ']' && r->elements) {
		if (c != ',')
			return give_up(r,
			    c == EOF ? "it ends too early" : "it is not JSON");
		r->at++;
		c = peek_solid(r);
	} else if (c == ']') {
		r->at++;
		if (peek_solid(r) != EOF)
			return give_up(r, "something follows the value");
		return ended(r);
	}
	r->from = r->lineno;
	if (!collect(r) || !r->element.len)
		return give_up(r,
		    c == EOF || r->element.len ? "it ends too early"
					       : "it is not JSON");
	r->lineno += newlines(r->element.s, r->element.len);
	r->elements++;
	here(r, "element ", r->elements);
	r->text = r->element.s;
	r->len = r->element.len;
	return 1;
}

/* The first byte that is no blank decides what the file is. */
static void
look(struct jsonl *r)
{
	int c;

	r->fresh = false;
	while ((c = getc(r->f)) == ' ' || c == '\t' || c == '\r' || c == '\n') {
		r->lineno += c == '\n';
		r->indent = c == '\n' ? 0 : r->indent + 1;
	}
	r->array = c == '[';
	if (r->array)
		r->lineno++;
	else if (c != EOF)
		ungetc(c, r->f);
}

/* 1: 'line' holds *n bytes; 0: the end of the file; -1. */
static int
next_line(struct jsonl *r, size_t *n)
{
	ssize_t got;

	do {
		got = getline(&r->line, &r->cap, r->f);
		if (got < 0)
			return ended(r);
		here(r, "", ++r->lineno);
	} while (strspn(r->line, " \t\r\n") == (size_t)got);
	*n = (size_t)got;
	return 1;
}

static int
line(struct jsonl *r, size_t n)
{
	r->skip = r->indent;
	r->indent = 0;
	if (r->line[n - 1] != '\n')
		return err_fail("%s: torn record: the last line has no newline",
		    jsonl_where(r));
	r->text = r->line;
	r->len = n;
	return 1;
}

struct jsonl *
jsonl_fd(int fd, const char *name)
{
	struct jsonl *r = mem_new(sizeof *r);

	r->f = fdopen(fd, "r");
	if (!r->f)
		err_die("cannot read %s: %s", name, strerror(errno));
	begin(r, name);
	return r;
}

int
jsonl_text(struct jsonl *r, const char **s, size_t *n)
{
	size_t len = 0;
	int rc;

	for (;;) {
		if (!r->f) {
			if (r->next >= r->nfiles)
				return 0;
			if (open_next(r) < 0)
				return -1;
		}
		if (r->fresh)
			look(r);
		if (r->array) {
			rc = element(r);
		} else {
			rc = next_line(r, &len);
			rc = rc > 0 ? line(r, len) : rc;
		}
		*s = r->text;
		*n = r->len;
		if (rc)
			return rc;
	}
}

int
jsonl_tree(struct jsonl *r, struct json **rec)
{
	const char *why;
	size_t at;

	*rec = json_parse(r->text, r->len, &why, &at);
	if (!*rec && r->array) {
		here(r, "", r->from + newlines(r->text, at));
		return not_json(r, why, 0);
	}
	if (!*rec)
		return not_json(r, why, at ? at + r->skip : 0);
	if (json_type(*rec) == JSON_OBJECT)
		return 1;
	json_free(*rec);
	*rec = NULL;
	return jsonl_fail(
	    r, r->array ? "not an object" : "bad record: not an object");
}

int
jsonl_next(struct jsonl *r, struct json **rec)
{
	const char *s;
	size_t n;
	int rc = jsonl_text(r, &s, &n);

	*rec = NULL;
	return rc > 0 ? jsonl_tree(r, rec) : rc;
}

/* All of it, however often write(2) takes less. */
static int
write_text(int fd, const char *s, size_t n)
{
	ssize_t k;

	while (n) {
		k = write(fd, s, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_fail_sys("cannot write a record");
		s += k;
		n -= (size_t)k;
	}
	return 0;
}

int
jsonl_write_all(int fd, struct json *const *recs, size_t n)
{
	struct str s = {0};
	int rc;

	for (size_t i = 0; i < n; i++) {
		json_append(&s, recs[i]);
		str_addc(&s, '\n');
	}
	rc = write_text(fd, s.s, s.len);
	str_free(&s);
	return rc;
}

int
jsonl_write(int fd, const struct json *rec)
{
	char *s = json_print(rec);
	size_t n = strlen(s);
	int rc;

	s[n++] = '\n'; /* in place of the NUL */
	rc = write_text(fd, s, n);
	free(s);
	return rc;
}
