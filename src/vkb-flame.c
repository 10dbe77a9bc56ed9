/*
 * vkb-flame: reads profiles (perf.data, the output of `perf script`, folded
 * stacks, counts of callgrind); writes flame graphs, alone or in a page, folded
 * stacks and tables of functions, also of the difference
 * between two sets of profiles.
 */
#include "asset.h"
#include "callgraph.h"
#include "err.h"
#include "html.h"
#include "intern.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "output.h"
#include "str.h"
#include "table.h"
#include "vkb-flame/calltree.h"
#include "vkb-flame/counts.h"
#include "vkb-flame/diff.h"
#include "vkb-flame/folded.h"
#include "vkb-flame/folding.h"
#include "vkb-flame/input.h"
#include "vkb-flame/svg.h"
#include "vkb-flame/unfold.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	double min_share; /* of a function that is listed */
};

/*
 * The functions of profiles, summed over all callers: their total, which
 * includes what they call, and what they take themselves.
 */

struct function {
	const char *name; /* borrowed from the tree */
	/* Shares of all samples, or counts: of the baseline and the contender.
	 * Without a baseline only the second is set. */
	double total[2], self[2];
	double p; /* of 'total', adjusted; NAN: not tested */
};

static bool
is_recursive(const struct calltree *t, uint32_t node)
{
	for (uint32_t i = t->parent[node]; i; i = t->parent[i])
		if (t->frame[i] == t->frame[node])
			return true;
	return false;
}

static double
get_total(const struct profiles *p, uint32_t node, int side)
{
	if (!p->d)
		return side ? p->t->total[0][node] : 0;
	return side ? p->d->v[node].b : p->d->v[node].a;
}

static double
get_self(const struct profiles *p, uint32_t node, int side)
{
	if (!p->d)
		return side ? p->t->self[0][node] : 0;
	return p->d->self[side][node];
}

/* Returns what 'self' is divided by to have the unit of the result. */
static double
find_scale(const struct profiles *p, int side)
{
	double all = 0;

	for (uint32_t i = 0; !p->unit && i < p->t->n; i++)
		all += get_self(p, i, side);
	return all > 0 ? all : 1;
}

static void
add_sums(const struct profiles *p, struct function *v)
{
	const struct calltree *t = p->t;

	for (int side = 0; side < 2; side++) {
		double self = find_scale(p, side), total = p->d ? 1 : self;

		for (uint32_t i = 1; i < t->n; i++) {
			struct function *one = &v[t->frame[i]];

			one->self[side] += get_self(p, i, side) / self;
			if (get_total(p, i, side) != 0 && !is_recursive(t, i))
				one->total[side] +=
				    get_total(p, i, side) / total;
		}
	}
}

/* Sets the p of each function from its samples in each profile. */
static void
test_totals(const struct profiles *p, struct function *v, size_t names)
{
	const struct calltree *t = p->t;
	double *samples = mem_array(names * p->n + 1, sizeof *samples);
	double *whole = mem_array(p->n + 1, sizeof *whole);
	double *pv = mem_array(names + 1, sizeof *pv);

	for (size_t k = 0; k < p->n; k++) {
		const double *w = t->total[2 * k + 1];

		whole[k] = w[0];
		for (uint32_t i = 1; i < t->n; i++)
			if (w[i] != 0 && !is_recursive(t, i))
				samples[t->frame[i] * p->n + k] += w[i];
	}
	for (size_t i = 0; i < names; i++)
		pv[i] = diff_test(samples + i * p->n, whole, p->na, p->n);
	diff_adjust(pv, names);
	for (size_t i = 0; i < names; i++)
		v[i].p = pv[i];
	free(samples);
	free(whole);
	free(pv);
}

static int
compare_numbers(double x, double y)
{
	return (x < y) - (x > y);
}

static int
compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int c = compare_numbers(
	    fabs(x->total[1] - x->total[0]), fabs(y->total[1] - y->total[0]));

	if (!c)
		c = compare_numbers(fabs(x->self[1] - x->self[0]),
		    fabs(y->self[1] - y->self[0]));
	if (!c)
		c = compare_numbers(x->total[1], y->total[1]);
	return c ? c : strcmp(x->name, y->name);
}

static int
compare_self(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int c = compare_numbers(x->self[1], y->self[1]);

	return c ? c : compare_functions(a, b);
}

/*
 * Returns the functions that have at least 'min_share' on one side, and their
 * number in *count; the caller frees. A function that calls itself is counted
 * once. The largest change of the total is first; without a baseline, the
 * largest 'self'.
 */
static struct function *
list_functions(const struct profiles *p, size_t *count)
{
	size_t names = intern_count(p->t->names), n = 0;
	struct function *v = mem_array(names + 1, sizeof *v);
	double least = p->min_share;

	add_sums(p, v);
	if (p->unit)
		least *= fmax(get_total(p, 0, 0), get_total(p, 0, 1));
	if (p->d && !p->unit)
		test_totals(p, v, names);
	for (size_t i = 0; i < names; i++) {
		double most = fmax(v[i].total[0], v[i].total[1]);

		if (!(most > 0) || most < least)
			continue;
		v[n] = v[i];
		v[n].p = p->d && !p->unit ? v[i].p : NAN;
		v[n++].name = intern_text(p->t->names, i);
	}
	qsort(v, n, sizeof *v, p->d ? compare_functions : compare_self);
	*count = n;
	return v;
}

