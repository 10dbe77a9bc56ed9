#include "replybounds.h"

#include <stdbool.h>
#include <string.h>

/* Ends an element, and what ends with it. */
static void
end_element(struct replybounds *b)
{
	while (b->depth && --b->left[b->depth - 1] == 0)
		b->depth--;
	if (!b->depth)
		b->bytes = b->elements = 0;
}

/* Reads the number of a line. Returns false if it has none, or a sign. */
static bool
read_number(const struct replybounds *b, uint64_t *v)
{
	unsigned i = 0;

	for (*v = 0; i < b->nline && i < 15; i++) {
		if ((unsigned)(b->line[i] - '0') >= 10)
			break;
		*v = *v * 10 + (unsigned)(b->line[i] - '0');
	}
	return i > 0;
}

static const char *
begin_elements(struct replybounds *b, uint64_t n)
{
	/* An attribute or a push message is none of the elements around it. */
	bool apart = b->type == '|' || b->type == '>';

	n *= b->type == '%' || b->type == '|' ? 2 : 1;
	b->elements += n;
	if (b->elements > REPLYBOUNDS_ELEMENTS)
		return "it announces more than 16777216 elements";
	if (!n && !apart)
		end_element(b);
	if (!n)
		return NULL;
	if (b->depth == REPLYBOUNDS_DEPTH)
		return "it nests arrays more than 7 deep";
	if (apart && b->depth)
		b->left[b->depth - 1]++;
	b->left[b->depth++] = n;
	return NULL;
}

static const char *
end_line(struct replybounds *b)
{
	uint64_t n = 0;
	bool counted = read_number(b, &n);

	if (strchr("$=!*~%>|", b->type) && b->nline && *b->line == '?')
		return "it has a length that is not announced";
	switch (b->type) {
	case '$':
	case '=':
	case '!':
		if (counted && n > REPLYBOUNDS_BYTES - b->bytes)
			return "it announces more than 1 GiB";
		if (counted)
			b->skip = n + 2;
		else
			end_element(b);
		return NULL;
	case '*':
	case '~':
	case '%':
	case '>':
	case '|':
		if (counted)
			return begin_elements(b, n);
		break;
	}
	end_element(b);
	return NULL;
}

const char *
replybounds_check(struct replybounds *b, const char *p, size_t n)
{
	const char *end = p + n, *why = NULL, *stop;
	size_t k;

	while (p < end && !why) {
		stop = b->skip ? NULL : memchr(p, '\n', (size_t)(end - p));
		k = stop ? (size_t)(stop + 1 - p) : (size_t)(end - p);
		if (b->skip && b->skip < k)
			k = (size_t)b->skip;
		b->bytes += k;
		if (b->bytes > REPLYBOUNDS_BYTES)
			return "it is longer than 1 GiB";
		if (b->skip) {
			b->skip -= k;
			if (!b->skip)
				end_element(b);
			p += k;
			continue;
		}
		for (const char *q = p; q < p + k; q++)
			if (!b->type)
				b->type = *q;
			else if (b->nline < sizeof b->line)
				b->line[b->nline++] = *q;
			else
				break;
		p += k;
		if (!stop)
			break;
		why = end_line(b);
		b->type = 0;
		b->nline = 0;
	}
	return why;
}
