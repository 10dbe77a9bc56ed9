#include "encode.h"
#include "recipe.h"
#include "str.h"

#include <stdbool.h>
#include <string.h>

#define LONG 64 /* bytes of a text from which memchr is faster */
#define NPY_ALIGN 64
#define NPY_MAGIC 8 /* bytes of magic and version */

/* Bytes that a format must quote or escape; XML and JSON as 'classes' say. */
enum { CSV = 1, TSV = 2, JSON = 4, XML = 8 };

static const unsigned char classes[256] = {[0 ... 8] = JSON | XML,
    ['\t'] = TSV | JSON,
    ['\n'] = CSV | TSV | JSON,
    [0x0b ... 0x0c] = JSON | XML,
    ['\r'] = CSV | TSV | JSON | XML,
    [0x0e ... 0x1f] = JSON | XML,
    [','] = CSV,
    ['"'] = CSV | TSV | JSON,
    ['\\'] = JSON,
    ['&'] = XML,
    ['<'] = XML,
    ['>'] = XML};

/* Returns the offset of the next byte of the class from 'i' on, or s->len. */
static size_t
find_class(const struct str *s, size_t i, unsigned which)
{
	while (i < s->len && !(classes[(unsigned char)s->s[i]] & which))
		i++;
	return i;
}

/* Appends 's', with each byte of the class as append(to, byte) writes it. */
static void
append_escaped(struct str *to, const struct str *s, unsigned which,
    void append(struct str *, char))
{
	for (size_t from = 0, i; from < s->len; from = i + 1) {
		i = find_class(s, from, which);
		str_addn(to, s->s + from, i - from);
		if (i < s->len)
			append(to, s->s[i]);
	}
}

/* Appends 's' with each quote doubled. */
static void
append_doubling_quotes(struct str *to, const struct str *s)
{
	const char *from = s->s, *end = from + s->len, *quote;

	while ((quote = memchr(from, '"', (size_t)(end - from)))) {
		str_addn(to, from, (size_t)(quote - from) + 1);
		str_addc(to, '"');
		from = quote + 1;
	}
	str_addn(to, from, (size_t)(end - from));
}

static bool
needs_quotes(const struct str *s, char delimiter)
{
	if (s->len < LONG)
		return find_class(s, 0, delimiter == '\t' ? TSV : CSV) < s->len;
	return memchr(s->s, delimiter, s->len) || memchr(s->s, '"', s->len) ||
	    memchr(s->s, '\r', s->len) || memchr(s->s, '\n', s->len);
}

/* 'lone': the only field of its row, quoted if empty, or the line is blank. */
static void
append_csv(struct str *to, const struct str *s, char delimiter, bool lone)
{
	if (s->len ? !needs_quotes(s, delimiter) : !lone) {
		str_addn(to, s->s, s->len);
		return;
	}
	str_addc(to, '"');
	if (s->len)
		append_doubling_quotes(to, s);
	str_addc(to, '"');
}

/* XML 1.0 cannot represent most control characters: they become blanks. */
static void
append_xml_char(struct str *s, char c)
{
	if (c == '&')
		str_add(s, "&amp;");
	else if (c == '<')
		str_add(s, "&lt;");
	else if (c == '>')
		str_add(s, "&gt;");
	else if (c == '\r')
		str_add(s, "&#13;");
	else
		str_addc(s, ' ');
}

static void
append_json_char(struct str *s, char c)
{
	if (c == '\n')
		str_add(s, "\\n");
	else if (c == '"' || c == '\\')
		str_printf(s, "\\%c", c);
	else
		str_printf(s, "\\u%04x", (unsigned char)c);
}

static void
append_json(struct str *to, const struct str *s)
{
	str_addc(to, '"');
	append_escaped(to, s, JSON, append_json_char);
	str_addc(to, '"');
}

/*
 * Appends the header of numpy.lib.format: version 1.0 has two bytes for its
 * length, version 2.0 four, for many fields.
 */
