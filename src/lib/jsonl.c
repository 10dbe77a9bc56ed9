#include "jsonl.h"
#include "err.h"
#include "inputs.h"
#include "json.h"
#include "mem.h"
#include "sink.h"
#include "str.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	size_t bad;      /* bad records of this file */
	size_t said;     /* of them, one by one */
	size_t lines;    /* of this file that are not blank */
	bool failed;     /* the last of them is not a record */
	char *held;      /* what to say of its first bad line, or NULL */
	size_t indent;   /* bytes of the first line that were skipped */
	bool fresh;      /* nothing read from this file yet */
	bool array;      /* the file is an array */
	bool spread;     /* its records take several lines each */
	size_t elements; /* of either, returned so far */
	struct str element;
	const char *text; /* the next record */
	size_t len;
	size_t from; /* line in which it begins */
	size_t skip; /* bytes of that line that were skipped */
	struct str where;
	size_t prefix; /* of 'where': "FILE:" */
	char buffer[CHUNK];
};

static const char *const stdin_only[] = {"-"};

struct jsonl *
jsonl_open(const char *const *files, size_t n)
{
	struct jsonl *r = mem_new(sizeof *r);

	r->files = n ? files : stdin_only;
	r->nfiles = n ? n : 1;
	return r;
}

/* Says what is wrong with the first line. */
static void
report_held(struct jsonl *r)
{
	if (!r->held)
		return;
	err_say("%s", r->held);
	free(r->held);
	r->held = NULL;
	r->said++;
}

/* Finds out whether the last line was a record. */
static void
settle_line(struct jsonl *r)
{
	if (r->lines && !r->failed)
		report_held(r);
	r->failed = false;
}

void
jsonl_close(struct jsonl *r)
{
	if (!r)
		return;
	report_held(r);
	inputs_close(r->f);
	free(r->line);
	str_free(&r->element);
	str_free(&r->where);
	free(r);
}

const char *
jsonl_where(const struct jsonl *r)
{
	return r->where.s ? r->where.s : "input";
}

int
jsonl_check_some(const struct jsonl *r)
{
	if (r->where.s)
		return 0;
	return err_fail("no record in %s: what writes it failed, or measured "
			"nothing",
	    r->nfiles > 1 ? "any file" : r->name);
}

/* Sets 'where' to "FILE:UNIT N". Called for each record, so it is fast. */
static void
set_where(struct jsonl *r, const char *unit, size_t n)
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
begin_file(struct jsonl *r, const char *name)
{
	r->name = name;
	r->prefix = 0;
	r->lineno = r->lines = r->indent = r->elements = 0;
	r->fresh = true;
	r->array = r->spread = r->failed = false;
	r->bad = r->said = 0;
}

static int
open_next_file(struct jsonl *r)
{
	const char *file = r->files[r->next++];

	begin_file(r, inputs_name(file));
	r->f = inputs_open(file);
	if (!r->f)
		return -1;
	if (r->f != stdin)
		setvbuf(r->f, r->buffer, _IOFBF, sizeof r->buffer);
	return 0;
}

static void
close_file(struct jsonl *r)
{
	size_t more;

	settle_line(r);
	if (r->held && r->said)
		report_held(r);
	more = r->bad - r->said;
	if (r->held) {
		err_say("%s: there is no record: 'vkb parse' reads the output "
			"of other programs",
		    r->name);
		free(r->held);
		r->held = NULL;
	} else if (more)
		err_say("%s: %zu more bad record%s", r->name, more,
		    more == 1 ? "" : "s");
	r->bad = r->said = 0;
	inputs_close(r->f);
	r->f = NULL;
}

int
jsonl_fail(struct jsonl *r, const char *why)
{
	r->failed = true;
	r->bad++;
	/* After a first line that is not a record, all that fails is foreign.
	 */
	if (r->held || r->said >= SHOWN)
		return -1;
	r->said++;
	return err_fail("%s: %s", jsonl_where(r), why);
}

/* Is the first line of the file no record, or only the begin of an object? */
static bool
is_foreign(const struct jsonl *r, size_t at)
{
	size_t end = r->len;

	/* Else r->text is that of an earlier record, or gone. */
	if (r->array || r->spread || r->lines != 1)
		return false;
	while (end && strchr(" \t\r\n", r->text[end - 1]))
		end--;
	return *r->text != '{' || at >= end;
}

/* Reports a line; if the file begins with it, when it is known whether it has
 * records at all. */
static int
report_not_json(struct jsonl *r, const char *why, size_t at)
{
	struct str s = {0};

	r->failed = true;
	r->bad++;
	if (r->held || r->said >= SHOWN)
		return -1;
	str_printf(&s, "%s: bad record: %s", jsonl_where(r), why);
	if (at)
		str_printf(&s, " (at byte %zu)", at + 1);
	r->held = str_take(&s);
	if (!is_foreign(r, at))
		report_held(r);
	return -1;
}

/* Closes the file at its end. Returns 0, or -1 and an error is reported if it
 * could not be read; errno is still that of the reading. */
static int
end_file(struct jsonl *r)
{
	int rc = feof(r->f) ? 0 : err_fail_sys("cannot read '%s'", r->name);

	close_file(r);
	return rc;
}

/* Skips blanks. Returns the next byte, which is not read yet, or EOF. */
static int
peek_nonblank(struct jsonl *r)
{
	int c;

	while ((c = getc_unlocked(r->f)) == ' ' || c == '\t' || c == '\r' ||
	    c == '\n') {
		r->lineno += c == '\n';
		r->indent = c == '\n' ? 0 : r->indent + 1;
	}
	return ungetc(c, r->f);
}

