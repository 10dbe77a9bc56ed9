/*
 * vkb-flame: reads profiles (perf.data, the output of `perf script`, folded
 * stacks, counts of callgrind); writes flame graphs, alone or in a page, folded
 * stacks and tables of functions, also of the difference
 * between two sets of profiles.
 */
#include "asset.h"
#include "callgraph.h"
#include "err.h"
#include "flame.h"
#include "html.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "output.h"
#include "str.h"
#include "vkb-flame/calltree.h"
#include "vkb-flame/counts.h"
#include "vkb-flame/diff.h"
#include "vkb-flame/folded.h"
#include "vkb-flame/folding.h"
#include "vkb-flame/functions.h"
#include "vkb-flame/input.h"
#include "vkb-flame/svg.h"
#include "vkb-flame/unfold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct opts {
	struct opt_list formats, baselines;
	const char *event, *title;
	bool pid, tid, kernel, jit, all, addrs;
	bool icicle, reverse, table;
	long long width;
	double min_percent;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {0, "addrs", OPT_FLAG, AT(addrs),
	.help = "keep the address of a frame without a symbol"},
    {'a', "all", OPT_FLAG, AT(all), .help = "same as --kernel --jit"},
    {'b', "baseline", OPT_LIST, AT(baselines), "FILE",
	.help = "compare with this profile; may be repeated"},
    {'e', "event", OPT_STR, AT(event), "NAME",
	.help = "count this event; default: the first one"},
    {'f', "format", OPT_LIST, AT(formats), "NAME[:FILE]",
	.help = "svg (default), html, folded or table"},
    {'i', "icicle", OPT_FLAG, AT(icicle),
	.help = "draw the outermost frames on top"},
    {0, "jit", OPT_FLAG, AT(jit), .help = "mark frames compiled at run time"},
    {'k', "kernel", OPT_FLAG, AT(kernel), .help = "mark the kernel's frames"},
    {0, "min-percent", OPT_REAL, AT(min_percent), "N", 0, 100,
	.help = "draw no frames below N percent; default 0.05"},
    {'p', "pid", OPT_FLAG, AT(pid), .help = "add process ids to process names"},
    {'r', "reverse", OPT_FLAG, AT(reverse),
	.help = "merge the stacks from the innermost frames"},
    {0, "table", OPT_FLAG, AT(table), .help = "same as --format table"},
    {0, "tid", OPT_FLAG, AT(tid), .help = "add thread ids to process names"},
    {'t', "title", OPT_STR, AT(title), "TEXT",
	.help = "set the title of the graph"},
    {'w', "width", OPT_INT, AT(width), "PIXELS", 200, 100000,
	.help = "set the width without a window; default 1200"},
    {0}};

static const struct opt_prog prog = {.name = "vkb-flame",
    .operands = "[FILE ...]",
    .purpose = "Draw flame graphs of profiles.",
    .table = option_table};

enum format { SVG, HTML, FOLDED, TABLE };
static const char *const format_names[] = {
    "svg", "html", "folded", "table", NULL};

/*
 * The profiles. Without a baseline, all files are added up in one column. Else
 * each file has two columns (see diff.h), the 'na' of the baseline first.
 * Counts of callgrind go to 'counts', the baseline's first, and from there to
 * the first column of their side.
 */
struct profiles {
	struct calltree *t;
	size_t na, n;
	struct callgraphs counts[2];
	const char *unit; /* of the counts; NULL: samples */
	struct diff *d;   /* NULL: no baseline */
	char *event;      /* of the samples; NULL: not known */
};

/* An HTML page with a flame graph and its functions in a table. */

enum { ROWS = 50 }; /* of the table that are shown at once */

extern const char own_style[];
ASSET(own_style, "src/vkb-flame/htmlpage.css");

/* Writes a link that searches the graph for the function of this name. */
static void
write_search_link(struct str *s, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	str_add(s, "<a href=\"#search=%5E");
	for (const char *c = name; *c; c++) {
		if (strchr(".*+?^${}()|[]\\", *c))
			str_add(s, "%5C");
		if (strchr(plain, *c))
			str_addc(s, *c);
		else
			str_printf(s, "%%%02X", (unsigned char)*c);
	}
	markup_printf(s, "%%24\">%s</a>", name);
}

/* Writes a share as "12.3%", a count as "1.04K"; changes with their sign. */
static void
write_value(
    struct str *s, const struct functions_of *f, double v, const char *plus)
{
	char buf[NUM_BUF];

