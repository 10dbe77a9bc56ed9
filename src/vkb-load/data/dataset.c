#include "dataset.h"
#include "csvrows.h"
#include "err.h"
#include "hash.h"
#include "intern.h"
#include "json.h"
#include "jsonscan.h"
#include "jsontext.h"
#include "mem.h"
#include "proc.h"
#include "sink.h"
#include "str.h"
#include "vkb-load/engine/rowset.h"

#include <errno.h>
#include <expat.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define XML_GetCurrentLineNumber64 XML_GetCurrentLineNumber
#endif

/* A value of the current row. */
struct intake_value {
	size_t at, n; /* in the text of the row */
	bool given;
};

/* A file while it is read. */
struct intake {
	const struct dataset_want *want;
	FILE *f;
	unsigned long long line_number;
	dataset_stop_fn *stop;
	void *arg;
	struct rowset *d;
	size_t nfields;
	struct rowset_value *row;
	struct str text; /* of the current row */
	struct intake_value *values;
	char **names; /* of the file's other fields; NULL-terminated */
	bool *seen;   /* which wanted fields the file has */
	size_t nnames;
	char *line;
	size_t cap;
};

#define NAMES_MOST 512          /* kept for a message */
#define VALUE_MOST (512U << 20) /* bytes; a server's limit of a bulk string */

/* Reads a line with its line break, borrowed until the next call; the first
 * one without a byte order mark. 1; 0 at the end; -1, error reported. */
static int
read_line(void *intake, const char **line, size_t *n)
{
	struct intake *in = intake;
	ssize_t k = getline(&in->line, &in->cap, in->f);

	if (k < 0 && ferror(in->f))
		return err_fail_sys("cannot read '%s'", in->want->path);
	if (k < 0)
		return 0;
	if (++in->line_number == 1 && k >= 3 &&
	    memcmp(in->line, "\xef\xbb\xbf", 3) == 0) {
		k -= 3;
		memmove(in->line, in->line + 3, (size_t)k + 1);
	}
	*line = in->line;
	*n = (size_t)k;
	return 1;
}

static bool
is_name(const char *s, const char *name, size_t n)
{
	return strncmp(s, name, n) == 0 && !s[n];
}

/* Returns the index of a field of the file among the wanted ones, or -1. Its
 * name has n bytes and is kept for the message about an unknown field. */
static int
find_field(struct intake *in, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < in->nfields; i++)
		if (is_name(in->want->fields[i], name, n)) {
			in->seen[i] = true;
			return (int)i;
		}
	for (i = 0; i < in->nnames; i++)
		if (is_name(in->names[i], name, n))
			return -1;
	if (in->nnames < NAMES_MOST) {
		in->names =
		    mem_resize(in->names, in->nnames + 2, sizeof *in->names);
		in->names[in->nnames++] = mem_strn(name, n);
		in->names[in->nnames] = NULL;
	}
	return -1;
}

/* After the last name: 0, or -1, error reported, if a wanted one is missing. */
static int
check_fields(struct intake *in)
{
	const char *const *fields = in->want->fields, *missing = NULL;
	struct str s = {0};
	size_t i;

	for (i = in->nfields; i-- > 0;)
		if (!in->seen[i])
			missing = fields[i];
	if (!missing)
		return 0;
	for (i = 0; i < in->nfields; i++)
		if (in->seen[i])
			str_printf(&s, "%s'%s'", s.len ? ", " : "", fields[i]);
	for (i = 0; i < in->nnames; i++)
		str_printf(&s, "%s'%s'", s.len ? ", " : "", in->names[i]);
	err_say("%s: no field '%s'; %s%s", in->want->path, missing,
	    s.len ? "the fields are " : "the file has no fields",
	    s.len ? s.s : "");
	str_free(&s);
	return -1;
}

/* Sets a field of the current row; the first value stays. */
static void
set_field(struct intake *in, int field, const void *value, size_t n)
{
	struct intake_value *v = &in->values[field];

	if (v->given)
		return;
	*v = (struct intake_value){in->text.len, n, true};
	str_addn(&in->text, value, n);
}

