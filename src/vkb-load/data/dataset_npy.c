#include "err.h"
#include "intake.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses the header of a NumPy file. */

#define NPYHEAD_DIMENSIONS 8

struct npyhead_field {
	char *name;
	char kind;   /* f i u b S U V */
	bool swap;   /* the other byte order */
	size_t size; /* of one element, in bytes */
	size_t n;    /* elements; more than one: a vector */
	bool vector;
	size_t at; /* offset in the row, in bytes */
};

struct npyhead {
	struct npyhead_field *fields;
	size_t nfields;
	bool fortran;
	uint64_t shape[NPYHEAD_DIMENSIONS];
	size_t dimensions;
	size_t row; /* bytes of an element of the array */
};

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

/*
 * Parses the dictionary of the header. 0, or -1 with *why (static). A plain
 * array has one field, without a name. Call npyhead_free in either case.
 */
static int
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

static void
npyhead_free(struct npyhead *h)
{
	for (size_t i = 0; i < h->nfields; i++)
		free(h->fields[i].name);
	free(h->fields);
	*h = (struct npyhead){0};
}

#define HEAD_MOST (1U << 20)

struct reader {
	struct intake *in;
	struct npyhead head;
	int *wanted; /* index of each field among the wanted, or -1 */
	uint64_t rows;
	struct str buf;
};

static int
fail_npy(const struct reader *r, const char *why)
{
	return err_fail("%s: bad NPY file: %s", r->in->want->path, why);
}

static int
read_bytes(struct reader *r, void *p, size_t n)
{
	if (fread(p, 1, n, r->in->f) == n)
		return 0;
	if (ferror(r->in->f))
		return err_fail_sys("cannot read '%s'", r->in->want->path);
	return fail_npy(r, "the file is truncated");
}

static int
read_npy_header(struct reader *r)
{
	unsigned char m[8], l[4] = {0};
	const char *why;
	char *text;
	size_t n;
	int rc;

	if (read_bytes(r, m, sizeof m) < 0)
		return -1;
	if (memcmp(m, "\x93NUMPY", 6) != 0 || m[6] < 1 || m[6] > 3)
		return fail_npy(
		    r, "it does not start with NPY version 1, 2 or 3");
	if (read_bytes(r, l, m[6] == 1 ? 2 : 4) < 0)
		return -1;
	n = (size_t)l[0] | (size_t)l[1] << 8 | (size_t)l[2] << 16 |
	    (size_t)l[3] << 24;
	if (n > HEAD_MOST)
		return fail_npy(r, "its header is too long");
	text = mem_new(n + 1);
	rc = read_bytes(r, text, n);
	if (rc == 0 && npyhead_parse(&r->head, text, n, &why) < 0)
		rc = fail_npy(r, why);
	free(text);
	return rc;
}

/* Rows are the first dimension; the others of a plain array are a vector. */
static int
set_shape(struct reader *r)
{
	struct npyhead *h = &r->head;
	struct npyhead_field *f = &h->fields[0];
	size_t i;

	if (h->dimensions == 0)
		return fail_npy(r, "it holds a single value, not rows");
	r->rows = h->shape[0];
	if (f->name) {
		if (h->dimensions > 1)
			return fail_npy(
			    r, "a structured array must have one dimension");
		return 0;
	}
	if (h->dimensions > 1 && h->fortran)
		return fail_npy(r, "arrays in Fortran order are not supported");
	f->vector = h->dimensions > 1;
	f->name = mem_str(f->vector ? "vector" : "value");
	for (i = 1; i < h->dimensions; i++) {
		if (h->shape[i] == 0 || h->shape[i] > (1U << 28) / h->row)
			return fail_npy(r, "its rows are too large, or empty");
		h->row *= (size_t)h->shape[i];
		f->n *= (size_t)h->shape[i];
	}
	return 0;
}

static void
swap_bytes(char *p, size_t size, size_t n)
{
	size_t i, j;
	char c;

	for (i = 0; i < n; i++, p += size)
		for (j = 0; j < size / 2; j++) {
			c = p[j];
			p[j] = p[size - 1 - j];
			p[size - 1 - j] = c;
		}
}

