#include "svg.h"
#include "asset.h"
#include "calltree.h"
#include "diff.h"
#include "markup.h"
#include "mem.h"
#include "str.h"
#include "unfold.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROW 16
#define PAD 10
#define TOP 48    /* pixels above the frames */
#define BOTTOM 28 /* pixels below the frames */
#define LETTER 7.2

/* They make the graph interactive. */
extern const char page_style[], page_script[];
ASSET(page_style, "src/vkb-flame/page.css");
ASSET(page_script, "src/vkb-flame/page.js");

struct graph {
	struct str *to;
	const struct calltree *t;
	const struct diff *d;
	const struct svg_opts *o;
	const double *size; /* by node */
	double all;
	uint32_t *depth;
	double height;
};

/* --- colours */

static void
append_warm_colour(struct str *s, const char *name)
{
	unsigned long long h = str_hash(STR_HASH, name, strlen(name));
	unsigned x = (unsigned)(h >> 8) & 63, y = (unsigned)(h >> 20) & 127;
	unsigned z = (unsigned)(h >> 32) & 63;

	if (str_ends(name, "_[k]"))
		str_printf(s, "#%02x%02x%02x", 235 + x / 4, 120 + x, z / 2);
	else if (str_ends(name, "_[j]"))
		str_printf(s, "#%02x%02x%02x", 80 + x, 200 + z / 2, 80 + x);
	else if (str_ends(name, "_[i]"))
		str_printf(
		    s, "#%02x%02x%02x", 60 + x, 190 + z / 2, 190 + z / 2);
	else
		str_printf(s, "#%02x%02x%02x", 225 + x / 3, 90 + y, 50 + z / 2);
}

/* Red: grown; blue: shrunk. The colour deepens up to a factor of four. */
static void
append_change_colour(struct str *s, const struct diff_frame *f)
{
	double ratio = f->a > 0 && f->b > 0 ? fabs(log2(f->b / f->a)) : 2;
	unsigned pale = (unsigned)lround(200 - 90 * fmin(ratio, 2));

	if (f->kind == DIFF_MOVED)
		str_add(s, "#d9c8ea");
	else if (f->kind != DIFF_CHANGED)
		str_add(s, "#d4d4d4");
	else if (f->b > f->a)
		str_printf(s, "#ff%02x%02x", pale, pale);
	else
		str_printf(s, "#%02x%02xff", pale, pale + 20);
}

/* --- one frame */

static const char *
get_frame_name(const struct graph *g, uint32_t i)
{
	return i ? calltree_name(g->t, i) : "all";
}

static void
append_difference(struct str *s, const struct graph *g, uint32_t i)
{
	const struct diff_frame *f = &g->d->v[i];

	if (g->d->unit)
		str_printf(s, "%.4f -> %.4f %s, %+.4f", f->a, f->b, g->d->unit,
		    f->b - f->a);
	else
		str_printf(s, "%.2f%% -> %.2f%%", 100 * f->a, 100 * f->b);
	if (!i && !g->d->unit)
		return;
	if (f->a == 0)
		str_add(s, ", new");
	else if (f->b == 0)
		str_add(s, ", vanished");
	else
		str_printf(s, ", %+.1f%%", 100 * (f->b / f->a - 1));
	if (g->d->unit)
		return;
	if (f->kind == DIFF_RARE)
		str_add(s, ", too few samples to tell");
	else
		str_printf(s, ", p = %.2g", f->p);
	if (f->kind == DIFF_MOVED)
		str_printf(s, ", offset by %s", get_frame_name(g, f->with));
}

/* The script reads the first line, which must be the name only. */
static void
write_tooltip(struct graph *g, uint32_t i)
{
	struct str s = {0};

	if (g->d)
		append_difference(&s, g, i);
	else {
		str_printf(&s, "%.2f%% (", 100 * g->size[i] / g->all);
		str_printf(&s,
		    g->size[i] == floor(g->size[i]) ? "%.0f" : "%.6g",
		    g->size[i]);
		if (g->o->unit)
			str_printf(&s, " %s", g->o->unit);
		str_printf(
		    &s, "), itself %.2f%%", 100 * g->t->self[0][i] / g->all);
	}
	markup_printf(
	    g->to, "<title>%s\n%s</title>", get_frame_name(g, i), s.s);
	str_free(&s);
}

static void
write_rectangle(struct graph *g, uint32_t i, double x, double y, double w)
{
	const struct diff_frame *f = g->d ? &g->d->v[i] : NULL;

	str_printf(g->to,
	    "<rect x=\"%.4f\" y=\"%.0f\" width=\"%.4f\" height=\"%d\" "
	    "rx=\"1\" fill=\"",
	    x, y, w, ROW - 1);
	if (f)
		append_change_colour(g->to, f);
	else
		append_warm_colour(g->to, get_frame_name(g, i));
	str_addc(g->to, '"');
	if (f && i && f->b == 0)
		str_add(g->to, " stroke=\"#00c\" stroke-dasharray=\"3 2\"");
	else if (f && i && f->a == 0)
		str_add(g->to, " stroke=\"#c00\"");
	str_add(g->to, "/>");
}