	str_printf(
	    s, "<td class=\"n\" data-v=\"%.9g\">%s", v, v >= 0 ? plus : "");
	if (f->unit)
		str_add(s, num_human(buf, v));
	else
		str_printf(s, "%.2f%%", 100 * v);
	str_add(s, "</td>");
}

static void
write_values(struct str *s, const struct functions_of *f, const double v[2])
{
	if (f->diff) {
		write_value(s, f, v[0], "");
		write_value(s, f, v[1], "");
		write_value(s, f, v[1] - v[0], "+");
	} else
		write_value(s, f, v[1], "");
}

static void
write_row(struct str *s, const struct functions_of *f, const struct function *v)
{
	str_add(s, "<tr><th scope=\"row\">");
	write_search_link(s, v->name);
	str_add(s, "</th>");
	write_values(s, f, v->total);
	if (f->diff) {
		markup_printf(s, "<td>%s", functions_describe(f, v));
		if (!isnan(v->p))
			str_printf(s, ", p = %.2g", v->p);
		str_add(s, "</td>");
	}
	write_values(s, f, v->self);
	str_add(s, "</tr>\n");
}

static void
write_functions(struct str *s, const struct functions_of *f)
{
	struct str caption = {0};
	size_t n;
	struct function *v = functions_list(f, &n);

	str_printf(&caption,
	    "%s. Total: with all that a function calls; "
	    "self: without.",
	    f->unit ? f->unit : "Shares of all samples");
	str_add(s, "<section id=\"functions\">\n<h2>Functions</h2>\n");
	html_browse(s, ROWS, "Function", NULL, 0);
	html_table(s, "Functions", caption.s,
	    f->diff
		? "function|>total before|>after|>change|verdict|>self before|"
		  ">after|>change"
		: "function|>total|>self",
	    NULL, 0);
	for (size_t i = 0; i < n; i++)
		write_row(s, f, &v[i]);
	html_table_end(s);
	html_browse_end(s);
	str_add(s, "</section>\n");
	str_free(&caption);
	free(v);
}

static void
htmlpage_write(
    struct str *s, const struct functions_of *f, const struct svg_opts *o)
{
	char *style = mem_printf("%s%s", flame_get_style(), own_style);
	const struct html_page page = {.title = svg_title(f->diff, o),
	    .program = "vkb-flame",
	    .style = style,
	    .script = flame_get_script()};
	struct svg_opts within = *o;

	within.inlined = true;
	html_begin(s, &page);
	markup_printf(s, "<header><h1>%s</h1></header>\n<main>\n", page.title);
	svg_write(s, f->tree, f->diff, &within);
	write_functions(s, f);
	str_add(s, "</main>\n");
	html_end(s, &page);
	free(style);
}

static void
render_format(struct str *s, enum format f, const struct profiles *p,
    const struct opts *o)
{
	const struct svg_opts graph = {.title = o->title,
	    .unit = p->unit,
	    .icicle = o->icicle,
	    .width = (double)o->width,
	    .min_share = o->min_percent / 100};
	const struct functions_of all = {
	    p->t, p->d, p->unit, p->na, p->n, graph.min_share};
	const double *self[2] = {p->t->self[0], NULL};

	if (p->d) {
		self[0] = p->d->self[0];
		self[1] = p->d->self[1];
	}
	switch (f) {
	case SVG:
		svg_write(s, p->t, p->d, &graph);
		break;
	case HTML:
		htmlpage_write(s, &all, &graph);
		break;
	case FOLDED:
		folded_write(s, p->t, self, p->d ? 2 : 1);
		break;
	case TABLE:
		if (p->unit)
			counts_write(s, p->na ? &p->counts[0] : NULL,
			    &p->counts[1], graph.min_share);
		else
			functions_write(s, &all);
		break;
	}
}

static int
read_profile(
    const char *file, struct profiles *p, const struct folding_opts *fold)
{
	size_t column = p->na ? 2 * p->n : 0;
	const struct input_target to = {.tree = p->t,
	    .column = column,
	    .samples = p->na ? (long)column + 1 : -1,
	    .counts = &p->counts[p->n >= p->na],
	    .event = &p->event};
	struct folding_opts one = *fold;

	/* All have the event of the first one: others cannot be compared. */
	if (!one.event)
		one.event = p->event;
	p->n++;
	return input_read(file, &to, &one);
}

