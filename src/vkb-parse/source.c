#include "source.h"
#include "json.h"
#include "jsonscan.h"
#include "inputs.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536

struct source {
	const char *name;
	FILE *f;
	struct str buf; /* bytes read; those from 'at' on are undelivered */
	size_t at;
	size_t lineno;
	char *part; /* see source_set_part, or NULL */
	struct str line, where;
	bool ended, torn; /* 'torn': see source_is_torn */
	size_t json_line; /* of 'at'; 0: see prepare_json */
};

struct source *
source_open(const char *file)
{
	FILE *f = inputs_open(file);
	struct source *s;

	if (!f)
		return NULL;
	s = mem_new(sizeof *s);
	s->name = inputs_name(file);
	s->f = f;
	return s;
}

void
source_close(struct source *s)
{
	if (!s)
		return;
	inputs_close(s->f);
	str_free(&s->buf);
	str_free(&s->line);
	str_free(&s->where);
	free(s->part);
	free(s);
}

const char *
source_name(const struct source *s)
{
	return s->name;
}

bool
source_is_torn(const struct source *s)
{
	return s->torn;
}

const char *
source_set_part(struct source *s, char *part)
{
	free(s->part);
	s->part = part;
	return source_where(s);
}

const char *
source_where(struct source *s)
{
	str_clear(&s->where);
	str_add(&s->where, s->name);
	if (s->part)
		str_printf(&s->where, ":%s", s->part);
	else if (s->lineno)
		str_printf(&s->where, ":%zu", s->lineno);
	return s->where.s;
}

int
source_check_object(struct source *s, const char *name, const struct json *j)
{
	return !j || json_type(j) == JSON_NULL || json_type(j) == JSON_OBJECT
	    ? 0
	    : source_fail(s, "'%s' is not an object", name);
}

int
source_fail(struct source *s, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		err_die("out of memory");
	va_end(ap);
	err_say("%s: %s", source_where(s), text);
	free(text);
	return -1;
}

/* Reads one block. Returns 0, also at the end, or -1 (error reported). */
static int
read_block(struct source *s)
{
	char block[BLOCK];
	size_t n;

	if (s->at > BLOCK) {
		memmove(s->buf.s, s->buf.s + s->at, s->buf.len - s->at);
		s->buf.len -= s->at;
		s->at = 0;
	}
	errno = 0;
	n = fread(block, 1, sizeof block, s->f);
	str_addn(&s->buf, block, n);
	if (n == sizeof block)
		return 0;
	s->ended = true;
	return ferror(s->f) ? err_fail_sys("cannot read '%s'", s->name) : 0;
}

const char *
source_peek(struct source *s, size_t want, size_t *n)
{
	while (s->buf.len - s->at < want && !s->ended)
		if (read_block(s) < 0)
			return NULL;
	*n = s->buf.len - s->at;
	return s->buf.s ? s->buf.s + s->at : "";
}

char
source_find_separator(const char *text, const char *which)
{
	size_t most = 0;
	char best = *which;

	for (; *which; which++) {
		size_t n = 0;

		for (const char *p = text; *p && *p != '\n'; p++)
			n += *p == *which;
		if (n > most) {
			most = n;
			best = *which;
		}
	}
	return best;
}

static void
skip_byte_order_mark(struct source *s)
{
	if (s->buf.len - s->at >= 3 &&
	    memcmp(s->buf.s + s->at, "\xef\xbb\xbf", 3) == 0)
		s->at += 3;
}

