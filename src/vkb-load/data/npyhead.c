#include "npyhead.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST (UINT64_C(1) << 40) /* limit of any number */
#define WHOLE (1U << 28)            /* limit of a row, in bytes */

static const char not_dictionary[] =
    "its header is not the dictionary of an array";
static const char not_supported[] = "its type is not supported";
static const char too_large[] = "its rows are too large";

/* Adds a character of Python's notation outside of strings as JSON has it. */
static void
add_plain(struct str *to, char c)
{
	if (c == ')' || c == ']' || c == '}') {
		while (to->len && strchr(" \t\n", to->s[to->len - 1]))
			to->len--;
		to->len -= to->len && to->s[to->len - 1] == ',';
	}
	str_addc(to, c == '(' ? '[' : c == ')' ? ']' : c);
}

/*
 * Parses the subset of Python's literals that headers have: strings, numbers,
 * True, False, tuples, lists and dictionaries.
 */
static struct json *
parse_literal(const char *text, size_t n)
{
	const char *p, *end = text + n;
	bool latin1 = !str_utf8(text, n); /* before version 3 */
	struct str s = {0};
	struct json *j;
	char quote = 0;

	for (p = text; p < end; p++)
		if (*p == quote || (!quote && (*p == '\'' || *p == '"'))) {
			quote = quote ? 0 : *p;
			str_addc(&s, '"');
		} else if (quote && *p == '"') {
			str_add(&s, "\\\"");
		} else if (quote && latin1) {
			str_addu(&s, (unsigned char)*p);
		} else if (quote) {
			str_addc(&s, *p);
		} else if (*p == 'T' || *p == 'F') {
			str_addc(&s, *p == 'T' ? 't' : 'f');
		} else {
			add_plain(&s, *p);
		}
	j = memchr(text, '\\', n)
	    ? NULL
	    : json_parse(s.s ? s.s : "", s.len, NULL, NULL);
	str_free(&s);
	return j;
}

/* "(2, 3)", "(2,)", "()". Returns NULL, or why it is not valid. */
static const char *
read_shape(const struct json *j, uint64_t *v, size_t *n)
{
	double d;

	if (!j || json_type(j) != JSON_ARRAY)
		return not_dictionary;
	if (json_len(j) > NPYHEAD_DIMENSIONS)
		return "it has too many dimensions";
	*n = 0;
	for (j = json_first(j); j; j = json_next(j)) {
		d = json_num(j, NAN);
		if (!(d >= 0 && d == floor(d)))
			return not_dictionary;
		if (d >= (double)LARGEST)
			return "a number in its header is too large";
		v[(*n)++] = (uint64_t)d;
	}
	return NULL;
}

/* "<f4": byte order, kind, size. */
static const char *
read_type(const struct json *j, struct npyhead_field *f)
{
	static const uint16_t one = 1;
	bool little = *(const unsigned char *)&one == 1;
	const char *s = json_str(j);
	size_t digits;

	if (!s)
		return not_dictionary;
	if (strlen(s) < 3 || !strchr("<>|=", s[0]) || !strchr("fiubSUV", s[1]))
		return not_supported;
	digits = strspn(s + 2, "0123456789");
	if (s[2 + digits] || digits > 12)
		return not_supported;
	f->kind = s[1];
	f->swap = s[0] == (little ? '>' : '<');
	f->size = strtoul(s + 2, NULL, 10) * (f->kind == 'U' ? 4 : 1);
	f->n = 1;
	if (strchr("fiub", f->kind) && f->size != 1 && f->size != 2 &&
	    f->size != 4 && f->size != 8)
		return "the size of its numbers is not supported";
	return NULL;
}

/* "('name', '<f4', (256,))", or the type alone of a plain array. */
static const char *
read_field(const struct json *j, bool plain, struct npyhead *h)
{
	const struct json *shape = plain ? NULL : json_at(j, 2);
	const char *name = plain ? NULL : json_str(json_at(j, 0)), *why;
	uint64_t v[NPYHEAD_DIMENSIONS];
	struct npyhead_field *f;
	size_t n = 0;

	if (!plain && (!name || json_len(j) > 3))
		return not_dictionary;
	h->fields = mem_resize(h->fields, h->nfields + 1, sizeof *h->fields);
	f = &h->fields[h->nfields++];
	*f = (struct npyhead_field){
	    .name = mem_str(name), .vector = shape != NULL, .at = h->row};
	why = read_type(plain ? j : json_at(j, 1), f);
	if (!why && shape)
		why = read_shape(shape, v, &n);
	for (size_t i = 0; i < n && !why; i++)
		if (v[i] > WHOLE || (f->n *= (size_t)v[i]) > WHOLE)
			why = too_large;
	if (why)
		return why;
	if (f->size > WHOLE || f->n * f->size > WHOLE ||
	    (h->row += f->n * f->size) > WHOLE)
		return too_large;
	return NULL;
}

static const char *
read_descr(const struct json *j, struct npyhead *h)
{
	const char *why = NULL;

	if (json_type(j) != JSON_ARRAY)
		return read_field(j, true, h);
	for (j = json_first(j); j && !why; j = json_next(j))
		why = read_field(j, false, h);
	return why;
}

int
npyhead_parse(struct npyhead *h, const char *text, size_t n, const char **why)
{
	struct json *j = parse_literal(text, n);
	const struct json *descr = json_get(j, "descr");
	const struct json *order = json_get(j, "fortran_order");
	const struct json *shape = json_get(j, "shape");

	*h = (struct npyhead){0};
	*why = NULL;
	if (!j || json_type(j) != JSON_OBJECT)
		*why = not_dictionary;
	else if (descr)
		*why = read_descr(descr, h);
	if (!*why && json_len(j) != (size_t) !!descr + !!order + !!shape)
		*why = "its header has an unknown or repeated key";
	if (!*why && order && json_type(order) != JSON_BOOL)
		*why = not_dictionary;
	if (!*why && shape)
		*why = read_shape(shape, h->shape, &h->dimensions);
	if (!*why && (!order || !shape || !h->nfields || !h->row))
		*why = "its header lacks a key or a field";
	h->fortran = json_bool(order, false);
	json_free(j);
	return *why ? -1 : 0;
}

void
npyhead_free(struct npyhead *h)
{
	for (size_t i = 0; i < h->nfields; i++)
		free(h->fields[i].name);
	free(h->fields);
	*h = (struct npyhead){0};
}
