#include "wikitext.h"
#include "mem.h"
#include "str.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TAG_MOST 2000  /* bytes of a tag; more is none */
#define NAME_MOST 1000 /* bytes of what a link points at */

/* Their content is not for reading. */
static const char *const hidden[] = {"ref", "math", "gallery", "timeline",
    "source", "syntaxhighlight", "score", "imagemap", "hiero", "chem", "ce",
    "graph", "mapframe", "maplink", "templatestyles"};
#define HIDDEN (sizeof hidden / sizeof *hidden)

struct reader {
	const char *s;
	size_t n;
	size_t *match;     /* of an opening mark: behind its end; 0: none */
	bool gone[HIDDEN]; /* no closing tag is left */
	bool label;        /* of a link to elsewhere: ] ends it */
	struct str *out;
	size_t from; /* of the text in 'out' */
};

static bool
at(const struct reader *r, size_t i, const char *what)
{
	size_t n = strlen(what);

	return r->n - i >= n && memcmp(r->s + i, what, n) == 0;
}

static bool
line_start(const struct reader *r, size_t i)
{
	while (i && (r->s[i - 1] == ' ' || r->s[i - 1] == ':'))
		i--;
	return i == 0 || r->s[i - 1] == '\n';
}

/* The places that wait for their end, of one kind of mark. */
struct stack {
	size_t *v;
	size_t n, cap;
};

static void
push(struct stack *k, size_t i)
{
	k->v = mem_grow(k->v, k->n, &k->cap, sizeof *k->v);
	k->v[k->n++] = i;
}

static void
pop(struct reader *r, struct stack *k, size_t end)
{
	if (k->n)
		r->match[k->v[--k->n]] = end;
}

static void
match(struct reader *r)
{
	struct stack braces = {0}, links = {0}, tables = {0};

	for (size_t i = 0; i + 1 < r->n;) {
		char c = r->s[i], d = r->s[i + 1];

		if (c == '{' && d == '{')
			push(&braces, i);
		else if (c == '}' && d == '}')
			pop(r, &braces, i + 2);
		else if (c == '[' && d == '[')
			push(&links, i);
		else if (c == ']' && d == ']')
			pop(r, &links, i + 2);
		else if (c == '{' && d == '|' && line_start(r, i))
			push(&tables, i);
		else if (c == '|' && d == '}' && line_start(r, i) &&
		    !at(r, i, "|}}"))
			pop(r, &tables, i + 2);
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
last(const struct reader *r)
{
	return r->out->len > r->from ? r->out->s[r->out->len - 1] : ' ';
}

static void
blank(struct reader *r)
{
	if (last(r) != ' ')
		str_addc(r->out, ' ');
}

/* Brackets around what was left out go too. */
static void
character(struct reader *r, char c)
{
	if (isspace((unsigned char)c) || !c) {
		blank(r);
		return;
	}
	if (last(r) == ' ' && strchr(",.;)", c) && r->out->len > r->from)
		r->out->len--;
	if (c == ')' && last(r) == '(') {
		r->out->len--;
		return;
	}
	if (last(r) == '(' && strchr(",;", c))
		return;
	str_addc(r->out, c);
}

/* A code point as UTF-8; what is no character is left out. */
static void
code_point(struct str *s, unsigned long u)
{
	if (u < 0x20 || u > 0x10ffff || (u >= 0xd800 && u < 0xe000) ||
	    (u >= 0x7f && u < 0xa0)) {
		if (u == '\n' || u == '\t')
			str_addc(s, (char)u);
		return;
	}
	if (u < 0x80) {
		str_addc(s, (char)u);
		return;
	}
	if (u < 0x800) {
		str_addc(s, (char)(0xc0 | u >> 6));
	} else if (u < 0x10000) {
		str_addc(s, (char)(0xe0 | u >> 12));
		str_addc(s, (char)(0x80 | (u >> 6 & 0x3f)));
	} else {
		str_addc(s, (char)(0xf0 | u >> 18));
		str_addc(s, (char)(0x80 | (u >> 12 & 0x3f)));
		str_addc(s, (char)(0x80 | (u >> 6 & 0x3f)));
	}
	str_addc(s, (char)(0x80 | (u & 0x3f)));
}

/* Behind the entity at s, which is added; s itself: it is none. */
static const char *
entity(struct str *out, const char *s, const char *end)
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
			code_point(out, names[i].u);
			return stop + 1;
		}
	hex = text[1] == 'x' || text[1] == 'X';
	if (*text != '#' || !isxdigit((unsigned char)text[hex ? 2 : 1]))
		return s;
	u = strtoul(text + (hex ? 2 : 1), &rest, hex ? 16 : 10);
	if (*rest)
		return s;
	code_point(out, u == 160 ? ' ' : u);
	return stop + 1;
}

void
wikitext_from_xml(struct str *out, const char *s, size_t n)
{
	const char *end = s + n;

	while (s < end) {
		const char *p = memchr(s, '&', (size_t)(end - s)), *next;

		str_addn(out, s, (size_t)((p ? p : end) - s));
		if (!p)
			return;
		next = entity(out, p, end);
		if (next == p)
			str_addc(out, *next++);
		s = next;
	}
}