/* Ends a row. 0; 1: it was the last wanted; -1: error reported, or stopped. */
static int
end_row(struct intake *in)
{
	struct intake_value *v;
	uint64_t n = rowset_count(in->d) + 1;

	if (in->stop && in->stop(in->arg))
		return -1;
	if (in->text.len > VALUE_MOST)
		return err_fail("%s: row %llu is larger than 512 MB",
		    in->want->path, (unsigned long long)n);
	for (size_t i = 0; i < in->nfields; i++) {
		v = &in->values[i];
		in->row[i] = (struct rowset_value){
		    v->given ? in->text.s + v->at : "", v->n};
	}
	if (rowset_add(in->d, in->row) < 0)
		return -1;
	memset(in->values, 0, in->nfields * sizeof *in->values);
	str_clear(&in->text);
	return in->want->maxdocs > 0 && n >= (uint64_t)in->want->maxdocs;
}

/* --- CSV and TSV */

/* Returns 1 for a row, 0 at the end, -1 on error, after reporting it. */
static int
read_csv_row(struct csvrows *rows, const struct intake *in,
    const char *const **v, size_t *n)
{
	const char *why;
	int k = csvrows_next(rows, v, n, &why);

	if (k < 0 && why)
		err_say("%s:%llu: bad row: %s", in->want->path, in->line_number,
		    why);
	return k;
}

static int
read_csv_rows(struct intake *in, struct csvrows *rows)
{
	const char *const *v;
	int *field, k, rc = -1;
	size_t n, columns, i;

	k = read_csv_row(rows, in, &v, &columns);
	if (k < 0)
		return -1;
	if (k == 0)
		columns = 0;
	field = mem_array(columns + 1, sizeof *field);
	for (i = 0; i < columns; i++)
		field[i] = find_field(in, v[i], strlen(v[i]));
	if (check_fields(in) < 0)
		goto out;
	while ((k = read_csv_row(rows, in, &v, &n)) > 0) {
		if (n != columns) {
			err_say("%s:%llu: bad row: it has %zu fields, the "
				"first row has %zu",
			    in->want->path, in->line_number, n, columns);
			goto out;
		}
		for (i = 0; i < n; i++)
			if (field[i] >= 0)
				set_field(in, field[i], v[i],
				    csvrows_length(rows, i));
		k = end_row(in);
		if (k != 0)
			break;
	}
	rc = k < 0 ? -1 : 0;
out:
	free(field);
	return rc;
}

/* The readers of the formats. 0, or -1, error reported. */
static int
read_csv(struct intake *in, char delimiter)
{
	struct csvrows *rows = csvrows_new(delimiter, read_line, in);
	int rc;

	csvrows_keep_blanks(rows);
	rc = read_csv_rows(in, rows);
	csvrows_free(rows);
	return rc;
}

/* --- JSON lines */

static void
read_json_value(
    struct intake *in, struct jsonscan *c, int field, struct str *buf)
{
	struct jsonscan_text t;

	if (jsonscan_peek(c) == '"') {
		if (!jsonscan_string(c, &t))
			return;
		str_clear(buf);
		jsontext_resolve(buf, &t);
		set_field(in, field, buf->s, buf->len);
	} else if (jsonscan_value(c, &t, NULL)) {
		set_field(in, field, t.s, t.n);
	}
}

/* 0, or -1, error reported. */
static int
read_json_line(struct intake *in, const char *line, size_t n, struct str *buf)
{
	struct jsonscan_keys keys;
	struct jsonscan_text key;
	struct jsonscan c;
	const char *why;
	size_t at;
	int field;

	jsonscan_begin(&c, line, n);
	if (jsonscan_peek(&c) != '{')
		return err_fail("%s:%llu: bad row: not a JSON object",
		    in->want->path, in->line_number);
	if (jsonscan_object(&c, &keys))
		while (jsonscan_member(&c, &keys, &key)) {
			str_clear(buf);
			jsontext_resolve(buf, &key);
			field = find_field(in, buf->s ? buf->s : "", buf->len);
			if (field >= 0)
				read_json_value(in, &c, field, buf);
			else
				jsonscan_value(&c, NULL, NULL);
		}
	if (jsonscan_end(&c, &why, &at) < 0)
		return err_fail("%s:%llu:%zu: bad row: %s", in->want->path,
		    in->line_number, at + 1, why);
	return 0;
}

