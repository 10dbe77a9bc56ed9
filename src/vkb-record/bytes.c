#include "bytes.h"

#include <inttypes.h>
#include <stdarg.h>

int
bytes_fail(struct bytes *b, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (b->failed)
		return -1;
	b->failed = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_say("%s: offset %" PRIu64 ": %s", b->name, b->offset, text);
	return -1;
}

int
bytes_fail_short(struct bytes *b)
{
	if (!b->failed && ferror(b->in)) {
		b->failed = true;
		return err_fail_sys("cannot read '%s'", b->name);
	}
	return bytes_fail(b, "truncated: the file ends too early");
}

int
bytes_get(struct bytes *b, void *to, size_t n)
{
	size_t got = fread(to, 1, n, b->in);

	b->offset += got;
	return got == n ? 0 : bytes_fail_short(b);
}

int
bytes_append(struct bytes *b, struct str *s, uint64_t n)
{
	char piece[65536];
	size_t part;

	for (; n; n -= part) {
		part = n < sizeof piece ? (size_t)n : sizeof piece;
		if (bytes_get(b, piece, part) < 0)
			return -1;
		if (s)
			str_addn(s, piece, part);
	}
	return 0;
}

int
bytes_skip(struct bytes *b, uint64_t n)
{
	return bytes_append(b, NULL, n);
}

int
bytes_peek(struct bytes *b)
{
	int c = getc(b->in);

	if (c != EOF)
		ungetc(c, b->in);
	return c == EOF ? -1 : c;
}
