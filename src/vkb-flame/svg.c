#include "svg.h"
#include "calltree.h"
#include "diff.h"
#include "html.h"
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
#define TITLE 30 /* pixels of the title, and of a line of the legend */
#define LINE 18
#define BOTTOM 10 /* pixels below the frames */
#define LETTER 7.2

struct graph {
	struct str *to;
	const struct calltree *t;
	const struct diff *d;
	const struct svg_opts *o;
	const double *size; /* by node */
	double all;
	uint32_t *depth;
	double top, height; /* pixels above the frames, and of all */
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
	unsigned pale = (unsigned)lround(200 - 45 * fmin(ratio, 2));

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
		str_printf(&s, "total %.2f%% (", 100 * g->size[i] / g->all);
		str_printf(&s,
		    g->size[i] == floor(g->size[i]) ? "%.0f" : "%.6g",
		    g->size[i]);
		if (g->o->unit)
			str_printf(&s, " %s", g->o->unit);
		str_printf(
		    &s, "), self %.2f%%", 100 * g->t->self[0][i] / g->all);
	}
	markup_printf(
	    g->to, "<title>%s\n%s</title>", get_frame_name(g, i), s.s);
	str_free(&s);
}

/* The border of frames that one side lacks. */
#define NEW " stroke=\"#c00\" stroke-width=\"2\""
#define VANISHED " stroke=\"#00c\" stroke-width=\"2\" stroke-dasharray=\"3 2\""

static void
write_rectangle(struct graph *g, uint32_t i)
{
	const struct diff_frame *f = g->d ? &g->d->v[i] : NULL;

	str_add(g->to, "<rect width=\"100%\" height=\"100%\" rx=\"1\" fill=\"");
	if (f)
		append_change_colour(g->to, f);
	else
		append_warm_colour(g->to, get_frame_name(g, i));
	str_addc(g->to, '"');
	if (f && i && f->b == 0)
		str_add(g->to, VANISHED);
	else if (f && i && f->a == 0)
		str_add(g->to, NEW);
	str_add(g->to, "/>");
}

/* Each frame is a nested SVG element, which clips its name. 'x' is a
 * percentage. */
