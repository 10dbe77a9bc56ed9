#include "encode.h"
#include "recipe.h"
#include "str.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONG 64 /* bytes from which on memchr is the faster */
#define NPY_ALIGN 64
#define NPY_HEAD 10 /* magic, version, length of the rest */

/* What may have to be written in another way, by format. */
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
holds(const struct str *s, unsigned which)
{
	for (size_t i = 0; i < s->len; i++)
		if (classes[(unsigned char)s->s[i]] & which)
			return true;
	return false;
}

/* Adds 's': each of 'which', and a NUL, is replaced by with(c). */
static void
replaced(struct str *to, const struct str *s, const char *which,
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

/* Adds 's' with each quote twice. */
static void
doubled(struct str *to, const struct str *s)
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
		return holds(
		    s, (delimiter == '\t' ? TAB : COMMA) | QUOTE | LINE);
	return memchr(s->s, delimiter, s->len) || memchr(s->s, '"', s->len) ||
	    memchr(s->s, '\r', s->len) || memchr(s->s, '\n', s->len);
}

/* A lone empty field would be an empty line. */
static void
csv(struct str *to, const struct str *s, char delimiter, bool lone)
{
	if (s->len ? !needs_quotes(s, delimiter) : !lone) {
		str_addn(to, s->s, s->len);
		return;
	}
	str_addc(to, '"');
	if (s->len)
		doubled(to, s);
	str_addc(to, '"');
}

/* XML 1.0 has no way to write most of the controls. */
#define CONTROLS                                                           \
	"\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13" \
	"\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"

static void
xml_char(struct str *s, char c)
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
xml(struct str *to, const char *name, const struct str *s)
{
	str_printf(to, "    <%s>", name);
	if (holds(s, MARKUP | CONTROL))
		replaced(to, s, "&<>\r" CONTROLS, xml_char);
	else
		str_addn(to, s->s, s->len);
	str_printf(to, "</%s>\n", name);
}

static void
json_char(struct str *s, char c)
{
	if (c == '\n')
		str_add(s, "\\n");
	else if (c == '"' || c == '\\')
		str_printf(s, "\\%c", c);
	else
		str_printf(s, "\\u%04x", (unsigned char)c);
}

static void
json(struct str *to, const struct str *s)
{
	str_addc(to, '"');
	if (holds(s, QUOTE | BACKSLASH | CONTROL))
		replaced(to, s, "\"\\\n\r\t" CONTROLS, json_char);
	else
		str_addn(to, s->s, s->len);
	str_addc(to, '"');
}

/* numpy.lib.format, version 1.0. */
static void
npy_head(struct str *s, const struct recipe_file *f)
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
names(struct str *s, const struct recipe_file *f, char delimiter)
{
	for (size_t i = 0; i < f->n; i++) {
		struct str name = {0};

		if (i)
			str_addc(s, delimiter);
		str_add(&name, f->fields[i].name);
		csv(s, &name, delimiter, f->n == 1);
		str_free(&name);
	}
	str_add(s, f->format == RECIPE_CSV ? "\r\n" : "\n");
}

void
encode_head(struct str *s, const struct recipe_file *f)
{
	if (f->format == RECIPE_CSV)
		names(s, f, ',');
	if (f->format == RECIPE_TSV)
		names(s, f, '\t');
	if (f->format == RECIPE_XML)
		str_add(s,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<corpus>\n");
	if (f->format == RECIPE_NPY)
		npy_head(s, f);
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
		csv(s, content, delimiter, f->n == 1);
		return;
	case RECIPE_XML:
		xml(s, x->name, content);
		return;
	case RECIPE_JSONL:
		if (field)
			str_addc(s, ',');
		name.len = strlen(x->name);
		json(s, &name);
		str_addc(s, ':');
		json(s, content);
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

/* Little-endian, whatever the machine is. */
static void
number32(struct str *s, uint32_t v)
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
		number32(s, (uint32_t)d);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	str_addn(s, v, d * sizeof *v);
#else
	for (size_t i = 0; i < d; i++) {
		uint32_t bits;

		memcpy(&bits, &v[i], sizeof bits);
		number32(s, bits);
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