static void
write_frame(struct graph *g, uint32_t i, double x)
{
	double w = (g->o->width - 2 * PAD) * g->size[i] / g->all;
	double y = g->o->icicle
	    ? TOP + g->depth[i] * (double)ROW
	    : g->height - BOTTOM - (g->depth[i] + 1) * (double)ROW;
	int letters = (int)((w - 6) / LETTER);
	struct str s = {0};

	str_add(g->to, "<g class=\"f\">");
	write_tooltip(g, i);
	write_rectangle(g, i, x, y, w);
	if (letters >= 3) {
		if (strlen(get_frame_name(g, i)) <= (size_t)letters)
			str_add(&s, get_frame_name(g, i));
		else
			markup_cut(
			    &s, get_frame_name(g, i), (size_t)letters - 2);
		markup_printf(g->to, "<text x=\"%.2f\" y=\"%.0f\">%s</text>",
		    x + 3, y + ROW - 5, s.s);
		str_free(&s);
	}
	str_add(g->to, "</g>\n");
}

/* --- all frames */

static bool
is_shown(const struct graph *g, uint32_t i)
{
	return g->size[i] > 0 && g->size[i] >= g->o->min_share * g->all;
}

static uint32_t
compute_depths(struct graph *g)
{
	const struct calltree *t = g->t;
	uint32_t most = 0;

	g->depth = mem_array(t->n, sizeof *g->depth);
	for (uint32_t i = 1; i < t->n; i++) {
		g->depth[i] = g->depth[t->parent[i]] + 1;
		if (g->depth[i] > most && is_shown(g, i))
			most = g->depth[i];
	}
	return most + 1;
}

/* The cursor of a level is the x position of its next frame. */
static void
write_frames(struct graph *g, uint32_t deepest)
{
	double *cursor = mem_array(deepest + 2, sizeof *cursor);
	double k = (g->o->width - 2 * PAD) / g->all;
	uint32_t i = 0;

	cursor[0] = PAD;
	while (i != CALLTREE_NONE) {
		uint32_t d = g->depth[i];
		bool in = is_shown(g, i);

		if (in) {
			write_frame(g, i, cursor[d]);
			cursor[d + 1] = cursor[d];
		}
		cursor[d] += k * g->size[i];
		i = calltree_next(g->t, i, !in);
	}
	free(cursor);
}

/* The line below the title, or NULL. */
static const char *
get_legend(const struct graph *g)
{
	if (g->d && g->d->unit)
		return "exact counts; " UNFOLD_NOTE
		       "; red: more, blue: less, outlined: new, dashed: "
		       "vanished, grey: same within 0.01 %";
	if (g->d)
		return "red: larger share than before, blue: smaller share, "
		       "outlined: new, dashed: vanished, violet: offset by one "
		       "sibling, grey: no significant difference";
	return g->o->unit ? "exact counts; " UNFOLD_NOTE : NULL;
}

static void
write_heading(struct graph *g, const char *title)
{
	const char *legend = get_legend(g);

	markup_printf(g->to,
	    "<text class=\"ink\" x=\"%.0f\" y=\"20\" text-anchor=\"middle\" "
	    "font-size=\"16\">%s</text>\n",
	    g->o->width / 2, title);
	if (legend)
		str_printf(g->to,
		    "<text class=\"ink\" x=\"%.0f\" y=\"40\" "
		    "text-anchor=\"middle\">%s</text>\n",
		    g->o->width / 2, legend);
}

void
svg_write(struct str *to, const struct calltree *t, const struct diff *d,
    const struct svg_opts *o)
{
	struct graph g = {.to = to, .t = t, .d = d, .o = o};
	const char *title = o->title ? o->title
	    : d                      ? "Differential flame graph"
				     : "Flame graph";
	uint32_t rows;

	g.size = d ? d->width : t->total[0];
	g.all = g.size[0];
	rows = compute_depths(&g);
	g.height = TOP + BOTTOM + rows * (double)ROW;
	markup_printf(to,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"vkb-flame\" "
	    "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
	    "font-family=\"monospace\" font-size=\"12\" data-top=\"%d\" "
	    "data-bottom=\"%d\" data-row=\"%d\" data-pad=\"%d\"",
	    o->width, g.height, o->width, g.height, TOP, BOTTOM, ROW, PAD);
	str_add(to, o->icicle ? " data-icicle=\"\"" : "");
	markup_printf(to, ">\n<title>%s", title);
	str_add(to, o->unit ? " (" UNFOLD_NOTE ")" : "");
	str_printf(to,
	    "</title>\n<style>\n%s</style>\n"
	    "<rect class=\"ground\" width=\"100%%\" height=\"100%%\" "
	    "fill=\"#fff\"/>\n",
	    page_style);
	write_heading(&g, title);
	if (g.all > 0)
		write_frames(&g, rows);
	else
		str_printf(to,
		    "<text class=\"ink\" x=\"%d\" y=\"%d\">no samples</text>\n",
		    PAD, TOP + ROW - 5);
	str_printf(
	    to, "<script><![CDATA[\n%s]]></script>\n</svg>\n", page_script);
	free(g.depth);
}