int
source_read_raw_line(void *source, const char **line, size_t *n)
{
	struct source *s = source;
	size_t from, n0;
	char *end;

	if (!s->lineno) {
		if (!source_peek(s, BLOCK, &n0))
			return -1;
		skip_byte_order_mark(s);
	}
	from = s->at;
	for (;;) {
		end = s->buf.len > from
		    ? memchr(s->buf.s + from, '\n', s->buf.len - from)
		    : NULL;
		if (end || s->ended)
			break;
		from = s->buf.len - s->at; /* read_block may move 'at' */
		if (read_block(s) < 0)
			return -1;
		from += s->at;
	}
	*line = s->buf.s ? s->buf.s + s->at : "";
	*n = end ? (size_t)(end + 1 - *line) : s->buf.len - s->at;
	s->at += *n;
	if (!*n)
		return 0;
	s->torn = !end;
	s->lineno++;
	if (memchr(*line, '\0', *n))
		return source_fail(s, "the line contains a NUL");
	if (!str_utf8(*line, *n))
		return source_fail(s, "the line is not UTF-8");
	return 1;
}

int
source_read_line(
    struct source *s, char **line, bool (*matters)(const char *line))
{
	const char *raw;
	size_t n;
	int rc = source_read_raw_line(s, &raw, &n);

	if (rc <= 0)
		return rc;
	if (raw[n - 1] == '\n')
		n--;
	if (n && raw[n - 1] == '\r')
		n--;
	str_clear(&s->line);
	str_addn(&s->line, raw, n);
	*line = s->line.s;
	if (s->torn && s->line.s[strspn(s->line.s, " \t")] &&
	    (!matters || matters(s->line.s)))
		return source_fail(s, "torn: the last line has no newline");
	return 1;
}

/* Appends the text, with null for NaN and infinities, which JSON lacks. */
static void
append_valid_json(struct str *out, const char *p, size_t n)
{
	static const char *const words[] = {"-Infinity", "Infinity", "-NaN",
	    "NaN", "-inf", "inf", "-nan", "nan"};
	bool quoted = false;
	size_t from = 0, len;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\\' && quoted)
			i++;
		else if (p[i] == '"')
			quoted = !quoted;
		if (quoted || !memchr("-INin", i < n ? p[i] : 'x', 5))
			continue;
		for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
			len = strlen(words[w]);
			if (n - i < len || memcmp(p + i, words[w], len) != 0)
				continue;
			str_addn(out, p + from, i - from);
			str_add(out, "null");
			from = i + len;
			i = from - 1;
			break;
		}
	}
	str_addn(out, p + from, n - from);
}

/* Reads all of the input, makes JSON of it, and skips blanks. 0 or -1. */
static int
prepare_json(struct source *s)
{
	struct str text = {0};
	size_t n;

	if (s->json_line)
		return 0;
	if (!source_peek(s, SIZE_MAX, &n))
		return -1;
	skip_byte_order_mark(s);
	append_valid_json(&text, s->buf.s + s->at, s->buf.len - s->at);
	str_free(&s->buf);
	s->buf = text;
	s->at = 0;
	s->json_line = 1;
	return 0;
}

/* Skips n bytes, and counts their lines. */
static void
skip_bytes(struct source *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->json_line += s->buf.s[s->at + i] == '\n';
	s->at += n;
}

bool
source_has_more(struct source *s)
{
	if (prepare_json(s) < 0)
		return false;
	skip_bytes(s, strspn(s->buf.s + s->at, " \t\r\n"));
	return s->at < s->buf.len;
}

/* Returns the length of the value at 's->at', or of all the rest. */
static size_t
measure_value(const struct source *s)
{
	const char *from = s->buf.s + s->at;
	struct jsonscan c;

	jsonscan_begin(&c, from, s->buf.len - s->at);
	return jsonscan_value(&c, NULL, NULL) ? (size_t)(c.p - from)
					      : s->buf.len - s->at;
}

struct json *
source_parse_json(struct source *s)
{
	const char *why;
	struct json *j;
	size_t n, at;

	if (prepare_json(s) < 0)
		return NULL;
	source_set_part(s, NULL);
	n = measure_value(s);
	j = json_parse(s->buf.s + s->at, n, &why, &at);
	skip_bytes(s, j ? n : at);
	if (!j) {
		s->lineno = s->json_line;
		source_fail(s, "bad JSON: %s", why);
	}
	return j;
}