static uint64_t
load_unsigned(const char *p, size_t size)
{
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	uint64_t v = 0;

	memcpy((char *)&v + (big ? sizeof v - size : 0), p, size);
	return v;
}

/* Writes as few digits as give the same number when they are read. */
static void
format_real(struct str *s, const char *p, size_t size)
{
	double d = 0;
	float f = 0;
	bool single = size == sizeof f, same = false;

	memcpy(single ? (void *)&f : (void *)&d, p, size);
	d = single ? (double)f : d;
	for (int digits = single ? 6 : 15; !same && digits <= 17; digits++) {
		str_clear(s);
		str_printf(s, "%.*g", digits, d);
		same =
		    single ? strtof(s->s, NULL) == f : strtod(s->s, NULL) == d;
	}
}

static int
format_number(struct reader *r, const struct npyhead_field *f, const char *p)
{
	uint64_t v;

	if (f->kind == 'f') {
		if (f->size != 4 && f->size != 8)
			return fail_npy(r,
			    "numbers of this size are supported only in "
			    "vectors");
		format_real(&r->buf, p, f->size);
		return 0;
	}
	v = load_unsigned(p, f->size);
	if (f->kind == 'i' && f->size < 8 && v >> (f->size * 8 - 1))
		v |= UINT64_MAX << f->size * 8;
	if (f->kind == 'i')
		str_printf(&r->buf, "%lld", (long long)v);
	else
		str_printf(&r->buf, "%llu", (unsigned long long)v);
	return 0;
}

static int
format_text(struct reader *r, const char *p, size_t n)
{
	uint32_t u;
	size_t i;

	for (i = 0; i + sizeof u <= n; i += sizeof u) {
		memcpy(&u, p + i, sizeof u);
		if (u == 0)
			break;
		if (u > 0x10ffff)
			return fail_npy(r, "a string has an invalid character");
		str_addu(&r->buf, u);
	}
	return 0;
}

static int
put_field(struct reader *r, const struct npyhead_field *f, int to, char *p)
{
	size_t n = f->n * f->size;

	str_clear(&r->buf);
	if (f->kind == 'S' && !f->vector) {
		intake_set_field(r->in, to, p, strnlen(p, n));
		return 0;
	}
	if (f->swap)
		swap_bytes(p, f->kind == 'U' ? 4 : f->size,
		    f->kind == 'U' ? n / 4 : f->n);
	if (f->vector || f->kind == 'V') {
		intake_set_field(r->in, to, p, n);
		return 0;
	}
	if ((f->kind == 'U' ? format_text(r, p, n) : format_number(r, f, p)) <
	    0)
		return -1;
	intake_set_field(r->in, to, r->buf.s ? r->buf.s : "", r->buf.len);
	return 0;
}

static int
read_rows(struct reader *r)
{
	const struct npyhead *h = &r->head;
	char *row = mem_new(h->row);
	int rc = 0;
	uint64_t i;
	size_t j;

	for (i = 0; i < r->rows && rc == 0; i++) {
		rc = read_bytes(r, row, h->row);
		for (j = 0; j < h->nfields && rc == 0; j++)
			if (r->wanted[j] >= 0)
				rc = put_field(r, &h->fields[j], r->wanted[j],
				    row + h->fields[j].at);
		if (rc == 0)
			rc = intake_end_row(r->in);
	}
	free(row);
	return rc < 0 ? -1 : 0;
}

int
dataset_npy(struct intake *in)
{
	struct reader r = {.in = in};
	const struct npyhead_field *f;
	size_t i;
	int rc = -1;

	if (read_npy_header(&r) < 0 || set_shape(&r) < 0)
		goto out;
	r.wanted = mem_array(r.head.nfields, sizeof *r.wanted);
	for (i = 0; i < r.head.nfields; i++) {
		f = &r.head.fields[i];
		r.wanted[i] = intake_find_field(in, f->name, strlen(f->name));
	}
	if (intake_check_fields(in) == 0)
		rc = read_rows(&r);
out:
	npyhead_free(&r.head);
	free(r.wanted);
	str_free(&r.buf);
	return rc;
}
