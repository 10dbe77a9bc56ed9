#include "articles.h"
#include "dump.h"
#include "err.h"
#include "mem.h"
#include "wikitext.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAGE_MOST (256 << 20) /* bytes; a longer page is an error */

#define HEAD 4096 /* bytes of a page that are searched for <redirect> */

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
	str_free(&a->title);
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

/* Sets *to to the content of the first such element; false if none or empty. */
static bool
find_element(
    const struct span *p, const char *open, const char *close, struct span *to)
{
	const char *end = p->s + p->n;
	const char *b = memmem(p->s, p->n, open, strlen(open)), *e;

	if (!b)
		return false;
	b += strlen(open);
	e = memchr(b, '>', (size_t)(end - b));
	if (!e || e[-1] == '/')
		return false;
	b = e + 1;
	e = memmem(b, (size_t)(end - b), close, strlen(close));
	if (!e)
		return false;
	*to = (struct span){b, (size_t)(e - b)};
	return e > b;
}

static bool
is_redirect_or_blank(struct span t)
{
	while (t.n && isspace((unsigned char)*t.s)) {
		t.s++;
		t.n--;
	}
	return t.n == 0 || (t.n > 9 && strncasecmp(t.s, "#REDIRECT", 9) == 0);
}

static bool
parse_article(const struct span *p, struct span *title, struct span *text)
{
	struct span ns;

	if (memmem(p->s, p->n < HEAD ? p->n : HEAD, "<redirect ", 10))
		return false;
	if (find_element(p, "<ns", "</ns>", &ns) && (ns.n != 1 || *ns.s != '0'))
		return false;
	if (!find_element(p, "<text", "</text>", text) ||
	    is_redirect_or_blank(*text))
		return false;
	if (!find_element(p, "<title", "</title>", title))
		*title = (struct span){"", 0};
	return true;
}

int
articles_read_next(struct articles *a, struct article *to)
{
	struct span p = {0}, title, text;
	int rc;

	while ((rc = find_page(a, &p)) > 0) {
		if (!parse_article(&p, &title, &text))
			continue;
		str_clear(&to->title);
		str_clear(&to->text);
		str_addn(&to->title, title.s, title.n);
		str_addn(&to->text, text.s, text.n);
		return 1;
	}
	if (rc == 0 && !a->any)
		return err_fail(
		    "'%s' has no pages: it is not a wiki dump", a->name);
	return rc;
}

void
article_make_plain(const struct article *a, struct str *out)
{
	struct str wiki = {0};

	str_clear(out);
	wikitext_append_unescaped(&wiki, a->text.s, a->text.len);
	wikitext_append_plain(out, wiki.s ? wiki.s : "", wiki.len);
	if (!out->len)
		wikitext_append_unescaped(out, a->title.s, a->title.len);
	str_free(&wiki);
}