static int
read_json(struct intake *in)
{
	struct str buf = {0};
	const char *line = NULL;
	int k, row = 0;
	size_t n = 0;

	while (row == 0 && (k = read_line(in, &line, &n)) > 0) {
		while (n && strchr(" \t\r\n", line[n - 1]) && line[n - 1])
			n--;
		in->line[n] = '\0';
		if (n)
			row = read_json_line(in, line, n, &buf) < 0
			    ? -1
			    : end_row(in);
	}
	str_free(&buf);
	return row < 0 || k < 0 ? -1 : check_fields(in);
}

/* --- XML */

#define PIECE 65536

struct xml_reader {
	struct intake *in;
	XML_Parser p;
	struct str text;
	int field;      /* being read, or -1 */
	unsigned depth; /* open elements, from the row on; 0: no row */
	unsigned at;    /* the depth of the field */
	int rc;         /* result of end_row */
};

static void XMLCALL
on_xml_start(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct xml_reader *r = arg;
	const char *row = r->in->want->xml_element;
	int field;

	(void)attributes;
	if (r->depth == 0) {
		r->depth = strcmp(name, row ? row : "doc") == 0;
		return;
	}
	r->depth++;
	if (r->field >= 0)
		return;
	field = find_field(r->in, name, strlen(name));
	if (field < 0 || r->in->values[field].given)
		return;
	r->field = field;
	r->at = r->depth;
	str_clear(&r->text);
}

static void XMLCALL
on_xml_end(void *arg, const XML_Char *name)
{
	struct xml_reader *r = arg;

	(void)name;
	if (r->depth == 0)
		return;
	if (r->field >= 0 && r->depth == r->at) {
		set_field(
		    r->in, r->field, r->text.len ? r->text.s : "", r->text.len);
		r->field = -1;
	}
	if (--r->depth)
		return;
	r->rc = end_row(r->in);
	if (r->rc != 0)
		XML_StopParser(r->p, XML_FALSE);
}

static void XMLCALL
on_xml_text(void *arg, const XML_Char *s, int n)
{
	struct xml_reader *r = arg;

	if (r->field >= 0)
		str_addn(&r->text, s, (size_t)n);
}

static int
parse_xml(struct xml_reader *r)
{
	const char *name = r->in->want->path;
	bool end = false;
	size_t n;
	char *buf;

	while (!end) {
		buf = XML_GetBuffer(r->p, PIECE);
		if (!buf)
			err_die("out of memory");
		n = fread(buf, 1, PIECE, r->in->f);
		if (ferror(r->in->f))
			return err_fail_sys("cannot read '%s'", name);
		end = n < PIECE;
		if (XML_ParseBuffer(r->p, (int)n, end) == XML_STATUS_OK)
			continue;
		if (r->rc != 0)
			break;
		return err_fail("%s:%llu: bad XML: %s", name,
		    (unsigned long long)XML_GetCurrentLineNumber64(r->p),
		    XML_ErrorString(XML_GetErrorCode(r->p)));
	}
	return r->rc < 0 ? -1 : 0;
}

static int
read_xml(struct intake *in)
{
	struct xml_reader r = {.in = in, .field = -1};
	int rc;

	r.p = XML_ParserCreate(NULL);
	if (!r.p)
		err_die("out of memory");
	XML_SetUserData(r.p, &r);
	XML_SetElementHandler(r.p, on_xml_start, on_xml_end);
	XML_SetCharacterDataHandler(r.p, on_xml_text);
	rc = parse_xml(&r);
	if (rc == 0)
		rc = check_fields(in);
	XML_ParserFree(r.p);
	str_free(&r.text);
	return rc;
}

/* --- arrays of NumPy */

#define NPY_DIMENSIONS 8

struct npy_field {
	char *name;
	char kind;   /* f i u b S U V */
	bool swap;   /* the other byte order */
	size_t size; /* of one element, in bytes */
	size_t n;    /* elements; more than one: a vector */
	bool vector;
	size_t at; /* offset in the row, in bytes */
};

struct npy_head {
	struct npy_field *fields;
	size_t nfields;
	bool fortran;
	uint64_t shape[NPY_DIMENSIONS];
	size_t dimensions;
	size_t row; /* bytes of an element of the array */
};

#define NPY_LARGEST (UINT64_C(1) << 40) /* limit of any number */
#define NPY_ROW_MOST (1U << 28)         /* limit of a row, in bytes */

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
read_npy_shape(const struct json *j, uint64_t *v, size_t *n)
{
	double d;

	if (!j || json_type(j) != JSON_ARRAY)
		return not_dictionary;
	if (json_len(j) > NPY_DIMENSIONS)
		return "it has too many dimensions";
	*n = 0;
	for (j = json_first(j); j; j = json_next(j)) {
		d = json_num(j, NAN);
		if (!(d >= 0 && d == floor(d)))
			return not_dictionary;
		if (d >= (double)NPY_LARGEST)
			return "a number in its header is too large";
		v[(*n)++] = (uint64_t)d;
	}
	return NULL;
}

