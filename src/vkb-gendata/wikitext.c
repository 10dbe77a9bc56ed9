#include "wikitext.h"
#include "mem.h"
#include "str.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TAG_MOST 2000  /* most bytes of a tag */
#define NAME_MOST 1000 /* most bytes of a link's target */

/* Elements whose content is left out. */
static const char *const hidden_elements[] = {"ref", "math", "gallery",
    "timeline", "source", "syntaxhighlight", "score", "imagemap", "hiero",
    "chem", "ce", "graph", "mapframe", "maplink", "templatestyles"};
#define HIDDEN (sizeof hidden_elements / sizeof *hidden_elements)

struct reader {
	const char *s;
	size_t n;
	size_t *match;     /* per opening mark: offset after its end, or 0 */
	bool gone[HIDDEN]; /* no closing tag of the element is left */
	bool label;        /* in the label of an external link: ] ends it */
	struct str *out;
	size_t from; /* where the text begins in 'out' */
};

static bool
starts_at(const struct reader *r, size_t i, const char *what)
{
	size_t n = strlen(what);

	return r->n - i >= n && memcmp(r->s + i, what, n) == 0;
}

static bool
is_line_start(const struct reader *r, size_t i)
{
	while (i && (r->s[i - 1] == ' ' || r->s[i - 1] == ':'))
		i--;
	return i == 0 || r->s[i - 1] == '\n';
}

/* Offsets of opening marks of one kind that are not closed yet. */
struct stack {
	size_t *v;
	size_t n, cap;
};

static void
push_mark(struct stack *k, size_t i)
{
	k->v = mem_grow(k->v, k->n, &k->cap, sizeof *k->v);
	k->v[k->n++] = i;
}

static void
match_mark(struct reader *r, struct stack *k, size_t end)
{
	if (k->n)
		r->match[k->v[--k->n]] = end;
}

static void
match_marks(struct reader *r)
{
	struct stack braces = {0}, links = {0}, tables = {0};

	for (size_t i = 0; i + 1 < r->n;) {
		char c = r->s[i], d = r->s[i + 1];

		if (c == '{' && d == '{')
			push_mark(&braces, i);
		else if (c == '}' && d == '}')
			match_mark(r, &braces, i + 2);
		else if (c == '[' && d == '[')
			push_mark(&links, i);
		else if (c == ']' && d == ']')
			match_mark(r, &links, i + 2);
		else if (c == '{' && d == '|' && is_line_start(r, i))
			push_mark(&tables, i);
		else if (c == '|' && d == '}' && is_line_start(r, i) &&
		    !starts_at(r, i, "|}}"))
			match_mark(r, &tables, i + 2);
		else {
			i++;
			continue;
		}
		i += 2;
	}
	free(braces.v);
	free(links.v);
	free(tables.v);
}

static char
get_last_char(const struct reader *r)
{
	return r->out->len > r->from ? r->out->s[r->out->len - 1] : ' ';
}

static void
append_blank(struct reader *r)
{
	if (get_last_char(r) != ' ')
		str_addc(r->out, ' ');
}

/* Appends 'c', but drops brackets and blanks left around removed markup. */
static void
append_prose_char(struct reader *r, char c)
{
	if (isspace((unsigned char)c) || !c) {
		append_blank(r);
		return;
	}
	if (get_last_char(r) == ' ' && strchr(",.;)", c) &&
	    r->out->len > r->from)
		r->out->len--;
	if (c == ')' && get_last_char(r) == '(') {
		r->out->len--;
		return;
	}
	if (get_last_char(r) == '(' && strchr(",;", c))
		return;
	str_addc(r->out, c);
}

/* Appends a code point as UTF-8; leaves out controls and invalid ones. */
static void
append_code_point(struct str *s, unsigned long u)
{
	if (u < 0x20 || u > 0x10ffff || (u >= 0xd800 && u < 0xe000) ||
	    (u >= 0x7f && u < 0xa0)) {
		if (u == '\n' || u == '\t')
			str_addc(s, (char)u);
		return;
	}
	str_addu(s, (unsigned)u);
}