/* Of a link's target: is it shown elsewhere, or not at all. */
static bool
not_prose(const char *s, size_t n)
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

/* Where reading goes on: at the text of the link, or behind it. */
static size_t
link_at(struct reader *r, size_t i)
{
	size_t end = r->match[i], n;
	const char *bar;

	if (!end)
		return i + 2;
	n = end - i - 4;
	if (not_prose(r->s + i + 2, n))
		return end;
	bar = memchr(r->s + i + 2, '|', n < NAME_MOST ? n : NAME_MOST);
	if (bar)
		return (size_t)(bar - r->s) + 1;
	return i + 2 + (r->s[i + 2] == ':');
}

static size_t
external(struct reader *r, size_t i)
{
	size_t k = i + 1;

	if (!at(r, k, "http") && !at(r, k, "//") && !at(r, k, "mailto:"))
		return 0;
	while (k < r->n && !strchr(" ]\n", r->s[k]))
		k++;
	r->label = true;
	return k;
}

/* Behind the end of an element that is not shown. */
static size_t
skip_element(struct reader *r, size_t which, size_t i)
{
	char close[32];
	const char *p = NULL;
	size_t n;

	snprintf(close, sizeof close, "</%s", hidden[which]);
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

static size_t
comment(struct reader *r, size_t i)
{
	const char *p = memmem(r->s + i, r->n - i, "-->", 3);

	return p ? (size_t)(p - r->s) + 3 : r->n;
}

/* Behind the tag, or its whole element; 0: it is none. */
static size_t
tag(struct reader *r, size_t i)
{
	size_t k = i + 1, name, most;
	bool close;

	if (at(r, i, "<!--"))
		return comment(r, i);
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
			    strlen(hidden[w]) == k - name &&
			    strncasecmp(r->s + name, hidden[w], k - name) == 0)
				return skip_element(r, w, end + 1);
		if (strncasecmp(r->s + name, "br", 2) == 0)
			blank(r);
		return end + 1;
	}
	return 0;
}

/* __NOTOC__ and the like. */
static size_t
word(struct reader *r, size_t i)
{
	size_t k = i + 2;

	while (k < r->n && isupper((unsigned char)r->s[k]))
		k++;
	return k > i + 2 && at(r, k, "__") ? k + 2 : 0;
}

/* The marks of lists, headings and rules. */
static size_t
line_marks(struct reader *r, size_t i)
{
	blank(r);
	if (i < r->n && r->s[i] == '=') {
		while (i < r->n && r->s[i] == '=')
			i++;
		return i;
	}
	while (i < r->n && strchr("*#:; ", r->s[i]))
		i++;
	if (at(r, i, "----"))
		while (i < r->n && r->s[i] == '-')
			i++;
	return i;
}

/* Behind the == of a heading's end, or a longer run; 0: it is text. */
static size_t
equals(const struct reader *r, size_t i)
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

/* Behind a mark that is no text; 0: it is text. */
static size_t
mark(struct reader *r, size_t i)
{
	size_t k = i;

	switch (r->s[i]) {
	case '{':
		if ((at(r, i, "{{") || at(r, i, "{|")) && r->match[i])
			return r->match[i];
		return at(r, i, "{{") ? i + 2 : 0;
	case '}':
		return at(r, i, "}}") ? i + 2 : 0;
	case '[':
		return at(r, i, "[[") ? link_at(r, i) : external(r, i);
	case ']':
		if (r->label) {
			r->label = false;
			return i + 1;
		}
		return at(r, i, "]]") ? i + 2 : 0;
	case '<':
		return tag(r, i);
	case '\'':
		while (k < r->n && r->s[k] == '\'')
			k++;
		return k - i > 1 ? k : 0;
	case '_':
		return at(r, i, "__") ? word(r, i) : 0;
	case '=':
		return equals(r, i);
	case '\n':
		return line_marks(r, i + 1);
	default:
		return 0;
	}
}

void
wikitext_plain(struct str *out, const char *s, size_t n)
{
	struct reader r = {.s = s, .n = n, .out = out, .from = out->len};
	struct str one = {0};
	size_t i, next;

	r.match = mem_array(n + 1, sizeof *r.match);
	match(&r);
	i = line_marks(&r, 0);
	while (i < n) {
		next = mark(&r, i);
		if (next) {
			i = next;
			continue;
		}
		if (s[i] == '&') {
			str_clear(&one);
			next = (size_t)(entity(&one, s + i, s + n) - s);
			for (size_t k = 0; k < one.len; k++)
				character(&r, one.s[k]);
			if (next > i) {
				i = next;
				continue;
			}
		}
		character(&r, s[i++]);
	}
	while (out->len > r.from && out->s[out->len - 1] == ' ')
		out->len--;
	str_add(out, "");
	str_free(&one);
	free(r.match);
}