/* Returns "new", "vanished", "gained", "lost", "not significant", "too few
 * samples", or of counts "same". */
static const char *
describe_function(const struct profiles *p, const struct function *v)
{
	double change = v->total[1] - v->total[0];

	if (v->total[0] == 0)
		return "new";
	if (v->total[1] == 0)
		return "vanished";
	if (p->unit && change == 0)
		return "same";
	if (!p->unit && isnan(v->p))
		return "too few samples";
	if (!p->unit && !(v->p < DIFF_ALPHA))
		return "not significant";
	return change > 0 ? "gained" : "lost";
}

static void
add_percent(struct table *t, double share)
{
	table_take(t, mem_printf("%.2f%%", 100 * share));
}

static void
add_difference(struct table *t, const double v[2])
{
	add_percent(t, v[0]);
	add_percent(t, v[1]);
	table_take(t, mem_printf("%+.2f", 100 * (v[1] - v[0])));
}

static void
add_row(struct table *t, const struct profiles *p, const struct function *v)
{
	if (p->d) {
		add_difference(t, v->total);
		table_take(
		    t, isnan(v->p) ? mem_str("-") : mem_printf("%.2g", v->p));
		table_cell(t, describe_function(p, v));
		add_difference(t, v->self);
	} else {
		add_percent(t, v->self[1]);
		add_percent(t, v->total[1]);
	}
	table_cell(t, v->name);
}

/* Writes the functions of samples as a table for a terminal. */
static void
write_function_table(struct str *to, const struct profiles *p)
{
	struct table *t = table_new();
	size_t n;
	struct function *v = list_functions(p, &n);

	table_titles(t,
	    p->d ? ">total|>after|>change|>p||>self|>after|>change|function"
		 : ">self|>total|function");
	for (size_t i = 0; i < n; i++)
		add_row(t, p, &v[i]);
	table_print(t, to, false);
	table_free(t);
	free(v);
}

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
write_value(struct str *s, const struct profiles *p, double v, const char *plus)
{
	char buf[NUM_BUF];

	str_printf(
	    s, "<td class=\"n\" data-v=\"%.9g\">%s", v, v >= 0 ? plus : "");
	if (p->unit)
		str_add(s, num_human(buf, v));
	else
		str_printf(s, "%.2f%%", 100 * v);
	str_add(s, "</td>");
}

static void
write_values(struct str *s, const struct profiles *p, const double v[2])
{
	if (p->d) {
		write_value(s, p, v[0], "");
		write_value(s, p, v[1], "");
		write_value(s, p, v[1] - v[0], "+");
	} else
		write_value(s, p, v[1], "");
}

static void
write_row(struct str *s, const struct profiles *p, const struct function *v)
{
	str_add(s, "<tr><th scope=\"row\">");
	write_search_link(s, v->name);
	str_add(s, "</th>");
	write_values(s, p, v->total);
	if (p->d) {
		markup_printf(s, "<td>%s", describe_function(p, v));
		if (!isnan(v->p))
			str_printf(s, ", p = %.2g", v->p);
		str_add(s, "</td>");
	}
	write_values(s, p, v->self);
	str_add(s, "</tr>\n");
}

static void
write_functions(struct str *s, const struct profiles *p)
{
	struct str caption = {0};
	size_t n;
	struct function *v = list_functions(p, &n);

	str_printf(&caption,
	    "%s. Total: with all that a function calls; "
	    "self: without.",
	    p->unit ? p->unit : "Shares of all samples");
	str_add(s, "<section id=\"functions\">\n<h2>Functions</h2>\n");
	html_browse(s, ROWS, "Function", NULL, 0);
	html_table(s, "Functions", caption.s,
	    p->d ? "function|>total before|>total after|>total change|verdict|"
		   ">self before|>self after|>self change"
		 : "function|>total|>self",
	    NULL, 0);
	for (size_t i = 0; i < n; i++)
		write_row(s, p, &v[i]);
	html_table_end(s);
	html_browse_end(s);
	str_add(s, "</section>\n");
	str_free(&caption);
	free(v);
}

static void
htmlpage_write(
    struct str *s, const struct profiles *p, const struct svg_opts *o)
{
	char *style = mem_printf("%s%s", html_flame_style(), own_style);
	const struct html_page page = {.title = svg_title(p->d, o),
	    .program = "vkb-flame",
	    .style = style,
	    .script = html_flame_script()};
	struct svg_opts within = *o;

	within.inlined = true;
	html_begin(s, &page);
	markup_printf(s, "<header><h1>%s</h1></header>\n<main>\n", page.title);
	svg_write(s, p->t, p->d, &within);
	write_functions(s, p);
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
	    .min_share = p->min_share};
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
		htmlpage_write(s, p, &graph);
		break;
	case FOLDED:
		folded_write(s, p->t, self, p->d ? 2 : 1);
		break;
	case TABLE:
		if (p->unit)
			counts_write(s, p->na ? &p->counts[0] : NULL,
			    &p->counts[1], p->min_share);
		else
			write_function_table(s, p);
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
	struct profiles p = {.min_share = o->min_percent / 100};
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
