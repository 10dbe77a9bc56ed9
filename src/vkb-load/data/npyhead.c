#include "npyhead.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST (UINT64_C(1) << 40) /* limit of any number */
#define WHOLE (1U << 28)            /* limit of a row, in bytes */

/* A subset of Python's literals. 'why' is set after an error. */
struct text {
	const char *p, *end;
	const char *why;
};

static void
skip_blanks(struct text *t)
{
	while (t->p < t->end && strchr(" \t\n", *t->p) && *t->p)
		t->p++;
}

static bool
accept_char(struct text *t, char c)
{
	skip_blanks(t);
	if (t->why || t->p == t->end || *t->p != c)
		return false;
	t->p++;
	return true;
}

static void
expect_char(struct text *t, char c)
{
	if (!accept_char(t, c) && !t->why)
		t->why = "its header is not the dictionary of an array";
}

static bool
peek_char(struct text *t, const char *set)
{
	skip_blanks(t);
	return !t->why && t->p < t->end && *t->p && strchr(set, *t->p);
}

/* Returns a string of n bytes without its quotes; borrowed. */
static const char *
parse_npy_string(struct text *t, size_t *n)
{
	const char *s;
	char quote = '\'';

	*n = 0;
	if (peek_char(t, "\""))
		quote = '"';
	expect_char(t, quote);
	s = t->p;
	while (t->p < t->end && *t->p != quote && *t->p != '\\')
		t->p++;
	*n = (size_t)(t->p - s);
	expect_char(t, quote);
	return s;
}

static uint64_t
parse_npy_number(struct text *t)
{
	uint64_t v = 0;

	if (!peek_char(t, "0123456789")) {
		expect_char(t, '0');
		return 0;
	}
	while (t->p < t->end && (unsigned)(*t->p - '0') < 10 && v < LARGEST)
		v = v * 10 + (unsigned)(*t->p++ - '0');
	if (v >= LARGEST)
		t->why = "a number in its header is too large";
	return v;
}

/* "(2, 3)", "(2,)", "()". */
static size_t
parse_npy_tuple(struct text *t, uint64_t *v, size_t most)
{
	size_t n = 0;

	expect_char(t, '(');
	while (!accept_char(t, ')') && !t->why) {
		if (n == most)
			t->why = "it has too many dimensions";
		else
			v[n++] = parse_npy_number(t);
		if (!peek_char(t, ")"))
			expect_char(t, ',');
	}
	return n;
}

/* "<f4": byte order, kind, size. */
static void
parse_npy_type(struct text *t, struct npyhead_field *f)
{
	static const uint16_t one = 1;
	bool little = *(const unsigned char *)&one == 1;
	struct text in = *t;
	const char *s;
	size_t n;

	s = parse_npy_string(t, &n);
	in.p = s;
	in.end = s + n;
	if (t->why)
		return;
	if (n < 3 || !strchr("<>|=", s[0]) || !strchr("fiubSUV", s[1])) {
		t->why = "its type is not supported";
		return;
	}
	in.p += 2;
	f->kind = s[1];
	f->swap = s[0] == (little ? '>' : '<');
	f->size = (size_t)parse_npy_number(&in);
	if (f->kind == 'U')
		f->size *= 4;
	if (in.why || in.p != in.end)
		t->why = "its type is not supported";
	else if (strchr("fiub", f->kind) && f->size != 1 && f->size != 2 &&
	    f->size != 4 && f->size != 8)
		t->why = "the size of its numbers is not supported";
	f->n = 1;
}

static struct npyhead_field *
append_field(struct npyhead *h)
{
	h->fields = mem_resize(h->fields, h->nfields + 1, sizeof *h->fields);
	memset(&h->fields[h->nfields], 0, sizeof *h->fields);
	return &h->fields[h->nfields++];
}

static void
place_field(struct npyhead *h, struct npyhead_field *f, struct text *t)
{
	f->at = h->row;
	if (f->n > WHOLE || f->size > WHOLE || f->n * f->size > WHOLE)
		t->why = "its rows are too large";
	else if ((h->row += f->n * f->size) > WHOLE)
		t->why = "its rows are too large";
}

/* "('name', '<f4', (256,))" */
static void
parse_npy_field(struct npyhead *h, struct text *t)
{
	struct npyhead_field *f;
	uint64_t shape[8];
	const char *name;
	size_t n, i;

	expect_char(t, '(');
	name = parse_npy_string(t, &n);
	expect_char(t, ',');
	if (t->why)
		return;
	f = append_field(h);
	f->name = mem_strn(name, n);
	parse_npy_type(t, f);
	if (accept_char(t, ',') && !peek_char(t, ")")) {
		f->vector = true;
		n = parse_npy_tuple(t, shape, 8);
		for (i = 0; i < n && !t->why; i++) {
			if (shape[i] > WHOLE)
				t->why = "its rows are too large";
			else if ((f->n *= (size_t)shape[i]) > WHOLE)
				t->why = "its rows are too large";
		}
		accept_char(t, ',');
	}
	expect_char(t, ')');
	if (!t->why)
		place_field(h, f, t);
}

static void
parse_npy_descr(struct npyhead *h, struct text *t)
{
	struct npyhead_field *f;

	if (!accept_char(t, '[')) {
		f = append_field(h);
		parse_npy_type(t, f);
		if (!t->why)
			place_field(h, f, t);
		return;
	}
	while (!accept_char(t, ']') && !t->why) {
		parse_npy_field(h, t);
		if (!peek_char(t, "]"))
			expect_char(t, ',');
	}
}

static void
parse_npy_bool(struct text *t, bool *v)
{
	size_t left;

	skip_blanks(t);
	left = (size_t)(t->end - t->p);
	if (left >= 4 && memcmp(t->p, "True", 4) == 0) {
		*v = true;
		t->p += 4;
	} else if (left >= 5 && memcmp(t->p, "False", 5) == 0) {
		*v = false;
		t->p += 5;
	} else {
		expect_char(t, 'T');
	}
}

static bool
is_name(const char *s, size_t n, const char *name)
{
	return n == strlen(name) && memcmp(s, name, n) == 0;
}

int
npyhead_parse(struct npyhead *h, const char *text, size_t n, const char **why)
{
	struct text t = {.p = text, .end = text + n};
	unsigned seen = 0;
	const char *key;

	*h = (struct npyhead){0};
	expect_char(&t, '{');
	while (!accept_char(&t, '}') && !t.why) {
		key = parse_npy_string(&t, &n);
		expect_char(&t, ':');
		if (t.why)
			break;
		if (is_name(key, n, "descr") && !(seen & 1)) {
			seen |= 1;
			parse_npy_descr(h, &t);
		} else if (is_name(key, n, "fortran_order") && !(seen & 2)) {
			seen |= 2;
			parse_npy_bool(&t, &h->fortran);
		} else if (is_name(key, n, "shape") && !(seen & 4)) {
			seen |= 4;
			h->dimensions = parse_npy_tuple(&t, h->shape, 8);
		} else {
			t.why = "its header has an unknown or repeated key";
		}
		if (!peek_char(&t, "}"))
			expect_char(&t, ',');
	}
	if (!t.why && (seen != 7 || !h->nfields || !h->row))
		t.why = "its header lacks a key or a field";
	*why = t.why;
	return t.why ? -1 : 0;
}

void
npyhead_free(struct npyhead *h)
{
	for (size_t i = 0; i < h->nfields; i++)
		free(h->fields[i].name);
	free(h->fields);
	*h = (struct npyhead){0};
}