/* Appends the entity's character. Returns the entity's end, s if none. */
static const char *
decode_entity(struct str *out, const char *s, const char *end)
{
	static const struct {
		const char *name;
		unsigned long u;
	} names[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'},
	    {"apos", '\''}, {"nbsp", ' '}, {"thinsp", ' '}, {"ensp", ' '},
	    {"emsp", ' '}, {"ndash", 0x2013}, {"mdash", 0x2014},
	    {"minus", 0x2212}, {"times", 0xd7}, {"deg", 0xb0}, {"middot", 0xb7},
	    {"bull", 0x2022}, {"hellip", 0x2026}, {"lsquo", 0x2018},
	    {"rsquo", 0x2019}, {"ldquo", 0x201c}, {"rdquo", 0x201d},
	    {"prime", 0x2032}, {"eacute", 0xe9}, {"pound", 0xa3},
	    {"euro", 0x20ac}};
	const char *stop =
	    memchr(s, ';', end - s > 12 ? 12 : (size_t)(end - s));
	size_t n = stop ? (size_t)(stop - s) - 1 : 0;
	char text[12], *rest;
	unsigned long u;
	bool hex;

	if (n < 2 || n >= sizeof text)
		return s;
	memcpy(text, s + 1, n);
	text[n] = '\0';
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(text, names[i].name) == 0) {
			append_code_point(out, names[i].u);
			return stop + 1;
		}
	hex = text[1] == 'x' || text[1] == 'X';
	if (*text != '#' || !isxdigit((unsigned char)text[hex ? 2 : 1]))
		return s;
	u = strtoul(text + (hex ? 2 : 1), &rest, hex ? 16 : 10);
	if (*rest)
		return s;
	append_code_point(out, u == 160 ? ' ' : u);
	return stop + 1;
}

void
wikitext_append_unescaped(struct str *out, const char *s, size_t n)
{
	const char *end = s + n;

	while (s < end) {
		const char *p = memchr(s, '&', (size_t)(end - s)), *next;

		str_addn(out, s, (size_t)((p ? p : end) - s));
		if (!p)
			return;
		next = decode_entity(out, p, end);
		if (next == p)
			str_addc(out, *next++);
		s = next;
	}
}

/* Returns whether the link is a picture, a category or a link to a language. */
static bool
is_not_prose(const char *s, size_t n)
{
	static const char *const spaces[] = {
	    "file", "image", "category", "media", "datei", "bild", "fichier"};
	const char *colon = memchr(s, ':', n < NAME_MOST ? n : NAME_MOST);
	size_t len = colon ? (size_t)(colon - s) : 0, i = 0;

	if (!len)
		return false;
	for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++)
		if (strlen(spaces[k]) == len &&
		    strncasecmp(s, spaces[k], len) == 0)
			return true;
	while (i < len && islower((unsigned char)s[i]))
		i++;
	return i == len && len <= 3 &&
	    !memchr(s, '|', n < NAME_MOST ? n : NAME_MOST); /* [[de:Titel]] */
}

/* Returns where reading continues: at the link's label, or after the link. */
static size_t
read_link(struct reader *r, size_t i)
{
	size_t end = r->match[i], n;
	const char *bar;

	if (!end)
		return i + 2;
	n = end - i - 4;
	if (is_not_prose(r->s + i + 2, n))
		return end;
	bar = memchr(r->s + i + 2, '|', n < NAME_MOST ? n : NAME_MOST);
	if (bar)
		return (size_t)(bar - r->s) + 1;
	return i + 2 + (r->s[i + 2] == ':');
}

static size_t
read_external_link(struct reader *r, size_t i)
{
	size_t k = i + 1;

	if (!starts_at(r, k, "http") && !starts_at(r, k, "//") &&
	    !starts_at(r, k, "mailto:"))
		return 0;
	while (k < r->n && !strchr(" ]\n", r->s[k]))
		k++;
	r->label = true;
	return k;
}

/* Returns the offset after the end of a hidden element. */
static size_t
skip_hidden_element(struct reader *r, size_t which, size_t i)
{
	char close[32];
	const char *p = NULL;
	size_t n;

	snprintf(close, sizeof close, "</%s", hidden_elements[which]);
	n = strlen(close);
	if (!r->gone[which])
		p = memmem(r->s + i, r->n - i, close, n);
	if (!p) {
		r->gone[which] = true;
		return i;
	}
	i = (size_t)(p - r->s) + n;
	while (i < r->n && r->s[i] != '>')
		i++;
	return i < r->n ? i + 1 : i;
}