static void
append_npy_head(struct str *s, const struct recipe_file *f)
{
	struct str d = {0};
	int bytes;

	str_add(&d, "{'descr': [");
	for (size_t i = 0; i < f->n; i++) {
		const struct recipe_field *x = &f->fields[i];

		str_printf(&d, "%s('%s', ", i ? ", " : "", x->name);
		if (x->dims)
			str_printf(&d, "'<f4', (%zu,))", x->dims);
		else
			str_printf(&d, "'|S%zu')", x->size);
	}
	str_printf(&d, "], 'fortran_order': False, 'shape': (%llu,), }",
	    (unsigned long long)f->rows);
	bytes = d.len + NPY_ALIGN > 0xffff ? 4 : 2;
	while ((NPY_MAGIC + (size_t)bytes + d.len + 1) % NPY_ALIGN)
		str_addc(&d, ' ');
	str_addc(&d, '\n');
	str_addn(s, "\x93NUMPY", 6);
	str_addc(s, bytes == 4 ? 2 : 1);
	str_addc(s, '\0');
	for (int i = 0; i < bytes; i++)
		str_addc(s, (char)(d.len >> 8 * i & 0xff));
	str_addn(s, d.s, d.len);
	str_free(&d);
}

static const struct {
	const char *begin, *end; /* of a row */
	char delimiter;          /* between its fields, or '\0' */
} rows[] = {[RECIPE_CSV] = {"", "\r\n", ','},
    [RECIPE_TSV] = {"", "\n", '\t'},
    [RECIPE_XML] = {"  <doc>\n    <id>", "  </doc>\n", '\0'},
    [RECIPE_JSONL] = {"{", "}\n", ','},
    [RECIPE_NPY] = {"", "", '\0'},
    [RECIPE_FVECS] = {"", "", '\0'},
    [RECIPE_IVECS] = {"", "", '\0'}};

static struct str
get_name(const struct recipe_field *x)
{
	return (struct str){.s = x->name, .len = strlen(x->name)};
}

void
encode_head(struct str *s, const struct recipe_file *f)
{
	char delimiter = rows[f->format].delimiter;

	if (f->format == RECIPE_XML)
		str_add(s,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<corpus>\n");
	if (f->format == RECIPE_NPY)
		append_npy_head(s, f);
	if (f->format != RECIPE_CSV && f->format != RECIPE_TSV)
		return;
	for (size_t i = 0; i < f->n; i++) {
		struct str name = get_name(&f->fields[i]);

		if (i)
			str_addc(s, delimiter);
		append_csv(s, &name, delimiter, f->n == 1);
	}
	encode_end(s, f);
}

void
encode_foot(struct str *s, const struct recipe_file *f)
{
	if (f->format == RECIPE_XML)
		str_add(s, "</corpus>\n");
}

void
encode_begin(struct str *s, const struct recipe_file *f, uint64_t row)
{
	str_add(s, rows[f->format].begin);
	if (f->format == RECIPE_XML)
		str_printf(s, "%06llu</id>\n", (unsigned long long)row);
}

void
encode_text(struct str *s, const struct recipe_file *f, size_t field,
    const struct str *content)
{
	const struct recipe_field *x = &f->fields[field];
	char delimiter = rows[f->format].delimiter;
	struct str name = get_name(x);

	if (field && delimiter)
		str_addc(s, delimiter);
	switch (f->format) {
	case RECIPE_CSV:
	case RECIPE_TSV:
		append_csv(s, content, delimiter, f->n == 1);
		return;
	case RECIPE_XML:
		str_printf(s, "    <%s>", x->name);
		append_escaped(s, content, XML, append_xml_char);
		str_printf(s, "</%s>\n", x->name);
		return;
	case RECIPE_JSONL:
		append_json(s, &name);
		str_addc(s, ':');
		append_json(s, content);
		return;
	case RECIPE_NPY:
		str_addn(s, content->s,
		    content->len < x->size ? content->len : x->size);
		for (size_t i = content->len; i < x->size; i++)
			str_addc(s, '\0');
		return;
	case RECIPE_FVECS:
	case RECIPE_IVECS:
		return;
	}
}

void
encode_uint32(struct str *s, uint32_t v)
{
	for (int i = 0; i < 32; i += 8)
		str_addc(s, (char)(v >> i & 0xff));
}

void
encode_vector(
    struct str *s, const struct recipe_file *f, size_t field, const float *v)
{
	size_t d = f->fields[field].dims;

	if (f->format == RECIPE_FVECS)
		encode_uint32(s, (uint32_t)d);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	str_addn(s, v, d * sizeof *v);
#else
	for (size_t i = 0; i < d; i++) {
		uint32_t bits;

		memcpy(&bits, &v[i], sizeof bits);
		encode_uint32(s, bits);
	}
#endif
}

void
encode_end(struct str *s, const struct recipe_file *f)
{
	str_add(s, rows[f->format].end);
}
