#include "table.h"
#include "markup.h"
#include "mem.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

struct cell {
	char *text;
	const char *sgr;
};

struct table {
	struct cell *titles, *cells; /* cells row by row */
	enum table_align *align;
	size_t columns, n, cap;
};

struct table *
table_new(void)
{
	return mem_new(sizeof(struct table));
}

void
table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->columns; i++)
		free(t->titles[i].text);
	for (size_t i = 0; i < t->n; i++)
		free(t->cells[i].text);
	free(t->titles);
	free(t->cells);
	free(t->align);
	free(t);
}

static struct cell
make_cell(const char *text)
{
	struct str s = {0};

	str_visible(&s, text);
	return (struct cell){str_take(&s), NULL};
}

void
table_column(struct table *t, const char *title, enum table_align align)
{
	size_t i = t->columns++;

	t->titles = mem_resize(t->titles, t->columns, sizeof *t->titles);
	t->align = mem_resize(t->align, t->columns, sizeof *t->align);
	t->titles[i] = make_cell(title);
	t->align[i] = align;
}

void
table_titles(struct table *t, const char *titles)
{
	for (const char *s = titles, *end;; s = end + 1) {
		bool right = *s == '>';
		char *title;

		end = strchrnul(s, '|');
		title = mem_strn(s + right, (size_t)(end - s) - right);
		table_column(t, title, right ? TABLE_RIGHT : TABLE_LEFT);
		free(title);
		if (!*end)
			return;
	}
}

void
table_cell(struct table *t, const char *text)
{
	*MEM_ADD(t->cells, t->n, t->cap) = make_cell(text);
}

void
table_take(struct table *t, char *text)
{
	table_cell(t, text);
	free(text);
}

void
table_style(struct table *t, const char *sgr)
{
	t->cells[t->n - 1].sgr = sgr;
}

/* Unicode Standard Annex 11 (wide and fullwidth), in coarse ranges. */
static size_t
measure_char(unsigned c)
{
	static const struct {
		unsigned from, to;
		size_t width;
	} ranges[] = {{0x300, 0x36f, 0}, {0x1100, 0x115f, 2},
	    {0x1ab0, 0x1aff, 0}, {0x200b, 0x200f, 0}, {0x20d0, 0x20ff, 0},
	    {0x2e80, 0xa4cf, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},
	    {0xfe00, 0xfe0f, 0}, {0xfe30, 0xfe6f, 2}, {0xff00, 0xff60, 2},
	    {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2}, {0x1f900, 0x1f9ff, 2},
	    {0x20000, 0x3fffd, 2}};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return ranges[i].width;
	return 1;
}

/* Returns how many terminal columns a string takes. */
static size_t
measure_text(const char *s)
{
	size_t width = 0;
	unsigned c;

	while (*s) { /* it is UTF-8, by str_visible */
		s += str_decode(s, strnlen(s, 4), &c);
		width += measure_char(c);
	}
	return width;
}

static void
print_row(const struct table *t, const struct cell *cells, const size_t *width,
    struct str *out, bool colour)
{
	size_t gap = 0;

	for (size_t i = 0; i < t->columns; i++) {
		const char *text = cells[i].text;
		size_t pad = width[i] - measure_text(text);

		gap += i ? 2 : 0;
		gap += t->align[i] == TABLE_RIGHT ? pad : 0;
		if (*text) {
			for (; gap; gap--)
				str_addc(out, ' ');
			if (colour && cells[i].sgr)
				str_printf(out, "\033[%sm%s\033[0m",
				    cells[i].sgr, text);
			else
				str_add(out, text);
		}
		gap += t->align[i] == TABLE_LEFT ? pad : 0;
	}
	str_addc(out, '\n');
}

/* Returns the width of each column. Caller frees with free(). */
static size_t *
measure_columns(const struct table *t)
{
	size_t *width = mem_array(t->columns + 1, sizeof *width);

	for (size_t i = 0; i < t->columns; i++)
		width[i] = measure_text(t->titles[i].text);
	for (size_t i = 0; i < t->n; i++) {
		size_t w = measure_text(t->cells[i].text);

		if (w > width[i % t->columns])
			width[i % t->columns] = w;
	}
	return width;
}

void
table_print(const struct table *t, struct str *out, bool colour)
{
	size_t *width = measure_columns(t);

	if (t->n)
		print_row(t, t->titles, width, out, colour);
	for (size_t i = 0; i + t->columns <= t->n; i += t->columns)
		print_row(t, t->cells + i, width, out, colour);
	free(width);
}

static void
add_markdown_row(
    const struct table *t, const struct cell *cells, struct str *out)
{
	str_addc(out, '|');
	for (size_t i = 0; i < t->columns; i++) {
		str_addc(out, ' ');
		markup_markdown_whole(out, cells[i].text);
		str_add(out, *cells[i].text ? " |" : "|");
	}
	str_addc(out, '\n');
}

size_t
table_markdown(const struct table *t, struct str *out, size_t limit)
{
	size_t start = out->len, rows = 0;

	add_markdown_row(t, t->titles, out);
	str_addc(out, '|');
	for (size_t i = 0; i < t->columns; i++)
		str_add(out, t->align[i] == TABLE_RIGHT ? "--:|" : "---|");
	str_addc(out, '\n');
	for (size_t i = 0; i + t->columns <= t->n; i += t->columns, rows++) {
		size_t before = out->len;

		add_markdown_row(t, t->cells + i, out);
		if (out->len <= limit)
			continue;
		out->s[out->len = before] = '\0';
		break;
	}
	if (!rows)
		out->s[out->len = start] = '\0';
	return rows;
}

size_t
table_columns(const struct table *t)
{
	size_t *width = measure_columns(t), sum = 0, all = 0;

	for (size_t i = 0; i < t->columns; i++) {
		sum += width[i] + (i ? 2 : 0);
		if (width[i])
			all = sum;
	}
	free(width);
	return all;
}
