#include "mdpage.h"
#include "markup.h"
#include "num.h"
#include "str.h"

enum { NAME = 60 }; /* bytes */

bool
mdpage_has_room(const struct mdpage *p, size_t percent)
{
	return p->s->len <= p->start + p->room * percent / 100;
}

void
mdpage_truncate(const struct mdpage *p, size_t before)
{
	p->s->s[p->s->len = before] = '\0';
}

void
mdpage_left_out(const struct mdpage *p, size_t n, const char *what)
{
	if (n)
		str_printf(p->s,
		    "\n%zu more %s%s left out: too long for one comment.\n", n,
		    what, num_plural(n));
}

void
mdpage_name(const struct mdpage *p, const char *text)
{
	struct str t = {0};

	str_add(&t, "");
	markup_cut(&t, text, NAME);
	markup_markdown(p->s, t.s);
	str_free(&t);
}

void
mdpage_open(const struct mdpage *p, const char *summary)
{
	str_printf(p->s, "<details><summary>%s</summary>\n\n", summary);
}

void
mdpage_close(const struct mdpage *p)
{
	str_add(p->s, "</details>\n\n");
}

void
mdpage_paragraph(const struct mdpage *p, const char *before, const char *text,
    size_t percent)
{
	size_t len = p->s->len;

	str_add(p->s, before);
	markup_markdown_whole(p->s, text);
	str_add(p->s, "\n\n");
	if (!mdpage_has_room(p, percent))
		mdpage_truncate(p, len);
}
