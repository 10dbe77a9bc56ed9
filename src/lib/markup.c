#include "markup.h"
#include "str.h"

#include <stdbool.h>
#include <string.h>

static bool
word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9');
}

static void
visible(struct str *s, const char *text)
{
	*s = (struct str){0};
	str_add(s, "");
	str_visible(s, text);
}

void
markup_cut(struct str *to, const char *text, size_t most)
{
	size_t n = strlen(text);

	if (n <= most) {
		str_addn(to, text, n);
		return;
	}
	for (n = most; n && (text[n] & 0xc0) == 0x80;)
		n--;
	str_addn(to, text, n);
	str_add(to, "...");
}

/*
 * References are found in what the entities stand for, so a blank without
 * width (&#8203;) parts the sign from what it would point at.
 */
static void
part(struct str *to, char c)
{
	str_printf(to, "&#%d;&#8203;", c);
}

/* 's' is visible. */
static void
markdown(struct str *to, const char *s)
{
	static const char special[] = "\\`*[]<>|^~&$", signs[] = "!~&$%";

	for (const char *p = s; *p; p++) {
		bool first = p == s, joined = word(p[1]);

		if (*p == '@' || *p == '#' ||
		    (strchr(signs, *p) && (joined || p[1] == '"')))
			part(to, *p);
		else if (*p == ':' && (p[1] == '/' || joined))
			part(to, *p); /* links, and :emoji: */
		else if (*p == '.' && !first && strchr("wW", p[-1]))
			part(to, *p); /* www. */
		else if (*p == '-' && !first && strchr("hH", p[-1]))
			part(to, *p); /* GH-12 */
		else if (strchr(special, *p) || (*p == '+' && first) ||
		    (*p == '_' && !(!first && word(p[-1]) && joined)))
			str_printf(to, "&#%d;", *p);
		else
			str_addc(to, *p);
	}
}

void
markup_markdown(struct str *to, const char *text)
{
	struct str s, t = {0};

	visible(&s, text);
	markup_cut(&t, s.s, MARKUP_LONGEST);
	markdown(to, t.s);
	str_free(&t);
	str_free(&s);
}

void
markup_markdown_whole(struct str *to, const char *text)
{
	struct str s;

	visible(&s, text);
	markdown(to, s.s);
	str_free(&s);
}

void
markup_xml(struct str *to, const char *text)
{
	static const char special[] = "&<>\"'";
	static const char *const names[] = {"amp", "lt", "gt", "quot", "apos"};
	struct str s;

	visible(&s, text);
	for (const char *p = s.s; *p; p++) {
		const char *at = strchr(special, *p);

		if (at)
			str_printf(to, "&%s;", names[at - special]);
		else
			str_addc(to, *p);
	}
	str_free(&s);
}

/* What begins a formula; the four signs are there in full width as well. */
static bool
formula(const char *text)
{
	static const char *const wide[] = {
	    "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};

	text += strspn(text, " "); /* some spreadsheets pass over them */
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
		if (str_starts(text, wide[i]))
			return true;
	return *text && strchr("=+-@\t\r\n", *text);
}

void
markup_csv(struct str *to, const char *text)
{
	struct str s;
	bool quote;

	visible(&s, text);
	quote = strpbrk(s.s, ",;\"'") || *s.s == ' ' || str_ends(s.s, " ");
	if (quote)
		str_addc(to, '"');
	if (formula(text))
		str_addc(to, '\'');
	for (const char *p = s.s; *p; p++) {
		if (*p == '"')
			str_addc(to, '"');
		str_addc(to, *p);
	}
	if (quote)
		str_addc(to, '"');
	str_free(&s);
}

void
markup_label(struct str *to, const char *text)
{
	struct str own = {0}, s;

	str_add(&own, "");
	for (; *text; text++) /* two are one of the text, one is ours */
		str_addn(
		    &own, *text == '\\' ? "\\\\" : text, *text == '\\' ? 2 : 1);
	visible(&s, own.s);
	for (const char *p = s.s; *p; p++) {
		if (*p == '\\' || *p == '"')
			str_addc(to, '\\');
		str_addc(to, *p);
	}
	str_free(&own);
	str_free(&s);
}

static void
percent(struct str *to, const char *text, const char *special)
{
	struct str s;

	visible(&s, text);
	for (const char *p = s.s; *p; p++)
		if (strchr(special, *p))
			str_printf(to, "%%%02X", *p);
		else
			str_addc(to, *p);
	str_free(&s);
}

void
markup_message(struct str *to, const char *text)
{
	percent(to, text, "%");
}

void
markup_property(struct str *to, const char *text)
{
	percent(to, text, "%:,");
}

void
markup_sarif(struct str *to, const char *text)
{
	struct str s;

	visible(&s, text);
	for (const char *p = s.s; *p; p++) {
		if (strchr("{}", *p))
			str_addc(to, *p);
		else if (strchr("[]\\", *p))
			str_addc(to, '\\');
		str_addc(to, *p);
	}
	str_free(&s);
}