/* "<f4": byte order, kind, size. */
static const char *
read_npy_type(const struct json *j, struct npy_field *f)
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
read_npy_field(const struct json *j, bool plain, struct npy_head *h)
{
	const struct json *shape = plain ? NULL : json_at(j, 2);
	const char *name = plain ? NULL : json_str(json_at(j, 0)), *why;
	uint64_t v[NPY_DIMENSIONS];
	struct npy_field *f;
	size_t n = 0;

	if (!plain && (!name || json_len(j) > 3))
		return not_dictionary;
	h->fields = mem_resize(h->fields, h->nfields + 1, sizeof *h->fields);
	f = &h->fields[h->nfields++];
	*f = (struct npy_field){
	    .name = mem_str(name), .vector = shape != NULL, .at = h->row};
	why = read_npy_type(plain ? j : json_at(j, 1), f);
	if (!why && shape)
		why = read_npy_shape(shape, v, &n);
	for (size_t i = 0; i < n && !why; i++)
		if (v[i] > NPY_ROW_MOST ||
		    (f->n *= (size_t)v[i]) > NPY_ROW_MOST)
			why = too_large;
	if (why)
		return why;
	if (f->size > NPY_ROW_MOST || f->n * f->size > NPY_ROW_MOST ||
	    (h->row += f->n * f->size) > NPY_ROW_MOST)
		return too_large;
	return NULL;
}

static const char *
read_npy_fields(const struct json *j, struct npy_head *h)
{
	const char *why = NULL;

	if (json_type(j) != JSON_ARRAY)
		return read_npy_field(j, true, h);
	for (j = json_first(j); j && !why; j = json_next(j))
		why = read_npy_field(j, false, h);
	return why;
}

/*
 * Parses the dictionary of the header. 0, or -1 with *why (static). A plain
 * array has one field, without a name. Call free_npy_header in either case.
 */
static int
parse_npy_header(
    struct npy_head *h, const char *text, size_t n, const char **why)
{
	struct json *j = parse_literal(text, n);
	const struct json *descr = json_get(j, "descr");
	const struct json *order = json_get(j, "fortran_order");
	const struct json *shape = json_get(j, "shape");

	*h = (struct npy_head){0};
	*why = NULL;
	if (!j || json_type(j) != JSON_OBJECT)
		*why = not_dictionary;
	else if (descr)
		*why = read_npy_fields(descr, h);
	if (!*why && json_len(j) != (size_t) !!descr + !!order + !!shape)
		*why = "its header has an unknown or repeated key";
	if (!*why && order && json_type(order) != JSON_BOOL)
		*why = not_dictionary;
	if (!*why && shape)
		*why = read_npy_shape(shape, h->shape, &h->dimensions);
	if (!*why && (!order || !shape || !h->nfields || !h->row))
		*why = "its header lacks a key or a field";
	h->fortran = json_bool(order, false);
	json_free(j);
	return *why ? -1 : 0;
}

static void
free_npy_header(struct npy_head *h)
{
	for (size_t i = 0; i < h->nfields; i++)
		free(h->fields[i].name);
	free(h->fields);
	*h = (struct npy_head){0};
}

#define NPY_HEADER_MOST (1U << 20)

struct npy_reader {
	struct intake *in;
	struct npy_head head;
	int *wanted; /* index of each field among the wanted, or -1 */
	uint64_t rows;
	struct str buf;
};

static int
fail_npy(const struct npy_reader *r, const char *why)
{
	return err_fail("%s: bad NPY file: %s", r->in->want->path, why);
}

static int
read_npy_bytes(struct npy_reader *r, void *p, size_t n)
{
	if (fread(p, 1, n, r->in->f) == n)
		return 0;
	if (ferror(r->in->f))
		return err_fail_sys("cannot read '%s'", r->in->want->path);
	return fail_npy(r, "the file is truncated");
}

