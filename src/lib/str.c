#include "str.h"
#include "mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
reserve_bytes(struct str *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 64;

	if (b->len + more + 1 <= b->cap)
		return;
	while (cap < b->len + more + 1)
		cap *= 2;
	b->s = mem_resize(b->s, cap, 1);
	b->cap = cap;
}

void
str_addn(struct str *b, const void *s, size_t n)
{
	reserve_bytes(b, n);
	if (n)
		memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void
str_add(struct str *b, const char *s)
{
	str_addn(b, s, strlen(s));
}

void
str_addc(struct str *b, char c)
{
	reserve_bytes(b, 1);
	b->s[b->len++] = c;
	b->s[b->len] = '\0';
}

void
str_addu(struct str *b, unsigned u)
{
	static const unsigned char mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
	int n = u < 0x80 ? 1 : u < 0x800 ? 2 : u < 0x10000 ? 3 : 4;

	str_addc(b, (char)(n == 1 ? u : mark[n] | u >> 6 * (n - 1)));
	while (--n > 0)
		str_addc(b, (char)(0x80 | (u >> 6 * (n - 1) & 0x3f)));
}

ERR_PRINTF(2, 0)
static void
add_formatted(struct str *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		err_die("cannot format '%s'", fmt);
	reserve_bytes(b, (size_t)n);
	vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
	va_end(again);
	b->len += (size_t)n;
}

void
str_printf(struct str *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_formatted(b, fmt, ap);
	va_end(ap);
}

int
str_fail(struct str *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_formatted(why, fmt, ap);
	va_end(ap);
	return -1;
}

int
str_read(struct str *b, int fd)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(fd, buf, sizeof buf)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			str_addn(b, buf, (size_t)n);
	return (int)n;
}

void
str_clear(struct str *b)
{
	b->len = 0;
	if (b->s)
		b->s[0] = '\0';
}

char *
str_take(struct str *b)
{
	char *s = b->s ? b->s : mem_str("");

	*b = (struct str){0};
	return s;
}

void
str_free(struct str *b)
{
	free(b->s);
	*b = (struct str){0};
}

/*
 * Control characters, line breaks, direction marks and invisible characters
 * (Default_Ignorable_Code_Point of Unicode).
 */
static bool
is_hidden(unsigned c)
{
	static const unsigned ranges[][2] = {{0, 0x1f}, {0x7f, 0x9f},
	    {0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160},
	    {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f},
	    {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
	    {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
	    {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0x1bca0, 0x1bca3},
	    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c <= ranges[i][1])
			return c >= ranges[i][0];
	return false;
}

size_t
str_show(char to[STR_SHOWN], const char *s)
{
	unsigned c;
	size_t n = str_decode(s, strnlen(s, 4), &c);

	if (!n)
		c = (unsigned char)*s;
	if (n && !is_hidden(c))
		snprintf(to, STR_SHOWN, "%.*s", (int)n, s);
	else
		snprintf(to, STR_SHOWN, c < 0xa0 || !n ? "\\x%02x" : "\\u%04x",
		    c & 0x1fffff);
	return n ? n : 1;
}

void
str_visible(struct str *b, const char *s)
{
	char shown[STR_SHOWN];

	while (*s) {
		s += str_show(shown, s);
		str_add(b, shown);
	}
}

void
str_cut(struct str *b, size_t most)
{
	if (b->len <= most)
		return;
	while (most && (b->s[most] & 0xc0) == 0x80)
		most--;
	b->len = most;
	str_add(b, "...");
}

int
str_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *
str_upper(const char *s)
{
	char *upper = mem_str(s);

	for (char *c = upper; *c; c++)
		*c -= *c >= 'a' && *c <= 'z' ? 'a' - 'A' : 0;
	return upper;
}

char *
str_replace(const char *text, const char *from, const char *to)
{
	struct str s = {0};
	const char *at;

	for (; (at = strstr(text, from)); text = at + strlen(from)) {
		str_addn(&s, text, (size_t)(at - text));
		str_add(&s, to);
	}
	str_add(&s, text);
	return str_take(&s);
}

bool
str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool
str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && strcmp(s + n - k, suffix) == 0;
}

bool
str_has_part(const char *list, const char *part, char separator)
{
	size_t n = strlen(part);

	if (strchr(part, separator))
		return false;
	for (const char *s = list; s; s = strchr(s, separator)) {
		s += *s == separator;
		if (strncmp(s, part, n) == 0 && (!s[n] || s[n] == separator))
			return true;
	}
	return false;
}

/* Returns the first byte from p on that is not ASCII, or 'end'. */
static inline const char *
skip_ascii(const char *p, const char *end)
{
	const uint64_t high = UINT64_C(0x8080808080808080);
	uint64_t w[4];

	for (; end - p >= (ptrdiff_t)sizeof w; p += sizeof w) {
		memcpy(w, p, sizeof w);
		if ((w[0] | w[1] | w[2] | w[3]) & high)
			break;
	}
	for (; end - p >= (ptrdiff_t)sizeof *w; p += sizeof *w) {
		memcpy(w, p, sizeof *w);
		if (w[0] & high)
			break;
	}
	while (p < end && !(*p & 0x80))
		p++;
	return p;
}

size_t
str_decode(const char *s, size_t n, unsigned *c)
{
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s;
	size_t k = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

	*c = *p;
	if (*p < 0x80)
		return 1;
	if (*p < 0xc0 || *p > 0xf4 || k > n)
		return 0;
	*c &= 0x7fu >> k;
	for (size_t i = 1; i < k; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3fu);
	}
	if (*c < least[k] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff))
		return 0;
	return k;
}

bool
str_utf8(const char *s, size_t n)
{
	const char *end = s + n;
	unsigned c;
	size_t k;

	for (; (s = skip_ascii(s, end)) < end; s += k)
		if (!(k = str_decode(s, (size_t)(end - s), &c)))
			return false;
	return true;
}

static size_t
compute_distance(const char *a, const char *b)
{
	size_t n = strlen(b), row[65], diag, up;

	if (n > 64 || strlen(a) > 64)
		return 64;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		diag = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diag + (a[i - 1] != b[j - 1]);

			up = row[j];
			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diag = up;
			row[j] = best;
		}
	}
	return row[n];
}

void
str_word(struct str *to, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=.,:/@%";

	if (*s && !s[strspn(s, plain)]) {
		str_add(to, s);
		return;
	}
	str_addc(to, '\'');
	for (; *s; s++)
		if (*s == '\'')
			str_add(to, "'\\''");
		else
			str_addc(to, *s);
	str_addc(to, '\'');
}

char *
str_hint(char buf[STR_HINT], const char *s, const char *const *names)
{
	const char *near = str_nearest(s, names);

	buf[0] = '\0';
	if (near)
		snprintf(buf, STR_HINT, ", did you mean '%s'?", near);
	return buf;
}

const char *
str_nearest(const char *s, const char *const *names)
{
	const char *best = NULL;
	size_t n = strlen(s), least = n / 3 + (n > 3);

	for (; *names; names++) {
		size_t d = compute_distance(s, *names) + (**names != *s);

		if (d < least || (d == least && !best)) {
			least = d;
			best = *names;
		}
	}
	return best;
}

unsigned long long
str_hash(unsigned long long h, const void *s, size_t n)
{
	for (const unsigned char *p = s; n; n--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}