static void
write_frame(struct graph *g, uint32_t i, double x)
{
	double w = 100 * g->size[i] / g->all;
	double y = g->o->icicle
	    ? g->top + g->depth[i] * (double)ROW
	    : g->height - BOTTOM - (g->depth[i] + 1) * (double)ROW;

	str_printf(g->to,
	    "<svg x=\"%.4f%%\" y=\"%.0f\" width=\"%.4f%%\" height=\"%d\" "
	    "class=\"f\">",
	    x, y, w, ROW - 1);
	write_tooltip(g, i);
	write_rectangle(g, i);
	if (w / 100 * g->o->width >= 2 * LETTER)
		markup_printf(g->to, "<text x=\"3\" y=\"11\">%s</text>",
		    get_frame_name(g, i));
	str_add(g->to, "</svg>\n");
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
	double k = 100 / g->all;
	uint32_t i = 0;

	cursor[0] = 0;
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

/* --- what is above the frames */

/* An entry of the legend: the attributes of its colour, or "", and its text. */
struct key {
	const char *look, *text;
};

#define GROWN "fill=\"#ff6e6e\""
#define SHRUNK "fill=\"#6e82ff\""
#define GREY "fill=\"#d4d4d4\""

static const struct key sample_keys[] = {{GROWN, "larger share"},
    {SHRUNK, "smaller share"}, {GROWN NEW, "new"},
    {SHRUNK VANISHED, "vanished"},
    {"fill=\"#d9c8ea\"", "offset by one sibling"},
    {GREY, "no significant change"}, {NULL, NULL}};

static const struct key count_keys[] = {{GROWN, "more"}, {SHRUNK, "less"},
    {GROWN NEW, "new"}, {SHRUNK VANISHED, "vanished"},
    {GREY, "same within 0.01 %"}, {"", "exact counts"}, {"", UNFOLD_NOTE},
    {NULL, NULL}};

/* Returns the legend; its text NULL ends it. */
static const struct key *
get_legend(const struct graph *g)
{
	enum { NOTE = sizeof count_keys / sizeof *count_keys - 3 };

	if (g->d && !g->d->unit)
		return sample_keys;
	if (g->d)
		return count_keys;
	return &count_keys[g->o->unit ? NOTE : NOTE + 2];
}

/* Writes the legend on as many lines as it needs, from y on. Returns the y
 * below it. The script lays it out again in a narrow window. */
static double
write_legend(struct graph *g, double y)
{
	const struct key *k = get_legend(g);
	double x = PAD;

	for (; k->text; k++) {
		double swatch = *k->look ? 16 : 0,
		       w = swatch + LETTER * (double)strlen(k->text);

		if (x > PAD && x + w > g->o->width - PAD) {
			x = PAD;
			y += LINE;
		}
		str_printf(g->to,
		    "<g class=\"key\" transform=\"translate(%.0f %.0f)\" "
		    "data-width=\"%.0f\">",
		    x, y, w);
		if (swatch > 0)
			str_printf(g->to,
			    "<rect x=\"1\" y=\"1\" width=\"10\" height=\"10\" "
			    "%s/>",
			    k->look);
		markup_printf(g->to,
		    "<text class=\"ink\" x=\"%.0f\" y=\"11\">%s</text></g>\n",
		    swatch, k->text);
		x += w + 2 * LETTER;
	}
	return get_legend(g)->text ? y + LINE + 4 : y;
}

const char *
svg_title(const struct diff *d, const struct svg_opts *o)
{
	return o->title ? o->title
	    : d         ? "Differential flame graph"
			: "Flame graph";
}

static void
write_opening(struct graph *g, const char *title)
{
	if (!g->o->inlined)
		str_add(g->to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	markup_printf(g->to,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"vkb-flame\" "
	    "role=\"group\" aria-label=\"%s\" width=\"%.0f\" height=\"%.0f\" "
	    "font-family=\"monospace\" font-size=\"12\" data-top=\"%.0f\" "
	    "data-bottom=\"%d\" data-row=\"%d\" data-pad=\"%d\"",
	    title, g->o->width, g->height, g->top, BOTTOM, ROW, PAD);
	str_add(g->to, g->o->icicle ? " data-icicle=\"\">\n" : ">\n");
	if (g->o->inlined)
		return;
	markup_printf(g->to, "<title>%s", title);
	str_add(g->to, g->o->unit ? " (" UNFOLD_NOTE ")" : "");
	str_printf(g->to,
	    "</title>\n<style>%s</style>\n"
	    "<rect class=\"ground\" width=\"100%%\" height=\"100%%\" "
	    "fill=\"#fff\"/>\n",
	    html_flame_style());
	markup_printf(g->to,
	    "<text class=\"ink title\" x=\"%d\" y=\"22\" font-size=\"16\">"
	    "%s</text>\n",
	    PAD, title);
}

void
svg_write(struct str *to, const struct calltree *t, const struct diff *d,
    const struct svg_opts *o)
{
	struct str keys = {0};
	struct graph g = {.to = &keys, .t = t, .d = d, .o = o};
	uint32_t rows;

	g.size = d ? d->width : t->total[0];
	g.all = g.size[0];
	rows = compute_depths(&g);
	g.top = write_legend(&g, o->inlined ? 4 : TITLE);
	g.height = g.top + BOTTOM + rows * (double)ROW;
	g.to = to;
	write_opening(&g, svg_title(d, o));
	str_add(to, keys.s ? keys.s : "");
	if (g.all > 0)
		write_frames(&g, rows);
	else
		str_printf(to,
		    "<text class=\"ink\" x=\"%d\" y=\"%.0f\">no "
		    "samples</text>\n",
		    PAD, g.top + ROW - 5);
	if (!o->inlined)
		str_printf(to, "<script><![CDATA[%s]]></script>\n",
		    html_flame_script());
	str_add(to, "</svg>\n");
	str_free(&keys);
	free(g.depth);
}
