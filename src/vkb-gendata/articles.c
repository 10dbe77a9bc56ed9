#include "articles.h"
#include "err.h"
#include "mem.h"
#include "str.h"
#include "tarball.h"

#include <expat.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PIECE (1 << 20)       /* bytes per read */
#define TEXT_MOST (256 << 20) /* bytes; a longer text is an error */

struct articles {
	char *name;
	struct tarball *in;
	XML_Parser p;
	struct str text; /* of this page: the first that is not empty */
	bool in_page, in_text;
	bool any;  /* a page was found */
	bool full; /* the page has ended, and is an article */
	bool end;  /* the parser has the whole dump */
};

static void
on_start(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct articles *a = arg;

	(void)attributes;
	if (strcmp(name, "page") == 0) {
		str_clear(&a->text);
		a->in_page = a->any = true;
	} else if (strcmp(name, "text") == 0)
		a->in_text = a->in_page && !a->text.len;
}

static void
on_end(void *arg, const XML_Char *name)
{
	struct articles *a = arg;

	if (strcmp(name, "text") == 0)
		a->in_text = false;
	if (strcmp(name, "page") != 0)
		return;
	a->in_page = false;
	a->full = a->text.len && !str_starts(a->text.s, "#REDIRECT");
	if (a->full)
		XML_StopParser(a->p, XML_TRUE); /* until the next is wanted */
}

static void
on_text(void *arg, const XML_Char *s, int n)
{
	struct articles *a = arg;

	if (a->in_text && a->text.len <= TEXT_MOST)
		str_addn(&a->text, s, (size_t)n);
	if (a->text.len > TEXT_MOST)
		XML_StopParser(a->p, XML_FALSE);
}

struct articles *
articles_open(const char *file)
{
	struct articles *a = mem_new(sizeof *a);

	a->name = mem_str(file);
	a->in = tarball_plain(file);
	if (!a->in) {
		articles_close(a);
		return NULL;
	}
	a->p = XML_ParserCreate(NULL);
	if (!a->p)
		err_die("out of memory");
	XML_SetUserData(a->p, a);
	XML_SetElementHandler(a->p, on_start, on_end);
	XML_SetCharacterDataHandler(a->p, on_text);
	return a;
}

void
articles_close(struct articles *a)
{
	if (!a)
		return;
	if (a->p)
		XML_ParserFree(a->p);
	tarball_close(a->in);
	str_free(&a->text);
	free(a->name);
	free(a);
}

static int
report_error(const struct articles *a)
{
	if (a->text.len > TEXT_MOST)
		return err_fail("'%s' has a text of more than %d MiB", a->name,
		    TEXT_MOST >> 20);
	if (a->end && a->in_page)
		return err_fail(
		    "'%s' ends within a page: it is truncated", a->name);
	return err_fail("'%s' is not valid XML, on line %lu: %s", a->name,
	    (unsigned long)XML_GetCurrentLineNumber(a->p),
	    XML_ErrorString(XML_GetErrorCode(a->p)));
}

/* Gives the next bytes to the parser. Returns 0, or -1 (error reported). */
static int
parse_more(struct articles *a)
{
	void *buf = XML_GetBuffer(a->p, PIECE);
	long n;

	if (!buf)
		err_die("out of memory");
	n = tarball_read(a->in, buf, PIECE);
	if (n < 0)
		return -1;
	a->end = n == 0;
	return XML_ParseBuffer(a->p, (int)n, a->end) == XML_STATUS_ERROR
	    ? report_error(a)
	    : 0;
}

int
articles_read_next(struct articles *a, struct str *to)
{
	if (a->full) {
		a->full = false;
		if (XML_ResumeParser(a->p) == XML_STATUS_ERROR)
			return report_error(a);
	}
	while (!a->full) {
		if (a->end)
			return a->any ? 0
				      : err_fail("'%s' has no pages: it is not "
						 "a wiki dump",
					    a->name);
		if (parse_more(a) < 0)
			return -1;
	}
	str_clear(to);
	str_addn(to, a->text.s, a->text.len);
	return 1;
}
