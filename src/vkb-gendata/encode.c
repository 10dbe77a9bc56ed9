#include "encode.h"
#include "recipe.h"
#include "str.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONG 64 /* bytes of a text from which memchr is faster */
#define NPY_ALIGN 64
#define NPY_HEAD 10 /* bytes of magic, version and header length */

/* Classes of bytes that some format must quote or escape. */
enum {
	COMMA = 1,
	TAB = 2,
	LINE = 4,
	QUOTE = 8,
	BACKSLASH = 16,
	MARKUP = 32,
	CONTROL = 64
};

static const unsigned char classes[256] = {[0 ... 8] = CONTROL,
    ['\t'] = CONTROL | TAB,
    ['\n'] = CONTROL | LINE,
    [0x0b ... 0x0c] = CONTROL,
    ['\r'] = CONTROL | LINE,
    [0x0e ... 0x1f] = CONTROL,
    [','] = COMMA,
    ['"'] = QUOTE,
    ['\\'] = BACKSLASH,
    ['&'] = MARKUP,
    ['<'] = MARKUP,
    ['>'] = MARKUP};

static bool
has_class(const struct str *s, unsigned which)
{
	for (size_t i = 0; i < s->len; i++)
		if (classes[(unsigned char)s->s[i]] & which)
			return true;
	return false;
}

/* Appends 's'; calls with(to, c) instead for a NUL and each byte of 'which'. */
static void
append_replaced(struct str *to, const struct str *s, const char *which,
    void with(struct str *, char))
{
	for (size_t i = 0; i < s->len; i++) {
		size_t n = strcspn(s->s + i, which);

		str_addn(to, s->s + i, n);
		i += n;
		if (i < s->len)
			with(to, s->s[i]);
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
		return has_class(
		    s, (delimiter == '\t' ? TAB : COMMA) | QUOTE | LINE);
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

/* Control characters; XML 1.0 cannot represent most of them. */
#define CONTROLS                                                           \
	"\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13" \
	"\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"

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
append_xml(struct str *to, const char *name, const struct str *s)
{
	str_printf(to, "    <%s>", name);
	if (has_class(s, MARKUP | CONTROL))
		append_replaced(to, s, "&<>\r" CONTROLS, append_xml_char);
	else
		str_addn(to, s->s, s->len);
	str_printf(to, "</%s>\n", name);
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
	if (has_class(s, QUOTE | BACKSLASH | CONTROL))
		append_replaced(to, s, "\"\\\n\r\t" CONTROLS, append_json_char);
	else
		str_addn(to, s->s, s->len);
	str_addc(to, '"');
}

/* Appends the header of numpy.lib.format, version 1.0. */
static void
append_npy_head(struct str *s, const struct recipe_file *f)
{
	struct str d = {0};
	size_t len;

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
	while ((NPY_HEAD + d.len + 1) % NPY_ALIGN)
		str_addc(&d, ' ');
	str_addc(&d, '\n');
	len = d.len;
	str_addn(s, "\x93NUMPY\x01", 7);
	str_addc(s, '\0');
	str_addc(s, (char)(len & 0xff));
	str_addc(s, (char)(len >> 8 & 0xff));
	str_addn(s, d.s, d.len);
	str_free(&d);
}

static void
append_column_names(struct str *s, const struct recipe_file *f, char delimiter)
{
	for (size_t i = 0; i < f->n; i++) {
		struct str name = {0};

		if (i)
			str_addc(s, delimiter);
		str_add(&name, f->fields[i].name);
		append_csv(s, &name, delimiter, f->n == 1);
		str_free(&name);
	}
	str_add(s, f->format == RECIPE_CSV ? "\r\n" : "\n");
}

void
encode_head(struct str *s, const struct recipe_file *f)
{
	if (f->format == RECIPE_CSV)
		append_column_names(s, f, ',');
	if (f->format == RECIPE_TSV)
		append_column_names(s, f, '\t');
	if (f->format == RECIPE_XML)
		str_add(s,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<corpus>\n");
	if (f->format == RECIPE_NPY)
		append_npy_head(s, f);
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
	if (f->format == RECIPE_XML)
		str_printf(s, "  <doc>\n    <id>%06llu</id>\n",
		    (unsigned long long)row);
	if (f->format == RECIPE_JSONL)
		str_addc(s, '{');
}

void
encode_text(struct str *s, const struct recipe_file *f, size_t field,
    const struct str *content)
{
	const struct recipe_field *x = &f->fields[field];
	char delimiter = f->format == RECIPE_TSV ? '\t' : ',';
	struct str name = {.s = x->name};

	switch (f->format) {
	case RECIPE_CSV:
	case RECIPE_TSV:
		if (field)
			str_addc(s, delimiter);
		append_csv(s, content, delimiter, f->n == 1);
		return;
	case RECIPE_XML:
		append_xml(s, x->name, content);
		return;
	case RECIPE_JSONL:
		if (field)
			str_addc(s, ',');
		name.len = strlen(x->name);
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
	if (f->format == RECIPE_CSV)
		str_addn(s, "\r\n", 2);
	if (f->format == RECIPE_TSV)
		str_addc(s, '\n');
	if (f->format == RECIPE_XML)
		str_add(s, "  </doc>\n");
	if (f->format == RECIPE_JSONL)
		str_add(s, "}\n");
}