static int
read_npy_header(struct npy_reader *r)
{
	unsigned char m[8], l[4] = {0};
	const char *why;
	char *text;
	size_t n;
	int rc;

	if (read_npy_bytes(r, m, sizeof m) < 0)
		return -1;
	if (memcmp(m, "\x93NUMPY", 6) != 0 || m[6] < 1 || m[6] > 3)
		return fail_npy(
		    r, "it does not start with NPY version 1, 2 or 3");
	if (read_npy_bytes(r, l, m[6] == 1 ? 2 : 4) < 0)
		return -1;
	n = (size_t)l[0] | (size_t)l[1] << 8 | (size_t)l[2] << 16 |
	    (size_t)l[3] << 24;
	if (n > NPY_HEADER_MOST)
		return fail_npy(r, "its header is too long");
	text = mem_new(n + 1);
	rc = read_npy_bytes(r, text, n);
	if (rc == 0 && parse_npy_header(&r->head, text, n, &why) < 0)
		rc = fail_npy(r, why);
	free(text);
	return rc;
}

/* Rows are the first dimension; the others of a plain array are a vector. */
static int
set_npy_shape(struct npy_reader *r)
{
	struct npy_head *h = &r->head;
	struct npy_field *f = &h->fields[0];
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
		if (h->shape[i] == 0 || h->shape[i] > NPY_ROW_MOST / h->row)
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
format_npy_real(struct str *s, const char *p, size_t size)
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
format_npy_number(
    struct npy_reader *r, const struct npy_field *f, const char *p)
{
	uint64_t v;

	if (f->kind == 'f') {
		if (f->size != 4 && f->size != 8)
			return fail_npy(r,
			    "numbers of this size are supported only in "
			    "vectors");
		format_npy_real(&r->buf, p, f->size);
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
format_npy_text(struct npy_reader *r, const char *p, size_t n)
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
put_npy_field(struct npy_reader *r, const struct npy_field *f, int to, char *p)
{
	size_t n = f->n * f->size;

	str_clear(&r->buf);
	if (f->kind == 'S' && !f->vector) {
		set_field(r->in, to, p, strnlen(p, n));
		return 0;
	}
	if (f->swap)
		swap_bytes(p, f->kind == 'U' ? 4 : f->size,
		    f->kind == 'U' ? n / 4 : f->n);
	if (f->vector || f->kind == 'V') {
		set_field(r->in, to, p, n);
		return 0;
	}
	if ((f->kind == 'U' ? format_npy_text(r, p, n)
			    : format_npy_number(r, f, p)) < 0)
		return -1;
	set_field(r->in, to, r->buf.s ? r->buf.s : "", r->buf.len);
	return 0;
}

static int
read_npy_rows(struct npy_reader *r)
{
	const struct npy_head *h = &r->head;
	char *row = mem_new(h->row);
	int rc = 0;
	uint64_t i;
	size_t j;

	for (i = 0; i < r->rows && rc == 0; i++) {
		rc = read_npy_bytes(r, row, h->row);
		for (j = 0; j < h->nfields && rc == 0; j++)
			if (r->wanted[j] >= 0)
				rc = put_npy_field(r, &h->fields[j],
				    r->wanted[j], row + h->fields[j].at);
		if (rc == 0)
			rc = end_row(r->in);
	}
	free(row);
	return rc < 0 ? -1 : 0;
}

static int
read_npy(struct intake *in)
{
	struct npy_reader r = {.in = in};
	const struct npy_field *f;
	size_t i;
	int rc = -1;

	if (read_npy_header(&r) < 0 || set_npy_shape(&r) < 0)
		goto out;
	r.wanted = mem_array(r.head.nfields, sizeof *r.wanted);
	for (i = 0; i < r.head.nfields; i++) {
		f = &r.head.fields[i];
		r.wanted[i] = find_field(in, f->name, strlen(f->name));
	}
	if (check_fields(in) == 0)
		rc = read_npy_rows(&r);
out:
	free_npy_header(&r.head);
	free(r.wanted);
	str_free(&r.buf);
	return rc;
}

/* --- a file */

static int
read_format(struct intake *in)
{
	const char *path = in->want->path;

	if (str_ends(path, ".fvecs") || str_ends(path, ".ivecs"))
		return err_fail("%s: cannot read vectors of this format; "
				"convert them to .npy",
		    path);
	in->f = fopen(path, "re");
	if (!in->f)
		return err_fail_sys("cannot read '%s'", path);
	if (str_ends(path, ".xml"))
		return read_xml(in);
	if (str_ends(path, ".npy"))
		return read_npy(in);
	if (str_ends(path, ".jsonl") || str_ends(path, ".ndjson"))
		return read_json(in);
	return read_csv(in, str_ends(path, ".tsv") ? '\t' : ',');
}

struct rowset *
dataset_read(const struct dataset_want *want, dataset_stop_fn *stop, void *arg)
{
	struct intake in = {.want = want, .stop = stop, .arg = arg};
	struct rowset *d = rowset_new(want->fields);
	int rc;

	in.d = d;
	while (want->fields[in.nfields])
		in.nfields++;
	in.row = mem_array(in.nfields, sizeof *in.row);
	in.values = mem_array(in.nfields, sizeof *in.values);
	in.seen = mem_array(in.nfields, sizeof *in.seen);
	rc = read_format(&in);
	if (rc == 0 && !rowset_count(d))
		rc = err_fail("%s: the file has no rows", want->path);
	for (size_t i = 0; i < in.nnames; i++)
		free(in.names[i]);
	free(in.names);
	free(in.seen);
	free(in.values);
	free(in.row);
	free(in.line);
	str_free(&in.text);
	if (in.f)
		fclose(in.f);
	if (rc == 0)
		return d;
	rowset_free(d);
	return NULL;
}

struct entry {
	struct rowset *d;
	char *path, *element;
	long long maxdocs;
	struct stat st;
};

struct datasets {
	struct entry *v;
	size_t n, cap;
};

struct datasets *
datasets_new(void)
{
	return mem_new(sizeof(struct datasets));
}

static void
free_entry(struct entry *e)
{
	rowset_free(e->d);
	free(e->path);
	free(e->element);
}

void
datasets_free(struct datasets *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free_entry(&s->v[i]);
	free(s->v);
	free(s);
}

void
datasets_drop_stale(struct datasets *s)
{
	struct stat st;
	size_t i = 0;

	while (i < s->n)
		if (stat(s->v[i].path, &st) == 0 &&
		    hash_is_same_file(&s->v[i].st, &st)) {
			i++;
		} else {
			free_entry(&s->v[i]);
			s->v[i] = s->v[--s->n];
		}
}

const struct rowset *
datasets_get(struct datasets *s, const struct dataset_want *want,
    dataset_stop_fn *stop, void *arg)
{
	const char *element = want->xml_element ? want->xml_element : "";
	struct entry *e, fresh = {.maxdocs = want->maxdocs};
	size_t i;

	if (stat(want->path, &fresh.st) < 0) {
		err_fail_sys("cannot read '%s'", want->path);
		return NULL;
	}
	for (i = 0; i < s->n; i++) {
		e = &s->v[i];
		if (strcmp(e->path, want->path) == 0 &&
		    hash_is_same_file(&e->st, &fresh.st) &&
		    e->maxdocs == want->maxdocs &&
		    strcmp(e->element, element) == 0 &&
		    rowset_is_of(e->d, want->fields))
			return e->d;
	}
	fresh.d = dataset_read(want, stop, arg);
	if (!fresh.d)
		return NULL;
	fresh.path = mem_str(want->path);
	fresh.element = mem_str(element);
	*MEM_ADD(s->v, s->n, s->cap) = fresh;
	return fresh.d;
}

static const char *const kinds[] = {"dataset_generation", "query_generation"};

static size_t
stem_len(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

/* The recipe of foo.csv makes foo.npy if the data have vectors. */
static bool
makes_file(const char *key, const char *name)
{
	return strcmp(key, name) == 0 ||
	    (strcmp(name + stem_len(name), ".npy") == 0 &&
		stem_len(key) == stem_len(name) &&
		strncmp(key, name, stem_len(name)) == 0);
}

/* Finds the recipe of a file; exact names come before related ones. */
static const struct json *
find_recipe(const struct json *recipes, const char *path, const char **place)
{
	const char *slash = strrchr(path, '/'),
		   *name = slash ? slash + 1 : path;
	const struct json *m;

	for (size_t k = 0; k < 4; k++) {
		*place = kinds[k % 2];
		m = json_first(json_get(recipes, *place));
		for (; m; m = json_next(m))
			if (k < 2 ? strcmp(json_key(m), name) == 0
				  : makes_file(json_key(m), name))
				return m;
	}
	return NULL;
}

/* Returns the files of a case, with NULL behind the last; caller frees. */
static const char **
list_files(const struct json *config)
{
	const struct json *sides[] = {
	    json_get(config, "writes"), json_get(config, "reads")};
	const char **v =
	    mem_array(json_len(sides[0]) + json_len(sides[1]) + 2, sizeof *v);
	size_t n = 0;

	if ((v[n] = json_get_str(config, "dataset")))
		n++;
	for (size_t i = 0; i < 2; i++) {
		const struct json *p = json_first(sides[i]);

		for (; p; p = json_next(p))
			if ((v[n] = json_get_str(p, "dataset")))
				n++;
	}
	return v;
}

struct json *
dataset_recipes(const struct json *cfg, const struct json *config)
{
	const char **files = list_files(config), *place, *path;
	struct json *to = NULL;
	const struct json *m;

	for (size_t i = 0; files[i]; i++)
		/* Those of its sources, too. */
		for (path = files[i];
		     path && (m = find_recipe(cfg, path, &place));
		     path = json_get_str(m, "source")) {
			if (!to)
				to = json_object();
			if (!json_get(to, place))
				json_set(to, place, json_object());
			if (json_get(json_get(to, place), json_key(m)))
				break;
			json_set(json_get(to, place), json_key(m), json_dup(m));
		}
	free(files);
	return to;
}

/* --- making the datasets */

#define LOOK_MS 100
#define GRACE_MS 5000

struct making {
	const struct json *recipes;
	struct intern *made; /* path and recipes of each */
	const volatile int *stop;
	char *why;
};

/* Returns the wait status, or -1 if it was not started or *stop ended it. */
static int
run_gendata(struct making *m, const char *dir, const char *name, int fd)
{
	char *program = proc_beside("vkb-gendata");
	const char *const argv[] = {
	    program, "-o", dir, "--files", name, "-", NULL};
	struct proc_spec spec = {
	    .argv = argv, .in = fd, .group = true, .death_signal = 15};
	struct proc *p = proc_start(&spec);
	int status = -1;

	free(program);
	if (!p)
		return -1;
	while (!*m->stop && !proc_wait(p, LOOK_MS, &status))
		;
	if (*m->stop) {
		proc_stop(p, GRACE_MS);
		status = -1;
	}
	proc_free(p);
	return status;
}

static int
make_dataset(
    struct making *m, const char *path, const char *name, const char *recipes)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	char *dir = slash ? mem_strn(path, len ? len : 1) : mem_str(".");
	char how[80];
	int fd = sink_memory(recipes, strlen(recipes)), status = -1;

	if (fd >= 0) {
		status = run_gendata(m, dir, name, fd);
		close(fd);
	}
	if (status)
		m->why = mem_printf("its dataset '%s': vkb-gendata %s", path,
		    status < 0 ? "could not be run"
			       : proc_ended(status, how, sizeof how));
	free(dir);
	return status ? -1 : 0;
}

static int
make_once(struct making *m, const char *path, const char *name)
{
	char *recipes = json_print(m->recipes);
	char *key = mem_printf("%s\n%s", path, recipes);
	int rc = 0;

	if (intern_find(m->made, key, strlen(key)) == intern_count(m->made)) {
		rc = make_dataset(m, path, name, recipes);
		if (rc == 0)
			intern_id(m->made, key);
	}
	free(key);
	free(recipes);
	return rc;
}

/* Makes a file that has a recipe. Sets 'why' if it cannot be read then. */
static void
check_dataset(struct making *m, const char *path)
{
	const char *place;
	const struct json *recipe = find_recipe(m->recipes, path, &place);

	if ((recipe && make_once(m, path, json_key(recipe)) < 0) ||
	    access(path, R_OK) == 0)
		return;
	m->why = recipe
	    ? mem_printf(
		  "its dataset '%s' was not written by vkb-gendata", path)
	    : mem_printf("its dataset '%s' cannot be read (%s), and no recipe "
			 "makes it",
		  path, strerror(errno));
}

char *
dataset_make(
    const struct json *cas, struct intern *made, const volatile int *stop)
{
	struct making m = {
	    .recipes = json_get(cas, "data"), .made = made, .stop = stop};
	const char **files = list_files(json_get(cas, "config"));

	for (size_t i = 0; files[i] && !m.why; i++)
		check_dataset(&m, files[i]);
	free(files);
	return m.why;
}