/* Reports that the rest of the file is not valid, and closes it. */
static int
give_up_file(struct jsonl *r, const char *why)
{
	int rc = ferror(r->f) ? end_file(r) : 0;

	if (rc < 0)
		return rc;
	close_file(r);
	set_where(r, "", r->lineno);
	return report_not_json(r, why, 0);
}

/* Adds an element, in which so many brackets are open, to r->element. Returns
 * false if the file ends in it. */
static bool
collect_element(struct jsonl *r, size_t brackets)
{
	bool string = false, escaped = false, done = false;
	size_t n = 0;
	char bytes[4096];
	int c;

	while (!done && (c = getc_unlocked(r->f)) != EOF) {
		if (string) {
			string = escaped || c != '"';
			escaped = !escaped && c == '\\';
			done = !string && !brackets;
		} else if (!brackets && strchr(",]} \t\r\n", c)) {
			ungetc(c, r->f);
			done = true;
			break;
		} else if (c == '"')
			string = true;
		else if (c == '{' || c == '[')
			brackets++;
		else if (c == '}' || c == ']')
			done = !--brackets;
		bytes[n++] = (char)c;
		if (n == sizeof bytes) {
			str_addn(&r->element, bytes, n);
			n = 0;
		}
	}
	str_addn(&r->element, bytes, n);
	return done;
}

static size_t
count_newlines(const char *s, size_t n)
{
	size_t k = 0;

	for (const char *p = s; (p = memchr(p, '\n', n - (size_t)(p - s))); p++)
		k++;
	return k;
}

/* Returns 1 with r->element, of which so many brackets were read, or -1. */
static int
finish_element(struct jsonl *r, size_t brackets)
{
	if (!collect_element(r, brackets) || !r->element.len)
		return give_up_file(r,
		    feof(r->f) || r->element.len ? "it ends too early"
						 : "it is not JSON");
	r->lineno += count_newlines(r->element.s, r->element.len);
	r->elements++;
	if (r->array)
		set_where(r, "element ", r->elements);
	else
		set_where(r, "", r->from);
	r->text = r->element.s;
	r->len = r->element.len;
	return 1;
}

/* Returns 1 or -1 as jsonl_text, 0 at the end of the array and its file. */
static int
read_element(struct jsonl *r)
{
	int c = peek_nonblank(r);

	if (c != ']' && r->elements) {
		if (c != ',')
			return give_up_file(r,
			    c == EOF ? "it ends too early" : "it is not JSON");
		getc(r->f);
		c = peek_nonblank(r);
	} else if (c == ']') {
		getc(r->f);
		if (peek_nonblank(r) != EOF)
			return give_up_file(
			    r, "unexpected text after the value");
		return end_file(r);
	}
	r->from = r->lineno;
	str_clear(&r->element);
	return finish_element(r, 0);
}

/* Reads the next record of a file in which they take several lines. */
static int
read_spread(struct jsonl *r)
{
	int c = peek_nonblank(r);

	if (c == EOF)
		return end_file(r);
	if (c != '{')
		return give_up_file(r, "it is not JSON");
	r->from = r->lineno;
	str_clear(&r->element);
	return finish_element(r, 0);
}

/* Finds out whether the file is an array: its first byte that is not a blank.
 */
static void
detect_format(struct jsonl *r)
{
	r->fresh = false;
	r->array = peek_nonblank(r) == '[';
	if (r->array) {
		getc(r->f);
		r->lineno++;
	}
}

/* Returns 1 with *n bytes in r->line, 0 at the end of the file, or -1. */
static int
read_line(struct jsonl *r, size_t *n)
{
	ssize_t got;

	do {
		got = getline(&r->line, &r->cap, r->f);
		if (got < 0)
			return end_file(r);
		set_where(r, "", ++r->lineno);
	} while (strspn(r->line, " \t\r\n") == (size_t)got);
	*n = (size_t)got;
	return 1;
}

/* Is always said: what follows it would be lost. */
static int
fail_torn(struct jsonl *r)
{
	r->failed = true;
	return err_fail(
	    "%s: torn record: the last line has no newline", jsonl_where(r));
}

static int
accept_line(struct jsonl *r, size_t n)
{
	r->skip = r->indent;
	r->indent = 0;
	settle_line(r);
	r->lines++;
	if (r->line[n - 1] != '\n')
		return fail_torn(r);
	if (r->lines == 1 && *r->line == '{' &&
	    strspn(r->line + 1, " \t\r\n") == n - 1) {
		r->spread = true;
		r->from = r->lineno;
		str_clear(&r->element);
		str_addn(&r->element, r->line, n);
		return finish_element(r, 1);
	}
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
	begin_file(r, name);
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
			if (open_next_file(r) < 0)
				return -1;
		}
		if (r->fresh)
			detect_format(r);
		if (r->array) {
			rc = read_element(r);
		} else if (r->spread) {
			rc = read_spread(r);
		} else {
			rc = read_line(r, &len);
			rc = rc > 0 ? accept_line(r, len) : rc;
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
	if (!*rec && (r->array || r->spread)) {
		set_where(r, "", r->from + count_newlines(r->text, at));
		return report_not_json(r, why, 0);
	}
	if (!*rec)
		return report_not_json(r, why, at ? at + r->skip : 0);
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

int
jsonl_write(int fd, const struct json *rec)
{
	struct sink o = {.fd = fd};

	json_append_line(&o.s, rec);
	return sink_close(&o);
}
