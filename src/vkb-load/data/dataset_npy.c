#include "err.h"
#include "intake.h"
#include "mem.h"
#include "npyhead.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
