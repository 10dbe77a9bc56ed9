/* Text of others in every language that vkb writes. */
#include "tap.h"

#include "markup.h"
#include "str.h"

#include <stdlib.h>

typedef void markup(struct str *, const char *);

static void
gives(markup *f, const char *text, const char *want)
{
	struct str s = {0};
	char *what = NULL;

	str_add(&s, "");
	f(&s, text);
	what = str_take(&s);
	str_visible(&s, text);
	tap_str(what, want, s.s ? s.s : "nothing");
	free(what);
	str_free(&s);
}

static void
markdown(void)
{
	struct str s = {0}, t = {0};

	gives(markup_markdown, "", "");
	gives(markup_markdown, "SET data_size=16, 1 GET!",
	    "SET data_size=16, 1 GET!");
	gives(markup_markdown, "a|b`c<d>\\*[e](f)",
	    "a&#124;b&#96;c&#60;d>&#92;&#42;&#91;e&#93;(f)");
	gives(markup_markdown, "1.02 -> 1.03: +0.7% [+0.7, -1] [2]",
	    "1.02 -> 1.03: +0.7% [+0.7, -1] [2]");
	gives(markup_markdown, "+5%", "+5%");
	gives(markup_markdown, "+ a", "&#43; a");
	gives(markup_markdown, " > a", " &#62; a");
	gives(markup_markdown, "[1](x) [1][2]: [ ] [^1] [] [1",
	    "&#91;1&#93;(x) &#91;1&#93;&#91;2&#93;: &#91; &#93; "
	    "&#91;&#94;1&#93; &#91;&#93; &#91;1");
	gives(markup_markdown, "_a_b_", "&#95;a_b&#95;");
	gives(markup_markdown, "@me #1 GH-2 h-i",
	    "&#64;&#8203;me &#35;&#8203;1 GH&#45;&#8203;2 h&#45;&#8203;i");
	gives(markup_markdown, "http://www.x :tada: a: b",
	    "http&#58;&#8203;//www&#46;&#8203;x &#58;&#8203;tada: a: b");
	gives(markup_markdown, "!1 ~bug &2 $3 %\"x\" 5% $ $",
	    "&#33;&#8203;1 &#126;&#8203;bug &#38;&#8203;2 &#36;&#8203;3 "
	    "&#37;&#8203;\"x\" 5% &#36; &#36;");
	gives(markup_markdown, "/merge a/b /c", "&#47;merge a/b /c");
	gives(markup_markdown, "  /merge", "  &#47;merge");
	gives(markup_markdown, "a\nb\033[1m\xe2\x80\xae\xff",
	    "a&#92;x0ab&#92;x1b&#91;1m&#92;u202e&#92;xff");
	for (int i = 0; i < 200; i++)
		str_add(&s, "\xc3\xa4");
	markup_markdown(&t, s.s);
	tap_ok(t.len == MARKUP_LONGEST + 3 && str_utf8(t.s, t.len) &&
		str_ends(t.s, "..."),
	    "a long text is cut between characters");
	str_free(&s);
	str_free(&t);
}

static void
xml(void)
{
	gives(markup_xml, "a<b>&\"c\"'", "a&lt;b&gt;&amp;&quot;c&quot;&apos;");
	gives(markup_xml, "]]>\x01\n\xef\xbf\xbe\xc0\x80",
	    "]]&gt;\\x01\\x0a\\ufffe\\xc0\\x80");
	gives(markup_xml, "\xf0\x9f\x98\x80 \xc3\xa4",
	    "\xf0\x9f\x98\x80 \xc3\xa4");
}

static void
csv(void)
{
	gives(markup_csv, "", "");
	gives(markup_csv, "plain text", "plain text");
	gives(markup_csv, "a,b", "\"a,b\"");
	gives(markup_csv, "say \"x\"", "\"say \"\"x\"\"\"");
	gives(markup_csv, " x", "\" x\"");
	gives(markup_csv, "=1+1", "'=1+1");
	gives(markup_csv, "  =1+1", "\"'  =1+1\"");
	gives(markup_csv, "+1", "'+1");
	gives(markup_csv, "-1", "'-1");
	gives(markup_csv, "@x,y", "\"'@x,y\"");
	gives(markup_csv, "\t=1", "'\\x09=1");
	gives(markup_csv, "\r=1", "'\\x0d=1");
	gives(markup_csv,
	    "\xef\xbc\x9d"
	    "1",
	    "'\xef\xbc\x9d"
	    "1");
	gives(markup_csv, "a\nb", "a\\x0ab");
}

static void
formatted(void)
{
	struct str s = {0};

	markup_printf(&s, "<a b=\"%s\" c=\"%zu\">%s%%%d %.1f %.0f</a>", "\"<",
	    (size_t)3, "x & y", -2, .25, 7.0);
	tap_ok(strcmp(s.s,
		   "<a b=\"&quot;&lt;\" c=\"3\">x &amp; y%-2 0.2 7</a>") == 0,
	    "a format escapes its texts alone");
	str_free(&s);
}

static void
others(void)
{
	gives(markup_label, "a\"b\\c\nd}", "a\\\"b\\\\\\\\c\\\\x0ad}");
	gives(markup_label, "a\001", "a\\\\x01");
	gives(markup_label, "a\\x01", "a\\\\\\\\x01");
	gives(markup_message, "100%\r\n::error::x, y: z",
	    "100%25\\x0d\\x0a::error::x, y: z");
	gives(markup_message, "%0A::error::x", "%250A::error::x");
	gives(markup_property, "a:b,c%", "a%3Ab%2Cc%25");
	gives(markup_property, "x::\n", "x%3A%3A\\x0a");
}

int
main(void)
{
	markdown();
	xml();
	csv();
	formatted();
	others();
	return tap_done();
}