/* Returns the offset after the tag or its hidden element, 0 if not a tag. */
static size_t
read_tag(struct reader *r, size_t i)
{
	size_t k = i + 1, name, most;
	const char *comment_end;
	bool close;

	if (starts_at(r, i, "<!--")) {
		comment_end = memmem(r->s + i, r->n - i, "-->", 3);
		return comment_end ? (size_t)(comment_end - r->s) + 3 : r->n;
	}
	close = k < r->n && r->s[k] == '/';
	k += close;
	name = k;
	while (k < r->n && isalpha((unsigned char)r->s[k]))
		k++;
	if (k == name || (k < r->n && !strchr(" \t\n/>1234567890", r->s[k])))
		return 0;
	most = i + TAG_MOST < r->n ? i + TAG_MOST : r->n;
	for (size_t end = k; end < most; end++) {
		if (r->s[end] != '>')
			continue;
		for (size_t w = 0; w < HIDDEN; w++)
			if (!close && r->s[end - 1] != '/' &&
			    strlen(hidden_elements[w]) == k - name &&
			    strncasecmp(
				r->s + name, hidden_elements[w], k - name) == 0)
				return skip_hidden_element(r, w, end + 1);
		if (strncasecmp(r->s + name, "br", 2) == 0)
			append_blank(r);
		return end + 1;
	}
	return 0;
}

/* Returns the offset after __NOTOC__ and the like, 0 if it is text. */
static size_t
read_magic_word(struct reader *r, size_t i)
{
	size_t k = i + 2;

	while (k < r->n && isupper((unsigned char)r->s[k]))
		k++;
	return k > i + 2 && starts_at(r, k, "__") ? k + 2 : 0;
}

/* Returns the offset after the marks of a list, heading or rule at i. */
static size_t
skip_line_marks(struct reader *r, size_t i)
{
	append_blank(r);
	if (i < r->n && r->s[i] == '=') {
		while (i < r->n && r->s[i] == '=')
			i++;
		return i;
	}
	while (i < r->n && strchr("*#:; ", r->s[i]))
		i++;
	if (starts_at(r, i, "----"))
		while (i < r->n && r->s[i] == '-')
			i++;
	return i;
}

/* Returns the offset after a heading's final == or a longer run, 0 if text. */
static size_t
read_heading_end(const struct reader *r, size_t i)
{
	size_t k = i, end;

	while (k < r->n && r->s[k] == '=')
		k++;
	for (end = k; end < r->n && end - k < 100; end++)
		if (r->s[end] != ' ' && r->s[end] != '\t')
			break;
	if (k - i > 2)
		return k;
	return k - i == 2 && (end == r->n || r->s[end] == '\n') ? k : 0;
}

/* Returns the offset after the markup at i, 0 if there is text. */
static size_t
read_mark(struct reader *r, size_t i)
{
	size_t k = i;

	switch (r->s[i]) {
	case '{':
		if ((starts_at(r, i, "{{") || starts_at(r, i, "{|")) &&
		    r->match[i])
			return r->match[i];
		return starts_at(r, i, "{{") ? i + 2 : 0;
	case '}':
		return starts_at(r, i, "}}") ? i + 2 : 0;
	case '[':
		return starts_at(r, i, "[[") ? read_link(r, i)
					     : read_external_link(r, i);
	case ']':
		if (r->label) {
			r->label = false;
			return i + 1;
		}
		return starts_at(r, i, "]]") ? i + 2 : 0;
	case '<':
		return read_tag(r, i);
	case '\'':
		while (k < r->n && r->s[k] == '\'')
			k++;
		return k - i > 1 ? k : 0;
	case '_':
		return starts_at(r, i, "__") ? read_magic_word(r, i) : 0;
	case '=':
		return read_heading_end(r, i);
	case '\n':
		return skip_line_marks(r, i + 1);
	default:
		return 0;
	}
}

void
wikitext_append_plain(struct str *out, const char *s, size_t n)
{
	struct reader r = {.s = s, .n = n, .out = out, .from = out->len};
	struct str one = {0};
	size_t i, next;

	r.match = mem_array(n + 1, sizeof *r.match);
	match_marks(&r);
	i = skip_line_marks(&r, 0);
	while (i < n) {
		next = read_mark(&r, i);
		if (next) {
			i = next;
			continue;
		}
		if (s[i] == '&') {
			str_clear(&one);
			next = (size_t)(decode_entity(&one, s + i, s + n) - s);
			for (size_t k = 0; k < one.len; k++)
				append_prose_char(&r, one.s[k]);
			if (next > i) {
				i = next;
				continue;
			}
		}
		append_prose_char(&r, s[i++]);
	}
	while (out->len > r.from && out->s[out->len - 1] == ' ')
		out->len--;
	str_add(out, "");
	str_free(&one);
	free(r.match);
}
