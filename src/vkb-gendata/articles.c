#include "articles.h"
#include "dump.h"
#include "err.h"
#include "mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_MOST (256 << 20) /* bytes; a longer page is an error */

struct articles {
	struct dump *dump;
	char *name;
	struct str window; /* decompressed bytes */
	size_t from;       /* offset of the first unused byte in 'window' */
	bool end;          /* the dump has no more bytes */
	bool any;          /* a page was found */
};

struct span {
	const char *s;
	size_t n;
};

struct articles *
articles_open(const char *file, size_t threads)
{
	struct articles *a = mem_new(sizeof *a);

	a->name = mem_str(file);
	a->dump = dump_open(file, threads);
	if (a->dump)
		return a;
	articles_close(a);
	return NULL;
}

void
articles_close(struct articles *a)
{
	if (!a)
		return;
	dump_close(a->dump);
	str_free(&a->window);
	free(a->name);
	free(a);
}

void
article_free(struct article *a)
{
	str_free(&a->text);
}

/* Refills the window. Returns 1, 0 at the end, or -1 (error reported). */
static int
read_more(struct articles *a)
{
	int rc;

	if (a->end)
		return 0;
	if (a->from) {
		memmove(a->window.s, a->window.s + a->from,
		    a->window.len - a->from);
		a->window.len -= a->from;
		a->from = 0;
	}
	if (a->window.len > PAGE_MOST)
		return err_fail("'%s' has a page of more than %d MiB", a->name,
		    PAGE_MOST >> 20);
	rc = dump_read_segment(a->dump, &a->window);
	a->end = rc == 0;
	return rc;
}

/* Finds 'what' at or after 'from', reading as needed. Returns as read_more. */
static int
find_text(struct articles *a, const char *what, size_t from, size_t *at)
{
	size_t n = strlen(what), looked = from;

	for (;;) {
		size_t have = a->window.len - a->from;
		const char *p = have > looked
		    ? memmem(a->window.s + a->from + looked, have - looked,
			  what, n)
		    : NULL;
		int rc;

		if (p) {
			*at = (size_t)(p - a->window.s) - a->from;
			return 1;
		}
		looked = have > looked + n ? have - n : looked;
		rc = read_more(a);
		if (rc <= 0)
			return rc;
	}
}

/* Sets *p to the next <page> up to its </page>. Returns as read_more. */
static int
find_page(struct articles *a, struct span *p)
{
	size_t begin, end;
	int rc = find_text(a, "<page>", 0, &begin);

	if (rc <= 0)
		return rc;
	a->from += begin;
	rc = find_text(a, "</page>", 0, &end);
	if (rc == 0)
		return err_fail(
		    "'%s' ends within a page: it is truncated", a->name);
	if (rc < 0)
		return -1;
	*p = (struct span){a->window.s + a->from, end};
	a->from += end;
	a->any = true;
	return 1;
}

/* Sets *to to the content of the next <text> of the page; false if there is
 * none. */
static bool
find_next_text(struct span *p, struct span *to)
{
	const char *end = p->s + p->n, *b, *e;

	do {
		b = memmem(p->s, p->n, "<text", 5);
		if (!b)
			return false;
		b += 5;
		*p = (struct span){b, (size_t)(end - b)};
	} while (p->n && !strchr(" \t\r\n/>", *b));
	e = memchr(b, '>', p->n);
	if (!e)
		return false;
	*to = (struct span){e + 1, 0};
	if (e[-1] == '/')
		return true;
	b = e + 1;
	e = memmem(b, (size_t)(end - b), "</text>", 7);
	to->n = (size_t)((e ? e : b) - b);
	return true;
}

/* Sets *text to the first text of the page that is not empty. Returns whether
 * the page is an article. */
static bool
parse_article(struct span p, struct span *text)
{
	do
		if (!find_next_text(&p, text))
			return false;
	while (!text->n);
	return text->n < 9 || memcmp(text->s, "#REDIRECT", 9) != 0;
}

int
articles_read_next(struct articles *a, struct article *to)
{
	struct span p = {0}, text;
	int rc;

	while ((rc = find_page(a, &p)) > 0) {
		if (!parse_article(p, &text))
			continue;
		str_clear(&to->text);
		str_addn(&to->text, text.s, text.n);
		return 1;
	}
	if (rc == 0 && !a->any)
		return err_fail(
		    "'%s' has no pages: it is not a wiki dump", a->name);
	return rc;
}

/* Appends the character of the entity at s. Returns its length, 0 if it is
 * none. */
static size_t
decode_entity(struct str *out, const char *s, size_t n)
{
	static const struct {
		const char *text;
		char c;
	} names[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'},
	    {"&quot;", '"'}, {"&apos;", '\''}};
	unsigned long u = 0;
	bool hex = n > 2 && s[2] == 'x';
	size_t i = hex ? 3 : 2, begin = i;

	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (n >= strlen(names[k].text) &&
		    memcmp(s, names[k].text, strlen(names[k].text)) == 0) {
			str_addc(out, names[k].c);
			return strlen(names[k].text);
		}
	if (n < 4 || s[1] != '#')
		return 0;
	for (; i < n && u <= 0x10ffff && isxdigit((unsigned char)s[i]) &&
	     (hex || s[i] <= '9');
	     i++)
		u = u * (hex ? 16 : 10) +
		    (unsigned long)(s[i] <= '9' ? s[i] - '0'
						: (s[i] | 32) - 'a' + 10);
	if (i == n || i == begin || s[i] != ';' || !u || u > 0x10ffff ||
	    (u >= 0xd800 && u < 0xe000))
		return 0;
	str_addu(out, (unsigned)u);
	return i + 1;
}

void
article_decode(const struct article *a, struct str *out)
{
	const char *s = a->text.s, *end = s + a->text.len;
	size_t n;

	str_clear(out);
	for (; s < end; s += n) {
		n = 0;
		while (s + n < end && s[n] != '&' && s[n] != '\r')
			n++;
		str_addn(out, s, n);
		if (n)
			continue;
		if (*s == '&') {
			n = decode_entity(out, s, (size_t)(end - s));
			if (!n)
				str_addc(out, '&');
		} else /* XML reads each kind of line end as a newline */
			str_addc(out, '\n');
		n = n ? n : *s == '\r' && s + 1 < end && s[1] == '\n' ? 2 : 1;
	}
}
