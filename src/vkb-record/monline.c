#include "monline.h"
#include "mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A text that is being parsed. */
struct parser {
	const char *p, *end;
};

static bool
skip_text(struct parser *r, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, text, n) != 0)
		return false;
	r->p += n;
	return true;
}

/* Reads at least 'least' digits, whose number is at most 'most'. */
static bool
read_digits(struct parser *r, size_t least, uint64_t most, uint64_t *v)
{
	const char *begin = r->p;

	*v = 0;
	for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
		*v = *v * 10 + (uint64_t)(*r->p - '0');
		if (*v > most)
			return false;
	}
	return (size_t)(r->p - begin) >= least;
}

static int
get_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads the characters after a backslash. Returns the character, or -1. */
static int
read_escape(struct parser *r)
{
	static const char from[] = "nrtab\\\"", to[] = "\n\r\t\a\b\\\"";
	const char *at;
	int c;

	if (r->p == r->end)
		return -1;
	if (*r->p == 'x') {
		if (r->end - r->p < 3 || get_hex(r->p[1]) < 0 ||
		    get_hex(r->p[2]) < 0)
			return -1;
		c = get_hex(r->p[1]) * 16 + get_hex(r->p[2]);
		r->p += 3;
		return c;
	}
	at = *r->p ? strchr(from, *r->p) : NULL;
	r->p++;
	return at ? to[at - from] : -1;
}

/* Reads a quoted word; its opening quote was read. Returns 0 or -1. */
static int
read_word(struct parser *r, struct str *to)
{
	int c;

	while (r->p < r->end && *r->p != '"') {
		if (*r->p != '\\') {
			str_addc(to, *r->p++);
			continue;
		}
		r->p++;
		c = read_escape(r);
		if (c < 0)
			return -1;
		str_addc(to, (char)c);
	}
	return skip_text(r, "\"") ? 0 : -1;
}

static const char *
read_words(struct parser *r, struct monline *l)
{
	size_t at;

	l->n = 0;
	str_clear(&l->bytes);
	while (skip_text(r, " \"")) {
		if (l->n == TRACEFILE_WORDS_MOST)
			return "too many words";
		l->words = mem_grow(l->words, l->n, &l->cap, sizeof *l->words);
		at = l->bytes.len;
		if (read_word(r, &l->bytes) < 0)
			return "a word is truncated or has an unknown escape";
		l->words[l->n++].n = l->bytes.len - at;
	}
	if (r->p != r->end || !l->n)
		return "words in quotes are missing";
	at = 0;
	for (size_t i = 0; i < l->n; i++) {
		l->words[i].s = (l->bytes.s ? l->bytes.s : "") + at;
		at += l->words[i].n;
	}
	return l->words[0].n ? NULL : "the name of the command is empty";
}

const char *
monline_parse(const char *s, size_t n, struct monline *l)
{
	struct parser r = {s, s + n};
	uint64_t seconds, us, db;
	const char *close;

	if (!read_digits(&r, 1, UINT64_C(100000000000), &seconds) ||
	    !skip_text(&r, ".") || r.end - r.p < 6 ||
	    !read_digits(&r, 6, 999999, &us) || !skip_text(&r, " ["))
		return "it does not begin with a time and '['";
	if (!read_digits(&r, 1, INT32_MAX, &db) || !skip_text(&r, " "))
		return "the number of the database is missing";
	close = memmem(r.p, (size_t)(r.end - r.p), "] \"", 3);
	if (!close)
		return "the client's address, or the command, is missing";
	l->us = seconds * 1000000 + us;
	l->db = (unsigned)db;
	l->address = r.p;
	l->naddress = (size_t)(close - r.p);
	r.p = close + 1;
	return read_words(&r, l);
}

void
monline_free(struct monline *l)
{
	free(l->words);
	str_free(&l->bytes);
}

static void
append_word(struct str *s, const struct tracefile_word *w)
{
	static const char from[] = "\n\r\t\a\b\\\"", to[] = "nrtab\\\"";
	const char *at;
	char c;

	str_add(s, " \"");
	for (size_t i = 0; i < w->n; i++) {
		c = w->s[i];
		at = c ? strchr(from, c) : NULL;
		if (at) {
			str_addc(s, '\\');
			str_addc(s, to[at - from]);
		} else if (c >= ' ' && c < 127)
			str_addc(s, c);
		else
			str_printf(s, "\\x%02x", (unsigned char)c);
	}
	str_addc(s, '"');
}

void
monline_append(struct str *s, const struct monline *l)
{
	str_printf(s, "%llu.%06llu [%u %.*s]",
	    (unsigned long long)l->us / 1000000,
	    (unsigned long long)l->us % 1000000, l->db, (int)l->naddress,
	    l->address);
	for (size_t i = 0; i < l->n; i++)
		append_word(s, &l->words[i]);
}
