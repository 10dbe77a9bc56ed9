#include "markup.h"
#include "err.h"
#include "str.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

static bool
is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9');
}

static void
make_visible(struct str *s, const char *text)
{
	*s = (struct str){0};
	str_add(s, "");
	str_visible(s, text);
}

void
markup_cut(struct str *to, const char *text, size_t most)
{
	size_t from = to->len;

	str_add(to, text);
	str_cut(to, from + most);
}

/*
 * GitHub looks for references after it resolves entities, so a zero-width space
 * (&#8203;) separates the sign from the name after it.
 */
static void
append_separated_sign(struct str *to, char c)
{
	str_printf(to, "&#%d;&#8203;", c);
}

/* Returns the length of the interval, such as "[+0.7, -1]", that the text
 * begins with; 0: it does not, or it would become a link. */
static size_t
measure_interval(const char *s)
{
	size_t n = *s == '[' ? strspn(s + 1, "+-.0123456789, ") : 0;

	return n && isdigit((unsigned char)s[n]) && s[n + 1] == ']' &&
		(!s[n + 2] || !strchr("([:", s[n + 2]))
	    ? n + 2
	    : 0;
}

/* 's' is the result of str_visible. */
static void
escape_markdown(struct str *to, const char *s)
{
	static const char special[] = "\\`*[]<|^~&$", signs[] = "!~&$%";
	const char *start = s + strspn(s, " ");
	size_t n;

	for (const char *p = s; *p; p++) {
		bool first = p == s, joined = is_alphanumeric(p[1]);

		n = measure_interval(p);
		if (n) {
			str_addn(to, p, n);
			p += n - 1;
		} else if (*p == '@' || *p == '#' ||
		    (strchr(signs, *p) && (joined || p[1] == '"')))
			append_separated_sign(to, *p);
		else if (*p == ':' && (p[1] == '/' || joined))
			append_separated_sign(to, *p); /* links, and :emoji: */
		else if (*p == '.' && !first && strchr("wW", p[-1]))
			append_separated_sign(to, *p); /* www. */
		else if (*p == '-' && !first && strchr("hH", p[-1]))
			append_separated_sign(to, *p); /* GH-12 */
		else if (strchr(special, *p) ||
		    (p == start && strchr("/>", *p)) || /* GitLab: /merge */
		    (p == start && *p == '+' && strchr(" ", p[1])) ||
		    (*p == '_' &&
			!(!first && is_alphanumeric(p[-1]) && joined)))
			str_printf(to, "&#%d;", *p);
		else
			str_addc(to, *p);
	}
}

void
markup_markdown(struct str *to, const char *text)
{
	struct str s, t = {0};

	make_visible(&s, text);
	markup_cut(&t, s.s, MARKUP_LONGEST);
	escape_markdown(to, t.s);
	str_free(&t);
	str_free(&s);
}

void
markup_markdown_whole(struct str *to, const char *text)
{
	struct str s;

	make_visible(&s, text);
	escape_markdown(to, s.s);
	str_free(&s);
}

void
markup_xml(struct str *to, const char *text)
{
	static const char special[] = "&<>\"'";
	static const char *const names[] = {"amp", "lt", "gt", "quot", "apos"};
	struct str s;

	make_visible(&s, text);
	for (const char *p = s.s; *p; p++) {
		const char *at = strchr(special, *p);

		if (at)
			str_printf(to, "&%s;", names[at - special]);
		else
			str_addc(to, *p);
	}
	str_free(&s);
}

/* Adds the value of the conversion at p. Returns its length. */
static size_t
add_conversion(struct str *to, const char *p, va_list *ap)
{
	if (p[1] == 's')
		markup_xml(to, va_arg(*ap, const char *));
	else if (p[1] == 'd')
		str_printf(to, "%d", va_arg(*ap, int));
	else if (p[1] == '%')
		str_addc(to, '%');
	else if (str_starts(p, "%zu"))
		str_printf(to, "%zu", va_arg(*ap, size_t));
	else if (p[1] != '.' || p[2] < '0' || p[2] > '9' || p[3] != 'f')
		err_die("unknown conversion in '%s'", p);
	else
		str_printf(to, "%.*f", p[2] - '0', va_arg(*ap, double));
	return p[1] == 'z' ? 3 : p[1] == '.' ? 4 : 2;
}

void
markup_printf(struct str *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	for (size_t n; *fmt; fmt += n)
		if (*fmt == '%')
			n = add_conversion(to, fmt, &ap);
		else
			str_addn(to, fmt, n = strcspn(fmt, "%"));
	va_end(ap);
}

/* Does a spreadsheet take the text for a formula? Full-width signs count. */
static bool
starts_formula(const char *text)
{
	static const char *const wide[] = {
	    "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};

	text += strspn(text, " "); /* some spreadsheets skip blanks */
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

	make_visible(&s, text);
	quote = strpbrk(s.s, ",;\"'") || *s.s == ' ' || str_ends(s.s, " ");
	if (quote)
		str_addc(to, '"');
	if (starts_formula(text))
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
	for (; *text; text++) /* str_visible adds single backslashes */
		str_addn(
		    &own, *text == '\\' ? "\\\\" : text, *text == '\\' ? 2 : 1);
	make_visible(&s, own.s);
	for (const char *p = s.s; *p; p++) {
		if (*p == '\\' || *p == '"')
			str_addc(to, '\\');
		str_addc(to, *p);
	}
	str_free(&own);
	str_free(&s);
}

static void
escape_percent(struct str *to, const char *text, const char *special)
{
	struct str s;

	make_visible(&s, text);
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
	escape_percent(to, text, "%");
}

void
markup_property(struct str *to, const char *text)
{
	escape_percent(to, text, "%:,");
}
