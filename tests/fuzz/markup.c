/* Text of others: what must never be in what is made of it. */
#include "markup.h"
#include "str.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool good)
{
	if (!good)
		abort();
}

/* One line of UTF-8 without controls, and without any of 'bad'. */
static void
clean(const struct str *s, const char *bad)
{
	must(str_utf8(s->s, s->len));
	for (size_t i = 0; i < s->len; i++) {
		unsigned char c = (unsigned char)s->s[i];

		must(c >= 0x20 && c != 0x7f && !strchr(bad, c));
		must(c != 0xc2 || (unsigned char)s->s[i + 1] >= 0xa0);
	}
	must(!strstr(s->s, "\xe2\x80\xae") && !strstr(s->s, "\xe2\x80\x8f"));
}

/* Each & begins "&#DIGITS;". */
static void
entities(const char *s)
{
	for (s = strchr(s, '&'); s; s = strchr(s + 1, '&'))
		must(s[1] == '#' && strspn(s + 2, "0123456789") > 0 &&
		    s[2 + strspn(s + 2, "0123456789")] == ';');
}

/* Blanks the numbers in brackets that no link follows. */
static void
blank_intervals(char *s)
{
	while ((s = strchr(s, '['))) {
		size_t n = strspn(s + 1, "+-.0123456789, ") + 1;

		must(n > 1 && s[n] == ']' &&
		    (!s[n + 1] || !strchr("([:", s[n + 1])));
		memset(s, ' ', n + 1);
	}
}

static void
markdown(struct str *s, const char *text)
{
	char first;

	markup_markdown(s, text);
	blank_intervals(s->s);
	clean(s, "\\`*[]<|~$@^");
	first = s->s[strspn(s->s, " ")];
	must(!first || !strchr(">/", first));
	entities(s->s);
	for (const char *p = s->s; *p; p++)
		must(!strchr("!%", *p) || !isalnum((unsigned char)p[1]));
	must(!strstr(s->s, "://") && !strstr(s->s, "www.") &&
	    !strstr(s->s, "GH-"));
	for (const char *p = strchr(s->s, '#'); p; p = strchr(p + 1, '#'))
		must(p > s->s && p[-1] == '&');
	must(s->len <= 14 * (MARKUP_LONGEST + 3));
}

static void
xml(struct str *s, const char *text)
{
	static const char *const names[] = {
	    "amp;", "lt;", "gt;", "quot;", "apos;"};

	markup_xml(s, text);
	clean(s, "<>\"'");
	for (const char *p = strchr(s->s, '&'); p; p = strchr(p + 1, '&')) {
		bool known = false;

		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			known |= str_starts(p + 1, names[i]);
		must(known);
	}
}

/* Writes one cell; a reader of CSV must not take it for a formula. */
static void
csv(struct str *s, const char *text)
{
	const char *p;

	markup_csv(s, text);
	clean(s, "");
	p = s->s;
	if (*p != '"') {
		must(!strpbrk(p, ",\""));
	} else {
		for (p++; *p; p++)
			if (*p == '"' && *++p != '"')
				break;
		must(p == s->s + s->len && p[-1] == '"');
		p = s->s + 1;
	}
	must(!*p || !strchr("=+-@", *p));
}

static void
label(struct str *s, const char *text)
{
	markup_label(s, text);
	clean(s, "");
	for (const char *p = s->s; *p; p++) {
		must(*p != '"');
		if (*p == '\\')
			must(*++p == '\\' || *p == '"');
	}
}

/* Each % is one of ours. */
static void
command(struct str *s)
{
	clean(s, "");
	for (const char *p = strchr(s->s, '%'); p; p = strchr(p + 1, '%'))
		must(str_starts(p, "%25") || str_starts(p, "%3A") ||
		    str_starts(p, "%2C"));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct str s = {0};

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	str_add(&s, "");
	markdown(&s, text);
	str_clear(&s);
	xml(&s, text);
	str_clear(&s);
	csv(&s, text);
	str_clear(&s);
	label(&s, text);
	str_clear(&s);
	markup_message(&s, text);
	command(&s);
	str_clear(&s);
	markup_property(&s, text);
	command(&s);
	must(!strpbrk(s.s, ":,"));
	str_free(&s);
	free(text);
	return 0;
}