/* Says which case is on one side only. */
static void
compare_cases(const struct callgraphs *all, const struct callgraphs *others,
    const char *which)
{
	for (size_t i = 0; i < all->n; i++)
		if (!callgraph_find(others, all->v[i].name))
			err_say("the case '%s' is %s", all->v[i].name, which);
}

static void
unfold_graph_or_part(
    const struct callgraph *g, struct calltree *t, size_t column)
{
	double cut = unfold_graph(g, t, column);

	if (cut > 0)
		err_say("%s%s%.1f%% of the counts are in calls that are shown "
			"as one frame each: there are too many ways from "
			"function to function",
		    g->name, *g->name ? ": " : "", 100 * cut / g->total);
}

/* Makes stacks of counts. All profiles have them, or none. 0 or -1, reported.
 */
static int
unfold_counts(struct profiles *p)
{
	const struct callgraphs *c = p->counts;
	const struct callgraph *first = c[1].n ? c[1].v : c[0].v;

	callgraph_name_cases(p->counts);
	if (p->t->n > 1 || (p->na && !c[0].n) || !c[1].n)
		return err_fail("samples and counts cannot be added up or "
				"compared");
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < c[side].n; i++) {
			if (strcmp(c[side].v[i].unit, first->unit) != 0)
				return err_fail("'%s' and '%s' cannot be "
						"added up or compared",
				    c[side].v[i].unit, first->unit);
			unfold_graph_or_part(
			    &c[side].v[i], p->t, side ? 2 * p->na : 0);
		}
	if (p->na) {
		compare_cases(&c[0], &c[1], "only in the baseline");
		compare_cases(&c[1], &c[0], "not in the baseline");
	}
	p->unit = first->unit;
	return 0;
}

static int
read_profiles(
    struct profiles *p, const struct opts *o, const struct opt_args *args)
{
	const struct folding_opts fold = {.pid = o->pid,
	    .tid = o->tid,
	    .kernel = o->kernel || o->all,
	    .jit = o->jit || o->all,
	    .addrs = o->addrs,
	    .event = o->event};
	size_t n = args->n ? args->n : 1;
	int rc = 0;

	p->na = o->baselines.n;
	p->t = calltree_new(p->na ? 2 * (p->na + n) : 1);
	for (size_t i = 0; i < p->na; i++)
		rc |= read_profile(o->baselines.v[i], p, &fold);
	for (size_t i = 0; i < n; i++)
		rc |= read_profile(args->n ? args->v[i] : "-", p, &fold);
	return rc;
}

static void
compute_tree(struct profiles *p, const struct opts *o)
{
	struct calltree *turned;

	if (o->reverse) {
		turned = calltree_reverse(p->t);
		calltree_free(p->t);
		p->t = turned;
	}
	calltree_sum(p->t);
	if (p->na && p->unit)
		p->d = diff_new_exact(p->t, 0, 2 * p->na, p->unit);
	else if (p->na)
		p->d = diff_new(p->t, p->na, p->n);
}

static bool
has_samples(const struct calltree *t)
{
	for (size_t i = 0; i < t->columns; i++)
		if (t->total[i][0] > 0)
			return true;
	return false;
}

static int
run_flame(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	struct profiles p = {.t = NULL};
	struct output *out;
	size_t n;
	int rc;

	if (!args->n && opt_stdin(&prog) < 0)
		return -1;
	if (o->table && o->formats.n)
		return opt_usage(
		    &prog, "--table and --format exclude each other");
	out = output_list(&o->formats, format_names, &n);
	if (!out)
		return -1;
	if (o->table)
		out[0].format = TABLE;
	rc = read_profiles(&p, o, args);
	if ((p.counts[0].n || p.counts[1].n) &&
	    (rc < 0 || unfold_counts(&p) < 0)) {
		rc = -1; /* without a part, counts would mislead */
		n = 0;
	}
	compute_tree(&p, o);
	if (rc < 0 && !has_samples(p.t))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		struct str s = {0};

		render_format(&s, (enum format)out[i].format, &p, o);
		rc |= output_write(&out[i], &s);
		str_free(&s);
	}
	diff_free(p.d);
	calltree_free(p.t);
	callgraph_free(&p.counts[0]);
	callgraph_free(&p.counts[1]);
	free(p.event);
	free(out);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {.width = 1200, .min_percent = .05};

	return opt_main(&prog, argc, argv, &o, run_flame);
}
